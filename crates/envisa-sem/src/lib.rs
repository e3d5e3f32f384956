//! Lane arithmetic: the one place where a number is computed.
//!
//! Everything here is a pure function of one channel's values (or, for DPAS, of one instruction's
//! registers). There is no memory, no engine and no table of instructions. The functions are small,
//! generic over the primitive types and `#[inline]`, so a loop over the channels of an instruction
//! becomes vector code in the caller.
//!
//! ## The floating-point mode
//!
//! A function that rounds or that may meet a denormal takes a [`Mode`]. [`Ieee`] is the compile-time
//! constant "nearest even, denormals kept, no ALT", which is what OpenCL kernels run in after their
//! prologue: with it `add` *is* `a + b`, and [`AnyNan`] leaves to the CPU which NaN a NaN is. [`FpMode`] is the same
//! thing read from `%cr0` at run time. A loop does `if mode.is_ieee() { ...Ieee } else { ...mode }` once, outside.
//!
//! ```
//! use envisa_sem::{Float, FpMode, Ieee, Mode, Rounding};
//!
//! fn add_row<M: Mode>(dst: &mut [f32], a: &[f32], b: &[f32], m: M) {
//!     for ((d, &a), &b) in dst.iter_mut().zip(a).zip(b) {
//!         *d = Float::add(a, b, m);
//!     }
//! }
//!
//! let cr0 = FpMode::from_cr0(0x4f0);
//! let mut dst = [0.0];
//! if cr0.is_ieee() { add_row(&mut dst, &[1.0], &[1e-9], Ieee) } else { add_row(&mut dst, &[1.0], &[-1e-9], cr0) }
//! assert_eq!(cr0.rounding(), Rounding::Zero);
//! assert!(dst[0] < 1.0);
//! ```
//!
//! On a concrete type write `Float::min(a, b, m)` or `Int::div(a, b)`: the standard library's methods of
//! the same names would win over `a.min(b, m)`.
//!
//! ## Where things are
//!
//! | module | contents |
//! | --- | --- |
//! | [`lane`] | [`Lane`], the types of a channel's element, [`Hf`], [`Bf`] |
//! | [`mode`] | `%cr0`: [`Rounding`], [`FpMode`], [`Mode`] |
//! | [`int`] | integer arithmetic, shifts, bit fields, saturation |
//! | [`float`] | [`Float`]: add to sqrt, rounding to integral, comparison, saturation |
//! | [`lanes`] | [`lanes::Lanes`], the operations that `math`'s functions are sequences of |
//! | [`odd`] | sums, products, quotients of `f` for narrower floats, so that those are rounded once |
//! | [`math`] | [`MathUnit`]: exp, log, pow, sin, cos, tanh, sigm, inv, rsqrt |
//! | [`convert`] | what `mov` converts, `fcvt`, `srnd`, [`convert::convert`] for types known at run time |
//! | [`nan`] | which NaN a result is |
//! | [`nibble`] | elements of 4 bits: `dnscl`, `shfl_idx4` |
//! | [`packed`] | `V`, `UV`, `VF` immediates |
//! | [`atomic`] | operators of the atomic messages |
//! | [`dpas`] | the systolic multiply-accumulate |
//! | [`image`] | texel formats of typed surfaces |
//! | [`sampler`] | places and weights of texels, comparisons, faces of a cube |
//! | [`wide`] | integers of any type by their values, for sources that no one type holds |
//! | [`soft`] | exact arithmetic in integers, for the modes the CPU does not run in |
//!
//! ## Decisions where the specification is silent
//!
//! * NaN results are quiet; whose payload and sign they have is a rule of its own: [`nan`].
//! * Flushing: a denormal input counts as a zero of its sign; a result that is denormal *after*
//!   rounding becomes a zero of its sign.
//! * `bf` follows the denormal bit of `f`; the specification has no bit for it.
//! * The math unit ([`math`]) rounds to nearest whatever `%cr0` says; `div`, `divm`, `sqrtm` round as
//!   `%cr0` says.

pub mod atomic;
pub mod convert;
pub mod dpas;
pub mod exact_arithmetic;
pub mod float;
pub mod float_mode;
pub mod four_bit;
pub mod image;
pub mod int;
pub mod lane;
pub mod lanes;
pub mod math;
pub mod nan;
pub mod packed;
pub mod round_to_odd;
pub mod sampler;
pub mod wide_integers;

pub use convert::Convert;
pub use float::{Float, Relation};
pub use float_mode::{AnyNan, FpMode, Ieee, Mode, Nearest, Rounding};
pub use int::Int;
pub use lane::{Bf, Hf, Lane, Modifier};
pub use math::{MacroMath, MathUnit};
pub use nan::Sum;
