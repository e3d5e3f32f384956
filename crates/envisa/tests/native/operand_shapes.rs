//! What compilers write beside plain vectors: few channels, elements apart, narrow elements by a mask, elements found
//! through address registers, doubles, and addresses of 64 bits that nothing can be told of. Native code leaves what the
//! interpreter leaves, and faults as it does.

use std::fmt::Write as _;

use crate::kernels::{NO_CPU, lane_numbers, only_kernel, share};
use crate::random::Random;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Launch};

/// Vectors of each type.
const EACH: u32 = 3;
/// Bytes of the buffer that are read and changed at computed places; the results are behind them.
const TABLE: u32 = 4096;

/// Few channels, or elements apart, of dwords, words and singles; nothing here depends on the mask.
fn few(r: &mut Random, simd: u32, out: &mut String) {
    let n = r.one_of(&[2, 4, 8]);
    let name = r.one_of(&["N", "N", "F", "W"]);
    let (v, w, x) = (r.below(EACH), r.below(EACH), r.below(EACH));
    // Where n elements of this stride fit.
    let place = |r: &mut Random, stride: u32| r.below(simd.min(16) - (n - 1) * stride.min(16 / n));
    let stride = |r: &mut Random| r.one_of(&[1, 1, 2, 4]).min(16 / n);
    let (ds, s0, s1) = (stride(r), stride(r), stride(r));
    let (d, a, b) = (place(r, ds), place(r, s0), place(r, s1));
    let region = |s: u32| if s == 1 { "<1;1,0>".to_owned() } else { format!("<{s};1,0>") };
    let op = match name {
        "F" => r.one_of(&["add", "mul", "max", "mov"]),
        _ => r.one_of(&["add", "mul", "and", "max", "min", "mov"]),
    };
    let _ = write!(out, "{op} (M1_NM, {n}) {name}{v}(0,{d})<{ds}> {name}{w}(0,{a}){}", region(s0));
    let _ = match (op, r.below(3)) {
        ("mov", _) => writeln!(out),
        (_, 0) => writeln!(out, " {name}{x}(0,{b})<0;1,0>"),
        _ => writeln!(out, " {name}{x}(0,{b}){}", region(s1)),
    };
}

/// Whole vectors: narrow ones, halves of quads, conversions, by the mask.
fn whole(r: &mut Random, simd: u32, out: &mut String) {
    let (v, w, x) = (r.below(EACH), r.below(EACH), r.below(EACH));
    let m = format!("(M1, {simd})");
    let relation = r.one_of(&["eq", "ne", "gt", "ge", "lt", "le"]);
    let sat = r.one_of(&["", ".sat"]);
    let of = r.one_of(&["N", "W", "B", "F"]);
    let narrow = r.one_of(&["W", "B", "S"]);
    let _ = match r.below(14) {
        12 => {
            let _ = write!(out, "bfn.x{:x} {m} W{v}(0,0)<1> W{w}(0,0)<1;1,0> ", 16 + r.below(240));
            writeln!(out, "W{x}(0,0)<1;1,0> W{v}(0,0)<1;1,0>")
        }
        13 => {
            let op = r.one_of(&["and", "or", "xor"]);
            let _ = write!(out, "{op} {m} {narrow}{v}(0,0)<1> {narrow}{w}(0,0)<1;1,0> ");
            writeln!(out, "{}", r.one_of(&["0x55:w", "0x5:w"]))
        }
        0 => writeln!(out, "cmp.{relation} {m} W{v}(0,0)<1> W{w}(0,0)<1;1,0> W{x}(0,0)<1;1,0>"),
        1 => writeln!(out, "cmp.{relation} {m} P1 {of}{w}(0,0)<1;1,0> {of}{x}(0,0)<1;1,0>"),
        2 => writeln!(out, "mov{sat} {m} {narrow}{v}(0,0)<1> {of}{w}(0,0)<1;1,0>"),
        3 => writeln!(out, "add {m} {narrow}{v}(0,0)<1> {narrow}{w}(0,0)<1;1,0> {narrow}{x}(0,0)<1;1,0>"),
        4 => writeln!(out, "mov {m} N{v}(0,0)<1> C{w}(0,{})<2;1,0>", r.below(2)),
        5 => writeln!(out, "mov {m} H{v}(0,{})<2> N{w}(0,0)<1;1,0>", r.below(2)),
        6 => writeln!(out, "mov {m} Q{v}(0,0)<1> {}{w}(0,0)<1;1,0>", r.one_of(&["W", "B", "S", "N"])),
        7 => writeln!(out, "({}P1) mov {m} {narrow}{v}(0,0)<1> N{w}(0,0)<1;1,0>", r.one_of(&["", "!"])),
        8 => writeln!(out, "mov {m} F{v}(0,0)<1> {}{w}(0,0)<1;1,0>", r.one_of(&["N", "W", "B"])),
        9 => {
            writeln!(out, "(P1) sel {m} {narrow}{v}(0,0)<1> {narrow}{w}(0,0)<1;1,0> {narrow}{x}(0,0)<1;1,0>")
        }
        10 => writeln!(out, "max {m} {narrow}{v}(0,0)<1> {narrow}{w}(0,0)<1;1,0> {narrow}{x}(0,0)<1;1,0>"),
        _ => writeln!(out, "add {m} N{v}(0,0)<1> N{w}(0,0)<1;1,0> {:#x}:d", r.below(1 << 16)),
    };
}

