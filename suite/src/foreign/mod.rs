//! Suites of kernels that other people made, held against the checks: GPUVerify's, Oclgrind's, and mutations of kernels that
//! are right. Nothing of them is kept here: a folder with each is given, and what it says of its kernels is read there.

pub mod gpuverify;
pub mod launches;
pub mod mutations;
pub mod oclgrind;
mod oclgrind_runs;
mod page;
pub mod planted;
pub mod replay;
pub mod right;
pub mod suites;
pub mod survey;
mod survey_arguments;
pub mod timing;
mod timing_page;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use envisa::{Argument, ArgumentKind, Cancel, Place};
use envisa_harness::job::{ArgText, Job, Ready};
use envisa_ocloc::{Build, Lines, Rewrite};
use serde::Deserialize;

use crate::checks::{Found, has_oclgrind};
use crate::kernel::Device;
use crate::report::{docs_folder, json_of, publish, replace_block, write_text};

/// Bytes of a buffer whose size nobody says.
const BUFFER: u64 = 1 << 18;
/// Bytes of local memory that an argument gets, if nobody says.
const LOCAL: u64 = 1 << 13;
/// Seconds that a launch may take, and Oclgrind.
const SECONDS: f64 = 6.0;

/// Where suites are cloned from, at which commit.
const GPUVERIFY: (&str, &str) =
    ("https://github.com/mc-imperial/gpuverify", "49219770aad01231edd0d8e0fa3ed036006cf32a");
const OCLGRIND: (&str, &str) =
    ("https://github.com/jrprice/Oclgrind", "5597a379b4f7d74c4af5532260df0366c277259f");

/// The fault of a run that took too long.
const CANCELLED: &str = "F0020";

/// What an argument is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// A buffer of dwords that all are this.
    Fill(u64, i32),
    /// A buffer of dwords 0, 1, 2, ….
    Iota(u64),
    /// A buffer of these bytes.
    Bytes(Vec<u8>),
    /// A buffer that nobody wrote.
    Fresh(u64),
    /// Local memory.
    Local(u64),
    /// No buffer.
    Null,
    /// A value of these bytes.
    Value(Vec<u8>),
}

/// What the arguments of a kernel are given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inputs {
    /// These, in the order of the kernel.
    Given(Vec<Content>),
    /// Whatever: values are tried.
    Any,
}

/// A kernel of a suite, and what that says of it.
#[derive(Clone, Debug)]
pub struct Program {
    /// What the suite calls it.
    pub name: String,
    /// OpenCL C.
    pub text: String,
    /// The kernel; empty if there is only one.
    pub kernel: String,
    /// Options of the compiler.
    pub options: String,
    /// Work-items.
    pub global: Vec<u64>,
    /// Work-items of a group.
    pub local: Vec<u64>,
    /// Its arguments.
    pub inputs: Inputs,
    /// Has it a bug?
    pub bug: bool,
    /// Codes of findings that say so.
    pub codes: &'static [&'static str],
    /// What the suite says of it, in its own words.
    pub says: String,
    /// The mistake that was made in it here.
    pub planted: Option<planted::Planted>,
}

/// The tries of values for arguments of which nothing is known: of numbers and of buffers.
const TRIES: [(i32, Option<i32>); 3] = [(0, Some(0)), (1, None), (64, Some(5))];

impl Program {
    /// What the arguments are given, try by try.
    fn tries(&self, arguments: &[Argument]) -> Vec<Vec<Content>> {
        let any = |(number, dwords): (i32, Option<i32>)| -> Vec<Content> {
            let one = |a: &Argument| match a.kind {
                ArgumentKind::Value { bytes, .. } => {
                    let mut all = number.to_le_bytes().to_vec();
                    if a.type_name.starts_with("float") {
                        all = (number as f32).to_le_bytes().to_vec();
                    }
                    Content::Value(
                        all.into_iter().cycle().take(4).chain([0; 128]).take(bytes.max(1) as usize).collect(),
                    )
                }
                ArgumentKind::Local => Content::Local(LOCAL),
                _ => dwords.map_or(Content::Iota(BUFFER), |d| Content::Fill(BUFFER, d)),
            };
            arguments.iter().map(one).collect()
        };
        match &self.inputs {
            Inputs::Given(all) => vec![all.clone()],
            Inputs::Any if arguments.is_empty() => vec![Vec::new()],
            Inputs::Any => TRIES.into_iter().map(any).collect(),
        }
    }
}

