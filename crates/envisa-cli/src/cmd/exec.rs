//! `envisa exec`: a program whose OpenCL and Level Zero devices are virtual GPUs.

use super::findings::{FailOn, FindingArgs};
use super::findings_page::{Buffer, Page, Source};
use super::run::CheckBuildArg;
use super::{Done, Exit, Failure, results};
use crate::io;
use envisa::diag::{Diagnostic, Files, Severity, render_json};
use envisa::zebin::DeviceFamily;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// Run a program with envisa as its OpenCL and Level Zero driver.
///
/// The program itself is not changed. It finds one platform, "Intel(R) OpenCL HD Graphics (envisa)", or one Level Zero
/// driver, whose devices are virtual GPUs. Faults of kernels are printed on standard error when they happen. Findings and
/// a summary are printed when the program has ended.
///
/// The exit code is that of the program. It is 1 if the program succeeded but there were faults, findings or mistakes,
/// and 2 if the program could not be started.
#[derive(clap::Args)]
#[command(after_help = "\
Environment: ENVISA_ENGINE (auto, jit, interp, unoptimized), ENVISA_THREADS, ENVISA_MEMORY (MiB), ENVISA_CACHE (a folder, or off), \
ENVISA_OCLOC (the compiler; by default the machine's newest that knows the device), ENVISA_LOG (api, compiler, launch, all). docs/OPENCL.md has more.

Examples:
  envisa exec -- clinfo
  envisa exec --device pvc -- python3 script.py
  envisa exec --check --json findings.json -- ./app --its-own arguments
  envisa exec --check --suppress known.txt --sarif findings.sarif -- ./app
  envisa exec --debug=scale:3 -- ./app         debugs the third launch of kernel scale
  envisa exec --debug --listen 4711 -- ./app   an editor attaches to port 4711 and debugs the first launch")]
pub struct Args {
    /// The devices, separated by commas: dg2, pvc, skl, tgllp. The first is the default device. Without this option, all
    /// four, skl first: it has 64-bit floating point and images
    #[arg(long, short, value_name = "DEVICES")]
    device: Option<String>,
    /// Look for races, uninitialised reads, colliding stores and accesses out of bounds in kernels, and for mistakes in
    /// the program's use of OpenCL.
    #[arg(long)]
    check: bool,
    /// With --check, report objects that the program never releases as mistakes, not as notes.
    #[arg(long, requires = "check")]
    leaks: bool,
    /// With --check, also report operations that vISA defines, but that are rarely intended: integers divided by zero,
    /// shifts by the width or more, floats converted to integers that cannot hold them, and misaligned elements.
    #[arg(long)]
    check_hints: bool,
    /// Which build of OpenCL C or SPIR-V the checks run.
    #[arg(long, value_enum, default_value_t = CheckBuildArg::Own)]
    check_build: CheckBuildArg,
    /// The order in which groups start and threads take turns: `forward`, `reverse` or `random:SEED`.
    #[arg(long, value_name = "ORDER", value_parser = parse_order)]
    order: Option<String>,
    /// Print the launches of each kernel, their work-items and their time.
    #[arg(long)]
    stats: bool,
    /// Write faults, findings, mistakes and launches as JSON (`docs/exec.schema.json`).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// With --check, also write what was found as a page: the sources with findings in place, both sides of a race on a time
    /// line, buffers as maps of the bytes that were read and written, and the program's mistakes.
    #[arg(long, value_name = "FILE", requires = "check")]
    report: Option<PathBuf>,
    /// Stop at a launch and debug it: by default the first launch, with KERNEL:N a kernel's N-th, and with `wrong` the first
    /// launch that has a fault or, with --check, a finding. The program waits until you leave the debugger.
    #[arg(
        long,
        value_name = "WHERE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "first"
    )]
    debug: Option<String>,
    /// With --debug, compile the program's kernels with optimisation.
    #[arg(long, requires = "debug")]
    optimised: bool,
    /// With --debug, a command that the debugger executes before those of the terminal.
    #[arg(short = 'x', value_name = "COMMAND", requires = "debug")]
    commands: Vec<String>,
    /// With --debug, a source file from which the program's SPIR-V or binaries were compiled.
    #[arg(long = "source", value_name = "FILE", requires = "debug")]
    sources: Vec<PathBuf>,
    /// With --debug, the largest size of the log of past states: 64M, 2G. By default 1G.
    #[arg(long, value_name = "BYTES", requires = "debug")]
    history: Option<String>,
    /// With --debug, speak the Debug Adapter Protocol on standard input and output. The program reads nothing, and what it
    /// writes to its standard output goes to standard error.
    #[arg(long, requires = "debug", conflicts_with_all = ["listen", "commands"])]
    dap: bool,
    /// With --debug, speak the protocol on a port of this machine, or on ADDRESS:PORT.
    #[arg(long, value_name = "PORT", requires = "debug", conflicts_with = "commands")]
    listen: Option<String>,
    /// The driver's file. By default, `libenvisa_opencl.so` next to this command.
    #[arg(long, value_name = "FILE")]
    driver: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Findings")]
    findings: FindingArgs,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// What `--check` looks at besides what it does of a run.
