//! Addresses of 64 bits that were added up by halves.
//!
//! Devices without integers of 64 bits add a vector of offsets to an address by `addc`, add what is carried to the upper
//! half, and make quads of both. A message can do that by itself: it extends its offsets, and has an origin, of which two
//! moves of scalars make a quad. To addresses that were made so once, others are added the same way later: their sum with
//! the offsets is made in 32 bits, and the message knows what it is the sum of.

mod bases;

use std::ops::Range;

use envisa_isa::{Modifier, Type};

use super::{Blocks, CHUNK, Uses, chunks_of_range, range_of_access};
use crate::program::*;
use crate::registers::REGISTER_PADDING;
use crate::{Addend, Extend, Message, Space};
use bases::Base;

/// How far back definitions are looked for.
const FAR: usize = 64;
/// How many instructions a scalar may be made by that is the same in every round of a loop.
const STEPS: u32 = 6;
/// Most messages that get an origin.
const MOST: usize = 256;
/// Channels that are looked at together.
const PIECE: u32 = 8;

/// An instruction that defines eight channels of a vector, and which of its own the first of them is.
struct Definition {
    pc: usize,
    lane: u32,
    /// They are what it carries, not what it computes.
    carries: bool,
}

/// Offsets and what was added to them, by halves.
#[derive(Clone, Copy, PartialEq)]
struct Sum {
    offsets: RegOffset,
    halves: [Src; 2],
    /// A dword that was added besides, without a sign.
    plus: Option<Src>,
    /// Offsets were extended by their sign.
    signed: bool,
}

/// Does what is described above.
pub(super) fn fold_address_sums(p: &mut ProgramParts, blocks: &Blocks) {
    if !p.code.iter().any(|i| i.op == Op::Addc && i.channels > 1) {
        return;
    }
    let mut room = p.registers.bytes.saturating_sub(REGISTER_PADDING).next_multiple_of(CHUNK);
    let uses = Uses::new(p);
    let bases = bases::find_bases(p, blocks, &uses);
    let mut made = Vec::new();
    let mut named = vec![0u32; p.messages.len()];
    for i in p.code.iter().filter(|i| i.op == Op::Message) {
        named[i.aux as usize] += 1;
    }
    for pc in 0..p.code.len() {
        let i = p.code[pc];
        if i.op != Op::Message || named[i.aux as usize] != 1 || made.len() >= 2 * MOST {
            continue;
        }
        let search = Search { p, blocks, uses: &uses, bases: &bases, pc };
        let Some(sum) = search.sum() else { continue };
        let given = search.given_quad(&sum.halves);
        let (low, extend, added) = index_of(&sum, &i, &mut room);
        made.extend(added.map(|add| (pc as Pc, add)));
        let origin = dwords(given.unwrap_or(room), Type::Uq, Strides::SCALAR, Shape::Scalar);
        match &mut p.messages[i.aux as usize] {
            Message::Simt(s) => {
                (s.address, s.address_bytes, s.extend, s.origin) = (low, 4, extend, origin);
            }
            Message::Atomic(a) => {
                (a.address, a.address_bytes, a.extend, a.origin) = (low, 4, extend, origin);
            }
            _ => continue,
        }
        if given.is_some() {
            continue;
        }
        for (half, from) in sum.halves.into_iter().enumerate() {
            let moved = Inst {
                op: Op::Mov,
                channels: 1,
                first: 0,
                no_mask: true,
                pred: Pred::default(),
                exec: ExecType::U32,
                dst: Dst::Reg { offset: room + 4 * half as u32, ty: Type::Ud, stride: 1, sat: false },
                src: [from, Src::None, Src::None, Src::None],
                aux: 0,
                ..i
            };
            made.push((pc as Pc, moved));
        }
        room += CHUNK;
    }
    if !made.is_empty() {
        p.registers.bytes = p.registers.bytes.max((room + REGISTER_PADDING).next_multiple_of(CHUNK));
        super::insert(p, made);
    }
}

/// The index of a message, how it is extended, and the instruction that makes it, if there is one.
fn index_of(sum: &Sum, message: &Inst, room: &mut RegOffset) -> (RegOffset, Extend, Option<Inst>) {
    let offsets = Addend { at: sum.offsets, upper: None, signed: sum.signed, scalar: false };
    let Some(plus @ Src::Reg { offset: at, .. }) = sum.plus else {
        let extend = if sum.signed { Extend::Sign } else { Extend::Zero };
        return (sum.offsets, extend, None);
    };
    let to = *room;
    *room += (4 * u32::from(message.channels)).next_multiple_of(CHUNK);
    let of = [offsets, Addend { at, upper: None, signed: false, scalar: true }];
    let add = Inst {
        op: Op::Add,
        no_mask: true,
        pred: Pred::default(),
        exec: ExecType::U32,
        dst: Dst::Reg { offset: to, ty: Type::Ud, stride: 1, sat: false },
        src: [
            dwords(sum.offsets, Type::Ud, Strides::CONTIGUOUS, Shape::Contiguous),
            plus,
            Src::None,
            Src::None,
        ],
        aux: 0,
        ..*message
    };
    (to, Extend::Sum(of), Some(add))
}

