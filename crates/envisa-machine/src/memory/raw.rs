//! Bytes that guest threads share: the one place of the machine where memory is touched without the
//! compiler's borrow rules.
//!
//! Guest threads run on several host threads and may race, as they may on a GPU. Every access is
//! bounds-checked here against the block it falls in, so no guest can reach memory it was not given;
//! what a racing guest reads is some mixture of old and new bytes, as on the device.
//!
//! Such races are the guest's own, and no Rust reference to the bytes exists while guests can run: everything goes
//! through raw pointers, each value is loaded once, nothing is decided by what was loaded before it has been stored
//! to a register file, and no loaded bytes are of a type that has invalid values. What a race can do is limited to
//! which bytes a guest sees. The host gets references to the bytes only where nobody else has access
//! ([`Block::bytes`] takes `&mut`).
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use memmap2::MmapMut;

use crate::pool::{copy_by_pieces, fill_by_pieces};

/// Alignment of every block: a cache line, and the widest vector.
const ALIGN: usize = 64;
/// Blocks from this size on are mapped, in large pages where the system has them: accesses all over a large
/// buffer cost a page walk each otherwise.
const MAPPED: usize = 4 << 20;
/// Where large pages begin: what does not start there starts with small ones.
const LARGE_PAGE: usize = 2 << 20;
/// The system's pages.
const PAGE: usize = 4096;
/// Blocks from this size on begin at places of their own: see [`place_of`].
const APART: usize = 4 * PAGE;

/// Bytes behind a block that is the machine's own: so many more are allocated, so that dwords may be read of which the first
/// byte is the block's last.
const BEHIND: usize = 4;

/// How many bytes behind a multiple of its alignment a block of so many bytes is to begin: a multiple of 128, less than half
/// of a large page, and another one for each of those that come one after the other. Element for element, arrays that
/// kernels go through together would meet in the same sets of the caches else, which hold eight lines or so.
pub fn place_of(len: usize) -> usize {
    const STEP: usize = 640;
    const STEP_PAGES: usize = 3;
    const PLACES: usize = 32;
    static PLACED: AtomicUsize = AtomicUsize::new(0);
    if len < APART {
        return 0;
    }
    let place = PLACED.fetch_add(1, Ordering::Relaxed) % PLACES;
    // Smaller ones are spread over pages as it is.
    place * STEP + if len < MAPPED { 0 } else { place * STEP_PAGES * PAGE }
}

/// A block of shared bytes.
#[derive(Debug)]
pub struct Block {
    start: NonNull<u8>,
    len: usize,
    /// Bytes behind it that belong to nobody else, and may be read.
    behind: usize,
    /// What frees the bytes; `None` if there are none, or somebody else does.
    #[allow(dead_code)]
    owner: Option<Box<Owner>>,
}

/// Who owns a block's bytes.
enum Owner {
    /// They were allocated, with this layout.
    Heap(NonNull<u8>, Layout),
    /// They are part of a mapping.
    Map(#[allow(dead_code)] MmapMut),
    /// They are somebody else's, who is kept alive by this.
    Foreign(#[allow(dead_code)] Option<Box<dyn Any + Send + Sync>>),
}

impl std::fmt::Debug for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Owner::Heap(..) => "Heap",
            Owner::Map(_) => "Map",
            Owner::Foreign(_) => "Foreign",
        })
    }
}

