//! Bugs planted in kernels that others made and that are right: one small change each, of the kinds that people make. What
//! such a change does is not known beforehand; Oclgrind, which runs the same source with the same arguments, says whether
//! there is something to be found.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::planted::{Planted, Shows};
use super::{Program, Row, Suite};

/// Mutants of one kernel at most of each kind.
const MOST: usize = 2;

/// A change of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Change {
    /// The new text.
    text: String,
    /// The changed statement in it; of a loop or a condition with what it governs.
    place: Range<usize>,
    /// The variable that it is about.
    variable: Option<String>,
}

/// A kind of mistake.
struct Kind {
    what: &'static str,
    /// A text with it made at the n-th place, or none.
    make: fn(&str, usize) -> Option<Change>,
    /// Codes of what it can lead to.
    codes: &'static [&'static str],
    shows: Shows,
}

/// What accesses at wrong places lead to: faults, collisions, accesses outside, and what nobody wrote.
const ACCESSES: &[&str] = &["F0001", "F0003", "F0004", "F0005", "F0006", "F0008", "F0010", "F0024", "F0025"];
/// The same, and barriers that not all reach.
const BOUNDS: &[&str] = &["F0001", "F0003", "F0004", "F0005", "F0006", "F0007", "F0010", "F0018", "F0025"];
const RACES: &[&str] = &["F0003", "F0004"];

const KINDS: [Kind; 6] = [
    Kind { what: "a barrier dropped", make: drop_barrier, codes: RACES, shows: Shows::Around },
    Kind { what: "fence flags exchanged", make: exchange_flags, codes: RACES, shows: Shows::Around },
    Kind { what: "an index off by one", make: shift_index, codes: ACCESSES, shows: Shows::There },
    Kind { what: "a bound off by one", make: widen_bound, codes: BOUNDS, shows: Shows::There },
    Kind {
        what: "an initialiser removed",
        make: forget_initialiser,
        codes: &["F0002", "F0006"],
        shows: Shows::AboutVariable,
    },
    Kind { what: "an atomic made plain", make: make_plain, codes: RACES, shows: Shows::There },
];

/// The suite that the mutants are, without any yet.
pub fn suite() -> Suite {
    Suite {
        key: "mutations",
        about: "## Bugs planted in these kernels\n\nKernels above without findings, with one mistake made in \
                each: a barrier dropped, fence flags exchanged, an index off by one, `<` made `<=`, an initialiser removed, an atomic \
                made plain; at most two of each kind per kernel. Whether the inputs show a mistake is not known beforehand: a mutant counts as a bug \
                if Oclgrind finds something, or if what envisa finds is of what was planted; and as right otherwise. It is of what was \
                planted if its kind is one that the mistake can lead to, and if it names a line of the changed statement (of a loop or \
                condition also what that governs; of barriers accesses on both sides) or the variable whose index or initialiser was \
                changed. Findings of other kinds or at other places have to be explained one by one."
            .to_owned(),
        programs: Vec::new(),
        left_out: BTreeMap::new(),
    }
}

/// The mutants of the kernels of which nothing is found and that are right.
pub fn of(rows: &[Row]) -> Vec<Program> {
    let mut all = Vec::new();
    let silent = |r: &&Row| {
        !r.program.bug
            && r.envisa.iter().all(|(_, came)| came.as_ref().is_ok_and(|c| c.found.is_empty()))
            && r.oclgrind.as_ref().is_some_and(BTreeSet::is_empty)
    };
    for row in rows.iter().filter(silent) {
        for kind in &KINDS {
            for n in 0..MOST {
                let Some(change) = in_kernel(&row.program, |body| (kind.make)(body, n)) else { break };
                all.push(Program {
                    name: format!("{}: {}, {}", row.program.name, kind.what, n + 1),
                    bug: true,
                    codes: &super::oclgrind::CODES,
                    says: kind.what.to_owned(),
                    planted: Some(Planted {
                        codes: kind.codes,
                        shows: kind.shows,
                        lines: line(&change.text, change.place.start)..=line(&change.text, change.place.end),
                        variable: change.variable,
                    }),
                    text: change.text,
                    ..row.program.clone()
                });
            }
        }
    }
    all
}

