//! One walk over the code: what the pass wants to know of each instruction.

use iced_x86::{Code, FlowControl, Instruction, OpKind, Register};

use super::{
    Given, Use, memory_operand, memory_operand_use, named_register_bytes, of_registers,
    overwrites_memory_operand,
};
use crate::context_layout::REGS;

/// What an instruction has to do with the register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Seen {
    /// Everything may have been written.
    Call,
    /// Another thread's register file.
    Switch,
    /// Its memory operand is anywhere in the register file.
    Anywhere { written: bool },
    /// Its memory operand is these bytes of it.
    Bytes {
        start: u32,
        end: u32,
        /// How it uses them, if they may as well be a general register.
        plain: Option<(Use, u32)>,
        written: bool,
        /// It writes all of them, and reads none.
        overwritten: bool,
    },
}

/// What is found out at once.
pub(super) struct Survey {
    /// General registers that no instruction names, but those that save them and the stub.
    pub free: Vec<Register>,
    /// By instruction that has to do with the register file, in order.
    pub seen: Vec<(usize, Seen)>,
    /// Instructions that blocks end with, and those that have labels, with these.
    pub ends: Vec<usize>,
    pub labels: Vec<(usize, usize)>,
    /// By label: does code go there, or take its address?
    pub aimed: Vec<bool>,
    /// Labels whose addresses are taken.
    pub taken: Vec<usize>,
}

/// Which general register each register is a part of; 32 for others.
static GENERAL: [u8; 256] = {
    let mut all = [32; 256];
    let mut k = 0;
    while k < 16 {
        all[Register::AX as usize + k] = k as u8;
        all[Register::EAX as usize + k] = k as u8;
        all[Register::RAX as usize + k] = k as u8;
        // The second bytes of the first four are between the first bytes.
        if k < 4 {
            all[Register::AL as usize + k] = k as u8;
            all[Register::AH as usize + k] = k as u8;
        } else {
            all[Register::SPL as usize + k - 4] = k as u8;
        }
        k += 1;
    }
    all
};

/// A register's bit in a set of general registers; none for others.
fn register_bit(r: Register) -> u32 {
    1u32.checked_shl(GENERAL[r as usize & 255].into()).unwrap_or(0)
}

/// The general registers that an instruction names.
fn named_registers(i: &Instruction) -> u32 {
    use Register::*;
    let saves = matches!(i.code(), Code::Push_r64 | Code::Pop_r64);
    // The function's arguments, before anything is kept.
    let takes = i.code() == Code::Mov_r64_rm64 && matches!(i.op1_register(), RDI | RSI);
    if saves || takes {
        return 0;
    }
    let one = |kind: OpKind, r: Register| match kind {
        OpKind::Register => register_bit(r),
        OpKind::Memory => register_bit(i.memory_base()) | register_bit(i.memory_index()),
        OpKind::NearBranch64
        | OpKind::Immediate8
        | OpKind::Immediate32
        | OpKind::Immediate64
        | OpKind::Immediate8to16
        | OpKind::Immediate8to32
        | OpKind::Immediate8to64
        | OpKind::Immediate16
        | OpKind::Immediate32to64 => 0,
        // Instructions on strings, which have registers of their own.
        _ => register_bit(RSI) | register_bit(RDI),
    };
    // What there is none of is no register; a fifth is an immediate.
    one(i.op0_kind(), i.op0_register())
        | one(i.op1_kind(), i.op1_register())
        | one(i.op2_kind(), i.op2_register())
        | one(i.op3_kind(), i.op3_register())
}

fn survey_instruction(i: &Instruction, flow: FlowControl, quiet: &[u64]) -> Option<Seen> {
    if flow == FlowControl::Call {
        return (!quiet.contains(&i.near_branch64())).then_some(Seen::Call);
    }
    if i.op0_register() == REGS && i.op_count() > 0 && i.op0_kind() == OpKind::Register {
        return Some(Seen::Switch);
    }
    if !of_registers(i) {
        return None;
    }
    let written = memory_operand(i) == Some(0);
    Some(match named_register_bytes(i).filter(|_| i.memory_index() == Register::None) {
        None => Seen::Anywhere { written },
        Some(r) => {
            let overwritten = written && overwrites_memory_operand(i);
            Seen::Bytes { start: r.start, end: r.end, plain: memory_operand_use(i), written, overwritten }
        }
    })
}

impl Survey {
    pub fn of(code: &[Instruction], given: &Given<'_>) -> Survey {
        use Register::*;
        let mut all = Survey {
            free: Vec::new(),
            seen: Vec::with_capacity(given.end / 2),
            ends: Vec::new(),
            labels: Vec::new(),
            aimed: vec![false; given.labels as usize],
            taken: Vec::new(),
        };
        let mut named = 0;
        for (k, i) in code[..given.end].iter().enumerate() {
            named |= named_registers(i);
            let flow = i.flow_control();
            if let Some(seen) = survey_instruction(i, flow, given.quiet) {
                all.seen.push((k, seen));
            }
            if i.ip() != 0 {
                all.labels.push((k, i.ip() as usize - 1));
            }
            match flow {
                FlowControl::Call => {}
                FlowControl::Next if i.memory_base() == RIP => {
                    let l = i.memory_displacement64() as usize - 1;
                    all.aimed[l] = true;
                    all.taken.push(l);
                }
                FlowControl::Next => {}
                _ => {
                    all.ends.push(k);
                    if i.op0_kind() == OpKind::NearBranch64 {
                        all.aimed[i.near_branch64() as usize - 1] = true;
                    }
                }
            }
        }
        let unnamed = |r: &Register| named & register_bit(*r) == 0;
        all.free = [R13, R14, R15, R11, R8, R9, R10, RDI, RSI].into_iter().filter(unnamed).collect();
        all
    }

    /// Where blocks begin, by label the block that begins there, as far as code goes to it.
    pub fn starts(&self, end: usize) -> (Vec<usize>, Vec<usize>) {
        let mut starts = vec![0];
        let mut of = vec![usize::MAX; self.aimed.len()];
        let mut ends = self.ends.iter().map(|k| k + 1).filter(|k| *k < end).peekable();
        for (k, l) in &self.labels {
            while let Some(start) = ends.next_if(|s| s <= k) {
                starts.push(start);
            }
            if self.aimed[*l] && starts.last() != Some(k) {
                starts.push(*k);
            }
            if starts.last() == Some(k) {
                of[*l] = starts.len() - 1;
            }
        }
        starts.extend(ends);
        (starts, of)
    }
}
