//! Arithmetic of 64 bits as compilers write it for devices without products of 64 bits: quads are taken apart, their dwords are
//! multiplied and added up, and joined; loops count in 64 bits by compares of dwords that are combined. The numbers are what
//! 64-bit numbers give, by the interpreter and by native code.

use std::fmt::Write as _;

use crate::kernels::only_kernel;
use crate::random::Dice;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Launch};

/// Channels.
const N: usize = 32;
/// Numbers at which dwords carry, borrow or change their sign.
const EDGES: [u64; 12] = [
    0,
    1,
    2,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    0x1_0000_0001,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_0000_0000,
    u64::MAX,
];

/// A factor: numbers, which are dwords that are extended or quads, and what is added to them.
struct Factor {
    values: [u64; N],
    extended: bool,
    /// One number for all channels, in a scalar.
    same: bool,
    add: i32,
    /// The moves that take the sum apart have 32 channels, or 16 each.
    whole_moves: bool,
}

/// `(a + x) * (b + y)` in each round, while a number of 64 bits that grows by one is below another one.
struct Case {
    factors: [Factor; 2],
    first: u64,
    rounds: u64,
    /// The second factor is the number that grows, for all channels.
    counts: bool,
    /// The branch is of all channels, or by the first one's bit.
    of_all: bool,
}

impl Factor {
    fn any(dice: &mut Dice) -> Factor {
        let (extended, same) = (dice.below(2) == 0, dice.below(3) == 0);
        let any = |dice: &mut Dice| match dice.below(3) {
            0 => dice.pick(&EDGES),
            1 => dice.pick(&EDGES).wrapping_add(dice.below(1000)).wrapping_sub(500),
            _ => dice.below(u64::MAX),
        };
        let first = any(dice);
        let mut values: [u64; N] = std::array::from_fn(|_| if same { first } else { any(dice) });
        if extended {
            values = values.map(|v| v & 0xffff_ffff);
        }
        let add = dice.pick(&[0, 1, 1, -1, -1, 2, -2, 7, -100, i32::MAX, i32::MIN + 1, i32::MIN]);
        Factor { values, extended, same, add, whole_moves: dice.below(2) == 0 }
    }

    fn sum(&self, lane: usize) -> u64 {
        self.values[lane].wrapping_add(self.add as i64 as u64)
    }

    /// The factor's lower dwords as `Low`, its upper ones as `Up`, and whether these are all zero.
    fn text(&self, t: &mut String, k: usize) {
        if self.extended {
            let _ = writeln!(t, "mov (M1, 32) Q{k}(0,0)<1> U{k}(0,0)<1;1,0>");
        } else {
            for (half, name) in [(0, "Low"), (1, "Up")] {
                let _ = writeln!(t, "mov (M1, 16) H{k}(0,{half})<2> {name}{k}(0,0)<1;1,0>");
                let _ = writeln!(t, "mov (M5, 16) H{k}(2,{half})<2> {name}{k}(1,0)<1;1,0>");
            }
        }
        if self.add != 0 {
            let _ = writeln!(t, "add (M1, 32) S{k}(0,0)<1> Q{k}(0,0)<1;1,0> {:#x}:q", self.add as i64 as u64);
        } else {
            let _ = writeln!(t, "mov (M1, 32) S{k}(0,0)<1> Q{k}(0,0)<1;1,0>");
        }
        for (half, name) in [(0, "X"), (1, "Y")] {
            if self.whole_moves {
                let _ = writeln!(t, "mov (M1, 32) {name}{k}(0,0)<1> G{k}(0,{half})<2;1,0>");
                continue;
            }
            let _ = writeln!(t, "mov (M1, 16) {name}{k}(0,0)<1> G{k}(0,{half})<2;1,0>");
            let _ = writeln!(t, "mov (M5, 16) {name}{k}(1,0)<1> G{k}(2,{half})<2;1,0>");
        }
    }
}

impl Case {
    fn any(dice: &mut Dice) -> Case {
        let first = dice.pick(&[0, 0, 5, 0x7fff_fffe, 0xffff_fffe, 0xffff_ffff, 0x1_ffff_fffe]);
        Case {
            factors: [Factor::any(dice), Factor::any(dice)],
            first,
            rounds: 1 + dice.below(4),
            counts: dice.below(2) == 0,
            of_all: dice.below(2) == 0,
        }
    }

