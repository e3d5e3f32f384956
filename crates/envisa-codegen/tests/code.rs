//! What code is made of programs, as texts that a person reads: beside every `tests/cases/NAME.visaasm`, which says
//! `//: lower PLATFORM`, is the code of its kernel, `NAME.code`.
//!
//! `BLESS=1 cargo test -p envisa-codegen --test code` writes them.
#![cfg(target_arch = "x86_64")]

use std::path::{Path, PathBuf};

use envisa_codegen::{Given, Target, Threads, compile};
use envisa_diag::FileId;
use envisa_isa::{Platform, predefined::var};
use envisa_lower::lower;
use envisa_text::{ParseOptions, parse};
use envisa_verify::Verified;
use envisa_vir::{Options, build, passes};

/// The code of a case's kernel.
fn code(text: &str) -> Result<String, String> {
    let mut said = text.lines().filter_map(|l| l.strip_prefix("//: lower "));
    let platform = said.next().ok_or("no line `//: lower PLATFORM`")?.trim();
    let platform = Platform::from_name(platform).ok_or_else(|| format!("unknown platform `{platform}`"))?;
    let options = ParseOptions { platform: Some(platform), ..ParseOptions::default() };
    let parsed = parse(text, FileId(0), &options);
    if !parsed.complete {
        return Err(format!("{:?}", parsed.diagnostics));
    }
    let module = Verified::assume(parsed.module).map_err(|e| format!("{e:?}"))?;
    let program =
        lower(&module, "", &envisa_lower::Options { platform, simd: None }).map_err(|e| e.to_string())?;
    let mut func = build(&program, &Options::default()).map_err(|e| e.to_string())?;
    passes::run(&mut func);
    let given = Given {
        program: &program,
        func: &func,
        target: Target::Avx512,
        threads: Threads::Single { together: false },
        cr0: program.registers().predefined[var::CR0 as usize],
    };
    compile(&given).map(|c| c.listing())
}

/// Holds the code of a case against its file.
fn case(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let shown = code(&text)?;
    let beside = path.with_extension("code");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&beside, &shown).map_err(|e| e.to_string())?;
    }
    let expected = std::fs::read_to_string(&beside).map_err(|e| e.to_string())?;
    match (1..).zip(shown.lines().zip(expected.lines())).find(|(_, (a, b))| a != b) {
        Some((n, (a, b))) => Err(format!("line {n} is\n  {a}\nnot\n  {b}")),
        None if shown.lines().count() != expected.lines().count() => {
            Err("it has more lines, or fewer".into())
        }
        None => Ok(()),
    }
}

#[test]
fn code_is_as_its_files_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let paths = std::fs::read_dir(folder).expect("the folder").map(|e| e.expect("an entry").path());
    let mut paths: Vec<PathBuf> = paths.filter(|p| p.extension().is_some_and(|e| e == "visaasm")).collect();
    paths.sort();
    let wrong: Vec<String> =
        paths.iter().filter_map(|p| case(p).err().map(|e| format!("{}: {e}", p.display()))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(paths.len() >= 3, "{} cases", paths.len());
}
