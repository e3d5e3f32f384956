//! Programs of which implementations leave different results: what differs, under which circumstances it does not, and whose fault it
//! is where that is known.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Deserialize;

use super::run::{All, DEVICES, How, Side, device, run};
use super::{Args, HEAD};
use crate::report::Table;

/// What the sides left of one program.
type Results = BTreeMap<Side, Result<Vec<u64>, String>>;

/// An entry of `suite/opencl-random.toml`: why sides differ on programs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explained {
    /// The numbers of the programs; without any, every program that `failure` or `alone` is true of.
    #[serde(default)]
    programs: Vec<u64>,
    /// Sides that have no result, and a part of their messages.
    failure: Option<(Vec<Side>, String)>,
    /// The side that alone has another result: all others, envisa's engines and its other builds among them, have one result.
    alone: Option<Side>,
    /// Whose fault it is.
    whose: String,
    /// Why.
    why: String,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Explanations {
    #[serde(default)]
    explained: Vec<Explained>,
}

/// Reads `suite/opencl-random.toml`.
///
/// # Errors
/// If it cannot be read or is not as it should be.
pub fn explanations() -> Result<Vec<Explained>, String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("opencl-random.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let all: Explanations = toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(all.explained)
}

/// A program of which sides have different results, or of which some have none.
pub struct Difference {
    number: u64,
    /// Sides with the same results, the largest group first.
    groups: Vec<Vec<Side>>,
    /// The values that differ between any two groups: see `Left::folds`.
    values: Vec<usize>,
    /// Sides without results, and why.
    failures: Vec<(Side, String)>,
    /// What envisa's interpreter has as a result of other builds of the program, if sides have different results.
    builds: Vec<OtherBuild>,
}

/// Another build of a program: not optimised, or for another device.
struct OtherBuild {
    name: String,
    /// The group with the same result, or why there is none.
    result: Result<usize, &'static str>,
}

/// Sides with the same results of a program, the largest group first.
fn groups(of: &Results) -> Vec<(&Vec<u64>, Vec<Side>)> {
    let mut groups: Vec<(&Vec<u64>, Vec<Side>)> = Vec::new();
    for (side, left) in of {
        let Ok(folds) = left else { continue };
        match groups.iter_mut().find(|(f, _)| *f == folds) {
            Some((_, sides)) => sides.push(*side),
            None => groups.push((folds, vec![*side])),
        }
    }
    groups.sort_by_key(|(_, sides)| std::cmp::Reverse(sides.len()));
    groups
}

/// The programs of a turn on which sides differ. Where envisa differs from a peer, its interpreter runs the program again, as compiled
/// without optimisation and as compiled for the other devices.
///
/// # Errors
/// If a process cannot be started.
pub fn differences(turn: &All) -> Result<Vec<Difference>, String> {
    let mut all = Vec::new();
    for (number, of) in turn {
        let groups = groups(of);
        let failures: Vec<(Side, String)> = of
            .iter()
            .filter_map(|(side, left)| {
                let why = left.as_ref().err()?;
                let line = why.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default();
                Some((*side, line.to_owned()))
            })
            .collect();
        // Among envisa's engines alone, what none of them runs is not a difference.
        let none_runs = groups.is_empty() && of.keys().all(|s| s.is_envisa());
        if groups.len() < 2 && (failures.is_empty() || none_runs) {
            continue;
        }
        let values = (0..groups.first().map_or(0, |g| g.0.len()))
            .filter(|v| groups.iter().any(|g| g.0.get(*v) != groups[0].0.get(*v)))
            .collect();
        let builds = match groups.len() {
            0 | 1 => Vec::new(),
            _ => other_builds(*number, &groups)?,
        };
        let groups = groups.into_iter().map(|(_, sides)| sides).collect();
        all.push(Difference { number: *number, groups, values, failures, builds });
    }
    Ok(all)
}

