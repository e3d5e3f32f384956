//! Atomics of every operator, width and memory, on random bits and random places, in a loop, so that native code runs
//! them: native code leaves what the interpreter leaves, faults as it does, and leaves none of them to it.

use std::fmt::Write as _;

use crate::kernels::{NO_CPU, unverified_kernel};
use crate::random::Random;
use envisa::isa::Platform;
use envisa::{ArgKey, Config, Device, Engine, Launch};

/// Bytes of the buffer and of local memory that atomics go to.
const TABLE: u32 = 512;
/// Rounds of the loop.
const ROUNDS: u32 = 3;

impl Random {
    /// Bits of an element: any, or such as integers and floats of its size have at their edges.
    fn datum(&mut self, bytes: u32) -> u64 {
        let bits = 8 * bytes;
        let (sign, fraction) = (1 << (bits - 1), [10, 23, 52][bytes.trailing_zeros() as usize - 1]);
        let infinity = (sign - 1) >> fraction << fraction;
        let small = self.below(4).into();
        let x = match self.below(8) {
            0 => small,
            1 => u64::MAX - small,
            2 => infinity + small,
            3 => infinity | 1 << (fraction - 1) | small,
            4 => sign | self.next() >> (64 - fraction),
            5 => (infinity >> 1) + (small << (fraction - 2)),
            _ => self.next(),
        };
        let x = if self.below(3) == 0 { x ^ sign } else { x };
        x & (u64::MAX >> (64 - bits))
    }
}

/// The legacy messages' name, that of the LSC's, and how many operands.
const OPS: [(&str, &str, u32); 19] = [
    ("add", "iadd", 1),
    ("sub", "isub", 1),
    ("inc", "iinc", 0),
    ("dec", "idec", 0),
    ("min", "umin", 1),
    ("max", "umax", 1),
    ("minsint", "smin", 1),
    ("maxsint", "smax", 1),
    ("xchg", "store", 1),
    ("cmpxchg", "icas", 2),
    ("and", "and", 1),
    ("or", "or", 1),
    ("xor", "xor", 1),
    ("fmax", "fmax", 1),
    ("fmin", "fmin", 1),
    ("fcmpwr", "fcas", 2),
    ("fadd", "fadd", 1),
    ("fsub", "fsub", 1),
    ("predec", "load", 0),
];

/// Where atomics go, and by which messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum To {
    LscFlat,
    LscLocal,
    LscSurface,
    Svm,
    Surface,
    Local,
}

const ALL: [To; 6] = [To::LscFlat, To::LscLocal, To::LscSurface, To::Svm, To::Surface, To::Local];

impl To {
    fn lsc(self) -> bool {
        matches!(self, To::LscFlat | To::LscLocal | To::LscSurface)
    }

    fn wide(self) -> bool {
        matches!(self, To::LscFlat | To::Svm)
    }

    fn bytes(self) -> &'static [u32] {
        if matches!(self, To::Surface | To::Local) { &[2, 4] } else { &[2, 4, 8] }
    }

    fn lanes(self) -> &'static [u32] {
        if self.lsc() { &[1, 16, 32] } else { &[1, 8, 16] }
    }

    /// The message, with what there was in `Got`.
    fn text(self, op: (&str, &str, u32), bytes: u32, n: u32, guard: &str, keeps: bool) -> String {
        let operand = |name: &'static str, on: bool| if on { name } else { "%null" };
        let (d, s0, s1) = (operand("Got", keeps), operand("First", op.2 > 0), operand("Second", op.2 > 1));
        let bits = 8 * bytes;
        match self {
            To::LscFlat | To::LscLocal | To::LscSurface => {
                let data = ["d16c32", "d32", "d64"][bytes.trailing_zeros() as usize - 1];
                let place = match self {
                    To::LscFlat => ".ugm (M1, N) Got:D flat[Place]:a64",
                    To::LscLocal => ".slm (M1, N) Got:D flat[Place]:a32",
                    _ => ".ugm (M1, N) Got:D bti(T6)[Place]:a32",
                };
                let place = place.replace("N)", &format!("{n})")).replace("Got:D", &format!("{d}:{data}"));
                format!("{guard}lsc_atomic_{}{place} {s0} {s1}", op.1)
            }
            To::Svm => {
                let width = if bytes == 4 { String::new() } else { format!(".{bits}") };
                format!("{guard}svm_atomic.{}{width} (M1, {n}) Place.0 {d}.0 {s0}.0 {s1}.0", op.0)
            }
            To::Surface | To::Local => {
                let to = if self == To::Surface { "T6" } else { "%slm" };
                let half = if bytes == 2 { ".16" } else { "" };
                format!("{guard}dword_atomic.{}{half} (M1, {n}) {to} Place.0 {s0}.0 {s1}.0 {d}.0", op.0)
            }
        }
    }
}

