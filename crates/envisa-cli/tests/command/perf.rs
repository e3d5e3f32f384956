//! What `perf` is told of native code.

use std::path::Path;
use std::process::{Command, Stdio};

/// Runs the example `vadd` natively, with `ENVISA_PERF` set; gives its process number and what it said.
fn run(perf: &str, folder: &Path) -> (u32, String) {
    let job = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/vadd/job.toml");
    let child = Command::new(env!("CARGO_BIN_EXE_envisa"))
        .arg("run")
        .arg(job.canonicalize().expect("the example"))
        .args(["--engine", "jit"])
        .env("ENVISA_PERF", perf)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let pid = child.id();
    let out = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{said}");
    (pid, said)
}

#[test]
fn the_map_has_each_instruction_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let (pid, _) = run("map", folder.path());
    let path = format!("/tmp/perf-{pid}.map");
    let map = std::fs::read_to_string(&path).expect("the map");
    std::fs::remove_file(&path).expect("it can be removed");
    let mut end = 0;
    for (k, line) in map.lines().enumerate() {
        let mut words = line.splitn(3, ' ');
        let mut number = || u64::from_str_radix(words.next().expect("a number"), 16).expect("in hexadecimal");
        let (at, bytes) = (number(), number());
        let name = words.next().expect("a name");
        assert!(name.starts_with("vadd: "), "{line}");
        assert!(bytes > 0 && (k == 0 || at == end), "{line} does not go on where the last one ends, {end:x}");
        end = at + bytes;
    }
    for op in ["start", "Message", "Add"] {
        assert!(map.contains(op), "no {op} in\n{map}");
    }
}

#[test]
fn the_dump_is_one_of_functions() {
    let folder = tempfile::tempdir().expect("a folder");
    let (pid, _) = run("dump", folder.path());
    let dump = std::fs::read(folder.path().join(format!("jit-{pid}.dump"))).expect("the dump");
    let u32_at = |at: usize| u32::from_le_bytes(dump[at..at + 4].try_into().expect("four bytes"));
    assert_eq!((u32_at(0), u32_at(4), u32_at(8), u32_at(12)), (0x4a69_5444, 1, 40, 62));
    assert_eq!(u32_at(20), pid);
    let mut at = 40;
    while at < dump.len() {
        let (record, size) = (u32_at(at), u32_at(at + 4) as usize);
        assert_eq!(record, 0);
        assert_eq!(&dump[at + 56..at + 61], b"vadd\0");
        let code = u64::from_le_bytes(dump[at + 40..at + 48].try_into().expect("eight bytes")) as usize;
        assert_eq!(size, 56 + 5 + code);
        at += size;
    }
    assert!(at == dump.len() && at > 40, "no function");
}

#[test]
fn what_is_not_known_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, said) = run("graph", folder.path());
    assert!(said.contains("ENVISA_PERF is `graph`"), "{said}");
}
