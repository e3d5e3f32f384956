//! What lowering and the optimiser make of texts: beside every `tests/lowering/NAME.visaasm`, which says
//! `//: lower PLATFORM`, and `//: private BYTES from IMAGE` if each channel has private memory, are the program of its kernel, `NAME.lowered`, and what runs unobserved, `NAME.optimized`.
//!
//! `BLESS=1 cargo test -p envisa-lower --test lower lowering` writes them.

use std::path::{Path, PathBuf};

use envisa_diag::FileId;
use envisa_isa::Platform;
use envisa_lower::{Options, PrivateMemory, Program, lower, optimize};
use envisa_text::{ParseOptions, parse};
use envisa_verify::Verified;

/// Lowers a case's kernel.
fn program(text: &str) -> Result<Program, String> {
    let mut said = text.lines().filter_map(|l| l.strip_prefix("//: lower "));
    let platform = said.next().ok_or("no line `//: lower PLATFORM`")?.trim();
    let platform = Platform::from_name(platform).ok_or_else(|| format!("unknown platform `{platform}`"))?;
    let options = ParseOptions { platform: Some(platform), ..ParseOptions::default() };
    let parsed = parse(text, FileId(0), &options);
    if !parsed.complete {
        return Err(format!("{:?}", parsed.diagnostics));
    }
    let module = Verified::assume(parsed.module).map_err(|e| format!("{e:?}"))?;
    let mut said = text.lines().filter_map(|l| l.strip_prefix("//: private ")?.split_once(" from "));
    let private = said.next().map(|(bytes, image)| {
        let number = |x: &str| x.trim().parse().map_err(|e| format!("`{x}`: {e}"));
        Ok::<_, String>(PrivateMemory { bytes: number(bytes)?, image: number(image)? })
    });
    let private = private.transpose()?;
    lower(&module, "", &Options { platform, simd: None, private }).map_err(|e| e.to_string())
}

/// Holds a program against its file, and what is read from that against the program.
fn check(program: &Program, path: &Path) -> Result<(), String> {
    let shown = program.to_string();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &shown).map_err(|e| e.to_string())?;
    }
    let expected = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    if let Some((n, (a, b))) = (1..).zip(shown.lines().zip(expected.lines())).find(|(_, (a, b))| a != b) {
        return Err(format!("line {n} is\n  {a}\nnot\n  {b}"));
    }
    if shown.lines().count() != expected.lines().count() {
        return Err("it has more lines, or fewer".into());
    }
    let read = Program::read(&expected).map_err(|e| format!("as text: {e}"))?;
    if read.to_string() != expected { Err("it reads back differently".into()) } else { Ok(()) }
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lowering");
    let paths = std::fs::read_dir(folder).expect("the folder").map(|e| e.expect("an entry").path());
    let mut paths: Vec<PathBuf> = paths.filter(|p| p.extension().is_some_and(|e| e == "visaasm")).collect();
    paths.sort();
    paths
}

#[test]
fn programs_are_as_their_files_say() {
    let mut wrong = Vec::new();
    let paths = cases();
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("a text");
        let checked = program(&text).and_then(|lowered| {
            check(&lowered, &path.with_extension("lowered"))?;
            let optimized = optimize(&lowered).map_err(|e| e.to_string())?;
            check(&optimized, &path.with_extension("optimized"))
        });
        if let Err(e) = checked {
            wrong.push(format!("{}: {e}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(paths.len() >= 20, "{} cases", paths.len());
}
