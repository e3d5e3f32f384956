//! Broken files: each is reported where it is broken. Beside GenX_IR, where that is installed:
//! `BLESS=1 cargo test -p envisa --test verifier broken_files` writes `docs/VERIFIER-VS-GENX_IR.md`.
//!
//! A case's first line says for which platform it is, on which line it is broken, and by which rule
//! (`E`: any error of the parser).

use envisa::diag::{Diagnostic, Files, Severity};
use envisa::isa::{Platform, Platforms};
use envisa::text::ParseOptions;
use envisa::verify::{Level, Options, check, rule};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

struct Case {
    name: String,
    path: PathBuf,
    text: String,
    platform: Platform,
    line: u32,
    code: String,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verify-cases");
    let mut out: Vec<Case> = std::fs::read_dir(&folder)
        .expect("the cases are there")
        .map(|entry| {
            let path = entry.expect("a readable folder").path();
            let text = std::fs::read_to_string(&path).expect("a text");
            let words: Vec<&str> = text.lines().next().unwrap_or("").split_whitespace().collect();
            let ["//", "platform:", platform, "<-", "line", line, code] = words[..] else {
                panic!("{}: the first line is not `// platform: P <- line N CODE`", path.display());
            };
            Case {
                name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
                platform: Platform::from_name(platform).expect("a platform"),
                line: line.parse().expect("a line number"),
                code: code.to_string(),
                path,
                text,
            }
        })
        .collect();
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

/// What envisa says: level-independent, with the line of each.
fn envisa(case: &Case) -> Vec<(String, u32, String)> {
    let mut files = Files::new();
    let id = files.add_text(case.name.as_str(), case.text.as_str());
    let options = ParseOptions { platform: Some(case.platform), ..ParseOptions::default() };
    let parsed = envisa::text::parse(&case.text, id, &options);
    let mut all: Vec<Diagnostic> = parsed.diagnostics;
    if parsed.complete {
        // Rules that are off by default are asked for by their cases.
        let levels = rule::find(&case.code).map(|r| (r.code, Level::Deny)).into_iter().collect();
        let options = Options { platforms: Platforms::of(&[case.platform]), levels, ..Options::default() };
        all.extend(check(&parsed.module, &options).iter().map(|f| f.diagnostic(id)));
    }
    all.iter()
        .map(|d| {
            let line = d.location().map_or(0, |l| {
                let before = &case.text.as_bytes()[..(l.span.start as usize).min(case.text.len())];
                before.iter().filter(|b| **b == b'\n').count() as u32 + 1
            });
            (d.code.to_string(), line, d.message.to_string())
        })
        .collect()
}

fn hit<'a>(case: &Case, said: &'a [(String, u32, String)]) -> Option<&'a (String, u32, String)> {
    said.iter().find(|s| s.1 == case.line && (s.0 == case.code || (case.code == "E" && s.0.starts_with('E'))))
}

