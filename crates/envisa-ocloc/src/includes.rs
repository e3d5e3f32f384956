//! Files that a source may include: what a compilation depends on besides its text.
//!
//! Nothing is preprocessed. Every file that an `#include` could mean is looked at, also where the line is in a
//! comment or not reached, in every folder that is searched, and those that are not there count as well: if any of
//! them appears, changes or goes, the compilation is another one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files and bytes that are looked at, at most: more than any program has.
const FILES: usize = 2000;
const BYTES: usize = 64 << 20;

/// A file that may be included, with its content if it is there.
pub type Candidate = (PathBuf, Option<Vec<u8>>);

/// The names after `#include` in a text; `None` if one is a macro's, which only the preprocessor knows.
fn included_names(text: &[u8]) -> Option<Vec<String>> {
    // A line may go on behind a backslash.
    let text = String::from_utf8_lossy(text).replace("\\\r\n", "").replace("\\\n", "");
    let mut names = Vec::new();
    for (at, _) in text.match_indices("include") {
        let before = text[..at].trim_end_matches([' ', '\t']);
        let hash = before.ends_with('#') || before.ends_with("%:") || before.ends_with("??=");
        if !hash {
            // `#/* */include` and the like: rather not.
            if before.ends_with("*/") {
                return None;
            }
            continue;
        }
        let rest =
            text[at + "include".len()..].strip_prefix("_next").unwrap_or(&text[at + "include".len()..]);
        let rest = rest.trim_start_matches([' ', '\t']);
        let end = match rest.chars().next() {
            Some('"') => '"',
            Some('<') => '>',
            _ => return None,
        };
        let line = rest[1..].lines().next().unwrap_or_default();
        names.push(line.split_once(end)?.0.to_owned());
    }
    Some(names)
}

/// What a source may include from these folders; `None` if that cannot be told.
pub fn include_candidates(text: &[u8], folders: &[PathBuf]) -> Option<Vec<Candidate>> {
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    let mut bytes = 0;
    // Texts with the folder that they are in.
    let mut open: Vec<(Vec<u8>, Option<PathBuf>)> = vec![(text.to_vec(), None)];
    while let Some((text, own)) = open.pop() {
        for name in included_names(&text)? {
            let mut places: Vec<PathBuf> = folders.iter().chain(&own).map(|f| f.join(&name)).collect();
            if Path::new(&name).is_absolute() {
                places = vec![PathBuf::from(&name)];
            }
            for path in places {
                if !seen.insert(path.clone()) {
                    continue;
                }
                let content = if path.is_file() { std::fs::read(&path).ok() } else { None };
                if let Some(content) = &content {
                    bytes += content.len();
                    open.push((content.clone(), path.parent().map(Path::to_owned)));
                }
                all.push((path, content));
                if all.len() > FILES || bytes > BYTES {
                    return None;
                }
            }
        }
    }
    Some(all)
}

/// The words of options; blanks in quotes do not part them.
pub(crate) fn words(options: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for c in options.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                word.push(c);
            }
            c if c.is_whitespace() && !quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Folders that options name to include from.
pub(crate) fn include_folders(options: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut follows = false;
    for word in words(options) {
        if std::mem::take(&mut follows) {
            folders.push(PathBuf::from(word.trim_matches('"')));
        } else if word == "-I" {
            follows = true;
        } else if let Some(path) = word.strip_prefix("-I") {
            folders.push(PathBuf::from(path.trim_matches('"')));
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_wherever_they_stand() {
        let text = b"#include <a.h>\n # \t include \"b/c.h\" // x\n#inc\\\nlude \"d.h\"\nint included; /* include */";
        assert_eq!(included_names(text).unwrap(), ["a.h", "b/c.h", "d.h"]);
        assert!(included_names(b"#include NAME\n").is_none());
        assert!(included_names(b"#/**/include \"x\"\n").is_none());
        assert!(included_names(b"#include \"x\n").is_none());
    }

    #[test]
    fn what_is_missing_counts_too_and_circles_end() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        std::fs::create_dir_all(&one).unwrap();
        std::fs::create_dir_all(&two).unwrap();
        std::fs::write(two.join("a.h"), "#include \"b.h\"\n").unwrap();
        std::fs::write(two.join("b.h"), "#include \"a.h\"\n").unwrap();
        let all = include_candidates(b"#include <a.h>\n", &[one.clone(), two.clone()]).unwrap();
        let found: Vec<(PathBuf, bool)> = all.iter().map(|(p, c)| (p.clone(), c.is_some())).collect();
        for (path, there) in [
            (one.join("a.h"), false),
            (two.join("a.h"), true),
            (one.join("b.h"), false),
            (two.join("b.h"), true),
        ] {
            assert!(found.contains(&(path.clone(), there)), "{path:?}: {found:?}");
        }
        assert_eq!(found.len(), 4);
    }
}
