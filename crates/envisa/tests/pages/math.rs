//! Pages INV, RSQRT, SQRT, EXP, LOG, POW, SIN, COS, DIV of floats, INVM, RSQTM, ADD3O; TANH, SIGM.

use crate::arith::NEG;
use crate::harness::{Bench, Case, Cmp, ulps};
use crate::model::T::*;
use crate::model::*;
use crate::shapes::{Spec, Val, enabled, grid, mask_text, places};
use envisa::isa::Platform;
use std::collections::BTreeMap;

/// A function of the math unit as the host's library has it.
fn host(name: &str, x: f64, y: f64) -> f64 {
    match name {
        "inv" => 1.0 / x,
        "rsqrt" => 1.0 / x.sqrt(),
        "sqrt" => x.sqrt(),
        "exp" => x.exp2(),
        "log" => x.log2(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tanh" => x.tanh(),
        "sigm" => 1.0 / (1.0 + (-x).exp()),
        "div" => x / y,
        "pow" => x.powf(y),
        _ => unreachable!(),
    }
}

/// Name, sources, types.
const FUNCTIONS: &[(&str, usize, &[T])] = &[
    ("inv", 1, &[F, Hf, Df]),
    ("rsqrt", 1, &[F, Hf]),
    ("sqrt", 1, &[F, Hf]),
    ("exp", 1, &[F, Hf]),
    ("log", 1, &[F, Hf]),
    ("sin", 1, &[F, Hf]),
    ("cos", 1, &[F, Hf]),
    ("pow", 2, &[F, Hf]),
    ("div", 2, &[F, Hf, Df]),
];

fn functions() {
    let mut b = Bench::new(Platform::Skl);
    for (name, count, types) in FUNCTIONS {
        for t in *types {
            for sat in [false, true] {
                for (d, s) in [(*t, *t), (F, Hf), (Hf, F)] {
                    if (d != s) && (*t != F || sat) {
                        continue;
                    }
                    let srcs = vec![s; *count];
                    let model = |v: &[Val], m: Mode| {
                        let x = |k: usize| v.get(k).map_or(0.0, |v| to_f64(v.t, m.flush(v.t, v.bits)));
                        let mut z = host(name, x(0), x(1));
                        if sat {
                            z = if z.is_nan() { 0.0 } else { z.clamp(0.0, 1.0) };
                        }
                        // A result that is flushed, or just not: either.
                        let bits = finish_result(d, from_f64(d, z), m, sat);
                        let edge = z != 0.0 && z.abs() < to_f64(d, 2 << d.float().0) && !m.keeps(d);
                        (bits, if edge { Cmp::Any } else { Cmp::Ulp(1) })
                    };
                    for seed in 0..3 {
                        let spec = Spec {
                            sat,
                            seed,
                            mods: NEG,
                            modes: &[IEEE, Mode(0), Mode(0x4c0)],
                            ..Spec::new(name, d, &srcs, &model)
                        };
                        grid(&mut b, &spec);
                    }
                }
            }
        }
    }
}

/// Special values, one by one.
fn special_values() {
    let mut b = Bench::new(Platform::Skl);
    for t in [F, Hf] {
        let (one, inf, nan, neg) = (t.one(), t.inf(), t.nan(), t.sign());
        for (name, x, y) in [
            ("inv", 0, inf),
            ("inv", neg, inf | neg),
            ("inv", inf, 0),
            ("inv", inf | neg, neg),
            ("inv", nan, nan),
            ("inv", one, one),
            ("sqrt", 0, 0),
            ("sqrt", neg, neg),
            ("sqrt", inf, inf),
            ("sqrt", one | neg, nan),
            ("rsqrt", 0, inf),
            ("rsqrt", inf, 0),
            ("rsqrt", one | neg, nan),
            ("exp", 0, one),
            ("exp", neg, one),
            ("exp", inf, inf),
            ("exp", inf | neg, 0),
            ("exp", nan, nan),
            ("log", one, 0),
            ("log", 0, inf | neg),
            ("log", neg, inf | neg),
            ("log", inf, inf),
            ("log", one | neg, nan),
            ("sin", 0, 0),
            ("sin", neg, neg),
            ("sin", inf, nan),
            ("cos", 0, one),
            ("cos", inf, nan),
        ] {
            let c = Case::new(format!("{name} (M1,8) $d(0,0)<1> $s(0,0)<0;1,0>"));
            b.run(c.var("s", t, &[x]).out("d", t, &[0; 8], &[(y, Cmp::Float); 8]));
        }
    }
    // ALT mode: of the absolute value.
    for name in ["log", "rsqrt", "sqrt"] {
        for x in [-4.0, -0.25, 9.0, -1.5] {
            let y = host(name, f64::abs(x), 0.0);
            let c = Case::new(format!("{name} (M1,8) $d(0,0)<1> $s(0,0)<0;1,0>")).mode(Mode(0x4c1));
            b.run(c.var("s", F, &[from_f64(F, x)]).out("d", F, &[0; 8], &[(from_f64(F, y), Cmp::Ulp(1)); 8]));
        }
    }
}

/// `tanh`, `sigm` of 4.2.
fn later_functions() {
    let mut b = Bench::new(Platform::Xe3p).version("4.2");
    for name in ["tanh", "sigm"] {
        for t in [F, Hf] {
            let model = |v: &[Val], m: Mode| {
                let z = host(name, to_f64(t, m.flush(t, v[0].bits)), 0.0);
                (finish_result(t, from_f64(t, z), m, false), Cmp::Ulp(1))
            };
            let srcs = &[t];
            for seed in 0..3 {
                grid(&mut b, &Spec { seed, grf: 64, mods: NEG, ..Spec::new(name, t, srcs, &model) });
            }
        }
    }
}

/// The macros' parts: a special result and its early-out bit, or a start that the rest refines. And `add3.o`.
fn second_results_in_predicates() {
    let mut r = Rng(21);
    let mut b = Bench::new(Platform::Pvc).version("4.2");
    for (n, first) in places(0x3f) {
        for t in [F, Df] {
            for round in 0..4 {
                let x: Vec<u64> = (0..n).map(|_| r.value(t)).collect();
                let y: Vec<u64> = (0..n).map(|_| r.value(t)).collect();
                let (em, old) = (r.next() as u32, r.next() as u32);
                let on = enabled(n, first, false, em, None);
                let before: Vec<u64> = (0..n).map(|_| r.value(t)).collect();
                let mut after: Vec<(u64, Cmp)> = before.iter().map(|x| (*x, Cmp::Bits)).collect();
                let mut bits = old;
                let name = if round % 2 == 0 { "invm" } else { "rsqtm" };
                for i in (0..n).filter(|i| on[*i]) {
                    let (p, q) = (decode(t, x[i]), decode(t, y[i]));
                    let (z, start) = if name == "invm" {
                        (encode(t, &div(&p, &q), Rm::Even), 1.0 / to_f64(t, y[i]))
                    } else {
                        let s = to_f64(t, x[i]).sqrt();
                        (from_f64(t, 1.0 / s), 1.0 / s)
                    };
                    let early = t.is_nan(z) || t.is_inf(z) || t.is_zero(z);
                    let at = first + i;
                    bits = bits & !(1 << at) | (early as u32) << at;
                    // The start is an approximation: within some units, where it has a size.
                    let edge = !(1e-30..1e30).contains(&start.abs());
                    after[i] = if early {
                        (z, Cmp::Float)
                    } else if edge {
                        (0, Cmp::Any)
                    } else {
                        (from_f64(t, start), Cmp::Ulp(2))
                    };
                }
                let second = if name == "invm" { "$b(0,0)<1;1,0>" } else { "" };
                let m = mask_text(n, first, false);
                let c = Case::new(format!("{name} {m} $d(0,0)<1> $p $a(0,0)<1;1,0> {second}"));
                b.run(
                    c.var("a", t, &x)
                        .var("b", t, &y)
                        .out("d", t, &before, &after)
                        .pred_out("p", old, bits)
                        .em(em),
                );
            }
        }
        for t in [D, Ud, W, Uw] {
            let v: Vec<Vec<u64>> = (0..3).map(|_| (0..n).map(|_| r.value(t)).collect()).collect();
            let (em, old) = (r.next() as u32, r.next() as u32);
            let on = enabled(n, first, false, em, None);
            let before: Vec<u64> = (0..n).map(|_| r.value(t)).collect();
            let (mut after, mut bits) = (before.clone(), old);
            for i in (0..n).filter(|i| on[*i]) {
                let sum: i128 = v.iter().map(|v| t.int(v[i])).sum();
                let at = first + i;
                bits = bits & !(1 << at) | (!(t.least()..=t.most()).contains(&sum) as u32) << at;
                after[i] = t.wrap(sum, false);
            }
            let m = mask_text(n, first, false);
            let c =
                Case::new(format!("($p) add3.o {m} $d(0,0)<1> $a(0,0)<1;1,0> $b(0,0)<1;1,0> $c(0,0)<1;1,0>"));
            let c = c.var("a", t, &v[0]).var("b", t, &v[1]).var("c", t, &v[2]).bits("d", t, &before, &after);
            b.run(c.pred_out("p", old, bits).em(em));
        }
    }
}

/// Values densely over a type: for halves all, for singles every so many, with all exponents.
fn dense(t: T, k: u64) -> Vec<u64> {
    match t {
        Hf => (0..0x1_0000).collect(),
        _ => (0..(1u64 << 32) / k).map(|i| (i * k + i % k) & 0xffff_ffff).collect(),
    }
}

/// The largest error of each function over a dense grid: name and type, in units in the last place (0.5 is
/// correct rounding), and values looked at.
pub fn measured() -> &'static BTreeMap<(&'static str, T), (f64, usize)> {
    static ONCE: std::sync::OnceLock<BTreeMap<(&'static str, T), (f64, usize)>> = std::sync::OnceLock::new();
    ONCE.get_or_init(measure)
}

fn measure() -> BTreeMap<(&'static str, T), (f64, usize)> {
    use envisa::sem::math::MathUnit;
    use envisa::sem::{Hf as Half, Ieee};
    let mut out = BTreeMap::new();
    let mut ops: Vec<(&str, usize)> = FUNCTIONS.iter().map(|(n, c, _)| (*n, *c)).collect();
    ops.extend([("tanh", 1), ("sigm", 1)]);
    for (name, count) in ops {
        for t in [F, Hf] {
            if count == 2 && name == "div" {
                continue;
            }
            let (mut worst, mut seen) = (0f64, 0);
            let step = 40_009;
            for (i, x) in dense(t, step).into_iter().enumerate() {
                let y = if count == 2 {
                    // Exponents from −4 to 4.
                    from_f64(
                        t,
                        (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64 as f64 / (1u64 << 61) as f64,
                    )
                } else {
                    0
                };
                let (p, q) = (to_f64(t, x), to_f64(t, y));
                let want = host(name, p, q);
                let (f, g) = (f32::from_bits(x as u32), f32::from_bits(y as u32));
                let (h, k) = (Half(x as u16), Half(y as u16));
                macro_rules! both {
                    ($f:ident) => {
                        if t == F {
                            MathUnit::$f(f, Ieee).to_bits() as u64
                        } else {
                            MathUnit::$f(h, Ieee).0 as u64
                        }
                    };
                }
                let got = match name {
                    "inv" => both!(inv),
                    "rsqrt" => both!(rsqrt),
                    "sqrt" if t == F => envisa::sem::Float::sqrt(f, Ieee).to_bits() as u64,
                    "sqrt" => envisa::sem::Float::sqrt(h, Ieee).0 as u64,
                    "exp" => both!(exp),
                    "log" => both!(log),
                    "sin" => both!(sin),
                    "cos" => both!(cos),
                    "tanh" => both!(tanh),
                    "sigm" => both!(sigm),
                    _ if t == F => MathUnit::pow(f, g, Ieee).to_bits() as u64,
                    _ => MathUnit::pow(h, k, Ieee).0 as u64,
                };
                if want.is_nan() || t.is_nan(got) {
                    assert!(
                        want.is_nan() && t.is_nan(got) || p.is_nan(),
                        "{name}({p:e}) is {got:x}, not {want:e}"
                    );
                    continue;
                }
                let near = from_f64(t, want);
                if t.is_inf(near) || t.is_inf(got) {
                    assert!(ulps(t, near, got) <= 1, "{name}({p:e})");
                    continue;
                }
                // A unit in the last place of the exact result.
                let low = near & !t.sign() & t.mask();
                let unit = to_f64(t, low + 1) - to_f64(t, low);
                let unit = if unit.is_finite() { unit } else { to_f64(t, low) - to_f64(t, low - 1) };
                worst = worst.max((to_f64(t, got) - want).abs() / unit);
                seen += 1;
            }
            out.insert((name, t), (worst, seen));
        }
    }
    out
}

/// What COVERAGE.md says of the math unit holds: less than a unit for singles, half a unit but for a few
/// thousandths for halves, as far as the host's doubles tell.
fn errors() {
    for ((name, t), (worst, seen)) in measured() {
        assert!(*seen > 10_000, "{name}");
        let limit = if *t == F { 1.0 } else { 0.501 };
        assert!(*worst < limit, "{name}.{}: {worst} units", t.name());
    }
}

crate::coverage::pages! {
    functions special_values later_functions second_results_in_predicates errors
}
