//! DWORD_ATOMIC, SVM_ATOMIC and the LSC's atomics: every operator at every width; old values are returned.

use crate::founding::{offset, predicated, text};
use crate::harness::{A, Bench, Case, Predicate, Rng, Surf, covers, mask_name};
use crate::lsc::Model;
use crate::scattered::masks;
use envisa::isa::Platform;
use envisa_machine::trap::Cause;

/// Operator: what it makes of the old value, two operands and the number of bits.
type Operator = fn(u64, u64, u64, u32) -> u64;

fn signed(x: u64, bits: u32) -> i64 {
    (x << (64 - bits)) as i64 >> (64 - bits)
}

/// Floats of 16, 32 or 64 bits, as doubles.
fn number(x: u64, bits: u32) -> f64 {
    match bits {
        16 => half::f16::from_bits(x as u16).to_f64(),
        32 => f32::from_bits(x as u32) as f64,
        _ => f64::from_bits(x),
    }
}

/// Rounded once; sums of the numbers used here are exact in double.
fn bits_of(x: f64, bits: u32) -> u64 {
    match bits {
        16 => half::f16::from_f64(x).to_bits() as u64,
        32 => (x as f32).to_bits() as u64,
        _ => x.to_bits(),
    }
}

/// Legacy name, LSC name, operands, float, model (the compare-exchanges: operand, comparand).
const OPS: [(&str, &str, usize, bool, Operator); 18] = [
    ("add", "iadd", 1, false, |o, a, _, _| o.wrapping_add(a)),
    ("sub", "isub", 1, false, |o, a, _, _| o.wrapping_sub(a)),
    ("inc", "iinc", 0, false, |o, _, _, _| o.wrapping_add(1)),
    ("dec", "idec", 0, false, |o, _, _, _| o.wrapping_sub(1)),
    ("min", "umin", 1, false, |o, a, _, _| o.min(a)),
    ("max", "umax", 1, false, |o, a, _, _| o.max(a)),
    ("xchg", "store", 1, false, |_, a, _, _| a),
    ("cmpxchg", "icas", 2, false, |o, a, c, _| if o == c { a } else { o }),
    ("and", "and", 1, false, |o, a, _, _| o & a),
    ("or", "or", 1, false, |o, a, _, _| o | a),
    ("xor", "xor", 1, false, |o, a, _, _| o ^ a),
    ("minsint", "smin", 1, false, |o, a, _, n| signed(o, n).min(signed(a, n)) as u64),
    ("maxsint", "smax", 1, false, |o, a, _, n| signed(o, n).max(signed(a, n)) as u64),
    ("fmax", "fmax", 1, true, |o, a, _, n| bits_of(number(o, n).max(number(a, n)), n)),
    ("fmin", "fmin", 1, true, |o, a, _, n| bits_of(number(o, n).min(number(a, n)), n)),
    ("fcmpwr", "fcas", 2, true, |o, a, c, n| if number(o, n) == number(c, n) { a } else { o }),
    ("fadd", "fadd", 1, true, |o, a, _, n| bits_of(number(o, n) + number(a, n), n)),
    ("fsub", "fsub", 1, true, |o, a, _, n| bits_of(number(o, n) - number(a, n), n)),
];

/// A datum: for floats a small number, and no zero of either sign but one.
fn datum(rng: &mut Rng, bits: u32, float: bool) -> u64 {
    match float {
        true => bits_of(rng.below(64) as f64 / 8.0 - 4.0, bits),
        false => {
            [rng.next(), rng.below(4), u64::MAX - rng.below(3)][rng.below(3) as usize]
                & (u64::MAX >> (64 - bits))
        }
    }
}

/// Where a message's addresses are.
#[derive(Clone, Copy)]
enum Where {
    Surface(Surf),
    Svm,
    Lsc(Model),
}

impl Where {
    fn read(self, b: &mut Bench, at: u64, n: usize) -> Option<u64> {
        match self {
            Where::Surface(s) => b.world.read(s, at, n),
            Where::Svm => Model::Flat.read(b, at, 0, n),
            Where::Lsc(m) => m.read(b, at, 0, n),
        }
    }
    fn write(self, b: &mut Bench, at: u64, n: usize, x: u64) {
        match self {
            Where::Surface(s) => b.world.write(s, at, n, x),
            Where::Svm => Model::Flat.write(b, at, 0, n, x),
            Where::Lsc(m) => m.write(b, at, 0, n, x),
        }
    }
}