/// The line of a place in a text.
fn line(text: &str, at: usize) -> u32 {
    1 + text[..at].matches('\n').count() as u32
}

/// The program's text with its kernel's body changed: what is in others is never run.
fn in_kernel(p: &Program, change: impl Fn(&str) -> Option<Change>) -> Option<Change> {
    let text = &p.text;
    let is_definition = |at: &usize| {
        let before = text[..*at].trim_end();
        let open = at + p.kernel.len();
        let parameters = text[open..].trim_start().starts_with('(');
        parameters
            && before.ends_with("void")
            && closing(text, open + text[open..].find('(').unwrap_or(0)).is_some()
    };
    let name = (0..).map_while(|k| word_at(text, &p.kernel, k)).find(is_definition)?;
    let open = name + text[name..].find('(')?;
    let from = closing(text, open)?;
    let from = from + text[from..].find('{')?;
    let end = closing(text, from)?;
    let changed = change(&text[from..end])?;
    Some(Change {
        text: format!("{}{}{}", &text[..from], changed.text, &text[end..]),
        place: from + changed.place.start..from + changed.place.end,
        ..changed
    })
}

/// A text with another one in this place of it.
fn replaced(text: &str, place: Range<usize>, new: &str) -> Change {
    let changed = format!("{}{new}{}", &text[..place.start], &text[place.end..]);
    let place = statement(&changed, place.start..place.start + new.len());
    Change { text: changed, place, variable: None }
}

/// The statement that something is in: between what ends the one before it and its own end.
fn statement(text: &str, inner: Range<usize>) -> Range<usize> {
    let ends = |c: char| matches!(c, ';' | '{' | '}');
    let mut from = text[..inner.start].rfind(ends).map_or(0, |at| at + 1);
    // Without the comments of the line before.
    loop {
        let rest = text[from..].trim_start();
        let comment = match rest {
            _ if rest.starts_with("//") => rest.find('\n'),
            _ if rest.starts_with("/*") => rest.find("*/").map(|end| end + 2),
            _ => None,
        };
        from = text.len() - rest.len() + comment.unwrap_or(0);
        if comment.is_none() {
            break;
        }
    }
    let end = text[inner.end..].find(ends).map_or(text.len(), |at| inner.end + at);
    from.min(inner.start)..end
}

/// A condition with what it governs: from its keyword to the end of the statement behind its parentheses, or just its own
/// statement if it is in none.
fn governed(text: &str, at: usize) -> Range<usize> {
    let own = statement(text, at..at);
    let opens = text[..at].match_indices('(').map(|m| m.0);
    let around = opens.filter(|open| closing(text, *open).is_some_and(|end| end > at));
    let keyword = |open: &usize| {
        let before = text[..*open].trim_end();
        ["for", "while", "if"].into_iter().find(|k| before.ends_with(k)).map(|k| before.len() - k.len())
    };
    let Some((open, from)) = around.filter_map(|open| Some((open, keyword(&open)?))).next_back() else {
        return own;
    };
    let Some(behind) = closing(text, open) else { return own };
    let inner = behind + (text[behind..].len() - text[behind..].trim_start().len());
    let end = match text[inner..].starts_with('{') {
        true => closing(text, inner),
        false => text[inner..].find(';').map(|end| inner + end),
    };
    from..end.unwrap_or(own.end)
}

/// The n-th place in the code of a text where a word stands that is not a part of another.
fn word_at(text: &str, word: &str, n: usize) -> Option<usize> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let whole = |at: &usize| {
        let line = text[..*at].rfind('\n').map_or(0, |l| l + 1);
        !text[line..*at].contains("//")
            && !text[line..].trim_start().starts_with('#')
            && !text[..*at].ends_with(part)
            && !text[at + word.len()..].starts_with(part)
    };
    text.match_indices(word).map(|m| m.0).filter(whole).nth(n)
}

