//! Bytes and words that are loaded, packed, widened, compared, picked from, computed with, cut again and stored: whoever does
//! that as bytes, or in dwords, leaves what the program, as it was written, leaves.

use std::fmt::Write as _;

use crate::kernels;
use crate::random::Random;
use envisa::Engine;

/// Vectors of bytes, of words, and of truths as words.
const BYTES: u32 = 5;
const WORDS: u32 = 6;
const TRUTHS: u32 = 2;

/// The lesser or greater of two bytes, as compilers write it, with a mistake now and then.
fn pattern(r: &mut Random, m: &str, out: &mut String, stored: &mut u32) {
    let (x, y, t) = (r.below(BYTES), r.below(BYTES), r.below(TRUTHS));
    let w: [u32; 5] = std::array::from_fn(|k| (k as u32 + r.below(2)) % WORDS);
    let relation = r.one_of(&["gt", "ge", "lt", "le", "gt", "lt", "eq"]);
    let (compared, picked) = (r.one_of(&["X", "S", "X"]), r.one_of(&["S", "X", "S"]));
    let (u, words) = (r.below(BYTES), r.one_of(&["U", "W", "U"]));
    let [c, d] = if r.below(2) == 0 { [x, y] } else { [y, x] };
    let widen = |out: &mut String, w: u32, of: &str, x: u32| {
        let _ = writeln!(out, "mov {m} W{w}(0,0)<1> {of}{x}(0,0)<1;1,0>");
    };
    widen(out, w[0], compared, x);
    widen(out, w[1], compared, y);
    if r.below(8) == 0 {
        statement(r, m, out, stored);
    }
    let _ = writeln!(
        out,
        "cmp.{relation} {m} Q{t}(0,0)<1> {words}{}(0,0)<1;1,0> {words}{}(0,0)<1;1,0>",
        w[0], w[1]
    );
    if r.below(3) != 0 {
        widen(out, w[2], picked, c);
        widen(out, w[3], picked, d);
    }
    if r.below(8) == 0 {
        statement(r, m, out, stored);
    }
    let table = r.one_of(&["d8", "d8", "d8", "d8", "d8", "ca", "e8"]);
    let _ = writeln!(
        out,
        "bfn.x{table} {m} W{}(0,0)<1> Q{t}(0,0)<1;1,0> W{}(0,0)<1;1,0> W{}(0,0)<1;1,0>",
        w[4], w[2], w[3]
    );
    if r.below(4) != 0 {
        let _ = writeln!(out, "mov {m} S{u}(0,0)<1> W{}(0,0)<1;1,0>", w[4]);
    }
}

