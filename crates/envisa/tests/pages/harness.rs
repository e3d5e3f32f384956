//! Runs instructions from text: many to a kernel, registers and masks given, registers compared.

use crate::model::{Mode, T};
use crate::told::Written;
use envisa::diag::{FileId, Files, Severity, TextOptions, render_text};
use envisa::isa::{Module, Op, Platform, Platforms};
use envisa::text::{ParseOptions, parse};
use envisa::{
    ArgKey, Buffer, ChannelOrder, ChannelType, Config, Device, Image, ImageDesc, ImageFormat, ImageShape,
    Kernel, Launch, LoadOptions, Source, internals,
};
use envisa_machine::observer::Observer;
use envisa_machine::thread::{Machine, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Mutex;

/// How often each instruction was executed by a page test, and its result compared.
static TESTED: Mutex<BTreeMap<Op, u64>> = Mutex::new(BTreeMap::new());

/// What was tested so far.
pub fn tested() -> BTreeMap<Op, u64> {
    TESTED.lock().unwrap().clone()
}

/// Notes that instructions were executed and what they did was compared.
pub fn note(ops: impl IntoIterator<Item = Op>) {
    let mut t = TESTED.lock().unwrap();
    for op in ops {
        *t.entry(op).or_default() += 1;
    }
}

/// How an element that was written is compared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cmp {
    /// Bit by bit.
    Bits,
    /// Bit by bit, any NaN for a NaN.
    Float,
    /// As `Float`, zeros of either sign.
    Zeros,
    /// Within this many units in the last place; zeros and denormals by their value, any NaN for a NaN.
    Ulp(u64),
    /// Not at all: the page leaves it undefined.
    Any,
}

#[derive(Clone, Debug)]
struct Var {
    name: String,
    ty: T,
    before: Vec<u64>,
    after: Option<Vec<(u64, Cmp)>>,
}

#[derive(Clone, Debug)]
struct Pred {
    name: String,
    before: u32,
    after: Option<u32>,
}

/// One case: an instruction (or a few), what registers hold before it and after it.
#[derive(Clone, Debug)]
pub struct Case {
    text: String,
    pre: String,
    vars: Vec<Var>,
    preds: Vec<Pred>,
    addresses: Vec<String>,
    cr0: u32,
    em: u32,
}

impl Case {
    /// A case; `$name` in the text stands for a variable, predicate or address.
    pub fn new(text: impl Into<String>) -> Case {
        Case {
            text: text.into(),
            pre: String::new(),
            vars: Vec::new(),
            preds: Vec::new(),
            addresses: Vec::new(),
            cr0: 0x4c0,
            em: u32::MAX,
        }
    }

    /// The same with another text.
    pub fn with_text(mut self, text: &str) -> Case {
        self.text = text.into();
        self
    }

    /// Lines that make things ready; what they execute does not count as tested.
    pub fn before(mut self, text: &str) -> Case {
        self.pre += text;
        self.pre.push('\n');
        self
    }

    /// A variable that must keep what it holds.
    pub fn var(mut self, name: &str, ty: T, values: &[u64]) -> Case {
        let after = Some(values.iter().map(|v| (*v, Cmp::Bits)).collect());
        self.vars.push(Var { name: name.into(), ty, before: values.to_vec(), after });
        self
    }

    /// A variable, and what it must hold afterwards.
    pub fn out(mut self, name: &str, ty: T, before: &[u64], after: &[(u64, Cmp)]) -> Case {
        assert_eq!(before.len(), after.len());
        self.vars.push(Var { name: name.into(), ty, before: before.to_vec(), after: Some(after.to_vec()) });
        self
    }

    /// As [`Case::out`], compared bit by bit.
    pub fn bits(self, name: &str, ty: T, before: &[u64], after: &[u64]) -> Case {
        let after: Vec<(u64, Cmp)> = after.iter().map(|v| (*v, Cmp::Bits)).collect();
        self.out(name, ty, before, &after)
    }

    /// A predicate of 32 channels that must keep its bits.
    pub fn pred(self, name: &str, bits: u32) -> Case {
        self.pred_out(name, bits, bits)
    }

    /// A predicate, and what it must be afterwards.
    pub fn pred_out(mut self, name: &str, before: u32, after: u32) -> Case {
        self.preds.push(Pred { name: name.into(), before, after: Some(after) });
        self
    }

    /// An address variable of 16 elements.
    pub fn address(mut self, name: &str) -> Case {
        self.addresses.push(name.into());
        self
    }

    pub fn mode(mut self, m: Mode) -> Case {
        self.cr0 = m.0;
        self
    }

