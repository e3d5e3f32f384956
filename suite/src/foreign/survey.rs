//! The survey: everyday kernels, each by what it asks of a compiler, side by side as those of foreign suites. Nothing is
//! tuned for them; the slowest say which class of kernels is slow.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use super::replay::{Replay, Side};
use super::suites::DEVICE;
use super::survey_arguments::{Parameter, parameters};
use super::timing::{self, Row, Run};
use crate::compare::Check;
use crate::kernel::Device;
use crate::launch::{Launch, LaunchArg};
use crate::machine::Machine;

/// How far apart floats of two drivers may be, as of foreign suites.
const TOLERANCE: f64 = 1e-3;

/// Which kernels are run.
#[derive(clap::Args)]
pub struct Args {
    /// Only kernels whose name or file contains one of these.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The device that envisa's driver shows.
    #[arg(long, default_value = DEVICE.name())]
    device: Device,
    /// Compare results, and repeat nothing for times.
    #[arg(long)]
    results: bool,
}

/// A kernel of the survey.
#[derive(Debug)]
struct Kernel {
    /// The theme of its file.
    theme: String,
    name: String,
    /// Its line: sizes, arguments, options.
    line: String,
    source: String,
}

/// The survey's kernels, in the order of their files and in these.
fn kernels() -> Result<&'static [Kernel], String> {
    static ALL: OnceLock<Result<Vec<Kernel>, String>> = OnceLock::new();
    ALL.get_or_init(read).as_deref().map_err(Clone::clone)
}

/// Reads all of them, in OpenCL C; the README of their folder says how they are written.
fn read() -> Result<Vec<Kernel>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("survey");
    let wrong = |e: std::io::Error| format!("{}: {e}", folder.display());
    let files: Result<Vec<_>, _> =
        std::fs::read_dir(&folder).map_err(wrong)?.map(|e| e.map(|e| e.path())).collect();
    let mut files = files.map_err(wrong)?;
    files.retain(|f| f.extension().is_some_and(|e| e == "cl"));
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(wrong)?;
        let theme = file.file_stem().unwrap_or_default().to_string_lossy();
        all.extend(of_text(&theme, &text));
    }
    Ok(all)
}

/// The kernels of a file.
fn of_text(theme: &str, text: &str) -> Vec<Kernel> {
    let one = |text: &str| {
        let (head, source) = text.split_once('\n')?;
        let (name, line) = head.split_once(": ")?;
        let [theme, name, line, source] = [theme, name, line, source].map(str::to_owned);
        Some(Kernel { theme, name, line, source })
    };
    text.split("\n\n// ").skip(1).filter_map(one).collect()
}

impl Kernel {
    fn wrong(&self) -> String {
        format!("the line of `{}`: `{}`", self.name, self.line)
    }

    /// Whether a device has the numbers that it computes with: there are two without doubles.
    fn is_for(&self, device: Device) -> bool {
        !(matches!(device, Device::Dg2 | Device::Tgllp) && self.source.contains("double"))
    }

    /// Its sizes, its arguments' values, and its options.
    fn parts(&self) -> Result<(&str, Vec<&str>, &str), String> {
        let mut parts = self.line.split("; ");
        let both = parts.next().zip(parts.next());
        let (sizes, values) = both.ok_or_else(|| self.wrong())?;
        Ok((sizes, values.split(", ").collect(), parts.next().unwrap_or("")))
    }

    /// Its sizes without arguments.
    fn range(&self, sizes: &str) -> Result<Launch, String> {
        let (global, local) = sizes.split_once(" by ").unwrap_or((sizes, ""));
        let numbers = |text: &str| {
            let all: Result<Vec<u64>, _> = text.split('x').map(str::parse).collect();
            all.map_err(|_| self.wrong())
        };
        let extents = numbers(global)?;
        let triple = |v: &[u64]| std::array::from_fn(|n| v.get(n).copied().unwrap_or(1));
        // As drivers choose a group where the program does not.
        let local = if local.is_empty() { vec![256] } else { numbers(local)? };
        let dims = extents.len() as u32;
        Ok(Launch { dims, global: triple(&extents), local: triple(&local), offset: [0; 3], args: Vec::new() })
    }

