//! Jobs: one kernel, its sizes, arguments, outputs and expectations, from the command line or a TOML file.
//!
//! ```toml
//! file = "vadd.zebin"           # or vadd.cl, with a device
//! kernel = "vadd"               # may be left out if there is only one
//! global = [1024]
//! local = [64]
//! timeout = 60                  # seconds, after which the run is ended
//! check = true                  # look for uninitialised reads and colliding stores
//! as_is = true                  # in the build that runs without checks, rather than in one of their own
//! stats = true                  # count instructions, channels, traffic
//!
//! [args]                        # by name, or by index as "0"
//! a = "iota:f32:1024"
//! b = "fill:f32:1024:1"
//! c = "zeros:f32:1024"
//! n = 1024
//! picture = { image = "2d:640,480:rgba:unorm8", value = "@in.png" }
//! nearest = { sampler = "clamp_to_edge:nearest:unnormalized" }
//!
//! [[outputs]]
//! arg = "c"
//! file = "c.npy"                # written if given
//! print = 8                     # elements printed, if given
//! expect = "@expected.npy"      # compared if given
//! check = "exact"               # or "ulp 4", "abs 1e-6", "rel 1e-3 abs 1e-6", "set"
//! ```
//!
//! Hand-written vISA (`.visaasm`, `.isa`) has no metadata: instead of `global` and `local` a job gives
//! `platform`, `groups`, `threads`, `simd` and `slm`, and arguments are named as `.input` names them.
//!
//! Paths are relative to the file.

mod arguments;
mod error;
mod other_driver;
mod portable;
mod results;
mod sizes;
mod spans;
mod template;

pub use error::JobError;
pub use other_driver::{Parameter, PassedValue};
pub use portable::{Portable, without_arguments};
pub use results::Delivered;
pub use spans::KeySpans;
pub use template::{template, template_by_hand};

use crate::files::{self, Kind};
use crate::values::{ElemType, HostValue, ValueSpec};
use arguments::{BufferContent, Target};
use envisa::diag::Files;
use envisa::{
    Arg, ArgKey, Buffer, Cancel, Config, Device, FaultKind, Kernel, Launch, LoadOptions, Module, Outcome,
    Progress, Source as Form, SourceText,
};
use envisa_ocloc::cache::Cache;
use envisa_ocloc::{Build, BuildError, Lines, Rewrite};
use error::no_kernel;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A job as it is written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// A zebin, OpenCL C or SPIR-V to compile first, or hand-written vISA; `-` is standard input.
    pub file: PathBuf,
    /// The kernel; empty for the only one.
    #[serde(default)]
    pub kernel: String,
    /// The device to compile for; must fit the zebin if that is given.
    #[serde(default)]
    pub device: Option<String>,
    /// Options of the compiler.
    #[serde(default)]
    pub options: String,
    /// The compiler, if it is not on the PATH.
    #[serde(default)]
    pub ocloc: Option<PathBuf>,
    /// Where what is compiled is kept, and taken from.
    #[serde(skip)]
    pub cache: Option<Arc<Cache>>,
    /// Work-items, one to three dimensions.
    #[serde(default)]
    pub global: Vec<u64>,
    /// Work-items a group; what the kernel requires, or a guess, if empty.
    #[serde(default)]
    pub local: Vec<u32>,
    /// First global id.
    #[serde(default)]
    pub offset: Vec<u64>,
    /// Hand-written code: the platform whose rules it follows.
    #[serde(default)]
    pub platform: Option<String>,
    /// Hand-written code: thread groups, one to three dimensions; one if empty.
    #[serde(default)]
    pub groups: Vec<u32>,
    /// Hand-written code: threads a group; one if not said.
    #[serde(default)]
    pub threads: Option<u32>,
    /// Hand-written code: channels a thread; by default the `SimdSize` attribute or the widest instruction.
    #[serde(default)]
    pub simd: Option<u32>,
    /// Hand-written code: shared local memory a group, in bytes; 64 KiB if not said.
    #[serde(default)]
    pub slm: Option<u64>,
    /// Arguments by name or index.
    #[serde(default)]
    pub args: BTreeMap<String, ArgText>,
    /// What to do with results.
    #[serde(default)]
    pub outputs: Vec<Output>,
    /// Host threads; 0 for all cores.
    #[serde(default)]
    pub jobs: usize,
    /// What runs the kernel.
    #[serde(skip)]
    pub engine: envisa::Engine,
    /// Branches and calls a thread may take; 0 for no limit.
    #[serde(default)]
    pub limit: u64,
    /// Seconds after which the run is ended.
    #[serde(default)]
    pub timeout: Option<f64>,
    /// How what is compiled is rewritten: for a debugger, or otherwise than `check` wants. Without it, for checks if there
    /// are some.
    #[serde(skip)]
    pub rewrite: Option<Rewrite>,
    /// What is compiled is compiled as it is, also for checks.
    #[serde(default)]
    pub as_is: bool,
    /// Look for uninitialised reads and colliding stores.
    #[serde(default)]
    pub check: bool,
    /// Look for what is sound and seldom meant, too: see [`Launch::hints`].
    #[serde(default)]
    pub check_hints: bool,
    /// In which order groups start and threads take turns: `forward`, `reverse`, `random:SEED`. Without it, forward.
    #[serde(default)]
    pub order: Option<String>,
    /// Count instructions, channels, traffic.
    #[serde(default)]
    pub stats: bool,
    /// Collect which bytes of buffers are accessed.
    #[serde(skip)]
    pub footprint: bool,
    /// Profile it.
    #[serde(skip)]
    pub profile: bool,
    /// Profile it, with what threads do when.
    #[serde(skip)]
    pub trace: bool,
    /// Take vISA that the verifier refuses, as long as it is structurally sound.
    #[serde(default)]
    pub no_verify: bool,
    /// Texts that the module was compiled from, for reports to quote; what is compiled here is among them.
    #[serde(default)]
    pub sources: Vec<PathBuf>,
    /// Where its keys stand, if it was read from a file.
    #[serde(skip)]
    pub places: KeySpans,
}

