//! Instructions for half of the channels that only look as if one could be made of two, and addresses that only look
//! like sums of halves: what the optimiser leaves, faults and drops is what the program does as it was written.

use std::fmt::Write as _;

use crate::kernels::{outcome, unverified_kernel};
use envisa::isa::Platform;
use envisa::lower::Op;
use envisa::{Config, Device, Engine, Launch, Module, Source, internals};

/// The channels of each half, and the letter of its registers.
const HALVES: [(&str, char); 2] = [("M1", 'L'), ("M5", 'H')];
/// Bytes in memory; from here on is what was stored last.
const BYTES: u64 = 0x2000;
const RESULTS: u32 = 0x1000;

/// The declarations, and addresses for all channels; `more` declares other variables.
fn beginning(more: &str) -> String {
    let mut text = String::from(
        ".version 3.6\n.kernel \"k\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=32\n\
         .decl Word v_type=G type=uw num_elts=32 align=hword\n\
         .decl B v_type=G type=uq num_elts=2 align=hword\n\
         .decl BD v_type=G type=ud num_elts=4 align=hword alias=<B, 0>\n\
         .decl A v_type=G type=uq num_elts=1 align=qword\n\
         .decl P1 v_type=P num_elts=32\n.decl P2 v_type=P num_elts=32\n",
    );
    for (_, x) in HALVES {
        for name in ["Lane", "A", "C", "E", "G", "R", "S"] {
            let _ = writeln!(text, ".decl {name}{x} v_type=G type=ud num_elts=16 align=hword");
            let _ = writeln!(
                text,
                ".decl F{name}{x} v_type=G type=f num_elts=16 align=hword alias=<{name}{x}, 0>"
            );
        }
        for name in ["To", "Q"] {
            let _ = writeln!(text, ".decl {name}{x} v_type=G type=uq num_elts=16 align=hword");
            for (letter, ty) in [('D', "ud"), ('F', "f")] {
                let _ = writeln!(
                    text,
                    ".decl {letter}{name}{x} v_type=G type={ty} num_elts=32 align=hword alias=<{name}{x}, 0>"
                );
            }
        }
        let _ = writeln!(text, ".decl W{x} v_type=G type=ud num_elts=64 align=hword");
    }
    text.push_str(more);
    text.push_str(".input A offset=64 size=8\n.function \"k_main\"\nmov (M1, 8) Word(0,0)<1> 0x76543210:v\n");
    text.push_str("add (M1, 8) Word(0,8)<1> Word(0,0)<1;1,0> 0x8:uw\n");
    text.push_str("add (M1, 16) Word(1,0)<1> Word(0,0)<1;1,0> 0x10:uw\n");
    text.push_str("mov (M1, 16) LaneL(0,0)<1> Word(0,0)<1;1,0>\n");
    text.push_str("mov (M5, 16) LaneH(0,0)<1> Word(1,0)<1;1,0>\n");
    text
}

/// Lines for both halves, `@` being the letter of the half's registers and `#` its channels.
fn both(lines: &str) -> String {
    HALVES.map(|(m, x)| lines.replace('@', &x.to_string()).replace('#', m)).concat()
}

/// The program's last lines: vectors go to memory.
fn stored(names: &[&str]) -> String {
    let mut text = String::new();
    for (k, name) in names.iter().enumerate() {
        text += &both(&format!(
            "shl (#, 16) A@(0,0)<1> Lane@(0,0)<1;1,0> 0x2:ud\n\
             add (#, 16) A@(0,0)<1> A@(0,0)<1;1,0> {:#x}:ud\n\
             add (#, 16) To@(0,0)<1> A@(0,0)<1;1,0> A(0,0)<0;1,0>\n\
             svm_scatter.4.1 (#, 16) To@.0 {name}@.0\n",
            RESULTS + 128 * k as u32
        ));
    }
    text + "ret (M1, 1)\n"
}

