//! Conversions between element types: what `mov` does, `fcvt`, `srnd` (chapter 2, pages MOV, FCVT, SRND).

use envisa_isa::Type;

use crate::exact_arithmetic;
use crate::float::Float;
use crate::float_mode::{FpMode, Mode, Rounding};
use crate::int;
use crate::lane::{Bf, Hf, Lane};

/// Rounds a double to a single.
#[inline(always)]
pub fn f64_to_f32(x: f64, r: Rounding) -> f32 {
    let near = x as f32;
    if r == Rounding::NearestEven {
        return near;
    }
    let bits = near.to_bits();
    let negative = bits >> 31 != 0;
    let (away, toward) = (near.abs() as f64 > x.abs(), (near.abs() as f64) < x.abs());
    let outwards = r.away(negative, false, true, true);
    // One step along the magnitude, where nearest went the other way; NaN compares false.
    let bits = if outwards && toward { bits + 1 } else { bits };
    f32::from_bits(if !outwards && away { bits - 1 } else { bits })
}

/// Rounds a double to a format of at most 16 bits whose exponent is narrower.
#[inline(always)]
fn narrow64(f: exact_arithmetic::Format, x: f64, r: Rounding) -> u16 {
    let bits = x.to_bits();
    let negative = bits >> 63 != 0;
    let sign = (negative as u64) * f.sign();
    let field = (bits >> 52 & 0x7ff) as i32;
    let frac = bits & ((1 << 52) - 1);
    // A double's denormal is below half of the least value of any narrow format: the implicit bit only
    // makes it a different number below that.
    let m = frac | 1 << 52;
    let zero = bits << 1 == 0;
    let e = field - 1023;
    let min = 1 - f.bias();
    let low = if e < min { min - e } else { 0 };
    let shift = (52 - f.mant as i32 + low).min(63) as u32;
    let (q, dropped) = (m >> shift, m & ((1 << shift) - 1));
    let half = 1u64 << (shift - 1);
    let inc = r.away(negative, q & 1 != 0, dropped & half != 0, dropped & (half - 1) != 0);
    let base = if e < min { 0 } else { ((e - min) as u64) << f.mant };
    let over = if r.overflows_to_infinity(negative) { f.infinity() } else { f.infinity() - 1 };
    let finite = base + q + inc as u64;
    let finite = if e > f.bias() || finite >= f.infinity() { over } else { finite };
    let nan = f.nan() | frac >> (52 - f.mant);
    let special = if frac != 0 { nan } else { f.infinity() };
    let magnitude = if field == 0x7ff { special } else { finite };
    (sign | if zero { 0 } else { magnitude }) as u16
}

/// Rounds a double to a half.
#[inline(always)]
pub fn f64_to_hf(x: f64, r: Rounding) -> Hf {
    Hf(narrow64(exact_arithmetic::HF, x, r))
}

/// Rounds a double to a bfloat16.
#[inline(always)]
pub fn f64_to_bf(x: f64, r: Rounding) -> Bf {
    Bf(narrow64(exact_arithmetic::BF, x, r))
}

