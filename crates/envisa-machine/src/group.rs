//! Threads of a group: how they start, take turns, and wait for each other. For engines that run one thread after
//! the other.

use std::ops::Range;

use envisa_isa::Platform;
use envisa_isa::limits::NAMED_BARRIERS;
use envisa_lower::{Op, Program};

use crate::dispatch::GroupClass;
use crate::engine::{LaunchView, Stop, Worker};
use crate::loader::Loader;
use crate::memory::{Block, Hint};
use crate::thread::{Env, Group, Machine, Status, Thread};
use crate::trap::{Cause, ThreadState, Trap};

/// Runs one thread.
pub trait Run {
    /// Runs a thread from `m.t.pc` on until it ends, waits, has had its turn or faults. `fresh`: it starts. Where
    /// threads are not alive together, it may go on instead when the turn is over, if it asks `stop` each time.
    fn run(&mut self, m: &mut Machine<'_>, fresh: bool, stop: &Stop);
}

/// A worker that runs a group's threads one after the other.
pub struct Groups<'a, R> {
    launch: &'a LaunchView<'a>,
    loader: Loader,
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
    run: R,
}

impl<'a, R: Run> Groups<'a, R> {
    /// The worker of this number, whose threads `run` runs.
    ///
    /// # Errors
    /// If the host has no memory for a group.
    pub fn new(launch: &'a LaunchView<'a>, number: u32, run: R) -> Result<Self, Box<Trap>> {
        let (prepared, program) = (launch.prepared, launch.env.program);
        let most = prepared.most_threads();
        let Some(slm) = Block::zeroed(prepared.slm_bytes as usize) else {
            let cause = Cause::NoMemory { bytes: prepared.slm_bytes };
            return Err(Box::new(Trap::of_launch(&program.name, cause)));
        };
        let together = together(program);
        let live = if together { most } else { 1 };
        let thread = |_| {
            let mut t = Thread::new(program);
            let constants = &program.registers.constants;
            t.regs.slice_mut(0, constants.len() as u32).copy_from_slice(constants);
            t
        };
        Ok(Groups {
            launch,
            loader: Loader::new(program, prepared),
            image: prepared.image.clone(),
            threads: (0..live).map(thread).collect(),
            hints: vec![Hint::default(); program.messages.len().max(1)],
            slm,
            slot: number * most,
            together,
            group: Group { id: [0; 3], named: [(0, 0); NAMED_BARRIERS as usize], fused: Vec::new() },
            named: program.code.iter().any(|i| i.op == Op::NamedBarrier),
            run,
        })
    }

    /// For engines that zero variables themselves which threads with all channels read before they write them;
    /// `reads`: the registers that such threads read before they write them, `(first byte, bytes)`.
    pub fn trim(&mut self, reads: &[(u32, u32)]) {
        self.loader.trim(self.launch.env.program, self.launch.prepared, reads);
    }

