//! `envisa build`: OpenCL C or SPIR-V to a zebin with vISA text, by Intel's compiler.

use crate::cmd::{Done, Failure, Report, load};
use crate::io;
use envisa::diag::Diagnostic;
use envisa_ocloc::{Build, BuildError, Lines};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  envisa build vadd.cl --device dg2               writes vadd.zebin
  envisa build vadd.cl --device pvc --options \"-cl-fast-relaxed-math -DN=4\" -o vadd-pvc.zebin
  envisa build vadd.cl --device skl --strip       small enough to store with tests

Devices: skl (Gen9), tgllp (Gen12), dg2 (XeHPG: Arc), pvc (XeHPC: Data Center GPU Max).";

/// Compile OpenCL C or SPIR-V with Intel's offline compiler, so that `envisa run` can run it.
///
/// Calls the newest `ocloc` that knows the device (Debian package `intel-opencl-icd`) with options that keep the vISA text and the kernels' names in
/// the zebin.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A `.cl` or `.spv` file.
    input: PathBuf,
    /// The device to compile for: skl, tgllp, dg2, pvc, or any other that `ocloc -device` knows.
    #[arg(long, value_name = "DEVICE")]
    device: String,
    /// Options as for `clBuildProgram`: `--options "-cl-fast-relaxed-math -DN=4"`.
    #[arg(long, value_name = "OPTIONS", default_value = "", allow_hyphen_values = true)]
    options: String,
    /// Additional internal options for the compiler.
    #[arg(long, value_name = "OPTIONS", default_value = "", allow_hyphen_values = true)]
    internal_options: String,
    /// The compiler, if it is not on the PATH.
    #[arg(long, value_name = "FILE")]
    ocloc: Option<PathBuf>,
    /// The output file; by default the input's name with `.zebin`.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Do not record source lines, which `envisa run` shows in its reports. The code is the same with and without them.
    #[arg(long)]
    no_lines: bool,
    /// Keep only the parts that `envisa run` needs: vISA text, metadata and data, but no SPIR-V and no machine code.
    #[arg(long)]
    strip: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Done {
    let output = args.output.unwrap_or_else(|| args.input.with_extension("zebin"));
    let input = args.input.clone();
    let mut build =
        Build::new(&args.input, args.device).options(args.options).internal_options(args.internal_options);
    build = build.lines(match (args.no_lines, args.strip) {
        (true, _) => Lines::None,
        // What is shipped names no folder of who built it.
        (false, true) => Lines::Name,
        (false, false) => Lines::Path,
    });
    if let Some(path) = args.ocloc {
        build = build.ocloc(path);
    }
    let built = match build.run() {
        Ok(built) => built,
        Err(BuildError::Failed { status, device, messages }) => {
            let mut report = Report::default();
            report.diagnostics =
                envisa_ocloc::failure_as_diagnostics(&status, &device, &messages, &input, &mut report.files);
            return report.finish();
        }
        Err(e @ (BuildError::Unresolved { .. } | BuildError::Zebin(_))) => {
            let mut report = Report::default();
            report.diagnostics.push(Diagnostic::error("E0810", format!("{}: {e}", input.display())));
            return report.finish();
        }
        Err(e) => return Err(Failure(e.to_string())),
    };
    let mut report = Report::default();
    report.diagnostics = envisa_ocloc::messages_as_diagnostics(&built.messages, &input, &mut report.files);
    load::report_unwritten_registers_of_zebin(
        &input.display().to_string(),
        &built.bytes,
        &mut report.diagnostics,
    );
    let bytes = if args.strip {
        built.zebin.strip().write().map_err(|e| Failure(e.to_string()))?
    } else {
        built.bytes
    };
    io::write(&output, &bytes)?;
    report.finish()
}
