//! A launch that runs instruction by instruction on one host thread, and can go back: for debuggers.
//!
//! Groups run one after the other, the threads of a group take turns as an engine lets them; all threads of the group
//! are alive at once, so that all of them can be looked at. What each instruction changes is kept in a [`Log`].

use std::sync::Arc;

use envisa_lower::{Op, Touched};

use super::log::{Entry, GroupState, Journal, Log, Place, StateKind, Turns};
use super::{Groups, TURN, Thread, make_machine, release_waiting_threads, thread_states};
use crate::dispatch::GroupClass;
use crate::engine::{Instructions, LaunchView, Stop, flag};
use crate::group::{Kept, Loader, Run};
use crate::messages::Drops;
use crate::thread::{Group, Machine, STOP, Status};
use crate::trap::{Cause, Trap};

/// In which order groups run, and threads of a group take turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// As engines with one host thread do: ascending, each as far as it gets.
    #[default]
    Forward,
    /// Descending.
    Reverse,
    /// By chance, with this seed; threads are interrupted by chance as well.
    Random(u64),
}

/// The instructions that a turn has at most where threads are interrupted by chance.
const RANDOM_TURN: u64 = 64;

/// Nobody: the threads of paused groups are run from outside.
struct Nobody;

impl Run for Nobody {
    fn run(&mut self, _: &mut Machine<'_>, _: bool, _: &Stop) {}
}

/// See the module.
pub struct Paused<'a> {
    groups: Groups<'a, Nobody>,
    code: Arc<dyn Instructions>,
    order: Order,
    /// What engines know of a group's threads: they wait for each other.
    together: bool,
    /// How many groups have begun before this one, and the clock at its start.
    nth: u64,
    began: u64,
    /// Threads of the group.
    live: usize,
    turns: Turns,
    clock: u64,
    log: Log,
    /// By program counter: what a step keeps of the registers, and what else it does.
    kinds: Vec<Option<Kind>>,
    /// Where a thread's last instruction was, of runs that are not logged.
    last: Option<(usize, u32)>,
    trap: Option<Box<Trap>>,
    ended: bool,
}

/// What an instruction can change.
struct Kind {
    registers: Vec<(u32, u32)>,
    what: StateKind,
}

/// Does an instruction change more of a thread than registers, memory and the program counter?
fn is_control(op: Op) -> bool {
    matches!(
        op,
        Op::ChannelEnables
            | Op::Join
            | Op::Goto
            | Op::Call
            | Op::Ret
            | Op::Fcall
            | Op::Ifcall
            | Op::Fret
            | Op::SwitchJmp
            | Op::Barrier
            | Op::SplitBarrier
            | Op::NamedBarrier
            | Op::Dpasw
            | Op::Unsupported
            | Op::End
    )
}

impl<'a> Paused<'a> {
    /// A launch before its first instruction; the log takes so many bytes.
    ///
    /// # Errors
    /// If the host has no memory for a group.
    pub fn new(
        launch: &'a LaunchView<'a>,
        code: Arc<dyn Instructions>,
        order: Order,
        history: u64,
    ) -> Result<Self, Box<Trap>> {
        let loader = Loader::new(launch.env.program, launch.prepared);
        let mut groups = Groups::with(launch, 0, Nobody, Arc::new(loader), Kept::default())?;
        groups.amidst = true;
        let constants = &launch.env.program.registers().constants;
        groups.threads.resize_with(launch.prepared.most_threads() as usize, || {
            let mut t = Thread::new(launch.env.program);
            t.regs.slice_mut(0, constants.len() as u32).copy_from_slice(constants);
            t
        });
        let together = groups.together;
        let mut kinds = Vec::new();
        kinds.resize_with(launch.env.program.code().len(), || None);
        let mut paused = Paused {
            groups,
            code,
            order,
            together,
            nth: 0,
            began: 0,
            live: 0,
            turns: Turns::default(),
            clock: 0,
            log: Log::new(history),
            kinds,
            last: None,
            trap: None,
            ended: launch.prepared.group_count() == 0,
        };
        paused.begin();
        Ok(paused)
    }

    /// Instructions executed since the launch began.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// Have all groups ended?
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The fault that stopped it.
    pub fn trap(&self) -> Option<&Trap> {
        self.trap.as_deref()
    }

    /// The thread whose turn it is.
    pub fn current(&self) -> usize {
        self.turns.cycle.get(self.turns.at).map_or(0, |k| usize::from(*k))
    }

    /// The threads of the group.
    pub fn threads(&self) -> &[Thread] {
        &self.groups.threads[..self.live]
    }

    /// What they share.
    pub fn group(&self) -> &Group {
        &self.groups.group
    }

