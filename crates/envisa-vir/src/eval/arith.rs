//! One lane of each operation, by `envisa-sem`.

use envisa_isa::Type as Number;
use envisa_lower::Op;
use envisa_sem::convert;
use envisa_sem::{
    Bf, Float, FpMode, Hf, Int, Lane, MacroMath, MathUnit, Modifier, Relation, int, math, round_to_odd,
    wide_integers,
};

use crate::inst::{Arith, Exact};

/// A lane's operands, as bits.
pub type Operands = [u64; 4];

/// Bit `k` of an operation's `negate`.
fn negates_operand(a: &Arith, k: usize) -> bool {
    a.negate >> k & 1 != 0
}

/// The results of an operation in one lane, the second being 0 if there is none; `None` if the operation has no such
/// type.
pub fn eval_arith(a: &Arith, x: Operands) -> Option<(u64, u64)> {
    if a.odd {
        return (a.number == Number::Df).then(|| round_to_odd(a, x)).flatten();
    }
    let one = |r: Option<u64>| r.map(|r| (r, 0));
    match a.number {
        Number::Ub => one(eval_int::<u8>(a, x)),
        Number::B => one(eval_int::<i8>(a, x)),
        Number::Uw => one(eval_int::<u16>(a, x)),
        Number::W => one(eval_int::<i16>(a, x)),
        Number::Ud => eval_dword(a, x),
        Number::D => one(eval_int::<i32>(a, x).or_else(|| signed_dwords(a, x))),
        Number::Uq => one(eval_int::<u64>(a, x).or_else(|| eval_quad(a, x))),
        Number::Q => signed_quads(a, x).or_else(|| one(eval_int::<i64>(a, x))),
        Number::F => eval_single(a, x),
        Number::Df => eval_double(a, x),
        Number::Hf => one(eval_half(a, x)),
        Number::Bf => one(floats::<Bf>(a, x)),
        Number::V | Number::Vf | Number::Uv | Number::Bool => None,
    }
}

/// Of all integers.
fn eval_int<T: Int>(a: &Arith, x: Operands) -> Option<u64> {
    let s = |k: usize| {
        let v = <T as Lane>::from_bits(x[k]);
        if negates_operand(a, k) { Lane::neg(v) } else { v }
    };
    let (p, q) = (s(0), s(1));
    let count = x[1] as u32;
    Some(Lane::to_bits(match a.op {
        Op::Add => Int::add(p, q),
        Op::Add3 => Int::add3(p, q, s(2)),
        Op::Mul => Int::mul(p, q),
        Op::Mad => Int::mad(p, q, s(2)),
        Op::Min => Ord::min(p, q),
        Op::Max => Ord::max(p, q),
        Op::Avg => Int::avg(p, q),
        Op::Div => Int::div(p, q),
        Op::Mod => Int::rem(p, q),
        Op::And => Int::and(p, q),
        Op::Or => Int::or(p, q),
        Op::Xor => Int::xor(p, q),
        Op::Not => Int::not(p),
        Op::Shl => Int::shl(p, count),
        Op::Shr => Int::shr(p, count),
        Op::Asr => Int::asr(p, count),
        Op::Bfn => Int::bfn(p, q, s(2), a.aux as u8),
        _ => return None,
    }))
}

/// Rotations of so many bits, the rest being zero.
fn eval_rotate(a: &Arith, x: Operands) -> Option<u64> {
    let count = x[1] as u32;
    macro_rules! of {
        ($t:ty) => {
            match a.op {
                Op::Rol => Lane::to_bits(Int::rol(x[0] as $t, count)),
                Op::Ror => Lane::to_bits(Int::ror(x[0] as $t, count)),
                _ => return None,
            }
        };
    }
    Some(match (a.number, a.aux) {
        (Number::Ud, 8) => of!(u8),
        (Number::Ud, 16) => of!(u16),
        (Number::Ud, _) => of!(u32),
        _ => of!(u64),
    })
}

