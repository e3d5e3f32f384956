//! Observers: what checks, traces, statistics and a debugger attach to.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::memory::Hint;
use crate::thread::{Machine, Mask};

/// What the observer of a launch wants to be told of, where that is not everything.
#[derive(Debug, Default)]
pub struct Interest {
    /// By program counter; what is missing is told.
    pub instructions: Vec<Tell>,
    /// By message: is it told of what the message accesses? What is missing is told.
    pub messages: Vec<Reads>,
    /// By the order of allocations in the address space: reads of these it need not be told of.
    pub quiet: Vec<bool>,
    /// It wants to be told of all reads after all.
    pub loud: AtomicBool,
}

/// When an observer is told of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tell {
    /// Each time.
    #[default]
    Always,
    /// If it accesses memory of which the observer wants to be told: [`Observer::accessed`].
    Accesses,
    /// Never, unless the observer wants to be told of all that its thread does.
    Never,
}

/// When an observer is told of what a message reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reads {
    /// Each time.
    #[default]
    Told,
    /// Unless all of it is in an allocation of which it need not be told.
    ByAllocation,
    /// If some of it is outside of the surface.
    Outside,
}

impl Interest {
    /// Need the observer not be told of a message that reads where its site found memory last, as long as that is
    /// where it reads?
    #[inline]
    pub fn is_quiet(&self, message: usize, site: &Hint) -> bool {
        match self.messages.get(message) {
            _ if self.loud.load(Ordering::Relaxed) => false,
            Some(Reads::ByAllocation) => self.quiet.get(site.index()).copied().unwrap_or(false),
            Some(Reads::Outside) => true,
            _ => false,
        }
    }

    /// When the observer is told of an instruction.
    #[inline]
    pub fn of(&self, pc: u32) -> Tell {
        self.instructions.get(pc as usize).copied().unwrap_or_default()
    }
}

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
    /// A thread starts. The observer may say now what it wants to be told of ([`Env::interest`]).
    ///
    /// [`Env::interest`]: crate::thread::Env::interest
    fn start(&mut self, _m: &Machine<'_>) {}
    /// Does it want to be told of all that this thread does, whatever it said?
    fn wants_all(&self, _thread: u32) -> bool {
        true
    }
    /// What an instruction accessed of which it is told only of that.
    fn accessed(&mut self, m: &Machine<'_>, pc: u32, mask: Mask, next: u32) {
        self.before(m, pc, mask);
        self.after(m, pc, mask, next);
    }
}
