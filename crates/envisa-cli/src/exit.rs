//! How the command ends.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Nothing to complain about.
    Fine,
    /// The input has errors, or the run has findings.
    Findings,
    /// Wrong usage, or a file could not be read or written.
    Usage,
    /// The input is sound, and asks for what envisa does not support.
    Unsupported,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Fine => 0,
            Exit::Findings => 1,
            Exit::Usage => 2,
            Exit::Unsupported => 3,
        })
    }
}

/// Why a command could not do its work at all: usage, or input and output. Ends in exit code 2.
#[derive(Debug)]
pub struct Failure(pub String);

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for Failure {
    fn from(s: String) -> Failure {
        Failure(s)
    }
}

impl From<&str> for Failure {
    fn from(s: &str) -> Failure {
        Failure(s.to_owned())
    }
}