fn eval_dword(a: &Arith, x: Operands) -> Option<(u64, u64)> {
    let [p, q, r, s] = x.map(|x| x as u32);
    let two = |(low, high): (u32, u32)| Some((u64::from(low), u64::from(high)));
    let one = |x: u32| Some((u64::from(x), 0));
    match a.op {
        Op::Addc => two(int::addc(p, q)),
        Op::Subb => two(int::subb(p, q)),
        Op::Mulh => one(int::mulh(p, q)),
        Op::Bfe => one(int::bfe_u(p, q, r)),
        Op::Bfi => one(int::bfi(p, q, r, s)),
        Op::Bfrev => one(int::bfrev(p)),
        Op::Cbit => one(int::cbit(p)),
        Op::Fbh => one(int::fbh_u(p)),
        Op::Fbl => one(int::fbl(p)),
        Op::Lzd => one(int::lzd(p)),
        Op::Dp4a => one(eval_dot_product(a, x) as u32),
        Op::Rol | Op::Ror => eval_rotate(a, x).map(|r| (r, 0)),
        _ => eval_int::<u32>(a, x).map(|r| (r, 0)),
    }
}

fn signed_dwords(a: &Arith, x: Operands) -> Option<u64> {
    let [p, q, r, _] = x.map(|x| x as u32);
    Some(u64::from(match a.op {
        Op::Mulh => int::mulh(p as i32, q as i32),
        Op::Bfe => int::bfe_s(p, q, r as i32) as u32,
        Op::Fbh => int::fbh_s(p as i32),
        _ => return None,
    }))
}

fn eval_quad(a: &Arith, x: Operands) -> Option<u64> {
    match a.op {
        Op::Cbit => Some(u64::from(int::cbit(x[0]))),
        Op::Rol | Op::Ror => eval_rotate(a, x),
        _ => None,
    }
}

/// `madw` gives both halves; `mulh` of quads is the exact product's bits from 32 on.
fn signed_quads(a: &Arith, x: Operands) -> Option<(u64, u64)> {
    let [p, q, r, _] = x.map(|x| x as i64);
    match a.op {
        Op::Mulh => Some((((i128::from(p) * i128::from(q)) >> 32) as u64, 0)),
        Op::Madw => {
            let r = p.wrapping_mul(q).wrapping_add(r) as u64;
            Some((r & 0xffff_ffff, r >> 32))
        }
        Op::Dp4a => Some((eval_dot_product(a, x) as u64, 0)),
        _ => None,
    }
}

/// Source 0 and the dot product of the bytes of the others, whose signs are in `aux`.
fn eval_dot_product(a: &Arith, x: Operands) -> i64 {
    let byte = |x: u64, k: u32, sign: u32| {
        let b = (x >> (8 * k)) as u8;
        if a.aux >> sign & 1 != 0 { i64::from(b as i8) } else { i64::from(b) }
    };
    let products = (0..4).map(|k| byte(x[1], k, 0) * byte(x[2], k, 1));
    (x[0] as i64).wrapping_add(products.sum())
}

/// The operands of an operation on floats, as it takes them.
fn float_operands<T: Float>(a: &Arith, x: Operands) -> [T; 3] {
    let mut s = [0, 1, 2].map(|k| {
        let v = <T as Lane>::from_bits(x[k]);
        // A NaN keeps its sign in a sum.
        if negates_operand(a, k) { Float::summed(Lane::neg(v), Modifier::Neg) } else { v }
    });
    if a.op == Op::Add && negates_operand(a, 0) && !negates_operand(a, 1) {
        s.swap(0, 1);
    }
    s
}

/// Of all floats.
fn floats<T: Float>(a: &Arith, x: Operands) -> Option<u64> {
    let ([p, q, r], m) = (float_operands::<T>(a, x), a.mode);
    Some(Lane::to_bits(match a.op {
        Op::Add => Float::add(p, q, m),
        Op::Mul => Float::mul(p, q, m),
        Op::Mad => Float::mad(p, q, r, m),
        Op::Min => Float::min(p, q, m),
        Op::Max => Float::max(p, q, m),
        _ => return None,
    }))
}

