//! Conditions joined in many ways, by compares, selections, predicates and branches, bytes picked out of dwords, and words:
//! native code, which makes such values where they are read, leaves what the interpreter leaves.

use std::fmt::Write as _;

use crate::kernels;
use crate::random::Random;
use envisa::Engine;

const BOTH: [Engine; 2] = [Engine::Unoptimized, Engine::Native];

/// Vectors of numbers, of words (every other one with signs), of truths, and predicates.
const NUMBERS: u32 = 4;
const WORDS: [&str; 4] = ["uw", "w", "uw", "w"];
const TRUTHS: u32 = 4;
const PREDICATES: u32 = 4;

/// One statement of the body.
fn statement(r: &mut Random, simd: u32, labels: &mut Vec<u32>, out: &mut String) {
    let (v, w) = (r.below(NUMBERS), r.below(NUMBERS));
    let (t, u) = (r.below(TRUTHS), r.below(TRUTHS));
    let (p, q) = (1 + r.below(PREDICATES), 1 + r.below(PREDICATES));
    let relation = r.one_of(&["eq", "ne", "gt", "ge", "lt", "le"]);
    let (not, minus) = (r.one_of(&["", "!"]), r.one_of(&["", "(-)"]));
    let number = r.below(12);
    let other = match r.below(2) {
        0 => format!("N{w}(0,0)<1;1,0>"),
        _ => format!("{number:#x}:d"),
    };
    let m = format!("(M1, {simd})");
    // Two vectors of words of one type.
    let (word, same) = (r.below(4), 2 * r.below(2));
    let (word, same) = (word, (word + same) % 4);
    let ty = WORDS[word as usize];
    let another = match r.below(2) {
        0 => format!("W{same}(0,0)<1;1,0>"),
        _ => format!("{:#x}:{ty}", r.one_of(&[0, 1, 5, 0xc, 0x7fff, 0xfffe])),
    };
    let _ = match r.below(20) {
        14 | 15 => writeln!(out, "add {m} W{word}(0,0)<1> W{same}(0,0)<1;1,0> {another}"),
        16 | 17 => writeln!(out, "cmp.{relation} {m} P{p} W{word}(0,0)<1;1,0> {another}"),
        18 => match r.below(2) {
            0 => writeln!(out, "mov {m} W{word}(0,0)<1> N{v}(0,0)<1;1,0>"),
            _ => writeln!(out, "mov {m} N{v}(0,0)<1> W{word}(0,0)<1;1,0>"),
        },
        0 if r.below(3) == 0 => {
            writeln!(out, "cmp.{relation} {m} QF{t}(0,0)<1> NF{v}(0,0)<1;1,0> NF{w}(0,0)<1;1,0>")
        }
        0 | 1 => writeln!(out, "cmp.{relation} {m} Q{t}(0,0)<1> N{v}(0,0)<1;1,0> {other}"),
        2 | 3 => writeln!(out, "cmp.{relation} {m} P{p} N{v}(0,0)<1;1,0> {other}"),
        4 => {
            let from = match r.below(5) {
                0 => format!("N{v}(0,0)<1;1,0>"),
                1 => format!("N{v}(0,{})<0;1,0>", r.below(8)),
                _ => format!("Q{u}(0,0)<1;1,0>"),
            };
            writeln!(out, "({not}P{p}) sel {m} Q{t}(0,0)<1> {minus}{from} 0x0:d")
        }
        5 => {
            let one = r.one_of(&["0x1:d", "0xffffffff:d"]);
            writeln!(out, "({not}P{p}) sel {m} Q{t}(0,0)<1> {one} {minus}Q{u}(0,0)<1;1,0>")
        }
        6 | 7 => writeln!(out, "cmp.{} {m} P{p} Q{t}(0,0)<1;1,0> 0x0:d", r.one_of(&["ne", "eq"])),
        8 => writeln!(out, "{} {m} P{p} P{p} P{q}", r.one_of(&["and", "or", "xor"])),
        9 => writeln!(out, "({not}P{p}) add {m} N{v}(0,0)<1> N{w}(0,0)<1;1,0> {number:#x}:d"),
        10 => writeln!(out, "({not}P{p}) sel {m} N{v}(0,0)<1> N{w}(0,0)<1;1,0> {number:#x}:d"),
        11 => {
            let byte = r.below(4);
            let _ = writeln!(out, "mov {m} X(0,0)<1> B{w}(0,{byte})<4;1,0>");
            if r.below(3) == 0 {
                let _ = writeln!(out, "add {m} N{w}(0,0)<1> N{w}(0,0)<1;1,0> 0x305:d");
            }
            writeln!(out, "add {m} N{v}(0,0)<1> N{v}(0,0)<1;1,0> X(0,0)<1;1,0>")
        }
        // Bytes of dwords and into dwords, by way of vectors of bytes.
        12 | 13 => {
            let byte = r.below(4);
            let _ = writeln!(out, "mov {m} X(0,0)<1> N{w}(0,0)<1;1,0>");
            if r.below(4) == 0 {
                let _ = writeln!(out, "add {m} N{w}(0,0)<1> N{w}(0,0)<1;1,0> 0x305:d");
            }
            let from = match r.below(2) {
                0 => "X",
                _ => {
                    let _ = writeln!(out, "mov {m} Z(0,0)<1> X(0,0)<1;1,0>");
                    "Z"
                }
            };
            writeln!(out, "mov {m} B{v}(0,{byte})<4> {from}(0,0)<1;1,0>")
        }
        _ => {
            let label = labels.len() as u32;
            labels.push(2 + r.below(6));
            writeln!(out, "({not}P{p}) goto {m} L{label}")
        }
    };
}

