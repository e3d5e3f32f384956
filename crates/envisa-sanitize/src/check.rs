//! Checks of a run: reads of registers and memory that nothing wrote, accesses out of bounds, channels of one store
//! that write one place, data races between threads and between the channels of one, barriers that not all come to.
//!
//! **Races.** Two accesses to one byte race if one of them changes it and not both are atomics, different threads make
//! them, and nothing orders them: a barrier does so for the memory that its fences name, and atomics do between a fence
//! before the one and a fence after the other (`group`). Not complained of: stores that leave what is there as it is,
//! and atomics that do (as atomic loads); loads of what the same thread then compares and exchanges; what a group
//! accesses after an atomic gave it a value and a fence followed that is for more than the group, against other groups
//! (the value may tell it that they are done). The channels of one thread run in step here; they race like others, as in
//! another width or on another device they would, unless a fence of that memory lies between, or the kernel says how many
//! work-items its sub-groups have.
//!
//! **Content.** Bits of registers and memory that nothing gave a value are followed (`defined`); what depends on them is
//! complained of.

mod access_cells;
mod access_ranges;
mod adjacent_accesses;
mod atomic_messages;
mod barriers;
mod bounds;
mod branch_guards;
mod byte_moves;
mod causes;
mod cell_page;
mod clocks;
mod collective_calls;
mod copies;
mod element_names;
mod finding;
mod hints;
#[cfg(test)]
mod histories;
mod id_conditions;
mod id_sums;
mod interest;
mod kernel_reports;
mod local_messages;
mod memory_content;
mod noted_accesses;
mod order_by_atomics;
mod own_places;
mod past_accesses;
mod pointer_flows;
mod private_names;
mod proven_reads;
mod races;
mod races_between_groups;
mod races_in_group;
mod register_steps;
mod report_places;
mod scattered;
mod stores;
mod texel_names;
mod undefined_bits;
mod uninitialised;
mod unobserved_accesses;
mod written_registers;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use envisa_lower::{Message, Op};

use envisa_machine::local_shadow::Noting;
use envisa_machine::observer::Observer;
use envisa_machine::thread::{Machine, Mask};

use crate::footprint::{Accessed, Footprint, in_order, subtracted};
use access_cells::Budget;
use adjacent_accesses::Row;
use atomic_messages::{AtomicMessage, OneAtomic};
use causes::EarlyReads;
use collective_calls::Broadcasts;
use copies::Copies;
pub use element_names::{Elements, pointed_bytes};
pub use finding::{Call, Finding, FindingKind, LaunchFacts, OtherAccess, Related};
use interest::{Class, UnexpectedAccesses};
use kernel_reports::Begun;
use local_messages::{Lanes, LocalMessage};
use memory_content::Contents;
use noted_accesses::NotedAccesses;
use order_by_atomics::HandedOver;
use private_names::PrivateNames;
use races_between_groups::{Accessor, Launch};
pub use races_in_group::RaceAccess;
use races_in_group::{Group, is_several, known_channel};
use register_steps::{Partial, Registers};
pub use report_places::ProgramFacts;
use report_places::Sites;
use scattered::Dword;
pub use texel_names::ImagePlace;
use undefined_bits::Stacks;
use uninitialised::{Shadow, is_data};

/// What tells findings apart: the program counter, the kind and, of a race, the other program counter.
pub type Key = (u32, FindingKind, u32);

/// Calls that a finding tells of.
const MAX_CALLS: usize = 16;

