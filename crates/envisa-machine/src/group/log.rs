//! A log of what instructions changed, so that the debugger can undo it and find the instruction that changed a value.

use std::collections::VecDeque;

use envisa_isa::limits::NAMED_BARRIERS;
use envisa_lower::Message;

use crate::memory::{Block, Hint};
use crate::messages::{Access, AccessKind, AccessSpace, Drops, MemoryObserver};
use crate::thread::{Control, Env, Fused, Mask, Status};

/// Where bytes are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Place {
    /// In the register file of the thread.
    Register(u32),
    /// At a virtual address.
    Flat(u64),
    /// In shared local memory.
    Local(u64),
    /// In the general-state window.
    Window(u64),
}

impl Place {
    /// So many bytes further.
    #[must_use]
    pub fn plus(self, n: u64) -> Place {
        match self {
            Place::Register(at) => Place::Register(at.wrapping_add(n as u32)),
            Place::Flat(at) => Place::Flat(at.wrapping_add(n)),
            Place::Local(at) => Place::Local(at.wrapping_add(n)),
            Place::Window(at) => Place::Window(at.wrapping_add(n)),
        }
    }

    /// Which kind, and where in it.
    pub fn kind_and_offset(self) -> (u8, u64) {
        match self {
            Place::Register(at) => (0, at.into()),
            Place::Flat(at) => (1, at),
            Place::Local(at) => (2, at),
            Place::Window(at) => (3, at),
        }
    }

    fn from_kind_and_offset(kind: u8, at: u64) -> Place {
        match kind {
            0 => Place::Register(at as u32),
            1 => Place::Flat(at),
            2 => Place::Local(at),
            _ => Place::Window(at),
        }
    }

    fn block<'a>(self, env: &'a Env<'_>, slm: &'a Block, n: usize) -> Option<(&'a Block, usize)> {
        match self {
            Place::Register(_) => None,
            Place::Flat(at) => {
                env.memory.find(at, n, false, &mut Hint::default()).map(|l| (l.block, l.offset))
            }
            Place::Local(at) => Some((slm, usize::try_from(at).ok()?)),
            Place::Window(at) => Some((env.state, usize::try_from(at).ok()?)),
        }
    }

    /// Reads memory; `false` if not all of it is there.
    pub(super) fn get(self, env: &Env<'_>, slm: &Block, to: &mut [u8]) -> bool {
        self.block(env, slm, to.len()).is_some_and(|(b, at)| b.contains(at, to.len()) && b.copy_out(at, to))
    }

    /// Writes memory; `false` if not all of it is there.
    pub(super) fn put(self, env: &Env<'_>, slm: &Block, from: &[u8]) -> bool {
        self.block(env, slm, from.len())
            .is_some_and(|(b, at)| b.contains(at, from.len()) && b.copy_in(at, from))
    }
}

/// What an instruction can change besides registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StateKind {
    /// Nothing.
    Plain,
    /// Memory.
    Message,
    /// Where its thread goes on, with which channels, and what it waits for.
    Control,
}

/// An instruction that was executed.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pc: u32,
    mask: Mask,
    /// Where its records end among those of its part of the log.
    end: u32,
    thread: u16,
    what: StateKind,
}

impl Entry {
    pub(super) fn new(pc: u32, thread: usize, mask: Mask, what: StateKind) -> Entry {
        Entry { pc, mask, end: 0, thread: thread as u16, what }
    }

    /// Its program counter.
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// Its channels, aligned to its first.
    pub fn mask(&self) -> Mask {
        self.mask
    }

    /// Its thread's index in the group.
    pub fn thread(&self) -> usize {
        self.thread.into()
    }
}

/// A record of an instruction: what it accessed.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The first byte.
    pub place: Place,
    /// How many.
    pub bytes: u32,
    /// Of accesses to memory, the first channel that makes them, and how many bytes each makes.
    pub channel: u8,
    /// See `channel`; 0: all of one.
    pub each: u32,
    /// It reads, and what is there is not kept.
    pub read: bool,
    /// What was there.
    pub old: &'a [u8],
}

/// Bytes of a record's end: kind, channel, flags, a filler, bytes, each, address.
const FOOTER: usize = 20;

/// Turns of threads: what happens between instructions.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// The threads of the round, in order, and which of them has its turn.
    pub cycle: Vec<u16>,
    pub at: usize,
    /// The clock at which the turn ends.
    pub until: u64,
    /// What is kept of threads and named barriers.
    pub threads: Vec<(Status, u64)>,
    pub named: Box<Named>,
}

