//! Running programs on sides. Programs are compiled in units of several, by a process for each build, which prints a line for each
//! program and side. What fails in a unit is compiled in smaller ones, down to single programs, so that a failure is a program's own.

use super::{Args, Left, Side, Who, causes};
use crate::cmd::limited_process::{self, Ended};
use crate::cmd::smith::{kernel_arguments, kernel_outputs, launch_sizes};
use crate::cmd::{Done, Exit, Failure, other_driver, results};
use crate::io;
use envisa_client::{Program, Session};
use envisa_harness::job::{ArgText, Job, Output, Ready};
use envisa_ocloc::{Build, BuildError};
use envisa_smith::opencl::{Kernel, PREAMBLE};
use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Parts that a unit is cut into if it fails.
const PARTS: usize = 4;

/// What a process of a campaign runs.
#[derive(clap::Args)]
pub(super) struct Work {
    /// A side; may be given several times, for those of the same build in the same environment.
    #[arg(long = "side", hide = true)]
    pub(super) sides: Vec<String>,
    /// Programs that are compiled at once, and what is done otherwise; may be given several times.
    #[arg(long = "unit", hide = true, value_parser = unit)]
    units: Vec<Unit>,
    /// The folder for units that are compiled.
    #[arg(long, hide = true, default_value = ".")]
    compiled: PathBuf,
}

/// Programs that are compiled at once.
#[derive(Clone)]
pub(super) struct Unit {
    /// Their numbers.
    programs: Vec<u64>,
    /// What is done otherwise, to find a cause.
    change: Option<String>,
}

impl Unit {
    /// Units of programs; a change is one of [`causes`].
    pub(super) fn all(args: &Args, programs: &[u64], change: Option<&str>) -> Vec<Unit> {
        let unit = |n: &[u64]| Unit { programs: n.to_vec(), change: change.map(str::to_owned) };
        programs.chunks(args.together.max(1)).map(unit).collect()
    }

    /// As an argument of the process that runs it.
    fn text(&self) -> String {
        let list: Vec<String> = self.programs.iter().map(u64::to_string).collect();
        [self.change.as_deref().unwrap_or_default(), "=", &list.join(",")].concat()
    }

    /// A side that runs it.
    fn side_with_change(&self, side: &Side) -> Side {
        self.change.as_deref().map_or_else(|| side.clone(), |c| side.with(c))
    }
}

fn unit(text: &str) -> Result<Unit, String> {
    let (change, list) = text.split_once('=').ok_or("no `=`")?;
    let programs: Result<Vec<u64>, _> = list.split(',').map(str::parse).collect();
    let programs = programs.map_err(|e: std::num::ParseIntError| e.to_string())?;
    Ok(Unit { programs, change: Some(change.to_owned()).filter(|c| !c.is_empty()) })
}

/// The parts of a unit that failed.
fn split_failed_unit<T>(of: &[T]) -> std::slice::Chunks<'_, T> {
    of.chunks(of.len().div_ceil(PARTS).max(1))
}

/// Sides that one process runs: of the same build, in the same environment.
pub(super) type Same<'a> = Vec<&'a Side>;

/// The sides, by builds and processes.
fn group_by_build(sides: &[Side]) -> Vec<Vec<Same<'_>>> {
    let mut all: Vec<Vec<Same<'_>>> = Vec::new();
    for side in sides {
        let Some(known) = all.iter_mut().find(|b| b[0][0].build_options() == side.build_options()) else {
            all.push(vec![vec![side]]);
            continue;
        };
        match known.iter_mut().find(|same| same[0].process_environment() == side.process_environment()) {
            Some(same) => same.push(side),
            None => known.push(vec![side]),
        }
    }
    all
}

