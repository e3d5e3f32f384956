//! Integer arithmetic, shifts, bit fields and saturation.
//!
//! An instruction's sources may be of different integer types and the destination of a third. Without
//! `.sat` the result is the exact one modulo the destination's width. With `.sat` it is the exact one, clamped:
//! see [`crate::wide_integers`].

use crate::lane::Lane;

/// An integer element: `i8` to `u64`.
pub trait Int: Lane + Ord {
    /// Is it signed?
    const SIGNED: bool;
    /// The smallest value.
    const MIN: Self;
    /// The largest value.
    const MAX: Self;

    /// The value extended to 64 bits by its own sign; `uq` keeps its bits.
    fn wide(self) -> i64;
    /// The value.
    fn exact(self) -> i128;
    /// The low bits (`mov` to a narrower type).
    fn truncate(x: i64) -> Self;
    /// The nearest representable value.
    fn nearest(x: i64) -> Self;
    /// The nearest representable value.
    fn nearest_exact(x: i128) -> Self;
    /// `self + b`, modulo 2^bits (page ADD).
    fn add(self, b: Self) -> Self;
    /// `self · b`, modulo 2^bits (page MUL).
    fn mul(self, b: Self) -> Self;
    /// `self / b`, towards zero (page DIV). Division by zero gives all ones if unsigned; signed, the
    /// largest value for a numerator ≥ 0 and the smallest otherwise. The smallest value by −1 is itself.
    fn div(self, b: Self) -> Self;
    /// The remainder, with the numerator's sign (page MOD). By zero: as [`Int::div`] by zero. By −1: 0.
    fn rem(self, b: Self) -> Self;
    /// `⌊(self + b + 1) / 2⌋`, without overflow (page AVG).
    fn avg(self, b: Self) -> Self;
    /// `self << count` (page SHL): the count modulo 64 for 64-bit types and modulo 32 for all others, so
    /// that a narrow element can be shifted out entirely.
    fn shl(self, count: u32) -> Self;
    /// Logical right shift of the element's own bits (page SHR); counts as in [`Int::shl`].
    fn shr(self, count: u32) -> Self;
    /// Arithmetic right shift of the element as a signed value of its width (page ASR).
    fn asr(self, count: u32) -> Self;
    /// Rotation left by the count modulo the element's width (page ROL).
    fn rol(self, count: u32) -> Self;
    /// Rotation right (page ROR).
    fn ror(self, count: u32) -> Self;
    /// Bitwise and (page AND).
    fn and(self, b: Self) -> Self;
    /// Bitwise or (page OR).
    fn or(self, b: Self) -> Self;
    /// Bitwise exclusive or (page XOR).
    fn xor(self, b: Self) -> Self;
    /// Bitwise complement (page NOT).
    fn not(self) -> Self;
    /// Any Boolean function of three sources (page BFN): bit `s0 + 2·s1 + 4·s2` of `table`.
    fn bfn(self, s1: Self, s2: Self, table: u8) -> Self;
    /// `self · b + c` modulo 2^bits (page MAD).
    #[inline(always)]
    fn mad(self, b: Self, c: Self) -> Self {
        self.mul(b).add(c)
    }
    /// The sum of three, modulo 2^bits (page ADD3).
    #[inline(always)]
    fn add3(self, b: Self, c: Self) -> Self {
        self.add(b).add(c)
    }
    /// What `cmp` writes to a general destination: all ones or zero (page CMP).
    #[inline(always)]
    fn mask(condition: bool) -> Self {
        Self::truncate(-(condition as i64))
    }
}

