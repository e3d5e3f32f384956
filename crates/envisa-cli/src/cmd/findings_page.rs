//! What checks found, as a page: one file without network. The sources with findings in place, both sides of a race on a time
//! line, buffers as maps of their bytes.

use envisa::diag::{Files, SourceFile};
use envisa::isa::Span;
use envisa_harness::profile::{STYLE, escape_html};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

mod drawings;

const OWN_STYLE: &str = "\
a{color:#0b57b0}.wide{overflow-x:auto}p.key{font-size:.9em}p.key span{white-space:nowrap;margin-right:.8em}p.key span.order{margin:0}p.key svg{vertical-align:-1px}\
ol.all{padding-left:1.6em;max-width:70em}ol.all li{margin:.25em 0}code{overflow-wrap:anywhere}h1,h2,p,li,summary{overflow-wrap:anywhere}\
section{margin:1.2em 0;padding-top:.1em}section h2{margin:.6em 0 .4em}section:target{outline:2px solid #c33;outline-offset:.5em}\
pre.source{margin:0;line-height:1.4;overflow-x:auto;tab-size:4}pre.source span.n{color:#666;display:inline-block;width:4em;text-align:right;margin-right:1em}\
pre.source span.gap{color:#666;display:block;margin:.4em 0 .4em 5em;font-family:system-ui,sans-serif}\
pre.source span.hit{background:#ffe9a8}\
div.here{margin:.1em 0 .3em 5em;padding:.2em .6em;border-left:4px solid #c33;background:#fff1ee;white-space:normal;font-family:system-ui,sans-serif;max-width:60em}\
div.here.other{border-color:#c90;background:#fff8e5}\
@media(max-width:600px){body{margin:.8em}pre.source span.n{width:2.5em}div.here{margin-left:.5em;position:sticky;left:0;max-width:calc(100vw - 4em)}}\
details{margin:1.5em 0}summary{cursor:pointer}svg{display:block;overflow:visible}p.key svg{display:inline}svg text{font:13px system-ui,sans-serif;fill:currentColor}\
svg.map{margin:.3em 0}.none{fill:#e4e7ec}.read{fill:#7aa7e0}.written{fill:#e0a040}.both{fill:#8a63b8}.told{stroke:#c00;stroke-width:2}\
svg circle{fill:#c33}line.axis{stroke:currentColor}line.order{stroke:#2b7bb9;stroke-width:3}line.unordered{stroke:#c33;stroke-dasharray:4 4}span.order{color:#1f6aa5}\
@media(prefers-color-scheme:dark){a{color:#8ab8f5}div.here{background:#3a2420}div.here.other{background:#383020}.none{fill:#333842}\
pre.source span.n,pre.source span.gap{color:#9a9a9a}pre.source span.hit{background:#5c4a10}.told{stroke:#ff6a5a}span.order{color:#7ab8e6}}";

/// A longer text is shown around the lines with findings alone: so many lines before them and behind.
const WHOLE_LINES: usize = 150;
const AROUND: usize = 10;

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

