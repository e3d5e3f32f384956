//! Loops in which each channel loads from and stores to a row of its own, which native code does in a cache of columns:
//! memory is what the interpreter makes it, whatever else the loop does, and faults are its faults.

use std::fmt::Write as _;

use crate::kernels::only_kernel;
use crate::random::Chance;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Fault, Launch};

/// Channels.
const N: usize = 32;
/// Bytes of the table of where channels begin and how often they go on.
const WORK: usize = 8 * N;

/// An access of the loop, so many bytes from where the channel is.
#[derive(Clone, Copy, Debug)]
struct Access {
    surface: &'static str,
    behind: i32,
    write: bool,
    /// How many dwords.
    elements: usize,
    /// Of the channels that are odd.
    some: bool,
    /// At the same place for all channels.
    alone: bool,
}

#[derive(Debug)]
struct Case {
    accesses: Vec<Access>,
    step: i32,
    /// How many iterations of the loop around it.
    passes: u32,
    /// `T6` and `T8` are the same memory.
    same: bool,
    bytes: u64,
}

impl Case {
    fn any(c: &mut Chance) -> Case {
        let pick = |c: &mut Chance, all: &[i32]| all[c.below(all.len() as u64) as usize];
        let step = pick(c, &[4, 4, 4, 8, -4, -8, 0, 12, 2]);
        let (near, rare) = ([0, 0, 0, -step, step, 2 * step], [64, -64, 128, -2048, 1, 4096]);
        let accesses = (0..1 + c.below(5))
            .map(|_| Access {
                surface: ["T6", "T6", "T8"][c.below(3) as usize],
                behind: if c.below(12) == 0 { pick(c, &rare) } else { pick(c, &near) },
                write: c.below(2) == 0,
                elements: [1, 1, 1, 2, 3, 4][c.below(6) as usize],
                some: c.below(12) == 0,
                alone: c.below(25) == 0,
            })
            // Those are a dword apart.
            .map(|a| Access { elements: if a.alone { 1 } else { a.elements }, ..a })
            .collect();
        let bytes = [1024, 8192, 65_536, 262_144][c.below(4) as usize];
        Case { accesses, step, passes: 1 + c.below(2) as u32, same: c.below(6) == 0, bytes }
    }

    fn body(&self) -> String {
        let mut t = String::new();
        for a in &self.accesses {
            let from = if a.alone { "At" } else { "Go" };
            let _ = writeln!(t, "add (M1, 32) To(0,0)<1> {from}(0,0)<1;1,0> {:#x}:d", a.behind);
            let on = if a.some { "(O) " } else { "" };
            let vector = ["", "", "x2", "x3", "x4"][a.elements];
            let _ = match a.write {
                true => writeln!(
                    t,
                    "mov (M1, 32) Sums(0,0)<1> Sum(0,0)<1;1,0>\n\
                     {on}lsc_store.ugm (M1, 32) bti({})[To]:a32 Sums:d32{vector}",
                    a.surface
                ),
                false => writeln!(
                    t,
                    "{on}lsc_load.ugm (M1, 32) Xs:d32{vector} bti({})[To]:a32\n\
                     mov (M1, 32) X(0,0)<1> Xs({},0)<1;1,0>\n\
                     mul (M1, 32) Sum(0,0)<1> Sum(0,0)<1;1,0> 0x1f:d\n\
                     add (M1, 32) Sum(0,0)<1> Sum(0,0)<1;1,0> X(0,0)<1;1,0>",
                    a.surface,
                    2 * (a.elements - 1)
                ),
            };
        }
        t
    }

