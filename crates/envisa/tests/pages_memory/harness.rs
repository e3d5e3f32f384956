//! Runs messages from text: many to a kernel, registers and memory given, registers and memory compared.
//!
//! A [`Bench`] keeps a [`World`], which models apply their cases to one after another; a kernel runs the
//! same instructions in the same order. Every kernel runs twice, with an observer and without, as
//! different code may run.

use crate::told::Written;
use envisa::diag::{FileId, Files, Severity, TextOptions, render_text};
use envisa::isa::{Module, Op, Platform, Platforms};
use envisa::text::{ParseOptions, parse};
use envisa::{
    Arg, ArgKey, Buffer, ChannelOrder, ChannelType, Config, Device, Image, ImageDesc, ImageFormat,
    ImageShape, Launch, LoadOptions, Sampler, internals,
};
use envisa_machine::Trap;
use envisa_machine::observer::Observer;
use envisa_machine::thread::Machine;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Mutex;

thread_local! {
    /// Instructions that this test's cases executed.
    static EXECUTED: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// One test at a time writes the list.
static LIST: Mutex<()> = Mutex::new(());

/// Holds, at its end, what a test's cases executed against `tested.txt`: the list that tells which
/// instructions are compared with their pages. `BLESS=1` rewrites the test's line.
pub struct Covers(&'static str);

/// Declared before any [`Bench`], so that it ends after them.
pub fn covers(test: &'static str) -> Covers {
    EXECUTED.with_borrow_mut(BTreeSet::clear);
    Covers(test)
}

impl Drop for Covers {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let done = EXECUTED.with_borrow(|e| e.iter().cloned().collect::<Vec<_>>().join(" "));
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pages_memory/tested.txt");
        let _one = LIST.lock();
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut lines: BTreeMap<&str, &str> = text.lines().filter_map(|l| l.split_once(": ")).collect();
        if lines.insert(self.0, &done) == Some(&done) {
            return;
        }
        assert!(std::env::var_os("BLESS").is_some(), "{} executes {done}: not what {path} says", self.0);
        let all: String = lines.iter().map(|(test, ops)| format!("{test}: {ops}\n")).collect();
        std::fs::write(path, all).expect("the list can be written");
    }
}

/// Deterministic random numbers.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }
}

/// Address of buffer `a`: the first allocation of a session.
pub const A: u64 = (1 << 32) + (1 << 16);
/// Bytes of buffer `a`; surface `T6` is its bytes from [`SURFACE`] on.
pub const A_BYTES: usize = 1004;
pub const SURFACE: usize = 64;
/// Where in buffer `a` the append counter of surface `T6` is; all of `a` is the unified return buffer, too.
pub const COUNTER: usize = 20;
/// Bytes that a handle of the unified return buffer counts.
pub const URB_UNIT: u32 = 16;
/// Bytes of shared local memory that are compared: the first and the last of [`SLM_BYTES`].
pub const EDGE: usize = 256;
pub const SLM_BYTES: usize = 4096;
/// Bytes of the general-state window.
pub const STATE_BYTES: usize = 64 << 10;
/// Bytes of texels of surface `T7`.
pub const TEXELS: usize = 2048;

/// All memory.
#[derive(Clone, PartialEq)]
pub struct World {
    pub a: Vec<u8>,
    pub slm: Vec<u8>,
    pub state: Vec<u8>,
    pub texels: Vec<u8>,
}

/// Surfaces of buffers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Surf {
    /// `T0`: shared local memory.
    Slm,
    /// `T5`: the general-state window.
    State,
    /// `T6`: part of buffer `a`.
    Bti,
    /// `T8`: bound to nothing.
    Unbound,
}

impl Surf {
    pub const ALL: [Surf; 4] = [Surf::Slm, Surf::State, Surf::Bti, Surf::Unbound];

    pub fn text(self) -> &'static str {
        match self {
            Surf::Slm => "%slm",
            Surf::State => "%scratch",
            Surf::Bti => "T6",
            Surf::Unbound => "T8",
        }
    }

    pub fn len(self) -> u64 {
        match self {
            Surf::Slm => SLM_BYTES as u64,
            Surf::State => STATE_BYTES as u64,
            Surf::Bti => (A_BYTES - SURFACE) as u64,
            Surf::Unbound => 0,
        }
    }

    /// The bias that pointers into it may carry.
    pub fn bias(self) -> u64 {
        if self == Surf::Slm { 0x1000_0000 } else { 0 }
    }
}

