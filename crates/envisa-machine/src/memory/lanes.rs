//! Lanes of a message in one block: offsets that were held against its length together, and what is read
//! and written there.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering};

use super::raw::{Block, Element};
use crate::cpu::Isa;
use crate::register_file::{Unaligned, all_channels};

/// Offsets are kept in 32 bits, and are signed to some instructions: longer windows are looked at up to here.
const REACH: usize = 1 << 31;

/// Which lanes are on.
#[derive(Clone, Copy)]
pub struct EnabledLanes<'a> {
    /// Bit i is lane i.
    pub mask: u32,
    /// [`crate::register_file::Registers::channel_bits`].
    pub bits: &'a [u32; 32],
}

impl EnabledLanes<'_> {
    /// The first of `G` lanes that is on.
    #[inline(always)]
    fn first_lane_on<const G: usize>(self) -> usize {
        self.mask.trailing_zeros() as usize % G
    }

    /// A value for a lane that is on, else 0.
    #[inline(always)]
    pub fn value_or_zero(self, i: usize, x: u32) -> u32 {
        if self.bits[i] & self.mask != 0 { x } else { 0 }
    }

    #[inline(always)]
    fn keep_wide(self, i: usize, x: u64) -> u64 {
        if self.bits[i] & self.mask != 0 { x } else { 0 }
    }
}

/// `N` lanes with an offset in a window of a block each. Lanes that are off have offset 0.
pub struct Lanes<'a, const N: usize> {
    block: &'a Block,
    /// Where the window starts in the block.
    start: usize,
    /// Each offset is followed by `span` bytes of the window: what the accesses below rely on. Private, and
    /// made by the functions below only.
    offsets: Offsets<N>,
    span: usize,
}

/// Aligned, so that it is moved by whole vectors.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Offsets<const N: usize>([u32; N]);

impl<'a, const N: usize> Lanes<'a, N> {
    /// Last offset in a window that is followed by `span` bytes; `None` if there is none, or the window is not
    /// inside of the block.
    #[inline(always)]
    fn last_valid_offset(block: &Block, start: usize, len: usize, span: usize) -> Option<u32> {
        if !block.contains(start, len) || span > REACH {
            return None;
        }
        // Below 2^31.
        Some(len.min(REACH).checked_sub(span.max(1))? as u32)
    }

    /// Lanes at the 64-bit addresses `at << shift`, in a block that starts at the address `base`, with `span` bytes each; `None`
    /// if one that is on is not inside.
    #[inline(always)]
    pub fn wide(
        block: &'a Block,
        (base, shift): (u64, u32),
        at: &[Unaligned<u64>; N],
        on: EnabledLanes<'_>,
        span: usize,
    ) -> Option<Self> {
        let last = Self::last_valid_offset(block, 0, block.len(), span)? as u64;
        let mut offsets = [0u32; N];
        // The sign of `o | last - o` is set where `o` is above `last`.
        let mut over = 0u64;
        if on.mask == all_channels(N) {
            for i in 0..N {
                let o = (at[i].get() << (shift & 63)).wrapping_sub(base);
                over |= o | last.wrapping_sub(o);
                offsets[i] = o as u32;
            }
        } else {
            for i in 0..N {
                let o = on.keep_wide(i, (at[i].get() << (shift & 63)).wrapping_sub(base));
                over |= o | last.wrapping_sub(o);
                offsets[i] = o as u32;
            }
        }
        (over >> 63 == 0).then_some(Lanes { block, start: 0, offsets: Offsets(offsets), span })
    }

    /// Lanes at `delta + (index << shift)`, in 64 bits; indices are extended by their sign or by zeros.
    #[inline(always)]
    pub fn at_indices(
        block: &'a Block,
        (delta, shift, signed): (i64, u32, bool),
        index: &[Unaligned<u32>; N],
        on: EnabledLanes<'_>,
        span: usize,
    ) -> Option<Self> {
        let last = Self::last_valid_offset(block, 0, block.len(), span)? as i64;
        if delta.unsigned_abs() > 1 << 48 || shift > 15 {
            return None;
        }
        // The indices that are inside.
        let (least, most) = if signed { (i32::MIN as i64, i32::MAX as i64) } else { (0, u32::MAX as i64) };
        let low = ((-delta + ((1i64 << shift) - 1)) >> shift).max(least);
        let high = ((last - delta) >> shift).min(most);
        if low > high {
            return None;
        }
        // Below 2^31, as `last` is.
        let range = (high - low) as u32;
        let (low, delta) = (low as u32, delta as u32);
        let mut offsets = [0u32; N];
        let mut over = 0u32;
        if on.mask == all_channels(N) {
            for i in 0..N {
                let o = index[i].get().wrapping_sub(low);
                over |= o | range.wrapping_sub(o);
                offsets[i] = (index[i].get() << shift).wrapping_add(delta);
            }
        } else {
            for i in 0..N {
                let o = on.value_or_zero(i, index[i].get().wrapping_sub(low));
                over |= o | range.wrapping_sub(o);
                offsets[i] = on.value_or_zero(i, (index[i].get() << shift).wrapping_add(delta));
            }
        }
        (over >> 31 == 0).then_some(Lanes { block, start: 0, offsets: Offsets(offsets), span })
    }

