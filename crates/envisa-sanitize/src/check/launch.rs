//! Races between the groups of a launch: nothing orders them but atomics, so any two groups of which one stores
//! what the other accesses race, or one changes atomically what the other reads.
//!
//! What is kept of each dword (or byte, in pages where bytes are accessed) does not depend on the order of
//! accesses: the lowest two groups that read it, wrote it, changed it atomically, and whether all stores were of
//! one value. All workers share it. It grows with the pages that are touched, up to a limit.

use std::collections::hash_map::Entry;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::group::{Map, RaceAccess};

/// Bytes that may be taken to remember accesses, besides twice what the launch's buffers have.
pub(super) const SPARE_BYTES: u64 = 112 << 20;
/// Dwords of a page.
const PAGE: u64 = 256;
const SHARDS: usize = 64;

const NONE: u64 = u64::MAX;
/// Bits of a key, from the lowest: what the cell holds, the instruction, the thread, the group.
const TAG: u64 = 3;
const PC: u32 = 2;
const THREAD: u32 = 22;
const GROUP: u32 = 32;

/// Who accessed: ordered by group, thread, instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Who(u64);

impl Who {
    /// `None` if one of them is too large to be told apart.
    pub fn new(group: u64, thread: u32, pc: u32) -> Option<Who> {
        let fits = group < u32::MAX as u64 && thread < 1 << 10 && pc < 1 << 20;
        fits.then_some(Who(group << GROUP | (thread as u64) << THREAD | (pc as u64) << PC))
    }

    pub fn group(self) -> u64 {
        self.0 >> GROUP
    }

    pub fn thread(self) -> u32 {
        (self.0 >> THREAD) as u32 & 0x3ff
    }

    pub fn pc(self) -> u32 {
        (self.0 >> PC) as u32 & 0xf_ffff
    }
}

/// The lowest access and the lowest of another group.
#[derive(Clone, Copy, Debug)]
struct Two([u64; 2]);

impl Two {
    const NOBODY: Two = Two([NONE; 2]);

    fn add(&mut self, who: u64) {
        let Two([first, second]) = self;
        if who >> GROUP == *first >> GROUP {
            *first = who.min(*first);
        } else if who < *first {
            *second = *first;
            *first = who;
        } else {
            *second = who.min(*second);
        }
    }

    /// The lowest pair of different groups.
    fn against(self, other: Two) -> Option<(Who, Who)> {
        let [a, b] = self.0;
        let [c, d] = other.0;
        [(a, c), (a, d), (b, c)]
            .into_iter()
            .find(|(x, y)| *x != NONE && *y != NONE && x >> GROUP != y >> GROUP)
            .map(|(x, y)| (Who(x), Who(y)))
    }
}

/// All of a cell.
#[derive(Clone, Copy, Debug)]
struct Full {
    writes: Two,
    reads: Two,
    atomics: Two,
    /// What the first store wrote, and the bits that not all stores have in common.
    value: u32,
    differ: u32,
}

impl Full {
    const EMPTY: Full =
        Full { writes: Two::NOBODY, reads: Two::NOBODY, atomics: Two::NOBODY, value: 0, differ: 0 };

    fn add(&mut self, who: u64, access: RaceAccess, value: u32) {
        match access {
            RaceAccess::Read => self.reads.add(who),
            RaceAccess::Atomic => self.atomics.add(who),
            RaceAccess::Write => {
                if self.writes.0[0] == NONE {
                    self.value = value;
                }
                self.differ |= self.value ^ value;
                self.writes.add(who);
            }
        }
    }
}

/// Two words: readers only; what one group stored and perhaps read, without atomics; or the number of a [`Full`].
#[derive(Clone, Copy, Debug)]
struct Cell(u64, u64);

const READS: u64 = 0;
const WRITE: u64 = 1;
const FULL: u64 = 2;
/// Bits of the second word of what one group stored, above the value: its own lowest read, thread and instruction;
/// whether there is one; whether its stores differ.
const OWN_READ: u32 = 32;
const OWN_BITS: u64 = (1 << (GROUP - PC)) - 1;
const HAS_READ: u64 = 1 << 62;
const DIFFERS: u64 = 1 << 63;

impl Default for Cell {
    fn default() -> Cell {
        Cell(NONE & !TAG | READS, NONE)
    }
}

