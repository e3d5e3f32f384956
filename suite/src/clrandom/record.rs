//! Which programs ran: `suite/opencl-random-runs.toml` has an entry for each run, and the page a table of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::differences::{Difference, Explained};
use super::run::Side;
use crate::report::Table;

/// Programs whose cause is not known, as the record names it.
pub const NOT_KNOWN: &str = "not known";

/// A run of programs with numbers one after another.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The number of the first program.
    pub first: u64,
    /// How many.
    pub programs: u64,
    /// The day.
    pub date: String,
    /// The commit of envisa.
    pub commit: String,
    /// Who ran them.
    pub on: Vec<Side>,
    /// Programs on which envisa's engines differ from each other.
    pub engines: Vec<u64>,
    /// Programs with different results, or without results of some, by whose fault it is.
    pub differ: BTreeMap<String, Vec<u64>>,
}

/// All runs, by their first programs.
#[derive(Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    /// The runs.
    #[serde(default)]
    pub run: Vec<Run>,
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("opencl-random-runs.toml")
}

/// The lines of a command.
fn said_by(command: &str, args: &[&str]) -> Result<String, String> {
    let output =
        std::process::Command::new(command).args(args).output().map_err(|e| format!("{command}: {e}"))?;
    if !output.status.success() {
        return Err(format!("{command}: {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Runs {
    /// Reads them.
    ///
    /// # Errors
    /// If the file cannot be read or is not as it should be.
    pub fn read() -> Result<Runs, String> {
        let path = file();
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Adds a run, in place of one of the same programs, and writes all of them.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, run: Run) -> Result<(), String> {
        self.run.retain(|r| (r.first, r.programs) != (run.first, run.programs));
        self.run.push(run);
        self.run.sort_by_key(|r| r.first);
        let path = file();
        let head = "# Which random programs in OpenCL C ran (`envisa-suite opencl-random --record`).\n\n";
        let text = toml::to_string(self).map_err(|e| e.to_string())?;
        std::fs::write(&path, format!("{head}{text}")).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// The part of the page that tells of them.
    pub fn section(&self, known: &[Explained]) -> String {
        let total: u64 = self.run.iter().map(|r| r.programs).sum();
        let engines: Vec<u64> = self.run.iter().flat_map(|r| r.engines.iter().copied()).collect();
        let engines = match &engines[..] {
            [] => "On none of them do envisa's engines differ from each other.".to_owned(),
            some => format!("**envisa's engines differ from each other on {}.**", list(some)),
        };
        let mut text = format!(
            "\n### All runs\n\nWritten by `envisa-suite opencl-random --record`, which adds what it runs: {total} programs. {engines} \
             Programs from number 5,000 on also have unions, arrays of structures, halves in memory, roundings of integers to floats, \
             local memory in two dimensions, asynchronous copies, pointers that move, atomics that compare and exchange in a loop, \
             and exits from loops by `goto`; those from 6,200 on also functions of sub-groups beside their definitions, atomics whose \
             results are used, vectors at places that are no multiples of their sizes, bytes of what was stored as something else, \
             and indices computed in every width.\n\n"
        );
        let mut table = Table::new(
            ["programs", "date", "commit", "on", "differ, or have no result"].map(str::to_owned).to_vec(),
        );
        for r in &self.run {
            let mut whose: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
            for (who, numbers) in &r.differ {
                for n in numbers {
                    whose.entry(Explained::of(known, *n).unwrap_or(who)).or_default().push(*n);
                }
            }
            whose.values_mut().for_each(|all| all.sort_unstable());
            let differ: Vec<String> =
                whose.iter().map(|(who, all)| format!("{who}: {}", list(all))).collect();
            let on: Vec<&str> = r.on.iter().map(|s| s.name()).collect();
            table.row(vec![
                format!("{} to {}", r.first, r.first + r.programs - 1),
                r.date.clone(),
                r.commit.clone(),
                on.join(", "),
                if differ.is_empty() { "none".to_owned() } else { differ.join("; ") },
            ]);
        }
        let _ = write!(text, "{}", table.to_markdown());
        text
    }

    /// Is the cause of every difference known?
    pub fn is_explained(&self, known: &[Explained]) -> bool {
        let open = self.run.iter().filter_map(|r| r.differ.get(NOT_KNOWN)).flatten();
        open.clone().all(|n| Explained::of(known, *n).is_some())
            && self.run.iter().all(|r| r.engines.is_empty())
    }
}

fn list(numbers: &[u64]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// What a run of today found.
///
/// # Errors
/// If neither the day nor the commit can be had.
pub fn run_of(
    first: u64,
    programs: u64,
    on: &[Side],
    found: &[Difference],
    known: &[Explained],
) -> Result<Run, String> {
    let mut differ: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for d in found {
        differ.entry(d.whose(known).unwrap_or(NOT_KNOWN).to_owned()).or_default().push(d.number());
    }
    Ok(Run {
        first,
        programs,
        date: said_by("date", &["-u", "+%Y-%m-%d"])?,
        commit: said_by("git", &["-C", env!("CARGO_MANIFEST_DIR"), "rev-parse", "--short=8", "HEAD"])?,
        on: on.to_vec(),
        engines: found.iter().filter(|d| d.engines_differ()).map(Difference::number).collect(),
        differ,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page has the table that the record makes, each difference has a cause, and no program is in two runs.
    #[test]
    fn the_page_tells_of_all_runs() {
        let (runs, known) = (Runs::read().unwrap(), super::super::differences::explanations().unwrap());
        let page = super::super::page().unwrap().1;
        assert!(page.ends_with(&runs.section(&known)), "run `envisa-suite opencl-random --record`");
        assert!(runs.is_explained(&known), "a difference has no cause");
        assert!(runs.run.windows(2).all(|w| w[0].first + w[0].programs <= w[1].first), "runs overlap");
    }
}
