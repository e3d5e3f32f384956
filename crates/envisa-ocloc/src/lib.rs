//! Builds zebins with vISA text from OpenCL C or SPIR-V by driving `ocloc`, Intel's offline compiler.
//!
//! [`Build`] compiles one file by running the command; `Service` compiles in memory, by processes that are
//! kept ready, for whoever compiles often: the drivers, which exist on Linux only.

pub mod cache;
#[cfg(target_os = "linux")]
pub mod client;
mod compiler_runs;
mod compilers;
#[cfg(target_os = "linux")]
mod crashes;
mod declarations;
mod includes;
mod kernel_debug_info;
pub mod offered;
pub mod protocol;
#[cfg(target_os = "linux")]
pub mod server;
#[cfg(target_os = "linux")]
mod service;
pub mod spirv;
mod working_folder;

pub use compiler_runs::newest_program_for;
#[cfg(target_os = "linux")]
pub use service::{Compiled, Failure, Input, Output, Service};
pub use spirv::Rewrite;

mod messages;

pub use messages::{failure_as_diagnostics, messages_as_diagnostics};

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::Arc;

use cache::Cache;
use compiler_runs::{Done, Pass};
use envisa_zebin::{DeviceFamily, Error, ZebinFile};

/// Stack calls on Gen9 and Gen12 low power abort the compiler without it.
const STATE_BUFFER: &str = "IGC_EnableGlobalStateBuffer";

/// Options by which the compiler tells lines; the name of the source follows.
pub const LINE_OPTIONS: &str = "-gline-tables-only -s ";

/// The same with where variables lie.
pub const DEBUG_OPTIONS: &str = "-g -s ";

/// What to build, for what, and how.
#[derive(Clone, Debug)]
pub struct Build {
    input: PathBuf,
    device: String,
    options: String,
    internal_options: String,
    ocloc: Option<PathBuf>,
    lines: Lines,
    rewrite: Option<Rewrite>,
    env: Vec<(OsString, OsString)>,
    cache: Option<Arc<Cache>>,
}

/// What the vISA says of the source: `FILE` and `LOC`. The code itself is the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Lines {
    /// Nothing, unless the options ask for it.
    #[default]
    None,
    /// Lines, and the file's name without its folder: the same wherever it is built.
    Name,
    /// Lines, and the file's whole path, as debuggers want it.
    Path,
    /// The same, and where variables lie (`-g`). The code may differ by what a debugger needs.
    Variables,
}

/// A built module.
#[derive(Clone, Debug)]
pub struct Built {
    /// The zebin as the compiler wrote it.
    pub bytes: Vec<u8>,
    /// The same, read.
    pub zebin: ZebinFile,
    /// What the compiler printed: warnings; empty if it had nothing to say.
    pub messages: String,
    /// It was made of SPIR-V that was rewritten, as [`Build::rewrite`] asked for.
    pub rewritten: bool,
}

