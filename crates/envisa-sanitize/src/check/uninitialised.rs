//! Uses of registers and memory that nothing has written.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use envisa_lower::{Dst, Inst, Message, Op, Src, Touched};
use envisa_machine::thread::{Access, AccessKind, Machine, Mask};

use super::adjacent_accesses::Row;
use super::causes::memory_key;
use super::memory_content::{self, ContentPlace, RowHome};
use super::report_places::Sites;
use super::undefined_bits::{Flags, Origin, Origins, Source};
use super::written_registers::Written;
use super::{Checks, FindingKind, Related, channels};

/// What is known of a thread's registers.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    pub written: Written,
    /// Of bytes of which nothing wrote some bits: which; of all others that are not written it is all of them.
    pub bits: HashMap<u32, u8>,
    /// Where bytes without a value come from, if not from what nothing wrote.
    pub origins: Origins<u32>,
    /// Predicates without a value.
    pub flags: Flags,
    /// A load brought what nothing had written: all that the thread does from then on is looked at.
    pub spoilt: bool,
    /// It is no longer as a thread's is when that starts, or may be so soon.
    pub changes: bool,
    /// Of what it stores so many bytes are no padding: the kernel told that. 0 if nothing is known.
    pub whole: u32,
}

impl Default for Shadow {
    fn default() -> Shadow {
        Shadow {
            written: Written::default(),
            bits: HashMap::new(),
            origins: Origins::default(),
            flags: Flags::new(),
            spoilt: false,
            changes: true,
            whole: 0,
        }
    }
}

impl Shadow {
    /// As a thread's is when that starts, with these registers written.
    pub fn begin(&mut self, initial: &Written) {
        self.bits.clear();
        self.origins.clear();
        self.flags.clear();
        self.whole = 0;
        self.written.copy(initial);
    }
}

impl Checks {
    pub(super) fn whole_shadow(&mut self, m: &Machine<'_>) -> &mut Shadow {
        let i = m.t.index as usize;
        if self.shadows.len() <= i {
            self.shadows.resize_with(i + 1, Shadow::default);
        }
        &mut self.shadows[i]
    }

    fn shadow(&mut self, m: &Machine<'_>) -> &mut Written {
        &mut self.whole_shadow(m).written
    }

    /// A plain move copies what is not written as such, and is not complained of: compilers move whole
    /// arrays of which only a part has content. Where a load brought what nothing had written, it is followed bit by bit
    /// instead.
    pub(super) fn copy(&mut self, m: &Machine<'_>, i: &Inst, mask: Mask) -> bool {
        let (Op::Mov, Dst::Reg { offset: to, ty: to_ty, stride, .. }) = (i.op, i.dst) else { return false };
        let mut from = None;
        if !matches!(i.src[0], Src::Reg { constant: true, .. } | Src::Pred { .. } | Src::None) {
            // The last that is told of is the source; predicate and address registers come before.
            i.reads(m.env.program.parts(), &mut |t| from = Some(t));
        }
        let Some(from) = from else { return false };
        let program = Arc::clone(&self.sites.program);
        let shadow = self.whole_shadow(m);
        if shadow.spoilt {
            return false;
        }
        let mut written = 0u32;
        let mut origins: [Option<Origin>; 32] = [None; 32];
        for k in channels(mask) {
            let Some((at, bytes)) = element(m, from, k) else {
                written |= 1 << k;
                continue;
            };
            let there = shadow.written.any(at, bytes);
            written |= u32::from(there) << k;
            if !there && !shadow.origins.is_empty() {
                origins[k as usize] = shadow.origin(at);
            }
        }
        for k in channels(mask) {
            let at = to + k * stride as u32 * to_ty.size();
            if written >> k & 1 != 0 {
                shadow.written.set(at, to_ty.size());
                continue;
            }
            shadow.written.unset(at, to_ty.size());
            // Of registers that are written wherever they are read nobody keeps track.
            shadow.written.set_others(at, to_ty.size(), &program.proof.open);
            for at in at..at + to_ty.size() {
                shadow.set_origin(at, origins[k as usize]);
            }
        }
        true
    }

    /// Marks what is told of as written.
    pub(super) fn mark_written(&mut self, m: &Machine<'_>, t: Touched, mask: Mask) {
        let shadow = self.shadow(m);
        match t {
            Touched::Whole { offset, bytes } => shadow.set(offset, bytes),
            Touched::Lanes { offset, bytes, step } if step == bytes && mask & mask.wrapping_add(1) == 0 => {
                shadow.set(offset, mask.count_ones() * bytes);
            }
            t => {
                for k in channels(mask) {
                    if let Some((at, bytes)) = element(m, t, k) {
                        shadow.set(at, bytes);
                    }
                }
            }
        }
    }

