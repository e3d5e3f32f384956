//! Random programs on an engine, observed and not, held against the model of the pages.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};

use envisa::internals;
use envisa::isa::Platform;
use envisa::zebin::{DeviceFamily, Notes, Writer};
use envisa::{ArgKey, Buffer, Config, Device, Engine, Error, Kernel, Launch, LoadOptions, Module, Source};
use envisa_model::eval::{self, State, Stop};
use envisa_model::print::{STORE, Text, What, brief, print};
use envisa_model::program::{DEVICES, HALF, Home, Program, SLM};
use envisa_model::random;
use envisa_model::shrink::shrink;

/// How an engine runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// With nobody watching: what its optimiser makes of a program.
    Plain(Engine),
    /// Watched, instruction by instruction.
    Observed(Engine),
}

/// What came of many programs.
#[derive(Debug, Default)]
pub struct Count {
    /// Programs run, on each engine.
    pub programs: AtomicU64,
    /// Of these, how many the model says access memory outside of the buffer: they must fault.
    pub astray: AtomicU64,
    /// Of these, how many nobody waits for: they are not run.
    pub long: AtomicU64,
    /// Statements in all of them.
    pub statements: AtomicU64,
    /// Of these, how many have native code on this host.
    pub native: AtomicU64,
    /// By device, of the programs that are written by halves of the channels and call nothing: how many, those of which the
    /// optimiser joins such instructions, and these instructions.
    pub joined: [[AtomicU64; 3]; DEVICES.len()],
}

impl Count {
    /// Counts what the optimiser joins in a program that is written by halves.
    fn join(&self, p: &Program, kernel: &Kernel) {
        if !p.halves || !p.subs.is_empty() || !p.functions.is_empty() {
            return;
        }
        let Some(device) = DEVICES.iter().position(|d| *d == p.device) else { return };
        let n = internals::join_counts(kernel).instructions;
        for (count, n) in self.joined[device].iter().zip([1, u64::from(n > 0), n]) {
            count.fetch_add(n, Ordering::Relaxed);
        }
    }
}

/// What the dump and the buffer hold after a run; `None` if it faulted.
type Left = Option<(Vec<u8>, Vec<u8>)>;

/// The index that the buffer is bound at.
const BTI: u32 = 5;

/// A program as a compiler would hand it over, so that a launch gives its channels local ids.
fn zebin(p: &Program, text: &Text) -> Result<Vec<u8>, Error> {
    let mut info = format!(
        "version: '1.20'\nkernels:\n  - name: k\n    execution_env: {{ grf_count: 128, simd_size: {}, slm_size: {SLM} }}\n    \
         payload_arguments:\n",
        p.simd
    );
    for (k, i) in text.inputs.iter().enumerate() {
        let (offset, size) = (i.offset - text.first, i.bytes);
        info +=
            &format!("      - {{ arg_type: arg_byvalue, offset: {offset}, size: {size}, arg_index: {k} }}\n");
    }
    let buffer = text.inputs.len();
    info += &format!(
        "      - {{ arg_type: arg_bypointer, offset: 0, size: 0, arg_index: {buffer}, addrmode: stateful, addrspace: \
         global, access_type: readwrite }}\n    per_thread_payload_arguments:\n      - {{ arg_type: local_id, offset: \
         0, size: {} }}\n    binding_table_indices:\n      - {{ bti_value: {BTI}, arg_index: {buffer} }}\n",
        3 * p.local_id_bytes()
    );
    let device = p.device.name.to_lowercase().parse::<DeviceFamily>().ok();
    let notes = Notes { product_family: device.map(DeviceFamily::product), ..Notes::default() };
    let written = Writer::new(info).notes(notes).visa(None, &text.text).finish();
    written.map_err(|e| Error::Module(e.to_string()))
}

