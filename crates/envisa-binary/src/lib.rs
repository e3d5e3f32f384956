//! The CISA binary (`.isa`): reader and writer, walking the instruction table.
//!
//! ```
//! # let module = envisa_isa::Module { version: (4, 1), ..Default::default() };
//! let bytes = envisa_binary::write(&module, &envisa_binary::WriteOptions::default()).unwrap();
//! let again = envisa_binary::read(&bytes).unwrap();
//! assert_eq!(module.first_difference(&again), None);
//! ```
//!
//! # Versions
//! [`write`] writes format 4.1 whatever lower version the module names, as every released tool does,
//! and 4.2 for modules of 4.2. [`read`] reads 3.0 to 4.2; older layouts become the operands of the
//! current rows, so that nothing downstream sees them. The tables of 4.2 are read as the pages draw
//! them, which is as in 4.1 (the reference reader refuses 4.2).
//!
//! # Damaged binaries
//! The releases 1.0.12198.1 to 1.0.13064.3 of the reference compiler drop the last operands of nearly
//! every instruction when they write a binary. [`read`] recognises such files and says so,
//! [`recover`] gives what is left in them, and [`write_as_reference`] writes the same damage, for
//! comparing bytes with those releases.

mod cursor;
mod damaged;
mod decode;
mod error;
mod opcodes;
mod reader;
mod writer;

pub use damaged::{Recovered, RecoveredInst, RecoveredObject, Stop, recover, recover_with};
pub use error::{DAMAGING_RELEASES, Problem, ReadError, WriteError};
pub use reader::{
    Header, HeaderFunction, HeaderKernel, HeaderNative, ReadOptions, read, read_header, read_with,
};
pub use writer::{WriteOptions, write, write_as_reference};

/// The first four bytes of every file.
pub const MAGIC: [u8; 4] = *b"CISA";

/// Does this look like a CISA binary?
pub fn is_cisa(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}