#[test]
fn each_is_reported_in_its_place() {
    let cases = cases();
    assert!(cases.len() >= 150, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let said = envisa(case);
        if hit(case, &said).is_none() {
            wrong.push(format!("{}: wants {} on line {}, says {said:?}", case.name, case.code, case.line));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// What GenX_IR makes of a case.
struct Reference {
    exit: String,
    crashed: bool,
    found: bool,
    line: Option<u32>,
    message: String,
}

fn reference(case: &Case, folder: &Path) -> Option<Reference> {
    // Whatever it leaves behind is this case's alone.
    let folder = folder.join(&case.name);
    std::fs::create_dir_all(&folder).ok()?;
    let file = format!("{}.visaasm", case.name);
    std::fs::copy(&case.path, folder.join(&file)).ok()?;
    let log = std::fs::File::create(folder.join("output")).ok()?;
    let mut child = Command::new("GenX_IR")
        .args([file.as_str(), "-platform", case.platform.name()])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(log.try_clone().ok()?)
        .stderr(log)
        .spawn()
        .ok()?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait().ok()? {
            Some(status) => break Some(status),
            None if start.elapsed() > Duration::from_secs(20) => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let mut text = String::from_utf8_lossy(&std::fs::read(folder.join("output")).ok()?).into_owned();
    let errors = std::fs::read_dir(&folder)
        .ok()?
        .flatten()
        .filter(|e| e.file_name().to_string_lossy().ends_with(".errors.txt"))
        .filter_map(|e| std::fs::read(e.path()).ok())
        .map(|b| String::from_utf8_lossy(&b).into_owned())
        .collect::<String>();
    // The first line repeats the command.
    text = text.lines().skip(1).collect::<Vec<_>>().join("\n");
    let code = status.and_then(|s| s.code());
    let crashed = code.is_none_or(|c| c >= 128);
    let meaningful = |l: &&str| {
        let l = l.trim();
        !l.is_empty()
            && !l.starts_with("Found a total")
            && !l.starts_with("Please check")
            && !l.starts_with("for the exact")
            // Advice on registers says nothing of the break.
            && !l.starts_with("[vISA Finalizer Messages]")
            && !l.starts_with("Spill memory used")
            && !l.starts_with("Compiling kernel with spill")
            && !l.ends_with(".errors.txt")
            && !l.chars().all(|c| "-=* ".contains(c))
    };
    // A message stands behind its own words, or else is the first line that says something.
    let named = |l: &str| l.split_once("Error Message: ").map(|(_, m)| m.to_string());
    let first = || {
        let mut lines = errors.lines().chain(text.lines()).filter(meaningful).filter(|l| !l.ends_with(':'));
        lines
            .find(|l| !l.trim_start().starts_with("in instruction"))
            .unwrap_or("")
            .trim_start_matches([' ', '*'])
            .to_string()
    };
    let message = errors.lines().find_map(named).unwrap_or_else(first);
    let both = format!("{text}\n{errors}");
    let line = both.split("line ").skip(1).find_map(|rest| {
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<u32>().ok()
    });
    Some(Reference {
        exit: code.map_or("signal or timeout".to_string(), |c| c.to_string()),
        crashed,
        found: code != Some(0) || !message.is_empty(),
        line,
        message: message.trim().to_string(),
    })
}

fn cell(s: &str) -> String {
    let short: String = s.chars().take(90).collect();
    short.replace('|', "\\|").replace('`', "'")
}

/// Runs the reference on every case and writes the table.
#[test]
fn side_by_side() {
    if std::env::var_os("BLESS").is_none() || Command::new("GenX_IR").stdout(Stdio::null()).spawn().is_err() {
        return;
    }
    let scratch = std::env::temp_dir().join(format!("envisa-verify-{}", std::process::id()));
    let mut rows = String::new();
    let (mut n, mut ours, mut found, mut refused, mut placed, mut crashed, mut silent) =
        (0, 0, 0, 0, 0, 0, 0);
    let (mut errors, mut errors_found) = (0, 0);
    for case in cases() {
        let Some(r) = reference(&case, &scratch) else { panic!("{}: GenX_IR does not run", case.name) };
        let said = envisa(&case);
        let us = hit(&case, &said);
        n += 1;
        ours += usize::from(us.is_some());
        found += usize::from(r.found);
        refused += usize::from(r.exit != "0");
        crashed += usize::from(r.crashed);
        // The parser's findings are errors, too.
        if rule::find(&case.code).is_none_or(|r| r.severity == Severity::Error) {
            errors += 1;
            errors_found += usize::from(r.found);
        }
        silent += usize::from(r.found && r.exit == "0");
        let right = r.found && r.line == Some(case.line);
        placed += usize::from(right);
        let place = match (r.found, r.line) {
            (false, _) => "",
            (true, None) => "none",
            (true, Some(_)) if right => "right",
            (true, Some(_)) => "wrong",
        };
        let (code, message) = us.map_or(("", ""), |s| (s.0.as_str(), s.2.as_str()));
        let _ = writeln!(
            rows,
            "| {} | {} | {code} | {} | {} | {} | {place} | {} | {} |",
            case.name,
            case.platform.name(),
            cell(message),
            if r.found { "found" } else { "not found" },
            r.exit,
            if r.crashed { "yes" } else { "" },
            cell(&r.message)
        );
    }
    let _ = std::fs::remove_dir_all(&scratch);
    let text = format!(
        "# The verifier compared with GenX_IR\n\n\
         {n} broken files (`crates/envisa/tests/verify-cases`) were given to envisa's verifier and to the packaged GenX_IR\n\
         (igc-1.0.12504.6), which has no other option than `-platform`. Each file has one error, which its first line names.\n\
         Written by `BLESS=1 cargo test -p envisa --test verifier broken_files`.\n\n\
         | | envisa | GenX_IR |\n| --- | --- | --- |\n\
         | reports an error or a warning | {ours} | {found} |\n\
         | reports one of the {errors} that are errors in envisa | {errors} | {errors_found} |\n\
         | reports it on the right line | {ours} | {placed} |\n\
         | exit code other than 0 | errors: all; warnings: with `--deny` | {refused} |\n\
         | reports it, but with exit code 0 | 0 | {silent} |\n\
         | crashes or hangs | 0 | {crashed} |\n\n\
         *place*: whether GenX_IR names the right line (*none*: its message has no line).\n\n\
         | case | platform | rule | envisa says | GenX_IR | exit | place | crash | GenX_IR says |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n{rows}"
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/VERIFIER-VS-GENX_IR.md");
    std::fs::write(path, text).expect("docs/ is writable");
}
