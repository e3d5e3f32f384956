//! Broken texts and what is said about them: `tests/diagnostics/*.visaasm` with `.stderr` beside.
//!
//! The first line is `// RUN: as [-platform P] [-max-errors N] [-max-bytes N]`. `BLESS=1` rewrites what is
//! expected.

use std::collections::BTreeSet;
use std::path::Path;

use envisa_diag::{Diagnostic, FileId, Files, TextOptions, render_json, render_one, render_text};
use envisa_isa::Platform;
use envisa_text::{ParseOptions, ParseResult, find_code, parse};

struct Case {
    name: String,
    text: String,
    options: ParseOptions,
    /// Options that only a few cases have.
    limited: bool,
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

fn cases() -> Vec<Case> {
    let mut paths: Vec<_> = std::fs::read_dir(folder())
        .expect("the folder")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "visaasm"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 300, "only {} broken texts", paths.len());
    paths.iter().map(|p| case(p)).collect()
}

fn case(path: &Path) -> Case {
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("UTF-8");
    let line = text.lines().next().unwrap_or("").trim_start_matches('\u{feff}').trim_end();
    let run = line.strip_prefix("// RUN: as").unwrap_or_else(|| panic!("{name}: no `// RUN: as` line"));
    let mut options = ParseOptions::default();
    let mut limited = false;
    let mut words = run.split_whitespace();
    while let Some(option) = words.next() {
        let value = words.next().unwrap_or_else(|| panic!("{name}: `{option}` without a value"));
        let number = || value.parse().unwrap_or_else(|_| panic!("{name}: `{value}` is not a number"));
        match option {
            "-platform" => options.platform = Some(Platform::from_name(value).expect("a platform")),
            "-max-errors" => options.max_errors = number(),
            "-max-bytes" => options.max_bytes = number(),
            _ => panic!("{name}: unknown option `{option}`"),
        }
        limited |= option.starts_with("-max");
    }
    Case { name, text, options, limited }
}

fn read(case: &Case) -> (Files, ParseResult) {
    let mut files = Files::new();
    let id = files.add_text(case.name.clone(), case.text.clone());
    let result = parse(&case.text, id, &case.options);
    (files, result)
}

