//! Checks of a run: reads of registers that nothing wrote, and channels of one store that write one place.

use std::collections::HashMap;

use envisa_isa::Span;
use envisa_isa::predefined::var;
use envisa_lower::{Dst, Inst, Message, Op, Src};

use crate::observer::Observer;
use crate::thread::{AccessKind, AccessSpace, Machine, Mask};

/// What a check found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum FindingKind {
    /// A channel reads register bytes that nothing has written in its thread.
    UninitialisedRead,
    /// Two channels of one store write the same place with different values: which one stays is undefined.
    StoreConflict,
}

/// A finding: the first time, and how often.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// Index of the instruction in its function's source.
    pub instruction: u32,
    /// Function.
    pub function: String,
    /// Place in the source.
    pub span: Span,
    /// Channel.
    pub channel: u32,
    /// Thread in its group.
    pub thread: u32,
    /// Group.
    pub group: [u32; 3],
    /// The variable read, or the address written.
    pub subject: String,
    /// How often.
    pub count: u64,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.group;
        let at = format!(
            "instruction {}, channel {}, thread {} of group {x},{y},{z}; {} times",
            self.instruction, self.channel, self.thread, self.count
        );
        match self.kind {
            FindingKind::UninitialisedRead => {
                write!(f, "reads {}, which nothing has written ({at})", self.subject)
            }
            FindingKind::StoreConflict => {
                write!(f, "two channels store different values to {} ({at})", self.subject)
            }
        }
    }
}

/// The checks.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// What was found, by instruction and kind.
    found: HashMap<(u32, FindingKind), Finding>,
    /// Written bytes of each thread's registers, by thread of the group: one bit a byte.
    shadows: Vec<Vec<u64>>,
}

impl Checks {
    /// Findings, by instruction.
    pub fn findings(&self) -> Vec<Finding> {
        let mut all: Vec<(&(u32, FindingKind), &Finding)> = self.found.iter().collect();
        all.sort_by_key(|(k, _)| **k);
        all.into_iter().map(|(_, f)| f.clone()).collect()
    }

    fn note(
        &mut self,
        m: &Machine<'_>,
        pc: u32,
        kind: FindingKind,
        channel: u32,
        subject: impl FnOnce() -> String,
    ) {
        let p = m.env.program;
        let Some(inst) = p.code.get(pc as usize) else { return };
        let f = self.found.entry((pc, kind)).or_insert_with(|| Finding {
            kind,
            instruction: inst.source,
            function: p.functions.get(inst.function as usize).map_or(String::new(), |f| f.name.clone()),
            span: inst.span,
            channel,
            thread: m.t.index,
            group: m.group.id,
            subject: subject(),
            count: 0,
        });
        f.count += 1;
    }

    fn shadow(&mut self, m: &Machine<'_>) -> &mut Vec<u64> {
        let i = m.t.index as usize;
        if self.shadows.len() <= i {
            self.shadows.resize_with(i + 1, Vec::new);
        }
        &mut self.shadows[i]
    }

    fn write(&mut self, m: &Machine<'_>, offset: u32, bytes: u32) {
        set(self.shadow(m), offset, bytes);
    }

    /// A plain move copies what is not written as such, and is not complained of: compilers move whole
    /// arrays of which only a part has content. What is done with it is complained of.
    fn copy(&mut self, m: &Machine<'_>, i: &Inst, mask: Mask) -> bool {
        let (
            Op::Mov,
            Dst::Reg { offset: to, ty: to_ty, stride, .. },
            Src::Reg { offset, ty, strides, constant: false, .. },
        ) = (i.op, i.dst, i.src[0])
        else {
            return false;
        };
        let shadow = self.shadow(m);
        let mut written = 0u32;
        for k in channels(mask) {
            written |= u32::from(any(shadow, offset + strides.element(k) * ty.size(), ty.size())) << k;
        }
        for k in channels(mask) {
            let at = to + k * stride as u32 * to_ty.size();
            if written >> k & 1 != 0 {
                set(shadow, at, to_ty.size());
            } else {
                clear(shadow, at, to_ty.size());
            }
        }
        true
    }

