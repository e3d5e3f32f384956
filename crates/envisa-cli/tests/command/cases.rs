//! The command, run as people run it: every file under `tests/cases` says which commands to run, and what they
//! print, their exit codes and the files they leave are held against the `.out` beside it. Of a line `// CODE: command …` only the
//! exit code is.
//!
//! A case is any file with lines `// RUN: command …` or `# RUN: command …`. In commands `%s` is the case itself,
//! `%t` an empty folder for this case, `%r` the repository, `%d` the OpenCL driver; words are split at blanks, `'…'` keeps them; `a | b`
//! pipes, `< FILE` feeds standard input, `NAME=VALUE` before the command sets its environment. Besides `envisa`
//! there are a few helpers: `cat FILE`, `ls FOLDER`, `cp FROM TO`, `cut FILE N` (keeps N bytes), `poke FILE OFFSET
//! HEX`, `hex FILE`.
//!
//! A case may need what is not everywhere: `// NEEDS: ocloc cc` names programs, and `opencl` is what host programs are built and run
//! with: a compiler of C, the headers, a loader and the driver. Where one is missing the case is left
//! out, which is said, and fails if `ENVISA_REQUIRE_ORACLES` is set. `cc ARGS…` compiles a program of the host. A
//! command that runs longer than two minutes, or than `// WITHIN: 20` seconds, is ended and fails.
//!
//! `tests/cases/found` holds what was once wrong: a file for each mistake, named by what it is about, whose first
//! lines say what the right outcome is and why. To add one, put the file there (its kernels may be in the case
//! itself, or beside it in a file that ends in `.in`), run the line below with the mistake in place to see it in the
//! `.out`, and again with the mistake mended.
//!
//! `BLESS=1 cargo test -p envisa-cli --test command cases` rewrites what is expected, `CASES=found/` only of cases whose path
//! contains this.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// Files under a folder, sorted.
fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

/// What a command came to.
struct Ran {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Ran {
    fn fine(stdout: impl Into<Vec<u8>>) -> Ran {
        Ran { code: Some(0), stdout: stdout.into(), stderr: Vec::new() }
    }
}

/// Words of a command line: blanks split, quotes keep.
fn words(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !quoted => out.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    assert!(!quoted, "a quote is not closed: {line}");
    out.extend(word);
    out
}

fn helper(words: &[String], here: &Path) -> Option<Ran> {
    let path = |i: usize| here.join(&words[i]);
    let read = |i: usize| std::fs::read(path(i)).unwrap_or_else(|e| panic!("{}: {e}", words[i]));
    Some(match words[0].as_str() {
        "cat" => Ran::fine(read(1)),
        "hex" => Ran::fine(read(1).chunks(16).fold(String::new(), |mut s, row| {
            let row: Vec<String> = row.iter().map(|b| format!("{b:02x}")).collect();
            let _ = writeln!(s, "{}", row.join(" "));
            s
        })),
        // `names` is `ls` for files that hold paths, whose sizes differ from checkout to checkout.
        name @ ("ls" | "names") => {
            let mut all = Vec::new();
            files(&path(1), &mut all);
            Ran::fine(all.iter().fold(String::new(), |mut s, f| {
                let bytes = std::fs::metadata(f).expect("a file").len();
                let size = if name == "ls" { format!(" ({bytes} bytes)") } else { String::new() };
                let _ = writeln!(s, "{}{size}", f.strip_prefix(path(1)).expect("inside").display());
                s
            }))
        }
        "cp" => {
            std::fs::write(path(2), read(1)).expect("a copy");
            Ran::fine("")
        }
        "cut" => {
            let n: usize = words[2].parse().expect("a number");
            std::fs::write(path(1), &read(1)[..n]).expect("a file");
            Ran::fine("")
        }
        "poke" => {
            let mut bytes = read(1);
            let at: usize = words[2].parse().expect("an offset");
            for (i, digits) in words[3].as_bytes().chunks(2).enumerate() {
                let digits = std::str::from_utf8(digits).expect("hex");
                bytes[at + i] = u8::from_str_radix(digits, 16).expect("hex");
            }
            std::fs::write(path(1), bytes).expect("a file");
            Ran::fine("")
        }
        _ => return None,
    })
}

/// The OpenCL driver: tests leave it next to themselves, builds next to the command.
fn driver() -> PathBuf {
    let own = std::env::current_exe().expect("the test is a file").with_file_name("libenvisa_opencl.so");
    let built = || Path::new(env!("CARGO_BIN_EXE_envisa")).with_file_name("libenvisa_opencl.so");
    if own.is_file() { own } else { built() }
}

/// Can host programs be built and run?
fn has_opencl() -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("empty.c");
    std::fs::write(&source, "#include <CL/cl.h>\nint main(void) { return clGetPlatformIDs(0, 0, 0) & 0; }\n")
        .expect("a file");
    let built = Command::new("cc")
        .arg(source)
        .arg("-o")
        .arg(folder.path().join("empty"))
        .arg("-lOpenCL")
        .stderr(Stdio::null())
        .status();
    driver().is_file() && built.is_ok_and(|status| status.success())
}

