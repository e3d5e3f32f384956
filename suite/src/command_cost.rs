//! Time and memory of the `envisa` command as a process.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::bench::{Spread, time};
use crate::corpus;
use crate::expr;
use crate::kernel::{Device, KernelFile};
use crate::launch::{ArgValue, SizeSet};
use crate::machine::Machine;
use crate::report::Table;

/// Runs of the small job.
const STARTS: usize = 25;
/// What one run may take.
const LIMIT: Duration = Duration::from_secs(120);

/// A run with the kernel's sizes for time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// `GROUP/NAME`.
    pub kernel: String,
    /// Bytes of the buffers that the kernel was given.
    pub buffers: u64,
    /// Greatest resident set of the process, in bytes.
    pub resident: u64,
    /// Seconds from the process's start to its end.
    pub seconds: f64,
    /// Why there are no figures.
    pub failure: Option<String>,
}

impl Run {
    /// Bytes beyond the buffers.
    pub fn beyond(&self) -> u64 {
        self.resident.saturating_sub(self.buffers)
    }
}

/// All of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Runs {
    /// Where.
    pub machine: Machine,
    /// Whose code ran.
    pub device: String,
    /// The small job, and seconds of the whole process, run by run.
    pub start_up: (String, Vec<f64>),
    /// Big runs.
    pub runs: Vec<Run>,
}

/// Builds the `envisa` command as this program was built, and tells where it is.
///
/// # Errors
/// Where Cargo cannot be started or the build fails.
pub fn build_command() -> Result<PathBuf, String> {
    let folder = build_beside(&["-p", "envisa-cli", "--bin", "envisa"])?;
    Ok(folder.join(format!("envisa{}", std::env::consts::EXE_SUFFIX)))
}

/// Builds the OpenCL driver beside this program, as optimised as this program is.
///
/// # Errors
/// What went wrong.
pub fn build_driver() -> Result<(), String> {
    build_beside(&["-p", "envisa-opencl"]).map(|_| ())
}

/// Builds something beside this program; the folder.
fn build_beside(what: &[&str]) -> Result<PathBuf, String> {
    let me = std::env::current_exe().map_err(|e| e.to_string())?;
    let folder = me.parent().ok_or("this program has no folder")?;
    let target = folder.parent().ok_or("this program is in no target folder")?;
    let mut cargo = cargo();
    cargo.args(["build", "--quiet"]).args(what).arg("--target-dir").arg(target);
    // With the profile that this program was built with.
    match folder.file_name().and_then(|n| n.to_str()) {
        Some("debug") | None => {}
        Some(profile) => {
            cargo.args(["--profile", profile]);
        }
    }
    let status = cargo.status().map_err(|e| format!("cargo: {e}"))?;
    if !status.success() {
        return Err(format!("cargo build {}: {status}", what.join(" ")));
    }
    Ok(folder.to_owned())
}

/// Cargo, in the workspace's root.
pub fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).stdin(Stdio::null());
    cargo
}

/// Runs the small job and the benchmark kernels among `kernels` with `envisa`, the command.
///
/// # Errors
/// Where the small job fails.
pub fn run(
    envisa: &Path,
    kernels: &[KernelFile],
    device: Device,
    mut say: impl FnMut(&str),
) -> Result<Runs, String> {
    const JOB: &str = "examples/vadd/job.toml";
    let job = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(JOB);
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let start = Instant::now();
        let out = Command::new(envisa).arg("run").arg(&job).output().map_err(|e| e.to_string())?;
        starts.push(start.elapsed().as_secs_f64());
        if !out.status.success() {
            return Err(format!("`envisa run {JOB}`: {}", String::from_utf8_lossy(&out.stderr).trim()));
        }
    }
    if let Some(s) = Spread::of(&starts) {
        say(&format!("start-up: {}", time(s.median)));
    }
    let runs = memory(envisa, kernels, device, &[], LIMIT, say);
    Ok(Runs {
        machine: Machine::here(),
        device: device.name().to_owned(),
        start_up: (JOB.to_owned(), starts),
        runs,
    })
}

/// Runs the benchmark kernels among `kernels` with `envisa`, the command, and these options besides, each for at most
/// `limit`; `say` hears of each as it is done.
pub fn memory(
    envisa: &Path,
    kernels: &[KernelFile],
    device: Device,
    options: &[&str],
    limit: Duration,
    mut say: impl FnMut(&str),
) -> Vec<Run> {
    let mut runs = Vec::new();
    for k in kernels.iter().filter(|k| k.header.bench.is_some() && k.devices().contains(&device)) {
        let one = one(envisa, k, device, options, limit).unwrap_or_else(|why| Run {
            kernel: k.id.clone(),
            buffers: 0,
            resident: 0,
            seconds: 0.0,
            failure: Some(why),
        });
        say(&match &one.failure {
            Some(why) => format!("{}: {why}", k.id),
            None => format!("{}: {:.1} MiB beyond the buffers", k.id, mib(one.beyond())),
        });
        runs.push(one);
    }
    runs
}

