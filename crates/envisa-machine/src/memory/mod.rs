//! Memory of the machine: the 64-bit address space, surfaces, shared local memory, the 32-bit
//! general-state window.
//!
//! Every allocation stands alone, with unmapped addresses around it, so that an access past its end is
//! seen, and named with the nearest allocation.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod image;
mod lanes;
mod raw;
mod surface;

pub use image::{Image, ImageShape};
pub(crate) use lanes::{Lanes, On};
pub use raw::{Block, Element as LaneElement};
pub use surface::{BufferSurface, Surface, SurfaceTable};

use std::fmt;

/// First address given out. Below it lie NULL, small integers mistaken for pointers, and 32-bit offsets.
const FIRST_ADDRESS: u64 = 1 << 32;
/// Allocations start at multiples of this.
const ADDRESS_ALIGN: u64 = 1 << 16;
/// Bytes left unmapped after each allocation, at least.
const GUARD: u64 = 1 << 16;
/// Addresses end here: the bits above are the tags of generic pointers and the sign.
const LAST_ADDRESS: u64 = 1 << 46;

/// Why memory could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryError {
    /// The allocation would exceed the limit set for the machine: wanted, limit, in bytes.
    Limit(u64, u64),
    /// The host has not so much memory: bytes wanted.
    Host(u64),
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryError::Limit(wanted, limit) => {
                write!(f, "{wanted} bytes of memory wanted, the limit is {limit}")
            }
            MemoryError::Host(wanted) => write!(f, "the host has no {wanted} bytes of memory left"),
        }
    }
}

impl std::error::Error for MemoryError {}

/// An allocation of the address space.
#[derive(Debug)]
pub struct Allocation {
    /// First address.
    pub base: u64,
    /// What a report calls it: `buffer a`, `.data.const`.
    pub name: String,
    /// The bytes.
    pub block: Block,
}

/// Index of an allocation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AllocationId(pub u32);

/// How much was allocated at some point; see [`Memory::mark`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark(usize);

/// Where an access site found its allocation last: the next access most likely goes there too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hint(u32);

/// The 64-bit address space.
#[derive(Debug)]
pub struct Memory {
    /// By address.
    allocations: Vec<Allocation>,
    next: u64,
    used: u64,
    limit: u64,
}

/// An address in its allocation.
#[derive(Clone, Copy, Debug)]
pub struct Located<'a> {
    /// The allocation's bytes.
    pub block: &'a Block,
    /// Offset of the address.
    pub offset: usize,
}

impl Memory {
    /// An empty address space that holds at most `limit` bytes.
    pub fn new(limit: u64) -> Memory {
        Memory { allocations: Vec::new(), next: FIRST_ADDRESS, used: 0, limit }
    }

    /// Allocates zeroed bytes.
    ///
    /// # Errors
    /// Where the limit or the host's memory is exceeded.
    pub fn allocate(&mut self, name: impl Into<String>, bytes: u64) -> Result<AllocationId, MemoryError> {
        let total = self.used.saturating_add(bytes);
        let end = self.next.saturating_add(bytes);
        if total > self.limit || end > LAST_ADDRESS {
            return Err(MemoryError::Limit(total, self.limit));
        }
        let len = usize::try_from(bytes).map_err(|_| MemoryError::Host(bytes))?;
        let block = Block::zeroed(len).ok_or(MemoryError::Host(bytes))?;
        let id = AllocationId(self.allocations.len() as u32);
        self.allocations.push(Allocation { base: self.next, name: name.into(), block });
        self.used = total;
        self.next = (end + GUARD).next_multiple_of(ADDRESS_ALIGN);
        Ok(id)
    }

    /// Where allocation stands, for [`Memory::release`].
    pub fn mark(&self) -> Mark {
        Mark(self.allocations.len())
    }

    /// Frees everything allocated since the mark. Its addresses name nothing until they are given out
    /// again.
    pub fn release(&mut self, mark: Mark) {
        while self.allocations.len() > mark.0 {
            if let Some(last) = self.allocations.pop() {
                self.used -= last.block.len() as u64;
                self.next = last.base;
            }
        }
    }

    /// An allocation.
    ///
    /// # Panics
    /// With an id of another `Memory`.
    pub fn get(&self, id: AllocationId) -> &Allocation {
        &self.allocations[id.0 as usize]
    }

    /// An allocation, for the host.
    ///
    /// # Panics
    /// With an id of another `Memory`.
    pub fn get_mut(&mut self, id: AllocationId) -> &mut Allocation {
        &mut self.allocations[id.0 as usize]
    }

