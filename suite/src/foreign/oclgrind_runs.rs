//! What Oclgrind says of programs: kept from one run to the next, as nothing here changes it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::time::SystemTime;

use envisa_ocloc::cache::{Key, KeyMaker};

use super::{Content, Program, SECONDS};

/// Its command.
const COMMAND: &str = "oclgrind-kernel";
/// What it is told to do.
const OPTIONS: [&str; 4] = ["--data-races", "--uninitialized", "--max-errors", "100"];

/// What Oclgrind says of a program with these arguments: lines of its messages.
///
/// # Errors
/// Why it could not be asked.
pub(super) fn oclgrind(p: &Program, tries: &[Vec<Content>]) -> Result<BTreeSet<String>, String> {
    let mut said = BTreeSet::new();
    for contents in tries {
        let text = simulation(p, contents);
        let cache = crate::compile_cache::cache()?.zip(key(p, &text));
        if let Some((kept, _)) = cache.as_ref().and_then(|(cache, key)| cache.get(key)) {
            said.extend(kept.lines().map(str::to_owned));
            continue;
        }
        let (lines, stopped) = run(p, &text)?;
        // How far it came depends on what else the machine did.
        if let Some((cache, key)) = cache.filter(|_| !stopped) {
            cache.put(&key, &lines.join("\n"), &[]);
        }
        said.extend(lines);
        if stopped {
            break;
        }
    }
    Ok(said)
}

/// A program and its arguments as the command takes them.
fn simulation(p: &Program, contents: &[Content]) -> String {
    let size = |sizes: &[u64]| {
        let mut all = [1; 3];
        all[..sizes.len()].copy_from_slice(sizes);
        all.map(|n| n.to_string()).join(" ")
    };
    let mut text = format!("kernel.cl\n{}\n{}\n{}\n", p.kernel, size(&p.global), size(&p.local));
    contents.iter().for_each(|c| text += &c.simulation());
    text
}

/// Messages of one run, and whether it was stopped.
fn run(p: &Program, simulation: &str) -> Result<(Vec<String>, bool), String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    std::fs::write(folder.path().join("kernel.cl"), &p.text).map_err(|e| e.to_string())?;
    std::fs::write(folder.path().join("case.sim"), simulation).map_err(|e| e.to_string())?;
    let mut command = Command::new("timeout");
    command.args([&SECONDS.to_string(), COMMAND]).args(OPTIONS);
    if !p.options.is_empty() {
        command.args(["--build-options", &p.options]);
    }
    let output = command.arg("case.sim").current_dir(folder.path()).output();
    let output = output.map_err(|e| format!("{COMMAND}: {e}"))?;
    let all = [output.stdout, output.stderr].map(|t| String::from_utf8_lossy(&t).into_owned()).concat();
    let lines: Vec<&str> = all.lines().collect();
    // A message is a line, then where.
    let is = |pair: &&[&str]| pair[1].trim().starts_with("Kernel:") || pair[1].trim().starts_with("Work-");
    let said = lines.windows(2).filter(is).map(|pair| pair[0].trim().to_owned()).collect();
    Ok((said, output.status.code() == Some(124)))
}

/// What a run depends on; `None` if on files that are not known here.
fn key(p: &Program, simulation: &str) -> Option<Key> {
    if p.text.contains("include") {
        return None;
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let program: PathBuf = std::env::split_paths(&paths).map(|f| f.join(COMMAND)).find(|f| f.is_file())?;
    let data = std::fs::metadata(&program).ok()?;
    let time = data.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let mut key = KeyMaker::default()
        .with(b"what Oclgrind says")
        .with(program.as_os_str().as_encoded_bytes())
        .with(&data.len().to_le_bytes())
        .with(&time.as_nanos().to_le_bytes())
        .with(SECONDS.to_string().as_bytes());
    for option in OPTIONS.iter().chain([&p.options.as_str()]) {
        key = key.with(option.as_bytes());
    }
    Some(key.with(p.text.as_bytes()).with(simulation.as_bytes()).key())
}
