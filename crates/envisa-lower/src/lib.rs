//! Lowering: a verified module becomes a [`Program`], independent of any engine.
//!
//! A [`Program`] has no names to look up and nothing to hash: every operand is a byte offset into one
//! register file, every branch a program counter, every message a decoded descriptor. What an engine
//! must not get wrong is checked here once: each direct operand lies inside the register file, each
//! target inside the code.

pub mod analysis;
mod flow;
mod layout;
mod lines;
mod lower;
mod messages;
mod operations;
mod optimize;
mod program;
mod text;
mod touched;
mod types;

pub use lines::{LineEntry, SourceLine};
pub use lower::{LowerError, Options, lower};
pub use messages::*;
pub use optimize::optimize;
pub use program::*;
pub use touched::{Tell, Touched};
pub use types::exec_type;
