//! The `envisa` command.

mod cmd;
mod io;

use clap::{Parser, Subcommand};

const AFTER_HELP: &str = "\
Exit codes: 0 fine; 1 the input has errors, or the run has findings; 2 wrong usage, or a file could not be read or written.

The way in for real kernels:
  envisa build vadd.cl --device dg2 -o vadd.zebin        compile with Intel's compiler (ocloc)
  envisa run vadd.zebin --global 1024 --local 64 --arg a=iota:f32:1024 …
and for vISA itself:
  envisa explain svm_gather        what an instruction is, does and looks like
  envisa check kernel.visaasm --platform all
  envisa as kernel.visaasm -o kernel.isa && envisa dis kernel.isa";

/// A vISA toolchain, and a finalizer whose target is the CPU: assemble, disassemble, verify, explain
/// and run Intel GPU kernels without the GPU.
#[derive(Parser)]
#[command(name = "envisa", version, after_help = AFTER_HELP, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    As(cmd::asm::Args),
    Dis(cmd::dis::Args),
    Fmt(cmd::fmt::Args),
    Check(cmd::check::Args),
    Info(cmd::info::Args),
    Explain(cmd::explain::Args),
    Build(cmd::build::Args),
    Run(Box<cmd::run::Args>),
}

fn main() -> std::process::ExitCode {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        default(info);
        eprintln!(
            "This is a mistake in envisa, not in your input. Please report it with the input that shows it."
        );
    }));
    let cli = Cli::parse();
    let done = match cli.command {
        Command::As(args) => cmd::asm::run(args),
        Command::Dis(args) => cmd::dis::run(args),
        Command::Fmt(args) => cmd::fmt::run(args),
        Command::Check(args) => cmd::check::run(args),
        Command::Info(args) => cmd::info::run(args),
        Command::Explain(args) => cmd::explain::run(args),
        Command::Build(args) => cmd::build::run(args),
        Command::Run(args) => cmd::run::run(&args),
    };
    match done {
        Ok(code) => code.into(),
        Err(failure) => {
            anstream::eprintln!("\x1b[1;31merror\x1b[0m: {}", cmd::shown(&failure.to_string()));
            cmd::Exit::Usage.into()
        }
    }
}
