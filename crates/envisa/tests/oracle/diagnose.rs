//! What the reference assembler says about a text that may be broken.

use super::run::run;
use envisa::isa::Platform;

/// What it says about a text that may be broken.
pub struct Said {
    /// Exit code; `None` after a crash or the time limit.
    pub code: Option<i32>,
    /// It died of a signal, or had to be ended.
    pub crashed: bool,
    /// The first complaint; empty if there is none.
    pub message: String,
    /// The line it names.
    pub line: Option<usize>,
}

impl Said {
    /// Something came of it: a message, or an exit code.
    pub fn found(&self) -> bool {
        !self.message.is_empty() || self.code != Some(0)
    }
}

/// Assembles and compiles a text as anyone would, and reads what it has to say.
pub fn diagnose(name: &str, text: &[u8], platform: Platform) -> Said {
    let dir = tempfile::tempdir().expect("a folder");
    let file = format!("{name}.visaasm");
    std::fs::write(dir.path().join(&file), text).expect("the text is written");
    let run = run(dir.path(), &[&file, "-platform", platform.name()], 5);
    // Longer complaints go to a file of their own.
    let errors: String = std::fs::read_dir(dir.path())
        .expect("the folder is listed")
        .flatten()
        .filter(|e| e.file_name().to_string_lossy().ends_with(".errors.txt"))
        .filter_map(|e| std::fs::read(e.path()).ok())
        .map(|b| String::from_utf8_lossy(&b).into_owned())
        .collect();
    // The first line repeats the command.
    let output: Vec<&str> = run.output.lines().skip(1).collect();
    let meaningful = |l: &&str| {
        !l.is_empty()
            && !l.starts_with("Found a total")
            && !l.starts_with("Please check")
            && !l.starts_with("for the exact")
            && !l.ends_with(".errors.txt")
            && !l.ends_with(':')
            && !l.starts_with("/--")
            && !l.chars().all(|c| "-=*/\\ ".contains(c))
    };
    let lines = || errors.lines().chain(output.iter().copied()).map(str::trim);
    let message = lines().find(meaningful).unwrap_or("").to_owned();
    let line = lines().find_map(|l| {
        let rest = &l[l.find("line ")? + 5..];
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
    });
    let crashed = run.code.is_none_or(|c| c >= 128);
    Said { code: run.code, crashed, message, line }
}
