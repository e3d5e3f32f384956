//! Operations that CPUs have no instruction for, or not for all types: quotients, counts, fields of bits, products of
//! both halves, conversions of quads and doubles, predicates as numbers. Native code leaves what the interpreter
//! leaves, and leaves none of them to it. (`ENVISA_LEVEL=avx2` has it made for that.)

use std::fmt::Write as _;

use crate::kernels::{NO_CPU, unverified_kernel};
use crate::random::Random;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Launch};

/// Vectors of each type, and scalars.
const EACH: u32 = 3;

impl Random {
    /// A dword: one of those that are next to a bound of some type, or any.
    fn dword(&mut self) -> u32 {
        const BOUNDS: [u32; 9] = [0, 0, 32, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff];
        match self.below(4) {
            0 => self.next() as u32,
            1 => self.next() as u32 >> self.below(32),
            _ => self.one_of(&BOUNDS).wrapping_add(self.below(4)).wrapping_sub(1),
        }
    }

    /// A quad, next to what singles and doubles round to, too.
    fn quad(&mut self) -> u64 {
        let bit = 1u64 << self.below(64);
        let x = match self.below(4) {
            0 => self.next() >> self.below(64),
            1 => i64::from(self.dword() as i32) as u64,
            2 => bit.wrapping_add(u64::from(self.below(5))).wrapping_sub(2),
            _ => bit.wrapping_add(1 << self.below(64)).wrapping_add(u64::from(self.below(3))).wrapping_sub(1),
        };
        if self.below(2) == 0 { x } else { x.wrapping_neg() }
    }

    /// A double next to a bound of some integer type, between two integers, or of any kind.
    fn double(&mut self) -> f64 {
        let bound = 2f64.powi(self.one_of(&[0, 7, 8, 15, 16, 31, 32, 52, 53, 62, 63, 64, 65]));
        let x = match self.below(6) {
            0 => self.one_of(&[0.0, f64::NAN, f64::INFINITY, 5e-324, 1e300, 0.999_999_999]),
            1 => bound,
            2 => bound - self.one_of(&[0.5, 1.0, 0.25, 1.5]),
            3 => f64::from_bits(bound.to_bits() + u64::from(self.below(3)) - 1),
            4 => f64::from_bits(self.next()),
            _ => f64::from(self.dword()) + self.one_of(&[0.0, 0.5, 0.75]),
        };
        if self.below(2) == 0 { x } else { -x }
    }
}

/// Vectors of a type: their names' letter, their type, bytes of an element, and of which they are an alias.
const VECTORS: [(&str, &str, u32, &str); 11] = [
    ("N", "d", 4, ""),
    ("U", "ud", 4, "N"),
    ("W", "w", 2, ""),
    ("H", "uw", 2, "W"),
    ("B", "b", 1, ""),
    ("C", "ub", 1, "B"),
    ("Q", "q", 8, ""),
    ("R", "uq", 8, "Q"),
    ("E", "df", 8, ""),
    ("F", "f", 4, ""),
    ("G", "b", 1, "W"),
];
const SMALL: [&str; 6] = ["N", "U", "W", "H", "B", "C"];
/// Modifiers of sources.
const SIGNS: [&str; 5] = ["", "", "(-)", "(abs)", "(-abs)"];

/// Numbers that a source may be.
#[derive(Clone, Copy, PartialEq)]
enum Numbers {
    /// Of up to 32 bits: no quads are needed to compare them with signs.
    Signed,
    Unsigned,
    /// With and without signs, so that it takes quads.
    Mixed,
    /// Those whose type the operation goes by.
    Dwords,
}

