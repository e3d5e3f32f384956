//! Runs a launch: thread groups over host threads, threads of a group in turn between barriers.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use envisa_isa::Platform;
use envisa_isa::predefined::var;
use envisa_lower::{InputClass, Program};

use crate::dispatch::{GroupClass, Prepared};
use crate::exec::{self, Code, Level};
use crate::link::Linked;
use crate::memory::{Block, Hint, Memory};
use crate::observer::Observer;
use crate::regs::all_channels;
use crate::thread::{Env, Group, Machine, Mask, Status, Thread};
use crate::trap::{Cause, Stand, Trap};

/// A program decoded for this machine's CPU: as it was written, for observers, and improved.
pub struct Executable {
    program: Program,
    /// Decoded when an observer comes.
    code: OnceLock<Code>,
    fast: Program,
    fast_code: Code,
}

impl Executable {
    /// Decodes a program.
    ///
    /// # Errors
    /// A program that does not keep lowering's promises.
    pub fn new(program: Program) -> Result<Executable, String> {
        exec::check(&program)?;
        let fast = envisa_lower::optimize(&program);
        exec::check(&fast)?;
        let fast_code = Code::new(&fast, Level::detect(), false);
        Ok(Executable { program, code: OnceLock::new(), fast, fast_code })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What runs, observed or not.
    fn code(&self, observed: bool) -> (&Program, &Code) {
        if observed {
            (&self.program, self.code.get_or_init(|| Code::new(&self.program, Level::detect(), true)))
        } else {
            (&self.fast, &self.fast_code)
        }
    }
}

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Host threads; 0: as many as the host has.
    pub jobs: usize,
    /// Instructions a thread may execute (counted at branches) before it is stopped.
    pub limit: u64,
    /// Where workers say how far they are, for whoever shows it.
    pub progress: Option<&'static Progress>,
}

/// How far a run is, in groups; read while it runs.
#[derive(Debug, Default)]
pub struct Progress {
    /// Groups of the launch.
    pub total: AtomicU64,
    /// Groups that workers took on.
    pub begun: AtomicU64,
}

impl Progress {
    /// Of no run yet.
    pub const fn new() -> Progress {
        Progress { total: AtomicU64::new(0), begun: AtomicU64::new(0) }
    }
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions { jobs: 0, limit: u64::MAX, progress: None }
    }
}

impl RunOptions {
    /// Host threads that will be used for a number of groups.
    pub fn workers(&self, groups: u64) -> usize {
        let jobs = match self.jobs {
            0 => hardware_threads(),
            n => n,
        };
        jobs.min(usize::try_from(groups).unwrap_or(usize::MAX)).max(1)
    }

    /// Hardware slots that a launch of groups of at most this many threads needs.
    pub fn slots(&self, groups: u64, threads: u32) -> u32 {
        (self.workers(groups) as u32).saturating_mul(threads.max(1))
    }
}

/// The host's hardware threads. (The system is asked once: it opens files to answer.)
fn hardware_threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// The fault that ended it, if one did: that of the lowest group.
    pub trap: Option<Box<Trap>>,
    /// Groups that ran.
    pub groups: u64,
    /// Time, from the first group's start to the last one's end.
    pub elapsed: Duration,
}

/// The observer of runs without one.
struct Nobody;

