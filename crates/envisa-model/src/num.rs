//! The numbers of the pages, in plain terms: types, exact values, rounding. Nothing here comes from the product.

/// An element type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum T {
    Ub,
    B,
    Uw,
    W,
    Ud,
    D,
    Uq,
    Q,
    Hf,
    Bf,
    F,
    Df,
}

use T::*;

/// The integers up to 32 bits.
pub const INT32: &[T] = &[Ud, D, Uw, W, Ub, B];

impl T {
    /// Its name in text.
    pub fn name(self) -> &'static str {
        match self {
            Ub => "ub",
            B => "b",
            Uw => "uw",
            W => "w",
            Ud => "ud",
            D => "d",
            Uq => "uq",
            Q => "q",
            Hf => "hf",
            Bf => "bf",
            F => "f",
            Df => "df",
        }
    }

    /// Bytes.
    pub fn size(self) -> usize {
        match self {
            Ub | B => 1,
            Uw | W | Hf | Bf => 2,
            Ud | D | F => 4,
            Uq | Q | Df => 8,
        }
    }

    /// Bits.
    pub fn bits(self) -> u32 {
        self.size() as u32 * 8
    }

    /// Is it a float's?
    pub fn is_float(self) -> bool {
        matches!(self, Hf | Bf | F | Df)
    }

    /// Is it a signed integer's?
    pub fn is_signed(self) -> bool {
        matches!(self, B | W | D | Q)
    }

    /// All ones in its bits.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The smallest integer value.
    pub fn least(self) -> i128 {
        if self.is_signed() { -(1i128 << (self.bits() - 1)) } else { 0 }
    }

    /// The largest integer value.
    pub fn most(self) -> i128 {
        if self.is_signed() { (1i128 << (self.bits() - 1)) - 1 } else { (1i128 << self.bits()) - 1 }
    }

    /// The integer that these bits are.
    pub fn int(self, bits: u64) -> i128 {
        let x = (bits & self.mask()) as i128;
        if self.is_signed() && x > self.most() { x - (1i128 << self.bits()) } else { x }
    }

    /// An integer in this type: its low bits, or the nearest value.
    pub fn wrap(self, x: i128, sat: bool) -> u64 {
        let x = if sat { x.clamp(self.least(), self.most()) } else { x };
        x as u64 & self.mask()
    }

    /// Bits of the fraction, and of the exponent, of a float.
    pub fn float(self) -> (u32, u32) {
        match self {
            Hf => (10, 5),
            Bf => (7, 8),
            F => (23, 8),
            Df => (52, 11),
            _ => panic!("{self:?} is not a float"),
        }
    }

    /// The sign bit.
    pub fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// The bits of +infinity.
    pub fn inf(self) -> u64 {
        let (f, e) = self.float();
        ((1 << e) - 1) << f
    }

    /// A quiet NaN.
    pub fn nan(self) -> u64 {
        self.inf() | 1 << (self.float().0 - 1)
    }

    /// The bits of 1.0.
    pub fn one(self) -> u64 {
        let (f, e) = self.float();
        ((1 << (e - 1)) - 1) << f
    }

    /// Are these a NaN's bits?
    pub fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() & self.mask() > self.inf()
    }

    /// Are these an infinity's bits?
    pub fn is_inf(self, bits: u64) -> bool {
        bits & !self.sign() & self.mask() == self.inf()
    }

    /// Are these a zero's bits?
    pub fn is_zero(self, bits: u64) -> bool {
        bits & !self.sign() & self.mask() == 0
    }

    /// Are these a denormal's bits?
    pub fn is_denormal(self, bits: u64) -> bool {
        let m = bits & !self.sign() & self.mask();
        m != 0 && m < 1 << self.float().0
    }
}

/// How floats round: bits 5:4 of `%cr0`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Rm {
    Even,
    Up,
    Down,
    Zero,
}

/// `%cr0`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode(pub u32);

/// Nearest even, all denormals kept.
pub const IEEE: Mode = Mode(0x4c0);