    fn text(&self) -> String {
        format!(
            r#"
.version 3.6
.kernel "rows"
.kernel_attr Target="cm"
.decl T6 v_type=T num_elts=1
.decl T7 v_type=T num_elts=1
.decl T8 v_type=T num_elts=1
.decl Lane v_type=G type=uw num_elts=32 align=wordx32
.decl Odd v_type=G type=uw num_elts=32 align=wordx32
.decl At v_type=G type=ud num_elts=32 align=wordx32
.decl Begin v_type=G type=d num_elts=32 align=wordx32
.decl Go v_type=G type=d num_elts=32 align=wordx32
.decl To v_type=G type=d num_elts=32 align=wordx32
.decl Count v_type=G type=d num_elts=32 align=wordx32
.decl N v_type=G type=d num_elts=32 align=wordx32
.decl X v_type=G type=d num_elts=32 align=wordx32
.decl Sum v_type=G type=d num_elts=32 align=wordx32
.decl Xs v_type=G type=d num_elts=128 align=wordx32
.decl Sums v_type=G type=d num_elts=128 align=wordx32
.decl Pass v_type=G type=d num_elts=1
.decl P v_type=P num_elts=32
.decl O v_type=P num_elts=32
.decl Q v_type=P num_elts=1
.input T6 offset=64 size=4
.input T7 offset=68 size=4
.input T8 offset=72 size=4
.function "rows_main"
mov (M1, 8) Lane(0,0)<1> 0x76543210:v
add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw
add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw
and (M1, 32) Odd(0,0)<1> Lane(0,0)<1;1,0> 0x1:uw
cmp.eq (M1, 32) O Odd(0,0)<1;1,0> 0x1:uw
shl (M1, 32) At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud
lsc_load.ugm (M1, 32) Begin:d32 bti(T7)[At]:a32
lsc_load.ugm (M1, 32) Count:d32 bti(T7)[At+0x80]:a32
mov (M1, 32) Sum(0,0)<1> 0x1:d
add (M1, 32) Sum(0,0)<1> Sum(0,0)<1;1,0> Lane(0,0)<1;1,0>
mov (M1, 32) X(0,0)<1> 0x7:d
mov (M1, 32) Xs(0,0)<1> 0x7:d
mov (M1, 32) Xs(2,0)<1> 0x7:d
mov (M1, 32) Xs(4,0)<1> 0x7:d
mov (M1, 32) Xs(6,0)<1> 0x7:d
mov (M1, 32) Sums(2,0)<1> Begin(0,0)<1;1,0>
mov (M1, 32) Sums(4,0)<1> Count(0,0)<1;1,0>
mov (M1, 32) Sums(6,0)<1> At(0,0)<1;1,0>
mov (M1_NM, 1) Pass(0,0)<1> {passes:#x}:d
pass:
mov (M1, 32) Go(0,0)<1> Begin(0,0)<1;1,0>
mov (M1, 32) N(0,0)<1> Count(0,0)<1;1,0>
cmp.gt (M1, 32) P N(0,0)<1;1,0> 0x0:d
(!P) goto (M1, 32) behind
again:
{body}add (M1, 32) Go(0,0)<1> Go(0,0)<1;1,0> {step}:d
add (M1, 32) N(0,0)<1> N(0,0)<1;1,0> -1:d
cmp.gt (M1, 32) P N(0,0)<1;1,0> 0x0:d
(P) goto (M1, 32) again
behind:
add (M1, 32) To(0,0)<1> Begin(0,0)<1;1,0> 0x4:d
lsc_load.ugm (M1, 32) X:d32 bti(T6)[To]:a32
add (M1, 32) Sum(0,0)<1> Sum(0,0)<1;1,0> X(0,0)<1;1,0>
add (M1, 1) Pass(0,0)<1> Pass(0,0)<0;1,0> -1:d
cmp.gt (M1, 1) Q Pass(0,0)<0;1,0> 0x0:d
(Q) jmp (M1, 1) pass
lsc_store.ugm (M1, 32) bti(T7)[At]:a32 Sum:d32
ret (M1, 1)
"#,
            passes = self.passes,
            body = self.body(),
            step = self.step,
        )
    }

    /// Where channels begin, and how often each goes on.
    fn walks(&self, c: &mut Chance) -> Vec<u8> {
        let far = [4096, 8192, 128, 132, 1000, 256, 64, 20, 4, 0][c.below(10) as usize];
        let count = [1, 5, 16, 33, 70, 150][c.below(6) as usize];
        let same = c.below(4) != 0;
        let start = if self.step < 0 { 4 * count } else { 4 * c.below(40) };
        let backward = c.below(5) == 0;
        let mut begins: Vec<u32> = (0..N as u64).map(|k| ((start + far * k) % self.bytes) as u32).collect();
        if backward {
            begins.reverse();
        }
        if c.below(8) == 0 {
            begins[c.below(N as u64) as usize] = (self.bytes - 4 * c.below(30)) as u32;
        }
        if self.accesses.iter().any(|a| a.write && a.elements > 1) {
            // Which of two channels stores last to a dword that is not the first one of both, nobody says.
            begins.iter_mut().for_each(|b| *b = (*b & !15) + (start % 16) as u32);
        }
        let counts = (0..N).map(|_| if same { count } else { c.below(count + 1) } as u32).collect::<Vec<_>>();
        begins.into_iter().chain(counts).flat_map(u32::to_le_bytes).collect()
    }
}

type Left = (Vec<u8>, Vec<u8>, Vec<u8>, Option<Box<Fault>>);

fn run(engine: Engine, case: &Case, text: &str, data: &[u8], work: &[u8]) -> Left {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24));
    let kernel = only_kernel(&device, text);
    let [a, b] = [data, work].map(|of| device.buffer_from("a", of).expect("there is memory"));
    let c = device.buffer_from("c", data).expect("there is memory");
    let launch = Launch::threads(&[1, 1, 1], 1).arg("T6", &a).arg("T7", &b).engine(engine).host_threads(1);
    let launch = launch.arg("T8", if case.same { &a } else { &c });
    let outcome = device.run(&kernel, launch).expect("it is launched");
    (a.to_vec(), b.to_vec(), c.to_vec(), outcome.fault)
}

#[test]
fn rows_that_are_loaded_and_stored_are_the_interpreters() {
    let mut chance = Chance(0xca5e_0f40);
    let rounds = std::env::var("ENVISA_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let (mut ended, mut faults) = (0, 0);
    for round in 0..rounds {
        let case = Case::any(&mut chance);
        let text = case.text();
        for _ in 0..3 {
            let data: Vec<u8> =
                (0..case.bytes / 4).flat_map(|_| (chance.below(1 << 32) as u32).to_le_bytes()).collect();
            let work = case.walks(&mut chance);
            assert_eq!(work.len(), WORK, "a place and a number for each channel");
            let [a, b] =
                [Engine::Unoptimized, Engine::Native].map(|engine| run(engine, &case, &text, &data, &work));
            if a.3.is_some() {
                faults += 1;
            } else {
                ended += 1;
            }
            assert_eq!(a.3, b.3, "the fault of {case:?}");
            let differ = |a: &[u8], b: &[u8]| a.iter().zip(b).position(|(a, b)| a != b);
            let first = [differ(&a.0, &b.0), differ(&a.1, &b.1), differ(&a.2, &b.2)];
            assert!(
                a == b,
                "round {round}: memory differs, from {first:?} on, after {case:?} of {work:?}\n{text}"
            );
        }
    }
    assert!(ended > rounds, "{ended} ended, {faults} faults");
}