impl World {
    pub fn new(rng: &mut Rng) -> World {
        let edges = |rng: &mut Rng, n: usize| {
            let mut b = vec![0; n];
            b[..EDGE].copy_from_slice(&rng.bytes(EDGE));
            b[n - EDGE..].copy_from_slice(&rng.bytes(EDGE));
            b
        };
        World {
            a: rng.bytes(A_BYTES),
            slm: edges(rng, SLM_BYTES),
            state: edges(rng, STATE_BYTES),
            texels: rng.bytes(TEXELS),
        }
    }

    /// The byte at an offset of a surface; `None` outside.
    pub fn at(&mut self, s: Surf, offset: u64) -> Option<&mut u8> {
        if offset >= s.len() {
            return None;
        }
        let at = offset as usize;
        match s {
            Surf::Slm => self.slm.get_mut(at),
            Surf::State => self.state.get_mut(at),
            Surf::Bti => self.a.get_mut(SURFACE + at),
            Surf::Unbound => None,
        }
    }

    /// The `n` bytes at an offset, little-endian: all of them or none.
    pub fn read(&mut self, s: Surf, offset: u64, n: usize) -> Option<u64> {
        let mut x = 0;
        for k in (0..n as u64).rev() {
            x = x << 8 | *self.at(s, offset.checked_add(k)?)? as u64;
        }
        Some(x)
    }

    /// Writes `n` bytes at an offset: all of them or none.
    pub fn write(&mut self, s: Surf, offset: u64, n: usize, x: u64) {
        if self.read(s, offset, n).is_none() {
            return;
        }
        for k in 0..n as u64 {
            if let Some(b) = self.at(s, offset + k) {
                *b = (x >> (8 * k)) as u8;
            }
        }
    }
}

/// A register variable.
#[derive(Clone, Debug)]
pub struct Var {
    name: String,
    ty: &'static str,
    before: Vec<u8>,
    /// What it must hold afterwards.
    pub after: Vec<u8>,
    /// Bytes that the page leaves undefined.
    pub open: Vec<bool>,
}

impl Var {
    /// Sets `n` bytes of what it must hold.
    pub fn set(&mut self, at: usize, n: usize, x: u64) {
        self.after[at..at + n].copy_from_slice(&x.to_le_bytes()[..n]);
    }

    /// The `n` bytes at a place before the message.
    pub fn get(&self, at: usize, n: usize) -> u64 {
        self.before[at..at + n].iter().rev().fold(0, |x, b| x << 8 | *b as u64)
    }

    pub fn undefined(&mut self, at: usize, n: usize) {
        self.open[at..at + n].fill(true);
    }
}

/// One case: an instruction, what registers hold before it and after it.
#[derive(Clone, Debug, Default)]
pub struct Case {
    text: String,
    vars: Vec<Var>,
    pred: Option<u32>,
    em: Option<u32>,
}

/// Bytes of an element of a type.
pub fn size(ty: &str) -> usize {
    match ty {
        "ub" | "b" => 1,
        "uw" | "w" | "hf" => 2,
        "uq" | "q" | "df" => 8,
        _ => 4,
    }
}

impl Case {
    /// A case; `$name` in the text stands for a variable, `$P` for the predicate.
    pub fn new(text: impl Into<String>) -> Case {
        Case { text: text.into(), ..Case::default() }
    }

    /// The same with this text.
    pub fn with_text(mut self, text: String) -> Case {
        self.text = text;
        self
    }

    /// Does the instruction run at all? It is jumped over where no channel is active.
    pub fn runs(&self) -> bool {
        self.em != Some(0)
    }

