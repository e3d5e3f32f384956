//! A hardware thread: its registers, active channels and position, and what it shares with its group.

mod control;

use std::sync::OnceLock;

use envisa_isa::limits::NAMED_BARRIERS;
use envisa_isa::{Combine, Span};
use envisa_lower::{Inst, Message, Program, RegOffset, decode_raw};
use envisa_sem::FpMode;

use crate::dropped_accesses::{Dropped, DroppedAccess};
use crate::fallback_counts::FallbackCounts;
use crate::interest::Interest;
use crate::memory::{AddressMap, Block, Hint, Names, SurfaceTable};
use crate::messages::{self, Drops, Fault, FaultKind, MemoryObserver, Ports};
use crate::register_file::{Registers, all_channels};
use crate::regrouped::{Place, Regrouped};
use crate::sampler::Sampler;
use crate::thread_inputs::Inputs;
use crate::trap::{Call, Cause, MAX_CALLS, Trap};

pub use crate::trap::{Mask, Status};
pub use control::Control;

/// A program counter that stops a thread: it ended, waits or faulted, and its status says which.
pub const STOP: u32 = u32::MAX;

/// A call that has not returned.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Where to go on.
    return_pc: u32,
    /// Channels that were active at the call.
    mask: Mask,
    /// The caller's waiting channels.
    waiting: Waiting,
    /// Function called, for stack calls.
    function: Option<u32>,
    /// The function's variables before the call, if it was active already.
    saved: Option<Vec<u8>>,
}

/// Channels that wait at labels for others to arrive.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Lowest program counter at which channels wait; `u32::MAX` if none do.
    lowest: u32,
    len: u8,
    at: [(u32, Mask); 32],
}

impl Default for Waiting {
    fn default() -> Self {
        Waiting { lowest: u32::MAX, len: 0, at: [(0, 0); 32] }
    }
}

impl Waiting {
    /// Nobody waits.
    fn clear(&mut self) {
        (self.lowest, self.len) = (u32::MAX, 0);
    }

    /// Channels wait at a program counter, beside those that do already.
    pub fn add(&mut self, pc: u32, mask: Mask) {
        let n = self.len as usize;
        match self.at[..n].iter_mut().find(|w| w.0 == pc) {
            Some(w) => w.1 |= mask,
            None => {
                // Each entry holds a channel of its own, so 32 are enough.
                if let Some(w) = self.at.get_mut(n) {
                    *w = (pc, mask);
                    self.len += 1;
                }
            }
        }
        self.lowest = self.lowest.min(pc);
    }

    /// Takes the channels waiting at the lowest program counter.
    fn take_lowest(&mut self) -> Option<(u32, Mask)> {
        let n = self.len as usize;
        let i = self.at[..n].iter().position(|w| w.0 == self.lowest)?;
        let out = self.at[i];
        self.at[i] = self.at[n - 1];
        self.len -= 1;
        self.lowest = self.at[..n - 1].iter().map(|w| w.0).min().unwrap_or(u32::MAX);
        Some(out)
    }

    /// `(program counter, channels)` of all that wait.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Mask)> + '_ {
        self.at[..self.len as usize].iter().copied()
    }
}

/// Calls nested deeper than this are a fault.
pub const MAX_DEPTH: usize = 4096;
/// Bytes of variables saved by nested calls beyond which is a fault.
const MAX_SAVED: usize = 64 << 20;

