//! Runs that are ended before their end: what was printed stays, and the message says where the kernel was.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/run").join(name)
}

fn endless(folder: &Path) -> Command {
    let zebin = folder.join("endless.zebin");
    std::fs::copy(case("print_forever.zebin.in"), &zebin).expect("a copy");
    let mut command = Command::new(env!("CARGO_BIN_EXE_envisa"));
    command.arg("run").arg(zebin).args(["--global", "16", "--local", "8", "--arg", "flag=i32:0,0"]);
    command
}

fn told(out: &std::process::Output, why: &str) {
    let (stdout, stderr) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert_eq!(out.status.code(), Some(1), "{stderr}");
    assert!(stdout.contains("before, item 0"), "what was printed is lost: {stdout}\n{stderr}");
    assert!(!stdout.contains("after"), "{stdout}");
    assert!(
        stderr.contains("error[F0020]") && stderr.contains("wait_for_ever") && stderr.contains(why),
        "{stderr}"
    );
    // A line of the kernel's text.
    assert!(stderr.contains("endless.zebin:wait_for_ever:"), "{stderr}");
}

#[test]
fn a_timeout_tells_where_the_kernel_was() {
    let dir = tempfile::tempdir().expect("a folder");
    let start = Instant::now();
    let out = endless(dir.path()).args(["--timeout", "0.5"]).output().expect("it runs");
    told(&out, "its timeout is 0.5 s");
    assert!(start.elapsed() < Duration::from_secs(60));
    let out = endless(dir.path()).args(["--timeout", "-1"]).output().expect("it runs");
    assert_eq!(out.status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn ctrl_c_tells_where_the_kernel_was() {
    let dir = tempfile::tempdir().expect("a folder");
    let child = endless(dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    std::thread::sleep(Duration::from_millis(1500));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("a signal");
    assert!(sent.success());
    told(&child.wait_with_output().expect("it ends"), "interrupted");
}
