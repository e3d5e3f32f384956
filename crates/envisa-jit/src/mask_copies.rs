//! Masks that code has stored, and loads again while it still has them in a mask register, are copied from there.
//!
//! Predicates are in the register file, where each compare stores its mask and each reader loads it. A load waits for the
//! store before it; a copy takes a cycle.

use iced_x86::{Code, Instruction, OpKind, Register};

use crate::context_layout::{CTX, REGS, SITES};
use crate::fast_maps::Set;

/// A mask in memory, and a register that has it, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stored {
    base: Register,
    at: u64,
    bytes: u64,
    register: Register,
}

impl Stored {
    /// Is any of so many bytes at a place part of it?
    fn meets(&self, (base, at, bytes): (Register, u64, u64)) -> bool {
        self.base == base && self.at < at + bytes && at < self.at + self.bytes
    }
}

/// Replaces loads of masks by copies where that is possible; the code keeps its length.
pub(crate) fn copy_stored_masks(code: &mut [Instruction]) {
    let targets = targets(code);
    let mut known: Vec<Stored> = Vec::new();
    for i in code {
        // Others come here.
        if i.ip() != 0 && targets.contains(&i.ip()) {
            known.clear();
        }
        match i.code() {
            code @ (Code::VEX_Kmovw_kr_km16 | Code::VEX_Kmovd_kr_km32)
                if i.op1_kind() == OpKind::Memory && is_slot(i) =>
            {
                let to = i.op0_register();
                let slot = slot(i, to);
                let same = |s: &&Stored| (s.base, s.at) == (slot.base, slot.at) && s.bytes >= slot.bytes;
                let from = known.iter().find(same).map(|s| s.register);
                if let Some(from) = from {
                    let ip = i.ip();
                    if let Ok(copy) = Instruction::with2(code, to, from) {
                        *i = copy;
                        i.set_ip(ip);
                    }
                }
                known.retain(|s| s.register != to);
                known.push(slot);
            }
            Code::VEX_Kmovw_m16_kr | Code::VEX_Kmovd_m32_kr if is_slot(i) => {
                let new = slot(i, i.op1_register());
                known.retain(|s| !s.meets((new.base, new.at, new.bytes)));
                known.push(new);
            }
            _ => forget(i, &mut known),
        }
    }
}

/// The labels that code goes to: others only name a place.
fn targets(code: &[Instruction]) -> Set<u64> {
    let target = |i: &Instruction| match i.op0_kind() {
        OpKind::NearBranch64 => Some(i.near_branch64()),
        _ => (i.memory_base() == Register::RIP).then(|| i.memory_displacement64()),
    };
    code.iter().filter_map(target).collect()
}

/// Is the memory operand of an instruction in the register file or in the context, at a place that is known?
fn is_slot(i: &Instruction) -> bool {
    matches!(i.memory_base(), REGS | CTX) && i.memory_index() == Register::None
}

fn slot(i: &Instruction, register: Register) -> Stored {
    let bytes = i.memory_size().size() as u64;
    Stored { base: i.memory_base(), at: i.memory_displacement64(), bytes, register }
}

/// Forgets what is not so any more behind an instruction.
fn forget(i: &Instruction, known: &mut Vec<Stored>) {
    if known.is_empty() {
        return;
    }
    // Gathers and scatters clear their masks.
    if i.is_vsib() {
        known.retain(|s| s.register != i.op_mask());
    }
    match (i.op_count(), i.op0_kind()) {
        (0, _) | (_, OpKind::NearBranch64) => {
            if i.is_call_near() || !i.is_jcc_short_or_near() {
                known.clear();
            }
        }
        (_, OpKind::Register) => match i.op0_register() {
            // The register file of another thread.
            REGS | CTX => known.clear(),
            register => known.retain(|s| s.register != register),
        },
        // It may be read only; all other memory is somebody else's but for what is found by an index.
        (_, OpKind::Memory) if is_slot(i) => {
            let place = (i.memory_base(), i.memory_displacement64(), i.memory_size().size() as u64);
            known.retain(|s| !s.meets(place));
        }
        (_, OpKind::Memory) if matches!(i.memory_base(), SITES | Register::RSP) => {}
        _ => known.clear(),
    }
}