/// Behind the parenthesis, bracket or brace that closes the one at a place. Those in comments are not counted.
fn closing(text: &str, open: usize) -> Option<usize> {
    let (mut depth, mut at) = (0, open);
    while let Some(c) = text[at..].chars().next() {
        let comment_end =
            ["//", "/*"].iter().zip(["\n", "*/"]).find(|(begin, _)| text[at..].starts_with(**begin));
        if let Some((_, end)) = comment_end {
            at += text[at..].find(end)? + end.len();
            continue;
        }
        at += c.len_utf8();
        depth += match c {
            '(' | '[' | '{' => 1,
            ')' | ']' | '}' => -1,
            _ => 0,
        };
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn drop_barrier(text: &str, n: usize) -> Option<Change> {
    let at = word_at(text, "barrier", n)?;
    let end = closing(text, at + text[at..].find('(')?)?;
    Some(replaced(text, at..end, "(void)0"))
}

fn exchange_flags(text: &str, n: usize) -> Option<Change> {
    let at = word_at(text, "barrier", n)?;
    let end = closing(text, at + text[at..].find('(')?)?;
    let (call, mark) = (&text[at..end], "CLK_?_MEM_FENCE");
    if call.contains("CLK_LOCAL_MEM_FENCE") == call.contains("CLK_GLOBAL_MEM_FENCE") {
        return None;
    }
    let call = call
        .replace("CLK_LOCAL_MEM_FENCE", mark)
        .replace("CLK_GLOBAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE")
        .replace(mark, "CLK_GLOBAL_MEM_FENCE");
    Some(replaced(text, at..end, &call))
}

fn shift_index(text: &str, n: usize) -> Option<Change> {
    // Not where an array is declared: that index is a number, or a name in capitals.
    let is_index = |at: &usize| {
        let inner = &text[at + 1..];
        let inner = &inner[..inner.find(']').unwrap_or(0)];
        inner.chars().any(|c| c.is_ascii_lowercase())
    };
    let at = text.match_indices('[').map(|m| m.0).filter(is_index).nth(n)?;
    let end = closing(text, at)?;
    let change = replaced(text, at..end, &format!("[({}) + 1]", &text[at + 1..end - 1]));
    let name = text[..at].trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
    Some(Change { variable: name.filter(|n| !n.is_empty()).map(str::to_owned), ..change })
}

fn widen_bound(text: &str, n: usize) -> Option<Change> {
    let plain = |at: &usize| {
        let line = text[..*at].rfind('\n').map_or(0, |l| l + 1);
        let next = text[at + 1..].chars().next();
        !text[line..*at].contains("//")
            && !text[line..].trim_start().starts_with('#')
            && !text[..*at].ends_with('<')
            && !matches!(next, Some('<' | '='))
    };
    let at = text.match_indices('<').map(|m| m.0).filter(plain).nth(n)?;
    let change = replaced(text, at..at + 1, "<=");
    Some(Change { place: governed(&change.text, at), ..change })
}

fn forget_initialiser(text: &str, n: usize) -> Option<Change> {
    let declared = |at: usize| {
        let line = text[..at].rfind('\n').map_or(0, |l| l + 1);
        let words: Vec<&str> = text[line..at].split_whitespace().collect();
        match words[..] {
            ["int" | "uint" | "float" | "unsigned" | "double" | "long", name]
                if name.chars().all(|c| c.is_alphanumeric() || c == '_')
                    && text[at..].split(';').next().is_some_and(|rest| !rest.contains(',')) =>
            {
                Some((at, name.to_owned()))
            }
            _ => None,
        }
    };
    let (at, name) = text.match_indices(" = ").filter_map(|(at, _)| declared(at)).nth(n)?;
    let end = at + text[at..].find(';')?;
    Some(Change { variable: Some(name), ..replaced(text, at..end, "") })
}

fn make_plain(text: &str, n: usize) -> Option<Change> {
    let plain = [
        ("atomic_inc", "++"),
        ("atomic_dec", "--"),
        ("atom_inc", "++"),
        ("atomic_add", "+="),
        ("atom_add", "+="),
    ];
    let mut places: Vec<(usize, &str, &str)> = plain
        .iter()
        .flat_map(|(name, op)| (0..).map_while(|k| word_at(text, name, k)).map(|at| (at, *name, *op)))
        .collect();
    places.sort_unstable();
    let (at, name, op) = *places.get(n)?;
    let open = at + name.len() + text[at + name.len()..].find('(')?;
    let end = closing(text, open)?;
    let inner = &text[open + 1..end - 1];
    let call = match (op, inner.split_once(',')) {
        ("+=", Some((place, value))) => format!("(*({place}) += {value})"),
        ("+=", None) => return None,
        (op, _) => format!("((*({inner})){op})"),
    };
    Some(replaced(text, at..end, &call))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#define N 4\nkernel void k(global int *a) {\n  local int t[N];\n  int s = 0; // barrier(1)\n  \
                        t[i] = a[i + 2];\n  barrier(CLK_LOCAL_MEM_FENCE);\n  atomic_add(&t[f(i)], 3);\n  s += t[0];\n}\n";

    fn text(change: Option<Change>) -> Option<String> {
        change.map(|c| c.text)
    }

    #[test]
    fn one_thing_changes() {
        let change = |make: fn(&str, usize) -> Option<Change>, from: &str, to: &str| {
            assert_eq!(text(make(TEXT, 0)), Some(TEXT.replacen(from, to, 1)));
        };
        change(drop_barrier, "  barrier(CLK_LOCAL_MEM_FENCE)", "  (void)0");
        change(exchange_flags, "LOCAL_MEM", "GLOBAL_MEM");
        change(shift_index, "t[i]", "t[(i) + 1]");
        change(forget_initialiser, "int s = 0", "int s");
        change(make_plain, "atomic_add(&t[f(i)], 3)", "(*(&t[f(i)]) +=  3)");
        let bound = "for (int i = 0; i < 3; i++) x = y << 2;";
        assert_eq!(text(widen_bound(bound, 0)), Some(bound.replacen("i < 3", "i <= 3", 1)));
        assert_eq!(widen_bound(bound, 1), None);
        assert_eq!(drop_barrier(TEXT, 1), None, "the other one is a comment");
        assert_eq!((make_plain(TEXT, 1), forget_initialiser(TEXT, 1)), (None, None));
        assert_eq!(text(shift_index(TEXT, 1)), Some(TEXT.replacen("a[i + 2]", "a[(i + 2) + 1]", 1)));
    }

    #[test]
    fn places_are_statements_and_what_conditions_govern() {
        let of = |change: Option<Change>| {
            let change = change.expect("a change");
            (change.text[change.place.clone()].to_owned(), change.variable)
        };
        assert_eq!(of(drop_barrier(TEXT, 0)), ("(void)0".to_owned(), None));
        assert_eq!(of(shift_index(TEXT, 1)), ("t[i] = a[(i + 2) + 1]".to_owned(), Some("a".to_owned())));
        assert_eq!(of(forget_initialiser(TEXT, 0)), ("int s".to_owned(), Some("s".to_owned())));
        let governs = |text: &str| of(widen_bound(text, 0)).0;
        let body = "{\n  if (x) { y(); }\n  z();\n}";
        let all = format!("for (int i = f(0); i < g(3); i++)\n{body}");
        assert_eq!(governs(&format!("a();\n{all} b();")), all.replacen('<', "<=", 1));
        let commented = "while (i < n) {\n  // 1) the first (\n  a[i] = i; /* } */\n}";
        assert_eq!(governs(&format!("{commented} b();")), commented.replacen('<', "<=", 1));
        assert_eq!(governs("a(); if (x && y(1) < 2) z = 3; b();"), "if (x && y(1) <= 2) z = 3");
        assert_eq!(governs("a(); bool c = x < 2; if (c) b();"), "bool c = x <= 2");
    }
}
