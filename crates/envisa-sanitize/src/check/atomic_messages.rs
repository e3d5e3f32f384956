//! Atomics of dwords in shared local memory and in buffers of which all that the checks want to know is known before they
//! are executed, as of [`local_messages`](super::local_messages).

use std::ops::Range;

use envisa_lower::{Atomic, Extend, Inst, Message, Op, Space, Src};
use envisa_machine::messages::{compares, left_memory_unchanged};
use envisa_machine::thread::{AccessKind, Machine, Mask};

use super::Checks;
use super::interest::Class;
use super::local_messages::inside;
use super::memory_content::ContentPlace;
use super::races_between_groups::Accessor;
use super::races_in_group::{CurrentAccesses, RaceAccess, SLM, THREAD};
use super::report_places::LOCAL_OFFSET;

/// What is known of a message before the program runs.
#[derive(Clone, Debug)]
pub(super) struct AtomicMessage {
    local: bool,
    /// Where addresses are, and what is added to them.
    address: u32,
    offset: u64,
    first: u32,
    /// It gives what was there.
    gives: bool,
    /// The part of shared local memory where one was inside.
    inside: Range<u32>,
}

impl AtomicMessage {
    /// `None` of messages that are looked at when they are executed.
    fn of(i: &Inst, message: Option<&Message>, simd: u32) -> Option<AtomicMessage> {
        let Some(Message::Atomic(a)) = message.filter(|_| i.op == Op::Message) else { return None };
        // What is done once for all channels is none of theirs.
        let all = i.channels > 1 && !(i.no_mask && u32::from(i.channels) < simd) && i.channels <= 32;
        let none = |s: &Src| matches!(s, Src::None);
        let local = match (&a.space, a.address_bytes) {
            (Space::Slm, 4) => true,
            (Space::Flat, 8) => false,
            _ => return None,
        };
        let direct = a.extend == Extend::None && a.scale == 1 && none(&a.base) && none(&a.origin);
        let plain = (a.element, a.slot) == (4, 4) && !compares(a);
        (all && direct && plain).then(|| AtomicMessage {
            local,
            address: a.address,
            offset: a.offset as u64,
            first: i.first.into(),
            gives: a.dst.is_some(),
            inside: 0..0,
        })
    }

    /// Where a channel goes.
    fn place(&self, m: &Machine<'_>, lane: u32) -> u64 {
        match self.local {
            true => {
                let at = m.t.regs.peek::<u32>(self.address + 4 * lane);
                u64::from(at.wrapping_add(self.offset as u32)) & LOCAL_OFFSET
            }
            false => m.t.regs.peek::<u64>(self.address + 8 * lane).wrapping_add(self.offset),
        }
    }
}

/// An atomic of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct OneAtomic {
    pub key: u64,
    pub channel: u8,
    /// It leaves what is there.
    pub loads: bool,
}

impl Checks {
    /// Finds what can be known of the atomics of a program.
    pub(super) fn find_atomic_messages(&mut self, m: &Machine<'_>) {
        let (p, facts) = (m.env.program, &self.facts);
        self.atomic_messages.clear();
        let whole = facts.constant.is_empty() && self.contents.fresh.is_empty();
        if !self.selects || facts.program.hands_over() {
            return;
        }
        let proof = &self.sites.program.proof;
        let of = |(i, pc): (&Inst, u32)| {
            let known = proof.is_proven(pc) && !proof.touches(pc);
            let found = AtomicMessage::of(i, p.messages().get(i.aux as usize), p.simd());
            found.filter(|a| known && (a.local || whole))
        };
        self.atomic_messages = p.code().iter().zip(0..).map(of).collect();
    }

    /// Looks at atomics before they are executed; false if they have to be told of.
    pub(super) fn atomic_message_passes(&mut self, m: &Machine<'_>, pc: u32, mask: Mask) -> bool {
        let Some(Some(message)) = self.atomic_messages.get(pc as usize) else { return false };
        let i = m.env.program.code().get(pc as usize).map_or(0, |i| i.aux as usize);
        let Some(Message::Atomic(atomic)) = m.env.program.messages().get(i) else { return false };
        let (message, thread) = (message.clone(), m.t.index);
        self.group.resume_thread(thread);
        if self.shadows.get(thread as usize).is_none_or(|s| s.spoilt) || self.group.is_apart(thread) {
            return false;
        }
        let mut all = std::mem::take(&mut self.atomics);
        let passes = self.find_atomics(m, pc, (&message, atomic), mask, &mut all)
            && self.group.atomics_at_once(now(thread, pc), &all, message.gives);
        if passes && !message.local {
            self.changed.clear();
            self.changed.extend(all.iter().filter(|a| !a.loads).map(|a| (a.key, a.channel)));
            let who = Accessor::new(self.sites.number(m.group.id), thread, pc);
            if let Some(who) = who.filter(|_| !self.group.has_acquired()) {
                self.launch.accesses(&self.changed, 4, who, RaceAccess::Atomic);
            }
            if message.gives && !all.is_empty() {
                self.group.note_atomic_result();
            }
            if self.facts.footprint {
                all.iter().for_each(|a| self.told.add(a.key, 4, AccessKind::Atomic));
            }
        }
        self.atomics = all;
        passes
    }

    /// The atomics of a message's channels; false if one goes where something else is to be looked at.
    fn find_atomics(
        &mut self,
        m: &Machine<'_>,
        pc: u32,
        (message, atomic): (&AtomicMessage, &Atomic),
        mask: Mask,
        all: &mut Vec<OneAtomic>,
    ) -> bool {
        all.clear();
        for lane in (0..32).filter(|k| mask >> k & 1 != 0) {
            let at = message.place(m, lane);
            let is_inside = at & 3 == 0
                && match message.local {
                    true => self.is_local_content(m, pc, at as u32),
                    false => {
                        self.class(m, at) == Class::Watched
                            && self.last.0.contains(&at)
                            && self.last.0.contains(&at.wrapping_add(3))
                    }
                };
            if !is_inside {
                return false;
            }
            let channel = if self.facts.in_step { THREAD } else { (message.first + lane) as u8 };
            let loads = left_memory_unchanged(atomic, &m.t.regs, lane);
            all.push(OneAtomic { key: if message.local { SLM | at } else { at }, channel, loads });
        }
        true
    }

    /// Has a dword of shared local memory content, and is it where an atomic may go?
    fn is_local_content(&mut self, m: &Machine<'_>, pc: u32, at: u32) -> bool {
        let Some(Some(message)) = self.atomic_messages.get_mut(pc as usize) else { return false };
        let known = |range: &Range<u32>| range.start <= at && at + 4 <= range.end;
        if !known(&message.inside) {
            message.inside = inside(m, &self.sites.local_variables, at);
            if !known(&message.inside) {
                return false;
            }
        }
        self.contents.all(m.t.index, ContentPlace::Local(at.into()), 4)
    }
}

fn now(thread: u32, pc: u32) -> CurrentAccesses {
    CurrentAccesses { thread, pc, access: RaceAccess::Atomic, loads: false, compares: false, images: false }
}
