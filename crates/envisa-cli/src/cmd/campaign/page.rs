//! What a campaign found: differences by their cause, and failures. The tables may stand in a page that people write, who explain each
//! cause there.

use super::{All, Args, Left, Side, causes, parts, reductions, suspect_groups};
use crate::cmd::Failure;
use envisa_harness::blocks::{block, replace_block};
use envisa_harness::files;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// The block of a page in which the tables stand.
const BLOCK: &str = "campaign";
/// The header of tables whose rows are explained.
const EXPLAINED: &str = "| whose result: cause | programs | which |";
/// Programs that a row names.
const NAMED: usize = 12;

/// Where a difference begins, by the names of instructions: what has the same beginning is taken for one cause.
fn cause_of_difference(folder: &Path) -> String {
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
    match called_functions(&reduced).join(", ") {
        none if none.is_empty() => "not known".into(),
        all => format!("the reduced program calls {all}"),
    }
}

/// Functions of the language that a program calls. Where a difference cannot be followed into the code, as in another driver, programs
/// that are reduced to the same calls are taken for one cause.
pub(super) fn called_functions(text: &str) -> Vec<&str> {
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

/// Sides by name. Engines that run the same build are named if they have another result than native code.
fn side_names(part: &[&str], of: &BTreeMap<String, Left>, sides: &[Side]) -> String {
    let has_result = |side: &&Side| of.get(&side.name).is_some_and(|l| l.left.is_ok());
    let has_all = |one: &Side| {
        let mut same = sides.iter().filter(|s| s.build_options() == one.build_options()).filter(has_result);
        same.all(|s| part.contains(&s.name.as_str()))
    };
    let named = sides.iter().filter(|s| part.contains(&s.name.as_str()) && (s.is_usual() || !has_all(s)));
    named.map(|s| s.name.as_str()).collect::<Vec<_>>().join(" and ")
}

/// Why sides differ, in a few words.
fn explain_difference(
    args: &Args,
    sides: &[Side],
    n: u64,
    of: &BTreeMap<String, Left>,
    known: &All,
) -> String {
    // What reads registers that nothing writes needs no other reason for another result.
    let sound = parts(of).into_iter().filter(|part| !part.iter().all(|side| of[*side].unwritten));
    if sound.count() == 1 {
        return "registers that nothing writes (W0824)".into();
    }
    match causes::changes_that_explain(sides, of, known.get(&n)).join(" or ") {
        none if none.is_empty() => cause_of_difference(&args.folder.join(format!("k{n}"))),
        plain if plain.starts_with('-') => "optimisation".into(),
        functions => functions,
    }
}

/// Programs by whose results they lack agreement on and why.
pub(super) type Rows = BTreeMap<String, Vec<u64>>;

/// Programs with another result than most, by cause.
pub(super) fn difference_rows(args: &Args, sides: &[Side], all: &All, known: &All) -> Rows {
    let mut rows = Rows::new();
    for (n, of) in all {
        let parts = parts(of);
        if parts.len() > 1 {
            let named: Vec<String> =
                suspect_groups(&parts).iter().map(|p| side_names(p, of, sides)).collect();
            let key = format!("{}: {}", named.join(" or "), explain_difference(args, sides, *n, of, known));
            rows.entry(key).or_default().push(*n);
        }
    }
    rows
}

/// Programs without a result, by side and what failed.
pub(super) fn failure_rows(sides: &[Side], all: &All) -> Rows {
    let mut rows = Rows::new();
    for (n, of) in all {
        for side in sides {
            let Some(Err(why)) = of.get(&side.name).map(|l| &l.left) else { continue };
            // What a compiler does not compile, no engine runs.
            let usual = sides.iter().find(|s| s.is_usual() && s.build_options() == side.build_options());
            let same = usual.and_then(|u| of.get(&u.name)).is_some_and(|l| l.left.as_ref() == Err(why));
            if side.is_usual() || !same {
                // Without the names in what is said of code.
                let why = why.split('`').step_by(2).collect::<Vec<_>>().join("…");
                rows.entry(format!("{}: {why}", side.name)).or_default().push(*n);
            }
        }
    }
    rows
}

/// The tables, and what was run.
pub(super) fn page(args: &Args, sides: &[Side], all: &All, known: &All) -> String {
    // As most, another, none, milliseconds.
    let mut counts: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
    for of in all.values() {
        let parts = parts(of);
        for (side, left) in of {
            let kind = match &left.left {
                Ok(_) if parts[0].contains(&side.as_str()) => 0,
                Ok(_) => 1,
                Err(_) => 2,
            };
            let counts = counts.entry(side).or_default();
            counts[kind] += 1;
            counts[3] += left.ms;
        }
    }
    let milliseconds: u64 = counts.values().map(|c| c[3]).sum();
    let seconds = |ms: u64, of: u64| format!("{:.2}", ms as f64 / 1000.0 / of.max(1) as f64);
    let mut text = format!(
        "{} programs ({}) ran on {} sides. A program takes {} s of CPU time on all of them.\n\n\
         | side | the same as most | another result | none | CPU time of a program in s |\n\
         | --- | --- | --- | --- | --- |\n",
        all.len(),
        format_ranges(all.keys().copied()).join(", "),
        sides.len(),
        seconds(milliseconds, all.len() as u64),
    );
    for side in sides {
        let [most, other, none, ms] = counts.get(side.name.as_str()).copied().unwrap_or_default();
        let cost = seconds(ms, most + other + none);
        let _ = writeln!(text, "| {} | {most} | {other} | {none} | {cost} |", side.name);
    }
    text.push_str(
        "\nPrograms with another result than most (\"or\": with as many votes on both sides), by cause:\n\n",
    );
    push_table(&difference_rows(args, sides, all, known), &mut text);
    text.push_str("\nPrograms without a result:\n\n");
    push_table(&failure_rows(sides, all), &mut text);
    let reduced: Vec<_> =
        all.keys().filter_map(|n| Some((n, reductions::read_reduction_result(args, *n)?))).collect();
    if !reduced.is_empty() {
        text.push_str("\nReductions:\n\n| program | reduced to | cost |\n| --- | --- | --- |\n");
        for (n, (size, cost)) in reduced {
            let _ = writeln!(text, "| {n} | {size} | {cost} |");
        }
    }
    text
}

/// Numbers in a row, as `first to last`.
fn format_ranges(numbers: impl Iterator<Item = u64>) -> Vec<String> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for n in numbers {
        match all.last_mut() {
            Some((_, last)) if *last + 1 == n => *last = n,
            _ => all.push((n, n)),
        }
    }
    all.into_iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a} to {b}") }).collect()
}

