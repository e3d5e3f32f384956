//! Where the code has got to: steps change places, and what was before an instruction is done where the pass says that it is.

use super::*;
use crate::asm::{Asm, Lanes, Opd};
use crate::context_layout::REGS;
use crate::vector_encodings::{STORE32, VADDPS, VMOVDQU32, Width};

/// Stores of vectors to the register file, by where they go; each goes elsewhere.
fn stores(code: &[Instruction]) -> Vec<(usize, u64)> {
    let store = |i: &&Instruction| i.op0_kind() == OpKind::Memory && i.memory_base() == REGS;
    let all = code.iter().enumerate().filter(|(_, i)| store(i));
    all.map(|(k, i)| (k, i.memory_displacement64())).collect()
}

#[test]
fn what_was_stored_before_an_instruction_is_stored_where_it_is_said_to_be_done() {
    let mut moved = 0;
    for seed in 0..200u64 {
        let mut a = Asm::default();
        let mut x = seed;
        let mut random = |n: u64| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) % n
        };
        // Sums of elements, and whole vectors that are copied, in any order: computations that have nothing to do with each other.
        for n in 0..8 + random(40) as u32 {
            let width = [Width::X, Width::Z][random(2) as usize];
            let v = random(6) as V;
            match random(3) {
                0 => a.v2(VMOVDQU32, width, v, Opd::Mem(Mem::at(REGS, 64 * random(16) as u32)), Lanes::All),
                1 => a.v3(VADDPS, width, v, random(6) as V, Opd::Reg(random(6) as V), Lanes::All),
                _ => a.store(STORE32, width, Mem::at(REGS, 4096 + 64 * n), v, Lanes::All),
            }
        }
        a.op0(Code::Retnq);
        let end = a.here().code;
        let (code, labels) = a.settled().expect("it is code");
        let given =
            Given { labels, pool: &[], pool_at: 0, behind: end..end, room: 1024, slow_masked_stores: true };
        let new = narrow_to_avx2(code, &given).expect("it can be made for AVX2");
        let (before, after) = (stores(code), stores(&new.code));
        for k in 0..code.len() {
            for (_, to) in before.iter().filter(|s| s.0 < k) {
                // Of a whole vector, both halves.
                let last = after.iter().filter(|s| (*to..to + 64).contains(&s.1)).map(|s| s.0).max();
                let last = last.expect("what is stored is stored still");
                assert!(last < new.done[k], "program {seed}: {to:#x} before instruction {k}");
                moved += usize::from(last >= new.at[k]);
            }
        }
    }
    assert!(moved > 100, "{moved} stores changed places");
}
