//! `envisa dis`: binary to text.

use crate::cmd::{Done, Exit, Failure, Report, load};
use crate::io;
use envisa::diag::{Diagnostic, FileId};
use envisa::isa::Platform;
use envisa_harness::files::Kind;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  envisa dis kernel.isa
  envisa dis kernel.isa -o kernel.visaasm
  envisa dis vadd.zebin --kernel vadd             the text that the compiler wrote into it
  envisa dis damaged.isa --recover                the readable part of a file that lacks operands";

/// Disassemble a CISA binary into vISA text, or show the vISA text in a zebin.
///
/// The text assembles back to the same module, and the reference tools accept it. Details that their text form
/// cannot express are written in comments that start with `//@`, which `envisa as` reads.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The binary or zebin; `-` is standard input.
    input: PathBuf,
    /// For a zebin: the kernel to show. By default, all kernels.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// The output file; `-`, the default, is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// The platform. It determines the size of registers, which is needed for addresses of variables.
    #[arg(long, value_name = "PLATFORM", value_parser = envisa::platform)]
    platform: Option<Platform>,
    /// Show the readable part of a damaged binary: its tables, its opcodes and the operands that it has.
    /// The releases 1.0.12198.1 to 1.0.13064.3 of the reference compiler wrote such files.
    #[arg(long)]
    recover: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Done {
    let mut report = Report::default();
    let bytes = io::read(&args.input)?;
    let name = load::display(&args.input);
    match Kind::of(Path::new(&name), &bytes) {
        Kind::Isa => {}
        Kind::Zebin => return zebin(&args, &name, &bytes, report),
        kind => {
            let why = kind.why_not_runnable(&name);
            let why =
                why.unwrap_or_else(|| format!("{name}: not a CISA binary: it does not start with `CISA`"));
            report.diagnostics.push(Diagnostic::error(load::KIND, why));
            return report.finish();
        }
    }
    if args.kernel.is_some() {
        return Err(Failure("`--kernel` can only be given with a zebin".into()));
    }
    if args.recover {
        match load::recover_binary_text(&name, &bytes, args.platform) {
            Ok(text) => {
                io::write(&args.output, text.as_bytes())?;
                return Ok(Exit::Fine);
            }
            Err(e) => {
                let id = report.files.add_binary(name, bytes);
                report.diagnostics.push(e.to_diagnostic(id));
                return report.finish();
            }
        }
    }
    if let Some(loaded) = load::load_binary(&name, bytes, args.platform, &mut report) {
        match envisa::text::print(&loaded.module, &envisa::text::PrintOptions::default()) {
            Ok(text) => io::write(&args.output, text.as_bytes())?,
            Err(e) => report.diagnostics.push(Diagnostic::error("E0830", e.to_string()).primary(
                FileId(0),
                (0, 0),
                "",
            )),
        }
    }
    report.finish()
}

/// The texts of a zebin's kernels, and of the functions that they call.
fn zebin(args: &Args, name: &str, bytes: &[u8], mut report: Report) -> Done {
    if args.recover {
        return Err(Failure("`--recover` can only be given with a CISA binary".into()));
    }
    let Some(file) = load::load_zebin(name, bytes, &mut report) else { return report.finish() };
    let mut texts: Vec<(String, Vec<u8>)> = Vec::new();
    for kernel in load::select_kernels(&file, args.kernel.as_deref())? {
        match load::kernel_units(name, &file, kernel) {
            Ok(units) => {
                for unit in units {
                    if !texts.contains(&unit) {
                        texts.push(unit);
                    }
                }
            }
            Err(e) => report.diagnostics.push(Diagnostic::error("E0821", e)),
        }
    }
    let mut out = Vec::new();
    for (label, text) in &texts {
        // One text is left as it is, so that its lines are those that findings name.
        if texts.len() > 1 {
            out.extend_from_slice(format!("// {label}\n").as_bytes());
        }
        out.extend_from_slice(text);
        if !text.ends_with(b"\n") {
            out.push(b'\n');
        }
    }
    if !texts.is_empty() {
        io::write(&args.output, &out)?;
    }
    report.finish()
}