fn doubles(r: &mut Random, simd: u32, out: &mut String) {
    let (v, w, x) = (r.below(EACH), r.below(EACH), r.below(EACH));
    let m = format!("(M1, {simd})");
    let (a, b) = (r.one_of(&["", "(-)", "(abs)"]), r.one_of(&["", "(-)", "(abs)"]));
    let _ = match r.below(5) {
        0 => writeln!(out, "mov {m} D{v}(0,0)<1> {a}D{w}(0,0)<1;1,0>"),
        1 => writeln!(out, "max {m} D{v}(0,0)<1> {a}D{w}(0,0)<1;1,0> {b}D{x}(0,0)<1;1,0>"),
        2 => writeln!(out, "min {m} D{v}(0,0)<1> {a}D{w}(0,0)<1;1,0> {b}D{x}(0,0)<1;1,0>"),
        3 => writeln!(out, "mov {m} D{v}(0,0)<1> {}{w}(0,0)<1;1,0>", r.one_of(&["F", "N", "(abs)F"])),
        _ => writeln!(out, "mov {m} F{v}(0,0)<1> {a}D{w}(0,0)<1;1,0>"),
    };
}

/// Arithmetic on floats of any size, with every modifier: which NaN a NaN is, too.
fn floats(r: &mut Random, simd: u32, out: &mut String) {
    let (v, w, x, y) = (r.below(EACH), r.below(EACH), r.below(EACH), r.below(EACH));
    let name = r.one_of(&["F", "F", "F", "D", "G"]);
    let guard = r.one_of(&["", "", "", "(P1) "]);
    let sat = r.one_of(&["", "", "", ".sat"]);
    let one_source: &[&str] = match name {
        "F" => &[
            "sqrtm", "rndd", "rnde", "rndu", "rndz", "frc", "inv", "rsqrt", "sqrt", "log", "exp", "sin",
            "cos",
        ],
        "D" => &["sqrtm"],
        _ => &["inv", "exp", "sqrt"],
    };
    let (op, sources) = match r.below(16) {
        0..5 => ("add", 2),
        5..8 => ("mul", 2),
        8..13 => ("mad", 3),
        13 if name == "F" => (r.one_of(&["div", "divm", "pow", "min", "max"]), 2),
        13 => (r.one_of(&["min", "max"]), 2),
        _ => (r.one_of(one_source), 1),
    };
    let guard = if matches!(op, "min" | "max") { "" } else { guard };
    // IEEE macros saturate nothing.
    let sat = if op.ends_with('m') { "" } else { sat };
    let _ = write!(out, "{guard}{op}{sat} (M1, {simd}) {name}{v}(0,0)<1>");
    for k in 0..sources {
        let modifier = r.one_of(&["", "", "(-)", "(-)", "(abs)", "(-abs)"]);
        let modifier = if op.ends_with('m') { "" } else { modifier };
        let of = [w, x, y][k];
        let _ = match r.below(6) {
            0 => write!(out, " {modifier}{name}{of}(0,{})<0;1,0>", r.below(simd)),
            1 if name == "F" && k == 1 => {
                write!(out, " 0x{:x}:f", r.one_of(&[0x3f80_0000u32, 0xff80_0000, 0, 1]))
            }
            _ => write!(out, " {modifier}{name}{of}(0,0)<1;1,0>"),
        };
    }
    out.push('\n');
}

fn indirect(r: &mut Random, simd: u32, wild: bool, out: &mut String) {
    let (v, w, x) = (r.below(EACH), r.below(EACH), r.below(EACH));
    let m = format!("(M1, {simd})");
    // Now and then past the end of the variable.
    let most = if wild { 4 * simd } else { simd };
    let _ = writeln!(out, "and {m} U(0,0)<1> N{w}(0,0)<1;1,0> {:#x}:d", most - 1);
    let _ = writeln!(out, "shl {m} U(0,0)<1> U(0,0)<1;1,0> 0x2:uw");
    let _ = match r.below(3) {
        0 => {
            let _ = writeln!(out, "addr_add (M1_NM, 1) A0(0)<1> &N{v} U(0,{})<0;1,0>", r.below(simd));
            writeln!(out, "mov (M1_NM, 1) N{x}(0,{})<1> r[A0(0),0]<0;1,0>:d", r.below(simd))
        }
        1 => {
            let _ = writeln!(out, "addr_add (M1_NM, 1) A0(0)<1> &N{v} U(0,{})<0;1,0>", r.below(simd));
            writeln!(out, "mov {m} T(0,0)<1> r[A0(0),0]<0;1,0>:d")
        }
        _ => {
            // Addresses are of sixteen channels at a time.
            let _ = writeln!(out, "addr_add (M1_NM, 16) A0(0)<1> &N{v} U(0,0)<1;1,0>");
            writeln!(out, "mov (M1, 16) T(0,0)<1> r[A0(0),0]<1,0>:d")
        }
    };
    let _ = writeln!(out, "xor {m} N{x}(0,0)<1> N{x}(0,0)<1;1,0> T(0,0)<1;1,0>");
}

