//! `envisa run`: kernels on the virtual GPU.

use crate::cmd::{Done, Exit, Failure, Message, run_bare};
use crate::io;
use envisa::job::{ArgText, Delivered, Job, JobError, Output, Ready};
use envisa::runner::{Outcome, RunError, RunOptions};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
VALUE is one of
  5, -1.5, 0x1f            a number of the argument's type; 0 is the null pointer
  f32:2.5, i32x4:1,2,3,4   a number or vector of a stated type
  zeros:f32:N  fill:i32:N:7  iota:i32:N  rand:f32:N[:SEED[:LO..HI]]
  @file.npy  @file.png  @file          an array, a picture, raw bytes
  local:BYTES              local memory
  image:2d:W,H:rgba:unorm8=VALUE       an image and its texels; @file.png alone will do
  sampler:clamp_to_edge:linear:normalized

Examples
  envisa run vadd.zebin --global 1024 --local 64 --arg a=iota:f32:1024 --arg b=fill:f32:1024:1 \\
      --arg c=zeros:f32:1024 --arg n=1024 --print c:8
  envisa run vadd.cl --device dg2 --global 1024 … --out c=c.npy --stats
  envisa run job.toml
  envisa run mine.visaasm --platform SKL --threads 2 --arg N=4 --arg T6=zeros:f32:64 --print T6:8

Hand-written .visaasm and .isa: arguments are named as `.input` names them; a surface (T6) or a binding-table
index (bti:3) takes a buffer or an image, a scalar `uq` input the address of a buffer. What is printed or
written may also be a variable: its content when the first thread ends.";

/// Run a kernel that Intel's compiler made, without the GPU.
///
/// FILE is a zebin (see `envisa build`), OpenCL C or SPIR-V (compiled first, for `--device`), or a job in
/// a `.toml` file. Faults of the kernel, findings of `--check` and results that are not as expected give
/// exit code 1.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// A zebin, a `.cl` or `.spv` file, a job (`.toml`), or hand-written `.visaasm` or `.isa`.
    file: PathBuf,
    /// The kernel, if there are several.
    #[arg(long)]
    kernel: Option<String>,
    /// Work-items: X[,Y[,Z]].
    #[arg(long, value_delimiter = ',', value_name = "X[,Y,Z]")]
    global: Vec<u64>,
    /// Work-items a group; by default what the kernel requires, or a divisor of X.
    #[arg(long, value_delimiter = ',', value_name = "X[,Y,Z]")]
    local: Vec<u32>,
    /// First global id.
    #[arg(long, value_delimiter = ',', value_name = "X[,Y,Z]")]
    offset: Vec<u64>,
    /// An argument, by its name in the source or its index.
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    args: Vec<String>,
    /// Write an argument's content after the run: `.npy`, `.png` or raw bytes.
    #[arg(long = "out", value_name = "NAME=FILE")]
    outs: Vec<String>,
    /// Print an argument's first elements after the run.
    #[arg(long = "print", value_name = "NAME[:N]")]
    prints: Vec<String>,
    /// The device to compile for.
    #[arg(long)]
    device: Option<String>,
    /// Options of the compiler.
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    options: String,
    /// Host threads; 0 for all cores.
    #[arg(long, default_value_t = 0)]
    jobs: usize,
    /// Stop a thread that takes more branches and calls than this.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Take vISA that the verifier refuses, as long as it is structurally sound.
    #[arg(long)]
    no_verify: bool,
    /// Print results as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    bare: run_bare::BareArgs,
    #[command(flatten)]
    message: Message,
}

/// Runs the command.
pub fn run(args: Args) -> Done {
    if run_bare::is_bare(&args.file) {
        return run_bare::run(run_bare::Request {
            file: &args.file,
            kernel: args.kernel.as_deref().unwrap_or(""),
            args: &args.args,
            outs: &args.outs,
            prints: &args.prints,
            options: RunOptions { jobs: args.jobs, limit: args.limit.unwrap_or(u64::MAX) },
            verify: !args.no_verify,
            bare: &args.bare,
            message: &args.message,
        });
    }
    let job = job(&args)?;
    let mut report = args.message.report();
    let mut ready = match Ready::new(&job, !args.no_verify) {
        Ok(ready) => ready,
        Err(JobError::Run(RunError::Text(diagnostics, files))) => {
            report.files = *files;
            report.diagnostics = diagnostics;
            return report.finish();
        }
        Err(e) => return Err(Failure(e.to_string())),
    };
    let options = RunOptions { jobs: job.jobs, limit: if job.limit == 0 { u64::MAX } else { job.limit } };
    let Ready { session, kernel, launch, .. } = &mut ready;
    let outcome = session.run(kernel, launch, &options).map_err(|e| Failure(e.to_string()))?;
    if let Some(trap) = &outcome.trap {
        report.diagnostics.push(ready.kernel.diagnose(trap));
        report.files = std::mem::take(&mut ready.kernel.files);
    }
    if !args.json {
        io::print(&outcome.printed)?;
    }
    let delivered = ready.deliver().map_err(|e| Failure(e.to_string()))?;
    let wrong = delivered.iter().any(|(_, d)| d.comparison.as_ref().is_some_and(|(_, c)| !c.passed()));
    io::print(&if args.json { as_json(&outcome, &delivered) } else { as_text(&delivered) })?;
    if outcome.printed_incomplete {
        eprintln!("warning: some of what the kernel printed was lost: its buffer was full");
    }
    match report.finish()? {
        Exit::Fine if wrong => Ok(Exit::Findings),
        other => Ok(other),
    }
}

