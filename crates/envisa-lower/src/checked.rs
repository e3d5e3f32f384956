//! The program that engines take: its parts, held against everything that engines rely on without looking again.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use envisa_isa::Platform;

use crate::Message;
use crate::program::*;
use crate::touched::Touched;

/// Bytes of a predefined variable that the machine writes or reads by itself.
const PREDEFINED: u64 = 64;
/// Bytes that 16-bit register addresses can name.
const ADDRESSABLE: u64 = 1 << 16;
/// Most bytes of registers in a row that an instruction touches: 255 registers of a raw message.
const MAX_TOUCHED: u32 = 255 * 64;
/// Elements that a vector access loads at once, whatever the number of channels.
const VECTOR: u64 = 32;

/// A kernel and the functions it can call, ready for an engine. Cheap to clone.
///
/// [`Program::new`] is the only way to make one, and what is in it can be read but not changed: programs read from
/// text, made by hand or by the optimiser pass the same check as lowering's. So engines rely on this:
///
/// - operands of instructions lie inside of the register file, vectors of them with as much behind them as handlers
///   load at once (32 elements); so do the predefined variables, the inputs, and all that address registers can name;
/// - what messages touch does, too ([`Message::is_inside`](crate::Message::is_inside));
/// - immediates are constants, which no instruction writes;
/// - functions are the code, one after another, and each ends with [`Op::End`];
/// - the messages, jump tables, functions, symbols, reasons and targets that instructions name exist.
#[derive(Clone, Debug)]
pub struct Program(Arc<ProgramParts>, Forward);

/// Does a thread run each instruction once at most?
#[derive(Clone, Copy, Debug)]
struct Forward(bool);

/// What is wrong with a program's parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadProgram(String);

impl fmt::Display for BadProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the program is damaged: {}", self.0)
    }
}

impl std::error::Error for BadProgram {}

impl Program {
    /// Checks a program's parts.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn new(parts: ProgramParts) -> Result<Program, BadProgram> {
        device(&parts)
            .and_then(|()| file(&parts))
            .and_then(|()| check_functions(&parts))
            .map_err(BadProgram)?;
        for (pc, i) in parts.code.iter().enumerate() {
            operands(i, &parts.registers)
                .and_then(|()| check_named_indices(i, &parts))
                .and_then(|()| check_accesses(i, &parts))
                .map_err(|e| BadProgram(format!("instruction {pc} ({:?}): {e}", i.op)))?;
        }
        let forward = Forward(!parts.code.iter().zip(0..).any(|(i, pc)| match i.op {
            Op::Goto => i.aux <= pc,
            Op::Call | Op::Fcall | Op::Ifcall | Op::SwitchJmp => true,
            _ => false,
        }));
        Ok(Program(Arc::new(parts), forward))
    }

    /// Are the two one program, not only alike?
    #[inline(always)]
    pub fn is(&self, other: &Program) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Does a thread run each instruction once at most? There are no loops then, and no calls.
    #[inline(always)]
    pub fn runs_forward(&self) -> bool {
        self.1.0
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The device.
    #[inline(always)]
    pub fn platform(&self) -> Platform {
        self.0.platform
    }

    /// Bytes of a register of the device: 32 or 64.
    #[inline(always)]
    pub fn grf_bytes(&self) -> u32 {
        self.0.grf_bytes
    }

    /// Channels a thread is dispatched with: 8, 16 or 32.
    #[inline(always)]
    pub fn simd(&self) -> u32 {
        self.0.simd
    }

    /// Where everything is in the register file.
    #[inline(always)]
    pub fn registers(&self) -> &Registers {
        &self.0.registers
    }

    /// Code of all functions, one after another. The last instruction of each is an [`Op::End`].
    #[inline(always)]
    pub fn code(&self) -> &[Inst] {
        &self.0.code
    }

    /// Messages, named by [`Inst::aux`] of [`Op::Message`].
    #[inline(always)]
    pub fn messages(&self) -> &[Message] {
        &self.0.messages
    }

    /// Which dwords channels get, named by [`Inst::aux`] of [`Op::Pick`].
    pub fn picks(&self) -> &[Vec<u8>] {
        &self.0.picks
    }

    /// Jump tables, named by [`Inst::aux`] of [`Op::SwitchJmp`].
    #[inline(always)]
    pub fn tables(&self) -> &[Vec<Pc>] {
        &self.0.tables
    }

    /// The functions; the first is the kernel.
    #[inline(always)]
    pub fn functions(&self) -> &[Function] {
        &self.0.functions
    }

    /// What else of the module an instruction was made of, by ascending channels.
    pub fn upper(&self, pc: Pc) -> &[Upper] {
        let all = &self.0.upper;
        let from = all.partition_point(|u| u.pc < pc);
        let to = from + all[from..].partition_point(|u| u.pc == pc);
        &all[from..to]
    }

    /// Where the instruction of the module stands that a channel of an instruction is of, if that is another one than
    /// that of the first channel.
    pub fn origin_of_channel(&self, pc: Pc, channel: u32) -> Option<&Upper> {
        self.upper(pc).iter().rfind(|u| u32::from(u.channel) <= channel)
    }

    /// Inputs of the kernel.
    pub fn inputs(&self) -> &[InputSlot] {
        &self.0.inputs
    }

    /// Symbols of `faddr`, named by [`Inst::aux`]; an engine is given their addresses.
    pub fn symbols(&self) -> &[String] {
        &self.0.symbols
    }

    /// Does it contain a barrier: do threads of a group need to interleave?
    #[inline(always)]
    pub fn has_barrier(&self) -> bool {
        self.0.has_barrier
    }

    /// Files that its lines are of, as the module names them.
    pub fn source_files(&self) -> &[String] {
        &self.0.source_files
    }

    /// Instructions that cannot be executed and why, named by [`Inst::aux`] of [`Op::Unsupported`].
    #[inline(always)]
    pub fn unsupported(&self) -> &[Unsupported] {
        &self.0.unsupported
    }

    /// All of it: for analyses, and to make another program of.
    #[inline(always)]
    pub fn parts(&self) -> &ProgramParts {
        &self.0
    }
}

