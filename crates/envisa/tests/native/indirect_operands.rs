//! Operands that are found by address registers: native code does what the interpreter does, for all types, regions,
//! masks and sizes, and where an address is outside of every variable. And native code does it, rather than the interpreter for it.

use std::fmt::Write as _;

use crate::kernels::{left_and_listing, only_kernel};
use crate::random::Dice;
use envisa::isa::Platform;
use envisa::lower::{Dst, Inst};
use envisa::{Config, Device, Engine, internals};

/// Variables that addresses name: name, and rows of 64 bytes.
const ARRAYS: [(&str, u32); 6] = [("B0", 4), ("B1", 3), ("B2", 5), ("B3", 1), ("B4", 2), ("Big", 48)];
/// Rows of them and of the vectors that are looked at afterwards.
const ROWS: u32 = 4 + 3 + 5 + 1 + 2 + 7 * 2;

/// A type, its bytes, and the vector of it.
const TYPES: [(&str, u32, &str); 11] = [
    ("d", 4, "Vd"),
    ("ud", 4, "Vud"),
    ("w", 2, "Vw"),
    ("uw", 2, "Vuw"),
    ("b", 1, "Vb"),
    ("ub", 1, "Vub"),
    ("f", 4, "Vf"),
    ("hf", 2, "Vhf"),
    ("q", 8, "Vq"),
    ("uq", 8, "Vuq"),
    ("df", 8, "Vdf"),
];

struct Maker {
    dice: Dice,
    text: String,
    /// Bytes of a register.
    grf: u32,
    simd: u32,
    large: bool,
    parted: bool,
    labels: u32,
}

impl Maker {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    fn begin(&mut self) {
        let simd = self.simd;
        self.line(&format!(
            ".version 3.6\n.kernel \"pointed\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize={simd}"
        ));
        for (name, rows) in ARRAYS {
            self.line(&format!(".decl {name} v_type=G type=ud num_elts={} align=wordx32", 16 * rows));
        }
        for k in 0..16 {
            self.line(&format!(".decl Q{k} v_type=P num_elts=32"));
        }
        // Vectors of all types share the bytes of seven of 128 bytes.
        for (k, name) in ["R0", "R1", "R2", "R3", "R4", "R5", "R6"].iter().enumerate() {
            self.line(&format!(".decl {name} v_type=G type=ud num_elts=32 align=wordx32"));
            for h in 0..2 {
                self.line(&format!(
                    ".decl D{}_{h} v_type=G type=ud num_elts=16 alias=<{name}, {}>",
                    20 + k,
                    64 * h
                ));
            }
        }
        for (k, (ty, size, name)) in TYPES.iter().enumerate() {
            let root = [0, 0, 1, 1, 2, 2, 3, 4, 5, 5, 6][k];
            self.line(&format!(".decl {name} v_type=G type={ty} num_elts={} alias=<R{root}, 0>", 128 / size));
        }
        for (k, (name, rows)) in ARRAYS.iter().enumerate().take(5) {
            for row in 0..*rows {
                self.line(&format!(
                    ".decl D{k}_{row} v_type=G type=ud num_elts=16 alias=<{name}, {}>",
                    64 * row
                ));
            }
        }
        self.line(
            "\
.decl Lane v_type=G type=uw num_elts=32 align=wordx32
.decl Off v_type=G type=uw num_elts=32 align=wordx32
.decl N v_type=G type=ud num_elts=16 align=wordx32
.decl L v_type=G type=ud num_elts=16 align=wordx32
.decl To v_type=G type=uq num_elts=16 align=wordx32
.decl Y v_type=G type=ud num_elts=16 align=wordx32
.decl W v_type=G type=uw num_elts=1
.decl P v_type=P num_elts=32
.decl Q v_type=P num_elts=32
.decl A0 v_type=A num_elts=1
.decl A1 v_type=A num_elts=1
.decl A2 v_type=A num_elts=16
.decl A3 v_type=A num_elts=16
.decl A v_type=G type=uq num_elts=1 align=qword
.input A offset=64 size=8
.function \"pointed_main\"
mov (M1_NM, 8) Lane(0,0)<1> 0x76543210:v
add (M1_NM, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw
mov (M1_NM, 16) L(0,0)<1> Lane(0,0)<1;1,0>
mul (M1_NM, 16) N(0,0)<1> L(0,0)<1;1,0> 0x9e3779b1:ud",
        );
        // Denormals stay, or do not; in some programs results are rounded otherwise.
        let mode = self.dice.pick(&[0x4c0, 0x4c0, 0x4c0, 0, 0x4d0, 0x4e0, 0x30]);
        self.line(&format!("or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x{mode:x}:ud"));
        for (k, (_, rows)) in ARRAYS.iter().enumerate().take(5) {
            for row in 0..*rows {
                self.fill(&format!("D{k}_{row}"));
            }
        }
        for k in 20..27 {
            for h in 0..2 {
                self.fill(&format!("D{k}_{h}"));
            }
        }
        for a in ["A0", "A1"] {
            self.address(a, false);
        }
        for a in ["A2", "A3"] {
            self.address(a, true);
        }
        self.line("and (M1_NM, 16) Y(0,0)<1> N(0,0)<1;1,0> 0x70000:ud");
        let m = if self.simd == 32 { 32 } else { 16 };
        let bits = self.dice.next() as u32;
        self.line(&format!("setp (M1_NM, {m}) P 0x{bits:x}:ud"));
    }

