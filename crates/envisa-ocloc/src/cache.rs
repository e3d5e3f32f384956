//! Compiled modules on disk: shared by processes, bounded in size.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

/// Bytes that it may take, unless `ENVISA_CACHE_SIZE` (MiB) says otherwise.
const SIZE: u64 = 512 << 20;
/// Begins every file; changes when the content's layout does.
const MAGIC: &[u8; 8] = b"envisa1\n";

/// A folder with compiled modules.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    most: u64,
}

/// What identifies a compilation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key([u8; 32]);

/// Collects what a compilation depends on.
#[derive(Default)]
pub struct KeyMaker(Sha256);

impl KeyMaker {
    /// One more part.
    #[must_use]
    pub fn with(mut self, part: &[u8]) -> KeyMaker {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// The key.
    pub fn key(self) -> Key {
        Key(self.0.finalize().into())
    }
}

impl Cache {
    /// The cache that the environment asks for: `ENVISA_CACHE` is its folder, or `off`; without it, a folder
    /// of the user's cache. `None` if there is to be none.
    pub fn of_environment() -> Option<Cache> {
        let folder = match std::env::var_os("ENVISA_CACHE") {
            Some(v) if v.is_empty() || v == "off" || v == "0" => return None,
            Some(v) => PathBuf::from(v),
            None => {
                let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
                let home = || std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".cache"));
                base.or_else(home)?.join("envisa")
            }
        };
        let mib = std::env::var("ENVISA_CACHE_SIZE").ok().and_then(|t| t.trim().parse::<u64>().ok());
        Some(Cache::new(folder, mib.map_or(SIZE, |m| m.saturating_mul(1 << 20))))
    }

    /// A cache in a folder, of at most so many bytes.
    pub fn new(folder: PathBuf, most: u64) -> Cache {
        Cache { folder, most }
    }

    fn path(&self, key: &Key) -> PathBuf {
        let name: String = key.0.iter().map(|b| format!("{b:02x}")).collect();
        self.folder.join(&name[..2]).join(&name[2..])
    }

    /// The log and the module that were stored; a damaged file counts as none.
    pub fn get(&self, key: &Key) -> Option<(String, Vec<u8>)> {
        let path = self.path(key);
        let bytes = fs::read(&path).ok()?;
        let rest = bytes.strip_prefix(MAGIC)?;
        let (sum, rest) = rest.split_at_checked(32)?;
        if Sha256::digest(rest)[..] != *sum {
            let _ = fs::remove_file(&path);
            return None;
        }
        let (len, rest) = rest.split_at_checked(8)?;
        let len = usize::try_from(u64::from_le_bytes(len.try_into().ok()?)).ok()?;
        let (log, module) = rest.split_at_checked(len)?;
        // The oldest are removed first: this one is young again.
        if let Ok(file) = fs::File::options().append(true).open(&path) {
            let _ = file.set_modified(SystemTime::now());
        }
        Some((String::from_utf8_lossy(log).into_owned(), module.to_vec()))
    }

    /// Stores a module with its log. What cannot be stored is not: the next one compiles again.
    pub fn put(&self, key: &Key, log: &str, module: &[u8]) {
        let path = self.path(key);
        let Some(folder) = path.parent() else { return };
        let mut content = (log.len() as u64).to_le_bytes().to_vec();
        content.extend(log.as_bytes());
        content.extend(module);
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(MAGIC)?;
            file.write_all(&Sha256::digest(&content))?;
            file.write_all(&content)?;
            // Others see the whole file or none.
            file.persist(&path)?;
            Ok(())
        };
        if write().is_ok() {
            self.shrink();
        }
    }

    /// Removes the oldest until all fit. Looked at now and then only.
    fn shrink(&self) {
        let turn = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
        if self.most >= SIZE && !turn.is_multiple_of(16) {
            return;
        }
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for folder in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            list(&folder.path(), &mut files);
        }
        let mut total: u64 = files.iter().map(|f| f.1).sum();
        files.sort();
        for (_, size, path) in files {
            if total <= self.most {
                break;
            }
            if fs::remove_file(path).is_ok() {
                total -= size;
            }
        }
    }
}

fn list(folder: &Path, files: &mut Vec<(SystemTime, u64, PathBuf)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if let Ok(data) = entry.metadata()
            && data.is_file()
        {
            files.push((data.modified().unwrap_or(SystemTime::UNIX_EPOCH), data.len(), entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_comes_back_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_owned(), 1 << 20);
        let key = KeyMaker::default().with(b"a").with(b"b").key();
        assert_ne!(key, KeyMaker::default().with(b"ab").with(b"").key());
        assert!(cache.get(&key).is_none());
        cache.put(&key, "a warning", &[1, 2, 3]);
        assert_eq!(cache.get(&key), Some(("a warning".into(), vec![1, 2, 3])));
        let path = cache.path(&key);
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert!(cache.get(&key).is_none());
        assert!(!path.exists());
    }

    #[test]
    fn it_stays_within_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_owned(), 10_000);
        for n in 0..50u32 {
            cache.put(&KeyMaker::default().with(&n.to_le_bytes()).key(), "", &[0; 1000]);
        }
        let mut files = Vec::new();
        for entry in fs::read_dir(folder.path()).unwrap() {
            list(&entry.unwrap().path(), &mut files);
        }
        assert!(files.iter().map(|f| f.1).sum::<u64>() <= 10_000);
        assert!(!files.is_empty());
    }

    #[test]
    fn many_writers_at_once_leave_whole_files() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|s| {
            for t in 0..8u8 {
                let folder = folder.path().to_owned();
                s.spawn(move || {
                    let cache = Cache::new(folder, 1 << 20);
                    for n in 0..20u8 {
                        let key = KeyMaker::default().with(&[n]).key();
                        cache.put(&key, "", &[n; 5000]);
                        if let Some((_, module)) = cache.get(&key) {
                            assert_eq!(module, vec![n; 5000], "thread {t}");
                        }
                    }
                });
            }
        });
    }
}
