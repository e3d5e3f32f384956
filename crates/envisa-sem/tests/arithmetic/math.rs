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
    let shift = if cfg!(debug_assertions) { 18 } else { 14 };
    let low = |i: u32| [0, 1, (1 << shift) - 1, i.wrapping_mul(0x9e37_79b9) >> (32 - shift)][i as usize & 3];
    let values: Vec<u32> = (0..1 << (32 - shift)).map(|i: u32| i << shift | low(i)).collect();
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

/// The residual 1 − x y², in two parts, tells the error of a reciprocal root.
#[test]
fn reciprocal_roots_of_doubles() {
    let mut seed = 1u64;
    let mut worst = 0f64;
    for i in 0..200_000u64 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // All exponents, and significands next to those of 1 and 4.
        let bits = match i % 3 {
            0 => seed >> 1,
            1 => (seed >> 1) & !0xf_ffff_ffff_ff00,
            _ => (seed >> 1) | 0xf_ffff_ffff_ff00,
        };
        let x = f64::from_bits(bits);
        if !x.is_finite() || x == 0.0 {
            continue;
        }
        let y = envisa_sem::math::rsqrt_df(x, Ieee);
        // Scaled by a power of 4, exactly, so that nothing underflows.
        let n = (x.log2() / 2.0).floor() as i32;
        let half = |n: i32| 2f64.powi(n / 2) * 2f64.powi(n - n / 2);
        let (a, b) = (x * half(-n) * half(-n), y * half(n));
        assert!((0.9..4.1).contains(&a), "{x:e}");
        let (square, low) = (b * b, b.mul_add(b, -(b * b)));
        let (product, rest) = (a * square, a.mul_add(square, -(a * square)));
        let residual = (1.0 - product) - rest - a * low;
        let unit = f64::from_bits(b.to_bits() + 1) - b;
        worst = worst.max((residual / 2.0 * b / unit).abs());
    }
    assert!(worst > 0.45 && worst < 0.501, "{worst}");
    for (x, y) in [(0.0, f64::INFINITY), (-0.0, f64::NEG_INFINITY), (f64::INFINITY, 0.0), (4.0, 0.5)] {
        assert_eq!(envisa_sem::math::rsqrt_df(x, Ieee).to_bits(), f64::to_bits(y));
    }
    for x in [-1.0, -5e-324, f64::NEG_INFINITY, f64::NAN] {
        assert!(envisa_sem::math::rsqrt_df(x, Ieee).is_nan());
    }
}

/// A function written down computes what it computes; what may be skipped is not needed where no lane is set.
#[test]
fn sequences_compute_the_functions() {
    use envisa_sem::lanes::{Sequence, Step};
    use envisa_sem::math::Function;
    for f in Function::ALL {
        let s = Sequence::of(f, 1 + f.is_binary() as usize);
        let mut seed = 7u32;
        for i in 0..20_000u32 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (x, y) = (seed, if i & 1 == 0 { seed.rotate_left(13) } else { 3f32.to_bits() });
            assert_eq!(s.run(&[x, y]), f.of(x, y), "{} {x:#x} {y:#x}", f.name());
        }
        let count = |f: fn(&Step) -> bool| s.steps.iter().filter(|s| f(s)).count();
        let constants = count(|s| matches!(s, Step::Bits(_)));
        let skipped: usize = s
            .steps
            .iter()
            .enumerate()
            .map(|(i, s)| if let Step::Rarely { end, .. } = s { end - i } else { 0 })
            .sum();
        println!(
            "{}: {} steps, {skipped} of them seldom, {constants} constants",
            f.name(),
            s.steps.len() - constants
        );
        for (i, step) in s.steps.iter().enumerate() {
            // Inside of what may be skipped lies nothing that is used behind it, but merges.
            if let Step::Rarely { end, .. } = step {
                assert!(*end > i && matches!(s.steps[*end - 1], Step::Merge { .. }));
                for j in i + 1..*end {
                    assert!(matches!(s.steps[j], Step::Merge { .. }) || s.last_use[j] < *end);
                }
            }
        }
    }
}

/// Of integral numbers a power of two has the same bits without a polynomial, by all lanes.
#[test]
fn powers_of_integral_numbers() {
    use envisa_sem::lanes::{Apply, Host, Lanes};
    use envisa_sem::math::Function;
    use envisa_sem::math::single::exp2_integral;
    #[derive(Clone, Copy)]
    struct Integral;
    impl Apply for Integral {
        fn apply<L: Lanes>(self, l: &mut L, a: L::V, _: L::V) -> L::V {
            exp2_integral(l, a)
        }
    }
    let mut all: Vec<u32> = (-400..=400).map(|n| (n as f32).to_bits()).collect();
    for x in [0.0f32, 1e9, 2f32.powi(23) + 1.0, f32::MAX, f32::INFINITY] {
        all.extend([x.to_bits(), (-x).to_bits()]);
    }
    // NaNs, quiet and not, of either sign.
    all.extend([0x7fc0_0000, 0x7f80_0001, 0xffc1_2345, 0xff81_2345]);
    all.resize(all.len().next_multiple_of(16), 0);
    for host in Host::all() {
        let (mut got, mut want) = (vec![0; all.len()], vec![0; all.len()]);
        host.map(Integral, &all, &all, &mut got);
        Function::Exp.map(host, &all, &all, &mut want);
        for ((x, got), want) in all.iter().zip(got).zip(want) {
            assert_eq!(got, want, "{x:#x} by {host:?}");
        }
    }
}