/// The state of a hardware thread.
pub struct Thread {
    /// Registers.
    pub regs: Registers,
    /// Active channels.
    pub mask: Mask,
    /// Channels it was dispatched with.
    pub dispatch: Mask,
    /// Next instruction.
    pub pc: u32,
    /// Channels that wait.
    pub waiting: Waiting,
    /// Calls.
    pub frames: Vec<Frame>,
    saved: usize,
    /// Activations of each function.
    active: Vec<u32>,
    /// Floating-point mode, of `%cr0`.
    pub mode: FpMode,
    /// Is it nearest even with all denormals kept?
    pub ieee: bool,
    /// What it waits for.
    pub status: Status,
    /// Backward branches and calls it may still take.
    pub budget: u64,
    /// How much of it is left in this turn: a thread that spins lets others of its group go on. The largest
    /// number: for ever.
    pub turn: u64,
    /// The budget at the start, and how often it asked for the time.
    started: (u64, u64),
    /// DPASW instructions it finished.
    pub fused: u32,
    /// Signals it sent to the split barrier.
    pub signals: u32,
    /// Waits at the split barrier.
    pub waits: u32,
    /// Index in its group.
    pub index: u32,
    /// Hardware slot.
    pub slot: u32,
    /// Base of its scratch, in the general-state window.
    pub scratch: u64,
    /// What its registers hold.
    pub loaded: Loaded,
    /// Its observer is told of what the instruction stores that runs, wherever that is.
    pub stores_told: bool,
    /// Its observer is told of nothing that the instruction does that runs.
    pub untold: bool,
}

/// What a thread's registers hold before it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loaded {
    /// Nothing that is of use.
    Nothing,
    /// What a thread of a launch of the same kind left, with other inputs.
    Other,
    /// What a thread of this launch left.
    All,
}

impl Thread {
    /// A thread for this program, not started.
    pub fn new(program: &Program) -> Thread {
        Thread {
            regs: Registers::new(program.registers().bytes),
            mask: 0,
            dispatch: 0,
            pc: 0,
            waiting: Waiting::default(),
            frames: Vec::new(),
            saved: 0,
            active: vec![0; program.functions().len()],
            mode: FpMode::START,
            ieee: false,
            status: Status::Done,
            budget: 0,
            turn: u64::MAX,
            started: (0, 0),
            fused: 0,
            signals: 0,
            waits: 0,
            index: 0,
            slot: 0,
            scratch: 0,
            loaded: Loaded::Nothing,
            stores_told: false,
            untold: false,
        }
    }

    /// Makes it ready to start: everything but registers.
    #[inline]
    pub fn reset(&mut self, dispatch: Mask, budget: u64) {
        self.mask = dispatch;
        self.dispatch = dispatch;
        self.pc = 0;
        self.waiting.clear();
        self.frames.clear();
        self.saved = 0;
        if self.active.iter().any(|n| *n != 0) {
            self.active.fill(0);
        }
        self.mode = FpMode::START;
        self.ieee = false;
        self.status = Status::Ready;
        self.budget = budget;
        self.started = (budget, 0);
        (self.fused, self.stores_told, self.untold) = (0, false, false);
        (self.signals, self.waits) = (0, 0);
    }

    /// Where the calls that have not returned stand, innermost first.
    pub fn calls(&self) -> impl Iterator<Item = u32> + '_ {
        self.frames.iter().rev().map(|f| f.return_pc.saturating_sub(1))
    }

    /// The time stamp: what it executed, counted at branches, and how often it asked. Larger each time, and the
    /// same in each run.
    pub fn time(&mut self) -> u64 {
        self.started.1 += 1;
        (self.started.0 - self.budget.min(self.started.0)).wrapping_add(self.started.1)
    }
}

/// What a group's threads share.
pub struct Group {
    /// Group id.
    pub id: [u32; 3],
    /// Named barriers: signals so far and expected, by number.
    pub named: [(u32, u32); NAMED_BARRIERS as usize],
    /// What threads give to those they are fused with, by thread.
    pub fused: Vec<Fused>,
}

/// The operands of a thread's last two DPASW instructions: while one thread still reads one, the other may
/// have come to the next.
#[derive(Clone, Debug, Default)]
pub struct Fused {
    /// How many it came to.
    pub count: u32,
    /// The program counter and operand of each; of number n at n modulo 2.
    pub operands: [(u32, Vec<u8>); 2],
}

