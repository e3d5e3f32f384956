//! Page DPAS: every pair of types, repeat count and execution size.

use crate::harness::{Bench, Case, Cmp, Program};
use crate::model::T::*;
use crate::model::*;
use envisa::isa::Platform;
use envisa_machine::thread::Status;

/// Name in text, bits, and what it is: signed, unsigned, or a float's type.
#[derive(Clone, Copy, PartialEq, Debug)]
enum P {
    Int(u32, bool),
    Float(T),
    Tf32,
    Bf8,
    Hf8,
    E2m1,
}

impl P {
    fn name(self) -> String {
        match self {
            P::Int(n, signed) => format!("{}{n}", if signed { "s" } else { "u" }),
            P::Float(Bf) => "bf".into(),
            P::Float(_) => "hf".into(),
            P::Tf32 => "tf32".into(),
            P::Bf8 => "bf8".into(),
            P::Hf8 => "hf8".into(),
            P::E2m1 => "e2m1".into(),
        }
    }

    fn bits(self) -> u32 {
        match self {
            P::Int(n, _) => n,
            P::Float(_) => 16,
            P::Tf32 => 32,
            P::Bf8 | P::Hf8 => 8,
            P::E2m1 => 4,
        }
    }
}

/// Element `e` of a run of elements.
fn element(words: &[u64], p: P, e: usize) -> u64 {
    let at = e * p.bits() as usize;
    words[at / 32] >> (at % 32) & ((1u64 << p.bits()) - 1)
}

fn integer_of(p: P, x: u64) -> i128 {
    match p {
        P::Int(n, true) if x >> (n - 1) & 1 != 0 => x as i128 - (1 << n),
        _ => x as i128,
    }
}

fn float_of(p: P, x: u64) -> f64 {
    match p {
        P::Float(t) => to_f64(t, x),
        P::Bf8 => to_f64(Hf, x << 8),
        // Sign, exponent, fraction; no denormals are made here.
        P::Hf8 if x & 0x7f == 0 => 0.0,
        P::Hf8 => small_float(x, 4, 3, 7),
        P::E2m1 if x & 6 == 0 => (x & 1) as f64 * if x & 8 != 0 { -0.5 } else { 0.5 },
        P::E2m1 => small_float(x, 2, 1, 1),
        _ => to_f64(F, x & !0x1fff),
    }
}

/// A normal number of so many bits of exponent and fraction.
fn small_float(x: u64, exponent: u32, fraction: u32, bias: i32) -> f64 {
    let e = (x >> fraction & ((1 << exponent) - 1)) as i32 - bias;
    let m = 1.0 + (x & ((1 << fraction) - 1)) as f64 / (1 << fraction) as f64;
    let sign = if x >> (exponent + fraction) & 1 != 0 { -1.0 } else { 1.0 };
    sign * m * 2f64.powi(e)
}

struct Shape {
    w: P,
    a: P,
    n: usize,
    repeat: usize,
    dst: T,
    acc: Option<T>,
    /// Scales of the weights and of the activations; `None`: no BDPAS.
    scales: Option<[bool; 2]>,
}

