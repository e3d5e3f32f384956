//! Integer instructions with a source that is a certain number are simpler ones, or copies: logic with all ones or all zeros, sums
//! with 0, products with 0 or 1.
//!
//! Compilers make truths of compares by choosing between -1 and 0, which the compare made already; and they work out integers
//! of 64 bits in dwords, of which the upper ones are often 0.

use std::ops::Range;

use envisa_isa::Modifier;

use super::fold_addresses::constant;
use super::{Blocks, range_of_access};
use crate::program::*;

/// A vector of dwords that are 0 in the channels that ran.
struct Zeros {
    at: Range<RegOffset>,
    first: u8,
    no_mask: bool,
    /// The immediate.
    zero: Src,
}

/// Does what is described above, block by block.
pub(super) fn simplify(p: &mut ProgramParts, blocks: &Blocks) {
    let mut known: Vec<Zeros> = Vec::new();
    for pc in 0..p.code.len() {
        if pc > 0 && !blocks.same(pc as Pc - 1, pc as Pc) {
            known.clear();
        }
        let mut i = p.code[pc];
        if matches!(i.op, Op::Add | Op::Add3 | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Bfn) {
            for k in 0..3 {
                if let Some(zeros) = known.iter().find(|z| z.are_read_by(&i, k)) {
                    i.src[k] = zeros.zero;
                }
            }
        }
        i = simpler(p, &i).or_else(|| simpler_sum(p, &i)).unwrap_or(i);
        p.code[pc] = i;
        i.writes(p, &mut |t| {
            let r = range_of_access(&t, i.channels, p);
            known.retain(|z| z.at.end <= r.start || r.end <= z.at.start);
        });
        known.extend(Zeros::of(p, &i));
    }
}

impl Zeros {
    fn of(p: &ProgramParts, i: &Inst) -> Option<Zeros> {
        let Dst::Reg { offset, ty, stride: 1, sat: false } = i.dst else { return None };
        let plain = i.op == Op::Mov && i.pred == Pred::default() && ty.is_int() && ty.size() == 4;
        let zero = plain && constant(p, &i.src[0]) == Some(0) && i.channels > 1;
        let at = offset..offset + 4 * u32::from(i.channels);
        zero.then_some(Zeros { at, first: i.first, no_mask: i.no_mask, zero: i.src[0] })
    }

    fn are_read_by(&self, i: &Inst, k: usize) -> bool {
        let Src::Reg { offset, ty, shape: Shape::Contiguous, modifier: Modifier::None, .. } = i.src[k] else {
            return false;
        };
        let all = self.at == (offset..offset + 4 * u32::from(i.channels)) && i.first == self.first;
        all && ty.is_int() && ty.size() == 4 && (self.no_mask || !i.no_mask)
    }
}

/// Does an instruction compute integers of at most 32 bits from such, as they are?
fn is_plain(i: &Inst, sources: usize) -> bool {
    let Dst::Reg { ty, sat: false, .. } = i.dst else { return false };
    let plain = |s: &Src| matches!(s, Src::Reg { ty, modifier: Modifier::None, .. } if ty.is_int());
    matches!(i.exec, ExecType::I32 | ExecType::U32)
        && ty.is_int()
        && ty.size() <= 4
        && i.dst2 == 0
        && i.src[..sources].iter().all(plain)
}

/// What a sum with 0, or a product with 0 or 1, amounts to.
fn simpler_sum(p: &ProgramParts, i: &Inst) -> Option<Inst> {
    let sources = match i.op {
        Op::Add | Op::Mul => 2,
        Op::Add3 => 3,
        _ => return None,
    };
    if !is_plain(i, sources) {
        return None;
    }
    let is = |k: usize, x: u64| constant(p, &i.src[k]) == Some(x);
    let copy = |k: usize| Inst { op: Op::Mov, src: [i.src[k], Src::None, Src::None, Src::None], ..*i };
    match i.op {
        Op::Mul => (0..2).find_map(|k| match () {
            () if is(k, 0) => Some(copy(k)),
            () if is(k, 1) => Some(copy(1 - k)),
            () => None,
        }),
        Op::Add => (0..2).find(|k| is(*k, 0)).map(|k| copy(1 - k)),
        _ => (0..3).find(|k| is(*k, 0)).map(|zero| {
            let [a, b] = [[1, 2], [0, 2], [0, 1]][zero].map(|k| i.src[k]);
            let sum = Inst { op: Op::Add, src: [a, b, Src::None, Src::None], ..*i };
            simpler_sum(p, &sum).unwrap_or(sum)
        }),
    }
}

/// What an instruction on bits amounts to: of one of its sources, or of two of three.
fn simpler(p: &ProgramParts, i: &Inst) -> Option<Inst> {
    let (table, sources) = match i.op {
        Op::And => (0x8, 2),
        Op::Or => (0xe, 2),
        Op::Xor => (0x6, 2),
        Op::Bfn => (i.aux & 0xff, 3),
        _ => return None,
    };
    let Dst::Reg { ty, .. } = i.dst else { return None };
    if !is_plain(i, sources) {
        return None;
    }
    let ones = u64::MAX >> (64 - 8 * ty.size());
    let (mut left, mut fixed) = (Vec::new(), [None; 3]);
    for (k, s) in i.src[..sources].iter().enumerate() {
        match constant(p, s).map(|x| x & ones) {
            Some(0) => fixed[k] = Some(0),
            Some(x) if x == ones => fixed[k] = Some(1),
            _ => left.push(k),
        }
    }
    // The table of what is left.
    let mut rest = 0;
    for bits in 0..1u32 << left.len() {
        let bit = |k: usize| match left.iter().position(|l| *l == k) {
            Some(at) => bits >> at & 1,
            None => fixed[k].unwrap_or(0),
        };
        let index = (0..sources).fold(0, |index, k| index | bit(k) << k);
        rest |= (table >> index & 1) << bits;
    }
    let op = match (left.len(), rest) {
        (1, 0b10) => Op::Mov,
        (1, 0b01) => Op::Not,
        (2, 0x8) if sources == 3 => Op::And,
        (2, 0xe) if sources == 3 => Op::Or,
        (2, 0x6) if sources == 3 => Op::Xor,
        _ => return None,
    };
    let mut src = [Src::None; 4];
    for (to, k) in src.iter_mut().zip(&left) {
        *to = i.src[*k];
    }
    Some(Inst { op, src, aux: 0, ..*i })
}
