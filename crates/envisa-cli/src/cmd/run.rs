//! `envisa run`: kernels on the virtual GPU.

use crate::cmd::findings::{FailOn, FindingArgs};
use crate::cmd::findings_page::{Buffer, Page, clip, sources_of};
use crate::cmd::interrupt::Interrupt;
use crate::cmd::profile::ProfileArgs;
use crate::cmd::results::{self, Results};
use crate::cmd::{Done, Exit, Failure, Report, load, other_driver, progress};
use crate::io;
use envisa::diag::{Diagnostic, Files, render_json};
use envisa::isa::Platform;
use envisa::{FaultKind, Outcome};
use envisa_harness::compare::Check;
use envisa_harness::files;
use envisa_harness::job::{ArgText, Job, JobError, MAX_JOBS, Output, Ready};
use serde_json::Value;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

const AFTER_HELP: &str = "\
VALUE is one of
  5, -1.5, 0x1f            a number of the argument's type; 0 is the null pointer
  f32:2.5, i32x4:1,2,3,4   a number or vector of a stated type; f32:1,2,3 is an array of three
  zeros:f32:N  fill:i32:N:7  iota:i32:N  rand:f32:N[:SEED[:LO..HI]]
  @file.npy  @file.png  @file          an array, a picture, raw bytes
  local:BYTES              local memory
  image:2d:W,H:rgba:unorm8=VALUE       an image and its texels; or only @file.png
  sampler:clamp_to_edge:linear:normalized

Examples:
  envisa run vadd.zebin --global 1024 --local 64 --arg a=iota:f32:1024 --arg b=fill:f32:1024:1 \\
      --arg c=zeros:f32:1024 --arg n=1024 --print c:8
  envisa run vadd.cl --device dg2 --global 1024 … --out c=c.npy --stats
  envisa run vadd.zebin … --arg c=zeros:f32:4 --expect 'c=f32:1,3,5,7'
  envisa run job.toml --check
  envisa run job.toml --profile=profile.html --trace trace.json
  envisa run mine.visaasm --platform SKL --threads 2 --arg N=4 --arg T6=zeros:f32:64 --print T6:8

For hand-written .visaasm and .isa, arguments have the names in `.input`. A surface (T6) or a binding-table index (bti:3) \
takes a buffer or an image, and a scalar `uq` input takes the address of a buffer. urb:16 is the unified return buffer, whose \
handles count units of 16 bytes; counter:3 is the append counter of bti:3. --print and --out also take a variable, whose \
content is read when the first thread ends.

Exit codes: 0 success; 1 the kernel faults, a check finds something, a result is not as expected, or the vISA has errors; \
2 wrong usage, or a file could not be read or written; 3 the kernel uses something that envisa does not support. After a \
fault, no results are written.";

