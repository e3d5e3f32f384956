//! The rooms and their doors: which crate may import which. A wrong import fails here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Room and what it may import, directly.
const ALLOWED: &[(&str, &[&str])] = &[
    ("envisa-isa", &[]),
    ("envisa-diag", &["envisa-isa"]),
    ("envisa-text", &["envisa-isa", "envisa-diag"]),
    ("envisa-binary", &["envisa-isa", "envisa-diag"]),
    ("envisa-smith", &["envisa-isa"]),
    // It shares nothing with what is held against it.
    ("envisa-model", &[]),
    ("envisa-zebin", &["envisa-isa", "envisa-diag"]),
    ("envisa-ocloc", &["envisa-zebin", "envisa-diag"]),
    ("envisa-verify", &["envisa-isa", "envisa-diag"]),
    ("envisa-lower", &["envisa-isa", "envisa-verify", "envisa-diag"]),
    ("envisa-sem", &["envisa-isa"]),
    ("envisa-machine", &["envisa-isa", "envisa-lower", "envisa-sem", "envisa-zebin"]),
    ("envisa-interp", &["envisa-isa", "envisa-lower", "envisa-machine", "envisa-sem"]),
    ("envisa-jit", &["envisa-isa", "envisa-lower", "envisa-machine", "envisa-sem"]),
    ("envisa-sanitize", &["envisa-isa", "envisa-lower", "envisa-machine"]),
    (
        "envisa",
        &[
            "envisa-isa",
            "envisa-diag",
            "envisa-text",
            "envisa-binary",
            "envisa-zebin",
            "envisa-verify",
            "envisa-lower",
            "envisa-sem",
            "envisa-machine",
            "envisa-interp",
            "envisa-jit",
            "envisa-sanitize",
        ],
    ),
    ("envisa-harness", &["envisa", "envisa-ocloc"]),
    ("envisa-client", &["envisa", "envisa-harness"]),
    ("envisa-reduce", &[]),
    ("envisa-debug", &["envisa"]),
    ("envisa-diff", &["envisa", "envisa-debug"]),
    (
        "envisa-cli",
        &[
            "envisa",
            "envisa-client",
            "envisa-debug",
            "envisa-diff",
            "envisa-harness",
            "envisa-ocloc",
            "envisa-reduce",
            "envisa-smith",
        ],
    ),
    (
        "envisa-suite",
        &["envisa", "envisa-client", "envisa-harness", "envisa-model", "envisa-ocloc", "envisa-smith"],
    ),
    ("envisa-runtime", &["envisa", "envisa-ocloc"]),
    ("envisa-opencl", &["envisa", "envisa-ocloc", "envisa-runtime"]),
    ("envisa-levelzero", &["envisa-runtime"]),
    ("envisa-python", &["envisa", "envisa-harness", "envisa-ocloc"]),
    ("envisa-fuzz-smoke", &["envisa", "envisa-debug", "envisa-harness", "envisa-smith"]),
];

#[test]
fn no_room_imports_what_it_must_not() {
    let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().expect("cargo metadata runs");
    let allowed: BTreeMap<&str, BTreeSet<&str>> =
        ALLOWED.iter().map(|(room, deps)| (*room, deps.iter().copied().collect())).collect();
    let mut seen = 0;
    for package in &metadata.packages {
        let name = package.name.as_str();
        let may = allowed.get(name).unwrap_or_else(|| panic!("`{name}` is not in the list of rooms"));
        for dep in &package.dependencies {
            // Tests may look further than the code: only what ships counts.
            if dep.kind == cargo_metadata::DependencyKind::Development || !dep.name.starts_with("envisa") {
                continue;
            }
            assert!(may.contains(dep.name.as_str()), "`{name}` must not import `{}`", dep.name);
            seen += 1;
        }
    }
    assert!(seen > 10, "the check looked at {seen} imports only");
}

/// Whoever uses a library beside others needs one version of what both use: no requirement may end before the next
/// version that breaks what was there.
#[test]
fn no_library_holds_others_back() {
    let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().expect("cargo metadata runs");
    let dependencies = metadata.packages.iter().flat_map(|p| &p.dependencies);
    let mut seen = 0;
    for dep in dependencies.filter(|d| d.path.is_none()) {
        let plain = dep.req.comparators.iter().all(|c| c.op == cargo_metadata::semver::Op::Caret);
        assert!(plain && dep.req.comparators.len() == 1, "{} {}", dep.name, dep.req);
        seen += 1;
    }
    assert!(seen > 20);
}

/// Lines that a Rust file has at most. `clippy.toml` says how many a function has at most.
const LINES: usize = 800;

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if path.is_dir() && !path.is_symlink() && name != "target" && !name.starts_with('.') {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// Targets that are said to have no tests are not compiled for tests, where they would be compiled a second time: nobody would
/// notice a test in one of them.
#[test]
fn what_is_not_tested_has_no_tests() {
    let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().expect("cargo metadata runs");
    let mut seen = 0;
    for target in metadata.packages.iter().flat_map(|p| &p.targets).filter(|t| !t.test) {
        let start = target.src_path.as_std_path();
        let folder = start.parent().expect("a folder");
        let mut files = vec![start.to_owned()];
        if folder.ends_with("src") && !target.is_bin() {
            files.clear();
            rust_files(folder, &mut files);
        }
        for path in files {
            let text = std::fs::read_to_string(&path).expect("UTF-8");
            assert!(
                !text.contains("#[test]"),
                "{} has a test, and its target has `test = false`",
                path.display()
            );
            seen += 1;
        }
    }
    assert!(seen > 50, "the check looked at {seen} files only");
}

#[test]
fn no_file_is_too_long() {
    let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().expect("cargo metadata runs");
    let mut files = Vec::new();
    for folder in ["crates", "python", "suite", "fuzz"] {
        rust_files(metadata.workspace_root.join(folder).as_std_path(), &mut files);
    }
    assert!(files.len() > 500, "the check looked at {} files only", files.len());
    let lines = |path: &PathBuf| std::fs::read_to_string(path).expect("UTF-8").lines().count();
    let long: Vec<String> = files
        .iter()
        .map(|path| (path, lines(path)))
        .filter(|(_, n)| *n > LINES)
        .map(|(path, n)| format!("{}: {n} lines", path.display()))
        .collect();
    assert!(
        long.is_empty(),
        "a file has at most {LINES} lines; move a part with a purpose of its own to a module or crate:\n{}",
        long.join("\n")
    );
}
