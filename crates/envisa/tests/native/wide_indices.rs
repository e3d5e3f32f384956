//! Indices of 64 bits, as `size_t` makes them: products that are put together of two dwords, extended dwords and scalars that
//! a loop changes, added up and shifted. What is loaded is what the sum in 64 bits says, by the interpreter and by native code,
//! also where the dwords alone would say something else.

use std::fmt::Write as _;

use crate::kernels::only_kernel;
use crate::random::Dice;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Launch};

/// Dwords that are loaded from.
const LENGTH: u64 = 4096;
/// Channels.
const N: usize = 32;

/// A vector of 64-bit values that a kernel has as two vectors of dwords, or as one that it extends.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    /// Two dwords, put together.
    Joined,
    /// A dword, extended by its sign.
    Signed,
    /// A dword, extended by zeros.
    Unsigned,
}

/// A kernel's index: `(first + second + counter) << shift`, to which `plus` and the buffer's address are added.
struct Case {
    kinds: Vec<Kind>,
    /// By addend, each channel's value.
    values: Vec<[u64; N]>,
    /// One dword for all channels, so that native code knows the vector by its first element.
    same: bool,
    /// The scalar is added before the shift (else shifted by itself).
    before: bool,
    counter: Option<(u64, u64)>,
    shift: u32,
    plus: u64,
    /// What is added to the first addend's upper dwords in each round: these alone say then where it is.
    later: u32,
}

const ROUNDS: u64 = 3;

impl Case {
    fn any(dice: &mut Dice) -> Case {
        let all = [Kind::Joined, Kind::Signed, Kind::Unsigned];
        let mut kinds = vec![dice.pick(&[Kind::Joined, Kind::Joined, Kind::Signed, Kind::Unsigned])];
        if dice.below(2) == 0 {
            kinds.push(dice.pick(&all));
        }
        let counter = (kinds.len() < 2 && dice.below(3) != 0 || dice.below(4) == 0)
            .then(|| (dice.below(LENGTH / 4), dice.pick(&[1, 1, 2, 2, 64, u64::MAX, 1 << 32, 1 << 31])));
        let same = dice.below(3) == 0;
        let (shift, before) = (dice.pick(&[2, 2, 3]), dice.below(2) == 0);
        let mut case = Case { kinds, values: Vec::new(), same, before, counter, shift, plus: 0, later: 0 };
        // What is in range, in sum, whatever the terms are.
        let most = (LENGTH * 4) >> shift;
        let far = dice.pick(&[0, 0, 1 << 20, 1 << 31, 1 << 32, 0u64.wrapping_sub(100)]);
        let places: [u64; N] = {
            let (first, step) = (dice.below(most / 4), dice.pick(&[0, 1, 1, 3, 17]));
            let random = dice.below(3) == 0;
            std::array::from_fn(|k| {
                let place = if random { dice.below(most / 2) } else { first + step * k as u64 };
                if same { first } else { place }
            })
        };
        for (k, kind) in case.kinds.iter().enumerate() {
            let last = k + 1 == case.kinds.len();
            let low = if same { dice.below(100) } else { 0 };
            let values = std::array::from_fn(|lane| {
                let rest = if last {
                    let sum = case.values.iter().fold(0u64, |sum, v| sum.wrapping_add(v[lane]));
                    places[lane].wrapping_sub(sum)
                } else {
                    far.wrapping_add(if same { low } else { dice.below(200) })
                };
                match kind {
                    Kind::Joined => rest,
                    Kind::Signed => rest as u32 as i32 as i64 as u64,
                    Kind::Unsigned => rest as u32 as u64,
                }
            });
            case.values.push(values);
        }
        if dice.below(4) == 0 && case.kinds[0] == Kind::Joined {
            case.later = dice.pick(&[1, u32::MAX]);
        }
        case.plus = dice.pick(&[0, 0, 4, 64]);
        case
    }

    /// The byte of the buffer that a channel reads in a round.
    fn place(&self, lane: usize, round: u64) -> u64 {
        let counter = self.counter.map_or(0, |(first, step)| first.wrapping_add(step.wrapping_mul(round)));
        let first = counter.wrapping_add((u64::from(self.later) << 32).wrapping_mul(round));
        let index = self.values.iter().fold(first, |sum, v| sum.wrapping_add(v[lane]));
        (index << self.shift).wrapping_add(self.plus)
    }

