//! `docs/PERFORMANCE.md`: its parts, each with a block, a record and a command, and the summary made from the records.

use std::fmt::Write as _;
use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use crate::bench::{Bench, KernelTimes, Spread, ratio, time};
use crate::check_cost::Checking;
use crate::command_cost::{Runs, mib};
use crate::compiling::Compiling;
use crate::driver_speed;
use crate::foreign;
use crate::machine::Machine;
use crate::native_coverage::{GOAL, Native};
use crate::peer::Peer;
use crate::report::{Table, may_publish, put_first, replace_block};
pub use crate::report::{docs_folder, json_of, publish, write_text};
use crate::toolchain::{Assembler, Verifier, read_record};
use crate::translate::Translations;

/// A part of the report, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Part {
    /// Kernels beside PoCL and Intel's CPU runtime.
    Kernels,
    /// Kernels beside Intel's CPU runtime, both held to AVX2.
    Avx2,
    /// Kernels beside Oclgrind.
    Oclgrind,
    /// Kernels through the OpenCL driver, and small launches, beside PoCL and Intel's CPU runtime.
    Driver,
    /// What native code leaves to the interpreter, over the corpus.
    Native,
    /// Start-up and memory of the command.
    Runs,
    /// What checking costs, beside no checks and Oclgrind's.
    Checks,
    /// vISA text to a program that can run, beside GenX_IR.
    Translation,
    /// Assembler and disassembler, beside GenX_IR.
    Assembler,
    /// The verifier.
    Verifier,
    /// Kernels of foreign suites through the OpenCL drivers, on a page of their own.
    Foreign,
}

impl Part {
    /// All parts.
    pub const ALL: [Part; 11] = [
        Part::Kernels,
        Part::Avx2,
        Part::Oclgrind,
        Part::Driver,
        Part::Native,
        Part::Runs,
        Part::Checks,
        Part::Translation,
        Part::Assembler,
        Part::Verifier,
        Part::Foreign,
    ];

    /// Its name on the command line, which is that of its block too.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned())
    }

    /// Its record, as seen from `docs`.
    pub fn record(self) -> String {
        format!("performance/{}.json", self.name())
    }

    /// Its plot, as seen from `docs`, if it is one of those that have one.
    pub fn plot(self) -> String {
        format!("performance/{}.svg", self.name())
    }

    /// The command that writes it.
    pub fn command(self) -> String {
        format!("{COMMAND} --part {}", self.name())
    }
}

/// The command that writes the whole report.
pub const COMMAND: &str = "cargo run --release -p envisa-suite -- performance --write";

/// Writes a part's record and block below `docs`, and the summary anew, as [`publish`] does.
///
/// # Errors
/// Where something is wrong, or a file cannot be written.
pub fn write(
    docs: &Path,
    part: Part,
    record: &impl Serialize,
    section: &str,
    wrong: &[String],
) -> Result<(), String> {
    may_publish(&docs.join(part.record()), wrong)?;
    write_text(&docs.join(part.record()), &json_of(record)?)?;
    let path = docs.join("PERFORMANCE.md");
    write_text(&path, &replace_block(&with_summary(docs, &path), &part.name(), section))
}

/// Writes the page's summary anew, from the records that are there.
///
/// # Errors
/// If the page cannot be written.
pub fn write_summary(docs: &Path) -> Result<(), String> {
    let path = docs.join("PERFORMANCE.md");
    write_text(&path, &with_summary(docs, &path))
}

fn with_summary(docs: &Path, path: &Path) -> String {
    let old = std::fs::read_to_string(path).unwrap_or_else(|_| "# Performance\n".to_owned());
    replace_block(&put_first(&old, "summary"), "summary", &summary(docs))
}

/// A line of the summary: what, its goal, what was measured, and whether that holds.
struct Line {
    what: String,
    goal: &'static str,
    measured: String,
    holds: Option<bool>,
}

fn line(what: impl Into<String>, goal: &'static str, measured: String, holds: Option<bool>) -> Line {
    Line { what: what.into(), goal, measured, holds }
}

