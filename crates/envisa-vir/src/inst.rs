//! Instructions, and where blocks go.

use envisa_isa::Type as Number;
use envisa_lower::{Extend, Op, Pc, RegOffset};
use envisa_sem::{FpMode, Modifier, Relation};

use crate::func::{Block, Value};

/// An operation on numbers, channel by channel: of one row of the table ([`Op`]) in one type.
///
/// Its meaning is `envisa-sem`'s: [`crate::eval::arith`] computes a lane of it, in Rust, and back ends may call that for
/// what they have no code for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Arith {
    /// The operation: one of those for which [`crate::operation_classes::arity`] is not zero.
    pub op: Op,
    /// What operands and first result are: an integer type or a float. Operands have its size.
    pub number: Number,
    /// Of `df`: the result is rounded to odd, for a float of fewer bits that it is converted to.
    pub odd: bool,
    /// Operands whose negation enters, bit by bit: of sums and product sums (`add add3 mad`) only. It is the operation's,
    /// not the operand's: a NaN keeps its sign (`envisa_sem::nan`), so `add` of floats with bit 1 is x86's `sub`.
    pub negate: u8,
    /// Truth table of `bfn`; bits of the source (8, 16, 32, 64) of `rol` and `ror`; signs of sources 1 and 2 of `dp4a`.
    pub aux: u32,
    /// The mode of floats; [`FpMode::OPENCL`], which `is_ieee`, nearly always. Integers: that too.
    pub mode: FpMode,
}

/// An operation on integers by their values, for operands that no one type holds (minus the smallest `d`, sums of `uq`
/// and `q`), and for results that saturate. [`crate::eval::exact`] computes a lane of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Exact {
    /// The operation.
    pub op: Op,
    /// Types of the operands, and what is made of their values.
    pub from: Vec<(Number, Modifier)>,
    /// The result's type; of `cmp` nothing.
    pub to: Number,
    /// The result is the nearest number of its type (else its low bits).
    pub sat: bool,
    /// Relation of `cmp`, truth table of `bfn`.
    pub aux: u32,
    /// The mode, for results that are floats.
    pub mode: FpMode,
}

/// Operations on masks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Logic {
    And,
    Or,
    Xor,
    /// The first, but not the second.
    AndNot,
}

/// What a shuffle's lane is, by where it comes from. All operands are one after another, cut into units of
/// [`Shuffle::unit`] bytes (of masks: into lanes); lane `k` of the result is the units `units[k * n..][..n]`, where `n`
/// is a lane's bytes by the unit's (of masks 1).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shuffle {
    /// Operands: all masks, or none.
    pub args: Vec<Value>,
    /// Bytes of a unit: 1, 2, 4 or 8, at most a lane of the result; of masks 0.
    pub unit: u8,
    /// Where units come from.
    pub units: Vec<u16>,
}

impl Shuffle {
    /// If it is consecutive units of the operands from this one on.
    pub fn slice(&self) -> Option<u16> {
        self.step(1)
    }

    /// If it is every `step`th unit of the operands from this one on.
    pub fn step(&self, step: u16) -> Option<u16> {
        let first = *self.units.first()?;
        let all = self
            .units
            .iter()
            .zip(0u32..)
            .all(|(u, k)| u32::from(*u) == u32::from(first) + k * u32::from(step));
        all.then_some(first)
    }
}

/// Which memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Window {
    /// 64-bit virtual addresses.
    Flat,
    /// The group's local memory.
    Slm,
    /// The surface of this index in the binding table: a value of one lane of 32 bits.
    Surface(Value),
    /// The surface of this bindless handle: a value of one lane, of 32 or 64 bits.
    Handle(Value),
    /// The thread's scratch memory, by LSC: its operand.
    Scratch(Value),
    /// 32-bit offsets from the general state base.
    State,
    /// Implicit arguments.
    Arguments,
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AccessKind {
    /// Elements of memory to results.
    Load,
    /// Data to memory.
    Store,
    /// Reads, changes, writes. The operator is the message's; data are its operands.
    Atomic,
}

/// How lanes' addresses lie to each other: decided once, by the facts, and from then on data. What a shape claims is
/// *proven*, but for [`AccessShape::Clamped`] and [`AccessShape::Halves`], which back ends look at when they run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AccessShape {
    /// Nothing is known: each lane its own address.
    Gather,
    /// All lanes have one address.
    Uniform,
    /// Lane `i`'s address is lane 0's and `i` times the bytes of an element; of one element a lane. The sum may wrap
    /// around the address's bits: the end is held against lane 0's by whoever relies on it.
    Row,
    /// Lane `i`'s address is lane 0's and `i * step` bytes; each lane has `elements` consecutive elements.
    #[allow(missing_docs)]
    Strided { step: i32, elements: u8 },
    /// A row or step in each half of the lanes.
    #[allow(missing_docs)]
    Halves { step: i32, elements: u8 },
    /// Lanes of a row some of which are clamped to an edge.
    Clamped,
}

