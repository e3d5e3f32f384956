//! `docs/PROGRAMS.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Case, Program, Record, Side};
use crate::report::Table;

/// Names of tests that a table lists; of the others it says how many they are.
const NAMED: usize = 6;

/// The page.
pub fn page(programs: &[Program], records: &BTreeMap<String, Record>) -> String {
    let mut text = String::from(
        "# Foreign programs\n\n\
         This page has the results of OpenCL programs that others wrote, unmodified, on envisa and on other \
         OpenCL implementations. They run their own test suites. One command fetches and runs a program:\n\n\
         ```sh\n\
         cargo build --release -p envisa-cli -p envisa-opencl -p envisa-suite\n\
         target/release/envisa-suite programs --only NAME\n\
         ```\n\n\
         The same command with `--write` writes this page; `suite/programs.toml` lists the programs. Times are \
         those of the whole program, including compilation, on a machine that also does other work. Packages are \
         fetched from PyPI, Debian and GitHub into `~/.cache/envisa-programs`, or into the folder \
         `ENVISA_PROGRAMS`.\n\n",
    );
    let mut table = Table::new(["program", "", "device", "envisa", "PoCL 3.1", "Intel CPU runtime", "open"]);
    for p in programs {
        let Some(record) = records.get(&p.name) else { continue };
        let cell = |side: Side| match (p.unable.contains_key(side.name()), record.sides.get(side.name())) {
            (true, _) => "–".to_owned(),
            (false, run) => run.map_or_else(String::new, |r| r.cell(p.limit)),
        };
        let open = match p.open(record).len() {
            0 => "–".to_owned(),
            n => format!("**{n}**"),
        };
        let [envisa, pocl, intel] = Side::ALL.map(cell);
        table.row([p.name.clone(), p.about.clone(), p.device.clone(), envisa, pocl, intel, open]);
    }
    text.push_str(&table.to_markdown());
    text.push_str(
        "\n\"Open\" counts tests that fail on envisa but not on PoCL, because of a bug in envisa or for an \
         unknown reason. If a program crashes before it reports its tests, this counts as one failed test, \"the \
         program\".\n",
    );
    for p in programs {
        let Some(record) = records.get(&p.name) else { continue };
        let failures = failures(p, record);
        if failures.is_empty() {
            continue;
        }
        let _ = write!(text, "\n## {}\n\n{failures}", p.name);
    }
    text.push_str(&super::checked::section(programs, records));
    text
}

/// Tests that fail on envisa, by reason.
fn failures(program: &Program, record: &Record) -> String {
    let Some(envisa) = record.sides.get(Side::Envisa.name()) else { return String::new() };
    let mut groups: BTreeMap<(String, String), Vec<&Case>> = BTreeMap::new();
    let pocl = record.sides.get(Side::Pocl.name());
    for case in envisa.failed() {
        let (whose, why) = match program.explanation(case) {
            Some(e) => (e.whose.name().to_owned(), e.why.clone()),
            None => ("**open**".to_owned(), format!("`{}`", case.says.replace('`', "'"))),
        };
        groups.entry((whose, why)).or_default().push(case);
    }
    let mut table = Table::new(["tests that fail on envisa", "on PoCL", "whose", "why"]);
    for ((whose, why), cases) in groups {
        let mut names: Vec<String> = cases.iter().take(NAMED).map(|c| format!("`{}`", c.name)).collect();
        if cases.len() > NAMED {
            names.push(format!("and {} more", cases.len() - NAMED));
        }
        let failing = |c: &&&Case| pocl.is_some_and(|r| r.failed().any(|o| o.name == c.name));
        let also = match (pocl, cases.iter().filter(failing).count()) {
            (None, _) => "not run".to_owned(),
            // Tests that left themselves out are counted only.
            (Some(r), 0) if r.passed == 0 => "left out".to_owned(),
            (Some(r), 0) if r.skipped > 0 => "pass or left out".to_owned(),
            (_, 0) => "pass".to_owned(),
            (_, n) if n == cases.len() => "fail too".to_owned(),
            (_, n) => format!("{n} fail too"),
        };
        table.row([names.join(", "), also, whose, why]);
    }
    if table.is_empty() { String::new() } else { table.to_markdown() }
}
