//! Code for devices whose instructions have at most 16 channels, and which move quads by halves: whoever makes one
//! instruction of two leaves what the program, as it was written, leaves, and faults where that does.

use std::fmt::Write as _;

use crate::kernels::{only_kernel, outcome};
use crate::random::Random;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Fault, Launch, Outcome, internals};

/// Vectors of dwords and of quads of each half, predicates, and what they find in memory.
const DWORDS: u32 = 5;
const QUADS: u32 = 3;
const PREDICATES: u32 = 3;
const FOUND: u32 = 1 << 12;

/// The channels of each half, and of its halves; the letter of its registers.
const HALVES: [(&str, [&str; 2], char); 2] = [("M1", ["M1", "M3"], 'L'), ("M5", ["M5", "M7"], 'H')];

/// Lines of both halves: one after the other, or all of one behind all of the other.
fn both(r: &mut Random, out: &mut String, lines: impl Fn(usize) -> Vec<String>) {
    let [a, b] = [lines(0), lines(1)];
    if a.len() == b.len() && r.below(3) != 0 {
        for (a, b) in a.iter().zip(&b) {
            let _ = writeln!(out, "{a}\n{b}");
        }
    } else {
        a.iter().chain(&b).for_each(|l| {
            let _ = writeln!(out, "{l}");
        });
    }
}

/// The moves that make quads of halves, or halves of quads; some of them may be missing or in another order.
fn halved(r: &mut Random, together: bool, t: &str, q: u32, k: usize) -> Vec<String> {
    let (_, quarters, x) = HALVES[k];
    let mut all = Vec::new();
    for half in 0..2 {
        for (quarter, m) in quarters.iter().enumerate() {
            let apart = format!("D{x}{q}({},{half})", 2 * quarter);
            let part = format!("{t}{x}({},0)", 2 * half + quarter);
            all.push(match together {
                true => format!("mov ({m}, 8) {apart}<2> {part}<1;1,0>"),
                false => format!("mov ({m}, 8) {part}<1> {apart}<2;1,0>"),
            });
        }
    }
    if r.below(4) == 0 {
        all.swap(0, r.below(4) as usize);
    }
    if r.below(12) == 0 {
        all.remove(r.below(4) as usize);
    }
    all
}

/// One that moves something from memory or into it.
fn moved(r: &mut Random, out: &mut String) {
    let (v, w, q) = (r.below(DWORDS), r.below(DWORDS), r.below(QUADS));
    match r.below(10) {
        0 => {
            let (kind, guard) = (r.one_of(&["gather", "gather", "scatter"]), guard(r));
            both(r, out, |k| {
                let (m, _, x) = HALVES[k];
                vec![
                    format!("and ({m}, 16) {x}A(0,0)<1> {x}{w}(0,0)<1;1,0> {:#x}:ud", FOUND - 4),
                    format!("add ({m}, 16) {x}To(0,0)<1> {x}A(0,0)<1;1,0> A(0,0)<0;1,0>"),
                    format!("{guard}svm_{kind}.4.1 ({m}, 16) {x}To.0 {x}{v}.0"),
                ]
            });
        }
        7 => local(r, out, w, q),
        8 => counted(r, out, v, w),
        // Quads from memory, and into it.
        1..=3 => {
            // In vectors that nobody else reads, mostly.
            let t = r.one_of(&["T", "U", "V", "W", "X"]);
            let of = [t, if r.below(4) == 0 { r.one_of(&["T", "U", "V", "W", "X"]) } else { t }];
            let [first, second] = [halved(r, true, of[0], q, 0), halved(r, true, of[1], q, 1)];
            let early = r.below(8);
            let late = r.below(6);
            both(r, out, |k| {
                let ((m, _, x), t) = (HALVES[k], of[k]);
                let mut all = vec![
                    format!("and ({m}, 16) {x}A(0,0)<1> {x}{w}(0,0)<1;1,0> {:#x}:ud", FOUND - 8),
                    format!("add ({m}, 16) {x}To(0,0)<1> {x}A(0,0)<1;1,0> A(0,0)<0;1,0>"),
                    format!("svm_gather.4.2 ({m}, 16) {x}To.0 {t}{x}.0"),
                ];
                // Somebody wants the halves, too, or what was there before.
                match early {
                    0 => all
                        .push(format!("add ({m}, 16) {x}{v}(0,0)<1> D{x}{q}(0,0)<1;1,0> {x}{w}(0,0)<1;1,0>")),
                    1 => all.push(format!("mov ({m}, 16) {x}{v}(0,0)<1> {t}{x}(0,0)<1;1,0>")),
                    _ => {}
                }
                all.extend([&first, &second][k].iter().cloned());
                match late {
                    0 => all
                        .push(format!("xor ({m}, 16) {x}{v}(0,0)<1> {t}{x}(2,0)<1;1,0> {x}{w}(0,0)<1;1,0>")),
                    1 => all
                        .push(format!("xor ({m}, 16) {t}{x}(0,0)<1> {t}{x}(0,0)<1;1,0> {x}{w}(0,0)<1;1,0>")),
                    _ => {}
                }
                all
            });
        }
        4 => {
            let [first, second] = [halved(r, false, "T", q, 0), halved(r, false, "T", q, 1)];
            let change = r.below(6);
            both(r, out, |k| {
                let (m, _, x) = HALVES[k];
                let mut all = vec![
                    format!("and ({m}, 16) {x}A(0,0)<1> Lane{x}(0,0)<1;1,0> 0x1f:ud"),
                    format!("shl ({m}, 16) {x}A(0,0)<1> {x}A(0,0)<1;1,0> 0x3:ud"),
                    format!("add ({m}, 16) {x}To(0,0)<1> {x}A(0,0)<1;1,0> A(0,0)<0;1,0>"),
                ];
                all.extend([&first, &second][k].iter().cloned());
                match change {
                    0 => all.push(format!("add ({m}, 16) Q{x}{q}(0,0)<1> Q{x}{q}(0,0)<1;1,0> 0x101:uq")),
                    1 => all.push(format!("add ({m}, 16) T{x}(0,0)<1> T{x}(0,0)<1;1,0> 0x101:ud")),
                    _ => {}
                }
                all.push(format!("svm_scatter.4.2 ({m}, 16) {x}To.0 T{x}.0"));
                all
            });
        }
        _ => added_up(r, out, v, w),
    }
}

