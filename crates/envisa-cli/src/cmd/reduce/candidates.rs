//! Candidates of a reduction: whether they still show the failure, which processes say.

use super::clang_check::ClangCheck;
use super::{Args, Failing};
use crate::cmd::limited_process::{self, Ended, RequestProcess, quoted_for_shell};
use crate::cmd::{Failure, other_driver};
use envisa::FindingKind;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Tries candidates by processes.
pub(super) struct Candidates<'a> {
    commands: Vec<Vec<OsString>>,
    shows: Shows,
    input: &'a Failing,
    timeout: u32,
    /// Where built-in tests run, so that options name files as the user does; other commands run beside the candidate.
    folder: Option<PathBuf>,
    /// Kinds of warnings that candidates may have: those of the input.
    warnings: OnceLock<BTreeSet<String>>,
    /// Hints that candidates may have: those of the input.
    hints: OnceLock<BTreeSet<String>>,
    /// Which of A and B runs first: what the quicker one refuses, the other need not run.
    quicker: OnceLock<usize>,
    /// Refuses texts that are no programs.
    front: ClangCheck,
    /// Processes of other drivers, by command. What they say of a candidate that shows the failure, a new process has to say, too.
    residents: Mutex<Vec<(usize, RequestProcess)>>,
    /// How many were tried.
    pub(super) tried: AtomicUsize,
}

enum Shows {
    /// The command succeeds.
    Success,
    /// Its output has this text.
    Text(String),
    /// The first finds nothing; the two others succeed and print different texts.
    Different,
}

/// Stands for the candidate's path.
const PLACE: &str = "{}";

impl<'a> Candidates<'a> {
    pub(super) fn new(args: &Args, input: &'a Failing) -> Result<Candidates<'a>, Failure> {
        let own = std::env::current_exe()
            .map_err(|e| Failure(format!("the path of this command cannot be found: {e}")))?;
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
            let (a, b) = (run(a)?, run(b)?);
            (vec![checking_command(&a, &b), a, b], Shows::Different)
        };
        let folder = match shows {
            Shows::Success => None,
            _ => Some(
                std::env::current_dir()
                    .map_err(|e| Failure(format!("the current folder cannot be determined: {e}")))?,
            ),
        };
        Ok(Candidates {
            commands,
            shows,
            input,
            timeout: args.timeout.max(1),
            folder,
            warnings: OnceLock::new(),
            hints: OnceLock::new(),
            quicker: OnceLock::new(),
            front: ClangCheck::default(),
            residents: Mutex::default(),
            tried: AtomicUsize::new(0),
        })
    }

    /// Runs a command on a candidate, within bounds of time and addresses.
    fn run_candidate(&self, k: usize, path: &Path, program: &str) -> Result<Ended, String> {
        let shown = path.to_string_lossy();
        let words = self.words_of(k, &shown, program);
        let mut environment = vec![("ENVISA_CANDIDATE".to_owned(), shown.into_owned())];
        environment
            .extend(self.driver_library(k).into_iter().flat_map(other_driver::implementation_environment));
        let folder = self.folder.as_deref().or(path.parent()).unwrap_or(Path::new("."));
        limited_process::run(&words, folder, self.timeout, &environment)
            .ok_or_else(|| "a process cannot be started".to_owned())
    }

    /// The same by a process that stays, if the command runs on another driver.
    fn run_in_resident_process(&self, k: usize, path: &Path, program: &str) -> Option<Ended> {
        let driver = self.driver_library(k)?;
        let words = self.words_of(k, &path.to_string_lossy(), program);
        let words: Vec<&str> = words.iter().map(|w| w.to_str()).collect::<Option<_>>()?;
        let request = serde_json::to_string(&words).ok()?;
        let known = |all: &mut Vec<(usize, RequestProcess)>| {
            let at = all.iter().position(|(of, _)| *of == k)?;
            Some(all.swap_remove(at).1)
        };
        let mut resident = self.residents.lock().ok().and_then(|mut all| known(&mut all)).or_else(|| {
            let mut words: Vec<OsString> = self.commands[k].clone();
            words.push("--serve".into());
            RequestProcess::start(&words, &other_driver::implementation_environment(driver))
        })?;
        let time = Duration::from_secs(self.timeout.into()) * 2;
        let answer: other_driver::Answer =
            resident.ask(&request, time, |line| serde_json::from_str(line).ok())?;
        self.residents.lock().ok()?.push((k, resident));
        Some(match answer {
            Ok(out) => Ended { code: Some(0), out, err: String::new() },
            Err(why) => Ended { code: Some(2), out: String::new(), err: format!("error: {why}") },
        })
    }