/// A kernel, its arguments, and what is to be seen.
struct Case {
    text: String,
    places: Vec<u64>,
    data: [Vec<u64>; 2],
    table: Vec<u8>,
    to: To,
    slot: u32,
    /// Something lies outside or is not aligned.
    astray: bool,
}

fn case(r: &mut Random, to: To, op: (&str, &str, u32), bytes: u32) -> Case {
    let n = r.one_of(to.lanes());
    let slot = bytes.max(4);
    // A single channel runs for certain, or native code leaves it alone.
    let guard = if n == 1 { "" } else { r.one_of(&["", "", "(P) ", "(!P) "]) };
    let keeps = op.1 == "load" || r.below(3) > 0;
    let atomic = to.text(op, bytes, n, guard, keeps);
    let astray = r.below(8) == 0;
    // Few places, so that channels meet; or a row; or one.
    let few = 1 + r.below(n.max(2));
    let from = r.below((TABLE - 32 * bytes) / bytes);
    let kind = r.below(3);
    let places: Vec<u64> = (0..n)
        .map(|k| {
            let e = match kind {
                0 => from + k,
                1 => from,
                _ => from + r.below(few),
            };
            let at = u64::from(e * bytes);
            match (astray, r.below(n + 2)) {
                (true, 0) => at + u64::from(1 + r.below(bytes - 1)),
                (true, 1) => at + u64::from(TABLE) * u64::from(1 + r.below(1 << 12)),
                _ => at,
            }
        })
        .collect();
    let data = [(); 2].map(|()| (0..n).map(|_| r.datum(bytes)).collect::<Vec<u64>>());
    let table: Vec<u8> =
        (0..TABLE / bytes).flat_map(|_| r.datum(bytes).to_le_bytes()[..bytes as usize].to_vec()).collect();
    // What is compared with is there, sometimes.
    let mut data = data;
    if op.2 == 2 {
        for (k, at) in places.iter().enumerate().filter(|(_, at)| **at + u64::from(bytes) <= u64::from(TABLE))
        {
            let mut now = [0; 8];
            now[..bytes as usize].copy_from_slice(&table[*at as usize..][..bytes as usize]);
            match r.below(3) {
                0 => data[0][k] = u64::from_le_bytes(now),
                1 => data[1][k] = u64::from_le_bytes(now),
                _ => {}
            }
        }
    }
    let text = program(to, &atomic, n, slot);
    Case { text, places, data, table, to, slot, astray }
}