/// Nobody is asked, mostly; or a predicate is.
fn guard(r: &mut Random) -> String {
    match r.below(4) {
        0 => format!("({}P{}) ", r.one_of(&["", "!"]), 1 + r.below(PREDICATES)),
        _ => String::new(),
    }
}

/// Dwords, or quads by halves, from local memory or into it, some of them outside.
fn local(r: &mut Random, out: &mut String, w: u32, q: u32) {
    let (write, guard) = (r.below(2) == 0, guard(r));
    let (parts, most) = (r.one_of(&["R", "RG"]), r.one_of(&[0xffc, 0xffc, 0x1_fffc]));
    // Where channels meet, they meet in whole quads: which of two dwords comes first is not the same in all engines.
    let most = if parts == "RG" { most & !4 } else { most };
    let [first, second] = [halved(r, !write, "T", q, 0), halved(r, !write, "T", q, 1)];
    let (kind, shift) = (if write { "scatter4_scaled" } else { "gather4_scaled" }, r.below(4));
    both(r, out, |k| {
        let (m, _, x) = HALVES[k];
        let mut all = vec![
            format!("shl ({m}, 16) {x}A(0,0)<1> {x}{w}(0,0)<1;1,0> {shift:#x}:ud"),
            format!("and ({m}, 16) {x}A(0,0)<1> {x}A(0,0)<1;1,0> {most:#x}:ud"),
        ];
        let moves = [&first, &second][k].iter().cloned();
        let message = format!("{guard}{kind}.{parts} ({m}, 16) %slm 0x0:ud {x}A.0 T{x}.0");
        if write {
            all.extend(moves);
            all.push(message);
        } else {
            all.push(message);
            all.extend(moves);
        }
        all
    });
}

/// Atomics, some of whose channels meet.
fn counted(r: &mut Random, out: &mut String, v: u32, w: u32) {
    let (guard, most) = (guard(r), r.one_of(&[0xc, 0xfc, FOUND - 4]));
    let (op, a, b) = r.one_of(&[
        ("add", "Lane@", "%null"),
        ("inc", "%null", "%null"),
        ("xchg", "Lane@", "%null"),
        ("max", "Lane@", "%null"),
        ("cmpxchg", "Lane@", "@0"),
    ]);
    let old = r.below(3) != 0;
    both(r, out, |k| {
        let (m, _, x) = HALVES[k];
        let [a, b] = [a, b].map(|s| s.replace('@', &x.to_string()));
        let old = if old { format!("{x}{v}") } else { "%null".into() };
        vec![
            format!("and ({m}, 16) {x}A(0,0)<1> {x}{w}(0,0)<1;1,0> {most:#x}:ud"),
            format!("add ({m}, 16) {x}To(0,0)<1> {x}A(0,0)<1;1,0> A(0,0)<0;1,0>"),
            format!("{guard}svm_atomic.{op} ({m}, 16) {x}To.0 {old}.0 {a}.0 {b}.0"),
        ]
    });
}

