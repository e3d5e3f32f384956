//! Random programs in OpenCL C through the OpenCL driver: what envisa's engines make of them is held against other
//! implementations, bit by bit.

mod differences;
mod record;
mod run;
mod shrink;

use std::path::PathBuf;

use differences::{Explained, differences, explanations, section};
use envisa_smith::opencl as kernel;
use record::Runs;
use run::{All, How, Left, Side, TURN};
pub use run::{Work, work};

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
    #[arg(long, value_delimiter = ',', default_value = "unoptimized,interpreter,native,avx2,pocl,intel")]
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
    /// Add this run to `suite/opencl-random-runs.toml`, and write the page's table of all runs.
    #[arg(long)]
    record: bool,
    /// Only write the page's table of all runs.
    #[arg(long)]
    table: bool,
}

/// Runs programs; `true` if all sides agree, or it is known why they do not.
///
/// # Errors
/// If no side can run, or files cannot be read or written.
pub fn command(args: &Args) -> Result<bool, String> {
    if args.table {
        let (runs, known) = (Runs::read()?, explanations()?);
        write_runs(&runs, &known)?;
        return Ok(runs.is_explained(&known));
    }
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
    if !sides.iter().any(|s| s.is_envisa()) || sides.len() < 2 {
        return Err("there is nothing to compare envisa with: name several engines, install PoCL (Debian: pocl-opencl-icd), \
                    or name Intel's CPU runtime in ENVISA_INTEL_ICD"
            .into());
    }
    if args.write && sides.iter().all(|s| s.is_envisa()) {
        return Err("the page needs a run that compares envisa with PoCL or Intel's CPU runtime".into());
    }
    let known = explanations()?;
    let (mut all, mut found) = (All::new(), Vec::new());
    let end = args.first + args.programs;
    let mut at = args.first;
    while at < end {
        let next = end.min((at / TURN + 1) * TURN);
        let mut turn = All::new();
        for side in &sides {
            for Left { number, folds } in run::run(*side, at..next, How::default())? {
                turn.entry(number).or_default().insert(*side, folds);
            }
        }
        for difference in differences(&turn)? {
            println!("{}", difference.line(&known));
            found.push(difference);
        }
        all.append(&mut turn);
        at = next;
    }
    let text = section(args, &sides, &all, &found, &known);
    println!("{}", text.0);
    if args.write {
        let (path, page) = page()?;
        let before = page.split(HEAD).next().unwrap_or_default();
        let wrong =
            if text.1 { vec![] } else { vec!["programs with different results, or too few that ran".into()] };
        let runs = Runs::read()?.section(&known);
        crate::performance::publish(&path, &format!("{}\n\n{}{runs}", before.trim_end(), text.0), &wrong)?;
    }
    if args.record {
        let mut runs = Runs::read()?;
        runs.add(record::run_of(args.first, args.programs, &sides, &found, &known)?)?;
        write_runs(&runs, &known)?;
    }
    Ok(text.1)
}

/// The page `docs/RANDOM-PROGRAMS.md`: where it is, and its text.
fn page() -> Result<(PathBuf, String), String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/RANDOM-PROGRAMS.md");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok((path, text))
}

/// Writes the page's table of all runs, which is its end.
fn write_runs(runs: &Runs, known: &[Explained]) -> Result<(), String> {
    let (path, page) = page()?;
    let before = page.split("\n### All runs\n").next().unwrap_or_default();
    std::fs::write(&path, format!("{}\n{}", before.trim_end(), runs.section(known)))
        .map_err(|e| format!("{}: {e}", path.display()))
}

/// Begins the section of the page.
pub const HEAD: &str = "## Random OpenCL C";

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
}
