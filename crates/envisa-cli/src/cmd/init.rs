//! `envisa init`: a job that fits a kernel.

use crate::cmd::{Done, Failure, Report, load};
use crate::io;
use envisa::diag::Diagnostic;
use envisa::isa::{ObjectKind, Platform};
use envisa::zebin::ZebinFile;
use envisa::{Config, Device, Module, Source};
use envisa_harness::files::Kind;
use envisa_harness::job::{template, template_by_hand};
use envisa_ocloc::{Build, BuildError, Built};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  envisa init vadd.zebin -o vadd.toml && envisa run vadd.toml
  envisa init vadd.cl --device dg2                to standard output
  envisa init scatter.visaasm --platform SKL      hand-written vISA";

/// Write a job for a kernel: all its arguments, each with a value of its type, and its results.
///
/// The job can be run at once, but its sizes and values are guesses; replace them with your own. Options given to
/// `envisa run` are added to those of the job, so you can vary a job without changing its file.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A zebin, vISA text or a `.isa` binary, or a `.cl` or `.spv` file, which the job compiles before each run.
    input: PathBuf,
    /// The kernel, if there are several.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// For a source: the device to compile for.
    #[arg(long, value_name = "DEVICE", default_value = "dg2")]
    device: String,
    /// For hand-written vISA: the platform whose rules it follows; without it, SKL or the first on which it is legal.
    #[arg(long, value_name = "PLATFORM")]
    platform: Option<String>,
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
    let text = match kind {
        Kind::Zebin => match load::load_zebin(&name, &bytes, &mut report) {
            Some(file) => Some(of_zebin(args, &name, &file, &bytes, None)?),
            None => None,
        },
        Kind::OpenClC | Kind::SpirV => match compile_source(args, &mut report)? {
            Some(b) => Some(of_zebin(args, &name, &b.zebin, &b.bytes, Some(args.device.as_str()))?),
            None => None,
        },
        _ => by_hand(args, &name, bytes, kind, &mut report)?,
    };
    if let Some(text) = text {
        io::write(&args.output, text.as_bytes())?;
    }
    report.finish()
}

/// What a job calls the input: paths of a job are relative to it.
fn path_in_job(args: &Args) -> String {
    // Paths of a job are relative to it.
    let beside = args.output.as_os_str() != "-" && args.output.parent() == args.input.parent();
    let path: PathBuf = match args.input.file_name() {
        Some(short) if beside => PathBuf::from(short),
        _ if args.output.as_os_str() == "-" => args.input.clone(),
        _ => std::path::absolute(&args.input).unwrap_or_else(|_| args.input.clone()),
    };
    path.display().to_string()
}

/// The only kernel, or the one that is asked for.
fn choose_kernel<'a, T>(name: &str, kernels: &'a [T], called: impl Fn(&T) -> &str) -> Result<&'a T, Failure> {
    let all: Vec<&str> = kernels.iter().map(&called).collect();
    match (kernels, all.first()) {
        ([kernel], _) => Ok(kernel),
        (_, Some(first)) => Err(Failure(format!(
            "there are {} kernels; say which, as --kernel {first}: {}",
            all.len(),
            all.join(", ")
        ))),
        (_, None) => Err(Failure(format!("{name} has no kernels"))),
    }
}

/// The job of a compiled kernel.
fn of_zebin(
    args: &Args,
    name: &str,
    file: &ZebinFile,
    bytes: &[u8],
    device: Option<&str>,
) -> Result<String, Failure> {
    let kernels = load::select_kernels(file, args.kernel.as_deref())?;
    let kernel = *choose_kernel(name, &kernels, |k| &k.name)?;
    // One that cannot be run has a job all the same, with a guess at its dimensions.
    let source = Source::Zebin(bytes);
    let platform = source.platform().ok().flatten();
    let module = platform.and_then(|p| Module::load(&Device::new(Config::new(p)), name, source).ok());
    let dimensions = module.and_then(|m| m.kernel(&kernel.name).ok()?.dimensions());
    Ok(template(&path_in_job(args), device, file, kernel, dimensions))
}

/// The job of a kernel of hand-written vISA; what is wrong with that goes to the report.
fn by_hand(
    args: &Args,
    name: &str,
    bytes: Vec<u8>,
    kind: Kind,
    report: &mut Report,
) -> Result<Option<String>, Failure> {
    let asked = args.platform.as_deref().map(envisa::platform).transpose();
    let asked: Option<Platform> = asked.map_err(|e| Failure(e.to_string()))?;
    let Some(loaded) = load::bytes(name, bytes.clone(), asked, report) else { return Ok(None) };
    let Some(module) = loaded.first().map(|l| &l.module) else { return Ok(None) };
    let is_kernel = |k: &&str| args.kernel.as_deref().is_none_or(|n| n == *k);
    let all = module.objects.iter().filter(|o| o.kind == ObjectKind::Kernel).map(|o| o.name.as_str());
    let kernels: Vec<&str> = all.filter(is_kernel).collect();
    let kernel = *choose_kernel(name, &kernels, |k| k)?;
    let legal = [Platform::Skl].into_iter().chain(Platform::ALL).find(|p| load::legal_on(module, *p));
    let Some(platform) = asked.or(legal) else {
        let why = format!("{name}: is legal on no platform; `envisa check --platform` says why");
        report.diagnostics.push(Diagnostic::error(load::KIND, why));
        return Ok(None);
    };
    let source = if kind == Kind::Isa { Source::Isa(&bytes) } else { Source::Text(&bytes) };
    let device = Device::new(Config::new(platform));
    let module = Module::load(&device, name, source).map_err(|e| Failure(e.to_string()))?;
    let kernel = module.kernel(kernel).map_err(|e| Failure(e.to_string()))?;
    Ok(Some(template_by_hand(&path_in_job(args), platform, &kernel)))
}

/// Compiles a source; what is wrong with it goes to the report.
fn compile_source(args: &Args, report: &mut Report) -> Result<Option<Built>, Failure> {
    let mut build = Build::new(&args.input, &args.device);
    if let Some(path) = &args.ocloc {
        build = build.ocloc(path);
    }
    match build.run() {
        Ok(built) => Ok(Some(built)),
        Err(BuildError::Failed { messages, status, device }) => {
            report.diagnostics = envisa_ocloc::failure_as_diagnostics(
                &status,
                &device,
                &messages,
                &args.input,
                &mut report.files,
            );
            Ok(None)
        }
        Err(e) => Err(Failure(e.to_string())),
    }
}
