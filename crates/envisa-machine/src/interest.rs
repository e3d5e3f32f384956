//! Which events an observer wants. Engines ask before they report.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::local_shadow::Noted;
use crate::memory::Hint;

/// What the observer of a launch wants to be told of, where that is not everything.
#[derive(Debug, Default)]
pub struct Interest {
    /// By program counter; what is missing is told.
    pub instructions: Vec<Tell>,
    /// By message: is it told of what the message accesses? What is missing is told.
    pub messages: Vec<Reads>,
    /// By the order of allocations in the address space: reads of these it need not be told of.
    pub quiet: Vec<bool>,
    /// Messages to shared local memory of which it need not be told if native code notes them in the [shadow](crate::local_shadow).
    pub noted: Noted,
    /// It wants to be told of all reads after all.
    pub loud: AtomicBool,
}

/// When an observer is told of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tell {
    /// Each time.
    #[default]
    Always,
    /// If it accesses memory of which the observer wants to be told: [`accessed`](crate::observer::Observer::accessed).
    Accesses,
    /// The same, of an instruction that is expected to access no such memory.
    Surprises,
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
    /// Unless all of it, read or written, is in this allocation, by its number in the order of the address space.
    In(usize),
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
            Some(Reads::In(allocation)) => site.index() == *allocation,
            _ => false,
        }
    }

    /// When the observer is told of an instruction.
    #[inline]
    pub fn of(&self, pc: u32) -> Tell {
        self.instructions.get(pc as usize).copied().unwrap_or_default()
    }
}