/// A program that does an atomic [`ROUNDS`] times, and stores what it got and the sum of that.
fn program(to: To, atomic: &str, n: u32, slot: u32) -> String {
    let (ty, place) = (if slot == 8 { "uq" } else { "ud" }, if to.wide() { "uq" } else { "ud" });
    let mut t = String::from(".version 4.1\n.kernel \"k\"\n.kernel_attr Target=\"cm\"\n");
    let mut offset = 64;
    let mut inputs = String::new();
    for (name, ty, count) in
        [("Place", place, n), ("First", ty, n), ("Second", ty, n), ("Out", "uq", 1), ("Limit", "ud", 1)]
    {
        let size = count * if ty == "uq" { 8 } else { 4 };
        let _ = writeln!(t, ".decl {name} v_type=G type={ty} num_elts={count} align=wordx32");
        let _ = writeln!(inputs, ".input {name} offset={offset} size={size}");
        offset += size.next_multiple_of(64);
    }
    for (name, ty, count) in [
        ("Got", ty, n),
        ("Sum", ty, n),
        ("I", "ud", 1),
        ("Lane", "uw", 32),
        ("To", "uq", 32),
        ("Back", "ud", 32),
    ] {
        let _ = writeln!(t, ".decl {name} v_type=G type={ty} num_elts={count} align=wordx32");
    }
    t += ".decl P v_type=P num_elts=32\n.decl Q v_type=P num_elts=1\n.decl T6 v_type=T num_elts=1\n";
    t += &inputs;
    let _ = writeln!(t, ".input T6 offset={offset} size=4");
    let quads = if slot == 8 { 8 } else { 16 };
    let whole = |n: u32, line: &dyn Fn(u32, u32) -> String| -> String {
        (0..n.div_ceil(quads)).map(|h| line(n.min(quads), h)).collect()
    };
    t += "mov (M1, 8) Lane(0,0)<1> 0x76543210:v\nadd (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw\n\
          add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw\n";
    if n > 1 {
        let _ = writeln!(t, "cmp.lt (M1, {n}) P Lane(0,0)<1;1,0> Limit(0,0)<0;1,0>");
    }
    // Rows of a register each.
    let row = |h: u32, per: u32| format!("({},0)", h * per);
    let per = |bytes: u32| bytes.div_ceil(64);
    for name in ["Got", "Sum"] {
        t += &whole(n, &|m, h| {
            let at = row(h, per(m * slot));
            format!("mov (M1_NM, {m}) {name}{at}<1> 0x5:{ty}\n")
        });
    }
    t += "mov (M1, 1) I(0,0)<1> 0x0:ud\nagain:\n";
    t += atomic;
    t.push('\n');
    t += &whole(n, &|m, h| {
        let at = row(h, per(m * slot));
        let region = if m == 1 { "<0;1,0>" } else { "<1;1,0>" };
        format!("xor (M1_NM, {m}) Sum{at}<1> Sum{at}{region} Got{at}{region}\n")
    });
    let _ = writeln!(
        t,
        "add (M1, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud\ncmp.lt (M1, 1) Q I(0,0)<0;1,0> {ROUNDS:#x}:ud\n(Q) jmp (M1, 1) again"
    );
    // What was got, summed up, and local memory.
    let step = slot.trailing_zeros();
    for (name, base) in [("Got", TABLE), ("Sum", 2 * TABLE)] {
        if to.lsc() {
            t += &store(n, slot, base, name, step);
        } else {
            t += &store_svm(n, slot, base, name);
        }
    }
    t += "ret (M1, 1)\n";
    t
}

/// Stores a vector to the output, from a byte on.
fn store(n: u32, slot: u32, base: u32, name: &str, step: u32) -> String {
    let mut t = String::new();
    for h in 0..n.div_ceil(16) {
        let (m, at) = (n.min(16), 2 * h);
        let region = if m == 1 { "<0;1,0>" } else { "<1;1,0>" };
        let _ = writeln!(t, "shl (M1_NM, {m}) Back(0,{})<1> Lane(0,{}){region} {step:#x}:ud", 16 * h, 16 * h);
        for q in 0..m.div_ceil(8) {
            let k = m.min(8);
            let region = if k == 1 { "<0;1,0>" } else { "<1;1,0>" };
            let _ = writeln!(
                t,
                "add (M1_NM, {k}) To({},0)<1> Back(0,{}){region} Out(0,0)<0;1,0>\n\
                 add (M1_NM, {k}) To({},0)<1> To({},0){region} {base:#x}:uq",
                at + q,
                16 * h + 8 * q,
                at + q,
                at + q
            );
        }
    }
    let data = if slot == 8 { "d64" } else { "d32" };
    let _ = writeln!(t, "lsc_store.ugm (M1_NM, {n}) flat[To]:a64 {name}:{data}");
    t
}

