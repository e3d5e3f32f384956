//! The address space as a launch sees it: an immutable map from addresses to allocations.
#![allow(unsafe_code)]

use envisa_zebin::check_reports;
use std::sync::{Arc, OnceLock};

use super::raw::Block;

/// Reads that pass an allocation's end are served up to the next multiple of this.
const PADDING: u64 = 64;

/// Names an allocation of one [`Memory`](super::Memory), for ever: ids are not used again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct AllocationId(pub u32);

/// What guests may do with an allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Permission {
    /// Read and write.
    #[default]
    ReadWrite,
    /// Read: writing is a fault.
    ReadOnly,
}

/// An allocation of the address space.
#[derive(Debug)]
pub struct Allocation {
    /// Its name among the allocations of its memory.
    pub id: AllocationId,
    /// First address.
    pub base: u64,
    /// What a report calls it: `buffer a`, `.data.const`.
    pub name: String,
    /// The bytes.
    pub block: Block,
    /// What guests may do with it.
    pub permission: Permission,
    /// It belongs to one launch, and no other can reach it.
    pub private: bool,
}

/// Where an access site found its allocation last: the next access most likely goes there too. For sites that only
/// read, or that write: what a writing site finds may be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hint(u32);

impl Default for Hint {
    fn default() -> Hint {
        Hint(u32::MAX)
    }
}

impl Hint {
    /// Where the allocation stands among those of the map; behind all of them if there is none.
    #[inline]
    pub fn index(&self) -> usize {
        self.0 as usize
    }
}

/// An address in its allocation.
#[derive(Clone, Copy, Debug)]
pub struct Located<'a> {
    /// The allocation's bytes.
    pub block: &'a Block,
    /// Offset of the address.
    pub offset: usize,
}

/// An allocation's address and bytes, which hot paths read in place.
#[derive(Debug)]
pub struct Entry {
    /// First address.
    pub base: u64,
    /// The bytes: a view of those of the allocation of the same index, which the map keeps.
    pub block: Block,
    read_only: bool,
}

/// The allocations of an address space at some time, which stay alive as long as the map does.
#[derive(Debug, Default)]
pub struct AddressMap {
    /// By address. Dropped before what they are views of.
    entries: Vec<Entry>,
    allocations: Vec<Arc<Allocation>>,
}

impl Clone for AddressMap {
    fn clone(&self) -> AddressMap {
        let allocations = self.allocations.clone();
        AddressMap { entries: allocations.iter().map(entry).collect(), allocations }
    }
}

fn entry(a: &Arc<Allocation>) -> Entry {
    Entry {
        base: a.base,
        // SAFETY: whoever has the entry keeps the allocation, and drops the entry first.
        block: unsafe { a.block.alias_block() },
        read_only: a.permission == Permission::ReadOnly,
    }
}

impl AddressMap {
    /// A map of an empty address space, always the same.
    pub(crate) fn empty_map() -> Arc<AddressMap> {
        static NOTHING: OnceLock<Arc<AddressMap>> = OnceLock::new();
        Arc::clone(NOTHING.get_or_init(Arc::default))
    }

