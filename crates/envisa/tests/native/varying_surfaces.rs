//! Messages whose surface varies from one access to the next, whose addresses have an origin that is not a constant, or
//! whose elements are far apart: native code does what the interpreter does, and leaves none of them to it.

use std::fmt::Write as _;

use crate::kernels::{NO_CPU, only_kernel};
use crate::random::Dice;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Launch};

const BEGIN: &str = "\
.version 3.6
.kernel \"windows\"
.kernel_attr Target=\"cm\"
.kernel_attr SimdSize=16
.kernel_attr SLMSize=4
.decl A v_type=G type=uq num_elts=1 align=qword
.decl S v_type=G type=d num_elts=4
.decl K v_type=G type=d num_elts=1
.decl C v_type=G type=d num_elts=1
.decl O v_type=G type=d num_elts=1
.decl Lane v_type=G type=uw num_elts=16 align=wordx32
.decl At v_type=G type=ud num_elts=16 align=wordx32
.decl V v_type=G type=ud num_elts=32 align=wordx32
.decl X v_type=G type=ud num_elts=16 align=wordx32
.decl Wide v_type=G type=uq num_elts=16 align=wordx32
.decl P v_type=P num_elts=16
.decl Q v_type=P num_elts=1
.decl T6 v_type=T num_elts=1
.decl T7 v_type=T num_elts=1
.decl T8 v_type=T num_elts=1
.input A offset=64 size=8
.input T6 offset=72 size=4
.input T7 offset=76 size=4
.input S offset=96 size=16
.function \"windows_main\"
mov (M1, 8) Lane(0,0)<1> 0x76543210:v
add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw
mul (M1, 16) X(0,0)<1> Lane(0,0)<1;1,0> 0x9e3779b1:ud
mov (M1, 16) V(0,0)<1> X(0,0)<1;1,0>
mov (M1, 16) V(0,16)<1> X(0,0)<1;1,0>
movs (M1_NM, 1) T8(0) T6(0)
mov (M1_NM, 1) K(0,0)<1> 0x6:d
again:
and (M1_NM, 1) C(0,0)<1> K(0,0)<0;1,0> 0x2:d
mul (M1_NM, 1) O(0,0)<1> S(0,0)<0;1,0> K(0,0)<0;1,0>
add (M1_NM, 1) O(0,0)<1> O(0,0)<0;1,0> S(0,1)<0;1,0>
cmp.ne (M1_NM, 1) Q C(0,0)<0;1,0> 0x0:d
movs (M1_NM, 1) T8(0) T6(0)
(Q) jmp (M1, 1) first
movs (M1_NM, 1) T8(0) T7(0)
first:
";

