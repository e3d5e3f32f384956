//! Page DPAS: every pair of types, repeat count and execution size.

use crate::harness::{Bench, Case, Cmp};
use crate::model::T::*;
use crate::model::*;
use envisa::isa::Platform;

/// Name in text, bits, and what it is: signed, unsigned, or a float's type.
#[derive(Clone, Copy, PartialEq, Debug)]
enum P {
    Int(u32, bool),
    Float(T),
    Tf32,
    Bf8,
}

impl P {
    fn name(self) -> String {
        match self {
            P::Int(n, signed) => format!("{}{n}", if signed { "s" } else { "u" }),
            P::Float(Bf) => "bf".into(),
            P::Float(_) => "hf".into(),
            P::Tf32 => "tf32".into(),
            P::Bf8 => "bf8".into(),
        }
    }

    fn bits(self) -> u32 {
        match self {
            P::Int(n, _) => n,
            P::Float(_) => 16,
            P::Tf32 => 32,
            P::Bf8 => 8,
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
        _ => to_f64(F, x & !0x1fff),
    }
}

struct Shape {
    w: P,
    a: P,
    n: usize,
    repeat: usize,
    dst: T,
    acc: Option<T>,
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
                let sum = (0..k).map(pair).fold(start, |x, (w, a)| x + float_of(s.w, w) * float_of(s.a, a));
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
    let c = Case::new(format!(
        "dpas.{}.{}.8.{} (M1,{}) $d.0 {src0} $w.0 $a(0,0)",
        s.w.name(),
        s.a.name(),
        s.repeat,
        s.n
    ));
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
                    one(&mut b, &mut r, &Shape { w: *w, a: *a, n, repeat, dst, acc });
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
                    one(&mut b, &mut r, &Shape { w: P::Float(t), a: P::Float(t), n, repeat, dst, acc });
                }
            }
            if n == 16 {
                one(&mut b, &mut r, &Shape { w: P::Tf32, a: P::Tf32, n, repeat, dst: F, acc: Some(F) });
                one(&mut b, &mut r, &Shape { w: P::Tf32, a: P::Tf32, n, repeat, dst: F, acc: None });
                one(&mut b, &mut r, &Shape { w: P::Bf8, a: P::Bf8, n, repeat, dst: F, acc: Some(F) });
            }
        }
    }
}

crate::coverage::pages! {
    integers floats
}
