//! Suppression of findings, annotations for code hosts, and SARIF.

use crate::cmd::Failure;
use crate::io;
use envisa::diag::{CODES, Rule, Severity, Tool, sarif_of_json};
use envisa_harness::files;
use serde_json::Value;
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
    /// Do not report the findings that a file lists, one per line: `CODE KERNEL PLACE`. PLACE is the statement in quotes,
    /// FILE:LINE, or FUNCTION:$N if lines are not known; outside of quotes, `*` matches any text.
    #[arg(long, value_name = "FILE")]
    suppress: Option<PathBuf>,
    /// Write the findings to a file in the format of `--suppress`, so that later runs do not report them again.
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<PathBuf>,
    /// What makes the exit code 1: findings and faults, or only faults. (An unexpected result always does.)
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
    /// Writes the baseline of findings, as their JSON has them, and says which of them are told: those that are not
    /// suppressed.
    ///
    /// # Errors
    /// Where a file cannot be read or written, or a line of it says nothing.
    pub fn apply_suppressions(&self, findings: &[Value]) -> Result<Vec<bool>, Failure> {
        if let Some(path) = &self.write_baseline {
            let mut text = "# CODE KERNEL STATEMENT, one finding a line\n".to_owned();
            for f in findings.iter().flat_map(same_cause) {
                let _ = writeln!(text, "{} {} {}", word(f, "code"), word(f, "kernel"), stable_location(f));
            }
            io::write(path, text.as_bytes())?;
        }
        let Some(path) = &self.suppress else { return Ok(vec![true; findings.len()]) };
        let bytes = files::read(path, MAX_SUPPRESSIONS).map_err(Failure)?;
        let patterns = parse_suppressions(&String::from_utf8_lossy(&bytes), path)?;
        let is_known = |f: &Value| patterns.iter().any(|p| p.matches_finding(f));
        Ok(findings.iter().map(|f| !same_cause(f).all(is_known)).collect())
    }

    /// Writes the SARIF log of diagnostics, and the annotations of findings and faults with their messages; all are as
    /// their JSON has them.
    ///
    /// # Errors
    /// Where they cannot be written.
    pub fn publish(&self, diagnostics: &[Value], told: &[(&Value, &str)]) -> Result<(), Failure> {
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
            io::write(path, sarif_of_json(diagnostics, &tool, &rules).as_bytes())?;
        }
        if self.annotate == Some(Host::Github) {
            let lines: String = told.iter().map(|(f, said)| github_annotation(f, said)).collect();
            io::print(&lines)?;
        }
        Ok(())
    }
}

/// A finding, and those that were found for the same cause.
fn same_cause(finding: &Value) -> impl Iterator<Item = &Value> {
    std::iter::once(finding).chain(finding["also"].as_array().into_iter().flatten())
}

/// A text of a finding's JSON.
fn word<'a>(finding: &'a Value, key: &str) -> &'a str {
    finding[key].as_str().unwrap_or_default()
}

/// `::error file=a.cl,line=3,title=F0001::message`, escaped as GitHub wants it.
fn github_annotation(finding: &Value, said: &str) -> String {
    let data = |s: &str| s.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |s: &str| data(s).replace(':', "%3A").replace(',', "%2C");
    let line = ["source", "visa"].into_iter().map(|k| &finding[k]).find(|l| !l.is_null());
    let at =
        line.map_or(String::new(), |l| format!("file={},line={},", property(word(l, "file")), l["line"]));
    let kernel = match word(finding, "kernel") {
        "" => String::new(),
        kernel => format!("{kernel}: "),
    };
    format!("::error {at}title={}::{}\n", property(word(finding, "code")), data(&format!("{kernel}{said}")))
}

/// Where a finding is: FILE:LINE, or FUNCTION:$N where lines are not known.
fn finding_location(finding: &Value) -> String {
    let line = &finding["source"];
    if line.is_null() {
        return format!("{}:${}", word(finding, "function"), finding["instruction"]);
    }
    let name = word(line, "file").rsplit(['/', '\\']).next().unwrap_or_default();
    format!("{}:{}", name.replace(char::is_whitespace, "?"), line["line"])
}

