//! Addresses of dwords that are multiples of four for certain, for certain not, or now and then: native code looks at the
//! alignment of those it cannot know, and only of those, so that it loads, stores and faults where the interpreter does.

use std::fmt::Write as _;

use crate::kernels::{NO_CPU, only_kernel};
use crate::random::Dice;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Launch};

/// Vectors and scalars that addresses are made of.
const EACH: u64 = 12;

fn begin(simd: u64) -> String {
    let mut text = String::from(".version 3.6\n.kernel \"places\"\n.kernel_attr Target=\"cm\"\n");
    let _ = writeln!(text, ".kernel_attr SimdSize={simd}\n.kernel_attr SLMSize=1");
    for k in 0..EACH {
        let _ = writeln!(text, ".decl A{k} v_type=G type=d num_elts={simd} align=wordx32");
        let _ = writeln!(text, ".decl B{k} v_type=G type=d num_elts=1");
    }
    let _ = writeln!(text, ".decl At v_type=G type=ud num_elts={simd} align=wordx32");
    let _ = writeln!(text, ".decl X v_type=G type=ud num_elts={simd} align=wordx32");
    let _ = writeln!(text, ".decl Sum v_type=G type=ud num_elts={simd} align=wordx32");
    let _ = writeln!(text, ".decl To v_type=G type=ud num_elts={simd} align=wordx32");
    let _ = writeln!(text, ".decl Lane v_type=G type=uw num_elts={simd} align=wordx32");
    let _ = writeln!(text, ".decl P v_type=P num_elts={simd}\n.decl Q v_type=P num_elts=1");
    text.push_str(".decl K v_type=G type=d num_elts=1\n.decl I v_type=G type=d num_elts=4\n");
    text.push_str(".decl T6 v_type=T num_elts=1\n.decl T7 v_type=T num_elts=1\n");
    text.push_str(".input T6 offset=72 size=4\n.input T7 offset=76 size=4\n.input I offset=96 size=16\n");
    text.push_str(".function \"places_main\"\nmov (M1, 8) Lane(0,0)<1> 0x76543210:v\n");
    for k in (8..simd).step_by(8) {
        let _ = writeln!(text, "add (M1, 8) Lane(0,{k})<1> Lane(0,0)<1;1,0> {k:#x}:uw");
    }
    let _ = writeln!(text, "mov (M1, {simd}) Sum(0,0)<1> Lane(0,0)<1;1,0>");
    text
}