/// An argument as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a number, a value (\"iota:f32:16\", \"@file.npy\"), { image, value } or { sampler }"
)]
pub enum ArgText {
    /// A number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A value of [`crate::values`]'s notation.
    Text(String),
    /// An image and its texels.
    Image {
        /// Shape and format: `2d:W,H:rgba:unorm8`.
        image: String,
        /// Texels.
        value: String,
    },
    /// A sampler: `clamp_to_edge:nearest:unnormalized`.
    Sampler {
        /// See [`crate::images::parse_sampler`].
        sampler: String,
    },
}

impl ArgText {
    /// As the command line has it.
    fn text(&self) -> String {
        match self {
            ArgText::Int(n) => n.to_string(),
            ArgText::Float(x) => x.to_string(),
            ArgText::Text(t) => t.clone(),
            ArgText::Image { image, value } => format!("image:{image}={value}"),
            ArgText::Sampler { sampler } => format!("sampler:{sampler}"),
        }
    }
}

/// What to do with an argument's content after the run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Name or index of the argument; of hand-written code also a variable.
    pub arg: String,
    /// Where to write it.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// How many elements to print.
    #[serde(default)]
    pub print: Option<u64>,
    /// What it should be.
    #[serde(default)]
    pub expect: Option<String>,
    /// How it is compared; exact if not said.
    #[serde(default)]
    pub check: Option<String>,
    /// Shape for writing and printing, slowest dimension first: `[480, 640, 4]`.
    #[serde(default)]
    pub shape: Option<Vec<u64>>,
}

/// Greatest size of one argument, and of all memory of a job, in bytes.
pub const MEMORY_LIMIT: u64 = 8 << 30;
/// Greatest job file, in bytes.
const JOB_LIMIT: u64 = 1 << 20;
/// Branches and calls that a thread takes at most where groups run in reverse: those that wait for a lower one would wait for ever. Nothing
/// promises that lower ones run first, but devices start them in this order, and programs rely on it.
const MOST_IN_REVERSE: u64 = 1 << 20;
/// Longest timeout, in seconds.
pub const MAX_TIMEOUT: f64 = 1e7;
/// Most host threads that a job may ask for.
pub const MAX_JOBS: usize = 1024;

impl Job {
    /// Reads the text of a TOML file; its paths stay as they are.
    ///
    /// # Errors
    /// A sentence with the place in the text.
    pub fn parse(text: &str) -> Result<Job, String> {
        toml::from_str(text).map_err(|e| e.to_string().trim_end().to_owned())
    }

