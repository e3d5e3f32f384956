//! Which memory a launch may change: where the addresses of its stores and atomics come from.
//!
//! An address is computed from a pointer that the kernel was given, and numbers. So what a store may change is the
//! allocation that the pointer leads to; memory that nothing may change is read without races. Where a pointer may come
//! out of memory, or nothing is known, a store may change anything. A store that goes elsewhere all the same (its number
//! was wild) is noticed when it does.

use std::collections::HashSet;

use envisa_lower::{Dst, Message, Modifier, Op, Program, RegOffset, Space, Src, Touched};
use envisa_machine::check_reports;
use envisa_machine::memory::Bound;
use envisa_machine::thread::Machine;

use super::proven_reads::addressable;
use super::uninitialised::is_data;

/// Inputs, by their index; above them, what is loaded and no pointer by itself, symbols of the module, and what is not
/// known.
type Inputs = u64;
const UNKNOWN: Inputs = 1 << 63;
const SYMBOLS: Inputs = 1 << 62;
const LOADED: Inputs = 1 << 61;
/// Inputs that are told apart.
const MOST_INPUTS: usize = 61;
/// Largest register file that is looked at.
pub(super) const MOST_BYTES: u32 = 1 << 20;
/// How far back it is looked what a register was given.
const MOST_STEPS: usize = 256;
/// How often a program is looked at until nothing more is found.
const MOST_ROUNDS: usize = 64;

/// Where a message accesses memory that other threads may access, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum To {
    /// Where addresses lead that are computed from these inputs.
    From(Inputs),
    /// In the surface of this index.
    Table(u32),
    /// In the surface of the index that is in this register, which nothing changes.
    Index(RegOffset),
    /// In the surface of the handle that is in this register, which nothing changes.
    Handle(RegOffset),
}

/// Of a program.
#[derive(Debug, Default)]
pub(super) struct Flows {
    /// By message.
    messages: Vec<Option<Reached>>,
}

/// What a message reaches, and whether it changes that.
#[derive(Clone, Copy, Debug)]
struct Reached {
    to: To,
    changes: bool,
}

/// Allocations, by their order in the address space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Allocations {
    Any,
    Of(Vec<usize>),
}

impl Flows {
    /// Looks at a program.
    pub fn of(p: &Program) -> Flows {
        let computed = computed(p);
        let targets = targets(p);
        let mut out = Flows { messages: vec![None; p.messages().len()] };
        for (pc, i) in p.code().iter().enumerate().filter(|(_, i)| i.op == Op::Message) {
            let message = p.messages().get(i.aux as usize).zip(out.messages.get_mut(i.aux as usize));
            let Some((message, reached)) = message else { continue };
            let (space, changes) = match message {
                Message::Simt(s) => (&s.space, s.write),
                Message::Block(b) => (&b.space, b.write),
                Message::Atomic(a) => (&a.space, true),
                Message::Typed(t) => (&t.space, t.write),
                Message::TypedAtomic(t) => (&t.space, true),
                Message::Media(m) => (&m.space, m.write),
                Message::Block2d(b) => (&Space::Flat, b.write),
                Message::Sample(_) | Message::Info(_) | Message::Status(_) | Message::TypedStatus(_) => {
                    continue;
                }
                Message::Pixels(p) => (&p.space, true),
                Message::Urb(_) | Message::Raw(_) => {
                    *reached = Some(Reached { to: To::From(UNKNOWN), changes: true });
                    continue;
                }
            };
            let of = |at, bytes| computed.as_ref().map_or(UNKNOWN, |c| c.of(at, bytes));
            let register = |src: &Src| match *src {
                Src::Reg { offset, ty, modifier: Modifier::None, .. } if ty.size() >= 4 => {
                    settled(p, computed.as_ref()?, &targets, pc, offset)
                }
                _ => None,
            };
            let to = match space {
                Space::Slm | Space::GeneralState | Space::Scratch(_) | Space::Arguments => continue,
                Space::Table(bti) => To::Table(*bti),
                Space::Bti(src) => register(src).map_or(To::From(UNKNOWN), To::Index),
                Space::Bindless(src) => register(src).map_or(To::From(UNKNOWN), To::Handle),
                Space::Handle(_) | Space::Counter(_) | Space::HandleCounter(_) => To::From(UNKNOWN),
                Space::Flat => {
                    let mut inputs = 0;
                    i.reads(p.parts(), &mut |t| {
                        if !is_data(message, t) && !is_operand(message, t) {
                            inputs |= match (t, t.range(u32::from(i.channels))) {
                                (Touched::Indirect { .. }, _) | (_, None) => UNKNOWN,
                                (_, Some(r)) => of(r.start, r.end - r.start),
                            };
                        }
                    });
                    To::From(inputs)
                }
            };
            *reached = Some(Reached { to, changes });
        }
        out
    }

