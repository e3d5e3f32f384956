//! Conversions, against the host, the `half` crate and exact integers.

use crate::common;

use common::{Rng, down, edges, up};
use envisa_isa::Type;
use envisa_sem::convert::{self, *};
use envisa_sem::exact_arithmetic::{self, Format, Number};
use envisa_sem::{Bf, FpMode, Hf, Ieee, Lane, Rounding, packed};

const FLOATS: [(Type, Format); 4] = [
    (Type::F, exact_arithmetic::F),
    (Type::Df, exact_arithmetic::DF),
    (Type::Hf, exact_arithmetic::HF),
    (Type::Bf, exact_arithmetic::BF),
];
const INTS: [Type; 8] = [Type::Ub, Type::B, Type::Uw, Type::W, Type::Ud, Type::D, Type::Uq, Type::Q];

fn range(t: Type) -> (i128, i128) {
    let bits = t.size() * 8;
    if t.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn value(t: Type, bits: u64) -> i128 {
    let n = t.size() * 8;
    let low = (bits as i128) & ((1 << n) - 1);
    if t.is_signed() && low >> (n - 1) != 0 { low - (1 << n) } else { low }
}

#[test]
fn every_half_and_bfloat_widens_and_comes_back() {
    for bits in 0..=u16::MAX {
        let (h, b) = (half::f16::from_bits(bits), half::bf16::from_bits(bits));
        let (x, y) = (f32::from(Hf(bits)), f32::from(Bf(bits)));
        assert!(x == h.to_f32() && x.to_bits() == h.to_f32().to_bits() || x.is_nan() && h.is_nan());
        assert!(y == b.to_f32() || y.is_nan() && b.is_nan());
        for r in Rounding::ALL {
            if !h.is_nan() {
                assert_eq!(f32_to_hf(x, r), Hf(bits));
                assert_eq!(f64_to_hf(x as f64, r), Hf(bits));
            } else {
                assert!(f32::from(f32_to_hf(x, r)).is_nan() && f32::from(f64_to_hf(x.into(), r)).is_nan());
            }
            if !b.is_nan() {
                assert_eq!(f32_to_bf(y, r), Bf(bits));
                assert_eq!(f64_to_bf(y as f64, r), Bf(bits));
            } else {
                assert!(f32::from(f32_to_bf(y, r)).is_nan() && f32::from(f64_to_bf(y.into(), r)).is_nan());
            }
        }
    }
}

/// Around every boundary between two halves (and bfloats): the halfway point and its neighbours.
#[test]
fn narrowing_at_every_tie() {
    for bits in 0..0x7c00u16 {
        for sign in [0u32, 0x8000_0000] {
            let low = f32::from(Hf(bits));
            let high = f32::from_bits(f32::from(Hf(bits + 1)).to_bits().min(65536f32.to_bits()));
            let mid = (low + high) / 2.0;
            for x in [mid, up(mid), down(mid), up(low), down(high)] {
                let x = f32::from_bits(x.to_bits() | sign);
                for r in Rounding::ALL {
                    let want = exact_arithmetic::convert(
                        exact_arithmetic::F,
                        exact_arithmetic::HF,
                        x.to_bits() as u64,
                        r,
                    ) as u16;
                    assert_eq!(f32_to_hf(x, r).0, want, "{x:e} {r:?}");
                    assert_eq!(f64_to_hf(x as f64, r).0, want, "{x:e} {r:?}");
                }
                assert_eq!(f32_to_hf(x, Rounding::NearestEven).0, half::f16::from_f32(x).to_bits());
            }
        }
    }
}

#[test]
fn float_to_float_against_integers() {
    let mut rng = Rng(5);
    for (from, ff) in FLOATS {
        for (to, tf) in FLOATS {
            let values = edges(ff).into_iter().chain((0..40_000).map(|_| rng.float(ff))).collect::<Vec<_>>();
            for x in values {
                for r in Rounding::ALL {
                    let m = FpMode::OPENCL.with_rounding(r);
                    let got = convert::convert(to, from, x, m, false).unwrap();
                    let want = exact_arithmetic::convert(ff, tf, x, r);
                    assert!(
                        got == want || tf.is_nan(got) && tf.is_nan(want),
                        "{from:?} {to:?} {r:?} {x:#x}: {got:#x}, not {want:#x}"
                    );
                }
            }
        }
    }
}

#[test]
fn float_to_int_truncates_and_clamps() {
    let mut rng = Rng(6);
    for (from, f) in FLOATS {
        for to in INTS {
            let values = edges(f).into_iter().chain((0..20_000).map(|_| rng.float(f))).collect::<Vec<_>>();
            for x in values {
                let (lo, hi) = range(to);
                let want = match exact_arithmetic::unpack(f, x) {
                    Number::Nan => 0,
                    Number::Infinite(n) => {
                        if n {
                            lo
                        } else {
                            hi
                        }
                    }
                    Number::Finite(v) => {
                        let magnitude = match v.exp {
                            e if e >= 70 && v.mant != 0 => i128::MAX,
                            e if e >= 0 => (v.mant << e) as i128,
                            e if e > -128 => (v.mant >> -e) as i128,
                            _ => 0,
                        };
                        (if v.negative { -magnitude } else { magnitude }).clamp(lo, hi)
                    }
                };
                for sat in [false, true] {
                    let got = convert::convert(to, from, x, FpMode::START, sat).unwrap();
                    assert_eq!(value(to, got), want, "{from:?} {to:?} {x:#x}");
                }
            }
        }
    }
}

#[test]
fn int_to_float_rounds_as_the_mode_says() {
    let mut rng = Rng(8);
    for from in INTS {
        for (to, f) in FLOATS {
            let (lo, hi) = range(from);
            for i in 0..20_000u64 {
                let x = match i {
                    0 => lo,
                    1 => hi,
                    2 => hi - 1,
                    _ => value(from, rng.next() >> (rng.next() & 63)),
                };
                for r in Rounding::ALL {
                    let m = FpMode::OPENCL.with_rounding(r);
                    let got = convert::convert(to, from, x as u64, m, false).unwrap();
                    assert_eq!(got, exact_arithmetic::from_int(f, x, r), "{from:?} {to:?} {r:?} {x}");
                }
            }
        }
    }
    // And the integers against the host.
    for x in [i64::MIN, i64::MAX, 0, 1, -1, 0x1fff_ffff_ffff_ffff, -0x20_0000_0000_0001] {
        assert_eq!(
            exact_arithmetic::from_int(exact_arithmetic::F, x as i128, Rounding::NearestEven),
            (x as f32).to_bits() as u64
        );
        assert_eq!(
            exact_arithmetic::from_int(exact_arithmetic::DF, x as i128, Rounding::NearestEven),
            (x as f64).to_bits()
        );
    }
}

#[test]
fn int_to_int() {
    for from in INTS {
        for to in INTS {
            let (lo, hi) = range(from);
            for x in [lo, hi, 0, 1, hi / 2, 127, 128, 255, -1i128, -128, -129] {
                let x = value(from, x as u64);
                let cut = convert::convert(to, from, x as u64, FpMode::START, false).unwrap();
                assert_eq!(value(to, cut), value(to, x as u64));
                let sat = convert::convert(to, from, x as u64, FpMode::START, true).unwrap();
                let (tlo, thi) = range(to);
                assert_eq!(value(to, sat), x.clamp(tlo, thi), "{from:?} {to:?} {x}");
            }
        }
    }
    assert_eq!(convert::convert(Type::V, Type::D, 0, FpMode::START, false), None);
}

#[test]
fn flushing_conversions() {
    let c = |to, from, bits, m| convert::convert(to, from, bits, m, false).unwrap();
    // To a wider format exactly, whatever is flushed; as a source of arithmetic by the source's mode.
    for keep in [0, FpMode::KEEP_F, FpMode::KEEP_HF] {
        let m = FpMode(keep);
        assert_eq!(c(Type::F, Type::Hf, 1, m), 0x3380_0000);
        assert_eq!(c(Type::Df, Type::F, 1, m), 0x36a0_0000_0000_0000);
        let operand: f32 = Hf(1).operand(m);
        assert_eq!(operand.to_bits(), if keep == FpMode::KEEP_HF { 0x3380_0000 } else { 0 });
    }
    assert_eq!(c(Type::Hf, Type::F, 0x3380_0000, FpMode(FpMode::KEEP_F)), 0);
    assert_eq!(c(Type::Hf, Type::F, 0x3380_0000, FpMode(FpMode::KEEP_HF)), 1);
    // The same type is a copy.
    assert_eq!(c(Type::F, Type::F, 1, FpMode::START), 1);
}

#[test]
fn small_formats() {
    for x in 0..=255u8 {
        let h = bf8_to_hf(x);
        if x & 0x7f <= 0x7c {
            assert_eq!(h.0, (x as u16) << 8);
            assert_eq!(hf_to_bf8(h), x);
        } else {
            assert!(exact_arithmetic::HF.is_nan(h.0 as u64) && h.0 & 0x200 != 0);
        }
        let y = hf8_to_f32(x);
        if x & 0x7f == 0x7f {
            assert!(y.is_nan());
        } else {
            let (e, m) = ((x >> 3 & 15) as i32, (x & 7) as f32);
            let want = if e == 0 { m / 8.0 * 2f32.powi(-6) } else { (1.0 + m / 8.0) * 2f32.powi(e - 7) };
            assert_eq!(y, if x & 0x80 != 0 { -want } else { want });
        }
    }
    for bits in 0..=u16::MAX {
        let want = exact_arithmetic::convert(
            exact_arithmetic::HF,
            exact_arithmetic::BF8,
            bits as u64,
            Rounding::NearestEven,
        ) as u8;
        let got = hf_to_bf8(Hf(bits));
        assert!(
            got == want
                || exact_arithmetic::HF.is_nan(bits as u64) && exact_arithmetic::BF8.is_nan(got as u64),
            "{bits:#x}"
        );
    }
    assert_eq!(f32_to_tf32(1.0 + f32::EPSILON), 0x3f80_0000);
    assert_eq!(f32_to_tf32(f32::from_bits(0x3f80_3000)), 0x3f80_4000);
    assert_eq!(f32_to_tf32(f32::from_bits(0x3f80_1000)), 0x3f80_0000);
    assert_eq!(f32_to_tf32(f32::MAX), 0x7f80_0000);
    assert_eq!(f32_to_tf32(-1e-40), 0x8000_0000);
    assert!(f32::from_bits(f32_to_tf32(f32::from_bits(0x7f80_0001))).is_nan());
}

/// The share of random numbers that round up is the fraction dropped.
#[test]
fn stochastic_rounding_is_unbiased() {
    for x in [1.0f32 + 0.3 / 1024.0, 3.1e-6, 1000.7, 6.2e-5, 5.97e-8] {
        let down = f64_to_hf(x as f64, Rounding::Zero);
        let up = f64_to_hf(x as f64, Rounding::Up);
        let ups = (0..1 << 13).filter(|&r| srnd_hf(x, r) == up).count();
        let downs = (0..1 << 13).filter(|&r| srnd_hf(x, r) == down).count();
        assert_eq!(ups + downs, 1 << 13, "{x}");
        let share = (x as f64 - f64::from(down)) / (f64::from(up) - f64::from(down));
        assert!((ups as f64 / 8192.0 - share).abs() < 2.0 / 8192.0, "{x}: {ups} {share}");
        assert_eq!(srnd_hf(-x, 0).0, down.0 | 0x8000);
    }
    assert_eq!(srnd_hf(65519.0, 0x1fff), Hf(0x7c00));
    assert_eq!(srnd_hf(f32::INFINITY, 5), Hf(0x7c00));
    for bits in 0..0x7c00u16 {
        let ups = (0..=255).filter(|&r| srnd_bf8(Hf(bits), r) as u16 != bits >> 8).count();
        assert_eq!(ups, (bits & 255) as usize);
    }
}

#[test]
fn packed_vectors() {
    let x = 0x8765_4321;
    assert_eq!([0, 1, 6, 7].map(|i| packed::v(x, i)), [1, 2, 7, -8]);
    assert_eq!([0, 7].map(|i| packed::uv(x, i)), [1, 8]);
    let f = 0x7f_30_80_01;
    assert_eq!([0, 1, 2, 3].map(|i| packed::vf(f, i)), [0.1328125, -0.0, 1.0, 31.0]);
    assert_eq!(packed::vf(0xb8, 0), -1.5);
}

#[test]
fn immediate_modes() {
    assert!(FpMode::OPENCL.is_ieee() && FpMode::from_cr0(0x4c0 | 1 << 20).is_ieee());
    assert!(!FpMode::START.is_ieee() && !FpMode(0x4f0).is_ieee() && !FpMode(0x4c1).is_ieee());
    let x = 16_777_217i32;
    assert_eq!(envisa_sem::Convert::<f32>::convert(x, Ieee), 16_777_216.0);
    let up = FpMode::OPENCL.with_rounding(Rounding::Up);
    assert_eq!(envisa_sem::Convert::<f32>::convert(x, up), 16_777_218.0);
    assert_eq!(Lane::to_bits(envisa_sem::Convert::<Hf>::convert_sat(7u8, Ieee)), 0x3c00);
}