impl Observer for Nobody {
    fn fork(&self) -> Self {
        Nobody
    }
    fn merge(&mut self, _: Self) {}
    fn before(&mut self, _: &Machine<'_>, _: u32, _: u32) {}
    fn after(&mut self, _: &Machine<'_>, _: u32, _: u32, _: u32) {}
}

/// Runs a prepared launch.
pub fn run(
    exe: &Executable,
    prepared: &Prepared,
    memory: &Memory,
    linked: &Linked,
    options: &RunOptions,
) -> Outcome {
    run_with::<Nobody, false>(exe, prepared, memory, linked, options, &mut Nobody)
}

/// Runs a prepared launch, observed.
pub fn run_observed<O: Observer>(
    exe: &Executable,
    prepared: &Prepared,
    memory: &Memory,
    linked: &Linked,
    options: &RunOptions,
    observer: &mut O,
) -> Outcome {
    run_with::<O, true>(exe, prepared, memory, linked, options, observer)
}

fn run_with<O: Observer, const OBSERVED: bool>(
    exe: &Executable,
    prepared: &Prepared,
    memory: &Memory,
    linked: &Linked,
    options: &RunOptions,
    observer: &mut O,
) -> Outcome {
    let total = prepared.group_count();
    let (program, code) = exe.code(OBSERVED);
    let env = Env {
        program,
        code,
        memory,
        surfaces: &prepared.surfaces,
        state: &prepared.window,
        scratch_bytes: prepared.scratch_bytes() as u64,
        symbols: &linked.symbols,
        function_addresses: &linked.functions,
        groups: prepared.groups,
        own_from: prepared.own.iter().map(|id| memory.get(*id).base).min().unwrap_or(u64::MAX),
        observed: OBSERVED,
    };
    let shared = Shared {
        next: AtomicU64::new(0),
        stop: AtomicU64::new(u64::MAX),
        trap: Mutex::new(None),
        total,
        // Few claims where groups are many, fine ones where they are few.
        step: (total / (options.workers(total) as u64 * 16)).clamp(1, 64),
    };
    if let Some(progress) = options.progress {
        progress.begun.store(0, Ordering::Relaxed);
        progress.total.store(total, Ordering::Relaxed);
    }
    let start = Instant::now();
    let workers = options.workers(total);
    if workers == 1 {
        worker::<O, OBSERVED>(&env, prepared, &shared, options, 0, observer);
    } else {
        let mut forks: Vec<O> = (1..workers).map(|_| observer.fork()).collect();
        beside(
            forks.iter_mut().enumerate().map(|(i, o)| {
                let (env, shared) = (&env, &shared);
                move || worker::<O, OBSERVED>(env, prepared, shared, options, i as u32 + 1, o)
            }),
            || worker::<O, OBSERVED>(&env, prepared, &shared, options, 0, observer),
        );
        forks.into_iter().for_each(|o| observer.merge(o));
    }
    let trap = shared.trap.into_inner().unwrap_or_else(|e| e.into_inner()).map(|(_, t)| t);
    Outcome { trap, groups: shared.next.into_inner().min(total), elapsed: start.elapsed() }
}

/// Runs `here` on this host thread, and all others on threads of their own. A panic in one of them, a mistake of
/// ours, goes on here: it is not to be taken for a result.
fn beside<F: FnOnce() + Send>(others: impl ExactSizeIterator<Item = F>, here: impl FnOnce()) {
    /// Threads that wait for the next launch: as many as the host has beside the caller's.
    static POOL: OnceLock<Option<rayon::ThreadPool>> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        rayon::ThreadPoolBuilder::new().num_threads((hardware_threads() - 1).max(1)).build().ok()
    });
    match pool {
        Some(pool) if others.len() <= pool.current_num_threads() => pool.in_place_scope(|s| {
            others.for_each(|f| s.spawn(|_| f()));
            here();
        }),
        _ => std::thread::scope(|s| {
            others.for_each(|f| drop(s.spawn(f)));
            here();
        }),
    }
}

/// What workers share.
struct Shared {
    next: AtomicU64,
    /// Groups from this one on need not run: a lower one faulted.
    stop: AtomicU64,
    trap: Mutex<Option<(u64, Box<Trap>)>>,
    total: u64,
    step: u64,
}

/// What a thread's registers start with, worked out once.
struct Loader {
    /// `(register, image, bytes)`: the inputs.
    copies: Vec<(u32, u32, u32)>,
    /// Those that differ from thread to thread, or that the program overwrites.
    again: Vec<(u32, u32, u32)>,
    /// Everything that is not a constant.
    all: Range<u32>,
    /// What the program writes of that, and may read before it does.
    fresh: Vec<Range<u32>>,
    /// What the program writes of that, and never reads before it does.
    stale: Vec<Range<u32>>,
    /// All channels.
    full: Mask,
}