/// Of those that have more than sums and products.
fn eval_other_float<T: Float>(a: &Arith, x: Operands) -> Option<u64> {
    let ([p, q, _], m) = (float_operands::<T>(a, x), a.mode);
    Some(Lane::to_bits(match a.op {
        Op::Div | Op::Divm => Float::div(p, q, m),
        Op::Sqrt | Op::Sqrtm => Float::sqrt(p, m),
        Op::Frc => Float::frc(p, m),
        Op::Rndd => Float::rndd(p, m),
        Op::Rndu => Float::rndu(p, m),
        Op::Rnde => Float::rnde(p, m),
        Op::Rndz => Float::rndz(p, m),
        _ => return floats::<T>(a, x),
    }))
}

/// Of the math unit.
fn eval_math_unit<T: Float + MathUnit>(a: &Arith, x: Operands) -> Option<u64> {
    let ([p, q, _], m) = (float_operands::<T>(a, x), a.mode);
    Some(Lane::to_bits(match a.op {
        Op::Inv => MathUnit::inv(p, m),
        Op::Rsqrt => MathUnit::rsqrt(p, m),
        Op::Exp => MathUnit::exp(p, m),
        Op::Log => MathUnit::log(p, m),
        Op::Pow => MathUnit::pow(p, q, m),
        Op::Sin => MathUnit::sin(p, m),
        Op::Cos => MathUnit::cos(p, m),
        Op::Tanh => MathUnit::tanh(p, m),
        Op::Sigm => MathUnit::sigm(p, m),
        _ => return eval_other_float::<T>(a, x),
    }))
}

fn eval_start_value<T: MacroMath>(a: &Arith, x: Operands) -> Option<(u64, u64)> {
    let [p, q, _] = float_operands::<T>(a, x);
    let (r, early) = match a.op {
        Op::Invm => p.invm(q, a.mode),
        Op::Rsqtm => p.rsqtm(a.mode),
        _ => return None,
    };
    Some((Lane::to_bits(r), early.into()))
}

fn eval_single(a: &Arith, x: Operands) -> Option<(u64, u64)> {
    if a.op == Op::Lrp {
        let [p, q, r] = float_operands::<f32>(a, x);
        return Some((Lane::to_bits(Float::lrp(p, q, r, a.mode)), 0));
    }
    eval_start_value::<f32>(a, x).or_else(|| eval_math_unit::<f32>(a, x).map(|r| (r, 0)))
}

fn eval_double(a: &Arith, x: Operands) -> Option<(u64, u64)> {
    let [p, ..] = float_operands::<f64>(a, x);
    match a.op {
        Op::Inv => Some((math::inv_df(p, a.mode).to_bits(), 0)),
        Op::Rsqrt => Some((math::rsqrt_df(p, a.mode).to_bits(), 0)),
        _ => eval_start_value::<f64>(a, x).or_else(|| eval_other_float::<f64>(a, x).map(|r| (r, 0))),
    }
}

fn eval_half(a: &Arith, x: Operands) -> Option<u64> {
    eval_math_unit::<Hf>(a, x)
}

fn round_to_odd(a: &Arith, x: Operands) -> Option<(u64, u64)> {
    let ([p, q, r], m) = (float_operands::<f64>(a, x), a.mode);
    let r = match a.op {
        Op::Add => round_to_odd::add(p, q, m),
        Op::Mul => round_to_odd::mul(p, q, m),
        Op::Mad => round_to_odd::mad(p, q, r, m),
        Op::Div => round_to_odd::div(p, q, m),
        Op::Sqrt => round_to_odd::sqrt(p, m),
        _ => return None,
    };
    Some((r.to_bits(), 0))
}