impl Default for Turns {
    fn default() -> Turns {
        let named = Box::new([(0, 0); NAMED_BARRIERS as usize]);
        Turns { cycle: Vec::new(), at: 0, until: u64::MAX, threads: Vec::new(), named }
    }
}

pub(super) type Named = [(u32, u32); NAMED_BARRIERS as usize];

/// A group at its end.
pub(super) struct GroupState {
    pub nth: u64,
    pub began: u64,
    pub id: [u32; 3],
    pub named: Box<Named>,
    pub threads: Vec<(Control, Mask, Vec<u8>)>,
    pub slm: Vec<u8>,
}

/// What happens between two instructions.
pub(super) enum BetweenInstructions {
    Turns(Turns),
    Group(Box<GroupState>),
}

/// What an instruction that governs its thread changes.
pub(super) struct ThreadChange {
    pub control: Control,
    pub named: Named,
    pub fused: Option<Vec<Fused>>,
}

/// A part of the log.
#[derive(Default)]
struct Part {
    entries: Vec<Entry>,
    records: Vec<u8>,
    controls: Vec<ThreadChange>,
    /// Each with how many entries stand before it.
    between: Vec<(usize, BetweenInstructions)>,
    bytes: u64,
}

/// Entries and bytes of records of a part.
const PART_ENTRIES: usize = 1 << 14;
const PART_BYTES: u64 = 1 << 20;

/// What instructions changed, the latest ones.
pub struct Log {
    parts: VecDeque<Part>,
    bytes: u64,
    limit: u64,
    entries: u64,
}

impl Log {
    pub(super) fn new(limit: u64) -> Log {
        Log { parts: VecDeque::from([Part::default()]), bytes: 0, limit, entries: 0 }
    }

    /// How many instructions it has.
    pub fn len(&self) -> u64 {
        self.entries
    }

    /// Has it none?
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that it may take.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    pub(super) fn clear(&mut self) {
        *self = Log::new(self.limit);
    }

    fn part_for_append(&mut self) -> &mut Part {
        if self.parts.is_empty() {
            self.parts.push_back(Part::default());
        }
        let last = self.parts.len() - 1;
        &mut self.parts[last]
    }

    fn account_bytes(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        self.part_for_append().bytes += bytes as u64;
    }

    pub(super) fn begin(&mut self, entry: Entry) {
        let part = self.part_for_append();
        if part.entries.len() >= PART_ENTRIES || part.bytes >= PART_BYTES {
            self.parts.push_back(Part::default());
            while self.bytes > self.limit && self.parts.len() > 2 {
                let Some(old) = self.parts.pop_front() else { break };
                self.bytes -= old.bytes;
                self.entries -= old.entries.len() as u64;
            }
        }
        let part = self.part_for_append();
        let end = part.records.len() as u32;
        part.entries.push(Entry { end, ..entry });
        self.entries += 1;
        self.account_bytes(size_of::<Entry>());
    }

    /// Keeps what is at a place before the entry's instruction changes it.
    pub(super) fn keep(&mut self, place: Place, old: &[u8]) {
        self.push_record(Record { place, bytes: old.len() as u32, channel: 0, each: 0, read: false, old });
    }

    pub(super) fn push_record(&mut self, r: Record<'_>) {
        let (kind, at) = r.place.kind_and_offset();
        let part = self.part_for_append();
        part.records.extend_from_slice(r.old);
        part.records.extend_from_slice(&[kind, r.channel, r.read.into(), 0]);
        part.records.extend_from_slice(&r.bytes.to_le_bytes());
        part.records.extend_from_slice(&r.each.to_le_bytes());
        part.records.extend_from_slice(&at.to_le_bytes());
        let end = part.records.len() as u32;
        if let Some(entry) = part.entries.last_mut() {
            entry.end = end;
        }
        self.account_bytes(r.old.len() + FOOTER);
    }

    pub(super) fn control(&mut self, control: Control, named: Named, fused: Option<Vec<Fused>>) {
        let more =
            fused.iter().flatten().map(|f| f.operands[0].1.len() + f.operands[1].1.len()).sum::<usize>();
        self.account_bytes(control.bytes() + size_of::<Named>() + more);
        self.part_for_append().controls.push(ThreadChange { control, named, fused });
    }

