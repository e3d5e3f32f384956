//! Which bytes of memory have content: those that something wrote since the group or the thread started, or of a
//! buffer that the host left as it was.
//!
//! Values are followed: a load of bytes that nothing wrote leaves its registers unwritten, a store of such registers
//! leaves memory so. What is done with them is complained of: arithmetic, addresses, branches, results.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use envisa_lower::{Message, Space};
use envisa_machine::thread::{Access, AccessKind, AccessSpace, Machine};

use super::adjacent_accesses::Row;
use super::undefined_bits::{Origin, Origins, Source};
use crate::address_map::Map;
use crate::byte_bits::{add_set, words};

/// Where the bytes of an access are, if their content is followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ContentPlace {
    /// Shared local memory, at an offset.
    Local(u64),
    /// The thread's own: private memory at an address, or scratch at an offset.
    Thread(u64),
    /// A buffer that the host did not write, at an address.
    Fresh(u64),
}

impl ContentPlace {
    /// Whose it is, the dword, and the byte of it.
    fn byte(self, thread: u32) -> ((u32, u64), u64) {
        let (whose, at) = match self {
            ContentPlace::Local(at) => (u32::MAX, at),
            ContentPlace::Thread(at) => (thread, at),
            ContentPlace::Fresh(at) => (u32::MAX - 1, at),
        };
        ((whose, at / 4), at % 4)
    }

    /// Of the bytes `offset` behind.
    pub fn behind(self, offset: u32) -> ContentPlace {
        let offset = u64::from(offset);
        match self {
            ContentPlace::Local(at) => ContentPlace::Local(at + offset),
            ContentPlace::Thread(at) => ContentPlace::Thread(at + offset),
            ContentPlace::Fresh(at) => ContentPlace::Fresh(at + offset),
        }
    }
}

/// Where a row of accesses goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum RowHome {
    /// To memory whose content is not followed.
    None,
    /// To bytes from here on.
    Some(ContentPlace),
    /// To several of them, or outside.
    Several,
}

/// Bit of a key: scratch.
const SCRATCH: u64 = 1 << 62;

/// A buffer whose content was unknown when the launch began.
#[derive(Debug)]
pub(super) struct FreshBuffer {
    start: u64,
    bytes: u64,
    /// A bit a byte.
    written: Vec<AtomicU64>,
}

impl FreshBuffer {
    /// Of its parts without content, in order; there is at least one.
    fn of(parts: &[Range<u64>]) -> FreshBuffer {
        let start = parts[0].start;
        let bytes = parts[parts.len() - 1].end.saturating_sub(start);
        let words = usize::try_from(bytes.div_ceil(64)).unwrap_or(0);
        let mut written = vec![0u64; words];
        for gap in parts.windows(2) {
            for at in gap[0].end - start..gap[1].start - start {
                written[at as usize / 64] |= 1 << (at % 64);
            }
        }
        FreshBuffer { start, bytes, written: written.into_iter().map(AtomicU64::new).collect() }
    }
}

/// Content of memory that a worker's group, or all of a launch, can reach.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    local: Vec<u64>,
    threads: Vec<Map<u64>>,
    /// What values without content that were stored come from, by [`ContentPlace::byte`].
    origins: Origins<(u32, u64)>,
    pub fresh: Arc<Vec<FreshBuffer>>,
    /// Of these, bytes that lie between others as padding does in structures, in order.
    gaps: Arc<Vec<Range<u64>>>,
}

/// May bytes without content, at whose both sides there is some, be padding of structures? It is less than the alignment of
/// what follows, which begins at a multiple of that (C, 6.7.2.1).
fn may_be_padding(hole: &Range<u64>) -> bool {
    const MOST: u32 = 16;
    let align = 1u64 << hole.end.trailing_zeros().min(MOST.trailing_zeros());
    hole.end.saturating_sub(hole.start) < align
}