    /// The execution mask that the instruction finds.
    pub fn em(mut self, mask: u32) -> Case {
        self.em = mask;
        self
    }

    fn bytes(&self) -> usize {
        self.vars.iter().map(|v| (v.before.len() * v.ty.size()).next_multiple_of(64)).sum()
    }
}

fn bytes_of(ty: T, values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()[..ty.size()].to_vec()).collect()
}

fn values_of(ty: T, bytes: &[u8]) -> Vec<u64> {
    bytes
        .chunks_exact(ty.size())
        .map(|c| {
            let mut b = [0; 8];
            b[..c.len()].copy_from_slice(c);
            u64::from_le_bytes(b)
        })
        .collect()
}

/// Distance in units in the last place: of the bits as a monotonic number.
pub fn ulps(ty: T, a: u64, b: u64) -> u64 {
    let key = |x: u64| {
        let m = (x & !ty.sign() & ty.mask()) as i64;
        if x & ty.sign() != 0 { -m } else { m }
    };
    key(a).abs_diff(key(b))
}

fn agrees(ty: T, got: u64, want: u64, how: Cmp) -> bool {
    let nan = || ty.is_float() && ty.is_nan(got) && ty.is_nan(want);
    match how {
        Cmp::Bits => got == want,
        Cmp::Float => got == want || nan(),
        Cmp::Zeros => got == want || nan() || ty.is_zero(got) && ty.is_zero(want),
        Cmp::Ulp(n) => nan() || !ty.is_nan(got) && !ty.is_nan(want) && ulps(ty, got, want) <= n,
        Cmp::Any => true,
    }
}

/// Keeps variables when the thread ends, and notes which instructions ran.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    wanted: Vec<String>,
    content: Vec<Vec<u8>>,
    executed: BTreeSet<(u16, u32)>,
    written: Written,
}

impl Observer for Watch {
    fn fork(&self) -> Self {
        Watch { wanted: self.wanted.clone(), ..Watch::default() }
    }

    fn wants_all(&self, _: u32) -> bool {
        true
    }
    fn merge(&mut self, other: Self) {
        if !other.content.is_empty() {
            self.content = other.content;
        }
        self.executed.extend(other.executed);
    }
    fn before(&mut self, m: &Machine<'_>, pc: u32, _: u32) {
        let i = &m.env.program.code()[pc as usize];
        self.executed.insert((i.function, i.source));
        self.written.before(m);
    }
    fn after(&mut self, m: &Machine<'_>, pc: u32, mask: u32, _: u32) {
        self.written.after(m, pc, mask);
        if matches!(m.t.status, Status::Done | Status::Trapped) {
            let vars = &m.env.program.functions()[0].vars;
            let home = |n: &String| vars.iter().find(|v| v.name == *n).expect("a declared variable");
            let read = |n| m.t.regs.slice(home(n).offset, home(n).declared).to_vec();
            self.content = self.wanted.iter().map(read).collect();
        }
    }
}

/// Runs cases, as many to a kernel as fit.
pub struct Bench {
    platform: Platform,
    version: &'static str,
    cases: Vec<Case>,
    bytes: usize,
    /// Cases run.
    pub count: usize,
}

/// A variable has at most 4096 elements.
const ROOM: usize = 15 << 10;

impl Bench {
    pub fn new(platform: Platform) -> Bench {
        Bench { platform, version: "4.1", cases: Vec::new(), bytes: 0, count: 0 }
    }

    /// The version that the text has.
    pub fn version(mut self, version: &'static str) -> Bench {
        self.version = version;
        self
    }

    pub fn run(&mut self, case: Case) {
        let bytes = case.bytes() + 64 * case.preds.len();
        if self.bytes + bytes > ROOM || self.cases.len() >= 200 {
            self.flush();
        }
        self.bytes += bytes;
        self.cases.push(case);
        self.count += 1;
    }

    fn flush(&mut self) {
        let cases = std::mem::take(&mut self.cases);
        self.bytes = 0;
        if !cases.is_empty() {
            check(&cases, self.platform, self.version);
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.flush();
        }
    }
}

struct Built {
    text: String,
    /// Of each case: where its own lines are.
    places: Vec<(u32, u32)>,
    /// What registers hold at the start.
    image: Vec<u8>,
    /// Where each variable is in it, then each predicate's copy, case by case.
    homes: Vec<usize>,
}

/// `$name` replaced; longer names first.
fn fill(text: &str, names: &[(String, String)]) -> String {
    let mut out = text.to_owned();
    for (from, to) in names {
        out = out.replace(&format!("${from}"), to);
    }
    assert!(!out.contains('$'), "what is $ in {out}?");
    out
}

