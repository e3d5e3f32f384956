//! Which instructions read nothing but written registers, whichever way the thread and its channels came to them: found
//! once for a program. Nothing needs to be looked at there while it runs, unless a load brought what nothing had
//! written.
//!
//! Each channel goes a way of its own through the code. What a masked instruction wrote on that way is written for that
//! channel; what an instruction without a mask wrote, for all of them. Where ways meet, what was written on all of them
//! is written.

use std::collections::BTreeSet;
use std::ops::Range;

use envisa_lower::analysis::Flow;
use envisa_lower::{Dst, Inst, Op, Program, Src, Touched};

use super::written_registers::Written;

/// Bytes of states that a proof may take; larger programs are looked at while they run.
const MOST_BYTES: usize = 64 << 20;

/// What is known of a byte: nothing; that one channel wrote it, if it came here, of this number less one; that it is
/// written.
type Known = u8;
const NOTHING: Known = 0;
const WRITTEN: Known = 254;
/// No way leads here so far.
const ANYTHING: Known = 255;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Proof {
    /// By program counter: all that is read is written.
    proven: Vec<bool>,
    /// By program counter: a register is accessed that another instruction may read unwritten.
    touches: Vec<bool>,
    /// The registers that are not proven written wherever they are read.
    pub open: Written,
}

impl Proof {
    /// Looks at a program whose threads start with these registers written.
    pub fn of(p: &Program, initial: &Written) -> Proof {
        let states = match Flow::new(p.parts()) {
            Ok(flow) => states(p, &flow, initial),
            Err(_) => None,
        };
        let Some(proven) = states else { return Proof::none(p) };
        let mut open = Written::default();
        open.clear(p.registers().bytes);
        for (_, i) in p.code().iter().enumerate().filter(|(pc, _)| !proven[*pc]) {
            i.reads(p.parts(), &mut |t| each(p, i, t, &mut |at, bytes| open.set(at, bytes)));
        }
        let touches = |i: &Inst| {
            let mut any = false;
            let mut look = |t| each(p, i, t, &mut |at, bytes| any |= bytes > 0 && open.any(at, bytes));
            i.reads(p.parts(), &mut look);
            i.writes(p.parts(), &mut look);
            any
        };
        Proof { touches: p.code().iter().map(touches).collect(), proven, open }
    }

    /// Nothing is proven.
    pub fn none(p: &Program) -> Proof {
        let mut open = Written::default();
        open.clear(p.registers().bytes);
        open.set(0, p.registers().bytes);
        Proof { proven: Vec::new(), touches: Vec::new(), open }
    }

    /// Is all that an instruction reads written?
    #[inline]
    pub fn is_proven(&self, pc: u32) -> bool {
        self.proven.get(pc as usize).copied().unwrap_or(false)
    }

    /// Does an instruction access registers that another one may read unwritten, or may it do so itself?
    pub fn touches(&self, pc: u32) -> bool {
        self.touches.get(pc as usize).copied().unwrap_or(true)
    }
}

/// What address registers can name.
pub(super) fn addressable(p: &Program) -> Range<u32> {
    let r = p.registers();
    r.address_base..r.address_base.saturating_add(64 * r.address_homes.len() as u32).min(r.bytes)
}

/// All bytes that an instruction may touch, run by run.
fn each(p: &Program, i: &Inst, t: Touched, tell: &mut dyn FnMut(u32, u32)) {
    match t {
        Touched::Whole { offset, bytes } => tell(offset, bytes),
        Touched::Indirect { .. } => {
            let all = addressable(p);
            tell(all.start, all.end - all.start);
        }
        Touched::Lanes { .. } | Touched::Region { .. } => {
            let together = if let Touched::Region { together, .. } = t { together.max(1) } else { 1 };
            for k in 0..u32::from(i.channels).next_multiple_of(together) {
                if let Some(r) = t.channel(k) {
                    tell(r.start, r.end - r.start);
                }
            }
        }
    }
}

/// By program counter: is all that is read written? `None`: the program is too large.
fn states(p: &Program, flow: &Flow, initial: &Written) -> Option<Vec<bool>> {
    let (file, end) = (p.registers().bytes as usize, flow.end() as usize);
    let mut starts: BTreeSet<u32> = BTreeSet::from([0]);
    for pc in 0..flow.end() {
        let ways = flow.channel_successors(p.parts(), pc);
        if ways != [Some(pc + 1), None] {
            starts.extend(ways.into_iter().flatten());
            starts.insert(pc + 1);
        }
    }
    let starts: Vec<u32> = starts.into_iter().filter(|pc| (*pc as usize) < end).collect();
    if starts.len().checked_mul(file)? > MOST_BYTES {
        return None;
    }
    let mut blocks: Vec<Vec<Known>> = vec![Vec::new(); starts.len()];
    let begin = (0..file as u32).map(|at| if initial.any(at, 1) { WRITTEN } else { NOTHING });
    blocks[0] = begin.collect();
    let mut proven = vec![true; p.code().len()];
    let mut todo = BTreeSet::from([0usize]);
    while let Some(block) = todo.pop_first() {
        let mut state = blocks[block].clone();
        let behind = starts.get(block + 1).map_or(end as u32, |pc| *pc);
        let mut last = [None, None];
        for pc in starts[block]..behind {
            proven[pc as usize] = step(p, &p.code()[pc as usize], &mut state);
            last = flow.channel_successors(p.parts(), pc);
        }
        for to in last.into_iter().flatten() {
            let Ok(to) = starts.binary_search(&to) else { continue };
            if meet(&mut blocks[to], &state) {
                todo.insert(to);
            }
        }
    }
    Some(proven)
}

