//! `envisa campaign`: random programs through several compilers, levels, devices and engines, and a vote.

use crate::cmd::limited_process::{self, Ended};
use crate::cmd::smith::{arguments, outputs, sizes};
use crate::cmd::{Done, Exit, Failure};
use crate::io;
use envisa_harness::files;
use envisa_smith::opencl::{Kernel, PREAMBLE, kernel};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const AFTER_HELP: &str = "\
Examples:
  envisa campaign found --programs 300
  envisa campaign found --programs 20000 --compiler packaged=ocloc --compiler newer=/opt/newer/ocloc --device dg2,skl
  envisa campaign found --driver pocl=libpocl.so.2 --driver intel=/opt/intel/libintelocl.so

Each compiler compiles each program of `envisa smith` for each device, with and without optimisation. Native code runs each \
build; the interpreter runs the first one, too. Each other OpenCL driver runs the program, with and without optimisation. The \
results are compared bit by bit. FOLDER contains
  results.jsonl   one line for each program and side; a campaign that was stopped continues after them
  kN/             for each of the first differences (--reductions): the reduced program, and the command that shows it
  page.md         a page with the results

Each process is limited to --timeout seconds, 16 GiB of address space and 64 MiB of files. Hangs and crashes are recorded. Exit \
codes: 0 all sides agree; 1 some differ or fail; 2 wrong usage.";

/// Compare compilers, optimisation levels, devices and engines with each other on random programs.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The folder for the results.
    folder: PathBuf,
    /// The number of programs.
    #[arg(long, value_name = "N", default_value_t = 100)]
    programs: u64,
    /// The number of the first program.
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// A compiler: NAME=FILE; may be given several times.
    #[arg(long = "compiler", value_name = "NAME=FILE", default_value = "packaged=ocloc")]
    compilers: Vec<String>,
    /// Another OpenCL implementation: NAME=LIBRARY; may be given several times.
    #[arg(long = "driver", value_name = "NAME=LIBRARY")]
    drivers: Vec<String>,
    /// The devices to compile for.
    #[arg(long = "device", value_delimiter = ',', value_name = "DEVICE", default_value = "dg2,skl")]
    devices: Vec<String>,
    /// The number of compilers and engines that run at the same time; 0 for one per core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    jobs: usize,
    /// The most seconds for a compilation or a run.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u32,
    /// The most differences to reduce.
    #[arg(long, value_name = "N", default_value_t = 8)]
    reductions: usize,
    /// The most candidates to try in each reduction.
    #[arg(long, value_name = "N", default_value_t = 600)]
    tries: usize,
}

/// Who runs programs, and with which options of the compiler.
struct Side {
    name: String,
    options: &'static str,
    who: Who,
}

enum Who {
    /// envisa: a compiler, the device it compiles for, and an engine.
    Envisa { ocloc: Option<PathBuf>, device: String, engine: &'static str },
    /// Another OpenCL implementation, by its library.
    Driver(String),
}

const OPTIMISED: &str = "-cl-std=CL3.0";
const PLAIN: &str = "-cl-std=CL3.0 -cl-opt-disable";

impl Side {
    /// Options of `envisa build`, for envisa's sides, and most of those of `envisa run`.
    fn build_options(&self) -> Vec<String> {
        let mut all = vec!["--options".into(), self.options.into()];
        match &self.who {
            Who::Driver(library) => all.extend(["--driver".into(), library.clone()]),
            Who::Envisa { ocloc, device, .. } => {
                all.extend(["--device".into(), device.clone()]);
                let ocloc = ocloc.iter().map(|o| o.display().to_string());
                all.extend(ocloc.flat_map(|o| ["--ocloc".into(), o]));
            }
        }
        all
    }

    fn run_options(&self) -> String {
        let mut words = self.build_options();
        if let Who::Envisa { engine, .. } = &self.who {
            words.extend(["--engine".into(), (*engine).into()]);
        }
        words.iter().map(|w| limited_process::quoted(w)).collect::<Vec<_>>().join(" ")
    }

