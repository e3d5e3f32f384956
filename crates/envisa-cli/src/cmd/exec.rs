//! `envisa exec`: a program whose OpenCL devices are virtual GPUs.

use super::{Done, Exit, Failure};
use crate::io;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Run a program with envisa as its OpenCL driver.
///
/// The program finds one platform, "Intel(R) OpenCL HD Graphics (envisa)", whose devices are virtual GPUs; nothing
/// of it is changed. Faults of kernels are told on standard error when they happen.
///
/// Exit code: the program's; 1 if the program succeeded but there were faults or findings.
#[derive(clap::Args)]
#[command(after_help = "\
Environment: ENVISA_ENGINE (auto, jit, interp), ENVISA_THREADS, ENVISA_MEMORY (MiB), ENVISA_CACHE (a folder, or
off), ENVISA_OCLOC (another compiler), ENVISA_LOG (api, compiler, launch, all). docs/OPENCL.md has more.

Examples:
  envisa exec -- clinfo
  envisa exec --device pvc -- python3 script.py
  envisa exec --check --json findings.json -- ./app --its-own arguments")]
pub struct Args {
    /// The devices, the default one first: dg2, pvc, skl, tgllp; several are separated by commas. Without it, all.
    #[arg(long, short, value_name = "DEVICES")]
    device: Option<String>,
    /// Look for races, reads of what nothing wrote, stores that collide, and mistakes of the program.
    #[arg(long)]
    check: bool,
    /// Print what was launched.
    #[arg(long)]
    stats: bool,
    /// Write faults, findings and what was launched as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The driver; without it, `libenvisa_opencl.so` next to this command.
    #[arg(long, value_name = "FILE")]
    driver: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

const DEVICES: [&str; 4] = ["dg2", "pvc", "skl", "tgllp"];
const DRIVER: &str = "libenvisa_opencl.so";

/// The driver's file.
fn driver(given: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(path) = given {
        return match std::path::absolute(path) {
            Ok(path) if path.is_file() => Ok(path),
            _ => Err(Failure(format!("{}: there is no such driver", path.display()))),
        };
    }
    let own = std::env::current_exe().map_err(|e| Failure(format!("where this command is: {e}")))?;
    let folder = own.parent().unwrap_or(Path::new("."));
    let places =
        [folder.join(DRIVER), folder.join("../lib").join(DRIVER), folder.join("../lib/envisa").join(DRIVER)];
    places.iter().find(|p| p.is_file()).and_then(|p| std::path::absolute(p).ok()).ok_or_else(|| {
        let release = if cfg!(debug_assertions) { "" } else { " --release" };
        Failure(format!(
            "the driver `{DRIVER}` is not next to this command ({}); build it with `cargo build{release} -p \
             envisa-opencl`, or say where it is with --driver",
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
            if !DEVICES.contains(&name) {
                let near = envisa::diag::did_you_mean(name, DEVICES);
                let all = DEVICES.join(", ");
                return Err(Failure(format!("there is no device `{name}`; there are {all}{near}")));
            }
        }
    }
    let driver = driver(args.driver.as_deref())?;
    let scratch = std::env::temp_dir().join(format!("envisa-exec-{}", std::process::id()));
    let failed = |e: std::io::Error| Failure(format!("{}: {e}", scratch.display()));
    std::fs::create_dir_all(scratch.join("vendors")).map_err(failed)?;
    let done = with_folder(args, &driver, &scratch);
    // What is left of it is of no use to anybody.
    let _ = std::fs::remove_dir_all(&scratch);
    match done? {
        Ended::Well => Ok(Exit::Fine),
        Ended::WithFindings => Ok(Exit::Findings),
        // The program's own code is this command's.
        Ended::Badly(code) => std::process::exit(code),
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
    std::fs::write(vendors.join("envisa.icd"), format!("{}\n", driver.display())).map_err(failed)?;
    std::fs::write(&report, "").map_err(failed)?;
    let (name, rest) = args.program.split_first().ok_or_else(|| Failure::from("no program is given"))?;
    let mut command = Command::new(name);
    command.args(rest);
    // One for ocl-icd, one for the loader of Khronos.
    command.env("OCL_ICD_VENDORS", &vendors).env("OCL_ICD_FILENAMES", driver).env("ENVISA_REPORT", &report);
    if let Some(list) = &args.device {
        command.env("ENVISA_DEVICES", list);
    }
    if args.check {
        command.env("ENVISA_CHECK", "1");
    }
    let status =
        command.status().map_err(|e| Failure(format!("cannot run {}: {e}", Path::new(name).display())))?;
    let text = std::fs::read_to_string(&report).map_err(failed)?;
    let records: Vec<Value> = text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
    let of = |kind: &str| records.iter().filter(|r| r["kind"] == kind).cloned().collect::<Vec<Value>>();
    let (faults, findings, mistakes) = (of("fault"), of("finding"), of("mistake"));
    let kernels: Vec<Value> =
        of("summary").iter().flat_map(|s| s["kernels"].as_array().cloned().unwrap_or_default()).collect();
    if args.stats {
        statistics(&kernels);
    }
    let all = faults.len() + findings.len() + mistakes.len();
    if args.check || all > 0 {
        let tell = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        eprintln!(
            "envisa exec: {}, {}, {}",
            tell(faults.len(), "fault"),
            tell(findings.len(), "finding"),
            tell(mistakes.len(), "mistake of the program")
        );
    }
    if let Some(file) = &args.json {
        let whole = json!({
            "exit": status.code(),
            "faults": faults,
            "findings": findings,
            "mistakes": mistakes,
            "kernels": kernels,
        });
        io::write(file, format!("{whole:#}\n").as_bytes())?;
    }
    Ok(match status.code() {
        Some(0) if all > 0 => Ended::WithFindings,
        Some(0) => Ended::Well,
        Some(code) => Ended::Badly(code),
        None => {
            use std::os::unix::process::ExitStatusExt;
            eprintln!("envisa exec: {} was ended: {status}", Path::new(name).display());
            // As a shell tells it.
            Ended::Badly(128 + status.signal().unwrap_or(0))
        }
    })
}

/// What was launched, the longest first.
fn statistics(kernels: &[Value]) {
    let mut rows: Vec<(f64, u64, u64, &str)> = kernels
        .iter()
        .map(|k| {
            (
                k["seconds"].as_f64().unwrap_or(0.0),
                k["launches"].as_u64().unwrap_or(0),
                k["work_items"].as_u64().unwrap_or(0),
                k["name"].as_str().unwrap_or(""),
            )
        })
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    eprintln!("{:>12} {:>10} {:>16}  kernel", "seconds", "launches", "work-items");
    for (seconds, launches, items, name) in rows {
        eprintln!("{seconds:>12.6} {launches:>10} {items:>16}  {}", super::shown(name));
    }
}
