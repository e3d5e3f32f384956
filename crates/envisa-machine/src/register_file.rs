//! The register file of a hardware thread: bytes, accessed by offsets that were checked once.
#![allow(unsafe_code)]

/// A chunk of 64 bytes, aligned so that vector accesses do not cross cache lines.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Chunk([u8; 64]);

/// Types that any bytes are a value of.
///
/// # Safety
/// Every bit pattern is a value, there is no padding, and it needs no alignment above 64.
pub unsafe trait Pod: Copy + Default + 'static {}

macro_rules! pod {
    ($($t:ty)*) => {$(
        // SAFETY: a plain number, or a transparent wrapper of one.
        unsafe impl Pod for $t {}
    )*};
}
pod! { u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 envisa_sem::Hf envisa_sem::Bf }

/// An element without alignment, so that registers can be looked at in place.
#[derive(Clone, Copy, Default)]
#[repr(C, packed)]
pub struct Unaligned<T>(T);

impl<T: Pod> Unaligned<T> {
    /// Of a value.
    #[inline(always)]
    pub fn new(x: T) -> Unaligned<T> {
        Unaligned(x)
    }

    /// The value.
    #[inline(always)]
    pub fn get(self) -> T {
        self.0
    }
}

/// The register file.
///
/// # Offsets
/// Engines check the offsets of an instruction once, when they decode it; so do messages, of their descriptors
/// (`envisa_lower::Message::is_inside`). The accessors behind that do not check them again in release builds; `debug_assert`
/// does.
pub struct Registers {
    /// The first byte of a boxed slice of chunks, which is this value's. It is kept as a pointer, since a box that is
    /// moved invalidates pointers into it.
    base: *mut u8,
    /// The same place: see [`Registers::store_merged_unchecked`].
    merged: *mut u8,
    len: u32,
    chunks: u32,
    channel_bits: &'static [u32; 32],
}

/// Bit i for channel i.
static CHANNEL_BITS: [u32; 32] = {
    let mut bits = [0; 32];
    let mut i = 0;
    while i < 32 {
        bits[i] = 1 << i;
        i += 1;
    }
    bits
};

/// All of so many channels, as a mask.
#[inline(always)]
pub const fn all_channels(n: usize) -> u32 {
    if n >= 32 { u32::MAX } else { (1 << n) - 1 }
}

// SAFETY: the pointers point to what is owned; there is no sharing.
unsafe impl Send for Registers {}

impl Drop for Registers {
    fn drop(&mut self) {
        let chunks = std::ptr::slice_from_raw_parts_mut(self.base.cast::<Chunk>(), self.chunks as usize);
        // SAFETY: `new` made them of a box of so many chunks, and nobody else owns them.
        drop(unsafe { Box::from_raw(chunks) });
    }
}

impl Registers {
    /// Bytes behind the file that handlers keep intermediate vectors in.
    pub const SPARE: u32 = 9 * 256;

    /// A file of at least this many bytes, all zero.
    pub fn new(bytes: u32) -> Registers {
        let n = Self::size(bytes) as usize / 64;
        let chunks = n + Self::SPARE as usize / 64;
        let base = Box::into_raw(vec![Chunk([0; 64]); chunks].into_boxed_slice()).cast::<u8>();
        let (len, chunks) = ((n * 64) as u32, chunks as u32);
        Registers { base, merged: base, len, chunks, channel_bits: &CHANNEL_BITS }
    }

    /// Bytes of a file that was asked to be of at least this many.
    pub fn size(bytes: u32) -> u32 {
        bytes.max(1).div_ceil(64).saturating_mul(64)
    }

    /// Bytes that may be accessed by offsets.
    fn accessible_bytes(&self) -> usize {
        self.chunks as usize * 64
    }

