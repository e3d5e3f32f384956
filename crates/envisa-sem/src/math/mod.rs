//! The math unit: `inv`, `rsqrt`, `exp`, `log`, `pow`, `sin`, `cos`, `tanh`, `sigm`, and the macros' parts.
//!
//! The kernels work in doubles without branches, tables of functions or calls, so loops over channels
//! vectorise; the result is rounded once, to nearest even, whatever `%cr0` says. Errors measured over
//! *every* `f` value (one sign where the other follows) against a double-precision library, in units in
//! the last place (0.5 is correct rounding), to six decimals:
//!
//! | function | largest error |
//! | --- | --- |
//! | [`MathUnit::exp`] | 0.500000 |
//! | [`MathUnit::log`] | 0.500000 |
//! | [`MathUnit::sin`] | 0.500000 |
//! | [`MathUnit::cos`] | 0.500000 |
//! | [`MathUnit::tanh`] | 0.500000 |
//! | [`MathUnit::sigm`] | 0.500000 |
//! | [`MathUnit::rsqrt`] | 0.500000 |
//! | [`MathUnit::inv`] | 0.5 (the CPU's division) |
//!
//! The hardware's own are looser (`inv` within one unit, `sin` and `cos` to an absolute error); nothing
//! that works on it can rely on less than this.

pub mod single;

use crate::convert::{f32_to_hf, f64_to_f32, f64_to_hf};
use crate::float::Float;
use crate::lane::{Hf, Lane};
use crate::lanes::Scalar;
use crate::mode::{Mode, Rounding};
use crate::trig_table::POWERS;

/// Adding it and subtracting it rounds a double below 2^51 to the nearest integer; the sum's low bits are
/// the integer.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// ln2^k / k!: the series of 2^r.
const EXP2: [f64; 12] = [
    1.0,
    core::f64::consts::LN_2,
    0.24022650695910072,
    0.05550410866482158,
    0.009618129107628477,
    0.0013333558146428443,
    0.0001540353039338161,
    1.5252733804059841e-05,
    1.321548679014431e-06,
    1.01780860092397e-07,
    7.054911620801123e-09,
    4.4455382718708116e-10,
];

/// 2 / (ln2 · (2k+1)): the series of log2 in s = (m − 1)/(m + 1).
const LOG2: [f64; 10] = [
    2.8853900817779268,
    0.9617966939259756,
    0.5770780163555853,
    0.4121985831111324,
    0.3205988979753252,
    0.2623081892525388,
    0.22195308321368667,
    0.19235933878519512,
    0.16972882833987804,
    0.15186263588304877,
];

/// ±1/(2k+1)!.
const SIN: [f64; 8] = [
    1.0,
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5_040.0,
    1.0 / 362_880.0,
    -1.0 / 39_916_800.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 1_307_674_368_000.0,
];

/// ±1/(2k)!.
const COS: [f64; 8] = [
    1.0,
    -1.0 / 2.0,
    1.0 / 24.0,
    -1.0 / 720.0,
    1.0 / 40_320.0,
    -1.0 / 3_628_800.0,
    1.0 / 479_001_600.0,
    -1.0 / 87_178_291_200.0,
];

#[inline(always)]
fn horner<const N: usize>(c: &[f64; N], x: f64) -> f64 {
    let mut sum = c[N - 1];
    let mut i = N - 1;
    while i > 0 {
        i -= 1;
        sum = sum * x + c[i];
    }
    sum
}

/// 2^x, to about 2^-41 relatively; for x beyond ±1020 the value at ±1020, which every `f` overflows or
/// underflows at.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    let limited = if x > 1020.0 { 1020.0 } else { x };
    let limited = if limited < -1020.0 { -1020.0 } else { limited };
    let t = limited + ROUNDER;
    let r = limited - (t - ROUNDER);
    // A NaN yields arbitrary bits here and a NaN in the product.
    let scale = f64::from_bits(t.to_bits().wrapping_add(1023) << 52);
    let p = horner(&EXP2, r) * scale;
    if x.is_nan() { x } else { p }
}

/// log2 x for a positive normal double, to about 2^-50 relatively; NaN, negative: NaN; 0: −∞; +∞: +∞.
#[inline(always)]
fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    // The significand in [√½, √2): the constant is the bits of 1.0 minus those of √½.
    let shifted = bits.wrapping_add(0x3ff0_0000_0000_0000 - 0x3fe6_a09e_667f_3bcd);
    let e = (shifted >> 52) as i32 as f64 - 1023.0;
    let m = f64::from_bits((shifted & ((1 << 52) - 1)).wrapping_add(0x3fe6_a09e_667f_3bcd));
    let s = (m - 1.0) / (m + 1.0);
    let y = e + s * horner(&LOG2, s * s);
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    let y = if x == f64::INFINITY { x } else { y };
    if x < 0.0 || x.is_nan() { f64::NAN } else { y }
}