/// A program of so many statements, and how many vectors it stores.
fn program(seed: u64, simd: u32) -> (String, u32) {
    let mut r = Random(seed);
    let mut text = String::from(".version 3.6\n.kernel \"truths\"\n.kernel_attr Target=\"cm\"\n");
    let _ = writeln!(text, ".kernel_attr SimdSize={simd}");
    let vector = |text: &mut String, name: &str, ty: &str| {
        let _ = writeln!(text, ".decl {name} v_type=G type={ty} num_elts={simd} align=wordx32");
    };
    for k in 0..NUMBERS {
        vector(&mut text, &format!("N{k}"), "d");
        let bytes = 4 * simd;
        let _ = writeln!(text, ".decl B{k} v_type=G type=ub num_elts={bytes} align=wordx32 alias=<N{k}, 0>");
    }
    (0..TRUTHS).for_each(|k| vector(&mut text, &format!("Q{k}"), "d"));
    for (name, of) in [("QF", "Q"), ("NF", "N")] {
        for k in 0..NUMBERS.max(TRUTHS) {
            let _ = writeln!(text, ".decl {name}{k} v_type=G type=f num_elts={simd} alias=<{of}{k}, 0>");
        }
    }
    (0..).zip(WORDS).for_each(|(k, ty)| vector(&mut text, &format!("W{k}"), ty));
    for (name, ty) in [("Lane", "uw"), ("At", "ud"), ("To", "uq"), ("X", "ub"), ("Z", "ub"), ("Y", "d")] {
        vector(&mut text, name, ty);
    }
    for k in 1..=PREDICATES {
        let _ = writeln!(text, ".decl P{k} v_type=P num_elts={simd}");
    }
    text.push_str(".decl A v_type=G type=uq num_elts=1 align=qword\n.input A offset=64 size=8\n");
    text = text + ".function \"truths_main\"\n" + &kernels::lane_numbers(simd);
    let m = format!("(M1, {simd})");
    let _ = writeln!(text, "shl {m} At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud");
    for k in 0..NUMBERS {
        let (by, and) = (1 + 2 * r.below(500), r.one_of(&[7, 15, 0xfff]));
        let _ = writeln!(text, "mul {m} N{k}(0,0)<1> At(0,0)<1;1,0> {by:#x}:d");
        let _ = writeln!(text, "and {m} N{k}(0,0)<1> N{k}(0,0)<1;1,0> {and:#x}:d");
    }
    for k in 0..WORDS.len() {
        let _ = writeln!(text, "mov {m} W{k}(0,0)<1> N{k}(0,0)<1;1,0>");
    }
    for k in 0..TRUTHS {
        let _ = writeln!(text, "cmp.gt {m} Q{k}(0,0)<1> N{k}(0,0)<1;1,0> 0x3:d");
    }
    for k in 1..=PREDICATES {
        let _ = writeln!(text, "cmp.lt {m} P{k} N{}(0,0)<1;1,0> 0x6:d", k - 1);
    }
    let mut labels: Vec<u32> = Vec::new();
    let mut bound = 0;
    for _ in 0..10 + r.below(30) {
        statement(&mut r, simd, &mut labels, &mut text);
        // Branches end in the order in which they begin.
        if let Some(left) = labels.get_mut(bound) {
            *left -= 1;
            if *left == 0 {
                let _ = writeln!(text, "L{bound}:");
                bound += 1;
            }
        }
    }
    (bound..labels.len()).for_each(|l| {
        let _ = writeln!(text, "L{l}:");
    });
    let mut stored = 0;
    let mut store = |text: &mut String, name: &str| {
        let _ = writeln!(text, "add {m} To(0,0)<1> At(0,0)<1;1,0> A(0,0)<0;1,0>");
        let _ = writeln!(text, "add {m} To(0,0)<1> To(0,0)<1;1,0> {:#x}:uq", 4 * simd * stored);
        let _ = writeln!(text, "lsc_store.ugm {m} flat[To]:a64 {name}:d32");
        stored += 1;
    };
    (0..NUMBERS).for_each(|k| store(&mut text, &format!("N{k}")));
    for k in 0..WORDS.len() {
        let _ = writeln!(text, "mov {m} Y(0,0)<1> W{k}(0,0)<1;1,0>");
        store(&mut text, "Y");
    }
    (0..TRUTHS).for_each(|k| store(&mut text, &format!("Q{k}")));
    for k in 1..=PREDICATES {
        let _ = writeln!(text, "(P{k}) sel {m} Y(0,0)<1> 0x1:d 0x0:d");
        store(&mut text, "Y");
    }
    text.push_str("ret (M1, 1)\n");
    (text, stored)
}