impl Mode {
    /// The direction of rounding.
    pub fn rm(self) -> Rm {
        [Rm::Even, Rm::Up, Rm::Down, Rm::Zero][(self.0 >> 4 & 3) as usize]
    }

    /// ALT mode.
    pub fn alt(self) -> bool {
        self.0 & 1 != 0
    }

    /// Are denormals of this type kept?
    pub fn keeps(self, t: T) -> bool {
        match t {
            Df => self.0 & 0x40 != 0,
            Hf => self.0 & 0x400 != 0,
            _ => self.0 & 0x80 != 0,
        }
    }

    /// A denormal as an operation sees or writes it.
    pub fn flush(self, t: T, bits: u64) -> u64 {
        if t.is_denormal(bits) && !self.keeps(t) { bits & t.sign() } else { bits }
    }
}

/// A natural number of any size: 32-bit digits, the least first, the last not zero.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Big(Vec<u32>);

impl Big {
    /// From a machine word.
    pub fn new(x: u64) -> Big {
        Big(vec![x as u32, (x >> 32) as u32]).trim()
    }

    fn trim(mut self) -> Big {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    /// Is it zero?
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Bits up to the highest that is set.
    pub fn bits(&self) -> u32 {
        self.0.last().map_or(0, |d| 32 * self.0.len() as u32 - d.leading_zeros())
    }

    /// Times a power of two.
    pub fn shl(&self, n: u32) -> Big {
        let (whole, part) = ((n / 32) as usize, n % 32);
        let mut out = vec![0; whole];
        let mut carry = 0u64;
        for d in &self.0 {
            let x = (*d as u64) << part | carry;
            out.push(x as u32);
            carry = x >> 32;
        }
        out.push(carry as u32);
        Big(out).trim()
    }

    /// Without the low `n` bits, and whether one of them was set.
    pub fn shr(&self, n: u32) -> (Big, bool) {
        let (whole, part) = ((n / 32) as usize, n % 32);
        if whole >= self.0.len() {
            return (Big::default(), !self.is_zero());
        }
        let lost = self.0[..whole].iter().any(|d| *d != 0) || self.0[whole] & ((1 << part) - 1) != 0;
        let mut out = Vec::new();
        for i in whole..self.0.len() {
            let high = *self.0.get(i + 1).unwrap_or(&0) as u64;
            out.push(((high << 32 | self.0[i] as u64) >> part) as u32);
        }
        (Big(out).trim(), lost)
    }

    /// Which is larger.
    #[allow(clippy::should_implement_trait)]
    pub fn cmp(&self, b: &Big) -> std::cmp::Ordering {
        self.0.len().cmp(&b.0.len()).then_with(|| self.0.iter().rev().cmp(b.0.iter().rev()))
    }

    /// The sum.
    pub fn add(&self, b: &Big) -> Big {
        let mut out = Vec::new();
        let mut carry = 0u64;
        for i in 0..self.0.len().max(b.0.len()) {
            let x = *self.0.get(i).unwrap_or(&0) as u64 + *b.0.get(i).unwrap_or(&0) as u64 + carry;
            out.push(x as u32);
            carry = x >> 32;
        }
        out.push(carry as u32);
        Big(out).trim()
    }

    /// `self - b`, which must not be negative.
    pub fn sub(&self, b: &Big) -> Big {
        let mut out = Vec::new();
        let mut borrow = 0i64;
        for i in 0..self.0.len() {
            let x = self.0[i] as i64 - *b.0.get(i).unwrap_or(&0) as i64 - borrow;
            out.push(x as u32);
            borrow = (x < 0) as i64;
        }
        assert_eq!(borrow, 0);
        Big(out).trim()
    }

    /// The product.
    pub fn mul(&self, b: &Big) -> Big {
        let mut out = vec![0u32; self.0.len() + b.0.len() + 1];
        for (i, x) in self.0.iter().enumerate() {
            let mut carry = 0u64;
            for (j, y) in b.0.iter().enumerate() {
                let t = *x as u64 * *y as u64 + out[i + j] as u64 + carry;
                out[i + j] = t as u32;
                carry = t >> 32;
            }
            let mut k = i + b.0.len();
            while carry != 0 {
                let t = out[k] as u64 + carry;
                out[k] = t as u32;
                carry = t >> 32;
                k += 1;
            }
        }
        Big(out).trim()
    }

    /// The low 64 bits.
    pub fn low(&self) -> u64 {
        *self.0.first().unwrap_or(&0) as u64 | (*self.0.get(1).unwrap_or(&0) as u64) << 32
    }
}

/// An exact value.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Num {
    Nan,
    Inf(bool),
    /// `mag · 2^exp`, negative or not (zeros have a sign); a little more than that if `more`.
    Fin {
        neg: bool,
        mag: Big,
        exp: i32,
        more: bool,
    },
}

