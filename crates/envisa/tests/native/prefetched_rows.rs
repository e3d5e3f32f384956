//! Loops in which each channel goes along a row of its own: native code loads what comes next ahead, and nobody sees it.

use crate::kernels::only_kernel;
use crate::random::Chance;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Fault, Launch};

/// Sixteen channels, each from a place and for a number of dwords of its own, twice; `B` gets what they add up to.
/// What is written between the two passes is read by the second one.
fn kernel(step: i32, how: How) -> String {
    let store = "(R) lsc_store.ugm (M1, 16) flat[From]:a64 Sum:d32\n";
    let next = format!("add (M1, 16) From(0,0)<1> Go(0,0)<1;1,0> A(0,0)<0;1,0>\n{store}");
    let apart = "lsc_store.ugm (M1, 16) flat[Own]:a64 Sum:d32\n";
    let seldom = "add (M1_NM, 1) Turn(0,0)<1> Turn(0,0)<0;1,0> 0x1:d\n\
                  and (M1_NM, 1) Rest(0,0)<1> Turn(0,0)<0;1,0> 0x7:d\n\
                  cmp.eq (M1_NM, 16) T Rest(0,0)<0;1,0> 0x0:d\n\
                  mov (M1, 16) Any(0,0)<1> Own(0,0)<1;1,0>\n\
                  (T) add (M1, 16) Any(0,0)<1> To(0,0)<1;1,0> 0x8:uq\n\
                  lsc_store.ugm (M1, 16) flat[Any]:a64 Sum:d32\n";
    let [within, between, wait] = match how {
        How::Reads => ["", store, ""],
        How::GoesOn => ["", &next, ""],
        How::Writes => [store, "", ""],
        How::WritesElsewhere => [apart, "", ""],
        How::WritesSeldom => [seldom, "", ""],
        How::Barrier => ["", store, "barrier\n"],
    };
    let again = "mov (M1, 16) Go(0,0)<1> Place(0,0)<1;1,0>\n";
    let [once, each] = if how == How::GoesOn { [again, ""] } else { ["", again] };
    format!(
        r#"
.version 3.6
.kernel "walk"
.kernel_attr Target="cm"
.decl A v_type=G type=uq num_elts=1 align=qword
.decl B v_type=G type=uq num_elts=1 align=qword
.decl Thread v_type=G type=uq num_elts=1 align=qword
.decl Pass v_type=G type=d num_elts=1
.decl Lane v_type=G type=uw num_elts=16 align=wordx32
.decl At v_type=G type=ud num_elts=16 align=wordx32
.decl Place v_type=G type=d num_elts=16 align=wordx32
.decl Count v_type=G type=d num_elts=16 align=wordx32
.decl N v_type=G type=d num_elts=16 align=wordx32
.decl X v_type=G type=d num_elts=16 align=wordx32
.decl Sum v_type=G type=d num_elts=16 align=wordx32
.decl Go v_type=G type=d num_elts=16 align=wordx32
.decl P v_type=P num_elts=16
.decl Q v_type=P num_elts=1
.decl R v_type=P num_elts=16
.decl To v_type=G type=uq num_elts=16 align=wordx32
.decl From v_type=G type=uq num_elts=16 align=wordx32
.decl Own v_type=G type=uq num_elts=16 align=wordx32
.decl Any v_type=G type=uq num_elts=16 align=wordx32
.decl Turn v_type=G type=d num_elts=1
.decl Rest v_type=G type=d num_elts=1
.decl T v_type=P num_elts=16
.input A offset=64 size=8
.input B offset=72 size=8
.function "walk_main"
mov (M1, 8) Lane(0,0)<1> 0x76543210:v
add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw
mov (M1_NM, 1) Turn(0,0)<1> 0x0:d
and (M1, 1) Thread(0,0)<1> %r0(0,2)<0;1,0> 0xff:ud
shl (M1, 1) Thread(0,0)<1> Thread(0,0)<0;1,0> 0x7:uq
add (M1, 1) B(0,0)<1> B(0,0)<0;1,0> Thread(0,0)<0;1,0>
shl (M1, 16) At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud
add (M1, 16) To(0,0)<1> At(0,0)<1;1,0> B(0,0)<0;1,0>
mov (M1, 16) Own(0,0)<1> To(0,0)<1;1,0>
lsc_load.ugm (M1, 16) Place:d32 flat[To]:a64
lsc_load.ugm (M1, 16) Count:d32 flat[To+0x40]:a64
mov (M1, 16) Sum(0,0)<1> 0x1:d
mov (M1, 1) Pass(0,0)<1> 0x2:d
add (M1, 16) From(0,0)<1> Place(0,0)<1;1,0> A(0,0)<0;1,0>
cmp.gt (M1, 16) R Count(0,0)<1;1,0> 0x0:d
{once}pass:
{each}mov (M1, 16) N(0,0)<1> Count(0,0)<1;1,0>
cmp.gt (M1, 16) P N(0,0)<1;1,0> 0x0:d
(!P) goto (M1, 16) behind
again:
add (M1, 16) To(0,0)<1> Go(0,0)<1;1,0> A(0,0)<0;1,0>
lsc_load.ugm (M1, 16) X:d32 flat[To]:a64
mul (M1, 16) Sum(0,0)<1> Sum(0,0)<1;1,0> 0x1f:d
add (M1, 16) Sum(0,0)<1> Sum(0,0)<1;1,0> X(0,0)<1;1,0>
add (M1, 16) Go(0,0)<1> Go(0,0)<1;1,0> {step}:d
add (M1, 16) N(0,0)<1> N(0,0)<1;1,0> -1:d
{within}cmp.gt (M1, 16) P N(0,0)<1;1,0> 0x0:d
(P) goto (M1, 16) again
behind:
{between}{wait}add (M1, 1) Pass(0,0)<1> Pass(0,0)<0;1,0> -1:d
cmp.gt (M1, 1) Q Pass(0,0)<0;1,0> 0x0:d
(Q) jmp (M1, 1) pass
add (M1, 16) To(0,0)<1> At(0,0)<1;1,0> B(0,0)<0;1,0>
lsc_store.ugm (M1, 16) flat[To]:a64 Sum:d32
ret (M1, 1)
"#
    )
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum How {
    /// The loop only reads, the same both times.
    Reads,
    /// The second pass goes on where the first one ended, and that is written in between.
    GoesOn,
    /// It writes what it reads next.
    Writes,
    /// It writes to another buffer.
    WritesElsewhere,
    /// It writes to another buffer, and each eighth time two dwords ahead of where it reads.
    WritesSeldom,
    /// Its threads take turns in between.
    Barrier,
}

type Left = (Vec<u8>, Vec<u8>, Option<Box<Fault>>);

fn dwords(all: impl IntoIterator<Item = u32>) -> Vec<u8> {
    all.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Where each of a thread's channels begins, and how many it reads.
fn walks(c: &mut Chance, step: i32, length: u64) -> [u32; 32] {
    let far = [64, 8192, 36, 1024, 4][c.below(5) as usize];
    let (start, most) = (c.below(length / 4) & !3, [1, 3, 17, 40, 100][c.below(5) as usize]);
    let same = c.below(3) == 0;
    let number = 1 + c.below(most);
    // Some do not go at all, from anywhere.
    let near = c.below(3) != 0;
    let none: u64 = if c.below(3) == 0 { c.below(1 << 16) } else { 0 };
    std::array::from_fn(|k| {
        let off = none >> (k % 16) & 1 != 0;
        if k >= 16 {
            return if off {
                0
            } else if same {
                number as u32
            } else {
                c.below(most + 1) as u32
            };
        }
        if off {
            // Just below the buffer, if not anywhere.
            return if near {
                0u32.wrapping_sub(4 + 4 * c.below(12) as u32)
            } else {
                c.below(1 << 32) as u32
            };
        }
        let place = match c.below(40) {
            0 => c.below(length) & !3,
            1 => length - 4 * (c.below(24) + 1),
            _ => start + far * k as u64,
        };
        // Seldom outside.
        let place = if c.below(300) == 0 { length + 4 } else { place % length };
        if step < 0 { length.saturating_sub(place + 4) as u32 } else { place as u32 }
    })
}

#[test]
fn rows_of_channels_are_the_interpreters() {
    let mut chance = Chance(0x5eed_cafe);
    let (mut whole, mut faults) = (0, 0);
    for (how, rounds) in [
        (How::Reads, 40),
        (How::GoesOn, 30),
        (How::Writes, 12),
        (How::WritesElsewhere, 20),
        (How::WritesSeldom, 40),
        (How::Barrier, 20),
    ] {
        for step in [4, 8, -4, 0, 2] {
            let text = kernel(step, how);
            for _ in 0..rounds {
                let threads = if how == How::Barrier { 3 } else { 1 };
                let length = [1024, 4096, 40_960, 131_072][chance.below(4) as usize];
                let data = dwords((0..length / 4).map(|_| chance.below(1 << 32) as u32));
                let work = dwords((0..threads).flat_map(|_| walks(&mut chance, step, length)));
                let run = |engine| -> Left {
                    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24));
                    let kernel = only_kernel(&device, &text);
                    let a = device.buffer_from("a", &data).expect("there is memory");
                    let b = device.buffer_from("b", &work).expect("there is memory");
                    let launch = Launch::threads(&[1, 1, 1], threads)
                        .arg("A", &a)
                        .arg("B", &b)
                        .engine(engine)
                        .host_threads(1);
                    let outcome = device.run(&kernel, &launch).expect("it is launched");
                    (a.to_vec(), b.to_vec(), outcome.fault)
                };
                let [a, b] = [Engine::Unoptimized, Engine::Native].map(run);
                if a.2.is_some() {
                    faults += 1
                } else {
                    whole += 1
                }
                assert_eq!(a.2, b.2, "{how:?} by {step}: the fault");
                assert!(a == b, "{how:?} by {step}, {length} bytes: memory differs");
            }
        }
    }
    assert!(whole > 150 && faults > 20, "{whole} ended, {faults} faults");
}

