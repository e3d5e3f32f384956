//! Diagnostics: codes, labelled spans, rendering as text, JSON and SARIF.
//!
//! A room that reads something collects [`Diagnostic`]s; whoever owns the output keeps the inputs in
//! [`Files`] and renders: [`render_text`] for people, [`render_json`] one object a line for tools,
//! [`render_sarif`] a whole SARIF 2.1.0 log.
//!
//! ```
//! use envisa_diag::{Diagnostic, Files, TextOptions, render_text};
//!
//! let mut files = Files::new();
//! let file = files.add_text("k.visaasm", "mov (M1,8) V32 V33\n");
//! let diag = Diagnostic::error("E0102", "operand has no region")
//!     .primary(file, 11..14, "expected `(row,col)<stride>` after the variable")
//!     .help("write `V32(0,0)<1>`");
//! let text = render_text(&files, &[diag], &TextOptions::default());
//! assert!(text.contains("--> k.visaasm:1:12"));
//! ```

mod codes;
mod excerpt;
mod json;
mod line_directives;
mod sarif;
mod similar_name;
mod source;
mod text;

pub use codes::{CODES, CodeInfo, code};
pub use envisa_isa::Span;
pub use json::render_json;
pub use line_directives::LineDirectives;
pub use sarif::{Rule, Tool, render_sarif, sarif_of_json};
pub use similar_name::{did_you_mean, nearest, unknown};
pub use source::{FileId, Files, LineCol, SourceFile};
pub use text::{TextOptions, render_one, render_text};

use std::borrow::Cow;
use std::fmt;

/// How grave a diagnostic is, gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The input is wrong and will not be processed further.
    Error,
    /// Suspicious, but processed.
    Warning,
    /// Information that stands on its own.
    Note,
    /// Advice that stands on its own.
    Help,
}

impl Severity {
    /// The lower-case name, as printed and as in JSON's `level`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
            Severity::Help => "help",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A place in a file with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The file it points into.
    pub file: FileId,
    /// The bytes it marks. In a binary file: the offset and extent of what is meant.
    pub span: Span,
    /// What to say there; may be empty.
    pub text: Cow<'static, str>,
    /// The place the diagnostic is about, as opposed to one that explains it.
    pub primary: bool,
}

/// A replacement of some bytes, offered as part of a [`Help`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The file to edit.
    pub file: FileId,
    /// The bytes to replace; an empty span inserts.
    pub span: Span,
    /// What to put there.
    pub replacement: String,
}

/// Advice, optionally with an edit that a tool may apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Help {
    /// What to do.
    pub text: Cow<'static, str>,
    /// The edit that does it.
    pub suggestion: Option<Suggestion>,
}

/// One finding: what, how grave, where, why, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule's code, as `E0102`; empty for none.
    pub code: Cow<'static, str>,
    /// How grave it is.
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: Cow<'static, str>,
    /// Places, in the order they were added.
    pub labels: Vec<Label>,
    /// Further facts, each a sentence.
    pub notes: Vec<Cow<'static, str>>,
    /// Advice.
    pub helps: Vec<Help>,
}

impl Diagnostic {
    /// A diagnostic without places, notes or helps.
    pub fn new(
        severity: Severity,
        code: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Diagnostic {
            code: code.into(),
            severity,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
        }
    }

    /// An error.
    pub fn error(code: impl Into<Cow<'static, str>>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A warning.
    pub fn warning(code: impl Into<Cow<'static, str>>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// Adds the place the diagnostic is about. Several are allowed; the first names the location in
    /// headers and tables.
    #[must_use]
    pub fn primary(self, file: FileId, span: impl Into<Span>, text: impl Into<Cow<'static, str>>) -> Self {
        self.label(Label { file, span: span.into(), text: text.into(), primary: true })
    }

    /// Adds a place that explains.
    #[must_use]
    pub fn secondary(self, file: FileId, span: impl Into<Span>, text: impl Into<Cow<'static, str>>) -> Self {
        self.label(Label { file, span: span.into(), text: text.into(), primary: false })
    }

    /// Adds a label.
    #[must_use]
    pub fn label(mut self, label: Label) -> Self {
        self.labels.push(label);
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds advice without an edit.
    #[must_use]
    pub fn help(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.helps.push(Help { text: text.into(), suggestion: None });
        self
    }

    /// Adds advice with the edit that follows it.
    #[must_use]
    pub fn suggest(
        mut self,
        text: impl Into<Cow<'static, str>>,
        file: FileId,
        span: impl Into<Span>,
        replacement: impl Into<String>,
    ) -> Self {
        let suggestion = Some(Suggestion { file, span: span.into(), replacement: replacement.into() });
        self.helps.push(Help { text: text.into(), suggestion });
        self
    }

    /// The label that names the location: the first primary one, else the first.
    pub fn location(&self) -> Option<&Label> {
        self.labels.iter().find(|l| l.primary).or_else(|| self.labels.first())
    }

    /// True for [`Severity::Error`].
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
