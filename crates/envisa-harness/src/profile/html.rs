//! The profile as a page: one file without network, its columns sorted by a click.

use super::{COLUMNS, describe_cost_model, format_columns, summary_line};
use envisa::{Counts, Profile};
use std::collections::HashMap;
use std::fmt::Write as _;

/// The style of pages.
pub const STYLE: &str = "\
body{font:14px/1.4 system-ui,sans-serif;margin:1.5em;color:#1c1c1c;background:#fff}\
h1{font-size:1.3em}h2{font-size:1.1em;margin-top:2em}p{max-width:60em}\
table{border-collapse:collapse}\
th,td{padding:.1em .6em;text-align:right;white-space:pre;font-variant-numeric:tabular-nums}\
th{position:sticky;top:0;background:#eef1f5;cursor:pointer;border-bottom:1px solid #aaa}\
th.text,td.text{text-align:left;font-family:ui-monospace,monospace}\
td.bad{background:#ffe3d6}tr:hover td{outline:1px solid #ccd}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#16181c}th{background:#2a2e36}td.bad{background:#5a2f1c}}";

/// Sorts the table of the column that was clicked: by number where there are numbers, the greatest first.
const SCRIPT: &str = "\
for(const th of document.querySelectorAll('table.sort th'))th.onclick=()=>{\
const t=th.closest('table'),i=th.cellIndex,b=t.tBodies[0],d=th.dataset.down!=='1';\
for(const o of t.querySelectorAll('th'))delete o.dataset.down;\
th.dataset.down=d?'1':'0';\
const k=r=>{const v=r.cells[i].dataset.key;return v===undefined?r.cells[i].textContent:+v};\
[...b.rows].sort((x,y)=>{const a=k(x),c=k(y);\
const o=typeof a==='number'?c-a:a.localeCompare(c);return d?o:-o}).forEach(r=>b.append(r));};";

/// The page.
pub fn page(p: &Profile) -> String {
    let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n");
    let _ = writeln!(
        out,
        "<title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
        escape_html(&format!("Profile of {}", p.kernel))
    );
    let _ = writeln!(
        out,
        "<h1>{}</h1>\n<p>{}</p>",
        escape_html(&format!("Profile of {}", p.kernel)),
        escape_html(&summary_line(p))
    );
    let _ = writeln!(out, "<p>Counted by: {}.</p>", escape_html(&describe_cost_model(p)));
    let all = p.total.executed;
    if p.lines.is_empty() {
        out.push_str("<p>The module does not record its source lines; compile it with -g.</p>\n");
    } else {
        out.push_str("<h2>Lines, the hottest first</h2>\n");
        push_table_head(&mut out, true, &["place", "source"]);
        for l in &p.lines {
            let place = format!("{}:{}", l.file, l.line);
            row(&mut out, &l.counts, all, &[&place, l.text.as_deref().unwrap_or_default()]);
        }
        out.push_str("</tbody></table>\n");
    }
    let counts: HashMap<(&str, u32), &Counts> =
        p.lines.iter().map(|l| ((l.file.as_str(), l.line), &l.counts)).collect();
    for text in &p.texts {
        let _ = writeln!(out, "<h2>{}</h2>", escape_html(&text.file));
        push_table_head(&mut out, false, &["line", "source"]);
        for (n, line) in (1..).zip(&text.lines) {
            let number = n.to_string();
            match counts.get(&(text.file.as_str(), n)) {
                Some(c) => row(&mut out, c, all, &[&number, line]),
                None => {
                    let _ = writeln!(
                        out,
                        "<tr><td colspan=\"{}\"></td><td class=\"text\">{n}</td><td class=\"text\">{}</td></tr>",
                        COLUMNS.len(),
                        escape_html(line)
                    );
                }
            }
        }
        out.push_str("</tbody></table>\n");
    }
    out.push_str("<h2>Instructions, the hottest first</h2>\n");
    push_table_head(&mut out, true, &["instruction", "vISA", "source"]);
    for i in &p.instructions {
        let at = format!("{}:${}", i.place.function, i.place.instruction);
        let line = i.place.source.as_ref().map_or(String::new(), |s| format!("{}:{}", s.file, s.line));
        row(&mut out, &i.counts, all, &[&at, &i.text, &line]);
    }
    let _ = writeln!(out, "</tbody></table>\n<script>{SCRIPT}</script>\n</body>\n</html>");
    out
}

fn push_table_head(out: &mut String, sorted: bool, texts: &[&str]) {
    let class = if sorted { " class=\"sort\"" } else { "" };
    let _ = write!(out, "<table{class}><thead><tr>");
    for (name, what) in COLUMNS {
        let _ = write!(out, "<th title=\"{what}\">{name}</th>");
    }
    for name in texts {
        let _ = write!(out, "<th class=\"text\">{name}</th>");
    }
    out.push_str("</tr></thead><tbody>\n");
}

fn row(out: &mut String, c: &Counts, all: u64, texts: &[&str]) {
    let excess = |taken: u64, least: u64| taken.saturating_sub(least);
    // What columns are sorted by: of pairs, what is too much.
    let keys = [
        c.executed,
        c.executed,
        c.channels.saturating_mul(10_000).checked_div(c.possible_channels).unwrap_or(0),
        c.divergent_branches,
        c.bytes_read + c.bytes_written,
        excess(c.cache_lines, c.least_cache_lines),
        excess(c.bank_steps, c.least_bank_steps),
        c.waited,
    ];
    out.push_str("<tr>");
    for (i, (cell, key)) in format_columns(c, all).iter().zip(keys).enumerate() {
        let bad = match i {
            3 => c.divergent_branches > 0,
            5 => c.cache_lines > 2 * c.least_cache_lines,
            6 => c.bank_steps > c.least_bank_steps,
            _ => false,
        };
        let class = if bad { " class=\"bad\"" } else { "" };
        let _ = write!(out, "<td{class} data-key=\"{key}\">{cell}</td>");
    }
    for text in texts {
        let _ = write!(out, "<td class=\"text\">{}</td>", escape_html(text));
    }
    out.push_str("</tr>\n");
}

/// A text as HTML, in elements and attributes: names and lines are foreign.
pub fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' => out.push('\t'),
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escape_html;

    #[test]
    fn foreign_names_stay_text() {
        assert_eq!(
            escape_html("<img src=x onerror='a&b'>\"\u{1b}"),
            "&lt;img src=x onerror=&#39;a&amp;b&#39;&gt;&quot;\u{fffd}"
        );
    }
}