    /// Offsets a destination writes.
    fn define(&mut self, m: &Machine<'_>, i: &Inst, mask: Mask) {
        match i.dst {
            Dst::Reg { offset, ty, stride: 1, .. } if mask & mask.wrapping_add(1) == 0 => {
                self.write(m, offset, mask.count_ones() * ty.size());
            }
            Dst::Reg { offset, ty, stride, .. } => {
                for k in channels(mask) {
                    self.write(m, offset + k * stride as u32 * ty.size(), ty.size());
                }
            }
            Dst::Indirect { address, bytes, per_address_log2, ty, stride, .. } => {
                let per = 1 << per_address_log2.min(5);
                for k in channels(mask) {
                    let base: u16 = m.t.regs.get(address + 2 * (k / per));
                    let base = base.wrapping_add((k % per * stride as u32 * ty.size()) as u16);
                    if let Ok(at) = m.indirect(base, bytes, ty.size()) {
                        self.write(m, at, ty.size());
                    }
                }
            }
            Dst::Pred { offset } => self.write(m, offset, 4),
            Dst::None => {}
        }
        if i.dst2 != 0 {
            for k in channels(mask) {
                self.write(m, i.dst2 + 4 * k, 4);
            }
        }
    }
}

fn channels(mask: Mask) -> impl Iterator<Item = u32> {
    (0..32).filter(move |k| mask >> k & 1 != 0)
}

/// The bits of `bytes` bytes from `offset` on, word by word.
#[inline]
fn words(offset: u32, bytes: u32) -> impl Iterator<Item = (usize, u64)> {
    let end = offset.saturating_add(bytes);
    (offset / 64..end.div_ceil(64)).map(move |w| {
        let from = offset.saturating_sub(w * 64).min(64);
        let to = (end - w * 64).min(64);
        let bits = if to == 64 { u64::MAX } else { (1 << to) - 1 };
        (w as usize, if from == 64 { 0 } else { bits & (u64::MAX << from) })
    })
}

fn set(shadow: &mut [u64], offset: u32, bytes: u32) {
    for (w, bits) in words(offset, bytes) {
        if let Some(w) = shadow.get_mut(w) {
            *w |= bits;
        }
    }
}

fn clear(shadow: &mut [u64], offset: u32, bytes: u32) {
    for (w, bits) in words(offset, bytes) {
        if let Some(w) = shadow.get_mut(w) {
            *w &= !bits;
        }
    }
}

/// Is any byte written? (An element of which part was written is not complained of: values are packed
/// byte by byte and read whole.)
fn any(shadow: &[u64], offset: u32, bytes: u32) -> bool {
    words(offset, bytes).any(|(w, bits)| shadow.get(w).is_none_or(|w| w & bits != 0))
}

/// Are all bytes written?
fn all(shadow: &[u64], offset: u32, bytes: u32) -> bool {
    words(offset, bytes).all(|(w, bits)| shadow.get(w).is_none_or(|w| w & bits == bits))
}

/// Name of the variable a register offset belongs to.
fn variable(m: &Machine<'_>, offset: u32) -> String {
    let p = m.env.program;
    p.functions
        .iter()
        .flat_map(|f| &f.vars)
        .find(|v| (v.offset..v.offset + v.bytes).contains(&offset))
        .map_or_else(|| "a register".to_owned(), |v| format!("{}[{}]", v.name, offset - v.offset))
}

impl Observer for Checks {
    fn fork(&self) -> Self {
        Checks::default()
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
    }

    fn start(&mut self, m: &Machine<'_>) {
        let p = m.env.program;
        let words = (p.registers.bytes as usize).div_ceil(64);
        let shadow = self.shadow(m);
        shadow.clear();
        shadow.resize(words, 0);
        // Immediates, predicates, addresses, states and predefined variables; then the inputs.
        set(shadow, 0, p.registers.address_base);
        for id in [var::NULL, var::R0, var::HW_ID, var::SR0, var::CR0, var::TSC, var::THREAD_X] {
            set(shadow, p.registers.predefined[id as usize], 64);
        }
        for i in &p.inputs {
            set(shadow, i.offset, i.bytes);
        }
    }

