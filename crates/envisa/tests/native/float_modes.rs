//! Floating-point modes: native code leaves what the interpreter does in each of them, for numbers that are rounded,
//! flushed, too large or none, and leaves no such instruction to the interpreter where the mode is known.

use std::fmt::Write as _;

use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Kernel, Launch, LoadOptions, Module, Source};

/// Numbers that follow from the one before (Steele and Vigna's SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 32) % n as u64) as usize
    }
}

/// A format: bits of the exponent, of the fraction, and the type's name.
#[derive(Clone, Copy, PartialEq)]
struct Format {
    exponent: u32,
    fraction: u32,
    ty: &'static str,
}

const HF: Format = Format { exponent: 5, fraction: 10, ty: "hf" };
const F: Format = Format { exponent: 8, fraction: 23, ty: "f" };
const DF: Format = Format { exponent: 11, fraction: 52, ty: "df" };

impl Format {
    fn bytes(self) -> usize {
        (1 + self.exponent + self.fraction) as usize / 8
    }

    /// A number whose kind matters: near the least normal one, near one, near the largest; few bits set, or many.
    fn number(self, r: &mut Random) -> u64 {
        let most = (1u64 << self.exponent) - 1;
        let bias = most >> 1;
        let all = (1u64 << self.fraction) - 1;
        let exponent = match r.below(12) {
            0 | 1 => 0,
            2 => 1 + r.below(3) as u64,
            3 => most - 1 - r.below(2) as u64,
            4 => most,
            5 => bias / 2 + r.below(3) as u64,
            6 => (bias - u64::from(self.fraction)) + r.below(3) as u64,
            7 => bias + u64::from(self.fraction) + r.below(9) as u64,
            8 => r.next() % (most + 1),
            _ => bias - 2 + r.below(5) as u64,
        };
        let fraction = match r.below(6) {
            0 => 0,
            1 => 1,
            2 => all,
            3 => 1 << r.below(self.fraction as usize),
            _ => r.next() & all,
        };
        let negative = (r.below(3) == 0) as u64;
        negative << (self.exponent + self.fraction) | exponent.min(most) << self.fraction | fraction & all
    }

    /// Conversions between formats meet halfway cases and what is small in the narrower one.
    fn near(self, narrower: Format, r: &mut Random) -> u64 {
        let x = narrower.number(r);
        let most = (1u64 << narrower.exponent) - 1;
        let (e, f) = (x >> narrower.fraction & most, x & ((1 << narrower.fraction) - 1));
        let sign = x >> (narrower.exponent + narrower.fraction) << (self.exponent + self.fraction);
        let more = self.fraction - narrower.fraction;
        let bias = ((1u64 << (self.exponent - 1)) - 1) - (most >> 1);
        let rest = [0, 1, (1 << (more - 1)) - 1, 1 << (more - 1), (1 << (more - 1)) + 1, (1 << more) - 1];
        // Sometimes below what the narrower one has at all.
        let down = if r.below(3) == 0 { r.below(narrower.fraction as usize + 3) as u64 } else { 0 };
        sign | (e + bias).saturating_sub(down) << self.fraction | f << more | rest[r.below(6)]
    }

    fn vector(self, narrower: Option<Format>, r: &mut Random) -> Vec<u8> {
        let one = |r: &mut Random| match narrower {
            Some(n) if r.below(2) == 0 => self.near(n, r),
            _ => self.number(r),
        };
        (0..32).flat_map(|_| one(r).to_le_bytes()[..self.bytes()].to_vec()).collect()
    }
}