/// `envisa run` with what the kernel's header says for the benchmark.
fn one(
    envisa: &Path,
    k: &KernelFile,
    device: Device,
    options: &[&str],
    limit: Duration,
) -> Result<Run, String> {
    let launch = crate::launch::launch(k, SizeSet::Bench, false)?;
    let sizes = k.header.bench.as_ref().ok_or("the kernel has no benchmark sizes")?;
    let triple =
        |v: [u64; 3]| v[..launch.dims as usize].iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let mut command = Command::new(envisa);
    command.arg("run").arg(corpus::corpus_path(&corpus::corpus_folder(), device, k));
    command.args([
        "--kernel",
        k.function(),
        "--global",
        &triple(launch.global),
        "--local",
        &triple(launch.local),
    ]);
    command.args(options);
    for a in &k.header.args {
        let value = a.value.as_deref().ok_or_else(|| format!("argument `{}` has no `value`", a.name))?;
        let mut value = expr::substitute(value, sizes).map_err(|e| e.to_string())?;
        if let Some(image) = &a.image {
            let shape = expr::substitute(image, sizes).map_err(|e| e.to_string())?;
            value = format!("image:{shape}={value}");
        }
        command.args(["--arg", &format!("{}={value}", a.name)]);
    }
    let buffers = launch
        .args
        .iter()
        .map(|a| match &a.value {
            ArgValue::Buffer(v) | ArgValue::Image(_, v) => v.bytes.len() as u64,
            _ => 0,
        })
        .sum();
    let errors = tempfile::NamedTempFile::new().map_err(|e| e.to_string())?;
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(errors.reopen().map_err(|e| e.to_string())?);
    let start = Instant::now();
    let mut child = command.spawn().map_err(|e| e.to_string())?;
    let mut resident = 0;
    let status = loop {
        // The system keeps the greatest value: only what is taken in the last moment can be missed.
        resident = resident.max(greatest_resident(child.id()));
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            break status;
        }
        if start.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("it did not finish within {} s", limit.as_secs()));
        }
        std::thread::sleep(Duration::from_micros(500));
    };
    let seconds = start.elapsed().as_secs_f64();
    if !status.success() {
        let text = std::fs::read_to_string(errors.path()).unwrap_or_default();
        return Err(text.lines().next().unwrap_or("it fails").to_owned());
    }
    if resident == 0 {
        return Err("this system does not report a process's largest resident set".to_owned());
    }
    Ok(Run { kernel: k.id.clone(), buffers, resident, seconds, failure: None })
}

/// Greatest resident set of a process so far, in bytes; 0 where it is not known.
fn greatest_resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Bytes in MiB.
pub fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1u32 << 20)
}

impl Runs {
    /// Runs without figures.
    pub fn complaints(&self) -> Vec<String> {
        self.runs.iter().filter_map(|r| Some(format!("{}: {}", r.kernel, r.failure.as_ref()?))).collect()
    }

    /// The run that takes the most beyond its buffers.
    pub fn worst(&self) -> Option<&Run> {
        self.runs.iter().filter(|r| r.failure.is_none()).max_by_key(|r| r.beyond())
    }

    /// The section of the report.
    pub fn section(&self, command: &str, record: &str) -> String {
        let mut t = String::new();
        let (job, starts) = &self.start_up;
        let _ = writeln!(
            t,
            "## The command: start-up and memory\n\n\
             Written by `{command}`; the record of the run is [{record}]({record}).\n\n\
             - machine: {}\n\
             - envisa runs the code that `ocloc` made for {}\n",
            self.machine.describe(),
            self.device
        );
        if let Some(s) = Spread::of(starts) {
            let _ = writeln!(
                t,
                "Start-up: `envisa run {job}`, from the start of the process to its end, {} times: median {}, least {}, \
                 largest {}.\n",
                starts.len(),
                time(s.median),
                time(s.min),
                time(s.max)
            );
        }
        let _ = writeln!(
            t,
            "Memory: the largest resident set of the process (`VmHWM`, read every half millisecond) of `envisa \
             run` with the benchmark's sizes and arguments and all hardware threads, minus the size of the \
             kernel's buffers. The time is that of the whole process, including the generation of the inputs.\n"
        );
        let mut table = Table::new(["kernel", "buffers", "resident", "beyond the buffers", "time"]);
        for r in &self.runs {
            let name = r.kernel.trim_start_matches("bench/").to_owned();
            match &r.failure {
                Some(why) => table.row([name, why.clone()]),
                None => table.row([
                    name,
                    format!("{:.1} MiB", mib(r.buffers)),
                    format!("{:.1} MiB", mib(r.resident)),
                    format!("{:.1} MiB", mib(r.beyond())),
                    time(r.seconds),
                ]),
            }
        }
        t.push_str(&table.to_markdown());
        for complaint in self.complaints() {
            let _ = writeln!(t, "\n- **{complaint}**");
        }
        t
    }
}
