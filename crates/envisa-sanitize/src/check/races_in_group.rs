//! Races between the threads of a group: accesses that nothing orders.
//!
//! Each thread knows how far every other one has come, separately in global and in shared local memory. What orders
//! is as OpenCL's memory model has it, and as it is left in vISA: a fence covers what its thread did before it in the
//! memory that it names; a barrier (or a signal of a split one) tells all others what fences have covered; an atomic
//! tells whoever comes to its place later, who knows it from its own next fence on. An atomic without fences orders
//! nothing, and a barrier without one neither. A named barrier is taken to order more than it does. Each dword (or byte,
//! where bytes are accessed) keeps its last write, its last atomics and the reads since: an atomic that changes it races
//! with plain reads, too.

use std::collections::HashSet;
use std::sync::Arc;

use envisa_lower::{Op, fence};
use envisa_machine::check_reports::{self, GLOBAL, LOCAL};

use super::access_cells::{Budget, Cells, CurrentAccess};
pub(super) use super::access_cells::{
    ChannelRange, PastAccess, Run, WHOLE as THREAD, is_several, known_channel, several_channels,
};
use super::atomic_messages::OneAtomic;
use super::clocks::{IMAGES, Known, MEMORIES, OF_IMAGES, memory};
use super::scattered::Dword;
use crate::address_map::Map;

/// Most dwords whose atomics have a clock of their own; all others share one.
const MAX_SYNCS: usize = 1 << 14;

/// Bit of a key: shared local memory.
pub(super) const SLM: u64 = 1 << 63;

/// What a barrier collects of one round.
#[derive(Clone, Debug, Default)]
struct Round {
    number: u32,
    known: Known,
}

/// The rounds of a barrier: while some threads still leave one, others arrive at the next.
#[derive(Clone, Debug, Default)]
struct Rounds([Round; 2]);

impl Rounds {
    fn arrive(&mut self, number: u32, thread: u32, t: &Thread) {
        let round = &mut self.0[number as usize & 1];
        if round.number != number {
            *round = Round { number, known: Known::default() };
        }
        t.tell(thread, &mut round.known);
    }

    fn of(&self, number: u32) -> &Known {
        &self.0[number as usize & 1].known
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
    /// How far it has come: fences advance it.
    clock: u32,
    known: Known,
    /// What atomics told it since its last fence: it knows it from the next one on.
    told: Known,
    /// By memory: up to when fences cover what it did, and whether it stored anything since.
    fenced: [u32; MEMORIES.len()],
    stored: [bool; MEMORIES.len()],
    /// Barriers and signals of the split barrier it executed.
    barriers: u32,
    signals: u32,
    waits: u32,
    joins: Option<Joins>,
    /// By memory: from when on nothing has ordered its channels; and from when on it would, if an atomic came after the
    /// fence that was alone.
    since: [u32; MEMORIES.len()],
    since_alone: [u32; MEMORIES.len()],
    /// Up to when fences that are for more than its group cover what it did in global memory.
    fenced_for_all: u32,
    /// The fence that comes is one of which the source has no barrier, or one for its own group alone.
    alone: bool,
    for_group: bool,
    /// What the fence that comes covers at most, if that is told; from when on no fence of images came.
    covers: Option<u32>,
    since_images: u32,
    /// By memory: what was done before this time is ordered before what it does now, whoever did it.
    floor: [u32; MEMORIES.len()],
    /// What it accesses is an asynchronous copy's.
    copying: Option<Copying>,
    /// What it accesses in shared local memory is an atomic's.
    changing: bool,
}

/// An asynchronous copy as if a thread of its own made it.
#[derive(Clone, Debug)]
struct Copying {
    thread: u32,
    clock: u32,
    known: Known,
}

/// In place of threads: asynchronous copies. No device has groups of so many threads.
const COPIES: u32 = 128;

/// Is it a copy's number, and no thread's?
pub(super) fn is_copy(thread: u32) -> bool {
    thread >= COPIES
}

/// What is in place of the thread and its clock for the n-th copy of a group.
fn of_copy(n: usize) -> (u32, u32) {
    (COPIES + n as u32 % COPIES, 1 + n as u32 / COPIES)
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

/// Does a group know what other groups did?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Acquired {
    /// No.
    #[default]
    No,
    /// An atomic gave somebody a value.
    Told,
    /// And a fence that is for more than the group came after it.
    Fenced,
}

/// A group's state.
#[derive(Debug, Default)]
pub(super) struct Group {
    threads: Vec<Thread>,
    barrier: Rounds,
    /// The barrier's last round, who came to it first, and where.
    at_barrier: (u32, u32, u32),
    split: Rounds,
    named: Known,
    /// By dword: what those have told who came there with an atomic after a fence.
    syncs: Map<u32>,
    told: Vec<Known>,
    all_syncs: Known,
    cells: Cells,
    acquired: Acquired,
    /// Threads that know more once they go on.
    joining: u32,
    /// The channels of a thread are in order among themselves.
    in_step: bool,
    /// Threads that started; what all know of each other may be more than nothing; there were asynchronous copies.
    started: u32,
    ordered: bool,
    copied: bool,
    /// The kernel may read images that it writes, and tells of its fences whether they cover images.
    images_apart: bool,
    /// Some accesses were not remembered.
    pub overflowed: bool,
    /// Loads of what the same thread then compares and exchanges: a guess, which is sound whatever it reads.
    pub guesses: HashSet<u32>,
}

/// Accesses that are being made.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurrentAccesses {
    pub thread: u32,
    pub pc: u32,
    pub access: RaceAccess,
    /// An atomic that leaves what is there.
    pub loads: bool,
    /// An atomic that compares.
    pub compares: bool,
    /// They are of images.
    pub images: bool,
}

