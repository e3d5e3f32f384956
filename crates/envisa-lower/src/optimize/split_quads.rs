//! Quads whose halves are read apart are two vectors of dwords.
//!
//! Devices that add and shift quads, but multiply and combine them by dwords, go from one to the other and back all the time:
//! `add q`, two moves of every other dword, products of these, two moves into quads. For engines the dwords of quads lie
//! across vectors. Here the halves have registers of their own, and what made quads makes both: sums with their carry, shifts
//! by constants, logic, extended dwords. Quads that somebody reads as such, like addresses, are still put together.

use std::ops::Range;

use envisa_isa::{Modifier, Type};

use super::{CHUNK, chunks_of_range, range_of_access, relocate_targets};
use crate::program::*;
use crate::registers::REGISTER_PADDING;

/// Fewer channels are left as they are.
const LEAST: u32 = 8;
/// Most registers that get halves.
const MOST: usize = 256;

/// Does what is described above.
pub(super) fn into_dwords(p: &mut ProgramParts) {
    let calls = |i: &Inst| matches!(i.op, Op::Call | Op::Fcall | Op::Ifcall);
    let Some(zero) = zero(p).filter(|_| !p.code.iter().any(calls)) else { return };
    let mut split = Split { regions: quad_regions(p), zero };
    split.choose(p);
    split.leave_what_costs_more(p);
    if split.regions.is_empty() {
        return;
    }
    let mut room = p.registers.bytes.saturating_sub(REGISTER_PADDING).next_multiple_of(CHUNK);
    let mut take = |bytes: u32| {
        let at = room;
        room += bytes.next_multiple_of(CHUNK);
        at
    };
    for r in &mut split.regions {
        let bytes = (r.quads.end - r.quads.start) / 2;
        r.halves = [take(bytes), take(bytes)];
    }
    let old = std::mem::take(&mut p.code);
    let mut to = Vec::with_capacity(old.len() + 1);
    let mut code = Vec::with_capacity(old.len() * 2);
    for i in old {
        to.push(code.len() as Pc);
        match split.touches(&i) && is_whole(p, &i) {
            true => split.expand(p, &i, &mut take, &mut code),
            false => code.push(split.renamed(i)),
        }
    }
    to.push(code.len() as Pc);
    p.code = code;
    p.registers.bytes = p.registers.bytes.max((room + REGISTER_PADDING).next_multiple_of(CHUNK));
    relocate_targets(p, &to);
}

/// Products of dwords whose halves are both wanted, and to which nothing is added, are two products of dwords.
pub(super) fn split_products(p: &mut ProgramParts) {
    let factor = |p: &ProgramParts, s: &Src| match *s {
        Src::Reg { ty: Type::Ud, modifier: Modifier::None, .. } => Some(*s),
        Src::Reg { offset, ty, shape: Shape::Scalar, modifier: Modifier::None, constant: true, .. } => {
            let bytes = p.registers.constants.get(offset as usize..(offset + ty.size()) as usize)?;
            let small = is_quad(ty) && bytes[4..].iter().all(|b| *b == 0);
            small.then(|| scalar_source(offset, Type::Ud, true))
        }
        _ => None,
    };
    let zero = |p: &ProgramParts, s: &Src| match *s {
        Src::Reg { offset, ty, constant: true, .. } => {
            let bytes = p.registers.constants.get(offset as usize..(offset + ty.size()) as usize);
            bytes.is_some_and(|b| b.iter().all(|b| *b == 0))
        }
        _ => false,
    };
    let old = std::mem::take(&mut p.code);
    let mut to = Vec::with_capacity(old.len() + 1);
    let mut code = Vec::with_capacity(old.len());
    for i in old {
        to.push(code.len() as Pc);
        let n = u32::from(i.channels);
        let apart = |s: &Src| match *s {
            Src::Reg { offset, strides, constant: false, .. } => {
                let end = (0..n).map(|k| offset + 4 * strides.element(k) + 4).max().unwrap_or(offset);
                end <= i.dst2 || i.dst2 + 4 * n <= offset
            }
            _ => true,
        };
        let whole = i.op == Op::Madw && i.channels > 1 && i.exec == ExecType::I64 && zero(p, &i.src[2]);
        let whole = whole && matches!(i.dst, Dst::Reg { ty: Type::Ud | Type::D, stride: 1, sat: false, .. });
        match (factor(p, &i.src[0]), factor(p, &i.src[1])) {
            (Some(a), Some(b)) if whole && apart(&a) && apart(&b) => {
                let src = [a, b, Src::None, Src::None];
                let dst = Dst::Reg { offset: i.dst2, ty: Type::Ud, stride: 1, sat: false };
                let made = Inst { src, dst2: 0, exec: ExecType::U32, ..i };
                code.push(Inst { op: Op::Mulh, dst, ..made });
                code.push(Inst { op: Op::Mul, ..made });
            }
            _ => code.push(i),
        }
    }
    to.push(code.len() as Pc);
    p.code = code;
    relocate_targets(p, &to);
}