/// A finding's number, the finding, and its label at a line.
type Said<'a> = (usize, &'a Value, &'a Value);
/// What is said of lines of files.
type Below<'a> = BTreeMap<(&'a str, u64), Vec<Said<'a>>>;

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
        out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
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
        self.push_list(&mut out);
        self.push_mistakes(&mut out);
        for (n, d) in self.diagnostics.iter().enumerate() {
            self.push_finding(&mut out, n, d);
        }
        self.sources(&mut out);
        drawings::push_buffer_maps(&mut out, self.buffers, self.findings);
        out.push_str("</body>\n</html>\n");
        out
    }

    /// What there is, with links.
    fn push_list(&self, out: &mut String) {
        if self.diagnostics.len() + self.mistakes.len() < 2 {
            return;
        }
        out.push_str("<ol class=\"all\">\n");
        for (n, (said, _)) in self.mistakes.iter().enumerate() {
            let _ = writeln!(out, "<li><a href=\"#m{n}\">{}</a></li>", escape_html(said));
        }
        for (n, d) in self.diagnostics.iter().enumerate() {
            let place = list(d, "labels").find(|l| l["primary"] == true);
            let place =
                place.map_or(String::new(), |l| format!(", {}:{}", file_name(text(l, "file")), l["line"]));
            let said = escape_html(&format!("{}: {}", text(d, "code"), text(d, "message")));
            let _ = writeln!(out, "<li><a href=\"#f{n}\">{said}</a>{}</li>", escape_html(&place));
        }
        out.push_str("</ol>\n");
    }

    /// Mistakes of the program itself, with its calls.
    fn push_mistakes(&self, out: &mut String) {
        for (n, (said, calls)) in self.mistakes.iter().enumerate() {
            let _ = writeln!(out, "<section class=\"mistake\" id=\"m{n}\">\n<h2>{}</h2>", escape_html(said));
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
            let place = escape_html(&format!("{}:{}", text(label, "file"), label["line"]));
            let place = match self.anchor(label) {
                Some(to) => format!("<a href=\"#{to}\"><code>{place}</code></a>"),
                None => format!("<code>{place}</code>"),
            };
            let _ = writeln!(out, "<p>{place} {}</p>", escape_html(text(label, "text")));
        }
        if let Some(race) = self.findings.get(n).map(|f| &f["race"]).filter(|r| r.is_object()) {
            drawings::push_time_line(out, d, race);
        }
        for note in list(d, "notes").filter_map(Value::as_str) {
            let _ = writeln!(out, "<p>{}</p>", escape_html(note));
        }
        out.push_str("</section>\n");
    }

    /// The texts that findings are in, with these below their lines: first those that people wrote, as findings begin there.
    fn sources(&self, out: &mut String) {
        let mut below: Below<'_> = BTreeMap::new();
        for (n, d) in self.diagnostics.iter().enumerate() {
            for label in list(d, "labels") {
                if let Some(line) = label["line"].as_u64() {
                    below.entry((text(label, "file"), line)).or_default().push((n, d, label));
                }
            }
        }
        let mut shown: Vec<(bool, usize)> = Vec::new();
        for (n, source) in self.sources.iter().enumerate() {
            let mut of_it =
                below.iter().filter(|(k, _)| k.0 == source.name).flat_map(|(_, all)| all).peekable();
            if of_it.peek().is_some() {
                shown.push((!of_it.any(|(_, _, label)| label["primary"] == true), n));
            }
        }
        shown.sort_unstable();
        for (is_aside, n) in shown {
            let name = escape_html(&self.sources[n].name);
            let _ = match is_aside {
                true => writeln!(out, "<details>\n<summary>{name}</summary>"),
                false => writeln!(out, "<h2>{name}</h2>"),
            };
            self.push_source(out, n, &below);
            out.push_str(if is_aside { "</details>\n" } else { "" });
        }
    }

    fn push_source(&self, out: &mut String, n: usize, below: &Below<'_>) {
        let Source { name, text: code } = &self.sources[n];
        let lines = code.lines().count();
        let found: Vec<u64> = below.keys().filter(|k| k.0 == name).map(|k| k.1).collect();
        let is_near =
            |line: u64| lines <= WHOLE_LINES || found.iter().any(|f| f.abs_diff(line) <= AROUND as u64);
        let mut left_out = 0u64;
        out.push_str("<pre class=\"source\">\n");
        for (line, code) in (1..).zip(code.lines()) {
            if !is_near(line) {
                left_out += 1;
                continue;
            }
            push_gap(out, std::mem::take(&mut left_out));
            let said = below.get(&(name.as_str(), line));
            let _ = match said {
                Some(_) => {
                    write!(out, "<span class=\"n\" id=\"s{n}l{line}\">{line}</span><span class=\"hit\">")
                }
                None => write!(out, "<span class=\"n\">{line}</span><span>"),
            };
            let _ = writeln!(out, "{}</span>", escape_html(code));
            for (n, d, label) in said.into_iter().flatten() {
                push_said(out, *n, d, label);
            }
        }
        push_gap(out, left_out);
        out.push_str("</pre>\n");
    }

    /// Where the line of a label is on the page, if it is.
    fn anchor(&self, label: &Value) -> Option<String> {
        let n = self.sources.iter().position(|s| s.name == text(label, "file"))?;
        let line = label["line"].as_u64()?;
        self.sources[n].text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
        Some(format!("s{n}l{line}"))
    }
}

/// What is said of a line, below it.
fn push_said(out: &mut String, n: usize, d: &Value, label: &Value) {
    let primary = label["primary"] == true;
    let said = match (primary, text(label, "text")) {
        (true, "") => format!("{}: {}", text(d, "code"), text(d, "message")),
        (true, said) => format!("{}: {} ({said})", text(d, "code"), text(d, "message")),
        (false, said) => said.to_owned(),
    };
    let class = if primary { "here" } else { "here other" };
    let _ = write!(out, "<div class=\"{class}\"><a href=\"#f{n}\">{}</a></div>", escape_html(&said));
}

/// Lines that are left out.
fn push_gap(out: &mut String, lines: u64) {
    let _ = match lines {
        0 => Ok(()),
        1 => writeln!(out, "<span class=\"gap\">… a line without findings …</span>"),
        n => writeln!(out, "<span class=\"gap\">… {n} lines without findings …</span>"),
    };
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

fn text<'a>(v: &'a Value, key: &str) -> &'a str {
    v[key].as_str().unwrap_or_default()
}

fn list<'a>(v: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    v[key].as_array().into_iter().flatten()
}