/// A source: a vector's elements, an element of one in memory, or a number. Of one channel: a scalar.
fn source(r: &mut Random, of: Numbers, one: bool) -> String {
    let k = r.below(EACH);
    match (r.below(6), one) {
        (0, _) => {
            let ty = match of {
                Numbers::Signed => "d",
                Numbers::Unsigned => "ud",
                _ => r.one_of(&["d", "ud"]),
            };
            format!("{:#x}:{ty}", r.dword())
        }
        (1, false) | (_, true) => {
            let e = r.below(4);
            // The least number's opposite is none of 32 bits.
            let (names, signs) = match (of, r.below(2)) {
                (Numbers::Signed, 0) => (&["Z"][..], &SIGNS[..1]),
                (Numbers::Signed, _) => (&["Y", "K"][..], &SIGNS[..]),
                (Numbers::Unsigned, _) => (&["J", "Y"][..], &SIGNS[..1]),
                (Numbers::Mixed, _) => (&["Z", "J", "Y", "K"][..], &SIGNS[..]),
                (Numbers::Dwords, _) => (&["Z", "J"][..], &SIGNS[..1]),
            };
            format!("{}{}{k}(0,{e})<0;1,0>", r.one_of(signs), r.one_of(names))
        }
        _ => {
            let (names, signs) = match (of, r.below(2)) {
                (Numbers::Signed, 0) => (&["N"][..], &SIGNS[..1]),
                (Numbers::Signed, _) => (&["W", "B", "H", "C"][..], &SIGNS[..]),
                (Numbers::Unsigned, _) => (&["U", "H", "C"][..], &SIGNS[..1]),
                (Numbers::Mixed, _) => (&SMALL[..], &SIGNS[..]),
                (Numbers::Dwords, _) => (&["N", "U"][..], &SIGNS[..1]),
            };
            format!("{}{}{k}(0,0)<1;1,0>", r.one_of(signs), r.one_of(names))
        }
    }
}

/// How an instruction is executed: on `one` channel, or on all of them by its mask and predicate.
struct Shape {
    one: bool,
    simd: u32,
    /// Which of several variables it has.
    k: u32,
    mask: String,
    pred: &'static str,
}

impl Shape {
    fn new(r: &mut Random, simd: u32, k: u32, one: bool) -> Shape {
        let mask = match (one, r.below(6)) {
            (true, _) => "(M1_NM, 1)".to_owned(),
            (_, 0) => format!("(M1_NM, {simd})"),
            _ => format!("(M1, {simd})"),
        };
        let pred = match r.below(4) {
            0 if !one => r.one_of(&["(P1) ", "(!P2) "]),
            _ => "",
        };
        Shape { one, simd, k, mask, pred }
    }

    /// A destination. Scalars are for instructions of one channel.
    fn to(&self, name: &str, r: &mut Random) -> String {
        match self.one {
            false => format!("{name}{}(0,0)<1>", r.below(EACH)),
            true if name == "Q" || name == "R" || name == "E" => format!("L{name}(0,{})<1>", r.below(2)),
            true => format!("Z{}(0,{})<1>", r.below(EACH), r.below(4)),
        }
    }

    /// A product of 64 bits, whose halves are used.
    fn wide_product(&self, r: &mut Random) -> String {
        let Shape { one, simd, k, ref mask, pred } = *self;
        let [a, b, c] = [0; 3].map(|_| source(r, Numbers::Dwords, one));
        let first = if one { "X(0,0)<1>" } else { "M(0,0)<1>" };
        let mut t = format!("{pred}madw {mask} {first} {a} {b} {c}");
        let high = 4 * simd.max(16) / 64;
        if !one {
            let x = r.below(EACH);
            let _ = write!(t, "\nmov (M1, {simd}) U{x}(0,0)<1> M({high},0)<1;1,0>");
            let _ = write!(t, "\nxor (M1, {simd}) U{x}(0,0)<1> U{x}(0,0)<1;1,0> M(0,0)<1;1,0>");
        } else {
            let _ = write!(t, "\nadd (M1_NM, 1) Z{k}(0,1)<1> X(0,0)<0;1,0> X(1,0)<0;1,0>");
        }
        t
    }