fn device(p: &ProgramParts) -> Result<(), String> {
    if !matches!(p.simd, 1 | 2 | 4 | 8 | 16 | 32) {
        return Err(format!("threads of {} channels", p.simd));
    }
    if p.grf_bytes != p.platform.grf_bytes() {
        return Err(format!("registers of {} bytes on {}", p.grf_bytes, p.platform.name()));
    }
    Ok(())
}

/// The register file, and who lives where in it.
fn file(p: &ProgramParts) -> Result<(), String> {
    let r = &p.registers;
    let inside = |start: RegOffset, bytes: u64| u64::from(start) + bytes <= u64::from(r.bytes);
    let most = MAX_REGISTER_BYTES + REGISTER_PADDING;
    if r.bytes > most || !r.bytes.is_multiple_of(64) {
        return Err(format!(
            "a register file of {} bytes: a multiple of 64 up to {most} is expected",
            r.bytes
        ));
    }
    if !inside(0, r.constants.len() as u64) {
        return Err(format!("{} bytes of immediates in a register file of {}", r.constants.len(), r.bytes));
    }
    if r.locals_start > r.bytes || (r.locals_start as usize) < r.constants.len() {
        return Err(format!(
            "variables from {} in a register file of {} that starts with {} bytes of immediates",
            r.locals_start,
            r.bytes,
            r.constants.len()
        ));
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
    if r.address_homes.len() as u64 * 64 > ADDRESSABLE {
        return Err(format!("{} homes of register addresses", r.address_homes.len()));
    }
    if let Some(pc) = p.tables.iter().flatten().find(|pc| **pc as usize >= p.code.len()) {
        return Err(format!("a jump table names {pc} of {} instructions", p.code.len()));
    }
    r.fresh.iter().try_for_each(|f| check_range("a range to be cleared", f, r.bytes))?;
    for i in &p.inputs {
        if !inside(i.offset, i.bytes.max(4).into()) {
            return Err(format!("input `{}` is outside of the register file", i.name));
        }
    }
    Ok(())
}

fn check_range(what: &str, range: &Range<RegOffset>, bytes: u32) -> Result<(), String> {
    if range.start <= range.end && range.end <= bytes {
        return Ok(());
    }
    Err(format!("{what} ({} to {}) is outside of the register file of {bytes} bytes", range.start, range.end))
}

/// Functions follow each other, end, and own their instructions.
fn check_functions(p: &ProgramParts) -> Result<(), String> {
    let mut next = 0;
    for (index, f) in p.functions.iter().enumerate() {
        let wrong =
            |what: &str| Err(format!("function `{}` is from {} to {}: {what}", f.name, f.entry, f.end));
        if f.entry != next || f.end <= f.entry {
            return wrong(&format!("one from {next} on is expected"));
        }
        let Some(code) = p.code.get(f.entry as usize..f.end as usize) else {
            return wrong(&format!("there are {} instructions", p.code.len()));
        };
        if code.last().is_none_or(|i| i.op != Op::End) {
            return wrong("it has no end");
        }
        if code.iter().any(|i| i.function as usize != index) {
            return wrong("it has an instruction of another function");
        }
        f.locals.iter().try_for_each(|l| check_range("a function's variable", l, p.registers.bytes))?;
        for v in &f.vars {
            let end = v.offset.saturating_add(v.bytes);
            check_range("a variable", &(v.offset..end), p.registers.bytes)?;
        }
        if let Some(e) = f.lines.iter().find(|e| e.line != 0 && e.file as usize >= p.source_files.len()) {
            return Err(format!("a line of file {} of {}", e.file, p.source_files.len()));
        }
        next = f.end;
    }
    if next == 0 || next as usize != p.code.len() {
        return Err(format!("functions have {next} of {} instructions", p.code.len()));
    }
    Ok(())
}

/// Holds an instruction's operands against the register file: what handlers rely on.
fn operands(i: &Inst, registers: &Registers) -> Result<(), String> {
    let len = registers.bytes;
    let vector = |offset: u32, size: u32| {
        if offset as u64 + VECTOR * size as u64 > len as u64 {
            Err("an operand ends beyond the register file".to_owned())
        } else {
            Ok(())
        }
    };
    if !matches!(i.channels, 1 | 2 | 4 | 8 | 16 | 32) || !i.first.is_multiple_of(4) || i.first > 28 {
        return Err("it has no legal execution size".into());
    }
    let predicate = |offset: u32| vector(offset, 4);
    predicate(i.pred.offset)?;
    for s in &i.src {
        match *s {
            Src::Reg { offset, ty, strides, shape, constant, .. } => {
                if strides.width_log2 > 5 {
                    return Err("a source has rows of more than 32 elements".into());
                }
                let last = (0..i.channels as u32).map(|k| strides.element(k)).max().unwrap_or(0);
                let end = offset as u64 + (last as u64 + 1) * ty.size() as u64;
                if end > len as u64 {
                    return Err("a source ends beyond the register file".into());
                }
                if constant && end > registers.constants.len() as u64 {
                    return Err("an immediate is no constant".into());
                }
                if shape != i.op.shape(strides, i.channels.into()) {
                    return Err("a source's shape is not that of its region".into());
                }
                vector(offset, ty.size())?;
            }
            Src::Indirect { address, per_address_log2, strides, .. } => {
                if per_address_log2 > 5 || strides.width_log2 > 5 {
                    return Err("a source has rows of more than 32 elements".into());
                }
                vector(address, 2)?;
            }
            Src::Pred { offset, .. } => predicate(offset)?,
            Src::None => {}
        }
    }
    match i.dst {
        Dst::Reg { offset, ty, stride, .. } => {
            let end = offset as u64 + ((i.channels as u64 - 1) * stride as u64 + 1) * ty.size() as u64;
            if end > len as u64 {
                return Err("the destination ends beyond the register file".into());
            }
            vector(offset, ty.size())?;
        }
        Dst::Indirect { per_address_log2: 6.., .. } => {
            return Err("the destination has addresses for more than 32 channels".into());
        }
        Dst::Indirect { address, .. } => vector(address, 2)?,
        Dst::Pred { offset } => predicate(offset)?,
        Dst::None => {}
    }
    if i.op == Op::FunnelShift && (!(1..32).contains(&i.aux) || i.exec != ExecType::U32) {
        return Err(format!("dwords are shifted by 1 to 31, not by {}", i.aux));
    }
    vector(i.dst2, 4)
}

/// Holds what an instruction names by number against the program.
fn check_named_indices(i: &Inst, p: &ProgramParts) -> Result<(), String> {
    let (what, count) = match i.op {
        Op::Message => ("message", p.messages.len()),
        Op::SwitchJmp => ("jump table", p.tables.len()),
        Op::Pick => ("table of picked dwords", p.picks.len()),
        Op::Fcall => ("function", p.functions.len()),
        Op::Faddr => ("symbol", p.symbols.len()),
        Op::Unsupported => ("reason", p.unsupported.len()),
        Op::Goto | Op::Call => ("instruction", p.code.len()),
        _ => return Ok(()),
    };
    if i.aux as usize >= count {
        return Err(format!("{what} {} of {count}", i.aux));
    }
    if i.op == Op::Pick {
        let most = (2 * i.channels).min(32);
        let which = &p.picks[i.aux as usize];
        let plain = matches!(i.src[0], Src::Reg { ty, modifier: Modifier::None, .. } if ty.size() == 4)
            && matches!(i.dst, Dst::Reg { ty, sat: false, .. } if ty.size() == 4);
        if !plain || which.len() != usize::from(i.channels) || which.iter().any(|n| *n >= most) {
            return Err(format!("it does not pick one of {most} dwords for each of {} channels", i.channels));
        }
    }
    Ok(())
}

/// What an instruction touches lies inside of the register file, and no immediate is written.
fn check_accesses(i: &Inst, p: &ProgramParts) -> Result<(), String> {
    let (len, constants) = (p.registers.bytes, p.registers.constants.len() as u32);
    if i.op == Op::Message {
        let m = &p.messages[i.aux as usize];
        if !m.is_inside(i.channels.into(), len) {
            return Err(
                "an operand of the message ends beyond the register file, or one of its codes is not defined"
                    .into(),
            );
        }
        if matches!(m, Message::Raw(r) if r.shape.platform != p.platform) {
            return Err("the message is of another device".into());
        }
    }
    let mut wrong = None;
    let mut hold = |t: &Touched, write: bool| {
        let Some(r) = t.range(i.channels.into()).filter(|r| !r.is_empty()) else { return };
        if r.end > len {
            wrong = Some("it ends beyond the register file");
        } else if r.end - r.start > MAX_TOUCHED {
            wrong = Some("it touches more registers than an instruction can");
        } else if write && r.start < constants {
            wrong = Some("it writes an immediate");
        }
    };
    i.reads(p, &mut |t| hold(&t, false));
    i.writes(p, &mut |t| hold(&t, true));
    wrong.map_or(Ok(()), |w| Err(w.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use envisa_isa::Type;

    fn program() -> ProgramParts {
        let registers = Registers { bytes: 4096, predefined: [64; 32], ..Registers::default() };
        let parts = ProgramParts { name: "k".into(), simd: 16, registers, ..ProgramParts::default() };
        parts.with_code(vec![end(), end()])
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

    fn source(offset: RegOffset, strides: Strides, constant: bool) -> Src {
        let shape = strides.shape(1);
        Src::Reg { offset, ty: Type::Ud, strides, shape, modifier: Modifier::None, constant }
    }

    #[test]
    fn programs_that_would_touch_foreign_memory_are_refused() {
        assert!(Program::new(program()).is_ok());
        type Damage = fn(&mut ProgramParts);
        let damages: [(Damage, &str); 31] = [
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
            (|p| p.functions[0].entry = 3, "function `k`"),
            (|p| p.functions[0].end = 9, "function `k`"),
            (|p| p.simd = 33, "threads of 33 channels"),
            (|p| p.code[0].op = Op::Message, "message 0 of 0"),
            (|p| p.code[0].op = Op::SwitchJmp, "jump table 0 of 0"),
            (
                |p| {
                    p.code[0].op = Op::SwitchJmp;
                    p.tables = vec![vec![7]];
                },
                "a jump table names 7 of 2",
            ),
            (|p| (p.code[0].op, p.code[0].aux) = (Op::Goto, 2), "instruction 2 of 2"),
            (|p| p.code[0].op = Op::Unsupported, "reason 0 of 0"),
            (|p| p.code[0].dst2 = 4096 - 127, "an operand ends beyond"),
            (|p| p.code[0].pred.offset = u32::MAX, "an operand ends beyond"),
            (|p| p.registers.bytes = 4095, "a register file of 4095 bytes"),
            (|p| p.registers.locals_start = 4097, "variables from 4097"),
            (|p| p.registers.constants = vec![0; 64], "variables from 0"),
            (|p| p.grf_bytes = 32, "registers of 32 bytes on PVC"),
            (|p| p.functions.clear(), "functions have 0 of 2"),
            (|p| p.code.push(end()), "functions have 2 of 3"),
            (|p| p.code[1].op = Op::Nop, "it has no end"),
            (|p| p.code[0].function = 1, "an instruction of another function"),
            (|p| p.code[0].op = Op::Faddr, "symbol 0 of 0"),
            (|p| p.code[0].src[0] = source(0, Strides::SCALAR, true), "an immediate is no constant"),
            (|p| p.code[0].src[0] = source(0, Strides { width_log2: 6, ..Strides::SCALAR }, false), "rows"),
            (
                |p| {
                    (p.registers.constants, p.registers.locals_start) = (vec![0; 64], 64);
                    p.code[0].dst = Dst::Reg { offset: 32, ty: Type::Ud, stride: 1, sat: false };
                },
                "it writes an immediate",
            ),
        ];
        for (damage, why) in damages {
            let mut p = program();
            damage(&mut p);
            let error = Program::new(p).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