fn one(b: &mut Bench, r: &mut Rng, s: &Shape) {
    let depth = 8;
    let ops = match (s.w.bits(), s.a.bits()) {
        (32, _) => 1,
        (16, _) => 2,
        (8, _) | (_, 8) => 4,
        _ => 8,
    };
    let k = depth * ops;
    let float = !matches!(s.w, P::Int(..));
    // Floats that add up exactly in any order: small multiples of a half.
    let value = |r: &mut Rng, p: P| match p {
        P::Int(..) => unreachable!(),
        P::Float(t) => from_f64(t, (r.below(15) as f64 - 7.0) / 2.0),
        P::Bf8 => from_f64(Hf, (r.below(7) as f64 - 3.0) / 2.0) >> 8,
        // 0, ±1 to ±3.75.
        P::Hf8 => (if r.below(8) == 0 { 0 } else { 0x38 + r.below(16) } | r.below(2) << 7) as u64,
        P::E2m1 => r.below(16) as u64,
        P::Tf32 => from_f64(F, (r.below(15) as f64 - 7.0) / 2.0),
    };
    let matrix = |r: &mut Rng, p: P, words: usize| -> Vec<u64> {
        (0..words)
            .map(|_| {
                if !float {
                    return r.next() & 0xffff_ffff;
                }
                (0..32 / p.bits()).fold(0, |x, i| x | value(r, p) << (i * p.bits()))
            })
            .collect()
    };
    // A dword column for each channel; the weights of one depth may be part of a dword.
    let rows = (k * s.w.bits() as usize).div_ceil(32);
    let weights = matrix(r, s.w, rows * s.n);
    let activations = matrix(r, s.a, (s.repeat * k * s.a.bits() as usize).div_ceil(32));
    let count = s.repeat * s.n;
    let acc_type = s.acc.unwrap_or(s.dst);
    let acc: Vec<u64> = (0..count)
        .map(|_| {
            if acc_type.is_float() {
                from_f64(acc_type, (r.below(33) as f64 - 16.0) / 2.0)
            } else {
                r.value(acc_type)
            }
        })
        .collect();
    // By block, 32 bytes apart; small powers, so that everything stays exact.
    let blocks = k.div_ceil(32);
    let scale = |r: &mut Rng| (0..64).map(|_| 125 + r.below(5) as u64).collect::<Vec<u64>>();
    let (columns, rows_) = (scale(r), scale(r));
    let scaling = |m: usize, i: usize, block: usize| match s.scales {
        None => 1.0,
        Some([w, a]) => {
            let of = |used: bool, x: u64| if used { 2f64.powi(x as i32 - 127) } else { 1.0 };
            of(w, columns[32 * block + i]) * of(a, rows_[32 * block + m])
        }
    };
    let mut after = Vec::new();
    for m in 0..s.repeat {
        for i in 0..s.n {
            let pair = |e: usize| {
                let per = (32 / s.w.bits()) as usize;
                let column: Vec<u64> = (0..rows).map(|row| weights[row * s.n + i]).collect();
                let _ = per;
                (element(&column, s.w, e), element(&activations, s.a, m * k + e))
            };
            let at = m * s.n + i;
            after.push(if float {
                let start = if s.acc.is_some() { to_f64(acc_type, acc[at]) } else { 0.0 };
                let product = |e: usize| {
                    let (w, a) = pair(e);
                    float_of(s.w, w) * float_of(s.a, a) * scaling(m, i, e / 32)
                };
                let sum = (0..k).map(product).fold(start, |x, p| x + p);
                (from_f64(s.dst, sum), Cmp::Zeros)
            } else {
                let start = if s.acc.is_some() { acc_type.int(acc[at]) } else { 0 };
                let sum: i128 = (0..k).map(pair).map(|(w, a)| integer_of(s.w, w) * integer_of(s.a, a)).sum();
                (s.dst.wrap(start + sum, false), Cmp::Bits)
            });
        }
    }
    let before: Vec<u64> = after.iter().map(|_| r.next() & s.dst.mask()).collect();
    let src0 = if s.acc.is_some() { "$c.0" } else { "%null.0" };
    let name = |used: bool, name: &'static str| if used { name } else { "%null" };
    let (op, last) = match s.scales {
        None => ("dpas", "$a(0,0)".to_owned()),
        Some([w, a]) => ("bdpas", format!("$a.0 {}(0,0) {}(0,0)", name(w, "$x"), name(a, "$y"))),
    };
    let c = Case::new(format!(
        "{op}.{}.{}.8.{} (M1,{}) $d.0 {src0} $w.0 {last}",
        s.w.name(),
        s.a.name(),
        s.repeat,
        s.n
    ));
    let used = |i: usize| s.scales.is_some_and(|s| s[i]);
    let c = if used(0) { c.var("x", Ub, &columns[..32 * (blocks - 1) + s.n]) } else { c };
    let c = if used(1) { c.var("y", Ub, &rows_[..32 * (blocks - 1) + s.repeat]) } else { c };
    let c = c.var("w", D, &weights).var("a", D, &activations).out("d", s.dst, &before, &after);
    b.run(if s.acc.is_some() { c.var("c", acc_type, &acc) } else { c });
}

fn integers() {
    let all: Vec<P> = [2, 4, 8].into_iter().flat_map(|n| [P::Int(n, false), P::Int(n, true)]).collect();
    let mut r = Rng(31);
    for (platform, n) in [(Platform::XehpSdv, 8), (Platform::Pvc, 16)] {
        let mut b = Bench::new(platform);
        for w in &all {
            for a in &all {
                for repeat in 1..=8 {
                    let dst = [D, Ud][repeat % 2];
                    let acc = [Some(D), Some(Ud), None][repeat % 3];
                    one(&mut b, &mut r, &Shape { w: *w, a: *a, n, repeat, dst, acc, scales: None });
                }
            }
        }
    }
}

