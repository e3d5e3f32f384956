//! The math unit: `inv`, `rsqrt`, `exp`, `log`, `pow`, `sin`, `cos`, `tanh`, `sigm`, and the macros' parts.
//!
//! What is computed is in [`single`]: sequences of IEEE operations on singles, the same bits on every CPU and
//! from native code, less than one unit in the last place from the exact result for every single; the
//! measured errors are in docs/MATH.md. `hf` computes in `f` and rounds once more. Rounding is to nearest
//! even, whatever `%cr0` says.
//!
//! The hardware's own are looser (`inv` within one unit, `sin` and `cos` to an absolute error); nothing
//! that works on it can rely on less than this.

mod function;
pub mod single;

pub use function::Function;

use crate::convert::f32_to_hf;
use crate::float::Float;
use crate::float_mode::{Mode, Rounding};
use crate::lane::{Hf, Lane};
use crate::lanes::Scalar;

mod small {
    use super::*;

    /// Formats whose values singles hold.
    pub trait FitsSingle: Float {
        fn single(self) -> f32;
        fn from_single(bits: u32) -> Self;
        /// A function of [`single`] of this value.
        #[inline(always)]
        fn through(self, f: impl FnOnce(&mut Scalar, u32) -> u32) -> Self {
            Self::from_single(f(&mut Scalar, self.single().to_bits()))
        }
    }
    impl FitsSingle for f32 {
        #[inline(always)]
        fn single(self) -> f32 {
            self
        }
        #[inline(always)]
        fn from_single(bits: u32) -> f32 {
            f32::from_bits(bits)
        }
    }
    impl FitsSingle for Hf {
        #[inline(always)]
        fn single(self) -> f32 {
            self.into()
        }
        #[inline(always)]
        fn from_single(bits: u32) -> Hf {
            f32_to_hf(f32::from_bits(bits), Rounding::NearestEven)
        }
    }
}

/// The functions of the math unit, for `f` and `hf`. Sources and results are flushed as the mode says.
/// (Sealed.)
pub trait MathUnit: small::FitsSingle {
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

    /// self^y, as IEEE 754 defines `pow` (page POW): a negative base has powers with integral exponents,
    /// with others NaN. The exponent ±0 gives 1 for every base, the base 1 for every exponent; 0 and ∞ as
    /// limits.
    #[inline(always)]
    fn pow<M: Mode>(self, y: Self, m: M) -> Self {
        let y = y.flush(m).single().to_bits();
        self.flush(m).through(|l, x| single::pow(l, x, y)).finish(m)
    }

    /// sin self, in radians, reduced exactly over the whole range (page SIN). Infinity gives NaN; −0, −0.
    #[inline(always)]
    fn sin<M: Mode>(self, m: M) -> Self {
        self.flush(m).through(single::sin).finish(m)
    }

    /// cos self, in radians, reduced exactly over the whole range (page COS). Infinity gives NaN.
    #[inline(always)]
    fn cos<M: Mode>(self, m: M) -> Self {
        self.flush(m).through(single::cos).finish(m)
    }

    /// tanh self (opcode TANH).
    #[inline(always)]
    fn tanh<M: Mode>(self, m: M) -> Self {
        self.flush(m).through(single::tanh).finish(m)
    }

    /// The logistic function `1 / (1 + e^−self)` (opcode SIGM).
    #[inline(always)]
    fn sigm<M: Mode>(self, m: M) -> Self {
        self.flush(m).through(single::sigm).finish(m)
    }
}

impl MathUnit for f32 {}
impl MathUnit for Hf {}

/// `1 / x` of a `df`, to nearest even (page INV).
#[inline(always)]
pub fn inv_df<M: Mode>(x: f64, m: M) -> f64 {
    Float::div(1.0, x.flush(m), crate::Ieee).finish(m)
}

/// `1 / √x` of a `df`, within 0.501 units in the last place. ±0 gives ±∞, +∞ gives 0, negative NaN; `df` has no
/// ALT mode.
#[inline(always)]
pub fn rsqrt_df<M: Mode>(x: f64, m: M) -> f64 {
    let x = x.flush(m);
    x.inverse_root().settled(m, [x]).finish(m)
}

/// The types of the IEEE macros: `f32` and `f64`.
pub trait MacroMath: Float {
    /// `1 / √self`, within 0.54 units in the last place.
    fn inverse_root(self) -> Self;

    /// The start of a division `self / b` (page INVM): the value and the early-out predicate. With the
    /// predicate set the value is the quotient itself, a NaN, infinity or zero; otherwise it is `1 / b` to
    /// nearest even, which the refinement that follows multiplies by `self`.
    #[inline(always)]
    fn invm<M: Mode>(self, b: Self, m: M) -> (Self, bool) {
        let q = Float::div(self, b, m);
        let early = is_nan_infinite_or_zero(q);
        (if early { q } else { Float::div(Self::ONE, b, crate::Ieee).finish(m) }, early)
    }

    /// The start of a reciprocal square root (page RSQTM): `1 / √self`, and whether it is a NaN, infinity or
    /// zero.
    #[inline(always)]
    fn rsqtm<M: Mode>(self, m: M) -> (Self, bool) {
        let x = self.flush(m);
        let y = x.inverse_root().settled(m, [x]).finish(m);
        (y, is_nan_infinite_or_zero(y))
    }
}

impl MacroMath for f32 {
    #[inline(always)]
    fn inverse_root(self) -> f32 {
        f32::from_bits(single::rsqrt(&mut Scalar, self.to_bits()))
    }
}

impl MacroMath for f64 {
    #[inline(always)]
    fn inverse_root(self) -> f64 {
        /// 2^200 and 2^100: the root and what is left of it stay normal.
        const SCALE: [f64; 2] = [f64::from_bits((1023 + 200) << 52), f64::from_bits((1023 + 100) << 52)];
        let small = self < 1.0 / (SCALE[0] * SCALE[0]);
        let (x, back) = if small { (self * SCALE[0], SCALE[1]) } else { (self, 1.0) };
        // Two roundings, and what each lost: x = root² + rest, 1 = root · y + part.
        let root = x.sqrt();
        let y = 1.0 / root;
        let rest = (-root).mul_add(root, x);
        let part = (-root).mul_add(y, 1.0);
        let lost = (rest * -0.5).mul_add(y * y, part);
        let exact = y.mul_add(lost, y);
        // Of 0, ∞, negative numbers and NaN nothing is lost.
        (if y.is_normal() { exact } else { y }) * back
    }
}

/// Is it a NaN, an infinity or a zero?
#[inline(always)]
fn is_nan_infinite_or_zero<T: Float>(x: T) -> bool {
    let (bits, f) = (Lane::to_bits(x), T::FORMAT);
    let magnitude = bits & (f.sign() - 1);
    magnitude >= f.infinity() || magnitude == 0
}
