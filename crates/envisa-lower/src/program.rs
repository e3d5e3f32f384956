//! The lowered program: code, register file layout, inputs and facts.

use envisa_isa::{Platform, Span};

use crate::Message;
pub use crate::inst::*;
pub use crate::registers::*;

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
    /// Which dwords channels get, one number each, named by [`Inst::aux`] of [`Op::Pick`]: less than 32, all of one or two
    /// vectors as long as the instruction's.
    pub picks: Vec<Vec<u8>>,
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
    /// Instructions whose channels from one on are another instruction's of the module, in the order of the code and of
    /// their channels.
    pub upper: Vec<Upper>,
    /// Private memory, if a kernel has some in global memory.
    pub private: Option<PrivateMemory>,
}

/// Memory that each channel of a thread has for itself, in global memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PrivateMemory {
    /// Where the address of it all, 64 bits, stands in the input image.
    pub image: u32,
    /// Bytes of each channel.
    pub bytes: u32,
}

/// No code, for threads of 32 channels on the first platform with the widest registers.
impl Default for ProgramParts {
    fn default() -> ProgramParts {
        let platform = Platform::Pvc;
        ProgramParts {
            name: String::new(),
            platform,
            grf_bytes: platform.grf_bytes(),
            simd: 32,
            registers: Registers::default(),
            code: Vec::new(),
            messages: Vec::new(),
            tables: Vec::new(),
            picks: Vec::new(),
            functions: Vec::new(),
            inputs: Vec::new(),
            symbols: Vec::new(),
            has_barrier: false,
            source_files: Vec::new(),
            unsupported: Vec::new(),
            upper: Vec::new(),
            private: None,
        }
    }
}

impl ProgramParts {
    /// One function of this code, which has the name of the program.
    #[must_use]
    pub fn with_code(mut self, code: Vec<Inst>) -> ProgramParts {
        let function = Function { name: self.name.clone(), end: code.len() as Pc, ..Function::default() };
        (self.functions, self.code) = (vec![function], code);
        self
    }
}

/// Where the instruction stands that an instruction's upper channels are of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Upper {
    /// The instruction.
    pub pc: Pc,
    /// The first of these channels.
    pub channel: u8,
    /// Index in its object of the one that they are of.
    pub source: u32,
    /// Where that stands in the source.
    pub span: Span,
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
#[derive(Clone, PartialEq, Debug, Default)]
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
    pub lines: Vec<LineEntry>,
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

/// From an instruction on, what an object's instructions were compiled from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineEntry {
    /// Index of the first such instruction in its object.
    pub instruction: u32,
    /// Index in [`ProgramParts::source_files`].
    pub file: u16,
    /// Line, from 1; 0: of none.
    pub line: u32,
}