    /// Reads a TOML file; its paths become relative to the current folder.
    ///
    /// # Errors
    /// [`JobError::Usage`] where it cannot be read, [`JobError::Job`] where something in it is wrong.
    pub fn read(path: &Path) -> Result<Job, JobError> {
        let name = path.display().to_string();
        let text =
            String::from_utf8(files::read(path, JOB_LIMIT).map_err(JobError::Usage)?).map_err(|e| {
                JobError::Usage(format!(
                    "{name}: is not UTF-8, from byte {} on",
                    e.utf8_error().valid_up_to()
                ))
            })?;
        let mut job: Job = toml::from_str(&text).map_err(|e| KeySpans::toml_error(&name, &text, &e))?;
        job.places = KeySpans::of(&name, &text);
        job.check_values()?;
        let folder = path.parent().unwrap_or(Path::new(""));
        job.file = folder.join(&job.file);
        for source in &mut job.sources {
            *source = folder.join(&*source);
        }
        for arg in job.args.values_mut() {
            match arg {
                ArgText::Text(text) | ArgText::Image { value: text, .. } => {
                    rebase_file_argument(text, folder)
                }
                _ => {}
            }
        }
        for output in &mut job.outputs {
            output.file = output.file.take().map(|f| folder.join(f));
            if let Some(expect) = &mut output.expect {
                rebase_file_argument(expect, folder);
            }
        }
        Ok(job)
    }

    /// Does it look for anything?
    fn checks(&self) -> bool {
        self.check || self.check_hints
    }

    /// The texts that the module was compiled from, as far as the user named them: the module's own names of its
    /// sources are not followed.
    fn sources(&self, module: &Source) -> Result<Vec<SourceText>, JobError> {
        let mut sources = Vec::new();
        if module.compiled_now && self.file.extension().is_some_and(|e| e == "cl") {
            let text = files::read(&self.file, files::MAX_INPUT).map_err(JobError::Usage)?;
            sources.push(SourceText { name: module.name.clone(), text });
        }
        for file in &self.sources {
            let text = files::read(file, files::MAX_INPUT).map_err(JobError::Usage)?;
            sources.push(SourceText { name: file.display().to_string(), text });
        }
        Ok(sources)
    }

    /// Dumps of the compiler, beside the file, of kernels that the zebin has no vISA for: `KERNEL.visaasm`, or what
    /// the compiler calls them, which ends so; and those of the functions that they call, `…_KERNEL_f0.visaasm`.
    fn compiler_dumps(&self, module: &Form<'_>) -> Result<Vec<SourceText>, JobError> {
        let missing = module.kernels_without_visa().unwrap_or_default();
        let mut texts = Vec::new();
        if missing.is_empty() || files::is_standard(&self.file) {
            return Ok(texts);
        }
        let folder = self.file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut beside: Vec<PathBuf> = std::fs::read_dir(folder)
            .map(|entries| entries.filter_map(|e| Some(e.ok()?.path())).collect())
            .unwrap_or_default();
        beside.sort();
        for kernel in missing.iter().filter(|k| self.kernel.is_empty() || **k == self.kernel) {
            // What stands before and after the kernel's name.
            let parts = |p: &PathBuf| {
                let name = p.file_name()?.to_str()?.strip_suffix(".visaasm")?;
                let at = name.rfind(kernel.as_str())?;
                let before = &name[..at];
                (before.is_empty() || before.ends_with('_'))
                    .then(|| (before.to_owned(), name[at + kernel.len()..].to_owned()))
            };
            let mut read = |path: &PathBuf| -> Result<(), JobError> {
                let text = files::read(path, files::MAX_INPUT).map_err(JobError::Usage)?;
                texts.push(SourceText { name: path.display().to_string(), text });
                Ok(())
            };
            let found: Vec<&PathBuf> =
                beside.iter().filter(|p| parts(p).is_some_and(|(_, end)| end.is_empty())).collect();
            match found[..] {
                [] => {}
                [one] => {
                    read(one)?;
                    let build = parts(one).map(|(before, _)| before);
                    let number = |end: &str| end.strip_prefix("_f").is_some_and(|n| n.parse::<u32>().is_ok());
                    for path in &beside {
                        let Some((before, end)) = parts(path) else { continue };
                        if number(&end) && Some(before) == build {
                            read(path)?;
                        }
                    }
                }
                [first, second, ..] => {
                    return Err(JobError::Usage(format!(
                        "both {} and {} could be the vISA of `{kernel}`: remove one of them from the folder of {}",
                        first.display(),
                        second.display(),
                        self.file.display()
                    )));
                }
            }
        }
        Ok(texts)
    }

