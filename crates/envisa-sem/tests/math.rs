//! The math unit: error in units in the last place against the host's doubles, and special values.

use envisa_sem::convert::f64_to_hf;
use envisa_sem::{FpMode, Hf, Ieee, MacroMath, MathUnit, Rounding};

/// The distance of `got` from `want` in units of the last place of `want` rounded to `f`.
fn error(got: f32, want: f64) -> f64 {
    let near = want as f32;
    if near.is_nan() || got.is_nan() {
        return if near.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if near.is_infinite() || got.is_infinite() {
        return if near == got { 0.0 } else { f64::INFINITY };
    }
    let power = f32::from_bits(near.to_bits() & 0x7f80_0000) as f64;
    let unit = (power * f32::EPSILON as f64).max(f32::from_bits(1) as f64);
    ((got as f64 - want) / unit).abs()
}

type Function = (&'static str, fn(f32) -> f32, fn(f64) -> f64, bool, f64);

/// Each function, its reference, whether the negative half is worth a visit, and its largest error.
const FUNCTIONS: [Function; 7] = [
    ("exp", |x| MathUnit::exp(x, Ieee), |x| x.exp2(), true, 0.77),
    ("log", |x| MathUnit::log(x, Ieee), |x| x.log2(), false, 0.67),
    ("sin", |x| MathUnit::sin(x, Ieee), |x| x.sin(), false, 0.5001),
    ("cos", |x| MathUnit::cos(x, Ieee), |x| x.cos(), false, 0.5001),
    ("tanh", |x| MathUnit::tanh(x, Ieee), |x| x.tanh(), false, 0.5001),
    ("sigm", |x| MathUnit::sigm(x, Ieee), |x| 1.0 / (1.0 + (-x).exp()), true, 0.5001),
    ("rsqrt", |x| MathUnit::rsqrt(x, Ieee), |x| 1.0 / x.sqrt(), false, 0.51),
];

/// The largest error over every `stride`th value.
fn worst(f: Function, stride: u32) -> (f64, f32) {
    let mut worst = (0.0, 0.0);
    let mut bits = 0u32;
    loop {
        let x = f32::from_bits(bits);
        let e = error((f.1)(x), (f.2)(x as f64));
        if e > worst.0 {
            worst = (e, x);
        }
        match bits.checked_add(stride) {
            Some(next) if f.3 || next <= 0x7f80_0000 => bits = next,
            _ => return worst,
        }
    }
}

#[test]
fn errors_are_as_stated() {
    for f in FUNCTIONS {
        let (e, x) = worst(f, 9_973);
        assert!(e < f.4, "{}({x:e}): {e}", f.0);
    }
}

/// Every value of every function; minutes in a release build. Prints the table of `math`'s documentation.
#[test]
#[ignore = "visits 2^31 values a function: run in release, it prints the errors the documentation states"]
fn errors_of_every_value() {
    for f in FUNCTIONS {
        let (e, x) = worst(f, 1);
        println!("{}: {e:.6} at {x:e}", f.0);
        assert!(e < f.4);
    }
}

#[test]
fn odd_and_even_functions() {
    for bits in (0..0x7f80_0000u32).step_by(99_991) {
        let x = f32::from_bits(bits);
        assert_eq!(MathUnit::sin(-x, Ieee), -MathUnit::sin(x, Ieee));
        assert_eq!(MathUnit::cos(-x, Ieee), MathUnit::cos(x, Ieee));
        assert_eq!(MathUnit::tanh(-x, Ieee), -MathUnit::tanh(x, Ieee));
        assert!(MathUnit::log(-x, Ieee).is_nan() || x == 0.0);
    }
}

/// Arguments chosen for lying next to multiples of π/2, and the largest.
#[test]
fn hard_arguments() {
    for x in [
        16367173.0 * 2f32.powi(72),
        f32::MAX,
        5.5706624e34,
        1.0e9,
        std::f32::consts::PI,
        std::f32::consts::TAU,
        2f32.powi(127),
    ] {
        assert!(error(MathUnit::sin(x, Ieee), (x as f64).sin()) < 0.5001, "{x:e}");
        assert!(error(MathUnit::cos(x, Ieee), (x as f64).cos()) < 0.5001, "{x:e}");
    }
}

#[test]
fn powers() {
    let mut x = 1.0e-38f32;
    while x < 1.0e38 {
        for y in [-7.25f32, -2.0, -1.0, -0.3, 1e-6, 0.5, 1.0, 2.0, 3.7, 20.0] {
            let e = error(MathUnit::pow(x, y, Ieee), (x as f64).powf(y as f64));
            assert!(e < 0.5001, "{x:e}^{y}: {e}");
        }
        x *= 1.0173;
    }
    let inf = f32::INFINITY;
    for (x, y, want) in [
        (0.0f32, 2.0f32, 0.0f32),
        (0.0, -2.0, inf),
        (0.0, 0.0, 1.0),
        (inf, 0.0, 1.0),
        (inf, 1.0, inf),
        (inf, -1.0, 0.0),
        (1.0, 1e30, 1.0),
        (0.5, inf, 0.0),
        (2.0, inf, inf),
        (2.0, -inf, 0.0),
    ] {
        assert_eq!(MathUnit::pow(x, y, Ieee), want, "{x}^{y}");
    }
    assert!(MathUnit::pow(-2.0f32, 2.0, Ieee).is_nan());
    assert!(MathUnit::pow(f32::NAN, 0.0, Ieee).is_nan());
}

#[test]
fn special_values() {
    let inf = f32::INFINITY;
    assert_eq!(MathUnit::exp(-inf, Ieee), 0.0);
    assert_eq!(MathUnit::exp(inf, Ieee), inf);
    assert_eq!(MathUnit::exp(128.0f32, Ieee), inf);
    assert_eq!(MathUnit::exp(-149.0f32, Ieee), f32::from_bits(1));
    assert_eq!(MathUnit::exp(-149.0f32, FpMode::START), 0.0);
    assert_eq!(MathUnit::log(0.0f32, Ieee), -inf);
    assert_eq!(MathUnit::log(f32::from_bits(1), FpMode::START), -inf);
    assert_eq!(MathUnit::log(f32::from_bits(1), Ieee), -149.0);
    assert_eq!(MathUnit::log(-8.0f32, FpMode(FpMode::ALT)), 3.0);
    assert!(MathUnit::sin(inf, Ieee).is_nan() && MathUnit::cos(f32::NAN, Ieee).is_nan());
    assert_eq!(MathUnit::sin(-0.0f32, Ieee).to_bits(), 0x8000_0000);
    assert_eq!(MathUnit::inv(-0.0f32, Ieee), -inf);
    assert_eq!(MathUnit::inv(f32::from_bits(1), FpMode::START), inf);
    assert_eq!(MathUnit::rsqrt(0.0f32, Ieee), inf);
    assert_eq!(MathUnit::rsqrt(4.0f32, Ieee), 0.5);
    assert_eq!(MathUnit::tanh(20.0f32, Ieee), 1.0);
    assert_eq!(MathUnit::tanh(-inf, Ieee), -1.0);
    assert_eq!(MathUnit::sigm(-inf, Ieee), 0.0);
    assert_eq!(MathUnit::sigm(0.0f32, Ieee), 0.5);
}

/// Every half, against the double rounded once: the right one, or its neighbour where the exact result is
/// within a thousandth of a unit of the middle between them.
#[test]
fn halves() {
    for bits in 0..=u16::MAX {
        let (h, x) = (Hf(bits), half::f16::from_bits(bits).to_f64());
        let check = |name: &str, got: Hf, want: f64| {
            // (`half` rounds twice on hosts that convert through singles.)
            let near = f64_to_hf(want, Rounding::NearestEven);
            if f32::from(near).is_nan() {
                assert!(f32::from(got).is_nan(), "{name}({x}): {got:?}");
                return;
            }
            let middle = (f64::from(near) + f64::from(got)) / 2.0;
            let next_to = got.0.abs_diff(near.0) == 1
                && (want - middle).abs() < 1e-3 * (f64::from(near) - f64::from(got)).abs();
            assert!(got == near || next_to, "{name}({x}): {got:?}, not {near:?}");
        };
        check("inv", h.inv(Ieee), 1.0 / x);
        check("exp", h.exp(Ieee), x.exp2());
        check("log", h.log(Ieee), if x == 0.0 { f64::NEG_INFINITY } else { x.log2() });
        check("sin", h.sin(Ieee), x.sin());
        check("cos", h.cos(Ieee), x.cos());
        check("rsqrt", h.rsqrt(Ieee), 1.0 / x.sqrt());
    }
}

#[test]
fn macros_tell_special_results() {
    assert_eq!(1.0f64.invm(0.0, Ieee), (f64::INFINITY, true));
    assert_eq!(0.0f64.invm(3.0, Ieee), (0.0, true));
    assert!(0.0f32.invm(0.0, Ieee).0.is_nan());
    assert_eq!(6.0f64.invm(4.0, Ieee), (0.25, false));
    assert_eq!(4.0f64.rsqtm(Ieee), (0.5, false));
    assert_eq!(f64::INFINITY.rsqtm(Ieee), (0.0, true));
    assert!((-1.0f32).rsqtm(Ieee).1);
}