/// Run a kernel that Intel's compiler made, without the GPU.
///
/// FILE is a zebin (see `envisa build`), OpenCL C or SPIR-V (compiled first, for `--device`), hand-written
/// vISA, or a job in a `.toml` file. Options on the command line are added to those of the job.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// A zebin, a `.cl` or `.spv` file, a job (`.toml`), or hand-written `.visaasm` or `.isa`; `-` is
    /// standard input.
    file: PathBuf,
    /// The kernel, if there are several.
    #[arg(long)]
    kernel: Option<String>,
    /// Work-items: X[,Y[,Z]].
    #[arg(long, value_delimiter = ',', value_name = "X[,Y,Z]", allow_negative_numbers = true)]
    global: Vec<u64>,
    /// Work-items per group. By default, the size that the kernel requires, or a divisor of X.
    #[arg(long, value_delimiter = ',', value_name = "X[,Y,Z]", allow_negative_numbers = true)]
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
    /// Compare an argument's content after the run: exactly, or within a bound: `c=@want.npy,ulp 2`. Bounds are
    /// `exact`, `ulp N`, `abs X`, `rel X`, `rel X abs Y`, `set`.
    #[arg(long = "expect", value_name = "NAME=VALUE[,BOUND]")]
    expects: Vec<String>,
    /// Print an argument's first N elements after the run (16 by default).
    #[arg(long = "print", value_name = "NAME[:N]")]
    prints: Vec<String>,
    /// A source file of a zebin, which reports quote. (For a `.cl` file, reports always quote that file.)
    #[arg(long = "source", value_name = "FILE")]
    sources: Vec<PathBuf>,
    /// Look for data races, reads of uninitialised registers and memory, accesses out of bounds, stores whose channels
    /// collide, stores to constant memory, and barriers that not all work-items reach.
    #[arg(long)]
    check: bool,
    /// With --check, also report operations that vISA defines, but that are rarely intended: integers divided by zero,
    /// shifts by the width or more, floats converted to integers that cannot hold them, and misaligned elements.
    #[arg(long)]
    check_hints: bool,
    /// Which build of OpenCL C or SPIR-V the checks run.
    #[arg(long, value_enum, default_value_t = CheckBuildArg::Own)]
    check_build: CheckBuildArg,
    /// The order in which groups start and threads take turns: `forward`, `reverse` or `random:SEED`. By default, forward;
    /// with --check, a kernel that gets values from atomics also runs in reverse, from the start.
    #[arg(long, value_name = "ORDER")]
    order: Option<String>,
    /// With --check, also write the findings as a page: the source with findings in place, both sides of a race on a time
    /// line, and buffers as maps of the bytes that were read and written.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print the number of instructions, channel use, divergence, memory traffic, time, and how exact the results of the
    /// executed instructions are.
    #[arg(long)]
    stats: bool,
    /// Print results as one JSON object.
    #[arg(long)]
    json: bool,
    /// The number of host threads; 0 for one per core.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_jobs)]
    jobs: usize,
    /// The engine that runs the kernel: native code, if the CPU and the kernel allow it (`jit`), the interpreter
    /// (`interp`), or a choice by the cost of the launch (`auto`). `--stats` and `--profile` use the interpreter.
    #[arg(long, value_enum, default_value_t = EngineArg::Auto)]
    engine: EngineArg,
    /// Run the OpenCL C kernel on another OpenCL implementation, whose library this is (PoCL's `libpocl.so`, for example), to
    /// compare results. Needs the OpenCL loader, --global and --local; only prints, compares and writes buffers.
    #[arg(long, value_name = "LIBRARY")]
    driver: Option<PathBuf>,
    /// With --driver: run the command lines on standard input.
    #[arg(long, hide = true)]
    serve: bool,
    /// Write the kernel's native code, x86 next to vISA, to a file; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    dump_native: Option<PathBuf>,
    /// Stop a thread that executes more branches and calls than this; 0 for no limit.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Stop the run after this many seconds, and print where its threads were. Ctrl-C does the same.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// Run vISA that the verifier refuses, if it is structurally sound.
    #[arg(long)]
    no_verify: bool,
    #[command(flatten, next_help_heading = "Profiles")]
    profile: ProfileArgs,
    #[command(flatten, next_help_heading = "Findings")]
    findings: FindingArgs,
    #[command(flatten, next_help_heading = "To compile first")]
    build: BuildArgs,
    #[command(flatten, next_help_heading = "Hand-written code")]
    bare: BareArgs,
}

/// What runs kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum EngineArg {
    /// Chosen by cost
    Auto,
    /// Native code
    Jit,
    /// The interpreter
    Interp,
    /// The interpreter, without the optimiser
    Unoptimized,
}

impl From<EngineArg> for envisa::Engine {
    fn from(e: EngineArg) -> envisa::Engine {
        match e {
            EngineArg::Auto => envisa::Engine::Auto,
            EngineArg::Jit => envisa::Engine::Native,
            EngineArg::Interp => envisa::Engine::Interpreter,
            EngineArg::Unoptimized => envisa::Engine::Unoptimized,
        }
    }
}

/// Which build of a kernel the checks run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum CheckBuildArg {
    /// A build for the checks. It keeps every access of the source and compares it with the source's types.
    Own,
    /// The build that runs without checks.
    AsIs,
}

/// Options of the compiler.
#[derive(clap::Args)]
pub struct BuildArgs {
    /// The device to compile for: skl, tgllp, dg2, pvc.
    #[arg(long)]
    pub device: Option<String>,
    /// Options of the compiler.
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    pub options: String,
    /// The compiler, if it is not on the PATH.
    #[arg(long, value_name = "FILE")]
    pub ocloc: Option<PathBuf>,
}