fn push_table(rows: &Rows, text: &mut String) {
    let _ = writeln!(text, "{EXPLAINED}\n| --- | --- | --- |");
    for (key, programs) in rows {
        let mut named: Vec<String> = programs.iter().take(NAMED).map(u64::to_string).collect();
        named.extend((programs.len() > NAMED).then(|| "…".to_owned()));
        let _ = writeln!(text, "| {} | {} | {} |", key.replace('|', "/"), programs.len(), named.join(", "));
    }
}

/// Puts the tables into a page, in the place of earlier ones.
pub(super) fn replace_tables_in_page(tables: &str, file: &Path) -> Result<(), Failure> {
    let page = std::fs::read_to_string(file).map_err(|e| Failure(format!("{}: {e}", file.display())))?;
    files::write(file, replace_block(&page, BLOCK, &format!("\n{tables}\n")).as_bytes()).map_err(Failure)
}

/// Checks that a page explains each cause in its tables: by a line that begins with `- **CAUSE**`.
pub(super) fn check_causes_explained(file: &Path) -> Result<(), Failure> {
    let page = std::fs::read_to_string(file).map_err(|e| Failure(format!("{}: {e}", file.display())))?;
    let missing = unexplained_causes(&page);
    if missing.is_empty() {
        return Ok(());
    }
    let lines: String = missing.iter().map(|key| format!("\n- **{key}**: …")).collect();
    Err(Failure(format!("{}: these causes are not explained, by lines like{lines}", file.display())))
}

