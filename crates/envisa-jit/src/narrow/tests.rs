//! Where the code has got to: steps change places, and what was before an instruction is done where the pass says that it is;
//! and what is made once or not at all.

use super::*;
use crate::asm::{Asm, Lanes, Opd, mask_register, vector_register};
use crate::context_layout::REGS;
use crate::vector_encodings::{
    STORE32, VADDPS, VMOVDQU32, VPADDD, VPANDD, VPCMPD, VPMOVM2D, VPSLLD, VPSUBD, VPXORD, VRNDSCALEPS, Width,
};

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

const Z: Width = Width::Z;

/// A vector of the register file.
fn vector(n: u32) -> Mem {
    Mem::at(REGS, 64 * n)
}

/// The code for AVX2 of what is made, whose pool of constants is a one.
fn narrowed(make: impl FnOnce(&mut Asm)) -> Vec<Instruction> {
    let mut a = Asm::default();
    make(&mut a);
    a.op0(Code::Retnq);
    let end = a.here().code;
    let (code, labels) = a.settled().expect("it is code");
    let (pool, pool_at) = (&[1][..], 960);
    let given = Given { labels, pool, pool_at, behind: end..end, room: 1024, slow_masked_stores: true };
    narrow_to_avx2(code, &given).expect("it can be made for AVX2").code
}

fn count(code: &[Instruction], of: Code) -> usize {
    code.iter().filter(|i| i.code() == of).count()
}

/// Loads a vector of the register file.
fn load(a: &mut Asm, v: V, n: u32) {
    a.v2(VMOVDQU32, Z, v, Opd::Mem(vector(n)), Lanes::All);
}

fn store(a: &mut Asm, n: u32, v: V) {
    a.store(STORE32, Z, vector(n), v, Lanes::All);
}

#[test]
fn what_a_block_makes_twice_is_made_once() {
    let shift = |a: &mut Asm, v: V| a.v2i(VPSLLD, Z, v, Opd::Reg(0), 3, Lanes::All);
    let twice = |between: fn(&mut Asm)| {
        let code = narrowed(|a| {
            load(a, 0, 0);
            shift(a, 1);
            between(a);
            shift(a, 2);
            store(a, 8, 1);
            store(a, 9, 2);
        });
        count(&code, Code::VEX_Vpslld_ymm_ymm_imm8)
    };
    assert_eq!(twice(|_| ()), 2);
    // Of another value it is another one.
    assert_eq!(twice(|a| load(a, 0, 1)), 4);
    assert_eq!(twice(|a| a.v3(VADDPS, Z, 0, 0, Opd::Reg(0), Lanes::All)), 4);
}

#[test]
fn what_is_made_of_memory_is_made_again_if_that_is_other_memory_or_was_written() {
    let round = |a: &mut Asm, v: V, n: u32, how: u32| {
        a.v2i(VRNDSCALEPS, Z, v, Opd::Mem(vector(n)), how, Lanes::All);
    };
    let twice = |n: u32, how: u32, written: Option<u32>| {
        let code = narrowed(|a| {
            load(a, 0, 3);
            round(a, 1, 0, 8);
            written.into_iter().for_each(|n| store(a, n, 0));
            round(a, 2, n, how);
            store(a, 8, 1);
            store(a, 9, 2);
        });
        count(&code, Code::VEX_Vroundps_ymm_ymmm256_imm8)
    };
    assert_eq!(twice(0, 8, None), 2);
    assert_eq!(twice(1, 8, None), 4);
    assert_eq!(twice(0, 9, None), 4);
    assert_eq!(twice(0, 8, Some(0)), 4);
    assert_eq!(twice(0, 8, Some(1)), 2);
}

/// How many additions, subtractions and masks by bits it takes to add to a vector what is made of it and another one.
fn added(make: impl FnOnce(&mut Asm)) -> [usize; 3] {
    let code = narrowed(|a| {
        load(a, 0, 0);
        load(a, 1, 1);
        make(a);
        a.v3(VPADDD, Z, 0, 0, Opd::Reg(1), Lanes::All);
        store(a, 8, 0);
    });
    let (add, sub, and) =
        (Code::VEX_Vpaddd_ymm_ymm_ymmm256, Code::VEX_Vpsubd_ymm_ymm_ymmm256, Code::VEX_Vpand_ymm_ymm_ymmm256);
    [add, sub, and].map(|code_of| count(&code, code_of))
}

/// All ones where both vectors are equal.
fn equal(a: &mut Asm) {
    a.vcmp(VPCMPD, Z, 1, 1, Opd::Reg(0), 0, None);
    a.rr(VPMOVM2D[Z as usize], vector_register(1, Z), mask_register(1));
}

/// Taken from zero.
fn negate(a: &mut Asm) {
    a.v3(VPXORD, Z, 2, 2, Opd::Reg(2), Lanes::All);
    a.v3(VPSUBD, Z, 1, 2, Opd::Reg(1), Lanes::All);
}

/// The lowest bit.
fn lowest_bit(a: &mut Asm) {
    a.v3(VPANDD, Z, 1, 1, Opd::Bcast(Mem::at(CTX, 960)), Lanes::All);
}

#[test]
fn truths_are_counted_as_they_are() {
    assert_eq!(added(|_| ()), [2, 0, 0]);
    assert_eq!(added(negate), [0, 2, 0]);
    // Of any number the lowest bit is not what is taken from zero.
    assert_eq!(added(lowest_bit), [2, 0, 2]);
    let counted = |number: fn(&mut Asm)| {
        added(|a| {
            equal(a);
            number(a);
        })
    };
    assert_eq!(counted(negate), [0, 2, 0]);
    assert_eq!(counted(lowest_bit), [0, 2, 0]);
}

#[test]
fn a_choice_by_a_mask_that_is_known_takes_no_mask() {
    let code = narrowed(|a| {
        load(a, 0, 0);
        load(a, 1, 1);
        a.ri(Code::Mov_r32_imm32, Register::EAX, 0xaaaa);
        a.rr(Code::VEX_Kmovw_kr_r32, mask_register(1), Register::EAX);
        a.v2(VMOVDQU32, Z, 0, Opd::Reg(1), Lanes::Of(1));
        store(a, 8, 0);
    });
    let blends: Vec<u8> = code
        .iter()
        .filter(|i| i.code() == Code::VEX_Vpblendd_ymm_ymm_ymmm256_imm8)
        .map(Instruction::immediate8)
        .collect();
    assert_eq!(blends, [0xaa, 0xaa]);
    assert_eq!(count(&code, Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm), 0);
}
