//! Pages MOV, SEL, SETP, CMP, FCVT, SRND: conversions of every pair of types, selections, compares.

use crate::arith::{MODES, NEG};
use crate::harness::{Bench, Case, Cmp};
use crate::model::T::*;
use crate::model::*;
use crate::shapes::{PRED_FORMS, Spec, Val, enabled, grid, mask_text, origin, places, pred_bits, some};
use envisa::isa::Platform;

const ALL: &[T] = &[Ub, B, Uw, W, Ud, D, Uq, Q, Hf, F, Df];

/// What `mov` gives (chapter 2, type conversion).
fn converted(v: &Val, d: T, m: Mode, sat: bool) -> (u64, Cmp) {
    let s = v.t;
    let cmp = if d.is_float() && (sat || s != d) {
        Cmp::Zeros
    } else if d.is_float() {
        Cmp::Float
    } else {
        Cmp::Bits
    };
    match (s.is_float(), d.is_float()) {
        (false, false) => (d.wrap(v.i, sat), cmp),
        (true, false) => {
            let unsigned_negative = !d.is_signed() && v.bits & s.sign() != 0;
            // The page has "qNaN Indefinite" for these, which no integer is.
            let how = if unsigned_negative && !s.is_nan(v.bits) && to_f64(s, v.bits) <= -1.0 {
                Cmp::Any
            } else {
                cmp
            };
            (to_int(d, &v.num(m)), how)
        }
        (false, true) => {
            let bits = encode(d, &integer(v.i), m.rm());
            (if sat { saturate_bits(d, bits) } else { bits }, cmp)
        }
        // The same type: bits move.
        (true, true) if s == d => (if sat { saturate_bits(d, m.flush(d, v.bits)) } else { v.bits }, cmp),
        // To a wider format exactly, denormals too (chapter 2, Float to Float with Higher Precision).
        (true, true) if s.float().0 < d.float().0 && s.float().1 <= d.float().1 => {
            let bits = encode(d, &decode(s, v.bits), m.rm());
            (if sat { saturate_bits(d, bits) } else { bits }, cmp)
        }
        (true, true) => (finish_result(d, encode(d, &v.num(m), m.rm()), m, sat), cmp),
    }
}

fn moves(b: &mut Bench, srcs: &[T], dsts: &[T]) {
    for s in srcs {
        for d in dsts {
            for sat in [false, true] {
                let model = |v: &[Val], m: Mode| converted(&v[0], *d, m, sat);
                // Integers with a fraction, and near the bounds of integers.
                let values = |r: &mut Rng, _: usize| {
                    if !s.is_float() || r.below(2) == 0 {
                        return r.value(*s);
                    }
                    let edge = r.pick(&[8, 16, 24, 31, 32, 53, 63, 64, 7, 15, 11, 24]);
                    let x = (2f64).powi(edge) + r.pick(&[0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5]);
                    encode(*s, &decode(Df, (if r.below(2) == 0 { x } else { -x }).to_bits()), Rm::Even)
                };
                let list = &[*s];
                let mods = if s.is_float() || s.is_signed() { NEG } else { &[] };
                let spec = Spec {
                    sat,
                    mods,
                    modes: MODES,
                    values: Some(&values),
                    ..Spec::new("mov", *d, list, &model)
                };
                if sat { some(b, &spec, 9) } else { grid(b, &spec) }
            }
        }
    }
}

fn conversions() {
    moves(&mut Bench::new(Platform::Skl), ALL, ALL);
}

fn bfloat_conversions() {
    moves(&mut Bench::new(Platform::XehpSdv), &[Bf, F], &[Bf, F]);
}