impl CurrentAccesses {
    /// The index of the memory that an access is made to.
    fn memory(&self, key: u64) -> usize {
        if self.images { OF_IMAGES } else { memory(key) }
    }
}

impl Group {
    /// With cells that take of a budget; the channels of a thread may be in order among themselves.
    pub fn of(budget: Arc<Budget>, in_step: bool) -> Group {
        Group { cells: Cells::of(budget), in_step, ..Group::default() }
    }

    fn thread(&mut self, thread: u32) -> &mut Thread {
        let t = thread as usize;
        if self.threads.len() <= t {
            self.threads.resize_with(t + 1, Thread::default);
        }
        &mut self.threads[t]
    }

    /// A thread starts, as the first of its group or not.
    pub fn start(&mut self, thread: u32, first: bool) {
        if first {
            self.cells.clear();
            self.syncs.clear();
            (self.barrier, self.split, self.named) = Default::default();
            (self.all_syncs, self.at_barrier, self.acquired, self.joining) = Default::default();
            (self.started, self.copied, self.images_apart) = (0, false, false);
        }
        self.started = self.started.max(thread + 1);
        self.nothing_is_ordered();
        let t = self.thread(thread);
        let mut clocks = [std::mem::take(&mut t.known), std::mem::take(&mut t.told)];
        clocks.iter_mut().flatten().for_each(|c| c.0.clear());
        let [known, told] = clocks;
        *t = Thread { clock: 1, known, told, floor: [1; MEMORIES.len()], ..Thread::default() };
    }

    /// Of no time it is certain any more that all know what was done before it.
    fn nothing_is_ordered(&mut self) {
        if std::mem::take(&mut self.ordered) {
            self.threads.iter_mut().for_each(|t| t.floor = [1; MEMORIES.len()]);
        }
    }

    /// A thread knows more than before.
    fn knows_more(&mut self, thread: u32) {
        let (n, in_step) = (self.started as usize, self.in_step);
        let Some(t) = self.threads.get_mut(thread as usize).filter(|_| !self.copied) else { return };
        for (m, known) in t.known.iter().enumerate() {
            let since = if in_step { u32::MAX } else { t.since[m] };
            let least = |all: &[u32]| all.iter().copied().min().unwrap_or(u32::MAX - 1);
            let floor = match known.0.get(..n) {
                Some(known) => {
                    let (before, rest) = known.split_at((thread as usize).min(n));
                    least(before).min(least(rest.get(1..).unwrap_or_default())) + 1
                }
                // Of some of the others nothing is known.
                None if n > 1 => 1,
                None => u32::MAX,
            };
            t.floor[m] = floor.min(since).max(1);
        }
        self.ordered = true;
    }

