//! Scalars that were set to a constant are read as that constant.
//!
//! Instructions of three sources take no immediate of 32 bits, so compilers move it to a scalar right before. Here the
//! instruction reads the constant itself, and nobody needs the move.

use std::ops::Range;

use envisa_isa::{Modifier, Type};

use super::{Blocks, range_of_access};
use crate::program::*;

/// A scalar, and the constant that it has.
struct Known {
    scalar: Range<RegOffset>,
    constant: RegOffset,
}

/// Does what is described above, block by block.
pub(super) fn read_constants(p: &mut ProgramParts, blocks: &Blocks) {
    let mut known: Vec<Known> = Vec::new();
    for pc in 0..p.code.len() {
        if pc > 0 && !blocks.same(pc as Pc - 1, pc as Pc) {
            known.clear();
        }
        let mut i = p.code[pc];
        if !known.is_empty() && i.op.is_computation() {
            i.src.iter_mut().for_each(|s| replace_by_constant(s, &known));
            p.code[pc] = i;
        }
        i.writes(p, &mut |t| {
            let r = range_of_access(&t, i.channels, p);
            known.retain(|k| k.scalar.end <= r.start || r.end <= k.scalar.start);
        });
        known.extend(set(p, &i));
    }
}

fn replace_by_constant(s: &mut Src, known: &[Known]) {
    let Src::Reg {
        offset,
        ty,
        shape: Shape::Scalar,
        modifier: Modifier::None,
        constant: constant @ false,
        ..
    } = s
    else {
        return;
    };
    let inside = |k: &&Known| k.scalar.start <= *offset && *offset + ty.size() <= k.scalar.end;
    if let Some(k) = known.iter().find(inside) {
        (*offset, *constant) = (k.constant + (*offset - k.scalar.start), true);
    }
}

/// What an instruction sets a scalar to, if that is a constant, bit by bit: a float that is none, or so small that it may
/// become zero, need not stay as it is.
fn set(p: &ProgramParts, i: &Inst) -> Option<Known> {
    let Dst::Reg { offset: to, ty, stride: 1, sat: false } = i.dst else { return None };
    let Src::Reg { offset: from, ty: of, modifier: Modifier::None, constant: true, .. } = i.src[0] else {
        return None;
    };
    let plain = i.op == Op::Mov && i.channels == 1 && i.no_mask && i.pred == Pred::default() && i.dst2 == 0;
    let bytes = p.registers.constants.get(from as usize..(from + of.size()) as usize)?;
    // The low bytes of an integer come first.
    let alike = match ty.is_int() {
        true => of.is_int() && ty.size() <= of.size(),
        false => ty == of,
    };
    let exact = match ty {
        Type::F => f32::from_le_bytes(bytes.try_into().ok()?).is_normal(),
        _ => ty.is_int(),
    };
    let local = to >= p.registers.locals_start;
    (plain && alike && exact && local).then(|| Known { scalar: to..to + ty.size(), constant: from })
}