const CHECKED: [&str; 5] = [
    "commands that fail",
    "order of commands that touch the same memory",
    "uninitialised buffers and images",
    "mapped memory, and host memory that the program gives to commands",
    "objects that are never released",
];
/// At what it does not look, and why; without hints, that too.
const NOT_CHECKED: [&str; 4] = [
    "uninitialised host memory, shared memory that the program may write while kernels run, and memory that kernels reach through pointers in memory",
    "host memory that the program uses too early, or by mappings that have ended, but for its first and last bytes, which are watched",
    "what a kernel reads of CL_MEM_WRITE_ONLY memory that it has written itself",
    "host memory of CL_MEM_USE_HOST_PTR that the program changes after the kernel has begun, or while other commands run",
];

/// The form of `--json`: a new number where a reader of the old one would go wrong. `docs/exec.schema.json` describes it.
const FORMAT: &str = "envisa-exec/1";

const DRIVER: &str = "libenvisa_opencl.so";

fn parse_order(text: &str) -> Result<String, String> {
    text.parse::<envisa::Order>().map(|_| text.to_owned())
}

/// The OpenCL driver's file: the one given, or the one next to this command.
pub(super) fn find_driver(given: Option<&Path>) -> Result<PathBuf, Failure> {
    driver_named(DRIVER, "envisa-opencl", given)
}

/// A driver's file: the one given, or the one of this name next to this command; `package` makes it.
pub(super) fn driver_named(name: &str, package: &str, given: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(path) = given {
        return match std::path::absolute(path) {
            Ok(path) if path.is_file() => Ok(path),
            _ => Err(Failure(format!("{}: there is no driver file of this name", path.display()))),
        };
    }
    let own = std::env::current_exe()
        .map_err(|e| Failure(format!("the path of this command cannot be found: {e}")))?;
    let folder = own.parent().unwrap_or(Path::new("."));
    let places =
        [folder.join(name), folder.join("../lib").join(name), folder.join("../lib/envisa").join(name)];
    places.iter().find(|p| p.is_file()).and_then(|p| std::path::absolute(p).ok()).ok_or_else(|| {
        let release = if cfg!(debug_assertions) { "" } else { " --release" };
        Failure(format!(
            "the driver `{name}` is not next to this command ({}); build it with `cargo build{release} -p \
             {package}`, or say where it is with --driver",
            folder.display()
        ))
    })
}

