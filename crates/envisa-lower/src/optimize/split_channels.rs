//! Computations whose vectors find no registers are done for some of the channels after the others.
//!
//! A vector of 32 channels takes two registers of a CPU, or four: sixteen sums that a loop makes side by side find none. What
//! each channel computes for itself may be done for the lower channels from the first instruction to the last one, and then for
//! the upper ones: each time the sums of half the channels stay in registers. What stands between such computations and has
//! nothing to do with them, as loads of what all channels share, is done before.

use std::collections::HashSet;
use std::ops::Range;

use envisa_isa::predefined::var;

use super::accesses::{Accesses, reorder_blocks};
use super::interleave::{computes_vector, cost, count_readers};
use super::{Blocks, CHUNK, chunks_of_range, relocate_targets};
use crate::Message;
use crate::program::*;

/// Fewer computations are left as they are.
const FEW: usize = 24;
/// More are taken apart.
const MOST: usize = 2048;
/// It has to save at least this part (one of so many) of what they cost.
const WORTH: u32 = 8;

/// Does what is described above; tells whether anything changed.
pub(super) fn split_channels(p: &mut ProgramParts, blocks: &Blocks) -> bool {
    let mut runs = Vec::new();
    let mut start = 0;
    // Instructions of which somebody knows what their upper channels are of stay as they are.
    let merged: HashSet<Pc> = p.upper.iter().map(|u| u.pc).collect();
    while start < p.code.len() {
        let run = Run::from(p, blocks, &merged, start);
        start += run.kinds.len().max(1);
        if run.computations() >= FEW {
            runs.push(run);
        }
    }
    if runs.is_empty() {
        return false;
    }
    let readers = count_readers(p);
    let better: Vec<(Run, Vec<Inst>)> =
        runs.into_iter().filter_map(|run| run.better(p, &readers).map(|b| (run, b))).collect();
    if !better.is_empty() {
        replace(p, &better);
    }
    !better.is_empty()
}

/// How an instruction of a run is treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// It is done for some channels after the others.
    Apart,
    /// It is done before.
    Before,
}

/// Instructions that follow one another, each with its kind.
struct Run {
    start: usize,
    kinds: Vec<Kind>,
    /// The smallest vector operand of those that are done apart, in bytes.
    smallest: u32,
    channels: u32,
}

/// Chunks of the register file that instructions touch.
#[derive(Default)]
struct Touched {
    read: HashSet<u32>,
    written: HashSet<u32>,
}

impl Touched {
    fn add(&mut self, a: &Accesses) {
        self.read.extend(chunks(&a.reads));
        self.written.extend(chunks(&a.writes));
    }

    /// Would another order of them and these change anything?
    fn meets(&self, a: &Accesses) -> bool {
        chunks(&a.reads).any(|c| self.written.contains(&c))
            || chunks(&a.writes).any(|c| self.written.contains(&c) || self.read.contains(&c))
    }
}

/// What computations touch, by part of the channels: the parts behind each.
struct Later {
    behind: Vec<Touched>,
}

impl Later {
    fn in_parts(parts: u32) -> Later {
        Later { behind: (0..parts).map(|_| Touched::default()).collect() }
    }

    /// Adds a computation, unless one part of it cannot be done before later parts of itself and of those before it.
    fn add(&mut self, p: &ProgramParts, i: &Inst) -> bool {
        let parts = self.behind.len() as u32;
        let all: Vec<Accesses> =
            (0..parts).map(|k| Accesses::of_instruction(p, &part(i, parts, k))).collect();
        for (k, a) in all.iter().enumerate() {
            let over = |later: &Accesses| chunks(&later.reads).any(|c| chunks(&a.writes).any(|w| w == c));
            if self.behind[k].meets(a) || all[k + 1..].iter().any(over) {
                return false;
            }
        }
        for (k, behind) in self.behind.iter_mut().enumerate() {
            all[k + 1..].iter().for_each(|a| behind.add(a));
        }
        true
    }
}

fn chunks(ranges: &[Range<RegOffset>]) -> impl Iterator<Item = u32> {
    ranges.iter().flat_map(|r| chunks_of_range(r.clone()))
}

impl Run {
    /// The longest run from an instruction on.
    fn from(p: &ProgramParts, blocks: &Blocks, merged: &HashSet<Pc>, start: usize) -> Run {
        let mut run = Run { start, kinds: Vec::new(), smallest: u32::MAX, channels: 0 };
        // What computations so far touch, and what they do for the upper channels.
        let (mut all, mut later) = (Touched::default(), Later::in_parts(2));
        let mode = p.registers.predefined[var::CR0 as usize];
        let mode = chunks_of_range(mode..mode + CHUNK);
        for (pc, i) in p.code.iter().enumerate().skip(start).take(MOST) {
            if !blocks.same(start as Pc, pc as Pc) || merged.contains(&(pc as Pc)) {
                break;
            }
            let accesses = Accesses::of_instruction(p, i);
            if chunks(&accesses.writes).any(|c| mode.contains(&c)) {
                break;
            }
            let apart = smallest_vector(p, i).filter(|bytes| bytes / 2 >= CHUNK);
            let fits = apart.is_some() && (run.channels == 0 || run.channels == u32::from(i.channels));
            if let (Some(bytes), true) = (apart, fits) {
                if !later.add(p, i) {
                    break;
                }
                all.add(&accesses);
                run.smallest = run.smallest.min(bytes);
                run.channels = u32::from(i.channels);
                run.kinds.push(Kind::Apart);
            } else if may_be_done_before(p, i) && !all.meets(&accesses) {
                run.kinds.push(Kind::Before);
            } else {
                break;
            }
        }
        run
    }

