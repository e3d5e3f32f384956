//! Running programs on sides. Programs are compiled in units of several, by a process for each build, which prints a line for each
//! program and side. What fails in a unit is compiled in smaller ones, down to single programs, so that a failure is a program's own.

use super::{Args, Left, Side, Who, causes};
use crate::cmd::limited_process::{self, Ended};
use crate::cmd::smith::{arguments, outputs, sizes};
use crate::cmd::{Done, Exit, Failure, elsewhere, results};
use crate::io;
use envisa_client::{Program, Session};
use envisa_harness::job::{ArgText, Job, Output, Ready};
use envisa_ocloc::{Build, BuildError};
use envisa_smith::opencl::{Kernel, PREAMBLE, kernel};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Programs of a unit.
const TOGETHER: usize = 20;
/// Parts that a unit is cut into if it fails.
const PARTS: usize = 4;

/// What a process of a campaign runs.
#[derive(clap::Args)]
pub(super) struct Work {
    /// A side; may be given several times, for those of the same build in the same environment.
    #[arg(long = "side", hide = true)]
    pub(super) sides: Vec<String>,
    /// What is done otherwise, to find a cause.
    #[arg(long, hide = true)]
    change: Option<String>,
    /// Programs that are compiled at once; may be given several times.
    #[arg(long = "unit", hide = true, value_parser = unit)]
    units: Vec<Unit>,
    /// The folder for units that are compiled.
    #[arg(long, hide = true, default_value = ".")]
    compiled: PathBuf,
}

/// Numbers of programs that are compiled at once.
#[derive(Clone)]
struct Unit(Vec<u64>);

fn unit(text: &str) -> Result<Unit, std::num::ParseIntError> {
    text.split(',').map(str::parse).collect::<Result<_, _>>().map(Unit)
}

/// The parts of a unit that failed.
fn parts<T>(of: &[T]) -> std::slice::Chunks<'_, T> {
    of.chunks(of.len().div_ceil(PARTS).max(1))
}

/// Sides that one process runs: of the same build, in the same environment.
type Same<'a> = Vec<&'a Side>;

/// The sides, by builds and processes.
fn builds(sides: &[Side]) -> Vec<Vec<Same<'_>>> {
    let mut all: Vec<Vec<Same<'_>>> = Vec::new();
    for side in sides {
        let build = |of: &Side| (of.build_options(), of.change.clone());
        let Some(known) = all.iter_mut().find(|b| build(b[0][0]) == build(side)) else {
            all.push(vec![vec![side]]);
            continue;
        };
        match known.iter_mut().find(|same| same[0].environment() == side.environment()) {
            Some(same) => same.push(side),
            None => known.push(vec![side]),
        }
    }
    all
}

/// Runs programs on all sides, several builds at a time; `wanted` says which of them a side has to run.
///
/// # Errors
/// If there is no place for temporary files.
pub(super) fn run(
    args: &Args,
    sides: &[Side],
    wanted: &(dyn Fn(&Side) -> Vec<u64> + Sync),
) -> Result<Vec<Left>, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, found, builds) = (AtomicUsize::new(0), Mutex::new(Vec::new()), builds(sides));
    let folder = Temporary::new(&args.folder)?;
    std::thread::scope(|scope| {
        for _ in 0..if args.jobs == 0 { cores } else { args.jobs } {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(build) = builds.get(number) else { return };
                    // What the first process compiles, the others run, too.
                    let compiled = folder.0.join(number.to_string());
                    for same in build {
                        let mut numbers: Vec<u64> = same.iter().flat_map(|side| wanted(side)).collect();
                        numbers.sort_unstable();
                        numbers.dedup();
                        let left = of_same(args, same, &compiled, &numbers);
                        if let Ok(mut found) = found.lock() {
                            found.extend(left);
                        }
                    }
                }
            });
        }
    });
    Ok(found.into_inner().unwrap_or_default())
}

/// The folder for temporary files of all processes, also of those that are killed.
struct Temporary(PathBuf);