/// Rounds a single to a half.
#[inline(always)]
pub fn f32_to_hf(x: f32, r: Rounding) -> Hf {
    if r != Rounding::NearestEven {
        return f64_to_hf(x as f64, r);
    }
    let bits = x.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let abs = bits & 0x7fff_ffff;
    // Rebias, add just under half a unit plus the last kept bit, cut. (Wraps for values not selected.)
    let normal = abs.wrapping_sub(112 << 23).wrapping_add(0xfff + (abs >> 13 & 1)) >> 13;
    // Below 2^-14, adding 0.5 makes the adder round at the half's least unit.
    let denormal = (f32::from_bits(abs) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let finite = if abs < 113 << 23 { denormal } else { normal };
    let special = if abs > 0x7f80_0000 { 0x7e00 | (abs >> 13 & 0x3ff) } else { 0x7c00 };
    Hf(sign | if abs >= 0x477f_f000 { special } else { finite } as u16)
}

/// Rounds a single to a bfloat16.
#[inline(always)]
pub fn f32_to_bf(x: f32, r: Rounding) -> Bf {
    let bits = x.to_bits();
    let negative = bits >> 31 != 0;
    let quiet = (bits >> 16 | 0x40) as u16;
    let (dropped, odd) = (bits & 0xffff, bits & 0x1_0000 != 0);
    let inc = r.away(negative, odd, dropped & 0x8000 != 0, dropped & 0x7fff != 0);
    // Carrying into the exponent is right, up to infinity; an infinity drops nothing.
    let up = ((bits >> 16) as u16).wrapping_add(inc as u16);
    Bf(if x.is_nan() { quiet } else { up })
}

/// Conversion to `D` as `mov` does it.
///
/// * integer → integer: extension by the source's sign, or the low bits; saturating: the nearest value.
/// * float → integer: towards zero in every mode, out of range the nearest value, NaN 0; saturation adds
///   nothing.
/// * integer → float, and float → narrower float: rounded as the mode says; overflow gives an infinity or
///   the largest finite number, as the direction asks.
/// * float → wider float: exact, denormals too, in every mode (chapter 2, "Float to Float with Higher
///   Precision").
/// * same type: the bits are copied; nothing is flushed, a signalling NaN stays.
/// * float → narrower float: denormal sources and results are flushed as the mode says for their types.
/// * saturation to a float type clamps to [0, 1], after rounding.
pub trait Convert<D>: Lane {
    /// Without `.sat`.
    fn convert<M: Mode>(self, m: M) -> D;
    /// With `.sat`.
    fn convert_sat<M: Mode>(self, m: M) -> D;
    /// As a source of arithmetic in `D`: there a denormal of the source's own type counts as a zero where the
    /// mode flushes that type.
    #[inline(always)]
    fn operand<M: Mode>(self, m: M) -> D {
        self.convert(m)
    }
}

macro_rules! int_to_int {
    ($s:ident: $($d:ident)*) => {$(
        impl Convert<$d> for $s {
            #[inline(always)]
            fn convert<M: Mode>(self, _: M) -> $d {
                self as $d
            }
            #[inline(always)]
            fn convert_sat<M: Mode>(self, _: M) -> $d {
                int::resize_sat::<$s, $d>(self)
            }
        }
    )*};
}

macro_rules! float_to_int {
    ($s:ident |$x:ident| $host:expr; $($d:ident)*) => {$(
        impl Convert<$d> for $s {
            #[inline(always)]
            fn convert<M: Mode>(self, _: M) -> $d {
                let $x = self;
                $host as $d
            }
            #[inline(always)]
            fn convert_sat<M: Mode>(self, m: M) -> $d {
                self.convert(m)
            }
        }
    )*};
}

macro_rules! int_to_float {
    ($d:ident |$x:ident, $r:ident| $small:expr, $near:expr, $format:expr; $($s:ident)*) => {$(
        impl Convert<$d> for $s {
            #[inline(always)]
            fn convert<M: Mode>(self, m: M) -> $d {
                let ($x, $r) = (self, m.rounding());
                let out: $d = if $s::BITS <= 32 {
                    // Exact in a double: one rounding.
                    let $x = $x as f64;
                    if $r == Rounding::NearestEven && $s::BITS <= 16 { let $x = self as f32; $near } else { $small }
                } else {
                    <$d as Lane>::from_bits(exact_arithmetic::from_int($format, $x as i128, $r))
                };
                out.finish(m)
            }
            #[inline(always)]
            fn convert_sat<M: Mode>(self, m: M) -> $d {
                Convert::<$d>::convert(self, m).saturate()
            }
        }
    )*};
}

macro_rules! float_to_float {
    ($($s:ident $d:ident |$x:ident, $r:ident| $e:expr;)*) => {$(
        impl Convert<$d> for $s {
            #[inline(always)]
            fn convert<M: Mode>(self, m: M) -> $d {
                let ($x, $r) = (self.flush(m), m.rounding());
                let _ = $r;
                let out: $d = $e;
                out.finish(m)
            }
            #[inline(always)]
            fn convert_sat<M: Mode>(self, m: M) -> $d {
                Convert::<$d>::convert(self, m).saturate()
            }
        }
    )*};
}

macro_rules! float_to_wider {
    ($($s:ident $d:ident |$x:ident| $e:expr;)*) => {$(
        impl Convert<$d> for $s {
            #[inline(always)]
            fn convert<M: Mode>(self, _: M) -> $d {
                let $x = self;
                $e
            }
            #[inline(always)]
            fn convert_sat<M: Mode>(self, m: M) -> $d {
                Convert::<$d>::convert(self, m).saturate()
            }
            #[inline(always)]
            fn operand<M: Mode>(self, m: M) -> $d {
                Convert::<$d>::convert(self.flush(m), m)
            }
        }
    )*};
}

macro_rules! float_to_self {
    ($($s:ident)*) => {$(
        impl Convert<$s> for $s {
            #[inline(always)]
            fn convert<M: Mode>(self, _: M) -> $s {
                self
            }
            #[inline(always)]
            fn convert_sat<M: Mode>(self, m: M) -> $s {
                self.finish(m).saturate()
            }
        }
    )*};
}

int_to_int!(u8: u8 i8 u16 i16 u32 i32 u64 i64);
int_to_int!(i8: u8 i8 u16 i16 u32 i32 u64 i64);
int_to_int!(u16: u8 i8 u16 i16 u32 i32 u64 i64);
int_to_int!(i16: u8 i8 u16 i16 u32 i32 u64 i64);
int_to_int!(u32: u8 i8 u16 i16 u32 i32 u64 i64);
int_to_int!(i32: u8 i8 u16 i16 u32 i32 u64 i64);
int_to_int!(u64: u8 i8 u16 i16 u32 i32 u64 i64);
int_to_int!(i64: u8 i8 u16 i16 u32 i32 u64 i64);
float_to_int!(f32 |x| x; u8 i8 u16 i16 u32 i32 u64 i64);
float_to_int!(f64 |x| x; u8 i8 u16 i16 u32 i32 u64 i64);
float_to_int!(Hf |x| f32::from(x); u8 i8 u16 i16 u32 i32 u64 i64);
float_to_int!(Bf |x| f32::from(x); u8 i8 u16 i16 u32 i32 u64 i64);
int_to_float!(f32 |x, r| f64_to_f32(x, r), x, exact_arithmetic::F; u8 i8 u16 i16 u32 i32);
int_to_float!(f64 |x, r| x, x as f64, exact_arithmetic::DF; u8 i8 u16 i16 u32 i32);
int_to_float!(Hf |x, r| f64_to_hf(x, r), f32_to_hf(x, r), exact_arithmetic::HF; u8 i8 u16 i16 u32 i32 u64 i64);
int_to_float!(Bf |x, r| f64_to_bf(x, r), f32_to_bf(x, r), exact_arithmetic::BF; u8 i8 u16 i16 u32 i32 u64 i64);
float_to_self!(f32 f64 Hf Bf);
float_to_float! {
    f32 Hf |x, r| f32_to_hf(x, r);
    f32 Bf |x, r| f32_to_bf(x, r);
    f64 f32 |x, r| f64_to_f32(x, r);
    f64 Hf |x, r| f64_to_hf(x, r);
    f64 Bf |x, r| f64_to_bf(x, r);
    Hf Bf |x, r| f32_to_bf(f32::from(x), r);
    Bf Hf |x, r| f32_to_hf(f32::from(x), r);
}
float_to_wider! {
    f32 f64 |x| x as f64;
    Hf f32 |x| f32::from(x);
    Hf f64 |x| f64::from(x);
    Bf f32 |x| f32::from(x);
    Bf f64 |x| f64::from(x);
}

macro_rules! quad_to_host {
    ($($s:ident $d:ident $format:expr;)*) => {$(
        impl Convert<$d> for $s {
            #[inline(always)]
            fn convert<M: Mode>(self, m: M) -> $d {
                let r = m.rounding();
                if r == Rounding::NearestEven {
                    self as $d
                } else {
                    <$d as Lane>::from_bits(exact_arithmetic::from_int($format, self as i128, r))
                }
            }
            #[inline(always)]
            fn convert_sat<M: Mode>(self, m: M) -> $d {
                Convert::<$d>::convert(self, m).saturate()
            }
        }
    )*};
}

quad_to_host! {
    u64 f32 exact_arithmetic::F;
    i64 f32 exact_arithmetic::F;
    u64 f64 exact_arithmetic::DF;
    i64 f64 exact_arithmetic::DF;
}

/// `mov` between types known at run time: the source's and result's bits are the low bits of the words.
/// `None` if a type is packed or `bool`, which are not element types.
pub fn convert(to: Type, from: Type, bits: u64, mode: FpMode, sat: bool) -> Option<u64> {
    fn out<S: Convert<D>, D: Lane>(x: S, m: FpMode, sat: bool) -> u64 {
        Lane::to_bits(if sat { x.convert_sat(m) } else { x.convert(m) })
    }
    macro_rules! to {
        ($s:ident) => {{
            let x = <$s as Lane>::from_bits(bits);
            Some(match to {
                Type::Ub => out::<_, u8>(x, mode, sat),
                Type::B => out::<_, i8>(x, mode, sat),
                Type::Uw => out::<_, u16>(x, mode, sat),
                Type::W => out::<_, i16>(x, mode, sat),
                Type::Ud => out::<_, u32>(x, mode, sat),
                Type::D => out::<_, i32>(x, mode, sat),
                Type::Uq => out::<_, u64>(x, mode, sat),
                Type::Q => out::<_, i64>(x, mode, sat),
                Type::F => out::<_, f32>(x, mode, sat),
                Type::Df => out::<_, f64>(x, mode, sat),
                Type::Hf => out::<_, Hf>(x, mode, sat),
                Type::Bf => out::<_, Bf>(x, mode, sat),
                Type::V | Type::Vf | Type::Uv | Type::Bool => return None,
            })
        }};
    }
    match from {
        Type::Ub => to!(u8),
        Type::B => to!(i8),
        Type::Uw => to!(u16),
        Type::W => to!(i16),
        Type::Ud => to!(u32),
        Type::D => to!(i32),
        Type::Uq => to!(u64),
        Type::Q => to!(i64),
        Type::F => to!(f32),
        Type::Df => to!(f64),
        Type::Hf => to!(Hf),
        Type::Bf => to!(Bf),
        Type::V | Type::Vf | Type::Uv | Type::Bool => None,
    }
}

/// BF8 (E5M2) to `hf`, exactly: BF8 is the upper byte of a half (page FCVT). A NaN becomes quiet.
#[inline(always)]
pub fn bf8_to_hf(x: u8) -> Hf {
    let quiet = if x & 0x7f > 0x7c { 0x200 } else { 0 };
    Hf((x as u16) << 8 | quiet)
}

/// `hf` to BF8, to nearest even, denormals kept (page FCVT).
#[inline(always)]
pub fn hf_to_bf8(x: Hf) -> u8 {
    let up = (x.0 as u32 + 0x7f + (x.0 as u32 >> 8 & 1)) >> 8;
    if x.0 & 0x7fff > 0x7c00 { (x.0 >> 8) as u8 | 2 } else { up as u8 }
}

/// HF8 (E4M3: bias 7, no infinity, NaN is 0x7f) to `f`, exactly.
#[inline(always)]
pub fn hf8_to_f32(x: u8) -> f32 {
    let sign = (x as u32 & 0x80) << 24;
    let scaled = f32::from_bits((x as u32 & 0x7f) << 20) * f32::from_bits((127 + 120) << 23);
    let bits = if x & 0x7f == 0x7f { 0x7fc0_0000 } else { scaled.to_bits() };
    f32::from_bits(sign | bits)
}

/// `f` to TF32 (8 exponent, 10 fraction bits, in a dword with 13 low zeros), to nearest even; denormals
/// become zero (page FCVT). The way back is the identity.
#[inline(always)]
pub fn f32_to_tf32(x: f32) -> u32 {
    let bits = x.to_bits();
    let up = (bits.wrapping_add(0xfff + (bits >> 13 & 1))) & !0x1fff;
    let finite = if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { up };
    if x.is_nan() { (bits | 0x40_0000) & !0x1fff } else { finite }
}

/// Stochastic rounding of an `f` to `hf` (page SRND): the low 13 bits of `random` are added to the
/// significand, aligned with its last bit, and the sum is cut. For a half's denormals, the bits that fall
/// off are compared with the random ones likewise, after shifting the random bits to stand just below
/// the half's least unit. Denormals are kept; overflow gives an infinity.
#[inline(always)]
pub fn srnd_hf(x: f32, random: u16) -> Hf {
    let bits = x.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let abs = bits & 0x7fff_ffff;
    let random = random as u64 & 0x1fff;
    let field = (abs >> 23) as i32;
    if abs >= 0x7f80_0000 {
        return f32_to_hf(x, Rounding::NearestEven);
    }
    let e = field.max(1) - 127;
    let m = (abs & 0x7f_ffff) as u64 | if field == 0 { 0 } else { 1 << 23 };
    let low = (-14 - e).clamp(0, 32) as u32;
    let q = (m + (random << low)) >> (13 + low);
    let base = if e < -14 { 0 } else { ((e + 14) as u64) << 10 };
    Hf(sign | (base + q).min(0x7c00) as u16)
}

/// Stochastic rounding of an `hf` to BF8 (page SRND): the 8 bits of `random` are added below the kept
/// bits and the sum is cut. Denormals are kept; overflow gives an infinity.
#[inline(always)]
pub fn srnd_bf8(x: Hf, random: u8) -> u8 {
    if x.0 & 0x7fff >= 0x7c00 {
        return hf_to_bf8(x);
    }
    (x.0.wrapping_add(random as u16) >> 8) as u8
}
