//! Floating-point arithmetic in `f`, `df`, `hf` and `bf`, in every mode.
//!
//! Every function rounds once. In nearest-even, `f` and `df` are the CPU's own operations; `hf` and `bf`
//! compute in `f`, whose precision is more than twice theirs, so that the second rounding changes
//! nothing. In a directed mode the small formats compute in `df` rounded to odd (which a final rounding
//! cannot be misled by), and `df` computes in integers ([`crate::soft`]).

use crate::convert::{f32_to_bf, f32_to_hf, f64_to_bf, f64_to_f32, f64_to_hf};
use crate::exact_arithmetic;
use crate::float_mode::{Mode, Rounding};
use crate::lane::{Bf, Hf, Lane, Modifier};
use crate::nan;

/// The relation of a `cmp`, numbered as in the binary (page CMP).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Relation {
    /// Equal.
    Eq = 0,
    /// Not equal; the only relation that holds when an operand is NaN.
    Ne = 1,
    /// Greater than.
    Gt = 2,
    /// Greater than or equal.
    Ge = 3,
    /// Less than.
    Lt = 4,
    /// Less than or equal.
    Le = 5,
}

impl Relation {
    /// Every relation, in the binary's order.
    pub const ALL: [Relation; 6] =
        [Relation::Eq, Relation::Ne, Relation::Gt, Relation::Ge, Relation::Lt, Relation::Le];

    /// The relation of this number.
    pub const fn from_code(code: u8) -> Option<Relation> {
        if code < 6 { Some(Self::ALL[code as usize]) } else { None }
    }

    /// Does it hold between `a` and `b`, as the host compares them?
    #[inline(always)]
    pub fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Relation::Eq => a == b,
            Relation::Ne => a != b,
            Relation::Gt => a > b,
            Relation::Ge => a >= b,
            Relation::Lt => a < b,
            Relation::Le => a <= b,
        }
    }
}

mod core_ops {
    use super::*;

    /// The operations of one format before flushing, and what the format is.
    pub trait Core: Lane {
        /// The type comparisons and rounding to integral are done in, exactly.
        type Host: PartialOrd + Copy + num::HostFloat;
        const FORMAT: exact_arithmetic::Format;
        fn keeps<M: Mode>(m: M) -> bool;
        fn host(self) -> Self::Host;
        /// Back from the host's type; rounds to nearest even.
        fn from_host(h: Self::Host) -> Self;
        fn add_near(a: Self, b: Self) -> Self;
        fn mul_near(a: Self, b: Self) -> Self;
        fn mad_near(a: Self, b: Self, c: Self) -> Self;
        fn div_near(a: Self, b: Self) -> Self;
        fn sqrt_near(a: Self) -> Self;
        fn add_to(a: Self, b: Self, r: Rounding) -> Self;
        fn mul_to(a: Self, b: Self, r: Rounding) -> Self;
        fn mad_to(a: Self, b: Self, c: Self, r: Rounding) -> Self;
        fn div_to(a: Self, b: Self, r: Rounding) -> Self;
        fn sqrt_to(a: Self, r: Rounding) -> Self;
    }

    pub mod num {
        /// The host's own rounding to integral.
        pub trait HostFloat {
            fn floor(self) -> Self;
            fn ceil(self) -> Self;
            fn trunc(self) -> Self;
            fn even(self) -> Self;
        }
        macro_rules! host {
            ($($t:ident)*) => {$(
                impl HostFloat for $t {
                    #[inline(always)]
                    fn floor(self) -> Self { <$t>::floor(self) }
                    #[inline(always)]
                    fn ceil(self) -> Self { <$t>::ceil(self) }
                    #[inline(always)]
                    fn trunc(self) -> Self { <$t>::trunc(self) }
                    #[inline(always)]
                    fn even(self) -> Self { <$t>::round_ties_even(self) }
                }
            )*};
        }
        host!(f32 f64);
    }
}

use core_ops::Core;
use core_ops::num::HostFloat;

