//! Instructions on parts of vectors one after the other, as scans and reductions have them, and numbers of channels
//! and what is made of them, as shuffles have it: native code does what the interpreter does, and does it in registers.

use std::fmt::Write as _;

use crate::kernels::left_and_listing;
use crate::random::Dice;
use envisa::Engine;
use envisa::isa::Platform;

/// Vectors of sixteen dwords, of which the first are the program's and the last say what was known.
const VECTORS: u32 = 8;

const HEAD: &str = "\
.version 3.6
.kernel \"parts\"
.kernel_attr Target=\"cm\"
.kernel_attr SimdSize=16
.decl Lane v_type=G type=uw num_elts=16 align=wordx32
.decl N v_type=G type=ud num_elts=16 align=wordx32
.decl L v_type=G type=ud num_elts=16 align=wordx32
.decl K v_type=G type=ud num_elts=16 align=wordx32
.decl To v_type=G type=uq num_elts=16 align=wordx32
.decl Y v_type=G type=ud num_elts=16 align=wordx32
.decl S v_type=G type=ud num_elts=1
.decl P v_type=P num_elts=16
.decl A v_type=G type=uq num_elts=1 align=qword
.input A offset=64 size=8
";

struct Maker {
    dice: Dice,
    text: String,
}

impl Maker {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    fn name(&mut self, ty: &str) -> String {
        format!("V{}{ty}", self.dice.below(u64::from(VECTORS)))
    }

    /// An element, and a region that stays inside of a vector.
    fn source(&mut self, ty: &str, n: u64) -> String {
        match self.dice.below(12) {
            0 if ty != "f" => return "0x7:ud".into(),
            1 if ty != "f" => return "S(0,0)<0;1,0>".into(),
            _ => {}
        }
        let (region, last) = match n {
            1 => ("<0;1,0>", 0),
            16 => self.dice.pick(&[("<1;1,0>", 15), ("<0;1,0>", 0), ("<1;1,0>", 15)]),
            _ => self.dice.pick(&[
                ("<1;1,0>", n - 1),
                ("<0;1,0>", 0),
                ("<2;1,0>", 2 * n - 2),
                ("<4;1,0>", 4 * n - 4),
                ("<4;2,1>", 4 * (n / 2) - 3),
            ]),
        };
        if last > 15 {
            return self.source(ty, n);
        }
        let at = self.dice.below(16 - last);
        let name = self.name(ty);
        format!("{name}(0,{at}){region}")
    }

    fn part(&mut self) {
        let ty = self.dice.pick(&["d", "ud", "d", "ud", "f"]);
        let op = match ty {
            "f" => self.dice.pick(&["mov", "add", "mul", "min", "max"]),
            _ => self.dice.pick(&["mov", "mov", "add", "add", "mul", "and", "or", "xor", "min", "max"]),
        };
        let n = self.dice.pick(&[1, 2, 4, 4, 8, 8, 16]);
        let stride = self.dice.pick(if n == 16 { &[1] } else { &[1, 1, 2, 4] });
        let last = (n - 1) * stride;
        if last > 15 {
            return self.part();
        }
        let (at, to) = (self.dice.below(16 - last), self.name(ty));
        let a = self.source(ty, n);
        let b = if op == "mov" { String::new() } else { self.source(ty, n) };
        let nm = if n == 16 && self.dice.below(2) == 0 { "" } else { "_NM" };
        let guarded = n == 16 && matches!(op, "mov" | "add" | "mul");
        let guard = if guarded && self.dice.below(4) == 0 { "(P) " } else { "" };
        self.line(&format!("{guard}{op} (M1{nm}, {n}) {to}(0,{at})<{stride}> {a} {b}"));
    }

    /// What is known before, and who reads it.
    fn known(&mut self) {
        let (op, by) =
            self.dice.pick(&[("and", 7), ("xor", 3), ("xor", 9), ("shl", 2), ("add", 5), ("or", 4)]);
        let from = self.dice.pick(&["L", "K", "Lane", "K"]);
        let part = match self.dice.below(5) {
            0 => "8) K(0,8)",
            1 => "8) K(0,0)",
            _ => "16) K(0,0)",
        };
        self.line(&format!("{op} (M1_NM, {part}<1> {from}(0,0)<1;1,0> 0x{by:x}:uw"));
        let to = self.name("ud");
        match self.dice.below(5) {
            0 => self.line("cmp.lt (M1_NM, 16) P K(0,0)<1;1,0> 0x6:ud"),
            1 => self.line(&format!("add (M1_NM, 16) {to}(0,0)<1> K(0,0)<1;1,0> {to}(0,0)<1;1,0>")),
            2 => self.line(&format!("max (M1_NM, 8) {to}(0,0)<1> K(0,4)<1;1,0> {to}(0,0)<1;1,0>")),
            3 => self.line(&format!("mov (M1_NM, 4) {to}(0,3)<2> K(0,1)<1;1,0>")),
            _ => {}
        }
    }

