//! What a macro of the source stands for where it is used, as far as the preprocessor's conditions can be told from the text and
//! the compiler's options.

use std::collections::BTreeMap;

/// Names that are defined, and as what.
pub(super) type Defined = BTreeMap<String, String>;

/// What options define: `-DNAME`, `-D NAME=VALUE`.
pub(super) fn defined_by(options: &str) -> Defined {
    let mut all = Defined::new();
    let mut words = options.split_whitespace();
    while let Some(word) = words.next() {
        let Some(rest) = word.strip_prefix("-D") else { continue };
        let definition = if rest.is_empty() { words.next().unwrap_or_default() } else { rest };
        let (name, value) = definition.split_once('=').unwrap_or((definition, "1"));
        all.insert(name.to_owned(), value.to_owned());
    }
    all
}

/// What a macro may stand for at a line, the first of which is 1.
pub(super) fn bodies(text: &str, defined: &Defined, name: &str, at: usize) -> Vec<String> {
    let mut names = defined.clone();
    // Of each condition: is it true, and was one of its branches taken before? `None`: that cannot be told.
    let mut conditions: Vec<(Option<bool>, Option<bool>)> = Vec::new();
    let mut found: Vec<String> = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((_, line)) = lines.next().filter(|(n, _)| n + 1 < at) {
        let Some(directive) = line.trim_start().strip_prefix('#') else { continue };
        let mut whole = directive.trim().to_owned();
        while let Some(begun) = whole.strip_suffix('\\') {
            whole = format!("{begun}\n{}", lines.next().map_or("", |(_, l)| l.trim_end()));
        }
        let word = whole.split(|c| !is_of_name(c)).next().unwrap_or_default().to_owned();
        let rest = whole[word.len()..].trim();
        match word.as_str() {
            "ifdef" => conditions.push(begin(is_defined(rest, &names))),
            "ifndef" => conditions.push(begin(is_defined(rest, &names).map(|is| !is))),
            "if" => conditions.push(begin(holds(rest, &names))),
            "elif" => otherwise(&mut conditions, |names| holds(rest, names), &names),
            "else" => otherwise(&mut conditions, |_| Some(true), &names),
            "endif" => {
                conditions.pop();
            }
            "define" | "undef" => {
                let taken = conditions.iter().map(|c| c.0).fold(Some(true), and);
                if taken == Some(false) {
                    continue;
                }
                let other = rest.split(|c| !is_of_name(c)).next().unwrap_or_default();
                let value = rest[other.len()..].to_owned();
                if other == name {
                    if taken == Some(true) {
                        found.clear();
                    }
                    if word == "define" {
                        found.push(value.clone());
                    }
                }
                match (word.as_str(), taken) {
                    ("define", Some(true)) => drop(names.insert(other.to_owned(), value.trim().to_owned())),
                    ("undef", Some(true)) => drop(names.remove(other)),
                    // It may be defined, and as something else.
                    _ => drop(names.insert(other.to_owned(), UNKNOWN.to_owned())),
                }
            }
            _ => {}
        }
    }
    found
}

/// The value of a name of which it is not known whether it is defined.
const UNKNOWN: &str = "?";

pub(super) fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn begin(is: Option<bool>) -> (Option<bool>, Option<bool>) {
    (is, is)
}

/// The next branch of the innermost condition.
fn otherwise(
    conditions: &mut [(Option<bool>, Option<bool>)],
    holds: impl FnOnce(&Defined) -> Option<bool>,
    names: &Defined,
) {
    if let Some((is, before)) = conditions.last_mut() {
        *is = and(before.map(|b| !b), holds(names));
        *before = or(*before, *is);
    }
}

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    and(a.map(|a| !a), b.map(|b| !b)).map(|neither| !neither)
}

/// Is a name defined? Of those that compilers define nobody knows.
fn is_defined(name: &str, names: &Defined) -> Option<bool> {
    let name = name.trim().trim_start_matches('(').trim_end_matches(')').trim();
    match names.get(name).map(String::as_str) {
        Some(UNKNOWN) => None,
        Some(_) => Some(true),
        None if name.starts_with("__") || name.starts_with("cl_") => None,
        None => Some(false),
    }
}

/// Does a condition hold? Of sums, products and parentheses nothing is said.
fn holds(condition: &str, names: &Defined) -> Option<bool> {
    let condition = condition.split("//").next().unwrap_or_default().trim();
    if let Some((a, b)) = condition.split_once("||") {
        return or(holds(a, names), holds(b, names));
    }
    if let Some((a, b)) = condition.split_once("&&") {
        return and(holds(a, names), holds(b, names));
    }
    type Compares = fn(&i64, &i64) -> bool;
    let compares: [(&str, Compares); 6] =
        [("==", i64::eq), ("!=", i64::ne), (">=", i64::ge), ("<=", i64::le), (">", i64::gt), ("<", i64::lt)];
    for (sign, compare) in compares {
        if let Some((a, b)) = condition.split_once(sign) {
            return Some(compare(&number(a, names)?, &number(b, names)?));
        }
    }
    if let Some(rest) = condition.strip_prefix('!') {
        return holds(rest, names).map(|is| !is);
    }
    match condition.strip_prefix("defined") {
        Some(rest) if !rest.starts_with(is_of_name) => is_defined(rest, names),
        _ => number(condition, names).map(|n| n != 0),
    }
}

/// The value of a number, or of a name that is defined as one; a name that is not defined is 0.
fn number(text: &str, names: &Defined) -> Option<i64> {
    let text = text.trim();
    if let Ok(n) = text.trim_end_matches(['u', 'U', 'l', 'L']).parse() {
        return Some(n);
    }
    let is_name = !text.is_empty() && text.chars().all(is_of_name);
    match (names.get(text), is_name) {
        (Some(value), true) => value.trim().trim_end_matches(['u', 'U', 'l', 'L']).parse().ok(),
        (None, true) => is_defined(text, names).filter(|is| !is).map(|_| 0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#ifdef SIGNED\n#define GET(p) read_imagei(i, p)\n#else\n#define GET(p) \\\n read_imageui(i, p)\n#endif\n\
                        #if defined(cl_khr_fp64) && N > 2\n# define N4 4\n#undef GET\n#endif\nGET(x)\n";

    #[test]
    fn conditions_choose_a_definition() {
        let at = |options: &str| bodies(TEXT, &defined_by(options), "GET", 11).join("|");
        assert_eq!(at("-cl-std=CL2.0"), "(p) \n read_imageui(i, p)");
        assert_eq!(at("-DSIGNED"), "(p) read_imagei(i, p)");
        assert_eq!(at("-D SIGNED=1 -DN=3"), "(p) read_imagei(i, p)", "it may be undefined");
        assert_eq!(bodies(TEXT, &defined_by("-DSIGNED"), "GET", 2), [] as [&str; 0], "it is not defined yet");
    }

    #[test]
    fn conditions_are_true_false_or_unknown() {
        let names = defined_by("-DA=3 -DB -DC=x");
        let all =
            ["A == 3 && defined(B)", "!defined B || A<2", "D", "C > 1", "defined(__IMAGE_SUPPORT__)", "1"];
        let is = [Some(true), Some(false), Some(false), None, None, Some(true)];
        assert_eq!(all.map(|c| holds(c, &names)), is);
    }
}
