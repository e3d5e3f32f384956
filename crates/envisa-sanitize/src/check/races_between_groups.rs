//! Races between the groups of a launch: nothing orders them but atomics, so any two groups of which one stores
//! what the other accesses race, or one changes atomically what the other reads.
//!
//! What is kept of each dword (or byte, in lines where bytes are accessed) does not depend on the order of
//! accesses: the lowest two groups that read it, wrote it, changed it atomically, and whether all stores were of
//! one value. Lines that are read and written whole have one such note for all of their bytes. All workers share it. It
//! grows with the pages that are touched, up to a limit.

use std::collections::hash_map::Entry;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::access_cells::number;
use super::races_in_group::{ChannelRange, RaceAccess, Run};
use super::scattered::Dword;
use crate::address_map::Map;

/// Bytes that may be taken to remember accesses, besides twice what the launch's buffers have.
pub(super) const SPARE_BYTES: u64 = 112 << 20;
/// Bytes of a line.
pub(super) const LINE: usize = 32;
/// Lines and bytes of a page.
const LINES: usize = 32;
const PAGE: u64 = (LINE * LINES) as u64;
const SHARDS: usize = 64;

const NONE: u64 = u64::MAX;
/// Bits of a key, from the lowest: what the cell holds, the channels ([`ChannelRange`]), the instruction, the thread, the group.
const TAG: u64 = 3;
const BY: u32 = 2;
const PC: u32 = 10;
const THREAD: u32 = 30;
const GROUP: u32 = 37;
const BY_BITS: u64 = 0xff << BY;

/// Who accessed: ordered by group, thread, instruction, channels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Accessor(u64);

impl Accessor {
    /// `None` if one of them is too large to be told apart.
    pub fn new(group: u64, thread: u32, pc: u32) -> Option<Accessor> {
        let fits =
            group < (1 << (64 - GROUP)) - 1 && thread < 1 << (GROUP - THREAD) && pc < 1 << (THREAD - PC);
        fits.then_some(Accessor(group << GROUP | (thread as u64) << THREAD | (pc as u64) << PC))
    }

    pub fn group(self) -> u64 {
        self.0 >> GROUP
    }

    pub fn thread(self) -> u32 {
        (self.0 >> THREAD) as u32 & 0x7f
    }

    pub fn pc(self) -> u32 {
        (self.0 >> PC) as u32 & 0xf_ffff
    }

    /// These channels of it.
    pub fn with(self, by: ChannelRange) -> Accessor {
        Accessor(self.0 & !BY_BITS | u64::from(by.code()) << BY)
    }

    /// Its channels.
    pub fn by(self) -> ChannelRange {
        ChannelRange::of_code((self.0 >> BY) as u8)
    }