fn finite(neg: bool, mag: Big, exp: i32) -> Num {
    Num::Fin { neg, mag, exp, more: false }
}

/// The value of a float's bits.
pub fn decode(t: T, bits: u64) -> Num {
    let (f, e) = t.float();
    let neg = bits & t.sign() != 0;
    let field = bits >> f & ((1 << e) - 1);
    let frac = bits & ((1 << f) - 1);
    let bias = (1 << (e - 1)) - 1;
    match field {
        _ if t.is_nan(bits) => Num::Nan,
        _ if t.is_inf(bits) => Num::Inf(neg),
        0 => finite(neg, Big::new(frac), 1 - bias - f as i32),
        _ => finite(neg, Big::new(frac | 1 << f), field as i32 - bias - f as i32),
    }
}

/// An integer's value.
pub fn integer(x: i128) -> Num {
    let m = x.unsigned_abs();
    finite(x < 0, Big::new(m as u64).add(&Big::new((m >> 64) as u64).shl(64)), 0)
}

/// The float nearest to a value, as the mode says: the one place where the model rounds.
pub fn encode(t: T, x: &Num, rm: Rm) -> u64 {
    let (f, e) = t.float();
    let (neg, mag, exp, more) = match x {
        Num::Nan => return t.nan(),
        Num::Inf(neg) => return t.inf() | if *neg { t.sign() } else { 0 },
        Num::Fin { neg, mag, exp, more } => (*neg, mag, *exp, *more),
    };
    let sign = if neg { t.sign() } else { 0 };
    if mag.is_zero() && !more {
        return sign;
    }
    let bias = (1i32 << (e - 1)) - 1;
    let lowest = 1 - bias - f as i32;
    // The exponent of the last place that is kept.
    let last = (exp + mag.bits() as i32 - 1 - f as i32).max(lowest);
    let (kept, half, rest) = if last > exp {
        let (q, _) = mag.shr((last - exp) as u32);
        let (h, _) = mag.shr((last - exp - 1) as u32);
        let (_, rest) = mag.shr((last - exp - 1) as u32);
        (q.low(), h.low() & 1 != 0, rest || more)
    } else {
        (mag.shl((exp - last) as u32).low(), false, more)
    };
    let up = match rm {
        Rm::Even => half && (rest || kept & 1 != 0),
        Rm::Up => !neg && (half || rest),
        Rm::Down => neg && (half || rest),
        Rm::Zero => false,
    };
    let kept = kept + up as u64;
    // The implicit bit adds one to the field.
    let bits = ((last - lowest) as u64).wrapping_mul(1 << f).wrapping_add(kept);
    if last - lowest >= 1 << e || bits >= t.inf() {
        let to_inf = match rm {
            Rm::Even => true,
            Rm::Up => !neg,
            Rm::Down => neg,
            Rm::Zero => false,
        };
        return sign | if to_inf { t.inf() } else { t.inf() - 1 };
    }
    sign | bits
}