/// Every half to a single and back, every byte float.
fn every_half() {
    let mut b = Bench::new(Platform::Skl);
    for chunk in (0..0x1_0000u64).collect::<Vec<_>>().chunks(32) {
        let half = |x: u64| Val { t: Hf, bits: x, i: 0 };
        let after: Vec<(u64, Cmp)> = chunk.iter().map(|x| converted(&half(*x), F, IEEE, false)).collect();
        let back: Vec<(u64, Cmp)> = chunk.iter().map(|x| (*x, Cmp::Float)).collect();
        let c = Case::new("mov (M1,32) $f(0,0)<1> $h(0,0)<1;1,0>\nmov (M1,32) $g(0,0)<1> $f(0,0)<1;1,0>");
        b.run(c.var("h", Hf, chunk).out("f", F, &[0; 32], &after).out("g", Hf, &[0; 32], &back));
    }
}

/// Packed immediates: eight words, or four floats, over and over.
fn packed_immediates() {
    let mut b = Bench::new(Platform::Skl);
    let mut r = Rng(8);
    for _ in 0..12 {
        let bits = r.next() as u32;
        for n in [1usize, 2, 4, 8, 16] {
            let nibble = |i: usize| bits >> (4 * (i % 8)) & 15;
            let v: Vec<u64> = (0..n).map(|i| ((nibble(i) as i8) << 4 >> 4) as i32 as u32 as u64).collect();
            let uv: Vec<u64> = (0..n).map(|i| nibble(i) as u64).collect();
            let small = |i: usize| {
                // Sign, three bits of exponent with bias 3, four of fraction; no denormals.
                let x = bits >> (8 * (i % 4)) & 0xff;
                let value = if x & 0x7f == 0 {
                    0.0
                } else {
                    (1.0 + (x & 15) as f64 / 16.0) * (2f64).powi((x >> 4 & 7) as i32 - 3)
                };
                from_f64(F, if x & 0x80 != 0 { -value } else { value })
            };
            let vf: Vec<u64> = (0..n).map(small).collect();
            let zero = vec![0; n];
            let text = |ty: &str| format!("mov (M1,{n}) $d(0,0)<1> 0x{bits:x}:{ty}");
            b.run(Case::new(text("v")).bits("d", D, &zero, &v));
            b.run(Case::new(text("uv")).bits("d", Ud, &zero, &uv));
            b.run(Case::new(text("vf")).bits("d", F, &zero, &vf));
        }
    }
}

/// A predicate as a number, and back.
fn predicates() {
    let mut b = Bench::new(Platform::Skl);
    let mut r = Rng(2);
    for _ in 0..20 {
        let bits = r.next() as u32;
        b.run(Case::new("mov (M1_NM,1) $d(0,1)<1> $p").pred("p", bits).bits(
            "d",
            Ud,
            &[1, 2, 3],
            &[1, bits as u64, 3],
        ));
        // Where the mask is off, it moves all the same: it ignores it.
        b.run(
            Case::new("setp (M1_NM,32) $p $s(0,2)<0;1,0>")
                .var("s", Ud, &[1, 2, bits as u64])
                .pred_out("p", !bits, bits)
                .em(0xff00),
        );
        for (first, m) in [(0, "M1_NM"), (16, "M5_NM")] {
            let want = !bits & !(0xffff << first) | (bits >> 3 & 0xffff) << first;
            b.run(
                Case::new(format!("setp ({m},16) $p 0x{:x}:uw", bits >> 3 & 0xffff))
                    .pred_out("p", !bits, want),
            );
        }
        // The lowest bit of each element.
        for t in [Ud, Uw, Ub] {
            for (n, first) in places(0x38) {
                let v: Vec<u64> = (0..n + 1).map(|_| r.value(t)).collect();
                let em = r.next() as u32;
                let on = enabled(n, first, false, em, None);
                let mut want = bits;
                for i in (0..n).filter(|i| on[*i]) {
                    let at = first + i;
                    want = want & !(1 << at) | ((v[i + 1] & 1) as u32) << at;
                }
                let c = Case::new(format!(
                    "setp {} $p {}<1;1,0>",
                    mask_text(n, first, false),
                    origin("s", t, 1, 32)
                ));
                b.run(c.var("s", t, &v).pred_out("p", bits, want).em(em));
            }
        }
    }
}

