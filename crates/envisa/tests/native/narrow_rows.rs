//! Rows of bytes and words that are loaded, put side by side, computed with, spread again and stored, as compilers write it:
//! whoever moves them as they are leaves what the interpreter leaves, and faults where it faults. Some rows reach past the
//! buffer's end, some are of other places, by some channels, or read once more as dwords.

use std::fmt::Write as _;

use crate::kernels;
use crate::random::Random;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Fault, Launch, Module, Source};

/// Channels.
const SIMD: u32 = 32;
const VECTORS: u32 = 4;
/// Most addresses of a program.
const ADDRESSES: u32 = 40;
/// Bytes of the buffer: what is stored begins in the middle.
const BYTES: u32 = 4096;

struct Writer {
    r: Random,
    m: String,
    out: String,
    /// How many addresses there are.
    addresses: u32,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.out += &line.replace("{m}", &self.m);
        self.out.push('\n');
    }

    /// Addresses of elements of so many bytes, mostly side by side, from a place that moves in each round; in variables of
    /// their own, as those of compilers are.
    fn addresses(&mut self, size: u32, from: u32) -> String {
        let k = self.addresses;
        self.addresses += 1;
        let step = self.r.one_of(&[1, 1, 1, 1, 1, 1, 2, 3]) * size;
        let from = from + size * self.r.below(40);
        let text = "mov {m} LaneK(0,0)<1> Lane(0,0)<1;1,0>\n\
                    mul {m} ScaledK(0,0)<1> LaneK(0,0)<1;1,0> STEP:d\n\
                    add {m} MovedK(0,0)<1> ScaledK(0,0)<1;1,0> Moved(0,0)<0;1,0>\n\
                    add {m} IndexK(0,0)<1> MovedK(0,0)<1;1,0> FROM:d\n\
                    mov {m} WideK(0,0)<1> IndexK(0,0)<1;1,0>\n\
                    add {m} AtK(0,0)<1> WideK(0,0)<1;1,0> A(0,0)<0;1,0>";
        let text = text.replace("K(", &format!("{k}(")).replace("STEP", &format!("{step:#x}"));
        self.line(&text.replace("FROM", &format!("{from:#x}")));
        format!("At{k}")
    }

    /// Something between a message and its move, now and then.
    fn between(&mut self) {
        if self.r.below(8) == 0 {
            self.line("add {m} N(0,0)<1> N(0,0)<1;1,0> 0x5:d");
        }
    }

    fn load(&mut self) {
        let k = self.r.below(VECTORS);
        let size = 1 + self.r.below(2);
        let at = self.addresses(size, 0);
        let on = self.r.one_of(&["", "", "", "", "(P1) "]);
        let _ = writeln!(self.out, "{on}lsc_load.ugm {} L{k}:d{}c32 flat[{at}]:a64", self.m, 8 * size);
        self.between();
        let moves: &[&str] = match size {
            1 => &[
                "B# LB#(0,0)<4;1,0>",
                "S# LB#(0,0)<4;1,0>",
                "B# LB#(0,1)<4;1,0>",
                "W# LB#(0,0)<4;1,0>",
                "B# L#(0,0)<1;1,0>",
            ],
            _ => &[
                "W# LW#(0,0)<2;1,0>",
                "W# LW#(0,0)<2;1,0>",
                "W# LW#(0,1)<2;1,0>",
                "B# LW#(0,0)<2;1,0>",
                "W# L#(0,0)<1;1,0>",
            ],
        };
        let one = self.r.one_of(moves).replace('#', &k.to_string());
        let (to, from) = one.split_once(' ').expect("two operands");
        let _ = writeln!(self.out, "mov {} {to}(0,0)<1> {from}", self.m);
        if self.r.below(6) == 0 {
            let _ = writeln!(self.out, "xor {} N(0,0)<1> N(0,0)<1;1,0> L{k}(0,0)<1;1,0>", self.m);
        }
    }

    fn store(&mut self) {
        let (k, d) = (self.r.below(VECTORS), self.r.below(VECTORS));
        let size = 1 + self.r.below(2);
        let at = self.addresses(size, BYTES / 2);
        let moves: &[&str] = match size {
            1 => &["DB(0,0)<4> B#", "DB(0,0)<4> S#", "D(0,0)<1> B#", "DB(0,1)<4> B#", "D(0,0)<1> W#"],
            _ => &["DW(0,0)<2> W#", "D(0,0)<1> W#", "D(0,0)<1> U#", "DW(0,1)<2> W#", "D(0,0)<1> B#"],
        };
        let one = self.r.one_of(moves).replace('#', &k.to_string()).replace('D', &format!("D{d}"));
        let one =
            one.replace(&format!("D{d}B"), &format!("DB{d}")).replace(&format!("D{d}W"), &format!("DW{d}"));
        let _ = writeln!(self.out, "mov {} {one}(0,0)<1;1,0>", self.m);
        self.between();
        let on = self.r.one_of(&["", "", "", "", "(P1) "]);
        let _ = writeln!(self.out, "{on}lsc_store.ugm {} flat[{at}]:a64 D{d}:d{}c32", self.m, 8 * size);
        if self.r.below(6) == 0 {
            let _ = writeln!(self.out, "xor {} N(0,0)<1> N(0,0)<1;1,0> D{d}(0,0)<1;1,0>", self.m);
        }
    }

    fn compute(&mut self) {
        let (a, b) = (self.r.below(VECTORS), self.r.below(VECTORS));
        let v = self.r.one_of(&["B", "W", "S"]);
        let op = self.r.one_of(&["add", "add", "min", "max"]);
        let _ = writeln!(self.out, "{op} {} {v}{a}(0,0)<1> {v}{a}(0,0)<1;1,0> {v}{b}(0,0)<1;1,0>", self.m);
    }
}