/// Something else with the same vectors.
fn statement(r: &mut Random, m: &str, out: &mut String, stored: &mut u32) {
    let (x, y, t) = (r.below(BYTES), r.below(BYTES), r.below(TRUTHS));
    let (v, w) = (r.below(WORDS), r.below(WORDS));
    let (b, not) = (r.one_of(&["X", "S"]), r.one_of(&["", "!"]));
    let _ = match r.below(20) {
        0 => writeln!(out, "mov {m} {b}{x}(0,0)<1> {b}{y}(0,0)<1;1,0>"),
        1 => writeln!(out, "add {m} X{x}(0,0)<1> X{y}(0,0)<1;1,0> 0x35:uw"),
        2 => writeln!(out, "add {m} W{v}(0,0)<1> W{w}(0,0)<1;1,0> 0x135:w"),
        3 => writeln!(out, "({not}P1) mov {m} W{v}(0,0)<1> {b}{x}(0,0)<1;1,0>"),
        4 => writeln!(out, "mov {m} W{v}(0,0)<1> Q{t}(0,0)<1;1,0>"),
        5 => writeln!(out, "mov {m} S{x}(0,0)<1> W{v}(0,0)<1;1,0>"),
        // The byte of a dword, and a dword of a byte.
        6 => writeln!(out, "mov {m} S{x}(0,0)<1> D(0,{})<4;1,0>", r.below(4)),
        7 => writeln!(out, "mov {m} N(0,0)<1> {b}{x}(0,0)<1;1,0>"),
        9 | 10 => {
            let size = r.one_of(&["d8c32", "d16c32"]);
            writeln!(out, "lsc_load.ugm {m} L:{size} flat[From]:a64")
        }
        11 => writeln!(out, "mov {m} S{x}(0,0)<1> LB(0,{})<4;1,0>", r.one_of(&[0, 0, 1, 3])),
        12 => writeln!(out, "mov {m} W{v}(0,0)<1> LW(0,{})<2;1,0>", r.below(2)),
        13 => writeln!(out, "mov {m} {b}{x}(0,0)<1> WB{w}(0,{})<2;1,0>", r.below(2)),
        14 | 15 => {
            let op = r.one_of(&["add", "add", "mul", "and", "or", "xor"]);
            let minus = if matches!(op, "add" | "mul") { r.one_of(&["", "(-)"]) } else { "" };
            let last = match r.below(3) {
                0 => format!("{:#x}:w", r.below(0x8000)),
                _ => format!("{minus}W{}(0,0)<1;1,0>", r.below(WORDS)),
            };
            writeln!(out, "{op} {m} W{v}(0,0)<1> W{w}(0,0)<1;1,0> {last}")
        }
        16 => writeln!(
            out,
            "mov {m} F(0,0)<1> {b}{x}(0,0)<1;1,0>\nxor {m} N(0,0)<1> N(0,0)<1;1,0> FD(0,0)<1;1,0>"
        ),
        17 | 18 => {
            let (name, k) = r.one_of(&[(b, x), ("W", w), ("S", y)]);
            let of = format!("{name}{k}");
            let size = if of.starts_with('W') { r.one_of(&["d8c32", "d16c32"]) } else { "d8c32" };
            store(out, m, &of, size, stored);
            Ok(())
        }
        _ => writeln!(out, "max {m} X{x}(0,0)<1> X{x}(0,0)<1;1,0> X{y}(0,0)<1;1,0>"),
    };
}

/// Most vectors that are stored.
const STORED: u32 = 64;

/// Stores a vector behind what has been stored, as so many bytes a channel; some of those that are narrow as dwords as well.
fn store(out: &mut String, m: &str, of: &str, size: &str, stored: &mut u32) {
    let y = *stored;
    let _ = writeln!(out, "mov {m} Y{y}(0,0)<1> {of}(0,0)<1;1,0>");
    let sizes = if size != "d32" && y % 4 == 3 { vec![size, "d32"] } else { vec![size] };
    for size in sizes {
        let _ = writeln!(out, "add {m} To(0,0)<1> From(0,0)<1;1,0> {:#x}:uq", 4 * 32 * *stored);
        let _ = writeln!(out, "lsc_store.ugm {m} flat[To]:a64 Y{y}:{size}");
        *stored += 1;
    }
}

