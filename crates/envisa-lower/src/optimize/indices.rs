//! Indices that a program extends to 64 bits one by one, and adds up there.
//!
//! Of `a[i * n + j]` with signed indices, compilers extend `i * n` and `j` and add quads. Here their sum is made in 32 bits,
//! and the message extends it: it knows what it is the sum of, and whether that is the same in 64 bits
//! ([`Extend::Sum`](crate::Extend::Sum)).
//!
//! Of two scalars of 64 bits that are added to an index, a message adds one: their sum is made before it.

use envisa_isa::{Modifier, Type};

use super::dominators::Dominators;
use super::fold::{Linear, Place, Search};
use super::{Blocks, CHUNK, Uses};
use crate::program::*;
use crate::registers::REGISTER_PADDING;
use crate::{Addend, Extend, Message, Space};

/// Most sums that are made.
const MOST: usize = 256;

/// A sum that was made.
struct Made {
    of: [Addend; 2],
    at: RegOffset,
    channels: u8,
    first: u8,
    pc: Pc,
}

/// Does what is described above.
pub(super) fn add(p: &mut ProgramParts, uses: &Uses, blocks: &Blocks) {
    let dominators = Dominators::new(p, blocks);
    let mut room = p.registers.bytes.saturating_sub(REGISTER_PADDING).next_multiple_of(CHUNK);
    let mut named = vec![0u32; p.messages.len()];
    for i in p.code.iter().filter(|i| i.op == Op::Message) {
        named[i.aux as usize] += 1;
    }
    let (mut made, mut insts): (Vec<Made>, Vec<(Pc, Inst)>) = Default::default();
    for pc in 0..p.code.len() as Pc {
        let i = p.code[pc as usize];
        if i.op != Op::Message || named[i.aux as usize] != 1 || i.no_mask || made.len() >= MOST {
            continue;
        }
        let search = Search { p, uses, blocks, dominators: &dominators, at: Place::of(pc as usize, &i) };
        if let Some((l, origins)) = second_origin(&search, &i) {
            insts.push((pc, sum_of_scalars(&i, origins, room)));
            if let Message::Simt(s) = &mut p.messages[i.aux as usize] {
                (s.address, s.address_bytes, s.extend, s.scale) = (l.index, 4, l.extend, 1 << l.shift);
                (s.offset, s.origin) = (s.offset.wrapping_add(l.add as i64), scalar(room));
            }
            room += CHUNK;
            continue;
        }
        let Some((of, added)) = sum(&search, &i) else { continue };
        let n = u32::from(i.channels);
        // What was made before is there still.
        let stays = |m: &Made| {
            let kept = |a: &Addend| uses.last_before(a.at..a.at + 4 * n, pc).is_none_or(|w| w < m.pc);
            blocks.same(m.pc, pc) && m.of.iter().all(kept)
        };
        let same = |m: &&Made| (m.of, m.channels, m.first) == (of, i.channels, i.first) && stays(m);
        let at = match made.iter().rev().find(same) {
            Some(m) => m.at,
            // What is put in before an instruction is not run by those who come to that from elsewhere.
            None if blocks.before(pc).is_empty() => continue,
            None => {
                let at = room;
                room += (4 * n).next_multiple_of(CHUNK);
                insts.push((pc, addition(&i, of, at)));
                made.push(Made { of, at, channels: i.channels, first: i.first, pc });
                at
            }
        };
        if let Message::Simt(s) = &mut p.messages[i.aux as usize] {
            (s.address, s.address_bytes, s.extend) = (at, 4, Extend::Sum(of));
            s.offset = s.offset.wrapping_add(added.wrapping_mul(s.scale.into()) as i64);
        }
    }
    if !insts.is_empty() {
        p.registers.bytes = p.registers.bytes.max((room + REGISTER_PADDING).next_multiple_of(CHUNK));
        super::insert(p, insts);
    }
}

/// What a message's addresses are made of, if that includes a scalar beside the one that it adds itself; and the two.
fn second_origin(search: &Search<'_>, i: &Inst) -> Option<(Linear, [Src; 2])> {
    let Message::Simt(s) = &search.p.messages[i.aux as usize] else { return None };
    let quads = (s.space, s.address_bytes, s.extend, s.scale, s.stride, s.base)
        == (Space::Flat, 8, Extend::None, 1, Src::None, Src::None);
    // What is put in before an instruction is not run by those who come to that from elsewhere.
    if !quads || i.channels < 8 || search.blocks.before(search.at.pc).is_empty() {
        return None;
    }
    let l = search.linear(s.address, 8).filter(|l| l.bytes == 4 && l.extend != Extend::None)?;
    let quad = |s: &Src| {
        matches!(s, Src::Reg { ty: Type::Q | Type::Uq, shape: Shape::Scalar, modifier: Modifier::None, .. })
    };
    let both = [s.origin, l.origin];
    both.iter().all(quad).then_some((l, both))
}

/// A quad in a register.
fn scalar(offset: RegOffset) -> Src {
    Src::Reg {
        offset,
        ty: Type::Uq,
        strides: Strides::SCALAR,
        shape: Shape::Scalar,
        modifier: Modifier::None,
        constant: false,
    }
}

/// The sum of two scalars of 64 bits.
fn sum_of_scalars(message: &Inst, of: [Src; 2], to: RegOffset) -> Inst {
    Inst {
        op: Op::Add,
        channels: 1,
        first: 0,
        no_mask: true,
        pred: Pred::default(),
        exec: ExecType::I64,
        dst: Dst::Reg { offset: to, ty: Type::Uq, stride: 1, sat: false },
        src: [of[0], of[1], Src::None, Src::None],
        aux: 0,
        ..*message
    }
}

/// What the quads are sums of that a message has as addresses, and what is added to them besides.
fn sum(search: &Search<'_>, i: &Inst) -> Option<([Addend; 2], u64)> {
    let Message::Simt(s) = &search.p.messages[i.aux as usize] else { return None };
    let quads = (s.space, s.address_bytes, s.extend, s.stride, s.base)
        == (Space::Flat, 8, Extend::None, Src::None, Src::None);
    if !quads || i.channels < 8 {
        return None;
    }
    let mut added = 0u64;
    let mut at = s.address;
    if let Some(l) = search.linear(at, 8).filter(|l| (l.bytes, l.shift, l.origin) == (8, 0, Src::None)) {
        (at, added) = (l.index, l.add);
    }
    let mut of = [Addend::default(); 2];
    for (addend, quads) in of.iter_mut().zip(search.addends(at)?) {
        let l = search.linear(quads, 8)?;
        if (l.bytes, l.shift, l.origin) != (4, 0, Src::None) {
            return None;
        }
        *addend = Addend { at: l.index, signed: l.extend == Extend::Sign };
        added = added.wrapping_add(l.add);
    }
    Some((of, added))
}

/// The sum of two vectors of dwords, for the channels of a message.
fn addition(message: &Inst, of: [Addend; 2], to: RegOffset) -> Inst {
    let source = |a: Addend| Src::Reg {
        offset: a.at,
        ty: Type::D,
        strides: Strides::CONTIGUOUS,
        shape: Shape::Contiguous,
        modifier: Modifier::None,
        constant: false,
    };
    Inst {
        op: Op::Add,
        pred: Pred::default(),
        exec: ExecType::I32,
        dst: Dst::Reg { offset: to, ty: Type::D, stride: 1, sat: false },
        src: [source(of[0]), source(of[1]), Src::None, Src::None],
        aux: 0,
        ..*message
    }
}
