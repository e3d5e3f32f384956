//! Arithmetic on sources of up to `f` whose results go to a narrower float: in `df`, rounded to odd.
//!
//! The conversion to the destination's format then rounds as if from the exact result: rounding to odd keeps
//! whether something was cut off, in a bit far below those that the narrower format has. (Rounding to `f` first
//! would round twice.) Products of singles are exact in `df`.

use crate::float::{Float, add_odd, div_odd, sqrt_odd};
use crate::float_mode::Mode;
use crate::lane::Lane;

/// `a + b` (page ADD).
#[inline(always)]
pub fn add<M: Mode>(a: f64, b: f64, m: M) -> f64 {
    add_odd(a, b, m.rounding()).settled(m, [a, b])
}

/// `a · b` (page MUL).
#[inline(always)]
pub fn mul<M: Mode>(a: f64, b: f64, m: M) -> f64 {
    (a * b).settled(m, [a, b])
}

/// `a · b + c` (page MAD).
#[inline(always)]
pub fn mad<M: Mode>(a: f64, b: f64, c: f64, m: M) -> f64 {
    add_odd(a * b, c, m.rounding()).settled(m, [a, b, c])
}

/// `a / b` (page DIV).
#[inline(always)]
pub fn div<M: Mode>(a: f64, b: f64, m: M) -> f64 {
    div_odd(a, b).settled(m, [a, b])
}

/// `√a` (page SQRT); in ALT mode `√|a|`.
#[inline(always)]
pub fn sqrt<M: Mode>(a: f64, m: M) -> f64 {
    sqrt_odd(if m.alt() { Lane::abs(a) } else { a }).settled(m, [a])
}
