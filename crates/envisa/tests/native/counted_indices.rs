//! Loops over `size_t`, with sizes that the launch gives: `a[y * m + j]` or `a[j * m + y]` for `j` up to `n`. One kernel is launched with small
//! numbers and with such that products and sums of 32 bits wrap around, in any order: what is loaded is what the sum in 64
//! bits says, by the interpreter and by native code, or there is a fault.

use std::fmt::Write as _;

use crate::kernels::only_kernel;
use crate::random::Dice;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Kernel, Launch};

/// Dwords that are loaded from.
const LENGTH: u64 = 1 << 17;
/// Channels.
const N: u64 = 32;
/// Most rounds of a loop.
const ROUNDS: u64 = 6;

/// A loop.
struct Case {
    first: u64,
    step: u64,
    /// The upper dword is asked for first.
    upper_first: bool,
    /// The dwords are compared where they are (else copied).
    in_place: bool,
    /// A counter of 64 bits is less than another one, of which the upper dword is compared as well.
    whole: bool,
    /// All channels read the same place.
    same: bool,
    /// What the loop counts by is multiplied (else the row is).
    column: bool,
}

/// What a launch gives.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    y: u32,
    m: u32,
    n: u32,
}

impl Case {
    fn any(dice: &mut Dice) -> Case {
        Case {
            first: dice.pick(&[0, 0, 0, 1, 100, 0x7fff_fffe, 0xffff_fffe]),
            step: dice.pick(&[1, 1, 1, 2, 255, 0x1_0000]),
            upper_first: dice.below(2) == 0,
            in_place: dice.below(2) == 0,
            whole: dice.below(4) == 0,
            same: dice.below(2) == 0,
            column: dice.below(2) == 0,
        }
    }

    fn sizes(&self, dice: &mut Dice) -> Sizes {
        // Products of which 32 bits are small, and such as have them all.
        let wraps =
            [(0x1_0000, 0x1_0000), (2, 0x8000_0000), (4, 0x4000_0000), (0x8000_0000, 30), (0x8000, 0x2_0000)];
        let (y, m) = match dice.below(5) {
            0 => dice.pick(&wraps),
            1 => (dice.below(40) as u32, dice.pick(&[0x1_0001, 0x7fff_ffff, 0x8000_0000, u32::MAX])),
            _ => (dice.below(40) as u32, dice.below(60) as u32),
        };
        let y = if self.column { y % 64 } else { y };
        let n = (self.first + dice.below(ROUNDS) * self.step).min(u64::from(u32::MAX)) as u32;
        Sizes { y, m, n }
    }

    /// What the loop counts by, round by round.
    fn counts(&self, s: Sizes) -> Vec<u64> {
        let mut all = vec![self.first];
        let mut next = self.first + self.step;
        while next < u64::from(s.n) {
            all.push(next);
            next += self.step;
        }
        all
    }

    fn index(&self, s: Sizes, count: u64, lane: u64) -> u64 {
        let y = s.y.wrapping_add(if self.same { 0 } else { lane as u32 });
        match self.column {
            true => count.wrapping_mul(s.m.into()).wrapping_add(y.into()),
            false => (u64::from(y) * u64::from(s.m)).wrapping_add(count),
        }
    }