    fn computations(&self) -> usize {
        self.kinds.iter().filter(|k| **k == Kind::Apart).count()
    }

    fn of_kind<'a>(&'a self, p: &'a ProgramParts, kind: Kind) -> impl Iterator<Item = &'a Inst> {
        let all = p.code[self.start..].iter().zip(&self.kinds);
        all.filter(move |(_, k)| **k == kind).map(|(i, _)| i)
    }

    /// The computations, part after part, if that is worth while.
    fn better(&self, p: &ProgramParts, readers: &[u32]) -> Option<Vec<Inst>> {
        let whole: Vec<Inst> = self.of_kind(p, Kind::Apart).copied().collect();
        let old = cost(p, &whole, readers);
        let in_parts = |parts: u32| {
            let mut later = Later::in_parts(parts);
            if !whole.iter().all(|i| later.add(p, i)) {
                return None;
            }
            let all = (0..parts).flat_map(|k| whole.iter().map(move |i| part(i, parts, k)));
            let all: Vec<Inst> = all.collect();
            Some((cost(p, &all, readers), all))
        };
        let possible = [2, 4].into_iter().filter(|parts| self.smallest / parts >= CHUNK);
        let best = possible.filter_map(in_parts).min_by_key(|(cost, all)| (*cost, all.len()))?;
        (best.0 + old / WORTH < old).then_some(best.1)
    }
}

/// The bytes of the smallest vector of a computation of all channels, each by itself, of floats.
fn smallest_vector(p: &ProgramParts, i: &Inst) -> Option<u32> {
    let floats = matches!(i.exec, ExecType::F32 | ExecType::F64);
    let Dst::Reg { ty, .. } = i.dst else { return None };
    if !floats || i.first != 0 || u32::from(i.channels) != p.simd || i.facts.uniform || !computes_vector(p, i)
    {
        return None;
    }
    let mut least = ty.size();
    for s in &i.src {
        match *s {
            Src::None | Src::Reg { shape: Shape::Scalar, .. } => {}
            Src::Reg { shape: Shape::Contiguous, ty, .. } => least = least.min(ty.size()),
            _ => return None,
        }
    }
    Some(least * u32::from(i.channels))
}

/// One of so many parts of a computation's channels.
fn part(i: &Inst, parts: u32, k: u32) -> Inst {
    let channels = u32::from(i.channels) / parts;
    let first = channels * k;
    let mut made = Inst { channels: channels as u8, first: i.first + first as u8, ..*i };
    if let Dst::Reg { offset, ty, .. } = &mut made.dst {
        *offset += first * ty.size();
    }
    for s in &mut made.src {
        if let Src::Reg { offset, ty, shape: Shape::Contiguous, strides, .. } = s {
            (*offset, *strides) = (*offset + first * ty.size(), Strides::CONTIGUOUS);
        }
    }
    made
}

/// May it be done before computations with whose registers it has nothing to do: a computation, or a load for all channels?
fn may_be_done_before(p: &ProgramParts, i: &Inst) -> bool {
    if i.op == Op::Message {
        let loads = match p.messages.get(i.aux as usize) {
            Some(Message::Simt(s)) => !s.write && s.data.is_some(),
            Some(Message::Block(b)) => !b.write && b.data.is_some(),
            _ => false,
        };
        return loads && i.channels == 1 && i.pred == Pred::default();
    }
    let direct = i.src.iter().all(|s| matches!(s, Src::Reg { .. } | Src::None));
    matches!(i.dst, Dst::Reg { .. }) && direct && i.op.facts().pure && i.pred == Pred::default()
}

/// Puts what was made in the place of what it was made of.
fn replace(p: &mut ProgramParts, runs: &[(Run, Vec<Inst>)]) {
    let old = std::mem::take(&mut p.code);
    let mut to = Vec::with_capacity(old.len() + 1);
    let mut at = 0;
    for (run, made) in runs {
        to.extend((at..run.start).map(|pc| (p.code.len() + pc - at) as Pc));
        p.code.extend_from_slice(&old[at..run.start]);
        at = run.start + run.kinds.len();
        // Nothing goes to any but the first of them.
        to.resize(at, p.code.len() as Pc);
        let all = old[run.start..at].iter().zip(&run.kinds);
        p.code.extend(all.filter(|(_, k)| **k == Kind::Before).map(|(i, _)| *i));
        p.code.extend_from_slice(made);
    }
    to.extend((at..=old.len()).map(|pc| (p.code.len() + pc - at) as Pc));
    p.code.extend_from_slice(&old[at..]);
    relocate_targets(p, &to);
    // What is known of masks is known of places.
    let order: Vec<usize> = (0..p.code.len()).collect();
    reorder_blocks(p, &order);
}
