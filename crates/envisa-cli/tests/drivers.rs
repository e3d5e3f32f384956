//! `envisa run --driver` and the other drivers of `envisa campaign`: PoCL, where it is installed.

use std::path::Path;
use std::process::{Command, Output};

const SOURCE: &str = "
    kernel void k(global uint *out, global const uint *in, ushort n, float4 f, local uint *part) {
        uint i = get_global_id(0);
        part[get_local_id(0)] = in[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[i] = part[get_local_id(0) ^ 1] * n + (uint)f.z;
    }";
const LAUNCH: [&str; 16] = [
    "--global",
    "16",
    "--local",
    "8",
    "--arg",
    "out=zeros:u32:16",
    "--arg",
    "in=iota:u32:16",
    "--arg",
    "n=3",
    "--arg",
    "f=f32x4:1,2,30,4",
    "--arg",
    "part=local:32",
    "--print",
    "out",
];

/// PoCL's library.
fn pocl() -> Option<String> {
    let named = std::fs::read_to_string("/etc/OpenCL/vendors/pocl.icd").ok();
    if named.is_none() {
        envisa_harness::testing::not_run("PoCL is not there (Debian: pocl-opencl-icd)");
    }
    named.map(|n| n.trim().to_owned())
}

fn envisa(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_envisa")).current_dir(folder).args(args).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn another_driver_runs_a_kernel() {
    let Some(pocl) = pocl() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("k.cl"), SOURCE).expect("it is written");
    let run = |driver: &str, more: &[&str]| {
        let out = envisa(dir.path(), &[&["run", "k.cl", "--driver", driver], &LAUNCH[..], more].concat());
        (out.status.code(), text(&out.stdout), text(&out.stderr))
    };
    let (code, out, err) = run(&pocl, &[]);
    let want = "out (16 x u32): 33, 30, 39, 36, 45, 42, 51, 48, 57, 54, 63, 60, 69, 66, 75, 72\n";
    assert_eq!((code, out.as_str()), (Some(0), want), "{err}");
    assert_eq!(run(&pocl, &["--expect", "out=fill:u32:16:33"]).0, Some(1));
    for (driver, more) in [
        ("/nonexistent.so", &[][..]),
        (&pocl, &["--check"]),
        (&pocl, &["--json"]),
        (&pocl, &["--arg", "m=5"]),
        (&pocl, &["--kernel", "none"]),
    ] {
        let (code, out, err) = run(driver, more);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{driver} {more:?}: {err}");
    }
}

/// All sides of a campaign have a result, and one that was done is not done again.
#[test]
fn a_campaign_has_other_drivers_among_its_sides() {
    let Some(pocl) = pocl() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let driver = format!("pocl={pocl}");
    let args =
        ["campaign", "found", "--programs", "2", "--driver", &driver, "--device", "dg2", "--reductions", "0"];
    let out = envisa(dir.path(), &args);
    let (code, page) = (out.status.code(), text(&out.stdout));
    assert!(matches!(code, Some(0 | 1)), "{page}{}", text(&out.stderr));
    for side in ["pocl", "pocl, not optimised"] {
        assert!(page.contains(&format!("| {side} | 2 | 0 | 0 |")), "{page}");
    }
    let results = dir.path().join("found/results.jsonl");
    let before = std::fs::read(&results).expect("results");
    let again = envisa(dir.path(), &args);
    assert_eq!(text(&again.stdout), page);
    assert_eq!(text(&std::fs::read(&results).expect("results")).trim(), text(&before).trim());
}
