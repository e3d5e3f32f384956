//! Programs as trees.

use crate::num::T;

/// A kernel with the functions and subroutines that it calls, what it is given, and where it runs.
#[derive(Clone, Debug)]
pub struct Program {
    /// The device.
    pub device: Device,
    /// Channels of the thread: 8, 16 or 32.
    pub simd: usize,
    /// Is it as compilers for devices write it whose instructions have at most 16 channels: is each of 32 two of 16, on
    /// registers of their own? Variables that are not scalars are apart then, and are accessed channel by channel.
    pub halves: bool,
    /// Does it have shuffles?
    pub shuffles: bool,
    /// `%cr0` at the start.
    pub cr0: u32,
    /// Work-items of a group in x, y and z, where the program is launched as a range of them: channels have local
    /// ids then. Else a group is a thread.
    pub local: Option<[usize; 3]>,
    /// How many groups run, one after the other.
    pub groups: usize,
    /// The kernel's variables, and what they hold at the start.
    pub vars: Vec<Var>,
    /// Predicates, and what they hold at the start.
    pub preds: Vec<u32>,
    /// The kernel's code.
    pub body: Vec<Stmt>,
    /// Subroutines of the kernel; each calls only later ones.
    pub subs: Vec<Vec<Stmt>>,
    /// Functions; each calls only later ones.
    pub functions: Vec<Function>,
    /// In which order the functions stand in the text.
    pub order: Vec<usize>,
    /// Content of the buffer that messages read and write.
    pub data: Vec<u8>,
}

impl Program {
    /// Threads of a group.
    pub fn threads(&self) -> usize {
        self.local.map_or(1, |l| l.iter().product::<usize>().div_ceil(self.simd))
    }

    /// The channels that a thread of a group starts with: the last one may lack some.
    pub fn mask(&self, thread: usize) -> u32 {
        let items = self.local.map_or(self.simd, |l| l.iter().product());
        let n = (items - thread * self.simd).min(self.simd);
        (u64::MAX >> (64 - n)) as u32
    }

    /// Local ids of a dimension in a thread, by channel; channels that are off have zeros.
    pub fn ids(&self, thread: usize, dimension: usize) -> Vec<u64> {
        let local = self.local.unwrap_or([1; 3]);
        let before: usize = local[..dimension].iter().product();
        let id = |c: usize| ((thread * self.simd + c) / before % local[dimension]) as u64;
        (0..ELEMENTS).map(|c| if self.mask(thread) >> c & 1 != 0 { id(c) } else { 0 }).collect()
    }

    /// Bytes of the local ids of one dimension: those of the thread's channels, in whole registers.
    pub fn local_id_bytes(&self) -> usize {
        (2 * self.simd).next_multiple_of(self.device.grf)
    }
}

/// A device, as far as programs differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Device {
    /// Its name for the command line.
    pub name: &'static str,
    /// Bytes of a register.
    pub grf: usize,
    /// Are there 64-bit types?
    pub quads: bool,
    /// Are there messages of the LSC (else of the data port)?
    pub lsc: bool,
    /// Are there `add3`, `bfn`?
    pub xehp: bool,
    /// Are there `rol`, `ror`, `dp4a`?
    pub gen12: bool,
}

impl Device {
    /// Are there split barriers?
    pub fn split_barriers(self) -> bool {
        self.xehp
    }

    /// Are there named barriers?
    pub fn named_barriers(self) -> bool {
        self.grf == 64
    }
}

/// The devices that programs are made for.
pub const DEVICES: [Device; 4] = [
    Device { name: "SKL", grf: 32, quads: true, lsc: false, xehp: false, gen12: false },
    Device { name: "TGLLP", grf: 32, quads: false, lsc: false, xehp: false, gen12: true },
    Device { name: "DG2", grf: 32, quads: false, lsc: true, xehp: true, gen12: true },
    Device { name: "PVC", grf: 64, quads: true, lsc: true, xehp: true, gen12: true },
];

