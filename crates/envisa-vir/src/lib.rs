//! The vector IR: a launch variant of a kernel in static single assignment form, between
//! [`Program`](envisa_lower::Program) and machine code.
//!
//! # What a function is
//!
//! A [`Func`] is what *one thread* of 8, 16 or 32 channels does, from its start to its end. It has blocks; block
//! [`Block::ENTRY`] is first. A block has parameters (values that whoever leads there hands on), instructions, and a
//! [`Terminator`]. A value is a block's parameter or an instruction's result, is defined once, and its definition
//! dominates all uses.
//!
//! A [`Type`] is bits in lanes: [`Elem`] (mask, 8, 16, 32, 64 bits) and 1, 2, 4, 8, 16 or 32 lanes. A value of one lane
//! is *uniform*: a general register's, or a truth. Bits are not numbers by themselves: operations say what they take them
//! for (`Number`, vISA's element types), so there are no casts between floats and integers.
//!
//! # Lanes are channels
//!
//! An instruction of the program for channels 16 to 31 is one of 16 lanes: lane 0 is channel 16 ([`Origin::first`]).
//! Instructions compute *all* lanes; what inactive channels must not change is said by [`Inst::Select`] on masks, and
//! memory by [`Access::mask`]. Lanes of a load that its mask leaves out may have any bits.
//!
//! # Channels that part
//!
//! Which channels are active is a mask like any other, and so are those that wait at a label. A branch that parts
//! channels is arithmetic of masks, then a [`Terminator::Branch`] that looks at whether any is left: all control flow in
//! this IR is the thread's, and a back end sees plain jumps. Channels at the lowest program counter run first, as in the
//! interpreter: where all active ones have gone ahead, blocks without instructions of the program look in turn whether
//! any wait at the labels on the way, and at the last one the thread ends.
//! A variant for full threads starts with a constant mask, and facts fold what follows from that.
//!
//! # Registers
//!
//! There are none: bytes of the register file became values. [`Inst::Input`] reads what a thread starts with; only
//! [`Inst::Escape`] (and a named barrier) puts values into registers, for the interpreter, and takes results from there.
//! Bytes that it is not told of are as the thread started.
//!
//! # Faults
//!
//! A fault is always the interpreter's: an [`Access`] that a back end's guard does not let through is executed by the
//! interpreter, for its [`Access::pc`], with its operands in the message's registers. Its results are then the
//! elements of the message's data registers. What was done before stays done, and nothing after it has been done:
//! accesses, [`Inst::Escape`], [`Inst::Spend`] and [`Inst::Fence`] stay in order ([`Inst::effect`]), all else is pure.
//! Threads that nothing waits for may be ended at a [`Inst::Spend`], which says at which instruction.
//!
//! # Floats
//!
//! Every operation that rounds says in which mode; a program that changes `%cr0` in ways that are not known becomes
//! escapes. NaNs are those of `envisa_sem::nan`, which are x86's.

mod build;
pub mod eval;
mod facts;
pub mod flow;
mod func;
mod inst;
pub mod operation_classes;
pub mod passes;
mod print;
mod read;
mod verify;

pub use build::{Dispatch, NotBuilt, Options, build, types_of};
pub use facts::{Facts, Known};
pub use func::{Block, BlockData, Def, Elem, Func, InstData, InstId, Origin, Type, Value, ValueData};
pub use inst::{
    Access, AccessKind, AccessShape, Arith, Effect, Escape, Exact, Home, Inst, Logic, Shuffle, Target,
    Terminator, Window,
};
pub use read::ReadError;
pub use verify::{Bad, verify};
