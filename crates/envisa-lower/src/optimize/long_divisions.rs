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

use std::ops::Range;

use envisa_isa::{Combine, Modifier, Type};

use super::dominators::Dominators;
use super::fold_addresses::constant;
use super::{Blocks, CHUNK, Uses, range_of_access};
use crate::program::*;
use crate::registers::REGISTER_PADDING;

/// Most instructions of such a loop.
const LONGEST: Pc = 24;
/// Bits of a quad, without the first round's.
const FIRST_BIT: u64 = 63;
/// The relations "equal" and "less".
const EQUAL: u32 = 0;
const LESS: u32 = 4;
/// `a & b | c` as a table of three.
const AND_OR: u32 = 0xf8;

/// A loop that divides.
struct Division {
    start: Pc,
    /// The branch out of it, and the one back.
    exit: Pc,
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
    let (uses, dominators) = (&Uses::new(p), &dominators);
    let round = |end: Pc| Round { p, blocks, uses, dominators, start: p.code[end as usize].aux, end };
    let found: Vec<Division> = ends.into_iter().filter_map(|end| round(end).division()).collect();
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
        let mut made = made.into_iter();
        for pc in self.start..=self.end {
            let i = &mut p.code[pc as usize];
            let free = i.op != Op::Join && pc < self.exit;
            let next = if free { made.next() } else { None };
            if pc == self.exit {
                i.pred = Pred::default();
            } else if let Some(new) = next {
                *i = new;
            } else {
                keep[pc as usize] = i.op == Op::Join && pc == self.start;
            }
        }
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

/// A run of code that may be such a loop.
struct Round<'a> {
    p: &'a ProgramParts,
    blocks: &'a Blocks,
    uses: &'a Uses,
    dominators: &'a Dominators,
    start: Pc,
    end: Pc,
}

/// The instructions of a round, as they are told apart.
#[derive(Default)]
struct Parts {
    all: Vec<Pc>,
}

