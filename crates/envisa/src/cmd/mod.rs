//! One file a subcommand.

pub mod explain;

use std::fmt;
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
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Fine => 0,
            Exit::Findings => 1,
            Exit::Usage => 2,
        })
    }
}

/// Why a command could not do its work at all: usage, or input and output. Ends in exit code 2.
#[derive(Debug)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// What a command gives.
pub type Done = Result<Exit, Failure>;
