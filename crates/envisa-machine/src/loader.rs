//! The initial content of a thread's registers.

use std::ops::Range;

use envisa_isa::predefined::var;
use envisa_lower::{Dst, InputClass, Op, Program};

use crate::dispatch::Prepared;
use crate::register_file::all_channels;
use crate::thread::{Loaded, Mask, Thread};
use crate::thread_inputs::GROUP_IDS;

/// `(register, source, bytes)`.
pub(crate) type Copy = (u32, u32, u32);

/// What threads with all channels are given anew, of registers that were loaded whole before and that an engine says
/// it reads.
#[derive(Clone, Default)]
pub(crate) struct PartialLoad {
    /// From the image; the threads of a group share it, and do not write it.
    pub group: Vec<Copy>,
    /// What of that differs from row to row of groups, where all groups are of one class.
    pub row: Vec<Copy>,
    /// From the image.
    pub thread: Vec<Copy>,
    /// From the thread's payload.
    pub payload: Vec<Copy>,
    /// Of the registers that a thread's start sets, those that are read.
    pub set: [bool; 6],
}

/// What a thread's registers start with, worked out once.
#[derive(Clone)]
pub struct Loader {
    /// `(register, image, bytes)`: the inputs.
    copies: Vec<Copy>,
    /// Those that differ from thread to thread, or that the program overwrites.
    again: Vec<Copy>,
    /// Everything that is not a constant.
    all: Range<u32>,
    /// What the program writes of that, and may read before it does.
    pub(crate) fresh: Vec<Range<u32>>,
    /// What the program writes of that, and never reads before it does.
    pub(crate) stale: Vec<Range<u32>>,
    /// All channels.
    full: Mask,
    /// A group's threads are alive at once, and take turns.
    pub(crate) together: bool,
    /// The program has named barriers, whose counts are to be cleared between groups.
    pub(crate) named: bool,
    pub(crate) few: Option<PartialLoad>,
    /// What it was trimmed to is read by threads that lack channels, too: see [`Loader::serves_lacking`].
    lacking: bool,
}

/// What a thread's start sets besides its inputs: variable, and byte in it.
pub(crate) const SET: [(usize, u32); 6] = [
    (var::HW_ID as usize, 0),
    (var::GROUP_ID_X as usize, 0),
    (var::GROUP_ID_Y as usize, 0),
    (var::GROUP_ID_Z as usize, 0),
    (var::SR0 as usize, 0),
    (var::SR0 as usize, 8),
];

/// The dwords of ranges `(first byte, bytes)`, each once, neighbours together: what is read of a dword by its bytes is
/// loaded as one.
fn merge_into_dwords(of: impl Iterator<Item = (u32, u32)>) -> Vec<Range<u32>> {
    let mut all: Vec<Range<u32>> = of.map(|(at, bytes)| at & !3..(at + bytes).next_multiple_of(4)).collect();
    all.sort_by_key(|r| r.start);
    all.dedup_by(|next, last| {
        let meet = next.start <= last.end;
        if meet {
            last.end = last.end.max(next.end);
        }
        meet
    });
    all
}

impl Loader {
    /// Of threads of this program in launches whose images have this one's length, and in the same places what
    /// differs from group to group and from thread to thread.
    pub fn new(p: &Program, prepared: &Prepared) -> Loader {
        Loader::clearing(p, prepared, &p.registers().fresh)
    }