/// Is there a program of this name?
fn installed(name: &str) -> bool {
    if name == "opencl" {
        return has_opencl();
    }
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|p| p.join(name).is_file())
}

/// The words behind `// HEAD:` or `# HEAD:` lines.
fn heads<'a>(text: &'a str, head: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| {
        let line = line.trim_start();
        let line = line.strip_prefix("//").or_else(|| line.strip_prefix('#'))?;
        Some(line.strip_prefix(' ')?.strip_prefix(head)?.strip_prefix(':')?.trim())
    })
}

/// Waits for a child for so long; one that needs longer is ended.
fn ended(child: &mut std::process::Child, within: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < within {
        if let Some(status) = child.try_wait().expect("a child") {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("a child that runs");
    child.wait().expect("a child");
    None
}

/// Runs one command with this standard input.
fn one(mut words: Vec<String>, here: &Path, input: Vec<u8>, within: Duration) -> Ran {
    if let Some(ran) = helper(&words, here) {
        return ran;
    }
    let program = if words[0] == "cc" { "cc" } else { env!("CARGO_BIN_EXE_envisa") };
    let mut command = Command::new(program);
    // The caller's terminal is not the case's.
    for name in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    while let Some((name, value)) = words[0].split_once('=') {
        command.env(name, value);
        words.remove(0);
    }
    assert!(["envisa", "cc"].contains(&words[0].as_str()), "unknown command {}", words[0]);
    command.args(&words[1..]).current_dir(here);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // Whoever does not read its input has closed it.
    let feed = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let read = |mut pipe: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).expect("a pipe");
            bytes
        })
    };
    let stdout = read(Box::new(child.stdout.take().expect("a pipe")));
    let stderr = read(Box::new(child.stderr.take().expect("a pipe")));
    let status = ended(&mut child, within);
    let status = status.unwrap_or_else(|| panic!("{words:?}: not done after {within:?}"));
    feed.join().expect("fed");
    let (stdout, stderr) = (stdout.join().expect("read"), stderr.join().expect("read"));
    Ran { code: status.code(), stdout, stderr }
}

fn run(line: &str, here: &Path, within: Duration) -> Ran {
    let mut input = Vec::new();
    let mut last = None;
    for part in line.split(" | ") {
        let mut words = words(part);
        if let Some(i) = words.iter().position(|w| w == "<") {
            input = std::fs::read(here.join(&words[i + 1])).expect("an input");
            words.drain(i..i + 2);
        }
        let ran = one(words, here, input, within);
        input = ran.stdout.clone();
        last = Some(ran);
    }
    last.expect("a command")
}

