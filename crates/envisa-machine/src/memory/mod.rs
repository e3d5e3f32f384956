//! Memory of the machine: the 64-bit address space, surfaces, shared local memory, the 32-bit
//! general-state window.
//!
//! Every allocation stands alone, with unmapped addresses around it, so that an access past its end is
//! seen, and named with the nearest allocation.
//!
//! [`Memory`] is where hosts allocate and free, from any thread and in any order. A launch takes an [`AddressMap`]
//! of it, which no later call changes, so that guests find their bytes without a lock; what is freed meanwhile
//! stays alive until the launch has ended.

mod address_map;
mod allocation_names;
mod image;
mod lanes;
mod raw;
mod surface;

pub use address_map::{AddressMap, Allocation, AllocationId, Entry, Hint, Located, Permission};
pub use allocation_names::Names;
pub use image::{Image, ImageShape};
pub(crate) use lanes::{EnabledLanes, Lanes};
pub use raw::{Block, Element as LaneElement, place_of};
pub use surface::{Bound, BufferSurface, Surface, SurfaceTable};

use envisa_zebin::check_reports;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};

/// First address given out. Below it lie NULL, small integers mistaken for pointers, and 32-bit offsets.
const FIRST_ADDRESS: u64 = 1 << 32;
/// Allocations start at multiples of this.
const ADDRESS_ALIGN: u64 = 1 << 16;
/// Bytes left unmapped around each allocation, at least.
const GUARD: u64 = 1 << 16;
/// The same in a sparse address space, as long as there is room: more than an index of 32 bits reaches in an array of
/// elements of 16 bytes.
const WIDE_GUARD: u64 = 1 << 36;
/// Addresses given out end here: behind it hosts keep their own memory.
const LAST_ADDRESS: u64 = 1 << 46;
/// All addresses end here: the bits above are the tags of generic pointers and the sign.
const END_OF_ADDRESSES: u64 = 1 << 47;

/// Why memory could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryError {
    /// The allocation would exceed the limit set for the machine: wanted, limit, in bytes.
    Limit(u64, u64),
    /// The host has not so much memory: bytes wanted.
    Host(u64),
    /// The address that the allocation is to have is taken, or is none that a guest can have.
    Address(u64),
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryError::Limit(wanted, limit) => {
                write!(f, "{wanted} bytes of memory wanted, the limit is {limit}")
            }
            MemoryError::Host(wanted) => write!(f, "the host has no {wanted} bytes of memory left"),
            MemoryError::Address(address) => {
                write!(f, "memory of the host at {address:#x} cannot be at that address of the device, too")
            }
        }
    }
}

impl std::error::Error for MemoryError {}

/// Where an allocation is put.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Where the machine likes.
    Anywhere,
    /// At the address that the bytes have on the host, so that pointers mean the same on both sides.
    HostAddress,
}

/// The 64-bit address space. Clones share it.
#[derive(Clone, Debug)]
pub struct Memory {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    limit: u64,
    /// Bytes left unmapped between allocations, if there is room.
    guard: u64,
}

