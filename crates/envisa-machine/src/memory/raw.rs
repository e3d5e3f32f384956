//! Bytes that guest threads share: the one place of the machine where memory is touched without the
//! compiler's borrow rules.
//!
//! Guest threads run on several host threads and may race, as they may on a GPU. Every access is
//! bounds-checked here against the block it falls in, so no guest can reach memory it was not given;
//! what a racing guest reads is some mixture of old and new bytes, as on the device. Host code looks at
//! the bytes only while no guest runs ([`Block::bytes`] takes `&mut`).
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use memmap2::MmapMut;

/// Alignment of every block: a cache line, and the widest vector.
const ALIGN: usize = 64;
/// Blocks from this size on are mapped, in large pages where the system has them: accesses all over a large
/// buffer cost a page walk each otherwise.
const MAPPED: usize = 4 << 20;

/// A block of zero-initialised shared bytes.
#[derive(Debug)]
pub struct Block {
    start: NonNull<u8>,
    len: usize,
    /// Who owns the bytes, if they are mapped; else they were allocated.
    map: Option<MmapMut>,
}

// SAFETY: the block owns its memory; all access through `&Block` goes through raw pointers or atomics
// inside bounds, and no reference into the memory is ever handed out from `&Block`.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    /// A block of `len` zero bytes; `None` if the host has no such memory.
    pub fn zeroed(len: usize) -> Option<Block> {
        if len == 0 {
            return Some(Block { start: NonNull::dangling(), len: 0, map: None });
        }
        if len >= MAPPED {
            let mut map = MmapMut::map_anon(len).ok()?;
            // Advice: where it is not taken, all is well but slower.
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            return Some(Block { start: NonNull::new(map.as_mut_ptr())?, len, map: Some(map) });
        }
        let layout = Layout::from_size_align(len, ALIGN).ok()?;
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Block { start, len, map: None })
    }

    /// Length in bytes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The first byte, for `lanes`.
    #[inline(always)]
    pub(super) fn pointer(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// No bytes at all?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes, for the host, while no guest runs.
    pub fn bytes(&mut self) -> &mut [u8] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: `&mut self`: nobody else has access; the memory is initialised (zeroed) and `len` long.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Is `[offset, offset + n)` inside?
    #[inline(always)]
    pub fn contains(&self, offset: usize, n: usize) -> bool {
        n <= self.len && offset <= self.len - n
    }

    /// Reads `N` bytes; `None` out of bounds.
    #[inline(always)]
    pub fn read<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        if !self.contains(offset, N) {
            return None;
        }
        // SAFETY: inside the block, checked above; alignment 1.
        Some(unsafe { self.start.as_ptr().add(offset).cast::<[u8; N]>().read_unaligned() })
    }

    /// Writes `N` bytes; `false` (and nothing written) out of bounds.
    #[inline(always)]
    pub fn write<const N: usize>(&self, offset: usize, value: [u8; N]) -> bool {
        if !self.contains(offset, N) {
            return false;
        }
        // SAFETY: inside the block, checked above; alignment 1.
        unsafe { self.start.as_ptr().add(offset).cast::<[u8; N]>().write_unaligned(value) };
        true
    }

    /// Copies bytes out; `false` (and nothing copied) out of bounds.
    #[inline(always)]
    pub fn copy_out(&self, offset: usize, to: &mut [u8]) -> bool {
        if !self.contains(offset, to.len()) {
            return false;
        }
        // SAFETY: inside the block; `to` is borrowed mutably by the caller, and no reference into the
        // block exists, so they cannot overlap.
        unsafe {
            std::ptr::copy_nonoverlapping(self.start.as_ptr().add(offset), to.as_mut_ptr(), to.len());
        }
        true
    }

    /// Copies bytes in; `false` (and nothing copied) out of bounds.
    #[inline(always)]
    pub fn copy_in(&self, offset: usize, from: &[u8]) -> bool {
        if !self.contains(offset, from.len()) {
            return false;
        }
        // SAFETY: inside the block; `from` is no part of it, as no reference into the block exists.
        unsafe {
            std::ptr::copy_nonoverlapping(from.as_ptr(), self.start.as_ptr().add(offset), from.len());
        }
        true
    }

    /// Sets bytes to zero; `false` out of bounds.
    pub fn clear(&self, offset: usize, n: usize) -> bool {
        if !self.contains(offset, n) {
            return false;
        }
        // SAFETY: inside the block.
        unsafe { self.start.as_ptr().add(offset).write_bytes(0, n) };
        true
    }
}

/// Plain numbers, which any bytes are: the elements that [`Block::load_apart`] and its kin move.
///
/// # Safety
/// Every bit pattern is a value and there is no padding.
pub unsafe trait Element: Copy + Default {}
// SAFETY: plain numbers.
unsafe impl Element for u8 {}
// SAFETY: as above.
unsafe impl Element for u16 {}
// SAFETY: as above.
unsafe impl Element for u32 {}
// SAFETY: as above.
unsafe impl Element for u64 {}

