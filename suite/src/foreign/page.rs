//! What suites came to, as their sections of `docs/CHECKS.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Row, Suite};
use crate::kernel::Device;
use crate::report::Table;

/// A section, and the disagreements that nobody looked into.
pub struct Section {
    /// Its text.
    pub text: String,
    /// Names of programs.
    pub unexplained: Vec<String>,
    /// Those that are explained, and that nobody disagrees about any more.
    pub agreed: Vec<String>,
}

/// What was found of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Something,
    Nothing,
    NotRun,
}

impl Row {
    fn envisa(&self, device: usize) -> Found {
        match &self.envisa[device].1 {
            Err(_) => Found::NotRun,
            Ok(came) if came.counts(self.program.codes).is_some() => Found::Something,
            Ok(_) => Found::Nothing,
        }
    }

    fn oclgrind(&self) -> Found {
        let races = !self.program.codes.contains(&"F0005");
        let counts = |m: &String| !races || m.contains("race") || m.contains("divergence");
        match &self.oclgrind {
            None => Found::NotRun,
            Some(all) if all.iter().any(counts) => Found::Something,
            Some(_) => Found::Nothing,
        }
    }

    /// What envisa says that the suite does not, or the reverse; `None` if they agree on all devices that run it.
    fn disagreement(&self) -> Option<String> {
        let (wrong, what) = match self.program.bug {
            true => (Found::Nothing, "missed"),
            false => (Found::Something, "accused"),
        };
        let wrong = |n: &usize| self.envisa(*n) == wrong;
        let on: Vec<&str> = (0..self.envisa.len()).filter(wrong).map(|n| self.envisa[n].0.name()).collect();
        let first = (0..self.envisa.len()).find(wrong)?;
        let said = match &self.envisa[first].1 {
            Ok(came) => came
                .counts(self.program.codes)
                .map_or(String::new(), |f| format!(", {} {}", f.code, f.message)),
            Err(_) => String::new(),
        };
        let theirs = match self.oclgrind() {
            Found::Something => "; Oclgrind finds something",
            Found::Nothing => "; Oclgrind finds nothing",
            Found::NotRun => "",
        };
        Some(format!("{what} on {}{said}{theirs}", on.join(", ")))
    }
}

/// What was planted that only envisa finds, by kind: how often.
fn only_ours(rows: &[Row]) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let ours = |r: &&Row| {
        let found = (0..r.envisa.len()).any(|n| r.envisa(n) == Found::Something);
        found && r.program.bug && r.program.planted.is_some() && r.oclgrind() == Found::Nothing
    };
    for row in rows.iter().filter(ours) {
        *kinds.entry(&row.program.says).or_default() += 1;
    }
    kinds.iter().map(|(what, n)| format!("{what} ({n})")).collect::<Vec<_>>().join(", ")
}

/// The section of a suite.
pub fn section(suite: &Suite, rows: &[Row], explained: &BTreeMap<String, String>) -> Section {
    let mut table =
        Table::new(["", "bugs found", "missed", "right, nothing found", "right, accused", "not run"]);
    let mut sums = |name: String, of: &dyn Fn(&Row) -> Found| {
        let count =
            |bug: bool, found: Found| rows.iter().filter(|r| r.program.bug == bug && of(r) == found).count();
        let not_run = count(true, Found::NotRun) + count(false, Found::NotRun);
        table.row(
            [
                count(true, Found::Something),
                count(true, Found::Nothing),
                count(false, Found::Nothing),
                count(false, Found::Something),
                not_run,
            ]
            .into_iter()
            .fold(vec![name], |mut cells, n| {
                cells.push(n.to_string());
                cells
            }),
        );
    };
    let devices: Vec<Device> = rows.first().map_or(Vec::new(), |r| r.envisa.iter().map(|e| e.0).collect());
    for (n, device) in devices.iter().enumerate() {
        sums(format!("envisa, {}", device.name()), &|r| r.envisa(n));
    }
    if rows.iter().any(|r| r.oclgrind.is_some()) {
        sums("Oclgrind".to_owned(), &Row::oclgrind);
    }
    let mut text = format!("{}\n\n{}", suite.about, table.to_markdown());
    let more = only_ours(rows);
    if !more.is_empty() {
        let _ = write!(text, "\nWhat was planted and envisa finds, and Oclgrind does not: {more}.\n");
    }
    let mut unexplained = Vec::new();
    let mut list = String::new();
    let mut agreed = Vec::new();
    for row in rows {
        let name = &row.program.name;
        let Some(what) = row.disagreement() else {
            agreed.extend(explained.contains_key(name).then(|| name.clone()));
            continue;
        };
        let why = explained.get(name).map_or("**not looked into**", String::as_str);
        if !explained.contains_key(name) {
            unexplained.push(format!("{name}: {what}; it says {}", row.program.says));
        }
        let _ = writeln!(list, "- `{name}`: {what}. {why}");
    }
    if !list.is_empty() {
        let _ = write!(text, "\nWhere the two disagree:\n\n{list}");
    }
    let mut not_run: BTreeMap<String, usize> = suite.left_out.clone();
    for (_, came) in rows.iter().flat_map(|r| r.envisa.iter().take(1)) {
        if let Err(why) = came {
            *not_run.entry(why.clone()).or_default() += 1;
        }
    }
    if !not_run.is_empty() {
        let _ = write!(text, "\nNot run:\n\n");
        for (why, n) in not_run {
            let _ = writeln!(text, "- {n}: {why}");
        }
    }
    Section { text, unexplained, agreed }
}