/// One message: few places, so that channels meet.
fn one(b: &mut Bench, rng: &mut Rng, to: Where, bits: u32, n: u32, mask: usize, op: usize) {
    let (legacy, lsc, operands, float, model) = OPS[op];
    let bytes = bits as usize / 8;
    let slot = bytes.max(4);
    let p = rng.pick(&Predicate::ALL);
    let mut c = predicated(rng, p);
    let places: Vec<u64> = (0..1 + rng.below(6))
        .map(|_| match to {
            Where::Surface(Surf::State | Surf::Slm) | Where::Lsc(Model::Slm) => rng.below(240) / 8 * 8,
            Where::Surface(s) => offset(rng, s, 8),
            Where::Svm | Where::Lsc(Model::Flat) => rng.below(900) / 8 * 8,
            Where::Lsc(_) => offset(rng, Surf::Bti, 8),
        })
        .collect();
    stored_first(b, rng, to, &places, (bits, float));
    let at: Vec<u64> = (0..n).map(|_| rng.pick(&places)).collect();
    let bias = if matches!(to, Where::Surface(Surf::Slm) | Where::Lsc(Model::Slm)) { 0x1000_0000 } else { 0 };
    let (ty, addresses): (&str, Vec<u64>) = match to {
        Where::Surface(_) => ("ud", at.iter().map(|a| a | (bias * rng.below(2))).collect()),
        Where::Svm => ("uq", at.iter().map(|a| A + a).collect()),
        Where::Lsc(m) => {
            (m.text().1, at.iter().map(|a| m.register(a | (bias * rng.below(2)), 1, 16)).collect())
        }
    };
    let mut src = [(); 2].map(|_| (0..n).map(|_| datum(rng, bits, float)).collect::<Vec<u64>>());
    let comparand = match (to, float) {
        // LSC: the comparand first; others: integers have it last, floats first.
        (Where::Lsc(_), _) | (_, true) => 0,
        _ => 1,
    };
    if operands == 2 {
        for (x, a) in src[comparand].iter_mut().zip(&at) {
            if let (Some(now), 0) = (to.read(b, *a, bytes), rng.below(2)) {
                *x = now;
            }
        }
    }
    c.var("addr", ty, &addresses);
    let keep = rng.below(4) != 0;
    let data = if slot == 8 { "uq" } else { "ud" };
    for (name, values) in ["s0", "s1"].into_iter().zip(&src) {
        // The upper half of a word's dword is not looked at.
        let noise = if bytes == 2 { 0xabcd_0000 } else { 0 };
        c.var(name, data, &values.iter().map(|v| v | noise).collect::<Vec<_>>());
    }
    c.bytes("dst", data, &rng.bytes(n as usize * slot));
    for i in 0..n as usize {
        if !c.active(mask, p, n, i as u32) {
            continue;
        }
        let old = to.read(b, at[i], bytes);
        if let Some(old) = old {
            let (a, cmp) = match operands {
                2 => (src[1 - comparand][i], src[comparand][i]),
                _ => (src[0][i], 0),
            };
            let new = model(old, a, cmp, bits) & (u64::MAX >> (64 - bits));
            to.write(b, at[i], bytes, new);
        }
        if keep {
            c.of("dst").set(i * slot, slot, old.unwrap_or(0));
        }
    }
    let (m, pt) = (mask_name(mask), p.text());
    let null = |on: bool, name: &str| if on { format!("{name}.0") } else { "%null.0".into() };
    let (s0, s1) = (null(operands > 0, "$s0"), null(operands > 1, "$s1"));
    let dst = null(keep, "$dst");
    let t = match to {
        Where::Surface(s) => {
            let half = if bits == 16 { ".16" } else { "" };
            format!("{pt}dword_atomic.{legacy}{half} ({m},{n}) {} $addr.0 {s0} {s1} {dst}", s.text())
        }
        Where::Svm => {
            let width = if bits == 32 { String::new() } else { format!(".{bits}") };
            format!("{pt}svm_atomic.{legacy}{width} ({m},{n}) $addr.0 {dst} {s0} {s1}")
        }
        Where::Lsc(model) => {
            let (what, _, size) = model.text();
            let d = match bits {
                16 => "d16c32",
                32 => "d32",
                _ => "d64",
            };
            let dst = if keep { "$dst" } else { "%null" };
            let (s0, s1) = (s0.trim_end_matches(".0").to_owned(), s1.trim_end_matches(".0").to_owned());
            format!(
                "{pt}lsc_atomic_{lsc}.{} ({m},{n}) {dst}:{d} {what}[$addr+0x10]:{size} {s0} {s1}",
                model.sfid()
            )
        }
    };
    b.run(text(&c, t));
}

