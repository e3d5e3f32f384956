//! Compares and choices of 64 bits as compilers write them for devices without them: halves of quads are compared and chosen, and
//! joined to quads again, some of them in another block, where only some channels are. Some of these are not what they look
//! like: a half is compared with a sign that it has not, or with another relation, or is written in between. Divisions bit by
//! bit are among them. Native code leaves what the interpreter leaves of the program as it is written.

use std::fmt::Write as _;

use crate::kernels::only_kernel;
use crate::random::Dice;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Launch};

/// Channels.
const N: usize = 32;
/// Vectors of quads that are given, and those that are made.
const GIVEN: usize = 3;
const MADE: usize = 5;

fn declarations() -> String {
    let mut t = String::from(
        ".version 3.6\n.kernel \"k\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=32\n\
         .decl Lane v_type=G type=uw num_elts=32 align=wordx32\n\
         .decl At v_type=G type=ud num_elts=32 align=wordx32\n\
         .decl To v_type=G type=ud num_elts=32 align=wordx32\n\
         .decl From v_type=G type=uq num_elts=32 align=wordx32\n\
         .decl B v_type=G type=uq num_elts=1 align=qword\n.decl T v_type=G type=uq num_elts=1 align=qword\n",
    );
    let made = (0..MADE).map(|k| format!("Q{k}"));
    for name in (0..GIVEN).map(|k| format!("G{k}")).chain(made.clone()) {
        let _ = writeln!(t, ".decl {name} v_type=G type=uq num_elts=32 align=wordx32");
        let _ = writeln!(t, ".decl {name}S v_type=G type=q num_elts=32 align=wordx32 alias=<{name}, 0>");
        let _ = writeln!(t, ".decl {name}H v_type=G type=ud num_elts=64 align=wordx32 alias=<{name}, 0>");
    }
    for k in 0..MADE {
        for x in ["XL", "XH", "YL", "YH", "CL", "CH", "Seen"] {
            let _ = writeln!(t, ".decl {x}{k} v_type=G type=ud num_elts=32 align=wordx32");
            let _ = writeln!(t, ".decl {x}{k}S v_type=G type=d num_elts=32 align=wordx32 alias=<{x}{k}, 0>");
        }
        for x in ["Twice", "Bits", "Masked", "Next"] {
            let _ = writeln!(t, ".decl {x}{k} v_type=G type=uq num_elts=32 align=wordx32");
            let _ = writeln!(t, ".decl {x}{k}S v_type=G type=q num_elts=32 align=wordx32 alias=<{x}{k}, 0>");
            let _ = writeln!(t, ".decl {x}{k}H v_type=G type=ud num_elts=64 align=wordx32 alias=<{x}{k}, 0>");
        }
        let _ = writeln!(t, ".decl Power{k} v_type=G type=uq num_elts=1 align=qword");
        let _ = writeln!(t, ".decl Less{k} v_type=G type=q num_elts=32 align=wordx32");
        let _ = writeln!(t, ".decl Count{k} v_type=G type=ud num_elts=1 align=dword");
        let _ = writeln!(t, ".decl Count{k}S v_type=G type=d num_elts=1 align=dword alias=<Count{k}, 0>");
        let _ = writeln!(t, ".decl Bit{k} v_type=G type=uq num_elts=1 align=qword");
        for p in 1..=3 {
            let _ = writeln!(t, ".decl P{k}{p} v_type=P num_elts=32");
        }
        let _ = writeln!(t, ".decl P{k}9 v_type=P num_elts=1");
    }
    t + ".input B offset=64 size=8\n.input T offset=72 size=8\n.function \"k_main\"\n\
         mov (M1, 8) Lane(0,0)<1> 0x76543210:v\n\
         add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw\n\
         add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw\n\
         shl (M1, 32) At(0,0)<1> Lane(0,0)<1;1,0> 0x3:ud\n"
}

/// Moves the halves of quads to dwords.
fn take_apart(t: &mut String, name: &str, low: &str, high: &str) {
    for (h, to) in [low, high].into_iter().enumerate() {
        let _ = writeln!(t, "mov (M1, 16) {to}(0,0)<1> {name}H(0,{h})<2;1,0>");
        let _ = writeln!(t, "mov (M5, 16) {to}(1,0)<1> {name}H(2,{h})<2;1,0>");
    }
}

