//! DPAS against the page's pseudo-code on matrices of distinct values.

use crate::common;

use common::Rng;
use envisa_sem::dpas::{Accumulator, Dpas, DpasError, Precision};

/// Element `i` of a run of `bits`-wide integers, read bit by bit.
fn element(bytes: &[u8], bits: usize, signed: bool, i: usize) -> i64 {
    let mut x = 0;
    for b in 0..bits {
        let at = i * bits + b;
        x |= ((bytes[at / 8] >> (at % 8) & 1) as i64) << b;
    }
    if signed && x >> (bits - 1) != 0 { x - (1 << bits) } else { x }
}

#[test]
fn integers_follow_the_pseudo_code() {
    use Precision::*;
    let mut rng = Rng(3);
    for (w, wb, ws) in [
        (U2, 2, false),
        (S2, 2, true),
        (U4, 4, false),
        (S4, 4, true),
        (U8, 8, false),
        (S8, 8, true),
        (U1, 1, false),
        (S1, 1, true),
    ] {
        for (a, ab, asigned) in
            [(U2, 2, false), (S2, 2, true), (U4, 4, false), (S4, 4, true), (U8, 8, false), (S8, 8, true)]
        {
            for (depth, repeat, n) in [(8, 8, 16), (8, 3, 8), (4, 1, 8), (1, 2, 8)] {
                let d = Dpas::new(w, a, depth, repeat, n, Accumulator::D, Accumulator::D, false).unwrap();
                let mut fill = |n: usize| (0..n).map(|_| rng.next() as u8).collect::<Vec<_>>();
                let (src1, src2, src0) = (fill(d.src1_bytes()), fill(d.src2_bytes()), fill(d.src0_bytes()));
                let mut dst = vec![0; d.dst_bytes()];
                d.run(&mut dst, Some(&src0), &src1, &src2, None).unwrap();

                let (depth, repeat, n) = (depth as usize, repeat as usize, n as usize);
                let ops = if wb == 8 || ab == 8 { 4 } else { 8 };
                let operands_per_channel = 32 / (ops * wb);
                let mut k = 0;
                for r in 0..repeat {
                    let mut temp = (0..n).map(|i| element(&src0, 32, true, r * n + i)).collect::<Vec<_>>();
                    for s in 0..depth {
                        let m = s / operands_per_channel;
                        let from = (s % operands_per_channel) * ops;
                        for (i, t) in temp.iter_mut().enumerate() {
                            let channel = &src1[(m * n + i) * 4..][..4];
                            for j in 0..ops {
                                *t += element(channel, wb, ws, from + j) * element(&src2, ab, asigned, k + j);
                            }
                        }
                        k += ops;
                    }
                    for (i, t) in temp.iter().enumerate() {
                        let got = element(&dst, 32, true, r * n + i);
                        assert_eq!(got, *t as i32 as i64, "{w:?} {a:?} {depth} {r} {i}");
                    }
                }
            }
        }
    }
}

#[test]
fn saturation_and_null_source() {
    let d = Dpas::new(Precision::U8, Precision::U8, 8, 1, 8, Accumulator::D, Accumulator::D, true).unwrap();
    let (b, a) = (vec![255; d.src1_bytes()], vec![255; d.src2_bytes()]);
    let mut dst = vec![0; d.dst_bytes()];
    let big = i32::MAX.to_le_bytes().repeat(8);
    d.run(&mut dst, Some(&big), &b, &a, None).unwrap();
    assert_eq!(dst, big);
    d.run(&mut dst, None, &b, &a, None).unwrap();
    assert_eq!(dst, (32 * 255 * 255i32).to_le_bytes().repeat(8));
    let d = Dpas::new(Precision::S8, Precision::U8, 8, 1, 8, Accumulator::Ud, Accumulator::Ud, true).unwrap();
    d.run(&mut dst, None, &b, &a, None).unwrap();
    assert_eq!(dst, vec![0; 32]);
}

/// Small integers in floats: every sum is exact, so the order does not show and the layout does.
#[test]
fn floats_place_every_element() {
    use Accumulator as Acc;
    let encode = |p: Precision, x: i32| -> Vec<u8> {
        match p {
            Precision::Hf => half::f16::from_f32(x as f32).to_le_bytes().to_vec(),
            Precision::Bf => half::bf16::from_f32(x as f32).to_le_bytes().to_vec(),
            // 1 and 2 have the exponents 7 and 8.
            Precision::Hf8 => {
                vec![(if x < 0 { 0x80 } else { 0 }) | [0u8, 0x38, 0x40][x.unsigned_abs() as usize]]
            }
            Precision::Bf8 => vec![half::f16::from_f32(x as f32).to_bits().to_be_bytes()[0]],
            _ => ((x as f32).to_bits() | 0x1fff).to_le_bytes().to_vec(),
        }
    };
    for (p, dst, src0) in [
        (Precision::Hf, Acc::F, Acc::F),
        (Precision::Hf, Acc::Hf, Acc::F),
        (Precision::Hf, Acc::F, Acc::Hf),
        (Precision::Bf, Acc::F, Acc::F),
        (Precision::Bf, Acc::Bf, Acc::Bf),
        (Precision::Tf32, Acc::F, Acc::F),
        (Precision::Bf8, Acc::F, Acc::F),
        (Precision::Hf8, Acc::F, Acc::F),
    ] {
        let (m, n) = (5usize, 16usize);
        let d = Dpas::new(p, p, 8, m as u32, n as u32, dst, src0, false).unwrap();
        let ops = d.ops_per_channel();
        let k = 8 * ops;
        let a = |r: usize, e: usize| ((r * 7 + e * 3) % 5) as i32 - 2;
        let b = |e: usize, i: usize| ((e * 5 + i * 11) % 4) as i32 - 1;
        let c = |r: usize, i: usize| ((r + i) % 3) as i32;
        let src2 = (0..m * k).flat_map(|x| encode(p, a(x / k, x % k))).collect::<Vec<_>>();
        let mut src1 = Vec::new();
        for dword in 0..k / ops {
            for i in 0..n {
                for j in 0..ops {
                    src1.extend(encode(p, b(dword * ops + j, i)));
                }
            }
        }
        let store = |t: Acc, x: i32| match t {
            Acc::Hf => half::f16::from_f32(x as f32).to_le_bytes().to_vec(),
            Acc::Bf => half::bf16::from_f32(x as f32).to_le_bytes().to_vec(),
            _ => (x as f32).to_le_bytes().to_vec(),
        };
        let start = (0..m * n).flat_map(|x| store(src0, c(x / n, x % n))).collect::<Vec<_>>();
        let mut out = vec![0; d.dst_bytes()];
        d.run(&mut out, Some(&start), &src1, &src2, None).unwrap();
        let want = (0..m * n)
            .flat_map(|x| {
                let (r, i) = (x / n, x % n);
                store(dst, c(r, i) + (0..k).map(|e| a(r, e) * b(e, i)).sum::<i32>())
            })
            .collect::<Vec<_>>();
        assert_eq!(out, want, "{p:?} {dst:?}");
    }
}

