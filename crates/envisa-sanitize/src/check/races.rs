//! Races: what threads and groups access, in which order.

use envisa_lower::{Inst, Message};
use envisa_machine::memory::Hint;
use envisa_machine::messages::{compares, left_memory_unchanged};
use envisa_machine::thread::{Access, AccessKind, AccessRow, AccessSpace, Machine};

use super::adjacent_accesses::Row;
use super::interest::Class;
use super::order_by_atomics::Accessing;
use super::races_between_groups::Accessor;
use super::races_in_group::{
    ChannelRange, CurrentAccesses, PastAccess, RaceAccess, Run, SLM, THREAD, is_copy, is_several,
    known_channel, several_channels,
};
use super::{Checks, FindingKind, OtherAccess};

impl Checks {
    /// Looks at the accesses of a message for races.
    pub(super) fn races(&mut self, m: &Machine<'_>, pc: u32, message: &Message, first: u32, rows: &[Row]) {
        let number = self.sites.number(m.group.id);
        let own = self.channel_of_all(m, pc, message, rows);
        self.changed.clear();
        for row in rows {
            let key = match (row.access.space, row.access.place) {
                _ if row.access.outside => continue,
                (AccessSpace::Slm, _) => SLM | row.access.address,
                (_, Some(place)) => match self.class(m, place) {
                    Class::Watched => place,
                    Class::Quiet if row.access.kind == AccessKind::Read => continue,
                    Class::Quiet => {
                        self.note_unexpected_access(m, place);
                        place
                    }
                    // The launch's own allocations are a thread's own.
                    Class::Own => continue,
                    Class::Apart if self.elsewhere.has_own_places(message_number(m, pc)) => continue,
                    Class::Apart => {
                        self.note_unexpected_access(m, place);
                        place
                    }
                },
                _ => continue,
            };
            let who = Accessor::new(number, m.t.index, pc).filter(|_| key & SLM == 0);
            self.race_row(m, (pc, message, first), (row, key), who, own);
        }
        // All atomics of a message are of one size.
        if let (Some(row), Some(who)) =
            (rows.first().filter(|_| !self.changed.is_empty()), Accessor::new(number, m.t.index, pc))
        {
            self.launch.accesses(&self.changed, row.access.bytes, who, RaceAccess::Atomic);
        }
        // From here on another group may have told this one that it is done.
        let changes =
            |row: &AccessRow| row.first.kind == AccessKind::Atomic && row.first.space != AccessSpace::Slm;
        if m.accesses.rows().iter().any(changes) && gives(message) {
            self.group.note_atomic_result();
        }
    }
}

impl Checks {
    /// Whose a message's accesses are, if that is not as its channels say. One channel, or some whatever the mask, do what
    /// all active work-items do: they load and change it together, and of what they store one value was picked. With one
    /// active work-item it is that one's.
    fn channel_of_all(&self, m: &Machine<'_>, pc: u32, message: &Message, rows: &[Row]) -> Option<u8> {
        if self.facts.in_step {
            return Some(THREAD);
        }
        let simd = m.env.program.simd();
        // Blocks that have an element for each channel are the thread's; smaller ones are of what all of them do.
        if !matches!(message, Message::Simt(_) | Message::Atomic(_) | Message::Typed(_) | Message::Sample(_))
            && !matches!(message, Message::Block(b) if b.bytes < simd)
        {
            return Some(THREAD);
        }
        let together = |i: &Inst| i.channels == 1 || i.no_mask && u32::from(i.channels) < simd;
        m.env.program.code().get(pc as usize).filter(|i| together(i))?;
        let writes = rows.iter().any(|row| row.access.kind == AccessKind::Write);
        Some(match (m.t.mask.count_ones(), writes) {
            (1, _) => m.t.mask.trailing_zeros() as u8,
            (_, true) => THREAD,
            (_, false) => several_channels(m.t.mask.trailing_zeros() as u8),
        })
    }

