//! Indices that are computed in 64 bits from numbers that a launch gives: sums, products, shifts and bits of them. One kernel
//! is launched with small numbers, of which native code knows that the upper halves are zero, and with large ones, in any
//! order: what is loaded is what 64 bits say, by the interpreter and by native code, or there is a fault.

use std::fmt::Write as _;

use crate::kernels::only_kernel;
use crate::random::Dice;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Kernel, Launch};

/// Dwords that are loaded from.
const LENGTH: u64 = 1 << 16;
/// Channels.
const N: u64 = 32;
/// Vectors that live where an index is used, but not before.
const OTHERS: u32 = 6;
/// Operations of an index.
const MOST: u64 = 6;

/// What a quad is made of: others by number, the last ones made so far.
#[derive(Clone, Copy, Debug)]
enum Made {
    /// A channel's number.
    Lane,
    /// A number of the launch.
    Given(usize),
    /// A channel's number plus a number of the launch, in 32 bits, times another one.
    Product(usize, usize),
    Sum(usize, usize),
    Left(usize, u32),
    Right(usize, u32),
    /// The bits of one that another one has, or both.
    And(usize, u64),
    Or(usize, usize),
}

struct Case {
    made: Vec<Made>,
    /// The last one's upper half is wanted by somebody else, who reads it before the load or behind it.
    upper_read: Option<bool>,
}

impl Case {
    fn any(dice: &mut Dice) -> Case {
        let mut all = vec![Made::Lane, Made::Given(dice.below(2) as usize)];
        for _ in 0..2 + dice.below(MOST - 2) {
            let any = |dice: &mut Dice| dice.below(all.len() as u64) as usize;
            let (a, b) = (all.len() - 1, any(dice));
            all.push(match dice.below(8) {
                0 | 1 => Made::Product(dice.below(2) as usize, dice.below(2) as usize),
                2 | 3 => Made::Sum(a, b),
                4 => Made::Left(a, dice.below(9) as u32),
                5 => Made::Right(a, dice.pick(&[1, 4, 6, 31, 32])),
                6 => Made::And(a, dice.pick(&[0x3f, !0x3f, 0xffff, 0xffff_ffff, !0])),
                _ => Made::Or(a, b),
            });
        }
        all.push(Made::Sum(all.len() - 1, 0));
        Case { made: all, upper_read: dice.pick(&[None, Some(true), Some(false)]) }
    }

    fn index(&self, given: [u32; 2], lane: u64) -> u64 {
        let mut all: Vec<u64> = Vec::new();
        for made in &self.made {
            all.push(match *made {
                Made::Lane => lane,
                Made::Given(k) => given[k].into(),
                Made::Product(k, by) => {
                    u64::from((lane as u32).wrapping_add(given[k])) * u64::from(given[by])
                }
                Made::Sum(a, b) => all[a].wrapping_add(all[b]),
                Made::Left(a, n) => all[a] << n,
                Made::Right(a, n) => all[a] >> n,
                Made::And(a, mask) => all[a] & mask,
                Made::Or(a, b) => all[a] | all[b],
            });
        }
        *all.last().expect("there are some")
    }

