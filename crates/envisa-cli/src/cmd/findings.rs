//! What is done with the findings of a run: suppressed, annotated, written as SARIF.

use crate::cmd::Failure;
use crate::io;
use envisa::diag::{CODES, Diagnostic, Files, Rule, Severity, Tool, render_sarif};
use envisa::{Finding, Outcome, Place};
use envisa_harness::files;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Options of findings.
#[derive(clap::Args)]
pub struct FindingArgs {
    /// Also write findings and the fault as a SARIF log, for code scanning; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Also print findings and the fault as annotations of a code host.
    #[arg(long, value_name = "HOST", value_enum)]
    annotate: Option<Host>,
    /// Leave out the findings that a file names, one a line: `CODE KERNEL PLACE`, where PLACE is FILE:LINE, or FUNCTION:$N
    /// where lines are not known, and `*` stands for anything.
    #[arg(long, value_name = "FILE")]
    suppress: Option<PathBuf>,
    /// Write the findings to a file as `--suppress` takes them: those that are known, and are not to be told again.
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<PathBuf>,
    /// What makes the exit code 1: findings and faults, or faults alone. (A result that is not as expected does, anyway.)
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = FailOn::Finding)]
    pub fail_on: FailOn,
}

/// See [`FindingArgs`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Host {
    Github,
}

/// See [`FindingArgs`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum FailOn {
    Finding,
    Fault,
}

/// Bytes of a file of suppressions, at most.
const MAX_SUPPRESSIONS: u64 = 1 << 20;

impl FindingArgs {
    /// Suppresses what is to be suppressed, and writes the baseline; gives how many findings were suppressed.
    ///
    /// # Errors
    /// Where a file cannot be read or written, or a line of it says nothing.
    pub fn settle(&self, outcome: &mut Outcome) -> Result<usize, Failure> {
        let Some(findings) = &mut outcome.findings else { return Ok(0) };
        if let Some(path) = &self.write_baseline {
            let mut text = "# CODE KERNEL PLACE, one finding a line\n".to_owned();
            for f in findings.iter() {
                let _ = writeln!(text, "{} {} {}", f.code, f.place.kernel, place(&f.place));
            }
            io::write(path, text.as_bytes())?;
        }
        let Some(path) = &self.suppress else { return Ok(0) };
        let bytes = files::read(path, MAX_SUPPRESSIONS).map_err(Failure)?;
        let patterns = patterns(&String::from_utf8_lossy(&bytes), path)?;
        let before = findings.len();
        findings.retain(|f| !patterns.iter().any(|p| suppresses(p, f)));
        Ok(before - findings.len())
    }

    /// Writes the SARIF log, and the annotations.
    ///
    /// # Errors
    /// Where they cannot be written.
    pub fn publish(
        &self,
        files: &Files,
        diagnostics: &[Diagnostic],
        outcome: &Outcome,
    ) -> Result<(), Failure> {
        if let Some(path) = &self.sarif {
            let tool = Tool {
                name: "envisa".into(),
                version: env!("CARGO_PKG_VERSION").into(),
                information_uri: "https://github.com/envisa/envisa".into(),
            };
            let rule = |c: &envisa::diag::CodeInfo| Rule {
                id: c.code.into(),
                name: String::new(),
                short: format!("{}.", c.title),
                full: c.text.into(),
                help_uri: String::new(),
                severity: if c.is_error() { Severity::Error } else { Severity::Warning },
            };
            let rules: Vec<Rule> = CODES.iter().filter(|c| c.code.starts_with('F')).map(rule).collect();
            let told: Vec<Diagnostic> =
                diagnostics.iter().filter(|d| d.code.starts_with('F')).cloned().collect();
            io::write(path, render_sarif(files, &told, &tool, &rules).as_bytes())?;
        }
        if self.annotate == Some(Host::Github) {
            let findings = outcome.findings.iter().flatten().map(|f| (&f.place, f.code, f.message()));
            let fault = outcome.fault.iter().map(|f| (&f.place, f.code, f.message.clone()));
            let lines: String =
                findings.chain(fault).map(|(p, code, said)| annotation(p, code, &said)).collect();
            io::print(&lines)?;
        }
        Ok(())
    }
}

/// `::error file=a.cl,line=3,title=F0001::message`, escaped as GitHub wants it.
fn annotation(place: &Place, code: &str, said: &str) -> String {
    let data = |s: &str| s.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |s: &str| data(s).replace(':', "%3A").replace(',', "%2C");
    let at = match (&place.source, &place.visa) {
        (Some(line), _) => format!("file={},line={},", property(&line.file), line.line),
        (None, Some(line)) => format!("file={},line={},", property(&line.file), line.line),
        (None, None) => String::new(),
    };
    format!("::error {at}title={}::{}\n", property(code), data(&format!("{}: {said}", place.kernel)))
}

/// Where a finding is, as files of suppressions name it.
fn place(place: &Place) -> String {
    match &place.source {
        Some(line) => {
            let name = line.file.rsplit(['/', '\\']).next().unwrap_or_default();
            format!("{}:{}", name.replace(char::is_whitespace, "?"), line.line)
        }
        None => format!("{}:${}", place.function, place.instruction),
    }
}

/// Code, kernel and place.
type Pattern = [String; 3];

fn patterns(text: &str, path: &Path) -> Result<Vec<Pattern>, Failure> {
    let mut all = Vec::new();
    for (n, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            continue;
        }
        let pattern = Pattern::try_from(words).map_err(|_| {
            Failure(format!(
                "{}:{n}: expected CODE KERNEL PLACE, as in `F0004 reduce sum.cl:12`",
                path.display()
            ))
        })?;
        all.push(pattern);
    }
    Ok(all)
}

fn suppresses([code, kernel, at]: &Pattern, f: &Finding) -> bool {
    fits(code, f.code) && fits(kernel, &f.place.kernel) && fits(at, &place(&f.place))
}

/// Does a text fit a pattern, in which `*` stands for anything?
fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = rest.split('*').collect();
    let Some((last, between)) = parts.split_last() else { return true };
    for part in between {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        let fit =
            [("*", ""), ("a*", "a"), ("a*c", "abc"), ("*.cl:*", "sum.cl:12"), ("a*b*a", "aba"), ("x", "x")];
        assert!(fit.iter().all(|(p, t)| fits(p, t)), "{fit:?}");
        let not = [("a", "ab"), ("a*a", "a"), ("*b", "a"), ("a*b*c", "acb"), ("", "x")];
        assert!(!not.iter().any(|(p, t)| fits(p, t)), "{not:?}");
    }

    #[test]
    fn lines_that_say_nothing_are_refused() {
        let read = |text: &str| patterns(text, Path::new("known"));
        assert_eq!(read("# all\n\nF0004 * sum.cl:3 # known\n").unwrap().len(), 1);
        assert_eq!(read("\nF0004 sum.cl:3\n").unwrap_err().0.split(' ').next(), Some("known:2:"));
    }
}
