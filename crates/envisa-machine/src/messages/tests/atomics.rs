//! DWORD_ATOMIC, SVM_ATOMIC and the LSC's atomics.

use envisa_lower::{Atomic, Extend, Message, Space, Src};

use super::*;
use crate::messages::{AccessKind, FaultKind};

/// The page's table, written down again: operator, (old, src0, src1) to (new, returned).
fn legacy(code: u8, bits: u32, old: u64, a: u64, b: u64) -> Option<(u64, u64)> {
    let mask = u64::MAX >> (64 - bits);
    let (old, a, b) = (old & mask, a & mask, b & mask);
    let signed = |x: u64| (x << (64 - bits)) as i64 >> (64 - bits);
    let new = match code {
        0 => old.wrapping_add(a),
        1 => old.wrapping_sub(a),
        2 => old.wrapping_add(1),
        3 | 13 => old.wrapping_sub(1),
        4 => {
            if a < old {
                a
            } else {
                old
            }
        }
        5 => {
            if a > old {
                a
            } else {
                old
            }
        }
        6 => a,
        7 => {
            if old == b {
                a
            } else {
                old
            }
        }
        8 => old & a,
        9 => old | a,
        10 => old ^ a,
        11 => {
            if signed(a) < signed(old) {
                a
            } else {
                old
            }
        }
        12 => {
            if signed(a) > signed(old) {
                a
            } else {
                old
            }
        }
        16..=20 if bits == 32 => {
            let f = |x: u64| f32::from_bits(x as u32);
            let to = |x: f32| x.to_bits().into();
            of_floats(code, (old, a, b), f, to)
        }
        16..=20 if bits == 64 => of_floats(code, (old, a, b), f64::from_bits, f64::to_bits),
        _ => return None,
    } & mask;
    Some((new, if code == 13 { new } else { old }))
}

/// The operators of floats.
fn of_floats<F: PartialOrd + std::ops::Add<Output = F> + std::ops::Sub<Output = F>>(
    code: u8,
    (old, a, b): (u64, u64, u64),
    f: impl Fn(u64) -> F,
    to: impl Fn(F) -> u64,
) -> u64 {
    match code {
        16 => {
            if f(a) > f(old) {
                a
            } else {
                old
            }
        }
        17 => {
            if f(a) < f(old) {
                a
            } else {
                old
            }
        }
        18 => {
            if f(a) == f(old) {
                b
            } else {
                old
            }
        }
        19 => to(f(old) + f(a)),
        _ => to(f(old) - f(a)),
    }
}

/// The legacy code of an LSC sub-opcode; its compare-exchange has its operands the other way round.
fn of_lsc(sub: u8) -> Option<u8> {
    Some(match sub {
        0x08 => 2,
        0x09 => 3,
        0x0b => 6,
        0x0c => 0,
        0x0d => 1,
        0x0e => 11,
        0x0f => 12,
        0x10 => 4,
        0x11 => 5,
        0x12 => 7,
        0x13 => 19,
        0x14 => 20,
        0x15 => 17,
        0x16 => 16,
        0x17 => 18,
        0x18 => 8,
        0x19 => 9,
        0x1a => 10,
        _ => return None,
    })
}

fn atomic(space: Space, code: u8, lsc: bool, element: u8) -> Atomic {
    Atomic {
        space,
        code,
        lsc,
        element,
        slot: element.max(4),
        address: ADDRESS,
        address_bytes: 4,
        extend: Extend::None,
        origin: Src::None,
        base: Src::None,
        scale: 1,
        offset: 0,
        src: [Some(DATA), Some(DATA + 512)],
        dst: Some(MORE),
    }
}

/// Numbers a float comparison has an opinion on, with the sign and the order random.
fn number(rng: &mut Rng, bits: u32, float: bool) -> u64 {
    let small = rng.below(9) as f64 - 4.0;
    match (float, bits) {
        (true, 32) => (small as f32).to_bits() as u64,
        (true, 64) => small.to_bits(),
        _ => match rng.below(3) {
            0 => rng.below(4),
            1 => u64::MAX - rng.below(4),
            _ => rng.next(),
        },
    }
}

#[test]
fn every_operator_width_mask_and_space() {
    let mut rng = Rng(1);
    let codes = (0..=20u8).filter(|c| !matches!(c, 14 | 15)).map(|c| (c, c, false));
    let codes: Vec<_> = codes.chain((8..=0x1a).filter_map(|s| Some((s, of_lsc(s)?, true)))).collect();
    let spaces = [Some(Kind::Bti), Some(Kind::Unbound), Some(Kind::Slm), Some(Kind::General), None];
    for (code, model, lsc) in codes {
        for element in [2usize, 4, 8] {
            if model >= 16 && element == 2 {
                continue; // Halves: envisa-sem's own tests.
            }
            for exec in [1u32, 2, 4, 8, 16, 32] {
                for kind in spaces {
                    one(&mut rng, (code, model, lsc), element, exec, kind);
                }
            }
        }
    }
}

