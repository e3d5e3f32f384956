//! Straight code that computes several values step by step, one after the other or all in turns, in dwords, words, floats and
//! quads, of which quads are cut to dwords here and there. However an engine orders the steps, and whatever it computes in fewer
//! bits, each value is what its steps make of it, by the interpreter and by native code.

use std::fmt::Write as _;

use crate::kernels::only_kernel;
use crate::random::Dice;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Launch};

/// Channels.
const N: usize = 32;
/// Values a program has at most.
const CHAINS: usize = 10;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Dword,
    Word,
    Float,
    Quad,
}

impl Kind {
    fn suffix(self) -> &'static str {
        match self {
            Kind::Dword => "ud",
            Kind::Word => "uw",
            Kind::Float => "f",
            Kind::Quad => "uq",
        }
    }
}

/// A step of a value: what it is combined with is the value that it began as, a constant, or another value's begin.
#[derive(Clone, Copy, Debug)]
enum Step {
    Mul(usize),
    Add(usize),
    Xor(usize),
    Shl(u32),
    /// A quad is cut to a dword, and extended again, with its sign or without.
    Cut(bool),
}

struct Chain {
    kind: Kind,
    steps: Vec<Step>,
}

/// What lane `l` of the value `k` begins as.
fn begin(kind: Kind, k: usize, l: usize) -> u64 {
    let x = (k as u64 * 3 + 1).wrapping_mul(l as u64);
    match kind {
        // Small enough for sums and products of floats to be exact for a while.
        Kind::Float => u64::from(((x % 5) as f32).to_bits()),
        Kind::Word => x & 0xffff,
        _ => x,
    }
}

impl Step {
    fn any(dice: &mut Dice, kind: Kind, chains: usize) -> Step {
        let other = dice.below(chains as u64) as usize;
        match (kind, dice.below(6)) {
            (Kind::Float, 0..3) => Step::Mul(other),
            (Kind::Float, _) => Step::Add(other),
            (Kind::Quad, 0 | 1) => Step::Cut(dice.below(2) == 0),
            (Kind::Quad, 2) | (_, 0) => Step::Shl(1 + dice.below(14) as u32),
            (Kind::Dword | Kind::Word, 1 | 2) => Step::Mul(other),
            (_, 3) => Step::Xor(other),
            _ => Step::Add(other),
        }
    }

    fn apply(self, kind: Kind, x: u64, others: impl Fn(usize) -> u64) -> u64 {
        let float = |f: &dyn Fn(f32, f32) -> f32, k: usize| {
            let [a, b] = [x, others(k)].map(|x| f32::from_bits(x as u32));
            u64::from(f(a, b).to_bits())
        };
        let made = match (kind, self) {
            (Kind::Float, Step::Mul(k)) => return float(&|a, b| a * b, k),
            (Kind::Float, Step::Add(k)) => return float(&|a, b| a + b, k),
            (_, Step::Mul(k)) => x.wrapping_mul(others(k)),
            (_, Step::Add(k)) => x.wrapping_add(others(k)),
            (_, Step::Xor(k)) => x ^ others(k),
            (_, Step::Shl(n)) => x << n,
            (_, Step::Cut(true)) => i64::from(x as i32) as u64,
            (_, Step::Cut(false)) => u64::from(x as u32),
        };
        match kind {
            Kind::Word => made & 0xffff,
            Kind::Dword => made & 0xffff_ffff,
            _ => made,
        }
    }

    /// Its text, for the value `k`.
    fn text(self, kind: Kind, k: usize) -> String {
        let (m, ty) = ("(M1, 32)", kind.suffix());
        let x = format!("X{k}(0,0)<1> X{k}(0,0)<1;1,0>");
        let begin = |o: usize| format!("{}{o}(0,0)<1;1,0>", ["D", "W", "F", "Q"][kind as usize]);
        match self {
            Step::Mul(o) => format!("mul {m} {x} {}", begin(o)),
            Step::Add(o) => format!("add {m} {x} {}", begin(o)),
            Step::Xor(o) => format!("xor {m} {x} {}", begin(o)),
            Step::Shl(n) => format!("shl {m} {x} {n:#x}:{ty}"),
            Step::Cut(signed) => {
                // A register that other values are cut in, too.
                let (cut, shared) = (if signed { "S" } else { "C" }, k / 2);
                format!(
                    "mov {m} {cut}{shared}(0,0)<1> X{k}(0,0)<1;1,0>\nmov {m} X{k}(0,0)<1> {cut}{shared}(0,0)<1;1,0>"
                )
            }
        }
    }
}

/// A program, and what it stores: a quad for each lane of each value.
struct Case {
    text: String,
    expected: Vec<u8>,
}