/// Kernels of foreign suites beside the better of the peers.
fn foreign_line(run: &foreign::timing::Run) -> Option<Line> {
    let (mean, kernels, below) = run.of_the_better()?;
    let what =
        format!("{kernels} kernels of foreign suites, beside the better of PoCL and Intel's CPU runtime");
    let measured = format!("{} times as fast; {below} below {}", ratio(mean), foreign::timing::NO_WORSE);
    Some(line(what, "at least 1.3, none below 0.9", measured, Some(mean >= 1.3 && below == 0)))
}

/// The summary, from the records below `docs`; what has no record is named.
pub fn summary(docs: &Path) -> String {
    let mut lines = Vec::new();
    let mut missing = Vec::new();
    let mut machines: Vec<(Part, Machine)> = Vec::new();
    for part in Part::ALL {
        let path = docs.join(part.record());
        let read = match part {
            Part::Kernels => read_record(&path).map(|b: Bench| {
                kernel_lines(&b, &mut lines);
                lines.extend(compiling_line("compiling native code, time an instruction", &b));
                b.machine
            }),
            Part::Avx2 => read_record(&path).map(|b: Bench| {
                avx2_line(&b, &mut lines);
                lines.extend(compiling_line("the same of code for AVX2", &b));
                b.machine
            }),
            Part::Oclgrind => read_record(&path).map(|b: Bench| {
                oclgrind_line(&b, &mut lines);
                b.machine
            }),
            Part::Driver => read_record(&path).map(|b: Bench| {
                driver_lines(&b, &mut lines);
                b.machine
            }),
            Part::Native => read_record(&path).map(|n: Native| {
                lines.extend(native_line(&n));
                n.machine
            }),
            Part::Runs => read_record(&path).map(|r: Runs| {
                run_lines(&r, &mut lines);
                r.machine
            }),
            Part::Checks => read_record(&path).map(|c: Checking| {
                check_lines(&c, &mut lines);
                c.machine
            }),
            Part::Translation => read_record(&path).map(|t: Translations| {
                translation_line(&t, &mut lines);
                t.machine
            }),
            Part::Assembler => read_record(&path).map(|a: Assembler| {
                assembler_lines(&a, &mut lines);
                a.machine
            }),
            Part::Verifier => read_record(&path).map(|v: Verifier| {
                if let Some(s) = v.worst() {
                    lines.push(line(
                        "100,000 instructions verified, rules and lints, one core",
                        "under 0.1 s",
                        time(s),
                        Some(s < 0.1),
                    ));
                }
                v.machine
            }),
            Part::Foreign => read_record(&path).map(|r: foreign::timing::Run| {
                lines.extend(foreign_line(&r));
                r.machine
            }),
        };
        match read {
            Ok(machine) => machines.push((part, machine)),
            Err(_) => missing.push(part.name()),
        }
    }
    let mut table = Table::new(["", "goal", "measured", "holds"]);
    for l in lines {
        let holds = match l.holds {
            Some(true) => "yes",
            Some(false) => "**no**",
            None => "",
        };
        table.row([l.what, l.goal.to_owned(), l.measured, holds.to_owned()]);
    }
    let mut t = format!("All of this page by one command: `{COMMAND}`\n\n");
    // One line for all parts that were measured together, so that parts measured apart are seen to be.
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (part, machine) in machines {
        let text = format!("{}, on {}", machine.date, machine.describe());
        match groups.iter_mut().find(|g| g.0 == text) {
            Some(g) => g.1.push(part.name()),
            None => groups.push((text, vec![part.name()])),
        }
    }
    for (text, parts) in groups {
        let _ = writeln!(t, "- {}: {text}", parts.join(", "));
    }
    if !missing.is_empty() {
        let _ = writeln!(t, "- not measured yet: {}", missing.join(", "));
    }
    t.push('\n');
    t.push_str(&table.to_markdown());
    t
}

fn kernel_lines(b: &Bench, lines: &mut Vec<Line>) {
    for peer in [Peer::Pocl, Peer::Intel] {
        if let Some(mean) = b.mean(peer.name()) {
            lines.push(line(
                format!(
                    "kernels, work-items a second over those of {}, which compiles: geometric mean of {}",
                    peer.name(),
                    mean.kernels
                ),
                "–",
                ratio(mean.ratio),
                None,
            ));
        }
    }
}

