//! Why something cannot be had: misuse and damaged input. What a kernel does wrong is a [`Fault`](crate::Fault).

use envisa_diag::{Diagnostic, Files};
use std::fmt;
use std::sync::Arc;

/// An error of a device, a module or a launch.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The module is damaged, lacks a part that is needed to run it, or contains something that cannot be run.
    Module(String),
    /// The module's vISA has errors.
    Diagnostics(Diagnostics),
    /// The module has no such kernel, or several and none was named (an empty name).
    NoKernel {
        /// The name asked for.
        name: String,
        /// The kernels there are.
        available: Vec<String>,
    },
    /// An argument is unknown, given twice, or of the wrong kind or size.
    Argument {
        /// Its name, or its index where it has none.
        argument: String,
        /// What is wrong with it.
        message: String,
    },
    /// Sizes are invalid, exceed the device's limits or do not fit the kernel; or arguments are missing.
    Launch(String),
    /// The kernel uses a feature that envisa or the device does not have. The text names it.
    Unsupported(String),
    /// The device's or the host's memory is exhausted.
    Memory(String),
    /// A range is outside of its buffer, or an image does not fit into it.
    Range(String),
    /// A buffer, image or kernel belongs to another device.
    Foreign(&'static str),
}

/// Diagnostics, and the files to which they refer.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// The diagnostics; at least one is an error.
    pub list: Vec<Diagnostic>,
    /// The files to which the diagnostics refer.
    pub files: Arc<Files>,
}

impl Error {
    pub(crate) fn argument(argument: impl Into<String>, message: impl Into<String>) -> Error {
        Error::Argument { argument: argument.into(), message: message.into() }
    }

    pub(crate) fn diagnostics(list: Vec<Diagnostic>, files: Files) -> Error {
        Error::Diagnostics(Diagnostics { list, files: Arc::new(files) })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Module(s) | Error::Launch(s) | Error::Memory(s) | Error::Range(s) => f.write_str(s),
            Error::Unsupported(s) => write!(f, "not supported: {s}"),
            Error::Diagnostics(d) => d.fmt(f),
            Error::NoKernel { name, available } if available.is_empty() => {
                write!(f, "there is no kernel `{name}`: the module has none")
            }
            Error::NoKernel { name, available } if name.is_empty() => {
                write!(f, "the module has {} kernels; choose one: {}", available.len(), available.join(", "))
            }
            Error::NoKernel { name, available } => {
                write!(f, "there is no kernel `{name}`; the module has {}", available.join(", "))?;
                f.write_str(&envisa_diag::did_you_mean(name, available.iter().map(String::as_str)))
            }
            Error::Argument { argument, message } => write!(f, "argument `{argument}`: {message}"),
            Error::Foreign(what) => write!(f, "the {what} belongs to another device"),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.list.iter().find(|d| d.is_error()) {
            Some(first) => write!(f, "the vISA has errors; the first: {}", first.message),
            None => f.write_str("the vISA has errors"),
        }
    }
}

impl From<envisa_machine::memory::MemoryError> for Error {
    fn from(e: envisa_machine::memory::MemoryError) -> Error {
        Error::Memory(e.to_string())
    }
}