    /// Options of the compiler: of a job, and of the last command, which is none for checks.
    fn options(&self, job: &str) -> Vec<String> {
        let words = self.commands.last().into_iter().flatten().map(|w| w.to_string_lossy().into_owned());
        let words: Vec<String> = words.collect();
        let given = words.windows(2).filter(|w| w[0] == "--options").map(|w| w[1].clone());
        let of_job = job.lines().filter_map(|l| l.strip_prefix("options = \"")?.strip_suffix('"'));
        of_job.map(str::to_owned).chain(given).collect()
    }

    /// The library of the driver on which a command runs, if it is not envisa.
    fn driver_library(&self, k: usize) -> Option<&str> {
        self.commands[k].windows(2).find(|w| w[0] == "--driver").and_then(|w| w[1].to_str())
    }

    /// The words of a command for a candidate, with its path.
    fn words_of(&self, k: usize, path: &str, program: &str) -> Vec<OsString> {
        let all = self.words(k, program).into_iter();
        all.map(|w| w.to_str().map_or_else(|| w.clone(), |word| word.replace(PLACE, path).into())).collect()
    }

    /// The words of a command for a candidate.
    fn words(&self, k: usize, program: &str) -> Vec<&OsString> {
        without_arguments(&self.commands[k], &|name| has_lost_name(&self.input.program, program, name))
    }

    /// Does a program, with a job if the input is one, show the failure?
    ///
    /// # Errors
    /// Why it does not, in words.
    pub(super) fn check_failure_shown(&self, program: &str, job: &str) -> Result<(), String> {
        self.tried.fetch_add(1, Ordering::Relaxed);
        let folder = tempfile::Builder::new().prefix("envisa-reduce").tempdir().map_err(|e| e.to_string())?;
        let path = self.input.write(folder.path(), "candidate", program, job)?;
        let run = |k: usize| self.run_candidate(k, &path, program);
        let source = folder.path().join(if job.is_empty() { "candidate.cl" } else { &self.input.name });
        let is_text = !matches!(self.shows, Shows::Success) && self.input.file_extension() == "cl";
        if is_text && self.front.surely_rejects(&source, &self.options(job), self.timeout) {
            return Err("the program is not OpenCL C".into());
        }
        match &self.shows {
            Shows::Success => require_success(run(0)?, "the command").map(|_| ()),
            Shows::Text(wanted) => {
                let ended = run(0)?;
                let said = ended.out.contains(wanted.as_str()) || ended.err.contains(wanted.as_str());
                said.then_some(()).ok_or_else(|| format!("`envisa run` does not print `{wanted}`"))
            }
            Shows::Different => {
                let timed = |k: usize| {
                    let start = Instant::now();
                    let ended = self.run_in_resident_process(k, &path, program).map_or_else(|| run(k), Ok)?;
                    let who = ["with A, `envisa run`", "with B, `envisa run`"][k - 1];
                    Ok::<_, String>((require_success(ended, who)?, start.elapsed()))
                };
                let first = self.quicker.get().copied().unwrap_or(1);
                let (one, other) = (timed(first)?, timed(3 - first)?);
                let ((a, time), (b, time_of_b)) = if first == 1 { (one, other) } else { (other, one) };
                self.quicker.get_or_init(|| if time <= time_of_b { 1 } else { 2 });
                if a.out == b.out {
                    return Err("A and B print the same".into());
                }
                let warnings = warning_kinds(&a.err);
                if !warnings.is_subset(self.warnings.get_or_init(|| warnings.clone())) {
                    return Err(
                        "with A, `envisa run` has warnings of other kinds than those of the input".into()
                    );
                }
                // Whatever the processes that stay have been through: new ones say the same.
                for (k, before) in [(1, &a), (2, &b)] {
                    if self.driver_library(k).is_some() && run(k)?.out != before.out {
                        self.residents.lock().map_err(|e| e.to_string())?.clear();
                        return Err("the other driver prints different results in different runs".into());
                    }
                }
                // Last, as the checks take the longest, and most candidates print the same.
                self.is_defined(run(0)?)
            }
        }
    }

    /// Do the checks find nothing but hints that they find of the input, too?
    fn is_defined(&self, ended: Ended) -> Result<(), String> {
        let codes = error_codes(&ended.err);
        let hints = |code: &String| FindingKind::ALL.iter().any(|k| k.is_hint() && k.code() == code);
        if codes.is_empty() || !codes.iter().all(hints) {
            require_success(ended, "with `--check-hints`, `envisa run`")?;
        }
        let known = self.hints.get_or_init(|| codes.clone());
        let new: Vec<&str> = codes.difference(known).map(String::as_str).collect();
        match &new[..] {
            [] => Ok(()),
            new => Err(format!("the checks report errors that the input does not have: {}", new.join(", "))),
        }
    }

