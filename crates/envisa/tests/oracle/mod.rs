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
    /// Standard output and error.
    pub output: String,
}

/// Runs it in `dir` with these arguments, at most a few seconds.
pub fn run(dir: &Path, args: &[&str]) -> Run {
    let log = std::fs::File::create(dir.join("log")).expect("a log file");
    let mut child = Command::new(program().expect("asked for only where it is available"))
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a handle"))
        .stderr(log)
        .spawn()
        .expect("GenX_IR starts");
    let end = Instant::now() + Duration::from_secs(4);
    let code = loop {
        match child.try_wait().expect("GenX_IR can be waited for") {
            Some(status) => break status.code(),
            None if Instant::now() > end => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let output = String::from_utf8_lossy(&std::fs::read(dir.join("log")).unwrap_or_default()).into_owned();
    Run { code, output }
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
    );
    match std::fs::read(dir.path().join("out.isa")) {
        Ok(bytes) if run.code == Some(0) => Ok(bytes),
        _ => Err(format!("exit {:?}: {}", run.code, run.output.trim())),
    }
}

/// The native code it makes of a file (`name.visaasm` or `name.isa`): all kernels' `.dat`, in order of names.
pub fn native(input: &[u8], name: &str, platform: Platform) -> Result<Vec<Vec<u8>>, String> {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join(name), input).expect("the input is written");
    let run = run(dir.path(), &[name, "-platform", platform.name(), "-binary"]);
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir.path())
        .expect("the folder is listed")
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.to_string_lossy().ends_with(".dat"))
        .collect();
    files.sort();
    if run.code != Some(0) || files.is_empty() {
        return Err(format!("exit {:?}: {}", run.code, run.output.trim()));
    }
    Ok(files.iter().map(|p| std::fs::read(p).expect("what was listed is read")).collect())
}

/// What it says about a text that may be broken.
pub struct Said {
    /// Exit code; `None` after a crash or the time limit.
    pub code: Option<i32>,
    /// It died of a signal, or had to be ended.
    pub crashed: bool,
    /// The first complaint; empty if there is none.
    pub message: String,
    /// The line it names.
    pub line: Option<usize>,
}

impl Said {
    /// Something came of it: a message, or an exit code.
    pub fn found(&self) -> bool {
        !self.message.is_empty() || self.code != Some(0)
    }
}

/// Assembles and compiles a text as anyone would, and reads what it has to say.
pub fn diagnose(name: &str, text: &[u8], platform: Platform) -> Said {
    let dir = tempfile::tempdir().expect("a folder");
    let file = format!("{name}.visaasm");
    std::fs::write(dir.path().join(&file), text).expect("the text is written");
    let run = run(dir.path(), &[&file, "-platform", platform.name()]);
    // Longer complaints go to a file of their own.
    let errors: String = std::fs::read_dir(dir.path())
        .expect("the folder is listed")
        .flatten()
        .filter(|e| e.file_name().to_string_lossy().ends_with(".errors.txt"))
        .filter_map(|e| std::fs::read(e.path()).ok())
        .map(|b| String::from_utf8_lossy(&b).into_owned())
        .collect();
    // The first line repeats the command.
    let output: Vec<&str> = run.output.lines().skip(1).collect();
    let meaningful = |l: &&str| {
        !l.is_empty()
            && !l.starts_with("Found a total")
            && !l.starts_with("Please check")
            && !l.starts_with("for the exact")
            && !l.ends_with(".errors.txt")
            && !l.ends_with(':')
            && !l.starts_with("/--")
            && !l.chars().all(|c| "-=*/\\ ".contains(c))
    };
    let lines = || errors.lines().chain(output.iter().copied()).map(str::trim);
    let message = lines().find(meaningful).unwrap_or("").to_owned();
    let line = lines().find_map(|l| {
        let rest = &l[l.find("line ")? + 5..];
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
    });
    let crashed = run.code.is_none_or(|c| c >= 128);
    Said { code: run.code, crashed, message, line }
}