/// Options of hand-written code.
#[derive(clap::Args)]
pub struct BareArgs {
    /// The platform for which the code is written.
    #[arg(long, value_name = "PLATFORM", value_parser = envisa::platform)]
    pub platform: Option<Platform>,
    /// Thread groups.
    #[arg(long, value_delimiter = ',', value_name = "X[,Y,Z]")]
    pub groups: Vec<u32>,
    /// Threads per group.
    #[arg(long, value_name = "N")]
    pub threads: Option<u32>,
    /// Channels per thread. By default, the `SimdSize` attribute or the width of the widest instruction.
    #[arg(long, value_name = "N")]
    pub simd: Option<u32>,
    /// Shared local memory per group, in bytes. By default, 64 KiB.
    #[arg(long, value_name = "BYTES")]
    pub slm: Option<u64>,
}

fn parse_jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n <= MAX_JOBS => Ok(n),
        _ => Err(format!("expected a number of host threads, 0 to {MAX_JOBS}")),
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Done {
    if args.serve {
        return other_driver::serve_jobs(&|words| {
            let args = crate::run_args(words)?;
            job_from_arguments(&args).map_err(|e| e.to_string())?.map_err(|e| e.to_string())
        });
    }
    let mut report = Report::default();
    let job = match job_from_arguments(args)? {
        Ok(job) => job,
        Err(e) => return report_refusal(e, report),
    };
    if let Some(driver) = &args.driver {
        if args.json || args.report.is_some() || args.dump_native.is_some() {
            return Err(Failure("another driver gives results as text only".into()));
        }
        return other_driver::run(&job, driver);
    }
    // Data on standard output stays alone there.
    let piped = job.outputs.iter().any(|o| o.file.as_deref().is_some_and(files::is_standard));
    if piped && args.json {
        return Err(Failure("`--json` and an output in `-` both want standard output".into()));
    }
    let profiles = args.profile.to_standard_output();
    if profiles > 1 || profiles > 0 && (piped || args.json) {
        return Err(Failure(
            "two outputs want standard output: name a file for the profile, as --profile=FILE".into(),
        ));
    }
    let mut ready = match Ready::new(&job) {
        Ok(ready) => ready,
        Err(e) => return report_refusal(e, report),
    };
    if let Some(file) = &args.dump_native {
        let listing = ready
            .kernel()
            .native_listing()
            .map_err(|e| Failure(format!("there is no native code to list: {e}")))?;
        io::write(file, listing.as_bytes())?;
    }
    if !ready.compiler_messages().is_empty() {
        let mut said = Report::default();
        said.diagnostics =
            envisa_ocloc::messages_as_diagnostics(ready.compiler_messages(), &job.file, &mut said.files);
        said.finish()?;
    }
    for warning in ready.warnings() {
        report.diagnostics.push(Diagnostic::warning("W0820", warning.clone()));
    }
    if ready.kernel().is_compiled() {
        load::report_unwritten_registers(ready.kernel(), &mut report.diagnostics);
    }
    let (progress, line) = progress::show_progress();
    let watch = Interrupt::new(job.timeout)?;
    let outcome = ready.run(progress, Some(&watch.cancel));
    drop(line);
    let outcome = outcome.and_then(|outcome| ready.also_in_reverse(&job, outcome, Some(&watch.cancel)));
    let why = watch.end();
    let mut outcome = match outcome {
        Ok(outcome) => outcome,
        Err(e) => return report_refusal(e, report),
    };
    let suppressed = remove_suppressed(&args.findings, &mut outcome)?;
    let delivered = ready.deliver_results(&outcome).map_err(|e| Failure(e.to_string()))?;
    if let Some(what) = &outcome.not_checked {
        report.diagnostics.push(Diagnostic::warning("W0821", what.clone()));
    }
    if let Some(dropped) = outcome.dropped.as_ref().filter(|_| outcome.findings.is_none()) {
        let said = format!("{}; --check says more", dropped.message());
        report.diagnostics.push(Diagnostic::warning("W0823", said));
    }
    results::report(&outcome, &mut report.diagnostics);
    let cancelled = outcome.fault.as_ref().is_some_and(|f| f.kind == FaultKind::Cancelled);
    if let Some(why) = why.filter(|_| cancelled) {
        // The fault is the last that was reported.
        let last = report.diagnostics.pop().map(|d| d.note(why));
        report.diagnostics.extend(last);
    }
    if outcome.printed_incomplete {
        let why = "some of what the kernel printed was lost: its buffer was full, or a record in it could not be read";
        report.diagnostics.push(Diagnostic::warning("W0822", why));
    }
    report.files = Files::clone(ready.kernel().files());
    let faults_only = args.findings.fail_on == FailOn::Fault;
    let local_variables = ready.kernel().local_variables();
    let hints = job.check_hints;
    let build = ready.check_build();
    let results = Results { outcome, delivered, suppressed, faults_only, hints, local_variables, build };
    write_reports(args, &report, &ready, &results.outcome)?;
    if args.json {
        io::print(&results.json())?;
    } else if piped {
        anstream::eprint!("{}", results.text());
    } else {
        io::print(&results.text())?;
    }
    if let Some(profile) = &results.outcome.profile {
        args.profile.write(profile)?;
    }
    report.finish()?;
    Ok(results.exit())
}

