//! Instructions with virtual registers.

use std::fmt;

use iced_x86::{Code, ConditionCode};
use regalloc2::{RegClass, VReg};

/// What kind of physical register a virtual one gets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// General registers, of 64 bits.
    General,
    /// Vector registers.
    Vector,
    /// Mask registers of AVX-512.
    Mask,
}

impl Class {
    pub(crate) fn allocator(self) -> RegClass {
        match self {
            Class::General => RegClass::Int,
            Class::Vector => RegClass::Float,
            Class::Mask => RegClass::Vector,
        }
    }
}

/// A virtual register. It is written once.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reg(pub(crate) VReg);

impl Reg {
    /// Its number in its function.
    pub(crate) fn number(self) -> usize {
        self.0.vreg()
    }
}

impl fmt::Debug for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = match self.0.class() {
            RegClass::Int => 'r',
            RegClass::Float => 'v',
            RegClass::Vector => 'k',
        };
        write!(f, "{class}{}", self.number())
    }
}

/// How much of a register an operand names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// 8 bits of a general register.
    R8,
    /// 16 bits.
    R16,
    /// 32 bits.
    R32,
    /// 64 bits.
    R64,
    /// 16 bytes of a vector register.
    X,
    /// 32 bytes.
    Y,
    /// 64 bytes.
    Z,
    /// A mask register.
    K,
}

/// Where memory is that an instruction names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// The register file.
    Registers,
    /// The context.
    Context,
    /// The pool of constants, which is in the context.
    Pool,
    /// The sites of messages.
    Sites,
    /// The thread's record.
    Record,
    /// Memory of the guest, by the pointer of the site that [`Inst::Aim`] named last. The index was compared with the
    /// site's limits.
    Guest,
}

/// A memory operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mem {
    /// What it counts from.
    pub base: Base,
    /// A register that is added: one of 64 bits, or a vector of indices.
    pub index: Option<(Reg, Size)>,
    /// What that is multiplied by: 1, 2, 4 or 8.
    pub scale: u8,
    /// Bytes that are added.
    pub plus: i32,
    /// One element for all lanes.
    pub broadcast: bool,
}

impl Mem {
    /// Bytes at a place.
    pub fn at(base: Base, plus: u32) -> Mem {
        Mem { base, index: None, scale: 1, plus: plus as i32, broadcast: false }
    }

    /// One element of it for all lanes.
    #[must_use]
    pub fn for_all(self) -> Mem {
        Mem { broadcast: true, ..self }
    }

    /// So many bytes further on.
    #[must_use]
    pub fn further(self, bytes: i32) -> Mem {
        Mem { plus: self.plus + bytes, ..self }
    }
}

/// An operand, in the order in which the CPU's manual has them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Op {
    /// There is none.
    None,
    /// A register that is written.
    Def(Reg, Size),
    /// A register that is read.
    Use(Reg, Size),
    /// A register that is read and then written: `from` is what it was, `to` what it becomes.
    Mod {
        /// Before.
        from: Reg,
        /// Afterwards.
        to: Reg,
        /// How much of it.
        size: Size,
    },
    /// Memory.
    Mem(Mem),
    /// An immediate of 8 bits.
    Imm8(u8),
    /// An immediate of 32 bits.
    Imm32(i32),
    /// An immediate of 32 bits that is extended to 64 by its sign.
    Imm64(i32),
}

/// Which lanes an instruction writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lanes {
    /// All.
    All,
    /// Those of a mask; the others stay what the operand that is written was.
    Of(Reg),
    /// Those of a mask; the others become zero.
    Zero(Reg),
    /// Those of a mask, which the instruction clears, as gathers and scatters do.
    Cleared {
        /// The mask.
        from: Reg,
        /// What is left of it.
        to: Reg,
    },
}

/// What makes zeros: without operands but for the register, which it is given as its sources.
pub(crate) const ZEROS: Code = Code::EVEX_Vpxord_xmm_k1z_xmm_xmmm128b32;

/// A block of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Block(pub(crate) u32);

/// An instruction.
#[derive(Clone, PartialEq, Debug)]
pub enum Inst {
    /// One of the CPU's.
    Plain {
        /// Its encoding.
        code: Code,
        /// Its operands.
        ops: [Op; 4],
        /// The lanes it writes.
        lanes: Lanes,
    },
    /// From here on, to the end of the block, [`Base::Guest`] is the memory of this message's site.
    Aim {
        /// The message.
        message: u32,
    },
    /// Calls the machine ([`envisa_native_layout::at::CALL`]) with this number: that of an instruction, or one with
    /// [`envisa_native_layout::MESSAGE`] or [`envisa_native_layout::HELP`]. What it looks at is in the register file, the context and
    /// the array for help. All registers are as before then, or the thread is over.
    Call {
        /// The number.
        number: u32,
    },
    /// The turn of the thread is over, at the branch of this program counter; it may be given another one.
    Expire {
        /// The branch.
        pc: u32,
    },
    /// The thread waits at a barrier and goes on behind it: in no register is anything then.
    Barrier {
        /// The instruction that it goes on at.
        next: u32,
        /// The number of the resumption.
        number: u32,
    },
    /// Goes on elsewhere.
    Jump(Block),
    /// Goes on at the first block if the flags say so, else at the second.
    Branch {
        /// What they say.
        when: ConditionCode,
        /// The blocks.
        to: [Block; 2],
    },
    /// The thread ends.
    Return,
}

impl Inst {
    /// Does it end a block?
    pub fn ends(&self) -> bool {
        matches!(self, Inst::Jump(_) | Inst::Branch { .. } | Inst::Return)
    }
}
