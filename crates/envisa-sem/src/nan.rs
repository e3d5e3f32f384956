//! The bits of results that are NaN.
//!
//! The specification says of a result that it is NaN, not which one. Programs see the difference (a NaN's bits are
//! stored, or moved as an integer), so there is one rule, the same on every CPU and in native code. It is what x86
//! does by itself, as far as that is one thing:
//!
//! 1. The result is the first operand that is NaN, made quiet: its sign and payload. A fused product's factors come
//!    before what is added.
//! 2. Where no operand is NaN (∞ − ∞, 0 · ∞, √−1), it is the quiet NaN with the sign set and no payload.
//! 3. Modifiers of sources apply to NaNs as to other values, but for the negation in a sum ([`Sum`]): that is the
//!    operation's, a difference, and a NaN that is subtracted keeps its sign. What is subtracted from something that
//!    is not comes behind it.
//! 4. Moves and selections change a NaN's bits only where they convert it to another type, which makes it quiet and
//!    keeps the upper bits of its payload. `min` and `max` hand on what their page says, as it is.
//!
//! Functions of the math unit say themselves what they do ([`crate::lanes`]).

use crate::exact_arithmetic::Format;
use crate::lane::Modifier;

/// The bits of the NaN that an operation on these operands gives.
#[inline(always)]
pub(crate) fn propagated_nan<const N: usize>(f: Format, operands: [u64; N]) -> u64 {
    let mut bits = f.sign() | f.infinity();
    for x in operands.iter().rev() {
        if f.is_nan(*x) {
            bits = *x;
        }
    }
    bits | f.nan()
}

/// Does the negation of this modifier belong to the operation, in a sum? A NaN keeps its sign then: see
/// [`Float::summed`](crate::Float::summed).
pub(crate) const fn negates_in_sum(m: Modifier) -> bool {
    matches!(m, Modifier::Neg | Modifier::NegAbs)
}

/// How `add` and `mad` take NaNs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sum {
    /// `a + b`.
    Add,
    /// `a · b + c`.
    Mad,
}

impl Sum {
    /// Does the second source come before the first?
    pub const fn swapped(self, first: Modifier, second: Modifier) -> bool {
        matches!(self, Sum::Add) && negates_in_sum(first) && !negates_in_sum(second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bf, Float, FpMode, Hf, Ieee, Lane, Mode, Rounding};

    /// In a format and a mode: the first that is NaN, made quiet, or else the negative one without payload.
    fn rule<T: Float, M: Mode>(m: M) {
        let f = T::FORMAT;
        let x = |bits: u64| <T as Lane>::from_bits(bits);
        let bits = |x: T| Lane::to_bits(x);
        let (one, inf, none) = (T::ONE, x(f.infinity()), f.sign() | f.nan());
        // A quiet one and a signalling one, with payloads and signs.
        let (p, q) = (x(f.nan() | 1), x(f.sign() | f.infinity() | 2));
        let (quiet_p, quiet_q) = (bits(p), bits(q) | f.nan());
        assert_eq!(bits(Float::add(p, q, m)), quiet_p);
        assert_eq!(bits(Float::add(q, p, m)), quiet_q);
        assert_eq!(bits(Float::mul(one, q, m)), quiet_q);
        assert_eq!(bits(Float::div(q, p, m)), quiet_q);
        assert_eq!(bits(Float::mad(one, q, p, m)), quiet_q);
        assert_eq!(bits(Float::mad(p, q, q, m)), quiet_p);
        assert_eq!(bits(Float::mad(T::ZERO, inf, q, m)), quiet_q);
        assert_eq!(bits(Float::sqrt(q, m)), quiet_q);
        assert_eq!(bits(Float::rnde(q, m)), quiet_q);
        assert_eq!(bits(Float::frc(q, m)), quiet_q);
        // Those that no operand is.
        assert_eq!(bits(Float::add(inf, Lane::neg(inf), m)), none);
        assert_eq!(bits(Float::mul(inf, T::ZERO, m)), none);
        assert_eq!(bits(Float::mad(inf, T::ZERO, one, m)), none);
        assert_eq!(bits(Float::div(T::ZERO, T::ZERO, m)), none);
        assert_eq!(bits(Float::sqrt(Lane::neg(one), m)), none);
    }

    #[test]
    fn one_rule_for_all_formats_and_modes() {
        fn all<M: Mode>(m: M) {
            rule::<f32, M>(m);
            rule::<f64, M>(m);
            rule::<Hf, M>(m);
            rule::<Bf, M>(m);
        }
        all(Ieee);
        for r in Rounding::ALL {
            all(FpMode::OPENCL.with_rounding(r));
            all(FpMode::START.with_rounding(r));
        }
    }

    #[test]
    fn what_is_subtracted_keeps_its_sign_and_comes_last() {
        let nan = f32::from_bits(0x7fc0_0003);
        for (m, same) in [(Modifier::Neg, true), (Modifier::NegAbs, true), (Modifier::Abs, false)] {
            let applied = Lane::modify(nan, m);
            let back = Float::summed(applied, m);
            assert_eq!(back.to_bits() != applied.to_bits(), same, "{m:?}");
            assert_eq!(Float::summed(-1f32, m), -1.0);
        }
        assert!(Sum::Add.swapped(Modifier::Neg, Modifier::Abs));
        assert!(!Sum::Add.swapped(Modifier::Neg, Modifier::NegAbs));
        assert!(!Sum::Mad.swapped(Modifier::Neg, Modifier::None));
    }
}
