//! Every code that anything prints has one meaning and one page.

use envisa::diag::{CODES, CodeInfo};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// Codes that stand in sources as strings, and the rooms that have them.
fn used() -> BTreeMap<String, Vec<String>> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for room in std::fs::read_dir(&crates).expect("the rooms") {
        let room = room.expect("a room");
        let name = room.file_name().to_string_lossy().into_owned();
        let mut files = Vec::new();
        if room.path().join("src").is_dir() {
            sources(&room.path().join("src"), &mut files);
        }
        for file in files.iter().filter(|f| !f.ends_with("codes.rs")) {
            let text = std::fs::read_to_string(file).expect("a source");
            // Tests make diagnostics of their own.
            let text = text.split("#[cfg(test)]").next().unwrap_or("");
            let documented = text.lines().filter(|l| !l.trim_start().starts_with("//"));
            for quoted in documented.flat_map(|l| l.split('"').skip(1).step_by(2)) {
                let digits = quoted.strip_prefix(['E', 'W', 'F']).unwrap_or("");
                if digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()) {
                    let rooms = out.entry(quoted.to_owned()).or_default();
                    if !rooms.contains(&name) {
                        rooms.push(name.clone());
                    }
                }
            }
        }
    }
    out
}

#[test]
fn every_code_has_one_meaning_and_one_page() {
    let text: Vec<&CodeInfo> = envisa::text::CODES.iter().collect();
    let others: Vec<&CodeInfo> = CODES.iter().collect();
    let mut wrong = Vec::new();
    for table in [&text, &others] {
        for (i, c) in table.iter().enumerate() {
            if table[..i].iter().any(|o| o.code == c.code) {
                wrong.push(format!("{} stands twice in one table", c.code));
            }
            if c.title.is_empty() || c.text.len() < 15 {
                wrong.push(format!("{} has no page", c.code));
            }
        }
    }
    for c in &text {
        if others.iter().any(|o| o.code == c.code) {
            wrong.push(format!("{} means two things", c.code));
        }
    }
    let used = used();
    assert!(used.len() > 60, "{} codes found in the sources", used.len());
    for (code, rooms) in &used {
        let of_text = text.iter().any(|c| c.code == code);
        match (of_text, others.iter().any(|c| c.code == code)) {
            (false, false) => wrong.push(format!("{code} of {} has no page", rooms.join(", "))),
            (true, _) if rooms.iter().any(|r| r != "envisa-text") => {
                wrong.push(format!("{code} is the text's, and {} has it too", rooms.join(", ")));
            }
            _ => {}
        }
    }
    for c in &others {
        // What is not there yet has its page already.
        if !used.contains_key(c.code) && c.code != "F0020" {
            wrong.push(format!("{} has a page, and nothing uses it", c.code));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn explain_shows_the_page_of_every_code() {
    for code in ["F0001", "f0004", "E0301", "E0800", "W0505", "V0101", "two-registers"] {
        let out =
            Command::new(env!("CARGO_BIN_EXE_envisa")).args(["explain", code]).output().expect("it runs");
        let text = String::from_utf8(out.stdout).expect("text");
        assert!(out.status.success() && text.len() > 40, "{code}: {text}");
    }
    let out =
        Command::new(env!("CARGO_BIN_EXE_envisa")).args(["explain", "F9999"]).output().expect("it runs");
    assert_eq!(out.status.code(), Some(2));
}
