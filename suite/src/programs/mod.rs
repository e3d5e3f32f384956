//! Foreign programs: what others wrote for OpenCL, run unmodified on envisa and on its peers, test by test.
//!
//! `suite/programs.toml` lists them: where they come from, how they are run, how their results are read. Nothing of
//! theirs is part of this repository; they are fetched into a cache folder.

mod checked;
mod fetch;
mod page;
mod results;
mod run;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use checked::{Checked, Found, Meaning};
pub use page::page;
pub use results::{Case, Status};
pub use run::{Runner, Side};

/// A program as `programs.toml` has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Short name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// The device of envisa that it runs on.
    pub device: String,
    /// Packages from PyPI, with versions.
    #[serde(default)]
    pub pip: Vec<String>,
    /// Source archives from PyPI, which are unpacked: the tests are in them.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Packages of Debian, which are unpacked with what they need.
    #[serde(default)]
    pub debian: Vec<String>,
    /// Repositories of git, each with a tag, and what of them no test here reads: `ADDRESS TAG [PATH...]`.
    #[serde(default)]
    pub git: Vec<String>,
    /// Builds what came as source, in the folder `{built}`; placeholders are as in `command`.
    #[serde(default)]
    pub build: Option<Vec<String>>,
    /// Folder to run in; placeholders are as in `command`.
    #[serde(default)]
    pub folder: Option<String>,
    /// The command: `{python}` of the program's own environment, `{site}` its packages, `{sources}`,
    /// `{built}`, `{root}` of Debian's packages, `{scripts}` of the suite, `{results}` the file that results go to.
    pub command: Vec<String>,
    /// Further environment variables.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// How results are told.
    pub results: results::Format,
    /// Seconds that it may take.
    pub limit: u64,
    /// Sides that cannot run it, by name, and why not.
    #[serde(default)]
    pub unable: BTreeMap<String, String>,
    /// Failures that are not envisa's.
    #[serde(default)]
    pub explained: Vec<Explained>,
    /// What findings of its kernels mean.
    #[serde(default)]
    pub finds: Vec<Meaning>,
    /// Another command under the checks, which are slower: a part of the tests.
    #[serde(default)]
    pub check: Option<Vec<String>>,
}

/// Why tests fail, where that is not envisa's fault, or is known.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explained {
    /// Part of the tests' names.
    pub tests: String,
    /// Part of what they say; any without it.
    #[serde(default)]
    pub says: String,
    /// Whose it is.
    pub whose: Whose,
    /// Why.
    pub why: String,
}

/// Whose fault a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Whose {
    /// Intel's compiler.
    Compiler,
    /// The test's.
    Test,
    /// The kernel's: the finding is a mistake in it.
    Kernel,
    /// The device lacks what is tested, as the real one does.
    Device,
    /// The runtime's, between the program and OpenCL.
    Runtime,
    /// Envisa's, not done yet.
    Envisa,
}

impl Whose {
    const fn name(self) -> &'static str {
        match self {
            Whose::Compiler => "the compiler's",
            Whose::Test => "the test's",
            Whose::Kernel => "the kernel's",
            Whose::Device => "the device's",
            Whose::Runtime => "its runtime's",
            Whose::Envisa => "envisa's",
        }
    }
}

/// What a program came to, on all sides.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// On each side, by its name.
    pub sides: BTreeMap<String, Run>,
    /// Under the checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<Checked>,
}

/// What a program came to on one side.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// Seconds.
    pub seconds: f64,
    /// It was ended because it took too long.
    pub too_long: bool,
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Tests that failed; the others are only counted.
    pub cases: Vec<Case>,
    /// How many passed.
    pub passed: usize,
    /// How many were left out by themselves.
    pub skipped: usize,
}

impl Run {
    /// Those that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|c| c.status == Status::Failed)
    }

    /// It was ended because it took longer than so many seconds; also if it did not end by itself when interrupted.
    pub fn stopped(&self, limit: u64) -> bool {
        self.too_long || (self.code.is_none() && self.seconds >= limit as f64)
    }

    /// In short, for tables; `limit` is the program's.
    pub fn cell(&self, limit: u64) -> String {
        let stopped = self.stopped(limit);
        // That it was stopped is a failure for the list of them; here it is told with the time.
        let failed = self.failed().count().saturating_sub(usize::from(stopped));
        if stopped && self.passed + self.skipped + failed == 0 {
            return format!("did not end within {limit} s");
        }
        let mut cell = format!("{} passed", self.passed);
        if failed > 0 {
            cell += &format!(", {failed} failed");
        }
        if self.skipped > 0 {
            cell += &format!(", {} skipped", self.skipped);
        }
        match stopped {
            true => format!("{cell} until it was stopped after {:.0} s", self.seconds),
            false => format!("{cell}; {:.0} s", self.seconds),
        }
    }
}

impl Program {
    /// Why a test fails, if that is known.
    pub fn explanation(&self, case: &Case) -> Option<&Explained> {
        self.explained.iter().find(|e| case.name.contains(&e.tests) && case.says.contains(&e.says))
    }