impl Loader {
    fn new(p: &Program, prepared: &Prepared) -> Loader {
        let r0 = p.registers.predefined[var::R0 as usize];
        let image = prepared.image.len() as u32;
        let mut copies = vec![(r0, 0, 64.min(image))];
        let mut add = |to: u32, from: u32, bytes: u32| {
            let bytes = bytes.min(image.saturating_sub(from));
            if bytes == 0 {
                return;
            }
            // Neighbours in both become one copy.
            if let Some(last) = copies.last_mut()
                && copies_meet(*last, (to, from))
            {
                last.2 += bytes;
                return;
            }
            copies.push((to, from, bytes));
        };
        for i in &p.inputs {
            if i.class == InputClass::General {
                add(i.offset, i.image, i.bytes);
            } else {
                add(i.offset, i.image, 4);
            }
        }
        let written = written(p);
        let meet = |a: &Range<u32>, b: &Range<u32>| a.start < b.end && b.start < a.end;
        let varying: Vec<Range<u32>> = prepared.varying().collect();
        let again = copies
            .iter()
            .filter(|(to, from, bytes)| {
                let (to, from) = (*to..to + bytes, *from..from + bytes);
                varying.iter().any(|v| meet(v, &from)) || written.iter().any(|w| meet(w, &to))
            })
            .copied()
            .collect();
        let mut fresh: Vec<Range<u32>> = Vec::new();
        let mut stale = Vec::new();
        for w in &written {
            let mut at = w.start;
            for f in p.registers.fresh.iter().filter(|f| meet(w, f)) {
                let both = w.start.max(f.start)..w.end.min(f.end);
                stale.push(at..both.start);
                at = both.end;
                fresh.push(both);
            }
            stale.push(at..w.end);
        }
        stale.retain(|s| !s.is_empty());
        Loader {
            copies,
            again,
            all: p.registers.constants.len() as u32..p.registers.bytes,
            fresh,
            stale,
            full: all_channels(p.simd as usize),
        }
    }

    /// Makes a register file ready for a thread that starts with these channels.
    fn load(&self, t: &mut Thread, image: &[u8], channels: Mask) {
        let whole = !t.loaded || channels != self.full;
        // After a thread that lacks channels everything is as at the very start.
        t.loaded = true;
        if whole {
            t.regs.slice_mut(self.all.start, self.all.end - self.all.start).fill(0);
        } else {
            if cfg!(debug_assertions) {
                // Tests see to it that what is not cleared is not read.
                for r in &self.stale {
                    t.regs.slice_mut(r.start, r.end - r.start).fill(0xa5);
                }
            }
            for r in &self.fresh {
                t.regs.slice_mut(r.start, r.end - r.start).fill(0);
            }
        }
        for (to, from, bytes) in if whole { &self.copies } else { &self.again } {
            let from = &image[*from as usize..(*from + *bytes) as usize];
            let to = t.regs.slice_mut(*to, *bytes);
            if to.len() == from.len() {
                copy(to, from);
            }
        }
    }
}

/// Copies few bytes: whole registers without a call, and with stores as large as the loads that follow.
#[inline]
fn copy(to: &mut [u8], from: &[u8]) {
    let (to, to_rest) = to.as_chunks_mut::<64>();
    let (from, from_rest) = from.as_chunks::<64>();
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
    let (to, to_rest) = to_rest.as_chunks_mut::<32>();
    let (from, from_rest) = from_rest.as_chunks::<32>();
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
    if !from_rest.is_empty() {
        to_rest.copy_from_slice(from_rest);
    }
}

/// Chunks of the register file that the program writes, as ranges of bytes in ascending order.
fn written(p: &Program) -> Vec<Range<u32>> {
    let r = &p.registers;
    let mut chunks = vec![false; r.bytes.div_ceil(64) as usize];
    let mut mark = |range: Range<u32>| {
        for c in range.start / 64..range.end.div_ceil(64) {
            if let Some(c) = chunks.get_mut(c as usize) {
                *c = true;
            }
        }
    };
    let anywhere = r.address_base..r.address_base + 64 * r.address_homes.len() as u32;
    for i in &p.code {
        i.writes(p, &mut |t| mark(t.range(i.channels as u32).unwrap_or(anywhere.clone())));
    }
    // Of a call that saves them, a function's own variables are written on return.
    p.functions.iter().flat_map(|f| &f.locals).for_each(|l| mark(l.clone()));
    // Written by a thread's start.
    for id in [var::R0, var::HW_ID, var::SR0, var::GROUP_ID_X, var::GROUP_ID_Y, var::GROUP_ID_Z] {
        mark(r.predefined[id as usize]..r.predefined[id as usize] + 4);
    }
    let mut out: Vec<Range<u32>> = Vec::new();
    for c in (0..chunks.len()).filter(|c| chunks[*c]) {
        let at = c as u32 * 64;
        match out.last_mut() {
            Some(last) if last.end == at => last.end += 64,
            _ => out.push(at..at + 64),
        }
    }
    out
}

fn copies_meet(last: (u32, u32, u32), next: (u32, u32)) -> bool {
    last.0 + last.2 == next.0 && last.1 + last.2 == next.1 && last.1 != 0
}