/// One message of an operator, of elements of so many bytes, for `exec` channels.
fn one(rng: &mut Rng, (code, model, lsc): (u8, u8, bool), element: usize, exec: u32, kind: Option<Kind>) {
    let bits = element as u32 * 8;
    let float = model >= 16;
    let mut rig = Rig::new(rng);
    if let Some(kind) = kind {
        kind.prepare(&mut rig);
    }
    let mask = {
        let m = masks(rng, exec);
        m[rng.below(m.len() as u64) as usize]
    };
    let slot = element.max(4);
    // Few places, so that channels meet; of a surface, some are outside.
    let places = rng.below(12) + 1;
    let start = match kind {
        Some(k) => (k.len() as u64).saturating_sub(places / 2 * element as u64) / 8 * 8,
        None => rig.base(1),
    };
    let mut before = rig.state();
    for p in 0..places {
        let x = number(rng, bits, float);
        let at = start + p * element as u64;
        put(&rig, &mut before, kind, at, element, x);
    }
    rig.restore(&before);
    let mut at = [0u64; 32];
    for i in 0..exec {
        at[i as usize] = start + rng.below(places) * element as u64;
        match kind {
            Some(k) => {
                let bias = if k == Kind::Slm { 0x1000_0000 } else { 0 };
                rig.regs.set(ADDRESS + 4 * i, at[i as usize] as u32 | bias);
            }
            None => rig.regs.set(ADDRESS + 8 * i, at[i as usize]),
        }
        for src in [DATA, DATA + 512] {
            let x = number(rng, bits, float);
            match slot {
                8 => rig.regs.set(src + 8 * i, x),
                // The upper half of a word's dword is not looked at.
                _ => rig.regs.set(src + 4 * i, x as u32),
            }
        }
    }
    let space = kind.map_or(Space::Flat, Kind::space);
    let m = Message::Atomic(Atomic {
        address_bytes: if kind.is_some() { 4 } else { 8 },
        extend: Extend::None,
        origin: Src::None,
        ..atomic(space, code, lsc, element as u8)
    });
    let mut want = rig.state();
    for i in (0..exec as usize).filter(|i| mask >> i & 1 != 0) {
        let a = want.reg(DATA as usize + i * slot, slot);
        let b = want.reg(DATA as usize + 512 + i * slot, slot);
        let (a, b) = if lsc && model == 7 { (b, a) } else { (a, b) };
        let old = match kind {
            Some(k) => k.read(&mut want, at[i], element),
            None => Some(little(
                &(0..element as u64).map(|b| *flat(&rig, &mut want, at[i] + b).unwrap()).collect::<Vec<_>>(),
            )),
        };
        let result = old.map(|old| legacy(model, bits, old, a, b).unwrap());
        if let Some((new, _)) = result {
            put(&rig, &mut want, kind, at[i], element, new);
        }
        want.set_reg(MORE as usize + i * slot, slot, result.map_or(0, |r| r.1));
    }
    let (result, told) = rig.run(&m, mask, exec);
    assert_eq!(result, Ok(()));
    assert!(rig.state() == want, "{code:#x} lsc {lsc} {element} ({exec}) {kind:?} {mask:#x}");
    assert_eq!(told.len(), mask.count_ones() as usize);
    assert!(told.iter().all(|a| a.kind == AccessKind::Atomic));
}

/// Puts an element to a place of a surface, or to an address.
fn put(rig: &Rig, s: &mut State, kind: Option<Kind>, at: u64, element: usize, x: u64) {
    match kind {
        Some(k) => {
            k.write(s, at, element, x);
        }
        None => {
            for b in 0..element as u64 {
                *flat(rig, s, at + b).unwrap() = (x >> (8 * b)) as u8;
            }
        }
    }
}