    /// Runs a group; gives its fault.
    fn group(&mut self, id: [u32; 3], stop: &Stop) -> Option<Box<Trap>> {
        let (prepared, env) = (self.launch.prepared, &self.launch.env);
        let class = prepared.class(id);
        if stop.cancelled() {
            let trap = Trap::of_launch(&env.program.name, Cause::Cancelled);
            return Some(Box::new(Trap { group: id, ..trap }));
        }
        prepared.patch_group(&mut self.image, id, class);
        if !self.slm.is_empty() {
            self.slm.clear(0, self.slm.len());
        }
        self.group.id = id;
        self.group.fused.clear();
        if self.named {
            self.group.named.fill((0, 0));
        }
        if !self.together {
            let mut shared = false;
            for index in 0..class.threads {
                shared = self.start(class, index, 0, shared);
                let mut fresh = true;
                loop {
                    let t = &mut self.threads[0];
                    t.turn = TURN;
                    let mut m = machine(env, &mut self.group, &self.slm, t, &mut self.hints);
                    self.run.run(&mut m, fresh, stop);
                    if m.trap.is_none() && m.t.status == Status::Yielded && stop.cancelled() {
                        m.fault(m.t.pc, None, Cause::Cancelled);
                    }
                    if let Some(mut trap) = m.trap {
                        trap.threads = thread_states(env.program, &self.threads[..1]);
                        return Some(trap);
                    }
                    // It is alone: the next turn is its own, too.
                    if m.t.status != Status::Yielded {
                        break;
                    }
                    fresh = false;
                }
            }
            return None;
        }
        let threads = class.threads as usize;
        for index in 0..class.threads {
            self.start(class, index, index as usize, false);
        }
        let mut fresh = true;
        loop {
            for t in &mut self.threads[..threads] {
                if t.status != Status::Ready {
                    continue;
                }
                t.turn = TURN;
                let mut m = machine(env, &mut self.group, &self.slm, t, &mut self.hints);
                self.run.run(&mut m, fresh, stop);
                if let Some(mut trap) = m.trap {
                    trap.threads = thread_states(env.program, &self.threads[..threads]);
                    return Some(trap);
                }
            }
            fresh = false;
            let live = &mut self.threads[..threads];
            if live.iter().all(|t| t.status == Status::Done) {
                return None;
            }
            let cancelled = stop.cancelled();
            if cancelled || !release(live, &mut self.group) {
                let cause = if cancelled { Cause::Cancelled } else { Cause::Deadlock };
                let t = live.iter_mut().find(|t| t.status != Status::Done)?;
                let m = machine(env, &mut self.group, &self.slm, t, &mut self.hints);
                let pc = m.t.pc.saturating_sub(1);
                let mut trap = Box::new(m.trap_at(pc, None, cause));
                trap.threads = thread_states(env.program, &self.threads[..threads]);
                return Some(trap);
            }
        }
    }

    /// Puts the state of thread `index` of a group of this class to its start. `shared`: the state's registers have
    /// what the threads of the group share; gives whether they have it now.
    fn start(&mut self, class: &GroupClass, index: u32, state: usize, shared: bool) -> bool {
        let (env, prepared, t) = (&self.launch.env, self.launch.prepared, &mut self.threads[state]);
        let slot = self.slot + index;
        let channels = class.mask(index, prepared.simd);
        prepared.patch_thread(&mut self.image, index, slot);
        let dword = |at: usize| {
            self.image.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        };
        // As in r0.
        let set =
            || [slot, dword(4), dword(24), dword(28), state_register(env.program.platform, slot), channels];
        let payload = prepared.payload_of(class, index);
        let full = channels == crate::regs::all_channels(env.program.simd as usize);
        let few = full && self.loader.load_few(env.program, t, (&self.image, payload), shared, set);
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

impl<R: Run> Worker for Groups<'_, R> {
    fn groups(&mut self, numbers: Range<u64>, stop: &Stop) -> Option<(u64, Box<Trap>)> {
        let mut id = self.launch.prepared.group_id(numbers.start);
        for number in numbers {
            if stop.before(number) {
                return None;
            }
            if let Some(trap) = self.group(id, stop) {
                return Some((number, trap));
            }
            id = self.launch.prepared.group_after(id);
        }
        None
    }
}

fn machine<'a>(
    env: &'a Env<'a>,
    group: &'a mut Group,
    slm: &'a Block,
    t: &'a mut Thread,
    hints: &'a mut [Hint],
) -> Machine<'a> {
    Machine { t, group, slm, env, hints, trap: None, accesses: Vec::new() }
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

/// Instructions (counted at backward branches) that a thread runs before others of its group have a turn.
pub const TURN: u64 = 1 << 20;

/// Are the threads of a group alive at once, and take turns?
pub fn together(p: &Program) -> bool {
    p.has_barrier || spins(p)
}

/// Could a thread wait for another one of its group without a barrier: is there an atomic in a loop?
fn spins(p: &Program) -> bool {
    p.code.iter().any(|i| {
        i.op == Op::Message
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

fn thread_states(p: &Program, threads: &[Thread]) -> Vec<ThreadState> {
    threads
        .iter()
        .map(|t| {
            // Who waits has gone past the instruction that it waits at.
            let pc = match t.status {
                Status::Ready | Status::Yielded | Status::Fused | Status::Trapped => t.pc,
                _ => t.pc.saturating_sub(1),
            };
            let inst = p.code.get(pc as usize);
            ThreadState {
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
