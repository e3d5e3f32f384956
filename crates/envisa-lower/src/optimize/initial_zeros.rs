//! Which registers must be zero when a thread starts.
//!
//! Registers start as zero. An engine that runs thread after thread in one register file need only clear
//! what could be read before it is written; the rest is never seen. A channel's way through the code is a
//! path of the control-flow graph, so this is the question of definite assignment, asked twice: of bytes
//! that certainly have been written whatever the channel ([`State::all`]), and of those that a channel wrote
//! in its own place ([`State::own`]), which serves reads by the same channel alone. Most registers are read
//! behind a write of the same block, so states are of those alone that are not.

use std::ops::Range;

use envisa_isa::Combine;

use super::{Blocks, CHUNK};
use crate::Message;
use crate::program::*;
use crate::touched::Touched;

/// Passes over the code at most: loops nest that deep in no sensible program.
const PASSES: usize = 24;
/// Bytes of a unit that is written or not.
const UNIT: u32 = 4;
/// Bits of all states together beyond which everything is cleared: the analysis is not worth it.
const MOST: u64 = 1 << 26;

/// Ranges, by whole chunks, that must be zero for a thread with all its channels; the constants apart, which
/// are never written.
pub(super) fn ranges_to_zero(p: &ProgramParts) -> Vec<Range<RegOffset>> {
    let (start, end) = (p.registers.locals_start, p.registers.bytes);
    let low = p.registers.constants.len() as u32;
    let everything = || std::iter::once(low..end).collect();
    let calls = p.code.iter().any(|i| matches!(i.op, Op::Call | Op::Fcall | Op::Ifcall | Op::SwitchJmp));
    let blocks = Blocks::new(p);
    if calls || p.functions.len() != 1 || start >= end {
        return everything();
    }
    let units = ((end - start) / UNIT) as usize;
    let mut a = Analysis { p, start, units, places: vec![None; units], index: Vec::new(), must: Vec::new() };
    a.find_masked_layouts();
    a.index_exposed_units(&blocks);
    if (a.must.len() * blocks.entry.len()) as u64 > MOST / 64 || !a.solve_to_fixpoint(&blocks) {
        return everything();
    }
    let mut out: Vec<Range<RegOffset>> = std::iter::once(low..start).collect();
    for c in 0..(end - start) / CHUNK {
        let unit = (c * CHUNK / UNIT) as usize;
        if !(unit..unit + (CHUNK / UNIT) as usize).any(|u| a.is_read_early(u)) {
            continue;
        }
        let at = start + c * CHUNK;
        match out.last_mut() {
            Some(last) if last.end == at => last.end += CHUNK,
            _ => out.push(at..at + CHUNK),
        }
    }
    out
}

/// Where a channel's own element is: `(channel 0's first byte, bytes from channel to channel)`.
type Lane = (i64, u32);

/// Units certainly written, of those that have an index.
#[derive(Clone, PartialEq)]
struct State {
    all: Vec<u64>,
    own: Vec<u64>,
}

struct Analysis<'a> {
    p: &'a ProgramParts,
    start: RegOffset,
    units: usize,
    /// How masked writes lay out each unit; `Some(None)`: in more than one way.
    places: Vec<Option<Option<Lane>>>,
    /// Of each unit, which one it is of those that a block reads before it writes them.
    index: Vec<Option<u32>>,
    /// Those of them that must be zero.
    must: Vec<u64>,
}

fn get(bits: &[u64], i: usize) -> bool {
    bits[i / 64] >> (i % 64) & 1 != 0
}

/// An instruction's write of consecutive elements.
struct Written {
    /// Units that lie inside as a whole.
    units: Range<usize>,
    lane: Option<Lane>,
}

