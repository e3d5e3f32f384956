//! Floating-point arithmetic: the fast paths against exact integers, and the integers against the host.

use crate::common;

use common::{Rng, edges};
use envisa_sem::exact_arithmetic::{self, Format};
use envisa_sem::{Bf, Float, FpMode, Hf, Ieee, Lane, Relation, Rounding};

fn same(f: Format, a: u64, b: u64) -> bool {
    a == b || f.is_nan(a) && f.is_nan(b)
}

/// Every operation of a format, in every mode, against the integers.
fn against_soft<T: Float>(f: Format, rounds: u32) {
    let mut rng = Rng(0x1234_5678_9abc_def1);
    let edge = edges(f);
    let check = |a: u64, b: u64, c: u64| {
        let (x, y, z) = (<T as Lane>::from_bits(a), <T as Lane>::from_bits(b), <T as Lane>::from_bits(c));
        for r in Rounding::ALL {
            let m = FpMode::OPENCL.with_rounding(r);
            let ok = |name: &str, got: T, want: u64| {
                let got = Lane::to_bits(got);
                assert!(same(f, got, want), "{name} {r:?} {a:#x} {b:#x} {c:#x}: {got:#x}, not {want:#x}");
            };
            ok("add", x.add(y, m), exact_arithmetic::add(f, a, b, r));
            ok("mul", x.mul(y, m), exact_arithmetic::mul(f, a, b, r));
            ok("div", x.div(y, m), exact_arithmetic::div(f, a, b, r));
            ok("mad", x.mad(y, z, m), exact_arithmetic::fma(f, a, b, c, r));
            ok("sqrt", x.sqrt(m), exact_arithmetic::sqrt(f, a, r));
        }
    };
    for &a in &edge {
        for &b in &edge {
            for &c in &edge {
                check(a, b, c);
            }
        }
    }
    for _ in 0..rounds {
        let (a, b) = (rng.float(f), rng.float(f));
        // Every fourth time, an addend that nearly cancels the product.
        let c = if rng.next() & 3 == 0 {
            exact_arithmetic::mul(f, a, b, Rounding::Up) ^ f.sign()
        } else {
            rng.float(f)
        };
        check(a, b, c);
    }
}

#[test]
fn f_is_exact_in_every_mode() {
    against_soft::<f32>(exact_arithmetic::F, 200_000);
}

#[test]
fn hf_is_exact_in_every_mode() {
    against_soft::<Hf>(exact_arithmetic::HF, 200_000);
}

#[test]
fn bf_is_exact_in_every_mode() {
    against_soft::<Bf>(exact_arithmetic::BF, 200_000);
}

/// In nearest even this holds the integers against the CPU.
#[test]
fn df_is_exact_in_every_mode() {
    against_soft::<f64>(exact_arithmetic::DF, 200_000);
}

/// A directed result and its neighbour enclose the exact one: checked without the integers, by residues.
#[test]
fn directed_df_brackets_nearest() {
    let mut rng = Rng(77);
    for _ in 0..100_000 {
        let (a, b) = (
            f64::from_bits(rng.float(exact_arithmetic::DF)),
            f64::from_bits(rng.float(exact_arithmetic::DF)),
        );
        let s = a + b;
        if !s.is_finite() {
            continue;
        }
        let [n, u, d, z] = Rounding::ALL.map(|r| a.add(b, FpMode::OPENCL.with_rounding(r)));
        assert!(d <= n && n <= u && n == s, "{a} {b}");
        assert_eq!(
            z,
            if s > 0.0 {
                d
            } else if s < 0.0 {
                u
            } else {
                z
            }
        );
        assert!(u == d || u.to_bits().abs_diff(d.to_bits()) == 1);
    }
}

#[test]
fn flushing() {
    let tiny = f32::from_bits(1);
    let least = f32::MIN_POSITIVE;
    let flush = FpMode::START;
    assert_eq!(tiny.add(0.0, Ieee), tiny);
    assert_eq!(tiny.add(0.0, flush).to_bits(), 0);
    assert_eq!((-tiny).mul(1.0, flush).to_bits(), 0x8000_0000);
    assert_eq!(least.mul(0.5, flush).to_bits(), 0);
    assert_eq!(least.mul(-0.5, flush).to_bits(), 0x8000_0000);
    assert!(Float::compare(tiny, Relation::Eq, 0.0, flush));
    assert!(Float::compare(tiny, Relation::Gt, 0.0, Ieee));
    // Each type has its own bit.
    assert_eq!(Hf(1).add(Hf(0), FpMode(FpMode::KEEP_HF)), Hf(1));
    assert_eq!(Hf(1).add(Hf(0), FpMode(FpMode::KEEP_F | FpMode::KEEP_DF)), Hf(0));
    assert_eq!(f64::from_bits(1).add(0.0, FpMode(FpMode::KEEP_F)), 0.0);
    assert_eq!(f64::from_bits(1).add(0.0, FpMode(FpMode::KEEP_DF)), f64::from_bits(1));
}

