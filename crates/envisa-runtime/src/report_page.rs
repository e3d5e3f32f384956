//! What a page of findings needs of a launch besides them: the sources, and which bytes of its buffers were accessed.

use std::ops::Range;
use std::sync::Arc;

use envisa::Footprint;
use envisa::diag::Files;
use envisa::isa::Span;
use serde_json::{Value as Json, json};

use crate::host_memory::Backing;

/// Bytes of a source that a page quotes at most.
const MOST_SOURCE: u32 = 1 << 18;
/// Most ranges of bytes of a buffer.
const MOST_RANGES: usize = 1 << 14;

/// Of a launch of a kernel with these files, which was given these buffers: their names, memory, first bytes and numbers of
/// bytes.
pub(crate) fn page<'a>(
    files: &Files,
    buffers: impl Iterator<Item = (String, &'a Arc<Backing>, usize, usize)>,
    footprint: Option<&Footprint>,
) -> Json {
    let all = files.iter().map(|(_, file)| file);
    let texts = all.filter(|file| !file.is_binary() && file.len() <= MOST_SOURCE);
    let sources =
        texts.map(|file| json!({ "name": file.name(), "text": file.lossy(Span::new(0, file.len())) }));
    let buffers = buffers.filter_map(|(name, backing, offset, bytes)| {
        let start = (backing.address() + offset) as u64;
        let place = start..start + bytes as u64;
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