/// An access of memory by addresses: gathers, scatters, blocks and atomics, whichever message they come from.
///
/// Lane `i`'s address is `(address[i] + base) * scale + offset + origin`, where `address` is as the register has it.
/// It is computed in 32 bits if `bits` is 32 and in 64 if 64; where the register's addresses have fewer bits they are
/// extended first (by `extend`; words by zeros). With a `stride` there is one address, and lane `i`'s is `i * stride`
/// further. In lanes that the mask leaves out nothing is accessed, and results have *any* bits.
///
/// What goes wrong (no such memory, misaligned, another surface than asked for, …) is for the interpreter to find out
/// and say: a back end leaves by its own way to the interpreter's instruction at [`Access::pc`], for which it has all
/// operands: registers of the message's operands are these values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// The instruction, whose message says all there is (the operator of atomics, caching).
    pub pc: Pc,
    /// What it does.
    pub kind: AccessKind,
    /// Which memory.
    pub window: Window,
    /// Channels: lanes of addresses, mask and data. Of blocks 1.
    pub lanes: u8,
    /// A block: the data of its one address are all bytes of the results or of the data, one after another.
    pub block: bool,
    /// Lanes that access memory, with `lanes` lanes.
    pub mask: Value,
    /// Addresses as the register has them: `lanes` lanes, or one if it is a block or there is a stride.
    pub address: Value,
    /// How they are extended.
    pub extend: Extend,
    /// Bits that addresses are computed in: 32 or 64.
    pub bits: u8,
    /// One lane of 32 or 64 bits.
    pub stride: Option<Value>,
    /// Added to all addresses before scaling: one lane of 32 or 64 bits.
    pub base: Option<Value>,
    /// Factor.
    pub scale: u32,
    /// Added after scaling.
    pub offset: i64,
    /// Added after scaling: one lane of 32 or 64 bits.
    pub origin: Option<Value>,
    /// What addresses must be multiples of.
    pub align: u8,
    /// Bytes of an element in memory: 1, 2, 4 or 8; of blocks all of them are in results and data.
    pub element: u8,
    /// The element is in the upper half of its lane (else in the lower, the rest being zero).
    pub upper: bool,
    /// Which elements from each address on are moved, as a bit set; result or datum `k` is the one of the `k`th set bit.
    pub elements: u64,
    /// What is stored, an element each; operands of atomics. Their lanes may be wider than elements: the low bits count.
    pub data: Vec<Value>,
    /// How the addresses lie.
    pub shape: AccessShape,
}

/// A register's bytes that a value is put into before something else looks at them, or is taken from after.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Home {
    /// First byte in the register file. Lanes are one after another; masks are dwords, bit by bit.
    pub offset: RegOffset,
    /// The value.
    pub value: Value,
}

/// An instruction that the interpreter executes: the only door out.
///
/// The values of `reads` are put into the register file, those of `exec` become the execution mask, the instruction is
/// executed ([`Program`](envisa_lower::Program)'s at `pc`, again while it gives its own program counter), and the results
/// are what the register file has at `writes` afterwards. All other registers it looks at are constants of the program or
/// inputs, as the thread started with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Escape {
    /// The instruction.
    pub pc: Pc,
    /// Active channels, of all of the thread.
    pub exec: Value,
    /// What is put into registers before.
    pub reads: Vec<Home>,
    /// Where results are taken from: as many as results.
    pub writes: Vec<RegOffset>,
    /// Why.
    pub reason: &'static str,
}

