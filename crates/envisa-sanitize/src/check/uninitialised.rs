//! Uses of registers and memory that nothing has written.

use std::collections::HashMap;
use std::sync::Arc;

use envisa_lower::{Dst, Inst, Message, Op, Src, Touched};
use envisa_machine::thread::{AccessKind, Machine, Mask};

use super::content::{self, Home, RowHome};
use super::registers::Written;
use super::rows::Row;
use super::sites::Sites;
use super::{Checks, FindingKind, Related, channels};

/// What is known of a thread's registers.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    pub written: Written,
    /// Where dwords that nothing wrote were loaded from.
    pub origins: HashMap<u32, Origin>,
    /// A load brought what nothing had written: all that the thread does from then on is looked at.
    pub spoilt: bool,
    /// It is no longer as a thread's is when that starts, or may be so soon.
    pub changes: bool,
}

impl Default for Shadow {
    fn default() -> Shadow {
        Shadow { written: Written::default(), origins: HashMap::new(), spoilt: false, changes: true }
    }
}

/// A load of bytes that nothing wrote.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pc: u32,
    home: Home,
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
    /// arrays of which only a part has content. What is done with it is complained of.
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
                origins[k as usize] = shadow.origins.get(&(at / 4)).copied();
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
            if !shadow.spoilt {
                shadow.written.set_others(at, to_ty.size(), &program.proof.open);
            }
            match origins[k as usize] {
                Some(origin) => drop(shadow.origins.insert(at / 4, origin)),
                None if shadow.origins.is_empty() => {}
                None => drop(shadow.origins.remove(&(at / 4))),
            }
        }
        true
    }

    /// Marks what is told of as written.
    pub(super) fn define(&mut self, m: &Machine<'_>, t: Touched, mask: Mask) {
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
        i.writes(m.env.program.parts(), &mut |t| self.define(m, t, mask));
    }

    /// The first channel and offset of what is told of that nothing has written.
    pub(super) fn missing(
        &mut self,
        m: &Machine<'_>,
        t: Touched,
        mask: Mask,
        any: bool,
    ) -> Option<(u32, u32)> {
        let shadow = self.shadow(m);
        if let Touched::Whole { offset, bytes } = t {
            return shadow.hole(offset, bytes).filter(|_| any).map(|at| (0, at));
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
                    && !shadow.any(at, bytes)
                {
                    return Some((k, at));
                }
            }
        }
        None
    }

    /// Complains of a use of registers that nothing has written: `at` is one of them.
    pub(super) fn unwritten(&mut self, m: &Machine<'_>, pc: u32, channel: u32, at: u32) {
        let origin = self.whole_shadow(m).origins.get(&(at / 4)).copied();
        let Some(origin) = origin else {
            self.note(m, pc, FindingKind::UninitialisedRead, channel, || variable(m, at));
            return;
        };
        let related = {
            let (instruction, function, span) = self.sites.at(pc);
            Related { instruction, function, span, what: "and what is done here depends on it" }
        };
        let subject = |sites: &Sites| sites.memory_place(m, origin.home);
        let f = self.note_pair(m, (origin.pc, pc), FindingKind::UninitialisedMemory, channel, subject);
        if origin.pc != pc {
            f.related.get_or_insert(related);
        }
    }

    /// Has all content that a message moves and that is followed? Marks what it stores.
    pub(super) fn has_content(&mut self, m: &Machine<'_>, message: &Message, rows: &[Row]) -> bool {
        let thread = m.t.index;
        if self.pending.is_some() {
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
        let pending = self.pending.take();
        let mut complain = false;
        for (a, part) in m.accesses.parts() {
            let a = &a;
            let home = self.contents.home(m, message, a);
            if !self.sites.wanted(message, a, part) {
                continue;
            }
            if a.kind != AccessKind::Read && !a.outside {
                self.constant(m, pc, a);
            }
            let Some(home) = home else {
                complain |= a.kind == AccessKind::Write;
                continue;
            };
            if a.kind == AccessKind::Atomic {
                if !self.contents.any(thread, home, a.bytes) {
                    let subject = |sites: &Sites| sites.memory_place(m, home);
                    let kind = FindingKind::UninitialisedMemory;
                    self.note_pair(m, (pc, u32::MAX), kind, u32::from(a.channel), subject);
                }
                self.contents.set(thread, home, a.bytes, true);
                continue;
            }
            let moved = content::registers(message, a, first, part);
            let Some((register, bytes, slot)) = moved.filter(|_| content::moves(message, a)) else {
                if a.kind == AccessKind::Write {
                    self.contents.set(thread, home, a.bytes, true);
                }
                continue;
            };
            complain |= a.kind == AccessKind::Write && matches!(home, Home::Fresh(_));
            // Blocks dword by dword.
            let step = if bytes == slot { bytes.min(4) } else { bytes };
            for offset in (0..bytes).step_by(step.max(1) as usize) {
                let home = home.behind(offset);
                let n = step.min(bytes - offset);
                if a.kind == AccessKind::Write {
                    let there = self.shadow(m).any(register + offset, n);
                    self.contents.set(thread, home, n, there);
                } else if !self.contents.any(thread, home, n) {
                    let shadow = self.whole_shadow(m);
                    (shadow.spoilt, shadow.changes) = (true, true);
                    shadow.written.unset(register + offset, n.max(slot.min(4)));
                    shadow.origins.insert((register + offset) / 4, Origin { pc, home });
                }
            }
        }
        if let Some((channel, at)) = pending.filter(|_| complain) {
            self.unwritten(m, pc, channel, at);
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
        Touched::Indirect { address, add, per_address_log2, bytes, strides } => {
            let per = 1u32 << per_address_log2.min(5);
            let base: u16 = m.t.regs.peek(address + 2 * (k / per));
            let base = base.wrapping_add((strides.element(k % per) * bytes) as u16);
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