    /// Lanes at the offsets `((index << shift) + add) & and` in the window `[start, start + len)` of a block.
    #[inline(always)]
    pub fn at_window_offsets(
        block: &'a Block,
        (start, len): (usize, usize),
        (shift, add, and): (u32, u32, u32),
        index: &[Unaligned<u32>; N],
        on: EnabledLanes<'_>,
        span: usize,
    ) -> Option<Self> {
        let last = Self::last_valid_offset(block, start, len, span)?;
        let mut offsets = [0u32; N];
        let mut over = 0u32;
        for i in 0..N {
            let o = (index[i].get() << (shift & 31)).wrapping_add(add) & and;
            offsets[i] = if on.mask == all_channels(N) { o } else { on.value_or_zero(i, o) };
            over |= offsets[i] | last.wrapping_sub(offsets[i]);
        }
        (over >> 31 == 0).then_some(Lanes { block, start, offsets: Offsets(offsets), span })
    }

    /// Are the offsets of all lanes that are on multiples of this power of two?
    #[inline(always)]
    pub fn aligned(&self, align: u32) -> bool {
        // Those of lanes that are off are 0.
        let mut low = 0;
        for i in 0..N {
            low |= self.offsets.0[i];
        }
        low & align.wrapping_sub(1) == 0
    }

    /// The offsets of part `h` of the lanes, parts being of `G`.
    #[inline(always)]
    pub fn part<const G: usize>(&self, h: usize) -> &[u32; G] {
        &self.offsets.0.as_chunks::<G>().0[h]
    }

    /// Offset of lane 0 of part `h`, if the offsets of those lanes of it that are on, one at least, lie `step`
    /// apart. It may be negative if lane 0 is off.
    #[inline(always)]
    pub fn offset_if_adjacent<const G: usize>(
        &self,
        h: usize,
        step: u32,
        on: EnabledLanes<'_>,
    ) -> Option<u32> {
        let at = self.part::<G>(h);
        let first = on.first_lane_on::<G>();
        let origin = at[first].wrapping_sub(first as u32 * step);
        let mut apart = 0;
        for i in 0..G {
            let x = at[i].wrapping_sub(origin) ^ (i as u32 * step);
            apart |= if on.mask == all_channels(G) { x } else { on.value_or_zero(i, x) };
        }
        (apart == 0).then_some(origin)
    }

    /// The offset of all lanes of part `h` that are on (at least one is), if they have the same.
    #[inline(always)]
    pub fn uniform_offset<const G: usize>(&self, h: usize, on: EnabledLanes<'_>) -> Option<u32> {
        let at = self.part::<G>(h);
        let first = at[on.first_lane_on::<G>()];
        let mut other = 0;
        for i in 0..G {
            let x = at[i] ^ first;
            other |= if on.mask == all_channels(G) { x } else { on.value_or_zero(i, x) };
        }
        (other == 0).then_some(first)
    }

    /// The block and the place in it of an offset.
    #[inline(always)]
    pub fn place(&self, offset: u32) -> (&'a Block, usize) {
        (self.block, self.start + offset as usize)
    }

    /// Is `[offset, offset + n)` inside of the block? `false` for offsets that are negative.
    #[inline(always)]
    pub fn reaches(&self, offset: u32, n: usize) -> bool {
        (offset as usize) < REACH && self.block.contains(self.start + offset as usize, n)
    }

    /// First byte of the window.
    #[inline(always)]
    fn window_start(&self) -> *mut u8 {
        // SAFETY: the window starts inside of the block, or at its end.
        unsafe { self.block.as_ptr().add(self.start) }
    }

    /// The element of each lane of part `h`, `extra` bytes after its offset.
    ///
    /// # Panics
    /// If that is not inside of the lanes' spans.
    #[inline(always)]
    pub fn load<T: Element, const G: usize, const L: u8>(
        &self,
        isa: Isa<L>,
        h: usize,
        extra: usize,
    ) -> [T; G] {
        assert!(extra + size_of::<T>() <= self.span);
        // SAFETY: inside of the span of lanes; see `offsets`.
        let base = unsafe { self.window_start().add(extra) };
        let at = self.part::<G>(h);
        // SAFETY: the bytes at each offset from `base` on are inside of the lane's span.
        unsafe { gather(isa, base, at) }
    }