    fn fill(&mut self, row: &str) {
        let add = self.dice.next() as u32;
        self.line(&format!("add (M1_NM, 16) {row}(0,0)<1> N(0,0)<1;1,0> 0x{add:x}:ud"));
        // Numbers as people have them, in singles, too.
        self.line(&format!("and (M1_NM, 16) {row}(0,0)<1> {row}(0,0)<1;1,0> 0x47ff47ff:ud"));
    }

    /// Lets an address register point into an array; seldom past its end.
    fn address(&mut self, a: &str, vector: bool) {
        let (name, rows) = self.dice.pick(&ARRAYS[..if self.large { 6 } else { 5 }]);
        let bytes = 64 * rows;
        let first = match self.dice.below(40) {
            0 => self.dice.below(0x1_0000) as u32,
            1..=5 => bytes - 64 + self.dice.below(60) as u32 * u32::from(vector),
            _ => self.dice.below(u64::from(bytes.saturating_sub(160)) + 1) as u32,
        };
        if !vector {
            self.line(&format!("mov (M1_NM, 1) W(0,0)<1> 0x{first:x}:uw"));
            self.line(&format!("addr_add (M1_NM, 1) {a}(0)<1> &{name} W(0,0)<0;1,0>"));
            return;
        }
        let step = self.dice.pick(&[0, 1, 2, 3, 4, 8]);
        // What is made by shifts is known before the program runs, what is made by products is not.
        if step != 0 && step & (step - 1) == 0 && self.dice.below(2) == 0 {
            let by = u32::trailing_zeros(step);
            self.line(&format!("shl (M1_NM, 16) Off(0,0)<1> Lane(0,0)<1;1,0> 0x{by:x}:uw"));
        } else {
            self.line(&format!("mul (M1_NM, 16) Off(0,0)<1> Lane(0,0)<1;1,0> 0x{step:x}:uw"));
        }
        let mixed = self.dice.pick(&[0, 1, 2, 3, 4, 4, 7, 8, 12, 32, 60]);
        self.line(&format!("xor (M1_NM, 16) Off(0,0)<1> Off(0,0)<1;1,0> 0x{mixed:x}:uw"));
        self.line(&format!("add (M1_NM, 16) Off(0,0)<1> Off(0,0)<1;1,0> 0x{first:x}:uw"));
        self.line(&format!("addr_add (M1_NM, 16) {a}(0)<1> &{name} Off(0,0)<1;1,0>"));
    }