/// Registers that quads are in, and where their halves go.
struct Region {
    quads: Range<RegOffset>,
    halves: [RegOffset; 2],
}

struct Split {
    regions: Vec<Region>,
    /// A constant.
    zero: Src,
}

/// How an operand names a region.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Quads of the channels, one after the other.
    Whole,
    /// The lower or upper dwords of such, or one of these for all.
    Half,
    Other,
}

/// A dword of zeros among the constants.
fn zero(p: &ProgramParts) -> Option<Src> {
    let at = p.registers.constants.chunks_exact(4).position(|b| b == [0; 4])?;
    Some(scalar_source(4 * at as RegOffset, Type::Ud, true))
}

fn is_quad(ty: Type) -> bool {
    matches!(ty, Type::Q | Type::Uq)
}

/// Registers that instructions read or write as vectors of quads: those that overlap are one.
fn quad_regions(p: &ProgramParts) -> Vec<Region> {
    let mut all: Vec<Range<RegOffset>> = Vec::new();
    for i in &p.code {
        let n = u32::from(i.channels);
        let mut add = |offset: RegOffset| {
            let local = offset >= p.registers.locals_start && offset.is_multiple_of(8) && n >= LEAST;
            all.extend(local.then_some(offset..offset + 8 * n));
        };
        if let Dst::Reg { offset, ty, stride: 1, .. } = i.dst
            && is_quad(ty)
        {
            add(offset);
        }
        for s in &i.src {
            if let Src::Reg { offset, ty, shape: Shape::Contiguous, constant: false, .. } = *s
                && is_quad(ty)
            {
                add(offset);
            }
        }
    }
    all.sort_by_key(|r| (r.start, r.end));
    let mut merged: Vec<Range<RegOffset>> = Vec::new();
    for r in all {
        match merged.last_mut() {
            Some(last) if r.start < last.end => last.end = last.end.max(r.end),
            _ => merged.push(r),
        }
    }
    let taken: Vec<Range<RegOffset>> = p.registers.address_taken().collect();
    let meets = |a: &Range<RegOffset>, b: &Range<RegOffset>| a.start < b.end && b.start < a.end;
    merged.retain(|r| !taken.iter().any(|t| meets(t, r)));
    merged.truncate(MOST);
    merged.into_iter().map(|quads| Region { quads, halves: [0; 2] }).collect()
}

