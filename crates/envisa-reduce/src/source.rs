//! A text in C as tokens, with what belongs together in it: statements, operands, lists.

use crate::Piece;
use crate::edits::Edit;
use crate::tokens::{Kind, Token, tokenize};
use std::ops::Range;

/// A text and its tokens.
pub struct Source<'a> {
    /// The text.
    pub text: &'a str,
    /// Its tokens.
    pub all: Vec<Token>,
}

impl<'a> Source<'a> {
    /// Takes a text apart.
    pub fn new(text: &'a str) -> Source<'a> {
        Source { text, all: tokenize(text) }
    }

    /// A token's text; beyond the last token, nothing.
    pub fn word(&self, i: usize) -> &'a str {
        self.all.get(i).map_or("", |t| &self.text[t.piece.clone()])
    }

    pub fn kind(&self, i: usize) -> Option<Kind> {
        self.all.get(i).map(|t| t.kind)
    }

    /// Of an opening bracket, the closing one.
    pub fn close(&self, i: usize) -> Option<usize> {
        self.all.get(i).and_then(|t| t.partner).filter(|p| *p > i)
    }

    /// Of a closing bracket, the opening one.
    pub fn open(&self, i: usize) -> Option<usize> {
        self.all.get(i).and_then(|t| t.partner).filter(|p| *p < i)
    }

    /// From the first of some tokens to the end of the last; there must be one.
    pub fn piece(&self, tokens: Range<usize>) -> Piece {
        self.all[tokens.start].piece.start..self.all[tokens.end - 1].piece.end
    }

    pub fn leave_out(&self, tokens: Range<usize>) -> Edit {
        Edit::leave_out(self.piece(tokens))
    }

