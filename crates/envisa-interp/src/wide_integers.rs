//! Instructions on integers whose values no element type holds, channel by channel: sources by their own types
//! and modifiers, the exact result, which the destination cuts, clamps or converts once.

use envisa_isa::Type;
use envisa_lower::{Dst, ExecType, Op, Src};
use envisa_sem::{Relation, wide_integers};

use crate::cpu_level::Kernel;
use crate::operand::{inst, read_general, write_general};
use crate::special_forms::{as_int, set_predicate, write_comparison};
use crate::{At, active_channels, exec_mask, pred_mask};
use envisa_machine::thread::{Machine, Mask, STOP};
use envisa_machine::trap::Cause;

/// The values of a source.
fn read(m: &mut Machine<'_>, c: At<'_>, pc: u32, src: &Src, mask: Mask) -> Option<[i128; 32]> {
    let n = c.channels as usize;
    let mut plain = *src;
    let mut of = (Type::Uq, Default::default());
    if let Src::Reg { ty, modifier, .. } | Src::Indirect { ty, modifier, .. } = &mut plain {
        of = (*ty, std::mem::take(modifier));
    }
    let mut bits = [0u64; 32];
    if !read_general(m, pc, &plain, mask, &mut bits[..n]) {
        return None;
    }
    let md = of.1;
    Some(bits.map(|b| wide_integers::apply_modifier(wide_integers::value(of.0, b), md)))
}

/// Writes results: cut, clamped or converted, as the destination asks.
fn write(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask, r: &[i128; 32]) -> u32 {
    let dst = inst(m, pc).dst;
    let (Dst::Reg { ty, sat, .. } | Dst::Indirect { ty, sat, .. }) = dst else { return pc + 1 };
    let mode = m.t.mode;
    let bits = r.map(|x| match wide_integers::to_float(ty, x, sat, mode) {
        Some(bits) => bits,
        None if sat => wide_integers::clamp(ty, x),
        None => wide_integers::truncate_to_type(ty, x),
    });
    if write_general(m, pc, &as_int(dst), mask, &bits[..c.channels as usize]) { pc + 1 } else { STOP }
}

/// Is an instruction done by [`ByValueK`] only? Those are sums and products of integers, too, whose saturation looks
/// at more bits than they are computed in.
pub(crate) fn is_by_value(op: Op, exec: ExecType, sat: bool) -> bool {
    use ExecType::{Bf16, F16, F32, F64, Odd, Wide};
    let float = matches!(exec, F32 | F64 | F16 | Bf16 | Odd);
    exec == Wide || sat && !float && matches!(op, Op::Add | Op::Add3 | Op::Mul | Op::Mad)
}

/// An instruction by the values of its operands.
pub(crate) struct ByValueK;

impl Kernel for ByValueK {
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        run(m, c, pc)
    }
}

fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
    let i = inst(m, pc);
    // The predicate of `sel` picks a source.
    let mask = if i.op == Op::Sel { active_channels(m, c) } else { exec_mask(m, c) };
    if mask == 0 {
        return pc + 1;
    }
    let mut s = [[0i128; 32]; 3];
    for (k, s) in s.iter_mut().enumerate() {
        let Some(x) = read(m, c, pc, &i.src[k], mask) else { return STOP };
        *s = x;
    }
    let ty = |k: usize| match i.src[k] {
        Src::Reg { ty, .. } | Src::Indirect { ty, .. } => Some(ty),
        _ => None,
    };
    let (dst, sat) = match i.dst {
        Dst::Reg { ty, sat, .. } | Dst::Indirect { ty, sat, .. } => (Some(ty), sat),
        _ => (None, false),
    };
    // Shifts look at five bits of a count, or at six: see `envisa_lower::exec_type`.
    let eight = |t: Option<Type>| t.is_some_and(|t| t.size() == 8);
    let bits = if eight(ty(0)) || eight(dst) { 64 } else { 32 };
    let signed = (0..3).any(|k| ty(k).is_some_and(|t| t.is_signed()));
    // What is not cut below: the numbers that logic makes of bits.
    let number = |x: i128| {
        let bits = if bits == 64 || eight(ty(1)) || eight(ty(2)) { 64 } else { 32 };
        let of = |signed, wide, narrow| if signed { wide } else { narrow };
        let ty = if bits == 64 { of(signed, Type::Q, Type::Uq) } else { of(signed, Type::D, Type::Ud) };
        wide_integers::value(ty, x as u64)
    };
    let pick = if c.pred == 0 { u32::MAX } else { pred_mask(m, c) };
    let relation = Relation::from_code(i.aux as u8).unwrap_or(Relation::Eq);
    let (mut r, mut holds) = ([0i128; 32], 0u32);
    for k in 0..c.channels as usize {
        let (a, b, d) = (s[0][k], s[1][k], s[2][k]);
        // Clamped results keep their side of the range; cut ones their low bits.
        let product = || if sat { a.saturating_mul(b) } else { a.wrapping_mul(b) };
        r[k] = match i.op {
            Op::Mov => a,
            Op::Sel if pick >> k & 1 != 0 => a,
            Op::Sel => b,
            Op::Cmp => {
                holds |= (relation.holds(a, b) as u32) << k;
                0
            }
            Op::Add => a + b,
            Op::Add3 | Op::Add3o => a + b + d,
            Op::Mul => product(),
            Op::Mad if sat => product().saturating_add(d),
            Op::Mad => product().wrapping_add(d),
            Op::Min => a.min(b),
            Op::Max => a.max(b),
            Op::Avg => wide_integers::avg(a, b),
            Op::Div => wide_integers::div(a, b, !signed),
            Op::Mod => wide_integers::rem(a, b, !signed),
            Op::Shl => wide_integers::shl(a, b, bits),
            Op::Shr => wide_integers::shr(a, b, bits),
            Op::Asr => wide_integers::asr(a, b, bits),
            Op::And => number(a & b),
            Op::Or => number(a | b),
            Op::Xor => number(a ^ b),
            Op::Not => number(!a),
            Op::Bfn => number(wide_integers::bfn(a, b, d, i.aux as u8)),
            op => {
                let reason = format!("{op:?} has no such operands");
                return m.fault(pc, None, Cause::Unsupported { name: "instruction", reason });
            }
        };
        if let (Op::Add3o, Some(ty)) = (i.op, dst) {
            let (low, high) = wide_integers::type_limits(ty);
            holds |= (!(low..=high).contains(&r[k]) as u32) << k;
        }
    }
    match i.op {
        Op::Cmp => return write_comparison::<true>(m, c, pc, mask, holds),
        Op::Add3o => set_predicate(m, c, i.dst2, mask, holds),
        _ => {}
    }
    write(m, c, pc, mask, &r)
}