/// Is it an instruction that can be done by halves: what it reads and makes are quads as they are, or what is extended to
/// them?
fn is_whole(p: &ProgramParts, i: &Inst) -> bool {
    let Dst::Reg { ty, stride: 1, sat: false, .. } = i.dst else { return false };
    let wide = matches!(i.exec, ExecType::I64 | ExecType::U64)
        || (i.op == Op::Mov && matches!(i.exec, ExecType::I32 | ExecType::U32));
    if !is_quad(ty) || !wide || i.pred != Pred::default() || i.dst2 != 0 || u32::from(i.channels) < LEAST {
        return false;
    }
    let fits = |s: &Src| match *s {
        Src::Reg { ty, shape: Shape::Contiguous | Shape::Scalar, modifier, .. } => {
            ty.is_int() && (modifier == Modifier::None || (i.op == Op::Add && modifier == Modifier::Neg))
        }
        _ => false,
    };
    let negative = |s: &&Src| matches!(s, Src::Reg { modifier: Modifier::Neg, .. });
    let count = match i.op {
        Op::Mov | Op::Not => 1,
        Op::Add | Op::And | Op::Or | Op::Xor => 2,
        Op::Bfn => 3,
        Op::Shl | Op::Shr | Op::Asr | Op::Rol | Op::Ror => {
            let quads = matches!(i.src[0], Src::Reg { ty, .. } if is_quad(ty));
            return quads && fits(&i.src[0]) && constant_shift(p, i).is_some();
        }
        _ => return false,
    };
    i.src[..count].iter().all(fits) && i.src.iter().filter(negative).count() < 2
}

/// By how much an instruction shifts: the constant, and its value, which is neither zero nor more than 63.
fn constant_shift(p: &ProgramParts, i: &Inst) -> Option<(Src, u32)> {
    let Src::Reg { offset, ty, shape: Shape::Scalar, modifier: Modifier::None, constant: true, .. } =
        i.src[1]
    else {
        return None;
    };
    let by = u32::from(*p.registers.constants.get(offset as usize)?) & 63;
    (ty.is_int() && by != 0).then_some((scalar_source(offset, Type::Ub, true), by))
}

fn scalar_source(offset: RegOffset, ty: Type, constant: bool) -> Src {
    let (strides, shape, modifier) = (Strides::SCALAR, Shape::Scalar, Modifier::None);
    Src::Reg { offset, ty, strides, shape, modifier, constant }
}

fn vector(offset: RegOffset) -> Src {
    let (strides, shape, modifier) = (Strides::CONTIGUOUS, Shape::Contiguous, Modifier::None);
    Src::Reg { offset, ty: Type::Ud, strides, shape, modifier, constant: false }
}

impl Split {
    fn region(&self, offset: RegOffset) -> Option<usize> {
        let k = self.regions.partition_point(|r| r.quads.end <= offset);
        self.regions.get(k).is_some_and(|r| r.quads.contains(&offset)).then_some(k)
    }

    fn source(&self, s: &Src, channels: u32) -> Option<(usize, Access)> {
        let Src::Reg { offset, ty, strides, shape, constant: false, .. } = *s else { return None };
        let k = self.region(offset)?;
        let inside = offset - self.regions[k].quads.start;
        let dword = ty.size() == 4 && inside.is_multiple_of(4);
        let access = match shape {
            Shape::Contiguous if is_quad(ty) && channels >= LEAST && inside.is_multiple_of(8) => {
                Access::Whole
            }
            Shape::Scalar if dword => Access::Half,
            Shape::General if dword && strides.step(channels) == Some(2) => Access::Half,
            _ => Access::Other,
        };
        Some((k, access))
    }

    fn destination(&self, d: &Dst, channels: u32) -> Option<(usize, Access)> {
        let Dst::Reg { offset, ty, stride, .. } = *d else { return None };
        let k = self.region(offset)?;
        let inside = offset - self.regions[k].quads.start;
        let access = match stride {
            1 if is_quad(ty) && channels >= LEAST && inside.is_multiple_of(8) => Access::Whole,
            2 if ty.size() == 4 && inside.is_multiple_of(4) && channels >= LEAST => Access::Half,
            _ => Access::Other,
        };
        Some((k, access))
    }

    /// Does an instruction cut quads to their lower dwords?
    fn is_cut(&self, i: &Inst) -> bool {
        let dwords = matches!(i.dst, Dst::Reg { ty: Type::D | Type::Ud, sat: false, .. });
        let plain = matches!(i.src[0], Src::Reg { modifier: Modifier::None, .. });
        let whole = self.source(&i.src[0], i.channels.into()).is_some_and(|s| s.1 == Access::Whole);
        i.op == Op::Mov && dwords && plain && whole
    }

