//! Peers: other implementations that run a kernel's source, each in a process of its own.
//!
//! A process of its own lets `printf` be caught, a crash be reported, and each peer be chosen by its
//! environment. The worker is this program's hidden subcommand `peer-worker`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use envisa::values::HostValue;
use serde::{Deserialize, Serialize};

use crate::kernel::KernelFile;
use crate::launch::{Launch, Outputs, SizeSet};
use crate::opencl::Session;

/// An implementation of OpenCL for the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum Peer {
    /// Portable Computing Language.
    Pocl,
    /// Oclgrind, an interpreter with checks.
    Oclgrind,
    /// Intel's CPU runtime.
    Intel,
}

impl Peer {
    /// All peers.
    pub const ALL: [Peer; 3] = [Peer::Pocl, Peer::Oclgrind, Peer::Intel];

    /// Name for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Peer::Pocl => "PoCL",
            Peer::Oclgrind => "Oclgrind",
            Peer::Intel => "Intel CPU runtime",
        }
    }

    /// Part of its platform's name.
    const fn platform(self) -> &'static str {
        match self {
            Peer::Pocl => "Portable Computing Language",
            Peer::Oclgrind => "Oclgrind",
            Peer::Intel => "Intel(R) OpenCL",
        }
    }

    /// A driver library that the loader's own list does not name, from the environment or the usual places.
    fn driver(self) -> Option<PathBuf> {
        let (variable, places): (&str, &[&str]) = match self {
            Peer::Pocl => return None,
            Peer::Oclgrind => (
                "ENVISA_OCLGRIND_ICD",
                &["/usr/lib/oclgrind/liboclgrind-rt-icd.so", "/usr/local/lib/liboclgrind-rt-icd.so"],
            ),
            Peer::Intel => ("ENVISA_INTEL_ICD", &[]),
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
    seconds: Vec<f64>,
}

/// A run on a peer.
#[derive(Clone, Debug)]
pub struct PeerRun {
    /// Results.
    pub outputs: Outputs,
    /// Platform, version and device.
    pub describe: String,
}

/// How long a worker may take.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Runs `kernel` on `peer` in a process of its own.
///
/// # Errors
/// A sentence: the peer is not installed, the build log, a crash, or a run past the time limit.
pub fn run(peer: Peer, kernel: &KernelFile, set: SizeSet, repeats: u32) -> Result<PeerRun, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    let file = |name: &str| dir.path().join(name);
    let create = |name: &str| std::fs::File::create(file(name)).map_err(|e| e.to_string());
    let mut command = Command::new(exe);
    command.arg("peer-worker").arg(kernel.path.as_os_str()).args([
        "--id",
        &kernel.id,
        "--platform",
        peer.platform(),
    ]);
    command.arg("--out").arg(dir.path()).args(["--repeats", &repeats.to_string()]);
    if set == SizeSet::Bench {
        command.arg("--bench");
    }
    if let Some(driver) = peer.driver() {
        // The loader then takes this driver alone instead of the system's list.
        command.env("OCL_ICD_VENDORS", &driver);
    }
    command.stdin(Stdio::null()).stdout(create("stdout")?).stderr(create("stderr")?);
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
    let read =
        |name: &str| String::from_utf8_lossy(&std::fs::read(file(name)).unwrap_or_default()).into_owned();
    if !status.success() {
        let errors = read("stderr");
        return Err(format!("{} ({status})", errors.trim()));
    }
    let record: Record =
        serde_json::from_str(&read("record.json")).map_err(|e| format!("the worker left no record: {e}"))?;
    let mut values = Vec::new();
    for index in record.outputs {
        let path = file(&format!("{index}.npy"));
        values.push((index, HostValue::read(&path, u64::MAX).map_err(|e| e.to_string())?));
    }
    let outputs = Outputs { values, printed: read("stdout"), seconds: record.seconds };
    Ok(PeerRun { outputs, describe: record.describe })
}

/// The worker: runs one kernel on one platform and leaves outputs and record in `out`.
///
/// # Errors
/// A sentence for standard error.
pub fn worker(
    path: &Path,
    id: &str,
    platform: &str,
    out: &Path,
    set: SizeSet,
    repeats: u32,
) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let kernel = KernelFile::parse(id, path, source).map_err(|e| e.to_string())?;
    let launch = Launch::new(&kernel, set, true)?;
    let session = Session::open(platform)?;
    let outputs = session.run(&kernel.source, &kernel.peer_options(), kernel.function(), &launch, repeats)?;
    for (index, value) in &outputs.values {
        value.write(&out.join(format!("{index}.npy"))).map_err(|e| e.to_string())?;
    }
    let record = Record {
        describe: session.describe(),
        outputs: outputs.values.iter().map(|(i, _)| *i).collect(),
        seconds: outputs.seconds,
    };
    let text = serde_json::to_string(&record).map_err(|e| e.to_string())?;
    std::fs::write(out.join("record.json"), text).map_err(|e| e.to_string())
}
