//! The inputs that diagnostics point into, with a line index made on first use.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::Span;

/// Names one file of a [`Files`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A place for people: 1-based line and column, the column counted in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineCol {
    /// Line, from 1.
    pub line: u32,
    /// Column in Unicode scalar values, from 1; bytes that are not UTF-8 count as they are shown.
    pub column: u32,
}

/// One input: its name and its bytes.
///
/// Spans are `u32`, so only the first 4 GiB of an input can be pointed at; the rest is dropped.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    bytes: Vec<u8>,
    binary: bool,
    /// Offsets of the first byte of every line.
    lines: OnceLock<Vec<u32>>,
    ascii: OnceLock<bool>,
}

impl SourceFile {
    fn new(name: String, mut bytes: Vec<u8>, binary: bool) -> Self {
        bytes.truncate(u32::MAX as usize);
        SourceFile { name, bytes, binary, lines: OnceLock::new(), ascii: OnceLock::new() }
    }

    /// The name as shown.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether labels into it are shown as byte offsets.
    pub fn is_binary(&self) -> bool {
        self.binary
    }

    /// The length in bytes.
    pub fn len(&self) -> u32 {
        u32::try_from(self.bytes.len()).unwrap_or(u32::MAX)
    }

    /// True for an empty input.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn starts(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let ends = memchr::memchr_iter(b'\n', &self.bytes);
            std::iter::once(0).chain(ends.map(|at| at as u32 + 1)).collect()
        })
    }

    fn is_ascii(&self) -> bool {
        *self.ascii.get_or_init(|| self.bytes.is_ascii())
    }

    /// The number of lines; what follows the last line feed counts, even if empty.
    pub fn line_count(&self) -> u32 {
        self.starts().len() as u32
    }

    /// The line, from 0, that holds `offset`; offsets beyond the end belong to the last line.
    pub(crate) fn line_of(&self, offset: u32) -> u32 {
        (self.starts().partition_point(|&start| start <= offset) as u32).saturating_sub(1)
    }

    /// The bytes of a line, from 0, without its terminator; empty beyond the last.
    pub(crate) fn line_span(&self, line: u32) -> Span {
        let starts = self.starts();
        let line = line as usize;
        let Some(&start) = starts.get(line) else { return Span::new(self.len(), self.len()) };
        let mut end = starts.get(line + 1).map_or(self.len(), |next| next - 1);
        if end > start && starts.len() > line + 1 && self.bytes[end as usize - 1] == b'\r' {
            end -= 1;
        }
        Span::new(start, end)
    }

    /// The text of a line, from 1, without its terminator; bytes that are not UTF-8 are replaced.
    pub fn line_text(&self, line: u32) -> Cow<'_, str> {
        self.lossy(self.line_span(line.saturating_sub(1)))
    }

    /// The bytes of a line, from 1, without blanks at its ends; `None` where there is no such line, or nothing on it.
    pub fn line_range(&self, line: u32) -> Option<Span> {
        let line = line.checked_sub(1).filter(|l| *l < self.line_count())?;
        let span = self.line_span(line);
        let bytes = self.bytes.get(span.start as usize..span.end as usize)?;
        let (front, back) = (bytes.trim_ascii_start(), bytes.trim_ascii_end());
        if front.is_empty() {
            return None;
        }
        let start = span.start + (bytes.len() - front.len()) as u32;
        Some(Span::new(start, span.start + back.len() as u32))
    }

    /// The bytes of a span as text; a span beyond the file is cut.
    pub fn lossy(&self, span: Span) -> Cow<'_, str> {
        let start = (span.start as usize).min(self.bytes.len());
        let end = (span.end as usize).clamp(start, self.bytes.len());
        String::from_utf8_lossy(&self.bytes[start..end])
    }

    /// Line and column of a byte; an offset beyond the end is taken as the end.
    pub fn line_col(&self, offset: u32) -> LineCol {
        let offset = self.snap(offset);
        let line = self.line_of(offset);
        let span = self.line_span(line);
        // An offset on a terminator is shown just after the line's text.
        let in_line = Span::new(span.start, offset.min(span.end));
        let before = if self.is_ascii() {
            in_line.end - in_line.start
        } else {
            self.lossy(in_line).chars().count() as u32
        };
        LineCol { line: line + 1, column: before + 1 }
    }

    /// Moves an offset down to the start of its character and into the file.
    pub(crate) fn snap(&self, offset: u32) -> u32 {
        let mut at = offset.min(self.len());
        for _ in 0..3 {
            match self.bytes.get(at as usize) {
                Some(byte) if byte & 0xc0 == 0x80 && at > 0 => at -= 1,
                _ => break,
            }
        }
        at
    }
}

/// All inputs of a run.
#[derive(Clone, Debug, Default)]
pub struct Files {
    files: Vec<SourceFile>,
}

impl Files {
    /// No files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text. It need not be UTF-8; what is not is shown as U+FFFD.
    pub fn add_text(&mut self, name: impl Into<String>, text: impl Into<Vec<u8>>) -> FileId {
        self.add(SourceFile::new(name.into(), text.into(), false))
    }

    /// Adds a binary file: its labels are shown as byte offsets with the bytes there. The content may be
    /// left empty.
    pub fn add_binary(&mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> FileId {
        self.add(SourceFile::new(name.into(), bytes.into(), true))
    }

    fn add(&mut self, file: SourceFile) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(file);
        id
    }

    /// The file of an id; `None` if the id is another [`Files`]'s.
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// Every file with its id.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }
}
