//! Drawings of a page of findings: both sides of a race on a time line, buffers as maps of their bytes.

use super::{Buffer, list, text};
use envisa_harness::profile::escape_html;
use serde_json::Value;
use std::fmt::Write as _;
use std::ops::Range;

/// Cells of a map at most, of a row, and their width.
const CELLS: u64 = 2048;
const ROW: u64 = 64;
const CELL: u64 = 10;
/// Marks of a time line at most, how far they are from each other, and where its axes begin.
const MARKS: u32 = 12;
const APART: u64 = 36;
const MARGIN: u64 = 30;
/// Where the axes of both sides are.
const AXES: [u64; 2] = [52, 116];
/// Pixels of a letter, roughly.
const LETTER: u64 = 8;

/// A side of a race: who, where, what it does, and how many fences and barriers it came by before.
struct Side {
    who: String,
    line: Option<u64>,
    does: String,
    orderings: Option<u32>,
}

impl Side {
    fn of(d: &Value, race: &Value, primary: bool) -> Side {
        let key = |name: &str| if primary { name.to_owned() } else { format!("other_{name}") };
        let does = text(race, &key("access")).to_owned();
        let said = format!(" {does} it");
        let own = |l: &&Value| (l["primary"] == true) == primary && text(l, "text").ends_with(&said);
        let label = list(d, "labels").find(own);
        let who = label.map_or("", |l| text(l, "text").trim_end_matches(&said)).trim_end_matches(',');
        let orderings = race[key("orderings")].as_u64().and_then(|n| u32::try_from(n).ok());
        Side { who: who.to_owned(), line: label.and_then(|l| l["line"].as_u64()), does, orderings }
    }

    /// `line 12: reads it`.
    fn says(&self) -> String {
        match self.line {
            Some(line) => format!("line {line}: {} it", self.does),
            None => format!("{} it", self.does),
        }
    }

    /// Marks in front of its access, and how many there are no marks for.
    fn marks(&self) -> (u64, u32) {
        let all = self.orderings.unwrap_or(0);
        (all.min(MARKS).into(), all.saturating_sub(MARKS))
    }
}

/// Both sides of a race: an axis each, from left to right, with what put their accesses in order; between the two nothing
/// does.
pub fn push_time_line(out: &mut String, d: &Value, race: &Value) {
    let sides = [Side::of(d, race, false), Side::of(d, race, true)];
    let at = |side: &Side| MARGIN + APART * side.marks().0 + APART / 2;
    let after = |side: &Side| at(side) + LETTER * side.says().len() as u64 + 24;
    let letters = sides.iter().map(|s| LETTER * s.who.len() as u64).max().unwrap_or(0);
    let width = sides.iter().map(after).max().unwrap_or(0).max(letters).max(320);
    let _ = writeln!(
        out,
        "<div class=\"wide\"><svg class=\"race\" width=\"{width}\" height=\"168\" role=\"img\" aria-label=\"both sides of the race\">"
    );
    let places: Vec<u64> = sides.iter().map(at).collect();
    let _ = write!(
        out,
        "<line class=\"unordered\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
        places[0], AXES[0], places[1], AXES[1]
    );
    for (n, (side, x)) in sides.iter().zip(places).enumerate() {
        let y = AXES[n];
        // Between the axes is nothing but the line from one access to the other.
        let (who, says) = if n == 0 { (y - 36, y - 14) } else { (y + 46, y + 24) };
        let (marks, more) = side.marks();
        let earlier = if more > 0 { format!(" (after {more} more)") } else { String::new() };
        let _ = write!(
            out,
            "<text x=\"0\" y=\"{}\">{}{earlier}</text><line class=\"axis\" x1=\"0\" y1=\"{y}\" x2=\"{width}\" y2=\"{y}\"/>",
            who,
            escape_html(&side.who)
        );
        for k in 0..marks {
            let x = MARGIN + APART * k;
            let _ = write!(
                out,
                "<line class=\"order\" x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{}\"><title>a fence or barrier</title></line>",
                y - 8,
                y + 8
            );
        }
        let _ = write!(
            out,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"6\"/><text x=\"{}\" y=\"{}\">{}</text>",
            x - 6,
            says,
            escape_html(&side.says())
        );
    }
    out.push_str("\n</svg></div>\n<p class=\"key\">Time goes from left to right. ");
    if sides.iter().any(|s| s.orderings.is_some_and(|n| n > 0)) {
        out.push_str("<span class=\"order\">Blue</span>: a fence or barrier that the work-item came by. ");
    }
    out.push_str("Nothing puts the two accesses in order.</p>\n");
}

