//! The types that operands are read by, and the one that an instruction's channels compute in.

use envisa_isa::Type;

use crate::program::*;

/// Operands of logic and shifts are bits: they are read by the type that says so.
pub(crate) fn retype(inst: &mut Inst) {
    let unsigned = |t: Type| match t.size() {
        1 => Type::Ub,
        2 => Type::Uw,
        4 => Type::Ud,
        _ => Type::Uq,
    };
    let signed = |t: Type| match t.size() {
        1 => Type::B,
        2 => Type::W,
        4 => Type::D,
        _ => Type::Q,
    };
    let set = |s: &mut Src, f: &dyn Fn(Type) -> Type| match s {
        Src::Reg { ty, .. } | Src::Indirect { ty, .. } => *ty = f(*ty),
        _ => {}
    };
    match inst.op {
        // Copies of the same type copy bits: no rounding, no flushing, no quieting.
        Op::Mov | Op::Sel => {
            let plain = |s: &Src| match s {
                Src::Reg { ty, modifier: Modifier::None, .. }
                | Src::Indirect { ty, modifier: Modifier::None, .. } => Some(*ty),
                _ => None,
            };
            let n = if inst.op == Op::Mov { 1 } else { 2 };
            let (Dst::Reg { ty: to, sat: false, .. } | Dst::Indirect { ty: to, sat: false, .. }) = inst.dst
            else {
                return;
            };
            if to.is_float() && inst.src[..n].iter().all(|s| plain(s) == Some(to)) {
                for s in &mut inst.src[..n] {
                    set(s, &unsigned);
                }
                if let Dst::Reg { ty, .. } | Dst::Indirect { ty, .. } = &mut inst.dst {
                    *ty = unsigned(*ty);
                }
            }
        }
        // Sign extension matters to logic of mixed sizes, so only floats are retyped.
        Op::And | Op::Or | Op::Xor | Op::Not | Op::Bfn => {
            for s in &mut inst.src {
                set(s, &|t| if t.is_float() { unsigned(t) } else { t });
            }
            if let Dst::Reg { ty, .. } | Dst::Indirect { ty, .. } = &mut inst.dst
                && ty.is_float()
            {
                *ty = unsigned(*ty);
            }
        }
        Op::Shr => set(&mut inst.src[0], &unsigned),
        Op::Asr => set(&mut inst.src[0], &signed),
        Op::Rol | Op::Ror => {
            let bits = src_type(&inst.src[0]).map_or(32, |t| t.size() * 8);
            inst.aux = bits;
            set(&mut inst.src[0], &unsigned);
        }
        _ => {}
    }
}

fn src_type(s: &Src) -> Option<Type> {
    match s {
        Src::Reg { ty, .. } | Src::Indirect { ty, .. } => Some(*ty),
        _ => None,
    }
}

/// The type in which an instruction's channels compute (chapter 2: the widest source's, and for integers
/// wide enough that the result is exact modulo the destination's width).
pub fn exec_type(inst: &Inst) -> ExecType {
    let dst = match inst.dst {
        Dst::Reg { ty, .. } | Dst::Indirect { ty, .. } => Some(ty),
        _ => None,
    };
    let sat = matches!(inst.dst, Dst::Reg { sat: true, .. } | Dst::Indirect { sat: true, .. });
    let sources: Vec<Type> = inst.src.iter().filter_map(src_type).collect();
    let any = |t: Type| sources.contains(&t);
    if any(Type::Df) {
        return ExecType::F64;
    }
    if any(Type::F) {
        return ExecType::F32;
    }
    if any(Type::Hf) {
        // With a float destination the intermediate result is not rounded to a half.
        return if dst.is_none_or(|d| d == Type::Hf) && sources.iter().all(|t| *t == Type::Hf) {
            ExecType::F16
        } else {
            ExecType::F32
        };
    }
    if any(Type::Bf) {
        return if dst.is_none_or(|d| d == Type::Bf) { ExecType::Bf16 } else { ExecType::F32 };
    }
    // A move to a float rounds once, from the integer itself.
    let wide = |t: Type| t.size() == 8 && t.is_int();
    let sixty_four = sources.iter().any(|t| wide(*t)) || dst.is_some_and(wide);
    match inst.op {
        Op::Addc | Op::Subb | Op::Bfi | Op::Bfrev | Op::Fbl | Op::Lzd => ExecType::U32,
        Op::Cbit => {
            if sixty_four {
                ExecType::U64
            } else {
                ExecType::U32
            }
        }
        Op::Bfe | Op::Fbh => match src_type(&inst.src[if inst.op == Op::Bfe { 2 } else { 0 }]) {
            Some(t) if t.is_signed() => ExecType::I32,
            _ => ExecType::U32,
        },
        Op::Shl if sat => ExecType::I64,
        Op::Shl => {
            if sixty_four {
                ExecType::I64
            } else {
                ExecType::I32
            }
        }
        Op::Shr | Op::Rol | Op::Ror => {
            if sixty_four {
                ExecType::U64
            } else {
                ExecType::U32
            }
        }
        Op::Asr => {
            if sixty_four {
                ExecType::I64
            } else {
                ExecType::I32
            }
        }
        Op::Cmp | Op::Min | Op::Max | Op::Div | Op::Mod | Op::Avg => {
            // Immediates that are not negative take either sign.
            let unsigned = |t: &Type| !t.is_signed();
            let mut needs_signed = false;
            let mut needs_unsigned = false;
            for s in &inst.src {
                if let Some(t) = src_type(s) {
                    needs_signed |= t.is_signed();
                    needs_unsigned |= unsigned(&t) && t.size() == if sixty_four { 8 } else { 4 };
                }
            }
            match (needs_signed, needs_unsigned, sixty_four) {
                (false, _, false) => ExecType::U32,
                (false, _, true) => ExecType::U64,
                (true, false, false) => ExecType::I32,
                (true, _, _) => ExecType::I64,
            }
        }
        // The high half depends on each source's own sign: 64 bits hold the exact product.
        Op::Mulh => {
            let all = |t: Type| {
                dst.is_some_and(|d| d.size() == 4)
                    && inst.src[..2].iter().all(|s| match s {
                        Src::Reg { ty, constant, .. } => {
                            *ty == t || (*constant && t.is_signed() == ty.is_signed())
                        }
                        _ => false,
                    })
            };
            if all(Type::Ud) {
                ExecType::U32
            } else if all(Type::D) {
                ExecType::I32
            } else {
                ExecType::I64
            }
        }
        Op::Madw => ExecType::I64,
        // Exact, then clamped.
        Op::Add | Op::Add3 | Op::Mul | Op::Mad if sat => ExecType::I64,
        // Both signs, clamped: 64 bits hold either.
        Op::Sel if sat && any(Type::Ud) && sources.iter().any(|t| t.is_signed()) => ExecType::I64,
        Op::Mov | Op::Sel => match (sources.first(), sixty_four) {
            // Unsigned and signed differ only in saturation and in conversion to a float.
            (Some(t), _) if wide(*t) && !t.is_signed() => ExecType::U64,
            (_, true) => ExecType::I64,
            (Some(Type::Ud), false) => ExecType::U32,
            _ => ExecType::I32,
        },
        _ => {
            if sixty_four {
                ExecType::I64
            } else {
                ExecType::I32
            }
        }
    }
}