    /// Reads the module, or compiles it.
    fn module(&self) -> Result<Source, JobError> {
        let name =
            if files::is_standard(&self.file) { "<stdin>".into() } else { self.file.display().to_string() };
        let kind = self.file.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if !matches!(kind, "cl" | "spv") {
            let bytes = files::read(&self.file, files::MAX_INPUT).map_err(JobError::Usage)?;
            return Ok(Source {
                name,
                bytes,
                compiled_now: false,
                messages: String::new(),
                // Who says so compiled it so.
                checked: match self.rewrite {
                    Some(rewrite) if rewrite.is_for_checks() => CheckBuild::Own,
                    _ => CheckBuild::AsIs,
                },
            });
        }
        let device = self.device.as_deref().ok_or_else(|| {
            JobError::Usage(format!(
                "{name} has to be compiled first: give the device, for instance --device dg2"
            ))
        })?;
        // The checks hold local memory against the bounds of its variables.
        let lines = if self.check { Lines::Variables } else { Lines::Path };
        let mut build = Build::new(&self.file, device).options(self.options.clone()).lines(lines);
        if let Some(ocloc) = &self.ocloc {
            build = build.ocloc(ocloc);
        }
        if let Some(cache) = &self.cache {
            build = build.cache(Arc::clone(cache));
        }
        let checks = if self.check_hints { Rewrite::Hints } else { Rewrite::Checks };
        let rewrite = self.rewrite.or((self.checks() && !self.as_is).then_some(checks));
        if let Some(rewrite) = rewrite {
            build = build.rewrite(rewrite);
        }
        match build.run() {
            Ok(built) => {
                let checked = match (rewrite.filter(|r| r.is_for_checks()), built.rewritten) {
                    (Some(_), true) => CheckBuild::Own,
                    (Some(_), false) => CheckBuild::Refused,
                    (None, _) => CheckBuild::AsIs,
                };
                Ok(Source { name, bytes: built.bytes, compiled_now: true, messages: built.messages, checked })
            }
            Err(BuildError::Failed { status, device, messages }) => {
                let mut files = Files::new();
                let said =
                    envisa_ocloc::failure_as_diagnostics(&status, &device, &messages, &self.file, &mut files);
                Err(JobError::Text(said, Arc::new(files)))
            }
            Err(e @ (BuildError::Unresolved { .. } | BuildError::Zebin(_))) => {
                Err(JobError::Input(format!("{name}: {e}")))
            }
            Err(e) => Err(JobError::usage(e)),
        }
    }
}

/// A module's bytes.
struct Source {
    name: String,
    bytes: Vec<u8>,
    /// It was compiled just now, for the job's device.
    compiled_now: bool,
    /// What the compiler said.
    messages: String,
    checked: CheckBuild,
}

/// Which build the checks look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckBuild {
    /// One of their own, in which accesses stay as they are written, and hold themselves against types.
    Own,
    /// The one that runs without checks: it was not compiled here, or nothing else was wanted.
    AsIs,
    /// The same, as the compiler does not take their own.
    Refused,
}

/// Makes the file of `@FILE` relative to a folder.
fn rebase_file_argument(text: &mut String, folder: &Path) {
    if let Some(file) = text.strip_prefix('@') {
        *text = format!("@{}", folder.join(file).display());
    }
}

/// A job with everything in memory, ready to run.
pub struct Ready {
    device: Device,
    kernel: Kernel,
    launch: Launch,
    held: Vec<BufferContent>,
    /// Outputs that are variables.
    variables: Vec<String>,
    outputs: Vec<Output>,
    messages: String,
    warnings: Vec<String>,
    checked: CheckBuild,
}

impl Ready {
    /// Loads the kernel and fills memory.
    ///
    /// # Errors
    /// What does not fit: [`JobError`].
    pub fn new(job: &Job) -> Result<Ready, JobError> {
        Ready::of(job).map_err(|e| job.places.locate_argument_error(e))
    }