const RELATIONS: [&str; 6] = ["eq", "ne", "gt", "ge", "lt", "le"];
/// Operations on singles and doubles, whose results are of the same format.
const ALL: &[&str] = &[
    "add M R -A B",
    "add M R A -B",
    "add M R -A -B",
    "add M R |A| B",
    "mul M R -|A| B",
    "mad M R A B C",
    "mad M R -A B C",
    "mad M R A B -C",
    "mad M R -A B -|C|",
    "div M R A B",
    "min M R A B",
    "max M R A B",
    "min M R -A |B|",
    "mov M R A",
    "mov M R -A",
    "(P1) sel M R A B",
    "(P1) add M R A B",
    "(P1) mul M R A B",
    "(!P1) mad M R A B C",
    "add M R A s:B",
    "mul M R s:A B",
    "mad M R A s:B C",
    "add 1 R A B",
    "mul 1 R A B",
    "mad 1 R A B C",
    "div 1 R A B",
    "add 8 R A B",
    "mul 8 R A B",
    // Operands in memory beside those that are changed on the way.
    "mul M R s:A -B",
    "mul M R -A s:B",
    "mul M R s:-A -B",
    "mul M R # -B",
    "mul M R -A #",
    "(P1) mul M R # |B|",
    "add M R s:A -B",
    "add M R # -|B|",
    "add M R s:-A -B",
    "mad M R s:A -B C",
    "mad M R -A s:B -C",
    "mad M R s:A -B s:C",
    "mad M R # -B |C|",
    "mad M R |A| # -C",
    "div M R s:A -B",
    "div M R # -B",
];
/// Operations on halves, whose results are halves.
const HALVES: &[&str] = &[
    "max M R A B",
    "min M R A B",
    "max M R -A |B|",
    "min M R A -B",
    "max 1 R A B",
    "mov M R -A",
    "mov M R |A|",
    "mov 1 R -A",
    "(P1) mov M R -|A|",
    "(P1) sel M R -A |B|",
    "div M R A B",
    "add M R -A |B|",
    "mul M R A s:B",
    "mad M R A B C",
    "mad M R A s:-B C",
    "mad M R |A| B -C",
    "mad M R A A B",
    "(P1) mad M R -A B C",
    "mad 1 R A B C",
    "sqrt M R A",
    "frc M R A",
    "rndd M R A",
    "rndu M R A",
    "rnde M R A",
    "rndz M R A",
    "add 1 R A B",
    "mul 1 R A B",
    "div 1 R A B",
];
/// Operations on halves and numbers of other formats, with the types of their results.
const HALVES_AND_OTHERS: &[(&str, &str)] = &[
    ("mov M R S", "hf"),
    ("(P1) mov M R S", "hf"),
    ("mov M R H", "f"),
    ("add M R H S", "f"),
    ("mul M R H S", "f"),
    ("max M R H S", "f"),
];
/// The others on doubles, with the types of their results.
const DOUBLES: &[(&str, &str)] = &[
    ("mov M R W", "f"),
    ("(P1) mov M R W", "f"),
    ("mov M R -W", "f"),
    ("mov 1 R W", "f"),
    ("mov M R S", "df"),
    ("mov 1 =X S\nmov M R s:X", "df"),
    ("mov M R I", "df"),
    ("mov M R U", "df"),
    ("mov M R Q", "df"),
    ("mov M R V", "df"),
    ("mov M R A", "d"),
    ("mov M R A", "ud"),
    ("(P1) mov M R -A", "d"),
    ("mov M R A", "q"),
    ("mov 1 =X U\nmov M R s:X", "df"),
    ("sqrtm M R A", "df"),
];
/// The others on singles, but for functions, with the types of their results.
const SINGLES: &[(&str, &str)] = &[
    ("sqrtm M R A", "f"),
    ("divm M R A B", "f"),
    ("pow M R |A| B", "f"),
    ("add.sat M R A B", "f"),
    ("mul.sat M R A B", "f"),
    ("mov.sat M R A", "f"),
    ("(P1) mov.sat M R A", "f"),
    ("mov M R I", "f"),
    ("mov M R U", "f"),
    ("mov 1 R I", "f"),
    ("mov 1 R U", "f"),
    ("mov M R A", "d"),
    ("mov M R A", "ud"),
    ("mov M R A", "q"),
    ("mov M R Q", "f"),
    ("mov M R V", "f"),
    ("mov 1 R A", "d"),
    ("mov 1 R A", "ud"),
    ("mov.sat M R A", "ud"),
];

