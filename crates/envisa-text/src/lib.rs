//! vISA text: lexer, parser with recovery, printer.
//!
//! [`parse`] reads one text, [`parse_units`] joins several into a module (IGC writes stack-call functions
//! into texts of their own). Both read on after an error and report everything they find; a module is
//! complete only if [`ParseResult::complete`] says so.

mod annotations;
mod attributes;
mod diagnostic_codes;
mod directive;
mod expr;
mod foreign_mnemonics;
mod format;
mod immediate;
mod inst;
mod instruction_operands;
mod lex;
mod lsc;
mod module;
mod name_bytes;
mod names;
mod operand;
mod order;
mod parser;
mod print;
mod print_composite;
mod print_names;
mod print_order;
mod quirks;
mod reorder;
mod string_pool_order;
mod template;

pub use attributes::attributes;
pub use diagnostic_codes::{CODES, CodeInfo, find_code};
pub use format::format;
pub use print::{PrintError, PrintOptions, print, print_inst, print_unit};
pub use string_pool_order::canonical;

use envisa_diag::{Diagnostic, FileId};
use envisa_isa::{Module, Platform};

/// Places in a text have 32 bits.
const MAX_BYTES: usize = u32::MAX as usize - 1;

/// What reading depends on besides the text.
#[derive(Clone, Copy, Debug)]
pub struct ParseOptions {
    /// The platform: decides register sizes and what hints offer. Without one, registers have 32 bytes.
    pub platform: Option<Platform>,
    /// How many errors to report before giving up; and how many warnings to keep.
    pub max_errors: usize,
    /// The longest text that is read, in bytes; at most 4 GiB.
    pub max_bytes: usize,
}

impl Default for ParseOptions {
    fn default() -> Self {
        ParseOptions { platform: None, max_errors: 500, max_bytes: MAX_BYTES }
    }
}

/// What reading gave.
#[derive(Clone, Debug)]
pub struct ParseResult {
    /// What could be read.
    pub module: Module,
    /// The file of each object of the module.
    pub files: Vec<FileId>,
    /// Errors and warnings, in text order.
    pub diagnostics: Vec<Diagnostic>,
    /// No error: the module is what the text says. If not, instructions and declarations are missing.
    pub complete: bool,
}

/// Reads a text.
pub fn parse(source: &str, file: FileId, opts: &ParseOptions) -> ParseResult {
    parse_units(&[(source, file)], opts)
}

/// Reads several texts into one module, in order.
pub fn parse_units(units: &[(&str, FileId)], opts: &ParseOptions) -> ParseResult {
    module::parse_all(units, opts)
}
