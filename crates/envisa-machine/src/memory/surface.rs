//! Surfaces: what a binding-table index names.

use std::sync::{Arc, Weak};

use super::{Allocation, AllocationId, Image, Memory};

/// What a surface is.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Surface {
    /// Nothing is bound: reads give zero, writes are dropped.
    #[default]
    None,
    /// A range of an allocation.
    Buffer(BufferSurface),
    /// An image.
    Image(Image),
}

/// A buffer surface: part of an allocation of the address space, so that addresses and surfaces name
/// the same bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferSurface {
    /// The allocation.
    pub allocation: AllocationId,
    /// Where the surface starts in it, in bytes.
    pub start: usize,
    /// Its length in bytes.
    pub len: usize,
}

impl BufferSurface {
    /// The surface from byte `start` of an allocation to its end.
    pub fn rest_of(allocation: &Allocation, start: u64) -> BufferSurface {
        Self::part_of(allocation, start, u64::MAX)
    }

    /// The surface of `len` bytes from byte `start` of an allocation on, as far as that goes.
    pub fn part_of(allocation: &Allocation, start: u64, len: u64) -> BufferSurface {
        let whole = allocation.block.len();
        let start = usize::try_from(start).unwrap_or(usize::MAX).min(whole);
        let len = usize::try_from(len).unwrap_or(usize::MAX).min(whole - start);
        BufferSurface { allocation: allocation.id, start, len }
    }

    /// Offset in the allocation of `n` bytes at `offset` of the surface; `None` outside.
    #[inline(always)]
    pub fn at(&self, offset: u64, n: usize) -> Option<usize> {
        // The length is a usize, so what passes the check fits one.
        if offset <= self.len as u64 && n <= self.len - offset as usize {
            Some(self.start + offset as usize)
        } else {
            None
        }
    }
}

/// A surface with the allocation that it is part of.
#[derive(Clone, Debug, Default)]
pub struct Bound {
    /// What is bound.
    pub surface: Surface,
    /// The allocation of a buffer or an image.
    pub allocation: Option<Arc<Allocation>>,
}

/// The binding table, and the surfaces that handles in registers name. What is bound stays alive.
#[derive(Clone, Debug, Default)]
pub struct SurfaceTable {
    entries: Vec<Bound>,
    counters: Vec<(u32, BufferSurface, Arc<Allocation>)>,
    urb: Option<Urb>,
    /// While what is bound is not kept alive: the allocations, by index.
    released: Vec<(usize, Weak<Allocation>)>,
}

/// The unified return buffer.
#[derive(Clone, Debug)]
pub struct Urb {
    /// Its bytes.
    pub surface: BufferSurface,
    /// What they are part of.
    pub allocation: Arc<Allocation>,
    /// Bytes that a handle counts.
    pub unit: u32,
}

/// Entries a binding table can have.
pub const MAX_BINDINGS: u32 = 4096;

impl SurfaceTable {
    /// Binds a surface; `false` for an index of [`MAX_BINDINGS`] or more, or an allocation that the memory does not
    /// have.
    pub fn bind_surface(&mut self, memory: &Memory, bti: u32, surface: Surface) -> bool {
        let allocation = match &surface {
            Surface::None => None,
            Surface::Buffer(BufferSurface { allocation, .. }) | Surface::Image(Image { allocation, .. }) => {
                let Some(a) = memory.get(*allocation) else { return false };
                Some(a)
            }
        };
        if bti >= MAX_BINDINGS {
            return false;
        }
        if self.entries.len() <= bti as usize {
            self.entries.resize_with(bti as usize + 1, Bound::default);
        }
        self.entries[bti as usize] = Bound { surface, allocation };
        true
    }

    /// Gives the surface of an index an append counter, the buffer's first bytes; `false` as [`SurfaceTable::bind_surface`].
    pub fn bind_counter(&mut self, memory: &Memory, bti: u32, counter: BufferSurface) -> bool {
        let Some(allocation) = memory.get(counter.allocation).filter(|_| bti < MAX_BINDINGS) else {
            return false;
        };
        self.counters.retain(|c| c.0 != bti);
        self.counters.push((bti, counter, allocation));
        true
    }

    /// The append counter of an index's surface.
    pub fn counter(&self, bti: u32) -> Option<(&BufferSurface, &Allocation)> {
        let (_, surface, allocation) = self.counters.iter().find(|c| c.0 == bti)?;
        Some((surface, allocation))
    }