/// Takes out the findings that are suppressed; gives how many those are.
fn remove_suppressed(args: &FindingArgs, outcome: &mut Outcome) -> Result<usize, Failure> {
    let Some(findings) = &mut outcome.findings else { return Ok(0) };
    let told = args.apply_suppressions(&findings.iter().map(json_of).collect::<Vec<_>>())?;
    let before = findings.len();
    let mut told = told.into_iter();
    findings.retain(|_| told.next().unwrap_or(true));
    Ok(before - findings.len())
}

/// Writes what is wanted of findings and the fault.
fn write_reports(args: &Args, report: &Report, ready: &Ready, outcome: &Outcome) -> Result<(), Failure> {
    let of_the_run: Vec<Diagnostic> =
        report.diagnostics.iter().filter(|d| d.code.starts_with('F')).cloned().collect();
    let lines = render_json(&report.files, &of_the_run);
    let diagnostics: Vec<Value> = lines.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
    let mut told: Vec<(Value, String)> =
        outcome.findings.iter().flatten().map(|f| (json_of(f), f.message())).collect();
    told.extend(outcome.fault.iter().map(|f| (json_of(&**f), f.message.clone())));
    let told: Vec<(&Value, &str)> = told.iter().map(|(f, said)| (f, said.as_str())).collect();
    args.findings.publish(&diagnostics, &told)?;
    let Some(file) = &args.report else { return Ok(()) };
    let footprint = outcome.footprint.as_ref();
    let buffer = |(name, b, _): (&str, &envisa::Buffer, _)| {
        let place = b.address()..b.address() + b.len();
        let of = |all: Option<&Vec<Range<u64>>>| all.map_or_else(Vec::new, |all| clip(all, &place));
        let (read, written) = (of(footprint.map(|f| &f.read)), of(footprint.map(|f| &f.written)));
        Buffer { name: name.to_owned(), bytes: b.len(), read, written }
    };
    let buffers: Vec<Buffer> = ready.buffers().map(buffer).collect();
    let page = Page {
        of: ready.kernel().name(),
        findings: &outcome.findings.iter().flatten().map(json_of).collect::<Vec<_>>(),
        diagnostics: &diagnostics,
        mistakes: &[],
        sources: &sources_of(&report.files),
        buffers: if footprint.is_some() { &buffers } else { &[] },
    };
    io::write(file, page.html().as_bytes())
}