/// What is there: given by a first case, an ordinary store.
fn stored_first(b: &mut Bench, rng: &mut Rng, to: Where, places: &[u64], (bits, float): (u32, bool)) {
    let bytes = bits as usize / 8;
    for at in places {
        if to.read(b, *at, bytes).is_some() {
            let x = datum(rng, bits, float);
            let (lo, hi) = (x & 0xffff_ffff, x >> 32);
            let mut seed = Case::default();
            seed.var("src", "ud", &[lo, hi]);
            let width = if bytes == 2 { 2 } else { 4 };
            for (k, _) in [lo, hi].iter().enumerate().take(bytes.div_ceil(4)) {
                let address = at + 4 * k as u64;
                to.write(b, address, width.min(bytes), if k == 0 { lo } else { hi });
                let mut part = seed.clone();
                let t = match to {
                    Where::Surface(s) => {
                        part.var("off", "ud", &[address]);
                        format!("scatter_scaled.{width} (M1_NM,1) {} 0x0:ud $off.0 $src.{}", s.text(), 4 * k)
                    }
                    Where::Lsc(Model::Slm) => {
                        part.var("off", "ud", &[address]);
                        format!("scatter_scaled.{width} (M1_NM,1) %slm 0x0:ud $off.0 $src.{}", 4 * k)
                    }
                    Where::Lsc(Model::Bti | Model::Bss) => {
                        part.var("off", "ud", &[address]);
                        format!("scatter_scaled.{width} (M1_NM,1) T6 0x0:ud $off.0 $src.{}", 4 * k)
                    }
                    _ => {
                        part.var("off", "uq", &[A + address]);
                        let count = if width == 2 { "1.2" } else { "4.1" };
                        format!("svm_scatter.{count} (M1_NM,1) $off.0 $src.{}", 4 * k)
                    }
                };
                b.run(text(&part, t));
            }
        }
    }
}

/// DWORD_ATOMIC: surfaces, 16 and 32 bits; outside nothing is changed and zero returned.
#[test]
fn dword_atomic() {
    let _covers = covers("atomics::dword_atomic");
    let mut rng = Rng(1);
    let mut b = Bench::new(Platform::Pvc, 100);
    for op in 0..OPS.len() {
        for surface in Surf::ALL {
            for bits in [16, 32] {
                for n in [1u32, 2, 4, 8, 16] {
                    for _ in 0..2 {
                        let mask = rng.pick(&masks(n));
                        one(&mut b, &mut rng, Where::Surface(surface), bits, n, mask, op);
                    }
                }
            }
        }
    }
}

/// SVM_ATOMIC: 16, 32 and 64 bits.
#[test]
fn svm_atomic() {
    let _covers = covers("atomics::svm_atomic");
    let mut rng = Rng(2);
    let mut b = Bench::new(Platform::Pvc, 101);
    for op in 0..OPS.len() {
        for bits in [16, 32, 64] {
            for n in [1u32, 2, 4, 8, 16] {
                for _ in 0..2 {
                    let mask = rng.pick(&masks(n));
                    one(&mut b, &mut rng, Where::Svm, bits, n, mask, op);
                }
            }
        }
    }
}

/// The LSC's atomics on flat addresses, shared local memory, surfaces by index and by handle.
#[test]
fn lsc_atomics() {
    let _covers = covers("atomics::lsc_atomics");
    let mut rng = Rng(3);
    let mut b = Bench::new(Platform::Pvc, 102);
    for op in 0..OPS.len() {
        for model in [Model::Flat, Model::Slm, Model::Bti, Model::Bss] {
            for bits in [16, 32, 64] {
                for n in [1u32, 8, 16, 32] {
                    let mask = rng.pick(&masks(n));
                    one(&mut b, &mut rng, Where::Lsc(model), bits, n, mask, op);
                }
            }
        }
    }
    // An atomic load changes nothing.
    for n in [1u32, 16, 32] {
        let mut c = Case::default();
        let at: Vec<u64> = (0..n).map(|_| rng.below(200) * 4).collect();
        c.var("addr", "uq", &at.iter().map(|a| A + a).collect::<Vec<_>>());
        c.bytes("dst", "ud", &rng.bytes(n as usize * 4));
        for (i, a) in at.iter().enumerate() {
            let x = Model::Flat.read(&mut b, *a, 0, 4).unwrap_or(0);
            c.of("dst").set(4 * i, 4, x);
        }
        b.run(text(&c, format!("lsc_atomic_load.ugm (M1_NM,{n}) $dst:d32 flat[$addr]:a64 %null %null")));
    }
}