/// Runs programs on all sides, several builds at a time; `wanted` says which of them sides of one process have to run.
///
/// # Errors
/// If there is no place for temporary files.
pub(super) fn run(
    args: &Args,
    sides: &[Side],
    wanted: &(dyn Fn(&Same<'_>) -> Vec<Unit> + Sync),
) -> Result<Vec<Left>, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, found, builds) = (AtomicUsize::new(0), Mutex::new(Vec::new()), group_by_build(sides));
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
                        let left = of_same(args, same, &compiled, wanted(same).into());
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
fn of_same(args: &Args, same: &Same<'_>, compiled: &Path, mut units: VecDeque<Unit>) -> Vec<Left> {
    let mut all = Vec::new();
    while let Some(first) = units.front() {
        let single = first.programs.len() == 1;
        let now: Vec<&Unit> = units.iter().take_while(|u| (u.programs.len() == 1) == single).collect();
        let timeout = args.timeout.max(1);
        // A unit that is slow is only tried in parts.
        let patience = if single { timeout } else { timeout.div_ceil(2) };
        let ended = run_units_in_process(args, same, compiled, &now, patience);
        let lines = ended.iter().flat_map(|e| e.out.lines());
        let lines: Vec<Left> = lines.filter_map(|l| serde_json::from_str(l).ok()).collect();
        let has = |n: u64, side: &str| lines.iter().any(|l| l.program == n && l.side == side);
        let is_done = |u: &Unit, n: u64| same.iter().all(|s| has(n, &u.side_with_change(s).name));
        let all_done = now.iter().all(|u| u.programs.iter().all(|n| is_done(u, *n)));
        for u in &mut units {
            let done: Vec<bool> = u.programs.iter().map(|n| is_done(u, *n)).collect();
            let mut done = done.into_iter();
            u.programs.retain(|_| done.next() != Some(true));
        }
        units.retain(|u| !u.programs.is_empty());
        all.extend(lines);
        if all_done {
            continue;
        }
        let Some(stopped) = units.pop_front() else { break };
        if single {
            let why = ended.as_ref().map_or("it cannot be started".into(), Ended::describe_failure);
            let left = |side: &&Side| {
                Left::from_failure(
                    stopped.programs[0],
                    &stopped.side_with_change(side),
                    format!("the process {why}"),
                )
            };
            all.extend(same.iter().map(left));
        } else {
            let part = |part: &[u64]| Unit { programs: part.to_vec(), ..stopped.clone() };
            split_failed_unit(&stopped.programs).rev().for_each(|p| units.push_front(part(p)));
        }
    }
    all
}

/// The process that runs units.
fn run_units_in_process(
    args: &Args,
    same: &Same<'_>,
    compiled: &Path,
    units: &[&Unit],
    patience: u32,
) -> Option<Ended> {
    let mut words: Vec<OsString> =
        vec![super::own_executable(), "campaign".into(), args.folder.clone().into()];
    words.extend(same.iter().flat_map(|side| ["--side".into(), side.name.clone().into()]));
    words.extend(["--compiled".into(), compiled.into()]);
    words.extend(units.iter().map(|unit| format!("--unit={}", unit.text()).into()));
    words.extend(args.double.then(|| "--double".into()));
    words.extend(args.size.iter().map(|n| format!("--size={n}").into()));
    let levels: Vec<&str> = args.levels.iter().map(|l| l.name()).collect();
    words.extend(["--level".into(), levels.join(",").into()]);
    words.extend(["--device".into(), args.devices.join(",").into()]);
    words.extend(args.compilers.iter().flat_map(|c| ["--compiler".into(), c.into()]));
    words.extend(args.drivers.iter().flat_map(|d| ["--driver".into(), d.into()]));
    let programs = units.iter().map(|u| u.programs.len()).sum();
    std::fs::create_dir_all(compiled).ok()?;
    let mut environment = same[0].process_environment();
    environment.push(("TMPDIR".into(), compiled.to_str()?.to_owned()));
    limited_process::run_while_it_prints(&words, Path::new("."), programs, patience, &environment)
}

/// Runs units in this process, and prints a line for each program and side.
pub(super) fn run_units_here(args: &Args, sides: &[Side]) -> Done {
    limited_process::end_with_standard_input();
    let same: Same<'_> = sides.iter().filter(|s| args.work.sides.contains(&s.name)).collect();
    if same.is_empty() {
        return Err(Failure(format!("there is no side `{}`", args.work.sides.join("`, `"))));
    }
    let session = (!same[0].is_envisa()).then(|| Session::open("")).transpose().map_err(Failure)?;
    let worker = Worker { session, folder: &args.work.compiled, used: Cell::default() };
    for unit in &args.work.units {
        let same: Vec<Side> = same.iter().map(|s| unit.side_with_change(s)).collect();
        let kernels: Vec<Kernel> = unit.programs.iter().map(|n| args.program(*n)).collect();
        worker.run_unit(&same, &kernels)?;
    }
    Ok(Exit::Fine)
}

/// Compiles and runs units.
struct Worker<'a> {
    /// Another driver, if it is the one that compiles.
    session: Option<Session>,
    /// Where compiled units are.
    folder: &'a Path,
    /// CPU time of what is printed.
    used: Cell<Duration>,
}

/// A unit that is compiled.
enum Compiled<'a> {
    Zebin(PathBuf),
    Program(&'a Session, Program),
}