    /// Of the bytes of a line the one at this place.
    fn at(word: u64, byte: u32) -> u64 {
        let by = Accessor(word).by();
        word & !BY_BITS | u64::from(ChannelRange::single(by.channel(byte)).code()) << BY
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
    fn against(self, other: Two) -> Option<(Accessor, Accessor)> {
        let [a, b] = self.0;
        let [c, d] = other.0;
        [(a, c), (a, d), (b, c)]
            .into_iter()
            .find(|(x, y)| *x != NONE && *y != NONE && x >> GROUP != y >> GROUP)
            .map(|(x, y)| (Accessor(x), Accessor(y)))
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
/// Of a line: it has cells, of bytes if the next bit says so, from this number on.
const PARTS: u64 = 3;
const BYTES: u64 = 4;
const START: u32 = 3;

/// Which cells a line has.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    bytes: bool,
}

impl Part {
    /// Of the first word of a line.
    fn of(word: u64) -> Option<Part> {
        (word & TAG == PARTS).then_some(Part { start: (word >> START) as usize, bytes: word & BYTES != 0 })
    }

    fn word(self) -> u64 {
        (self.start as u64) << START | if self.bytes { BYTES } else { 0 } | PARTS
    }

    /// How many cells.
    fn cells(self) -> usize {
        if self.bytes { LINE } else { LINE / 4 }
    }
}
/// Bits of the second word of what one group stored, above the value: its own lowest read, thread and instruction;
/// whether there is one; whether its stores differ.
const OWN_READ: u32 = 32;
const OWN_BITS: u64 = (1 << 30) - 1;
const HAS_READ: u64 = 1 << 62;
const DIFFERS: u64 = 1 << 63;
/// In there, the thread is above the instruction, of which there is room for so many bits, and that above the channels.
const OWN_PC_BITS: u32 = 15;

/// A word without its group; `None` if its instruction is too far back in the program.
fn own_part(who: u64) -> Option<u64> {
    let (thread, rest) = (who >> THREAD & 0x7f, who >> BY & ((1 << (THREAD - BY)) - 1));
    (rest >> (PC - BY + OWN_PC_BITS) == 0).then_some(thread << (PC - BY + OWN_PC_BITS) | rest)
}

/// The word of a group and what [`own_part`] gave.
fn whole_word(group_of: u64, own: u64) -> u64 {
    let low = PC - BY + OWN_PC_BITS;
    group_of >> GROUP << GROUP | (own >> low) << THREAD | (own & ((1 << low) - 1)) << BY
}

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
                let Some(read) = own_part(self.0) else { return false };
                *self = Cell(who | WRITE, read << OWN_READ | HAS_READ | u64::from(value));
                true
            }
            (WRITE, RaceAccess::Write) if same_group => {
                self.0 = (self.0 & !TAG).min(who) | WRITE;
                self.1 |= if self.1 as u32 == value { 0 } else { DIFFERS };
                true
            }
            (WRITE, RaceAccess::Read) if same_group => {
                let Some(read) = own_part(who) else { return false };
                let known = self.1 >> OWN_READ & OWN_BITS;
                if self.1 & HAS_READ == 0 || read < known {
                    self.1 = self.1 & !(OWN_BITS << OWN_READ) | HAS_READ | read << OWN_READ;
                }
                true
            }
            _ => false,
        }
    }

    /// Of a line: did the same instruction of the same thread access it by other parts? Which channel is the lowest differs
    /// from byte to byte then.
    fn mixes(&self, who: u64) -> bool {
        let mixes =
            |known: u64| (known ^ who) >> PC == 0 && !Accessor(known).by().is_alike(Accessor(who).by());
        let second = match self.0 & TAG {
            READS => self.1,
            WRITE if self.1 & HAS_READ != 0 => whole_word(self.0, self.1 >> OWN_READ & OWN_BITS),
            _ => NONE,
        };
        mixes(self.0) || second != NONE && mixes(second)
    }

    /// Of a line: as it is of one of its bytes, but for the value.
    fn at(self, byte: u32) -> Cell {
        match self.0 & TAG {
            READS if self.0 | TAG == NONE => self,
            READS => Cell(
                Accessor::at(self.0, byte),
                if self.1 == NONE { NONE } else { Accessor::at(self.1, byte) },
            ),
            WRITE if self.1 & HAS_READ != 0 => {
                let read = whole_word(self.0, self.1 >> OWN_READ & OWN_BITS);
                let read = own_part(Accessor::at(read, byte)).unwrap_or(0);
                Cell(Accessor::at(self.0, byte), self.1 & !(OWN_BITS << OWN_READ) | read << OWN_READ)
            }
            WRITE => Cell(Accessor::at(self.0, byte), self.1),
            _ => self,
        }
    }
}

#[derive(Debug, Default)]
struct Page {
    /// First words of lines: those of cells, for all of a line's bytes, but for values.
    first: Vec<u64>,
    /// Their second words; empty as long as all are none: memory that is read by one group alone takes half. In place
    /// of a value, the bytes of which the group's stores differ.
    second: Vec<u64>,
    /// What the first stores wrote; empty as long as there are none.
    values: Vec<u8>,
    /// Cells of lines, of dwords or of bytes, one line's after the other.
    parts: Vec<Cell>,
    full: Vec<Full>,
    /// Bytes that it takes, as was counted.
    taken: u64,
}

impl Page {
    fn line(&self, line: usize) -> Cell {
        Cell(self.first[line], self.second.get(line).copied().unwrap_or(NONE))
    }

    fn set(&mut self, line: usize, cell: Cell) {
        self.first[line] = cell.0;
        if cell.1 != NONE && self.second.is_empty() {
            self.second.resize(LINES, NONE);
        }
        if let Some(second) = self.second.get_mut(line) {
            *second = cell.1;
        }
    }

