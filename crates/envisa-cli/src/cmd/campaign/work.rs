//! Running programs on sides: by a process for each build, which prints a line for each program and side.

use super::{Args, Left, Side, Who};
use crate::cmd::limited_process::{self, Ended};
use crate::cmd::smith::{arguments, outputs, sizes};
use crate::cmd::{Done, Exit, Failure, elsewhere, results};
use crate::io;
use envisa_client::Session;
use envisa_harness::job::{ArgText, Job, Output, Ready};
use envisa_ocloc::{Build, BuildError};
use envisa_smith::opencl::{Kernel, PREAMBLE, kernel};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Programs that a compiler compiles at once.
const TOGETHER: usize = 10;

/// What a process of a campaign runs.
#[derive(clap::Args)]
pub(super) struct Work {
    /// The build: the name of its first side.
    #[arg(long, hide = true)]
    pub(super) side: Option<String>,
    /// The programs.
    #[arg(long, hide = true, value_delimiter = ',')]
    numbers: Vec<u64>,
    /// Programs that are compiled at once.
    #[arg(long, hide = true, default_value_t = TOGETHER)]
    together: usize,
}

/// Sides that run the same build.
type Same<'a> = Vec<&'a Side>;

fn builds(sides: &[Side]) -> Vec<Same<'_>> {
    let mut all: Vec<Same<'_>> = Vec::new();
    for side in sides {
        let process = |of: &Side| (of.build_options(), of.environment());
        match all.iter_mut().find(|b| process(b[0]) == process(side)) {
            Some(build) => build.push(side),
            None => all.push(vec![side]),
        }
    }
    all
}

/// Runs programs on all sides, several builds at a time; `wanted` says which of them a side has to run.
pub(super) fn run(args: &Args, sides: &[Side], wanted: &(dyn Fn(&Side) -> Vec<u64> + Sync)) -> Vec<Left> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, found, builds) = (AtomicUsize::new(0), Mutex::new(Vec::new()), builds(sides));
    std::thread::scope(|scope| {
        for _ in 0..if args.jobs == 0 { cores } else { args.jobs } {
            scope.spawn(|| {
                while let Some(build) = builds.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut numbers: Vec<u64> = build.iter().flat_map(|side| wanted(side)).collect();
                    numbers.sort_unstable();
                    numbers.dedup();
                    let left = of_build(args, build, numbers);
                    if let Ok(mut found) = found.lock() {
                        found.extend(left);
                    }
                }
            });
        }
    });
    found.into_inner().unwrap_or_default()
}

/// Runs programs on the sides of a build. A program that ends its process, or of which nothing is heard in time, has that for its
/// result; the others go on in another process.
fn of_build(args: &Args, build: &Same<'_>, mut numbers: Vec<u64>) -> Vec<Left> {
    let (mut all, mut one_by_one) = (Vec::new(), 0);
    while !numbers.is_empty() {
        let (together, now) = match one_by_one {
            0 => (TOGETHER, numbers.len()),
            n => (1, numbers.len().min(n)),
        };
        let ended = process(args, build, &numbers[..now], together);
        let lines = ended.iter().flat_map(|e| e.out.lines());
        let lines: Vec<Left> = lines.filter_map(|l| serde_json::from_str(l).ok()).collect();
        let has_all = |n: u64| build.iter().all(|s| lines.iter().any(|l| l.program == n && l.side == s.name));
        let done = numbers[..now].iter().take_while(|n| has_all(**n)).count();
        let stopped = numbers.get(done).copied().filter(|_| done < now);
        all.extend(lines.into_iter().filter(|l| Some(l.program) != stopped));
        numbers.drain(..done);
        one_by_one = one_by_one.saturating_sub(done);
        match stopped {
            // All that were compiled with it may be meant.
            Some(_) if together > 1 && build[0].is_envisa() => one_by_one = TOGETHER,
            Some(program) => {
                let why = ended.as_ref().map_or("it cannot be started".into(), Ended::why);
                let left = |side: &&Side| Left::failed(program, side, format!("the process {why}"));
                all.extend(build.iter().map(left));
                numbers.remove(0);
                one_by_one = one_by_one.saturating_sub(1);
            }
            None => {}
        }
    }
    all
}

/// The process that runs programs of a build.
fn process(args: &Args, build: &Same<'_>, numbers: &[u64], together: usize) -> Option<Ended> {
    let mut words: Vec<OsString> = vec![super::own(), "campaign".into(), args.folder.clone().into()];
    let list: Vec<String> = numbers.iter().map(u64::to_string).collect();
    words.extend(["--side".into(), build[0].name.clone().into(), "--numbers".into(), list.join(",").into()]);
    words.extend(["--together".into(), together.to_string().into()]);
    let levels: Vec<&str> = args.levels.iter().map(|l| l.name()).collect();
    words.extend(["--level".into(), levels.join(",").into()]);
    words.extend(["--device".into(), args.devices.join(",").into()]);
    words.extend(args.compilers.iter().flat_map(|c| ["--compiler".into(), c.into()]));
    words.extend(args.drivers.iter().flat_map(|d| ["--driver".into(), d.into()]));
    limited_process::run_while_it_prints(
        &words,
        Path::new("."),
        numbers.len(),
        args.timeout.max(1),
        &build[0].environment(),
    )
}

