//! The corpus: every kernel compiled for every device it names, stripped and kept as test data.

use std::path::{Path, PathBuf};

use envisa::zebin::ZebinFile;
use envisa_ocloc::Build;

use crate::kernel::{Device, KernelFile};

/// The folder of the committed corpus in this source tree: `DEVICE/GROUP/NAME.zebin`.
pub fn corpus_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
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