/// A compare of halves: its predicate is `P{k}3`, or `P{k}2` where it is for equality.
fn compare(dice: &mut Dice, t: &mut String, k: usize) -> String {
    let v = |x: &str| format!("{x}{k}(0,0)<1;1,0>");
    let all = "(M1, 32)";
    if dice.below(3) == 0 {
        let (relation, both) = dice.pick(&[("eq", "and"), ("ne", "or"), ("eq", "or")]);
        let _ = writeln!(t, "cmp.{relation} {all} P{k}1 {} {}", v("XL"), v("YL"));
        let high = if dice.below(6) == 0 { "0x0:ud".to_owned() } else { v("YH") };
        let _ = writeln!(t, "cmp.{relation} {all} P{k}2 {} {high}", v("XH"));
        let _ = writeln!(t, "{both} {all} P{k}2 P{k}2 P{k}1");
        return format!("P{k}2");
    }
    let (low, high) =
        dice.pick(&[("lt", "lt"), ("le", "lt"), ("gt", "gt"), ("ge", "gt"), ("lt", "gt"), ("lt", "le")]);
    let signed = |x: &str, s: bool| if s { format!("{x}{k}S(0,0)<1;1,0>") } else { v(x) };
    let sign = dice.below(2) == 0;
    let odd = dice.below(8) == 0;
    let _ = writeln!(t, "cmp.{low} {all} P{k}1 {} {}", signed("XL", odd), signed("YL", odd));
    let _ = writeln!(t, "cmp.eq {all} P{k}2 {} {}", v("XH"), v("YH"));
    let _ = writeln!(t, "and {all} P{k}2 P{k}2 P{k}1");
    let _ = writeln!(t, "cmp.{high} {all} P{k}3 {} {}", signed("XH", sign), signed("YH", sign));
    let _ = writeln!(t, "or {all} P{k}3 P{k}3 P{k}2");
    format!("P{k}3")
}

/// A choice by halves, which are joined here or where only some channels are.
fn choose(dice: &mut Dice, t: &mut String, k: usize, names: &[String]) {
    let all = "(M1, 32)";
    let [x, y] = [(); 2].map(|()| dice.below(names.len() as u64) as usize);
    take_apart(t, &names[x], &format!("XL{k}"), &format!("XH{k}"));
    take_apart(t, &names[y], &format!("YL{k}"), &format!("YH{k}"));
    if dice.below(3) == 0 {
        let _ = writeln!(t, "or {all} XL{k}(0,0)<1> XL{k}(0,0)<1;1,0> 0x1:ud");
    }
    let p = compare(dice, t, k);
    let _ = writeln!(t, "({p}) sel {all} Seen{k}(0,0)<1> 0x1:d 0x0:d");
    let negated = dice.pick(&["", "!"]);
    for h in ["L", "H"] {
        let one = if dice.below(3) == 0 { "0x0:d".to_owned() } else { format!("Y{h}{k}(0,0)<1;1,0>") };
        let _ = writeln!(t, "({negated}{p}) sel {all} C{h}{k}(0,0)<1> {one} X{h}{k}(0,0)<1;1,0>");
    }
    if dice.below(6) == 0 {
        let _ = writeln!(t, "add {all} CL{k}(0,0)<1> CL{k}(0,0)<1;1,0> 0x1:ud");
    }
    let _ = writeln!(t, "mov {all} Q{k}(0,0)<1> 0x7:uq");
    let apart = dice.below(2) == 0;
    if apart {
        let _ = writeln!(t, "({}{p}) goto {all} behind{k}", dice.pick(&["", "!"]));
    }
    for (h, from) in ["CL", "CH"].into_iter().enumerate() {
        let _ = writeln!(t, "mov (M1, 16) Q{k}H(0,{h})<2> {from}{k}(0,0)<1;1,0>");
        let _ = writeln!(t, "mov (M5, 16) Q{k}H(2,{h})<2> {from}{k}(1,0)<1;1,0>");
    }
    if apart {
        let _ = writeln!(t, "behind{k}:");
    }
}

