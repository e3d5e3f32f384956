//! Rows of bytes and words that are loaded, put side by side, computed with, spread again and stored, as compilers write it:
//! whoever moves them as they are leaves what the interpreter leaves, and faults where it faults. Some rows reach past the
//! buffer's end, some are of other places, by some channels, or read once more as dwords.

use std::fmt::Write as _;

use crate::kernels;
use crate::random::Random;
use envisa::Engine;
use envisa::isa::Platform;

const VECTORS: u32 = 4;
/// Bytes of the buffer: what is stored begins in the middle.
const BYTES: u32 = 4096;

struct Writer {
    r: Random,
    m: String,
    out: String,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.out += &line.replace("{m}", &self.m);
        self.out.push('\n');
    }

    /// Addresses of elements of so many bytes, mostly side by side: from a place that moves in each round.
    fn addresses(&mut self, size: u32, from: u32) {
        let step = self.r.one_of(&[1, 1, 1, 1, 1, 1, 2, 3]) * size;
        let _ = writeln!(self.out, "mul {} I(0,0)<1> Lane(0,0)<1;1,0> {step:#x}:uw", self.m);
        let from = from + size * self.r.below(40);
        let _ = writeln!(self.out, "mad {} I(0,0)<1> Round(0,0)<0;1,0> Step(0,0)<0;1,0> I(0,0)<1;1,0>", self.m);
        let _ = writeln!(self.out, "add {} I(0,0)<1> I(0,0)<1;1,0> {from:#x}:d", self.m);
        self.line("mov {m} Q(0,0)<1> I(0,0)<1;1,0>\nadd {m} At(0,0)<1> Q(0,0)<1;1,0> A(0,0)<0;1,0>");
    }

    /// Something between a message and its move, now and then.
    fn between(&mut self) {
        if self.r.below(8) == 0 {
            self.line("add {m} N(0,0)<1> N(0,0)<1;1,0> 0x5:d");
        }
    }

    fn load(&mut self) {
        let k = self.r.below(VECTORS);
        let size = 1 + self.r.below(2);
        self.addresses(size, 0);
        let on = self.r.one_of(&["", "", "", "", "(P1) "]);
        let _ = writeln!(self.out, "{on}lsc_load.ugm {} L{k}:d{}c32 flat[At]:a64", self.m, 8 * size);
        self.between();
        let moves: &[&str] = match size {
            1 => &["B# LB#(0,0)<4;1,0>", "S# LB#(0,0)<4;1,0>", "B# LB#(0,1)<4;1,0>", "W# LB#(0,0)<4;1,0>", "B# L#(0,0)<1;1,0>"],
            _ => &["W# LW#(0,0)<2;1,0>", "W# LW#(0,0)<2;1,0>", "W# LW#(0,1)<2;1,0>", "B# LW#(0,0)<2;1,0>", "W# L#(0,0)<1;1,0>"],
        };
        let one = self.r.one_of(moves).replace('#', &k.to_string());
        let (to, from) = one.split_once(' ').expect("two operands");
        let _ = writeln!(self.out, "mov {} {to}(0,0)<1> {from}", self.m);
        if self.r.below(6) == 0 {
            let _ = writeln!(self.out, "xor {} N(0,0)<1> N(0,0)<1;1,0> L{k}(0,0)<1;1,0>", self.m);
        }
    }

    fn store(&mut self) {
        let (k, d) = (self.r.below(VECTORS), self.r.below(VECTORS));
        let size = 1 + self.r.below(2);
        self.addresses(size, BYTES / 2);
        let moves: &[&str] = match size {
            1 => &["DB(0,0)<4> B#", "DB(0,0)<4> S#", "D(0,0)<1> B#", "DB(0,1)<4> B#", "D(0,0)<1> W#"],
            _ => &["DW(0,0)<2> W#", "D(0,0)<1> W#", "D(0,0)<1> U#", "DW(0,1)<2> W#", "D(0,0)<1> B#"],
        };
        let one = self.r.one_of(moves).replace('#', &k.to_string()).replace('D', &format!("D{d}"));
        let one = one.replace(&format!("D{d}B"), &format!("DB{d}")).replace(&format!("D{d}W"), &format!("DW{d}"));
        let _ = writeln!(self.out, "mov {} {one}(0,0)<1;1,0>", self.m);
        self.between();
        let on = self.r.one_of(&["", "", "", "", "(P1) "]);
        let _ = writeln!(self.out, "{on}lsc_store.ugm {} flat[At]:a64 D{d}:d{}c32", self.m, 8 * size);
        if self.r.below(6) == 0 {
            let _ = writeln!(self.out, "xor {} N(0,0)<1> N(0,0)<1;1,0> D{d}(0,0)<1;1,0>", self.m);
        }
    }

    fn compute(&mut self) {
        let (a, b) = (self.r.below(VECTORS), self.r.below(VECTORS));
        let v = self.r.one_of(&["B", "W", "S"]);
        let op = self.r.one_of(&["add", "add", "min", "max"]);
        let _ = writeln!(self.out, "{op} {} {v}{a}(0,0)<1> {v}{a}(0,0)<1;1,0> {v}{b}(0,0)<1;1,0>", self.m);
    }
}

