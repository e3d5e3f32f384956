//! GPUVerify's test suite (github.com/mc-imperial/gpuverify, `testsuite/OpenCL`): kernels that it verifies for all inputs, or
//! refuses to. The first line of each says which (`//pass`, `//xfail:KIND`), the next one the sizes; messages that it has to
//! give may follow.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{Inputs, Program, Suite};

/// Work-items that are run at most: fewer groups than it says, where there are more.
const ITEMS: u64 = 1 << 12;

/// Findings that say that there is a race, or that not all come to a barrier.
const RACES: [&str; 7] = ["F0003", "F0004", "F0007", "F0018", "F0001", "F0024", "F0026"];
/// The same, and accesses outside.
const BOUNDS: [&str; 9] = ["F0001", "F0003", "F0004", "F0005", "F0007", "F0010", "F0018", "F0025", "F0008"];

/// Reads the suite.
///
/// # Errors
/// What cannot be read.
pub fn read(folder: &Path) -> Result<Suite, String> {
    let root = folder.join("testsuite/OpenCL");
    let mut files = Vec::new();
    find(&root, &mut files)?;
    files.sort();
    let mut suite = Suite {
        key: "gpuverify",
        about: "## GPUVerify's suite\n\nThe kernels of [GPUVerify](https://github.com/mc-imperial/gpuverify), `testsuite/OpenCL`, \
                which it verifies for all inputs, or refuses to verify. Here they run with few inputs: the numbers 0, 1 and 64, and buffers that contain one number or 0, 1, 2, … Its own annotations about values are ignored. A kernel with a bug should give a race or a barrier that not all work-items reach; where GPUVerify checks bounds or null pointers, an access out of bounds also counts. All other kernels should give none of these."
            .to_owned(),
        programs: Vec::new(),
        left_out: BTreeMap::new(),
    };
    for file in files {
        let text = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let name = file.parent().and_then(|p| p.strip_prefix(&root).ok()).unwrap_or(Path::new(""));
        match program(&name.display().to_string(), &String::from_utf8_lossy(&text)) {
            Ok(p) => suite.programs.push(p),
            Err(why) => *suite.left_out.entry(why.to_owned()).or_default() += 1,
        }
    }
    Ok(suite)
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for path in entries.filter_map(|e| Some(e.ok()?.path())) {
        if path.is_dir() {
            find(&path, files)?;
        } else if path.file_name().is_some_and(|n| n == "kernel.cl") {
            files.push(path);
        }
    }
    Ok(())
}

/// A kernel of it, or why it is not run.
fn program(name: &str, text: &str) -> Result<Program, &'static str> {
    let mut lines = text.lines();
    let verdict = lines.next().unwrap_or_default().trim();
    let options = lines.next().unwrap_or_default();
    let said: Vec<&str> = text.lines().skip(2).take_while(|l| l.starts_with("//")).collect();
    let bug = match verdict {
        "//pass" => false,
        "//xfail:NOT_ALL_VERIFIED" => true,
        _ => return Err("kernels that it refuses for another reason than a bug"),
    };
    let option = |key: &str| {
        let all = options.trim_start_matches('/').split_whitespace();
        all.filter_map(|o| o.strip_prefix(key)).find_map(|o| o.strip_prefix('='))
    };
    if ["--boogie-file", "--kernel-args", "--only-requires"].iter().any(|o| options.contains(o)) {
        return Err("files in its own language, or values on its command line");
    }
    let annotated =
        ["__assert", "__ensures", "__invariant", "__requires", "__function_wide_invariant", "__global_"]
            .iter()
            .any(|a| text.contains(a));
    let asks = said.join(" ");
    let about = ["race", "barrier", "bounds", "null"].iter().any(|w| asks.contains(w));
    if bug && annotated && !about {
        return Err("kernels that it refuses, perhaps because of statements about values");
    }
    let sizes = |text: Option<&str>| -> Option<Vec<u64>> {
        let text = text?.trim_matches(['[', ']', '(', ')']);
        text.split(',').map(|n| n.trim().parse::<u64>().ok().filter(|n| *n > 0)).collect()
    };
    let local = sizes(option("--local_size")).ok_or("sizes that are not numbers")?;
    let global = match (sizes(option("--num_groups")), sizes(option("--global_size"))) {
        (Some(groups), _) if groups.len() == local.len() => {
            groups.iter().zip(&local).map(|(g, l)| g * l).collect()
        }
        (_, Some(global)) if global.len() == local.len() => global,
        _ => return Err("sizes that are not numbers"),
    };
    let bounds = options.contains("--check-array-bounds") || asks.contains("null");
    Ok(Program {
        name: name.to_owned(),
        text: format!("{}\n#line 1\n{text}", annotations(text)),
        kernel: kernel(text),
        options: options
            .split_whitespace()
            .filter_map(|o| o.strip_prefix("--clang-opt="))
            .collect::<Vec<_>>()
            .join(" "),
        global: fewer(global, &local),
        local,
        inputs: Inputs::Any,
        bug,
        codes: if bounds { &BOUNDS } else { &RACES },
        says: if asks.is_empty() { verdict.trim_start_matches('/').to_owned() } else { asks },
        planted: None,
    })
}

