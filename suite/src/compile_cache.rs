//! What was compiled for the checks, kept from one run to the next: thousands of builds by the same compiler, most of which
//! nobody changed.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use envisa_ocloc::cache::Cache;

/// Bytes that it may take.
const MOST: u64 = 4 << 30;

/// The cache, in the folder of foreign suites; `None` if `ENVISA_CACHE` is `off`.
///
/// # Errors
/// If others can write in it: what is in it is run.
pub fn cache() -> Result<Option<Arc<Cache>>, String> {
    static CACHE: OnceLock<Result<Option<Arc<Cache>>, String>> = OnceLock::new();
    CACHE.get_or_init(|| of(folder()?)).clone()
}

fn of(folder: Option<PathBuf>) -> Result<Option<Arc<Cache>>, String> {
    let Some(folder) = folder else { return Ok(None) };
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|e| format!("{}: {e}", folder.display()))?;
    let cache = Cache::new(folder, MOST);
    cache.refused().map_or(Ok(Some(Arc::new(cache))), Err)
}

fn folder() -> Result<Option<PathBuf>, String> {
    let off = std::env::var_os("ENVISA_CACHE").is_some_and(|v| v.is_empty() || v == "off" || v == "0");
    if off { Ok(None) } else { crate::foreign::suites::cache().map(|f| Some(f.join("compiled"))) }
}

/// A file with this text. Debug information names the file, so that one text has one name as long as there is a cache;
/// without one it is in `temporary`.
///
/// # Errors
/// If it cannot be written.
pub fn source(text: &str, temporary: &Path) -> Result<PathBuf, String> {
    let folder = match (cache()?, folder()?) {
        (Some(_), Some(folder)) => {
            let mut hash = DefaultHasher::new();
            text.hash(&mut hash);
            folder.join("sources").join(format!("{:016x}", hash.finish()))
        }
        _ => temporary.to_owned(),
    };
    let file = folder.join("kernel.cl");
    if std::fs::read(&file).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(file);
    }
    let write = || -> std::io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let mut new = tempfile::NamedTempFile::new_in(&folder)?;
        new.write_all(text.as_bytes())?;
        // Others see the whole text or none.
        new.persist(&file)?;
        Ok(())
    };
    write().map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_cache_that_others_can_write_is_an_error() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("compiled");
        assert!(of(Some(folder.clone())).is_ok_and(|c| c.is_some()));
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        let why = of(Some(folder)).unwrap_err();
        assert!(why.contains("other users can write"), "{why}");
        assert!(of(None).is_ok_and(|c| c.is_none()));
    }
}