    pub(super) fn turns(&mut self, turns: Turns) {
        self.account_bytes(size_of::<Turns>() + 16 * turns.threads.len() + size_of::<Named>());
        let part = self.part_for_append();
        part.between.push((part.entries.len(), BetweenInstructions::Turns(turns)));
    }

    pub(super) fn push_group_state(&mut self, state: GroupState) {
        let registers = state.threads.iter().map(|t| t.0.bytes() + t.2.len()).sum::<usize>();
        self.account_bytes(state.slm.len() + registers + size_of::<GroupState>());
        let part = self.part_for_append();
        part.between.push((part.entries.len(), BetweenInstructions::Group(Box::new(state))));
    }

    /// The latest entry.
    pub fn last(&self) -> Option<Entry> {
        self.parts.iter().rev().find_map(|p| p.entries.last()).copied()
    }

    /// The program counter of a thread's latest entry in this group, as far as it is near.
    pub(super) fn last_of(&self, thread: usize) -> Option<u32> {
        let part = self.parts.back()?;
        let from = part
            .between
            .iter()
            .rev()
            .find(|b| matches!(b.1, BetweenInstructions::Group(_)))
            .map_or(0, |b| b.0);
        part.entries[from..].iter().rev().find(|e| e.thread() == thread).map(|e| e.pc)
    }

    /// What happened after the latest entry.
    pub(super) fn pop_between(&mut self) -> Option<BetweenInstructions> {
        self.trim_empty_parts();
        let part = self.part_for_append();
        let n = part.entries.len();
        let (_, between) = part.between.pop_if(|b| b.0 == n)?;
        let bytes = match &between {
            BetweenInstructions::Turns(t) => size_of::<Turns>() + 16 * t.threads.len() + size_of::<Named>(),
            BetweenInstructions::Group(s) => {
                let registers = s.threads.iter().map(|t| t.0.bytes() + t.2.len()).sum::<usize>();
                s.slm.len() + registers + size_of::<GroupState>()
            }
        };
        part.bytes = part.bytes.saturating_sub(bytes as u64);
        self.bytes = self.bytes.saturating_sub(bytes as u64);
        Some(between)
    }

    /// The latest part is one with entries.
    fn trim_empty_parts(&mut self) {
        while self.parts.len() > 1 && self.parts.back().is_some_and(|p| p.entries.is_empty()) {
            self.parts.pop_back();
        }
    }

    /// Undoes the latest entry's records, the latest first.
    pub(super) fn undo_latest_entry(&mut self, mut put: impl FnMut(Place, &[u8])) {
        let part = self.part_for_append();
        let [.., entry] = &part.entries[..] else { return };
        let start = part.entries.len().checked_sub(2).map_or(0, |i| part.entries[i].end);
        let (records, end) = (&part.records, entry.end);
        let all = Records { bytes: records, start: start as usize, end: end as usize };
        all.filter(|r| !r.read).for_each(|r| put(r.place, r.old));
        let gone = (end - start) as u64;
        part.records.truncate(start as usize);
        part.bytes = part.bytes.saturating_sub(gone);
        self.bytes = self.bytes.saturating_sub(gone);
    }

    pub(super) fn pop_control(&mut self) -> Option<ThreadChange> {
        let part = self.part_for_append();
        if part.entries.last()?.what != StateKind::Control {
            return None;
        }
        let kept = part.controls.pop()?;
        let bytes = (kept.control.bytes() + size_of::<Named>()) as u64;
        part.bytes = part.bytes.saturating_sub(bytes);
        self.bytes = self.bytes.saturating_sub(bytes);
        Some(kept)
    }

    pub(super) fn pop(&mut self) {
        if self.part_for_append().entries.pop().is_some() {
            let bytes = size_of::<Entry>() as u64;
            let part = self.part_for_append();
            part.bytes = part.bytes.saturating_sub(bytes);
            self.bytes = self.bytes.saturating_sub(bytes);
            self.entries -= 1;
        }
        self.trim_empty_parts();
    }

