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
pub struct Un<T>(T);

impl<T: Pod> Un<T> {
    /// Of a value.
    #[inline(always)]
    pub fn new(x: T) -> Un<T> {
        Un(x)
    }

    /// The value.
    #[inline(always)]
    pub(crate) fn get(self) -> T {
        self.0
    }
}

/// The register file.
///
/// # Offsets
/// The crate's own accessors do not check offsets in release builds. They are called by handlers of decoded
/// instructions only, whose operands [`crate::exec::decode`] holds against [`Registers::len`] when it
/// makes them, and by code that takes an offset from a checked descriptor
/// (`envisa_lower::messages::Resolver::raw`). `debug_assert` repeats the check.
pub struct Registers {
    chunks: Box<[Chunk]>,
    base: *mut u8,
    /// The same place: see [`Registers::store_merged`].
    merged: *mut u8,
    len: u32,
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

// SAFETY: the pointer points into the owned box; there is no sharing.
unsafe impl Send for Registers {}

impl Registers {
    /// A file of at least this many bytes, all zero.
    pub fn new(bytes: u32) -> Registers {
        let n = Self::size(bytes) as usize / 64;
        let mut chunks = vec![Chunk([0; 64]); n].into_boxed_slice();
        let base = chunks.as_mut_ptr().cast::<u8>();
        Registers { chunks, base, merged: base, len: (n * 64) as u32, channel_bits: &CHANNEL_BITS }
    }

    /// Bytes of a file that was asked to be of at least this many.
    pub fn size(bytes: u32) -> u32 {
        bytes.max(1).div_ceil(64).saturating_mul(64)
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
        // SAFETY: `base` is the start of the owned chunks, `len` their size in bytes.
        unsafe { std::slice::from_raw_parts(self.chunks.as_ptr().cast(), self.len as usize) }
    }

    /// All bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; `self` is borrowed uniquely.
        unsafe { std::slice::from_raw_parts_mut(self.base, self.len as usize) }
    }

    /// `N` consecutive elements.
    #[inline(always)]
    pub(crate) fn load<T: Pod, const N: usize>(&self, offset: u32) -> [T; N] {
        debug_assert!(offset as usize + N * size_of::<T>() <= self.len as usize);
        // SAFETY: in bounds by the type's contract; any bytes are a `[T; N]`; unaligned read.
        unsafe { self.base.add(offset as usize).cast::<[T; N]>().read_unaligned() }
    }

    /// Stores `N` consecutive elements.
    #[inline(always)]
    pub(crate) fn store<T: Pod, const N: usize>(&mut self, offset: u32, x: [T; N]) {
        debug_assert!(offset as usize + N * size_of::<T>() <= self.len as usize);
        // SAFETY: in bounds by the type's contract; unaligned write.
        unsafe { self.base.add(offset as usize).cast::<[T; N]>().write_unaligned(x) }
    }

    /// Stores `N` consecutive elements of which some are what was there. Compilers would make a masked store of
    /// that, whose bytes CPUs do not forward to the loads that follow (20 ns instead of 4); so they must not see
    /// that elements are loaded and stored at one place.
    #[inline(always)]
    pub(crate) fn store_merged<T: Pod, const N: usize>(&mut self, offset: u32, x: [T; N]) {
        debug_assert!(offset as usize + N * size_of::<T>() <= self.len as usize);
        // SAFETY: as in `store`; `merged` is `base`.
        unsafe { self.merged.add(offset as usize).cast::<[T; N]>().write_unaligned(x) }
    }

    /// `N` consecutive elements, in place.
    #[inline(always)]
    pub(crate) fn at<T: Pod, const N: usize>(&self, offset: u32) -> &[Un<T>; N] {
        debug_assert!(offset as usize + N * size_of::<T>() <= self.len as usize);
        // SAFETY: in bounds by the type's contract; `Un` has alignment 1 and any bytes are a value.
        unsafe { &*self.base.add(offset as usize).cast::<[Un<T>; N]>() }
    }

    /// Bit i for channel i: loops over channels test `bits[i] & mask` against zero. As the compiler does not know
    /// the table, such a test becomes one vector instruction; shifts of the mask, which it unrolls, do not.
    #[inline(always)]
    pub(crate) fn channel_bits(&self) -> &'static [u32; 32] {
        self.channel_bits
    }

    /// Stores the elements of a mask; the others keep their bits.
    #[inline(always)]
    pub(crate) fn store_masked<T: Pod, const N: usize>(&mut self, offset: u32, mask: u32, x: [T; N]) {
        macro_rules! as_bits {
            ($u:ty) => {{
                let new = std::ptr::from_ref(&x).cast::<[$u; N]>();
                // SAFETY: `T` is as large as the integer and any bytes are one; unaligned read.
                let new = unsafe { new.read_unaligned() };
                let old = self.load::<$u, N>(offset);
                let mut out = [0; N];
                for i in 0..N {
                    out[i] = if self.channel_bits[i] & mask != 0 { new[i] } else { old[i] };
                }
                self.store_merged(offset, out);
            }};
        }
        match size_of::<T>() {
            1 => as_bits!(u8),
            2 => as_bits!(u16),
            4 => as_bits!(u32),
            _ => as_bits!(u64),
        }
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

    /// Bytes of a range, checked: an empty slice where it lies outside.
    pub fn slice(&self, offset: u32, bytes: u32) -> &[u8] {
        self.bytes().get(offset as usize..offset as usize + bytes as usize).unwrap_or(&[])
    }

    /// Bytes of a range, checked: an empty slice where it lies outside.
    pub fn slice_mut(&mut self, offset: u32, bytes: u32) -> &mut [u8] {
        self.bytes_mut().get_mut(offset as usize..offset as usize + bytes as usize).unwrap_or(&mut [])
    }
}

impl Registers {
    /// The bytes of `N` consecutive elements, to be filled by `f`.
    #[inline(always)]
    pub(crate) fn fill_with<T: Pod, const N: usize>(
        &mut self,
        offset: u32,
        f: impl FnOnce(&mut [u8]) -> bool,
    ) -> bool {
        debug_assert!(offset as usize + size_of::<[T; N]>() <= self.len as usize);
        // SAFETY: in bounds by the type's contract; the file is borrowed uniquely while `f` runs.
        f(unsafe { std::slice::from_raw_parts_mut(self.base.add(offset as usize), size_of::<[T; N]>()) })
    }

    /// The bytes of `N` consecutive elements.
    #[inline(always)]
    pub(crate) fn view<T: Pod, const N: usize>(&self, offset: u32) -> &[u8] {
        debug_assert!(offset as usize + size_of::<[T; N]>() <= self.len as usize);
        // SAFETY: in bounds by the type's contract.
        unsafe { std::slice::from_raw_parts(self.base.add(offset as usize), size_of::<[T; N]>()) }
    }
}

/// Resolves an address register's value to an offset of `size` bytes inside one variable's home.
///
/// # Errors
/// The address, if it lies in no variable.
#[inline]
pub(crate) fn indirect(
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