fn build(cases: &[Case], version: &str) -> Built {
    // All variables are parts of one, so that a write beside one of them is seen.
    let (mut decl, mut code) = (String::new(), String::new());
    let (mut image, mut homes, mut places) = (Vec::new(), Vec::new(), Vec::new());
    let mut address = 0;
    let (mut n_pred, mut n_label) = (0, 0);
    let mut mode = None;
    for (i, c) in cases.iter().enumerate() {
        let mut names = Vec::new();
        for (k, v) in c.vars.iter().enumerate() {
            let name = format!("R{i}_{k}");
            let size = v.before.len() * v.ty.size();
            let (ty, n) = (v.ty.name(), v.before.len());
            writeln!(
                decl,
                ".decl {name} v_type=G type={ty} num_elts={n} align=wordx32 alias=<IN, {}>",
                image.len()
            )
            .unwrap();
            homes.push(image.len());
            image.extend(bytes_of(v.ty, &v.before));
            image.resize(image.len() + size.next_multiple_of(64) - size, 0xee);
            names.push((v.name.clone(), name));
        }
        let mut set = String::new();
        let mut read = String::new();
        for (k, p) in c.preds.iter().enumerate() {
            n_pred += 1;
            let name = format!("Q{i}_{k}");
            writeln!(decl, ".decl {name} v_type=P num_elts=32").unwrap();
            writeln!(
                decl,
                ".decl S{i}_{k} v_type=G type=ud num_elts=1 align=wordx32 alias=<IN, {}>",
                image.len()
            )
            .unwrap();
            homes.push(image.len());
            image.extend([0xee; 64]);
            writeln!(set, "setp (M1_NM,32) {name} 0x{:x}:ud", p.before).unwrap();
            writeln!(read, "mov (M1_NM,1) S{i}_{k}(0,0)<1> {name}").unwrap();
            names.push((p.name.clone(), name));
        }
        for a in &c.addresses {
            let name = format!("A{address}");
            address += 1;
            writeln!(decl, ".decl {name} v_type=A num_elts=16").unwrap();
            names.push((a.clone(), name));
        }
        names.sort_by_key(|(n, _)| std::cmp::Reverse(n.len()));
        code += &set;
        code += &fill(&c.pre, &names);
        if c.em != u32::MAX {
            n_label += 1;
            writeln!(decl, ".decl E{i} v_type=P num_elts=32").unwrap();
            writeln!(code, "setp (M1_NM,32) E{i} 0x{:x}:ud\n(!E{i}) goto (M1,32) L{n_label}", c.em).unwrap();
        }
        if mode != Some(c.cr0) {
            writeln!(code, "mov (M1_NM,1) %cr0(0,0)<1> 0x{:x}:ud", c.cr0).unwrap();
            mode = Some(c.cr0);
        }
        let start = code.len() as u32;
        code += &fill(&c.text.replace("@L", &format!("C{i}_")), &names);
        code.push('\n');
        places.push((start, code.len() as u32));
        if c.em != u32::MAX {
            writeln!(code, "L{n_label}:").unwrap();
            // Where no channel ran, the mode was not set either.
            if c.em == 0 {
                mode = None;
            }
        }
        code += &read;
    }
    assert!(n_pred < 4000);
    let all = format!(".decl IN v_type=G type=ud num_elts={} align=wordx32\n", image.len() / 4);
    let head = format!(
        ".version {version}\n.kernel \"pages\"\n{all}{decl}.input IN offset=64 size={}\n.kernel_attr SimdSize=32\n.kernel_attr Target=\"cm\"\n",
        image.len()
    );
    let from = head.len() as u32;
    let places = places.iter().map(|(a, b)| (a + from, b + from)).collect();
    Built { text: format!("{head}{code}ret (M1,32)\n"), places, image, homes }
}

/// Stops at what the verifier finds, but for the size and place of the variable that holds all others
/// (rules V0103, V0124).
pub fn refuse(module: &Module, ids: &[FileId], files: &Files, platform: Platform) {
    let options =
        envisa::verify::Options { platforms: Platforms::of(&[platform]), lints: false, ..Default::default() };
    let findings: Vec<_> = envisa::verify::check(module, &options)
        .into_iter()
        .filter(|f| {
            f.severity == Severity::Error && !matches!(f.code.to_string().as_str(), "V0103" | "V0124")
        })
        .map(|f| f.diagnostic(ids[f.object]))
        .collect();
    if !findings.is_empty() {
        panic!("{}", render_text(files, &findings[..findings.len().min(4)], &TextOptions::default()));
    }
}