/// Runs programs of one build in this process, and prints a line for each.
pub(super) fn work(args: &Args, sides: &[Side], first: &str) -> Done {
    let builds = builds(sides);
    let build = builds.iter().find(|b| b[0].name == first);
    let build = build.ok_or_else(|| Failure(format!("there is no side `{first}`")))?;
    let folder = tempfile::Builder::new().prefix("envisa-campaign").tempdir();
    let folder = folder.map_err(|e| Failure(format!("a folder for temporary files: {e}")))?;
    let file = folder.path().join("programs.cl");
    let numbers = &args.work.numbers;
    if !build[0].is_envisa() {
        let session = Session::open("").map_err(Failure)?;
        for k in numbers.iter().map(|n| kernel(*n, false)) {
            let left = in_driver(&session, &job(&file, build[0], &k), &text(std::slice::from_ref(&k)));
            print(&Left::of(k.number, build[0], left))?;
        }
        return Ok(Exit::Fine);
    }
    for chunk in numbers.chunks(args.work.together.max(1)) {
        let kernels: Vec<Kernel> = chunk.iter().map(|n| kernel(*n, false)).collect();
        let together = built(&file, build[0], &kernels);
        for k in &kernels {
            let alone = match &together {
                Err(_) if kernels.len() > 1 => Some(built(&file, build[0], std::slice::from_ref(k))),
                _ => None,
            };
            let built = alone.as_ref().unwrap_or(&together);
            for side in build {
                let left = match built {
                    Ok(()) => here(&job(&file.with_extension("zebin"), side, k)),
                    Err(why) => Err(why.clone()),
                };
                print(&Left::of(k.number, side, left))?;
            }
        }
    }
    Ok(Exit::Fine)
}

fn print(left: &Left) -> Result<(), Failure> {
    let line = serde_json::to_string(left).map_err(|e| Failure(e.to_string()))?;
    io::print(&(line + "\n"))
}

fn text(kernels: &[Kernel]) -> String {
    PREAMBLE.to_owned() + &kernels.iter().map(Kernel::text).collect::<String>()
}

/// Compiles programs at once.
fn built(file: &Path, side: &Side, kernels: &[Kernel]) -> Result<(), String> {
    let Who::Envisa { ocloc, device, .. } = &side.who else { return Err("is no compiler".into()) };
    std::fs::write(file, text(kernels)).map_err(|e| e.to_string())?;
    let mut build = Build::new(file, device.as_str()).options(side.options);
    if let Some(ocloc) = ocloc {
        build = build.ocloc(ocloc);
    }
    let built = build.run().map_err(|e| match e {
        BuildError::Failed { status, .. } => format!("the compiler: {status}"),
        e => format!("the compiler: {}", first_line(&e.to_string())),
    })?;
    std::fs::write(file.with_extension("zebin"), &built.bytes).map_err(|e| e.to_string())
}

/// A program on a side.
fn job(file: &Path, side: &Side, k: &Kernel) -> Job {
    let [global, local] = sizes(k);
    let print =
        |(arg, n): (&str, usize)| Output { arg: arg.into(), print: Some(n as u64), ..Output::default() };
    let mut job = Job {
        file: file.to_owned(),
        kernel: format!("k{}", k.number),
        // A zebin is compiled already.
        options: if side.is_envisa() { String::new() } else { side.options.into() },
        global: global.map(|n| n as u64).to_vec(),
        local: local.map(|n| n as u32).to_vec(),
        args: arguments(k).into_iter().map(|(name, value)| (name.into(), ArgText::Text(value))).collect(),
        outputs: outputs(k).into_iter().map(print).collect(),
        jobs: 1,
        ..Job::default()
    };
    if let Who::Envisa { engine, .. } = &side.who {
        job.engine = *engine;
    }
    job
}

/// Runs a program in this process: a number for what it left, and whether it reads registers that nothing writes.
fn here(job: &Job) -> Result<(u64, bool), String> {
    let mut ready = Ready::new(job).map_err(|e| e.to_string())?;
    let outcome = ready.run(None, None).map_err(|e| e.to_string())?;
    if let Some(fault) = &outcome.fault {
        return Err(format!("the run: {}", fault.code));
    }
    let delivered = ready.deliver(&outcome).map_err(|e| e.to_string())?;
    Ok((number(&results::delivered(&delivered)), !ready.kernel().unwritten().is_empty()))
}

/// Runs a program on another driver.
fn in_driver(session: &Session, job: &Job, text: &str) -> Result<(u64, bool), String> {
    let delivered = elsewhere::delivered(session, job, text).map_err(|e| first_line(&e))?;
    Ok((number(&results::delivered(&delivered)), false))
}

fn first_line(text: &str) -> String {
    text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default().to_owned()
}

/// A number for results.
fn number(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}