/// A division bit by bit. Some begin with another bit, or subtract where there is nothing left, or are not quite what they seem in
/// another way.
fn divide(dice: &mut Dice, t: &mut String, k: usize, names: &[String]) {
    let all = "(M1, 32)";
    let [n, d] = [(); 2].map(|()| &names[dice.below(names.len() as u64) as usize]);
    let first = if dice.below(4) == 0 { 62 } else { 63 };
    let less = if dice.below(4) == 0 { "le" } else { "lt" };
    let form = dice.below(3);
    take_apart(t, d, &format!("YL{k}"), &format!("YH{k}"));
    let remainder = if form == 2 { format!("Next{k}") } else { format!("Q{k}") };
    let _ = write!(
        t,
        "mov {all} Q{k}(0,0)<1> 0x0:uq\nmov {all} {remainder}(0,0)<1> 0x0:uq\n\
         mov (M1_NM, 1) Count{k}(0,0)<1> {first}:ud\nagain{k}:\n\
         mov (M1_NM, 1) Bit{k}(0,0)<1> Count{k}(0,0)<0;1,0>\n\
         shl {all} Twice{k}(0,0)<1> {remainder}(0,0)<1;1,0> 0x1:uq\n\
         shr {all} Bits{k}(0,0)<1> {n}(0,0)<1;1,0> Bit{k}(0,0)<0;1,0>\n\
         and {all} Masked{k}(0,0)<1> Bits{k}(0,0)<1;1,0> 0x1:uq\n\
         or {all} Next{k}(0,0)<1> Masked{k}(0,0)<1;1,0> Twice{k}(0,0)<1;1,0>\n"
    );
    match form {
        0 => {
            let _ = write!(
                t,
                "cmp.{less} {all} P{k}1 Next{k}(0,0)<1;1,0> {d}(0,0)<1;1,0>\n\
                 (P{k}1) sel {all} Less{k}(0,0)<1> 0x0:q {d}S(0,0)<1;1,0>\n\
                 add {all} Q{k}S(0,0)<1> Next{k}S(0,0)<1;1,0> (-)Less{k}(0,0)<1;1,0>\n"
            );
        }
        1 => divide_by_dwords(dice, t, k, less),
        _ => {
            // Both results, where there is something left.
            let negated = if dice.below(5) == 0 { "!" } else { "" };
            let quotient = if dice.below(5) == 0 { "add" } else { "or" };
            let _ = write!(
                t,
                "cmp.{less} {all} P{k}1 Next{k}(0,0)<1;1,0> {d}(0,0)<1;1,0>\n\
                 ({negated}P{k}1) goto {all} less{k}\n\
                 add {all} Next{k}S(0,0)<1> Next{k}S(0,0)<1;1,0> (-){d}S(0,0)<1;1,0>\n\
                 shl (M1_NM, 1) Power{k}(0,0)<1> 0x1:uq Bit{k}(0,0)<0;1,0>\n\
                 {quotient} {all} Q{k}(0,0)<1> Q{k}(0,0)<1;1,0> Power{k}(0,0)<0;1,0>\nless{k}:\n"
            );
        }
    }
    let down =
        format!("add (M1_NM, 1) Count{k}S(0,0)<1> Count{k}S(0,0)<0;1,0> -1:d\ngoto (M1, 1) again{k}\n");
    let _ = writeln!(t, "cmp.eq (M1_NM, 1) P{k}9 Count{k}(0,0)<0;1,0> 0x0:ud");
    if dice.below(2) == 0 {
        let _ = write!(t, "(P{k}9) goto (M1, 1) divided{k}\n{down}");
    } else {
        // Something is done as the loop is left.
        let from = dice.pick(&["Q", "Next"]);
        let _ = write!(
            t,
            "(!P{k}9) goto (M1, 1) on{k}\nmov {all} CL{k}(0,0)<1> {from}{k}H(0,0)<2;1,0>\n\
             goto (M1, 1) divided{k}\non{k}:\n{down}"
        );
    }
    let _ = writeln!(t, "divided{k}:");
    if form == 2 {
        let _ = writeln!(t, "xor {all} Q{k}(0,0)<1> Q{k}(0,0)<1;1,0> Next{k}(0,0)<1;1,0>");
    }
    let _ = writeln!(t, "mov {all} Seen{k}(0,0)<1> 0x2:ud");
}

