//! Pages ADD … SUBB: arithmetic on integers and floats.

use crate::harness::{Bench, Case, Cmp};
use crate::model::T::*;
use crate::model::*;
use crate::shapes::{Spec, Val, enabled, grid, mask_text, places, some};
use envisa::isa::Platform;

/// Arithmetic modifiers.
pub const NEG: &[&str] = &["(-)", "(abs)", "(-abs)"];

/// Modes of `%cr0`: four directions, denormals kept and flushed.
pub const MODES: &[Mode] = &[
    IEEE,
    Mode(0x4c0 | 0x10),
    Mode(0x4c0 | 0x20),
    Mode(0x4c0 | 0x30),
    Mode(0),
    Mode(0x440 | 0x20),
    Mode(0x480),
    Mode(0x30),
    Mode(0x0c0 | 0x10),
];

type Ints<'a> = &'a dyn Fn(&[i128]) -> i128;

/// What an instruction on integers is tested with.
struct Integers<'a> {
    text: &'a str,
    dsts: &'a [T],
    srcs: &'a [T],
    count: usize,
    sats: &'a [bool],
    mods: &'a [&'a str],
    sizes: u8,
    values: Option<&'a dyn Fn(&mut Rng, usize) -> u64>,
    /// Sources of different types?
    mixed: bool,
}

impl Default for Integers<'_> {
    fn default() -> Self {
        Integers {
            text: "",
            dsts: INT32,
            srcs: INT32,
            count: 2,
            sats: &[false, true],
            mods: NEG,
            sizes: 0x3f,
            values: None,
            mixed: true,
        }
    }
}

/// Exact, then cut or saturated.
fn integers(b: &mut Bench, how: &Integers<'_>, f: Ints<'_>) {
    for (k, d) in how.dsts.iter().enumerate() {
        for (j, t) in how.srcs.iter().enumerate() {
            for sat in how.sats {
                let d = *d;
                // Sources of one type, and of two.
                let other = how.srcs[(j + k + 1) % how.srcs.len()];
                for other in if how.mixed && other != *t { vec![*t, other] } else { vec![*t] } {
                    let mut srcs = vec![other; how.count];
                    srcs[0] = *t;
                    let model = |v: &[Val], _: Mode| {
                        let x: Vec<i128> = v.iter().map(|v| v.i).collect();
                        (d.wrap(f(&x), *sat), Cmp::Bits)
                    };
                    // A negated unsigned number has no type of its own.
                    let signed = srcs.iter().all(|t| t.is_signed());
                    let spec = Spec {
                        sat: *sat,
                        mods: if signed { how.mods } else { &[] },
                        seed: (k * 8 + j) as u64,
                        sizes: how.sizes,
                        // `min` and `max` take no predicate.
                        pred: !matches!(how.text, "min" | "max"),
                        values: how.values,
                        ..Spec::new(how.text, d, &srcs, &model)
                    };
                    if k == 0 && j < 2 { grid(b, &spec) } else { some(b, &spec, 4) }
                }
            }
        }
    }
}

fn add_integers() {
    let mut b = Bench::new(Platform::Skl);
    integers(&mut b, &Integers { text: "add", ..Integers::default() }, &|v| v[0] + v[1]);
    let wide = Integers {
        text: "add",
        dsts: &[Q, Uq],
        srcs: &[Q, Uq, D, Ud, W, Uw],
        mods: &[],
        ..Integers::default()
    };
    integers(&mut b, &wide, &|v| v[0] + v[1]);
}

fn add3() {
    let mut b = Bench::new(Platform::Dg2);
    let types = &[D, Ud, W, Uw];
    let how = Integers { text: "add3", dsts: types, srcs: types, count: 3, ..Integers::default() };
    integers(&mut b, &how, &|v| v[0] + v[1] + v[2]);
}

fn avg() {
    let mut b = Bench::new(Platform::Skl);
    integers(&mut b, &Integers { text: "avg", ..Integers::default() }, &|v| (v[0] + v[1] + 1) >> 1);
}