/// The same with at most [`ITEMS`] work-items, but at least two groups where there were as many.
pub(super) fn fewer(mut global: Vec<u64>, local: &[u64]) -> Vec<u64> {
    while global.iter().product::<u64>() > ITEMS {
        let Some(most) =
            (0..global.len()).filter(|d| global[*d] / local[*d] > 2).max_by_key(|d| global[*d] / local[*d])
        else {
            break;
        };
        global[most] = global[most] / local[most] / 2 * local[most];
    }
    global
}

/// The name of the first kernel: the word before its parameters.
fn kernel(text: &str) -> String {
    let code: String =
        text.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let at = ["__kernel", "kernel"].iter().filter_map(|k| code.find(k)).min().unwrap_or(0);
    let mut words = code[at..].match_indices('(').map(|(open, _)| {
        let before = code[at..at + open].trim_end();
        before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
    });
    // An attribute has parentheses, too.
    let is_name = |w: &&str| !w.is_empty() && !w.starts_with("__attribute") && !w.starts_with("reqd");
    words.find(is_name).unwrap_or_default().to_owned()
}

/// Its annotations as macros of nothing: they say what values are, to nobody here.
fn annotations(text: &str) -> String {
    let of_the_language = ["__attribute__", "__attribute", "__spec_bar", "__spec_foo"];
    let mut names = BTreeSet::new();
    for (at, _) in text.match_indices("__") {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let name: String = text[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if text[at + name.len()..].starts_with('(') && !of_the_language.contains(&name.as_str()) {
            names.insert(name);
        }
    }
    // What stands for a value is one.
    let value = |n: &str| ["_int", "_bool", "_uint", "__ite", "enabled"].iter().any(|v| n.contains(v));
    let line = |n: &String| format!("#define {n}(...) {}", if value(n) { "0" } else { "((void)0)" });
    names.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_says_is_read() {
        let text = "//xfail:NOT_ALL_VERIFIED\n//--local_size=[8,4] --num_groups=[1024,2]\n//kernel.cl:3:[\\s]+error: possible race\n\
                    __attribute__((reqd_work_group_size(8,4,1))) __kernel void k(__global int *p) { __assert(p[0]); }";
        let p = program("a", text).expect("a program");
        assert_eq!((p.kernel.as_str(), &p.local, p.bug), ("k", &vec![8, 4], true));
        assert_eq!(p.global, [512, 8]);
        assert!(
            p.text.contains("#define __assert(...) ((void)0)") && !p.text.contains("#define __attribute__")
        );
        let why = program(
            "a",
            "//xfail:NOT_ALL_VERIFIED\n//--local_size=8 --num_groups=2\nkernel void k() { __assert(0); }",
        );
        assert!(why.is_err(), "statements about values are not ours");
        let k = "__attribute__((reqd_work_group_size(8, 1, 1)))\nkernel void k (global int *p) { p[get_local_id (0)] = 1; }";
        assert_eq!(kernel(k), "k", "a space before the parameters");
        assert_eq!(
            kernel(&k.replacen("kernel", "__kernel __attribute__ ((reqd_work_group_size (8, 1, 1)))", 1)),
            "k"
        );
        assert!(program("a", "//xfail:CLANG_ERROR\n//--local_size=8 --num_groups=2\n").is_err());
        assert_eq!(fewer(vec![1024 * 1024, 64], &[64, 8]).iter().product::<u64>(), ITEMS);
    }
}
