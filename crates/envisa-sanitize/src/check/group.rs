//! Races between the threads of a group: accesses that no barrier and no atomic orders.
//!
//! Each thread has a vector clock. A barrier joins the clocks of all threads, a split barrier those of its
//! signals, an atomic those of earlier atomics on the same dword; a named barrier is taken to order more than it
//! does. Each dword (or byte, where bytes are accessed) keeps its last write and the reads since.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use envisa_lower::Op;

/// Most dwords of memory that a group's accesses are remembered of.
const MAX_CELLS: usize = 1 << 20;
/// Most dwords whose atomics have a clock of their own; all others share one.
const MAX_SYNCS: usize = 1 << 14;

/// Bit of a key: shared local memory.
pub(super) const SLM: u64 = 1 << 63;

/// Spreads addresses.
#[derive(Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.write_u64(*b as u64);
        }
    }
    fn write_u64(&mut self, x: u64) {
        let x = (self.0 ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = x ^ x >> 32;
    }
}

pub(super) type Map<T> = HashMap<u64, T, BuildHasherDefault<Mix>>;

/// How far each thread had come.
#[derive(Clone, Debug, Default)]
struct Clock(Vec<u32>);

impl Clock {
    fn get(&self, thread: u32) -> u32 {
        self.0.get(thread as usize).copied().unwrap_or(0)
    }

    fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a = (*a).max(*b);
        }
    }

    fn advance(&mut self, thread: u32) {
        let t = thread as usize;
        if self.0.len() <= t {
            self.0.resize(t + 1, 0);
        }
        self.0[t] = self.0[t].saturating_add(1);
    }
}

/// What a barrier collects of one round.
#[derive(Clone, Debug, Default)]
struct Round {
    number: u32,
    clock: Clock,
}

/// The rounds of a barrier: while some threads still leave one, others arrive at the next.
#[derive(Clone, Debug, Default)]
struct Rounds([Round; 2]);

impl Rounds {
    fn arrive(&mut self, number: u32, clock: &Clock) {
        let round = &mut self.0[number as usize & 1];
        if round.number != number {
            *round = Round { number, clock: Clock::default() };
        }
        round.clock.join(clock);
    }

    fn of(&self, number: u32) -> &Clock {
        &self.0[number as usize & 1].clock
    }
}

/// What a thread knows once it goes on.
#[derive(Clone, Copy, Debug)]
enum Joins {
    Barrier,
    Split,
    Named,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    clock: Clock,
    /// Barriers and signals of the split barrier it executed.
    barriers: u32,
    signals: u32,
    waits: u32,
    joins: Option<Joins>,
}

/// Read, write or atomic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum RaceAccess {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An atomic.
    Atomic,
}

impl std::fmt::Display for RaceAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            RaceAccess::Read => "reads",
            RaceAccess::Write => "writes",
            RaceAccess::Atomic => "changes",
        })
    }
}

/// An access of the past.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Past {
    pub thread: u32,
    pub pc: u32,
    clock: u32,
    channel: u8,
}

/// In place of a channel: several of a thread.
const SEVERAL: u8 = u8::MAX;
/// In place of a channel: the thread as such.
pub(super) const THREAD: u8 = u8::MAX - 1;

#[derive(Clone, Debug, Default)]
struct Cell {
    write: Option<(Past, u32)>,
    atomic: Option<Past>,
    /// Since the last write, one a thread.
    reads: Vec<Past>,
}

#[derive(Clone, Debug)]
enum Slot {
    Dword(Cell),
    Bytes(Box<[Cell; 4]>),
}

/// A group's state.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    threads: Vec<Thread>,
    barrier: Rounds,
    /// The barrier's last round, who came to it first, and where.
    at_barrier: (u32, u32, u32),
    split: Rounds,
    named: Clock,
    syncs: Map<Clock>,
    all_syncs: Clock,
    cells: Map<Slot>,
    /// An atomic gave somebody a value: what is accessed from then on, other groups may have ordered.
    pub acquired: bool,
    /// Some accesses were not remembered.
    pub overflowed: bool,
}