/// What is done in a mode: instructions that read `A`, `B`, `C` of the format, `H`, `S` and `W` of all formats, `I` and
/// `U` of integers, and write `R` of the format, of halves, singles or doubles, or dwords.
fn operations(of: Format) -> Vec<(String, &'static str)> {
    let mut out: Vec<(String, &'static str)> = Vec::new();
    let mut put = |text: &str, to: &'static str| out.push((text.to_owned(), to));
    let same = of.ty;
    for op in ["add", "mul"] {
        put(&format!("{op} M R A B"), same);
    }
    if of == HF {
        for (text, to) in HALVES_AND_OTHERS {
            put(text, to);
        }
        for text in HALVES {
            put(text, "hf");
        }
        for relation in RELATIONS {
            put(&format!("cmp.{relation} M P2 A -B\n(P2) sel M R I U"), "d");
            put(&format!("cmp.{relation} 1 P3 A B\n(P3) sel 1 R I U"), "d");
        }
        return out;
    }
    for text in ALL {
        put(text, same);
    }
    for relation in RELATIONS {
        put(&format!("cmp.{relation} M R A B"), if of == DF { "q" } else { "d" });
        put(&format!("cmp.{relation} M P2 A B\n(P2) sel M R I U"), "d");
        put(&format!("cmp.{relation} 1 P3 A B\n(P3) sel 1 R I U"), "d");
    }
    if of == DF {
        // Of vectors of quads in registers, single ones are not written natively.
        for (text, _) in &mut out {
            if text.contains(" 1 R") && !text.contains('\n') {
                *text = text.replace(" 1 R", " 1 =X") + "\nmov M R s:X";
            }
        }
        out.retain(|(text, to)| *to != "df" || !text.contains(" 8 "));
        out.extend(DOUBLES.iter().map(|(text, to)| ((*text).to_owned(), *to)));
        return out;
    }
    for op in ["sqrt", "inv", "exp", "log", "rsqrt", "sin", "cos", "frc", "rndd", "rndu", "rnde", "rndz"] {
        out.push((format!("{op} M R A"), "f"));
        out.push((format!("{op} 1 R A"), "f"));
        out.push((format!("(P1) {op} M R -A"), "f"));
    }
    out.extend(SINGLES.iter().map(|(text, to)| ((*text).to_owned(), *to)));
    out
}

/// An instruction of the text form: registers get their regions, types that are written their variables.
fn written(text: &str, to: &str, simd: u32) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let at = words.iter().position(|w| matches!(*w, "M" | "1" | "8")).expect("a number of channels");
        let n = match words[at] {
            "M" => simd,
            n => n.parse().expect("a number"),
        };
        let _ = write!(out, "{} ({}, {n})", words[..at].join(" "), if n == 1 { "M1_NM" } else { "M1" });
        let region = if n == 1 { "<0;1,0>" } else { "<1;1,0>" };
        for word in &words[at + 1..] {
            let (scalar, word) = word.strip_prefix("s:").map_or((false, *word), |w| (true, w));
            let (minus, word) = word.strip_prefix('-').map_or((false, word), |w| (true, w));
            let bare = word.trim_matches('|');
            let modifier = match (minus, bare != word) {
                (false, false) => "",
                (true, false) => "(-)",
                (false, true) => "(abs)",
                (true, true) => "(-abs)",
            };
            let region = if scalar { "<0;1,0>" } else { region };
            let _ = match bare {
                "R" => write!(out, " R_{to}(0,0)<1>"),
                "#" if to == "df" => write!(out, " 0x4004000000000001:df"),
                "#" => write!(out, " 0x40200001:f"),
                "=X" => write!(out, " X_{to}(0,0)<1>"),
                "X" => write!(out, " {modifier}X_{to}(0,0){region}"),
                b if b.starts_with('P') => write!(out, " {b}"),
                _ => write!(out, " {modifier}{bare}(0,0){region}"),
            };
        }
        out.push('\n');
    }
    out
}

/// Registers that results are in, and how they are stored.
const RESULTS: [(&str, &str, u32); 6] =
    [("hf", "hf", 2), ("f", "f", 4), ("df", "df", 8), ("d", "d", 4), ("ud", "ud", 4), ("q", "q", 8)];