/// What is in memory afterwards, and the fault and the first dropped access, as they are told.
fn left(engine: Option<Engine>, text: &str) -> (Vec<u8>, String) {
    let device = Device::new(Config::new(Platform::Skl).memory(1 << 20));
    // What verification refuses is to be harmless, too.
    let kernel = unverified_kernel(&device, text);
    let numbers: Vec<u8> = (0..BYTES).map(|k| (k * 37 + k / 64) as u8).collect();
    let buffer = device.buffer_from("a", &numbers).expect("there is memory");
    let mut launch = Launch::threads(&[2, 1, 1], 1).host_threads(1).arg("A", &buffer);
    for (name, first) in [("X", 1u8), ("Y", 101), ("Z", 201)] {
        if let Some(input) = text.lines().find(|l| l.starts_with(&format!(".input {name} "))) {
            let bytes = input.rsplit('=').next().and_then(|n| n.parse().ok()).expect("its size");
            let bytes: Vec<u8> = (0..bytes).map(|k: u8| first.wrapping_add(k)).collect();
            launch = launch.arg(name, bytes);
        }
    }
    let outcome = outcome(&device, &kernel, launch, engine);
    (buffer.to_vec(), format!("{:?} {:?}", outcome.fault, outcome.dropped))
}

/// All engines leave what the program does as it was written, and say the same of it.
fn hold(what: &str, text: &str) {
    let (want, told) = left(None, text);
    for engine in [Engine::Unoptimized, Engine::Native] {
        let (got, other) = left(Some(engine), text);
        assert_eq!(told, other, "{what} by {engine:?}:\n{text}");
        let differs = want.iter().zip(&got).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{what} by {engine:?}:\n{text}");
    }
}

/// Between the halves the direction of rounding changes, or what is done with denormals.
#[test]
fn the_mode_changes_between_the_halves() {
    for (mode, scale) in
        [(0x10, "0x3dcccccd:f"), (0x20, "0x3dcccccd:f"), (0x30, "0x3dcccccd:f"), (0x480, "0x00000007:f")]
    {
        let text = beginning("")
            + &both(
                "mov (#, 16) FR@(0,0)<1> Lane@(0,0)<1;1,0>\nadd (#, 16) FR@(0,0)<1> FR@(0,0)<1;1,0> 0x3dcccccd:f\n",
            )
            + &format!("mul (M1, 16) FSL(0,0)<1> FRL(0,0)<1;1,0> {scale}\n")
            + &format!("mov (M1_NM, 1) %cr0(0,0)<1> {mode:#x}:ud\n")
            + &format!("mul (M5, 16) FSH(0,0)<1> FRH(0,0)<1;1,0> {scale}\n")
            + &stored(&["S"]);
        hold(&format!("mode {mode:#x}"), &text);
    }
}

/// An address whose halves are not those of the sum: what is carried, or numbers that moves convert.
#[test]
fn halves_that_are_no_sum() {
    let ways = [
        ("the sum", "E@", "G@", "D", "D"),
        ("what is carried", "C@", "G@", "D", "D"),
        ("what is carried twice", "C@", "C@", "D", "D"),
        ("the lower half twice", "E@", "E@", "D", "D"),
        ("a lower half that is converted", "E@", "G@", "F", "D"),
        ("an upper half that is converted", "E@", "G@", "D", "F"),
    ];
    for (what, low, high, a, b) in ways {
        let text = beginning("")
            + "mov (M1_NM, 1) B(0,0)<1> A(0,0)<0;1,0>\n"
            + &both(&format!(
                "shl (#, 16) A@(0,0)<1> Lane@(0,0)<1;1,0> 0x3:ud\n\
                 addc (#, 16) E@(0,0)<1> C@(0,0)<1> A@(0,0)<1;1,0> BD(0,0)<0;1,0>\n\
                 add (#, 16) G@(0,0)<1> C@(0,0)<1;1,0> BD(0,1)<0;1,0>\n\
                 mov (#, 16) {a}Q@(0,0)<2> {low}(0,0)<1;1,0>\n\
                 mov (#, 16) {b}Q@(0,1)<2> {high}(0,0)<1;1,0>\n\
                 svm_gather.4.1 (#, 16) Q@.0 R@.0\n"
            ))
            + &stored(&["R"]);
        hold(what, &text);
    }
    // The scalar of the upper half goes into a vector by a conversion.
    for (what, vector) in [("a scalar", "G@"), ("a scalar that is converted", "FG@")] {
        let text = beginning("")
            + "mov (M1_NM, 1) B(0,0)<1> A(0,0)<0;1,0>\n"
            + &both(&format!(
                "shl (#, 16) A@(0,0)<1> Lane@(0,0)<1;1,0> 0x3:ud\n\
                 mov (#, 16) {vector}(0,0)<1> BD(0,1)<0;1,0>\n\
                 addc (#, 16) E@(0,0)<1> C@(0,0)<1> A@(0,0)<1;1,0> BD(0,0)<0;1,0>\n\
                 add (#, 16) G@(0,0)<1> C@(0,0)<1;1,0> G@(0,0)<1;1,0>\n\
                 mov (#, 16) DQ@(0,0)<2> E@(0,0)<1;1,0>\n\
                 mov (#, 16) DQ@(0,1)<2> G@(0,0)<1;1,0>\n\
                 svm_gather.4.1 (#, 16) Q@.0 R@.0\n"
            ))
            + &stored(&["R"]);
        hold(what, &text);
    }
}

