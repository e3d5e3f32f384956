//! Runs commands with limits on time, address space and output. The processes that a command starts end with it.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Addresses that a command may have, in KiB.
const ADDRESSES: u64 = 16 << 20;
/// Bytes of a file that it may write, in blocks of 512; and of its output that are read.
const FILE: u64 = 1 << 17;
const OUTPUT: u64 = 4 << 20;

/// How a command ended, and what it said.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its exit code; `None` where a signal ended it. 124: it took too long.
    pub code: Option<i32>,
    /// Standard output, as much as is read.
    pub out: String,
    /// Standard error, as much as is read.
    pub err: String,
}

impl Ended {
    /// Did it succeed?
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }

    /// How it ended, in words, where it did not succeed.
    pub fn why(&self) -> String {
        match self.code {
            Some(124 | 137) => "took too long".into(),
            Some(code) => format!("exit code {code}"),
            None => "ended by a signal".into(),
        }
    }
}

/// Runs a command for at most so many seconds; `None` if it cannot be started.
pub fn run(
    words: &[OsString],
    folder: &Path,
    timeout: u32,
    environment: &[(String, String)],
) -> Option<Ended> {
    let files = tempfile::Builder::new().prefix("envisa-bounded").tempdir().ok()?;
    let (out, err) = (files.path().join("out"), files.path().join("err"));
    // `timeout` gives it a process group of its own, and ends all of that.
    let bounds =
        format!("ulimit -v {ADDRESSES}; ulimit -f {FILE}; ulimit -c 0; exec timeout -k 1 {timeout} \"$@\"");
    let status = Command::new("sh")
        .args(["-c", &bounds, "sh"])
        .args(words)
        .current_dir(folder)
        .envs(environment.iter().map(|(k, v)| (k, v)))
        .stdin(Stdio::null())
        .stdout(File::create(&out).ok()?)
        .stderr(File::create(&err).ok()?)
        .status()
        .ok()?;
    let text = |path: &Path| {
        let mut bytes = Vec::new();
        let file = File::open(path).ok()?;
        file.take(OUTPUT).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    Some(Ended { code: status.code(), out: text(&out)?, err: text(&err)? })
}

/// A word for a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