    fn is_envisa(&self) -> bool {
        matches!(self.who, Who::Envisa { .. })
    }
}

/// Optimised and not.
const LEVELS: [(&str, &str); 2] = [(OPTIMISED, ""), (PLAIN, ", not optimised")];

fn sides(args: &Args) -> Result<Vec<Side>, Failure> {
    let pair = |option: &str, text: &str| match text.split_once('=') {
        Some((name, file)) => Ok((name.to_owned(), file.to_owned())),
        None => Err(Failure(format!("--{option} {text}: expected NAME=FILE"))),
    };
    let mut all = Vec::new();
    for compiler in &args.compilers {
        let (name, file) = pair("compiler", compiler)?;
        let ocloc = (file != "ocloc").then(|| PathBuf::from(file));
        for device in &args.devices {
            for (options, level) in LEVELS {
                let side = |engine, by: &str| Side {
                    name: format!("{name}, {device}{level}{by}"),
                    options,
                    who: Who::Envisa { ocloc: ocloc.clone(), device: device.clone(), engine },
                };
                if all.is_empty() {
                    all.push(side("interp", ", interpreter"));
                }
                all.push(side("jit", ""));
            }
        }
    }
    for driver in &args.drivers {
        let (name, library) = pair("driver", driver)?;
        all.extend(LEVELS.map(|(options, level)| Side {
            name: format!("{name}{level}"),
            options,
            who: Who::Driver(library.clone()),
        }));
    }
    Ok(all)
}

/// What a side left of a program: a number for all of it, or why nothing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Left {
    program: u64,
    side: String,
    left: Result<u64, String>,
}

type All = BTreeMap<u64, BTreeMap<String, Result<u64, String>>>;

/// Programs that are compiled at once.
const BATCH: u64 = 10;

/// Runs the command.
///
/// # Errors
/// A folder that cannot be written.
pub fn run(args: &Args) -> Done {
    let sides = sides(args)?;
    std::fs::create_dir_all(&args.folder).map_err(|e| Failure(format!("{}: {e}", args.folder.display())))?;
    let results = args.folder.join("results.jsonl");
    let mut all = earlier(&results);
    let end = args.first.saturating_add(args.programs);
    let mut at = args.first;
    while at < end {
        let next = end.min((at / BATCH + 1) * BATCH);
        let wanted: Vec<&Side> = sides
            .iter()
            .filter(|s| (at..next).any(|n| !all.get(&n).is_some_and(|of| of.contains_key(&s.name))))
            .collect();
        let left = batch(args, &wanted, at..next);
        append(&results, &left)?;
        for l in left {
            all.entry(l.program).or_default().insert(l.side, l.left);
        }
        eprintln!("envisa campaign: {} of {} programs", next - args.first, args.programs);
        at = next;
    }
    all.retain(|n, _| (args.first..end).contains(n));
    let differing: Vec<u64> = all.iter().filter(|(_, of)| parts(of).len() > 1).map(|(n, _)| *n).collect();
    for n in differing.iter().take(args.reductions) {
        small(args, &sides, *n, &all[n])?;
    }
    let page = page(args, &sides, &all);
    files::write(&args.folder.join("page.md"), page.as_bytes()).map_err(Failure)?;
    io::print(&page)?;
    let failed = all.values().flat_map(BTreeMap::values).any(Result::is_err);
    Ok(if differing.is_empty() && !failed { Exit::Fine } else { Exit::Findings })
}

/// What an earlier campaign left; a line that was cut off is as none.
fn earlier(results: &Path) -> All {
    let text = std::fs::read_to_string(results).unwrap_or_default();
    let mut all = All::new();
    for l in text.lines().filter_map(|l| serde_json::from_str::<Left>(l).ok()) {
        all.entry(l.program).or_default().insert(l.side, l.left);
    }
    all
}

fn append(results: &Path, left: &[Left]) -> Result<(), Failure> {
    use std::io::Write as _;
    let failed = |e: std::io::Error| Failure(format!("{}: {e}", results.display()));
    let mut text = String::from("\n");
    for l in left {
        text.push_str(&serde_json::to_string(l).map_err(|e| Failure(e.to_string()))?);
        text.push('\n');
    }
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(results).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

/// Runs programs on sides, several sides at a time.
fn batch(args: &Args, sides: &[&Side], numbers: std::ops::Range<u64>) -> Vec<Left> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..if args.jobs == 0 { cores } else { args.jobs } {
            scope.spawn(|| {
                while let Some(side) = sides.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let kernels: Vec<Kernel> = numbers.clone().map(|n| kernel(n, false)).collect();
                    let left = together(args, side, &kernels);
                    if let Ok(mut found) = found.lock() {
                        found.extend(left);
                    }
                }
            });
        }
    });
    found.into_inner().unwrap_or_default()
}

