//! Elements side by side of channels that are anywhere, by indices of 32 bits and addresses of 64: native code moves what
//! the interpreter moves, and faults where it does.

use std::fmt::Write as _;

use crate::kernels::only_kernel;
use crate::random::Dice;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Fault, Launch};

/// Bytes of the table of places, of which each channel has a quad.
const TABLE: usize = 256;
/// Bytes behind the table, which messages move.
const BYTES: usize = 4096;
/// Rounds of a kernel: what code has seen of a message's places changes what it looks at next.
const ROUNDS: usize = 3;

/// A message that moves so many elements a channel.
struct Case {
    simd: usize,
    /// As text has it: `d32x3`.
    data: &'static str,
    /// Of an element, in memory and in a register.
    bytes: usize,
    slot: usize,
    count: usize,
    write: bool,
    /// Channels that are off.
    off: u32,
    wide: bool,
    /// By how many bits indices of 64 bits are shifted to be places.
    shift: u32,
    /// The program works places out from the number of the channel, so many bytes apart, and the first one.
    step: Option<u64>,
    /// The numbers of channels are the text's own.
    known: bool,
    /// Where each channel's elements are, by rounds.
    places: Vec<Vec<u64>>,
}

impl Case {
    fn any(dice: &mut Dice) -> Case {
        let simd = dice.pick(&[8, 16, 16, 32, 32]);
        let shapes = [
            ("d32", 4, 4, 1),
            ("d32x2", 4, 4, 2),
            ("d32x3", 4, 4, 3),
            ("d32x3", 4, 4, 3),
            ("d32x4", 4, 4, 4),
            ("d32x4", 4, 4, 4),
            ("d64", 8, 8, 1),
            ("d8c32", 1, 4, 1),
            ("d16c32", 2, 4, 1),
        ];
        let (data, bytes, slot, count) = dice.pick(&shapes);
        let off = if dice.below(2) == 0 { 0 } else { dice.next() as u32 & dice.next() as u32 };
        let (write, wide) = (dice.below(2) == 0, dice.below(2) == 0);
        // Of three dwords, channels are twelve bytes apart.
        let shift = if wide { dice.pick(&[0, 0, 1, 2, if count == 3 { 2 } else { 3 }]) } else { 0 };
        let apart = dice.pick(&[1, 2, 3, 4, 4, 5, 6, 8, 12, 16, 20]) * if bytes < 4 { 1 } else { 4 };
        // Code for AVX2 stores elements one after the other: where those of two channels overlap in part, another one's stay.
        let least = if write && matches!(count, 2 | 3) { (bytes * count) as u64 } else { 1 };
        let step = (!wide && dice.below(3) == 0).then_some(apart.max(least));
        let (known, places) = (dice.below(2) == 0, Vec::new());
        let mut case = Case { simd, data, bytes, slot, count, write, off, wide, shift, step, known, places };
        let first = case.pattern(dice);
        for _ in 0..ROUNDS {
            let again = dice.below(3) != 0;
            case.places.push(if again { first.clone() } else { case.pattern(dice) });
        }
        case
    }

    /// Places that mean something, to a compiler or to native code: a row, one place, a step, halves, a permutation, any,
    /// some that overlap, one that is outside or not aligned.
    fn pattern(&self, dice: &mut Dice) -> Vec<u64> {
        let (n, bytes) = (self.simd as u64, self.bytes as u64);
        let span = bytes * self.count as u64;
        if let Some(step) = self.step {
            let end = BYTES as u64 - (n - 1) * step - span;
            let first = match dice.below(8) {
                0 => end + dice.below(2 * step),
                1 => end,
                2 => BYTES as u64 + dice.below(100),
                _ => dice.below(end),
            };
            let aligned = if dice.below(8) == 0 { first } else { first / bytes * bytes };
            return (0..n).map(|k| aligned + k * step).collect();
        }
        let step = match dice.below(8) {
            0 => 0,
            1 | 2 => bytes,
            3 | 4 => span,
            5 => span + bytes * (1 + dice.below(4)),
            6 => bytes * (1 + dice.below(16)),
            _ => 64,
        };
        let room = (BYTES as u64 - span) / bytes * bytes;
        let first = dice.below(room / bytes) * bytes;
        let mut all: Vec<u64> = (0..n).map(|k| (first + k * step) % room / bytes * bytes).collect();
        match dice.below(8) {
            0 => all.iter_mut().for_each(|p| *p = dice.below(room / bytes) * bytes),
            1 => (0..n as usize).rev().for_each(|k| all.swap(k, dice.below(k as u64 + 1) as usize)),
            2 => all.reverse(),
            3 => (8..n as usize).for_each(|k| all[k] = all[k % 8 + 8 * (k / 16)]),
            4 => all[dice.below(n) as usize] = dice.below(room),
            5 => all[dice.below(n) as usize] = room - dice.below(2) * bytes,
            _ => {}
        }
        if dice.below(12) == 0 {
            all[dice.below(n) as usize] =
                dice.pick(&[room + span, 1 << 20, 1 << 31, u64::from(u32::MAX) - 3]);
        }
        if dice.below(12) == 0 && self.wide {
            all[dice.below(n) as usize] = dice.pick(&[u64::MAX, 1 << 32, 0u64.wrapping_sub(span), 1 << 63]);
        }
        // The same as of steps.
        if self.write && matches!(self.count, 2 | 3) {
            all.iter_mut().filter(|p| **p < BYTES as u64).for_each(|p| *p = *p / span * span);
        }
        all
    }

