//! What a group's threads did with each dword of memory, or byte where bytes are accessed: its last write, its last
//! atomic, the reads since.
//!
//! Cells are of two words and lie in pages, which come when memory is touched and are used again by the next group. Most
//! hold one write, or one or two readers; the others name a [`Full`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::group::{Map, RaceAccess};

/// Dwords of a page.
const PAGE: usize = 64;
/// Bytes of a page and of what leads to it.
const PAGE_BYTES: usize = PAGE * size_of::<Cell>() + 64;
/// Bytes of all of a cell, but for its readers.
const FULL_BYTES: usize = size_of::<Full>();
/// Bytes that may be taken by all groups that run side by side, besides half of what the launch's buffers have.
pub(super) const SPARE_BYTES: u64 = 96 << 20;
/// Bytes beyond which what a group took is not kept for the next.
const KEPT_BYTES: u64 = 16 << 20;

/// An access of the past.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Past {
    pub thread: u32,
    pub pc: u32,
    pub clock: u32,
    pub channel: u8,
}

/// Bits of a cell's first word, from the lowest: what the cell holds, the channel, the thread, the instruction, the
/// clock.
const TAG: u64 = 3;
const READS: u64 = 0;
const WRITE: u64 = 1;
const FULL: u64 = 2;
const CHANNEL: u32 = 2;
const THREAD: u32 = 8;
const PC: u32 = 16;
const CLOCK: u32 = 36;
const PC_BITS: u64 = 0xf_ffff << PC;
const CHANNEL_BITS: u64 = 0x3f << CHANNEL;
const NONE: u64 = u64::MAX;

impl Past {
    /// As a word; `None` if a part of it is too large.
    fn pack(self) -> Option<u64> {
        let fits =
            self.channel < 1 << 6 && self.thread < 1 << 8 && self.pc < 1 << 20 && self.clock < (1 << 28) - 1;
        fits.then_some(
            u64::from(self.channel) << CHANNEL
                | u64::from(self.thread) << THREAD
                | u64::from(self.pc) << PC
                | u64::from(self.clock) << CLOCK,
        )
    }

    fn unpack(word: u64) -> Past {
        Past {
            thread: (word >> THREAD) as u32 & 0xff,
            pc: (word >> PC) as u32 & 0xf_ffff,
            clock: (word >> CLOCK) as u32,
            channel: (word >> CHANNEL) as u8 & 0x3f,
        }
    }
}

/// All of a cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Full {
    /// The last write, and what it wrote.
    pub write: Option<(Past, u32)>,
    /// The last atomic since.
    pub atomic: Option<Past>,
    /// The reads since, one a thread.
    pub reads: Vec<Past>,
}

impl Full {
    fn clear(&mut self) {
        (self.write, self.atomic) = (None, None);
        self.reads.clear();
    }
}

/// There is no room to remember an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoRoom;

#[derive(Clone, Copy, Debug)]
struct Cell(u64, u64);

const EMPTY: Cell = Cell(NONE & !TAG | READS, NONE);

impl Cell {
    /// Makes an access that these two words can hold and that races with nothing; false if it is none, and nothing is
    /// changed.
    #[inline(always)]
    fn hold(&mut self, making: &Making<'_>, value: u32) -> bool {
        let word = making.word;
        match (self.0 & TAG, making.access) {
            (READS, RaceAccess::Read) => {
                for reader in [&mut self.0, &mut self.1] {
                    if *reader | TAG == NONE {
                        *reader = word;
                        return true;
                    }
                    if (*reader ^ word) >> THREAD & 0xff == 0 {
                        *reader = making.read_again(*reader);
                        return true;
                    }
                }
                false
            }
            (READS, RaceAccess::Write) => {
                let races = |r: u64| r | TAG != NONE && making.races(&Past::unpack(r));
                if races(self.0) || races(self.1) {
                    return false;
                }
                *self = Cell(word | WRITE, u64::from(value));
                true
            }
            (WRITE, RaceAccess::Write) => {
                if self.1 != u64::from(value) && making.races(&Past::unpack(self.0)) {
                    return false;
                }
                *self = Cell(word | WRITE, u64::from(value));
                true
            }
            // Its own, since when nobody was told of anything: whatever races with the read races with the write.
            (WRITE, RaceAccess::Read) => (self.0 ^ word) & !(TAG | PC_BITS) == 0,
            _ => false,
        }
    }
}

