//! A launch that fails, captured by the driver and reduced: what is left fails by the same code wherever it is put.

use super::{command, exec_with};
use std::path::Path;
use std::process::{Command, Output};

fn text(out: &Output) -> String {
    [&out.stdout, &out.stderr].map(|text| String::from_utf8_lossy(text)).concat()
}

/// Captures the launches of a program that does something, and reduces those of a kernel to one that has the code.
fn reduced(does: &str, kernel: &str, code: &str, options: &[&str]) {
    let dir = tempfile::tempdir().expect("made");
    let captured = dir.path().join("captured");
    let Some((_, out, err)) = exec_with(options, does, &[("ENVISA_CAPTURE", &captured)]) else { return };
    assert!(err.contains(code), "{out}{err}");
    let mut kept: Vec<_> = std::fs::read_dir(&captured).unwrap().map(|e| e.unwrap().path()).collect();
    kept.sort();
    let of = |p: &&std::path::PathBuf| p.to_string_lossy().ends_with(&format!("-{kernel}"));
    let launch = kept.iter().find(of).unwrap_or_else(|| panic!("{kept:?}"));
    let (envisa, small) = (command().expect("as before"), dir.path().join("small"));
    let run = Command::new(&envisa)
        .args(["reduce", "--jobs", "1", "--tries", "100", "--fault", code, "-o"])
        .args([&small, &launch.join("job.toml")])
        .arg("--")
        .args(options)
        .output()
        .expect("it starts");
    assert!(run.status.success(), "{}", text(&run));
    // The folder has all that it needs, and what the kernel does not need is gone.
    let elsewhere = dir.path().join("elsewhere");
    std::fs::rename(&small, &elsewhere).expect("on the same disk");
    std::fs::remove_dir_all(&captured).expect("they are there");
    let folders = envisa.parent().map(Path::to_owned).into_iter();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).expect("folders");
    let run = Command::new("sh").arg(elsewhere.join("reproduce.sh")).env("PATH", path).output();
    let run = run.expect("it starts");
    assert!(text(&run).contains(code), "{}", text(&run));
    let job = std::fs::read_to_string(elsewhere.join("reduced.toml")).expect("it is there");
    let file = job.lines().find_map(|l| l.strip_prefix("file = ")).expect("a job has one");
    let program =
        std::fs::read_to_string(elsewhere.join(file.trim_matches('"'))).expect("it is beside the job");
    assert!(program.matches("kernel void").count() == 1, "{program}");
}

#[test]
fn a_captured_launch_with_a_fault_is_reduced() {
    reduced("wild", "wild", "F0001", &[]);
}

#[test]
fn a_captured_launch_with_a_race_is_reduced() {
    reduced("race", "race", "F0004", &["--check"]);
}
