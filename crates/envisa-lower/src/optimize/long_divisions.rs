//! Long divisions, bit by bit, are one instruction.
//!
//! Devices without divisions of 64 bits have a loop for them, which compilers take from a library:
//!
//! ```text
//! r = 0; q = 0; for k in 63..=0 { r = r << 1 | n >> k & 1; if r >= d { r -= d; q |= 1 << k } }
//! ```
//!
//! or, where only the remainder is wanted, `r -= if r < d { 0 } else { d }`. Before each round `r` is what the bits of `n` from
//! `k + 1` on leave when they are divided by `d`, so it is less than `d`, or, if that is zero, those bits themselves; it does
//! not overflow, as it is no more than those bits. At the end `r` is the remainder and `q` the quotient; if `d` is zero, they
//! are `n` and all ones. The loop goes on for all channels alike, and leaves nothing else behind that anybody reads.

mod round;
mod values;

use std::ops::Range;

use envisa_isa::{Modifier, Type};
use round::{Round, is_count_down};
use values::{Place, Quad, Value};

use super::dominators::Dominators;
use super::fold_addresses::constant;
use super::{Blocks, CHUNK, Uses, chunks_of_range, range_of_access};
use crate::program::*;
use crate::registers::REGISTER_PADDING;

/// Most instructions of such a loop.
const LONGEST: Pc = 40;
/// Bits of a quad, without the first round's.
const FIRST_BIT: u64 = 63;

/// A loop that divides.
struct Division {
    start: Pc,
    /// The branch out of it, or around what is done as it is left.
    exit: Pc,
    /// What is done then.
    leaving: Range<Pc>,
    /// The branch back.
    end: Pc,
    /// An instruction of all its channels.
    of: Pc,
    numerator: Src,
    denominator: Src,
    remainder: RegOffset,
    quotient: Option<RegOffset>,
}

/// Does what is described above; `false` if there is nothing to do.
pub(super) fn divide_at_once(p: &mut ProgramParts, blocks: &Blocks) -> bool {
    let leaves = |i: &Inst| matches!(i.op, Op::Call | Op::Fcall | Op::Ifcall | Op::SwitchJmp);
    if p.functions.len() != 1 || p.code.iter().any(leaves) {
        return false;
    }
    let back = |end: &Pc| {
        let i = &p.code[*end as usize];
        i.op == Op::Goto && (i.channels, i.pred) == (1, Pred::default()) && i.aux < *end
    };
    let ends: Vec<Pc> = (0..p.code.len() as Pc).filter(back).collect();
    let Some(dominators) = Dominators::new(p, blocks).filter(|_| !ends.is_empty()) else { return false };
    let loops = Loops { p, blocks, uses: Uses::new(p), dominators };
    let found: Vec<Division> = ends.into_iter().filter_map(|end| loops.division(end)).collect();
    if found.is_empty() {
        return false;
    }
    let mut keep = vec![true; p.code.len()];
    let mut room = p.registers.bytes.saturating_sub(REGISTER_PADDING).next_multiple_of(CHUNK);
    for d in &found {
        d.put_in_place(p, &mut keep, &mut room);
    }
    p.registers.bytes = p.registers.bytes.max((room + REGISTER_PADDING).next_multiple_of(CHUNK));
    super::dead_code::remove_instructions(p, &keep);
    let f = &p.functions[0];
    crate::flow::analyse_divergence(&mut p.code, &p.tables, f.entry, f.end, p.simd);
    true
}

