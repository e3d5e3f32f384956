//! What the checks find, and what they are told of a launch.

use std::ops::Range;
use std::sync::Arc;

use envisa_isa::Span;

use super::element_names::Elements;
use super::races_in_group::RaceAccess;
use super::report_places::ProgramFacts;
use super::texel_names::ImagePlace;

/// What a check found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum FindingKind {
    /// A channel reads register bytes that nothing has written in its thread.
    UninitialisedRead,
    /// Two channels of one store write the same place with different values: it is undefined which value remains.
    StoreConflict,
    /// Two threads, or two channels of one, access the same place, one of them stores, and nothing orders the two.
    Race,
    /// An access outside of what was meant, which the device drops.
    OutOfBounds,
    /// What is done depends on bytes of memory that nothing has written.
    UninitialisedMemory,
    /// Some work-items come to a barrier, and others do not, or to another one.
    DivergentBarrier,
    /// A store to what is constant.
    ConstantWrite,
    /// An asynchronous copy that nobody waits for, of which work-items differ, or an event that is none.
    AsyncCopy,
    /// Integers for an image of floats, or floats for one of integers.
    TexelType,
    /// A hint: an integer divided by zero.
    DivisionByZero,
    /// A hint: a sum, difference, product or quotient of numbers with signs that its type cannot hold.
    SignedOverflow,
    /// A hint: a shift by as many bits as there are, or more.
    ShiftCount,
    /// A hint: a float that the integer it becomes cannot hold.
    ConversionRange,
    /// A hint: an element at an address that is no multiple of its size.
    Misaligned,
    /// A hint: one instruction accesses two variables in shared local memory.
    LocalNeighbour,
}

/// What the checks are told of a launch.
#[derive(Clone, Debug, Default)]
pub struct LaunchFacts {
    /// Names of arguments, by index.
    pub arguments: Vec<String>,
    /// Bytes of what arguments point to, by index, where that is a number or a vector.
    pub pointed: Vec<Option<u64>>,
    /// Which arguments surfaces of the binding table are, by their index.
    pub surfaces: Vec<(u32, u32)>,
    /// The channels of a thread are parts of a vector, as in code written by hand, rather than work-items: they do run
    /// in step.
    pub in_step: bool,
    /// It is code of the vector compiler, whose barriers order memory without fences.
    pub vector_code: bool,
    /// The kernel says of how many work-items its sub-groups are: it may rely on how they go on together, and what orders
    /// their accesses is not left in vISA.
    pub sub_groups: bool,
    /// Addresses whose content the host did not write.
    pub fresh: Vec<Range<u64>>,
    /// Addresses where earlier launches wrote structures: some of these bytes may be padding.
    pub records: Vec<Range<u64>>,
    /// Addresses that the kernel is given as constant, and what reports call them.
    pub constant: Vec<(Range<u64>, String)>,
    /// Addresses of buffers of vectors of four elements: each of them is looked at, where vectors of three leave one.
    pub of_four: Vec<Range<u64>>,
    /// Hints are wanted, too.
    pub hints: bool,
    /// The kernel holds its accesses against the types of its source itself.
    pub checks_itself: bool,
    /// The kernel's own variables in shared local memory, by their place, where they are known.
    pub local_variables: Vec<(Range<u64>, String)>,
    /// Arrays and buffers whose elements are known.
    pub elements: Vec<Elements>,
    /// The addresses of the program's variables, and their names.
    pub variables: Vec<(Range<u64>, String)>,
    /// The images that the kernel is given.
    pub images: Vec<ImagePlace>,
    /// Bytes of the buffers that the kernel is given.
    pub buffer_bytes: u64,
    /// What buffers the kernel is given, and what they are called: of an allocation it may access these parts alone.
    pub parts: Vec<(Range<u64>, String)>,
    /// Addresses in allocations of which it may access everything.
    pub whole: Vec<u64>,
    /// What is known of the program.
    pub program: Arc<ProgramFacts>,
    /// Nobody but the checks watches the launch: they are told of no more than they want.
    pub alone: bool,
    /// What the launch accesses is asked for: [`Checks::footprint`](super::Checks::footprint).
    pub footprint: bool,
    /// And exactly which bytes it reads.
    pub exact_reads: bool,
}