    /// The same, with what has to be zero when a thread starts with all its channels.
    pub fn clearing(p: &Program, prepared: &Prepared, cleared: &[Range<u32>]) -> Loader {
        let r0 = p.registers().predefined[var::R0 as usize];
        let image = prepared.image.len() as u32;
        let mut copies = vec![(r0, 0, 64.min(image))];
        let mut add = |to: u32, from: u32, bytes: u32| {
            let bytes = bytes.min(image.saturating_sub(from));
            if bytes == 0 {
                return;
            }
            // Neighbours in both become one copy.
            if let Some(last) = copies.last_mut()
                && copies_meet(*last, (to, from))
            {
                last.2 += bytes;
                return;
            }
            copies.push((to, from, bytes));
        };
        for i in p.inputs() {
            if i.class == InputClass::General {
                add(i.offset, i.image, i.bytes);
            } else {
                add(i.offset, i.image, 4);
            }
        }
        let written = written_chunks(p);
        let meet = |a: &Range<u32>, b: &Range<u32>| a.start < b.end && b.start < a.end;
        let varying: Vec<Range<u32>> = prepared.varying_ranges().collect();
        let again = copies
            .iter()
            .filter(|(to, from, bytes)| {
                let (to, from) = (*to..to + bytes, *from..from + bytes);
                varying.iter().any(|v| meet(v, &from)) || written.iter().any(|w| meet(w, &to))
            })
            .copied()
            .collect();
        let mut fresh: Vec<Range<u32>> = Vec::new();
        let mut stale = Vec::new();
        for w in &written {
            let mut at = w.start;
            for f in cleared.iter().filter(|f| meet(w, f)) {
                let both = w.start.max(f.start)..w.end.min(f.end);
                stale.push(at..both.start);
                at = both.end;
                fresh.push(both);
            }
            stale.push(at..w.end);
        }
        stale.retain(|s| !s.is_empty());
        Loader {
            copies,
            again,
            all: p.registers().constants.len() as u32..p.registers().bytes,
            fresh,
            stale,
            full: all_channels(p.simd() as usize),
            together: group_runs_together(p),
            named: p.code().iter().any(|i| i.op == Op::NamedBarrier),
            few: None,
            lacking: false,
        }
    }

    /// Says that what it is trimmed to is all that threads which lack channels read before they write it, as well: they
    /// start after others without all of their registers being cleared.
    pub fn serves_lacking(&mut self) {
        self.lacking = true;
    }

    /// For engines that zero themselves what threads with all channels read before they write it, from the locals
    /// on, and that say which registers these read: `(first byte, bytes)`.
    pub fn trim(&mut self, p: &Program, prepared: &Prepared, reads: &[(u32, u32)]) {
        let meet = |r: &Range<u32>| reads.iter().any(|(at, bytes)| *at < r.end && r.start < at + bytes);
        let mut few = PartialLoad {
            set: SET.map(|(id, at)| {
                let home = p.registers().predefined[id] + at;
                meet(&(home..home + 4))
            }),
            ..PartialLoad::default()
        };
        // Messages may look for the implicit arguments by r0.0.
        let r0 = p.registers().predefined[var::R0 as usize];
        let reads = merge_into_dwords(reads.iter().copied().chain([(r0, 4)]));
        let code = written_by_code(p);
        let payload = prepared.payload_range();
        let payload = payload.start as u32..payload.end as u32;
        for (to, from, bytes) in &self.again {
            for r in &reads {
                let (start, end) = (r.start.max(*to), r.end.min(to + bytes));
                if start >= end {
                    continue;
                }
                let (first, last) = (from + (start - to), from + (end - to));
                for cut in [0..payload.start, payload.clone(), payload.end..u32::MAX] {
                    let image = first.max(cut.start)..last.min(cut.end);
                    if image.is_empty() {
                        continue;
                    }
                    let register = to + (image.start - from)..to + (image.end - from);
                    let bytes = image.end - image.start;
                    if cut == payload {
                        push(&mut few.payload, (register.start, image.start - payload.start, bytes));
                        continue;
                    }
                    // Of r0, a thread's index and its scratch are its own.
                    let own = ranges_overlap(&(8..12), &image)
                        || ranges_overlap(&(20..24), &image)
                        || code.iter().any(|w| ranges_overlap(w, &register));
                    push(
                        if own { &mut few.thread } else { &mut few.group },
                        (register.start, image.start, bytes),
                    );
                }
            }
        }
        // The group's ids but the one along the row.
        let across = (0..3).filter(|axis| *axis != prepared.row_axis()).map(|axis| &GROUP_IDS[axis]);
        few.row = across.flat_map(|ids| few.group.iter().filter_map(|c| clip_copy(c, ids))).collect();
        // Of what is to be cleared, what they read, and predicates that are written: bits of channels that are off stay
        // as they are. The rest is as good as what is never read before it is written, but for what address registers
        // may point to, whose elements can be written one by one.
        let predicates = p.code().iter().flat_map(|i| {
            let second = matches!(i.op, Op::Add3o | Op::Invm | Op::Rsqtm).then_some(i.dst2);
            let first = if let Dst::Pred { offset } = i.dst { Some(offset) } else { None };
            first.into_iter().chain(second).map(|offset| (offset, 4))
        });
        let reads = merge_into_dwords(reads.iter().map(|r| (r.start, r.end - r.start)).chain(predicates));
        let base = p.registers().address_base;
        let pointed_to = base..base + 64 * p.registers().address_homes.len() as u32;
        let mut unread: Vec<Range<u32>> = Vec::new();
        for r in std::mem::take(&mut self.fresh) {
            if r.start >= p.registers().locals_start {
                continue;
            }
            let mut at = r.start;
            for read in reads.iter().filter(|read| ranges_overlap(read, &r)) {
                let (start, end) = (read.start.max(r.start), read.end.min(r.end));
                unread.push(at..start);
                self.fresh.push(start..end);
                at = end;
            }
            unread.push(at..r.end);
        }
        self.stale.extend(unread.into_iter().filter(|r| !r.is_empty() && !ranges_overlap(r, &pointed_to)));
        // What a group's threads keep is not to be spoilt between them.
        for ranges in [&mut self.stale, &mut self.fresh] {
            for (to, _, bytes) in &few.group {
                *ranges = std::mem::take(ranges)
                    .into_iter()
                    .flat_map(|s| [s.start..s.end.min(*to), s.start.max(to + bytes)..s.end])
                    .filter(|s| !s.is_empty())
                    .collect();
            }
        }
        self.few = Some(few);
    }