    /// The same tokens' text.
    pub fn text_of(&self, tokens: Range<usize>) -> &'a str {
        if tokens.is_empty() { "" } else { &self.text[self.piece(tokens)] }
    }

    /// What stands at the outermost level: declarations, functions, directives.
    pub fn outermost(&self) -> Vec<Range<usize>> {
        self.split(0, self.all.len())
    }

    /// Statements of every block, outer ones first.
    pub fn statements(&self) -> Vec<Range<usize>> {
        let blocks = (0..self.all.len()).filter(|i| self.word(*i) == "{");
        blocks.filter_map(|open| Some(self.split(open + 1, self.close(open)?))).flatten().collect()
    }

    /// Statements or declarations among tokens: each ends with a `;`, a directive, or the end of a block.
    fn split(&self, from: usize, to: usize) -> Vec<Range<usize>> {
        let mut out = Vec::new();
        let (mut start, mut at) = (from, from);
        while at < to {
            let token = &self.all[at];
            let ends = match self.close(at).filter(|p| *p < to) {
                Some(close) => {
                    at = close;
                    // `struct { … } name;` goes on behind the block.
                    token.byte == b'{' && !matches!(self.word(start), "typedef" | "struct" | "union" | "do")
                }
                None => token.kind == Kind::Directive || token.byte == b';',
            };
            at += 1;
            if ends {
                out.push(start..at);
                start = at;
            }
        }
        if start < to {
            out.push(start..to);
        }
        out
    }

    /// One behind the last token of the statement that begins at `start`.
    pub fn statement_end(&self, start: usize) -> usize {
        let mut at = start;
        // `for (…) if (…) x;` is one statement.
        while at < self.all.len() {
            match self.close(at) {
                Some(close) if self.word(at) == "{" => return close + 1,
                Some(close) => at = close + 1,
                None if self.word(at) == ";" => return at + 1,
                None if self.word(at) == "}" => return at,
                None => at += 1,
            }
        }
        self.all.len()
    }

    /// Elements between commas of brackets, without the commas.
    pub fn list(&self, open: usize) -> Vec<Range<usize>> {
        let Some(close) = self.close(open).filter(|c| *c > open + 1) else { return Vec::new() };
        let mut out = Vec::new();
        let (mut start, mut at) = (open + 1, open + 1);
        while at < close {
            at = match self.close(at) {
                Some(partner) => partner + 1,
                None => {
                    if self.word(at) == "," {
                        out.push(start..at);
                        start = at + 1;
                    }
                    at + 1
                }
            };
        }
        out.push(start..close);
        out
    }

    /// An element of brackets with one of its commas: the one before it; of the first one, the one behind.
    pub fn with_comma(&self, open: usize, element: &Range<usize>) -> Range<usize> {
        match (element.start == open + 1, self.word(element.end) == ",") {
            (true, true) => element.start..element.end + 1,
            (true, false) => element.clone(),
            _ => element.start - 1..element.end,
        }
    }

    /// Where an expression begins that has a word or closing bracket for its last token: with what is called, indexed, or of which it is
    /// a member.
    pub fn operand_start(&self, last: usize) -> usize {
        let mut at = last;
        loop {
            match self.open(at) {
                Some(open) if open == 0 => return open,
                // What is called or indexed; `(uint)x` is two.
                Some(open) if matches!(self.kind(open - 1), Some(Kind::Word | Kind::Close)) => at = open - 1,
                Some(open) => return open,
                None if at >= 2 && matches!(self.word(at - 1), "." | "->") => at -= 2,
                None => return at,
            }
        }
    }

    /// One behind an expression that begins with signs and casts, a word, a literal or brackets.
    pub fn operand_end(&self, first: usize) -> usize {
        let mut at = first;
        while matches!(self.word(at), "-" | "~" | "!" | "&" | "*") {
            at += 1;
        }
        let mut has_value = false;
        while at < self.all.len() {
            at = match self.all[at].kind {
                Kind::Open if self.word(at) != "{" => match self.close(at) {
                    Some(close) => {
                        // Behind a cast there is more.
                        has_value = has_value || self.word(at) != "(" || !self.begins_value(close + 1);
                        close + 1
                    }
                    None => return at,
                },
                Kind::Word | Kind::Literal if !has_value => {
                    has_value = true;
                    at + 1
                }
                Kind::Mark if matches!(self.word(at), "." | "->") => at + 2,
                _ => break,
            };
        }
        at.min(self.all.len())
    }

    /// Where what is cast begins, if a cast begins at `open`: a type in brackets, and a value behind it.
    pub fn cast_end(&self, open: usize) -> Option<usize> {
        let close = self.close(open).filter(|close| self.word(open) == "(" && *close > open + 1)?;
        let called = open.checked_sub(1).is_some_and(|before| match self.kind(before) {
            Some(Kind::Word) => self.word(before) != "return",
            Some(Kind::Close) => self.word(before) == "]",
            _ => false,
        });
        let is_type = (open + 1..close).all(|i| self.kind(i) == Some(Kind::Word) || self.word(i) == "*");
        let signed = matches!(self.word(close + 1), "~" | "!");
        (!called && is_type && (self.begins_value(close + 1) || signed)).then_some(close + 1)
    }

    fn begins_value(&self, i: usize) -> bool {
        matches!(self.kind(i), Some(Kind::Word | Kind::Literal)) || self.word(i) == "("
    }

    /// The expression around a token, up to what separates it from others.
    pub fn around(&self, i: usize) -> Range<usize> {
        let ends = |w: &str| matches!(w, ";" | "," | "return" | ":" | "?") || is_assignment(w);
        let (mut start, mut end) = (i, i + 1);
        while start > 0 {
            start = match (self.open(start - 1), self.kind(start - 1)) {
                (Some(open), _) if self.word(start - 1) != "}" => open,
                (_, Some(Kind::Open | Kind::Close | Kind::Directive)) => break,
                _ if ends(self.word(start - 1)) => break,
                _ => start - 1,
            };
        }
        while end < self.all.len() {
            end = match (self.close(end), self.kind(end)) {
                (Some(close), _) => close + 1,
                (_, Some(Kind::Open | Kind::Close | Kind::Directive)) => break,
                _ if ends(self.word(end)) => break,
                _ => end + 1,
            };
        }
        start..end
    }
}

/// Is it an operator that assigns?
pub fn is_assignment(word: &str) -> bool {
    word.ends_with('=') && !["==", "!=", "<=", ">="].contains(&word)
}
