//! AVX-512 code for the loops of `lanes`, sixteen lanes at a time.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

/// Offsets of the 64-bit addresses `at << shift` from `base`, those of lanes not in `k` being 0; and which are above `last`.
///
/// # Safety
/// The CPU has AVX-512 F, BW, DQ, VL; 16 addresses can be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn wide(at: *const u64, (base, shift): (u64, u32), last: u64, k: u16) -> (__m512i, u16) {
    let shift = _mm_cvtsi32_si128(shift as i32);
    let (base, last) = (_mm512_set1_epi64(base as i64), _mm512_set1_epi64(last as i64));
    // SAFETY: the caller's promise.
    let (a, b) = unsafe { (_mm512_loadu_si512(at.cast()), _mm512_loadu_si512(at.add(8).cast())) };
    let (a, b) = (_mm512_sll_epi64(a, shift), _mm512_sll_epi64(b, shift));
    let (a, b) = (_mm512_sub_epi64(a, base), _mm512_sub_epi64(b, base));
    let over = _mm512_mask_cmpgt_epu64_mask(k as u8, a, last) as u16
        | (_mm512_mask_cmpgt_epu64_mask((k >> 8) as u8, b, last) as u16) << 8;
    let low = _mm512_castsi256_si512(_mm512_cvtepi64_epi32(a));
    let both = _mm512_inserti64x4::<1>(low, _mm512_cvtepi64_epi32(b));
    (_mm512_maskz_mov_epi32(k, both), over)
}

/// Offsets `delta + (index << shift)`, those of lanes not in `k` being 0; and which indices are not among the
/// `range + 1` from `low` on.
///
/// # Safety
/// The CPU has AVX-512 F, BW, DQ, VL; 16 indices can be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn indexed(
    index: *const u32,
    (low, range): (u32, u32),
    (delta, shift): (u32, u32),
    k: u16,
) -> (__m512i, u16) {
    // SAFETY: the caller's promise.
    let index = unsafe { _mm512_loadu_si512(index.cast()) };
    let o = _mm512_sub_epi32(index, _mm512_set1_epi32(low as i32));
    let over = _mm512_mask_cmpgt_epu32_mask(k, o, _mm512_set1_epi32(range as i32));
    let scaled = _mm512_sll_epi32(index, _mm_cvtsi32_si128(shift as i32));
    (_mm512_maskz_add_epi32(k, scaled, _mm512_set1_epi32(delta as i32)), over)
}

/// Offsets `(index << shift) + add`, of which the bits of `and` count, those of lanes not in `k` being 0; and
/// which are above `last`.
///
/// # Safety
/// The CPU has AVX-512 F, BW, DQ, VL; 16 indices can be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn window(
    index: *const u32,
    (shift, add, and): (u32, u32, u32),
    last: u32,
    k: u16,
) -> (__m512i, u16) {
    // SAFETY: the caller's promise.
    let index = unsafe { _mm512_loadu_si512(index.cast()) };
    let scaled = _mm512_sll_epi32(index, _mm_cvtsi32_si128(shift as i32));
    let sum = _mm512_add_epi32(scaled, _mm512_set1_epi32(add as i32));
    let o = _mm512_maskz_and_epi32(k, sum, _mm512_set1_epi32(and as i32));
    (o, _mm512_cmpgt_epu32_mask(o, _mm512_set1_epi32(last as i32)))
}

/// The offset of the first lane of `k`, and whether the lanes of `k` lie `step` apart from it.
///
/// # Safety
/// The CPU has AVX-512 F, BW, DQ, VL; 16 offsets can be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn beside(offsets: *const u32, step: u32, k: u16) -> (u32, bool) {
    // SAFETY: the caller's promise.
    let o = unsafe { _mm512_loadu_si512(offsets.cast()) };
    let steps = match step {
        4 => steps(4),
        8 => steps(8),
        _ => _mm512_mullo_epi32(_mm512_set1_epi32(step as i32), steps(1)),
    };
    // What each lane says where lane 0 is.
    let origins = _mm512_sub_epi32(o, steps);
    let first = if k == u16::MAX { origins } else { _mm512_maskz_compress_epi32(k, origins) };
    let origin = _mm512_castsi512_si128(first);
    let other = _mm512_mask_cmpneq_epi32_mask(k, origins, _mm512_broadcastd_epi32(origin));
    (_mm_cvtsi128_si32(origin) as u32, other == 0)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn steps(n: i32) -> __m512i {
    _mm512_setr_epi32(
        0,
        n,
        2 * n,
        3 * n,
        4 * n,
        5 * n,
        6 * n,
        7 * n,
        8 * n,
        9 * n,
        10 * n,
        11 * n,
        12 * n,
        13 * n,
        14 * n,
        15 * n,
    )
}

/// The offset of the first lane of `k`, and whether all of its lanes have it.
///
/// # Safety
/// The CPU has AVX-512 F, BW, DQ, VL; 16 offsets can be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn same(offsets: *const u32, k: u16) -> (u32, bool) {
    // SAFETY: the caller's promise.
    let o = unsafe { _mm512_loadu_si512(offsets.cast()) };
    let first = if k == u16::MAX { o } else { _mm512_maskz_compress_epi32(k, o) };
    let first = _mm512_castsi512_si128(first);
    let other = _mm512_mask_cmpneq_epi32_mask(k, o, _mm512_broadcastd_epi32(first));
    (_mm_cvtsi128_si32(first) as u32, other == 0)
}