    /// A variable of these bytes, padded with bytes that must stay so that whole registers, or 1, 2 or 4 owords,
    /// can be looked at.
    pub fn bytes(&mut self, name: &str, ty: &'static str, bytes: &[u8]) {
        let mut before = bytes.to_vec();
        let whole =
            if bytes.len() > 64 { bytes.len().next_multiple_of(64) } else { bytes.len().next_power_of_two() };
        while before.len() < whole.max(16) {
            before.push(before.len() as u8 ^ 0xa5);
        }
        let after = before.clone();
        let open = vec![false; before.len()];
        self.vars.push(Var { name: name.into(), ty, before, after, open });
    }

    /// A variable of these values.
    pub fn var(&mut self, name: &str, ty: &'static str, values: &[u64]) {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()[..size(ty)].to_vec()).collect();
        self.bytes(name, ty, &bytes);
    }

    /// A variable that was declared.
    pub fn of(&mut self, name: &str) -> &mut Var {
        self.vars.iter_mut().find(|v| v.name == name).expect("a variable of the case")
    }

    /// The predicate's 32 bits.
    pub fn pred(&mut self, bits: u32) {
        self.pred = Some(bits);
    }

    /// The execution mask that the instruction finds.
    pub fn em(&mut self, mask: u32) {
        self.em = Some(mask);
    }

    /// Is channel `i` of an instruction with this mask active?
    pub fn active(&self, mask: usize, predicate: Predicate, channels: u32, i: u32) -> bool {
        let lane = (mask as u32 & 7) * 4 + i;
        let bit = |m: Option<u32>| lane < 32 && m.unwrap_or(u32::MAX) >> lane & 1 != 0;
        self.runs() && (mask >= 8 || bit(self.em)) && predicate.allows(self.pred, mask, channels, i)
    }

    fn size(&self) -> usize {
        self.vars.iter().map(|v| v.before.len().next_multiple_of(64)).sum()
    }
}

/// How an instruction is predicated.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Predicate {
    None,
    Plain,
    Inverted,
    Any,
    All,
}

impl Predicate {
    pub const ALL: [Predicate; 5] =
        [Predicate::None, Predicate::Plain, Predicate::Inverted, Predicate::Any, Predicate::All];

    pub fn text(self) -> &'static str {
        match self {
            Predicate::None => "",
            Predicate::Plain => "($P) ",
            Predicate::Inverted => "(!$P) ",
            Predicate::Any => "($P.any) ",
            Predicate::All => "($P.all) ",
        }
    }

    fn allows(self, bits: Option<u32>, mask: usize, channels: u32, i: u32) -> bool {
        let first = (mask as u32 & 7) * 4;
        let bit = |i: u32| first + i < 32 && bits.unwrap_or(u32::MAX) >> (first + i) & 1 != 0;
        match self {
            Predicate::None => true,
            Predicate::Plain => bit(i),
            Predicate::Inverted => !bit(i),
            Predicate::Any => (0..channels).any(bit),
            Predicate::All => (0..channels).all(bit),
        }
    }
}

/// `M1` to `M8_NM`.
pub fn mask_name(mask: usize) -> String {
    format!("M{}{}", (mask & 7) + 1, if mask >= 8 { "_NM" } else { "" })
}

/// May an instruction of `n` channels have this mask (verifier rule V0304)?
pub fn legal(mask: usize, n: u32) -> bool {
    ((mask as u32 & 7) * 4).is_multiple_of(n)
}

/// Notes which instructions ran.
#[derive(Clone, Debug, Default)]
struct Watch(BTreeSet<(u16, u32)>, Written);

impl Observer for Watch {
    fn fork(&self) -> Self {
        Watch::default()
    }

    fn wants_all(&self, _: u32) -> bool {
        true
    }
    fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }
    fn before(&mut self, m: &Machine<'_>, pc: u32, _: u32) {
        let i = &m.env.program.code()[pc as usize];
        self.0.insert((i.function, i.source));
        self.1.before(m);
    }
    fn after(&mut self, m: &Machine<'_>, pc: u32, mask: u32, _: u32) {
        self.1.after(m, pc, mask);
    }
}

/// The image that surface `T7` is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Texels {
    pub shape: ImageShape,
    pub width: u32,
    pub height: u32,
    pub depth: u32,
    pub samples: u32,
    pub levels: u32,
    pub order: u32,
    pub ty: u32,
    pub texel: u32,
}