    /// Looks at a row of accesses, whose first is at this key.
    fn race_row(
        &mut self,
        m: &Machine<'_>,
        (pc, message, first): (u32, &Message, u32),
        (row, key): (&Row, u64),
        who: Option<Accessor>,
        own: Option<u8>,
    ) {
        let access = match row.access.kind {
            AccessKind::Atomic => RaceAccess::Atomic,
            // An atomic's: what it stores is its change.
            AccessKind::Read if self.changes(m, key) => return,
            AccessKind::Write if self.changes(m, key) => RaceAccess::Atomic,
            AccessKind::Read => RaceAccess::Read,
            AccessKind::Write => RaceAccess::Write,
        };
        let atomic = access == RaceAccess::Atomic;
        let told = self.group.has_acquired();
        let handed = who.filter(|_| self.facts.program.hands_over());
        let who = who.filter(|_| !told);
        let compares = matches!(message, Message::Atomic(a) if compares(a));
        let images = is_of_images(message);
        let now = |loads| CurrentAccesses { thread: m.t.index, pc, access, loads, compares, images };
        // What several channels read is read once.
        let count = if row.same { 1 } else { row.count };
        let accesses = &m.accesses.rows()[row.from..row.from + if row.one { 1 } else { count }];
        let bytes = row.access.bytes;
        let by = match (own, accesses) {
            _ if atomic => None,
            (Some(channel), _) => Some(ChannelRange::single(channel)),
            _ if row.same && row.count > 1 => {
                Some(ChannelRange::single(several_channels(row.access.channel)))
            }
            _ if row.one => ChannelRange::equal_parts(row.access.channel, row.parts * bytes),
            (_, [a]) => Some(ChannelRange::single(a.first.channel)),
            (_, all) => channels_of(all)
                .and_then(|parts| ChannelRange::equal_parts(row.access.channel, parts * bytes)),
        };
        let mut buffer = std::mem::take(&mut self.stored);
        if let Some(by) = by {
            let values = match access {
                RaceAccess::Write => stored_by_row(m, message, (row, accesses), first, &mut buffer),
                _ => &[],
            };
            let bytes = bytes.wrapping_mul(count as u32);
            let run = Run { key, bytes, by, values };
            self.race_run(m, (pc, row.access.channel), &run, now(false), who);
            if let Some(handed) = handed {
                let by = Accessing { who: handed, told, clock: self.group.clock(m.t.index) };
                self.handed.access(&run, by, access);
            }
            self.stored = buffer;
            return;
        }
        let (mut part, mut last) = (row.part, row.access.channel);
        // What atomics change is told of a message at once, where that is all that is told.
        let batch = atomic && bytes <= 8;
        for (n, a) in accesses.iter().flat_map(|row| row.iter()).take(count).enumerate() {
            let a = &a;
            let key = key.wrapping_add(n as u64 * u64::from(bytes));
            if n > 0 {
                (last, part) = (a.channel, if a.channel == last { part + 1 } else { 0 });
            }
            let mut few = [0u8; 16];
            let values = match a.kind {
                AccessKind::Write => stored(m, message, a, first, part, &mut few),
                _ => &[],
            };
            let loads = atomic && loads(m, message, a, first);
            let by = ChannelRange::single(own.unwrap_or(a.channel));
            let run = Run { key, bytes, by, values };
            let who = who.filter(|_| !loads);
            if batch && who.is_some() {
                self.changed.push((key, own.unwrap_or(a.channel)));
            }
            self.race_run(m, (pc, a.channel), &run, now(loads), who.filter(|_| !batch));
            if atomic {
                self.group.synchronise(m.t.index, key & !3, !loads, gives(message));
                if let Some(handed) = handed {
                    let covers = (!loads).then(|| self.group.covered(m.t.index));
                    self.handed.atomic(handed.group(), key & !3, covers.as_deref(), gives(message));
                }
            }
        }
        self.stored = buffer;
    }

    /// Is what is accessed here a part of an atomic?
    fn changes(&self, m: &Machine<'_>, key: u64) -> bool {
        key & SLM != 0 && self.group.is_changing(m.t.index)
    }

    /// Looks at accesses side by side.
    fn race_run(
        &mut self,
        m: &Machine<'_>,
        (pc, first): (u32, u8),
        run: &Run<'_>,
        now: CurrentAccesses,
        who: Option<Accessor>,
    ) {
        let mut found = Vec::new();
        self.group.access(run, now, |at, channel, race| found.push((at, channel, race)));
        for (at, channel, race) in found {
            let channel = known_channel(channel).unwrap_or(first);
            self.race(m, (pc, now.access, channel), at, race);
        }
        if let Some(who) = who {
            self.launch.access(run, who, now.access);
        }
    }

