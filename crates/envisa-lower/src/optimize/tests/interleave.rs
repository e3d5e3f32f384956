//! Orders of straight code: see `optimize::interleave`.

use std::collections::HashMap;

use super::*;

fn compute(op: Op, dst: u32, a: u32, b: u32) -> Inst {
    inst(op, ExecType::I32, to(v(dst), Type::D), vector(v(a), Type::D), vector(v(b), Type::D))
}

fn interleaved(code: Vec<Inst>) -> Vec<Inst> {
    let n = code.len();
    let mut p = program([code, vec![ret()]].concat(), Vec::new());
    let blocks = Blocks::new(&p);
    crate::optimize::interleave::interleave_chains(&mut p, &blocks);
    p.code[..n].to_vec()
}

/// What code leaves in each variable, if an instruction makes something of its own of what it reads.
fn results(code: &[Inst]) -> HashMap<u32, u64> {
    let mut all: HashMap<u32, u64> = HashMap::new();
    for i in code {
        let mut made = 0xcbf2_9ce4_8422_2325u64 ^ i.op as u64;
        for s in &i.src {
            if let Src::Reg { offset, .. } = s {
                let read = all.get(offset).copied().unwrap_or(u64::from(*offset));
                made = (made ^ read).wrapping_mul(0x0100_0000_01b3).rotate_left(17);
            }
        }
        if let Dst::Reg { offset, .. } = i.dst {
            all.insert(offset, made);
        }
    }
    all
}

/// What is computed where, in order.
fn order(code: &[Inst]) -> Vec<(Op, Dst)> {
    code.iter().map(|i| (i.op, i.dst)).collect()
}

/// How many steps of one chain follow one another at most; a chain is a variable.
fn longest(code: &[Inst]) -> usize {
    code.chunk_by(|a, b| a.dst == b.dst).map(<[Inst]>::len).max().unwrap_or(0)
}

#[test]
fn chains_are_computed_side_by_side() {
    let chain = |k: u32| [compute(Op::Mul, k, k, k), compute(Op::Add, k, k, 9)].into_iter().cycle().take(128);
    let code: Vec<Inst> = (1..5).flat_map(chain).collect();
    let made = interleaved(code.clone());
    assert_eq!(results(&made), results(&code));
    assert_eq!((longest(&code), longest(&made) <= 2), (128, true), "{}", longest(&made));
    // One chain, and few steps, stay as they are.
    let one: Vec<Inst> = chain(1).collect();
    assert_eq!(order(&interleaved(one.clone())), order(&one));
    let few: Vec<Inst> = (1..5).flat_map(|k| chain(k).take(4)).collect();
    assert_eq!(order(&interleaved(few.clone())), order(&few));
}

/// There are no registers for all of many chains at once: groups of them come one after the other.
#[test]
fn chains_for_which_there_are_no_registers_wait() {
    let round = |_: u32| (0..28u32).map(|k| compute(Op::Mul, k, k, k));
    let code: Vec<Inst> = (0..60).flat_map(round).collect();
    let made = interleaved(code.clone());
    assert_eq!(results(&made), results(&code));
    // The first chain is over before the last one begins.
    let last = |code: &[Inst]| code.iter().rposition(|i| i.dst == to(v(0), Type::D));
    let first = |code: &[Inst]| code.iter().position(|i| i.dst == to(v(27), Type::D));
    assert!(last(&code) > first(&code) && last(&made) < first(&made));
}

/// Whatever the order, each instruction reads what it read before.
#[test]
fn every_order_computes_the_same() {
    let (mut state, mut moved) = (1u64, 0);
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for _ in 0..300 {
        let registers = 2 + below(26);
        let len = 20 + below(400);
        // Mostly of what was made by the same chain; sometimes over what somebody else still reads.
        let mut code = Vec::new();
        let mut chain = 0;
        for _ in 0..len {
            if below(40) == 0 {
                chain = below(registers);
            }
            let other = if below(12) == 0 { below(registers) } else { chain };
            let to = if below(30) == 0 { below(registers) } else { chain };
            let op = [Op::Mul, Op::Mul, Op::Add, Op::Xor][below(4) as usize];
            code.push(compute(op, to as u32, chain as u32, other as u32));
        }
        let made = interleaved(code.clone());
        assert_eq!(results(&made), results(&code));
        moved += u32::from(order(&made) != order(&code));
    }
    assert!(moved > 30, "{moved}");
}
