//! Words of which only the lowest byte matters, in variables that are written once or twice, as compilers write them: bytes are
//! extended, words computed, compared and chosen from, and cut to bytes again, within a loop that carries some of them. Whoever
//! computes bytes instead leaves what the program, as it was written, leaves; also where something wants a word after all.

use std::fmt::Write as _;

use crate::kernels;
use crate::random::Random;
use envisa::Engine;

/// Bytes that are loaded, and words that the loop carries.
const BYTES: u32 = 4;
const CARRIED: u32 = 3;
/// Words and bytes that are written once, and dwords that are stored.
const WORDS: u32 = 24;
const CUT: u32 = 24;
const STORED: u32 = 40;

struct Writer {
    r: Random,
    m: String,
    out: String,
    words: u32,
    cut: u32,
    stored: u32,
}

impl Writer {
    /// An element for each channel that is there: a word, a byte, one byte for all, or a number.
    fn source(&mut self, kinds: &[&str]) -> String {
        let r = &mut self.r;
        match r.one_of(kinds) {
            "word" if self.words > 0 => {
                // Mostly new ones, as in chains.
                let k = self.words - 1 - r.below(self.words.min(4));
                format!("{}{k}(0,0)<1;1,0>", r.one_of(&["W", "W", "W", "U"]))
            }
            "word" | "carried" => format!("{}{}(0,0)<1;1,0>", r.one_of(&["C", "C", "CU"]), r.below(CARRIED)),
            "cut" if self.cut > 0 => {
                format!("{}{}(0,0)<1;1,0>", r.one_of(&["X", "S"]), BYTES + r.below(self.cut))
            }
            "cut" | "byte" => format!("{}{}(0,0)<1;1,0>", r.one_of(&["X", "X", "S"]), r.below(BYTES)),
            "one" => format!("{}{}(0,{})<0;1,0>", r.one_of(&["X", "S"]), r.below(BYTES), r.below(16)),
            "one word" => format!("C{}(0,{})<0;1,0>", r.below(CARRIED), r.below(16)),
            _ => {
                let number = r.one_of(&["0x1", "0x0", "0xff", "0x7f", "0x80", "0xffff", "0x103"]);
                format!("{number}:{}", r.one_of(&["w", "uw"]))
            }
        }
    }

    fn word(&mut self) -> String {
        // Where there are no more, or now and then, one that the loop carries.
        if self.words == WORDS || self.r.below(6) == 0 {
            return format!("{}{}", self.r.one_of(&["C", "CU"]), self.r.below(CARRIED));
        }
        self.words += 1;
        format!("{}{}", self.r.one_of(&["W", "W", "U"]), self.words - 1)
    }

    fn cut_to_byte(&mut self, from: &str) {
        if self.cut < CUT {
            let to = format!("{}{}", self.r.one_of(&["X", "S"]), BYTES + self.cut);
            self.cut += 1;
            let _ = writeln!(self.out, "mov {} {to}(0,0)<1> {from}", self.m);
        }
    }

    /// Wants a whole word, or the byte that is left of it.
    fn store(&mut self, from: &str) {
        if self.stored == STORED {
            return;
        }
        let (m, y) = (self.m.clone(), self.stored);
        self.stored += 1;
        let _ = writeln!(self.out, "mov {m} Y(0,0)<1> {from}");
        let _ = writeln!(self.out, "add {m} To(0,0)<1> From(0,0)<1;1,0> {:#x}:uq", 4 * 32 * y);
        let _ = writeln!(self.out, "lsc_store.ugm {m} flat[To]:a64 Y:d32");
    }

    /// A byte of bytes.
    fn byte(&mut self) {
        const ANY: [&str; 5] = ["byte", "cut", "cut", "one", "number"];
        let [a, b, c] = [&ANY[..3], &ANY, &ANY].map(|kinds| self.source(kinds));
        let b = if self.r.below(4) == 0 { a.clone() } else { b };
        let to = format!("{}{}", self.r.one_of(&["X", "S"]), BYTES + self.cut);
        self.cut += 1;
        let m = &self.m;
        let line = match self.r.below(4) {
            0 => format!("mul {m} {to}(0,0)<1> {a} {b}"),
            1 => format!("add {m} {to}(0,0)<1> {a} (abs){b}"),
            2 if self.r.below(2) == 0 => {
                self.cut -= 1;
                format!("cmp.{} {m} P1 {a} {b}", self.r.one_of(&["eq", "ne", "gt", "ge", "lt", "le"]))
            }
            _ => format!("mad {m} {to}(0,0)<1> {a} {b} {c}"),
        };
        // Numbers have no magnitude of their own.
        let _ = writeln!(self.out, "{}", line.replace("(abs)0x", "0x"));
    }

