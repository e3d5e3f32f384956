//! Addresses: what a program adds, scales and extends for a message alone, the message does itself; and surfaces.
//!
//! A surface that a constant names just before the message is that constant: compilers set the one surface variable they
//! have before every message, and an engine that knows the surface need not look for it. So are samplers.
//!
//! Compilers for 64-bit addresses write `mov q ← d`, `shl q`, `add q, base` before every access. Folded into
//! the message this is one vector of 32-bit indices, and the engine sees at once whether they are
//! consecutive.

use envisa_isa::{Combine, Modifier, Type};

use super::{Blocks, Uses};
use crate::program::*;
use crate::{Extend, Message, Sample, SamplerState, Space};

/// `((extended index) << shift) + add + origin`.
struct Linear {
    /// First channel's index; then one after another.
    index: RegOffset,
    bytes: u32,
    extend: Extend,
    shift: u32,
    add: u64,
    origin: Src,
}

/// Where a message stands.
struct Place {
    pc: Pc,
    channels: u8,
    first: u8,
    no_mask: bool,
    function: u16,
}

/// Folds addresses into all messages that have some of their own for each channel, of at least so many bytes: those of 8
/// are as they were written, whatever was folded before.
pub(super) fn addresses(p: &mut ProgramParts, uses: &Uses, blocks: &Blocks, least: u32) {
    for pc in 0..p.code.len() {
        let i = &p.code[pc];
        if i.op != Op::Message {
            continue;
        }
        let place = Place {
            pc: pc as Pc,
            channels: i.channels,
            first: i.first,
            no_mask: i.no_mask,
            function: i.function,
        };
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
        let Some(l) = linear(p, uses, blocks, &place, address, bytes) else { continue };
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
        let at =
            Place { pc: pc as Pc, channels: 1, first: i.first, no_mask: i.no_mask, function: i.function };
        let Some(l) = linear(p, uses, blocks, &at, offset, bytes) else { continue };
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
pub(super) fn surfaces(p: &mut ProgramParts, uses: &Uses, blocks: &Blocks) {
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

/// What the addresses of a message are made of, as far back as that is certain.
fn linear(
    p: &ProgramParts,
    uses: &Uses,
    blocks: &Blocks,
    at: &Place,
    address: RegOffset,
    bytes: u32,
) -> Option<Linear> {
    let mut l = Linear { index: address, bytes, extend: Extend::None, shift: 0, add: 0, origin: Src::None };
    let mut found = false;
    // Chains are short; a program cannot make this long.
    for _ in 0..8 {
        if !step(p, uses, blocks, at, bytes, &mut l) {
            break;
        }
        found = true;
    }
    found.then_some(l)
}

/// Replaces the index by what it was made from.
fn step(p: &ProgramParts, uses: &Uses, blocks: &Blocks, at: &Place, width: u32, l: &mut Linear) -> bool {
    if l.extend != Extend::None {
        return false;
    }
    let n = at.channels as u32;
    let range = l.index..l.index + n * l.bytes;
    let Some(pc) = definition(uses, blocks, at, range) else { return false };
    let d = &p.code[pc as usize];
    let whole = d.channels == at.channels
        && d.first == at.first
        && d.function == at.function
        && (d.no_mask || !at.no_mask)
        && d.pred.offset == 0
        && d.pred.combine == Combine::None;
    let Dst::Reg { offset, ty, stride: 1, sat: false } = d.dst else { return false };
    if !whole || offset != l.index || ty.size() != l.bytes || ty.is_float() {
        return false;
    }
    // A vector of this many bytes a channel, not changed between there and the message.
    let vector = |s: &Src, bytes: u32| match *s {
        Src::Reg { offset, ty, shape, strides, modifier: Modifier::None, constant: false }
            if ty.size() == bytes
                && !ty.is_float()
                && (shape == Shape::Contiguous || n == 1 && strides.element(0) == 0)
                && stable(uses, blocks, pc, at, offset..offset + n * bytes) =>
        {
            Some((offset, ty))
        }
        _ => None,
    };
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
                let Src::Reg { offset, ty, shape: Shape::Scalar, modifier: Modifier::None, .. } = d.src[s]
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
                    && stable(uses, blocks, pc, at, offset..offset + ty.size())
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

/// The value of an integer immediate, extended to 64 bits.
fn constant(p: &ProgramParts, s: &Src) -> Option<u64> {
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

/// The instruction whose result a range certainly holds at `pc`, for the channels it ran.
fn definition(uses: &Uses, blocks: &Blocks, at: &Place, range: std::ops::Range<RegOffset>) -> Option<Pc> {
    let last = uses.last_before(range.clone(), at.pc);
    if let Some(d) = last
        && blocks.same(d, at.pc)
    {
        return Some(d);
    }
    // Written in the function's entry block, and nowhere else.
    let d = last?;
    let mut run = blocks.before(d);
    run.end += 1;
    let certain =
        blocks.in_entry(d) && uses.only_within(range.clone(), run) && uses.kept_by_calls(at.function, range);
    certain.then_some(d)
}

/// Is a range at the message what it was at `from`, where it was read?
fn stable(uses: &Uses, blocks: &Blocks, from: Pc, at: &Place, range: std::ops::Range<RegOffset>) -> bool {
    if blocks.same(from, at.pc) {
        return uses.last_before(range, at.pc).is_none_or(|w| w < from);
    }
    blocks.in_entry(from)
        && uses.only_within(range.clone(), blocks.before(from))
        && uses.kept_by_calls(at.function, range)
}
