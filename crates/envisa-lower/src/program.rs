//! The lowered program: code, register file layout, inputs and facts.

use envisa_isa::operation::Compute;
use envisa_isa::{Combine, Platform, Span, Type};

pub use envisa_isa::Modifier;

use crate::Message;

/// Offset in bytes into the register file of a hardware thread.
pub type RegOffset = u32;

/// Index of an instruction in [`ProgramParts::code`].
pub type Pc = u32;

/// Bytes past the last variable that a vector load may read: 32 channels of 8 bytes.
pub const REGISTER_PADDING: u32 = 256;

/// Largest register file, in bytes. A virtual ISA has as many registers as a kernel declares; more than
/// this is refused.
pub const MAX_REGISTER_BYTES: u32 = 8 << 20;

/// What a [`Program`](crate::Program) is made of. Nothing promises that the parts fit together:
/// [`Program::new`](crate::Program::new) checks that, and engines take a `Program`.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramParts {
    /// The kernel's name.
    pub name: String,
    /// The device.
    pub platform: Platform,
    /// Bytes of a register of the device: 32 or 64.
    pub grf_bytes: u32,
    /// Channels a thread is dispatched with: 8, 16 or 32.
    pub simd: u32,
    /// Where everything is in the register file.
    pub registers: Registers,
    /// Code of all functions, one after another. The last instruction of each is an [`Op::End`].
    pub code: Vec<Inst>,
    /// Messages, named by [`Inst::aux`] of [`Op::Message`].
    pub messages: Vec<Message>,
    /// Jump tables, named by [`Inst::aux`] of [`Op::SwitchJmp`].
    pub tables: Vec<Vec<Pc>>,
    /// Function 0 is the kernel.
    pub functions: Vec<Function>,
    /// Inputs of the kernel.
    pub inputs: Vec<InputSlot>,
    /// Symbols of `faddr`, named by [`Inst::aux`]; an engine is given their addresses.
    pub symbols: Vec<String>,
    /// Does it contain a barrier: do threads of a group need to interleave?
    pub has_barrier: bool,
    /// Files that its lines are of, as the module names them.
    pub source_files: Vec<String>,
    /// Instructions that cannot be executed and why, named by [`Inst::aux`] of [`Op::Unsupported`].
    pub unsupported: Vec<Unsupported>,
}

/// Why an instruction is not executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// The instruction's name as on its page.
    pub name: &'static str,
    /// The reason.
    pub reason: String,
}

/// Kernel or stack-call function.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// First instruction.
    pub entry: Pc,
    /// One past the last.
    pub end: Pc,
    /// Its own variables: saved and restored when the function calls itself, directly or not.
    pub locals: Vec<std::ops::Range<RegOffset>>,
    /// Its variables for observers and messages.
    pub vars: Vec<VarHome>,
    /// Lines of the source it was compiled from, where the module tells them, by ascending instruction.
    pub lines: Vec<crate::LineEntry>,
}

/// A root variable's home.
#[derive(Clone, PartialEq, Debug)]
pub struct VarHome {
    /// Id in the module (below 32: predefined).
    pub id: u32,
    /// Name in the source.
    pub name: String,
    /// First byte.
    pub offset: RegOffset,
    /// Bytes declared.
    pub declared: u32,
    /// Bytes of the home, a multiple of 64: as much as any instruction touches.
    pub bytes: u32,
}

/// The register file of a thread: one array of bytes.
///
/// `[0, constants.end)` immediates, never written; then predicates, address registers, surface and
/// sampler states, predefined variables, the kernel's inputs, its other variables, the functions'
/// variables; [`REGISTER_PADDING`] bytes of padding.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Registers {
    /// Bytes of the whole file, padding included; a multiple of 64.
    pub bytes: u32,
    /// What the file starts with: immediates. All else starts as zero.
    pub constants: Vec<u8>,
    /// Where the variables of the kernel that are not inputs start; everything from here to `bytes` is zero
    /// at the start of a thread.
    pub locals_start: RegOffset,
    /// What must be zero when a thread starts with all channels of its dispatch: everything else that is not an
    /// input is written before it is read. (A thread that lacks channels starts with zeros everywhere.)
    pub fresh: Vec<std::ops::Range<RegOffset>>,
    /// Homes of the predefined variables, by id.
    pub predefined: [RegOffset; 32],
    /// Part of the file that address registers can name, and the home of each of its 64-byte chunks:
    /// `(start, end)` in bytes. An address is an offset from [`Registers::address_base`].
    pub address_base: RegOffset,
    /// See `address_base`.
    pub address_homes: Vec<(u32, u32)>,
}

/// An input of the kernel: bytes of the input image that go to a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputSlot {
    /// The variable's name.
    pub name: String,
    /// What it is.
    pub class: InputClass,
    /// Where it goes.
    pub offset: RegOffset,
    /// Offset in the input image: 0 is where r0 starts.
    pub image: u32,
    /// Bytes.
    pub bytes: u32,
}