    /// The hints that the first program had, if any: they are those of the input.
    pub(super) fn known_hints(&self) -> Option<String> {
        let known = self.hints.get().filter(|codes| !codes.is_empty())?;
        Some(known.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
    }

    /// A script that shows the failure again in a folder that has everything; copies the files there that options name.
    pub(super) fn write_script(&self, best: &Path, program: &str) -> Result<String, String> {
        let folder = best.parent().unwrap_or(Path::new("."));
        let name = best.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut out = String::from("#!/bin/sh\n# Shows the failure again.\ncd \"$(dirname \"$0\")\"\n");
        for k in 0..self.commands.len() {
            let mut words = Vec::new();
            for (i, w) in self.words(k, program).into_iter().enumerate() {
                let word = w.to_string_lossy().replace(PLACE, &name);
                words.push(match word.split_once("=@") {
                    // The command itself, wherever it is installed.
                    _ if i == 0 && word.ends_with("envisa") => "envisa".into(),
                    Some((key, file)) if self.folder.is_some() && Path::new(file).is_file() => {
                        let copy = Path::new(file).file_name().unwrap_or_default();
                        copy_unless_present(Path::new(file), &folder.join(copy))?;
                        quoted_for_shell(&format!("{key}=@{}", copy.to_string_lossy()))
                    }
                    _ => quoted_for_shell(&word),
                });
            }
            out.push_str(&words.join(" "));
            out.push('\n');
        }
        Ok(out)
    }
}

/// What checks a program that runs as A or as B: the first that envisa runs. Where neither is, envisa compiles it for dg2.
fn checking_command(a: &[OsString], b: &[OsString]) -> Vec<OsString> {
    let is_elsewhere = |words: &[OsString]| words.iter().any(|w| w == "--driver");
    let chosen = if is_elsewhere(a) { b } else { a };
    let mut words = Vec::new();
    let mut all = chosen.iter();
    while let Some(word) = all.next() {
        if word == "--driver" {
            all.next();
        } else {
            words.push(word.clone());
        }
    }
    if is_elsewhere(chosen) && !words.iter().any(|w| w == "--device") {
        words.extend(["--device", "dg2"].map(OsString::from));
    }
    words.push("--check-hints".into());
    words
}

/// Codes of errors that were told.
fn error_codes(said: &str) -> BTreeSet<String> {
    let told = said.lines().filter_map(|l| l.strip_prefix("error[")?.split_once(']'));
    told.map(|(code, _)| code.to_owned()).collect()
}

/// Copies a file, unless it is there already.
pub(super) fn copy_unless_present(from: &Path, to: &Path) -> Result<(), String> {
    if to.exists() {
        return Ok(());
    }
    std::fs::copy(from, to).map(|_| ()).map_err(|e| format!("{}: {e}", to.display()))
}

/// Has a candidate lost a name that the input has?
pub(super) fn has_lost_name(input: &str, candidate: &str, name: &str) -> bool {
    let has = |text: &str| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|w| w == name);
    has(input) && !has(candidate)
}

/// Words of `envisa run` without options for arguments that are gone.
pub(super) fn without_arguments<'a>(words: &'a [OsString], gone: &dyn Fn(&str) -> bool) -> Vec<&'a OsString> {
    let mut out: Vec<&OsString> = Vec::new();
    for word in words {
        let is_value = out.last().is_some_and(|last| *last == "--arg" || *last == "--print");
        let name = word.to_str().filter(|_| is_value).and_then(|v| v.split(['=', ':']).next());
        if name.is_some_and(gone) {
            out.pop();
        } else {
            out.push(word);
        }
    }
    out
}

/// Kinds of warnings: what is told without names and numbers.
fn warning_kinds(said: &str) -> BTreeSet<String> {
    let told = said.lines().filter(|l| l.starts_with("warning"));
    told.map(|l| {
        l.split(['\'', '`']).step_by(2).collect::<String>().replace(|c: char| c.is_ascii_digit(), "")
    })
    .collect()
}

fn require_success(ended: Ended, who: &str) -> Result<Ended, String> {
    if ended.success() {
        return Ok(ended);
    }
    let first = ended.err.lines().find(|l| l.starts_with("error") || l.starts_with("fault"));
    let first = first.map_or(String::new(), |l| format!(": {l}"));
    Err(format!("{who} fails ({}){first}", ended.describe_failure()))
}
