//! Rendering for people: rustc's layout, through the `annotate-snippets` crate.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Padding, Patch, Renderer, Snippet};

use crate::excerpt::{cluster, window};
use crate::source::{LineCol, SourceFile};
use crate::{Diagnostic, FileId, Files, Label, Severity, Span, Suggestion};

/// Bytes of a binary file shown in one row.
const ROW: u32 = 16;

/// How text is rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Colours, as ANSI escapes.
    pub color: bool,
    /// Columns to render within.
    pub width: usize,
    /// How many diagnostics to show at most, errors first; the others are counted.
    pub max: usize,
    /// How many warnings of one code to show at most; the others are counted.
    pub alike: usize,
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions { color: false, width: 140, max: 100, alike: usize::MAX }
    }
}

impl TextOptions {
    fn renderer(&self) -> Renderer {
        let renderer = if self.color { Renderer::styled() } else { Renderer::plain() };
        renderer.term_width(self.width.max(40))
    }
}

/// Splits diagnostics into those to show and those that are alike: warnings of whose code enough are shown.
fn limit_similar(diagnostics: &[Diagnostic], most: usize) -> (Vec<usize>, BTreeMap<&str, usize>) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut folded = BTreeMap::new();
    let mut shown = Vec::with_capacity(diagnostics.len());
    for (i, d) in diagnostics.iter().enumerate() {
        let n = seen.entry(&d.code).or_default();
        *n += 1;
        if d.severity == Severity::Warning && !d.code.is_empty() && *n > most {
            *folded.entry(&*d.code).or_default() += 1;
        } else {
            shown.push(i);
        }
    }
    (shown, folded)
}

/// Renders diagnostics in their order, a blank line after each, and last lines that count those beyond
/// [`TextOptions::alike`] and [`TextOptions::max`]. Empty for no diagnostics.
pub fn render_text(files: &Files, diagnostics: &[Diagnostic], options: &TextOptions) -> String {
    let renderer = options.renderer();
    // A wall of warnings must not push the errors out.
    let (mut by_gravity, folded) = limit_similar(diagnostics, options.alike);
    by_gravity.sort_by_key(|&i| (diagnostics[i].severity, i));
    let (shown, left) = by_gravity.split_at(options.max.min(by_gravity.len()));
    let mut shown = shown.to_vec();
    shown.sort_unstable();
    let mut out = String::new();
    for i in shown {
        out.push_str(&render_with(&renderer, files, &diagnostics[i]));
        out.push_str("\n\n");
    }
    if !folded.is_empty() {
        let list: Vec<String> = folded.iter().map(|(code, n)| format!("{n} of {code}")).collect();
        let _ = writeln!(out, "... and more warnings like these: {}", list.join(", "));
    }
    if !left.is_empty() {
        let mut counts = Vec::new();
        for severity in [Severity::Error, Severity::Warning, Severity::Note, Severity::Help] {
            let n = left.iter().filter(|&&i| diagnostics[i].severity == severity).count();
            if n > 0 {
                counts.push(format!("{n} more {severity}{}", if n == 1 { "" } else { "s" }));
            }
        }
        let _ = writeln!(out, "... and {}", counts.join(", "));
    }
    out
}

/// Renders one diagnostic, without a line feed at the end.
pub fn render_one(files: &Files, diagnostic: &Diagnostic, options: &TextOptions) -> String {
    render_with(&options.renderer(), files, diagnostic)
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
        Severity::Help => Level::HELP,
    }
}

fn render_with(renderer: &Renderer, files: &Files, diagnostic: &Diagnostic) -> String {
    let mut title = level(diagnostic.severity).primary_title(diagnostic.message.as_ref());
    if !diagnostic.code.is_empty() {
        title = title.id(diagnostic.code.as_ref());
    }
    let mut group = Group::with_title(title);
    let mut fixes = Fixes::default();
    for (id, labels) in by_file(diagnostic) {
        let Some(file) = files.get(id) else {
            group = group.element(Level::NOTE.message(format!("in unknown file #{}", id.0)));
            continue;
        };
        if file.is_binary() {
            group = binary_elements(group, file, &labels);
        } else {
            group = text_elements(group, file, &labels, &mut fixes);
        }
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_ref()));
    }
    for help in diagnostic.helps.iter().filter(|h| h.suggestion.is_none()) {
        group = group.element(Level::HELP.message(help.text.as_ref()));
    }
    let mut groups = vec![group];
    for help in &diagnostic.helps {
        if let Some(suggestion) = &help.suggestion {
            let title = Level::HELP.secondary_title(help.text.as_ref());
            groups.push(suggestion_group(Group::with_title(title), files, suggestion));
        }
    }
    fixes.apply(renderer.render(&groups))
}

