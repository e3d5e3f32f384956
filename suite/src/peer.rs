//! Peers: other implementations that run a kernel's source, each in a process of its own.
//!
//! A process of its own lets `printf` be caught, a crash be reported, and each peer be chosen by its
//! environment. The worker is this program's hidden subcommand `peer-worker`.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use envisa_harness::values::HostValue;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::bench::{Sample, sample};
use crate::kernel::KernelFile;
use crate::launch::{Outputs, SizeSet};
use envisa_client::Session;

/// An implementation of OpenCL for the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Peer {
    /// Portable Computing Language.
    Pocl,
    /// Oclgrind, an interpreter with checks.
    Oclgrind,
    /// Intel's CPU runtime.
    Intel,
    /// Envisa itself, by its OpenCL driver.
    Driver,
}

impl Peer {
    /// All that are not envisa.
    pub const ALL: [Peer; 3] = [Peer::Pocl, Peer::Oclgrind, Peer::Intel];

    /// Name for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Peer::Pocl => "PoCL",
            Peer::Oclgrind => "Oclgrind",
            Peer::Intel => "Intel CPU runtime",
            Peer::Driver => "envisa's driver",
        }
    }

    /// Part of its platform's name.
    pub const fn platform(self) -> &'static str {
        match self {
            Peer::Pocl => "Portable Computing Language",
            Peer::Oclgrind => "Oclgrind",
            Peer::Intel => "Intel(R) OpenCL",
            Peer::Driver => "(envisa)",
        }
    }

    /// A driver library that the loader's own list does not name, from the environment or the usual places.
    pub(crate) fn driver(self) -> Option<PathBuf> {
        let (variable, places): (&str, &[&str]) = match self {
            Peer::Pocl => return None,
            Peer::Oclgrind => (
                "ENVISA_OCLGRIND_ICD",
                &["/usr/lib/oclgrind/liboclgrind-rt-icd.so", "/usr/local/lib/liboclgrind-rt-icd.so"],
            ),
            Peer::Intel => ("ENVISA_INTEL_ICD", &[]),
            // Built beside the suite.
            Peer::Driver => return Some(std::env::current_exe().ok()?.with_file_name("libenvisa_opencl.so")),
        };
        std::env::var_os(variable)
            .map(PathBuf::from)
            .or_else(|| places.iter().map(PathBuf::from).find(|p| p.exists()))
    }
}

/// What the worker leaves beside its output files.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    describe: String,
    outputs: Vec<usize>,
}

/// A run on a peer.
#[derive(Clone, Debug)]
pub struct PeerRun {
    /// Results.
    pub outputs: Outputs,
    /// Platform, version and device.
    pub describe: String,
}

/// How long a worker may take for a run of conformance sizes.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The command that starts a worker which leaves its files in `dir`.
fn command(peer: Peer, kernel: &KernelFile, dir: &Path) -> Result<Command, String> {
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = Command::new(exe);
    command.arg("peer-worker").arg(&kernel.path).args(["--id", &kernel.id, "--platform", peer.platform()]);
    command.arg("--out").arg(dir);
    if let Some(driver) = peer.driver() {
        // The loader then takes this driver alone instead of the system's list.
        command.env("OCL_ICD_VENDORS", &driver);
    }
    let errors = std::fs::File::create(dir.join("stderr")).map_err(|e| e.to_string())?;
    command.stderr(errors);
    Ok(command)
}

fn read_text(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}

fn read_outputs(dir: &Path) -> Result<PeerRun, String> {
    let record: Record = serde_json::from_str(&read_text(&dir.join("record.json")))
        .map_err(|e| format!("the worker left no record: {e}"))?;
    let mut values = Vec::new();
    for index in record.outputs {
        let path = dir.join(format!("{index}.npy"));
        values.push((index, HostValue::read(&path, u64::MAX).map_err(|e| e.to_string())?));
    }
    Ok(PeerRun { outputs: Outputs { values, printed: String::new() }, describe: record.describe })
}

/// The last lines of what a worker wrote to standard error.
fn errors(dir: &Path) -> String {
    let text = read_text(&dir.join("stderr"));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join(" / ")
}

/// Runs `kernel` at its conformance sizes on `peer`, in a process of its own.
///
/// # Errors
/// A sentence: the peer is not installed, the build log, a crash, or a run past the time limit.
pub fn run(peer: Peer, kernel: &KernelFile) -> Result<PeerRun, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let printed = dir.path().join("stdout");
    let mut command = command(peer, kernel, dir.path())?;
    command.stdin(Stdio::null()).stdout(std::fs::File::create(&printed).map_err(|e| e.to_string())?);
    let mut child = command.spawn().map_err(|e| e.to_string())?;
    let start = Instant::now();
    let mut pause = Duration::from_millis(2);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            break status;
        }
        if start.elapsed() > TIMEOUT {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("it did not finish within {} s", TIMEOUT.as_secs()));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    };
    if !status.success() {
        return Err(format!("{} ({status})", errors(dir.path())));
    }
    let mut run = read_outputs(dir.path())?;
    run.outputs.printed = read_text(&printed);
    Ok(run)
}

/// A worker that has built a kernel at its sizes for time and waits to be told to run it.
pub struct Served {
    dir: TempDir,
    child: Child,
    orders: ChildStdin,
    answers: Receiver<String>,
    /// Platform, version and device.
    pub describe: String,
    /// Seconds that building took.
    pub build: f64,
}