fn program(seed: u64, simd: u32) -> String {
    let mut text = String::from(".version 3.6\n.kernel \"rows\"\n.kernel_attr Target=\"cm\"\n");
    let _ = writeln!(text, ".kernel_attr SimdSize={simd}");
    let mut vector = |name: &str, ty: &str, elements: u32, alias: &str| {
        let _ = writeln!(text, ".decl {name} v_type=G type={ty} num_elts={elements} align=wordx32{alias}");
    };
    for k in 0..VECTORS {
        vector(&format!("B{k}"), "ub", simd, "");
        vector(&format!("S{k}"), "b", simd, &format!(" alias=<B{k}, 0>"));
        vector(&format!("W{k}"), "w", simd, "");
        vector(&format!("U{k}"), "uw", simd, &format!(" alias=<W{k}, 0>"));
        for v in ["L", "D"] {
            vector(&format!("{v}{k}"), "d", simd, "");
            vector(&format!("{v}B{k}"), "ub", 4 * simd, &format!(" alias=<{v}{k}, 0>"));
            vector(&format!("{v}W{k}"), "uw", 2 * simd, &format!(" alias=<{v}{k}, 0>"));
        }
    }
    let others = [("Lane", "uw"), ("I", "d"), ("Q", "q"), ("At", "uq"), ("N", "d")];
    others.iter().for_each(|(name, ty)| vector(name, ty, simd, ""));
    let _ = writeln!(text, ".decl P1 v_type=P num_elts={simd}\n.decl P2 v_type=P num_elts=1");
    text.push_str(".decl Round v_type=G type=d num_elts=1 align=dword\n.decl Step v_type=G type=d num_elts=1 align=dword\n");
    text.push_str(".decl A v_type=G type=uq num_elts=1 align=qword\n.input A offset=64 size=8\n.function \"rows_main\"\n");
    text += &kernels::lane_numbers(simd);
    let mut w = Writer { r: Random(seed), m: format!("(M1, {simd})"), out: text };
    // What is loaded first.
    w.line("mul {m} N(0,0)<1> Lane(0,0)<1;1,0> 0x10305:d");
    for k in 0..16 {
        let _ = writeln!(w.out, "mul {} I(0,0)<1> Lane(0,0)<1;1,0> 0x4:uw", w.m);
        let _ = writeln!(w.out, "add {} I(0,0)<1> I(0,0)<1;1,0> {:#x}:d", w.m, 4 * simd * k);
        w.line("mov {m} Q(0,0)<1> I(0,0)<1;1,0>\nadd {m} At(0,0)<1> Q(0,0)<1;1,0> A(0,0)<0;1,0>");
        w.line("lsc_store.ugm {m} flat[At]:a64 N:d32\nmul {m} N(0,0)<1> N(0,0)<1;1,0> 0x21:d");
    }
    for k in 0..VECTORS {
        let _ = writeln!(w.out, "mov {} B{k}(0,0)<1> Lane(0,0)<1;1,0>\nmov {} W{k}(0,0)<1> Lane(0,0)<1;1,0>", w.m, w.m);
    }
    let _ = writeln!(w.out, "cmp.lt {} P1 Lane(0,0)<1;1,0> {:#x}:w", w.m, w.r.below(simd + 1));
    // A row in a hundred or so leaves the buffer, in the last rounds.
    let step = w.r.one_of(&[0, 2, 64, 64, 64, 700]);
    let _ = writeln!(w.out, "mov (M1, 1) Step(0,0)<1> {step:#x}:d\nmov (M1, 1) Round(0,0)<1> 0x0:d\nagain:");
    let some = w.r.below(5) == 0;
    if some {
        w.line("(P1) goto {m} behind");
    }
    for _ in 0..4 + w.r.below(10) {
        match w.r.below(5) {
            0 | 1 => w.load(),
            2 | 3 => w.store(),
            _ => w.compute(),
        }
    }
    if some {
        w.out.push_str("behind:\n");
    }
    w.out.push_str("add (M1, 1) Round(0,0)<1> Round(0,0)<0;1,0> 0x1:d\n");
    w.out.push_str("cmp.lt (M1, 1) P2 Round(0,0)<0;1,0> 0x4:d\n(P2) jmp (M1, 1) again\n");
    w.line("mul {m} I(0,0)<1> Lane(0,0)<1;1,0> 0x4:uw\nmov {m} Q(0,0)<1> I(0,0)<1;1,0>");
    w.line("add {m} At(0,0)<1> Q(0,0)<1;1,0> A(0,0)<0;1,0>\nlsc_store.ugm {m} flat[At]:a64 N:d32\nret (M1, 1)");
    w.out
}

#[test]
fn rows_of_bytes_and_words_are_the_interpreters() {
    let mut faults = 0;
    for seed in 0..1500 {
        let text = program(seed, [32, 32, 16][seed as usize % 3]);
        let run = |engine| kernels::left_and_listing(&text, Platform::Pvc, engine, BYTES);
        let ((want, fault), _) = run(Engine::Interpreter);
        let ((got, native), _) = run(Engine::Native);
        assert_eq!(fault, native, "program {seed}:\n{text}");
        assert_eq!(want, got, "program {seed}:\n{text}");
        faults += u32::from(fault.is_some());
    }
    assert!((20..1000).contains(&faults), "{faults} of 1500 leave the buffer");
}