#[test]
fn broken_texts_get_the_expected_diagnostics() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for case in cases() {
        let (files, result) = read(&case);
        let name = &case.name;
        if result.diagnostics.is_empty() {
            wrong.push(format!("{name}: nothing is said"));
        }
        if result.complete != result.diagnostics.iter().all(|d| !d.is_error()) {
            wrong.push(format!("{name}: complete does not go with the errors"));
        }
        for d in &result.diagnostics {
            match find_code(&d.code) {
                None => wrong.push(format!("{name}: the code {} is not registered", d.code)),
                Some(info) if info.is_error() != d.is_error() => {
                    wrong.push(format!("{name}: {} is {}", d.code, d.severity));
                }
                Some(_) => {}
            }
            if !d.labels.iter().any(|l| l.primary) {
                wrong.push(format!("{name}: {} has no place", d.code));
            }
            if d.message.ends_with('.') || d.message.is_empty() {
                wrong.push(format!("{name}: `{}` is not a message", d.message));
            }
            seen.insert(d.code.to_string());
        }
        let said = render_text(&files, &result.diagnostics, &TextOptions::default());
        let expected = folder().join(name).with_extension("stderr");
        if bless {
            std::fs::write(&expected, &said).expect("writes");
        } else if std::fs::read_to_string(&expected).ok().as_deref() != Some(said.as_str()) {
            wrong.push(format!("{name}: expected otherwise (BLESS=1 rewrites):\n{said}"));
        }
    }
    for c in envisa_text::CODES {
        if !seen.contains(c.code) {
            wrong.push(format!("no broken text has {}", c.code));
        }
    }
    let texts: BTreeSet<_> = cases().into_iter().map(|c| folder().join(c.name)).collect();
    for entry in std::fs::read_dir(folder()).expect("the folder") {
        let path = entry.expect("an entry").path();
        if !texts.contains(&path.with_extension("visaasm")) {
            wrong.push(format!("{}: belongs to no text", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tools read the same as people.
#[test]
fn json_carries_the_same() {
    for case in cases() {
        let (files, result) = read(&case);
        let json = render_json(&files, &result.diagnostics);
        let lines: Vec<&str> = json.lines().collect();
        assert_eq!(lines.len(), result.diagnostics.len(), "{}", case.name);
        for (line, d) in lines.into_iter().zip(&result.diagnostics) {
            let o: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let rendered = render_one(&files, d, &TextOptions::default());
            assert_eq!(o["code"], d.code.as_ref(), "{}", case.name);
            assert_eq!(o["level"], d.severity.as_str());
            assert_eq!(o["message"], d.message.as_ref());
            assert_eq!(o["rendered"], rendered.as_str());
            // The place that people see.
            let place = rendered.split("--> ").nth(1).and_then(|r| r.lines().next()).expect("a place");
            assert_eq!(place, format!("{}:{}:{}", case.name, o["line"], o["column"]));
            let helps = o["help"].as_array().expect("a list");
            assert_eq!(helps.len(), d.helps.len(), "{}", case.name);
            for (h, help) in helps.iter().zip(&d.helps) {
                assert_eq!(h["text"], help.text.as_ref());
                assert_eq!(h["suggestion"].is_object(), help.suggestion.is_some());
                if let Some(s) = &help.suggestion {
                    assert_eq!(h["suggestion"]["replacement"], s.replacement.as_str());
                    assert_eq!(h["suggestion"]["byte_start"], s.span.start);
                }
            }
            let notes = o["notes"].as_array().expect("a list");
            assert!(notes.iter().zip(&d.notes).all(|(a, b)| a == b.as_ref()) && notes.len() == d.notes.len());
        }
    }
}

/// Whether an edit that is offered helps: what it was offered for is not said again there.
#[test]
fn suggestions_mend() {
    let mut tried = 0;
    let mut wrong = Vec::new();
    for case in cases().iter().filter(|c| !c.limited) {
        let (_, result) = read(case);
        for d in &result.diagnostics {
            let Some(s) = d.helps.iter().find_map(|h| h.suggestion.as_ref()) else { continue };
            let mut text = case.text.clone();
            text.replace_range(s.span.start as usize..s.span.end as usize, &s.replacement);
            let again = parse(&text, FileId(0), &case.options);
            let same = |o: &&Diagnostic| o.code == d.code && o.message == d.message;
            let before = result.diagnostics.iter().filter(same).count();
            let after = again.diagnostics.iter().filter(same).count();
            tried += 1;
            if after >= before {
                wrong.push(format!("{}: {} is said after `{}` too", case.name, d.code, s.replacement));
            }
        }
    }
    assert!(tried > 45, "only {tried} suggestions");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All texts as kernels of one: what each has wrong is reported in one run.
#[test]
fn all_errors_of_a_file_come_in_one_run() {
    // Those whose error is of the file or swallows what follows; one file has one version.
    let whole =
        ["version_", "file_", "comment_", "byte_order_mark", "kernel_", "declaration_before", "crlf_"];
    let mut text = String::from(".version 4.1\n");
    let mut expected = Vec::new();
    let mut n = 0;
    for case in cases() {
        let newer = case.text.contains(".version 4.2");
        if case.limited || newer || whole.iter().any(|w| case.name.starts_with(w)) {
            continue;
        }
        // What the case says, by code and line of its own.
        let platform = Some(Platform::Pvc);
        let own = parse(&case.text, FileId(0), &ParseOptions { platform, ..case.options });
        let body = case.text.splitn(3, '\n').nth(2).expect("three lines");
        let first = text.matches('\n').count() + 1;
        for d in &own.diagnostics {
            let at = d.location().expect("a place").span.start as usize;
            let line = case.text[..at].matches('\n').count() + 1;
            expected.push((d.code.to_string(), first + line - 3));
        }
        let names = [
            (".kernel \"k\"\n", format!(".kernel \"k{n}\"\n")),
            (".kernel \"k2\"\n", format!(".kernel \"k{n}b\"\n")),
            (".global_function \"f\"\n", format!(".global_function \"f{n}\"\n")),
        ];
        let renamed = names.iter().fold(body.to_owned(), |t, (a, b)| t.replacen(a, b, 1));
        text.push_str(&renamed);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        n += 1;
    }
    assert!(n > 270, "only {n} cases");
    let options =
        ParseOptions { platform: Some(Platform::Pvc), max_errors: 10_000, ..ParseOptions::default() };
    let all = parse(&text, FileId(0), &options);
    let mut said: Vec<_> = all
        .diagnostics
        .iter()
        .map(|d| {
            let at = d.location().expect("a place").span.start as usize;
            (d.code.to_string(), text[..at].matches('\n').count() + 1)
        })
        .collect();
    said.sort();
    expected.sort();
    let missing: Vec<_> = expected.iter().filter(|e| !said.contains(e)).collect();
    let extra: Vec<_> = said.iter().filter(|s| !expected.contains(s)).collect();
    assert!(missing.is_empty() && extra.is_empty(), "missing {missing:?}, extra {extra:?}");
    assert_eq!(said, expected);
}

/// The page of all codes: written by `BLESS=1`, and held to the registry and the texts.
#[test]
fn the_page_of_codes_is_up_to_date() {
    let mut page = String::from(
        "# Diagnostics of the text\n\n\
         This page explains the codes of the parser's errors (E) and warnings (W), each with an example.\n\
         `crates/envisa-text/tests/diagnostics` has all examples. `docs/RULES.md` explains the verifier's codes. Written by\n\
         `BLESS=1 cargo test -p envisa-text --test text diagnostics`.\n\n\
         | code | |\n| --- | --- |\n",
    );
    for c in envisa_text::CODES {
        page.push_str(&format!("| [{}](#{}) | {} |\n", c.code, c.code.to_lowercase(), c.title));
    }
    let said: Vec<(Case, Files, ParseResult)> = cases()
        .into_iter()
        .map(|case| {
            let (files, result) = read(&case);
            (case, files, result)
        })
        .collect();
    for c in envisa_text::CODES {
        page.push_str(&format!("\n## {}\n\n**{}.** {}\n", c.code, c.title, c.text));
        // The text that says least beside it.
        let shortest = said
            .iter()
            .filter_map(|(_, files, result)| {
                let d = result.diagnostics.iter().find(|d| d.code == c.code)?;
                let text = render_one(files, d, &TextOptions::default());
                Some((result.diagnostics.len(), text.len(), text))
            })
            .min();
        if let Some((_, _, text)) = shortest {
            let lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
            page.push_str(&format!("\n```text\n{}\n```\n", lines.join("\n")));
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/DIAGNOSTICS.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &page).expect("docs/ is writable");
    }
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(old == page, "docs/DIAGNOSTICS.md is out of date: BLESS=1 rewrites it");
}