    fn touches(&self, i: &Inst) -> bool {
        let n = i.channels.into();
        self.destination(&i.dst, n).is_some() || i.src.iter().any(|s| self.source(s, n).is_some())
    }

    /// Keeps the regions that are worth it: those whose halves are read apart, and those that only these are made of. All
    /// who access them do so in a way that goes with halves.
    fn choose(&mut self, p: &ProgramParts) {
        let n = self.regions.len();
        let (mut able, mut chosen) = (vec![true; n], vec![false; n]);
        // Of each, what is made of its quads as such.
        let mut makes: Vec<Vec<Option<usize>>> = vec![Vec::new(); n];
        for i in &p.code {
            let channels = i.channels.into();
            let operands = i.op.is_computation() || matches!(i.op, Op::Mov | Op::Cmp);
            let mut named: Vec<(usize, Access)> = Vec::new();
            if operands {
                named.extend(i.src.iter().filter_map(|s| self.source(s, channels)));
                if self.is_cut(i) {
                    named.iter_mut().for_each(|n| n.1 = Access::Half);
                }
                chosen_by_half(&named, channels, &mut chosen);
                let to = self.destination(&i.dst, channels);
                let whole = is_whole(p, i);
                for (k, _) in named.iter().filter(|a| a.1 == Access::Whole) {
                    makes[*k].push(to.filter(|t| t.1 == Access::Whole).map(|t| t.0));
                }
                named.extend(to);
                for (k, access) in &named {
                    able[*k] &= *access == Access::Half || (*access == Access::Whole && whole);
                }
            }
            if let Some(k) = self.region(i.dst2) {
                able[k] = false;
            }
            // Whatever else names them.
            let mut other = |r: Range<RegOffset>| {
                for c in chunks_of_range(r) {
                    let at = c * CHUNK..(c + 1) * CHUNK;
                    let from = self.regions.partition_point(|r| r.quads.end <= at.start);
                    for (k, r) in self.regions.iter().enumerate().skip(from) {
                        if r.quads.start >= at.end {
                            break;
                        }
                        able[k] &= named.iter().any(|n| n.0 == k);
                    }
                }
            };
            i.reads(p, &mut |t| other(range_of_access(&t, i.channels, p)));
            i.writes(p, &mut |t| other(range_of_access(&t, i.channels, p)));
        }
        chosen.iter_mut().zip(&able).for_each(|(c, a)| *c &= a);
        let mut again = chosen.iter().any(|c| *c);
        while again {
            again = false;
            for k in 0..n {
                let all = |m: &Option<usize>| m.is_some_and(|m| chosen[m]);
                if able[k] && !chosen[k] && !makes[k].is_empty() && makes[k].iter().all(all) {
                    (chosen[k], again) = (true, true);
                }
            }
        }
        let mut keep = chosen.into_iter();
        self.regions.retain(|_| keep.next().unwrap_or(false));
    }

    /// Leaves regions that take more instructions by halves than as they are, with those that they are made of and that are
    /// made of them.
    fn leave_what_costs_more(&mut self, p: &ProgramParts) {
        let n = self.regions.len();
        let mut group: Vec<usize> = (0..n).collect();
        let mut gain = vec![0.0; n];
        let mut named = Vec::new();
        for i in &p.code {
            let channels = u32::from(i.channels);
            named.clear();
            named.extend(i.src.iter().filter_map(|s| self.source(s, channels)));
            named.extend(self.destination(&i.dst, channels));
            let Some((first, _)) = named.first().copied() else { continue };
            let first = group_of(&group, first);
            for (k, _) in &named {
                let other = group_of(&group, *k);
                group[other] = first;
            }
            let weight = 8f32.powi(i32::from(i.depth.min(5)));
            gain[first] += weight * channels as f32 / 16.0 * self.gain(p, i, &named);
        }
        let mut all = vec![0.0; n];
        for (k, gain) in gain.into_iter().enumerate() {
            all[group_of(&group, k)] += gain;
        }
        let mut k = 0..n;
        self.regions.retain(|_| k.next().is_some_and(|k| all[group_of(&group, k)] > 0.0));
    }

