//! Results that are computed in `eax` and then moved to the register they are for: computed there at once.

use iced_x86::{
    Code, FlowControl, Instruction, InstructionInfoFactory, OpAccess, OpKind, Register, UsedRegister,
};

use crate::asm::Mem;

const EAX: Register = Register::EAX;
/// Longest computation that is looked at, and how far it is looked ahead for whether `eax` is wanted still.
const LONGEST: usize = 6;
const AHEAD: usize = 6;

/// Computes results where they go. What is not needed then becomes [`Code::INVALID`], which is written as nothing.
pub(super) fn computed_in_place(code: &mut [Instruction]) {
    let mut info = InstructionInfoFactory::new();
    let mut k = 0;
    while k < code.len() {
        let Some((n, after)) = computation_before_move(&code[k..], &mut info) else {
            k += 1;
            continue;
        };
        let Some(to) = moved_to(&code[k + n]) else { break };
        in_place(&mut code[k..=k + n]);
        k += n + 1;
        match after {
            After::Unwanted => {}
            After::Read(of) => code[k..k + of].iter_mut().for_each(|i| take_from(i, to)),
            // What goes on with it takes it from there.
            After::GoesOn => {
                k -= 1;
                code[k] = Instruction::with2(Code::Mov_r32_rm32, EAX, to).unwrap_or_default();
            }
        }
    }
}

/// What becomes of `eax` behind the move.
enum After {
    /// Nobody wants it.
    Unwanted,
    /// Of so many instructions behind it, some read it; behind those nobody wants it.
    Read(usize),
    /// The next instruction computes something else of it.
    GoesOn,
}

/// Does an instruction name `eax`, or memory by `rax`, and no other part of that register?
fn names_plainly(i: &Instruction) -> bool {
    let part =
        |k: &u32| i.op_kind(*k) == OpKind::Register && i.op_register(*k).full_register() == Register::RAX;
    reads_register(i, Register::RAX, 0) && (0..i.op_count()).filter(part).all(|k| i.op_register(k) == EAX)
}

/// Lets an instruction that reads `eax` read another register that has the same.
fn take_from(i: &mut Instruction, to: Register) {
    for k in 0..i.op_count() {
        if i.op_kind(k) == OpKind::Register && i.op_register(k) == EAX {
            i.set_op_register(k, to);
        }
    }
    if i.memory_base() == Register::RAX {
        i.set_memory_base(to.full_register());
    }
    if i.memory_index() == Register::RAX {
        i.set_memory_index(to.full_register());
    }
}

/// Does an instruction begin a computation: does it write all of `eax`, of other registers?
fn begins_computation(i: &Instruction) -> bool {
    use Code::*;
    let code = matches!(
        i.code(),
        Mov_r32_rm32
            | Mov_r32_imm32
            | Movzx_r32_rm16
            | Movzx_r32_rm8
            | Movsx_r32_rm16
            | Movsx_r32_rm8
            | Imul_r32_rm32_imm32
    );
    code && i.op0_register() == EAX && !reads_register(i, Register::RAX, 1)
}

/// Does it compute something of `eax` and of what is not `eax`, and leave it there?
fn goes_on(i: &Instruction) -> bool {
    use Code::*;
    let code = matches!(
        i.code(),
        Add_r32_rm32
            | Add_rm32_imm32
            | Sub_r32_rm32
            | Sub_rm32_imm32
            | Imul_r32_rm32
            | And_r32_rm32
            | And_rm32_imm32
            | Or_r32_rm32
            | Or_rm32_imm32
            | Xor_r32_rm32
            | Xor_rm32_imm32
            | Shl_rm32_imm8
            | Shr_rm32_imm8
            | Sar_rm32_imm8
            | Neg_rm32
            | Not_rm32
    );
    code && i.op0_kind() == OpKind::Register
        && i.op0_register() == EAX
        && !reads_register(i, Register::RAX, 1)
}

/// Does an operand from this one on name a register?
fn reads_register(i: &Instruction, r: Register, from: u32) -> bool {
    let one = |k: u32| match i.op_kind(k) {
        OpKind::Register => i.op_register(k).full_register() == r,
        OpKind::Memory => i.memory_base().full_register() == r || i.memory_index().full_register() == r,
        _ => false,
    };
    (from..i.op_count()).any(one)
}

/// The register that `eax` is moved to.
fn moved_to(i: &Instruction) -> Option<Register> {
    let plain = i.code() == Code::Mov_rm32_r32
        && i.op0_kind() == OpKind::Register
        && i.op1_register() == EAX
        && i.op0_register() != EAX;
    plain.then(|| i.op0_register())
}

