//! Races: what threads and groups access, in which order.

use envisa_lower::Message;
use envisa_machine::memory::Hint;
use envisa_machine::messages::{compares, leaves};
use envisa_machine::thread::{Access, AccessKind, AccessSpace, Machine};

use super::group::{Now, RaceAccess, SLM, THREAD};
use super::launch::Who;
use super::{Checks, FindingKind, Other};

impl Checks {
    /// Looks at the accesses of a message for races.
    pub(super) fn races(&mut self, m: &Machine<'_>, pc: u32, message: &Message, first: u32) {
        let number = self.sites.number(m.group.id);
        let scalar = m.env.program.code.get(pc as usize).is_some_and(|i| i.channels == 1);
        let mut part = (u8::MAX, 0);
        for a in &m.accesses {
            part = if part.0 == a.channel { (a.channel, part.1 + 1) } else { (a.channel, 0) };
            let key = match (a.space, a.place) {
                _ if a.outside || !self.sites.wanted(message, a, part.1) => continue,
                (AccessSpace::Slm, _) => SLM | a.address,
                // The launch's own allocations are a thread's own.
                (_, Some(place)) if !m.env.memory.is_private(place) => place,
                _ => continue,
            };
            let access = match a.kind {
                AccessKind::Read => RaceAccess::Read,
                AccessKind::Write => RaceAccess::Write,
                AccessKind::Atomic => RaceAccess::Atomic,
            };
            if access == RaceAccess::Atomic {
                self.group.synchronise(m.t.index, key & !3);
            }
            let mut buffer = [0u8; 16];
            let bytes: &[u8] = match a.kind {
                AccessKind::Write => stored(m, message, a, first, part.1, &mut buffer),
                _ => &[],
            };
            let channel = match message {
                _ if self.facts.in_step => THREAD,
                Message::Simt(_) | Message::Typed(_) if m.t.mask.count_ones() < 2 => a.channel,
                // One access for all channels.
                Message::Simt(_) if scalar => THREAD,
                Message::Simt(_) | Message::Typed(_) => a.channel,
                _ => THREAD,
            };
            let loads = access == RaceAccess::Atomic && loads(m, message, a, first);
            let compares = matches!(message, Message::Atomic(a) if compares(a));
            let across = !self.group.has_acquired() && key & SLM == 0;
            let who = if across { Who::new(number, m.t.index, pc) } else { None };
            let end = key + a.bytes as u64;
            let mut at = key;
            while at < end {
                let size = if at % 4 == 0 && end - at >= 4 { 4 } else { 1 };
                let value = bytes
                    .get((at - key) as usize..)
                    .map_or(0, |b| (0..size.min(b.len())).fold(0, |v, i| v | u32::from(b[i]) << (8 * i)));
                let now = Now { thread: m.t.index, pc, channel, access, value, loads, compares };
                if let Some((past, with)) = self.group.access(at, size as u32, now) {
                    let other = {
                        let (instruction, function, span) = self.sites.at(past.pc);
                        let (thread, group) = (past.thread, m.group.id);
                        Other { access: with, instruction, function, span, thread, group }
                    };
                    let channel = a.channel as u32;
                    self.note_pair(m, (pc, past.pc), FindingKind::Race, channel, |s| s.place(at))
                        .race
                        .get_or_insert((access, other));
                }
                if let Some(who) = who.filter(|_| !loads) {
                    self.launch.access(at, size as u32, who, access, value);
                }
                at += size as u64;
            }
        }
        // From here on another group may have told this one that it is done.
        if m.accesses.iter().any(|a| a.kind == AccessKind::Atomic && a.space != AccessSpace::Slm) {
            let told = match message {
                Message::Atomic(a) => a.dst.is_some(),
                Message::TypedAtomic(a) => a.dst.is_some(),
                _ => true,
            };
            if told {
                self.group.told();
            }
        }
    }
}

/// Does an atomic leave what is there?
fn loads(m: &Machine<'_>, message: &Message, a: &Access, first: u32) -> bool {
    let Message::Atomic(atomic) = message else { return false };
    leaves(atomic, &m.t.regs, u32::from(a.channel).saturating_sub(first))
}

/// What a store wrote: from its registers, else as it is in memory now.
fn stored<'a>(
    m: &'a Machine<'_>,
    message: &Message,
    a: &Access,
    first: u32,
    part: u32,
    buffer: &'a mut [u8; 16],
) -> &'a [u8] {
    match message {
        Message::Simt(s) => {
            let Some(data) = s.data else { return &[] };
            let channel = (a.channel as u32).saturating_sub(first);
            let at = data + part * s.component_stride + channel * s.slot as u32;
            m.t.regs.slice(at + if s.upper { 2 } else { 0 }, s.element as u32)
        }
        Message::Block(b) => b.data.map_or(&[], |d| m.t.regs.slice(d, b.bytes)),
        _ => {
            let n = (a.bytes as usize).min(buffer.len());
            let bytes = &mut buffer[..n];
            if let Some(place) = a.place
                && let Some(l) = m.env.memory.find(place, n, false, &mut Hint::default())
            {
                l.block.copy_out(l.offset, bytes);
            }
            bytes
        }
    }
}