/// A program's text with all that it is launched with; and its dump.
pub(crate) fn prepare(
    (device, data): (&Device, &Buffer),
    p: &Program,
    text: &Text,
) -> Result<(Kernel, Launch, Buffer), Error> {
    let options = LoadOptions { verify: false, ..LoadOptions::default() };
    let zebin = p.local.is_some().then(|| zebin(p, text)).transpose()?;
    let source = zebin.as_ref().map_or(Source::Text(text.text.as_bytes()), |z| Source::Zebin(z));
    let module = Module::load_with(device, "random", source, &options)?;
    let kernel = module.kernel("k")?;
    data.write(0, &p.data)?;
    let dump = device.buffer("dump", text.image.len() as u64)?;
    let places = (0..text.stores()).flat_map(|k| (dump.address() + (k * STORE) as u64).to_le_bytes());
    let places: Vec<u8> = places.collect();
    let mut launch = match p.local {
        None => {
            Launch::threads(&[p.groups as u32], 1).local_memory(SLM as u64).arg(ArgKey::Surface(BTI), data)
        }
        Some(local) => {
            let local = local.map(|n| n as u64);
            let global = [local[0] * p.groups as u64, local[1], local[2]];
            Launch::range(&global, &local).arg(text.inputs.len() as u32, data)
        }
    };
    launch = launch.host_threads(1).limit(1_000_000);
    for (k, i) in text.inputs.iter().enumerate() {
        let bytes = match i.what {
            What::Image => text.image.clone(),
            What::Where => places.clone(),
            What::Base => data.address().to_le_bytes().to_vec(),
            // Of a compiled kernel the payload has the surface's index; the launch of threads finds one.
            What::Surface if p.local.is_none() => {
                launch = launch.arg(k as u32, data);
                continue;
            }
            What::Surface => BTI.to_le_bytes().to_vec(),
            What::Var(v) => {
                let home = text.homes[v];
                text.image[home..home + i.bytes].to_vec()
            }
            What::Upper(v) => {
                let home = text.homes[v] + HALF * p.vars[v].ty.size();
                text.image[home..home + i.bytes].to_vec()
            }
        };
        launch = launch.arg(k as u32, bytes);
    }
    Ok((kernel, launch, dump))
}

/// Runs a program's text on an engine.
fn run(
    (device, data): (&Device, &Buffer),
    p: &Program,
    text: &Text,
    how: How,
    count: Option<&Count>,
) -> Result<Left, Error> {
    let (kernel, mut launch, dump) = prepare((device, data), p, text)?;
    match how {
        How::Plain(engine) => launch = launch.engine(engine),
        How::Observed(engine) => launch = launch.engine(engine).registers(["R0"]),
    }
    if let Some(count) = count
        && how == How::Plain(Engine::Native)
    {
        count.native.fetch_add(kernel.is_native().into(), Ordering::Relaxed);
        count.join(p, &kernel);
    }
    let outcome = device.run(&kernel, &launch)?;
    Ok(outcome.fault.is_none().then(|| (dump.to_vec(), data.to_vec())))
}

/// What differs between what the model says and what an engine left.
fn differs(p: &Program, text: &Text, want: &Result<State, Stop>, got: &Left) -> Option<String> {
    let (want, (dump, data)) = match (want, got) {
        (Ok(want), Some(got)) => (want, got),
        (Err(_), None) => return None,
        (Ok(_), None) => return Some("it faults".into()),
        (Err(stop), Some(_)) => return Some(format!("it ends well, though by the model it ends {stop:?}")),
    };
    // Of variables of a register of their own, channels that are off leave nothing.
    let last = p.mask(p.threads() - 1);
    for (k, (v, home)) in p.vars.iter().zip(&text.homes).enumerate() {
        let size = v.ty.size();
        let whole = v.home == Home::Image || v.init.len() == 1;
        for (e, want) in want.vars[k].iter().enumerate().filter(|(e, _)| whole || last >> e & 1 != 0) {
            let mut bits = [0; 8];
            bits[..size].copy_from_slice(&dump[home + e * size..][..size]);
            let got = u64::from_le_bytes(bits);
            if got != *want {
                return Some(format!("R{k}[{e}]:{} is 0x{got:x}, by the model 0x{want:x}", v.ty.name()));
            }
        }
    }
    for (k, home) in text.preds.iter().enumerate() {
        let d = &dump[*home..];
        let got = u32::from_le_bytes([d[0], d[1], d[2], d[3]]);
        if got != want.preds[k] {
            return Some(format!("P{} is 0x{got:x}, by the model 0x{:x}", k + 1, want.preds[k]));
        }
    }
    let at = data.iter().zip(&want.data).position(|(a, b)| a != b)?;
    Some(format!("byte {at} of the buffer is 0x{:x}, by the model 0x{:x}", data[at], want.data[at]))
}

/// As [`compare`]; that an engine panics is wrong, too.
fn check(p: &Program, ways: &[How], count: Option<&Count>) -> Option<String> {
    let compared = std::panic::catch_unwind(AssertUnwindSafe(|| compare(p, ways, count)));
    compared.unwrap_or_else(|e| {
        let text =
            e.downcast_ref::<String>().map(String::as_str).or_else(|| e.downcast_ref::<&str>().copied());
        Some(format!("it panics: {}", text.unwrap_or("of something without a text")))
    })
}

