//! One file a subcommand.

pub mod asm;
#[cfg(unix)]
pub mod bisect;
pub mod build;
#[cfg(unix)]
pub mod campaign;
pub mod check;
#[cfg(feature = "debug")]
pub mod debug;
#[cfg(feature = "debug")]
pub mod diff;
pub mod dis;
#[cfg(unix)]
pub mod exec;
#[cfg(all(feature = "debug", unix))]
mod exec_debug;
pub mod explain;
pub mod extract;
pub mod findings;
mod findings_page;
pub mod fmt;
pub mod info;
pub mod init;
pub mod interrupt;
#[cfg(unix)]
pub mod levelzero;
#[cfg(unix)]
pub mod limited_process;
pub mod load;
#[cfg(unix)]
pub mod opencl;
mod other_driver;
mod profile;
mod progress;
#[cfg(unix)]
pub mod reduce;
pub mod results;
pub mod run;
pub mod shell;
pub mod smith;

pub use crate::exit::{Exit, Failure};

use clap::ValueEnum;
use envisa::diag::{Diagnostic, Files, TextOptions, render_json, render_text};
use std::ffi::OsString;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// A message for the terminal: names of the input are part of it, and must not steer the terminal.
pub fn escape_for_terminal(message: &str) -> String {
    let harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    message
        .chars()
        .map(|c| if harmless(c) { c.to_string() } else { c.escape_default().to_string() })
        .collect()
}

/// What a command gives.
pub type Done = Result<Exit, Failure>;

/// How the command talks: the same for every subcommand.
#[derive(Clone, Copy, clap::Args)]
pub struct Settings {
    /// How to print diagnostics on standard error: as text, or as one JSON object per line.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = MessageFormat::Human, global = true)]
    message_format: MessageFormat,
    /// When to use colours. By default, output on a terminal is coloured unless NO_COLOR is set.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, global = true)]
    color: Color,
}

/// See [`Settings`].
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum MessageFormat {
    Human,
    Json,
}

/// See [`Settings`].
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

/// Diagnostics are JSON. Settled once, at the start.
static JSON: AtomicBool = AtomicBool::new(false);

/// Diagnostics are one JSON object a line.
pub fn json() -> bool {
    JSON.load(Ordering::Relaxed)
}

impl Settings {
    /// Those among raw arguments, as far as they can be told before the arguments are read.
    pub fn of_arguments(args: impl Iterator<Item = OsString>) -> Settings {
        let mut found = Settings { message_format: MessageFormat::Human, color: Color::Auto };
        let mut option = String::new();
        for arg in args {
            let Some(arg) = arg.to_str() else { continue };
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) => (name.to_owned(), value),
                None => (std::mem::take(&mut option), arg),
            };
            if name == "--" || arg == "--" {
                break;
            }
            match name.as_str() {
                "--message-format" => {
                    found.message_format = ValueEnum::from_str(value, false).unwrap_or(found.message_format);
                }
                "--color" => found.color = ValueEnum::from_str(value, false).unwrap_or(found.color),
                _ => {}
            }
            option = arg.to_owned();
        }
        found
    }

    /// Settles them for everything that is printed.
    pub fn apply_color_choice(&self) {
        match self.color {
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
            Color::Auto => anstream::ColorChoice::Auto,
        }
        .write_global();
        JSON.store(self.message_format == MessageFormat::Json, Ordering::Relaxed);
    }

    /// For the argument parser's own messages.
    pub fn clap_color(&self) -> clap::ColorChoice {
        match self.color {
            Color::Always => clap::ColorChoice::Always,
            Color::Never => clap::ColorChoice::Never,
            Color::Auto => clap::ColorChoice::Auto,
        }
    }
}

/// Options of text for a stream: colours where it takes them, lines as wide as the terminal.
pub fn text_options(stream: &impl anstream::stream::RawStream) -> TextOptions {
    let color = anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never;
    let widest = TextOptions::default().width;
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(w, _)| usize::from(w.0));
    let width = columns.filter(|n| *n > 0).or_else(terminal).unwrap_or(widest).min(widest);
    TextOptions { color, width, alike: 3, ..TextOptions::default() }
}

/// Code of wrong usage, and of files that cannot be read or written.
pub const USAGE: &str = "E0800";

/// Says why a command could not do its work at all.
pub fn print_failure(message: &str) {
    if json() {
        let d = Diagnostic::error(USAGE, message.to_owned());
        let _ = std::io::stderr().lock().write_all(render_json(&Files::new(), &[d]).as_bytes());
    } else {
        anstream::eprintln!("\x1b[1;31merror\x1b[0m: {}", escape_for_terminal(message));
    }
}

/// Prints what the argument parser says: help and the version, or what is wrong with the arguments.
pub fn usage(e: &clap::Error) -> Exit {
    if !e.use_stderr() {
        // A reader that has gone away is not a failure.
        let _ = e.print();
        return Exit::Fine;
    }
    if json() {
        let text = e.render().to_string();
        print_failure(text.trim_start_matches("error: ").trim_end());
    } else {
        let _ = e.print();
    }
    Exit::Usage
}

/// Diagnostics of a command, and the files they are about.
#[derive(Default)]
pub struct Report {
    /// The files.
    pub files: Files,
    /// The diagnostics.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// Is one of the diagnostics an error?
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Prints the diagnostics on standard error; gives how the command ends on their account.
    pub fn finish(self) -> Done {
        let text = if json() {
            render_json(&self.files, &self.diagnostics)
        } else {
            let options = text_options(&std::io::stderr());
            let mut text = render_text(&self.files, &self.diagnostics, &options);
            let errors = self.diagnostics.iter().filter(|d| d.is_error()).count();
            if errors > 1 {
                text.push_str(&format!("{errors} errors\n"));
            }
            text
        };
        // Nobody to tell: nothing to do about it.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
        Ok(if self.has_errors() { Exit::Findings } else { Exit::Fine })
    }
}