/// As a snapshot shows it: no machine's paths, no times.
fn shown(bytes: &[u8], scratch: &Path) -> String {
    let Ok(text) = std::str::from_utf8(bytes) else {
        let head: Vec<String> = bytes.iter().take(8).map(|b| format!("{b:02x}")).collect();
        return format!("<{} bytes: {} …>\n", bytes.len(), head.join(" "));
    };
    let mut text = text.to_owned();
    // A SARIF log repeats every rule's text: that is the rules' matter.
    if let Ok(mut log) = serde_json::from_str::<serde_json::Value>(&text)
        && let Some(rules) = log.pointer_mut("/runs/0/tool/driver/rules")
    {
        *rules = serde_json::Value::from("(all rules)");
        text = format!("{log:#}\n");
    }
    let mut out = String::new();
    for line in text
        .replace(&scratch.display().to_string(), "%t")
        .replace(&root().display().to_string(), "%r")
        .lines()
    {
        let timed = line.trim_start().starts_with("\"seconds\":");
        if let Some(rest) = line.strip_prefix("time ").and_then(|l| l.split_once(" ms")) {
            let _ = writeln!(out, "time          (some) ms{}", rest.1);
        } else if timed {
            let (key, _) = line.split_once(':').expect("a key");
            let _ = writeln!(out, "{key}: (some){}", if line.ends_with(',') { "," } else { "" });
        } else {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// What holds of every command, whatever it prints.
fn always(line: &str, ran: &Ran) {
    let code = ran.code.unwrap_or_else(|| panic!("{line}: died of a signal"));
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert!(!stderr.contains("panicked"), "{line}: {stderr}");
    if line.starts_with("envisa") {
        assert!((0..=3).contains(&code), "{line}: exit code {code}\n{stderr}");
    }
    if code == 2 && !line.contains(" check ") {
        assert!(!ran.stderr.is_empty() && ran.stdout.is_empty(), "{line}: errors go to standard error alone");
    }
    let json_lines = line.contains("--message-format json") && !line.contains(" run ");
    if json_lines {
        for l in stderr.lines() {
            serde_json::from_str::<serde_json::Value>(l).unwrap_or_else(|e| panic!("{line}: {e}: {l}"));
        }
    }
    if line.contains("--json") && !ran.stdout.is_empty() {
        serde_json::from_slice::<serde_json::Value>(&ran.stdout).unwrap_or_else(|e| panic!("{line}: {e}"));
    }
    if line.contains("--format json") {
        for l in String::from_utf8_lossy(&ran.stdout).lines() {
            serde_json::from_str::<serde_json::Value>(l).unwrap_or_else(|e| panic!("{line}: {e}: {l}"));
        }
    }
}

/// Runs a case; gives its transcript.
fn transcript(case: &Path, text: &str) -> String {
    let scratch = tempfile::tempdir().expect("a folder");
    let here = case.parent().expect("a folder");
    let name = case.file_name().expect("a name").to_string_lossy().into_owned();
    let mut out = String::new();
    let mut runs = 0;
    let within = heads(text, "WITHIN").next().map_or(120, |s| s.parse().expect("seconds"));
    let commands = text.lines().flat_map(|l| {
        let with = |head| heads(l, head).map(move |line| (line, head == "RUN"));
        with("RUN").chain(with("CODE"))
    });
    for (line, output) in commands {
        runs += 1;
        let full = line
            .replace("%s", &name)
            .replace("%t", &scratch.path().display().to_string())
            .replace("%r", &root().display().to_string())
            .replace("%d", &driver().display().to_string());
        let ran = run(&full, here, Duration::from_secs(within));
        always(line, &ran);
        let _ = writeln!(out, "$ {line}");
        if output {
            out.push_str(&shown(&ran.stdout, scratch.path()));
        }
        if output && !ran.stderr.is_empty() {
            let _ = writeln!(out, "--- standard error");
            out.push_str(&shown(&ran.stderr, scratch.path()));
        }
        let _ = writeln!(out, "=== exit code {}\n", ran.code.expect("checked"));
    }
    assert!(runs > 0, "{}: no line `// RUN: …`", case.display());
    out
}

/// Cases under a folder of `tests/cases`, or all but one of its folders.
fn hold(keep: impl Fn(&Path) -> bool) {
    let bless = std::env::var_os("BLESS").is_some();
    let only = std::env::var("CASES").unwrap_or_default();
    let mut all = Vec::new();
    files(&root().join("tests/cases"), &mut all);
    let mut wrong = Vec::new();
    let mut cases = 0;
    for path in all.iter().filter(|p| keep(p) && p.to_string_lossy().contains(&only)) {
        let kind = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        if kind == "out" {
            let case = path.with_extension("");
            assert!(case.exists(), "{}: belongs to no case", path.display());
            continue;
        }
        if kind == "in" || kind == "toml" && !std::fs::read_to_string(path).expect("a text").contains("RUN:")
        {
            // Data that cases name.
            continue;
        }
        cases += 1;
        let text = String::from_utf8_lossy(&std::fs::read(path).expect("a case")).into_owned();
        let needed = heads(&text, "NEEDS").flat_map(str::split_whitespace);
        let missing: Vec<&str> = needed.filter(|n| !installed(n)).collect();
        if !missing.is_empty() {
            let message = format!("{}: left out, {} is not there", path.display(), missing.join(", "));
            envisa_harness::testing::not_run(&message);
            continue;
        }
        let got = std::panic::catch_unwind(|| transcript(path, &text));
        let got = got.unwrap_or_else(|why| {
            let why = why.downcast::<String>().map_or("a panic".to_owned(), |s| *s);
            format!("no transcript: {why}\n")
        });
        let beside = PathBuf::from(format!("{}.out", path.display()));
        if bless {
            std::fs::write(&beside, got).expect("a file");
            continue;
        }
        let want = std::fs::read_to_string(&beside).unwrap_or_default();
        if want != got {
            wrong.push(format!("{}\n--- expected\n{want}\n--- got\n{got}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{} of {cases} differ:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(cases > 0 || !only.is_empty(), "no case was found");
}

/// What was once wrong.
fn was_found(path: &Path) -> bool {
    path.starts_with(root().join("tests/cases/found"))
}

#[test]
fn commands_do_what_their_cases_show() {
    hold(|path| !was_found(path));
}

#[test]
fn what_was_found_wrong_stays_right() {
    hold(was_found);
}