    fn expected(&self) -> Vec<u8> {
        let product = |round: u64, lane: usize| {
            let other = if self.counts { self.first + round } else { self.factors[1].sum(lane) };
            self.factors[0].sum(lane).wrapping_mul(other)
        };
        (0..self.rounds)
            .flat_map(|r| [0, 32].map(|half| (0..N).map(move |l| (product(r, l) >> half) as u32)))
            .flatten()
            .flat_map(u32::to_le_bytes)
            .collect()
    }

    /// The product of `X0`, `Y0` and `X1`, `Y1`, or the counter, into the quads `P`.
    fn product(&self, t: &mut String) {
        let (x1, y1) = match self.counts {
            true => ("CU(0,0)<0;1,0>", "CU(0,1)<0;1,0>"),
            false => ("X1(0,0)<1;1,0>", "Y1(0,0)<1;1,0>"),
        };
        let (x0, y0) = ("X0(0,0)<1;1,0>", "Y0(0,0)<1;1,0>");
        let _ = writeln!(t, "mul (M1, 32) L(0,0)<1> {x0} {x1}\nmulh (M1, 32) M(0,0)<1> {x0} {x1}");
        let _ = writeln!(
            t,
            "mul (M1, 32) W(0,0)<1> {x0} {y1}\nadd (M1, 32) M(0,0)<1> M(0,0)<1;1,0> W(0,0)<1;1,0>"
        );
        let _ = writeln!(
            t,
            "mul (M1, 32) W(0,0)<1> {x1} {y0}\nadd (M1, 32) R(0,0)<1> M(0,0)<1;1,0> W(0,0)<1;1,0>"
        );
        for (half, name) in [(0, "L"), (1, "R")] {
            let _ = writeln!(t, "mov (M1, 16) PH(0,{half})<2> {name}(0,0)<1;1,0>");
            let _ = writeln!(t, "mov (M5, 16) PH(2,{half})<2> {name}(1,0)<1;1,0>");
        }
    }