/// A modifier in one lane.
pub fn apply_modifier(number: Number, m: Modifier, x: u64) -> u64 {
    macro_rules! of {
        ($t:ty) => {
            Lane::to_bits(Lane::modify(<$t as Lane>::from_bits(x), m))
        };
    }
    match number {
        Number::Ub | Number::Bool => of!(u8),
        Number::B => of!(i8),
        Number::Uw => of!(u16),
        Number::W => of!(i16),
        Number::Ud | Number::V | Number::Uv | Number::Vf => of!(u32),
        Number::D => of!(i32),
        Number::Uq => of!(u64),
        Number::Q => of!(i64),
        Number::F => of!(f32),
        Number::Df => of!(f64),
        Number::Hf => of!(Hf),
        Number::Bf => of!(Bf),
    }
}

/// Does a relation hold in one lane?
pub fn compare(number: Number, r: Relation, mode: FpMode, x: u64, y: u64) -> bool {
    macro_rules! float {
        ($t:ty) => {
            <$t as Lane>::from_bits(x).compare(r, <$t as Lane>::from_bits(y), mode)
        };
    }
    match number {
        Number::F => float!(f32),
        Number::Df => float!(f64),
        Number::Hf => float!(Hf),
        Number::Bf => float!(Bf),
        int => r.holds(wide_integers::value(int, x), wide_integers::value(int, y)),
    }
}

/// A conversion in one lane: see [`Inst::Convert`](crate::Inst::Convert).
pub fn convert_lane(from: Number, to: Number, sat: bool, operand: bool, mode: FpMode, x: u64) -> u64 {
    macro_rules! flushed {
        ($t:ty) => {
            Lane::to_bits(Float::flush(<$t as Lane>::from_bits(x), mode))
        };
    }
    let x = match from {
        _ if !operand || from == to => x,
        Number::F => flushed!(f32),
        Number::Df => flushed!(f64),
        Number::Hf => flushed!(Hf),
        Number::Bf => flushed!(Bf),
        _ => x,
    };
    convert::convert(to, from, x, mode, sat).unwrap_or(0)
}

/// An operation by values in one lane: the result, and what holds (a relation, an overflow). `None` if there is no
/// such operation.
pub fn eval_exact(e: &Exact, x: Operands) -> Option<(u64, bool)> {
    let s = |k: usize| {
        e.from.get(k).map_or(0, |(ty, m)| wide_integers::apply_modifier(wide_integers::value(*ty, x[k]), *m))
    };
    let (a, b, d) = (s(0), s(1), s(2));
    let ty = |k: usize| e.from.get(k).map(|f| f.0);
    let eight = |t: Option<Number>| t.is_some_and(|t| t.size() == 8);
    let bits = if eight(ty(0)) || e.op != Op::Cmp && e.to.size() == 8 { 64 } else { 32 };
    let signed = e.from.iter().any(|f| f.0.is_signed());
    // What is not cut below: the numbers that logic makes of bits.
    let number = |x: i128| {
        let of = |signed, unsigned, is: bool| if is { signed } else { unsigned };
        let quad = bits == 64 || eight(ty(1)) || eight(ty(2));
        let ty = if quad { of(Number::Q, Number::Uq, signed) } else { of(Number::D, Number::Ud, signed) };
        wide_integers::value(ty, x as u64)
    };
    let product = || if e.sat { a.saturating_mul(b) } else { a.wrapping_mul(b) };
    let r = match e.op {
        Op::Mov => a,
        Op::Cmp => {
            let relation = Relation::from_code(e.aux as u8).unwrap_or(Relation::Eq);
            return Some((0, relation.holds(a, b)));
        }
        Op::Add => a + b,
        Op::Add3 | Op::Add3o => a + b + d,
        Op::Mul => product(),
        Op::Mad if e.sat => product().saturating_add(d),
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
        Op::Bfn => number(wide_integers::bfn(a, b, d, e.aux as u8)),
        _ => return None,
    };
    let (low, high) = if e.to.is_int() { wide_integers::type_limits(e.to) } else { (i128::MIN, i128::MAX) };
    let overflows = e.op == Op::Add3o && !(low..=high).contains(&r);
    let bits = match wide_integers::to_float(e.to, r, e.sat, e.mode) {
        Some(bits) => bits,
        None if e.sat => wide_integers::clamp(e.to, r),
        None => wide_integers::truncate_to_type(e.to, r),
    };
    Some((bits, overflows))
}
