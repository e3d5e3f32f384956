//! Sequences of lane operations: what [`crate::math`]'s functions are written in.
//!
//! A function over singles is written once, generic over [`Lanes`], as a straight line of operations that
//! IEEE 754 or the integers define to the last bit: no branch, no approximation that differs between CPUs,
//! no double. Whoever has the operations has the function, with the same bits:
//!
//! * [`Scalar`] computes one channel, on any host,
//! * `x86::Avx2` and `x86::Avx512` compute eight and sixteen by one instruction an operation,
//! * a compiler implements [`Lanes`] by *emitting* each operation on whatever vector width it has, its values
//!   being names of registers or of nodes, or walks over a [`Sequence`], which is the same written down.
//!
//! ```
//! use envisa_sem::lanes::{Lanes, Scalar};
//!
//! /// x² + 1, rounded once.
//! fn quadratic<L: Lanes>(l: &mut L, x: L::V) -> L::V {
//!     let one = l.float(1.0);
//!     l.fma(x, x, one)
//! }
//! assert_eq!(f32::from_bits(quadratic(&mut Scalar, 3f32.to_bits())), 10.0);
//! ```
//!
//! ## The environment
//!
//! Every floating-point operation rounds to nearest even and keeps denormals, sources and results alike
//! (on x86 the start value of MXCSR). Flushing and ALT mode are applied around a function, never within.
//!
//! ## NaN
//!
//! A NaN that goes in comes out quiet with its payload; a NaN that a function makes is written as a
//! constant. No sequence here leaves to the CPU which payload or sign a NaN has, so that results compare
//! by bits.

mod record;
#[cfg(target_arch = "x86_64")]
pub mod x86;

pub use record::{LaneOp, Sequence, Step, Value};

/// Operations on vectors (or one) of 32-bit lanes.
///
/// `V` holds 32 bits a lane, a single or an integer as the operation takes it; `M` is a truth value a lane.
/// Both are handles: copying one copies no lanes, and a sequence may use a handle any number of times.
pub trait Lanes: Sized {
    /// 32 bits a lane.
    type V: Copy;
    /// A truth value a lane.
    type M: Copy;

    /// These bits in every lane.
    fn bits(&mut self, bits: u32) -> Self::V;

