//! Programs under `envisa exec --check`: which kernels ran without a finding, and what was found.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Program, Record, Run, Whose};
use crate::report::Table;

/// What a program came to under the checks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Checked {
    /// Its own tests.
    pub run: Run,
    /// Every kernel that was launched, by name, and how often.
    pub kernels: BTreeMap<String, u64>,
    /// Findings and faults of kernels.
    pub found: Vec<Found>,
    /// Mistakes of the program.
    pub mistakes: Vec<Found>,
    /// What the checks could not look at.
    pub notes: Vec<String>,
}

/// A finding, a fault or a mistake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The kernel; empty of mistakes.
    pub kernel: String,
    /// `F0004`; of mistakes their kind.
    pub code: String,
    /// In a sentence.
    pub says: String,
    /// Line of the source, as far as it is known: file, number, text.
    pub line: String,
    /// In how many launches or calls.
    pub times: u64,
}

/// What findings mean, where that was looked into.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meaning {
    /// Part of the kernels' names; any without it.
    #[serde(default)]
    pub kernels: String,
    /// Part of what they say; any without it.
    #[serde(default)]
    pub says: String,
    /// The code, or the kind of mistake.
    pub code: String,
    /// Whose it is.
    pub whose: Whose,
    /// What it means.
    pub why: String,
}

/// The program's own exit code, as `envisa exec --json` wrote it.
pub fn exit(json: &str) -> Option<i32> {
    let all: Value = serde_json::from_str(json).ok()?;
    all["exit"].as_i64().and_then(|code| i32::try_from(code).ok())
}

impl Checked {
    /// Reads what `envisa exec --json` wrote.
    ///
    /// # Errors
    /// If it is no such file.
    pub fn read(run: Run, json: &str) -> Result<Checked, String> {
        let all: Value = serde_json::from_str(json).map_err(|e| format!("the report of envisa exec: {e}"))?;
        let list = |name: &str| all[name].as_array().cloned().unwrap_or_default();
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let kernels = list("kernels");
        let kernels = kernels.iter().map(|k| (text(&k["name"]), k["launches"].as_u64().unwrap_or(0)));
        let told = |v: &Value, part: &str| {
            let f = &v[part];
            let source = &f["source"];
            let line = match source["line"].as_u64() {
                Some(n) => format!("{}:{n}: {}", text(&source["file"]), text(&source["text"]).trim()),
                None => String::new(),
            };
            // The first line of the diagnostic: `error[F0004]: a data race for …`.
            let says = text(&v["text"]).lines().next().unwrap_or_default().to_owned();
            let says = says.split_once(": ").map_or(says.clone(), |(_, s)| s.to_owned());
            Found {
                kernel: text(&f["kernel"]),
                code: text(&f["code"]),
                says,
                line,
                times: v["times"].as_u64().unwrap_or(1),
            }
        };
        let faults = list("faults");
        let found = faults.iter().map(|v| told(v, "fault"));
        let mistake = |v: &Value| Found {
            kernel: String::new(),
            code: text(&v["what"]),
            says: text(&v["text"]),
            line: String::new(),
            times: v["times"].as_u64().unwrap_or(1),
        };
        Ok(Checked {
            run,
            kernels: kernels.collect(),
            found: found.chain(list("findings").iter().map(|v| told(v, "finding"))).collect(),
            mistakes: list("mistakes").iter().map(mistake).collect(),
            notes: list("notes").iter().map(|n| text(&n["text"])).collect(),
        })
    }

    /// Kernels of which nothing was found.
    pub fn clean(&self) -> impl Iterator<Item = &str> {
        let found: BTreeSet<&str> = self.found.iter().map(|f| f.kernel.as_str()).collect();
        self.kernels.keys().map(String::as_str).filter(move |k| !found.contains(k))
    }
}

impl Program {
    /// What a finding means, if that was looked into.
    pub fn meaning(&self, found: &Found) -> Option<&Meaning> {
        let fits = |m: &&Meaning| {
            m.code == found.code && found.kernel.contains(&m.kernels) && found.says.contains(&m.says)
        };
        self.finds.iter().find(fits)
    }
}

/// The section of the page.
pub fn section(programs: &[Program], records: &BTreeMap<String, Record>) -> String {
    let all: Vec<(&Program, &Checked)> =
        programs.iter().filter_map(|p| Some((p, records.get(&p.name)?.checked.as_ref()?))).collect();
    if all.is_empty() {
        return String::new();
    }
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut table = Table::new([
        "program",
        "its tests",
        "kernels",
        "launches",
        "kernels without findings",
        "findings",
        "mistakes of the program",
        "open",
    ]);
    for (p, c) in &all {
        names.extend(c.clean());
        let launches: u64 = c.kernels.values().sum();
        let open = c.found.iter().filter(|f| p.meaning(f).is_none_or(|m| m.whose == Whose::Envisa)).count();
        table.row([
            p.name.clone(),
            c.run.cell(p.limit),
            c.kernels.len().to_string(),
            launches.to_string(),
            c.clean().count().to_string(),
            c.found.len().to_string(),
            c.mistakes.len().to_string(),
            if open == 0 { "–".to_owned() } else { format!("**{open}**") },
        ]);
    }
    let mut text = format!(
        "\n## Under `--check`\n\nThe same programs run under `envisa exec --check` with `envisa-suite programs \
         --check --only NAME --write`. {} kernels with different names ran without a finding. \"Open\" counts \
         findings without an explanation, and findings that are bugs of envisa.\n\n{}",
        names.len(),
        table.to_markdown()
    );
    for (p, c) in &all {
        let _ = write!(text, "\n### {}, checked\n\n", p.name);
        let clean: Vec<String> = c.clean().map(|k| format!("`{k}`")).collect();
        let _ = writeln!(text, "Without findings: {}.", clean.join(", "));
        let mut table = Table::new(["found", "kernel", "says", "line", "times", "whose", "what it means"]);
        for f in c.found.iter().chain(&c.mistakes) {
            let (whose, why) = match p.meaning(f) {
                Some(m) => (m.whose.name(), m.why.clone()),
                None if f.kernel.is_empty() => ("the program's", String::new()),
                None => ("**open**", String::new()),
            };
            let line =
                if f.line.is_empty() { String::new() } else { format!("`{}`", f.line.replace('`', "'")) };
            let (says, times) = (f.says.clone(), f.times.to_string());
            table.row([f.code.clone(), f.kernel.clone(), says, line, times, whose.to_owned(), why]);
        }
        if !table.is_empty() {
            let _ = write!(text, "\n{}", table.to_markdown());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read() {
        let json = r#"{"faults": [], "findings": [{"key": "k", "text": "error[F0004]: a data race: of two\n --> x",
            "finding": {"code": "F0004", "kernel": "b", "source": {"file": "p.cl", "line": 3, "text": " x = 1;"}},
            "times": 2}], "mistakes": [{"what": "leak", "text": "1 buffer never released"}], "notes": [{"text": "n"}],
            "kernels": [{"name": "a", "launches": 2}, {"name": "b", "launches": 1}]}"#;
        let checked = Checked::read(Run::default(), json).unwrap();
        assert_eq!(checked.clean().collect::<Vec<_>>(), ["a"]);
        let found = Found {
            kernel: "b".into(),
            code: "F0004".into(),
            says: "a data race: of two".into(),
            line: "p.cl:3: x = 1;".into(),
            times: 2,
        };
        assert_eq!(checked.found, [found]);
        assert_eq!(checked.mistakes[0].code, "leak");
        assert!(Checked::read(Run::default(), "").is_err());
    }
}