/// What every thread of a launch shares.
pub struct Env<'a> {
    /// The program.
    pub program: &'a Program,
    /// The address space.
    pub memory: &'a AddressMap,
    /// The binding table.
    pub surfaces: &'a SurfaceTable,
    /// Samplers by index.
    pub samplers: &'a [Option<Sampler>],
    /// The 32-bit general-state window: scratch, implicit arguments.
    pub state: &'a Block,
    /// Bytes of scratch of one hardware slot.
    pub scratch_bytes: u64,
    /// Addresses of the program's symbols.
    pub symbols: &'a [u64],
    /// Addresses of its functions.
    pub function_addresses: &'a [u64],
    /// Groups in x, y and z.
    pub groups: [u32; 3],
    /// Is somebody told of memory accesses?
    pub observed: bool,
    /// What that is, where it is not everything: said once, when the first thread starts.
    pub interest: OnceLock<Interest>,
    /// Counts the accesses that were dropped.
    pub dropped: &'a Dropped,
    /// The groups that were asked for, where the launch runs in others.
    pub regrouped: Option<&'a Regrouped>,
    /// Counts what an engine asks for, where somebody wants to know.
    pub asked: Option<&'a FallbackCounts>,
    /// Reads of registers at addresses outside of every variable give zeros, where a device gives what is in some
    /// register: else they fault.
    pub stray_reads: bool,
    /// What shared local memory is divided into, where that is known.
    pub local_regions: &'a [LocalRegion],
    /// Start and bytes of the allocation that work-items have their private data in.
    pub private: Option<(u64, u64)>,
    /// What reports call allocations without a name.
    pub names: &'a Names,
    /// Where the inputs of threads differ.
    pub inputs: Inputs,
}

/// A part of a group's shared local memory that has an owner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalRegion {
    /// First byte.
    pub start: u64,
    /// Bytes.
    pub bytes: u64,
    /// The argument that it is; `None`: what the kernel declares itself.
    pub argument: Option<u32>,
}

impl<'a> Env<'a> {
    /// Is nobody told of what a message reads, as long as that is where its site found memory last?
    #[inline(always)]
    pub fn is_quiet(&self, message: usize, site: &Hint) -> bool {
        !self.observed || self.interest.get().is_some_and(|i| i.is_quiet(message, site))
    }

    /// What the messages of a thread with this scratch and these registers can reach.
    #[inline(always)]
    pub fn message_ports(&'a self, slm: &'a Block, scratch: u64, regs: &Registers) -> Ports<'a> {
        let r0 = self.program.registers().predefined[envisa_isa::predefined::var::R0 as usize];
        Ports {
            memory: self.memory,
            slm,
            window: self.state,
            surfaces: self.surfaces,
            samplers: self.samplers,
            scratch: scratch as u32,
            scratch_bytes: self.scratch_bytes,
            implicit: regs.peek::<u32>(r0),
            grf_bytes: self.program.grf_bytes(),
            layout: self.program.registers(),
        }
    }
}

pub use crate::messages::{Access, AccessKind, AccessRow, AccessSpace, Accesses};

/// A running thread with all it can reach.
pub struct Machine<'a> {
    /// Its state.
    pub t: &'a mut Thread,
    /// Its group.
    pub group: &'a mut Group,
    /// The group's shared local memory.
    pub slm: &'a Block,
    /// The launch.
    pub env: &'a Env<'a>,
    /// Where access sites found their allocations, by message.
    pub hints: &'a mut [Hint],
    /// The fault, when there is one.
    pub trap: Option<Box<Trap>>,
    /// Accesses of the current instruction, when observed.
    pub accesses: Accesses,
}

