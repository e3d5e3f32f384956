//! [`Lanes`] by the vector instructions of x86-64: eight lanes of AVX2 with FMA, sixteen of AVX-512.
//!
//! A value of [`Avx2`] or [`Avx512`] is the proof that the CPU has the instructions, which is what every
//! intrinsic here needs to be safe. Instructions only become instructions (rather than calls) in a function
//! that is compiled for them: whoever writes a loop does so under `#[target_feature]`, as [`map`] does.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::{Apply, Lanes, Rounded};

/// Eight lanes; proof of AVX2 and FMA.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

/// Sixteen lanes; proof of AVX-512 F and DQ.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx2 {
    /// The lanes, if the CPU has them.
    pub fn detect() -> Option<Avx2> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Avx2(()))
    }

    /// The lanes.
    ///
    /// # Safety
    /// The CPU has AVX2 and FMA.
    #[inline(always)]
    pub unsafe fn assume() -> Avx2 {
        Avx2(())
    }
}

impl Avx512 {
    /// The lanes, if the CPU has them.
    pub fn detect() -> Option<Avx512> {
        (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq")).then_some(Avx512(()))
    }

    /// The lanes.
    ///
    /// # Safety
    /// The CPU has AVX-512 F and DQ.
    #[inline(always)]
    pub unsafe fn assume() -> Avx512 {
        Avx512(())
    }
}

/// Lanes whose values are read from and written to memory.
pub trait Wide: Lanes {
    /// How many lanes a value has.
    const LANES: usize;
    /// The first [`Wide::LANES`] of `from`. Panics if there are fewer.
    fn load(&mut self, from: &[u32]) -> Self::V;
    /// To the first [`Wide::LANES`] of `to`. Panics if there are fewer.
    fn store(&mut self, to: &mut [u32], v: Self::V);
}

/// Methods that are one expression of intrinsics.
macro_rules! intrinsics {
    ($($name:ident($($a:ident: $t:ty),*) -> $r:ty = $e:expr;)*) => {$(
        #[inline(always)]
        fn $name(&mut self, $($a: $t),*) -> $r {
            // SAFETY: `self` proves that the CPU has the instruction; it touches no memory.
            unsafe { $e }
        }
    )*};
}

#[inline(always)]
unsafe fn i8(a: __m256) -> __m256i {
    // SAFETY: the caller proves AVX2.
    unsafe { _mm256_castps_si256(a) }
}
#[inline(always)]
unsafe fn f8(a: __m256i) -> __m256 {
    // SAFETY: the caller proves AVX2.
    unsafe { _mm256_castsi256_ps(a) }
}
#[inline(always)]
unsafe fn i16(a: __m512) -> __m512i {
    // SAFETY: the caller proves AVX-512.
    unsafe { _mm512_castps_si512(a) }
}
#[inline(always)]
unsafe fn f16(a: __m512i) -> __m512 {
    // SAFETY: the caller proves AVX-512.
    unsafe { _mm512_castsi512_ps(a) }
}
#[inline(always)]
unsafe fn count(n: u32) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_cvtsi32_si128(n as i32) }
}

impl Lanes for Avx2 {
    type V = __m256;
    type M = __m256;