    /// How many rounds of the barrier of all threads are over for a thread, unless it waits for one, or copies of the group
    /// may be under way.
    pub fn round(&self, thread: u32) -> Option<u32> {
        let t = self.threads.get(thread as usize).filter(|t| t.joins.is_none() && !self.copied)?;
        Some(t.barriers)
    }

    /// Does a round of the barrier, the last one of all threads, order what each did in local memory up to a clock?
    pub fn has_ordered_local(&self, round: u32, latest: &[u32]) -> bool {
        let m = memory(SLM);
        let threads = self.threads.iter().zip(latest).zip(0..);
        latest.len() == self.started as usize && threads.clone().count() == latest.len() && { threads }.all(
            |((t, latest), thread)| {
                let known = self.barrier.of(round)[m].get(thread);
                t.barriers == round && known >= *latest && (self.in_step || t.since[m] > *latest)
            },
        )
    }

    /// Notes an access to local memory that a thread made, and that races with nothing.
    pub fn note_earlier_access(&mut self, key: u64, past: PastAccess, access: RaceAccess, value: u32) {
        let (m, in_step) = (memory(key), self.in_step);
        let Some(t) = self.threads.get_mut(past.thread as usize) else { return };
        t.stored[m] |= access == RaceAccess::Write && t.clock == past.clock;
        let since = if in_step { u32::MAX } else { t.since[m] };
        let making = CurrentAccess::new(past, access, &t.known[m].0, (since, t.floor[m]));
        let noted = making.map(|making| self.cells.dword(key, &making, value));
        self.overflowed |= !matches!(noted, Some(Ok(_)));
    }

    /// How often what a thread did was put in order so far: by its fences, and what tells others of them.
    pub fn orderings(&self, thread: u32) -> u32 {
        self.threads.get(thread as usize).map_or(0, |t| t.clock.saturating_sub(1))
    }

    /// A thread goes on.
    #[inline]
    pub fn resume_thread(&mut self, thread: u32) {
        if self.joining > 0
            && let Some(t) = self.threads.get_mut(thread as usize)
            && let Some(joins) = t.joins.take()
        {
            self.joining -= 1;
            let told = match joins {
                Joins::Barrier => self.barrier.of(t.barriers),
                Joins::Split => self.split.of(t.waits),
                Joins::Named => &self.named,
            };
            t.known.iter_mut().zip(told).for_each(|(known, told)| known.join(told));
            self.knows_more(thread);
        }
    }

    /// A thread executed a fence of these [`fence`] bits: what its channels did before in that memory is ordered before
    /// what they do from now on. For what other groups did, a fence of the group alone is none.
    pub fn fence(&mut self, thread: u32, what: u32) {
        let t = self.thread(thread);
        let images = if what & fence::GLOBAL != 0 { IMAGES } else { 0 };
        let what = (what | images) & t.covers.unwrap_or(u32::MAX);
        let done = t.clock;
        t.clock = done.saturating_add(1);
        for (m, _) in MEMORIES.iter().enumerate().filter(|(_, bit)| what & **bit != 0) {
            (t.fenced[m], t.stored[m]) = (done, false);
            let since = if t.alone { &mut t.since_alone[m] } else { &mut t.since[m] };
            *since = t.clock;
            if !t.told[m].0.is_empty() {
                t.known[m].join(&t.told[m]);
                t.told[m].0.clear();
            }
        }
        if what & fence::GLOBAL != 0 {
            let for_group = t.for_group;
            t.fenced_for_all = if for_group { t.fenced_for_all } else { done };
            self.acquired = match (self.acquired, for_group || what & fence::GROUP != 0) {
                (Acquired::Told, false) => Acquired::Fenced,
                (Acquired::Told, true) => Acquired::No,
                (other, _) => other,
            };
        }
        self.knows_more(thread);
    }