fn mul_and_mad_integers() {
    let mut b = Bench::new(Platform::Skl);
    let plain = Integers { sats: &[false], ..Integers::default() };
    integers(&mut b, &Integers { text: "mul", ..plain }, &|v| v[0] * v[1]);
    let wide =
        Integers { text: "mul", dsts: &[Q, Uq], srcs: &[D, Ud], sats: &[false], ..Integers::default() };
    integers(&mut b, &wide, &|v| v[0] * v[1]);
    let mad = Integers { text: "mad", count: 3, sats: &[false], ..Integers::default() };
    integers(&mut b, &mad, &|v| v[0] * v[1] + v[2]);
}

fn mulh() {
    let mut b = Bench::new(Platform::Skl);
    for t in [D, Ud] {
        let list = &[t];
        let how = Integers {
            text: "mulh",
            dsts: list,
            srcs: list,
            sats: &[false],
            mods: &[],
            ..Integers::default()
        };
        for _ in 0..3 {
            integers(&mut b, &how, &|v| (v[0] * v[1]) >> 32);
        }
    }
}

/// Low dwords, then in the next whole register high dwords.
fn madw() {
    for (platform, grf) in [(Platform::Skl, 32), (Platform::Pvc, 64)] {
        let mut b = Bench::new(platform);
        let mut r = Rng(5);
        for t in [D, Ud] {
            for (n, first) in places(0x3f) {
                let v: Vec<Vec<u64>> = (0..3).map(|_| (0..n).map(|_| r.value(t)).collect()).collect();
                let em = r.next() as u32;
                let no_mask = r.below(3) == 0;
                let pred = (r.below(2) == 0).then(|| (r.next() as u32, "($p)"));
                let on = enabled(n, first, no_mask, em, pred);
                let half = (n * 4).next_multiple_of(grf) / 4;
                let before: Vec<u64> = (0..2 * half).map(|_| r.value(t)).collect();
                let mut after = before.clone();
                for i in (0..n).filter(|i| on[*i]) {
                    let x = t.int(v[0][i]) * t.int(v[1][i]) + t.int(v[2][i]);
                    after[i] = x as u32 as u64;
                    after[half + i] = (x >> 32) as u32 as u64;
                }
                let mut c = Case::new(format!(
                    "{} madw {} $d(0,0)<1> $a(0,0)<1;1,0> $b(0,0)<1;1,0> $c(0,0)<1;1,0>",
                    pred.map_or("", |p| p.1),
                    mask_text(n, first, no_mask)
                ));
                if let Some((bits, _)) = pred {
                    c = c.pred("p", bits);
                }
                let c =
                    c.var("a", t, &v[0]).var("b", t, &v[1]).var("c", t, &v[2]).bits("d", t, &before, &after);
                b.run(c.em(em));
            }
        }
    }
}

fn div_and_mod_integers() {
    let mut b = Bench::new(Platform::Skl);
    // What a division by zero gives, the page does not say.
    let divisor = |r: &mut Rng, which: usize| match r.value([D, W, B][r.0 as usize % 3]) {
        0 if which == 1 => 3,
        x if which == 1 && x & 0xff == 0 => x | 0x11,
        x => x,
    };
    let how = Integers { text: "div", sats: &[false], values: Some(&divisor), ..Integers::default() };
    integers(&mut b, &how, &|v| v[0] / v[1]);
    let how = Integers { text: "mod", values: Some(&divisor), ..Integers::default() };
    integers(&mut b, &how, &|v| v[0] % v[1]);
}

fn min_and_max() {
    let mut b = Bench::new(Platform::Skl);
    integers(&mut b, &Integers { text: "min", ..Integers::default() }, &|v| v[0].min(v[1]));
    integers(&mut b, &Integers { text: "max", ..Integers::default() }, &|v| v[0].max(v[1]));
    for t in [Q, Uq] {
        let list = &[t];
        let wide = Integers { dsts: list, srcs: list, mods: &[], mixed: false, ..Integers::default() };
        integers(&mut b, &Integers { text: "min", ..wide }, &|v| v[0].min(v[1]));
        let wide = Integers { dsts: list, srcs: list, mods: &[], mixed: false, ..Integers::default() };
        integers(&mut b, &Integers { text: "max", ..wide }, &|v| v[0].max(v[1]));
    }
    for t in [F, Hf, Df] {
        for max in [false, true] {
            for sat in [false, true] {
                let srcs = &[t, t];
                let model = |v: &[Val], m: Mode| {
                    let (x, y) = (m.flush(t, v[0].bits), m.flush(t, v[1].bits));
                    let z = match (t.is_nan(x), t.is_nan(y)) {
                        (_, true) if !t.is_nan(x) => x,
                        (true, _) => y,
                        _ if (to_f64(t, x) > to_f64(t, y)) == max => x,
                        _ => y,
                    };
                    (finish_result(t, z, m, sat), Cmp::Zeros)
                };
                let text = if max { "max" } else { "min" };
                grid(
                    &mut b,
                    &Spec {
                        sat,
                        mods: NEG,
                        pred: false,
                        modes: &[IEEE, Mode(0)],
                        ..Spec::new(text, t, srcs, &model)
                    },
                );
            }
        }
    }
}

