//! Compiled modules on disk: shared by processes of one user, bounded in size.
//!
//! What is in it is run: a folder or a file that others own or can write is refused.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hmac_sha256::Hash as Sha256;

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

#[cfg(target_os = "linux")]
impl Key {
    /// Its beginning, as a part of files' names.
    pub(crate) fn short_name(&self) -> String {
        self.0[..8].iter().map(|b| format!("{b:02x}")).collect()
    }
}

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
        Key(self.0.finalize())
    }
}

/// Which compiler it is: sizes and times of its files, of which `programs` name some.
pub(crate) fn compiler_files(programs: &[PathBuf]) -> Vec<u8> {
    let mut id = Vec::new();
    let mut files = programs.to_vec();
    let own = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let usual = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"];
    for folder in std::env::split_paths(&own).chain(usual.map(PathBuf::from)) {
        for name in ["libocloc.so", "libigc.so.1", "libigdfcl.so.1", "libigc.so.2", "libigdfcl.so.2"] {
            files.push(folder.join(name));
        }
    }
    for file in files {
        if let Ok(data) = fs::metadata(&file) {
            let time = data.modified().ok();
            let time = time.and_then(|t| t.duration_since(SystemTime::UNIX_EPOCH).ok());
            id.extend(file.as_os_str().as_encoded_bytes());
            id.extend(data.len().to_le_bytes());
            id.extend(time.map_or(0, |t| t.as_nanos()).to_le_bytes());
        }
    }
    id
}