/// The checks.
#[derive(Debug, Default)]
pub struct Checks {
    /// What was found, by instruction, kind and, of a race, the other instruction.
    found: HashMap<Key, Finding>,
    /// Of each thread of the group.
    shadows: Vec<Shadow>,
    /// What was read before others wrote it.
    early: EarlyReads,
    /// Which bytes of memory have content.
    contents: Contents,
    /// The calls that led to values without content.
    stacks: Stacks,
    /// What is known of the launch.
    facts: Arc<LaunchFacts>,
    /// The start of the local variable that an instruction accessed first.
    accessed: HashMap<u32, u64>,
    /// Does the current message store something that nothing has written?
    pending: bool,
    /// What is known of instructions of which a part of the channels runs.
    partial: Partial,
    /// Is all that the current message reads written?
    all_read: bool,
    /// The current message's accesses.
    rows: Vec<Row>,
    /// What a message's atomics change of memory that other groups can access.
    changed: Vec<(u64, u8)>,
    /// The dwords of a message that accesses them here and there.
    dwords: Vec<Dword>,
    /// What a row of accesses stores.
    stored: Vec<u8>,
    /// By program counter: messages that can be looked at before they are executed; the runs of channels of one.
    local_messages: Vec<Option<LocalMessage>>,
    lanes: Vec<Lanes>,
    noted: NotedAccesses,
    atomic_messages: Vec<Option<AtomicMessage>>,
    atomics: Vec<OneAtomic>,
    /// What threads have begun to report.
    begun: HashMap<u32, Box<Begun>>,
    /// Where variables of the group that runs are.
    private_names: PrivateNames,
    /// The asynchronous copies of the group that runs.
    copies: Copies,
    /// Its broadcasts.
    broadcasts: Broadcasts,
    /// Threads of which not all work-items came to a function or barrier of the group, and those that came.
    short: HashMap<u32, Mask>,
    /// The group that runs, and accesses of its threads.
    current: Option<[u32; 3]>,
    group: Group,
    /// Accesses of all groups.
    launch: Arc<Launch>,
    /// What groups hand over to each other, where one worker runs them all.
    handed: HandedOver,
    /// What accesses of groups may take.
    budget: Arc<Budget>,
    /// Where instructions stand, by program counter; what a race between groups is told with at the end.
    sites: Arc<Sites>,
    /// The same, once the first thread has started.
    known: Arc<OnceLock<Arc<Sites>>>,
    /// What is told is no more than is wanted.
    selects: bool,
    /// The allocation that was accessed last, and what it is looked at for.
    last: (Range<u64>, Class),
    /// A store that went where none was expected.
    elsewhere: Arc<UnexpectedAccesses>,
    /// What messages accessed that are told of, if the footprint is asked for.
    told: Footprint,
}

impl Checks {
    /// Checks of a launch.
    pub fn new(facts: LaunchFacts) -> Checks {
        let budget = Arc::new(Budget::new(access_cells::SPARE_BYTES + facts.buffer_bytes / 2));
        Checks {
            contents: Contents::new(&facts.fresh, &facts.records),
            launch: Arc::new(Launch::new(races_between_groups::SPARE_BYTES + 2 * facts.buffer_bytes)),
            group: Group::of(Arc::clone(&budget), facts.sub_groups),
            budget,
            facts: Arc::new(facts),
            ..Checks::default()
        }
    }

    /// Findings, by instruction.
    pub fn findings(&self) -> Vec<Finding> {
        self.findings_at().into_iter().map(|(_, f)| f).collect()
    }

    /// What was found up to now, by instruction; races between groups are found at the end.
    pub fn so_far(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.found.keys()
    }

    /// Findings, with what tells them apart.
    pub fn findings_at(&self) -> Vec<(Key, Finding)> {
        let mut all: HashMap<Key, Finding> = self.found.clone();
        for race in self.launch.races().into_iter().chain(self.handed.races()) {
            let (pc, other) = (race.first.pc(), race.second.pc());
            let who = |w: Accessor| (w.thread(), self.sites.id(w.group()));
            let ((thread, group), (other_thread, other_group)) = (who(race.first), who(race.second));
            let (instruction, function, span) = self.sites.at(pc);
            let (other_instruction, other_function, other_span) = self.sites.at(other);
            // Threads of one group that race for it too have been found already.
            all.entry((pc, FindingKind::Race, other)).or_insert_with(|| Finding {
                kind: FindingKind::Race,
                instruction,
                function,
                span,
                channel: known_channel(race.first.by().channel).map_or(0, u32::from),
                own: race.first.by().channel < 32,
                thread,
                group,
                subject: self.sites.place(race.address),
                memory: Some(race.address),
                object: String::new(),
                early: 0,
                count: race.count,
                race: Some((
                    race.access,
                    OtherAccess {
                        access: race.with,
                        instruction: other_instruction,
                        function: other_function,
                        span: other_span,
                        channel: known_channel(race.second.by().channel).map(u32::from),
                        several: is_several(race.second.by().channel),
                        thread: other_thread,
                        group: other_group,
                        orderings: None,
                        copies: false,
                    },
                )),
                orderings: None,
                copies: false,
                absent: false,
                with: None,
                related: None,
                calls: Vec::new(),
            });
        }
        // A plain load whose value is then compared and exchanged may read anything.
        all.retain(|(pc, kind, other), f| {
            let guess =
                |access: RaceAccess, pc: &u32| access == RaceAccess::Read && self.group.guesses.contains(pc);
            let Some((here, there)) = f.race.as_ref().filter(|_| *kind == FindingKind::Race) else {
                return true;
            };
            match (*here, there.access) {
                (RaceAccess::Atomic, read) => !guess(read, other),
                (read, RaceAccess::Atomic) => !guess(read, pc),
                _ => true,
            }
        });
        self.early.merge_into_races(&mut all);
        let mut all: Vec<_> = all.into_iter().collect();
        for (_, f) in &mut all {
            f.object = f.memory.map(|at| self.sites.object(at)).unwrap_or_default();
        }
        all.sort_by_key(|(k, _)| *k);
        all
    }