impl Division {
    fn put_in_place(&self, p: &mut ProgramParts, keep: &mut [bool], room: &mut RegOffset) {
        let of = p.code[self.of as usize];
        let mut take = || {
            let at = *room;
            *room += (8 * u32::from(of.channels)).next_multiple_of(CHUNK);
            at
        };
        let (whole, product) = (take(), take());
        let facts = Facts { uniform: false, fuses_with_next: false, writes_only_next: false, ..of.facts };
        let make = |op, exec, to, a, b| Inst {
            op,
            exec,
            aux: 0,
            pred: Pred::default(),
            dst: Dst::Reg { offset: to, ty: Type::Q, stride: 1, sat: false },
            src: [a, b, Src::None, Src::None],
            dst2: 0,
            facts,
            ..of
        };
        let quads = |offset, modifier| {
            let (strides, shape) = (Strides::CONTIGUOUS, Shape::Contiguous);
            Src::Reg { offset, ty: Type::Q, strides, shape, modifier, constant: false }
        };
        let plain = |offset| quads(offset, Modifier::None);
        let (n, d) = (self.numerator, self.denominator);
        let mut made = vec![
            make(Op::Div, ExecType::U64, whole, as_type(n, Type::Uq), as_type(d, Type::Uq)),
            make(Op::Mul, ExecType::I64, product, plain(whole), as_type(d, Type::Q)),
            make(Op::Add, ExecType::I64, self.remainder, as_type(n, Type::Q), quads(product, Modifier::Neg)),
        ];
        made.extend(self.quotient.map(|q| make(Op::Mov, ExecType::I64, q, plain(whole), Src::None)));
        let mut made = made.into_iter().peekable();
        for pc in self.start..=self.end {
            let i = &mut p.code[pc as usize];
            let next = if i.op != Op::Join && pc < self.exit { made.next() } else { None };
            if self.leaving.contains(&pc) {
                continue;
            }
            if pc == self.exit && self.leaving.is_empty() {
                i.pred = Pred::default();
            } else if let Some(new) = next {
                *i = new;
            } else {
                keep[pc as usize] = i.op == Op::Join && pc == self.start;
            }
        }
        debug_assert!(made.peek().is_none(), "a round has more instructions than its division");
    }
}

fn as_type(mut s: Src, to: Type) -> Src {
    if let Src::Reg { ty, .. } = &mut s
        && ty.size() == 8
    {
        *ty = to;
    }
    s
}

/// A program whose loops may divide.
struct Loops<'a> {
    p: &'a ProgramParts,
    blocks: &'a Blocks,
    uses: Uses,
    dominators: Dominators,
}