    /// Complains of a race.
    #[cold]
    pub(super) fn race(
        &mut self,
        m: &Machine<'_>,
        (pc, access, channel): (u32, RaceAccess, u8),
        at: u64,
        (past, with): (PastAccess, RaceAccess),
    ) {
        let (instruction, function, span) = self.sites.at(past.pc);
        let (thread, group, copies) = (past.thread, m.group.id, is_copy(past.thread));
        let channel_there = known_channel(past.channel).map(u32::from);
        let orderings = Some(past.clock.saturating_sub(1));
        let other = OtherAccess {
            access: with,
            instruction,
            function,
            span,
            channel: channel_there,
            several: is_several(past.channel),
            thread,
            group,
            orderings: orderings.filter(|_| !copies),
            copies,
        };
        let mine = self.group.orderings(m.t.index);
        let here = self.group.is_copying(m.t.index);
        self.early.race(at, [(pc, access), (past.pc, with)]);
        let f = self.note_pair(m, (pc, past.pc), FindingKind::Race, u32::from(channel), |s| s.place(at));
        f.memory.get_or_insert(at);
        if f.race.is_none() {
            (f.race, f.orderings, f.copies) = (Some((access, other)), Some(mine).filter(|_| !here), here);
        }
    }
}

/// Which of the program's messages an instruction has.
fn message_number(m: &Machine<'_>, pc: u32) -> usize {
    m.env.program.code().get(pc as usize).map_or(usize::MAX, |i| i.aux as usize)
}

/// How many accesses each channel has, if neighbouring channels have as many one after the other.
fn channels_of(accesses: &[AccessRow]) -> Option<u32> {
    let first = accesses.first()?.first.channel;
    let parts = accesses.iter().take_while(|a| a.first.channel == first).count();
    let whole = accesses.len().is_multiple_of(parts);
    let next = |(n, a): (usize, &AccessRow)| usize::from(a.first.channel) == usize::from(first) + n / parts;
    (whole && accesses.iter().enumerate().all(next)).then_some(parts as u32)
}

/// What the accesses of a row stored, one after the other.
fn stored_by_row<'a>(
    m: &'a Machine<'_>,
    message: &Message,
    (row, accesses): (&Row, &[AccessRow]),
    first: u32,
    buffer: &'a mut Vec<u8>,
) -> &'a [u8] {
    // One whole element a channel: as they lie in registers.
    if let Message::Simt(s) = message
        && s.elements.count_ones() == 1
        && s.element == s.slot
        && let Some(data) = s.data
        && let (Some(from), Some(to)) = (accesses.first(), accesses.last())
        && (row.one || usize::from(to.first.channel - from.first.channel) + 1 == accesses.len())
    {
        let channel = u32::from(row.access.channel).saturating_sub(first);
        let slot = u32::from(s.slot);
        return m.t.regs.slice(data + slot * channel, slot * row.count as u32);
    }
    if let (Message::Block(b), [_]) = (message, accesses) {
        return b.data.map_or(&[], |d| m.t.regs.slice(d, b.bytes));
    }
    buffer.clear();
    // Several dwords a channel.
    if let Message::Simt(s) = message
        && (s.element, s.slot, row.one) == (4, 4, true)
        && let Some(data) = s.data
    {
        let (channel, parts) = (u32::from(row.access.channel).saturating_sub(first), row.parts.max(1));
        for n in 0..row.count as u32 {
            let register = data + (row.part + n % parts) * s.component_stride + (channel + n / parts) * 4;
            buffer.extend_from_slice(m.t.regs.slice(register, 4));
        }
        return buffer;
    }
    let (mut part, mut last) = (row.part, row.access.channel);
    for (n, a) in accesses.iter().flat_map(|row| row.iter()).enumerate() {
        let a = &a;
        if n > 0 {
            (last, part) = (a.channel, if a.channel == last { part + 1 } else { 0 });
        }
        let mut few = [0u8; 16];
        let end = buffer.len() + a.bytes as usize;
        buffer.extend_from_slice(stored(m, message, a, first, part, &mut few));
        buffer.resize(end, 0);
    }
    buffer
}

/// Does a message access images?
fn is_of_images(message: &Message) -> bool {
    matches!(
        message,
        Message::Typed(_)
            | Message::TypedAtomic(_)
            | Message::Sample(_)
            | Message::Pixels(_)
            | Message::Media(_)
    )
}

/// Does an atomic give its channels what was there?
fn gives(message: &Message) -> bool {
    match message {
        Message::Atomic(a) => a.dst.is_some(),
        Message::TypedAtomic(a) => a.dst.is_some(),
        _ => true,
    }
}

/// Does an atomic leave what is there?
fn loads(m: &Machine<'_>, message: &Message, a: &Access, first: u32) -> bool {
    let Message::Atomic(atomic) = message else { return false };
    left_memory_unchanged(atomic, &m.t.regs, u32::from(a.channel).saturating_sub(first))
}

/// What a store wrote: from its registers, else as it is in memory now.
pub(super) fn stored<'a>(
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