    fn text(&self) -> String {
        let n = N;
        let mut t = format!(
            ".version 3.6\n.kernel \"wide\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize={n}\n\
             .decl Lane v_type=G type=uw num_elts={n} align=wordx32\n\
             .decl L v_type=G type=ud num_elts={n} align=wordx32\n\
             .decl X v_type=G type=ud num_elts={n} align=wordx32\n\
             .decl To v_type=G type=uq num_elts={n} align=wordx32\n\
             .decl Sum v_type=G type=uq num_elts={n} align=wordx32\n\
             .decl Next v_type=G type=uq num_elts={n} align=wordx32\n\
             .decl Round v_type=G type=ud num_elts=1\n.decl More v_type=P num_elts=1\n\
             .decl C v_type=G type=uq num_elts=1 align=qword\n.decl D v_type=G type=uq num_elts=1 align=qword\n\
             .decl A v_type=G type=uq num_elts=1 align=qword\n.decl B v_type=G type=uq num_elts=1 align=qword\n\
             .decl T v_type=G type=uq num_elts=1 align=qword\n\
             .input A offset=64 size=8\n.input B offset=72 size=8\n.input T offset=80 size=8\n"
        );
        for k in 0..self.kinds.len() {
            let _ = writeln!(t, ".decl Low{k} v_type=G type=d num_elts={n} align=wordx32");
            let _ = writeln!(t, ".decl Up{k} v_type=G type=d num_elts={n} align=wordx32");
            let _ = writeln!(t, ".decl U{k} v_type=G type=ud num_elts={n} align=wordx32 alias=<Low{k}, 0>");
            let _ = writeln!(t, ".decl Q{k} v_type=G type=uq num_elts={n} align=wordx32");
            let _ =
                writeln!(t, ".decl H{k} v_type=G type=d num_elts={} align=wordx32 alias=<Q{k}, 0>", 2 * n);
            let _ = writeln!(t, ".decl S{k} v_type=G type=d num_elts=2 align=qword");
        }
        t += ".function \"wide_main\"\n\
              mov (M1, 8) Lane(0,0)<1> 0x76543210:v\n\
              add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw\n\
              add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw\n";
        let _ = writeln!(t, "shl (M1, {n}) L(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud");
        for (k, v) in self.values.iter().enumerate() {
            for (half, name) in [(0, "Low"), (1, "Up")] {
                if self.same {
                    let x = (v[0] >> (32 * half)) as u32;
                    let _ = writeln!(t, "mov (M1_NM, 1) S{k}(0,{half})<1> {:#x}:d", x);
                    let _ = writeln!(t, "mov (M1, {n}) {name}{k}(0,0)<1> S{k}(0,{half})<0;1,0>");
                    continue;
                }
                let at = (2 * k + half) * 4 * n;
                let _ = writeln!(t, "add (M1, {n}) To(0,0)<1> L(0,0)<1;1,0> T(0,0)<0;1,0>");
                let _ = writeln!(t, "add (M1, {n}) To(0,0)<1> To(0,0)<1;1,0> {at:#x}:uq");
                let _ = writeln!(t, "lsc_load.ugm (M1, {n}) {name}{k}:d32 flat[To]:a64");
            }
        }
        if let Some((first, _)) = self.counter {
            let _ = writeln!(t, "mov (M1_NM, 1) C(0,0)<1> {first:#x}:uq");
        }
        t += "mov (M1_NM, 1) Round(0,0)<1> 0x0:ud\nagain:\n";
        for (k, kind) in self.kinds.iter().enumerate() {
            match kind {
                Kind::Joined => {
                    for (half, name) in [(0, "Low"), (1, "Up")] {
                        let _ = writeln!(t, "mov (M1, 16) H{k}(0,{half})<2> {name}{k}(0,0)<1;1,0>");
                        let _ = writeln!(t, "mov (M5, 16) H{k}(2,{half})<2> {name}{k}(1,0)<1;1,0>");
                    }
                }
                Kind::Signed => {
                    let _ = writeln!(t, "mov (M1, {n}) Q{k}(0,0)<1> Low{k}(0,0)<1;1,0>");
                }
                Kind::Unsigned => {
                    let _ = writeln!(t, "mov (M1, {n}) Q{k}(0,0)<1> U{k}(0,0)<1;1,0>");
                }
            }
        }
        let mut sum = "Q0".to_string();
        if self.kinds.len() > 1 {
            let _ = writeln!(t, "add (M1, {n}) Sum(0,0)<1> Q0(0,0)<1;1,0> Q1(0,0)<1;1,0>");
            sum = "Sum".into();
        }
        let (shift, counts) = (self.shift, self.counter.is_some());
        if counts && self.before {
            let _ = writeln!(t, "add (M1, {n}) Next(0,0)<1> {sum}(0,0)<1;1,0> C(0,0)<0;1,0>");
            sum = "Next".into();
        }
        let _ = writeln!(t, "shl (M1, {n}) To(0,0)<1> {sum}(0,0)<1;1,0> {shift:#x}:uq");
        let _ = writeln!(t, "add (M1, {n}) To(0,0)<1> To(0,0)<1;1,0> A(0,0)<0;1,0>");
        if counts && !self.before {
            let _ = writeln!(t, "shl (M1_NM, 1) D(0,0)<1> C(0,0)<0;1,0> {shift:#x}:uq");
            let _ = writeln!(t, "add (M1, {n}) To(0,0)<1> To(0,0)<1;1,0> D(0,0)<0;1,0>");
        }
        if self.plus != 0 {
            let _ = writeln!(t, "add (M1, {n}) To(0,0)<1> To(0,0)<1;1,0> {:#x}:uq", self.plus);
        }
        let _ = writeln!(t, "lsc_load.ugm (M1, {n}) X:d32 flat[To]:a64");
        let _ = writeln!(t, "add (M1, {n}) To(0,0)<1> L(0,0)<1;1,0> B(0,0)<0;1,0>");
        let _ = writeln!(t, "lsc_store.ugm (M1, {n}) flat[To]:a64 X:d32");
        let _ = writeln!(t, "add (M1_NM, 1) B(0,0)<1> B(0,0)<0;1,0> {:#x}:uq", 4 * n);
        if let Some((_, step)) = self.counter {
            let _ = writeln!(t, "add (M1_NM, 1) C(0,0)<1> C(0,0)<0;1,0> {step:#x}:uq");
        }
        if self.later != 0 {
            let _ = writeln!(t, "add (M1, {n}) Up0(0,0)<1> Up0(0,0)<1;1,0> {:#x}:d", self.later);
        }
        let _ = writeln!(t, "add (M1_NM, 1) Round(0,0)<1> Round(0,0)<0;1,0> 0x1:ud");
        let _ = writeln!(t, "cmp.lt (M1_NM, 1) More Round(0,0)<0;1,0> {ROUNDS:#x}:ud");
        t + "(More) jmp (M1, 1) again\nret (M1, 1)\n"
    }