    /// Marks what an instruction writes as written.
    pub(super) fn define_all(&mut self, m: &Machine<'_>, pc: u32, i: &Inst, mask: Mask) {
        let Some(shadow) = self.shadows.get_mut(m.t.index as usize) else { return };
        let program = &self.sites.program;
        if !shadow.spoilt && !program.proof.touches(pc) || program.steps.is_written(pc, &shadow.written) {
            return;
        }
        if self.partial.write(pc, mask, &mut shadow.written) {
            return;
        }
        i.writes(m.env.program.parts(), &mut |t| self.mark_written(m, t, mask));
    }

    /// The first channel and offset of what is told of that nothing has written.
    pub(super) fn first_unwritten(
        &mut self,
        m: &Machine<'_>,
        t: Touched,
        mask: Mask,
        any: bool,
    ) -> Option<(u32, u32)> {
        let shadow = self.whole_shadow(m);
        // Where bits are followed, one without a value is enough; else values are packed byte by byte and read whole.
        let (spoilt, shadow) = (shadow.spoilt, &shadow.written);
        let is_there = |at, bytes| if spoilt { shadow.all(at, bytes) } else { shadow.any(at, bytes) };
        if let Touched::Whole { offset, bytes } = t {
            return shadow.first_unwritten(offset, bytes).filter(|_| any).map(|at| (0, at));
        }
        if mask == 0 {
            return None;
        }
        // Mostly everything is written.
        if let Some(all) = t.range(32 - mask.leading_zeros())
            && shadow.all(all.start, all.end - all.start)
        {
            return None;
        }
        let together = match t {
            Touched::Region { together, .. } => together.max(1),
            _ => 1,
        };
        for k in channels(mask) {
            let group = k - k % together;
            for k in group..group + together {
                if let Some((at, bytes)) = element(m, t, k)
                    && !is_there(at, bytes)
                {
                    return Some((k, at));
                }
            }
        }
        None
    }

    /// Complains of a use of registers that nothing has written: `at` is one of them.
    pub(super) fn unwritten(&mut self, m: &Machine<'_>, pc: u32, channel: u32, at: u32) {
        let here = Origin { pc, from: Source::Register(at), copy: false, calls: self.stacks.of(m) };
        let origin = self.whole_shadow(m).origin(at).unwrap_or(here);
        self.report_undefined_use(m, pc, channel, origin);
    }

    /// Complains of an instruction that depends on what has no value.
    pub(super) fn report_undefined_use(&mut self, m: &Machine<'_>, pc: u32, channel: u32, origin: Origin) {
        let related = {
            let (instruction, function, span) = self.sites.at(pc);
            Related { instruction, function, span, what: "this depends on the value" }
        };
        let apart = origin.pc != pc;
        let calls = self.stacks.calls(origin.calls).iter().map(|pc| self.sites.call(*pc)).collect();
        let other = if apart { pc } else { u32::MAX };
        let name = self.private_name(m, origin.from);
        let f = match origin.from {
            Source::Register(at) => {
                let kind = FindingKind::UninitialisedRead;
                self.note_pair(m, (origin.pc, other), kind, channel, |_| variable(m, at))
            }
            Source::Memory(home) => {
                let kind = FindingKind::UninitialisedMemory;
                let place = |sites: &Sites| name.unwrap_or_else(|| sites.memory_place(m, home));
                self.early.read((origin.pc, kind, other), home);
                let f = self.note_pair(m, (origin.pc, other), kind, channel, place);
                f.memory = f.memory.or(memory_key(home));
                f
            }
        };
        if apart && f.count == 1 {
            (f.related, f.calls) = (Some(related), calls);
        }
    }

    /// The variable of the thread that something without a value comes from, if its kernel told where that is.
    fn private_name(&self, m: &Machine<'_>, from: Source) -> Option<String> {
        match from {
            Source::Memory(ContentPlace::Thread(at)) => self.private_names.at(m.t.index, at),
            _ => None,
        }
    }

    /// Has all content that a message moves and that is followed? Marks what it stores.
    pub(super) fn has_content(&mut self, m: &Machine<'_>, message: &Message, rows: &[Row]) -> bool {
        let thread = m.t.index;
        if self.pending {
            return false;
        }
        for row in rows {
            let kind = row.access.kind;
            if kind != AccessKind::Read && self.meets_constant(row) {
                return false;
            }
            match self.contents.row_home(m, message, row) {
                RowHome::None => {}
                RowHome::Some(home) => {
                    let bytes = row.bytes() as u32;
                    let stored = kind == AccessKind::Write;
                    if stored && self.all_read {
                        self.contents.set(thread, home, bytes, true);
                    } else if stored || !self.contents.all(thread, home, bytes) {
                        return false;
                    }
                }
                RowHome::Several => return false,
            }
        }
        true
    }

