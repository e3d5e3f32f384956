//! The hyperbolic tangent and the logistic function.

use super::{LOG2E, exp2_small_pair, fast_two_sum, horner, two_product};
use crate::lanes::{Lanes, Rounded, SIGN};

/// e^−(a·k), for a ≥ 0 and k 1 or 2, as (high + low) · 2^n; `a` is moved below what the result is 0 from, NaN
/// too.
#[inline(always)]
fn decay<L: Lanes>(l: &mut L, a: L::V, k: f32) -> (L::V, L::V, Rounded<L::V>) {
    // e^-105 = 2^-151.5.
    let limit = l.float(105.0 / k);
    let a = l.min(a, limit);
    // −k / ln 2 in two parts.
    let [c, d] = LOG2E.map(|c| l.float(-k * f32::from_bits(c)));
    let (t, rest) = two_product(l, a, c);
    let rest = l.fma(a, d, rest);
    let n = l.round(t);
    let r = l.sub(t, n.float);
    let (r, s) = fast_two_sum(l, r, rest);
    let (high, low) = exp2_small_pair(l, r, s);
    (high, low, n)
}

/// The quotient of two numbers, given as values and errors, as a value and a correction.
#[inline(always)]
fn quotient<L: Lanes>(l: &mut L, a: (L::V, L::V), b: (L::V, L::V)) -> (L::V, L::V) {
    let one = l.float(1.0);
    let inverse = l.div(one, b.0);
    let q = l.mul(a.0, inverse);
    let rest = l.fnma(q, b.0, a.0);
    let rest = l.add(rest, a.1);
    let rest = l.fnma(q, b.1, rest);
    (q, l.mul(rest, inverse))
}

/// 1 + (high + low) 2^n, for a power of at most 1.
#[inline(always)]
fn one_plus<L: Lanes>(l: &mut L, (high, low, n): (L::V, L::V, Rounded<L::V>)) -> (L::V, L::V) {
    let one = l.float(1.0);
    let s = l.scale(one, n);
    let high = l.mul(high, s);
    let (sum, rest) = fast_two_sum(l, one, high);
    (sum, l.fma(low, s, rest))
}

/// `y`, or `x` where that is NaN.
#[inline(always)]
fn quiet<L: Lanes>(l: &mut L, x: L::V, y: L::V) -> L::V {
    let no_number = l.unordered(x, x);
    let same = l.add(x, x);
    l.select(no_number, same, y)
}

/// tanh x, within 0.78 units. −0 gives −0.
#[inline(always)]
pub fn tanh<L: Lanes>(l: &mut L, x: L::V) -> L::V {
    // (tanh a − a) / a³ in a²: error 2^-27.7 of tanh a up to the bound, from where 1 − 2e^−2a / (1 + e^−2a)
    // cancels at most one bit.
    const SMALL: f32 = 0.55;
    const P: [u32; 5] = [0xbeaa_aaa6, 0x3e08_866a, 0xbd5c_8721, 0x3cac_1024, 0xbbc9_efdc];
    let sign = l.bits(SIGN);
    let sign = l.and(x, sign);
    let a = l.xor(x, sign);
    let z = l.mul(a, a);
    let p = horner(l, &P, z);
    let cube = l.mul(z, a);
    let small = l.fma(cube, p, a);
    let (high, low, n) = decay(l, a, 2.0);
    let b = one_plus(l, (high, low, n));
    // 2e^−2a.
    let (one, two) = (l.float(1.0), l.float(2.0));
    let s = l.scale(two, n);
    let high = l.mul(high, s);
    let low = l.mul(low, s);
    let (q, rest) = quotient(l, (high, low), b);
    let y = l.sub(one, q);
    let lost = l.sub(one, y);
    let lost = l.sub(lost, q);
    let rest = l.sub(lost, rest);
    let y = l.add(y, rest);
    let bound = l.float(SMALL);
    let is_small = l.lt(a, bound);
    let y = l.select(is_small, small, y);
    let y = l.or(y, sign);
    quiet(l, x, y)
}

/// 1 / (1 + e^−x), within 0.7 units where the result is normal, 0.8 below.
#[inline(always)]
pub fn sigm<L: Lanes>(l: &mut L, x: L::V) -> L::V {
    let a = l.abs(x);
    let (high, low, n) = decay(l, a, 1.0);
    let b = one_plus(l, (high, low, n));
    // 1 / b, or for a negative x e^x / b.
    let (one, zero) = (l.float(1.0), l.float(0.0));
    let negative = l.lt(x, zero);
    let high = l.select(negative, high, one);
    let low = l.select(negative, low, zero);
    let (q, rest) = quotient(l, (high, low), b);
    let y = l.add(q, rest);
    let scaled = l.scale(y, n);
    let y = l.select(negative, scaled, y);
    quiet(l, x, y)
}