/// The argument modulo π/2 in [−π/4, π/4], with about 49 good bits, and the quadrant, for every finite `f`.
#[inline(always)]
fn reduce(x: f32) -> (f64, u64) {
    // π/2 in parts: a multiple of 2^-25, one of 2^-51, and the rest.
    const PIO2: [f64; 3] = [1.5707963407039642, -1.3909067675399456e-08, 6.123233995736766e-17];
    let bits = x.to_bits();
    let field = (bits >> 23 & 0xff) as usize;
    let m = (bits & 0x7f_ffff | if field == 0 { 0 } else { 0x80_0000 }) as i32 as f64;
    // |x| modulo 2π times a 24-bit integer: the first two products and all that is subtracted from them
    // are exact (multiples of 2^-26 below 2^27, and of 2^-52 below 2).
    let part = |i: usize| m * f64::from_bits(POWERS[i][field]);
    let (a, b, c) = (part(0), part(1), part(2));
    let t = (a + b) * core::f64::consts::FRAC_2_PI + ROUNDER;
    let n = t - ROUNDER;
    let r = ((a - n * PIO2[0]) + (b - n * PIO2[1])) + (c - n * PIO2[2]);
    (r, t.to_bits())
}

/// sin (`shift` 0) or cos (`shift` 1) of |x|.
#[inline(always)]
fn circular(x: f32, shift: u64) -> f64 {
    let (r, n) = reduce(x);
    let quadrant = n.wrapping_add(shift);
    let z = r * r;
    let y = if quadrant & 1 == 0 { r * horner(&SIN, z) } else { horner(&COS, z) };
    let y = f64::from_bits(y.to_bits() ^ (quadrant & 2) << 62);
    if x.is_finite() { y } else { f64::NAN }
}

#[inline(always)]
fn sin(x: f32) -> f64 {
    let y = circular(x, 0);
    f64::from_bits(y.to_bits() ^ (x.to_bits() as u64 & 0x8000_0000) << 32)
}

#[inline(always)]
fn tanh(x: f64) -> f64 {
    let a = x.abs();
    let z = x * x;
    // Near zero the series; the quotient would cancel.
    let series = a * (1.0 + z * (-1.0 / 3.0 + z * (2.0 / 15.0 + z * (-17.0 / 315.0 + z * (62.0 / 2_835.0)))));
    let quotient = 1.0 - 2.0 / (exp2(a * (2.0 * core::f64::consts::LOG2_E)) + 1.0);
    let y = if a < 0.0625 { series } else { quotient };
    y.copysign(x)
}

#[inline(always)]
fn sigm(x: f64) -> f64 {
    1.0 / (1.0 + exp2(-x * core::f64::consts::LOG2_E))
}

mod small {
    use super::*;

    /// Formats whose values doubles hold with room to spare.
    pub trait Small: Float {
        fn single(self) -> f32;
        fn near(x: f64) -> Self;
        fn from_single(bits: u32) -> Self;
        /// A function of [`single`] of this value.
        #[inline(always)]
        fn through(self, f: impl FnOnce(&mut Scalar, u32) -> u32) -> Self {
            Self::from_single(f(&mut Scalar, self.single().to_bits()))
        }
    }
    impl Small for f32 {
        #[inline(always)]
        fn single(self) -> f32 {
            self
        }
        #[inline(always)]
        fn near(x: f64) -> f32 {
            f64_to_f32(x, Rounding::NearestEven)
        }
        #[inline(always)]
        fn from_single(bits: u32) -> f32 {
            f32::from_bits(bits)
        }
    }
    impl Small for Hf {
        #[inline(always)]
        fn single(self) -> f32 {
            self.into()
        }
        #[inline(always)]
        fn near(x: f64) -> Hf {
            f64_to_hf(x, Rounding::NearestEven)
        }
        #[inline(always)]
        fn from_single(bits: u32) -> Hf {
            f32_to_hf(f32::from_bits(bits), Rounding::NearestEven)
        }
    }
}

/// The functions of the math unit, for `f` and `hf`. Sources and results are flushed as the mode says.
/// (Sealed.)
pub trait MathUnit: small::Small {
    /// `1 / self` (page INV). ±0 gives ±∞, ±∞ gives ±0. For `df` see [`inv_df`].
    #[inline(always)]
    fn inv<M: Mode>(self, m: M) -> Self {
        Float::div(Self::ONE, self.flush(m), crate::Ieee).finish(m)
    }

