//! Threads of a group: how they start, take turns, and wait for each other. For engines that run one thread after
//! the other.

pub mod log;
pub mod paused;

use std::ops::Range;
use std::sync::Arc;

use envisa_isa::limits::NAMED_BARRIERS;
use envisa_lower::Program;

use crate::dispatch::GroupClass;
use crate::engine::{LaunchView, Stop, Worker};
use crate::memory::{Block, Hint};
use crate::start::Gaps;
use crate::thread::{Accesses, Env, Group, Loaded, Machine, Mask, Status, Thread};
use crate::thread_order::Order;
use crate::trap::{Cause, ThreadState, Trap};

pub use crate::loader::{Loader, group_runs_together};

/// Runs one thread.
pub trait Run {
    /// Runs a thread from `m.t.pc` on until it ends, waits, has had its turn or faults. `fresh`: it starts. Where
    /// threads are not alive together, it may go on instead when the turn is over, if it asks `stop` each time.
    fn run(&mut self, m: &mut Machine<'_>, fresh: bool, stop: &Stop);

    /// Does it run rows of groups? It starts their threads itself then, by [`Start`](crate::start::Start).
    fn takes_rows(&self) -> bool {
        false
    }

    /// Do rows have threads that lack channels, too?
    fn takes_tails(&self) -> bool {
        false
    }

    /// Runs the threads of a row group by group, to their end, and clears the local
    /// memory between groups. Stops at the first fault, which it leaves in `m`, with what it was of; and between threads,
    /// if nobody wants the rest.
    fn row(&mut self, _: &mut Machine<'_>, _: &Row<'_>, _: &Stop) {}

    /// Does it run rows of groups whose threads are alive together, and lets these take turns? It starts them itself
    /// then, as those of other rows.
    fn takes_turns(&self) -> bool {
        false
    }

    /// Runs a row of groups whose threads are alive together, until all of them have ended or something else is to be done
    /// about one of them. Gives how many groups ended before that one.
    fn turns(&mut self, _: &mut Alive<'_>, _: &Row<'_>, _: &Stop) -> (u32, Turns) {
        (0, Turns::Rest { started: 0, next: 0 })
    }

    /// Its worker has ended, and leaves what another one can use.
    fn keep(&mut self, _: Kept) {}
}

/// Memory that a worker leaves to a later one of the same program and loader, in another launch: how much of what was in
/// it holds there depends on what the launches have in common.
#[derive(Default)]
pub struct Kept {
    /// The launch's number, and that of what it reached.
    launch: u64,
    reach: u64,
    /// The program whose registers, hints and constants these are.
    program: Option<Program>,
    threads: Vec<Thread>,
    hints: Vec<Hint>,
    image: Vec<u8>,
    slm: Option<Block>,
}

impl Kept {
    /// Is it of a launch that reached the same memory and surfaces, in the same places? Where messages went holds then.
    pub fn reaches(&self, launch: &LaunchView<'_>) -> bool {
        let program = |p: &Program| p.is(launch.env.program);
        // Where local memory was is remembered as well.
        let slm = |slm: &Block| slm.len() as u64 == launch.prepared.slm_bytes;
        self.reach == launch.prepared.reach()
            && self.program.as_ref().is_some_and(program)
            && self.slm.as_ref().is_some_and(slm)
    }

    /// What is of use to a worker of this launch.
    fn reusable_for(mut self, launch: &LaunchView<'_>) -> Kept {
        let program = launch.env.program;
        let reaches = self.reaches(launch);
        if reaches && self.launch == launch.prepared.number() {
            // The same launch once more.
            return self;
        }
        if !self.program.as_ref().is_some_and(|p| p.is(program)) {
            return Kept { program: Some(program.clone()), ..Kept::default() };
        }
        for t in self.threads.iter_mut().filter(|t| t.loaded == Loaded::All) {
            t.loaded = Loaded::Other;
        }
        if !reaches {
            self.hints.fill(Hint::default());
        }
        self.slm = self.slm.filter(|slm| slm.len() as u64 == launch.prepared.slm_bytes);
        self
    }
}

/// How an engine that lets threads take turns stopped.
#[derive(Debug)]
pub enum Turns {
    /// All groups of the row ended.
    Ended,
    /// A fault.
    Fault(Box<Trap>),
    /// The threads from `started` on have not started, the others are where their state says; those from `next` on
    /// have not had their turn.
    Rest {
        /// How many have started.
        started: u32,
        /// Whose turn is next; after the last one's, all of them are looked at.
        next: u32,
    },
}

/// The threads of a group that are alive together, and what they share.
pub struct Alive<'a> {
    env: &'a Env<'a>,
    group: &'a mut Group,
    slm: &'a Block,
    threads: &'a mut [Thread],
    hints: &'a mut [Hint],
}