/// The kernel's text; `Lane` has each work-item's local id.
fn program(seed: u64) -> String {
    let simd = SIMD;
    let mut text = String::from(".version 4.1\n.kernel \"rows\"\n.kernel_attr Target=\"3d\"\n");
    let _ = writeln!(text, ".kernel_attr SimdSize={simd}\n.kernel_attr PerThreadInputSize=192");
    let mut vector = |name: &str, ty: &str, elements: u32, alias: &str| {
        let _ = writeln!(text, ".decl {name} v_type=G type={ty} num_elts={elements} align=wordx32{alias}");
    };
    for k in 0..VECTORS {
        vector(&format!("B{k}"), "ub", simd, "");
        vector(&format!("S{k}"), "b", simd, &format!(" alias=<B{k}, 0>"));
        vector(&format!("W{k}"), "w", simd, "");
        vector(&format!("U{k}"), "uw", simd, &format!(" alias=<W{k}, 0>"));
        for v in ["L", "D"] {
            vector(&format!("{v}{k}"), "d", simd, "");
            vector(&format!("{v}B{k}"), "ub", 4 * simd, &format!(" alias=<{v}{k}, 0>"));
            vector(&format!("{v}W{k}"), "uw", 2 * simd, &format!(" alias=<{v}{k}, 0>"));
        }
    }
    for k in 0..ADDRESSES {
        let all =
            [("Lane", "d"), ("Scaled", "d"), ("Moved", "d"), ("Index", "d"), ("Wide", "q"), ("At", "uq")];
        all.iter().for_each(|(name, ty)| vector(&format!("{name}{k}"), ty, simd, ""));
    }
    vector("Lane", "uw", simd, "");
    for (name, ty) in [("N", "d"), ("I", "d"), ("Q", "q"), ("At", "uq")] {
        vector(name, ty, simd, "");
    }
    let _ = writeln!(text, ".decl P1 v_type=P num_elts={simd}\n.decl P2 v_type=P num_elts=1");
    text.push_str(".decl Round v_type=G type=d num_elts=1 align=dword\n.decl Moved v_type=G type=d num_elts=1 align=dword\n");
    text.push_str(".decl A v_type=G type=uq num_elts=1 align=qword\n.input Lane offset=64 size=64\n.input A offset=256 size=8\n.function \"rows_main\"\n");
    let mut w = Writer { r: Random(seed), m: format!("(M1, {simd})"), out: text, addresses: 0 };
    // What is loaded first.
    w.line("mul {m} N(0,0)<1> Lane(0,0)<1;1,0> 0x10305:d");
    for k in 0..16 {
        let _ = writeln!(w.out, "mul {} I(0,0)<1> Lane(0,0)<1;1,0> 0x4:uw", w.m);
        let _ = writeln!(w.out, "add {} I(0,0)<1> I(0,0)<1;1,0> {:#x}:d", w.m, 4 * simd * k);
        w.line("mov {m} Q(0,0)<1> I(0,0)<1;1,0>\nadd {m} At(0,0)<1> Q(0,0)<1;1,0> A(0,0)<0;1,0>");
        w.line("lsc_store.ugm {m} flat[At]:a64 N:d32\nmul {m} N(0,0)<1> N(0,0)<1;1,0> 0x21:d");
    }
    for k in 0..VECTORS {
        let _ = writeln!(
            w.out,
            "mov {} B{k}(0,0)<1> Lane(0,0)<1;1,0>\nmov {} W{k}(0,0)<1> Lane(0,0)<1;1,0>",
            w.m, w.m
        );
    }
    let _ = writeln!(w.out, "cmp.lt {} P1 Lane(0,0)<1;1,0> {:#x}:w", w.m, w.r.below(simd + 1));
    // A row in a hundred or so leaves the buffer, in the last rounds.
    let step = w.r.one_of(&[0, 2, 64, 64, 64, 700]);
    let _ = writeln!(w.out, "mov (M1, 1) Moved(0,0)<1> 0x0:d\nmov (M1, 1) Round(0,0)<1> 0x0:d\nagain:");
    let some = w.r.below(5) == 0;
    if some {
        w.line("(P1) goto {m} behind");
    }
    for _ in 0..4 + w.r.below(10) {
        match w.r.below(5) {
            0 | 1 => w.load(),
            2 | 3 => w.store(),
            _ => w.compute(),
        }
    }
    if some {
        w.out.push_str("behind:\n");
    }
    w.out.push_str("add (M1, 1) Round(0,0)<1> Round(0,0)<0;1,0> 0x1:d\n");
    let _ = writeln!(w.out, "add (M1, 1) Moved(0,0)<1> Moved(0,0)<0;1,0> {step:#x}:d");
    w.out.push_str("cmp.lt (M1, 1) P2 Round(0,0)<0;1,0> 0x4:d\n(P2) jmp (M1, 1) again\n");
    w.line("mul {m} I(0,0)<1> Lane(0,0)<1;1,0> 0x4:uw\nmov {m} Q(0,0)<1> I(0,0)<1;1,0>");
    w.line(
        "add {m} At(0,0)<1> Q(0,0)<1;1,0> A(0,0)<0;1,0>\nlsc_store.ugm {m} flat[At]:a64 N:d32\nret (M1, 1)",
    );
    w.out
}