    /// A thread's channels came together at a barrier of their sub-group: what they did before in these memories
    /// ([`LOCAL`], [`GLOBAL`]) is ordered before what they do from now on, for themselves alone.
    pub fn join_channels(&mut self, thread: u32, memories: u32) {
        let t = self.thread(thread);
        t.clock = t.clock.saturating_add(1);
        let all = [GLOBAL, LOCAL, check_reports::IMAGES];
        for (since, _) in t.since.iter_mut().zip(all).filter(|(_, bit)| memories & bit != 0) {
            *since = t.clock;
        }
        if memories & check_reports::IMAGES != 0 {
            t.since_images = t.clock;
        }
    }

    /// Fences begin of which `what` tells, or are over. One of which the source has no barrier orders the channels of its
    /// thread only if an atomic comes after it; what an atomic for the group alone orders, other groups do not know.
    pub fn fences(&mut self, thread: u32, what: u32) {
        let has = |bit: u32| what & bit != 0;
        self.images_apart |= has(check_reports::IMAGES_APART);
        let t = self.thread(thread);
        (t.alone, t.for_group) = (has(check_reports::ALONE), has(check_reports::FOR_GROUP));
        t.covers = has(check_reports::IMAGES_APART).then(|| {
            let images = if has(check_reports::COVERS_IMAGES) { IMAGES } else { 0 };
            let buffers = if has(check_reports::COVERS_BUFFERS) { fence::GLOBAL } else { 0 };
            !(fence::GLOBAL | IMAGES) | images | buffers
        });
        if has(check_reports::COVERS_IMAGES) {
            t.clock = t.clock.saturating_add(1);
            t.since_images = t.clock;
        }
    }

    /// How far its threads are covered by fences, as a thread tells other groups of it.
    pub fn covered(&self, thread: u32) -> Vec<u32> {
        let Some(t) = self.threads.get(thread as usize) else { return Vec::new() };
        let mut covered = t.known[memory(0)].clone();
        covered.set(thread, t.fenced_for_all);
        covered.0
    }

    /// How far a thread has come.
    pub fn clock(&self, thread: u32) -> u32 {
        self.threads.get(thread as usize).map_or(0, |t| t.clock)
    }

    /// A thread begins an atomic of which it makes several accesses to shared local memory, or is done with it.
    pub fn changes(&mut self, thread: u32, begins: bool) {
        self.thread(thread).changing = begins;
    }

    /// Is what a thread accesses in shared local memory an atomic's?
    pub fn is_changing(&self, thread: u32) -> bool {
        self.threads.get(thread as usize).is_some_and(|t| t.changing)
    }

    /// An atomic of memory that other groups can access gave somebody a value: what is accessed after the next fence,
    /// they may have ordered.
    pub fn note_atomic_result(&mut self) {
        if self.acquired == Acquired::No {
            self.acquired = Acquired::Told;
        }
    }

    /// May what is accessed now be ordered after what other groups did?
    pub fn has_acquired(&self) -> bool {
        self.acquired == Acquired::Fenced
    }

    /// A thread executed a barrier; gives the thread and the program counter of one that is at another barrier.
    pub fn barrier(&mut self, thread: u32, (op, pc): (Op, u32), signal: bool) -> Option<(u32, u32)> {
        self.thread(thread);
        let t = &mut self.threads[thread as usize];
        let (mut elsewhere, joined) = (None, t.joins.is_some());
        match (op, signal) {
            (Op::Barrier, _) => {
                t.barriers += 1;
                self.barrier.arrive(t.barriers, thread, t);
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
                self.split.arrive(t.signals, thread, t);
            }
            (Op::SplitBarrier, false) => {
                t.waits += 1;
                t.joins = Some(Joins::Split);
            }
            (_, true) => t.tell(thread, &mut self.named),
            (_, false) => {
                t.tell(thread, &mut self.named);
                t.joins = Some(Joins::Named);
            }
        }
        self.joining += u32::from(!joined && t.joins.is_some());
        elsewhere
    }

