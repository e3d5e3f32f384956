//! Observers: what checks, traces, statistics and a debugger attach to.

use crate::local_shadow::Noting;
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
    /// Looks at an instruction that is about to run; need it be told of nothing that the instruction does?
    fn passes(&mut self, _m: &Machine<'_>, _pc: u32, _mask: Mask) -> bool {
        false
    }
    /// Before an instruction; `mask`: channels it runs, aligned to its first.
    fn before(&mut self, m: &Machine<'_>, pc: u32, mask: Mask);
    /// After it; `m.accesses` holds its memory accesses, `next` where it goes on.
    fn after(&mut self, m: &Machine<'_>, pc: u32, mask: Mask, next: u32);
    /// Does it want to be told of nothing, whatever happens, in the launch of which this is a first thread, which is about to
    /// start?
    fn wants_none(&mut self, _m: &Machine<'_>) -> bool {
        false
    }
    /// A thread starts. The observer may say now what it wants to be told of ([`Env::interest`]).
    ///
    /// [`Env::interest`]: crate::thread::Env::interest
    fn start(&mut self, _m: &Machine<'_>) {}
    /// Does it want to be told of all that this thread does, whatever it said?
    fn wants_all(&self, thread: u32) -> bool;
    /// A thread of which it wants to be told all goes on untold: what its registers hold is no longer known.
    fn forget(&mut self, _m: &Machine<'_>) {}
    /// A thread starts or goes on, or native code has told of an instruction: what it notes accesses to shared local memory
    /// with from now on.
    fn local_shadow(&mut self, _m: &Machine<'_>) -> Option<Noting<'_>> {
        None
    }
    /// The bytes of shared local memory that a message may access without being looked at, if it is noted.
    fn local_range(&self, _pc: u32) -> std::ops::Range<u32> {
        0..0
    }
    /// What an instruction accessed of which it is told only of that.
    fn accessed(&mut self, m: &Machine<'_>, pc: u32, mask: Mask, next: u32) {
        self.before(m, pc, mask);
        self.after(m, pc, mask, next);
    }
}