    /// The launch.
    pub fn launch(&self) -> &'a LaunchView<'a> {
        self.groups.launch
    }

    /// The group's size and threads.
    pub fn class(&self) -> &'a GroupClass {
        self.groups.launch.prepared.class(self.groups.group.id)
    }

    /// What has been kept of the past.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// A thread with all it can reach.
    pub fn machine(&mut self, k: usize) -> Machine<'_> {
        let g = &mut self.groups;
        make_machine(&g.launch.env, &mut g.group, &g.slm, &mut g.threads[k], &mut g.hints)
    }

    /// The instruction that a thread executed last, where that is known.
    pub fn before(&self, k: usize) -> Option<u32> {
        if let Some((_, pc)) = self.last.filter(|(thread, _)| *thread == k) {
            return Some(pc);
        }
        self.log.last_of(k)
    }

    /// The number of the n-th group.
    fn number(&self, nth: u64) -> u64 {
        let count = self.groups.launch.prepared.group_count();
        match self.order {
            Order::Forward => nth,
            Order::Reverse => count - 1 - nth,
            Order::Random(seed) => permute_index(nth, count, seed),
        }
    }

    /// Starts the n-th group.
    fn begin(&mut self) {
        if self.ended {
            return;
        }
        let launch = self.groups.launch;
        let id = launch.prepared.group_id(self.number(self.nth));
        let class = launch.prepared.class(id);
        // Nobody cancels it: that is all that can go wrong.
        let _ = self.groups.begin(id, class, &Stop::new(None));
        self.groups.group.named.fill((0, 0));
        self.live = class.threads as usize;
        for index in 0..class.threads {
            self.groups.start_thread(class, index, index as usize, false);
        }
        self.began = self.clock;
        self.start_round();
    }

    /// A new round of turns.
    fn start_round(&mut self) {
        let n = self.live as u16;
        self.turns.cycle = match self.order {
            Order::Forward => (0..n).collect(),
            Order::Reverse => (0..n).rev().collect(),
            Order::Random(seed) => {
                let seed = hash_bits(seed ^ self.clock);
                (0..u64::from(n)).map(|i| permute_index(i, u64::from(n), seed) as u16).collect()
            }
        };
        self.turns.at = 0;
        self.choose_next_thread();
    }

    /// The turn of the next thread that can go on, from the current place of the round; `false` if there is none.
    fn choose_next_thread(&mut self) -> bool {
        let threads = &mut self.groups.threads;
        let ready = |k: &u16| threads[usize::from(*k)].status == Status::Ready;
        let Some(next) = self.turns.cycle[self.turns.at..].iter().position(ready) else { return false };
        self.turns.at += next;
        threads[usize::from(self.turns.cycle[self.turns.at])].turn = TURN;
        self.turns.until = match self.order {
            Order::Random(seed) => self.clock + 1 + hash_bits(seed.wrapping_add(self.clock)) % RANDOM_TURN,
            _ => u64::MAX,
        };
        true
    }

    /// After an instruction: whose turn is it? `logged`: this is kept.
    fn finish_instruction(&mut self, logged: bool) {
        let k = self.current();
        let t = &mut self.groups.threads[k];
        if self.trap.is_some() || t.status == Status::Ready && self.clock < self.turns.until {
            return;
        }
        if logged {
            self.log.turns(self.keep_turns());
        }
        let t = &mut self.groups.threads[k];
        if t.status == Status::Yielded && !self.together {
            // It is alone: the next turn is its own, too.
            t.status = Status::Ready;
            self.choose_next_thread();
            return;
        }
        self.turns.at += 1;
        if self.choose_next_thread() {
            return;
        }
        let threads = &mut self.groups.threads[..self.live];
        if threads.iter().all(|t| t.status == Status::Done) {
            return self.next_group(logged);
        }
        if threads.iter().any(|t| t.status == Status::Ready)
            || release_waiting_threads(threads, &mut self.groups.group)
        {
            return self.start_round();
        }
        let stuck = threads.iter().position(|t| t.status != Status::Done).unwrap_or(0);
        let m = self.machine(stuck);
        let mut trap = Box::new(m.trap_at(m.t.pc.saturating_sub(1), None, Cause::Deadlock));
        trap.threads = thread_states(self.launch().env.program, self.threads(), &trap);
        self.turns.at = self.turns.cycle.iter().position(|k| usize::from(*k) == stuck).unwrap_or(0);
        self.trap = Some(trap);
    }

    fn keep_turns(&self) -> Turns {
        let threads = self.threads().iter().map(|t| (t.status, t.turn)).collect();
        Turns { threads, named: Box::new(self.groups.group.named), ..self.turns.clone() }
    }

    fn next_group(&mut self, logged: bool) {
        if self.nth + 1 >= self.groups.launch.prepared.group_count() {
            self.ended = true;
            self.turns.at = 0;
            return;
        }
        if logged {
            let g = &self.groups;
            let threads = self.threads();
            self.log.push_group_state(GroupState {
                nth: self.nth,
                began: self.began,
                id: g.group.id,
                named: Box::new(g.group.named),
                threads: threads.iter().map(|t| (t.control(), t.dispatch, t.regs.bytes().to_vec())).collect(),
                slm: g.slm.to_vec(),
            });
        }
        self.nth += 1;
        self.last = None;
        self.begin();
    }

    /// Executes the next instruction, and keeps what it changes; `false` if there is none: all groups have ended, or
    /// one faulted.
    pub fn step(&mut self) -> bool {
        if self.ended || self.trap.is_some() {
            return false;
        }
        let k = self.current();
        let pc = self.groups.threads[k].pc;
        self.classify_instruction(pc);
        let Paused { groups: g, log, kinds, code, .. } = self;
        let launch = g.launch;
        let (program, slm) = (launch.env.program, &g.slm);
        let mut m = make_machine(&launch.env, &mut g.group, slm, &mut g.threads[k], &mut g.hints);
        let (inst, kind) = (program.code().get(pc as usize), kinds.get(pc as usize).and_then(Option::as_ref));
        let mask = inst.map_or(0, |i| m.channels(i));
        let what = kind.map_or(StateKind::Control, |k| k.what);
        log.begin(Entry::new(pc, k, mask, what));
        for (at, bytes) in kind.iter().flat_map(|k| &k.registers) {
            log.keep(Place::Register(*at), m.t.regs.slice(*at, *bytes));
        }
        if what == StateKind::Control {
            let saved = m.t.saved_variables().and_then(|f| program.functions().get(f as usize));
            for r in saved.iter().flat_map(|f| &f.locals) {
                log.keep(Place::Register(r.start), m.t.regs.slice(r.start, r.end - r.start));
            }
            let fused = inst.is_some_and(|i| i.op == Op::Dpasw).then(|| m.group.fused.clone());
            log.control(m.t.control(), m.group.named, fused);
        }
        let next = match (what, inst) {
            (StateKind::Message, Some(i)) => {
                let message = program.messages().get(i.aux as usize);
                let mut journal = Journal { log, env: m.env, slm, message, drops: Drops::default() };
                let channels = (i.channels.into(), i.first.into());
                let next = m.message_observed((pc, i.aux), mask, channels, &mut journal);
                let drops = journal.drops;
                if drops.first.is_some() {
                    m.dropped(pc, i.first.into(), &drops);
                }
                next
            }
            _ => code.instruction(&mut m, pc),
        };
        let trap = m.trap.take();
        if next != STOP {
            g.threads[k].pc = next;
        }
        self.clock += 1;
        self.last = None;
        self.stopped_by(trap);
        self.finish_instruction(true);
        true
    }

    fn stopped_by(&mut self, trap: Option<Box<Trap>>) {
        if let Some(mut trap) = trap {
            trap.threads = thread_states(self.launch().env.program, self.threads(), &trap);
            self.trap = Some(trap);
        }
    }

    /// What the instruction at a program counter can change.
    fn classify_instruction(&mut self, pc: u32) {
        let program = self.groups.launch.env.program;
        let (Some(slot), Some(inst)) = (self.kinds.get_mut(pc as usize), program.code().get(pc as usize))
        else {
            return;
        };
        if slot.is_some() {
            return;
        }
        let r = program.registers();
        let mut registers = Vec::new();
        inst.writes(program.parts(), &mut |touched| match (touched, touched.range(inst.channels.into())) {
            (_, Some(range)) => registers.push((range.start, range.end - range.start)),
            (Touched::Indirect { .. } | _, None) => {
                registers.push((r.address_base, 64 * r.address_homes.len() as u32));
            }
        });
        registers.retain(|(at, bytes)| at.checked_add(*bytes).is_some_and(|end| end <= r.bytes));
        registers.sort_unstable();
        registers.dedup();
        let cr0 = r.predefined[envisa_isa::predefined::var::CR0 as usize];
        let mode = registers.iter().any(|(at, bytes)| *at < cr0 + 64 && cr0 < at + bytes);
        let what = match inst.op {
            Op::Message => StateKind::Message,
            op if is_control(op) || mode => StateKind::Control,
            _ => StateKind::Plain,
        };
        *slot = Some(Kind { registers, what });
    }

    /// Goes back by one instruction; `false` if the log has none.
    pub fn back(&mut self) -> bool {
        let Some(entry) = self.log.last() else { return false };
        self.trap = None;
        self.ended = false;
        self.last = None;
        while let Some(between) = self.log.pop_between() {
            match between {
                super::log::BetweenInstructions::Turns(turns) => self.restore_turns(turns),
                super::log::BetweenInstructions::Group(state) => self.restore_group(*state),
            }
        }
        let g = &mut self.groups;
        let k = entry.thread();
        let (env, slm) = (&g.launch.env, &g.slm);
        let t = &mut g.threads[k];
        self.log.undo_latest_entry(|place, old| match place {
            Place::Register(at) => t.regs.slice_mut(at, old.len() as u32).copy_from_slice(old),
            memory => {
                memory.put(env, slm, old);
            }
        });
        match self.log.pop_control() {
            Some(kept) => {
                t.restore(kept.control);
                g.group.named = kept.named;
                if let Some(fused) = kept.fused {
                    g.group.fused = fused;
                }
            }
            None => (t.pc, t.status) = (entry.pc(), Status::Ready),
        }
        self.log.pop();
        self.clock -= 1;
        true
    }

    fn restore_turns(&mut self, kept: Turns) {
        for (t, (status, turn)) in self.groups.threads.iter_mut().zip(&kept.threads) {
            (t.status, t.turn) = (*status, *turn);
        }
        self.groups.group.named = *kept.named;
        self.turns = kept;
    }

    fn restore_group(&mut self, kept: GroupState) {
        let g = &mut self.groups;
        (self.nth, self.began, g.group.id, g.group.named) = (kept.nth, kept.began, kept.id, *kept.named);
        g.slm.copy_in(0, &kept.slm);
        self.live = kept.threads.len();
        let class = g.launch.prepared.class(kept.id);
        g.launch.prepared.patch_group(&mut g.image, kept.id, class);
        for (t, (control, dispatch, registers)) in g.threads.iter_mut().zip(kept.threads) {
            t.restore(control);
            t.dispatch = dispatch;
            t.regs.bytes_mut().copy_from_slice(&registers);
        }
    }

    /// Runs on, keeping nothing, to an instruction that has a [`flag::STOP`], to a clock, or to the end; the log is
    /// empty then. At least one instruction is executed.
    pub fn run(&mut self, flags: &[u8], until: u64) {
        if self.clock >= until {
            return;
        }
        self.log.clear();
        while !self.ended && self.trap.is_none() {
            let k = self.current();
            let most = (until - self.clock).min(self.turns.until.saturating_sub(self.clock)).max(1);
            let Paused { groups: g, code, .. } = self;
            let mut m = make_machine(&g.launch.env, &mut g.group, &g.slm, &mut g.threads[k], &mut g.hints);
            let (ran, last) = code.run_to(&mut m, flags, most);
            let trap = m.trap.take();
            self.clock += ran;
            self.last = Some((k, last));
            self.stopped_by(trap);
            self.finish_instruction(false);
            if self.ended || self.trap.is_some() || self.clock >= until {
                return;
            }
            let pc = self.groups.threads[self.current()].pc;
            if flags.get(pc as usize).is_some_and(|f| f & flag::STOP != 0) {
                return;
            }
        }
    }

    /// Bytes of memory; `false` if not all of them are there.
    pub fn read(&self, place: Place, to: &mut [u8]) -> bool {
        place.get(&self.groups.launch.env, &self.groups.slm, to)
    }

    /// Changes bytes of memory, as if the last instruction had done it: who goes back has the old ones again. `false` if
    /// not all of them are there.
    pub fn write_kept(&mut self, place: Place, from: &[u8]) -> bool {
        let mut old = vec![0; from.len()];
        let there = self.read(place, &mut old);
        if there && !self.log.is_empty() {
            self.log.keep(place, &old);
        }
        there && place.put(&self.groups.launch.env, &self.groups.slm, from)
    }

    /// Bytes of the group's shared local memory.
    pub fn local_bytes(&self) -> usize {
        self.groups.slm.len()
    }
}

/// A number of a sequence by chance.
fn hash_bits(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Where a number below `count` comes to stand among all of them: a permutation by four Feistel rounds over the next
/// power of four, walked until it is below.
fn permute_index(i: u64, count: u64, seed: u64) -> u64 {
    let half = (64 - count.max(2).saturating_sub(1).leading_zeros()).div_ceil(2);
    let low = (1u64 << half) - 1;
    let mut x = i;
    loop {
        for round in 0..4 {
            let (l, r) = (x >> half, x & low);
            x = r << half | (l ^ hash_bits(seed ^ r ^ round << 56)) & low;
        }
        if x < count {
            return x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffling_is_a_permutation() {
        for count in [1u64, 2, 3, 7, 64, 100] {
            let mut all: Vec<u64> = (0..count).map(|i| permute_index(i, count, 42)).collect();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }
}
