//! What Linux' `perf` wants to know of generated code, where `ENVISA_PERF` asks for it: `map` writes `/tmp/perf-PID.map`,
//! in which every instruction of a program is a symbol of its own, so that `perf report` tells what each costs; `dump`
//! writes `jit-PID.dump` into the working folder, code included, for `perf record -k mono`, `perf inject --jit` and
//! `perf annotate`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use envisa_lower::Program;
use rustix::time::{ClockId, clock_gettime};

use crate::emit::Compiled;
use crate::pages::{Code, Marker};

/// What is written, and where.
enum Asked {
    Map(File),
    Dump {
        file: File,
        /// How many functions there are in it.
        functions: u64,
        /// Tells `perf` of the file.
        _marker: Marker,
    },
}

/// The machine of x86-64 in ELF's headers.
const MACHINE: u32 = 62;
/// A record of the dump: code that was made.
const LOAD: u32 = 0;
/// Bytes of the dump's header, and of a record of code without its name and bytes.
const HEADER: u32 = 40;
const RECORD: usize = 56;

/// Tells `perf` of a program's code, if it is asked to.
pub(crate) fn report_to_perf(p: &Program, c: &Compiled, code: &Code) {
    static ASKED: OnceLock<Option<Mutex<Asked>>> = OnceLock::new();
    let asked = ASKED.get_or_init(|| match std::env::var("ENVISA_PERF").ok()?.as_str() {
        "" | "0" => None,
        "map" => start("map", open_perf_map()),
        "dump" => start("dump", open_perf_dump()),
        other => {
            eprintln!("warning: ENVISA_PERF is `{other}`, neither `map` nor `dump`: perf is told nothing");
            None
        }
    });
    let Some(asked) = asked else { return };
    let mut asked = asked.lock().unwrap_or_else(|e| e.into_inner());
    let written = match &mut *asked {
        Asked::Map(file) => file.write_all(perf_map_lines(p, c, code.start()).as_bytes()),
        Asked::Dump { file, functions, .. } => {
            *functions += 1;
            file.write_all(&function(p.name(), &c.code.bytes, code.start(), *functions))
        }
    };
    if let Err(e) = written {
        eprintln!("warning: perf is not told of `{}`: {e}", p.name());
    }
}

fn start(what: &str, asked: io::Result<Asked>) -> Option<Mutex<Asked>> {
    match asked {
        Ok(a) => Some(Mutex::new(a)),
        Err(e) => {
            eprintln!("warning: ENVISA_PERF={what}: {e}; perf is told nothing");
            None
        }
    }
}

fn open_perf_map() -> io::Result<Asked> {
    let path = PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()));
    Ok(Asked::Map(open(OpenOptions::new().append(true), &path)?))
}

/// Opens or makes a file whose name others may know before, in a folder where they may write: one that is theirs, or a
/// link that they made, is refused.
fn open(how: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let no_link = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
    let file = how.create(true).custom_flags(no_link).open(path)?;
    if file.metadata()?.uid() != rustix::process::geteuid().as_raw() {
        let why = format!("{} belongs to another user", path.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(file)
}

fn open_perf_dump() -> io::Result<Asked> {
    let path = PathBuf::from(format!("jit-{}.dump", std::process::id()));
    let mut file = open(OpenOptions::new().read(true).write(true), &path)?;
    file.set_len(0)?;
    let mut header = Vec::new();
    // The file's magic number (read in the writer's order of bytes), its version, its header's size, the machine, 0.
    for x in [0x4a69_5444, 1, HEADER, MACHINE, 0, std::process::id()] {
        header.extend(x.to_le_bytes());
    }
    header.extend(monotonic_nanoseconds().to_le_bytes());
    header.extend([0; 8]);
    file.write_all(&header)?;
    let _marker = Marker::new(&file)?;
    Ok(Asked::Dump { file, functions: 0, _marker })
}

/// Nanoseconds of the clock that `perf record -k mono` goes by.
fn monotonic_nanoseconds() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// A record of the dump: a function.
fn function(name: &str, bytes: &[u8], at: u64, index: u64) -> Vec<u8> {
    let pid = std::process::id();
    let size = RECORD + name.len() + 1 + bytes.len();
    let mut r = Vec::with_capacity(size);
    r.extend(LOAD.to_le_bytes());
    r.extend((size as u32).to_le_bytes());
    r.extend(monotonic_nanoseconds().to_le_bytes());
    // The process, and the thread, which `perf` does not look at.
    r.extend(pid.to_le_bytes());
    r.extend(pid.to_le_bytes());
    for x in [at, at, bytes.len() as u64, index] {
        r.extend(x.to_le_bytes());
    }
    r.extend(name.as_bytes());
    r.push(0);
    r.extend(bytes);
    r
}

/// Lines of the map: what comes before the first instruction, and each instruction's code.
fn perf_map_lines(p: &Program, c: &Compiled, at: u64) -> String {
    let ends = c.code.marks.iter().skip(1).map(|m| m.0).chain([c.code.bytes.len() as u32]);
    let first = c.code.marks.first().map_or(c.code.bytes.len() as u32, |m| m.0);
    let mut lines = format!("{at:x} {first:x} {}: start\n", p.name());
    for ((from, pc), end) in c.code.marks.iter().zip(ends) {
        if let Some(i) = p.code().get(*pc as usize).filter(|_| end > *from) {
            let (from, bytes) = (at + u64::from(*from), end - from);
            lines.push_str(&format!("{from:x} {bytes:x} {}: ${}", p.name(), i.source));
            p.upper(*pc).iter().for_each(|u| lines.push_str(&format!("+{}", u.source)));
            lines.push_str(&format!(" {:?}\n", i.op));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (theirs, name) = (folder.path().join("theirs"), folder.path().join("perf-7.map"));
        std::fs::write(&theirs, "kept").unwrap();
        std::os::unix::fs::symlink(&theirs, &name).unwrap();
        assert!(super::open(std::fs::OpenOptions::new().append(true), &name).is_err());
        assert_eq!(std::fs::read(&theirs).unwrap(), b"kept");
        std::fs::remove_file(&name).unwrap();
        super::open(std::fs::OpenOptions::new().append(true), &name).unwrap();
        // Root alone can give files away: they are another's.
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&name, Some(65534), None).unwrap();
            assert!(super::open(std::fs::OpenOptions::new().append(true), &name).is_err());
        }
    }

    #[test]
    fn records_have_the_size_they_tell() {
        let r = super::function("add", &[0xc3], 0x1000, 1);
        assert_eq!(r.len(), super::RECORD + 4 + 1);
        assert_eq!(r[4..8], (r.len() as u32).to_le_bytes());
        assert_eq!(r[32..40], 0x1000u64.to_le_bytes());
        assert_eq!(&r[super::RECORD..], b"add\0\xc3");
    }
}