fn unexplained_causes(page: &str) -> BTreeSet<&str> {
    let known: BTreeSet<&str> =
        page.lines().filter_map(|l| Some(l.strip_prefix("- **")?.split_once("**")?.0)).collect();
    let tables = block(page, BLOCK).unwrap_or_default().split(EXPLAINED).skip(1);
    let rows = tables.flat_map(|t| t.trim_start().lines().skip(1).take_while(|l| l.starts_with('|')));
    rows.filter_map(|l| Some(l.strip_prefix("| ")?.split_once(" | ")?.0))
        .filter(|k| !known.contains(k) && !is_part_of(k, &known))
        .collect()
}

/// Is a cause on which as many sides vote against each other one that is explained of a campaign with more sides? One part of the vote
/// then had the same reason there, alone or with others.
fn is_part_of(cause: &str, known: &BTreeSet<&str>) -> bool {
    let Some((sides, why)) = cause.split_once(": ") else { return false };
    let parts = |sides: &'_ str| -> Vec<BTreeSet<String>> {
        sides.split(" or ").map(|part| part.split(" and ").map(str::to_owned).collect()).collect()
    };
    let own = parts(sides);
    own.len() > 1
        && known.iter().filter_map(|k| k.split_once(": ")).any(|(others, reason)| {
            reason == why && parts(others).iter().any(|other| own.iter().any(|part| part.is_subset(other)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_put_in_the_place_of_earlier_ones_and_each_cause_has_to_be_explained() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("page.md");
        std::fs::write(
            &file,
            "# Page\n<!-- begin campaign -->\nold\n<!-- end campaign -->\n- **a: one**: it is known.\n",
        )
        .expect("it is written");
        let mut tables = String::new();
        push_table(
            &Rows::from([("a: one".into(), vec![5, 6]), ("b: two".into(), (0..20).collect())]),
            &mut tables,
        );
        replace_tables_in_page(&tables, &file).expect("it is written");
        let page = std::fs::read_to_string(&file).expect("it is there");
        assert!(
            page.contains(
                "| a: one | 2 | 5, 6 |\n| b: two | 20 | 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … |\n"
            ),
            "{page}"
        );
        assert!(page.starts_with("# Page\n") && !page.contains("old"), "{page}");
        assert_eq!(format_ranges([1, 2, 3, 7, 9, 10].into_iter()), ["1 to 3", "7", "9 to 10"]);
        assert_eq!(unexplained_causes(&page), BTreeSet::from(["b: two"]));
        assert!(check_causes_explained(&file).is_err());
        std::fs::write(&file, page + "- **b: two**: it is known, too.\n").expect("it is written");
        assert!(check_causes_explained(&file).is_ok());
    }

    #[test]
    fn with_fewer_sides_a_vote_that_nobody_wins_has_the_reasons_of_one_with_more() {
        let known = BTreeSet::from(["pocl: abs", "packaged, dg2 and newer, dg2 or pocl and intel: scan"]);
        assert!(is_part_of("packaged, dg2 or pocl: abs", &known));
        assert!(is_part_of("packaged, dg2 or pocl: scan", &known));
        for new in
            ["packaged, dg2 or intel: abs", "packaged, dg2 or pocl: other", "intel: abs", "newer, dg2: scan"]
        {
            assert!(!is_part_of(new, &known), "{new}");
        }
    }

    #[test]
    fn the_page_of_compiler_bugs_explains_each_cause_and_its_tables_are_whole() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/COMPILER-BUGS.md");
        assert!(check_causes_explained(&file).is_ok(), "{:?}", check_causes_explained(&file));
        let page = std::fs::read_to_string(&file).expect("it is there");
        assert_eq!(block(&page, BLOCK).map(|tables| tables.matches(EXPLAINED).count()), Some(2));
        let mut cells = 0;
        for line in page.lines() {
            let now = if line.starts_with('|') { line.matches(" | ").count() + 1 } else { 0 };
            assert!(cells == 0 || now == 0 || cells == now, "{line}");
            cells = now;
        }
    }
}
