//! Why a job cannot run.

use envisa::Error;
use envisa::diag::{Diagnostic, Files};
use std::sync::Arc;

/// Why a job cannot run.
#[derive(Debug)]
pub enum JobError {
    /// It is written wrongly, or a file is not there.
    Usage(String),
    /// The module is damaged, or cannot be compiled or lowered.
    Input(String),
    /// The module's text or binary has errors.
    Text(Vec<Diagnostic>, Arc<Files>),
    /// Something in the job's file is wrong.
    Job(Vec<Diagnostic>, Arc<Files>),
    /// The kernel is sound, and asks for what envisa does not support.
    Unsupported(String),
}

impl JobError {
    pub(super) fn usage(e: impl std::fmt::Display) -> JobError {
        JobError::Usage(e.to_string())
    }

    pub(super) fn of_argument(self, name: &str) -> JobError {
        match self {
            JobError::Usage(s) => JobError::Usage(format!("argument `{name}`: {s}")),
            other => other,
        }
    }
}

impl std::fmt::Display for JobError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JobError::Usage(s) | JobError::Input(s) | JobError::Unsupported(s) => f.write_str(s),
            JobError::Job(d, files) => {
                let text = d.iter().map(|d| envisa::diag::render_one(files, d, &Default::default()));
                f.write_str(&text.collect::<Vec<_>>().join("\n"))
            }
            JobError::Text(d, _) => match d.iter().find(|d| d.is_error()) {
                Some(first) => write!(f, "the vISA text has errors; the first: {}", first.message),
                None => f.write_str("the vISA text has errors"),
            },
        }
    }
}

impl std::error::Error for JobError {}

impl From<Error> for JobError {
    fn from(e: Error) -> JobError {
        match e {
            Error::Diagnostics(d) => JobError::Text(d.list, d.files),
            Error::Module(why) => JobError::Input(why),
            e @ Error::Unsupported(_) => JobError::Unsupported(e.to_string()),
            e => JobError::Usage(e.to_string()),
        }
    }
}

/// The error of a kernel that a module does not have, or has several of.
pub(super) fn no_kernel(e: Error) -> JobError {
    match e {
        Error::NoKernel { name, available } if name.is_empty() => JobError::Usage(format!(
            "the module has {} kernels; say which, as --kernel {}: {}",
            available.len(),
            available.first().map_or("", String::as_str),
            available.join(", ")
        )),
        e => e.into(),
    }
}