macro_rules! int {
    ($($t:ident $s:ident $u:ident $count:literal $div:ident;)*) => {$(
        impl Int for $t {
            const SIGNED: bool = $t::MIN != 0;
            const MIN: $t = $t::MIN;
            const MAX: $t = $t::MAX;
            #[inline(always)]
            fn wide(self) -> i64 {
                self as i64
            }
            #[inline(always)]
            fn exact(self) -> i128 {
                self as i128
            }
            #[inline(always)]
            fn truncate(x: i64) -> $t {
                x as $t
            }
            #[inline(always)]
            fn nearest(x: i64) -> $t {
                let low = x.max($t::MIN as i64);
                // `uq` holds every i64 that is not negative.
                if $t::BITS == 64 { low as $t } else { low.min($t::MAX as i64) as $t }
            }
            #[inline(always)]
            fn nearest_exact(x: i128) -> $t {
                x.clamp($t::MIN as i128, $t::MAX as i128) as $t
            }
            #[inline(always)]
            fn add(self, b: $t) -> $t {
                self.wrapping_add(b)
            }
            #[inline(always)]
            fn mul(self, b: $t) -> $t {
                self.wrapping_mul(b)
            }
            #[inline(always)]
            fn div(self, b: $t) -> $t {
                if $t::BITS > 32 {
                    return if b == 0 { int!(@$div self $t) } else { self.wrapping_div(b) };
                }
                // Of up to 32 bits the rounded quotient of doubles never reaches the next integer: it is at
                // least 1/b away, 2^21 times what rounding moves. In this form loops become vector code.
                let q = (self as f64 / b as f64) as $t;
                let q = if <$t as Int>::SIGNED && b == !0 { self.wrapping_neg() } else { q };
                if b == 0 { int!(@$div self $t) } else { q }
            }
            #[inline(always)]
            fn rem(self, b: $t) -> $t {
                if $t::BITS > 32 {
                    return if b == 0 { int!(@$div self $t) } else { self.wrapping_rem(b) };
                }
                let q = Int::div(self, b);
                if b == 0 { q } else { self.wrapping_sub(q.wrapping_mul(b)) }
            }
            #[inline(always)]
            fn avg(self, b: $t) -> $t {
                (self | b) - ((self ^ b) >> 1)
            }
            #[inline(always)]
            fn shl(self, count: u32) -> $t {
                if $t::BITS == 64 { self << (count & $count) } else { ((self as u32) << (count & $count)) as $t }
            }
            #[inline(always)]
            fn shr(self, count: u32) -> $t {
                if $t::BITS == 64 {
                    (self as $u >> (count & $count)) as $t
                } else {
                    (self as $u as u32 >> (count & $count)) as $t
                }
            }
            #[inline(always)]
            fn asr(self, count: u32) -> $t {
                if $t::BITS == 64 {
                    (self as $s >> (count & $count)) as $t
                } else {
                    (self as $s as i32 >> (count & $count)) as $t
                }
            }
            #[inline(always)]
            fn rol(self, count: u32) -> $t {
                self.rotate_left(count % $t::BITS)
            }
            #[inline(always)]
            fn ror(self, count: u32) -> $t {
                self.rotate_right(count % $t::BITS)
            }
            #[inline(always)]
            fn and(self, b: $t) -> $t {
                self & b
            }
            #[inline(always)]
            fn or(self, b: $t) -> $t {
                self | b
            }
            #[inline(always)]
            fn xor(self, b: $t) -> $t {
                self ^ b
            }
            #[inline(always)]
            fn not(self) -> $t {
                !self
            }
            #[inline(always)]
            fn bfn(self, s1: $t, s2: $t, table: u8) -> $t {
                let mut out = 0;
                let mut row = 0;
                while row < 8 {
                    // All ones where the sources' bits spell this row.
                    let pick = |s: $t, bit: u8| if row >> bit & 1 != 0 { s } else { !s };
                    let on = if table >> row & 1 != 0 { !0 } else { 0 };
                    out |= pick(self, 0) & pick(s1, 1) & pick(s2, 2) & on;
                    row += 1;
                }
                out
            }
        }
    )*};
    (@unsigned $x:ident $t:ident) => { $t::MAX };
    (@signed $x:ident $t:ident) => { if $x < 0 { $t::MIN } else { $t::MAX } };
}

int! {
    u8 i8 u8 31 unsigned;
    i8 i8 u8 31 signed;
    u16 i16 u16 31 unsigned;
    i16 i16 u16 31 signed;
    u32 i32 u32 31 unsigned;
    i32 i32 u32 31 signed;
    u64 i64 u64 63 unsigned;
    i64 i64 u64 63 signed;
}

/// `mov` between integers without saturation: extension by the source's sign, or truncation (chapter 2).
#[inline(always)]
pub fn resize<S: Int, D: Int>(x: S) -> D {
    D::truncate(x.wide())
}

/// `mov.sat` between integers: the nearest representable value.
#[inline(always)]
pub fn resize_sat<S: Int, D: Int>(x: S) -> D {
    if S::BITS < 64 || S::SIGNED { D::nearest(x.wide()) } else { D::nearest_exact(x.exact()) }
}

/// The sum and the carry, 0 or 1 (page ADDC).
#[inline(always)]
pub fn addc(a: u32, b: u32) -> (u32, u32) {
    let (s, c) = a.overflowing_add(b);
    (s, c as u32)
}

/// The difference and the borrow, 0 or 1 (page SUBB).
#[inline(always)]
pub fn subb(a: u32, b: u32) -> (u32, u32) {
    (a.wrapping_sub(b), (a < b) as u32)
}

