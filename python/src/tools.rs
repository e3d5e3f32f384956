//! The toolchain over text and bytes: assemble, disassemble, verify; values in the command's notation. Diagnostics are
//! JSON lines.

use envisa::binary::{ReadOptions, WriteOptions};
use envisa::diag::{Diagnostic, FileId, Files, render_json};
use envisa::isa::{Platform, Platforms};
use envisa::text::{ParseOptions, PrintOptions};
use envisa_harness::values::ValueSpec;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::Error;

type Diagnosed<T> = PyResult<(Option<T>, String)>;

fn platform(name: Option<&str>) -> PyResult<Option<Platform>> {
    name.map(envisa::platform).transpose().map_err(|e| Error::new_err(e.to_string()))
}

/// A text's module, if it is complete, and where each of its objects stands.
fn parsed(
    text: &str,
    name: &str,
    platform: Option<Platform>,
    files: &mut Files,
    list: &mut Vec<Diagnostic>,
) -> Option<(envisa::isa::Module, Vec<FileId>)> {
    let id = files.add_text(name, text.as_bytes());
    let options = ParseOptions { platform, ..ParseOptions::default() };
    let result = envisa::text::parse_units(&[(text, id)], &options);
    list.extend(result.diagnostics);
    result.complete.then_some((result.module, result.files))
}

/// vISA as text or as a CISA binary.
#[derive(FromPyObject)]
pub enum Code {
    Text(String),
    Binary(Vec<u8>),
}

/// Text to a CISA binary.
#[pyfunction]
pub fn assemble(py: Python<'_>, text: &str, name: &str, on: Option<&str>) -> Diagnosed<Py<PyBytes>> {
    let (platform, mut files, mut list) = (platform(on)?, Files::new(), Vec::new());
    let mut bytes = None;
    if let Some((module, ids)) = parsed(text, name, platform, &mut files, &mut list) {
        let options = platform.map_or_else(WriteOptions::default, WriteOptions::for_platform);
        match envisa::binary::write(&module, &options) {
            Ok(binary) => bytes = Some(PyBytes::new(py, &binary).unbind()),
            Err(e) => {
                let file = ids.get(e.object).copied().unwrap_or(FileId(0));
                list.push(Diagnostic::error("E0831", e.to_string()).primary(file, e.span, ""));
            }
        }
    }
    Ok((bytes, render_json(&files, &list)))
}

/// A CISA binary to text.
#[pyfunction]
pub fn disassemble(bytes: &[u8], name: &str, on: Option<&str>) -> Diagnosed<String> {
    let (platform, mut files, mut list) = (platform(on)?, Files::new(), Vec::new());
    let mut text = None;
    if let Some((module, _)) = read(bytes, name, platform, &mut files, &mut list) {
        match envisa::text::print(&module, &PrintOptions::default()) {
            Ok(printed) => text = Some(printed),
            Err(e) => list.push(Diagnostic::error("E0830", e.to_string()).primary(FileId(0), (0, 0), "")),
        }
    }
    Ok((text, render_json(&files, &list)))
}

/// A binary's module, and its only file; nothing where it cannot be read, and then a diagnostic.
fn read(
    bytes: &[u8],
    name: &str,
    platform: Option<Platform>,
    files: &mut Files,
    list: &mut Vec<Diagnostic>,
) -> Option<(envisa::isa::Module, Vec<FileId>)> {
    let options = platform.map_or_else(ReadOptions::default, ReadOptions::for_platform);
    let id = files.add_binary(name, bytes);
    match envisa::binary::read_with(bytes, &options) {
        Ok(module) => {
            let ids = vec![id; module.objects.len()];
            Some((module, ids))
        }
        Err(e) => {
            list.push(e.to_diagnostic(id));
            None
        }
    }
}

/// What the reader and the verifier say of a text or a binary; on one platform, or on any.
#[pyfunction]
pub fn verify(code: Code, name: &str, on: Option<&str>) -> PyResult<String> {
    let (platform, mut files, mut list) = (platform(on)?, Files::new(), Vec::new());
    let read = match code {
        Code::Text(text) => parsed(&text, name, platform, &mut files, &mut list),
        Code::Binary(bytes) => read(&bytes, name, platform, &mut files, &mut list),
    };
    if let Some((module, ids)) = read {
        let platforms = platform.map_or(Platforms::ALL, |p| Platforms::of(&[p]));
        let options = envisa::verify::Options { platforms, ..Default::default() };
        for f in envisa::verify::check(&module, &options) {
            // Without a platform, what one of them takes is fine.
            if platform.is_some() || f.platforms == platforms {
                list.push(f.diagnostic(ids.get(f.object).copied().unwrap_or_default()));
            }
        }
    }
    Ok(render_json(&files, &list))
}

/// The bytes, the type's name and the shape of a value in the command's notation.
#[pyfunction]
pub fn values(py: Python<'_>, text: &str, limit: u64) -> PyResult<(Py<PyBytes>, &'static str, Vec<u64>)> {
    let value = ValueSpec::parse(text)
        .and_then(|spec| spec.materialize(limit))
        .map_err(|e| Error::new_err(e.to_string()))?;
    Ok((PyBytes::new(py, &value.bytes).unbind(), value.elem.name(), value.shape))
}