/// An access that is being made: whole dwords or single bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub thread: u32,
    pub pc: u32,
    /// The channel, or [`THREAD`].
    pub channel: u8,
    pub access: RaceAccess,
    /// What it writes.
    pub value: u32,
}

impl Group {
    fn thread(&mut self, thread: u32) -> &mut Thread {
        let t = thread as usize;
        if self.threads.len() <= t {
            self.threads.resize_with(t + 1, Thread::default);
        }
        &mut self.threads[t]
    }

    /// A thread starts; the group with its first.
    pub fn start(&mut self, thread: u32) {
        if thread == 0 {
            self.threads.clear();
            self.cells.clear();
            self.syncs.clear();
            *self = Group {
                threads: std::mem::take(&mut self.threads),
                cells: std::mem::take(&mut self.cells),
                syncs: std::mem::take(&mut self.syncs),
                overflowed: self.overflowed,
                ..Group::default()
            };
        }
        let t = self.thread(thread);
        *t = Thread::default();
        t.clock.advance(thread);
    }

    /// A thread goes on.
    #[inline]
    pub fn go_on(&mut self, thread: u32) {
        if let Some(t) = self.threads.get_mut(thread as usize)
            && let Some(joins) = t.joins.take()
        {
            match joins {
                Joins::Barrier => t.clock.join(self.barrier.of(t.barriers)),
                Joins::Split => t.clock.join(self.split.of(t.waits)),
                Joins::Named => t.clock.join(&self.named),
            }
        }
    }

    /// A thread executed a fence: what its channels did before is ordered before what they do from now on.
    pub fn fence(&mut self, thread: u32) {
        self.thread(thread).clock.advance(thread);
    }

    /// A thread executed a barrier; gives the thread and the program counter of one that is at another barrier.
    pub fn barrier(&mut self, thread: u32, (op, pc): (Op, u32), signal: bool) -> Option<(u32, u32)> {
        self.thread(thread);
        let t = &mut self.threads[thread as usize];
        let mut elsewhere = None;
        match (op, signal) {
            (Op::Barrier, _) => {
                t.barriers += 1;
                self.barrier.arrive(t.barriers, &t.clock);
                t.joins = Some(Joins::Barrier);
                let round = t.barriers;
                match self.at_barrier {
                    (known, other, at) if known == round => elsewhere = (at != pc).then_some((other, at)),
                    (known, ..) if known > round => {}
                    _ => self.at_barrier = (round, thread, pc),
                }
            }
            (Op::SplitBarrier, true) => {
                t.signals += 1;
                self.split.arrive(t.signals, &t.clock);
            }
            (Op::SplitBarrier, false) => {
                t.waits += 1;
                t.joins = Some(Joins::Split);
            }
            (_, true) => self.named.join(&t.clock),
            (_, false) => {
                self.named.join(&t.clock);
                t.joins = Some(Joins::Named);
            }
        }
        t.clock.advance(thread);
        elsewhere
    }

    /// An atomic on the dword `key` orders its thread after those that were there before.
    pub fn synchronise(&mut self, thread: u32, key: u64) {
        self.thread(thread);
        let t = &mut self.threads[thread as usize];
        let known = self.syncs.len();
        let sync = match self.syncs.entry(key) {
            std::collections::hash_map::Entry::Occupied(e) => e.into_mut(),
            std::collections::hash_map::Entry::Vacant(e) if known < MAX_SYNCS => e.insert(Clock::default()),
            std::collections::hash_map::Entry::Vacant(_) => &mut self.all_syncs,
        };
        t.clock.join(sync);
        sync.join(&t.clock);
        t.clock.advance(thread);
    }

