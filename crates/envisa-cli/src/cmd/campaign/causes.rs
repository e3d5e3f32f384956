//! Why a side may have another result than others: programs run again with a built-in function of the language written out, and without
//! optimisation. If the result is then that of others, the difference comes from what the compiler makes of the function, or from its
//! optimisations.

use super::{All, Args, Left, Level, Side, parts, program_runs, suspect_groups};
use crate::cmd::Failure;
use envisa_smith::opencl::{definition_of, replaceable_functions};
use std::collections::BTreeMap;

/// The change that is no function.
const PLAIN: &str = "-cl-opt-disable";

fn change_names() -> impl Iterator<Item = &'static str> {
    replaceable_functions().chain([PLAIN])
}

/// What a change puts before programs.
pub(super) fn text_before_program(change: &str) -> String {
    if change == PLAIN { String::new() } else { definition_of(change) }
}

impl Side {
    /// The same with a change.
    pub(super) fn with(&self, change: &str) -> Side {
        let options = if change == PLAIN { Level::Plain.options().0 } else { self.options };
        let name = format!("{}: {change}", self.name);
        Side { name, options, change: Some(change.to_owned()), ..self.clone() }
    }

    /// Can a change make a difference to a program?
    fn is_changed(&self, change: &str, text: &str) -> bool {
        if change == PLAIN {
            self.options != Level::Plain.options().0
        } else {
            text_calls_function(text, change)
        }
    }
}

/// Runs the programs on whose results sides do not agree again, with each change, where that is not known yet.
///
/// # Errors
/// As [`program_runs::run`].
pub(super) fn rerun_with_changes(
    args: &Args,
    sides: &[Side],
    all: &All,
    known: &All,
) -> Result<Vec<Left>, Failure> {
    // By side and change.
    let mut programs: BTreeMap<(String, &str), Vec<u64>> = BTreeMap::new();
    for (n, of) in all {
        let parts = parts(of);
        if parts.len() < 2 {
            continue;
        }
        let suspected = suspect_groups(&parts).iter().flatten().filter(|side| !of[**side].unwritten);
        let text = args.program(*n).text();
        for side in suspected.filter_map(|name| sides.iter().find(|s| s.name == *name)) {
            let is_known = |c: &str| known.get(n).is_some_and(|of| of.contains_key(&side.with(c).name));
            let changes =
                change_names().filter(|c| side.is_usual() && side.is_changed(c, &text) && !is_known(c));
            changes.for_each(|c| programs.entry((side.name.clone(), c)).or_default().push(*n));
        }
    }
    let usual: Vec<Side> = sides.iter().filter(|s| s.is_usual()).cloned().collect();
    let units = |same: &program_runs::Same<'_>| {
        let own = programs.iter().filter(|((side, _), _)| same.iter().any(|s| s.name == *side));
        own.flat_map(|((_, change), n)| program_runs::Unit::all(args, n, Some(change))).collect()
    };
    program_runs::run(args, &usual, &units)
}

/// Does a text call a function?
fn text_calls_function(text: &str, function: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut all = text.match_indices(function);
    all.any(|(at, _)| !text[..at].ends_with(inside) && text[at + function.len()..].starts_with('('))
}

/// The changes with which a side that differs has the result of others. Optimisation is no news where a function is named.
pub(super) fn changes_that_explain(
    sides: &[Side],
    of: &BTreeMap<String, Left>,
    known: Option<&BTreeMap<String, Left>>,
) -> Vec<&'static str> {
    let parts = parts(of);
    let mut all = Vec::new();
    for part in suspect_groups(&parts) {
        let others: Vec<&Left> =
            of.values().filter(|l| l.left.is_ok() && !part.contains(&l.side.as_str())).collect();
        for side in sides.iter().filter(|s| part.contains(&s.name.as_str())) {
            let cured = change_names().filter(|c| {
                let left = known.and_then(|k| k.get(&side.with(c).name));
                left.is_some_and(|l| others.iter().any(|o| o.left == l.left))
            });
            all.extend(cured);
        }
    }
    all.sort_unstable();
    all.dedup();
    if all.len() > 1 {
        all.retain(|c| *c != PLAIN);
    }
    all
}