/// Memory that the cells of all groups that run side by side may take.
#[derive(Debug)]
pub(super) struct Budget(AtomicU64);

impl Budget {
    /// This many bytes.
    pub fn new(bytes: u64) -> Budget {
        Budget(AtomicU64::new(bytes))
    }

    fn take(&self, bytes: u64) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }

    fn give_back(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Default for Budget {
    fn default() -> Budget {
        Budget::new(SPARE_BYTES)
    }
}

/// The cells of a group.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// Pages by number; those that were looked up last.
    index: Map<u32>,
    last: Recent,
    /// [`PAGE`] cells of dwords, or four times as many of bytes; those from `used` on are free.
    pages: Vec<Vec<Cell>>,
    used: usize,
    /// Those from `used_full` on are free.
    full: Vec<Full>,
    used_full: usize,
    /// What the current access races with.
    raced: Option<(Past, RaceAccess)>,
    budget: Arc<Budget>,
    /// Bytes of the budget that are taken.
    taken: u64,
}

/// Pages that were looked up last, by the low bits of their number.
#[derive(Clone, Debug)]
struct Recent([(u64, u32); RECENT]);

const RECENT: usize = 32;

impl Default for Recent {
    fn default() -> Recent {
        Recent([(NONE, 0); RECENT])
    }
}

impl Cells {
    /// Cells that take of a budget.
    pub fn of(budget: Arc<Budget>) -> Cells {
        let mut cells = Cells::default();
        cells.budget = budget;
        cells
    }

    /// Another group's.
    pub fn clear(&mut self) {
        if self.taken > KEPT_BYTES {
            *self = Cells::of(self.give_back());
            return;
        }
        self.index.clear();
        self.last = Recent::default();
        (self.used, self.used_full) = (0, 0);
    }

    /// Gives back what of the budget is taken.
    fn give_back(&mut self) -> Arc<Budget> {
        self.budget.give_back(std::mem::take(&mut self.taken));
        Arc::clone(&self.budget)
    }

    fn take(&mut self, bytes: usize) -> Option<()> {
        let fits = self.budget.take(bytes as u64);
        self.taken += if fits { bytes as u64 } else { 0 };
        fits.then_some(())
    }

    #[inline]
    fn page(&mut self, number: u64) -> Option<usize> {
        let recent = number as usize % RECENT;
        let (known, at) = self.last.0[recent];
        if known == number {
            return Some(at as usize);
        }
        let at = match self.index.get(&number) {
            Some(at) => *at,
            None => self.add_page(number)?,
        };
        self.last.0[recent] = (number, at);
        Some(at as usize)
    }

    fn add_page(&mut self, number: u64) -> Option<u32> {
        let at = u32::try_from(self.used).ok()?;
        if self.used == self.pages.len() {
            self.take(PAGE_BYTES)?;
            self.pages.push(Vec::with_capacity(PAGE));
        }
        let page = self.pages.get_mut(self.used)?;
        page.clear();
        page.resize(PAGE, EMPTY);
        self.used += 1;
        self.index.insert(number, at);
        Some(at)
    }