/// Messages whose addresses come out of a selection.
fn message(r: &mut Random, simd: u32, wild: bool, out: &mut String) {
    let (v, w, x) = (r.below(EACH), r.below(EACH), r.below(EACH));
    let m = format!("(M1, {simd})");
    if r.below(6) == 0 {
        // A block, whose address is a sum or two.
        let far = 8 * r.below(if wild { 1 << 16 } else { 400 });
        let _ = writeln!(out, "add (M1_NM, 1) Ad(0,0)<1> A(0,0)<0;1,0> {far:#x}:q");
        let _ = writeln!(out, "mov (M1_NM, 1) Ae(0,0)<1> Ad(0,0)<0;1,0>");
        let _ = writeln!(out, "add (M1_NM, 1) Ae(0,0)<1> Ae(0,0)<0;1,0> {:#x}:q", r.one_of(&[0, 4, 8, 0x7c]));
        let n = r.one_of(&["", "x2", "x4", "x8"]);
        let _ = match r.below(2) {
            0 => writeln!(out, "lsc_load.ugm (M1_NM, 1) N{x}:d32{n}t flat[Ae]:a64"),
            _ => writeln!(out, "lsc_store.ugm (M1_NM, 1) flat[Ae+0x10]:a64 N{x}:d32{n}t"),
        };
        return;
    }
    let size = r.one_of(&[1, 2, 4, 4, 8]);
    let rows = r.below(2) == 0;
    // Now and then outside of the buffer.
    let and = if wild { 0xf_ffff } else { TABLE - 1 } & !(size - 1) & !if size == 4 { 15 } else { 0 };
    if rows {
        let _ = writeln!(out, "mul {m} T(0,0)<1> Lane(0,0)<1;1,0> {size:#x}:uw");
        let _ = writeln!(out, "add {m} T(0,0)<1> T(0,0)<1;1,0> {:#x}:d", 64 * r.below(32));
    } else {
        let _ = writeln!(out, "and {m} T(0,0)<1> N{w}(0,0)<1;1,0> {and:#x}:d");
    }
    let _ = writeln!(out, "mov {m} To(0,0)<1> T(0,0)<1;1,0>");
    let _ = writeln!(out, "add {m} To(0,0)<1> To(0,0)<1;1,0> A(0,0)<0;1,0>");
    let _ = writeln!(out, "(P1) sel {m} To(0,0)<1> To(0,0)<1;1,0> A(0,0)<0;1,0>");
    let _ = match (size, r.below(4)) {
        (1, 0 | 1) => writeln!(out, "lsc_load.ugm {m} N{x}:d8c32 flat[To]:a64"),
        (1, _) => writeln!(out, "lsc_store.ugm {m} flat[To]:a64 N{x}:d8c32"),
        (2, 0 | 1) => writeln!(out, "lsc_load.ugm {m} N{x}:d16c32 flat[To]:a64"),
        (2, _) => writeln!(out, "lsc_store.ugm {m} flat[To]:a64 N{x}:d16c32"),
        (8, 0 | 1) => writeln!(out, "lsc_load.ugm {m} Q{x}:d64 flat[To]:a64"),
        (8, _) => writeln!(out, "lsc_store.ugm {m} flat[To]:a64 Q{x}:d64"),
        (_, 0) => writeln!(out, "lsc_load.ugm {m} N{x}:d32 flat[To]:a64"),
        (_, 1) => writeln!(out, "lsc_store.ugm {m} flat[To+0x8]:a64 N{x}:d32"),
        (_, 2) => writeln!(out, "lsc_load.ugm {m} V:d32x2 flat[To]:a64"),
        _ => writeln!(out, "lsc_atomic_iadd.ugm {m} N{v}:d32 flat[To]:a64 N{x} %null.0"),
    };
    let _ = writeln!(out, "add {m} N{v}(0,0)<1> N{v}(0,0)<1;1,0> V(0,0)<1;1,0>");
}

/// A program's start: its variables, and the numbers of lanes.
fn declarations(simd: u32) -> String {
    let mut text = String::from(".version 4.1\n.kernel \"shapes\"\n.kernel_attr Target=\"cm\"\n");
    let _ = writeln!(text, ".kernel_attr SimdSize={simd}");
    let mut vector = |name: &str, ty: &str, n: u32, of: &str| {
        let alias = if of.is_empty() { String::new() } else { format!(" alias=<{of}, 0>") };
        let _ = writeln!(text, ".decl {name} v_type=G type={ty} num_elts={n} align=wordx32{alias}");
    };
    for k in 0..EACH {
        for (name, ty) in [
            ("N", "d"),
            ("W", "w"),
            ("B", "ub"),
            ("S", "b"),
            ("F", "f"),
            ("D", "df"),
            ("G", "hf"),
            ("Q", "q"),
        ] {
            vector(&format!("{name}{k}"), ty, simd, "");
        }
        vector(&format!("C{k}"), "ub", 2 * simd, &format!("W{k}"));
        vector(&format!("H{k}"), "d", 2 * simd, &format!("Q{k}"));
        vector(&format!("K{k}"), "uw", simd, &format!("G{k}"));
    }
    for (name, ty) in [("Lane", "uw"), ("U", "uw"), ("At", "ud"), ("To", "uq"), ("T", "d")] {
        vector(name, ty, simd, "");
    }
    vector("V", "d", 2 * simd, "");
    let _ = writeln!(text, ".decl P1 v_type=P num_elts={simd}\n.decl P2 v_type=P num_elts={simd}");
    text.push_str(".decl A0 v_type=A num_elts=16\n.decl A v_type=G type=uq num_elts=1 align=qword\n");
    text.push_str(".decl Ad v_type=G type=uq num_elts=1 align=qword\n.decl Ae v_type=G type=uq num_elts=1 align=qword\n");
    text.push_str(".input A offset=64 size=8\n.function \"shapes_main\"\n");
    text.push_str("or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud\n");
    text + &lane_numbers(simd)
}

