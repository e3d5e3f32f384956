//! Conditional code and loops within each other, as compilers make them of `if`, `else`, `&&`, `switch`, `break`, `continue` and
//! `return`: native code, which keeps the mask of the channels that come to such code and takes it again behind it, leaves what
//! the interpreter leaves, which lets channels wait.

use std::fmt::Write as _;

use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Launch};

use crate::kernels;
use crate::random::Random;

const BOTH: [Engine; 2] = [Engine::Unoptimized, Engine::Native];

/// Vectors of numbers; numbers that the thread has, which change whether channels are active or not; predicates.
const NUMBERS: u32 = 4;
const SCALARS: u32 = 3;
const PREDICATES: u32 = 3;
/// Predicates that are the same for all channels, each with one reader.
const UNIFORM: u32 = 24;
/// How deep code is within other code, and so how many counters there are.
const DEEP: u32 = 4;

/// A program in the making.
struct Writer {
    random: Random,
    simd: u32,
    text: String,
    labels: u32,
    /// Statements that may still come.
    left: u32,
    /// How many predicates are the same for all channels.
    uniform: u32,
}

/// The labels that code may leave for: behind each loop around it, of the next round of the innermost one, and behind each
/// conditional code around it.
#[derive(Clone, Default)]
struct Around {
    breaks: Vec<String>,
    next_round: Option<String>,
    ends: Vec<String>,
}