    /// A scalar that is a double, or of which one is made.
    fn of_scalar_doubles(&self, r: &mut Random) -> String {
        let Shape { k, ref mask, .. } = *self;
        let (x, e) = (r.below(2), r.below(2));
        let to = r.one_of(&["Z1(0,3)", "Y2(0,3)", "K0(0,1)", "LQ(0,0)", "LR(0,1)", "LF(0,1)"]);
        match r.below(5) {
            4 => format!("mov {mask} LE(0,{x})<1> {}{k}(0,{e})<0;1,0>", r.one_of(&["Z", "J", "Y", "K"])),
            0 => format!("mov {mask} LE(0,{x})<1> L{}(0,{e})<0;1,0>", r.one_of(&["Q", "R", "F"])),
            1 => format!("mov {mask} LQ(0,{x})<1> LF(0,{e})<0;1,0>"),
            2 => format!("mov {mask} LF(0,{x})<1> L{}(0,{e})<0;1,0>", r.one_of(&["Q", "R", "E"])),
            _ => format!("mov {mask} {to}<1> {}LE(0,{e})<0;1,0>", r.one_of(&SIGNS)),
        }
    }

    /// Quads.
    fn of_quads(&self, r: &mut Random) -> String {
        let Shape { k, ref mask, pred, .. } = *self;
        let b = format!("{}Q{}(0,0)<1;1,0>", r.one_of(&SIGNS), r.below(EACH));
        let (a, n) = (format!("Q{}(0,0)<1;1,0>", r.below(EACH)), r.one_of(&["N", "U", "Q"]));
        match r.below(6) {
            4 | 5 => {
                let (op, x, y) = (r.one_of(&["div", "mod"]), r.below(EACH), r.below(EACH));
                format!("{pred}{op} {mask} R{k}(0,0)<1> R{x}(0,0)<1;1,0> R{y}(0,0)<1;1,0>")
            }
            0 => format!("{pred}add {mask} {} {a} {b}", self.to(n, r)),
            1 => format!("{pred}{} {mask} R{k}(0,0)<1> R{k}(0,0)<1;1,0> {a}", r.one_of(&["rol", "ror"])),
            2 => format!("{pred}cbit {mask} {} R{k}(0,0)<1;1,0>", self.to("U", r)),
            _ => format!("({}P1) sel {mask} {} {a} {b}", r.one_of(&["", "!"]), self.to(n, r)),
        }
    }
}

