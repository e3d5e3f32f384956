//! Addresses of 64 bits that are made in one place and used in another: on other sides of branches, in loops that channels
//! leave one by one, of scalars that go on while channels wait. What the optimiser makes of them leaves what the program
//! leaves as it was written.

use std::fmt::Write as _;

use crate::kernels::{only_kernel, outcome};
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Launch};

use crate::random::Random;

/// Vectors of each kind.
const EACH: u32 = 3;
/// Elements of the table that is read.
const TABLE: u32 = 8192;
/// Where the table's element 0 is in the buffer, in bytes; results come first.
const FIRST: u32 = 4096;

/// A program under way.
struct Text {
    r: Random,
    out: String,
    labels: u32,
    /// Statements left.
    left: u32,
}

impl Text {
    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// A vector of a kind: `D` dwords below 512, `R` quads that are one of them, `Y` quads that are sums, `L` these in bytes,
    /// `A` addresses.
    fn any(&mut self, kind: char) -> String {
        format!("{kind}{}", self.r.below(EACH))
    }

    /// One of the instructions that addresses are made by, or one that reads where an address is.
    fn statement(&mut self) {
        let [d, other, r, q, t, l, a] = ['D', 'D', 'R', 'R', 'Y', 'L', 'A'].map(|k| self.any(k));
        let p = ["", "", "", "", "(P1) ", "(!P2) "][self.r.below(6) as usize];
        let m = "(M1, 32)";
        let v = "(0,0)<1;1,0>";
        match self.r.below(12) {
            0 => {
                self.line(&format!("{p}add {m} {d}(0,0)<1> {other}{v} Lane{v}"));
                self.line(&format!("and {m} {d}(0,0)<1> {d}{v} 0x1ff:d"));
            }
            1 => {
                let k = self.r.below(512);
                self.line(&format!("{p}xor {m} {d}(0,0)<1> {other}{v} {k:#x}:d"));
            }
            2 | 3 => {
                let u = ["", "U"][self.r.below(2) as usize];
                self.line(&format!("{p}mov {m} {r}(0,0)<1> {d}{u}{v}"));
            }
            4 => self.line(&format!("{p}add {m} {t}(0,0)<1> {r}{v} {q}{v}")),
            5 => {
                let k = self.r.below(16);
                self.line(&format!("{p}add {m} {t}(0,0)<1> {r}{v} {k:#x}:q"));
            }
            6 | 7 => {
                let from = [r, t][self.r.below(2) as usize].clone();
                self.line(&format!("{p}shl {m} {l}(0,0)<1> {from}{v} 0x2:q"));
            }
            8 | 9 => {
                let base = ["B", "B", "S"][self.r.below(3) as usize];
                self.line(&format!("{p}add {m} {a}(0,0)<1> {l}{v} {base}(0,0)<0;1,0>"));
                if self.r.below(3) == 0 {
                    self.line(&format!("{p}add {m} {a}(0,0)<1> {a}{v} K(0,0)<0;1,0>"));
                }
            }
            10 if self.r.below(2) == 0 => self.line("add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> 0x4:q"),
            _ => {
                self.line(&format!("{p}lsc_load.ugm {m} X:d32 flat[{a}]:a64"));
                self.line(&format!("mul {m} H(0,0)<1> H{v} 0x5:d\nadd {m} H(0,0)<1> H{v} X{v}"));
            }
        }
    }