/// An operation on floats: exact, rounded once to the destination's type.
fn floats(b: &mut Bench, text: &str, dst: T, srcs: &[T], sats: &[bool], f: &dyn Fn(&[Num], Rm) -> Num) {
    for sat in sats {
        let model = |v: &[Val], m: Mode| {
            let x: Vec<Num> = v.iter().map(|v| v.num(m)).collect();
            let bits = encode(dst, &f(&x, m.rm()), m.rm());
            (finish_result(dst, bits, m, *sat), if *sat { Cmp::Zeros } else { Cmp::Float })
        };
        let spec = Spec { sat: *sat, mods: NEG, modes: MODES, ..Spec::new(text, dst, srcs, &model) };
        for seed in 1..4 {
            grid(b, &Spec { seed, ..spec });
        }
    }
}

const BOTH: &[bool] = &[false, true];

fn add_mul_mad_floats() {
    let mut b = Bench::new(Platform::Skl);
    for t in [F, Df, Hf] {
        floats(&mut b, "add", t, &[t, t], BOTH, &|v, r| add(&v[0], &v[1], r));
        floats(&mut b, "mul", t, &[t, t], BOTH, &|v, _| mul(&v[0], &v[1]));
        floats(&mut b, "mad", t, &[t, t, t], BOTH, &|v, r| add(&mul(&v[0], &v[1]), &v[2], r));
    }
    for (d, x, y) in [(F, Hf, F), (F, F, Hf), (F, Hf, Hf), (Hf, F, Hf), (Hf, F, F)] {
        floats(&mut b, "mul", d, &[x, y], BOTH, &|v, _| mul(&v[0], &v[1]));
        floats(&mut b, "mad", d, &[x, y, x], BOTH, &|v, r| add(&mul(&v[0], &v[1]), &v[2], r));
    }
}

fn add_mul_mad_bfloat() {
    let mut b = Bench::new(Platform::XehpSdv);
    for (d, x, y) in [(Bf, Bf, Bf), (F, Bf, F), (F, F, Bf), (Bf, F, F), (F, Bf, Bf)] {
        floats(&mut b, "add", d, &[x, y], &[false], &|v, r| add(&v[0], &v[1], r));
        floats(&mut b, "mul", d, &[x, y], &[false], &|v, _| mul(&v[0], &v[1]));
        floats(&mut b, "mad", d, &[x, y, x], &[false], &|v, r| add(&mul(&v[0], &v[1]), &v[2], r));
    }
}

/// ALT mode: no infinity is written, the largest number is.
fn alt_mode() {
    let mut b = Bench::new(Platform::Skl);
    let finite = |r: &mut Rng, _: usize| loop {
        let x = r.value(F);
        if !F.is_nan(x) && !F.is_inf(x) && !F.is_denormal(x) {
            return x;
        }
    };
    let alt = Mode(0x4c1);
    for (text, n) in [("add", 2), ("mul", 2), ("mad", 3)] {
        let srcs = vec![F; n];
        let model = |v: &[Val], m: Mode| {
            let x: Vec<Num> = v.iter().map(|v| v.num(m)).collect();
            let exact = match text {
                "add" => add(&x[0], &x[1], Rm::Even),
                "mul" => mul(&x[0], &x[1]),
                _ => add(&mul(&x[0], &x[1]), &x[2], Rm::Even),
            };
            (finish_result(F, encode(F, &exact, Rm::Even), m, false), Cmp::Float)
        };
        for seed in 0..3 {
            let modes = &[alt];
            grid(&mut b, &Spec { modes, seed, values: Some(&finite), ..Spec::new(text, F, &srcs, &model) });
        }
    }
}