/// The sum; exact zeros have the sign that the direction of rounding gives.
pub fn add(a: &Num, b: &Num, rm: Rm) -> Num {
    use std::cmp::Ordering::*;
    match (a, b) {
        (Num::Nan, _) | (_, Num::Nan) => Num::Nan,
        (Num::Inf(x), Num::Inf(y)) if x != y => Num::Nan,
        (Num::Inf(x), _) | (_, Num::Inf(x)) => Num::Inf(*x),
        (Num::Fin { neg: n, mag: m, exp: e, .. }, Num::Fin { neg: k, mag: l, exp: g, .. }) => {
            let low = *e.min(g);
            let (x, y) = (m.shl((e - low) as u32), l.shl((g - low) as u32));
            if n == k {
                return finite(*n, x.add(&y), low);
            }
            match x.cmp(&y) {
                Equal => finite(rm == Rm::Down, Big::default(), 0),
                Greater => finite(*n, x.sub(&y), low),
                Less => finite(*k, y.sub(&x), low),
            }
        }
    }
}

/// The product.
pub fn mul(a: &Num, b: &Num) -> Num {
    let zero = |x: &Num| matches!(x, Num::Fin { mag, .. } if mag.is_zero());
    let neg = |x: &Num| matches!(x, Num::Fin { neg: true, .. } | Num::Inf(true));
    match (a, b) {
        (Num::Nan, _) | (_, Num::Nan) => Num::Nan,
        (Num::Inf(_), x) | (x, Num::Inf(_)) if zero(x) => Num::Nan,
        (Num::Inf(_), _) | (_, Num::Inf(_)) => Num::Inf(neg(a) != neg(b)),
        (Num::Fin { mag: m, exp: e, .. }, Num::Fin { mag: l, exp: g, .. }) => {
            finite(neg(a) != neg(b), m.mul(l), e + g)
        }
    }
}

/// The quotient.
pub fn div(a: &Num, b: &Num) -> Num {
    let zero = |x: &Num| matches!(x, Num::Fin { mag, .. } if mag.is_zero());
    let neg = |x: &Num| matches!(x, Num::Fin { neg: true, .. } | Num::Inf(true));
    let sign = neg(a) != neg(b);
    match (a, b) {
        (Num::Nan, _) | (_, Num::Nan) | (Num::Inf(_), Num::Inf(_)) => Num::Nan,
        (x, y) if zero(x) && zero(y) => Num::Nan,
        (Num::Inf(_), _) => Num::Inf(sign),
        (_, Num::Inf(_)) => finite(sign, Big::default(), 0),
        (_, y) if zero(y) => Num::Inf(sign),
        (Num::Fin { mag: m, exp: e, .. }, Num::Fin { mag: l, exp: g, .. }) => {
            // Long division, bit by bit: 64 more bits than the divisor has.
            let up = 64 + l.bits();
            let n = m.shl(up);
            let (mut q, mut r) = (Big::default(), Big::default());
            for i in (0..n.bits()).rev() {
                let bit = n.shr(i).0.low() & 1;
                r = r.shl(1).add(&Big::new(bit));
                q = q.shl(1);
                if r.cmp(l) != std::cmp::Ordering::Less {
                    r = r.sub(l);
                    q = q.add(&Big::new(1));
                }
            }
            Num::Fin { neg: sign, mag: q, exp: e - g - up as i32, more: !r.is_zero() }
        }
    }
}

/// The square root.
pub fn sqrt(a: &Num) -> Num {
    match a {
        Num::Nan | Num::Inf(true) => Num::Nan,
        Num::Inf(false) => Num::Inf(false),
        Num::Fin { mag, .. } if mag.is_zero() => a.clone(),
        Num::Fin { neg: true, .. } => Num::Nan,
        Num::Fin { mag, exp, .. } => {
            let up = 128 + (exp & 1) as u32;
            let n = mag.shl(up);
            let mut root = Big::default();
            for i in (0..=n.bits() / 2).rev() {
                let next = root.add(&Big::new(1).shl(i));
                if next.mul(&next).cmp(&n) != std::cmp::Ordering::Greater {
                    root = next;
                }
            }
            let more = root.mul(&root) != n;
            Num::Fin { neg: false, mag: root, exp: (exp - up as i32) / 2, more }
        }
    }
}

