//! Rendering for people: rustc's layout, through the `annotate-snippets` crate.

use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Patch, Renderer, Snippet};

use crate::source::SourceFile;
use crate::window::{cluster, window};
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
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions { color: false, width: 140, max: 100 }
    }
}

impl TextOptions {
    fn renderer(&self) -> Renderer {
        let renderer = if self.color { Renderer::styled() } else { Renderer::plain() };
        renderer.term_width(self.width.max(40))
    }
}

/// Renders diagnostics in their order, a blank line after each, and a last line that counts those beyond
/// [`TextOptions::max`]. Empty for no diagnostics.
pub fn render_text(files: &Files, diagnostics: &[Diagnostic], options: &TextOptions) -> String {
    let renderer = options.renderer();
    // A wall of warnings must not push the errors out.
    let mut by_gravity: Vec<usize> = (0..diagnostics.len()).collect();
    by_gravity.sort_by_key(|&i| (diagnostics[i].severity, i));
    let (shown, left) = by_gravity.split_at(options.max.min(diagnostics.len()));
    let mut shown = shown.to_vec();
    shown.sort_unstable();
    let mut out = String::new();
    for i in shown {
        out.push_str(&render_with(&renderer, files, &diagnostics[i]));
        out.push_str("\n\n");
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
    for (id, labels) in by_file(diagnostic) {
        let Some(file) = files.get(id) else {
            group = group.element(Level::NOTE.message(format!("in unknown file #{}", id.0)));
            continue;
        };
        if file.is_binary() {
            group = binary_elements(group, file, &labels);
        } else {
            group = text_elements(group, file, &labels);
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
    renderer.render(&groups)
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

fn text_elements<'a>(mut group: Group<'a>, file: &'a SourceFile, labels: &[&'a Label]) -> Group<'a> {
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
        let mut snippet = Snippet::source(window.text).line_start(window.first_line as usize);
        if window.shifted {
            let lead = members.iter().map(|&i| labels[i]).find(|l| l.primary).unwrap_or(labels[members[0]]);
            let at = file.line_col(lead.span.start);
            let origin = Origin::path(file.name()).line(at.line as usize).char_column(at.column as usize);
            group = group.element(origin);
        } else {
            snippet = snippet.path(file.name());
        }
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
        let text = (!label.text.is_empty()).then_some(label.text.as_ref());
        if at >= file.len() {
            if let Some(text) = text {
                group = group.element(Level::NOTE.no_name().message(text));
            }
            continue;
        }
        let row = at - at % ROW;
        let row_end = row.saturating_add(ROW).min(file.len());
        let mut dump = format!("{row:08x}:");
        let first = dump.len() + 1 + 3 * (at - row) as usize;
        let _ =
            file.bytes()[row as usize..row_end as usize].iter().try_for_each(|b| write!(dump, " {b:02x}"));
        let bytes = label.span.end.min(row_end).saturating_sub(at).max(1) as usize;
        let kind = if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        let annotation = kind.span(first..first + 3 * bytes - 1).label(text);
        group = group.element(Snippet::source(dump).annotation(annotation));
    }
    group
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