impl Machine<'_> {
    /// Stops with a fault at `pc`.
    #[cold]
    #[inline(never)]
    pub fn fault(&mut self, pc: u32, channel: Option<u32>, cause: Cause) -> u32 {
        self.t.pc = pc;
        self.t.status = Status::Trapped;
        self.trap = Some(Box::new(self.trap_at(pc, channel, cause)));
        STOP
    }

    /// Stops until others arrive; goes on at `next`.
    pub fn suspend(&mut self, next: u32, status: Status) -> u32 {
        self.t.pc = next;
        self.t.status = status;
        STOP
    }

    /// Channels waiting at `pc` join the active ones.
    #[inline(always)]
    pub fn join(&mut self, pc: u32) {
        if self.t.waiting.lowest == pc
            && let Some((_, mask)) = self.t.waiting.take_lowest()
        {
            self.t.mask |= mask;
        }
    }

    /// The channels of `taken` branch; `next` is the instruction after the branch.
    #[inline(always)]
    pub fn branch_channels(&mut self, taken: Mask, target: u32, next: u32) -> u32 {
        if taken == 0 {
            return next;
        }
        let t = &mut *self.t;
        let rest = t.mask & !taken;
        if target >= next {
            if rest != 0 {
                t.mask = rest;
                t.waiting.add(target, taken);
                return next;
            }
            if t.waiting.lowest < target {
                // Others wait on the way: they go first.
                t.waiting.add(target, taken);
                return self.resume_waiting_channels(next);
            }
            return target;
        }
        // Backward: the others wait where they are, which is a join.
        let cost = (next - target) as u64;
        if t.budget < cost {
            return self.fault(next - 1, None, Cause::Limit);
        }
        t.budget -= cost;
        if rest != 0 {
            t.waiting.add(next, rest);
            t.mask = taken;
        }
        t.turn = t.turn.saturating_sub(cost);
        if t.turn == 0 {
            return self.suspend(target, Status::Yielded);
        }
        target
    }

    /// No channel is active: those that wait at the lowest program counter go on, or the call ends.
    pub fn resume_waiting_channels(&mut self, pc: u32) -> u32 {
        match self.t.waiting.take_lowest() {
            Some((at, mask)) => {
                self.t.mask = mask;
                at
            }
            None => self.return_or_end_thread(pc),
        }
    }

    /// Channels leave the function they are in.
    pub fn ret(&mut self, leaving: Mask, pc: u32) -> u32 {
        self.t.mask &= !leaving;
        if self.t.mask != 0 { pc + 1 } else { self.resume_waiting_channels(pc) }
    }

    /// All channels have left: back to the caller, or the thread ends.
    fn return_or_end_thread(&mut self, _pc: u32) -> u32 {
        let Some(frame) = self.t.frames.pop() else {
            self.t.status = Status::Done;
            return STOP;
        };
        if let Some(f) = frame.function {
            if let Some(n) = self.t.active.get_mut(f as usize) {
                *n = n.saturating_sub(1);
            }
            if let (Some(saved), Some(f)) = (frame.saved, self.env.program.functions().get(f as usize)) {
                self.t.saved = self.t.saved.saturating_sub(saved.len());
                let mut from = saved.as_slice();
                for r in &f.locals {
                    let (now, rest) = from.split_at((r.end - r.start) as usize);
                    self.t.regs.slice_mut(r.start, r.end - r.start).copy_from_slice(now);
                    from = rest;
                }
            }
        }
        self.t.mask = frame.mask;
        self.t.waiting = frame.waiting;
        frame.return_pc
    }

    /// The channels of `taken` call a subroutine at `target`, or a function.
    pub fn call(&mut self, taken: Mask, target: u32, function: Option<u32>, pc: u32) -> u32 {
        if taken == 0 {
            return pc + 1;
        }
        if self.t.frames.len() >= MAX_DEPTH {
            return self.fault(pc, None, Cause::CallDepth);
        }
        if self.t.budget == 0 {
            return self.fault(pc, None, Cause::Limit);
        }
        self.t.budget -= 1;
        let mut saved = None;
        let mut target = target;
        if let Some(f) = function {
            let Some(callee) = self.env.program.functions().get(f as usize) else {
                return self.fault(pc, None, Cause::BadCall(f as u64));
            };
            target = callee.entry;
            if self.t.active[f as usize] > 0 {
                let mut bytes = Vec::new();
                for r in &callee.locals {
                    bytes.extend_from_slice(self.t.regs.slice(r.start, r.end - r.start));
                }
                self.t.saved += bytes.len();
                if self.t.saved > MAX_SAVED {
                    return self.fault(pc, None, Cause::CallDepth);
                }
                saved = Some(bytes);
            }
            self.t.active[f as usize] += 1;
        }
        self.t.frames.push(Frame {
            return_pc: pc + 1,
            mask: self.t.mask,
            waiting: self.t.waiting,
            function,
            saved,
        });
        self.t.waiting = Waiting::default();
        self.t.mask = taken;
        target
    }

    /// `%cr0` was written: the mode follows.
    pub fn refresh_mode(&mut self) {
        let cr0: u32 = self.t.regs.peek(self.env.program.registers().predefined[14]);
        self.t.mode = FpMode::from_cr0(cr0);
        self.t.ieee = self.t.mode.is_ieee();
    }

    /// Resolves an address register's value to an offset of `bytes` bytes inside one variable's home.
    #[inline]
    pub fn indirect(&self, address: u16, bytes: i16, size: u32) -> Result<RegOffset, i64> {
        crate::register_file::resolve_indirect(self.env.program.registers(), address, bytes, size)
    }

    /// Executes message `number` of the program in full generality, for the channels of `mask` out of `channels`
    /// from `first` on, telling the observer if there is one; gives the next program counter.
    pub fn message(&mut self, pc: u32, number: u32, mask: Mask, channels: u32, first: u32) -> u32 {
        let env = self.env;
        let ports = env.message_ports(self.slm, self.t.scratch, &self.t.regs);
        let Some(message) = env.program.messages().get(number as usize) else { return pc + 1 };
        let (site, regs) = (&mut self.hints[number as usize], &mut self.t.regs);
        let done = if env.observed {
            // Observers count channels from the thread's first.
            let told = self.accesses.rows().len();
            let done = messages::execute(message, site, regs, mask, channels, &ports, &mut self.accesses);
            let mut drops = Drops::default();
            for row in self.accesses.from(told) {
                // Rows are of what is inside.
                if row.first.is_dropped(message) {
                    row.iter().for_each(|a| drops.add(&a));
                }
                row.first.channel += first as u8;
            }
            if drops.first.is_some() {
                self.dropped(pc, first, &drops);
            }
            done
        } else {
            let mut drops = Drops::default();
            let done = messages::execute(message, site, regs, mask, channels, &ports, &mut drops);
            if drops.first.is_some() {
                self.dropped(pc, first, &drops);
            }
            done
        };
        self.finish_message(pc, first, done)
    }

    /// The same, telling somebody else of the accesses before they are done; who is told counts what is dropped.
    pub fn message_observed<O: MemoryObserver>(
        &mut self,
        (pc, number): (u32, u32),
        mask: Mask,
        (channels, first): (u32, u32),
        told: &mut O,
    ) -> u32 {
        let ports = self.env.message_ports(self.slm, self.t.scratch, &self.t.regs);
        let Some(message) = self.env.program.messages().get(number as usize) else { return pc + 1 };
        let (site, regs) = (&mut self.hints[number as usize], &mut self.t.regs);
        let done = messages::execute(message, site, regs, mask, channels, &ports, told);
        self.finish_message(pc, first, done)
    }

    fn finish_message(&mut self, pc: u32, first: u32, done: Result<(), Fault>) -> u32 {
        match done {
            Ok(()) => pc + 1,
            Err(f) => self.message_fault(pc, first, f),
        }
    }

    /// The channels that an instruction runs, aligned to its first: its execution mask and, if it is one, its
    /// predicate. (Of `sel`, whose predicate picks a source, all active ones.)
    pub fn channels(&self, inst: &Inst) -> Mask {
        let full = all_channels(inst.channels.into());
        let active = if inst.no_mask { full } else { self.t.mask >> inst.first & full };
        if inst.pred.offset == 0 || inst.op == envisa_lower::Op::Sel {
            return active;
        }
        let bits = self.t.regs.peek::<u32>(inst.pred.offset) >> inst.first & full;
        let bits = match inst.pred.combine {
            Combine::None => bits,
            Combine::Any if bits != 0 => full,
            Combine::All if bits == full => full,
            Combine::Any | Combine::All => 0,
        };
        active & if inst.pred.invert { !bits } else { bits }
    }

    /// Counts accesses that the message at `pc`, whose first channel is `first`, dropped.
    #[cold]
    #[inline(never)]
    pub fn dropped(&self, pc: u32, first: u32, drops: &Drops) {
        let [x, y, z] = self.group.id.map(u64::from);
        let [w, h] = [self.env.groups[0], self.env.groups[1]].map(u64::from);
        let number = z.wrapping_mul(h).wrapping_add(y).wrapping_mul(w).wrapping_add(x);
        let place = |channel| {
            let here = Place { group: self.group.id, thread: self.t.index, channel };
            self.env.regrouped.map_or(here, |r| r.in_requested_groups(here))
        };
        let number = match (self.env.regrouped, &drops.first) {
            (Some(r), Some(access)) => r.number(place(u32::from(access.channel) + first).group),
            _ => number,
        };
        self.env.dropped.count(drops, number, |access| {
            let channel = u32::from(access.channel) + first;
            let (instruction, span) = self.source_location(pc, Some(channel));
            let function = self.env.program.code().get(pc as usize).map_or(0, |i| i.function);
            let Place { group, thread, channel } = place(channel);
            DroppedAccess { function, instruction, span, channel, thread, group, access }
        });
    }

    /// Which instruction of its function that is, for a channel, and where in the source it stands.
    fn source_location(&self, pc: u32, channel: Option<u32>) -> (u32, Span) {
        let p = self.env.program;
        if let Some(u) = channel.and_then(|c| p.origin_of_channel(pc, c)) {
            return (u.source, u.span);
        }
        p.code().get(pc as usize).map_or((0, Span::NONE), |i| (i.source, i.span))
    }

    /// Stops with the fault of a message at `pc` whose first channel is `first`.
    #[cold]
    #[inline(never)]
    pub fn message_fault(&mut self, pc: u32, first: u32, f: Fault) -> u32 {
        let channel = f.channel.map(|i| i + first);
        let Fault { space, address, bytes, .. } = f;
        let cause = match f.kind {
            FaultKind::Outside(kind)
                if f.space == AccessSpace::Flat
                    && kind != AccessKind::Read
                    && self.env.memory.read_only(address, bytes as usize).is_some() =>
            {
                let name = self
                    .env
                    .memory
                    .read_only(address, bytes as usize)
                    .map(|a| self.env.names.of(a).to_owned());
                Cause::ReadOnly { address, bytes, name: name.unwrap_or_default() }
            }
            FaultKind::Outside(kind) => {
                let nearest = match f.space {
                    AccessSpace::Flat => {
                        let nearest = self.env.memory.nearest(address);
                        nearest.map(|(a, d)| (self.env.names.of(a).to_owned(), d))
                    }
                    _ => None,
                };
                Cause::Memory { space, address, bytes, write: kind != AccessKind::Read, nearest }
            }
            FaultKind::Misaligned(align) => Cause::Misaligned { space, address, bytes, align },
            FaultKind::Indirect => Cause::Indirect { address: address as i64 },
            FaultKind::Raw(ex, desc) => {
                let program = self.env.program;
                let message =
                    program.code().get(pc as usize).and_then(|i| program.messages().get(i.aux as usize));
                let reason = match message {
                    Some(Message::Raw(r)) => match decode_raw(r.function, ex, desc, &r.shape) {
                        Err(reason) => reason,
                        Ok(_) => "a barrier whose descriptor is in a register".into(),
                    },
                    _ => "its descriptors are not valid".into(),
                };
                Cause::Unsupported { name: "a raw message", reason }
            }
            FaultKind::Unsupported(reason) => {
                Cause::Unsupported { name: "a memory message", reason: reason.into() }
            }
        };
        self.fault(pc, channel, cause)
    }
}

impl Machine<'_> {
    /// A fault of the instruction at a program counter.
    pub(crate) fn trap_at(&self, pc: u32, channel: Option<u32>, cause: Cause) -> Trap {
        let m = self;
        let p = m.env.program;
        let inst = p.code().get(pc as usize);
        let (source, span) = self.source_location(pc, channel);
        let function = |i: &envisa_lower::Inst| {
            p.functions().get(i.function as usize).map_or(String::new(), |f| f.name.clone())
        };
        let calls = m.t.calls().take(MAX_CALLS).filter_map(|pc| p.code().get(pc as usize));
        Trap {
            cause,
            kernel: p.name().to_owned(),
            function: inst.map_or(String::new(), function),
            instruction: source,
            span,
            channel,
            mask: m.t.mask,
            thread: m.t.index,
            group: m.group.id,
            threads: Vec::new(),
            calls: calls
                .map(|i| Call { function: function(i), instruction: i.source, span: i.span })
                .collect(),
        }
    }
}
