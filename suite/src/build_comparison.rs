//! Kernels timed on two builds of this command, or on one under two settings: side by side, sample by sample, so that what
//! else the machine does meets both.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::bench::sample;
use crate::corpus::{corpus_folder, use_folder};
use crate::envisa_engine::Loaded;
use crate::kernel::{Device, KernelFile, discover, kernel_folder};
use crate::launch::SizeSet;
use crate::report::Table;

/// How it is measured.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// The command of the baseline. By default, this one.
    #[arg(long)]
    baseline: Option<PathBuf>,
    /// An environment variable that the baseline does not get, for instance `ENVISA_LEVEL=avx2`.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// A folder of kernels, `GROUP/NAME.cl`, to use instead of the suite's. (Of these, by default, only those with benchmark
    /// sizes are timed.)
    #[arg(long)]
    kernels: Option<PathBuf>,
    /// The folder with their code, `DEVICE/GROUP/NAME.zebin`, which `corpus --out` writes.
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// The device whose code is run.
    #[arg(long, default_value = "pvc")]
    device: Device,
    /// Rounds, in each of which both sides give a sample; the least counts.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Seconds that the launches of a sample take together, at least.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0.03")]
    window: Duration,
    /// The share of the baseline's speed that each kernel has at least.
    #[arg(long, default_value_t = 0.97)]
    least: f64,
    /// Print a time for each line of the input.
    #[arg(long, hide = true)]
    serve: bool,
}

/// A time in seconds.
///
/// # Errors
/// A text that is no such number.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is wanted".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

/// Runs the command on those kernels whose id contains one of `only`. `true` if none is slower than allowed.
///
/// # Errors
/// Where no kernel could be timed.
pub fn command(only: &[String], options: Options) -> Result<bool, String> {
    if let Some(folder) = &options.corpus {
        use_folder(folder.clone());
    }
    let folder = options.kernels.clone().unwrap_or_else(kernel_folder);
    let mut kernels = discover(&folder).map_err(|e| e.to_string())?;
    if options.serve {
        let kernel = kernels.iter().find(|k| only.contains(&k.id)).ok_or("no such kernel")?;
        return serve(kernel, options.device, options.window).map(|()| true);
    }
    let own = options.kernels.is_none();
    // All of the suite's kernels would take minutes.
    let by_default = |k: &KernelFile| only.is_empty() && (!own || k.header.bench.is_some());
    kernels.retain(|k| by_default(k) || only.iter().any(|f| k.id.contains(f.as_str())));
    gate(&kernels, &folder, &options)
}

/// Prints the seconds of a launch for each line of the input.
fn serve(kernel: &KernelFile, device: Device, window: Duration) -> Result<(), String> {
    let sizes = if kernel.header.bench.is_some() { SizeSet::Bench } else { SizeSet::Conformance };
    let launch = crate::launch::launch(kernel, sizes, false)?;
    let mut loaded = Loaded::new(kernel, device, &launch, 1).map_err(|e| e.to_string())?;
    for line in std::io::stdin().lock().lines() {
        line.map_err(|e| e.to_string())?;
        let taken = sample(window, || {
            loaded.reset();
            loaded.seconds()
        })?;
        println!("{:e}", taken.seconds);
    }
    Ok(())
}

/// A process that times one kernel.
struct Side {
    child: Child,
    requests: Option<ChildStdin>,
    times: BufReader<ChildStdout>,
    /// The least seconds of a launch.
    least: f64,
}

impl Side {
    fn start(
        program: &Path,
        (kernel, folder): (&str, &Path),
        set: &[String],
        options: &Options,
    ) -> Result<Side, String> {
        let mut command = Command::new(program);
        let window = options.window.as_secs_f64().to_string();
        command.args(["gate", "--serve", "--only", kernel, "--window", &window]);
        command.args(["--device", options.device.name()]);
        command.arg("--kernels").arg(folder).arg("--corpus").arg(corpus_folder());
        command.envs(set.iter().filter_map(|s| s.split_once('=')));
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(|e| format!("{}: {e}", program.display()))?;
        let (Some(requests), Some(times)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("a process without pipes".into());
        };
        Ok(Side { child, requests: Some(requests), times: BufReader::new(times), least: f64::INFINITY })
    }

    fn sample(&mut self) -> Result<(), String> {
        let requests = self.requests.as_mut().ok_or("the process has ended")?;
        writeln!(requests).and_then(|()| requests.flush()).map_err(|e| e.to_string())?;
        let mut line = String::new();
        self.times.read_line(&mut line).map_err(|e| e.to_string())?;
        let seconds: f64 = line.trim().parse().map_err(|_| format!("no seconds: `{}`", line.trim()))?;
        self.least = self.least.min(seconds);
        Ok(())
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // The process ends at the end of its input.
        self.requests = None;
        let _ = self.child.wait();
    }
}

/// The least seconds of a launch: of this side, and of the baseline.
fn compare(kernel: (&str, &Path), options: &Options) -> Result<(f64, f64), String> {
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut now = Side::start(&own, kernel, &options.set, options)?;
    let of_baseline = |e| format!("baseline: {e}");
    let mut before =
        Side::start(options.baseline.as_ref().unwrap_or(&own), kernel, &[], options).map_err(of_baseline)?;
    for round in 0..=options.rounds {
        // The first round compiles the kernel.
        (now.least, before.least) =
            if round == 1 { (f64::INFINITY, f64::INFINITY) } else { (now.least, before.least) };
        // The second sample finds the caches of the first, so the order alternates.
        if round % 2 == 0 {
            now.sample()?;
            before.sample().map_err(of_baseline)?;
        } else {
            before.sample().map_err(of_baseline)?;
            now.sample()?;
        }
    }
    Ok((now.least, before.least))
}

/// Times each kernel on both sides, and prints a table. A kernel that is slower than allowed is timed once more. `true` if
/// none is.
fn gate(kernels: &[KernelFile], folder: &Path, options: &Options) -> Result<bool, String> {
    let mut table = Table::new(["kernel", "ms", "baseline, ms", "speed of the baseline's"]);
    let (mut good, mut product, mut timed) = (true, 0.0, 0u32);
    for kernel in kernels.iter().filter(|k| k.devices().contains(&options.device)) {
        let id = kernel.id.as_str();
        let mut times = compare((id, folder), options);
        if times.as_ref().is_ok_and(|(now, before)| before / now < options.least) {
            let again = compare((id, folder), options);
            let speed = |t: &Result<(f64, f64), String>| t.as_ref().map_or(0.0, |(now, before)| before / now);
            times = if speed(&again) > speed(&times) { again } else { times };
        }
        let (now, before) = match times {
            Ok(times) => times,
            Err(why) => {
                good = false;
                table.row([id.to_owned(), why, String::new(), String::new()]);
                continue;
            }
        };
        let speed = before / now;
        good &= speed >= options.least;
        product += speed.ln();
        timed += 1;
        eprintln!("{id} {speed:.3}");
        let ms = |s: f64| format!("{:.3}", s * 1e3);
        table.row([id.to_owned(), ms(now), ms(before), format!("{speed:.3}")]);
    }
    print!("{}", table.to_markdown());
    if timed == 0 {
        return Err("no kernel could be timed".into());
    }
    println!("\ngeometric mean of {timed}: {:.3}", (product / f64::from(timed)).exp());
    Ok(good)
}