impl Writer {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "{line}");
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// A compare into a predicate, which differs from channel to channel, or does not; gives how the predicate is asked.
    fn condition(&mut self) -> String {
        let (p, v) = (1 + self.random.below(PREDICATES), self.random.below(NUMBERS));
        let relation = self.random.one_of(&["eq", "ne", "gt", "ge", "lt", "le"]);
        let (simd, number) = (self.simd, self.random.below(8));
        if self.uniform < UNIFORM && self.random.below(4) == 0 {
            // A branch by this is one for all channels, as nobody else reads the predicate.
            self.uniform += 1;
            let (s, p) = (self.random.below(SCALARS), PREDICATES + self.uniform);
            self.line(format_args!("cmp.{relation} (M1_NM, {simd}) P{p} S{s}(0,0)<0;1,0> {number:#x}:d"));
            return format!("({}P{p})", self.random.one_of(&["", "!"]));
        }
        let of = match self.random.below(6) {
            0 => format!("S{}(0,0)<0;1,0>", self.random.below(SCALARS)),
            _ => format!("N{v}(0,0)<1;1,0>"),
        };
        self.line(format_args!("and (M1, {simd}) Y(0,0)<1> {of} 0x7:d"));
        self.line(format_args!("cmp.{relation} (M1, {simd}) P{p} Y(0,0)<1;1,0> {number:#x}:d"));
        format!("({}P{p})", self.random.one_of(&["", "!"]))
    }

    fn goto(&mut self, if_so: &str, label: &str) {
        let simd = self.simd;
        self.line(format_args!("{if_so} goto (M1, {simd}) {label}"));
    }

    /// Some statements.
    fn body(&mut self, depth: u32, around: &Around) {
        for _ in 0..1 + self.random.below(4) {
            if self.left > 0 {
                self.left -= 1;
                self.statement(depth, around);
            }
        }
    }

    fn statement(&mut self, depth: u32, around: &Around) {
        match self.random.below(if depth < DEEP { 14 } else { 7 }) {
            0..=3 => self.computation(),
            4 => {
                let (s, number) = (self.random.below(SCALARS), 1 + self.random.below(5));
                self.line(format_args!("add (M1_NM, 1) S{s}(0,0)<1> S{s}(0,0)<0;1,0> {number:#x}:d"));
            }
            5 | 6 => self.leaving(around),
            7 | 8 => self.conditional(depth, around),
            9 | 10 => self.alternatives(depth, around),
            11 => self.cases(depth, around),
            _ => self.rounds(depth, around),
        }
    }

    fn computation(&mut self) {
        let (v, w, s) = (self.random.below(NUMBERS), self.random.below(NUMBERS), self.random.below(SCALARS));
        let (simd, number) = (self.simd, 1 + self.random.below(9));
        match self.random.below(10) {
            // A place of each channel's own.
            8 => self.line(format_args!("lsc_load.ugm (M1, {simd}) N{v}:d32 flat[Own]:a64")),
            9 => self.line(format_args!("lsc_store.ugm (M1, {simd}) flat[Own]:a64 N{v}:d32")),
            // Bytes and words, which masks choose in their own width.
            5 => {
                let (narrow, other) = (self.random.one_of(&["B", "W"]), self.random.below(2));
                let what = match self.random.below(3) {
                    0 => format!("{number:#x}:d"),
                    1 => format!("{narrow}{other}(0,0)<1;1,0>"),
                    _ => format!("N{v}(0,0)<1;1,0>"),
                };
                self.line(format_args!("mov (M1, {simd}) {narrow}{}(0,0)<1> {what}", 1 - other));
            }
            6 => {
                let (narrow, to) = (self.random.one_of(&["B", "W"]), self.random.below(2));
                let what = format!("{narrow}0(0,0)<1;1,0> {narrow}1(0,0)<1;1,0>");
                let op = self.random.one_of(&["add", "and", "or", "xor"]);
                self.line(format_args!("{op} (M1, {simd}) {narrow}{to}(0,0)<1> {what}"));
            }
            7 => {
                let narrow = self.random.one_of(&["B", "W"]);
                self.line(format_args!("mov (M1, {simd}) N{v}(0,0)<1> {narrow}{}(0,0)<1;1,0>", w % 2));
            }
            0 => {
                self.line(format_args!("add (M1, {simd}) N{v}(0,0)<1> N{v}(0,0)<1;1,0> S{s}(0,0)<0;1,0>"));
            }
            1 => self.line(format_args!("mul (M1, {simd}) N{v}(0,0)<1> N{w}(0,0)<1;1,0> {number:#x}:d")),
            2 => {
                let if_so = self.condition();
                self.line(format_args!(
                    "{if_so} add (M1, {simd}) N{v}(0,0)<1> N{w}(0,0)<1;1,0> {number:#x}:d"
                ));
            }
            _ => self.line(format_args!("add (M1, {simd}) N{v}(0,0)<1> N{w}(0,0)<1;1,0> {number:#x}:d")),
        }
    }

    /// Channels leave for somewhere farther on.
    fn leaving(&mut self, around: &Around) {
        let mut to: Vec<&String> = around.ends.iter().chain(&around.breaks).collect();
        to.extend(&around.next_round);
        if to.is_empty() {
            return self.computation();
        }
        let label = (*self.random.one_of(&to)).clone();
        let if_so = self.condition();
        if self.random.below(24) == 0 {
            let simd = self.simd;
            return self.line(format_args!("{if_so} ret (M1, {simd})"));
        }
        match self.random.below(3) {
            // `if (…) { …; break; }`.
            0 => {
                let over = self.label();
                self.goto(&if_so, &over);
                self.computation();
                self.line(format_args!("goto (M1, 1) {label}\n{over}:"));
            }
            _ => self.goto(&if_so, &label),
        }
    }

    fn conditional(&mut self, depth: u32, around: &Around) {
        let end = self.label();
        for _ in 0..1 + self.random.below(2) {
            let if_so = self.condition();
            self.goto(&if_so, &end);
        }
        let mut inner = around.clone();
        inner.ends.push(end.clone());
        self.body(depth + 1, &inner);
        self.line(format_args!("{end}:"));
    }

    fn alternatives(&mut self, depth: u32, around: &Around) {
        let end = match around.ends.last() {
            // As of `else if`: they end where what is around them does, though other code may follow.
            Some(end) if self.random.below(4) == 0 => end.clone(),
            _ => self.label(),
        };
        let others = self.label();
        for _ in 0..1 + self.random.below(2) {
            let if_so = self.condition();
            self.goto(&if_so, &others);
        }
        let mut inner = around.clone();
        inner.ends.extend([end.clone(), others.clone()]);
        self.body(depth + 1, &inner);
        self.line(format_args!("goto (M1, 1) {end}\n{others}:"));
        inner.ends.pop();
        self.body(depth + 1, &inner);
        if around.ends.last() != Some(&end) {
            self.line(format_args!("{end}:"));
        }
    }

    /// As of `switch`.
    fn cases(&mut self, depth: u32, around: &Around) {
        let end = self.label();
        let labels: Vec<String> = (0..1 + self.random.below(4)).map(|_| self.label()).collect();
        for label in &labels {
            let if_so = self.condition();
            self.goto(&if_so, label);
        }
        let mut inner = around.clone();
        inner.ends = vec![end.clone()];
        self.body(depth + 1, &inner);
        for label in &labels {
            // Some fall through.
            if self.random.below(4) != 0 {
                self.line(format_args!("goto (M1, 1) {end}"));
            }
            self.line(format_args!("{label}:"));
            self.body(depth + 1, &inner);
        }
        self.line(format_args!("{end}:"));
    }

    fn rounds(&mut self, depth: u32, around: &Around) {
        let (simd, v) = (self.simd, self.random.below(NUMBERS));
        let (head, next, behind) = (self.label(), self.label(), self.label());
        let mut inner = around.clone();
        inner.breaks.push(behind.clone());
        (inner.next_round, inner.ends) = (Some(next.clone()), Vec::new());
        self.line(format_args!("mov (M1, {simd}) C{depth}(0,0)<1> 0x0:d"));
        if self.random.below(2) == 0 {
            // Entered by some only.
            let if_so = self.condition();
            self.goto(&if_so, &behind);
            self.line(format_args!("mov (M1, {simd}) C{depth}(0,0)<1> 0x0:d"));
        }
        self.line(format_args!("{head}:"));
        self.body(depth + 1, &inner);
        self.line(format_args!("{next}:"));
        self.line(format_args!("add (M1, {simd}) C{depth}(0,0)<1> C{depth}(0,0)<1;1,0> 0x1:d"));
        // As often for each channel, or for all.
        let most = match self.random.below(3) {
            0 => "0x3:d".to_owned(),
            _ => {
                self.line(format_args!("and (M1, {simd}) Y(0,0)<1> N{v}(0,0)<1;1,0> 0x3:d"));
                "Y(0,0)<1;1,0>".to_owned()
            }
        };
        self.line(format_args!("cmp.lt (M1, {simd}) P1 C{depth}(0,0)<1;1,0> {most}"));
        self.line(format_args!("(P1) goto (M1, {simd}) {head}\n{behind}:"));
    }
}

