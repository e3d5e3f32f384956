//! Suites of OpenCL programs that other people made: cloned at one commit each, built, and run once on envisa's driver,
//! which keeps a launch of each kernel. `foreign.toml` says what they are; nothing of them is kept in this repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::kernel::Device;
use crate::peer::Peer;

/// Launches of a kernel of which the largest is kept.
const LAUNCHES: &str = "4";
/// Seconds that a program may take to build.
const BUILD_LIMIT: &str = "900";
/// Seconds that it may take to run; the launches that it made until then are kept.
const RUN_LIMIT: &str = "120";
/// The device whose code is kept beside the sources.
pub const DEVICE: Device = Device::Pvc;

/// A suite.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name, which is its folder's too.
    pub name: String,
    /// Where it is cloned from: a host, an owner and a name.
    pub repository: String,
    /// The commit.
    pub commit: String,
    /// Its licence.
    pub licence: String,
    /// The sizes, in words.
    pub sizes: String,
    /// Two results of a floating-point type may differ so much, relative to the larger one.
    pub tolerance: f64,
    /// Builds a program; `{root}` is the suite's folder, `{folder}` the program's in it, `{name}` its name.
    #[serde(default)]
    pub build: String,
    /// Runs it, in its folder.
    #[serde(default)]
    pub run: String,
    /// Builds it with sizes that an interpreter finishes.
    #[serde(default)]
    pub small_build: Option<String>,
    /// Runs it with such.
    #[serde(default)]
    pub small_run: Option<String>,
    /// Its programs.
    pub programs: Vec<Entry>,
}

/// A program of a suite.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its folder in the suite.
    #[serde(default)]
    pub folder: String,
    /// In place of the suite's.
    pub build: Option<String>,
    /// In place of the suite's.
    pub run: Option<String>,
    /// In place of the suite's.
    pub small_build: Option<String>,
    /// In place of the suite's.
    pub small_run: Option<String>,
}

/// Which sizes a program is run with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// Its authors'.
    Authors,
    /// Small ones, for checks and for Oclgrind.
    Small,
}

impl Sizes {
    const ALL: [Sizes; 2] = [Sizes::Authors, Sizes::Small];

    const fn folder(self) -> &'static str {
        match self {
            Sizes::Authors => "launches",
            Sizes::Small => "small-launches",
        }
    }
}

/// A launch that was kept.
#[derive(Clone, Debug)]
pub struct Kept<'a> {
    /// The suite.
    pub suite: &'a Source,
    /// The program's name.
    pub program: String,
    /// The kernel's name.
    pub kernel: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The folder in which the program runs: what its source includes is found from there.
    pub home: PathBuf,
}

impl Kept<'_> {
    /// As tables name it.
    pub fn name(&self) -> String {
        format!("{}/{}/{}", self.suite.name, self.program, self.kernel)
    }
}

/// The folder for suites: `ENVISA_FOREIGN`, or one of the user's cache.
///
/// # Errors
/// If there is neither.
pub fn cache() -> Result<PathBuf, String> {
    if let Some(folder) = std::env::var_os("ENVISA_FOREIGN") {
        return std::path::absolute(&folder).map_err(|e| format!("ENVISA_FOREIGN: {e}"));
    }
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let home = || std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".cache"));
    let base = base.or_else(home).ok_or("no HOME: name a folder in ENVISA_FOREIGN")?;
    Ok(base.join("envisa-foreign"))
}

/// Clones, builds and runs suites.
#[derive(clap::Args)]
pub struct FetchArgs {
    /// The folder; by default that of the variable `ENVISA_FOREIGN`, or one of the user's cache.
    folder: Option<PathBuf>,
    /// A folder with mirrors of the repositories, `OWNER+NAME`, instead of the network.
    #[arg(long, value_name = "DIR")]
    mirror: Option<PathBuf>,
    /// Only programs (SUITE/PROGRAM) whose name contains one of these.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Build and run those again whose launches are there.
    #[arg(long)]
    again: bool,
}