impl Analysis<'_> {
    /// Units of a range: those it touches, or (`whole`) those inside.
    fn units_in_range(&self, r: Range<RegOffset>, whole: bool) -> Range<usize> {
        let (from, to) = (r.start.max(self.start) - self.start, r.end.max(self.start) - self.start);
        let (from, to) = match whole {
            true => (from.div_ceil(UNIT), to / UNIT),
            false => (from / UNIT, to.div_ceil(UNIT)),
        };
        let to = (to as usize).min(self.units);
        (from as usize).min(to)..to
    }

    /// What an instruction writes for certain, if it does so at all.
    fn certain_writes(&self, i: &Inst, f: &mut dyn FnMut(Written)) {
        // A media block of an empty image writes nothing, a raw message perhaps a part.
        let media = i.op == Op::Message
            && matches!(
                self.p.messages.get(i.aux as usize),
                None | Some(Message::Media(_) | Message::Raw(_))
            );
        // A selection's predicate says what it writes, not whether.
        let predicated = i.pred.offset != 0 && i.op != Op::Sel;
        if media || predicated || i.pred.combine != Combine::None {
            return;
        }
        i.writes(self.p, &mut |t| {
            let lane = lane_layout(&t, i);
            if lane.is_none() && !matches!(t, Touched::Whole { .. }) {
                return;
            }
            if let Some(r) = t.range(i.channels as u32) {
                f(Written { units: self.units_in_range(r, true), lane });
            }
        });
    }

    /// Finds out how masked writes lay out each unit.
    fn find_masked_layouts(&mut self) {
        let mut places = std::mem::take(&mut self.places);
        for i in &self.p.code {
            self.certain_writes(i, &mut |w| {
                if let Some(lane) = w.lane {
                    for place in &mut places[w.units] {
                        *place = match *place {
                            None => Some(Some(lane)),
                            Some(Some(other)) if other == lane => *place,
                            _ => Some(None),
                        };
                    }
                }
            });
        }
        self.places = places;
    }

    /// Must a unit be zero?
    fn is_read_early(&self, unit: usize) -> bool {
        self.index[unit].is_some_and(|at| get(&self.must, at as usize))
    }

    /// Numbers the units that a block reads before it writes them.
    fn index_exposed_units(&mut self, blocks: &Blocks) {
        let words = self.units.div_ceil(64);
        self.index = (0..self.units as u32).map(Some).collect();
        self.must = vec![0; words];
        // One state serves all: what a block leaves in it is none of the next one's.
        let mut s = State { all: vec![0; words], own: vec![0; words] };
        let mut written: Vec<Range<usize>> = Vec::new();
        for (pc, i) in self.p.code.iter().enumerate() {
            if pc > 0 && !blocks.same(pc as Pc - 1, pc as Pc) {
                for u in written.drain(..).flatten() {
                    (s.all[u / 64], s.own[u / 64]) = (0, 0);
                }
            }
            self.transfer_state(i, &mut s, true);
            self.certain_writes(i, &mut |w| written.push(w.units));
        }
        let mut count = 0;
        for u in 0..self.units {
            let exposed = get(&self.must, u);
            self.index[u] = exposed.then_some(count);
            count += u32::from(exposed);
        }
        self.must = vec![0; (count as usize).div_ceil(64)];
    }

    /// The state behind an instruction; `note`: reads that nothing precedes are noted.
    fn transfer_state(&mut self, i: &Inst, s: &mut State, note: bool) {
        if note {
            let mut must = std::mem::take(&mut self.must);
            i.reads(self.p, &mut |t| {
                let Some(r) = t.range(i.channels as u32) else { return };
                let lane = if i.no_mask { None } else { lane_layout(&t, i) };
                for u in self.units_in_range(r, false) {
                    let Some(at) = self.index[u] else { continue };
                    let at = at as usize;
                    let own = lane.is_some() && self.places[u] == Some(lane) && get(&s.own, at);
                    if !own && !get(&s.all, at) {
                        must[at / 64] |= 1 << (at % 64);
                    }
                }
            });
            self.must = must;
        }
        // All channels of the dispatch, and no instruction beyond them.
        let everyone = i.no_mask || i.facts.converged && i.first as u32 + i.channels as u32 <= self.p.simd;
        self.certain_writes(i, &mut |w| {
            for at in w.units.filter_map(|u| self.index[u]) {
                let (word, bit) = (at as usize / 64, 1 << (at % 64));
                s.own[word] |= if w.lane.is_some() || everyone { bit } else { 0 };
                s.all[word] |= if everyone { bit } else { 0 };
            }
        });
    }

    /// Iterates to the greatest solution, then notes the reads; `false` if that takes too long.
    fn solve_to_fixpoint(&mut self, blocks: &Blocks) -> bool {
        let p = self.p;
        let count = blocks.entry.len();
        let words = self.must.len();
        let mut ends = vec![0..0; count];
        for (pc, b) in blocks.of.iter().enumerate() {
            let r: &mut Range<usize> = &mut ends[*b as usize];
            *r = if r.end == 0 { pc..pc + 1 } else { r.start..pc + 1 };
        }
        let top = State { all: vec![u64::MAX; words], own: vec![u64::MAX; words] };
        let mut at: Vec<State> = vec![top; count];
        at[0] = State { all: vec![0; words], own: vec![0; words] };
        for pass in 0.. {
            if pass == PASSES {
                return false;
            }
            let mut changed = false;
            for b in 0..count {
                let mut s = at[b].clone();
                for pc in ends[b].clone() {
                    self.transfer_state(&p.code[pc], &mut s, false);
                }
                for next in successors(p, ends[b].end - 1) {
                    let Some(to) = blocks.of.get(next as usize) else { continue };
                    let to = &mut at[*to as usize];
                    for (mine, other) in [(&mut to.all, &s.all), (&mut to.own, &s.own)] {
                        for (m, o) in mine.iter_mut().zip(other) {
                            changed |= *m & !o != 0;
                            *m &= o;
                        }
                    }
                }
            }
            if !changed {
                break;
            }
        }
        for b in 0..count {
            let mut s = at[b].clone();
            for pc in ends[b].clone() {
                self.transfer_state(&p.code[pc], &mut s, true);
            }
        }
        true
    }
}

/// The layout of an access of which each channel has an element, side by side.
fn lane_layout(t: &Touched, i: &Inst) -> Option<Lane> {
    let (offset, bytes) = match *t {
        Touched::Lanes { offset, bytes, step } if step == bytes => (offset, bytes),
        Touched::Region { offset, bytes, strides, together: 1 }
            if strides.shape(i.channels as u32) == Shape::Contiguous =>
        {
            (offset, bytes)
        }
        // One channel's element is at the same distance as all would be.
        Touched::Region { offset, bytes, together: 1, .. } if i.channels == 1 => (offset, bytes),
        _ => return None,
    };
    Some((offset as i64 - i.first as i64 * bytes as i64, bytes))
}

/// Where a channel may go on after an instruction that ends a block.
fn successors(p: &ProgramParts, pc: usize) -> Vec<Pc> {
    let i = &p.code[pc];
    let next = pc as Pc + 1;
    let everyone = i.pred.offset == 0 && !crate::flow::may_diverge(i, p.simd);
    match i.op {
        Op::Goto if everyone => vec![i.aux],
        Op::Goto => vec![i.aux, next],
        Op::Ret | Op::Fret if everyone => vec![],
        Op::End => vec![],
        _ => vec![next],
    }
}