/// Addresses of 64 bits, added up by halves; what was added, or what came of it, may change meanwhile.
fn added_up(r: &mut Random, out: &mut String, v: u32, w: u32) {
    let any = r.below(0xffff) << 16;
    let d = r.one_of(&[0, 0x1000, 0x8000_0000_u32, 0xffff_0000, any]);
    let (change, swap, alone) = (r.below(9), r.below(2), r.below(2));
    let d = if change == 6 { 0 } else { d };
    let _ = writeln!(out, "add (M1_NM, 1) B(0,0)<1> A(0,0)<0;1,0> {:#x}:q", -i64::from(d));
    let _ = writeln!(out, "add (M1_NM, 1) BD(0,2)<1> BD(0,0)<0;1,0> 0x4:ud");
    if change == 6 {
        let _ = writeln!(out, "add (M1_NM, 1) BD(0,1)<1> BD(0,1)<0;1,0> 0xffffffff:ud");
    }
    both(r, out, |k| {
        let (m, quarters, x) = HALVES[k];
        let mut all = vec![
            format!("and ({m}, 16) {x}A(0,0)<1> {x}{w}(0,0)<1;1,0> {:#x}:ud", FOUND - 8),
            format!("add ({m}, 16) {x}A(0,0)<1> {x}A(0,0)<1;1,0> {d:#x}:ud"),
        ];
        for (q, m) in quarters.iter().enumerate() {
            let low = if change == 0 { 2 * q } else { 0 };
            let (a, b) = (format!("{x}A({q},0)<1;1,0>"), format!("BD(0,{low})<0;1,0>"));
            let (a, b) = if swap == 0 { (a, b) } else { (b, a) };
            all.push(format!("addc ({m}, 8) E{x}({q},0)<1> C{x}{q}(0,0)<1> {a} {b}"));
            let carry = format!("C{x}{q}(0,0)<1;1,0>");
            if change == 6 {
                all.push(format!("mov ({m}, 8) C{x}{q}(0,0)<1> 0x1:ud"));
            }
            let upper = "BD(0,1)<0;1,0>";
            if alone == 0 {
                all.push(format!("add ({m}, 8) F{x}({q},0)<1> {carry} {upper}"));
            } else {
                all.push(format!("add ({m}, 8) F{x}({q},0)<1> 0x0:ud {upper}"));
                all.push(format!("add ({m}, 8) F{x}({q},0)<1> {carry} F{x}({q},0)<1;1,0>"));
            }
        }
        match change {
            1 => all.push(format!("add ({m}, 16) {x}A(0,0)<1> {x}A(0,0)<1;1,0> 0x4:ud")),
            2 if k == 1 => all.push("add (M1_NM, 1) BD(0,0)<1> BD(0,0)<0;1,0> 0x10:ud".into()),
            3 if k == 1 => all.push("add (M1_NM, 1) BD(0,1)<1> BD(0,1)<0;1,0> 0x1:ud".into()),
            4 => all.push(format!("and ({m}, 16) E{x}(0,0)<1> E{x}(0,0)<1;1,0> 0xfffffff8:ud")),
            _ => {}
        }
        all.push(format!("mov ({m}, 16) S{x}(0,0)<2> E{x}(0,0)<1;1,0>"));
        all.push(format!("mov ({m}, 16) S{x}(0,1)<2> F{x}(0,0)<1;1,0>"));
        if change == 5 {
            all.push(format!("mov ({m}, 16) S{x}(0,0)<2> E{x}(0,0)<1;1,0>"));
        }
        all.push(format!("svm_gather.4.1 ({m}, 16) To{x}.0 {x}{v}.0"));
        all
    });
}

/// Sums and differences of 64 bits, by dwords and by eight channels each; somebody may want what was carried once more.
fn carried(r: &mut Random, out: &mut String, v: u32, w: u32, u: u32) {
    let (op, sign) = r.one_of(&[("addc", ""), ("subb", "(-)")]);
    let (again, other) = (r.below(4), r.below(5));
    both(r, out, |k| {
        let (m, quarters, x) = HALVES[k];
        let mut all = vec![
            format!("mov ({m}, 16) E{x}(0,0)<1> {x}{w}(0,0)<1;1,0>"),
            format!("mov ({m}, 16) F{x}(0,0)<1> {x}{u}(0,0)<1;1,0>"),
        ];
        for (q, m) in quarters.iter().enumerate() {
            let of = if other == 0 { "E" } else { "F" };
            let (a, b) = (format!("E{x}({q},0)<1;1,0>"), format!("{of}{x}({q},0)<1;1,0>"));
            all.push(format!("{op} ({m}, 8) E{x}({q},0)<1> C{x}{q}(0,0)<1> {a} {b}"));
            all.push(format!("add ({m}, 8) F{x}({q},0)<1> {sign}C{x}{q}(0,0)<1;1,0> F{x}({q},0)<1;1,0>"));
        }
        if again == 0 {
            all.push(format!("add ({}, 8) F{x}(1,0)<1> C{x}0(0,0)<1;1,0> F{x}(1,0)<1;1,0>", quarters[1]));
        }
        all.push(format!("xor ({m}, 16) {x}{v}(0,0)<1> E{x}(0,0)<1;1,0> F{x}(0,0)<1;1,0>"));
        all
    });
}

