//! Errors, with offset and field.

use envisa_diag::{Diagnostic, FileId};
use envisa_isa::{Fault, Span};
use std::fmt;

/// Why a binary cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// Byte offset of what is wrong.
    pub offset: usize,
    /// The field, from the outside in: `kernel "add": variable 7: alias`.
    pub place: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a field of a binary.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The file does not start with `CISA`.
    NotCisa,
    /// A format version that nothing describes.
    Version(u8, u8),
    /// The file (or the object) ends before the field does; bytes that are missing.
    Truncated {
        /// Bytes the field takes.
        needed: u64,
        /// Bytes that are there.
        left: usize,
    },
    /// A value without meaning; what was expected.
    Value {
        /// The value.
        found: u64,
        /// What would be legal.
        expected: &'static str,
    },
    /// An index that leads nowhere, or the like.
    Unsound(Fault),
    /// An opcode (and sub-opcode) that the format version does not have.
    Opcode(u8, Option<u8>),
    /// A string that is not UTF-8.
    NotUtf8,
    /// Objects that lie over each other, or over the header.
    Overlap,
    /// The file is as the releases with the emission bug write them.
    Damaged,
    /// The file has 4 GiB or more.
    TooLarge,
    /// The address of a variable has an offset that counts registers, and nothing says how large they are.
    RegisterSize,
}

/// The releases of the Intel Graphics Compiler whose binaries lack operands.
pub const DAMAGING_RELEASES: &str = "1.0.12198.1 up to, not including, 1.0.13064.4";

/// What is said about files of the releases with the emission bug.
pub(crate) const DAMAGED: &str = "operands are missing: the file was written by a release of the Intel \
    Graphics Compiler from 1.0.12198.1 up to, not including, 1.0.13064.4, which drop the last operands of \
    every instruction that has an execution size or a predicate; they cannot be restored from the file. \
    Tables, names and the sequence of opcodes can be recovered";

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NotCisa => f.write_str("the file does not start with `CISA`"),
            Problem::Version(major, minor) => {
                write!(f, "format version {major}.{minor}; versions 3.0 to 4.2 can be read")
            }
            Problem::Truncated { needed, left } => write!(f, "takes {needed} bytes, {left} are left"),
            Problem::Value { found, expected } => write!(f, "{found} is not {expected}"),
            Problem::Unsound(fault) => fault.fmt(f),
            Problem::Opcode(op, None) => write!(f, "no instruction has the opcode 0x{op:02x}"),
            Problem::Opcode(op, Some(sub)) => {
                write!(f, "opcode 0x{op:02x} has no sub-opcode 0x{sub:02x}")
            }
            Problem::NotUtf8 => f.write_str("the string is not UTF-8"),
            Problem::Overlap => f.write_str("lies over another part of the file"),
            Problem::Damaged => f.write_str(DAMAGED),
            Problem::TooLarge => f.write_str("4 GiB or more; offsets have 32 bits"),
            Problem::RegisterSize => f.write_str(
                "the offset in the variable counts registers, and the file does not say whether a register has \
                 32 or 64 bytes",
            ),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offset 0x{:x}: {}: {}", self.offset, self.place, self.problem)
    }
}

impl std::error::Error for ReadError {}

impl ReadError {
    pub(crate) fn new(offset: usize, place: impl Into<String>, problem: Problem) -> ReadError {
        ReadError { offset, place: place.into(), problem }
    }

    /// The error one level further out.
    #[cold]
    pub(crate) fn within(mut self, outer: impl fmt::Display) -> ReadError {
        self.place =
            if self.place.is_empty() { outer.to_string() } else { format!("{outer}: {}", self.place) };
        self
    }

    /// A stable code: `E0900` and up.
    pub fn code(&self) -> &'static str {
        match self.problem {
            Problem::NotCisa => "E0900",
            Problem::Version(..) => "E0901",
            Problem::Truncated { .. } => "E0902",
            Problem::Value { .. } => "E0903",
            Problem::Unsound(_) => "E0904",
            Problem::Opcode(..) => "E0905",
            Problem::NotUtf8 => "E0906",
            Problem::Overlap => "E0907",
            Problem::Damaged => "E0908",
            Problem::TooLarge => "E0909",
            Problem::RegisterSize => "E0910",
        }
    }

    /// The error as a diagnostic that points into `file`.
    pub fn to_diagnostic(&self, file: FileId) -> Diagnostic {
        let at = u32::try_from(self.offset).unwrap_or(u32::MAX);
        let diag = Diagnostic::error(self.code(), format!("{}: {}", self.place, self.problem)).primary(
            file,
            at..at.saturating_add(1),
            self.place.clone(),
        );
        match self.problem {
            Problem::Damaged => diag.help("`envisa dis --recover` shows what is left of it"),
            Problem::RegisterSize => diag
                .help("name the platform that the module is for, as in `--platform SKL` or `--platform PVC`"),
            _ => diag,
        }
    }
}

/// Why a module cannot be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WriteError {
    /// The object, by its index in the module.
    pub object: usize,
    /// Where in the source, if known.
    pub span: Span,
    /// What is wrong, with the part it concerns: `instruction 3 (ADD): src0: …`.
    pub message: String,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object {}: {}", self.object, self.message)
    }
}

impl std::error::Error for WriteError {}
