//! A profile of a run: what each instruction executed, how well its channels were used, what its memory accesses cost,
//! and what waited at barriers.
//!
//! **Model.** Memory is fetched in lines of 64 bytes ([`CACHE_LINE`]): channels of one message that touch one line cost
//! one access (Intel's OpenCL optimization guide for processor graphics). Shared local memory has 16 banks of 4 bytes
//! ([`BANKS`], [`BANK_BYTES`]): 64 consecutive bytes lie in 16 consecutive banks, and different dwords of one bank are
//! accessed one after the other (oneAPI GPU optimization guide, "Shared Local Memory"). Reads of one dword are served
//! together, stores and atomics to one dword are not. Intel publishes no other numbers for any of its devices, so all
//! platforms have these.
//!
//! **Time** is counted in executed instructions: each thread of a group executes one a step, and a barrier lets its
//! threads go on when the last one has come.

mod access;
mod clock;

use envisa_lower::{Inst, Message, Op};
use envisa_machine::observer::Observer;
use envisa_machine::thread::{Machine, Mask, Status};

use clock::GroupClock;
pub use clock::{Span, SpanKind, ThreadTrace, Trace};

/// Bytes of a line of the caches.
pub const CACHE_LINE: u64 = 64;
/// Banks of shared local memory.
pub const BANKS: usize = 16;
/// Bytes of a bank that one access gets.
pub const BANK_BYTES: u64 = 4;

/// What an instruction did, all executions together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Counts {
    /// Times executed.
    pub executed: u64,
    /// Channels that ran.
    pub channels: u64,
    /// Channels that could have run: the instruction's width, each time.
    pub possible_channels: u64,
    /// Times executed as a branch.
    pub branches: u64,
    /// Branches where some of the active channels went one way and the others another.
    pub divergent_branches: u64,
    /// Accesses of memory, of one channel each; a block is one.
    pub accesses: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Cache lines touched: each once for each message.
    pub cache_lines: u64,
    /// The fewest lines that the same bytes fit in.
    pub least_cache_lines: u64,
    /// Steps that the banks of shared local memory took.
    pub bank_steps: u64,
    /// The fewest steps for the same bytes.
    pub least_bank_steps: u64,
    /// Waits at barriers.
    pub barrier_waits: u64,
    /// Instructions that others executed meanwhile: from a thread's arrival to the last one's.
    pub waited: u64,
}

impl Counts {
    /// Adds what another did.
    pub fn add(&mut self, o: &Counts) {
        let pairs = [
            (&mut self.executed, o.executed),
            (&mut self.channels, o.channels),
            (&mut self.possible_channels, o.possible_channels),
            (&mut self.branches, o.branches),
            (&mut self.divergent_branches, o.divergent_branches),
            (&mut self.accesses, o.accesses),
            (&mut self.bytes_read, o.bytes_read),
            (&mut self.bytes_written, o.bytes_written),
            (&mut self.cache_lines, o.cache_lines),
            (&mut self.least_cache_lines, o.least_cache_lines),
            (&mut self.bank_steps, o.bank_steps),
            (&mut self.least_bank_steps, o.least_bank_steps),
            (&mut self.barrier_waits, o.barrier_waits),
            (&mut self.waited, o.waited),
        ];
        for (mine, more) in pairs {
            *mine = mine.saturating_add(more);
        }
    }
}

/// Collects a profile, and a trace if that is wanted.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// By program counter.
    counts: Vec<Counts>,
    threads: u64,
    groups: u64,
    clock: GroupClock,
    trace: Option<Trace>,
}

impl Profile {
    /// A profile, with a trace of the first groups or without.
    pub fn new(trace: bool) -> Profile {
        Profile { trace: trace.then(Trace::default), ..Profile::default() }
    }

    /// What each instruction did, by program counter.
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// Threads that ran.
    pub fn threads(&self) -> u64 {
        self.threads
    }

    /// Groups that ran.
    pub fn groups(&self) -> u64 {
        self.groups
    }