/// A program of some statements, and how many bytes it stores behind the table.
fn program(seed: u64, simd: u32) -> (String, u32) {
    let mut r = Random(seed);
    let wild = seed % 8 == 7;
    let mut text = declarations(simd);
    let m = format!("(M1, {simd})");
    let _ = writeln!(text, "shl {m} At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud");
    let _ = writeln!(text, "mov {m} V(0,0)<1> 0x0:d\nmov {m} T(0,0)<1> 0x0:d");
    for k in 0..EACH {
        let _ = writeln!(text, "mul {m} N{k}(0,0)<1> At(0,0)<1;1,0> {:#x}:d", 1 + 2 * r.below(1 << 24));
        let _ = writeln!(text, "mov {m} F{k}(0,0)<1> N{k}(0,0)<1;1,0>");
        for name in ["W", "B", "S", "Q"] {
            let _ = writeln!(text, "mov {m} {name}{k}(0,0)<1> N{k}(0,0)<1;1,0>");
        }
        let _ = writeln!(text, "mov {m} D{k}(0,0)<1> F{k}(0,0)<1;1,0>");
        let _ = writeln!(
            text,
            "mul {m} F{k}(0,0)<1> F{k}(0,0)<1;1,0> 0x{:x}:f",
            0x3700_0000 + (r.below(8) << 23)
        );
    }
    for (name, bytes) in [("F0", 4), ("F1", 4), ("D0", 8), ("D1", 8), ("Q2", 8)] {
        let _ = writeln!(text, "mul {m} T(0,0)<1> Lane(0,0)<1;1,0> {bytes:#x}:uw");
        let _ = writeln!(text, "add {m} T(0,0)<1> T(0,0)<1;1,0> {:#x}:d", 8 * r.below(64));
        let _ = writeln!(text, "mov {m} To(0,0)<1> T(0,0)<1;1,0>");
        let _ = writeln!(text, "add {m} To(0,0)<1> To(0,0)<1;1,0> A(0,0)<0;1,0>");
        let _ = writeln!(text, "lsc_load.ugm {m} {name}:d{} flat[To]:a64", 8 * bytes);
    }
    for k in 0..EACH {
        let _ = writeln!(text, "mov {m} G{k}(0,0)<1> F{k}(0,0)<1;1,0>");
    }
    let _ = writeln!(text, "cmp.lt {m} P1 N0(0,0)<1;1,0> 0x0:d");
    for round in 0..2 {
        for _ in 0..4 + r.below(12) {
            match r.below(8) {
                6 | 7 => floats(&mut r, simd, &mut text),
                0 => few(&mut r, simd, &mut text),
                1 | 2 => whole(&mut r, simd, &mut text),
                3 => doubles(&mut r, simd, &mut text),
                4 => indirect(&mut r, simd, wild, &mut text),
                _ => message(&mut r, simd, wild, &mut text),
            }
        }
        // The second half by some channels only.
        if round == 0 {
            let _ = writeln!(text, "cmp.gt {m} P2 N1(0,0)<1;1,0> 0x0:d\n(P2) goto {m} behind");
        }
    }
    text.push_str("behind:\n");
    let mut at = TABLE;
    let mut store = |text: &mut String, name: &str, bytes: u32| {
        let _ = writeln!(text, "mul {m} T(0,0)<1> Lane(0,0)<1;1,0> {bytes:#x}:uw");
        let _ = writeln!(text, "mov {m} To(0,0)<1> T(0,0)<1;1,0>");
        let _ = writeln!(text, "add {m} To(0,0)<1> To(0,0)<1;1,0> A(0,0)<0;1,0>");
        let _ = writeln!(text, "add {m} To(0,0)<1> To(0,0)<1;1,0> {at:#x}:uq");
        let _ = writeln!(text, "lsc_store.ugm {m} flat[To]:a64 {name}:d{}", 8 * bytes);
        at += bytes * simd;
    };
    for k in 0..EACH {
        for (name, bytes) in [("N", 4), ("F", 4), ("D", 8), ("Q", 8)] {
            store(&mut text, &format!("{name}{k}"), bytes);
        }
        for name in ["W", "B", "S", "K"] {
            let _ = writeln!(text, "mov {m} V(0,0)<1> {name}{k}(0,0)<1;1,0>");
            store(&mut text, "V", 4);
        }
    }
    text.push_str("ret (M1, 1)\n");
    (text, at)
}

/// What the buffer holds in the end, the fault if there was one, and whether there is native code.
fn run(engine: Engine, text: &str, bytes: u32) -> (Vec<u8>, Option<String>, bool) {
    run_with(Launch::threads(&[1, 1, 1], 1).engine(engine), text, bytes)
}

fn run_with(launch: Launch, text: &str, bytes: u32) -> (Vec<u8>, Option<String>, bool) {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
    let kernel = only_kernel(&device, text);
    let mut r = Random(u64::from(bytes));
    // Numbers of any kind, and those that are none.
    let odd = [0x7ff0_0000_7f80_0000, 0xfff8_0001_7fc0_0001, 0x7ff0_0001_ff80_0001, 0x8000_0000_8000_0000, 1];
    let one = |r: &mut Random| if r.below(3) == 0 { r.one_of(&odd) } else { r.next() };
    let content: Vec<u8> = (0..bytes / 8).flat_map(|_| one(&mut r).to_le_bytes()).collect();
    let buffer = device.buffer_from("a", &content).expect("there is memory");
    let launch = launch.arg("A", &buffer);
    let outcome = device.run(&kernel, &launch).expect("it is launched");
    (
        buffer.to_vec(),
        outcome.fault.map(|f| format!("{f:?}")),
        kernel.native_listing().map_or_else(|why| why.contains(NO_CPU), |_| true),
    )
}

