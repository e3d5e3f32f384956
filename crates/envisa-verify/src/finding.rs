//! The verifier's options and its findings.

use envisa_diag::{Diagnostic, FileId, Severity};
use envisa_isa::{Platforms, Span, TypeSet};

use crate::{Code, rule};

/// What to make of a rule's findings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// Not reported.
    Allow,
    /// Reported; the module is accepted.
    Warn,
    /// The module is refused.
    Deny,
}

/// Allows a rule in a part of the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allowance {
    /// Findings whose first mark starts here are dropped.
    pub span: Span,
    /// The rule.
    pub code: Code,
}

/// What to check against.
#[derive(Clone, Debug)]
pub struct Options {
    /// Platforms the module is meant for. A finding that holds on all of them is as grave as its rule
    /// says; one that holds on some is a warning, as long as one platform is left that runs the module.
    pub platforms: Platforms,
    /// Levels other than the rules' own; later entries win.
    pub levels: Vec<(Code, Level)>,
    /// Rules allowed in places: see [`crate::allowances`].
    pub allowances: Vec<Allowance>,
    /// Run the flow-sensitive lints, too.
    pub lints: bool,
    /// Warnings of one rule that are reported for each object; the last says how many more there are.
    pub repeats: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            platforms: Platforms::ALL,
            levels: Vec::new(),
            allowances: Vec::new(),
            lints: true,
            repeats: 3,
        }
    }
}

/// A marked place of a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// Where.
    pub span: Span,
    /// What to say there; may be empty.
    pub text: String,
}

/// A finding of the verifier.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The rule.
    pub code: Code,
    /// How grave.
    pub severity: Severity,
    /// On which of the platforms asked for.
    pub platforms: Platforms,
    /// Index of the object in the module.
    pub object: usize,
    /// Index of the instruction in the object; `None` for a declaration.
    pub inst: Option<usize>,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// The offending place first, then those that explain it.
    pub marks: Vec<Mark>,
    /// Further facts.
    pub notes: Vec<String>,
    /// What would be legal.
    pub help: Option<String>,
}

impl Finding {
    pub(crate) fn new(code: Code, platforms: Platforms, span: Span, message: impl Into<String>) -> Self {
        Finding {
            code,
            severity: Severity::Error,
            platforms,
            object: 0,
            inst: None,
            message: message.into(),
            marks: vec![Mark { span, text: String::new() }],
            notes: Vec::new(),
            help: None,
        }
    }

    /// The text at the first mark.
    pub(crate) fn here(mut self, text: impl Into<String>) -> Self {
        self.marks[0].text = text.into();
        self
    }

    pub(crate) fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.marks.push(Mark { span, text: text.into() });
        self
    }

    pub(crate) fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// The place the finding is about.
    pub fn span(&self) -> Span {
        self.marks[0].span
    }

    /// As a diagnostic about this file.
    pub fn diagnostic(&self, file: FileId) -> Diagnostic {
        let mut d = Diagnostic::new(self.severity, self.code.to_string(), self.message.clone());
        for (i, m) in self.marks.iter().enumerate() {
            if i > 0 && m.span == Span::NONE {
                continue;
            }
            d = if i == 0 {
                d.primary(file, m.span, m.text.clone())
            } else {
                d.secondary(file, m.span, m.text.clone())
            };
        }
        for n in &self.notes {
            d = d.note(n.clone());
        }
        if let Some(h) = &self.help {
            d = d.help(h.clone());
        }
        if let Some(rule) = rule::get(self.code) {
            let page = if rule.page.is_empty() { String::new() } else { format!(", page {}", rule.page) };
            d = d.note(format!("rule {} ({}){page}", rule.code, rule.name));
        }
        d
    }
}

/// Names of platforms for a message: `SKL, DG2`, or `PVC and newer`.
pub(crate) fn platform_names(p: Platforms) -> String {
    let list: Vec<&str> = p.iter().map(|p| p.name()).collect();
    list.join(", ")
}

pub(crate) fn type_names(set: TypeSet) -> String {
    let list: Vec<&str> = set.iter().map(|t| t.name()).collect();
    list.join(", ")
}
