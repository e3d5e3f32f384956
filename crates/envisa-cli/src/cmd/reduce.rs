//! `envisa reduce`: makes a failing input small.

use crate::cmd::bounded::{self, quoted};
use crate::cmd::{Done, Exit, Failure};
use envisa_harness::files;
use envisa_reduce::{Bounds, Language, OpenClC, Oracle, Progress, Visa, reduce};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Examples:
  envisa reduce k.cl --test 'ocloc compile -file {} -device dg2 2>&1 | grep -q \"signal 11\"'
  envisa reduce k.cl --fault F0005 -- --device dg2 --global 64 --arg a=iota:i32:64 --check
  envisa reduce k.visaasm --message 'V0212' -- --platform DG2
  envisa reduce k.cl --differs '--options -cl-opt-disable' '' -- --device dg2 --global 64 --arg a=iota:i32:64 --print a

As for creduce, a test command succeeds (exit code 0) if the candidate shows the failure. `{}` is replaced by the candidate's path.
The options after `--` are those of `envisa run`, with which the built-in tests run a candidate.

The result is a folder, FILE.reduced/, with the reduced file, the original, and reproduce.sh. If a reduction was interrupted, the
next one continues there. Each candidate may take --timeout seconds and 16 GiB of address space.";

/// Reduce an input that shows a failure to a small one.
///
/// Takes OpenCL C or vISA text, and removes everything that the failure does not need, until nothing more can be removed. In
/// OpenCL C, it removes declarations, statements, blocks, operands and tokens; in vISA text, lines, predicates and immediates.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The input: `.cl` or `.visaasm`.
    file: PathBuf,
    #[command(flatten)]
    test: Test,
    /// The folder for the result. By default, FILE.reduced.
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// The number of candidates to try at the same time; 0 for one per core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    jobs: usize,
    /// The most seconds that a candidate may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    timeout: u32,
    /// The most candidates to try.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    tries: usize,
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
    /// The failure is that `envisa run` prints other results with the options B than with A. Both must succeed, and with A
    /// `--check` must find nothing, so that the reduced program has a defined result.
    #[arg(long, num_args = 2, value_names = ["A", "B"], allow_hyphen_values = true)]
    differs: Option<Vec<String>>,
}

/// Runs the command.
///
/// # Errors
/// Files that cannot be read or written, inputs of another kind, a test that fails on the input.
pub fn run(args: &Args) -> Done {
    let failed = |e: String| Failure(e);
    let bytes = files::read(&args.file, 16 << 20).map_err(failed)?;
    let original = String::from_utf8(bytes)
        .map_err(|_| Failure(format!("{}: is not UTF-8, and only texts are reduced", args.file.display())))?;
    let extension = args.file.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let language: &dyn Language = match extension {
        "cl" | "c" | "clcpp" => &OpenClC,
        "visaasm" => &Visa,
        _ => {
            let why = "is neither OpenCL C (.cl) nor vISA text (.visaasm)";
            return Err(Failure(format!("{}: {why}", args.file.display())));
        }
    };
    let folder = args.output.clone().unwrap_or_else(|| args.file.with_extension("reduced"));
    std::fs::create_dir_all(&folder).map_err(|e| Failure(format!("{}: {e}", folder.display())))?;
    let best = folder.join("reduced").with_extension(extension);
    let oracle = Candidates::new(args, extension)?;
    let earlier = std::fs::read_to_string(&best).ok().filter(|t| t.len() < original.len() && oracle.fails(t));
    if earlier.is_some() {
        eprintln!("envisa reduce: goes on from {}", best.display());
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let bounds = Bounds { workers: if args.jobs == 0 { cores } else { args.jobs }, tries: args.tries };
    let mut told = Told { best: &best, whole: original.len(), terminal: std::io::stderr().is_terminal() };
    let start = earlier.as_deref().unwrap_or(&original);
    let small = reduce(start, language, &oracle, bounds, &mut told)
        .map_err(|e| Failure(format!("{}: {e}", args.file.display())))?;
    files::write(&best, small.as_bytes()).map_err(failed)?;
    files::write(&folder.join("original").with_extension(extension), original.as_bytes()).map_err(failed)?;
    files::write(&folder.join("reproduce.sh"), oracle.script(&best).as_bytes()).map_err(failed)?;
    let lines = |t: &str| t.lines().filter(|l| !l.trim().is_empty()).count();
    println!(
        "{}: {} lines of {}, {} bytes of {}",
        best.display(),
        lines(&small),
        lines(&original),
        small.len(),
        original.len()
    );
    Ok(Exit::Fine)
}

/// Writes each smaller text, whole, and tells how far it is.
struct Told<'a> {
    best: &'a Path,
    whole: usize,
    terminal: bool,
}