    /// By allocation, in the order of the address space: may the launch of which this is a first thread, which is about
    /// to start, change it?
    pub fn changed(&self, m: &Machine<'_>) -> Vec<bool> {
        let mut changed = vec![false; m.env.memory.iter().count()];
        for reached in self.messages.iter().flatten().filter(|reached| reached.changes) {
            match allocations(m, reached.to) {
                Allocations::Any => changed.fill(true),
                Allocations::Of(all) => all.into_iter().for_each(|at| changed[at] = true),
            }
        }
        changed
    }

    /// Is it known that a message reads nothing but allocations of which this is true, by their order in the address
    /// space?
    pub fn reads_only(&self, m: &Machine<'_>, message: usize, of: &[bool]) -> bool {
        match self.reachable_allocations(m, message) {
            Some((Allocations::Of(all), false)) => {
                !all.is_empty() && all.into_iter().all(|at| of.get(at) == Some(&true))
            }
            _ => false,
        }
    }

    /// What a message may reach, as its addresses are computed, and whether it changes that; `None`: no memory that others
    /// access.
    pub fn reachable_allocations(&self, m: &Machine<'_>, message: usize) -> Option<(Allocations, bool)> {
        let reached = self.messages.get(message).copied().flatten()?;
        Some((allocations(m, reached.to), reached.changes))
    }

    /// What is bound to the surface that a message accesses, if that is one, and known.
    pub fn bound<'a>(&self, m: &'a Machine<'_>, message: usize) -> Option<&'a Bound> {
        bound(m, self.messages.get(message).copied().flatten()?.to)?
    }

    /// Where the allocation stands that a message reads as a surface, if that is one.
    pub fn surface_read(&self, m: &Machine<'_>, message: usize) -> Option<usize> {
        let reached = self.messages.get(message).copied().flatten()?;
        if reached.changes { None } else { surface(m, reached.to)? }
    }
}

/// The allocations that a message may reach.
fn allocations(m: &Machine<'_>, to: To) -> Allocations {
    let all: Vec<usize> = match (to, surface(m, to)) {
        // Numbers alone lead to what kernels that were compiled for checks report.
        (To::From(0), _) => {
            m.env.memory.allocation_of(check_reports::ADDRESS).map(|(at, _)| at).into_iter().collect()
        }
        (To::From(inputs), _) if inputs & UNKNOWN != 0 || inputs == LOADED => return Allocations::Any,
        (To::From(inputs), _) => pointed(m, inputs).collect(),
        // Nothing is bound there: what is stored is dropped.
        (_, Some(at)) => return Allocations::Of(at.into_iter().collect()),
        (_, None) => return Allocations::Any,
    };
    if all.is_empty() { Allocations::Any } else { Allocations::Of(all) }
}

/// Where the allocation of a surface stands among all, if there is one; `None` if that is not known.
fn surface(m: &Machine<'_>, to: To) -> Option<Option<usize>> {
    let Some(allocation) = bound(m, to)?.and_then(|bound| bound.allocation.as_ref()) else {
        return Some(None);
    };
    m.env.memory.allocation_of(allocation.base).map(|(at, _)| Some(at))
}

/// What is bound to a surface, if something is; `None` if that is not known.
fn bound<'a>(m: &'a Machine<'_>, to: To) -> Option<Option<&'a Bound>> {
    let index = match to {
        To::Table(bti) => Some(bti),
        To::Index(at) => Some(m.t.regs.peek::<u32>(at)),
        To::Handle(at) => m.env.surfaces.index_of_handle(m.t.regs.peek::<u32>(at)),
        To::From(_) => return None,
    };
    Some(index.map(|index| m.env.surfaces.get(index)))
}

/// The allocations that inputs and symbols point to, by their order in the address space.
fn pointed<'a>(m: &'a Machine<'_>, inputs: Inputs) -> impl Iterator<Item = usize> + 'a {
    let slots = m.env.program.inputs().iter().zip(0..MOST_INPUTS);
    let slots = slots.filter(move |(_, k)| inputs >> k & 1 != 0);
    let words = slots.flat_map(move |(slot, _)| {
        (0..slot.bytes.saturating_sub(7)).step_by(8).map(move |at| m.t.regs.peek::<u64>(slot.offset + at))
    });
    let symbols = m.env.symbols.iter().copied().filter(move |_| inputs & SYMBOLS != 0);
    words.chain(symbols).filter_map(|address| Some(m.env.memory.allocation_of(address)?.0))
}

/// What registers may be computed from.
struct Computed {
    /// Of each dword of the register file.
    inputs: Vec<Inputs>,
    /// Dwords that some instruction writes.
    written: Vec<bool>,
}

impl Computed {
    fn of(&self, at: RegOffset, bytes: u32) -> Inputs {
        let dwords = at as usize / 4..(at as usize + bytes as usize).div_ceil(4);
        self.inputs.get(dwords).map_or(UNKNOWN, |all| all.iter().fold(0, |a, b| a | b))
    }

    /// Has a register its first value for ever?
    fn is_kept(&self, at: RegOffset) -> bool {
        self.written.get(at as usize / 4).is_some_and(|w| !w)
    }

