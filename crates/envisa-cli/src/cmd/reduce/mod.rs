//! `envisa reduce`: makes a failing input small.

mod candidates;
mod clang_check;

use crate::cmd::{Done, Exit, Failure, limited_process};
use candidates::{Candidates, copy_unless_present, has_lost_name};
use envisa_harness::files;
use envisa_harness::job::{Portable, without_arguments};
use envisa_reduce::{Bounds, Language, Launch, OpenClC, Progress, Visa, reduce};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

const AFTER_HELP: &str = "\
Examples:
  envisa reduce k.cl --test 'ocloc compile -file {} -device dg2 2>&1 | grep -q \"signal 11\"'
  envisa reduce k.cl --fault F0005 -- --device dg2 --global 64 --arg a=iota:i32:64 --check
  envisa reduce k.visaasm --message 'V0212' -- --platform DG2
  envisa reduce k.cl --differs '--options -cl-opt-disable' '' -- --device dg2 --global 64 --arg a=iota:i32:64 --print a
  envisa reduce captured/12-00001-k/job.toml --differs '--options -cl-opt-disable' ''

As for creduce, a test command succeeds (exit code 0) if the candidate shows the failure. `{}` is replaced by the candidate's \
path. The options after `--` are those of `envisa run`, with which the built-in tests run a candidate; --arg and --print of a kernel's \
parameter are left out with it.

The result is a folder, FILE.reduced/, with the reduced file, the original, and reproduce.sh, and all files that these need. \
If a reduction was interrupted, the next one continues there. Each candidate may take --timeout seconds of CPU time and 16 GiB of address space. \
With a built-in test, candidates in OpenCL C that are none are found by clang, if it is there: it takes less time than a driver's compiler.";

/// Reduce an input that shows a failure to a small one.
///
/// Takes OpenCL C, vISA text or a job, and removes everything that the failure does not need, until nothing more can be removed.
/// In OpenCL C, it removes declarations, statements, blocks, names with all their uses, operands and tokens; in vISA text, lines, predicates and immediates.
/// For a job (also one that ENVISA_CAPTURE wrote), it reduces the program, then sizes, arguments and the contents of buffers.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The input: `.cl`, `.visaasm`, or a job, `.toml`.
    file: PathBuf,
    #[command(flatten)]
    test: Test,
    /// The folder for the result. By default, FILE.reduced.
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// The number of candidates to try at the same time; 0 for one per core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    jobs: usize,
    /// The most seconds of CPU time that a candidate may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    timeout: u32,
    /// The most candidates to try.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    tries: usize,
    /// Print at the end how many candidates were tried, and what CPU time that took.
    #[arg(long)]
    cost: bool,
    /// Options of `envisa run` for --fault, --message and --differs.
    #[arg(last = true, value_name = "RUN OPTIONS")]
    run: Vec<OsString>,
}

/// What shows the failure.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Test {
    /// A shell command that succeeds if the failure shows; `{}` is the candidate's path.
    #[arg(long, value_name = "COMMAND")]
    test: Option<String>,
    /// The failure is that `envisa run` reports this code, of a fault or a finding.
    #[arg(long, value_name = "CODE")]
    fault: Option<String>,
    /// The failure is that `envisa run` prints this text.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// The failure is that `envisa run` prints other results with the options B than with A. Both must succeed, and the reduced
    /// program stays one with a defined result: with A (with B, if A runs on another driver), `--check` must find nothing, and
    /// there may be no warnings and nothing of `--check-hints` (integers that overflow or are divided by zero) of kinds that the
    /// input has not.
    #[arg(long, num_args = 2, value_names = ["A", "B"], allow_hyphen_values = true)]
    differs: Option<Vec<String>>,
}

/// A failing input: a program, and the job that runs it if it is one.
pub(super) struct Failing {
    program: String,
    /// Empty if the input is a program.
    job: String,
    /// The name by which the job calls the program, or the program's own.
    name: String,
    /// The files that the job reads besides, by its names for them.
    files: Vec<(String, PathBuf)>,
}

