//! Observers: what checks, traces, statistics and a debugger attach to.

use crate::thread::{Machine, Mask};

/// Is told what threads do. Each worker has its own; they are merged at the end.
///
/// A launch without an observer runs a loop that knows nothing of them.
pub trait Observer: Send {
    /// Another of the same kind, for another worker.
    fn fork(&self) -> Self
    where
        Self: Sized;
    /// Takes over what another worker's saw.
    fn merge(&mut self, other: Self)
    where
        Self: Sized;
    /// Before an instruction; `mask`: channels it runs, aligned to its first.
    fn before(&mut self, m: &Machine<'_>, pc: u32, mask: Mask);
    /// After it; `m.accesses` holds its memory accesses, `next` where it goes on.
    fn after(&mut self, m: &Machine<'_>, pc: u32, mask: Mask, next: u32);
    /// A thread starts.
    fn start(&mut self, _m: &Machine<'_>) {}
}
