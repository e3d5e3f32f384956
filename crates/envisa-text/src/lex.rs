//! Bytes to tokens: blanks, comments, names, numbers, strings; called by the parser, which keeps no tokens.

use std::borrow::Cow;

use envisa_isa::Span;

use crate::name_bytes::{is_ident, is_start};
use crate::parser::{LineError, P, Parser};

/// A whole number as written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    pub value: u64,
    pub hex: bool,
    pub span: Span,
}

impl<'s> Parser<'s> {
    /// The byte here; 0 at the end.
    #[inline(always)]
    pub fn peek(&self) -> u8 {
        match self.src.get(self.pos) {
            Some(&b) => b,
            None => 0,
        }
    }

    /// The byte `n` further on; 0 at the end.
    #[inline(always)]
    pub fn peek_at(&self, n: usize) -> u8 {
        match self.src.get(self.pos + n) {
            Some(&b) => b,
            None => 0,
        }
    }

    /// Steps over blanks, block comments and continued lines.
    #[inline(always)]
    pub fn skip_blanks(&mut self) {
        while let Some(&b) = self.src.get(self.pos) {
            if b == b' ' || b == b'\t' {
                self.pos += 1;
            } else if b == b'/' || b == b'\\' || b == b'\r' {
                if !self.blank_rare() {
                    return;
                }
            } else {
                return;
            }
        }
    }

    /// The rarer blanks; false if there is none.
    #[inline(never)]
    fn blank_rare(&mut self) -> bool {
        match (self.peek(), self.peek_at(1)) {
            (b'/', b'*') => {
                self.block_comment();
                true
            }
            (b'\r', b'\n' | 0) => {
                self.pos += 1;
                true
            }
            (b'\\', b'\n') => {
                self.pos += 2;
                true
            }
            (b'\\', b'\r') if self.peek_at(2) == b'\n' => {
                self.pos += 3;
                true
            }
            _ => false,
        }
    }

    /// Steps over `/* … */`; complains if it does not end, or seems to hold code.
    fn block_comment(&mut self) {
        let start = self.pos;
        let body = &self.src[start + 2..];
        let Some(len) = memchr::memmem::find(body, b"*/") else {
            self.pos = self.src.len();
            let d = self
                .error_at("E0101", "block comment is not closed", Span::new(start as u32, start as u32 + 2))
                .note("everything from here to the end of the file is part of the comment")
                .help("close it with `*/`, or use `//` for a comment to the end of the line");
            self.report_diagnostic(d);
            return;
        };
        let body = &body[..len];
        self.pos = start + 2 + len + 2;
        if let Some(inner) = memchr::memmem::find(body, b"/*") {
            let at = (start + 2 + inner) as u32;
            let d = self
                .warning_at(
                    "W0101",
                    "`/*` within a block comment",
                    Span::new(at, at + 2),
                    "comments do not nest",
                )
                .secondary(self.file, (start as u32, start as u32 + 2), "the comment starts here");
            self.report_diagnostic(d);
        }
        let directive = memchr::memchr_iter(b'\n', body).find(|&i| {
            let line = &body[i + 1..];
            line.starts_with(b".kernel ") || line.starts_with(b".global_function ")
        });
        if let Some(i) = directive {
            let at = (start + 2 + i + 1) as u32;
            let d = self
                .warning_at(
                    "W0101",
                    "a kernel starts within a block comment",
                    Span::new(at, at + 7),
                    "commented out",
                )
                .secondary(self.file, (start as u32, start as u32 + 2), "the comment starts here");
            self.report_diagnostic(d);
        }
    }

    /// Is nothing left on the line but a comment? Blanks are stepped over.
    #[inline]
    pub fn at_eol(&mut self) -> bool {
        self.skip_blanks();
        match self.src.get(self.pos) {
            None | Some(b'\n') => true,
            Some(b'/') => self.peek_at(1) == b'/',
            _ => false,
        }
    }

    /// Goes to the start of the next line, reading an annotation in the comment, if any.
    #[inline]
    pub fn next_line(&mut self) {
        match memchr::memchr(b'\n', &self.src[self.pos..]) {
            Some(n) => self.pos += n + 1,
            None => self.pos = self.src.len(),
        }
    }