/// An instruction or two, of channels by the mask or of one.
fn statement(r: &mut Random, simd: u32, out: &mut String) {
    let k = r.below(EACH);
    let one = r.below(4) == 0;
    let shape = Shape::new(r, simd, k, one);
    let Shape { ref mask, pred, .. } = shape;
    let to = |name: &str, r: &mut Random| shape.to(name, r);
    let any = r.one_of(&[Numbers::Signed, Numbers::Unsigned, Numbers::Mixed]);
    let from = |r: &mut Random, of: Numbers| source(r, of, one);
    let small = r.one_of(&SMALL);
    let line = match r.below(16) {
        0 | 1 => {
            let op = r.one_of(&["div", "mod"]);
            let (a, b) = (from(r, any), from(r, any));
            format!("{pred}{op} {mask} {} {a} {b}", to(small, r))
        }
        2 => format!("{pred}cbit {mask} {} {}", to("U", r), from(r, Numbers::Unsigned)),
        3 => {
            let op = r.one_of(&["fbl", "lzd", "bfrev", "fbh"]);
            format!("{pred}{op} {mask} {} {}", to("U", r), from(r, Numbers::Dwords))
        }
        4 => {
            let [a, b, c] = [0; 3].map(|_| from(r, Numbers::Dwords));
            format!("{pred}bfe {mask} {} {a} {b} {c}", to("N", r))
        }
        5 => {
            let [a, b, c, d] = [0; 4].map(|_| from(r, Numbers::Dwords));
            format!("{pred}bfi {mask} {} {a} {b} {c} {d}", to("U", r))
        }
        6 => {
            let (a, b) = (from(r, any), from(r, any));
            format!("{pred}avg {mask} {} {a} {b}", to(small, r))
        }
        7 => {
            let [a, b, c] = [0; 3].map(|_| from(r, Numbers::Dwords));
            format!("{pred}dp4a {mask} {} {a} {b} {c}", to("N", r))
        }
        8 => shape.wide_product(r),
        9 if !one => {
            let (x, sat) = (r.one_of(&["N", "U", "W", "H", "B", "C", "Q", "R"]), r.one_of(&["", ".sat"]));
            let m = r.one_of(&SIGNS);
            format!("{pred}mov{sat} {mask} {} {m}E{k}(0,0)<1;1,0>", to(x, r))
        }
        9 => shape.of_scalar_doubles(r),
        10 if !one => {
            let (x, of) = match r.below(4) {
                3 => ("E", r.one_of(&SMALL)),
                0 => (r.one_of(&["Q", "R"]), "F"),
                1 => ("F", r.one_of(&["E", "Q", "R"])),
                _ => (r.one_of(&["N", "U", "W", "H", "B", "C", "E"]), r.one_of(&["Q", "R"])),
            };
            // The opposite of the least quad is not a quad: that is computed in another type.
            let m = if of == "R" || matches!(x, "E" | "F") { "" } else { r.one_of(&SIGNS) };
            format!("{pred}mov {mask} {} {m}{of}{k}(0,0)<1;1,0>", to(x, r))
        }
        11 if !one => shape.of_quads(r),
        12 => {
            let relation = r.one_of(&["eq", "ne", "gt", "ge", "lt", "le"]);
            let to = r.one_of(&["Z0(0,0)<1>", "Z1(0,2)<1>", "Y2(0,3)<1>"]);
            let (m, x) = (r.one_of(&SIGNS), r.below(EACH));
            let (a, b) = (format!("{m}Z{k}(0,1)<0;1,0>"), format!("{}Y{x}(0,1)<0;1,0>", r.one_of(&SIGNS)));
            format!("cmp.{relation} (M1_NM, 1) {to} {a} {b}")
        }
        13 => {
            let from = match r.below(4) {
                3 => {
                    let x = r.one_of(&["U", "W", "C", "N"]);
                    return out.push_str(&format!("setp (M1, {simd}) P1 {x}{k}(0,0)<1;1,0>\n"));
                }
                0 => format!("Z{k}(0,0)<0;1,0>"),
                1 => format!("Y{k}(0,1)<0;1,0>"),
                _ => format!("K{k}(0,1)<0;1,0>"),
            };
            format!("setp (M1_NM, {simd}) P{} {from}", 1 + r.below(2))
        }
        14 => {
            let to = r.one_of(&["Z1(0,3)<1>", "Y2(0,3)<1>", "K0(0,1)<1>"]);
            format!("mov (M1_NM, 1) {to} P{}", 1 + r.below(2))
        }
        _ if !one => {
            let x = r.one_of(&["C", "B"]);
            format!("{pred}mov {mask} G{k}(0,{})<2> {x}{}(0,0)<1;1,0>", r.below(2), r.below(EACH))
        }
        _ => format!("cbit {mask} {} {}", to("U", r), from(r, Numbers::Unsigned)),
    };
    out.push_str(&line);
    out.push('\n');
}

/// A program's start: its variables, and the numbers of lanes.
fn declarations(simd: u32) -> String {
    let mut t = String::from(".version 3.6\n.kernel \"k\"\n.kernel_attr Target=\"cm\"\n");
    let _ = writeln!(t, ".kernel_attr SimdSize={simd}");
    for (name, ty, _, of) in VECTORS {
        for k in 0..EACH {
            let n = if name == "G" { 2 * simd } else { simd };
            let _ = write!(t, ".decl {name}{k} v_type=G type={ty} num_elts={n} align=wordx32");
            let _ =
                writeln!(t, "{}", if of.is_empty() { String::new() } else { format!(" alias=<{of}{k}, 0>") });
        }
    }
    for k in 0..EACH {
        let _ = writeln!(t, ".decl Z{k} v_type=G type=d num_elts=4 align=wordx32");
        let _ = writeln!(t, ".decl J{k} v_type=G type=ud num_elts=4 align=wordx32 alias=<Z{k}, 0>");
        let _ = writeln!(t, ".decl Y{k} v_type=G type=uw num_elts=8 align=wordx32 alias=<Z{k}, 0>");
        let _ = writeln!(t, ".decl K{k} v_type=G type=b num_elts=16 align=wordx32 alias=<Z{k}, 0>");
    }
    for (name, ty, n) in [
        ("M", "ud", 2 * simd.max(16)),
        ("X", "ud", 32),
        ("LQ", "q", 2),
        ("LE", "df", 2),
        ("LF", "f", 2),
        ("Lane", "uw", simd),
        ("At", "ud", simd),
        ("To", "uq", simd),
    ] {
        let _ = writeln!(t, ".decl {name} v_type=G type={ty} num_elts={n} align=wordx32");
    }
    t.push_str(
        ".decl LR v_type=G type=uq num_elts=2 align=wordx32 alias=<LQ, 0>\n\
         .decl P1 v_type=P num_elts=32\n.decl P2 v_type=P num_elts=32\n.decl P3 v_type=P num_elts=32\n\
         .decl A v_type=G type=uq num_elts=1 align=qword\n.decl Ae v_type=G type=uq num_elts=1 align=qword\n\
         .input A offset=64 size=8\n.function \"k_main\"\n\
         or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud\nmov (M1_NM, 8) Lane(0,0)<1> 0x76543210:v\n",
    );
    t
}

