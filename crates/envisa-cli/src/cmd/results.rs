//! The results of a run, as text and as JSON.

use crate::cmd::Exit;
use envisa::diag::Diagnostic;
use envisa::{Fault, FaultKind, Finding, LocalVariables, Outcome};
use envisa_harness::files::is_standard;
use envisa_harness::job::{CheckBuild, Delivered};
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// Everything there is to tell.
pub struct Results {
    /// Of the run.
    pub outcome: Outcome,
    /// The results that were asked for.
    pub delivered: Vec<Delivered>,
    /// Findings that were suppressed.
    pub suppressed: usize,
    /// Findings leave the exit code alone.
    pub faults_only: bool,
    /// Hints were wanted.
    pub hints: bool,
    /// What is known of the kernel's variables in local memory.
    pub local_variables: LocalVariables,
    /// Which build was looked at.
    pub build: CheckBuild,
}

/// What `--check` looks at.
pub(super) const CHECKED: [&str; 5] = [
    "bounds of buffers, local memory, scratch and images",
    "uninitialised registers, local memory, private memory and scratch",
    "races within groups and between them",
    "barriers that not all work-items reach",
    "stores to constant memory",
];
/// What `--check-hints` looks at besides.
pub(super) const HINTS: &str = "integers divided by zero, signed integers that overflow (in a build for the checks), shift counts, ranges of conversions, alignment of elements, instructions that access two local variables (with -g)";
/// And what it would.
pub(super) const NO_HINTS: &str = "what --check-hints checks";
/// What it looks at in a build of its own.
pub(super) const OWN_BUILD: &str = "array indices, offsets in variables, alignment of types, uninitialised variables and asynchronous copies, as in the source (the kernel was compiled for the checks; --check-build as-is checks the build that runs without them)";
/// At what it does not look in such a build.
pub(super) const COMPUTED: &str = "pointers to local or private variables that the kernel loads from structures or memory: the address does not show which variable is meant";
/// The same of the build that runs without checks.
pub(super) const NO_OWN_BUILD: &str = "accesses that the compiler merged, moved or left out, indices of arrays in private memory, and alignment of vectors: the kernel was not compiled for the checks";
const REFUSED: &str = "accesses that the compiler merged, moved or left out, indices of arrays in private memory, and alignment of vectors: the compiler refused the build for the checks";
/// At what it does not look, and why, whatever the kernel.
const NOT_CHECKED: &str =
    "uninitialised buffers, because the host may have written them (those given as fresh:TYPE:N are checked)";
/// The same of kernels that have variables in local memory, without debug information and with it.
const NO_LOCAL_VARIABLES: &str = "bounds between the kernel's own local variables: without debug information (-g), their places are not known";
const LOCAL_VARIABLES: &str = "indices that lead from one of the kernel's own local variables into the middle of another: the address does not show which variable is meant";

impl Results {
    /// Exit code, as far as results decide it.
    pub fn exit(&self) -> Exit {
        if self.outcome.fault.as_ref().is_some_and(|f| f.kind == FaultKind::Unsupported) {
            return Exit::Unsupported;
        }
        let wrong = |d: &Delivered| d.comparison.as_ref().is_some_and(|(_, c)| !c.passed());
        let found = !self.faults_only && self.outcome.findings.as_ref().is_some_and(|f| !f.is_empty());
        if self.outcome.fault.is_some() || found || self.delivered.iter().any(wrong) {
            Exit::Findings
        } else {
            Exit::Fine
        }
    }

    fn checked_names(&self) -> Vec<&'static str> {
        let own = (self.build == CheckBuild::Own).then_some(OWN_BUILD);
        CHECKED.into_iter().chain(own).chain(self.hints.then_some(HINTS)).collect()
    }

    fn not_checked(&self) -> Vec<&'static str> {
        let build = match self.build {
            CheckBuild::Own => COMPUTED,
            CheckBuild::AsIs => NO_OWN_BUILD,
            CheckBuild::Refused => REFUSED,
        };
        let variables = match self.local_variables {
            _ if self.build == CheckBuild::Own => None,
            LocalVariables::None => None,
            LocalVariables::Unknown => Some(NO_LOCAL_VARIABLES),
            LocalVariables::Known => Some(LOCAL_VARIABLES),
        };
        [NOT_CHECKED, build].into_iter().chain(variables).chain((!self.hints).then_some(NO_HINTS)).collect()
    }

    /// For people: what the kernel printed, results, statistics.
    pub fn text(&self) -> String {
        let mut out = self.outcome.printed.clone();
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        for d in &self.delivered {
            push_result(d, self.outcome.fault.is_some(), &mut out);
        }
        if let Some(summary) = &self.outcome.statistics {
            let _ = write!(out, "{summary}");
        }
        if self.outcome.findings.as_ref().is_some_and(Vec::is_empty) && self.outcome.fault.is_none() {
            match self.suppressed {
                0 => out.push_str("check: nothing found\n"),
                n => {
                    let _ = writeln!(out, "check: nothing found, except for suppressed findings ({n})");
                }
            }
        }
        if self.outcome.findings.is_some() {
            let _ = writeln!(out, "checked: {}", self.checked_names().join("; "));
            let _ = writeln!(out, "not checked: {}", self.not_checked().join("; "));
        }
        out
    }

    /// For programs; `docs/run.schema.json` describes it.
    pub fn json(&self) -> String {
        let outputs: Vec<Json> = self
            .delivered
            .iter()
            .map(|d| {
                json!({
                    "argument": d.name,
                    "type": d.value.elem.name(),
                    "shape": d.value.shape,
                    "file": d.file,
                    "elements": (0..d.shown).filter_map(|i| element(d, i)).collect::<Vec<_>>(),
                    "as_expected": d.comparison.as_ref().map(|(_, c)| c.passed()),
                    "mismatches": d.comparison.as_ref().map(|(_, c)| c.mismatches),
                })
            })
            .collect();
        let mut all = json!({
            "format": FORMAT,
            "outputs": outputs,
            "printed": self.outcome.printed,
            "printed_incomplete": self.outcome.printed_incomplete,
            "work_items": self.outcome.work_items,
            "seconds": self.outcome.time.as_secs_f64(),
            "fault": self.outcome.fault,
            "dropped": self.outcome.dropped,
        });
        if let Some(findings) = &self.outcome.findings {
            all["findings"] = findings.iter().map(finding_as_json).collect();
            all["suppressed"] = self.suppressed.into();
            all["checked"] = self.checked_names().into();
            let more = self.outcome.not_checked.iter().cloned();
            all["not_checked"] = self.not_checked().into_iter().map(str::to_owned).chain(more).collect();
        }
        if let Some(summary) = &self.outcome.statistics {
            all["stats"] = serde_json::to_value(summary).unwrap_or(Json::Null);
        }
        format!("{all:#}\n")
    }
}