/// The rest of a round by a dword: the remainder is compared by halves.
fn divide_by_dwords(dice: &mut Dice, t: &mut String, k: usize, less: &str) {
    let all = "(M1, 32)";
    take_apart(t, &format!("Next{k}"), &format!("XL{k}"), &format!("XH{k}"));
    let high = if dice.below(5) == 0 { "ne" } else { "eq" };
    let extended = if dice.below(5) == 0 { "S" } else { "" };
    let _ = write!(
        t,
        "cmp.{less} {all} P{k}1 XL{k}(0,0)<1;1,0> YL{k}(0,0)<1;1,0>\n\
         cmp.{high} {all} P{k}2 XH{k}(0,0)<1;1,0> 0x0:ud\nand {all} P{k}2 P{k}2 P{k}1\n\
         (P{k}2) sel {all} CL{k}(0,0)<1> 0x0:d YL{k}(0,0)<1;1,0>\n\
         mov {all} Less{k}(0,0)<1> CL{k}{extended}(0,0)<1;1,0>\n\
         add {all} Q{k}S(0,0)<1> Next{k}S(0,0)<1;1,0> (-)Less{k}(0,0)<1;1,0>\n"
    );
}

fn program(dice: &mut Dice) -> String {
    let mut t = declarations();
    let mut names: Vec<String> = Vec::new();
    for k in 0..GIVEN {
        let _ = writeln!(t, "add (M1, 32) To(0,0)<1> At(0,0)<1;1,0> {:#x}:ud", k * 8 * N);
        t += "add (M1, 32) From(0,0)<1> To(0,0)<1;1,0> T(0,0)<0;1,0>\n";
        let _ = writeln!(t, "lsc_load.ugm (M1, 32) G{k}:d64 flat[From]:a64");
        names.push(format!("G{k}"));
    }
    for k in 0..MADE {
        if dice.below(5) == 0 {
            divide(dice, &mut t, k, &names);
        } else {
            choose(dice, &mut t, k, &names);
        }
        names.push(format!("Q{k}"));
    }
    for k in 0..MADE {
        for (name, at, size) in [("Q", 12 * k * N, "d64"), ("Seen", 12 * k * N + 8 * N, "d32")] {
            let shift = if name == "Q" { 0 } else { 1 };
            let _ = writeln!(t, "shr (M1, 32) To(0,0)<1> At(0,0)<1;1,0> {shift:#x}:ud");
            let _ = writeln!(t, "add (M1, 32) To(0,0)<1> To(0,0)<1;1,0> {at:#x}:ud");
            t += "add (M1, 32) From(0,0)<1> To(0,0)<1;1,0> B(0,0)<0;1,0>\n";
            let _ = writeln!(t, "lsc_store.ugm (M1, 32) flat[From]:a64 {name}{k}:{size}");
        }
    }
    t + "ret (M1, 1)\n"
}

/// What a run stores.
fn run(text: &str, table: &[u8], engine: Engine) -> Vec<u8> {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
    let kernel = only_kernel(&device, text);
    let b = device.buffer("b", (12 * MADE * N) as u64).expect("there is memory");
    let t = device.buffer_from("t", table).expect("there is memory");
    let launch = Launch::threads(&[1, 1, 1], 1).arg("B", &b).arg("T", &t);
    let outcome = device.run(&kernel, launch.engine(engine).host_threads(1)).expect("it is launched");
    assert!(outcome.fault.is_none(), "{:?}\n{text}", outcome.fault);
    b.to_vec()
}

#[test]
fn choices_of_dwords_are_those_of_quads() {
    let mut dice = Dice(29);
    for k in 0..400 {
        let half = |dice: &mut Dice| match dice.below(3) {
            0 => dice.pick(&[0, 1, 2, u32::MAX, 0x8000_0000, 0x7fff_ffff]),
            1 => dice.below(4) as u32,
            _ => dice.below(1 << 32) as u32,
        };
        let table: Vec<u8> = (0..2 * GIVEN * N).flat_map(|_| half(&mut dice).to_le_bytes()).collect();
        let text = program(&mut dice);
        let [want, got] = [Engine::Unoptimized, Engine::Native].map(|e| run(&text, &table, e));
        assert!(want == got, "case {k}\n{text}");
    }
}
