//! Programs that were checked: what the machine and its engines rely on when they access registers without looking.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use envisa_lower::{Dst, Inst, Op, Program, RegOffset, Src};

use crate::regs::Registers;

/// Most bytes that a register file may have: far more than any device's and its spare copies.
const MAX_FILE: u32 = 1 << 28;
/// Bytes of a predefined variable that the machine writes or reads by itself.
const PREDEFINED: u64 = 64;

/// A program that passed the check of [`CheckedProgram::new`], the only way to make one. Cheap to clone.
///
/// Its instructions' operands lie inside of its register file, vectors of them with as much behind them as handlers
/// load at once (32 elements); so do the predefined variables and everything that address registers can name. The
/// messages, jump tables, functions and reasons that instructions name exist. What messages touch is inside as well,
/// or they are never executed ([`check`](crate::messages::check)).
#[derive(Clone, Debug)]
pub struct CheckedProgram(Arc<Program>);

/// Why a program is not run: lowering makes no such program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadProgram(String);

impl fmt::Display for BadProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the program is damaged: {}", self.0)
    }
}

impl std::error::Error for BadProgram {}

impl Deref for CheckedProgram {
    type Target = Program;

    #[inline(always)]
    fn deref(&self) -> &Program {
        &self.0
    }
}

impl CheckedProgram {
    /// Checks a program.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(program: Program) -> Result<CheckedProgram, BadProgram> {
        file(&program).map_err(BadProgram)?;
        for i in &program.code {
            operands(i, program.registers.bytes)
                .and_then(|()| names(i, &program))
                .map_err(|e| BadProgram(format!("instruction {} ({:?}): {e}", i.source, i.op)))?;
        }
        Ok(CheckedProgram(Arc::new(program)))
    }

    /// Are the two one program, not only alike?
    #[inline(always)]
    pub fn is(&self, other: &CheckedProgram) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Bytes of the register file of its threads.
    pub fn file_bytes(&self) -> u32 {
        Registers::size(self.registers.bytes)
    }
}

/// The register file, and who lives where in it.
fn file(p: &Program) -> Result<(), String> {
    let r = &p.registers;
    let inside = |start: RegOffset, bytes: u64| u64::from(start) + bytes <= u64::from(r.bytes);
    let range = |what: &str, range: &std::ops::Range<RegOffset>| {
        if range.start <= range.end && range.end <= r.bytes {
            return Ok(());
        }
        Err(format!(
            "{what} ({} to {}) is outside of the register file of {} bytes",
            range.start, range.end, r.bytes
        ))
    };
    if r.bytes > MAX_FILE {
        return Err(format!("a register file of {} bytes: at most {MAX_FILE}", r.bytes));
    }
    if !matches!(p.simd, 1 | 2 | 4 | 8 | 16 | 32) {
        return Err(format!("threads of {} channels", p.simd));
    }
    if !matches!(p.grf_bytes, 32 | 64) {
        return Err(format!("registers of {} bytes", p.grf_bytes));
    }
    if !inside(0, r.constants.len() as u64) {
        return Err(format!("{} bytes of immediates in a register file of {}", r.constants.len(), r.bytes));
    }
    if let Some((id, at)) = r.predefined.iter().enumerate().find(|(_, at)| !inside(**at, PREDEFINED)) {
        return Err(format!(
            "predefined variable {id} is at {at}, outside of the register file of {} bytes",
            r.bytes
        ));
    }
    for (start, end) in &r.address_homes {
        if start > end || !inside(r.address_base, u64::from(*end)) {
            return Err(format!("register addresses {start} to {end} are outside of the register file"));
        }
    }
    if r.fresh.windows(2).any(|w| w[0].end > w[1].start) {
        return Err("ranges to be cleared overlap".into());
    }
    r.fresh.iter().try_for_each(|f| range("a range to be cleared", f))?;
    for f in &p.functions {
        f.locals.iter().try_for_each(|l| range("a function's variable", l))?;
        if f.entry > f.end || f.end as usize > p.code.len() {
            return Err(format!("function `{}` is from {} to {}", f.name, f.entry, f.end));
        }
    }
    for i in &p.inputs {
        if !inside(i.offset, i.bytes.max(4).into()) {
            return Err(format!("input `{}` is outside of the register file", i.name));
        }
    }
    Ok(())
}

/// Holds an instruction's operands against the register file: what handlers rely on.
fn operands(i: &Inst, len: u32) -> Result<(), String> {
    // Vectors are loaded whole: up to 32 elements, whatever the number of channels.
    let vector = |offset: u32, size: u32| {
        if offset as u64 + 32 * size as u64 > len as u64 {
            Err("an operand passes the register file".to_owned())
        } else {
            Ok(())
        }
    };
    if !matches!(i.channels, 1 | 2 | 4 | 8 | 16 | 32) || i.first > 28 {
        return Err("it has no legal execution size".into());
    }
    let predicate = |offset: u32| vector(offset, 4);
    predicate(i.pred.offset)?;
    for s in &i.src {
        match *s {
            Src::Reg { offset, ty, strides, .. } => {
                let last = (0..i.channels as u32).map(|k| strides.element(k)).max().unwrap_or(0);
                let end = offset as u64 + (last as u64 + 1) * ty.size() as u64;
                if end > len as u64 {
                    return Err("a source passes the register file".into());
                }
                vector(offset, ty.size())?;
            }
            Src::Indirect { address, .. } => vector(address, 2)?,
            Src::Pred { offset, .. } => predicate(offset)?,
            Src::None => {}
        }
    }
    match i.dst {
        Dst::Reg { offset, ty, stride, .. } => {
            let end = offset as u64 + ((i.channels as u64 - 1) * stride as u64 + 1) * ty.size() as u64;
            if end > len as u64 {
                return Err("the destination passes the register file".into());
            }
            vector(offset, ty.size())?;
        }
        Dst::Indirect { address, .. } => vector(address, 2)?,
        Dst::Pred { offset } => predicate(offset)?,
        Dst::None => {}
    }
    vector(i.dst2, 4)
}

