//! Sine and cosine.

use super::{INFINITY, NAN, fast_two_sum, horner, two_product, two_sum};
use crate::lanes::{Lanes, SIGN};

/// π/2 in three parts of 24 bits.
const PIO2: [u32; 3] = [0x3fc9_0fdb, 0xb33b_bd2e, 0xa6f7_2ced];
/// 2/π.
const TWO_OVER_PI: u32 = 0x3f22_f983;
/// 2^16: up to here [`reduce_small`] reduces, from here [`reduce_large`].
const FAR: u32 = 0x4780_0000;

/// An argument less a multiple of π/2: the rest in [−π/4, π/4] (and a little more) as a value and its error, and
/// the multiple modulo 4 in the low bits.
type Reduced<V> = [V; 3];

/// Reduces `a` in [0, 2^16): with the multiple n below 2^16, the first step is exact (a multiple of 2^-24
/// below 1), and the other two are taken in two parts.
#[inline(always)]
fn reduce_small<L: Lanes>(l: &mut L, a: L::V) -> Reduced<L::V> {
    let [c0, c1, c2] = PIO2.map(|c| l.bits(c));
    let inverse = l.bits(TWO_OVER_PI);
    let q = l.mul(a, inverse);
    let n = l.round(q);
    let r = l.fnma(n.float, c0, a);
    let (t, rest) = two_product(l, n.float, c1);
    // `r` is a multiple of 2^-24, the last place of `t` below that.
    let high = l.sub(r, t);
    let low = l.sub(r, high);
    let low = l.sub(low, t);
    let low = l.sub(low, rest);
    let low = l.fnma(n.float, c2, low);
    [high, low, n.bits]
}

/// Reduces `a` from 2^16 up; infinity and NaN give NaN.
///
/// After Payne and Hanek: a = y 2^(8g − 7) with y an integer of 24 significant bits in [2^23, 2^31), so that
/// of 2^(8g − 7) · 2/π only what it is modulo 4 counts, which a table of 16 has in four singles.
#[inline(always)]
fn reduce_large<L: Lanes>(l: &mut L, a: L::V) -> Reduced<L::V> {
    /// The exponent field of 2^16, times 2^23.
    const FIRST: u32 = (127 + 16) << 23;
    let first = l.bits(FIRST);
    let g = l.isub(a, first);
    let g = l.shr(g, 26);
    let down = l.shl(g, 26);
    let y = l.isub(a, down);
    let up = l.bits(7 << 23);
    let y = l.iadd(y, up);
    let [t0, t1, t2, t3] = [0, 1, 2, 3].map(|i| l.table(&POWERS[i], g));
    // The product's parts by size: up to 2^32, 2^8, 2^7, 2^-17, 2^-17, 2^-41.
    let (p0, q0) = two_product(l, y, t0);
    let (p1, q1) = two_product(l, y, t1);
    let (p2, q2) = two_product(l, y, t2);
    let q2 = l.fma(y, t3, q2);
    let (quarter, four) = (l.float(0.25), l.float(4.0));
    let fours = l.mul(p0, quarter);
    let fours = l.rint(fours);
    let p0 = l.fnma(fours, four, p0);
    let (s, e0) = two_sum(l, q0, p1);
    let (s, e1) = two_sum(l, p0, s);
    let n = l.round(s);
    let s = l.sub(s, n.float);
    // What is left may cancel almost wholly: 29 bits at most.
    let (e, f0) = two_sum(l, e0, e1);
    let (e, f1) = two_sum(l, e, q1);
    let (e, f2) = two_sum(l, e, p2);
    let (s, f3) = two_sum(l, s, e);
    let f = l.add(f0, f1);
    let g = l.add(f2, q2);
    let f = l.add(f, g);
    let f = l.add(f3, f);
    let (s, f) = fast_two_sum(l, s, f);
    let (c0, c1) = (l.bits(PIO2[0]), l.bits(PIO2[1]));
    let (high, low) = two_product(l, s, c0);
    let low = l.fma(s, c1, low);
    let low = l.fma(f, c0, low);
    let (infinity, nan) = (l.bits(INFINITY - 1), l.bits(NAN));
    let special = l.ilt(infinity, a);
    let quiet = l.or(a, nan);
    [l.select(special, quiet, high), low, n.bits]
}

