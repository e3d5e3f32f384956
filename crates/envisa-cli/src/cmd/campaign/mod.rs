//! `envisa campaign`: random programs through several compilers, levels, devices and engines, and a vote.

mod causes;
mod page;
mod program_runs;
mod reductions;

use crate::cmd::{Done, Exit, Failure, limited_process, other_driver};
use crate::io;
use envisa_harness::files;
use envisa_smith::opencl::{Kernel, Knobs, kernel};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Examples:
  envisa campaign found --programs 300
  envisa campaign found --programs 20000 --compiler packaged=ocloc --compiler newer=/opt/newer/ocloc --device dg2,skl
  envisa campaign found --driver pocl=libpocl.so.2 --driver intel=/opt/intel/libintelocl.so

Each compiler compiles each program of `envisa smith` for each device, with and without optimisation (--level). Native code runs \
each build; the interpreter and native code for AVX2 run the first one, too. Each other OpenCL driver runs the program at these levels, too. The results are \
compared bit by bit. FOLDER contains
  results.jsonl   one line for each program and side; a campaign that was stopped continues after them
  causes.jsonl    results of programs that differ, compiled without optimisation, and with built-in functions written out
  kN/             for the first programs of each cause (--reductions): the reduced program, and the command that shows it
  page.md         tables of the results, which --into puts into another page, too

Each compiler compiles several programs at once. If that fails, if one of them does, or if its process crashes, takes more than \
--timeout seconds, 16 GiB of address space or a file of 64 MiB, these programs are compiled again in smaller units, and a failure is \
recorded of a program that was compiled alone. Exit \
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
    /// The numbers of the programs, instead of --first and --programs.
    #[arg(long, value_delimiter = ',', value_name = "N")]
    numbers: Vec<u64>,
    /// How large the programs are, 1 to 4. By default, those before number 2,000,000 are of size 4, the others of size 1.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=4))]
    size: Option<u8>,
    /// Let programs use `double`: all devices and drivers must have it.
    #[arg(long)]
    double: bool,
    /// A compiler: NAME=FILE; may be given several times.
    #[arg(long = "compiler", value_name = "NAME=FILE", default_value = "packaged=ocloc")]
    compilers: Vec<String>,
    /// Another OpenCL implementation: NAME=LIBRARY; may be given several times.
    #[arg(long = "driver", value_name = "NAME=LIBRARY")]
    drivers: Vec<String>,
    /// The devices to compile for.
    #[arg(long = "device", value_delimiter = ',', value_name = "DEVICE", default_value = "dg2,skl")]
    devices: Vec<String>,
    /// The levels of optimisation.
    #[arg(long = "level", value_delimiter = ',', value_name = "LEVEL", default_value = "optimised,plain")]
    levels: Vec<Level>,
    /// The number of compilers and engines that run at the same time; 0 for one per core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    jobs: usize,
    /// The number of programs that are compiled at once.
    #[arg(long, value_name = "N", default_value_t = 20)]
    together: usize,
    /// The most seconds of CPU time for a compilation or a run.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u32,
    /// The number of programs to reduce of each cause.
    #[arg(long, value_name = "N", default_value_t = 1)]
    reductions: usize,
    /// The most candidates to try in each reduction.
    #[arg(long, value_name = "N", default_value_t = 600)]
    tries: usize,
    /// A page into which the tables are put, between its lines `<!-- begin campaign -->` and `<!-- end campaign -->`. It has to
    /// explain each cause in them, by a line that begins with `- **CAUSE**`.
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    #[command(flatten)]
    work: program_runs::Work,
}

impl Args {
    /// The program of a number.
    fn program(&self, number: u64) -> Kernel {
        kernel(number, Knobs { double: self.double, size: self.size.map(usize::from) })
    }
}

/// Who runs programs, and with which options of the compiler.
#[derive(Clone)]
struct Side {
    name: String,
    options: &'static str,
    who: Who,
    /// What is done otherwise, to find a cause.
    change: Option<String>,
}

#[derive(Clone)]
enum Who {
    /// envisa: a compiler, the device it compiles for, an engine, and the level of native code (`ENVISA_LEVEL`) if it is not the host's.
    Envisa { ocloc: Option<PathBuf>, device: String, engine: envisa::Engine, level: Option<&'static str> },
    /// Another OpenCL implementation, by its library.
    Driver(String),
}

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
            let engine = if *engine == envisa::Engine::Native { "jit" } else { "interp" };
            words.extend(["--engine".into(), engine.into()]);
        }
        words.iter().map(|w| limited_process::quoted_for_shell(w)).collect::<Vec<_>>().join(" ")
    }

    fn is_envisa(&self) -> bool {
        matches!(self.who, Who::Envisa { .. })
    }

    /// Does it run a build as users do? The other engines and levels of native code are there to be compared with it.
    fn is_usual(&self) -> bool {
        match &self.who {
            Who::Envisa { engine, level, .. } => *engine == envisa::Engine::Native && level.is_none(),
            Who::Driver(_) => true,
        }
    }

    /// What a process finds in its environment.
    fn process_environment(&self) -> Vec<(String, String)> {
        match &self.who {
            Who::Envisa { level, .. } => level.iter().map(|l| ("ENVISA_LEVEL".into(), (*l).into())).collect(),
            Who::Driver(library) => other_driver::implementation_environment(library),
        }
    }
}

