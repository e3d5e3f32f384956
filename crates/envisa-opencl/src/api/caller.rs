//! What the application passes: pointers, which are followed here and nowhere else.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use envisa_runtime::host_blocks;
use envisa_runtime::memory_in_use::{self, Use};

use crate::api::note_reason;
use crate::core::context::Destructor;
use crate::core::error::{Error, Result};
use crate::core::host_memory::{Backing, Layout3, Region};
use crate::core::info::Answer;
use crate::core::mem::HostAccess;

/// The application's promise: pointers that it passes are null or valid for what the standard says is read or
/// written through them, until the call returns, or, for transfers, until the command is complete.
pub(crate) struct Caller {
    /// An error that is reported beside a result.
    beside: Cell<i32>,
}

/// A pointer of the application that is only handed back to it.
#[derive(Clone, Copy)]
pub(crate) struct Opaque(*mut c_void);

// SAFETY: it is never followed here.
unsafe impl Send for Opaque {}

impl Opaque {
    /// Wraps a pointer.
    pub(crate) fn new(pointer: *mut c_void) -> Opaque {
        Opaque(pointer)
    }

    /// The pointer.
    pub(crate) fn get(self) -> *mut c_void {
        self.0
    }
}

/// A function of the application that is told that an object is gone.
pub(crate) type AtEnd = Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>;

/// Calls it, with the object's handle and the application's data.
pub(crate) fn at_end(function: AtEnd, handle: *mut c_void, data: *mut c_void) -> Result<Destructor> {
    let function = function.ok_or(Error::INVALID_VALUE)?;
    let (handle, data) = (Opaque::new(handle), Opaque::new(data));
    // SAFETY: the application's function, called as the standard says.
    Ok(Box::new(move || unsafe { function(handle.get(), data.get()) }))
}

impl Caller {
    /// The promise of whoever called an entry point.
    ///
    /// # Safety
    /// To be made in an entry point only, of which the standard says what callers promise.
    pub(crate) unsafe fn new() -> Caller {
        Caller { beside: Cell::new(opencl_sys::CL_SUCCESS) }
    }

    /// Reports an error although there is a result.
    pub(crate) fn and_error(&self, e: Error) {
        self.beside.set(e.0);
    }

    /// The code that goes with a result.
    pub(crate) fn code(&self) -> i32 {
        self.beside.get()
    }

    /// `n` values; `None` if there is no pointer and they are more than none.
    pub(crate) fn slice<T: Copy>(&self, start: *const T, n: usize) -> Option<&[T]> {
        if n == 0 {
            return Some(&[]);
        }
        if start.is_null() || !start.is_aligned() || n > isize::MAX as usize / size_of::<T>().max(1) {
            return None;
        }
        // SAFETY: promised by the caller; not null and aligned.
        Some(unsafe { std::slice::from_raw_parts(start, n) })
    }

    /// Three sizes, as origins and regions are.
    pub(crate) fn three_sizes(&self, start: *const usize) -> Result<[usize; 3]> {
        let three = self.slice(start, 3).ok_or(Error::INVALID_VALUE)?;
        Ok([three[0], three[1], three[2]])
    }

    /// Reads a value.
    pub(crate) fn read<T: Copy>(&self, from: *const T) -> Option<T> {
        // SAFETY: promised by the caller; alignment does not matter.
        (!from.is_null()).then(|| unsafe { from.read_unaligned() })
    }

    /// Writes a value, if it is wanted.
    pub(crate) fn write<T: Copy>(&self, to: *mut T, value: T) {
        if !to.is_null() {
            // SAFETY: promised by the caller; alignment does not matter.
            unsafe { to.write_unaligned(value) };
        }
    }

    /// Writes values to an array.
    pub(crate) fn write_all<T: Copy>(&self, to: *mut T, values: &[T]) {
        for (i, value) in values.iter().enumerate() {
            // SAFETY: the array is promised to have room for them.
            self.write(to.wrapping_add(i), *value);
        }
    }

    /// Bytes of an argument or pattern.
    pub(crate) fn bytes(&self, start: *const c_void, n: usize) -> Option<Vec<u8>> {
        self.slice(start.cast::<u8>(), n).map(<[u8]>::to_vec)
    }

