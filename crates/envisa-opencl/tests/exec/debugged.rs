//! `envisa exec --debug`: launches of programs, in the terminal and by an editor.

use super::{exec, exec_command, exec_with};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program stops at the launch that is asked for, with the memory of that launch, and goes on as if nothing were.
#[test]
fn a_launch_of_a_program_is_debugged() {
    let commands = ["-x", "break 4", "-x", "run", "-x", "print i", "-x", "print x[5]", "-x", "quit"];
    let with =
        |options: &[&str], does: &str| exec(&[&["--device", "dg2"], options, &commands[..]].concat(), does);
    // Line 4 doubles the element: it is 1 before the first launch, 2 before the second.
    for (place, element) in [("--debug", "1"), ("--debug=twice:2", "2")] {
        let Some((code, out, err)) = with(&[place], "") else { return };
        assert_eq!(code, 0, "{err}");
        let printed: Vec<&str> = out.lines().filter(|l| **l == format!("(int) {element}")).collect();
        assert!(!printed.is_empty() && out.contains("1 passed"), "{place}: {out}");
    }
    // The first launch that faults is the one of `wild`.
    let (_, out, err) = with(&["--debug=wrong"], "wild").expect("as before");
    assert!(out.contains("wild"), "{out}{err}");
    let (code, _, err) = with(&["--debug=nothing"], "").expect("as before");
    assert!(code == 0 && err.contains("no launch was the one to stop at"), "{code}: {err}");
}

/// Variables of programs that are linked are there, in each of their texts; of SPIR-V without debug information, arguments
/// and instructions.
#[test]
fn launches_of_linked_programs_and_of_spirv_are_debugged() {
    let options = ["--device", "dg2", "--debug=joined", "-x", "break thrice", "-x", "run", "-x", "next"];
    let more = ["-x", "print y", "-x", "bt", "-x", "finish", "-x", "print *p", "-x", "quit"];
    let Some((code, out, err)) = exec(&[&options[..], &more[..]].concat(), "linked") else { return };
    assert!(code == 0 && out.contains("1 passed"), "{out}{err}");
    assert!(out.contains("(int) 42") && out.contains("(int) 14"), "{out}");
    assert!(out.contains("#0 thrice") && out.contains("#1 joined"), "{out}");
    let options =
        ["--device", "dg2", "--debug=k", "-x", "args", "-x", "stepi", "-x", "disassemble", "-x", "quit"];
    let (code, out, err) = exec(&options, "unnamed").expect("as before");
    assert!(code == 0 && out.contains("1 passed") && !out.contains("error:"), "{out}{err}");
    assert!(out.contains("kernel k:") && out.contains("(M1"), "{out}");
}

const SUMS: &str = "typedef struct { int a; float f[3]; } S;
int twice(int x) {
  int r = x + x;
  return r;
}
kernel void sums(global int *out, int n) {
  int i = get_global_id(0);
  S s = { i, { 1, 2, 3 } };
  for (int j = 0; j < n; j++)
    s.a += twice(j);
  out[i] = s.a;
}
";

