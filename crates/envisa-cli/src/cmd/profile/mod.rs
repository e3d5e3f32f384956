//! Profiles of a run: as a table, a page, JSON, and a trace.

pub(super) mod html;
mod text;
mod trace;

use crate::cmd::Failure;
use envisa::Profile;
use envisa_harness::files::{self, Staged};
use serde_json::Value as Json;
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

/// What the JSON of a profile is called: the number grows when a field changes its meaning or goes.
pub const FORMAT: &str = "envisa-profile/1";

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
    pub fn write(&self, profile: &Profile) -> Result<(), Failure> {
        let mut staged: Vec<Staged> = Vec::new();
        let mut stage = |path: &Path, text: String| -> Result<(), Failure> {
            staged.push(files::stage(path, |w| w.write_all(text.as_bytes()))?);
            Ok(())
        };
        if let Some(path) = &self.profile {
            let page = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("html"));
            stage(path, if page { html::page(profile) } else { text::table(profile) })?;
        }
        if let Some(path) = &self.profile_json {
            stage(path, json(profile))?;
        }
        if let (Some(path), Some(trace)) = (&self.trace, &profile.trace) {
            stage(path, trace::events(profile, trace))?;
        }
        for file in staged {
            file.publish()?;
        }
        Ok(())
    }
}

/// For programs; `docs/profile.schema.json` describes it.
fn json(profile: &Profile) -> String {
    let mut all = serde_json::to_value(profile).unwrap_or(Json::Null);
    all["format"] = FORMAT.into();
    format!("{all:#}\n")
}

/// `12.3`, of a hundred.
fn percent(part: u64, of: u64) -> String {
    if of == 0 { "-".to_owned() } else { format!("{:.1}", 100.0 * part as f64 / of as f64) }
}

/// `64 of 4`: what it took, and the least; `-` where there was nothing.
fn against(taken: u64, least: u64) -> String {
    if taken == 0 { "-".to_owned() } else { format!("{taken} / {least}") }
}

/// A number, `-` for none.
fn some(n: u64) -> String {
    if n == 0 { "-".to_owned() } else { n.to_string() }
}

/// The name of a column, and what it tells.
const COLUMNS: [(&str, &str); 8] = [
    ("executed", "times executed, by all threads"),
    ("%", "share of all executed instructions"),
    ("channels %", "channels that ran, of those that could"),
    ("divergent", "branches that split the active channels / all branches"),
    ("bytes", "bytes read and written"),
    ("lines / least", "cache lines touched / the fewest that the bytes fit in"),
    ("banks / least", "steps of the banks of shared local memory / the fewest for the bytes"),
    ("waited", "instructions that the last thread to come executed while others waited at this barrier"),
];

/// The columns of a line or an instruction.
fn columns(c: &envisa::Counts, all: u64) -> [String; 8] {
    [
        c.executed.to_string(),
        percent(c.executed, all),
        percent(c.channels, c.possible_channels),
        if c.branches == 0 { "-".to_owned() } else { format!("{} / {}", c.divergent_branches, c.branches) },
        some(c.bytes_read + c.bytes_written),
        against(c.cache_lines, c.least_cache_lines),
        against(c.bank_steps, c.least_bank_steps),
        if c.barrier_waits == 0 { "-".to_owned() } else { c.waited.to_string() },
    ]
}

/// What costs are counted by, in sentences.
fn model(profile: &Profile) -> String {
    let m = &profile.model;
    format!(
        "cache lines of {} bytes; {} banks of {} bytes in shared local memory; a thread executes one instruction a step, and waits at a barrier until the last one comes",
        m.cache_line, m.banks, m.bank_bytes
    )
}

/// What ran, in a line.
fn summary(p: &Profile) -> String {
    let many = |n: u64, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    format!(
        "kernel {} on {}: {} in {}, {} executed, channel use {} %",
        p.kernel,
        p.platform,
        many(p.threads, "thread"),
        many(p.groups, "group"),
        many(p.total.executed, "instruction"),
        percent(p.total.channels, p.total.possible_channels)
    )
}