/// Channels that begin where no half does, some of them behind the last one.
#[test]
fn channels_that_are_no_halves() {
    for (m, n, channels) in [
        ("M3", "M7", 16),
        ("M2", "M6", 16),
        ("M2", "M4", 8),
        ("M4", "M6", 8),
        ("M6", "M8", 8),
        ("M5", "M7", 16),
    ] {
        let of =
            |m: &str, x: char| format!("add ({m}, {channels}) R{x}(0,0)<1> Lane{x}(0,0)<1;1,0> 0x55:ud\n");
        let text = beginning("") + &of(m, 'L') + &of(n, 'H') + &stored(&["R"]);
        hold(&format!("{m} and {n}"), &text);
        // The message of the second one goes astray.
        let mut text = beginning("");
        for (m, x) in [(m, 'L'), (n, 'H')] {
            let _ = writeln!(text, "mov ({m}, {channels}) To{x}(0,0)<1> A(0,0)<0;1,0>");
        }
        text += "mov (M1_NM, 1) ToH(0,2)<1> 0x10:ud\n";
        for (m, x) in [(m, 'L'), (n, 'H')] {
            let _ = writeln!(text, "svm_gather.4.1 ({m}, {channels}) To{x}.0 R{x}.0");
        }
        hold(&format!("astray by {m} and {n}"), &(text + &stored(&["R"])));
    }
}