    fn text(&self) -> String {
        let mut t = String::from(
            ".version 3.6\n.kernel \"counted\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=32\n\
             .decl Lane v_type=G type=uw num_elts=32 align=wordx32\n\
             .decl At v_type=G type=ud num_elts=32 align=wordx32\n\
             .decl Y v_type=G type=ud num_elts=32 align=wordx32\n\
             .decl Low v_type=G type=ud num_elts=32 align=wordx32\n\
             .decl Up v_type=G type=ud num_elts=32 align=wordx32\n\
             .decl X v_type=G type=ud num_elts=32 align=wordx32\n\
             .decl P v_type=G type=q num_elts=32 align=wordx32\n\
             .decl PH v_type=G type=d num_elts=64 align=wordx32 alias=<P, 0>\n\
             .decl Sum v_type=G type=q num_elts=32 align=wordx32\n\
             .decl To v_type=G type=q num_elts=32 align=wordx32\n\
             .decl Row v_type=G type=q num_elts=32 align=wordx32\n\
             .decl C v_type=G type=q num_elts=1 align=qword\n\
             .decl D v_type=G type=q num_elts=1 align=qword\n\
             .decl Q v_type=G type=q num_elts=1 align=qword\n\
             .decl QH v_type=G type=ud num_elts=2 alias=<Q, 0>\n\
             .decl Low1 v_type=G type=ud num_elts=1\n.decl Up1 v_type=G type=ud num_elts=1\n\
             .decl W1 v_type=G type=ud num_elts=1\n\
             .decl CH v_type=G type=d num_elts=2 alias=<C, 0>\n\
             .decl CU v_type=G type=ud num_elts=2 alias=<C, 0>\n\
             .decl E v_type=G type=d num_elts=2 align=qword\n\
             .decl EU v_type=G type=ud num_elts=2 alias=<E, 0>\n\
             .decl A v_type=G type=q num_elts=1 align=qword\n.decl B v_type=G type=q num_elts=1 align=qword\n\
             .decl Y0 v_type=G type=ud num_elts=1\n.decl M v_type=G type=ud num_elts=1\n\
             .decl Limit v_type=G type=ud num_elts=1\n\
             .decl P1 v_type=P num_elts=32\n.decl P2 v_type=P num_elts=32\n.decl P3 v_type=P num_elts=32\n\
             .input A offset=64 size=8\n.input B offset=72 size=8\n.input Y0 offset=80 size=4\n\
             .input M offset=84 size=4\n.input Limit offset=88 size=4\n\
             .function \"counted_main\"\n\
             mov (M1, 8) Lane(0,0)<1> 0x76543210:v\n\
             add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw\n\
             add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw\n\
             shl (M1, 32) At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud\n\
",
        );
        t += if self.same {
            "mov (M1, 32) Y(0,0)<1> Y0(0,0)<0;1,0>\n"
        } else {
            "add (M1, 32) Y(0,0)<1> Lane(0,0)<1;1,0> Y0(0,0)<0;1,0>\n"
        };
        if self.column {
            t += "mov (M1, 32) P(0,0)<1> Y(0,0)<1;1,0>\n";
        } else {
            t += "mul (M1, 32) Low(0,0)<1> Y(0,0)<1;1,0> M(0,0)<0;1,0>\n\
                  mulh (M1, 32) Up(0,0)<1> Y(0,0)<1;1,0> M(0,0)<0;1,0>\n";
            for (half, name) in [(0, "Low"), (1, "Up")] {
                let _ = writeln!(t, "mov (M1, 16) PH(0,{half})<2> {name}(0,0)<1;1,0>");
                let _ = writeln!(t, "mov (M5, 16) PH(2,{half})<2> {name}(1,0)<1;1,0>");
            }
        }
        // What a loop does not change is added up before it, as compilers do.
        t += "shl (M1, 32) Row(0,0)<1> P(0,0)<1;1,0> 0x2:q\n\
              add (M1, 32) Sum(0,0)<1> Row(0,0)<1;1,0> A(0,0)<0;1,0>\n";
        let _ = writeln!(t, "mov (M1_NM, 1) C(0,0)<1> {:#x}:q\nagain:", self.first);
        if self.column {
            t += "mul (M1_NM, 1) Low1(0,0)<1> CU(0,0)<0;1,0> M(0,0)<0;1,0>\n\
                  mulh (M1_NM, 1) Up1(0,0)<1> CU(0,0)<0;1,0> M(0,0)<0;1,0>\n\
                  mul (M1_NM, 1) W1(0,0)<1> M(0,0)<0;1,0> CU(0,1)<0;1,0>\n\
                  add (M1_NM, 1) Up1(0,0)<1> Up1(0,0)<0;1,0> W1(0,0)<0;1,0>\n\
                  mov (M1_NM, 1) QH(0,0)<1> Low1(0,0)<0;1,0>\nmov (M1_NM, 1) QH(0,1)<1> Up1(0,0)<0;1,0>\n";
        }
        let counted = if self.column { "Q" } else { "C" };
        let _ = writeln!(t, "shl (M1_NM, 1) D(0,0)<1> {counted}(0,0)<0;1,0> 0x2:q");
        t += "\
              add (M1, 32) To(0,0)<1> Sum(0,0)<1;1,0> D(0,0)<0;1,0>\n\
              lsc_load.ugm (M1, 32) X:d32 flat[To]:a64\n\
              add (M1, 32) To(0,0)<1> At(0,0)<1;1,0> B(0,0)<0;1,0>\n\
              lsc_store.ugm (M1, 32) flat[To]:a64 X:d32\n\
              add (M1_NM, 1) B(0,0)<1> B(0,0)<0;1,0> 0x80:q\n";
        let _ = writeln!(t, "add (M1_NM, 1) C(0,0)<1> C(0,0)<0;1,0> {:#x}:q", self.step);
        let (dwords, unsigned) = if self.in_place { ("CH", "CU") } else { ("E", "EU") };
        if !self.in_place {
            t += "mov (M1_NM, 2) E(0,0)<1> CH(0,0)<2;2,1>\n";
        }
        let less = format!("cmp.lt (M1_NM, 32) P2 {unsigned}(0,0)<0;1,0> Limit(0,0)<0;1,0>\n");
        let zero = format!("cmp.eq (M1_NM, 32) P3 {dwords}(0,1)<0;1,0> 0x0:d\n");
        t += &if self.upper_first { zero + &less } else { less + &zero };
        t += "and (M1_NM, 32) P3 P3 P2\n";
        if self.whole {
            let _ = writeln!(t, "cmp.lt (M1_NM, 32) P1 {unsigned}(0,1)<0;1,0> 0x0:ud");
            t += "or (M1_NM, 32) P3 P3 P1\n";
        }
        t + "(P3) goto (M1, 1) again\nret (M1, 1)\n"
    }