/// A message at an element of so many bytes for each channel.
fn access(d: &mut Dice, text: &mut String) {
    let mut line = |l: String| {
        let _ = writeln!(text, "{l}");
    };
    if d.below(6) == 0 {
        // Consecutive bytes.
        let what = d.pick(&["oword_ld (2) T8 O(0,0)<0;1,0> V.0", "oword_st (4) T8 O(0,0)<0;1,0> X.0"]);
        return line(what.into());
    }
    let n = d.pick(&[16, 16, 16, 16, 8, 4, 2, 1]);
    let nm = if n < 8 { "_NM" } else { "" };
    let (shift, and) = d.pick(&[(2u32, 127u32), (2, 127), (0, 511), (3, 63), (5, 15), (7, 3), (10, 0)]);
    match d.below(4) {
        0 => line("mov (M1_NM, 16) At(0,0)<1> Lane(0,0)<1;1,0>".into()),
        1 => line(format!("mov (M1_NM, 16) At(0,0)<1> {:#x}:ud", d.below(16))),
        _ => line(format!("xor (M1_NM, 16) At(0,0)<1> X(0,0)<1;1,0> {:#x}:ud", d.below(1 << 20))),
    }
    line(format!("and (M1_NM, 16) At(0,0)<1> At(0,0)<1;1,0> {and:#x}:ud"));
    let guard = if n >= 8 && d.below(3) == 0 {
        line(format!("cmp.lt (M1, 16) P Lane(0,0)<1;1,0> {:#x}:uw", d.below(17)));
        "(P) "
    } else {
        ""
    };
    // Pairs do not overlap: which channel's half stays is nobody's to say.
    let data = d.pick(&["d32", "d32", if shift >= 3 { "d32x2" } else { "d32" }, "d8c32", "d16c32"]);
    let write = d.below(2) == 0;
    let to = if write { "X" } else { "V" };
    let to = if write && data == "d32x2" { "V" } else { to };
    let (memory, place) = match d.below(8) {
        0..=2 => {
            // A factor of an index that becomes an address of 64 bits.
            line(format!("mov (M1{nm}, {n}) Wide(0,0)<1> At(0,0)<1;1,0>"));
            line(format!("shl (M1{nm}, {n}) Wide(0,0)<1> Wide(0,0)<1;1,0> {shift:#x}:uq"));
            line(format!("add (M1{nm}, {n}) Wide(0,0)<1> Wide(0,0)<1;1,0> A(0,0)<0;1,0>"));
            ("ugm", "flat[Wide]:a64".to_owned())
        }
        other => {
            line(format!("shl (M1{nm}, {n}) At(0,0)<1> At(0,0)<1;1,0> {:#x}:ud", shift.min(5)));
            line(format!("add (M1{nm}, {n}) At(0,0)<1> At(0,0)<1;1,0> O(0,0)<0;1,0>"));
            match other {
                3 => ("slm", "flat[At]:a32".to_owned()),
                4 => ("ugm", "bti(T6)[At]:a32".to_owned()),
                _ => ("ugm", "bti(T8)[At]:a32".to_owned()),
            }
        }
    };
    let atomic = data == "d32" && !matches!(n, 2 | 4) && !place.starts_with("flat[W") && d.below(4) == 0;
    if atomic {
        line(format!("{guard}lsc_atomic_iadd.{memory} (M1{nm}, {n}) V:d32 {place} X %null"));
    } else if write {
        line(format!("{guard}lsc_store.{memory} (M1{nm}, {n}) {place} {to}:{data}"));
    } else {
        line(format!("{guard}lsc_load.{memory} (M1{nm}, {n}) {to}:{data} {place}"));
    }
    line("xor (M1_NM, 16) X(0,0)<1> X(0,0)<1;1,0> V(0,0)<1;1,0>".into());
    line("add (M1_NM, 16) X(0,0)<1> X(0,0)<1;1,0> V(0,16)<1;1,0>".into());
}

fn program(d: &mut Dice) -> String {
    let mut text = String::from(BEGIN);
    for _ in 0..3 + d.below(4) {
        access(d, &mut text);
    }
    text.push_str(
        "\
add (M1_NM, 1) K(0,0)<1> K(0,0)<0;1,0> 0xffffffff:d
cmp.ne (M1_NM, 1) Q K(0,0)<0;1,0> 0x0:d
(Q) jmp (M1, 1) again
shl (M1_NM, 16) At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud
lsc_store.ugm (M1_NM, 16) bti(T6)[At]:a32 X:d32
ret (M1, 16)
",
    );
    text
}

#[test]
fn surfaces_origins_and_factors_that_vary() {
    let (mut faults, mut native) = (0, 0);
    const PROGRAMS: u64 = 250;
    for seed in 0..PROGRAMS {
        let mut d = Dice(seed);
        let text = program(&mut d);
        // Where elements begin, and how much further each time round: also past the ends.
        let origin: [i32; 2] = [d.pick(&[0, 4, 16, 64, -8, 1 << 20]), d.pick(&[0, 0, 4, 64, 700, -4])];
        let sizes = [d.pick(&[4096, 4096, 520]), d.pick(&[4096, 1000])];
        let run = |engine| {
            let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
            let kernel = only_kernel(&device, &text);
            let buffers = [4096, sizes[0], sizes[1]].map(|n: u64| {
                let content: Vec<u8> = (0..n).map(|k| ((k * 37 + n) >> 3) as u8).collect();
                device.buffer_from("a", &content).expect("there is memory")
            });
            let s: Vec<u8> = [origin[0], origin[1], 0, 0].iter().flat_map(|x| x.to_le_bytes()).collect();
            let launch = Launch::threads(&[2, 1, 1], 1).engine(engine).host_threads(1);
            let launch =
                launch.arg("A", &buffers[0]).arg("T6", &buffers[1]).arg("T7", &buffers[2]).arg("S", s);
            let outcome = device.run(&kernel, &launch).expect("it is launched");
            let left = match kernel.native_listing() {
                // Messages; those of few channels may have what they move in a register with more.
                Ok(l) => {
                    let message = |l: &&str| l.contains(" Message ") && l.contains("by the interpreter");
                    let other = |l: &&str| !l.contains("a part of a vector in a register");
                    l.lines().filter(message).filter(other).map(str::to_owned).collect()
                }
                Err(why) if why.contains(NO_CPU) => Vec::new(),
                Err(why) => vec![why],
            };
            (buffers.map(|b| b.to_vec()), outcome.fault.map(|f| format!("{f:?}")), left)
        };
        let (want, got) = (run(Engine::Unoptimized), run(Engine::Native));
        assert_eq!(want.1, got.1, "program {seed}:\n{text}");
        for (k, (a, b)) in want.0.iter().zip(&got.0).enumerate() {
            let at = a.iter().zip(b).position(|(a, b)| a != b);
            assert_eq!(at, None, "program {seed}, buffer {k}, {origin:?} {sizes:?}:\n{text}");
        }
        assert!(got.2.is_empty(), "program {seed}: {:?}\n{text}", got.2);
        faults += usize::from(want.1.is_some());
        native += 1;
    }
    assert!((4..200).contains(&faults), "{faults} of {native} programs fault");
}