/// The documented order: the stage's products first, then the accumulator.
#[test]
fn float_order() {
    let d = Dpas::new(Precision::Hf, Precision::Hf, 1, 1, 8, Accumulator::F, Accumulator::F, false).unwrap();
    // 1 + (2^-24 + 2^-24) is 1 + 2^-23; added one after the other both would be lost.
    let tiny = half::f16::from_f32(2f32.powi(-12)).to_le_bytes();
    let src = tiny.repeat(16);
    let mut dst = vec![0; 32];
    d.run(&mut dst, Some(&1f32.to_le_bytes().repeat(8)), &src, &src, None).unwrap();
    assert_eq!(dst, (1.0 + f32::EPSILON).to_le_bytes().repeat(8));
}

/// Which NaN comes out where several meet: the accumulator's, then the first product's, of which the weight's.
#[test]
fn the_first_nan_stays() {
    let d = Dpas::new(Precision::Bf, Precision::Bf, 1, 1, 8, Accumulator::F, Accumulator::F, false).unwrap();
    let nan = |payload: u16| 0x7f80u16 | payload;
    let run = |acc: u32, weights: [u16; 2], values: [u16; 2]| {
        let bytes = |x: [u16; 2]| x.map(u16::to_le_bytes).concat();
        let mut dst = vec![0; 32];
        d.run(&mut dst, Some(&acc.to_le_bytes().repeat(8)), &bytes(weights).repeat(8), &bytes(values), None)
            .unwrap();
        assert_eq!(dst[..28], dst[4..], "all channels alike");
        u32::from_le_bytes([dst[0], dst[1], dst[2], dst[3]])
    };
    let (one, inf) = (0x3f80, 0x7f80);
    let all = ([nan(1), nan(2)], [nan(3), nan(4)]);
    // Each is made quiet, and the first of those that are left comes out.
    assert_eq!(run(0x7f80_0005, all.0, all.1), 0x7fc0_0005);
    assert_eq!(run(0, all.0, all.1), 0x7fc1_0000);
    assert_eq!(run(0, [one, nan(2)], all.1), 0x7fc3_0000);
    assert_eq!(run(0, [one, nan(2)], [one, nan(4)]), 0x7fc2_0000);
    assert_eq!(run(0, [one, one], [one, nan(4)]), 0x7fc4_0000);
    // Of infinity times zero that without payload, which then comes first.
    assert_eq!(run(0, [inf, nan(2)], [0, one]), 0xffc0_0000);
}

#[test]
fn illegal_shapes_are_errors() {
    use Accumulator as Acc;
    use Precision::*;
    let new = |w, a, depth, repeat, n, dst, src0| Dpas::new(w, a, depth, repeat, n, dst, src0, false);
    assert_eq!(new(U8, U8, 3, 1, 8, Acc::D, Acc::D), Err(DpasError::Depth(3)));
    assert_eq!(new(U8, U8, 8, 9, 8, Acc::D, Acc::D), Err(DpasError::Repeat(9)));
    assert_eq!(new(U8, U8, 8, 8, 32, Acc::D, Acc::D), Err(DpasError::ExecSize(32)));
    assert_eq!(new(Bf, Hf, 8, 8, 8, Acc::F, Acc::F), Err(DpasError::Types));
    assert_eq!(new(U8, U8, 8, 8, 8, Acc::F, Acc::F), Err(DpasError::Types));
    assert_eq!(new(Hf, Hf, 8, 8, 8, Acc::Bf, Acc::F), Err(DpasError::Types));
    let d = new(Hf, Hf, 8, 8, 8, Acc::F, Acc::F).unwrap();
    assert_eq!(d.run(&mut [0; 256], None, &[0; 255], &[0; 256], None), Err(DpasError::Short("src1", 256)));
    assert_eq!(d.dpasw_registers(), (4, 4));
    assert_eq!(Precision::from_code(0), None);
    assert_eq!(Precision::from_code(12), Some(Tf32));
    assert_eq!(Precision::from_code(11), Some(Precision::Bf8));
    assert_eq!(Precision::from_code(13), None);
}
