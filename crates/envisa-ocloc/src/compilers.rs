//! Which of the machine's compilers compiles for a device: the newest that knows it.
//!
//! One is the system's: drivers load its library, and its program is `/usr/bin/ocloc`. Others are programs `ocloc` and
//! `ocloc-26.27.1` (as Intel's packages name them) on the `PATH`, in the usual folders, and beside the driver. They are asked for
//! their version and whether they know the device; what does not tell its version (22.43 does not) is older than what does. Where
//! the system's is the only one, nobody is asked. Answers are kept, in the cache too.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::cache::{Cache, KeyMaker, compiler_files};
use crate::working_folder;

const NAME: &str = "ocloc";
const LIBRARY: &str = "libocloc.so";
/// The program of the system's library.
const SYSTEM: &str = "/usr/bin/ocloc";
/// Folders that are looked into besides those of the `PATH`.
const USUAL: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/opt/intel/oneapi/ocloc/latest/bin"];

/// The parts of a version.
type Version = Vec<u32>;

/// The machine's compilers.
#[derive(Clone, Debug, Default)]
pub struct Compilers {
    /// The system's program, if it is installed.
    system: Option<PathBuf>,
    /// Other programs.
    others: Vec<PathBuf>,
    /// What `ocloc` on the `PATH` is.
    on_path: Option<PathBuf>,
}

/// A compiler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Choice {
    /// The system's.
    System,
    /// Another program.
    Program(PathBuf),
}

impl Compilers {
    /// Those of this machine; `beside` is a further folder.
    pub fn of_machine(beside: Option<&Path>) -> Compilers {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let on_path: Vec<PathBuf> = std::env::split_paths(&path).filter(|f| f.is_absolute()).collect();
        let folders =
            on_path.iter().cloned().chain(beside.map(Path::to_owned)).chain(USUAL.map(PathBuf::from));
        let mut found = Compilers::in_folders(folders, Path::new(SYSTEM));
        found.on_path = on_path.iter().find_map(|folder| program(&folder.join(NAME)));
        // Who names a library has chosen.
        let libraries = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        if std::env::split_paths(&libraries).any(|folder| folder.join(LIBRARY).is_file()) {
            found.others.clear();
        }
        found
    }

    /// Those in folders, of which the system's is `system`.
    fn in_folders(folders: impl Iterator<Item = PathBuf>, system: &Path) -> Compilers {
        let system = program(system);
        let mut others: Vec<PathBuf> = Vec::new();
        let mut seen: Vec<PathBuf> = Vec::new();
        for folder in folders.filter_map(|f| f.canonicalize().ok()) {
            if seen.contains(&folder) {
                continue;
            }
            let names =
                std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
            let mut names: Vec<_> = names.filter(|name| name.to_str().is_some_and(is_compiler)).collect();
            names.sort();
            for file in names.iter().filter_map(|name| program(&folder.join(name))) {
                if system.as_ref() != Some(&file) && !others.contains(&file) {
                    others.push(file);
                }
            }
            seen.push(folder);
        }
        Compilers { system, others, on_path: None }
    }

    /// The newest that knows a device; the system's, if none says that it does.
    pub fn newest_for(&self, device: &str, cache: Option<&Cache>) -> Choice {
        if self.others.is_empty() {
            return Choice::System;
        }
        let mut others: Vec<(Version, &PathBuf)> =
            self.others.iter().filter_map(|p| Some((version(p, cache)?, p))).collect();
        others.sort_by(|a, b| b.0.cmp(&a.0));
        let known = |(_, program): &&(Version, &PathBuf)| knows(program, device, cache);
        let Some((newest, program)) = others.iter().find(known) else { return Choice::System };
        let system = self.system.as_ref().and_then(|p| Some((version(p, cache)?, p)));
        match system {
            Some((version, system)) if version >= *newest && knows(system, device, cache) => Choice::System,
            _ => Choice::Program((*program).clone()),
        }
    }

    /// The program to run for a device; `None` for `ocloc` on the `PATH`.
    pub fn program_for(&self, device: &str, cache: Option<&Cache>) -> Option<PathBuf> {
        match self.newest_for(device, cache) {
            Choice::Program(program) => Some(program),
            // One that is first on the path and does not know the device is not the system's.
            Choice::System => {
                let first = self.on_path.as_ref().filter(|first| self.others.contains(first))?;
                version(first, cache).and(self.system.clone())
            }
        }
    }
}

/// `ocloc`, or `ocloc-` and a version.
fn is_compiler(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(NAME) else { return false };
    rest.is_empty() || rest.strip_prefix('-').and_then(parse_version).is_some()
}

fn parse_version(text: &str) -> Option<Version> {
    let parts: Option<Version> = text.trim().split('.').map(|part| part.parse().ok()).collect();
    parts.filter(|parts| parts.len() >= 2)
}

/// The file behind a name that can be run, and that not everybody can write.
fn program(name: &Path) -> Option<PathBuf> {
    let file = name.canonicalize().ok()?;
    let meta = file.metadata().ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = meta.permissions().mode();
        if mode & 0o111 == 0 || mode & 0o002 != 0 {
            return None;
        }
    }
    meta.is_file().then_some(file)
}

fn version(program: &Path, cache: Option<&Cache>) -> Option<Version> {
    let said = answer(program, &["--version"], cache)?;
    said.lines().find_map(parse_version)
}