/// Where each channel finds its own, made once: as private arrays are, with offsets that have a sign or have none.
fn base(r: &mut Random) -> String {
    let mut out = String::new();
    let (step, signed) = (r.one_of(&[4, 8, 12, 40]), r.below(2) == 0);
    let first = if signed { -64 } else { 64 };
    let _ = writeln!(out, "add (M1_NM, 1) K(0,0)<1> A(0,0)<0;1,0> {:#x}:q", 128 - first);
    for (m, quarters, x) in HALVES {
        let _ = writeln!(out, "mad ({m}, 16) O{x}(0,0)<1> Lane{x}(0,0)<1;1,0> {step:#x}:d {first:#x}:d");
        let _ = writeln!(out, "asr ({m}, 16) G{x}(0,0)<1> O{x}(0,0)<1;1,0> 0x1f:d");
        for (q, m) in quarters.iter().enumerate() {
            let _ = writeln!(
                out,
                "addc ({m}, 8) KL{x}({q},0)<1> C{x}{q}(0,0)<1> KD(0,0)<0;1,0> O{x}U({q},0)<1;1,0>"
            );
            let carry = format!("C{x}{q}(0,0)<1;1,0>");
            let _ = match signed {
                true => {
                    writeln!(out, "add3 ({m}, 8) KH{x}({q},0)<1> {carry} KD(0,1)<0;1,0> G{x}U({q},0)<1;1,0>")
                }
                false => writeln!(out, "add ({m}, 8) KH{x}({q},0)<1> {carry} KD(0,1)<0;1,0>"),
            };
        }
        let _ = writeln!(out, "mov ({m}, 16) KQ{x}(0,0)<2> KL{x}(0,0)<1;1,0>");
        let _ = writeln!(out, "mov ({m}, 16) KQ{x}(0,1)<2> KH{x}(0,0)<1;1,0>");
    }
    out
}

/// A dword from there, or from so far behind it; the base may change for those that come later.
fn from_base(r: &mut Random, out: &mut String, v: u32) {
    let plus = r.one_of(&[0, 4, 0x100, 0x800]);
    let (change, kept) = (r.below(40), r.below(4) == 0);
    let _ = writeln!(out, "mov (M1_NM, 1) N(0,0)<1> {plus:#x}:ud");
    both(r, out, |k| {
        let (m, quarters, x) = HALVES[k];
        let mut all = Vec::new();
        for (q, m) in quarters.iter().enumerate() {
            let low = format!("KL{x}({q},0)<1;1,0>");
            all.push(format!("addc ({m}, 8) E{x}({q},0)<1> C{x}{q}(0,0)<1> {low} N(0,0)<0;1,0>"));
            all.push(format!("add ({m}, 8) F{x}({q},0)<1> C{x}{q}(0,0)<1;1,0> KH{x}({q},0)<1;1,0>"));
        }
        all.push(format!("mov ({m}, 16) S{x}(0,0)<2> E{x}(0,0)<1;1,0>"));
        all.push(format!("mov ({m}, 16) S{x}(0,1)<2> F{x}(0,0)<1;1,0>"));
        match change {
            0 => all.push(format!("add ({m}, 16) KL{x}(0,0)<1> KL{x}(0,0)<1;1,0> 0x4:ud")),
            1 => all.push(format!("add ({m}, 16) O{x}(0,0)<1> O{x}(0,0)<1;1,0> 0x4:d")),
            2 => all.push("add (M1_NM, 1) KD(0,0)<1> KD(0,0)<0;1,0> 0x4:ud".into()),
            3 => all.push("add (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> 0x4:ud".into()),
            _ => {}
        }
        let from = if kept { format!("KQ{x}Q") } else { format!("To{x}") };
        all.push(format!("svm_gather.4.1 ({m}, 16) {from}.0 {x}{v}.0"));
        all
    });
}