/// Halves of a message whose places are made apart: those of the first are two rows of eight, which is found out when it
/// is executed, those of the second are one place.
#[test]
fn halves_of_two_kinds() {
    let text = "\
.version 3.6
.kernel \"windows\"
.kernel_attr Target=\"cm\"
.kernel_attr SimdSize=32
.decl K v_type=G type=d num_elts=1
.decl Lane v_type=G type=uw num_elts=16 align=wordx32
.decl At v_type=G type=ud num_elts=32 align=wordx32
.decl To v_type=G type=ud num_elts=32 align=wordx32
.decl X v_type=G type=ud num_elts=32 align=wordx32
.decl Q v_type=P num_elts=1
.decl T6 v_type=T num_elts=1
.decl T7 v_type=T num_elts=1
.input T6 offset=72 size=4
.input T7 offset=76 size=4
.function \"windows_main\"
mov (M1, 8) Lane(0,0)<1> 0x76543210:v
add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw
shl (M1, 16) To(0,0)<1> Lane(0,0)<1;1,0> 0x2:uw
add (M5, 16) To(1,0)<1> To(0,0)<1;1,0> 0x40:ud
mov (M1_NM, 1) K(0,0)<1> 0x4:d
again:
xor (M1, 16) At(0,0)<1> To(0,0)<1;1,0> 0x20:ud
mov (M5, 16) At(1,0)<1> 0x64:ud
lsc_load.ugm (M1, 32) X:d32 bti(T6)[At]:a32
lsc_store.ugm (M1, 32) bti(T7)[To]:a32 X:d32
add (M1_NM, 1) K(0,0)<1> K(0,0)<0;1,0> 0xffffffff:d
add (M1, 32) To(0,0)<1> To(0,0)<1;1,0> 0x80:ud
and (M1, 16) At(0,0)<1> To(0,0)<1;1,0> 0x3f:ud
cmp.ne (M1_NM, 1) Q K(0,0)<0;1,0> 0x0:d
(Q) jmp (M1, 1) again
ret (M1, 32)
";
    let run = |engine| {
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
        let kernel = only_kernel(&device, text);
        let content: Vec<u8> = (0..4096u32).map(|k| ((k * 37) >> 3) as u8).collect();
        let from = device.buffer_from("a", &content).expect("there is memory");
        let to = device.buffer("b", 512).expect("there is memory");
        let launch = Launch::threads(&[2, 1, 1], 1).engine(engine).host_threads(1);
        let outcome = device.run(&kernel, launch.arg("T6", &from).arg("T7", &to)).expect("it is launched");
        assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
        to.to_vec()
    };
    assert_eq!(run(Engine::Unoptimized), run(Engine::Native));
}

