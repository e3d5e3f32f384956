//! Lowered instructions and their operands.

use envisa_isa::operation::Compute;
use envisa_isa::{Combine, Span, Type};

pub use envisa_isa::Modifier;

use crate::registers::RegOffset;

/// Index of an instruction in [`ProgramParts::code`](crate::ProgramParts::code).
pub type Pc = u32;

/// What a fence orders: bits of [`Inst::aux`] of [`Op::Fence`].
pub mod fence {
    /// Accesses of global memory.
    pub const GLOBAL: u32 = 1;
    /// Accesses of shared local memory.
    pub const LOCAL: u32 = 2;
    /// For the thread group alone.
    pub const GROUP: u32 = 4;
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

impl Inst {
    /// Is it there for lowering's sake, and none of the kernel's own instructions?
    pub fn is_auxiliary(&self) -> bool {
        self.facts.auxiliary || matches!(self.op, Op::Join | Op::Nop | Op::ChannelEnables | Op::End)
    }
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
    /// It helps the instruction at which it stands: the text has one where lowering made several.
    pub auxiliary: bool,
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
        match self.step(channels) {
            Some(0) => Shape::Scalar,
            Some(1) => Shape::Contiguous,
            _ => Shape::General,
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
        /// Elements from channel to channel: channel `k`'s is `k` times so many behind where its address points, whichever
        /// channels have the same address.
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

            /// Is it one of the table's computations, or one that the optimiser makes of them for each channel?
            pub const fn is_computation(self) -> bool {
                matches!(self, $(Op::$compute)|* | Op::FunnelShift)
            }
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
        /// Dwords side by side from source 0 on; aux: which of them each channel gets, in
        /// [`ProgramParts::picks`](crate::ProgramParts::picks).
        Pick,
        /// The upper dword of a quad that is shifted left by aux (1 to 31): source 0 is its upper dword, source 1 its lower one.
        FunnelShift,
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
        /// As `Dpas`, for blocks with scales: source 3 has them as bytes, by block those of the weights, a byte for
        /// each channel, then by block those of the activations, a byte for each repeat.
        Bdpas,
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
        /// A fence: memory is coherent here, so it only orders. aux: [`fence`](crate::fence).
        Fence,
        /// aux: the message.
        Message,
        /// aux: index into [`ProgramParts::unsupported`](crate::ProgramParts::unsupported).
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
    /// May a thread wait at it for others of its group? It goes on behind it, or, where they exchange something, with it.
    pub fn waits(self) -> bool {
        matches!(self, Op::Barrier | Op::SplitBarrier | Op::NamedBarrier | Op::Dpasw)
    }

    /// What the region of a source amounts to for this many channels. Matrices are registers from their first byte;
    /// what is said of all channels at once is one element.
    pub(crate) fn shape(self, strides: Strides, channels: u32) -> Shape {
        match self {
            Op::Dpas | Op::Dpasw | Op::Bdpas => Shape::Contiguous,
            Op::Ifcall | Op::SwitchJmp | Op::NamedBarrier => strides.shape(1),
            _ => strides.shape(channels),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a region amounts to is what its elements are, one by one.
    #[test]
    fn shapes_are_what_the_elements_are() {
        for channels in [1u32, 2, 4, 8, 16, 32] {
            for (vertical, width_log2, horizontal) in
                (0..=32).flat_map(|v| (0..=4).flat_map(move |w| [0, 1, 2, 4].map(|h| (v, w, h))))
            {
                let strides = Strides { vertical, width_log2, horizontal };
                let all = |f: fn(u32) -> u32| (0..channels).all(|k| strides.element(k) == f(k));
                let shape = match () {
                    () if all(|_| 0) => Shape::Scalar,
                    () if all(|k| k) => Shape::Contiguous,
                    () => Shape::General,
                };
                assert_eq!(strides.shape(channels), shape, "{strides:?} of {channels} channels");
                let region = crate::Touched::Region { offset: 64, bytes: 2, strides, together: 1 };
                let last = (0..channels).map(|k| 64 + 2 * strides.element(k) + 2).max();
                assert_eq!(region.range(channels).map(|r| r.end), last, "{strides:?}");
            }
        }
    }
}