    /// A text that ends with a zero; `None` without one. What is not UTF-8 is replaced.
    pub(crate) fn text(&self, start: *const c_char) -> Option<String> {
        // SAFETY: promised by the caller.
        (!start.is_null()).then(|| unsafe { CStr::from_ptr(start) }.to_string_lossy().into_owned())
    }

    /// A list that ends with a zero, as properties are; with the zero. Empty without a pointer. `width`: values
    /// of an entry.
    pub(crate) fn zero_terminated<T: Copy + PartialEq + Default>(&self, start: *const T) -> Vec<T> {
        let mut all = Vec::new();
        if start.is_null() {
            return all;
        }
        loop {
            let at = start.wrapping_add(all.len());
            let Some(key) = self.read(at) else { return all };
            all.push(key);
            if key == T::default() {
                return all;
            }
            all.extend(self.read(at.wrapping_add(1)));
        }
    }

    /// A part of memory that a command names.
    pub(crate) fn part(&self, of: &Region, offset: usize, size: usize) -> Result<Region> {
        of.part(offset, size).ok_or_else(|| {
            note_reason(|| match offset.checked_add(size) {
                Some(end) => format!("bytes {offset} to {end} are not inside of {} bytes", of.len()),
                None => format!("offset {offset} and size {size} are more than an address can be"),
            });
            Error::INVALID_VALUE
        })
    }

    /// Memory of the application for a transfer.
    pub(crate) fn memory(&self, start: *const c_void, len: usize) -> Region {
        // SAFETY: promised by the caller until the command is complete.
        unsafe { Region::host(start.cast_mut().cast(), len) }
    }

    /// The same for a command that fills it from a memory object, or reads it for one.
    pub(crate) fn transfer(&self, start: *const c_void, len: usize, access: HostAccess) -> Region {
        let row = Layout3 { offset: 0, row: len, slice: len };
        self.transfer_rows(start, (row, [len, 1, 1]), len, access)
    }

    /// The same of rows, the last of which ends after `len` bytes.
    pub(crate) fn transfer_rows(
        &self,
        start: *const c_void,
        (rows, size): (Layout3, [usize; 3]),
        len: usize,
        access: HostAccess,
    ) -> Region {
        let region = self.memory(start, len);
        match access {
            HostAccess::Reads => {
                host_blocks::check_block_size(&region.range(), "written to");
                memory_in_use::note(region.range(), Use::Fills);
            }
            HostAccess::Writes => {
                host_blocks::check_block_size(&region.range(), "read from");
                if crate::report::is_checking() {
                    memory_in_use::note_read(region.row_ranges(rows, size));
                }
            }
        }
        region
    }

    /// Memory of the application of which a buffer gets its content.
    pub(crate) fn content(&self, start: *const c_void, len: usize) -> Region {
        let region = self.memory(start, len);
        host_blocks::check_block_size(&region.range(), "copied (CL_MEM_COPY_HOST_PTR) from");
        region
    }

    /// Memory that the application lends to a buffer.
    pub(crate) fn lent_memory(&self, start: *mut c_void, len: usize) -> Option<Arc<Backing>> {
        host_blocks::check_block_size(&self.memory(start, len).range(), "lent (CL_MEM_USE_HOST_PTR) of");
        // SAFETY: promised by the caller as long as the buffer lives.
        unsafe { Backing::lend_from_application(start.cast(), len) }
    }

    /// Answers a query.
    pub(crate) fn answer(
        &self,
        answer: Answer,
        size: usize,
        value: *mut c_void,
        size_ret: *mut usize,
    ) -> Result<()> {
        let bytes = answer.0;
        if !value.is_null() {
            if size < bytes.len() {
                return Err(Error::INVALID_VALUE);
            }
            self.memory(value, bytes.len()).write(&bytes);
        }
        self.write(size_ret, bytes.len());
        Ok(())
    }
}

/// An entry point's address, as extensions hand it out.
pub(crate) fn address(function: *const ()) -> *mut c_void {
    function.cast_mut().cast()
}