/// Why a build failed.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is no compiler.
    #[error(
        "cannot run `{program}`: not found; it is in the Debian package `intel-opencl-icd`, in Ubuntu's \
         `intel-ocloc` (elsewhere: Intel's compute-runtime), or give its path"
    )]
    NoOcloc {
        /// What was to be run.
        program: String,
    },
    /// The input is of no kind that can be built.
    #[error("{path}: neither OpenCL C (.cl) nor SPIR-V (.spv)")]
    Input {
        /// The input.
        path: String,
    },
    /// A file or the program could not be used.
    #[error("{what}: {source}")]
    Io {
        /// What was done.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The compiler refused the input or broke down.
    #[error("ocloc failed ({status}) for device {device}{}{messages}", if messages.is_empty() { "" } else { ":\n" })]
    Failed {
        /// How it ended.
        status: String,
        /// The device.
        device: String,
        /// What it printed.
        messages: String,
    },
    /// The module uses functions it does not define, which the compiler lets pass.
    #[error("undefined: {}", names.join(", "))]
    Unresolved {
        /// The functions or variables, sorted.
        names: Vec<String>,
        /// What the compiler printed.
        messages: String,
    },
    /// The compiler's output cannot be read.
    #[error("ocloc's output: {0}")]
    Zebin(#[from] Error),
}

impl Build {
    /// A build of a `.cl` or `.spv` file for a device: one of [`DeviceFamily`]'s names, or any other that
    /// `ocloc -device` knows.
    pub fn new(input: impl Into<PathBuf>, device: impl Into<String>) -> Self {
        Build {
            input: input.into(),
            device: device.into(),
            options: String::new(),
            internal_options: String::new(),
            ocloc: None,
            lines: Lines::None,
            rewrite: None,
            env: Vec::new(),
            cache: None,
        }
    }

    /// Options as for `clBuildProgram`. Relative `-I` folders count from the current folder.
    #[must_use]
    pub fn options(mut self, options: impl Into<String>) -> Self {
        self.options = options.into();
        self
    }

    /// More internal options for IGC, behind those needed here.
    #[must_use]
    pub fn internal_options(mut self, options: impl Into<String>) -> Self {
        self.internal_options = options.into();
        self
    }

    /// The compiler's path. By default the newest of the machine's compilers that knows the device.
    #[must_use]
    pub fn ocloc(mut self, path: impl Into<PathBuf>) -> Self {
        self.ocloc = Some(path.into());
        self
    }

    /// What the vISA says of the source, of OpenCL C. Options that ask for debug information (`-g`) are left as they are,
    /// and so are builds whose options or path the compiler would tear apart.
    #[must_use]
    pub fn lines(mut self, lines: Lines) -> Self {
        self.lines = lines;
        self
    }

    /// Sets an environment variable for the compiler, as `IGC_FunctionControl`. Those of this process are
    /// passed on anyway.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Rewrites the SPIR-V between the two halves of the compiler. What the compiler refuses so is built as it is:
    /// [`Built::rewritten`] tells.
    #[must_use]
    pub fn rewrite(mut self, rewrite: Rewrite) -> Self {
        self.rewrite = Some(rewrite);
        self
    }

    /// Takes from this cache what the same compiler has made of the same text by the same options, and keeps there what it
    /// makes now. What fails, and what includes files by names that only its preprocessor knows, is not kept.
    #[must_use]
    pub fn cache(mut self, cache: Arc<Cache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Builds. The compiler runs in a folder of its own, which is removed; kernels' names are real in the
    /// vISA text.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn run(&self) -> Result<Built, BuildError> {
        let io = |what: &str| {
            let what = what.to_owned();
            move |source| BuildError::Io { what, source }
        };
        let input = std::path::absolute(&self.input).map_err(io(&self.input.to_string_lossy()))?;
        let source = std::fs::read(&input).map_err(io(&self.input.to_string_lossy()))?;
        let spirv = source.starts_with(&[3, 2, 0x23, 7]) || source.starts_with(&[7, 0x23, 2, 3]);
        let extension = input.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if !spirv && !matches!(extension, "cl" | "clcpp" | "c") {
            return Err(BuildError::Input { path: self.input.display().to_string() });
        }
        let folder = working_folder::create().map_err(io("temporary folder"))?;
        let folder = folder.path();
        #[cfg(unix)]
        let _held = working_folder::hold(folder).map_err(io("temporary folder"))?;
        let pass =
            Pass { input: &input, source: &source, spirv, to_spirv: false, folder, state_buffer: false };
        let rewritten = match self.rewrite {
            Some(rewrite) => self.rewritten(&pass, rewrite)?,
            None => None,
        };
        let is_rewritten = rewritten.is_some();
        let Done { status, messages, output } = match rewritten {
            Some(done) => done,
            None => self.retried_for_older_compilers(&pass)?,
        };
        let Some(bytes) = output.filter(|_| status.success()) else {
            let status = if was_killed_by_signal(status) {
                format!("the compiler crashed, {status}")
            } else {
                status.to_string()
            };
            return Err(BuildError::Failed { status, device: self.device.clone(), messages });
        };
        let zebin = ZebinFile::parse(&bytes)?;
        let names: Vec<String> = zebin.unresolved().into_iter().map(str::to_owned).collect();
        if !names.is_empty() {
            return Err(BuildError::Unresolved { names, messages });
        }
        for kernel in zebin.kernels() {
            zebin.kernel_visa(&kernel.name)?;
        }
        Ok(Built { bytes, zebin, messages, rewritten: is_rewritten })
    }

    /// Builds what SPIR-V becomes when it is rewritten; `None` if the compiler does not take it, or makes no SPIR-V.
    fn rewritten(&self, pass: &Pass<'_>, rewrite: Rewrite) -> Result<Option<Done>, BuildError> {
        let read;
        let (module, said) = if pass.spirv {
            (pass.source, String::new())
        } else {
            let first = self.compile(&Pass { to_spirv: true, ..*pass })?;
            match first.output {
                Some(bytes) if first.status.success() => read = bytes,
                _ => return Ok(None),
            }
            (&*read, first.messages)
        };
        let name = pass.input.to_string_lossy();
        let text: &[_] = if pass.spirv { &[] } else { &[(&*name, pass.source)] };
        let Some(changed) = rewrite.of(module, text, &self.options) else { return Ok(None) };
        let input = pass.folder.join("rewritten.spv");
        std::fs::write(&input, &changed)
            .map_err(|source| BuildError::Io { what: "temporary folder".into(), source })?;
        let done = self.retried(Pass { input: &input, source: &changed, spirv: true, ..*pass })?;
        Ok(done.status.success().then(|| Done { messages: [said, done.messages].concat(), ..done }))
    }

    /// Runs the compiler. SPIR-V that it does not take is rewritten for older compilers, and compiled once more.
    fn retried_for_older_compilers(&self, pass: &Pass<'_>) -> Result<Done, BuildError> {
        let done = self.retried(Pass { ..*pass })?;
        if done.status.success() || !pass.spirv {
            return Ok(done);
        }
        let Some(older) = spirv::for_older_compilers(pass.source) else { return Ok(done) };
        let input = pass.folder.join("older.spv");
        std::fs::write(&input, &older)
            .map_err(|source| BuildError::Io { what: "temporary folder".into(), source })?;
        let again = self.retried(Pass { input: &input, source: &older, ..*pass })?;
        Ok(if again.status.success() { again } else { done })
    }

    /// Runs the compiler, once more where it broke down rather than refused: stack calls on a device not known to need
    /// the variable?
    fn retried(&self, pass: Pass<'_>) -> Result<Done, BuildError> {
        let pass = Pass { state_buffer: self.needs_state_buffer(), ..pass };
        let done = self.compile(&pass)?;
        if was_killed_by_signal(done.status) && !pass.state_buffer && !self.sets(STATE_BUFFER) {
            return self.compile(&Pass { state_buffer: true, ..pass });
        }
        Ok(done)
    }

    /// The user's options with `-I` made independent of the folder, and the source's own folder to include
    /// from, which the compiler would not look into as it is handed a text.
    fn user_options(&self, pass: &Pass<'_>) -> String {
        let Pass { input, source, spirv, to_spirv, .. } = *pass;
        let mut words = Vec::new();
        let mut folder_follows = false;
        for word in self.options.split_whitespace() {
            let (flag, folder) = match word.strip_prefix("-I") {
                _ if folder_follows => ("", Some(word)),
                Some("") => ("", None),
                Some(folder) => ("-I", Some(folder)),
                None => ("", None),
            };
            folder_follows = word == "-I";
            match folder.map(std::path::absolute) {
                Some(Ok(folder)) => words.push(format!("{flag}{}", folder.display())),
                _ => words.push(word.to_owned()),
            }
        }
        // Quoted words would be torn apart: they stay as they are.
        let mut options =
            if self.options.contains(['"', '\'']) { self.options.clone() } else { words.join(" ") };
        let includes = !spirv && source.windows(8).any(|w| w == b"#include");
        let folder = input.parent().map(|f| f.display().to_string());
        if let Some(folder) = folder.filter(|_| includes) {
            options.push_str(if options.is_empty() { "-I " } else { " -I " });
            options.push_str(&one_word(folder));
        }
        if let Some(name) = self.recorded_name(input).filter(|_| !spirv) {
            options.push_str(if options.is_empty() { "" } else { " " });
            let lines = if self.lines == Lines::Variables { DEBUG_OPTIONS } else { LINE_OPTIONS };
            options.push_str(&format!("{lines}{name}"));
        }
        if let Some(rewrite) = self.rewrite.filter(|_| to_spirv) {
            options.push_str(rewrite.frontend_options());
        }
        options
    }

    /// What the vISA is to call the source, if it is to tell lines.
    fn recorded_name(&self, input: &Path) -> Option<String> {
        let given = self.options.split_whitespace().any(|w| w.starts_with("-g") || w == "-s");
        let name = match self.lines {
            Lines::None => return None,
            // The compiler makes a name without a folder one of the folder that it runs in.
            Lines::Name => format!("/{}", input.file_name()?.to_str()?),
            Lines::Path | Lines::Variables => input.to_str()?.to_owned(),
        };
        let kept = |c: char| !c.is_control() && !matches!(c, '"' | '\'' | '\\');
        let known = !given && !self.options.contains(['"', '\'']);
        (known && name.chars().all(kept)).then(|| one_word(name))
    }

    fn sets(&self, name: &str) -> bool {
        self.env.iter().any(|(n, _)| n == name) || std::env::var_os(name).is_some()
    }

    fn needs_state_buffer(&self) -> bool {
        wants_state_buffer(&self.device) && !self.sets(STATE_BUFFER)
    }
}

/// A path as the compiler reads it among options: in quotes if there are blanks in it.
fn one_word(path: String) -> String {
    if path.contains(char::is_whitespace) { format!("\"{path}\"") } else { path }
}

/// On these devices the variable makes no difference to modules without stack calls. Elsewhere it does, and is not
/// needed.
pub(crate) fn wants_state_buffer(device: &str) -> bool {
    matches!(device.parse(), Ok(DeviceFamily::Skl | DeviceFamily::Tgllp))
}

/// Bytes that are kept of what a compiler prints. It may never stop to print.
const MESSAGES: u64 = 4 << 20;

/// How a process ends, and the beginning of what it prints on both streams.
fn process_output(mut child: Child) -> std::io::Result<(ExitStatus, [Vec<u8>; 2])> {
    fn read(stream: Option<impl Read>) -> Vec<u8> {
        let mut kept = Vec::new();
        // What cannot be read was not printed.
        let _ = stream.map(|mut s| {
            s.by_ref()
                .take(MESSAGES)
                .read_to_end(&mut kept)
                .and_then(|_| std::io::copy(&mut s, &mut std::io::sink()))
        });
        kept
    }
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let streams = std::thread::scope(|scope| {
        let out = scope.spawn(|| read(out));
        let err = read(err);
        [out.join().unwrap_or_default(), err]
    });
    Ok((child.wait()?, streams))
}

/// Whether the program was ended by a signal, itself or as told by a shell wrapper.
fn was_killed_by_signal(status: ExitStatus) -> bool {
    status.code().is_none_or(|code| matches!(code, 134 | 139))
}
