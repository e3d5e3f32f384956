//! The interpreter: a program's instructions, decoded, each with its handler.

mod alu;
mod control;
mod cpu_level;
mod decode;
mod lane_operations;
mod math_unit;
mod messages;
mod moves;
mod operand;
mod operand_parts;
mod picks;
mod predicates;
mod registers;
mod run;
mod special_forms;
mod wide_integers;

pub use run::{
    Executable, Job, TranslationBenefit, run, run_if_translated, run_observed, run_translated,
    unsupported_parts,
};

use std::ops::Deref;

use crate::registers::Operands;
use envisa_lower::Program;
use envisa_machine::cpu::Level;
use envisa_machine::interest::Tell;
use envisa_machine::observer::Observer;
use envisa_machine::thread::{Machine, Mask, Status};
use envisa_machine::trap::Cause;

use crate::cpu_level::Handler;

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
    program: Program,
    /// Bytes of its register file.
    file: u32,
    cells: Vec<Cell>,
    /// Handlers of instructions that something else wraps, by program counter.
    inner: Vec<Option<Handler>>,
    /// What fast code knows of messages, by message.
    plans: Vec<messages::Fast>,
    /// Instructions done in several steps.
    parts: Vec<operand_parts::Parts>,
}

/// Vectors behind the register file that [`parts`] keeps intermediate results in.
const SPARE_OF_PARTS: u32 = 6;

impl Code {
    /// Decodes a program; `observed`: every instruction has a turn of its own.
    pub fn new(program: &Program, level: Level, observed: bool) -> Code {
        decode::decode(program, level, observed)
    }

    /// The same by general code, which goes by the description of each instruction: vector code is held against it.
    #[doc(hidden)]
    pub fn with_general_handlers(program: &Program, level: Level) -> Code {
        let code = program.code();
        Code {
            program: program.clone(),
            file: program.registers().bytes,
            cells: code.iter().map(|i| decode::general_cell(level, i, program)).collect(),
            inner: vec![None; code.len()],
            parts: Vec::new(),
            plans: messages::plan_messages(program),
        }
    }

    /// Executes one instruction; gives the next one's program counter.
    ///
    /// # Panics
    /// If the program has no such instruction, or the thread's registers are not as many as the program's.
    #[doc(hidden)]
    pub fn execute_one(&self, m: &mut Machine<'_>, pc: u32) -> u32 {
        assert_eq!(m.t.regs.len(), self.file);
        let cell = &self.cells[pc as usize];
        cpu_level::call(cell.run, m, At { cell, code: self }, pc)
    }

    /// Does other code do an instruction by another handler?
    #[doc(hidden)]
    pub fn uses_other_handler(&self, other: &Code, pc: u32) -> bool {
        let handler = |c: &Code| c.cells.get(pc as usize).map(|c| c.run as usize);
        handler(self) != handler(other)
    }

    /// Where handlers make source `i` a plain vector.
    #[inline(always)]
    pub(crate) fn scratch_vector(&self, i: u32) -> u32 {
        self.file + 256 * (SPARE_OF_PARTS + i)
    }

    /// What the fast code of messages wants to know of them, by message.
    #[inline(always)]
    pub(crate) fn plans(&self) -> &[messages::Fast] {
        &self.plans
    }
}

/// A decoded instruction, with the program that it is of.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    cell: &'a Cell,
    code: &'a Code,
}

impl Deref for At<'_> {
    type Target = Cell;

    #[inline(always)]
    fn deref(&self) -> &Cell {
        self.cell
    }
}

/// Channels an instruction runs: execution mask and predicate.
#[inline(always)]
pub(crate) fn exec_mask(m: &Machine<'_>, c: At<'_>) -> Mask {
    let active = active_channels(m, c);
    if c.pred == 0 { active } else { active & pred_mask(m, c) }
}

/// Channels of the execution mask, aligned to the instruction's.
#[inline(always)]
pub(crate) fn active_channels(m: &Machine<'_>, c: At<'_>) -> Mask {
    (m.t.mask >> c.first | c.always) & c.full
}

/// The predicate's channels, aligned to the instruction's.
#[inline(always)]
pub(crate) fn pred_mask(m: &Machine<'_>, c: At<'_>) -> Mask {
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

impl Code {
    /// What handlers rely on, as they access registers by offsets that were checked for this program.
    ///
    /// # Panics
    /// If the machine is not one of this program.
    #[inline(always)]
    fn admit(&self, m: &Machine<'_>) {
        let same = m.env.program.is(&self.program) && m.t.regs.len() >= self.file;
        assert!(same, "the machine is one of another program");
    }

    /// Runs a thread until it ends, waits or faults. `m` is a machine for the program that this is the code of.
    #[inline(always)]
    pub(crate) fn run(&self, m: &mut Machine<'_>) {
        self.admit(m);
        let mut pc = m.t.pc;
        m.t.status = Status::Ready;
        while let Some(cell) = self.cells.get(pc as usize) {
            pc = cpu_level::call(cell.run, m, At { cell, code: self }, pc);
        }
        // `STOP` was returned by whoever set the status; any other value is past the end of the code.
        if m.t.status == Status::Ready {
            m.fault(pc.min(self.cells.len() as u32), None, Cause::FellOff);
        }
    }

    /// Runs a thread, telling an observer of each instruction.
    pub(crate) fn run_observed<O: Observer>(&self, m: &mut Machine<'_>, o: &mut O) {
        self.admit(m);
        let mut pc = m.t.pc;
        m.t.status = Status::Ready;
        let interest = m.env.interest.get();
        let mut all = o.wants_all(m.t.index);
        while let Some(cell) = self.cells.get(pc as usize) {
            let tell = match interest {
                Some(interest) if !all => interest.of(pc),
                _ => Tell::Always,
            };
            if self.one_observed(m, o, (pc, cell), tell, &mut pc) {
                all = o.wants_all(m.t.index);
            }
        }
        if m.t.status == Status::Ready {
            m.fault(pc.min(self.cells.len() as u32), None, Cause::FellOff);
        }
    }

    /// Executes one instruction, telling an observer of it as it wants that; whether it was told. `next`: where the thread
    /// goes on.
    #[inline(always)]
    fn one_observed<O: Observer>(
        &self,
        m: &mut Machine<'_>,
        o: &mut O,
        (pc, cell): (u32, &Cell),
        tell: Tell,
        next: &mut u32,
    ) -> bool {
        let at = At { cell, code: self };
        if tell == Tell::Never {
            *next = cpu_level::call(cell.run, m, at, pc);
            return false;
        }
        // The predicate of `sel` picks a source; all active channels run.
        let mask = match m.env.program.code().get(pc as usize) {
            Some(i) if i.op == envisa_lower::Op::Sel => active_channels(m, at),
            _ => exec_mask(m, at),
        };
        m.accesses.clear();
        m.t.stores_told = tell == Tell::Always;
        if tell != Tell::Always {
            *next = cpu_level::call(cell.run, m, at, pc);
            let told = !m.accesses.is_empty();
            if told {
                o.accessed(m, pc, mask, *next);
            }
            return told;
        }
        if o.passes(m, pc, mask) {
            m.t.untold = true;
            *next = cpu_level::call(cell.run, m, at, pc);
            m.t.untold = false;
            return false;
        }
        o.before(m, pc, mask);
        *next = cpu_level::call(cell.run, m, at, pc);
        o.after(m, pc, mask, *next);
        true
    }
}
