//! The table in `docs/COMPILER-BUGS.md`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Failure, Measured, Reached};

const BEGIN: &str = "<!-- begin reductions -->";
const END: &str = "<!-- end reductions -->";
const HEAD: &str = "\
| failure | what is reduced | lines | by a person | by `envisa reduce` | its CPU time | time | candidates | by `creduce` | its CPU time | |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |";

/// The table's rows, by what they are of.
pub(super) struct Rows {
    before: String,
    after: String,
    /// In their order.
    rows: Vec<(String, String)>,
}

impl Rows {
    pub fn read() -> Result<Rows, String> {
        let page = std::fs::read_to_string(path()).map_err(|e| format!("{}: {e}", path().display()))?;
        let none = || format!("{}: has no `{BEGIN}` and `{END}`", path().display());
        let (before, rest) = page.split_once(BEGIN).ok_or_else(none)?;
        let (table, after) = rest.split_once(END).ok_or_else(none)?;
        let rows = table.lines().filter(|l| l.starts_with("| ")).skip(2);
        let name = |row: &str| row.split('|').nth(1).unwrap_or_default().trim().to_owned();
        Ok(Rows {
            before: before.to_owned(),
            after: after.to_owned(),
            rows: rows.map(|row| (name(row), row.to_owned())).collect(),
        })
    }

    /// Keeps rows of these only, in their order.
    pub fn keep(&mut self, names: &[&str]) {
        let row = |name: &&str| Some(((*name).to_owned(), self.of(name)?.to_owned()));
        self.rows = names.iter().filter_map(row).collect();
    }

    fn of(&self, name: &str) -> Option<&str> {
        self.rows.iter().find(|(n, _)| n == name).map(|(_, row)| row.as_str())
    }

    pub fn put(&mut self, name: &str, row: &str) {
        match self.rows.iter_mut().find(|(n, _)| n == name) {
            Some((_, known)) => row.clone_into(known),
            None => self.rows.push((name.to_owned(), row.to_owned())),
        }
    }

    pub fn write(&self) -> Result<(), String> {
        let rows: String = self.rows.iter().map(|(_, row)| format!("{row}\n")).collect();
        let text = format!("{}{BEGIN}\n\n{HEAD}\n{rows}\n{END}{}", self.before, self.after);
        std::fs::write(path(), text).map_err(|e| format!("{}: {e}", path().display()))
    }
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/COMPILER-BUGS.md")
}

/// A row: sizes are lines and, in brackets, characters that are not blank.
pub(super) fn row(failure: &Failure, measured: Option<&Measured>, wrong: &[String]) -> String {
    let seconds = |time: Duration| format!("{:.0} s", time.as_secs_f64());
    let size = |s: super::Size| format!("{} ({})", s.lines, s.characters);
    let cells = match measured {
        None => vec![String::new(); 8],
        Some(m) => {
            let other = |cell: &dyn Fn(&Reached) -> String| m.creduce.as_ref().map_or(String::new(), cell);
            vec![
                m.whole.lines.to_string(),
                size(m.person),
                size(m.reached.size),
                seconds(m.reached.used),
                seconds(m.reached.time),
                m.candidates.clone(),
                other(&|r| size(r.size)),
                other(&|r| format!("{}{}", if r.stopped { "> " } else { "" }, seconds(r.used))),
            ]
        }
    };
    format!("| {} | {} | {} | {} |", failure.name, failure.form.name(), cells.join(" | "), wrong.join("; "))
}
