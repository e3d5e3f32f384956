//! The options of profiles: where to write the table, the page, the JSON and the trace.

use crate::cmd::Failure;
use envisa::Profile;
use envisa_harness::files::{self, Staged};
use envisa_harness::profile;
use std::path::{Path, PathBuf};

/// Options of profiles.
#[derive(clap::Args)]
pub struct ProfileArgs {
    /// Print how often each line and each instruction was executed, with channel use, divergence, cache lines, bank
    /// conflicts and waits at barriers. With a file name, write it to that file: as a page if the name ends in `.html`,
    /// as a table otherwise.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    profile: Option<PathBuf>,
    /// Write the profile as JSON; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    profile_json: Option<PathBuf>,
    /// Write a timeline of the threads of the first groups, for Perfetto and Chrome. Its unit is executed instructions.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

impl ProfileArgs {
    /// Is a profile wanted at all?
    pub fn profile(&self) -> bool {
        self.profile.is_some() || self.profile_json.is_some()
    }

    /// Is a trace wanted?
    pub fn trace(&self) -> bool {
        self.trace.is_some()
    }

    /// How many of the outputs go to standard output.
    pub fn to_standard_output(&self) -> usize {
        let all = [&self.profile, &self.profile_json, &self.trace];
        all.into_iter().flatten().filter(|f| files::is_standard(f)).count()
    }

    /// Writes what was asked for: all of it, or nothing.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn write(&self, counted: &Profile) -> Result<(), Failure> {
        let mut staged: Vec<Staged> = Vec::new();
        let mut stage = |path: &Path, text: String| -> Result<(), Failure> {
            staged.push(files::stage(path, |w| w.write_all(text.as_bytes()))?);
            Ok(())
        };
        if let Some(path) = &self.profile {
            let page = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("html"));
            stage(
                path,
                if page {
                    profile::page(counted)
                } else {
                    super::escape_for_terminal(&profile::hot_lines_table(counted))
                },
            )?;
        }
        if let Some(path) = &self.profile_json {
            stage(path, profile::json(counted))?;
        }
        if let (Some(path), Some(trace)) = (&self.trace, &counted.trace) {
            stage(path, profile::trace_events(counted, trace))?;
        }
        for file in staged {
            file.publish()?;
        }
        Ok(())
    }
}