impl Alive<'_> {
    /// A thread with all it can reach.
    ///
    /// # Panics
    /// If there is no such thread.
    pub fn machine(&mut self, index: usize) -> Machine<'_> {
        make_machine(self.env, self.group, self.slm, &mut self.threads[index], self.hints)
    }

    /// The states of the threads.
    pub fn threads(&mut self) -> &mut [Thread] {
        self.threads
    }

    /// Prepares for the next group of a row, whose id along it this is.
    ///
    /// # Errors
    /// The launch was cancelled.
    pub fn next(&mut self, row: &Row<'_>, along: u32, stop: &Stop) -> Result<(), Box<Trap>> {
        self.group.id[row.axis] = along;
        self.group.fused.clear();
        if stop.cancelled() {
            let trap = Trap::before_start(self.env.program.name(), Cause::Cancelled);
            return Err(Box::new(Trap { group: self.group.id, ..trap }));
        }
        self.slm.clear(0, self.slm.len());
        Ok(())
    }

    /// Where the threads are, with a fault of one of them.
    pub fn told(&self, mut trap: Box<Trap>) -> Box<Trap> {
        trap.threads = thread_states(self.env.program, self.threads, &trap);
        trap
    }
}

/// Consecutive groups along an axis that differ in nothing but their ids.
pub struct Row<'a> {
    /// Id of the first group.
    pub first: [u32; 3],
    /// Along which axis the others follow: 0 to 2.
    pub axis: usize,
    /// How many groups.
    pub groups: u32,
    /// Threads of each.
    pub threads: u32,
    /// Register image of the first group.
    pub image: &'a [u8],
    /// Payloads of a group's threads, one after another.
    pub payloads: &'a [u8],
    /// The hardware slot of a group's first thread.
    pub slot: u32,
    /// Instructions a thread may execute (counted at branches) before it is stopped.
    pub limit: u64,
    /// Where the scratch of the first thread is, and from thread to thread.
    scratch: (u64, u64),
    /// The channels of each group's threads but the last one: all, or those of the only thread.
    pub channels: Mask,
    /// The channels of each group's last thread.
    pub last: Mask,
}

impl Row<'_> {
    /// Puts a machine to where a thread of the row starts, but for its registers.
    pub fn begin(&self, m: &mut Machine<'_>, along: u32, thread: u32) {
        if m.group.id[self.axis] != along {
            m.group.id[self.axis] = along;
            m.group.fused.clear();
        }
        self.reset(m.t, thread);
    }

    /// Puts a thread's state to the start of a thread of the row, but for its registers.
    pub fn reset(&self, t: &mut Thread, thread: u32) {
        t.index = thread;
        t.slot = self.slot + thread;
        t.scratch = (self.scratch.0 + u64::from(thread) * self.scratch.1) & !0x3ff;
        t.reset(self.channels_of(thread), self.limit);
    }

    /// The channels of a thread.
    pub fn channels_of(&self, thread: u32) -> Mask {
        if thread + 1 == self.threads { self.last } else { self.channels }
    }
}

/// A worker that runs a group's threads one after the other.
pub struct Groups<'a, R: Run> {
    launch: &'a LaunchView<'a>,
    loader: Arc<Loader>,
    image: Vec<u8>,
    threads: Vec<Thread>,
    hints: Vec<Hint>,
    slm: Block,
    /// First hardware slot of this worker.
    slot: u32,
    /// A group's threads are alive at once, and take turns.
    together: bool,
    /// What the threads of the group that runs share; groups use it one after the other.
    group: Group,
    /// The program has named barriers, whose counts are to be cleared between groups.
    named: bool,
    /// Groups run by rows; also threads that lack channels.
    rows: bool,
    tails: bool,
    /// Room for the accesses that an observer is told of.
    accesses: Accesses,
    /// It is in the midst of groups, or stopped there: nothing of it is kept.
    amidst: bool,
    run: R,
}