/// What envisa's interpreter makes of other builds of a program, compared with the groups of those that ran already.
fn other_builds(number: u64, groups: &[(&Vec<u64>, Vec<Side>)]) -> Result<Vec<OtherBuild>, String> {
    let mut all = Vec::new();
    let others =
        DEVICES.iter().filter(|d| **d != device(number)).map(|d| (format!("on {d}"), false, Some(*d)));
    for (name, plain, device) in std::iter::once(("not optimised".to_owned(), true, None)).chain(others) {
        let how = How { plain, device, ..How::default() };
        let left = run(Side::Interpreter, number..number + 1, how)?.pop().map(|l| l.folds);
        let result = match &left {
            Some(Ok(folds)) => groups.iter().position(|g| g.0 == folds).ok_or("something else"),
            _ => Err("no result"),
        };
        all.push(OtherBuild { name, result });
    }
    Ok(all)
}

fn names(sides: &[Side]) -> String {
    sides.iter().map(|s| s.name()).collect::<Vec<_>>().join(", ")
}

impl Explained {
    /// Whose fault it is that sides differ on the program of a number, if it is named by that.
    pub fn of(known: &[Explained], number: u64) -> Option<&str> {
        known.iter().find(|e| e.programs.contains(&number)).map(|e| e.whose.as_str())
    }
}

impl Difference {
    /// The program's number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whose fault it is, if that is known.
    pub fn whose<'a>(&self, known: &'a [Explained]) -> Option<&'a str> {
        self.explained(known).map(|e| e.whose.as_str())
    }

    /// Do envisa's engines have different results, or some of them none?
    pub fn engines_differ(&self) -> bool {
        let with = self.groups.iter().filter(|sides| sides.iter().any(|s| s.is_envisa())).count();
        with + usize::from(self.failures.iter().any(|(s, _)| s.is_envisa())) > 1
    }

    /// Why, if that is known. Every failure has to be, and different results have to be known by the program's number.
    fn explained<'a>(&self, known: &'a [Explained]) -> Option<&'a Explained> {
        if let Some(by_number) = known.iter().find(|e| e.programs.contains(&self.number)) {
            return Some(by_number);
        }
        let rule = |side: Side, why: &str| {
            known
                .iter()
                .find(|e| e.failure.as_ref().is_some_and(|(s, part)| s.contains(&side) && why.contains(part)))
        };
        let alone = |side: Side| {
            let [one, other] = &self.groups[..] else { return false };
            let group = usize::from(*other == [side]);
            let of_builds = |is: Result<usize, &'static str>| self.builds.iter().any(|b| b.result == is);
            (*one == [side] || *other == [side])
                && self.failures.is_empty()
                && of_builds(Ok(1 - group))
                && !of_builds(Ok(group))
                && !of_builds(Err("something else"))
        };
        if let Some(rule) = known.iter().find(|e| e.alone.is_some_and(alone)) {
            return Some(rule);
        }
        let mut rules = self.failures.iter().map(|(side, why)| rule(*side, why));
        if self.groups.len() > 1 || rules.clone().any(|r| r.is_none()) {
            None
        } else {
            rules.next().flatten()
        }
    }

    /// Who has which result, and who none.
    fn results(&self) -> String {
        let mut cells: Vec<String> = self.groups.iter().map(|sides| names(sides)).collect();
        let mut at = 0;
        while let Some((_, why)) = self.failures.get(at) {
            let alike =
                self.failures[at..].iter().take_while(|f| f.1 == *why).map(|f| f.0).collect::<Vec<_>>();
            cells.push(format!("{}: {why}", names(&alike)));
            at += alike.len();
        }
        cells.join(" | ")
    }

    /// What is printed while programs run.
    pub fn line(&self, known: &[Explained]) -> String {
        let mut line = format!("program {} on {}: {}", self.number, device(self.number), self.results());
        if !self.values.is_empty() {
            let values: Vec<String> = self.values.iter().map(ToString::to_string).collect();
            let _ = write!(line, "; values {}", values.join(", "));
            for b in &self.builds {
                let as_whom = match b.result {
                    Ok(group) => format!("as {}", self.groups[group].last().map_or("", |s| s.name())),
                    Err(why) => why.to_owned(),
                };
                let _ = write!(line, "; {}: {as_whom}", b.name);
            }
        }
        let whose = self.explained(known).map_or("not explained", |e| &e.whose);
        let _ = write!(line, "; {whose}");
        line
    }
}

