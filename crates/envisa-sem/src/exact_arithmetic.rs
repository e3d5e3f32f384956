//! Exact arithmetic in integers with one rounding: the directed modes of `df`, wide integers to floats.
//!
//! Slow (tens of nanoseconds) but right in every mode; it is also what tests hold the fast paths against.

use crate::float_mode::Rounding;

/// A binary interchange format: widths of the stored significand and of the exponent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Stored significand bits.
    pub mant: u32,
    /// Exponent bits.
    pub exp: u32,
}

/// `hf`.
pub const HF: Format = Format { mant: 10, exp: 5 };
/// `bf`.
pub const BF: Format = Format { mant: 7, exp: 8 };
/// `f`.
pub const F: Format = Format { mant: 23, exp: 8 };
/// `df`.
pub const DF: Format = Format { mant: 52, exp: 11 };
/// 8-bit float E5M2 (`bf8`).
pub const BF8: Format = Format { mant: 2, exp: 5 };

impl Format {
    /// The exponent's bias.
    pub const fn bias(self) -> i32 {
        (1 << (self.exp - 1)) - 1
    }
    /// The bits of +∞.
    pub const fn infinity(self) -> u64 {
        ((1 << self.exp) - 1) << self.mant
    }
    /// The sign bit.
    pub const fn sign(self) -> u64 {
        1 << (self.mant + self.exp)
    }
    /// The bits of a quiet NaN.
    pub const fn nan(self) -> u64 {
        self.infinity() | 1 << (self.mant - 1)
    }
    /// Are these the bits of a NaN?
    pub const fn is_nan(self, bits: u64) -> bool {
        bits & (self.sign() - 1) > self.infinity()
    }
}

/// A finite number `(-1)^negative · mant · 2^exp`; zero has `mant` 0.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    /// The sign.
    pub negative: bool,
    /// The significand.
    pub mant: u128,
    /// The exponent of the significand's unit.
    pub exp: i32,
}

/// A number taken apart.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// Zero or finite.
    Finite(Exact),
    /// An infinity, negative or not.
    Infinite(bool),
    /// Not a number.
    Nan,
}

/// Takes a number of this format apart.
pub const fn unpack(f: Format, bits: u64) -> Number {
    let negative = bits & f.sign() != 0;
    let field = (bits >> f.mant) as i32 & ((1 << f.exp) - 1);
    let frac = bits & ((1 << f.mant) - 1);
    if field == (1 << f.exp) - 1 {
        return if frac == 0 { Number::Infinite(negative) } else { Number::Nan };
    }
    let (mant, field) = if field == 0 { (frac, 1) } else { (frac | 1 << f.mant, field) };
    Number::Finite(Exact { negative, mant: mant as u128, exp: field - f.bias() - f.mant as i32 })
}

/// Rounds `x`, plus a fraction of its unit if `sticky`, to this format; the result's bits.
pub const fn round(f: Format, x: Exact, sticky: bool, r: Rounding) -> u64 {
    let sign = if x.negative { f.sign() } else { 0 };
    if x.mant == 0 && !sticky {
        return sign;
    }
    // Two spare low bits, so that a sticky remainder is never mistaken for a half.
    let (mut m, mut e) = (x.mant, x.exp);
    let mut lost = sticky;
    if m >> 126 != 0 {
        lost |= m & 3 != 0;
        m >>= 2;
        e += 2;
    }
    m = m << 2 | lost as u128;
    e -= 2;
    let top = 127 - m.leading_zeros() as i32;
    let min_exp = 1 - f.bias() - f.mant as i32;
    // The exponent of the result's unit in the last place.
    let unit = if top + e - f.mant as i32 > min_exp { top + e - f.mant as i32 } else { min_exp };
    let shift = unit - e;
    let (q, half, rest) = if shift <= 0 {
        // `top` bounds the left shift: the result has at most mant + 1 bits.
        (m << -shift, false, false)
    } else if shift > 127 {
        (0, false, true)
    } else {
        let dropped = m & ((1 << shift) - 1);
        let half = 1u128 << (shift - 1);
        (m >> shift, dropped & half != 0, dropped & (half - 1) != 0)
    };
    let q = q as u64 + r.away(x.negative, q & 1 != 0, half, rest) as u64;
    // For a normal number the implicit bit adds one to the exponent field.
    let field = (unit - min_exp) as u64;
    if unit - min_exp >= 1 << f.exp {
        return overflow(f, x.negative, r);
    }
    let bits = (field << f.mant) + q;
    if bits >= f.infinity() { overflow(f, x.negative, r) } else { sign | bits }
}

const fn overflow(f: Format, negative: bool, r: Rounding) -> u64 {
    let sign = if negative { f.sign() } else { 0 };
    if r.overflows_to_infinity(negative) { sign | f.infinity() } else { sign | (f.infinity() - 1) }
}

/// Rounds an integer to this format.
pub const fn from_int(f: Format, x: i128, r: Rounding) -> u64 {
    round(f, Exact { negative: x < 0, mant: x.unsigned_abs(), exp: 0 }, false, r)
}

/// Converts between formats; widening is exact.
pub const fn convert(from: Format, to: Format, bits: u64, r: Rounding) -> u64 {
    match unpack(from, bits) {
        Number::Finite(x) => round(to, x, false, r),
        Number::Infinite(n) => to.infinity() | if n { to.sign() } else { 0 },
        Number::Nan => to.nan() | if bits & from.sign() != 0 { to.sign() } else { 0 },
    }
}

