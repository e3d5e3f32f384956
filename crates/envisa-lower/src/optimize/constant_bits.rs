//! Logic with a source that is all ones or all zeros is simpler logic, or a copy.
//!
//! Compilers make truths of compares by choosing between -1 and 0, which the compare made already.

use envisa_isa::Modifier;

use super::fold_addresses::constant;
use crate::program::*;

/// Does what is described above.
pub(super) fn simplify_logic(p: &mut ProgramParts) {
    for pc in 0..p.code.len() {
        if let Some(simpler) = simpler(p, &p.code[pc]) {
            p.code[pc] = simpler;
        }
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
    let Dst::Reg { ty, sat: false, .. } = i.dst else { return None };
    if !matches!(i.exec, ExecType::I32 | ExecType::U32) || !ty.is_int() || ty.size() > 4 || i.dst2 != 0 {
        return None;
    }
    let plain = |s: &Src| matches!(s, Src::Reg { ty, modifier: Modifier::None, .. } if ty.is_int());
    if !i.src[..sources].iter().all(plain) {
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
