//! Running random kernels: on each side in processes of their own, which leave a line a kernel.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use envisa_harness::values::{HostValue, SplitMix64};
use serde::{Deserialize, Serialize};

use crate::compare::Check;
use crate::launch::{ArgValue, Launch, LaunchArg};
use crate::peer::Peer;
use envisa_client::Session;
use envisa_smith::opencl::{INPUT, Kernel, Knobs, OWN, PREAMBLE, SHARED, kernel};

/// Who runs kernels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// envisa's interpreter without the optimiser.
    Unoptimized,
    /// envisa's interpreter.
    Interpreter,
    /// envisa's native code as the host has it.
    Native,
    /// envisa's native code for AVX2.
    Avx2,
    /// PoCL.
    Pocl,
    /// Intel's CPU runtime.
    Intel,
}

impl Side {
    /// Name for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Side::Unoptimized => "envisa without its optimiser",
            Side::Interpreter => "envisa's interpreter",
            Side::Native => "native code",
            Side::Avx2 => "native code for AVX2",
            Side::Pocl => "PoCL",
            Side::Intel => "Intel's CPU runtime",
        }
    }

    fn peer(self) -> Peer {
        match self {
            Side::Pocl => Peer::Pocl,
            Side::Intel => Peer::Intel,
            _ => Peer::Driver,
        }
    }

    /// Why it cannot run here, if so.
    pub fn missing(self) -> Option<String> {
        match self {
            Side::Intel if self.peer().driver().is_none() => {
                Some("ENVISA_INTEL_ICD does not name its library".into())
            }
            Side::Intel => None,
            Side::Pocl => Session::open(self.peer().platform()).err(),
            _ => self
                .peer()
                .driver()
                .filter(|p| !p.is_file())
                .map(|p| format!("{} is not built (cargo build -p envisa-opencl)", p.display())),
        }
    }

    /// Is it envisa?
    pub fn is_envisa(self) -> bool {
        self.peer() == Peer::Driver
    }

    /// What its process finds in its environment.
    fn environment(self, device: &str) -> Vec<(&'static str, String)> {
        let mut all = Vec::new();
        if self.is_envisa() {
            all.push(("ENVISA_DEVICES", device.to_owned()));
            let engine = match self {
                Side::Unoptimized => "unoptimized",
                Side::Interpreter => "interp",
                _ => "jit",
            };
            all.push(("ENVISA_ENGINE", engine.to_owned()));
        }
        if self == Side::Avx2 {
            all.push(("ENVISA_LEVEL", "avx2".to_owned()));
        }
        all
    }
}

/// envisa's devices, in turn.
pub const DEVICES: [&str; 4] = ["pvc", "skl", "dg2", "tgllp"];
/// Kernels that a device runs before the next one has its turn.
pub const TURN: u64 = 50;
/// Kernels that are compiled at once.
const BATCH: u64 = 10;
/// How long a process may take until its next line: so long, and for each kernel that is compiled at once.
const LIMIT: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(10));

/// The device that runs a kernel.
pub fn device(number: u64) -> &'static str {
    DEVICES[(number / TURN) as usize % DEVICES.len()]
}

/// The kernel of a number, as all sides run it.
pub fn of(number: u64) -> Kernel {
    kernel(number, Knobs { double: matches!(device(number), "pvc" | "skl"), size: None })
}

/// What a kernel left: for each value that it stores, for its own part of memory and for what all share, one number each.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Left {
    /// Its number.
    pub number: u64,
    /// What it left, or why nothing.
    pub folds: Result<Vec<u64>, String>,
}

/// Compiles for everybody; not optimised if that is asked for.
fn options(plain: bool) -> &'static str {
    if plain { "-cl-std=CL3.0 -cl-opt-disable" } else { "-cl-std=CL3.0" }
}

