//! Computations of some channels after the others: see `optimize::split_channels`.

use std::collections::HashMap;

use super::*;

/// A product of a scalar and a vector, added to a third.
fn mad(dst: u32, factor: u32, vector_at: u32, sum: u32) -> Inst {
    let mut i =
        inst(Op::Mad, ExecType::F32, to(dst, Type::F), scalar(factor, Type::F), vector(vector_at, Type::F));
    i.src[2] = vector(sum, Type::F);
    i
}

fn split(code: Vec<Inst>, messages: Vec<Message>) -> Vec<Inst> {
    let n = code.len();
    let mut p = program([code, vec![ret()]].concat(), messages);
    let blocks = Blocks::new(&p);
    crate::optimize::split_channels::split_channels(&mut p, &blocks);
    assert!(p.code.len() > n && p.code.last().is_some_and(|i| i.op == Op::Ret));
    p.code.pop();
    p.code
}

/// What code leaves in each byte that begins an element, if each channel makes something of its own of what it reads.
fn results(code: &[Inst]) -> HashMap<u32, u64> {
    let mut all: HashMap<u32, u64> = HashMap::new();
    for i in code {
        let mut made = Vec::new();
        for k in 0..u32::from(i.channels) {
            let mut x = 0xcbf2_9ce4_8422_2325u64 ^ i.op as u64;
            for s in &i.src {
                if let Src::Reg { offset, ty, strides, .. } = s {
                    let at = offset + strides.element(k) * ty.size();
                    let read = all.get(&at).copied().unwrap_or(u64::from(at));
                    x = (x ^ read).wrapping_mul(0x0100_0000_01b3).rotate_left(17);
                }
            }
            made.push(x);
        }
        if let Dst::Reg { offset, ty, .. } = i.dst {
            let elements = (0u32..).zip(made).map(|(k, x)| (offset + k * ty.size(), x));
            all.extend(elements);
        }
    }
    all
}

/// What is computed for which channels, in order.
fn order(code: &[Inst]) -> Vec<(Op, u8, u8)> {
    code.iter().map(|i| (i.op, i.channels, i.first)).collect()
}

/// Sixteen sums of four products each: their factors are loaded in between.
fn sums() -> (Vec<Inst>, Vec<Message>) {
    let load =
        Simt { space: Space::Slm, address: v(30), data: Some(v(29)), address_bytes: 4, ..Simt::default() };
    let mut code = Vec::new();
    for round in 0..4 {
        code.push(Inst { channels: 1, no_mask: true, ..message(0) });
        code.extend((0..16).map(|k| mad(v(k), v(29) + 4 * k, v(20 + round), v(k))));
    }
    (code, vec![Message::Simt(load)])
}

#[test]
fn sums_that_find_no_registers_are_made_for_half_the_channels() {
    // One load: the others would change the factors under those before them.
    let (mut code, messages) = sums();
    let mut first = true;
    code.retain(|i| i.op != Op::Message || std::mem::take(&mut first));
    let made = split(code.clone(), messages.clone());
    assert_eq!(results(&made), results(&code));
    let half = |first| vec![(Op::Mad, 16, first); 64];
    assert_eq!(order(&made), [vec![(Op::Message, 1, 0)], half(0), half(16)].concat());
    // Few sums find registers.
    let few: Vec<Inst> = (0..64).map(|k| mad(v(k % 4), v(29), v(20), v(k % 4))).collect();
    assert_eq!(order(&split(few.clone(), Vec::new())), order(&few));
}

/// Loads go before computations, but not before those that read what was there, and stores never do.
#[test]
fn what_is_read_is_loaded_behind_its_readers() {
    let (code, messages) = sums();
    let made = split(code.clone(), messages.clone());
    let places = |code: &[Inst]| code.iter().filter(|i| i.op == Op::Message).count();
    assert_eq!((places(&made), results(&made)), (4, results(&code)));
    for (at, i) in made.iter().enumerate().filter(|(_, i)| i.op == Op::Message) {
        let before =
            made[..at].iter().filter(|i| i.op == Op::Mad).map(|i| u32::from(i.channels)).sum::<u32>();
        assert_eq!(before % (16 * 32), 0, "{i:?}");
    }
    let mut stores = messages;
    if let Message::Simt(s) = &mut stores[0] {
        s.write = true;
    }
    assert_eq!(order(&split(code.clone(), stores)), order(&code));
}

/// Whatever registers computations share, each reads what it read before.
#[test]
fn parts_compute_the_same() {
    let mut state = 1u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut changed = 0;
    for round in 0..400 {
        let wide = round % 3 == 0;
        let (ty, exec) = if wide { (Type::Df, ExecType::F64) } else { (Type::F, ExecType::F32) };
        let mut code = Vec::new();
        for _ in 0..30 + below(200) {
            // Now and then registers that overlap by half, and a scalar of what another one makes.
            let mut at = |shifted: u64| v(below(26) as u32) + if below(shifted) == 0 { 64 } else { 0 };
            let (dst, a, b) = (at(200), at(200), at(200));
            let mut i = inst(Op::Mad, exec, to(dst, ty), vector(a, ty), vector(b, ty));
            i.src[2] = vector(dst, ty);
            if below(60) == 0 {
                i.src[0] = scalar(a + 8 * below(16) as u32, ty);
            }
            code.push(i);
        }
        let made = split(code.clone(), Vec::new());
        assert_eq!(results(&made), results(&code));
        changed += u32::from(order(&made) != order(&code));
    }
    assert!(changed > 100, "{changed}");
}
