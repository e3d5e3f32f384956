//! Which bytes of memory a launch reads and writes.

use std::collections::BTreeMap;
use std::ops::Range;

use envisa_machine::observer::Observer;
use envisa_machine::thread::{AccessKind, Machine, Mask};

const PAGE: u64 = 4096;

/// A bit for each byte of a page.
#[derive(Clone, Debug)]
struct Page {
    read: [u64; 64],
    written: [u64; 64],
}

/// Collects the bytes that are accessed, but for memory that is the launch's own.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    /// By address divided by the page's size.
    pages: BTreeMap<u64, Box<Page>>,
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

fn mark(bits: &mut [u64; 64], from: u64, to: u64) {
    for at in from..to {
        bits[at as usize / 64] |= 1 << (at % 64);
    }
}

/// Addresses whose bits are set, as ranges in order.
fn ranges<'a>(pages: impl Iterator<Item = (u64, &'a [u64; 64])>) -> Vec<Range<u64>> {
    let mut all: Vec<Range<u64>> = Vec::new();
    for (page, bits) in pages {
        for at in (0..PAGE).filter(|at| bits[*at as usize / 64] >> (at % 64) & 1 != 0) {
            let address = page * PAGE + at;
            match all.last_mut() {
                Some(last) if last.end == address => last.end += 1,
                _ => all.push(address..address + 1),
            }
        }
    }
    all
}

impl Footprint {
    /// Addresses that are read; of atomics too.
    pub fn read(&self) -> Vec<Range<u64>> {
        ranges(self.pages.iter().map(|(at, p)| (*at, &p.read)))
    }

    /// Stores left these addresses as they were.
    pub fn exclude(&mut self, left: &[Range<u64>]) {
        for range in left {
            for (start, page) in self.pages.range_mut(range.start / PAGE..range.end.div_ceil(PAGE)) {
                let start = start * PAGE;
                for at in range.start.max(start) - start..range.end.min(start + PAGE) - start {
                    page.written[at as usize / 64] &= !(1 << (at % 64));
                }
            }
        }
    }

    /// Addresses that are written; of atomics too.
    pub fn written(&self) -> Vec<Range<u64>> {
        ranges(self.pages.iter().map(|(at, p)| (*at, &p.written)))
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
        for (at, page) in other.pages {
            match self.pages.get_mut(&at) {
                None => {
                    self.pages.insert(at, page);
                }
                Some(mine) => {
                    for i in 0..64 {
                        mine.read[i] |= page.read[i];
                        mine.written[i] |= page.written[i];
                    }
                }
            }
        }
    }

    fn before(&mut self, _: &Machine<'_>, _: u32, _: Mask) {}

    fn after(&mut self, m: &Machine<'_>, _: u32, _: Mask, _: u32) {
        // Those of one message are mostly to one allocation.
        let (mut around, mut private) = (0..0, false);
        for a in m.accesses.iter().filter(|a| !a.outside) {
            let Some(place) = a.place else { continue };
            if !around.contains(&place) {
                (around, private) = m.env.memory.privacy(place);
            }
            if private {
                continue;
            }
            let end = place.saturating_add(u64::from(a.bytes));
            let mut at = place;
            while at < end {
                let stop = end.min((at / PAGE + 1) * PAGE);
                let none = || Box::new(Page { read: [0; 64], written: [0; 64] });
                let page = self.pages.entry(at / PAGE).or_insert_with(none);
                let (from, to) = (at % PAGE, at % PAGE + (stop - at));
                if a.kind != AccessKind::Write {
                    mark(&mut page.read, from, to);
                }
                if a.kind != AccessKind::Read {
                    mark(&mut page.written, from, to);
                }
                at = stop;
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
        let page = || Box::new(Page { read: [0; 64], written: [0; 64] });
        for at in [7, 8] {
            one.pages.insert(at, page());
        }
        mark(&mut one.pages.get_mut(&7).unwrap().read, 4090, 4096);
        let mut other = Footprint::default();
        other.pages.insert(8, page());
        mark(&mut other.pages.get_mut(&8).unwrap().read, 0, 3);
        mark(&mut other.pages.get_mut(&8).unwrap().written, 100, 164);
        one.merge(other);
        assert_eq!(one.read(), [7 * 4096 + 4090..8 * 4096 + 3]);
        assert_eq!(one.written(), [8 * 4096 + 100..8 * 4096 + 164]);
        one.exclude(&[0..8 * 4096 + 104, 8 * 4096 + 160..9 * 4096 + 1]);
        assert_eq!(one.written(), [8 * 4096 + 104..8 * 4096 + 160]);
    }
}
