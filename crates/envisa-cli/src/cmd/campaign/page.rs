//! What a campaign found: differences by their cause, and failures.

use super::{All, Args, Left, Side, parts};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

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
pub(super) fn called(text: &str) -> Vec<&str> {
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
pub(super) fn page(args: &Args, sides: &[Side], all: &All) -> String {
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
                Some(Left { left: Ok(_), .. }) if parts(of)[0].contains(&side.name.as_str()) => most += 1,
                Some(Left { left: Ok(_), .. }) => other += 1,
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
            // What reads registers that nothing writes needs no other reason for another result.
            let unwritten = parts[1..].iter().flatten().all(|side| of[*side].unwritten);
            let cause = match unwritten {
                true => "the code reads registers that nothing writes (W0824)".to_owned(),
                false => cause(&args.folder.join(format!("k{n}"))),
            };
            causes.entry((named.join(" | "), cause)).or_default().push(*n);
        }
        for (side, left) in of {
            if let Err(why) = &left.left {
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
