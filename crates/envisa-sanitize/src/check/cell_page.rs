//! A page of memory: of each dword, or byte where bytes are accessed, the last write, the last atomics, and the last read of
//! each thread.
//!
//! They are words ([`PastAccess`]), whose highest bits are a clock, in arrays, so that a message is held against all of its
//! places at once. What is older than all that a thread may not know of, it races with nothing of; that, what its own
//! channel did, and what its own instruction did is passed over there ([`Rules`]). All others are looked at one by one.
//! Nothing is ever cleared: what is older than the group is nothing.

use envisa_machine::cpu::{Isa, PerLevel, at_best_level};

use super::past_accesses::{
    CHANNEL_BITS, CLOCK, CurrentAccess, MOST_CLOCK, PC_BITS, PastAccess, SEVERAL, THREAD_BITS, WHOLE,
    is_several,
};
use super::races_in_group::RaceAccess;

/// Bytes of memory of a page.
pub(super) const PAGE: u64 = 256;
/// Dwords of it.
pub(super) const DWORDS: usize = PAGE as usize / 4;
/// Bytes of the cells of a page of dwords, and of the reads of a thread there.
pub(super) const PAGE_BYTES: usize = size_of::<Page>() + DWORDS * (size_of::<u64>() + size_of::<u32>()) + 64;
pub(super) const READER_BYTES: usize = DWORDS * size_of::<u64>() + size_of::<Vec<u64>>() + 16;
const ATOMICS_BYTES: usize = DWORDS * size_of::<[u64; 2]>();
/// In place of the number of a reader.
const NO_SLOT: u8 = u8::MAX;

/// What threads did with a page of memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    /// Its cells are bytes.
    bytes: bool,
    /// By cell: the last write, and what it wrote.
    write: Vec<u64>,
    values: Vec<u32>,
    /// The last atomic since, and the last of another thread than that; empty as long as there are none.
    atomics: Vec<[u64; 2]>,
    /// No atomic is later than this.
    latest_atomic: u64,
    /// By reader: its last reads. By thread: the number of the reader that it is.
    readers: Vec<Vec<u64>>,
    slots: Vec<u8>,
    /// By reader, and for all of them: no read is later than this.
    latest: Vec<u64>,
    latest_read: u64,
}

/// What decides whether an access races, as words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// What is older than this is not of this group.
    origin: u64,
    /// What is older than this is ordered before the access, whoever did it.
    floor: u64,
    /// What of the same thread is older than this is ordered before it.
    since: u64,
    /// What has none of these bits other than the access's does not race with it; nor what has none of the others.
    own: u64,
    instruction: u64,
    /// The thread as such makes the access.
    whole: bool,
}

impl Rules {
    /// Of accesses by channels from that of `making` to the last one; `base`: the clock at which the group began.
    #[inline]
    pub fn of(making: &CurrentAccess<'_>, last: u8, base: u32) -> Rules {
        let at = |clock: u32| match base.checked_add(clock) {
            Some(clock) if clock < MOST_CLOCK => u64::from(clock) << CLOCK,
            _ => u64::MAX,
        };
        let channel = making.past.channel;
        let own = match () {
            () if making.since_own <= making.past.clock => u64::MAX,
            () if channel == WHOLE || making.since > making.past.clock => THREAD_BITS,
            () if is_several(channel) || is_several(last) => u64::MAX,
            () => THREAD_BITS | CHANNEL_BITS,
        };
        Rules {
            origin: at(1),
            floor: at(making.floor),
            since: at(making.since),
            own,
            instruction: THREAD_BITS | PC_BITS,
            whole: channel == WHOLE,
        }
    }

    /// Is it certain that an access does not race with this?
    #[inline(always)]
    fn passes(&self, old: u64, mine: u64) -> bool {
        (old < self.floor) | ((old ^ mine) & self.own == 0) | ((old ^ mine) & self.instruction == 0)
    }