impl Contents {
    /// For a launch with buffers that the host did not write, and where structures are. Many parts of a buffer are kept as one, in which what lies
    /// between them was written: every access looks through the list.
    pub fn new(fresh: &[Range<u64>], records: &[Range<u64>]) -> Contents {
        const MANY: usize = 16;
        /// There is more between two buffers.
        const NEAR: u64 = 1 << 18;
        let of_one =
            |a: &Range<u64>, b: &Range<u64>| fresh.len() > MANY && b.start >= a.end && b.start - a.end < NEAR;
        let all = fresh.chunk_by(of_one).map(FreshBuffer::of);
        let is_in_record = |hole: &Range<u64>| records.iter().any(|r| r.contains(&hole.start));
        let gap = |hole: &&Range<u64>| may_be_padding(hole) && is_in_record(hole);
        let mut gaps: Vec<_> = fresh.iter().filter(gap).cloned().collect();
        gaps.sort_by_key(|hole| hole.start);
        Contents { fresh: Arc::new(all.collect()), gaps: Arc::new(gaps), ..Contents::default() }
    }

    /// For another worker of the same launch.
    pub fn fork(&self) -> Contents {
        Contents { fresh: Arc::clone(&self.fresh), gaps: Arc::clone(&self.gaps), ..Contents::default() }
    }

    /// Does a byte without content come from what may be padding? Earlier commands have set what lies beside it, and not this:
    /// who copies it does not use it.
    pub fn is_of_padding(&self, origin: Option<Origin>) -> bool {
        let Some(Origin { from: Source::Memory(ContentPlace::Fresh(at)), copy: true, .. }) = origin else {
            return false;
        };
        let behind = self.gaps.partition_point(|gap| gap.start <= at);
        behind > 0 && at < self.gaps[behind - 1].end
    }

    /// Bytes of buffers that had no content, and have none still.
    pub fn without_content(&self) -> Vec<Range<u64>> {
        let mut all = Vec::new();
        for f in self.fresh.iter() {
            for (n, word) in (0u64..).map(|n| 64 * n).zip(&f.written) {
                let inside = u64::MAX >> (64 - (f.bytes - n).min(64));
                add_set(&mut all, f.start + n, !word.load(Ordering::Relaxed) & inside);
            }
        }
        all
    }

    /// A thread starts, as the first of its group or not.
    pub fn start(&mut self, m: &Machine<'_>, first: bool) {
        let t = m.t.index as usize;
        if first {
            self.local.clear();
            self.local.resize(m.slm.len().div_ceil(64), 0);
            self.origins.clear();
        }
        if self.threads.len() <= t {
            self.threads.resize_with(t + 1, Map::default);
        }
        self.threads[t].clear();
    }

    /// Remembers what bytes without content come from that are stored, or that they are overwritten.
    pub fn keep(&mut self, thread: u32, home: ContentPlace, origins: &[Option<Origin>]) {
        for (n, origin) in (0..).zip(origins) {
            let (dword, byte) = home.behind(n).byte(thread);
            self.origins.set(dword, byte, *origin);
        }
    }

    /// What a byte without content comes from that was stored there.
    pub fn origin(&self, thread: u32, home: ContentPlace) -> Option<Origin> {
        let (dword, byte) = home.byte(thread);
        self.origins.get(dword, byte)
    }

    /// Where an access goes.
    pub fn content_place(&self, m: &Machine<'_>, message: &Message, a: &Access) -> Option<ContentPlace> {
        match a.space {
            _ if a.outside => None,
            AccessSpace::Slm => Some(ContentPlace::Local(a.address)),
            AccessSpace::State => {
                let own = matches!(
                    space(message),
                    Some(Space::Scratch(_) | Space::GeneralState | Space::Bindless(_))
                );
                own.then_some(ContentPlace::Thread(SCRATCH | a.address))
            }
            AccessSpace::Flat | AccessSpace::Surface(_) | AccessSpace::Counter(_) | AccessSpace::Urb => {
                let at = a.place?;
                match m.env.private {
                    Some((base, bytes)) if at.wrapping_sub(base) < bytes => Some(ContentPlace::Thread(at)),
                    _ if self.fresh.is_empty() => None,
                    _ => self
                        .fresh
                        .iter()
                        .any(|f| at.wrapping_sub(f.start) < f.bytes)
                        .then_some(ContentPlace::Fresh(at)),
                }
            }
        }
    }