impl Texels {
    pub fn row(&self) -> u32 {
        self.width * self.texel + 4
    }
    pub fn slice(&self) -> u32 {
        self.row() * self.height + 8
    }
}

/// Runs cases, as many to a kernel as fit.
pub struct Bench {
    platform: Platform,
    verify: bool,
    /// What memory is after all cases so far.
    pub world: World,
    /// What it is before the first one.
    start: World,
    image: Option<Texels>,
    sampler: Option<Sampler>,
    cases: Vec<(Case, World)>,
    bytes: usize,
    /// Cases run.
    pub count: usize,
}

/// Inputs lie below 32 KiB; two variables of 512 bytes carry what memory holds at first.
const ROOM: usize = 26 << 10;
/// Of at most 255 inputs.
const MAX_VARS: usize = 240;

impl Bench {
    pub fn new(platform: Platform, seed: u64) -> Bench {
        let world = World::new(&mut Rng(seed));
        Bench {
            platform,
            verify: true,
            start: world.clone(),
            world,
            image: None,
            sampler: None,
            cases: Vec::new(),
            bytes: 0,
            count: 0,
        }
    }

    /// Runs what the verifier refuses but the machine defines.
    pub fn unverified(mut self) -> Bench {
        self.verify = false;
        self
    }

    /// Binds the image; those before are done.
    pub fn image(&mut self, image: Texels) {
        if self.image != Some(image) {
            self.flush();
            self.image = Some(image);
        }
    }

    /// Binds the sampler that `S0` is; those before are done.
    pub fn sampler(&mut self, sampler: Sampler) {
        if self.sampler != Some(sampler) {
            self.flush();
            self.sampler = Some(sampler);
        }
    }

    /// The device.
    pub fn platform(&self) -> Platform {
        self.platform
    }

    /// Bytes of a register.
    pub fn grf(&self) -> usize {
        if self.platform >= Platform::Pvc { 64 } else { 32 }
    }

    /// Adds a case whose effect on memory the world already shows.
    pub fn run(&mut self, case: Case) {
        self.bytes += case.size();
        self.cases.push((case, self.world.clone()));
        self.count += 1;
        let vars: usize = self.cases.iter().map(|c| c.0.vars.len()).sum();
        if self.bytes > ROOM - 2048 || vars >= MAX_VARS {
            self.flush();
        }
    }

    /// Runs a case that must end in a fault, by itself; the world is left as it is.
    pub fn fault(&mut self, case: &Case) -> Trap {
        self.flush();
        let ran = execute(self, std::slice::from_ref(case), &self.start.clone());
        self.count += 1;
        match (ran.trap, ran.unobserved) {
            (Some(a), Some(b)) => {
                assert_eq!((&a.cause, a.channel), (&b.cause, b.channel), "{}", case.text);
                assert_eq!((a.kernel.as_str(), a.thread, a.group), ("pages", 0, [0; 3]));
                *a
            }
            _ => panic!("no fault: {case:?}"),
        }
    }

    fn flush(&mut self) {
        self.bytes = 0;
        let cases = std::mem::take(&mut self.cases);
        if cases.is_empty() {
            return;
        }
        let only: Vec<Case> = cases.iter().map(|c| c.0.clone()).collect();
        let start = std::mem::replace(&mut self.start, self.world.clone());
        if compare(&execute(self, &only, &start), &only, &self.world).is_none() {
            return;
        }
        // Which one was it?
        let mut before = start;
        for (case, after) in cases {
            let one = std::slice::from_ref(&case);
            if let Some(why) = compare(&execute(self, one, &before), one, &after) {
                panic!("{}\n{why}\ngiven {case:?}", case.text);
            }
            before = after;
        }
        panic!("cases go wrong together, not each by itself");
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.flush();
        }
    }
}

