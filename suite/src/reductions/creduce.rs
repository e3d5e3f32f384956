//! The same reductions by `creduce`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{CORES, Failure, Input, LIMIT, Reached, Size, envisa, write};

/// The CPU time of `envisa reduce` is given to creduce, and no less than this. What it has come to by then is its result.
const LEAST: Duration = Duration::from_secs(60);

/// The same failure by creduce, in as many processes; the CPU time is that of `envisa reduce`.
///
/// # Errors
/// If it is not there, or does not take the input.
pub(super) fn reduced(
    failure: &Failure,
    input: &Input,
    folder: &Path,
    used: Duration,
) -> Result<Reached, String> {
    let patience = used.clamp(LEAST, LIMIT);
    let folder = folder.join("creduce");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let file = folder.join("program.cl");
    std::fs::copy(&input.file, &file).map_err(|e| e.to_string())?;
    let test = folder.join("test.sh");
    write(&test, &script(failure, input)?)?;
    let made = Command::new("chmod").arg("+x").arg(&test).status();
    made.map_err(|e| e.to_string())?;
    let start = Instant::now();
    // In a group of its own: it has many processes, all of which are to end.
    let mut child = Command::new("setsid")
        .args(["creduce", "--n", CORES, "--timeout", "30"])
        .arg(&test)
        .arg("program.cl")
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("creduce: {e}"))?;
    let (mut stopped, mut spent) = (false, Duration::ZERO);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            break Some(status);
        }
        spent = spent.max(session_time(child.id()));
        if spent > patience {
            stopped = true;
            let _ = Command::new("kill").args(["--", &format!("-{}", child.id())]).status();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    if status.is_some_and(|s| !s.success()) {
        return Err("creduce does not reduce the input".into());
    }
    let text = std::fs::read_to_string(&file).map_err(|e| e.to_string())?;
    Ok(Reached { size: Size::of(&text), used: spent, time: start.elapsed(), stopped })
}

/// CPU time of all processes of a session, and of those that they waited for (proc(5), stat).
fn session_time(session: u32) -> Duration {
    /// Fields behind the command's name: the session, and four times in hundredths of a second.
    const SESSION: usize = 3;
    const TIMES: std::ops::Range<usize> = 11..15;
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ticks = all.filter_map(|process| {
        let stat = std::fs::read_to_string(process.path().join("stat")).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let is_of_it = fields.get(SESSION) == Some(&session.to_string().as_str());
        is_of_it.then(|| {
            fields.get(TIMES).into_iter().flatten().filter_map(|t| t.parse::<u64>().ok()).sum::<u64>()
        })
    });
    Duration::from_millis(10 * ticks.sum::<u64>())
}

/// The test as a script: as `envisa reduce` has it, options for arguments that are gone are left out.
fn script(failure: &Failure, input: &Input) -> Result<String, String> {
    let own = quoted(&envisa().get_program().to_string_lossy());
    let mut out = String::from("#!/bin/sh\nf=program.cl\nset --\n");
    let mut words = input.run.iter();
    while let Some(word) = words.next() {
        let value = matches!(word.as_str(), "--arg" | "--print").then(|| words.next()).flatten();
        match value {
            Some(value) => {
                let name = value.split(['=', ':']).next().unwrap_or_default();
                out += &format!("grep -qw {name} $f && set -- \"$@\" {word} {}\n", quoted(value));
            }
            None => out += &format!("set -- \"$@\" {}\n", quoted(word)),
        }
    }
    let run = |more: &str| format!("{own} run $f \"$@\" {more}");
    out += &match failure.test.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--message", text] => format!("{} 2>&1 | grep -qF {}\n", run(""), quoted(text)),
        ["--fault", code] => format!("{} 2>&1 | grep -qF '[{code}]'\n", run("")),
        ["--differs", a, b] => {
            let checked = if a.contains("--driver") { b } else { a };
            format!(
                "{} >a 2>/dev/null || exit 1\n{} >b 2>/dev/null || exit 1\ncmp -s a b && exit 1\n{} >/dev/null 2>&1\n",
                run(a),
                run(b),
                run(&format!("{checked} --check-hints"))
            )
        }
        _ => return Err(format!("{}: creduce is not given such a test", failure.name)),
    };
    Ok(out)
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
