//! Rows: accesses of a message to bytes side by side, or reads of the same bytes, which are looked at as one.

use std::ops::Range;

use envisa_lower::Message;
use envisa_machine::thread::{Access, AccessKind, AccessRow, AccessSpace, Machine};

use super::report_places::Sites;

/// Accesses of one kind and size to bytes side by side, in their order, or reads of the same bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The first of them.
    pub access: Access,
    /// The index of its row among the message's.
    pub from: usize,
    /// How many there are.
    pub count: usize,
    /// The first one's element among those of its channel.
    pub part: u32,
    /// All of them read the same.
    pub same: bool,
    /// They were told of as one: neighbouring channels have as many each.
    pub one: bool,
    /// How many that is.
    pub parts: u32,
}

impl Row {
    /// Bytes of all of them.
    pub fn bytes(&self) -> u64 {
        if self.same { 1 } else { self.count as u64 }.wrapping_mul(u64::from(self.access.bytes))
    }

    /// Adds an access; false if it is none of this row.
    #[inline]
    fn add(&mut self, a: &Access) -> bool {
        let first = &self.access;
        if first.bytes != a.bytes
            || first.kind != a.kind
            || first.space != a.space
            || first.outside
            || a.outside
        {
            return false;
        }
        let again = a.kind == AccessKind::Read && (self.same || self.count == 1);
        if again && a.address == first.address && a.place == first.place {
            (self.same, self.count) = (true, self.count + 1);
            return true;
        }
        let done = self.bytes();
        let next = !self.same
            && first.address.wrapping_add(done) == a.address
            && first.place.map(|p| p.wrapping_add(done)) == a.place;
        self.count += usize::from(next);
        next
    }

    /// Does it touch none of these bytes?
    pub fn is_apart(&self, range: &Range<u64>) -> bool {
        let start = self.access.address;
        range.end <= start || start.saturating_add(self.bytes()) <= range.start
    }

    /// Does it lie in these bytes?
    pub fn is_in(&self, start: u64, bytes: u64) -> bool {
        let from = self.access.address.wrapping_sub(start);
        from <= bytes && self.bytes() <= bytes - from
    }
}

/// Makes rows of the accesses of a message, of those that anything depends on.
pub(super) fn of(m: &Machine<'_>, pc: u32, message: &Message, sites: &Sites, rows: &mut Vec<Row>) {
    rows.clear();
    let all = sites.are_all_results_used(pc);
    for (from, row) in m.accesses.rows().iter().enumerate() {
        let AccessRow { first: access, count, parts, same, part } = *row;
        // Not all parts of each channel: each on its own.
        if !all && parts > 1 {
            for (n, access) in row.iter().enumerate() {
                let part = part + n as u32 % parts;
                if sites.is_result_used(message, &access, part) {
                    rows.push(Row { access, from, count: 1, part, same, one: true, parts: 1 });
                }
            }
            continue;
        }
        if !all && !sites.is_result_used(message, &access, part) {
            continue;
        }
        if count > 1 {
            rows.push(Row { access, from, count: count as usize, part, same, one: true, parts });
            continue;
        }
        let last = rows.last_mut().filter(|row| !row.one && row.from + row.count == from);
        if !last.is_some_and(|row| row.add(&access)) {
            rows.push(Row { access, from, count: 1, part, same: false, one: false, parts: 1 });
        }
    }
}

/// Do stores of several rows go to places apart?
pub(super) fn are_apart(rows: &[Row]) -> bool {
    let place = |r: &Row| (r.access.space == AccessSpace::Slm, r.access.place.unwrap_or(r.access.address));
    rows.iter().all(|r| r.access.kind != AccessKind::Write)
        || rows.windows(2).all(|pair| {
            let ((slm, start), (next_slm, next)) = (place(&pair[0]), place(&pair[1]));
            slm == next_slm && start.wrapping_add(pair[0].bytes()) <= next
        })
}