/// Both halves of quads count.
const BOTH: &str = "add (M1, 32) X(0,0)<1> XD(0,0)<2;1,0> XD(0,1)<2;1,0>\n";

/// The same of surfaces, of 32 channels by one message, by one for each half, or of the second half alone: `T7` has where
/// they begin, how many they read, and gets the sums. What is outside is zero.
fn halves(step: i32, loads: &str) -> String {
    format!(
        r#"
.version 3.6
.kernel "walk"
.kernel_attr Target="cm"
.decl T6 v_type=T num_elts=1
.decl T7 v_type=T num_elts=1
.decl Lane v_type=G type=uw num_elts=32 align=wordx32
.decl At v_type=G type=ud num_elts=32 align=wordx32
.decl Go v_type=G type=d num_elts=32 align=wordx32
.decl N v_type=G type=d num_elts=32 align=wordx32
.decl X v_type=G type=d num_elts=32 align=wordx32
.decl XQ v_type=G type=q num_elts=32 align=wordx32
.decl XD v_type=G type=d num_elts=64 align=wordx32 alias=<XQ, 0>
.decl Sum v_type=G type=d num_elts=32 align=wordx32
.decl P v_type=P num_elts=32
.input T6 offset=64 size=4
.input T7 offset=68 size=4
.function "walk_main"
mov (M1, 8) Lane(0,0)<1> 0x76543210:v
add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw
add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw
shl (M1, 32) At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud
lsc_load.ugm (M1, 32) Go:d32 bti(T7)[At]:a32
lsc_load.ugm (M1, 32) N:d32 bti(T7)[At+0x80]:a32
mov (M1, 32) Sum(0,0)<1> 0x1:d
mov (M1, 32) X(0,0)<1> 0x0:d
mov (M1, 32) XQ(0,0)<1> 0x0:d
cmp.gt (M1, 32) P N(0,0)<1;1,0> 0x0:d
(!P) goto (M1, 32) behind
again:
{loads}mul (M1, 32) Sum(0,0)<1> Sum(0,0)<1;1,0> 0x1f:d
add (M1, 32) Sum(0,0)<1> Sum(0,0)<1;1,0> X(0,0)<1;1,0>
add (M1, 32) Go(0,0)<1> Go(0,0)<1;1,0> {step}:d
add (M1, 32) N(0,0)<1> N(0,0)<1;1,0> -1:d
cmp.gt (M1, 32) P N(0,0)<1;1,0> 0x0:d
(P) goto (M1, 32) again
behind:
lsc_store.ugm (M1, 32) bti(T7)[At]:a32 Sum:d32
ret (M1, 1)
"#
    )
}