impl Temporary {
    fn new(folder: &Path) -> Result<Temporary, Failure> {
        let failed = |e: std::io::Error| Failure(format!("{}: {e}", folder.display()));
        let folder = std::path::absolute(folder.join("temporary")).map_err(failed)?;
        // A campaign that was killed left it.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(failed)?;
        Ok(Temporary(folder))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs programs on sides of one process. A unit that ends its process, or of which nothing is heard in time, is tried again in
/// parts; a single program then has that for its result. The others go on in another process.
fn of_same(args: &Args, same: &Same<'_>, compiled: &Path, numbers: &[u64]) -> Vec<Left> {
    let mut units: VecDeque<Unit> = numbers.chunks(TOGETHER).map(|n| Unit(n.to_vec())).collect();
    let mut all = Vec::new();
    while let Some(first) = units.front() {
        let single = first.0.len() == 1;
        let now: Vec<&Unit> = units.iter().take_while(|u| (u.0.len() == 1) == single).collect();
        let timeout = args.timeout.max(1);
        // A unit that is slow is only tried in parts.
        let patience = if single { timeout } else { timeout.div_ceil(2) };
        let ended = process(args, same, compiled, &now, patience);
        let lines = ended.iter().flat_map(|e| e.out.lines());
        let lines: Vec<Left> = lines.filter_map(|l| serde_json::from_str(l).ok()).collect();
        let has_all = |n: u64| same.iter().all(|s| lines.iter().any(|l| l.program == n && l.side == s.name));
        let programs: Vec<u64> = now.iter().flat_map(|u| &u.0).copied().collect();
        let done = &programs[..programs.iter().take_while(|n| has_all(**n)).count()];
        all.extend(lines.into_iter().filter(|l| done.contains(&l.program)));
        units.iter_mut().for_each(|u| u.0.retain(|n| !done.contains(n)));
        units.retain(|u| !u.0.is_empty());
        if done.len() == programs.len() {
            continue;
        }
        let Some(stopped) = units.pop_front() else { break };
        if single {
            let why = ended.as_ref().map_or("it cannot be started".into(), Ended::why);
            let left = |side: &&Side| Left::failed(stopped.0[0], side, format!("the process {why}"));
            all.extend(same.iter().map(left));
        } else {
            parts(&stopped.0).rev().for_each(|part| units.push_front(Unit(part.to_vec())));
        }
    }
    all
}

/// The process that runs units.
fn process(args: &Args, same: &Same<'_>, compiled: &Path, units: &[&Unit], patience: u32) -> Option<Ended> {
    let mut words: Vec<OsString> = vec![super::own(), "campaign".into(), args.folder.clone().into()];
    words.extend(same.iter().flat_map(|side| ["--side".into(), side.name.clone().into()]));
    words.extend(["--compiled".into(), compiled.into()]);
    words.extend(same[0].change.iter().map(|c| format!("--change={c}").into()));
    for unit in units {
        let list: Vec<String> = unit.0.iter().map(u64::to_string).collect();
        words.extend(["--unit".into(), list.join(",").into()]);
    }
    let levels: Vec<&str> = args.levels.iter().map(|l| l.name()).collect();
    words.extend(["--level".into(), levels.join(",").into()]);
    words.extend(["--device".into(), args.devices.join(",").into()]);
    words.extend(args.compilers.iter().flat_map(|c| ["--compiler".into(), c.into()]));
    words.extend(args.drivers.iter().flat_map(|d| ["--driver".into(), d.into()]));
    let programs = units.iter().map(|u| u.0.len()).sum();
    std::fs::create_dir_all(compiled).ok()?;
    let mut environment = same[0].environment();
    environment.push(("TMPDIR".into(), compiled.to_str()?.to_owned()));
    limited_process::run_while_it_prints(&words, Path::new("."), programs, patience, &environment)
}

/// Runs units in this process, and prints a line for each program and side.
pub(super) fn work(args: &Args, sides: &[Side]) -> Done {
    limited_process::end_with_standard_input();
    let sides: Vec<Side> = match &args.work.change {
        Some(change) => sides.iter().map(|s| s.with(change)).collect(),
        None => sides.to_vec(),
    };
    let same: Same<'_> = sides.iter().filter(|s| args.work.sides.contains(&s.name)).collect();
    if same.is_empty() {
        return Err(Failure(format!("there is no side `{}`", args.work.sides.join("`, `"))));
    }
    let session = (!same[0].is_envisa()).then(|| Session::open("")).transpose().map_err(Failure)?;
    let worker = Worker { same, session, folder: &args.work.compiled };
    for unit in &args.work.units {
        worker.unit(&unit.0.iter().map(|n| kernel(*n, false)).collect::<Vec<_>>())?;
    }
    Ok(Exit::Fine)
}

/// Compiles and runs units.
struct Worker<'a> {
    same: Same<'a>,
    /// Another driver, if it is the one that compiles.
    session: Option<Session>,
    /// Where compiled units are.
    folder: &'a Path,
}

/// A unit that is compiled.
enum Compiled<'a> {
    Zebin(PathBuf),
    Program(&'a Session, Program),
}

impl Worker<'_> {
    /// Compiles programs at once, and runs each on all sides. What fails is tried again in parts.
    fn unit(&self, kernels: &[Kernel]) -> Result<(), Failure> {
        let compiled = self.compiled(kernels);
        if compiled.is_err() && kernels.len() > 1 {
            return parts(kernels).try_for_each(|part| self.unit(part));
        }
        for k in kernels {
            let run = |side: &Side| compiled.as_ref().map_err(Clone::clone).and_then(|c| left(c, side, k));
            let all: Vec<Left> = self.same.iter().map(|side| Left::of(k.number, side, run(side))).collect();
            if kernels.len() > 1 && all.iter().any(|l| l.left.is_err()) {
                self.unit(std::slice::from_ref(k))?;
                continue;
            }
            for left in all {
                let line = serde_json::to_string(&left).map_err(|e| Failure(e.to_string()))?;
                io::print(&(line + "\n"))?;
            }
        }
        Ok(())
    }