    /// Makes accesses of 1 or 4 bytes each, aligned and side by side, by these channels, which write these values;
    /// `races` is told of those that race, of the key and of the other access. `guess` is given the instruction of the
    /// thread's own read there.
    ///
    /// # Errors
    /// If one of them cannot be remembered.
    pub fn access(
        &mut self,
        mut key: u64,
        bytes: u32,
        making: &mut Making<'_>,
        mut by: &[(u8, u32)],
        guess: &mut Option<u32>,
        races: &mut impl FnMut(u64, (Past, RaceAccess)),
    ) -> Result<(), NoRoom> {
        while let Some((channel, value)) = by.first() {
            let dword = key / 4;
            let page = self.page(dword / PAGE as u64).ok_or(NoRoom)?;
            let at = dword as usize % PAGE;
            let is_bytes = self.pages[page].len() != PAGE;
            if bytes == 4 && !is_bytes {
                let (here, rest) = by.split_at(by.len().min(PAGE - at));
                for (at, (channel, value)) in (at..).zip(here) {
                    making.by(*channel);
                    if making.compares || !self.pages[page][at].hold(making, *value) {
                        self.one(page, at, making, *value, guess)?;
                        if let Some(race) = self.raced.take() {
                            races(key, race);
                        }
                    }
                    key += 4;
                }
                by = rest;
                continue;
            }
            making.by(*channel);
            if !is_bytes {
                self.split(page).ok_or(NoRoom)?;
            }
            if bytes < 4 {
                self.one(page, at * 4 + (key & 3) as usize, making, *value, guess)?;
            } else {
                for byte in 0..4 {
                    self.one(page, at * 4 + byte, making, value >> (8 * byte) & 0xff, guess)?;
                }
            }
            if let Some(race) = self.raced.take() {
                races(key, race);
            }
            key += u64::from(bytes);
            by = &by[1..];
        }
        Ok(())
    }

    #[inline(never)]
    fn one(
        &mut self,
        page: usize,
        at: usize,
        making: &Making<'_>,
        value: u32,
        guess: &mut Option<u32>,
    ) -> Result<(), NoRoom> {
        let cell = &mut self.pages[page][at];
        if !making.compares && cell.hold(making, value) {
            return Ok(());
        }
        let number =
            if cell.0 & TAG == FULL { cell.1 as usize } else { self.spread(page, at).ok_or(NoRoom)? };
        let full = self.full.get_mut(number).ok_or(NoRoom)?;
        if making.compares {
            let read = full.reads.iter().find(|r| r.thread == making.past.thread);
            *guess = guess.or(read.map(|r| r.pc));
        }
        let room = full.reads.capacity();
        if let Some(race) = full.access(making, value) {
            self.raced.get_or_insert(race);
        }
        let more = (full.reads.capacity() - room) * size_of::<Past>();
        if more > 0 {
            self.take(more).ok_or(NoRoom)?;
        }
        Ok(())
    }

    /// Gives a cell a [`Full`].
    fn spread(&mut self, page: usize, at: usize) -> Option<usize> {
        let number = self.add_full()?;
        let cell = self.pages[page][at];
        let to = self.full.get_mut(number)?;
        match cell.0 & TAG {
            READS => {
                let readers = [cell.0, cell.1].into_iter().filter(|r| r | TAG != NONE);
                to.reads.extend(readers.map(Past::unpack));
            }
            _ => to.write = Some((Past::unpack(cell.0), cell.1 as u32)),
        }
        self.pages[page][at] = Cell(FULL, number as u64);
        Some(number)
    }

    fn add_full(&mut self) -> Option<usize> {
        let number = self.used_full;
        match self.full.get_mut(number) {
            Some(full) => full.clear(),
            None => {
                self.take(FULL_BYTES)?;
                self.full.push(Full::default());
            }
        }
        self.used_full += 1;
        Some(number)
    }

    /// Cells of bytes from now on.
    fn split(&mut self, page: usize) -> Option<()> {
        if self.pages[page].capacity() < 4 * PAGE {
            self.take(3 * PAGE_BYTES)?;
        }
        let mut parts = Vec::with_capacity(4 * PAGE);
        let mut room = Some(());
        for at in 0..PAGE {
            let cell = self.pages[page][at];
            for byte in 0..4 {
                parts.push(match cell.0 & TAG {
                    WRITE => Cell(cell.0, cell.1 >> (8 * byte) & 0xff),
                    FULL => self.part(cell.1 as usize, byte).unwrap_or_else(|| {
                        room = None;
                        EMPTY
                    }),
                    _ => cell,
                });
            }
        }
        self.pages[page] = parts;
        room
    }

    /// A byte of a whole dword's cell.
    fn part(&mut self, number: usize, byte: u32) -> Option<Cell> {
        let mut part = self.full.get(number)?.clone();
        part.write = part.write.map(|(p, v)| (p, v >> (8 * byte) & 0xff));
        let at = self.add_full()?;
        *self.full.get_mut(at)? = part;
        Some(Cell(FULL, at as u64))
    }
}