    intrinsics! {
        bits(bits: u32) -> __m256 = f8(_mm256_set1_epi32(bits as i32));
        add(a: __m256, b: __m256) -> __m256 = _mm256_add_ps(a, b);
        sub(a: __m256, b: __m256) -> __m256 = _mm256_sub_ps(a, b);
        mul(a: __m256, b: __m256) -> __m256 = _mm256_mul_ps(a, b);
        div(a: __m256, b: __m256) -> __m256 = _mm256_div_ps(a, b);
        fma(a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fmadd_ps(a, b, c);
        fnma(a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fnmadd_ps(a, b, c);
        fms(a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fmsub_ps(a, b, c);
        min(a: __m256, b: __m256) -> __m256 = _mm256_min_ps(a, b);
        max(a: __m256, b: __m256) -> __m256 = _mm256_max_ps(a, b);
        rint(a: __m256) -> __m256 = _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a);
        int_to_float(a: __m256) -> __m256 = _mm256_cvtepi32_ps(i8(a));
        and(a: __m256, b: __m256) -> __m256 = _mm256_and_ps(a, b);
        or(a: __m256, b: __m256) -> __m256 = _mm256_or_ps(a, b);
        xor(a: __m256, b: __m256) -> __m256 = _mm256_xor_ps(a, b);
        shl(a: __m256, n: u32) -> __m256 = f8(_mm256_sll_epi32(i8(a), count(n)));
        shr(a: __m256, n: u32) -> __m256 = f8(_mm256_srl_epi32(i8(a), count(n)));
        sar(a: __m256, n: u32) -> __m256 = f8(_mm256_sra_epi32(i8(a), count(n)));
        iadd(a: __m256, b: __m256) -> __m256 = f8(_mm256_add_epi32(i8(a), i8(b)));
        isub(a: __m256, b: __m256) -> __m256 = f8(_mm256_sub_epi32(i8(a), i8(b)));
        lt(a: __m256, b: __m256) -> __m256 = _mm256_cmp_ps::<_CMP_LT_OQ>(a, b);
        eq(a: __m256, b: __m256) -> __m256 = _mm256_cmp_ps::<_CMP_EQ_OQ>(a, b);
        unordered(a: __m256, b: __m256) -> __m256 = _mm256_cmp_ps::<_CMP_UNORD_Q>(a, b);
        ilt(a: __m256, b: __m256) -> __m256 = f8(_mm256_cmpgt_epi32(i8(b), i8(a)));
        ieq(a: __m256, b: __m256) -> __m256 = f8(_mm256_cmpeq_epi32(i8(a), i8(b)));
        both(a: __m256, b: __m256) -> __m256 = _mm256_and_ps(a, b);
        either(a: __m256, b: __m256) -> __m256 = _mm256_or_ps(a, b);
        select(m: __m256, a: __m256, b: __m256) -> __m256 = _mm256_blendv_ps(b, a, m);
    }

    #[inline(always)]
    fn table(&mut self, table: &[u32; 16], index: __m256) -> __m256 {
        // SAFETY: `self` proves that the CPU has the instructions; the loads are within the table.
        unsafe {
            let (low, high) = (table.as_ptr().cast(), table[8..].as_ptr().cast());
            let index = i8(index);
            let low = f8(_mm256_permutevar8x32_epi32(_mm256_loadu_si256(low), index));
            let high = f8(_mm256_permutevar8x32_epi32(_mm256_loadu_si256(high), index));
            // Bit 3 of the index to the sign.
            _mm256_blendv_ps(low, high, f8(_mm256_slli_epi32::<28>(index)))
        }
    }

    #[inline(always)]
    fn rarely<const N: usize>(
        &mut self,
        m: __m256,
        usual: [__m256; N],
        f: impl FnOnce(&mut Self) -> [__m256; N],
    ) -> [__m256; N] {
        // SAFETY: `self` proves that the CPU has the instruction.
        if unsafe { _mm256_movemask_ps(m) } == 0 {
            return usual;
        }
        let (other, mut out) = (f(self), usual);
        for i in 0..N {
            out[i] = self.select(m, other[i], usual[i]);
        }
        out
    }
}

impl Wide for Avx2 {
    const LANES: usize = 8;

    #[inline(always)]
    fn load(&mut self, from: &[u32]) -> __m256 {
        // SAFETY: `self` proves that the CPU has the instruction; the slice has 8 elements.
        unsafe { _mm256_loadu_ps(from[..8].as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(&mut self, to: &mut [u32], v: __m256) {
        // SAFETY: as above.
        unsafe { _mm256_storeu_ps(to[..8].as_mut_ptr().cast(), v) }
    }
}

impl Lanes for Avx512 {
    type V = __m512;
    type M = __mmask16;

    intrinsics! {
        bits(bits: u32) -> __m512 = f16(_mm512_set1_epi32(bits as i32));
        add(a: __m512, b: __m512) -> __m512 = _mm512_add_ps(a, b);
        sub(a: __m512, b: __m512) -> __m512 = _mm512_sub_ps(a, b);
        mul(a: __m512, b: __m512) -> __m512 = _mm512_mul_ps(a, b);
        div(a: __m512, b: __m512) -> __m512 = _mm512_div_ps(a, b);
        fma(a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fmadd_ps(a, b, c);
        fnma(a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fnmadd_ps(a, b, c);
        fms(a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fmsub_ps(a, b, c);
        min(a: __m512, b: __m512) -> __m512 = _mm512_min_ps(a, b);
        max(a: __m512, b: __m512) -> __m512 = _mm512_max_ps(a, b);
        rint(a: __m512) -> __m512 = _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a);
        int_to_float(a: __m512) -> __m512 = _mm512_cvtepi32_ps(i16(a));
        and(a: __m512, b: __m512) -> __m512 = _mm512_and_ps(a, b);
        or(a: __m512, b: __m512) -> __m512 = _mm512_or_ps(a, b);
        xor(a: __m512, b: __m512) -> __m512 = _mm512_xor_ps(a, b);
        shl(a: __m512, n: u32) -> __m512 = f16(_mm512_sll_epi32(i16(a), count(n)));
        shr(a: __m512, n: u32) -> __m512 = f16(_mm512_srl_epi32(i16(a), count(n)));
        sar(a: __m512, n: u32) -> __m512 = f16(_mm512_sra_epi32(i16(a), count(n)));
        iadd(a: __m512, b: __m512) -> __m512 = f16(_mm512_add_epi32(i16(a), i16(b)));
        isub(a: __m512, b: __m512) -> __m512 = f16(_mm512_sub_epi32(i16(a), i16(b)));
        lt(a: __m512, b: __m512) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b);
        eq(a: __m512, b: __m512) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b);
        unordered(a: __m512, b: __m512) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, b);
        ilt(a: __m512, b: __m512) -> __mmask16 = _mm512_cmplt_epi32_mask(i16(a), i16(b));
        ult(a: __m512, b: __m512) -> __mmask16 = _mm512_cmplt_epu32_mask(i16(a), i16(b));
        ieq(a: __m512, b: __m512) -> __mmask16 = _mm512_cmpeq_epi32_mask(i16(a), i16(b));
        select(m: __mmask16, a: __m512, b: __m512) -> __m512 = _mm512_mask_blend_ps(m, b, a);
        scale(a: __m512, n: Rounded<__m512>) -> __m512 = _mm512_scalef_ps(a, n.float);
        power_of_two(a: __m512) -> __m512 = _mm512_scalef_ps(_mm512_set1_ps(1.0), a);
        not_normal(a: __m512) -> __mmask16 = _mm512_fpclass_ps_mask::<0xff>(a);
    }

    /// Nothing has to be kept within bounds: of an infinity the rest is 0, and what scales takes any number. It
    /// is the one that reads the integer, and takes it as a single. A number less its rest is that integer exactly,
    /// and takes less than rounding once more.
    #[inline(always)]
    fn split(&mut self, a: __m512) -> (__m512, Rounded<__m512>) {
        // SAFETY: `self` proves that the CPU has the instructions; they touch no memory.
        let (n, rest) = unsafe {
            let rest = _mm512_reduce_ps::<8>(a);
            (_mm512_sub_ps(a, rest), rest)
        };
        (rest, Rounded { float: n, bits: n })
    }

    #[inline(always)]
    fn both(&mut self, a: __mmask16, b: __mmask16) -> __mmask16 {
        a & b
    }

    #[inline(always)]
    fn either(&mut self, a: __mmask16, b: __mmask16) -> __mmask16 {
        a | b
    }

    #[inline(always)]
    fn table(&mut self, table: &[u32; 16], index: __m512) -> __m512 {
        // SAFETY: `self` proves that the CPU has the instructions; the load is the table.
        unsafe {
            let table = _mm512_loadu_si512(table.as_ptr().cast());
            f16(_mm512_permutexvar_epi32(i16(index), table))
        }
    }

    #[inline(always)]
    fn rarely<const N: usize>(
        &mut self,
        m: __mmask16,
        usual: [__m512; N],
        f: impl FnOnce(&mut Self) -> [__m512; N],
    ) -> [__m512; N] {
        if m == 0 {
            return usual;
        }
        let (other, mut out) = (f(self), usual);
        for i in 0..N {
            out[i] = self.select(m, other[i], usual[i]);
        }
        out
    }
}

impl Wide for Avx512 {
    const LANES: usize = 16;

    #[inline(always)]
    fn load(&mut self, from: &[u32]) -> __m512 {
        // SAFETY: `self` proves that the CPU has the instruction; the slice has 16 elements.
        unsafe { _mm512_loadu_ps(from[..16].as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(&mut self, to: &mut [u32], v: __m512) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_ps(to[..16].as_mut_ptr().cast(), v) }
    }
}

impl Avx2 {
    /// `f` of each element of `a` (and `b`), in vectors. Panics if the slices' lengths differ or are no
    /// multiple of 8.
    pub fn map(self, f: impl Apply + Copy, a: &[u32], b: &[u32], out: &mut [u32]) {
        #[target_feature(enable = "avx2,fma")]
        fn run<F: Apply + Copy>(l: Avx2, f: F, a: &[u32], b: &[u32], out: &mut [u32]) {
            map(l, f, a, b, out);
        }
        // SAFETY: `self` proves that the CPU has the features.
        unsafe { run(self, f, a, b, out) }
    }
}

impl Avx512 {
    /// `f` of each element of `a` (and `b`), in vectors. Panics if the slices' lengths differ or are no
    /// multiple of 16.
    pub fn map(self, f: impl Apply + Copy, a: &[u32], b: &[u32], out: &mut [u32]) {
        #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
        fn run<F: Apply + Copy>(l: Avx512, f: F, a: &[u32], b: &[u32], out: &mut [u32]) {
            map(l, f, a, b, out);
        }
        // SAFETY: `self` proves that the CPU has the features.
        unsafe { run(self, f, a, b, out) }
    }
}

/// `f` in vectors of `l`; in a caller compiled for its instructions.
#[inline(always)]
pub fn map<L: Wide>(mut l: L, f: impl Apply + Copy, a: &[u32], b: &[u32], out: &mut [u32]) {
    assert!(a.len() == out.len() && b.len() == out.len() && out.len().is_multiple_of(L::LANES));
    let chunks = a.chunks_exact(L::LANES).zip(b.chunks_exact(L::LANES));
    for ((a, b), out) in chunks.zip(out.chunks_exact_mut(L::LANES)) {
        let (a, b) = (l.load(a), l.load(b));
        let r = f.apply(&mut l, a, b);
        l.store(out, r);
    }
}