/// One statement of the body.
fn statement(r: &mut Random, labels: &mut Vec<u32>, out: &mut String) {
    let (v, w, u) = (r.below(DWORDS), r.below(DWORDS), r.below(DWORDS));
    let (p, o) = (1 + r.below(PREDICATES), 1 + r.below(PREDICATES));
    let q = r.below(QUADS);
    let (number, other) = (r.below(9), r.below(16));
    let relation = r.one_of(&["eq", "ne", "gt", "ge", "lt", "le"]);
    let not = r.one_of(&["", "!"]);
    let op = r.one_of(&["add", "mul", "xor", "min"]);
    match r.below(25) {
        21 | 22 => carried(r, out, v, w, u),
        23 | 24 => from_base(r, out, v),
        0..=2 => both(r, out, |k| {
            let (m, _, x) = HALVES[k];
            vec![format!("{op} ({m}, 16) {x}{v}(0,0)<1> {x}{w}(0,0)<1;1,0> {x}{u}(0,0)<1;1,0>")]
        }),
        3 => both(r, out, |k| {
            let (m, _, x) = HALVES[k];
            vec![
                format!("add ({m}, 16) {x}{v}(0,0)<1> {x}{w}(0,0)<1;1,0> {number:#x}:d"),
                format!("shl ({m}, 16) {x}{v}(0,0)<1> {x}{v}(0,0)<1;1,0> 0x2:d"),
            ]
        }),
        // What is not the same in both, or of the other half.
        4 => both(r, out, |k| {
            let (m, _, x) = HALVES[k];
            vec![format!("{op} ({m}, 16) {x}{v}(0,0)<1> {x}{w}(0,0)<1;1,0> {:#x}:d", number + k as u32)]
        }),
        5 => both(r, out, |k| {
            let (m, _, x) = HALVES[k];
            vec![format!("{op} ({m}, 16) {x}{v}(0,0)<1> L{w}(0,0)<1;1,0> {x}{u}(0,0)<1;1,0>")]
        }),
        6 => {
            let (row, of) = (other / 8, r.one_of(&[Some('L'), Some('H'), None]));
            both(r, out, |k| {
                let (m, _, y) = HALVES[k];
                let x = of.unwrap_or(y);
                vec![format!(
                    "{op} ({m}, 16) {y}{v}(0,0)<1> {y}{w}(0,0)<1;1,0> {x}{u}({row},{})<0;1,0>",
                    other % 8
                )]
            });
        }
        7 => both(r, out, |k| {
            let (m, _, x) = HALVES[k];
            vec![
                format!("cmp.{relation} ({m}, 16) P{p} {x}{v}(0,0)<1;1,0> {number:#x}:d"),
                format!("{} ({m}, 16) P{p} P{p} P{o}", ["and", "or", "xor"][other as usize % 3]),
            ]
        }),
        8 => both(r, out, |k| {
            let (m, _, x) = HALVES[k];
            vec![format!("({not}P{p}) sel ({m}, 16) {x}{v}(0,0)<1> {x}{w}(0,0)<1;1,0> {number:#x}:d")]
        }),
        9 => both(r, out, |k| {
            let (m, _, x) = HALVES[k];
            vec![format!("({not}P{p}) add ({m}, 16) {x}{v}(0,0)<1> {x}{w}(0,0)<1;1,0> {number:#x}:d")]
        }),
        10..=18 => moved(r, out),
        19 => both(r, out, |k| {
            let (m, _, x) = HALVES[k];
            vec![format!("add ({m}, 16) Q{x}{q}(0,0)<1> Q{x}{q}(0,0)<1;1,0> {x}{w}(0,0)<1;1,0>")]
        }),
        _ => {
            let label = labels.len() as u32;
            labels.push(2 + r.below(5));
            let _ = writeln!(out, "({not}P{p}) goto (M1, 32) L{label}");
        }
    }
}

/// The declarations, and what comes before the body: addresses in memory for all channels.
fn beginning() -> String {
    let mut text = String::from(
        ".version 3.6\n.kernel \"halves\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize=32\n",
    );
    let mut vector = |name: String, ty: &str, n: u32| {
        let _ = writeln!(text, ".decl {name} v_type=G type={ty} num_elts={n} align=hword");
    };
    for x in ['L', 'H'] {
        (0..DWORDS).for_each(|k| vector(format!("{x}{k}"), "d", 16));
        (0..QUADS).for_each(|k| vector(format!("Q{x}{k}"), "uq", 16));
        ["T", "U", "V", "W", "X"].iter().for_each(|t| vector(format!("{t}{x}"), "ud", 32));
        vector(format!("Lane{x}"), "ud", 16);
        vector(format!("{x}A"), "ud", 16);
        vector(format!("{x}To"), "uq", 16);
        vector(format!("To{x}"), "uq", 16);
        ["E", "F"].iter().for_each(|t| vector(format!("{t}{x}"), "ud", 16));
        (0..2).for_each(|q| vector(format!("C{x}{q}"), "ud", 8));
        ["KL", "KH"].iter().for_each(|t| vector(format!("{t}{x}"), "ud", 16));
        ["O", "G"].iter().for_each(|t| vector(format!("{t}{x}"), "d", 16));
        vector(format!("KQ{x}Q"), "uq", 16);
    }
    vector("K".into(), "q", 1);
    vector("N".into(), "ud", 1);
    vector("Word".into(), "uw", 32);
    vector("B".into(), "q", 2);
    for x in ['L', 'H'] {
        for k in 0..QUADS {
            let _ =
                writeln!(text, ".decl D{x}{k} v_type=G type=ud num_elts=32 align=hword alias=<Q{x}{k}, 0>");
        }
    }
    let aliases = [("SL", "ToL", 32), ("SH", "ToH", 32), ("BD", "B", 4), ("KD", "K", 2)];
    let of_bases = [("KQL", "KQLQ", 32), ("KQH", "KQHQ", 32)];
    let unsigned = [("OLU", "OL", 16), ("OHU", "OH", 16), ("GLU", "GL", 16), ("GHU", "GH", 16)];
    for (name, of, n) in aliases.into_iter().chain(of_bases).chain(unsigned) {
        let _ = writeln!(text, ".decl {name} v_type=G type=ud num_elts={n} align=hword alias=<{of}, 0>");
    }
    for k in 1..=PREDICATES {
        let _ = writeln!(text, ".decl P{k} v_type=P num_elts=32");
    }
    text.push_str(".decl A v_type=G type=uq num_elts=1 align=qword\n.input A offset=64 size=8\n");
    text.push_str(".function \"halves_main\"\nmov (M1, 8) Word(0,0)<1> 0x76543210:v\n");
    text.push_str("add (M1, 8) Word(0,8)<1> Word(0,0)<1;1,0> 0x8:uw\n");
    text.push_str("add (M1, 16) Word(1,0)<1> Word(0,0)<1;1,0> 0x10:uw\n");
    text.push_str("mov (M1, 16) LaneL(0,0)<1> Word(0,0)<1;1,0>\n");
    text.push_str("mov (M5, 16) LaneH(0,0)<1> Word(1,0)<1;1,0>\n");
    text
}