// SAFETY: the block's memory is its own or, by the contracts of `foreign` and `view`, outlives it; all access
// through `&Block` goes through raw pointers or atomics inside bounds, and no reference into the memory is ever
// handed out from `&Block`.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    /// A block of `len` zero bytes; `None` if the host has no such memory.
    pub fn zeroed(len: usize) -> Option<Block> {
        if len == 0 {
            return Some(Block { start: NonNull::dangling(), len: 0, behind: 0, owner: None });
        }
        let place = place_of(len);
        if len >= MAPPED {
            let map = MmapMut::map_anon(len.checked_add(LARGE_PAGE + place)?).ok()?;
            // Advice: where it is not taken, all is well but slower.
            #[cfg(all(target_os = "linux", not(miri)))]
            let _ = map.advise(memmap2::Advice::HugePage);
            let from = map.as_ptr() as usize;
            return Block::from_mapping(map, from.next_multiple_of(LARGE_PAGE) - from + place, len);
        }
        let apart = BEHIND + if len < APART { 0 } else { PAGE };
        let layout = Layout::from_size_align(len.checked_add(apart)?, ALIGN).ok()?;
        // SAFETY: the layout's size is not zero.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let at = if len < APART { 0 } else { place.wrapping_sub(base.as_ptr() as usize) % PAGE };
        // SAFETY: less than a page into what is a page longer than the block.
        let start = unsafe { base.add(at) };
        Some(Block { start, len, behind: BEHIND, owner: Some(Box::new(Owner::Heap(base, layout))) })
    }

    /// A block of `len` zero bytes on pages of its own, with `guard` bytes around it that are nobody's; both are
    /// multiples of 4096, or the start is not aligned to pages. `None` if the host has no such memory.
    pub fn new_with_guard_pages(len: usize, guard: usize) -> Option<Block> {
        let map = MmapMut::map_anon(len.checked_add(guard.checked_mul(2)?)?.max(1)).ok()?;
        Block::from_mapping(map, guard, len)
    }

    fn from_mapping(mut map: MmapMut, at: usize, len: usize) -> Option<Block> {
        let end = at.checked_add(len)?;
        let behind = map.len().checked_sub(end)?.min(BEHIND);
        let start = NonNull::new(map.get_mut(at..end)?.as_mut_ptr())?;
        Some(Block { start, len, behind, owner: Some(Box::new(Owner::Map(map))) })
    }

    /// The host's own memory as a block, without a copy.
    ///
    /// # Safety
    /// `start` is followed by `len` bytes that are initialised and may be read and written, by any host thread, until
    /// the block is dropped (`keep` is dropped then). Meanwhile the host accesses them by raw pointers only, as
    /// guests may write them.
    pub unsafe fn from_host_memory(
        start: NonNull<u8>,
        len: usize,
        keep: Option<Box<dyn Any + Send + Sync>>,
    ) -> Block {
        Block { start, len, behind: 0, owner: Some(Box::new(Owner::Foreign(keep))) }
    }

    /// The same with so many bytes behind it that may be read, too: what they are means nothing.
    ///
    /// # Safety
    /// They are initialised and readable as long as the block's own bytes, and nobody writes them.
    pub unsafe fn padded(self, behind: usize) -> Block {
        Block { behind, ..self }
    }

    /// The same bytes once more.
    ///
    /// # Safety
    /// The view is dropped before the block is.
    pub(super) unsafe fn alias_block(&self) -> Block {
        Block { start: self.start, len: self.len, behind: self.behind, owner: None }
    }

    /// The first byte. Bytes may be accessed by it, inside the block, as long as that lives; guests may write them at
    /// the same time.
    #[inline(always)]
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// A copy of all bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = vec![0; self.len];
        self.copy_out(0, &mut out);
        out
    }

    /// Length in bytes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// May the bytes from an offset on be read, so many? They are the block's, or some behind it that mean nothing.
    pub fn may_read(&self, offset: usize, n: usize) -> bool {
        offset.checked_add(n).is_some_and(|end| end <= self.len + self.behind)
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

    /// As [`copy_out`](Block::copy_out), by several host threads if there are many bytes.
    pub fn copy_out_by_pieces(&self, offset: usize, to: &mut [u8]) -> bool {
        let inside = self.contains(offset, to.len());
        if inside {
            fill_by_pieces(to, |at, piece| {
                self.copy_out(offset + at, piece);
            });
        }
        inside
    }

    /// Copies bytes in; `false` (and nothing copied) out of bounds.
    #[inline(always)]
    pub fn copy_in(&self, offset: usize, from: &[u8]) -> bool {
        if !self.contains(offset, from.len()) {
            return false;
        }
        // SAFETY: inside the block; `from` is not part of it, as no reference into the block exists.
        unsafe {
            std::ptr::copy_nonoverlapping(from.as_ptr(), self.start.as_ptr().add(offset), from.len());
        }
        true
    }

    /// As [`copy_in`](Block::copy_in), by several host threads if there are many bytes.
    pub fn copy_in_by_pieces(&self, offset: usize, from: &[u8]) -> bool {
        let inside = self.contains(offset, from.len());
        if inside {
            copy_by_pieces(from.len(), |r| {
                self.copy_in(offset + r.start, &from[r]);
            });
        }
        inside
    }

    /// Sets bytes to zero; `false` out of bounds.
    pub fn clear(&self, offset: usize, n: usize) -> bool {
        if !self.contains(offset, n) {
            return false;
        }
        // An empty block is nowhere, and writing nothing there takes CPUs hundreds of cycles: a masked store to no page.
        if n > 0 {
            // SAFETY: inside the block.
            unsafe { self.start.as_ptr().add(offset).write_bytes(0, n) };
        }
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
                if !self.contains(offset, N) {
                    return None;
                }
                // SAFETY: inside the block.
                let place = unsafe { self.start.as_ptr().add(offset).cast::<$ty>() };
                if !place.is_aligned() {
                    return None;
                }
                // SAFETY: inside the block and aligned; guests' plain accesses to the same place are races of the
                // guest's own.
                let place = unsafe { <$atomic>::from_ptr(place) };
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
        if !self.contains(offset, 4) {
            return None;
        }
        // SAFETY: inside the block.
        let place = unsafe { self.start.as_ptr().add(offset).cast::<u32>() };
        if !place.is_aligned() {
            return None;
        }
        // SAFETY: as in `update_u32`.
        let place = unsafe { AtomicU32::from_ptr(place) };
        Some(place.fetch_add(n, Ordering::SeqCst))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Owner::Heap(start, layout) = self {
            // SAFETY: allocated in `zeroed` with this very layout.
            unsafe { dealloc(start.as_ptr(), *layout) }
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
    #[cfg(not(miri))]
    fn large_copies_by_pieces_are_whole_or_not_done() {
        let bytes = (9 << 20) + 5;
        let block = Block::zeroed(bytes + 10).unwrap();
        let some: Vec<u8> = (0..bytes).map(|i| (i * 5 + i / 4096) as u8).collect();
        assert!(block.copy_in_by_pieces(7, &some));
        let mut back = vec![1; bytes];
        assert!(block.copy_out_by_pieces(7, &mut back) && back == some);
        assert!(block.read::<8>(0).unwrap()[..7] == [0; 7] && block.read::<3>(bytes + 7) == Some([0; 3]));
        assert!(!block.copy_in_by_pieces(11, &vec![3; bytes]) && !block.copy_out_by_pieces(11, &mut back));
        assert!(block.copy_out_by_pieces(7, &mut back) && back == some);
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
