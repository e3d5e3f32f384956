//! Tokens of C-like texts, with their brackets matched.

use crate::Piece;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A name or keyword.
    Word,
    /// A number, string or character.
    Literal,
    /// A line of the preprocessor, whole.
    Directive,
    /// `(`, `[` or `{`.
    Open,
    /// `)`, `]` or `}`.
    Close,
    /// An operator or separator.
    Mark,
}

/// A token.
#[derive(Clone, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub piece: Piece,
    /// Its first byte.
    pub byte: u8,
    /// Of a bracket, the index of its partner.
    pub partner: Option<usize>,
}

/// The tokens of a text. Comments are none; what belongs to no token of C is a mark.
pub fn tokenize(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut out: Vec<Token> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    let mut line_start = true;
    while at < bytes.len() {
        let rest = &text[at..];
        let first = bytes[at];
        if first == b'\n' || first.is_ascii_whitespace() {
            line_start |= first == b'\n';
            at += 1;
            continue;
        }
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |n| n + 2);
            continue;
        }
        let (kind, len) = match first {
            b'#' if line_start => (Kind::Directive, directive_length(rest)),
            b'"' | b'\'' => (Kind::Literal, quoted_length(rest, first)),
            b'0'..=b'9' => (Kind::Literal, run(rest, |c| c.is_alphanumeric() || c == '.' || c == '_')),
            b'(' | b'[' | b'{' => (Kind::Open, 1),
            b')' | b']' | b'}' => (Kind::Close, 1),
            c if c.is_ascii_alphabetic() || c == b'_' => {
                (Kind::Word, run(rest, |c| c.is_alphanumeric() || c == '_'))
            }
            _ => (Kind::Mark, punctuation_length(rest)),
        };
        line_start = false;
        let index = out.len();
        let mut partner = None;
        if kind == Kind::Open {
            open.push(index);
        } else if kind == Kind::Close
            && let Some(start) = open.pop()
        {
            out[start].partner = Some(index);
            partner = Some(start);
        }
        out.push(Token { kind, piece: at..at + len, byte: first, partner });
        at += len;
    }
    out
}

fn run(text: &str, inside: impl Fn(char) -> bool) -> usize {
    text.find(|c| !inside(c)).unwrap_or(text.len())
}

/// To the end of the line, or of the last one that goes on behind a backslash.
fn directive_length(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if !line.trim_end().ends_with('\\') {
            break;
        }
    }
    text[..at].trim_end().len().max(1)
}

fn quoted_length(text: &str, quote: u8) -> usize {
    let mut escaped = false;
    for (i, b) in text.bytes().enumerate().skip(1) {
        match b {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'\n' => return i,
            b if b == quote => return i + 1,
            _ => {}
        }
    }
    text.len()
}

fn punctuation_length(text: &str) -> usize {
    const LONG: [&str; 21] = [
        "<<=", ">>=", "++", "--", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=",
        "/=", "|=", "&=", "^=", "%=",
    ];
    let long = LONG.iter().find(|m| text.starts_with(**m)).map(|m| m.len());
    long.unwrap_or_else(|| text.chars().next().map_or(1, char::len_utf8))
}