/// What is known where one more way ends; is it less than before?
fn meet(to: &mut Vec<Known>, way: &[Known]) -> bool {
    if to.is_empty() {
        to.extend_from_slice(way);
        return true;
    }
    let mut less = false;
    for (known, new) in to.iter_mut().zip(way) {
        let both = match (*known, *new) {
            (a, b) if a == b => a,
            (ANYTHING | WRITTEN, b) => b,
            (a, ANYTHING | WRITTEN) => a,
            _ => NOTHING,
        };
        less |= both != *known;
        *known = both;
    }
    less
}

/// That a channel of an instruction wrote it.
fn own(i: &Inst, k: u32) -> Known {
    (u32::from(i.first) + k + 1).min(33) as Known
}

/// The most that is known of any of some bytes, for one channel of an instruction or for all.
fn best(i: &Inst, state: &[Known], at: u32, bytes: u32, k: Option<u32>) -> Known {
    let there = state.get(at as usize..(at + bytes) as usize).unwrap_or_default();
    // One channel without a mask runs whether or not it is active.
    let any_channel = i.no_mask && i.channels == 1;
    match k.filter(|_| !any_channel) {
        _ if there.contains(&WRITTEN) => WRITTEN,
        Some(k) if there.contains(&own(i, k)) => own(i, k),
        _ => NOTHING,
    }
}

/// What an instruction does to what is known; is all that it reads written?
fn step(p: &Program, i: &Inst, state: &mut [Known]) -> bool {
    let n = u32::from(i.channels);
    let mut proven = true;
    // What is compared with itself has a result whatever it is. A selection may pass on what has no value, which is
    // followed from there.
    if !(i.op == Op::Cmp && i.src[0] == i.src[1]) {
        i.reads(p.parts(), &mut |t| {
            proven &= match t {
                Touched::Indirect { .. } => false,
                // As block messages move it: 16 bytes of which one is written.
                Touched::Whole { offset, bytes } => (0..bytes)
                    .step_by(16)
                    .all(|at| best(i, state, offset + at, (bytes - at).min(16), None) == WRITTEN),
                Touched::Lanes { .. } | Touched::Region { .. } => {
                    let together = if let Touched::Region { together, .. } = t { together.max(1) } else { 1 };
                    (0..n.next_multiple_of(together)).all(|k| {
                        let channel = (together == 1).then_some(k);
                        t.channel(k)
                            .is_some_and(|r| best(i, state, r.start, r.end - r.start, channel) != NOTHING)
                    })
                }
            };
        });
    }
    let predicated = i.pred.offset != 0 && i.op != Op::Sel;
    if i.op == Op::Mov && matches!(i.dst, Dst::Reg { .. }) {
        copy(p, i, state, predicated);
        return proven;
    }
    if predicated {
        return proven;
    }
    i.writes(p.parts(), &mut |t| match t {
        Touched::Indirect { .. } => {}
        Touched::Whole { offset, bytes } => put(state, offset, bytes, WRITTEN, true),
        Touched::Lanes { .. } | Touched::Region { .. } => {
            for k in 0..n {
                if let Some(r) = t.channel(k) {
                    put(state, r.start, r.end - r.start, if i.no_mask { WRITTEN } else { own(i, k) }, false);
                }
            }
        }
    });
    proven
}

/// A plain move copies what is not written, too.
fn copy(p: &Program, i: &Inst, state: &mut [Known], predicated: bool) {
    let Dst::Reg { offset: to, ty, stride, .. } = i.dst else { return };
    let mut from = None;
    let always = matches!(i.src[0], Src::Reg { constant: true, .. } | Src::Pred { .. } | Src::None);
    if !always {
        i.reads(p.parts(), &mut |t| from = Some(t));
    }
    let what: Vec<Known> = (0..u32::from(i.channels))
        .map(|k| match from.and_then(|t: Touched| t.channel(k)) {
            _ if always => WRITTEN,
            Some(r) => best(i, state, r.start, r.end - r.start, Some(k)),
            None => NOTHING,
        })
        .map(|known| if predicated && known != NOTHING { ANYTHING } else { known })
        .collect();
    for (k, known) in (0u32..).zip(what) {
        let at = to + k * u32::from(stride) * ty.size();
        let known = match known {
            // What is there stays, or is written.
            ANYTHING => continue,
            WRITTEN if !i.no_mask => own(i, k),
            known => known,
        };
        put(state, at, ty.size(), known, i.no_mask || known == NOTHING);
    }
}

/// Bytes are known so from now on; `anew`: whatever was known of them, else what was written stays so.
fn put(state: &mut [Known], at: u32, bytes: u32, known: Known, anew: bool) {
    if let Some(to) = state.get_mut(at as usize..(at + bytes) as usize) {
        to.iter_mut().filter(|x| anew || **x != WRITTEN).for_each(|x| *x = known);
    }
}