fn sel() {
    let mut b = Bench::new(Platform::Skl);
    let mut wide = Bench::new(Platform::XehpSdv);
    let mut r = Rng(4);
    let same = [Ub, B, Uw, W, Ud, D, Uq, Q, Hf, F, Df, Bf];
    let mixed = [(D, W, Ub), (Uw, D, Ud), (Q, D, Uw), (B, Q, W), (Ud, B, B)];
    let all = same.iter().map(|t| (*t, *t, *t)).chain(mixed);
    for (d, s, t) in all {
        for sat in [false, true] {
            if d == Bf && sat {
                continue;
            }
            for (n, first) in places(0x3f) {
                let x: Vec<u64> = (0..n).map(|_| r.value(s)).collect();
                let y: Vec<u64> = (0..n).map(|_| r.value(t)).collect();
                let (em, no_mask) = (r.next() as u32, r.below(3) == 0);
                let (p, form) = (pred_bits(&mut r, n, first), PRED_FORMS[r.below(6)]);
                let on = enabled(n, first, no_mask, em, None);
                let chosen = enabled(n, first, true, em, Some((p, form)));
                let before: Vec<u64> = (0..n).map(|_| r.value(d)).collect();
                let mut after: Vec<(u64, Cmp)> = before.iter().map(|x| (*x, Cmp::Bits)).collect();
                for i in (0..n).filter(|i| on[*i]) {
                    let (bits, from) = if chosen[i] { (x[i], s) } else { (y[i], t) };
                    let i128_of = if from.is_float() { 0 } else { from.int(bits) };
                    after[i] = converted(&Val { t: from, bits, i: i128_of }, d, IEEE, sat);
                }
                let m = mask_text(n, first, no_mask);
                let dot = if sat { ".sat" } else { "" };
                let c = Case::new(format!("{form} sel{dot} {m} $d(0,0)<1> $x(0,0)<1;1,0> $y(0,0)<1;1,0>"));
                let c = c.var("x", s, &x).var("y", t, &y).out("d", d, &before, &after).pred("p", p).em(em);
                if d == Bf { wide.run(c) } else { b.run(c) }
            }
        }
    }
}