/// `divm`, `sqrtm`: as IEEE 754 has them, denormals enabled.
fn ieee_macros() {
    let mut b = Bench::new(Platform::Skl);
    for t in [F, Df] {
        for sat in [false, true] {
            let cmp = if sat { Cmp::Zeros } else { Cmp::Float };
            let srcs = &[t, t];
            let model = |v: &[Val], m: Mode| {
                let bits = encode(t, &div(&v[0].num(m), &v[1].num(m)), m.rm());
                (finish_result(t, bits, m, sat), cmp)
            };
            let root =
                |v: &[Val], m: Mode| (finish_result(t, encode(t, &sqrt(&v[0].num(m)), m.rm()), m, sat), cmp);
            for seed in 0..3 {
                grid(&mut b, &Spec { sat, seed, ..Spec::new("divm", t, srcs, &model) });
                grid(&mut b, &Spec { sat, seed, ..Spec::new("sqrtm", t, &srcs[..1], &root) });
            }
        }
    }
}

fn rounding_to_integral() {
    let mut b = Bench::new(Platform::Skl);
    // A value with a fraction, mostly.
    let values = |r: &mut Rng, _: usize| match r.below(3) {
        0 => r.value(F),
        1 => from_f64(F, (r.below(64) as f64 - 32.0) / 4.0),
        _ => F.one() + ((r.next() & 0x1f) << 23) + (r.next() & 0x8070_0000),
    };
    let whole = |x: f64, text: &str| match text {
        "rndd" => x.floor(),
        "rndu" => x.ceil(),
        "rndz" => x.trunc(),
        _ => {
            // As the page has it.
            let low = x.floor();
            let rest = x - low;
            if rest > 0.5 || rest == 0.5 && low.rem_euclid(2.0) == 1.0 { low + 1.0 } else { low }
        }
    };
    for text in ["rndd", "rndu", "rnde", "rndz"] {
        for sat in [false, true] {
            let model = |v: &[Val], m: Mode| {
                let x = m.flush(F, v[0].bits);
                let y = if F.is_nan(x) || F.is_inf(x) { x } else { from_f64(F, whole(to_f64(F, x), text)) };
                (finish_result(F, y, m, sat), Cmp::Zeros)
            };
            let srcs = &[F];
            for seed in 0..3 {
                let modes = &[IEEE, Mode(0x30), Mode(0x4d0)];
                let spec = Spec::new(text, F, srcs, &model);
                grid(&mut b, &Spec { sat, seed, modes, mods: NEG, values: Some(&values), ..spec });
            }
        }
    }
    let model = |v: &[Val], m: Mode| {
        let x = m.flush(F, v[0].bits);
        if F.is_nan(x) || F.is_inf(x) {
            return (F.nan(), Cmp::Float);
        }
        let y = to_f64(F, x) - to_f64(F, x).floor();
        // `1 - ε` lies between two values.
        (finish_result(F, from_f64(F, y), m, false), if y > 0.9999999 { Cmp::Ulp(1) } else { Cmp::Zeros })
    };
    for seed in 0..3 {
        let spec = Spec::new("frc", F, &[F], &model);
        grid(&mut b, &Spec { seed, mods: NEG, values: Some(&values), ..spec });
    }
}

/// A multiple of 1/8 below 3: sums of products of a few of them are exact, in any order.
fn eighth(r: &mut Rng, _: usize) -> u64 {
    from_f64(F, (r.below(47) as f64 - 23.0) / 8.0)
}

fn lrp() {
    let mut b = Bench::new(Platform::Skl);
    for sat in [false, true] {
        let model = |v: &[Val], m: Mode| {
            let x: Vec<f64> = v.iter().map(|v| to_f64(F, v.bits)).collect();
            (finish_result(F, from_f64(F, x[1] * x[0] + x[2] * (1.0 - x[0])), m, sat), Cmp::Zeros)
        };
        let spec = Spec::new("lrp", F, &[F, F, F], &model);
        for seed in 0..2 {
            let indirect = false;
            grid(
                &mut b,
                &Spec { sat, seed, indirect, mods: NEG, align16: true, values: Some(&eighth), ..spec },
            );
        }
    }
}