/// What an input is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputClass {
    /// Bytes of a general variable.
    General,
    /// A surface: a binding-table index or handle.
    Surface,
    /// A sampler index.
    Sampler,
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// Number of channels: 1, 2, 4, 8, 16 or 32.
    pub channels: u8,
    /// First channel of the execution mask it looks at.
    pub first: u8,
    /// The execution mask is ignored.
    pub no_mask: bool,
    /// Predication.
    pub pred: Pred,
    /// Type the channels compute in, after promotion; see [`ExecType`].
    pub exec: ExecType,
    /// Destination.
    pub dst: Dst,
    /// Sources.
    pub src: [Src; 4],
    /// Relation, truth table, target, index of a message…: see [`Op`].
    pub aux: u32,
    /// The second destination's offset, where there is one (`addc`, `subb`, `madw`; the predicate of `invm`,
    /// `rsqtm`, `add3.o`).
    pub dst2: RegOffset,
    /// Where it stands in the source.
    pub span: Span,
    /// Index of the instruction in its object, for reports.
    pub source: u32,
    /// Function it belongs to.
    pub function: u16,
    /// Loops it is in.
    pub depth: u8,
    /// Facts about masks and uniformity.
    pub facts: Facts,
}

/// What is known about an instruction before it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// Every channel of the dispatch mask is active here: no channel can wait at a label and none has left.
    pub converged: bool,
    /// Every source is the same for all channels.
    pub uniform: bool,
    /// The instruction is a compare whose predicate is read by the branch right after it.
    pub fuses_with_next: bool,
    /// The predicate written is not read outside of the next instruction.
    pub writes_only_next: bool,
}

/// Predication of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pred {
    /// Where the predicate's 32 bits are; 0 for none (offset 0 holds a constant).
    pub offset: RegOffset,
    /// How channels combine.
    pub combine: Combine,
    /// Inverted.
    pub invert: bool,
}

/// The type channels compute in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[allow(missing_docs)]
pub enum ExecType {
    /// No arithmetic.
    #[default]
    None,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
    F16,
    Bf16,
    /// `df`, rounded to odd: sums, products, quotients and roots of sources of up to `f` for a destination of a
    /// narrower float, whose conversion then rounds once from what is as good as the exact result.
    Odd,
    /// Integers by their values, whatever their sizes and signs: of each source the value that its modifier
    /// makes of it, and of these the exact result, which the destination cuts or clamps.
    Wide,
}

/// Element strides of a region.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Strides {
    /// Elements from row to row.
    pub vertical: u8,
    /// log2 of the elements in a row.
    pub width_log2: u8,
    /// Elements from element to element in a row; it means nothing in rows of one element.
    pub horizontal: u8,
}

impl Strides {
    /// One element for all channels.
    pub const SCALAR: Strides = Strides { vertical: 0, width_log2: 0, horizontal: 0 };
    /// Consecutive elements.
    pub const CONTIGUOUS: Strides = Strides { vertical: 1, width_log2: 0, horizontal: 0 };

    /// Element of channel `i`.
    #[inline(always)]
    pub const fn element(self, i: u32) -> u32 {
        (i >> self.width_log2) * self.vertical as u32
            + (i & ((1 << self.width_log2) - 1)) * self.horizontal as u32
    }

    /// Elements from channel to channel, if that is the same for all of this many channels.
    #[inline]
    pub const fn step(self, channels: u32) -> Option<u32> {
        let (vertical, horizontal) = (self.vertical as u32, self.horizontal as u32);
        if channels < 2 {
            Some(0)
        } else if self.width_log2 == 0 {
            Some(vertical)
        } else if channels <= 1 << self.width_log2 || vertical == horizontal << self.width_log2 {
            Some(horizontal)
        } else {
            None
        }
    }

    /// What the region amounts to for this many channels.
    pub const fn shape(self, channels: u32) -> Shape {
        if channels == 1 {
            return Shape::Scalar;
        }
        let (mut scalar, mut contiguous) = (true, true);
        let mut i = 0;
        while i < channels {
            let e = self.element(i);
            scalar &= e == 0;
            contiguous &= e == i;
            i += 1;
        }
        if scalar {
            Shape::Scalar
        } else if contiguous {
            Shape::Contiguous
        } else {
            Shape::General
        }
    }
}

/// What a region amounts to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// One element for all channels.
    Scalar,
    /// Channel `i` is element `i`.
    Contiguous,
    /// Anything else.
    General,
}

/// A source.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Src {
    /// Absent.
    #[default]
    None,
    /// Elements of the register file. Immediates are scalars of the constants.
    Reg {
        /// First element.
        offset: RegOffset,
        /// Type of the elements.
        ty: Type,
        /// Region.
        strides: Strides,
        /// Its shape for the instruction's channels.
        shape: Shape,
        /// Modifier.
        modifier: Modifier,
        /// Is it an immediate?
        constant: bool,
    },
    /// Elements found through address registers.
    Indirect {
        /// First address register (a 16-bit element of the register file).
        address: RegOffset,
        /// Added to each address.
        bytes: i16,
        /// Channels served by one address: all channels, the width of a row, or 1.
        per_address_log2: u8,
        /// Type of the elements.
        ty: Type,
        /// Region from each address.
        strides: Strides,
        /// Modifier.
        modifier: Modifier,
    },
    /// A predicate's bits.
    Pred {
        /// Where they are.
        offset: RegOffset,
        /// `!`.
        invert: bool,
    },
}

