//! Random programs in OpenCL C through the OpenCL driver: what envisa's engines make of them is held against other
//! implementations, bit by bit.

mod run;
mod shrink;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Deserialize;

use envisa_smith::opencl as kernel;
use run::{All, How, Left, Side, TURN, device};
pub use run::{Work, work};

use crate::report::Table;

/// What to run.
#[derive(clap::Args)]
pub struct Args {
    /// The number of programs.
    #[arg(long, default_value_t = 100)]
    programs: u64,
    /// The number of the first program. A program is determined by its number.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// The implementations that run them. Those that are not installed are left out, with a message.
    #[arg(long, value_delimiter = ',', default_value = "interpreter,native,avx2,pocl,intel")]
    on: Vec<Side>,
    /// Print the text of the first program, and run nothing.
    #[arg(long)]
    print: bool,
    /// Reduce the first program, as long as the first two implementations in `--on` differ on it, and print it.
    #[arg(long)]
    shrink: bool,
    /// Write the section of `docs/RANDOM-PROGRAMS.md`.
    #[arg(long)]
    write: bool,
}

/// Why sides differ on programs, where that is known: `suite/opencl-random.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Explained {
    /// Their numbers.
    programs: Vec<u64>,
    /// Who is wrong.
    whose: String,
    /// Why.
    why: String,
}

#[derive(Deserialize, Default)]
struct Explanations {
    #[serde(default)]
    explained: Vec<Explained>,
}

fn explanations() -> Result<Vec<Explained>, String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("opencl-random.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let all: Explanations = toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(all.explained)
}

/// A program of which sides left other things.
struct Difference {
    number: u64,
    /// Sides that left the same.
    parts: Vec<Vec<Side>>,
}

/// Sides that left the same of a program, the most first.
fn parts(of: &BTreeMap<Side, Result<Vec<u64>, String>>) -> Vec<Vec<Side>> {
    let mut parts: Vec<(&Vec<u64>, Vec<Side>)> = Vec::new();
    for (side, left) in of {
        let Ok(folds) = left else { continue };
        match parts.iter_mut().find(|(f, _)| *f == folds) {
            Some((_, sides)) => sides.push(*side),
            None => parts.push((folds, vec![*side])),
        }
    }
    parts.sort_by_key(|(_, sides)| std::cmp::Reverse(sides.len()));
    parts.into_iter().map(|(_, sides)| sides).collect()
}

/// Runs programs; `true` if all sides agree, or it is known why they do not.
///
/// # Errors
/// If no side can run, or files cannot be read or written.
pub fn command(args: &Args) -> Result<bool, String> {
    let first = run::of(args.first);
    if args.print {
        print!("{}{}", kernel::PREAMBLE, first.text());
        return Ok(true);
    }
    if args.shrink {
        let [one, other, ..] = args.on[..] else { return Err("--shrink needs two of --on".into()) };
        print!("{}", shrink::smallest(&first, one, other)?);
        return Ok(true);
    }
    let mut sides = args.on.clone();
    sides.retain(|side| match side.missing() {
        None => true,
        Some(why) => {
            println!("{} is left out: {why}", side.name());
            false
        }
    });
    if !sides.iter().any(|s| s.is_envisa()) || sides.iter().all(|s| s.is_envisa()) {
        return Err("nothing to hold envisa against: install PoCL (Debian: pocl-opencl-icd), or name Intel's CPU runtime in ENVISA_INTEL_ICD".into());
    }
    let mut all = All::new();
    let end = args.first + args.programs;
    let mut at = args.first;
    while at < end {
        let next = end.min((at / TURN + 1) * TURN);
        for side in &sides {
            for Left { number, folds } in run::run(*side, at..next, How::default())? {
                all.entry(number).or_default().insert(*side, folds);
            }
        }
        at = next;
        tell(&all, at);
    }
    let text = section(args, &sides, &all, &explanations()?);
    println!("{}", text.0);
    if args.write {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/RANDOM-PROGRAMS.md");
        let page = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let before = page.split(HEAD).next().unwrap_or_default();
        let wrong =
            if text.1 { vec![] } else { vec!["programs of which sides leave different results".into()] };
        crate::performance::publish(&path, &format!("{}\n\n{}", before.trim_end(), text.0), &wrong)?;
    }
    Ok(text.1)
}