/// Clones, builds and runs them; `true` if each program could be.
///
/// # Errors
/// If the table cannot be read.
pub fn fetch(args: &FetchArgs, suites: &[Source]) -> Result<bool, String> {
    let folder = match &args.folder {
        Some(f) => std::path::absolute(f).map_err(|e| format!("{}: {e}", f.display()))?,
        None => cache()?,
    };
    let mut well = true;
    for suite in suites {
        let wanted = |e: &&Entry| {
            let name = format!("{}/{}", suite.name, e.name);
            args.only.is_empty() || args.only.iter().any(|o| name.contains(o.as_str()))
        };
        let entries: Vec<&Entry> = suite.programs.iter().filter(wanted).collect();
        if entries.is_empty() {
            continue;
        }
        let root = folder.join(&suite.name);
        if let Err(why) = clone((&suite.repository, &suite.commit), &root, args.mirror.as_deref()) {
            println!("{}: {why}", suite.name);
            well = false;
            continue;
        }
        for (entry, sizes) in entries.iter().flat_map(|e| Sizes::ALL.map(|s| (e, s))) {
            match record(suite, entry, &folder, sizes, args.again) {
                Ok(Some(kept)) => {
                    println!("{}/{} ({}): {kept} kernels", suite.name, entry.name, sizes.folder())
                }
                Ok(None) => {}
                Err(why) => {
                    println!("{}/{} ({}): {why}", suite.name, entry.name, sizes.folder());
                    well = false;
                }
            }
        }
    }
    Ok(well)
}