/// Brain floats have 16 bits: the upper half of a single, rounded to even.
#[test]
fn brain_floats() {
    let numbers = [0.0f32, -0.0, 1.0, -1.5, 3.25, 1e30, f32::INFINITY, f32::NAN, 1.0078125];
    let bf = |x: f32| (x.to_bits() >> 16) as u16;
    let single = |x: u16| f32::from_bits((x as u32) << 16);
    let rounded = |x: f32| {
        let bits = x.to_bits();
        ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
    };
    let mut rng = Rng(5);
    for (old, a) in numbers.into_iter().flat_map(|o| numbers.map(|a| (o, a))) {
        let (old, a, new) = (bf(old), bf(a), bf(7.0));
        let (o, v) = (single(old), single(a));
        for code in 0x21..=0x25u8 {
            let mut rig = Rig::new(&mut rng);
            rig.slm.write(8, old.to_le_bytes());
            rig.regs.set(ADDRESS, 8u32);
            rig.regs.set(DATA, a as u32 | 0xbad0_0000);
            rig.regs.set(DATA + 512, new as u32);
            rig.run(&Message::Atomic(atomic(Space::Slm, code, true, 2)), 1, 1).0.unwrap();
            let got = rig.slm.read::<2>(8).map(u16::from_le_bytes).unwrap();
            let want = match code {
                0x21 => rounded(o + v),
                0x22 => rounded(o - v),
                // A NaN loses against a number; of zeros, either may win.
                0x23 => bf(o.min(v)),
                0x24 => bf(o.max(v)),
                _ if o == v => new,
                _ => old,
            };
            let same = got == want || single(got) == single(want) && code != 0x25;
            let nan = single(got).is_nan() && single(want).is_nan();
            assert!(same || nan, "{code:#x} {o} {v}: {got:#x}, not {want:#x}");
            assert_eq!(rig.regs.get::<u32>(MORE), old as u32);
        }
    }
}

#[test]
fn atomic_load_changes_nothing() {
    let mut rig = Rig::new(&mut Rng(2));
    rig.regs.set(ADDRESS, 8u32);
    let before = rig.state();
    rig.run(&Message::Atomic(atomic(Space::Slm, 0x0a, true, 4)), 1, 1).0.unwrap();
    assert_eq!(rig.regs.slice(MORE, 4), &before.slm[8..12]);
    assert_eq!(rig.state().slm, before.slm);
}

#[test]
fn null_operands() {
    // inc takes no source; without a destination nothing is returned.
    let mut rig = Rig::new(&mut Rng(3));
    rig.regs.set(ADDRESS, 8u32);
    let before = rig.state();
    let m = Atomic { src: [None, None], dst: None, ..atomic(Space::Slm, 2, false, 4) };
    rig.run(&Message::Atomic(m), 1, 1).0.unwrap();
    let after = rig.state();
    assert_eq!(after.regs, before.regs);
    assert_eq!(little(&after.slm[8..12]) as u32, (little(&before.slm[8..12]) as u32).wrapping_add(1));
}

#[test]
fn alignment_and_faults() {
    let mut rig = Rig::new(&mut Rng(4));
    let base = rig.base(0);
    for element in [2u8, 4, 8] {
        let m = Message::Atomic(Atomic { address_bytes: 8, ..atomic(Space::Flat, 0, false, element) });
        rig.regs.set(ADDRESS, base + element as u64 / 2);
        let fault = rig.run(&m, 1, 1).0.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Misaligned(element as u32));
        rig.regs.set(ADDRESS, base + 1000);
        let fault = rig.run(&m, 1, 1).0.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Outside(AccessKind::Atomic));
    }
    let fault = rig.run(&Message::Atomic(atomic(Space::Slm, 15, false, 4)), 1, 1).0.unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Unsupported(_)));
}

/// Sums whose addresses are in the allocation where the message went last are done by the fast code.
#[test]
fn sums_are_fast() {
    let mut rig = Rig::new(&mut Rng(12));
    for (address_bytes, scale, extend) in
        [(8, 1, Extend::None), (8, 4, Extend::None), (4, 4, Extend::Sign), (4, 4, Extend::Zero)]
    {
        let a = Atomic {
            space: Space::Flat,
            code: 8,
            lsc: true,
            element: 4,
            slot: 4,
            address: ADDRESS,
            address_bytes,
            extend,
            base: Src::None,
            scale,
            offset: 0,
            origin: if scale == 1 { Src::None } else { scalar(SCALAR, envisa_isa::Type::Uq) },
            src: [None, None],
            dst: None,
        };
        let base = rig.base(0);
        rig.regs.set(SCALAR, base);
        for i in 0..32 {
            match address_bytes {
                8 if scale == 1 => rig.regs.set(ADDRESS + 8 * i, base + 4 * i as u64),
                8 => rig.regs.set(ADDRESS + 8 * i, i as u64),
                _ => rig.regs.set(ADDRESS + 4 * i, i),
            }
        }
        let sum = Sum::new(&a, rig.regs.len()).unwrap();
        let near = Reach { memory: &rig.memory.map(), slm: &rig.slm };
        let far = |_: &Registers| unreachable!();
        let before: u32 = u32::from_le_bytes(rig.memory.get(rig.ids[0]).unwrap().block.read(4).unwrap());
        let mut site = Hint::default();
        assert!(near.memory.find(rig.base(0), 4, true, &mut site).is_some());
        assert!(sum.run::<32, 0>(Isa::BASE, near, far, &mut rig.regs, u32::MAX, &site));
        let after = u32::from_le_bytes(rig.memory.get(rig.ids[0]).unwrap().block.read(4).unwrap());
        assert_eq!(after, before.wrapping_add(1));
    }
}
