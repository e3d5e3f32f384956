//! DPAS by native code: random operands of every combination of byte types, and of floats, whose results are the
//! interpreter's.

use std::fmt::Write as _;

use crate::kernels::only_kernel;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Launch};

/// Numbers that look random, the same in each run.
fn dice(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// A kernel that takes operands out of its buffer and puts the result there, with the channels of `off` parted before.
fn kernel(platform: Platform, body: &str, off: Option<u32>) -> String {
    let (n, simd) = if platform == Platform::Pvc { (16, 16) } else { (8, 8) };
    let mut t = format!(
        "\
.version 4.1
.kernel \"dpas\"
.kernel_attr Target=\"cm\"
.decl A v_type=G type=uq num_elts=1 align=qword
.decl At v_type=G type=uq num_elts=1 align=qword
.decl V v_type=G type=ud num_elts=64 align=wordx32
.decl W v_type=G type=ud num_elts={w} align=wordx32
.decl C v_type=G type=d num_elts={w} align=wordx32
.decl D v_type=G type=d num_elts={w} align=wordx32
.decl CF v_type=G type=f num_elts={w} alias=<C, 0>
.decl DF v_type=G type=f num_elts={w} alias=<D, 0>
.decl CH v_type=G type=hf num_elts={w} alias=<C, 0>
.decl DH v_type=G type=hf num_elts={w} alias=<D, 0>
.decl CB v_type=G type=bf num_elts={w} alias=<C, 0>
.decl DB v_type=G type=bf num_elts={w} alias=<D, 0>
.decl Lane v_type=G type=uw num_elts={n} align=wordx32
.decl L v_type=G type=ud num_elts={n} align=wordx32
.decl P v_type=P num_elts={n}
.input A offset=64 size=8
.function \"dpas_main\"
mov (M1_NM, 8) Lane(0,0)<1> 0x76543210:v
",
        w = 8 * n
    );
    if n == 16 {
        t += "add (M1_NM, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw\n";
    }
    let load = |t: &mut String, name: &str, from: u32, dwords: u32| {
        for k in (0..dwords).step_by(16) {
            let row = if n == 16 { k / 16 } else { k / 8 };
            let _ = writeln!(t, "add (M1_NM, 1) At(0,0)<1> A(0,0)<0;1,0> 0x{:x}:ud", 4 * (from + k));
            let _ = writeln!(t, "lsc_load.ugm (M1_NM, 1) {name}.{}:d32x16t flat[At]:a64", row * 4 * n);
        }
    };
    load(&mut t, "V", 0, 64);
    load(&mut t, "W", 64, 8 * n);
    load(&mut t, "C", 64 + 8 * n, 8 * n);
    load(&mut t, "D", 64 + 16 * n, 8 * n);
    if let Some(off) = off {
        let _ = writeln!(t, "mov (M1, {simd}) L(0,0)<1> Lane(0,0)<1;1,0>");
        let _ = writeln!(t, "cmp.lt (M1, {simd}) P L(0,0)<1;1,0> 0x{off:x}:ud");
        let _ = writeln!(t, "(P) goto (M1, {simd}) over");
    }
    t += body;
    if off.is_some() {
        t += "over:\n";
    }
    for k in (0..8 * n).step_by(16) {
        let row = if n == 16 { k / 16 } else { k / 8 };
        let _ = writeln!(t, "add (M1_NM, 1) At(0,0)<1> A(0,0)<0;1,0> 0x{:x}:ud", 4 * (64 + 16 * n + k));
        let _ = writeln!(t, "lsc_store.ugm (M1_NM, 1) flat[At]:a64 D.{}:d32x16t", row * 4 * n);
    }
    t + "ret (M1, 1)\n"
}

#[test]
fn sums_of_products_of_bytes() {
    let mut state = 1;
    let mut changed = 0;
    for platform in [Platform::Pvc, Platform::Dg2] {
        for (w, v) in [("s8", "s8"), ("u8", "s8"), ("s8", "u8"), ("u8", "u8"), ("s4", "s8")] {
            for (acc, repeat, off) in [
                ("C.0", 8, None),
                ("D.0", 8, None),
                ("%null.0", 8, None),
                ("C.0", 1, None),
                ("D.0", 5, None),
                ("C.0", 8, Some(3)),
                ("%null.0", 3, Some(6)),
                ("D.0", 8, Some(0)),
            ] {
                let body = format!("dpas.{w}.{v}.8.{repeat} (M1, SIMD) D.0 {acc} W.0 V(0,0)\n");
                let body = body.replace("SIMD", if platform == Platform::Pvc { "16" } else { "8" });
                // Twice, the second time onto the first's result.
                let body = format!("{body}{}", body.replace(acc, "D.0"));
                let text = kernel(platform, &body, off);
                let dwords = 64 + 24 * if platform == Platform::Pvc { 16 } else { 8 };
                let mut data: Vec<u8> = (0..4 * dwords).map(|_| dice(&mut state) as u8).collect();
                // The ends of the range.
                data[..64].iter_mut().for_each(|b| *b = [0x80, 0x7f, 0xff, 0][usize::from(*b) % 4]);
                data[256..320].iter_mut().for_each(|b| *b = [0x80, 0x7f, 0xff, 0][usize::from(*b) % 4]);
                let run = |engine| {
                    let device = Device::new(Config::new(platform).memory(1 << 20));
                    let kernel = only_kernel(&device, &text);
                    // Those that the CPU has an instruction for are its own; with AVX2 the same are made by several.
                    let own = matches!((w, v), ("s8" | "u8", "s8" | "u8"));
                    if let Ok(listing) = kernel.native_listing() {
                        let narrow = listing.starts_with("; AVX2\n");
                        if narrow {
                            assert_eq!(listing.contains("vpmaddwd"), own, "{listing}");
                        } else if is_x86_feature_detected!("avx512vnni") {
                            assert_eq!(listing.contains("vpdpbusd"), own, "{listing}");
                        }
                    }
                    let buffer = device.buffer_from("a", &data).expect("there is memory");
                    let launch =
                        Launch::threads(&[1, 1, 1], 1).arg("A", &buffer).engine(engine).host_threads(1);
                    let outcome = device.run(&kernel, &launch).expect("it is launched");
                    assert!(outcome.fault.is_none(), "{:?}\n{text}", outcome.fault);
                    buffer.to_vec()
                };
                let [a, b] = [Engine::Unoptimized, Engine::Native].map(run);
                assert_eq!(a, b, "{platform:?} {body} {off:?}");
                changed += u32::from(a != data);
            }
        }
    }
    assert_eq!(changed, 80);
}

/// Bits of a float of one of the formats, as often as not one that is special; `spread`: of any size.
fn float(precision: &str, state: &mut u64, special: bool, spread: bool) -> Vec<u8> {
    let r = dice(state);
    let (sign, pick) = ((r & 1) as u32, (r >> 1) as usize);
    // Bits of the exponent and below it.
    let (exponent, mant) = match precision {
        "hf" => (5, 10),
        "bf" => (8, 7),
        _ => (8, 23),
    };
    let ones = (1u32 << exponent) - 1;
    let low = dice(state) as u32 & ((1 << mant) - 1);
    let bias = ones / 2;
    let magnitude = if special && pick.is_multiple_of(5) {
        // Zero, infinity, NaNs of both kinds, denormals, the greatest and the least number.
        let inf = ones << mant;
        [0, inf, inf | low | 1, inf | low | 1 << (mant - 1), low, 1, inf - 1, 1 << mant][pick / 5 % 8]
    } else if spread {
        (dice(state) as u32 % ones) << mant | low
    } else {
        (bias - 4 + dice(state) as u32 % 8) << mant | low
    };
    let bits = sign << (exponent + mant) | magnitude;
    bits.to_le_bytes()[..(1 + exponent + mant) as usize / 8].to_vec()
}

#[test]
fn sums_of_products_of_floats() {
    let mut state = 7;
    let (mut changed, mut runs) = (0, 0);
    for platform in [Platform::Pvc, Platform::Dg2] {
        let n = if platform == Platform::Pvc { 16 } else { 8 };
        let own = |c: &str| match c {
            "f" => ("CF.0", "DF.0"),
            "hf" => ("CH.0", "DH.0"),
            _ => ("CB.0", "DB.0"),
        };
        for (p, dst, acc) in [
            ("hf", "f", "f"),
            ("hf", "hf", "f"),
            ("hf", "f", "hf"),
            ("hf", "hf", "hf"),
            ("bf", "f", "f"),
            ("bf", "bf", "f"),
            ("bf", "f", "bf"),
            ("bf", "bf", "bf"),
            ("tf32", "f", "f"),
        ] {
            // Xe-HPC alone has these.
            if p == "tf32" && platform != Platform::Pvc {
                continue;
            }
            for (place, repeat, off) in [
                (0, 8, None),
                (1, 8, None),
                (2, 8, None),
                (0, 1, None),
                (1, 5, None),
                (2, 4, None),
                (0, 8, Some(3)),
                (2, 3, Some(6)),
                (1, 7, Some(0)),
                (0, 2, None),
            ] {
                let (to, same) = (own(dst).1, dst == acc);
                let from = match place {
                    0 => own(acc).0,
                    // The destination itself, or what overlaps with it.
                    1 => own(acc).1,
                    _ => "%null.0",
                };
                // What is written is not read again by later rows, or there are none.
                let native = place != 1 || same || repeat <= 4 || acc == "f";
                let body = format!("dpas.{p}.{p}.8.{repeat} (M1, {n}) {to} {from} W.0 V(0,0)\n");
                // Twice, the second time onto the first's result.
                let body = format!("{body}{}", if same { body.replace(from, to) } else { String::new() });
                // Once where sums round towards zero, which those of DPAS do not.
                let other = format!(
                    "or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x30:ud\n\
                     add (M1_NM, {n}) CF(0,0)<1> CF(0,0)<1;1,0> CF(1,0)<1;1,0>\n"
                );
                let body = if repeat == 2 { other + &body } else { body };
                let text = kernel(platform, &body, off);
                for (special, spread) in [(false, false), (true, false), (false, true), (true, true)] {
                    let mut data = Vec::new();
                    for (kind, dwords) in [(p, 64), (p, 8 * n), (acc, 8 * n), (acc, 8 * n)] {
                        let end = data.len() + 4 * dwords;
                        while data.len() < end {
                            data.extend(float(kind, &mut state, special, spread));
                        }
                    }
                    let run = |engine| {
                        let device = Device::new(Config::new(platform).memory(1 << 20));
                        let kernel = only_kernel(&device, &text);
                        if let Ok(listing) = kernel.native_listing() {
                            let called = listing.contains("by the interpreter");
                            assert!(!(called && native), "{body}{listing}");
                            assert!(called || listing.contains("vmulps"), "{listing}");
                        }
                        let buffer = device.buffer_from("a", &data).expect("there is memory");
                        let launch =
                            Launch::threads(&[1, 1, 1], 1).arg("A", &buffer).engine(engine).host_threads(1);
                        let outcome = device.run(&kernel, &launch).expect("it is launched");
                        assert!(outcome.fault.is_none(), "{:?}\n{text}", outcome.fault);
                        buffer.to_vec()
                    };
                    let [a, b] = [Engine::Unoptimized, Engine::Native].map(run);
                    let at = a.chunks(4).zip(b.chunks(4)).position(|(a, b)| a != b);
                    assert_eq!(a, b, "{platform:?} {body} {off:?} {special} {spread} {at:?}");
                    runs += 1;
                    changed += u32::from(a != data);
                }
            }
        }
    }
    assert_eq!(changed, runs);
}

/// Threads that exchange activations wait for each other: what they did before, they do once.
#[test]
fn what_comes_before_an_exchange_is_done_once() {
    let text = "\
.version 4.1
.kernel \"dpas\"
.kernel_attr Target=\"cm\"
.kernel_attr SimdSize=8
.decl A v_type=G type=uq num_elts=1 align=qword
.decl To v_type=G type=uq num_elts=8 align=wordx32
.decl Lane v_type=G type=uw num_elts=8 align=wordx32
.decl One v_type=G type=ud num_elts=8 align=wordx32
.decl L v_type=G type=ud num_elts=8 align=wordx32
.decl X v_type=G type=ud num_elts=64 align=wordx32
.decl D v_type=G type=d num_elts=64 align=wordx32
.input A offset=64 size=8
.function \"dpas_main\"
mov (M1_NM, 8) Lane(0,0)<1> 0x76543210:v
mov (M1, 8) L(0,0)<1> Lane(0,0)<1;1,0>
shl (M1, 8) L(0,0)<1> L(0,0)<1;1,0> 0x2:ud
add (M1, 8) To(0,0)<1> L(0,0)<1;1,0> A(0,0)<0;1,0>
mov (M1, 8) One(0,0)<1> 0x1:ud
mov (M1, 8) X(0,0)<1> 0x1010101:ud
mov (M1, 8) X(1,0)<1> 0x1010101:ud
mov (M1, 8) X(2,0)<1> 0x1010101:ud
mov (M1, 8) X(3,0)<1> 0x1010101:ud
mov (M1, 8) X(4,0)<1> 0x1010101:ud
mov (M1, 8) X(5,0)<1> 0x1010101:ud
mov (M1, 8) X(6,0)<1> 0x1010101:ud
mov (M1, 8) X(7,0)<1> 0x1010101:ud
lsc_atomic_iadd.ugm (M1, 8) %null:d32 flat[To]:a64 One %null
dpasw.s8.s8.8.8 (M1, 8) D.0 %null.0 X.0 X(0,0)
add (M1, 8) To(0,0)<1> To(0,0)<1;1,0> 0x20:ud
lsc_atomic_iadd.ugm (M1, 8) %null:d32 flat[To]:a64 D %null
ret (M1, 8)
";
    let device = Device::new(Config::new(Platform::Dg2).memory(1 << 20));
    let kernel = only_kernel(&device, text);
    for (engine, threads) in [Engine::Unoptimized, Engine::Native].into_iter().flat_map(|e| [(e, 2), (e, 4)])
    {
        let buffer = device.buffer("a", 64).expect("there is memory");
        let launch = Launch::threads(&[3, 1, 1], threads).arg("A", &buffer).engine(engine).host_threads(1);
        let outcome = device.run(&kernel, &launch).expect("it is launched");
        assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
        let all = buffer.to_vec();
        let got: Vec<u32> =
            all.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        // Of 32 products of ones each.
        let want = [3 * threads, 32 * 3 * threads].map(|n| [n; 8]).concat();
        assert_eq!(got, want, "{engine:?}, {threads} threads");
    }
}