    /// With these, too, which lie where nothing else does.
    pub fn with<'a>(&self, more: impl IntoIterator<Item = &'a Arc<Allocation>>) -> AddressMap {
        let mut map = self.clone();
        more.into_iter().for_each(|a| map.insert(Arc::clone(a)));
        map
    }

    pub(super) fn insert(&mut self, a: Arc<Allocation>) {
        let i = self.entries.partition_point(|e| e.base <= a.base);
        self.entries.insert(i, entry(&a));
        self.allocations.insert(i, a);
    }

    pub(super) fn remove(&mut self, base: u64) {
        if let Ok(i) = self.entries.binary_search_by_key(&base, |e| e.base) {
            self.entries.remove(i);
            self.allocations.remove(i);
        }
    }

    /// The allocation that starts at an address.
    pub(super) fn at(&self, base: u64) -> Option<&Arc<Allocation>> {
        let i = self.entries.binary_search_by_key(&base, |e| e.base).ok()?;
        self.allocations.get(i)
    }

    /// The bytes of the allocation that starts at an address, if nobody else has access to them.
    pub(super) fn exclusive_bytes(&mut self, base: u64) -> Option<&mut [u8]> {
        let i = self.entries.binary_search_by_key(&base, |e| e.base).ok()?;
        Some(Arc::get_mut(self.allocations.get_mut(i)?)?.block.bytes())
    }

    /// The allocation that an access site went to last.
    #[inline(always)]
    pub fn hinted_allocation(&self, hint: &Hint) -> Option<&Entry> {
        self.entries.get(hint.0 as usize)
    }

    /// Finds `[address, address + n)`, all of it in one allocation, for a site that writes or one that only reads.
    #[inline(always)]
    pub fn find(&self, address: u64, n: usize, write: bool, hint: &mut Hint) -> Option<Located<'_>> {
        if let Some(a) = self.entries.get(hint.0 as usize) {
            let offset = address.wrapping_sub(a.base);
            // An offset over the block's length, also one that wrapped, is not contained.
            if offset <= a.block.len() as u64 && a.block.contains(offset as usize, n) {
                return Some(Located { block: &a.block, offset: offset as usize });
            }
        }
        self.search_range(address, n, write, hint)
    }

    #[cold]
    fn search_range(&self, address: u64, n: usize, write: bool, hint: &mut Hint) -> Option<Located<'_>> {
        let i = self.index(address)?;
        let a = &self.entries[i];
        let offset = usize::try_from(address - a.base).ok()?;
        if !a.block.contains(offset, n) || write && a.read_only {
            return None;
        }
        *hint = Hint(i as u32);
        Some(Located { block: &a.block, offset })
    }

    /// The last allocation that starts at an address or before it.
    fn index(&self, address: u64) -> Option<usize> {
        self.entries.partition_point(|a| a.base <= address).checked_sub(1)
    }

    /// Serves a read that passes an allocation's end. Compilers widen reads (three floats are read as four), which
    /// devices do not mind. So of `[address, address + n)` that an access to `[first, …)` reads, gives the bytes that
    /// there are; the others are zero. `None` if the access does not start inside of an allocation, or ends behind
    /// the 64 bytes that the allocation's last byte lies in.
    #[cold]
    pub fn find_padded_read(&self, first: u64, address: u64, n: usize) -> Option<(Located<'_>, usize)> {
        let a = &self.entries[self.index(first)?];
        let end = a.base + a.block.len() as u64;
        let wanted = address.checked_add(n as u64)?;
        if first >= end || address < first || wanted > end.checked_next_multiple_of(PADDING)? {
            return None;
        }
        let offset = (address - a.base).min(a.block.len() as u64) as usize;
        Some((Located { block: &a.block, offset }, n.min(a.block.len() - offset)))
    }

    /// The read-only allocation that all of `[address, address + n)` lies in.
    pub fn read_only(&self, address: u64, n: usize) -> Option<&Allocation> {
        let i = self.index(address)?;
        let a = &self.entries[i];
        let inside = a.block.contains(usize::try_from(address - a.base).ok()?, n);
        (inside && a.read_only).then(|| &*self.allocations[i])
    }

    /// The allocation nearest to an address and how far the address is from it: 0 inside, positive past
    /// its end, negative before its start. `None` if there is none at all.
    pub fn nearest(&self, address: u64) -> Option<(&Allocation, i128)> {
        self.iter()
            .filter(|a| a.base != check_reports::ADDRESS)
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

    /// Does the address belong to an allocation of this launch alone?
    pub fn is_private(&self, address: u64) -> bool {
        self.privacy(address).1
    }

    /// The same, and the addresses around it of which the same holds.
    pub fn privacy(&self, address: u64) -> (std::ops::Range<u64>, bool) {
        let next = self.entries.partition_point(|a| a.base <= address);
        let end = self.entries.get(next).map_or(u64::MAX, |a| a.base);
        match next.checked_sub(1) {
            Some(i) => (self.entries[i].base..end, self.allocations[i].private),
            None => (0..end, false),
        }
    }

    /// Where the allocation that an address belongs to stands among all, and the addresses from its first to behind
    /// its last.
    pub fn allocation_of(&self, address: u64) -> Option<(usize, std::ops::Range<u64>)> {
        let i = self.index(address)?;
        let a = &self.entries[i];
        let range = a.base..a.base.saturating_add(a.block.len() as u64);
        range.contains(&address).then_some((i, range))
    }

    /// All allocations, by address.
    pub fn iter(&self) -> impl Iterator<Item = &Allocation> {
        self.allocations.iter().map(|a| &**a)
    }
}
