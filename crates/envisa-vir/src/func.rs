//! Functions: blocks of instructions on values that are defined once.

use std::fmt;

use envisa_lower::Pc;

use crate::facts::{Facts, Known};
use crate::inst::{Inst, Terminator};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident $letter:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }
    };
}

id!(
    /// A value: a parameter of a block or a result of an instruction.
    Value "v"
);
id!(
    /// A block; [`Block::ENTRY`] is where a thread starts.
    Block "b"
);
id!(
    /// An instruction.
    InstId "i"
);

impl Block {
    /// Where a thread starts. It has no parameters, and nothing branches to it.
    pub const ENTRY: Block = Block(0);
}

/// What a lane of a value holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Elem {
    /// A truth value.
    Mask,
    /// 8 bits.
    I8,
    /// 16 bits.
    I16,
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
}

impl Elem {
    /// All of them.
    pub const ALL: [Elem; 5] = [Elem::Mask, Elem::I8, Elem::I16, Elem::I32, Elem::I64];

    /// Bytes of a lane; 0 of masks.
    pub const fn bytes(self) -> u32 {
        match self {
            Elem::Mask => 0,
            Elem::I8 => 1,
            Elem::I16 => 2,
            Elem::I32 => 4,
            Elem::I64 => 8,
        }
    }

    /// Bits of a lane; 1 of masks.
    pub const fn bits(self) -> u32 {
        match self {
            Elem::Mask => 1,
            _ => 8 * self.bytes(),
        }
    }

    /// The lane of so many bytes.
    pub const fn of_bytes(bytes: u32) -> Option<Elem> {
        match bytes {
            1 => Some(Elem::I8),
            2 => Some(Elem::I16),
            4 => Some(Elem::I32),
            8 => Some(Elem::I64),
            _ => None,
        }
    }

    /// What holds an element of a vISA type.
    pub const fn of(ty: envisa_isa::Type) -> Elem {
        match ty.size() {
            1 => Elem::I8,
            2 => Elem::I16,
            4 => Elem::I32,
            _ => Elem::I64,
        }
    }

    /// All bits of a lane.
    pub const fn all(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Elem::Mask => "m",
            Elem::I8 => "i8",
            Elem::I16 => "i16",
            Elem::I32 => "i32",
            Elem::I64 => "i64",
        }
    }
}

/// Type of a value: bits in lanes. Whether the bits are a signed number, an unsigned one or a float is what operations
/// say of them, so nothing is needed to read a dword as a float.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Type {
    /// What a lane holds.
    pub elem: Elem,
    /// Lanes: 1, 2, 4, 8, 16 or 32. A value of one lane is uniform: a general register's, or a truth.
    pub lanes: u8,
}

impl Type {
    /// Of these lanes.
    pub const fn new(elem: Elem, lanes: u32) -> Type {
        Type { elem, lanes: lanes as u8 }
    }

    /// A mask of so many lanes.
    pub const fn mask(lanes: u32) -> Type {
        Type::new(Elem::Mask, lanes)
    }

    /// Bytes of all lanes; 0 of masks.
    pub const fn bytes(self) -> u32 {
        self.elem.bytes() * self.lanes as u32
    }

    /// Is it a mask?
    pub const fn is_mask(self) -> bool {
        matches!(self.elem, Elem::Mask)
    }

    /// The same lanes of another element.
    #[must_use]
    pub const fn of(self, elem: Elem) -> Type {
        Type { elem, lanes: self.lanes }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.elem.name(), self.lanes)
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Def {
    /// Parameter of a block, and which.
    Param(Block, u32),
    /// Result of an instruction, and which.
    Result(InstId, u32),
    /// Nothing any more: a parameter or an instruction that a pass took away.
    Gone,
}

/// A value's type and where it comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Where it comes from.
    pub def: Def,
}

/// What an instruction was made of: an instruction of the program, and its channels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Origin {
    /// The program counter.
    pub pc: Pc,
    /// First channel that lane 0 is of.
    pub first: u8,
}

/// An instruction, its results and its origin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstData {
    /// What it does.
    pub inst: Inst,
    /// The first result; the others follow it.
    pub first: Value,
    /// How many results.
    pub results: u32,
    /// What it was made of.
    pub origin: Origin,
}

/// A block: parameters, instructions, and where it goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockData {
    /// Parameters.
    pub params: Vec<Value>,
    /// Instructions in order.
    pub insts: Vec<InstId>,
    /// Where it goes.
    pub end: Terminator,
    /// The instruction of the program that it begins with.
    pub pc: Pc,
}