impl Served {
    /// Starts a worker, with these variables in its environment, and waits until the kernel is built.
    ///
    /// # Errors
    /// As [`run`]; `limit` is for the build.
    pub fn start(
        peer: Peer,
        kernel: &KernelFile,
        sizes: SizeSet,
        limit: Duration,
        environment: &[(&str, &str)],
    ) -> Result<Served, String> {
        let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
        let mut command = command(peer, kernel, dir.path())?;
        let set = sizes.to_possible_value().ok_or("these sizes have no name")?;
        command.arg("--serve").arg(set.get_name()).envs(environment.iter().copied());
        Served::spawn(command, dir, limit)
    }

    /// Starts a worker that leaves its files in `dir`, and waits for its first answer: seconds that building took, and a
    /// description.
    ///
    /// # Errors
    /// As [`run`]; `limit` is for the build.
    pub fn spawn(mut command: Command, dir: TempDir, limit: Duration) -> Result<Served, String> {
        let errors = std::fs::File::create(dir.path().join("stderr")).map_err(|e| e.to_string())?;
        command.stderr(errors).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|e| e.to_string())?;
        let (Some(orders), Some(out)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the worker has no pipes".to_owned());
        };
        let (send, answers) = channel();
        // Ends when the worker closes its end, or nobody listens any more.
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines() {
                let Ok(line) = line else { return };
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let mut served = Served { dir, child, orders, answers, describe: String::new(), build: 0.0 };
        let answer = served.answer(limit)?;
        let (build, describe) = answer.split_once(' ').unwrap_or((&answer, ""));
        served.build = build.parse().map_err(|_| format!("the worker said `{answer}`"))?;
        served.describe = describe.to_owned();
        Ok(served)
    }

    fn answer(&mut self, limit: Duration) -> Result<String, String> {
        let start = Instant::now();
        loop {
            let left = limit.saturating_sub(start.elapsed());
            match self.answers.recv_timeout(left) {
                // A peer may write to standard output too.
                Ok(line) => {
                    if let Some(answer) = line.strip_prefix(ANSWER) {
                        return Ok(answer.to_owned());
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("it did not finish within {} s", limit.as_secs()));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait().map_err(|e| e.to_string())?;
                    return Err(format!("{} ({status})", errors(self.dir.path())));
                }
            }
        }
    }

    /// Takes a sample of so long a window ([`sample`]): the sample, and the outputs of its last launch.
    ///
    /// # Errors
    /// As [`run`].
    pub fn step(&mut self, window: Duration, limit: Duration) -> Result<(Sample, Outputs), String> {
        Ok((self.order(window, limit)?, read_outputs(self.dir.path())?.outputs))
    }

    /// Takes a sample of so long a window.
    ///
    /// # Errors
    /// As [`run`].
    pub fn order(&mut self, window: Duration, limit: Duration) -> Result<Sample, String> {
        let order = format!("{}\n", window.as_secs_f64());
        // A worker that has died is noticed by the answer that does not come.
        let _ = self.orders.write_all(order.as_bytes()).and_then(|()| self.orders.flush());
        let answer = self.answer(limit)?;
        answer
            .split_once(' ')
            .and_then(|(s, n)| Some(Sample { seconds: s.parse().ok()?, launches: n.parse().ok()? }))
            .ok_or_else(|| format!("the worker said `{answer}`"))
    }
}

impl Served {
    /// The folder of its files.
    pub fn folder(&self) -> &Path {
        self.dir.path()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the worker's answers start with.
pub(crate) const ANSWER: &str = "envisa-suite-worker: ";

/// The worker: runs one kernel on one platform and leaves outputs and record in `out`. With `serve` it takes
/// those sizes, and takes a sample whenever a line with its window in seconds comes on standard input.
///
/// # Errors
/// A sentence for standard error.
pub fn worker(
    path: &Path,
    id: &str,
    platform: &str,
    out: &Path,
    serve: Option<SizeSet>,
) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let kernel = KernelFile::parse(id, path, source).map_err(|e| e.to_string())?;
    let launch = crate::launch::launch(&kernel, serve.unwrap_or(SizeSet::Conformance), true)?;
    let session = Session::open(platform)?;
    let start = Instant::now();
    let mut loaded = session.load(&kernel.source, &kernel.peer_options(), kernel.function(), &launch)?;
    let build = start.elapsed().as_secs_f64();
    let leave = |outputs: Outputs| -> Result<(), String> {
        for (index, value) in &outputs.values {
            value.write(&out.join(format!("{index}.npy"))).map_err(|e| e.to_string())?;
        }
        let outputs = outputs.values.iter().map(|(i, _)| *i).collect();
        let record = Record { describe: session.describe(), outputs };
        let text = serde_json::to_string(&record).map_err(|e| e.to_string())?;
        std::fs::write(out.join("record.json"), text).map_err(|e| e.to_string())
    };
    if serve.is_none() {
        loaded.run()?;
        return leave(loaded.outputs()?);
    }
    println!("{ANSWER}{build} {}", session.describe());
    for order in std::io::stdin().lines() {
        let order = order.map_err(|e| e.to_string())?;
        let window = order
            .parse()
            .ok()
            .and_then(|s| Duration::try_from_secs_f64(s).ok())
            .ok_or_else(|| format!("`{order}` is not a window"))?;
        let launch = || {
            loaded.reset()?;
            let start = crate::clock::start();
            loaded.run()?;
            Ok(start.seconds())
        };
        let sample = sample(window, launch)?;
        leave(loaded.outputs()?)?;
        println!("{ANSWER}{} {}", sample.seconds, sample.launches);
    }
    Ok(())
}
