//! Launches: what a kernel is run with, and what came of it.

use envisa::diag::{Diagnostic, Files, TextOptions, render_one};
use envisa::{Arg, Cancel, Launch, Outcome};
use envisa_harness::profile;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;

use crate::device::Kernel;
use crate::memory::{Buffer, Image, Sampler};
use crate::{Error, interrupt, raised};

/// Shared local memory: so many bytes.
#[pyclass(frozen)]
pub struct Local {
    /// Bytes.
    #[pyo3(get)]
    nbytes: u64,
}

#[pymethods]
impl Local {
    #[new]
    fn new(nbytes: u64) -> Local {
        Local { nbytes }
    }
}

/// How far a launch is, read by another thread while it runs. Each one lives as long as the process: the package keeps
/// one for each thread that asks.
#[pyclass(frozen)]
pub struct Progress(&'static envisa::Progress);

#[pymethods]
impl Progress {
    #[new]
    fn new() -> Progress {
        Progress(Box::leak(Box::new(envisa::Progress::new())))
    }

    /// Groups that were begun, and groups of the launch.
    fn groups(&self) -> (u64, u64) {
        use std::sync::atomic::Ordering::Relaxed;
        (self.0.begun.load(Relaxed), self.0.total.load(Relaxed))
    }
}

/// How many of what: a range of work-items (global size, local size, offset), or groups of threads.
#[derive(FromPyObject)]
pub enum Sizes {
    Range(Vec<u64>, Vec<u64>, Vec<u64>),
    Threads(Vec<u32>, u32),
}

/// What an argument is given.
#[derive(FromPyObject)]
pub enum Given<'py> {
    Buffer(PyRef<'py, Buffer>),
    Image(PyRef<'py, Image>),
    Sampler(PyRef<'py, Sampler>),
    Local(PyRef<'py, Local>),
    Value(Bound<'py, PyBytes>),
}

/// What a launch does beside running: check, hints, profile, statistics; at most so many branches a thread; so many host
/// threads.
type Wanted = (bool, bool, bool, bool, Option<u64>, Option<usize>);

/// What came of a launch. Reports are JSON, which the package reads when they are asked for.
#[pyclass(frozen, get_all)]
pub struct Done {
    seconds: f64,
    work_items: u64,
    printed: String,
    printed_incomplete: bool,
    /// Rendered for people, and as JSON.
    fault: Option<(String, String)>,
    findings: Option<Vec<(String, String)>>,
    not_checked: Option<String>,
    dropped: Option<String>,
    /// As JSON, and as a page.
    profile: Option<(String, String)>,
    statistics: Option<String>,
}

/// Launches a kernel and waits for its end, with the interpreter of Python free to do other things. Ctrl-C on the main
/// thread ends it.
#[pyfunction]
pub fn run(
    py: Python<'_>,
    kernel: &Kernel,
    sizes: Sizes,
    args: Vec<(u32, Option<Given<'_>>)>,
    wanted: Wanted,
    progress: Option<PyRef<'_, Progress>>,
) -> PyResult<Done> {
    let (check, hints, profile, statistics, limit, threads) = wanted;
    let mut launch = match sizes {
        Sizes::Range(global, local, offset) => Launch::range(&global, &local).offset(&offset),
        Sizes::Threads(groups, threads) => Launch::threads(&groups, threads),
    };
    for (index, given) in args {
        launch = launch.arg(index, argument(given));
    }
    launch = launch.check(check).hints(hints).profile(profile).statistics(statistics);
    if let Some(limit) = limit {
        launch = launch.limit(limit);
    }
    if let Some(threads) = threads {
        launch = launch.host_threads(threads);
    }
    if let Some(progress) = progress {
        launch = launch.progress(progress.0);
    }
    waited(py, &kernel.0, launch)
}

/// Runs a launch to its end.
pub fn waited(py: Python<'_>, kernel: &envisa::Kernel, launch: Launch) -> PyResult<Done> {
    let cancel = Cancel::new();
    let launch = launch.cancel(&cancel);
    let device = kernel.device();
    let outcome = {
        let _guard = interrupt::cancels(&cancel);
        py.detach(|| device.run(kernel, launch))
    };
    let done = Done::of(outcome.map_err(raised)?, kernel.files())?;
    // A handler of Python's own that raises (KeyboardInterrupt) does so here: memory holds what was computed.
    py.check_signals()?;
    Ok(done)
}

fn argument(given: Option<Given<'_>>) -> Arg {
    match given {
        None => Arg::Null,
        Some(Given::Buffer(b)) => Arg::Buffer(b.0.clone()),
        Some(Given::Image(i)) => Arg::Image(i.0.clone()),
        Some(Given::Sampler(s)) => Arg::Sampler(s.0),
        Some(Given::Local(l)) => Arg::Local(l.nbytes),
        Some(Given::Value(bytes)) => Arg::Bytes(bytes.as_bytes().to_vec()),
    }
}

impl Done {
    fn of(outcome: Outcome, files: &Files) -> PyResult<Done> {
        let rendered = |d: &Diagnostic| render_one(files, d, &TextOptions::default());
        let fault = match &outcome.fault {
            Some(f) => Some((rendered(&f.diagnostic()), json(&**f)?)),
            None => None,
        };
        let findings = match &outcome.findings {
            Some(all) => Some(
                all.iter()
                    .map(|f| Ok((rendered(&f.diagnostic()), json(f)?)))
                    .collect::<PyResult<Vec<_>>>()?,
            ),
            None => None,
        };
        Ok(Done {
            seconds: outcome.time.as_secs_f64(),
            work_items: outcome.work_items,
            printed: outcome.printed,
            printed_incomplete: outcome.printed_incomplete,
            fault,
            findings,
            not_checked: outcome.not_checked,
            dropped: outcome.dropped.as_ref().map(json).transpose()?,
            profile: outcome.profile.as_ref().map(|p| (profile::json(p), profile::page(p))),
            statistics: outcome.statistics.as_ref().map(json).transpose()?,
        })
    }
}

fn json(of: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(of).map_err(|e| Error::new_err(e.to_string()))
}
