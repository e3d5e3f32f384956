//! Files: read whole and bounded; written whole or not at all.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Greatest module, text or job accepted, in bytes: offsets in spans are 32 bits.
pub const MAX_INPUT: u64 = 1 << 31;

/// Most bytes taken from what has no size (a pipe, a device), however large a file may be: it may have no end.
pub const MAX_STREAM: u64 = 256 << 20;

/// Reads a file, or standard input for `-`, of at most `limit` bytes.
///
/// # Errors
/// A sentence that names the file.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let name = if is_standard(path) { "standard input".into() } else { path.display().to_string() };
    let failed = |e: io::Error| format!("{name}: {e}");
    let too_large = |limit: u64| format!("{name}: larger than {limit} bytes");
    let mut limit = limit;
    let mut bytes = Vec::new();
    if is_standard(path) {
        limit = limit.min(MAX_STREAM);
        io::stdin().lock().take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        let file = std::fs::File::open(path).map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        if meta.is_dir() {
            return Err(format!("{name}: is a folder"));
        }
        if meta.len() > limit {
            return Err(too_large(limit));
        }
        if !meta.is_file() {
            limit = limit.min(MAX_STREAM);
        }
        bytes.reserve(meta.len() as usize + 1);
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > limit {
        return Err(too_large(limit));
    }
    Ok(bytes)
}

/// What a file holds: by its content, and by its name where the content does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A zebin, or another ELF file.
    Zebin,
    /// A CISA binary.
    Isa,
    /// vISA text.
    Text,
    /// A text that does not say what it is: vISA that begins wrongly, or none.
    PlainText,
    /// OpenCL C.
    OpenClC,
    /// SPIR-V.
    SpirV,
    /// None of these.
    Unknown,
}

impl Kind {
    /// The kind of a file of this name with this content.
    pub fn of(path: &Path, bytes: &[u8]) -> Kind {
        if bytes.starts_with(b"\x7fELF") {
            return Kind::Zebin;
        }
        if envisa::binary::is_cisa(bytes) {
            return Kind::Isa;
        }
        if bytes.starts_with(&[3, 2, 0x23, 7]) || bytes.starts_with(&[7, 0x23, 2, 3]) {
            return Kind::SpirV;
        }
        let head = &bytes[..bytes.len().min(4096)];
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        match extension {
            "visaasm" | "asm" => Kind::Text,
            _ if head.windows(8).any(|w| w == b".version") => Kind::Text,
            "cl" | "clcpp" => Kind::OpenClC,
            "spv" | "isa" | "zebin" | "bin" | "elf" | "o" => Kind::Unknown,
            // What looks like a text may be one that begins wrongly: its reader says where.
            _ if !head.contains(&0) && head.utf8_chunks().all(|c| c.invalid().len() < 2) => Kind::PlainText,
            _ => Kind::Unknown,
        }
    }

    /// Why a file called `name` of this kind is nothing that can be run; `None` if it can.
    pub fn why_not_runnable(self, name: &str) -> Option<String> {
        let build = |what| {
            Some(format!(
                "{name}: is {what}, which must be compiled first: `envisa build {name} --device dg2`"
            ))
        };
        match self {
            Kind::Zebin | Kind::Isa | Kind::Text => None,
            Kind::OpenClC => build("OpenCL C"),
            Kind::SpirV => build("SPIR-V"),
            Kind::PlainText | Kind::Unknown => {
                Some(format!("{name}: neither vISA text, nor a CISA binary, nor a zebin"))
            }
        }
    }
}

/// `-`: standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A file that is written and not yet visible under its name.
///
/// Several results are staged first and published together, so that a failure leaves none of them.
#[must_use = "publish it"]
pub struct Staged {
    path: PathBuf,
    held: Held,
}

enum Held {
    /// Beside its place, to be renamed.
    Temporary(tempfile::NamedTempFile),
    /// What cannot be replaced by renaming (a pipe, `/dev/null`, standard output) is written at once.
    Memory(Vec<u8>),
}