#[test]
fn the_same_from_both() {
    for seed in 0..400 {
        let simd = [16, 32][seed as usize % 2];
        let (text, stored) = program(seed, simd);
        let bytes = u64::from(4 * simd * stored);
        let [want, got] = BOTH.map(|e| kernels::stored(&text, bytes, Some(e)));
        assert!(want.iter().any(|b| *b != 0), "it stores something");
        assert_eq!(want, got, "program {seed}:\n{text}");
    }
}

/// The beginning of a program of 32 channels that stores one vector: their numbers `Lane` in a type, and what they are
/// multiplied with four.
fn beginning(ty: &str) -> String {
    let mut text = String::from(
        ".version 3.6\n.kernel \"truths\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=32\n\
         .decl P v_type=P num_elts=32\n.decl Q v_type=P num_elts=32\n\
         .decl A v_type=G type=uq num_elts=1 align=qword\n.input A offset=64 size=8\n",
    );
    let vectors = [("Lane", ty), ("W", "w"), ("B", "b"), ("Y", "d"), ("N", "d"), ("At", "ud"), ("To", "uq")];
    for (name, ty) in vectors {
        let _ = writeln!(text, ".decl {name} v_type=G type={ty} num_elts=32 align=wordx32");
    }
    text + ".function \"truths_main\"\n"
        + &kernels::lane_numbers(32)
        + "shl (M1, 32) At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud\n\
           add (M1, 32) To(0,0)<1> At(0,0)<1;1,0> A(0,0)<0;1,0>\n"
}