#[cfg(test)]
mod tests {
    use iced_x86::{Code, Instruction, MemoryOperand, Register};

    use super::*;

    fn at(base: Register, offset: i64) -> MemoryOperand {
        MemoryOperand::with_base_displ(base, offset)
    }

    fn store(offset: i64, k: Register) -> Instruction {
        Instruction::with2(Code::VEX_Kmovw_m16_kr, at(REGS, offset), k).unwrap()
    }

    /// What a load of a mask of this many bytes at 64 becomes a copy of, behind a store of 32 bits there.
    fn copied_of_dword(code: Code, offset: i64) -> Option<Register> {
        let store = Instruction::with2(Code::VEX_Kmovd_m32_kr, at(REGS, 64), Register::K4).unwrap();
        let mut all = [store, Instruction::with2(code, Register::K5, at(REGS, offset)).unwrap()];
        copy_stored_masks(&mut all);
        (all[1].op1_kind() == OpKind::Register).then(|| all[1].op1_register())
    }

    #[test]
    fn masks_of_32_bits_are_copied_too() {
        assert_eq!(copied_of_dword(Code::VEX_Kmovd_kr_km32, 64), Some(Register::K4));
        assert_eq!(copied_of_dword(Code::VEX_Kmovw_kr_km16, 64), Some(Register::K4));
        assert_eq!(copied_of_dword(Code::VEX_Kmovw_kr_km16, 66), None);
        // Only half of it was stored.
        let mut all = [
            store(64, Register::K6),
            Instruction::with2(Code::VEX_Kmovd_kr_km32, Register::K5, at(REGS, 64)).unwrap(),
        ];
        copy_stored_masks(&mut all);
        assert_eq!(all[1].op1_kind(), OpKind::Memory);
    }

    fn load(k: Register, offset: i64) -> Instruction {
        Instruction::with2(Code::VEX_Kmovw_kr_km16, k, at(REGS, offset)).unwrap()
    }

    /// What the last instruction, a load of the mask at 64, becomes a copy of, behind a store of mask 6 there and others.
    fn copied(between: &[Instruction]) -> Option<Register> {
        let mut code = vec![store(64, Register::K6)];
        code.extend_from_slice(between);
        code.push(load(Register::K5, 64));
        copy_stored_masks(&mut code);
        let last = code.last().unwrap();
        (last.op1_kind() == OpKind::Register).then(|| last.op1_register())
    }

    #[test]
    fn masks_are_copied_while_they_are_known() {
        let code = |c: Code, a: Register, b: Register| Instruction::with2(c, a, b).unwrap();
        let jump = |c: Code| Instruction::with_branch(c, 7).unwrap();
        let zero = Instruction::with2(Code::Mov_rm32_imm32, at(REGS, 64), 0).unwrap();
        let beside = Instruction::with2(Code::Mov_rm32_imm32, at(REGS, 68), 0).unwrap();
        let indexed = MemoryOperand::with_base_index(REGS, Register::RAX);
        let anywhere = Instruction::with2(Code::Mov_rm32_r32, indexed, Register::EAX).unwrap();
        let own = code(Code::VEX_Knotw_kr_kr, Register::K6, Register::K6);
        let other = code(Code::VEX_Knotw_kr_kr, Register::K4, Register::K6);
        let [mut label, mut name] = [other; 2];
        label.set_ip(7);
        name.set_ip(9);
        let known = Some(Register::K6);
        for (between, want) in [
            (vec![], known),
            (vec![beside, other, store(66, Register::K3), jump(Code::Je_rel32_64)], known),
            (vec![load(Register::K3, 64), own], Some(Register::K3)),
            (vec![store(64, Register::K2)], Some(Register::K2)),
            (vec![store(65, Register::K2)], None),
            (vec![own], None),
            (vec![zero], None),
            (vec![anywhere], None),
            (vec![jump(Code::Je_rel32_64), name], known),
            (vec![jump(Code::Je_rel32_64), label], None),
            (vec![jump(Code::Call_rel32_64)], None),
            (vec![Instruction::with2(Code::Mov_r64_rm64, REGS, at(CTX, 8)).unwrap()], None),
        ] {
            assert_eq!(copied(&between), want, "{between:?}");
        }
    }
}