/// A vector and sometimes a scalar are made of others, or changed; gives which vector.
fn made(d: &mut Dice, simd: u64, first: bool, text: &mut String) -> u64 {
    let (v, w, s) = (d.below(EACH), d.below(EACH), d.below(EACH));
    let i = d.below(4);
    let m = format!("(M1, {simd})");
    // Multiples more often than not.
    let n = d.pick(&[4, 8, 16, 0x40, 12, 2, 3, 1]);
    let shift = d.pick(&[2, 3, 2, 4, 1, 0, 34]);
    let _ = if first {
        let _ = writeln!(text, "shl {m} A{v}(0,0)<1> Lane(0,0)<1;1,0> {shift:#x}:uw");
        writeln!(text, "mov (M1_NM, 1) B{s}(0,0)<1> {}", d.pick(&["0x8:d", "0x0:d", "0x10:d", "0x2:d"]))
    } else {
        match d.below(16) {
            0 => writeln!(text, "shl {m} A{v}(0,0)<1> Lane(0,0)<1;1,0> {shift:#x}:uw"),
            1 => writeln!(text, "shl {m} A{v}(0,0)<1> A{w}(0,0)<1;1,0> {shift:#x}:d"),
            2 => writeln!(text, "add {m} A{v}(0,0)<1> A{w}(0,0)<1;1,0> B{s}(0,0)<0;1,0>"),
            3 => writeln!(text, "add {m} A{v}(0,0)<1> A{v}(0,0)<1;1,0> (-)A{w}(0,0)<1;1,0>"),
            4 => writeln!(text, "mul {m} A{v}(0,0)<1> A{w}(0,0)<1;1,0> {n:#x}:d"),
            5 => writeln!(text, "and {m} A{v}(0,0)<1> A{w}(0,0)<1;1,0> {}", d.pick(&["0xffc:d", "0x7e:d"])),
            6 => {
                let op = d.pick(&["or", "xor", "min", "max"]);
                writeln!(text, "{op} {m} A{v}(0,0)<1> A{w}(0,0)<1;1,0> {n:#x}:d")
            }
            7 => {
                let _ = writeln!(text, "cmp.gt {m} P A{w}(0,0)<1;1,0> {:#x}:d", d.below(100));
                let by = d.below(EACH);
                writeln!(text, "(P) sel {m} A{v}(0,0)<1> A{w}(0,0)<1;1,0> A{by}(0,0)<1;1,0>")
            }
            8 => {
                // Of some channels only.
                let _ = writeln!(text, "cmp.lt {m} P Lane(0,0)<1;1,0> {:#x}:uw", d.below(simd + 1));
                writeln!(text, "(P) add {m} A{v}(0,0)<1> A{v}(0,0)<1;1,0> {n:#x}:d")
            }
            9 => {
                let b = d.below(EACH);
                writeln!(text, "add3 {m} A{v}(0,0)<1> A{w}(0,0)<1;1,0> B{b}(0,0)<0;1,0> B{s}(0,0)<0;1,0>")
            }
            10 => writeln!(text, "mad {m} A{v}(0,0)<1> A{w}(0,0)<1;1,0> {n:#x}:d B{s}(0,0)<0;1,0>"),
            11 => writeln!(text, "mov {m} A{v}(0,0)<1> B{s}(0,0)<0;1,0>"),
            12 => writeln!(text, "mov (M1_NM, 1) B{s}(0,0)<1> I(0,{i})<0;1,0>"),
            // Of the first group nothing, of the next ones what may no longer be a multiple.
            _ if d.below(3) == 0 => {
                let _ = writeln!(text, "mul (M1_NM, 1) B{s}(0,0)<1> %group_id_x(0,0)<0;1,0> {n:#x}:d");
                writeln!(text, "add {m} A{v}(0,0)<1> A{w}(0,0)<1;1,0> B{s}(0,0)<0;1,0>")
            }
            13 => writeln!(text, "shl (M1_NM, 1) B{s}(0,0)<1> I(0,{i})<0;1,0> {shift:#x}:d"),
            14 => writeln!(text, "add (M1_NM, 1) B{s}(0,0)<1> B{s}(0,0)<0;1,0> {n:#x}:d"),
            _ => {
                writeln!(text, "mul (M1_NM, 1) B{s}(0,0)<1> B{s}(0,0)<0;1,0> B{}(0,0)<0;1,0>", d.below(EACH))
            }
        }
    };
    v
}

/// A message at the places in a vector.
fn access(d: &mut Dice, simd: u64, v: u64, text: &mut String) {
    let m = format!("(M1, {simd})");
    // Without changing what the place is a multiple of, most of the time.
    let and = d.pick(&["0xffffffff:d", "0x3ff:d", "0x3ff:d", "0x3ff:d", "0x3fc:d"]);
    let _ = writeln!(text, "and {m} At(0,0)<1> A{v}(0,0)<1;1,0> {and}");
    let surface = d.pick(&["%slm", "%slm", "T6"]);
    match d.below(4) {
        0 => {
            let place = if surface == "T6" {
                "ugm (MASK) X:d32 bti(T6)[At]:a32"
            } else {
                "slm (MASK) X:d32 flat[At]:a32"
            };
            let _ = writeln!(text, "lsc_atomic_iadd.{} Sum %null", place.replace("(MASK)", &m));
        }
        k => {
            let (kind, data) = if k == 1 { ("scatter", "Sum") } else { ("gather", "X") };
            for half in 0..simd / 16 {
                let (m, at) = (if half == 0 { "M1" } else { "M5" }, 64 * half);
                let _ = writeln!(text, "{kind}4_scaled.R ({m}, 16) {surface} 0x0:ud At.{at} {data}.{at}");
            }
        }
    }
    let _ = writeln!(text, "add {m} Sum(0,0)<1> Sum(0,0)<1;1,0> X(0,0)<1;1,0>");
}