impl Failing {
    fn read(path: &Path) -> Result<Failing, String> {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if extension == "toml" {
            let Portable { job, name, program, files } = Portable::read(path)?;
            return Ok(Failing { program, job, name, files });
        }
        let bytes = files::read(path, 16 << 20)?;
        let program = String::from_utf8(bytes)
            .map_err(|_| format!("{}: is not UTF-8, and only texts are reduced", path.display()))?;
        let name = format!("program.{extension}");
        Ok(Failing { program, job: String::new(), name, files: Vec::new() })
    }

    fn file_extension(&self) -> &str {
        Path::new(&self.name).extension().and_then(|e| e.to_str()).unwrap_or_default()
    }

    fn language_of_file(&self) -> Option<&'static dyn Language> {
        match self.file_extension() {
            "cl" | "c" | "clcpp" => Some(&OpenClC),
            "visaasm" => Some(&Visa),
            _ => None,
        }
    }

    /// Writes a program, and a job if the input is one, with all files that it reads; what is to be run.
    fn write(&self, folder: &Path, stem: &str, program: &str, job: &str) -> Result<PathBuf, String> {
        let own = if self.job.is_empty() { Path::new(stem) } else { Path::new(&self.name) };
        let file = folder.join(own).with_extension(self.file_extension());
        files::write(&file, program.as_bytes())?;
        if self.job.is_empty() {
            return Ok(file);
        }
        for (name, from) in &self.files {
            copy_unless_present(from, &folder.join(name))?;
        }
        let file = folder.join(stem).with_extension("toml");
        files::write(
            &file,
            without_arguments(job, &|name| has_lost_name(&self.program, program, name)).as_bytes(),
        )?;
        Ok(file)
    }
}

/// Options of `envisa run` that launch a program, for one that it was reduced to: without arguments that this has lost.
pub fn launch_of(reduced: &str, program: &str, options: &[String]) -> Vec<OsString> {
    let options: Vec<OsString> = options.iter().map(OsString::from).collect();
    let gone = |name: &str| has_lost_name(program, reduced, name);
    candidates::without_arguments(&options, &gone).into_iter().cloned().collect()
}

/// Runs the command.
///
/// # Errors
/// Files that cannot be read or written, inputs of another kind, a test that fails on the input.
pub fn run(args: &Args) -> Done {
    let failed = |e: String| Failure(e);
    let input = Failing::read(&args.file).map_err(failed)?;
    let language = input.language_of_file().ok_or_else(|| {
        let why = "is neither OpenCL C (.cl), nor vISA text (.visaasm), nor a job (.toml)";
        Failure(format!("{}: {why}", args.file.display()))
    })?;
    let folder = args.output.clone().unwrap_or_else(|| args.file.with_extension("reduced"));
    std::fs::create_dir_all(&folder).map_err(|e| Failure(format!("{}: {e}", folder.display())))?;
    let candidates = Candidates::new(args, &input)?;
    let (program, job) = start(&input, &folder, &candidates).map_err(|why| {
        Failure(format!("{}: the input does not show the failure: {why}", args.file.display()))
    })?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let bounds = Bounds { workers: if args.jobs == 0 { cores } else { args.jobs }, tries: args.tries };
    let mut search = Search { input: &input, folder: &folder, candidates, bounds, program, job };
    search.reduce_until_stable(language);
    let best = search.write().map_err(failed)?;
    let script = search.candidates.write_script(&best, &search.program).map_err(failed)?;
    files::write(&folder.join("reproduce.sh"), script.as_bytes()).map_err(failed)?;
    let original = folder.join("original").with_extension(input.file_extension());
    files::write(&original, input.program.as_bytes()).map_err(failed)?;
    let lines = |t: &str| t.lines().filter(|l| !l.trim().is_empty()).count();
    let sizes = |what: &str, small: &str, whole: &str| {
        let (n, of) = (lines(small), lines(whole));
        format!("{what}: {n} lines of {of}, {} bytes of {}", small.len(), whole.len())
    };
    if input.job.is_empty() {
        println!("{}", sizes(&best.display().to_string(), &search.program, &input.program));
    } else {
        println!("{}", sizes(&input.name, &search.program, &input.program));
        println!("{}", sizes(&best.display().to_string(), &search.job, &input.job));
    }
    if args.cost {
        eprintln!(
            "envisa reduce: {} candidates, {} s of CPU time",
            search.candidates.tried.load(Ordering::Relaxed),
            limited_process::cpu_time_used().as_secs()
        );
    }
    Ok(Exit::Fine)
}

