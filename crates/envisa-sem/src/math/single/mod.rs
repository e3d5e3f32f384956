//! The math unit's functions over singles, each written once over [`Lanes`].
//!
//! Polynomials are minimax fits (Remez's algorithm in 60 digits, weighted by the result's size), their
//! coefficients then rounded to singles; what stands beside each is the relative error of the fit with
//! those coefficients. Errors of the whole functions over every single are in docs/MATH.md.

mod hyperbolic;
mod power;
mod trig;

pub use hyperbolic::{sigm, tanh};
pub use power::pow;
pub use trig::{cos, sin};

use crate::lanes::{INFINITY, Lanes, NORMAL};

/// The bits of a quiet NaN.
const NAN: u32 = 0x7fc0_0000;
/// ln 2, rounded.
const LN2: u32 = 0x3f31_7218;
/// 1 / ln 2 in two parts.
const LOG2E: [u32; 2] = [0x3fb8_aa3b, 0x32a5_7060];

/// The sum, rounded, and the rounding error, exactly.
#[inline(always)]
fn two_sum<L: Lanes>(l: &mut L, a: L::V, b: L::V) -> (L::V, L::V) {
    let s = l.add(a, b);
    let t = l.sub(s, a);
    let u = l.sub(s, t);
    let (u, t) = (l.sub(a, u), l.sub(b, t));
    (s, l.add(u, t))
}

/// The same where `a` is 0, or not smaller than `b` in magnitude, or a multiple of `b`'s unit in the last
/// place.
#[inline(always)]
fn fast_two_sum<L: Lanes>(l: &mut L, a: L::V, b: L::V) -> (L::V, L::V) {
    let s = l.add(a, b);
    let t = l.sub(a, s);
    (s, l.add(t, b))
}

/// The product, rounded, and the rounding error, exactly (but for underflow).
#[inline(always)]
fn two_product<L: Lanes>(l: &mut L, a: L::V, b: L::V) -> (L::V, L::V) {
    let p = l.mul(a, b);
    (p, l.fms(a, b, p))
}

/// `c[0] + x (c[1] + x (c[2] + …))`, the constants by their bits.
#[inline(always)]
fn horner<L: Lanes, const N: usize>(l: &mut L, c: &[u32; N], x: L::V) -> L::V {
    let mut sum = l.bits(c[N - 1]);
    for i in (0..N - 1).rev() {
        let c = l.bits(c[i]);
        sum = l.fma(sum, x, c);
    }
    sum
}

/// Where `x` is not within (0, ∞): negative, ±0, +∞, NaN.
#[inline(always)]
fn not_positive<L: Lanes>(l: &mut L, x: L::V) -> L::M {
    let (one, last) = (l.bits(1), l.bits(INFINITY - 2));
    let x = l.isub(x, one);
    l.ult(last, x)
}

/// `x` if it is normal; a denormal times 2^24; and whether it is denormal. For `x` that are not negative.
#[inline(always)]
fn normalized<L: Lanes>(l: &mut L, x: L::V) -> (L::V, L::M) {
    let least = l.bits(NORMAL);
    let scale = l.float(16_777_216.0);
    let denormal = l.ilt(x, least);
    let scaled = l.mul(x, scale);
    (l.select(denormal, scaled, x), denormal)
}

/// `1 / x`, correctly rounded. ±0 gives ±∞, ±∞ gives ±0.
#[inline(always)]
pub fn inv<L: Lanes>(l: &mut L, x: L::V) -> L::V {
    let one = l.float(1.0);
    l.div(one, x)
}

/// `1 / √x`, within 0.995 units. ±0 gives ±∞, +∞ gives +0, negative NaN.
#[inline(always)]
pub fn rsqrt<L: Lanes>(l: &mut L, x: L::V) -> L::V {
    // Halving the exponent by a shift gives a start, 0.794 times too small within 3.5 %; so scaled, a step
    // of Newton's needs one constant, and leaves it within 0.07 %. The residual e = 1 − (x y) y is less than
    // 0.15 %, and (1 − e)^-½ − 1 as a quadratic in e as good as exact: what is lost is the rounding of x y,
    // which is normal where y² may not be. (To cut y to 11 bits, whose square is exact, would leave 0.53
    // units, for a twelfth of the time.)
    const START: u32 = 0x5f0b_3581;
    const STEP: u32 = 0x3ff2_1638;
    const LAST: [u32; 2] = [0x3f00_0018, 0x3ebf_fe00];
    /// Of a normal number.
    #[inline(always)]
    fn usual<L: Lanes>(l: &mut L, a: L::V) -> L::V {
        let (start, step) = (l.bits(START), l.bits(STEP));
        let half = l.shr(a, 1);
        let y = l.isub(start, half);
        let s = l.mul(y, y);
        let q = l.fnma(a, s, step);
        let y = l.mul(y, q);
        let t = l.mul(a, y);
        let one = l.float(1.0);
        let e = l.fnma(t, y, one);
        let q = horner(l, &LAST, e);
        let e = l.mul(y, e);
        l.fma(e, q, y)
    }
    let y = usual(l, x);
    let special = l.not_normal(x);
    let [y] = l.rarely(special, [y], |l| {
        let (infinity, nan, zero) = (l.bits(INFINITY), l.bits(NAN), l.bits(0));
        let (scale, back) = (l.float(16_777_216.0), l.float(4096.0));
        let a = l.mul(x, scale);
        let y = usual(l, a);
        let y = l.mul(y, back);
        let infinite = l.or(x, infinity);
        let quiet = l.add(x, x);
        let is_zero = l.eq(x, zero);
        let negative = l.lt(x, zero);
        let beyond = l.ult(x, infinity);
        let y = l.select(beyond, y, quiet);
        let y = l.select(is_zero, infinite, y);
        let y = l.select(negative, nan, y);
        let is_infinite = l.ieq(x, infinity);
        [l.select(is_infinite, zero, y)]
    });
    y
}