impl Block {
    /// Reads elements from `offset` on, `step` elements apart; `false` (and nothing read) out of bounds.
    #[inline(always)]
    pub fn load_apart<T: Element, const N: usize>(
        &self,
        offset: usize,
        step: usize,
        to: &mut [T; N],
    ) -> bool {
        if !self.contains(offset, ((N - 1) * step + 1) * size_of::<T>()) {
            return false;
        }
        for i in 0..N {
            // SAFETY: the last element is inside the block, checked above, and so are all before it;
            // unaligned read.
            to[i] = unsafe {
                self.start.as_ptr().add(offset + i * step * size_of::<T>()).cast::<T>().read_unaligned()
            };
        }
        true
    }

    /// Writes elements from `offset` on, `step` elements apart; `false` (and nothing written) out of bounds.
    #[inline(always)]
    pub fn store_apart<T: Element, const N: usize>(&self, offset: usize, step: usize, from: &[T; N]) -> bool {
        if !self.contains(offset, ((N - 1) * step + 1) * size_of::<T>()) {
            return false;
        }
        for i in 0..N {
            // SAFETY: as in `load_apart`; unaligned write.
            unsafe {
                let place = self.start.as_ptr().add(offset + i * step * size_of::<T>());
                place.cast::<T>().write_unaligned(from[i]);
            }
        }
        true
    }
}

macro_rules! atomic {
    ($update:ident, $ty:ty, $atomic:ty) => {
        impl Block {
            /// Replaces the value at `offset` by `f` of it, atomically; gives the old value. `None` if out of
            /// bounds or not naturally aligned.
            #[inline]
            pub fn $update(&self, offset: usize, f: impl Fn($ty) -> $ty) -> Option<$ty> {
                const N: usize = size_of::<$ty>();
                if !self.contains(offset, N) || !offset.is_multiple_of(N) {
                    return None;
                }
                // SAFETY: inside the block; aligned, as the block is aligned to 64 and the offset to N;
                // guests' plain accesses to the same place are races of the guest's own.
                let place = unsafe { <$atomic>::from_ptr(self.start.as_ptr().add(offset).cast()) };
                let mut old = place.load(Ordering::Relaxed);
                loop {
                    let new = f(old);
                    match place.compare_exchange_weak(old, new, Ordering::SeqCst, Ordering::Relaxed) {
                        Ok(_) => return Some(old),
                        Err(now) => old = now,
                    }
                }
            }
        }
    };
}

atomic!(update_u8, u8, AtomicU8);
atomic!(update_u16, u16, AtomicU16);
atomic!(update_u32, u32, AtomicU32);
atomic!(update_u64, u64, AtomicU64);

impl Block {
    /// Adds to the value at `offset`, atomically; gives the old value. `None` as of [`Block::update_u32`].
    #[inline]
    pub fn add_u32(&self, offset: usize, n: u32) -> Option<u32> {
        if !self.contains(offset, 4) || !offset.is_multiple_of(4) {
            return None;
        }
        // SAFETY: as in `update_u32`.
        let place = unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(offset).cast()) };
        Some(place.fetch_add(n, Ordering::SeqCst))
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.len != 0 && self.map.is_none() {
            // SAFETY: allocated in `zeroed` with this very layout.
            unsafe { dealloc(self.start.as_ptr(), Layout::from_size_align_unchecked(self.len, ALIGN)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_access_is_bounded() {
        let block = Block::zeroed(16).unwrap();
        assert_eq!(block.read::<4>(12), Some([0; 4]));
        for offset in [13, 16, 17, usize::MAX, usize::MAX - 3] {
            assert_eq!(block.read::<4>(offset), None);
            assert!(!block.write(offset, [1u8; 4]));
            assert!(!block.copy_in(offset, &[1; 4]));
            assert!(!block.copy_out(offset, &mut [0; 4]));
            assert!(!block.clear(offset, 4));
            assert_eq!(block.update_u32(offset, |_| 1), None);
        }
        assert!(block.copy_in(16, &[]));
        assert_eq!(block.read::<17>(0), None);
    }

    #[test]
    fn atomics_want_alignment_and_give_the_old_value() {
        let block = Block::zeroed(16).unwrap();
        assert_eq!(block.update_u32(2, |v| v), None);
        assert_eq!(block.update_u32(4, |v| v + 7), Some(0));
        assert_eq!(block.add_u32(4, 1), Some(7));
        assert_eq!(block.read::<4>(4), Some(8u32.to_le_bytes()));
        assert_eq!(block.update_u64(8, |_| u64::MAX), Some(0));
        assert_eq!(block.update_u16(10, |v| v - 1), Some(u16::MAX));
        assert_eq!(block.update_u8(15, |v| v & 1), Some(0xff));
    }

    #[test]
    fn an_empty_block_has_nothing() {
        let mut block = Block::zeroed(0).unwrap();
        assert!(block.is_empty());
        assert_eq!(block.bytes(), &[] as &[u8]);
        assert_eq!(block.read::<1>(0), None);
        assert!(block.copy_in(0, &[]));
    }
}