/// What to begin with: what an earlier reduction came to, or the input.
fn start(input: &Failing, folder: &Path, candidates: &Candidates<'_>) -> Result<(String, String), String> {
    let earlier = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let (program, job) = if input.job.is_empty() {
        (earlier(&format!("reduced.{}", input.file_extension())), Some(String::new()))
    } else {
        (earlier(&input.name), earlier("reduced.toml"))
    };
    // First, as it tells what candidates may have: of warnings and hints, those of the input.
    candidates.check_failure_shown(&input.program, &input.job)?;
    if let Some(hints) = candidates.known_hints() {
        eprintln!(
            "envisa reduce: --check-hints finds {hints} of the input; the reduced program may have it, too"
        );
    }
    if let (Some(program), Some(job)) = (program, job)
        && (&program, &job) != (&input.program, &input.job)
        && candidates.check_failure_shown(&program, &job).is_ok()
    {
        eprintln!("envisa reduce: continues in {}", folder.display());
        return Ok((program, job));
    }
    Ok((input.program.clone(), input.job.clone()))
}

/// A reduction under way.
struct Search<'a> {
    input: &'a Failing,
    folder: &'a Path,
    candidates: Candidates<'a>,
    bounds: Bounds,
    program: String,
    job: String,
}

impl Search<'_> {
    /// Reduces the program and the job in turn, until neither becomes smaller.
    fn reduce_until_stable(&mut self, language: &dyn Language) {
        loop {
            let program = self.program.clone();
            let (candidates, job) = (&self.candidates, self.job.clone());
            let mut told = self.told(|program| (program.to_owned(), job.clone()), self.input.program.len());
            let fails = |t: &str| candidates.check_failure_shown(t, &job).is_ok();
            // A text that does not fail any more, by chance or time, stays as it is.
            let small = reduce(&program, language, &fails, self.bounds, &mut told).unwrap_or(program);
            self.program = small.clone();
            if self.job.is_empty() {
                return;
            }
            let candidates = &self.candidates;
            let mut told = self.told(|job| (small.clone(), job.to_owned()), self.input.job.len());
            let fails = |t: &str| candidates.check_failure_shown(&small, t).is_ok();
            let less = reduce(&job, &Launch, &fails, self.bounds, &mut told).unwrap_or(job.clone());
            self.job = less;
            if self.job == job {
                return;
            }
        }
    }

    fn told<F: Fn(&str) -> (String, String)>(&self, both: F, whole: usize) -> Told<'_, F> {
        Told {
            input: self.input,
            folder: self.folder,
            both,
            whole,
            terminal: std::io::stderr().is_terminal(),
        }
    }

    fn write(&self) -> Result<PathBuf, String> {
        self.input.write(self.folder, "reduced", &self.program, &self.job)
    }
}

/// Writes each smaller text, whole, and tells how far it is.
struct Told<'a, F> {
    input: &'a Failing,
    folder: &'a Path,
    /// The program and the job that a smaller text makes.
    both: F,
    whole: usize,
    terminal: bool,
}

impl<F: Fn(&str) -> (String, String)> Progress for Told<'_, F> {
    fn smaller(&mut self, pass: &str, text: &str) {
        let (program, job) = (self.both)(text);
        // What cannot be kept now is kept at the end.
        let _ = self.input.write(self.folder, "reduced", &program, &job);
        if self.terminal {
            eprint!("\r\x1b[K{} bytes of {}: {pass}", text.len(), self.whole);
        }
    }
}
