//! What a group's threads did with memory, page by page ([`Page`]): its last write, its last atomics, the reads since.
//!
//! Pages come when memory is touched and are used again by the next group.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::cell_page::{self, PAGE, PAGE_BYTES, Page, Rules};
use super::past_accesses::{CLOCK, MOST_CLOCK, word_by};
pub(super) use super::past_accesses::{
    ChannelRange, CurrentAccess, PastAccess, WHOLE, is_several, known_channel, several_channels,
};
use super::races_in_group::{RaceAccess, SLM};
use crate::address_map::Map;

/// Bytes that are looked at one by one where some of them are no whole dword.
const LINE: u32 = 32;
/// Bytes that may be taken by all groups that run side by side, besides half of what the launch's buffers have.
pub(super) const SPARE_BYTES: u64 = 96 << 20;
/// Bytes beyond which what a group took is not kept for the next.
const KEPT_BYTES: u64 = 16 << 20;
/// The clock beyond which a group begins anew.
const LATE: u32 = MOST_CLOCK / 4;
/// Most pages of shared local memory that are found by their number.
const LOCAL_PAGES: u64 = 1 << 12;

/// No page.
const NOBODY: u32 = u32::MAX;

/// There is no room to remember an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoRoom;

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

/// Accesses of bytes side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    /// The first byte's.
    pub key: u64,
    pub bytes: u32,
    pub by: ChannelRange,
    /// What stores wrote; zeros where it ends before.
    pub values: &'a [u8],
}

/// The number that some bytes are, zeros where they end before.
pub(super) fn number(values: &[u8], at: u32, bytes: u32) -> u32 {
    let value = values.get(at as usize..).unwrap_or_default();
    let value = &value[..value.len().min(bytes as usize)];
    value.iter().rev().fold(0, |x, b| x << 8 | u32::from(*b))
}

/// The cells of a group.
#[derive(Debug)]
pub(super) struct Cells {
    /// Pages by number; those that were looked up last; those of shared local memory.
    index: Map<u32>,
    last: Recent,
    local: Vec<u32>,
    /// Those from `used` on are free.
    pages: Vec<Page>,
    used: usize,
    /// The clock at which the group began, and the latest word.
    base: u32,
    latest: u64,
    budget: Arc<Budget>,
    /// Bytes of the budget that are taken.
    taken: u64,
    /// The current access, cell by cell: words and values.
    words: Vec<u64>,
    values: Vec<u32>,
}

/// Pages that were looked up last, by the low bits of their number.
#[derive(Clone, Debug)]
struct Recent([(u64, u32); RECENT]);

const RECENT: usize = 32;

impl Default for Recent {
    fn default() -> Recent {
        Recent([(u64::MAX, 0); RECENT])
    }
}

impl Default for Cells {
    fn default() -> Cells {
        Cells::of(Arc::default())
    }
}

/// What is told of accesses that race: the key, the channel, and the other access.
type Told<'a> = &'a mut dyn FnMut(u64, u8, (PastAccess, RaceAccess));