    /// The registers of a thread that starts with all channels, as [`Loader::load`] makes them, for an engine that
    /// said what it reads; `false` (and nothing done) if they are to be loaded whole. `shared`: what the threads of
    /// the group share is there. `set`: what the thread's start sets.
    #[inline]
    pub(crate) fn load_partial(
        &self,
        p: &Program,
        t: &mut Thread,
        (image, payload): (&[u8], &[u8]),
        shared: bool,
        set: impl Fn() -> [u32; 6],
    ) -> bool {
        let Some(few) = self.few.as_ref().filter(|_| t.loaded == Loaded::All) else { return false };
        if cfg!(debug_assertions) {
            for r in &self.stale {
                t.regs.slice_mut(r.start, r.end - r.start).fill(0xa5);
            }
        }
        for r in &self.fresh {
            t.regs.slice_mut(r.start, r.end - r.start).fill(0);
        }
        if !shared {
            copy_into_registers(t, &few.group, image);
        }
        copy_into_registers(t, &few.thread, image);
        copy_into_registers(t, &few.payload, payload);
        if few.set != [false; 6] {
            let values = set();
            for (k, (id, at)) in SET.iter().enumerate().filter(|(k, _)| few.set[*k]) {
                t.regs.set(p.registers().predefined[*id] + at, values[k]);
            }
        }
        true
    }

    /// What the threads of a row of groups share, for an engine that starts them itself; `false` (and nothing done) if
    /// a thread's registers are to be loaded whole before. `alike`: all groups are of one class.
    #[inline]
    pub(crate) fn load_row_start(&self, t: &mut Thread, image: &[u8], alike: bool) -> bool {
        let Some(few) = self.few.as_ref().filter(|_| t.loaded == Loaded::All) else { return false };
        copy_into_registers(t, if alike { &few.row } else { &few.group }, image);
        true
    }

    /// Makes a register file ready for a thread that starts with these channels.
    /// `set`: what the thread's start sets.
    pub(crate) fn load(&self, p: &Program, t: &mut Thread, image: &[u8], channels: Mask, set: [u32; 6]) {
        let whole = t.loaded == Loaded::Nothing || (channels != self.full && !self.lacking);
        let inputs = whole || t.loaded == Loaded::Other;
        t.loaded = Loaded::All;
        if whole {
            t.regs.slice_mut(self.all.start, self.all.end - self.all.start).fill(0);
        } else {
            if cfg!(debug_assertions) {
                // Tests see to it that what is not cleared is not read.
                for r in &self.stale {
                    t.regs.slice_mut(r.start, r.end - r.start).fill(0xa5);
                }
            }
            for r in &self.fresh {
                t.regs.slice_mut(r.start, r.end - r.start).fill(0);
            }
        }
        for (to, from, bytes) in if inputs { &self.copies } else { &self.again } {
            let from = &image[*from as usize..(*from + *bytes) as usize];
            let to = t.regs.slice_mut(*to, *bytes);
            if to.len() == from.len() {
                copy_small(to, from);
            }
        }
        for ((id, at), value) in SET.iter().zip(set) {
            t.regs.set(p.registers().predefined[*id] + at, value);
        }
    }
}

/// Are the threads of a group alive at once, and take turns?
pub fn group_runs_together(p: &Program) -> bool {
    p.has_barrier() || may_spin_wait(p)
}