    /// A mask and size for elements of so many bytes.
    fn exec(&mut self, size: u32) -> (String, u32) {
        let most = (2 * self.grf / size).min(self.simd);
        let n = loop {
            let n = self.dice.pick(&[1, 2, 4, 8, 16, 16, 32, 32]);
            if n <= most {
                break n;
            }
        };
        let first = match n {
            8 | 16 if self.dice.below(3) == 0 => n * self.dice.below(u64::from(self.simd / n)) as u32,
            _ => 0,
        };
        let nm = if n < 8 || self.dice.below(3) == 0 { "_NM" } else { "" };
        (format!("(M{}{nm}, {n})", first / 4 + 1), n)
    }

    fn pointed(&mut self, ty: &str, size: u32, n: u32) -> String {
        let imm = self.dice.pick(&[0, 0, 4, 8, 24, -8, 1]) * size as i64;
        let vector = self.dice.below(2) == 0 && n <= 16;
        if vector {
            // One address a channel, or for each row.
            let w = self.dice.pick(&[1, 1, 1, 2, 4, 8]);
            let region = if w > 1 && w < n { format!("<{w},1>") } else { "<1,0>".into() };
            let a = self.dice.pick(&["A2", "A3"]);
            return format!("r[{a}(0),{imm}]{region}:{ty}");
        }
        let a = match self.dice.below(4) {
            0 => format!("A2({})", self.dice.below(16)),
            1 => "A1(0)".into(),
            _ => "A0(0)".into(),
        };
        let region = match n {
            1 => "<0;1,0>",
            _ if n * size <= self.grf => {
                self.dice.pick(&["<1;1,0>", "<1;1,0>", "<0;1,0>", "<2;1,0>", "<4;2,1>"])
            }
            _ => self.dice.pick(&["<1;1,0>", "<1;1,0>", "<0;1,0>"]),
        };
        format!("r[{a},{imm}]{region}:{ty}")
    }

    fn step(&mut self) {
        match self.dice.below(14) {
            0 => {
                let (a, vector) = self.dice.pick(&[("A0", false), ("A1", false), ("A2", true), ("A3", true)]);
                return self.address(a, vector);
            }
            1 if !self.parted => {
                self.labels += 1;
                let l = format!("l{}", self.labels);
                let (m, bits) = (self.simd, self.dice.next() as u32);
                self.line(&format!("setp (M1_NM, {m}) Q 0x{bits:x}:ud"));
                self.line(&format!("(Q) goto (M1, {m}) {l}"));
                self.parted = true;
                for _ in 0..1 + self.dice.below(4) {
                    self.step();
                }
                self.parted = false;
                self.line(&format!("{l}:"));
                return;
            }
            // A shuffle.
            2 => {
                let (a, of) = (self.dice.pick(&["A2", "A3"]), self.dice.pick(&["", "_NM"]));
                let imm = self.dice.pick(&[0, 0, 4, 64]);
                return self.line(&format!("mov (M1{of}, 16) Vud(0,0)<1> r[{a}(0),{imm}]<1,0>:ud"));
            }
            3 => return self.by_channel(),
            _ => {}
        }
        // Integers mix; other types keep to themselves.
        let kind = self.dice.below(10);
        let types = match kind {
            0..=5 => &TYPES[..6],
            6 | 7 => &TYPES[6..7],
            8 => &TYPES[7..8],
            _ => self.dice.pick(&[&TYPES[8..9], &TYPES[9..10]]),
        };
        let (to, from, with) = (self.dice.pick(types), self.dice.pick(types), self.dice.pick(types));
        let size = to.1.max(from.1).max(with.1);
        let (exec, n) = self.exec(size);
        let plain =
            |t: (&str, u32, &str)| format!("{}(0,0){}", t.2, if n == 1 { "<0;1,0>" } else { "<1;1,0>" });
        let op = match kind {
            0..=5 => self.dice.pick(&["mov", "mov", "mov", "add", "and", "xor", "sel", "cmp.lt"]),
            6 | 7 => self.dice.pick(&["mov", "add", "mul", "sel"]),
            8 => "mov",
            _ => self.dice.pick(&["mov", "add", "xor"]),
        };
        let a = if self.dice.below(4) == 0 { plain(from) } else { self.pointed(from.0, from.1, n) };
        let b = match (op, self.dice.below(2)) {
            ("mov", _) => String::new(),
            (_, 0) => plain(with),
            _ => self.pointed(with.0, with.1, n),
        };
        let guard = match self.dice.below(3) {
            _ if op == "sel" => "(P) ",
            0 if n >= 8 && op != "cmp.lt" => self.dice.pick(&["(P) ", "(!P) "]),
            _ => "",
        };
        let sat = if op == "mov" && kind < 6 && self.dice.below(6) == 0 { ".sat" } else { "" };
        let d = if op == "cmp.lt" {
            if n < 8 {
                return;
            }
            "P".into()
        } else if self.dice.below(2) == 0 {
            format!("{}(0,0)<1>", to.2)
        } else {
            let a = match self.dice.below(3) {
                0 => format!("A3({})", self.dice.below(16)),
                _ => self.dice.pick(&["A0(0)", "A1(0)"]).into(),
            };
            let stride = if n * to.1 <= self.grf { self.dice.pick(&[1, 1, 2]) } else { 1 };
            format!("r[{a},{}]<{stride}>:{}", self.dice.pick(&[0, 8, 16]), to.0)
        };
        self.line(&format!("{guard}{op}{sat} {exec} {d} {a} {b}"));
    }