/// Channels of each half of a program that has halves.
pub const HALF: usize = 16;

/// Elements of a variable, at most.
pub const ELEMENTS: usize = 32;

/// Bytes of shared local memory of a group.
pub const SLM: usize = 2048;

/// A variable.
#[derive(Clone, PartialEq, Debug)]
pub struct Var {
    /// Type of its elements.
    pub ty: T,
    /// What they hold at the start: [`ELEMENTS`] of them, of one that is not in the image as many as the thread has
    /// channels, or one.
    pub init: Vec<u64>,
    /// Where it is.
    pub home: Home,
}

/// Where a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// Part of the one variable that the launch gives whole, and that is dumped whole.
    Image,
    /// A register of its own; the program moves it there from the image when it starts, and back at its end, channel
    /// by channel.
    Apart,
    /// The same, but the launch puts the first bytes of it there; the rest is zero.
    Given(usize),
}

/// A function called by the convention of the stack: it takes [`ARGUMENTS`] vectors of dwords in `%arg`, and
/// gives one in `%retval`.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its own variables, all of them `ud` or `uq`.
    pub vars: Vec<T>,
    /// Its code.
    pub body: Vec<Stmt>,
}

/// Vectors of 32 dwords that a function is given.
pub const ARGUMENTS: usize = 2;

/// A variable of the object that an operand stands in, or a shared one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A variable of the object.
    Own(usize),
    /// The dwords of a variable of quads, which has a register of its own.
    Dwords(usize),
    /// The vector of this number in `%arg`.
    Arg(usize),
    /// The vector in `%retval`.
    Retval,
    /// The words that a launch of work-items has the local ids of this dimension in.
    Id(usize),
}

/// Part of the execution mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exec {
    /// Channels.
    pub n: usize,
    /// First channel, a multiple of 4.
    pub first: usize,
    /// The mask is ignored.
    pub no_mask: bool,
}

/// Predication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    /// The predicate.
    pub pred: usize,
    /// `!`.
    pub invert: bool,
    /// 0: by channel, 1: `.any`, 2: `.all`.
    pub combine: u8,
}

/// A source modifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Mod {
    None,
    Neg,
    Abs,
    NegAbs,
    Not,
}

/// A source.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Src {
    /// Elements of a variable from this one on, by a region `<vertical;width,horizontal>`.
    #[allow(missing_docs)]
    Region { place: Place, element: usize, region: (usize, usize, usize), modifier: Mod },
    /// An immediate.
    #[allow(missing_docs)]
    Imm { ty: T, bits: u64 },
    /// The scalar that holds the address of the buffer.
    Base,
    /// An immediate of eight nibbles, which are words, one after the other for the channels.
    #[allow(missing_docs)]
    Eight { signed: bool, bits: u32 },
    /// A predicate: of logic, each channel's bit; of `mov` to a scalar, all bits.
    Pred(usize),
}

/// A destination.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Dst {
    /// Elements of a variable from this one on, this many apart.
    #[allow(missing_docs)]
    Elements { place: Place, element: usize, stride: usize, sat: bool },
    /// A predicate.
    Pred(usize),
}

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Op {
    Mov,
    Sel,
    /// Sets a predicate's bits of its channels: to those of a scalar, whatever the mask, or to the lowest of each channel's
    /// number.
    Setp,
    /// The relation, in the order `eq ne gt ge lt le`.
    Cmp(u8),
    Add,
    Add3,
    Mul,
    Mad,
    Mulh,
    Avg,
    Min,
    Max,
    Div,
    Mod,
    And,
    Or,
    Xor,
    Not,
    Shl,
    Shr,
    Asr,
    Rol,
    Ror,
    /// The truth table.
    Bfn(u8),
    Bfe,
    Bfi,
    Bfrev,
    Cbit,
    Fbh,
    Fbl,
    Lzd,
    Dp4a,
    Rndd,
    Rndu,
    Rnde,
    Rndz,
    Divm,
    Sqrtm,
    /// The second destination takes the carry.
    Addc,
    /// The second destination takes the borrow.
    Subb,
}