/// What is left of a table, of what `T7` has, and the fault, where one thread runs.
fn walked(engine: Engine, text: &str, table: &[u8], work: &[u8]) -> Left {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24));
    let kernel = only_kernel(&device, text);
    let a = device.buffer_from("a", table).expect("there is memory");
    let b = device.buffer_from("b", work).expect("there is memory");
    let launch = Launch::threads(&[1, 1, 1], 1).arg("T6", &a).arg("T7", &b).engine(engine).host_threads(1);
    let launch = if text.contains(".input A ") { launch.arg("A", &a) } else { launch };
    let outcome = device.run(&kernel, launch).expect("it is launched");
    (a.to_vec(), b.to_vec(), outcome.fault)
}

#[test]
fn halves_of_channels_are_the_interpreters() {
    let mut chance = Chance(0x0dd_ba11);
    let mut outside = 0;
    let one = "lsc_load.ugm (M1, 32) X:d32 bti(T6)[Go]:a32\n";
    let low = "lsc_load.ugm (M1, 16) X:d32 bti(T6)[Go]:a32\n";
    let high = "lsc_load.ugm (M5, 16) X.64:d32 bti(T6)[Go.64]:a32\n";
    let two = format!("{low}{high}");
    let dwords_by = [4, 8, -4, 2];
    let bytes = one.replace("d32", "d8u32");
    let words = two.replace("d32", "d16u32");
    let quads = format!("lsc_load.ugm (M1, 32) XQ:d64 bti(T6)[Go]:a32\n{BOTH}");
    for (loads, steps) in [
        (quads.as_str(), [8, 16, -8, 4]),
        (one, dwords_by),
        (&two, dwords_by),
        (high, dwords_by),
        (&bytes, [1, 2, -1, 4]),
        (&words, [2, 4, -2, 1]),
    ] {
        for step in steps {
            let text = halves(step, loads);
            for _ in 0..40 {
                let length = [1024, 4096, 40_960, 131_072][chance.below(4) as usize];
                let data = dwords((0..length / 4).map(|_| chance.below(1 << 32) as u32));
                let [a, b] = [0, 1].map(|_| walks(&mut chance, step, length));
                let odd = match loads.contains("d32") || loads.contains("d64") {
                    true => u32::from(chance.below(8) == 0),
                    false => chance.below(4) as u32,
                };
                let mut work: Vec<u32> = [&a[..16], &b[..16], &a[16..], &b[16..]].concat();
                if loads.contains("d64") {
                    work[..32].iter_mut().for_each(|x| *x &= !7);
                }
                work[..32].iter_mut().for_each(|x| *x = x.wrapping_add(odd));
                outside += usize::from(work[..32].iter().any(|x| *x >= length as u32));
                let bytes = dwords(work);
                let [a, b] = [Engine::Unoptimized, Engine::Native].map(|e| walked(e, &text, &data, &bytes));
                assert_eq!(a.2, b.2, "{loads} by {step}: the fault");
                assert!(a == b, "{loads} by {step}, {length} bytes: memory differs");
            }
        }
    }
    assert!(outside > 20, "{outside} with channels that begin outside");
}