/// An instruction. It has one result but where noted.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Inst {
    /// The same bits in every lane (of masks 0 or 1).
    Const(u64),
    /// Bits by lane.
    Lanes(Vec<u64>),
    /// The register file as the thread starts: lane `i` is the bytes from `offset + i * step` on.
    #[allow(missing_docs)]
    Input { offset: RegOffset, step: u32 },
    /// Channels that the thread starts with: a mask.
    Dispatch,
    /// Operands have the operation's size. A second result have `addc`, `subb` (carry, borrow: dwords), `madw` (high
    /// half, dwords), `invm`, `rsqtm` (a mask).
    #[allow(missing_docs)]
    Arith { what: Arith, args: Vec<Value> },
    /// By values; `cmp` has a mask as its result, `add3.o` one as its second.
    #[allow(missing_docs)]
    Exact { what: Box<Exact>, args: Vec<Value> },
    /// A source modifier: of floats the sign bit, also of NaNs.
    #[allow(missing_docs)]
    Modify { modifier: Modifier, number: Number, arg: Value },
    /// A mask: does the relation hold?
    #[allow(missing_docs)]
    Cmp { relation: Relation, number: Number, mode: FpMode, args: [Value; 2] },
    /// By lane of the mask, the first or the second. Masks can be chosen, too.
    #[allow(missing_docs)]
    Select { mask: Value, args: [Value; 2] },
    /// As `mov` does; `operand`: as a source of arithmetic, which flushes denormals that the mode flushes.
    #[allow(missing_docs)]
    Convert { from: Number, to: Number, sat: bool, operand: bool, mode: FpMode, arg: Value },
    /// One lane to all lanes.
    Splat(Value),
    /// Lanes from anywhere in the operands.
    Shuffle(Box<Shuffle>),
    /// Of masks.
    #[allow(missing_docs)]
    Logic { op: Logic, args: [Value; 2] },
    /// Is any lane of a mask true, or are all? A mask of one lane.
    #[allow(missing_docs)]
    Vote { all: bool, arg: Value },
    /// A mask as 32 bits in one lane; beyond its lanes zeros.
    ToBits(Value),
    /// The low bits of one lane as a mask.
    FromBits(Value),
    /// What a backward branch at `pc` takes from the thread's budget; without enough left, the thread faults. No result.
    #[allow(missing_docs)]
    Spend { pc: Pc, cost: u32 },
    /// Orders accesses. No result.
    Fence(Pc),
    /// `%cr0` is this from here on. Operations have their mode with them: it matters to escapes, and to accesses and traps
    /// that the interpreter executes. No result.
    Mode(u32),
    /// An access of memory: a load has a result for each element, or of a block as many as its bytes take; a store has
    /// none; an atomic one, or none.
    Access(Box<Access>),
    /// See [`Escape`]: as many results as it writes.
    Escape(Box<Escape>),
}

/// Where a block leads, and the values for its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The block.
    pub block: Block,
    /// As many as it has parameters.
    pub args: Vec<Value>,
}

impl Target {
    /// Without values.
    pub fn new(block: Block) -> Target {
        Target { block, args: Vec::new() }
    }
}

/// Where a block goes. Channels that part are masks: see the crate's page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Terminator {
    /// There.
    Jump(Target),
    /// To the first if a lane of the mask is true, else to the second.
    #[allow(missing_docs)]
    Branch { mask: Value, then: Target, other: Target },
    /// The thread waits as the instruction at `pc` says (`barrier`, the waiting half of a split or named one, for which
    /// `reads` are put into registers), and goes on there. Nothing is handed on in registers.
    #[allow(missing_docs)]
    Barrier { pc: Pc, reads: Vec<Home>, resume: Target },
    /// The thread ends.
    Return,
    /// The instruction at `pc` is executed by the interpreter, which faults.
    Trap(Pc),
}

impl Terminator {
    /// Where it leads.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        let two = match self {
            Terminator::Jump(t) | Terminator::Barrier { resume: t, .. } => [Some(t), None],
            Terminator::Branch { then, other, .. } => [Some(then), Some(other)],
            Terminator::Return | Terminator::Trap(_) => [None, None],
        };
        two.into_iter().flatten()
    }

    /// Where it leads, to change that.
    pub fn targets_mut(&mut self) -> impl Iterator<Item = &mut Target> {
        let two = match self {
            Terminator::Jump(t) | Terminator::Barrier { resume: t, .. } => [Some(t), None],
            Terminator::Branch { then, other, .. } => [Some(then), Some(other)],
            Terminator::Return | Terminator::Trap(_) => [None, None],
        };
        two.into_iter().flatten()
    }

    /// Calls with each value it uses, those for parameters too.
    pub fn operands_mut(&mut self, each: &mut dyn FnMut(&mut Value)) {
        match self {
            Terminator::Branch { mask, .. } => each(mask),
            Terminator::Barrier { reads, .. } => reads.iter_mut().for_each(|h| each(&mut h.value)),
            Terminator::Jump(_) | Terminator::Return | Terminator::Trap(_) => {}
        }
        self.targets_mut().for_each(|t| t.args.iter_mut().for_each(&mut *each));
    }

    /// Calls with each value it uses, those for parameters too.
    pub fn operands(&self, each: &mut dyn FnMut(Value)) {
        match self {
            Terminator::Branch { mask, .. } => each(*mask),
            Terminator::Barrier { reads, .. } => reads.iter().for_each(|h| each(h.value)),
            Terminator::Jump(_) | Terminator::Return | Terminator::Trap(_) => {}
        }
        self.targets().for_each(|t| t.args.iter().for_each(|v| each(*v)));
    }
}