    /// Writes the elements of the lanes of `mask` of part `h`, lowest first: `count` elements a lane, of lane `i`
    /// number `k` what `from(k, i)` gives.
    ///
    /// # Panics
    /// If they are not inside of the lanes' spans.
    #[inline(always)]
    pub fn store<T: Element, const G: usize>(
        &self,
        h: usize,
        mask: u32,
        count: usize,
        from: impl Fn(usize, usize) -> T,
    ) {
        assert!(count * size_of::<T>() <= self.span);
        let base = self.window_start();
        let at = self.part::<G>(h);
        let one = |i: usize| {
            for k in 0..count {
                // SAFETY: inside of the lane's span; unaligned write.
                unsafe { base.add(at[i] as usize).cast::<T>().add(k).write_unaligned(from(k, i)) }
            }
        };
        if mask == all_channels(G) {
            for i in 0..G {
                one(i);
            }
            return;
        }
        let mut left = mask & all_channels(G);
        while left != 0 {
            one(left.trailing_zeros() as usize % G);
            left &= left - 1;
        }
    }

    /// Adds to the dword that the offset of each lane of `mask` names, lowest lane first; gives the old values,
    /// which are of no meaning for lanes that are off. `None` (and nothing added) if one is not aligned. `ALONE`:
    /// no other host thread reaches the block now, so that plain additions will do.
    ///
    /// # Panics
    /// If the lanes' spans hold no dword.
    #[inline(always)]
    pub fn add<const ALONE: bool>(&self, mask: u32, terms: &[u32; N]) -> Option<[u32; N]> {
        assert!(self.span >= 4);
        let base = self.window_start();
        if !self.aligned(4) || !base.addr().is_multiple_of(4) {
            return None;
        }
        let one = |i: usize| {
            // SAFETY: inside of the lane's span, and aligned, as base and offsets are.
            let place = unsafe { base.add(self.offsets.0[i] as usize).cast::<u32>() };
            if ALONE {
                // SAFETY: as above; nobody else is there.
                let x = unsafe { place.read() };
                // SAFETY: as above.
                unsafe { place.write(x.wrapping_add(terms[i])) };
                return x;
            }
            // SAFETY: as above; other accesses to it are atomic or races of the guest's own.
            unsafe { AtomicU32::from_ptr(place) }.fetch_add(terms[i], Ordering::SeqCst)
        };
        let mut old = [0; N];
        let mut left = mask & all_channels(N);
        if left == all_channels(N) {
            for i in 0..N {
                old[i] = one(i);
            }
            return Some(old);
        }
        while left != 0 {
            let i = left.trailing_zeros() as usize % N;
            left &= left - 1;
            old[i] = one(i);
        }
        Some(old)
    }
}

/// Elements at offsets of 31 bits from a place.
///
/// # Safety
/// All of them can be read.
#[inline(always)]
unsafe fn gather<T: Element, const G: usize, const L: u8>(
    isa: Isa<L>,
    base: *const u8,
    at: &[u32; G],
) -> [T; G] {
    let mut out = [T::default(); G];
    let to = out.as_mut_ptr();
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;
        if isa.has_avx2() && size_of::<T>() == 4 && G.is_multiple_of(8) {
            for k in (0..G).step_by(8) {
                // SAFETY: the CPU has AVX2; as above, with 8 elements.
                unsafe {
                    let i = _mm256_loadu_si256(at.as_ptr().add(k).cast());
                    let x = _mm256_i32gather_epi32::<1>(base.cast(), i);
                    _mm256_storeu_si256(to.add(k).cast(), x);
                }
            }
            return out;
        }
        if isa.has_avx2() && size_of::<T>() == 8 && G.is_multiple_of(4) {
            for k in (0..G).step_by(4) {
                // SAFETY: as above, with 4 elements.
                unsafe {
                    let i = _mm_loadu_si128(at.as_ptr().add(k).cast());
                    let x = _mm256_i32gather_epi64::<1>(base.cast(), i);
                    _mm256_storeu_si256(to.add(k).cast(), x);
                }
            }
            return out;
        }
    }
    let _ = (isa, to);
    for i in 0..G {
        // SAFETY: the caller's promise; unaligned read.
        out[i] = unsafe { base.add(at[i] as usize).cast::<T>().read_unaligned() };
    }
    out
}

impl Block {
    /// Writes the elements of the lanes of `mask`, side by side from `offset` on; `false` (and nothing written)
    /// if those of all lanes are not inside.
    #[inline(always)]
    pub fn store_some<T: Element, const G: usize>(&self, offset: usize, mask: u32, from: &[T; G]) -> bool {
        if !self.contains(offset, size_of::<[T; G]>()) {
            return false;
        }
        // SAFETY: inside.
        let to = unsafe { self.as_ptr().add(offset) };
        for i in 0..G {
            if mask >> i & 1 != 0 {
                // SAFETY: lane `i` is inside, as all are; unaligned write.
                unsafe { to.cast::<T>().add(i).write_unaligned(from[i]) };
            }
        }
        true
    }
}