    /// `1 / √self` (page RSQRT). ±0 gives ±∞, +∞ gives 0, negative NaN; in ALT mode `1 / √|self|`.
    #[inline(always)]
    fn rsqrt<M: Mode>(self, m: M) -> Self {
        self.flush(m).alt_abs(m).through(single::rsqrt).finish(m)
    }

    /// 2^self (page EXP). −∞ gives 0, +∞ gives +∞.
    #[inline(always)]
    fn exp<M: Mode>(self, m: M) -> Self {
        self.flush(m).through(single::exp2).finish(m)
    }

    /// log2 self (page LOG). ±0 gives −∞, negative NaN, +∞ gives +∞; in ALT mode `log2 |self|`.
    #[inline(always)]
    fn log<M: Mode>(self, m: M) -> Self {
        self.flush(m).alt_abs(m).through(single::log2).finish(m)
    }

    /// `2^(y · log2 |self|)`, and NaN for a negative base (page POW). The exponent ±0 gives 1 for every
    /// base that is neither negative nor NaN; a base of 1 gives 1 for every finite exponent; 0 and ∞ as
    /// limits.
    #[inline(always)]
    fn pow<M: Mode>(self, y: Self, m: M) -> Self {
        let (x, y) = (self.flush(m).single() as f64, y.flush(m).single() as f64);
        let p = exp2(y * log2(x));
        // Here the product would be 0 · ∞.
        let p = if y == 0.0 && x >= 0.0 { 1.0 } else { p };
        Self::near(p).finish(m)
    }

    /// sin self, in radians, reduced exactly over the whole range (page SIN). Infinity gives NaN; −0, −0.
    #[inline(always)]
    fn sin<M: Mode>(self, m: M) -> Self {
        Self::near(sin(self.flush(m).single())).finish(m)
    }

    /// cos self, in radians, reduced exactly over the whole range (page COS). Infinity gives NaN.
    #[inline(always)]
    fn cos<M: Mode>(self, m: M) -> Self {
        Self::near(circular(self.flush(m).single(), 1)).finish(m)
    }

    /// tanh self (opcode TANH).
    #[inline(always)]
    fn tanh<M: Mode>(self, m: M) -> Self {
        Self::near(tanh(self.flush(m).single() as f64)).finish(m)
    }

    /// The logistic function `1 / (1 + e^−self)` (opcode SIGM).
    #[inline(always)]
    fn sigm<M: Mode>(self, m: M) -> Self {
        Self::near(sigm(self.flush(m).single() as f64)).finish(m)
    }
}

impl MathUnit for f32 {}
impl MathUnit for Hf {}

/// `1 / x` of a `df`, to nearest even (page INV).
#[inline(always)]
pub fn inv_df<M: Mode>(x: f64, m: M) -> f64 {
    (1.0 / x.flush(m)).finish(m)
}

/// `1 / √x` of a `df`: two roundings, within one unit in the last place.
#[inline(always)]
pub fn rsqrt_df<M: Mode>(x: f64, m: M) -> f64 {
    (1.0 / x.flush(m).sqrt()).finish(m)
}

/// The types of the IEEE macros: `f32` and `f64`.
pub trait MacroMath: Float {
    /// The start of a division `self / b` (page INVM): the value and the early-out predicate. With the
    /// predicate set the value is the quotient itself, a NaN, infinity or zero; otherwise it is `1 / b` to
    /// nearest even, which the refinement that follows multiplies by `self`.
    #[inline(always)]
    fn invm<M: Mode>(self, b: Self, m: M) -> (Self, bool) {
        let q = Float::div(self, b, m);
        let early = special(q);
        (if early { q } else { Float::div(Self::ONE, b, crate::Ieee).finish(m) }, early)
    }

    /// The start of a reciprocal square root (page RSQTM): `1 / √self`, and whether it is a NaN, infinity or
    /// zero.
    #[inline(always)]
    fn rsqtm<M: Mode>(self, m: M) -> (Self, bool) {
        let root = Float::sqrt(self.flush(m), crate::Ieee);
        let y = Float::div(Self::ONE, root, crate::Ieee).finish(m);
        (y, special(y))
    }
}

impl MacroMath for f32 {}
impl MacroMath for f64 {}

/// Is it a NaN, an infinity or a zero?
#[inline(always)]
fn special<T: Float>(x: T) -> bool {
    let (bits, f) = (Lane::to_bits(x), T::FORMAT);
    let magnitude = bits & (f.sign() - 1);
    magnitude >= f.infinity() || magnitude == 0
}
