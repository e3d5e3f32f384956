//! `envisa exec --debug`: launches of programs, in the terminal and by an editor.

use super::{exec, exec_command};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

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

/// What an editor asks: a breakpoint in a function, and a value there.
fn asked() -> Vec<u8> {
    let requests = [
        ("initialize", r#"{ "adapterID": "envisa" }"#),
        ("launch", "{}"),
        ("setFunctionBreakpoints", r#"{ "breakpoints": [{ "name": "twice" }] }"#),
        ("configurationDone", "{}"),
        ("evaluate", r#"{ "expression": "x[5] * 1000 + 7", "context": "watch" }"#),
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

fn answered(text: &str, value: &str) {
    assert!(text.contains(&format!(r#""result":"{value}""#)), "{text}");
    assert!(text.contains(r#""reason":"function breakpoint""#), "{text}");
    assert!(text.contains(r#""event":"terminated""#), "{text}");
    assert!(!text.contains(r#""success":false"#), "{text}");
}

/// Editors debug a launch of a program, by standard input and output or by a port; the program goes on then.
#[test]
fn a_launch_of_a_program_is_debugged_by_an_editor() {
    let options = ["--device", "dg2", "--debug=twice:2", "--dap"];
    let Some(mut command) = exec_command(&options, "") else { return };
    let piped = |c: &mut Command| {
        c.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let mut child = piped(&mut command);
    child.stdin.take().expect("piped").write_all(&asked()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    answered(&out, "2007");
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
    client.write_all(&asked()).expect("it reads");
    let mut told = String::new();
    client.read_to_string(&mut told).expect("it answers");
    answered(&told, "1007");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{:?}", output.status);
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}
