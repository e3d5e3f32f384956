//! Runs commands with limits on time, address space and output. The processes that a command starts end with it.

use rustix::process::{Pid, Signal, kill_current_process_group, kill_process_group};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::Receiver;
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
    pub fn describe_failure(&self) -> String {
        match self.code {
            Some(124 | 137) => "took too long".into(),
            Some(code) => format!("exit code {code}"),
            None => "ended by a signal".into(),
        }
    }
}

/// Runs a command for at most so many seconds of CPU time; `None` if it cannot be started. What other processes take does not count, so
/// a busy machine changes nothing.
pub fn run(
    words: &[OsString],
    folder: &Path,
    seconds: u32,
    environment: &[(String, String)],
) -> Option<Ended> {
    Running::start(words, folder, seconds, environment, Stdio::null())?.wait_with_timeout(seconds, false)
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
    let most = u32::try_from(things + 1).unwrap_or(u32::MAX).saturating_mul(silence);
    Running::start(words, folder, most, environment, Stdio::piped())?.wait_with_timeout(silence, true)
}

/// A shell that runs its arguments, with limits.
fn shell_with_limits(by: &str) -> Command {
    let mut command = Command::new("sh");
    let bounds = format!("ulimit -v {ADDRESSES}; ulimit -f {FILE}; ulimit -c 0; exec {by}\"$@\"");
    command.args(["-c", &bounds, "sh"]);
    command
}

/// A process that answers requests, a line each.
pub struct RequestProcess {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
}

impl RequestProcess {
    /// Starts one with limits on its address space; it ends when its standard input does.
    pub fn start(words: &[OsString], environment: &[(String, String)]) -> Option<RequestProcess> {
        let mut command = shell_with_limits("");
        command.args(words).envs(environment.iter().map(|(k, v)| (k, v)));
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        let (requests, said) = child.stdin.take().zip(child.stdout.take())?;
        let (send, answers) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            BufReader::new(said).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        Some(RequestProcess { child, requests, answers })
    }

    /// The first line of an answer that can be read; `None` if it does not come in time, or the process is gone.
    pub fn ask<T>(&mut self, request: &str, time: Duration, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let end = Instant::now() + time;
        writeln!(self.requests, "{request}").ok()?;
        loop {
            let line = self.answers.recv_timeout(end.saturating_duration_since(Instant::now())).ok()?;
            if let Some(answer) = read(&line) {
                return Some(answer);
            }
        }
    }
}

impl Drop for RequestProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Seconds of the clock for each of CPU time, behind which a command is ended in any case.
const BUSIEST: u32 = 20;
/// A command that takes longer than it may is ended if for so long it neither computes nor could, if it had a processor: it waits for
/// what does not come.
const IDLE: Duration = Duration::from_secs(2);

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
        seconds: u32,
        environment: &[(String, String)],
        input: Stdio,
    ) -> Option<Running> {
        let files = tempfile::Builder::new().prefix("envisa-bounded").tempdir().ok()?;
        let (out, err) = (files.path().join("out"), files.path().join("err"));
        // `timeout` gives it a process group of its own, and ends all of that, also if nobody watches it any more.
        let most = seconds.saturating_mul(BUSIEST);
        let child = shell_with_limits(&format!("timeout -k 1 {most} "))
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

    /// Waits for the end of the command, which it brings about after so many seconds: since the start, or since something was printed.
    fn wait_with_timeout(mut self, seconds: u32, since_print: bool) -> Option<Ended> {
        let look = |taken: Duration, late: bool| {
            let most = if late { Duration::from_millis(200) } else { Duration::from_millis(20) };
            (taken / 16).clamp(Duration::from_millis(1), most)
        };
        let limit = Duration::from_secs(seconds.into());
        let (mut printed, mut start, mut had) = (0, Instant::now(), Duration::ZERO);
        // When it was seen to compute, or to be able to, the last time.
        let (mut last, mut most) = (start, had);
        loop {
            if let Some(status) = self.child.try_wait().ok()? {
                return self.exit_result(status);
            }
            let now = if since_print { std::fs::metadata(&self.out).map_or(0, |m| m.len()) } else { 0 };
            if now != printed {
                (printed, start, had) = (now, Instant::now(), self.used_resources().time);
            }
            let taken = start.elapsed();
            if taken > limit {
                let used = self.used_resources();
                if used.time > most || used.is_ready {
                    (last, most) = (Instant::now(), used.time);
                }
                if used.time.saturating_sub(had) > limit || last.elapsed() > IDLE {
                    self.kill();
                    let status = self.child.wait().ok()?;
                    return self.exit_result(status).map(|ended| Ended { code: Some(124), ..ended });
                }
            }
            std::thread::sleep(look(taken, taken > limit));
        }
    }

    /// What the command and all that it started have used.
    fn used_resources(&self) -> Used {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let all = processes.filter_map(|p| Used::read(&p.path().join("stat")));
        let none = Used { group: self.child.id(), time: Duration::ZERO, is_ready: false };
        let group = none.group;
        all.filter(|u| u.group == group).fold(none, |sum, u| Used {
            time: sum.time + u.time,
            is_ready: sum.is_ready || u.is_ready,
            ..sum
        })
    }

    /// Ends the command and what it started.
    fn kill(&self) {
        if let Ok(id) = i32::try_from(self.child.id()) {
            let _ = Pid::from_raw(id).map(|group| kill_process_group(group, Signal::KILL));
        }
    }

    fn exit_result(&self, status: ExitStatus) -> Option<Ended> {
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

/// What a process has used.
struct Used {
    /// Its process group.
    group: u32,
    /// CPU time, with that of processes that it started and that have ended.
    time: Duration,
    /// It runs, waits for a processor, or for a disk.
    is_ready: bool,
}

impl Used {
    /// By its file `stat` in `/proc`.
    fn read(stat: &Path) -> Option<Used> {
        // Linux gives them in hundredths of a second.
        const TICK: Duration = Duration::from_millis(10);
        let text = std::fs::read_to_string(stat).ok()?;
        // The name, in brackets, may have any characters.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields.get(11..15)?.iter().map(|f| f.parse::<u32>().ok()).sum::<Option<u32>>()?;
        let is_ready = matches!(*fields.first()?, "R" | "D");
        Some(Used { group: fields.get(2)?.parse().ok()?, time: TICK * ticks, is_ready })
    }
}

/// CPU time of this process, and of those that it started and that have ended.
pub fn cpu_time_used() -> Duration {
    Used::read(Path::new("/proc/self/stat")).map_or(Duration::ZERO, |u| u.time)
}

/// A word for a shell.
pub fn quoted_for_shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