    /// A move for each channel, to where its own address points: as compilers store to a private array by an index. Now and
    /// then one of them is not like the others.
    fn by_channel(&mut self) {
        let (ty, _, name) = self.dice.pick(&TYPES[..7]);
        let n = self.dice.pick(&[8, 16, 16]);
        let first = n * self.dice.below(u64::from(self.simd / n)) as u32;
        let nm = self.dice.pick(&["", "", "_NM"]);
        let exec = format!("(M{}{nm}, {n})", first / 4 + 1);
        let wide = first == 0 && self.dice.below(2) == 0;
        let set =
            if wide { format!("(M1_NM, {})", self.simd) } else { format!("(M{}_NM, {n})", first / 4 + 1) };
        let (a, imm) = (self.dice.pick(&["A2", "A3"]), self.dice.pick(&[0, 0, 16]));
        let (stride, same) = (self.dice.pick(&[1, 1, 1, 2]), self.dice.below(4) == 0);
        let mut channels: Vec<u32> = (0..n).collect();
        let odd = self.dice.below(u64::from(n) - 1) as usize;
        let flaw = self.dice.below(8);
        match flaw {
            0 => channels.swap(odd, odd + 1),
            1 => drop(channels.remove(odd)),
            _ => {}
        }
        // A predicate for all, set before each, or one for each channel, set before the first; and set anew now and then.
        let before = self.dice.below(3) == 0;
        let name_of = |k: u32| if before { format!("Q{k}") } else { "Q".to_owned() };
        let bits_of = |at: usize, k: u32| if (flaw, at) == (2, odd) { 3 << k } else { 1u32 << k };
        if before {
            for (at, k) in channels.iter().enumerate() {
                self.line(&format!("setp {set} Q{k} {:#x}:ud", bits_of(at, *k)));
            }
        }
        for (at, k) in channels.into_iter().enumerate() {
            let word = if (flaw, at) == (3, odd) { 0 } else { k };
            let element = if same { 1 } else { k };
            let q = name_of(k);
            if !before {
                self.line(&format!("setp {set} {q} {:#x}:ud", bits_of(at, k)));
            } else if self.dice.below(12) == 0 {
                let (which, bit) = (self.dice.below(16), self.dice.below(u64::from(n)));
                self.line(&format!("setp {set} Q{which} {:#x}:ud", 1 << bit));
            }
            self.line(&format!(
                "({q}) mov {exec} r[{a}({word}),{imm}]<{stride}>:{ty} {name}(0,{element})<0;1,0>"
            ));
        }
    }