fn json_of(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// Tells why nothing ran.
fn report_refusal(e: JobError, mut report: Report) -> Done {
    match e {
        JobError::Text(diagnostics, files) => {
            report.files = Arc::unwrap_or_clone(files);
            report.diagnostics = diagnostics;
            report.finish()?;
            Ok(Exit::Findings)
        }
        JobError::Job(diagnostics, files) => {
            report.files = Arc::unwrap_or_clone(files);
            report.diagnostics = diagnostics;
            report.finish()?;
            Ok(Exit::Usage)
        }
        JobError::Unsupported(why) => {
            report.diagnostics = vec![Diagnostic::error("E0804", why)];
            report.finish()?;
            Ok(Exit::Unsupported)
        }
        JobError::Input(why) => {
            report.diagnostics = vec![Diagnostic::error(load::KIND, why)];
            report.finish()
        }
        JobError::Usage(e) => Err(Failure(e)),
    }
}

/// The job of the command line.
pub fn job_from_arguments(args: &Args) -> Result<Result<Job, JobError>, Failure> {
    let is_job = args.file.extension().is_some_and(|e| e == "toml");
    let mut job = if is_job {
        match Job::read(&args.file) {
            Ok(job) => job,
            Err(e) => return Ok(Err(e)),
        }
    } else {
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
    for (given, place) in [(&args.local, &mut job.local), (&args.bare.groups, &mut job.groups)] {
        if !given.is_empty() {
            *place = given.clone();
        }
    }
    job.device = args.build.device.clone().or(job.device);
    job.ocloc = args.build.ocloc.clone().or(job.ocloc);
    if !args.build.options.is_empty() {
        job.options = args.build.options.clone();
    }
    job.platform = args.bare.platform.map(|p| p.name().to_owned()).or(job.platform);
    job.threads = args.bare.threads.or(job.threads);
    job.simd = args.bare.simd.or(job.simd);
    job.slm = args.bare.slm.or(job.slm);
    job.engine = match args.engine {
        EngineArg::Auto => {
            envisa::Engine::from_environment().map_err(|e| Failure(format!("ENVISA_ENGINE: {e}")))?
        }
        chosen => chosen.into(),
    };
    if args.jobs != 0 {
        job.jobs = args.jobs;
    }
    job.limit = args.limit.unwrap_or(job.limit);
    job.timeout = args.timeout.or(job.timeout);
    job.sources.extend(args.sources.iter().cloned());
    job.check_hints |= args.check_hints;
    job.check |= args.check || job.check_hints;
    job.as_is |= args.check_build == CheckBuildArg::AsIs;
    job.order = args.order.clone().or(job.order);
    job.stats |= args.stats;
    job.footprint = args.report.is_some();
    job.check |= args.report.is_some();
    (job.profile, job.trace) = (args.profile.profile(), args.profile.trace());
    job.no_verify |= args.no_verify;
    let mut seen = Vec::new();
    for text in &args.args {
        let (name, value) = split_pair("--arg", text, "NAME=VALUE")?;
        if seen.contains(&name) {
            return Err(Failure(format!("argument `{name}` is given twice")));
        }
        seen.push(name);
        job.places.forget(&format!("args.{name}"));
        job.args.insert(name.to_owned(), ArgText::Text(value.to_owned()));
    }
    for text in &args.prints {
        // `bti:3` has a colon of its own.
        let own =
            ["bti:", "counter:", "urb:"].into_iter().find(|own| text.starts_with(own)).map_or(0, str::len);
        let colon = text[own..].find(':').map(|i| i + own);
        let (name, count) = match colon {
            Some(i) => (&text[..i], &text[i + 1..]),
            None => (text.as_str(), "16"),
        };
        let count = count
            .parse()
            .map_err(|_| Failure(format!("--print {text}: `{count}` is not a number of elements")))?;
        job.outputs.push(Output { arg: name.into(), print: Some(count), ..Output::default() });
    }
    for text in &args.expects {
        let (name, want) = split_pair("--expect", text, "NAME=VALUE[,BOUND]")?;
        // A list of values has commas of its own.
        let bound = want.rsplit_once(',').filter(|(_, b)| b.trim().starts_with(|c: char| c.is_alphabetic()));
        let (want, check) = match bound {
            Some((_, "nan" | "inf" | "NaN")) | None => (want, None),
            Some((want, bound)) => {
                let bound = bound.trim();
                Check::parse(bound).map_err(|e| Failure(format!("--expect {text}: {e}")))?;
                (want, Some(bound.to_owned()))
            }
        };
        job.outputs.push(Output { arg: name.into(), expect: Some(want.into()), check, ..Output::default() });
    }
    for text in &args.outs {
        let (name, file) = split_pair("--out", text, "NAME=FILE")?;
        job.outputs.push(Output { arg: name.into(), file: Some(file.into()), ..Output::default() });
    }
    Ok(Ok(job))
}

fn split_pair<'a>(option: &str, text: &'a str, form: &str) -> Result<(&'a str, &'a str), Failure> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name, value)),
        _ => Err(Failure(format!("{option} {text}: expected {form}"))),
    }
}
