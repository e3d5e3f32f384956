//! A run under the checks tells what it did not look at, as it is for that kernel: with debug information and without.

use std::path::Path;
use std::process::{Command, Output};

const NONE: &str = "kernel void none(global int *a) { a[get_global_id(0)] += 1; }\n";
/// Alone: the compiler leaves debug information out of a module with several kernels.
const TWO: &str = "kernel void two(global int *a) {\n\
    local int first[32], second[32];\n\
    int i = get_local_id(0);\n\
    first[i] = a[i];\n\
    second[i] = a[i] + 1;\n\
    barrier(CLK_LOCAL_MEM_FENCE);\n\
    a[i] = first[31 - i] + second[31 - i];\n\
}\n";

fn envisa(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_envisa")).args(args).current_dir(folder).output().expect("it starts")
}

/// What a run of a kernel of this zebin says it did not look at.
fn not_checked(folder: &Path, zebin: &str, kernel: &str) -> String {
    let a = ["run", zebin, "--kernel", kernel, "--global", "32", "--local", "32", "--arg", "a=iota:i32:32"];
    let out = envisa(folder, &[&a[..], &["--check"]].concat());
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{text}{}", String::from_utf8_lossy(&out.stderr));
    text.lines().find(|l| l.starts_with("not checked: ")).expect("a line").to_owned()
}

#[test]
fn what_is_not_looked_at_is_told_for_each_kernel() {
    if Command::new("ocloc").output().is_err() {
        return envisa_harness::testing::not_run("ocloc is not there");
    }
    let dir = tempfile::tempdir().expect("a folder");
    let builds = [("none.zebin", NONE, ""), ("lines.zebin", TWO, ""), ("debug.zebin", TWO, "-g")];
    for (zebin, source, options) in builds {
        std::fs::write(dir.path().join("k.cl"), source).expect("it is written");
        let out =
            envisa(dir.path(), &["build", "k.cl", "--device", "dg2", "--options", options, "-o", zebin]);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }
    let (unknown, known) = ("their places are not known", "into the middle of another");
    for (zebin, kernel, said, not_said) in [
        ("lines.zebin", "two", Some(unknown), known),
        ("debug.zebin", "two", Some(known), unknown),
        ("none.zebin", "none", None, "local variables"),
    ] {
        let line = not_checked(dir.path(), zebin, kernel);
        assert!(
            said.is_none_or(|s| line.contains(s)) && !line.contains(not_said),
            "{zebin} {kernel}: {line}"
        );
    }
}
