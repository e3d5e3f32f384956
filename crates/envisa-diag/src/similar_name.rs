//! Finds the name that was probably meant.

use std::cmp::Reverse;

/// The candidate nearest to a name, if one is near enough to be meant. Of several that are equally near, the one with the
/// longest common start.
///
/// ```
/// use envisa_diag::nearest;
/// assert_eq!(nearest("wdith", ["width", "height"]), Some("width"));
/// assert_eq!(nearest("madd", ["add", "mad"]), Some("mad"));
/// assert_eq!(nearest("x", ["y"]), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let limit = match length {
        0 | 1 => return None,
        2..=4 => 1,
        5..=8 => 2,
        // A name so long is none; the distance takes its square.
        129.. => return None,
        _ => 3,
    };
    let name = name.to_lowercase();
    candidates
        .into_iter()
        // As many edits as the lengths differ are needed at least.
        .filter(|c| c.len() <= 128 && c.chars().count().abs_diff(length) <= limit)
        .map(|c| {
            let other = c.to_lowercase();
            let start = name.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
            (strsim::damerau_levenshtein(&name, &other), Reverse(start), c)
        })
        .filter(|(edits, ..)| *edits <= limit)
        .min()
        .map(|(.., c)| c)
}

/// What is said of a name that names none of the things there are.
///
/// ```
/// use envisa_diag::unknown;
/// let all = ["dg2", "pvc"];
/// assert_eq!(unknown("device", "dg3", all), "unknown device `dg3`; there are dg2, pvc; did you mean `dg2`?");
/// ```
pub fn unknown<'a>(what: &str, name: &str, all: impl IntoIterator<Item = &'a str>) -> String {
    let all: Vec<&str> = all.into_iter().collect();
    let near = did_you_mean(name, all.iter().copied());
    format!("unknown {what} `{name}`; there are {}{near}", all.join(", "))
}

/// `; did you mean …?`, or nothing.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map_or(String::new(), |c| format!("; did you mean `{c}`?"))
}
