//! `envisa reduce --differs` refuses programs whose results differ only because the standard does not define them.

use std::path::Path;
use std::process::{Command, Output};

/// The packaged compiler is wrong about the rotation, but for `-cl-opt-disable`.
const INPUT: &str = "kernel void k(global uint4 *out, global const uint4 *in, int n) {\n\
    size_t i = get_global_id(0);\n\
    uint4 v = in[i];\n\
    out[i] = (v << 4) | (v >> 28);\n\
}\n";
/// What a reduction may come to: it is the mistake itself.
const DEFINED: &str = "kernel void k(global uint4*out,global uint4*in){uint4 v=in[1];out[0]=v<<4|v>>28;}";
/// Candidates with other results without optimisation, and by what they are refused.
const UNDEFINED: [(&str, &str); 3] = [
    ("n + 1 > n", "F0028"),
    ("n / (n & 0)", "F0021"),
    // The least number is divided by -1.
    ("(-n - 1) / (~n | -1) > 0", "F0028"),
];
const RUN: [&str; 11] = [
    "--device",
    "dg2",
    "--global",
    "8",
    "--arg",
    "in=iota:u32:32",
    "--arg",
    "out=zeros:u32:32",
    "--print",
    "out",
    "--arg",
];
const N: &str = "n=2147483647";

fn envisa(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_envisa")).args(args).current_dir(folder).output().expect("it starts")
}

/// Does a reduction of the input that was stopped at a program go on with it?
fn goes_on(folder: &Path, program: &str) -> bool {
    let place = folder.join("small");
    std::fs::create_dir_all(&place).expect("a folder");
    std::fs::write(place.join("reduced.cl"), program).expect("it is written");
    let reduce = [
        "reduce",
        "in.cl",
        "-o",
        "small",
        "--tries",
        "1",
        "--differs",
        "--options -cl-opt-disable",
        "",
        "--",
    ];
    let out = envisa(folder, &[&reduce[..], &RUN[..], &[N]].concat());
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{said}");
    said.contains("continues in")
}

#[test]
fn programs_that_differ_because_they_are_undefined_are_refused() {
    if Command::new("ocloc").output().is_err() {
        return envisa_harness::testing::not_run("ocloc is not there");
    }
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("in.cl"), INPUT).expect("it is written");
    assert!(goes_on(dir.path(), DEFINED), "the mistake itself is taken");
    let mut told_apart = 0;
    for (value, code) in UNDEFINED {
        let program = format!(
            "kernel void k(global uint4 *out, global const uint4 *in, int n) {{ out[get_global_id(0)] = {value}; }}"
        );
        std::fs::write(dir.path().join("c.cl"), &program).expect("it is written");
        let run = |more: &[&str]| envisa(dir.path(), &[&["run", "c.cl"], &RUN[..], &[N], more].concat());
        let checked = run(&["--check-hints"]);
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(said.contains(&format!("error[{code}]")), "{value}: {said}");
        told_apart += usize::from(run(&[]).stdout != run(&["--options", "-cl-opt-disable"]).stdout);
        assert!(!goes_on(dir.path(), &program), "{value} is refused");
    }
    // Otherwise the test would show nothing.
    assert!(told_apart >= 2, "only {told_apart} of them have other results without optimisation");
}