impl Content {
    /// As a job has it, for an argument of this type; what is bytes is written into a folder.
    fn job(&self, folder: &Path, number: usize, type_name: &str) -> Result<String, String> {
        let dwords = |bytes: u64, one: &dyn Fn(u64) -> i32| {
            (0..bytes / 4).flat_map(|n| one(n).to_le_bytes()).collect::<Vec<u8>>()
        };
        let bytes = match self {
            Content::Fill(bytes, x) => dwords(*bytes, &|_| *x),
            Content::Iota(bytes) => dwords(*bytes, &|n| n as i32),
            Content::Bytes(bytes) | Content::Value(bytes) => bytes.clone(),
            Content::Fresh(bytes) => {
                let types = [
                    ("float*", "f32"),
                    ("int*", "i32"),
                    ("uint*", "u32"),
                    ("long*", "i64"),
                    ("ulong*", "u64"),
                ];
                let (ty, size) = types
                    .iter()
                    .find(|t| t.0 == type_name)
                    .map_or(("u8", 1), |t| (t.1, if t.1.ends_with("64") { 8 } else { 4 }));
                return Ok(format!("fresh:{ty}:{}", bytes / size));
            }
            Content::Local(bytes) => return Ok(format!("local:{bytes}")),
            Content::Null => return Ok("0".to_owned()),
        };
        let file = folder.join(format!("{number}.bin"));
        std::fs::write(&file, bytes).map_err(|e| format!("{}: {e}", file.display()))?;
        Ok(format!("@{}", file.display()))
    }

    /// As Oclgrind's command takes it.
    fn simulation(&self) -> String {
        let list = |bytes: &[u8]| {
            let all: Vec<String> = bytes.iter().map(u8::to_string).collect();
            format!("<size={} uchar>\n{}\n", bytes.len(), all.join(" "))
        };
        match self {
            Content::Fill(bytes, x) => format!("<size={bytes} int fill={x}>\n"),
            Content::Iota(bytes) => format!("<size={bytes} int range=0:1:{}>\n", bytes / 4 - 1),
            Content::Fresh(bytes) => format!("<size={bytes} noinit>\n"),
            Content::Local(bytes) => format!("<size={bytes}>\n"),
            Content::Null => "<null>\n".to_owned(),
            Content::Bytes(bytes) | Content::Value(bytes) => list(bytes),
        }
    }
}

/// What came of a program.
#[derive(Clone, Debug, Default)]
pub struct Came {
    /// What was found.
    pub found: Vec<Found>,
    /// Why it was not run, or not to its end.
    pub failed: Option<String>,
}

impl Came {
    /// The first that counts, of these codes.
    fn counts(&self, codes: &[&str]) -> Option<&Found> {
        self.found.iter().find(|f| codes.contains(&f.code.as_str()))
    }

    fn all_that_counts(&self, codes: &[&str]) -> Vec<&Found> {
        self.found.iter().filter(|f| codes.contains(&f.code.as_str())).collect()
    }
}

