//! The register file as handlers access it: by offsets that were checked when they were made.
#![allow(unsafe_code)]

use envisa_machine::register_file::{Pod, Registers, Unaligned, blend_by_mask};

/// Access by offsets that nobody checks in release builds.
///
/// Called by handlers of decoded instructions only. Their offsets are those of operands of a
/// [`Program`](envisa_lower::Program), or up to [`Registers::SPARE`] bytes behind its file;
/// `Code::admit` sees to it that the file is one of that program.
pub(crate) trait Operands {
    /// `N` consecutive elements.
    fn load<T: Pod, const N: usize>(&self, offset: u32) -> [T; N];
    /// Stores `N` consecutive elements.
    fn store<T: Pod, const N: usize>(&mut self, offset: u32, x: [T; N]);
    /// `N` consecutive elements, in place.
    fn at<T: Pod, const N: usize>(&self, offset: u32) -> &[Unaligned<T>; N];
    /// Stores `N` consecutive elements of which some are what was there: see
    /// [`Registers::store_merged_unchecked`].
    fn store_merged<T: Pod, const N: usize>(&mut self, offset: u32, x: [T; N]);
    /// Stores the elements of a mask; the others keep their bits.
    fn store_masked<T: Pod, const N: usize>(&mut self, offset: u32, mask: u32, x: [T; N]);
    /// One element.
    fn get<T: Pod>(&self, offset: u32) -> T;
    /// Stores one element.
    fn set<T: Pod>(&mut self, offset: u32, x: T);
}

impl Operands for Registers {
    #[inline(always)]
    fn load<T: Pod, const N: usize>(&self, offset: u32) -> [T; N] {
        // SAFETY: in bounds by the trait's contract.
        unsafe { self.load_unchecked(offset) }
    }

    #[inline(always)]
    fn store<T: Pod, const N: usize>(&mut self, offset: u32, x: [T; N]) {
        // SAFETY: as in `load`.
        unsafe { self.store_unchecked(offset, x) }
    }

    #[inline(always)]
    fn at<T: Pod, const N: usize>(&self, offset: u32) -> &[Unaligned<T>; N] {
        // SAFETY: as in `load`.
        unsafe { self.at_unchecked(offset) }
    }

    #[inline(always)]
    fn store_merged<T: Pod, const N: usize>(&mut self, offset: u32, x: [T; N]) {
        // SAFETY: as in `load`.
        unsafe { self.store_merged_unchecked(offset, x) }
    }

    #[inline(always)]
    fn store_masked<T: Pod, const N: usize>(&mut self, offset: u32, mask: u32, x: [T; N]) {
        Operands::store_merged(self, offset, blend_by_mask(mask, x, Operands::load::<T, N>(self, offset)));
    }

    #[inline(always)]
    fn get<T: Pod>(&self, offset: u32) -> T {
        Operands::load::<T, 1>(self, offset)[0]
    }

    #[inline(always)]
    fn set<T: Pod>(&mut self, offset: u32, x: T) {
        Operands::store(self, offset, [x]);
    }
}
