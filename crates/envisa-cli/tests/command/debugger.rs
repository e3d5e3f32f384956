//! `envisa debug` as people use it: its view of the whole screen in a pseudo-terminal, Ctrl-C, and code that no source is known of.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn debug(file: &str, options: &[&str], commands: &[&str]) -> String {
    let mut envisa = Command::new(env!("CARGO_BIN_EXE_envisa"));
    envisa.arg("debug").arg(root().join(file)).args(options);
    for command in commands {
        envisa.args(["-x", command]);
    }
    let out = envisa.stdin(Stdio::null()).output().expect("it starts");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

/// What a command said, of all that was printed; the first of that text.
fn said<'a>(out: &'a str, command: &str) -> &'a str {
    let (_, behind) = out.split_once(&format!("(envisa) {command}\n")).expect("the command");
    behind.split("(envisa) ").next().unwrap_or_default()
}

#[test]
fn functions_that_call_themselves_have_their_frames() {
    let options = ["--global", "64", "--local", "32", "--arg", "out=zeros:u32x2:64"];
    let commands = [
        "break fact",
        "run",
        "run",
        "run",
        "bt",
        "print $mask",
        "reverse-finish",
        "backtrace",
        "finish",
        "p $pc",
    ];
    let out = debug("suite/corpus/dg2/call/recursion.zebin", &options, &commands);
    // Work-item 3 calls it three times; the lanes before it have returned.
    let frames = said(&out, "bt");
    assert_eq!(frames.matches(" fact at ").count(), 3, "{out}");
    assert!(frames.lines().last().is_some_and(|l| l.starts_with("#3 recursion at ")), "{out}");
    assert_eq!(said(&out, "print $mask"), "(ulong) 248\n");
    assert_eq!(said(&out, "backtrace").matches(" fact at ").count(), 2, "{out}");
}

#[test]
fn vector_code_is_debugged_by_its_instructions() {
    let options = ["--global", "2", "--local", "1", "--arg", "0=iota:u32:32", "--arg", "1=zeros:u32:32"];
    let options = [&options[..], &["--arg", "2=u32:3"]].concat();
    let commands =
        ["break triangle", "run", "bt", "run", "backtrace", "stepi", "rsi", "threads", "run", "info"];
    let out = debug("crates/envisa/tests/vector/dg2/calls.zebin", &options, &commands);
    assert_eq!(said(&out, "bt").matches(" triangle at ").count(), 1, "{out}");
    assert_eq!(said(&out, "backtrace").matches(" triangle at ").count(), 2, "{out}");
    // There and back again.
    let (there, back) = (said(&out, "backtrace"), said(&out, "rsi"));
    let line = there.split_once(":triangle:").expect("a line").1.lines().next().expect("one");
    assert!(back.contains(&format!(":triangle:{line}, ")), "{out}");
}

#[test]
fn each_lane_counts_its_hits() {
    let source = root().join("fuzz/smoke/src/debugged.cl");
    let options = ["--source", source.to_str().expect("UTF-8"), "--global", "16", "--local", "16"];
    let options = [&options[..], &["--arg", "out=zeros:i32:16", "--arg", "n=3"]].concat();
    // Even work-items come there with j 0 and 2, odd ones with 1.
    let commands = [
        "break 15 if i % 2 == j % 2 hits >= 2",
        "break twice hits five",
        "info",
        "run",
        "print i * 10 + j",
        "continue",
        "p i * 10 + j",
        "c",
        "watch out[3] if n == 3 hits 2",
        "rc",
    ];
    let out = debug("fuzz/smoke/src/debugged.zebin", &options, &commands);
    assert_eq!(said(&out, "info"), "1 Line debugged.cl:15 if i % 2 == j % 2 hits >= 2\n", "{out}");
    assert!(
        said(&out, "break twice hits five").contains("error: `five` is not a hit count: write 5, >= 5"),
        "{out}"
    );
    assert_eq!(said(&out, "print i * 10 + j"), "(int) 2\n");
    assert_eq!(said(&out, "p i * 10 + j"), "(int) 82\n");
    assert!(said(&out, "c").contains("all groups have ended"), "{out}");
    assert!(said(&out, "rc").contains("breakpoint 1\n"), "{out}");
}