    fn text(&self) -> String {
        let mut t = String::from(
            ".version 3.6\n.kernel \"index\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=32\n\
             .decl Lane v_type=G type=uw num_elts=32 align=wordx32\n\
             .decl At v_type=G type=ud num_elts=32 align=wordx32\n\
             .decl Y v_type=G type=ud num_elts=32 align=wordx32\n\
             .decl Low v_type=G type=ud num_elts=32 align=wordx32\n\
             .decl Up v_type=G type=ud num_elts=32 align=wordx32\n\
             .decl X v_type=G type=ud num_elts=32 align=wordx32\n\
             .decl U v_type=G type=ud num_elts=32 align=wordx32\n\
             .decl To v_type=G type=uq num_elts=32 align=wordx32\n\
             .decl A v_type=G type=uq num_elts=1 align=qword\n.decl B v_type=G type=uq num_elts=1 align=qword\n\
             .decl G0 v_type=G type=ud num_elts=1\n.decl G1 v_type=G type=ud num_elts=1\n\
             .input A offset=64 size=8\n.input B offset=72 size=8\n.input G0 offset=80 size=4\n\
             .input G1 offset=84 size=4\n",
        );
        for k in 0..OTHERS {
            let _ = writeln!(t, ".decl Other{k} v_type=G type=ud num_elts=32 align=wordx32");
        }
        for k in 0..self.made.len() {
            let _ = writeln!(t, ".decl Q{k} v_type=G type=uq num_elts=32 align=wordx32");
            let _ = writeln!(t, ".decl H{k} v_type=G type=ud num_elts=64 align=wordx32 alias=<Q{k}, 0>");
        }
        t += ".function \"index_main\"\n\
             mov (M1, 8) Lane(0,0)<1> 0x76543210:v\n\
             add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw\n\
             add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw\n\
             shl (M1, 32) At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud\n";
        for (k, made) in self.made.iter().enumerate() {
            let _ = match *made {
                Made::Lane => writeln!(t, "mov (M1, 32) Q{k}(0,0)<1> Lane(0,0)<1;1,0>"),
                Made::Given(g) => writeln!(t, "mov (M1, 32) Q{k}(0,0)<1> G{g}(0,0)<0;1,0>"),
                Made::Product(g, by) => writeln!(
                    t,
                    "add (M1, 32) Y(0,0)<1> Lane(0,0)<1;1,0> G{g}(0,0)<0;1,0>\n\
                     mul (M1, 32) Low(0,0)<1> Y(0,0)<1;1,0> G{by}(0,0)<0;1,0>\n\
                     mulh (M1, 32) Up(0,0)<1> Y(0,0)<1;1,0> G{by}(0,0)<0;1,0>\n\
                     mov (M1, 16) H{k}(0,0)<2> Low(0,0)<1;1,0>\nmov (M5, 16) H{k}(2,0)<2> Low(1,0)<1;1,0>\n\
                     mov (M1, 16) H{k}(0,1)<2> Up(0,0)<1;1,0>\nmov (M5, 16) H{k}(2,1)<2> Up(1,0)<1;1,0>"
                ),
                Made::Sum(a, b) => writeln!(t, "add (M1, 32) Q{k}(0,0)<1> Q{a}(0,0)<1;1,0> Q{b}(0,0)<1;1,0>"),
                Made::Left(a, n) => writeln!(t, "shl (M1, 32) Q{k}(0,0)<1> Q{a}(0,0)<1;1,0> {n:#x}:uq"),
                Made::Right(a, n) => writeln!(t, "shr (M1, 32) Q{k}(0,0)<1> Q{a}(0,0)<1;1,0> {n:#x}:uq"),
                Made::And(a, m) => writeln!(t, "and (M1, 32) Q{k}(0,0)<1> Q{a}(0,0)<1;1,0> {m:#x}:uq"),
                Made::Or(a, b) => writeln!(t, "or (M1, 32) Q{k}(0,0)<1> Q{a}(0,0)<1;1,0> Q{b}(0,0)<1;1,0>"),
            };
        }
        let last = self.made.len() - 1;
        let read = format!(
            "shr (M1, 32) To(0,0)<1> Q{last}(0,0)<1;1,0> 0x20:uq\nmov (M1, 32) U(0,0)<1> To(0,0)<1;1,0>\n\
             add (M1, 32) To(0,0)<1> At(0,0)<1;1,0> B(0,0)<0;1,0>\n\
             add (M1, 32) To(0,0)<1> To(0,0)<1;1,0> {:#x}:uq\nlsc_store.ugm (M1, 32) flat[To]:a64 U:d32\n",
            4 * N
        );
        if self.upper_read == Some(true) {
            t += &read;
            // Registers are others' from here on.
            for k in 0..OTHERS {
                let _ = writeln!(t, "add (M1, 32) Other{k}(0,0)<1> U(0,0)<1;1,0> {:#x}:ud", 0x1111 * (k + 1));
            }
        }
        let _ = writeln!(t, "shl (M1, 32) To(0,0)<1> Q{last}(0,0)<1;1,0> 0x2:uq");
        t += "add (M1, 32) To(0,0)<1> To(0,0)<1;1,0> A(0,0)<0;1,0>\n\
             lsc_load.ugm (M1, 32) X:d32 flat[To]:a64\n\
             add (M1, 32) To(0,0)<1> At(0,0)<1;1,0> B(0,0)<0;1,0>\n\
             lsc_store.ugm (M1, 32) flat[To]:a64 X:d32\n";
        match self.upper_read {
            Some(false) => t += &read,
            Some(true) => {
                for k in 1..OTHERS {
                    let _ =
                        writeln!(t, "add (M1, 32) Other0(0,0)<1> Other0(0,0)<1;1,0> Other{k}(0,0)<1;1,0>");
                }
                let _ = writeln!(t, "add (M1, 32) To(0,0)<1> To(0,0)<1;1,0> {:#x}:uq", 8 * N);
                t += "lsc_store.ugm (M1, 32) flat[To]:a64 Other0:d32\n";
            }
            None => {}
        }
        t + "ret (M1, 1)\n"
    }
}