    /// Notes an access of `bytes` (1 or 4, aligned) at a key; gives the access that it races with.
    pub fn access(&mut self, key: u64, bytes: u32, now: Now) -> Option<(Past, RaceAccess)> {
        self.thread(now.thread);
        let clock = &self.threads[now.thread as usize].clock;
        let known = self.cells.len();
        let slot = match self.cells.entry(key & !3) {
            std::collections::hash_map::Entry::Occupied(e) => e.into_mut(),
            std::collections::hash_map::Entry::Vacant(e) if known < MAX_CELLS => {
                e.insert(Slot::Dword(Cell::default()))
            }
            std::collections::hash_map::Entry::Vacant(_) => {
                self.overflowed = true;
                return None;
            }
        };
        if bytes < 4
            && let Slot::Dword(cell) = slot
        {
            *slot = Slot::Bytes(Box::new(std::array::from_fn(|i| cell.byte(i as u32))));
        }
        match slot {
            Slot::Dword(cell) => cell.access(clock, now),
            Slot::Bytes(cells) if bytes < 4 => cells[key as usize & 3].access(clock, now),
            Slot::Bytes(cells) => {
                let mut race = None;
                for (i, cell) in cells.iter_mut().enumerate() {
                    let value = now.value >> (8 * i) & 0xff;
                    race = race.or(cell.access(clock, Now { value, ..now }));
                }
                race
            }
        }
    }
}

impl Cell {
    /// Byte `i` of it.
    fn byte(&self, i: u32) -> Cell {
        Cell { write: self.write.map(|(p, v)| (p, v >> (8 * i) & 0xff)), ..self.clone() }
    }

