//! The `envisa` command.
fn main() {
    eprintln!("envisa: no subcommand yet");
    std::process::exit(2);
}