    fn of(job: &Job) -> Result<Ready, JobError> {
        if job.timeout.is_some_and(|t| !(t > 0.0 && t <= MAX_TIMEOUT)) {
            return Err(JobError::Usage(format!(
                "a timeout is a number of seconds, more than 0 and at most {MAX_TIMEOUT}"
            )));
        }
        if job.jobs > MAX_JOBS {
            return Err(JobError::Usage(format!(
                "{} host threads are too many; at most {MAX_JOBS} can be used",
                job.jobs
            )));
        }
        let source = job.module()?;
        let kind = Kind::of(&job.file, &source.bytes);
        if let Some(why) = kind.why_not_runnable(&source.name) {
            return Err(JobError::Input(why));
        }
        let form = match kind {
            Kind::Zebin => Form::Zebin(&source.bytes),
            Kind::Isa => Form::Isa(&source.bytes),
            _ => Form::Text(&source.bytes),
        };
        let compiled = matches!(form, Form::Zebin(_));
        let platform = if compiled { job.platform_of_zebin(&source, form)? } else { job.platform_by_hand()? };
        let device = Device::new(
            Config::new(platform)
                .memory(MEMORY_LIMIT)
                .threads(job.jobs)
                .engine(job.engine)
                .red_zones(job.check || job.check_hints),
        );
        let sources = job.sources(&source)?;
        let visa = job.compiler_dumps(&form)?;
        let mut dumped = Vec::new();
        for dump in &visa {
            dumped.push(format!("{} has no vISA of its own: it is taken from {}", source.name, dump.name));
        }
        let options =
            LoadOptions { verify: !job.no_verify, simd: job.simd, sources, visa, ..LoadOptions::default() };
        let module = Module::load_with(&device, &source.name, form, &options)?;
        let kernel = module.kernel(&job.kernel).map_err(no_kernel)?;
        let launch = job.launch(compiled)?.checks_itself(source.checked == CheckBuild::Own);
        let said = module.warnings().into_iter().map(|w| format!("{}: {w}", source.name));
        let warnings = dumped.into_iter().chain(said).collect();
        let mut ready = Ready {
            device,
            kernel,
            launch,
            held: Vec::new(),
            variables: Vec::new(),
            outputs: job.outputs.clone(),
            messages: source.messages,
            warnings,
            checked: source.checked,
        };
        ready.bind(job)?;
        ready.check_outputs()?;
        Ok(ready)
    }

    /// Makes the arguments, and holds them against the kernel.
    fn bind(&mut self, job: &Job) -> Result<(), JobError> {
        let mut seen: Vec<ArgKey> = Vec::new();
        let mut targets = Vec::new();
        // Before any data are made.
        for (key, text) in &job.args {
            let target = Target::of(&self.kernel, key)?;
            if seen.contains(&target.key) {
                return Err(JobError::Usage(format!(
                    "argument `{key}` is given twice, by name and by index"
                )));
            }
            seen.push(target.key.clone());
            targets.push((target, text.text()));
        }
        self.kernel.check_given(&seen)?;
        let mut launch = self.launch.clone();
        // What is another argument's is made when that one is.
        let (same, own): (Vec<_>, Vec<_>) = targets.into_iter().partition(|(_, text)| text.starts_with(SAME));
        for (target, text) in own {
            // What the host leaves unwritten is zero all the same.
            let fresh = text.strip_prefix(FRESH).map(|rest| format!("zeros:{rest}"));
            let made = target.value(&self.device, &self.kernel, fresh.as_ref().unwrap_or(&text));
            let (arg, held) = made.map_err(|e| e.of_argument(&target.name))?;
            if let (Some(_), Some(held)) = (&fresh, &held) {
                launch = launch.fresh(&held.buffer);
            }
            launch = launch.arg(target.key, arg);
            self.held.extend(held);
        }
        for (target, text) in same {
            let made = self.shared_buffer_argument(&target, &text[SAME.len()..]);
            let (arg, held) = made.map_err(|e| e.of_argument(&target.name))?;
            launch = launch.arg(target.key, arg);
            self.held.push(held);
        }
        for output in &self.outputs {
            if self.buffer_of_argument(&output.arg).is_none() && self.kernel.variable(&output.arg).is_some() {
                self.variables.push(output.arg.clone());
            }
        }
        self.launch = launch.registers(self.variables.iter().map(String::as_str));
        Ok(())
    }