/// An instruction that computes channel by channel.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Inst {
    pub op: Op,
    pub exec: Exec,
    pub guard: Option<Guard>,
    pub dst: Dst,
    /// Carry or borrow: contiguous dwords.
    pub second: Option<(usize, usize)>,
    pub srcs: Vec<Src>,
}

/// How a message's addresses are given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addressing {
    /// Offsets of 32 bits into the surface of the buffer.
    Surface,
    /// 64-bit addresses.
    Flat,
    /// Offsets of 32 bits into shared local memory.
    Slm,
}

/// A gather or scatter of dwords.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Access {
    pub write: bool,
    pub how: Addressing,
    pub exec: Exec,
    pub guard: Option<Guard>,
    /// A variable of `ud`, or for flat addresses of `uq`, from its first element on.
    pub address: usize,
    /// Added to each address.
    pub offset: i32,
    /// A variable of `ud`, `d` or `f`, from its first element on.
    pub data: usize,
}

/// How threads of a group wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Barrier {
    Whole,
    Split,
    Named,
}

/// Which part of a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Half {
    Signal,
    Wait,
    Both,
}

/// Each channel takes an element of a vector of dwords that it finds by an address of its own, as compilers have
/// shuffles between neighbours.
#[derive(Clone, PartialEq, Debug)]
pub struct Shuffle {
    /// As for instructions; of 16 channels at most, as there are so many address registers.
    pub exec: Exec,
    /// Of the move alone.
    pub guard: Option<Guard>,
    /// The variable that is written, for the channels' own elements.
    pub to: usize,
    /// The one that is looked into.
    pub from: usize,
    /// Where a channel looks.
    pub lanes: Lanes,
}

/// Where a channel looks, by its number: the number of channels is a power of two, and what is beyond begins anew.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lanes {
    /// The exclusive or of its number and this one.
    Xor(u32),
    /// So much further.
    Further(u32),
    /// So many times its number.
    Times(u32),
    /// What it has in a variable.
    Own(usize),
}

impl Lanes {
    /// The channel that one looks at; `own` is what the variable has for it.
    pub fn of(self, channel: usize, simd: usize, own: u64) -> usize {
        let channel = channel as u32;
        let at = match self {
            Lanes::Xor(x) => channel ^ x,
            Lanes::Further(n) => channel.wrapping_add(n),
            Lanes::Times(n) => channel.wrapping_mul(n),
            Lanes::Own(_) => own as u32,
        };
        at as usize & (simd - 1)
    }
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    /// An instruction.
    Inst(Inst),
    /// A message.
    Access(Access),
    /// A shuffle.
    Shuffle(Shuffle),
    /// The channels of a predicate run the first block, the others the second.
    #[allow(missing_docs)]
    If { pred: usize, invert: bool, then: Vec<Stmt>, other: Vec<Stmt> },
    /// The block runs, and again for the channels whose counter, a variable of `d` that the loop sets to zero
    /// and counts, is below that channel's bits 0 and 1 of another.
    #[allow(missing_docs)]
    Loop { counter: usize, limit: usize, pred: usize, body: Vec<Stmt> },
    /// Those channels leave this many enclosing blocks, to behind them.
    #[allow(missing_docs)]
    Leave { pred: usize, invert: bool, blocks: usize },
    /// Calls a subroutine of the kernel.
    #[allow(missing_docs)]
    Call { sub: usize, guard: Option<Guard> },
    /// Calls a function, by its name or its address.
    #[allow(missing_docs)]
    Fcall { function: usize, by_address: bool },
    /// Writes `%cr0`: the floating-point mode of the thread, whatever channels are there.
    Mode(u32),
    /// The thread is at a barrier, whatever channels are there: every thread of the group comes there as often.
    Barrier(Barrier, Half),
}