/// Runs a program under the checks, on a device; gives its arguments too.
///
/// # Errors
/// Why it cannot be run.
pub fn run(p: &Program, device: Device) -> Result<(Came, Vec<Vec<Content>>), String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let source = crate::compile_cache::source(&p.text, folder.path())?;
    let mut build = Build::new(&source, device.name()).options(&p.options).lines(Lines::Variables);
    if let Some(cache) = crate::compile_cache::cache()? {
        build = build.cache(cache);
    }
    let built = build.rewrite(Rewrite::Checks).run();
    let built = built.map_err(|e| format!("does not compile: {}", brief(&e.to_string())))?;
    let module = folder.path().join("module.zebin");
    std::fs::write(&module, &built.bytes).map_err(|e| e.to_string())?;
    let arguments = arguments(&built, device, &p.kernel)?;
    let tries = p.tries(&arguments);
    let mut came = Came::default();
    for contents in &tries {
        let mut args = BTreeMap::new();
        for (n, (argument, content)) in arguments.iter().zip(contents).enumerate() {
            let unused = argument.kind == ArgumentKind::Unused;
            if !unused {
                args.insert(
                    n.to_string(),
                    ArgText::Text(content.job(folder.path(), n, &argument.type_name)?),
                );
            }
        }
        let job = Job {
            file: module.clone(),
            kernel: p.kernel.clone(),
            global: p.global.clone(),
            local: p.local.iter().map(|n| *n as u32).collect(),
            sources: vec![source.clone()],
            args,
            jobs: 1,
            check: true,
            check_hints: true,
            rewrite: built.rewritten.then_some(Rewrite::Checks),
            limit: 10_000_000,
            ..Job::default()
        };
        let outcome = within(SECONDS, |cancel| {
            let mut ready = Ready::new(&job)?;
            let outcome = ready.run(None, Some(cancel))?;
            ready.also_in_reverse(&job, outcome, Some(cancel))
        });
        let outcome = outcome.map_err(|e| brief(&e.to_string()))?;
        // Of the program itself: those of what it includes are others.
        let line = |p: &Place| p.source.as_ref().filter(|s| s.text.is_some()).map(|s| s.line);
        for f in outcome.findings.iter().flatten() {
            let others =
                f.race.as_ref().map(|r| &r.other).into_iter().chain(f.related.as_ref().map(|r| &r.place));
            let lines = std::iter::once(&f.place).chain(others).filter_map(line).collect();
            came.found.push(Found { code: f.code.to_owned(), lines, message: f.message() });
        }
        if let Some(f) = &outcome.fault {
            // What was found of the same cause is told with it, and counts by its own code, too.
            for code in std::iter::once(f.code).chain(f.also.iter().map(|f| f.code)) {
                let lines = line(&f.place).into_iter().collect();
                came.found.push(Found { code: code.to_owned(), lines, message: f.message() });
            }
        }
        // One more would say the same.
        if came.counts(p.codes).is_some() || came.found.iter().any(|f| f.code == CANCELLED) {
            break;
        }
    }
    Ok((came, tries))
}

/// Does something that is cancelled after so many seconds.
fn within<T>(seconds: f64, work: impl FnOnce(&Cancel) -> T) -> T {
    let cancel = Cancel::new();
    let (done, over) = channel::<()>();
    std::thread::scope(|s| {
        s.spawn(|| {
            let over = over;
            if over.recv_timeout(Duration::from_secs_f64(seconds)) == Err(RecvTimeoutError::Timeout) {
                cancel.cancel();
            }
        });
        let result = work(&cancel);
        drop(done);
        result
    })
}

fn arguments(built: &envisa_ocloc::Built, device: Device, kernel: &str) -> Result<Vec<Argument>, String> {
    let why = |e: envisa::Error| brief(&e.to_string());
    let device = envisa::Device::new(envisa::Config::new(device.platform()));
    let module = envisa::Module::load(&device, "kernel", envisa::Source::Zebin(&built.bytes)).map_err(why)?;
    let kernel = module.kernel(kernel).map_err(why)?;
    Ok(kernel.arguments().to_vec())
}

/// The first line of a message that says anything.
fn brief(text: &str) -> String {
    let error =
        text.lines().find(|l| l.contains("error:")).or_else(|| text.lines().find(|l| !l.trim().is_empty()));
    let error = error.unwrap_or_default().trim();
    // Without the place, which is in a folder of this run's own.
    let error = error.split_once(": error: ").map_or(error, |(_, what)| what);
    error.chars().take(160).collect()
}

/// A program with what came of it.
pub struct Row {
    /// The program.
    pub program: Program,
    /// What envisa found, by device; or why it did not run.
    pub envisa: Vec<(Device, Result<Came, String>)>,
    /// What Oclgrind said, if it was asked.
    pub oclgrind: Option<BTreeSet<String>>,
}