#[test]
fn atomics_fault() {
    let _covers = covers("atomics::atomics_fault");
    let mut b = Bench::new(Platform::Pvc, 103);
    for (t, wrong, bytes) in [
        ("svm_atomic.add (M1,8) $addr.0 %null.0 $src.0 %null.0", A + 1004, 4u32),
        ("svm_atomic.add.64 (M1,8) $addr.0 %null.0 $src.0 %null.0", A + 1000, 8),
        ("lsc_atomic_iadd.ugm (M1,8) %null:d32 flat[$addr]:a64 $src %null", 0, 4),
        ("svm_atomic.add (M1,8) $addr.0 %null.0 $src.0 %null.0", A + 2, 4),
        ("lsc_atomic_iadd.ugm (M1,8) %null:d64 flat[$addr]:a64 $src %null", A + 4, 8),
    ] {
        let mut c = Case::new(t);
        let mut addresses = vec![A; 8];
        addresses[3] = wrong;
        c.var("addr", "uq", &addresses);
        c.bytes("src", if bytes == 8 { "uq" } else { "ud" }, &[1; 64]);
        let trap = b.fault(&c);
        assert_eq!(trap.channel, Some(3), "{t}");
        let misaligned = wrong % bytes as u64 != 0;
        match trap.cause {
            Cause::Misaligned { address, align, .. } => {
                assert_eq!((misaligned, address, align), (true, wrong, bytes))
            }
            Cause::Memory { address, write: true, .. } => assert_eq!((misaligned, address), (false, wrong)),
            other => panic!("{other:?}"),
        }
    }
}

/// Brain floats: the upper half of a single.
#[test]
fn brain_floats() {
    let _covers = covers("atomics::brain_floats");
    let mut rng = Rng(4);
    let mut b = Bench::new(Platform::Xe3p, 104);
    let single = |x: u16| f32::from_bits((x as u32) << 16);
    // Eighths below 4: sums are exact.
    let bf = |x: f32| (x.to_bits() >> 16) as u16;
    for (op, operands) in [("bfadd", 1), ("bfsub", 1), ("bfmin", 1), ("bfmax", 1), ("bfcas", 2)] {
        for n in [1u32, 16, 32] {
            for mask in masks(n) {
                let mut c = predicated(&mut rng, Predicate::None);
                let mut datum = || bf(rng.below(31) as f32 / 8.0 + 0.125);
                let (now, a, new): (Vec<u16>, Vec<u16>, Vec<u16>) =
                    (0..n).map(|_| (datum(), datum(), datum())).collect();
                // Each channel has its own place, and what is there is stored first.
                let at: Vec<u64> = (0..n as u64).map(|i| 2 * i + 8).collect();
                let mut seed = Case::default();
                seed.var("addr", "uq", &at.iter().map(|x| A + x).collect::<Vec<_>>());
                seed.var("src", "ud", &now.iter().map(|x| *x as u64).collect::<Vec<_>>());
                for (at, x) in at.iter().zip(&now) {
                    Model::Flat.write(&mut b, *at, 0, 2, *x as u64);
                }
                b.run(text(&seed, format!("lsc_store.ugm (M1_NM,{n}) flat[$addr]:a64 $src:d16c32")));
                c.var("addr", "uq", &at.iter().map(|x| A + x).collect::<Vec<_>>());
                let wide = |x: &[u16]| x.iter().map(|x| *x as u64 | 0xdead_0000).collect::<Vec<_>>();
                let equal: Vec<u16> =
                    a.iter().zip(&now).map(|(a, o)| if a & 16 == 0 { *o } else { *a }).collect();
                let a = if operands == 2 { equal } else { a };
                c.var("a", "ud", &wide(&a));
                c.var("b", "ud", &wide(&new));
                c.bytes("dst", "ud", &rng.bytes(4 * n as usize));
                for i in 0..n as usize {
                    if !c.active(mask, Predicate::None, n, i as u32) {
                        continue;
                    }
                    let (o, x) = (single(now[i]), single(a[i]));
                    let result = match op {
                        "bfadd" => bf(o + x),
                        "bfsub" => bf(o - x),
                        "bfmin" => bf(o.min(x)),
                        "bfmax" => bf(o.max(x)),
                        _ if o == x => new[i],
                        _ => now[i],
                    };
                    Model::Flat.write(&mut b, at[i], 0, 2, result as u64);
                    c.of("dst").set(4 * i, 4, now[i] as u64);
                }
                let s1 = if operands == 2 { "$b" } else { "%null" };
                let m = mask_name(mask);
                b.run(text(&c, format!("lsc_atomic_{op}.ugm ({m},{n}) $dst:d16c32 flat[$addr]:a64 $a {s1}")));
            }
        }
    }
}
