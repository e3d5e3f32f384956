//! Logic of 64 bits as compilers write it for devices without it: quads are taken apart, the lower dwords and the upper ones are
//! combined, and halves are joined by moves; what was combined before is combined again without being taken apart. Some of
//! these are not what they look like: the halves are combined by something else, or written in between. The numbers are what
//! each dword's instruction says, by the interpreter and by native code.

use std::fmt::Write as _;

use crate::kernels::only_kernel;
use crate::random::Dice;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Launch};

/// Channels.
const N: usize = 32;
/// Vectors of quads that are given, and scalars.
const VECTORS: usize = 3;
const SCALARS: usize = 2;
/// Results of a kernel.
const RESULTS: usize = 6;

/// Two dwords for each channel, the lower ones first.
type Halves = [[u32; N]; 2];

/// What a half is combined of: a register of dwords by its name and region, or a constant.
#[derive(Clone)]
struct Operand {
    texts: [String; 2],
    values: Halves,
}

#[derive(Clone, Copy, PartialEq)]
enum Op {
    And,
    Or,
    Xor,
    Not,
    Bfn(u8),
}

impl Op {
    fn any(dice: &mut Dice) -> Op {
        let table = dice.pick(&[0x96, 0xd8, 0xca, 0xe8, 0x78, 0xfe, 0x1d]);
        dice.pick(&[Op::And, Op::Or, Op::Xor, Op::Xor, Op::Not, Op::Bfn(table)])
    }

    fn name(self) -> String {
        match self {
            Op::And => "and".into(),
            Op::Or => "or".into(),
            Op::Xor => "xor".into(),
            Op::Not => "not".into(),
            Op::Bfn(table) => format!("bfn.x{table:x}"),
        }
    }

    fn sources(self) -> usize {
        match self {
            Op::Not => 1,
            Op::Bfn(_) => 3,
            _ => 2,
        }
    }

    fn of(self, s: &[u32]) -> u32 {
        match self {
            Op::And => s[0] & s[1],
            Op::Or => s[0] | s[1],
            Op::Xor => s[0] ^ s[1],
            Op::Not => !s[0],
            Op::Bfn(table) => (0..32).fold(0, |all, bit| {
                let row = (0..3).fold(0, |row, k| row | (s[k] >> bit & 1) << k);
                all | (u32::from(table) >> row & 1) << bit
            }),
        }
    }
}

/// A kernel's text, and the quads that it stores.
struct Case {
    text: String,
    results: Vec<Halves>,
}

/// A kernel as it is written: what its operands may be.
struct Writer<'a> {
    dice: &'a mut Dice,
    t: String,
    /// Quads in registers: the name of their dwords' alias, or of scalars, and what they are.
    quads: Vec<(String, bool, Halves)>,
    /// Dwords that were combined.
    made: Vec<Operand>,
}

