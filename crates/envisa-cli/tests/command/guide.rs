//! The guide's commands, run as it shows them.
//!
//! In `docs/GUIDE.md` a block ` ```LANGUAGE FILE ` is a file that the reader has written; a block ` ```console ` holds
//! commands after `$ ` and what they print. All run in one folder, in their order. `[..]` in a line stands for anything.
//!
//! `BLESS=1 cargo test -p envisa-cli --test command guide` writes what the commands print.

use std::path::{Path, PathBuf};
use std::process::Command;

fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/GUIDE.md")
}

/// A line of the guide that is to be run, what is shown below it, and where that is.
struct Step {
    command: String,
    shown: Vec<String>,
}

/// A block of the guide.
enum Block {
    File { name: String, text: String },
    Console(Vec<Step>),
}

/// The guide's parts in order: text that stays, and blocks.
fn parts(text: &str) -> Vec<Result<Block, String>> {
    let mut out = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            out.push(Err(line.to_owned()));
            continue;
        };
        let body: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
        match info.split_once(' ') {
            _ if info == "console" => {
                let mut steps: Vec<Step> = Vec::new();
                for line in body {
                    match (line.strip_prefix("$ "), steps.last_mut()) {
                        (Some(command), _) => {
                            steps.push(Step { command: command.to_owned(), shown: Vec::new() });
                        }
                        (None, Some(step)) => step.shown.push(line.to_owned()),
                        (None, None) => panic!("a console block begins with a command: {line}"),
                    }
                }
                out.push(Ok(Block::Console(steps)));
            }
            Some((_, name)) => {
                let text = body.iter().map(|l| format!("{l}\n")).collect();
                out.push(Err(line.to_owned()));
                out.extend(body.iter().map(|l| Err((*l).to_owned())));
                out.push(Err("```".to_owned()));
                out.push(Ok(Block::File { name: name.to_owned(), text }));
            }
            None => {
                out.push(Err(line.to_owned()));
                out.extend(body.iter().map(|l| Err((*l).to_owned())));
                out.push(Err("```".to_owned()));
            }
        }
    }
    out
}

/// Is a line as it is shown?
fn like(shown: &str, line: &str) -> bool {
    let mut parts = shown.split("[..]");
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// What differs from run to run is left open.
fn open(line: &str) -> String {
    if let Some((head, rest)) = line.split_once(" ms for ").filter(|(h, _)| h.starts_with("time ")) {
        let _ = head;
        return format!("time          [..] ms for {rest}");
    }
    match line.split_once("\"seconds\": ") {
        Some((head, rest)) => {
            format!("{head}\"seconds\": [..]{}", if rest.ends_with(',') { "," } else { "" })
        }
        None => line.to_owned(),
    }
}

/// Runs a command; gives what it prints, line by line, and how it ends.
fn run(command: &str, here: &Path, last: i32) -> (Vec<String>, i32) {
    let bin = Path::new(env!("CARGO_BIN_EXE_envisa")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("bash");
    shell.arg("-c").arg(format!("{{ {} ; }} 2>&1", command.replace("$?", &last.to_string())));
    shell.current_dir(here).env("PATH", format!("{}:{path}", bin.display()));
    for name in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "RUST_BACKTRACE"] {
        shell.env_remove(name);
    }
    let out = shell.output().expect("bash runs");
    let text = String::from_utf8(out.stdout).expect("text");
    assert!(!text.contains("panicked"), "{command}: {text}");
    (text.lines().map(str::to_owned).collect(), out.status.code().expect("an end"))
}

#[test]
fn every_command_of_the_guide_does_what_it_shows() {
    let compiler = Command::new("ocloc").arg("--help").output().is_ok();
    if !compiler {
        return envisa_harness::testing::not_run("the guide needs ocloc, Intel's offline compiler");
    }
    let bless = std::env::var_os("BLESS").is_some();
    let text = std::fs::read_to_string(guide()).expect("the guide");
    let folder = tempfile::tempdir().expect("a folder");
    let (mut last, mut commands, mut wrong) = (0, 0, Vec::new());
    let mut written = String::new();
    for part in parts(&text) {
        match part {
            Err(line) => written.push_str(&format!("{line}\n")),
            Ok(Block::File { name, text }) => {
                std::fs::write(folder.path().join(name), text).expect("a file");
            }
            Ok(Block::Console(steps)) => {
                written.push_str("```console\n");
                for step in steps {
                    commands += 1;
                    let (lines, code) = run(&step.command, folder.path(), last);
                    last = code;
                    let same = lines.len() == step.shown.len()
                        && lines.iter().zip(&step.shown).all(|(l, s)| like(s, l));
                    if !same && !bless {
                        wrong.push(format!("$ {}\n{}", step.command, lines.join("\n")));
                    }
                    let keep = if same { step.shown } else { lines.iter().map(|l| open(l)).collect() };
                    written.push_str(&format!("$ {}\n", step.command));
                    written.extend(keep.iter().map(|l| format!("{l}\n")));
                }
                written.push_str("```\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{} commands print something else:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(commands >= 20, "{commands} commands");
    if bless {
        std::fs::write(guide(), written).expect("the guide");
    }
}