fn dwords(offset: RegOffset, ty: Type, strides: Strides, shape: Shape) -> Src {
    Src::Reg { offset, ty, strides, shape, modifier: Modifier::None, constant: false }
}

/// What stands before a message.
struct Search<'a> {
    p: &'a ProgramParts,
    blocks: &'a Blocks,
    uses: &'a Uses,
    bases: &'a [Base],
    pc: usize,
}

impl Search<'_> {
    /// The sum that a message's addresses are.
    fn sum(&self) -> Option<Sum> {
        let i = &self.p.code[self.pc];
        let address = self.quads().filter(|a| *a >= self.p.registers.locals_start)?;
        if !u32::from(i.channels).is_multiple_of(PIECE) {
            return None;
        }
        let (mut sum, mut first) = (None, self.pc);
        for piece in 0..u32::from(i.channels) / PIECE {
            let lane = piece * PIECE;
            let (found, from) = self.piece(address + 8 * lane, u32::from(i.first) + lane)?;
            let begins = Sum { offsets: found.offsets.checked_sub(4 * lane)?, ..found };
            if *sum.get_or_insert(begins) != begins {
                return None;
            }
            first = first.min(from);
        }
        // What was added is still there.
        let sum = sum?;
        let scalar = |s: &Src| match *s {
            Src::Reg { offset, constant: false, .. } => offset..offset + 4,
            _ => 0..0,
        };
        let [low, high] = [scalar(&sum.halves[0]), scalar(&sum.halves[1])];
        // Where the message may go is known of its origin alone.
        if ![&low, &high].into_iter().all(|r| self.is_the_same_in_loops(r, self.pc, STEPS)) {
            return None;
        }
        let plus = sum.plus.as_ref().map_or(0..0, scalar);
        let all = [sum.offsets..sum.offsets + 4 * u32::from(i.channels), low, high, plus];
        (first..self.pc).all(|q| all.iter().all(|r| !self.writes(q, r))).then_some(sum)
    }

    /// The quad that two halves were copied from, if nothing ever writes it.
    fn given_quad(&self, halves: &[Src; 2]) -> Option<RegOffset> {
        let [low, high] = [self.copied_from(&halves[0], STEPS)?, self.copied_from(&halves[1], STEPS)?];
        (low % 8 == 0 && low + 4 == high && self.uses.is_given(low..low + 8)).then_some(low)
    }

    /// Where the dword was first that a scalar is a copy of, made once before all else.
    fn copied_from(&self, s: &Src, steps: u32) -> Option<RegOffset> {
        let Src::Reg { offset, ty, shape: Shape::Scalar, modifier: Modifier::None, constant: false, .. } = *s
        else {
            return None;
        };
        let Some(by) = self.uses.only_writer(offset..offset + 4).filter(|_| is_dword(ty) && steps > 0) else {
            return is_dword(ty).then_some(offset);
        };
        let i = &self.p.code[by as usize];
        let copies = i.op == Op::Mov && is_plain_dword(i) && i.no_mask && i.channels == 1;
        let own = matches!(i.dst, Dst::Reg { offset: to, ty, .. } if to == offset && is_dword(ty));
        (copies && own && self.blocks.in_entry(by)).then_some(())?;
        self.copied_from(&i.src[0], steps - 1)
    }

    /// Has a dword, before an instruction, the same value in every round of the innermost loop around it: is it not written
    /// there, or computed anew of what is the same?
    fn is_the_same_in_loops(&self, dword: &Range<RegOffset>, pc: usize, steps: u32) -> bool {
        if !self.blocks.varies(self.uses, dword.clone(), pc as Pc) {
            return true;
        }
        let Some(by) = self.before(pc).find(|q| self.writes(*q, dword)).filter(|_| steps > 0) else {
            return false;
        };
        let i = &self.p.code[by];
        let Dst::Reg { offset, ty, stride: 1, sat: false } = i.dst else { return false };
        let all = (i.no_mask && is_plain_dword(i) && is_dword(ty))
            && matches!(i.op, Op::Mov | Op::Add | Op::Add3 | Op::Addc);
        let inside = |from: RegOffset| {
            let lane = dword.start.checked_sub(from).filter(|x| x.is_multiple_of(4))? / 4;
            (lane < i.channels.into()).then_some(lane)
        };
        let carried = || inside(i.dst2).filter(|_| i.dst2 != 0 && i.op == Op::Addc);
        let Some(lane) = inside(offset).or_else(carried).filter(|_| all) else { return false };
        i.src.iter().all(|s| match *s {
            Src::None | Src::Reg { constant: true, .. } => true,
            Src::Reg { offset, ty, strides, .. } if is_dword(ty) => {
                let at = offset + 4 * strides.element(lane);
                self.is_the_same_in_loops(&(at..at + 4), by, steps - 1)
            }
            _ => false,
        })
    }

    /// Where the addresses of the message begin, if they are quads that it takes as they are.
    fn quads(&self) -> Option<RegOffset> {
        let (address, form, added) = match &self.p.messages[self.p.code[self.pc].aux as usize] {
            Message::Simt(s) if s.space == Space::Flat => {
                (s.address, (s.address_bytes, s.extend, s.scale), [s.stride, s.base, s.origin])
            }
            Message::Atomic(a) if a.space == Space::Flat => {
                (a.address, (a.address_bytes, a.extend, a.scale), [Src::None, a.base, a.origin])
            }
            _ => return None,
        };
        (form == (8, Extend::None, 1) && added == [Src::None; 3]).then_some(address)
    }

    /// That of eight quads at a place, the first of which is this channel's; and where it begins.
    fn piece(&self, quads: RegOffset, channel: u32) -> Option<(Sum, usize)> {
        if let Some(base) = bases::find_by_quads(self.bases, channel, quads) {
            return Some((base.sum, self.pc));
        }
        let [low, high] = [0, 4].map(|half| self.moved(quads + half, channel));
        let ((low, at), (high, above)) = (low?, high?);
        if let Some(base) = bases::find_by_halves(self.bases, channel, low, high) {
            return Some((base.sum, at.min(above)));
        }
        // The lower half, and the carry.
        let d = self.definition(low, channel, at)?;
        let add = &self.p.code[d.pc];
        if add.op != Op::Addc || add.dst2 == 0 || d.carries {
            return None;
        }
        let (offsets, below) = self.vector_and_scalar(add, d.lane)?;
        let carry = add.dst2 + 4 * d.lane;
        // The upper one.
        let u = self.definition(high, channel, above).filter(|u| !u.carries)?;
        let [one] = self.beside_carry(&u, channel, carry, d.pc)?[..] else { return None };
        let mut first = d.pc;
        let mut left = self.vector(&self.p.code[u.pc], &one, u.lane).map_or(Ok(one), Err);
        if let Err(vector) = left
            && let Some(base) = bases::find_by_halves(self.bases, channel, offsets, vector)
        {
            return Some((Sum { plus: Some(scalar(&below)?), ..base.sum }, first));
        }
        if let Err(vector) = left {
            // First the scalar is put into a vector.
            let v = self.definition(vector, channel, u.pc).filter(|v| !v.carries)?;
            let i = &self.p.code[v.pc];
            let zero = |s: &Src| constant(self.p, s) == Some(0);
            left = match i.op {
                Op::Add if zero(&i.src[0]) => Ok(i.src[1]),
                Op::Add if zero(&i.src[1]) => Ok(i.src[0]),
                Op::Mov => Ok(i.src[0]),
                _ => return None,
            };
            first = first.min(v.pc);
        }
        let above = left.ok()?;
        let halves = [scalar(&below)?, scalar(&above)?];
        Some((Sum { offsets, halves, plus: None, signed: false }, first))
    }

    /// The one of two sources that is a vector, from one of an instruction's channels on, and the other one.
    fn vector_and_scalar(&self, i: &Inst, lane: u32) -> Option<(RegOffset, Src)> {
        match [&i.src[0], &i.src[1]].map(|s| self.vector(i, s, lane)) {
            [Some(x), None] => Some((x, i.src[1])),
            [None, Some(x)] => Some((x, i.src[0])),
            _ => None,
        }
    }

    /// What an instruction adds to a carry that another one made, but for zeros.
    fn beside_carry(&self, d: &Definition, channel: u32, carry: RegOffset, made: usize) -> Option<Vec<Src>> {
        let i = &self.p.code[d.pc];
        let count = match i.op {
            Op::Add => 2,
            Op::Add3 => 3,
            _ => return None,
        };
        let at = i.src[..count].iter().position(|s| self.vector(i, s, d.lane) == Some(carry))?;
        let c = self.definition(carry, channel, d.pc)?;
        if c.pc != made || !c.carries {
            return None;
        }
        let others = (0..count).filter(|k| *k != at).map(|k| i.src[k]);
        Some(others.filter(|s| constant(self.p, s) != Some(0)).collect())
    }

    /// Where eight dwords came from that were moved to every other one from a place on, and by which instruction.
    fn moved(&self, to: RegOffset, channel: u32) -> Option<(RegOffset, usize)> {
        let half = to % 8;
        let quads = to - half..to - half + 8 * PIECE;
        for pc in self.before(self.pc) {
            if !self.writes(pc, &quads) {
                continue;
            }
            let i = &self.p.code[pc];
            let Dst::Reg { offset, ty, stride: 2, sat: false } = i.dst else { return None };
            if i.op != Op::Mov || !is_dword(ty) || offset % 4 != 0 || !is_plain_dword(i) {
                return None;
            }
            if offset % 8 != half {
                continue;
            }
            let lane = to.checked_sub(offset)? / 8;
            if !self.runs(i, lane, channel) {
                return None;
            }
            return Some((self.vector(i, &i.src[0], lane)?, pc));
        }
        None
    }

    /// The instruction that writes eight dwords, all of them, before another one.
    fn definition(&self, at: RegOffset, channel: u32, before: usize) -> Option<Definition> {
        let dwords = at..at + 4 * PIECE;
        let pc = self.before(before).find(|pc| self.writes(*pc, &dwords))?;
        let i = &self.p.code[pc];
        if !is_plain_dword(i) {
            return None;
        }
        let lane = |from: RegOffset| {
            let inside = at.checked_sub(from).filter(|x| x.is_multiple_of(4))?;
            Some(inside / 4).filter(|l| self.runs(i, *l, channel))
        };
        let Dst::Reg { offset, ty, stride: 1, sat: false } = i.dst else { return None };
        let own = lane(offset).filter(|_| is_dword(ty));
        let carry = lane(i.dst2).filter(|_| i.dst2 != 0 && i.op == Op::Addc);
        match (own, carry) {
            (Some(lane), None) => Some(Definition { pc, lane, carries: false }),
            (None, Some(lane)) => Some(Definition { pc, lane, carries: true }),
            _ => None,
        }
    }

    /// Those before an instruction in its block, back to front.
    fn before(&self, pc: usize) -> impl Iterator<Item = usize> + '_ {
        let same = |q: &usize| self.blocks.same(*q as Pc, self.pc as Pc);
        (self.pc.saturating_sub(FAR)..pc).rev().take_while(same)
    }

    /// Are eight of an instruction's channels these, and do they run where the message's do?
    fn runs(&self, i: &Inst, lane: u32, channel: u32) -> bool {
        lane + PIECE <= u32::from(i.channels)
            && (i.no_mask || !self.p.code[self.pc].no_mask && u32::from(i.first) + lane == channel)
    }

    /// Where a source's dwords are from one of an instruction's channels on, if there is one for each.
    fn vector(&self, i: &Inst, s: &Src, lane: u32) -> Option<RegOffset> {
        match *s {
            Src::Reg { offset, ty, strides, modifier: Modifier::None, constant: false, .. }
                if is_dword(ty) && strides.step(i.channels.into()) == Some(1) =>
            {
                Some(offset + 4 * lane)
            }
            _ => None,
        }
    }

    fn writes(&self, pc: usize, bytes: &Range<RegOffset>) -> bool {
        let i = &self.p.code[pc];
        let mut found = false;
        i.writes(self.p, &mut |t| {
            let r = range_of_access(&t, i.channels, self.p);
            found |= r.start < bytes.end && bytes.start < r.end;
        });
        found
    }
}

/// Does it compute in dwords, for all channels that run?
fn is_plain_dword(i: &Inst) -> bool {
    i.pred == Pred::default() && matches!(i.exec, ExecType::I32 | ExecType::U32)
}

fn is_dword(ty: Type) -> bool {
    ty.is_int() && ty.size() == 4
}

/// A dword for all channels, as it is.
fn scalar(s: &Src) -> Option<Src> {
    match *s {
        Src::Reg { ty: Type::D | Type::Ud, strides, modifier: Modifier::None, .. }
            if strides.step(PIECE) == Some(0) =>
        {
            Some(*s)
        }
        _ => None,
    }
}

/// The bits of an immediate dword or less.
fn constant(p: &ProgramParts, s: &Src) -> Option<u32> {
    let Src::Reg { offset, ty, modifier: Modifier::None, constant: true, strides, .. } = *s else {
        return None;
    };
    let bytes = p.registers.constants.get(offset as usize..(offset + ty.size()) as usize)?;
    (ty.is_int() && strides.element(1) == 0)
        .then(|| bytes.iter().rev().fold(0, |x, b| x << 8 | u32::from(*b)))
}
