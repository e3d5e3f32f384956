//! Powers.

use super::{LOG2E, NAN, exp2_small_pair, fast_two_sum, horner};
use super::{normalized, not_positive, two_product};
use crate::lanes::{INFINITY, Lanes, SIGN};

/// log2 x for 0 < x < ∞ as a value and its error, together within about 2^-33 relatively.
#[inline(always)]
fn log2_pair<L: Lanes>(l: &mut L, x: L::V) -> (L::V, L::V) {
    // x = 2^e m, m in [63/64, 63/32); i is the sixteenth nearest to m; R[i] = about 1/(1 + i/16), 1 for those next
    // to 1, so that next to a power of two nothing cancels; f = m R[i] − 1, within ±1/32, in two parts;
    // log2 x = e − log2 R[i] + log2 (1 + f).
    const R: [u32; 16] = [
        0x3f80_0000,
        0x3f70_f0f1,
        0x3f63_8e39,
        0x3f57_9436,
        0x3f4c_cccd,
        0x3f43_0c31,
        0x3f3a_2e8c,
        0x3f32_1643,
        0x3f2a_aaab,
        0x3f23_d70a,
        0x3f1d_89d9,
        0x3f17_b426,
        0x3f12_4925,
        0x3f0d_3dcb,
        0x3f08_8889,
        0x3f04_2108,
    ];
    // −log2 R[i]: a multiple of 2^-16, so that e can be added exactly, and the rest.
    const HIGH: [u32; 16] = [
        0x0000_0000,
        0x3db3_2000,
        0x3e2e_0000,
        0x3e7d_e000,
        0x3ea4_d400,
        0x3ec8_de00,
        0x3eeb_3a00,
        0x3f06_0800,
        0x3f15_c000,
        0x3f24_d400,
        0x3f33_5000,
        0x3f41_4000,
        0x3f4e_af00,
        0x3f5b_a500,
        0x3f68_2a00,
        0x3f74_4600,
    ];
    const LOW: [u32; 16] = [
        0x0000_0000,
        0xb511_c4c3,
        0x3651_1734,
        0x3635_0f69,
        0xb5f9_6905,
        0xb5b2_7770,
        0x369d_9043,
        0x361e_4d1e,
        0x35cc_0a8d,
        0xb674_5c5e,
        0x3462_d9df,
        0x369c_ff92,
        0xb644_a9fb,
        0xb6b6_dc82,
        0xb4bb_3f34,
        0x3659_4ef6,
    ];
    // (ln(1 + f) − f + f²/2) / f³: error 2^-34 of ln(1 + f).
    const P: [u32; 5] = [0x3eaa_aaaa, 0xbe80_0006, 0x3e4c_d112, 0xbe2a_99f1, 0x3e06_7edc];
    let (a, denormal) = normalized(l, x);
    let one = l.float(1.0);
    // 1, less half a sixteenth.
    let half = l.bits(0x3f7c_0000);
    let e = l.isub(a, half);
    let i = l.shr(e, 19);
    let e = l.sar(e, 23);
    let field = l.shl(e, 23);
    let m = l.isub(a, field);
    let e = l.int_to_float(e);
    let shift = l.float(24.0);
    let lower = l.sub(e, shift);
    let e = l.select(denormal, lower, e);
    let [r, t, u] = [&R, &HIGH, &LOW].map(|table| l.table(table, i));
    let (p, rest) = two_product(l, m, r);
    let f = l.sub(p, one);
    // ln(1 + f + rest) = f − f²/2 + rest (1 − f + f²) + f³ P.
    let minus_half = l.float(-0.5);
    let g = l.mul(f, minus_half);
    let high = l.fma(g, f, f);
    let low = l.sub(f, high);
    let low = l.fma(g, f, low);
    let part = l.fnma(f, f, f);
    let rest = l.fnma(rest, part, rest);
    let low = l.add(low, rest);
    let p = horner(l, &P, f);
    let square = l.mul(f, f);
    let cube = l.mul(square, f);
    let low = l.fma(cube, p, low);
    // Times 1 / ln 2, and the rest added.
    let (c, d) = (l.bits(LOG2E[0]), l.bits(LOG2E[1]));
    let (y, rest) = two_product(l, high, c);
    let rest = l.fma(high, d, rest);
    let rest = l.fma(low, c, rest);
    let whole = l.add(e, t);
    let (sum, lost) = fast_two_sum(l, whole, y);
    let rest = l.add(rest, u);
    (sum, l.add(lost, rest))
}