/// The statement of a finding without what its author may change for looks; `None` if its text is not known.
fn finding_statement(finding: &Value) -> Option<String> {
    let text = finding["source"]["text"].as_str()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Where a finding is, so that it is found again when lines move: its statement in quotes, else its place.
fn stable_location(finding: &Value) -> String {
    finding_statement(finding).filter(|s| !s.is_empty()).map_or_else(
        || finding_location(finding),
        |s| format!("\"{}\"", s.replace('\\', "\\\\").replace('"', "\\\"")),
    )
}

/// What a line of suppressions says.
#[derive(Debug)]
struct Pattern {
    code: String,
    kernel: String,
    at: At,
}

/// Where it is that findings are suppressed.
#[derive(Debug)]
enum At {
    /// At places that fit.
    Place(String),
    /// At this statement, wherever it stands.
    Statement(String),
}

impl Pattern {
    /// Reads a line; `Ok(None)` if it says nothing, `Err` if it is none.
    fn parse(line: &str) -> Result<Option<Pattern>, ()> {
        let line = line.trim();
        let Some((head, rest)) = line.split_once('"') else {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            return match words[..] {
                [] => Ok(None),
                [code, kernel, at] => {
                    Ok(Some(Pattern { code: code.into(), kernel: kernel.into(), at: At::Place(at.into()) }))
                }
                _ => Err(()),
            };
        };
        if head.contains('#') {
            return Pattern::parse(head.split('#').next().unwrap_or_default());
        }
        let (mut text, mut letters) = (String::new(), rest.chars());
        loop {
            match letters.next().ok_or(())? {
                '"' => break,
                '\\' => text.push(letters.next().ok_or(())?),
                c => text.push(c),
            }
        }
        let behind = letters.as_str().trim_start();
        match head.split_whitespace().collect::<Vec<_>>()[..] {
            [code, kernel] if behind.is_empty() || behind.starts_with('#') => {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                Ok(Some(Pattern { code: code.into(), kernel: kernel.into(), at: At::Statement(text) }))
            }
            _ => Err(()),
        }
    }

    fn matches_finding(&self, finding: &Value) -> bool {
        matches_wildcard(&self.code, word(finding, "code"))
            && matches_wildcard(&self.kernel, word(finding, "kernel"))
            && match &self.at {
                At::Place(at) => matches_wildcard(at, &finding_location(finding)),
                At::Statement(text) => finding_statement(finding).as_ref() == Some(text),
            }
    }
}

fn parse_suppressions(text: &str, path: &Path) -> Result<Vec<Pattern>, Failure> {
    let mut all = Vec::new();
    for (n, line) in (1..).zip(text.lines()) {
        let said = Pattern::parse(line).map_err(|()| {
            Failure(format!(
                "{}:{n}: expected CODE KERNEL PLACE, as in `F0004 reduce sum.cl:12` or `F0004 reduce \"sum[i] += x;\"`",
                path.display()
            ))
        })?;
        all.extend(said);
    }
    Ok(all)
}

/// Does a text fit a pattern, in which `*` stands for anything?
fn matches_wildcard(pattern: &str, text: &str) -> bool {
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
        assert!(fit.iter().all(|(p, t)| matches_wildcard(p, t)), "{fit:?}");
        let not = [("a", "ab"), ("a*a", "a"), ("*b", "a"), ("a*b*c", "acb"), ("", "x")];
        assert!(!not.iter().any(|(p, t)| matches_wildcard(p, t)), "{not:?}");
    }

    #[test]
    fn lines_that_say_nothing_are_refused() {
        let read = |text: &str| parse_suppressions(text, Path::new("known"));
        assert_eq!(read("# all\n\nF0004 * sum.cl:3 # known\n").unwrap().len(), 1);
        assert_eq!(read("\nF0004 sum.cl:3\n").unwrap_err().0.split(' ').next(), Some("known:2:"));
        assert!(
            read("F0004 k \"a").is_err() && read("F0004 \"a\"").is_err() && read("F0004 k \"a\" b").is_err()
        );
    }

    #[test]
    fn statements_are_found_where_they_moved_to() {
        let finding = |line: u32, text: &str| {
            serde_json::json!({
                "code": "F0004", "kernel": "k", "function": "k", "instruction": 7,
                "source": { "file": "/a/sum.cl", "line": line, "text": text },
            })
        };
        let old = finding(3, "    s[\"\\n\"[i]] +=  x * 2; // # all");
        let line = format!("F0004 k {} # known", stable_location(&old));
        let all = parse_suppressions(&line, Path::new("known")).unwrap();
        assert_eq!(all.len(), 1, "{line}");
        assert!(
            all[0].matches_finding(&old)
                && all[0].matches_finding(&finding(90, "s[\"\\n\"[i]] += x * 2; // # all"))
        );
        assert!(!all[0].matches_finding(&finding(3, "s[\"\\n\"[i]] += x * 3; // # all")));
        // Without its text, a finding is where it stands.
        let mut blind = old.clone();
        blind["source"]["text"] = Value::Null;
        assert_eq!(stable_location(&blind), "sum.cl:3");
        blind["source"] = Value::Null;
        assert_eq!(stable_location(&blind), "k:$7");
    }
}
