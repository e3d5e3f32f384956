//! What the application passes: pointers, which are followed here and nowhere else.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};

use envisa_runtime::host_memory::Region;

use crate::abi::Base;
use crate::core::error::{Error, Result};

/// The application's promise: pointers that it passes are null or valid for what the specification says is read or
/// written through them, until the call returns, or, for commands, until they are complete.
pub(crate) struct Caller(());

/// Most values that an array has: handles, sizes, pointers.
pub(crate) const MOST_VALUES: usize = 1 << 20;

/// Most structures that follow each other: of a circle, an error remains.
const CHAIN: usize = 64;

impl Caller {
    /// The promise of whoever called an entry point.
    ///
    /// # Safety
    /// To be made in an entry point only, of which the specification says what callers promise.
    pub(crate) unsafe fn new() -> Caller {
        Caller(())
    }

    /// Reads a value.
    pub(crate) fn read<T: Copy>(&self, from: *const T) -> Result<T> {
        if from.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        // SAFETY: promised by the caller; alignment does not matter.
        Ok(unsafe { from.read_unaligned() })
    }

    /// Reads a value that may be missing.
    pub(crate) fn read_optional<T: Copy>(&self, from: *const T) -> Option<T> {
        self.read(from).ok()
    }

    /// Writes a value.
    pub(crate) fn write<T: Copy>(&self, to: *mut T, value: T) -> Result<()> {
        if to.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        // SAFETY: promised by the caller; alignment does not matter.
        unsafe { to.write_unaligned(value) };
        Ok(())
    }

    /// Writes a value, if it is wanted.
    pub(crate) fn write_optional<T: Copy>(&self, to: *mut T, value: T) {
        let _ = self.write(to, value);
    }

    /// Changes a structure of the application: what is not changed, its kind and what follows it, stays.
    pub(crate) fn change<T: Copy>(&self, at: *mut T, change: impl FnOnce(&mut T)) -> Result<()> {
        let mut value = self.read(at)?;
        change(&mut value);
        self.write(at, value)
    }

    /// `n` values, or bytes; they have no pointer only if they are none.
    pub(crate) fn values<T: Copy>(&self, start: *const T, n: usize) -> Result<Vec<T>> {
        if n == 0 {
            return Ok(Vec::new());
        }
        if start.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        if size_of::<T>() > 1 && n > MOST_VALUES {
            return Err(Error::INVALID_SIZE);
        }
        let fits = n.checked_mul(size_of::<T>().max(1)).is_some_and(|b| is_in_user_space(start as usize, b));
        if !fits {
            return Err(Error::INVALID_SIZE);
        }
        // SAFETY: promised by the caller, for each of them.
        Ok((0..n).map(|i| unsafe { start.add(i).read_unaligned() }).collect())
    }

    /// Writes values to an array.
    pub(crate) fn write_all<T: Copy>(&self, to: *mut T, values: &[T]) -> Result<()> {
        for (i, value) in values.iter().enumerate() {
            self.write(to.wrapping_add(i), *value)?;
        }
        Ok(())
    }

    /// A text that ends with a zero; `None` without one. What is not UTF-8 is replaced.
    pub(crate) fn text(&self, start: *const c_char) -> Option<String> {
        // SAFETY: promised by the caller.
        (!start.is_null()).then(|| unsafe { CStr::from_ptr(start) }.to_string_lossy().into_owned())
    }

    /// A text that is asked for twice: once for its length, once for itself.
    pub(crate) fn write_sized_text(&self, bytes: &[u8], size: *mut usize, to: *mut u8) -> Result<()> {
        let room = self.read(size)?;
        if room > 0 && !to.is_null() {
            let n = room.min(bytes.len());
            self.write_all(to, &bytes[..n])?;
            return self.write(size, n);
        }
        self.write(size, bytes.len())
    }

    /// A list that is asked for twice: once for its length, once for itself. `make` changes what the application has at
    /// a place of it.
    pub(crate) fn list<T: Copy>(
        &self,
        count: *mut u32,
        to: *mut T,
        n: usize,
        make: impl Fn(usize, &mut T),
    ) -> Result<()> {
        let room = self.read(count)? as usize;
        if room == 0 || to.is_null() {
            return self.write(count, n as u32);
        }
        for i in 0..room.min(n) {
            self.change(to.wrapping_add(i), |t| make(i, t))?;
        }
        self.write(count, room.min(n) as u32)
    }

    /// The structures that follow one, with what they are.
    pub(crate) fn chain(&self, first: Base) -> Vec<(u32, *mut c_void)> {
        let mut all = Vec::new();
        let mut at = first.next;
        while let Some(base) = self.read_optional(at.cast::<Base>().cast_const()) {
            all.push((base.stype, at));
            at = base.next;
            if all.len() == CHAIN {
                break;
            }
        }
        all
    }

    /// Memory of the application that a command reads or writes.
    pub(crate) fn memory(&self, start: usize, len: usize) -> Region {
        // SAFETY: promised by the caller until the command is complete.
        unsafe { Region::host(start as *mut u8, len) }
    }
}

/// Whether so many bytes from an address on can be there: below the half of addresses that programs have.
pub(crate) fn is_in_user_space(start: usize, bytes: usize) -> bool {
    start.checked_add(bytes).is_some_and(|end| end <= 1 << 47)
}