#[derive(Debug)]
struct State {
    /// What every launch can reach.
    map: Arc<AddressMap>,
    /// How often the map changed.
    version: u64,
    /// Where the allocations of the map start.
    bases: HashMap<AllocationId, u64>,
    /// Start and end of every allocation, also those of single launches.
    taken: BTreeMap<u64, u64>,
    /// From here on is searched for room.
    next: u64,
    used: u64,
    last_id: u32,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // What a panic left behind is whole: nothing in between can panic.
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl State {
    /// Is nothing in `[start, end)`?
    fn free(&self, start: u64, end: u64) -> Result<(), u64> {
        match self.taken.range(..end).next_back() {
            Some((_, taken_to)) if *taken_to > start => Err(*taken_to),
            _ => Ok(()),
        }
    }

    /// A start for `bytes` bytes that leaves guards around them.
    fn find_free_start(&self, bytes: u64, guard: u64) -> Option<u64> {
        let search = |from: u64, to: u64, guard: u64| {
            let mut start = from;
            loop {
                // No address has small low halves: printf tells format strings from types of arguments by them.
                if start as u32 == 0 {
                    start += ADDRESS_ALIGN;
                }
                let end = start.checked_add(bytes.max(1)).filter(|end| *end <= to)?;
                match self.free(start.saturating_sub(guard), end + guard) {
                    Ok(()) => return Some(start),
                    Err(taken_to) => start = (taken_to + guard).next_multiple_of(ADDRESS_ALIGN),
                }
            }
        };
        let anywhere = |guard| {
            search(self.next, LAST_ADDRESS, guard).or_else(|| search(FIRST_ADDRESS, LAST_ADDRESS, guard))
        };
        anywhere(guard).or_else(|| anywhere(GUARD))
    }

    /// Makes an allocation of a block, which is not in the map yet.
    fn add(
        &mut self,
        name: String,
        block: Block,
        place: Place,
        shared: &Shared,
    ) -> Result<Allocation, MemoryError> {
        let bytes = block.len() as u64;
        let used = self.used.saturating_add(bytes);
        if used > shared.limit {
            return Err(MemoryError::Limit(used, shared.limit));
        }
        let base = match place {
            // Alignment on the host is alignment on the device.
            Place::Anywhere => {
                let shift = block.as_ptr().addr() as u64 % 64;
                let base = self
                    .find_free_start(bytes + shift, shared.guard)
                    .ok_or(MemoryError::Limit(used, shared.limit))?;
                self.next = (base + shift + bytes + shared.guard).next_multiple_of(ADDRESS_ALIGN);
                base + shift
            }
            Place::HostAddress => {
                let base = block.as_ptr().addr() as u64;
                let end = base.checked_add(bytes.max(1)).filter(|end| *end <= END_OF_ADDRESSES);
                match end.map(|end| self.free(base, end)) {
                    Some(Ok(())) if base != 0 => base,
                    _ => return Err(MemoryError::Address(base)),
                }
            }
        };
        self.last_id = self.last_id.checked_add(1).ok_or(MemoryError::Limit(used, shared.limit))?;
        self.taken.insert(base, base + bytes.max(1));
        self.used = used;
        let id = AllocationId(self.last_id);
        Ok(Allocation { id, base, name, block, permission: Permission::ReadWrite, private: false })
    }

    fn forget(&mut self, base: u64, bytes: usize) {
        self.taken.remove(&base);
        self.used -= bytes as u64;
    }
}

/// Where a kernel that was compiled for checks stores its [reports], of one launch; `None` if the host has no memory.
pub(crate) fn allocate_report_buffer() -> Option<Arc<Allocation>> {
    let addresses = check_reports::addresses();
    let block = Block::zeroed((addresses.end - addresses.start) as usize)?;
    let (permission, name) = (Permission::ReadWrite, "reports".to_owned());
    Some(Arc::new(Allocation {
        id: AllocationId(0),
        base: addresses.start,
        name,
        block,
        permission,
        private: true,
    }))
}

/// An allocation of one launch, which no other can reach. Freed when dropped.
#[derive(Debug)]
pub struct Private {
    allocation: Arc<Allocation>,
    shared: Arc<Shared>,
}

impl Private {
    /// The allocation.
    pub fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }
}

impl Deref for Private {
    type Target = Allocation;

    fn deref(&self) -> &Allocation {
        &self.allocation
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        self.shared.lock().forget(self.allocation.base, self.allocation.block.len());
    }
}

impl Memory {
    /// An empty address space that holds at most `limit` bytes.
    pub fn new(limit: u64) -> Memory {
        Memory::with_guard(limit, GUARD)
    }

    /// An empty address space that holds at most `limit` bytes, in which no 32-bit index leads from one allocation to
    /// another, as long as there is room.
    pub fn new_sparse(limit: u64) -> Memory {
        Memory::with_guard(limit, WIDE_GUARD)
    }

    fn with_guard(limit: u64, guard: u64) -> Memory {
        let reports = check_reports::addresses();
        let state = State {
            map: Arc::default(),
            version: 0,
            bases: HashMap::new(),
            taken: BTreeMap::from([(reports.start, reports.end)]),
            next: FIRST_ADDRESS,
            used: 0,
            last_id: 0,
        };
        Memory { shared: Arc::new(Shared { state: Mutex::new(state), limit, guard }) }
    }

    /// Would `bytes` more be within the limit?
    fn check_limit(&self, bytes: u64) -> Result<usize, MemoryError> {
        let total = self.shared.lock().used.saturating_add(bytes);
        if total > self.shared.limit {
            return Err(MemoryError::Limit(total, self.shared.limit));
        }
        usize::try_from(bytes).map_err(|_| MemoryError::Host(bytes))
    }

    fn publish_block(
        &self,
        name: String,
        block: Block,
        place: Place,
        permission: Permission,
    ) -> Result<AllocationId, MemoryError> {
        let mut state = self.shared.lock();
        let a = Allocation { permission, ..state.add(name, block, place, &self.shared)? };
        let id = a.id;
        state.bases.insert(id, a.base);
        Arc::make_mut(&mut state.map).insert(Arc::new(a));
        state.version += 1;
        Ok(id)
    }

    /// Allocates zeroed bytes.
    ///
    /// # Errors
    /// Where the limit or the host's memory is exceeded.
    pub fn allocate(&self, name: impl Into<String>, bytes: u64) -> Result<AllocationId, MemoryError> {
        self.allocate_with(name, bytes, |_| {})
    }

    /// Allocates bytes, which are zero when `make` is given them to fill.
    ///
    /// # Errors
    /// As [`Memory::allocate`].
    pub fn allocate_with(
        &self,
        name: impl Into<String>,
        bytes: u64,
        make: impl FnOnce(&mut [u8]),
    ) -> Result<AllocationId, MemoryError> {
        // Before the host is asked for them.
        let len = self.check_limit(bytes)?;
        let mut block = Block::zeroed(len).ok_or(MemoryError::Host(bytes))?;
        make(block.bytes());
        self.publish_block(name.into(), block, Place::Anywhere, Permission::ReadWrite)
    }