/// A program of so many statements, and the bytes that it leaves.
fn program(seed: u64) -> (String, u64) {
    let mut r = Random(seed);
    let mut text = beginning();
    text += &base(&mut r);
    for k in 0..DWORDS {
        let (by, and) = (1 + 2 * r.below(500), r.one_of(&[7, 15, 0xfff]));
        for (m, _, x) in HALVES {
            let _ = writeln!(text, "mul ({m}, 16) {x}{k}(0,0)<1> Lane{x}(0,0)<1;1,0> {by:#x}:d");
            let _ = writeln!(text, "and ({m}, 16) {x}{k}(0,0)<1> {x}{k}(0,0)<1;1,0> {and:#x}:d");
        }
    }
    for k in 0..QUADS {
        for (m, _, x) in HALVES {
            let _ = writeln!(text, "mov ({m}, 16) Q{x}{k}(0,0)<1> {x}{k}(0,0)<1;1,0>");
        }
    }
    for k in 1..=PREDICATES {
        for (m, _, x) in HALVES {
            let _ = writeln!(text, "cmp.lt ({m}, 16) P{k} {x}{}(0,0)<1;1,0> 0x6:d", k - 1);
        }
    }
    let mut labels: Vec<u32> = Vec::new();
    let mut bound = 0;
    for _ in 0..8 + r.below(25) {
        statement(&mut r, &mut labels, &mut text);
        // Branches end in the order in which they begin.
        if let Some(left) = labels.get_mut(bound) {
            *left -= 1;
            if *left == 0 {
                let _ = writeln!(text, "L{bound}:");
                bound += 1;
            }
        }
    }
    (bound..labels.len()).for_each(|l| {
        let _ = writeln!(text, "L{l}:");
    });
    let mut stored = FOUND;
    let mut store = |text: &mut String, names: [String; 2], words: u32| {
        for ((m, _, x), name) in HALVES.into_iter().zip(names) {
            let _ = writeln!(text, "shl ({m}, 16) {x}A(0,0)<1> Lane{x}(0,0)<1;1,0> {:#x}:ud", 1 + words);
            let _ = writeln!(text, "add ({m}, 16) {x}A(0,0)<1> {x}A(0,0)<1;1,0> {stored:#x}:ud");
            let _ = writeln!(text, "add ({m}, 16) {x}To(0,0)<1> {x}A(0,0)<1;1,0> A(0,0)<0;1,0>");
            let _ = writeln!(text, "svm_scatter.4.{words} ({m}, 16) {x}To.0 {name}.0");
        }
        stored += 128 * words;
    };
    (0..DWORDS).for_each(|k| store(&mut text, ['L', 'H'].map(|x| format!("{x}{k}")), 1));
    (0..QUADS).for_each(|k| store(&mut text, ['L', 'H'].map(|x| format!("D{x}{k}")), 2));
    store(&mut text, ['L', 'H'].map(|x| format!("T{x}")), 2);
    for k in 1..=PREDICATES {
        for (m, _, x) in HALVES {
            let _ = writeln!(text, "(P{k}) sel ({m}, 16) {x}0(0,0)<1> 0x1:d 0x0:d");
        }
        store(&mut text, ['L', 'H'].map(|x| format!("{x}0")), 1);
    }
    text.push_str("ret (M1, 1)\n");
    (text, stored.into())
}

/// What is in memory afterwards, and the fault.
fn run(engine: Option<Engine>, text: &str, bytes: u64) -> (Vec<u8>, Option<Box<Fault>>) {
    let (left, outcome) = left(engine, text, bytes);
    (left, outcome.fault)
}

fn device() -> Device {
    Device::new(Config::new(Platform::Dg2).memory(1 << 20))
}