impl Loops<'_> {
    fn inst(&self, pc: Pc) -> &Inst {
        &self.p.code[pc as usize]
    }

    /// The division that the loop is which ends there.
    fn division(&self, end: Pc) -> Option<Division> {
        let start = self.inst(end).aux;
        if start == 0 || end - start > LONGEST || self.p.simd < 2 {
            return None;
        }
        let first = |is: &dyn Fn(&Inst) -> bool| (start..end).find(|pc| is(self.inst(*pc)));
        let exit = first(&|i| i.op == Op::Goto && i.channels == 1 && i.pred.offset != 0)?;
        let of = first(&|i| i.op == Op::Shl && has_channels(self.p, i))?;
        let around = self.inst(exit).aux;
        let leaving = if around > end { exit + 1..exit + 1 } else { exit + 1..around };
        // Behind that, only the count goes down.
        let mut rest = (leaving.end..end).filter(|pc| self.inst(*pc).op != Op::Join);
        let count = is_count_down(self.p, self.inst(rest.next()?))?;
        (rest.next().is_none() && self.only_leaves(&leaving, start..end)).then_some(())?;
        let mut round = Round::new(self, start);
        round.compute(start..exit)?;
        let count_dword = round.values.start(Place { offset: count, step: 0 });
        let goes = round.holds(self.inst(exit).pred)?;
        let leaves = if leaving.is_empty() { goes } else { round.values.not(goes) };
        (leaves == round.values.is_zero(count_dword)).then_some(())?;
        let zero = round.values.constant(0);
        let found = Results::of(&mut round, [count_dword, zero])?;
        let Results { numerator, denominator, remainder, quotient } = found;
        let division =
            Division { start, exit, leaving, end, of, numerator, denominator, remainder, quotient };
        self.begins(&division, count)?;
        self.is_alone(&division).then_some(division)
    }

    /// Does what is done as a loop is left have no branch but out of it?
    fn only_leaves(&self, leaving: &Range<Pc>, inside: Range<Pc>) -> bool {
        let Some(last) = leaving.clone().last() else { return true };
        let i = self.inst(last);
        let out = i.op == Op::Goto && i.channels == 1 && i.pred == Pred::default();
        let straight = |pc: Pc| {
            let op = self.inst(pc).op;
            !matches!(op, Op::Goto | Op::Join | Op::Ret | Op::End)
        };
        out && !inside.contains(&i.aux) && i.aux != inside.end && (leaving.start..last).all(straight)
    }

    /// A scalar dword that nobody makes anything but a constant, before this.
    fn scalar_constant(&self, at: RegOffset, before: Pc) -> Option<u32> {
        let pc = self.uses.only_writer(at..at + 4)?;
        let i = self.inst(pc);
        let to = matches!(i.dst, Dst::Reg { offset, stride: 1, sat: false, ty }
            if offset == at && ty.is_int() && ty.size() == 4);
        let set = i.op == Op::Mov && is_scalar(i) && to && self.dominators.dominates(self.blocks, pc, before);
        constant(self.p, &i.src[0]).filter(|_| set).map(|x| x as u32)
    }

    /// A source without its absolute value, which a vector has that was set before.
    fn without_absolute(&self, s: Src, before: Pc) -> Option<Src> {
        let Src::Reg { offset, ty, shape: Shape::Contiguous, modifier, .. } = s else { return Some(s) };
        let left = match modifier {
            Modifier::Abs => Modifier::None,
            Modifier::NegAbs => Modifier::Neg,
            _ => return Some(s),
        };
        let with = |s: Src, to: Modifier| match s {
            Src::Reg { offset, ty, strides, shape, constant, .. } => {
                Src::Reg { offset, ty, strides, shape, constant, modifier: to }
            }
            other => other,
        };
        let (given, bytes) = (with(s, Modifier::Abs), self.p.simd * ty.size());
        let dominates = |a, b| self.dominators.dominates(self.blocks, a, b);
        // What is written where channels did not copy yet is copied before they come here.
        let unchanged = |since: Pc| {
            let mut writers = chunks_of_range(offset..offset + bytes).flat_map(|c| self.uses.writers(c));
            writers.all(|(_, w)| !dominates(since, *w))
        };
        (0..).zip(&self.p.code).find_map(|(pc, i)| {
            let Dst::Reg { offset, ty: to, stride: 1, sat: false } = i.dst else { return None };
            let copies = i.op == Op::Mov && i.src[0] == given && i.pred == Pred::default() && i.dst2 == 0;
            let whole = to.is_int() && to.size() == ty.size() && has_channels(self.p, i);
            let only = || self.uses.only_writer(offset..offset + bytes) == Some(pc);
            let found = copies && whole && only() && dominates(pc, before) && unchanged(pc);
            let Src::Reg { strides, shape, constant, .. } = s else { return None };
            found.then_some(Src::Reg { offset, ty, strides, shape, constant, modifier: left })
        })
    }

    /// Does the loop begin with the highest bit, and with zeros?
    fn begins(&self, d: &Division, count: RegOffset) -> Option<()> {
        let first = d.start.checked_sub(1)?;
        let last = self.inst(first);
        if matches!(last.op, Op::Goto | Op::Ret | Op::End) {
            return None;
        }
        let set = |range: Range<RegOffset>, value: u64, channels: u8| {
            let pc = self.uses.last_before(range.clone(), d.start)?;
            let i = self.inst(pc);
            let to = matches!(i.dst, Dst::Reg { offset, stride: 1, sat: false, ty } if offset == range.start
                && ty.is_int() && u32::from(channels) * ty.size() == range.end - range.start);
            let masked = channels == 1 && i.no_mask || channels > 1 && has_channels(self.p, i);
            let plain = i.op == Op::Mov && i.pred == Pred::default() && i.channels == channels && masked;
            let found = plain && to && constant(self.p, &i.src[0]) == Some(value);
            (found && self.blocks.same(pc, first)).then_some(())
        };
        let n = self.inst(d.of).channels;
        let bytes = 8 * u32::from(n);
        set(count..count + 4, FIRST_BIT, 1)?;
        set(d.remainder..d.remainder + bytes, 0, n)?;
        d.quotient.map_or(Some(()), |q| set(q..q + bytes, 0, n))
    }

    /// Does nobody come into the loop from elsewhere, read what it leaves behind but the result, or change what it divides?
    fn is_alone(&self, d: &Division) -> bool {
        let n = u32::from(self.inst(d.of).channels);
        let whole = |pc: Pc| (d.start..=d.end).contains(&pc);
        let inside = |pc: Pc| whole(pc) && !d.leaving.contains(&pc);
        let enters = |(pc, i): (Pc, &Inst)| i.op == Op::Goto && whole(i.aux) && !whole(pc);
        if (0..).zip(&self.p.code).any(enters) {
            return false;
        }
        let results: Vec<RegOffset> = [Some(d.remainder), d.quotient].into_iter().flatten().collect();
        let mut written: Vec<Range<RegOffset>> = Vec::new();
        for pc in (d.start..=d.end).filter(|pc| inside(*pc)) {
            let i = self.inst(pc);
            i.writes(self.p, &mut |t| written.push(range_of_access(&t, i.channels, self.p)));
        }
        let meets = |a: &Range<RegOffset>, b: &Range<RegOffset>| a.start < b.end && b.start < a.end;
        let constant_operand = |s: &Src| match *s {
            Src::Reg { offset, ty, strides, constant, .. } => {
                let end = offset + (strides.element(n - 1) + 1) * ty.size();
                constant || !written.iter().any(|w| meets(w, &(offset..end)))
            }
            _ => false,
        };
        let is_result = |r: &Range<RegOffset>| results.iter().any(|at| *at <= r.start && r.end <= at + 8 * n);
        let apart = d.quotient.is_none_or(|q| q.abs_diff(d.remainder) >= 8 * n);
        let outside = (0..).zip(&self.p.code).filter(|(pc, _)| !inside(*pc));
        let left = outside.map(|(_, i)| i).any(|i| {
            let mut reads = false;
            i.reads(self.p, &mut |t| {
                let r = range_of_access(&t, i.channels, self.p);
                reads |= written.iter().any(|w| !is_result(w) && meets(w, &r));
            });
            reads
        });
        apart && !left && constant_operand(&d.numerator) && constant_operand(&d.denominator)
    }
}