impl Drop for Cells {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// In place of a channel: several of a thread.
pub(super) const SEVERAL: u8 = 63;
/// In place of a channel: the thread as such.
pub(super) const WHOLE: u8 = 62;

/// An access that is being made, with what its thread knows.
pub(super) struct Making<'a> {
    pub past: Past,
    /// The same as a word.
    word: u64,
    pub access: RaceAccess,
    /// An atomic that leaves what is there.
    pub loads: bool,
    /// An atomic that compares.
    pub compares: bool,
    /// How far each thread is known to have come.
    known: &'a [u32],
    /// From when on nothing has ordered the channels of this thread.
    since: u32,
}

impl<'a> Making<'a> {
    /// `None` if it cannot be remembered.
    #[inline]
    pub fn new(past: Past, access: RaceAccess, known: &'a [u32], since: u32) -> Option<Making<'a>> {
        let word = past.pack()?;
        Some(Making { past, word, access, loads: false, compares: false, known, since })
    }

    /// It is by this channel.
    #[inline]
    fn by(&mut self, channel: u8) {
        self.past.channel = channel;
        self.word = self.word & !CHANNEL_BITS | u64::from(channel) << CHANNEL & CHANNEL_BITS;
    }

    /// Does it race with an access of the past, if one of them is more than a read?
    #[inline]
    fn races(&self, p: &Past) -> bool {
        if p.thread != self.past.thread {
            return p.clock > self.known.get(p.thread as usize).copied().unwrap_or(0);
        }
        // The channels of a thread run in step here; in another width, or elsewhere, they do not.
        p.clock >= self.since
            && p.pc != self.past.pc
            && p.channel != self.past.channel
            && p.channel != WHOLE
            && self.past.channel != WHOLE
    }

    /// What stays of a read by the same thread, and of this one.
    #[inline]
    fn read_again(&self, read: u64) -> u64 {
        let same_channel = (read ^ self.word) & CHANNEL_BITS == 0;
        let several = u64::from(SEVERAL) << CHANNEL;
        match (read ^ self.word) >> CLOCK == 0 {
            // The earlier of two in one interval tells as much.
            true if same_channel || self.past.channel == WHOLE => read,
            true => read & !CHANNEL_BITS | several,
            false if (read >> CLOCK) as u32 >= self.since && !same_channel => {
                self.word & !CHANNEL_BITS | several
            }
            false => self.word,
        }
    }
}

impl Full {
    /// Makes an access; gives the one it races with.
    pub fn access(&mut self, making: &Making<'_>, value: u32) -> Option<(Past, RaceAccess)> {
        let Making { past, access, since, loads, .. } = *making;
        let races = |p: &Past| making.races(p);
        let written = self.write.filter(|(p, _)| races(p));
        match access {
            RaceAccess::Read => {
                match self.reads.iter_mut().find(|r| r.thread == past.thread) {
                    // The earlier of two in one interval tells as much.
                    Some(r) if r.clock == past.clock => {
                        if r.channel != past.channel {
                            r.channel = if past.channel == WHOLE { r.channel } else { SEVERAL };
                        }
                    }
                    Some(r) if r.clock >= since && r.channel != past.channel => {
                        *r = Past { channel: SEVERAL, ..past };
                    }
                    Some(r) => *r = past,
                    None => self.reads.push(past),
                }
                let atomic = self.atomic.filter(races);
                written.map(|(p, _)| (p, RaceAccess::Write)).or(atomic.map(|p| (p, RaceAccess::Atomic)))
            }
            RaceAccess::Write => {
                // Who writes what is there already disturbs nobody.
                let same = self.write.is_some_and(|(_, v)| v == value);
                let mut race = written.filter(|_| !same).map(|(p, _)| (p, RaceAccess::Write));
                if !same {
                    race = race.or(self.reader(races).map(|r| (r, RaceAccess::Read)));
                    self.reads.clear();
                }
                race = race.or(self.atomic.filter(races).map(|p| (p, RaceAccess::Atomic)));
                self.write = Some((past, value));
                self.atomic = None;
                race
            }
            RaceAccess::Atomic => {
                let mut race = written.map(|(p, _)| (p, RaceAccess::Write));
                if !loads {
                    race = race.or(self.reader(races).map(|r| (r, RaceAccess::Read)));
                    self.atomic = Some(past);
                }
                race
            }
        }
    }