impl<'a, R: Run> Groups<'a, R> {
    /// The worker of this number, whose threads `run` runs.
    ///
    /// # Errors
    /// If the host has no memory for a group.
    pub fn new(launch: &'a LaunchView<'a>, number: u32, run: R) -> Result<Self, Box<Trap>> {
        let loader = Loader::clearing(launch.env.program, launch.prepared, launch.cleared);
        Groups::with(launch, number, run, Arc::new(loader), Kept::default())
    }

    /// The same with a loader of this program and of launches whose images are as this one's, and with memory that
    /// another worker left.
    ///
    /// # Errors
    /// If the host has no memory for a group.
    pub fn with(
        launch: &'a LaunchView<'a>,
        number: u32,
        run: R,
        loader: Arc<Loader>,
        kept: Kept,
    ) -> Result<Self, Box<Trap>> {
        let (prepared, program) = (launch.prepared, launch.env.program);
        let most = prepared.most_threads();
        let Kept { mut threads, mut hints, mut image, slm, .. } = kept.reusable_for(launch);
        let Some(slm) = slm.or_else(|| Block::zeroed(prepared.slm_bytes as usize)) else {
            let cause = Cause::NoMemory { bytes: prepared.slm_bytes };
            return Err(Box::new(Trap::before_start(program.name(), cause)));
        };
        let together = loader.together;
        let live = if together { most } else { 1 };
        threads.truncate(live as usize);
        threads.resize_with(live as usize, || {
            let mut t = Thread::new(program);
            let constants = &program.registers().constants;
            t.regs.slice_mut(0, constants.len() as u32).copy_from_slice(constants);
            t
        });
        hints.resize(program.messages().len().max(1), Hint::default());
        image.clone_from(&prepared.image);
        Ok(Groups {
            launch,
            image,
            threads,
            hints,
            slm,
            slot: number * most,
            together,
            group: Group { id: [0; 3], named: [(0, 0); NAMED_BARRIERS as usize], fused: Vec::new() },
            named: loader.named,
            rows: launch.order == Order::Forward
                && if together { run.takes_turns() } else { run.takes_rows() },
            tails: run.takes_tails(),
            accesses: Accesses::default(),
            amidst: false,
            run,
            loader,
        })
    }

    /// Prepares for a group of this id, or for a row that begins with it.
    ///
    /// # Errors
    /// The launch was cancelled.
    fn begin(&mut self, id: [u32; 3], class: &GroupClass, stop: &Stop) -> Result<(), Box<Trap>> {
        if stop.cancelled() {
            let trap = Trap::before_start(self.launch.env.program.name(), Cause::Cancelled);
            return Err(Box::new(Trap { group: id, ..trap }));
        }
        self.launch.prepared.patch_group(&mut self.image, id, class);
        if !self.slm.is_empty() {
            self.slm.clear(0, self.slm.len());
        }
        self.group.id = id;
        self.group.fused.clear();
        if self.named {
            self.group.named.fill((0, 0));
        }
        Ok(())
    }

    /// Runs a group; gives its fault.
    fn run_group(&mut self, id: [u32; 3], stop: &Stop) -> Option<Box<Trap>> {
        let class = self.launch.prepared.class(id);
        if let Err(trap) = self.begin(id, class, stop) {
            return Some(trap);
        }
        if self.together {
            self.turns(class, (0, 0), stop)
        } else {
            self.run_threads_one_by_one(class, 0, stop)
        }
    }

    /// Runs the threads of a group from this one on, each to its end before the next begins.
    fn run_threads_one_by_one(&mut self, class: &GroupClass, first: u32, stop: &Stop) -> Option<Box<Trap>> {
        let env = &self.launch.env;
        let mut shared = false;
        for nth in first..class.threads {
            let index = self.launch.order.place(nth.into(), class.threads.into(), self.group_number()) as u32;
            shared = self.start_thread(class, index, 0, shared);
            let mut fresh = true;
            loop {
                let t = &mut self.threads[0];
                t.turn = TURN;
                let mut m = make_machine(env, &mut self.group, &self.slm, t, &mut self.hints);
                m.accesses = std::mem::take(&mut self.accesses);
                self.run.run(&mut m, fresh, stop);
                self.accesses = std::mem::take(&mut m.accesses);
                if m.trap.is_none() && m.t.status == Status::Yielded && stop.cancelled() {
                    m.fault(m.t.pc, None, Cause::Cancelled);
                }
                if let Some(mut trap) = m.trap {
                    trap.threads = thread_states(env.program, &self.threads[..1], &trap);
                    return Some(trap);
                }
                // It is alone: the next turn is its own, too.
                if m.t.status != Status::Yielded {
                    break;
                }
                fresh = false;
            }
        }
        None
    }

