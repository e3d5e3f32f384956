//! Accesses out of bounds that the device drops: of a surface, of shared local memory, of scratch, of an image. Reads give
//! what the specification's pages say, writes are lost, and a GPU does not report them. The machine counts them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use envisa_isa::Span;

use crate::messages::{Access, Drops};

/// An access that was dropped, and whose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DroppedAccess {
    /// The message: its function, its index there, and where it stands in the source.
    pub function: u16,
    /// See `function`.
    pub instruction: u32,
    /// See `function`.
    pub span: Span,
    /// Channel.
    pub channel: u32,
    /// Thread in its group.
    pub thread: u32,
    /// Group.
    pub group: [u32; 3],
    /// What it was to do.
    pub access: Access,
}

/// The accesses of a launch that were dropped.
#[derive(Debug)]
pub struct Dropped {
    reads: AtomicU64,
    writes: AtomicU64,
    /// The lowest group that dropped one.
    lowest: AtomicU64,
    first: Mutex<Option<(u64, DroppedAccess)>>,
}

impl Default for Dropped {
    fn default() -> Dropped {
        Dropped {
            reads: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            lowest: AtomicU64::new(u64::MAX),
            first: Mutex::default(),
        }
    }
}

impl Dropped {
    /// Reads and writes; an atomic is a write.
    pub fn counts(&self) -> (u64, u64) {
        (self.reads.load(Ordering::Relaxed), self.writes.load(Ordering::Relaxed))
    }

    /// The first of the lowest group.
    pub fn first(&self) -> Option<DroppedAccess> {
        self.first.lock().unwrap_or_else(|e| e.into_inner()).map(|(_, first)| first)
    }

    /// Counts those of a message that the group of this number executed.
    pub(crate) fn count(&self, drops: &Drops, group: u64, who: impl FnOnce(Access) -> DroppedAccess) {
        self.reads.fetch_add(drops.reads.into(), Ordering::Relaxed);
        self.writes.fetch_add(drops.writes.into(), Ordering::Relaxed);
        let Some(access) = drops.first else { return };
        if group >= self.lowest.load(Ordering::Relaxed) {
            return;
        }
        let mut first = self.first.lock().unwrap_or_else(|e| e.into_inner());
        if first.is_none_or(|(lowest, _)| group < lowest) {
            *first = Some((group, who(access)));
            self.lowest.store(group, Ordering::Relaxed);
        }
    }
}