/// Each buffer as rows of cells: what of it was read, written, or neither, and what findings are about.
pub fn push_buffer_maps(out: &mut String, buffers: &[Buffer], findings: &[Value]) {
    if buffers.is_empty() {
        return;
    }
    out.push_str("<h2 id=\"buffers\">Buffers</h2>\n<p class=\"key\">");
    for (class, what) in
        [("none", "untouched"), ("read", "read"), ("written", "written"), ("both", "read and written")]
    {
        let _ = write!(
            out,
            "<span><svg width=\"12\" height=\"12\" aria-hidden=\"true\"><rect class=\"{class}\" width=\"12\" height=\"12\"/></svg> {what}</span> "
        );
    }
    out.push_str("</p>\n");
    for b in buffers {
        push_map(out, b, &told_bytes(b, findings));
    }
}

/// The bytes of a buffer that findings name.
fn told_bytes(b: &Buffer, findings: &[Value]) -> Vec<u64> {
    let of = |f: &Value| {
        let (before, behind) = text(f, "subject").split_once(" at byte 0x")?;
        let name = before.rsplit_once(' ').map_or(before, |(_, name)| name);
        let own = b.name.rsplit_once(' ').map_or(b.name.as_str(), |(_, name)| name);
        let digits = behind.split(|c: char| !c.is_ascii_hexdigit()).next()?;
        u64::from_str_radix(digits, 16).ok().filter(|_| name == own && before.starts_with("buffer "))
    };
    findings.iter().filter_map(of).collect()
}

fn push_map(out: &mut String, b: &Buffer, told: &[u64]) {
    let bytes = b.bytes;
    let each = bytes.div_ceil(CELLS).max(1);
    let cells = bytes.div_ceil(each);
    let name = escape_html(&b.name);
    let size = if each == 1 { "a byte".to_owned() } else { format!("{each} bytes") };
    let _ = writeln!(
        out,
        "<p>{name}: {bytes} bytes; a cell is {size}</p>\n<div class=\"wide\"><svg class=\"map\" data-buffer=\"{name}\" width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"{name}\">",
        ROW.min(cells) * CELL + 1,
        cells.div_ceil(ROW) * CELL + 1
    );
    for n in 0..cells {
        let from = n * each;
        let to = (from + each).min(bytes);
        let touches = |all: &[Range<u64>]| {
            let at = all.partition_point(|r| r.end <= from);
            all.get(at).is_some_and(|r| r.start < to)
        };
        let (class, what) = match (touches(&b.read), touches(&b.written)) {
            (false, false) => ("none", "untouched"),
            (true, false) => ("read", "read"),
            (false, true) => ("written", "written"),
            (true, true) => ("both", "read and written"),
        };
        let (mark, of) = match told.iter().any(|at| (from..to).contains(at)) {
            true => (" told", ", with a finding"),
            false => ("", ""),
        };
        let place =
            if to == from + 1 { format!("byte {from}") } else { format!("bytes {from} to {}", to - 1) };
        let _ = write!(
            out,
            "<rect class=\"{class}{mark}\" x=\"{}\" y=\"{}\" width=\"{w}\" height=\"{w}\"><title>{place}: {what}{of}</title></rect>",
            n % ROW * CELL + 1,
            n / ROW * CELL + 1,
            w = CELL - 2
        );
    }
    out.push_str("\n</svg></div>\n");
}