    /// How many groups from this one on are a row; at most so many.
    fn row_length(&self, id: [u32; 3], most: u64) -> u32 {
        let prepared = self.launch.prepared;
        let class = prepared.class(id);
        // A group some of whose threads run by themselves is a row of its own.
        if self.threads_of_row(class) < class.threads {
            return 1;
        }
        let axis = prepared.row_axis();
        let last = prepared.groups[axis] - 1;
        let alike = std::ptr::eq(class, prepared.class(id_along_axis(id, axis, last)));
        let rest = u64::from(last - id[axis]) + u64::from(alike);
        rest.min(most).max(1) as u32
    }

    /// How many of a group's threads run as a row.
    fn threads_of_row(&self, class: &GroupClass) -> u32 {
        let all = crate::register_file::all_channels(self.launch.prepared.simd as usize);
        class.threads - u32::from(class.tail_mask != all && !self.tails)
    }

    /// Runs a row, or the first groups of it; gives how many.
    ///
    /// # Errors
    /// The fault, and how far behind the first its group is.
    fn row(&mut self, id: [u32; 3], groups: u32, stop: &Stop) -> Result<u32, (u32, Box<Trap>)> {
        let (env, prepared) = (&self.launch.env, self.launch.prepared);
        let (class, axis) = (prepared.class(id), prepared.row_axis());
        self.begin(id, class, stop).map_err(|trap| (0, trap))?;
        let (full, simd) = (self.threads_of_row(class), prepared.simd);
        if self.together && full < class.threads {
            return self.turns(class, (0, 0), stop).map_or(Ok(1), |trap| Err((0, trap)));
        }
        if full > 0 {
            // What else is shared is there from the group before then.
            let alike = prepared.classes().len() == 1;
            for state in 0..if self.together { full } else { 1 } {
                if !self.loader.load_row_start(&mut self.threads[state as usize], &self.image, alike) {
                    self.start_thread(class, state, state as usize, false);
                }
            }
            prepared.patch_thread(&mut self.image, 0, self.slot);
            let scratch = self.image.get(20..24).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            let row = Row {
                first: id,
                axis,
                groups,
                threads: full,
                image: &self.image,
                payloads: &class.payloads,
                slot: self.slot,
                limit: self.launch.limit,
                scratch: (scratch.into(), prepared.scratch_bytes().into()),
                channels: class.mask(0, simd),
                last: class.mask(full - 1, simd),
            };
            if self.together {
                let threads = &mut self.threads[..full as usize];
                let (group, hints) = (&mut self.group, &mut self.hints[..]);
                let mut alive = Alive { env, group, slm: &self.slm, threads, hints };
                return match self.run.turns(&mut alive, &row, stop) {
                    (_, Turns::Ended) => Ok(groups),
                    (nth, Turns::Fault(trap)) => Err((nth, trap)),
                    (nth, Turns::Rest { started, next }) => {
                        prepared.patch_group(&mut self.image, id_along_axis(id, axis, id[axis] + nth), class);
                        match self.turns(class, (started, next), stop) {
                            Some(trap) => Err((nth, trap)),
                            None => Ok(nth + 1),
                        }
                    }
                };
            }
            let mut m = make_machine(env, &mut self.group, &self.slm, &mut self.threads[0], &mut self.hints);
            self.run.row(&mut m, &row, stop);
            if let Some(mut trap) = m.trap {
                trap.threads = thread_states(env.program, &self.threads[..1], &trap);
                return Err((trap.group[axis].wrapping_sub(id[axis]), trap));
            }
        }
        self.run_threads_one_by_one(class, full, stop).map_or(Ok(groups), |trap| Err((0, trap)))
    }

