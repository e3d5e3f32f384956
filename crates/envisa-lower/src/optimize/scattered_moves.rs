//! What each channel stores to a register that it finds by itself is one move.
//!
//! Hardware writes registers by one address for all channels. Where an index into a private array varies, compilers store each
//! channel's element by a move of its own: the address is that channel's, and a constant predicate turns the others off. Here
//! these moves become one, with an address for each channel.

use std::collections::HashMap;

use envisa_isa::{Combine, Modifier};

use super::Blocks;
use crate::program::*;

/// A move of which one channel is on.
struct One {
    channel: u32,
    address: RegOffset,
    /// Where its source is, the same for all channels.
    from: RegOffset,
}

/// Joins such moves of all channels, one after the other.
pub(super) fn join_scattered_moves(p: &mut ProgramParts) {
    let indirect = |i: &Inst| matches!(i.dst, Dst::Indirect { .. });
    if !p.code.iter().any(indirect) {
        return;
    }
    let blocks = &Blocks::new(p);
    let mut constant: HashMap<RegOffset, (Pc, u32)> = HashMap::new();
    let mut keep = vec![true; p.code.len()];
    let mut pc = 0;
    while pc < p.code.len() {
        if pc == 0 || !blocks.same(pc as Pc - 1, pc as Pc) {
            constant.clear();
        }
        if let Some((joined, end)) = run(p, blocks, &constant, pc) {
            (pc..end).for_each(|at| note_constant_predicates(p, &mut constant, at));
            for (channel, at) in
                (joined.first..).zip((pc..end).filter(|at| p.code[*at].op == Op::Mov)).skip(1)
            {
                let Inst { source, span, .. } = p.code[at];
                p.upper.push(Upper { pc: pc as Pc, channel, source, span });
                keep[at] = false;
            }
            p.code[pc] = joined;
            pc = end;
            continue;
        }
        note_constant_predicates(p, &mut constant, pc);
        pc += 1;
    }
    if keep.contains(&false) {
        super::dead_code::remove_instructions(p, &keep);
    }
}

/// The bits of a predicate that an instruction sets to constants, from the first channel's on, are known behind it.
fn note_constant_predicates(p: &ProgramParts, constant: &mut HashMap<RegOffset, (Pc, u32)>, pc: usize) {
    let i = &p.code[pc];
    let scalar = super::fold_addresses::constant(p, &i.src[0]).filter(|_| i.op == Op::Setp);
    match (i.dst, scalar) {
        (Dst::Pred { offset }, Some(bits)) => {
            constant.insert(offset, (pc as Pc, bits as u32));
        }
        _ => i.writes(p, &mut |t| {
            let r = super::range_of_access(&t, i.channels, p);
            // Predicates are below the variables.
            if r.end - r.start <= 4 {
                constant.remove(&r.start);
            } else if r.start < p.registers.locals_start {
                constant.retain(|at, _| *at >= r.end || *at + 4 <= r.start);
            }
        }),
    }
}

/// The move that those from an instruction on are, and where they end.
fn run(
    p: &ProgramParts,
    blocks: &Blocks,
    constant: &HashMap<RegOffset, (Pc, u32)>,
    start: usize,
) -> Option<(Inst, usize)> {
    let first = single_channel_move(p, constant, start).filter(|one| one.channel == 0)?;
    // What is set on the way counts from there on only.
    let mut constant = constant.clone();
    let i = p.code[start];
    let Dst::Indirect { ty, .. } = i.dst else { return None };
    let (n, size) = (u32::from(i.channels), ty.size());
    let (mut pc, mut step) = (start, None);
    for channel in 1..n {
        pc += 1;
        while p.code.get(pc).is_some_and(|i| i.op == Op::Setp) {
            note_constant_predicates(p, &mut constant, pc);
            pc += 1;
        }
        let j = p.code.get(pc).filter(|_| blocks.same(start as Pc, pc as Pc))?;
        let next = single_channel_move(p, &constant, pc)?;
        let far = next.from.checked_sub(first.from)?;
        let alike = common_part(&i) == common_part(j)
            && next.channel == channel
            && next.address == first.address + 2 * channel;
        if !alike || *step.get_or_insert(far) * channel != far {
            return None;
        }
    }
    let step = step?;
    let vertical = [0, size].contains(&step).then_some((step / size) as u8)?;
    // What is stored is none of what is read.
    let homes = p.registers.addressable();
    let apart = |at: RegOffset, bytes: u32| at + bytes <= homes.start || homes.end <= at;
    if !apart(first.from, step * (n - 1) + size) || !apart(first.address, 2 * n) {
        return None;
    }
    let (mut dst, mut src) = (i.dst, i.src);
    if let Dst::Indirect { per_address_log2, .. } = &mut dst {
        *per_address_log2 = 0;
    }
    if let Src::Reg { strides, shape, .. } = &mut src[0] {
        *strides = Strides { vertical, ..Strides::SCALAR };
        *shape = strides.shape(n);
    }
    Some((Inst { dst, src, pred: Pred::default(), ..i }, pc + 1))
}

/// What the moves have in common.
fn common_part(i: &Inst) -> impl PartialEq {
    let to = match i.dst {
        Dst::Indirect { bytes, per_address_log2, ty, stride, sat, .. } => {
            Some((bytes, per_address_log2, ty, stride, sat))
        }
        _ => None,
    };
    let from = match i.src[0] {
        Src::Reg { ty, modifier, .. } => Some((ty, modifier)),
        _ => None,
    };
    (i.op, i.channels, i.first, i.no_mask, i.exec, i.function, to, from)
}

/// A move of one channel, by what is known of predicates.
fn single_channel_move(p: &ProgramParts, constant: &HashMap<RegOffset, (Pc, u32)>, pc: usize) -> Option<One> {
    let i = p.code.get(pc)?;
    let Dst::Indirect { address, per_address_log2, ty, .. } = i.dst else { return None };
    let Src::Reg { offset: from, ty: of, shape: Shape::Scalar, modifier: Modifier::None, .. } = i.src[0]
    else {
        return None;
    };
    let by = i.pred.offset != 0 && i.pred.combine == Combine::None && !i.pred.invert;
    let (setp, bits) = constant.get(&i.pred.offset).filter(|_| by && i.op == Op::Mov)?;
    let s = &p.code[*setp as usize];
    // Bits and channels count from each instruction's first one.
    let (channels, ahead) = (u32::from(i.channels), i.first.checked_sub(s.first)?);
    let all = channels >= 8 && i.first + i.channels <= s.first + s.channels;
    let on = bits >> ahead & (u32::MAX >> (32 - channels));
    let whole = 1 << per_address_log2.min(5) >= channels && of.size() == ty.size();
    (all && whole && on.is_power_of_two()).then_some(One { channel: on.trailing_zeros(), address, from })
}