    fn reader(&self, races: impl Fn(&Past) -> bool) -> Option<Past> {
        self.reads.iter().filter(|r| races(r)).min_by_key(|r| (r.thread, r.pc)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(thread: u32, clock: u32) -> Past {
        Past { thread, pc: 0xf_fff0, clock, channel: SEVERAL }
    }

    #[test]
    fn accesses_are_kept_in_a_word() {
        let p = past(255, (1 << 28) - 2);
        assert_eq!(p.pack().map(|w| Past::unpack(w | FULL)), Some(p));
        assert!(past(256, 0).pack().is_none() && past(0, (1 << 28) - 1).pack().is_none());
        assert!(p.pack().is_some_and(|w| w & TAG == 0 && w != EMPTY.0));
    }

    fn making(past: Past, access: RaceAccess) -> Making<'static> {
        Making::new(past, access, &[], 0).expect("small")
    }

    #[test]
    fn cells_are_what_was_made_of_them() {
        let mut cells = Cells::default();
        let access = |cells: &mut Cells, key: u64, bytes: u32, p: Past, a: RaceAccess, value: u32| {
            let (mut making, mut found) = (making(p, a), None);
            let mut race = |_, (past, access): (Past, RaceAccess)| found = Some((past.thread, access));
            let by = [(p.channel, value)];
            cells.access(key, bytes, &mut making, &by, &mut None, &mut race).expect("room");
            found
        };
        use RaceAccess::{Read, Write};
        // One and two readers are kept in the cell, the third is not.
        for thread in 1..4 {
            assert_eq!(access(&mut cells, 0x1000, 4, past(thread, thread), Read, 0), None);
        }
        assert_eq!(cells.used_full, 1);
        assert_eq!(access(&mut cells, 0x1000, 4, past(4, 4), Write, 0x0403_0201), Some((1, Read)));
        assert_eq!(access(&mut cells, 0x1004, 4, past(5, 5), Write, 0x0807_0605), None);
        assert_eq!(cells.used_full, 1);
        // A byte of the page is accessed: its cells are of bytes from now on, and hold the values.
        assert_eq!(access(&mut cells, 0x1002, 1, past(6, 6), Write, 3), None, "what is there already");
        assert_eq!(access(&mut cells, 0x1002, 1, past(7, 6), Write, 9), Some((6, Write)));
        assert_eq!(access(&mut cells, 0x1004, 4, past(7, 7), Write, 0x0807_0605), None);
        assert_eq!(access(&mut cells, 0x1007, 1, past(6, 8), Write, 7), Some((7, Write)));
        // Another group has none of it, and uses its pages.
        let taken = cells.taken;
        cells.clear();
        assert_eq!(access(&mut cells, 0x1000, 4, past(7, 7), Read, 0), None);
        assert_eq!((cells.pages.len(), cells.taken), (1, taken));
    }

    #[test]
    fn there_is_room_for_so_much() {
        let budget = Arc::new(Budget::new(2 * PAGE_BYTES as u64));
        let mut all = [Cells::of(Arc::clone(&budget)), Cells::of(Arc::clone(&budget))];
        let access = |cells: &mut Cells, key: u64| {
            let mut making = making(past(1, 1), RaceAccess::Read);
            cells.access(key, 4, &mut making, &[(0, 0)], &mut None, &mut |_, _| ()).is_ok()
        };
        assert!(access(&mut all[0], 0) && access(&mut all[1], 0));
        assert!(!access(&mut all[0], 1 << 20) && !access(&mut all[1], 1 << 20), "in sum");
        assert!(access(&mut all[0], 4), "what is known goes on");
        let [one, mut other] = all;
        drop(one);
        assert!(access(&mut other, 1 << 20), "what is given back can be taken");
    }
}
