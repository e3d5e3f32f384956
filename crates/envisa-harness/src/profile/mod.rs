//! Profiles of a launch: as a table, a page, JSON, and a trace.

mod html;
mod text;
mod trace;

pub use html::{STYLE, escape_html, page};
pub use text::hot_lines_table;
pub use trace::trace_events;

use envisa::Profile;
use serde_json::Value as Json;

/// What the JSON of a profile is called: the number grows when a field changes its meaning or goes.
pub const FORMAT: &str = "envisa-profile/1";

/// For programs; `docs/profile.schema.json` describes it.
pub fn json(profile: &Profile) -> String {
    let mut all = serde_json::to_value(profile).unwrap_or(Json::Null);
    all["format"] = FORMAT.into();
    format!("{all:#}\n")
}

/// `12.3`, of a hundred.
fn format_percent(part: u64, of: u64) -> String {
    if of == 0 { "-".to_owned() } else { format!("{:.1}", 100.0 * part as f64 / of as f64) }
}

/// `64 of 4`: what it took, and the least; `-` where there was nothing.
fn format_used_of_least(taken: u64, least: u64) -> String {
    if taken == 0 { "-".to_owned() } else { format!("{taken} / {least}") }
}

/// A number, `-` for none.
fn format_count(n: u64) -> String {
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
fn format_columns(c: &envisa::Counts, all: u64) -> [String; 8] {
    [
        c.executed.to_string(),
        format_percent(c.executed, all),
        format_percent(c.channels, c.possible_channels),
        if c.branches == 0 { "-".to_owned() } else { format!("{} / {}", c.divergent_branches, c.branches) },
        format_count(c.bytes_read + c.bytes_written),
        format_used_of_least(c.cache_lines, c.least_cache_lines),
        format_used_of_least(c.bank_steps, c.least_bank_steps),
        if c.barrier_waits == 0 { "-".to_owned() } else { c.waited.to_string() },
    ]
}

/// What costs are counted by, in sentences.
fn describe_cost_model(profile: &Profile) -> String {
    let m = &profile.model;
    format!(
        "cache lines of {} bytes; {} banks of {} bytes in shared local memory; a thread executes one instruction a step, and waits at a barrier until the last one comes",
        m.cache_line, m.banks, m.bank_bytes
    )
}

/// What ran, in a line.
fn summary_line(p: &Profile) -> String {
    let many = |n: u64, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    format!(
        "kernel {} on {}: {} in {}, {} executed, channel use {} %",
        p.kernel,
        p.platform,
        many(p.threads, "thread"),
        many(p.groups, "group"),
        many(p.total.executed, "instruction"),
        format_percent(p.total.channels, p.total.possible_channels)
    )
}