    fn text(&self) -> String {
        let Case { simd: n, data, write, .. } = *self;
        let dwords = n * self.slot / 4 * self.count;
        let mut t = format!(
            ".version 3.6\n.kernel \"side\"\n.kernel_attr Target=\"cm\"\n.kernel_attr SimdSize={n}\n\
             .decl Lane v_type=G type=uw num_elts={n} align=wordx32\n\
             .decl L v_type=G type=ud num_elts={n} align=wordx32\n\
             .decl X v_type=G type=ud num_elts={dwords} align=wordx32\n\
             .decl Off v_type=G type=ud num_elts={n} align=wordx32\n\
             .decl Quad v_type=G type=uq num_elts={n} align=wordx32\n\
             .decl To v_type=G type=uq num_elts={n} align=wordx32\n\
             .decl P v_type=P num_elts={n}\n\
             .decl Apart v_type=G type=ud num_elts={n} align=wordx32\n\
             .decl Index v_type=G type=ud num_elts={n} align=wordx32\n\
             .decl First v_type=G type=ud num_elts=1\n.decl Round v_type=G type=ud num_elts=1\n.decl More v_type=P num_elts=1\n\
             .decl A v_type=G type=uq num_elts=1 align=qword\n\
             .decl B v_type=G type=uq num_elts=1 align=qword\n\
             .decl T v_type=G type=uq num_elts=1 align=qword\n\
             .input A offset=64 size=8\n.input B offset=72 size=8\n.input T offset=80 size=8\n\
             .function \"side_main\"\n"
        );
        // What is written for all channels is known from the text.
        let mask = if self.known { "M1_NM" } else { "M1" };
        let _ = writeln!(t, "mov ({mask}, 8) Lane(0,0)<1> 0x76543210:v");
        if n > 8 {
            let _ = writeln!(t, "add ({mask}, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw");
        }
        if n == 32 {
            let _ = writeln!(t, "add ({mask}, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw");
        }
        let _ = writeln!(t, "mov (M1, {n}) L(0,0)<1> Lane(0,0)<1;1,0>");
        let _ = writeln!(t, "setp (M1_NM, {n}) P {:#x}:ud", !self.off);
        let _ = writeln!(t, "mov (M1, 1) Round(0,0)<1> 0x0:ud\nagain:");
        // The places, as quads and as their lower dwords.
        let _ = writeln!(t, "shl (M1, {n}) Off(0,0)<1> L(0,0)<1;1,0> 0x3:ud");
        let _ = writeln!(t, "add (M1, {n}) To(0,0)<1> Off(0,0)<1;1,0> T(0,0)<0;1,0>");
        let _ = writeln!(t, "lsc_load.ugm (M1, {n}) Quad:d64 flat[To]:a64");
        if let Some(step) = self.step {
            let _ = writeln!(t, "mov (M1_NM, 1) First(0,0)<1> Quad(0,0)<0;1,0>");
            let _ = writeln!(t, "mul (M1, {n}) Apart(0,0)<1> L(0,0)<1;1,0> {step:#x}:ud");
            let _ = writeln!(t, "add (M1, {n}) Index(0,0)<1> Apart(0,0)<1;1,0> First(0,0)<0;1,0>");
            let _ = writeln!(t, "add (M1, {n}) To(0,0)<1> Index(0,0)<1;1,0> A(0,0)<0;1,0>");
        } else if self.wide {
            if self.shift != 0 {
                let _ = writeln!(t, "shl (M1, {n}) Quad(0,0)<1> Quad(0,0)<1;1,0> {:#x}:uq", self.shift);
            }
            let _ = writeln!(t, "add (M1, {n}) To(0,0)<1> Quad(0,0)<1;1,0> A(0,0)<0;1,0>");
        } else {
            let _ = writeln!(t, "mov (M1, {n}) Off(0,0)<1> Quad(0,0)<1;1,0>");
            let _ = writeln!(t, "add (M1, {n}) To(0,0)<1> Off(0,0)<1;1,0> A(0,0)<0;1,0>");
        }
        let vectors = dwords / n;
        let row = |k: usize| (k * n * 4 / 64, k * n * 4 % 64 / 4);
        for k in 0..vectors {
            let (r, c) = row(k);
            let _ = writeln!(
                t,
                "mul (M1, {n}) X({r},{c})<1> L(0,0)<1;1,0> {:#x}:ud",
                0x0101_0307 + k * 0x0013_1100
            );
            let _ = writeln!(t, "add (M1, {n}) X({r},{c})<1> X({r},{c})<1;1,0> Round(0,0)<0;1,0>");
        }
        let p = if self.off == 0 { "" } else { "(P) " };
        if write {
            let _ = writeln!(t, "{p}lsc_store.ugm (M1, {n}) flat[To]:a64 X:{data}");
        } else {
            let _ = writeln!(t, "{p}lsc_load.ugm (M1, {n}) X:{data} flat[To]:a64");
        }
        // What was loaded is stored in rows, by rounds.
        for k in 0..vectors {
            let (r, c) = row(k);
            let _ = writeln!(t, "shl (M1, {n}) Off(0,0)<1> L(0,0)<1;1,0> 0x2:ud");
            let _ = writeln!(t, "add (M1, {n}) Off(0,0)<1> Off(0,0)<1;1,0> {:#x}:ud", k * 4 * n);
            let _ = writeln!(t, "add (M1, {n}) To(0,0)<1> Off(0,0)<1;1,0> B(0,0)<0;1,0>");
            let _ = writeln!(t, "mov (M1, {n}) Off(0,0)<1> X({r},{c})<1;1,0>");
            let _ = writeln!(t, "lsc_store.ugm (M1, {n}) flat[To]:a64 Off:d32");
        }
        let _ = writeln!(t, "add (M1, 1) T(0,0)<1> T(0,0)<0;1,0> {TABLE:#x}:uq");
        let _ = writeln!(t, "add (M1, 1) B(0,0)<1> B(0,0)<0;1,0> {:#x}:uq", dwords * 4);
        let _ = writeln!(t, "add (M1, 1) Round(0,0)<1> Round(0,0)<0;1,0> 0x1:ud");
        let _ = writeln!(t, "cmp.lt (M1, 1) More Round(0,0)<0;1,0> {:#x}:ud", ROUNDS);
        t + "(More) jmp (M1, 1) again\nret (M1, 1)\n"
    }