/// `line`, `plane`, `dp2`, `dp3`, `dp4`, `dph`: by their own patterns of elements.
fn products_across_channels() {
    let mut b = Bench::new(Platform::Skl);
    let mut r = Rng(9);
    for text in ["line", "plane", "dp2", "dp3", "dp4", "dph"] {
        let sizes = if text == "plane" { 0x18 } else { 0x3c };
        for round in 0..3 {
            for (n, first) in places(sizes) {
                let len = if text == "plane" { 2 * n } else { n };
                let a: Vec<u64> =
                    (0..if text.starts_with("dp") { n } else { 4 }).map(|_| eighth(&mut r, 0)).collect();
                let s: Vec<u64> = (0..len).map(|_| eighth(&mut r, 0)).collect();
                let (x, y) = (|i: usize| to_f64(F, a[i]), |i: usize| to_f64(F, s[i]));
                let em = r.next() as u32;
                let no_mask = r.below(3) == 0;
                let sat = round == 2;
                let pred = (r.below(2) == 0).then(|| (r.next() as u32, "($p)"));
                let on = enabled(n, first, no_mask, em, pred);
                let before: Vec<u64> = (0..n).map(|_| r.value(F)).collect();
                let mut after: Vec<(u64, Cmp)> = before.iter().map(|x| (*x, Cmp::Bits)).collect();
                for i in (0..n).filter(|i| on[*i]) {
                    let g = i & !3;
                    let dot = |k: usize| (0..k).map(|k| x(g + k) * y(g + k)).sum::<f64>();
                    let (u, v) = (i / 8 * 16 + i % 8, i / 8 * 16 + 8 + i % 8);
                    let z = match text {
                        "line" => x(0) * y(i) + x(3),
                        "plane" => x(0) * y(u) + x(1) * y(v) + x(3),
                        "dp2" => dot(2),
                        "dp3" => dot(3),
                        "dp4" => dot(4),
                        _ => dot(3) + y(g + 3),
                    };
                    after[i] = (finish_result(F, from_f64(F, z), IEEE, sat), Cmp::Zeros);
                }
                let region = if text.starts_with("dp") { "<1;1,0>" } else { "<0;1,0>" };
                let mut c = Case::new(format!(
                    "{} {text}{} {} $d(0,0)<1> $a(0,0){region} $b(0,0)<1;1,0>",
                    pred.map_or("", |p| p.1),
                    if sat { ".sat" } else { "" },
                    mask_text(n, first, no_mask)
                ));
                if let Some((bits, _)) = pred {
                    c = c.pred("p", bits);
                }
                b.run(c.var("a", F, &a).var("b", F, &s).out("d", F, &before, &after).em(em));
            }
        }
    }
}

fn carries() {
    let mut b = Bench::new(Platform::Skl);
    let sum = |v: &[Val], _: Mode| ((v[0].bits + v[1].bits) & 0xffff_ffff, Cmp::Bits);
    let carry = |v: &[Val]| (v[0].bits + v[1].bits) >> 32;
    let difference = |v: &[Val], _: Mode| (v[0].bits.wrapping_sub(v[1].bits) & 0xffff_ffff, Cmp::Bits);
    let borrow = |v: &[Val]| (v[0].bits < v[1].bits) as u64;
    let srcs = &[Ud, Ud];
    for seed in 0..4 {
        grid(&mut b, &Spec { seed, second: Some((Ud, &carry)), ..Spec::new("addc", Ud, srcs, &sum) });
        grid(&mut b, &Spec { seed, second: Some((Ud, &borrow)), ..Spec::new("subb", Ud, srcs, &difference) });
    }
}