#[test]
fn variables_of_callers_are_looked_at() {
    let source = root().join("fuzz/smoke/src/debugged.cl");
    let options = ["--source", source.to_str().expect("UTF-8"), "--global", "16", "--local", "16"];
    let options = [&options[..], &["--arg", "out=zeros:i32:16", "--arg", "n=3"]].concat();
    let commands = ["break twice if x == 5", "run", "print s", "up", "p s", "frame 7", "down", "frame"];
    let out = debug("fuzz/smoke/src/debugged.zebin", &options, &commands);
    assert!(said(&out, "print s").contains("error: nothing is called `s` here"), "{out}");
    assert!(said(&out, "up").contains("#1 k at ") && said(&out, "up").contains(">   15"), "{out}");
    assert_eq!(said(&out, "p s"), "(S) {a = 5, f = {1.0, 2.0, 3.0}}\n");
    assert_eq!(said(&out, "frame 7"), "error: the thread has no frame 7\n");
    assert!(said(&out, "frame").contains("#0 twice at "), "{out}");
}

/// Sends keys to a debugger in a terminal of 120 columns and 40 rows, and looks at what comes.
struct Terminal {
    child: std::process::Child,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    fn new(command: &str) -> Option<Terminal> {
        let line = format!("stty rows 40 cols 120; exec {command}");
        let mut script = Command::new("script");
        script.args(["--quiet", "--return", "--command", &line, "/dev/null"]).env("TERM", "xterm");
        let child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(e) => {
                envisa_harness::testing::not_run(&format!("there is no `script`: {e}"));
                return None;
            }
        };
        let (send, screen) = channel();
        let mut out = child.stdout.take().expect("piped");
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = out.read(&mut bytes) {
                if send.send(bytes[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        Some(Terminal { child, screen, seen: String::new() })
    }

    fn send(&mut self, keys: &str) {
        self.seen.clear();
        let to = self.child.stdin.as_mut().expect("piped");
        to.write_all(keys.as_bytes()).and_then(|()| to.flush()).expect("it reads");
    }

    /// Waits until all of these have come since the last keys.
    fn see(&mut self, wanted: &[&str]) {
        let end = Instant::now() + Duration::from_secs(60);
        while !wanted.iter().all(|w| self.seen.contains(w)) {
            let left = end.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(more) => self.seen.push_str(&String::from_utf8_lossy(&more)),
                Err(e) => panic!("{e}: {wanted:?} is not in\n{}", self.seen),
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_view_shows_source_instructions_and_lanes() {
    let folder = root().join("fuzz/smoke/src");
    let command = format!(
        "{} debug {folder}/debugged.zebin --source {folder}/debugged.cl --global 16 --local 16 --arg out=zeros:i32:16 --arg n=3 \
         -x 'break 15' -x run",
        env!("CARGO_BIN_EXE_envisa"),
        folder = folder.display()
    );
    let Some(mut t) = Terminal::new(&command) else { return };
    t.see(&["breakpoint 1", "(envisa) "]);
    t.send("view\r");
    let line = "twice(s.a) + shared";
    t.see(&[
        "k at debugged.cl:15, group 0,0,0, thread 0, lane 0 (work-item 0)",
        ">  15     v.y +=",
        line,
        "svm_gather",
        "> 0 work-item 0",
        "  7 work-item 7",
        "(3, 3, 3, 3)",
        "q leave",
    ]);
    // The next lane; into the function; and back again.
    t.send("\x1b[B");
    t.see(&["lane 1 (work-item 1)", "> 1 work-item 1", "q leave"]);
    t.send("s");
    t.see(&["twice at debugged.cl:4", ">   4   int r = x + x;", "q leave"]);
    t.send("S");
    t.see(&["k at debugged.cl:15", line, "q leave"]);
    t.send(":print i * 100 + 5\r");
    t.see(&["(int) 105", "q leave"]);
    t.send("\t");
    t.see(&["thread 1, lane 0 (work-item 8)", "q leave"]);
    t.send("q");
    t.see(&["(envisa) "]);
    t.send("quit\r");
    let status = t.child.wait().expect("it ends");
    assert!(status.success(), "{status}");
}

#[test]
fn an_interrupt_stops_the_launch_and_not_the_debugger() {
    let folder = tempfile::tempdir().expect("a folder");
    let zebin = folder.path().join("endless.zebin");
    std::fs::copy(root().join("tests/cases/run/print_forever.zebin.in"), &zebin).expect("a copy");
    let mut envisa = Command::new(env!("CARGO_BIN_EXE_envisa"));
    envisa.arg("debug").arg(&zebin).args(["--global", "16", "--local", "8", "--arg", "flag=i32:0,0"]);
    envisa.args(["-x", "stepi", "-x", "run", "-x", "info clock", "-x", "rsi", "-x", "quit"]);
    let child = envisa.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it starts");
    // The program is in the loop by then; later is as good.
    std::thread::sleep(Duration::from_secs(2));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("it runs");
    assert!(kill.success());
    let out = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{:?}: {text}", out.status);
    assert!(said(&text, "run").contains("stopped\n"), "{text}");
    assert!(said(&text, "info clock").contains(" instructions since the launch began"), "{text}");
}
