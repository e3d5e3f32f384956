//! Rendering for tools: one JSON object a diagnostic, one diagnostic a line.

use serde::Serialize;

use crate::{Diagnostic, Files, Label, TextOptions, render_one};

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    /// Absent in binary files, as is `column`.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_end: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column_end: Option<u32>,
    byte_start: u32,
    byte_end: u32,
}

#[derive(Serialize)]
struct JsonLabel<'a> {
    #[serde(flatten)]
    place: Option<Place<'a>>,
    text: &'a str,
    primary: bool,
}

#[derive(Serialize)]
struct JsonHelp<'a> {
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<JsonSuggestion<'a>>,
}

#[derive(Serialize)]
struct JsonSuggestion<'a> {
    #[serde(flatten)]
    place: Option<Place<'a>>,
    replacement: &'a str,
}

#[derive(Serialize)]
struct JsonDiagnostic<'a> {
    code: Option<&'a str>,
    level: &'static str,
    message: &'a str,
    #[serde(flatten)]
    place: Option<Place<'a>>,
    labels: Vec<JsonLabel<'a>>,
    notes: &'a [std::borrow::Cow<'static, str>],
    help: Vec<JsonHelp<'a>>,
    rendered: String,
}

fn place_of_span<'a>(files: &'a Files, file: crate::FileId, span: crate::Span) -> Option<Place<'a>> {
    let file = files.get(file)?;
    let (start, end) = if file.is_binary() {
        (None, None)
    } else {
        (Some(file.line_col(span.start)), Some(file.line_col(span.end)))
    };
    Some(Place {
        file: file.name(),
        line: start.map(|p| p.line),
        column: start.map(|p| p.column),
        line_end: end.map(|p| p.line),
        column_end: end.map(|p| p.column),
        byte_start: span.start,
        byte_end: span.end,
    })
}

/// Renders diagnostics as JSON lines, each ended by a line feed.
///
/// Fields: `code` (or null), `level`, `message`; of the location `file`, `line`, `column`, `line_end`,
/// `column_end` (1-based, in characters, the end exclusive; absent in binary files), `byte_start`,
/// `byte_end`; `labels` (the same place fields, `text`, `primary`), `notes`, `help` (`text`, and
/// `suggestion` with place fields and `replacement`), and `rendered`, the text form.
pub fn render_json(files: &Files, diagnostics: &[Diagnostic]) -> String {
    let options = TextOptions::default();
    let mut out = String::new();
    for diagnostic in diagnostics {
        let label = |l: &'_ Label| place_of_span(files, l.file, l.span);
        let object = JsonDiagnostic {
            code: (!diagnostic.code.is_empty()).then_some(diagnostic.code.as_ref()),
            level: diagnostic.severity.as_str(),
            message: &diagnostic.message,
            place: diagnostic.location().and_then(label),
            labels: diagnostic
                .labels
                .iter()
                .map(|l| JsonLabel { place: label(l), text: &l.text, primary: l.primary })
                .collect(),
            notes: &diagnostic.notes,
            help: diagnostic
                .helps
                .iter()
                .map(|h| JsonHelp {
                    text: &h.text,
                    suggestion: h.suggestion.as_ref().map(|s| JsonSuggestion {
                        place: place_of_span(files, s.file, s.span),
                        replacement: &s.replacement,
                    }),
                })
                .collect(),
            rendered: render_one(files, diagnostic, &options),
        };
        // Strings and integers only: serialising them has no failure.
        out.push_str(&serde_json::to_string(&object).unwrap_or_default());
        out.push('\n');
    }
    out
}