    /// Tests that fail on envisa, pass on PoCL, and that nothing explains as another's fault.
    pub fn open(&self, record: &Record) -> Vec<String> {
        let Some(envisa) = record.sides.get(Side::Envisa.name()) else { return Vec::new() };
        let pocl: Vec<&str> = record
            .sides
            .get(Side::Pocl.name())
            .map(|r| r.cases.iter().map(|c| c.name.as_str()).collect())
            .unwrap_or_default();
        let ours = |c: &&Case| {
            self.explanation(c).is_none_or(|e| e.whose == Whose::Envisa) && !pocl.contains(&&*c.name)
        };
        envisa.failed().filter(ours).map(|c| c.name.clone()).collect()
    }
}

/// The list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    program: Vec<Program>,
}

/// Where this suite is.
fn home() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every program of the list.
///
/// # Errors
/// If the list cannot be read.
pub fn programs() -> Result<Vec<Program>, String> {
    let path = home().join("programs.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let list: List = toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    for program in &list.program {
        if let Some(name) = program.unable.keys().find(|n| !Side::ALL.iter().any(|s| s.name() == n.as_str()))
        {
            return Err(format!("{}: {}: `{name}` is not a side", path.display(), program.name));
        }
    }
    Ok(list.program)
}

/// The file that keeps what was measured, so that one program's run rewrites its part of the page alone.
fn record_file() -> PathBuf {
    home().join("../docs/programs.json")
}

fn read_records(path: &std::path::Path) -> Result<BTreeMap<String, Record>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display())),
        Err(_) => Ok(BTreeMap::new()),
    }
}

/// Runs programs whose name contains one of `only`, on sides, or on envisa under the checks; `true` if none fails for
/// a reason that is envisa's, and of no finding the reason is unknown.
///
/// # Errors
/// If a program cannot be had, or files cannot be written.
pub fn command(only: &[String], sides: &[Side], check: bool, write: bool) -> Result<bool, String> {
    let all = programs()?;
    let runner = Runner::new()?;
    let path = record_file();
    let mut good = true;
    let wanted = |p: &&Program| only.is_empty() || only.iter().any(|o| p.name.contains(o.as_str()));
    for program in all.iter().filter(wanted) {
        let mut record = read_records(&path)?.remove(&program.name).unwrap_or_default();
        let place = runner.fetch(program)?;
        if check {
            let checked = runner.check(program, &place)?;
            println!("{}, checked: {}", program.name, checked.run.cell(program.limit));
            println!("  {} kernels, {} without findings", checked.kernels.len(), checked.clean().count());
            for f in &checked.found {
                let known = program.meaning(f).is_some_and(|m| m.whose != Whose::Envisa);
                let told = if known { "" } else { "; nothing explains it" };
                println!("  {} {}: {}: {}{told}", f.code, f.kernel, f.says, f.line);
                good &= known;
            }
            record.checked = Some(checked);
        }
        for side in sides.iter().filter(|_| !check) {
            if let Some(why) = program.unable.get(side.name()) {
                println!("{}: left out on {}: {why}", program.name, side.name());
                record.sides.remove(side.name());
                continue;
            }
            let Some(run) = runner.run(program, &place, *side)? else {
                println!("{}: {} is not installed: left out", program.name, side.name());
                continue;
            };
            println!("{} on {}: {}", program.name, side.name(), run.cell(program.limit));
            for case in run.failed() {
                println!("  {}: {}", case.name, case.says.lines().next().unwrap_or_default());
            }
            record.sides.insert(side.name().to_owned(), run);
        }
        let open = program.open(&record);
        for name in &open {
            println!("{}: {name} fails on envisa only, and nothing explains it", program.name);
        }
        good &= open.is_empty();
        if write {
            // Read again: another run may have written meanwhile.
            let mut records = read_records(&path)?;
            records.insert(program.name.clone(), record);
            let text = serde_json::to_string_pretty(&records).map_err(|e| e.to_string())?;
            crate::performance::write_text(&path, &format!("{text}\n"))?;
            crate::performance::publish(&home().join("../docs/PROGRAMS.md"), &page(&all, &records), &open)?;
        }
    }
    Ok(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_were_stopped_say_so() {
        let failed = |name: &str| Case { name: name.into(), status: Status::Failed, says: String::new() };
        let run = |seconds, too_long, code, cases: &[Case], passed| {
            Run { seconds, too_long, code, cases: cases.to_vec(), passed, skipped: 0 }.cell(600)
        };
        assert_eq!(run(12.4, false, Some(0), &[], 3), "3 passed; 12 s");
        assert_eq!(run(12.4, false, Some(1), &[failed("a")], 3), "3 passed, 1 failed; 12 s");
        let told = [failed("a"), failed("the program")];
        assert_eq!(
            run(601.0, true, Some(124), &told, 3),
            "3 passed, 1 failed until it was stopped after 601 s"
        );
        // Interrupts did not end it, so it told nothing.
        assert_eq!(run(660.0, false, None, &told[1..], 0), "did not end within 600 s");
        assert_eq!(run(20.0, false, None, &told[1..], 0), "0 passed, 1 failed; 20 s");
    }
}