    /// A thread was at the dword `key` with an atomic: it tells what its fences cover, if the atomic changes it, and is
    /// told what others have, if it was given a value.
    pub fn synchronise(&mut self, thread: u32, key: u64, changes: bool, given: bool) {
        self.thread(thread);
        let t = &mut self.threads[thread as usize];
        t.since.iter_mut().zip(t.since_alone).for_each(|(since, alone)| *since = alone.max(*since));
        let tells = changes && t.fenced != [0; MEMORIES.len()];
        let known = self.syncs.len();
        let there = match self.syncs.get(&key) {
            Some(there) => &mut self.told[*there as usize],
            None if tells && known < MAX_SYNCS => {
                self.syncs.insert(key, known as u32);
                if self.told.len() <= known {
                    self.told.push(Known::default());
                }
                self.told[known].iter_mut().for_each(|c| c.0.clear());
                &mut self.told[known]
            }
            None if known < MAX_SYNCS => return,
            None => &mut self.all_syncs,
        };
        if given {
            t.told.iter_mut().zip(&*there).for_each(|(told, there)| told.join(there));
        }
        if tells {
            t.tell(thread, there);
            let m = memory(key);
            // The atomic itself, which comes right after its fence: whoever is given its value comes later.
            if t.fenced[m] + 1 == t.clock && !t.stored[m] {
                there[m].set(thread, t.clock);
                t.clock += 1;
            }
        }
    }

    /// A thread comes to the n-th asynchronous copy of its group; what it accesses until [`Group::copy_ends`] is the
    /// copy's. Any work-item may copy any element: what others did is ordered before it as far as the thread knows it, and
    /// its own as far as others may, unless it is alone.
    pub fn copy_begins(&mut self, thread: u32, n: usize, alone: bool) {
        self.nothing_is_ordered();
        self.copied = true;
        let t = self.thread(thread);
        let ((number, clock), mut known) = (of_copy(n), t.known.clone());
        for (m, known) in known.iter_mut().enumerate() {
            known.set(thread, if alone { u32::MAX } else { t.since[m].saturating_sub(1) });
        }
        t.copying = Some(Copying { thread: number, clock, known });
    }

    /// It has done its part of the copy.
    pub fn copy_ends(&mut self, thread: u32) {
        self.thread(thread).copying = None;
    }

    /// Is what a thread accesses a copy's?
    pub fn is_copying(&self, thread: u32) -> bool {
        self.threads.get(thread as usize).is_some_and(|t| t.copying.is_some())
    }

    /// A thread waits for the n-th copy.
    pub fn copy_is_known(&mut self, thread: u32, n: usize) {
        let (number, clock) = of_copy(n);
        for known in &mut self.thread(thread).known {
            let clock = clock.max(known.get(number));
            known.set(number, clock);
        }
    }

    /// Notes accesses to dwords, neither of them an atomic; tells of those that race, by their number.
    pub fn dwords(
        &mut self,
        dwords: &[Dword],
        now: CurrentAccesses,
        mut races: impl FnMut(usize, (PastAccess, RaceAccess)),
    ) {
        self.thread(now.thread);
        let me = &mut self.threads[now.thread as usize];
        let CurrentAccesses { thread, pc, access, .. } = now;
        // They are all in one memory.
        let m = dwords.first().map_or(0, |d| now.memory(d.key));
        me.stored[m] |= access == RaceAccess::Write;
        let Some(mut making) = me.making((thread, pc), access, m, self.in_step) else {
            self.overflowed = true;
            return;
        };
        for (n, &Dword { key, by, value, .. }) in dwords.iter().enumerate() {
            making.by(if me.copying.is_some() { THREAD } else { by });
            match self.cells.dword(key, &making, value) {
                Ok(Some(race)) => races(n, race),
                Ok(None) => {}
                Err(_) => self.overflowed = true,
            }
        }
    }

    /// Is what a thread accesses not simply its own?
    pub fn is_apart(&self, thread: u32) -> bool {
        self.threads.get(thread as usize).is_none_or(|t| t.changing || t.copying.is_some())
    }