/// A program, and how many bytes it stores.
fn program(seed: u64, simd: u32) -> (String, u32) {
    let mut r = Random(seed);
    let r = &mut r;
    let mut t = declarations(simd);
    let mut have = 8;
    while have < simd {
        let _ = writeln!(t, "add (M1_NM, {have}) Lane(0,{have})<1> Lane(0,0)<1;1,0> {have:#x}:uw");
        have *= 2;
    }
    let whole = format!("(M1_NM, {simd})");
    let mut at = 0;
    let place = |t: &mut String, bytes: u32, at: &mut u32| {
        let _ = writeln!(t, "shl {whole} At(0,0)<1> Lane(0,0)<1;1,0> {:#x}:ud", bytes.trailing_zeros());
        let _ = writeln!(t, "add {whole} To(0,0)<1> At(0,0)<1;1,0> A(0,0)<0;1,0>");
        let _ = writeln!(t, "add {whole} To(0,0)<1> To(0,0)<1;1,0> {at:#x}:uq");
        *at += bytes * simd;
    };
    for (name, _, bytes, of) in VECTORS {
        for k in 0..EACH {
            if !of.is_empty() {
                continue;
            }
            place(&mut t, bytes.max(4), &mut at);
            if bytes >= 4 {
                let _ = writeln!(t, "lsc_load.ugm {whole} {name}{k}:d{} flat[To]:a64", 8 * bytes);
            } else {
                let _ = writeln!(t, "lsc_load.ugm {whole} At:d32 flat[To]:a64");
                let _ = writeln!(t, "mov {whole} {name}{k}(0,0)<1> At(0,0)<1;1,0>");
            }
        }
    }
    for k in 0..EACH {
        let _ = writeln!(t, "add (M1_NM, 1) Ae(0,0)<1> A(0,0)<0;1,0> {:#x}:uq", 64 * k);
        let _ = writeln!(t, "lsc_load.ugm (M1_NM, 1) Z{k}:d32x4t flat[Ae]:a64");
    }
    // Scalars of doubles, from where the vectors of them are.
    let _ = writeln!(t, "add (M1_NM, 1) Ae(0,0)<1> A(0,0)<0;1,0> {:#x}:uq", 60 * simd);
    t.push_str("lsc_load.ugm (M1_NM, 1) LE:d64x2t flat[Ae]:a64\nmov (M1_NM, 2) LQ(0,0)<1> 0x5:d\n");
    t.push_str("mov (M1_NM, 2) LF(0,0)<1> 0x3:d\n");
    let _ = writeln!(t, "mov {whole} M(0,0)<1> 0x0:ud\nmov {whole} M({},0)<1> 0x0:ud", 4 * simd.max(16) / 64);
    let _ = writeln!(t, "mov (M1_NM, 1) X(0,0)<1> 0x0:ud\nmov (M1_NM, 1) X(1,0)<1> 0x0:ud");
    for p in 1..=3 {
        let _ = writeln!(t, "cmp.lt {whole} P{p} N{}(0,0)<1;1,0> {:#x}:d", p - 1, r.dword());
    }
    let n = 8 + r.below(16);
    for k in 0..n {
        if k == n / 2 {
            t.push_str(&format!("(P3) goto (M1, {simd}) behind\n"));
        }
        statement(r, simd, &mut t);
    }
    t.push_str("behind:\n");
    at = 0;
    for (name, _, bytes, of) in VECTORS {
        for k in 0..EACH {
            if !of.is_empty() {
                continue;
            }
            place(&mut t, bytes.max(4), &mut at);
            if bytes >= 4 {
                let _ = writeln!(t, "lsc_store.ugm {whole} flat[To]:a64 {name}{k}:d{}", 8 * bytes);
            } else {
                let _ = writeln!(t, "mov {whole} At(0,0)<1> {name}{k}(0,0)<1;1,0>");
                let _ = writeln!(t, "lsc_store.ugm {whole} flat[To]:a64 At:d32");
            }
        }
    }
    let mut last = |what: &str| {
        place(&mut t, 4, &mut at);
        let _ = writeln!(
            t,
            "{}\nlsc_store.ugm {whole} flat[To]:a64 At:d32",
            what.replace("TO", &format!("{whole} At(0,0)<1>"))
        );
    };
    for p in 1..=2 {
        last(&format!("(P{p}) sel TO 0x1:d 0x0:d"));
    }
    for k in 0..EACH {
        (0..4).for_each(|x| last(&format!("mov TO Z{k}(0,{x})<0;1,0>")));
    }
    for x in 0..2 {
        last(&format!("mov TO LQ(0,{x})<0;1,0>"));
        last(&format!("mov TO LF(0,{x})<0;1,0>"));
    }
    t.push_str("ret (M1, 1)\n");
    (t, at)
}