    /// `arg:NAME[+BYTES]`: the buffer of another argument, from a byte on.
    fn shared_buffer_argument(&self, target: &Target, of: &str) -> Result<(Arg, BufferContent), JobError> {
        let (of, offset) = same_buffer(of)?;
        let Some(other) = self.buffer_of_argument(of) else {
            Target::of(&self.kernel, of)?;
            return Err(JobError::Usage(format!("argument `{of}` has no buffer of its own")));
        };
        let bytes = other.buffer.len();
        if offset > bytes {
            return Err(JobError::Usage(format!("`{of}` has {bytes} bytes, fewer than {offset}")));
        }
        target.shared_buffer_argument(other, offset)
    }

    /// The buffer of an argument, by name or by index.
    fn buffer_of_argument(&self, key: &str) -> Option<&BufferContent> {
        let by_name = self.held.iter().find(|h| h.name == key);
        by_name.or_else(|| {
            let index = ArgKey::Index(key.parse().ok()?);
            self.held.iter().find(|h| h.key == index)
        })
    }

    /// The buffers and images that arguments were given: name, memory, elements.
    pub fn buffers(&self) -> impl Iterator<Item = (&str, &Buffer, ElemType)> {
        self.held.iter().map(|h| (h.name.as_str(), &h.buffer, h.elem))
    }

    /// What the compiler said, if one was asked.
    pub fn compiler_messages(&self) -> &str {
        &self.messages
    }

    /// Which build the checks look at.
    pub fn check_build(&self) -> CheckBuild {
        self.checked
    }

    /// What was ignored in the module's metadata.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Runs it. Memory keeps what the run left.
    ///
    /// # Errors
    /// Where sizes or arguments do not fit the kernel. A fault of the kernel is not an error: it is in the outcome.
    pub fn run(
        &mut self,
        progress: Option<&'static Progress>,
        cancel: Option<&Cancel>,
    ) -> Result<Outcome, JobError> {
        let mut launch = self.launch.clone();
        if let Some(cancel) = cancel {
            launch = launch.cancel(cancel);
        }
        if let Some(progress) = progress {
            launch = launch.progress(progress);
        }
        Ok(self.device.run(&self.kernel, &launch)?)
    }

    /// Adds what the checks find in another order of groups and threads, where that may be something else and the job
    /// names none: the job from its start again, in reverse.
    ///
    /// # Errors
    /// As [`Ready::new`] and [`Ready::run`].
    pub fn also_in_reverse(
        &self,
        job: &Job,
        mut outcome: Outcome,
        cancel: Option<&Cancel>,
    ) -> Result<Outcome, JobError> {
        if job.order.is_none() && outcome.findings.is_some() && self.kernel.depends_on_order() {
            let (order, outputs) = (Some("reverse".to_owned()), Vec::new());
            let limit = if job.limit == 0 { MOST_IN_REVERSE } else { job.limit.min(MOST_IN_REVERSE) };
            let again = Job {
                order,
                outputs,
                limit,
                stats: false,
                footprint: false,
                profile: false,
                trace: false,
                ..job.clone()
            };
            let mut other = Ready::new(&again)?.run(None, cancel)?;
            // What was found until then counts.
            if other.fault.as_ref().is_some_and(|f| f.kind == FaultKind::Limit) {
                other.fault = None;
            }
            outcome.add_other_order(other);
        }
        Ok(outcome)
    }

    /// The launch, for a debugger to put on its stage.
    ///
    /// # Errors
    /// Where sizes or arguments do not fit the kernel.
    pub fn launch(&self) -> Result<envisa::Run, JobError> {
        Ok(self.device.launch(&self.kernel, self.launch.clone())?)
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }
}

/// Before the type and number of elements of a buffer that the host leaves unwritten.
const FRESH: &str = "fresh:";
/// What begins a value that is another argument's buffer: `arg:NAME[+BYTES]`.
const SAME: &str = "arg:";

/// Name and offset of `NAME[+BYTES]`.
fn same_buffer(text: &str) -> Result<(&str, u64), JobError> {
    match text.split_once('+') {
        None => Ok((text, 0)),
        Some((name, bytes)) => match bytes.parse() {
            Ok(offset) => Ok((name, offset)),
            Err(_) => {
                Err(JobError::Usage(format!("`{bytes}` is not a number of bytes; write arg:NAME+BYTES")))
            }
        },
    }
}

/// The data of a value's text.
fn read_value_data(text: &str) -> Result<HostValue, JobError> {
    ValueSpec::parse(text).and_then(|s| s.materialize(MEMORY_LIMIT)).map_err(JobError::usage)
}
