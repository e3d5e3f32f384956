//! Tests of the reader and the writer of binaries.

mod files;
mod generated;
mod old_versions;
mod opcodes;