/// Why envisa and a suite disagree of a program: looked into one by one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explained {
    /// Of GPUVerify's, by name.
    #[serde(default)]
    pub gpuverify: BTreeMap<String, String>,
    /// Of Oclgrind's, by name.
    #[serde(default)]
    pub oclgrind: BTreeMap<String, String>,
    /// Of kernels of programs, by name.
    #[serde(default)]
    pub launches: BTreeMap<String, String>,
    /// Of this project's own kernels that are right, by name.
    #[serde(default)]
    pub right: BTreeMap<String, String>,
    /// Of mutations, by name.
    #[serde(default)]
    pub mutations: BTreeMap<String, String>,
    /// Of kernels whose results differ, or that a driver does not run, by SUITE/PROGRAM/KERNEL.
    #[serde(default)]
    pub results: BTreeMap<String, String>,
    /// The suites of programs.
    #[serde(default, rename = "suite")]
    pub suites: Vec<suites::Source>,
}

impl Explained {
    /// Reads the table.
    ///
    /// # Errors
    /// What is wrong in it.
    pub fn read() -> Result<Explained, String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("foreign.toml");
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
    }
}

/// What is done first.
#[derive(clap::Subcommand)]
enum Verb {
    /// Clone and build suites of programs, and run each program once on envisa's driver, which keeps a launch of each kernel.
    Fetch(suites::FetchArgs),
    /// Time their kernels on drivers that are there, and show the table; `performance --part foreign` builds and writes, too.
    Time {
        /// Only kernels (SUITE/PROGRAM/KERNEL) whose name contains one of these.
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
    },
    /// Write the page of the last run that was to be written, without measuring: once all that differs is explained.
    Page,
}

/// Which suites are run.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// All of `docs/CHECKS.md`: the cases of `checks`, and the suites below with their mutations. GPUVerify and Oclgrind are cloned
    /// unless their folders are named.
    #[arg(long, conflicts_with_all = ["only", "no_oclgrind"])]
    all: bool,
    /// With `--all`: a folder with mirrors of the repositories, `OWNER+NAME`, instead of the network.
    #[arg(long, value_name = "DIR", requires = "all")]
    mirror: Option<PathBuf>,
    /// The folder of GPUVerify (github.com/mc-imperial/gpuverify).
    #[arg(long, value_name = "DIR")]
    gpuverify: Option<PathBuf>,
    /// The folder of Oclgrind's sources (github.com/jrprice/Oclgrind), whose tests are run.
    #[arg(long, value_name = "DIR")]
    oclgrind: Option<PathBuf>,
    /// The kernels of this project that are right.
    #[arg(long)]
    right: bool,
    /// The kernels of programs that `fetch` kept with small sizes, from the folder of `ENVISA_FOREIGN`.
    #[arg(long)]
    launches: bool,
    /// These with one mistake planted in each.
    #[arg(long, requires = "launches")]
    mutate: bool,
    /// Only programs whose name contains one of these.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The devices whose code is run.
    #[arg(long, value_delimiter = ',', default_value = "dg2")]
    device: Vec<Device>,
    /// Leave Oclgrind out.
    #[arg(long)]
    no_oclgrind: bool,
    /// Write the suites' parts of `docs/CHECKS.md`.
    #[arg(long, conflicts_with_all = ["only", "no_oclgrind"])]
    write: bool,
}

