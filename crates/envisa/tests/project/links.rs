//! Relative links of the documents lead somewhere.

use std::path::{Path, PathBuf};

/// `(target)` of every `[text](target)` outside of code.
fn links(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced || line.starts_with("    ") {
            continue;
        }
        // Odd pieces between backticks are code.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        let mut rest = prose.as_str();
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let Some(end) = rest.find(')') else { break };
            out.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
    }
    out
}

#[test]
fn relative_links_resolve() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut documents: Vec<PathBuf> = vec![root.join("README.md")];
    for entry in std::fs::read_dir(root.join("docs")).expect("docs/") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "md") {
            documents.push(path);
        }
    }
    let mut checked = 0;
    let mut dead = Vec::new();
    for document in &documents {
        let text = std::fs::read_to_string(document).expect("a text");
        for link in links(&text) {
            let file = link.split('#').next().unwrap_or("");
            if link.contains("://") || link.starts_with("mailto:") || file.is_empty() {
                continue;
            }
            checked += 1;
            let target = document.parent().expect("a folder").join(file);
            if !target.exists() {
                dead.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
    assert!(checked >= 5, "{checked} links");
}

#[test]
fn links_are_found() {
    assert_eq!(links("a [b](c.md) and [d](e.md#f)\n```\n[x](y)\n```\n`[x](y)`"), ["c.md", "e.md#f"]);
}
