//! Compiling OpenCL C and SPIR-V by Intel's offline compiler, with the cache that the driver has.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use envisa_ocloc::cache::{Cache, Key, KeyMaker};
use envisa_ocloc::{Build, Lines};
use pyo3::prelude::*;

use crate::BuildError;

/// Compiles a source for a device: the zebin, and what the compiler printed. `name` is the file's name in the module's
/// lines; it ends in `.cl` or `.spv`. Sources that include others are compiled each time: what they include is not known.
#[pyfunction]
#[pyo3(signature = (content, name, device, options, compiler=None))]
pub fn compile(
    py: Python<'_>,
    content: &[u8],
    name: &str,
    device: &str,
    options: &str,
    compiler: Option<PathBuf>,
) -> PyResult<(Vec<u8>, String)> {
    py.detach(|| {
        let key = key(content, name, device, options, compiler.as_deref());
        let cache = Cache::of_environment().filter(|_| key.is_some());
        if let (Some(cache), Some(key)) = (&cache, &key)
            && let Some((log, bytes)) = cache.get(key)
        {
            return Ok((bytes, log));
        }
        let io = |e: std::io::Error| BuildError::new_err(format!("a folder for the compiler: {e}"));
        let folder = tempfile::Builder::new().prefix("envisa-python").tempdir().map_err(io)?;
        // The caller's name is not a path.
        let plain = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let path = folder.path().join(plain);
        std::fs::write(&path, content).map_err(io)?;
        let mut build = Build::new(&path, device).options(options).lines(Lines::Name);
        if let Some(program) = compiler {
            build = build.ocloc(program);
        }
        let built = build.run().map_err(|e| BuildError::new_err(e.to_string()))?;
        if let (Some(cache), Some(key)) = (&cache, &key) {
            cache.put(key, &built.messages, &built.bytes);
        }
        Ok((built.bytes, built.messages))
    })
}

/// What a compilation depends on, or `None` where that is not known.
fn key(source: &[u8], name: &str, device: &str, options: &str, compiler: Option<&Path>) -> Option<Key> {
    if source.windows(8).any(|w| w == b"#include") || options.contains("-include") {
        return None;
    }
    let program = match compiler {
        Some(program) => program.to_owned(),
        None => envisa_ocloc::newest_program_for(device, Cache::of_environment().as_ref()),
    };
    let program = program.canonicalize().ok()?;
    let about = program.metadata().ok()?;
    let age = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    let environment: String =
        std::env::vars().filter(|(n, _)| n.starts_with("IGC_")).map(|(n, v)| n + "=" + &v).collect();
    let parts: [&[u8]; 9] = [
        b"python",
        name.as_bytes(),
        source,
        device.as_bytes(),
        options.as_bytes(),
        program.as_os_str().as_encoded_bytes(),
        &about.len().to_le_bytes(),
        &age.to_le_bytes(),
        environment.as_bytes(),
    ];
    Some(parts.iter().fold(KeyMaker::default(), |maker, part| maker.with(part)).key())
}