/// What a launch gives: both small, or one of them or both of any size.
fn any_given(dice: &mut Dice) -> [u32; 2] {
    let mut any = || match dice.below(4) {
        0 => dice.pick(&[0x1_0000, 0x7fff_ffff, 0x8000_0000, u32::MAX - 31, u32::MAX]),
        _ => dice.below(45) as u32,
    };
    [any(), any()]
}

/// What is loaded by channels; `None` where the run has a fault.
fn run(device: &Device, kernel: &Kernel, given: [u32; 2], engine: Engine) -> Option<Vec<u8>> {
    let data: Vec<u8> = (0..LENGTH as u32).flat_map(|k| datum(k).to_le_bytes()).collect();
    let a = device.buffer_from("a", &data).expect("there is memory");
    let b = device.buffer("b", 12 * N).expect("there is memory");
    let launch = Launch::threads(&[1, 1, 1], 1).arg("A", &a).arg("B", &b);
    let launch = launch.arg("G0", given[0]).arg("G1", given[1]);
    let outcome = device.run(kernel, launch.engine(engine).host_threads(1)).expect("it is launched");
    outcome.fault.is_none().then(|| b.to_vec())
}

fn datum(k: u32) -> u32 {
    k.wrapping_mul(0x9e37_79b1)
}

#[test]
fn indices_are_computed_in_64_bits() {
    const PROGRAMS: u64 = crate::kernels::share(400);
    let (mut dice, mut inside, mut outside) = (Dice(17), 0, 0);
    for n in 0..PROGRAMS {
        let case = Case::any(&mut dice);
        let text = case.text();
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 21));
        let kernel = only_kernel(&device, &text);
        for _ in 0..4 {
            let given = any_given(&mut dice);
            let places: Vec<u64> = (0..N).map(|lane| case.index(given, lane)).collect();
            // Shifted by two, an index loses bits.
            let fits = places.iter().all(|p| p << 2 <= 4 * (LENGTH - 1));
            let upper = |p: &u64| if case.upper_read.is_some() { (*p >> 32) as u32 } else { 0 };
            let others = |p: &u64| match case.upper_read {
                Some(true) => {
                    (upper(p)).wrapping_mul(OTHERS).wrapping_add((1..=OTHERS).map(|k| 0x1111 * k).sum())
                }
                _ => 0,
            };
            let dwords =
                places.iter().map(|p| datum(*p as u32 & 0x3fff_ffff)).chain(places.iter().map(upper));
            let dwords = dwords.chain(places.iter().map(others));
            let expected: Vec<u8> = dwords.flat_map(u32::to_le_bytes).collect();
            (inside, outside) = (inside + u64::from(fits), outside + u64::from(!fits));
            for engine in [Engine::Unoptimized, Engine::Native] {
                let got = run(&device, &kernel, given, engine);
                let told =
                    || format!("case {n}, {:?}, {given:x?} by {engine:?}\n{places:x?}\n{text}", case.made);
                assert_eq!(got.is_some(), fits, "is there no fault? {}", told());
                assert!(got.is_none_or(|got| got == expected), "{}", told());
            }
        }
    }
    assert!(inside > PROGRAMS && outside > PROGRAMS / 2, "{inside} inside, {outside} outside");
}