    /// What the launch accessed, if its facts ask for that.
    pub fn footprint(&self) -> Accessed {
        let mut told = self.told.clone();
        let stored = told.written();
        told.exclude(&self.contents.without_content());
        let mut all = Accessed { read: told.read(), written: told.written(), may_read: Vec::new() };
        if let Some(untold) = self.elsewhere.unobserved() {
            all.read = in_order(all.read.iter().chain(&untold.read));
            // Of places that are also stored to unobserved, those keep no content where a thread was seen to store none.
            let left = subtracted(&stored, &all.written);
            let unobserved = subtracted(&in_order(untold.written.iter()), &left);
            all.written = in_order(all.written.iter().chain(&unobserved));
            all.may_read = in_order(untold.may_read.iter());
        }
        all
    }

    /// What was not looked at, if anything.
    pub fn not_checked(&self) -> Option<String> {
        let left_out = self.launch.left_out();
        if left_out > 0 {
            return Some(format!(
                "races between groups were not checked everywhere: {left_out} accesses are outside of the memory that can be tracked"
            ));
        }
        if let Some(what) = self.elsewhere.what() {
            return Some(what);
        }
        self.group.overflowed.then(|| {
            "races within a group were not checked everywhere: groups access more memory than can be tracked, or their threads wait for each other more than 2^28 times"
                .to_owned()
        })
    }

    fn note(
        &mut self,
        m: &Machine<'_>,
        pc: u32,
        kind: FindingKind,
        channel: u32,
        subject: impl FnOnce() -> String,
    ) -> &mut Finding {
        self.note_pair(m, (pc, u32::MAX), kind, channel, |_| subject())
    }

    fn note_pair(
        &mut self,
        m: &Machine<'_>,
        (pc, other): (u32, u32),
        kind: FindingKind,
        channel: u32,
        subject: impl FnOnce(&Sites) -> String,
    ) -> &mut Finding {
        let mut subject = Some(subject);
        self.find_or_add(m, (pc, other), kind, channel, &mut |sites| {
            subject.take().map_or_else(String::new, |subject| subject(sites))
        })
    }

    /// As `note_pair`; compiled once for all kinds of `subject`, which is called once at most.
    fn find_or_add(
        &mut self,
        m: &Machine<'_>,
        (pc, other): (u32, u32),
        kind: FindingKind,
        channel: u32,
        subject: &mut dyn FnMut(&Sites) -> String,
    ) -> &mut Finding {
        let sites = &self.sites;
        let own = m.env.program.code().get(pc as usize).is_none_or(|i| i.channels > 1)
            || m.t.mask == 1 << channel.min(31)
            || kind == FindingKind::DivergentBarrier;
        // What is done once for all active work-items is done for the first of them.
        let channel = match own || m.t.mask >> channel.min(31) & 1 != 0 {
            true => channel,
            false => m.t.mask.trailing_zeros().min(31),
        };
        let f = self.found.entry((pc, kind, other)).or_insert_with(|| {
            let (instruction, function, span) = sites.at(pc);
            Finding {
                kind,
                instruction,
                function,
                span,
                channel,
                own,
                thread: m.t.index,
                group: m.group.id,
                subject: subject(sites),
                memory: None,
                object: String::new(),
                early: 0,
                count: 0,
                race: None,
                orderings: None,
                copies: false,
                absent: false,
                with: None,
                related: None,
                calls: m.t.calls().take(MAX_CALLS).map(|pc| sites.call(pc)).collect(),
            }
        });
        f.count += 1;
        f
    }
}

