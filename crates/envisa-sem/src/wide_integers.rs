//! Integers of all types in one wide type, for operations whose sources and results fit no single element type.
//!
//! An operand is its value, its modifier applied: minus the smallest `d` is 2^31, minus a `ud` is negative
//! (chapter 2: "extra precision is provided within the hardware"). Results are exact, and [`truncate_to_type`], [`clamp`]
//! or [`to_float`] brings them to the destination's type once. Sums and products of such values pass no
//! `i128` by more than cutting to 64 bits forgives or clamping hides: those that clamp saturate, those that
//! cut wrap.

use envisa_isa::Type;

use crate::convert::Convert;
use crate::float::Float;
use crate::float_mode::Mode;
use crate::lane::{Bf, Hf, Lane};
use crate::{Modifier, exact_arithmetic};

/// An element's value: of an integer type's bits.
#[inline]
pub fn value(ty: Type, bits: u64) -> i128 {
    match ty {
        Type::B => bits as i8 as i128,
        Type::W => bits as i16 as i128,
        Type::D => bits as i32 as i128,
        Type::Q => bits as i64 as i128,
        Type::Ub | Type::Bool => bits as u8 as i128,
        Type::Uw => bits as u16 as i128,
        Type::Uq => bits as i128,
        _ => bits as u32 as i128,
    }
}

/// A source modifier.
#[inline]
pub fn apply_modifier(x: i128, m: Modifier) -> i128 {
    match m {
        Modifier::None | Modifier::Sat => x,
        Modifier::Neg => -x,
        Modifier::Abs => x.abs(),
        Modifier::NegAbs => -x.abs(),
        Modifier::Not => !x,
    }
}

/// The low bits, as an element of `ty`.
#[inline]
pub fn truncate_to_type(ty: Type, x: i128) -> u64 {
    x as u64 & u64::MAX >> (64 - 8 * ty.size())
}

/// The nearest value of an integer type, as its bits.
#[inline]
pub fn clamp(ty: Type, x: i128) -> u64 {
    let (low, high) = type_limits(ty);
    truncate_to_type(ty, x.clamp(low, high))
}

/// The smallest and the largest value of an integer type.
pub fn type_limits(ty: Type) -> (i128, i128) {
    let bits = 8 * ty.size();
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// The float of type `ty` nearest in the mode's direction, as its bits, with or without saturation; `None` if
/// `ty` is not a float.
pub fn to_float<M: Mode>(ty: Type, x: i128, sat: bool, m: M) -> Option<u64> {
    fn finished<T: Float + Convert<T>, M: Mode>(x: i128, sat: bool, m: M) -> u64 {
        let bits = exact_arithmetic::from_int(T::FORMAT, x, m.rounding());
        let x = <T as Lane>::from_bits(bits).finish(m);
        Lane::to_bits(if sat { x.saturate() } else { x })
    }
    Some(match ty {
        Type::F => finished::<f32, M>(x, sat, m),
        Type::Df => finished::<f64, M>(x, sat, m),
        Type::Hf => finished::<Hf, M>(x, sat, m),
        Type::Bf => finished::<Bf, M>(x, sat, m),
        _ => return None,
    })
}

/// The quotient, towards zero. By zero, what [`crate::Int::div`] gives in 64 bits: the largest number, of a
/// negative numerator the smallest; all ones if `unsigned`.
pub fn div(a: i128, b: i128, unsigned: bool) -> i128 {
    match (b, unsigned) {
        (0, true) => u64::MAX.into(),
        (0, false) if a < 0 => i64::MIN.into(),
        (0, false) => i64::MAX.into(),
        _ => a / b,
    }
}

/// The remainder, with the numerator's sign. By zero: as [`div`].
pub fn rem(a: i128, b: i128, unsigned: bool) -> i128 {
    if b == 0 { div(a, b, unsigned) } else { a % b }
}

/// `a << count`, of which `bits` (32 or 64) say how much of the count is looked at.
pub fn shl(a: i128, count: i128, bits: u32) -> i128 {
    a << (count as u32 & (bits - 1))
}

/// The `bits` low bits (32 or 64), shifted right logically.
pub fn shr(a: i128, count: i128, bits: u32) -> i128 {
    (a & ((1 << bits) - 1)) >> (count as u32 & (bits - 1))
}

/// `a >> count`, the sign coming in.
pub fn asr(a: i128, count: i128, bits: u32) -> i128 {
    a >> (count as u32 & (bits - 1))
}

/// `⌊(a + b + 1) / 2⌋`.
pub fn avg(a: i128, b: i128) -> i128 {
    (a + b + 1) >> 1
}

/// Any Boolean function of three sources: bit `s0 + 2·s1 + 4·s2` of `table`.
pub fn bfn(a: i128, b: i128, c: i128, table: u8) -> i128 {
    (0..8).filter(|row| table >> row & 1 != 0).fold(0, |out, row| {
        let pick = |s: i128, bit: u8| if row >> bit & 1 != 0 { s } else { !s };
        out | pick(a, 0) & pick(b, 1) & pick(c, 2)
    })
}