fn floats() {
    let mut r = Rng(32);
    for (platform, n) in [(Platform::XehpSdv, 8), (Platform::Pvc, 16)] {
        let mut b = Bench::new(platform);
        for repeat in 1..=8 {
            for t in [Bf, Hf] {
                // Half the destinations are of the sources' own type, where the device has that.
                let mut kinds = vec![(F, Some(F)), (F, None)];
                if n == 16 {
                    kinds.extend([(t, Some(t)), (t, Some(F)), (F, Some(t)), (t, None)]);
                }
                for (dst, acc) in kinds {
                    one(
                        &mut b,
                        &mut r,
                        &Shape { w: P::Float(t), a: P::Float(t), n, repeat, dst, acc, scales: None },
                    );
                }
            }
            if n == 16 {
                one(
                    &mut b,
                    &mut r,
                    &Shape { w: P::Tf32, a: P::Tf32, n, repeat, dst: F, acc: Some(F), scales: None },
                );
                one(
                    &mut b,
                    &mut r,
                    &Shape { w: P::Tf32, a: P::Tf32, n, repeat, dst: F, acc: None, scales: None },
                );
                one(
                    &mut b,
                    &mut r,
                    &Shape { w: P::Bf8, a: P::Bf8, n, repeat, dst: F, acc: Some(F), scales: None },
                );
            }
        }
    }
}

/// The small floats of Xe3P, and matrices whose blocks have scales.
fn blocks() {
    let mut r = Rng(34);
    let mut b = Bench::new(Platform::Xe3p).version("4.2");
    let eight = [(P::Hf8, P::Hf8), (P::Hf8, P::Bf8), (P::Bf8, P::Hf8)];
    for repeat in 1..=8 {
        for (w, a) in eight.into_iter().chain([(P::E2m1, P::E2m1)]) {
            for (dst, acc) in [(F, Some(F)), (F, Some(Bf)), (Bf, Some(Bf)), (F, None)] {
                one(&mut b, &mut r, &Shape { w, a, n: 16, repeat, dst, acc, scales: None });
            }
        }
    }
    let sixteen = [(P::Float(Bf), P::Float(Bf)), (P::Float(Hf), P::Float(Hf)), (P::Bf8, P::Bf8)];
    for (w, a) in eight.into_iter().chain([(P::E2m1, P::E2m1)]).chain(sixteen) {
        for scales in [[true, true], [true, false], [false, true], [false, false]] {
            for acc in [Some(F), None] {
                let scales = Some(scales);
                one(&mut b, &mut r, &Shape { w, a, n: 16, repeat: 8, dst: F, acc, scales });
            }
        }
    }
}

/// Page DPASW: of `src2`'s registers, the fused thread with the even index has the first half, rounded up, the
/// other one the rest; all else is each thread's own.
fn fused() {
    let int = |n, s| P::Int(n, s);
    let mut r = Rng(33);
    for (w, a) in [
        (int(8, true), int(8, true)),
        (int(4, true), int(4, false)),
        (int(8, false), int(4, true)),
        (int(2, true), int(4, false)),
        (int(4, false), int(2, true)),
        (int(8, true), int(2, true)),
        (P::Float(Hf), P::Float(Hf)),
        (P::Float(Bf), P::Float(Bf)),
    ] {
        for repeat in 1..=8usize {
            fused_case((w, a), repeat, &mut r);
        }
    }
    fused_alone();
}

/// A thread without its partner waits for ever, and is told so.
fn fused_alone() {
    let alone = "\
.version 4.1
.kernel \"k\"
.decl X v_type=G type=ud num_elts=64 align=GRF
.decl D v_type=G type=d num_elts=64 align=GRF
.kernel_attr SimdSize=8
.kernel_attr Target=\"cm\"
dpasw.s8.s8.8.8 (M1,8) D.0 %null.0 X.0 X(0,0)
ret (M1,8)
";
    let program = Program { platform: Platform::XehpSdv, threads: 3, ..Program::new(alone) };
    let trap = program.run().1.expect("a fault");
    assert_eq!(trap.cause, envisa_machine::Cause::Deadlock);
    let stands: Vec<Status> = trap.threads.iter().map(|t| t.status).collect();
    assert_eq!(stands, [Status::Done, Status::Done, Status::Fused]);
}

/// The products that a sum has, and which dwords of activations the thread with the even index has.
fn fused_depth((w, a): (P, P), repeat: usize) -> (usize, usize) {
    let ops = match (w.bits(), a.bits()) {
        (16, _) => 2,
        (8, _) | (_, 8) => 4,
        _ => 8,
    };
    let k = 8 * ops;
    let registers = (repeat * k * a.bits() as usize / 8).div_ceil(32);
    (k, 8 * registers.div_ceil(2))
}