/// The compiler's own switches are among what its results depend on.
pub(crate) fn with_switches(mut key: KeyMaker) -> KeyMaker {
    let mut switches: Vec<_> =
        std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("IGC_")).collect();
    switches.sort();
    for (name, value) in switches {
        key = key.with(name.as_encoded_bytes()).with(value.as_encoded_bytes());
    }
    key
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

    /// Why nothing of its folder is used, if so: it is there, and others than this user can write in it.
    pub fn refused(&self) -> Option<String> {
        let meta = fs::metadata(&self.folder).ok()?;
        let folder = self.folder.display();
        if !owner::is_this_user(&meta) {
            return Some(format!("the cache {folder} belongs to another user"));
        }
        (!owner::alone_can_write(&meta))
            .then(|| format!("other users can write to the cache {folder} (chmod -R go-w {folder})"))
    }

    /// The log and the module that were stored; a damaged file counts as none, and so does another's.
    pub fn get(&self, key: &Key) -> Option<(String, Vec<u8>)> {
        let path = self.path(key);
        let mut file = self.open(&path).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let rest = bytes.strip_prefix(MAGIC)?;
        let (sum, rest) = rest.split_at_checked(32)?;
        if Sha256::hash(rest)[..] != *sum {
            let _ = fs::remove_file(&path);
            return None;
        }
        let (len, rest) = rest.split_at_checked(8)?;
        let len = usize::try_from(u64::from_le_bytes(len.try_into().ok()?)).ok()?;
        let (log, module) = rest.split_at_checked(len)?;
        // The oldest are removed first: this one is young again.
        let _ = file.set_modified(SystemTime::now());
        Some((String::from_utf8_lossy(log).into_owned(), module.to_vec()))
    }

    /// Opens an entry that nobody else can have written.
    fn open(&self, path: &Path) -> io::Result<fs::File> {
        self.trust(path.parent().unwrap_or(path))?;
        // Its time is set, which needs no more than to own it.
        let file = owner::options_without_links().read(true).open(path)?;
        let meta = file.metadata()?;
        if owner::alone_can_write(&meta) && meta.is_file() {
            Ok(file)
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }

    /// Is an entry's folder, and the cache's, this user's alone to write in?
    fn trust(&self, folder: &Path) -> io::Result<()> {
        // The cache's own folder may be a link, which its owner made; those in it are made here.
        let good = owner::alone_can_write(&fs::metadata(&self.folder)?)
            && owner::alone_can_write(&fs::symlink_metadata(folder)?);
        if good { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }

    /// Stores a module with its log. What cannot be stored is not: the next one compiles again.
    pub fn put(&self, key: &Key, log: &str, module: &[u8]) {
        let path = self.path(key);
        let Some(folder) = path.parent() else { return };
        let mut content = (log.len() as u64).to_le_bytes().to_vec();
        content.extend(log.as_bytes());
        content.extend(module);
        let write = || -> io::Result<()> {
            owner::private_folders().create(folder)?;
            self.trust(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(MAGIC)?;
            file.write_all(&Sha256::hash(&content))?;
            file.write_all(&content)?;
            // Others see the whole file or none.
            file.persist(&path)?;
            Ok(())
        };
        if write().is_ok() {
            self.shrink();
        }
    }

    /// Stores files under their own names in a folder of the cache; gives the folder's path. They count as what is cached.
    #[cfg(target_os = "linux")]
    pub(crate) fn keep(&self, folder: &str, files: &[(&str, &[u8])]) -> io::Result<PathBuf> {
        let folder = self.folder.join(folder);
        owner::private_folders().create(&folder)?;
        self.trust(&folder)?;
        for (name, bytes) in files {
            let name = Path::new(name.trim_start_matches('/'));
            // Names that lead out of the folder are nobody's.
            if !name.components().all(|part| matches!(part, std::path::Component::Normal(_))) {
                continue;
            }
            let path = folder.join(name);
            owner::private_folders().create(path.parent().unwrap_or(&folder))?;
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            file.write_all(bytes)?;
            file.persist(path)?;
        }
        self.shrink();
        Ok(folder)
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

/// Who owns files, and who can write them.
#[cfg(unix)]
mod owner {
    use std::fs::{DirBuilder, Metadata, OpenOptions};
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};

    /// Is it this user's?
    pub fn is_this_user(meta: &Metadata) -> bool {
        meta.uid() == rustix::process::geteuid().as_raw()
    }

    /// Only this user can write it.
    pub fn alone_can_write(meta: &Metadata) -> bool {
        is_this_user(meta) && meta.mode() & 0o022 == 0
    }

    /// Options that open no link.
    pub fn options_without_links() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
        options
    }

    /// Makes folders that others cannot look into.
    pub fn private_folders() -> DirBuilder {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder
    }
}

/// Elsewhere the cache is where the user's own files are, which the system keeps from others.
#[cfg(not(unix))]
mod owner {
    use std::fs::{DirBuilder, Metadata, OpenOptions};

    pub fn is_this_user(_: &Metadata) -> bool {
        true
    }

    pub fn alone_can_write(_: &Metadata) -> bool {
        true
    }

    pub fn options_without_links() -> OpenOptions {
        OpenOptions::new()
    }

    pub fn private_folders() -> DirBuilder {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        builder
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
    fn what_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("cache");
        let cache = Cache::new(folder.clone(), 1 << 20);
        let key = KeyMaker::default().with(b"a").key();
        cache.put(&key, "", &[1]);
        let path = cache.path(&key);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(path.parent().unwrap())), (0o700, 0o700));
        assert_eq!(cache.refused(), None);
        for place in [&folder, path.parent().unwrap(), &path] {
            let before = mode(place);
            fs::set_permissions(place, fs::Permissions::from_mode(before | 0o020)).unwrap();
            assert!(cache.get(&key).is_none(), "{}", place.display());
            assert_eq!(cache.refused().is_some(), place == folder);
            fs::set_permissions(place, fs::Permissions::from_mode(before)).unwrap();
            assert!(cache.get(&key).is_some());
        }
        // A link in an entry's place.
        let elsewhere = outer.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(cache.get(&key).is_none());
        fs::remove_file(&path).unwrap();
        // Nor is anything put where others can write.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        cache.put(&key, "", &[1]);
        assert!(!path.exists());
        // Root alone can give files away: they are another's.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        cache.put(&key, "", &[1]);
        if rustix::process::geteuid().is_root() {
            for place in [&folder, path.parent().unwrap(), &path] {
                std::os::unix::fs::chown(place, Some(65534), None).unwrap();
                assert!(cache.get(&key).is_none(), "{}", place.display());
                std::os::unix::fs::chown(place, Some(0), None).unwrap();
                assert!(cache.get(&key).is_some());
            }
        }
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
