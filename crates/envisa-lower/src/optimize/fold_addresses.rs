//! Addresses: what a program adds, scales and extends for a message alone, the message does itself; and surfaces.
//!
//! A surface that a constant names just before the message is that constant: compilers set the one surface variable they
//! have before every message, and an engine that knows the surface need not look for it. So are samplers.
//!
//! Compilers for 64-bit addresses write `mov q ← d`, `shl q`, `add q, base` before every access. Folded into
//! the message this is one vector of 32-bit indices, and the engine sees at once whether they are
//! consecutive.

use std::ops::Range;

use envisa_isa::{Combine, Modifier, Type};

use super::dominators::Dominators;
use super::{Blocks, Uses};
use crate::program::*;
use crate::{Extend, Message, Sample, SamplerState, Space};

/// `((extended index) << shift) + add + origin`.
pub(super) struct Linear {
    /// First channel's index; then one after another.
    pub index: RegOffset,
    pub bytes: u32,
    pub extend: Extend,
    pub shift: u32,
    pub add: u64,
    pub origin: Src,
}

/// Where a message stands.
pub(super) struct Place {
    pub pc: Pc,
    pub channels: u8,
    pub first: u8,
    pub no_mask: bool,
    function: u16,
}

impl Place {
    pub fn of(pc: usize, i: &Inst) -> Place {
        Place { pc: pc as Pc, channels: i.channels, first: i.first, no_mask: i.no_mask, function: i.function }
    }
}

/// Folds addresses into all messages that have some of their own for each channel, of at least so many bytes: those of 8
/// are as they were written, whatever was folded before.
pub(super) fn addresses(p: &mut ProgramParts, uses: &Uses, blocks: &Blocks, least: u32) {
    let dominators = Dominators::new(p, blocks);
    for pc in 0..p.code.len() {
        let i = &p.code[pc];
        if i.op != Op::Message {
            continue;
        }
        let place = Place::of(pc, i);
        let message = i.aux as usize;
        let Some(base) = Addresses::of(&mut p.messages[message]).map(|a| *a.base) else { continue };
        let base = constant(p, &base);
        let Some(a) = Addresses::of(&mut p.messages[message]) else { continue };
        if let Some(base) = base {
            // Messages of surfaces have a global offset, which is zero mostly.
            *a.offset = a.offset.wrapping_add(base.wrapping_mul((*a.scale).into()) as i64);
            *a.base = Src::None;
        }
        let (address, bytes) = (*a.address, u32::from(*a.bytes));
        if !a.plain() || bytes < least {
            continue;
        }
        let search = Search { p, uses, blocks, dominators: &dominators, at: place };
        let Some(l) = search.linear_address(address, bytes) else { continue };
        if let Some(a) = Addresses::of(&mut p.messages[message]) {
            (*a.address, *a.bytes) = (l.index, l.bytes as u8);
            (*a.extend, *a.scale, *a.origin) = (l.extend, 1 << l.shift, l.origin);
            *a.offset = a.offset.wrapping_add(l.add as i64);
        }
    }
}

/// Folds what is added to the addresses of blocks into their offsets.
pub(super) fn of_blocks(p: &mut ProgramParts, uses: &Uses, blocks: &Blocks) {
    for pc in 0..p.code.len() {
        let i = &p.code[pc];
        let Some(Message::Block(b)) = p.messages.get(i.aux as usize).filter(|_| i.op == Op::Message) else {
            continue;
        };
        let Src::Reg { offset, ty, modifier: Modifier::None, constant: false, strides, .. } = b.address
        else {
            continue;
        };
        // What the program added in so many bits is added in as many here.
        let bytes = ty.size();
        let same = !ty.is_float() && bytes == if b.wraps { 4 } else { 8 };
        if !same || b.scale != 1 || strides.element(0) != 0 {
            continue;
        }
        let at = Place { channels: 1, ..Place::of(pc, i) };
        let Some(l) = (Search { p, uses, blocks, dominators: &None, at }).linear_address(offset, bytes)
        else {
            continue;
        };
        let sum = b.offset.wrapping_add(l.add as i64);
        let sum = if b.wraps { i64::from(sum as i32) } else { sum };
        if l.bytes != bytes
            || l.shift != 0
            || l.origin != Src::None
            || i32::try_from(sum).is_err()
            || sum % i64::from(b.align.max(1)) != 0
        {
            continue;
        }
        let message = i.aux as usize;
        if let Message::Block(b) = &mut p.messages[message] {
            b.offset = sum;
            if let Src::Reg { offset, .. } = &mut b.address {
                *offset = l.index;
            }
        }
    }
}