/// What a round leaves, if it divides.
struct Results {
    numerator: Src,
    denominator: Src,
    remainder: RegOffset,
    quotient: Option<RegOffset>,
}

impl Results {
    /// Of a round that is for this bit.
    fn of(round: &mut Round<'_>, bit: Quad) -> Option<Results> {
        let mut doubled = round.values.iter().filter_map(|v| match v {
            Value::Double(0, of) => Some(of),
            _ => None,
        });
        let before = doubled.next().filter(|_| doubled.next().is_none())?;
        drop(doubled);
        let Value::Start(Place { offset: remainder, step: 8 }) = round.values.get(before[0]) else {
            return None;
        };
        let quad = |round: &mut Round<'_>, at: RegOffset| {
            [at, at + 4].map(|offset| round.values.start(Place { offset, step: 8 }))
        };
        (before == quad(round, remainder)).then_some(())?;
        let mut shifted = round.values.iter().filter_map(|v| match v {
            Value::Shifted(0, of, by) => Some((of, by)),
            _ => None,
        });
        let (n, by) = shifted.next().filter(|_| shifted.next().is_none())?;
        drop(shifted);
        (by == bit).then_some(())?;
        // The remainder so far, with the next bit.
        let v = &mut round.values;
        let doubled = v.halves(|h| Value::Double(h, before));
        let shifted = v.halves(|h| Value::Shifted(h, n, bit));
        let one = v.constant(1);
        let masked = v.and(shifted[0], one);
        let next = [v.or(masked, doubled[0]), doubled[1]];
        let left = round.read(Place { offset: remainder, step: 8 })?;
        let Value::Choice(_, _, less) = round.values.get(left) else { return None };
        let Value::Difference(0, _, d) = round.values.get(less) else { return None };
        let is_less = round.values.less(next, d);
        let difference = round.values.difference(next, d);
        let chosen = |round: &mut Round<'_>, at: RegOffset, a: Quad, b: Quad| {
            (0..2).all(|h| {
                let expected = round.values.choice(is_less, a[h], b[h]);
                round.read(Place { offset: at + 4 * h as u32, step: 8 }) == Some(expected)
            })
        };
        chosen(round, remainder, next, difference).then_some(())?;
        let bits = round.values.halves(|h| Value::Power(h, bit));
        let quads: Vec<RegOffset> = round.written_quads().filter(|at| *at != remainder).collect();
        let quotient = quads.into_iter().find(|at| {
            let old = quad(round, *at);
            let new = [0, 1].map(|h| round.values.or(old[h], bits[h]));
            chosen(round, *at, old, new)
        });
        let [numerator, denominator] = [n, d].map(|x| round.source(x));
        Some(Results { numerator: numerator?, denominator: denominator?, remainder, quotient })
    }
}

/// One channel that computes whatever channels run.
fn is_scalar(i: &Inst) -> bool {
    i.channels == 1 && i.no_mask && i.pred == Pred::default() && i.dst2 == 0
}

fn has_channels(p: &ProgramParts, i: &Inst) -> bool {
    u32::from(i.channels) == p.simd && i.first == 0 && !i.no_mask
}

fn wide(i: &Inst) -> bool {
    matches!(i.exec, ExecType::I64 | ExecType::U64)
}