    /// Adds to what bytes are computed from; is that more than before?
    fn add(&mut self, at: RegOffset, bytes: u32, inputs: Inputs) -> bool {
        let mut more = false;
        for dword in at as usize / 4..(at as usize + bytes as usize).div_ceil(4) {
            if let (Some(to), Some(written)) = (self.inputs.get_mut(dword), self.written.get_mut(dword)) {
                more |= *to | inputs != *to;
                *to |= inputs;
                *written = true;
            }
        }
        more
    }
}

/// What each register may be computed from, whenever; `None`: the program is too large, or too knotty.
fn computed(p: &Program) -> Option<Computed> {
    let dwords = p.registers().bytes as usize / 4;
    if p.registers().bytes > MOST_BYTES || p.inputs().len() > MOST_INPUTS {
        return None;
    }
    let mut c = Computed { inputs: vec![0; dwords], written: vec![false; dwords] };
    for (k, slot) in p.inputs().iter().enumerate() {
        c.add(slot.offset, slot.bytes, 1 << k);
    }
    c.written.fill(false);
    let predicates = p.registers().address_base;
    for _ in 0..MOST_ROUNDS {
        let mut more = false;
        for i in p.code() {
            let inputs = match (i.op, p.messages().get(i.aux as usize)) {
                // Which way a channel goes is no part of an address.
                (Op::Cmp, _) => 0,
                (Op::Faddr, _) => SYMBOLS,
                (Op::Message, Some(message)) => loaded(message),
                _ => {
                    let mut inputs = 0;
                    i.reads(p.parts(), &mut |t| inputs |= read(p, &c, t, u32::from(i.channels)));
                    inputs
                }
            };
            i.writes(p.parts(), &mut |t| match (t, t.range(u32::from(i.channels))) {
                (Touched::Indirect { .. }, _) | (_, None) => {
                    let all = addressable(p);
                    more |= c.add(all.start, all.end - all.start, inputs);
                }
                (_, Some(r)) if r.end > predicates || i.op != Op::Cmp => {
                    more |= c.add(r.start, r.end - r.start, inputs);
                }
                _ => {}
            });
        }
        if !more {
            return Some(c);
        }
    }
    None
}

/// Where branches lead.
pub(super) fn targets(p: &Program) -> HashSet<u32> {
    let branches = p.code().iter().filter(|i| matches!(i.op, Op::Goto | Op::Call)).map(|i| i.aux);
    let entries = p.functions().iter().map(|f| f.entry);
    branches.chain(p.tables().iter().flatten().copied()).chain(entries).collect()
}

/// A register that nothing changes and that has the same value as this one, before an instruction: itself, or what was
/// moved to it right before.
fn settled(
    p: &Program,
    c: &Computed,
    targets: &HashSet<u32>,
    pc: usize,
    register: RegOffset,
) -> Option<RegOffset> {
    if c.is_kept(register) {
        return Some(register);
    }
    for at in (0..pc).rev().take(MOST_STEPS) {
        if targets.contains(&(at as u32 + 1)) {
            return None;
        }
        let i = p.code().get(at)?;
        if matches!(i.op, Op::Goto | Op::Ret | Op::Call | Op::Fcall | Op::Ifcall | Op::Fret | Op::SwitchJmp) {
            return None;
        }
        let mut writes = false;
        i.writes(p.parts(), &mut |t| {
            writes |=
                t.range(u32::from(i.channels)).is_none_or(|r| r.start < register + 4 && register < r.end);
        });
        if writes {
            return match (i.op, i.dst, i.src[0]) {
                (
                    Op::Mov,
                    Dst::Reg { offset, ty: to, .. },
                    Src::Reg { offset: from, ty, modifier: Modifier::None, .. },
                ) if i.no_mask
                    && i.pred.offset == 0
                    && i.channels == 1
                    && offset == register
                    && to.size() == 4
                    && ty.size() == 4 =>
                {
                    c.is_kept(from).then_some(from)
                }
                _ => None,
            };
        }
    }
    None
}

/// Is it what an atomic changes memory with?
fn is_operand(message: &Message, t: Touched) -> bool {
    let Message::Atomic(a) = message else { return false };
    t.channel(0).is_some_and(|r| a.src.contains(&Some(r.start)))
}

fn read(p: &Program, c: &Computed, t: Touched, channels: u32) -> Inputs {
    match (t, t.range(channels)) {
        (Touched::Indirect { .. }, _) | (_, None) => {
            let all = addressable(p);
            c.of(all.start, all.end - all.start)
        }
        (_, Some(r)) => c.of(r.start, r.end - r.start),
    }
}

/// What a message loads may be computed from: a pointer, unless it is single dwords or less.
fn loaded(message: &Message) -> Inputs {
    match message {
        Message::Simt(s) if s.element <= 4 && s.elements.count_ones() < 2 => LOADED,
        Message::Typed(_)
        | Message::Sample(_)
        | Message::Info(_)
        | Message::Status(_)
        | Message::TypedStatus(_) => LOADED,
        Message::Atomic(a) if a.slot <= 4 => LOADED,
        _ => UNKNOWN,
    }
}
