//! The `envisa` command.

fn main() -> std::process::ExitCode {
    envisa_cli::main()
}