    /// Steps over a byte, and blanks before it; false if another one stands there.
    #[inline(always)]
    pub fn eat_byte(&mut self, b: u8) -> bool {
        self.skip_blanks();
        if self.peek() == b && self.pos < self.src.len() {
            self.pos += 1;
            true
        } else {
            false
        }
    }

    /// Demands a punctuation mark.
    #[inline(always)]
    pub fn expect(&mut self, b: u8) -> P<()> {
        if self.eat_byte(b) { Ok(()) } else { Err(self.expected_byte(b)) }
    }

    #[cold]
    fn expected_byte(&mut self, b: u8) -> LineError {
        self.expected(&format!("`{}`", b as char))
    }

    /// Complains that something else was expected here.
    #[cold]
    pub fn expected(&mut self, what: &str) -> LineError {
        let (found, span) = self.found();
        let d = self.diag_label(
            "E0402",
            format!("expected {what}, found {found}"),
            span,
            format!("expected {what}"),
        );
        self.report_and_give_up_line(d)
    }

    /// What stands here, for people, and where.
    #[cold]
    pub fn found(&mut self) -> (String, Span) {
        if self.at_eol() {
            let at = self.pos as u32;
            let what = if self.pos >= self.src.len() { "the end of the file" } else { "the end of the line" };
            return (what.to_owned(), Span::new(at, at + u32::from(self.pos < self.src.len())));
        }
        let start = self.pos;
        let b = self.peek();
        let mut end = start + 1;
        if is_ident(b) || b == b'%' {
            while end < self.src.len() && is_ident(self.src[end]) {
                end += 1;
            }
        } else {
            while !self.text.is_char_boundary(end) {
                end += 1;
            }
        }
        let text: String = self.text[start..end].chars().take(40).collect();
        let text = if text.chars().all(|c| c.is_control()) {
            format!("the control character {:#04x}", b)
        } else {
            format!("`{text}`")
        };
        (text, Span::new(start as u32, end as u32))
    }