/// To an integer, towards zero; out of range the nearest value, NaN 0 (chapter 2).
pub fn to_int(t: T, x: &Num) -> u64 {
    match x {
        Num::Nan => 0,
        Num::Inf(neg) => t.wrap(if *neg { t.least() } else { t.most() }, true),
        Num::Fin { neg, mag, exp, .. } => {
            let whole =
                if *exp < 0 { mag.shr(exp.unsigned_abs()).0 } else { mag.shl((*exp).min(300) as u32) };
            let m = if whole.bits() > 100 {
                1i128 << 100
            } else {
                whole.low() as i128 | (whole.shr(64).0.low() as i128) << 64
            };
            t.wrap(if *neg { -m } else { m }, true)
        }
    }
}

/// Clamped to [0, 1], NaN to 0.
pub fn saturate_bits(t: T, bits: u64) -> u64 {
    if t.is_nan(bits) || bits & t.sign() != 0 { 0 } else { bits.min(t.one()) }
}

/// What an operation writes: flushed, in ALT mode without infinities.
pub fn finish_result(t: T, bits: u64, mode: Mode, sat: bool) -> u64 {
    let bits = mode.flush(t, bits);
    let bits = if mode.alt() && t == F && t.is_inf(bits) { bits - 1 } else { bits };
    if sat { saturate_bits(t, bits) } else { bits }
}

/// The value as a host double (exact for all types here).
pub fn to_f64(t: T, bits: u64) -> f64 {
    f64::from_bits(encode(Df, &decode(t, bits), Rm::Even))
}

/// The nearest bits to a double.
pub fn from_f64(t: T, x: f64) -> u64 {
    encode(t, &decode(Df, x.to_bits()), Rm::Even)
}

/// Values at which things happen, for a type.
pub fn corner_values(t: T) -> Vec<u64> {
    if t.is_float() {
        let (f, _) = t.float();
        let (one, inf) = (t.one(), t.inf());
        let half = one - (1 << f);
        let mut v = vec![
            0,
            one,
            one + 1,
            one - 1,
            half,
            half + 1,
            half - 1,
            one + (1 << f),
            one + (1 << f) + (1 << (f - 1)),
            inf - 1,
            inf,
            t.nan(),
            t.nan() + 3,
            // Signalling ones.
            inf + 1,
            inf + (1 << (f - 2)),
            1 << f,
            (1 << f) - 1,
            1,
            (1 << f) + 1,
            one + 5 * (1 << (f - 3)),
            one + (1 << (f - 1)),
            one + (3 << f) + 3 * (1 << (f - 4)),
            one - (3 << f) + 7,
            inf - (1 << f) + 5,
        ];
        let negative: Vec<u64> = v.iter().map(|x| x | t.sign()).collect();
        v.extend(negative);
        return v;
    }
    let mut v = vec![0, 1, 2, 3, 5, 7, 8, 15, 31, 33, 0x55, 100];
    v.extend(
        [t.most(), t.most() - 1, t.least(), t.least() + 1, t.most() / 2, t.most() / 3].map(|x| x as u64),
    );
    v.extend([-1i128, -2, -7, -100, 0x5a5a_a5a5_1234_8765].map(|x| x as u64));
    v.iter().map(|x| x & t.mask()).collect()
}

/// A small generator of numbers (an LCG of our own).
#[derive(Clone, Debug)]
pub struct Rng(pub u64);

impl Rng {
    /// Any 64 bits.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = self.0 >> 29 ^ self.0;
        x.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ x >> 31
    }

    /// A number below this one.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }

    /// One of these.
    pub fn pick<X: Copy>(&mut self, list: &[X]) -> X {
        list[self.below(list.len())]
    }

    /// A value of a type: one in three any bits, else a corner.
    pub fn value(&mut self, t: T) -> u64 {
        if self.below(3) == 0 {
            let x = self.next() & t.mask();
            // Floats of moderate size meet each other more often.
            if t.is_float() && self.below(3) != 0 {
                let (f, _) = t.float();
                let exponent = t.one() + (((x >> 7) & 15) << f) - (8 << f);
                return x & (t.sign() | ((1 << f) - 1)) | exponent;
            }
            x
        } else {
            self.pick(&corner_values(t))
        }
    }
}