/// Tells of the programs of a turn on which sides differ.
fn tell(all: &All, end: u64) {
    for (number, of) in all.range((end - 1) / TURN * TURN..end) {
        let parts = parts(of);
        if parts.len() > 1 {
            let names: Vec<String> = parts.iter().map(|p| names(p)).collect();
            println!("program {number} on {}: {}", device(*number), names.join(" | "));
        }
        for (side, left) in of {
            if let Err(why) = left {
                let last = why.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default();
                println!("program {number} on {}: {}: {last}", device(*number), side.name());
            }
        }
    }
}

fn names(sides: &[Side]) -> String {
    sides.iter().map(|s| s.name()).collect::<Vec<_>>().join(", ")
}

/// Begins the section of the page.
pub const HEAD: &str = "## Random OpenCL C";

/// The section, and whether all is explained.
fn section(args: &Args, sides: &[Side], all: &All, known: &[Explained]) -> (String, bool) {
    let mut text = format!(
        "{HEAD}\n\nWritten by `envisa-suite opencl-random --programs {} --first {} --write`.\n\n\
         This command runs programs in OpenCL C 3.0 through the OpenCL driver, compiled by the packaged compiler \
         for pvc, skl, dg2 and tgllp in turn. They have integers of all types and vectors, floats with exact \
         operations, structures by value and by pointer, private arrays, constant tables, functions, branches, \
         switches, loops that work-items leave one by one, barriers and local memory, atomics whose result does \
         not depend on the order, reductions and scans of sub-groups where the device has them, groups of one to \
         three dimensions and odd sizes, and a buffer that ends early. Sums wrap as unsigned numbers, divisors \
         are not zero, and indices are in range, so the standard defines every value. The results of envisa's \
         engines are compared exactly with those of the other implementations.\n\n",
        args.programs, args.first
    );
    let mut table = Table::new(["", "programs", "not run"].map(str::to_owned).to_vec());
    for side in sides {
        let of = || all.values().filter_map(|p| p.get(side));
        let ran = of().filter(|l| l.is_ok()).count();
        table.row(vec![side.name().to_owned(), ran.to_string(), (of().count() - ran).to_string()]);
    }
    text += &table.to_markdown();
    let mut good = true;
    let mut rows = Table::new(
        ["program", "device", "results that agree", "cause in", "reason"].map(str::to_owned).to_vec(),
    );
    let why = |number: u64| known.iter().find(|e| e.programs.contains(&number));
    let mut any = false;
    for (number, of) in all {
        let parts = parts(of);
        let mut failed: Vec<String> = of
            .iter()
            .filter_map(|(side, left)| Some((side, left.as_ref().err()?)))
            .map(|(side, why)| format!("{}: {}", side.name(), why.lines().next().unwrap_or_default()))
            .collect();
        if parts.len() < 2 && failed.is_empty() {
            continue;
        }
        any = true;
        let d = Difference { number: *number, parts };
        let mut cells: Vec<String> = d.parts.iter().map(|p| names(p)).collect();
        cells.append(&mut failed);
        let explained = why(d.number);
        good &= explained.is_some();
        let (whose, why) = explained.map_or(("not known", "not known"), |e| (&e.whose, &e.why));
        rows.row(vec![
            d.number.to_string(),
            device(d.number).to_owned(),
            cells.join("; "),
            whose.to_owned(),
            why.to_owned(),
        ]);
    }
    match any {
        true => text += &format!("\nPrograms with different results:\n\n{}", rows.to_markdown()),
        false => text.push_str("\nAll results of all programs agree.\n"),
    }
    let _ = writeln!(
        text,
        "\n`--first N --print` prints a program; `--first N --on ONE,OTHER --shrink` reduces it."
    );
    (text, good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_follow_from_their_numbers() {
        for number in [0, 1, 77, 5000] {
            assert_eq!(run::of(number).text(), run::of(number).text());
        }
        assert_ne!(run::of(1).text().replace("k1", "k2"), run::of(2).text());
    }

    #[test]
    fn sides_that_left_the_same_are_one_part() {
        let of = |list: &[(Side, Result<Vec<u64>, String>)]| parts(&list.iter().cloned().collect());
        let (a, b, no) = (Ok(vec![1]), Ok(vec![2]), Err("no".to_owned()));
        let list = [(Side::Native, a.clone()), (Side::Pocl, b.clone()), (Side::Intel, b), (Side::Avx2, no)];
        assert_eq!(of(&list), [vec![Side::Pocl, Side::Intel], vec![Side::Native]]);
        assert_eq!(of(&[(Side::Native, a.clone()), (Side::Pocl, a)]).len(), 1);
    }
}
