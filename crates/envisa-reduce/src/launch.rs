//! Launches: the text of a job (TOML), its sizes, arguments and the contents of buffers.

use crate::edits::Edit;
use crate::{Language, Pass, Size};

/// The text of a job, one key or table header to a line, as serialisers write it.
pub struct Launch;

impl Language for Launch {
    fn passes(&self) -> &[Pass] {
        const PASSES: [Pass; 5] = [
            Pass { name: "leave out outputs", edits: tables, most: usize::MAX },
            Pass { name: "leave out keys", edits: key_edits, most: usize::MAX },
            Pass { name: "make values simple", edits: values, most: 1 },
            Pass { name: "make sizes and numbers small", edits: number_edits, most: 1 },
            Pass { name: "make elements zero", edits: elements, most: usize::MAX },
        ];
        &PASSES
    }

    /// The bits of all its numbers, each with one more: halving a number makes a job smaller, and so does leaving one out.
    fn size(&self, text: &str) -> Size {
        let bits = |word: &str| {
            word.parse::<i128>().map_or(64, |n| u64::from(128 - n.unsigned_abs().leading_zeros()))
        };
        let numbers: u64 = numbers_of(text).map(|(_, word)| 1 + bits(word)).sum();
        (numbers, text.len() as u64)
    }
}

/// Lines with their start in the text.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}

/// Numbers, with their start; not those inside of words (`u32`).
fn numbers_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find(word)?;
            let end = text[start..].find(|c| !word(c)).map_or(text.len(), |n| start + n);
            at = end;
            if text[start..end].parse::<f64>().is_ok() {
                return Some((start, &text[start..end]));
            }
        }
    })
}

/// `[[outputs]]` with its keys.
fn tables(text: &str) -> Vec<Edit> {
    let headers: Vec<usize> = lines(text).filter(|(_, l)| l.starts_with('[')).map(|(at, _)| at).collect();
    let ends = headers.iter().skip(1).copied().chain([text.len()]);
    let all = headers.iter().copied().zip(ends).filter(|(at, _)| text[*at..].starts_with("[["));
    all.map(|(at, end)| Edit::leave_out(at..end)).collect()
}

/// `key = value`.
fn key_edits(text: &str) -> Vec<Edit> {
    let keys = lines(text).filter(|(_, l)| l.contains(" = "));
    keys.map(|(at, l)| Edit::leave_out(at..at + l.len())).collect()
}

/// What stands between quotation marks behind `=`, with its start: `kind:…`.
fn quoted_values(text: &str) -> impl Iterator<Item = (usize, &str)> {
    lines(text).filter_map(|(at, line)| {
        let start = line.find("= \"")? + 3;
        let end = start + line[start..].find('"')?;
        line[start..end].contains(':').then_some((at + start, &line[start..end]))
    })
}

/// The elements of `TYPE:1,2,3`, with their start in the value.
fn elements_of(value: &str) -> Option<(&str, usize, Vec<&str>)> {
    let (ty, list) = value.split_once(':')?;
    let scalar = ty.starts_with(['i', 'u', 'f']) && ty[1..].bytes().all(|b| b.is_ascii_digit());
    scalar.then(|| (ty, ty.len() + 1, list.split(',').collect()))
}

/// Zeros for lists, and half of a list.
fn values(text: &str) -> Vec<Edit> {
    let mut out = Vec::new();
    for (at, value) in quoted_values(text) {
        let Some((ty, _, list)) = elements_of(value).filter(|(.., list)| list.len() > 1) else { continue };
        let piece = at..at + value.len();
        out.push(Edit::replace(piece.clone(), format!("zeros:{ty}:{}", list.len())));
        out.push(Edit::replace(piece, format!("{ty}:{}", list[..list.len() / 2].join(","))));
    }
    out
}

/// 0, 1 and half of each number, but of elements of lists.
fn number_edits(text: &str) -> Vec<Edit> {
    let lists: Vec<_> = quoted_values(text)
        .filter(|(_, v)| elements_of(v).is_some_and(|(.., list)| list.len() > 1))
        .map(|(at, v)| at..at + v.len())
        .collect();
    let single = numbers_of(text).filter(|(at, _)| !lists.iter().any(|l| l.contains(at)));
    let mut out = Vec::new();
    for (at, word) in single {
        let Ok(n) = word.parse::<i128>() else { continue };
        for instead in [0, 1, n / 2] {
            if instead != n {
                out.push(Edit::replace(at..at + word.len(), instead.to_string()));
            }
        }
    }
    out
}

/// Zero for each element of a list that is another number.
fn elements(text: &str) -> Vec<Edit> {
    let mut out = Vec::new();
    for (at, value) in quoted_values(text) {
        let Some((_, start, list)) = elements_of(value) else { continue };
        let mut next = at + start;
        for element in list {
            if element != "0" && !element.is_empty() {
                out.push(Edit::replace(next..next + element.len(), "0"));
            }
            next += element.len() + 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::reduced;

    #[test]
    fn sizes_arguments_and_contents_become_small() {
        let job = "\
file = \"k.cl\"
global = [64, 2, 1]
local = [16, 1, 1]
timeout = 60

[args]
in = \"u32:5,6,7,8,9\"
n = 1000
scratch = \"zeros:u8:4096\"

[[outputs]]
arg = \"in\"
print = 1000000

[[outputs]]
arg = \"scratch\"
print = 1000000
";
        // A kernel that fails by the fourth element of `in`, by at least 5 work-items in the first dimension.
        let fails = |t: &str| {
            let after = |key: &str| t.split_once(key).map_or("", |(_, rest)| rest);
            let first = |key: &str| -> u32 {
                after(key).split([',', '\n', ']', '"']).next().and_then(|n| n.parse().ok()).unwrap_or(0)
            };
            let list: Vec<&str> = after("in = \"u32:").split(['"', ',']).take(4).collect();
            t.contains("file")
                && first("global = [") >= 5
                && list.get(3) == Some(&"8")
                && t.contains("arg = \"in\"")
        };
        let left = reduced(job, &Launch, fails);
        assert!(left.contains("global = [8, 0, 0]") || left.contains("global = [5, 0, 0]"), "{left}");
        assert!(left.contains("in = \"u32:0,0,0,8"), "{left}");
        assert!(!left.contains("timeout") && !left.contains("scratch"), "{left}");
    }
}