#[test]
fn the_same_from_both() {
    let (mut faults, mut native, mut stray) = (0, 0, 0);
    for seed in 0..share(200) {
        let simd = [16, 32][seed as usize % 2];
        let (text, bytes) = program(seed, simd);
        let (want, got) = (run(Engine::Interpreter, &text, bytes), run(Engine::Native, &text, bytes));
        faults += u64::from(want.1.is_some());
        native += u64::from(got.2);
        assert_eq!(want.1, got.1, "program {seed}:\n{text}");
        if want.1.as_ref().is_some_and(|f| f.contains("RegisterAddress")) {
            // Where that is allowed, it gives zeros, and the program goes on.
            let lenient = |e| {
                let launch = Launch::threads(&[1, 1, 1], 1).engine(e).stray_register_reads(true);
                run_with(launch, &text, bytes)
            };
            let [a, b] = [Engine::Interpreter, Engine::Native].map(lenient);
            let strays = |f: &Option<String>| f.as_ref().is_some_and(|f| f.contains("RegisterAddress"));
            assert!(!strays(&a.1), "program {seed}: {:?}", a.1);
            assert!((&a.0, &a.1) == (&b.0, &b.1), "program {seed}, with strays:\n{text}");
            stray += 1;
        }
        let dwords = |b: &[u8]| -> Vec<u32> {
            b.chunks_exact(4).map(|d| u32::from_le_bytes([d[0], d[1], d[2], d[3]])).collect()
        };
        let (a, b) = (dwords(&want.0), dwords(&got.0));
        if let Some(k) = (0..a.len()).find(|k| a[*k] != b[*k]) {
            panic!("program {seed}: byte {} is {:#x}, interpreted {:#x}\n{text}", 4 * k, b[k], a[k]);
        }
    }
    assert!((share(200) / 25..2 * share(200) / 5).contains(&faults), "{faults} programs fault");
    assert_eq!(native, share(200), "so many programs have native code");
    assert!(stray > share(200) / 50, "{stray} programs read at addresses of no variable");
}

/// Surfaces that are read and written where channels say, at multiples of four, and at others, which faults.
#[test]
fn dwords_of_surfaces() {
    let (mut faults, mut native) = (0, 0);
    for seed in 0..60 {
        let mut r = Random(seed);
        let and = if seed % 4 == 3 { 0x3ffe } else { 0xffc };
        let mut text = String::from(
            ".version 3.6\n.kernel \"surfaces\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=16\n\
             .decl Lane v_type=G type=uw num_elts=16 align=wordx32\n.decl V v_type=G type=d num_elts=16 align=wordx32\n\
             .decl At v_type=G type=ud num_elts=16 align=wordx32\n.decl T6 v_type=T num_elts=1\n\
             .input T6 offset=96 size=4\n.function \"surfaces_main\"\n\
             mov (M1, 8) Lane(0,0)<1> 0x76543210:v\nadd (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw\n\
             mov (M1, 16) V(0,0)<1> Lane(0,0)<1;1,0>\n",
        );
        for _ in 0..4 {
            // Rows, the same place for all, and any places.
            let any = 2 * r.below(1 << 20);
            let step = r.one_of(&[4, 4, 0, 36, any]);
            let _ = writeln!(text, "mul (M1, 16) At(0,0)<1> Lane(0,0)<1;1,0> {step:#x}:d");
            let _ = writeln!(text, "add (M1, 16) At(0,0)<1> At(0,0)<1;1,0> {:#x}:d", 4 * r.below(200));
            let _ = writeln!(text, "and (M1, 16) At(0,0)<1> At(0,0)<1;1,0> {and:#x}:d");
            let what = r.one_of(&["gather4_scaled", "scatter4_scaled"]);
            let _ = writeln!(text, "{what}.R (M1, 16) T6 0x0:ud At.0 V.0");
            let _ = writeln!(text, "add (M1, 16) V(0,0)<1> V(0,0)<1;1,0> Lane(0,0)<1;1,0>");
        }
        text.push_str("and (M1, 16) At(0,0)<1> At(0,0)<1;1,0> 0xffc:d\n");
        text.push_str("scatter4_scaled.R (M1, 16) T6 0x0:ud At.0 V.0\nret (M1, 16)\n");
        let run = |engine| {
            let device = Device::new(Config::new(Platform::Skl).memory(1 << 20));
            let kernel = only_kernel(&device, &text);
            let content: Vec<u8> = (0..4096u32).map(|k| ((k * 37) >> 3) as u8).collect();
            let buffer = device.buffer_from("a", &content).expect("there is memory");
            let launch = Launch::threads(&[1, 1, 1], 1).engine(engine).arg("T6", &buffer);
            let outcome = device.run(&kernel, &launch).expect("it is launched");
            let listing = kernel.native_listing();
            let all = listing.map_or_else(|why| why.contains(NO_CPU), |l| !l.contains("by the interpreter"));
            (buffer.to_vec(), outcome.fault.map(|f| format!("{f:?}")), all)
        };
        let (want, got) = (run(Engine::Interpreter), run(Engine::Native));
        assert_eq!((&want.0, &want.1), (&got.0, &got.1), "program {seed}:\n{text}");
        faults += usize::from(want.1.is_some());
        native += usize::from(got.2);
    }
    assert!((1..30).contains(&faults), "{faults} programs fault");
    assert_eq!(native, 60, "so many programs are native as a whole");
}

