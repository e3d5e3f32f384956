//! What was planted in a mutant, and whether what is found of it is of that: of a kind that the mistake can lead to, and at
//! the changed statement or about the variable that it is about. The kernel without it is not accused; so such a finding is
//! true, whoever else finds it. All else has to be looked into.

use std::ops::RangeInclusive;

use crate::checks::Found;

/// Where a mistake shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shows {
    /// At a line of the changed statement, or in what is about the variable.
    There,
    /// Between accesses before and behind the changed statement.
    Around,
    /// In what is about the variable, wherever it is used.
    AboutVariable,
}

/// A mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planted {
    /// Codes of what it can lead to.
    pub codes: &'static [&'static str],
    /// Where that shows.
    pub shows: Shows,
    /// Lines of the changed statement; of a loop or a condition with what it governs.
    pub lines: RangeInclusive<u32>,
    /// The variable that it is about.
    pub variable: Option<String>,
}

impl Planted {
    /// Is all that is found of the mistake, or on lines of what is of it? What has no content is an index next, and what that
    /// leads to is on the line that a finding says depends on it.
    pub fn explains(&self, found: &[&Found]) -> bool {
        let fits: Vec<&Found> = found.iter().copied().filter(|f| self.fits(f)).collect();
        let known = |line: &u32| fits.iter().any(|f| f.lines.contains(line));
        let follows = |f: &Found| !f.lines.is_empty() && f.lines.iter().all(known);
        !fits.is_empty() && found.iter().all(|f| self.fits(f) || follows(f))
    }

    fn fits(&self, f: &Found) -> bool {
        let about = || self.variable.as_ref().is_some_and(|name| names(&f.message, name));
        let there = || f.lines.iter().any(|l| self.lines.contains(l));
        let around = || {
            let before = f.lines.iter().any(|l| l <= self.lines.end());
            before && f.lines.iter().any(|l| l >= self.lines.start())
        };
        self.codes.contains(&f.code.as_str())
            && match self.shows {
                Shows::There => there() || about(),
                Shows::Around => f.lines.len() > 1 && around(),
                Shows::AboutVariable => about(),
            }
    }
}

/// Does a sentence name a variable: `buffer a`, `local variable t at …`, `reads t[4], …`?
fn names(sentence: &str, variable: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    sentence.match_indices(variable).any(|(at, _)| {
        let (before, behind) = (&sentence[..at], &sentence[at + variable.len()..]);
        let word = before.rsplit(|c: char| !part(c)).find(|w| !w.is_empty()).unwrap_or_default();
        let introduced =
            behind.starts_with('[') || ["argument", "buffer", "variable", "of", "image"].contains(&word);
        !before.ends_with(part) && !behind.starts_with(part) && introduced
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str, lines: &[u32], message: &str) -> Found {
        Found { code: code.to_owned(), lines: lines.to_vec(), message: message.to_owned() }
    }

    fn planted(shows: Shows, variable: Option<&str>) -> Planted {
        let variable = variable.map(str::to_owned);
        Planted { codes: &["F0004", "F0006"], shows, lines: 7..=8, variable }
    }

    #[test]
    fn an_accusation_is_of_what_was_planted_or_has_to_be_looked_into() {
        let sum = "uses private variable sum, which nothing has written";
        let forgotten = planted(Shows::AboutVariable, Some("sum"));
        assert!(forgotten.explains(&[&found("F0006", &[30], sum)]));
        // Of another kind, about another variable, and nothing at all.
        assert!(!forgotten.explains(&[&found("F0005", &[30], sum)]));
        for other in ["total_sum", "sums", "summary", "x"] {
            assert!(!forgotten.explains(&[&found("F0006", &[7], &sum.replace("sum", other))]), "{other}");
        }
        assert!(!forgotten.explains(&[]));
        // What follows of it, and what does not.
        let (use_of, race) = (found("F0006", &[30, 31], sum), found("F0004", &[31, 31], "a data race for a"));
        assert!(forgotten.explains(&[&use_of, &race]));
        assert!(!forgotten.explains(&[&use_of, &found("F0004", &[31, 40], "a data race for a")]));
        assert!(!forgotten.explains(&[&use_of, &found("F0005", &[], "somewhere")]));
        assert!(!forgotten.explains(&[&race]));
    }

    #[test]
    fn places_are_those_of_the_change() {
        let there = planted(Shows::There, Some("tile"));
        let told = |line, message: &str| there.explains(&[&found("F0006", &[line], message)]);
        assert!(told(7, "anything") && told(8, "anything") && !told(9, "anything"));
        assert!(told(20, "uses local variable tile at byte 0x0 (tile[0])"));
        assert!(told(20, "writes tile[4], of an array of 4 elements"));
        assert!(!told(20, "uses buffer tiles at byte 0x0") && !told(20, "no word of a tile that is known"));
        let around = planted(Shows::Around, None);
        let race = |lines: &[u32]| around.explains(&[&found("F0004", lines, "a data race")]);
        assert!(race(&[3, 12]) && race(&[12, 3]));
        assert!(!race(&[3, 4]) && !race(&[11, 12]) && !race(&[7]));
    }
}
