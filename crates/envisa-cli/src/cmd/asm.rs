//! `envisa as`: text to binary.

use crate::cmd::{Done, Failure, Report, load};
use crate::io;
use envisa::binary::WriteOptions;
use envisa::diag::{Diagnostic, FileId};
use envisa::isa::Platform;
use envisa_harness::files::Kind;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  envisa as kernel.visaasm                        writes kernel.isa
  envisa as kernel.visaasm -o - | envisa info -
  envisa as kernel.visaasm --message-format json  errors for an editor, one per line

`as` does not check the rules of the specification; `envisa check` does.";

/// Assemble vISA text into a CISA binary.
///
/// All errors of a file are reported in one run. The binary has format 4.1, or 4.2 if the text says so.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The file with the text; `-` is standard input.
    input: PathBuf,
    /// The output file; `-` is standard output. By default the input's name with `.isa`.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The platform. It determines the size of registers, which is needed for addresses of variables (`&V32[36]`).
    #[arg(long, value_name = "PLATFORM", value_parser = envisa::platform)]
    platform: Option<Platform>,
    /// Write the binary as the releases 1.0.12198.1 to 1.0.13064.3 of the reference tools do, with their
    /// damage: for comparing bytes with them only.
    #[arg(long, hide = true)]
    reference_damage: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Done {
    let bytes = io::read(&args.input)?;
    let why = match Kind::of(&args.input, &bytes) {
        Kind::Text | Kind::PlainText => None,
        Kind::Isa => Some(format!("{}: is a binary already", args.input.display())),
        Kind::Zebin => {
            Some(format!("{0}: is a zebin; `envisa dis {0}` shows its text", args.input.display()))
        }
        kind => kind.why_not_runnable(&args.input.display().to_string()),
    };
    if let Some(why) = why {
        let mut report = Report::default();
        report.diagnostics.push(Diagnostic::error(load::KIND, why));
        return report.finish();
    }
    let output = match (&args.output, args.input.as_os_str() == "-") {
        (Some(output), _) => output.clone(),
        (None, true) => PathBuf::from("-"),
        (None, false) => args.input.with_extension("isa"),
    };
    if output == args.input && output.as_os_str() != "-" {
        return Err(Failure(format!(
            "{}: the output would overwrite the input; name another file with `-o`",
            output.display()
        )));
    }
    let mut report = Report::default();
    let name = load::display(&args.input);
    if let Some(loaded) = load::text(&name, bytes, args.platform, &mut report) {
        let options = args.platform.map_or_else(WriteOptions::default, WriteOptions::for_platform);
        let written = if args.reference_damage {
            envisa::binary::write_as_reference(&loaded.module, &options)
        } else {
            envisa::binary::write(&loaded.module, &options)
        };
        match written {
            Ok(binary) => io::write(&output, &binary)?,
            Err(e) => {
                let file = loaded.files.get(e.object).copied().unwrap_or(FileId(0));
                report.diagnostics.push(Diagnostic::error("E0831", e.to_string()).primary(file, e.span, ""));
            }
        }
    }
    report.finish()
}
