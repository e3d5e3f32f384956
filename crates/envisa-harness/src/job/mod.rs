//! Jobs: one kernel, its sizes, arguments, outputs and expectations, from the command line or a TOML file.
//!
//! ```toml
//! file = "vadd.zebin"           # or vadd.cl, with a device
//! kernel = "vadd"               # may be left out if there is only one
//! global = [1024]
//! local = [64]
//! check = true                  # look for uninitialised reads and colliding stores
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

mod bare;
mod compiled;
mod deliver;
mod template;

pub use bare::BareReady;
pub use compiled::CompiledReady;
pub use deliver::Delivered;
pub use template::template;

use crate::files::{self, Kind};
use crate::observe::Watch;
use crate::values::{HostValue, ValueSpec};
use envisa::diag::{Diagnostic, Files};
use envisa::lower::Program;
use envisa::machine::{RunOptions, Trap};
use envisa::runner::{LaunchError, Outcome, RunError};
use envisa::sanitize::Finding;
use envisa_ocloc::{Build, BuildError};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
    /// Branches and calls a thread may take; 0 for no limit.
    #[serde(default)]
    pub limit: u64,
    /// Look for uninitialised reads and colliding stores.
    #[serde(default)]
    pub check: bool,
    /// Count instructions, channels, traffic.
    #[serde(default)]
    pub stats: bool,
    /// Take vISA that the verifier refuses, as long as it is structurally sound.
    #[serde(default)]
    pub no_verify: bool,
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
    /// A sentence with the place.
    pub fn read(path: &Path) -> Result<Job, String> {
        let name = path.display();
        let text = String::from_utf8(files::read(path, JOB_LIMIT)?)
            .map_err(|e| format!("{name}: is not UTF-8, from byte {} on", e.utf8_error().valid_up_to()))?;
        let mut job = Job::parse(&text).map_err(|e| format!("{name}: {e}"))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        job.file = folder.join(&job.file);
        for arg in job.args.values_mut() {
            match arg {
                ArgText::Text(text) | ArgText::Image { value: text, .. } => rebase(text, folder),
                _ => {}
            }
        }
        for output in &mut job.outputs {
            output.file = output.file.take().map(|f| folder.join(f));
            if let Some(expect) = &mut output.expect {
                rebase(expect, folder);
            }
        }
        Ok(job)
    }

    /// How to run it.
    ///
    /// # Errors
    /// A sentence: too many host threads.
    pub fn run_options(&self) -> Result<RunOptions, JobError> {
        if self.jobs > MAX_JOBS {
            return Err(JobError::Usage(format!("{} host threads: at most {MAX_JOBS}", self.jobs)));
        }
        let limit = if self.limit == 0 { u64::MAX } else { self.limit };
        Ok(RunOptions { jobs: self.jobs, limit, ..RunOptions::default() })
    }

    /// Reads the module, or compiles it.
    fn module(&self) -> Result<Source, JobError> {
        let name =
            if files::is_standard(&self.file) { "<stdin>".into() } else { self.file.display().to_string() };
        let kind = self.file.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if !matches!(kind, "cl" | "spv") {
            let bytes = files::read(&self.file, files::MAX_INPUT).map_err(JobError::Usage)?;
            return Ok(Source { name, bytes, compiled_now: false, messages: String::new() });
        }
        let device = self.device.as_deref().ok_or_else(|| {
            JobError::Usage(format!("{name} is compiled first: say for which device, as --device dg2"))
        })?;
        let mut build = Build::new(&self.file, device).options(self.options.clone());
        if let Some(ocloc) = &self.ocloc {
            build = build.ocloc(ocloc);
        }
        match build.run() {
            Ok(built) => {
                Ok(Source { name, bytes: built.bytes, compiled_now: true, messages: built.messages })
            }
            Err(BuildError::Failed { status, device, messages }) => {
                let mut files = Files::new();
                let mut said = envisa_ocloc::diagnostics(&messages, &self.file, &mut files);
                if !said.iter().any(Diagnostic::is_error) {
                    let why = format!("ocloc failed ({status}) for device {device}");
                    said.push(Diagnostic::error("E0810", why));
                }
                Err(JobError::Text(said, Box::new(files)))
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
}

/// Makes the file of `@FILE` relative to a folder.
fn rebase(text: &mut String, folder: &Path) {
    if let Some(file) = text.strip_prefix('@') {
        *text = format!("@{}", folder.join(file).display());
    }
}

/// A job with everything in memory, ready to run.
pub enum Ready {
    /// A kernel of a zebin.
    Compiled(Box<CompiledReady>),
    /// Hand-written code.
    Bare(Box<BareReady>),
}

impl Ready {
    /// Loads the kernel and fills memory.
    ///
    /// # Errors
    /// What does not fit: [`JobError`].
    pub fn new(job: &Job) -> Result<Ready, JobError> {
        let source = job.module()?;
        let kind = Kind::of(&job.file, &source.bytes);
        if let Some(why) = kind.refusal(&source.name) {
            return Err(JobError::Input(why));
        }
        let ready = match kind {
            Kind::Zebin => Ready::Compiled(Box::new(CompiledReady::new(job, source)?)),
            _ => Ready::Bare(Box::new(BareReady::new(job, source)?)),
        };
        ready.check_outputs()?;
        Ok(ready)
    }

    /// What the compiler said, if one was asked.
    pub fn compiler_messages(&self) -> &str {
        match self {
            Ready::Compiled(r) => &r.messages,
            Ready::Bare(_) => "",
        }
    }

    /// What was ignored in the module's metadata.
    pub fn warnings(&self) -> &[String] {
        match self {
            Ready::Compiled(r) => &r.warnings,
            Ready::Bare(_) => &[],
        }
    }

    /// Runs it; a watch that is idle costs nothing. Memory keeps what the run left.
    ///
    /// # Errors
    /// Where sizes or arguments do not fit the kernel. A fault of the kernel is no error: it is in the outcome.
    pub fn run(&mut self, options: &RunOptions, watch: &mut Watch) -> Result<Outcome, JobError> {
        match self {
            Ready::Compiled(r) => r.run(options, watch),
            Ready::Bare(r) => r.run(options, watch),
        }
    }

    /// The lowered program.
    pub fn program(&self) -> &Program {
        match self {
            Ready::Compiled(r) => r.kernel.program(),
            Ready::Bare(r) => r.kernel.program(),
        }
    }

    /// A fault as a diagnostic that points into the kernel's text.
    pub fn diagnose(&self, trap: &Trap) -> Diagnostic {
        match self {
            Ready::Compiled(r) => r.kernel.diagnose(trap),
            Ready::Bare(r) => r.kernel.diagnose(trap),
        }
    }

    /// What a check found, as a diagnostic.
    pub fn finding(&self, finding: &Finding) -> Diagnostic {
        match self {
            Ready::Compiled(r) => r.kernel.finding(finding),
            Ready::Bare(r) => r.kernel.finding(finding),
        }
    }

    /// Takes the sources out, for reports.
    pub fn take_files(&mut self) -> Files {
        match self {
            Ready::Compiled(r) => std::mem::take(&mut r.kernel.files),
            Ready::Bare(r) => std::mem::take(&mut r.kernel.files),
        }
    }
}

/// Why a job cannot run.
#[derive(Debug)]
pub enum JobError {
    /// It is written wrongly, or a file is not there.
    Usage(String),
    /// The module is damaged, or cannot be compiled or lowered.
    Input(String),
    /// The module's text or binary has errors.
    Text(Vec<Diagnostic>, Box<Files>),
}

impl JobError {
    fn usage(e: impl std::fmt::Display) -> JobError {
        JobError::Usage(e.to_string())
    }

    fn of_argument(self, name: &str) -> JobError {
        match self {
            JobError::Usage(s) => JobError::Usage(format!("argument `{name}`: {s}")),
            other => other,
        }
    }
}

impl std::fmt::Display for JobError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JobError::Usage(s) | JobError::Input(s) => f.write_str(s),
            JobError::Text(d, _) => match d.iter().find(|d| d.is_error()) {
                Some(first) => write!(f, "the vISA text has errors; the first: {}", first.message),
                None => f.write_str("the vISA text has errors"),
            },
        }
    }
}

impl std::error::Error for JobError {}

impl From<RunError> for JobError {
    fn from(e: RunError) -> JobError {
        match e {
            RunError::Text(diagnostics, files) => JobError::Text(diagnostics, files),
            RunError::Zebin(s) | RunError::Lower(s) | RunError::Launch(LaunchError::Metadata(s)) => {
                JobError::Input(s)
            }
            other => JobError::Usage(other.to_string()),
        }
    }
}

/// What begins a value that is another argument's buffer: `arg:NAME[+BYTES]`.
const SAME: &str = "arg:";

/// Name and offset of `NAME[+BYTES]`.
fn same_buffer(text: &str) -> Result<(&str, u64), JobError> {
    match text.split_once('+') {
        None => Ok((text, 0)),
        Some((name, bytes)) => match bytes.parse() {
            Ok(offset) => Ok((name, offset)),
            Err(_) => Err(JobError::Usage(format!("`{bytes}` is no number of bytes; write arg:NAME+BYTES"))),
        },
    }
}

/// The data of a value's text.
fn data(text: &str) -> Result<HostValue, JobError> {
    ValueSpec::parse(text).and_then(|s| s.materialize(MEMORY_LIMIT)).map_err(JobError::usage)
}
