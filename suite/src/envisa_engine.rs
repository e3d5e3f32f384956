//! The one place where the suite uses envisa's engines.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use envisa::internals;
use envisa::lower::Op;
use envisa::machine::observer::Observer;
use envisa::machine::thread::{Machine, Mask};
use envisa::{Arg, Buffer, Config, Device as Gpu, FaultKind, Finding, LoadOptions, Module, Source};

use crate::corpus;
use crate::kernel::{Device, KernelFile};
use crate::launch::{ArgValue, Launch, Outputs};
use crate::native_coverage::Executed;

/// Memory of the machine, in bytes: more is a mistake in a header.
const MEMORY: u64 = 8 << 30;
/// Instructions that one thread of a kernel may execute: a kernel of the suite that takes more hangs.
const LIMIT: u64 = 2_000_000_000;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// envisa refuses an instruction, and names it.
    Unsupported(String),
    /// A fault, an error or a crash where there should have been a result.
    Failed(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Failure::Unsupported(why) | Failure::Failed(why)) = self;
        f.write_str(why)
    }
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}

/// What the checks say of a launch.
#[derive(Debug)]
pub struct Checked {
    /// What they found.
    pub findings: Vec<Finding>,
    /// What they did not look at, and why.
    pub not_checked: Option<String>,
}

/// A kernel loaded with its buffers, ready to be launched any number of times.
pub struct Loaded<'a> {
    launch: &'a Launch,
    gpu: Gpu,
    kernel: envisa::Kernel,
    how: envisa::Launch,
    buffers: Vec<Option<Buffer>>,
}

/// A message of native code.
#[derive(Clone, Copy, Debug)]
pub struct Missed {
    /// Its number in its function.
    pub instruction: u32,
    /// How often the machine executed it, as it went elsewhere than the last time.
    pub misses: u64,
    /// How often it was executed.
    pub executed: u64,
}

/// Counts the messages of a run, by function and number.
#[derive(Default)]
struct Messages(HashMap<(u16, u32), u64>);

impl Observer for Messages {
    fn fork(&self) -> Messages {
        Messages::default()
    }

    fn wants_all(&self, _: u32) -> bool {
        true
    }

    fn merge(&mut self, other: Messages) {
        for (place, n) in other.0 {
            *self.0.entry(place).or_default() += n;
        }
    }

    fn before(&mut self, m: &Machine<'_>, pc: u32, mask: Mask) {
        let i = &m.env.program.code()[pc as usize];
        if i.op == Op::Message && mask != 0 {
            *self.0.entry((i.function, i.source)).or_default() += 1;
        }
    }

    fn after(&mut self, _: &Machine<'_>, _: u32, _: Mask, _: u32) {}
}

impl<'a> Loaded<'a> {
    /// Loads `kernel`'s product for `device` and makes the launch's buffers; `jobs`: host threads, 0 for all.
    ///
    /// # Errors
    /// Where the product is missing or does not load, or an argument cannot be passed.
    pub fn new(
        kernel: &KernelFile,
        device: Device,
        launch: &'a Launch,
        jobs: usize,
    ) -> Result<Loaded<'a>, Failure> {
        Loaded::with(kernel, device, launch, jobs, false)
    }