/// Runs a program every way and compares; what is wrong, if anything is.
fn compare(p: &Program, ways: &[How], count: Option<&Count>) -> Option<String> {
    let Some(platform) = Platform::from_name(p.device.name) else {
        return Some(format!("there is no platform {}", p.device.name));
    };
    let text = print(p);
    let device = Device::new(Config::new(platform).memory(1 << 20));
    let data = match device.buffer("data", p.data.len() as u64) {
        Ok(data) => data,
        Err(e) => return Some(e.to_string()),
    };
    let want = eval::run(p, data.address());
    if let Some(count) = count {
        count.programs.fetch_add(1, Ordering::Relaxed);
        match &want {
            Err(Stop::Long) => drop(count.long.fetch_add(1, Ordering::Relaxed)),
            Err(Stop::Astray) => drop(count.astray.fetch_add(1, Ordering::Relaxed)),
            Ok(_) => {}
        }
        let lines = text.text.lines().filter(|l| l.starts_with("    ")).count();
        count.statements.fetch_add(lines as u64, Ordering::Relaxed);
    }
    if want == Err(Stop::Long) {
        return None;
    }
    for how in ways {
        match run((&device, &data), p, &text, *how, count) {
            Ok(left) => {
                if let Some(what) = differs(p, &text, &want, &left) {
                    return Some(format!("{how:?}: {what}"));
                }
            }
            Err(e) => return Some(format!("{how:?}: it is refused: {e}")),
        }
    }
    None
}

/// A program on which an engine and the model differ.
#[derive(Debug)]
pub struct Failure {
    /// Its seed.
    pub seed: u64,
    /// What differs, on the small program.
    pub what: String,
    /// The small program's text.
    pub text: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "program {}: {}\n{}", self.seed, self.what, self.text)
    }
}

/// Runs the programs of these seeds; stops at `most` failures, each made small.
pub fn hold(seeds: std::ops::Range<u64>, ways: &[How], count: &Count, most: usize) -> Vec<Failure> {
    let mut out = Vec::new();
    for seed in seeds {
        if out.len() >= most {
            break;
        }
        let p = random::program(seed);
        if let Some(what) = check(&p, ways, Some(count)) {
            // A smaller program fails the same way, not by what was taken away.
            let kind = |what: &str| {
                ["refused", "faults", "ends well", "panics"].iter().position(|way| what.contains(way))
            };
            let small = shrink(&p, &mut |q| check(q, ways, None).is_some_and(|w| kind(&w) == kind(&what)));
            let what = check(&small, ways, None).unwrap_or(what);
            out.push(Failure { seed, what, text: brief(&print(&small).text) });
        }
    }
    out
}

/// Do sums that overflow stop in this build?
fn overflow_checked() -> bool {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let sum = std::panic::catch_unwind(|| std::hint::black_box(u8::MAX) + std::hint::black_box(1));
    std::panic::set_hook(hook);
    sum.is_err()
}

/// What programs differed in once, and whose it was.
const PAST: &str = "\
## Differences found and fixed

| difference | in | now |
| --- | --- | --- |
| a compare of all channels was removed if the next instruction wrote only some bits of its predicate, because this write was \
taken for a write of all bits | native code | fixed: accesses to predicates are tracked by bits |
| a compare of 32 channel numbers as words read the old content of the register, because the known numbers had not been \
written to it | native code with AVX-512 | fixed: every access to narrow elements first checks whether they are known |
| a value that was stored before a barrier was read behind it as what the memory had held before: stores of a block change places in code for \
AVX2, and the places where memory is wanted did not go with them (program 588 in OpenCL C) | native code with AVX2 | fixed: such a place \
follows everything that was before it |
| a vector was taken to hold what it starts with, although a wide instruction had written it together with another vector whose bounds are \
not kept: a compare with its opposite was done in 32 bits that do not hold it (program 9202132) | native code | fixed: what is not kept for \
all of a destination is not known for any of it |
| bounds of a region that is negated were those of the region: of the smallest number a compare with its opposite was done in 32 bits \
that do not hold it (program 9301441) | native code | fixed: modifiers count for all regions |
| a rounding of one half of a vector was taken for that of the other half: what makes a value was compared without the place in memory \
that it reads where an immediate follows, in a pass that was new (program 5000011 and a dozen more of 3,000) | native code with AVX2 | \
fixed: all of it is compared |
| whether a type holds a number was asked of types of 64 bits, too, by a shift of 64 bits: builds with overflow checks panicked at compares of quads (program 3100024 and one of sixty) | native code with AVX-512 | fixed: only types narrower than dwords are asked |
| a number in a sum of three terms was taken for an offset within a private array where it is the place of a second array of the same length: accesses of this array ended in F0001 (program 4157709 in OpenCL C) | optimised programs, both engines | fixed: no offset is as long as its array, and the arrays that are found fill the private memory |
";

