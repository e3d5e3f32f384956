//! The descriptions of all rules.

mod declarations;
mod instructions;
mod lints;
mod lsc;
mod memory;
mod operands;
mod structure;
mod unchecked;

pub(crate) use declarations::DECLARATIONS;
pub(crate) use instructions::INSTRUCTIONS;
pub(crate) use lints::LINTS;
pub(crate) use lsc::LSC;
pub(crate) use memory::MEMORY;
pub(crate) use operands::OPERANDS;
pub(crate) use structure::STRUCTURE;
pub(crate) use unchecked::UNCHECKED;

/// One rule: code, name, severity, page, brief, text, examples.
macro_rules! rule {
    ($code:ident, $name:literal, $severity:ident, $page:literal, $brief:literal, $text:literal,
     bad $bad:literal good $good:literal $(, $kind:ident)?) => {
        $crate::Rule {
            code: $crate::Code::$code,
            name: $name,
            severity: envisa_diag::Severity::$severity,
            page: $page,
            brief: $brief,
            text: $text,
            example: $crate::Example::Text { bad: $bad, good: $good },
            kind: rule!(@kind $($kind)?),
        }
    };
    ($code:ident, $name:literal, $severity:ident, $page:literal, $brief:literal, $text:literal,
     binary $how:literal $(, $kind:ident)?) => {
        $crate::Rule {
            code: $crate::Code::$code,
            name: $name,
            severity: envisa_diag::Severity::$severity,
            page: $page,
            brief: $brief,
            text: $text,
            example: $crate::Example::Binary($how),
            kind: rule!(@kind $($kind)?),
        }
    };
    (@kind) => { $crate::Kind::Static };
    (@kind $kind:ident) => { $crate::Kind::$kind };
}
pub(crate) use rule;