    /// Where a row of accesses goes.
    pub fn row_home(&self, m: &Machine<'_>, message: &Message, row: &Row) -> RowHome {
        let a = &row.access;
        if a.outside {
            return RowHome::Several;
        }
        let of_memory = !matches!(a.space, AccessSpace::Slm | AccessSpace::State);
        if let (true, Some(at)) = (of_memory, a.place) {
            let end = at.saturating_add(row.bytes());
            let apart = |start: u64, bytes: u64| end <= start || start.saturating_add(bytes) <= at;
            if m.env.private.is_none_or(|(start, bytes)| apart(start, bytes))
                && self.fresh.iter().all(|f| apart(f.start, f.bytes))
            {
                return RowHome::None;
            }
            let inside = |start: u64, bytes: u64| at >= start && end <= start.saturating_add(bytes);
            if !m.env.private.is_some_and(|(start, bytes)| inside(start, bytes))
                && !self.fresh.iter().any(|f| inside(f.start, f.bytes))
            {
                return RowHome::Several;
            }
        }
        self.content_place(m, message, a).map_or(RowHome::None, RowHome::Some)
    }

    /// Have all of these bytes content?
    pub fn all(&self, thread: u32, home: ContentPlace, bytes: u32) -> bool {
        match home {
            ContentPlace::Local(at) => {
                words(at as u32, bytes).all(|(w, bits)| self.local.get(w).is_none_or(|x| x & bits == bits))
            }
            ContentPlace::Thread(at) => {
                let Some(map) = self.threads.get(thread as usize) else { return true };
                let (page, offset) = (at / 64, (at % 64) as u32);
                words(offset, bytes)
                    .all(|(w, bits)| map.get(&(page + w as u64)).is_some_and(|x| x & bits == bits))
            }
            ContentPlace::Fresh(at) => match self.buffer(at) {
                Some((f, offset)) => words(offset, bytes).all(|(w, bits)| {
                    f.written.get(w).is_none_or(|x| x.load(Ordering::Relaxed) & bits == bits)
                }),
                None => true,
            },
        }
    }

    /// Has any of these bytes content?
    pub fn any(&self, thread: u32, home: ContentPlace, bytes: u32) -> bool {
        match home {
            ContentPlace::Local(at) => {
                words(at as u32, bytes).any(|(w, bits)| self.local.get(w).is_none_or(|x| x & bits != 0))
            }
            ContentPlace::Thread(at) => {
                let Some(map) = self.threads.get(thread as usize) else { return true };
                let (page, offset) = (at / 64, (at % 64) as u32);
                words(offset, bytes)
                    .any(|(w, bits)| map.get(&(page + w as u64)).is_some_and(|x| x & bits != 0))
            }
            ContentPlace::Fresh(at) => match self.buffer(at) {
                Some((f, offset)) => words(offset, bytes)
                    .any(|(w, bits)| f.written.get(w).is_none_or(|x| x.load(Ordering::Relaxed) & bits != 0)),
                None => true,
            },
        }
    }

    /// Has a whole dword of shared local memory content?
    #[inline]
    pub fn has_local_dword(&self, at: u64) -> bool {
        let bits = 0xf << (at % 64);
        self.local.get((at / 64) as usize).is_none_or(|x| x & bits == bits)
    }

    /// A whole dword of shared local memory has content.
    #[inline]
    pub fn set_local_dword(&mut self, at: u64) {
        if let Some(x) = self.local.get_mut((at / 64) as usize) {
            *x |= 0xf << (at % 64);
        }
    }

    fn buffer(&self, at: u64) -> Option<(&FreshBuffer, u32)> {
        let f = self.fresh.iter().find(|f| at.wrapping_sub(f.start) < f.bytes)?;
        Some((f, u32::try_from(at - f.start).ok()?))
    }

    /// Bytes have content, or what was there is lost.
    pub fn set(&mut self, thread: u32, home: ContentPlace, bytes: u32, content: bool) {
        let change = |x: &mut u64, bits: u64| *x = if content { *x | bits } else { *x & !bits };
        match home {
            ContentPlace::Local(at) => {
                for (w, bits) in words(at as u32, bytes) {
                    if let Some(x) = self.local.get_mut(w) {
                        change(x, bits);
                    }
                }
            }
            ContentPlace::Thread(at) => {
                let Some(map) = self.threads.get_mut(thread as usize) else { return };
                let (page, offset) = (at / 64, (at % 64) as u32);
                for (w, bits) in words(offset, bytes) {
                    change(map.entry(page + w as u64).or_default(), bits);
                }
            }
            ContentPlace::Fresh(at) => {
                let Some((f, offset)) = self.buffer(at) else { return };
                for (w, bits) in words(offset, bytes) {
                    if let Some(x) = f.written.get(w) {
                        // What a store of nothing leaves is complained of where it is stored.
                        x.fetch_or(bits, Ordering::Relaxed);
                    }
                }
            }
        }
    }
}

