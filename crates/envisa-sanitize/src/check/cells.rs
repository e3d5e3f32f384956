//! What a group's threads did with memory: its last write, its last atomic, the reads since.
//!
//! Memory is looked at in lines. Where whole lines are read and written by neighbouring channels, each side by side, as
//! most are, a line has one mark for each access, which is of all of its bytes. A line that is accessed otherwise has a
//! cell for each dword, or byte where bytes are accessed, until it is written as one again. Lines lie in pages, which
//! come when memory is touched and are used again by the next group.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::group::{Map, RaceAccess};
use super::numbers::{NOBODY, Numbers};
use super::past::{BUT_PC, NONE, same_thread, word_at};
pub(super) use super::past::{By, Making, Past, SEVERAL, WHOLE, is_several, known_channel, several_with};

/// Bytes of a line.
pub(super) const LINE: usize = 32;
/// Lines of a page.
const LINES: usize = 8;
/// Bytes of memory of a page.
const PAGE: u64 = (LINE * LINES) as u64;
/// Bytes of a page and of what leads to it.
const PAGE_BYTES: usize = size_of::<Page>() + 64;
/// Bytes of the cells of a line of dwords.
const PART_BYTES: usize = LINE / 4 * size_of::<Cell>() + 64;
/// Bytes of all of a cell, but for its readers.
const FULL_BYTES: usize = size_of::<Full>();
/// Bytes that may be taken by all groups that run side by side, besides half of what the launch's buffers have.
pub(super) const SPARE_BYTES: u64 = 96 << 20;
/// Bytes beyond which what a group took is not kept for the next.
const KEPT_BYTES: u64 = 16 << 20;

/// All of a cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Full {
    /// The last write, and what it wrote.
    pub write: Option<(Past, u32)>,
    /// The last atomic since, and the last of another thread than that.
    pub atomics: [Option<Past>; 2],
    /// The reads since, one a thread.
    pub reads: Vec<Past>,
}

impl Full {
    fn clear(&mut self) {
        (self.write, self.atomics) = (None, [None; 2]);
        self.reads.clear();
    }
}

/// There is no room to remember an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoRoom;

/// What is known of a dword or byte: its last write, the first two readers since, as words; or the number of a [`Full`].
#[derive(Clone, Copy, Debug)]
struct Cell {
    write: u64,
    reads: [u64; 2],
    /// What was written.
    value: u32,
    full: u32,
}

const EMPTY: Cell = Cell { write: NONE, reads: [NONE; 2], value: 0, full: NOBODY };

impl Cell {
    /// Makes an access that fits in there and that races with nothing; false if it is none, and nothing is changed.
    #[inline(always)]
    fn hold(&mut self, making: &Making<'_>, value: u32) -> bool {
        let word = making.word;
        let races = |old: u64| old != NONE && making.races(&Past::unpack(old));
        match making.access {
            _ if self.full != NOBODY => false,
            RaceAccess::Read => {
                // Its own, since when nobody was told of anything: whatever races with the read races with the write.
                if (self.write ^ word) & BUT_PC == 0 {
                    return true;
                }
                if races(self.write) {
                    return false;
                }
                for reader in &mut self.reads {
                    if *reader == NONE {
                        *reader = word;
                        return true;
                    }
                    if same_thread(*reader, word) {
                        *reader = making.read_again(*reader);
                        return true;
                    }
                }
                false
            }
            RaceAccess::Write => {
                // Who writes what is there already disturbs nobody.
                if self.write == NONE || self.value != value {
                    if races(self.write) || races(self.reads[0]) || races(self.reads[1]) {
                        return false;
                    }
                    self.reads = [NONE; 2];
                }
                (self.write, self.value) = (word, value);
                true
            }
            RaceAccess::Atomic => false,
        }
    }