/// Names by the constant itself the surfaces and samplers of messages that the block before them sets to one.
pub(super) fn fold_constant_surfaces(p: &mut ProgramParts, uses: &Uses, blocks: &Blocks) {
    for pc in 0..p.code.len() {
        let i = &p.code[pc];
        let message = i.aux as usize;
        let Some(m) = p.messages.get(message).filter(|_| i.op == Op::Message) else { continue };
        if let Some(Space::Bti(s)) = m.space()
            && let Some(number) = number(p, uses, blocks, pc as Pc, s)
            && let Some(Space::Bti(s)) = p.messages[message].space_mut()
        {
            *s = number;
        }
        if let Message::Sample(Sample { state: SamplerState::Index(s), .. }) = &p.messages[message]
            && let Some(number) = number(p, uses, blocks, pc as Pc, s)
            && let Message::Sample(s) = &mut p.messages[message]
        {
            s.state = SamplerState::Index(number);
        }
    }
}

/// The constant that a scalar is at an instruction.
fn number(p: &ProgramParts, uses: &Uses, blocks: &Blocks, pc: Pc, s: &Src) -> Option<Src> {
    let Src::Reg { offset, ty, constant: false, .. } = *s else { return None };
    let range = offset..offset + ty.size();
    let d = uses.last_before(range.clone(), pc).filter(|d| blocks.same(*d, pc))?;
    let d = &p.code[d as usize];
    let certain = d.op == Op::Mov
        && (d.channels, d.no_mask, d.function) == (1, true, p.code[pc as usize].function)
        && d.pred.offset == 0
        && d.pred.combine == Combine::None;
    let Dst::Reg { offset, ty, sat: false, .. } = d.dst else { return None };
    let whole = certain && offset == range.start && ty.size() == 4 && !ty.is_float();
    let number = d.src[0];
    let dword = matches!(number, Src::Reg { ty: Type::Ud, .. }) && constant(p, &number).is_some();
    (whole && dword).then_some(number)
}

/// How a message of any family makes its channels' addresses.
struct Addresses<'a> {
    address: &'a mut RegOffset,
    bytes: &'a mut u8,
    extend: &'a mut Extend,
    base: &'a mut Src,
    scale: &'a mut u32,
    offset: &'a mut i64,
    origin: &'a mut Src,
    stride: Src,
}

impl Addresses<'_> {
    fn of(m: &mut Message) -> Option<Addresses<'_>> {
        macro_rules! of {
            ($m:ident, $stride:expr) => {
                Some(Addresses {
                    stride: $stride,
                    base: &mut $m.base,
                    address: &mut $m.address,
                    bytes: &mut $m.address_bytes,
                    extend: &mut $m.extend,
                    scale: &mut $m.scale,
                    offset: &mut $m.offset,
                    origin: &mut $m.origin,
                })
            };
        }
        match m {
            Message::Simt(s) => of!(s, s.stride),
            Message::Atomic(a) => of!(a, Src::None),
            _ => None,
        }
    }

    /// One for each channel, with nothing added or scaled but the offset.
    fn plain(&self) -> bool {
        [self.stride, *self.base, *self.origin] == [Src::None; 3] && *self.scale == 1
    }
}

/// What is before a message.
pub(super) struct Search<'a> {
    pub p: &'a ProgramParts,
    pub uses: &'a Uses,
    pub blocks: &'a Blocks,
    pub dominators: &'a Option<Dominators>,
    pub at: Place,
}

