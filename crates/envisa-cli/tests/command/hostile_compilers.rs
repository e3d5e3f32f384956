//! Campaigns with compilers and drivers that hang, crash, flood and lie: each program has that for its result, in bounded time, and
//! nothing of them is left running.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Compilers, as the body of a shell script, and what the page says of them.
const COMPILERS: [(&str, &str, &str); 10] = [
    ("hangs", "sleep 1000", "the process took too long"),
    ("leaves-a-child-with-its-pipes", "sleep 1000 & exit 0", "the process took too long"),
    ("is-gone", "exit 0", "the compiler: exit status: 0"),
    ("refuses", "echo error: no >&2; exit 3", "the compiler: exit status: 3"),
    ("crashes", "kill -SEGV $$", "the compiler: the compiler crashed, signal: 11"),
    ("prints-without-end", "yes", "the process took too long"),
    ("fills-the-disk", "mkdir -p out; yes > out/module", "the compiler: "),
    ("wants-all-memory", "python3 -c 'import mmap; mmap.mmap(-1, 17 << 30)'", "the compiler: exit status: 1"),
    (
        "writes-rubbish",
        "mkdir -p out; head -c 5000 /dev/urandom > out/module",
        "the compiler: ocloc's output: ",
    ),
    (
        "writes-an-empty-elf",
        "mkdir -p out; printf '\\177ELF\\2\\1\\1' > out/module",
        "the compiler: ocloc's output: ",
    ),
];

/// Drivers, as what a library does when it is opened, and what the page says of them.
const DRIVERS: [(&str, &str, &str); 5] = [
    ("hangs", "for (;;) ;", "the process took too long"),
    ("crashes", "*(volatile int *)0 = 1;", "the process ended by a signal"),
    ("wants-all-memory", "while (malloc(1 << 30)) ; abort();", "the process ended by a signal"),
    ("ends-the-process", "exit(0);", "the process exit code 0"),
    ("is-no-driver", "", "the process exit code 2"),
];

fn campaign(folder: &Path, side: &[&str]) -> (Output, Duration) {
    let start = Instant::now();
    let common =
        ["campaign", "found", "--programs", "2", "--device", "dg2", "--level", "optimised", "--timeout", "2"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_envisa"));
    let out = command.current_dir(folder).args(common).args(["--reductions", "0"]).args(side).output();
    (out.expect("it runs"), start.elapsed())
}

/// What a page says of a side: there are no results, and why.
fn shows_failures(name: &str, side: &str, why: &str, out: &Output, took: Duration) {
    let (page, err) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert_eq!(out.status.code(), Some(1), "{name}: {page}{err}");
    assert!(page.contains(&format!("| {side} | 0 | 0 | 2 |")), "{name}: {page}{err}");
    assert!(page.contains(&format!("| {side}: {why}")), "{name}: {page}{err}");
    assert!(took < Duration::from_secs(60), "{name}: {took:?}");
}

#[test]
fn compilers_that_fail_in_any_way_fail_by_program() {
    let dir = tempfile::tempdir().expect("a folder");
    std::thread::scope(|scope| {
        for (name, body, why) in COMPILERS {
            let folder = dir.path().join(name);
            scope.spawn(move || {
                std::fs::create_dir(&folder).expect("a folder");
                let script = folder.join("ocloc");
                std::fs::write(&script, format!("#!/bin/sh\n{body}\n")).expect("it is written");
                std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755))
                    .expect("it is its owner's");
                let (out, took) = campaign(&folder, &["--compiler", &format!("fake={}", script.display())]);
                shows_failures(name, "fake, dg2", why, &out, took);
            });
        }
    });
    // Whatever a script started has its folder's name in its command line, or is a child of one that has.
    let left = Command::new("ps").args(["-eo", "args"]).output().expect("ps");
    let left = String::from_utf8_lossy(&left.stdout);
    assert!(!left.contains(&*dir.path().to_string_lossy()), "{left}");
}

#[test]
fn drivers_that_fail_in_any_way_fail_by_program() {
    if !Path::new("/etc/OpenCL/vendors").is_dir() {
        return envisa_harness::testing::not_run("there is no OpenCL loader (Debian: ocl-icd-libopencl1)");
    }
    let dir = tempfile::tempdir().expect("a folder");
    for (name, body, why) in DRIVERS {
        let folder = dir.path().join(name);
        std::fs::create_dir(&folder).expect("a folder");
        let (source, library) = (folder.join("fake.c"), folder.join("fake.so"));
        let text = format!(
            "#include <stdlib.h>\n__attribute__((constructor)) static void opened(void) {{ {body} }}\n"
        );
        std::fs::write(&source, text).expect("it is written");
        let made =
            Command::new("cc").args(["-shared", "-fPIC", "-w", "-o"]).args([&library, &source]).status();
        assert!(made.is_ok_and(|s| s.success()), "{name}: cc");
        let driver = format!("fake={}", library.display());
        let (out, took) = campaign(&folder, &["--compiler", "none=/nonexistent", "--driver", &driver]);
        shows_failures(name, "fake", why, &out, took);
    }
}