/// Runs suites; `true` if each disagreement is explained.
///
/// # Errors
/// What cannot be read.
pub fn command(args: &Args) -> Result<bool, String> {
    let explained = Explained::read()?;
    match &args.verb {
        Some(Verb::Fetch(how)) => return suites::fetch(how, &explained.suites),
        Some(Verb::Time { only }) => return measure(only, false),
        Some(Verb::Page) => {
            return write_page(&crate::toolchain::read_record(&kept_run()?)?, &explained.results);
        }
        None => {}
    }
    let with_oclgrind = !args.no_oclgrind && has_oclgrind();
    if args.write && !with_oclgrind {
        return Err("--write wants Oclgrind, and oclgrind-kernel is not installed".to_owned());
    }
    let mut well = true;
    if args.all {
        well &= crate::checks::command(&[], &[], with_oclgrind, args.write)?;
    }
    let mut suites: Vec<(Suite, &BTreeMap<String, String>)> = Vec::new();
    if let Some(folder) = args.folder(args.gpuverify.as_ref(), GPUVERIFY)? {
        let folder = &folder;
        suites.push((gpuverify::read(folder)?, &explained.gpuverify));
    }
    if let Some(folder) = args.folder(args.oclgrind.as_ref(), OCLGRIND)? {
        let folder = &folder;
        suites.push((oclgrind::read(folder)?, &explained.oclgrind));
    }
    if args.right || args.all {
        let device = args.device.first().copied().unwrap_or(Device::Dg2);
        suites.push((right::read(device)?, &explained.right));
    }
    if args.launches || args.all {
        let folder = suites::cache()?;
        suites.push((launches::read(&explained.suites, &folder, &args.only)?, &explained.launches));
    }
    for (mut suite, explained_here) in suites {
        suite.programs.retain(|p| args.wants(p));
        let mutate = (args.mutate || args.all) && suite.key == "launches";
        let rows = rows(&suite, &args.device, with_oclgrind, mutate)?;
        well &= args.tell(&suite, &rows, explained_here)?;
        if mutate {
            well &= args.mutants(mutations::of(&rows), with_oclgrind, &explained.mutations)?;
        }
    }
    Ok(well)
}

/// Times the kernels of the suites beside the peers; `true` if there is nothing to complain of.
///
/// # Errors
/// If no launches are kept, or something is not to be published.
pub fn measure(only: &[String], write: bool) -> Result<bool, String> {
    let table = Explained::read()?;
    let run = timing::run(&table.suites, only, &replay::Side::ALL, |line| eprintln!("{line}"))?;
    println!("{}\n{}", run.sums(), run.kernels());
    let wrong = run.complaints(&table.results);
    wrong.iter().for_each(|w| println!("not explained: {w}"));
    if write {
        let kept = kept_run()?;
        write_text(&kept, &json_of(&run)?)?;
        let later = "once it is explained, `envisa-suite foreign page` writes the page";
        write_page(&run, &table.results)
            .map_err(|e| format!("{e}\n{} has the run: {later}", kept.display()))?;
    }
    Ok(wrong.is_empty())
}

/// Where the last run is kept that was to be written: a run takes half an hour, and one line that nobody explained yet
/// keeps it from being published.
fn kept_run() -> Result<PathBuf, String> {
    Ok(suites::cache()?.join("last-run.json"))
}

/// Writes the page of a run and its record, unless something in it is not explained.
fn write_page(run: &timing::Run, explained: &BTreeMap<String, String>) -> Result<bool, String> {
    let (docs, wrong) = (docs_folder(), run.complaints(explained));
    publish(&docs.join("PERFORMANCE-FOREIGN.md"), &run.page(explained), &wrong)?;
    publish(&docs.join(timing_page::RECORD), &json_of(run)?, &wrong)?;
    crate::performance::write_summary(&docs)?;
    Ok(true)
}

impl Args {
    /// The folder of a suite: the one that is named, or where it is cloned if all suites are wanted.
    fn folder(&self, named: Option<&PathBuf>, from: (&str, &str)) -> Result<Option<PathBuf>, String> {
        if named.is_some() || !self.all {
            return Ok(named.cloned());
        }
        let name = from.0.rsplit('/').next().unwrap_or_default();
        let folder = suites::cache()?.join(name);
        suites::clone(from, &folder, self.mirror.as_deref())?;
        Ok(Some(folder))
    }

    fn wants(&self, p: &Program) -> bool {
        self.only.is_empty() || self.only.iter().any(|o| p.name.contains(o.as_str()))
    }