/// The sum of two exact numbers, rounded. An exact zero is +0, or −0 in RD, or the sign both terms share.
fn sum(f: Format, a: Exact, b: Exact, r: Rounding) -> u64 {
    let zero = |n: bool| if n { f.sign() } else { 0 };
    if a.mant == 0 && b.mant == 0 {
        let same = a.negative == b.negative;
        return zero(if same { a.negative } else { r == Rounding::Down });
    }
    if a.mant == 0 {
        return round(f, b, false, r);
    }
    if b.mant == 0 {
        return round(f, a, false, r);
    }
    // Both significands with the top bit at 125, the larger first.
    let norm = |x: Exact| {
        let s = x.mant.leading_zeros() as i32 - 2;
        Exact { mant: x.mant << s, exp: x.exp - s, ..x }
    };
    let (a, b) = (norm(a), norm(b));
    let (a, b) = if (a.exp, a.mant) >= (b.exp, b.mant) { (a, b) } else { (b, a) };
    let d = (a.exp - b.exp) as u32;
    // A product has at most 106 bits: nothing is dropped for a distance below 20, and beyond that
    // subtraction cancels at most one bit, so a sticky bit suffices.
    let (low, lost) =
        if d > 127 { (0, true) } else { (b.mant >> d, b.mant & ((1u128 << d).wrapping_sub(1)) != 0) };
    let mant = if a.negative == b.negative { a.mant + low } else { a.mant - low - lost as u128 };
    if mant == 0 && !lost {
        return zero(r == Rounding::Down);
    }
    round(f, Exact { negative: a.negative, mant, exp: a.exp }, lost, r)
}

/// `a + b`.
pub fn add(f: Format, a: u64, b: u64, r: Rounding) -> u64 {
    use Number::*;
    match (unpack(f, a), unpack(f, b)) {
        (Nan, _) | (_, Nan) => f.nan(),
        (Infinite(x), Infinite(y)) if x != y => f.nan(),
        (Infinite(_), _) => a,
        (_, Infinite(_)) => b,
        (Finite(x), Finite(y)) => sum(f, x, y, r),
    }
}

/// `a · b`.
pub fn mul(f: Format, a: u64, b: u64, r: Rounding) -> u64 {
    use Number::*;
    let negative = (a ^ b) & f.sign() != 0;
    let sign = if negative { f.sign() } else { 0 };
    match (unpack(f, a), unpack(f, b)) {
        (Nan, _) | (_, Nan) => f.nan(),
        (Infinite(_), Finite(x)) | (Finite(x), Infinite(_)) if x.mant == 0 => f.nan(),
        (Infinite(_), _) | (_, Infinite(_)) => sign | f.infinity(),
        (Finite(x), Finite(y)) => {
            round(f, Exact { negative, mant: x.mant * y.mant, exp: x.exp + y.exp }, false, r)
        }
    }
}

/// `a · b + c`, rounded once.
pub fn fma(f: Format, a: u64, b: u64, c: u64, r: Rounding) -> u64 {
    use Number::*;
    let negative = (a ^ b) & f.sign() != 0;
    match (unpack(f, a), unpack(f, b), unpack(f, c)) {
        (Nan, ..) | (_, Nan, _) | (.., Nan) => f.nan(),
        (Finite(x), Finite(y), Finite(z)) => {
            sum(f, Exact { negative, mant: x.mant * y.mant, exp: x.exp + y.exp }, z, r)
        }
        (Finite(_), Finite(_), Infinite(_)) => c,
        // The product is infinite or invalid; a finite addend changes neither.
        (.., z) => {
            let p = mul(f, a, b, r);
            match z {
                Infinite(n) if !f.is_nan(p) && n != negative => f.nan(),
                _ => p,
            }
        }
    }
}

/// `a / b`.
pub fn div(f: Format, a: u64, b: u64, r: Rounding) -> u64 {
    use Number::*;
    let negative = (a ^ b) & f.sign() != 0;
    let sign = if negative { f.sign() } else { 0 };
    match (unpack(f, a), unpack(f, b)) {
        (Nan, _) | (_, Nan) | (Infinite(_), Infinite(_)) => f.nan(),
        (Infinite(_), _) => sign | f.infinity(),
        (_, Infinite(_)) => sign,
        (Finite(x), Finite(y)) => match (x.mant, y.mant) {
            (0, 0) => f.nan(),
            (0, _) => sign,
            (_, 0) => sign | f.infinity(),
            (n, d) => {
                let s = n.leading_zeros() as i32 - 1;
                let (n, e) = (n << s, x.exp - s - y.exp);
                round(f, Exact { negative, mant: n / d, exp: e }, n % d != 0, r)
            }
        },
    }
}

/// `√a`.
pub fn sqrt(f: Format, a: u64, r: Rounding) -> u64 {
    match unpack(f, a) {
        Number::Finite(x) if x.mant == 0 => a,
        Number::Nan | Number::Infinite(true) => f.nan(),
        Number::Infinite(false) => a,
        Number::Finite(x) if x.negative => f.nan(),
        Number::Finite(x) => {
            let mut s = x.mant.leading_zeros() as i32 - 1;
            s -= (x.exp - s) & 1;
            let m = x.mant << s;
            let root = m.isqrt();
            round(f, Exact { negative: false, mant: root, exp: (x.exp - s) / 2 }, root * root != m, r)
        }
    }
}
