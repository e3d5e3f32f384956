//! Faults of a kernel, with their whole context.

use std::fmt;

use envisa_isa::Span;

use crate::messages::AccessSpace;
use crate::regrouped::{Place, Regrouped};

/// A set of channels, channel 0 in bit 0.
pub type Mask = u32;

/// Why a thread stands still.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Status {
    /// It has not started or can go on.
    #[default]
    Ready,
    /// It waits at the group's barrier.
    Barrier,
    /// It signalled the split barrier and waits for the others' signals.
    SplitWait,
    /// It waits at a named barrier.
    Named(u8),
    /// It had its turn and lets the others of its group go on.
    Yielded,
    /// All its channels have left.
    Done,
    /// It executes DPASW and waits for the thread it is fused with.
    Fused,
    /// It was stopped by a fault.
    Trapped,
}

/// What went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// An address outside of every allocation.
    Memory {
        /// Which memory.
        space: AccessSpace,
        /// The address.
        address: u64,
        /// Bytes wanted there.
        bytes: u32,
        /// Was it a write?
        write: bool,
        /// The nearest allocation's name, and how far the address is from it.
        nearest: Option<(String, i128)>,
    },
    /// A write to what is constant.
    ReadOnly {
        /// The address.
        address: u64,
        /// Bytes.
        bytes: u32,
        /// The allocation.
        name: String,
    },
    /// An access at an address that is not the multiple that its page demands.
    Misaligned {
        /// Which memory.
        space: AccessSpace,
        /// The address.
        address: u64,
        /// Bytes.
        bytes: u32,
        /// What it should be a multiple of.
        align: u32,
    },
    /// An address register names no variable.
    Indirect {
        /// Its value.
        address: i64,
    },
    /// An instruction that cannot be executed.
    Unsupported {
        /// Its name.
        name: &'static str,
        /// Why.
        reason: String,
    },
    /// Calls nested too deep.
    CallDepth,
    /// An indirect call of what is not a function.
    BadCall(u64),
    /// A jump table has no such entry.
    BadIndex(u64),
    /// The code ended without a return.
    FellOff,
    /// More branches and calls than allowed.
    Limit,
    /// A symbol without an address.
    Symbol(String),
    /// The host has no memory for what a group of threads needs.
    NoMemory {
        /// Bytes wanted.
        bytes: u64,
    },
    /// The barrier cannot complete: some threads wait, others have ended.
    Deadlock,
    /// The launch was cancelled.
    Cancelled,
}

/// A fault: what, where, who.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trap {
    /// What went wrong.
    pub cause: Cause,
    /// The kernel.
    pub kernel: String,
    /// The function it happened in.
    pub function: String,
    /// Index of the instruction in its function's source.
    pub instruction: u32,
    /// Place in the source.
    pub span: Span,
    /// Channel, where one is to blame.
    pub channel: Option<u32>,
    /// Active channels.
    pub mask: Mask,
    /// Thread in its group.
    pub thread: u32,
    /// Group.
    pub group: [u32; 3],
    /// Where every thread of the group is, for barriers and limits.
    pub threads: Vec<ThreadState>,
    /// The calls that have not returned, innermost first, at most [`MAX_CALLS`].
    pub calls: Vec<Call>,
}

/// Most calls that a fault tells of.
pub const MAX_CALLS: usize = 8;

/// A call of a subroutine or function that has not returned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The function that calls.
    pub function: String,
    /// Index of the call in its function's source.
    pub instruction: u32,
    /// Place in the source.
    pub span: Span,
}

/// Where a thread is, and what it waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadState {
    /// Thread in its group.
    pub thread: u32,
    /// What it waits for.
    pub status: Status,
    /// Function.
    pub function: String,
    /// Index of the instruction in its function's source: the one it waits at, or the next.
    pub instruction: u32,
    /// Place in the source.
    pub span: Span,
    /// Active channels.
    pub mask: Mask,
}

