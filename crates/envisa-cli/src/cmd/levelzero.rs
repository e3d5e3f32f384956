//! `envisa levelzero`: the driver for every program, not only those that `envisa exec` starts.

use super::exec::driver_named;
use super::opencl::{Verb, file_failure};
use super::{Done, Exit, Failure};
use std::path::Path;

/// Install the Level Zero driver for all programs, or remove it.
///
/// The Level Zero loader opens the library `libze_intel_gpu.so.1`, which is the name of Intel's driver, from the system's
/// library folders. `install` makes a link of this name, by default in `/usr/local/lib`. It does not replace another
/// driver's library.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  sudo envisa levelzero install
  envisa levelzero install --folder ~/ze && LD_LIBRARY_PATH=~/ze ./app
  envisa levelzero remove --folder ~/ze")]
pub struct Args {
    #[command(subcommand)]
    command: Verb,
}

/// What the loader opens.
const LINK: &str = "libze_intel_gpu.so.1";
/// Where it looks.
const FOLDER: &str = "/usr/local/lib";
/// The driver.
pub(super) const DRIVER: &str = "libenvisa_ze.so";

/// Runs the command.
///
/// # Errors
/// If the driver is not there, or the link cannot be made or removed.
pub fn run(args: &Args) -> Done {
    args.command.run(FOLDER, install_driver, remove)
}

/// Whether there is nothing of this name, or a link to the driver.
fn is_absent_or_our_link(link: &Path) -> Result<bool, Failure> {
    match std::fs::read_link(link) {
        Ok(to) if to.file_name().is_some_and(|n| n == DRIVER) => Ok(true),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
        _ => Err(Failure(format!("{} belongs to another driver, and is not changed", link.display()))),
    }
}

fn install_driver(folder: &Path, given: Option<&Path>) -> Done {
    let driver = driver_named(DRIVER, "envisa-levelzero", given)?;
    let link = folder.join(LINK);
    std::fs::create_dir_all(folder).map_err(|e| file_failure(folder, &e))?;
    if is_absent_or_our_link(&link)? {
        std::fs::remove_file(&link).map_err(|e| file_failure(&link, &e))?;
    }
    std::os::unix::fs::symlink(&driver, &link).map_err(|e| file_failure(&link, &e))?;
    println!("{} -> {}", link.display(), driver.display());
    if folder == Path::new(FOLDER) {
        println!("programs find it once `ldconfig` has run");
    } else {
        println!("programs find it with LD_LIBRARY_PATH={}", folder.display());
    }
    Ok(Exit::Fine)
}

fn remove(folder: &Path) -> Done {
    let link = folder.join(LINK);
    if !is_absent_or_our_link(&link)? {
        return Err(Failure(format!("{}: there is no such link", link.display())));
    }
    std::fs::remove_file(&link).map_err(|e| file_failure(&link, &e))?;
    println!("{} removed", link.display());
    Ok(Exit::Fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_made_and_removed_and_others_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let driver = folder.path().join(DRIVER);
        std::fs::write(&driver, "").unwrap();
        let place = folder.path().join("lib");
        let link = place.join(LINK);
        for _ in 0..2 {
            assert!(install_driver(&place, Some(&driver)).is_ok());
            assert_eq!(std::fs::read_link(&link).unwrap(), driver);
        }
        assert!(remove(&place).is_ok() && !link.exists() && remove(&place).is_err());
        std::fs::write(&link, "another's").unwrap();
        assert!(install_driver(&place, Some(&driver)).is_err() && remove(&place).is_err());
        assert_eq!(std::fs::read(&link).unwrap(), b"another's");
    }
}