    /// How many instructions for sixteen channels it saves to do this one by halves, about.
    fn gain(&self, p: &ProgramParts, i: &Inst, named: &[(usize, Access)]) -> f32 {
        let channels = i.channels.into();
        if !(self.touches(i) && is_whole(p, i)) {
            // What picks dwords out of quads, or puts them there.
            let halves = i.src.iter().filter(|s| self.source(s, channels).is_some()).count() as f32;
            let made = self.destination(&i.dst, channels).is_some();
            return if self.is_cut(i) { 1.0 } else { 2.0 * halves + if made { 4.0 } else { 0.0 } };
        }
        let quads = |s: &&Src| matches!(s, Src::Reg { ty, shape: Shape::Contiguous, .. } if is_quad(*ty));
        let sources = i.src.iter().filter(quads).count();
        let whole = named.iter().filter(|n| n.1 == Access::Whole).count();
        let makes = self.destination(&i.dst, channels).is_some();
        // Sources and a destination that stay quads.
        let apart = 3.0 * (sources + usize::from(makes)).saturating_sub(whole) as f32;
        let joined = if makes { 0.0 } else { 8.0 };
        let own = match i.op {
            Op::Add => 4.0,
            Op::Mov if sources == 0 => 0.0,
            _ => 2.0,
        };
        2.0 - own - apart - joined
    }

    /// Where a half of the quad at an offset is.
    fn half(&self, offset: RegOffset, upper: bool) -> Option<RegOffset> {
        let r = &self.regions[self.region(offset)?];
        Some(r.halves[usize::from(upper)] + (offset - r.quads.start) / 8 * 4)
    }

    /// The same instruction, whose operands that name dwords of quads name those of the halves.
    fn renamed(&self, mut i: Inst) -> Inst {
        let n = u32::from(i.channels);
        if self.is_cut(&i)
            && let Src::Reg { offset, .. } = i.src[0]
            && let Some(at) = self.half(offset, false)
        {
            (i.src[0], i.exec) = (vector(at), ExecType::U32);
        }
        if let Some((k, _)) = self.destination(&i.dst, n)
            && let Dst::Reg { offset, stride, .. } = &mut i.dst
        {
            let upper = !(*offset - self.regions[k].quads.start).is_multiple_of(8);
            (*offset, *stride) = (self.half(*offset, upper).unwrap_or(*offset), 1);
        }
        for s in &mut i.src {
            if let Some((k, _)) = self.source(s, n)
                && let Src::Reg { offset, strides, shape, .. } = s
            {
                let upper = !(*offset - self.regions[k].quads.start).is_multiple_of(8);
                *offset = self.half(*offset, upper).unwrap_or(*offset);
                if *shape == Shape::General {
                    (*strides, *shape) = (Strides::CONTIGUOUS, Shape::Contiguous);
                }
            }
        }
        i
    }

    /// The lower or upper dwords of a source; of one that is extended by its sign, `None` is the upper ones.
    fn half_of(&self, s: &Src, upper: bool) -> Option<Src> {
        let Src::Reg { offset, ty, strides, shape, constant, .. } = *s else { return Some(self.zero) };
        let plain = Src::Reg { offset, ty, strides, shape, constant, modifier: Modifier::None };
        if !is_quad(ty) {
            return match (upper, ty.is_signed()) {
                (false, _) => Some(plain),
                (true, false) => Some(self.zero),
                (true, true) => None,
            };
        }
        if let Some(at) = self.half(offset, upper).filter(|_| !constant && shape == Shape::Contiguous) {
            return Some(vector(at));
        }
        let offset = offset + 4 * u32::from(upper);
        if shape == Shape::Scalar {
            return Some(scalar_source(offset, Type::Ud, constant));
        }
        let strides = Strides { vertical: 2, ..Strides::CONTIGUOUS };
        let (shape, modifier) = (Shape::General, Modifier::None);
        Some(Src::Reg { offset, ty: Type::Ud, strides, shape, modifier, constant: false })
    }