/// Loads one after the other from clamped places: from the same ones, which are looked at once, and from those that the load
/// before put there. Some are rows whose ends are clamped, others go far.
#[test]
fn places_that_the_load_before_overwrites() {
    let begin = "\
.version 3.6
.kernel \"windows\"
.kernel_attr Target=\"cm\"
.kernel_attr SimdSize=32
.decl K v_type=G type=d num_elts=1
.decl S v_type=G type=ud num_elts=1
.decl Lane v_type=G type=uw num_elts=32 align=wordx32
.decl Row v_type=G type=ud num_elts=32 align=wordx32
.decl At v_type=G type=ud num_elts=32 align=wordx32
.decl To v_type=G type=ud num_elts=32 align=wordx32
.decl X v_type=G type=ud num_elts=32 align=wordx32
.decl Y v_type=G type=ud num_elts=32 align=wordx32
.decl Q v_type=P num_elts=1
.decl T6 v_type=T num_elts=1
.decl T7 v_type=T num_elts=1
.decl T8 v_type=T num_elts=1
.input T6 offset=72 size=4
.input T7 offset=76 size=4
.input T8 offset=80 size=4
.function \"windows_main\"
mov (M1, 8) Lane(0,0)<1> 0x76543210:v
add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw
add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw
shl (M1, 32) To(0,0)<1> Lane(0,0)<1;1,0> 0x2:uw
mov (M1, 32) Row(0,0)<1> To(0,0)<1;1,0>
mov (M1_NM, 1) K(0,0)<1> 0x6:d
again:
shl (M1_NM, 1) S(0,0)<1> K(0,0)<0;1,0> 0x4:ud
max (M1, 32) At(0,0)<1> Row(0,0)<1;1,0> S(0,0)<0;1,0>
min (M1, 32) At(0,0)<1> At(0,0)<1;1,0> 0x70:ud
";
    let end = "\
lsc_store.ugm (M1, 32) bti(T8)[To]:a32 X:d32
add (M1, 32) To(0,0)<1> To(0,0)<1;1,0> 0x80:ud
lsc_store.ugm (M1, 32) bti(T8)[To]:a32 Y:d32
add (M1, 32) To(0,0)<1> To(0,0)<1;1,0> 0x80:ud
mul (M1, 32) Row(0,0)<1> Row(0,0)<1;1,0> 0x3:ud
and (M1, 32) Row(0,0)<1> Row(0,0)<1;1,0> 0xfc:ud
add (M1_NM, 1) K(0,0)<1> K(0,0)<0;1,0> 0xffffffff:d
cmp.ne (M1_NM, 1) Q K(0,0)<0;1,0> 0x0:d
(Q) jmp (M1, 1) again
ret (M1, 32)
";
    let loads = [
        "lsc_load.ugm (M1, 32) X:d32 bti(T6)[At]:a32\nlsc_load.ugm (M1, 32) Y:d32 bti(T7)[At]:a32\n",
        "lsc_load.ugm (M1, 32) At:d32 bti(T6)[At]:a32\nlsc_load.ugm (M1, 32) X:d32 bti(T7)[At]:a32\n\
         lsc_load.ugm (M1, 32) Y:d32 bti(T6)[At]:a32\n",
        "lsc_load.ugm (M1, 32) X:d32 bti(T6)[At]:a32\nlsc_load.ugm (M1, 32) At:d32 bti(T7)[At]:a32\n\
         lsc_load.ugm (M1, 32) Y:d32 bti(T6)[At]:a32\n",
    ];
    for loads in loads {
        let text = format!("{begin}{loads}{end}");
        for bytes in [512, 0x60] {
            let run = |engine| {
                let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
                let kernel = only_kernel(&device, &text);
                // Places, some of which are a row's.
                let content = |by: u32| -> Vec<u8> {
                    (0..128u32).flat_map(|k| (((k * by) ^ (k >> 4)) % 128 * 4).to_le_bytes()).collect()
                };
                let one = device.buffer_from("a", &content(1)).expect("there is memory");
                let other = device.buffer_from("b", &content(9)[..bytes]).expect("there is memory");
                let to = device.buffer("c", 2048).expect("there is memory");
                let launch = Launch::threads(&[1, 1, 1], 1).engine(engine).host_threads(1);
                let launch = launch.arg("T6", &one).arg("T7", &other).arg("T8", &to);
                let outcome = device.run(&kernel, &launch).expect("it is launched");
                (to.to_vec(), outcome.fault.map(|f| (f.code, f.place, f.channel)))
            };
            let (want, got) = (run(Engine::Unoptimized), run(Engine::Native));
            assert!(want.0.iter().any(|b| *b != 0), "{:?}", want.1);
            assert_eq!(want, got, "{bytes} bytes\n{text}");
        }
    }
}
