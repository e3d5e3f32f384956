//! `envisa completions` and `envisa man`: what shells and manuals need, from the argument parser.

use crate::Cli;
use crate::cmd::{Done, Exit, Failure};
use crate::io;
use clap::CommandFactory;
use clap::builder::PossibleValuesParser;
use envisa::isa::{Op, Platform};
use envisa::zebin::DeviceFamily;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Print completions for a shell.
///
/// For bash: `envisa completions bash > ~/.local/share/bash-completion/completions/envisa`.
#[derive(clap::Args)]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Print the manual page, or write one for every subcommand.
#[derive(clap::Args)]
pub struct Man {
    /// The subcommand whose page to print. By default, the page of `envisa` itself.
    command: Option<String>,
    /// Write all pages into this folder: envisa.1, envisa-run.1, and so on.
    #[arg(short, long, value_name = "FOLDER", conflicts_with = "command")]
    output: Option<PathBuf>,
}

/// Runs `completions`.
pub fn run_completions(args: &Completions) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut with_names(Cli::command()), "envisa", &mut script);
    io::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Fine)
}

/// The commands with the names of devices, platforms and instructions, which shells then complete.
fn with_names(command: clap::Command) -> clap::Command {
    let names = |id: &str| -> Vec<&'static str> {
        match id {
            "device" | "devices" => DeviceFamily::ALL.map(DeviceFamily::name).to_vec(),
            "platform" => Platform::ALL.map(Platform::name).to_vec(),
            "instruction" => {
                let all: BTreeSet<&str> =
                    Op::ALL.iter().flat_map(|op| op.desc().forms.iter().map(|f| f.head)).collect();
                all.into_iter().collect()
            }
            _ => Vec::new(),
        }
    };
    command.mut_subcommands(|c| {
        c.mut_args(|arg| match names(arg.get_id().as_str()) {
            names if names.is_empty() => arg,
            names => arg.value_parser(PossibleValuesParser::new(names)),
        })
    })
}

fn page(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut out)
        .map_err(|e| Failure(format!("the manual page cannot be rendered: {e}")))?;
    Ok(out)
}

/// Every subcommand, with the name that its page has.
fn subcommands() -> Vec<(String, clap::Command)> {
    let mut all = Cli::command();
    // Options that hold for all commands stand on every page.
    all.build();
    let with_name = |c: &clap::Command| {
        let name = format!("envisa-{}", c.get_name());
        (c.get_name().to_owned(), c.clone().display_name(name))
    };
    all.get_subcommands().filter(|c| c.get_name() != "help").map(with_name).collect()
}

/// Runs `man`.
///
/// # Errors
/// Where there is no such subcommand, or a page cannot be written.
pub fn run_man(args: &Man) -> Done {
    if let Some(folder) = &args.output {
        std::fs::create_dir_all(folder).map_err(|e| Failure(format!("{}: {e}", folder.display())))?;
        io::write(&folder.join("envisa.1"), &page(Cli::command())?)?;
        for (name, command) in subcommands() {
            io::write(&folder.join(format!("envisa-{name}.1")), &page(command)?)?;
        }
        return Ok(Exit::Fine);
    }
    let command = match &args.command {
        None => Cli::command(),
        Some(name) => match subcommands().into_iter().find(|(n, _)| n == name) {
            Some((_, command)) => command,
            None => {
                return Err(Failure(format!("there is no subcommand `{name}`: `envisa --help` lists them")));
            }
        },
    };
    io::print(&String::from_utf8_lossy(&page(command)?))?;
    Ok(Exit::Fine)
}