/// Every relation, into predicates and into registers.
fn cmp() {
    let mut b = Bench::new(Platform::Skl);
    let mut wide = Bench::new(Platform::XehpSdv);
    let relations = ["eq", "ne", "gt", "ge", "lt", "le"];
    let holds = |op: &str, v: &[Val], m: Mode| {
        use std::cmp::Ordering::*;
        let order = if v[0].t.is_float() {
            let x = |v: &Val| to_f64(v.t, m.flush(v.t, v.bits));
            x(&v[0]).partial_cmp(&x(&v[1]))
        } else {
            Some(v[0].i.cmp(&v[1].i))
        };
        match (op, order) {
            ("ne", None) => true,
            (_, None) => false,
            ("eq", Some(o)) => o == Equal,
            ("ne", Some(o)) => o != Equal,
            ("gt", Some(o)) => o == Greater,
            ("ge", Some(o)) => o != Less,
            ("lt", Some(o)) => o == Less,
            (_, Some(o)) => o != Greater,
        }
    };
    let pairs = [
        (Ub, Ub),
        (B, B),
        (Uw, Uw),
        (W, W),
        (Ud, Ud),
        (D, D),
        (Q, Q),
        (Uq, Uq),
        (Hf, Hf),
        (F, F),
        (Df, Df),
        (Bf, Bf),
        (D, Ud),
        (Ud, W),
        (B, Uw),
        (W, D),
    ];
    let mut r = Rng(6);
    for (s, t) in pairs {
        for op in relations {
            let b = if s == Bf { &mut wide } else { &mut b };
            // Into a predicate.
            for (k, (n, first)) in places(0x3f).into_iter().enumerate() {
                let v: Vec<[u64; 2]> = (0..n)
                    .map(|_| {
                        let x = r.value(s);
                        // Equal ones, one in four.
                        [x, if s == t && r.below(4) == 0 { x } else { r.value(t) }]
                    })
                    .collect();
                let mode = [IEEE, Mode(0)][k % 2];
                let (em, no_mask, old) = (r.next() as u32, r.below(3) == 0, r.next() as u32);
                let on = enabled(n, first, no_mask, em, None);
                let mut want = old;
                for i in (0..n).filter(|i| on[*i]) {
                    let int = |t: T, x: u64| if t.is_float() { 0 } else { t.int(x) };
                    let pair = [
                        Val { t: s, bits: v[i][0], i: int(s, v[i][0]) },
                        Val { t, bits: v[i][1], i: int(t, v[i][1]) },
                    ];
                    let at = first + i;
                    want = want & !(1 << at) | (holds(op, &pair, mode) as u32) << at;
                }
                let c = Case::new(format!(
                    "cmp.{op} {} $p $x(0,0)<1;1,0> $y(0,0)<1;1,0>",
                    mask_text(n, first, no_mask)
                ));
                let (x, y): (Vec<u64>, Vec<u64>) = v.iter().map(|v| (v[0], v[1])).unzip();
                b.run(c.var("x", s, &x).var("y", t, &y).pred_out("p", old, want).em(em).mode(mode));
            }
            // Into a register: all ones or zeros.
            let dsts: &[T] = match s {
                F | Bf | Df | Hf => std::slice::from_ref(&s),
                Q | Uq => continue,
                _ => INT32,
            };
            for d in dsts {
                let model = |v: &[Val], m: Mode| (if holds(op, v, m) { d.mask() } else { 0 }, Cmp::Bits);
                let text = format!("cmp.{op}");
                let list = &[s, t];
                let mods = if s.is_float() || s.is_signed() && t.is_signed() { NEG } else { &[] };
                some(b, &Spec { mods, pred: false, ..Spec::new(&text, *d, list, &model) }, 5);
            }
        }
    }
}

/// bf8 and tf32 (page FCVT): to nearest even, bf8 keeps denormals, tf32 flushes them.
fn fcvt() {
    let mut b = Bench::new(Platform::Pvcxt);
    // E5M2 is a half without its low byte.
    let bf8_to_hf = |v: &[Val], _: Mode| (v[0].bits << 8, Cmp::Float);
    let hf_to_bf8 = |v: &[Val], _: Mode| {
        let x = v[0].bits;
        if Hf.is_nan(x) {
            // Any NaN: not one value.
            return (0, Cmp::Any);
        }
        let (kept, rest) = (x >> 8, x & 0xff);
        (kept + (rest > 0x80 || rest == 0x80 && kept & 1 != 0) as u64, Cmp::Bits)
    };
    let to_tf32 = |v: &[Val], _: Mode| {
        let x = v[0].bits;
        if F.is_nan(x) {
            return (0, Cmp::Any);
        }
        if F.is_denormal(x) {
            return (x & F.sign(), Cmp::Bits);
        }
        let (kept, rest) = (x >> 13, x & 0x1fff);
        ((kept + (rest > 0x1000 || rest == 0x1000 && kept & 1 != 0) as u64) << 13, Cmp::Bits)
    };
    let from_tf32 = |v: &[Val], _: Mode| (v[0].bits, Cmp::Float);
    let tf32 = |r: &mut Rng, _: usize| r.value(F) & !0x1fff;
    let bytes = |r: &mut Rng, _: usize| r.next();
    for seed in 0..12 {
        let base = |text, d, s, model| Spec {
            seed,
            grf: 64,
            imm: false,
            pred: false,
            indirect: false,
            ..Spec::new(text, d, s, model)
        };
        grid(&mut b, &Spec { values: Some(&bytes), ..base("fcvt", Hf, &[Ub], &bf8_to_hf) });
        grid(&mut b, &base("fcvt", Ud, &[F], &to_tf32));
        grid(&mut b, &Spec { values: Some(&tf32), ..base("fcvt", F, &[Ud], &from_tf32) });
        // To bf8 with NoMask only.
        let mut r = Rng(seed);
        for n in [1usize, 2, 4, 8, 16, 32] {
            let v: Vec<u64> =
                (0..n).map(|_| if r.below(2) == 0 { r.value(Hf) } else { r.next() & 0xffff }).collect();
            let after: Vec<(u64, Cmp)> =
                v.iter().map(|x| hf_to_bf8(&[Val { t: Hf, bits: *x, i: 0 }], IEEE)).collect();
            let c = Case::new(format!("fcvt (M1_NM,{n}) $d(0,0)<1> $s(0,0)<1;1,0>"));
            b.run(c.var("s", Hf, &v).out("d", Ub, &vec![0; n], &after));
        }
    }
}

