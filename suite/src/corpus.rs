//! The corpus: every kernel compiled for every device it names, stripped and kept as test data.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kernel::{Device, KernelFile};

/// The folder of the committed corpus in this source tree: `DEVICE/GROUP/NAME.zebin`.
pub fn corpus_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Where the corpus keeps `kernel` for `device`.
pub fn corpus_path(folder: &Path, device: Device, kernel: &KernelFile) -> PathBuf {
    folder.join(device.name()).join(format!("{}.zebin", kernel.id))
}

/// Compiles `kernel` for `device` with `ocloc` and returns the whole zebin, its vISA sections included.
///
/// # Errors
/// What the compiler printed, or that it is not installed.
pub fn compile(ocloc: &Path, kernel: &KernelFile, device: Device) -> Result<Vec<u8>, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    // The source travels under a fixed name: paths must not reach the product.
    std::fs::write(dir.path().join("k.cl"), &kernel.source).map_err(|e| e.to_string())?;
    std::fs::create_dir(dir.path().join("dump")).map_err(|e| e.to_string())?;
    let output = Command::new(ocloc)
        .current_dir(dir.path())
        .env("IGC_ShaderDumpEnable", "1")
        .env("IGC_DumpToCustomDir", dir.path().join("dump"))
        // Stack calls on skl and tgllp abort the compiler without this.
        .env("IGC_EnableGlobalStateBuffer", "1")
        .args(["compile", "-file", "k.cl", "-device", device.name()])
        .args(["-options", &kernel.device_options(device)])
        .args(["-internal_options", "-cl-intel-allow-zebin -ze-emit-zebin-visa-sections"])
        .args(["-output", "k", "-out_dir", "."])
        .output()
        .map_err(|e| format!("{}: {e} (Debian: intel-opencl-icd)", ocloc.display()))?;
    let mut binaries = std::fs::read_dir(dir.path())
        .map_err(|e| e.to_string())?
        .filter_map(|e| e.ok().map(|e| e.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "bin"));
    match binaries.next() {
        Some(path) if output.status.success() => std::fs::read(path).map_err(|e| e.to_string()),
        _ => {
            let text = String::from_utf8_lossy(&output.stdout);
            Err(text.lines().filter(|l| l.contains("error")).take(3).collect::<Vec<_>>().join("; "))
        }
    }
}

/// Section types that are kept (zebin specification): vISA text, `.ze_info`; beside the standard ELF ones.
const SHT_ZEBIN_ZEINFO: u32 = 0xff00_0011;
const SHT_ZEBIN_VISAASM: u32 = 0xff00_0013;
const SHT_PROGBITS: u32 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_STRTAB: u32 = 3;
const SHT_RELA: u32 = 4;
const SHT_NOBITS: u32 = 8;
const SHT_REL: u32 = 9;

const EHDR: usize = 64;
const SHDR: usize = 64;

/// Drops what a run on envisa does not need: machine code, SPIR-V, notes. Section indices stay valid:
/// a dropped section keeps its header but takes no space in the file.
///
/// # Errors
/// A sentence where the file is no little-endian ELF64.
pub fn strip(zebin: &[u8]) -> Result<Vec<u8>, String> {
    let u16_at = |at: usize| -> Option<u16> {
        Some(u16::from_le_bytes(zebin.get(at..at.checked_add(2)?)?.try_into().ok()?))
    };
    let u64_at = |at: usize| -> Option<u64> {
        Some(u64::from_le_bytes(zebin.get(at..at.checked_add(8)?)?.try_into().ok()?))
    };
    let bad = || "the file is no complete ELF64".to_owned();
    if zebin.get(..6) != Some(b"\x7fELF\x02\x01") {
        return Err(bad());
    }
    let table = usize::try_from(u64_at(40).ok_or_else(bad)?).map_err(|_| bad())?;
    let count = usize::from(u16_at(60).ok_or_else(bad)?);
    let names = usize::from(u16_at(62).ok_or_else(bad)?);
    if usize::from(u16_at(58).ok_or_else(bad)?) != SHDR || count == 0 {
        return Err(bad());
    }
    let header = |i: usize| table.checked_add(i * SHDR).and_then(|at| zebin.get(at..at.checked_add(SHDR)?));
    let content = |h: &[u8]| -> Option<(usize, usize)> {
        let offset = usize::try_from(u64::from_le_bytes(h[24..32].try_into().ok()?)).ok()?;
        let size = usize::try_from(u64::from_le_bytes(h[32..40].try_into().ok()?)).ok()?;
        offset.checked_add(size).filter(|end| *end <= zebin.len()).map(|_| (offset, size))
    };
    let (name_base, name_size) = content(header(names).ok_or_else(bad)?).ok_or_else(bad)?;
    let name_of = |h: &[u8]| -> Option<&str> {
        let at = u32::from_le_bytes(h[..4].try_into().ok()?) as usize;
        let rest = zebin.get(name_base..name_base + name_size)?.get(at..)?;
        std::str::from_utf8(rest.split(|b| *b == 0).next()?).ok()
    };
    let mut out = zebin.get(..EHDR).ok_or_else(bad)?.to_vec();
    let mut headers = Vec::with_capacity(count * SHDR);
    for i in 0..count {
        let mut h = header(i).ok_or_else(bad)?.to_vec();
        let kind = u32::from_le_bytes([h[4], h[5], h[6], h[7]]);
        let name = name_of(&h).ok_or_else(bad)?;
        let keep = match kind {
            SHT_ZEBIN_ZEINFO | SHT_ZEBIN_VISAASM | SHT_SYMTAB | SHT_STRTAB => true,
            SHT_PROGBITS => name.starts_with(".data"),
            SHT_REL | SHT_RELA => name.contains(".data"),
            _ => false,
        };
        if keep {
            let (offset, size) = content(&h).ok_or_else(bad)?;
            out.resize(out.len().next_multiple_of(16), 0);
            h[24..32].copy_from_slice(&(out.len() as u64).to_le_bytes());
            out.extend_from_slice(&zebin[offset..offset + size]);
        } else if i != 0 && kind != 0 {
            h[4..8].copy_from_slice(&SHT_NOBITS.to_le_bytes());
            h[24..32].copy_from_slice(&(EHDR as u64).to_le_bytes());
            // What describes a section that is gone links to nothing.
            if matches!(kind, SHT_REL | SHT_RELA) {
                h[32..48].fill(0);
            }
        }
        headers.extend(h);
    }
    out.resize(out.len().next_multiple_of(16), 0);
    let at = out.len() as u64;
    out[40..48].copy_from_slice(&at.to_le_bytes());
    // Program headers would describe segments that are gone.
    out[32..40].fill(0);
    out[56..58].fill(0);
    out.extend(headers);
    Ok(out)
}