fn launch(k: &Kernel) -> Launch {
    let mut numbers = SplitMix64::new(k.number);
    let mut bytes = |n: usize| (0..n).flat_map(|_| numbers.next_u64().to_le_bytes()).collect::<Vec<u8>>();
    let named = |name: &str, value: ArgValue, out: bool| LaunchArg {
        name: name.to_owned(),
        value,
        check: out.then_some(Check::Exact),
    };
    let buffer = |bytes: Vec<u8>| ArgValue::Buffer(HostValue::from_raw(bytes));
    let scalar = |x: u32| ArgValue::Scalar(x.to_le_bytes().to_vec());
    let input = bytes(INPUT.div_ceil(2))[..4 * INPUT].to_vec();
    let early = bytes(k.short);
    let args = vec![
        named("in", buffer(input), false),
        named("early", buffer(early), false),
        named("ends", scalar(k.short as u32), false),
        named("out", buffer(vec![0; 8 * k.items() * k.stored()]), true),
        named("shared", buffer([7u8, 0, 0, 0].repeat(SHARED)), true),
        named("scratch", buffer(vec![0; 4 * OWN * k.items()]), true),
        named("given", ArgValue::Local(k.local_bytes as u64), false),
        named("a", scalar((k.number as u32).wrapping_mul(2_654_435_761)), false),
        named("b", scalar(k.number as u32 >> 1), false),
    ];
    let local = k.local.map(|n| n as u64);
    let global = std::array::from_fn(|d| local[d] * k.groups[d] as u64);
    Launch { dims: 3, global, local, offset: [0; 3], args }
}

fn folds(k: &Kernel, outputs: &crate::launch::Outputs) -> Vec<u64> {
    let words = |at: usize, size: usize| {
        let value = outputs.values.iter().find(|(i, _)| *i == at).map_or(&[][..], |(_, v)| &v.bytes);
        value
            .chunks(size)
            .map(|c| c.iter().rev().fold(0, |x, b| x << 8 | u64::from(*b)))
            .collect::<Vec<u64>>()
    };
    let fold = |all: &mut dyn Iterator<Item = u64>| {
        all.fold(17u64, |h, x| (h ^ x).wrapping_mul(0x100_0000_01b3).rotate_left(23))
    };
    let out = words(3, 8);
    let mut folds: Vec<u64> =
        (0..k.stored()).map(|v| fold(&mut out.iter().skip(v).step_by(k.stored()).copied())).collect();
    folds.push(fold(&mut words(4, 4).into_iter()));
    folds.push(fold(&mut words(5, 4).into_iter()));
    folds
}

/// What a worker is to do.
#[derive(clap::Args)]
pub struct Work {
    /// Part of the platform's name.
    #[arg(long)]
    platform: String,
    /// The first kernel.
    #[arg(long)]
    first: u64,
    /// Behind the last.
    #[arg(long)]
    end: u64,
    /// Where lines go.
    #[arg(long)]
    out: PathBuf,
    /// Kernels that are compiled at once.
    #[arg(long, default_value_t = 1)]
    together: u64,
    /// Not optimised.
    #[arg(long)]
    plain: bool,
    /// This text instead of the first kernel's.
    #[arg(long)]
    text: Option<PathBuf>,
}

/// The worker: runs kernels on one platform and leaves a line for each.
///
/// # Errors
/// If there is no such platform, or the lines cannot be written.
pub fn work(work: &Work) -> Result<(), String> {
    let session = Session::open(&work.platform)?;
    let mut out = std::fs::File::create(&work.out).map_err(|e| e.to_string())?;
    let mut leave = |number: u64, folds: Result<Vec<u64>, String>| {
        let line = serde_json::to_string(&Left { number, folds }).map_err(|e| e.to_string())?;
        writeln!(out, "{line}").map_err(|e| e.to_string())
    };
    let given = work.text.as_ref().map(std::fs::read_to_string).transpose().map_err(|e| e.to_string())?;
    let mut at = work.first;
    while at < work.end {
        let all: Vec<Kernel> = (at..work.end.min(at + work.together.max(1))).map(of).collect();
        let text = |kernels: &[Kernel]| match &given {
            Some(text) => text.clone(),
            None => PREAMBLE.to_owned() + &kernels.iter().map(Kernel::text).collect::<String>(),
        };
        let together = session.build(&text(&all), options(work.plain));
        for k in &all {
            let run = |program: &envisa_client::Program| -> Result<Vec<u64>, String> {
                let launch = launch(k);
                let loaded = session.prepare(program, &format!("k{}", k.number), &launch)?;
                loaded.run()?;
                Ok(folds(k, &loaded.outputs()?))
            };
            // One that does not compile leaves the others their turn.
            let folds = match &together {
                Ok(program) => run(program),
                Err(why) if all.len() == 1 => Err(why.clone()),
                Err(_) => session
                    .build(&text(std::slice::from_ref(k)), options(work.plain))
                    .and_then(|program| run(&program)),
            };
            // A kernel that was stopped may have ended its context: the others run in another one.
            let stopped = together.is_ok() && folds.is_err();
            leave(k.number, folds)?;
            if stopped {
                return Ok(());
            }
        }
        at += all.len() as u64;
    }
    Ok(())
}

