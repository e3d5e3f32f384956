//! `envisa dis`: binary to text.

use crate::cmd::{Done, Exit, Failure, Message, load, platform};
use crate::io;
use envisa::diag::{Diagnostic, FileId};
use envisa::isa::Platform;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  envisa dis kernel.isa
  envisa dis kernel.isa -o kernel.visaasm
  envisa dis damaged.isa --recover                what is left of a file that lacks operands";

/// Disassemble a CISA binary into vISA text.
///
/// The text assembles back to the same module, and the reference tools accept it. What their text form
/// cannot say stands in comments that start with `//@`, which `envisa as` reads.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The binary; `-` is standard input.
    input: PathBuf,
    /// Where to write; `-`, the default, is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// The platform: decides the size of registers, which matters for addresses of variables.
    #[arg(long, value_name = "PLATFORM", value_parser = platform)]
    platform: Option<Platform>,
    /// Show what is left of a damaged binary: its tables, its opcodes and the operands that are there.
    /// The releases 1.0.12198.1 to 1.0.13064.3 of the reference compiler wrote such files.
    #[arg(long)]
    recover: bool,
    #[command(flatten)]
    message: Message,
}

/// Runs the command.
pub fn run(args: Args) -> Done {
    let mut report = args.message.report();
    let bytes = io::read(&args.input)?;
    let name = load::display(&args.input);
    if !envisa::binary::is_cisa(&bytes) {
        return Err(Failure(format!("{name}: not a CISA binary: it does not start with `CISA`")));
    }
    if args.recover {
        match load::recovered(&name, &bytes) {
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
    if let Some(loaded) = load::binary(&name, bytes, args.platform, &mut report) {
        match envisa::text::print(&loaded.module, &envisa::text::PrintOptions::default()) {
            Ok(text) => io::write(&args.output, text.as_bytes())?,
            Err(e) => report.diagnostics.push(Diagnostic::error("E0420", e.to_string()).primary(
                FileId(0),
                (0, 0),
                "",
            )),
        }
    }
    report.finish()
}