/// `s`, whose exact value is `s + e`, rounded to odd: if inexact, the neighbour with the odd significand.
#[inline(always)]
fn to_odd(s: f64, e: f64) -> f64 {
    // NaN (from infinities) compares false: the value stays.
    let inexact = e.abs() > 0.0;
    let bits = s.to_bits();
    let outwards = (e > 0.0) == (s > 0.0);
    let odd = if outwards { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f64::from_bits(if inexact && bits & 1 == 0 { odd } else { bits })
}

/// The sum in `df` rounded to odd; an exact zero has the sign that `r` gives it.
#[inline(always)]
pub(crate) fn add_odd(a: f64, b: f64, r: Rounding) -> f64 {
    let s = a + b;
    let t = s - a;
    let e = (a - (s - t)) + (b - t);
    if s == 0.0 && r == Rounding::Down && !(a.is_sign_positive() && b.is_sign_positive()) {
        return -0.0;
    }
    to_odd(s, e)
}

/// `p + c` as a half, to nearest even, for a product of halves, which a single holds exactly: the sum is
/// rounded to odd in singles.
#[inline(always)]
fn add_product_hf(p: f32, c: f32) -> Hf {
    let s = p + c;
    let t = s - p;
    let e = (p - (s - t)) + (c - t);
    let bits = s.to_bits();
    let odd = if (e > 0.0) == (s > 0.0) { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    let s = f32::from_bits(if e.abs() > 0.0 && bits & 1 == 0 { odd } else { bits });
    f32_to_hf(s, Rounding::NearestEven)
}

/// The quotient of two values of a small format in `df` rounded to odd.
#[inline(always)]
pub(crate) fn div_odd(a: f64, b: f64) -> f64 {
    let q = a / b;
    let rest = (-q).mul_add(b, a);
    to_odd(q, if b < 0.0 { -rest } else { rest })
}

/// The square root in `df` rounded to odd.
#[inline(always)]
pub(crate) fn sqrt_odd(a: f64) -> f64 {
    let s = a.sqrt();
    to_odd(s, (-s).mul_add(s, a))
}

/// The directed operations of a format whose products are exact in `df`.
macro_rules! directed_through_df {
    ($narrow:ident) => {
        #[inline(always)]
        fn add_to(a: Self, b: Self, r: Rounding) -> Self {
            $narrow(add_odd(a.into(), b.into(), r), r)
        }
        #[inline(always)]
        fn mul_to(a: Self, b: Self, r: Rounding) -> Self {
            $narrow(f64::from(a) * f64::from(b), r)
        }
        #[inline(always)]
        fn mad_to(a: Self, b: Self, c: Self, r: Rounding) -> Self {
            $narrow(add_odd(f64::from(a) * f64::from(b), c.into(), r), r)
        }
        #[inline(always)]
        fn div_to(a: Self, b: Self, r: Rounding) -> Self {
            $narrow(div_odd(a.into(), b.into()), r)
        }
        #[inline(always)]
        fn sqrt_to(a: Self, r: Rounding) -> Self {
            $narrow(sqrt_odd(a.into()), r)
        }
    };
}

/// The nearest-even operations that are the CPU's.
macro_rules! near_native {
    () => {
        #[inline(always)]
        fn host(self) -> Self {
            self
        }
        #[inline(always)]
        fn from_host(h: Self) -> Self {
            h
        }
        #[inline(always)]
        fn add_near(a: Self, b: Self) -> Self {
            a + b
        }
        #[inline(always)]
        fn mul_near(a: Self, b: Self) -> Self {
            a * b
        }
        #[inline(always)]
        fn mad_near(a: Self, b: Self, c: Self) -> Self {
            a.mul_add(b, c)
        }
        #[inline(always)]
        fn div_near(a: Self, b: Self) -> Self {
            a / b
        }
        #[inline(always)]
        fn sqrt_near(a: Self) -> Self {
            a.sqrt()
        }
    };
}

/// The nearest-even operations of a 16-bit format, in `f`.
macro_rules! near_through_f {
    ($from_f:ident, $mad:ident) => {
        #[inline(always)]
        fn host(self) -> f32 {
            self.into()
        }
        #[inline(always)]
        fn from_host(h: f32) -> Self {
            $from_f(h, Rounding::NearestEven)
        }
        #[inline(always)]
        fn add_near(a: Self, b: Self) -> Self {
            Self::from_host(a.host() + b.host())
        }
        #[inline(always)]
        fn mul_near(a: Self, b: Self) -> Self {
            Self::from_host(a.host() * b.host())
        }
        #[inline(always)]
        fn mad_near(a: Self, b: Self, c: Self) -> Self {
            $mad(a.host() * b.host(), c.host())
        }
        #[inline(always)]
        fn div_near(a: Self, b: Self) -> Self {
            Self::from_host(a.host() / b.host())
        }
        #[inline(always)]
        fn sqrt_near(a: Self) -> Self {
            Self::from_host(a.host().sqrt())
        }
    };
}

impl Core for f32 {
    type Host = f32;
    const FORMAT: exact_arithmetic::Format = exact_arithmetic::F;
    #[inline(always)]
    fn keeps<M: Mode>(m: M) -> bool {
        m.keep_f()
    }
    near_native!();
    directed_through_df!(f64_to_f32);
}

impl Core for Hf {
    type Host = f32;
    const FORMAT: exact_arithmetic::Format = exact_arithmetic::HF;
    #[inline(always)]
    fn keeps<M: Mode>(m: M) -> bool {
        m.keep_hf()
    }
    near_through_f!(f32_to_hf, add_product_hf);
    directed_through_df!(f64_to_hf);
}

impl Core for Bf {
    type Host = f32;
    const FORMAT: exact_arithmetic::Format = exact_arithmetic::BF;
    #[inline(always)]
    fn keeps<M: Mode>(m: M) -> bool {
        m.keep_f()
    }
    // `f` shares bf's exponent range: a denormal result is rounded twice there, so multiplication,
    // division go through `df`.
    #[inline(always)]
    fn host(self) -> f32 {
        self.into()
    }
    #[inline(always)]
    fn from_host(h: f32) -> Self {
        f32_to_bf(h, Rounding::NearestEven)
    }
    #[inline(always)]
    fn add_near(a: Self, b: Self) -> Self {
        Self::from_host(a.host() + b.host())
    }
    #[inline(always)]
    fn mul_near(a: Self, b: Self) -> Self {
        Self::mul_to(a, b, Rounding::NearestEven)
    }
    #[inline(always)]
    fn mad_near(a: Self, b: Self, c: Self) -> Self {
        Self::mad_to(a, b, c, Rounding::NearestEven)
    }
    #[inline(always)]
    fn div_near(a: Self, b: Self) -> Self {
        Self::div_to(a, b, Rounding::NearestEven)
    }
    #[inline(always)]
    fn sqrt_near(a: Self) -> Self {
        Self::from_host(a.host().sqrt())
    }
    directed_through_df!(f64_to_bf);
}

impl Core for f64 {
    type Host = f64;
    const FORMAT: exact_arithmetic::Format = exact_arithmetic::DF;
    #[inline(always)]
    fn keeps<M: Mode>(m: M) -> bool {
        m.keep_df()
    }
    near_native!();
    #[inline]
    fn add_to(a: Self, b: Self, r: Rounding) -> Self {
        f64::from_bits(exact_arithmetic::add(exact_arithmetic::DF, a.to_bits(), b.to_bits(), r))
    }
    #[inline]
    fn mul_to(a: Self, b: Self, r: Rounding) -> Self {
        f64::from_bits(exact_arithmetic::mul(exact_arithmetic::DF, a.to_bits(), b.to_bits(), r))
    }
    #[inline]
    fn mad_to(a: Self, b: Self, c: Self, r: Rounding) -> Self {
        f64::from_bits(exact_arithmetic::fma(exact_arithmetic::DF, a.to_bits(), b.to_bits(), c.to_bits(), r))
    }
    #[inline]
    fn div_to(a: Self, b: Self, r: Rounding) -> Self {
        f64::from_bits(exact_arithmetic::div(exact_arithmetic::DF, a.to_bits(), b.to_bits(), r))
    }
    #[inline]
    fn sqrt_to(a: Self, r: Rounding) -> Self {
        f64::from_bits(exact_arithmetic::sqrt(exact_arithmetic::DF, a.to_bits(), r))
    }
}

/// A floating-point element: `f32` (`f`), `f64` (`df`), [`Hf`], [`Bf`]. (Sealed.)
pub trait Float: Core {
    /// 0.0.
    const ZERO: Self;
    /// 1.0.
    const ONE: Self;

    /// A denormal becomes the zero of its sign, if the mode flushes this type.
    #[inline(always)]
    fn flush<M: Mode>(self, m: M) -> Self {
        if Self::keeps(m) {
            return self;
        }
        let bits = Lane::to_bits(self);
        let denormal = bits & Self::FORMAT.infinity() == 0;
        <Self as Lane>::from_bits(if denormal { bits & Self::FORMAT.sign() } else { bits })
    }

    /// What every result goes through: flushing, and in ALT mode `f` infinities become the largest
    /// finite number of their sign (chapter 2).
    #[inline(always)]
    fn finish<M: Mode>(self, m: M) -> Self {
        let x = self.flush(m);
        if !m.alt() || Self::FORMAT.mant != exact_arithmetic::F.mant {
            return x;
        }
        let (bits, inf) = (Lane::to_bits(x), Self::FORMAT.infinity());
        let infinite = bits & !Self::FORMAT.sign() == inf;
        <Self as Lane>::from_bits(if infinite { bits - 1 } else { bits })
    }

    /// The result of an operation on these operands, whatever NaN the host made of it.
    #[inline(always)]
    fn settled<M: Mode, const N: usize>(self, m: M, operands: [Self; N]) -> Self {
        if !(m.tells_nans() && self.not_a_number()) {
            return self;
        }
        Lane::from_bits(nan::propagated_nan(Self::FORMAT, operands.map(Lane::to_bits)))
    }

    /// A source of a sum, to which its modifier was applied, as the sum takes it: a NaN without its negation.
    #[inline(always)]
    fn summed(self, m: Modifier) -> Self {
        if nan::negates_in_sum(m) && self.not_a_number() { Lane::neg(self) } else { self }
    }

    /// In ALT mode, the absolute value of an `f` (the source of `log`, `sqrt` and `rsqrt`).
    #[inline(always)]
    fn alt_abs<M: Mode>(self, m: M) -> Self {
        if m.alt() && Self::FORMAT.mant == exact_arithmetic::F.mant { Lane::abs(self) } else { self }
    }

    /// Is it a NaN?
    #[inline(always)]
    fn not_a_number(self) -> bool {
        Self::FORMAT.is_nan(Lane::to_bits(self))
    }

    /// `self + b`, correctly rounded (page ADD).
    #[inline(always)]
    fn add<M: Mode>(self, b: Self, m: M) -> Self {
        let (a, b) = (self.flush(m), b.flush(m));
        let r = m.rounding();
        let x = if r == Rounding::NearestEven { Self::add_near(a, b) } else { Self::add_to(a, b, r) };
        x.settled(m, [a, b]).finish(m)
    }

    /// `self · b`, correctly rounded (page MUL).
    #[inline(always)]
    fn mul<M: Mode>(self, b: Self, m: M) -> Self {
        let (a, b) = (self.flush(m), b.flush(m));
        let r = m.rounding();
        let x = if r == Rounding::NearestEven { Self::mul_near(a, b) } else { Self::mul_to(a, b, r) };
        x.settled(m, [a, b]).finish(m)
    }

    /// `self · b + c`, fused: rounded once (page MAD promises the hardware's mad, which is fused).
    ///
    /// Without the `fma` target feature the host's fused operation is a slow library call.
    #[inline(always)]
    fn mad<M: Mode>(self, b: Self, c: Self, m: M) -> Self {
        let (a, b, c) = (self.flush(m), b.flush(m), c.flush(m));
        let r = m.rounding();
        let x = if r == Rounding::NearestEven { Self::mad_near(a, b, c) } else { Self::mad_to(a, b, c, r) };
        x.settled(m, [a, b, c]).finish(m)
    }

    /// `self / b`, correctly rounded (pages DIVM; DIV allows less and gets this too).
    #[inline(always)]
    fn div<M: Mode>(self, b: Self, m: M) -> Self {
        let (a, b) = (self.flush(m), b.flush(m));
        let r = m.rounding();
        let x = if r == Rounding::NearestEven { Self::div_near(a, b) } else { Self::div_to(a, b, r) };
        x.settled(m, [a, b]).finish(m)
    }

    /// `√self`, correctly rounded (pages SQRTM and SQRT). Negative: NaN; −0: −0; in ALT mode `√|self|`.
    #[inline(always)]
    fn sqrt<M: Mode>(self, m: M) -> Self {
        let a = self.flush(m).alt_abs(m);
        let r = m.rounding();
        let x = if r == Rounding::NearestEven { Self::sqrt_near(a) } else { Self::sqrt_to(a, r) };
        x.settled(m, [a]).finish(m)
    }

    /// The smaller operand (page MIN_MAX). One NaN: the other operand; two: `b`. Equal (also −0 and +0): `b`.
    #[inline(always)]
    fn min<M: Mode>(self, b: Self, m: M) -> Self {
        let (a, b) = (self.flush(m), b.flush(m));
        let (x, y) = (a.host(), b.host());
        if x < y || (b.not_a_number() && !a.not_a_number()) { a } else { b }
    }

    /// The larger operand (page MIN_MAX), with [`Float::min`]'s rules.
    #[inline(always)]
    fn max<M: Mode>(self, b: Self, m: M) -> Self {
        let (a, b) = (self.flush(m), b.flush(m));
        let (x, y) = (a.host(), b.host());
        if x > y || (b.not_a_number() && !a.not_a_number()) { a } else { b }
    }

    /// Does the relation hold (page CMP)? With a NaN only [`Relation::Ne`] does; −0 equals +0.
    #[inline(always)]
    fn compare<M: Mode>(self, relation: Relation, b: Self, m: M) -> bool {
        relation.holds(self.flush(m).host(), b.flush(m).host())
    }

    /// `.sat`: clamps to [0, 1]; NaN and −0 give +0 (chapter 2, Saturation).
    #[inline(always)]
    fn saturate(self) -> Self {
        let x = self.host();
        let low = if x > Self::ZERO.host() { self } else { Self::ZERO };
        if x > Self::ONE.host() { Self::ONE } else { low }
    }

    /// ⌊self⌋ (page RNDD). Infinities, NaN and the zero's sign pass.
    #[inline(always)]
    fn rndd<M: Mode>(self, m: M) -> Self {
        let a = self.flush(m);
        Self::from_host(a.host().floor()).settled(m, [a]).finish(m)
    }

    /// ⌈self⌉ (page RNDU); −0.5 gives −0.
    #[inline(always)]
    fn rndu<M: Mode>(self, m: M) -> Self {
        let a = self.flush(m);
        Self::from_host(a.host().ceil()).settled(m, [a]).finish(m)
    }

    /// The nearest integer, ties to even (page RNDE).
    #[inline(always)]
    fn rnde<M: Mode>(self, m: M) -> Self {
        let a = self.flush(m);
        Self::from_host(a.host().even()).settled(m, [a]).finish(m)
    }

    /// The integer part (page RNDZ).
    #[inline(always)]
    fn rndz<M: Mode>(self, m: M) -> Self {
        let a = self.flush(m);
        Self::from_host(a.host().trunc()).settled(m, [a]).finish(m)
    }

    /// `self − ⌊self⌋`, rounded as the mode says (page FRC): a tiny negative value gives 1.0 in
    /// nearest even; an infinity gives NaN; both zeros give +0 (−0 in RD).
    #[inline(always)]
    fn frc<M: Mode>(self, m: M) -> Self {
        let x = self.flush(m);
        x.add(Lane::neg(x.rndd(m)), m)
    }

    /// `s1·s0 + s2·(1 − s0)` (page LRP): the difference and the second product are rounded, the rest is fused.
    #[inline(always)]
    fn lrp<M: Mode>(s0: Self, s1: Self, s2: Self, m: M) -> Self {
        let rest = Self::ONE.add(Lane::neg(s0), m);
        s1.mad(s0, s2.mul(rest, m), m)
    }

    /// `p·u + q·v + r` (page PLN), as two fused steps: `p·u + (q·v + r)`.
    #[inline(always)]
    fn pln<M: Mode>(p: Self, q: Self, r: Self, u: Self, v: Self, m: M) -> Self {
        p.mad(u, q.mad(v, r, m), m)
    }
}

impl Float for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
}
impl Float for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
}
impl Float for Hf {
    const ZERO: Hf = Hf(0);
    const ONE: Hf = Hf(0x3c00);
}
impl Float for Bf {
    const ZERO: Bf = Bf(0);
    const ONE: Bf = Bf(0x3f80);
}
