//! Bugs planted in kernels that others made and that are right: one small change each, of the kinds that people make. What
//! such a change does is not known beforehand; Oclgrind, which runs the same source with the same arguments, says whether
//! there is something to be found.

use std::collections::{BTreeMap, BTreeSet};

use super::{Program, Row, Suite};

/// Mutants of one kernel at most of each kind.
const MOST: usize = 2;

/// A kind of mistake: what it is called, and a text with it made at the n-th place, or none.
type Kind = (&'static str, fn(&str, usize) -> Option<String>);

const KINDS: [Kind; 6] = [
    ("a barrier dropped", drop_barrier),
    ("fence flags exchanged", exchange_flags),
    ("an index off by one", shift_index),
    ("a bound off by one", widen_bound),
    ("an initialiser removed", forget_initialiser),
    ("an atomic made plain", make_plain),
];

/// The suite that the mutants are, without any yet.
pub fn suite() -> Suite {
    Suite {
        key: "mutations",
        about: "## Bugs planted in these kernels\n\nKernels above without findings, with one mistake made in \
                each: a barrier dropped, fence flags exchanged, an index off by one, `<` made `<=`, an initialiser removed, an atomic \
                made plain; at most two of each kind per kernel. Oclgrind decides whether the inputs show the mistake: a mutant counts as a bug if Oclgrind finds something, and as right otherwise."
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
        for (what, mutate) in KINDS {
            for n in 0..MOST {
                let Some(text) = in_kernel(&row.program, |body| mutate(body, n)) else { break };
                all.push(Program {
                    name: format!("{}: {what}, {}", row.program.name, n + 1),
                    text,
                    bug: true,
                    codes: &super::oclgrind::CODES,
                    says: what.to_owned(),
                    ..row.program.clone()
                });
            }
        }
    }
    all
}

/// The program's text with its kernel's body changed: what is in others is never run.
fn in_kernel(p: &Program, change: impl Fn(&str) -> Option<String>) -> Option<String> {
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
    Some(format!("{}{}{}", &text[..from], change(&text[from..end])?, &text[end..]))
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

/// Behind the parenthesis, bracket or brace that closes the one at a place.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text[open..].char_indices() {
        depth += match c {
            '(' | '[' | '{' => 1,
            ')' | ']' | '}' => -1,
            _ => 0,
        };
        if depth == 0 {
            return Some(open + at + 1);
        }
    }
    None
}

fn drop_barrier(text: &str, n: usize) -> Option<String> {
    let at = word_at(text, "barrier", n)?;
    let end = closing(text, at + text[at..].find('(')?)?;
    Some(format!("{}(void)0{}", &text[..at], &text[end..]))
}

fn exchange_flags(text: &str, n: usize) -> Option<String> {
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
    Some(format!("{}{call}{}", &text[..at], &text[end..]))
}

fn shift_index(text: &str, n: usize) -> Option<String> {
    // Not where an array is declared: that index is a number, or a name in capitals.
    let is_index = |at: &usize| {
        let inner = &text[at + 1..];
        let inner = &inner[..inner.find(']').unwrap_or(0)];
        inner.chars().any(|c| c.is_ascii_lowercase())
    };
    let at = text.match_indices('[').map(|m| m.0).filter(is_index).nth(n)?;
    let end = closing(text, at)?;
    Some(format!("{}[({}) + 1]{}", &text[..at], &text[at + 1..end - 1], &text[end..]))
}

fn widen_bound(text: &str, n: usize) -> Option<String> {
    let plain = |at: &usize| {
        let line = text[..*at].rfind('\n').map_or(0, |l| l + 1);
        let next = text[at + 1..].chars().next();
        !text[line..*at].contains("//")
            && !text[line..].trim_start().starts_with('#')
            && !text[..*at].ends_with('<')
            && !matches!(next, Some('<' | '='))
    };
    let at = text.match_indices('<').map(|m| m.0).filter(plain).nth(n)?;
    Some(format!("{}<={}", &text[..at], &text[at + 1..]))
}

fn forget_initialiser(text: &str, n: usize) -> Option<String> {
    let is = |(at, _): &(usize, &str)| {
        let line = text[..*at].rfind('\n').map_or(0, |l| l + 1);
        let words: Vec<&str> = text[line..*at].split_whitespace().collect();
        matches!(words[..], ["int" | "uint" | "float" | "unsigned" | "double" | "long", name]
            if name.chars().all(|c| c.is_alphanumeric() || c == '_'))
            && text[*at..].split(';').next().is_some_and(|rest| !rest.contains(','))
    };
    let (at, _) = text.match_indices(" = ").filter(is).nth(n)?;
    let end = at + text[at..].find(';')?;
    Some(format!("{}{}", &text[..at], &text[end..]))
}

fn make_plain(text: &str, n: usize) -> Option<String> {
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
    Some(format!("{}{call}{}", &text[..at], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#define N 4\nkernel void k(global int *a) {\n  local int t[N];\n  int s = 0; // barrier(1)\n  \
                        t[i] = a[i + 2];\n  barrier(CLK_LOCAL_MEM_FENCE);\n  atomic_add(&t[f(i)], 3);\n  s += t[0];\n}\n";

    #[test]
    fn one_thing_changes() {
        let change = |mutate: fn(&str, usize) -> Option<String>, from: &str, to: &str| {
            assert_eq!(mutate(TEXT, 0), Some(TEXT.replacen(from, to, 1)));
        };
        change(drop_barrier, "  barrier(CLK_LOCAL_MEM_FENCE)", "  (void)0");
        change(exchange_flags, "LOCAL_MEM", "GLOBAL_MEM");
        change(shift_index, "t[i]", "t[(i) + 1]");
        change(forget_initialiser, "int s = 0", "int s");
        change(make_plain, "atomic_add(&t[f(i)], 3)", "(*(&t[f(i)]) +=  3)");
        let bound = "for (int i = 0; i < 3; i++) x = y << 2;";
        assert_eq!(widen_bound(bound, 0), Some(bound.replacen("i < 3", "i <= 3", 1)));
        assert_eq!(widen_bound(bound, 1), None);
        assert_eq!(drop_barrier(TEXT, 1), None, "the other one is a comment");
        assert_eq!((make_plain(TEXT, 1), forget_initialiser(TEXT, 1)), (None, None));
        assert_eq!(shift_index(TEXT, 1), Some(TEXT.replacen("a[i + 2]", "a[(i + 2) + 1]", 1)));
    }
}