fn program(d: &mut Dice, simd: u64) -> String {
    let mut text = begin(simd);
    let _ = writeln!(text, "mov (M1, {simd}) X(0,0)<1> 0x0:ud");
    for k in 0..EACH {
        let n = d.pick(&[4, 8, 4, 2, 1]);
        let of = if d.below(2) == 0 { "0x1:d" } else { "%group_id_x(0,0)<0;1,0>" };
        let _ = writeln!(text, "mul (M1_NM, 1) B{k}(0,0)<1> {of} {n:#x}:d");
        let _ = writeln!(text, "mov (M1, {simd}) A{k}(0,0)<1> {:#x}:d", d.pick(&[0, 4, 8, 2, 4, 64]));
        if d.below(2) == 0 {
            made(d, simd, true, &mut text);
        }
    }
    let turns = 1 + d.below(3);
    let _ = writeln!(text, "mov (M1_NM, 1) K(0,0)<1> {turns:#x}:d\nagain:");
    for _ in 0..1 + d.below(3) {
        let mut last = d.below(EACH);
        for _ in 0..1 + d.below(4) {
            last = made(d, simd, false, &mut text);
        }
        access(d, simd, last, &mut text);
    }
    // What the next turn finds.
    for _ in 0..d.below(3) {
        made(d, simd, false, &mut text);
    }
    text.push_str("add (M1_NM, 1) K(0,0)<1> K(0,0)<0;1,0> 0xffffffff:d\n");
    text.push_str("cmp.ne (M1_NM, 1) Q K(0,0)<0;1,0> 0x0:d\n(Q) jmp (M1, 1) again\n");
    let _ = writeln!(text, "shl (M1, {simd}) To(0,0)<1> Lane(0,0)<1;1,0> 0x2:uw");
    let _ = writeln!(text, "lsc_store.ugm (M1, {simd}) bti(T7)[To]:a32 Sum:d32\nret (M1, {simd})");
    text
}

#[test]
fn looked_at_where_they_are_not_known() {
    const PROGRAMS: u64 = crate::kernels::share(1000);
    let (mut faults, mut looks, mut messages) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let mut d = Dice(seed);
        let simd = [16, 32][seed as usize % 2];
        let text = program(&mut d, simd);
        let input: [i32; 4] = std::array::from_fn(|_| d.pick(&[0, 4, 8, 12, 64, 6, 1, 2]));
        let run = |engine| {
            let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
            let kernel = only_kernel(&device, &text);
            let content: Vec<u8> = (0..1028u32).map(|k| ((k * 37) >> 3) as u8).collect();
            let from = device.buffer_from("a", &content).expect("there is memory");
            let to = device.buffer("b", 4 * simd).expect("there is memory");
            let i: Vec<u8> = input.iter().flat_map(|x| x.to_le_bytes()).collect();
            let launch = Launch::threads(&[3, 1, 1], 1).engine(engine).host_threads(1);
            let outcome = device
                .run(&kernel, launch.arg("T6", &from).arg("T7", &to).arg("I", i))
                .expect("it is launched");
            let listing = match kernel.native_listing() {
                Err(why) if why.contains(NO_CPU) => None,
                listing => Some(listing.expect("it is native")),
            };
            let fault = outcome.fault.map(|f| (f.code, f.place.instruction, f.channel, f.group));
            ((from.to_vec(), to.to_vec()), fault, listing)
        };
        let (want, got) = (run(Engine::Unoptimized), run(Engine::Native));
        assert_eq!(want.1, got.1, "program {seed}, input {input:?}:\n{text}");
        assert!(want.0 == got.0, "program {seed}, input {input:?}:\n{text}");
        faults += u64::from(want.1.is_some_and(|f| f.0 == "F0010"));
        // Which messages look at their places' alignment: at the low bits of one, or of all in a vector. Code for AVX2, whose
        // vectors are shorter, does so by other instructions.
        if let Some(listing) = got.2.filter(|l| l.contains("zmm")) {
            for part in listing.split("\n; ").filter(|p| p.contains(" Message ")) {
                messages += 1;
                let look = |l: &str| l.contains(" korw ") || l.contains(" test ") && l.ends_with(",3");
                looks += u64::from(part.lines().any(look));
            }
        }
    }
    assert!(
        (PROGRAMS / 10..9 * PROGRAMS / 10).contains(&faults),
        "{faults} of {PROGRAMS} programs have a place that is not aligned"
    );
    assert!(
        messages == 0 || (PROGRAMS / 5..messages - PROGRAMS / 5).contains(&looks),
        "{looks} of {messages} messages look"
    );
}