/// A kernel that sets the mode as `sets` says and does all of these, and how many bytes it stores.
fn kernel(of: Format, simd: u32, sets: &str, all: &[(String, &'static str)]) -> (String, u64) {
    let mut text = String::from(".version 3.6\n.kernel \"k\"\n.kernel_attr Target=\"cm\"\n");
    let _ = writeln!(text, ".kernel_attr SimdSize={simd}");
    let mut decl = |name: &str, ty: &str| {
        let _ = writeln!(text, ".decl {name} v_type=G type={ty} num_elts=32 align=GRFx2");
    };
    for name in ["A", "B", "C"] {
        decl(name, of.ty);
    }
    for (name, ty) in [("H", "hf"), ("S", "f"), ("W", "df"), ("I", "d"), ("U", "ud"), ("Lane", "uw")] {
        decl(name, ty);
    }
    for (name, ty) in [
        ("At", "ud"),
        ("At8", "ud"),
        ("To", "uq"),
        ("Q", "q"),
        ("V", "uq"),
        ("Y", "ud"),
        ("Bits", "ud"),
        ("T", "d"),
    ] {
        decl(name, ty);
    }
    for (name, ty, _) in RESULTS {
        decl(&format!("R_{name}"), ty);
    }
    for (name, ty, _) in RESULTS {
        let _ = writeln!(text, ".decl X_{name} v_type=G type={ty} num_elts=1 align=qword");
    }
    text.push_str(".decl R_uw v_type=G type=uw num_elts=32 alias=<R_hf, 0>\n");
    text.push_str(".decl T_f v_type=G type=f num_elts=32 align=GRFx2\n");
    text.push_str(".decl K v_type=G type=ud num_elts=1 align=dword\n.decl A0 v_type=A num_elts=1\n");
    for k in 1..=3 {
        let _ = writeln!(text, ".decl P{k} v_type=P num_elts={simd}");
    }
    text.push_str(".decl Out v_type=G type=uq num_elts=1 align=qword\n.input Out offset=64 size=8\n");
    let mut at = 128;
    for (name, size) in [("A", of.bytes()), ("B", of.bytes()), ("C", of.bytes()), ("H", 2), ("S", 4)]
        .into_iter()
        .chain([("W", 8), ("I", 4), ("U", 4), ("Q", 8), ("V", 8)])
    {
        let _ = writeln!(text, ".input {name} offset={at} size={}", 32 * size);
        at += 32 * size;
    }
    text.push_str(".function \"k_main\"\nmov (M1_NM, 8) Lane(0,0)<1> 0x76543210:v\n");
    text.push_str("add (M1_NM, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw\n");
    text.push_str("add (M1_NM, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw\n");
    let m = format!("(M1, {simd})");
    let _ = writeln!(text, "shl {m} At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud");
    let _ = writeln!(text, "shl {m} At8(0,0)<1> Lane(0,0)<1;1,0> 0x3:ud");
    let _ = writeln!(text, "and {m} Bits(0,0)<1> Lane(0,0)<1;1,0> 0x5:ud");
    let _ = writeln!(text, "cmp.ne {m} P1 Bits(0,0)<1;1,0> 0x1:ud");
    text.push_str(sets);
    let mut stored = 0;
    for (operation, to) in all {
        // What is not written stays.
        let (_, ty, size) = RESULTS.into_iter().find(|r| r.0 == *to).expect("a type");
        let zero = match *to {
            "df" | "q" => format!("0x0:{ty}"),
            "hf" => String::new(),
            _ => format!("0x12345:{}", if *to == "f" { "f" } else { "ud" }),
        };
        if zero.is_empty() {
            let _ = writeln!(text, "mov {m} R_uw(0,0)<1> 0x17:uw");
        } else {
            let _ = writeln!(text, "mov {m} R_{to}(0,0)<1> {zero}");
        }
        text.push_str(&written(operation, to, simd));
        let (offsets, name, bytes) = match size {
            8 => ("At8", format!("R_{to}"), 8),
            2 => {
                let _ = writeln!(text, "mov {m} Y(0,0)<1> R_uw(0,0)<1;1,0>");
                ("At", "Y".to_owned(), 4)
            }
            _ => ("At", format!("R_{to}"), 4),
        };
        let _ = writeln!(text, "add {m} To(0,0)<1> {offsets}(0,0)<1;1,0> Out(0,0)<0;1,0>");
        let _ = writeln!(text, "add {m} To(0,0)<1> To(0,0)<1;1,0> {stored:#x}:uq");
        let _ = writeln!(text, "lsc_store.ugm {m} flat[To]:a64 {name}:d{}", 8 * bytes);
        stored += bytes * u64::from(simd);
    }
    text.push_str("ret (M1, 1)\n");
    (text, stored)
}

fn load(device: &Device, text: &str) -> Kernel {
    let options = LoadOptions { verify: false, ..LoadOptions::default() };
    let module = Module::load_with(device, "k", Source::Text(text.as_bytes()), &options);
    module.unwrap_or_else(|e| panic!("{e}\n{text}")).kernel("k").expect("it is there")
}

/// What a run leaves.
fn run(device: &Device, k: &Kernel, args: &Args, bytes: u64, engine: Engine) -> Vec<u8> {
    launched(device, k, args, bytes, engine, false).0
}

/// Why native code leaves something to the interpreter. (Whoever is counted is interpreted.)
fn left(device: &Device, k: &Kernel, args: &Args, bytes: u64) -> Vec<String> {
    launched(device, k, args, bytes, Engine::Native, true).1
}

fn launched(
    device: &Device,
    k: &Kernel,
    args: &Args,
    bytes: u64,
    engine: Engine,
    counted: bool,
) -> (Vec<u8>, Vec<String>) {
    let out = device.buffer("out", bytes).expect("there is memory");
    let mut launch = Launch::threads(&[1, 1, 1], 1).arg("Out", &out).engine(engine).host_threads(1);
    for (name, bytes) in args {
        launch = launch.arg(*name, bytes.clone());
    }
    let outcome = device.run(k, launch.statistics(counted)).expect("it is launched");
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    let left = outcome.statistics.and_then(|s| s.native).map_or(Vec::new(), |n| {
        let left = n.left.iter().map(|l| format!("{}: {}", l.instruction, l.reason));
        n.refused.into_iter().chain(left).collect()
    });
    (out.to_vec(), left)
}

type Args = Vec<(&'static str, Vec<u8>)>;

fn args(of: Format, r: &mut Random) -> Args {
    let narrower = match of.ty {
        "df" => Some(F),
        "f" => Some(HF),
        _ => None,
    };
    let integers = |r: &mut Random| -> Vec<u8> {
        let one = |r: &mut Random| match r.below(4) {
            0 => r.below(3) as u32,
            1 => (1u32 << r.below(32)).wrapping_add(r.below(3) as u32),
            2 => u32::MAX - r.below(300) as u32,
            _ => r.next() as u32,
        };
        (0..32).flat_map(|_| one(r).to_le_bytes()).collect()
    };
    // Some that halve what is rounded.
    let quads = |r: &mut Random| -> Vec<u8> {
        let one = |r: &mut Random| match r.below(4) {
            0 => r.below(2) as u64,
            1 => (r.next() >> r.below(40)) & !0 << r.below(40),
            2 => (1u64 << r.below(64)).wrapping_add((r.below(3) as u64) << r.below(64)),
            _ => r.next() >> r.below(64),
        };
        (0..32).flat_map(|_| one(r).to_le_bytes()).collect()
    };
    vec![
        ("A", of.vector(narrower, r)),
        ("B", of.vector(narrower, r)),
        ("C", of.vector(None, r)),
        ("H", HF.vector(None, r)),
        ("S", F.vector(Some(HF), r)),
        ("W", DF.vector(Some(F), r)),
        ("I", integers(r)),
        ("U", integers(r)),
        ("Q", quads(r)),
        ("V", quads(r)),
    ]
}

/// There is no native code here at all.
fn no_native(left: &[String]) -> bool {
    left.iter().any(|why| why.contains("on this host"))
}

#[test]
fn every_operation_in_every_mode() {
    let r = &mut Random(7);
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20).threads(1));
    for of in [F, DF, HF] {
        let all = operations(of);
        let kernel_in = |simd: u32, mode: u32| {
            let sets = format!("mov (M1_NM, 1) %cr0(0,0)<1> {mode:#x}:ud\n");
            let (text, bytes) = kernel(of, simd, &sets, &all);
            (load(&device, &text), text, bytes)
        };
        // What is left to the interpreter in the mode of compiled kernels is left for other reasons.
        let usual = [16, 32].map(|simd| {
            let (k, text, bytes) = kernel_in(simd, 0x4c0);
            let left = left(&device, &k, &args(of, r), bytes);
            assert!(no_native(&left) || left.is_empty(), "{left:?}\n{text}");
            left
        });
        for mode in (0..4u32).flat_map(|round| {
            [0, 0x40, 0x80, 0x400, 0x4c0, 0x440].into_iter().map(move |keep| keep | round << 4)
        }) {
            let which = r.below(2);
            let simd = [16, 32][which];
            let (k, text, bytes) = kernel_in(simd, mode);
            assert_eq!(left(&device, &k, &args(of, r), bytes), usual[which], "{mode:#x}\n{text}");
            for _ in 0..5 {
                let args = args(of, r);
                let want = run(&device, &k, &args, bytes, Engine::Unoptimized);
                let got = run(&device, &k, &args, bytes, Engine::Native);
                assert_same(&want, &got, &all, simd, mode);
            }
        }
    }
}

/// Changes the mode by an operation.
fn set(op: &str, bits: u32) -> String {
    format!("{op} (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> {bits:#x}:ud\n")
}

/// Sets the mode.
fn mov(bits: u32) -> String {
    format!("mov (M1_NM, 1) %cr0(0,0)<1> {bits:#x}:ud\n")
}

/// Operations whose results are summed up, the first `n` of five.
fn sums(n: u32) -> String {
    let all =
        ["add M R_f R_f A", "mad M R_f R_f B R_f", "mul M R_f R_f C", "inv M T_f R_f", "add M R_f R_f T_f"];
    let m = "(M1, 16)";
    let mut out = String::new();
    for text in &all[..n as usize] {
        let words: Vec<&str> = text.split(' ').collect();
        let _ = write!(out, "{} {m} {}(0,0)<1>", words[0], words[2]);
        words[3..].iter().for_each(|w| {
            let _ = write!(out, " {w}(0,0)<1;1,0>");
        });
        out.push('\n');
    }
    out
}

fn start() -> String {
    set("or", 0x4c0) + "mov (M1, 16) R_f(0,0)<1> S(0,0)<1;1,0>\n"
}

/// Programs that change their mode where channels part or not, and whether all of its modes are known.
fn modes_by_channels() -> Vec<(String, bool)> {
    let branch = "cmp.gt (M1, 16) P2 A(0,0)<1;1,0> B(0,0)<1;1,0>\n";
    vec![
        (start() + &set("xor", 0x30) + &sums(5) + &set("xor", 0x30) + &sums(5), true),
        (
            start()
                + &set("or", 0x30)
                + &sums(3)
                + &set("and", !0x10)
                + &sums(5)
                + &set("and", !0x80)
                + &sums(5),
            true,
        ),
        // One side sets what the other has, too.
        (
            start()
                + branch
                + "(P2) goto (M1, 16) L0\n"
                + &mov(0x4f0)
                + &sums(5)
                + "goto (M1, 16) L1\nL0:\n"
                + &set("xor", 0x30)
                + &sums(2)
                + "L1:\n"
                + &sums(5),
            false,
        ),
        (
            start()
                + branch
                + "(P2) goto (M1, 16) L0\n"
                + &mov(0x4e0)
                + &sums(5)
                + &mov(0x4c0)
                + "L0:\n"
                + &sums(5),
            true,
        ),
        (start() + branch + "(P2) goto (M1, 16) L0\n" + &mov(0x4e0) + &sums(5) + "L0:\n" + &sums(5), false),
        // What channels decide, though there is one mode for all.
        (start() + branch + "(P2) mov (M1, 1) %cr0(0,0)<1> 0x4f0:ud\n" + &sums(5), false),
        // What is read back.
        (
            start()
                + &set("xor", 0x30)
                + "mov (M1_NM, 1) K(0,0)<1> %cr0(0,0)<0;1,0>\n"
                + "mov (M1, 16) R_f(0,0)<1> K(0,0)<0;1,0>\n"
                + &sums(5),
            true,
        ),
        (
            start()
                + "mov (M1_NM, 1) K(0,0)<1> %cr0(0,0)<0;1,0>\n"
                + &mov(0x30)
                + &sums(5)
                + "mov (M1_NM, 1) %cr0(0,0)<1> K(0,0)<0;1,0>\n"
                + &sums(5),
            false,
        ),
    ]
}

/// The same in loops, and of other kinds.
fn modes_in_loops() -> Vec<(String, bool)> {
    vec![
        // Around a loop: known where it is set in each turn, not where it changes from turn to turn.
        (
            start()
                + "mov (M1_NM, 1) K(0,0)<1> 0x0:ud\nL0:\n"
                + &mov(0x4d0)
                + &sums(5)
                + "add (M1_NM, 1) K(0,0)<1> K(0,0)<0;1,0> 0x1:ud\n"
                + &mov(0x4e0)
                + &sums(2)
                + "cmp.lt (M1_NM, 1) P3 K(0,0)<0;1,0> 0x5:ud\n(P3) goto (M1, 1) L0\n"
                + &sums(5),
            true,
        ),
        (
            start()
                + "mov (M1_NM, 1) K(0,0)<1> 0x0:ud\nL0:\n"
                + &sums(5)
                + &set("xor", 0x30)
                + "add (M1_NM, 1) K(0,0)<1> K(0,0)<0;1,0> 0x1:ud\n"
                + "cmp.lt (M1_NM, 1) P3 K(0,0)<0;1,0> 0x5:ud\n(P3) goto (M1, 1) L0\n"
                + &sums(5),
            false,
        ),
        // An address leads to no register of the mode.
        (
            start()
                + "addr_add (M1_NM, 1) A0(0)<1> &K[0] 0x0:uw\nmov (M1_NM, 1) r[A0(0),0]<1>:ud 0x7:ud\n"
                + &set("xor", 0x30)
                + &sums(5),
            true,
        ),
        // The mode that threads start with.
        ("mov (M1, 16) R_f(0,0)<1> S(0,0)<1;1,0>\n".to_owned() + &sums(5), true),
    ]
}

/// Modes that change in the middle, by all ways that compilers have and some others; in blocks that channels part
/// before, in loops, and behind them.
#[test]
fn modes_that_change() {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20).threads(1));
    let r = &mut Random(3);
    let unknown = "a floating-point mode that is not known before";
    let cases = modes_by_channels().into_iter().chain(modes_in_loops());
    for (k, (body, known)) in cases.enumerate() {
        // The last operation's result is the sums'.
        let (text, bytes) = kernel(F, 16, &body, &[]);
        let (at, store) = text.split_at(text.len() - "ret (M1, 1)\n".len());
        let out = "add (M1, 16) To(0,0)<1> At(0,0)<1;1,0> Out(0,0)<0;1,0>\nlsc_store.ugm (M1, 16) flat[To]:a64 R_f:d32\n";
        let text = format!("{at}{out}{store}");
        assert_eq!(bytes, 0);
        let it = load(&device, &text);
        for _ in 0..20 {
            let args = args(F, r);
            let want = run(&device, &it, &args, 64, Engine::Unoptimized);
            let got = run(&device, &it, &args, 64, Engine::Native);
            let left = left(&device, &it, &args, 64);
            assert_eq!(want, got, "{k}\n{text}");
            let found = left.iter().any(|why| why.contains(unknown));
            assert!(no_native(&left) || if known { left.is_empty() } else { found }, "{k}: {left:?}\n{text}");
        }
    }
}