    /// What is loaded, by rounds and channels; `None` where the run has a fault.
    fn run(&self, text: &str, engine: Engine) -> Option<Vec<u8>> {
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
        let kernel = only_kernel(&device, text);
        let table: Vec<u8> = (self.values.iter())
            .flat_map(|v| [0, 32].map(|half| v.map(|x| (x >> half) as u32)))
            .flat_map(|half| half.map(u32::to_le_bytes).concat())
            .collect();
        let data: Vec<u8> = (0..LENGTH as u32).flat_map(|k| datum(k).to_le_bytes()).collect();
        let a = device.buffer_from("a", &data).expect("there is memory");
        let b = device.buffer("b", 4 * ROUNDS * N as u64).expect("there is memory");
        let t = device.buffer_from("t", &table).expect("there is memory");
        let launch = Launch::threads(&[1, 1, 1], 1).arg("A", &a).arg("B", &b).arg("T", &t);
        let outcome = device.run(&kernel, launch.engine(engine).host_threads(1)).expect("it is launched");
        outcome.fault.is_none().then(|| b.to_vec())
    }
}

fn datum(k: u32) -> u32 {
    k.wrapping_mul(0x9e37_79b1)
}

#[test]
fn indices_are_sums_in_64_bits() {
    const PROGRAMS: u64 = crate::kernels::share(1200);
    let (mut dice, mut inside, mut outside) = (Dice(3), 0, 0);
    for k in 0..PROGRAMS {
        let case = Case::any(&mut dice);
        let text = case.text();
        let places: Vec<u64> = (0..ROUNDS)
            .flat_map(|r| (0..N).map(move |lane| (lane, r)))
            .map(|(l, r)| case.place(l, r))
            .collect();
        let fits = places.iter().all(|p| p.checked_add(4).is_some_and(|end| end <= 4 * LENGTH));
        let expected: Vec<u8> =
            places.iter().filter(|_| fits).flat_map(|p| datum((p / 4) as u32).to_le_bytes()).collect();
        (inside, outside) = (inside + u64::from(fits), outside + u64::from(!fits));
        for engine in [Engine::Unoptimized, Engine::Native] {
            let got = case.run(&text, engine);
            let told = || format!("case {k} by {engine:?}, {:?}, places {places:x?}\n{text}", case.kinds);
            assert_eq!(got.is_some(), fits, "is there no fault? {}", told());
            assert!(got.is_none_or(|got| got == expected), "{}", told());
        }
    }
    assert!(inside > PROGRAMS / 3 && outside > PROGRAMS / 12, "{inside} inside, {outside} outside");
}