/// What is loaded: by the vectors' types, numbers that are hard for them.
fn content(seed: u64, simd: u32, bytes: u32) -> Vec<u8> {
    let mut r = Random(seed ^ 0x5555);
    let mut all = Vec::new();
    for (name, _, _, of) in VECTORS {
        for _ in 0..EACH * simd {
            match name {
                _ if !of.is_empty() => {}
                "Q" => all.extend(r.quad().to_le_bytes()),
                "E" => all.extend(r.double().to_le_bytes()),
                "F" => all.extend((r.double() as f32).to_le_bytes()),
                _ => all.extend(r.dword().to_le_bytes()),
            }
        }
    }
    all.resize(bytes as usize, 0);
    all
}

fn run(engine: Engine, text: &str, content: &[u8], statistics: bool) -> (Vec<u8>, Vec<String>) {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
    let kernel = unverified_kernel(&device, text);
    let buffer = device.buffer_from("a", content).expect("there is memory");
    let launch = Launch::threads(&[1, 1, 1], 1)
        .engine(engine)
        .arg("A", &buffer)
        .statistics(statistics)
        .host_threads(1);
    let outcome = device.run(&kernel, &launch).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(outcome.fault.is_none(), "{:?}\n{text}", outcome.fault);
    let left = outcome.statistics.and_then(|s| s.native).map_or(Vec::new(), |n| {
        n.refused.into_iter().chain(n.left.iter().map(|l| l.reason.to_owned())).collect()
    });
    (buffer.to_vec(), left)
}

#[test]
fn native_operations_are_the_interpreters() {
    let mut other = 0;
    for seed in 0..120 {
        let simd = [8, 16, 32][seed as usize % 3];
        let (text, bytes) = program(seed, simd);
        let content = content(seed, simd, bytes);
        let (want, _) = run(Engine::Unoptimized, &text, &content, false);
        let (got, _) = run(Engine::Native, &text, &content, false);
        if let Some(k) = want.iter().zip(&got).position(|(a, b)| a != b) {
            panic!("program {seed}, from byte {k:#x}: {:x?}, {:x?}\n{text}", &want[k..][..8], &got[k..][..8]);
        }
        other += usize::from(want != content);
        let (_, left) = run(Engine::Native, &text, &content, true);
        assert!(left.iter().all(|why| why.starts_with(NO_CPU)), "program {seed}: {left:?}\n{text}");
    }
    assert!(other > 100, "{other} programs change something");
}
