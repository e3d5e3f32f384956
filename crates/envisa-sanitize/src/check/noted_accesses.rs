//! Accesses to shared local memory that native code notes by itself, in a shadow of that memory
//! ([`envisa_machine::local_shadow`]): those of the interval between two barriers at which all of the group's threads wait, and
//! that order all that any of them did there before. Within one, the shadow tells whether an access may race or read what
//! nothing wrote. If one may, or if local memory is accessed in another way, all that was noted in the interval is told to the
//! checks as if it were done now, and they look at everything until the next interval begins.

use std::sync::atomic::Ordering;

use envisa_lower::{Inst, Op, Space};
use envisa_machine::local_shadow::{
    BYTES, CHANNEL_BITS, INTERVAL, MESSAGE, MOST_INTERVALS, MOST_MESSAGES, MOST_THREADS, Noted, Noting, Part,
    Shadow, THREAD, THREAD_BITS,
};
use envisa_machine::thread::Machine;

use super::Checks;
use super::past_accesses::{PastAccess, WHOLE};
use super::races_in_group::{RaceAccess, SLM};

/// The interval of what was written before the group's first one that is noted.
const WRITTEN: u32 = 1 << INTERVAL;
/// Intervals that end because something has to be looked at, before it is asked whether noting is worth it.
const MANY: u32 = 8;

/// What is noted of the group that runs.
#[derive(Debug, Default)]
pub(super) struct NotedAccesses {
    /// The messages, by their numbers; none if nothing is noted.
    messages: Vec<u32>,
    /// By program counter: does it access shared local memory?
    local: Vec<bool>,
    shadow: Shadow,
    interval: u32,
    /// Native code notes; local memory was accessed in another way since the interval before.
    on: bool,
    left: bool,
    /// Rounds of the barrier that are over.
    round: u32,
    /// By thread: how far it had come when the interval began, and when it last accessed local memory.
    begin: Vec<u32>,
    latest: Vec<u32>,
    /// Intervals, and those of them that were left.
    intervals: u32,
    leaves: u32,
}

impl NotedAccesses {
    /// The last word of earlier intervals.
    fn earlier(&self) -> u32 {
        (self.interval << INTERVAL) - 1
    }

    /// The next interval begins, of a group that has so many dwords.
    fn advance(&mut self, dwords: usize) {
        self.interval += 1;
        self.intervals = self.intervals.saturating_add(1);
        if self.interval >= MOST_INTERVALS || self.interval < 2 {
            self.interval = 2;
            for d in 0..BYTES as usize / 4 {
                let written = d < dwords && self.shadow.get(Part::Write, d) != 0;
                self.shadow.set(Part::Write, d, if written { WRITTEN } else { 0 });
                self.shadow.set(Part::Read, d, 0);
                self.shadow.set(Part::Other, d, 0);
            }
        }
    }

    /// Is it worth to note?
    fn pays(&self) -> bool {
        self.leaves < MANY || self.leaves < self.intervals / 4
    }
}

/// The number of dwords of a group's local memory.
fn dwords(m: &Machine<'_>) -> usize {
    m.slm.len().div_ceil(4)
}

impl Checks {
    /// The messages of a program that may be noted.
    pub(super) fn noted_messages(&self) -> Noted {
        let all = self.local_messages.iter().zip(0u32..);
        let mut messages: Vec<u32> = all.filter(|(m, _)| m.is_some()).map(|(_, pc)| pc).collect();
        messages.truncate(MOST_MESSAGES);
        Noted { messages, in_step: self.facts.in_step || self.facts.sub_groups }
    }

    /// A launch begins.
    pub(super) fn find_noted_accesses(&mut self, m: &Machine<'_>) {
        let noted = m.env.interest.get().map(|i| i.noted.messages.clone());
        self.noted.messages =
            noted.filter(|_| self.selects && m.slm.len() <= BYTES as usize).unwrap_or_default();
        let p = m.env.program;
        let local = |i: &Inst| {
            i.op == Op::Message
                && p.messages().get(i.aux as usize).is_some_and(|m| m.space() == Some(&Space::Slm))
        };
        self.noted.local = p.code().iter().map(local).collect();
    }

    /// A thread starts, as the first of its group or not.
    pub(super) fn begin_noting(&mut self, m: &Machine<'_>, first: bool) {
        if self.noted.messages.is_empty() {
            return;
        }
        let (noted, t) = (&mut self.noted, m.t.index as usize);
        if first {
            let words = noted.shadow.part(Part::Write).iter().take(dwords(m));
            words.for_each(|w| w.store(0, Ordering::Relaxed));
            noted.advance(dwords(m));
            (noted.on, noted.left, noted.round) = (noted.pays(), false, 0);
            noted.begin.clear();
            noted.latest.clear();
        }
        if noted.begin.len() <= t {
            noted.begin.resize(t + 1, 0);
            noted.latest.resize(t + 1, 0);
        }
        noted.begin[t] = self.group.clock(m.t.index);
        noted.latest[t] = noted.begin[t];
    }

