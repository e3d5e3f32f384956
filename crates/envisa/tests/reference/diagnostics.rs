//! Broken texts: what envisa says, and GenX_IR beside it. `BLESS=1 cargo test -p envisa --test
//! reference diagnostics` writes `docs/DIAGNOSTICS-VS-GENX_IR.md`; without it the test compares the page with what both say.

use crate::oracle;

use envisa::diag::{Diagnostic, Files};
use envisa::isa::Platform;
use envisa::text::{ParseOptions, parse};
use std::fmt::Write;
use std::path::{Path, PathBuf};

struct Case {
    name: String,
    text: String,
    platform: Option<Platform>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The texts of the parser's snapshots, but for those of its own limits and annotations.
fn cases() -> Vec<Case> {
    let folder = root().join("crates/envisa-text/tests/diagnostics");
    let mut out = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("the folder of broken texts") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "visaasm") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        let words: Vec<&str> = text.lines().next().unwrap_or("").split_whitespace().collect();
        let value = |option| words.iter().position(|w| *w == option).map(|i| words[i + 1]);
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        // Annotations are comments to the reference.
        if value("-max-errors").or(value("-max-bytes")).is_some() || name.starts_with("annotation_") {
            continue;
        }
        let platform = value("-platform").map(|p| Platform::from_name(p).expect("a platform"));
        out.push(Case { name, platform, text });
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

/// What envisa says, with the line of each.
fn ours(case: &Case) -> Vec<(Diagnostic, usize)> {
    let mut files = Files::new();
    let id = files.add_text(case.name.as_str(), case.text.as_str());
    let options = ParseOptions { platform: case.platform, ..ParseOptions::default() };
    let line = |d: &Diagnostic| {
        let at = d.location().map_or(0, |l| l.span.start as usize).min(case.text.len());
        case.text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1
    };
    let said = parse(&case.text, id, &options).diagnostics;
    said.into_iter().map(|d| (d.clone(), line(&d))).collect()
}

fn cell(s: &str) -> String {
    let short: String = s.chars().filter(|c| !c.is_control()).take(100).collect();
    short.replace('|', "\\|").replace('`', "'").replace('<', "&lt;")
}

#[derive(Default)]
struct Totals {
    n: usize,
    found: usize,
    placed: usize,
    silent: usize,
    complains_and_exits_0: usize,
    crashed: usize,
    advised: usize,
    reported: usize,
}

/// The page: the numbers, and the rows of texts with errors and of those with warnings, of which `warned` says how many
/// there are and of how many GenX_IR reports something.
fn page(t: &Totals, errors: &str, warned: (usize, usize), warnings: &str) -> String {
    let mut page = String::from(
        "# Messages for broken texts compared with GenX_IR\n\n\
         This page compares the messages of envisa and of the packaged GenX_IR (igc-1.0.12504.6) for each text of\n\
         `crates/envisa-text/tests/diagnostics`, where envisa's full output is stored next to the text. GenX_IR has no other option than\n\
         `-platform` (SKL if the text's first line names none). Written by `BLESS=1 cargo test -p envisa --test reference diagnostics`,\n\
         which fails if this page is out of date.\n\n",
    );
    let _ = write!(
        page,
        "| {} broken texts | envisa | GenX_IR |\n| --- | --- | --- |\n\
         | reports the error | {} | {} |\n\
         | names its line | {} | {} |\n\
         | names the column and length | {} | 0 |\n\
         | gives advice | {} | 0 |\n\
         | errors reported in one run | {} | {} |\n\
         | reports nothing, exit code 0 | 0 | {} |\n\
         | reports it, but with exit code 0 | 0 | {} |\n\
         | crashes or hangs | 0 | {} |\n\n\
         *line*: whether GenX_IR names a line with an error (*none*: its message has no line).\n\n",
        t.n,
        t.n,
        t.found,
        t.n,
        t.placed,
        t.n,
        t.advised,
        t.reported,
        t.found,
        t.silent,
        t.complains_and_exits_0,
        t.crashed
    );
    const HEAD: &str = "| text | code | at | envisa says | GenX_IR | exit | line | GenX_IR says |\n\
                        | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    page.push_str("## Errors\n\n");
    page.push_str(HEAD);
    page.push_str(errors);
    let _ = write!(
        page,
        "\n## Warnings\n\nThese texts are legal, but envisa warns of a probable mistake. GenX_IR reports something for {} of these {}.\n\n",
        warned.1, warned.0
    );
    page.push_str(HEAD);
    page.push_str(warnings);
    page
}

#[test]
fn beside_genx_ir() {
    if !oracle::available("beside_genx_ir") {
        return;
    }
    let cases = cases();
    assert!(cases.len() > 300, "only {} cases", cases.len());
    let (mut errors, mut warnings) = (String::new(), String::new());
    let mut t = Totals::default();
    let mut warned = (0, 0);
    for case in &cases {
        let us = ours(case);
        // It wants one in any case.
        let platform = case.platform.unwrap_or(Platform::Skl);
        let them = oracle::diagnose(&case.name, case.text.as_bytes(), platform);
        let is_error = us.iter().any(|(d, _)| d.is_error());
        let (first, line) = us.iter().find(|(d, _)| d.is_error() == is_error).expect("something is said");
        let right = them.line.is_some_and(|l| us.iter().any(|(_, line)| *line == l));
        let place = match them.line {
            _ if !them.found() || them.crashed && them.message.is_empty() => "",
            None => "none",
            Some(_) if right => "right",
            Some(_) => "wrong",
        };
        let exit = them.code.map_or("signal or timeout".to_owned(), |c| c.to_string());
        let found = match () {
            () if them.crashed => "crashed",
            () if them.found() => "found",
            () => "not found",
        };
        let row = format!(
            "| {} | {} | {line} | {} | {found} | {exit} | {place} | {} |\n",
            case.name,
            first.code,
            cell(&first.message),
            cell(&them.message)
        );
        if !is_error {
            warned.0 += 1;
            warned.1 += usize::from(them.found());
            warnings.push_str(&row);
            continue;
        }
        errors.push_str(&row);
        t.n += 1;
        t.found += usize::from(them.found() && !them.crashed);
        t.placed += usize::from(right && !them.crashed);
        t.silent += usize::from(!them.found());
        t.complains_and_exits_0 += usize::from(them.found() && them.code == Some(0));
        t.crashed += usize::from(them.crashed);
        t.advised += usize::from(us.iter().any(|(d, _)| !d.helps.is_empty()));
        t.reported += us.iter().filter(|(d, _)| d.is_error()).count();
    }
    let page = page(&t, &errors, warned, &warnings);
    let path = root().join("docs/DIAGNOSTICS-VS-GENX_IR.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, page).expect("docs/ is writable");
        return;
    }
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    let differing: Vec<String> = old
        .lines()
        .zip(page.lines())
        .filter(|(a, b)| a != b)
        .take(10)
        .map(|(a, b)| format!("- {a}\n+ {b}"))
        .collect();
    assert!(
        old == page,
        "{} is not what both say (BLESS=1 rewrites):\n{}",
        path.display(),
        differing.join("\n")
    );
}