impl Checks {
    /// Looks at the launch of which this is a first thread, once.
    fn know(&mut self, m: &Machine<'_>) {
        if self.sites.is_unknown() {
            self.sites = Arc::clone(self.known.get_or_init(|| Arc::new(Sites::of(m, &self.facts))));
            self.selects = self.facts.alone && !self.facts.hints && !self.sites.has_shared_parts();
            self.find_local_messages(m);
            self.select(m);
            self.find_noted_accesses(m);
            self.find_atomic_messages(m);
        }
    }

    /// Looks at what a message accessed.
    fn accesses(&mut self, m: &Machine<'_>, pc: u32, message: &Message, first: u32) {
        if self.reports(m, pc, message, first)
            || !self.sites.has_shared_parts() && self.scattered(m, pc, message, first)
        {
            return;
        }
        let mut rows = std::mem::take(&mut self.rows);
        adjacent_accesses::of(m, pc, message, &self.sites, &mut rows);
        if !self.is_inside(m, message, &rows) {
            self.bounds(m, pc, message);
        }
        if self.facts.hints && !self.facts.checks_itself {
            self.alignment(m, pc, message);
            self.check_local_variable_bounds(m, pc);
        }
        if !self.has_content(m, message, &rows) {
            self.content(m, pc, message, first);
        }
        if !adjacent_accesses::are_apart(&rows) {
            self.conflicts(m, pc, message, first);
        }
        self.races(m, pc, message, first, &rows);
        self.rows = rows;
    }
}

fn channels(mask: Mask) -> impl Iterator<Item = u32> {
    (0..32).filter(move |k| mask >> k & 1 != 0)
}

impl Observer for Checks {
    fn fork(&self) -> Self {
        Checks {
            launch: Arc::clone(&self.launch),
            facts: Arc::clone(&self.facts),
            contents: self.contents.fork(),
            group: Group::of(Arc::clone(&self.budget), self.facts.sub_groups),
            budget: Arc::clone(&self.budget),
            known: Arc::clone(&self.known),
            elsewhere: Arc::clone(&self.elsewhere),
            ..Checks::default()
        }
    }

    fn merge(&mut self, other: Self) {
        for (key, f) in other.found {
            match self.found.get_mut(&key) {
                Some(mine) => {
                    mine.count += f.count;
                    // The lowest group's is told, on any number of cores.
                    let order = |f: &Finding| (f.group[2], f.group[1], f.group[0], f.thread, f.channel);
                    if order(&f) < order(mine) {
                        let count = mine.count;
                        *mine = Finding { count, ..f };
                    }
                }
                None => {
                    self.found.insert(key, f);
                }
            }
        }
        self.told.merge(other.told);
        self.early.merge(other.early);
        self.group.overflowed |= other.group.overflowed;
        self.group.guesses.extend(&other.group.guesses);
        if self.sites.is_unknown() {
            self.sites = other.sites;
        }
    }

    fn wants_none(&mut self, m: &Machine<'_>) -> bool {
        self.know(m);
        self.wants_nothing(m)
    }

    fn start(&mut self, m: &Machine<'_>) {
        self.know(m);
        let first = self.current != Some(m.group.id);
        self.current = Some(m.group.id);
        self.group.start(m.t.index, first);
        self.copies.start(m.t.index, first);
        self.broadcasts.start(first);
        if first {
            self.early.end_group();
            self.short.clear();
            self.private_names.clear();
        }
        self.contents.start(m, first);
        self.begin_noting(m, first);
        self.pending = false;
        let program = &self.sites.program;
        let i = m.t.index as usize;
        if self.shadows.len() <= i {
            self.shadows.resize_with(i + 1, Shadow::default);
        }
        let shadow = &mut self.shadows[i];
        // What threads leave as it was need not be done again.
        if shadow.changes {
            shadow.begin(&program.initial);
            (shadow.changes, shadow.spoilt) = (!program.proof.open.is_empty(), false);
        }
    }

    fn wants_all(&self, thread: u32) -> bool {
        !self.selects || self.shadows.get(thread as usize).is_none_or(|s| s.spoilt)
    }

    fn forget(&mut self, m: &Machine<'_>) {
        let program = Arc::clone(&self.sites.program);
        let shadow = self.whole_shadow(m);
        shadow.begin(&program.initial);
        (shadow.changes, shadow.spoilt) = (true, false);
        self.elsewhere.loaded.store(true, Ordering::Relaxed);
    }

