//! Contexts and the memory that host and devices share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use envisa_runtime::host_memory::{Backing, Region};

use super::device::Device;
use super::error::{Error, Result};
use super::handle::{self, Handle};

/// A context: the allocations of an application.
pub struct Context {
    handle: OnceLock<Handle>,
    pointers: Mutex<BTreeMap<usize, Arc<Pointer>>>,
}

/// An allocation: host and devices see it at one address.
pub struct Pointer {
    /// The bytes.
    pub backing: Arc<Backing>,
    /// What it was allocated as.
    pub kind: Kind,
    /// Its device, of device and some shared memory.
    pub device: Option<Arc<Device>>,
    /// Bytes asked for.
    pub size: usize,
    /// What tells it from others.
    pub id: u64,
}

/// Kinds of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The host's.
    Host = 1,
    /// A device's.
    Device = 2,
    /// What moves between them.
    Shared = 3,
}

/// Largest alignment that may be asked for.
const MOST_ALIGN: usize = 1 << 21;

impl Context {
    /// A context of all devices.
    pub fn new() -> Arc<Context> {
        let context = Arc::new(Context { handle: OnceLock::new(), pointers: Mutex::default() });
        context.handle.get_or_init(|| handle::publish(&context));
        context
    }

    /// Its handle.
    pub fn handle(&self) -> Handle {
        self.handle.get().copied().unwrap_or(0)
    }

    /// Allocates; gives the address. `most`: what one allocation may have.
    ///
    /// # Errors
    /// If size or alignment are not supported, or memory is exhausted.
    pub fn allocate(
        &self,
        kind: Kind,
        device: Option<Arc<Device>>,
        size: usize,
        align: usize,
        most: u64,
    ) -> Result<usize> {
        if size == 0 || size as u64 > most {
            return Err(Error::UNSUPPORTED_SIZE);
        }
        if align != 0 && (!align.is_power_of_two() || align > MOST_ALIGN) {
            return Err(Error::UNSUPPORTED_ALIGNMENT);
        }
        let backing = Backing::allocate(size, align).ok_or(match kind {
            Kind::Host => Error::OUT_OF_HOST_MEMORY,
            _ => Error::OUT_OF_DEVICE_MEMORY,
        })?;
        let address = backing.address();
        let mut pointers = self.pointers.lock().unwrap();
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        let id = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        pointers.insert(address, Arc::new(Pointer { backing, kind, device, size, id }));
        Ok(address)
    }

    /// Ends an allocation; commands that use it keep the bytes until they are complete.
    ///
    /// # Errors
    /// If none begins there.
    pub fn free(&self, address: usize) -> Result<()> {
        let pointer = self.pointers.lock().unwrap().remove(&address);
        let pointer = pointer.ok_or(Error::INVALID_ARGUMENT)?;
        // Held by commands that were not executed, or are being executed.
        if envisa_runtime::report::is_checking() && Arc::strong_count(&pointer.backing) > 1 {
            super::command::report_freed_in_use(address..address + pointer.size);
        }
        Ok(())
    }

    /// The allocation that an address lies in.
    pub fn pointer(&self, address: usize) -> Option<Arc<Pointer>> {
        let pointers = self.pointers.lock().unwrap();
        let (start, pointer) = pointers.range(..=address).next_back()?;
        (address - start < pointer.size).then(|| pointer.clone())
    }

    /// The allocations of some kinds.
    pub fn of_kinds(&self, wanted: impl Fn(Kind) -> bool) -> Vec<Arc<Backing>> {
        let pointers = self.pointers.lock().unwrap();
        pointers.values().filter(|p| wanted(p.kind)).map(|p| p.backing.clone()).collect()
    }

    /// Bytes for a transfer, of an allocation; `None` if the address is in none.
    ///
    /// # Errors
    /// If they go past its end.
    pub fn region(&self, address: usize, len: usize) -> Result<Option<Region>> {
        let Some(pointer) = self.pointer(address) else { return Ok(None) };
        let offset = address - pointer.backing.address();
        pointer.backing.region().part(offset, len).map(Some).ok_or(Error::INVALID_SIZE)
    }
}
