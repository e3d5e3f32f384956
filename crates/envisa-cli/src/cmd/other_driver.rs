//! `envisa run --driver`: a kernel on another OpenCL implementation.

use crate::cmd::{Done, Exit, Failure, results};
use crate::io;
use envisa_client::{ArgValue, Launch, LaunchArg, Program, Session};
use envisa_harness::compare::Check;
use envisa_harness::files;
use envisa_harness::job::{Delivered, Job, JobError, Parameter, PassedValue};
use std::path::Path;
use std::process::Command;

/// Where the OpenCL loader looks for implementations: a file here is the only one.
const VENDORS: &str = "OCL_ICD_VENDORS";

/// What a process that opens an implementation's library finds in its environment. Programs differ from run to run, so PoCL need not
/// keep them.
#[cfg(unix)]
pub(super) fn implementation_environment(library: &str) -> Vec<(String, String)> {
    vec![(VENDORS.into(), library.into()), ("POCL_KERNEL_CACHE".into(), "0".into())]
}

/// Runs a job of OpenCL C on the implementation of a library.
pub fn run(job: &Job, driver: &Path) -> Done {
    if job.check || job.check_hints || job.stats || job.profile || job.trace || !job.offset.is_empty() {
        return Err(Failure(
            "another driver only runs a kernel: no checks, statistics, profiles or offsets".into(),
        ));
    }
    if job.file.extension().is_none_or(|e| e != "cl") {
        return Err(Failure(format!("{}: another driver takes OpenCL C (.cl) only", job.file.display())));
    }
    // The loader reads its environment once, when it is opened.
    if std::env::var_os(VENDORS).is_none_or(|v| v != driver.as_os_str()) {
        let own = std::env::current_exe()
            .map_err(|e| Failure(format!("the path of this command cannot be found: {e}")))?;
        let again = Command::new(own).args(std::env::args_os().skip(1)).env(VENDORS, driver).status();
        let status = again.map_err(|e| Failure(format!("this command cannot start itself again: {e}")))?;
        return match status.code() {
            Some(0) => Ok(Exit::Fine),
            Some(1) => Ok(Exit::Findings),
            Some(_) => Ok(Exit::Usage),
            None => Err(Failure(format!("{} ended the process ({status})", driver.display()))),
        };
    }
    let delivered = Session::open("").and_then(|session| compile_and_run(&session, job)).map_err(Failure)?;
    io::print(&results::results_for_people(&delivered))?;
    let wrong = delivered.iter().any(|d| d.comparison.as_ref().is_some_and(|(_, c)| !c.passed()));
    Ok(if wrong { Exit::Findings } else { Exit::Fine })
}

/// Compiles and runs a job.
fn compile_and_run(session: &Session, job: &Job) -> Result<Vec<Delivered>, String> {
    let text = files::read(&job.file, files::MAX_INPUT)?;
    let text = String::from_utf8(text).map_err(|e| e.to_string())?;
    compile_text(session, &job.options, &text).and_then(|program| run_compiled(session, &program, job))
}

/// What a process that [`serve_jobs`]s answers: what a run prints, or why nothing.
pub(super) type Answer = Result<String, String>;

/// Runs command lines, each a line of standard input with a list of words, in one process: a library takes longer to be opened than to
/// compile a small kernel.
pub fn serve_jobs(job: &dyn Fn(&[String]) -> Result<Job, String>) -> Done {
    let session = Session::open("").map_err(Failure)?;
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let words: Vec<String> = serde_json::from_str(&line).map_err(|e| Failure(e.to_string()))?;
        let answer: Answer =
            job(&words).and_then(|job| Ok(results::results_for_people(&compile_and_run(&session, &job)?)));
        let answer = serde_json::to_string(&answer).map_err(|e| Failure(e.to_string()))?;
        io::print(&(answer + "\n"))?;
    }
    Ok(Exit::Fine)
}

/// Compiles a text, so that jobs can be run.
pub(super) fn compile_text(session: &Session, options: &str, text: &str) -> Result<Program, String> {
    session.build(text, &format!("{options} -cl-kernel-arg-info"))
}

/// Runs a job whose program is compiled.
pub(super) fn run_compiled(
    session: &Session,
    program: &Program,
    job: &Job,
) -> Result<Vec<Delivered>, String> {
    let said = |e: JobError| e.to_string();
    let name = match (job.kernel.as_str(), program.kernel_names()) {
        ("", names) if !names.contains(';') => names.to_owned(),
        ("", names) => {
            return Err(format!(
                "the program has several kernels, choose one of them with --kernel: {}",
                names.replace(';', ", ")
            ));
        }
        (name, _) => name.to_owned(),
    };
    let known = Session::parameters(program, &name)?;
    let parameters: Vec<Parameter<'_>> =
        known.iter().map(|p| Parameter { name: &p.name, type_name: &p.type_name, local: p.local }).collect();
    let args = job.given(&parameters).map_err(said)?.into_iter().zip(&known).map(|(given, p)| {
        let (value, check) = match given {
            PassedValue::Buffer(value) => (ArgValue::Buffer(value), Some(Check::Exact)),
            PassedValue::Value(bytes) => (ArgValue::Scalar(bytes), None),
            PassedValue::Local(bytes) => (ArgValue::Local(bytes), None),
        };
        LaunchArg { name: p.name.clone(), value, check }
    });
    let [global, local] = launch_sizes(job)?;
    let launch = Launch { dims: 3, global, local, offset: [0; 3], args: args.collect() };
    let loaded = session.prepare(program, &name, &launch)?;
    loaded.run()?;
    let outputs = loaded.outputs()?.values.into_iter();
    let contents: Vec<_> = outputs.map(|(i, value)| (known[i].name.as_str(), value)).collect();
    job.deliver_contents(&contents).map_err(said)
}

/// Work-items in all, and of a group.
fn launch_sizes(job: &Job) -> Result<[[u64; 3]; 2], String> {
    let of = |d: usize, all: &[u64]| all.get(d).copied().unwrap_or(1);
    if job.global.is_empty() || job.local.is_empty() {
        return Err("another driver needs both --global and --local".into());
    }
    let local: Vec<u64> = job.local.iter().map(|n| u64::from(*n)).collect();
    Ok([std::array::from_fn(|d| of(d, &job.global)), std::array::from_fn(|d| of(d, &local))])
}
