//! Surfaces: what a binding-table index names.

use super::{AllocationId, Image, Memory};

/// What a surface is.
#[derive(Clone, Debug, Default)]
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
    pub fn rest_of(memory: &Memory, allocation: AllocationId, start: u64) -> BufferSurface {
        let whole = memory.get(allocation).block.len();
        let start = usize::try_from(start).unwrap_or(usize::MAX).min(whole);
        BufferSurface { allocation, start, len: whole - start }
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

/// The binding table, and the surfaces that handles in registers name.
#[derive(Clone, Debug, Default)]
pub struct SurfaceTable {
    entries: Vec<Surface>,
}

/// Entries a binding table can have.
pub const MAX_BINDINGS: u32 = 4096;

impl SurfaceTable {
    /// Binds a surface; `false` for an index of [`MAX_BINDINGS`] or more.
    pub fn bind(&mut self, bti: u32, surface: Surface) -> bool {
        if bti >= MAX_BINDINGS {
            return false;
        }
        if self.entries.len() <= bti as usize {
            self.entries.resize_with(bti as usize + 1, Surface::default);
        }
        self.entries[bti as usize] = surface;
        true
    }

    /// The handle by which bindless messages name what is bound at an index: a multiple of 64, as the
    /// offset of a surface state is, and never zero.
    pub fn handle(bti: u32) -> Option<u32> {
        (bti < MAX_BINDINGS).then_some((bti + 1) << 6)
    }

    /// The index behind a handle, if something is bound there. The low 6 bits are not part of a handle.
    pub fn index_of_handle(&self, handle: u32) -> Option<u32> {
        let bti = (handle >> 6).checked_sub(1)?;
        (!matches!(self.get(bti), Surface::None)).then_some(bti)
    }

    /// What is bound at an index.
    #[inline]
    pub fn get(&self, bti: u32) -> &Surface {
        self.entries.get(bti as usize).unwrap_or(&Surface::None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_surface_ends_where_its_allocation_ends() {
        let mut memory = Memory::new(1 << 20);
        let id = memory.allocate("a", 64).unwrap();
        let s = BufferSurface::rest_of(&memory, id, 16);
        assert_eq!(s.len, 48);
        assert_eq!(s.at(44, 4), Some(60));
        assert_eq!(s.at(45, 4), None);
        assert_eq!(s.at(48, 0), Some(64));
        assert_eq!(s.at(u64::MAX, 4), None);
        assert_eq!(BufferSurface::rest_of(&memory, id, 1000).len, 0);
    }

    #[test]
    fn unbound_indices_name_nothing() {
        let mut table = SurfaceTable::default();
        assert!(matches!(table.get(7), Surface::None));
        assert!(!table.bind(MAX_BINDINGS, Surface::None));
        assert!(
            table.bind(3, Surface::Buffer(BufferSurface { allocation: AllocationId(0), start: 0, len: 4 }))
        );
        assert!(matches!(table.get(3), Surface::Buffer(_)));
        assert!(matches!(table.get(2), Surface::None));
    }
}