    /// Nothing but the last write is known, if there is no [`Full`].
    fn is_write_alone(&self) -> bool {
        self.write != NONE && self.reads == [NONE; 2]
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

/// A line: the marks of accesses to all of it, or its cells.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// The last write.
    write: u64,
    /// The first two readers since, and a list of the others.
    reads: [u64; 2],
    more: u32,
    /// Its cells; it has no marks then.
    part: u32,
}

const NEW: Line = Line { write: NONE, reads: [NONE; 2], more: NOBODY, part: NOBODY };

#[derive(Clone, Debug)]
struct Page {
    lines: [Line; LINES],
    /// What the last writes of lines wrote.
    values: [u8; PAGE as usize],
}

/// Accesses of bytes side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    /// The first byte's.
    pub key: u64,
    pub bytes: u32,
    pub by: By,
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
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// Pages by number; those that were looked up last.
    index: Map<u32>,
    last: Recent,
    /// Those from `used` on are free.
    pages: Vec<Page>,
    used: usize,
    /// Cells of lines, of dwords or of bytes; those that are free.
    parts: Vec<Vec<Cell>>,
    part_numbers: Numbers,
    full: Vec<Full>,
    full_numbers: Numbers,
    /// Readers of lines.
    more: Vec<Vec<u64>>,
    more_numbers: Numbers,
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
        if self.used == 0 {
            return;
        }
        self.index.clear();
        self.last = Recent::default();
        self.used = 0;
        for numbers in [&mut self.part_numbers, &mut self.full_numbers, &mut self.more_numbers] {
            numbers.clear();
        }
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
        match self.pages.get_mut(self.used) {
            Some(page) => page.lines = [NEW; LINES],
            None => {
                self.take(PAGE_BYTES)?;
                self.pages.push(Page { lines: [NEW; LINES], values: [0; PAGE as usize] });
            }
        }
        self.used += 1;
        self.index.insert(number, at);
        Some(at)
    }

    /// Makes accesses; `races` is told of those that race: of the key, the channel and the other access. `guess` is
    /// given the instruction of the thread's own read there.
    ///
    /// # Errors
    /// If one of them cannot be remembered.
    pub fn access(
        &mut self,
        run: &Run<'_>,
        making: &mut Making<'_>,
        guess: &mut Option<u32>,
        races: &mut impl FnMut(u64, u8, (Past, RaceAccess)),
    ) -> Result<(), NoRoom> {
        let mut at = 0;
        while at < run.bytes {
            let key = run.key.wrapping_add(u64::from(at));
            let page = self.page(key / PAGE).ok_or(NoRoom)?;
            let (line, inside) = ((key % PAGE) as usize / LINE, key as u32 % LINE as u32);
            let bytes = (LINE as u32 - inside).min(run.bytes - at);
            if bytes as usize != LINE || !self.whole((page, line), run, at, making).ok_or(NoRoom)? {
                let place = Place { page, line, inside, bytes, key };
                self.apart(place, run, at, making, guess, races)?;
            }
            at += bytes;
        }
        Ok(())
    }

    /// Makes an access to a dword; gives the one that it races with.
    ///
    /// # Errors
    /// If it cannot be remembered.
    #[inline]
    pub fn dword(
        &mut self,
        key: u64,
        making: &Making<'_>,
        value: u32,
    ) -> Result<Option<(Past, RaceAccess)>, NoRoom> {
        let page = self.page(key / PAGE).ok_or(NoRoom)?;
        let (line, inside) = ((key % PAGE) as usize / LINE, key as usize % LINE);
        let part = match self.pages[page].lines[line].part {
            NOBODY => self.part((page, line), false).ok_or(NoRoom)?,
            part => part as usize,
        };
        let mut guess = None;
        if self.parts[part].len() == LINE {
            for byte in 0..4 {
                self.one(part, inside + byte, making, value >> (8 * byte) & 0xff, &mut guess)?;
            }
        } else {
            self.one(part, inside / 4, making, value, &mut guess)?;
        }
        Ok(self.raced.take())
    }

    /// Makes an access to all of a line, from a byte of the run on, that races with nothing; false if it is none, or
    /// the line has cells, and nothing is changed.
    #[inline]
    fn whole(
        &mut self,
        (page, line): (usize, usize),
        run: &Run<'_>,
        at: u32,
        making: &Making<'_>,
    ) -> Option<bool> {
        let Some(by) = run.by.from(at) else { return Some(false) };
        let mark = making.mark(by);
        let Page { lines, values } = &mut self.pages[page];
        let l = &mut lines[line];
        if l.part != NOBODY {
            return Some(false);
        }
        match making.access {
            RaceAccess::Read => {
                if l.write != NONE {
                    // As of cells.
                    if (l.write ^ mark) & BUT_PC == 0 {
                        return Some(true);
                    }
                    if making.marks_race(l.write, mark) != Some(false) {
                        return Some(false);
                    }
                }
                for reader in &mut l.reads {
                    if *reader == NONE {
                        *reader = mark;
                        return Some(true);
                    }
                    if same_thread(*reader, mark) {
                        let Some(stays) = making.marks_read_again(*reader, mark) else { return Some(false) };
                        *reader = stays;
                        return Some(true);
                    }
                }
                self.read_more((page, line), making, mark)
            }
            RaceAccess::Write => {
                let Some(new) = run.values.get(at as usize..at as usize + LINE) else { return Some(false) };
                let old = &mut values[line * LINE..(line + 1) * LINE];
                // Who writes what is there already disturbs nobody.
                let same = l.write != NONE && old == new;
                if !same {
                    let races = |old: u64| old != NONE && making.marks_race(old, mark) != Some(false);
                    let more = self.more.get(l.more as usize).map_or(&[][..], |m| m);
                    // The thread as such races with none of its channels, which do so where what they read stays.
                    let hides = |r: u64| r != NONE && making.hides(r, mark);
                    if races(l.write) || l.reads.iter().chain(more).any(|r| races(*r) || hides(*r)) {
                        return Some(false);
                    }
                    l.reads = [NONE; 2];
                    if l.more != NOBODY {
                        self.more_numbers.free.push(std::mem::replace(&mut l.more, NOBODY));
                    }
                    old.copy_from_slice(new);
                }
                l.write = mark;
                Some(true)
            }
            RaceAccess::Atomic => Some(false),
        }
    }

    /// One more reader of a line than two.
    #[inline(never)]
    fn read_more(&mut self, (page, line): (usize, usize), making: &Making<'_>, mark: u64) -> Option<bool> {
        let mut number = self.pages[page].lines[line].more;
        if number == NOBODY {
            if self.more_numbers.next() >= self.more.len() {
                self.take(64)?;
                self.more.push(Vec::new());
            }
            let n = self.more_numbers.take()?;
            self.more[n].clear();
            number = n as u32;
            self.pages[page].lines[line].more = number;
        }
        let more = self.more.get_mut(number as usize)?;
        if let Some(reader) = more.iter_mut().find(|r| same_thread(**r, mark)) {
            let Some(stays) = making.marks_read_again(*reader, mark) else { return Some(false) };
            *reader = stays;
            return Some(true);
        }
        let room = more.capacity();
        more.push(mark);
        let added = (more.capacity() - room) * size_of::<u64>();
        if added > 0 {
            self.take(added)?;
        }
        Some(true)
    }

    /// Makes accesses to a part of a line, or to all of it, cell by cell.
    #[inline(never)]
    fn apart(
        &mut self,
        place: Place,
        run: &Run<'_>,
        at: u32,
        making: &mut Making<'_>,
        guess: &mut Option<u32>,
        races: &mut impl FnMut(u64, u8, (Past, RaceAccess)),
    ) -> Result<(), NoRoom> {
        let Place { page, line, inside, bytes, key } = place;
        let narrow = (run.key as u32 | inside | bytes) & 3 != 0 || run.by.is_narrow();
        let part = self.part((page, line), narrow).ok_or(NoRoom)?;
        let is_bytes = self.parts[part].len() == LINE;
        let step = if narrow { 1 } else { 4 };
        let mut raced = false;
        for n in (0..bytes).step_by(step as usize) {
            let channel = run.by.channel(at + n);
            making.by(channel);
            let (first, value) = (inside + n, number(run.values, at + n, step));
            if !is_bytes {
                self.one(part, first as usize / 4, making, value, guess)?;
            } else {
                for byte in 0..step {
                    self.one(part, (first + byte) as usize, making, value >> (8 * byte) & 0xff, guess)?;
                }
            }
            if let Some(race) = self.raced.take() {
                raced = true;
                races(key + u64::from(n), channel, race);
            }
        }
        if bytes as usize == LINE && making.access == RaceAccess::Write && !raced {
            self.join((page, line), part, run, at, making);
        }
        Ok(())
    }

    /// Makes one line again of cells that have just been written together, where nothing else is known of them.
    fn join(
        &mut self,
        (page, line): (usize, usize),
        part: usize,
        run: &Run<'_>,
        at: u32,
        making: &Making<'_>,
    ) {
        let values = run.values.get(at as usize..at as usize + LINE);
        let (Some(by), Some(values)) = (run.by.from(at), values) else { return };
        let alone = |cell: &Cell| match cell.full {
            NOBODY => cell.is_write_alone(),
            n => self.full.get(n as usize).is_some_and(|f| f.reads.is_empty() && f.atomics[0].is_none()),
        };
        if !self.parts[part].iter().all(alone) {
            return;
        }
        let fulls = self.parts[part].iter().map(|c| c.full).filter(|n| *n != NOBODY);
        self.full_numbers.free.extend(fulls);
        self.part_numbers.free.push(part as u32);
        let Page { lines, values: to } = &mut self.pages[page];
        lines[line] = Line { write: making.mark(by), ..NEW };
        to[line * LINE..(line + 1) * LINE].copy_from_slice(values);
    }

    #[inline]
    fn one(
        &mut self,
        part: usize,
        at: usize,
        making: &Making<'_>,
        value: u32,
        guess: &mut Option<u32>,
    ) -> Result<(), NoRoom> {
        let cell = self.parts[part].get_mut(at).ok_or(NoRoom)?;
        if !making.compares && cell.hold(making, value) {
            return Ok(());
        }
        let number = match cell.full {
            NOBODY => self.spread(part, at).ok_or(NoRoom)?,
            n => n as usize,
        };
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
    fn spread(&mut self, part: usize, at: usize) -> Option<usize> {
        let number = self.add_full()?;
        let cell = *self.parts[part].get(at)?;
        let to = self.full.get_mut(number)?;
        to.reads.extend(cell.reads.into_iter().filter(|r| *r != NONE).map(Past::unpack));
        to.write = (cell.write != NONE).then(|| (Past::unpack(cell.write), cell.value));
        self.parts[part][at] = Cell { full: number as u32, ..EMPTY };
        Some(number)
    }

    fn add_full(&mut self) -> Option<usize> {
        match self.full.get_mut(self.full_numbers.next()) {
            Some(full) => full.clear(),
            None => {
                self.take(FULL_BYTES)?;
                self.full.push(Full::default());
            }
        }
        self.full_numbers.take()
    }

    /// The cells of a line: of bytes, if that is asked for.
    fn part(&mut self, (page, line): (usize, usize), bytes: bool) -> Option<usize> {
        let Line { write, reads, more, part } = self.pages[page].lines[line];
        if part != NOBODY {
            let part = part as usize;
            if bytes && self.parts[part].len() != LINE {
                self.cut(part)?;
            }
            return Some(part);
        }
        let readers = self.more.get(more as usize).cloned().unwrap_or_default();
        let marks = || reads.iter().chain(&readers).copied().filter(|r| *r != NONE);
        let narrow = bytes || marks().chain((write != NONE).then_some(write)).any(|m| By::of(m).is_narrow());
        if self.part_numbers.next() >= self.parts.len() {
            self.take(PART_BYTES)?;
            self.parts.push(Vec::with_capacity(LINE / 4));
        }
        let part = self.part_numbers.take()?;
        let mut cells = std::mem::take(&mut self.parts[part]);
        cells.clear();
        if narrow && cells.capacity() < LINE {
            self.take(3 * PART_BYTES)?;
            cells.reserve_exact(LINE);
        }
        let mut room = Some(());
        let step = if narrow { 1 } else { 4 };
        for byte in (0..LINE as u32).step_by(step as usize) {
            let value = number(&self.pages[page].values, (line * LINE) as u32 + byte, step);
            let words = [write, reads[0], reads[1]].map(|m| if m == NONE { NONE } else { word_at(m, byte) });
            let cell = match (readers.is_empty(), words) {
                (true, [write, first, second]) => Cell {
                    write,
                    reads: [first, second],
                    value: if write == NONE { 0 } else { value },
                    ..EMPTY
                },
                (false, [write, ..]) => match self.add_full() {
                    Some(number) => {
                        let full = &mut self.full[number];
                        full.write = (write != NONE).then(|| (Past::unpack(write), value));
                        full.reads.extend(marks().map(|m| Past::unpack(word_at(m, byte))));
                        Cell { full: number as u32, ..EMPTY }
                    }
                    None => {
                        room = None;
                        EMPTY
                    }
                },
            };
            cells.push(cell);
        }
        self.parts[part] = cells;
        if more != NOBODY {
            self.more_numbers.free.push(more);
        }
        self.pages[page].lines[line] = Line { part: part as u32, ..NEW };
        room.map(|()| part)
    }

    /// Cells of bytes from now on.
    fn cut(&mut self, part: usize) -> Option<()> {
        let dwords = std::mem::take(&mut self.parts[part]);
        let mut bytes = Vec::with_capacity(LINE);
        let mut room = self.take(3 * PART_BYTES);
        for cell in dwords {
            for byte in 0..4 {
                bytes.push(match cell.full {
                    NOBODY => Cell { value: cell.value >> (8 * byte) & 0xff, ..cell },
                    n => self.byte(n as usize, byte).unwrap_or_else(|| {
                        room = None;
                        EMPTY
                    }),
                });
            }
            if cell.full != NOBODY {
                self.full_numbers.free.push(cell.full);
            }
        }
        self.parts[part] = bytes;
        room
    }

    /// A byte of a whole dword's cell.
    fn byte(&mut self, number: usize, byte: u32) -> Option<Cell> {
        let mut part = self.full.get(number)?.clone();
        part.write = part.write.map(|(p, v)| (p, v >> (8 * byte) & 0xff));
        let at = self.add_full()?;
        *self.full.get_mut(at)? = part;
        Some(Cell { full: at as u32, ..EMPTY })
    }
}