    /// What stays of a read by the same thread, and of this one.
    #[inline(always)]
    fn read_again(&self, read: u64, mine: u64) -> u64 {
        let differ = (read ^ mine) & CHANNEL_BITS != 0;
        // The earlier of two in one interval tells as much.
        let stays = (read >= self.origin) & ((read ^ mine) >> CLOCK == 0);
        let several = differ & (stays | (read >= self.since.max(self.origin)));
        let word = if stays { read } else { mine };
        if several & !(stays & self.whole) { word | CHANNEL_BITS } else { word }
    }
}

const _: () = assert!(SEVERAL as u64 == CHANNEL_BITS >> CHANNEL_BITS.trailing_zeros(), "all bits are");

/// Accesses to cells side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells<'a> {
    /// The first of them.
    pub first: usize,
    /// The access, as a word of each.
    pub words: &'a [u64],
    /// What is written there.
    pub values: &'a [u32],
    /// The latest of the words.
    pub latest: u64,
}

/// Does each access pass what was done before?
struct AllPass<'a> {
    old: &'a [u64],
    words: &'a [u64],
    rules: Rules,
}

impl PerLevel for AllPass<'_> {
    type Out = bool;
    #[inline(always)]
    fn run<const L: u8>(self, _: Isa<L>) -> bool {
        let AllPass { old, words, rules } = self;
        let one = |all, (old, mine): (&u64, &u64)| all & rules.passes(*old, *mine);
        old.iter().zip(words).fold(true, one)
    }
}

/// Makes reads where they race with nothing; else does nothing.
struct Read<'a> {
    write: &'a [u64],
    reads: &'a mut [u64],
    words: &'a [u64],
    rules: Rules,
}

impl PerLevel for Read<'_> {
    type Out = bool;
    #[inline(always)]
    fn run<const L: u8>(self, isa: Isa<L>) -> bool {
        let Read { write, reads, words, rules } = self;
        if !(AllPass { old: write, words, rules }).run(isa) {
            return false;
        }
        for (read, mine) in reads.iter_mut().zip(words) {
            *read = rules.read_again(*read, *mine);
        }
        true
    }
}

/// Do writes that change something pass what was done before?
struct Changes<'a> {
    write: &'a [u64],
    old: &'a [u64],
    values: &'a [u32],
    words: &'a [u64],
    new: &'a [u32],
    rules: Rules,
}

impl PerLevel for Changes<'_> {
    type Out = bool;
    #[inline(always)]
    fn run<const L: u8>(self, _: Isa<L>) -> bool {
        let Changes { write, old, values, words, new, rules } = self;
        let (cells, news) = (write.iter().zip(old).zip(values), words.iter().zip(new));
        cells.zip(news).fold(true, |all, (((write, old), value), (mine, new))| {
            all & (rules.passes(*old, *mine) | ((*write >= rules.origin) & (value == new)))
        })
    }
}

/// Makes writes that race with nothing.
struct Write<'a> {
    write: &'a mut [u64],
    values: &'a mut [u32],
    /// The thread's own reads, if there are some.
    reads: &'a mut [u64],
    words: &'a [u64],
    new: &'a [u32],
    rules: Rules,
}

impl PerLevel for Write<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const L: u8>(self, _: Isa<L>) {
        let Write { write, values, reads, words, new, rules } = self;
        // What is overwritten by its own thread is over; of others, whoever knows the write knows their reads.
        let cells = reads.iter_mut().zip(&*write).zip(&*values).zip(new);
        for (((read, write), value), new) in cells {
            *read = if (*write >= rules.origin) & (value == new) { *read } else { 0 };
        }
        write.copy_from_slice(words);
        values.copy_from_slice(new);
    }
}

impl Page {
    /// One that nothing is known of.
    pub fn new() -> Page {
        Page { write: vec![0; DWORDS], values: vec![0; DWORDS], ..Page::default() }
    }

