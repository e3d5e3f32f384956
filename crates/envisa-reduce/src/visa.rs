//! vISA text: lines, predicates, modifiers, immediates.

use crate::edits::Edit;
use crate::{Language, Pass, Piece};
use std::collections::{BTreeMap, BTreeSet};

/// vISA text.
pub struct Visa;

impl Language for Visa {
    fn passes(&self) -> &[Pass] {
        const PASSES: [Pass; 6] = [
            Pass { name: "leave out lines", edits: lines, most: usize::MAX },
            Pass { name: "leave out labels and variables", edits: names, most: 1 },
            Pass { name: "leave out predicates and modifiers", edits: decorations, most: usize::MAX },
            Pass { name: "make immediates zero", edits: immediates, most: usize::MAX },
            Pass { name: "leave out words", edits: words, most: usize::MAX },
            Pass { name: "leave out comments and space", edits: comments, most: usize::MAX },
        ];
        &PASSES
    }
}

/// Lines with their start in the text.
fn each_line(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}

fn lines(text: &str) -> Vec<Edit> {
    each_line(text).map(|(start, line)| Edit::leave_out(start..start + line.len())).collect()
}

/// What a line declares, `NAME:` or `.decl NAME …`, with all lines that use it.
fn names(text: &str) -> Vec<Edit> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut lines_of: BTreeMap<&str, Vec<Piece>> = BTreeMap::new();
    for (start, line) in each_line(text) {
        let words: BTreeSet<&str> = line.split(|c| !is_part(c)).filter(|w| !w.is_empty()).collect();
        for word in words {
            lines_of.entry(word).or_default().push(start..start + line.len());
        }
    }
    let declared = each_line(text).filter_map(|(_, line)| {
        let line = line.trim();
        let name = line.strip_suffix(':').or_else(|| line.strip_prefix(".decl ")?.split(' ').next());
        name.filter(|n| n.chars().all(is_part))
    });
    let edit = |name| {
        Some(Edit { places: lines_of.get(name)?.iter().map(|p| (p.clone(), String::new())).collect() })
    };
    declared.filter_map(edit).filter(|e: &Edit| e.places.len() > 1).collect()
}

/// `(P1) ` before an instruction; `.sat`; `(abs)`, `(-)` and the like before a source.
fn decorations(text: &str) -> Vec<Edit> {
    let mut out = Vec::new();
    for (start, line) in each_line(text) {
        let indent = line.len() - line.trim_start().len();
        if let (true, Some(end)) = (line[indent..].starts_with('('), line.find(')')) {
            out.push(Edit::leave_out(start + indent..start + end + 1));
        }
        for part in [".sat", "(-)", "(abs)", "(-abs)", "(~)"] {
            out.extend(
                line.match_indices(part).map(|(i, m)| Edit::leave_out(start + i..start + i + m.len())),
            );
        }
    }
    out
}

/// `0x1f:ud` by `0x0:ud`.
fn immediates(text: &str) -> Vec<Edit> {
    let found = text.match_indices("0x");
    let digits = found.filter_map(|(at, _)| {
        let start = at + 2;
        let end = text[start..].find(|c: char| !c.is_ascii_hexdigit()).map_or(text.len(), |n| start + n);
        (end > start && &text[start..end] != "0").then(|| Edit::replace(start..end, "0"))
    });
    digits.collect()
}

/// Words between blanks, behind the first of a line.
fn words(text: &str) -> Vec<Edit> {
    let mut out = Vec::new();
    for (start, line) in each_line(text) {
        let mut at = 0;
        for (i, word) in line.split_inclusive(' ').enumerate() {
            if i > 0 && !word.trim().is_empty() {
                out.push(Edit::leave_out(start + at..start + at + word.trim_end().len()));
            }
            at += word.len();
        }
    }
    out
}

/// `// …` and `/// …` to the end of their line, and blanks at both ends.
fn comments(text: &str) -> Vec<Edit> {
    let mut out = Vec::new();
    for (start, line) in each_line(text) {
        let body = line.trim_end_matches('\n');
        let code = body.find("//").map_or(body, |i| &body[..i]).trim_end();
        let indent = code.len() - code.trim_start().len();
        if indent > 0 {
            out.push(Edit::leave_out(start..start + indent));
        }
        if code.len() < body.len() {
            out.push(Edit::leave_out(start + code.len()..start + body.len()));
        }
    }
    out
}