/// Compiles programs at once and runs each; where that fails, each is compiled by itself.
fn together(args: &Args, side: &Side, kernels: &[Kernel]) -> Vec<Left> {
    let left = |k: &Kernel, left| Left { program: k.number, side: side.name.clone(), left };
    let Ok(folder) = tempfile::Builder::new().prefix("envisa-campaign").tempdir() else {
        return kernels.iter().map(|k| left(k, Err("no folder for temporary files".into()))).collect();
    };
    let source =
        |kernels: &[Kernel]| PREAMBLE.to_owned() + &kernels.iter().map(Kernel::text).collect::<String>();
    if !side.is_envisa() {
        // It compiles in the process that runs: one program, so that a crash is that program's.
        let one = |k: &Kernel| {
            let file = folder.path().join(format!("k{}.cl", k.number));
            std::fs::write(&file, source(std::slice::from_ref(k))).map_err(|e| e.to_string())?;
            ran(args, &file, &side.build_options(), k)
        };
        return kernels.iter().map(|k| left(k, one(k))).collect();
    }
    match built(args, side, &source(kernels), folder.path()) {
        Ok(zebin) => {
            let engine = match &side.who {
                Who::Envisa { engine, .. } => vec!["--engine".into(), (*engine).into()],
                Who::Driver(_) => Vec::new(),
            };
            kernels.iter().map(|k| left(k, ran(args, &zebin, &engine, k))).collect()
        }
        Err(why) if kernels.len() == 1 => vec![left(&kernels[0], Err(why))],
        Err(_) => kernels.iter().flat_map(|k| together(args, side, std::slice::from_ref(k))).collect(),
    }
}

fn own() -> OsString {
    std::env::current_exe().map_or_else(|_| "envisa".into(), Into::into)
}

fn built(args: &Args, side: &Side, source: &str, folder: &Path) -> Result<PathBuf, String> {
    let (file, zebin) = (folder.join("programs.cl"), folder.join("programs.zebin"));
    std::fs::write(&file, source).map_err(|e| e.to_string())?;
    let mut words: Vec<OsString> =
        vec![own(), "build".into(), file.into(), "-o".into(), zebin.clone().into()];
    words.extend(side.build_options().into_iter().map(OsString::from));
    let ended = limited_process::run(&words, folder, args.timeout, &[]);
    succeeded(ended, "the compiler").map(|_| zebin)
}

fn succeeded(ended: Option<Ended>, who: &str) -> Result<Ended, String> {
    let ended = ended.ok_or("a process cannot be started")?;
    if ended.success() {
        return Ok(ended);
    }
    let first =
        ended.err.lines().find(|l| l.starts_with("error") || l.starts_with("fault")).unwrap_or_default();
    Err(format!("{who}: {}: {first}", ended.why()))
}

/// A program's sizes and arguments as the command line has them.
fn launch(k: &Kernel) -> Vec<String> {
    let [global, local] = sizes(k).map(|s| s.map(|n| n.to_string()).join(","));
    let mut words = vec!["--kernel".into(), format!("k{}", k.number)];
    words.extend(["--global".into(), global, "--local".into(), local]);
    for (name, value) in arguments(k) {
        words.extend(["--arg".into(), format!("{name}={value}")]);
    }
    for (name, elements) in outputs(k) {
        words.extend(["--print".into(), format!("{name}:{elements}")]);
    }
    words
}

/// Runs a program; a number for what it left.
fn ran(args: &Args, file: &Path, options: &[String], k: &Kernel) -> Result<u64, String> {
    let mut words: Vec<OsString> = vec![own(), "run".into(), file.into()];
    words.extend(launch(k).into_iter().chain(options.iter().cloned()).map(OsString::from));
    let folder = file.parent().unwrap_or(Path::new("."));
    let ended = succeeded(limited_process::run(&words, folder, args.timeout, &[]), "the run")?;
    Ok(ended.out.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)))
}

