//! Races: what threads and groups access, in which order.

use envisa_lower::{Inst, Message};
use envisa_machine::memory::Hint;
use envisa_machine::messages::{compares, leaves};
use envisa_machine::thread::{Access, AccessKind, AccessSpace, Machine};

use super::group::{Now, Past, RaceAccess, SEVERAL, SLM, THREAD};
use super::launch::Who;
use super::rows::Row;
use super::{Checks, FindingKind, Other};

impl Checks {
    /// Looks at the accesses of a message for races.
    pub(super) fn races(&mut self, m: &Machine<'_>, pc: u32, message: &Message, first: u32, rows: &[Row]) {
        let number = self.sites.number(m.group.id);
        let scalar = m.env.program.code().get(pc as usize).is_some_and(|i| i.channels == 1);
        // Some channels, whatever the mask: parts of a vector that the compiler made of what all work-items do, or one.
        let vector = |i: &Inst| i.no_mask && i.channels > 1 && u32::from(i.channels) < m.env.program.simd();
        let vector = m.env.program.code().get(pc as usize).is_some_and(vector);
        let threads_own = match message {
            _ if self.facts.in_step => true,
            Message::Simt(_) => vector || scalar && m.t.mask.count_ones() >= 2,
            Message::Typed(_) => false,
            _ => true,
        };
        for row in rows {
            let key = match (row.access.space, row.access.place) {
                _ if row.access.outside => continue,
                (AccessSpace::Slm, _) => SLM | row.access.address,
                // The launch's own allocations are a thread's own.
                (_, Some(place)) if !m.env.memory.is_private(place) => place,
                _ => continue,
            };
            let across = !self.group.has_acquired() && key & SLM == 0;
            let who = if across { Who::new(number, m.t.index, pc) } else { None };
            self.race_row(m, (pc, message, first), (row, key), who, threads_own);
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

impl Checks {
    /// Looks at a row of accesses, whose first is at this key.
    fn race_row(
        &mut self,
        m: &Machine<'_>,
        (pc, message, first): (u32, &Message, u32),
        (row, mut key): (&Row, u64),
        who: Option<Who>,
        threads_own: bool,
    ) {
        let access = match row.access.kind {
            AccessKind::Read => RaceAccess::Read,
            AccessKind::Write => RaceAccess::Write,
            AccessKind::Atomic => RaceAccess::Atomic,
        };
        let atomic = access == RaceAccess::Atomic;
        let dwords = !atomic && key % 4 == 0 && row.access.bytes.is_multiple_of(4);
        let compares = matches!(message, Message::Atomic(a) if compares(a));
        let now = |loads| Now { thread: m.t.index, pc, access, loads, compares };
        let mut by = std::mem::take(&mut self.by);
        by.clear();
        let (start, mut part) = (key, row.part);
        let accesses = &m.accesses[row.from..row.from + row.count];
        let mut last = row.access.channel;
        if let (true, Some(values)) = (dwords && !threads_own && !row.same, values(m, message, row, first)) {
            let channels = row.access.channel..;
            by.extend(channels.zip(values.chunks_exact(4)).map(|(c, b)| (c, dword(b))));
            self.race_part(m, (pc, row.access.channel), (start, 4), now(false), &by);
            if let Some(who) = who {
                self.launch.dwords(start, &by, who, access);
            }
            self.by = by;
            return;
        }
        // What several channels read is read once.
        for (n, a) in accesses.iter().take(if row.same { 1 } else { row.count }).enumerate() {
            if n > 0 {
                (last, part) = (a.channel, if a.channel == last { part + 1 } else { 0 });
            }
            if atomic {
                self.group.synchronise(m.t.index, key & !3);
            }
            let mut buffer = [0u8; 16];
            let bytes: &[u8] = match a.kind {
                AccessKind::Write => stored(m, message, a, first, part, &mut buffer),
                _ => &[],
            };
            let channel = match threads_own {
                true => THREAD,
                false if row.same && row.count > 1 => SEVERAL,
                false => a.channel,
            };
            let end = key + u64::from(a.bytes);
            if dwords {
                let value = |at: usize| match bytes.get(at..at + 4) {
                    Some(b) => u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
                    None => 0,
                };
                by.extend((0..a.bytes as usize).step_by(4).map(|at| (channel, value(at))));
                key = end;
                continue;
            }
            let loads = atomic && loads(m, message, a, first);
            let mut at = key;
            while at < end {
                let size = if at % 4 == 0 && end - at >= 4 { 4 } else { 1 };
                let value = bytes
                    .get((at - key) as usize..)
                    .map_or(0, |b| (0..size.min(b.len())).fold(0, |v, i| v | u32::from(b[i]) << (8 * i)));
                self.race_part(m, (pc, a.channel), (at, size as u32), now(loads), &[(channel, value)]);
                if let Some(who) = who.filter(|_| !loads) {
                    self.launch.access(at, size as u32, who, access, value);
                }
                at += size as u64;
            }
            key = end;
        }
        if dwords {
            self.race_part(m, (pc, row.access.channel), (start, 4), now(false), &by);
            if let Some(who) = who {
                self.launch.dwords(start, &by, who, access);
            }
        }
        self.by = by;
    }

    /// Looks at accesses of one size, side by side.
    fn race_part(
        &mut self,
        m: &Machine<'_>,
        (pc, first): (u32, u8),
        (key, size): (u64, u32),
        now: Now,
        by: &[(u8, u32)],
    ) {
        let mut found = Vec::new();
        self.group.access(key, size, now, by, |at, race| found.push((at, race)));
        for (at, race) in found {
            let n = (at - key) / u64::from(size);
            let channel = by.get(n as usize).map_or(first, |b| b.0);
            let channel = if channel == THREAD || channel == SEVERAL { first } else { channel };
            self.race(m, (pc, now.access, channel), at, race);
        }
    }

    /// Complains of a race.
    #[cold]
    fn race(
        &mut self,
        m: &Machine<'_>,
        (pc, access, channel): (u32, RaceAccess, u8),
        at: u64,
        (past, with): (Past, RaceAccess),
    ) {
        let (instruction, function, span) = self.sites.at(past.pc);
        let (thread, group) = (past.thread, m.group.id);
        let other = Other { access: with, instruction, function, span, thread, group };
        self.note_pair(m, (pc, past.pc), FindingKind::Race, u32::from(channel), |s| s.place(at))
            .race
            .get_or_insert((access, other));
    }
}

/// What a row of dwords of neighbouring channels moves, as it is in registers.
fn values<'a>(m: &'a Machine<'_>, message: &Message, row: &Row, first: u32) -> Option<&'a [u8]> {
    let Message::Simt(s) = message else { return None };
    let data = s.data.filter(|_| s.elements.count_ones() == 1 && s.element == 4 && s.slot == 4)?;
    // Accesses are in the order of channels, one each: the last one's tells whether some are left out.
    let last = m.accesses.get(row.from + row.count - 1)?;
    if usize::from(last.channel - row.access.channel) + 1 != row.count {
        return None;
    }
    let channel = u32::from(row.access.channel).saturating_sub(first);
    Some(m.t.regs.slice(data + 4 * channel, 4 * row.count as u32))
}

fn dword(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |x, b| x << 8 | u32::from(*b))
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
