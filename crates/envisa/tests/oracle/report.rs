//! The exceptions, and the page that the full comparison writes.

use super::compare::{Outcome, Tally};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Outcomes by row.
pub type Tallies = BTreeMap<&'static str, Tally>;

/// A line of `exceptions.txt`.
pub struct Exception {
    names: &'static str,
    outcome: &'static str,
    part: &'static str,
    reason: &'static str,
    /// How often it was needed, and the first instruction that did.
    used: (usize, String),
}

impl Exception {
    /// Is this outcome of that name the exception?
    pub fn covers(&self, name: &str, outcome: Outcome, said: &str) -> bool {
        let named = match (self.names.strip_prefix('*'), self.names.strip_suffix('*')) {
            (Some(""), _) => true,
            (Some(end), _) => name.ends_with(end),
            (_, Some(start)) => name.starts_with(start),
            _ => name == self.names,
        };
        named && outcome.name() == self.outcome && (self.part == "-" || said.contains(self.part))
    }
}

/// All of them.
pub fn exceptions() -> Vec<Exception> {
    let lines = include_str!("exceptions.txt").lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines
        .map(|l| match l.split(" | ").collect::<Vec<_>>()[..] {
            [names, outcome, part, reason] if !reason.is_empty() => {
                Exception { names, outcome, part, reason, used: (0, String::new()) }
            }
            _ => panic!("not an exception: {l}"),
        })
        .collect()
}

/// What no exception covers; with `stale`, also the exceptions that cover nothing.
pub fn failures(tallies: &Tallies, exceptions: &mut [Exception], stale: bool) -> Vec<String> {
    let mut out = Vec::new();
    for (name, tally) in tallies {
        for (outcome, inst, why) in &tally.odd {
            let said = format!("{inst} ## {why}");
            match exceptions.iter_mut().find(|e| e.covers(name, *outcome, &said)) {
                Some(e) => {
                    if e.used.0 == 0 {
                        e.used.1 = inst.split("//@").next().unwrap_or("").trim().to_owned();
                    }
                    e.used.0 += 1;
                }
                None => out.push(format!("{name} {}: {inst}\n  {why}", outcome.name())),
            }
        }
    }
    if stale {
        let unused = exceptions.iter().filter(|e| e.used.0 == 0);
        out.extend(unused.map(|e| {
            format!("exceptions.txt: {} | {} | {}: no such case any more", e.names, e.outcome, e.part)
        }));
    }
    out
}

/// Those of the corpus's texts (`FILE: what was said`) that no exception covers.
pub fn text_failures(failures: Vec<String>, exceptions: &mut [Exception]) -> Vec<String> {
    let mut rest = Vec::new();
    for f in failures {
        let (name, said) = f.split_once(": ").unwrap_or((&f, ""));
        match exceptions.iter_mut().find(|e| e.names != "*" && e.covers(name, Outcome::Rejected, said)) {
            Some(e) => {
                if e.used.0 == 0 {
                    e.used.1 = name.trim_start_matches("../").to_owned();
                }
                e.used.0 += 1;
            }
            None => rest.push(f),
        }
    }
    rest
}

