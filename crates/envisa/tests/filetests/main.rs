//! Drop-in cases: every kernel of a `.visaasm` file under `tests/filetests` that says what it expects is a test of
//! its own, run on every platform it names and on every engine there is. `tests/filetests/README.md` explains
//! the notation.
//!
//! `cargo test -p envisa --test filetests -- arith/add` runs those whose name contains `arith/add`.

mod case;
mod engines;
mod values;

use case::Case;
use envisa::diag::FileId;
use envisa::isa::TABLE;
use envisa::isa::operation::Operation;
use envisa::text::{ParseOptions, parse};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Fewer cases than this were not found, but lost.
const LEAST_CASES: usize = 290;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/filetests")
}

/// Texts under a folder, sorted.
fn texts(folder: &Path, out: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            texts(&path, out)?;
        } else if path.extension().is_some_and(|e| e == "visaasm") {
            out.push(path);
        }
    }
    Ok(())
}

/// The tests of one file. What cannot be read is a test that fails.
fn trials(path: &Path, name: &str, out: &mut Vec<Trial>) {
    let fail =
        |message: String| Trial::test(name.to_owned(), move || Err::<(), _>(Failed::from(message.clone())));
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) => return out.push(fail(e.to_string())),
    };
    match Case::all(name, &text) {
        Ok(cases) if cases.is_empty() => out.push(fail("no kernel says what it expects".into())),
        Ok(cases) => {
            for case in cases {
                out.push(Trial::test(case.name.clone(), move || run(&case)));
            }
        }
        Err(e) => out.push(fail(e)),
    }
}

/// Runs a case everywhere; tells of all platforms and engines that differ.
fn run(case: &Case) -> Result<(), Failed> {
    // What went wrong, and where that was so.
    let mut wrong: Vec<(String, Vec<String>)> = Vec::new();
    for platform in &case.platforms {
        let runs = engines::ALL.iter().map(|e| (e.name(), engines::run(case, *platform, *e)));
        let compiled = ("native code, as compiled", engines::compare_compiled(case, *platform));
        for (engine, result) in runs.chain([compiled]) {
            let Err(e) = result else { continue };
            let place = format!("{} ({engine})", platform.name());
            match wrong.iter_mut().find(|(what, _)| *what == e) {
                Some((_, places)) => places.push(place),
                None => wrong.push((e, vec![place])),
            }
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let told: Vec<String> =
        wrong.iter().map(|(what, places)| format!("{what}\n  on {}", places.join(", "))).collect();
    Err(told.join("\n").into())
}

/// Every instruction that computes channel by channel is in a case.
fn every_computation_has_a_case(texts: &[PathBuf]) -> Result<(), Failed> {
    let mut found = BTreeSet::new();
    for path in texts {
        let text = std::fs::read_to_string(path)?;
        let parsed = parse(&text, FileId(0), &ParseOptions::default());
        found.extend(parsed.module.objects.iter().flat_map(|o| &o.insts).map(|i| i.desc().name));
    }
    let computes = TABLE.iter().filter(|d| matches!(d.operation, Some(Operation::Compute(_))));
    let missing: Vec<&str> = computes.map(|d| d.name).filter(|name| !found.contains(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("no case in tests/filetests has {} (docs/ADDING-AN-INSTRUCTION.md)", missing.join(", "))
        .into())
}

fn main() {
    let arguments = Arguments::from_args();
    let mut files = Vec::new();
    texts(&folder(), &mut files).expect("the folder of cases");
    let mut all = Vec::new();
    for path in &files {
        let name = path.strip_prefix(folder()).expect("inside").with_extension("");
        trials(path, &name.display().to_string().replace('\\', "/"), &mut all);
    }
    all.push(Trial::test("every computation has a case", move || every_computation_has_a_case(&files)));
    assert!(all.len() >= LEAST_CASES, "{} cases", all.len());
    libtest_mimic::run(&arguments, all).exit();
}