    fn accessed(&mut self, m: &Machine<'_>, pc: u32, mask: Mask, next: u32) {
        self.leave_interval(m, pc);
        self.group.resume_thread(m.t.index);
        (self.all_read, self.pending) = (true, false);
        self.after(m, pc, mask, next);
    }

    fn passes(&mut self, m: &Machine<'_>, pc: u32, mask: Mask) -> bool {
        self.leave_interval(m, pc);
        self.local_message_passes(m, pc, mask) || self.atomic_message_passes(m, pc, mask)
    }

    fn local_shadow(&mut self, m: &Machine<'_>) -> Option<Noting<'_>> {
        self.noting(m)
    }

    fn local_range(&self, pc: u32) -> Range<u32> {
        let message = self.local_messages.get(pc as usize).and_then(Option::as_ref);
        message.map_or(0..0, LocalMessage::inside)
    }

    fn before(&mut self, m: &Machine<'_>, pc: u32, mask: Mask) {
        let Some(i) = m.env.program.code().get(pc as usize) else { return };
        self.group.resume_thread(m.t.index);
        if self.facts.hints {
            self.hints(m, pc, i, mask);
        }
        let state = match self.shadows.get(m.t.index as usize) {
            Some(s) if !s.spoilt && self.sites.program.proof.is_proven(pc) => {
                match self.sites.program.proof.touches(pc) {
                    true => Registers::Read,
                    false => Registers::Written,
                }
            }
            Some(s) if s.has_flags(i) => Registers::Look,
            Some(s) => self.partial.look(&self.sites.program.steps, m.env.program, pc, mask, &s.written),
            None => Registers::Look,
        };
        self.all_read = state != Registers::Look;
        self.pending = false;
        if self.all_read {
            if state == Registers::Read && i.op != Op::Message {
                self.define_all(m, pc, i, mask);
            }
            return;
        }
        if self.copy(m, i, mask) || self.follow_undefined_bits(m, pc, i, mask) {
            return;
        }
        let p = m.env.program;
        // Without a mask, channels that are off compute what nobody looks at; but what they access is accessed.
        let looked_at = if i.channels == 1 || i.op == Op::Message && i.no_mask {
            mask
        } else {
            mask & (m.t.mask >> i.first)
        };
        // Some messages are the thread's, whoever is active.
        let whole = match (i.op, p.messages().get(i.aux as usize)) {
            (Op::Message, Some(Message::Block(b))) => !b.masked || mask != 0,
            (Op::Message, Some(Message::Media(_) | Message::Block2d(_))) => true,
            _ => looked_at != 0,
        };
        // What a message stores is looked at when it is known where: a store is a copy, too.
        let stores = match (i.op, p.messages().get(i.aux as usize)) {
            (Op::Message, Some(message @ (Message::Simt(_) | Message::Block(_)))) => Some(message),
            _ => None,
        };
        let (mut missing, mut stored) = (None, None);
        i.reads(p.parts(), &mut |t| {
            let data = stores.is_some_and(|message| is_data(message, t));
            let found = if data { &mut stored } else { &mut missing };
            if found.is_none() {
                *found = self.first_unwritten(m, t, looked_at, whole);
            }
        });
        let here = |(channel, at): (u32, u32)| (channel + u32::from(i.first), at);
        self.pending = stored.is_some();
        if let Some((channel, at)) = missing.map(here) {
            self.unwritten(m, pc, channel, at);
        }
        if i.op != Op::Message {
            i.writes(p.parts(), &mut |t| self.mark_written(m, t, mask));
        }
    }

    fn after(&mut self, m: &Machine<'_>, pc: u32, mask: Mask, _: u32) {
        let p = m.env.program;
        let Some(i) = p.code().get(pc as usize) else { return };
        match i.op {
            Op::Barrier | Op::SplitBarrier | Op::NamedBarrier => self.barrier(m, pc, i),
            Op::Fence => self.group.fence(m.t.index, i.aux),
            Op::Message => {
                let Some(message) = p.messages().get(i.aux as usize) else { return };
                if mask != 0 || !matches!(message, Message::Block(b) if b.masked) {
                    self.define_all(m, pc, i, mask);
                }
                if self.facts.footprint {
                    self.told.after(m, pc, mask, 0);
                }
                if !m.accesses.is_empty() {
                    self.accesses(m, pc, message, i.first as u32);
                }
            }
            _ => {}
        }
    }
}