/// The memory that a message goes to.
fn space(message: &Message) -> Option<&Space> {
    match message {
        Message::Simt(s) | Message::Status(s) => Some(&s.space),
        Message::Block(b) => Some(&b.space),
        Message::Atomic(a) => Some(&a.space),
        _ => None,
    }
}

/// The registers that an access moves: first byte, bytes in memory, and bytes in registers.
pub(super) fn registers(message: &Message, a: &Access, first: u32, part: u32) -> Option<(u32, u32, u32)> {
    match message {
        Message::Simt(s) => {
            let channel = u32::from(a.channel).saturating_sub(first);
            let at = s.data? + part * s.component_stride + channel * u32::from(s.slot);
            let skip = if s.upper { 2 } else { 0 };
            Some((at + skip, u32::from(s.element), u32::from(s.slot) - skip))
        }
        Message::Block(b) => Some((b.data?, b.bytes, b.bytes)),
        _ => None,
    }
}

/// Does the access only move bytes: neither an atomic nor a conversion?
pub(super) fn moves(message: &Message, a: &Access) -> bool {
    matches!(message, Message::Simt(_) | Message::Block(_)) && a.kind != AccessKind::Atomic
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_kept_by_bytes() {
        let mut c = Contents {
            local: vec![0; 2],
            threads: vec![Map::default()],
            ..Contents::new(std::slice::from_ref(&(1000..1100)), &[])
        };
        for home in [
            ContentPlace::Local(60),
            ContentPlace::Thread(1 << 40 | 60),
            ContentPlace::Thread(SCRATCH | 60),
            ContentPlace::Fresh(1060),
        ] {
            assert!(!c.any(0, home, 8), "{home:?}");
            c.set(0, home, 8, true);
            assert!(c.any(0, home, 1) && c.any(0, home, 8));
            let (before, behind) = match home {
                ContentPlace::Local(at) => (ContentPlace::Local(at - 4), ContentPlace::Local(at + 8)),
                ContentPlace::Thread(at) => (ContentPlace::Thread(at - 4), ContentPlace::Thread(at + 8)),
                ContentPlace::Fresh(at) => (ContentPlace::Fresh(at - 4), ContentPlace::Fresh(at + 8)),
            };
            assert!(!c.any(0, before, 4) && !c.any(0, behind, 4) && c.any(0, before, 5));
        }
        c.set(0, ContentPlace::Local(60), 4, false);
        // More parts of a buffer than are kept one by one, and another buffer.
        let parts: Vec<_> = (0..20)
            .map(|n| 100 * n + 70..100 * n + 80)
            .chain(std::iter::once(1 << 20..(1 << 20) + 8))
            .collect();
        let many = Contents::new(&parts, &[]);
        assert_eq!((many.fresh.len(), many.without_content()), (2, parts));
        assert!(!c.any(0, ContentPlace::Local(60), 4) && c.any(0, ContentPlace::Local(60), 5));
    }

    #[test]
    fn gaps_of_structures_may_be_padding() {
        let is = |start, end| may_be_padding(&(start..end));
        // Behind a char, a short and three floats; in front of an int, a long and a vector.
        assert!(is(1, 4) && is(2, 4) && is(12, 16) && is(1, 16) && is(33, 40) && is(4, 8));
        // What begins where a member of its size may begin, and ends where none of more does.
        assert!(!is(0, 4) && !is(8, 12) && !is(0, 16) && !is(16, 32) && !is(4, 7) && !is(1, 18));
        let c = Contents::new(&[1..4, 33..36, 1000..1100], &[0..32, 512..2048]);
        let from = |at| {
            let from = Source::Memory(ContentPlace::Fresh(at));
            c.is_of_padding(Some(Origin { pc: 0, from, copy: true, calls: Default::default() }))
        };
        assert_eq!([0, 1, 3, 4, 1000, 1050].map(from), [false, true, true, false, false, false]);
        assert!(!from(34), "not where structures are");
    }
}