impl Cells {
    /// Cells that take of a budget.
    pub fn of(budget: Arc<Budget>) -> Cells {
        Cells {
            index: Map::default(),
            last: Recent::default(),
            local: Vec::new(),
            pages: Vec::new(),
            used: 0,
            base: 0,
            latest: 0,
            budget,
            taken: 0,
            words: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Another group's.
    pub fn clear(&mut self) {
        if self.taken > KEPT_BYTES || self.base > LATE {
            *self = Cells::of(self.give_back());
            return;
        }
        if self.used == 0 {
            return;
        }
        self.base = (self.latest >> CLOCK) as u32;
        self.index.clear();
        self.last = Recent::default();
        self.local.fill(NOBODY);
        self.used = 0;
    }

    /// Gives back what of the budget is taken.
    fn give_back(&mut self) -> Arc<Budget> {
        self.budget.give_back(std::mem::take(&mut self.taken));
        Arc::clone(&self.budget)
    }

    fn take(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let fits = bytes == 0 || self.budget.take(bytes as u64);
        self.taken += if fits { bytes as u64 } else { 0 };
        if fits { Ok(()) } else { Err(NoRoom) }
    }

    #[inline]
    fn page(&mut self, key: u64) -> Result<usize, NoRoom> {
        let (number, local) = (key / PAGE, (key & !SLM) / PAGE);
        if key & SLM != 0 && local < LOCAL_PAGES {
            return match self.local.get(local as usize) {
                Some(at) if *at != NOBODY => Ok(*at as usize),
                _ => self.add_local(local as usize),
            };
        }
        let recent = number as usize % RECENT;
        let (known, at) = self.last.0[recent];
        if known == number {
            return Ok(at as usize);
        }
        let at = match self.index.get(&number) {
            Some(at) => *at,
            None => {
                let at = self.add_page()?;
                self.index.insert(number, at);
                at
            }
        };
        self.last.0[recent] = (number, at);
        Ok(at as usize)
    }

    #[cold]
    fn add_local(&mut self, number: usize) -> Result<usize, NoRoom> {
        let at = self.add_page()?;
        if self.local.len() <= number {
            self.local.resize(number + 1, NOBODY);
        }
        self.local[number] = at;
        Ok(at as usize)
    }

    fn add_page(&mut self) -> Result<u32, NoRoom> {
        let at = u32::try_from(self.used).map_err(|_| NoRoom)?;
        match self.pages.get_mut(self.used) {
            Some(page) => page.renew(),
            None => {
                self.take(PAGE_BYTES)?;
                self.pages.push(Page::new());
            }
        }
        self.used += 1;
        Ok(at)
    }

    /// Makes accesses; `races` is told of those that race: of the key, the channel and the other access. `guess` is
    /// given the instruction of the thread's own read there.
    ///
    /// # Errors
    /// If one of them cannot be remembered.
    pub fn access(
        &mut self,
        run: &Run<'_>,
        making: &mut CurrentAccess<'_>,
        guess: &mut Option<u32>,
        races: Told<'_>,
    ) -> Result<(), NoRoom> {
        let aligned = run.key & 3 == 0 && !run.by.is_narrow();
        let mut at = 0;
        while at < run.bytes {
            let key = run.key.wrapping_add(u64::from(at));
            let inside = (key % PAGE) as u32;
            let mut bytes = (PAGE as u32 - inside).min(run.bytes - at);
            let mut narrow = !aligned;
            if aligned && bytes & 3 != 0 {
                // The last line alone.
                let line = (inside + bytes) / LINE * LINE;
                narrow = line <= inside;
                bytes = if narrow { bytes } else { line - inside };
            }
            self.part(run, (key, at, bytes), narrow, making, guess, races)?;
            at += bytes;
        }
        Ok(())
    }

    /// Makes accesses of dwords that are all that a run is of, if none of them can race; else some of them may be made.
    ///
    /// # Errors
    /// If one of them cannot be remembered.
    #[inline]
    pub fn at_once(&mut self, run: &Run<'_>, making: &mut CurrentAccess<'_>) -> Result<bool, NoRoom> {
        let mut at = 0;
        while at < run.bytes {
            let key = run.key.wrapping_add(u64::from(at));
            let bytes = (PAGE as u32 - (key % PAGE) as u32).min(run.bytes - at);
            let part = Part { page: self.page(key)?, key, at, bytes };
            if !self.part_at_once(run, part, making)? {
                return Ok(false);
            }
            at += bytes;
        }
        Ok(true)
    }

    /// Makes accesses to a part of a page if none of them can race; else does nothing.
    #[inline]
    fn part_at_once(
        &mut self,
        run: &Run<'_>,
        Part { page, key, at, bytes }: Part,
        making: &mut CurrentAccess<'_>,
    ) -> Result<bool, NoRoom> {
        let size = if self.pages[page].has_bytes() { 1 } else { 4 };
        let later = self.later(making)?;
        let first = (key % PAGE) as usize / size as usize;
        let last = run.by.channel(at + bytes - 1);
        making.by(run.by.channel(at));
        let rules = Rules::of(making, last, self.base);
        let word = making.word + later;
        self.latest = self.latest.max(word);
        if making.access == RaceAccess::Atomic {
            return Ok(false);
        }
        let count = (bytes / size) as usize;
        self.words.clear();
        match run.by.each_bytes() {
            None => self.words.resize(count, word),
            Some(_) => {
                let one = |n: u32| word_by(word, run.by.channel(at + n * size));
                self.words.extend((0..bytes / size).map(one));
            }
        }
        if making.access == RaceAccess::Read {
            let slot = self.reader(page, making)?;
            let cells = cell_page::Cells { first, words: &self.words, values: &[], latest: word };
            return Ok(self.pages[page].read(slot, &cells, rules));
        }
        self.read_values(run, (at, bytes), size);
        let cells = cell_page::Cells { first, words: &self.words, values: &self.values, latest: word };
        Ok(self.pages[page].write(making.past.thread, &cells, rules))
    }

    /// Makes accesses to a part of a page.
    fn part(
        &mut self,
        run: &Run<'_>,
        (key, at, bytes): (u64, u32, u32),
        narrow: bool,
        making: &mut CurrentAccess<'_>,
        guess: &mut Option<u32>,
        races: Told<'_>,
    ) -> Result<(), NoRoom> {
        let page = self.page(key)?;
        if narrow && !self.pages[page].has_bytes() {
            let more = self.pages[page].cut();
            self.take(more)?;
        }
        if self.part_at_once(run, Part { page, key, at, bytes }, making)? {
            return Ok(());
        }
        let size = if self.pages[page].has_bytes() { 1 } else { 4 };
        let (later, first) = (self.later(making)?, (key % PAGE) as usize / size as usize);
        if making.access == RaceAccess::Atomic {
            let more = self.pages[page].has_atomics();
            self.take(more)?;
        }
        let together = if narrow || size == 4 { 1 } else { 4 };
        for n in (0..bytes / size).step_by(together as usize) {
            let channel = run.by.channel(at + n * size);
            making.by(channel);
            let rules = Rules::of(making, channel, self.base);
            let mut raced = None;
            for n in n..n + together {
                let (page, cell) = (&mut self.pages[page], first + n as usize);
                if making.compares {
                    *guess = guess.or(page.own_read(making.past.thread, cell, rules));
                }
                let value = number(run.values, at + n * size, size);
                let race = page.one(cell, (making, rules), (making.word + later, value));
                raced = raced.or(race);
            }
            if let Some(race) = raced {
                races(key + u64::from(n * size), channel, race);
            }
        }
        Ok(())
    }

    /// What words have more than those of the group's own clocks.
    #[inline]
    fn later(&self, making: &CurrentAccess<'_>) -> Result<u64, NoRoom> {
        let fits = self.base + making.past.clock < MOST_CLOCK;
        if fits { Ok(u64::from(self.base) << CLOCK) } else { Err(NoRoom) }
    }

    #[inline]
    fn reader(&mut self, page: usize, making: &CurrentAccess<'_>) -> Result<usize, NoRoom> {
        let (slot, more) = self.pages[page].reader(making.past.thread).ok_or(NoRoom)?;
        self.take(more)?;
        Ok(slot)
    }

    /// The values of a part of a run, cell by cell.
    #[inline]
    fn read_values(&mut self, run: &Run<'_>, (at, bytes): (u32, u32), size: u32) {
        let values = run.values.get(at as usize..).unwrap_or_default();
        let values = &values[..values.len().min(bytes as usize)];
        self.values.clear();
        if size == 1 {
            self.values.extend(values.iter().map(|b| u32::from(*b)));
        } else {
            let (all, rest) = values.as_chunks::<4>();
            self.values.extend(all.iter().map(|b| u32::from_le_bytes(*b)));
            if !rest.is_empty() {
                self.values.push(number(rest, 0, 4));
            }
        }
        self.values.resize((bytes / size) as usize, 0);
    }

    /// May an atomic race with anything?
    pub fn atomic_may_race(&mut self, key: u64, making: &CurrentAccess<'_>) -> bool {
        let (Ok(page), Ok(later)) = (self.page(key), self.later(making)) else { return true };
        let rules = Rules::of(making, making.past.channel, self.base);
        let (page, cell) = (&self.pages[page], (key % PAGE) as usize / 4);
        page.has_bytes() || !page.atomic_passes(cell, making.word + later, making.loads, rules)
    }

    /// Makes an atomic that races with nothing.
    ///
    /// # Errors
    /// If it cannot be remembered.
    pub fn atomic(&mut self, key: u64, making: &CurrentAccess<'_>) -> Result<(), NoRoom> {
        let more = {
            let page = self.page(key)?;
            self.pages[page].has_atomics()
        };
        self.take(more)?;
        self.dword(key, making, 0).map(|_| ())
    }

    /// Makes an access to a dword; gives the one that it races with.
    ///
    /// # Errors
    /// If it cannot be remembered.
    #[inline]
    pub fn dword(
        &mut self,
        key: u64,
        making: &CurrentAccess<'_>,
        value: u32,
    ) -> Result<Option<(PastAccess, RaceAccess)>, NoRoom> {
        let (page, later) = (self.page(key)?, self.later(making)?);
        let rules = Rules::of(making, making.past.channel, self.base);
        let word = making.word + later;
        self.latest = self.latest.max(word);
        if making.access == RaceAccess::Read {
            self.reader(page, making)?;
        }
        let page = &mut self.pages[page];
        let inside = (key % PAGE) as usize;
        if !page.has_bytes() {
            return Ok(page.one(inside / 4, (making, rules), (word, value)));
        }
        let mut raced = None;
        for (n, byte) in value.to_le_bytes().into_iter().enumerate() {
            let race = page.one(inside + n, (making, rules), (word, u32::from(byte)));
            raced = raced.or(race);
        }
        Ok(raced)
    }
}

/// A part of a run that is in one page.
#[derive(Clone, Copy, Debug)]
struct Part {
    page: usize,
    /// Of the first byte; where in the run that is; bytes.
    key: u64,
    at: u32,
    bytes: u32,
}

impl Drop for Cells {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::super::cell_page::READER_BYTES;
    use super::super::past_accesses::SEVERAL;
    use super::*;

    fn past(thread: u32, clock: u32) -> PastAccess {
        PastAccess { thread, pc: 0xf_fff0, clock, channel: SEVERAL }
    }

    fn making(past: PastAccess, access: RaceAccess) -> CurrentAccess<'static> {
        CurrentAccess::new(past, access, &[], (0, 0)).expect("small")
    }

    fn run(key: u64, bytes: u32, channel: u8, values: &[u8]) -> Run<'_> {
        Run { key, bytes, by: ChannelRange::single(channel), values }
    }