/// The same bytes; tells which operation left others.
fn assert_same(want: &[u8], got: &[u8], all: &[(String, &'static str)], simd: u32, mode: u32) {
    let Some(at) = (0..want.len()).find(|k| want[*k] != got[*k]) else { return };
    let mut from = 0;
    for (operation, to) in all {
        let size = if matches!(*to, "df" | "q") { 8 } else { 4 };
        let end = from + size * simd as usize;
        if at < end {
            let channel = (at - from) / size;
            let value = |of: &[u8]| {
                let mut bits = [0; 8];
                bits[..size].copy_from_slice(&of[from + channel * size..][..size]);
                u64::from_le_bytes(bits)
            };
            panic!(
                "mode {mode:#x}, SIMD{simd}: `{operation}` to {to}, channel {channel}: {:#x} as interpreted, {:#x} as \
                 native code",
                value(want),
                value(got)
            );
        }
        from = end;
    }
}

/// What divisions of integers are made of rounds toward zero. Instructions say so themselves: the CPU's direction stays.
#[test]
fn the_direction_of_the_cpu_stays() {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20).threads(1));
    let operations =
        ["mov M R U", "add M R A B", "add M R -A -B", "mul M R A B", "mad M R A B C", "mad M R A -B C"];
    let all: Vec<(String, &'static str)> = operations.iter().map(|o| ((*o).to_owned(), "f")).collect();
    for bits in [0x10, 0x20, 0x30] {
        let sets = format!("xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> {:#x}:ud\n", 0x4c0 | bits);
        let kernel = load(&device, &kernel(F, 32, &sets, &all).0);
        match kernel.native_listing() {
            Ok(code) if code.starts_with("; AVX-512") => {
                assert!(!code.contains("ldmxcsr"), "{bits:#x}\n{code}")
            }
            Ok(_) => {}
            Err(why) => assert!(why.contains("native code needs"), "{why}"),
        }
    }
}