    fn statements(&mut self, depth: u32, out: Option<&str>) {
        for _ in 0..2 + self.r.below(5) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            match self.r.below(10) {
                0 if depth < 3 => self.branch(depth, out),
                1 if depth < 3 => self.rounds(depth),
                2 if out.is_some() => {
                    let k = self.r.below(32);
                    self.line(&format!("cmp.eq (M1, 32) P3 Lane(0,0)<1;1,0> {k:#x}:d"));
                    self.line(&format!("(P3) goto (M1, 32) {}", out.unwrap_or_default()));
                }
                3 => {
                    let (d, k) = (self.any('D'), self.r.below(512));
                    let p = 1 + self.r.below(2);
                    self.line(&format!("cmp.lt (M1, 32) P{p} {d}(0,0)<1;1,0> {k:#x}:d"));
                }
                _ => self.statement(),
            }
        }
    }

    /// Channels part, and meet again.
    fn branch(&mut self, depth: u32, out: Option<&str>) {
        let (other, end) = (self.label(), self.label());
        let (d, k) = (self.any('D'), self.r.below(512));
        self.line(&format!("cmp.lt (M1, 32) P3 {d}(0,0)<1;1,0> {k:#x}:d\n(P3) goto (M1, 32) {other}"));
        self.statements(depth + 1, out);
        self.line(&format!("goto (M1, 32) {end}\n{other}:"));
        self.statements(depth + 1, out);
        self.line(&format!("{end}:"));
    }

    /// A loop that channels leave after different numbers of rounds.
    fn rounds(&mut self, depth: u32) {
        let (again, out) = (self.label(), self.label());
        let (d, most) = (self.any('D'), 1 + self.r.below(3));
        self.line(&format!("and (M1, 32) N{depth}(0,0)<1> {d}(0,0)<1;1,0> {most:#x}:d\n{again}:"));
        self.statements(depth + 1, Some(&out));
        self.line(&format!("add (M1, 32) N{depth}(0,0)<1> N{depth}(0,0)<1;1,0> 0xffffffff:d"));
        self.line(&format!(
            "cmp.ge (M1, 32) P3 N{depth}(0,0)<1;1,0> 0x0:d\n(P3) goto (M1, 32) {again}\n{out}:"
        ));
    }
}

fn program(seed: u64) -> String {
    let mut t = Text { r: Random(seed), out: String::new(), labels: 0, left: 60 };
    t.line(".version 4.1\n.kernel \"addresses\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=32");
    for name in ["Lane", "X", "H", "N0", "N1", "N2", "W"] {
        let ty = if name == "W" { "uw" } else { "d" };
        t.line(&format!(".decl {name} v_type=G type={ty} num_elts=32 align=wordx32"));
    }
    for k in 0..EACH {
        t.line(&format!(".decl D{k} v_type=G type=d num_elts=32 align=wordx32"));
        t.line(&format!(".decl D{k}U v_type=G type=ud num_elts=32 align=wordx32 alias=<D{k}, 0>"));
        for kind in ['R', 'Y', 'L', 'A'] {
            t.line(&format!(".decl {kind}{k} v_type=G type=q num_elts=32 align=wordx32"));
        }
    }
    for p in 1..=3 {
        t.line(&format!(".decl P{p} v_type=P num_elts=32"));
    }
    t.line(".decl B v_type=G type=q num_elts=1 align=qword\n.decl S v_type=G type=q num_elts=1 align=qword\n.decl K v_type=G type=q num_elts=1 align=qword");
    t.line(".decl In v_type=G type=q num_elts=1 align=qword\n.input In offset=64 size=8\n.function \"addresses_main\"");
    t.line("mov (M1, 8) W(0,0)<1> 0x76543210:v\nadd (M1, 8) W(0,8)<1> W(0,0)<1;1,0> 0x8:uw");
    t.line("add (M1, 16) W(0,16)<1> W(0,0)<1;1,0> 0x10:uw\nmov (M1, 32) Lane(0,0)<1> W(0,0)<1;1,0>");
    t.line(&format!(
        "add (M1_NM, 1) B(0,0)<1> In(0,0)<0;1,0> {FIRST:#x}:q\nmov (M1_NM, 1) S(0,0)<1> B(0,0)<0;1,0>\nmov (M1_NM, 1) K(0,0)<1> 0x40:q"
    ));
    t.line("mov (M1, 32) H(0,0)<1> Lane(0,0)<1;1,0>\nmov (M1, 32) X(0,0)<1> 0x0:d");
    let m = "(M1, 32)";
    for k in 0..EACH {
        let by = 1 + 2 * t.r.below(9);
        let mut lines = format!("mul {m} D{k}(0,0)<1> Lane(0,0)<1;1,0> {by:#x}:d\n");
        let _ = write!(
            lines,
            "and {m} D{k}(0,0)<1> D{k}(0,0)<1;1,0> 0x1ff:d\nmov {m} R{k}(0,0)<1> D{k}(0,0)<1;1,0>\n"
        );
        let _ = write!(
            lines,
            "mov {m} Y{k}(0,0)<1> R{k}(0,0)<1;1,0>\nshl {m} L{k}(0,0)<1> R{k}(0,0)<1;1,0> 0x2:q\n"
        );
        let _ = write!(lines, "add {m} A{k}(0,0)<1> L{k}(0,0)<1;1,0> B(0,0)<0;1,0>");
        t.line(&lines);
    }
    t.line(&format!("cmp.lt {m} P1 Lane(0,0)<1;1,0> 0x9:d\ncmp.lt {m} P2 D1(0,0)<1;1,0> 0x40:d"));
    while t.left > 0 {
        t.statements(0, None);
    }
    t.line(&format!("shl {m} D0(0,0)<1> Lane(0,0)<1;1,0> 0x2:d\nmov {m} R0(0,0)<1> D0(0,0)<1;1,0>"));
    t.line(&format!(
        "add {m} A0(0,0)<1> R0(0,0)<1;1,0> In(0,0)<0;1,0>\nlsc_store.ugm {m} flat[A0]:a64 H:d32\nret (M1, 1)"
    ));
    t.out
}