/// The section of the page, and whether every difference is explained.
pub fn section(
    args: &Args,
    sides: &[Side],
    all: &All,
    found: &[Difference],
    known: &[Explained],
) -> (String, bool) {
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
    let mut compared = true;
    let mut table = Table::new(["", "programs", "not run"].map(str::to_owned).to_vec());
    for side in sides {
        let of = || all.values().filter_map(|p| p.get(side));
        let ran = of().filter(|l| l.is_ok()).count();
        table.row(vec![side.name().to_owned(), ran.to_string(), (of().count() - ran).to_string()]);
        // A side that runs little has compared little.
        compared &= 10 * ran >= 9 * of().count();
    }
    text += &table.to_markdown();
    let mut classes: BTreeMap<(&str, &str), Vec<&Difference>> = BTreeMap::new();
    for d in found {
        let class = d.explained(known).map_or(("not known", "not known"), |e| (&e.whose, &e.why));
        classes.entry(class).or_default().push(d);
    }
    if classes.is_empty() {
        text.push_str("\nAll results of all programs agree.\n");
    } else {
        let head = ["programs", "first ones", "results of the first that agree", "cause in", "reason"];
        let mut rows = Table::new(head.map(str::to_owned).to_vec());
        for ((whose, why), of) in &classes {
            let first: Vec<String> =
                of.iter().take(8).map(|d| format!("{} ({})", d.number, device(d.number))).collect();
            let results = of[0].results().replace('|', "against");
            rows.row(vec![of.len().to_string(), first.join(", "), results, (*whose).into(), (*why).into()]);
        }
        let _ = write!(text, "\nPrograms with different results, by cause:\n\n{}", rows.to_markdown());
    }
    text.push_str(
        "\n`--first N --print` prints a program; `--first N --on ONE,OTHER --shrink` reduces it.\n",
    );
    if !compared {
        text.push_str("\n**A side did not run one program in ten.**\n");
    }
    (text, compared && !classes.keys().any(|(whose, _)| *whose == "not known"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(list: &[(Side, Result<Vec<u64>, &str>)]) -> Vec<Difference> {
        let of = list.iter().map(|(s, r)| (*s, r.clone().map_err(str::to_owned))).collect();
        differences(&All::from([(7, of)])).unwrap()
    }

    #[test]
    fn sides_with_the_same_results_are_one_group() {
        let of = [(Side::Native, Ok(vec![1])), (Side::Pocl, Ok(vec![2])), (Side::Intel, Ok(vec![2]))];
        let of: Results = of.into_iter().collect();
        let sides: Vec<Vec<Side>> = groups(&of).into_iter().map(|g| g.1).collect();
        assert_eq!(sides, [vec![Side::Pocl, Side::Intel], vec![Side::Native]]);
        assert!(found(&[(Side::Native, Ok(vec![1])), (Side::Pocl, Ok(vec![1]))]).is_empty());
    }

    #[test]
    fn what_no_engine_runs_differs_from_a_peer_only() {
        let engines = [(Side::Interpreter, Err("refused")), (Side::Native, Err("refused"))];
        assert!(found(&engines).is_empty());
        let [one, other] = engines.clone();
        assert_eq!(found(&[one.clone(), other, (Side::Pocl, Ok(vec![1]))]).len(), 1);
        assert_eq!(found(&[one, (Side::Native, Ok(vec![1]))]).len(), 1);
    }

    #[test]
    fn a_failure_is_explained_by_its_side_and_message_only() {
        let of = |side| {
            let rule = Explained {
                programs: vec![],
                failure: Some((vec![side], "crashed".into())),
                alone: None,
                whose: "a compiler".into(),
                why: "it crashes".into(),
            };
            let found = found(&[(Side::Native, Err("the compiler crashed")), (Side::Pocl, Ok(vec![1]))]);
            found[0].explained(&[rule]).is_some()
        };
        assert!(of(Side::Native));
        assert!(!of(Side::Pocl));
    }
}