fn knows(program: &Path, device: &str, cache: Option<&Cache>) -> bool {
    answer(program, &["ids", device], cache).is_some()
}

/// What a compiler prints when it is asked; `None` if it fails.
fn answer(program: &Path, question: &[&str], cache: Option<&Cache>) -> Option<String> {
    static ANSWERS: Mutex<Option<HashMap<Vec<u8>, Option<String>>>> = Mutex::new(None);
    let files = compiler_files(&[program.to_owned()]);
    let mut known = ANSWERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let known = known.get_or_insert_with(HashMap::new);
    let id = [&files[..], question.join(" ").as_bytes()].concat();
    if let Some(answer) = known.get(&id) {
        return answer.clone();
    }
    let key = KeyMaker::default().with(b"what a compiler says of itself").with(&id).key();
    let answer = match cache.and_then(|cache| cache.get(&key)) {
        Some((said, succeeded)) => (succeeded == [1]).then_some(said),
        None => {
            let said = ask(program, question);
            if let Some(cache) = cache {
                cache.put(&key, said.as_deref().unwrap_or_default(), &[u8::from(said.is_some())]);
            }
            said
        }
    };
    known.insert(id, answer.clone());
    answer
}

fn ask(program: &Path, question: &[&str]) -> Option<String> {
    // Some write what they say into a file of their folder.
    let folder = working_folder::create().ok()?;
    let mut command = Command::new(program);
    command.args(question).current_dir(folder.path());
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().ok()?;
    let (status, [out, _]) = crate::process_output(child).ok()?;
    status.success().then(|| String::from_utf8_lossy(&out).into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A compiler that says its version, if any, and knows devices; it counts how often it is asked.
    fn compiler(file: &Path, version: &str, devices: &str) {
        let asked = file.with_extension("asked");
        let text = format!(
            "#!/bin/sh\necho >> {}\ncase \"$1\" in\n--version) [ -n \"{version}\" ] && echo \"{version}\" ;;\n\
             ids) case \" {devices} \" in *\" $2 \"*) echo 1.2.3 ;; *) exit 1 ;; esac ;;\nesac\n",
            asked.display()
        );
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn times_asked(file: &Path) -> usize {
        std::fs::read_to_string(file.with_extension("asked")).map_or(0, |text| text.lines().count())
    }

    #[test]
    fn the_newest_that_knows_a_device_compiles_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (system, own) = (root.join("bin/ocloc"), root.join("own/ocloc"));
        let [middle, newest] = ["own/ocloc-25.9.1", "own/ocloc-26.27.1"].map(|name| root.join(name));
        compiler(&system, "", "");
        compiler(&own, "26.27.1", "pvc bmg");
        let folders = || ["own", "bin", "own"].map(|name| root.join(name)).into_iter();
        let cache = Cache::new(root.join("cache"), 1 << 20);
        let choice = |device| Compilers::in_folders(folders(), &system).newest_for(device, Some(&cache));
        assert_eq!(choice("pvc"), Choice::Program(own.clone()));
        assert_eq!(choice("skl"), Choice::System, "the newest does not know it");
        // Versions are numbers: 26.27 is newer than 25.9. Names that are no versions are nobody's.
        compiler(&middle, "25.9.1", "skl pvc");
        compiler(&newest, "26.27.2", "pvc");
        compiler(&root.join("own/ocloc-wrapper"), "99.1", "skl pvc");
        assert_eq!(choice("pvc"), Choice::Program(newest.clone()));
        assert_eq!(choice("skl"), Choice::Program(middle.clone()));
        assert_eq!(times_asked(&root.join("own/ocloc-wrapper")), 0);
        // Who tells no version, fails, or can be written by everybody is not taken.
        compiler(&newest, "", "pvc");
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o757)).unwrap();
        assert_eq!(choice("pvc"), Choice::Program(middle.clone()));
        // The system's is as new, or newer.
        compiler(&system, "25.9.1", "pvc");
        assert_eq!((choice("pvc"), choice("skl")), (Choice::System, Choice::Program(middle.clone())));
        let asked = times_asked(&middle);
        assert_eq!(choice("skl"), Choice::Program(middle.clone()));
        assert_eq!(times_asked(&middle), asked, "answers are kept");
    }

    #[test]
    fn the_systems_alone_is_not_asked() {
        let folder = tempfile::tempdir().unwrap();
        let system = folder.path().join("ocloc");
        compiler(&system, "26.27", "skl");
        std::os::unix::fs::symlink(&system, folder.path().join("ocloc-26.27")).unwrap();
        let found = Compilers::in_folders([folder.path().to_owned()].into_iter(), &system);
        assert_eq!((found.newest_for("skl", None), found.program_for("skl", None)), (Choice::System, None));
        assert_eq!(times_asked(&system), 0);
    }

    #[test]
    fn commands_run_the_systems_program_where_the_first_on_the_path_does_not_know_the_device() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (system, own) = (root.join("bin/ocloc"), root.join("own/ocloc"));
        compiler(&system, "", "");
        compiler(&own, "26.27.1", "pvc");
        let folders = ["own", "bin"].map(|name| root.join(name)).into_iter();
        let mut found = Compilers::in_folders(folders, &system);
        found.on_path = Some(own.clone());
        assert_eq!(found.program_for("pvc", None), Some(own));
        assert_eq!(found.program_for("skl", None), Some(system.clone()));
        found.on_path = Some(system);
        assert_eq!(found.program_for("skl", None), None);
    }
}
