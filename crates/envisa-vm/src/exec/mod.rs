//! The interpreter: decoded instructions, each with its handler.

mod alu;
mod control;
mod decode;
mod level;
mod moves;
mod operand;
mod ops;
mod parts;
mod special;
#[cfg(test)]
mod tests;

pub(crate) use decode::check;
pub(crate) use level::Kernel;
#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) use level::isas;
pub use level::{Handler, Isa, Level};

use envisa_lower::Program;

use crate::thread::{Machine, Mask, Status};

/// A program counter that stops the loop.
pub const STOP: u32 = u32::MAX;

/// How a source is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum SrcKind {
    /// Consecutive elements of the channels' own type.
    Contiguous,
    /// One element of the channels' own type.
    Scalar,
    /// Consecutive elements of the channels' own type, with a modifier.
    Modified,
    /// Anything else: read through the program's description.
    #[default]
    General,
}

/// A decoded source.
#[derive(Clone, Copy, Debug, Default)]
pub struct SrcCell {
    offset: u32,
    kind: SrcKind,
    modifier: envisa_sem::Modifier,
}

/// A decoded instruction, one cache line.
pub struct Cell {
    run: Handler,
    /// All channels of the instruction.
    full: Mask,
    /// Offset of the predicate's bits; 0 for none.
    pred: u32,
    src: [SrcCell; 3],
    dst: u32,
    aux: u32,
    channels: u8,
    first: u8,
    /// All ones if the execution mask is ignored.
    always: Mask,
    /// Predicate: bit 0 any, bit 1 all, bit 2 inverted.
    combine: u8,
    /// The destination is consecutive elements of the channels' own type.
    dst_plain: bool,
    /// A compare that executes the branch behind it, too.
    fused: bool,
}

impl Cell {
    /// The instruction's number: for messages, which.
    #[inline(always)]
    pub(crate) fn aux(&self) -> u32 {
        self.aux
    }

    /// Number of channels.
    #[inline(always)]
    pub(crate) fn channels(&self) -> u32 {
        self.channels as u32
    }

    /// First channel.
    #[inline(always)]
    pub(crate) fn first(&self) -> u32 {
        self.first as u32
    }
}

/// A program's instructions, decoded for one level.
pub struct Code {
    cells: Vec<Cell>,
    /// Handlers of instructions that something else wraps, by program counter.
    inner: Vec<Option<Handler>>,
    /// What fast code knows of messages, by message.
    plans: Vec<crate::messages::Fast>,
    /// What does an instruction where `%cr0` flushes denormals, by program counter.
    flushing: Vec<Option<Handler>>,
    /// Instructions done in several steps.
    parts: Vec<parts::Parts>,
}

impl Code {
    /// Decodes a program that [`check`] passes; `observed`: every instruction has a turn of its own.
    pub(crate) fn new(program: &Program, level: Level, observed: bool) -> Code {
        decode::decode(program, level, observed)
    }

    /// What the fast code of messages wants to know of them, by message.
    #[inline(always)]
    pub(crate) fn plans(&self) -> &[crate::messages::Fast] {
        &self.plans
    }
}

/// Channels an instruction runs: execution mask and predicate.
#[inline(always)]
pub(crate) fn exec_mask(m: &Machine<'_>, c: &Cell) -> Mask {
    let active = active(m, c);
    if c.pred == 0 { active } else { active & pred_mask(m, c) }
}

/// Channels of the execution mask, aligned to the instruction's.
#[inline(always)]
pub(crate) fn active(m: &Machine<'_>, c: &Cell) -> Mask {
    (m.t.mask >> c.first | c.always) & c.full
}

/// The predicate's channels, aligned to the instruction's.
#[inline(always)]
pub(crate) fn pred_mask(m: &Machine<'_>, c: &Cell) -> Mask {
    let bits = (m.t.regs.get::<u32>(c.pred) >> c.first) & c.full;
    let bits = match c.combine & 3 {
        0 => bits,
        1 => {
            if bits != 0 {
                u32::MAX
            } else {
                0
            }
        }
        _ => {
            if bits == c.full {
                u32::MAX
            } else {
                0
            }
        }
    };
    if c.combine & 4 != 0 { !bits } else { bits }
}

/// Runs a thread until it ends, waits or faults.
pub fn run(m: &mut Machine<'_>) {
    let mut pc = m.t.pc;
    m.t.status = Status::Ready;
    let code = m.env.code;
    while let Some(cell) = code.cells.get(pc as usize) {
        pc = level::call(cell.run, m, cell, pc);
    }
    // `STOP` was returned by whoever set the status; any other value is past the end of the code.
    if m.t.status == Status::Ready {
        m.fault(pc.min(code.cells.len() as u32), None, crate::trap::Cause::FellOff);
    }
}

/// Runs a thread, telling an observer of each instruction.
pub fn run_observed<O: crate::observer::Observer>(m: &mut Machine<'_>, o: &mut O) {
    let mut pc = m.t.pc;
    m.t.status = Status::Ready;
    let code = m.env.code;
    while let Some(cell) = code.cells.get(pc as usize) {
        // The predicate of `sel` picks a source; all active channels run.
        let mask = match m.env.program.code.get(pc as usize) {
            Some(i) if i.op == envisa_lower::Op::Sel => active(m, cell),
            _ => exec_mask(m, cell),
        };
        o.before(m, pc, mask);
        m.accesses.clear();
        let next = level::call(cell.run, m, cell, pc);
        o.after(m, pc, mask, next);
        pc = next;
    }
    if m.t.status == Status::Ready {
        m.fault(pc.min(code.cells.len() as u32), None, crate::trap::Cause::FellOff);
    }
}
