//! The examples do what they say, and the README's commands print what it shows.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, target).expect("a copy");
        }
    }
}

/// A folder with the examples in it, as the repository has them.
fn sandbox() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    copy(&root().join("examples"), &dir.path().join("examples"));
    dir
}

fn envisa(args: &[String], here: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_envisa"))
        .args(args)
        .current_dir(here)
        .output()
        .expect("the command runs")
}

#[test]
fn every_job_passes() {
    let dir = sandbox();
    let mut jobs = 0;
    for entry in std::fs::read_dir(dir.path().join("examples")).expect("examples") {
        let job = entry.expect("an entry").path().join("job.toml");
        let text = std::fs::read_to_string(&job).expect("each example has a job");
        jobs += 1;
        let out = envisa(&["run".into(), job.display().to_string()], dir.path());
        let (stdout, stderr) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        let want = if text.lines().next().is_some_and(|l| l.contains("exit code 1")) { 1 } else { 0 };
        assert_eq!(out.status.code(), Some(want), "{}\n{stdout}\n{stderr}", job.display());
        assert!(want == 1 || stderr.is_empty(), "{}: {stderr}", job.display());
        assert!(!stdout.contains("NOT as expected"), "{}\n{stdout}", job.display());
    }
    assert!(jobs >= 7, "{jobs} examples");
}

fn picture(path: &Path) -> (u64, u64, Vec<u8>) {
    let value = envisa_harness::values::HostValue::read(path, 1 << 24).expect("a picture");
    assert_eq!(value.shape[2], 4, "RGBA");
    (value.shape[1], value.shape[0], value.bytes)
}

/// The picture that comes out is the one that the source of the kernel says.
#[test]
fn the_picture_is_embossed() {
    let dir = sandbox();
    let out = envisa(&["run".into(), "examples/image/job.toml".into()], dir.path());
    assert!(out.status.success());
    let (w, h, from) = picture(&dir.path().join("examples/image/in.png"));
    let (w2, h2, to) = picture(&dir.path().join("examples/image/out.png"));
    assert_eq!((w, h), (w2, h2));
    let at = |x: u64, y: u64, c: u64| f32::from(from[((y * w + x) * 4 + c) as usize]) / 255.0;
    for y in 0..h {
        for x in 0..w {
            let d: f32 = (0..3).map(|c| at(x, y, c) - at(x.saturating_sub(1), y.saturating_sub(1), c)).sum();
            let want = ((0.5 + d).clamp(0.0, 1.0) * 255.0).round();
            let got = f32::from(to[((y * w + x) * 4) as usize]);
            // One step: the order of additions is the compiler's.
            assert!((want - got).abs() <= 1.0, "{x},{y}: expected {want}, got {got}");
        }
    }
}

/// A piece of the README: prose, or a command with what it prints, in a block that starts with ```console.
enum Piece {
    Lines(String),
    Command { shown: String, command: String, prints: String },
}

fn pieces(readme: &str) -> Vec<Piece> {
    let mut out = vec![Piece::Lines(String::new())];
    let mut inside = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
            if !matches!(out.last(), Some(Piece::Lines(_))) {
                out.push(Piece::Lines(String::new()));
            }
        } else if inside {
            if let Some(command) = line.strip_prefix("$ ") {
                let shown = format!("{line}\n");
                out.push(Piece::Command { shown, command: command.to_owned(), prints: String::new() });
                continue;
            }
            let Some(Piece::Command { shown, command, prints }) = out.last_mut() else {
                panic!("a block starts with a command: {line}")
            };
            if command.ends_with('\\') {
                command.pop();
                command.push_str(line.trim_start());
                shown.push_str(line);
                shown.push('\n');
            } else {
                prints.push_str(line);
                prints.push('\n');
            }
            continue;
        }
        if let Some(Piece::Lines(text)) = out.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    out
}

/// Times differ; nothing else does.
fn tidy(text: &str) -> String {
    let times = |l: &str| if l.starts_with("time ") { "time".to_owned() } else { l.trim_end().to_owned() };
    text.lines().map(times).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// `BLESS=1 cargo test -p envisa-cli --test command examples` rewrites what the README shows.
#[test]
fn the_readme_shows_what_happens() {
    let path = root().join("README.md");
    let readme = std::fs::read_to_string(&path).expect("a README");
    let dir = sandbox();
    let (mut ran, mut blessed) = (0, String::new());
    for piece in pieces(&readme) {
        let (shown, command, prints) = match piece {
            Piece::Lines(text) => {
                blessed.push_str(&text);
                continue;
            }
            Piece::Command { shown, command, prints } => (shown, command, prints),
        };
        blessed.push_str(&shown);
        let command = command.split(" #").next().expect("a command").trim();
        let line =
            command.strip_prefix("cargo run --release -- ").or_else(|| command.strip_prefix("envisa "));
        let needs_compiler = line.is_some_and(|l| l.starts_with("build"));
        let (Some(line), false) = (line, needs_compiler && Command::new("ocloc").output().is_err()) else {
            // The tests themselves; and what needs a compiler that is not here.
            assert!(command.starts_with("cargo ") || needs_compiler, "what is this: {command}");
            blessed.push_str(&prints);
            continue;
        };
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let out = envisa(&args, dir.path());
        // As on a terminal: what is printed, then what is said about it.
        let got = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        blessed.push_str(got.trim_end());
        if !got.trim().is_empty() {
            blessed.push('\n');
        }
        if std::env::var_os("BLESS").is_none() {
            assert_eq!(
                tidy(&got),
                tidy(&prints),
                "\nthe README shows something else after: {command}\n{got}"
            );
        }
        ran += 1;
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, blessed).expect("a README");
    }
    assert!(ran >= 10, "{ran} commands");
}

#[test]
fn a_job_is_reduced_to_a_folder_that_has_all_it_needs() {
    let dir = sandbox();
    let reduce = |message: &str| {
        let words =
            ["reduce", "examples/scatter/job.toml", "-o", "small", "--tries", "400", "--message", message];
        envisa(&words.map(String::from), dir.path())
    };
    let out = reduce("no such text");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("does not print `no such text`"), "{said}");
    let wanted = "T6 (8 x f32): 7, 6, 5, 4";
    let out = reduce(wanted);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    // In another place, and with nothing but what is in it.
    let (small, moved) = (dir.path().join("small"), dir.path().join("moved"));
    std::fs::rename(small, &moved).expect("it is there");
    std::fs::remove_dir_all(dir.path().join("examples")).expect("they are there");
    let job = std::fs::read_to_string(moved.join("reduced.toml")).expect("a job");
    assert!(!job.contains("expect") && job.contains("Places"), "{job}");
    let lines = |name: &str| std::fs::read_to_string(moved.join(name)).expect("a program").lines().count();
    assert!(lines("program.visaasm") < lines("original.visaasm"));
    let path = Path::new(env!("CARGO_BIN_EXE_envisa")).parent().expect("a folder").display().to_string();
    let again =
        Command::new("sh").arg(moved.join("reproduce.sh")).env("PATH", path + ":/usr/bin:/bin").output();
    let again = again.expect("it runs");
    let said = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(said.contains(wanted), "{said}{}", String::from_utf8_lossy(&again.stderr));
}