#[test]
fn alt_mode() {
    let alt = FpMode(FpMode::OPENCL.0 | FpMode::ALT);
    assert_eq!(f32::MAX.mul(2.0, alt), f32::MAX);
    assert_eq!(f32::MAX.mul(-2.0, alt), -f32::MAX);
    assert_eq!(Float::sqrt(-4.0f32, alt), 2.0);
    assert!(Float::sqrt(-4.0f32, Ieee).is_nan());
    assert_eq!(f64::MAX.mul(2.0, alt), f64::INFINITY);
}

#[test]
fn saturation() {
    for (x, y) in [
        (f32::NAN, 0.0f32),
        (f32::INFINITY, 1.0),
        (f32::NEG_INFINITY, 0.0),
        (-0.0, 0.0),
        (0.25, 0.25),
        (1.5, 1.0),
        (-1e-40, 0.0),
        (1e-40, 1e-40),
    ] {
        assert_eq!(x.saturate().to_bits(), y.to_bits(), "{x}");
    }
    for bits in 0..=u16::MAX {
        let (h, x) = (Hf(bits), f32::from(Hf(bits)));
        assert_eq!(f32::from(h.saturate()).to_bits(), x.saturate().to_bits());
    }
}

#[test]
fn min_and_max_prefer_numbers() {
    let nan = f32::NAN;
    assert_eq!(Float::min(nan, 1.0, Ieee), 1.0);
    assert_eq!(Float::max(1.0, nan, Ieee), 1.0);
    let other = f32::from_bits(0x7fc0_1234);
    assert_eq!(Float::min(nan, other, Ieee).to_bits(), other.to_bits());
    assert_eq!(Float::max(-1.0f32, 2.0, Ieee), 2.0);
    assert_eq!(Float::min(-1.0f64, f64::NEG_INFINITY, Ieee), f64::NEG_INFINITY);
}

#[test]
fn nan_is_only_unequal() {
    for r in Relation::ALL {
        assert_eq!(Float::compare(f64::NAN, r, f64::NAN, Ieee), r == Relation::Ne);
        assert_eq!(
            Float::compare(0.0f32, r, -0.0, Ieee),
            matches!(r, Relation::Eq | Relation::Ge | Relation::Le)
        );
    }
}

#[test]
fn integral_rounding_and_fraction() {
    assert_eq!([2.5f32, 3.5, -0.5, 0.5].map(|x| x.rnde(Ieee)), [2.0, 4.0, -0.0, 0.0]);
    assert_eq!([-1.5f64, 1.5].map(|x| x.rndd(Ieee)), [-2.0, 1.0]);
    assert_eq!([-1.5f64, 1.5].map(|x| x.rndu(Ieee)), [-1.0, 2.0]);
    assert_eq!([-1.5f64, 1.5].map(|x| x.rndz(Ieee)), [-1.0, 1.0]);
    assert_eq!([1.25f32, -1.25, -1e-10].map(|x| x.frc(Ieee)), [0.25, 0.75, 1.0]);
    assert!(f32::INFINITY.frc(Ieee).is_nan());
    assert_eq!((-1e-10f32).frc(FpMode::OPENCL.with_rounding(Rounding::Zero)), 1.0 - f32::EPSILON / 2.0);
    // Every half, against the double.
    for bits in 0..=u16::MAX {
        let x = f64::from(Hf(bits));
        if x.is_finite() {
            assert_eq!(f64::from(Hf(bits).rndd(Ieee)), x.floor());
            assert_eq!(f64::from(Hf(bits).rnde(Ieee)), x.round_ties_even());
        }
    }
}

#[test]
fn compound() {
    assert_eq!(f32::lrp(0.25, 8.0, 4.0, Ieee), 5.0);
    assert_eq!(f32::pln(2.0, 3.0, 1.0, 10.0, 100.0, Ieee), 321.0);
    // Fused: 1 + 2^-12 squared keeps its last bit.
    let x = 1.0 + f32::EPSILON;
    assert_eq!(x.mad(x, -(1.0 + 2.0 * f32::EPSILON), Ieee), f32::EPSILON * f32::EPSILON);
}