    fn access(&mut self, clock: &Clock, now: Now) -> Option<(Past, RaceAccess)> {
        let Now { thread, pc, channel, .. } = now;
        let past = Past { thread, pc, clock: clock.get(thread), channel };
        // The channels of a thread run in step here; in another width, or elsewhere, they do not.
        let beside = |p: &Past| {
            p.clock == past.clock
                && p.pc != pc
                && p.channel != channel
                && p.channel != THREAD
                && channel != THREAD
        };
        let races = |p: &Past| if p.thread == thread { beside(p) } else { p.clock > clock.get(p.thread) };
        let written = self.write.filter(|(p, _)| races(p));
        match now.access {
            RaceAccess::Read => {
                match self.reads.iter_mut().find(|r| r.thread == now.thread) {
                    // The earlier of two in one interval tells as much.
                    Some(r) if r.clock == past.clock => {
                        if r.channel != channel {
                            r.channel = if channel == THREAD { r.channel } else { SEVERAL };
                        }
                    }
                    Some(r) => *r = past,
                    None => self.reads.push(past),
                }
                written.map(|(p, _)| (p, RaceAccess::Write))
            }
            RaceAccess::Write => {
                // Who writes what is there already disturbs nobody.
                let same = self.write.is_some_and(|(_, v)| v == now.value);
                let mut race = written.filter(|_| !same).map(|(p, _)| (p, RaceAccess::Write));
                if !same {
                    let read = self.reads.iter().filter(|r| races(r)).min_by_key(|r| (r.thread, r.pc));
                    race = race.or(read.map(|r| (*r, RaceAccess::Read)));
                    self.reads.clear();
                }
                race = race.or(self.atomic.filter(races).map(|p| (p, RaceAccess::Atomic)));
                self.write = Some((past, now.value));
                self.atomic = None;
                race
            }
            RaceAccess::Atomic => {
                self.atomic = Some(past);
                written.map(|(p, _)| (p, RaceAccess::Write))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(threads: u32) -> Group {
        let mut g = Group::default();
        (0..threads).for_each(|t| g.start(t));
        g
    }

    fn now(thread: u32, access: RaceAccess, value: u32) -> Now {
        Now { thread, pc: thread, channel: 0, access, value }
    }

    use RaceAccess::{Atomic, Read, Write};

    #[test]
    fn barriers_order() {
        let mut g = group(2);
        assert!(g.access(0, 4, now(0, Write, 1)).is_none());
        g.barrier(0, (Op::Barrier, 0), false);
        assert!(g.access(4, 4, now(1, Write, 1)).is_none());
        g.barrier(1, (Op::Barrier, 0), false);
        g.go_on(0);
        // Thread 0 is at the next barrier already when thread 1 leaves this one.
        assert!(g.access(4, 4, now(0, Read, 0)).is_none());
        assert!(g.access(8, 4, now(0, Write, 7)).is_none());
        g.barrier(0, (Op::Barrier, 0), false);
        g.go_on(1);
        assert!(g.access(0, 4, now(1, Read, 0)).is_none());
        let (past, with) = g.access(8, 4, now(1, Read, 0)).expect("a race");
        assert_eq!((past.thread, with), (0, Write));
    }

    #[test]
    fn without_one_it_is_a_race() {
        let mut g = group(3);
        assert!(g.access(0, 4, now(0, Read, 0)).is_none());
        assert!(g.access(0, 4, now(1, Read, 0)).is_none());
        assert_eq!(g.access(0, 4, now(2, Write, 5)).map(|r| (r.0.thread, r.1)), Some((0, Read)));
        // The same value, twice.
        assert!(g.access(0, 4, now(1, Write, 5)).is_none());
        assert!(g.access(0, 4, now(0, Write, 6)).is_some());
    }

    #[test]
    fn bytes_stand_alone() {
        let mut g = group(2);
        assert!(g.access(SLM | 5, 1, now(0, Write, 1)).is_none());
        assert!(g.access(SLM | 6, 1, now(1, Write, 2)).is_none());
        assert!(g.access(SLM | 4, 4, now(1, Read, 0)).is_some());
        assert!(g.access(SLM | 8, 4, now(0, Write, 0x0403_0201)).is_none());
        assert!(g.access(SLM | 9, 1, now(1, Write, 2)).is_none(), "what is there already");
        assert!(g.access(SLM | 10, 1, now(1, Write, 2)).is_some());
    }

    #[test]
    fn atomics_order_and_race() {
        let mut g = group(2);
        assert!(g.access(0, 4, now(0, Write, 1)).is_none());
        g.synchronise(0, 64);
        assert!(g.access(64, 4, now(0, Atomic, 0)).is_none());
        g.synchronise(1, 64);
        assert!(g.access(64, 4, now(1, Atomic, 0)).is_none());
        assert!(g.access(0, 4, now(1, Read, 0)).is_none());
        // After its release, what thread 0 writes is its own again.
        assert!(g.access(4, 4, now(0, Write, 1)).is_none());
        assert!(g.access(4, 4, now(1, Read, 0)).is_some());
        assert!(g.access(64, 4, now(0, Write, 1)).is_some(), "thread 1's atomic came later");
    }

    #[test]
    fn split_and_named_barriers_order() {
        for (op, waits) in [(Op::SplitBarrier, true), (Op::NamedBarrier, true), (Op::SplitBarrier, false)] {
            let mut g = group(2);
            assert!(g.access(0, 4, now(0, Write, 1)).is_none());
            g.barrier(0, (op, 0), true);
            g.barrier(1, (op, 0), true);
            if waits {
                g.barrier(1, (op, 0), false);
            }
            g.go_on(1);
            assert_eq!(g.access(0, 4, now(1, Read, 0)).is_none(), waits);
        }
    }

    #[test]
    fn channels_of_one_thread_race() {
        let at = |pc, channel, access, value| Now { thread: 0, pc, channel, access, value };
        let mut g = group(1);
        assert!(g.access(0, 4, at(1, 3, Write, 1)).is_none());
        assert!(g.access(0, 4, at(2, 3, Read, 0)).is_none(), "its own");
        assert!(g.access(0, 4, at(2, 4, Read, 0)).is_some(), "another's");
        assert!(g.access(4, 4, at(3, 3, Read, 0)).is_none());
        assert!(g.access(4, 4, at(3, 4, Read, 0)).is_none());
        assert!(g.access(4, 4, at(4, 4, Write, 9)).is_some(), "channel 3 may come later");
        // A barrier or a fence orders them; the thread as such is no channel.
        g.fence(0);
        assert!(g.access(4, 4, at(5, 3, Read, 0)).is_none());
        assert!(g.access(8, 4, at(6, THREAD, Write, 9)).is_none());
        assert!(g.access(8, 4, at(7, 5, Read, 0)).is_none());
    }

    #[test]
    fn threads_at_different_barriers_are_told() {
        let mut g = group(2);
        assert_eq!(g.barrier(0, (Op::Barrier, 7), false), None);
        assert_eq!(g.barrier(1, (Op::Barrier, 7), false), None);
        assert_eq!(g.barrier(0, (Op::Barrier, 7), false), None);
        assert_eq!(g.barrier(1, (Op::Barrier, 9), false), Some((0, 7)));
    }
}