/// What is left, and whether there is native code; `None`: by the program as it was written.
fn left(engine: Option<Engine>, text: &str, input: u64) -> (Vec<u8>, String, bool) {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24));
    let kernel = only_kernel(&device, text);
    let mut content = vec![0; FIRST as usize];
    content.extend((0..TABLE).flat_map(|k| (k.wrapping_mul(0x9e37_79b9) >> 7).to_le_bytes()));
    let buffer = device.buffer_from("a", &content).expect("there is memory");
    let launch =
        Launch::threads(&[2, 1, 1], 1).host_threads(1).arg("In", buffer.address().wrapping_add(input));
    let outcome = outcome(&device, &kernel, launch, engine);
    let native = kernel.native_listing().is_ok();
    (buffer.to_vec(), format!("{:?}", outcome.fault), native)
}

fn hold(text: &str, input: u64, what: &str) -> (Vec<u8>, String) {
    let (want, told, _) = left(None, text, input);
    for engine in [Engine::Unoptimized, Engine::Native] {
        let (got, other, _) = left(Some(engine), text, input);
        assert_eq!(told, other, "{what} by {engine:?}:\n{text}");
        assert!(want == got, "{what} by {engine:?} leaves other content:\n{text}");
    }
    (want, told)
}

/// Addresses through branches and loops.
#[test]
fn made_here_and_used_there() {
    for seed in 0..crate::kernels::share(300) {
        let (_, told) = hold(&program(seed), 0, &format!("program {seed}"));
        assert_eq!(told, "None", "program {seed}");
    }
}