    /// Follows what a message moves between registers and memory.
    pub(super) fn content(&mut self, m: &Machine<'_>, pc: u32, message: &Message, first: u32) {
        let thread = m.t.index;
        let pending = std::mem::take(&mut self.pending);
        for (a, part) in m.accesses.parts() {
            let a = &a;
            let home = self.contents.content_place(m, message, a);
            if !self.sites.is_result_used(message, a, part) {
                continue;
            }
            if a.kind != AccessKind::Read && !a.outside {
                self.constant(m, pc, a);
            }
            let moved = memory_content::registers(message, a, first, part)
                .filter(|_| memory_content::moves(message, a));
            let Some(home) = home else {
                if let Some((register, bytes, _)) = moved.filter(|_| pending && a.kind == AccessKind::Write) {
                    self.stores(m, pc, (message, a, None), part, register..register + bytes);
                }
                continue;
            };
            if a.kind == AccessKind::Atomic {
                if !self.contents.any(thread, home, a.bytes) {
                    let name = self.private_name(m, Source::Memory(home));
                    let subject = |sites: &Sites| name.unwrap_or_else(|| sites.memory_place(m, home));
                    let kind = FindingKind::UninitialisedMemory;
                    self.early.read((pc, kind, u32::MAX), home);
                    let f = self.note_pair(m, (pc, u32::MAX), kind, u32::from(a.channel), subject);
                    f.memory = f.memory.or(memory_key(home));
                }
                self.contents.set(thread, home, a.bytes, true);
                continue;
            }
            let Some((register, bytes, slot)) = moved else {
                if a.kind == AccessKind::Write {
                    self.contents.set(thread, home, a.bytes, true);
                }
                continue;
            };
            if a.kind == AccessKind::Write && matches!(home, ContentPlace::Fresh(_)) && pending {
                self.stores(m, pc, (message, a, Some(home)), part, register..register + bytes);
            }
            // Blocks dword by dword.
            let step = if bytes == slot { bytes.min(4) } else { bytes };
            for offset in (0..bytes).step_by(step.max(1) as usize) {
                let home = home.behind(offset);
                let n = step.min(bytes - offset);
                if a.kind == AccessKind::Write {
                    self.keep(m, home, register + offset, n);
                } else if !self.contents.all(thread, home, n) {
                    let byte = |b: &u32| !self.contents.any(thread, home.behind(*b), 1);
                    let bits = (0..n.min(8)).filter(byte).fold(0, |x, b| x | 0xff << (8 * b));
                    let stored: [_; 8] =
                        std::array::from_fn(|b| self.contents.origin(thread, home.behind(b as u32)));
                    let calls = self.stacks.of(m);
                    let shadow = self.whole_shadow(m);
                    (shadow.spoilt, shadow.changes) = (true, true);
                    let (n, bits) = if bytes == slot { (n, bits) } else { (slot.min(4).max(n), bits) };
                    // Of a slot that has more than was loaded the rest is zeros, or what was there.
                    shadow.set_undefined(register + offset, n, bits, None);
                    let here = |b| Origin { pc, from: Source::Memory(home.behind(b)), copy: true, calls };
                    let origins = std::array::from_fn(|b| stored[b].or(Some(here(b as u32))));
                    shadow.set_copied(register + offset, n.min(8), origins);
                }
            }
        }
    }

    /// Notes which bytes of memory have content once these registers, at most eight bytes, are stored there. What is only
    /// put back where it came from is as it was.
    fn keep(&mut self, m: &Machine<'_>, home: ContentPlace, register: u32, n: u32) {
        let thread = m.t.index;
        let shadow = self.whole_shadow(m);
        let none = shadow.origins.is_empty();
        let origins: [_; 8] = std::array::from_fn(|b| {
            let at = register + b as u32;
            let is = !none && (b as u32) < n && !shadow.written.any(at, 1);
            shadow.origin(at).filter(|_| is)
        });
        let there = shadow.written.any(register, n);
        if none && (!there || shadow.written.all(register, n)) {
            self.contents.set(thread, home, n, there);
            self.contents.keep(thread, home, &origins[..n.min(8) as usize]);
            return;
        }
        for (b, origin) in (0..n).zip(origins) {
            let (at, home) = (register + b, home.behind(b));
            let shadow = self.whole_shadow(m);
            if !shadow.is_of(at, home) {
                let there = shadow.written.any(at, 1);
                // A buffer remembers no origins: what is not complained of has none there either.
                if !there && matches!(home, ContentPlace::Fresh(_)) && self.contents.is_of_padding(origin) {
                    continue;
                }
                self.contents.set(thread, home, 1, there);
                self.contents.keep(thread, home, &[origin]);
            }
        }
    }