fn compiling_line(what: &str, b: &Bench) -> Option<Line> {
    let c = Compiling::of(&b.kernels)?;
    let what = format!("{what}: the median of {} kernels", c.kernels);
    Some(line(what, "at most 5 µs", c.measured(), Some(c.holds())))
}

fn avx2_line(b: &Bench, lines: &mut Vec<Line>) {
    if let Some(mean) = b.mean(Peer::Intel.name()) {
        lines.push(line(
            format!(
                "the same with both held to AVX2, over {}: geometric mean of {}",
                Peer::Intel.name(),
                mean.kernels
            ),
            "at least 1.2",
            ratio(mean.ratio),
            Some(mean.ratio >= 1.2),
        ));
    }
}

fn oclgrind_line(b: &Bench, lines: &mut Vec<Line>) {
    if let Some(mean) = b.mean(Peer::Oclgrind.name()) {
        lines.push(line(
            format!(
                "kernels, work-items a second over those of Oclgrind: geometric mean of {}",
                mean.kernels
            ),
            "at least 300",
            ratio(mean.ratio),
            Some(mean.ratio >= 300.0),
        ));
    }
}

fn driver_lines(b: &Bench, lines: &mut Vec<Line>) {
    let (small, large): (Vec<KernelTimes>, Vec<KernelTimes>) =
        b.kernels.iter().cloned().partition(driver_speed::is_small);
    for (what, kernels, goal) in [
        ("kernels through the OpenCL driver", large, None),
        ("a small launch through the OpenCL driver", small, Some(1.0)),
    ] {
        let b = Bench { kernels, ..b.clone() };
        for peer in [Peer::Pocl, Peer::Intel] {
            let Some((mean, n)) = driver_speed::mean(&b, peer.name()) else { continue };
            lines.push(line(
                format!("{what}, time of {} over it: geometric mean of {n}", peer.name()),
                if goal.is_some() { "above 1" } else { "–" },
                ratio(mean),
                goal.map(|least| mean > least),
            ));
        }
    }
}

fn native_line(n: &Native) -> Option<Line> {
    let share = n.share()?;
    let worst: Vec<String> =
        n.worst().iter().take(3).map(|w| format!("{} on {}", w.0.kernel, w.0.device)).collect();
    let worst = if worst.is_empty() { String::new() } else { format!(" (least: {})", worst.join(", ")) };
    Some(line(
        format!(
            "share of executed instructions that were native over the corpus: {} launches",
            n.launches.len()
        ),
        "at least 99.9 %",
        format!("{:.3} %{worst}", 100.0 * share),
        Some(share >= GOAL && n.complaints().is_empty()),
    ))
}

fn run_lines(r: &Runs, lines: &mut Vec<Line>) {
    if let Some(worst) = r.worst() {
        lines.push(line(
            format!("memory beyond the buffers: the most of {} runs of `envisa run`", r.runs.len()),
            "at most 64 MiB",
            format!("{:.1} MiB ({})", mib(worst.beyond()), worst.kernel.trim_start_matches("bench/")),
            Some(worst.beyond() <= 64 << 20 && r.complaints().is_empty()),
        ));
    }
    if let Some(s) = Spread::of(&r.start_up.1) {
        lines.push(line(
            "start to end of a small `envisa run`, the median",
            "under 20 ms",
            time(s.median),
            Some(s.median < 0.02),
        ));
    }
}

