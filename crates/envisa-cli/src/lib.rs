//! The `envisa` command, whole: a library beside a program of one line, so that it compiles while what it uses does.

mod cmd;
mod exit;
mod io;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use cmd::{Exit, Failure, Settings};

const AFTER_HELP: &str = "\
Exit codes: 0 success; 1 the input has errors, or the run has findings; 2 wrong usage, or a file could not be read
or written; 3 the input is correct, but uses something that envisa does not support.

To compile and run a kernel:
  envisa build vadd.cl --device dg2 -o vadd.zebin        compile with Intel's compiler (ocloc)
  envisa init vadd.zebin -o job.toml                     a job for the kernel, for you to fill in
  envisa run vadd.zebin --global 1024 --local 64 --arg a=iota:f32:1024 …
To work with vISA:
  envisa explain svm_gather        an instruction's meaning, bytes and text form
  envisa check kernel.visaasm --platform all
  envisa as kernel.visaasm -o kernel.isa && envisa dis kernel.isa";

/// A toolchain for vISA, and a virtual GPU: assemble, disassemble, verify, explain and run Intel GPU kernels
/// without the GPU.
#[derive(Parser)]
#[command(name = "envisa", version, after_help = AFTER_HELP, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    As(cmd::asm::Args),
    Dis(cmd::dis::Args),
    Extract(cmd::extract::Args),
    Fmt(cmd::fmt::Args),
    Check(cmd::check::Args),
    Info(cmd::info::Args),
    Explain(cmd::explain::Args),
    Build(cmd::build::Args),
    Init(cmd::init::Args),
    Run(Box<cmd::run::Args>),
    #[cfg(feature = "debug")]
    Debug(Box<cmd::debug::Args>),
    #[cfg(feature = "debug")]
    Diff(cmd::diff::Args),
    #[cfg(unix)]
    Bisect(Box<cmd::bisect::Args>),
    Smith(cmd::smith::Smith),
    Mutate(cmd::smith::Mutate),
    #[cfg(unix)]
    Campaign(cmd::campaign::Args),
    #[cfg(unix)]
    Exec(cmd::exec::Args),
    #[cfg(unix)]
    Reduce(cmd::reduce::Args),
    #[cfg(unix)]
    Levelzero(cmd::levelzero::Args),
    #[cfg(unix)]
    Opencl(cmd::opencl::Args),
    Completions(cmd::shell::Completions),
    Man(cmd::shell::Man),
}

/// The arguments of `envisa run`, by the words of a command line.
fn run_args(words: &[String]) -> Result<Box<cmd::run::Args>, String> {
    match Cli::try_parse_from(words).map_err(|e| e.to_string())?.command {
        Command::Run(args) => Ok(args),
        _ => Err("this list of commands can only hold `envisa run`".into()),
    }
}

/// Runs the command with the arguments of this process.
pub fn main() -> std::process::ExitCode {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        default(info);
        eprintln!(
            "This is a mistake in envisa, not in your input. Please report it with the input that shows it."
        );
    }));
    // How messages are printed is settled before the arguments are read: their own errors are messages too.
    let early = Settings::of_arguments(std::env::args_os().skip(1));
    early.apply_color_choice();
    let matches = match Cli::command().color(early.clap_color()).try_get_matches() {
        Ok(matches) => matches,
        Err(e) => return cmd::usage(&e).into(),
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(e) => return cmd::usage(&e).into(),
    };
    cli.settings.apply_color_choice();
    let done = match cli.command {
        Command::As(args) => cmd::asm::run(args),
        Command::Dis(args) => cmd::dis::run(args),
        Command::Extract(args) => cmd::extract::run(&args),
        Command::Fmt(args) => cmd::fmt::run(args),
        Command::Check(args) => cmd::check::run(args),
        Command::Info(args) => cmd::info::run(args),
        Command::Explain(args) => cmd::explain::run(args),
        Command::Build(args) => cmd::build::run(args),
        Command::Init(args) => cmd::init::run(&args),
        Command::Run(args) => cmd::run::run(&args),
        #[cfg(feature = "debug")]
        Command::Debug(args) => cmd::debug::run(&args),
        #[cfg(feature = "debug")]
        Command::Diff(args) => cmd::diff::run(&args),
        Command::Smith(args) => cmd::smith::run_smith(&args),
        Command::Mutate(args) => cmd::smith::run_mutate(&args),
        #[cfg(unix)]
        Command::Campaign(args) => cmd::campaign::run(&args),
        #[cfg(unix)]
        Command::Bisect(args) => cmd::bisect::run(&args),
        #[cfg(unix)]
        Command::Exec(args) => cmd::exec::run(&args),
        #[cfg(unix)]
        Command::Reduce(args) => cmd::reduce::run(&args),
        #[cfg(unix)]
        Command::Levelzero(args) => cmd::levelzero::run(&args),
        #[cfg(unix)]
        Command::Opencl(args) => cmd::opencl::run(&args),
        Command::Completions(args) => cmd::shell::run_completions(&args),
        Command::Man(args) => cmd::shell::run_man(&args),
    };
    match done {
        Ok(code) => code.into(),
        Err(Failure(message)) => {
            cmd::print_failure(&message);
            Exit::Usage.into()
        }
    }
}