    fn text(&self) -> String {
        let mut t = String::from(
            ".version 3.6\n.kernel \"wide\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=32\n\
             .decl Lane v_type=G type=uw num_elts=32 align=wordx32\n\
             .decl At v_type=G type=ud num_elts=32 align=wordx32\n\
             .decl To v_type=G type=uq num_elts=32 align=wordx32\n\
             .decl P v_type=G type=uq num_elts=32 align=wordx32\n\
             .decl PH v_type=G type=d num_elts=64 align=wordx32 alias=<P, 0>\n\
             .decl C v_type=G type=uq num_elts=1 align=qword\n\
             .decl CU v_type=G type=ud num_elts=2 alias=<C, 0>\n\
             .decl A v_type=G type=uq num_elts=1 align=qword\n.decl B v_type=G type=uq num_elts=1 align=qword\n\
             .decl T v_type=G type=uq num_elts=1 align=qword\n.decl E v_type=G type=ud num_elts=2 align=qword\n\
             .decl P1 v_type=P num_elts=32\n.decl P2 v_type=P num_elts=32\n.decl P3 v_type=P num_elts=32\n\
             .input B offset=64 size=8\n.input T offset=72 size=8\n",
        );
        for name in ["L", "M", "W", "R", "O"] {
            let _ = writeln!(t, ".decl {name} v_type=G type=ud num_elts=32 align=wordx32");
        }
        for k in 0..2 {
            for name in ["Low", "Up", "X", "Y"] {
                let _ = writeln!(t, ".decl {name}{k} v_type=G type=ud num_elts=32 align=wordx32");
            }
            let _ = writeln!(t, ".decl U{k} v_type=G type=ud num_elts=32 align=wordx32 alias=<Low{k}, 0>");
            for (quads, dwords) in [("Q", "H"), ("S", "G")] {
                let _ = writeln!(t, ".decl {quads}{k} v_type=G type=q num_elts=32 align=wordx32");
                let _ = writeln!(
                    t,
                    ".decl {dwords}{k} v_type=G type=ud num_elts=64 align=wordx32 alias=<{quads}{k}, 0>"
                );
            }
            let _ = writeln!(t, ".decl One{k} v_type=G type=ud num_elts=2 align=qword");
        }
        t += ".function \"wide_main\"\n\
              mov (M1, 8) Lane(0,0)<1> 0x76543210:v\n\
              add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw\n\
              add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw\n\
              shl (M1, 32) At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud\n";
        for (k, f) in self.factors.iter().enumerate() {
            for (half, name) in [(0, "Low"), (1, "Up")] {
                if f.same {
                    let x = (f.values[0] >> (32 * half)) as u32;
                    let _ = writeln!(t, "mov (M1_NM, 1) One{k}(0,{half})<1> {x:#x}:ud");
                    let _ = writeln!(t, "mov (M1, 32) {name}{k}(0,0)<1> One{k}(0,{half})<0;1,0>");
                    continue;
                }
                let at = (2 * k + half) * 4 * N;
                let _ = writeln!(t, "add (M1, 32) To(0,0)<1> At(0,0)<1;1,0> T(0,0)<0;1,0>");
                let _ = writeln!(t, "add (M1, 32) To(0,0)<1> To(0,0)<1;1,0> {at:#x}:uq");
                let _ = writeln!(t, "lsc_load.ugm (M1, 32) {name}{k}:d32 flat[To]:a64");
            }
        }
        let end = self.first + self.rounds;
        let _ = writeln!(t, "mov (M1_NM, 1) C(0,0)<1> {:#x}:uq", self.first);
        let _ = writeln!(t, "mov (M1_NM, 1) E(0,0)<1> {:#x}:ud", end as u32);
        let _ = writeln!(t, "mov (M1_NM, 1) E(0,1)<1> {:#x}:ud\nagain:", end >> 32);
        self.factors.iter().enumerate().for_each(|(k, f)| f.text(&mut t, k));
        self.product(&mut t);
        for half in 0..2 {
            let _ = writeln!(t, "mov (M1, 32) O(0,0)<1> PH(0,{half})<2;1,0>");
            let _ = writeln!(t, "add (M1, 32) To(0,0)<1> At(0,0)<1;1,0> B(0,0)<0;1,0>");
            let _ = writeln!(t, "lsc_store.ugm (M1, 32) flat[To]:a64 O:d32");
            let _ = writeln!(t, "add (M1_NM, 1) B(0,0)<1> B(0,0)<0;1,0> {:#x}:uq", 4 * N);
        }
        t += "add (M1_NM, 1) C(0,0)<1> C(0,0)<0;1,0> 0x1:uq\n\
              cmp.lt (M1, 32) P1 CU(0,0)<0;1,0> E(0,0)<0;1,0>\n\
              cmp.eq (M1, 32) P2 CU(0,1)<0;1,0> E(0,1)<0;1,0>\n\
              and (M1, 32) P2 P2 P1\n\
              cmp.lt (M1, 32) P3 CU(0,1)<0;1,0> E(0,1)<0;1,0>\n\
              or (M1, 32) P3 P3 P2\n";
        let channels = if self.of_all { 32 } else { 1 };
        let _ = writeln!(t, "(P3) goto (M1, {channels}) again\nret (M1, 1)");
        t
    }

    /// What a run stores.
    fn run(&self, text: &str, engine: Engine) -> Vec<u8> {
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
        let kernel = only_kernel(&device, text);
        let table: Vec<u8> = (self.factors.iter())
            .flat_map(|f| [0, 32].map(|half| f.values.map(|x| (x >> half) as u32)))
            .flat_map(|half| half.map(u32::to_le_bytes).concat())
            .collect();
        let b = device.buffer("b", 8 * self.rounds * N as u64).expect("there is memory");
        let t = device.buffer_from("t", &table).expect("there is memory");
        let launch = Launch::threads(&[1, 1, 1], 1).arg("B", &b).arg("T", &t);
        let outcome = device.run(&kernel, launch.engine(engine).host_threads(1)).expect("it is launched");
        assert!(outcome.fault.is_none(), "{:?}\n{text}", outcome.fault);
        b.to_vec()
    }
}

#[test]
fn products_of_dwords_are_those_of_quads() {
    let mut dice = Dice(11);
    for k in 0..600 {
        let case = Case::any(&mut dice);
        let (text, expected) = (case.text(), case.expected());
        for engine in [Engine::Unoptimized, Engine::Native] {
            assert_eq!(case.run(&text, engine), expected, "case {k} by {engine:?}\n{text}");
        }
    }
}
