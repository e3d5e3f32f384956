//! `envisa init`: a job that fits a kernel.

use crate::cmd::{Done, Exit, Failure, Report, load};
use crate::io;
use envisa::diag::Diagnostic;
use envisa::zebin::ZebinFile;
use envisa_harness::files::Kind;
use envisa_harness::job::template;
use envisa_ocloc::{Build, BuildError};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  envisa init vadd.zebin -o vadd.toml && envisa run vadd.toml
  envisa init vadd.cl --device dg2                to standard output";

/// Write a job for a kernel: all its arguments, each with a value of its type, and its results.
///
/// The job can be run at once, but its sizes and values are guesses; replace them with your own. Options given to
/// `envisa run` are added to those of the job, so you can vary a job without changing its file.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A zebin, or a `.cl` or `.spv` file, which the job compiles before each run.
    input: PathBuf,
    /// The kernel, if there are several.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// For a source: the device to compile for.
    #[arg(long, value_name = "DEVICE", default_value = "dg2")]
    device: String,
    /// The output file; `-`, the default, is standard output. An existing file is not overwritten.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Overwrite the file if it exists.
    #[arg(long)]
    force: bool,
    /// The compiler, if it is not on the PATH.
    #[arg(long, value_name = "FILE")]
    ocloc: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// Where files cannot be read or written, or there is no such kernel.
pub fn run(args: &Args) -> Done {
    let mut report = Report::default();
    if args.output.as_os_str() != "-" && args.output.exists() && !args.force {
        return Err(Failure(format!("{}: exists; --force overwrites it", args.output.display())));
    }
    let bytes = io::read(&args.input)?;
    let name = load::display(&args.input);
    let kind = Kind::of(Path::new(&name), &bytes);
    let (file, device) = match kind {
        Kind::Zebin => match load::container(&name, &bytes, &mut report) {
            Some(file) => (file, None),
            None => return report.finish(),
        },
        Kind::OpenClC | Kind::SpirV => match built(args, &mut report)? {
            Some(file) => (file, Some(args.device.as_str())),
            None => return report.finish(),
        },
        _ => {
            let why = format!(
                "{name}: neither a zebin nor OpenCL C nor SPIR-V: the arguments of its kernels are not known"
            );
            report.diagnostics.push(Diagnostic::error(load::KIND, why));
            return report.finish();
        }
    };
    let kernels = load::chosen(&file, args.kernel.as_deref())?;
    let [kernel] = &kernels[..] else {
        let all: Vec<&str> = kernels.iter().map(|k| k.name.as_str()).collect();
        return Err(Failure(match all.first() {
            Some(first) => {
                format!("there are {} kernels; say which, as --kernel {first}: {}", all.len(), all.join(", "))
            }
            None => format!("{name}: has no kernels"),
        }));
    };
    // Paths of a job are relative to it.
    let beside = args.output.as_os_str() != "-" && args.output.parent() == args.input.parent();
    let path = match args.input.file_name() {
        Some(short) if beside => PathBuf::from(short),
        _ if args.output.as_os_str() == "-" => args.input.clone(),
        _ => std::path::absolute(&args.input).unwrap_or_else(|_| args.input.clone()),
    };
    io::write(&args.output, template(&path.display().to_string(), device, &file, kernel).as_bytes())?;
    match report.finish()? {
        Exit::Fine => Ok(Exit::Fine),
        other => Ok(other),
    }
}

/// Compiles a source; what is wrong with it goes to the report.
fn built(args: &Args, report: &mut Report) -> Result<Option<ZebinFile>, Failure> {
    let mut build = Build::new(&args.input, &args.device);
    if let Some(path) = &args.ocloc {
        build = build.ocloc(path);
    }
    match build.run() {
        Ok(built) => Ok(Some(built.zebin)),
        Err(BuildError::Failed { messages, status, device }) => {
            report.diagnostics =
                envisa_ocloc::failure(&status, &device, &messages, &args.input, &mut report.files);
            Ok(None)
        }
        Err(e) => Err(Failure(e.to_string())),
    }
}