/// The page `docs/RANDOM-PROGRAMS.md`.
pub fn report(
    first: u64,
    programs: u64,
    count: &Count,
    failures: &[Failure],
    time: std::time::Duration,
) -> String {
    let of = |n: &AtomicU64| n.load(Ordering::Relaxed);
    let ran = of(&count.programs);
    let checks = if overflow_checked() { "with overflow checks" } else { "without overflow checks" };
    let build = if cfg!(debug_assertions) { "a debug build" } else { "an optimised build" };
    let seeds: Vec<String> = failures.iter().map(|f| f.seed.to_string()).collect();
    let differ = if seeds.is_empty() { "none".to_owned() } else { format!("programs {}", seeds.join(", ")) };
    format!(
        "\
# Random programs

Written by `cargo run --profile checked -p envisa-suite -- random --programs {programs} --first {first} --write`
({build} {checks}, {time:.0?}).

Each program runs in four ways:

- in the interpreter without an observer, as the optimiser transformed it;
- in the interpreter with an observer, instruction by instruction as written;
- as native code, where the program has native code (the interpreter executes the rest);
- in the model of the specification (`crates/envisa-model`), which shares no type, table or function with the engines. Its
  integers are 128-bit numbers, its floats are big integers with an exponent and are rounded in one function, and its control
  flow is sets of channels that walk through a tree.

All registers, predicates and memory are compared bit by bit. The programs have:

- all integer types and `f`, `hf`, `df`, in every mixture that the specification allows; source modifiers, also of unsigned
  sources and of the smallest numbers; saturation; regions; immediates at the limits of their types;
- predicates with `.any` and `.all`; compares, logic and `setp` write them for one channel up to all channels, and other
  instructions read them as numbers;
- `sel`, `mov` and arithmetic whose destination overlaps a source, at every width and for every type;
- the execution sizes that compilers use, and parts of the execution mask;
- rounding modes and flushed denormals, which some programs also change in branches and loops;
- divergent branches, loops that channels leave one by one, exits from nested blocks, subroutines, and functions that are
  called by name and by address, in any order of the text;
- barriers of every kind, as one instruction or as signal and wait, in the kernel, in a subroutine or in a function;
- gathers and scatters whose indices are extended, scaled, added to or wrapped, across blocks and calls, while the variables
  from which the indices were computed change.

Half of the programs resemble those of compilers. Their instructions access vectors as a whole, by eight channels, or as one half
of 32 channels with registers of its own, so that two instructions do what one does elsewhere. The vectors are computed from local
ids, scalars and immediates. Instructions of other kinds overwrite them under predicates, in branches and loops. Gathers and
scatters use them as addresses of a surface and of shared local memory; shuffles read them through address registers, at known
places and at others. These programs are launched as threads, or as work-items in
one to three dimensions, with several groups and several threads that run one after another, the last of which has only some of its
channels.

The programs run on SKL, TGLLP, DG2 and PVC. If a program must fault, every run of it has to fault.

| | |
| --- | --- |
| programs | {ran} |
| instructions in them | {} |
| of these, programs with native code on the host | {} |
| of these, programs that must fault | {} |
| not run, because they take too long in the model | {} |
| **differ from the model** | **{differ}** |

If a program differs, the command reduces and prints it, and does not write this page. A program is determined by its number:
`--first N --programs 1` runs one again. CI runs 30,000 programs with AVX-512 and AVX2; the first number depends on the date.

One million programs, 0 to 999,999 with 165,925,088 instructions, ran once on a CPU with AVX-512 (commit 2efe851): 29,775 had to
fault, all had native code, and none differed. The generator already made every kind of statement above: predicates written in parts,
destinations that overlap sources, modes that change, barriers in what is called.

Programs 20,000,000 to 20,339,999 ran once in turns of 5,000, 225,000 of them with AVX-512 and 115,000 held to AVX2 (commit 926d162): none
differed.

{PAST}",
        of(&count.statements),
        of(&count.native),
        of(&count.astray),
        of(&count.long),
    )
}

/// Every way.
pub const WAYS: [How; 3] =
    [How::Plain(Engine::Interpreter), How::Observed(Engine::Interpreter), How::Plain(Engine::Native)];
