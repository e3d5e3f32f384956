//! The command's input and output: `-` is standard input or output.

use crate::exit::Failure;
use envisa_harness::files;
use std::path::Path;

/// Reads a module, a text or a job, or standard input for `-`.
///
/// # Errors
/// Where it cannot be read, or is larger than [`files::MAX_INPUT`].
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    Ok(files::read(path, files::MAX_INPUT)?)
}

/// Writes a file so that it appears whole or not at all; standard output for `-`.
///
/// # Errors
/// Where it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    Ok(files::write(path, bytes)?)
}

/// Prints to standard output; a reader that has gone away is not a failure.
pub fn print(text: &str) -> Result<(), Failure> {
    Ok(files::print(text.as_bytes())?)
}
