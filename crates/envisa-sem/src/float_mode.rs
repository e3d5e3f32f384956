//! The floating-point mode of `%cr0`: rounding, denormals, ALT.

/// The direction of rounding, numbered as bits 5:4 of `%cr0` (specification chapter 4, `%cr0`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Rounding {
    /// RTNE: to the nearest, ties to the even significand.
    #[default]
    NearestEven = 0,
    /// RU: towards +∞.
    Up = 1,
    /// RD: towards −∞.
    Down = 2,
    /// RTZ: towards zero.
    Zero = 3,
}

impl Rounding {
    /// Every mode, in `%cr0`'s order.
    pub const ALL: [Rounding; 4] = [Rounding::NearestEven, Rounding::Up, Rounding::Down, Rounding::Zero];

    /// Does a value of this sign, whose exact magnitude is `low` plus a fraction of a unit in the last
    /// place, round to the larger magnitude? `odd`: the last kept bit; `half` and `rest`: the first
    /// dropped bit, and whether any bit after it is set.
    #[inline(always)]
    pub const fn away(self, negative: bool, odd: bool, half: bool, rest: bool) -> bool {
        match self {
            Rounding::NearestEven => half & (rest | odd),
            Rounding::Up => !negative & (half | rest),
            Rounding::Down => negative & (half | rest),
            Rounding::Zero => false,
        }
    }

    /// Does an overflow of this sign become an infinity (rather than the largest finite number)?
    #[inline(always)]
    pub const fn overflows_to_infinity(self, negative: bool) -> bool {
        match self {
            Rounding::NearestEven => true,
            Rounding::Up => !negative,
            Rounding::Down => negative,
            Rounding::Zero => false,
        }
    }
}

/// The mode as `%cr0` holds it; other bits of the register are kept but mean nothing here.
///
/// The start value of a thread is 0: RTNE and *all denormals flushed*. The prologue that IGC writes for
/// OpenCL ors [`FpMode::OPENCL`] into it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FpMode(pub u32);

impl FpMode {
    /// Bit 0: ALT mode for `f`.
    pub const ALT: u32 = 1;
    /// Bit 6: keep `df` denormals.
    pub const KEEP_DF: u32 = 0x40;
    /// Bit 7: keep `f` denormals.
    pub const KEEP_F: u32 = 0x80;
    /// Bit 10: keep `hf` denormals.
    pub const KEEP_HF: u32 = 0x400;
    /// The value of a thread's start.
    pub const START: FpMode = FpMode(0);
    /// What OpenCL kernels run in: nearest even, all denormals kept.
    pub const OPENCL: FpMode = FpMode(Self::KEEP_DF | Self::KEEP_F | Self::KEEP_HF);

    const MEANING: u32 = Self::ALT | 0x30 | Self::OPENCL.0;

    /// The mode this value of `%cr0` selects.
    pub const fn from_cr0(cr0: u32) -> FpMode {
        FpMode(cr0)
    }

    /// This mode with another rounding.
    pub const fn with_rounding(self, r: Rounding) -> FpMode {
        FpMode(self.0 & !0x30 | (r as u32) << 4)
    }

    /// Is it the mode of [`Ieee`], so that the fast functions may be used?
    #[inline(always)]
    pub const fn is_ieee(self) -> bool {
        self.0 & Self::MEANING == Self::OPENCL.0
    }

    /// This mode as [`Nearest`], if it differs from [`Ieee`] in nothing but denormals.
    #[inline(always)]
    pub const fn nearest(self) -> Option<Nearest> {
        if self.0 & (Self::ALT | 0x30) == 0 { Some(Nearest(self)) } else { None }
    }
}

/// Nearest even, no ALT, denormals kept or flushed: a mode of which only the latter is known at run time, so
/// that loops over channels become vector code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nearest(FpMode);

/// A floating-point mode: [`Ieee`] when known, [`FpMode`] when read from `%cr0`.
pub trait Mode: Copy {
    /// The direction of rounding.
    fn rounding(self) -> Rounding;
    /// Are `f` (and `bf`) denormals kept?
    fn keep_f(self) -> bool;
    /// Are `df` denormals kept?
    fn keep_df(self) -> bool;
    /// Are `hf` denormals kept?
    fn keep_hf(self) -> bool;
    /// Is ALT mode on for `f`?
    fn alt(self) -> bool;
    /// Are NaN results those of [`crate::nan`], or any?
    #[inline(always)]
    fn tells_nans(self) -> bool {
        true
    }
}

/// A mode in which a NaN may be any NaN, so that loops over channels are the CPU's operations and nothing else: for
/// those that look at the results, and compute anew by the mode itself where one is NaN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnyNan<M>(pub M);

/// What a mode has of the one that it is made of.
macro_rules! inner {
    ($($name:ident: $t:ty),*) => {$(
        #[inline(always)]
        fn $name(self) -> $t {
            self.0.$name()
        }
    )*};
}

impl<M: Mode> Mode for AnyNan<M> {
    inner!(rounding: Rounding, keep_f: bool, keep_df: bool, keep_hf: bool, alt: bool);
    #[inline(always)]
    fn tells_nans(self) -> bool {
        false
    }
}

/// Nearest even, every denormal kept, no ALT: the mode in which this room's arithmetic is the CPU's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ieee;

impl Mode for Ieee {
    #[inline(always)]
    fn rounding(self) -> Rounding {
        Rounding::NearestEven
    }
    #[inline(always)]
    fn keep_f(self) -> bool {
        true
    }
    #[inline(always)]
    fn keep_df(self) -> bool {
        true
    }
    #[inline(always)]
    fn keep_hf(self) -> bool {
        true
    }
    #[inline(always)]
    fn alt(self) -> bool {
        false
    }
}

impl Mode for FpMode {
    #[inline(always)]
    fn rounding(self) -> Rounding {
        Rounding::ALL[(self.0 >> 4 & 3) as usize]
    }
    #[inline(always)]
    fn keep_f(self) -> bool {
        self.0 & Self::KEEP_F != 0
    }
    #[inline(always)]
    fn keep_df(self) -> bool {
        self.0 & Self::KEEP_DF != 0
    }
    #[inline(always)]
    fn keep_hf(self) -> bool {
        self.0 & Self::KEEP_HF != 0
    }
    #[inline(always)]
    fn alt(self) -> bool {
        self.0 & Self::ALT != 0
    }
}

impl Mode for Nearest {
    #[inline(always)]
    fn rounding(self) -> Rounding {
        Rounding::NearestEven
    }
    inner!(keep_f: bool, keep_df: bool, keep_hf: bool);
    #[inline(always)]
    fn alt(self) -> bool {
        false
    }
}