/// Fails with all of them.
pub fn assert_none(failures: &[String]) {
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// How lines begin that name a text without native code.
pub const NOT_NATIVE: &str = "- no native code of ";

/// Why the reference makes no native code, from what it says.
pub fn no_native_code(said: &str) -> String {
    let first = said.lines().next().unwrap_or_default().trim();
    match first {
        _ if first.starts_with("exit 0") => "it writes no file for a function by itself".to_owned(),
        _ if first.starts_with("signal") => {
            format!("it crashes ({}); the program has stack calls", first.trim_end_matches(':'))
        }
        _ => first.chars().take(160).collect(),
    }
}

/// What the full comparison found.
pub struct Findings<'a> {
    /// Bytes by row.
    pub bytes: &'a Tallies,
    /// Native code by row.
    pub native: &'a Tallies,
    /// Exceptions, used.
    pub exceptions: &'a [Exception],
    /// Texts of the corpus with equal bytes, and those that the reference does not take.
    pub texts: (usize, usize),
    /// Texts of the corpus with equal native code, and those of which the reference makes none.
    pub native_texts: (usize, &'a [(String, String)]),
}

/// The page.
pub fn page(f: &Findings) -> String {
    let sum = |t: &Tallies, o| t.values().map(|t| t.count(o)).sum::<usize>();
    let mut s = String::new();
    let _ = writeln!(
        s,
        "# Bytes beside GenX_IR\n\n\
         What envisa writes against what GenX_IR (as packaged, igc-1.0.12504.6) writes for the same text. Generated:\n\
         `BLESS=1 cargo test -p envisa --test reference -- --ignored bytes` rewrites this page, without `BLESS` it is compared.\n\n\
         *Bytes*: the whole file (header, tables, instructions) of `GenX_IR -stopafter CFG -noverifyCISA`, which lacks the last\n\
         operands of most instructions; envisa's file is damaged in the same way first. *Native*: `GenX_IR -platform P -binary`\n\
         makes the same native code of envisa's complete binary as of the text; the reference makes none of texts that it does\n\
         not take, and of some it does not make the same twice. For native code its text has `.divS` where it lacks it: its parser\n\
         takes that for the opposite of what its reader does.\n\n\
         | | same | other | reference takes no such text |\n| --- | --- | --- | --- |\n\
         | texts of compiled kernels (`suite/corpus`), bytes | {} | 0 | {} |\n\
         | texts of compiled kernels, native code | {} | 0 | {} |\n\
         | generated instructions, bytes | {} | {} | {} |\n\
         | generated instructions that envisa verifies, native code | {} | {} | {} |\n",
        f.texts.0,
        f.texts.1,
        f.native_texts.0,
        f.native_texts.1.len(),
        sum(f.bytes, Outcome::Same),
        sum(f.bytes, Outcome::Differs),
        sum(f.bytes, Outcome::Rejected),
        sum(f.native, Outcome::Native),
        sum(f.native, Outcome::NativeDiffers),
        sum(f.native, Outcome::NativeRefused),
    );
    s.push_str("## Texts of compiled kernels without native code to compare with\n\n");
    for (name, why) in f.native_texts.1 {
        let _ = writeln!(s, "{NOT_NATIVE}`{}`: {why}", name.trim_start_matches("../"));
    }
    s.push('\n');
    s.push_str("## Exceptions\nEvery case that is not the same falls under one of these.\n\n");
    s.push_str("| instructions | outcome | where | cases | reason | example |\n| --- | --- | --- | --- | --- | --- |\n");
    let cell = |s: &str| s.replace('|', "\\|");
    for e in f.exceptions {
        let part = if e.part == "-" { String::new() } else { format!("`{}`", cell(e.part)) };
        let _ = writeln!(
            s,
            "| {} | {} | {part} | {} | {} | `{}` |",
            cell(e.names).replace('*', "\\*"),
            e.outcome,
            e.used.0,
            e.reason,
            cell(&e.used.1)
        );
    }
    s.push_str("\n## Instructions\nRandom legal fields, by row of the table. *other*: other bytes; *none*: the reference does not take the text.\n\n");
    s.push_str("| row | same bytes | other | none | same native code | other | none |\n| --- | --- | --- | --- | --- | --- | --- |\n");
    for (name, t) in f.bytes {
        let native = f.native.get(name);
        let n = |o| match native.map_or(0, |t| t.count(o)) {
            0 => String::new(),
            n => n.to_string(),
        };
        let b = |o| match t.count(o) {
            0 => String::new(),
            n => n.to_string(),
        };
        let _ = writeln!(
            s,
            "| {name} | {} | {} | {} | {} | {} | {} |",
            b(Outcome::Same),
            b(Outcome::Differs),
            b(Outcome::Rejected),
            n(Outcome::Native),
            n(Outcome::NativeDiffers),
            n(Outcome::NativeRefused)
        );
    }
    s
}