    /// Bytes.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Has it no bytes? Never: the smallest file is one chunk.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `base` is the start of the owned chunks, whose size is at least `len` bytes.
        unsafe { std::slice::from_raw_parts(self.base, self.len as usize) }
    }

    /// All bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; `self` is borrowed uniquely.
        unsafe { std::slice::from_raw_parts_mut(self.base, self.len as usize) }
    }

    /// `N` consecutive elements.
    ///
    /// # Safety
    /// They end at [`Registers::len`] plus [`Registers::SPARE`] at most.
    #[inline(always)]
    pub unsafe fn load_unchecked<T: Pod, const N: usize>(&self, offset: u32) -> [T; N] {
        debug_assert!(offset as usize + N * size_of::<T>() <= self.accessible_bytes());
        // SAFETY: in bounds by the contract; any bytes are a `[T; N]`; unaligned read.
        unsafe { self.base.add(offset as usize).cast::<[T; N]>().read_unaligned() }
    }

    /// Stores `N` consecutive elements.
    ///
    /// # Safety
    /// As of [`Registers::load_unchecked`].
    #[inline(always)]
    pub unsafe fn store_unchecked<T: Pod, const N: usize>(&mut self, offset: u32, x: [T; N]) {
        debug_assert!(offset as usize + N * size_of::<T>() <= self.accessible_bytes());
        // SAFETY: in bounds by the contract; unaligned write.
        unsafe { self.base.add(offset as usize).cast::<[T; N]>().write_unaligned(x) }
    }

    /// Stores `N` consecutive elements of which some are what was there. Compilers would make a masked store of
    /// that, whose bytes CPUs do not forward to the loads that follow (20 ns instead of 4); so they must not see
    /// that elements are loaded and stored at one place.
    ///
    /// # Safety
    /// As of [`Registers::load_unchecked`].
    #[inline(always)]
    pub unsafe fn store_merged_unchecked<T: Pod, const N: usize>(&mut self, offset: u32, x: [T; N]) {
        debug_assert!(offset as usize + N * size_of::<T>() <= self.accessible_bytes());
        // SAFETY: as in `store_unchecked`; `merged` is `base`.
        unsafe { self.merged.add(offset as usize).cast::<[T; N]>().write_unaligned(x) }
    }

    /// `N` consecutive elements, in place.
    ///
    /// # Safety
    /// As of [`Registers::load_unchecked`].
    #[inline(always)]
    pub unsafe fn at_unchecked<T: Pod, const N: usize>(&self, offset: u32) -> &[Unaligned<T>; N] {
        debug_assert!(offset as usize + N * size_of::<T>() <= self.accessible_bytes());
        // SAFETY: in bounds by the contract; `Un` has alignment 1 and any bytes are a value.
        unsafe { &*self.base.add(offset as usize).cast::<[Unaligned<T>; N]>() }
    }

    /// Bit i for channel i: loops over channels test `bits[i] & mask` against zero. As the compiler does not know
    /// the table, such a test becomes one vector instruction; shifts of the mask, which it unrolls, do not.
    #[inline(always)]
    pub fn channel_bits(&self) -> &'static [u32; 32] {
        self.channel_bits
    }

    /// One element, checked: zero where it lies outside.
    pub fn peek<T: Pod>(&self, offset: u32) -> T {
        let inside = offset as usize + size_of::<T>() <= self.len as usize;
        if inside { self.get(offset) } else { T::default() }
    }

    /// Bytes of a range, checked: an empty slice where it lies outside.
    pub fn slice(&self, offset: u32, bytes: u32) -> &[u8] {
        self.bytes().get(offset as usize..offset as usize + bytes as usize).unwrap_or(&[])
    }

    /// Bytes of a range, checked: an empty slice where it lies outside.
    pub fn slice_mut(&mut self, offset: u32, bytes: u32) -> &mut [u8] {
        self.bytes_mut().get_mut(offset as usize..offset as usize + bytes as usize).unwrap_or(&mut [])
    }
}

/// Access of this crate, by offsets of descriptors that were checked: see the type's documentation.
impl Registers {
    /// `N` consecutive elements.
    #[inline(always)]
    pub(crate) fn load<T: Pod, const N: usize>(&self, offset: u32) -> [T; N] {
        // SAFETY: in bounds by the type's contract.
        unsafe { self.load_unchecked(offset) }
    }

    /// Stores `N` consecutive elements.
    #[inline(always)]
    pub(crate) fn store<T: Pod, const N: usize>(&mut self, offset: u32, x: [T; N]) {
        // SAFETY: as in `load`.
        unsafe { self.store_unchecked(offset, x) }
    }

    /// `N` consecutive elements, in place.
    #[inline(always)]
    pub(crate) fn at<T: Pod, const N: usize>(&self, offset: u32) -> &[Unaligned<T>; N] {
        // SAFETY: as in `load`.
        unsafe { self.at_unchecked(offset) }
    }

    /// Stores the elements of a mask; the others keep their bits.
    #[inline(always)]
    pub(crate) fn store_masked<T: Pod, const N: usize>(&mut self, offset: u32, mask: u32, x: [T; N]) {
        // SAFETY: as in `load`.
        unsafe { self.store_merged_unchecked(offset, blend_by_mask(mask, x, self.load::<T, N>(offset))) }
    }

    /// One element.
    #[inline(always)]
    pub(crate) fn get<T: Pod>(&self, offset: u32) -> T {
        self.load::<T, 1>(offset)[0]
    }