/// `%sr0` of a hardware slot: the kernel takes bits out again to get the slot.
fn state_register(platform: Platform, slot: u32) -> u32 {
    let insert = |x: u32, at: u32, n: u32| (x & ((1 << at) - 1)) | (x >> at) << (at + n);
    let x = insert(slot, 3, 1);
    match platform {
        Platform::Pvc | Platform::Pvcxt | Platform::Xe2 | Platform::Xe3 => insert(x, 6, 2),
        _ => insert(x, 6, 1),
    }
}

struct Worker<'a, O> {
    env: &'a Env<'a>,
    prepared: &'a Prepared,
    loader: Loader,
    image: Vec<u8>,
    threads: Vec<Thread>,
    hints: Vec<Hint>,
    slm: Block,
    options: &'a RunOptions,
    /// First hardware slot of this worker.
    slot: u32,
    /// A group's threads are alive at once, and take turns.
    together: bool,
    observer: &'a mut O,
}

fn worker<O: Observer, const OBSERVED: bool>(
    env: &Env<'_>,
    prepared: &Prepared,
    shared: &Shared,
    options: &RunOptions,
    index: u32,
    observer: &mut O,
) {
    let most = prepared.most_threads();
    let image = prepared.image.clone();
    let Some(slm) = Block::zeroed(prepared.slm_bytes as usize) else {
        shared.stop.store(0, Ordering::Relaxed);
        let cause = Cause::NoMemory { bytes: prepared.slm_bytes };
        let mut known = shared.trap.lock().unwrap_or_else(|e| e.into_inner());
        *known = Some((0, Box::new(Trap::of_launch(&env.program.name, cause))));
        return;
    };
    let mut w = Worker {
        env,
        prepared,
        loader: Loader::new(env.program, prepared),
        image,
        threads: Vec::new(),
        hints: vec![Hint::default(); env.program.messages.len().max(1)],
        slm,
        options,
        slot: index * most,
        together: env.program.has_barrier || spins(env.program),
        observer,
    };
    let live = if w.together { most } else { 1 };
    for _ in 0..live {
        let mut t = Thread::new(env.program);
        let constants = &env.program.registers.constants;
        t.regs.slice_mut(0, constants.len() as u32).copy_from_slice(constants);
        w.threads.push(t);
    }
    loop {
        let first = shared.next.fetch_add(shared.step, Ordering::Relaxed);
        if first >= shared.total {
            return;
        }
        if let Some(progress) = options.progress {
            progress.begun.fetch_add(shared.step.min(shared.total - first), Ordering::Relaxed);
        }
        for number in first..(first + shared.step).min(shared.total) {
            if number >= shared.stop.load(Ordering::Relaxed) {
                return;
            }
            if let Some(trap) = w.group::<OBSERVED>(number) {
                shared.stop.fetch_min(number, Ordering::Relaxed);
                let mut known = shared.trap.lock().unwrap_or_else(|e| e.into_inner());
                if known.as_ref().is_none_or(|(n, _)| number < *n) {
                    *known = Some((number, trap));
                }
                return;
            }
        }
    }
}

impl<O: Observer> Worker<'_, O> {
    fn group<const OBSERVED: bool>(&mut self, number: u64) -> Option<Box<Trap>> {
        let id = self.prepared.group_id(number);
        let class = self.prepared.class(id);
        self.prepared.patch_group(&mut self.image, id, class);
        let slm_bytes = self.slm.len();
        self.slm.clear(0, slm_bytes);
        let mut group = Group { id, named: [(0, 0); 32], fused: Vec::new() };
        if !self.together {
            for index in 0..class.threads {
                start(
                    self.env,
                    self.prepared,
                    &self.loader,
                    &mut self.image,
                    class,
                    &mut self.threads[0],
                    (index, self.slot + index, self.options.limit),
                );
                let trap = step::<O, OBSERVED>(
                    self.env,
                    &mut group,
                    &self.slm,
                    &mut self.threads[0],
                    &mut self.hints,
                    self.observer,
                    true,
                );
                if let Some(mut trap) = trap {
                    trap.threads = stands(self.env.program, &self.threads[..1]);
                    return Some(trap);
                }
            }
            return None;
        }
        let threads = class.threads as usize;
        for index in 0..class.threads {
            start(
                self.env,
                self.prepared,
                &self.loader,
                &mut self.image,
                class,
                &mut self.threads[index as usize],
                (index, self.slot + index, self.options.limit),
            );
        }
        let mut fresh = true;
        loop {
            for t in &mut self.threads[..threads] {
                if t.status != Status::Ready {
                    continue;
                }
                t.turn = TURN;
                let trap = step::<O, OBSERVED>(
                    self.env,
                    &mut group,
                    &self.slm,
                    t,
                    &mut self.hints,
                    self.observer,
                    fresh,
                );
                if let Some(mut trap) = trap {
                    trap.threads = stands(self.env.program, &self.threads[..threads]);
                    return Some(trap);
                }
            }
            fresh = false;
            let live = &mut self.threads[..threads];
            if live.iter().all(|t| t.status == Status::Done) {
                return None;
            }
            if !release(live, &mut group) {
                let t = self.threads[..threads].iter_mut().find(|t| t.status != Status::Done)?;
                let m = Machine {
                    t,
                    group: &mut group,
                    slm: &self.slm,
                    env: self.env,
                    hints: &mut self.hints,
                    trap: None,
                    accesses: Vec::new(),
                };
                let pc = m.t.pc.saturating_sub(1);
                let mut trap = Box::new(Trap::new(&m, pc, None, Cause::Deadlock));
                trap.threads = stands(self.env.program, &self.threads[..threads]);
                return Some(trap);
            }
        }
    }
}

