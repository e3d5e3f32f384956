//! The texts of the corpus: those in `oracle/corpus`, and those that the corpus's binaries carry.

use envisa::isa::Platform;
use envisa::zebin::ZebinFile;
use std::path::{Path, PathBuf};

/// A text and the platform it is for.
pub struct Text {
    /// File, and section where it has several.
    pub name: String,
    /// The text.
    pub text: String,
    /// The device that its path names (`…/dg2/…`).
    pub platform: Platform,
}

fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { walk(&path, out) } else { out.push(path) }
    }
}

fn platform_of(path: &Path) -> Platform {
    let mut parts = path.components().filter_map(|c| Platform::from_name(&c.as_os_str().to_string_lossy()));
    match parts.next_back() {
        // The reference compiler's PVC kernels are of the later stepping.
        Some(Platform::Pvc) => Platform::Pvcxt,
        Some(p) => p,
        None => Platform::Skl,
    }
}

/// All texts, in order of names.
pub fn texts() -> Vec<Text> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    walk(&root.join("../envisa/tests/oracle/corpus"), &mut files);
    walk(&root.join("../../suite/corpus"), &mut files);
    files.sort();
    let mut out = Vec::new();
    for path in &files {
        let platform = platform_of(path);
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let bytes = std::fs::read(path).expect("what was listed is read");
        match path.extension().and_then(|e| e.to_str()) {
            Some("visaasm") => {
                let text = String::from_utf8(bytes).expect("a text");
                out.push(Text { name, text, platform });
            }
            Some("zebin") => {
                let file = ZebinFile::parse(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
                for (n, v) in file.visa.iter().enumerate() {
                    let data = file.elf.sections[v.section].data.to_vec();
                    let text = String::from_utf8(data).expect("a text");
                    out.push(Text {
                        name: format!("{name}#{n}"),
                        text: text.trim_end_matches('\0').into(),
                        platform,
                    });
                }
            }
            _ => {}
        }
    }
    assert!(out.len() > 500, "only {} texts", out.len());
    out
}
