//! Reading inputs and writing outputs whole: `-` is standard input or output.

use crate::cmd::Failure;
use std::io::{Read, Write};
use std::path::Path;

/// Greatest input accepted, in bytes: offsets in spans are 32 bits.
pub const MAX_INPUT: u64 = 1 << 31;

/// Reads a file, or standard input for `-`.
///
/// # Errors
/// Where it cannot be read, or is larger than [`MAX_INPUT`].
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let too_large = || Failure(format!("{}: larger than 2 GiB", path.display()));
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        std::io::stdin()
            .lock()
            .take(MAX_INPUT + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| Failure(format!("standard input: {e}")))?;
    } else {
        let file = std::fs::File::open(path).map_err(|e| Failure(format!("{}: {e}", path.display())))?;
        let meta = file.metadata().map_err(|e| Failure(format!("{}: {e}", path.display())))?;
        if meta.is_dir() {
            return Err(Failure(format!("{}: is a folder", path.display())));
        }
        if meta.len() > MAX_INPUT {
            return Err(too_large());
        }
        bytes.reserve(meta.len() as usize + 1);
        file.take(MAX_INPUT + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| Failure(format!("{}: {e}", path.display())))?;
    }
    if bytes.len() as u64 > MAX_INPUT {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Writes a file so that it appears whole or not at all; standard output for `-`.
///
/// A path that exists and is not a regular file (a pipe, `/dev/null`) is written to as it is.
///
/// # Errors
/// Where it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure(format!("{}: {e}", path.display()));
    if path.as_os_str() == "-" {
        let mut out = std::io::stdout().lock();
        return match out.write_all(bytes).and_then(|()| out.flush()) {
            // Whoever reads has seen enough: not a failure of ours.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => other.map_err(|e| Failure(format!("standard output: {e}"))),
        };
    }
    if let Ok(meta) = std::fs::metadata(path)
        && !meta.is_file()
    {
        return std::fs::write(path, bytes).map_err(failed);
    }
    let folder = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let mut temp = tempfile::Builder::new()
        .prefix(".envisa-")
        .permissions(file_permissions())
        .tempfile_in(folder)
        .map_err(failed)?;
    temp.write_all(bytes).map_err(failed)?;
    temp.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
}

/// What a newly created file would get: the umask still applies.
#[cfg(unix)]
fn file_permissions() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

#[cfg(not(unix))]
fn file_permissions() -> std::fs::Permissions {
    let mut p = std::fs::metadata(".").map(|m| m.permissions()).expect("the current folder exists");
    p.set_readonly(false);
    p
}

/// Prints to standard output; a reader that has gone away is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    write(Path::new("-"), text.as_bytes())
}