/// For each g: 2^(8g − 7) · 2/π modulo 4, in four parts (computed with 120 digits).
const POWERS: [[u32; 16]; 4] = [
    [
        0x3ba2_f983,
        0x3fa2_f983,
        0x3ff9_836e,
        0xbf79_2363,
        0xbf91_b1bc,
        0x3f1c_882a,
        0x3f08_2a54,
        0x3e29_4fe1,
        0xbfd6_03d9,
        0xbcf6_2a0c,
        0x3e9d_5f48,
        0xbfa8_2e0b,
        0xbeb8_2b2d,
        0xbdac_b224,
        0xbfcb_223f,
        0x3fdd_c0db,
    ],
    [
        0x2f5c_9c88,
        0x335c_9c88,
        0x331c_882a,
        0xb2ef_ab58,
        0x3229_4fe1,
        0x32a7_f09d,
        0xb0f6_2a0c,
        0x316a_fa3f,
        0x332f_a3ea,
        0x307a_9a6f,
        0xb1ac_b224,
        0x32d3_7703,
        0x326e_06db,
        0x2fdb_6296,
        0xb292_75aa,
        0x3345_2b32,
    ],
    [
        0x2229_4fe1,
        0x2629_4fe1,
        0x26a7_f09d,
        0xa4f6_2a0c,
        0x256a_fa3f,
        0x263e_8faa,
        0x247a_9a6f,
        0xa4b2_c890,
        0x26d3_7703,
        0xa2fc_9276,
        0x23db_6296,
        0x265b_14ad,
        0x24a5_664f,
        0xa34d_8779,
        0x2649_e21d,
        0x26f1_0e41,
    ],
    [
        0x156a_fa3f,
        0x196a_fa3f,
        0x1a3e_8faa,
        0x187a_9a6f,
        0x98b2_c890,
        0x99b2_23f2,
        0x96fc_9276,
        0x17db_6296,
        0x1a5b_14ad,
        0x162c_c9e2,
        0x974d_8779,
        0x9958_778e,
        0x1707_2084,
        0x1602_0ff3,
        0x99fb_e01b,
        0x187f_28b2,
    ],
];

/// sin (`shift` 0) or cos (`shift` 1) of `a`, which is not negative.
#[inline(always)]
fn sine_or_cosine<L: Lanes>(l: &mut L, a: L::V, shift: u32) -> L::V {
    // (sin r − r) / r³ and (cos r − 1 + r²/2) / r⁴ in r²: errors 2^-28.0 of sin r, 2^-30.4 of cos r.
    const S: [u32; 4] = [0xbe2a_aaab, 0x3c08_8884, 0xb950_0751, 0x3636_4ee8];
    const C: [u32; 3] = [0x3d2a_aaa4, 0xbab6_05a9, 0x37cc_d588];
    let usual = reduce_small(l, a);
    let last = l.bits(FAR - 1);
    let is_far = l.ilt(last, a);
    let [high, low, n] = l.rarely(is_far, usual, |l| reduce_large(l, a));
    // cos r = (1 − high²/2) + high⁴ C − high · low, the bracket as a value and its error.
    let (minus_half, one) = (l.float(-0.5), l.float(1.0));
    let z = l.mul(high, high);
    let g = l.mul(high, minus_half);
    let w = l.fma(g, high, one);
    let rest = l.sub(one, w);
    let rest = l.fma(g, high, rest);
    let c = horner(l, &C, z);
    let square = l.mul(z, z);
    let rest = l.fma(square, c, rest);
    let rest = l.fnma(high, low, rest);
    let c = l.add(w, rest);
    // sin r = high + high³ S + low · cos high.
    let s = horner(l, &S, z);
    let cube = l.mul(z, high);
    let rest = l.mul(low, w);
    let rest = l.fma(cube, s, rest);
    let s = l.add(high, rest);
    let (shift, zero) = (l.bits(shift), l.bits(0));
    let n = l.iadd(n, shift);
    let odd = l.shl(n, 31);
    let odd = l.ilt(odd, zero);
    let y = l.select(odd, c, s);
    let n = l.shl(n, 30);
    let sign = l.bits(SIGN);
    let n = l.and(n, sign);
    l.xor(y, n)
}

/// sin x, within 0.78 units for every single. Infinity gives NaN; −0 gives −0.
#[inline(always)]
pub fn sin<L: Lanes>(l: &mut L, x: L::V) -> L::V {
    let sign = l.bits(SIGN);
    let sign = l.and(x, sign);
    let a = l.xor(x, sign);
    let y = sine_or_cosine(l, a, 0);
    l.xor(y, sign)
}

/// cos x, within 0.78 units for every single. Infinity gives NaN.
#[inline(always)]
pub fn cos<L: Lanes>(l: &mut L, x: L::V) -> L::V {
    let a = l.abs(x);
    sine_or_cosine(l, a, 1)
}
