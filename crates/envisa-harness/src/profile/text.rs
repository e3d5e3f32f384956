//! The profile as a table.

use super::{COLUMNS, describe_cost_model, format_columns, summary_line};
use envisa::Profile;
use std::fmt::Write as _;

/// Rows of each table.
const ROWS: usize = 20;
/// Characters of a line that is quoted.
const QUOTED: usize = 80;

/// The lines and the instructions that were executed most.
pub fn hot_lines_table(p: &Profile) -> String {
    let mut out = format!("profile: {}\nmodel: {}\n", summary_line(p), describe_cost_model(p));
    if p.lines.is_empty() {
        out.push_str("(no lines: the module does not record its source lines; compile it with -g)\n");
    } else {
        let rows = p.lines.iter().map(|l| {
            let text = l.text.as_deref().unwrap_or_default();
            (format_columns(&l.counts, p.total.executed), format!("{}:{}  {text}", l.file, l.line))
        });
        rows_of("source", rows.collect(), &mut out);
    }
    let rows = p.instructions.iter().map(|i| {
        (
            format_columns(&i.counts, p.total.executed),
            format!("{}:${}  {}", i.place.function, i.place.instruction, i.text),
        )
    });
    rows_of("instruction", rows.collect(), &mut out);
    out
}

fn rows_of(what: &str, rows: Vec<([String; 8], String)>, out: &mut String) {
    let shown = &rows[..rows.len().min(ROWS)];
    let width = |i: usize| shown.iter().map(|r| r.0[i].len()).max().unwrap_or(0).max(COLUMNS[i].0.len());
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    for ((name, _), width) in COLUMNS.iter().zip(&widths) {
        let _ = write!(out, "{name:>width$}  ");
    }
    let _ = writeln!(out, "{what}");
    for (cells, place) in shown {
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(out, "{cell:>width$}  ");
        }
        let place: String = place.trim_end().chars().take(QUOTED).collect();
        let _ = writeln!(out, "{place}");
    }
    if rows.len() > ROWS {
        let _ = writeln!(out, "({} more; --profile-json has all)", rows.len() - ROWS);
    }
}