/// SPIR-V has the lines and variables that its own compiler kept; where that optimised, it is said.
#[test]
fn launches_of_spirv_with_debug_information_are_debugged() {
    let folder = tempfile::tempdir().expect("made");
    let source = folder.path().join("sums.cl");
    std::fs::write(&source, SUMS).expect("written");
    let made = |options: &str, to: &str| {
        let to = folder.path().join(to);
        let mut ocloc = Command::new("ocloc");
        ocloc.args(["compile", "-spv_only", "-device", "dg2", "-options", options, "-file"]).arg(&source);
        let out = ocloc.arg("-out_dir").arg(&to).output();
        let Ok(out) = out else {
            crate::not_run("ocloc is not there");
            return None;
        };
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
        let mut files = std::fs::read_dir(to).expect("there").map(|f| f.expect("one").path());
        files.find(|f| f.extension().is_some_and(|e| e == "spv"))
    };
    let source = source.to_str().expect("UTF-8");
    let commands =
        ["break 10 if i == 5", "run", "print s", "print j", "list", "step", "print r", "bt", "run", "quit"];
    let options = ["--device", "dg2", "--debug=sums", "--source", source].into_iter();
    let options: Vec<&str> = options.chain(commands.iter().flat_map(|c| ["-x", c])).collect();
    let Some(kept) = made("-g -cl-opt-disable", "kept") else { return };
    let with = |file: &Path| exec_with(&options, "spirv", &[("SPIRV", file)]);
    let Some((code, out, err)) = with(&kept) else { return };
    assert!(code == 0 && out.contains("1 passed"), "{out}{err}");
    assert!(out.contains("(S) {a = 5, f = {1.0, 2.0, 3.0}}\n") && out.contains("(int) 0\n"), "{out}");
    assert!(out.contains(">   10      s.a += twice(j);") && out.contains("#0 twice at "), "{out}");
    let optimised = made("-g", "optimised").expect("as before");
    let (code, out, err) = with(&optimised).expect("as before");
    assert!(code == 0 && out.contains("1 passed"), "{out}{err}");
    assert!(out.contains(">   10      s.a += twice(j);") && out.contains("#0 twice at "), "{out}");
    assert!(out.contains("not kept by the optimised build") && out.contains("SPIR-V"), "{out}");
}

