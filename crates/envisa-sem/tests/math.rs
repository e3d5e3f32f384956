//! The math unit: special and chosen values, halves, lanes. (Errors over all singles: `singles.rs`.)

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
        assert!(error(MathUnit::sin(x, Ieee), (x as f64).sin()) < 0.74, "{x:e}");
        assert!(error(MathUnit::cos(x, Ieee), (x as f64).cos()) < 0.74, "{x:e}");
    }
}

#[test]
fn powers() {
    let mut x = 1.0e-38f32;
    while x < 1.0e38 {
        for y in [-7.25f32, -2.0, -1.0, -0.3, 1e-6, 0.5, 1.0, 2.0, 3.7, 20.0] {
            let e = error(MathUnit::pow(x, y, Ieee), (x as f64).powf(y as f64));
            assert!(e < 0.8, "{x:e}^{y}: {e}");
        }
        x *= 1.0173;
    }
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    for (x, y, want) in [
        (-2.0f32, 2.0f32, 4.0f32),
        (-2.0, -3.0, -0.125),
        (-2.0, 16_777_217.0, inf),
        (-0.5, 16_777_215.0, -0.0),
        (-1.0, inf, 1.0),
        (-inf, 3.0, -inf),
        (-inf, 0.5, inf),
        (-inf, -3.0, -0.0),
        (-0.0, 3.0, -0.0),
        (-0.0, -3.0, -inf),
        (-0.0, -2.0, inf),
        (-0.0, 0.5, 0.0),
        (1.0, nan, 1.0),
        (1.0, inf, 1.0),
        (nan, 0.0, 1.0),
        (nan, -0.0, 1.0),
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
        assert_eq!(MathUnit::pow(x, y, Ieee).to_bits(), want.to_bits(), "{x}^{y}");
    }
    for (x, y) in [(-2.0f32, 0.5f32), (-1e-40, 1e-40), (nan, 1.0), (-1.0, nan), (0.0, nan), (inf, nan)] {
        assert!(MathUnit::pow(x, y, Ieee).is_nan(), "{x}^{y}");
    }
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

/// Every kind of lanes that the CPU has gives the same bits, NaN and all.
#[test]
#[cfg(target_arch = "x86_64")]
fn all_lanes_agree() {
    use envisa_sem::lanes::Host;
    use envisa_sem::math::Function;
    let hosts = Host::all();
    // All exponents and signs, and the exponents' ends.
    let values: Vec<u32> = (0..1 << 18)
        .map(|i: u32| (i << 14).wrapping_add([0, 1, 0x3fff, i.wrapping_mul(0x9e37) & 0x3fff][i as usize & 3]))
        .collect();
    let turned: Vec<u32> = (0..values.len()).map(|i| values[i * 40_503 % values.len()]).collect();
    let mut first = vec![0; values.len()];
    let mut other = vec![0; values.len()];
    for f in Function::ALL {
        f.map(Host::Scalar, &values, &turned, &mut first);
        for host in &hosts {
            f.map(*host, &values, &turned, &mut other);
            for (i, (a, b)) in first.iter().zip(&other).enumerate() {
                assert_eq!(a, b, "{} {:#x} {:#x} by {host:?}", f.name(), values[i], turned[i]);
            }
        }
    }
}