    fn statement(&mut self) {
        const ANY: [&str; 8] = ["word", "word", "word", "byte", "cut", "one", "one word", "number"];
        // `bfn` takes no bytes.
        const WIDE: [&str; 5] = ["word", "word", "word", "carried", "one word"];
        let m = self.m.clone();
        if self.cut < CUT && self.r.below(8) == 0 {
            return self.byte();
        }
        let kind = self.r.below(28);
        let (a, b, c) = match kind {
            0..6 => (self.source(&["byte", "cut", "cut", "one", "number"]), String::new(), String::new()),
            6..12 => (self.source(&["word", "carried"]), self.source(&ANY), self.source(&ANY)),
            _ => (self.source(&WIDE), self.source(&ANY), self.source(&WIDE)),
        };
        let to = self.word();
        let modified = |r: &mut Random, s: &str, all: &[&str]| match r.below(3) == 0 && !s.contains(':') {
            true => format!("{}{s}", r.one_of(all)),
            false => s.to_owned(),
        };
        let (signs, magnitudes) = (&["(-)", "(-)", "(abs)", "(-abs)"], &["(abs)"]);
        let relation = self.r.one_of(&["eq", "ne", "gt", "ge", "lt", "le"]);
        let line = match kind {
            0..6 => format!("mov {m} {to}(0,0)<1> {a}"),
            6 | 7 => {
                let [a, b] = [&a, &b].map(|s| modified(&mut self.r, s, signs));
                format!("add {m} {to}(0,0)<1> {a} {b}")
            }
            8 => {
                let [a, b] = [&a, &b].map(|s| modified(&mut self.r, s, &["(~)"]));
                format!("{} {m} {to}(0,0)<1> {a} {b}", self.r.one_of(&["and", "or", "xor"]))
            }
            9 => format!("not {m} {to}(0,0)<1> {a}"),
            10 => format!("{} {m} {to}(0,0)<1> {a} {b}", self.r.one_of(&["min", "max"])),
            11 => format!("({}P1) sel {m} {to}(0,0)<1> {a} {b}", self.r.one_of(&["", "!"])),
            12..16 => {
                let table = self.r.one_of(&["d8", "d8", "d8", "ca", "e8", "96", "1b"]);
                format!(
                    "cmp.{relation} {m} {to}(0,0)<1> {a} {b}\nbfn.x{table} {m} {to}(0,0)<1> {to}(0,0)<1;1,0> {a} {c}"
                )
            }
            16 => {
                let [a, b] = [&a, &b].map(|s| modified(&mut self.r, s, magnitudes));
                format!("cmp.{relation} {m} {to}(0,0)<1> {a} {b}")
            }
            17 => format!("bfn.xd8 {m} {to}(0,0)<1> {c} {} {}", "-1:w", "0x0:w"),
            18 => format!("({}P1) mov {m} {to}(0,0)<1> {a}", self.r.one_of(&["", "!"])),
            20 => format!("mov {m} {to}(0,0)<1> {}", modified(&mut self.r, &a, signs)),
            21 => {
                let all = [&a, &b, &c].map(|s| modified(&mut self.r, s, magnitudes));
                format!("mad {m} {to}(0,0)<1> {} {} {}", all[0], all[1], all[2])
            }
            22 => format!("mul {m} {to}(0,0)<1> {a} {b}"),
            // What bytes do not suffice for.
            19 => format!("{} {m} {to}(0,0)<1> {a} 0x3:w", self.r.one_of(&["shl", "mul", "shr", "asr"])),
            _ => {
                if self.r.below(3) == 0 {
                    self.store(&a);
                }
                format!("mov {m} {to}(0,0)<1> {a}")
            }
        };
        let _ = writeln!(self.out, "{line}");
        if self.r.below(2) == 0 {
            self.cut_to_byte(&format!("{to}(0,0)<1;1,0>"));
        }
        if self.r.below(12) == 0 {
            let other = self.source(&["number", "one word", "carried"]);
            let _ = writeln!(self.out, "cmp.{relation} {m} P1 {to}(0,0)<1;1,0> {other}");
        }
    }
}

