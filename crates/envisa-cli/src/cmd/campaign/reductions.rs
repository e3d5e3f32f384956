//! Programs of a campaign made small: those on which sides differ, and those that a compiler or its code fails on.

use super::{Args, Left, Side, own_executable, parts};
use crate::cmd::limited_process::{self, Ended};
use crate::cmd::smith::{kernel_arguments, kernel_outputs, launch_sizes};
use crate::cmd::{Failure, reduce};
use envisa_harness::files;
use envisa_smith::opencl::{Kernel, PREAMBLE};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// What a reduction says of its result and its cost; in its folder.
const SAID: &str = "reduction.txt";

/// A program's sizes and arguments as the command line has them.
fn launch_arguments(k: &Kernel) -> Vec<String> {
    let [global, local] = launch_sizes(k).map(|s| s.map(|n| n.to_string()).join(","));
    let mut words = vec!["--kernel".into(), format!("k{}", k.number)];
    words.extend(["--global".into(), global, "--local".into(), local]);
    for (name, value) in kernel_arguments(k) {
        words.extend(["--arg".into(), format!("{name}={value}")]);
    }
    for (name, elements) in kernel_outputs(k) {
        words.extend(["--print".into(), format!("{name}:{elements}")]);
    }
    words
}

/// What has to stay as it is while a program is reduced.
enum Kept<'a> {
    /// That two sides leave different results; the first is envisa's, which checks that the program stays a defined one.
    Difference(&'a Side, &'a Side),
    /// That one of envisa's sides says this.
    Message(&'a Side, String),
}

/// A side of most and one of the others, or one that fails.
fn choose_sides_to_reduce<'a>(sides: &'a [Side], of: &BTreeMap<String, Left>) -> Option<Kept<'a>> {
    let parts = parts(of);
    let side = |part: usize, envisa: bool| {
        let part = parts.get(part);
        sides
            .iter()
            .filter(|s| !s.is_envisa() || s.process_environment().is_empty())
            .find(|s| (s.is_envisa() || !envisa) && part.is_some_and(|p| p.contains(&s.name.as_str())))
    };
    let two = [(0, 1), (1, 0)].map(|(a, b)| side(a, true).zip(side(b, true).or(side(b, false))));
    if let Some((a, b)) = two.into_iter().flatten().next() {
        return Some(Kept::Difference(a, b));
    }
    let mut failing = sides.iter().filter(|s| s.is_envisa() && s.is_usual()).filter_map(|s| {
        let why = of.get(&s.name)?.left.as_ref().err()?;
        Some(Kept::Message(s, message(why)?.to_owned()))
    });
    failing.next()
}

/// What says of a failure that it is the same one: a code (F0010), or that the compiler crashed.
fn message(why: &str) -> Option<&str> {
    let is_code = |w: &&str| {
        w.len() == 5
            && w.starts_with(|c: char| c.is_ascii_uppercase())
            && w[1..].bytes().all(|b| b.is_ascii_digit())
    };
    let code = why.split(|c: char| !c.is_ascii_alphanumeric()).find(is_code);
    code.or_else(|| why.find("the compiler crashed").map(|at| &why[at..]))
}

/// Reduces a program, unless that is done.
pub(super) fn run(args: &Args, sides: &[Side], n: u64, of: &BTreeMap<String, Left>) -> Result<(), Failure> {
    let (folder, k) = (args.folder.join(format!("k{n}")), args.program(n));
    if folder.join("reproduce.sh").exists() {
        return Ok(());
    }
    let Some(kept) = choose_sides_to_reduce(sides, of) else { return Ok(()) };
    std::fs::create_dir_all(&folder).map_err(|e| Failure(format!("{}: {e}", folder.display())))?;
    let (file, text) = (folder.join("program.cl"), PREAMBLE.to_owned() + &k.text());
    files::write(&file, text.as_bytes()).map_err(Failure)?;
    let mut words: Vec<OsString> =
        vec![own_executable(), "reduce".into(), file.into(), "-o".into(), folder.clone().into()];
    words.extend(["--cost".into(), "--jobs".into(), args.jobs.to_string().into()]);
    words.extend(["--tries".into(), args.tries.to_string().into()]);
    match &kept {
        Kept::Difference(a, b) => {
            words.extend(["--differs".into(), a.run_options().into(), b.run_options().into(), "--".into()]);
        }
        Kept::Message(side, message) => {
            words.extend(["--message".into(), message.into(), "--".into()]);
            words.extend(side.build_options().into_iter().map(OsString::from));
        }
    }
    words.extend(launch_arguments(&k).into_iter().map(OsString::from));
    let seconds = args.timeout.saturating_mul(20);
    let said = match require_success(limited_process::run(&words, Path::new("."), seconds, &[])) {
        Ok(ended) => [ended.out, ended.err].concat(),
        Err(why) => why,
    };
    files::write(&folder.join(SAID), said.as_bytes()).map_err(Failure)?;
    let file = folder.join("reduced.cl");
    let (Kept::Difference(a, b), Ok(reduced)) = (kept, std::fs::read_to_string(&file)) else { return Ok(()) };
    if !b.is_envisa() {
        return Ok(());
    }
    let mut words: Vec<OsString> = vec![own_executable(), "diff".into(), file.into()];
    words.extend(["--a".into(), a.run_options().into(), "--b".into(), b.run_options().into(), "--".into()]);
    words.extend(reduce::launch_of(&reduced, &text, &launch_arguments(&k)));
    let said = limited_process::run(&words, Path::new("."), seconds, &[]).map_or(String::new(), |e| e.out);
    files::write(&folder.join("diff.txt"), said.as_bytes()).map_err(Failure)
}

fn require_success(ended: Option<Ended>) -> Result<Ended, String> {
    let ended = ended.ok_or("a process cannot be started")?;
    if ended.success() {
        return Ok(ended);
    }
    let first = ended.err.lines().find(|l| l.starts_with("error")).unwrap_or_default();
    Err(format!("the reduction failed: {}: {first}", ended.describe_failure()))
}

/// What was said of a program's reduction: its result, and its cost.
pub(super) fn read_reduction_result(args: &Args, n: u64) -> Option<(String, String)> {
    let said = std::fs::read_to_string(args.folder.join(format!("k{n}")).join(SAID)).ok()?;
    let behind = |mark: &str| Some(said.lines().find_map(|l| l.split_once(mark))?.1.trim().to_owned());
    behind("reduced.cl:").zip(behind("envisa reduce:")).or_else(|| Some((said.clone(), String::new())))
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn failures_are_the_same_by_their_code_or_signal() {
        assert_eq!(message("the run: F0010"), Some("F0010"));
        assert_eq!(
            message("the compiler: the compiler crashed, signal: 6"),
            Some("the compiler crashed, signal: 6")
        );
        assert_eq!(message("the compiler: exit status: 245"), None);
    }
}