/// Another place that a finding is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    /// Index of the instruction in its function's source.
    pub instruction: u32,
    /// Function.
    pub function: String,
    /// Place in the source.
    pub span: Span,
    /// What happens there.
    pub what: &'static str,
}

/// The other side of a race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OtherAccess {
    /// What it does.
    pub access: RaceAccess,
    /// Index of the instruction in its function's source.
    pub instruction: u32,
    /// Function.
    pub function: String,
    /// Place in the source.
    pub span: Span,
    /// Its channel, where it is known.
    pub channel: Option<u32>,
    /// Several channels did it, this one among them.
    pub several: bool,
    /// Thread in its group.
    pub thread: u32,
    /// Group.
    pub group: [u32; 3],
    /// How often what its thread did had been put in order by then, where that is known.
    pub orderings: Option<u32>,
    /// It is of an asynchronous copy of the group, which no thread makes.
    pub copies: bool,
}

/// A finding: the first time, and how often.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// Index of the instruction in its function's source.
    pub instruction: u32,
    /// Function.
    pub function: String,
    /// Place in the source.
    pub span: Span,
    /// Channel.
    pub channel: u32,
    /// It is this channel's, and no other's; else several did it together, this one among them.
    pub own: bool,
    /// Thread in its group.
    pub thread: u32,
    /// Group.
    pub group: [u32; 3],
    /// The variable read, or the address written.
    pub subject: String,
    /// The memory that it is about, as a place of it, and what tells that apart from other buffers and variables; empty if it is
    /// not known.
    pub memory: Option<u64>,
    /// See `memory`.
    pub object: String,
    /// Of a race: how often what was read was used although nothing had written it yet.
    pub early: u64,
    /// How often; of a race between groups, at how many places.
    pub count: u64,
    /// Of a race: what the instruction does, and with what it races.
    pub race: Option<(RaceAccess, OtherAccess)>,
    /// Of a race within a group: how often what the thread did had been put in order by then.
    pub orderings: Option<u32>,
    /// Of a race: this side is of an asynchronous copy of the group.
    pub copies: bool,
    /// The channel is one that does not come there.
    pub absent: bool,
    /// Of colliding stores: the other channel, and what each of them stores.
    pub with: Option<(u32, [String; 2])>,
    /// Another place that it is about.
    pub related: Option<Related>,
    /// The calls that led there, innermost first; of very deep ones the innermost. Not of races between groups.
    pub calls: Vec<Call>,
}

/// A call that has not returned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Index of the instruction in its function's source.
    pub instruction: u32,
    /// Function.
    pub function: String,
    /// Place in the source.
    pub span: Span,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.group;
        if let Some((access, other)) = &self.race {
            let [u, v, w] = other.group;
            return write!(
                f,
                "instruction {}, thread {} of group {x},{y},{z} {access} {}, instruction {}, thread {} of group \
                 {u},{v},{w} {} it, and nothing orders the two ({} times)",
                self.instruction,
                self.thread,
                self.subject,
                other.instruction,
                other.thread,
                other.access,
                self.count
            );
        }
        let at = format!(
            "instruction {}, channel {}, thread {} of group {x},{y},{z}; {} times",
            self.instruction, self.channel, self.thread, self.count
        );
        match self.kind {
            FindingKind::UninitialisedRead => {
                write!(f, "reads {}, which nothing has written ({at})", self.subject)
            }
            FindingKind::StoreConflict => {
                write!(f, "two channels store different values to {} ({at})", self.subject)
            }
            FindingKind::UninitialisedMemory => {
                write!(f, "uses {}, which nothing has written ({at})", self.subject)
            }
            FindingKind::Race => write!(f, "races for {} ({at})", self.subject),
            FindingKind::OutOfBounds
            | FindingKind::DivergentBarrier
            | FindingKind::ConstantWrite
            | FindingKind::AsyncCopy
            | FindingKind::TexelType
            | FindingKind::DivisionByZero
            | FindingKind::SignedOverflow
            | FindingKind::ShiftCount
            | FindingKind::ConversionRange
            | FindingKind::Misaligned
            | FindingKind::LocalNeighbour => {
                write!(f, "{} ({at})", self.subject)
            }
        }
    }
}
