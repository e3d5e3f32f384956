//! Which instructions compute bytes and words at their own width, side by side in one register.

use envisa_isa::Modifier;
use envisa_lower::{Dst, ExecType, Inst, Op, Shape, Src};

/// The bytes of an element, if an instruction's results and those of its sources that are no constants are integers of that
/// size, of which there are 16, 32 or 64 bytes: all of it then goes into one register.
pub(crate) fn element(i: &Inst) -> Option<u32> {
    let Dst::Reg { ty, stride: 1, sat: false, .. } = i.dst else { return None };
    let size = ty.size();
    let integers = matches!(i.exec, ExecType::I32 | ExecType::U32) && ty.is_int() && size < 4;
    let whole = matches!(u32::from(i.channels) * size, 16 | 32 | 64) && i.channels > 1;
    let modifiers: &[Modifier] = match i.op {
        Op::Add | Op::Add3 => &[Modifier::None, Modifier::Abs, Modifier::Neg, Modifier::NegAbs],
        Op::Mul | Op::Mad | Op::Cmp => &[Modifier::None, Modifier::Abs],
        Op::And | Op::Or | Op::Xor => &[Modifier::None, Modifier::Not],
        Op::Not | Op::Bfn | Op::Min | Op::Max => &[Modifier::None],
        Op::Shl | Op::Shr | Op::Asr if size == 2 => &[Modifier::None],
        _ => return None,
    };
    let fits = |s: &Src| match *s {
        Src::None => true,
        Src::Reg { constant: true, shape: Shape::Scalar, .. } => true,
        Src::Reg { ty, shape: Shape::Contiguous | Shape::Scalar, modifier, .. } => {
            ty.is_int() && ty.size() == size && modifiers.contains(&modifier)
        }
        _ => false,
    };
    (integers && whole && (i.pred.offset, i.dst2) == (0, 0) && i.src.iter().all(fits)).then_some(size)
}
