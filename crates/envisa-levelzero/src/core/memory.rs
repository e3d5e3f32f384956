//! Contexts and the memory that host and devices share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use envisa_runtime::host_memory::{Backing, Region};

use super::device::Device;
use super::error::{Error, Result};
use super::handle::{self, Handle};
use super::reserved::Reserved;

/// A context: the allocations of an application.
pub struct Context {
    handle: OnceLock<Handle>,
    pointers: Mutex<BTreeMap<usize, Arc<Pointer>>>,
    /// By their first addresses.
    pub(super) reservations: Mutex<BTreeMap<usize, Arc<Reserved>>>,
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
    /// Where it is from: it ends in the same way.
    pub origin: Origin,
    /// `ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_*` that the application set; atomics work whatever they say.
    pub atomics: AtomicU32,
}

/// Where memory is from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It was allocated.
    Allocated,
    /// It is data of a module.
    Module,
    /// Pages were put to addresses that were reserved.
    Mapped,
    /// Another process has it, too.
    Opened,
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
const MOST_ALIGN: usize = 1 << 26;

/// All contexts.
static ALL: Mutex<Vec<Weak<Context>>> = Mutex::new(Vec::new());

/// What tells memory from other memory.
pub fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The allocations of some kinds, of all contexts: a kernel's module may be of another one than its list.
pub fn of_kinds(wanted: impl Fn(Kind) -> bool) -> Vec<Arc<Backing>> {
    let all = ALL.lock().unwrap().clone();
    all.iter().filter_map(Weak::upgrade).flat_map(|c| c.of_kinds(&wanted)).collect()
}

/// Bytes that a device has been asked for, in all contexts.
pub fn bytes_of_device(device: &Arc<Device>) -> u64 {
    let all = ALL.lock().unwrap().clone();
    let of_context = |context: Arc<Context>| -> u64 {
        let pointers = context.pointers.lock().unwrap();
        let ours = pointers.values().filter(|p| p.device.as_ref().is_some_and(|d| Arc::ptr_eq(d, device)));
        ours.map(|p| p.size as u64).sum()
    };
    all.iter().filter_map(Weak::upgrade).map(of_context).sum()
}

impl Context {
    /// A context of all devices.
    pub fn new() -> Arc<Context> {
        let (handle, pointers, reservations) = (OnceLock::new(), Mutex::default(), Mutex::default());
        let context = Arc::new(Context { handle, pointers, reservations });
        context.handle.get_or_init(|| handle::publish(&context));
        ALL.lock().unwrap().retain(|c| c.strong_count() > 0);
        ALL.lock().unwrap().push(Arc::downgrade(&context));
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
        Ok(self.add(kind, device, backing, Origin::Allocated))
    }

    /// Takes in memory; gives its address.
    pub fn add(
        &self,
        kind: Kind,
        device: Option<Arc<Device>>,
        backing: Arc<Backing>,
        origin: Origin,
    ) -> usize {
        let (id, address, size) = (next_id(), backing.address(), backing.len());
        let atomics = AtomicU32::new(0);
        let pointer = Arc::new(Pointer { backing, kind, device, size, id, origin, atomics });
        self.pointers.lock().unwrap().insert(address, pointer);
        address
    }

    /// Memory at this address is gone.
    pub fn forget(&self, address: usize) {
        self.pointers.lock().unwrap().remove(&address);
    }

    /// Ends an allocation; commands that use it keep the bytes until they are complete.
    ///
    /// # Errors
    /// If none begins there.
    pub fn free(&self, address: usize) -> Result<()> {
        self.end(address, Origin::Allocated)
    }

    fn remove(&self, address: usize, origin: Origin) -> Option<Arc<Pointer>> {
        let mut pointers = self.pointers.lock().unwrap();
        pointers.get(&address).filter(|p| p.origin == origin)?;
        pointers.remove(&address)
    }

    /// The same of memory that came from elsewhere. It may be another context's: addresses are the process's.
    ///
    /// # Errors
    /// If none of this origin begins there.
    pub fn end(&self, address: usize, origin: Origin) -> Result<()> {
        let pointer = self.remove(address, origin).or_else(|| {
            let all = ALL.lock().unwrap().clone();
            all.iter().filter_map(Weak::upgrade).find_map(|c| c.remove(address, origin))
        });
        let pointer = pointer.ok_or(Error::INVALID_ARGUMENT)?;
        // Held by commands that were not executed, or are being executed.
        if envisa_runtime::report::is_checking() && Arc::strong_count(&pointer.backing) > 1 {
            super::command::report_freed_if_in_use(address..address + pointer.size);
        }
        Ok(())
    }

    /// The allocation that an address lies in.
    pub fn pointer(&self, address: usize) -> Option<Arc<Pointer>> {
        let pointers = self.pointers.lock().unwrap();
        let (start, pointer) = pointers.range(..=address).next_back()?;
        (address - start < pointer.size).then(|| pointer.clone())
    }

    /// The same, of another context where this one has none: addresses are the process's.
    pub fn pointer_anywhere(&self, address: usize) -> Option<Arc<Pointer>> {
        self.pointer(address).or_else(|| {
            let all = ALL.lock().unwrap().clone();
            all.iter().filter_map(Weak::upgrade).find_map(|c| c.pointer(address))
        })
    }

    fn of_kinds(&self, wanted: &impl Fn(Kind) -> bool) -> Vec<Arc<Backing>> {
        let pointers = self.pointers.lock().unwrap();
        pointers.values().filter(|p| wanted(p.kind)).map(|p| p.backing.clone()).collect()
    }

    /// Bytes for a transfer, of an allocation; `None` if the address is in none.
    ///
    /// # Errors
    /// If they go past its end.
    pub fn region(&self, address: usize, len: usize) -> Result<Option<Region>> {
        let Some(pointer) = self.pointer_anywhere(address) else { return Ok(None) };
        let offset = address - pointer.backing.address();
        let part = pointer.backing.region().part(offset, len);
        let part = part.or_else(|| self.mapped_in_a_row(&pointer, address, len));
        part.map(Some).ok_or(Error::INVALID_SIZE)
    }

    /// Bytes that were mapped to neighbouring addresses of a reservation.
    fn mapped_in_a_row(&self, first: &Pointer, address: usize, len: usize) -> Option<Region> {
        let (room, end) = (first.backing.reservation()?, address.checked_add(len)?);
        let pointers = self.pointers.lock().unwrap();
        let mut at = first.backing.address() + first.size;
        while at < end {
            at += pointers.get(&at).filter(|p| p.origin == Origin::Mapped)?.size;
        }
        Backing::of_reservation(room, address..end).map(|backing| backing.region())
    }
}
