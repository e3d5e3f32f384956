//! Circles inside of rooms: which modules of a crate know each other through others, by the `crate::…` paths in their
//! sources. A circle that is not listed here fails, and so does one that is listed and gone.
//!
//! Methods are not seen where they are called: a type whose methods are spread over modules counts where it is named.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Crate, modules that know each other, and why that is so.
const CIRCLES: &[(&str, &[&str], &str)] = &[
    (
        "envisa",
        &[
            "bound_arguments",
            "buffer",
            "causes",
            "device",
            "engine_choice",
            "fault",
            "finding",
            "image",
            "kernel",
            "launch",
            "module",
            "observe",
            "profile",
            "run",
            "source",
            "run_statistics",
        ],
        "an interface of objects that give each other out: a device makes buffers and runs launches of kernels, which \
         say what device they are of",
    ),
    (
        "envisa-binary",
        &["damaged", "reader"],
        "the reader hands over files of releases that left operands out, which are read by its own tables",
    ),
    (
        "envisa-debug",
        &["breakpoints", "finding_stops", "lane_view", "session"],
        "a session stops at breakpoints and findings, whose conditions and times are looked for in the session",
    ),
    (
        "envisa-interp",
        &["decode", "operand_parts"],
        "an instruction without a handler of its own becomes several that are decoded like any other",
    ),
    (
        "envisa-jit",
        &["emit", "sites"],
        "code and the memory that it finds again agree on the form of addresses",
    ),
    (
        "envisa-opencl",
        &["api", "core"],
        "errors of the C interface are those of its objects, whose handles begin with its table",
    ),
    (
        "envisa-runtime",
        &["host_memory", "undefined_content"],
        "memory that has no content is filled with words by which it is seen what the application wrote",
    ),
    (
        "envisa-sem",
        &["convert", "float"],
        "floats of 16 bits compute by way of wider ones, and conversions are between all floats",
    ),
    ("envisa-zebin", &["yaml", "ze_info"], "the errors of the metadata's reader are those of its text"),
];

/// The sources below a folder, with the module of the crate that each belongs to.
fn sources(src: &Path) -> Vec<(String, String)> {
    fn walk(folder: &Path, src: &Path, out: &mut Vec<(String, String)>) {
        let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                walk(&path, src, out);
                continue;
            }
            let inside = path.strip_prefix(src).expect("below it");
            let of_tests = inside.iter().any(|part| part == "tests" || part == "tests.rs");
            if of_tests || inside.extension().is_none_or(|e| e != "rs") {
                continue;
            }
            let first = inside.iter().next().and_then(|p| p.to_str()).expect("a name");
            let text = std::fs::read_to_string(&path).expect("a source");
            out.push((first.trim_end_matches(".rs").to_owned(), shipped(&text)));
        }
    }
    let mut out = Vec::new();
    walk(src, src, &mut out);
    out
}

