//! Indices that a program has in 64 bits, and adds up there.
//!
//! Of `a[i * n + j]`, compilers extend `i * n` and `j` and add quads, or make products of 64 bits of dwords. Here their sum
//! is made in 32 bits, and the message extends it: it knows what it is the sum of, and whether that is the same in 64 bits
//! ([`Extend::addends`](crate::Extend::addends)).
//!
//! Of two scalars of 64 bits that are added to an index, a message adds one: their sum is made before it.

use envisa_isa::{Modifier, Type};

use super::address_terms::Terms;
use super::dominators::Dominators;
use super::fold_addresses::{Place, Search};
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
        // What is put in before an instruction is not run by those who come to that from elsewhere.
        let alone = blocks.before(pc).is_empty();
        let simple = |t: &Terms, origins: &[Src]| t.indices.len() < 2 && origins.len() < 2;
        let Some((t, mut origins)) = address_terms(&search, &i).filter(|(t, o)| !alone || simple(t, o))
        else {
            continue;
        };
        let mut origin = origins.pop().unwrap_or(Src::None);
        if let Some(other) = origins.pop() {
            insts.push((pc, sum_of_scalars(&i, [origin, other], room)));
            origin = scalar(room, Type::Uq);
            room += CHUNK;
        }
        let n = u32::from(i.channels);
        let (at, extend) = match t.indices[..] {
            [one] if one.upper.is_some() => (one.at, Extend::Joined(one)),
            [one] => (one.at, if one.signed { Extend::Sign } else { Extend::Zero }),
            [a, b] => {
                let of = [a, b];
                // What was made before is there still.
                let stays = |m: &Made| {
                    let kept = |a: &Addend| {
                        let bytes = if a.scalar { 4 } else { 4 * n };
                        uses.last_before(a.at..a.at + bytes, pc).is_none_or(|w| w < m.pc)
                    };
                    blocks.same(m.pc, pc) && m.of.iter().all(kept)
                };
                let same = |m: &&Made| (m.of, m.channels, m.first) == (of, i.channels, i.first) && stays(m);
                let at = match made.iter().rev().find(same) {
                    Some(m) => m.at,
                    None => {
                        let at = room;
                        room += (4 * n).next_multiple_of(CHUNK);
                        insts.push((pc, add_dwords_inst(&i, of, at)));
                        made.push(Made { of, at, channels: i.channels, first: i.first, pc });
                        at
                    }
                };
                (at, Extend::Sum(of))
            }
            _ => continue,
        };
        if let Message::Simt(s) = &mut p.messages[i.aux as usize] {
            (s.address, s.address_bytes, s.extend, s.scale) = (at, 4, extend, 1 << t.shift);
            (s.offset, s.origin) = (s.offset.wrapping_add(t.add as i64), origin);
        }
    }
    if !insts.is_empty() {
        p.registers.bytes = p.registers.bytes.max((room + REGISTER_PADDING).next_multiple_of(CHUNK));
        super::insert(p, insts);
    }
}

/// What a message's addresses are made of, and the scalars of 64 bits among that, its own one included; `None` where they are
/// not quads, or no index of 32 bits that can be told from a pointer.
fn address_terms(search: &Search<'_>, i: &Inst) -> Option<(Terms, Vec<Src>)> {
    let Message::Simt(s) = &search.p.messages[i.aux as usize] else { return None };
    let quads = (s.space, s.address_bytes, s.extend, s.stride, s.base)
        == (Space::Flat, 8, Extend::None, Src::None, Src::None);
    if !quads || i.channels < 8 || !s.scale.is_power_of_two() {
        return None;
    }
    let t = search.terms(s.address, s.scale.trailing_zeros())?;
    let mut origins = t.origins.clone();
    origins.extend(Some(s.origin).filter(|o| *o != Src::None));
    let quad = |s: &Src| {
        matches!(s, Src::Reg { ty: Type::Q | Type::Uq, shape: Shape::Scalar, modifier: Modifier::None, .. })
    };
    // A pointer that a launch gives is none of the indices, and what is shifted is none itself.
    let given = |s: &Src| matches!(*s, Src::Reg { offset, .. } if search.uses.is_given(offset..offset + 8));
    let dwords = t.indices.iter().all(|a| a.upper.is_none());
    let told = dwords || t.shift > 0 || origins.iter().any(given);
    let fits = t.indices.len() <= 2 && origins.len() <= 2 && (origins.len() < 2 || origins.iter().all(quad));
    (told && fits).then_some((t, origins))
}

/// A scalar in a register.
fn scalar(offset: RegOffset, ty: Type) -> Src {
    Src::Reg {
        offset,
        ty,
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

/// The sum of the dwords of two addends, for the channels of a message.
fn add_dwords_inst(message: &Inst, of: [Addend; 2], to: RegOffset) -> Inst {
    let source = |a: Addend| match a.scalar {
        true => scalar(a.at, Type::D),
        false => Src::Reg {
            offset: a.at,
            ty: Type::D,
            strides: Strides::CONTIGUOUS,
            shape: Shape::Contiguous,
            modifier: Modifier::None,
            constant: false,
        },
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