    /// Bytes that it takes.
    fn bytes(&self) -> u64 {
        let words = self.first.len() + self.second.len();
        let cells = self.parts.capacity() * size_of::<Cell>();
        (words * size_of::<u64>() + self.values.len() + cells + self.full.capacity() * size_of::<Full>())
            as u64
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
                    full.reads.0[0] = whole_word(cell.0, cell.1 >> OWN_READ & OWN_BITS);
                }
            }
            _ => full = self.full.get(cell.1 as usize).copied().unwrap_or(full),
        }
        full
    }

    /// Notes an access to all of a line; false if its notes are no longer the same for all bytes, or were not, and
    /// nothing is changed.
    #[inline]
    fn whole(&mut self, line: usize, who: u64, access: RaceAccess, values: &[u8]) -> bool {
        let mut cell = self.line(line);
        if cell.0 & TAG == PARTS || access == RaceAccess::Atomic || cell.mixes(who) {
            return false;
        }
        if access == RaceAccess::Read {
            let held = cell.hold(who, access, 0);
            if held {
                self.set(line, cell);
            }
            return held;
        }
        let Some(new) = values.get(..LINE) else { return false };
        let at = line * LINE..(line + 1) * LINE;
        if cell.0 & TAG == WRITE {
            let Some(old) = self.values.get(at) else { return false };
            let differ = old.iter().zip(new).rev().fold(0u64, |x, (a, b)| x << 1 | u64::from(a != b));
            // As if what is written were there: which bytes differ is no value.
            if !cell.hold(who, access, cell.1 as u32) {
                return false;
            }
            cell.1 |= differ;
        } else {
            if !cell.hold(who, access, 0) {
                return false;
            }
            if self.values.is_empty() {
                self.values.resize(PAGE as usize, 0);
            }
            self.values[at].copy_from_slice(new);
        }
        self.set(line, cell);
        true
    }

    /// Notes accesses to a part of a line, or to all of it, cell by cell.
    fn apart(
        &mut self,
        line: usize,
        inside: u32,
        run: &Run<'_>,
        (at, bytes): (u32, u32),
        (who, access): (Accessor, RaceAccess),
    ) {
        let narrow = (run.key as u32 | inside | bytes) & 3 != 0 || run.by.is_narrow();
        let part = self.part(line, narrow);
        let step = if narrow { 1 } else { 4 };
        for n in (0..bytes).step_by(step as usize) {
            let (first, value) = (inside + n, number(run.values, at + n, step));
            let noted = (who.with(ChannelRange::single(run.by.channel(at + n))).0, access);
            if !part.bytes {
                self.add(part.start + first as usize / 4, noted, value);
                continue;
            }
            for byte in 0..step {
                self.add(part.start + (first + byte) as usize, noted, value >> (8 * byte) & 0xff);
            }
        }
    }

    /// Notes an access to a dword.
    #[inline]
    fn dword(&mut self, dword: &Dword, noted: (u64, RaceAccess)) {
        let (line, inside) = ((dword.key % PAGE) as usize / LINE, dword.key as usize % LINE);
        let part = match Part::of(self.first[line]) {
            Some(part) => part,
            None => self.part(line, false),
        };
        if !part.bytes {
            return self.add(part.start + inside / 4, noted, dword.value);
        }
        for byte in 0..4 {
            self.add(part.start + inside + byte, noted, dword.value >> (8 * byte) & 0xff);
        }
    }

    #[inline]
    fn add(&mut self, at: usize, (who, access): (u64, RaceAccess), value: u32) {
        let Some(cell) = self.parts.get_mut(at) else { return };
        if cell.hold(who, access, value) {
            return;
        }
        if cell.0 & TAG == FULL {
            if let Some(full) = self.full.get_mut(cell.1 as usize) {
                full.add(who, access, value);
            }
            return;
        }
        let mut full = self.unpack(self.parts[at]);
        full.add(who, access, value);
        self.full.push(full);
        self.parts[at] = Cell(FULL, self.full.len() as u64 - 1);
    }

    /// The cells of a line: of bytes, if that is asked for.
    fn part(&mut self, line: usize, bytes: bool) -> Part {
        let cell = self.line(line);
        if let Some(part) = Part::of(cell.0) {
            if !bytes || part.bytes {
                return part;
            }
            let cut = self.cut(part);
            self.set(line, Cell(cut.word(), NONE));
            return cut;
        }
        let step = if bytes { 1 } else { 4 };
        let one = |at: u32| match (cell.0 & TAG, cell.at(at)) {
            (WRITE, here) => {
                let value = number(&self.values, line as u32 * LINE as u32 + at, step);
                let differs = cell.1 >> at & ((1 << step) - 1) != 0;
                let rest = here.1 >> OWN_READ << OWN_READ;
                Cell(here.0, rest | u64::from(value) | if differs { DIFFERS } else { 0 })
            }
            (_, here) => here,
        };
        let part = Part { start: self.parts.len(), bytes };
        let cells: [Cell; LINE] = std::array::from_fn(|n| match n < part.cells() {
            true => one(n as u32 * step),
            false => Cell::default(),
        });
        self.parts.extend_from_slice(&cells[..part.cells()]);
        self.set(line, Cell(part.word(), NONE));
        part
    }

    /// Cells of bytes from now on.
    fn cut(&mut self, part: Part) -> Part {
        let start = self.parts.len();
        for at in part.start..part.start + part.cells() {
            let cell = self.parts[at];
            for byte in 0..4 {
                let one = match cell.0 & TAG {
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
                };
                self.parts.push(one);
            }
        }
        Part { start, bytes: true }
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
    pub first: Accessor,
    /// Which of them it is.
    pub access: RaceAccess,
    /// The other access.
    pub second: Accessor,
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

    /// Notes accesses.
    pub fn access(&self, run: &Run<'_>, who: Accessor, access: RaceAccess) {
        let mut at = 0;
        while at < run.bytes {
            let key = run.key.wrapping_add(u64::from(at));
            let here = ((PAGE - key % PAGE) as u32).min(run.bytes - at);
            self.change(key / PAGE, |page| {
                let mut done = 0;
                while done < here {
                    let inside = (key + u64::from(done)) % PAGE;
                    let (line, inside) = (inside as usize / LINE, inside as u32 % LINE as u32);
                    let bytes = (LINE as u32 - inside).min(here - done);
                    let values = run.values.get((at + done) as usize..).unwrap_or_default();
                    let by = run.by.from(at + done);
                    let whole = by.filter(|_| bytes as usize == LINE);
                    if !whole.is_some_and(|by| page.whole(line, who.with(by).0, access, values)) {
                        page.apart(line, inside, run, (at + done, bytes), (who, access));
                    }
                    done += bytes;
                }
            });
            at += here;
        }
    }

    /// Notes accesses of channels, of so many bytes each, which store nothing that is asked for.
    pub fn accesses(&self, keys: &[(u64, u8)], bytes: u32, who: Accessor, access: RaceAccess) {
        let mut rest = keys;
        while let Some((first, channel)) = rest.first() {
            let shard = (first / PAGE) as usize % SHARDS;
            let here =
                |key: u64| (key / PAGE) as usize % SHARDS == shard && key % PAGE + u64::from(bytes) <= PAGE;
            let (together, others) = rest.split_at(rest.iter().take_while(|(key, _)| here(*key)).count());
            if together.is_empty() {
                self.access(
                    &Run { key: *first, bytes, by: ChannelRange::single(*channel), values: &[] },
                    who,
                    access,
                );
                rest = &rest[1..];
                continue;
            }
            let mut pages = self.shards[shard].lock().unwrap_or_else(|e| e.into_inner());
            for (key, channel) in together {
                let run = Run { key: *key, bytes, by: ChannelRange::single(*channel), values: &[] };
                self.change_in(&mut pages, key / PAGE, |page| {
                    let (line, inside) = ((key % PAGE) as usize / LINE, (key % LINE as u64) as u32);
                    let here = bytes.min(LINE as u32 - inside);
                    page.apart(line, inside, &run, (0, here), (who, access));
                    if here < bytes {
                        page.apart(line + 1, 0, &run, (here, bytes - here), (who, access));
                    }
                });
            }
            rest = others;
        }
    }

    /// Notes accesses to dwords, neither of them an atomic.
    pub fn dwords(&self, dwords: &[Dword], who: Accessor, access: RaceAccess) {
        let mut dwords = dwords.iter().peekable();
        while let Some(first) = dwords.next() {
            let number = first.key / PAGE;
            self.change(number, |page| {
                let noted = |d: &Dword| (who.with(ChannelRange::single(d.by)).0, access);
                page.dword(first, noted(first));
                while let Some(next) = dwords.next_if(|d| d.key / PAGE == number) {
                    page.dword(next, noted(next));
                }
            });
        }
    }

    /// Changes a page.
    fn change(&self, number: u64, change: impl FnOnce(&mut Page)) {
        let shard = &self.shards[number as usize % SHARDS];
        self.change_in(&mut shard.lock().unwrap_or_else(|e| e.into_inner()), number, change);
    }

    fn change_in(&self, pages: &mut Map<Page>, number: u64, change: impl FnOnce(&mut Page)) {
        let page = match pages.entry(number) {
            Entry::Occupied(page) => page.into_mut(),
            Entry::Vacant(_) if self.taken.load(Ordering::Relaxed) >= self.limit => {
                self.left_out.fetch_add(1, Ordering::Relaxed);
                return;
            }
            Entry::Vacant(room) => {
                let page = room.insert(Page::default());
                page.first.resize(LINES, Cell::default().0);
                page
            }
        };
        change(page);
        let takes = page.bytes();
        if takes > page.taken {
            self.taken.fetch_add(takes - page.taken, Ordering::Relaxed);
            page.taken = takes;
        }
    }

    /// All races: of each pair of instructions the lowest groups', and at how many places there are some.
    pub fn races(&self) -> Vec<Race> {
        let mut found: Map<Race> = Map::default();
        for shard in &self.shards {
            let pages = shard.lock().unwrap_or_else(|e| e.into_inner());
            for (number, page) in pages.iter() {
                // Of lines that are noted as one nothing races.
                let cells = (0..LINES).filter_map(|line| Some((line, Part::of(page.first[line])?)));
                let cells = cells.flat_map(|(line, part)| {
                    let size = LINE / part.cells();
                    let cells = page.parts.get(part.start..part.start + part.cells()).unwrap_or_default();
                    cells.iter().enumerate().map(move |(i, cell)| (line * LINE + i * size, *cell))
                });
                for (at, cell) in cells.filter(|(_, cell)| cell.0 & TAG == FULL) {
                    let full = page.unpack(cell);
                    let written = if full.differ != 0 { full.writes } else { Two::NOBODY };
                    let pairs = [
                        (full.writes, RaceAccess::Write, written, RaceAccess::Write),
                        (full.writes, RaceAccess::Write, full.reads, RaceAccess::Read),
                        (full.writes, RaceAccess::Write, full.atomics, RaceAccess::Atomic),
                        (full.atomics, RaceAccess::Atomic, full.reads, RaceAccess::Read),
                    ];
                    let address = number * PAGE + at as u64;
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

    fn who(group: u64, pc: u32) -> Accessor {
        Accessor::new(group, 1, pc).expect("small")
    }

    fn one(l: &Launch, key: u64, bytes: u32, who: Accessor, access: RaceAccess, value: u32) {
        let values = value.to_le_bytes();
        l.access(
            &Run { key, bytes, by: ChannelRange::single(0), values: &values[..bytes as usize] },
            who,
            access,
        );
    }

    fn races(accesses: &[(u64, u32, Accessor, RaceAccess, u32)]) -> Vec<Race> {
        let (forth, back) = (Launch::default(), Launch::default());
        for (address, bytes, w, a, v) in accesses {
            one(&forth, *address, *bytes, *w, *a, *v);
        }
        for (address, bytes, w, a, v) in accesses.iter().rev() {
            one(&back, *address, *bytes, *w, *a, *v);
        }
        // In whatever order they come.
        assert_eq!(forth.races(), back.races());
        forth.races()
    }

    #[test]
    fn groups_race() {
        let w = who(3, 7);
        assert_eq!((w.group(), w.thread(), w.pc()), (3, 1, 7));
        assert!(Accessor::new(1 << 32, 0, 0).is_none());
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
        // A line that one group reads whole, of which one page is full.
        let read = Run { key: 0, bytes: LINE as u32, by: ChannelRange::single(0), values: &[] };
        let l = Launch::new(3 * 8 * LINES as u64);
        for page in 0..4 {
            l.access(&Run { key: page * PAGE, ..read }, who(0, 1), Read);
        }
        assert_eq!((l.left_out(), l.taken.load(Ordering::Relaxed)), (1, 3 * 8 * LINES as u64));
        let store = Run { values: &[1; LINE], ..read };
        l.access(&store, who(1, 1), Write);
        assert_eq!(l.left_out(), 1, "what is known goes on");
        assert!(l.taken.load(Ordering::Relaxed) > 3 * 8 * LINES as u64);
        assert_eq!(l.races().len(), 1);
        l.access(&Run { key: 1 << 20, ..store }, who(1, 1), Write);
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