/// The job of the command line.
fn job(args: &Args) -> Result<Job, Failure> {
    let is_job = args.file.extension().is_some_and(|e| e == "toml");
    let mut job = if is_job {
        Job::read(&args.file)?
    } else {
        if args.global.is_empty() {
            return Err(Failure("say how many work-items there are: --global X[,Y,Z]".into()));
        }
        Job { file: args.file.clone(), ..Job::default() }
    };
    if let Some(kernel) = &args.kernel {
        job.kernel = kernel.clone();
    }
    for (given, place) in [(&args.global, &mut job.global), (&args.offset, &mut job.offset)] {
        if !given.is_empty() {
            *place = given.clone();
        }
    }
    if !args.local.is_empty() {
        job.local = args.local.clone();
    }
    if args.device.is_some() {
        job.device = args.device.clone();
    }
    if !args.options.is_empty() {
        job.options = args.options.clone();
    }
    if args.jobs != 0 {
        job.jobs = args.jobs;
    }
    job.limit = args.limit.unwrap_or(job.limit);
    let mut seen = BTreeMap::new();
    for text in &args.args {
        let Some((name, value)) = text.split_once('=') else {
            return Err(Failure(format!("--arg {text}: expected NAME=VALUE")));
        };
        if seen.insert(name.to_owned(), ()).is_some() {
            return Err(Failure(format!("argument `{name}` is given twice")));
        }
        job.args.insert(name.to_owned(), ArgText::Text(value.to_owned()));
    }
    for text in &args.outs {
        let Some((name, file)) = text.split_once('=') else {
            return Err(Failure(format!("--out {text}: expected NAME=FILE")));
        };
        job.outputs.push(Output { arg: name.into(), file: Some(file.into()), ..Output::default() });
    }
    for text in &args.prints {
        let (name, n) = match text.split_once(':') {
            Some((name, n)) => {
                (name, n.parse().map_err(|_| Failure(format!("--print {text}: `{n}` is no number")))?)
            }
            None => (text.as_str(), 16),
        };
        job.outputs.push(Output { arg: name.into(), print: Some(n), ..Output::default() });
    }
    Ok(job)
}

fn as_text(delivered: &[(Output, Delivered)]) -> String {
    let mut out = String::new();
    for (output, d) in delivered {
        if let Some(n) = output.print {
            let shown = (n as usize).min(d.value.len());
            let elements: Vec<String> = (0..shown).filter_map(|i| d.value.display(i)).collect();
            let rest = if shown < d.value.len() { ", …" } else { "" };
            let _ = writeln!(
                out,
                "{} ({} x {}): {}{rest}",
                d.name,
                d.value.len(),
                d.value.elem,
                elements.join(", ")
            );
        }
        if let Some(file) = &output.file {
            let _ = writeln!(out, "{} -> {}", d.name, file.display());
        }
        if let Some((check, c)) = &d.comparison {
            if c.passed() {
                let _ = writeln!(out, "{}: as expected ({} elements, {check})", d.name, c.elements);
            } else if let Some(shape) = &c.shape_error {
                let _ = writeln!(out, "{}: NOT as expected: {shape}", d.name);
            } else {
                let first = c.first.as_ref().map_or(String::new(), |(i, want, got)| {
                    format!("; first at {i}: expected {want}, got {got}")
                });
                let _ = writeln!(
                    out,
                    "{}: NOT as expected: {} of {} elements out of bounds ({check}){first}",
                    d.name, c.mismatches, c.elements
                );
            }
        }
    }
    out
}

fn as_json(outcome: &Outcome, delivered: &[(Output, Delivered)]) -> String {
    let outputs: Vec<_> = delivered
        .iter()
        .map(|(output, d)| {
            let shown = output.print.map_or(0, |n| n as usize).min(d.value.len());
            json!({
                "argument": d.name,
                "type": d.value.elem.name(),
                "shape": d.value.shape,
                "file": output.file,
                "elements": (0..shown).filter_map(|i| d.value.display(i)).collect::<Vec<_>>(),
                "as_expected": d.comparison.as_ref().map(|(_, c)| c.passed()),
                "mismatches": d.comparison.as_ref().map(|(_, c)| c.mismatches),
            })
        })
        .collect();
    let all = json!({
        "outputs": outputs,
        "printed": outcome.printed,
        "work_items": outcome.work_items,
        "seconds": outcome.time.as_secs_f64(),
        "fault": outcome.trap.as_ref().map(|t| t.cause.to_string()),
    });
    serde_json::to_string_pretty(&all).expect("plain JSON") + "\n"
}
