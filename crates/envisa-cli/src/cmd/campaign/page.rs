//! What a campaign found: differences by their cause, and failures.

use super::{All, Args, Side, causes, parts, suspects};
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
pub(super) fn page(args: &Args, sides: &[Side], all: &All, known: &All) -> String {
    // As most, another, none.
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let mut differences: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    let mut failures: BTreeMap<(&str, &str), Vec<u64>> = BTreeMap::new();
    for (n, of) in all {
        let parts = parts(of);
        for (side, left) in of {
            let kind = match &left.left {
                Ok(_) if parts[0].contains(&side.as_str()) => 0,
                Ok(_) => 1,
                Err(why) => {
                    failures.entry((side, why)).or_default().push(*n);
                    2
                }
            };
            counts.entry(side).or_default()[kind] += 1;
        }
        if parts.len() > 1 {
            let suspects = suspects(&parts);
            let named: Vec<String> = suspects.iter().map(|p| p.join("; ")).collect();
            // What reads registers that nothing writes needs no other reason for another result.
            let sound = parts.iter().filter(|part| !part.iter().all(|side| of[*side].unwritten));
            let all_unwritten = sound.count() == 1;
            let changes = causes::found(sides, of, known.get(n));
            let cause = match &changes[..] {
                _ if all_unwritten => "the code reads registers that nothing writes (W0824)".to_owned(),
                [change] if change.starts_with('-') => format!("as others with {change}"),
                [_, ..] => format!("as others with {} written out", changes.join(" or ")),
                [] => cause(&args.folder.join(format!("k{n}"))),
            };
            differences.entry((named.join(" | "), cause)).or_default().push(*n);
        }
    }
    let mut text = format!(
        "# Campaign\n\n{} programs of {} from number {}, each on {} sides.\n\n\
         | side | the same as most | another result | none |\n| --- | --- | --- | --- |\n",
        all.len(),
        args.programs,
        args.first,
        sides.len()
    );
    for side in sides {
        let [most, other, none] = counts.get(side.name.as_str()).copied().unwrap_or_default();
        let _ = writeln!(text, "| {} | {most} | {other} | {none} |", side.name);
    }
    let numbers = |all: &[u64]| all.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    text.push_str("\n## Other results than most\n\nBy who has them (with as many votes on both sides: `|`), and by where the difference begins.\n\n");
    for ((who, cause), programs) in &differences {
        let _ = writeln!(text, "- {who}: {cause}: programs {}", numbers(programs));
    }
    text.push_str("\n## No results\n\n");
    for ((side, why), programs) in &failures {
        let _ = writeln!(text, "- {side}: {why}: programs {}", numbers(programs));
    }
    text
}