    /// The allocation that an access site went to last.
    #[inline(always)]
    pub(crate) fn hinted(&self, hint: &Hint) -> Option<&Allocation> {
        self.allocations.get(hint.0 as usize)
    }

    /// Finds `[address, address + n)`, all of it in one allocation.
    #[inline(always)]
    pub fn find(&self, address: u64, n: usize, hint: &mut Hint) -> Option<Located<'_>> {
        if let Some(a) = self.allocations.get(hint.0 as usize) {
            let offset = address.wrapping_sub(a.base);
            // An offset over the block's length, also one that wrapped, is not contained.
            if offset <= a.block.len() as u64 && a.block.contains(offset as usize, n) {
                return Some(Located { block: &a.block, offset: offset as usize });
            }
        }
        self.search(address, n, hint)
    }

    #[cold]
    fn search(&self, address: u64, n: usize, hint: &mut Hint) -> Option<Located<'_>> {
        let i = self.allocations.partition_point(|a| a.base <= address).checked_sub(1)?;
        let a = &self.allocations[i];
        let offset = usize::try_from(address - a.base).ok()?;
        if !a.block.contains(offset, n) {
            return None;
        }
        *hint = Hint(i as u32);
        Some(Located { block: &a.block, offset })
    }

    /// The allocation nearest to an address and how far the address is from it: 0 inside, positive past
    /// its end, negative before its start. `None` if there is none at all.
    pub fn nearest(&self, address: u64) -> Option<(&Allocation, i128)> {
        self.allocations
            .iter()
            .map(|a| {
                let (address, start) = (i128::from(address), i128::from(a.base));
                let end = start + a.block.len() as i128;
                let distance = if address < start {
                    address - start
                } else if address >= end {
                    address - end + 1
                } else {
                    0
                };
                (a, distance)
            })
            .min_by_key(|(_, distance)| distance.abs())
    }

    /// Bytes allocated.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// All allocations, by address.
    pub fn iter(&self) -> impl Iterator<Item = &Allocation> {
        self.allocations.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_found_whole_or_not_at_all() {
        let mut memory = Memory::new(1 << 20);
        let a = memory.allocate("a", 100).unwrap();
        let b = memory.allocate("b", 8).unwrap();
        let (a, b) = (memory.get(a).base, memory.get(b).base);
        let mut hint = Hint::default();
        assert_eq!(memory.find(a + 96, 4, &mut hint).unwrap().offset, 96);
        assert!(memory.find(a + 97, 4, &mut hint).is_none());
        assert!(memory.find(a - 1, 1, &mut hint).is_none());
        assert_eq!(memory.find(b, 8, &mut hint).unwrap().offset, 0);
        assert_eq!(memory.find(a, 1, &mut hint).unwrap().offset, 0);
        assert!(memory.find(u64::MAX, 8, &mut hint).is_none());
        assert!(memory.find(0, 1, &mut hint).is_none());
        assert!(b - a >= 100 + GUARD);
    }

    #[test]
    fn a_stray_address_names_its_neighbour() {
        let mut memory = Memory::new(1 << 20);
        assert!(memory.nearest(5).is_none());
        let id = memory.allocate("buffer a", 16).unwrap();
        let base = memory.get(id).base;
        let (near, distance) = memory.nearest(base + 16).unwrap();
        assert_eq!((near.name.as_str(), distance), ("buffer a", 1));
        assert_eq!(memory.nearest(base - 4).unwrap().1, -4);
        assert_eq!(memory.nearest(base + 15).unwrap().1, 0);
    }

    #[test]
    fn what_a_launch_allocates_is_freed_after_it() {
        let mut memory = Memory::new(100);
        let kept = memory.allocate("a", 10).unwrap();
        let mark = memory.mark();
        let base = memory.allocate("b", 80).map(|id| memory.get(id).base).unwrap();
        memory.release(mark);
        assert_eq!(memory.used(), 10);
        assert!(memory.find(base, 1, &mut Hint::default()).is_none());
        let again = memory.allocate("c", 90).unwrap();
        assert_eq!(memory.get(again).base, base);
        assert_eq!(memory.get(kept).name, "a");
    }

    #[test]
    fn the_limit_holds() {
        let mut memory = Memory::new(1000);
        memory.allocate("a", 600).unwrap();
        assert_eq!(memory.allocate("b", 600).unwrap_err(), MemoryError::Limit(1200, 1000));
        assert!(memory.allocate("c", u64::MAX).is_err());
        assert_eq!(memory.used(), 600);
    }
}