    /// It is other memory's from now on, of another group.
    pub fn renew(&mut self) {
        if !self.bytes {
            return;
        }
        self.bytes = false;
        self.write.truncate(DWORDS);
        self.values.truncate(DWORDS);
        self.atomics.truncate(DWORDS);
        self.readers.iter_mut().for_each(|r| r.truncate(DWORDS));
    }

    /// Are its cells bytes?
    pub fn has_bytes(&self) -> bool {
        self.bytes
    }

    /// Its cells are bytes from now on; gives how much more memory that takes.
    pub fn cut(&mut self) -> usize {
        fn four<T: Copy>(all: &mut Vec<T>) {
            *all = all.iter().flat_map(|x| [*x; 4]).collect();
        }
        self.bytes = true;
        four(&mut self.write);
        four(&mut self.atomics);
        self.values = self.values.iter().flat_map(|v| v.to_le_bytes().map(u32::from)).collect();
        self.readers.iter_mut().for_each(four);
        let atomics = if self.atomics.is_empty() { 0 } else { 3 * ATOMICS_BYTES };
        3 * (PAGE_BYTES + self.readers.len() * READER_BYTES) + atomics
    }

    fn slot(&self, thread: u32) -> Option<usize> {
        self.slots.get(thread as usize).filter(|n| **n != NO_SLOT).map(|n| usize::from(*n))
    }

    /// The number of a thread among its readers; how much more memory that takes.
    #[inline]
    pub fn reader(&mut self, thread: u32) -> Option<(usize, usize)> {
        if let Some(slot) = self.slot(thread) {
            return Some((slot, 0));
        }
        let slot = u8::try_from(self.readers.len()).ok().filter(|n| *n != NO_SLOT)?;
        let t = thread as usize;
        if self.slots.len() <= t {
            self.slots.resize(t + 1, NO_SLOT);
        }
        self.slots[t] = slot;
        self.readers.push(vec![0; self.write.len()]);
        self.latest.push(0);
        Some((usize::from(slot), READER_BYTES * if self.bytes { 4 } else { 1 }))
    }

    /// Makes reads of a reader if none of them can race; else does nothing.
    #[inline]
    pub fn read(&mut self, slot: usize, cells: &Cells<'_>, rules: Rules) -> bool {
        if self.latest_atomic >= rules.floor {
            return false;
        }
        let range = cells.first..cells.first + cells.words.len();
        let (write, words) = (&self.write[range.clone()], cells.words);
        let reads = &mut self.readers[slot][range];
        let done = at_best_level(Read { write, reads, words, rules });
        if done {
            self.latest[slot] = cells.latest.max(self.latest[slot]);
            self.latest_read = cells.latest.max(self.latest_read);
        }
        done
    }

    /// Makes writes of a thread if none of them can race; else does nothing.
    #[inline]
    pub fn write(&mut self, thread: u32, cells: &Cells<'_>, rules: Rules) -> bool {
        let Cells { words, values: new, .. } = *cells;
        let range = cells.first..cells.first + words.len();
        if self.latest_atomic >= rules.floor {
            return false;
        }
        let (write, values) = (&self.write[range.clone()], &self.values[range.clone()]);
        let pass = |old: &[u64]| at_best_level(Changes { write, old, values, words, new, rules });
        if !pass(write) {
            return false;
        }
        if self.latest_read >= rules.floor {
            let mut late =
                self.latest.iter().zip(&self.readers).filter(|(latest, _)| **latest >= rules.floor);
            if !late.all(|(_, r)| pass(&r[range.clone()])) {
                return false;
            }
        }
        let reads: &mut [u64] = match self.slot(thread) {
            Some(slot) if self.latest[slot] >= rules.origin => &mut self.readers[slot][range.clone()],
            _ => &mut [],
        };
        if self.latest_atomic >= rules.origin {
            self.atomics[range.clone()].fill([0; 2]);
        }
        let (write, values) = (&mut self.write[range.clone()], &mut self.values[range]);
        at_best_level(Write { write, values, reads, words, new, rules });
        true
    }