impl Cell {
    /// Notes an access that these two words can hold; false if they cannot, and nothing is changed.
    #[inline]
    fn hold(&mut self, who: u64, access: RaceAccess, value: u32) -> bool {
        let same_group = (self.0 ^ who) >> GROUP == 0;
        match (self.0 & TAG, access) {
            (READS, RaceAccess::Read) => {
                let mut two = Two([self.0 | if self.0 | TAG == NONE { TAG } else { 0 }, self.1]);
                two.add(who);
                *self = Cell(two.0[0] & !TAG | READS, two.0[1]);
                true
            }
            (READS, RaceAccess::Write) if self.0 | TAG == NONE => {
                *self = Cell(who | WRITE, u64::from(value));
                true
            }
            (READS, RaceAccess::Write) if same_group && self.1 == NONE => {
                let read = self.0 >> PC & OWN_BITS;
                *self = Cell(who | WRITE, read << OWN_READ | HAS_READ | u64::from(value));
                true
            }
            (WRITE, RaceAccess::Write) if same_group => {
                self.0 = (self.0 & !TAG).min(who) | WRITE;
                self.1 |= if self.1 as u32 == value { 0 } else { DIFFERS };
                true
            }
            (WRITE, RaceAccess::Read) if same_group => {
                let read = who >> PC & OWN_BITS;
                let known = self.1 >> OWN_READ & OWN_BITS;
                if self.1 & HAS_READ == 0 || read < known {
                    self.1 = self.1 & !(OWN_BITS << OWN_READ) | HAS_READ | read << OWN_READ;
                }
                true
            }
            _ => false,
        }
    }
}

#[derive(Debug, Default)]
struct Page {
    /// First words of [`PAGE`] cells of dwords, or of four times as many of bytes.
    first: Vec<u64>,
    /// Their second words; empty as long as all are none: memory that is read by one group alone takes half.
    second: Vec<u64>,
    full: Vec<Full>,
}

impl Page {
    fn cell(&self, index: usize) -> Cell {
        Cell(self.first[index], self.second.get(index).copied().unwrap_or(NONE))
    }

    fn set(&mut self, index: usize, cell: Cell) {
        self.first[index] = cell.0;
        if cell.1 != NONE && self.second.is_empty() {
            self.second.resize(self.first.len(), NONE);
        }
        if let Some(second) = self.second.get_mut(index) {
            *second = cell.1;
        }
    }

    /// Bytes that it takes.
    fn bytes(&self) -> u64 {
        let words = self.first.len() + self.second.len();
        (words * size_of::<u64>() + self.full.capacity() * size_of::<Full>()) as u64
    }

    fn unpack(&self, cell: Cell) -> Full {
        let mut full = Full::EMPTY;
        match cell.0 & TAG {
            READS if cell.0 | TAG != NONE => full.reads = Two([cell.0 & !TAG, cell.1]),
            READS => {}
            WRITE => {
                full.writes.0[0] = cell.0 & !TAG;
                full.value = cell.1 as u32;
                full.differ = if cell.1 & DIFFERS != 0 { u32::MAX } else { 0 };
                if cell.1 & HAS_READ != 0 {
                    full.reads.0[0] = cell.0 >> GROUP << GROUP | (cell.1 >> OWN_READ & OWN_BITS) << PC;
                }
            }
            _ => full = self.full.get(cell.1 as usize).copied().unwrap_or(full),
        }
        full
    }

    #[inline]
    fn add(&mut self, index: usize, who: u64, access: RaceAccess, value: u32) {
        let mut cell = self.cell(index);
        if cell.hold(who, access, value) {
            self.set(index, cell);
        } else if cell.0 & TAG == FULL {
            if let Some(full) = self.full.get_mut(cell.1 as usize) {
                full.add(who, access, value);
            }
        } else {
            let mut full = self.unpack(cell);
            full.add(who, access, value);
            self.full.push(full);
            self.set(index, Cell(FULL, self.full.len() as u64 - 1));
        }
    }

    /// Cells of bytes from now on.
    fn split(&mut self) {
        let old: Vec<Cell> = (0..self.first.len()).map(|i| self.cell(i)).collect();
        let mut cells = Vec::with_capacity(old.len() * 4);
        for cell in old {
            for byte in 0..4 {
                cells.push(match cell.0 & TAG {
                    WRITE => {
                        let rest = cell.1 >> OWN_READ << OWN_READ;
                        Cell(cell.0, rest | cell.1 >> (8 * byte) & 0xff)
                    }
                    FULL => {
                        let mut full = self.unpack(cell);
                        full.value = full.value >> (8 * byte) & 0xff;
                        full.differ = full.differ >> (8 * byte) & 0xff;
                        self.full.push(full);
                        Cell(FULL, self.full.len() as u64 - 1)
                    }
                    _ => cell,
                });
            }
        }
        self.first = vec![NONE; cells.len()];
        self.second.clear();
        for (i, cell) in cells.into_iter().enumerate() {
            self.set(i, cell);
        }
    }
}

