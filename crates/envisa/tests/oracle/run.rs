//! Running the reference assembler, `GenX_IR`, in a folder of its own.

use envisa::isa::Platform;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The program: `$GENX_IR`, or as found on the path.
pub fn program() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            if let Some(p) = std::env::var_os("GENX_IR") {
                return Some(PathBuf::from(p));
            }
            let path = std::env::var_os("PATH")?;
            std::env::split_paths(&path).map(|d| d.join("GenX_IR")).find(|p| p.is_file())
        })
        .as_deref()
}

/// Is the oracle there? If not, says so loudly; fails where `ENVISA_REQUIRE_ORACLES=1` demands it.
pub fn available(test: &str) -> bool {
    if program().is_some() {
        return true;
    }
    let message = format!("{test}: SKIPPED, GenX_IR is not installed (libigc-tools)");
    assert!(std::env::var_os("ENVISA_REQUIRE_ORACLES").is_none_or(|v| v != "1"), "{message}");
    // Past the harness's capture of output.
    let _ = writeln!(std::io::stderr().lock(), "{message}");
    false
}

/// What a run gave.
pub struct Run {
    /// Exit code; `None` after a signal or the time limit.
    pub code: Option<i32>,
    /// `exit N`, `signal N`, or what limit it met.
    pub end: String,
    /// Standard output and error.
    pub output: String,
}

impl Run {
    fn failed(&self) -> bool {
        self.end != "exit 0"
    }

    /// How it ended and what it said last.
    fn complaint(&self) -> String {
        let noise =
            |l: &&str| !l.trim().is_empty() && !l.contains("INPUT payload") && !l.contains("-platform");
        let said: Vec<&str> = self.output.lines().filter(noise).collect();
        format!("{}: {}", self.end, said[said.len().saturating_sub(3)..].join(" / "))
    }
}

/// Runs it in `dir` with these arguments, at most for so many seconds of processor time.
pub fn run(dir: &Path, args: &[&str], seconds: u32) -> Run {
    let log = std::fs::File::create(dir.join("log")).expect("a log file");
    let program = program().expect("asked for only where it is available");
    // Processor time, so that a busy machine changes nothing.
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -c 0; ulimit -t {seconds}; exec \"$0\" \"$@\""))
        .arg(program)
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a handle"))
        .stderr(log)
        .spawn()
        .expect("GenX_IR starts");
    let limit = Instant::now() + Duration::from_secs(60 + 10 * seconds as u64);
    let (code, end) = loop {
        match child.try_wait().expect("GenX_IR can be waited for") {
            Some(status) => break (status.code(), ended(status)),
            None if Instant::now() > limit => {
                let _ = child.kill();
                let _ = child.wait();
                break (None, "hangs".into());
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let text =
        |name: &str| String::from_utf8_lossy(&std::fs::read(dir.join(name)).unwrap_or_default()).into_owned();
    // Its verifier writes to a file, with rules of dashes.
    let errors = text("in.errors.txt");
    let errors: Vec<&str> = errors.lines().filter(|l| !l.contains("----")).collect();
    let mut output = text("log");
    if !errors.is_empty() {
        output = errors.join("\n");
    }
    Run { code, end, output }
}

fn ended(status: std::process::ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        // Those of the limit on processor time.
        (_, Some(9 | 24)) => "hangs".into(),
        (_, signal) => format!("signal {}", signal.unwrap_or(0)),
    }
}

/// The bytes it writes for a text: with the damage that this release does, without native code.
pub fn bytes(text: &str, platform: Platform) -> Result<Vec<u8>, String> {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("in.visaasm"), text).expect("the text is written");
    let run = run(
        dir.path(),
        &[
            "in.visaasm",
            "-platform",
            platform.name(),
            "-stopafter",
            "CFG",
            "-noverifyCISA",
            "-outputCisaBinaryName",
            "out.isa",
        ],
        1,
    );
    match std::fs::read(dir.path().join("out.isa")) {
        Ok(bytes) if !run.failed() => Ok(bytes),
        _ => Err(run.complaint()),
    }
}

/// The native code it makes of a file (`name.visaasm` or `name.isa`): all kernels' `.dat`, in order of names;
/// within so many seconds of processor time.
pub fn native(input: &[u8], name: &str, platform: Platform, seconds: u32) -> Result<Vec<Vec<u8>>, String> {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join(name), input).expect("the input is written");
    let run = run(dir.path(), &[name, "-platform", platform.name(), "-binary"], seconds);
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir.path())
        .expect("the folder is listed")
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.to_string_lossy().ends_with(".dat"))
        .collect();
    files.sort();
    if run.failed() || files.is_empty() {
        return Err(run.complaint());
    }
    Ok(files.iter().map(|p| std::fs::read(p).expect("what was listed is read")).collect())
}