/// Runs a program of such a beginning with both engines; what `Y` is at the end.
fn stored(text: &str) -> Vec<i32> {
    let text = format!("{text}lsc_store.ugm (M1, 32) flat[To]:a64 Y:d32\nret (M1, 1)\n");
    let [want, got] = BOTH.map(|e| kernels::stored(&text, 128, Some(e)));
    assert_eq!(want, got, "{text}");
    got.chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// What writes some bits of a predicate leaves the others, which a compare of all channels made for one reader.
#[test]
fn predicates_written_in_parts() {
    // How many channels from which on, and what they get.
    let mut parts: Vec<(String, u32, u32, bool)> = Vec::new();
    for (n, first) in [(1, 0), (1, 4), (1, 16), (4, 8), (8, 0), (8, 24), (16, 0), (16, 16)] {
        let m = format!("(M{}_NM, {n})", first / 4 + 1);
        parts.push((format!("cmp.gt {m} P At(0,0)<0;1,0> At(0,0)<0;1,0>"), n, first, false));
        parts.push((format!("cmp.eq {m} P At(0,0)<0;1,0> At(0,0)<0;1,0>"), n, first, true));
        parts.push((format!("setp {m} P 0xffffffff:ud"), n, first, true));
        parts.push((format!("setp {m} P 0x0:ud"), n, first, false));
        parts.push((format!("and {m} P P Q"), n, first, false));
    }
    let readers = [
        "(P) add (M1, 32) N(0,0)<1> N(0,0)<1;1,0> 0x1:d\n",
        "(P) sel (M1, 32) N(0,0)<1> 0x7:d At(0,0)<1;1,0>\n",
        "(P) goto (M1, 32) over\nmov (M1, 32) N(0,0)<1> 0x2:d\nover:\n",
    ];
    for (part, n, first, gets) in &parts {
        for reader in readers {
            let text = format!(
                "{}setp (M1_NM, 32) P 0x45d757d2:ud\nsetp (M1_NM, 32) Q 0x0:ud\nmov (M1, 32) N(0,0)<1> 0x0:d\n\
                 cmp.lt (M1, 32) P At(0,0)<1;1,0> 0x44:d\n{reader}{part}\n(P) sel (M1, 32) Y(0,0)<1> 0x1:d 0x0:d\n",
                beginning("uw")
            );
            let want = |k: u32| match (*first..first + n).contains(&k) {
                true => i32::from(*gets),
                false => i32::from(4 * k < 0x44),
            };
            assert_eq!(stored(&text), (0..32).map(want).collect::<Vec<_>>(), "{text}");
        }
    }
}

/// Numbers of channels are known before a program runs, and nobody makes them: compares of them as the narrow elements
/// that they are find them all the same, and instructions that write what they read go by that.
#[test]
fn compares_of_known_elements() {
    for (ty, number) in [("uw", "uw"), ("w", "w"), ("ub", "uw"), ("b", "w"), ("ud", "ud")] {
        for (place, cut) in [("W", 2), ("B", 17), ("N", 31), ("W", 16)] {
            for op in [
                format!("(P) sel (M1, 32) {place}(0,0)<1> 0x0:w {place}(0,0)<1;1,0>"),
                format!("(!P) sel (M1, 32) {place}(0,0)<1> {place}(0,0)<1;1,0> 0x0:w"),
                format!("(P) mov (M1, 32) {place}(0,0)<1> 0x0:w"),
                format!("(P) and (M1, 32) {place}(0,0)<1> {place}(0,0)<1;1,0> 0x0:w"),
            ] {
                let text = format!(
                    "{}add (M1, 32) {place}(0,0)<1> At(0,0)<1;1,0> 0x1:d\n\
                     cmp.lt (M1, 32) P Lane(0,0)<1;1,0> {cut:#x}:{number}\n{op}\n\
                     mov (M1, 32) Y(0,0)<1> {place}(0,0)<1;1,0>\n",
                    beginning(ty)
                );
                let want = |k: i32| if k < cut { 0 } else { 4 * k + 1 };
                assert_eq!(stored(&text), (0..32).map(want).collect::<Vec<_>>(), "{text}");
            }
        }
    }
}