/// Could a thread wait for another one of its group without a barrier: is there an atomic in a loop?
fn may_spin_wait(p: &Program) -> bool {
    p.code().iter().any(|i| {
        i.op == Op::Message
            && i.depth > 0
            && matches!(p.messages().get(i.aux as usize), Some(envisa_lower::Message::Atomic(_)))
    })
}

/// Copies bytes into a thread's registers.
#[inline(always)]
fn copy_into_registers(t: &mut Thread, all: &[Copy], from: &[u8]) {
    for (to, at, bytes) in all {
        if let Some(from) = from.get(*at as usize..(*at + *bytes) as usize) {
            copy_small(t.regs.slice_mut(*to, *bytes), from);
        }
    }
}

fn ranges_overlap(a: &Range<u32>, b: &Range<u32>) -> bool {
    a.start < b.end && b.start < a.end
}

/// What of a copy is from these bytes of the image.
fn clip_copy((to, from, bytes): &Copy, of: &Range<u32>) -> Option<Copy> {
    let (first, last) = ((*from).max(of.start), (from + bytes).min(of.end));
    (first < last).then(|| (to + (first - from), first, last - first))
}

/// Adds a copy; neighbours in both become one.
fn push(to: &mut Vec<Copy>, c: Copy) {
    match to.last_mut() {
        Some(last) if last.0 + last.2 == c.0 && last.1 + last.2 == c.1 => last.2 += c.2,
        _ => to.push(c),
    }
}

/// Copies few bytes: whole registers and single elements without a call, and with stores as large as the loads that
/// follow.
#[inline(always)]
fn copy_small(to: &mut [u8], from: &[u8]) {
    let (to, to_rest) = to.as_chunks_mut::<64>();
    let (from, from_rest) = from.as_chunks::<64>();
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
    let (to, to_rest) = to_rest.as_chunks_mut::<32>();
    let (from, from_rest) = from_rest.as_chunks::<32>();
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
    // A scalar argument, or an address.
    if let (Ok(to), Ok(from)) = (<&mut [u8; 4]>::try_from(&mut *to_rest), <&[u8; 4]>::try_from(from_rest)) {
        *to = *from;
    } else if let (Ok(to), Ok(from)) =
        (<&mut [u8; 8]>::try_from(&mut *to_rest), <&[u8; 8]>::try_from(from_rest))
    {
        *to = *from;
    } else if !from_rest.is_empty() {
        to_rest.copy_from_slice(from_rest);
    }
}

/// Chunks of the register file that the program writes, as ranges of bytes in ascending order.
fn written_chunks(p: &Program) -> Vec<Range<u32>> {
    let homes = &p.registers().predefined;
    // By a thread's start, too.
    let start = [var::R0, var::HW_ID, var::SR0, var::GROUP_ID_X, var::GROUP_ID_Y, var::GROUP_ID_Z]
        .map(|id| homes[id as usize]..homes[id as usize] + 4);
    chunks_of(p, &start)
}

/// Those that its instructions write.
fn written_by_code(p: &Program) -> Vec<Range<u32>> {
    chunks_of(p, &[])
}

fn chunks_of(p: &Program, also: &[Range<u32>]) -> Vec<Range<u32>> {
    let r = p.registers();
    let mut chunks = vec![false; r.bytes.div_ceil(64) as usize];
    let mut mark = |range: Range<u32>| {
        for c in range.start / 64..range.end.div_ceil(64) {
            if let Some(c) = chunks.get_mut(c as usize) {
                *c = true;
            }
        }
    };
    let anywhere = r.addressable();
    for i in p.code() {
        i.writes(p.parts(), &mut |t| mark(t.range(i.channels as u32).unwrap_or(anywhere.clone())));
    }
    // Of a call that saves them, a function's own variables are written on return.
    p.functions().iter().flat_map(|f| &f.locals).for_each(|l| mark(l.clone()));
    also.iter().for_each(|r| mark(r.clone()));
    let mut out: Vec<Range<u32>> = Vec::new();
    for c in (0..chunks.len()).filter(|c| chunks[*c]) {
        let at = c as u32 * 64;
        match out.last_mut() {
            Some(last) if last.end == at => last.end += 64,
            _ => out.push(at..at + 64),
        }
    }
    out
}

fn copies_meet(last: (u32, u32, u32), next: (u32, u32)) -> bool {
    last.0 + last.2 == next.0 && last.1 + last.2 == next.1 && last.1 != 0
}