/// A function: one launch variant of one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Func {
    /// The kernel's name.
    pub name: String,
    /// Channels of a thread: 8, 16 or 32.
    pub simd: u32,
    /// Bytes of the register file that it is of.
    pub register_bytes: u32,
    /// What the launch says of registers that threads start with: local ids, sizes.
    pub known: Vec<Known>,
    pub(crate) blocks: Vec<BlockData>,
    pub(crate) insts: Vec<InstData>,
    pub(crate) values: Vec<ValueData>,
    /// What is known of each value, once worked out.
    pub(crate) facts: Vec<Facts>,
}

impl Func {
    /// One block, which returns.
    pub fn new(name: &str, simd: u32) -> Func {
        let entry = BlockData { params: Vec::new(), insts: Vec::new(), end: Terminator::Return, pc: 0 };
        Func {
            name: name.into(),
            simd,
            register_bytes: 0,
            known: Vec::new(),
            blocks: vec![entry],
            insts: Vec::new(),
            values: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// All blocks, those that nothing leads to too.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = Block> + use<> {
        (0..self.blocks.len() as u32).map(Block)
    }

    /// A block.
    pub fn block(&self, b: Block) -> &BlockData {
        &self.blocks[b.index()]
    }

    /// A block, to change it.
    pub fn block_mut(&mut self, b: Block) -> &mut BlockData {
        &mut self.blocks[b.index()]
    }

    /// An instruction.
    pub fn inst(&self, i: InstId) -> &InstData {
        &self.insts[i.index()]
    }

    /// An instruction, to change it in place; its results stay what they are.
    pub fn inst_mut(&mut self, i: InstId) -> &mut Inst {
        &mut self.insts[i.index()].inst
    }

    /// The results of an instruction.
    pub fn results(&self, i: InstId) -> impl ExactSizeIterator<Item = Value> + use<> {
        let d = &self.insts[i.index()];
        (d.first.0..d.first.0 + d.results).map(Value)
    }

    /// How many values there are; [`Value`]s are below.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// How many instructions there are, those that are in no block any more too; [`InstId`]s are below.
    pub fn inst_count(&self) -> usize {
        self.insts.len()
    }

    /// Type of a value.
    pub fn ty(&self, v: Value) -> Type {
        self.values[v.index()].ty
    }

    /// Where a value comes from.
    pub fn def(&self, v: Value) -> Def {
        self.values[v.index()].def
    }

    /// The instruction that a value is the result of, if it is one's.
    pub fn def_inst(&self, v: Value) -> Option<&Inst> {
        match self.def(v) {
            Def::Result(i, _) => Some(&self.insts[i.index()].inst),
            Def::Param(..) | Def::Gone => None,
        }
    }

    /// What is known of a value: nothing, where facts were not worked out since the function changed.
    pub fn facts(&self, v: Value) -> Facts {
        self.facts.get(v.index()).copied().unwrap_or_default()
    }

    /// The number in all lanes of a value, if it is a constant.
    pub fn constant(&self, v: Value) -> Option<u64> {
        match self.def_inst(v) {
            Some(Inst::Const(bits)) => Some(*bits),
            _ => None,
        }
    }

    /// A block that returns, without parameters and instructions.
    pub fn add_block(&mut self, pc: Pc) -> Block {
        let end = Terminator::Return;
        self.blocks.push(BlockData { params: Vec::new(), insts: Vec::new(), end, pc });
        Block(self.blocks.len() as u32 - 1)
    }

    /// One more parameter of a block. Whoever leads there has to hand one more value on.
    pub fn add_param(&mut self, b: Block, ty: Type) -> Value {
        let v = Value(self.values.len() as u32);
        let params = &mut self.blocks[b.index()].params;
        self.values.push(ValueData { ty, def: Def::Param(b, params.len() as u32) });
        params.push(v);
        v
    }

    /// An instruction that is in no block yet, with results of these types.
    pub fn make(&mut self, inst: Inst, types: &[Type], origin: Origin) -> InstId {
        let id = InstId(self.insts.len() as u32);
        let first = Value(self.values.len() as u32);
        for (k, ty) in types.iter().enumerate() {
            self.values.push(ValueData { ty: *ty, def: Def::Result(id, k as u32) });
        }
        self.insts.push(InstData { inst, first, results: types.len() as u32, origin });
        id
    }

    /// One more instruction at the end of a block.
    pub fn push(&mut self, b: Block, inst: Inst, types: &[Type], origin: Origin) -> InstId {
        let id = self.make(inst, types, origin);
        self.blocks[b.index()].insts.push(id);
        id
    }

    /// One more instruction with one result, which is given.
    pub fn push1(&mut self, b: Block, inst: Inst, ty: Type, origin: Origin) -> Value {
        let id = self.push(b, inst, &[ty], origin);
        self.insts[id.index()].first
    }
}
