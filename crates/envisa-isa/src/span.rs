//! Places in a source.

/// A half-open range of bytes in one source: the text, or the binary file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte; `end == start` marks a place between bytes.
    pub end: u32,
}

impl Span {
    /// No place.
    pub const NONE: Span = Span { start: 0, end: 0 };

    /// The span `start..end`; an `end` before `start` is taken as `start`.
    pub const fn new(start: u32, end: u32) -> Span {
        Span { start, end: if end < start { start } else { end } }
    }

    /// From the start of `self` to the end of `other`.
    pub const fn to(self, other: Span) -> Span {
        Span::new(self.start, other.end)
    }
}

impl From<std::ops::Range<u32>> for Span {
    fn from(r: std::ops::Range<u32>) -> Self {
        Span::new(r.start, r.end)
    }
}

impl From<(u32, u32)> for Span {
    fn from((start, end): (u32, u32)) -> Self {
        Span::new(start, end)
    }
}

/// A single place, with no width. In binary files this is the usual span: an offset.
impl From<u32> for Span {
    fn from(at: u32) -> Self {
        Span::new(at, at)
    }
}
