//! Getting programs: with pip, apt and git, into a folder of the cache that each program has for itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Program;

/// Where a program is.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its folder.
    pub folder: PathBuf,
}

impl Place {
    /// Its Python.
    pub fn python(&self) -> PathBuf {
        self.folder.join("venv/bin/python")
    }

    /// Source archives, unpacked.
    pub fn sources(&self) -> PathBuf {
        self.folder.join("sources")
    }

    /// Debian's packages, unpacked.
    pub fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// What its sources were built into.
    pub fn built(&self) -> PathBuf {
        self.folder.join("built")
    }

    /// A word of a command, its placeholders filled.
    pub fn fill(&self, text: &str) -> String {
        let parts: [(&str, PathBuf); 6] = [
            ("{python}", self.python()),
            ("{site}", self.site()),
            ("{sources}", self.sources()),
            ("{built}", self.built()),
            ("{root}", self.root()),
            ("{scripts}", super::home().join("programs")),
        ];
        parts.iter().fold(text.to_owned(), |t, (name, path)| t.replace(name, &path.display().to_string()))
    }

    /// Its Python's packages.
    pub fn site(&self) -> PathBuf {
        let lib = self.folder.join("venv/lib");
        let found = std::fs::read_dir(&lib).into_iter().flatten().flatten();
        let python = found.map(|e| e.path()).find(|p| p.join("site-packages").is_dir());
        python.unwrap_or(lib).join("site-packages")
    }
}

/// The folder for programs: `ENVISA_PROGRAMS`, or one of the user's cache.
pub fn cache() -> Result<PathBuf, String> {
    if let Some(folder) = std::env::var_os("ENVISA_PROGRAMS") {
        return Ok(PathBuf::from(folder));
    }
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let home = || std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".cache"));
    let base = base.or_else(home).ok_or("no HOME: name a folder in ENVISA_PROGRAMS")?;
    Ok(base.join("envisa-programs"))
}

fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| format!("{name}: {e}"))?;
    if !output.status.success() {
        // Ninja says to standard output what failed.
        let last = |said: &[u8]| {
            let said = String::from_utf8_lossy(said).into_owned();
            said.lines().skip(said.lines().count().saturating_sub(5)).collect::<Vec<_>>().join(" / ")
        };
        let (out, err) = (last(&output.stdout), last(&output.stderr));
        return Err(format!("{name}: {}: {out} / {err}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn pip(place: &Place, program: &Program) -> Result<(), String> {
    if program.pip.is_empty() && program.sources.is_empty() {
        return Ok(());
    }
    if !place.python().is_file() {
        run(Command::new("python3").args(["-m", "venv"]).arg(place.folder.join("venv")))?;
    }
    let pip = || {
        let mut command = Command::new(place.python());
        command.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]);
        command
    };
    if !program.pip.is_empty() {
        run(pip().arg("install").args(&program.pip))?;
    }
    let folder = place.sources();
    for source in &program.sources {
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let name = source.replace("==", "-");
        let package = source.split("==").next().unwrap_or(source);
        if folder.join(&name).is_dir() {
            continue;
        }
        run(pip()
            .args(["download", "--no-deps", "--no-binary", package, "--dest"])
            .arg(&folder)
            .arg(source))?;
        let archive = folder.join(format!("{name}.tar.gz"));
        run(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&folder))?;
    }
    Ok(())
}

/// Unpacks packages and what of their dependencies is not installed: nothing of the system changes.
fn debian(place: &Place, program: &Program) -> Result<(), String> {
    let done = place.folder.join("debian-done");
    if program.debian.is_empty() || done.is_file() {
        return Ok(());
    }
    let folder = place.folder.join("debian");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    // Nothing is installed by this: the addresses of what would be are printed.
    let list = run(Command::new("apt-get")
        .args(["install", "--print-uris", "--yes", "--no-install-recommends", "--reinstall"])
        .args(&program.debian))?;
    let files = list.lines().filter(|l| l.starts_with('\'')).filter_map(|l| l.split_whitespace().nth(1));
    let mut names: Vec<&str> = files.filter_map(|f| f.split('_').next()).collect();
    names.sort_unstable();
    names.dedup();
    run(Command::new("apt-get").arg("download").args(&names).current_dir(&folder))?;
    for entry in std::fs::read_dir(&folder).map_err(|e| e.to_string())?.flatten() {
        run(Command::new("dpkg-deb").arg("--extract").arg(entry.path()).arg(place.root()))?;
    }
    std::fs::write(&done, names.join("\n")).map_err(|e| e.to_string())
}

/// Repositories, at a tag; without the archives in them, which no test here reads, and what else their entries leave out.
fn git(place: &Place, program: &Program) -> Result<(), String> {
    for source in &program.git {
        let mut words = source.split_whitespace();
        let (Some(address), Some(tag)) = (words.next(), words.next()) else {
            return Err(format!("`{source}` names no tag"));
        };
        let name = address.rsplit('/').next().unwrap_or(address);
        let (folder, done) =
            (place.sources().join(name), place.folder.join(format!("{name}-{}", tag.replace('/', "-"))));
        if done.is_file() {
            continue;
        }
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(place.sources()).map_err(|e| e.to_string())?;
        run(Command::new("git")
            .args(["clone", "--quiet", "--filter=blob:none", "--no-checkout", address])
            .arg(&folder))?;
        let git = || {
            let mut command = Command::new("git");
            command.arg("-C").arg(&folder);
            command
        };
        run(git()
            .args(["sparse-checkout", "set", "--no-cone", "/*", "!*.zip"])
            .args(words.map(|w| format!("!{w}"))))?;
        run(git().args(["checkout", "--quiet", "--detach", tag]))?;
        // What was built of an older state is no longer of these sources.
        let _ = std::fs::remove_dir_all(place.built());
        std::fs::write(&done, "").map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Builds what comes as source.
fn build(place: &Place, program: &Program) -> Result<(), String> {
    let done = place.built().join("done");
    let Some((name, words)) = program.build.as_ref().and_then(|b| b.split_first()) else { return Ok(()) };
    // A command that changed builds anew.
    let told = program.build.iter().flatten().map(|w| format!("{w}\n")).collect::<String>();
    if std::fs::read_to_string(&done).is_ok_and(|t| t == told) {
        return Ok(());
    }
    std::fs::create_dir_all(place.built()).map_err(|e| format!("{}: {e}", place.built().display()))?;
    run(Command::new(place.fill(name)).args(words.iter().map(|w| place.fill(w))).current_dir(place.built()))?;
    std::fs::write(&done, told).map_err(|e| e.to_string())
}

/// Gets a program, unless it is there.
///
/// # Errors
/// What pip, apt, git or the compiler say.
pub fn fetch(cache: &Path, program: &Program) -> Result<Place, String> {
    let place = Place { folder: cache.join(&program.name) };
    std::fs::create_dir_all(&place.folder).map_err(|e| format!("{}: {e}", place.folder.display()))?;
    let failed = |e| format!("{} cannot be had: {e}", program.name);
    pip(&place, program).map_err(failed)?;
    debian(&place, program).map_err(failed)?;
    git(&place, program).map_err(failed)?;
    build(&place, program).map_err(failed)?;
    Ok(place)
}
