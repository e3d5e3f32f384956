//! The corpus: every kernel compiled for every device it names, stripped and kept as test data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use envisa::zebin::ZebinFile;
use envisa::{Source, SourceText};
use envisa_ocloc::Build;

use crate::kernel::{Device, KernelFile, VECTOR_FOLDER};

static OTHER: OnceLock<PathBuf> = OnceLock::new();

/// Takes products from this folder from now on: another compiler's, say.
pub fn use_folder(folder: PathBuf) {
    // The first one told counts: there is one command line.
    let _ = OTHER.set(folder);
}

/// Are the products another compiler's? There may be some missing then.
pub fn is_foreign() -> bool {
    OTHER.get().is_some()
}

/// The folder of the corpus, `DEVICE/GROUP/NAME.zebin`: the committed one in this source tree, unless told otherwise.
pub fn corpus_folder() -> PathBuf {
    OTHER.get().cloned().unwrap_or_else(committed)
}

/// The committed corpus's folder.
fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// The folder of vector code that belongs to `folder`, `DEVICE/NAME.zebin`.
fn vector_folder(folder: &Path) -> PathBuf {
    if folder == committed() {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(VECTOR_FOLDER)
    } else {
        folder.join("vector")
    }
}

/// Where the corpus keeps `kernel` for `device`.
pub fn corpus_path(folder: &Path, device: Device, kernel: &KernelFile) -> PathBuf {
    if kernel.header.vector {
        return vector_folder(folder).join(device.name()).join(format!("{}.zebin", kernel.function()));
    }
    folder.join(device.name()).join(format!("{}.zebin", kernel.id))
}

/// The texts beside a product for those of its kernels that have none inside.
///
/// # Errors
/// Where the product or a text cannot be read.
pub fn dumps(product: &Path, source: Source<'_>) -> Result<Vec<SourceText>, String> {
    let mut all = Vec::new();
    for kernel in source.kernels_without_visa().map_err(|e| e.to_string())? {
        for name in [kernel.clone(), format!("{kernel}_f0")] {
            let path = product.with_file_name(format!("{name}.visaasm"));
            if let Ok(text) = std::fs::read(&path) {
                all.push(SourceText { name: path.display().to_string(), text });
            }
        }
    }
    Ok(all)
}

/// A product: where below the folder of the corpus it belongs, and its bytes.
pub type Product = (PathBuf, Vec<u8>);

/// Compiles `kernel` for `device`: of `folder`, the files that belong into it.
///
/// # Errors
/// What the compiler printed, or that it is not installed.
pub fn compile(
    ocloc: Option<&Path>,
    kernel: &KernelFile,
    device: Device,
    folder: &Path,
) -> Result<Vec<Product>, String> {
    if kernel.header.vector {
        return compile_vector(ocloc, kernel, device, folder);
    }
    let build = Build::new(&kernel.path, device.name())
        .options(kernel.device_options(device))
        .internal_options(kernel.header.internal_options.as_str())
        // Not the newest of the machine's: the corpus is that of one compiler.
        .ocloc(ocloc.unwrap_or(Path::new("ocloc")));
    let built = build.run().map_err(|e| e.to_string())?;
    // What a run on envisa does not need goes.
    let bytes = built.zebin.strip().write().map_err(|e| e.to_string())?;
    Ok(vec![(corpus_path(folder, device, kernel), bytes)])
}

/// The same of vector code, by the script beside its sources: a zebin, and dumps if it lacks its vISA.
fn compile_vector(
    ocloc: Option<&Path>,
    kernel: &KernelFile,
    device: Device,
    folder: &Path,
) -> Result<Vec<Product>, String> {
    let work = tempfile::tempdir().map_err(|e| e.to_string())?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(VECTOR_FOLDER).join("make.sh");
    let run = Command::new("sh")
        .arg(&script)
        .arg("-o")
        .arg(work.path())
        .args(["-k", kernel.function()])
        .arg(ocloc.unwrap_or(Path::new("ocloc")))
        .arg(device.name())
        .output()
        .map_err(|e| format!("{}: {e}", script.display()))?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).trim().to_owned());
    }
    let to = vector_folder(folder).join(device.name());
    let made = work.path().join(device.name());
    let mut all = Vec::new();
    for entry in std::fs::read_dir(&made).map_err(|e| format!("{}: {e}", made.display()))? {
        let entry = entry.map_err(|e| e.to_string())?;
        let bytes = std::fs::read(entry.path()).map_err(|e| e.to_string())?;
        all.push((to.join(entry.file_name()), bytes));
    }
    all.sort();
    Ok(all)
}