    fn end(&mut self) {
        let mut at = 0;
        let arrays = (0..5).flat_map(|k| (0..ARRAYS[k].1).map(move |row| format!("D{k}_{row}")));
        let vectors = (20..27).flat_map(|k| (0..2).map(move |h| format!("D{k}_{h}")));
        for row in arrays.chain(vectors).collect::<Vec<_>>() {
            self.line("shl (M1_NM, 16) Y(0,0)<1> L(0,0)<1;1,0> 0x2:ud");
            self.line(&format!("add (M1_NM, 16) Y(0,0)<1> Y(0,0)<1;1,0> 0x{at:x}:ud"));
            self.line("add (M1_NM, 16) To(0,0)<1> Y(0,0)<1;1,0> A(0,0)<0;1,0>");
            self.line(&format!("lsc_store.ugm (M1_NM, 16) flat[To]:a64 {row}:d32"));
            at += 64;
        }
        self.line(&format!("ret (M1, {})", self.simd));
    }
}

fn program(seed: u64, platform: Platform) -> String {
    let mut dice = Dice(seed);
    let (simd, large) = (dice.pick(&[16, 32]), dice.below(2) == 0);
    let grf = if platform == Platform::Pvc { 64 } else { 32 };
    let mut m = Maker { dice, text: String::new(), grf, simd, large, parted: false, labels: 0 };
    m.begin();
    for _ in 0..12 {
        m.step();
    }
    m.end();
    m.text
}

/// How many moves the optimiser made of one for each channel.
fn joined(text: &str, platform: Platform) -> usize {
    let kernel = only_kernel(&Device::new(Config::new(platform)), text);
    let program = internals::optimized(&kernel);
    let by_channel = |i: &&Inst| matches!(i.dst, Dst::Indirect { per_address_log2: 0, .. });
    program.code().iter().filter(by_channel).count()
}

#[test]
fn random_programs_with_address_registers() {
    const PROGRAMS: u64 = crate::kernels::share(400);
    let (mut faults, mut natives, mut all_joined, mut left) = (0, 0, 0, Vec::new());
    for seed in 0..PROGRAMS {
        let platform = [Platform::Pvc, Platform::Dg2][(seed % 2) as usize];
        let text = program(seed, platform);
        let (a, _) = left_and_listing(&text, platform, Engine::Unoptimized, 64 * ROWS);
        let (b, listing) = left_and_listing(&text, platform, Engine::Native, 64 * ROWS);
        assert_eq!(a.1, b.1, "seed {seed}, {platform:?}\n{text}");
        assert_eq!(a.0, b.0, "seed {seed}, {platform:?}\n{text}");
        faults += u64::from(a.1.is_some());
        all_joined += joined(&text, platform) as u64;
        let Some(listing) = listing else { continue };
        natives += 1;
        for line in listing.lines().filter(|l| l.starts_with("; $")) {
            let Some((at, why)) = line.split_once(" by the interpreter: ") else { continue };
            // What is so of other operands, too.
            let others = [
                "operands found by address registers, in another floating-point mode",
                "a floating-point mode that is not known before",
                "saturation to another type",
                "fewer than eight channels",
            ];
            if !others.contains(&why) {
                left.push((seed, at.to_owned(), why.to_owned()));
            }
        }
    }
    assert!((PROGRAMS / 27..PROGRAMS / 2).contains(&faults), "{faults} of {PROGRAMS}");
    assert!(all_joined > PROGRAMS / 4, "{all_joined} of {PROGRAMS}");
    assert!(left.is_empty(), "of {natives} programs: {left:?}");
}