    /// The entries with their records, the latest first: how far each is back (1: the latest), whether its group is
    /// the current one.
    pub fn entries(&self) -> impl Iterator<Item = PastEntry<'_>> {
        let mut back = 0;
        let mut groups = 0u64;
        self.parts.iter().rev().flat_map(|p| (0..p.entries.len()).rev().map(move |i| (p, i))).map(
            move |(p, i)| {
                back += 1;
                let from = p.between.partition_point(|b| b.0 <= i);
                let here = p.between[from..].iter().take_while(|b| b.0 == i + 1);
                groups += here.filter(|b| matches!(b.1, BetweenInstructions::Group(_))).count() as u64;
                let start = i.checked_sub(1).map_or(0, |i| p.entries[i].end);
                PastEntry { back, groups, entry: p.entries[i], records: &p.records, start: start as usize }
            },
        )
    }
}

/// An entry of the log, seen from now.
#[derive(Clone, Copy)]
pub struct PastEntry<'a> {
    /// How many instructions ago it began.
    pub back: u64,
    /// How many groups ago.
    pub groups: u64,
    /// The instruction.
    pub entry: Entry,
    records: &'a [u8],
    start: usize,
}

impl<'a> PastEntry<'a> {
    /// What it accessed, the latest first.
    pub fn records_latest_first(&self) -> impl Iterator<Item = Record<'a>> + use<'a> {
        Records { bytes: self.records, start: self.start, end: self.entry.end as usize }
    }
}

/// Records from the last to the first.
struct Records<'a> {
    bytes: &'a [u8],
    start: usize,
    end: usize,
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        if self.end < self.start + FOOTER {
            return None;
        }
        let footer = self.bytes.get(self.end - FOOTER..self.end)?;
        let dword = |at: usize| footer[at..at + 4].iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b));
        let (bytes, each) = (dword(4), dword(8));
        let address = u64::from(dword(12)) | u64::from(dword(16)) << 32;
        let read = footer[2] != 0;
        let data = if read { 0 } else { bytes as usize };
        let end = self.end - FOOTER;
        let old = self.bytes.get(end.checked_sub(data)?..end)?;
        self.end = end - data;
        Some(Record {
            place: Place::from_kind_and_offset(footer[0], address),
            bytes,
            channel: footer[1],
            each,
            read,
            old,
        })
    }
}

/// Keeps what a message is going to change.
pub(super) struct Journal<'a, 'b> {
    pub log: &'a mut Log,
    pub env: &'a Env<'b>,
    pub slm: &'a Block,
    pub message: Option<&'a Message>,
    pub drops: Drops,
}

impl Journal<'_, '_> {
    /// An access of so many bytes in all, `each` of a channel.
    fn record_access(&mut self, a: &Access, bytes: u32, each: u32) {
        if self.message.is_some_and(|m| a.is_dropped(m)) {
            self.drops.add(a);
        }
        let surfaces = self.env.surfaces;
        let place = match (a.place, a.space) {
            (Some(place), _) => Place::Flat(place),
            (None, AccessSpace::Flat) => Place::Flat(a.address),
            (None, AccessSpace::Slm) => Place::Local(a.address),
            (None, AccessSpace::State) => Place::Window(a.address),
            (None, AccessSpace::Counter(bti)) => {
                let Some((surface, allocation)) = surfaces.counter(bti) else { return };
                Place::Flat(allocation.base + surface.start as u64 + a.address)
            }
            (None, AccessSpace::Urb) => {
                let Some(urb) = surfaces.urb() else { return };
                Place::Flat(urb.allocation.base + urb.surface.start as u64 + a.address)
            }
            (None, AccessSpace::Surface(_)) => return,
        };
        let read = a.kind == AccessKind::Read;
        let mut record = Record { place, bytes, channel: a.channel, each, read, old: &[] };
        if read {
            return self.log.push_record(record);
        }
        let mut old = vec![0; bytes as usize];
        if place.get(self.env, self.slm, &mut old) {
            record.old = &old;
            return self.log.push_record(record);
        }
        // Partly outside: as much as there is.
        for n in 0..bytes {
            let mut byte = [0];
            if place.plus(n.into()).get(self.env, self.slm, &mut byte) {
                let place = place.plus(n.into());
                self.log.push_record(Record { place, bytes: 1, old: &byte, ..record });
            }
        }
    }
}

impl MemoryObserver for Journal<'_, '_> {
    const ACTIVE: bool = true;

    fn access(&mut self, access: &Access) {
        self.record_access(access, access.bytes, 0);
    }

    fn row(&mut self, first: &Access, count: u32, parts: u32) {
        self.record_access(first, first.bytes * count, first.bytes * parts.max(1));
    }
}