    #[test]
    fn cells_are_what_was_made_of_them() {
        let mut cells = Cells::default();
        let access = |cells: &mut Cells, key: u64, bytes: u32, p: PastAccess, a: RaceAccess, value: u32| {
            let (mut making, mut found) = (making(p, a), None);
            let mut race =
                |_, _, (past, access): (PastAccess, RaceAccess)| found = Some((past.thread, access));
            let values = value.to_le_bytes();
            let run = run(key, bytes, p.channel, &values[..bytes as usize]);
            cells.access(&run, &mut making, &mut None, &mut race).expect("room");
            found
        };
        use RaceAccess::{Read, Write};
        for thread in 1..4 {
            assert_eq!(access(&mut cells, 0x1000, 4, past(thread, thread), Read, 0), None);
        }
        assert_eq!(access(&mut cells, 0x1000, 4, past(4, 4), Write, 0x0403_0201), Some((1, Read)));
        assert_eq!(access(&mut cells, 0x1004, 4, past(5, 5), Write, 0x0807_0605), None);
        // A byte of the page is accessed: its cells are of bytes from now on, and hold the values.
        assert_eq!(access(&mut cells, 0x1002, 1, past(6, 6), Write, 3), None, "what is there already");
        assert_eq!(access(&mut cells, 0x1002, 1, past(7, 6), Write, 9), Some((6, Write)));
        assert_eq!(access(&mut cells, 0x1004, 4, past(7, 7), Write, 0x0807_0605), None);
        assert_eq!(access(&mut cells, 0x1007, 1, past(6, 8), Write, 7), Some((7, Write)));
        // Another group has none of it, and uses its pages.
        let taken = cells.taken;
        cells.clear();
        assert_eq!(access(&mut cells, 0x1000, 4, past(3, 7), Read, 0), None);
        assert_eq!(access(&mut cells, 0x1000, 4, past(3, 7), Write, 1), None);
        assert_eq!((cells.pages.len(), cells.taken), (1, taken));
    }

    #[test]
    fn there_is_room_for_so_much() {
        let budget = Arc::new(Budget::new(2 * (PAGE_BYTES + READER_BYTES) as u64));
        let mut all = [Cells::of(Arc::clone(&budget)), Cells::of(Arc::clone(&budget))];
        let access = |cells: &mut Cells, key: u64| {
            let mut making = making(past(1, 1), RaceAccess::Read);
            cells.access(&run(key, 32, 0, &[]), &mut making, &mut None, &mut |_, _, _| ()).is_ok()
        };
        assert!(access(&mut all[0], 0) && access(&mut all[1], 0));
        assert!(!access(&mut all[0], 1 << 20) && !access(&mut all[1], 1 << 20), "in sum");
        assert!(access(&mut all[0], 32), "what is known goes on");
        let [one, mut other] = all;
        drop(one);
        assert!(access(&mut other, 1 << 20), "what is given back can be taken");
    }
}