    /// Reads an identifier after blanks; empty if there is none.
    #[inline(always)]
    pub fn read_identifier(&mut self) -> &'s [u8] {
        self.skip_blanks();
        let start = self.pos;
        if !is_start(self.peek()) {
            return &self.src[start..start];
        }
        let mut end = start + 1;
        while let Some(&b) = self.src.get(end) {
            if !is_ident(b) {
                break;
            }
            end += 1;
        }
        self.pos = end;
        &self.src[start..end]
    }

    /// Reads letters, digits and underscores, without blanks before them.
    #[inline(always)]
    pub fn run(&mut self) -> &'s [u8] {
        let start = self.pos;
        let mut end = start;
        while let Some(&b) = self.src.get(end) {
            if !is_ident(b) {
                break;
            }
            end += 1;
        }
        self.pos = end;
        &self.src[start..end]
    }

    /// A slice of the source as text; slices are cut at ASCII only.
    pub fn str_of(&self, bytes: &'s [u8]) -> Cow<'s, str> {
        String::from_utf8_lossy(bytes)
    }

    /// Where a slice of the source stands.
    #[inline(always)]
    pub fn span_of(&self, bytes: &'s [u8]) -> Span {
        let start = (bytes.as_ptr() as usize).wrapping_sub(self.src.as_ptr() as usize).min(self.src.len());
        Span::new(start as u32, (start + bytes.len()) as u32)
    }

    /// From a byte offset to here.
    #[inline(always)]
    pub fn since(&self, start: usize) -> Span {
        Span::new(start as u32, self.pos as u32)
    }

    /// Reads a number; `None` if there is none here (after blanks).
    #[inline(always)]
    pub fn number(&mut self) -> P<Option<Number>> {
        self.skip_blanks();
        let start = self.pos;
        let first = self.peek().wrapping_sub(b'0');
        if first > 9 {
            return Ok(None);
        }
        let second = self.peek_at(1);
        if first == 0 && (second == b'x' || second == b'X') {
            return self.hex(start).map(Some);
        }
        let mut value = first as u64;
        let mut wide = false;
        self.pos += 1;
        loop {
            let d = self.peek().wrapping_sub(b'0');
            if d > 9 {
                break;
            }
            wide |= value > u64::MAX / 10 - 1;
            value = value.wrapping_mul(10).wrapping_add(d as u64);
            self.pos += 1;
        }
        let span = self.since(start);
        if wide {
            return Err(self.too_large(span));
        }
        Ok(Some(Number { value, hex: false, span }))
    }

    fn hex(&mut self, start: usize) -> P<Number> {
        self.pos = start + 2;
        let mut value = 0u64;
        let mut wide = false;
        while let Some(d) = (self.peek() as char).to_digit(16) {
            wide |= value >> 60 != 0;
            value = value << 4 | d as u64;
            self.pos += 1;
        }
        let span = self.since(start);
        if self.pos == start + 2 {
            return Err(self.expected("hexadecimal digits after `0x`"));
        }
        if wide {
            return Err(self.too_large(span));
        }
        Ok(Number { value, hex: true, span })
    }

    #[cold]
    fn too_large(&mut self, span: Span) -> LineError {
        let d = self.diag_label("E0105", "number is too large", span, "does not fit into 64 bits");
        self.report_and_give_up_line(d)
    }

    /// Reads a string literal whose `"` stands here.
    pub fn string(&mut self) -> P<(Cow<'s, str>, Span)> {
        let start = self.pos;
        self.pos += 1;
        let body = &self.src[self.pos..];
        let plain = memchr::memchr3(b'"', b'\\', b'\n', body).unwrap_or(body.len());
        if body.get(plain) == Some(&b'"') {
            let text = &self.text[self.pos..self.pos + plain];
            self.pos += plain + 1;
            let span = self.since(start);
            self.no_nul(text.as_bytes(), span)?;
            return Ok((Cow::Borrowed(text), span));
        }
        let mut out: Vec<u8> = Vec::new();
        loop {
            let b = self.peek();
            if self.pos >= self.src.len() || b == b'\n' {
                let d = self.diag_label(
                    "E0103",
                    "string is not closed",
                    Span::new(start as u32, self.pos as u32),
                    "expected `\"` before the end of the line",
                );
                return Err(self.report_and_give_up_line(d));
            }
            self.pos += 1;
            match b {
                b'"' => break,
                b'\\' => self.read_escape(&mut out)?,
                _ => out.push(b),
            }
        }
        let span = self.since(start);
        self.no_nul(&out, span)?;
        match String::from_utf8(out) {
            Ok(s) => Ok((Cow::Owned(s), span)),
            Err(_) => {
                let d = self.diag_label("E0104", "string is not UTF-8", span, "its escapes make other bytes");
                Err(self.report_and_give_up_line(d))
            }
        }
    }

    fn no_nul(&mut self, text: &[u8], span: Span) -> P<()> {
        if memchr::memchr(0, text).is_none() {
            return Ok(());
        }
        let d = self.diag_label(
            "E0104",
            "string contains a NUL character",
            span,
            "strings end at a NUL in the binary",
        );
        Err(self.report_and_give_up_line(d))
    }

    fn read_escape(&mut self, out: &mut Vec<u8>) -> P<()> {
        let start = self.pos - 1;
        let b = self.peek();
        self.pos += 1;
        out.push(match b {
            b'a' => 7,
            b'b' => 8,
            b'e' => 27,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'\'' | b'"' | b'?' | b'\\' => b,
            b'0'..=b'7' => {
                let mut n = (b - b'0') as u32;
                for _ in 0..2 {
                    let d = self.peek().wrapping_sub(b'0');
                    if d > 7 {
                        break;
                    }
                    n = n * 8 + d as u32;
                    self.pos += 1;
                }
                if n > 255 {
                    let span = self.since(start);
                    let d = self.diag_label("E0104", "octal escape is too large", span, "at most \\377");
                    return Err(self.report_and_give_up_line(d));
                }
                n as u8
            }
            b'x' if (self.peek() as char).is_ascii_hexdigit() => {
                let mut n = 0;
                for _ in 0..2 {
                    let Some(d) = (self.peek() as char).to_digit(16) else { break };
                    n = n * 16 + d;
                    self.pos += 1;
                }
                n as u8
            }
            _ => {
                let mut end = self.pos.min(self.src.len());
                while !self.text.is_char_boundary(end) {
                    end += 1;
                }
                self.pos = end;
                let span = Span::new(start as u32, end as u32);
                let d = self.diag_label("E0104", "unknown escape in a string", span, "not an escape").help(
                    "escapes are \\a \\b \\e \\f \\n \\r \\t \\v \\' \\\" \\? \\\\ \\NNN (octal) and \\xHH",
                );
                return Err(self.report_and_give_up_line(d));
            }
        });
        Ok(())
    }
}
