//! The element of a channel: its types, bits and source modifiers.

pub use envisa_isa::Modifier;
use envisa_isa::Type;

/// A half float (binary16), as its bits. Arithmetic is in [`crate::Float`], conversion in [`crate::Convert`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Hf(pub u16);

/// A bfloat16, as its bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Bf(pub u16);

/// An element a channel can hold.
pub trait Lane: Copy + PartialEq + Default + core::fmt::Debug + Send + Sync + 'static {
    /// Its vISA type.
    const TYPE: Type;
    /// Its width in bits.
    const BITS: u32;

    /// The element whose bits are the low bits of `bits`.
    fn from_bits(bits: u64) -> Self;
    /// The element's bits, zero-extended.
    fn to_bits(self) -> u64;
    /// `(-)`: integers wrap (also unsigned ones, and the most negative value stays), floats flip the sign
    /// bit, of NaN too.
    fn neg(self) -> Self;
    /// `(abs)`: unsigned integers are unchanged, the most negative integer stays, floats clear the sign bit.
    fn abs(self) -> Self;

    /// Applies a source modifier.
    #[inline(always)]
    fn modify(self, m: Modifier) -> Self {
        match m {
            // Saturation is the destination's.
            Modifier::None | Modifier::Sat => self,
            Modifier::Neg => self.neg(),
            Modifier::Abs => self.abs(),
            Modifier::NegAbs => self.abs().neg(),
            Modifier::Not => Self::from_bits(!self.to_bits()),
        }
    }
}

macro_rules! int_lane {
    ($($t:ident $u:ident $ty:ident $abs:ident;)*) => {$(
        impl Lane for $t {
            const TYPE: Type = Type::$ty;
            const BITS: u32 = $t::BITS;
            #[inline(always)]
            fn from_bits(bits: u64) -> Self {
                bits as $t
            }
            #[inline(always)]
            fn to_bits(self) -> u64 {
                self as $u as u64
            }
            #[inline(always)]
            fn neg(self) -> Self {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn abs(self) -> Self {
                int_lane!(@$abs self)
            }
        }
    )*};
    (@signed $x:expr) => { $x.wrapping_abs() };
    (@unsigned $x:expr) => { $x };
}

int_lane! {
    u8 u8 Ub unsigned;
    i8 u8 B signed;
    u16 u16 Uw unsigned;
    i16 u16 W signed;
    u32 u32 Ud unsigned;
    i32 u32 D signed;
    u64 u64 Uq unsigned;
    i64 u64 Q signed;
}

macro_rules! float_lane {
    ($($t:ident $bits:ident $ty:ident |$b:ident| $from:expr, |$x:ident| $to:expr;)*) => {$(
        impl Lane for $t {
            const TYPE: Type = Type::$ty;
            const BITS: u32 = $bits::BITS;
            #[inline(always)]
            fn from_bits(bits: u64) -> Self {
                let $b = bits as $bits;
                $from
            }
            #[inline(always)]
            fn to_bits(self) -> u64 {
                let $x = self;
                $to as u64
            }
            #[inline(always)]
            fn neg(self) -> Self {
                <Self as Lane>::from_bits(Lane::to_bits(self) ^ 1 << ($bits::BITS - 1))
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <Self as Lane>::from_bits(Lane::to_bits(self) & !(1 << ($bits::BITS - 1)))
            }
        }
    )*};
}

float_lane! {
    f32 u32 F |b| f32::from_bits(b), |x| x.to_bits();
    f64 u64 Df |b| f64::from_bits(b), |x| x.to_bits();
    Hf u16 Hf |b| Hf(b), |x| x.0;
    Bf u16 Bf |b| Bf(b), |x| x.0;
}

impl From<Hf> for f32 {
    /// Exact; signalling NaN becomes quiet.
    #[inline(always)]
    fn from(h: Hf) -> f32 {
        // The magnitude placed in the wider fields is the value times 2^-112; the product is exact, and
        // makes denormals normal on the way.
        let scaled = f32::from_bits((h.0 as u32 & 0x7fff) << 13) * f32::from_bits(0x7780_0000);
        let special = if h.0 & 0x7c00 == 0x7c00 { 0x7f80_0000 | quiet(h.0) } else { 0 };
        f32::from_bits(scaled.to_bits() | special | (h.0 as u32 & 0x8000) << 16)
    }
}

/// The quiet bit, if the half is a NaN.
#[inline(always)]
fn quiet(h: u16) -> u32 {
    if h & 0x3ff != 0 { 0x40_0000 } else { 0 }
}

impl From<Bf> for f32 {
    /// Exact: a bfloat16 is the upper half of a single.
    #[inline(always)]
    fn from(b: Bf) -> f32 {
        f32::from_bits((b.0 as u32) << 16)
    }
}

impl From<Hf> for f64 {
    /// Exact.
    #[inline(always)]
    fn from(h: Hf) -> f64 {
        f32::from(h) as f64
    }
}

impl From<Bf> for f64 {
    /// Exact.
    #[inline(always)]
    fn from(b: Bf) -> f64 {
        f32::from(b) as f64
    }
}