/// Runs the command.
///
/// # Errors
/// If the program or the driver is not there.
pub fn run(args: &Args) -> Done {
    if let Some(list) = &args.device {
        for name in list.split(',').map(str::trim) {
            let devices = envisa::OPENCL_DEVICES.map(DeviceFamily::name);
            if !devices.contains(&name) {
                return Err(Failure(envisa::diag::unknown("device", name, devices)));
            }
        }
    }
    let driver = find_driver(args.driver.as_deref())?;
    // Libraries that it names are loaded into the program: nobody else may have made it, or write into it.
    let scratch = tempfile::Builder::new()
        .prefix("envisa-exec-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .tempdir()
        .map_err(|e| Failure(format!("a temporary folder cannot be created: {e}")))?;
    let done = with_folder(args, &driver, scratch.path());
    // The program's code ends this process below.
    drop(scratch);
    match done? {
        Ended::Well => Ok(Exit::Fine),
        Ended::WithFindings => Ok(Exit::Findings),
        // The program's own code is this command's.
        Ended::Badly(code) => std::process::exit(code),
    }
}

impl Args {
    /// Is anything looked for?
    fn looks_for_findings(&self) -> bool {
        self.check || self.check_hints
    }

    /// What is looked at, and what not.
    fn checked_and_unchecked(&self) -> (Vec<&'static str>, Vec<&'static str>) {
        let hints = self.check_hints;
        let (own, not_own) = match self.check_build {
            CheckBuildArg::Own => (Some(results::OWN_BUILD), results::COMPUTED),
            CheckBuildArg::AsIs => (None, results::NO_OWN_BUILD),
        };
        let checked = results::CHECKED.into_iter().chain(CHECKED).chain(own);
        let checked = checked.chain(hints.then_some(results::HINTS));
        let not = NOT_CHECKED.into_iter().chain([not_own]).chain((!hints).then_some(results::NO_HINTS));
        if self.looks_for_findings() { (checked.collect(), not.collect()) } else { (Vec::new(), Vec::new()) }
    }
}

/// How the program ended.
enum Ended {
    Well,
    WithFindings,
    /// With this exit code.
    Badly(i32),
}

fn with_folder(args: &Args, driver: &Path, scratch: &Path) -> Result<Ended, Failure> {
    let (vendors, report) = (scratch.join("vendors"), scratch.join("report"));
    let failed = |e: std::io::Error| Failure(format!("{}: {e}", scratch.display()));
    std::fs::create_dir(&vendors).map_err(failed)?;
    std::fs::write(vendors.join("envisa.icd"), format!("{}\n", driver.display())).map_err(failed)?;
    std::fs::write(&report, "").map_err(failed)?;
    let (name, rest) = args.program.split_first().ok_or_else(|| Failure::from("no program is given"))?;
    let mut command = Command::new(name);
    command.args(rest);
    // One for ocl-icd, one for the loader of Khronos.
    command.env("OCL_ICD_VENDORS", &vendors).env("OCL_ICD_FILENAMES", driver).env("ENVISA_REPORT", &report);
    // The Level Zero driver lies beside the other; where it was not built, programs find none.
    let level_zero = driver.with_file_name(super::levelzero::DRIVER);
    if level_zero.is_file() {
        command.env("ZE_ENABLE_ALT_DRIVERS", level_zero);
    }
    if super::json() {
        command.env("ENVISA_MESSAGE_FORMAT", "json");
    }
    if let Some(list) = &args.device {
        command.env("ENVISA_DEVICES", list);
    }
    if let Some(order) = &args.order {
        command.env("ENVISA_ORDER", order);
    }
    if args.looks_for_findings() {
        let as_is = args.check_build == CheckBuildArg::AsIs;
        let page = args.report.is_some();
        let also = [(args.leaks, "leaks"), (args.check_hints, "hints"), (as_is, "as-is"), (page, "page")];
        let asked: Vec<&str> = also.into_iter().filter_map(|(wanted, what)| wanted.then_some(what)).collect();
        command.env("ENVISA_CHECK", if asked.is_empty() { "1".to_owned() } else { asked.join(",") });
        // PyOpenCL keeps compiled programs: they are others, and know neither their lines nor their text.
        if std::env::var_os("PYOPENCL_NO_CACHE").is_none() {
            command.env("PYOPENCL_NO_CACHE", "1");
        }
    }
    let started = match &args.debug {
        None => command.status(),
        Some(place) => {
            command.env("ENVISA_CAPTURE", scratch.join("launches")).env("ENVISA_CAPTURE_STOP", place);
            if !args.optimised {
                command.env("ENVISA_DEBUG_BUILDS", "1").env("PYOPENCL_NO_CACHE", "1");
            }
            debugged(&mut command, &scratch.join("launches"), args)?
        }
    };
    let status = started.map_err(|e| Failure(format!("cannot run {}: {e}", Path::new(name).display())))?;
    let mut report = Report::read(&std::fs::read_to_string(&report).map_err(failed)?);
    report.remove_suppressed(&args.findings)?;
    let all = report.print_findings(args);
    report.write_reports(&args.findings)?;
    if let Some(file) = &args.report {
        io::write(file, report.page(&Path::new(name).display().to_string()).as_bytes())?;
    }
    report.remove_pages();
    if let Some(file) = &args.json {
        io::write(file, format!("{:#}\n", report.json(status.code(), args)).as_bytes())?;
    }
    let wrong = if args.findings.fail_on == FailOn::Fault { report.faults.len() } else { all };
    Ok(match status.code() {
        Some(0) if wrong > 0 => Ended::WithFindings,
        Some(0) => Ended::Well,
        Some(code) => Ended::Badly(code),
        None => {
            use std::os::unix::process::ExitStatusExt;
            print_note(&format!("envisa exec: {} was ended: {status}", Path::new(name).display()));
            // As a shell tells it.
            Ended::Badly(128 + status.signal().unwrap_or(0))
        }
    })
}

/// Runs a program whose launches stop in a folder, and debugs each that does.
#[cfg(feature = "debug")]
fn debugged(
    command: &mut Command,
    folder: &Path,
    args: &Args,
) -> Result<std::io::Result<ExitStatus>, Failure> {
    use super::exec_debug::{DebugSettings, Interface, run};
    let face = match &args.listen {
        Some(port) => Interface::Port(port),
        None if args.dap => Interface::Stdio,
        None => Interface::Terminal(&args.commands),
    };
    let order = super::debug::parse_order(args.order.as_deref().unwrap_or("forward")).map_err(Failure)?;
    let history = super::debug::bytes(args.history.as_deref().unwrap_or("1G")).map_err(Failure)?;
    let options = envisa_debug::session::Options {
        order,
        history,
        check: args.looks_for_findings(),
        notes: Vec::new(),
    };
    // The program may change its folder; its sources are of this one.
    let sources = args.sources.iter().map(|s| std::path::absolute(s).unwrap_or_else(|_| s.clone())).collect();
    run(command, folder, &face, DebugSettings { options, sources })
}

#[cfg(not(feature = "debug"))]
fn debugged(_: &mut Command, _: &Path, _: &Args) -> Result<std::io::Result<ExitStatus>, Failure> {
    Err(Failure("this command was built without the debugger".into()))
}

/// A message that is about no place of a module.
pub(super) fn print_message(severity: Severity, text: &str, notes: impl IntoIterator<Item = String>) {
    if super::json() {
        let said = Diagnostic::new(severity, "", text.to_owned());
        let said = notes.into_iter().fold(said, Diagnostic::note);
        return eprint!("{}", render_json(&Files::new(), &[said]));
    }
    eprintln!("{severity}: {}", super::escape_for_terminal(text));
    notes.into_iter().for_each(|n| eprintln!("   = note: {}", super::escape_for_terminal(&n)));
}

/// A line of what there is to say besides.
pub(super) fn print_note(text: &str) {
    if super::json() {
        print_message(Severity::Note, text, None)
    } else {
        eprintln!("{}", super::escape_for_terminal(text))
    }
}

/// What was launched of a kernel, by all processes of the program.
#[derive(Clone, Default)]
struct Launches {
    launches: u64,
    work_items: u64,
    seconds: f64,
}

/// What the driver reported.
#[derive(Default)]
struct Report {
    faults: Vec<Value>,
    findings: Vec<Value>,
    mistakes: Vec<Value>,
    notes: Vec<Value>,
    /// Findings that were suppressed.
    suppressed: usize,
    kernels: BTreeMap<String, Launches>,
}

impl Report {
    /// Takes out the findings that are suppressed.
    fn remove_suppressed(&mut self, args: &FindingArgs) -> Result<(), Failure> {
        let findings: Vec<Value> = self.findings.iter().map(|r| r["finding"].clone()).collect();
        let mut told = args.apply_suppressions(&findings)?.into_iter();
        self.findings.retain(|_| told.next().unwrap_or(true));
        self.suppressed = findings.len() - self.findings.len();
        Ok(())
    }

    /// What was found, as a page.
    fn page(&self, program: &str) -> String {
        let of_kernels =
            self.findings.iter().map(|r| (r, "finding")).chain(self.faults.iter().map(|r| (r, "fault")));
        let (mut diagnostics, mut findings) = (Vec::new(), Vec::new());
        let (mut sources, mut buffers): (BTreeMap<&str, &str>, BTreeMap<String, Buffer>) = Default::default();
        for (r, what) in of_kernels {
            let said = r["diagnostic"].as_str().and_then(|d| serde_json::from_str::<Value>(d).ok());
            diagnostics.push(said.unwrap_or_default());
            findings.push(r[what].clone());
            let kernel = r[what]["kernel"].as_str().unwrap_or_default();
            for source in r["page"]["sources"].as_array().into_iter().flatten() {
                if let (Some(name), Some(text)) = (source["name"].as_str(), source["text"].as_str()) {
                    sources.insert(name, text);
                }
            }
            for b in r["page"]["buffers"].as_array().into_iter().flatten() {
                let name = format!("{kernel}, {}", b["name"].as_str().unwrap_or_default());
                let ranges = |v: &Value| serde_json::from_value(v.clone()).unwrap_or_default();
                let bytes = b["bytes"].as_u64().unwrap_or(0);
                let buffer = || Buffer {
                    name: name.clone(),
                    bytes,
                    read: ranges(&b["read"]),
                    written: ranges(&b["written"]),
                };
                buffers.entry(name.clone()).or_insert_with(buffer);
            }
        }
        let calls = |r: &Value| r["calls"].as_array().into_iter().flatten().cloned().collect::<Vec<_>>();
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let mistake = |r: &Value| (text(&r["text"]), calls(r).iter().map(text).collect());
        let source = |(name, text): (&str, &str)| Source { name: name.into(), text: text.into() };
        Page {
            of: program,
            diagnostics: &diagnostics,
            findings: &findings,
            mistakes: &self.mistakes.iter().map(mistake).collect::<Vec<_>>(),
            sources: &sources.into_iter().map(source).collect::<Vec<_>>(),
            buffers: &buffers.into_values().collect::<Vec<_>>(),
        }
        .html()
    }

    /// What was for the page alone is not for others.
    fn remove_pages(&mut self) {
        for r in self.findings.iter_mut().chain(&mut self.faults).filter_map(Value::as_object_mut) {
            r.remove("page");
        }
    }

    /// Writes what is wanted of faults, findings and mistakes for other tools.
    fn write_reports(&self, args: &FindingArgs) -> Result<(), Failure> {
        let of_kernels =
            self.faults.iter().map(|r| (r, "fault")).chain(self.findings.iter().map(|r| (r, "finding")));
        let mut diagnostics: Vec<Value> = of_kernels
            .clone()
            .filter_map(|(r, _)| serde_json::from_str(r["diagnostic"].as_str()?).ok())
            .collect();
        let said: Vec<String> =
            diagnostics.iter().map(|d| d["message"].as_str().unwrap_or_default().to_owned()).collect();
        let text = |r: &'_ Value| r["text"].as_str().unwrap_or_default().to_owned();
        let mistakes: Vec<String> = self.mistakes.iter().map(text).collect();
        diagnostics.extend(mistakes.iter().map(|m| json!({ "level": "error", "message": m })));
        let of_kernels = of_kernels.map(|(r, what)| &r[what]).zip(said.iter().map(String::as_str));
        let of_the_host = mistakes.iter().map(|m| (&Value::Null, m.as_str()));
        args.publish(&diagnostics, &of_kernels.chain(of_the_host).collect::<Vec<_>>())
    }

    /// Reads the driver's lines. One that is cut off, because its process was killed, is left out.
    fn read(text: &str) -> Report {
        let mut report = Report::default();
        let mut times: BTreeMap<String, u64> = BTreeMap::new();
        let number = |v: &Value| v.as_u64().unwrap_or(0);
        for mut r in text.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok()) {
            let kind = r["kind"].as_str().unwrap_or_default().to_owned();
            let list = match kind.as_str() {
                "fault" => &mut report.faults,
                "finding" => &mut report.findings,
                "mistake" => &mut report.mistakes,
                "note" => &mut report.notes,
                "summary" => {
                    for k in r["kernels"].as_array().into_iter().flatten() {
                        let name = k["name"].as_str().unwrap_or_default().to_owned();
                        let entry = report.kernels.entry(name).or_default();
                        entry.launches += number(&k["launches"]);
                        entry.work_items += number(&k["work_items"]);
                        entry.seconds += k["seconds"].as_f64().unwrap_or(0.0);
                    }
                    for (key, n) in r["times"].as_object().into_iter().flatten() {
                        *times.entry(key.clone()).or_default() += number(n);
                    }
                    continue;
                }
                _ => continue,
            };
            if let Some(r) = r.as_object_mut() {
                r.remove("kind");
            }
            if r["finding"].is_object() {
                let said = r["diagnostic"].as_str().and_then(|d| serde_json::from_str::<Value>(d).ok());
                let said = said.unwrap_or_default();
                results::add_message_and_address(
                    &mut r["finding"],
                    said["message"].as_str().unwrap_or_default(),
                );
            }
            // Another process of the program may have found the same.
            if list.iter().all(|other: &Value| other["key"].is_null() || other["key"] != r["key"]) {
                list.push(r);
            }
        }
        for r in report.faults.iter_mut().chain(&mut report.findings).chain(&mut report.mistakes) {
            let n = r["key"].as_str().and_then(|key| times.get(key)).copied().unwrap_or(1);
            r["times"] = n.into();
        }
        report
    }

    /// Prints what was found, statistics and a summary; how much was found. Faults were told when they happened.
    fn print_findings(&self, args: &Args) -> usize {
        let again =
            |r: &Value, what: &str| r["times"].as_u64().filter(|n| *n > 1).map(|n| format!("in {n} {what}"));
        let text = |r: &Value| r["text"].as_str().unwrap_or_default().to_owned();
        for r in &self.findings {
            let note = again(r, "launches");
            if super::json() {
                let line = r["diagnostic"].as_str().unwrap_or_default();
                let mut told: Value = serde_json::from_str(line).unwrap_or_default();
                if let (Some(notes), Some(note)) = (told["notes"].as_array_mut(), note) {
                    notes.push(note.into());
                }
                eprintln!("{told}");
                continue;
            }
            eprintln!("{}", super::escape_for_terminal(text(r).trim_end()));
            note.into_iter().for_each(|n| eprintln!("   = note: {n}"));
            eprintln!();
        }
        for r in &self.mistakes {
            let calls =
                r["calls"].as_array().into_iter().flatten().filter_map(|c| Some(c.as_str()?.to_owned()));
            print_message(Severity::Error, &text(r), calls.chain(again(r, "calls")));
        }
        for r in &self.notes {
            print_message(Severity::Note, &text(r), None);
        }
        if args.stats {
            self.print_statistics();
        }
        let all = self.faults.len() + self.findings.len() + self.mistakes.len();
        if args.looks_for_findings() {
            let (checked, not_checked) = args.checked_and_unchecked();
            print_note(&format!("checked: {}", checked.join("; ")));
            print_note(&format!("not checked: {}", not_checked.join("; ")));
        }
        if args.looks_for_findings() || all > 0 {
            print_note(&self.summary_line());
        }
        all
    }

    fn summary_line(&self) -> String {
        let tell = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let launches: u64 = self.kernels.values().map(|k| k.launches).sum();
        let mistakes = match self.mistakes.len() {
            1 => "1 mistake of the program".to_owned(),
            n => format!("{n} mistakes of the program"),
        };
        let suppressed = match self.suppressed {
            0 => String::new(),
            n => format!(" ({n} suppressed)"),
        };
        format!(
            "envisa exec: {} of {}: {}, {}{suppressed}, {mistakes}",
            tell(launches as usize, "launch").replace("launchs", "launches"),
            tell(self.kernels.len(), "kernel"),
            tell(self.faults.len(), "fault"),
            tell(self.findings.len(), "finding"),
        )
    }

    /// What was launched, the longest first.
    fn print_statistics(&self) {
        let mut rows: Vec<(&String, &Launches)> = self.kernels.iter().collect();
        rows.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds));
        print_note(&format!("{:>12} {:>10} {:>16}  kernel", "seconds", "launches", "work-items"));
        for (name, k) in rows {
            print_note(&format!("{:>12.6} {:>10} {:>16}  {name}", k.seconds, k.launches, k.work_items));
        }
    }

    /// For `--json`.
    fn json(&self, exit: Option<i32>, args: &Args) -> Value {
        let (checked, not_checked) = args.checked_and_unchecked();
        let kernels: Vec<Value> = self
            .kernels
            .iter()
            .map(|(name, k)| {
                json!({
                    "name": name,
                    "launches": k.launches,
                    "work_items": k.work_items,
                    "seconds": k.seconds,
                })
            })
            .collect();
        json!({
            "format": FORMAT,
            "exit": exit,
            "faults": self.faults,
            "findings": self.findings,
            "mistakes": self.mistakes,
            "notes": self.notes,
            "kernels": kernels,
            "suppressed": self.suppressed,
            "checked": checked,
            "not_checked": not_checked,
        })
    }
}