    /// Allocates zeroed bytes that the host may write, and guests only read.
    ///
    /// # Errors
    /// As [`Memory::allocate`].
    pub fn allocate_constant(
        &self,
        name: impl Into<String>,
        bytes: u64,
    ) -> Result<AllocationId, MemoryError> {
        let len = self.check_limit(bytes)?;
        let block = Block::zeroed(len).ok_or(MemoryError::Host(bytes))?;
        self.publish_block(name.into(), block, Place::Anywhere, Permission::ReadOnly)
    }

    /// Allocates zeroed bytes, aligned to pages of 4 KiB, at the address that they have on the host.
    ///
    /// # Errors
    /// As [`Memory::allocate`]; or if the address is taken.
    pub fn allocate_shared(&self, name: impl Into<String>, bytes: u64) -> Result<AllocationId, MemoryError> {
        let len = self.check_limit(bytes)?;
        let block = Block::new_with_guard_pages(len, GUARD as usize).ok_or(MemoryError::Host(bytes))?;
        self.publish_block(name.into(), block, Place::HostAddress, Permission::ReadWrite)
    }

    /// Takes in a block, for example of the host's own memory ([`Block::from_host_memory`]).
    ///
    /// # Errors
    /// As [`Memory::allocate`]; or if the block is to be at its host address and that is taken.
    pub fn import(
        &self,
        name: impl Into<String>,
        block: Block,
        place: Place,
        permission: Permission,
    ) -> Result<AllocationId, MemoryError> {
        self.publish_block(name.into(), block, place, permission)
    }

    /// Allocates zeroed bytes for one launch.
    ///
    /// # Errors
    /// As [`Memory::allocate`].
    pub fn allocate_private(&self, name: impl Into<String>, bytes: u64) -> Result<Private, MemoryError> {
        let block = Block::zeroed(self.check_limit(bytes)?).ok_or(MemoryError::Host(bytes))?;
        self.private_block(name.into(), block)
    }

    /// The same for bytes of which few are touched: in small pages.
    ///
    /// # Errors
    /// As [`Memory::allocate`].
    pub fn private_sparse(&self, name: impl Into<String>, bytes: u64) -> Result<Private, MemoryError> {
        let block =
            Block::new_with_guard_pages(self.check_limit(bytes)?, 0).ok_or(MemoryError::Host(bytes))?;
        self.private_block(name.into(), block)
    }

    fn private_block(&self, name: String, block: Block) -> Result<Private, MemoryError> {
        let a = self.shared.lock().add(name, block, Place::Anywhere, &self.shared)?;
        let allocation = Arc::new(Allocation { private: true, ..a });
        Ok(Private { allocation, shared: Arc::clone(&self.shared) })
    }

    /// Frees an allocation; `false` if there is none of this id. Its addresses name nothing for launches from then
    /// on; the bytes go when the launches that can reach them have ended.
    pub fn free(&self, id: AllocationId) -> bool {
        let mut state = self.shared.lock();
        let Some(base) = state.bases.remove(&id) else { return false };
        let bytes = state.map.at(base).map_or(0, |a| a.block.len());
        Arc::make_mut(&mut state.map).remove(base);
        state.version += 1;
        state.forget(base, bytes);
        true
    }

    /// An allocation; `None` if it was freed, or is of another `Memory`.
    pub fn get(&self, id: AllocationId) -> Option<Arc<Allocation>> {
        let state = self.shared.lock();
        state.map.at(*state.bases.get(&id)?).cloned()
    }

    /// The bytes of an allocation, in place; `None` if there is none of this id, or somebody else has access: a
    /// launch, a clone of this memory, or a holder of the allocation.
    pub fn bytes(&mut self, id: AllocationId) -> Option<&mut [u8]> {
        let shared = Arc::get_mut(&mut self.shared)?;
        let state = shared.state.get_mut().unwrap_or_else(|e| e.into_inner());
        Arc::get_mut(&mut state.map)?.exclusive_bytes(*state.bases.get(&id)?)
    }

    /// What is where at present.
    pub fn map(&self) -> Arc<AddressMap> {
        Arc::clone(&self.shared.lock().map)
    }

    /// The same, and a number that is another one whenever something was allocated for all launches, or freed.
    pub fn map_and_version(&self) -> (Arc<AddressMap>, u64) {
        let state = self.shared.lock();
        (Arc::clone(&state.map), state.version)
    }

    /// Bytes allocated, also for launches under way.
    pub fn used(&self) -> u64 {
        self.shared.lock().used
    }

    /// Most bytes that can be allocated.
    pub fn limit(&self) -> u64 {
        self.shared.limit
    }
}

#[cfg(test)]
mod tests;
