//! `envisa bisect`: finds the options and keys of a compiler that make a kernel wrong.

use crate::cmd::limited_process::{self, Ended};
use crate::cmd::{Done, Exit, Failure};
use crate::io;
use envisa_harness::files;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const AFTER_HELP: &str = "\
Examples:
  envisa bisect k.cl --good '--ocloc /opt/newer/ocloc' -- --device dg2 --global 8 --arg in=iota:u32:32 --arg out=zeros:u32:32 --print out:32
  envisa bisect k.cl --test './fails.sh {} \"$ENVISA_BISECT_OPTIONS\"'

With --good, a setting cures the kernel if `envisa run` succeeds with it and prints the same as with the options of --good. \
The options after `--` are those of `envisa run`.

A --test command has exit code 0 if the failure shows, 1 if it does not, and any other code if it cannot decide, for instance \
because the kernel does not compile. `{}` is the file. ENVISA_BISECT_OPTIONS contains the options of the compiler; keys are set \
as environment variables.

Keys are the names in the compiler's library that begin with Enable or Disable, and those of --key. Each is tried alone, as \
IGC_NAME=0 and as IGC_NAME=1. A released compiler obeys only some of them.";

/// Find the options and keys of Intel's compiler with which a kernel's results are right.
///
/// Each setting is tried alone: -cl-opt-disable, -ze-opt-level, and the compiler's IGC_ keys.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The file with the kernel: `.cl` or `.spv`.
    file: PathBuf,
    #[command(flatten)]
    test: Test,
    /// Additional keys to set: NAME or NAME=VALUE, without `IGC_`.
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
    /// The compiler's library, from which the keys are read.
    #[arg(long, value_name = "FILE", default_value = "/usr/lib/x86_64-linux-gnu/libigc.so.1")]
    library: PathBuf,
    /// Try only keys that contain this text.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// The number of settings to try at the same time; 0 for one per core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    jobs: usize,
    /// The most seconds that a run may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    timeout: u32,
    /// Options of `envisa run`, with --good.
    #[arg(last = true, value_name = "RUN OPTIONS")]
    run: Vec<OsString>,
}

/// What tells right from wrong.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Test {
    /// Options of `envisa run` with which the results are right.
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    good: Option<String>,
    /// A shell command that succeeds if the failure shows.
    #[arg(long, value_name = "COMMAND")]
    test: Option<String>,
}

/// A setting of the compiler.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Setting {
    Nothing,
    Option(&'static str),
    Key(String, String),
}

impl Setting {
    fn text(&self) -> String {
        match self {
            Setting::Nothing => "nothing set".into(),
            Setting::Option(o) => (*o).into(),
            Setting::Key(name, value) => format!("IGC_{name}={value}"),
        }
    }
}

/// What a setting leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Wrong,
    Right,
    Unknown,
}

/// Options that are tried.
const OPTIONS: [&str; 6] = [
    "-cl-opt-disable",
    "-ze-opt-level=0",
    "-ze-opt-level=1",
    "-ze-opt-large-register-file",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-denorms-are-zero",
];

/// Runs the command.
///
/// # Errors
/// A library that cannot be read, or a kernel that does not fail as it is.
pub fn run(args: &Args) -> Done {
    let keys = settings_of_keys(args)?;
    let trial = Trial::new(args)?;
    match trial.try_setting(&Setting::Nothing) {
        Verdict::Wrong => {}
        Verdict::Right => return Err(Failure("without any setting, the failure does not show".into())),
        Verdict::Unknown => {
            return Err(Failure(format!(
                "without any setting, the test gives no answer: {}",
                trial.describe_result()
            )));
        }
    }
    let mut settings: Vec<Setting> = OPTIONS.into_iter().map(Setting::Option).collect();
    settings.extend(keys);
    let verdicts = trial.all(&settings, args.jobs);
    let of = |wanted: Verdict| {
        settings.iter().zip(&verdicts).filter(move |(_, v)| **v == wanted).map(|(s, _)| s.text())
    };
    let cures: Vec<String> = of(Verdict::Right).collect();
    for cure in &cures {
        io::print(&format!("{cure}: right\n"))?;
    }
    io::print(&format!(
        "{} of {} settings cure it, {} do not, {} give no answer\n",
        cures.len(),
        settings.len(),
        of(Verdict::Wrong).count(),
        of(Verdict::Unknown).count()
    ))?;
    Ok(if cures.is_empty() { Exit::Findings } else { Exit::Fine })
}

/// Greatest library that is looked through.
const LIBRARY: u64 = 1 << 30;

