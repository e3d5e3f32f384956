//! One file a subcommand.

pub mod asm;
pub mod build;
pub mod check;
pub mod dis;
pub mod explain;
pub mod fmt;
pub mod info;
pub mod load;
pub mod progress;
pub mod results;
pub mod run;

use envisa::diag::{Diagnostic, Files, TextOptions, render_json, render_text};
use envisa::isa::Platform;
use std::io::IsTerminal;
use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Nothing to complain about.
    Fine,
    /// The input has errors, or the run has findings.
    Findings,
    /// Wrong usage, or a file could not be read or written.
    Usage,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Fine => 0,
            Exit::Findings => 1,
            Exit::Usage => 2,
        })
    }
}

/// Why a command could not do its work at all: usage, or input and output. Ends in exit code 2.
#[derive(Debug)]
pub struct Failure(pub String);

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for Failure {
    fn from(s: String) -> Failure {
        Failure(s)
    }
}

impl From<&str> for Failure {
    fn from(s: &str) -> Failure {
        Failure(s.to_owned())
    }
}

/// A message for the terminal: names of the input are part of it, and must not steer the terminal.
pub fn shown(message: &str) -> String {
    let harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    message
        .chars()
        .map(|c| if harmless(c) { c.to_string() } else { c.escape_default().to_string() })
        .collect()
}

/// What a command gives.
pub type Done = Result<Exit, Failure>;

/// How diagnostics are printed.
#[derive(clap::Args)]
pub struct Message {
    /// How to print diagnostics, on standard error: for people, or one JSON object a line.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = MessageFormat::Human)]
    message_format: MessageFormat,
    #[command(flatten)]
    color: Colors,
}

/// When to use colours.
#[derive(clap::Args)]
pub struct Colors {
    /// When to use colours; without it on terminals, unless NO_COLOR is set.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    color: Color,
}

impl Colors {
    /// Whether a stream is coloured; `terminal`: it is one. Settles it for everything else that is printed.
    pub fn settle(&self, terminal: bool) -> bool {
        let (choice, color) = match self.color {
            Color::Always => (anstream::ColorChoice::Always, true),
            Color::Never => (anstream::ColorChoice::Never, false),
            Color::Auto => {
                let unset = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
                (anstream::ColorChoice::Auto, terminal && unset)
            }
        };
        choice.write_global();
        color
    }
}

/// See [`Message`].
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum MessageFormat {
    Human,
    Json,
}

/// See [`Message`].
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl Message {
    /// An empty report in this format.
    pub fn report(&self) -> Report {
        let color = self.color.settle(std::io::stderr().is_terminal());
        Report {
            files: Files::new(),
            diagnostics: Vec::new(),
            json: self.message_format == MessageFormat::Json,
            color,
        }
    }
}

/// Diagnostics of a command, and the files they are about.
pub struct Report {
    /// The files.
    pub files: Files,
    /// The diagnostics.
    pub diagnostics: Vec<Diagnostic>,
    json: bool,
    color: bool,
}

impl Report {
    /// A report for a command that prints for itself: it continues a list of files.
    pub fn continuing(files: Files) -> Report {
        Report { files, diagnostics: Vec::new(), json: false, color: false }
    }

    /// Is one of the diagnostics an error?
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Prints the diagnostics on standard error; gives how the command ends on their account.
    pub fn finish(self) -> Done {
        let text = if self.json {
            render_json(&self.files, &self.diagnostics)
        } else {
            let options = TextOptions { color: self.color, ..TextOptions::default() };
            let mut text = render_text(&self.files, &self.diagnostics, &options);
            let errors = self.diagnostics.iter().filter(|d| d.is_error()).count();
            if errors > 1 {
                text.push_str(&format!("{errors} errors\n"));
            }
            text
        };
        // Nobody to tell: nothing to do about it.
        let _ = std::io::Write::write_all(&mut std::io::stderr().lock(), text.as_bytes());
        Ok(if self.has_errors() { Exit::Findings } else { Exit::Fine })
    }
}

/// A platform on the command line.
pub fn platform(name: &str) -> Result<Platform, String> {
    Platform::from_name(name).ok_or_else(|| {
        let all: Vec<&str> = Platform::ALL.iter().map(|p| p.name()).collect();
        format!("no platform is called so; there are {}", all.join(", "))
    })
}
