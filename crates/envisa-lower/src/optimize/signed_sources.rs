//! Integers without a sign that are below 2^31 are converted to floats as integers with a sign: CPUs that have only that
//! conversion take six instructions for the other one.
//!
//! Within a block, what shifts, masks and extensions from narrower integers leave of a value's upper bits is known.

use std::collections::BTreeMap;

use envisa_isa::{Modifier, Type};

use super::fold_addresses::constant;
use super::{Blocks, range_of_access};
use crate::program::*;

/// The channels that execute an instruction, within a block.
type Runs = (u8, u8, bool);

/// What an integer for all channels is made by.
const ONE: Runs = (1, 0, true);

/// The least number of zeros above the highest bit of dwords, by where they are and whether they are one for all; and the
/// channels of which that is known.
type Known = BTreeMap<(RegOffset, bool), (Runs, u32)>;

/// Does what is described above.
pub(super) fn convert_as_signed(p: &mut ProgramParts, blocks: &Blocks) {
    let converts = |i: &Inst| {
        (i.op, i.exec) == (Op::Mov, ExecType::U32) && matches!(i.dst, Dst::Reg { ty: Type::F, .. })
    };
    if !p.code.iter().any(converts) {
        return;
    }
    let mut known = Known::new();
    for pc in 0..p.code.len() {
        if pc == 0 || !blocks.same(pc as Pc - 1, pc as Pc) {
            known.clear();
        }
        let i = p.code[pc];
        if converts(&i) && zeros(p, &known, &i.src[0], runs(&i)) > 0 {
            let signed = &mut p.code[pc];
            if let Src::Reg { ty: ty @ Type::Ud, constant: false, .. } = &mut signed.src[0] {
                (*ty, signed.exec) = (Type::D, ExecType::I32);
            }
        }
        let made = made(p, &known, &i);
        i.writes(p, &mut |t| {
            let range = range_of_access(&t, i.channels, p);
            // None is longer than this.
            let near = known.range((range.start.saturating_sub(128), false)..(range.end, false));
            let met = |(at, one): &(RegOffset, bool), runs: Runs| {
                at + 4 * if *one { 1 } else { u32::from(runs.0) } > range.start
            };
            let gone: Vec<_> = near.filter(|(at, k)| met(at, k.0)).map(|(at, _)| *at).collect();
            for at in gone {
                known.remove(&at);
            }
        });
        if let Some((at, zeros)) = made {
            known.insert((at, runs(&i) == ONE), (runs(&i), zeros));
        }
    }
}

fn runs(i: &Inst) -> Runs {
    if i.channels == 1 && i.no_mask { ONE } else { (i.channels, i.first, i.no_mask) }
}

/// How many zeros are certainly above the highest bit of what a source gives, of 32 bits.
fn zeros(p: &ProgramParts, known: &Known, s: &Src, runs: Runs) -> u32 {
    if let Some(x) = constant(p, s) {
        return (x as u32).leading_zeros();
    }
    let Src::Reg { offset, ty, shape, modifier: Modifier::None, .. } = *s else { return 0 };
    let one = match shape {
        Shape::Scalar => true,
        Shape::Contiguous => false,
        Shape::General => return if ty.is_signed() { 0 } else { 32u32.saturating_sub(8 * ty.size()) },
    };
    match ty {
        Type::Ub => 24,
        Type::Uw => 16,
        Type::Ud | Type::D => match known.get(&(offset, one)) {
            Some((by, zeros)) if *by == if one { ONE } else { runs } => *zeros,
            _ => 0,
        },
        _ => 0,
    }
}

/// The dwords that an instruction writes, if it is known how many zeros are above their highest bits.
fn made(p: &ProgramParts, known: &Known, i: &Inst) -> Option<(RegOffset, u32)> {
    let Dst::Reg { offset, ty: Type::Ud | Type::D, stride: 1, sat: false } = i.dst else { return None };
    let integers = matches!(i.exec, ExecType::I32 | ExecType::U32);
    if !integers || i.pred != Pred::default() || i.dst2 != 0 || (i.channels == 1 && !i.no_mask) {
        return None;
    }
    let of = |k: usize| zeros(p, known, &i.src[k], runs(i));
    let zeros = match i.op {
        Op::Mov => of(0),
        Op::And => of(0).max(of(1)),
        Op::Or | Op::Xor => of(0).min(of(1)),
        Op::Shr => match constant(p, &i.src[1]) {
            Some(by) => (of(0) + (by as u32 & 31)).min(32),
            None => of(0),
        },
        _ => 0,
    };
    (zeros > 0).then_some((offset, zeros))
}