    /// As [`Loaded::new`], on a device that leaves room between buffers; every launch is under the checks.
    ///
    /// # Errors
    /// As [`Loaded::new`].
    pub fn checking(
        kernel: &KernelFile,
        device: Device,
        launch: &'a Launch,
        jobs: usize,
    ) -> Result<Loaded<'a>, Failure> {
        Loaded::with(kernel, device, launch, jobs, true)
    }

    fn with(
        kernel: &KernelFile,
        device: Device,
        launch: &'a Launch,
        jobs: usize,
        check: bool,
    ) -> Result<Loaded<'a>, Failure> {
        let path = corpus::corpus_path(&corpus::corpus_folder(), device, kernel);
        let bytes = std::fs::read(&path).map_err(|e| failed(format!("{}: {e}", path.display())))?;
        Loaded::of(kernel, &path, &bytes, launch, (jobs, check))
    }

    /// As [`Loaded::new`], of a product's bytes, whose dumps stand beside `path`; host threads, and whether launches are
    /// under the checks.
    ///
    /// # Errors
    /// As [`Loaded::new`].
    pub fn of(
        kernel: &KernelFile,
        path: &std::path::Path,
        bytes: &[u8],
        launch: &'a Launch,
        (jobs, check): (usize, bool),
    ) -> Result<Loaded<'a>, Failure> {
        let source = Source::Zebin(bytes);
        let Some(platform) = source.platform().map_err(failed)? else {
            return Err(failed(format!("{}: for no platform", path.display())));
        };
        let gpu = Gpu::new(Config::new(platform).memory(MEMORY).threads(jobs).red_zones(check));
        let options =
            LoadOptions { visa: corpus::dumps(path, source).map_err(failed)?, ..LoadOptions::default() };
        let module = Module::load_with(&gpu, &kernel.id, source, &options).map_err(failed)?;
        let loaded = module.kernel(kernel.function()).map_err(failed)?;
        let dims = launch.dims as usize;
        let mut how = envisa::Launch::range(&launch.global[..dims], &launch.local[..dims])
            .offset(&launch.offset[..dims])
            .limit(LIMIT)
            .check(check);
        let mut buffers = Vec::new();
        for (i, a) in (0u32..).zip(&launch.args) {
            let (arg, buffer) = match &a.value {
                ArgValue::Buffer(v) => {
                    let buffer = gpu.buffer_from(&a.name, &v.bytes).map_err(failed)?;
                    (Arg::from(&buffer), Some(buffer))
                }
                ArgValue::Image(desc, v) => {
                    let buffer = gpu.buffer_from(&a.name, &v.bytes).map_err(failed)?;
                    (Arg::from(gpu.image(desc, &buffer).map_err(failed)?), Some(buffer))
                }
                ArgValue::Scalar(bytes) => (Arg::from(&bytes[..]), None),
                ArgValue::Local(n) => (Arg::local(*n), None),
                ArgValue::Sampler(s) => (Arg::from(*s), None),
            };
            how = how.arg(i, arg);
            buffers.push(buffer);
        }
        Ok(Loaded { launch, gpu, kernel: loaded, how, buffers })
    }

    /// The launch, to be put on a stage.
    ///
    /// # Errors
    /// A launch that envisa refuses.
    pub fn start(&self) -> Result<envisa::Run, Failure> {
        self.gpu.launch(&self.kernel, self.how.clone()).map_err(failed)
    }

    /// The memory of its arguments, by index.
    pub fn memory(&self) -> &[Option<Buffer>] {
        &self.buffers
    }

    /// Has this engine run it from now on.
    pub fn engine(&mut self, engine: envisa::Engine) {
        self.how = self.how.clone().engine(engine);
    }

    /// Has the kernel native code, on this host?
    pub fn is_native(&self) -> bool {
        self.kernel.is_native()
    }

    /// What native code there is.
    ///
    /// # Errors
    /// Why there is none.
    pub fn native(&self) -> Result<String, String> {
        let start = crate::clock::start();
        self.kernel.native_listing()?;
        let listing = self.kernel.native_listing()?;
        let seconds = start.seconds() / 2.0;
        let heads: Vec<&str> = listing.lines().filter(|l| l.starts_with("; $")).collect();
        let mut why: Vec<(&str, usize)> = Vec::new();
        let left: Vec<&str> =
            heads.iter().filter_map(|l| Some(l.split_once(" by the interpreter: ")?.1)).collect();
        for reason in &left {
            match why.iter_mut().find(|w| w.0 == *reason) {
                Some(w) => w.1 += 1,
                None => why.push((reason, 1)),
            }
        }
        let why: Vec<String> = why.iter().map(|(w, n)| format!("; {n} {w}")).collect();
        let all = heads.len();
        let us = 1e6 * seconds / all.max(1) as f64;
        Ok(format!(
            "{}/{all} native, {us:.1} µs an instruction with its listing{}",
            all - left.len(),
            why.concat()
        ))
    }

    /// Makes the native code of the launch, or finds it made: what it is, and the seconds that took.
    ///
    /// # Errors
    /// There is none.
    pub fn compile(&self) -> Result<(envisa::Compiled, f64), Failure> {
        let how = self.how.clone().engine(envisa::Engine::Native);
        let start = crate::clock::start();
        let compiled = self.gpu.compile(&self.kernel, how).map_err(failed)?;
        Ok((compiled, start.seconds()))
    }

    /// What share of the executed instructions has native code, 0 to 1; `None` without native code.
    ///
    /// # Errors
    /// As [`Loaded::run`].
    pub fn native_share(&self) -> Result<Option<f64>, Failure> {
        let observed = self.how.clone().engine(envisa::Engine::Native).statistics(true);
        let outcome = self.gpu.run(&self.kernel, &observed).map_err(failed)?;
        let native = outcome.statistics.and_then(|s| s.native);
        Ok(native.filter(|n| n.refused.is_none()).map(|n| n.share))
    }

    /// Launches once, observed: what was executed, what native code leaves of it to the interpreter, and what native
    /// code is made for.
    ///
    /// # Errors
    /// As [`Loaded::run`].
    pub fn executed(&mut self) -> Result<(Executed, Option<&'static str>), Failure> {
        let observed = self.how.clone().engine(envisa::Engine::Native).statistics(true);
        let outcome = self.gpu.run(&self.kernel, &observed).map_err(failed)?;
        if let Some(fault) = &outcome.fault {
            return Err(failed(fault));
        }
        let statistics = outcome.statistics.ok_or_else(|| failed("a run without statistics"))?;
        let native = statistics.native.ok_or_else(|| failed("statistics without native code's"))?;
        let instructions = statistics.instructions;
        let mut left: Vec<(String, u64)> =
            native.refused.into_iter().map(|why| (why, instructions)).collect();
        for l in native.left {
            match left.iter_mut().find(|(why, _)| *why == l.reason) {
                Some((_, n)) => *n += l.count,
                None => left.push((l.reason.to_owned(), l.count)),
            }
        }
        Ok((Executed { instructions, left }, native.level))
    }

    /// Launches natively, once: how often native code did not find what a message goes to where it went last, message by
    /// message, and how often each is executed.
    ///
    /// # Errors
    /// As [`Loaded::run`].
    pub fn misses(&mut self) -> Result<Vec<Missed>, Failure> {
        // Of messages that native code has no way for, all are the interpreter's.
        let observed = self.how.clone().engine(envisa::Engine::Native).statistics(true);
        let outcome = self.gpu.run(&self.kernel, &observed).map_err(failed)?;
        let native = outcome.statistics.and_then(|s| s.native);
        let native = native.ok_or_else(|| failed("statistics without native code's"))?;
        if let Some(why) = native.refused {
            return Err(failed(why));
        }
        self.reset();
        let mut messages = Messages::default();
        let done = internals::observe(&self.gpu, &self.kernel, &self.how, &mut messages).map_err(failed)?;
        if let Some(fault) = &done.0.fault {
            return Err(failed(fault));
        }
        self.reset();
        let launch = self.how.clone().engine(envisa::Engine::Native);
        let (_, asked) =
            internals::run_counting_fallbacks(&self.gpu, &self.kernel, &launch).map_err(failed)?;
        let program = internals::optimized(&self.kernel);
        let mut out = Vec::new();
        for (pc, (i, misses)) in (0..).zip(program.code().iter().zip(asked)) {
            if i.op != Op::Message || native.left.iter().any(|l| l.instruction == i.source) {
                continue;
            }
            // One for all channels is executed as often as each that it was made of.
            let of = std::iter::once(i.source).chain(program.upper(pc).iter().map(|u| u.source));
            let executed = of.filter_map(|source| messages.0.get(&(i.function, source))).max();
            out.push(Missed { instruction: i.source, misses, executed: executed.copied().unwrap_or(0) });
        }
        Ok(out)
    }

    /// Gives every buffer its initial content.
    pub fn reset(&mut self) {
        for (a, buffer) in self.launch.args.iter().zip(&self.buffers) {
            if let (ArgValue::Buffer(v) | ArgValue::Image(_, v), Some(buffer)) = (&a.value, buffer) {
                buffer.write(0, &v.bytes).expect("a buffer takes what it was made of");
            }
        }
    }

    /// Launches once: what it printed, and the seconds from the call to the end of the last group.
    ///
    /// # Errors
    /// A fault of the kernel, with its place, or a launch that envisa refuses.
    pub fn run(&mut self) -> Result<(String, f64), Failure> {
        let start = crate::clock::start();
        let outcome = self.gpu.run(&self.kernel, &self.how).map_err(failed)?;
        let seconds = start.seconds();
        match &outcome.fault {
            None => Ok((outcome.printed, seconds)),
            Some(fault) if fault.kind == FaultKind::Unsupported => {
                Err(Failure::Unsupported(fault.message.clone()))
            }
            Some(fault) => Err(failed(fault)),
        }
    }

    /// Launches once natively, in groups of another shape than are asked for; `false`: it has to run in its own.
    ///
    /// # Errors
    /// As [`Loaded::run`].
    pub fn run_in_other_groups(&mut self) -> Result<bool, Failure> {
        let outcome = internals::run_in_other_groups(&self.gpu, &self.kernel, &self.how).map_err(failed)?;
        match outcome.as_ref().and_then(|o| o.fault.as_ref()) {
            Some(fault) => Err(failed(fault)),
            None => Ok(outcome.is_some()),
        }
    }

    /// Launches once: its seconds alone.
    ///
    /// # Errors
    /// As [`Loaded::run`], in words.
    pub fn seconds(&mut self) -> Result<f64, String> {
        self.run().map(|(_, seconds)| seconds).map_err(|e| e.to_string())
    }

    /// Launches once under the checks.
    ///
    /// # Errors
    /// As [`Loaded::run`].
    pub fn check(&mut self) -> Result<Checked, Failure> {
        let outcome = self
            .gpu
            .run(&self.kernel, self.how.clone().check(true).footprint(true).rough_reads(true))
            .map_err(failed)?;
        match &outcome.fault {
            None => Ok(Checked {
                findings: outcome.findings.unwrap_or_default(),
                not_checked: outcome.not_checked,
            }),
            Some(fault) => Err(failed(fault)),
        }
    }

    /// The content of the arguments that have a check.
    pub fn outputs(&mut self) -> Outputs {
        let mut values = Vec::new();
        for (i, a) in self.launch.args.iter().enumerate() {
            if let (true, ArgValue::Buffer(v) | ArgValue::Image(_, v), Some(buffer)) =
                (a.check.is_some(), &a.value, &self.buffers[i])
            {
                let mut out = v.clone();
                out.bytes = buffer.to_vec();
                values.push((i, out));
            }
        }
        Outputs { values, printed: String::new() }
    }
}

/// Runs `kernel`, compiled for `device`, once on envisa by an engine with `jobs` host threads (0: all).
///
/// # Errors
/// Why there is no result. A panic of envisa is one of the reasons: the run goes on.
pub fn run_on_envisa(
    kernel: &KernelFile,
    device: Device,
    launch: &Launch,
    (engine, jobs): (envisa::Engine, usize),
) -> Result<Outputs, Failure> {
    let one = || {
        let mut loaded = Loaded::new(kernel, device, launch, jobs)?;
        loaded.engine(engine);
        let (printed, _) = loaded.run()?;
        Ok(Outputs { printed, ..loaded.outputs() })
    };
    catch_unwind(AssertUnwindSafe(one)).unwrap_or_else(|payload| {
        let why = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("of an unknown kind");
        Err(failed(format!("envisa panicked: {why}")))
    })
}