/// What a pass may do with an instruction that it knows nothing else of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Effect {
    /// Its results follow from its operands: it may be left out, done twice, moved.
    Pure,
    /// It reads memory, and may fault: it may be left out only where the same was loaded already.
    Read,
    /// All else.
    Other,
}

impl Inst {
    /// Calls with each value it uses, in order.
    pub fn operands(&self, each: &mut dyn FnMut(Value)) {
        match self {
            Inst::Const(_) | Inst::Lanes(_) | Inst::Input { .. } | Inst::Dispatch => {}
            Inst::Spend { .. } | Inst::Fence(_) | Inst::Mode(_) => {}
            Inst::Arith { args, .. } | Inst::Exact { args, .. } => args.iter().for_each(|v| each(*v)),
            Inst::Cmp { args, .. } | Inst::Logic { args, .. } => args.iter().for_each(|v| each(*v)),
            Inst::Modify { arg, .. } | Inst::Convert { arg, .. } | Inst::Vote { arg, .. } => each(*arg),
            Inst::Splat(arg) | Inst::ToBits(arg) | Inst::FromBits(arg) => each(*arg),
            Inst::Select { mask, args } => {
                each(*mask);
                args.iter().for_each(|v| each(*v));
            }
            Inst::Shuffle(s) => s.args.iter().for_each(|v| each(*v)),
            Inst::Access(a) => {
                match a.window {
                    Window::Surface(v) | Window::Handle(v) | Window::Scratch(v) => each(v),
                    Window::Flat | Window::Slm | Window::State | Window::Arguments => {}
                }
                each(a.mask);
                each(a.address);
                [a.stride, a.base, a.origin].into_iter().flatten().for_each(&mut *each);
                a.data.iter().for_each(|v| each(*v));
            }
            Inst::Escape(e) => {
                each(e.exec);
                e.reads.iter().for_each(|h| each(h.value));
            }
        }
    }

    /// Calls with each value it uses, in the same order.
    pub fn operands_mut(&mut self, each: &mut dyn FnMut(&mut Value)) {
        match self {
            Inst::Const(_) | Inst::Lanes(_) | Inst::Input { .. } | Inst::Dispatch => {}
            Inst::Spend { .. } | Inst::Fence(_) | Inst::Mode(_) => {}
            Inst::Arith { args, .. } | Inst::Exact { args, .. } => args.iter_mut().for_each(each),
            Inst::Cmp { args, .. } | Inst::Logic { args, .. } => args.iter_mut().for_each(each),
            Inst::Modify { arg, .. } | Inst::Convert { arg, .. } | Inst::Vote { arg, .. } => each(arg),
            Inst::Splat(arg) | Inst::ToBits(arg) | Inst::FromBits(arg) => each(arg),
            Inst::Select { mask, args } => {
                each(mask);
                args.iter_mut().for_each(each);
            }
            Inst::Shuffle(s) => s.args.iter_mut().for_each(each),
            Inst::Access(a) => {
                match &mut a.window {
                    Window::Surface(v) | Window::Handle(v) | Window::Scratch(v) => each(v),
                    Window::Flat | Window::Slm | Window::State | Window::Arguments => {}
                }
                each(&mut a.mask);
                each(&mut a.address);
                let some = [a.stride.as_mut(), a.base.as_mut(), a.origin.as_mut()];
                some.into_iter().flatten().for_each(&mut *each);
                a.data.iter_mut().for_each(each);
            }
            Inst::Escape(e) => {
                each(&mut e.exec);
                e.reads.iter_mut().for_each(|h| each(&mut h.value));
            }
        }
    }

    /// What a pass may do with it.
    pub fn effect(&self) -> Effect {
        match self {
            Inst::Const(_)
            | Inst::Lanes(_)
            | Inst::Input { .. }
            | Inst::Dispatch
            | Inst::Arith { .. }
            | Inst::Exact { .. }
            | Inst::Modify { .. }
            | Inst::Cmp { .. }
            | Inst::Select { .. }
            | Inst::Convert { .. }
            | Inst::Splat(_)
            | Inst::Shuffle(_)
            | Inst::Logic { .. }
            | Inst::Vote { .. }
            | Inst::ToBits(_)
            | Inst::FromBits(_) => Effect::Pure,
            Inst::Access(a) if a.kind == AccessKind::Load => Effect::Read,
            Inst::Spend { .. } | Inst::Fence(_) | Inst::Mode(_) | Inst::Access(_) | Inst::Escape(_) => {
                Effect::Other
            }
        }
    }
}