/// A source without comments, and without a module of tests, which stands at its end. Tests in a file of their own are
/// one line, after which the root goes on.
fn shipped(text: &str) -> String {
    let tests = text.match_indices("#[cfg(test)]\nmod ").find(|(at, m)| {
        let rest = &text[at + m.len()..];
        rest[name_at(rest).len()..].starts_with(" {")
    });
    let code = tests.map_or(text, |(at, _)| &text[..at]);
    code.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn name_at(text: &str) -> &str {
    &text[..text.find(|c| !is_name(c)).unwrap_or(text.len())]
}

/// The names right behind each `prefix`, of a group in braces all.
fn names_behind(text: &str, prefix: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in text.match_indices(prefix) {
        if text[..at].ends_with(|c| is_name(c) || c == '$' || c == ':') {
            continue;
        }
        let rest = &text[at + prefix.len()..];
        if !rest.starts_with('{') {
            names.insert(name_at(rest).to_owned());
            continue;
        }
        let mut depth = 0;
        let mut expects = false;
        for (i, c) in rest.char_indices() {
            match c {
                '{' => (depth, expects) = (depth + 1, depth == 0),
                '}' => depth -= 1,
                ',' => expects = depth == 1,
                c if expects && is_name(c) => {
                    names.insert(name_at(&rest[i..]).to_owned());
                    expects = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    names
}

/// Names at the root of a crate, and the modules that they are of: modules, and what the root takes from them.
fn root(lib: &str, sources: &[(String, String)]) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for line in lib.lines().map(str::trim_start) {
        let line = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
        if let Some(name) = line.strip_prefix("mod ").and_then(|l| l.strip_suffix(';')) {
            out.insert(name.to_owned(), name.to_owned());
        }
    }
    let modules: Vec<String> = out.keys().cloned().collect();
    for module in &modules {
        for name in names_behind(lib, &format!("{module}::")) {
            out.entry(name).or_insert_with(|| module.clone());
        }
        if !lib.contains(&format!("{module}::*")) {
            continue;
        }
        for (_, text) in sources.iter().filter(|(of, _)| of == module) {
            for line in text.lines().filter_map(|l| l.strip_prefix("pub ")) {
                let words = ["struct ", "enum ", "fn ", "const fn ", "type ", "trait ", "const ", "static "];
                for word in words {
                    if let Some(rest) = line.strip_prefix(word) {
                        out.entry(name_at(rest).to_owned()).or_insert_with(|| module.clone());
                    }
                }
            }
        }
    }
    out
}

type Edges = BTreeMap<String, BTreeSet<String>>;

fn edges(src: &Path) -> Edges {
    let sources = sources(src);
    let lib = sources.iter().find(|(of, _)| of == "lib").map_or("", |(_, text)| text);
    let root = root(lib, &sources);
    let mut edges = Edges::new();
    for (of, text) in sources.iter().filter(|(of, _)| of != "lib" && of != "main") {
        let to = edges.entry(of.clone()).or_default();
        let known = names_behind(text, "crate::");
        to.extend(known.iter().filter_map(|name| root.get(name)).filter(|m| *m != of).cloned());
    }
    edges
}

fn reaches(edges: &Edges, from: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = vec![from];
    while let Some(at) = open.pop() {
        for next in edges.get(at).into_iter().flatten() {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    seen
}

/// Sets of modules of which each reaches every other.
fn circles(edges: &Edges) -> BTreeSet<BTreeSet<String>> {
    let reach: BTreeMap<&String, BTreeSet<String>> = edges.keys().map(|m| (m, reaches(edges, m))).collect();
    let circle = |m: &String| -> BTreeSet<String> {
        reach[m].iter().filter(|o| reach.get(o).is_some_and(|r| r.contains(m))).cloned().collect()
    };
    edges.keys().map(circle).filter(|c| c.len() > 1).collect()
}

#[test]
fn modules_know_each_other_one_way() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = BTreeSet::new();
    let mut seen = 0;
    let mut looked: BTreeMap<String, Edges> = BTreeMap::new();
    for entry in std::fs::read_dir(&crates).expect("the crates") {
        let folder = entry.expect("an entry").path();
        let name = folder.file_name().and_then(|n| n.to_str()).expect("a name").to_owned();
        if !folder.join("src/lib.rs").exists() {
            continue;
        }
        let edges = edges(&folder.join("src"));
        seen += edges.values().map(BTreeSet::len).sum::<usize>();
        found.extend(circles(&edges).into_iter().map(|c| (name.clone(), c)));
        looked.insert(name, edges);
    }
    assert!(seen > 300 && looked.len() > 12, "{seen} paths of {} crates were looked at", looked.len());
    let listed: BTreeSet<(String, BTreeSet<String>)> = CIRCLES
        .iter()
        .map(|(name, modules, _)| ((*name).to_owned(), modules.iter().map(|m| (*m).to_owned()).collect()))
        .collect();
    let mut new = String::new();
    for (name, circle) in found.difference(&listed) {
        new += &format!("{name}: {circle:?}\n");
        for m in circle {
            let inside: Vec<_> = looked[name][m].intersection(circle).collect();
            new += &format!("  {m} -> {inside:?}\n");
        }
    }
    assert!(new.is_empty(), "circles that are not listed:\n{new}");
    if let Some((name, circle)) = listed.difference(&found).next() {
        panic!("{name}: {circle:?} is listed and no circle any more");
    }
    assert!(CIRCLES.iter().all(|(.., why)| !why.is_empty()), "a circle is listed without a reason");
}

#[test]
fn circles_are_found() {
    let names = |text: &str| names_behind(text, "crate::").into_iter().collect::<Vec<_>>();
    assert_eq!(names("use crate::{a, b::{c, d}, e};"), ["a", "b", "e"]);
    assert_eq!(names("x: crate::inst::Ops, $crate::other"), ["inst"]);
    let to = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<BTreeSet<_>>();
    let edges = Edges::from([
        ("a".to_owned(), to(&["b"])),
        ("b".to_owned(), to(&["c", "d"])),
        ("c".to_owned(), to(&["a"])),
        ("d".to_owned(), to(&[])),
    ]);
    assert_eq!(circles(&edges), BTreeSet::from([to(&["a", "b", "c"])]));
    // A root goes on behind tests that have a file; code ends before those that are here.
    let lib = "mod a;\n#[cfg(test)]\nmod tests;\nmod b;\n#[cfg(test)]\nmod inner {\nmod c;\n}";
    assert!(shipped(lib).contains("mod b;") && !shipped(lib).contains("mod c;"), "{}", shipped(lib));
}
