//! The survey: everyday kernels, each by what it asks of a compiler, side by side as those of foreign suites. Nothing is
//! tuned for them; the slowest say which class of kernels is slow.

use std::collections::BTreeMap;

use envisa_harness::values::ValueSpec;

use super::replay::{Replay, Side};
use super::timing::{self, Row, Run};
use crate::compare::Check;
use crate::launch::{ArgValue, Launch, LaunchArg};
use crate::machine::Machine;

/// All of them, in OpenCL C; the file's head says how they are written.
const KERNELS: &str = include_str!("../../survey/kernels.cl");
/// How far apart floats of two drivers may be, as of foreign suites.
const TOLERANCE: f64 = 1e-3;
/// Most bytes of a buffer.
const MOST: u64 = 1 << 30;

/// Which kernels are run.
#[derive(clap::Args)]
pub struct Args {
    /// Only kernels whose name contains one of these.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// A kernel of the survey.
#[derive(Debug)]
struct Kernel {
    name: &'static str,
    /// Its line: sizes, and elements of buffers.
    line: &'static str,
    source: &'static str,
}

/// The survey's kernels, in their order.
fn kernels() -> impl Iterator<Item = Kernel> {
    KERNELS.split("\n\n// ").skip(1).filter_map(|text| {
        let (head, source) = text.split_once('\n')?;
        let (name, line) = head.split_once(": ")?;
        Some(Kernel { name, line, source })
    })
}

impl Kernel {
    /// Its launch, with random numbers in what it reads and zeros in what it writes.
    fn replay(&self) -> Result<Replay, String> {
        let wrong = || format!("the line of `{}`: `{}`", self.name, self.line);
        let (sizes, elements) = self.line.split_once("; ").ok_or_else(wrong)?;
        let (global, local) = sizes.split_once(" by ").unwrap_or((sizes, ""));
        let numbers = |text: &str, between: &str| {
            let all: Result<Vec<u64>, _> = text.split(between).map(str::parse).collect();
            all.map_err(|_| wrong())
        };
        let extents = numbers(global, "x")?;
        let triple = |v: &[u64], other: u64| std::array::from_fn(|n| v.get(n).copied().unwrap_or(other));
        // As drivers choose a group where the program does not.
        let local = if local.is_empty() { vec![256] } else { numbers(local, "x")? };
        let mut launch = Launch {
            dims: extents.len() as u32,
            global: triple(&extents, 1),
            local: triple(&local, 1),
            offset: [0; 3],
            args: Vec::new(),
        };
        let mut types = Vec::new();
        for (name, n) in ["a", "b", "c"].into_iter().zip(numbers(elements, ", ")?) {
            let ty = self.pointed(name).ok_or_else(|| format!("`{}` has no argument `{name}`", self.name))?;
            let (elem, count) = super::replay::element(&ty).ok_or_else(|| format!("no type `{ty}`"))?;
            let n = n * count;
            let seed = launch.args.len();
            let spec = match (name, elem.is_float()) {
                ("c", _) => format!("zeros:{elem}:{n}"),
                (_, true) => format!("rand:{elem}:{n}:{seed}:-1..1"),
                _ => format!("rand:{elem}:{n}:{seed}"),
            };
            let value = ValueSpec::parse(&spec).and_then(|s| s.materialize(MOST));
            let value = ArgValue::Buffer(value.map_err(|e| format!("{spec}: {e}"))?);
            launch.args.push(LaunchArg { name: name.to_owned(), value, check: Some(Check::Exact) });
            types.push(Some(elem));
        }
        Ok(Replay {
            source: self.source.to_owned(),
            options: String::new(),
            kernel: "k".to_owned(),
            launch,
            numbers: types,
        })
    }

    /// What an argument of the kernel points to.
    fn pointed(&self, argument: &str) -> Option<String> {
        let (_, list) = self.source.split_once("kernel void k(")?;
        let one = list.split([',', ')']).find(|a| a.ends_with(&format!("*{argument}")))?;
        one.split_whitespace().rev().nth(1).map(str::to_owned)
    }
}

/// Their names.
pub fn names() -> impl Iterator<Item = &'static str> {
    kernels().map(|k| k.name)
}

/// The launch of the kernel of a name.
///
/// # Errors
/// There is none.
pub fn replay(name: &str) -> Result<Replay, String> {
    let kernel = kernels().find(|k| k.name == name).ok_or_else(|| format!("no kernel `{name}`"))?;
    kernel.replay()
}

/// Times the survey's kernels beside the peers and shows them; `true` if all sides have the same results.
///
/// # Errors
/// If no kernel has such a name.
pub fn command(args: &Args) -> Result<bool, String> {
    let wanted = |k: &Kernel| args.only.is_empty() || args.only.iter().any(|o| k.name.contains(o.as_str()));
    let mut run =
        Run { machine: Machine::here(), sides: BTreeMap::new(), suites: Vec::new(), rows: Vec::new() };
    for kernel in kernels().filter(wanted) {
        let row = row(&kernel, &mut run.sides);
        eprintln!("{}", timing::line(&row));
        run.rows.push(row);
    }
    if run.rows.is_empty() {
        return Err("no kernel of the survey has such a name".to_owned());
    }
    println!("{}\n{}", run.sums(), run.kernels());
    let wrong = run.complaints(&BTreeMap::new());
    wrong.iter().for_each(|w| println!("not explained: {w}"));
    Ok(wrong.is_empty())
}

fn row(kernel: &Kernel, described: &mut BTreeMap<String, String>) -> Row {
    let start = |side: Side, out: &std::path::Path| side.of_survey(kernel.name, out);
    timing::one(format!("survey/{}", kernel.name), kernel.replay(), TOLERANCE, start, &Side::ALL, described)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kernel_has_a_launch() {
        let all: Vec<Kernel> = kernels().collect();
        assert_eq!(all.len(), KERNELS.matches("kernel void k(").count());
        for kernel in all {
            let replay = kernel.replay().unwrap_or_else(|why| panic!("{}: {why}", kernel.name));
            assert_eq!(replay.launch.args.len(), 3, "{}", kernel.name);
            let divides = |n: usize| replay.launch.global[n].is_multiple_of(replay.launch.local[n]);
            assert!((0..3).all(divides), "{}: {}", kernel.name, kernel.line);
        }
    }
}