fn store_svm(n: u32, slot: u32, base: u32, name: &str) -> String {
    let stores = store(n, slot, base, name, slot.trailing_zeros());
    let lines: Vec<&str> = stores.lines().filter(|l| !l.starts_with("lsc_store")).collect();
    format!("{}\nsvm_scatter.{slot}.1 (M1_NM, {n}) To.0 {name}.0\n", lines.join("\n"))
}

/// What a run left, and how it ended.
type Left = (Vec<u8>, Vec<u8>, Option<String>);

fn run(c: &Case, limit: u32, engine: Engine, statistics: bool) -> (Left, Vec<String>) {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
    let kernel = unverified_kernel(&device, &c.text);
    let table = device.buffer_from("table", &c.table).expect("there is memory");
    let out = device.buffer("out", 4 * u64::from(TABLE)).expect("there is memory");
    let bytes = |all: &[u64], size: u32| -> Vec<u8> {
        all.iter().flat_map(|x| x.to_le_bytes()[..size as usize].to_vec()).collect()
    };
    let places: Vec<u64> =
        c.places.iter().map(|p| if c.to.wide() { table.address() + p } else { *p }).collect();
    let launch = Launch::threads(&[1, 1, 1], 1)
        .arg("Place", bytes(&places, if c.to.wide() { 8 } else { 4 }))
        .arg("First", bytes(&c.data[0], c.slot))
        .arg("Second", bytes(&c.data[1], c.slot))
        .arg("Out", &out)
        .arg("Limit", limit.to_le_bytes().to_vec())
        .arg(ArgKey::from("T6"), &table)
        .local_memory(u64::from(TABLE))
        .engine(engine)
        .statistics(statistics)
        .host_threads(1);
    let outcome = device.run(&kernel, &launch).unwrap_or_else(|e| panic!("{e}\n{}", c.text));
    let left = outcome.statistics.and_then(|s| s.native).map_or(Vec::new(), |n| {
        n.refused.into_iter().chain(n.left.iter().map(|l| l.reason.to_owned())).collect()
    });
    ((table.to_vec(), out.to_vec(), outcome.fault.map(|f| f.to_string())), left)
}

#[test]
fn native_atomics_are_the_interpreters() {
    let r = &mut Random(1);
    let (mut faults, mut ends) = (0, 0);
    for (k, op) in OPS.into_iter().enumerate() {
        for to in ALL {
            for bytes in to.bytes() {
                // Legacy messages have no load, and the others no decrement of before.
                let op = match op.0 {
                    "predec" if to.lsc() => ("", "load", 0),
                    _ => op,
                };
                for _ in 0..6 {
                    let c = case(r, to, op, *bytes);
                    let limit = r.below(34);
                    let (a, _) = run(&c, limit, Engine::Unoptimized, false);
                    let (b, _) = run(&c, limit, Engine::Native, false);
                    assert_eq!(a, b, "{k} {to:?} {bytes}\n{:?}\n{:x?}\n{}", c.places, c.data, c.text);
                    let (_, left) = run(&c, limit, Engine::Native, true);
                    let none = left.iter().all(|why| why.starts_with(NO_CPU) || why.contains("on this host"));
                    assert!(none, "{left:?}\n{}", c.text);
                    assert!(a.2.is_none() || c.astray, "{:?}\n{}", a.2, c.text);
                    if a.2.is_some() { faults += 1 } else { ends += 1 }
                }
            }
        }
    }
    assert!(faults > 50 && ends > 500, "{faults}, {ends}");
}