    /// Writes an instruction on quads as those on their halves.
    fn expand(
        &self,
        p: &ProgramParts,
        i: &Inst,
        take: &mut impl FnMut(u32) -> RegOffset,
        code: &mut Vec<Inst>,
    ) {
        let Dst::Reg { offset: to, .. } = i.dst else { return };
        let bytes = 4 * u32::from(i.channels);
        let mut write = Writer { of: i, code };
        // Both halves of each source.
        let mut halves = [[self.zero; 2]; 3];
        for (s, h) in i.src.iter().zip(&mut halves).filter(|s| *s.0 != Src::None) {
            h[0] = self.half_of(s, false).unwrap_or(self.zero);
            h[1] = match self.half_of(s, true) {
                Some(upper) => upper,
                None => {
                    // Ones where it is below zero.
                    let at = take(bytes);
                    write.push((Op::Cmp, ExecType::I32, 4), at, [h[0], self.zero, Src::None]);
                    vector(at)
                }
            };
        }
        let [a, b, c] = halves;
        // Halves of a rotation are both made of both, so these are not written before.
        let places = [self.half(to, false), self.half(to, true)];
        let is_source = |place: RegOffset| {
            a.iter().any(|s| matches!(*s, Src::Reg { offset, .. } if offset.abs_diff(place) < bytes))
        };
        let rotates = matches!(i.op, Op::Rol | Op::Ror);
        let direct = !rotates || !places.into_iter().flatten().any(is_source);
        let own = places.map(|h| h.filter(|_| direct).unwrap_or_else(|| take(bytes)));
        match i.op {
            Op::Add => {
                let negative = |s: &Src| matches!(s, Src::Reg { modifier: Modifier::Neg, .. });
                let (a, b) = if negative(&i.src[0]) { (b, a) } else { (a, b) };
                let carry = take(bytes);
                let minus = i.src.iter().any(negative);
                let op = if minus { Op::Subb } else { Op::Addc };
                write.push((op, ExecType::U32, 0), own[0], [a[0], b[0], Src::None]);
                if let Some(i) = write.code.last_mut() {
                    i.dst2 = carry;
                }
                let signed = |s: Src| if minus { negate_source(s) } else { s };
                let upper = [a[1], signed(b[1]), signed(vector(carry))];
                write.push((Op::Add3, ExecType::I32, 0), own[1], upper);
            }
            Op::Shl | Op::Shr | Op::Asr => {
                if let Some(by) = constant_shift(p, i) {
                    write.shifted(i.op, by, a, own, self.zero);
                }
            }
            Op::Rol | Op::Ror => {
                if let Some((_, by)) = constant_shift(p, i) {
                    write.rotated(i.op, by, a, own);
                }
            }
            op => {
                for h in 0..2 {
                    let aux = if op == Op::Bfn { i.aux } else { 0 };
                    write.push((op, ExecType::I32, aux), own[h], [a[h], b[h], c[h]]);
                }
            }
        }
        for (h, from) in own.into_iter().enumerate() {
            match places[h] {
                Some(at) if at == from => {}
                Some(at) => write.push((Op::Mov, ExecType::I32, 0), at, [vector(from), Src::None, Src::None]),
                None => {
                    write.push(
                        (Op::Mov, ExecType::I32, 0),
                        to + 4 * h as u32,
                        [vector(from), Src::None, Src::None],
                    );
                    if let Some(Inst { dst: Dst::Reg { stride, .. }, .. }) = write.code.last_mut() {
                        *stride = 2;
                    }
                }
            }
        }
    }
}