/// What is left of the buffer, and how the launch faults.
type Left = (Vec<u8>, Option<Box<Fault>>);

fn run(text: &str, work_items: u64, engine: Engine) -> Left {
    let info = "version: '1.20'\nkernels:\n  - name: rows\n    execution_env: { grf_count: 128, simd_size: 32 }\n    \
        payload_arguments:\n      - { arg_type: arg_bypointer, offset: 0, size: 8, arg_index: 0, addrmode: stateless, \
        addrspace: global, access_type: readwrite }\n    per_thread_payload_arguments:\n      - { arg_type: local_id, \
        offset: 0, size: 192 }\n";
    let product = envisa::zebin::DeviceFamily::Pvc.product();
    let notes = envisa::zebin::Notes { product_family: Some(product), ..Default::default() };
    let zebin = envisa::zebin::Writer::new(info.to_owned()).notes(notes).visa(None, text).finish();
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
    let module = Module::load(&device, "rows", Source::Zebin(&zebin.expect("it is written")));
    let kernel = module.and_then(|m| m.kernel("rows")).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let buffer = device.buffer("a", BYTES.into()).expect("there is memory");
    let launch =
        Launch::range(&[work_items], &[work_items]).arg(0u32, &buffer).engine(engine).host_threads(1);
    let outcome = device.run(&kernel, &launch).expect("it is launched");
    (buffer.to_vec(), outcome.fault)
}

#[test]
fn rows_of_bytes_and_words_are_the_interpreters() {
    const PROGRAMS: u64 = kernels::share(1500);
    let mut faults = 0;
    for seed in 0..PROGRAMS {
        let text = program(seed);
        // All channels of one thread, of two, and a thread that lacks some.
        let work_items = [32, 32, 64, 48, 20][seed as usize % 5];
        let [want, got] = [Engine::Unoptimized, Engine::Native].map(|engine| run(&text, work_items, engine));
        assert_eq!(want.1, got.1, "program {seed}:\n{text}");
        assert_eq!(want.0, got.0, "program {seed}:\n{text}");
        faults += u64::from(want.1.is_some());
    }
    assert!((PROGRAMS / 75..PROGRAMS / 2).contains(&faults), "{faults} of {PROGRAMS} leave the buffer");
}
