//! Pointers of each channel that loops move on by what all channels share: messages that do not look at their addresses, as
//! an earlier one did, go where the interpreter's go, and fault where it faults. Pointers are side by side in some programs,
//! in others not, or not in all channels; some are moved in some channels only.

use std::fmt::Write as _;

use crate::kernels::{self, left_and_listing};
use crate::random::Random;
use envisa::Engine;
use envisa::isa::Platform;

const POINTERS: u32 = 4;
const VECTORS: u32 = 3;
const BYTES: u32 = 8192;

fn program(seed: u64) -> String {
    let mut r = Random(seed);
    let mut text = String::from(
        ".version 4.1\n.kernel \"moved\"\n.kernel_attr Target=\"3d\"\n.kernel_attr SimdSize=32\n\
         .decl Lane v_type=G type=uw num_elts=32 align=wordx32\n.decl I v_type=G type=d num_elts=32 align=wordx32\n\
         .decl N v_type=G type=d num_elts=32 align=wordx32\n.decl Q v_type=G type=q num_elts=32 align=wordx32\n\
         .decl At v_type=G type=uq num_elts=32 align=wordx32\n.decl S v_type=G type=q num_elts=1 align=qword\n\
         .decl A v_type=G type=uq num_elts=1 align=qword\n.decl Round v_type=G type=d num_elts=1 align=dword\n\
         .decl P1 v_type=P num_elts=32\n.decl P2 v_type=P num_elts=1\n",
    );
    for k in 0..POINTERS {
        let _ = writeln!(text, ".decl At{k} v_type=G type=uq num_elts=32 align=wordx32");
    }
    for k in 0..VECTORS {
        let _ = writeln!(text, ".decl D{k} v_type=G type=d num_elts=32 align=wordx32");
    }
    text += ".input A offset=32 size=8\n";
    text += &kernels::lane_numbers(32);
    text += "mul (M1, 32) N(0,0)<1> Lane(0,0)<1;1,0> 0x10305:d\n";
    let bound = r.below(33);
    let _ = writeln!(text, "cmp.lt (M1, 32) P1 Lane(0,0)<1;1,0> {bound:#x}:w");
    for k in 0..VECTORS {
        let _ = writeln!(text, "mov (M1, 32) D{k}(0,0)<1> Lane(0,0)<1;1,0>");
    }
    for k in 0..POINTERS {
        // Rows, one place, something else, rows but for some channels, two rows.
        let (of, step) =
            r.one_of(&[("N", 4), ("Lane", 4), ("Lane", 4), ("Lane", 4), ("Lane", 0), ("Lane", 8)]);
        match of {
            "N" => {
                let (op, with) =
                    r.one_of(&[("xor", 1), ("and", 0x1e), ("or", 0x10), ("and", 0xf), ("xor", 0x10)]);
                let _ = writeln!(text, "{op} (M1, 32) I(0,0)<1> Lane(0,0)<1;1,0> {with:#x}:uw");
                text += "mul (M1, 32) I(0,0)<1> I(0,0)<1;1,0> 0x4:d\n";
            }
            _ => {
                let _ = writeln!(text, "mul (M1, 32) I(0,0)<1> Lane(0,0)<1;1,0> {step:#x}:uw");
            }
        }
        let from = 4 * r.below(500);
        let _ = writeln!(text, "add (M1, 32) I(0,0)<1> I(0,0)<1;1,0> {from:#x}:d");
        text += "mov (M1, 32) Q(0,0)<1> I(0,0)<1;1,0>\n";
        let _ = writeln!(text, "add (M1, 32) At{k}(0,0)<1> Q(0,0)<1;1,0> A(0,0)<0;1,0>");
    }
    let step = r.one_of(&[64, 64, 128, 4, 0, 700, 2000, 3000]);
    let _ = writeln!(text, "mov (M1, 1) S(0,0)<1> {step:#x}:d\nmov (M1, 1) Round(0,0)<1> 0x0:d\nagain:");
    let some = r.below(4) == 0;
    if some {
        text += "(P1) goto (M1, 32) behind\n";
    }
    for _ in 0..4 + r.below(14) {
        let (at, other, d) = (r.below(POINTERS), r.below(POINTERS), r.below(VECTORS));
        let on = r.one_of(&["", "", "", "", "", "(P1) "]);
        let _ = match r.below(8) {
            0..3 => writeln!(text, "{on}lsc_load.ugm (M1, 32) D{d}:d32 flat[At{at}]:a64"),
            3 => writeln!(text, "{on}lsc_store.ugm (M1, 32) flat[At{at}]:a64 D{d}:d32"),
            4 | 5 => {
                let by = r.one_of(&["S(0,0)<0;1,0>", "0x40:q", "0x4:q"]);
                let to = if r.below(2) == 0 { at } else { other };
                writeln!(text, "{on}add (M1, 32) At{to}(0,0)<1> At{at}(0,0)<1;1,0> {by}")
            }
            6 => writeln!(text, "mov (M1, 32) At{other}(0,0)<1> At{at}(0,0)<1;1,0>"),
            _ => writeln!(text, "xor (M1, 32) N(0,0)<1> N(0,0)<1;1,0> D{d}(0,0)<1;1,0>"),
        };
    }
    if some {
        text += "behind:\n";
    }
    text += "add (M1, 1) Round(0,0)<1> Round(0,0)<0;1,0> 0x1:d\ncmp.lt (M1, 1) P2 Round(0,0)<0;1,0> 0x3:d\n\
        (P2) jmp (M1, 1) again\n";
    for v in ["N", "D0", "D1", "D2"] {
        let at = 0x1800 + 128 * text.len() as u32 % 1024 / 128 * 128;
        let _ = writeln!(
            text,
            "mul (M1, 32) I(0,0)<1> Lane(0,0)<1;1,0> 0x4:uw\nmov (M1, 32) Q(0,0)<1> I(0,0)<1;1,0>"
        );
        let _ = writeln!(text, "add (M1, 32) Q(0,0)<1> Q(0,0)<1;1,0> {at:#x}:q");
        text += "add (M1, 32) At(0,0)<1> Q(0,0)<1;1,0> A(0,0)<0;1,0>\n";
        let _ = writeln!(text, "lsc_store.ugm (M1, 32) flat[At]:a64 {v}:d32");
    }
    text + "ret (M1, 1)\n"
}

#[test]
fn moved_pointers_go_where_the_interpreters_go() {
    const PROGRAMS: u64 = kernels::share(2000);
    let mut faults = 0;
    for seed in 0..PROGRAMS {
        let text = program(seed);
        let [want, got] = [Engine::Unoptimized, Engine::Native]
            .map(|engine| left_and_listing(&text, Platform::Pvc, engine, BYTES));
        assert!(got.1.is_some(), "program {seed} has no native code:\n{text}");
        assert_eq!(want.0.1, got.0.1, "program {seed}:\n{text}");
        assert!(want.0.0 == got.0.0, "program {seed}:\n{text}");
        faults += u64::from(want.0.1.is_some());
    }
    assert!((PROGRAMS / 75..PROGRAMS / 2).contains(&faults), "{faults} of {PROGRAMS} leave the buffer");
}