/// 2^r for |r| ≤ ½ (and a little more) as the sum of two parts, within 2^-28; the second is below 0.06.
#[inline(always)]
fn exp2_small<L: Lanes>(l: &mut L, r: L::V) -> (L::V, L::V) {
    // (2^r − 1) / r − LN2: error 2^-28.4 of 2^r.
    const REST: [u32; 6] = [0x330b_9a76, 0x3e75_fdf1, 0x3d63_5756, 0x3c1d_9560, 0x3aaf_a89f, 0x3921_7c20];
    let (one, ln2) = (l.float(1.0), l.bits(LN2));
    let q = horner(l, &REST, r);
    let high = l.fma(r, ln2, one);
    let low = l.sub(one, high);
    let low = l.fma(r, ln2, low);
    (high, l.fma(r, q, low))
}

/// The same for `r + s`, `s` being tiny beside `r`, as a value and its error.
#[inline(always)]
fn exp2_small_pair<L: Lanes>(l: &mut L, r: L::V, s: L::V) -> (L::V, L::V) {
    let ln2 = l.bits(LN2);
    let (high, low) = exp2_small(l, r);
    let s = l.mul(s, ln2);
    let low = l.fma(s, high, low);
    fast_two_sum(l, high, low)
}

/// 2^x, within 0.78 units where the result is normal, 0.9 below. −∞ gives 0, +∞ gives +∞.
#[inline(always)]
pub fn exp2<L: Lanes>(l: &mut L, x: L::V) -> L::V {
    // (2^r − 1) / r: error 2^-27.5 of 2^r.
    const P: [u32; 6] = [0x3f31_7219, 0x3e75_fdf3, 0x3d63_56a2, 0x3c1d_90f0, 0x3aaf_f5eb, 0x3925_966c];
    let (r, n) = l.split(x);
    let q = horner(l, &P, r);
    let one = l.float(1.0);
    let p = l.fma(r, q, one);
    l.scale(p, n)
}

/// The same of `x` that is integral, infinite or NaN, with the same bits.
#[inline(always)]
pub fn exp2_integral<L: Lanes>(l: &mut L, x: L::V) -> L::V {
    // Of no rest the polynomial is 1.
    l.power_of_two(x)
}

/// log2 x, within 0.96 units. ±0 gives −∞, negative NaN, +∞ gives +∞.
#[inline(always)]
pub fn log2<L: Lanes>(l: &mut L, x: L::V) -> L::V {
    // x = 2^e (1 + f), 1 + f in [√½, √2). log2(1 + f) = f / ln 2 + f p(f), the first product exact; the
    // polynomial's error is 2^-27.8 of the logarithm.
    const LEAST: u32 = 0x3f35_04f3;
    const P: [u32; 10] = [
        0x3296_f4cc,
        0xbf38_aa38,
        0x3ef6_384c,
        0xbeb8_ad44,
        0x3e93_bf1c,
        0xbe75_5e3c,
        0x3e51_82f7,
        0xbe43_a51e,
        0x3e3e_a304,
        0xbde1_2738,
    ];
    /// Of a normal number, and of one whose exponent is too large by `shift`.
    #[inline(always)]
    fn usual<L: Lanes>(l: &mut L, a: L::V, shift: Option<f32>) -> L::V {
        let (least, one) = (l.bits(LEAST), l.float(1.0));
        let e = l.isub(a, least);
        let e = l.sar(e, 23);
        let field = l.shl(e, 23);
        let f = l.isub(a, field);
        let f = l.sub(f, one);
        let mut e = l.int_to_float(e);
        if let Some(shift) = shift {
            let shift = l.float(shift);
            e = l.sub(e, shift);
        }
        let p = horner(l, &P, f);
        let p = l.mul(f, p);
        let c = l.bits(LOG2E[0]);
        let y = l.fma(f, c, p);
        l.add(e, y)
    }
    let y = usual(l, x, None);
    let special = l.not_normal(x);
    let [y] = l.rarely(special, [y], |l| {
        let (nan, zero, lowest) = (l.bits(NAN), l.bits(0), l.float(f32::NEG_INFINITY));
        let (infinity, scale) = (l.bits(INFINITY), l.float(16_777_216.0));
        let a = l.mul(x, scale);
        let y = usual(l, a, Some(24.0));
        // +∞ and NaN.
        let same = l.add(x, x);
        let finite = l.ult(x, infinity);
        let is_zero = l.eq(x, zero);
        let negative = l.lt(x, zero);
        let y = l.select(finite, y, same);
        let y = l.select(negative, nan, y);
        [l.select(is_zero, lowest, y)]
    });
    y
}