    /// Its function's name and parameters.
    fn function(&self) -> Result<(&str, Vec<Parameter<'_>>), String> {
        let missing = || format!("`{}` has no kernel", self.name);
        let (_, rest) = self.source.rsplit_once("kernel void ").ok_or_else(missing)?;
        let (name, rest) = rest.split_once('(').ok_or_else(missing)?;
        let (list, _) = rest.split_once(")\n{").ok_or_else(missing)?;
        Ok((name, parameters(list)?))
    }

    /// Its launch, with random numbers in what it reads and zeros in what it writes.
    fn replay(&self) -> Result<Replay, String> {
        let (sizes, values, options) = self.parts()?;
        let mut launch = self.range(sizes)?;
        let (function, parameters) = self.function()?;
        if parameters.len() != values.len() {
            return Err(self.wrong());
        }
        let mut numbers = Vec::new();
        for (p, text) in parameters.iter().zip(values) {
            let seed = launch.args.len();
            let (value, elem) = p.value(text, seed).map_err(|why| format!("{}: {why}", self.wrong()))?;
            launch.args.push(LaunchArg { name: p.name.to_owned(), value, check: elem.map(|_| Check::Exact) });
            numbers.push(elem);
        }
        Ok(Replay {
            source: self.source.clone(),
            options: options.to_owned(),
            kernel: function.to_owned(),
            launch,
            numbers,
        })
    }
}

/// Their names.
///
/// # Errors
/// If they cannot be read.
pub fn names() -> Result<impl Iterator<Item = &'static str>, String> {
    Ok(kernels()?.iter().map(|k| k.name.as_str()))
}

/// The launch of the kernel of a name.
///
/// # Errors
/// If there is none, or if what is said of it is wrong.
pub fn replay(name: &str) -> Result<Replay, String> {
    let kernel = kernels()?.iter().find(|k| k.name == name).ok_or_else(|| format!("no kernel `{name}`"))?;
    kernel.replay()
}

/// Times the survey's kernels beside the peers and shows them; `true` if all sides have the same results.
///
/// # Errors
/// If no kernel has such a name.
pub fn command(args: &Args) -> Result<bool, String> {
    let named = |k: &Kernel, o: &String| k.name.contains(o.as_str()) || k.theme.contains(o.as_str());
    let wanted = |k: &&Kernel| args.only.is_empty() || args.only.iter().any(|o| named(k, o));
    let mut run =
        Run { machine: Machine::here(), sides: BTreeMap::new(), suites: Vec::new(), rows: Vec::new() };
    for kernel in kernels()?.iter().filter(wanted).filter(|k| k.is_for(args.device)) {
        let row = row(kernel, args, &mut run.sides);
        eprintln!("{}", timing::line(&row));
        run.rows.push(row);
    }
    if run.rows.is_empty() {
        return Err("no kernel of the survey has such a name".to_owned());
    }
    if !args.results {
        println!("{}\n{}", run.sums(), run.kernels());
    }
    let wrong = run.complaints(&BTreeMap::new());
    wrong.iter().for_each(|w| println!("not explained: {w}"));
    Ok(wrong.is_empty())
}

fn row(kernel: &Kernel, args: &Args, described: &mut BTreeMap<String, String>) -> Row {
    let start = |side: Side, out: &Path| {
        let mut command = side.of_survey(&kernel.name, out)?;
        command.env("ENVISA_DEVICES", args.device.name());
        Ok(command)
    };
    let name = format!("survey/{}", kernel.name);
    let effort = if args.results { timing::ONCE } else { timing::ROUNDS };
    timing::one(name, kernel.replay(), TOLERANCE, start, (&Side::ALL, effort), described)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kernel_has_a_launch() {
        let all = kernels().unwrap();
        let mut names: Vec<&str> = all.iter().map(|k| k.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(all.len(), names.len());
        for kernel in all {
            assert_eq!(kernel.source.matches("kernel void ").count(), 1, "{}", kernel.name);
            let replay = kernel.replay().unwrap_or_else(|why| panic!("{}: {why}", kernel.name));
            let divides = |n: usize| replay.launch.global[n].is_multiple_of(replay.launch.local[n]);
            assert!((0..3).all(divides), "{}: {}", kernel.name, kernel.line);
        }
    }
}
