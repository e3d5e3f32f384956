//! Tables in Markdown, pages and records as files, and the digest of outputs by which a kernel's results are seen to mean
//! something.

pub use envisa_harness::blocks::{block, replace_block};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use envisa_harness::values::HostValue;
use serde::Serialize;

use crate::compare::Comparison;
use crate::kernel::KernelFile;
use crate::launch::{Launch, Outputs};

/// A Markdown table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads.
    pub fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Table {
        Table { head: head.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row; missing cells are empty, surplus ones dropped.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut cells: Vec<String> = cells.into_iter().map(|c| escape(&c.into())).collect();
        cells.resize(self.head.len(), String::new());
        self.rows.push(cells);
    }

    /// Has it no rows?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table's text, columns aligned.
    pub fn to_markdown(&self) -> String {
        let mut widths: Vec<usize> = self.head.iter().map(|h| h.chars().count().max(3)).collect();
        for row in &self.rows {
            for (w, cell) in widths.iter_mut().zip(row) {
                *w = (*w).max(cell.chars().count());
            }
        }
        let mut out = String::new();
        let mut line = |cells: &[String]| {
            for (cell, width) in cells.iter().zip(&widths) {
                let _ = write!(out, "| {cell:width$} ");
            }
            out.push_str("|\n");
        };
        line(&self.head);
        line(&widths.iter().map(|w| "-".repeat(*w)).collect::<Vec<_>>());
        for row in &self.rows {
            line(row);
        }
        out
    }
}

/// Sees to it that the block `name` is there, empty or not, before anything but the document's title.
pub fn put_first(document: &str, name: &str) -> String {
    if document.contains(&format!("<!-- begin {name} -->")) {
        return document.to_owned();
    }
    let (title, rest) = document.split_once('\n').unwrap_or((document, ""));
    let page = replace_block(title, name, "");
    if rest.trim().is_empty() { page } else { format!("{page}\n{}", rest.trim_start()) }
}

fn escape(cell: &str) -> String {
    cell.replace('|', "\\|").replace('\n', " ")
}

/// One comparison as a cell: `ok`, with the worst distance seen, or what differs first.
pub fn cell(c: &Comparison) -> String {
    if let Some(why) = &c.shape_error {
        return format!("FAIL: {why}");
    }
    match &c.first {
        Some((i, want, got)) => {
            format!("FAIL: {} of {}, first [{i}]: want {want}, got {got}", c.mismatches, c.elements)
        }
        None if c.worst_ulp > 0 => format!("ok ({} ulp)", c.worst_ulp),
        None if c.worst_abs > 0.0 => format!("ok (off by {})", c.worst_abs),
        None => "ok".to_owned(),
    }
}

/// Says what is suspicious about a run's outputs: not finite where finite was meant, unchanged, or all the same.
pub fn suspicions(kernel: &KernelFile, launch: &Launch, outputs: &Outputs) -> Vec<String> {
    let mut found = Vec::new();
    for (index, value) in &outputs.values {
        let arg = &launch.args[*index];
        let distinct = distinct_elements(value, 3);
        if value.len() > 4 && distinct < 2 {
            found.push(format!("`{}` holds one value throughout", arg.name));
        }
        let special = kernel.header.features.iter().any(|f| f == "nan");
        if !special
            && value.elem.is_float()
            && (0..value.len()).any(|i| !value.get_f64(i).is_some_and(f64::is_finite))
        {
            found.push(format!("`{}` holds infinities or NaN", arg.name));
        }
        if let crate::launch::ArgValue::Buffer(initial) | crate::launch::ArgValue::Image(_, initial) =
            &arg.value
            && initial == value
            && !kernel.header.features.iter().any(|f| f == "launch")
        {
            found.push(format!("`{}` was not changed", arg.name));
        }
    }
    if kernel.header.printf.is_some() && outputs.printed.trim().is_empty() {
        found.push("nothing was printed".to_owned());
    }
    found
}

fn distinct_elements(value: &HostValue, enough: usize) -> usize {
    let mut seen: Vec<&[u8]> = Vec::new();
    for e in value.bytes.chunks_exact(value.elem.size()) {
        if !seen.contains(&e) {
            seen.push(e);
            if seen.len() >= enough {
                break;
            }
        }
    }
    seen.len()
}

/// The folder of the project's documents.
pub fn docs_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// Writes `text` to `path`, and makes its folder.
///
/// # Errors
/// What the system says, with the path.
pub fn write_text(path: &Path, text: &str) -> Result<(), String> {
    let write = || {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(path, text)
    };
    write().map_err(|e| format!("{}: {e}", path.display()))
}

/// Writes a page of results. What a run found wrong is mended or explained before it is published: a page never says it
/// beside what is right.
///
/// # Errors
/// What is wrong, or what the system says.
pub fn publish(path: &Path, text: &str, wrong: &[String]) -> Result<(), String> {
    may_publish(path, wrong)?;
    write_text(path, text)
}

/// May a page be written of which this is wrong?
///
/// # Errors
/// If there is anything.
pub fn may_publish(path: &Path, wrong: &[String]) -> Result<(), String> {
    match wrong {
        [] => Ok(()),
        [first, ..] => {
            Err(format!("{} is not written: {} complaints, the first: {first}", path.display(), wrong.len()))
        }
    }
}

/// A record's text.
///
/// # Errors
/// Where it holds what JSON cannot.
pub fn json_of(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string_pretty(value).map(|t| t + "\n").map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_put_first() {
        let page = replace_block("# P\n", "a", "one\n");
        let first = put_first(&page, "s");
        assert_eq!(
            first,
            "# P\n\n<!-- begin s -->\n\n<!-- end s -->\n\n<!-- begin a -->\none\n<!-- end a -->\n"
        );
        assert_eq!(put_first(&first, "s"), first);
    }

    #[test]
    fn tables_align_and_escape() {
        let mut t = Table::new(["kernel", "n"]);
        t.row(["a|b", "12345"]);
        t.row(["c"]);
        assert_eq!(
            t.to_markdown(),
            "| kernel | n     |\n| ------ | ----- |\n| a\\|b   | 12345 |\n| c      |       |\n"
        );
    }

    /// A page that told of something wrong beside what is right was once published again, and nobody read it.
    #[test]
    fn a_page_is_written_only_if_nothing_is_wrong() {
        let folder = tempfile::tempdir().expect("a folder");
        let page = folder.path().join("PAGE.md");
        publish(&page, "as it was", &[]).expect("nothing is wrong");
        let wrong = ["program 37515 differs".to_owned(), "another does".to_owned()];
        let refused = publish(&page, "differ: 37515", &wrong).expect_err("something is wrong");
        assert!(
            refused.ends_with("PAGE.md is not written: 2 complaints, the first: program 37515 differs"),
            "{refused}"
        );
        assert_eq!(std::fs::read_to_string(&page).expect("the page"), "as it was");
        publish(&page, "as it is", &[]).expect("nothing is wrong");
        assert_eq!(std::fs::read_to_string(&page).expect("the page"), "as it is");
    }
}