impl Writer<'_> {
    fn say(&mut self, line: &str) {
        self.t += line;
        self.t += "\n";
    }

    /// The halves of quads, taken apart here or made before, or of a constant; without its upper half some operations have
    /// none.
    fn operand(&mut self, k: usize, which: usize) -> Operand {
        match self.dice.below(6) {
            0 if !self.made.is_empty() => {
                let nth = self.dice.below(self.made.len() as u64) as usize;
                self.made[nth].clone()
            }
            1 if which > 0 => {
                let low = self.dice.pick(&[0, 1, 0x400, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0xff00_ff00]);
                let high = self.dice.pick(&[0, 0, u32::MAX, 5]);
                let texts = [low, high].map(|x| format!("{x:#x}:ud"));
                Operand { texts, values: [[low; N], [high; N]] }
            }
            _ => {
                let nth = self.dice.below(self.quads.len() as u64) as usize;
                let (name, scalar, values) = self.quads[nth].clone();
                if scalar {
                    return Operand { texts: [0, 1].map(|h| format!("{name}(0,{h})<0;1,0>")), values };
                }
                let whole = self.dice.below(2) == 0;
                let texts = [0, 1].map(|h| format!("X{k}_{which}_{h}"));
                for (h, to) in texts.iter().enumerate() {
                    if whole {
                        self.say(&format!("mov (M1, 32) {to}(0,0)<1> {name}(0,{h})<2;1,0>"));
                        continue;
                    }
                    self.say(&format!("mov (M1, 16) {to}(0,0)<1> {name}(0,{h})<2;1,0>"));
                    self.say(&format!("mov (M5, 16) {to}(1,0)<1> {name}(2,{h})<2;1,0>"));
                }
                Operand { texts: texts.map(|x| format!("{x}(0,0)<1;1,0>")), values }
            }
        }
    }

    /// Combines halves, and joins them.
    fn combine(&mut self, k: usize) -> Halves {
        let op = Op::any(self.dice);
        let operands: Vec<Operand> = (0..op.sources()).map(|which| self.operand(k, which)).collect();
        let upper = if self.dice.below(8) == 0 { Op::any(self.dice) } else { op };
        let upper = if upper.sources() == op.sources() { upper } else { op };
        // The upper half of what a constant does not change is not combined at all, sometimes.
        let copied = op.sources() == 2 && self.dice.below(3) == 0;
        let mut values = [[0; N]; 2];
        for (h, op) in [op, upper].into_iter().enumerate() {
            let s: Vec<&str> = operands.iter().map(|o| o.texts[h].as_str()).collect();
            let copied = copied && h == 1;
            let line = if copied {
                format!("mov (M1, 32) R{k}_1(0,0)<1> {}", s[0])
            } else {
                format!("{} (M1, 32) R{k}_{h}(0,0)<1> {}", op.name(), s.join(" "))
            };
            self.say(&line);
            for lane in 0..N {
                let of: Vec<u32> = operands.iter().map(|o| o.values[h][lane]).collect();
                values[h][lane] = if copied { of[0] } else { op.of(&of) };
            }
        }
        if self.dice.below(8) == 0 {
            // Something else is there when it is joined.
            self.say(&format!("add (M1, 32) R{k}_0(0,0)<1> R{k}_0(0,0)<1;1,0> 0x1:ud"));
            values[0].iter_mut().for_each(|x| *x = x.wrapping_add(1));
        }
        let texts = [0, 1].map(|h| format!("R{k}_{h}(0,0)<1;1,0>"));
        self.made.push(Operand { texts, values });
        for h in 0..2 {
            self.say(&format!("mov (M1, 16) Q{k}H(0,{h})<2> R{k}_{h}(0,0)<1;1,0>"));
            self.say(&format!("mov (M5, 16) Q{k}H(2,{h})<2> R{k}_{h}(1,0)<1;1,0>"));
        }
        if self.dice.below(8) == 0 {
            // What was joined is changed, but the halves are not.
            self.say(&format!("add (M1, 32) Q{k}(0,0)<1> Q{k}(0,0)<1;1,0> 0x1:uq"));
            for lane in 0..N {
                let x = (u64::from(values[1][lane]) << 32 | u64::from(values[0][lane])).wrapping_add(1);
                (values[0][lane], values[1][lane]) = (x as u32, (x >> 32) as u32);
            }
        }
        values
    }
}

impl Case {
    fn any(dice: &mut Dice, given: &[Halves], scalars: &[u64]) -> Case {
        let quads = (0..VECTORS).map(|k| (format!("G{k}H"), false, given[k]));
        let one = |x: u64| [[x as u32; N], [(x >> 32) as u32; N]];
        let quads = quads.chain((0..SCALARS).map(|k| (format!("S{k}H"), true, one(scalars[k])))).collect();
        let mut w = Writer { dice, t: declarations(), quads, made: Vec::new() };
        for k in 0..VECTORS {
            w.say(&format!("add (M1, 32) To(0,0)<1> At(0,0)<1;1,0> {:#x}:ud", k * 8 * N));
            w.say("add (M1, 32) From(0,0)<1> To(0,0)<1;1,0> T(0,0)<0;1,0>");
            w.say(&format!("lsc_load.ugm (M1, 32) G{k}:d64 flat[From]:a64"));
        }
        let mut results = Vec::new();
        for k in 0..RESULTS {
            let values = w.combine(k);
            w.quads.push((format!("Q{k}H"), false, values));
            w.say(&format!("add (M1, 32) To(0,0)<1> At(0,0)<1;1,0> {:#x}:ud", k * 8 * N));
            w.say("add (M1, 32) From(0,0)<1> To(0,0)<1;1,0> B(0,0)<0;1,0>");
            w.say(&format!("lsc_store.ugm (M1, 32) flat[From]:a64 Q{k}:d64"));
            results.push(values);
        }
        w.say("ret (M1, 1)");
        Case { text: w.t, results }
    }