    /// `a + b`.
    fn add(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// `a − b`.
    fn sub(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// `a · b`.
    fn mul(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// `a / b`, correctly rounded.
    fn div(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// `a · b + c`, rounded once.
    fn fma(&mut self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `c − a · b`, rounded once (x86 `vfnmadd`, aarch64 `fmls`).
    fn fnma(&mut self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `a · b − c`, rounded once (x86 `vfmsub`).
    fn fms(&mut self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `a < b ? a : b`, as x86 `minps`: `b` if either is NaN, and of two zeros `b`.
    fn min(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// `a > b ? a : b`, as x86 `maxps`: `b` if either is NaN, and of two zeros `b`.
    fn max(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// To the nearest integral value, ties to even.
    fn rint(&mut self, a: Self::V) -> Self::V;
    /// A signed integer as a single (only integers below 2^24 in magnitude are asked for).
    fn int_to_float(&mut self, a: Self::V) -> Self::V;

    /// Bitwise and.
    fn and(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise or.
    fn or(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise exclusive or.
    fn xor(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Shift left, the count below 32.
    fn shl(&mut self, a: Self::V, count: u32) -> Self::V;
    /// Logical shift right, the count below 32.
    fn shr(&mut self, a: Self::V, count: u32) -> Self::V;
    /// Arithmetic shift right, the count below 32.
    fn sar(&mut self, a: Self::V, count: u32) -> Self::V;
    /// Sum of integers, wrapping.
    fn iadd(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Difference of integers, wrapping.
    fn isub(&mut self, a: Self::V, b: Self::V) -> Self::V;

    /// `a < b` of singles; false with a NaN.
    fn lt(&mut self, a: Self::V, b: Self::V) -> Self::M;
    /// `a = b` of singles; false with a NaN.
    fn eq(&mut self, a: Self::V, b: Self::V) -> Self::M;
    /// Is one of them NaN?
    fn unordered(&mut self, a: Self::V, b: Self::V) -> Self::M;
    /// `a < b` of signed integers.
    fn ilt(&mut self, a: Self::V, b: Self::V) -> Self::M;
    /// `a = b` of integers.
    fn ieq(&mut self, a: Self::V, b: Self::V) -> Self::M;
    /// Both.
    fn both(&mut self, a: Self::M, b: Self::M) -> Self::M;
    /// Either or both.
    fn either(&mut self, a: Self::M, b: Self::M) -> Self::M;
    /// `m ? a : b`.
    fn select(&mut self, m: Self::M, a: Self::V, b: Self::V) -> Self::V;

    /// `table[index & 15]` (a permutation of one AVX-512 register, of two AVX2 registers).
    fn table(&mut self, table: &[u32; 16], index: Self::V) -> Self::V;

    /// This single in every lane.
    #[inline(always)]
    fn float(&mut self, x: f32) -> Self::V {
        self.bits(x.to_bits())
    }

    /// The same with the sign bit inverted.
    #[inline(always)]
    fn neg(&mut self, a: Self::V) -> Self::V {
        let sign = self.bits(SIGN);
        self.xor(a, sign)
    }

    /// The same with the sign bit cleared.
    #[inline(always)]
    fn abs(&mut self, a: Self::V) -> Self::V {
        let rest = self.bits(!SIGN);
        self.and(a, rest)
    }

    /// `a < b` of unsigned integers.
    #[inline(always)]
    fn ult(&mut self, a: Self::V, b: Self::V) -> Self::M {
        let sign = self.bits(SIGN);
        let (a, b) = (self.xor(a, sign), self.xor(b, sign));
        self.ilt(a, b)
    }

    /// Rounds `a`, at most 2^21 in magnitude, to the nearest integer, ties to even. The integer of a NaN
    /// is arbitrary.
    #[inline(always)]
    fn round(&mut self, a: Self::V) -> Rounded<Self::V> {
        let magic = self.float(MAGIC);
        let bits = self.add(a, magic);
        Rounded { float: self.sub(bits, magic), bits }
    }

    /// Where `a` is not a positive normal number: denormal, negative, ±0, ±∞, NaN (x86 `vfpclassps`).
    #[inline(always)]
    fn not_normal(&mut self, a: Self::V) -> Self::M {
        not_normal_by_integers(self, a)
    }

    /// The nearest integer, ties to even, for [`Lanes::scale`], and `a` less it. Beyond (−151, 129), where
    /// powers of two underflow or overflow, only the power is defined: of the first value any function that is
    /// within [½, 2] for arguments within ±½, scaled by the second, is 0 or ∞. NaN gives NaN.
    #[inline(always)]
    fn split(&mut self, a: Self::V) -> (Self::V, Rounded<Self::V>) {
        split_by_bounds(self, a)
    }

    /// `a · 2^n`, rounded once, for `a` within [½, 2] or NaN and `n` within ±252, or of [`Lanes::split`] (x86
    /// `vscalefps` of `n.float`).
    #[inline(always)]
    fn scale(&mut self, a: Self::V, n: Rounded<Self::V>) -> Self::V {
        scale_by_products(self, a, n)
    }

    /// 2^a of `a` that is integral or infinite (x86 `vscalefps`). NaN gives NaN.
    #[inline(always)]
    fn power_of_two(&mut self, a: Self::V) -> Self::V {
        // The rest is 0, or NaN.
        let (rest, n) = self.split(a);
        let one = self.float(1.0);
        let one = self.add(rest, one);
        self.scale(one, n)
    }

    /// `usual` where `m` does not hold, `f`'s result where it does. Few or no lanes are expected to: an
    /// implementation may skip `f` where none does.
    #[inline(always)]
    fn rarely<const N: usize>(
        &mut self,
        m: Self::M,
        usual: [Self::V; N],
        f: impl FnOnce(&mut Self) -> [Self::V; N],
    ) -> [Self::V; N] {
        let other = f(self);
        let mut out = usual;
        for i in 0..N {
            out[i] = self.select(m, other[i], usual[i]);
        }
        out
    }
}

/// [`Lanes::scale`] where there is no instruction for it.
#[inline(always)]
pub fn scale_by_products<L: Lanes>(l: &mut L, a: L::V, n: Rounded<L::V>) -> L::V {
    // 2^⌊n/2⌋ and 2^(n − ⌊n/2⌋): the first product is exact. Shifting leaves nothing of `MAGIC`.
    let one = l.float(1.0);
    let half = l.shr(n.bits, 1);
    let rest = l.isub(n.bits, half);
    let (half, rest) = (l.shl(half, 23), l.shl(rest, 23));
    let (half, rest) = (l.iadd(half, one), l.iadd(rest, one));
    let a = l.mul(a, half);
    l.mul(a, rest)
}

/// [`Lanes::not_normal`] where there is no instruction for it.
#[inline(always)]
pub fn not_normal_by_integers<L: Lanes>(l: &mut L, a: L::V) -> L::M {
    // As unsigned integers, `a` less the least normal number is beyond the last; both are turned by the sign.
    let (least, last) = (l.bits(NORMAL ^ SIGN), l.bits((INFINITY - NORMAL - 1) ^ SIGN));
    let a = l.isub(a, least);
    l.ilt(last, a)
}

/// [`Lanes::split`] where there is no instruction for it.
#[inline(always)]
pub fn split_by_bounds<L: Lanes>(l: &mut L, a: L::V) -> (L::V, Rounded<L::V>) {
    let (least, most) = (l.float(-151.0), l.float(129.0));
    let a = l.max(least, a);
    let a = l.min(most, a);
    let n = l.round(a);
    (l.sub(a, n.float), n)
}

/// A function of one or two values, for any lanes.
pub trait Apply {
    /// The function; one of a single value ignores `b`.
    fn apply<L: Lanes>(self, l: &mut L, a: L::V, b: L::V) -> L::V;
}

/// An integral value in both forms.
#[derive(Clone, Copy, Debug)]
pub struct Rounded<V> {
    /// As a single.
    pub float: V,
    /// As an integer in two's complement, modulo 2^22, plus the bits of [`MAGIC`], whose low 22 are 0.
    pub bits: V,
}

/// 1.5 · 2^23: added to a small single, it leaves the nearest integer in the low bits.
pub const MAGIC: f32 = 12_582_912.0;

/// The sign bit.
pub const SIGN: u32 = 0x8000_0000;
/// The bits of +∞.
pub const INFINITY: u32 = 0x7f80_0000;
/// The bits of the least normal number.
pub const NORMAL: u32 = 0x0080_0000;

/// The lanes that a loop over values may be computed in.
#[derive(Clone, Copy, Debug)]
pub enum Host {
    /// One by one; slow where the build does not target a CPU with fused multiply-add.
    Scalar,
    /// In vectors of eight.
    #[cfg(target_arch = "x86_64")]
    Avx2(x86::Avx2),
    /// In vectors of sixteen.
    #[cfg(target_arch = "x86_64")]
    Avx512(x86::Avx512),
}

impl Host {
    /// All that the CPU has, the slowest first.
    pub fn all() -> Vec<Host> {
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "there is nothing to add"))]
        let mut all = vec![Host::Scalar];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(x86::Avx2::detect().map(Host::Avx2));
            all.extend(x86::Avx512::detect().map(Host::Avx512));
        }
        all
    }

    /// `f` of each element of `a` (and `b`).
    ///
    /// # Panics
    /// The slices' lengths differ or are not a multiple of 16.
    #[inline]
    pub fn map(self, f: impl Apply + Copy, a: &[u32], b: &[u32], out: &mut [u32]) {
        match self {
            Host::Scalar => {
                assert!(a.len() == out.len() && b.len() == out.len() && out.len().is_multiple_of(16));
                for ((a, b), out) in a.iter().zip(b).zip(out) {
                    *out = f.apply(&mut Scalar, *a, *b);
                }
            }
            #[cfg(target_arch = "x86_64")]
            Host::Avx2(l) => l.map(f, a, b, out),
            #[cfg(target_arch = "x86_64")]
            Host::Avx512(l) => l.map(f, a, b, out),
        }
    }
}

/// One channel, computed by the host.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scalar;

macro_rules! floats {
    ($($name:ident($($a:ident),*) $e:expr;)*) => {$(
        #[inline(always)]
        fn $name(&mut self, $($a: u32),*) -> u32 {
            $(let $a = f32::from_bits($a);)*
            $e.to_bits()
        }
    )*};
}

macro_rules! integers {
    ($($name:ident($($a:ident),*) -> $r:ty: $e:expr;)*) => {$(
        #[inline(always)]
        fn $name(&mut self, $($a: u32),*) -> $r {
            $e
        }
    )*};
}

/// A NaN, made quiet. CPUs' fused operations do not negate one, while a negation of its own does; which of two NaNs a
/// sum takes is the Rust compiler's choice, so they must not differ.
#[inline(always)]
fn quiet(x: f32) -> f32 {
    f32::from_bits(x.to_bits() | 0x0040_0000)
}

impl Lanes for Scalar {
    type V = u32;
    type M = bool;

    floats! {
        add(a, b) a + b;
        sub(a, b) a - b;
        mul(a, b) a * b;
        div(a, b) a / b;
        fma(a, b, c) a.mul_add(b, c);
        fnma(a, b, c) if a.is_nan() { quiet(a) } else { (-a).mul_add(b, c) };
        fms(a, b, c) if c.is_nan() { quiet(c) } else { a.mul_add(b, -c) };
        min(a, b) if a < b { a } else { b };
        max(a, b) if a > b { a } else { b };
        rint(a) a.round_ties_even();
    }
    integers! {
        bits(a) -> u32: a;
        int_to_float(a) -> u32: (a as i32 as f32).to_bits();
        and(a, b) -> u32: a & b;
        or(a, b) -> u32: a | b;
        xor(a, b) -> u32: a ^ b;
        shl(a, n) -> u32: a << n;
        shr(a, n) -> u32: a >> n;
        sar(a, n) -> u32: (a as i32 >> n) as u32;
        iadd(a, b) -> u32: a.wrapping_add(b);
        isub(a, b) -> u32: a.wrapping_sub(b);
        lt(a, b) -> bool: f32::from_bits(a) < f32::from_bits(b);
        eq(a, b) -> bool: f32::from_bits(a) == f32::from_bits(b);
        unordered(a, b) -> bool: f32::from_bits(a).is_nan() | f32::from_bits(b).is_nan();
        ilt(a, b) -> bool: (a as i32) < b as i32;
        ieq(a, b) -> bool: a == b;
        ult(a, b) -> bool: a < b;
    }
    #[inline(always)]
    fn both(&mut self, a: bool, b: bool) -> bool {
        a & b
    }
    #[inline(always)]
    fn either(&mut self, a: bool, b: bool) -> bool {
        a | b
    }
    #[inline(always)]
    fn select(&mut self, m: bool, a: u32, b: u32) -> u32 {
        if m { a } else { b }
    }
    #[inline(always)]
    fn table(&mut self, table: &[u32; 16], index: u32) -> u32 {
        table[index as usize & 15]
    }
    #[inline(always)]
    fn rarely<const N: usize>(
        &mut self,
        m: bool,
        usual: [u32; N],
        f: impl FnOnce(&mut Self) -> [u32; N],
    ) -> [u32; N] {
        if m { f(self) } else { usual }
    }
}