/// Carries that lie apart, or where an address register points.
fn carries_elsewhere() {
    let mut b = Bench::new(Platform::Skl);
    let mut r = Rng(77);
    for (name, sub) in [("addc", false), ("subb", true)] {
        for (n, m, first) in [(1, "M1", 0), (8, "M1", 0), (8, "M3", 8), (16, "M1_NM", 0)] {
            for em in [u32::MAX, 0x5a5a_33cc, 0x8001] {
                let (a, s): (Vec<u64>, Vec<u64>) =
                    (0..n).map(|i| (r.value(Ud), if i % 3 == 0 { 0xffff_ffff } else { r.value(Ud) })).unzip();
                let on = |i: usize| m.ends_with("NM") || em >> (first + i) & 1 != 0;
                let one = |i: usize| match sub {
                    true => (a[i].wrapping_sub(s[i]) & 0xffff_ffff, (a[i] < s[i]) as u64),
                    false => ((a[i] + s[i]) & 0xffff_ffff, (a[i] + s[i]) >> 32),
                };
                let sum: Vec<u64> = (0..n).map(|i| if on(i) { one(i).0 } else { 7 }).collect();
                for step in [2, 4] {
                    let carry: Vec<u64> = (0..n * step)
                        .map(|e| if e % step == 0 && on(e / step) { one(e / step).1 } else { 9 })
                        .collect();
                    let region = if n == 1 { "<0;1,0>" } else { "<1;1,0>" };
                    for indirect in [false, true] {
                        let (place, text) = match indirect {
                            true => {
                                (format!("r[$p(0),0]<{step}>:ud"), "addr_add (M1_NM,1) $p(0)<1> &$c 0x0:uw\n")
                            }
                            false => (format!("$c(0,0)<{step}>"), ""),
                        };
                        let c = Case::new(format!(
                            "{name} ({m},{n}) $d(0,0)<1> {place} $a(0,0){region} $s(0,0){region}"
                        ));
                        let c = if indirect { c.before(text).address("p") } else { c };
                        b.run(
                            c.var("a", Ud, &a)
                                .var("s", Ud, &s)
                                .bits("d", Ud, &vec![7; n], &sum)
                                .bits("c", Ud, &vec![9; n * step], &carry)
                                .em(em),
                        );
                    }
                }
            }
        }
    }
}

fn sums_of_absolute_differences() {
    let mut b = Bench::new(Platform::Skl);
    let none = |_: &[Val], _: Mode| (0, Cmp::Any);
    for d in [W, Uw] {
        for (s, third) in [(Ub, Uw), (B, W)] {
            for sat in [false, true] {
                let lanes = |v: &[Vec<Val>], i: usize| {
                    if i % 2 == 1 {
                        return (0, Cmp::Any);
                    }
                    let one = |k: usize| (v[0][k].i - v[1][k].i).abs();
                    let more = v.get(2).map_or(0, |v| v[i].i);
                    (d.wrap(one(i) + one(i + 1) + more, sat), Cmp::Bits)
                };
                let srcs = &[s, s, third];
                let two =
                    Spec { lanes: Some(&lanes), sat, sizes: 0x3e, ..Spec::new("sad2", d, &srcs[..2], &none) };
                grid(&mut b, &two);
                grid(&mut b, &Spec { text: "sad2add", srcs, ..two });
            }
        }
    }
}

fn dp4a() {
    let mut b = Bench::new(Platform::Tgllp);
    for d in [D, Ud] {
        for srcs in [[D, D, D], [Ud, Ud, Ud], [D, Ud, D], [D, D, Ud], [Ud, D, D]] {
            for sat in [false, true] {
                let model = |v: &[Val], _: Mode| {
                    let byte = |v: &Val, k: usize| {
                        let x = (v.bits >> (8 * k)) as u8;
                        if v.t == D { x as i8 as i128 } else { x as i128 }
                    };
                    let dot: i128 = (0..4).map(|k| byte(&v[1], k) * byte(&v[2], k)).sum();
                    (d.wrap(v[0].i + dot, sat), Cmp::Bits)
                };
                grid(&mut b, &Spec { sat, ..Spec::new("dp4a", d, &srcs, &model) });
            }
        }
    }
}

fn lzd() {
    let mut b = Bench::new(Platform::Skl);
    let model = |v: &[Val], _: Mode| {
        let (mut n, mut x) = (0, v[0].bits as u32);
        while x & 1 << 31 == 0 && n != 32 {
            n += 1;
            x <<= 1;
        }
        (n, Cmp::Bits)
    };
    let srcs = &[Ud];
    for seed in 0..4 {
        grid(&mut b, &Spec { seed, ..Spec::new("lzd", Ud, srcs, &model) });
    }
}

crate::coverage::pages! {
    add_integers add3 avg mul_and_mad_integers mulh madw div_and_mod_integers min_and_max add_mul_mad_floats add_mul_mad_bfloat alt_mode ieee_macros rounding_to_integral lrp products_across_channels carries carries_elsewhere sums_of_absolute_differences dp4a lzd
}