/// Holds what an instruction names by number against the program.
fn names(i: &Inst, p: &Program) -> Result<(), String> {
    let (what, count) = match i.op {
        Op::Message => ("message", p.messages.len()),
        Op::SwitchJmp => ("jump table", p.tables.len()),
        Op::Fcall => ("function", p.functions.len()),
        Op::Unsupported => ("reason", p.unsupported.len()),
        Op::Goto | Op::Call => ("instruction", p.code.len()),
        _ => return Ok(()),
    };
    if i.aux as usize >= count {
        return Err(format!("{what} {} of {count}", i.aux));
    }
    let targets = p.tables.get(i.aux as usize).filter(|_| i.op == Op::SwitchJmp);
    match targets.and_then(|t| t.iter().find(|pc| **pc as usize >= p.code.len())) {
        Some(pc) => Err(format!("it jumps to {pc} of {} instructions", p.code.len())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use envisa_isa::Platform;
    use envisa_lower::{ExecType, Function};

    fn program() -> Program {
        let registers = envisa_lower::Registers {
            bytes: 4096,
            predefined: [64; 32],
            ..envisa_lower::Registers::default()
        };
        Program {
            name: "k".into(),
            platform: Platform::Pvc,
            grf_bytes: 64,
            simd: 16,
            registers,
            code: vec![end()],
            messages: Vec::new(),
            tables: Vec::new(),
            functions: vec![Function {
                name: "k".into(),
                entry: 0,
                end: 1,
                locals: Vec::new(),
                vars: Vec::new(),
                lines: Vec::new(),
            }],
            inputs: Vec::new(),
            symbols: Vec::new(),
            has_barrier: false,
            source_files: Vec::new(),
            unsupported: Vec::new(),
        }
    }

    fn end() -> Inst {
        Inst {
            op: Op::End,
            channels: 1,
            first: 0,
            no_mask: true,
            pred: Default::default(),
            exec: ExecType::None,
            dst: Dst::None,
            src: [Src::None; 4],
            aux: 0,
            dst2: 0,
            span: envisa_isa::Span::NONE,
            source: 0,
            function: 0,
            depth: 0,
            facts: Default::default(),
        }
    }

    #[test]
    fn programs_that_would_touch_foreign_memory_are_refused() {
        assert!(CheckedProgram::new(program()).is_ok());
        type Damage = fn(&mut Program);
        let damages: [(Damage, &str); 18] = [
            // The machine writes group ids and states there when a thread starts.
            (|p| p.registers.predefined[0] = u32::MAX, "predefined variable 0"),
            (|p| p.registers.predefined[31] = 4096 - 63, "predefined variable 31"),
            (|p| p.registers.bytes = u32::MAX, "a register file of 4294967295 bytes"),
            (|p| p.registers.constants = vec![0; 4097], "bytes of immediates"),
            (|p| p.registers.address_homes = vec![(0, 4097)], "register addresses"),
            (
                |p| {
                    p.registers.address_base = u32::MAX;
                    p.registers.address_homes = vec![(0, 64)];
                },
                "register addresses",
            ),
            (|p| p.registers.fresh = vec![0..64, 64..5000], "a range to be cleared"),
            (|p| p.functions[0].locals = vec![0..64, 0..5000], "a function's variable"),
            (|p| p.registers.fresh = vec![0..64, 32..96], "ranges to be cleared overlap"),
            (|p| p.functions[0].entry = 2, "function `k`"),
            (|p| p.simd = 33, "threads of 33 channels"),
            (|p| p.code[0].op = Op::Message, "message 0 of 0"),
            (|p| p.code[0].op = Op::SwitchJmp, "jump table 0 of 0"),
            (
                |p| {
                    p.code[0].op = Op::SwitchJmp;
                    p.tables = vec![vec![7]];
                },
                "it jumps to 7 of 1",
            ),
            (|p| (p.code[0].op, p.code[0].aux) = (Op::Goto, 1), "instruction 1 of 1"),
            (|p| p.code[0].op = Op::Unsupported, "reason 0 of 0"),
            (|p| p.code[0].dst2 = 4096 - 127, "an operand passes"),
            (|p| p.code[0].pred.offset = u32::MAX, "an operand passes"),
        ];
        for (damage, why) in damages {
            let mut p = program();
            damage(&mut p);
            let error = CheckedProgram::new(p).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