impl Case {
    fn any(dice: &mut Dice) -> Case {
        let kinds = [Kind::Dword, Kind::Dword, Kind::Word, Kind::Float, Kind::Quad, Kind::Quad];
        let (count, len) = (1 + dice.below(CHAINS as u64) as usize, 1 + dice.below(60));
        let one_kind = (dice.below(3) == 0).then(|| dice.pick(&kinds));
        let chains: Vec<Chain> = (0..count)
            .map(|_| {
                let kind = one_kind.unwrap_or_else(|| dice.pick(&kinds));
                Chain { kind, steps: (0..len).map(|_| Step::any(dice, kind, count)).collect() }
            })
            .collect();
        let mut t = declarations(&chains);
        // One value after the other, several steps of each in turns, or one.
        let at_once = dice.pick(&[len, len, 7, 1]) as usize;
        for from in (0..len as usize).step_by(at_once) {
            for (k, c) in chains.iter().enumerate() {
                c.steps.iter().skip(from).take(at_once).for_each(|s| t += &(s.text(c.kind, k) + "\n"));
            }
        }
        let mut expected = Vec::new();
        for (k, c) in chains.iter().enumerate() {
            let bits = match c.kind {
                Kind::Float => "XB",
                _ => "X",
            };
            let _ = writeln!(t, "mov (M1, 32) Y(0,0)<1> {bits}{k}(0,0)<1;1,0>");
            let _ = writeln!(t, "add (M1, 32) To(0,0)<1> At(0,0)<1;1,0> {:#x}:uq", 8 * N * k);
            t += "lsc_store.ugm (M1, 32) flat[To]:a64 Y:d64\n";
            for l in 0..N {
                let first = begin(c.kind, k, l);
                let made = c.steps.iter().fold(first, |x, s| s.apply(c.kind, x, |o| begin(c.kind, o, l)));
                expected.extend(made.to_le_bytes());
            }
        }
        Case { text: t + "ret (M1, 1)\n", expected }
    }

    fn run(&self, engine: Engine) -> Vec<u8> {
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
        let kernel = only_kernel(&device, &self.text);
        let b = device.buffer("b", self.expected.len() as u64).expect("there is memory");
        let launch = Launch::threads(&[1, 1, 1], 1).arg("B", &b).engine(engine).host_threads(1);
        let outcome = device.run(&kernel, launch).expect("it is launched");
        assert!(outcome.fault.is_none(), "{:?}\n{}", outcome.fault, self.text);
        b.to_vec()
    }
}

fn declarations(chains: &[Chain]) -> String {
    let mut t = String::from(
        ".version 3.6\n.kernel \"chains\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=32\n\
         .decl Lane v_type=G type=uw num_elts=32 align=wordx32\n\
         .decl B v_type=G type=uq num_elts=1 align=qword\n",
    );
    let mut vector = |name: &str, ty: &str, alias: &str| {
        let _ = writeln!(t, ".decl {name} v_type=G type={ty} num_elts=32 align=wordx32{alias}");
    };
    ["At", "To", "Y"].iter().for_each(|name| vector(name, "uq", ""));
    for (k, c) in chains.iter().enumerate() {
        let all = [("D", "ud"), ("W", "uw"), ("F", "f"), ("Q", "uq"), ("C", "ud")];
        all.iter().for_each(|(name, ty)| vector(&format!("{name}{k}"), ty, ""));
        vector(&format!("S{k}"), "d", &format!(" alias=<C{k}, 0>"));
        vector(&format!("X{k}"), c.kind.suffix(), "");
        if c.kind == Kind::Float {
            vector(&format!("XB{k}"), "ud", &format!(" alias=<X{k}, 0>"));
        }
    }
    t += ".input B offset=64 size=8\n.function \"chains_main\"\n\
          mov (M1, 8) Lane(0,0)<1> 0x76543210:v\n\
          add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw\n\
          add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw\n\
          shl (M1, 32) At(0,0)<1> Lane(0,0)<1;1,0> 0x3:uq\n\
          add (M1, 32) At(0,0)<1> At(0,0)<1;1,0> B(0,0)<0;1,0>\n";
    for (k, c) in chains.iter().enumerate() {
        let _ = writeln!(t, "mul (M1, 32) D{k}(0,0)<1> Lane(0,0)<1;1,0> {:#x}:ud", 3 * k + 1);
        for name in ["W", "Q"] {
            let _ = writeln!(t, "mov (M1, 32) {name}{k}(0,0)<1> D{k}(0,0)<1;1,0>");
        }
        // The remainder by 5 of what is small.
        let _ = writeln!(t, "mul (M1, 32) C{k}(0,0)<1> D{k}(0,0)<1;1,0> 0x3334:ud");
        let _ = writeln!(t, "shr (M1, 32) C{k}(0,0)<1> C{k}(0,0)<1;1,0> 0x10:ud");
        let _ = writeln!(t, "mul (M1, 32) C{k}(0,0)<1> C{k}(0,0)<1;1,0> 0x5:ud");
        let _ = writeln!(t, "add (M1, 32) C{k}(0,0)<1> D{k}(0,0)<1;1,0> (-)S{k}(0,0)<1;1,0>");
        let _ = writeln!(t, "mov (M1, 32) F{k}(0,0)<1> C{k}(0,0)<1;1,0>");
        let begin = ["D", "W", "F", "Q"][c.kind as usize];
        let _ = writeln!(t, "mov (M1, 32) X{k}(0,0)<1> {begin}{k}(0,0)<1;1,0>");
    }
    t
}

#[test]
fn values_are_what_their_steps_make() {
    let mut dice = Dice(30);
    for k in 0..400 {
        let case = Case::any(&mut dice);
        for engine in [Engine::Unoptimized, Engine::Native] {
            assert!(case.run(engine) == case.expected, "case {k} by {engine:?}\n{}", case.text);
        }
    }
}