impl Search<'_> {
    /// What the addresses of a message are made of, as far back as that is certain.
    pub fn linear_address(&self, address: RegOffset, bytes: u32) -> Option<Linear> {
        let mut l =
            Linear { index: address, bytes, extend: Extend::None, shift: 0, add: 0, origin: Src::None };
        let mut found = false;
        // Chains are short; a program cannot make this long.
        for _ in 0..8 {
            if !self.step(bytes, &mut l) {
                break;
            }
            found = true;
        }
        found.then_some(l)
    }

    /// Replaces the index by what it was made from.
    fn step(&self, width: u32, l: &mut Linear) -> bool {
        let Search { p, uses, blocks, at, .. } = self;
        if l.extend != Extend::None {
            return false;
        }
        let n = at.channels as u32;
        let Some(pc) = self.whole_definition(l.index, l.bytes) else { return false };
        let d = &p.code[pc as usize];
        let vector = |s: &Src, bytes: u32| self.unchanged_integers(pc, s, bytes);
        let arithmetic = match width {
            8 => matches!(d.exec, ExecType::I64 | ExecType::U64),
            _ => matches!(d.exec, ExecType::I32 | ExecType::U32),
        };
        match d.op {
            Op::Mov => {
                if let Some((index, _)) = vector(&d.src[0], l.bytes) {
                    l.index = index;
                    return true;
                }
                if l.bytes == 8
                    && let Some((index, ty)) = vector(&d.src[0], 4)
                {
                    l.index = index;
                    l.bytes = 4;
                    l.extend = if matches!(ty, Type::D) { Extend::Sign } else { Extend::Zero };
                    return matches!(ty, Type::D | Type::Ud);
                }
                false
            }
            Op::Add if arithmetic => {
                for (v, s) in [(0, 1), (1, 0)] {
                    let Some((index, _)) = vector(&d.src[v], l.bytes) else { continue };
                    if let Some(k) = constant(p, &d.src[s]) {
                        l.index = index;
                        l.add = l.add.wrapping_add(k << l.shift);
                        return true;
                    }
                    let Src::Reg { offset, ty, shape: Shape::Scalar, modifier: Modifier::None, .. } =
                        d.src[s]
                    else {
                        continue;
                    };
                    // Where a message with a 64-bit origin may go is known of that origin alone.
                    let varies = || width == 8 && blocks.varies(uses, offset..offset + ty.size(), at.pc);
                    if l.origin == Src::None
                        && l.shift == 0
                        && n > 1
                        && ty.size() == l.bytes
                        && !ty.is_float()
                        && self.stable(pc, offset..offset + ty.size())
                        && !varies()
                    {
                        l.index = index;
                        l.origin = d.src[s];
                        return true;
                    }
                }
                false
            }
            Op::Shl if arithmetic => {
                let Some(k) = constant(p, &d.src[1]) else { return false };
                let Some((index, _)) = vector(&d.src[0], l.bytes) else { return false };
                // The count is a few low bits (page SHL).
                let k = k & (8 * l.bytes as u64 - 1);
                if l.shift as u64 + k > 16 {
                    return false;
                }
                l.index = index;
                l.shift += k as u32;
                true
            }
            _ => false,
        }
    }

    /// The instruction that makes all integers of a vector of so many bytes a channel, as they are at the message.
    fn whole_definition(&self, vector: RegOffset, bytes: u32) -> Option<Pc> {
        self.whole_definition_before(vector, bytes, self.at.pc)
    }

    /// The same, as they are at an instruction that makes something for the message.
    pub fn whole_definition_before(&self, vector: RegOffset, bytes: u32, reader: Pc) -> Option<Pc> {
        let pc = self.definition(vector..vector + u32::from(self.at.channels) * bytes, reader)?;
        let Dst::Reg { offset, ty, stride: 1, .. } = self.p.code[pc as usize].dst else { return None };
        let made = offset == vector && ty.size() == bytes && !ty.is_float();
        (made && self.makes_all(pc)).then_some(pc)
    }

    /// Does an instruction write what it writes for all channels of the message, whatever it computes?
    pub fn makes_all(&self, pc: Pc) -> bool {
        let (at, d) = (&self.at, &self.p.code[pc as usize]);
        (d.channels, d.first, d.function) == (at.channels, at.first, at.function)
            && (d.no_mask || !at.no_mask)
            && d.pred.offset == 0
            && d.pred.combine == Combine::None
            && matches!(d.dst, Dst::Reg { sat: false, .. })
    }

    /// The registers and type of a source: integers of so many bytes a channel, which do not change between the instruction and
    /// the message.
    pub fn unchanged_integers(&self, pc: Pc, s: &Src, bytes: u32) -> Option<(RegOffset, Type)> {
        let n = u32::from(self.at.channels);
        match *s {
            Src::Reg { offset, ty, shape, strides, modifier: Modifier::None, constant: false }
                if ty.size() == bytes
                    && !ty.is_float()
                    && (shape == Shape::Contiguous || n == 1 && strides.element(0) == 0)
                    && self.stable(pc, offset..offset + n * bytes) =>
            {
                Some((offset, ty))
            }
            _ => None,
        }
    }

    /// The instruction whose result a range certainly holds at a reader, for the channels that run that.
    fn definition(&self, range: Range<RegOffset>, reader: Pc) -> Option<Pc> {
        let Search { uses, blocks, at, .. } = self;
        let d = uses.last_before(range.clone(), reader)?;
        if blocks.same(d, reader) || self.only_writer(&range, reader) == Some(d) {
            return Some(d);
        }
        // Written in the function's entry block, and nowhere else.
        let mut run = blocks.before(d);
        run.end += 1;
        let certain = blocks.in_entry(d)
            && uses.only_within(range.clone(), run)
            && uses.kept_by_calls(at.function, range);
        certain.then_some(d)
    }

    /// Is a range at the message what it was at `from`, where it was read?
    pub fn stable(&self, from: Pc, range: Range<RegOffset>) -> bool {
        let Search { uses, blocks, at, .. } = self;
        if blocks.same(from, at.pc) {
            return uses.last_before(range, at.pc).is_none_or(|w| w < from);
        }
        let given = uses.is_given(range.clone()) && uses.kept_by_calls(at.function, range.clone());
        if given || self.only_writer(&range, from).is_some() {
            return true;
        }
        blocks.in_entry(from)
            && uses.only_within(range.clone(), blocks.before(from))
            && uses.kept_by_calls(at.function, range)
    }

    /// The one instruction that writes any of a range, if every channel of the message has run it before it comes to `to`, and
    /// has run `to` before it comes to the message: what it wrote is the same in both places. For a channel that ran it once
    /// more in between would have come from there to the message without `to`, and could have done so at first.
    ///
    /// An instruction that writes for channels that it does not run for may run while those wait elsewhere: so no loop is to be
    /// around it.
    fn only_writer(&self, range: &Range<RegOffset>, to: Pc) -> Option<Pc> {
        let Search { p, uses, blocks, at, .. } = self;
        let dominators = self.dominators.as_ref().filter(|_| !at.no_mask)?;
        let w = uses.only_writer(range.clone())?;
        let i = &p.code[w as usize];
        let own = match i.dst {
            Dst::Reg { offset, ty, stride: 1, .. } if !i.no_mask => {
                (offset, i.channels, i.first) == (range.start, at.channels, at.first)
                    && ty.size() * u32::from(i.channels) == range.end - range.start
                    && i.dst2 == 0
            }
            _ => false,
        };
        let before = |a: Pc, b: Pc| dominators.dominates(blocks, a, b);
        let all = i.function == at.function && before(w, to) && (to == at.pc || before(to, at.pc));
        (all && (own || !blocks.in_loop(w)) && uses.kept_by_calls(at.function, range.clone())).then_some(w)
    }
}

/// The value of an integer immediate, extended to 64 bits.
pub(super) fn constant(p: &ProgramParts, s: &Src) -> Option<u64> {
    let Src::Reg { offset, ty, shape: Shape::Scalar, modifier: Modifier::None, constant: true, .. } = *s
    else {
        return None;
    };
    let bytes = p.registers.constants.get(offset as usize..(offset + ty.size()) as usize)?;
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    let x = u64::from_le_bytes(all);
    let unused = 64 - 8 * bytes.len() as u32;
    match ty {
        Type::Ub | Type::Uw | Type::Ud | Type::Uq => Some(x),
        Type::B | Type::W | Type::D | Type::Q => Some(((x << unused) as i64 >> unused) as u64),
        _ => None,
    }
}