impl Worker<'_> {
    /// Compiles programs at once, and runs each on all sides. What fails is tried again in parts.
    fn run_unit(&self, same: &[Side], kernels: &[Kernel]) -> Result<(), Failure> {
        let compiled = self.compile_kernels(&same[0], kernels);
        if compiled.is_err() && kernels.len() > 1 {
            return split_failed_unit(kernels).try_for_each(|part| self.run_unit(same, part));
        }
        for k in kernels {
            let run = |side: &Side| {
                let left = compiled.as_ref().map_err(Clone::clone).and_then(|c| left(c, side, k));
                Left { ms: self.elapsed_cpu_milliseconds(), ..Left::from_result(k.number, side, left) }
            };
            let all: Vec<Left> = same.iter().map(run).collect();
            if kernels.len() > 1 && all.iter().any(|l| l.left.is_err()) {
                self.run_unit(same, std::slice::from_ref(k))?;
                continue;
            }
            for left in all {
                let line = serde_json::to_string(&left).map_err(|e| Failure(e.to_string()))?;
                io::print(&(line + "\n"))?;
            }
        }
        Ok(())
    }

    /// CPU time since it was asked for the last time.
    fn elapsed_cpu_milliseconds(&self) -> u64 {
        let now = limited_process::cpu_time_used();
        (now - self.used.replace(now)).as_millis() as u64
    }

    fn compile_kernels(&self, side: &Side, kernels: &[Kernel]) -> Result<Compiled<'_>, String> {
        let own = side.change.as_deref().map_or(String::new(), causes::text_before_program);
        let text = [PREAMBLE, &own].concat() + &kernels.iter().map(Kernel::text).collect::<String>();
        let (ocloc, device) = match (&side.who, &self.session) {
            (Who::Envisa { ocloc, device, .. }, _) => (ocloc, device),
            (Who::Driver(_), None) => return Err("no driver is open".into()),
            (Who::Driver(_), Some(session)) => {
                let built = other_driver::compile_text(session, side.options, &text);
                return built.map(|p| Compiled::Program(session, p)).map_err(|e| first_line(&e));
            }
        };
        let file = self.folder.join(format!("{:x}.cl", number(&[&text, side.options].concat())));
        // The first process that compiles a unit leaves what the others run, or why they cannot.
        let [zebin, failure] = ["zebin", "failure"].map(|e| file.with_extension(e));
        if let Ok(why) = std::fs::read_to_string(&failure) {
            return Err(why);
        }
        if !zebin.exists() {
            std::fs::write(&file, text).map_err(|e| e.to_string())?;
            let mut build = Build::new(&file, device.as_str()).options(side.options);
            if let Some(ocloc) = ocloc {
                build = build.ocloc(ocloc);
            }
            let built = build.run().map_err(|e| match e {
                BuildError::Failed { status, .. } => format!("the compiler: {status}"),
                e => format!("the compiler: {}", first_line(&e.to_string())),
            });
            let (place, bytes) = match &built {
                Ok(built) => (&zebin, &built.bytes[..]),
                Err(why) => (&failure, why.as_bytes()),
            };
            std::fs::write(place, bytes).map_err(|e| e.to_string())?;
            built?;
        }
        Ok(Compiled::Zebin(zebin))
    }
}

/// Runs a program: a number for what it left, and whether it reads registers that nothing writes.
fn left(compiled: &Compiled<'_>, side: &Side, k: &Kernel) -> Result<(u64, bool), String> {
    match compiled {
        Compiled::Zebin(file) => run_job_in_process(&job_of_program(file, side, k)),
        Compiled::Program(session, program) => {
            let delivered =
                other_driver::run_compiled(session, program, &job_of_program(Path::new(""), side, k));
            Ok((number(&results::results_for_people(&delivered.map_err(|e| first_line(&e))?)), false))
        }
    }
}

/// A program on a side.
fn job_of_program(file: &Path, side: &Side, k: &Kernel) -> Job {
    let [global, local] = launch_sizes(k);
    let print =
        |(arg, n): (&str, usize)| Output { arg: arg.into(), print: Some(n as u64), ..Output::default() };
    let mut job = Job {
        file: file.to_owned(),
        kernel: format!("k{}", k.number),
        // A zebin is compiled already.
        options: if side.is_envisa() { String::new() } else { side.options.into() },
        global: global.map(|n| n as u64).to_vec(),
        local: local.map(|n| n as u32).to_vec(),
        args: kernel_arguments(k)
            .into_iter()
            .map(|(name, value)| (name.into(), ArgText::Text(value)))
            .collect(),
        outputs: kernel_outputs(k).into_iter().map(print).collect(),
        jobs: 1,
        ..Job::default()
    };
    if let Who::Envisa { engine, .. } = &side.who {
        job.engine = *engine;
    }
    job
}

/// Runs a program in this process: a number for what it left, and whether it reads registers that nothing writes.
fn run_job_in_process(job: &Job) -> Result<(u64, bool), String> {
    let mut ready = Ready::new(job).map_err(|e| e.to_string())?;
    let outcome = ready.run(None, None).map_err(|e| e.to_string())?;
    if let Some(fault) = &outcome.fault {
        return Err(format!("the run ended with the fault {}", fault.code));
    }
    let delivered = ready.deliver_results(&outcome).map_err(|e| e.to_string())?;
    Ok((number(&results::results_for_people(&delivered)), !ready.kernel().unwritten().is_empty()))
}

fn first_line(text: &str) -> String {
    text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default().to_owned()
}

/// A number for results.
fn number(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}