    /// Complains of what nothing has written and is stored where others see it. Not of the fourth element of a vector
    /// whose other three have a value: vectors of three are stored so. In a buffer of vectors of four it is one of these.
    /// Nor of what may be padding of a structure that is copied.
    fn stores(
        &mut self,
        m: &Machine<'_>,
        pc: u32,
        (message, a, home): (&Message, &Access, Option<ContentPlace>),
        part: u32,
        data: Range<u32>,
    ) {
        let whole = a.place.is_some_and(|p| self.facts.of_four.iter().any(|r| r.contains(&p)));
        let stride = match message {
            Message::Simt(s) if s.elements.count_ones() == 4 && part == 3 => Some(s.component_stride),
            _ => None,
        };
        self.whole_shadow(m);
        let (shadow, contents) = (&self.shadows[m.t.index as usize], &self.contents);
        let bytes = data.end - data.start;
        let padding = |at: u32| contents.is_of_padding(shadow.origin(at));
        // What is put back where it came from is left as it is.
        let stays = |at: u32| home.is_some_and(|home| shadow.is_of(at, home.behind(at - data.start)));
        let missing = |at: u32| !shadow.written.any(at, 1) && !stays(at) && !padding(at);
        let computed = data.clone().find(|at| shadow.is_computed(*at));
        let counts = |at: u32| part * bytes + at - data.start < shadow.whole;
        let hole = if bytes <= 8 && shadow.whole > 0 {
            data.clone().find(|at| counts(*at) && missing(*at))
        } else if bytes <= 8 {
            let others = |s: u32| (1..4).all(|n| shadow.written.any(data.start.wrapping_sub(n * s), bytes));
            // Padding of structures is never the first byte: what has none there is no copy of such.
            let first = missing(data.start) && (whole || !stride.is_some_and(others));
            first.then_some(data.start)
        } else {
            // A block.
            let there = |at: u32| (at..at + 4).any(|at| !missing(at));
            data.clone().step_by(4).find(|at| {
                let third = (a.address + u64::from(at - data.start)) % 16 == 12 && at - data.start >= 12;
                let padding = !whole && third && (1..4).all(|n| there(at - 4 * n));
                let start = at - (at - data.start) % 16;
                !there(*at) && !padding && (start..start + 16).step_by(4).all(|at| !there(at))
            })
        };
        if let Some(at) = hole.or(computed) {
            self.unwritten(m, pc, u32::from(a.channel), at);
        }
    }
}

/// Is it the data of a store (else addresses, coordinates)?
pub(super) fn is_data(message: &Message, t: Touched) -> bool {
    if let (Message::Block(b), Touched::Whole { offset, .. }) = (message, t) {
        return b.write && b.data == Some(offset);
    }
    let (Message::Simt(envisa_lower::Simt { data, .. }) | Message::Typed(envisa_lower::Typed { data, .. })) =
        message
    else {
        return false;
    };
    let Touched::Lanes { offset, bytes, .. } = t else { return false };
    let (stride, count, skip) = match message {
        Message::Simt(s) => (s.component_stride, s.elements.count_ones(), if s.upper { 2 } else { 0 }),
        Message::Typed(t) => (t.component_stride, (t.channels & 15).count_ones(), 0),
        _ => return false,
    };
    let element = match message {
        Message::Simt(s) => s.element as u32,
        _ => 4,
    };
    let is = |c: u32| data.is_some_and(|d| d + c * stride + skip == offset);
    bytes == element && (0..count).any(is)
}

/// Offset and bytes of channel `k`'s element; `None` if an address register names no variable.
pub(super) fn element(m: &Machine<'_>, t: Touched, k: u32) -> Option<(u32, u32)> {
    match t {
        Touched::Indirect { address, add, per_address_log2, bytes, strides, anew } => {
            let per = 1u32 << per_address_log2.min(5);
            let base: u16 = m.t.regs.peek(address + 2 * (k / per));
            let element = strides.element(if anew { k % per } else { k });
            let base = base.wrapping_add((element * bytes) as u16);
            m.indirect(base, add, bytes).ok().map(|at| (at, bytes))
        }
        t => t.channel(k).map(|r| (r.start, r.end - r.start)),
    }
}

/// Name of the variable a register offset belongs to.
fn variable(m: &Machine<'_>, offset: u32) -> String {
    let p = m.env.program;
    p.functions()
        .iter()
        .flat_map(|f| &f.vars)
        .find(|v| (v.offset..v.offset + v.bytes).contains(&offset))
        .map_or_else(|| "a register".to_owned(), |v| format!("{}[{}]", v.name, offset - v.offset))
}