/// What all groups of a launch accessed.
#[derive(Debug)]
pub(super) struct Launch {
    shards: Vec<Mutex<Map<Page>>>,
    /// Bytes that may be taken, and that are.
    limit: u64,
    taken: AtomicU64,
    /// Accesses that were not remembered.
    left_out: AtomicU64,
}

impl Default for Launch {
    fn default() -> Launch {
        Launch::new(SPARE_BYTES)
    }
}

/// Two groups that race for a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Race {
    /// The store, or the atomic.
    pub first: Who,
    /// Which of them it is.
    pub access: RaceAccess,
    /// The other access.
    pub second: Who,
    /// What it is.
    pub with: RaceAccess,
    /// Lowest address.
    pub address: u64,
    /// Dwords or bytes.
    pub count: u64,
}

impl Launch {
    /// Takes about this many bytes at most.
    pub fn new(limit: u64) -> Launch {
        Launch {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            limit,
            taken: AtomicU64::new(0),
            left_out: AtomicU64::new(0),
        }
    }

    /// Accesses that were not remembered, for want of room.
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// Notes an access of 1 or 4 bytes, aligned.
    pub fn access(&self, address: u64, bytes: u32, who: Who, access: RaceAccess, value: u32) {
        if bytes == 4 {
            return self.dwords(address, &[(0, value)], who, access);
        }
        self.change(address / 4 / PAGE, 1, |page| {
            if page.first.len() == PAGE as usize {
                page.split();
            }
            let index = (address / 4 % PAGE) as usize * 4 + (address & 3) as usize;
            page.add(index, who.0, access, value);
        });
    }

    /// Notes accesses of dwords side by side, by channels that nobody asks for, and what they wrote.
    pub fn dwords(&self, address: u64, values: &[(u8, u32)], who: Who, access: RaceAccess) {
        let (mut dword, mut values) = (address / 4, values);
        while !values.is_empty() {
            let at = (dword % PAGE) as usize;
            let (here, rest) = values.split_at(values.len().min(PAGE as usize - at));
            self.change(dword / PAGE, here.len() as u64, |page| {
                let whole = page.first.len() == PAGE as usize;
                for (i, (_, value)) in (at..).zip(here) {
                    if whole {
                        page.add(i, who.0, access, *value);
                        continue;
                    }
                    for byte in 0..4 {
                        page.add(4 * i + byte, who.0, access, value >> (8 * byte) & 0xff);
                    }
                }
            });
            dword += here.len() as u64;
            values = rest;
        }
    }