    /// Runs the threads of a group that are alive together, one turn after the other. So many of them have started
    /// already, and the next turn is that of the second number.
    fn turns(&mut self, class: &GroupClass, (started, next): (u32, u32), stop: &Stop) -> Option<Box<Trap>> {
        let env = &self.launch.env;
        let threads = class.threads as usize;
        for index in started..class.threads {
            self.start_thread(class, index, index as usize, false);
        }
        let (mut started, mut next) = (started as usize, next as usize);
        let mut turn = self.group_number();
        loop {
            for k in next..threads {
                let place = self.launch.order.place(k as u64, threads as u64, turn);
                let t = &mut self.threads[place as usize];
                if t.status != Status::Ready {
                    continue;
                }
                t.turn = TURN;
                let mut m = make_machine(env, &mut self.group, &self.slm, t, &mut self.hints);
                m.accesses = std::mem::take(&mut self.accesses);
                self.run.run(&mut m, k >= started, stop);
                self.accesses = std::mem::take(&mut m.accesses);
                if let Some(mut trap) = m.trap {
                    trap.threads = thread_states(env.program, &self.threads[..threads], &trap);
                    return Some(trap);
                }
            }
            (started, next, turn) = (threads, 0, turn.wrapping_add(1 << 40));
            let live = &mut self.threads[..threads];
            if live.iter().all(|t| t.status == Status::Done) {
                return None;
            }
            let cancelled = stop.cancelled();
            if cancelled || !release_waiting_threads(live, &mut self.group) {
                let cause = if cancelled { Cause::Cancelled } else { Cause::Deadlock };
                let t = live.iter_mut().find(|t| t.status != Status::Done)?;
                let m = make_machine(env, &mut self.group, &self.slm, t, &mut self.hints);
                let pc = m.t.pc.saturating_sub(1);
                let mut trap = Box::new(m.trap_at(pc, None, cause));
                trap.threads = thread_states(env.program, &self.threads[..threads], &trap);
                return Some(trap);
            }
        }
    }

    /// A number that tells this group from others.
    fn group_number(&self) -> u64 {
        let [x, y, z] = self.group.id.map(u64::from);
        x ^ y << 13 ^ z << 26
    }

    /// Puts the state of thread `index` of a group of this class to its start. `shared`: the state's registers have
    /// what the threads of the group share; gives whether they have it now.
    fn start_thread(&mut self, class: &GroupClass, index: u32, state: usize, shared: bool) -> bool {
        let (env, prepared, t) = (&self.launch.env, self.launch.prepared, &mut self.threads[state]);
        let slot = self.slot + index;
        let channels = class.mask(index, prepared.simd);
        prepared.patch_thread(&mut self.image, index, slot);
        let dword = |at: usize| {
            self.image.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        };
        // As in r0.
        let set = || {
            [slot, dword(4), dword(24), dword(28), Gaps::of(env.program.platform()).number(slot), channels]
        };
        let payload = prepared.payload_of(class, index);
        let full = channels == crate::register_file::all_channels(env.program.simd() as usize);
        let few = full && self.loader.load_partial(env.program, t, (&self.image, payload), shared, set);
        t.scratch = u64::from(dword(20)) & !0x3ff;
        if !few {
            let all = set();
            prepared.patch_payload(&mut self.image, payload);
            self.loader.load(env.program, t, &self.image, channels, all);
        }
        t.index = index;
        t.slot = slot;
        t.reset(channels, self.launch.limit);
        few
    }
}

impl<R: Run> Drop for Groups<'_, R> {
    fn drop(&mut self) {
        if self.amidst {
            return;
        }
        let kept = Kept {
            launch: self.launch.prepared.number(),
            reach: self.launch.prepared.reach(),
            program: Some(self.launch.env.program.clone()),
            threads: std::mem::take(&mut self.threads),
            hints: std::mem::take(&mut self.hints),
            image: std::mem::take(&mut self.image),
            slm: Block::zeroed(0).map(|none| std::mem::replace(&mut self.slm, none)),
        };
        self.run.keep(kept);
    }
}

impl<R: Run> Worker for Groups<'_, R> {
    fn groups(&mut self, numbers: Range<u64>, stop: &Stop) -> Option<(u64, Box<Trap>)> {
        self.amidst = true;
        let fault = self.run_groups(numbers, stop);
        self.amidst = fault.is_some();
        fault
    }
}