/// Instructions (counted at backward branches) that a thread runs before others of its group have a turn.
const TURN: u64 = 1 << 20;

/// Could a thread wait for another one of its group without a barrier: is there an atomic in a loop?
fn spins(p: &Program) -> bool {
    p.code.iter().any(|i| {
        i.op == envisa_lower::Op::Message
            && i.depth > 0
            && matches!(p.messages.get(i.aux as usize), Some(envisa_lower::Message::Atomic(_)))
    })
}

/// Lets go on who can; `false` if nobody can.
fn release(threads: &mut [Thread], group: &mut Group) -> bool {
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

fn stands(p: &Program, threads: &[Thread]) -> Vec<Stand> {
    threads
        .iter()
        .map(|t| {
            // Who waits has gone past the instruction that it waits at.
            let pc = match t.status {
                Status::Ready | Status::Yielded | Status::Fused | Status::Trapped => t.pc,
                _ => t.pc.saturating_sub(1),
            };
            let inst = p.code.get(pc as usize);
            Stand {
                thread: t.index,
                status: t.status,
                function: inst
                    .and_then(|i| p.functions.get(i.function as usize))
                    .map_or(String::new(), |f| f.name.clone()),
                instruction: inst.map_or(0, |i| i.source),
                span: inst.map_or(envisa_isa::Span::NONE, |i| i.span),
                mask: t.mask,
            }
        })
        .collect()
}

/// Puts a thread at its start.
fn start(
    env: &Env<'_>,
    prepared: &Prepared,
    loader: &Loader,
    image: &mut [u8],
    class: &GroupClass,
    t: &mut Thread,
    (index, slot, limit): (u32, u32, u64),
) {
    prepared.patch_thread(image, class, index, slot);
    let channels = class.mask(index, prepared.simd);
    loader.load(t, image, channels);
    let homes = &env.program.registers.predefined;
    t.regs.set(homes[var::HW_ID as usize], slot);
    // As in r0.
    for (id, at) in [(var::GROUP_ID_X, 4), (var::GROUP_ID_Y, 24), (var::GROUP_ID_Z, 28)] {
        let dword = image.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        t.regs.set(homes[id as usize], dword);
    }
    t.regs.set(homes[var::SR0 as usize], state_register(env.program.platform, slot));
    t.regs.set(homes[var::SR0 as usize] + 8, channels);
    t.index = index;
    t.slot = slot;
    t.scratch = image.get(20..24).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])) as u64 & !0x3ff;
    t.reset(channels, limit);
}

/// Runs a thread until it ends, waits or faults.
#[inline(always)]
fn step<O: Observer, const OBSERVED: bool>(
    env: &Env<'_>,
    group: &mut Group,
    slm: &Block,
    t: &mut Thread,
    hints: &mut [Hint],
    observer: &mut O,
    fresh: bool,
) -> Option<Box<Trap>> {
    let mut m = Machine { t, group, slm, env, hints, trap: None, accesses: Vec::new() };
    if OBSERVED {
        if fresh {
            observer.start(&m);
        }
        exec::run_observed(&mut m, observer);
    } else {
        exec::run(&mut m);
    }
    m.trap
}