/// What all sides left of some kernels.
pub type All = BTreeMap<u64, BTreeMap<Side, Result<Vec<u64>, String>>>;

/// How a kernel is run, where it is not as usual.
#[derive(Clone, Copy, Default)]
pub struct How<'a> {
    /// Not optimised.
    pub plain: bool,
    /// Another text.
    pub text: Option<&'a Path>,
    /// Another device of envisa's.
    pub device: Option<&'a str>,
}

/// Runs kernels on a side. One that ends its process, or takes too long, has that for its result: kernels that were compiled
/// together when that happened run again one by one.
///
/// # Errors
/// If the worker cannot be started.
pub fn run(side: Side, numbers: std::ops::Range<u64>, how: How<'_>) -> Result<Vec<Left>, String> {
    let (mut all, mut at) = (Vec::new(), numbers.start);
    let mut by_one = at..at;
    while at < numbers.end {
        let together = if by_one.contains(&at) { 1 } else { BATCH };
        let end = if together == 1 { by_one.end } else { numbers.end };
        let (mut lines, ended, error) = process(side, at..end, together, how)?;
        at += lines.len() as u64;
        let last = lines.last_mut().and_then(|l| l.folds.as_mut().err());
        let stopped = last.is_some();
        // The process ended with this kernel: its error is why.
        if let (Some(why), Some(error)) = (last, error) {
            *why = format!("{}: {error}", why.trim_end());
        }
        all.extend(lines);
        if stopped {
            continue;
        }
        if at < end && together == 1 {
            all.push(Left { number: at, folds: Err(ended) });
            at += 1;
        } else if at < end {
            by_one = at..end.min(at + BATCH);
        }
    }
    Ok(all)
}

/// Runs kernels in one process: what they left up to where it ended, how that was, and the first error that it reported.
fn process(
    side: Side,
    numbers: std::ops::Range<u64>,
    together: u64,
    how: How<'_>,
) -> Result<(Vec<Left>, String, Option<String>), String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let out = folder.path().join("lines");
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = Command::new(exe);
    command.args(["opencl-random-worker", "--platform", side.peer().platform()]);
    command.args(["--first", &numbers.start.to_string(), "--end", &numbers.end.to_string()]);
    command.args(["--together", &together.to_string(), "--out"]).arg(&out);
    command.args(how.plain.then_some("--plain"));
    if let Some(text) = how.text {
        command.arg("--text").arg(text);
    }
    if let Some(driver) = side.peer().driver() {
        command.env("OCL_ICD_VENDORS", &driver);
    }
    command.envs(side.environment(how.device.unwrap_or(device(numbers.start))));
    let errors = folder.path().join("errors");
    let to = std::fs::File::create(&errors).map_err(|e| e.to_string())?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(to);
    let ended = wait(command, LIMIT.0 + LIMIT.1 * together as u32, &out)?;
    let text = std::fs::read_to_string(&out).unwrap_or_default();
    let lines = text.lines().filter_map(|l| serde_json::from_str::<Left>(l).ok()).collect();
    let said = std::fs::read(&errors).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().last().unwrap_or_default();
    let error = said.lines().find(|l| l.starts_with("error[")).map(str::to_owned);
    Ok((lines, format!("the process {ended}: {last}"), error))
}

/// Waits for a process, for as long as it leaves something within a limit; how it ended.
fn wait(mut command: Command, limit: Duration, out: &Path) -> Result<String, String> {
    let mut child = command.spawn().map_err(|e| e.to_string())?;
    let (mut since, mut size) = (Instant::now(), 0);
    loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok(format!("ended ({status})"));
        }
        let now = std::fs::metadata(out).map_or(0, |m| m.len());
        if now != size {
            (since, size) = (Instant::now(), now);
        }
        if since.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(format!("did not end within {} s", limit.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