impl<R: Run> Groups<'_, R> {
    /// Runs groups, up to the first that faults; gives its number and fault.
    fn run_groups(&mut self, numbers: Range<u64>, stop: &Stop) -> Option<(u64, Box<Trap>)> {
        let mut id = self.launch.prepared.group_id(numbers.start);
        let mut number = numbers.start;
        while self.rows && number < numbers.end {
            if stop.before(number) {
                return None;
            }
            let groups = self.row_length(id, numbers.end - number);
            let groups = match self.row(id, groups, stop) {
                Ok(groups) => groups,
                Err((nth, trap)) => return Some((number + u64::from(nth), trap)),
            };
            number += u64::from(groups);
            id[self.launch.prepared.row_axis()] += groups - 1;
            id = self.launch.prepared.group_after(id);
        }
        for number in number..numbers.end {
            if stop.before(number) {
                return None;
            }
            if self.launch.order != Order::Forward {
                let total = self.launch.prepared.group_count();
                id = self.launch.prepared.group_id(self.launch.order.place(number, total, u64::MAX));
            }
            if let Some(trap) = self.run_group(id, stop) {
                return Some((number, trap));
            }
            id = self.launch.prepared.group_after(id);
        }
        None
    }
}

/// A group's id with another number along an axis.
fn id_along_axis(mut id: [u32; 3], axis: usize, number: u32) -> [u32; 3] {
    id[axis] = number;
    id
}

fn make_machine<'a>(
    env: &'a Env<'a>,
    group: &'a mut Group,
    slm: &'a Block,
    t: &'a mut Thread,
    hints: &'a mut [Hint],
) -> Machine<'a> {
    Machine { t, group, slm, env, hints, trap: None, accesses: Accesses::default() }
}

/// Instructions (counted at backward branches) that a thread runs before others of its group have a turn.
pub const TURN: u64 = 1 << 20;

/// Lets go on who can; `false` if nobody can.
fn release_waiting_threads(threads: &mut [Thread], group: &mut Group) -> bool {
    let mut any = false;
    for t in threads.iter_mut().filter(|t| t.status == Status::Yielded) {
        t.status = Status::Ready;
        any = true;
    }
    if any {
        return true;
    }
    for t in threads.iter_mut().filter(|t| t.status == Status::Fused) {
        let partner = group.fused.get(t.index as usize ^ 1);
        if partner.is_some_and(|p| p.count > t.fused) {
            t.status = Status::Ready;
            any = true;
        }
    }
    if any {
        return true;
    }
    // The barrier: all threads of the group execute it; one that has ended never will (page BARRIER).
    if threads.iter().all(|t| t.status == Status::Barrier) {
        threads.iter_mut().for_each(|t| t.status = Status::Ready);
        return true;
    }
    // The split barrier: every thread has signalled as often as the one that waits.
    let signals = threads.iter().map(|t| t.signals).min().unwrap_or(0);
    for t in threads.iter_mut() {
        if t.status == Status::SplitWait && signals >= t.waits {
            t.status = Status::Ready;
            any = true;
        }
    }
    for id in 0..group.named.len() {
        let (count, expected) = group.named[id];
        if expected != 0 && count >= expected {
            let mut released = false;
            for t in threads.iter_mut().filter(|t| t.status == Status::Named(id as u8)) {
                t.status = Status::Ready;
                released = true;
            }
            if released {
                group.named[id].0 = count - expected;
                any = true;
            }
        }
    }
    any
}

fn thread_states(p: &Program, threads: &[Thread], trap: &Trap) -> Vec<ThreadState> {
    threads
        .iter()
        .map(|t| {
            // Who waits has gone past the instruction that it waits at; of who ended, engines keep nothing.
            let pc = match t.status {
                Status::Ready | Status::Yielded | Status::Fused | Status::Trapped => t.pc,
                Status::Done => 0,
                _ => t.pc.saturating_sub(1),
            };
            let inst = p.code().get(pc as usize);
            let (mut instruction, mut span) =
                inst.map_or((0, envisa_isa::Span::NONE), |i| (i.source, i.span));
            // Which of two instructions it was that one was made of, the fault knows.
            if t.status == Status::Trapped && t.index == trap.thread {
                (instruction, span) = (trap.instruction, trap.span);
            }
            ThreadState {
                thread: t.index,
                status: t.status,
                function: inst
                    .and_then(|i| p.functions().get(i.function as usize))
                    .map_or(String::new(), |f| f.name.clone()),
                instruction,
                span,
                mask: if t.status == Status::Done { 0 } else { t.mask },
            }
        })
        .collect()
}
