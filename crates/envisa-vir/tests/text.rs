//! What the IR of programs is, and what passes make of functions, as texts: beside every `tests/cases/NAME.visaasm`, which
//! says `//: lower PLATFORM`, are the function of its kernel, `NAME.built`, and that after all passes, `NAME.passed`;
//! beside every `NAME.before`, a function, is that after all passes, `NAME.after`.
//!
//! `BLESS=1 cargo test -p envisa-vir --test text` writes them.

use std::path::{Path, PathBuf};

use envisa_diag::FileId;
use envisa_isa::Platform;
use envisa_lower::lower;
use envisa_text::{ParseOptions, parse};
use envisa_verify::Verified;
use envisa_vir::{Func, Options, build, passes, verify};

/// The function of a case's kernel.
fn function(text: &str) -> Result<Func, String> {
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
    build(&program, &Options::default()).map_err(|e| e.to_string())
}

/// A function with values numbered in the order of the text.
fn numbered(f: &Func) -> Result<Func, String> {
    Func::read(&f.to_string()).map_err(|e| e.to_string())
}

/// Holds a function against its file.
fn check(f: &Func, path: &Path) -> Result<(), String> {
    verify(f).map_err(|e| e.to_string())?;
    let shown = numbered(f)?.to_string();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &shown).map_err(|e| e.to_string())?;
    }
    let expected = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    match (1..).zip(shown.lines().zip(expected.lines())).find(|(_, (a, b))| a != b) {
        Some((n, (a, b))) => Err(format!("line {n} is\n  {a}\nnot\n  {b}")),
        None if shown.lines().count() != expected.lines().count() => {
            Err("it has more lines, or fewer".into())
        }
        None => Ok(()),
    }
}

fn case(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    if path.extension().is_some_and(|e| e == "before") {
        let mut f = Func::read(&text).map_err(|e| e.to_string())?;
        verify(&f).map_err(|e| e.to_string())?;
        passes::run(&mut f);
        return check(&f, &path.with_extension("after"));
    }
    let mut f = function(&text)?;
    check(&f, &path.with_extension("built"))?;
    passes::run(&mut f);
    check(&f, &path.with_extension("passed"))
}

#[test]
fn functions_are_as_their_files_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let paths = std::fs::read_dir(folder).expect("the folder").map(|e| e.expect("an entry").path());
    let is_case = |p: &PathBuf| p.extension().is_some_and(|e| e == "visaasm" || e == "before");
    let mut paths: Vec<PathBuf> = paths.filter(is_case).collect();
    paths.sort();
    let wrong: Vec<String> =
        paths.iter().filter_map(|p| case(p).err().map(|e| format!("{}: {e}", p.display()))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(paths.len() >= 5, "{} cases", paths.len());
}

/// What is wrong with a function is said.
#[test]
fn the_verifier_refuses() {
    let head = "func \"f\" simd 8 registers 64 {\nb0(): @0\n";
    for (body, what) in [
        ("v0:i32x8 = add.d v1, v1\nv1:i32x8 = const 0x1", "v1 is not defined here"),
        ("v0:i32x8 = const 0x1\nv1:i16x8 = add.w v0, v0", "an operand has another type"),
        ("v0:i32x8 = const 0x1ffffffff", "more bits than a lane"),
        ("v0:mx8 = const 0x1\nv1:i32x4 = const 0x0\nv2:i32x4 = select v0, v1, v1", "another mask"),
        ("v0:i32x8 = const 0x1\nv1:i32x4 = shuffle.4 v0 [6..10]", "units that do not exist"),
        ("v0:f32x8 = const 0x1", "`f32x8` is not a type"),
    ] {
        let body: String = body.lines().map(|l| format!("    {l}\n")).collect();
        let text = format!("{head}{body}    return\n}}\n");
        let said = match Func::read(&text) {
            Ok(f) => verify(&f).expect_err("it is wrong").to_string(),
            Err(e) => e.to_string(),
        };
        assert!(said.contains(what), "{said}\nnot {what}:\n{text}");
    }
}
