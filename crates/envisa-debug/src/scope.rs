//! The lines in which a variable is visible, by the braces of the source.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// A source's text with what is not code blanked out.
#[derive(Clone, Debug)]
pub struct Braces {
    code: Vec<u8>,
    /// Where each line starts.
    lines: Vec<usize>,
    /// What was looked for: names, and the lines that declare them.
    known: RefCell<Known>,
}

type Known = HashMap<(String, u32), Option<RangeInclusive<u32>>>;

impl Braces {
    /// Of a text.
    pub fn of(text: &[u8]) -> Braces {
        let mut code = text.to_vec();
        let mut at = 0;
        while at < code.len() {
            let end = match (code[at], code.get(at + 1)) {
                (b'/', Some(b'/')) => {
                    code[at..].iter().position(|c| *c == b'\n').map_or(code.len(), |n| at + n)
                }
                (b'/', Some(b'*')) => {
                    code[at + 2..].windows(2).position(|w| w == b"*/").map_or(code.len(), |n| at + n + 4)
                }
                (q @ (b'"' | b'\''), _) => {
                    let mut end = at + 1;
                    while end < code.len() && code[end] != q && code[end] != b'\n' {
                        end += 1 + usize::from(code[end] == b'\\');
                    }
                    (end + 1).min(code.len())
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            code[at..end].iter_mut().filter(|c| **c != b'\n').for_each(|c| *c = b' ');
            at = end;
        }
        let lines = std::iter::once(0)
            .chain(code.iter().enumerate().filter(|(_, c)| **c == b'\n').map(|(i, _)| i + 1));
        Braces { lines: lines.collect(), code, known: RefCell::default() }
    }

    fn line_of(&self, at: usize) -> u32 {
        self.lines.partition_point(|l| *l <= at) as u32
    }

    /// The lines at which what a line declares under a name can be seen; `None` where the name does not stand there.
    pub fn seen(&self, name: &str, line: u32) -> Option<RangeInclusive<u32>> {
        let key = (name.to_owned(), line);
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let found = self.look_for(name, line);
        self.known.borrow_mut().insert(key, found.clone());
        found
    }

    fn look_for(&self, name: &str, line: u32) -> Option<RangeInclusive<u32>> {
        let start = *self.lines.get((line as usize).checked_sub(1)?)?;
        let end = self.lines.get(line as usize).copied().unwrap_or(self.code.len());
        let word = |c: Option<&u8>| c.is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'_');
        let name = name.as_bytes();
        let at = (start..end.saturating_sub(name.len()) + 1).find(|i| {
            self.code[*i..].starts_with(name)
                && !word(self.code.get(*i + name.len()))
                && !word(i.checked_sub(1).and_then(|i| self.code.get(i)))
        })?;
        // Backwards to what encloses it.
        let mut depth = 0i32;
        let open = (0..at).rev().find(|i| match self.code[*i] {
            b')' | b'}' => {
                depth += 1;
                false
            }
            b'(' | b'{' => {
                depth -= 1;
                depth < 0
            }
            _ => false,
        });
        let last = match open.map(|i| (i, self.code[i])) {
            // In the head of a loop or a function: to the end of its body.
            Some((i, b'(')) => {
                let close = self.closing(i);
                let body = (close + 1..self.code.len()).find(|i| matches!(self.code[*i], b'{' | b';'));
                body.map_or(self.code.len(), |i| if self.code[i] == b'{' { self.closing(i) } else { i })
            }
            Some((i, _)) => self.closing(i),
            None => self.code.len(),
        };
        Some(line..=self.line_of(last))
    }

    /// Where the bracket at a place is closed.
    fn closing(&self, open: usize) -> usize {
        let mut depth = 0i32;
        for i in open..self.code.len() {
            match self.code[i] {
                b'(' | b'{' => depth += 1,
                b')' | b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        return i;
                    }
                }
                _ => {}
            }
        }
        self.code.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_seen_in_their_blocks() {
        let text = "kernel void k(int n) { // }\n  int a;\n  for (int i = 0; i < n; i++) {\n    int b = i;\n  }\n  for (int j = 0; j < n; j++)\n    a += j;\n  char c = '}';\n}\n";
        let b = Braces::of(text.as_bytes());
        let seen = |name, line| b.seen(name, line).map(RangeInclusive::into_inner);
        assert_eq!(seen("n", 1), Some((1, 9)));
        assert_eq!(seen("a", 2), Some((2, 9)));
        assert_eq!(seen("i", 3), Some((3, 5)));
        assert_eq!(seen("b", 4), Some((4, 5)));
        assert_eq!(seen("j", 6), Some((6, 7)));
        assert_eq!(seen("c", 8), Some((8, 9)));
        assert_eq!(seen("x", 2), None);
    }
}