    /// Makes a buffer the unified return buffer, a handle of which counts `unit` bytes; `false` for an allocation that
    /// the memory does not have.
    pub fn bind_urb(&mut self, memory: &Memory, surface: BufferSurface, unit: u32) -> bool {
        let Some(allocation) = memory.get(surface.allocation) else { return false };
        self.urb = Some(Urb { surface, allocation, unit });
        true
    }

    /// The unified return buffer.
    pub fn urb(&self) -> Option<&Urb> {
        self.urb.as_ref()
    }

    /// Is the same bound to every index, and nothing else known?
    pub(crate) fn has_same_bindings(&self, other: &SurfaceTable) -> bool {
        let plain = |t: &SurfaceTable| t.counters.is_empty() && t.urb.is_none();
        let surfaces = |t: &SurfaceTable| t.entries.len();
        plain(self)
            && plain(other)
            && surfaces(self) == surfaces(other)
            && self.entries.iter().zip(&other.entries).all(|(a, b)| a.surface == b.surface)
    }

    /// Keeps what is bound by index alive no longer. Nothing is to be looked up until [`SurfaceTable::hold_allocations`].
    pub(crate) fn release_allocations(&mut self) {
        for (bti, bound) in self.entries.iter_mut().enumerate() {
            if let Some(allocation) = bound.allocation.take() {
                self.released.push((bti, Arc::downgrade(&allocation)));
            }
        }
    }

    /// Keeps what is bound alive again; `false` if some of it is gone.
    pub(crate) fn hold_allocations(&mut self) -> bool {
        let entries = &mut self.entries;
        self.released.drain(..).all(|(bti, allocation)| {
            entries[bti].allocation = allocation.upgrade();
            entries[bti].allocation.is_some()
        })
    }

    /// The handle by which bindless messages name what is bound at an index: a multiple of 64, as the
    /// offset of a surface state is, and never zero.
    pub fn handle(bti: u32) -> Option<u32> {
        (bti < MAX_BINDINGS).then_some((bti + 1) << 6)
    }

    /// The index behind a handle, if something is bound there. The low 6 bits are not part of a handle.
    pub fn index_of_handle(&self, handle: u32) -> Option<u32> {
        let bti = (handle >> 6).checked_sub(1)?;
        (!matches!(self.get(bti).surface, Surface::None)).then_some(bti)
    }

    /// What is bound at an index.
    #[inline]
    pub fn get(&self, bti: u32) -> &Bound {
        static NOTHING: Bound = Bound { surface: Surface::None, allocation: None };
        self.entries.get(bti as usize).unwrap_or(&NOTHING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_surface_ends_where_its_allocation_ends() {
        let memory = Memory::new(1 << 20);
        let id = memory.allocate("a", 64).unwrap();
        let a = memory.get(id).unwrap();
        let s = BufferSurface::rest_of(&a, 16);
        assert_eq!(s.len, 48);
        assert_eq!(s.at(44, 4), Some(60));
        assert_eq!(s.at(45, 4), None);
        assert_eq!(s.at(48, 0), Some(64));
        assert_eq!(s.at(u64::MAX, 4), None);
        assert_eq!(BufferSurface::rest_of(&a, 1000).len, 0);
        let part = BufferSurface::part_of(&a, 16, 8);
        assert_eq!((part.start, part.len, part.at(4, 4), part.at(5, 4)), (16, 8, Some(20), None));
        assert_eq!(BufferSurface::part_of(&a, 60, 8).len, 4);
    }

    #[test]
    fn unbound_indices_name_nothing() {
        let memory = Memory::new(1 << 20);
        let allocation = memory.allocate("a", 64).unwrap();
        let mut table = SurfaceTable::default();
        assert!(matches!(table.get(7).surface, Surface::None));
        assert!(!table.bind_surface(&memory, MAX_BINDINGS, Surface::None));
        let buffer = |allocation| Surface::Buffer(BufferSurface { allocation, start: 0, len: 4 });
        assert!(!table.bind_surface(&memory, 3, buffer(AllocationId(77))));
        assert!(table.bind_surface(&memory, 3, buffer(allocation)));
        assert!(matches!(table.get(3).surface, Surface::Buffer(_)));
        assert!(matches!(table.get(2).surface, Surface::None));
    }
}
