//! Broken texts and what is said about them: `tests/diagnostics/*.visaasm` with `.stderr` beside.
//!
//! The first line is `// RUN: as [-platform P]`. `BLESS=1` rewrites what is expected.

use std::path::Path;

use envisa_diag::{Files, TextOptions, render_text};
use envisa_isa::Platform;
use envisa_text::{ParseOptions, code, parse};

#[test]
fn broken_texts_get_the_expected_diagnostics() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let bless = std::env::var_os("BLESS").is_some();
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "visaasm"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 110, "only {} broken texts", paths.len());
    let mut wrong = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for path in paths {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        let Some(run) = text.lines().next().and_then(|l| l.strip_prefix("// RUN: as")) else {
            wrong.push(format!("{name}: no `// RUN: as` line"));
            continue;
        };
        let mut opts = ParseOptions::default();
        let words: Vec<&str> = run.split_whitespace().collect();
        match words[..] {
            [] => {}
            ["-platform", p] => opts.platform = Some(Platform::from_name(p).expect("a platform")),
            _ => {
                wrong.push(format!("{name}: unknown options `{run}`"));
                continue;
            }
        }
        let mut files = Files::new();
        let id = files.add_text(name.clone(), text.clone());
        let result = parse(&text, id, &opts);
        if result.diagnostics.is_empty() {
            wrong.push(format!("{name}: nothing is said"));
        }
        if result.complete != result.diagnostics.iter().all(|d| !d.is_error()) {
            wrong.push(format!("{name}: complete does not go with the errors"));
        }
        for d in &result.diagnostics {
            if code(&d.code).is_none() {
                wrong.push(format!("{name}: the code {} is not registered", d.code));
            }
            if d.location().is_none() {
                wrong.push(format!("{name}: {} has no place", d.code));
            }
            seen.insert(d.code.to_string());
        }
        let said = render_text(&files, &result.diagnostics, &TextOptions::default());
        let expected = path.with_extension("stderr");
        if bless {
            std::fs::write(&expected, &said).expect("writes");
        } else if std::fs::read_to_string(&expected).ok().as_deref() != Some(said.as_str()) {
            wrong.push(format!("{name}: expected otherwise (BLESS=1 rewrites):\n{said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for c in envisa_text::CODES {
        let untested = ["E0107", "E0108", "E0207", "E0601", "E0602", "W0505"];
        assert!(seen.contains(c.code) || untested.contains(&c.code), "no broken text has {}", c.code);
    }
}