/// A statement of the kind that compilers write for devices whose registers have 32 bytes: messages at addresses of 64 bits
/// that have an alignment, blocks of surfaces, messages of two and four channels, sums with carries, halves of quads.
fn older(r: &mut Random, wild: bool, out: &mut String) {
    let (v, w) = (r.below(EACH), r.below(EACH));
    let n = r.one_of(&[1, 2, 4, 8, 16]);
    let few = r.one_of(&[1, 2, 4]);
    // Now and then no multiple of four, or far off.
    let far = if wild { r.one_of(&[0, 0, 1, 2, 0x4000]) } else { 0 };
    let mut places = |r: &mut Random, name: &str| {
        let any = 4 * r.below(60);
        let step = r.one_of(&[4, 4, 0, 36, any]);
        let _ = writeln!(out, "mul (M1, 16) {name}(0,0)<1> Lane(0,0)<1;1,0> {step:#x}:d");
        let _ =
            writeln!(out, "add (M1, 16) {name}(0,0)<1> {name}(0,0)<1;1,0> {:#x}:d", 4 * r.below(90) + far);
    };
    match r.below(7) {
        0 | 1 => {
            places(r, "T");
            let _ = writeln!(out, "mov (M1, 16) To(0,0)<1> T(0,0)<1;1,0>");
            let _ = writeln!(out, "add (M1, 16) To(0,0)<1> To(0,0)<1;1,0> A(0,0)<0;1,0>");
            let _ = match r.below(6) {
                4 | 5 => writeln!(out, "svm_gather.4.1 (M1, 16) To.0 N{v}.0"),
                0 => writeln!(out, "svm_gather.4.2 (M1, 16) To.0 V.0"),
                1 => writeln!(out, "svm_scatter.4.1 (M1, 16) To.0 N{v}.0"),
                2 => writeln!(out, "svm_gather.4.1 (M1_NM, {few}) To.0 N{v}.0"),
                _ => writeln!(out, "svm_scatter.4.1 (M1_NM, {few}) To.0 N{v}.0"),
            };
        }
        2 => {
            places(r, "T");
            let what = r.one_of(&["gather", "scatter"]);
            let _ = match r.below(2) {
                0 => writeln!(out, "{what}_scaled.4 (M1_NM, {few}) T6 0x0:ud T.0 N{v}.0"),
                _ => writeln!(out, "{what}4_scaled.R (M1, 16) T6 0x0:ud T.0 N{v}.0"),
            };
        }
        3 => {
            let _ = match r.below(3) {
                0 => writeln!(out, "oword_ld ({few}) T6 {:#x}:ud N{v}.0", r.below(300)),
                1 => {
                    let _ = writeln!(out, "and (M1_NM, 1) T(0,0)<1> N{w}(0,0)<0;1,0> {:#x}:d", 0x3fc + far);
                    writeln!(out, "oword_ld_unaligned ({few}) T6 T(0,0)<0;1,0> N{v}.0")
                }
                _ => writeln!(out, "oword_st ({few}) T6 {:#x}:ud N{v}.0", r.below(70)),
            };
        }
        4 | 5 => {
            let op = r.one_of(&["addc", "subb"]);
            let (m, x) = (r.one_of(&["M1", "M1_NM"]), r.below(EACH));
            // Few channels one after the other, where none reads what those before wrote.
            let apart = matches!(n, 2 | 4);
            let (w, x) = if apart { ((v + 1) % EACH, (v + 2) % EACH) } else { (w, x) };
            let m = if n < 8 { "M1_NM" } else { m };
            let (a, b) = (r.one_of(&["<0;1,0>", "<1;1,0>"]), r.one_of(&["<0;1,0>", "<1;1,0>"]));
            let _ = write!(out, "{op} ({m}, {n}) N{v}(0,0)<1> N{w}(0,0)<1> N{x}(0,0){a} ");
            let _ = match r.below(3) {
                0 => writeln!(out, "{:#x}:ud", r.next() as u32),
                _ => writeln!(out, "N{}(0,0){b}", if apart { x } else { r.below(EACH) }),
            };
        }
        _ => {
            let (from, half) = (8 * r.below(2), r.below(2));
            let _ =
                writeln!(out, "mov (M1, 8) N{v}(0,{})<1> H(0,{})<2;1,0>", 8 * r.below(2), 2 * from + half);
            let _ = writeln!(out, "mov (M1, 8) H(0,{})<2> N{w}(0,{})<1;1,0>", r.below(2), 8 * r.below(2));
        }
    }
}

