//! Runs commands with limits on time, address space and output. The processes that a command starts end with it.

use rustix::process::{Pid, Signal, kill_current_process_group, kill_process_group};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

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
    let mut running = Running::start(words, folder, timeout, environment, Stdio::null())?;
    let status = running.child.wait().ok()?;
    running.ended(status)
}

/// As [`run`], for a command that does so many things one by one and prints something for each: it is ended when it prints nothing for
/// so many seconds. It finds standard input at its end when this process is gone.
pub fn run_while_it_prints(
    words: &[OsString],
    folder: &Path,
    things: usize,
    silence: u32,
    environment: &[(String, String)],
) -> Option<Ended> {
    const LOOK: Duration = Duration::from_millis(20);
    // It ends by itself, too, if nobody watches it any more.
    let most = u32::try_from(things + 1).unwrap_or(u32::MAX).saturating_mul(silence);
    let mut running = Running::start(words, folder, most, environment, Stdio::piped())?;
    let (mut printed, mut since) = (0, Instant::now());
    loop {
        if let Some(status) = running.child.try_wait().ok()? {
            return running.ended(status);
        }
        let now = std::fs::metadata(&running.out).map_or(0, |m| m.len());
        if now != printed {
            (printed, since) = (now, Instant::now());
        }
        if since.elapsed() > Duration::from_secs(silence.into()) {
            running.kill();
            let status = running.child.wait().ok()?;
            return running.ended(status).map(|ended| Ended { code: Some(124), ..ended });
        }
        std::thread::sleep(LOOK);
    }
}

/// A command that runs.
struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
    /// Contains the two files.
    _files: tempfile::TempDir,
}

impl Running {
    fn start(
        words: &[OsString],
        folder: &Path,
        timeout: u32,
        environment: &[(String, String)],
        input: Stdio,
    ) -> Option<Running> {
        let files = tempfile::Builder::new().prefix("envisa-bounded").tempdir().ok()?;
        let (out, err) = (files.path().join("out"), files.path().join("err"));
        // `timeout` gives it a process group of its own, and ends all of that.
        let bounds = format!(
            "ulimit -v {ADDRESSES}; ulimit -f {FILE}; ulimit -c 0; exec timeout -k 1 {timeout} \"$@\""
        );
        let child = Command::new("sh")
            .args(["-c", &bounds, "sh"])
            .args(words)
            .current_dir(folder)
            .envs(environment.iter().map(|(k, v)| (k, v)))
            .stdin(input)
            .stdout(File::create(&out).ok()?)
            .stderr(File::create(&err).ok()?)
            .spawn()
            .ok()?;
        Some(Running { child, out, err, _files: files })
    }

    /// Ends the command and what it started.
    fn kill(&self) {
        if let Ok(id) = i32::try_from(self.child.id()) {
            let _ = Pid::from_raw(id).map(|group| kill_process_group(group, Signal::KILL));
        }
    }

    fn ended(&self, status: ExitStatus) -> Option<Ended> {
        let text = |path: &Path| {
            let mut bytes = Vec::new();
            let file = File::open(path).ok()?;
            file.take(OUTPUT).read_to_end(&mut bytes).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        Some(Ended { code: status.code(), out: text(&self.out)?, err: text(&self.err)? })
    }
}

/// Ends this process and those that it started when standard input is at its end: the process is gone that
/// [started this one](run_while_it_prints).
pub fn end_with_standard_input() {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = kill_current_process_group(Signal::KILL);
    });
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