/// What the JSON of a run is called: the number grows when a field changes its meaning or goes.
pub const FORMAT: &str = "envisa-run/1";

/// An element: a number; JSON has none that is infinite or no number, which are `"NaN"`, `"Infinity"` and
/// `"-Infinity"`.
fn element(d: &Delivered, i: usize) -> Option<Json> {
    if d.value.elem.is_float() {
        let x = d.value.get_f64(i)?;
        if !x.is_finite() {
            let name = if x.is_nan() {
                "NaN"
            } else if x > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            };
            return Some(name.into());
        }
    }
    let text = d.value.display(i)?;
    Some(serde_json::from_str(&text).unwrap_or(Json::String(text)))
}

/// Results for people, of a run without a fault.
pub fn results_for_people(all: &[Delivered]) -> String {
    let mut out = String::new();
    for d in all {
        push_result(d, false, &mut out);
    }
    out
}

fn push_result(d: &Delivered, faulted: bool, out: &mut String) {
    if d.shown > 0 {
        let elements: Vec<String> = (0..d.shown).filter_map(|i| d.value.display(i)).collect();
        let rest = if d.shown < d.value.len() { ", …" } else { "" };
        let when = if faulted { ", when the kernel was stopped" } else { "" };
        let _ = writeln!(
            out,
            "{} ({} x {}{when}): {}{rest}",
            d.name,
            d.value.len(),
            d.value.elem,
            elements.join(", ")
        );
    }
    if let Some(file) = d.file.as_ref().filter(|f| !is_standard(f)) {
        let _ = writeln!(out, "{} -> {}", d.name, file.display());
    }
    let Some((check, c)) = &d.comparison else { return };
    if c.passed() {
        let _ = writeln!(out, "{}: as expected ({} elements, {check})", d.name, c.elements);
    } else if let Some(shape) = &c.shape_error {
        let _ = writeln!(out, "{}: NOT as expected: {shape}", d.name);
    } else {
        let first = c
            .first
            .as_ref()
            .map_or(String::new(), |(i, want, got)| format!("; first at {i}: expected {want}, got {got}"));
        let _ = writeln!(
            out,
            "{}: NOT as expected: {} of {} elements out of bounds ({check}){first}",
            d.name, c.mismatches, c.elements
        );
    }
}

fn finding_as_json(f: &Finding) -> Json {
    let mut all = serde_json::to_value(f).unwrap_or(Json::Null);
    add_message_and_address(&mut all, &f.message());
    all
}

/// Adds to a finding its sentence, and the address that its subject names: `shared local memory at 0x80`.
pub(super) fn add_message_and_address(finding: &mut Json, message: &str) {
    let subject = finding["subject"].as_str().unwrap_or_default();
    let address = subject.split_once("0x").filter(|(before, _)| before.is_empty() || before.ends_with(' '));
    let digits =
        address.map(|(_, hex)| hex.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default());
    let address = digits.and_then(|d| u64::from_str_radix(d, 16).ok());
    finding["address"] = address.into();
    finding["message"] = message.into();
}

/// Findings of one instruction and kind are one; those past this many are only counted.
pub const SHOWN_FINDINGS: usize = 50;

/// Adds findings and the fault to a report's diagnostics.
pub fn report(outcome: &Outcome, to: &mut Vec<Diagnostic>) {
    let findings = outcome.findings.as_deref().unwrap_or_default();
    to.extend(findings.iter().take(SHOWN_FINDINGS).map(Finding::diagnostic));
    if findings.len() > SHOWN_FINDINGS {
        to.push(Diagnostic::error(
            "F0000",
            format!("{} more findings; --json lists all", findings.len() - SHOWN_FINDINGS),
        ));
    }
    to.extend(outcome.fault.as_deref().map(Fault::diagnostic));
}