    /// Is it certain that an atomic races with nothing?
    pub fn atomic_passes(&self, cell: usize, mine: u64, loads: bool, rules: Rules) -> bool {
        rules.passes(self.write[cell], mine)
            && (loads
                || self.latest_read < rules.floor
                || self.readers.iter().all(|read| rules.passes(read[cell], mine)))
    }

    /// The instruction of a thread's own read of a cell.
    pub fn own_read(&self, thread: u32, cell: usize, rules: Rules) -> Option<u32> {
        let word = *self.readers.get(self.slot(thread)?)?.get(cell)?;
        (word >= rules.origin).then(|| PastAccess::unpack(word).pc)
    }

    /// There is room for atomics; gives how much more memory that takes.
    pub fn has_atomics(&mut self) -> usize {
        if !self.atomics.is_empty() {
            return 0;
        }
        self.atomics.resize(self.write.len(), [0; 2]);
        ATOMICS_BYTES * if self.bytes { 4 } else { 1 }
    }

    /// Makes an access to a cell; gives the one it races with. A thread that reads is a reader, and there is room for
    /// atomics.
    pub fn one(
        &mut self,
        cell: usize,
        (making, rules): (&CurrentAccess<'_>, Rules),
        (mine, value): (u64, u32),
    ) -> Option<(PastAccess, RaceAccess)> {
        let base = mine - making.word;
        let there = |word: u64| (word >= rules.origin).then(|| PastAccess::unpack(word - base));
        let racing = |word: u64| there(word).filter(|p| making.races(p));
        let old = self.write[cell];
        let written = racing(old).map(|p| (p, RaceAccess::Write));
        let atomics = self.atomics.get(cell).copied().unwrap_or_default();
        let atomic = atomics.into_iter().find_map(racing).map(|p| (p, RaceAccess::Atomic));
        let latest_read = self.latest_read;
        let reader = |page: &Page| {
            if latest_read < rules.floor {
                return None;
            }
            let racing = page.readers.iter().filter_map(|r| racing(r[cell]));
            racing.min_by_key(|r| (r.thread, r.pc)).map(|r| (r, RaceAccess::Read))
        };
        match making.access {
            RaceAccess::Read => {
                if let Some(slot) = self.slot(making.past.thread) {
                    let read = &mut self.readers[slot][cell];
                    *read = rules.read_again(*read, mine);
                    self.latest[slot] = mine.max(self.latest[slot]);
                    self.latest_read = mine.max(self.latest_read);
                }
                written.or(atomic)
            }
            RaceAccess::Write => {
                // Who writes what is there already disturbs nobody.
                let same = there(old).is_some() && self.values[cell] == value;
                let mut race = written.filter(|_| !same);
                if !same {
                    race = race.or_else(|| reader(self));
                    if latest_read >= rules.origin {
                        self.readers.iter_mut().for_each(|r| r[cell] = 0);
                    }
                }
                (self.write[cell], self.values[cell]) = (mine, value);
                if let Some(atomics) = self.atomics.get_mut(cell) {
                    *atomics = [0; 2];
                }
                race.or(atomic)
            }
            RaceAccess::Atomic => {
                let mut race = written;
                if !making.loads {
                    race = race.or_else(|| reader(self));
                    let (mut here, [last, other]) = (mine, atomics);
                    let mut others = other;
                    if last >= rules.origin {
                        if (last ^ mine) & THREAD_BITS != 0 {
                            others = last;
                        } else if last >= rules.since && (last ^ mine) & CHANNEL_BITS != 0 {
                            here |= CHANNEL_BITS;
                        }
                    }
                    if let Some(atomics) = self.atomics.get_mut(cell) {
                        *atomics = [here, others];
                        self.latest_atomic = here.max(self.latest_atomic);
                    }
                }
                race
            }
        }
    }
}
