//! The corpus: every kernel compiled for every device it names, stripped and kept as test data.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use envisa::zebin::ZebinFile;
use envisa_ocloc::Build;

use crate::kernel::{Device, KernelFile};

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
    OTHER.get().cloned().unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus"))
}

/// Where the corpus keeps `kernel` for `device`.
pub fn corpus_path(folder: &Path, device: Device, kernel: &KernelFile) -> PathBuf {
    folder.join(device.name()).join(format!("{}.zebin", kernel.id))
}

/// Compiles `kernel` for `device` and strips what a run on envisa does not need.
///
/// # Errors
/// What the compiler printed, or that it is not installed.
pub fn compile(ocloc: Option<&Path>, kernel: &KernelFile, device: Device) -> Result<Vec<u8>, String> {
    let mut build = Build::new(&kernel.path, device.name())
        .options(kernel.device_options(device))
        .internal_options(kernel.header.internal_options.as_str());
    if let Some(ocloc) = ocloc {
        build = build.ocloc(ocloc);
    }
    let built = build.run().map_err(|e| e.to_string())?;
    built.zebin.strip().write().map_err(|e| e.to_string())
}

/// In how many orders the functions that a product's kernels call could stand; 0 without such functions.
pub fn orders(product: &[u8]) -> usize {
    let functions = ZebinFile::parse(product).map_or(0, |z| z.functions_visa().count());
    // Of more than five functions nobody tries all orders.
    if functions == 0 { 0 } else { (1..=functions.min(5)).product() }
}