/// A part of a line.
#[derive(Clone, Copy, Debug)]
struct Place {
    page: usize,
    line: usize,
    /// Its first byte in the line, and how many there are.
    inside: u32,
    bytes: u32,
    /// Of the first byte.
    key: u64,
}

impl Drop for Cells {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl Full {
    /// Makes an access; gives the one it races with.
    pub fn access(&mut self, making: &Making<'_>, value: u32) -> Option<(Past, RaceAccess)> {
        let Making { past, access, since, loads, .. } = *making;
        let races = |p: &Past| making.races(p);
        let written = self.write.filter(|(p, _)| races(p));
        let atomic = self.atomics.into_iter().flatten().find(races).map(|p| (p, RaceAccess::Atomic));
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
                written.map(|(p, _)| (p, RaceAccess::Write)).or(atomic)
            }
            RaceAccess::Write => {
                // Who writes what is there already disturbs nobody.
                let same = self.write.is_some_and(|(_, v)| v == value);
                let mut race = written.filter(|_| !same).map(|(p, _)| (p, RaceAccess::Write));
                if !same {
                    race = race.or(self.reader(races).map(|r| (r, RaceAccess::Read)));
                    self.reads.clear();
                }
                self.write = Some((past, value));
                self.atomics = [None; 2];
                race.or(atomic)
            }
            RaceAccess::Atomic => {
                let mut race = written.map(|(p, _)| (p, RaceAccess::Write));
                if !loads {
                    race = race.or(self.reader(races).map(|r| (r, RaceAccess::Read)));
                    let mut here = past;
                    match self.atomics[0] {
                        Some(a) if a.thread != past.thread => self.atomics[1] = Some(a),
                        Some(a) if a.clock >= since && a.channel != past.channel => here.channel = SEVERAL,
                        _ => {}
                    }
                    self.atomics[0] = Some(here);
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

    fn making(past: Past, access: RaceAccess) -> Making<'static> {
        Making::new(past, access, &[], 0).expect("small")
    }

    fn run(key: u64, bytes: u32, channel: u8, values: &[u8]) -> Run<'_> {
        Run { key, bytes, by: By::one(channel), values }
    }

    #[test]
    fn cells_are_what_was_made_of_them() {
        let mut cells = Cells::default();
        let access = |cells: &mut Cells, key: u64, bytes: u32, p: Past, a: RaceAccess, value: u32| {
            let (mut making, mut found) = (making(p, a), None);
            let mut race = |_, _, (past, access): (Past, RaceAccess)| found = Some((past.thread, access));
            let values = value.to_le_bytes();
            let run = run(key, bytes, p.channel, &values[..bytes as usize]);
            cells.access(&run, &mut making, &mut None, &mut race).expect("room");
            found
        };
        use RaceAccess::{Read, Write};
        // One and two readers are kept in the cell, the third is not.
        for thread in 1..4 {
            assert_eq!(access(&mut cells, 0x1000, 4, past(thread, thread), Read, 0), None);
        }
        assert_eq!(cells.full.len(), 1);
        assert_eq!(access(&mut cells, 0x1000, 4, past(4, 4), Write, 0x0403_0201), Some((1, Read)));
        assert_eq!(access(&mut cells, 0x1004, 4, past(5, 5), Write, 0x0807_0605), None);
        assert_eq!(cells.full.len(), 1);
        // A byte of the line is accessed: its cells are of bytes from now on, and hold the values.
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