/// The labels of each file, the location's file first.
fn by_file(diagnostic: &Diagnostic) -> Vec<(FileId, Vec<&Label>)> {
    let mut files: Vec<(FileId, Vec<&Label>)> = Vec::new();
    for label in diagnostic.location().into_iter().chain(&diagnostic.labels) {
        let at = files.iter().position(|(id, _)| *id == label.file).unwrap_or_else(|| {
            files.push((label.file, Vec::new()));
            files.len() - 1
        });
        let labels = &mut files[at].1;
        if !labels.iter().any(|l| std::ptr::eq(*l, label)) {
            labels.push(label);
        }
    }
    files
}

fn text_elements<'a>(
    mut group: Group<'a>,
    file: &'a SourceFile,
    labels: &[&'a Label],
    fixes: &mut Fixes,
) -> Group<'a> {
    let spans: Vec<Span> = labels.iter().map(|l| l.span).collect();
    let mut clusters = cluster(file, &spans);
    // The header names the first label's place, so its window leads.
    if let Some(lead) = clusters.iter().position(|c| c.contains(&0)) {
        let lead = clusters.remove(lead);
        clusters.insert(0, lead);
    }
    for members in clusters {
        let spans: Vec<Span> = members.iter().map(|&i| spans[i]).collect();
        let window = window(file, &spans);
        let mut path = file.name().to_owned();
        if window.shifted {
            // The renderer counts columns in the clipped line: the header is corrected afterwards.
            let lead = members.iter().position(|&i| labels[i].primary).unwrap_or(0);
            let place = file.line_col(labels[members[lead]].span.start);
            path.push_str(&fixes.mark(place));
        }
        let mut snippet = Snippet::source(window.text).line_start(window.first_line as usize).path(path);
        for (&member, range) in members.iter().zip(window.ranges) {
            let label = labels[member];
            let kind = if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let text = (!label.text.is_empty()).then_some(label.text.as_ref());
            snippet = snippet.annotation(kind.span(range).label(text));
        }
        group = group.element(snippet);
    }
    group
}

/// Labels into a binary file: the offset, then the bytes there in hexadecimal with the label under them.
fn binary_elements<'a>(mut group: Group<'a>, file: &'a SourceFile, labels: &[&'a Label]) -> Group<'a> {
    for label in labels {
        let at = label.span.start;
        group = group.element(Origin::path(format!("{}: offset {at:#x}", file.name())));
        group = group.element(Padding);
        if at >= file.len() {
            if !label.text.is_empty() {
                group = group.element(Level::NOTE.no_name().message(label.text.as_ref()));
            }
            continue;
        }
        let row = at - at % ROW;
        let row_end = row.saturating_add(ROW).min(file.len());
        let mut dump = format!("{row:08x}:");
        let first = dump.len() + 1 + 3 * (at - row) as usize;
        for byte in &file.bytes()[row as usize..row_end as usize] {
            let _ = write!(dump, " {byte:02x}");
        }
        let bytes = label.span.end.min(row_end).saturating_sub(at).max(1) as usize;
        let marker = if label.primary { "^" } else { "-" };
        let _ = write!(dump, "\n{:first$}{} {}", "", marker.repeat(3 * bytes - 1), label.text);
        group = group.element(Level::NOTE.no_name().message(dump.trim_end().to_owned()));
    }
    group
}

/// Columns of headers that the renderer cannot know. A mark is put behind the path and found again in the
/// output.
#[derive(Default)]
struct Fixes(Vec<LineCol>);

impl Fixes {
    /// Private-use characters, which pass through the renderer as they are.
    fn mark(&mut self, place: LineCol) -> String {
        self.0.push(place);
        format!("\u{e000}{}\u{e001}", self.0.len() - 1)
    }

    fn apply(&self, mut rendered: String) -> String {
        for (i, place) in self.0.iter().enumerate() {
            let mark = format!("\u{e000}{i}\u{e001}");
            let Some(at) = rendered.find(&mark) else { continue };
            let digits = |c: char| c.is_ascii_digit() || c == ':';
            let rest = &rendered[at + mark.len()..];
            let end = at + mark.len() + rest.find(|c| !digits(c)).unwrap_or(rest.len());
            rendered.replace_range(at..end, &format!(":{}:{}", place.line, place.column));
        }
        rendered
    }
}

fn suggestion_group<'a>(group: Group<'a>, files: &'a Files, suggestion: &'a Suggestion) -> Group<'a> {
    let Some(file) = files.get(suggestion.file).filter(|f| !f.is_binary()) else {
        return group.element(Level::NOTE.message(format!("replace by `{}`", suggestion.replacement)));
    };
    let window = window(file, &[suggestion.span]);
    let range = window.ranges.into_iter().next().unwrap_or_default();
    let snippet = Snippet::source(window.text)
        .line_start(window.first_line as usize)
        .path(file.name())
        .patch(Patch::new(range, suggestion.replacement.as_str()));
    group.element(Element::Suggestion(snippet))
}