/// A destination.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Dst {
    /// Absent, or `%null`.
    #[default]
    None,
    /// Elements of the register file.
    Reg {
        /// First element.
        offset: RegOffset,
        /// Type of the elements.
        ty: Type,
        /// Elements from channel to channel, at least 1.
        stride: u8,
        /// Saturation.
        sat: bool,
    },
    /// Elements found through address registers.
    Indirect {
        /// First address register.
        address: RegOffset,
        /// Added to each address.
        bytes: i16,
        /// Channels served by one address (log2).
        per_address_log2: u8,
        /// Type of the elements.
        ty: Type,
        /// Elements from channel to channel.
        stride: u8,
        /// Saturation.
        sat: bool,
    },
    /// A predicate.
    Pred {
        /// Where its bits are.
        offset: RegOffset,
    },
}

macro_rules! op_enum {
    ({ $($(#[$doc:meta])* $compute:ident,)* } { $($(#[$own_doc:meta])* $own:ident,)* }) => {
        /// What an instruction does: the table's computations, and what lowering makes of the rest. `aux` as
        /// noted; of computations it is the truth table of `bfn` and the bits of `rol`'s and `ror`'s sources.
        /// `dst2` has the carry of `addc`, the borrow of `subb`, the high half of `madw`, the predicate of
        /// `add3.o`, `invm` and `rsqtm`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs)]
        pub enum Op {
            $($(#[$doc])* $compute,)*
            $($(#[$own_doc])* $own,)*
        }

        impl Op {
            /// All of them.
            pub const ALL: &[Op] = &[$(Op::$compute,)* $(Op::$own,)*];
        }

        impl From<Compute> for Op {
            fn from(compute: Compute) -> Op {
                match compute {
                    $(Compute::$compute => Op::$compute,)*
                }
            }
        }
    };
}

macro_rules! define_op {
    ($($computations:tt)*) => {
        op_enum! { { $($computations)* } {
        // Moves.
        Mov,
        /// Predicate to general variable: all 32 bits.
        MovPred,
        /// General variable or immediate to predicate bits.
        Setp,
        /// `and or xor not` on predicates; aux: truth table as of `bfn` with two sources.
        PredLogic,
        /// aux: relation, 0 to 5: eq ne gt ge lt le.
        Cmp,
        /// Systolic: aux packs `src1 precision | src2 precision << 8 | depth << 16 | count << 24`; the
        /// operands are registers from their first byte.
        Dpas,
        /// As `Dpas`, for a pair of fused threads that share the third operand: the thread with the even index has
        /// its first half, rounded up to whole registers of 32 bytes, the other one the rest (page DPASW).
        Dpasw,
        /// Before an instruction that reads them: aux 0: puts the execution mask into the destination, one dword
        /// (`%ce0`); aux 1: puts the time there, two dwords (`%tsc`).
        ChannelEnables,
        // Control flow.
        /// Channels that wait for this place join.
        Join,
        /// aux: target. With one channel: all active channels go, the predicate being bit 0's.
        Goto,
        /// aux: target.
        Call,
        Ret,
        /// aux: index of the function.
        Fcall,
        /// Source 0: the address.
        Ifcall,
        Fret,
        /// aux: symbol.
        Faddr,
        /// Source 0: the index; aux: the table.
        SwitchJmp,
        // Synchronisation.
        Barrier,
        /// aux: 1 signal, 0 wait.
        SplitBarrier,
        /// aux: 1 signal, 0 wait; source 0 the barrier's number, source 1 the number of threads. With a source 2,
        /// which says what the thread is (0 producer and consumer, 1 producer, 2 consumer), source 1 is the
        /// number of producers and source 3 that of consumers.
        NamedBarrier,
        /// A fence: memory is coherent here, so it only orders.
        Fence,
        /// aux: the message.
        Message,
        /// aux: index into [`ProgramParts::unsupported`].
        Unsupported,
        /// The end of a function was reached without a return.
        End,
        /// Nothing.
        Nop,
        } }
    };
}
envisa_isa::computations!(define_op);

impl Op {
    /// What the region of a source amounts to for this many channels. Matrices are registers from their first byte;
    /// what is said of all channels at once is one element.
    pub(crate) fn shape(self, strides: Strides, channels: u32) -> Shape {
        match self {
            Op::Dpas | Op::Dpasw => Shape::Contiguous,
            Op::Ifcall | Op::SwitchJmp | Op::NamedBarrier => strides.shape(1),
            _ => strides.shape(channels),
        }
    }
}