/// Runs cases in one kernel and compares.
fn check(cases: &[Case], platform: Platform, version: &str) {
    let built = build(cases, version);
    let mut files = Files::new();
    let file = files.add_text("pages.visaasm", built.text.clone());
    let said =
        parse(&built.text, file, &ParseOptions { platform: Some(platform), ..ParseOptions::default() });
    if !said.complete {
        panic!("{}", render_text(&files, &said.diagnostics, &TextOptions::default()));
    }
    let insts: Vec<(Op, u32)> = said.module.objects[0].insts.iter().map(|i| (i.op, i.span.start)).collect();
    refuse(&said.module, &said.files, &files, platform);
    // Inputs beyond the first 256 registers are the tests' own.
    let device = Device::new(Config::new(platform).memory(1 << 20).threads(1));
    let kernel = load(&device, said.module, said.files, files);
    let launch = Launch::threads(&[1], 1).arg("IN", built.image.clone()).limit(1_000_000);
    let mut watch = Watch::default();
    watch.wanted.push("IN".into());
    let (outcome, _) = internals::observe(&device, &kernel, &launch, &mut watch)
        .unwrap_or_else(|e| panic!("{}", explain(e)));
    if let Some(fault) = outcome.fault {
        let text = render_text(kernel.files(), &[fault.diagnostic()], &TextOptions::default());
        panic!("{text}");
    }
    let content = &watch.content[0];
    let mut homes = built.homes.iter();
    let mut part = |len: usize| {
        let at = *homes.next().expect("a home");
        (at, &content[at..at + len])
    };
    // Bytes beside the variables, and which are expected to be as they were.
    let mut outside = vec![true; content.len()];
    for (i, c) in cases.iter().enumerate() {
        let mut wrong = String::new();
        for v in &c.vars {
            let (at, bytes) = part(v.before.len() * v.ty.size());
            outside[at..at + bytes.len()].fill(false);
            let got = values_of(v.ty, bytes);
            for (e, (want, how)) in v.after.iter().flatten().enumerate() {
                if !agrees(v.ty, got[e], *want, *how) {
                    writeln!(
                        wrong,
                        "  {}[{e}]:{} is 0x{:x}, wanted 0x{want:x} ({how:?})",
                        v.name,
                        v.ty.name(),
                        got[e]
                    )
                    .unwrap();
                }
            }
        }
        for p in &c.preds {
            let (at, bytes) = part(4);
            outside[at..at + 4].fill(false);
            let got = values_of(T::Ud, bytes)[0];
            if let Some(want) = p.after
                && got != want as u64
            {
                writeln!(wrong, "  {} is 0x{got:x}, wanted 0x{want:x}", p.name).unwrap();
            }
        }
        if !wrong.is_empty() {
            let (from, to) = built.places[i];
            let mut given = String::new();
            for v in &c.vars {
                writeln!(given, "  {}:{} = {:x?}", v.name, v.ty.name(), v.before).unwrap();
            }
            for p in &c.preds {
                writeln!(given, "  {} = 0x{:x}", p.name, p.before).unwrap();
            }
            let text = &built.text[from as usize..to as usize];
            panic!(
                "{}\n({})\ncr0 0x{:x}, mask 0x{:x}\n{given}gives\n{wrong}",
                c.text,
                text.trim(),
                c.cr0,
                c.em
            );
        }
    }
    for (i, outside) in outside.iter().enumerate() {
        assert!(
            !outside || content[i] == built.image[i],
            "byte {i} beside all variables was written:\n{}",
            built.text
        );
    }
    // An instruction without code of its own (a label nobody waits at) has been passed.
    let has_code: BTreeSet<u32> =
        internals::program(&kernel).code().iter().filter(|i| i.function == 0).map(|i| i.source).collect();
    let ran = |i: u32| watch.executed.contains(&(0, i)) || !has_code.contains(&i);
    note(insts.iter().enumerate().filter_map(|(k, (op, at))| {
        let place = built.places.partition_point(|(_, end)| end <= at);
        let inside = built.places.get(place).is_some_and(|(start, _)| start <= at);
        (inside && ran(k as u32)).then_some(*op)
    }));
}

/// An error as text.
pub fn explain(e: envisa::Error) -> String {
    match e {
        envisa::Error::Diagnostics(d) => render_text(&d.files, &d.list, &TextOptions::default()),
        e => e.to_string(),
    }
}

/// The first kernel of a module, whatever the verifier says of it.
fn load(device: &Device, module: Module, ids: Vec<FileId>, files: Files) -> Kernel {
    let options = LoadOptions { verify: false, ..LoadOptions::default() };
    internals::load(device, "pages.visaasm", module, ids, files, &options)
        .and_then(|module| module.kernel(""))
        .unwrap_or_else(|e| panic!("{}", explain(e)))
}

