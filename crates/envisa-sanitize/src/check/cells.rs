//! What a group's threads did with each dword of memory, or byte where bytes are accessed: its last write, its last
//! atomic, the reads since.
//!
//! Cells are of two words and lie in pages, which come when memory is touched and are used again by the next group. Most
//! hold one write, or one or two readers; the others name a [`Full`].

use super::group::{Map, RaceAccess};

/// Dwords of a page.
const PAGE: usize = 64;
/// Most pages of a group: of 64 MiB of memory, of which 256 MiB are taken.
const MAX_PAGES: usize = 1 << 18;

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

#[derive(Clone, Copy, Debug)]
struct Cell(u64, u64);

const EMPTY: Cell = Cell(NONE & !TAG | READS, NONE);

/// The cells of a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    /// Pages by number; the last one that was looked up.
    index: Map<u32>,
    last: Option<(u64, u32)>,
    /// [`PAGE`] cells of dwords, or four times as many of bytes; those from `used` on are free.
    pages: Vec<Vec<Cell>>,
    used: usize,
    full: Vec<Full>,
    free: Vec<u32>,
    /// A cell that is looked at.
    now: Full,
}

impl Cells {
    /// Another group's.
    pub fn clear(&mut self) {
        self.index.clear();
        self.last = None;
        self.used = 0;
        self.free.clear();
        self.free.extend((0..self.full.len() as u32).rev());
    }

    fn page(&mut self, number: u64) -> Option<usize> {
        if let Some((known, at)) = self.last
            && known == number
        {
            return Some(at as usize);
        }
        let at = match self.index.get(&number) {
            Some(at) => *at,
            None => {
                if self.used == MAX_PAGES {
                    return None;
                }
                if self.used == self.pages.len() {
                    self.pages.push(Vec::new());
                }
                let page = self.pages.get_mut(self.used)?;
                page.clear();
                page.resize(PAGE, EMPTY);
                self.used += 1;
                self.index.insert(number, self.used as u32 - 1);
                self.used as u32 - 1
            }
        };
        self.last = Some((number, at));
        Some(at as usize)
    }

    /// Looks at the cell of a dword, or at those of its bytes, and changes them; `None` if they cannot be remembered.
    /// `change` is told the cell and the number of the byte, if it is one.
    pub fn change(
        &mut self,
        key: u64,
        bytes: u32,
        mut change: impl FnMut(&mut Full, Option<u32>),
    ) -> Option<()> {
        let dword = key / 4;
        let page = self.page(dword / PAGE as u64)?;
        let at = dword as usize % PAGE;
        if bytes < 4 && self.pages[page].len() == PAGE {
            self.split(page);
        }
        if self.pages[page].len() == PAGE {
            return self.one(page, at, |full| change(full, None));
        }
        if bytes < 4 {
            let byte = key as u32 & 3;
            return self.one(page, at * 4 + byte as usize, |full| change(full, Some(byte)));
        }
        for byte in 0..4 {
            self.one(page, at * 4 + byte as usize, |full| change(full, Some(byte)))?;
        }
        Some(())
    }

    fn one(&mut self, page: usize, at: usize, change: impl FnOnce(&mut Full)) -> Option<()> {
        let cell = self.pages[page][at];
        let mut now = std::mem::take(&mut self.now);
        self.unpack(cell, &mut now);
        change(&mut now);
        let packed = self.pack(cell, &mut now);
        self.now = now;
        self.pages[page][at] = packed?;
        Some(())
    }

    fn unpack(&mut self, cell: Cell, to: &mut Full) {
        to.clear();
        match cell.0 & TAG {
            READS => {
                let readers = [cell.0, cell.1].into_iter().filter(|r| r | TAG != NONE);
                to.reads.extend(readers.map(Past::unpack));
            }
            WRITE => to.write = Some((Past::unpack(cell.0), cell.1 as u32)),
            _ => {
                if let Some(full) = self.full.get_mut(cell.1 as usize) {
                    std::mem::swap(full, to);
                }
            }
        }
    }

    fn pack(&mut self, old: Cell, full: &mut Full) -> Option<Cell> {
        let small = match (&full.write, &full.atomic, &full.reads[..]) {
            (None, None, []) => Some(EMPTY),
            (None, None, [one]) => Some(Cell(one.pack()? | READS, NONE)),
            (None, None, [one, other]) => Some(Cell(one.pack()? | READS, other.pack()?)),
            (Some((past, value)), None, []) => Some(Cell(past.pack()? | WRITE, u64::from(*value))),
            _ => None,
        };
        let number = (old.0 & TAG == FULL).then_some(old.1 as u32);
        if let Some(small) = small {
            self.free.extend(number);
            return Some(small);
        }
        let number = match number.or_else(|| self.free.pop()) {
            Some(number) => number,
            None => {
                self.full.push(Full::default());
                self.full.len() as u32 - 1
            }
        };
        std::mem::swap(self.full.get_mut(number as usize)?, full);
        Some(Cell(FULL, u64::from(number)))
    }