/// Stochastic rounding: random bits added below the last place kept, then cut; denormals kept.
fn srnd() {
    let mut b = Bench::new(Platform::Pvcxt);
    let mut r = Rng(12);
    for round in 0..40 {
        for n in [1usize, 2, 4, 8, 16, 32] {
            let scale = (2f64).powi(r.below(20) as i32 - 10);
            let xs: Vec<u64> = (0..n)
                .map(|_| match round % 3 {
                    0 => r.value(F),
                    _ => from_f64(F, (r.next() >> 40) as f64 / (1u64 << 24) as f64 * scale),
                })
                .collect();
            let random: Vec<u64> = (0..n).map(|_| r.next() & 0xffff).collect();
            // f to hf: normal results only are worked out here; others are looked at by value below.
            let after: Vec<(u64, Cmp)> = xs
                .iter()
                .zip(&random)
                .map(|(x, r)| {
                    let m = x & 0x7fff_ffff;
                    if F.is_nan(*x) {
                        return (Hf.nan(), Cmp::Float);
                    }
                    if F.is_inf(*x) {
                        return (Hf.inf() | x >> 16 & 0x8000, Cmp::Bits);
                    }
                    let sum = m + (r & 0x1fff);
                    if sum < 113 << 23 {
                        return (0, Cmp::Any);
                    }
                    // Beyond the largest half: as IEEE overflows, to infinity.
                    if sum >= 143 << 23 {
                        return (0, Cmp::Any);
                    }
                    ((sum - (112 << 23)) >> 13 | x >> 16 & 0x8000, Cmp::Bits)
                })
                .collect();
            let c = Case::new(format!("srnd (M1_NM,{n}) $d(0,0)<1> $s(0,0)<1;1,0> $r(0,0)<1;1,0>"));
            b.run(c.var("s", F, &xs).var("r", Uw, &random).out("d", Hf, &vec![0; n], &after));
            // hf to bf8: eight bits.
            let halves: Vec<u64> = (0..n).map(|_| r.value(Hf)).collect();
            let random: Vec<u64> = (0..n).map(|_| r.next() & 0xff).collect();
            let after: Vec<(u64, Cmp)> = halves
                .iter()
                .zip(&random)
                .map(|(x, r)| {
                    let sum = (x & 0x7fff) + r;
                    let how =
                        if Hf.is_nan(*x) || sum >= Hf.inf() && !Hf.is_inf(*x) { Cmp::Any } else { Cmp::Bits };
                    let sum = if Hf.is_inf(*x) { Hf.inf() } else { sum };
                    (sum >> 8 | x >> 8 & 0x80, how)
                })
                .collect();
            let c = Case::new(format!("srnd (M1_NM,{n}) $d(0,0)<1> $s(0,0)<1;1,0> $r(0,0)<1;1,0>"));
            b.run(c.var("s", Hf, &halves).var("r", Ub, &random).out("d", Ub, &vec![0; n], &after));
        }
    }
}

crate::coverage::pages! {
    conversions bfloat_conversions every_half packed_immediates predicates sel cmp fcvt srnd
}