fn declarations(simd: u32) -> String {
    let mut text = String::from(".version 3.6\n.kernel \"words\"\n.kernel_attr Target=\"cm\"\n");
    let _ = writeln!(text, ".kernel_attr SimdSize={simd}");
    let mut vector = |name: &str, ty: &str, alias: &str| {
        let _ = writeln!(text, ".decl {name} v_type=G type={ty} num_elts={simd} align=wordx32{alias}");
    };
    for k in 0..BYTES + CUT {
        vector(&format!("X{k}"), "ub", "");
        vector(&format!("S{k}"), "b", &format!(" alias=<X{k}, 0>"));
    }
    for (name, unsigned, count) in [("W", "U", WORDS), ("C", "CU", CARRIED)] {
        for k in 0..count {
            vector(&format!("{name}{k}"), "w", "");
            vector(&format!("{unsigned}{k}"), "uw", &format!(" alias=<{name}{k}, 0>"));
        }
    }
    let dwords = [("Lane", "uw"), ("At", "ud"), ("To", "uq"), ("From", "uq"), ("Y", "d")];
    dwords.iter().for_each(|(name, ty)| vector(name, ty, ""));
    let _ = writeln!(text, ".decl P1 v_type=P num_elts={simd}\n.decl P2 v_type=P num_elts=1");
    text.push_str(".decl Round v_type=G type=d num_elts=1 align=dword\n");
    text.push_str(".decl A v_type=G type=uq num_elts=1 align=qword\n.input A offset=64 size=8\n");
    text
}

fn program(seed: u64, simd: u32) -> (String, u32) {
    let m = format!("(M1, {simd})");
    let mut w = Writer { r: Random(seed), m: m.clone(), out: String::new(), words: 0, cut: 0, stored: 0 };
    w.out = declarations(simd) + ".function \"words_main\"\n" + &kernels::lane_numbers(simd);
    let _ = writeln!(w.out, "shl {m} At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud");
    let _ = writeln!(w.out, "add {m} From(0,0)<1> At(0,0)<1;1,0> A(0,0)<0;1,0>");
    for k in 0..BYTES {
        let _ = writeln!(w.out, "mul {m} Y(0,0)<1> At(0,0)<1;1,0> {:#x}:d", 1 + 2 * w.r.below(5000));
        let _ = writeln!(w.out, "shr {m} Y(0,0)<1> Y(0,0)<1;1,0> 0x2:d\nmov {m} S{k}(0,0)<1> Y(0,0)<1;1,0>");
    }
    let _ = writeln!(w.out, "cmp.lt {m} P1 Y(0,0)<1;1,0> {:#x}:d", w.r.below(9000));
    for k in 0..CARRIED {
        let number = format!("{:#x}:w", w.r.below(300));
        let byte = format!("{}{}(0,0)<1;1,0>", w.r.one_of(&["X", "S"]), w.r.below(BYTES));
        let from = if w.r.below(2) == 0 { number } else { byte };
        let _ = writeln!(w.out, "mov {m} C{k}(0,0)<1> {from}");
    }
    w.out.push_str("mov (M1, 1) Round(0,0)<1> 0x0:d\nagain:\n");
    // Some of it by some channels.
    let some = w.r.below(4) == 0;
    if some {
        let _ = writeln!(w.out, "(P1) goto {m} behind");
    }
    for _ in 0..8 + w.r.below(24) {
        w.statement();
    }
    if some {
        w.out.push_str("behind:\n");
    }
    w.out.push_str("add (M1, 1) Round(0,0)<1> Round(0,0)<0;1,0> 0x1:d\n");
    w.out.push_str("cmp.lt (M1, 1) P2 Round(0,0)<0;1,0> 0x3:d\n(P2) jmp (M1, 1) again\n");
    for k in 0..BYTES + w.cut {
        if w.r.below(3) != 0 {
            w.store(&format!("X{k}(0,0)<1;1,0>"));
        }
    }
    // A word that is wanted whole is none that becomes a byte: mostly none is.
    for k in 0..CARRIED {
        if w.r.below(4) == 0 {
            w.store(&format!("C{k}(0,0)<1;1,0>"));
        }
    }
    w.store("Lane(0,0)<1;1,0>");
    w.out.push_str("ret (M1, 1)\n");
    (w.out, w.stored)
}

#[test]
fn bytes_are_what_the_words_leave() {
    for seed in 0..kernels::share(1500) {
        let simd = [16, 32][seed as usize % 2];
        let (text, stored) = program(seed, simd);
        let bytes = u64::from(4 * 32 * stored);
        let want = kernels::stored(&text, bytes, None);
        assert!(want.iter().any(|b| *b != 0), "it stores something");
        for engine in [Engine::Unoptimized, Engine::Native] {
            let got = kernels::stored(&text, bytes, Some(engine));
            assert_eq!(want, got, "program {seed}, {engine:?}:\n{text}");
        }
    }
}