fn program(seed: u64, simd: u32) -> (String, u32) {
    let mut r = Random(seed);
    let mut text = String::from(".version 3.6\n.kernel \"bytes\"\n.kernel_attr Target=\"cm\"\n");
    let _ = writeln!(text, ".kernel_attr SimdSize={simd}");
    let vector = |text: &mut String, name: &str, ty: &str, alias: &str| {
        let _ = writeln!(text, ".decl {name} v_type=G type={ty} num_elts={simd} align=wordx32{alias}");
    };
    for k in 0..BYTES {
        vector(&mut text, &format!("X{k}"), "ub", "");
        vector(&mut text, &format!("S{k}"), "b", &format!(" alias=<X{k}, 0>"));
    }
    for k in 0..WORDS {
        vector(&mut text, &format!("W{k}"), "w", "");
        vector(&mut text, &format!("U{k}"), "uw", &format!(" alias=<W{k}, 0>"));
        let _ = writeln!(
            text,
            ".decl WB{k} v_type=G type=ub num_elts={} align=wordx32 alias=<W{k}, 0>",
            2 * simd
        );
    }
    (0..STORED).for_each(|k| vector(&mut text, &format!("Y{k}"), "d", ""));
    (0..TRUTHS).for_each(|k| vector(&mut text, &format!("Q{k}"), "uw", ""));
    for (name, ty) in [
        ("Lane", "uw"),
        ("At", "ud"),
        ("To", "uq"),
        ("From", "uq"),
        ("Y", "d"),
        ("N", "d"),
        ("L", "d"),
        ("F", "f"),
    ] {
        vector(&mut text, name, ty, "");
    }
    let _ = writeln!(text, ".decl D v_type=G type=ub num_elts={} align=wordx32 alias=<N, 0>", 4 * simd);
    let _ = writeln!(text, ".decl LB v_type=G type=ub num_elts={} align=wordx32 alias=<L, 0>", 4 * simd);
    let _ = writeln!(text, ".decl LW v_type=G type=uw num_elts={} align=wordx32 alias=<L, 0>", 2 * simd);
    vector(&mut text, "FD", "d", " alias=<F, 0>");
    let _ = writeln!(text, ".decl P1 v_type=P num_elts={simd}");
    text.push_str(".decl A v_type=G type=uq num_elts=1 align=qword\n.input A offset=64 size=8\n");
    text = text + ".function \"bytes_main\"\n" + &kernels::lane_numbers(simd);
    let m = format!("(M1, {simd})");
    let _ = writeln!(text, "shl {m} At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud");
    let _ = writeln!(text, "mul {m} N(0,0)<1> At(0,0)<1;1,0> {:#x}:d", 1 + 2 * r.below(1 << 20));
    let _ =
        writeln!(text, "add {m} From(0,0)<1> At(0,0)<1;1,0> A(0,0)<0;1,0>\nmov {m} L(0,0)<1> N(0,0)<1;1,0>");
    let mut stored = 0;
    store(&mut text, &m, "N", "d32", &mut stored);
    for k in 0..BYTES {
        let _ = writeln!(text, "mul {m} Y(0,0)<1> At(0,0)<1;1,0> {:#x}:d", 1 + 2 * r.below(5000));
        let _ = writeln!(text, "shr {m} Y(0,0)<1> Y(0,0)<1;1,0> 0x2:d");
        let _ = writeln!(text, "mov {m} S{k}(0,0)<1> Y(0,0)<1;1,0>");
    }
    for k in 0..WORDS {
        let _ =
            writeln!(text, "mov {m} W{k}(0,0)<1> {}{}(0,0)<1;1,0>", r.one_of(&["X", "S"]), r.below(BYTES));
    }
    for k in 0..TRUTHS {
        let _ = writeln!(text, "mov {m} Q{k}(0,0)<1> {}:w", r.one_of(&["0x0", "0xffff", "0x5a5a"]));
    }
    let _ = writeln!(text, "cmp.lt {m} P1 Y(0,0)<1;1,0> {:#x}:d", r.below(9000));
    // Some of it by some channels.
    let some = r.below(2) == 0;
    if some {
        let _ = writeln!(text, "({}P1) goto {m} behind", r.one_of(&["", "!"]));
    }
    for _ in 0..6 + r.below(16) {
        match r.below(2) {
            0 => statement(&mut r, &m, &mut text, &mut stored),
            _ => pattern(&mut r, &m, &mut text, &mut stored),
        }
    }
    if some {
        text.push_str("behind:\n");
    }
    // Not all are wanted in the end, so that there is something to leave out.
    for (name, count) in [("X", BYTES), ("W", WORDS), ("Q", TRUTHS)] {
        for k in 0..count {
            if r.below(3) != 0 {
                store(&mut text, &m, &format!("{name}{k}"), "d32", &mut stored);
            }
        }
    }
    store(&mut text, &m, "N", "d32", &mut stored);
    text.push_str("ret (M1, 1)\n");
    (text, stored)
}

#[test]
fn the_same_from_all() {
    for seed in 0..kernels::share(1000) {
        let simd = [16, 32][seed as usize % 2];
        let (text, stored) = program(seed, simd);
        let bytes = u64::from(4 * 32 * stored);
        let want = kernels::stored(&text, bytes, None);
        assert!(want.iter().any(|b| *b != 0), "it stores something");
        for engine in [Engine::Unoptimized, Engine::Native] {
            assert_eq!(
                want,
                kernels::stored(&text, bytes, Some(engine)),
                "program {seed}, {engine:?}:\n{text}"
            );
        }
    }
}