/// The first of a group of regions.
fn group_of(group: &[usize], mut k: usize) -> usize {
    while group[k] != k {
        k = group[k];
    }
    k
}

/// Marks what is read by halves for its own sake.
fn chosen_by_half(named: &[(usize, Access)], channels: u32, chosen: &mut [bool]) {
    for (k, _) in named.iter().filter(|a| a.1 == Access::Half && channels >= LEAST) {
        chosen[*k] = true;
    }
}

fn negate_source(s: Src) -> Src {
    match s {
        Src::Reg { offset, ty, strides, shape, constant, .. } => {
            let ty = if ty == Type::Ud { Type::D } else { ty };
            Src::Reg { offset, ty, strides, shape, constant, modifier: Modifier::Neg }
        }
        other => other,
    }
}

/// Instructions in the place of one.
struct Writer<'a> {
    of: &'a Inst,
    code: &'a mut Vec<Inst>,
}

impl Writer<'_> {
    fn push(&mut self, (op, exec, aux): (Op, ExecType, u32), to: RegOffset, [a, b, c]: [Src; 3]) {
        let sources = match op {
            Op::Mov | Op::Not => 1,
            Op::Add3 | Op::Bfn => 3,
            _ => 2,
        };
        let mut src = [a, b, c, Src::None];
        src[sources..].fill(Src::None);
        let dst = Dst::Reg { offset: to, ty: Type::Ud, stride: 1, sat: false };
        let facts = Facts { uniform: false, fuses_with_next: false, ..self.of.facts };
        self.code.push(Inst { op, exec, aux, dst, src, dst2: 0, facts, ..*self.of });
    }

    /// Both halves of quads shifted, first the one that gets bits of the other.
    fn shifted(
        &mut self,
        op: Op,
        (count, by): (Src, u32),
        [low, high]: [Src; 2],
        to: [RegOffset; 2],
        zero: Src,
    ) {
        let none = Src::None;
        let left = op == Op::Shl;
        // Which half only shifts, and which one gets something.
        let [(from, alone), (other, both)] =
            if left { [(low, to[0]), (high, to[1])] } else { [(high, to[1]), (low, to[0])] };
        let (shift, exec, from) =
            if op == Op::Asr { (op, ExecType::I32, signed(from)) } else { (op, ExecType::U32, from) };
        if by >= 32 {
            // Of counts above 31, dwords take the lower five bits.
            self.push((shift, exec, 0), both, [from, count, none]);
            match op {
                Op::Asr => self.push((Op::Cmp, ExecType::I32, 4), alone, [from, zero, none]),
                _ => self.push((Op::Mov, ExecType::U32, 0), alone, [zero, none, none]),
            }
            return;
        }
        let (pair, left_by) = if left { ([other, from], by) } else { ([from, other], 32 - by) };
        self.push((Op::FunnelShift, ExecType::U32, left_by), both, [pair[0], pair[1], none]);
        self.push((shift, exec, 0), alone, [from, count, none]);
    }

    /// Both halves of quads rotated by less than 64: each is shifted, and gets what goes out of the other one.
    fn rotated(&mut self, op: Op, by: u32, [low, high]: [Src; 2], to: [RegOffset; 2]) {
        let none = Src::None;
        let left = if op == Op::Rol { by } else { 64 - by };
        let (low, high) = if left >= 32 { (high, low) } else { (low, high) };
        for (to, [upper, lower]) in to.into_iter().zip([[low, high], [high, low]]) {
            match left & 31 {
                0 => self.push((Op::Mov, ExecType::U32, 0), to, [upper, none, none]),
                by => self.push((Op::FunnelShift, ExecType::U32, by), to, [upper, lower, none]),
            }
        }
    }
}

fn signed(s: Src) -> Src {
    match s {
        Src::Reg { offset, ty: Type::Ud, strides, shape, modifier, constant } => {
            Src::Reg { offset, ty: Type::D, strides, shape, modifier, constant }
        }
        other => other,
    }
}