    /// What is loaded, by rounds and channels; `None` where the run has a fault.
    fn run(&self, device: &Device, kernel: &Kernel, s: Sizes, engine: Engine) -> Option<Vec<u8>> {
        let data: Vec<u8> = (0..LENGTH as u32).flat_map(|k| datum(k).to_le_bytes()).collect();
        let a = device.buffer_from("a", &data).expect("there is memory");
        let b = device.buffer("b", 4 * self.counts(s).len() as u64 * N).expect("there is memory");
        let launch = Launch::threads(&[1, 1, 1], 1).arg("A", &a).arg("B", &b);
        let launch = launch.arg("Y0", s.y).arg("M", s.m).arg("Limit", s.n);
        let outcome = device.run(kernel, launch.engine(engine).host_threads(1)).expect("it is launched");
        outcome.fault.is_none().then(|| b.to_vec())
    }
}

fn datum(k: u32) -> u32 {
    k.wrapping_mul(0x9e37_79b1)
}

#[test]
fn what_loops_count_in_64_bits_is_counted() {
    let (mut dice, mut inside, mut outside) = (Dice(29), 0, 0);
    for k in 0..300 {
        let case = Case::any(&mut dice);
        let text = case.text();
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 21));
        let kernel = only_kernel(&device, &text);
        for _ in 0..5 {
            let s = case.sizes(&mut dice);
            let counts = case.counts(s);
            let places: Vec<u64> =
                counts.iter().flat_map(|c| (0..N).map(|lane| case.index(s, *c, lane))).collect();
            let fits = places.iter().all(|p| *p < LENGTH);
            let expected: Vec<u8> =
                places.iter().filter(|_| fits).flat_map(|p| datum(*p as u32).to_le_bytes()).collect();
            (inside, outside) = (inside + u32::from(fits), outside + u32::from(!fits));
            for engine in [Engine::Unoptimized, Engine::Native] {
                let got = case.run(&device, &kernel, s, engine);
                let told = || format!("case {k} by {engine:?}, {s:x?}, places {places:x?}\n{text}");
                assert_eq!(got.is_some(), fits, "is there no fault? {}", told());
                assert!(got.is_none_or(|got| got == expected), "{}", told());
            }
        }
    }
    assert!(inside > 400 && outside > 100, "{inside} inside, {outside} outside");
}