impl Progress for Told<'_> {
    fn smaller(&mut self, pass: &str, text: &str) {
        // What cannot be kept now is kept at the end.
        let _ = files::write(self.best, text.as_bytes());
        if self.terminal {
            eprint!("\r\x1b[K{} bytes of {}: {pass}", text.len(), self.whole);
        }
    }
}

/// Tries candidates by processes.
struct Candidates {
    commands: Vec<Vec<OsString>>,
    shows: Shows,
    extension: String,
    timeout: u32,
}

enum Shows {
    /// The command succeeds.
    Success,
    /// Its output has this text.
    Text(String),
    /// The first succeeds and finds nothing; the two others succeed and print different texts.
    Different,
}

/// Stands for the candidate's path.
const PLACE: &str = "{}";

impl Candidates {
    fn new(args: &Args, extension: &str) -> Result<Candidates, Failure> {
        let own = std::env::current_exe().map_err(|e| Failure(format!("where this command is: {e}")))?;
        let run = |more: &str| {
            let mut line: Vec<OsString> = vec![own.clone().into(), "run".into(), PLACE.into()];
            line.extend(args.run.iter().cloned());
            let more = shlex::split(more)
                .ok_or_else(|| Failure(format!("`{more}`: a quotation mark is not closed")))?;
            line.extend(more.into_iter().map(OsString::from));
            Ok::<_, Failure>(line)
        };
        let test = &args.test;
        let (commands, shows) = if let Some(command) = &test.test {
            let line = ["sh", "-c", command].map(OsString::from).to_vec();
            (vec![line], Shows::Success)
        } else if let Some(code) = &test.fault {
            (vec![run("")?], Shows::Text(format!("[{code}]")))
        } else if let Some(text) = &test.message {
            (vec![run("")?], Shows::Text(text.clone()))
        } else {
            let [a, b] = test.differs.as_deref().unwrap_or_default() else {
                return Err(Failure("`--differs` takes two lists of options".into()));
            };
            (vec![run(&format!("{a} --check"))?, run(a)?, run(b)?], Shows::Different)
        };
        Ok(Candidates { commands, shows, extension: extension.to_owned(), timeout: args.timeout.max(1) })
    }

    /// Runs a command on a candidate, within bounds of time and addresses.
    fn output(&self, line: &[OsString], path: &Path) -> Option<(bool, String, String)> {
        let shown = path.to_string_lossy();
        let words: Vec<OsString> = line
            .iter()
            .map(|w| match w.to_str() {
                Some(word) => word.replace(PLACE, &shown).into(),
                None => w.clone(),
            })
            .collect();
        let environment = [("ENVISA_CANDIDATE".to_owned(), shown.into_owned())];
        let ended = bounded::run(&words, path.parent()?, self.timeout, &environment)?;
        Some((ended.success(), ended.out, ended.err))
    }

    /// The commands, for whoever repeats it.
    fn script(&self, best: &Path) -> String {
        let name = best.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut out = String::from("#!/bin/sh\n# Shows the failure again.\ncd \"$(dirname \"$0\")\"\n");
        for line in &self.commands {
            let words = line.iter().enumerate().map(|(i, w)| {
                let word = w.to_string_lossy().replace(PLACE, &name);
                // The command itself, wherever it is installed.
                if i == 0 && word.ends_with("envisa") { "envisa".into() } else { quoted(&word) }
            });
            out.push_str(&words.collect::<Vec<_>>().join(" "));
            out.push('\n');
        }
        out
    }
}

impl Oracle for Candidates {
    fn fails(&self, text: &str) -> bool {
        let Ok(folder) = tempfile::Builder::new().prefix("envisa-reduce").tempdir() else { return false };
        let path = folder.path().join("candidate").with_extension(&self.extension);
        if std::fs::write(&path, text).is_err() {
            return false;
        }
        let mut outputs = self.commands.iter().map_while(|line| self.output(line, &path));
        match &self.shows {
            Shows::Success => outputs.next().is_some_and(|(success, ..)| success),
            Shows::Text(wanted) => {
                outputs.next().is_some_and(|(_, out, err)| out.contains(wanted) || err.contains(wanted))
            }
            Shows::Different => {
                let mut succeeded = || outputs.next().filter(|o| o.0).map(|o| o.1);
                let defined = succeeded().is_some();
                defined && matches!((succeeded(), succeeded()), (Some(a), Some(b)) if a != b)
            }
        }
    }
}