/// A program, and how many vectors it stores.
fn program(seed: u64, simd: u32) -> (String, u32) {
    let mut w = Writer {
        random: Random(seed),
        simd,
        text: String::from(".version 3.6\n.kernel \"structured\"\n.kernel_attr Target=\"cm\"\n"),
        labels: 0,
        left: 2 + (seed % 40) as u32,
        uniform: 0,
    };
    let m = format!("(M1, {simd})");
    w.line(format_args!(".kernel_attr SimdSize={simd}"));
    let vectors = (0..NUMBERS).map(|k| (format!("N{k}"), "d"));
    let counters = (0..=DEEP).map(|k| (format!("C{k}"), "d"));
    let others = [("Lane", "uw"), ("At", "ud"), ("To", "uq"), ("Own", "uq"), ("Y", "d")]
        .map(|(n, ty)| (n.to_owned(), ty));
    let narrow = [("B0", "ub"), ("B1", "ub"), ("W0", "w"), ("W1", "w")].map(|(n, ty)| (n.to_owned(), ty));
    for (name, ty) in vectors.chain(counters).chain(others).chain(narrow) {
        w.line(format_args!(".decl {name} v_type=G type={ty} num_elts={simd} align=wordx32"));
    }
    for k in 0..SCALARS {
        w.line(format_args!(".decl S{k} v_type=G type=d num_elts=1"));
    }
    for k in 1..=PREDICATES + UNIFORM {
        w.line(format_args!(".decl P{k} v_type=P num_elts={simd}"));
    }
    w.line(format_args!(".decl A v_type=G type=uq num_elts=1 align=qword\n.input A offset=64 size=8"));
    w.line(format_args!(".function \"structured_main\"\n{}", kernels::lane_numbers(simd)));
    w.line(format_args!("shl {m} At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud"));
    // Behind all that is stored at the end.
    w.line(format_args!("add {m} Own(0,0)<1> At(0,0)<1;1,0> A(0,0)<0;1,0>"));
    let behind = 4 * simd * (NUMBERS + SCALARS);
    w.line(format_args!("add {m} Own(0,0)<1> Own(0,0)<1;1,0> {behind:#x}:uq"));
    for k in 0..NUMBERS {
        let by = 1 + w.random.below(500);
        w.line(format_args!("mul {m} N{k}(0,0)<1> Lane(0,0)<1;1,0> {by:#x}:d"));
    }
    for narrow in ["B0", "B1", "W0", "W1"] {
        w.line(format_args!("mov {m} {narrow}(0,0)<1> Lane(0,0)<1;1,0>"));
    }
    for k in 0..SCALARS {
        let number = w.random.below(8);
        w.line(format_args!("mov (M1_NM, 1) S{k}(0,0)<1> {number:#x}:d"));
    }
    for k in 1..=PREDICATES {
        w.line(format_args!("cmp.lt {m} P{k} Lane(0,0)<1;1,0> {k:#x}:d"));
    }
    for _ in 0..1 + seed % 6 {
        w.statement(0, &Around::default());
    }
    let mut stored = 0;
    let names = (0..NUMBERS).map(|k| format!("N{k}(0,0)<1;1,0>"));
    for name in names.chain((0..SCALARS).map(|k| format!("S{k}(0,0)<0;1,0>"))) {
        w.line(format_args!("mov {m} Y(0,0)<1> {name}"));
        w.line(format_args!("add {m} To(0,0)<1> At(0,0)<1;1,0> A(0,0)<0;1,0>"));
        w.line(format_args!("add {m} To(0,0)<1> To(0,0)<1;1,0> {:#x}:uq", 4 * simd * stored));
        w.line(format_args!("lsc_store.ugm {m} flat[To]:a64 Y:d32"));
        stored += 1;
    }
    w.line(format_args!("ret (M1, 1)"));
    (w.text, stored + 1)
}