    fn run(&self, text: &str, engine: Engine) -> (Vec<u8>, Vec<u8>, Option<Box<Fault>>) {
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24));
        let kernel = only_kernel(&device, text);
        let data: Vec<u8> = (0..BYTES).map(|k| ((k * 167) ^ (k >> 5)) as u8).collect();
        let mut table: Vec<u8> = Vec::new();
        for places in &self.places {
            table.extend(places.iter().flat_map(|p| (p >> self.shift).to_le_bytes()));
            table.resize(table.len().next_multiple_of(TABLE), 0);
        }
        let a = device.buffer_from("a", &data).expect("there is memory");
        let b = device.buffer("b", (ROUNDS * self.simd * self.slot * self.count) as u64).expect("memory");
        let t = device.buffer_from("t", &table).expect("there is memory");
        let launch = Launch::threads(&[1, 1, 1], 1)
            .arg("A", &a)
            .arg("B", &b)
            .arg("T", &t)
            .engine(engine)
            .host_threads(1);
        let outcome = device.run(&kernel, &launch).expect("it is launched");
        (a.to_vec(), b.to_vec(), outcome.fault)
    }
}

#[test]
fn elements_of_channels_go_where_they_belong() {
    let (mut dice, mut faults) = (Dice(1), 0);
    const CASES: u64 = crate::kernels::share(2500);
    for k in 0..CASES {
        let case = Case::any(&mut dice);
        let text = case.text();
        let [a, b] = [Engine::Unoptimized, Engine::Native].map(|e| case.run(&text, e));
        faults += u64::from(a.2.is_some());
        let told = || format!("case {k}, {} from {:?}\n{text}", case.data, case.places);
        assert_eq!(a.2, b.2, "{}", told());
        for (what, a, b) in [("loaded", &a.1, &b.1), ("stored", &a.0, &b.0)] {
            let differs = a.iter().zip(b).position(|(a, b)| a != b);
            assert_eq!(differs, None, "the first byte that is {what} otherwise: {}", told());
        }
    }
    assert!((CASES / 13..3 * CASES / 5).contains(&faults), "{faults} of {CASES}");
}