impl Round<'_> {
    fn inst(&self, pc: Pc) -> &Inst {
        &self.p.code[pc as usize]
    }

    fn division(&self) -> Option<Division> {
        if self.start == 0 || self.end - self.start > LONGEST {
            return None;
        }
        let mut parts = Parts::default();
        parts.all.push(self.end);
        // From the end on: the count goes down behind the branch out of the loop, which is at zero.
        let down = self.one(&mut parts, |i| i.op == Op::Add && is_scalar(i))?;
        let count = self.dword_of(&self.inst(down).dst)?;
        let minus_one = |s: &Src| constant(self.p, s).map(|x| x as u32) == Some(u32::MAX);
        let d = self.inst(down);
        (reads(&d.src[0], count, 4) && minus_one(&d.src[1])).then_some(())?;
        let is_exit =
            |i: &Inst| i.op == Op::Goto && i.channels == 1 && i.pred.offset != 0 && i.aux > self.end;
        let exit = self.one(&mut parts, is_exit)?;
        let by = self.inst(exit).pred;
        let at_zero = self.one(&mut parts, |i| {
            let scalar = matches!(i.src[0], Src::Reg { shape: Shape::Scalar, .. });
            let zero = constant(self.p, &i.src[1]) == Some(0) && reads(&i.src[0], count, 4);
            // For all channels, whatever channels run, or for the first one alone.
            let first = i.first == 0 && i.no_mask && i.pred == Pred::default();
            i.op == Op::Cmp && first && scalar && i.aux == EQUAL && zero
        })?;
        let goes = (by.combine, by.invert) == (Combine::None, false);
        (goes && self.inst(at_zero).dst == (Dst::Pred { offset: by.offset })).then_some(())?;
        // The bit that a round is for.
        let extended = |i: &Inst| i.op == Op::Mov && is_scalar(i) && reads(&i.src[0], count, 4);
        let bit = self.one(&mut parts, extended)?;
        let place = self.quad_of(&self.inst(bit).dst)?;
        let shift = self.one(&mut parts, |i| {
            i.op == Op::Shr && self.is_vector_or_scalar(i) && reads(&i.src[1], place, 8)
        })?;
        let double = self.one(&mut parts, |i| {
            i.op == Op::Shl && self.is_vector(i) && constant(self.p, &i.src[1]) == Some(1)
        })?;
        let (next, before) = self.next_remainder(&mut parts, shift, double)?;
        let compare = self.one(&mut parts, |i| {
            let less = i.op == Op::Cmp && i.exec == ExecType::U64 && i.aux == LESS;
            less && self.is_vector(i) && reads_vector(&i.src[0], next)
        })?;
        let order = [bit, shift, before, compare, at_zero, exit, down, self.end];
        (order.is_sorted() && double < before).then_some(())?;
        let denominator = self.operand(compare, 1)?;
        let remainder = self.vector_of(&self.inst(double).src[0])?;
        let less = Less { next, compare, place, denominator, remainder };
        let quotient = match self.subtract_chosen(&mut parts, &less) {
            Some(last) => (last < at_zero).then_some(None)?,
            None => self.subtract_where(&mut parts, &less, at_zero)?,
        };
        let numerator = self.operand(shift, 0)?;
        let division = Division {
            start: self.start,
            exit,
            end: self.end,
            of: compare,
            numerator,
            denominator,
            remainder,
            quotient,
        };
        self.begins(&division, count)?;
        (self.is_all(&parts) && self.is_alone(&division)).then_some(division)
    }

    /// What is divided, or by what: quads or extended dwords, one for each channel or one for all.
    fn operand(&self, pc: Pc, k: usize) -> Option<Src> {
        let i = self.inst(pc);
        let mut s = i.src[k];
        let Src::Reg { ty, strides, shape, modifier: Modifier::None, .. } = &mut s else { return None };
        if *shape == Shape::Scalar {
            // One channel's element may have strides that mean nothing for it.
            (strides.element(0) == 0).then_some(())?;
            *strides = Strides::SCALAR;
        }
        let fits = matches!(ty, Type::Q | Type::Uq | Type::Ud) && *shape != Shape::General;
        fits.then_some(s)
    }

    /// The only instruction of its kind that is not told apart yet.
    fn one(&self, parts: &mut Parts, is: impl Fn(&Inst) -> bool) -> Option<Pc> {
        let mut all = (self.start..=self.end).filter(|pc| !parts.all.contains(pc) && is(self.inst(*pc)));
        let found = all.next().filter(|_| all.next().is_none())?;
        parts.all.push(found);
        Some(found)
    }

    /// Where a round leaves the remainder with its next bit, and the last instruction of what makes it.
    fn next_remainder(&self, parts: &mut Parts, shift: Pc, double: Pc) -> Option<(RegOffset, Pc)> {
        let bits = (self.quad_of(&self.inst(shift).dst)?, self.inst(shift).channels == 1);
        let doubled = self.quad_of(&self.inst(double).dst)?;
        if let Some(table) = self.one(parts, |i| i.op == Op::Bfn && self.is_vector(i)) {
            let i = self.inst(table);
            let [a, b, c, _] = &i.src;
            let one = |s: &Src| self.is_one(s);
            let masked = reads_made(a, bits) && one(b) || one(a) && reads_made(b, bits);
            let made = i.aux & 0xff == AND_OR && masked && reads_vector(c, doubled);
            return made.then_some((self.quad_of(&i.dst)?, table));
        }
        let mask = self
            .one(parts, |i| i.op == Op::And && self.is_vector_or_scalar(i) && reads_made(&i.src[0], bits))?;
        let masked = (self.quad_of(&self.inst(mask).dst)?, self.inst(mask).channels == 1);
        let join = self.one(parts, |i| {
            let both = |a: &Src, b: &Src| reads_made(a, masked) && reads_vector(b, doubled);
            let either = both(&i.src[0], &i.src[1]) || both(&i.src[1], &i.src[0]);
            i.op == Op::Or && self.is_vector(i) && either
        })?;
        let made = self.is_one(&self.inst(mask).src[1]) && shift < mask && mask < join;
        made.then_some((self.quad_of(&self.inst(join).dst)?, join))
    }

    /// `r = next - (next < d ? 0 : d)`: the last instruction of that.
    fn subtract_chosen(&self, parts: &mut Parts, less: &Less) -> Option<Pc> {
        let Dst::Pred { offset } = self.inst(less.compare).dst else { return None };
        let mut own = Parts { all: parts.all.clone() };
        let choice = self.one(&mut own, |i| i.op == Op::Sel)?;
        let i = self.inst(choice);
        let by = i.pred == Pred { offset, combine: Combine::None, invert: false };
        let of = constant(self.p, &i.src[0]) == Some(0) && same(&i.src[1], &less.denominator);
        let (channels, wide) = (self.has_channels(i), wide(i));
        (by && of && channels && wide).then_some(())?;
        let chosen = self.quad_of(&i.dst)?;
        let add = self.one(&mut own, |i| {
            i.op == Op::Add
                && self.is_vector(i)
                && self.is_difference(i, less.next, |s| reads_vector(s, chosen))
        })?;
        let made = self.quad_of(&self.inst(add).dst)? == less.remainder;
        (made && less.compare < choice && choice < add).then_some(())?;
        *parts = own;
        Some(add)
    }

    /// `if next >= d { r = next - d; q |= 1 << k }`: where the quotient is, if there is one.
    fn subtract_where(&self, parts: &mut Parts, less: &Less, before: Pc) -> Option<Option<RegOffset>> {
        let Dst::Pred { offset } = self.inst(less.compare).dst else { return None };
        let branch = self.one(parts, |i| i.op == Op::Goto && self.has_channels(i))?;
        let i = self.inst(branch);
        let by = i.pred == Pred { offset, combine: Combine::None, invert: false };
        let label = i.aux;
        (by && less.compare < branch && (branch..before).contains(&label)).then_some(())?;
        let inside = |pc: Pc| branch < pc && pc < label;
        let add = self.one(parts, |i| {
            let own = |s: &Src| same(s, &less.denominator);
            i.op == Op::Add && self.is_vector(i) && self.is_difference(i, less.next, own)
        })?;
        let made = self.quad_of(&self.inst(add).dst)? == less.next && less.next == less.remainder;
        (made && inside(add)).then_some(())?;
        let Some(bit) = self.one(parts, |i| {
            let one = self.is_one(&i.src[0]) && reads(&i.src[1], less.place, 8);
            i.op == Op::Shl && wide(i) && i.channels == 1 && i.no_mask && one
        }) else {
            return Some(None);
        };
        let bits = self.quad_of(&self.inst(bit).dst)?;
        let set = self
            .one(parts, |i| i.op == Op::Or && self.is_vector(i) && i.src.iter().any(|s| reads(s, bits, 8)))?;
        let i = self.inst(set);
        let other = if reads(&i.src[0], bits, 8) { &i.src[1] } else { &i.src[0] };
        let quotient = self.vector_of(other)?;
        let made = self.quad_of(&i.dst)?;
        (inside(bit) && bit < set && inside(set)).then_some(())?;
        if made != quotient {
            let copy =
                self.one(parts, |i| i.op == Op::Mov && self.is_vector(i) && reads_vector(&i.src[0], made))?;
            let copied = self.quad_of(&self.inst(copy).dst)? == quotient;
            (copied && set < copy && inside(copy)).then_some(())?;
        }
        Some(Some(quotient))
    }

    /// Does the loop begin with the highest bit, and with zeros?
    fn begins(&self, d: &Division, count: RegOffset) -> Option<()> {
        let first = self.start.checked_sub(1)?;
        let last = self.inst(first);
        if matches!(last.op, Op::Goto | Op::Ret | Op::End) {
            return None;
        }
        let set = |range: Range<RegOffset>, value: u64, channels: u8| {
            let pc = self.uses.last_before(range.clone(), self.start)?;
            let i = self.inst(pc);
            let to = matches!(i.dst, Dst::Reg { offset, stride: 1, sat: false, ty } if offset == range.start
                && ty.is_int() && u32::from(channels) * ty.size() == range.end - range.start);
            let masked = channels == 1 && i.no_mask || channels > 1 && self.has_channels(i);
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

    /// Is nothing else done in the loop?
    fn is_all(&self, parts: &Parts) -> bool {
        let told = |pc: &Pc| parts.all.contains(pc) || self.inst(*pc).op == Op::Join;
        (self.start..=self.end).all(|pc| told(&pc))
    }

    /// Does nobody come into the loop from elsewhere, read what it leaves behind but the result, or change what it divides?
    fn is_alone(&self, d: &Division) -> bool {
        let n = u32::from(self.inst(d.of).channels);
        let inside = |pc: Pc| (self.start..=self.end).contains(&pc);
        let enters = |(pc, i): (Pc, &Inst)| i.op == Op::Goto && inside(i.aux) && !inside(pc);
        if (0..).zip(&self.p.code).any(enters) {
            return false;
        }
        let results: Vec<RegOffset> = [Some(d.remainder), d.quotient].into_iter().flatten().collect();
        let mut written: Vec<Range<RegOffset>> = Vec::new();
        for pc in self.start..=self.end {
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

    /// An instruction on quads of all channels.
    fn is_vector(&self, i: &Inst) -> bool {
        let whole = matches!(i.dst, Dst::Reg { stride: 1, sat: false, ty, .. } if ty.size() == 8 && ty.is_int())
            || matches!(i.dst, Dst::Pred { .. });
        wide(i) && i.pred == Pred::default() && i.dst2 == 0 && whole && self.has_channels(i)
    }

    /// The same, or one on a quad that is the same for all channels.
    fn is_vector_or_scalar(&self, i: &Inst) -> bool {
        self.is_vector(i) || wide(i) && is_scalar(i)
    }

    fn has_channels(&self, i: &Inst) -> bool {
        u32::from(i.channels) == self.p.simd && i.first == 0 && !i.no_mask && self.p.simd > 1
    }

    /// `next` less something.
    fn is_difference(&self, i: &Inst, next: RegOffset, what: impl Fn(&Src) -> bool) -> bool {
        let minus = matches!(i.src[1], Src::Reg { modifier: Modifier::Neg, .. });
        reads_vector(&i.src[0], next) && minus && what(&without_modifier(&i.src[1]))
    }

    /// The constant one, or a scalar that nobody makes anything else.
    fn is_one(&self, s: &Src) -> bool {
        if let Some(x) = constant(self.p, s) {
            return x == 1;
        }
        let Src::Reg { offset, ty, shape: Shape::Scalar, modifier: Modifier::None, constant: false, .. } = *s
        else {
            return false;
        };
        let Some(pc) = self.uses.last_before(offset..offset + ty.size(), self.start) else { return false };
        let only = self.uses.only_writer(offset..offset + ty.size()) == Some(pc);
        let i = self.inst(pc);
        let to = matches!(i.dst, Dst::Reg { offset: at, stride: 1, sat: false, ty: t } if at == offset && t.size() == ty.size());
        let set = i.op == Op::Mov && is_scalar(i) && to && constant(self.p, &i.src[0]) == Some(1);
        only && set && ty.is_int() && self.dominators.dominates(self.blocks, pc, self.start)
    }

    fn dword_of(&self, d: &Dst) -> Option<RegOffset> {
        match *d {
            Dst::Reg { offset, ty, stride: 1, sat: false } if ty.is_int() && ty.size() == 4 => Some(offset),
            _ => None,
        }
    }

    fn quad_of(&self, d: &Dst) -> Option<RegOffset> {
        match *d {
            Dst::Reg { offset, ty, stride: 1, sat: false } if ty.is_int() && ty.size() == 8 => Some(offset),
            _ => None,
        }
    }

    fn vector_of(&self, s: &Src) -> Option<RegOffset> {
        match *s {
            Src::Reg {
                offset,
                ty,
                shape: Shape::Contiguous,
                modifier: Modifier::None,
                constant: false,
                ..
            } => (ty.is_int() && ty.size() == 8).then_some(offset),
            _ => None,
        }
    }
}

/// The compare of a round.
struct Less {
    next: RegOffset,
    compare: Pc,
    /// Which bit it is, as a quad.
    place: RegOffset,
    denominator: Src,
    remainder: RegOffset,
}

/// One channel that computes whatever channels run.
fn is_scalar(i: &Inst) -> bool {
    i.channels == 1 && i.no_mask && i.pred == Pred::default() && i.dst2 == 0
}

fn wide(i: &Inst) -> bool {
    matches!(i.exec, ExecType::I64 | ExecType::U64)
}

/// Does a source read integers of so many bytes there, as they are: one for each channel, or one for all?
fn reads(s: &Src, at: RegOffset, bytes: u32) -> bool {
    matches!(*s, Src::Reg { offset, ty, shape, modifier: Modifier::None, constant: false, .. }
        if offset == at && ty.is_int() && ty.size() == bytes && shape != Shape::General)
}

/// Does it read quads, one for each channel?
fn reads_vector(s: &Src, at: RegOffset) -> bool {
    reads_made(s, (at, false))
}

/// Does it read quads as they were made: one for each channel, or one for all?
fn reads_made(s: &Src, (at, scalar): (RegOffset, bool)) -> bool {
    let shape = if scalar { Shape::Scalar } else { Shape::Contiguous };
    reads(s, at, 8) && matches!(*s, Src::Reg { shape: own, .. } if own == shape)
}

fn without_modifier(s: &Src) -> Src {
    let mut s = *s;
    if let Src::Reg { modifier, .. } = &mut s {
        *modifier = Modifier::None;
    }
    s
}

/// Are they the same quads?
fn same(a: &Src, b: &Src) -> bool {
    as_type(*a, Type::Q) == as_type(*b, Type::Q)
}