/// Writes content beside its place; `-` is standard output.
///
/// # Errors
/// A sentence that names the file.
pub fn stage(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Staged, String> {
    let failed = |e: io::Error| format!("{}: {e}", path.display());
    let existing = if is_standard(path) { None } else { std::fs::metadata(path).ok() };
    if is_standard(path) || existing.as_ref().is_some_and(|m| !m.is_file() && !m.is_dir()) {
        let mut bytes = Vec::new();
        fill(&mut bytes).map_err(failed)?;
        return Ok(Staged { path: path.to_owned(), held: Held::Memory(bytes) });
    }
    if existing.as_ref().is_some_and(|m| m.is_dir()) {
        return Err(format!("{}: is a folder", path.display()));
    }
    if let Some(meta) = &existing
        && meta.permissions().readonly()
    {
        return Err(format!("{}: is read-only", path.display()));
    }
    // What a link points to is replaced, not the link.
    let place = if existing.is_some() { path.canonicalize().map_err(failed)? } else { path.to_owned() };
    let folder = match place.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(format!("{}: there is no folder {}", path.display(), folder.display()));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".envisa-");
    #[cfg(unix)]
    {
        // What a newly created file would get: the umask still applies.
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    // The kind alone: the rest has the name of the temporary file, which is nobody's matter.
    let mut temporary = builder.tempfile_in(folder).map_err(|e| failed(e.kind().into()))?;
    if let Some(meta) = existing {
        temporary.as_file().set_permissions(meta.permissions()).map_err(failed)?;
    }
    let mut w = io::BufWriter::new(temporary.as_file_mut());
    fill(&mut w).and_then(|()| w.flush()).map_err(failed)?;
    drop(w);
    Ok(Staged { path: place, held: Held::Temporary(temporary) })
}

impl Staged {
    /// Makes the content visible.
    ///
    /// # Errors
    /// A sentence that names the file.
    pub fn publish(self) -> Result<(), String> {
        let Staged { path, held } = self;
        let failed = |e: io::Error| format!("{}: {e}", path.display());
        match held {
            Held::Temporary(temporary) => temporary.persist(&path).map(drop).map_err(|e| failed(e.error)),
            Held::Memory(bytes) if is_standard(&path) => print(&bytes),
            Held::Memory(bytes) => std::fs::write(&path, bytes).map_err(failed),
        }
    }
}

/// Writes a file whole or not at all; standard output for `-`.
///
/// # Errors
/// A sentence that names the file.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    stage(path, |w| w.write_all(bytes))?.publish()
}

/// Writes to standard output; a reader that has gone away is not a failure.
///
/// # Errors
/// A sentence.
pub fn print(bytes: &[u8]) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|e| format!("standard output: {e}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn errors_name_the_file_that_was_given() {
        let says = write(Path::new("/proc/result"), b"new").unwrap_err();
        assert!(says.starts_with("/proc/result: ") && !says.contains(".envisa-"), "{says}");
    }

    #[test]
    fn files_appear_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "old").unwrap();
        let broken = stage(&path, |w| {
            w.write_all(b"half")?;
            Err(io::Error::other("broken"))
        });
        assert!(broken.is_err());
        let staged = stage(&path, |w| w.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        staged.publish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        // Dropped without being published: nothing.
        drop(stage(&dir.path().join("b"), |w| w.write_all(b"x")).unwrap());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(write(dir.path(), b"x").unwrap_err().contains("is a folder"));
        assert!(write(&dir.path().join("no/such"), b"x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_modes_too() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o754)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o754);
        write(Path::new("/dev/null"), b"gone").unwrap();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn inputs_are_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, [0; 9]).unwrap();
        assert!(read(&path, 8).unwrap_err().contains("larger"));
        assert_eq!(read(&path, 9).unwrap().len(), 9);
        assert!(read(dir.path(), 9).unwrap_err().contains("is a folder"));
    }
}