    /// Changes a page, by so many accesses.
    fn change(&self, number: u64, accesses: u64, change: impl FnOnce(&mut Page)) {
        let shard = &self.shards[number as usize % SHARDS];
        let mut pages = shard.lock().unwrap_or_else(|e| e.into_inner());
        let page = match pages.entry(number) {
            Entry::Occupied(page) => page.into_mut(),
            Entry::Vacant(_) if self.taken.load(Ordering::Relaxed) >= self.limit => {
                self.left_out.fetch_add(accesses, Ordering::Relaxed);
                return;
            }
            Entry::Vacant(room) => room.insert(Page::default()),
        };
        let before = page.bytes();
        if page.first.is_empty() {
            page.first.resize(PAGE as usize, Cell::default().0);
        }
        change(page);
        let more = page.bytes().saturating_sub(before);
        if more > 0 {
            self.taken.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// All races: of each pair of instructions the lowest groups', and at how many places there are some.
    pub fn races(&self) -> Vec<Race> {
        let mut found: Map<Race> = Map::default();
        for shard in &self.shards {
            let pages = shard.lock().unwrap_or_else(|e| e.into_inner());
            for (number, page) in pages.iter() {
                let size = (4 * PAGE) / (page.first.len() as u64).max(1);
                for i in 0..page.first.len() {
                    let cell = page.cell(i);
                    if cell.0 & TAG != FULL {
                        continue;
                    }
                    let full = page.unpack(cell);
                    let written = if full.differ != 0 { full.writes } else { Two::NOBODY };
                    let pairs = [
                        (full.writes, RaceAccess::Write, written, RaceAccess::Write),
                        (full.writes, RaceAccess::Write, full.reads, RaceAccess::Read),
                        (full.writes, RaceAccess::Write, full.atomics, RaceAccess::Atomic),
                        (full.atomics, RaceAccess::Atomic, full.reads, RaceAccess::Read),
                    ];
                    let address = number * PAGE * 4 + i as u64 * size;
                    for (ones, access, others, with) in pairs {
                        let Some((first, second)) = ones.against(others) else { continue };
                        let race = Race { first, access, second, with, address, count: 1 };
                        let key = (first.pc() as u64) << 32 | (second.pc() as u64) << 2 | with as u64;
                        found
                            .entry(key)
                            .and_modify(|known| {
                                let count = known.count + 1;
                                *known = Race { count, ..(*known).min(race) };
                            })
                            .or_insert(race);
                    }
                }
            }
        }
        let mut all: Vec<Race> = found.into_values().collect();
        all.sort();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use RaceAccess::{Atomic, Read, Write};

    fn who(group: u64, pc: u32) -> Who {
        Who::new(group, 1, pc).expect("small")
    }

    fn races(accesses: &[(u64, u32, Who, RaceAccess, u32)]) -> Vec<Race> {
        let (forth, back) = (Launch::default(), Launch::default());
        for (address, bytes, w, a, v) in accesses {
            forth.access(*address, *bytes, *w, *a, *v);
        }
        for (address, bytes, w, a, v) in accesses.iter().rev() {
            back.access(*address, *bytes, *w, *a, *v);
        }
        // In whatever order they come.
        assert_eq!(forth.races(), back.races());
        forth.races()
    }

    #[test]
    fn groups_race() {
        let w = who(3, 7);
        assert_eq!((w.group(), w.thread(), w.pc()), (3, 1, 7));
        assert!(Who::new(1 << 32, 0, 0).is_none());
        let found = races(&[
            (64, 4, who(0, 0), Read, 0),
            (64, 4, who(1, 0), Read, 0),
            (64, 4, who(2, 5), Write, 1),
            (68, 4, who(1, 5), Write, 1),
            (68, 4, who(4, 0), Read, 0),
        ]);
        assert_eq!(found.len(), 1);
        let r = found[0];
        assert_eq!((r.first.group(), r.second.group(), r.count), (1, 4, 2));
        assert_eq!((r.with, r.address), (Read, 68));
    }

    #[test]
    fn same_values_do_not() {
        assert!(races(&[(0, 4, who(0, 1), Write, 9), (0, 4, who(1, 1), Write, 9)]).is_empty());
        let found =
            races(&[(0, 4, who(0, 1), Write, 9), (0, 4, who(1, 1), Write, 9), (0, 4, who(2, 1), Write, 8)]);
        assert_eq!((found.len(), found[0].with), (1, Write));
        // One group alone may write what it likes, and read it.
        let own = [(0, 4, who(0, 1), Write, 9), (0, 4, who(0, 2), Write, 8), (0, 4, who(0, 3), Read, 0)];
        assert!(races(&own).is_empty());
    }

    #[test]
    fn atomics_race_with_stores_and_reads() {
        let atomics = [(0, 4, who(0, 1), Atomic, 0), (0, 4, who(1, 1), Atomic, 0)];
        assert!(races(&atomics).is_empty());
        let read = [(0, 4, who(0, 2), Read, 0), (0, 4, who(1, 1), Atomic, 0)];
        let found = races(&read);
        assert_eq!((found.len(), found[0].access, found[0].with), (1, Atomic, Read));
        assert_eq!((found[0].first.group(), found[0].second.group()), (1, 0));
        // Of one group, the order of its threads is looked at.
        assert!(races(&[(0, 4, who(1, 2), Read, 0), (0, 4, who(1, 1), Atomic, 0)]).is_empty());
        let store = [(0, 4, who(0, 1), Atomic, 0), (0, 4, who(1, 2), Write, 0)];
        assert_eq!(races(&store)[0].with, Atomic);
    }

    #[test]
    fn what_there_is_no_room_for_is_counted() {
        let l = Launch::new(3 * 2048);
        // Four pages that one group reads take half of what two take that another writes.
        for page in 0..4 {
            l.access(page * 1024, 4, who(0, 1), Read, 0);
        }
        assert_eq!((l.left_out(), l.taken.load(Ordering::Relaxed)), (1, 3 * 2048));
        l.access(8, 4, who(1, 1), Write, 0);
        assert_eq!((l.left_out(), l.taken.load(Ordering::Relaxed)), (1, 4 * 2048), "what is known goes on");
        l.access(1 << 20, 4, who(1, 1), Write, 0);
        assert_eq!(l.left_out(), 2);
    }

    #[test]
    fn bytes_of_a_dword_are_apart() {
        assert!(races(&[(0, 1, who(0, 1), Write, 9), (1, 1, who(1, 1), Write, 8)]).is_empty());
        let mixed =
            [(0, 4, who(0, 1), Write, 0x0807), (1, 1, who(1, 1), Write, 8), (3, 1, who(1, 2), Read, 0)];
        let found = races(&mixed);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].address, found[0].with), (3, Read));
    }
}