/// The same from both of what older devices' code is made of, and all of it native.
#[test]
fn of_older_devices() {
    let mut faults = 0;
    for seed in 0..share(200) {
        let mut r = Random(seed);
        let wild = seed % 8 == 7;
        let mut text = String::from(
            ".version 3.6\n.kernel \"older\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=16\n\
             .decl Lane v_type=G type=uw num_elts=16 align=wordx32\n\
             .decl V v_type=G type=ud num_elts=32 align=wordx32\n.decl T v_type=G type=ud num_elts=16 align=wordx32\n\
             .decl To v_type=G type=uq num_elts=16 align=wordx32\n\
             .decl H v_type=G type=ud num_elts=32 align=wordx32 alias=<To, 0>\n\
             .decl N0 v_type=G type=ud num_elts=32 align=wordx32\n.decl N1 v_type=G type=ud num_elts=32 align=wordx32\n\
             .decl N2 v_type=G type=ud num_elts=32 align=wordx32\n.decl P1 v_type=P num_elts=16\n\
             .decl A v_type=G type=uq num_elts=1 align=qword\n.decl T6 v_type=T num_elts=1\n\
             .input A offset=64 size=8\n.input T6 offset=96 size=4\n.function \"older_main\"\n\
             mov (M1, 8) Lane(0,0)<1> 0x76543210:v\nadd (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw\n\
             mov (M1, 16) V(0,0)<1> Lane(0,0)<1;1,0>\nmov (M1, 16) V(0,16)<1> Lane(0,0)<1;1,0>\n\
             mov (M1, 16) To(0,0)<1> Lane(0,0)<1;1,0>\nmov (M1, 16) T(0,0)<1> Lane(0,0)<1;1,0>\n",
        );
        for k in 0..EACH {
            for half in [0, 16] {
                let by = r.next() as u32;
                let _ = writeln!(text, "mul (M1, 16) N{k}(0,{half})<1> Lane(0,0)<1;1,0> {by:#x}:ud");
            }
        }
        for round in 0..2 {
            for _ in 0..5 {
                older(&mut r, wild, &mut text);
                let x = r.below(EACH);
                let _ = writeln!(text, "add (M1, 16) N{x}(0,0)<1> N{x}(0,0)<1;1,0> V(0,0)<1;1,0>");
            }
            if round == 0 {
                text.push_str(
                    "cmp.gt (M1, 16) P1 N0(0,0)<1;1,0> N1(0,0)<1;1,0>\n(P1) goto (M1, 16) behind\n",
                );
            }
        }
        text.push_str("behind:\n");
        for (k, name) in ["N0", "N0", "N1", "N1", "N2", "N2", "H", "H"].into_iter().enumerate() {
            let _ = writeln!(text, "shl (M1, 16) T(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud");
            let _ = writeln!(text, "add (M1, 16) T(0,0)<1> T(0,0)<1;1,0> {:#x}:ud", 0x800 + 64 * k);
            let _ = writeln!(text, "mov (M1, 16) V(0,0)<1> {name}(0,{})<1;1,0>", k % 2 * 16);
            text.push_str("scatter4_scaled.R (M1, 16) T6 0x0:ud T.0 V.0\n");
        }
        text.push_str("ret (M1, 16)\n");
        let run = |engine| {
            let device = Device::new(Config::new(Platform::Skl).memory(1 << 20));
            let kernel = only_kernel(&device, &text);
            let content: Vec<u8> = (0..4096u32).map(|k| ((k * 37) >> 3) as u8).collect();
            let [a, b] = ["a", "b"].map(|n| device.buffer_from(n, &content).expect("there is memory"));
            let launch = Launch::threads(&[1, 1, 1], 1).engine(engine).arg("A", &a).arg("T6", &b);
            let outcome = device.run(&kernel, &launch).expect("it is launched");
            let slow = match kernel.native_listing() {
                Ok(l) => l.lines().find(|l| l.contains("by the interpreter")).map(str::to_owned),
                Err(why) => (!why.contains(NO_CPU)).then(|| why.to_string()),
            };
            (a.to_vec(), b.to_vec(), outcome.fault.map(|f| format!("{f:?}")), slow)
        };
        let (want, got) = (run(Engine::Interpreter), run(Engine::Native));
        assert_eq!(want.2, got.2, "program {seed}:\n{text}");
        assert!(want.0 == got.0 && want.1 == got.1, "program {seed}: other content\n{text}");
        faults += u64::from(want.2.is_some());
        assert_eq!(got.3, None, "program {seed} has an instruction that is interpreted:\n{text}");
    }
    assert!((share(200) / 40..3 * share(200) / 10).contains(&faults), "{faults} programs fault");
}

