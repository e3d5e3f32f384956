//! The types that operands are read by, and the one that an instruction's channels compute in.

use envisa_isa::Type;

use crate::op_facts::{IntegerType, NumericOperands, Operands, Width};
use crate::program::*;

/// Operands of logic and shifts are bits: they are read by the type that says so.
pub(crate) fn retype_as_bits(inst: &mut Inst) {
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
    match inst.op.facts().operands {
        // Copies of the same type copy bits: no rounding, no flushing, no quieting.
        Operands::Copied(n) => {
            let plain = |s: &Src| match s {
                Src::Reg { ty, modifier: Modifier::None, .. }
                | Src::Indirect { ty, modifier: Modifier::None, .. } => Some(*ty),
                _ => None,
            };
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
        Operands::Bits => {
            for s in &mut inst.src {
                set(s, &|t| if t.is_float() { unsigned(t) } else { t });
            }
            if let Dst::Reg { ty, .. } | Dst::Indirect { ty, .. } = &mut inst.dst
                && ty.is_float()
            {
                *ty = unsigned(*ty);
            }
        }
        Operands::FirstUnsigned => set(&mut inst.src[0], &unsigned),
        Operands::FirstSigned => set(&mut inst.src[0], &signed),
        Operands::Rotated => {
            let bits = src_type(&inst.src[0]).map_or(32, |t| t.size() * 8);
            inst.aux = bits;
            set(&mut inst.src[0], &unsigned);
        }
        Operands::AsWritten => {}
    }
    for s in &mut inst.src {
        if let Src::Reg { ty, modifier, .. } | Src::Indirect { ty, modifier, .. } = s
            && ty.is_int()
            && !ty.is_signed()
        {
            // An unsigned number is its own absolute value.
            *modifier = match *modifier {
                Modifier::Abs => Modifier::None,
                Modifier::NegAbs => Modifier::Neg,
                m => m,
            };
        }
    }
}

fn src_type(s: &Src) -> Option<Type> {
    match s {
        Src::Reg { ty, .. } | Src::Indirect { ty, .. } => Some(*ty),
        _ => None,
    }
}

/// The type in which an instruction's channels compute: one that holds every source's value, its modifier
/// applied, and every result that is looked at as a number (chapter 2: results are exact, then brought to the
/// destination's type once).
///
/// Results that are cut need no more bits than the destination has: sums, products, logic. Those that are
/// compared, divided, saturated or converted need their values. [`ExecType::Wide`] holds all of them; the
/// others are for instructions of which the types alone show that they do.
pub fn exec_type(inst: &Inst) -> ExecType {
    if let Some(float) = float_type(inst) {
        return float;
    }
    let usual = usual_type(inst);
    // How many bits of a count are looked at is the type's number of bits.
    if matches!(inst.op.facts().width, Width::First | Width::FirstOrResult) {
        return if values_fit_exec_type(inst, usual) { usual } else { ExecType::Wide };
    }
    let wider = [usual, ExecType::I32, ExecType::U32, ExecType::I64, ExecType::U64];
    let narrow = if sixty_four(inst) { 64 } else { 32 };
    wider
        .into_iter()
        .find(|t| bits_of(*t) >= narrow && values_fit_exec_type(inst, *t))
        .unwrap_or(ExecType::Wide)
}

fn dst_type(inst: &Inst) -> Option<(Type, bool)> {
    match inst.dst {
        Dst::Reg { ty, sat, .. } | Dst::Indirect { ty, sat, .. } => Some((ty, sat)),
        _ => None,
    }
}

/// The type of instructions on floats.
fn float_type(inst: &Inst) -> Option<ExecType> {
    let dst = dst_type(inst).map(|d| d.0);
    let any = |t: Type| inst.src.iter().any(|s| src_type(s) == Some(t));
    let all = |t: Type| inst.src.iter().filter_map(src_type).all(|s| s == t);
    // The destination's type serves if all sources have it. If not, the result is not rounded to one of a
    // source's size before it is to the destination's.
    let rounds = inst.op.facts().rounds_once;
    let wide = match dst {
        Some(Type::Hf | Type::Bf) if rounds => ExecType::Odd,
        _ => ExecType::F32,
    };
    Some(if any(Type::Df) {
        ExecType::F64
    } else if any(Type::F) {
        wide
    } else if any(Type::Hf) {
        if dst.is_none_or(|d| d == Type::Hf) && all(Type::Hf) { ExecType::F16 } else { wide }
    } else if any(Type::Bf) {
        if inst.op.facts().on_bf && dst.is_none_or(|d| d == Type::Bf) { ExecType::Bf16 } else { wide }
    } else {
        return None;
    })
}

/// Is it an integer of 64 bits?
fn is_64_bit_integer(t: Type) -> bool {
    t.size() == 8 && t.is_int()
}

/// Is any operand that matters to the width of the result of 64 bits?
fn sixty_four(inst: &Inst) -> bool {
    let first = src_type(&inst.src[0]).is_some_and(is_64_bit_integer);
    let dst = dst_type(inst).is_some_and(|d| is_64_bit_integer(d.0));
    match inst.op.facts().width {
        Width::First => first,
        Width::FirstOrResult => first || dst,
        Width::Never => false,
        Width::Any => dst || inst.src.iter().filter_map(src_type).any(is_64_bit_integer),
    }
}

fn bits_of(t: ExecType) -> u32 {
    match t {
        ExecType::I64 | ExecType::U64 => 64,
        _ => 32,
    }
}

/// The type that serves the usual operands of an operation on integers.
fn usual_type(inst: &Inst) -> ExecType {
    use ExecType::{I32, I64, U32, U64};
    let sixty_four = sixty_four(inst);
    let of = |narrow, wide| if sixty_four { wide } else { narrow };
    match inst.op.facts().usual {
        IntegerType::U32 => U32,
        IntegerType::Unsigned => of(U32, U64),
        IntegerType::SignOf(source) => match src_type(&inst.src[source]) {
            Some(t) if t.is_signed() => I32,
            _ => U32,
        },
        IntegerType::HighHalf => {
            let all = |t: Type| {
                dst_type(inst).is_some_and(|d| d.0.size() == 4)
                    && inst.src[..2].iter().all(|s| match s {
                        Src::Reg { ty, constant, modifier: Modifier::None, .. } => {
                            *ty == t || (*constant && t.is_signed() == ty.is_signed())
                        }
                        _ => false,
                    })
            };
            if all(Type::Ud) {
                U32
            } else if all(Type::D) {
                I32
            } else {
                I64
            }
        }
        IntegerType::I64 => I64,
        IntegerType::Compared => {
            // The first of these that holds all sources is taken.
            let signed = inst.src.iter().filter_map(src_type).any(|t| t.is_signed());
            if signed { of(I32, I64) } else { of(U32, U64) }
        }
        IntegerType::Copied => match src_type(&inst.src[0]) {
            Some(t) if is_64_bit_integer(t) && !t.is_signed() => U64,
            Some(Type::Ud) => of(U32, I64),
            _ => of(I32, I64),
        },
        IntegerType::Signed => of(I32, I64),
    }
}

/// Values from the first to the second.
type Interval = (i128, i128);

/// The values that a source of an integer type can have, its modifier applied.
fn values(s: &Src) -> Option<Interval> {
    let (Src::Reg { ty, modifier, .. } | Src::Indirect { ty, modifier, .. }) = *s else { return None };
    let bits = ty.size() * 8;
    let (low, high) = match ty {
        Type::B | Type::W | Type::D | Type::Q => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        Type::Ub | Type::Uw | Type::Ud | Type::Uq => (0, (1i128 << bits) - 1),
        _ => return None,
    };
    Some(match modifier {
        Modifier::Neg => (-high, -low),
        Modifier::Abs => (0, high.max(-low)),
        Modifier::NegAbs => (-high.max(-low), 0),
        _ => (low, high),
    })
}

/// Is everything that an instruction on integers looks at as a number held by this type?
fn values_fit_exec_type(inst: &Inst, exec: ExecType) -> bool {
    let (low, high): Interval = match exec {
        ExecType::I32 => (i32::MIN.into(), i32::MAX.into()),
        ExecType::U32 => (0, u32::MAX.into()),
        ExecType::I64 => (i64::MIN.into(), i64::MAX.into()),
        ExecType::U64 => (0, u64::MAX.into()),
        _ => return true,
    };
    let holds = |(a, b): Interval| low <= a && b <= high;
    // An absolute value depends on the sign, which cutting loses.
    let signs = |s: &Src| match s {
        Src::Reg { ty, modifier: Modifier::Abs | Modifier::NegAbs, .. }
        | Src::Indirect { ty, modifier: Modifier::Abs | Modifier::NegAbs, .. } => {
            ty.size() * 8 <= bits_of(exec)
        }
        _ => true,
    };
    if !inst.src.iter().all(signs) {
        return false;
    }
    let source = |i: usize| values(&inst.src[i]);
    let all = |n: usize| (0..n).all(|i| source(i).is_none_or(holds));
    // Cut to what the destination has, or looked at as a number?
    let number = dst_type(inst).is_some_and(|(ty, sat)| sat || !ty.is_int());
    let sum = |n: usize| {
        let all: Option<Vec<Interval>> = (0..n).map(source).collect();
        all.map(|v| v.iter().fold((0, 0), |s, v| (s.0 + v.0, s.1 + v.1)))
    };
    let product = || {
        let ((a, b), (c, d)) = (source(0)?, source(1)?);
        let ends = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| x.saturating_mul(y));
        Some((ends.into_iter().min()?, ends.into_iter().max()?))
    };
    let fits = |v: Option<Interval>| v.is_none_or(holds);
    match inst.op.facts().numbers {
        NumericOperands::Nothing => true,
        NumericOperands::Everything => false,
        NumericOperands::Result => !number,
        NumericOperands::ResultOf(n) => !number || all(n),
        NumericOperands::Sources(n) => all(n),
        NumericOperands::Quotient => {
            let negative = source(1).is_some_and(|d| d.0 < 0);
            all(2) && (!number || !negative || fits(source(0).map(|(a, b)| (a.min(-b), b.max(-a)))))
        }
        NumericOperands::Sum(n) => !number || all(n) && fits(sum(n)),
        NumericOperands::Product => !number || all(2) && fits(product()),
        NumericOperands::ProductAndSum => {
            let both = |p: Option<Interval>| {
                let ((a, b), (c, d)) = (p?, source(2)?);
                Some((a.saturating_add(c), b.saturating_add(d)))
            };
            !number || all(3) && fits(product()) && fits(both(product()))
        }
    }
}