/// Places made of a vector and a scalar in every iteration, as `make` does, which `more` changes behind the load, twice. `T7`
/// has the vector, how often each channel reads, and gets the sums.
fn led(make: &str, more: &str, condition: &str) -> String {
    format!(
        r#"
.version 3.6
.kernel "walk"
.kernel_attr Target="cm"
.decl T6 v_type=T num_elts=1
.decl T7 v_type=T num_elts=1
.decl Lane v_type=G type=uw num_elts=32 align=wordx32
.decl At v_type=G type=ud num_elts=32 align=wordx32
.decl Rows v_type=G type=d num_elts=32 align=wordx32
.decl Go v_type=G type=d num_elts=32 align=wordx32
.decl N v_type=G type=d num_elts=32 align=wordx32
.decl Count v_type=G type=d num_elts=32 align=wordx32
.decl X v_type=G type=d num_elts=32 align=wordx32
.decl XQ v_type=G type=q num_elts=32 align=wordx32
.decl XD v_type=G type=d num_elts=64 align=wordx32 alias=<XQ, 0>
.decl Sum v_type=G type=d num_elts=32 align=wordx32
.decl Far v_type=G type=d num_elts=32 align=wordx32
.decl U v_type=G type=ud num_elts=32 align=wordx32 alias=<Go, 0>
.decl Wide v_type=G type=q num_elts=32 align=wordx32
.decl To v_type=G type=uq num_elts=32 align=wordx32
.decl A v_type=G type=uq num_elts=1 align=qword
.decl I v_type=G type=d num_elts=1
.decl J v_type=G type=d num_elts=1
.decl Some v_type=G type=d num_elts=1
.decl Left v_type=G type=d num_elts=1
.decl Pass v_type=G type=d num_elts=1
.decl P v_type=P num_elts=32
.decl Q v_type=P num_elts=32
.decl R v_type=P num_elts=1
.input T6 offset=64 size=4
.input T7 offset=68 size=4
.input A offset=72 size=8
.function "walk_main"
mov (M1, 8) Lane(0,0)<1> 0x76543210:v
add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw
add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw
shl (M1, 32) At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud
lsc_load.ugm (M1, 32) Rows:d32 bti(T7)[At]:a32
lsc_load.ugm (M1, 32) Count:d32 bti(T7)[At+0x80]:a32
cmp.gt (M1, 32) Q Count(0,0)<1;1,0> 0x1:d
mov (M1, 32) Go(0,0)<1> Rows(0,0)<1;1,0>
mov (M1, 32) Sum(0,0)<1> 0x1:d
mov (M1, 32) X(0,0)<1> 0x0:d
mov (M1, 32) XQ(0,0)<1> 0x0:d
mov (M1_NM, 1) Pass(0,0)<1> 0x2:d
mov (M1_NM, 1) I(0,0)<1> 0x0:d
mov (M1_NM, 1) J(0,0)<1> 0x0:d
pass:
mov (M1, 32) N(0,0)<1> Count(0,0)<1;1,0>
mov (M1_NM, 1) Left(0,0)<1> Count(0,3)<0;1,0>
again:
{make}mul (M1, 32) Sum(0,0)<1> Sum(0,0)<1;1,0> 0x1f:d
add (M1, 32) Sum(0,0)<1> Sum(0,0)<1;1,0> X(0,0)<1;1,0>
{more}add (M1, 32) N(0,0)<1> N(0,0)<1;1,0> -1:d
add (M1_NM, 1) Left(0,0)<1> Left(0,0)<0;1,0> -1:d
{condition}
(P) goto (M1, 32) again
add (M1, 32) Rows(0,0)<1> Rows(0,0)<1;1,0> 0x1:d
add (M1_NM, 1) Pass(0,0)<1> Pass(0,0)<0;1,0> -1:d
cmp.gt (M1_NM, 1) R Pass(0,0)<0;1,0> 0x0:d
(R) jmp (M1, 1) pass
lsc_store.ugm (M1, 32) bti(T7)[At]:a32 Sum:d32
ret (M1, 1)
"#
    )
}

