//! What checks found, as a page: one file without network. The sources with findings in place, both sides of a race on a time
//! line, buffers as maps of their bytes.

use envisa::diag::{Files, SourceFile};
use envisa::isa::Span;
use envisa_harness::profile::{STYLE, escape_html};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

const OWN_STYLE: &str = "\
pre.source{margin:0;line-height:1.35}pre.source span.n{color:#888;display:inline-block;width:4em;text-align:right;margin-right:1em}\
div.here{margin:.1em 0 .3em 5em;padding:.2em .6em;border-left:4px solid #c33;background:#fff1ee;white-space:normal;font-family:system-ui,sans-serif}\
div.here.other{border-color:#c90;background:#fff8e5}section.finding{margin:1.2em 0}svg text{font:12px system-ui,sans-serif;fill:currentColor}\
svg.map{display:block;margin:.3em 0}.none{fill:#e4e7ec}.read{fill:#7aa7e0}.written{fill:#e0a040}.both{fill:#8a63b8}\
@media(prefers-color-scheme:dark){div.here{background:#3a2420}div.here.other{background:#383020}.none{fill:#333842}}";

/// A buffer: what it is called, its bytes, and which of them were read and written, in order.
pub struct Buffer {
    pub name: String,
    pub bytes: u64,
    pub read: Vec<Range<u64>>,
    pub written: Vec<Range<u64>>,
}

/// A text that findings are in.
pub struct Source {
    pub name: String,
    pub text: String,
}

/// What the page is made of.
pub struct Page<'a> {
    /// What was checked.
    pub of: &'a str,
    /// The findings' and the fault's diagnostics, as JSON.
    pub diagnostics: &'a [Value],
    /// The findings that these are of, as JSON.
    pub findings: &'a [Value],
    /// Mistakes of the program: what is told of them, and where it called for it.
    pub mistakes: &'a [(String, Vec<String>)],
    pub sources: &'a [Source],
    pub buffers: &'a [Buffer],
}

/// The files as texts.
pub fn sources_of(files: &Files) -> Vec<Source> {
    let texts = files.iter().map(|(_, file)| file).filter(|file| !file.is_binary());
    let text = |file: &SourceFile| file.lossy(Span::new(0, file.len())).into_owned();
    texts.map(|file| Source { name: file.name().to_owned(), text: text(file) }).collect()
}

/// The bytes of a buffer that are in some of these ranges, counted from where it begins.
pub fn clip(all: &[Range<u64>], place: &Range<u64>) -> Vec<Range<u64>> {
    let inside = all.iter().map(|r| r.start.max(place.start)..r.end.min(place.end));
    inside.filter(|r| r.start < r.end).map(|r| r.start - place.start..r.end - place.start).collect()
}