    /// Stores one element.
    #[inline(always)]
    pub(crate) fn set<T: Pod>(&mut self, offset: u32, x: T) {
        self.store(offset, [x]);
    }

    /// The bytes of `N` consecutive elements, to be filled by `f`.
    #[inline(always)]
    pub(crate) fn fill_with<T: Pod, const N: usize>(
        &mut self,
        offset: u32,
        f: impl FnOnce(&mut [u8]) -> bool,
    ) -> bool {
        debug_assert!(offset as usize + size_of::<[T; N]>() <= self.accessible_bytes());
        // SAFETY: in bounds by the type's contract; the file is borrowed uniquely while `f` runs.
        f(unsafe { std::slice::from_raw_parts_mut(self.base.add(offset as usize), size_of::<[T; N]>()) })
    }

    /// The bytes of `N` consecutive elements.
    #[inline(always)]
    pub(crate) fn element_bytes<T: Pod, const N: usize>(&self, offset: u32) -> &[u8] {
        debug_assert!(offset as usize + size_of::<[T; N]>() <= self.accessible_bytes());
        // SAFETY: in bounds by the type's contract.
        unsafe { std::slice::from_raw_parts(self.base.add(offset as usize), size_of::<[T; N]>()) }
    }
}

/// Resolves an address register's value to an offset of `size` bytes inside one variable's home.
///
/// # Errors
/// The address, if it lies in no variable.
#[inline]
pub fn resolve_indirect(
    layout: &envisa_lower::Registers,
    address: u16,
    bytes: i16,
    size: u32,
) -> Result<envisa_lower::RegOffset, i64> {
    // Hardware adds in 16 bits.
    let at = address.wrapping_add(bytes as u16) as u32;
    match layout.address_homes.get((at / 64) as usize) {
        Some((_, end)) if at + size <= *end => Ok(layout.address_base + at),
        _ => Err(at as i64),
    }
}

/// Channel by channel `a` where the mask has a bit, `b` elsewhere.
#[inline(always)]
pub fn blend_by_mask<T: Pod, const N: usize>(mask: u32, a: [T; N], b: [T; N]) -> [T; N] {
    macro_rules! as_bits {
        ($u:ty, $without:expr) => {{
            let without = $without;
            // SAFETY: `T` is as large as the integer and any bytes are one.
            let (a, b) = unsafe { (bits::<T, $u, N>(&a), bits::<T, $u, N>(&b)) };
            let mut out = [0; N];
            for i in 0..N {
                // All ones where the channel is in the mask. In this form no channel's bit becomes a test of a
                // sign, and the loop one with vector masks.
                let m = (without >> i & 1).wrapping_sub(1) as $u;
                out[i] = a[i] & m | b[i] & !m;
            }
            // SAFETY: as above, the other way.
            unsafe { bits::<$u, T, N>(&out) }
        }};
    }
    match size_of::<T>() {
        1 => as_bits!(u8, !mask),
        2 => as_bits!(u16, !mask),
        4 => as_bits!(u32, !mask),
        _ => as_bits!(u64, !mask as u64),
    }
}

/// The elements' bits as another type's.
///
/// # Safety
/// The types are of the same size.
#[inline(always)]
unsafe fn bits<A: Pod, B: Pod, const N: usize>(x: &[A; N]) -> [B; N] {
    // SAFETY: of the same size by the contract, and any bytes are a value; unaligned read.
    unsafe { std::ptr::from_ref(x).cast::<[B; N]>().read_unaligned() }
}

/// The bits of channels' bytes that are all ones or zero: bit `i` of byte `i`. (A loop that writes such bytes
/// from compares becomes, with this, nothing but the compares.)
#[inline(always)]
pub fn bits_of_lane_masks<const N: usize>(lanes: &[u8; N]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if N == 8 || N == 16 || N == 32 {
        use std::arch::x86_64::*;
        let at = lanes.as_ptr().cast::<__m128i>();
        // SAFETY: SSE2 is part of the architecture; unaligned loads of the `N` bytes.
        return unsafe {
            match N {
                8 => _mm_movemask_epi8(_mm_loadl_epi64(at)) as u32,
                16 => _mm_movemask_epi8(_mm_loadu_si128(at)) as u32,
                _ => {
                    let high = _mm_movemask_epi8(_mm_loadu_si128(at.add(1))) as u32;
                    _mm_movemask_epi8(_mm_loadu_si128(at)) as u32 | high << 16
                }
            }
        };
    }
    let mut bits = 0;
    for (i, l) in lanes.iter().enumerate() {
        bits |= (*l as u32 & 1) << i;
    }
    bits
}
