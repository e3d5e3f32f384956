//! Which bytes of memory a launch reads and writes.

use std::ops::Range;

use envisa_machine::observer::Observer;
use envisa_machine::thread::{AccessKind, Machine, Mask};

use crate::address_map::Map;
use crate::byte_bits::{add_set, words};

const PAGE: u64 = 4096;

/// A bit for each byte of a page.
#[derive(Clone, Debug)]
struct Page {
    /// Its address divided by its size.
    number: u64,
    read: [u64; 64],
    written: [u64; 64],
}

/// Collects the bytes that are accessed, but for memory that is the launch's own.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    /// In the order in which they were first accessed.
    pages: Vec<Page>,
    /// Where each is among them, by its number.
    index: Map<usize>,
    /// Where the one is that was accessed last.
    last: usize,
}

/// The bytes that a launch accessed, by address, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Accessed {
    /// Read.
    pub read: Vec<Range<u64>>,
    /// Written.
    pub written: Vec<Range<u64>>,
    /// Some of these may have been read, too: which, is not known.
    pub may_read: Vec<Range<u64>>,
}

/// Ranges in order, none of which meets another.
pub(crate) fn in_order<'r>(ranges: impl Iterator<Item = &'r Range<u64>>) -> Vec<Range<u64>> {
    merged(ranges.cloned().collect())
}

fn merged(mut all: Vec<Range<u64>>) -> Vec<Range<u64>> {
    all.sort_by_key(|range| range.start);
    let mut out: Vec<Range<u64>> = Vec::new();
    for range in all {
        match out.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

/// What of ranges is not in others; both are in order.
pub(crate) fn subtracted(ranges: &[Range<u64>], others: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut out = Vec::new();
    for range in ranges {
        let mut at = range.start;
        let first = others.partition_point(|other| other.end <= at);
        for other in others[first..].iter().take_while(|other| other.start < range.end) {
            if at < other.start {
                out.push(at..other.start);
            }
            at = other.end;
        }
        if at < range.end {
            out.push(at..range.end);
        }
    }
    out
}

impl Footprint {
    /// Addresses that are read; of atomics too.
    pub fn read(&self) -> Vec<Range<u64>> {
        self.ranges(|page| &page.read)
    }

    /// Addresses that are written; of atomics too.
    pub fn written(&self) -> Vec<Range<u64>> {
        self.ranges(|page| &page.written)
    }

    /// Stores left these addresses as they were.
    pub(crate) fn exclude(&mut self, left: &[Range<u64>]) {
        let left = in_order(left.iter());
        for page in &mut self.pages {
            let (start, end) = (page.number * PAGE, page.number * PAGE + PAGE);
            let first = left.partition_point(|range| range.end <= start);
            for range in left[first..].iter().take_while(|range| range.start < end) {
                let (from, to) = (range.start.max(start) - start, range.end.min(end) - start);
                for (word, bits) in words(from as u32, (to - from) as u32) {
                    page.written[word] &= !bits;
                }
            }
        }
    }

    /// Addresses whose bits are set, as ranges in order.
    fn ranges(&self, bits: impl Fn(&Page) -> &[u64; 64]) -> Vec<Range<u64>> {
        let mut pages: Vec<&Page> = self.pages.iter().collect();
        pages.sort_unstable_by_key(|page| page.number);
        let mut all = Vec::new();
        for page in pages {
            for (word, n) in bits(page).iter().zip(0..) {
                add_set(&mut all, page.number * PAGE + 64 * n, *word);
            }
        }
        all
    }

    /// A page, by its number.
    #[inline]
    fn page(&mut self, number: u64) -> &mut Page {
        if self.pages.get(self.last).is_none_or(|page| page.number != number) {
            self.last = *self.index.entry(number).or_insert_with(|| {
                self.pages.push(Page { number, read: [0; 64], written: [0; 64] });
                self.pages.len() - 1
            });
        }
        &mut self.pages[self.last]
    }

    /// Bytes side by side are accessed.
    pub(crate) fn add(&mut self, start: u64, bytes: u64, kind: AccessKind) {
        let end = start.saturating_add(bytes);
        let mut at = start;
        while at < end {
            let stop = end.min((at / PAGE + 1) * PAGE);
            let page = self.page(at / PAGE);
            for (word, bits) in words((at % PAGE) as u32, (stop - at) as u32) {
                if kind != AccessKind::Write {
                    page.read[word] |= bits;
                }
                if kind != AccessKind::Read {
                    page.written[word] |= bits;
                }
            }
            at = stop;
        }
    }
}

impl Observer for Footprint {
    fn fork(&self) -> Self {
        Footprint::default()
    }

    fn wants_all(&self, _: u32) -> bool {
        true
    }

    fn merge(&mut self, other: Self) {
        for page in other.pages {
            let mine = self.page(page.number);
            for i in 0..64 {
                mine.read[i] |= page.read[i];
                mine.written[i] |= page.written[i];
            }
        }
    }

    fn before(&mut self, _: &Machine<'_>, _: u32, _: Mask) {}

    fn after(&mut self, m: &Machine<'_>, _: u32, _: Mask, _: u32) {
        // Those of one message are mostly to one allocation.
        let (mut around, mut private) = (0..0, false);
        for row in m.accesses.rows() {
            let a = &row.first;
            let (false, Some(place)) = (a.outside, a.place) else { continue };
            if !around.contains(&place) {
                (around, private) = m.env.memory.privacy(place);
            }
            if !private {
                self.add(place, row.bytes(), a.kind);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::single_range_in_vec_init, reason = "lists of ranges are what is compared")]
    fn ranges_go_on_over_pages() {
        let mut one = Footprint::default();
        let mut other = Footprint::default();
        other.add(8 * 4096 + 100, 64, AccessKind::Write);
        other.add(8 * 4096, 3, AccessKind::Read);
        one.add(7 * 4096 + 4090, 6, AccessKind::Read);
        one.merge(other);
        assert_eq!(one.read(), [7 * 4096 + 4090..8 * 4096 + 3]);
        assert_eq!(one.written(), [8 * 4096 + 100..8 * 4096 + 164]);
        one.exclude(&[8 * 4096 + 160..9 * 4096 + 1, 0..8 * 4096 + 104]);
        assert_eq!(one.written(), [8 * 4096 + 104..8 * 4096 + 160]);
    }
}
