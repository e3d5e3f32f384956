//! What each instruction reads and writes of the registers if all of its channels run, found once for a launch: where all of
//! it has been written, nothing has to be looked at channel by channel.

use std::collections::BTreeMap;
use std::ops::Range;

use envisa_lower::{Inst, Program, Touched};

use envisa_machine::thread::Mask;

use super::written_registers::Written;
use crate::byte_bits::words;

/// Of one instruction.
#[derive(Clone, Debug, Default)]
struct Step {
    reads: Range<u32>,
    writes: Range<u32>,
    /// Both can be told: no address register is involved.
    known: bool,
}

/// Of a program.
#[derive(Debug, Default)]
pub(super) struct Steps {
    steps: Vec<Step>,
    /// Words of [`Written`] and the bits in them.
    words: Vec<(u32, u64)>,
}

/// All channels of an instruction.
fn all(i: &Inst) -> Mask {
    u32::MAX >> (32 - u32::from(i.channels.clamp(1, 32)))
}

/// What is known of the registers of an instruction that is about to be executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Registers {
    /// Something that it reads may be unwritten.
    Look,
    /// All that it reads is written, and all that it writes, too.
    Written,
    /// All that it reads is written.
    Read,
}

impl Steps {
    pub fn of(p: &Program) -> Steps {
        let mut out = Steps::default();
        for i in p.code() {
            let (mut reads, mut writes) = (Some(BTreeMap::new()), Some(BTreeMap::new()));
            i.reads(p.parts(), &mut |t| add(&mut reads, t, all(i)));
            i.writes(p.parts(), &mut |t| add(&mut writes, t, all(i)));
            let known = reads.is_some() && writes.is_some();
            let reads = out.keep(reads.unwrap_or_default());
            let writes = out.keep(writes.unwrap_or_default());
            out.steps.push(Step { reads, writes, known });
        }
        out
    }

    fn keep(&mut self, bits: BTreeMap<u32, u64>) -> Range<u32> {
        let start = self.words.len() as u32;
        self.words.extend(bits);
        start..self.words.len() as u32
    }

    fn of_range(&self, range: &Range<u32>) -> &[(u32, u64)] {
        self.words.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    /// Are all registers that an instruction writes known, and written?
    #[inline]
    pub fn is_written(&self, pc: u32, written: &Written) -> bool {
        self.steps.get(pc as usize).is_some_and(|s| s.known && written.holds(self.of_range(&s.writes)))
    }
}

/// The same of instructions of which a part of the channels runs: of each the channels that ran last.
#[derive(Debug, Default)]
pub(super) struct Partial {
    steps: Vec<(Mask, Step)>,
    words: Vec<(u32, u64)>,
}

/// Words that are kept before all is found anew.
const MAX_WORDS: usize = 1 << 16;

impl Partial {
    fn range(&self, range: &Range<u32>) -> &[(u32, u64)] {
        self.words.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    /// Looks at the registers of an instruction, of which these channels run.
    #[inline]
    pub fn look(&mut self, all: &Steps, p: &Program, pc: u32, mask: Mask, written: &Written) -> Registers {
        let Some(step) = all.steps.get(pc as usize).filter(|s| s.known) else { return Registers::Look };
        if written.holds(all.of_range(&step.reads)) {
            return match written.holds(all.of_range(&step.writes)) {
                true => Registers::Written,
                false => Registers::Read,
            };
        }
        if mask == 0 {
            return Registers::Look;
        }
        if self.steps.get(pc as usize).is_none_or(|s| s.0 != mask) {
            self.find(p, pc, mask);
        }
        match self.steps.get(pc as usize) {
            Some((_, s)) if written.holds(self.range(&s.reads)) => {
                match written.holds(self.range(&s.writes)) {
                    true => Registers::Written,
                    false => Registers::Read,
                }
            }
            _ => Registers::Look,
        }
    }

    #[inline(never)]
    fn find(&mut self, p: &Program, pc: u32, mask: Mask) {
        let Some(i) = p.code().get(pc as usize) else { return };
        if self.words.len() > MAX_WORDS {
            self.words.clear();
            self.steps.clear();
        }
        if self.steps.len() <= pc as usize {
            // No instruction runs without channels and is looked at.
            self.steps.resize(p.code().len(), (0, Step::default()));
        }
        let mut keep = |bits: Option<BTreeMap<u32, u64>>| {
            let start = self.words.len() as u32;
            self.words.extend(bits.unwrap_or_default());
            start..self.words.len() as u32
        };
        let (mut reads, mut writes) = (Some(BTreeMap::new()), Some(BTreeMap::new()));
        i.reads(p.parts(), &mut |t| add(&mut reads, t, mask));
        i.writes(p.parts(), &mut |t| add(&mut writes, t, mask));
        let step = Step { reads: keep(reads), writes: keep(writes), known: true };
        if let Some(to) = self.steps.get_mut(pc as usize) {
            *to = (mask, step);
        }
    }

    /// Marks what an instruction writes whose channels were looked at last; false if these were not they.
    pub fn write(&self, pc: u32, mask: Mask, written: &mut Written) -> bool {
        match self.steps.get(pc as usize) {
            Some((known, s)) if *known == mask && mask != 0 => {
                written.add(self.range(&s.writes));
                true
            }
            _ => false,
        }
    }
}

/// Adds the bits of what is told of, of these channels; `None` if it can be any.
fn add(to: &mut Option<BTreeMap<u32, u64>>, t: Touched, mask: Mask) {
    let mut one = |range: Range<u32>| {
        if let Some(to) = to {
            for (w, bits) in words(range.start, range.end - range.start) {
                *to.entry(w as u32).or_default() |= bits;
            }
        }
    };
    if let Touched::Whole { offset, bytes } = t {
        return one(offset..offset + bytes);
    }
    let together = match t {
        Touched::Region { together, .. } => together.max(1),
        _ => 1,
    };
    let mut channels = mask;
    for k in (0..32).filter(|k| mask >> k & 1 != 0) {
        let first = k - k % together;
        channels |= u32::MAX >> (32 - together.min(32)) << first;
    }
    for k in (0..32).filter(|k| channels >> k & 1 != 0) {
        let Some(range) = t.channel(k) else {
            *to = None;
            return;
        };
        one(range);
    }
}
