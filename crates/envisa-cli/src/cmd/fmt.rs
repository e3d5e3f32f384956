//! `envisa fmt`: the layout of vISA text.

use crate::cmd::{Done, Exit, Failure, Report, load};
use crate::io;
use envisa::diag::Diagnostic;
use envisa_harness::files::Kind;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  envisa fmt kernel.visaasm                       in place
  envisa fmt --check kernels/*.visaasm            for CI: lists files that would change; exit code 1 if there are any
  envisa fmt - < kernel.visaasm                   to standard output";

/// Format vISA text: indentation, blanks, empty lines and line ends. Nothing else changes.
///
/// A zebin is not changed: the formatted text of its kernels goes to standard output, or to `-o`.
///
/// Directives and labels start in the first column, instructions after four blanks. Comments and strings
/// are not changed. Files with errors are reported, and not changed.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files to format in place; `-` formats standard input to standard output.
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// Change nothing, but list the files that would change. The exit code is 1 if there are any.
    #[arg(long)]
    check: bool,
    /// The output file, for a single input; `-` is standard output. By default the input file.
    #[arg(short, long, value_name = "FILE", conflicts_with = "check")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: Args) -> Done {
    if args.output.is_some() && args.inputs.len() > 1 {
        return Err(Failure("`-o` can only be given with a single input".to_owned()));
    }
    let mut report = Report::default();
    let mut would_change = String::new();
    for input in &args.inputs {
        let bytes = io::read(input)?;
        let name = load::display(input);
        match Kind::of(Path::new(&name), &bytes) {
            Kind::Text | Kind::PlainText => {}
            Kind::Zebin if args.check => {
                return Err(Failure(format!(
                    "{name}: is a zebin; the compiler wrote its text, so there is nothing to check"
                )));
            }
            Kind::Zebin => {
                zebin(&name, &bytes, &args, &mut report)?;
                continue;
            }
            Kind::Isa => {
                let why = format!("{name}: is a binary; `envisa dis` converts it to text");
                report.diagnostics.push(Diagnostic::error(load::KIND, why));
                continue;
            }
            kind => {
                let why = kind.why_not_runnable(&name).unwrap_or_default();
                report.diagnostics.push(Diagnostic::error(load::KIND, why));
                continue;
            }
        }
        let said = report.diagnostics.len();
        let loaded = load::text(&name, bytes.clone(), None, &mut report);
        let (Some(_), Ok(source)) = (loaded, String::from_utf8(bytes)) else { continue };
        // Warnings are not about the layout.
        report.diagnostics.truncate(said);
        let text = envisa::text::format(&source);
        let changed = text != source;
        if args.check {
            if changed {
                would_change.push_str(&name);
                would_change.push('\n');
            }
        } else if let Some(output) = &args.output {
            io::write(output, text.as_bytes())?;
        } else if changed || input.as_os_str() == "-" {
            io::write(input, text.as_bytes())?;
        }
    }
    io::print(&would_change)?;
    match report.finish()? {
        Exit::Fine if !would_change.is_empty() => Ok(Exit::Findings),
        exit => Ok(exit),
    }
}

/// Writes the texts of a zebin's kernels, formatted.
fn zebin(name: &str, bytes: &[u8], args: &Args, report: &mut Report) -> Result<(), Failure> {
    let Some(file) = load::load_zebin(name, bytes, report) else { return Ok(()) };
    let mut out = String::new();
    for kernel in file.kernels() {
        match load::kernel_units(name, &file, kernel) {
            Ok(units) => {
                for (label, text) in units {
                    let said = report.diagnostics.len();
                    if load::text(&label, text.clone(), None, report).is_some() {
                        report.diagnostics.truncate(said);
                        out.push_str(&envisa::text::format(&String::from_utf8_lossy(&text)));
                    }
                }
            }
            Err(e) => report.diagnostics.push(Diagnostic::error("E0821", e)),
        }
    }
    io::write(args.output.as_deref().unwrap_or(Path::new("-")), out.as_bytes())
}