#[test]
fn the_same_from_both() {
    let programs = if cfg!(debug_assertions) { 100 } else { 2000 };
    let mut failed = Vec::new();
    for seed in 0..programs {
        let simd = [16, 32, 8][seed as usize % 3];
        let (text, stored) = program(seed, simd);
        let bytes = u64::from(4 * simd * stored);
        let [want, got] = BOTH.map(|e| kernels::stored(&text, bytes, Some(e)));
        if want != got {
            failed.push((text.len(), seed, text));
        }
    }
    // The shortest one says most.
    failed.sort_unstable();
    let count = failed.len();
    assert!(
        failed.is_empty(),
        "{count} programs differ, the shortest being {}:\n{}",
        failed[0].1,
        failed[0].2
    );
}

/// A thread whose time is up in a loop that some of its channels have left: the fault names the same channels.
#[test]
fn loops_without_an_end() {
    let (m, n) = ("(M1, 16)", 16);
    let mut text = format!(
        ".version 3.6\n.kernel \"endless\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize={n}\n\
         .decl P v_type=P num_elts={n}\n.decl Q v_type=P num_elts={n}\n"
    );
    for (name, ty) in [("Lane", "uw"), ("X", "d")] {
        let _ = writeln!(text, ".decl {name} v_type=G type={ty} num_elts={n} align=wordx32");
    }
    let _ = write!(
        text,
        ".function \"endless_main\"\n{}mov {m} X(0,0)<1> Lane(0,0)<1;1,0>\n\
         cmp.lt {m} P Lane(0,0)<1;1,0> 0x3:uw\n(P) goto {m} behind\nmov {m} X(0,0)<1> 0x0:d\nagain:\n\
         add {m} X(0,0)<1> X(0,0)<1;1,0> 0x1:d\ncmp.gt {m} Q X(0,0)<1;1,0> Lane(0,0)<1;1,0>\n\
         cmp.eq {m} P Lane(0,0)<1;1,0> 0x9:uw\nand {m} Q Q P\n(Q) goto {m} behind\n\
         cmp.ge {m} P X(0,0)<1;1,0> 0x0:d\n(P) goto {m} again\nbehind:\nret (M1, 1)\n",
        kernels::lane_numbers(n)
    );
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
    let kernel = kernels::only_kernel(&device, &text);
    let [want, got] = BOTH.map(|e| {
        let launch = Launch::threads(&[1, 1, 1], 1).limit(100_000).engine(e);
        let fault = device.run(&kernel, &launch).expect("it is launched").fault;
        fault.expect("its time is up").to_string()
    });
    assert_eq!(want, got);
}