/// The settings of all keys.
fn settings_of_keys(args: &Args) -> Result<Vec<Setting>, Failure> {
    let bytes = files::read(&args.library, LIBRARY).map_err(Failure)?;
    let mut names: BTreeSet<String> = BTreeSet::new();
    for part in bytes.split(|b| *b == 0) {
        let named = part.starts_with(b"Enable") || part.starts_with(b"Disable");
        let plain = part.len() < 64 && part.iter().all(u8::is_ascii_alphanumeric);
        if named && plain && part.len() > 8 {
            names.insert(String::from_utf8_lossy(part).into_owned());
        }
    }
    let mut all = Vec::new();
    for name in names {
        all.extend(["0", "1"].map(|v| Setting::Key(name.clone(), v.into())));
    }
    for key in &args.keys {
        match key.split_once('=') {
            Some((name, value)) => all.push(Setting::Key(name.into(), value.into())),
            None => all.extend(["0", "1"].map(|v| Setting::Key(key.clone(), v.into()))),
        }
    }
    all.retain(|s| s.text().contains(&args.only));
    Ok(all)
}

/// How settings are tried.
struct Trial<'a> {
    args: &'a Args,
    /// What is printed where it is right.
    right: Option<String>,
    said: Mutex<String>,
}

impl<'a> Trial<'a> {
    fn new(args: &'a Args) -> Result<Trial<'a>, Failure> {
        let mut trial = Trial { args, right: None, said: Mutex::default() };
        if let Some(good) = &args.test.good {
            let ended = trial.run(good, &[])?;
            if !ended.success() {
                return Err(Failure(format!(
                    "it also fails with the options of --good ({}): {}",
                    ended.describe_failure(),
                    ended.err.trim()
                )));
            }
            trial.right = Some(ended.out);
        }
        Ok(trial)
    }

    fn describe_result(&self) -> String {
        self.said.lock().map(|s| s.trim().to_owned()).unwrap_or_default()
    }

    /// `envisa run` with more options.
    fn run(&self, more: &str, environment: &[(String, String)]) -> Result<Ended, Failure> {
        let own = std::env::current_exe()
            .map_err(|e| Failure(format!("the path of this command cannot be found: {e}")))?;
        let more =
            shlex::split(more).ok_or_else(|| Failure(format!("`{more}`: a quotation mark is not closed")))?;
        let mut words: Vec<OsString> = vec![own.into(), "run".into(), self.args.file.clone().into()];
        words.extend(self.args.run.iter().cloned());
        let mut more = more.into_iter();
        while let Some(word) = more.next() {
            // Options of the compiler are added to those that are there.
            let there = words.iter().position(|w| w == "--options").map(|i| i + 1);
            match (word.as_str(), there.and_then(|i| words.get_mut(i))) {
                ("--options", Some(old)) => {
                    old.push(" ");
                    old.push(more.next().unwrap_or_default());
                }
                _ => words.push(word.into()),
            }
        }
        self.run_with_limits(&words, environment)
    }

    fn run_with_limits(
        &self,
        words: &[OsString],
        environment: &[(String, String)],
    ) -> Result<Ended, Failure> {
        let here = PathBuf::from(".");
        limited_process::run(words, &here, self.args.timeout.max(1), environment)
            .ok_or_else(|| Failure("a process cannot be started".into()))
    }

    fn try_setting(&self, setting: &Setting) -> Verdict {
        let (option, mut environment) = match setting {
            Setting::Nothing => (None, Vec::new()),
            Setting::Option(o) => (Some(*o), Vec::new()),
            Setting::Key(name, value) => (None, vec![(format!("IGC_{name}"), value.clone())]),
        };
        let ended = match (&self.right, &self.args.test.test) {
            (None, Some(test)) => {
                environment.push(("ENVISA_BISECT_OPTIONS".into(), option.unwrap_or_default().into()));
                let file = self.args.file.to_string_lossy();
                let words = ["sh", "-c", &test.replace("{}", &limited_process::quoted_for_shell(&file))]
                    .map(OsString::from);
                self.run_with_limits(&words, &environment)
            }
            _ => self.run(&option.map_or(String::new(), |o| format!("--options '{o}'")), &environment),
        };
        let Ok(ended) = ended else { return Verdict::Unknown };
        let verdict = match (&self.right, ended.code) {
            (Some(right), Some(0)) if ended.out == *right => Verdict::Right,
            (Some(_), Some(0)) | (None, Some(0)) => Verdict::Wrong,
            (None, Some(1)) => Verdict::Right,
            _ => Verdict::Unknown,
        };
        if let (Verdict::Unknown, Ok(mut said)) = (verdict, self.said.lock()) {
            *said = format!("{}: {}", ended.describe_failure(), ended.err);
        }
        verdict
    }

    /// The verdicts of all settings, several at a time.
    fn all(&self, settings: &[Setting], jobs: usize) -> Vec<Verdict> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let next = AtomicUsize::new(0);
        let found = Mutex::new(vec![Verdict::Unknown; settings.len()]);
        std::thread::scope(|scope| {
            for _ in 0..if jobs == 0 { cores } else { jobs } {
                scope.spawn(|| {
                    loop {
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        let Some(setting) = settings.get(i) else { return };
                        let verdict = self.try_setting(setting);
                        if let Ok(mut found) = found.lock() {
                            found[i] = verdict;
                        }
                    }
                });
            }
        });
        found.into_inner().unwrap_or_default()
    }
}