/// Sides that left the same, the most first.
fn parts(of: &BTreeMap<String, Result<u64, String>>) -> Vec<Vec<&str>> {
    let mut parts: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for (side, left) in of {
        if let Ok(left) = left {
            parts.entry(*left).or_default().push(side);
        }
    }
    let mut parts: Vec<Vec<&str>> = parts.into_values().collect();
    parts.sort_by_key(|p| std::cmp::Reverse(p.len()));
    parts
}

/// Makes a difference small: of a side of most and one of the others.
fn small(
    args: &Args,
    sides: &[Side],
    n: u64,
    of: &BTreeMap<String, Result<u64, String>>,
) -> Result<(), Failure> {
    let (folder, k) = (args.folder.join(format!("k{n}")), kernel(n, false));
    if folder.join("reproduce.sh").exists() {
        return Ok(());
    }
    let parts = parts(of);
    // Who checks that the program stays a defined one is envisa, so it has to be one of the two.
    let side = |part: usize, envisa: bool| {
        let part = parts.get(part);
        sides
            .iter()
            .find(|s| (s.is_envisa() || !envisa) && part.is_some_and(|p| p.contains(&s.name.as_str())))
    };
    let two = [(0, 1), (1, 0)].map(|(a, b)| side(a, true).zip(side(b, true).or(side(b, false))));
    let Some((a, b)) = two.into_iter().flatten().next() else { return Ok(()) };
    std::fs::create_dir_all(&folder).map_err(|e| Failure(format!("{}: {e}", folder.display())))?;
    let file = folder.join("program.cl");
    files::write(&file, (PREAMBLE.to_owned() + &k.text()).as_bytes()).map_err(Failure)?;
    let mut words: Vec<OsString> =
        vec![own(), "reduce".into(), file.into(), "-o".into(), folder.clone().into()];
    words.extend(["--differs".into(), a.run_options().into(), b.run_options().into()]);
    words.extend(["--tries".into(), args.tries.to_string().into(), "--".into()]);
    words.extend(launch(&k).into_iter().map(OsString::from));
    let seconds = args.timeout.saturating_mul(20);
    let ended = limited_process::run(&words, Path::new("."), seconds, &[]);
    if let Err(why) = succeeded(ended, "the reduction") {
        files::write(&folder.join("not-reduced.txt"), why.as_bytes()).map_err(Failure)?;
        return Ok(());
    }
    if !b.is_envisa() {
        return Ok(());
    }
    let mut words: Vec<OsString> = vec![own(), "diff".into(), folder.join("reduced.cl").into()];
    words.extend(["--a".into(), a.run_options().into(), "--b".into(), b.run_options().into(), "--".into()]);
    words.extend(launch(&k).into_iter().map(OsString::from));
    let said = limited_process::run(&words, Path::new("."), seconds, &[]).map_or(String::new(), |e| e.out);
    files::write(&folder.join("diff.txt"), said.as_bytes()).map_err(Failure)
}

/// Where a difference begins, by the names of instructions: what has the same beginning is taken for one cause.
fn cause(folder: &Path) -> String {
    let said = std::fs::read_to_string(folder.join("diff.txt")).unwrap_or_default();
    let begins = said.split("where that begins:").nth(1).unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for line in begins.lines().filter(|l| l.starts_with("  A ") || l.starts_with("  B ")) {
        let instruction = line.rsplit_once(": ").map_or("", |(_, i)| i);
        let name = instruction.split_whitespace().find(|w| !w.starts_with('(')).unwrap_or_default();
        let said = format!("{} {name}", &line[2..3]);
        if !names.contains(&said) {
            names.push(said);
        }
    }
    if !names.is_empty() {
        return names.join(", ");
    }
    let reduced = std::fs::read_to_string(folder.join("reduced.cl")).unwrap_or_default();
    match called(&reduced).join(", ") {
        none if none.is_empty() => "not known".into(),
        all => format!("the reduced program calls {all}"),
    }
}