    fn store(&mut self, vector: &str, at: u32) {
        self.line("shl (M1_NM, 16) Y(0,0)<1> L(0,0)<1;1,0> 0x2:ud");
        self.line(&format!("add (M1_NM, 16) Y(0,0)<1> Y(0,0)<1;1,0> 0x{at:x}:ud"));
        self.line("add (M1_NM, 16) To(0,0)<1> Y(0,0)<1;1,0> A(0,0)<0;1,0>");
        self.line(&format!("lsc_store.ugm (M1_NM, 16) flat[To]:a64 {vector}:d32"));
    }
}

fn program(seed: u64) -> String {
    let mut m = Maker { dice: Dice(seed), text: HEAD.into() };
    for v in 0..VECTORS {
        m.line(&format!(".decl V{v}ud v_type=G type=ud num_elts=16 align=wordx32"));
        for ty in ["d", "f"] {
            m.line(&format!(".decl V{v}{ty} v_type=G type={ty} num_elts=16 alias=<V{v}ud, 0>"));
        }
    }
    m.line(".function \"parts_main\"");
    m.line("mov (M1_NM, 8) Lane(0,0)<1> 0x76543210:v");
    m.line("add (M1_NM, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw");
    m.line("mov (M1_NM, 16) L(0,0)<1> Lane(0,0)<1;1,0>");
    m.line("mul (M1_NM, 16) N(0,0)<1> L(0,0)<1;1,0> 0x9e3779b1:ud");
    let mode = m.dice.pick(&[0x4c0, 0x4c0, 0x4c0, 0, 0x4d0, 0x30]);
    m.line(&format!("or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x{mode:x}:ud"));
    for v in 0..VECTORS {
        let add = m.dice.below(1 << 32);
        m.line(&format!("add (M1_NM, 16) V{v}ud(0,0)<1> N(0,0)<1;1,0> 0x{add:x}:ud"));
    }
    m.line("mov (M1_NM, 16) K(0,0)<1> L(0,0)<1;1,0>");
    m.line("mov (M1_NM, 1) S(0,0)<1> N(0,3)<0;1,0>");
    let bits = m.dice.below(1 << 16);
    m.line(&format!("setp (M1_NM, 16) P 0x{bits:x}:ud"));
    for k in 0..24 {
        match m.dice.below(16) {
            0 => {
                let name = m.name("ud");
                m.store(&name, 64 * (VECTORS + 1));
            }
            1 => {
                m.line(&format!("(P) goto (M1, 16) l{k}"));
                m.part();
                m.part();
                m.line(&format!("l{k}:"));
            }
            2..=4 => m.known(),
            5 => m.line("add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> 0x5:ud"),
            6 => {
                // What nobody looks at.
                let name = m.name("ud");
                m.line(&format!("mul (M1_NM, 16) Y(0,0)<1> {name}(0,0)<1;1,0> N(0,0)<1;1,0>"));
            }
            _ => m.part(),
        }
    }
    for v in 0..VECTORS {
        m.store(&format!("V{v}ud"), 64 * v);
    }
    m.store("K", 64 * VECTORS);
    m.line("ret (M1, 16)");
    m.text
}

#[test]
fn random_programs_with_parts_of_vectors() {
    const PROGRAMS: u64 = crate::kernels::share(400);
    let (mut natives, mut turned, mut slow) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let platform = [Platform::Pvc, Platform::Dg2][(seed % 2) as usize];
        let text = program(seed);
        let (a, _) = left_and_listing(&text, platform, Engine::Unoptimized, 64 * (VECTORS + 2));
        let (b, listing) = left_and_listing(&text, platform, Engine::Native, 64 * (VECTORS + 2));
        assert_eq!(a.1, b.1, "seed {seed}, {platform:?}\n{text}");
        let other = a.0.chunks(4).zip(b.0.chunks(4)).position(|(a, b)| a != b);
        assert_eq!(other, None, "seed {seed}, {platform:?}\n{text}");
        let Some(listing) = listing else { continue };
        natives += 1;
        turned += u64::from(listing.contains("vpermd"));
        slow += listing.matches(" by the interpreter: ").count();
    }
    assert!(natives == PROGRAMS && turned > 3 * PROGRAMS / 4, "{natives}, of which {turned} turn vectors");
    assert!(slow < 400, "{slow} instructions by the interpreter");
}
