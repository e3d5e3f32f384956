//! A line being read: what is expected at each place, or an error that says so.

use std::fmt;

use crate::BadProgram;

/// Why a text is no program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReadError {
    /// A line is not as it should be.
    Line {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in bytes.
        column: usize,
        /// What is wrong: mostly what was expected.
        message: String,
    },
    /// All lines could be read, but what they say is no program.
    Damaged(BadProgram),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Line { line, column, message } => write!(f, "line {line}, column {column}: {message}"),
            ReadError::Damaged(bad) => bad.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}

pub type Result<T> = std::result::Result<T, ReadError>;

/// What is left of a line.
#[derive(Clone)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
    number: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str, number: usize) -> Cursor<'a> {
        Cursor { text, at: 0, number }
    }

    fn remaining_text(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub fn error(&self, message: impl Into<String>) -> ReadError {
        ReadError::Line { line: self.number, column: self.at + 1, message: message.into() }
    }

    pub fn expected(&self, what: &str) -> ReadError {
        let found: String = self.remaining_text().chars().take(20).collect();
        self.error(match found.is_empty() {
            true => format!("{what} is expected, not the end of the line"),
            false => format!("{what} is expected, not `{found}`"),
        })
    }

    pub fn skip_blanks(&mut self) {
        self.at += self.remaining_text().len() - self.remaining_text().trim_start_matches(' ').len();
    }

    pub fn at_end(&self) -> bool {
        self.remaining_text().is_empty()
    }

    /// Nothing but blanks may be left.
    pub fn end(mut self) -> Result<()> {
        self.skip_blanks();
        if self.at_end() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    pub fn starts_with(&self, what: &str) -> bool {
        self.remaining_text().starts_with(what)
    }

    /// Takes these characters if they come next.
    pub fn take(&mut self, what: &str) -> bool {
        let is = self.starts_with(what);
        if is {
            self.at += what.len();
        }
        is
    }

    pub fn expect(&mut self, what: &str) -> Result<()> {
        if self.take(what) { Ok(()) } else { Err(self.expected(&format!("`{}`", what.trim()))) }
    }

    /// Takes a word if it comes next, after blanks, as a whole.
    pub fn take_word(&mut self, word: &str) -> bool {
        let mut ahead = self.clone();
        ahead.skip_blanks();
        let is = ahead.word() == word && !word.is_empty();
        if is {
            *self = ahead;
        }
        is
    }

    /// The characters up to the first that does not fit.
    pub fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let rest = self.remaining_text();
        let taken = &rest[..rest.find(|c| !fits(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    /// Letters, digits and what names of operations have besides; empty if there are none.
    pub fn word(&mut self) -> &'a str {
        self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    }

    /// An unsigned number, decimal or hexadecimal.
    pub fn unsigned<T: TryFrom<u64>>(&mut self) -> Result<T> {
        let before = self.clone();
        let digits = self.take_while(|c| c.is_ascii_alphanumeric());
        let number = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        let number = number.map_err(|_| before.expected("a number"))?;
        T::try_from(number).map_err(|_| before.error(format!("{number} is too large here")))
    }

    /// A number with a sign or without.
    pub fn signed<T: TryFrom<i128>>(&mut self) -> Result<T> {
        let before = self.clone();
        let negative = self.take("-");
        if !negative {
            self.take("+");
        }
        let size: u64 = self.unsigned().map_err(|_| before.expected("a number"))?;
        let number = if negative { -i128::from(size) } else { size.into() };
        T::try_from(number).map_err(|_| before.error(format!("{number} does not fit here")))
    }

    /// `@` and an offset.
    pub fn offset(&mut self) -> Result<u32> {
        self.skip_blanks();
        self.expect("@")?;
        self.unsigned()
    }

    /// A string as [`fmt::Debug`] writes it.
    pub fn string(&mut self) -> Result<String> {
        self.skip_blanks();
        let start = self.clone();
        if !self.take("\"") {
            return Err(self.expected("a string in quotes"));
        }
        let mut out = String::new();
        loop {
            out.push_str(self.take_while(|c| c != '"' && c != '\\'));
            if self.take("\"") {
                return Ok(out);
            }
            if !self.take("\\") {
                return Err(start.error("a string has no closing quote"));
            }
            let Some(c) = self.remaining_text().chars().next() else {
                return Err(start.error("a string has no closing quote"));
            };
            self.at += c.len_utf8();
            out.push(match c {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                '0' => '\0',
                '\\' | '"' | '\'' => c,
                'u' => {
                    self.expect("{")?;
                    let hex = self.take_while(|c| c.is_ascii_hexdigit());
                    let c = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
                    let c = c.ok_or_else(|| self.error(format!("`{hex}` is no character's number")))?;
                    self.expect("}")?;
                    c
                }
                _ => return Err(self.error(format!("`\\{c}` is no escape"))),
            });
        }
    }
}
