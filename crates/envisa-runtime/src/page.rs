//! What a page of findings needs of a launch besides them: the sources, and which bytes of its buffers were accessed.

use std::ops::Range;

use envisa::Footprint;
use envisa::isa::Span;
use serde_json::{Value as Json, json};

use crate::device::{Kernel, KernelInfo, Value};

/// Bytes of a source that a page quotes at most.
const MOST_SOURCE: u32 = 1 << 18;
/// Most ranges of bytes of a buffer.
const MOST_RANGES: usize = 1 << 14;

/// Of a launch with these arguments.
pub(crate) fn page(
    kernel: &Kernel,
    info: &KernelInfo,
    args: &[Value],
    footprint: Option<&Footprint>,
) -> Json {
    let all = kernel.files().iter().map(|(_, file)| file);
    let texts = all.filter(|file| !file.is_binary() && file.len() <= MOST_SOURCE);
    let sources =
        texts.map(|file| json!({ "name": file.name(), "text": file.lossy(Span::new(0, file.len())) }));
    let buffers = args.iter().enumerate().filter_map(|(i, value)| {
        let (backing, offset, bytes) = match value {
            Value::Memory(backing, offset, bytes) => (backing, *offset, *bytes),
            Value::Shared(backing, offset) => (backing, *offset, backing.len() - *offset),
            _ => return None,
        };
        let start = (backing.address() + offset) as u64;
        let place = start..start + bytes as u64;
        let source = info.args.get(i).and_then(|a| a.source.as_ref());
        let name = source.map_or_else(|| format!("argument {i}"), |s| format!("buffer {}", s.name));
        let footprint = footprint?;
        let (read, written) = (clip(&footprint.read, &place), clip(&footprint.written, &place));
        Some(json!({ "name": name, "bytes": bytes, "read": read, "written": written }))
    });
    json!({ "sources": sources.collect::<Vec<_>>(), "buffers": buffers.collect::<Vec<_>>() })
}

/// The bytes of a buffer that are in some of these ranges, counted from where it begins.
fn clip(all: &[Range<u64>], place: &Range<u64>) -> Vec<Range<u64>> {
    let inside = all.iter().map(|r| r.start.max(place.start)..r.end.min(place.end));
    let inside = inside.filter(|r| r.start < r.end).take(MOST_RANGES);
    inside.map(|r| r.start - place.start..r.end - place.start).collect()
}