/// What channels of both halves store or count at one place comes in their order, part by part.
#[test]
fn the_halves_meet_in_memory() {
    for parts in [1, 2, 4] {
        // (Channels of one half meet in all parts, or in none: else engines differ in which of two comes first.)
        for step in [0, 4 * parts, 8 * parts, -4 * parts, -8 * parts] {
            let mut text = beginning("");
            for part in 0..parts {
                text += &both(&format!(
                    "add (#, 16) W@({},0)<1> Lane@(0,0)<1;1,0> {:#x}:ud\n",
                    2 * part,
                    0x100 * (part + 1)
                ));
            }
            text += &both(
                &format!(
                    "mul (#, 16) A@(0,0)<1> Lane@(0,0)<1;1,0> {step:#x}:d\n\
                 add (#, 16) A@(0,0)<1> A@(0,0)<1;1,0> 0x800:d\n\
                 and (#, 16) A@(0,0)<1> A@(0,0)<1;1,0> 0xffc:d\n\
                 add (#, 16) To@(0,0)<1> A@(0,0)<1;1,0> A(0,0)<0;1,0>\n"
                )
                .replace("-0x", "-0x"),
            );
            text += &both(&format!("svm_scatter.4.{parts} (#, 16) To@.0 W@.0\n"));
            hold(&format!("{parts} parts, {step} bytes apart"), &(text + &stored(&["R"])));
        }
    }
    // What one half stores the other stores over, and nothing meets within a half: as native code does it, too, once it
    // knows where.
    for parts in [1, 2, 4] {
        for apart in [0, 4, 8, 12, 64, 124] {
            let mut text = beginning("");
            for part in 0..parts {
                text += &both(&format!(
                    "add (#, 16) W@({},0)<1> Lane@(0,0)<1;1,0> {:#x}:ud\n",
                    2 * part,
                    0x100 * (part + 1)
                ));
            }
            text += &both(&format!(
                "and (#, 16) A@(0,0)<1> Lane@(0,0)<1;1,0> 0xf:ud\n\
                 xor (#, 16) A@(0,0)<1> A@(0,0)<1;1,0> 0x5:ud\n\
                 mul (#, 16) A@(0,0)<1> A@(0,0)<1;1,0> {:#x}:ud\n\
                 shr (#, 16) R@(0,0)<1> Lane@(0,0)<1;1,0> 0x4:ud\n\
                 mul (#, 16) R@(0,0)<1> R@(0,0)<1;1,0> {apart:#x}:ud\n\
                 add (#, 16) A@(0,0)<1> A@(0,0)<1;1,0> R@(0,0)<1;1,0>\n\
                 add (#, 16) To@(0,0)<1> A@(0,0)<1;1,0> A(0,0)<0;1,0>\n",
                4 * parts
            ));
            text += &both(&format!("svm_scatter.4.{parts} (#, 16) To@.0 W@.0\n"));
            hold(&format!("{parts} parts, halves {apart} bytes apart"), &(text + &stored(&["R"])));
        }
    }
    for shift in 1..6 {
        let mut text = beginning("")
            + &both(&format!(
                "shr (#, 16) A@(0,0)<1> Lane@(0,0)<1;1,0> {shift:#x}:ud\nshl (#, 16) A@(0,0)<1> A@(0,0)<1;1,0> 0x2:ud\n\
                 add (#, 16) To@(0,0)<1> A@(0,0)<1;1,0> A(0,0)<0;1,0>\n"
            ));
        for (op, a, b) in [("inc", "%null", "%null"), ("xchg", "Lane@", "%null"), ("cmpxchg", "R@", "Lane@")]
        {
            text += &both(&format!("svm_atomic.{op} (#, 16) To@.0 R@.0 {a}.0 {b}.0\n"));
            text += &both("xor (#, 16) S@(0,0)<1> S@(0,0)<1;1,0> R@(0,0)<1;1,0>\n");
        }
        hold(&format!("counts by {shift}"), &(text + &stored(&["R", "S"])));
    }
}

/// Inputs that overlap: the second half of one lies within another.
#[test]
fn inputs_that_overlap() {
    let variables = ".decl V v_type=G type=ud num_elts=32 align=hword\n\
                     .decl X v_type=G type=ud num_elts=8 align=hword alias=<V, 64>\n\
                     .decl Y v_type=G type=ud num_elts=8 align=hword\n\
                     .decl Z v_type=G type=ud num_elts=32 align=hword alias=<V, 0>\n";
    let orders = [
        ".input X offset=96 size=32\n.input Y offset=128 size=32\n.input Z offset=192 size=128\n",
        ".input Z offset=192 size=128\n.input X offset=96 size=32\n.input Y offset=128 size=32\n",
        ".input X offset=96 size=32\n.input Y offset=128 size=32\n",
    ];
    for inputs in orders {
        let text = beginning(&format!("{variables}{inputs}")).replace("SimdSize=32", "SimdSize=16")
            + "add (M1, 8) RL(0,0)<1> X(0,0)<1;1,0> 0x1:ud\nadd (M3, 8) RL(1,0)<1> Y(0,0)<1;1,0> 0x1:ud\n"
            + &stored(&["R"]);
        hold(inputs, &text);
        let text = beginning(&format!(
            "{}{inputs}",
            variables.replace("type=ud num_elts=8", "type=uw num_elts=16")
        )) + "add (M1, 16) RL(0,0)<1> X(0,0)<1;1,0> 0x1:ud\nadd (M5, 16) RH(0,0)<1> Y(0,0)<1;1,0> 0x1:ud\n"
            + &stored(&["R"]);
        hold(inputs, &text);
    }
}

