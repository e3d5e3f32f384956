//! What a compiler broke down on, kept in the cache with the command that repeats it.

use std::path::PathBuf;

use crate::cache::{Cache, KeyMaker};
use crate::protocol::Request;

/// Begins the names of the cache's folders for this.
const FOLDER: &str = "crash-";
const SCRIPT: &str = "repeat.sh";

/// Keeps a request; gives the script that repeats it. `None` if nothing can be kept.
pub(crate) fn keep(cache: &Cache, request: &Request) -> Option<PathBuf> {
    let mut key = KeyMaker::default();
    for (name, bytes) in request.sources.iter().chain(&request.headers) {
        key = key.with(name.as_bytes()).with(bytes);
    }
    for argument in &request.args {
        key = key.with(argument.as_bytes());
    }
    let id = key.key().short_name();
    let program = quoted(request.program.as_deref().unwrap_or("ocloc"));
    let mut command = format!("cd \"$(dirname \"$0\")\" && {program}");
    for argument in &request.args {
        command += &format!(" {}", quoted(argument));
    }
    command.push('\n');
    let sources = request.sources.iter().chain(&request.headers);
    let mut files: Vec<(&str, &[u8])> = sources.map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
    files.push((SCRIPT, command.as_bytes()));
    Some(cache.keep(&format!("{FOLDER}{id}"), &files).ok()?.join(SCRIPT))
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_repeats_the_request() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("cache"), 1 << 20);
        let compiler = folder.path().join("a compiler");
        std::fs::write(&compiler, "#!/bin/sh\nfor word; do echo \"$word\"; done\ncat \"$3\" inc/a.h\n")
            .unwrap();
        std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755)).unwrap();
        let request = Request {
            args: ["compile", "-file", "in.cl", "-options", "-DX='y z'", ""].map(str::to_owned).to_vec(),
            sources: vec![("in.cl".into(), b"a text".to_vec())],
            headers: vec![("inc/a.h".into(), b"a header".to_vec()), ("../b.h".into(), Vec::new())],
            program: Some(compiler.display().to_string()),
        };
        let script = keep(&cache, &request).unwrap();
        let run = std::process::Command::new("sh").arg(&script).output().unwrap();
        let said = String::from_utf8(run.stdout).unwrap();
        let words: Vec<&str> = said.lines().collect();
        assert_eq!(words, ["compile", "-file", "in.cl", "-options", "-DX='y z'", "", "a texta header"]);
        assert!(!folder.path().join("cache/b.h").exists(), "nothing is kept outside");
        assert_eq!(keep(&cache, &request), Some(script), "the same again is the same");
        // What is kept is within the cache's bound.
        let small = Cache::new(folder.path().join("small"), 0);
        let script = keep(&small, &request).unwrap();
        assert!(!script.exists());
    }
}