/// An image of 8 by 4 texels of four dwords.
fn image(device: &Device, buffer: &Buffer) -> Image {
    let format = ImageFormat::new(ChannelOrder::Rgba, ChannelType::Uint32).expect("a format");
    device.image(&ImageDesc::packed(ImageShape::D2, [8, 4, 1], format), buffer).expect("it fits")
}

/// A whole kernel to run, with what it is given.
pub struct Program<'a> {
    pub text: &'a str,
    pub platform: Platform,
    pub groups: [u32; 3],
    pub threads: u32,
    pub jobs: usize,
    pub limit: u64,
    /// Inputs by name.
    pub args: Vec<(&'a str, Vec<u8>)>,
    /// Bytes of the buffer of surface `T6`, or of the image at binding-table index 4, which is read back.
    pub buffer: Vec<u8>,
}

impl<'a> Program<'a> {
    pub fn new(text: &'a str) -> Program<'a> {
        Program {
            text,
            platform: Platform::Skl,
            groups: [1; 3],
            threads: 1,
            jobs: 1,
            limit: 1_000_000,
            args: Vec::new(),
            buffer: Vec::new(),
        }
    }

    /// Runs it: the buffer, and the fault that ended it. What ran counts as tested where it ended well: the
    /// caller compares the buffer.
    pub fn run(&self) -> (Vec<u32>, Option<Box<envisa_machine::Trap>>) {
        let mut files = Files::new();
        let file = files.add_text("program.visaasm", self.text);
        let options = ParseOptions { platform: Some(self.platform), ..ParseOptions::default() };
        let said = parse(self.text, file, &options);
        if !said.complete {
            panic!("{}", render_text(&files, &said.diagnostics, &TextOptions::default()));
        }
        refuse(&said.module, &said.files, &files, self.platform);
        let kinds: Vec<Vec<Op>> =
            said.module.objects.iter().map(|o| o.insts.iter().map(|i| i.op).collect()).collect();
        let device = Device::new(Config::new(self.platform).memory(1 << 24).threads(self.jobs));
        let kernel = load(&device, said.module, said.files, files);
        let out = device.buffer_from("out", &self.buffer).unwrap();
        let mut launch = self.launch();
        if self.text.contains(".decl T6 ") {
            launch = launch.arg("T6", &out);
        }
        if self.text.contains("bti(0x4)") {
            launch = launch.arg(ArgKey::Surface(4), image(&device, &out));
        }
        let mut watch = Watch::default();
        let (_, trap) = internals::observe(&device, &kernel, &launch, &mut watch)
            .unwrap_or_else(|e| panic!("{}", explain(e)));
        if trap.is_none() {
            let code = &internals::program(&kernel).code();
            let has_code: BTreeSet<(u16, u32)> = code.iter().map(|i| (i.function, i.source)).collect();
            for (f, ops) in kinds.iter().enumerate() {
                note(ops.iter().enumerate().filter_map(|(i, op)| {
                    let place = (f as u16, i as u32);
                    (watch.executed.contains(&place) || !has_code.contains(&place)).then_some(*op)
                }));
            }
        }
        (words(&out), trap)
    }

    /// Sizes, and arguments but surfaces.
    fn launch(&self) -> Launch {
        let launch = Launch::threads(&self.groups, self.threads).limit(self.limit);
        self.args.iter().fold(launch, |l, (name, bytes)| l.arg(*name, bytes.clone()))
    }

    /// Runs it without observers.
    pub fn run_plain(&self) -> (Vec<u32>, Option<Box<envisa_machine::Trap>>) {
        let device = Device::new(Config::new(self.platform).memory(1 << 24).threads(self.jobs));
        let options = LoadOptions { verify: false, ..LoadOptions::default() };
        let source = Source::Text(self.text.as_bytes());
        let kernel = envisa::Module::load_with(&device, "program.visaasm", source, &options)
            .and_then(|module| module.kernel(""))
            .unwrap_or_else(|e| panic!("{}", explain(e)));
        let out = device.buffer_from("out", &self.buffer).unwrap();
        let launch = self.launch().arg("T6", &out);
        let (_, trap) =
            internals::run(&device, &kernel, &launch).unwrap_or_else(|e| panic!("{}", explain(e)));
        (words(&out), trap)
    }
}

/// The dwords of a buffer.
fn words(buffer: &Buffer) -> Vec<u32> {
    let bytes = buffer.to_vec();
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}