/// A kernel whose variables take almost all registers that there may be.
#[test]
fn no_room_for_more() {
    let quads = |n: u32| -> String {
        (0..n).map(|k| format!(".decl Z{k} v_type=G type=uq num_elts=128 align=hword\n")).collect()
    };
    let rest = both(
        "add (#, 16) R@(0,0)<1> Lane@(0,0)<1;1,0> 0x55:ud\nshl (#, 16) R@(0,0)<1> R@(0,0)<1;1,0> 0x2:ud\n",
    ) + &stored(&["R"]);
    let text = |n| beginning(&quads(n)) + &rest;
    let device = Device::new(Config::new(Platform::Skl).memory(1 << 20));
    let mut accepted = 0;
    for n in (8160..8192).rev() {
        let text = text(n);
        let module = Module::load(&device, "k", Source::Text(text.as_bytes())).expect("it loads");
        match module.kernel("k") {
            Ok(_) => {
                accepted += 1;
                if accepted < 4 {
                    hold(&format!("{n} KiB"), &text);
                }
            }
            Err(e) => assert!(format!("{e:?}").contains("too large"), "{e:?}"),
        }
    }
    assert!(accepted > 4, "{accepted}");
}

/// One that is left to the interpreter counts for all that it was made of; what they were is known of each channel.
#[test]
fn all_that_one_was_made_of_counts() {
    // Four of eight channels, side by side, become one of 32.
    let text = beginning(
        ".decl V v_type=G type=uw num_elts=32 align=hword\n.decl W v_type=G type=uw num_elts=32 align=hword\n",
    );
    let rotated: String = (0..4)
        .map(|k| {
            format!("rol (M{}, 8) W({1},{2})<1> V({1},{2})<1;1,0> 0x3:uw\n", 1 + 2 * k, k / 2, 8 * (k % 2))
        })
        .collect();
    let written = both("mov (#, 16) R@(0,0)<1> W(%,0)<1;1,0>\n").replacen('%', "0", 1).replace('%', "1");
    let text = text + "mov (M1, 16) V(0,0)<1> Word(0,0)<1;1,0>\n" + &rotated + &written + &stored(&["R"]);
    let device = Device::new(Config::new(Platform::Tgllp).memory(1 << 20));
    let kernel = unverified_kernel(&device, &text);
    let program = internals::optimized(&kernel);
    let pc = program.code().iter().position(|i| i.op == Op::Rol).expect("it is there") as u32;
    let one = &program.code()[pc as usize];
    assert_eq!((one.channels, program.upper(pc).len()), (32, 3));
    let of = |channel| program.origin_of_channel(pc, channel).map_or(one.source, |u| u.source);
    for channel in 0..32 {
        assert_eq!(of(channel), one.source + channel / 8, "channel {channel}");
    }
    let buffer = device.buffer("a", BYTES).expect("there is memory");
    let launch = Launch::threads(&[1, 1, 1], 1).arg("A", &buffer).engine(Engine::Native).statistics(true);
    let outcome = device.run(&kernel, launch).expect("it is launched");
    let native = outcome.statistics.and_then(|s| s.native).expect("asked for");
    if native.refused.is_some() {
        return;
    }
    // If words are rotated by native code one day, another instruction is to be found for this.
    let mut left: Vec<(u32, u64)> = native.left.iter().map(|l| (l.instruction, l.count)).collect();
    left.sort_unstable();
    assert_eq!(left, (0..4).map(|k| (one.source + k, 1)).collect::<Vec<_>>(), "{:?}", native.left);
    let listing = kernel.native_listing().expect("there is some");
    for k in 1..4 {
        assert!(listing.contains(&format!("; and ${}", one.source + k)), "{listing}");
    }
}