    fn compiled(&self, kernels: &[Kernel]) -> Result<Compiled<'_>, String> {
        let side = self.same[0];
        let own = side.change.as_deref().map_or(String::new(), causes::before);
        let text = [PREAMBLE, &own].concat() + &kernels.iter().map(Kernel::text).collect::<String>();
        let (ocloc, device) = match (&side.who, &self.session) {
            (Who::Envisa { ocloc, device, .. }, _) => (ocloc, device),
            (Who::Driver(_), None) => return Err("no driver is open".into()),
            (Who::Driver(_), Some(session)) => {
                let built = elsewhere::compiled(session, side.options, &text);
                return built.map(|p| Compiled::Program(session, p)).map_err(|e| first_line(&e));
            }
        };
        let file = self.folder.join(format!("{:x}.cl", number(&text)));
        let zebin = file.with_extension("zebin");
        if !zebin.exists() {
            std::fs::write(&file, text).map_err(|e| e.to_string())?;
            let mut build = Build::new(&file, device.as_str()).options(side.options);
            if let Some(ocloc) = ocloc {
                build = build.ocloc(ocloc);
            }
            let built = build.run().map_err(|e| match e {
                BuildError::Failed { status, .. } => format!("the compiler: {status}"),
                e => format!("the compiler: {}", first_line(&e.to_string())),
            })?;
            std::fs::write(&zebin, &built.bytes).map_err(|e| e.to_string())?;
        }
        Ok(Compiled::Zebin(zebin))
    }
}

/// Runs a program: a number for what it left, and whether it reads registers that nothing writes.
fn left(compiled: &Compiled<'_>, side: &Side, k: &Kernel) -> Result<(u64, bool), String> {
    match compiled {
        Compiled::Zebin(file) => here(&job(file, side, k)),
        Compiled::Program(session, program) => {
            let delivered = elsewhere::delivered(session, program, &job(Path::new(""), side, k));
            Ok((number(&results::delivered(&delivered.map_err(|e| first_line(&e))?)), false))
        }
    }
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

fn first_line(text: &str) -> String {
    text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default().to_owned()
}

/// A number for results.
fn number(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}
