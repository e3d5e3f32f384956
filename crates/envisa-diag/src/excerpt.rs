//! Cuts the lines around some spans out of a file, so that rendering does not read all of it.

use crate::Span;
use crate::source::SourceFile;

/// Lines apart from which two labels get windows of their own.
const SAME_WINDOW: u32 = 12;
/// A span over more lines is shown by its first line only.
const LONGEST_SPAN: u32 = 40;
/// A longer line (in bytes) is clipped around its labels.
const LONGEST_LINE: u32 = 400;
/// Bytes kept before the first and after the last label of a clipped line.
const MARGIN: u32 = 120;

/// A window: some consecutive lines as text, and the spans in it as byte ranges of that text.
#[derive(Debug)]
pub(crate) struct Window {
    /// The lines, `\n` between them.
    pub text: String,
    /// Number of the first line, from 1.
    pub first_line: u32,
    /// For every span given, its range in `text`.
    pub ranges: Vec<std::ops::Range<usize>>,
    /// Whether the start of a line with a label was cut, so that columns must come from the file.
    pub shifted: bool,
}

/// The spans of a file that share a window, as indices into the list given.
pub(crate) fn cluster(file: &SourceFile, spans: &[Span]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|&i| (spans[i].start, spans[i].end));
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    let mut last_line = 0;
    for i in order {
        let (first, last) = lines(file, spans[i]);
        match clusters.last_mut() {
            Some(cluster) if first <= last_line + SAME_WINDOW => cluster.push(i),
            _ => clusters.push(vec![i]),
        }
        last_line = last_line.max(last);
    }
    clusters
}

/// First and last line, from 0, of what is shown of a span.
fn lines(file: &SourceFile, span: Span) -> (u32, u32) {
    let span = clamp(file, span);
    let first = file.line_of(span.start);
    let last = file.line_of(span.end.saturating_sub(1).max(span.start));
    if last - first > LONGEST_SPAN { (first, first) } else { (first, last) }
}

fn clamp(file: &SourceFile, span: Span) -> Span {
    let start = file.snap(span.start);
    // An end inside a character takes the whole character.
    let mut end = span.end.clamp(start, file.len());
    while end > start && file.snap(end) != end {
        end += 1;
    }
    Span::new(start, end)
}

/// The window that shows these spans.
pub(crate) fn window(file: &SourceFile, spans: &[Span]) -> Window {
    let shown: Vec<(Span, u32, u32)> = spans
        .iter()
        .map(|&span| {
            let (first, last) = lines(file, span);
            (clamp(file, span), first, last)
        })
        .collect();
    let first = shown.iter().map(|s| s.1).min().unwrap_or(0);
    let last = shown.iter().map(|s| s.2).max().unwrap_or(0);
    let mut text = String::new();
    let mut shifted = false;
    let mut ranges = vec![0..0; spans.len()];
    for line in first..=last {
        let whole = file.line_span(line);
        let kept = clip(file, line, whole, &shown);
        if line != first {
            text.push('\n');
        }
        if kept.start > whole.start {
            shifted |= shown.iter().any(|s| s.1 == line);
            text.push_str("...");
        }
        let base = text.len();
        text.push_str(&file.lossy(kept));
        let line_end = text.len();
        let place = |offset: u32| {
            let inside = Span::new(kept.start, offset.clamp(kept.start, kept.end));
            let mut at = (base + file.lossy(inside).len()).min(line_end);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        for (range, &(span, span_first, span_last)) in ranges.iter_mut().zip(&shown) {
            if span_first == line {
                range.start = place(span.start);
                range.end = range.start;
            }
            if span_last == line {
                range.end = place(span.end).max(range.start);
            }
        }
        if kept.end < whole.end {
            text.push_str("...");
        }
    }
    // The renderer shows an empty range at the end of the text only if the line goes on.
    if ranges.iter().any(|r| r.start == text.len()) {
        text.push(' ');
    }
    Window { text, first_line: first + 1, ranges, shifted }
}

/// The part of a long line worth showing.
fn clip(file: &SourceFile, line: u32, whole: Span, shown: &[(Span, u32, u32)]) -> Span {
    if whole.end - whole.start <= LONGEST_LINE {
        return whole;
    }
    let here = shown.iter().filter(|s| s.1 <= line && line <= s.2);
    let from = here.clone().map(|s| s.0.start.max(whole.start)).min().unwrap_or(whole.start);
    let to = here.map(|s| s.0.end.min(whole.end)).max().unwrap_or(whole.start);
    let start = file.snap(from.saturating_sub(MARGIN).max(whole.start));
    // Labels far apart on one line: what is near the first stays.
    let end = to.max(from).min(from + LONGEST_LINE).saturating_add(MARGIN).min(whole.end);
    Span::new(start, file.snap(end).max(start))
}
