//! Memory that the host and the device share.
#![allow(unsafe_code)] // Memory of the host is taken in by its address.

use crate::buffer::{Allocation, Buffer};
use crate::device::Device;
use crate::error::Error;
use envisa_machine::memory::{Block, Permission, Place};
use std::any::Any;
use std::ptr::NonNull;

impl Device {
    /// A buffer of zeros whose address is the same on the host and on the device, so that pointers into it mean the
    /// same on both sides: shared virtual memory. It starts at a page of 4096 bytes; [`Buffer::host_pointer`] is its
    /// address.
    ///
    /// # Errors
    /// [`Error::Memory`]: the device's or the host's memory is exhausted.
    pub fn shared(&self, name: &str, bytes: u64) -> Result<Buffer, Error> {
        let id = self.0.memory().allocate_shared(name, bytes)?;
        Allocation::of(&self.0, id).map(Buffer::whole)
    }

    /// A buffer with this content that kernels can only read: writing it is a fault.
    ///
    /// # Errors
    /// As [`Device::shared`].
    pub fn constant(&self, name: &str, content: &[u8]) -> Result<Buffer, Error> {
        let id = self.0.memory().allocate_constant(name, content.len() as u64)?;
        let buffer = Allocation::of(&self.0, id).map(Buffer::whole)?;
        buffer.write(0, content)?;
        Ok(buffer)
    }

    /// Memory of the host as a buffer, without a copy; at the same address on the device, if `same_address`, else
    /// where the device likes. `keep` is dropped when the last buffer and the last launch that can reach the bytes
    /// are gone.
    ///
    /// # Safety
    /// `start` is followed by `bytes` bytes that are initialised and may be read and written by any host thread until
    /// `keep` is dropped. Meanwhile the host accesses them by raw pointers only, as kernels may write them.
    ///
    /// # Errors
    /// [`Error::Memory`]: the device's memory is exhausted, or the address is taken.
    pub unsafe fn import(
        &self,
        name: &str,
        start: NonNull<u8>,
        bytes: usize,
        keep: Option<Box<dyn Any + Send + Sync>>,
        same_address: bool,
    ) -> Result<Buffer, Error> {
        // SAFETY: the caller promises the same.
        unsafe { self.import_padded(name, start, (bytes, 0), keep, same_address) }
    }

    /// As [`Device::import`], of so many bytes and of others behind them that kernels may not access, but that native code may
    /// read: it reads a byte or a word as part of a dword, also the last ones then.
    ///
    /// # Safety
    /// As [`Device::import`]; those behind are initialised and readable as long, and nobody writes them.
    ///
    /// # Errors
    /// As [`Device::import`].
    pub unsafe fn import_padded(
        &self,
        name: &str,
        start: NonNull<u8>,
        (bytes, behind): (usize, usize),
        keep: Option<Box<dyn Any + Send + Sync>>,
        same_address: bool,
    ) -> Result<Buffer, Error> {
        let place = if same_address { Place::HostAddress } else { Place::Anywhere };
        // SAFETY: the caller promises the same.
        let block = unsafe { Block::from_host_memory(start, bytes, keep).padded(behind) };
        self.take_in(name, block, place, Permission::ReadWrite)
    }

    /// As [`Device::import`], at an address that the device chooses; a kernel that writes there faults.
    ///
    /// # Safety
    /// As [`Device::import`], but that the bytes need only be readable.
    ///
    /// # Errors
    /// As [`Device::import`].
    pub unsafe fn import_constant(
        &self,
        name: &str,
        start: NonNull<u8>,
        bytes: usize,
        keep: Option<Box<dyn Any + Send + Sync>>,
    ) -> Result<Buffer, Error> {
        // SAFETY: the caller promises what reading takes; nothing writes where the permission says so.
        let block = unsafe { Block::from_host_memory(start, bytes, keep) };
        self.take_in(name, block, Place::Anywhere, Permission::ReadOnly)
    }

    fn take_in(
        &self,
        name: &str,
        block: Block,
        place: Place,
        permission: Permission,
    ) -> Result<Buffer, Error> {
        let id = self.0.memory().import(name, block, place, permission)?;
        Allocation::of(&self.0, id).map(Buffer::whole)
    }
}

impl Buffer {
    /// Where its bytes are on the host, as long as it lives. What a kernel writes at the same time is seen in part.
    pub fn host_pointer(&self) -> *mut u8 {
        let (allocation, start) = self.allocation();
        // Inside of the block, or right behind it.
        allocation.block.as_ptr().wrapping_add(start as usize)
    }
}
