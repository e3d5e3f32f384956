//! The drop-in cases beside Intel's assembler: it takes each of them, and writes the same bytes. So the cases are
//! vISA as others read it, whatever they expect.

// Not all of what the cases say matters here.
use crate::oracle;

use crate::case::{Case, begins_object};
use envisa::binary::{WriteOptions, write_as_reference};
use envisa::diag::FileId;
use envisa::isa::Platform;
use envisa::text::{ParseOptions, parse};
use std::path::{Path, PathBuf};

/// Cases that the packaged assembler does not take, and why.
const REFUSED: &[(&str, &str)] = &[
    ("control/call:subroutine", "it crashes over the flow of a predicated call"),
    ("memory/index_of_shifts", SURFACE),
    ("memory/row_from_below", SURFACE),
    ("memory/uniform_then_varying:addc_halves_16", SURFACE),
    ("memory/uniform_then_varying:addc_halves_32", SURFACE),
    ("memory/uniform_then_varying:input_16", SURFACE),
    ("memory/uniform_then_varying:input_32", SURFACE),
    ("memory/uniform_then_varying:loop_16", SURFACE),
    ("memory/uniform_then_varying:loop_32", SURFACE),
    (
        "moves/between_generals",
        "its grammar wants a state variable; the vector compiler builds the instruction without text",
    ),
    ("memory/lsc:scale", "it says that scaled addresses are not supported yet"),
];
/// Why messages whose surface is a variable of surfaces are refused.
const SURFACE: &str = "of the index of a surface it takes numbers and general variables, not surfaces";

/// The text with the case's kernel and the file's functions only.
fn alone(case: &Case) -> String {
    let mut out = String::new();
    let mut keep = true;
    for (i, line) in case.text.lines().enumerate() {
        if begins_object(line) {
            keep = i == case.lines.start || line.trim_start().starts_with(".global_function");
        }
        if keep && !line.trim_start().starts_with("//") {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

fn texts(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder of cases") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            texts(&path, out);
        } else if path.extension().is_some_and(|e| e == "visaasm") {
            out.push(path);
        }
    }
}

#[test]
fn the_reference_takes_the_cases_and_writes_the_same_bytes() {
    if !oracle::available("the_reference_takes_the_cases_and_writes_the_same_bytes") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/filetests");
    let mut paths = Vec::new();
    texts(&folder, &mut paths);
    paths.sort();
    let known = [
        Platform::Bdw,
        Platform::Skl,
        Platform::Icllp,
        Platform::Tgllp,
        Platform::XehpSdv,
        Platform::Dg2,
        Platform::Pvc,
    ];
    let (mut wrong, mut same, mut refused) = (Vec::new(), 0, 0);
    for path in &paths {
        let name = path.strip_prefix(&folder).expect("inside").with_extension("").display().to_string();
        let text = std::fs::read_to_string(path).expect("a text");
        for case in Case::all(&name, &text).unwrap_or_else(|e| panic!("{name}: {e}")) {
            let Some(platform) = case.platforms.iter().copied().find(|p| known.contains(p)) else { continue };
            let text = alone(&case);
            let options = ParseOptions { platform: Some(platform), ..ParseOptions::default() };
            let said = parse(&text, FileId(0), &options);
            if said.module.version > (4, 1) {
                continue;
            }
            let ours = write_as_reference(&said.module, &WriteOptions::for_platform(platform));
            let theirs = oracle::bytes(&text, platform);
            if REFUSED.iter().any(|(name, _)| *name == case.name) {
                assert!(theirs.is_err(), "{} is taken now", case.name);
                refused += 1;
                continue;
            }
            match (ours, theirs) {
                (Ok(ours), Ok(theirs)) if ours == theirs => same += 1,
                (Ok(ours), Ok(theirs)) => {
                    wrong.push(format!("{}: {} bytes, theirs {}", case.name, ours.len(), theirs.len()));
                }
                (ours, theirs) => {
                    wrong.push(format!("{}: ours {:?}, theirs {:?}", case.name, ours.err(), theirs.err()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), wrong.len() + same, wrong.join("\n"));
    assert_eq!(refused, REFUSED.len(), "each exception is a case");
    assert!(same > 250, "{same} cases were compared");
}