    fn before(&mut self, m: &Machine<'_>, pc: u32, mask: Mask) {
        let Some(i) = m.env.program.code.get(pc as usize) else { return };
        if self.copy(m, i, mask) {
            return;
        }
        // Without a mask, channels that are off compute what nobody looks at.
        let looked_at = if i.channels == 1 { mask } else { mask & (m.t.mask >> i.first) };
        let mut missing: Option<(u32, u32)> = None;
        {
            let shadow = self.shadow(m);
            for s in &i.src {
                if let Src::Reg { offset, ty, strides, constant: false, .. } = *s
                    && i.op != Op::Dpas
                {
                    // Mostly everything is written, and elements lie side by side.
                    let last = 31 - (looked_at | 1).leading_zeros();
                    let furthest = (last >> strides.width_log2) * strides.vertical as u32
                        + last.min((1 << strides.width_log2) - 1) * strides.horizontal as u32;
                    if looked_at == 0 || all(shadow, offset, (furthest + 1) * ty.size()) {
                        continue;
                    }
                    for k in channels(looked_at) {
                        let at = offset + strides.element(k) * ty.size();
                        if !any(shadow, at, ty.size()) {
                            missing = missing.or(Some((k, at)));
                        }
                    }
                }
            }
        }
        // `sel` reads the source that is not picked too; `cmp.eq x x`, by which compilers learn which channels
        // are active, has its result whatever is read.
        let whatever = i.op == Op::Sel || i.op == Op::Cmp && i.src[0] == i.src[1];
        if let Some((channel, at)) = missing
            && !whatever
        {
            self.note(m, pc, FindingKind::UninitialisedRead, channel + i.first as u32, || variable(m, at));
        }
        if i.op != Op::Message {
            self.define(m, i, mask);
            if i.op == Op::Dpas
                && let Dst::Reg { offset, .. } = i.dst
            {
                self.write(m, offset, (i.aux >> 24) * i.channels as u32 * 4);
            }
        }
    }

    fn after(&mut self, m: &Machine<'_>, pc: u32, mask: Mask, _: u32) {
        let Some(i) = m.env.program.code.get(pc as usize) else { return };
        if i.op != Op::Message {
            return;
        }
        match m.env.program.messages.get(i.aux as usize) {
            Some(Message::Simt(s)) if !s.write => {
                if let Some(data) = s.data {
                    for c in 0..s.elements.count_ones() {
                        for k in channels(mask) {
                            let at = data + c * s.component_stride + k * s.slot as u32;
                            self.write(m, at, s.slot as u32);
                        }
                    }
                }
            }
            Some(Message::Simt(s)) => {
                let Some(data) = s.data else { return };
                // Later channels against the first that wrote the place.
                let mut first: HashMap<(u64, bool), u32> = HashMap::new();
                for a in m.accesses.iter().filter(|a| a.kind == AccessKind::Write) {
                    let slm = a.space == AccessSpace::Slm;
                    let channel = (a.channel as u32).min(31);
                    let other = *first.entry((a.address, slm)).or_insert(channel);
                    if other == channel {
                        continue;
                    }
                    let value = |k: u32, c: u32| {
                        m.t.regs
                            .slice(data + c * s.component_stride + k * s.slot as u32, s.element as u32)
                            .to_vec()
                    };
                    if (0..s.elements.count_ones()).any(|c| value(other, c) != value(channel, c)) {
                        let address = a.address;
                        self.note(m, pc, FindingKind::StoreConflict, channel, || format!("{address:#x}"));
                    }
                }
            }
            Some(Message::Block(b)) if !b.write => {
                if let Some(data) = b.data {
                    self.write(m, data, b.bytes);
                }
            }
            Some(Message::Block(_)) => {}
            Some(Message::Atomic(a)) => {
                if let Some(dst) = a.dst {
                    for k in channels(mask) {
                        self.write(m, dst + k * a.slot as u32, a.slot as u32);
                    }
                }
            }
            // A family this check does not know: whatever it may have written counts as written.
            #[allow(unreachable_patterns)]
            _ => {
                let bytes = m.env.program.registers.bytes;
                self.write(m, 0, bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shadows_hold_a_bit_a_byte() {
        let mut shadow = vec![0u64; 4];
        for (offset, bytes) in [(0, 1), (3, 4), (60, 8), (64, 64), (130, 0), (255, 1)] {
            set(&mut shadow, offset, bytes);
        }
        for b in 0..256u32 {
            let written = b == 0 || (3..7).contains(&b) || (60..128).contains(&b) || b == 255;
            assert_eq!(any(&shadow, b, 1), written, "{b}");
            assert_eq!(all(&shadow, b, 1), written, "{b}");
        }
        assert!(any(&shadow, 120, 16) && !all(&shadow, 120, 16));
        assert!(all(&shadow, 60, 68));
        assert!(!any(&shadow, 128, 127));
    }
}
