//! The back end of native code: from the vector IR to x86-64 instructions.
//!
//! ```text
//! Func ─► select ─► sweep ─► allocate ─► emit ─► frame ─► instructions for an encoder
//! ```
//!
//! - **select** makes instructions with virtual registers of an [`envisa_vir::Func`]: vectors in parts of a register's
//!   size, masks in pieces of sixteen lanes, values of one lane in general registers; of vectors whose lanes lie at a
//!   step the first lane beside them, which is what addresses of rows are made of. Accesses are held against their
//!   message's site ([`envisa_native_layout::Site`]); what does not pass goes, out of line, to the machine, with its operands in the
//!   registers of the message. What has no code is computed lane by lane by the machine ([`Help`]).
//! - **sweep** leaves out what nobody uses.
//! - **allocate** gives registers, by `regalloc2`; debug builds hold what that did against its checker.
//! - **emit** and **frame** write it down: the code of the function, and what is around it (how threads start, end, wait
//!   and are given turns, and the routine that calls the machine).
//!
//! Code finds the register file, the context, sites and records where [`envisa_native_layout`] says, which it shares with the engine.
#![cfg(target_arch = "x86_64")]

mod allocate;
mod emit;
mod frame;
mod function;
mod inst;
mod listing;
mod ops;
mod select;
mod sweep;
mod target;

use envisa_lower::{Pc, Program, RegOffset};
use envisa_vir::Func;
use iced_x86::Instruction;

pub use frame::{Brought, Threads, Value, Write};
pub use select::{Help, Unsupported};
pub use target::Target;

/// Code of a function, and what it needs to run.
pub struct Compiled {
    /// Instructions. Labels are numbers from 1 on: that of an instruction is its address, 0 where it has none; branches
    /// and addresses relative to `rip` name them.
    pub code: Vec<Instruction>,
    /// Where in these those of the function itself are.
    pub body: std::ops::Range<usize>,
    /// Bytes of a record that registers are spilled to.
    pub spilled: u32,
    /// Dwords of the pool, which is in the context from [`envisa_native_layout::at::POOL`] on.
    pub pool: Vec<u32>,
    /// Bytes of a context.
    pub context: u32,
    /// Bytes of a thread's record; the one of a thread that runs by itself is at the end of the context.
    pub record: u32,
    /// Bytes of a row's image that go into the context.
    pub image: Vec<Brought>,
    /// Where threads that wait go on, and the number of that in the context and records.
    pub resumptions: Vec<(Pc, u32)>,
    /// What the machine computes, by number.
    pub help: Vec<Help>,
    /// Instructions of the program that the machine executes each time, and why.
    pub left: Vec<(Pc, Unsupported)>,
}

impl Compiled {
    /// The function's own instructions as text, with what is left to the machine.
    pub fn listing(&self) -> String {
        listing::listing(self)
    }
}

/// What code is made of and for.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// The program.
    pub program: &'a Program,
    /// A function of it, with facts.
    pub func: &'a Func,
    /// What it is for.
    pub target: Target,
    /// How its threads come to it.
    pub threads: Threads<'a>,
    /// Bytes of the register file that hold `%cr0`.
    pub cr0: RegOffset,
}

/// Compiles a function.
///
/// # Errors
/// What has no code; or a mistake of this compiler.
pub fn compile(given: &Given<'_>) -> Result<Compiled, String> {
    let selected = select::select_instructions(given).map_err(str::to_owned)?;
    let mut f = selected.function;
    sweep::remove_dead_code(&mut f);
    f.split_edges();
    f.order();
    let view = allocate::View::new(&f, given.target);
    let out = view.allocate(given.target)?;
    let body = emit::emit_function(&f, &view, &out, given.target)?;
    let pool = f.pool.clone();
    frame::frame_function(given, body, pool, selected.help, selected.left, selected.resumptions)
}
