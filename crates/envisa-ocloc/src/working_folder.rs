//! Folders in which compilers work: new ones, and those that processes left behind when they were killed.
//!
//! Whoever works in a folder holds a lock of it, which ends with the process however that ends. A folder that nobody holds,
//! and in which nothing was made for a while, is removed by the next process that needs one.

use std::io;

const PREFIX: &str = "envisa-compile-";
/// A new folder for temporary files that nobody else can look into.
///
/// # Errors
/// If it cannot be made.
pub(crate) fn create() -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| held::remove_abandoned(&std::env::temp_dir(), held::ABANDONED_AFTER));
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    }
    builder.tempdir()
}

#[cfg(unix)]
pub(crate) use held::hold;

#[cfg(unix)]
mod held {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;
    use std::time::Duration;

    use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};

    use super::PREFIX;

    /// A folder is made by one process and held by the next one, which has so long to start.
    pub(super) const ABANDONED_AFTER: Duration = Duration::from_secs(600);
    /// Most folders that one process removes, so that its start stays short.
    const MOST: usize = 64;

    /// Keeps others from taking a folder for abandoned, as long as what it gives is kept.
    ///
    /// # Errors
    /// If the folder cannot be opened, or is being removed.
    pub(crate) fn hold(folder: &Path) -> io::Result<OwnedFd> {
        let handle = open_folder(folder)?;
        flock(&handle, FlockOperation::NonBlockingLockShared)?;
        Ok(handle)
    }

    fn open_folder(folder: &Path) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(open(folder, flags, Mode::empty())?)
    }

    /// Removes this user's folders that nobody holds and in which nothing was made since. One that cannot be removed stays.
    pub(super) fn remove_abandoned(parent: &Path, since: Duration) {
        let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
        let ours = entries.filter(|e| e.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()));
        for folder in ours.map(|e| e.path()).filter(|f| is_abandoned(f, since)).take(MOST) {
            let _ = std::fs::remove_dir_all(folder);
        }
    }

    fn is_abandoned(folder: &Path, since: Duration) -> bool {
        let Ok(is) = folder.symlink_metadata() else { return false };
        let age = is.modified().ok().and_then(|at| at.elapsed().ok());
        let own = is.is_dir() && is.uid() == rustix::process::geteuid().as_raw();
        own && age.is_some_and(|age| age >= since)
            && open_folder(folder).is_ok_and(|f| flock(&f, FlockOperation::NonBlockingLockExclusive).is_ok())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use super::held::remove_abandoned;
    use super::*;

    #[test]
    fn folders_are_for_their_owner_alone() {
        let folder = create().unwrap();
        assert_eq!(std::fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn what_nobody_holds_is_removed_after_a_while() {
        let parent = tempfile::tempdir().unwrap();
        let [left, held, other, link] =
            ["envisa-compile-left", "envisa-compile-held", "other", "envisa-compile-link"]
                .map(|n| parent.path().join(n));
        for folder in [&left, &held, &other] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("kernel.cl"), "").unwrap();
        }
        std::os::unix::fs::symlink(&other, &link).unwrap();
        let lock = hold(&held).unwrap();
        remove_abandoned(parent.path(), Duration::from_secs(600));
        assert!(left.exists(), "it is new");
        remove_abandoned(parent.path(), Duration::ZERO);
        assert!(!left.exists() && held.exists() && other.join("kernel.cl").exists() && link.is_symlink());
        drop(lock);
        remove_abandoned(parent.path(), Duration::ZERO);
        assert!(!held.exists());
    }
}