/// Is there a computation at the start of this code that ends in a move, which may be made where it is moved to? The number
/// of the move, and what becomes of `eax` then.
fn computation_before_move(
    code: &[Instruction],
    info: &mut InstructionInfoFactory,
) -> Option<(usize, After)> {
    if !begins_computation(code.first()?) {
        return None;
    }
    let apart = |i: &Instruction| i.ip() == 0;
    let n = (1..code.len().min(LONGEST)).find(|k| !(apart(&code[*k]) && goes_on(&code[*k])))?;
    let to = moved_to(&code[n]).filter(|_| apart(&code[n]))?;
    let full = to.full_register();
    // Only the first of them may read what is overwritten, or a sum of two may be turned round.
    let first = &code[0];
    let late = code[1..n].iter().any(|i| reads_register(i, full, 1));
    let index = matches!(first.op1_kind(), OpKind::Memory) && reads_register(first, full, 1);
    if index || late && add_to_register(&code[..n], full).is_none() {
        return None;
    }
    let next = code.get(n + 1)?;
    if apart(next) && goes_on(next) && !reads_register(next, full, 1) {
        return Some((n, After::GoesOn));
    }
    let (mut read, mut joined) = (0, false);
    for (k, i) in (1..).zip(code[n + 1..].iter().take(AHEAD)) {
        if begins_computation(i) {
            return Some((n, if read == 0 { After::Unwanted } else { After::Read(read) }));
        }
        // Whoever comes there another way has something else in `eax`.
        joined |= !apart(i);
        let used = info.info(i).used_registers();
        let of = |u: &UsedRegister, r: Register| u.register().full_register() == r;
        let written = |u: &UsedRegister| {
            (of(u, Register::RAX) || of(u, full))
                && !matches!(u.access(), OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess)
        };
        let wanted = used.iter().any(|u| of(u, Register::RAX));
        if i.flow_control() != FlowControl::Next
            || used.iter().any(written)
            || (wanted && (joined || !names_plainly(i)))
        {
            return None;
        }
        if wanted {
            read = k;
        }
    }
    None
}

/// A sum or the like of something and what is in a register, written to that register: the instruction that adds it.
fn add_to_register(code: &[Instruction], to: Register) -> Option<Instruction> {
    let [first, second] = code else { return None };
    use Code::*;
    let (Mov_r32_rm32, Add_r32_rm32 | Imul_r32_rm32 | And_r32_rm32 | Or_r32_rm32 | Xor_r32_rm32) =
        (first.code(), second.code())
    else {
        return None;
    };
    if second.op1_kind() != OpKind::Register
        || second.op1_register().full_register() != to
        || reads_register(first, to, 1)
    {
        return None;
    }
    let mut new = *first;
    new.set_code(second.code());
    new.set_op0_register(second.op1_register());
    Some(new)
}

/// Lets a computation, the last instruction of which is the move, write to where it is moved to.
fn in_place(code: &mut [Instruction]) {
    let gone = Instruction::default();
    let n = code.len() - 1;
    let Some(to) = moved_to(&code[n]) else { return };
    code[n] = gone;
    if let Some(new) = add_to_register(&code[..n], to.full_register()) {
        code[0] = new;
        code[1] = gone;
        return;
    }
    for i in &mut code[..n] {
        i.set_op0_register(to);
    }
    let first = code[0];
    let copy = first.code() == Code::Mov_r32_rm32 && first.op1_kind() == OpKind::Register;
    if copy && first.op1_register() == to && first.ip() == 0 && n > 1 {
        code[0] = gone;
    } else if copy
        && n > 1
        && let Some(mut sum) = copy_and_add(first.op1_register(), &code[1], to)
    {
        sum.set_ip(first.ip());
        code[0] = sum;
        code[1] = gone;
    }
}

/// A copy to which something is added is one instruction.
fn copy_and_add(of: Register, add: &Instruction, to: Register) -> Option<Instruction> {
    let (index, plus) = match (add.code(), add.op1_kind()) {
        (Code::Add_r32_rm32, OpKind::Register) => (add.op1_register().full_register(), 0),
        (Code::Add_rm32_imm32, _) => (Register::None, i64::from(add.immediate32() as i32)),
        _ => return None,
    };
    let m = Mem::indexed(of.full_register(), index, 1, plus);
    Instruction::with2(Code::Lea_r32_m, to, m.operand(false)).ok()
}
