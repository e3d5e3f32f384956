//! Contexts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use envisa_runtime::memory_in_use::{self, Use};

use super::error::Error;
use super::event::call_back;
use super::handle::{Object, Slot};
use super::host_memory::Backing;
use super::platform::Device;

/// Called when an object is gone.
pub type Destructor = Box<dyn FnOnce() + Send>;

/// A context.
pub struct Context {
    slot: Slot,
    /// Its devices.
    pub devices: Vec<Arc<Device>>,
    /// Properties as given, with the zero at the end.
    pub properties: Vec<isize>,
    /// Shared memory by address.
    pub pointers: Mutex<BTreeMap<usize, Arc<Pointer>>>,
    destructors: Mutex<Vec<Destructor>>,
}

/// Memory whose address host and devices share: SVM and USM.
pub struct Pointer {
    /// The bytes.
    pub backing: Arc<Backing>,
    /// What it was allocated as.
    pub kind: PointerKind,
    /// Its device, of device and some shared memory.
    pub device: Option<Arc<Device>>,
    /// `CL_MEM_*_INTEL` allocation flags.
    pub flags: u64,
    /// Bytes asked for.
    pub size: usize,
    /// Parts that the application has mapped for writing and not unmapped, of memory of `clSVMAlloc`.
    pub mapped: Mutex<Vec<std::ops::Range<usize>>>,
}

/// Kinds of shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointerKind {
    /// `clSVMAlloc`.
    Svm,
    /// `clHostMemAllocINTEL`.
    Host,
    /// `clDeviceMemAllocINTEL`.
    Device,
    /// `clSharedMemAllocINTEL`.
    Shared,
}

impl PointerKind {
    /// All of them.
    pub const ALL: [PointerKind; 4] =
        [PointerKind::Svm, PointerKind::Host, PointerKind::Device, PointerKind::Shared];
}

impl Pointer {
    /// The command that the call on this thread enqueues uses the memory.
    pub fn note_use(&self) {
        let uses = if self.kind == PointerKind::Svm { Use::Shared } else { Use::Unified };
        memory_in_use::note(self.backing.region().range(), uses);
    }
}

impl Object for Context {
    const INVALID: Error = Error::INVALID_CONTEXT;
    fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl Context {
    /// A context of these devices.
    pub fn new(devices: Vec<Arc<Device>>, properties: Vec<isize>) -> Arc<Context> {
        Arc::new(Context {
            slot: Slot::default(),
            devices,
            properties,
            pointers: Mutex::default(),
            destructors: Mutex::default(),
        })
    }

    /// Whether a device is one of this context's.
    pub fn has(&self, device: &Arc<Device>) -> bool {
        self.devices.iter().any(|d| Arc::ptr_eq(d, device))
    }

    /// The shared memory that an address lies in.
    pub fn pointer(&self, address: usize) -> Option<Arc<Pointer>> {
        let pointers = self.pointers.lock().unwrap();
        let (start, pointer) = pointers.range(..=address).next_back()?;
        // One past the end still belongs to it, as in C.
        (address - start <= pointer.size).then(|| pointer.clone())
    }

    /// Calls back when the context is gone; the last registered first.
    pub fn on_end(&self, destructor: Destructor) {
        self.destructors.lock().unwrap().push(destructor);
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let destructors = std::mem::take(&mut *self.destructors.lock().unwrap());
        if !destructors.is_empty() {
            call_back(move || destructors.into_iter().rev().for_each(|d| d()));
        }
    }
}