/// Functions of the language that a program calls. Where a difference cannot be followed into the code, as in another driver, programs
/// that are reduced to the same calls are taken for one cause.
fn called(text: &str) -> Vec<&str> {
    /// What says only where a value is from, or what its type is.
    const PLAIN: [&str; 7] = ["get_", "convert_", "as_", "if", "for", "while", "switch"];
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // Lines of the preprocessor are the same in all programs.
    let lines = text.lines().filter(|l| !l.trim_start().starts_with('#'));
    let mut all: Vec<&str> = lines
        .flat_map(|line| line.match_indices('(').map(move |(at, _)| line[..at].trim_end()))
        .map(|before| &before[before.trim_end_matches(is_name).len()..])
        // Names with a number at their end are the program's own, or types.
        .filter(|name| name.starts_with(char::is_alphabetic) && !name.ends_with(|c: char| c.is_ascii_digit()))
        .filter(|name| !PLAIN.iter().any(|p| name.starts_with(p)) && !name.starts_with("__"))
        .filter(|name| {
            !["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float"].contains(name)
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The page.
fn page(args: &Args, sides: &[Side], all: &All) -> String {
    let mut text = format!(
        "# Campaign\n\n{} programs from number {}, each on {} sides.\n\n| side | the same as most | another result | none |\n| --- | --- | --- | --- |\n",
        all.len(),
        args.first,
        sides.len()
    );
    for side in sides {
        let (mut most, mut other, mut none) = (0, 0, 0);
        for of in all.values() {
            match of.get(&side.name) {
                Some(Ok(_)) if parts(of)[0].contains(&side.name.as_str()) => most += 1,
                Some(Ok(_)) => other += 1,
                _ => none += 1,
            }
        }
        let _ = writeln!(text, "| {} | {most} | {other} | {none} |", side.name);
    }
    let mut causes: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    let mut failures: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    for (n, of) in all {
        let parts = parts(of);
        if parts.len() > 1 {
            let named: Vec<String> = parts[1..].iter().map(|p| p.join("; ")).collect();
            causes
                .entry((named.join(" | "), cause(&args.folder.join(format!("k{n}")))))
                .or_default()
                .push(*n);
        }
        for (side, left) in of {
            if let Err(why) = left {
                failures.entry((side.clone(), why.clone())).or_default().push(*n);
            }
        }
    }
    let numbers = |all: &[u64]| all.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    text.push_str("\n## Other results than most\n\nBy who has them, and by where the difference begins.\n\n");
    for ((who, cause), programs) in &causes {
        let _ = writeln!(text, "- {who}: {cause}: programs {}", numbers(programs));
    }
    text.push_str("\n## No results\n\n");
    for ((side, why), programs) in &failures {
        let _ = writeln!(text, "- {side}: {why}: programs {}", numbers(programs));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vote_has_the_most_first_and_leaves_failures_out() {
        let of = |list: &[(&str, Result<u64, &str>)]| {
            list.iter().map(|(s, l)| ((*s).to_owned(), l.map_err(str::to_owned))).collect::<BTreeMap<_, _>>()
        };
        let left = of(&[("a", Ok(1)), ("b", Ok(2)), ("c", Ok(2)), ("d", Err("no"))]);
        assert_eq!(parts(&left), [vec!["b", "c"], vec!["a"]]);
    }

    #[test]
    fn programs_reduced_to_the_same_calls_have_one_cause() {
        let program = |name: &str| {
            format!(
                "#define X(a) f(a)\nkernel void k7(global ulong *out) {{\n    ulong4 v = rhadd((ulong4)(1), as_ulong4({name}));\n\
                 if (v.x) out[get_global_id(0)] = f7_1(mad_sat (v.x, 2, 3)) + popcount(v.y);\n}}\n"
            )
        };
        assert_eq!(called(&program("v8")), ["mad_sat", "popcount", "rhadd"]);
        assert_eq!(called(&program("abs(v8)")), ["abs", "mad_sat", "popcount", "rhadd"]);
    }

    #[test]
    fn what_was_left_is_read_again_but_for_a_line_cut_off() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("results.jsonl");
        let line = |program| Left { program, side: "s".into(), left: Ok(5) };
        append(&file, &[line(1), line(2)]).expect("it is written");
        let text = std::fs::read_to_string(&file).expect("it is there");
        std::fs::write(&file, &text[..text.len() - 4]).expect("it is written");
        append(&file, &[line(3)]).expect("it is written");
        assert_eq!(earlier(&file).keys().copied().collect::<Vec<_>>(), [1, 3]);
    }
}