    /// Runs mutants, and tells of them.
    fn mutants(
        &self,
        programs: Vec<Program>,
        with_oclgrind: bool,
        explained: &BTreeMap<String, String>,
    ) -> Result<bool, String> {
        let suite = Suite { programs, ..mutations::suite() };
        let mut rows = rows(&suite, &self.device, with_oclgrind, true)?;
        // What nobody finds has no bug that these inputs trigger.
        rows.iter_mut().for_each(|r| {
            let said = r.oclgrind.as_ref().is_some_and(|said| !said.is_empty());
            r.program.bug = said || r.is_of_planted();
        });
        self.tell(&suite, &rows, explained)
    }

    /// Prints a suite's section, and writes it if that is wanted; are all disagreements explained?
    fn tell(
        &self,
        suite: &Suite,
        rows: &[Row],
        explained: &BTreeMap<String, String>,
    ) -> Result<bool, String> {
        let section = page::section(suite, rows, explained);
        print!("{}", section.text);
        section.unexplained.iter().for_each(|u| println!("not explained: {u}"));
        section.agreed.iter().for_each(|name| println!("explained, and no disagreement any more: {name}"));
        if self.write {
            let path = docs_folder().join("CHECKS.md");
            let old = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            publish(&path, &replace_block(&old, suite.key, &section.text), &section.unexplained)?;
        }
        Ok(section.unexplained.is_empty())
    }
}

/// A suite.
pub struct Suite {
    /// What its block of the page is called.
    pub key: &'static str,
    /// The head of its section, and what is said of it there.
    pub about: String,
    /// Its programs.
    pub programs: Vec<Program>,
    /// Those that are not run, by why: how many.
    pub left_out: BTreeMap<String, usize>,
}

fn rows(suite: &Suite, devices: &[Device], with_oclgrind: bool, ask_all: bool) -> Result<Vec<Row>, String> {
    let told = |_: &Program, row: &Result<Row, String>, done: usize| {
        let line = row.as_ref().map_or_else(Clone::clone, Row::line);
        eprintln!("{} {done} of {}: {line}", suite.key, suite.programs.len());
    };
    let work = |p: &Program| row(p, devices, with_oclgrind, ask_all);
    crate::parallel::each(&suite.programs, work, told).into_iter().collect()
}

/// What comes of a program.
fn row(p: &Program, devices: &[Device], with_oclgrind: bool, ask_all: bool) -> Result<Row, String> {
    let (mut envisa, mut tries) = (Vec::new(), None);
    for device in devices {
        let came = run(p, *device).map(|(came, all)| {
            tries = Some(all);
            came
        });
        envisa.push((*device, came));
    }
    // Where all agree that nothing is wrong nobody else is asked, unless mutants are made of it.
    let found = envisa.iter().any(|(_, came)| came.as_ref().is_ok_and(|c| !c.found.is_empty()));
    let oclgrind = tries
        .filter(|_| with_oclgrind && (p.bug || found || ask_all))
        .map(|t| oclgrind_runs::oclgrind(p, &t))
        .transpose()?;
    Ok(Row { program: p.clone(), envisa, oclgrind })
}

impl Row {
    /// Is something found, and all that is found on any device of what was planted?
    fn is_of_planted(&self) -> bool {
        let Some(planted) = &self.program.planted else { return false };
        let came = self.envisa.iter().filter_map(|(_, came)| came.as_ref().ok());
        let counting = came.map(|c| c.all_that_counts(self.program.codes)).filter(|all| !all.is_empty());
        let explained: Vec<bool> = counting.map(|all| planted.explains(&all)).collect();
        !explained.is_empty() && explained.into_iter().all(|well| well)
    }

    /// As it is told while the run goes on.
    fn line(&self) -> String {
        let mut line = format!("{} ({}):", self.program.name, if self.program.bug { "bug" } else { "right" });
        for (device, came) in &self.envisa {
            let _ = match came {
                Ok(came) => {
                    let all: Vec<String> = came
                        .found
                        .iter()
                        .map(|f| format!("{} {:?} {}", f.code, f.lines, f.message))
                        .collect();
                    write!(line, " {}: {}", device.name(), all.join("; "))
                }
                Err(why) => write!(line, " {}: not run: {why}", device.name()),
            };
        }
        let asked: Vec<&str> = self.oclgrind.iter().flatten().map(String::as_str).collect();
        format!("{line} | {}", asked.join("; "))
    }
}
