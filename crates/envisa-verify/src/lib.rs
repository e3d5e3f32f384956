//! The verifier: every documented rule as data beside code; makes Verified modules.

mod code;
pub mod structure;
mod verified;

pub use code::Code;
pub use verified::Verified;

use envisa_diag::{Diagnostic, FileId, Severity};
use envisa_isa::{Module, Platforms, Span};

/// What to check against.
#[derive(Clone, Debug)]
pub struct Options {
    /// Platforms the module must be legal on.
    pub platforms: Platforms,
}

impl Default for Options {
    fn default() -> Self {
        Options { platforms: Platforms::ALL }
    }
}

/// A finding of the verifier.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The rule.
    pub code: Code,
    /// How grave.
    pub severity: Severity,
    /// Index of the object in the module.
    pub object: usize,
    /// Index of the instruction in the object; `None` for a declaration.
    pub inst: Option<usize>,
    /// Where.
    pub span: Span,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
}

impl Finding {
    /// As a diagnostic about this file.
    pub fn diagnostic(&self, file: FileId) -> Diagnostic {
        Diagnostic::new(self.severity, self.code.to_string(), self.message.clone()).primary(
            file,
            (self.span.start, self.span.end),
            "",
        )
    }
}

/// Verifies a module: all findings, and the module as [`Verified`] unless one of them is an error.
pub fn verify(module: Module, options: &Options) -> (Vec<Finding>, Option<Verified>) {
    let _ = options;
    let findings: Vec<Finding> = structure::check(&module)
        .into_iter()
        .map(|d| Finding {
            code: d.code,
            severity: Severity::Error,
            object: d.object,
            inst: d.inst,
            span: d.span,
            message: d.message,
        })
        .collect();
    let sound = findings.is_empty();
    (findings, sound.then(|| Verified::new(module)))
}