    /// What threads did when, if that was wanted; once, after the run.
    pub fn take_trace(&mut self) -> Option<Trace> {
        self.clock.finish(self.trace.as_mut());
        let mut trace = self.trace.take()?;
        trace.threads.sort_by_key(|t| (t.group[2], t.group[1], t.group[0], t.thread));
        Some(trace)
    }

    fn branch(&mut self, m: &Machine<'_>, pc: u32, mask: Mask, inst: &Inst) {
        let Some(c) = self.counts.get_mut(pc as usize) else { return };
        c.branches += 1;
        if inst.channels > 1 {
            let taken = mask << inst.first & m.t.mask;
            c.divergent_branches += u64::from(taken != 0 && taken != m.t.mask);
        }
    }
}

impl Observer for Profile {
    fn fork(&self) -> Self {
        Profile::new(self.trace.is_some())
    }

    fn wants_all(&self, _: u32) -> bool {
        true
    }

    fn merge(&mut self, mut other: Self) {
        self.clock.finish(self.trace.as_mut());
        other.clock.finish(other.trace.as_mut());
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), Counts::default());
        }
        for (mine, more) in self.counts.iter_mut().zip(&other.counts) {
            mine.add(more);
        }
        self.threads += other.threads;
        self.groups += other.groups;
        if let (Some(mine), Some(more)) = (&mut self.trace, other.trace) {
            mine.threads.extend(more.threads);
            mine.groups_left_out += more.groups_left_out;
            mine.spans_left_out += more.spans_left_out;
        }
    }

    fn start(&mut self, m: &Machine<'_>) {
        self.threads += 1;
        let n = m.env.program.code().len();
        if self.counts.len() < n {
            self.counts.resize(n, Counts::default());
        }
        self.groups += u64::from(self.clock.start(m, self.trace.as_mut()));
    }

    fn before(&mut self, m: &Machine<'_>, pc: u32, mask: Mask) {
        let Some(inst) = m.env.program.code().get(pc as usize) else { return };
        if let Some((at, waited)) = self.clock.leave_barrier(m, pc)
            && let Some(c) = self.counts.get_mut(at as usize)
        {
            c.waited += waited;
        }
        if inst.is_auxiliary() {
            return;
        }
        self.clock.count_instruction(m.t.index);
        if let Some(c) = self.counts.get_mut(pc as usize) {
            c.executed += 1;
            c.channels += u64::from(mask.count_ones());
            c.possible_channels += u64::from(inst.channels);
        }
        if matches!(inst.op, Op::Goto | Op::SwitchJmp) {
            self.branch(m, pc, mask, inst);
        }
    }

    fn after(&mut self, m: &Machine<'_>, pc: u32, _: Mask, _: u32) {
        let Some(inst) = m.env.program.code().get(pc as usize) else { return };
        let Some(c) = self.counts.get_mut(pc as usize) else { return };
        match inst.op {
            Op::SplitBarrier | Op::NamedBarrier if inst.aux == 1 => self.clock.signal(m, inst),
            Op::Barrier | Op::SplitBarrier | Op::NamedBarrier => {
                if matches!(m.t.status, Status::Barrier | Status::SplitWait | Status::Named(_)) {
                    c.barrier_waits += 1;
                    self.clock.arrive(m, pc);
                }
            }
            Op::Message if !m.accesses.is_empty() => {
                if let Some(message) = m.env.program.messages().get(inst.aux as usize) {
                    access::count(c, message, m.accesses.iter());
                }
            }
            _ => {}
        }
        if matches!(m.t.status, Status::Done | Status::Trapped) {
            self.clock.end(m.t.index);
        }
    }
}

/// Are lines of memory what it fetches? The texels of images lie in tiles, whose places the devices keep to themselves.
fn is_linear(message: &Message) -> bool {
    match message {
        Message::Simt(_)
        | Message::Block(_)
        | Message::Atomic(_)
        | Message::Status(_)
        | Message::Block2d(_)
        | Message::Urb(_)
        | Message::Raw(_) => true,
        Message::Typed(_)
        | Message::TypedStatus(_)
        | Message::TypedAtomic(_)
        | Message::Media(_)
        | Message::Sample(_)
        | Message::Pixels(_)
        | Message::Info(_) => false,
    }
}