/// x^y, as IEEE 754 defines `pow`, within 0.7 units where the result is normal, 0.8 below. A negative base has
/// powers with integral exponents only, other exponents give NaN. x^±0 and 1^y are 1 even if the other one is NaN; 0 and ∞
/// as limits.
#[inline(always)]
pub fn pow<L: Lanes>(l: &mut L, x: L::V, y: L::V) -> L::V {
    let a = l.abs(x);
    let (high, low) = log2_pair(l, a);
    let (p, rest) = two_product(l, y, high);
    let rest = l.fma(y, low, rest);
    // The error may be as large as 2^-9 of the value: what is rounded is the sum. Beyond any power the error may
    // be infinite or NaN.
    let size = l.abs(p);
    let most = l.float(160.0);
    let zero = l.float(0.0);
    let within = l.lt(size, most);
    let sum = l.add(p, rest);
    let lost = l.sub(p, sum);
    let rest = l.add(lost, rest);
    let (p, rest) = (l.select(within, sum, p), l.select(within, rest, zero));
    let (r, n) = l.split(p);
    let (r, s) = fast_two_sum(l, r, rest);
    let (e, _) = exp2_small_pair(l, r, s);
    let z = l.scale(e, n);
    let exponent = l.abs(y);
    let (special, other) = (not_positive(l, a), not_positive(l, exponent));
    let special = l.either(special, other);
    let [z] = l.rarely(special, [z], |l| [power_of_zero_or_infinity(l, a, y, high)]);
    let negative = l.ilt(x, zero);
    let [z] = l.rarely(negative, [z], |l| [signed(l, x, y, z)]);
    let one = l.float(1.0);
    let (no_x, no_y) = (l.unordered(x, x), l.unordered(y, y));
    let either = l.either(no_x, no_y);
    let [z] = l.rarely(either, [z], |l| {
        let (same_x, same_y) = (l.add(x, x), l.add(y, y));
        let z = l.select(no_x, same_x, same_y);
        let (unit, zeroth) = (l.eq(x, one), l.eq(y, zero));
        let known = l.either(unit, zeroth);
        [l.select(known, one, z)]
    });
    z
}

/// a^y where one is 0 or ∞; `log` is the high part of log2 a where that is finite. (NaN: anything.)
#[inline(always)]
fn power_of_zero_or_infinity<L: Lanes>(l: &mut L, a: L::V, y: L::V, log: L::V) -> L::V {
    let (zero, one, infinity) = (l.float(0.0), l.float(1.0), l.bits(INFINITY));
    let (lowest, sign) = (l.float(f32::NEG_INFINITY), l.bits(SIGN));
    let (is_zero, is_infinite) = (l.ieq(a, zero), l.ieq(a, infinity));
    let log = l.select(is_zero, lowest, log);
    let log = l.select(is_infinite, infinity, log);
    // The power grows without bound where the signs of exponent and logarithm agree.
    let signs = l.xor(log, y);
    let signs = l.and(signs, sign);
    let grows = l.ieq(signs, zero);
    let z = l.select(grows, infinity, zero);
    let (zeroth, unit) = (l.eq(y, zero), l.eq(a, one));
    let known = l.either(zeroth, unit);
    l.select(known, one, z)
}

/// The power of a base with a sign, from that without.
#[inline(always)]
fn signed<L: Lanes>(l: &mut L, x: L::V, y: L::V, z: L::V) -> L::V {
    let (zero, half, nan) = (l.float(0.0), l.float(0.5), l.bits(NAN));
    let (sign, lowest) = (l.bits(SIGN), l.float(f32::NEG_INFINITY));
    let near = l.rint(y);
    let integral = l.eq(near, y);
    let h = l.mul(y, half);
    let near = l.rint(h);
    let even = l.eq(near, h);
    let minus = l.xor(z, sign);
    // An even exponent, or none that is integral.
    let odd = l.select(even, z, minus);
    let z = l.select(integral, odd, z);
    let below = l.lt(x, zero);
    let finite = l.lt(lowest, x);
    let proper = l.both(below, finite);
    let undefined = l.select(integral, z, nan);
    l.select(proper, undefined, z)
}
