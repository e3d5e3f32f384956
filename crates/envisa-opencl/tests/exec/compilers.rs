//! Which compiler compiles, and what is left of one that breaks down.

use super::{driver, exec_with};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The machine's `ocloc`, where the driver can be tested.
fn ocloc() -> Option<PathBuf> {
    driver()?;
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("ocloc")).find(|file| file.is_file())
}

fn script(file: &Path, text: &str) {
    std::fs::write(file, format!("#!/bin/sh\n{text}\n")).expect("written");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[test]
fn the_newest_compiler_that_knows_a_device_compiles_for_it() {
    let Some(ocloc) = ocloc() else { return };
    let folder = tempfile::tempdir().expect("made");
    let (cache, compiled) = (folder.path().join("cache"), folder.path().join("compiled"));
    let newest = folder.path().join("ocloc-99.1.2");
    let (mark, own) = (compiled.display(), ocloc.display());
    script(
        &newest,
        &format!(
            "case \"$1\" in --version) echo 99.1.2 ;; ids) [ \"$2\" = pvc ] ;; \
             *) echo \"$@\" >> '{mark}'; exec '{own}' \"$@\" ;; esac"
        ),
    );
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&path));
    let path = PathBuf::from(std::env::join_paths(path).expect("folders"));
    let run = |device: &str, more: &[(&str, &Path)]| {
        let environment = [&[("PATH", &*path), ("ENVISA_CACHE", &*cache)], more].concat();
        let (code, out, err) = exec_with(&["--device", device], "", &environment).expect("as before");
        assert!(code == 0 && out.contains("1 passed"), "{out}{err}");
        let times = std::fs::read_to_string(&compiled).map_or(0, |text| text.lines().count());
        (times, err)
    };
    assert_eq!(run("skl", &[]).0, 0, "it does not know it");
    let (first, log) = run("pvc", &[("ENVISA_LOG", Path::new("compiler"))]);
    assert!(first > 0 && log.contains("ocloc-99.1.2"), "{first}: {log}");
    assert_eq!(run("pvc", &[]).0, first, "from the cache");
    // Who names a compiler gets that one.
    assert_eq!(run("pvc", &[("ENVISA_OCLOC", &ocloc)]).0, first);
}

#[test]
fn what_a_compiler_broke_down_on_is_kept() {
    let Some(_) = ocloc() else { return };
    let folder = tempfile::tempdir().expect("made");
    let (cache, broken) = (folder.path().join("cache"), folder.path().join("ocloc"));
    script(&broken, "kill -ABRT $$");
    let environment = [("ENVISA_OCLOC", &*broken), ("ENVISA_CACHE", &*cache)];
    let (code, _, err) = exec_with(&["--device", "skl"], "", &environment).expect("as before");
    assert_ne!(code, 0);
    let (_, rest) =
        err.split_once("the compiler crashed (signal 6); this repeats it: sh ").expect("it is told");
    let repeat = rest.lines().next().and_then(|line| line.split_once(". Another")).expect("a sentence").0;
    // The text is there, and the command runs the same compiler on it.
    let text = std::fs::read_to_string(Path::new(repeat).with_file_name("source.cl")).expect("it is kept");
    assert!(text.contains("kernel void twice"), "{text}");
    script(&broken, "cat \"$4\"");
    let again = std::process::Command::new("sh").arg(repeat).output().expect("it starts");
    assert!(String::from_utf8_lossy(&again.stdout).contains("kernel void twice"));
}