/// In how many orders the functions that a product's kernels call could stand; 0 without such functions.
pub fn orders(product: &[u8]) -> usize {
    let functions = ZebinFile::parse(product).map_or(0, |z| z.functions_visa().count());
    // Of more than five functions nobody tries all orders.
    if functions == 0 { 0 } else { (1..=functions.min(5)).product() }
}

/// What [`write()`] did.
#[derive(Debug, Default)]
pub struct Written {
    /// Files.
    pub files: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Kernels that the compiler refuses, or whose committed product differs: id, device, why.
    pub wrong: Vec<(String, Device, String)>,
}

/// Compiles `kernels` for `devices`, those that each is meant for if there are none, into `folder`; `check` writes
/// nothing and compares instead.
///
/// # Errors
/// Where a file cannot be written.
pub fn write(
    kernels: &[KernelFile],
    devices: &[Device],
    ocloc: Option<&Path>,
    folder: &Path,
    check: bool,
) -> Result<Written, String> {
    let of = |k: &KernelFile| if devices.is_empty() { k.devices().to_vec() } else { devices.to_vec() };
    let work: Vec<(&KernelFile, Device)> = kernels
        .iter()
        .flat_map(|k| of(k).into_iter().filter(|d| k.is_for(*d)).map(move |d| (k, d)))
        .collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get()).min(8);
    std::thread::scope(|s| {
        for _ in 0..workers {
            s.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let Some((k, d)) = work.get(n) else { return };
                    let one = write_one(k, *d, ocloc, folder, check);
                    done.lock().unwrap_or_else(|e| e.into_inner()).insert(n, one);
                }
            });
        }
    });
    let mut written = Written::default();
    for (n, one) in done.into_inner().unwrap_or_else(|e| e.into_inner()) {
        let (k, d) = work[n];
        match one? {
            Ok((files, bytes)) => {
                written.files += files;
                written.bytes += bytes;
            }
            Err(why) => written.wrong.push((k.id.clone(), d, why)),
        }
    }
    Ok(written)
}

/// One kernel for one device: files and bytes, or what is wrong.
fn write_one(
    kernel: &KernelFile,
    device: Device,
    ocloc: Option<&Path>,
    folder: &Path,
    check: bool,
) -> Result<Result<(usize, usize), String>, String> {
    let products = match compile(ocloc, kernel, device, folder) {
        Ok(p) => p,
        Err(why) => return Ok(Err(why)),
    };
    for (path, bytes) in &products {
        if check {
            let kept = std::fs::read(path).ok();
            // The compiler puts functions that are called in any order: it gets more tries, eight for each.
            let tries = kept.as_deref().map_or(0, |k| orders(k).saturating_mul(8));
            let again = || compile(ocloc, kernel, device, folder).ok();
            let same = kept.as_ref() == Some(bytes)
                || (0..tries).any(|_| {
                    again().is_some_and(|all| all.iter().any(|(p, b)| p == path && kept.as_ref() == Some(b)))
                });
            if !same {
                return Ok(Err(format!("{} differs from what the compiler gives", path.display())));
            }
            continue;
        }
        write_bytes(path, bytes)?;
    }
    Ok(Ok((products.len(), products.iter().map(|(_, b)| b.len()).sum())))
}

fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let io = |e: std::io::Error| format!("{}: {e}", path.display());
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(io)?;
    std::fs::write(path, bytes).map_err(io)
}