/// The high 32 bits of the 64-bit product, each source extended by its own sign (page MULH).
#[inline(always)]
pub fn mulh<A: Int, B: Int>(a: A, b: B) -> u32 {
    (a.wide().wrapping_mul(b.wide()) as u64 >> 32) as u32
}

/// `a·b + c` in 64 bits: the low and the high half (page MADW). Sources are of at most 32 bits.
#[inline(always)]
pub fn madw<A: Int, B: Int, C: Int>(a: A, b: B, c: C) -> (u32, u32) {
    let x = a.wide().wrapping_mul(b.wide()).wrapping_add(c.wide()) as u64;
    (x as u32, (x >> 32) as u32)
}

/// Extracts `width` bits of `value` from bit `offset` up, zero-extended (page BFE, `ud`). Both modulo 32;
/// width 0 gives 0.
#[inline(always)]
pub fn bfe_u(width: u32, offset: u32, value: u32) -> u32 {
    (value >> (offset & 31)) & ((1 << (width & 31)) - 1)
}

/// [`bfe_u`], sign-extended from the field's top bit (page BFE, `d`). A field that passes bit 31 reads
/// copies of bit 31; width 0 gives 0.
#[inline(always)]
pub fn bfe_s(width: u32, offset: u32, value: i32) -> i32 {
    let (w, shifted) = (width & 31, value >> (offset & 31));
    if w == 0 { 0 } else { (shifted << (32 - w)) >> (32 - w) }
}

/// Puts the low `width` bits of `value` into `base` at bit `offset` (page BFI). Both modulo 32; bits that
/// would pass bit 31 are dropped.
#[inline(always)]
pub fn bfi(width: u32, offset: u32, value: u32, base: u32) -> u32 {
    let o = offset & 31;
    let mask = ((1u32 << (width & 31)) - 1) << o;
    value << o & mask | base & !mask
}

/// The bits in reverse order (page BFREV).
#[inline(always)]
pub fn bfrev(x: u32) -> u32 {
    x.reverse_bits()
}

/// The number of bits set in the source's own width (page CBIT).
#[inline(always)]
pub fn cbit<T: Lane>(x: T) -> u32 {
    x.to_bits().count_ones()
}

/// The number of leading zeros; `!0` for zero (page FBH, `ud`).
#[inline(always)]
pub fn fbh_u(x: u32) -> u32 {
    if x == 0 { !0 } else { x.leading_zeros() }
}

/// The number of leading bits equal to the sign; `!0` for 0 and −1 (page FBH, `d`).
#[inline(always)]
pub fn fbh_s(x: i32) -> u32 {
    fbh_u((x ^ x >> 31) as u32)
}

/// The number of trailing zeros; `!0` for zero (page FBL).
#[inline(always)]
pub fn fbl(x: u32) -> u32 {
    if x == 0 { !0 } else { x.trailing_zeros() }
}

/// The number of leading zeros; 32 for zero (page LZD).
#[inline(always)]
pub fn lzd(x: u32) -> u32 {
    x.leading_zeros()
}

/// `|a0 − b0| + |a1 − b1|` (page SAD2), for [`Int::truncate`] or [`Int::nearest`] to the destination. For
/// SAD2ADD add `src2.wide()` first.
#[inline(always)]
pub fn sad2<A: Int, B: Int>(a: [A; 2], b: [B; 2]) -> i64 {
    (a[0].wide() - b[0].wide()).abs() + (a[1].wide() - b[1].wide()).abs()
}

/// `c` plus the dot product of the four bytes of `a` and `b` (page DP4A), exactly: at most 35 bits. The
/// types of `A` and `B` (`i32` or `u32`) say how their bytes extend.
#[inline(always)]
pub fn dp4a_exact<C: Int, A: Int, B: Int>(c: C, a: A, b: B) -> i64 {
    #[inline(always)]
    fn byte<T: Int>(x: T, i: u32) -> i32 {
        let b = (x.wide() >> (8 * i)) as u8;
        if T::SIGNED { b as i8 as i32 } else { b as i32 }
    }
    let dot =
        byte(a, 0) * byte(b, 0) + byte(a, 1) * byte(b, 1) + byte(a, 2) * byte(b, 2) + byte(a, 3) * byte(b, 3);
    c.wide() + dot as i64
}

/// [`dp4a_exact`], modulo 2^32 or saturated to the destination.
#[inline(always)]
pub fn dp4a<C: Int, A: Int, B: Int, D: Int>(c: C, a: A, b: B, sat: bool) -> D {
    let x = dp4a_exact(c, a, b);
    if sat { D::nearest(x) } else { D::truncate(x) }
}
