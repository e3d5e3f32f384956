//! Buffers: bytes in a device's memory that live as long as somebody holds them.

use crate::device::{Device, Inner};
use crate::error::Error;
use envisa_machine::memory;
use std::ops::Range;
use std::sync::Arc;

/// Bytes in a device's memory.
///
/// Cloning is cheap. Clones and slices share the same bytes, which are freed when the last of them is dropped.
#[derive(Clone)]
pub struct Buffer {
    allocation: Arc<Allocation>,
    /// Of the allocation, in bytes.
    range: Range<u64>,
}

/// What is freed when nobody holds it.
pub(crate) struct Allocation {
    device: Arc<Inner>,
    memory: Arc<memory::Allocation>,
}

impl Allocation {
    pub(crate) fn new(
        device: &Arc<Inner>,
        name: &str,
        bytes: u64,
        make: impl FnOnce(&mut [u8]),
    ) -> Result<Arc<Allocation>, Error> {
        let id = device.memory().allocate_with(name, bytes, make)?;
        Allocation::of(device, id)
    }

    /// Of an id that was just given out.
    pub(crate) fn of(device: &Arc<Inner>, id: memory::AllocationId) -> Result<Arc<Allocation>, Error> {
        let freed = || Error::Memory("the allocation was freed".into());
        let memory = device.memory().get(id).ok_or_else(freed)?;
        Ok(Arc::new(Allocation { device: device.clone(), memory }))
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.device.memory().free(self.memory.id);
    }
}

impl Buffer {
    pub(crate) fn whole(allocation: Arc<Allocation>) -> Buffer {
        let range = 0..allocation.memory.block.len() as u64;
        Buffer { allocation, range }
    }

    /// The device to which the buffer belongs.
    pub fn device(&self) -> Device {
        Device(self.allocation.device.clone())
    }

    /// Whether the buffer belongs to this device.
    pub fn is_of(&self, device: &Device) -> bool {
        Arc::ptr_eq(&self.allocation.device, &device.0)
    }

    pub(crate) fn allocation(&self) -> (&memory::Allocation, u64) {
        (&self.allocation.memory, self.range.start)
    }

    /// The name of the buffer in reports.
    pub fn name(&self) -> &str {
        &self.allocation.memory.name
    }

    /// Its length in bytes.
    pub fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Whether the buffer has no bytes.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// The address that kernels see.
    pub fn address(&self) -> u64 {
        self.allocation.memory.base + self.range.start
    }

    /// A part of the buffer, which shares its bytes.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn slice(&self, range: Range<u64>) -> Result<Buffer, Error> {
        let inside = self.part(range.start, range.end.saturating_sub(range.start))?;
        if range.end < range.start {
            return Err(self.outside(range.start, 0));
        }
        Ok(Buffer { allocation: self.allocation.clone(), range: inside })
    }

    /// Copies bytes out.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn read(&self, offset: u64, to: &mut [u8]) -> Result<(), Error> {
        let part = self.part(offset, to.len() as u64)?;
        match self.allocation.memory.block.copy_out_by_pieces(part.start as usize, to) {
            true => Ok(()),
            false => Err(self.outside(offset, to.len() as u64)),
        }
    }

    /// A copy of all bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.len() as usize];
        // The whole buffer is inside of itself.
        let _ = self.read(0, &mut bytes);
        bytes
    }

    /// Copies bytes in.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn write(&self, offset: u64, from: &[u8]) -> Result<(), Error> {
        let part = self.part(offset, from.len() as u64)?;
        match self.allocation.memory.block.copy_in_by_pieces(part.start as usize, from) {
            true => Ok(()),
            false => Err(self.outside(offset, from.len() as u64)),
        }
    }

    /// Repeats a pattern over `bytes` bytes from `offset` on. The last repetition is truncated.
    ///
    /// # Errors
    /// [`Error::Range`]; also for an empty pattern.
    pub fn fill(&self, offset: u64, bytes: u64, pattern: &[u8]) -> Result<(), Error> {
        self.part(offset, bytes)?;
        if pattern.is_empty() {
            return Err(Error::Range("an empty pattern fills nothing".into()));
        }
        // Whole patterns, about a page at a time.
        let piece: Vec<u8> = pattern.repeat((4096 / pattern.len()).max(1));
        let mut done = 0;
        while done < bytes {
            let n = (piece.len() as u64).min(bytes - done);
            self.write(offset + done, &piece[..n as usize])?;
            done += n;
        }
        Ok(())
    }

    fn part(&self, offset: u64, bytes: u64) -> Result<Range<u64>, Error> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.len() => Ok(self.range.start + offset..self.range.start + end),
            _ => Err(self.outside(offset, bytes)),
        }
    }

    fn outside(&self, offset: u64, bytes: u64) -> Error {
        Error::Range(format!("{bytes} bytes from byte {offset} on: {} has {}", self.name(), self.len()))
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({:?}, {} bytes at {:#x})", self.name(), self.len(), self.address())
    }
}