impl Page<'_> {
    /// The page's text.
    pub fn html(&self) -> String {
        let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        out.push_str(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n",
        );
        let title = escape_html(&format!("Checks of {}", self.of));
        let _ = writeln!(
            out,
            "<title>{title}</title>\n<style>{STYLE}{OWN_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>"
        );
        let _ = match self.diagnostics.len() + self.mistakes.len() {
            0 => writeln!(out, "<p>Nothing was found.</p>"),
            1 => writeln!(out, "<p>One finding.</p>"),
            n => writeln!(out, "<p>{n} findings.</p>"),
        };
        self.push_mistakes(&mut out);
        for (n, d) in self.diagnostics.iter().enumerate() {
            self.push_finding(&mut out, n, d);
        }
        self.sources(&mut out);
        self.push_buffer_maps(&mut out);
        out.push_str("</body>\n</html>\n");
        out
    }

    /// Mistakes of the program itself, with its calls.
    fn push_mistakes(&self, out: &mut String) {
        for (said, calls) in self.mistakes {
            let _ = writeln!(out, "<section class=\"mistake\">\n<h2>{}</h2>", escape_html(said));
            for call in calls {
                let _ = writeln!(out, "<p><code>{}</code></p>", escape_html(call));
            }
            out.push_str("</section>\n");
        }
    }

    fn push_finding(&self, out: &mut String, n: usize, d: &Value) {
        let _ = writeln!(
            out,
            "<section class=\"finding\" id=\"f{n}\">\n<h2>{}: {}</h2>",
            escape_html(text(d, "code")),
            escape_html(text(d, "message"))
        );
        for label in list(d, "labels") {
            let place = format!("{}:{}", text(label, "file"), label["line"]);
            let _ = writeln!(
                out,
                "<p><code>{}</code> {}</p>",
                escape_html(&place),
                escape_html(text(label, "text"))
            );
        }
        if let Some(race) = self.findings.get(n).map(|f| &f["race"]).filter(|r| r.is_object()) {
            time_line(out, d, race);
        }
        for note in list(d, "notes").filter_map(Value::as_str) {
            let _ = writeln!(out, "<p>{}</p>", escape_html(note));
        }
        out.push_str("</section>\n");
    }

    /// The texts that findings are in, with these below their lines.
    fn sources(&self, out: &mut String) {
        /// A finding's number, the finding, and its label at a line.
        type Said<'a> = (usize, &'a Value, &'a Value);
        let mut below: BTreeMap<(&str, u64), Vec<Said<'_>>> = BTreeMap::new();
        for (n, d) in self.diagnostics.iter().enumerate() {
            for label in list(d, "labels") {
                if let Some(line) = label["line"].as_u64() {
                    below.entry((text(label, "file"), line)).or_default().push((n, d, label));
                }
            }
        }
        for Source { name, text: code } in self.sources {
            if !below.keys().any(|k| k.0 == name) {
                continue;
            }
            let _ = writeln!(out, "<h2>{}</h2>\n<pre class=\"source\">", escape_html(name));
            for (line, code) in (1..).zip(code.lines()) {
                let _ = writeln!(out, "<span class=\"n\">{line}</span>{}", escape_html(code));
                for (n, d, label) in below.get(&(name.as_str(), line)).into_iter().flatten() {
                    let primary = label["primary"] == true;
                    let said = match (primary, text(label, "text")) {
                        (true, said) => format!("{}: {} ({said})", text(d, "code"), text(d, "message")),
                        (false, said) => said.to_owned(),
                    };
                    let class = if primary { "here" } else { "here other" };
                    let _ = write!(
                        out,
                        "<div class=\"{class}\"><a href=\"#f{n}\">{}</a></div>",
                        escape_html(&said)
                    );
                }
            }
            out.push_str("</pre>\n");
        }
    }

    /// Each buffer as a row of cells: what of it was read, written, or neither.
    fn push_buffer_maps(&self, out: &mut String) {
        if self.buffers.is_empty() {
            return;
        }
        out.push_str("<h2>Buffers</h2>\n<p><svg width=\"420\" height=\"14\">");
        for (n, (class, what)) in
            [("none", "untouched"), ("read", "read"), ("written", "written"), ("both", "read and written")]
                .iter()
                .enumerate()
        {
            let x = 100 * n;
            let _ = write!(
                out,
                "<rect class=\"{class}\" x=\"{x}\" y=\"1\" width=\"12\" height=\"12\"/><text x=\"{}\" y=\"12\">{what}</text>",
                x + 16
            );
        }
        out.push_str("</svg></p>\n");
        for b in self.buffers {
            let bytes = b.bytes;
            let each = bytes.div_ceil(CELLS).max(1);
            let cells = bytes.div_ceil(each);
            let _ = writeln!(
                out,
                "<p>{}: {bytes} bytes, {each} a cell</p>\n<svg class=\"map\" data-buffer=\"{}\" width=\"{}\" height=\"{}\">",
                escape_html(&b.name),
                escape_html(&b.name),
                ROW * CELL,
                cells.div_ceil(ROW) * CELL
            );
            for n in 0..cells {
                let from = n * each;
                let to = (from + each).min(bytes);
                let touches = |all: &[Range<u64>]| {
                    let at = all.partition_point(|r| r.end <= from);
                    all.get(at).is_some_and(|r| r.start < to)
                };
                let class = match (touches(&b.read), touches(&b.written)) {
                    (false, false) => "none",
                    (true, false) => "read",
                    (false, true) => "written",
                    (true, true) => "both",
                };
                let _ = write!(
                    out,
                    "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{w}\" height=\"{w}\"><title>bytes {} to {}</title></rect>",
                    n % ROW * CELL,
                    n / ROW * CELL,
                    from,
                    to,
                    w = CELL - 1
                );
            }
            out.push_str("\n</svg>\n");
        }
    }
}

/// Cells of a map at most, of a row, and their width.
const CELLS: u64 = 2048;
const ROW: u64 = 128;
const CELL: u64 = 8;

/// Both sides of a race: a line each, from left to right, with what put their accesses in order; between the two nothing
/// does.
fn time_line(out: &mut String, d: &Value, race: &Value) {
    let number = |key: &str| race[key].as_u64().and_then(|n| u32::try_from(n).ok());
    let side = |primary: bool, does: &str, orderings: &str| {
        let does = text(race, does).to_owned();
        let said = format!(" {does} it");
        let own = |l: &&Value| (l["primary"] == true) == primary && text(l, "text").ends_with(&said);
        let label = list(d, "labels").find(own);
        let who = label.map_or("", |l| text(l, "text").trim_end_matches(&said));
        (who.to_owned(), label.map_or(0, |l| l["line"].as_u64().unwrap_or(0)), does, number(orderings))
    };
    let here = side(true, "access", "orderings");
    let there = side(false, "other_access", "other_orderings");
    let most = here.3.into_iter().chain(there.3).max().unwrap_or(0).min(24);
    let width = 320 + 60 * u64::from(most);
    let _ = writeln!(out, "<svg class=\"race\" width=\"{}\" height=\"110\">", width + 260);
    for (n, (who, line, does, orderings)) in [there, here].into_iter().enumerate() {
        let y = 30 + 50 * n;
        let _ = write!(
            out,
            "<text x=\"0\" y=\"{}\">{}</text><line x1=\"0\" y1=\"{y}\" x2=\"{width}\" y2=\"{y}\" stroke=\"currentColor\"/>",
            y - 12,
            escape_html(&who)
        );
        let before = orderings.unwrap_or(0).min(most);
        for k in 0..before {
            let x = 40 + 60 * k;
            let _ = write!(
                out,
                "<line x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{}\" stroke=\"#38a\" stroke-width=\"3\"><title>a fence or barrier</title></line>",
                y - 8,
                y + 8
            );
        }
        let x = 70 + 60 * before;
        let _ = write!(
            out,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"6\" fill=\"#c33\"/><text x=\"{}\" y=\"{}\">line {line}: {} it</text>",
            x + 12,
            y + 16,
            escape_html(&does)
        );
    }
    out.push_str("\n</svg>\n");
}

fn text<'a>(v: &'a Value, key: &str) -> &'a str {
    v[key].as_str().unwrap_or_default()
}

fn list<'a>(v: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    v[key].as_array().into_iter().flatten()
}