impl Trap {
    /// Says where it would be in the groups that were asked for.
    pub fn locate_in_requested_groups(&mut self, regrouped: &Regrouped) {
        let place =
            |thread, channel| regrouped.in_requested_groups(Place { group: self.group, thread, channel });
        for t in &mut self.threads {
            t.thread = place(t.thread, t.mask.trailing_zeros() & 31).thread;
        }
        let at = place(self.thread, self.channel.unwrap_or(self.mask.trailing_zeros() & 31));
        (self.group, self.thread) = (at.group, at.thread);
        self.channel = self.channel.map(|_| at.channel);
    }

    /// A fault of a launch, before any of its instructions.
    pub(crate) fn before_start(kernel: &str, cause: Cause) -> Trap {
        Trap {
            cause,
            kernel: kernel.to_owned(),
            function: kernel.to_owned(),
            instruction: 0,
            span: Span::NONE,
            channel: None,
            mask: 0,
            thread: 0,
            group: [0; 3],
            threads: Vec::new(),
            calls: Vec::new(),
        }
    }
}

/// Of which memory an address is; of addresses of the global one nothing is said.
struct Of(AccessSpace);

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            AccessSpace::Flat => Ok(()),
            AccessSpace::Slm => f.write_str(" of shared local memory"),
            AccessSpace::Surface(index) => write!(f, " of the surface of binding-table index {index}"),
            AccessSpace::State => f.write_str(" of scratch memory"),
            AccessSpace::Counter(index) => {
                write!(f, " of the append counter of binding-table index {index}")
            }
            AccessSpace::Urb => f.write_str(" of the unified return buffer"),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Memory { space, address, bytes, write, nearest } => {
                let what = if *write { "writes" } else { "reads" };
                write!(f, "{what} {bytes} bytes at {address:#x}{}, outside of every allocation", Of(*space))?;
                match nearest {
                    Some((name, 1)) => write!(f, "; right past the end of {name}"),
                    Some((name, d)) if *d > 0 => write!(f, "; {} bytes past the end of {name}", d - 1),
                    Some((name, d)) if *d < 0 => write!(f, "; {} bytes before {name}", -d),
                    Some((name, _)) => write!(f, "; it starts in {name} and passes its end"),
                    None => Ok(()),
                }
            }
            Cause::ReadOnly { address, bytes, name } => {
                write!(f, "writes {bytes} bytes at {address:#x}, in {name}, which is constant")
            }
            Cause::Misaligned { space, address, bytes, align } => {
                let of = Of(*space);
                write!(f, "accesses {bytes} bytes at {address:#x}{of}, which is not a multiple of {align}")
            }
            Cause::Indirect { address } => {
                write!(f, "the register address {address:#x} is outside of every variable")
            }
            Cause::Unsupported { name, reason } => write!(f, "{name} is not supported: {reason}"),
            Cause::CallDepth => write!(f, "calls are nested too deep"),
            Cause::BadCall(a) => write!(f, "calls {a:#x}, which is not a function"),
            Cause::BadIndex(i) => write!(f, "the jump table has no entry {i}"),
            Cause::FellOff => write!(f, "the code ended without a return"),
            Cause::Limit => write!(f, "a thread took more branches and calls than its limit allows"),
            Cause::Symbol(s) => write!(f, "the symbol `{s}` is not defined"),
            Cause::NoMemory { bytes } => {
                write!(f, "the host has no {bytes} bytes for the group's shared local memory")
            }
            Cause::Deadlock => write!(f, "the barrier cannot complete: threads wait for others that ended"),
            Cause::Cancelled => write!(f, "the launch was cancelled"),
        }
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.group;
        write!(f, "{}: {} (instruction {}", self.kernel, self.cause, self.instruction)?;
        if self.function != self.kernel {
            write!(f, " of {}", self.function)?;
        }
        if let Some(c) = self.channel {
            write!(f, ", channel {c}")?;
        }
        write!(f, ", thread {} of group {x},{y},{z})", self.thread)
    }
}

impl std::error::Error for Trap {}