/// What a run leaves behind.
struct Ran {
    trap: Option<Box<Trap>>,
    unobserved: Option<Box<Trap>>,
    text: String,
    /// Of both runs: memory, and all variables.
    left: Vec<(World, Vec<u8>)>,
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

/// Stores `bytes` bytes of a variable at an address.
fn dump(code: &mut String, name: &str, bytes: usize, address: u64) {
    let mut at = 0;
    while at < bytes {
        let owords = [8, 4, 2, 1].into_iter().find(|n| n * 16 <= bytes - at).expect("whole owords");
        writeln!(code, "svm_block_st ({owords}) 0x{:x}:uq {name}.{at}", address + at as u64).unwrap();
        at += owords * 16;
    }
}

/// Surfaces in text: name and edges.
const EDGES: [(&str, usize); 2] = [("slm", SLM_BYTES), ("scratch", STATE_BYTES)];

fn execute(bench: &Bench, cases: &[Case], start: &World) -> Ran {
    // The layout of memory: a, then texels, then what is dumped.
    let dumped: usize = cases.iter().flat_map(|c| &c.vars).map(|v| v.before.len()).sum();
    let device = Device::new(Config::new(bench.platform).memory(1 << 22).threads(1));
    let buffers = [
        device.buffer_from("a", &start.a).expect("memory"),
        device.buffer_from("texels", &start.texels).expect("memory"),
        device.buffer("dump", (dumped + 4 * EDGE) as u64).expect("memory"),
    ];
    assert_eq!(buffers[0].address(), A);
    let to = buffers[2].address();
    let (mut decl, mut input, mut code) = (String::new(), String::new(), String::new());
    let mut args: Vec<(String, Arg)> = Vec::new();
    let mut at = 64;
    let mut variable = |name: &str, ty: &str, bytes: &[u8]| {
        let n = bytes.len() / size(ty);
        writeln!(decl, ".decl {name} v_type=G type={ty} num_elts={n} align=wordx32").unwrap();
        writeln!(input, ".input {name} offset={at} size={}", bytes.len()).unwrap();
        at += bytes.len().next_multiple_of(64);
        args.push((name.into(), Arg::from(bytes)));
    };
    for ((surface, bytes), content) in EDGES.into_iter().zip([&start.slm, &start.state]) {
        let both = [&content[..EDGE], &content[bytes - EDGE..]].concat();
        variable(&format!("I_{surface}"), "ud", &both);
        for (k, from) in [0, EDGE / 2, bytes - EDGE, bytes - EDGE / 2].into_iter().enumerate() {
            writeln!(code, "oword_st (8) %{surface} 0x{:x}:ud I_{surface}.{}", from / 16, k * EDGE / 2)
                .unwrap();
        }
    }
    let (mut places, mut end) = (Vec::new(), String::new());
    let mut out = to + 4 * EDGE as u64;
    let mut preds = String::new();
    for (i, c) in cases.iter().enumerate() {
        let mut names = Vec::new();
        for (k, v) in c.vars.iter().enumerate() {
            let name = format!("R{i}_{k}");
            variable(&name, v.ty, &v.before);
            dump(&mut end, &name, v.before.len(), out);
            out += v.before.len() as u64;
            names.push((v.name.clone(), name));
        }
        if let Some(bits) = c.pred {
            writeln!(preds, ".decl Q{i} v_type=P num_elts=32").unwrap();
            writeln!(code, "setp (M1_NM,32) Q{i} 0x{bits:x}:ud").unwrap();
            names.push(("P".into(), format!("Q{i}")));
        }
        names.sort_by_key(|(n, _)| std::cmp::Reverse(n.len()));
        if let Some(em) = c.em {
            writeln!(preds, ".decl E{i} v_type=P num_elts=32").unwrap();
            writeln!(code, "setp (M1_NM,32) E{i} 0x{em:x}:ud\n(!E{i}) goto (M1,32) L{i}").unwrap();
        }
        let from = code.len();
        code += &fill(&c.text, &names);
        code.push('\n');
        places.push((from, code.len()));
        if c.em.is_some() {
            writeln!(code, "L{i}:").unwrap();
        }
    }
    for (k, (surface, bytes)) in EDGES.into_iter().enumerate() {
        for (j, from) in [0, EDGE / 2, bytes - EDGE, bytes - EDGE / 2].into_iter().enumerate() {
            writeln!(end, "oword_ld (8) %{surface} 0x{:x}:ud I_{surface}.{}", from / 16, j * EDGE / 2)
                .unwrap();
        }
        dump(&mut end, &format!("I_{surface}"), 2 * EDGE, to + (k * 2 * EDGE) as u64);
    }
    let surfaces = ["T6", "T7", "T8"].map(|t| format!(".decl {t} v_type=T num_elts=1\n")).concat();
    let sampler = ".decl S0 v_type=S num_elts=1\n";
    // Rows of newer devices are of the next version.
    let version = if bench.platform >= Platform::Xe2 { ".version 4.2\n" } else { ".version 4.1\n" };
    let head = format!(
        "{version}.kernel \"pages\"\n{decl}{preds}{sampler}{surfaces}{input}.kernel_attr SimdSize=32\n.kernel_attr Target=\"cm\"\n\
         movs (M1_NM,1) T6(0) 0x3:ud\nmovs (M1_NM,1) T7(0) 0x4:ud\nmovs (M1_NM,1) T8(0) 0x9:ud\n\
         movs (M1_NM,1) S0(0) 0x5:ud\n"
    );
    let text = format!("{head}{code}{end}ret (M1,32)\n");
    let (kernel, insts) = loaded(bench, &device, &text);
    let [a, t, d] = &buffers;
    let launch = launched(bench, &device, &buffers, args);
    let mut watch = Watch::default();
    let mut left = Vec::new();
    let (_, trap) = internals::observe(&device, &kernel, &launch, &mut watch).expect("a launch");
    left.push(look(&buffers, start));
    // Once more, from the same start.
    a.write(0, &start.a).expect("inside");
    t.write(0, &start.texels).expect("inside");
    d.fill(0, d.len(), &[0]).expect("inside");
    let (_, plain) = internals::run(&device, &kernel, &launch).expect("a launch");
    left.push(look(&buffers, start));
    for &(_, source) in &watch.0 {
        let (op, at) = insts[source as usize];
        let at = (at as usize).wrapping_sub(head.len());
        if places.iter().any(|p| (p.0..p.1).contains(&at)) {
            EXECUTED.with_borrow_mut(|e| e.insert(op.desc().name.to_owned()));
        }
    }
    Ran { trap, unobserved: plain, text, left }
}

/// The kernel of a text, and its instructions with their places in the text.
fn loaded(bench: &Bench, device: &Device, text: &str) -> (envisa::Kernel, Vec<(Op, u32)>) {
    let mut files = Files::new();
    let file = files.add_text("pages.visaasm", text.to_owned());
    let said = parse(text, file, &ParseOptions { platform: Some(bench.platform), ..ParseOptions::default() });
    if !said.complete {
        let some = &said.diagnostics[..said.diagnostics.len().min(4)];
        panic!("{}", render_text(&files, some, &TextOptions::default()));
    }
    let insts: Vec<(Op, u32)> = said.module.objects[0].insts.iter().map(|i| (i.op, i.span.start)).collect();
    if bench.verify {
        refuse(&said.module, &said.files, &files, bench.platform);
    }
    // Inputs beyond the first 256 registers are the tests' own.
    let options = LoadOptions { verify: false, ..LoadOptions::default() };
    let kernel = internals::load(device, "pages.visaasm", said.module, said.files, files, &options)
        .and_then(|module| module.kernel(""))
        .unwrap_or_else(|e| panic!("{e}"));
    (kernel, insts)
}

/// A launch, with the buffers where a bench has them.
fn launched(bench: &Bench, device: &Device, [a, t, _]: &[Buffer; 3], args: Vec<(String, Arg)>) -> Launch {
    let mut launch = Launch::threads(&[1], 1).local_memory(SLM_BYTES as u64).limit(1_000_000);
    for (name, arg) in args {
        launch = launch.arg(name, arg);
    }
    launch = launch.arg(ArgKey::Surface(3), a.slice(SURFACE as u64..a.len()).expect("a surface"));
    // The counter of surface 3, and what handles of 16 bytes count in.
    launch = launch.arg(ArgKey::Counter(3), a.slice(COUNTER as u64..SURFACE as u64).expect("a counter"));
    launch = launch.arg(ArgKey::ReturnBuffer(URB_UNIT), a.clone());
    if let Some(i) = bench.image {
        launch = launch.arg(ArgKey::Surface(4), image(device, i, t));
    }
    if let Some(s) = bench.sampler {
        launch = launch.arg(ArgKey::Sampler(5), s);
    }
    launch
}

fn image(device: &Device, i: Texels, buffer: &Buffer) -> Image {
    let order = ChannelOrder::from_cl(i.order).expect("an order");
    let format = ImageFormat::new(order, ChannelType::from_cl(i.ty).expect("a type")).expect("a format");
    let (row_pitch, slice_pitch) = (i.row(), i.slice() as u64);
    let packed = ImageDesc::packed(i.shape, [i.width, i.height, i.depth], format);
    let desc = ImageDesc { row_pitch, slice_pitch, samples: i.samples, levels: i.levels, ..packed };
    device.image(&desc, buffer).unwrap_or_else(|e| panic!("{e}"))
}

/// Memory after a run, and what was dumped.
fn look([a, t, d]: &[Buffer; 3], start: &World) -> (World, Vec<u8>) {
    let mut w = start.clone();
    w.a = a.to_vec();
    w.texels = t.to_vec();
    let dump = d.to_vec();
    for (k, content) in [&mut w.slm, &mut w.state].into_iter().enumerate() {
        let n = content.len();
        let from = &dump[k * 2 * EDGE..];
        content[..EDGE].copy_from_slice(&from[..EDGE]);
        content[n - EDGE..].copy_from_slice(&from[EDGE..2 * EDGE]);
    }
    (w, dump[4 * EDGE..].to_vec())
}

/// Stops at what the verifier finds, but for inputs (rule V0124): a test has more than a launch fills.
fn refuse(module: &Module, ids: &[FileId], files: &Files, platform: Platform) {
    let findings = findings(module, ids, platform);
    if !findings.is_empty() {
        panic!("{}", render_text(files, &findings[..findings.len().min(4)], &TextOptions::default()));
    }
}

fn findings(module: &Module, ids: &[FileId], platform: Platform) -> Vec<envisa::diag::Diagnostic> {
    let options =
        envisa::verify::Options { platforms: Platforms::of(&[platform]), lints: false, ..Default::default() };
    envisa::verify::check(module, &options)
        .into_iter()
        .filter(|f| f.severity == Severity::Error && f.code.to_string() != "V0124")
        .map(|f| f.diagnostic(ids[f.object]))
        .collect()
}

fn differs(what: &str, got: &[u8], want: &[u8], open: &[bool]) -> Option<String> {
    let wrong: Vec<String> = got
        .iter()
        .zip(want)
        .enumerate()
        .filter(|(i, (g, w))| g != w && !open.get(*i).copied().unwrap_or(false))
        .map(|(i, (g, w))| format!("byte {i} of {what} is {g:#04x}, wanted {w:#04x}"))
        .collect();
    (!wrong.is_empty()).then(|| wrong[..wrong.len().min(12)].join("\n"))
}

/// What is not as it should be.
fn compare(ran: &Ran, cases: &[Case], world: &World) -> Option<String> {
    if let Some(trap) = ran.trap.as_ref().or(ran.unobserved.as_ref()) {
        let line = ran.text.lines().nth(trap.instruction as usize).unwrap_or("");
        return Some(format!("a fault: {trap} {line}"));
    }
    let names = ["observed", "unobserved"];
    for ((got, dump), how) in ran.left.iter().zip(names) {
        let memory = [
            ("a", &got.a, &world.a),
            ("SLM", &got.slm, &world.slm),
            ("the general state", &got.state, &world.state),
            ("the texels", &got.texels, &world.texels),
        ];
        for (what, got, want) in memory {
            if let Some(why) = differs(what, got, want, &[]) {
                return Some(format!("{how}: {why}"));
            }
        }
        let mut at = 0;
        for v in cases.iter().flat_map(|c| &c.vars) {
            let got = &dump[at..at + v.before.len()];
            at += v.before.len();
            if let Some(why) = differs(&v.name, got, &v.after, &v.open) {
                return Some(format!("{how}: {why}"));
            }
        }
    }
    None
}