    /// Cells of bytes from now on.
    fn split(&mut self, page: usize) {
        let old = std::mem::take(&mut self.pages[page]);
        let mut cells = Vec::with_capacity(4 * PAGE);
        for cell in old {
            for byte in 0..4 {
                cells.push(match cell.0 & TAG {
                    WRITE => Cell(cell.0, cell.1 >> (8 * byte) & 0xff),
                    FULL if byte > 0 => {
                        let mut full = self.full.get(cell.1 as usize).cloned().unwrap_or_default();
                        full.write = full.write.map(|(p, v)| (p, v >> (8 * byte) & 0xff));
                        self.full.push(full);
                        Cell(FULL, self.full.len() as u64 - 1)
                    }
                    _ => cell,
                });
            }
            if cell.0 & TAG == FULL
                && let Some(first) = self.full.get_mut(cell.1 as usize)
            {
                first.write = first.write.map(|(p, v)| (p, v & 0xff));
            }
        }
        self.pages[page] = cells;
    }
}

/// In place of a channel: several of a thread.
pub(super) const SEVERAL: u8 = 63;
/// In place of a channel: the thread as such.
pub(super) const WHOLE: u8 = 62;

/// An access that is being made, with what its thread knows.
pub(super) struct Making<'a> {
    pub past: Past,
    pub access: RaceAccess,
    /// An atomic that leaves what is there.
    pub loads: bool,
    /// How far each thread is known to have come.
    pub known: &'a [u32],
    /// From when on nothing has ordered the channels of this thread.
    pub since: u32,
}

impl Full {
    /// Makes an access; gives the one it races with.
    pub fn access(&mut self, making: &Making<'_>, value: u32) -> Option<(Past, RaceAccess)> {
        let Making { past, access, known, since, loads } = *making;
        let known = |thread: u32| known.get(thread as usize).copied().unwrap_or(0);
        // The channels of a thread run in step here; in another width, or elsewhere, they do not.
        let beside = |p: &Past| {
            p.clock >= since
                && p.pc != past.pc
                && p.channel != past.channel
                && p.channel != WHOLE
                && past.channel != WHOLE
        };
        let races = |p: &Past| if p.thread == past.thread { beside(p) } else { p.clock > known(p.thread) };
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

    #[test]
    fn cells_are_what_was_made_of_them() {
        let mut cells = Cells::default();
        let seen = |cells: &mut Cells, key: u64, bytes: u32| {
            let mut all = Vec::new();
            cells.change(key, bytes, |f, byte| all.push((f.clone(), byte))).expect("room");
            all
        };
        cells.change(0x1000, 4, |f, _| f.reads = vec![past(1, 1), past(2, 2), past(3, 3)]).expect("room");
        cells.change(0x1000, 4, |f, _| f.write = Some((past(4, 4), 0x0403_0201))).expect("room");
        cells.change(0x1004, 4, |f, _| f.write = Some((past(5, 5), 0x0807_0605))).expect("room");
        assert_eq!(seen(&mut cells, 0x1000, 4)[0].0.reads.len(), 3);
        // A byte of the page is accessed: its cells are of bytes from now on.
        let byte = seen(&mut cells, 0x1002, 1);
        assert_eq!((byte[0].0.write, byte[0].1), (Some((past(4, 4), 3)), Some(2)));
        assert_eq!(byte[0].0.reads.len(), 3);
        let all = seen(&mut cells, 0x1004, 4);
        assert_eq!(all.iter().map(|(f, _)| f.write.map(|w| w.1)).collect::<Vec<_>>(), [5, 6, 7, 8].map(Some));
        // Another group has none of it, and uses its pages.
        cells.clear();
        assert!(seen(&mut cells, 0x1000, 4)[0].0.write.is_none());
        assert_eq!(cells.pages.len(), 1);
    }

    #[test]
    fn there_is_room_for_so_many_pages() {
        let mut cells = Cells { used: MAX_PAGES, ..Cells::default() };
        assert!(cells.change(0, 4, |_, _| ()).is_none());
    }
}