/// A level of optimisation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Level {
    /// As compilers do by default.
    Optimised,
    /// With `-cl-opt-disable`.
    Plain,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Optimised => "optimised",
            Level::Plain => "plain",
        }
    }

    /// The options, and what names of sides say of them.
    fn options(self) -> (&'static str, &'static str) {
        match self {
            Level::Optimised => ("-cl-std=CL3.0", ""),
            Level::Plain => ("-cl-std=CL3.0 -cl-opt-disable", ", not optimised"),
        }
    }
}

fn parse_sides(args: &Args) -> Result<Vec<Side>, Failure> {
    let pair = |option: &str, text: &str| match text.split_once('=') {
        Some((name, file)) => Ok((name.to_owned(), file.to_owned())),
        None => Err(Failure(format!("--{option} {text}: expected NAME=FILE"))),
    };
    let mut all = Vec::new();
    for compiler in &args.compilers {
        let (name, file) = pair("compiler", compiler)?;
        let ocloc = (file != "ocloc").then(|| PathBuf::from(file));
        for device in &args.devices {
            for (options, level) in args.levels.iter().map(|l| l.options()) {
                let side = |engine, by: &str, level_of_code| Side {
                    name: format!("{name}, {device}{level}{by}"),
                    options,
                    who: Who::Envisa {
                        ocloc: ocloc.clone(),
                        device: device.clone(),
                        engine,
                        level: level_of_code,
                    },
                    change: None,
                };
                if all.is_empty() {
                    all.push(side(envisa::Engine::Interpreter, ", interpreter", None));
                    all.push(side(envisa::Engine::Native, ", AVX2", Some("avx2")));
                }
                all.push(side(envisa::Engine::Native, "", None));
            }
        }
    }
    for driver in &args.drivers {
        let (name, library) = pair("driver", driver)?;
        all.extend(args.levels.iter().map(|l| l.options()).map(|(options, level)| Side {
            name: format!("{name}{level}"),
            options,
            who: Who::Driver(library.clone()),
            change: None,
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
    /// Its code reads registers that nothing writes (W0824).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unwritten: bool,
    /// CPU time that it took; that of a unit's compilation is its first program's.
    #[serde(default)]
    ms: u64,
}

impl Left {
    fn from_result(program: u64, side: &Side, left: Result<(u64, bool), String>) -> Left {
        let unwritten = matches!(left, Ok((_, true)));
        Left { program, side: side.name.clone(), left: left.map(|(number, _)| number), unwritten, ms: 0 }
    }

    fn from_failure(program: u64, side: &Side, why: String) -> Left {
        Left::from_result(program, side, Err(why))
    }
}

/// By program and side.
type All = BTreeMap<u64, BTreeMap<String, Left>>;

/// Programs after which the results are written.
const TURN: usize = 100;
/// Turns after which causes are looked for.
const TURNS: usize = 10;

/// Runs the command.
///
/// # Errors
/// A folder that cannot be written.
pub fn run(args: &Args) -> Done {
    let sides = parse_sides(args)?;
    if !args.work.sides.is_empty() {
        return program_runs::run_units_here(args, &sides);
    }
    std::fs::create_dir_all(&args.folder).map_err(|e| Failure(format!("{}: {e}", args.folder.display())))?;
    let results = args.folder.join("results.jsonl");
    let mut numbers = args.numbers.clone();
    if numbers.is_empty() {
        numbers.extend(args.first..args.first.saturating_add(args.programs));
    }
    let mut all = read_earlier_results(&results);
    let wanted: BTreeSet<u64> = numbers.iter().copied().collect();
    all.retain(|n, _| wanted.contains(n));
    let why = args.folder.join("causes.jsonl");
    let mut causes = read_earlier_results(&why);
    let write = |all: &All, causes: &All| {
        let page = page::page(args, &sides, all, causes);
        files::write(&args.folder.join("page.md"), format!("# Campaign\n\n{page}").as_bytes())
            .map_err(Failure)?;
        args.into.iter().try_for_each(|file| page::replace_tables_in_page(&page, file))?;
        Ok::<_, Failure>(page)
    };
    let find_causes = |all: &All, causes: &mut All| {
        let left = causes::rerun_with_changes(args, &sides, all, causes)?;
        append_results(&why, &left)?;
        insert(causes, left);
        Ok::<_, Failure>(())
    };
    for (turn, now) in numbers.chunks(TURN).enumerate() {
        let missing = |same: &program_runs::Same<'_>| {
            let done = |n: &u64| all.get(n).is_some_and(|of| same.iter().all(|s| of.contains_key(&s.name)));
            program_runs::Unit::all(args, &now.iter().copied().filter(|n| !done(n)).collect::<Vec<_>>(), None)
        };
        let left = program_runs::run(args, &sides, &missing)?;
        if !left.is_empty() {
            append_results(&results, &left)?;
            insert(&mut all, left);
            if turn % TURNS == TURNS - 1 {
                find_causes(&all, &mut causes)?;
            }
            write(&all, &causes)?;
            eprintln!("envisa campaign: {} of {} programs", turn * TURN + now.len(), numbers.len());
        }
    }
    find_causes(&all, &mut causes)?;
    let rows = [page::difference_rows(args, &sides, &all, &causes), page::failure_rows(&sides, &all)];
    for n in rows.iter().flat_map(BTreeMap::values).flat_map(|programs| programs.iter().take(args.reductions))
    {
        reductions::run(args, &sides, *n, &all[n])?;
        write(&all, &causes)?;
    }
    io::print(&write(&all, &causes)?)?;
    args.into.iter().try_for_each(|file| page::check_causes_explained(file))?;
    Ok(if rows.iter().all(BTreeMap::is_empty) { Exit::Fine } else { Exit::Findings })
}

/// What an earlier campaign left; a line that was cut off is as none.
fn read_earlier_results(results: &Path) -> All {
    let text = std::fs::read_to_string(results).unwrap_or_default();
    let mut all = All::new();
    insert(&mut all, text.lines().filter_map(|l| serde_json::from_str(l).ok()));
    all
}

fn insert(all: &mut All, left: impl IntoIterator<Item = Left>) {
    for l in left {
        all.entry(l.program).or_default().insert(l.side.clone(), l);
    }
}

fn append_results(results: &Path, left: &[Left]) -> Result<(), Failure> {
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

fn own_executable() -> OsString {
    std::env::current_exe().map_or_else(|_| "envisa".into(), Into::into)
}

/// Compilers and drivers among sides: each has one vote, on however many sides it is.
fn count_votes(part: &[&str]) -> usize {
    part.iter().filter_map(|side| side.split(',').next()).collect::<BTreeSet<_>>().len()
}

/// Sides that left the same, those with the most votes first.
fn parts(of: &BTreeMap<String, Left>) -> Vec<Vec<&str>> {
    let mut parts: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for (side, left) in of {
        if let Ok(left) = left.left {
            parts.entry(left).or_default().push(side);
        }
    }
    let mut parts: Vec<Vec<&str>> = parts.into_values().collect();
    parts.sort_by_key(|p| std::cmp::Reverse(count_votes(p)));
    parts
}

/// Those of [`parts`] that may be wrong: all but the first one, unless another one has as many votes.
fn suspect_groups<'a>(parts: &'a [Vec<&'a str>]) -> &'a [Vec<&'a str>] {
    match parts {
        [first, second, ..] if count_votes(first) == count_votes(second) => parts,
        _ => parts.get(1..).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vote_has_the_most_first_and_leaves_failures_out() {
        let of = |list: &[(&str, Result<u64, &str>)]| {
            let left = |s: &str, l: Result<u64, &str>| Left {
                program: 0,
                side: s.to_owned(),
                left: l.map_err(str::to_owned),
                unwritten: false,
                ms: 0,
            };
            list.iter().map(|(s, l)| ((*s).to_owned(), left(s, *l))).collect::<BTreeMap<_, _>>()
        };
        let left = of(&[("a", Ok(1)), ("a, AVX2", Ok(1)), ("b", Ok(2)), ("c", Ok(2)), ("d", Err("no"))]);
        let found = parts(&left);
        assert_eq!(found, [vec!["b", "c"], vec!["a", "a, AVX2"]]);
        assert_eq!(suspect_groups(&found), [["a", "a, AVX2"]]);
        let left = of(&[("a", Ok(1)), ("a, AVX2", Ok(1)), ("b", Ok(2)), ("d", Err("no"))]);
        assert_eq!(suspect_groups(&parts(&left)).len(), 2);
    }

    #[test]
    fn programs_reduced_to_the_same_calls_have_one_cause() {
        let program = |name: &str| {
            format!(
                "#define X(a) f(a)\nkernel void k7(global ulong *out) {{\n    ulong4 v = rhadd((ulong4)(1), as_ulong4({name}));\n\
                 if (v.x) out[get_global_id(0)] = f7_1(mad_sat (v.x, 2, 3)) + popcount(v.y);\n}}\n"
            )
        };
        assert_eq!(page::called_functions(&program("v8")), ["mad_sat", "popcount", "rhadd"]);
        assert_eq!(page::called_functions(&program("abs(v8)")), ["abs", "mad_sat", "popcount", "rhadd"]);
    }

    #[test]
    fn what_was_left_is_read_again_but_for_a_line_cut_off() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("results.jsonl");
        let line = |program| Left { program, side: "s".into(), left: Ok(5), unwritten: false, ms: 0 };
        append_results(&file, &[line(1), line(2)]).expect("it is written");
        let text = std::fs::read_to_string(&file).expect("it is there");
        std::fs::write(&file, &text[..text.len() - 4]).expect("it is written");
        append_results(&file, &[line(3)]).expect("it is written");
        assert_eq!(read_earlier_results(&file).keys().copied().collect::<Vec<_>>(), [1, 3]);
    }
}
