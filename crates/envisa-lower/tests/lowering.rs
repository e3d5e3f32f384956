//! What lowering makes of texts: every kernel of a `.visaasm` file under `tests/lowering` says which lines its
//! program has, in this order: `//: lower PLATFORM`, then `//: line TEXT` for parts of lines of the program as text,
//! `//: no TEXT` for what no line has. ` .. ` stands for anything; blanks between words count as one.

use envisa_diag::FileId;
use envisa_isa::Platform;
use envisa_lower::{Options, lower};
use envisa_text::{ParseOptions, parse};
use envisa_verify::Verified;
use std::path::{Path, PathBuf};

fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Has a line the parts of a pattern, in order?
fn matches(line: &str, pattern: &str) -> bool {
    let mut rest = line;
    pattern.split(" .. ").all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// Lowers a case's kernel and looks for its lines; says what is missing.
fn check(text: &str) -> Result<usize, String> {
    let said: Vec<&str> =
        text.lines().filter_map(|l| l.trim_start().strip_prefix("//:")).map(str::trim).collect();
    let platform =
        said.iter().find_map(|s| s.strip_prefix("lower ")).ok_or("no line `//: lower PLATFORM`")?;
    let platform = Platform::from_name(platform).ok_or_else(|| format!("unknown platform `{platform}`"))?;
    let options = ParseOptions { platform: Some(platform), ..ParseOptions::default() };
    let parsed = parse(text, FileId(0), &options);
    if !parsed.complete {
        return Err(format!("{:?}", parsed.diagnostics));
    }
    let module = Verified::assume(parsed.module).map_err(|e| format!("{e:?}"))?;
    let program = lower(&module, "", &Options { platform, simd: None }).map_err(|e| e.to_string())?;
    let shown = program.to_string();
    let mut lines = shown.lines().map(words);
    let mut found = 0;
    for s in &said {
        if let Some(want) = s.strip_prefix("line ") {
            let want = words(want);
            if !lines.any(|l| matches(&l, &want)) {
                return Err(format!("no line (after those before it) has\n  {want}\nin\n{shown}"));
            }
            found += 1;
        } else if let Some(not) = s.strip_prefix("no ") {
            let not = words(not);
            if let Some(line) = shown.lines().map(words).find(|l| matches(l, &not)) {
                return Err(format!("a line has `{not}`: {line}"));
            }
            found += 1;
        } else if !s.starts_with("lower ") {
            return Err(format!("`{s}` is none of lower, line, no"));
        }
    }
    if found == 0 { Err("nothing is expected".into()) } else { Ok(found) }
}

#[test]
fn programs_have_the_lines_their_texts_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lowering");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the folder").map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    let mut wrong = Vec::new();
    let mut lines = 0;
    for path in &paths {
        match check(&std::fs::read_to_string(path).expect("a text")) {
            Ok(n) => lines += n,
            Err(e) => wrong.push(format!("{}: {e}", path.display())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(lines >= 40, "{lines} lines were looked for");
}