fn check_lines(c: &Checking, lines: &mut Vec<Line>) {
    let over = [
        ("the interpreter without checks", c.over_interpreter(), (8.0, "at most 8")),
        ("native code", c.over_native(), (4.0, "at most 4")),
    ];
    for (what, means, (most, goal)) in over {
        let Some(m) = means else { continue };
        let worst = m.worst_kernel.trim_start_matches("bench/");
        lines.push(line(
            format!(
                "time under `--check` over that of {what}: geometric mean of {} kernels, worst",
                m.kernels
            ),
            goal,
            format!("{}, {} ({worst})", ratio(m.mean), ratio(m.worst)),
            Some(m.mean <= most),
        ));
    }
    if let Some(m) = c.oclgrind() {
        lines.push(line(
            format!(
                "time under Oclgrind's checks over that under `--check`: geometric mean of {}",
                m.kernels
            ),
            "at least 300",
            ratio(m.ratio),
            Some(m.ratio >= 300.0),
        ));
    }
    if let Some(worst) = c.worst_run() {
        lines.push(line(
            format!("memory beyond the buffers of {} runs of `envisa run --check`", c.runs.len()),
            "at most 3 times the buffers and 256 MiB",
            format!(
                "{:.1} MiB with {:.1} MiB of buffers ({})",
                mib(worst.beyond()),
                mib(worst.buffers),
                worst.kernel.trim_start_matches("bench/")
            ),
            Some(c.memory_holds()),
        ));
    }
}

fn translation_line(t: &Translations, lines: &mut Vec<Line>) {
    if let Some(mean) = t.mean() {
        lines.push(line(
            format!(
                "text to a program that can run, GenX_IR's time over envisa's: geometric mean of {} texts",
                t.ratios().len()
            ),
            "over 1",
            ratio(mean),
            Some(mean > 1.0),
        ));
    }
}

fn assembler_lines(a: &Assembler, lines: &mut Vec<Line>) {
    lines.push(line(
        "text to bytes, one core",
        "at least 100 MB/s",
        format!("{:.0} MB/s", a.text_rate() / 1e6),
        Some(a.text_rate() >= 1e8),
    ));
    if let Some(g) = &a.genx_ir {
        let times = g.parse / a.assemble;
        lines.push(line(
            "text to bytes over GenX_IR's parsing and building",
            "at least 15",
            ratio(times),
            Some(times >= 15.0),
        ));
    }
    lines.push(line(
        format!("{} instructions assembled by `envisa as`; memory of text to bytes", a.instructions),
        "under 0.1 s and 64 MB",
        format!("{}, {:.0} MiB", time(a.command_as), a.assemble_mib),
        Some(a.command_as < 0.1 && a.assemble_mib * 1.048_576 < 64.0),
    ));
    lines.push(line(
        format!("{} instructions disassembled by `envisa dis`", a.instructions),
        "under 0.1 s",
        time(a.command_dis),
        Some(a.command_dis < 0.1),
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_comes_from_the_records() {
        let docs = tempfile::tempdir().unwrap();
        let text = summary(docs.path());
        assert!(
            text.contains(
                "not measured yet: kernels, avx2, oclgrind, driver, native, runs, checks, translation, assembler, verifier"
            ),
            "{text}"
        );
        let row = |what: &str, platforms, seconds| crate::toolchain::Verifying {
            platform: "DG2".to_owned(),
            kernels: 1,
            instructions: 50_000,
            what: what.to_owned(),
            platforms,
            seconds,
            findings: 0,
        };
        let rows =
            vec![row("rules", 1, 0.001), row("rules and lints", 1, 0.06), row("rules and lints", 15, 9.0)];
        let record = Verifier { machine: Machine::here(), rounds: 1, rows };
        let wrong = ["one differs".to_owned()];
        assert!(write(docs.path(), Part::Verifier, &record, "## Verifying\n", &wrong).is_err());
        assert!(!docs.path().join(Part::Verifier.record()).exists());
        write(docs.path(), Part::Verifier, &record, "## Verifying\n", &[]).unwrap();
        let page = std::fs::read_to_string(docs.path().join("PERFORMANCE.md")).unwrap();
        assert!(page.starts_with("# Performance\n\n<!-- begin summary -->"), "{page}");
        assert!(page.contains("| 120.00 ms | **no** |"), "{page}");
        assert!(page.contains("<!-- begin verifier -->\n## Verifying\n<!-- end verifier -->"), "{page}");
        assert!(
            !page.contains("yet: verifier") && page.contains("not measured yet: kernels, avx2, oclgrind"),
            "{page}"
        );
    }
}