    /// What native code notes the accesses of a thread with, which goes on.
    pub(super) fn noting(&mut self, m: &Machine<'_>) -> Option<Noting<'_>> {
        if self.noted.messages.is_empty() {
            return None;
        }
        let thread = m.t.index;
        self.next_interval(m);
        let certain = self.shadows.get(thread as usize).is_some_and(|s| !s.spoilt)
            && !self.group.is_apart(thread)
            && self.noted.begin.get(thread as usize) == Some(&self.group.clock(thread))
            && thread < MOST_THREADS;
        let noted = &self.noted;
        let earlier = if noted.on && certain { noted.earlier() } else { 0 };
        let first = noted.interval << INTERVAL | (thread << THREAD & THREAD_BITS);
        Some(Noting { shadow: &noted.shadow, earlier, first })
    }

    /// An instruction is about to be looked at, or was executed: if it accesses local memory, nothing is noted any more.
    pub(super) fn leave_interval(&mut self, m: &Machine<'_>, pc: u32) {
        if self.noted.messages.is_empty() || self.noted.local.get(pc as usize) != Some(&true) {
            return;
        }
        self.next_interval(m);
        if let Some(latest) = self.noted.latest.get_mut(m.t.index as usize) {
            *latest = self.group.clock(m.t.index);
        }
        if std::mem::take(&mut self.noted.on) {
            (self.noted.left, self.noted.leaves) = (true, self.noted.leaves.saturating_add(1));
            self.tell_noted(m);
        }
    }

    /// The checks are told of all that was noted in the interval, and of what was written before.
    fn tell_noted(&mut self, m: &Machine<'_>) {
        let (noted, earlier) = (&self.noted, self.noted.earlier());
        let [writes, reads, others] = [Part::Write, Part::Read, Part::Other].map(|p| noted.shadow.part(p));
        for (d, ((write, read), other)) in writes.iter().zip(reads).zip(others).enumerate().take(dwords(m)) {
            let [write, read, other] = [write, read, other].map(|w| w.load(Ordering::Relaxed));
            if write == 0 && read.max(other) <= earlier {
                continue;
            }
            let at = 4 * d as u64;
            if write != 0 {
                self.contents.set_local_dword(at);
            }
            let all = [(RaceAccess::Read, read), (RaceAccess::Read, other), (RaceAccess::Write, write)];
            for (access, word) in all.into_iter().filter(|(_, w)| *w > earlier) {
                let thread = (word & THREAD_BITS) >> THREAD;
                let message = (word >> MESSAGE) as usize % MOST_MESSAGES;
                let Some(pc) = noted.messages.get(message) else { continue };
                let channel = if self.facts.in_step { WHOLE } else { (word & CHANNEL_BITS) as u8 };
                let clock = noted.begin.get(thread as usize).copied().unwrap_or(0);
                let value = u32::from_le_bytes(m.slm.read(4 * d).unwrap_or_default());
                let past = PastAccess { thread, pc: *pc, clock, channel };
                self.group.note_earlier_access(SLM | at, past, access, value);
            }
        }
    }

    /// The next interval begins, if the thread at hand comes from a barrier as the first one and all that was done in local
    /// memory before is ordered before all that comes.
    fn next_interval(&mut self, m: &Machine<'_>) {
        self.group.resume_thread(m.t.index);
        let Some(round) = self.group.round(m.t.index).filter(|round| *round > self.noted.round) else {
            return;
        };
        self.noted.round = round;
        if !self.group.has_ordered_local(round, &self.noted.latest) {
            return;
        }
        let noted = &mut self.noted;
        noted.advance(dwords(m));
        if std::mem::take(&mut noted.left) {
            for d in 0..dwords(m) {
                let word = if self.contents.has_local_dword(4 * d as u64) { WRITTEN } else { 0 };
                noted.shadow.set(Part::Write, d, word);
            }
        }
        noted.on = noted.pays();
        // Without a shadow, the checks look at all from here on.
        noted.left = !noted.on;
        for (t, (begin, latest)) in (0..).zip(noted.begin.iter_mut().zip(&mut noted.latest)) {
            *begin = self.group.clock(t);
            *latest = *begin;
        }
    }
}