/// Accesses of several elements a channel, at some step, in a loop that goes on through the buffer: of channels of whom
/// some are off, whose places may lie before it or behind it.
fn several(r: &mut Random, simd: u32, bytes: u32) -> String {
    let (ty, element) = r.one_of(&[("d32", 4), ("d32", 4), ("d32", 4), ("d64", 8)]);
    let n = r.one_of(&[2, 2, 3, 3, 4]);
    let store = r.below(4) == 0;
    // Which of two that store to one place is last is open.
    let apart = if store { r.one_of(&[n, n, n + 1, n + 5]) } else { r.one_of(&[1, 1, 1, n, n, 0, 2, 5, 9]) };
    let step = element * apart;
    let (low, high) = (r.one_of(&[0, 0, 1, 5, 17]), r.one_of(&[simd, simd, simd - 1, simd - 2, 3]));
    let rounds = 6;
    // Results are behind what is accessed, or before it.
    let kept = 6 * 8 * 4 * simd;
    let (table, results) = if r.below(2) == 0 { (0, bytes) } else { (kept, 0) };
    // The first round begins before the buffer, or the last one ends behind it, mostly as far as channels are off there.
    let (first, by) = match r.below(4) {
        0 => (-((low * step) as i32), 8),
        1 => ((bytes - rounds * 16 - (high - 1) * step - n * element) as i32 + r.one_of(&[16, 16, 24]), 16),
        _ => ((8 * r.below(16)) as i32, element * r.one_of(&[1, 2, 7])),
    };
    let mut t = String::from(".version 4.1\n.kernel \"shapes\"\n.kernel_attr Target=\"cm\"\n");
    let _ = writeln!(t, ".kernel_attr SimdSize={simd}");
    for (name, ty, count) in [("Lane", "uw", simd), ("T", "d", simd), ("At", "d", simd), ("To", "uq", simd)] {
        let _ = writeln!(t, ".decl {name} v_type=G type={ty} num_elts={count} align=wordx32");
    }
    let _ = writeln!(t, ".decl V v_type=G type=d num_elts={} align=wordx32", simd * n * element / 4);
    for k in 0..n * element / 4 {
        let _ = writeln!(
            t,
            ".decl E{k} v_type=G type=d num_elts={simd} align=wordx32 alias=<V, {}>",
            4 * simd * k
        );
    }
    for name in ["S", "Out", "I"] {
        let _ = writeln!(t, ".decl {name} v_type=G type=d num_elts=1 align=dword");
    }
    let _ = writeln!(
        t,
        ".decl P1 v_type=P num_elts={simd}\n.decl P2 v_type=P num_elts={simd}\n.decl P3 v_type=P num_elts=1"
    );
    t.push_str(".decl A v_type=G type=uq num_elts=1 align=qword\n.input A offset=64 size=8\n.function \"shapes_main\"\n");
    t += &lane_numbers(simd);
    let m = format!("(M1, {simd})");
    for k in 0..n * element / 4 {
        let _ = writeln!(t, "mul {m} E{k}(0,0)<1> Lane(0,0)<1;1,0> {:#x}:uw", 3 + 2 * k);
    }
    let _ = writeln!(
        t,
        "mov (M1, 1) S(0,0)<1> {}:d\nmov (M1, 1) Out(0,0)<1> {results:#x}:d\nmov (M1, 1) I(0,0)<1> 0x0:d",
        first + table as i32
    );
    let _ = writeln!(t, "again:\nmul {m} T(0,0)<1> Lane(0,0)<1;1,0> {step:#x}:uw");
    let _ = writeln!(t, "add {m} T(0,0)<1> T(0,0)<1;1,0> S(0,0)<0;1,0>\nmov {m} To(0,0)<1> T(0,0)<1;1,0>");
    let _ = writeln!(t, "add {m} To(0,0)<1> To(0,0)<1;1,0> A(0,0)<0;1,0>");
    let _ = writeln!(
        t,
        "cmp.ge {m} P1 Lane(0,0)<1;1,0> {low:#x}:uw\ncmp.lt {m} P2 Lane(0,0)<1;1,0> {high:#x}:uw"
    );
    let _ = writeln!(t, "and {m} P1 P1 P2");
    let guarded = r.below(2) == 0;
    let guard = if guarded { "(P1) " } else { "" };
    if !guarded {
        let _ = writeln!(t, "(!P1) goto {m} over");
    }
    let _ = match store {
        true => writeln!(t, "{guard}lsc_store.ugm {m} flat[To]:a64 V:{ty}x{n}"),
        false => writeln!(t, "{guard}lsc_load.ugm {m} V:{ty}x{n} flat[To]:a64"),
    };
    t.push_str("over:\n");
    for k in 0..n * element / 4 {
        let _ = writeln!(
            t,
            "mul {m} At(0,0)<1> Lane(0,0)<1;1,0> 0x4:uw\nadd {m} At(0,0)<1> At(0,0)<1;1,0> Out(0,0)<0;1,0>"
        );
        let _ =
            writeln!(t, "mov {m} To(0,0)<1> At(0,0)<1;1,0>\nadd {m} To(0,0)<1> To(0,0)<1;1,0> A(0,0)<0;1,0>");
        let _ = writeln!(t, "lsc_store.ugm {m} flat[To]:a64 E{k}:d32");
        let _ = writeln!(t, "add (M1, 1) Out(0,0)<1> Out(0,0)<0;1,0> {:#x}:d", 4 * simd);
        let _ = writeln!(t, "xor {m} E{k}(0,0)<1> E{k}(0,0)<1;1,0> 0x{:x}:d", r.below(1 << 30));
    }
    let _ = writeln!(
        t,
        "add (M1, 1) S(0,0)<1> S(0,0)<0;1,0> {by:#x}:d\nadd (M1, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:d"
    );
    let _ = writeln!(t, "cmp.lt (M1, 1) P3 I(0,0)<0;1,0> {rounds:#x}:d\n(P3) jmp (M1, 1) again\nret (M1, 1)");
    t
}

/// Vectors side by side, those that begin at each element, and others: results and faults are the interpreter's.
#[test]
fn several_elements_at_any_step() {
    let (mut faults, mut native) = (0, 0);
    for seed in 0..share(400) {
        let simd = [16, 32][seed as usize % 2];
        let text = several(&mut Random(seed), simd, 0x3000);
        let room = 0x3000 + 6 * 8 * 4 * simd;
        let (want, got) = (run(Engine::Interpreter, &text, room), run(Engine::Native, &text, room));
        faults += u64::from(want.1.is_some());
        native += u64::from(got.2);
        assert_eq!(want.1, got.1, "program {seed}:\n{text}");
        assert!(want.0 == got.0, "program {seed}:\n{text}");
    }
    assert!((1..share(400) / 2).contains(&faults), "{faults} programs fault");
    assert_eq!(native, share(400), "so many programs have native code");
}