    /// Notes accesses of a thread to shared local memory that race with nothing: `each` makes the runs that it is given.
    /// False if one of them may race; it is to be made again, and so are all others, and nothing is noted twice.
    pub fn note_race_free_accesses<T>(
        &mut self,
        now: CurrentAccesses,
        of: &[T],
        mut each: impl FnMut(&T, &mut dyn FnMut(&Run<'_>) -> bool) -> bool,
    ) -> bool {
        let (in_step, m) = (self.in_step, memory(SLM));
        let Some(me) = self.threads.get_mut(now.thread as usize) else { return false };
        me.stored[m] |= now.access == RaceAccess::Write;
        let Some(mut making) = me.making((now.thread, now.pc), now.access, m, in_step) else { return false };
        let cells = &mut self.cells;
        let mut make = |run: &Run<'_>| cells.at_once(run, &mut making).unwrap_or(false);
        of.iter().all(|one| each(one, &mut make))
    }

    /// Notes atomics of a message in their order, which give what was there or not; false if one of them may race, and
    /// nothing is noted.
    pub fn atomics_at_once(&mut self, now: CurrentAccesses, all: &[OneAtomic], gives: bool) -> bool {
        let CurrentAccesses { thread, pc, access, .. } = now;
        let in_step = self.in_step;
        for (a, note) in all.iter().map(|a| (a, false)).chain(all.iter().map(|a| (a, true))) {
            let m = memory(a.key);
            let Some(me) = self.threads.get(thread as usize) else { return false };
            let Some(mut making) = me.making((thread, pc), access, m, in_step) else { return false };
            making.loads = a.loads;
            making.by(a.channel);
            if !note {
                if self.cells.atomic_may_race(a.key, &making) {
                    return false;
                }
                continue;
            }
            self.overflowed |= self.cells.atomic(a.key, &making).is_err();
            self.synchronise(thread, a.key, !a.loads, gives);
        }
        true
    }

    /// Notes accesses; tells of those that race, by their key and channel.
    pub fn access(
        &mut self,
        run: &Run<'_>,
        now: CurrentAccesses,
        mut races: impl FnMut(u64, u8, (PastAccess, RaceAccess)),
    ) {
        self.thread(now.thread);
        let (me, cells) = (&mut self.threads[now.thread as usize], &mut self.cells);
        let CurrentAccesses { thread, pc, access, loads, compares, .. } = now;
        let m = now.memory(run.key);
        let apart = self.images_apart && now.images;
        me.stored[m] |= access == RaceAccess::Write;
        let mut guess = None;
        let of_copy = Run { by: ChannelRange::single(THREAD), ..*run };
        let run = if me.copying.is_some() { &of_copy } else { run };
        let done = me.making((thread, pc), access, m, self.in_step).and_then(|mut making| {
            (making.loads, making.compares) = (loads, compares);
            if apart {
                making.reads_back(me.since_images, self.in_step);
            }
            cells.access(run, &mut making, &mut guess, &mut races).ok()
        });
        if let Some(guess) = guess {
            self.guesses.insert(guess);
        }
        self.overflowed |= done.is_none();
    }
}

impl Thread {
    /// What is known of an access that it makes to memory, for itself or for a copy; `None` if it cannot be remembered.
    fn making(
        &self,
        (thread, pc): (u32, u32),
        access: RaceAccess,
        memory: usize,
        in_step: bool,
    ) -> Option<CurrentAccess<'_>> {
        match &self.copying {
            None => {
                let past = PastAccess { thread, pc, clock: self.clock, channel: 0 };
                let since = if in_step { u32::MAX } else { self.since[memory] };
                CurrentAccess::new(past, access, &self.known[memory].0, (since, self.floor[memory]))
            }
            Some(copy) => {
                let past = PastAccess { thread: copy.thread, pc, clock: copy.clock, channel: 0 };
                CurrentAccess::new(past, access, &copy.known[memory].0, (u32::MAX, 1))
            }
        }
    }

    /// Tells others what it knows, and what its own fences cover.
    fn tell(&self, thread: u32, others: &mut Known) {
        for (m, others) in others.iter_mut().enumerate() {
            others.join(&self.known[m]);
            if self.fenced[m] > others.get(thread) {
                others.set(thread, self.fenced[m]);
            }
        }
    }
}

#[cfg(test)]
mod tests;