fn git(arguments: &[&str], folder: &Path) -> Result<(), String> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output();
    let output = output.map_err(|e| format!("git: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("git {}: {}", arguments.join(" "), said.lines().next_back().unwrap_or_default()))
}

/// Clones a repository at a commit, unless it is there.
pub(super) fn clone(
    (repository, commit): (&str, &str),
    root: &Path,
    mirror: Option<&Path>,
) -> Result<(), String> {
    if root.join(".git").is_dir() {
        return git(&["checkout", "--quiet", "--detach", commit], root);
    }
    let parts: Vec<&str> = repository.trim_end_matches('/').rsplit('/').take(2).collect();
    let from = match (mirror, &parts[..]) {
        (Some(mirror), [name, owner]) => {
            let folder = mirror.join(format!("{owner}+{name}"));
            let places = [folder.join("repo/.git"), folder.join("repo"), folder.clone()];
            let found = places.into_iter().find(|p| p.join("HEAD").is_file());
            found.ok_or_else(|| format!("{} is not a mirror", folder.display()))?.display().to_string()
        }
        _ => repository.to_owned(),
    };
    std::fs::create_dir_all(root).map_err(|e| format!("{}: {e}", root.display()))?;
    git(&["clone", "--quiet", "--no-checkout", &from, "."], root)?;
    git(&["checkout", "--quiet", "--detach", commit], root)
}

/// Where launches of a program are kept.
fn kept_in(folder: &Path, suite: &Source, program: &str, sizes: Sizes) -> PathBuf {
    folder.join(sizes.folder()).join(&suite.name).join(program)
}

/// Builds and runs a program, and keeps a launch of each kernel: how many; `None` where that was done before or there are no
/// such sizes.
fn record(
    suite: &Source,
    entry: &Entry,
    folder: &Path,
    sizes: Sizes,
    again: bool,
) -> Result<Option<usize>, String> {
    let either = |own: &Option<String>, all: &Option<String>| own.clone().or_else(|| all.clone());
    let build = entry.build.clone().unwrap_or_else(|| suite.build.clone());
    let run = entry.run.clone().unwrap_or_else(|| suite.run.clone());
    let small = (either(&entry.small_build, &suite.small_build), either(&entry.small_run, &suite.small_run));
    let (build, run) = match (sizes, small) {
        (Sizes::Authors, _) => (build, run),
        (Sizes::Small, (None, None)) => return Ok(None),
        (Sizes::Small, (b, r)) => (b.unwrap_or(build), r.unwrap_or(run)),
    };
    let to = kept_in(folder, suite, &entry.name, sizes);
    if to.is_dir() && !again {
        return Ok(None);
    }
    let root = folder.join(&suite.name);
    let home = root.join(&entry.folder);
    let fill = |text: &str| {
        let text = text.replace("{root}", &root.display().to_string());
        text.replace("{name}", &entry.name).replace("{folder}", &entry.folder)
    };
    shell(&fill(&build), &home, BUILD_LIMIT, &[]).map_err(|e| format!("does not build: {e}"))?;
    let driver = Peer::Driver.driver().filter(|d| d.is_file()).ok_or("the driver is not built")?;
    // On the same disk as what is kept of them.
    let base = folder.join(sizes.folder());
    std::fs::create_dir_all(&base).map_err(|e| format!("{}: {e}", base.display()))?;
    let all = tempfile::tempdir_in(&base).map_err(|e| e.to_string())?;
    let path = all.path().display().to_string();
    let driver = driver.display().to_string();
    let environment: [(&str, &str); 4] = [
        ("OCL_ICD_VENDORS", &driver),
        ("ENVISA_DEVICES", DEVICE.name()),
        ("ENVISA_CAPTURE", &path),
        ("ENVISA_CAPTURE_MOST", LAUNCHES),
    ];
    let ran = shell(&fill(&run), &home, RUN_LIMIT, &environment);
    let kept = keep(all.path(), &to)?;
    // A program that complains of the driver may have launched all the same; one that did not is told of.
    match ran {
        Err(why) if kept == 0 => Err(format!("does not run: {why}")),
        _ if kept == 0 => Err("launches no kernel".to_owned()),
        Err(why) => {
            eprintln!("{}/{}: {why}", suite.name, entry.name);
            Ok(Some(kept))
        }
        Ok(()) => Ok(Some(kept)),
    }
}

/// Of each kernel, keeps the launch with the most work-items, of several the last one.
fn keep(all: &Path, to: &Path) -> Result<usize, String> {
    let mut largest: BTreeMap<String, (u64, PathBuf)> = BTreeMap::new();
    let entries = std::fs::read_dir(all).map_err(|e| format!("{}: {e}", all.display()))?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    folders.sort();
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(kernel) = name.splitn(3, '-').nth(2) else { continue };
        let Ok(text) = std::fs::read_to_string(folder.join("job.toml")) else { continue };
        let sizes = text.lines().find_map(|l| l.strip_prefix("global = ")).unwrap_or_default();
        let items =
            sizes.trim_matches(['[', ']']).split(", ").filter_map(|n| n.parse::<u64>().ok()).product();
        if largest.get(kernel).is_none_or(|(most, _)| *most <= items) {
            largest.insert(kernel.to_owned(), (items, folder));
        }
    }
    let _ = std::fs::remove_dir_all(to);
    // What is not there is tried again the next time.
    if largest.is_empty() {
        return Ok(0);
    }
    std::fs::create_dir_all(to).map_err(|e| format!("{}: {e}", to.display()))?;
    for (kernel, (_, folder)) in &largest {
        std::fs::rename(folder, to.join(kernel)).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    Ok(largest.len())
}

/// Runs a command of the table; the last line that it writes to standard error is why it failed.
fn shell(command: &str, home: &Path, limit: &str, environment: &[(&str, &str)]) -> Result<(), String> {
    // What it starts ends with it, too: `timeout` gives it a process group of its own.
    let output = Command::new("timeout")
        .args(["-k", "1", limit, "sh", "-c", command])
        .current_dir(home)
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()
        .map_err(|e| format!("timeout: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    if output.status.code() == Some(124) {
        return Err(format!("was ended after {limit} s"));
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default();
    Err(format!("{}: {last}", output.status))
}

/// The launches that are kept in a folder, of programs (SUITE/PROGRAM/KERNEL) whose name contains one of these.
///
/// # Errors
/// If there are none.
pub fn kept<'a>(
    suites: &'a [Source],
    folder: &Path,
    sizes: Sizes,
    only: &[String],
) -> Result<Vec<Kept<'a>>, String> {
    let mut all = Vec::new();
    for suite in suites {
        for entry in &suite.programs {
            let to = kept_in(folder, suite, &entry.name, sizes);
            let mut kernels: Vec<PathBuf> =
                std::fs::read_dir(&to).into_iter().flatten().flatten().map(|e| e.path()).collect();
            kernels.sort();
            all.extend(kernels.into_iter().map(|folder_of| Kept {
                suite,
                program: entry.name.clone(),
                kernel: folder_of.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                folder: folder_of,
                home: folder.join(&suite.name).join(&entry.folder),
            }));
        }
    }
    all.retain(|k| only.is_empty() || only.iter().any(|o| k.name().contains(o.as_str())));
    if all.is_empty() {
        return Err(format!("no launches in {}: `envisa-suite foreign fetch` makes them", folder.display()));
    }
    Ok(all)
}
