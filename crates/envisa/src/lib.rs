//! envisa: assemble, disassemble, verify, explain and run vISA.
//!
//! The facade: every room under one roof, for library users.

pub use envisa_binary as binary;
pub use envisa_diag as diag;
pub use envisa_interp as interp;
pub use envisa_isa as isa;
pub use envisa_lower as lower;
pub use envisa_machine as machine;
pub use envisa_sanitize as sanitize;
pub use envisa_sem as sem;
pub use envisa_text as text;
pub use envisa_verify as verify;
pub use envisa_zebin as zebin;

pub mod bare;
pub mod runner;