/// How many programs, of those that the environment asks for.
fn programs() -> u64 {
    std::env::var("ENVISA_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(crate::kernels::share(250))
}

fn left(engine: Option<Engine>, text: &str, bytes: u64) -> (Vec<u8>, Outcome) {
    let device = device();
    let kernel = only_kernel(&device, text);
    let numbers: Vec<u8> = (0..bytes).map(|k| (k * 37 + k / 64) as u8).collect();
    let buffer = device.buffer_from("a", &numbers).expect("there is memory");
    // Two threads, one after the other: the second finds the registers as the first one left them.
    let launch = Launch::threads(&[2, 1, 1], 1).host_threads(1).arg("A", &buffer);
    let outcome = outcome(&device, &kernel, launch, engine);
    (buffer.to_vec(), outcome)
}

#[test]
fn the_same_from_all() {
    let mut all = internals::JoinCounts::default();
    for seed in 0..programs() {
        let (text, bytes) = program(seed);
        let (want, fault) = run(None, &text, bytes);
        assert!(fault.is_none(), "{fault:?}\n{text}");
        let joined = internals::join_counts(&only_kernel(&device(), &text));
        all.instructions += joined.instructions;
        all.quads += joined.quads;
        all.sums += joined.sums;
        for engine in [Engine::Unoptimized, Engine::Native] {
            let (got, fault) = run(Some(engine), &text, bytes);
            assert!(fault.is_none(), "{fault:?}\n{text}");
            let differs = want.iter().zip(&got).position(|(a, b)| a != b);
            assert_eq!(differs, None, "program {seed} by {engine:?}:\n{text}");
        }
    }
    // That is what this is a test of.
    println!("{} programs: {all:?}", programs());
    let enough = [(all.instructions, 40), (all.quads, 1), (all.sums, 1)];
    assert!(enough.iter().all(|(n, of)| *n >= of * programs()), "{} programs: {all:?}", programs());
}

/// Some of them end in a fault, as the buffer is too short: what was stored before is there, and nothing else.
#[test]
fn the_same_is_left_at_a_fault() {
    let mut faults = 0;
    for seed in 0..programs() {
        let (text, all) = program(seed);
        // Whole dwords, now and then half a quad.
        let bytes = 4 * u64::from(16 + Random(!seed).below(all as u32 / 4));
        let (want, fault) = run(None, &text, bytes);
        faults += u64::from(fault.is_some());
        for engine in [Engine::Unoptimized, Engine::Native] {
            let (got, other) = run(Some(engine), &text, bytes);
            assert_eq!(format!("{other:?}"), format!("{fault:?}"), "program {seed} by {engine:?}:\n{text}");
            let differs = want.iter().zip(&got).position(|(a, b)| a != b);
            assert_eq!(differs, None, "program {seed} by {engine:?}:\n{text}");
        }
    }
    assert!(faults > programs() / 2, "{faults} of {}", programs());
}

/// One channel is outside of local memory, where what is dropped is counted, and the first of it told.
#[test]
fn the_same_is_dropped() {
    for lane in [3, 15, 16, 22, 31] {
        for (kind, parts, end) in
            [("gather", "R", 0), ("scatter", "R", 0), ("gather", "RG", 4), ("scatter", "RG", 4)]
        {
            let mut text = beginning();
            for (m, _, x) in HALVES {
                let _ = writeln!(text, "cmp.eq ({m}, 16) P1 Lane{x}(0,0)<1;1,0> {lane:#x}:ud");
                let _ = writeln!(text, "shl ({m}, 16) {x}A(0,0)<1> Lane{x}(0,0)<1;1,0> 0x3:ud");
                let _ = writeln!(text, "(P1) mov ({m}, 16) {x}A(0,0)<1> {:#x}:ud", 0x10000 - end);
                let _ = writeln!(text, "add ({m}, 16) {x}To(0,0)<1> {x}A(0,0)<1;1,0> A(0,0)<0;1,0>");
                let _ = writeln!(text, "mov ({m}, 16) Q{x}0(0,0)<1> {x}A(0,0)<1;1,0>");
                for half in 0..2 {
                    let _ = writeln!(text, "mov ({m}, 16) T{x}({},0)<1> Lane{x}(0,0)<1;1,0>", 2 * half);
                }
            }
            let mut r = Random(1);
            if (kind, parts) == ("scatter", "RG") {
                (0..2).flat_map(|k| halved(&mut r, false, "T", 0, k)).for_each(|l| text += &format!("{l}\n"));
            }
            for (m, _, x) in HALVES {
                let _ = writeln!(text, "{kind}4_scaled.{parts} ({m}, 16) %slm 0x0:ud {x}A.0 T{x}.0");
            }
            if (kind, parts) == ("gather", "RG") {
                (0..2).flat_map(|k| halved(&mut r, true, "T", 0, k)).for_each(|l| text += &format!("{l}\n"));
            }
            text.push_str("ret (M1, 1)\n");
            let want = format!("{:?}", left(None, &text, 0x1000).1.dropped.expect("it goes outside"));
            for engine in [Engine::Unoptimized, Engine::Native] {
                let (_, other) = left(Some(engine), &text, 0x1000);
                assert_eq!(format!("{:?}", other.dropped.expect("it goes outside")), want, "{text}");
            }
        }
    }
}

/// What is added to indices of dwords moves them all to where no dword is, and only when the message has been there before.
#[test]
fn the_same_are_no_dwords() {
    for (start, step) in [(0, 4), (0, 1), (0, 2), (4, 6), (8, 0xffff_fffc_u32), (2, 2), (0x100, 3), (3, 1)] {
        for constant in [0, 4, 1] {
            let mut text = beginning()
                .replace(".decl A v_type", ".decl S v_type=G type=ud num_elts=1 align=dword\n.decl A v_type");
            let _ = writeln!(
                text,
                "mov (M1_NM, 1) S(0,0)<1> {start:#x}:ud\nmov (M1_NM, 1) Word(0,0)<1> 0x0:uw\nagain:"
            );
            for (m, _, x) in HALVES {
                let _ = writeln!(text, "shl ({m}, 16) {x}A(0,0)<1> Lane{x}(0,0)<1;1,0> 0x2:ud");
                let _ = writeln!(text, "add ({m}, 16) {x}A(0,0)<1> {x}A(0,0)<1;1,0> S(0,0)<0;1,0>");
                if constant != 0 {
                    let _ = writeln!(text, "add ({m}, 16) {x}A(0,0)<1> {x}A(0,0)<1;1,0> {constant:#x}:ud");
                }
                let _ = writeln!(text, "gather4_scaled.R ({m}, 16) %slm 0x0:ud {x}A.0 T{x}.0");
                let _ = writeln!(text, "add ({m}, 16) T{x}(0,0)<1> T{x}(0,0)<1;1,0> Lane{x}(0,0)<1;1,0>");
                let _ = writeln!(text, "scatter4_scaled.R ({m}, 16) %slm 0x0:ud {x}A.0 T{x}.0");
            }
            let _ = writeln!(text, "add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> {step:#x}:ud");
            text.push_str("add (M1_NM, 1) Word(0,0)<1> Word(0,0)<0;1,0> 0x1:uw\n");
            text.push_str(
                "cmp.lt (M1, 16) P1 Word(0,0)<0;1,0> 0x3:uw\ncmp.lt (M5, 16) P1 Word(0,0)<0;1,0> 0x3:uw\n",
            );
            text.push_str("(P1) goto (M1, 32) again\n");
            for (m, _, x) in HALVES {
                let _ = writeln!(text, "shl ({m}, 16) {x}A(0,0)<1> Lane{x}(0,0)<1;1,0> 0x2:ud");
                let _ = writeln!(text, "add ({m}, 16) {x}To(0,0)<1> {x}A(0,0)<1;1,0> A(0,0)<0;1,0>");
                let _ = writeln!(text, "svm_scatter.4.1 ({m}, 16) {x}To.0 T{x}.0");
            }
            text.push_str("ret (M1, 1)\n");
            let (want, fault) = run(None, &text, 0x1000);
            let odd = (0..3u32).any(|k| step.wrapping_mul(k).wrapping_add(start + constant) % 4 != 0);
            assert_eq!(fault.is_some(), odd, "{fault:?}\n{text}");
            for engine in [Engine::Unoptimized, Engine::Native] {
                let (got, other) = run(Some(engine), &text, 0x1000);
                assert_eq!(format!("{other:?}"), format!("{fault:?}"), "{text}");
                assert_eq!(want, got, "{text}");
            }
        }
    }
}

/// One channel is far outside: of dwords, and of quads in halves, whose upper half may be alone there.
#[test]
fn the_same_faults() {
    for lane in [0, 7, 15, 16, 17, 25, 31] {
        for (kind, bytes) in [("gather", 4), ("gather", 8), ("scatter", 4), ("scatter", 8)] {
            let mut text = beginning();
            for (m, _, x) in HALVES {
                let _ = writeln!(text, "cmp.eq ({m}, 16) P1 Lane{x}(0,0)<1;1,0> {lane:#x}:ud");
                let _ = writeln!(text, "shl ({m}, 16) {x}A(0,0)<1> Lane{x}(0,0)<1;1,0> 0x3:ud");
                let _ = writeln!(text, "(P1) add ({m}, 16) {x}A(0,0)<1> {x}A(0,0)<1;1,0> 0xffc:ud");
                let _ = writeln!(text, "and ({m}, 16) {x}A(0,0)<1> {x}A(0,0)<1;1,0> 0xffc:ud");
                let _ = writeln!(text, "(P1) mov ({m}, 16) {x}A(0,0)<1> {:#x}:ud", 0x1000 - bytes / 2);
            }
            let access = |(m, _, x): (&str, [&str; 2], char)| {
                format!("svm_{kind}.4.{} ({m}, 16) {x}To.0 T{x}.0", bytes / 4)
            };
            for half in HALVES {
                let (m, _, x) = half;
                let _ = writeln!(text, "add ({m}, 16) {x}To(0,0)<1> {x}A(0,0)<1;1,0> A(0,0)<0;1,0>");
            }
            HALVES.into_iter().for_each(|half| {
                let _ = writeln!(text, "{}", access(half));
            });
            if kind == "gather" && bytes == 8 {
                let mut r = Random(1);
                for k in 0..2 {
                    halved(&mut r, true, "T", 0, k).iter().for_each(|l| {
                        let _ = writeln!(text, "{l}");
                    });
                }
                text.push_str("svm_scatter.4.2 (M1, 16) LTo.0 DL0.0\nsvm_scatter.4.2 (M5, 16) HTo.0 DH0.0\n");
            }
            text.push_str("ret (M1, 1)\n");
            let (want, fault) = run(None, &text, 0x1000);
            let fault = fault.expect("it goes outside");
            assert_eq!(fault.channel, Some(lane), "{text}");
            for engine in [Engine::Unoptimized, Engine::Native] {
                let (got, other) = run(Some(engine), &text, 0x1000);
                assert_eq!(format!("{:?}", other.expect("it goes outside")), format!("{fault:?}"), "{text}");
                assert_eq!(want, got, "{text}");
            }
        }
    }
}