/// Sums that are not the same in 32 bits, of all channels or of some.
#[test]
fn sums_of_more_than_32_bits() {
    // Of each addend: its first value, how it goes on, and how it is extended; what is added to the address makes the sum of
    // the first channel element 64 of the table.
    let addends: [(i64, i64, bool); 10] = [
        (0x7fff_fff0, 1, true),
        (0x7fff_fffe, 0, true),
        (-0x8000_0000, 0, true),
        (-0x7fff_fff8, -1, true),
        (5, 1, true),
        (-7, 1, true),
        (0xffff_fff0, 1, false),
        (0xffff_fffe, 0, false),
        (0x7fff_fff9, 1, false),
        (3, 2, false),
    ];
    let mut wide = 0;
    for (k, &(a, by, signed)) in addends.iter().enumerate() {
        for &(b, by2, signed2) in &addends[k..] {
            for scrambled in [false, true] {
                let start = i64::from(FIRST) + (64 - (a + b)) * 4;
                let line = |name: &str, first: i64, by: i64| {
                    let lane = if scrambled { "E" } else { "Lane" };
                    format!(
                        "mul (M1, 32) {name}(0,0)<1> {lane}(0,0)<1;1,0> {:#x}:d\n\
                         add (M1, 32) {name}(0,0)<1> {name}(0,0)<1;1,0> {:#x}:d\n",
                        by as u32, first as u32
                    )
                };
                let mut text = String::from(
                    ".version 4.1\n.kernel \"addresses\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=32\n\
                     .decl W v_type=G type=uw num_elts=32 align=wordx32\n",
                );
                for name in ["Lane", "E", "X", "DA", "DB"] {
                    let _ = writeln!(text, ".decl {name} v_type=G type=d num_elts=32 align=wordx32");
                }
                for name in ["DA", "DB"] {
                    let _ = writeln!(
                        text,
                        ".decl {name}U v_type=G type=ud num_elts=32 align=wordx32 alias=<{name}, 0>"
                    );
                }
                for name in ["RA", "RB", "Y", "L", "A"] {
                    let _ = writeln!(text, ".decl {name} v_type=G type=q num_elts=32 align=wordx32");
                }
                text.push_str(
                    ".decl In v_type=G type=q num_elts=1 align=qword\n.decl B v_type=G type=q num_elts=1 align=qword\n\
                     .input In offset=64 size=8\n.function \"addresses_main\"\n\
                     mov (M1, 8) W(0,0)<1> 0x76543210:v\nadd (M1, 8) W(0,8)<1> W(0,0)<1;1,0> 0x8:uw\n\
                     add (M1, 16) W(0,16)<1> W(0,0)<1;1,0> 0x10:uw\nmov (M1, 32) Lane(0,0)<1> W(0,0)<1;1,0>\n\
                     xor (M1, 32) E(0,0)<1> Lane(0,0)<1;1,0> 0x5:d\n",
                );
                text += &line("DA", a, by);
                text += &line("DB", b, by2);
                let u = |signed: bool| if signed { "" } else { "U" };
                let _ = write!(
                    text,
                    "mov (M1, 32) RA(0,0)<1> DA{}(0,0)<1;1,0>\nmov (M1, 32) RB(0,0)<1> DB{}(0,0)<1;1,0>\n\
                     add (M1, 32) Y(0,0)<1> RA(0,0)<1;1,0> RB(0,0)<1;1,0>\nshl (M1, 32) L(0,0)<1> Y(0,0)<1;1,0> 0x2:q\n\
                     add (M1_NM, 1) B(0,0)<1> In(0,0)<0;1,0> {start:#x}:q\n\
                     add (M1, 32) A(0,0)<1> L(0,0)<1;1,0> B(0,0)<0;1,0>\nlsc_load.ugm (M1, 32) X:d32 flat[A]:a64\n\
                     mul (M1, 32) X(0,0)<1> X(0,0)<1;1,0> 0x3:d\nshl (M1, 32) DA(0,0)<1> Lane(0,0)<1;1,0> 0x2:d\n\
                     mov (M1, 32) RA(0,0)<1> DA(0,0)<1;1,0>\nadd (M1, 32) A(0,0)<1> RA(0,0)<1;1,0> In(0,0)<0;1,0>\n\
                     lsc_store.ugm (M1, 32) flat[A]:a64 X:d32\nret (M1, 1)\n",
                    u(signed),
                    u(signed2),
                );
                hold(&text, 0, &format!("{a} by {by} + {b} by {by2}"));
                wide += 1;
            }
        }
    }
    assert_eq!(wide, 110);
}