    fn expected(&self) -> Vec<u8> {
        let quads = self.results.iter().flat_map(|[low, high]| low.iter().zip(high));
        quads.flat_map(|(l, h)| [l.to_le_bytes(), h.to_le_bytes()]).flatten().collect()
    }

    /// What a run stores.
    fn run(&self, table: &[u8], scalars: &[u64], engine: Engine) -> Vec<u8> {
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
        let kernel = only_kernel(&device, &self.text);
        let b = device.buffer("b", (8 * RESULTS * N) as u64).expect("there is memory");
        let t = device.buffer_from("t", table).expect("there is memory");
        let launch = Launch::threads(&[1, 1, 1], 1).arg("B", &b).arg("T", &t);
        let launch = launch.arg("S0", scalars[0]).arg("S1", scalars[1]);
        let outcome = device.run(&kernel, launch.engine(engine).host_threads(1)).expect("it is launched");
        assert!(outcome.fault.is_none(), "{:?}\n{}", outcome.fault, self.text);
        b.to_vec()
    }
}

fn declarations() -> String {
    let mut t = String::from(
        ".version 3.6\n.kernel \"logic\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=32\n\
         .decl Lane v_type=G type=uw num_elts=32 align=wordx32\n\
         .decl At v_type=G type=ud num_elts=32 align=wordx32\n\
         .decl To v_type=G type=ud num_elts=32 align=wordx32\n\
         .decl From v_type=G type=uq num_elts=32 align=wordx32\n\
         .decl B v_type=G type=uq num_elts=1 align=qword\n.decl T v_type=G type=uq num_elts=1 align=qword\n",
    );
    let quads = |t: &mut String, name: &str, count: usize, align: &str| {
        let _ = writeln!(t, ".decl {name} v_type=G type=uq num_elts={count} align={align}");
        let _ = writeln!(
            t,
            ".decl {name}H v_type=G type=ud num_elts={} align={align} alias=<{name}, 0>",
            2 * count
        );
    };
    (0..VECTORS).for_each(|k| quads(&mut t, &format!("G{k}"), N, "wordx32"));
    (0..SCALARS).for_each(|k| quads(&mut t, &format!("S{k}"), 1, "qword"));
    for k in 0..RESULTS {
        quads(&mut t, &format!("Q{k}"), N, "wordx32");
        for h in 0..2 {
            let _ = writeln!(t, ".decl R{k}_{h} v_type=G type=ud num_elts=32 align=wordx32");
            for which in 0..3 {
                let _ = writeln!(t, ".decl X{k}_{which}_{h} v_type=G type=ud num_elts=32 align=wordx32");
            }
        }
    }
    t + ".input B offset=64 size=8\n.input T offset=72 size=8\n.input S0 offset=80 size=8\n\
         .input S1 offset=88 size=8\n.function \"logic_main\"\n\
         mov (M1, 8) Lane(0,0)<1> 0x76543210:v\n\
         add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw\n\
         add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw\n\
         shl (M1, 32) At(0,0)<1> Lane(0,0)<1;1,0> 0x3:ud\n"
}

#[test]
fn logic_of_dwords_is_that_of_quads() {
    let mut dice = Dice(17);
    for k in 0..500 {
        let given: Vec<Halves> = (0..VECTORS)
            .map(|_| std::array::from_fn(|_| std::array::from_fn(|_| dice.below(1 << 32) as u32)))
            .collect();
        let scalars: Vec<u64> = (0..SCALARS).map(|_| dice.below(u64::MAX)).collect();
        let table: Vec<u8> = given
            .iter()
            .flat_map(|[low, high]| low.iter().zip(high))
            .flat_map(|(l, h)| [l.to_le_bytes(), h.to_le_bytes()])
            .flatten()
            .collect();
        let case = Case::any(&mut dice, &given, &scalars);
        for engine in [Engine::Unoptimized, Engine::Native] {
            assert!(
                case.run(&table, &scalars, engine) == case.expected(),
                "case {k} by {engine:?}\n{}",
                case.text
            );
        }
    }
}
