//! Lowering: a verified module becomes a [`Program`], independent of any engine.
//!
//! A [`Program`] has no names to look up and nothing to hash: every operand is a byte offset into one
//! register file, every branch a program counter, every message a decoded descriptor. What engines rely on
//! is checked once, when a program is made ([`Program::new`]), whoever made its [`ProgramParts`]. A program can be
//! printed as text and read back ([`Program::read`]).

mod accesses;
pub mod analysis;
mod checked;
mod flow;
mod inst;
mod kernel;
mod layout;
mod messages;
mod op_facts;
mod operations;
mod optimize;
mod program;
mod registers;
mod resolve;
mod source_lines;
mod text;
mod touched;
mod types;

pub use checked::{BadProgram, Program};
pub use kernel::{LowerError, Options, lower};
pub use messages::*;
pub use optimize::{optimize, read_before_written};
pub use program::*;
pub use source_lines::SourceLine;
pub use text::ReadError;
pub use touched::{Touched, Visit};
pub use types::exec_type;