#[test]
fn rows_that_a_scalar_leads_are_the_interpreters() {
    let mut chance = Chance(0x01ea_de25);
    let load = "shl (M1, 32) Far(0,0)<1> Go(0,0)<1;1,0> 0x2:d\n\
                lsc_load.ugm (M1, 32) X:d32 bti(T6)[Far]:a32\n";
    let loads_quads = format!(
        "shl (M1, 32) Far(0,0)<1> Go(0,0)<1;1,0> 0x3:d\nlsc_load.ugm (M1, 32) XQ:d64 bti(T6)[Far]:a32\n{BOTH}"
    );
    let quads = "mov (M1, 32) Wide(0,0)<1> U(0,0)<1;1,0>\n\
                 shl (M1, 32) Wide(0,0)<1> Wide(0,0)<1;1,0> 0x2:q\n\
                 add (M1, 32) To(0,0)<1> Wide(0,0)<1;1,0> A(0,0)<0;1,0>\n\
                 lsc_load.ugm (M1, 32) X:d32 flat[To]:a64\n";
    let add = "add (M1, 32) Go(0,0)<1> Rows(0,0)<1;1,0> I(0,0)<0;1,0>\n";
    let swapped = "add (M1, 32) Go(0,0)<1> I(0,0)<0;1,0> Rows(0,0)<1;1,0>\n";
    let minus = "add (M1, 32) Go(0,0)<1> Rows(0,0)<1;1,0> (-)I(0,0)<0;1,0>\n";
    let all = "cmp.gt (M1_NM, 32) P Left(0,0)<0;1,0> 0x0:d";
    let each = "cmp.gt (M1, 32) P N(0,0)<1;1,0> 0x0:d";
    let goes = |step: i32| format!("add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> {step}:d\n");
    let to_and_fro = "xor (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:d\n".to_string();
    let rows_go = "add (M1, 32) Rows(0,0)<1> Rows(0,0)<1;1,0> 0x1:d\n";
    // Now and then: sixteen times, and the next sixteen times not.
    let some = "shr (M1_NM, 1) Some(0,0)<1> Left(0,0)<0;1,0> 0x4:d\n\
                and (M1_NM, 1) Some(0,0)<1> Some(0,0)<0;1,0> 0x1:d\n";
    let rows_go_some = format!("{some}add (M1, 32) Rows(0,0)<1> Rows(0,0)<1;1,0> Some(0,0)<0;1,0>\n");
    let added_some = format!("{some}cmp.eq (M1_NM, 32) Q Some(0,0)<0;1,0> 0x0:d\n(Q) {add}{load}");
    // Others go first, and wait then for those that have less to do.
    let in_turn =
        format!("cmp.gt (M1, 32) Q N(0,0)<1;1,0> 0x14:d\n(Q) goto (M1, 32) skip\n{add}{load}skip:\n");
    let other = format!("{add}mov (M1_NM, 1) I(0,0)<1> J(0,0)<0;1,0>\n{load}");
    let otherwise = "add (M1, 32) Sum(0,0)<1> Sum(0,0)<1;1,0> I(0,0)<0;1,0>\n\
                     add (M1_NM, 1) J(0,0)<1> J(0,0)<0;1,0> 0x1:d\n\
                     mov (M1_NM, 1) I(0,0)<1> Left(0,0)<0;1,0>\n\
                     shr (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x3:d\n\
                     add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> J(0,0)<0;1,0>\n";
    let part = "lsc_load.ugm (M1, 16) X:d32 bti(T6)[Go]:a32\n";
    let halves = "add (M1, 16) Go(0,0)<1> Rows(0,0)<1;1,0> I(0,0)<0;1,0>\n\
                  add (M5, 16) Go(1,0)<1> Rows(1,0)<1;1,0> I(0,0)<0;1,0>\n\
                  shl (M1, 32) Go(0,0)<1> Go(0,0)<1;1,0> 0x2:d\n\
                  lsc_load.ugm (M1, 16) X:d32 bti(T6)[Go]:a32\n\
                  lsc_load.ugm (M5, 16) X.64:d32 bti(T6)[Go.64]:a32\n";
    let by = |make: &str| format!("{make}{load}");
    // The scalar's next value between the sum and the load.
    let before = |step: &str| format!("{add}{step}{load}");
    let loops = [
        (by(add), goes(1), all),
        (by(add), goes(1), each),
        (by(add), goes(-1), all),
        (by(add), goes(2), all),
        (by(add), goes(0), all),
        (by(add), to_and_fro.clone(), all),
        (by(swapped), goes(1), all),
        (by(minus), goes(-1), all),
        (by(add), format!("{rows_go}{}", goes(1)), all),
        (by(add), format!("{rows_go}{}", goes(-1)), all),
        (by(add), format!("(Q) {rows_go}{}", goes(1)), all),
        (by(&format!("(Q) {add}")), goes(1), all),
        (by(&format!("{add}(Q) {rows_go}")), goes(1), all),
        (before(&goes(1)), String::new(), all),
        (before(&goes(1)), to_and_fro, all),
        (before(&goes(1)), goes(1), all),
        (by(add), format!("{rows_go_some}{}", goes(1)), all),
        (added_some, goes(1), all),
        (in_turn, goes(1), all),
        (other, otherwise.to_string(), all),
        (format!("{add}{quads}"), goes(1), all),
        (format!("{add}{loads_quads}"), goes(1), all),
        (format!("{add}{loads_quads}"), goes(1), each),
        (format!("(Q) {add}{quads}"), goes(1), all),
        (halves.to_string(), goes(1), all),
        (format!("{add}shl (M1, 32) Go(0,0)<1> Go(0,0)<1;1,0> 0x2:d\n{part}"), goes(1), all),
        (format!("{add}{part}"), goes(4), all),
    ];
    let mut outside = 0;
    for (n, (make, more, condition)) in loops.iter().enumerate() {
        let text = led(make, more, condition);
        for round in 0..40 {
            let length = [2048, 4096, 40_960, 131_072][chance.below(4) as usize];
            let data = dwords((0..length / 4).map(|_| chance.below(1 << 32) as u32));
            let [a, b] = [0, 1].map(|_| walks(&mut chance, 4, length));
            let mut work: Vec<u32> = [&a[..16], &b[..16], &a[16..], &b[16..]].concat();
            if round % 2 == 0 {
                // All inside, also some iterations later.
                let (start, far) = (chance.below(64) as u32, [16, 9, 2][chance.below(3) as usize]);
                let rows = length as u32 / 4 - 256;
                (0..32).for_each(|k| work[k] = 4 * ((start + far * k as u32) % rows.max(1)));
                let number = 1 + chance.below(60) as u32;
                work[32..].iter_mut().for_each(|n| *n = 1 + *n % number);
                work[32 + 3] = number;
            }
            outside += usize::from(work[..32].iter().any(|x| *x >= length as u32));
            if make.contains("shl") {
                work[..32].iter_mut().for_each(|x| *x >>= 2);
            }
            let bytes = dwords(work);
            let [a, b] = [Engine::Unoptimized, Engine::Native].map(|e| walked(e, &text, &data, &bytes));
            assert_eq!(a.2, b.2, "loop {n}: the fault");
            assert!(a == b, "loop {n}, {length} bytes: memory differs");
        }
    }
    assert!(outside > 20, "{outside} with channels that begin outside");
}