fn fused_case((w, a): (P, P), repeat: usize, r: &mut Rng) {
    let float = !matches!(w, P::Int(..));
    let word = |r: &mut Rng| {
        if !float {
            return r.next() & 0xffff_ffff;
        }
        let t = if w == P::Float(Hf) { Hf } else { Bf };
        (0..2).fold(0, |x, i| x | from_f64(t, (r.below(15) as f64 - 7.0) / 2.0) << (16 * i))
    };
    // By thread: four of them, two pairs. Each has 64 dwords of weights, and of activations.
    let weights: Vec<Vec<u64>> = (0..4).map(|_| (0..64).map(|_| word(r)).collect()).collect();
    let own: Vec<Vec<u64>> = (0..4).map(|_| (0..64).map(|_| word(r)).collect()).collect();
    let want: Vec<u32> =
        (0..4).flat_map(|t| fused_want((w, a), repeat, &weights[t], (&own[t & !1], &own[t | 1]))).collect();
    let bytes = |all: &[Vec<u64>]| -> Vec<u8> {
        all.iter().flatten().flat_map(|x| (*x as u32).to_le_bytes()).collect()
    };
    let text = fused_text((w, a), repeat, float);
    let program = Program {
        platform: Platform::XehpSdv,
        threads: 4,
        args: vec![("W", bytes(&weights)), ("A", bytes(&own))],
        buffer: vec![0; 4 * 256],
        ..Program::new(&text)
    };
    let (got, trap) = program.run();
    assert!(trap.is_none(), "{trap:?}");
    // Rows that are not repeated hold nothing.
    assert_eq!(got, want, "{} {} {repeat}", w.name(), a.name());
    assert_eq!(program.run_plain().0, want, "unobserved: {} {} {repeat}", w.name(), a.name());
}

/// What a thread's rows are, by its weights and the activations of both threads of its pair.
fn fused_want((w, a): (P, P), repeat: usize, weights: &[u64], (even, odd): (&[u64], &[u64])) -> Vec<u32> {
    let float = !matches!(w, P::Int(..));
    let (k, first) = fused_depth((w, a), repeat);
    let rows = (k * w.bits() as usize).div_ceil(32);
    let shared: Vec<u64> = even[..first].iter().chain(odd).copied().collect();
    let mut out = vec![0u32; 64];
    for m in 0..repeat {
        for i in 0..8 {
            let column: Vec<u64> = (0..rows).map(|row| weights[row * 8 + i]).collect();
            let pair = |e: usize| (element(&column, w, e), element(&shared, a, m * k + e));
            out[m * 8 + i] = if float {
                let sum: f64 = (0..k).map(pair).map(|(x, y)| float_of(w, x) * float_of(a, y)).sum();
                from_f64(F, sum) as u32
            } else {
                let sum: i128 = (0..k).map(pair).map(|(x, y)| integer_of(w, x) * integer_of(a, y)).sum();
                D.wrap(sum, false) as u32
            };
        }
    }
    out
}

fn fused_text((w, a): (P, P), repeat: usize, float: bool) -> String {
    let (ty, name) = if float { ("f", "ud") } else { ("d", "ud") };
    format!(
        "\
.version 4.1
.kernel \"k\"
.decl W v_type=G type=ud num_elts=256 align=GRF
.decl A v_type=G type=ud num_elts=256 align=GRF
.decl X v_type=G type={name} num_elts=64 align=GRF
.decl Y v_type=G type={name} num_elts=64 align=GRF
.decl D v_type=G type={ty} num_elts=64 align=GRF
.decl N v_type=G type=ud num_elts=1
.decl Z v_type=G type=uw num_elts=1
.decl A0 v_type=A num_elts=1
.decl T6 v_type=T num_elts=1
.input W offset=32 size=1024
.input A offset=1056 size=1024
.kernel_attr SimdSize=8
.kernel_attr Target=\"cm\"
and (M1_NM,1) N(0,0)<1> %r0(0,2)<0;1,0> 0xff:ud
shl (M1_NM,1) N(0,0)<1> N(0,0)<0;1,0> 0x8:ud
mov (M1_NM,1) Z(0,0)<1> N(0,0)<0;1,0>
{}
dpasw.{}.{}.8.{repeat} (M1,8) D.0 %null.0 X.0 Y(0,0)
shr (M1_NM,1) N(0,0)<1> N(0,0)<0;1,0> 0x4:ud
{}
ret (M1,8)
",
        // Each thread's part of the inputs.
        [("W", "X"), ("A", "Y")]
            .iter()
            .flat_map(|(from, to)| {
                std::iter::once(format!("addr_add (M1_NM,1) A0(0)<1> &{from} Z(0,0)<0;1,0>")).chain(
                    (0..8).map(move |row| {
                        format!("mov (M1_NM,8) {to}({row},0)<1> r[A0(0),{}]<1;1,0>:ud", row * 32)
                    }),
                )
            })
            .collect::<Vec<_>>()
            .join("\n"),
        w.name(),
        a.name(),
        (0..2)
            .map(|half| {
                let next = if half == 0 { "" } else { "add (M1_NM,1) N(0,0)<1> N(0,0)<0;1,0> 0x8:ud\n" };
                format!("{next}oword_st (8) T6 N(0,0)<0;1,0> D.{}", half * 128)
            })
            .collect::<Vec<_>>()
            .join("\n"),
    )
}

crate::coverage::pages! {
    integers floats blocks fused
}