/// What an editor asks: a breakpoint in a function, a value there, and one in its own file of the text that the program has.
fn asked(file: &Path) -> Vec<u8> {
    let lines = |lines: &str| format!(r#"{{ "source": {{ "path": {file:?} }}, "breakpoints": [{lines}] }}"#);
    let (set, unset) = (lines(r#"{ "line": 5 }"#), lines(""));
    let requests = [
        ("initialize", r#"{ "adapterID": "envisa" }"#),
        ("launch", "{}"),
        ("setFunctionBreakpoints", r#"{ "breakpoints": [{ "name": "twice" }] }"#),
        ("configurationDone", "{}"),
        ("evaluate", r#"{ "expression": "x[5] * 1000 + 7", "context": "watch" }"#),
        ("setBreakpoints", &set),
        ("stackTrace", r#"{ "threadId": 1 }"#),
        ("setBreakpoints", &unset),
        ("setFunctionBreakpoints", r#"{ "breakpoints": [] }"#),
        ("continue", r#"{ "threadId": 1 }"#),
        ("disconnect", "{}"),
    ];
    let one = |(i, (command, arguments)): (usize, &(&str, &str))| {
        let body = format!(
            r#"{{ "seq": {}, "type": "request", "command": "{command}", "arguments": {arguments} }}"#,
            i + 1
        );
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    };
    requests.iter().enumerate().map(one).collect::<String>().into_bytes()
}

fn answered(text: &str, value: &str, file: &Path) {
    assert!(text.contains(r#""line":5,"#) && !text.contains(r#""verified":false"#), "{text}");
    // The frame is of that file, and so is the breakpoint.
    assert!(text.matches(&format!(r#""path":{file:?}"#)).count() >= 2, "{text}");
    assert!(text.contains(&format!(r#""result":"{value}""#)), "{text}");
    assert!(text.contains(r#""reason":"function breakpoint""#), "{text}");
    assert!(text.contains(r#""event":"terminated""#), "{text}");
    assert!(!text.contains(r#""success":false"#), "{text}");
}

/// Editors debug a launch of a program, by standard input and output or by a port; the program goes on then.
#[test]
fn a_launch_of_a_program_is_debugged_by_an_editor() {
    let folder = tempfile::tempdir().expect("made");
    let file = folder.path().join("own.cl");
    std::fs::write(&file, super::SOURCE).expect("written");
    let options = ["--device", "dg2", "--debug=twice:2", "--dap"];
    let Some(mut command) = exec_command(&options, "") else { return };
    let piped = |c: &mut Command| {
        c.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let mut child = piped(&mut command);
    child.stdin.take().expect("piped").write_all(&asked(&file)).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    answered(&out, "2007", &file);
    assert!(err.contains("1 passed") && !out.contains("1 passed"), "{err}");

    let options = ["--device", "dg2", "--debug", "--listen", "0"];
    let mut child = piped(&mut exec_command(&options, "").expect("as before"));
    let mut said = BufReader::new(child.stderr.take().expect("piped"));
    let address = loop {
        let mut line = String::new();
        assert!(said.read_line(&mut line).expect("it says") > 0, "it never listens");
        if let Some((_, address)) = line.split_once("listening on ") {
            break address.trim().to_owned();
        }
    };
    let mut client = std::net::TcpStream::connect(address).expect("it listens");
    client.write_all(&asked(&file)).expect("it reads");
    let mut told = String::new();
    client.read_to_string(&mut told).expect("it answers");
    answered(&told, "1007", &file);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{:?}", output.status);
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}

/// A program of so many launches: how long until a session is at its launch, how long all takes, and what was printed.
fn timed(launches: u64, options: &[&str], builds: &str) -> Option<(Duration, Duration, String)> {
    let commands = ["-x", "print x[5]", "-x", "quit"];
    let commands = if options.is_empty() { &[][..] } else { &commands };
    let all = [&["--device", "dg2"], options, commands].concat();
    let mut command = exec_command(&all, "many")?;
    command.env("LAUNCHES", launches.to_string()).env("ENVISA_DEBUG_BUILDS", builds);
    let start = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let (mut first, mut told) = (None, String::new());
    for line in BufReader::new(child.stdout.take().expect("piped")).lines() {
        let line = line.expect("text");
        first = first.or_else(|| line.starts_with("kernel ").then(|| start.elapsed()));
        told += &(line + "\n");
    }
    assert!(child.wait().expect("it ends").success() && told.contains("1 passed"), "{told}");
    let (first, all) = (first.unwrap_or_default(), start.elapsed());
    eprintln!("{launches} launches, {options:?}: {first:.2?} to the launch, {all:.2?} in all");
    Some((first, all, told))
}

/// How many launches a program has makes no difference to how a session begins, and little to how long the program takes with one.
/// `ENVISA_DEBUG_LAUNCHES` says another number.
#[test]
fn programs_of_many_launches_are_debugged_in_their_usual_time() {
    let many = std::env::var("ENVISA_DEBUG_LAUNCHES").ok().and_then(|n| n.parse().ok()).unwrap_or(2000);
    let last = format!("--debug=add:{many}");
    let Some((few_first, _, _)) = timed(10, &["--debug=add"], "1") else { return };
    let run = |options: &[&str], builds: &str| timed(many, options, builds).expect("as before");
    // Compilers and the machine's other programs take their time.
    let slack = Duration::from_secs(3);
    // The optimised builds of the program, and those that a session makes.
    for (builds, also) in [("0", &["--optimised"][..]), ("1", &[])] {
        let (_, plain, _) = run(&[], builds);
        let (first, all, told) = run(&[&["--debug=add"], also].concat(), builds);
        assert!(told.contains("(int) 0\n"), "{told}");
        assert!(first <= few_first + slack, "{first:?} where few launches have {few_first:?}");
        let (_, to_last, told) = run(&[&[last.as_str()], also].concat(), builds);
        assert!(told.contains(&format!("(int) {}\n", many - 1)), "{told}");
        let (_, wrong, _) = run(&[&["--debug=wrong"], also].concat(), builds);
        for (what, took) in [("at the first", all), ("at the last", to_last), ("at what is wrong", wrong)] {
            assert!(took <= 2 * plain + slack, "{what}: {took:?}, without a session {plain:?}");
        }
    }
}
