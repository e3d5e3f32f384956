//! Private arrays are laid out element by element, the channels' side by side.
//!
//! Compilers give each work-item a part of a thread's private memory and add to its begin the number of the channel times
//! the length of that part: elements at one index are far apart from channel to channel. No other thread and no host sees
//! that memory, so that its layout is the program's own affair. Where all of a program's accesses of private memory are
//! known to be such arrays', the number of the channel is multiplied by an element's length instead, and offsets within
//! the array by the number of channels: elements at one index are side by side then.
//!
//! What is known of each dword of the register file holds wherever it is written ([`values`]).

mod values;

use std::ops::Range;

use envisa_isa::{Modifier, Type};

use super::{Blocks, CHUNK, Uses, immediate};
use crate::program::*;
use crate::registers::REGISTER_PADDING;
use crate::{Message, Simt};
use values::{Access, MOST_BYTES, Value, Values};

/// The numbers that the pass needs: they are among a program's immediates if it has private memory.
pub(crate) fn numbers(channels: u32) -> impl Iterator<Item = u32> {
    let elements = 0..=MOST_BYTES;
    let shifts = [channels.trailing_zeros()];
    elements.chain(shifts).chain((1..MOST_BYTES).map(move |inside| moved_back(inside, channels)))
}

/// What is added to an offset that was multiplied by the number of channels, of which so many bytes are inside of an element.
fn moved_back(inside: u32, channels: u32) -> u32 {
    (inside * (channels - 1)).wrapping_neg()
}

/// Does what is described above.
pub(super) fn lay_out_by_elements(p: &mut ProgramParts, blocks: &Blocks) {
    let Some(private) = p.private.filter(|_| p.functions.len() == 1) else { return };
    if Uses::new(p).calls {
        return;
    }
    let Some((values, accesses)) = Values::find(p, private, |pc| blocks.in_entry(pc)) else { return };
    let Some(arrays) = arrays(p.simd, private, &accesses) else { return };
    let Some(mut changes) = changes(p, &values, &arrays) else { return };
    if accesses.iter().all(|a| changes.take_apart(p, a, &arrays).is_some()) {
        apply(p, changes);
    }
}

/// Most runs of registers that are scaled: each instruction is held against all.
const MOST: usize = 512;
/// The most that arrays are aligned to.
const ALIGNED: u32 = 64;

/// Arrays whose elements are so far apart from channel to channel, and how long the elements are.
struct Arrays {
    stride: u32,
    element: u32,
}

/// All arrays. `None` if they do not fill the thread's memory one behind the other, but for what is left free to align them,
/// or if an access is at more than one element.
fn arrays(channels: u32, private: PrivateMemory, accesses: &[Access]) -> Option<Vec<Arrays>> {
    let mut places: Vec<(u32, u32)> = accesses.iter().map(|a| (a.at, a.stride)).collect();
    places.sort_unstable();
    places.dedup();
    // Of each work-item's part of the memory.
    let mut end = 0u32;
    for (at, stride) in places {
        let (begin, rest) = (at / channels, at % channels);
        let aligned = (0..=ALIGNED.trailing_zeros()).any(|k| end.next_multiple_of(1 << k) == begin);
        (aligned && rest == 0).then_some(())?;
        end = begin.checked_add(stride)?;
    }
    // If memory is left over, an array was taken for another one of the same length.
    (end == private.bytes).then_some(())?;
    let mut all: Vec<Arrays> = Vec::new();
    for a in accesses {
        let element = a.element;
        match all.iter_mut().find(|of| of.stride == a.stride) {
            Some(of) => of.element = of.element.max(element),
            None => all.push(Arrays { stride: a.stride, element }),
        }
    }
    all.iter().all(|of| of.stride.is_multiple_of(of.element)).then_some(())?;
    let inside = |a: &Access| {
        let of = all.iter().find(|of| of.stride == a.stride)?;
        let place = a.low.within(of.element)?;
        Some(if a.element == of.element { place == 0 } else { place + a.element * a.count <= of.element })
    };
    accesses.iter().all(|a| inside(a) == Some(true)).then_some(all)
}

/// What becomes another: sources of instructions, and messages of several elements; what comes in.
struct Changes {
    sources: Vec<(usize, usize, Src)>,
    first_alone: Vec<u32>,
    messages: Vec<Message>,
    insts: Vec<(Pc, Inst)>,
    scaled: Vec<Scaled>,
    end: RegOffset,
}

/// Registers that have what others have, times the number of channels but for what is inside of an element.
struct Scaled {
    from: Range<RegOffset>,
    to: RegOffset,
    inside: u32,
}

fn apply(p: &mut ProgramParts, mut changes: Changes) {
    for (pc, source, to) in changes.sources {
        p.code[pc].src[source] = to;
    }
    for message in changes.first_alone {
        if let Message::Simt(s) = &mut p.messages[message as usize] {
            s.elements = 1;
        }
    }
    p.messages.extend(changes.messages);
    p.registers.bytes = p.registers.bytes.max((changes.end + REGISTER_PADDING).next_multiple_of(CHUNK));
    changes.insts.sort_by_key(|(pc, _)| *pc);
    super::insert(p, changes.insts);
}

/// What is to be changed; `None` where an offset may be at any byte of an element, or is made in a rare way.
fn changes(p: &ProgramParts, values: &Values, arrays: &[Arrays]) -> Option<Changes> {
    let end = p.registers.bytes.saturating_sub(REGISTER_PADDING).next_multiple_of(CHUNK);
    let (sources, scaled) = (Vec::new(), Vec::new());
    let mut out =
        Changes { sources, first_alone: Vec::new(), messages: Vec::new(), insts: Vec::new(), scaled, end };
    let mut offsets = Vec::new();
    for pc in 0..p.code.len() {
        let Some(Value::Address(to)) = values.made(p, pc) else { continue };
        let element = arrays.iter().find(|a| a.stride == to.stride)?.element;
        if let Some((factor, _)) = values.length_of_part(p, pc) {
            let shift = p.code[pc].op == Op::Shl;
            let length = if shift { element.trailing_zeros() } else { element };
            out.sources.push((pc, factor, immediate(p, length, Type::D)?));
            continue;
        }
        for k in values.offsets(p, pc, &to) {
            let inside = values.low_of_all(p, pc, k).within(element)?;
            offsets.push((pc, k, range_of_offset(&p.code[pc], k)?, inside));
        }
    }
    for (.., range, inside) in &offsets {
        out.add(range.clone(), *inside)?;
    }
    // What is written together is scaled together.
    for _ in 0..p.code.len() {
        let Some((range, inside)) = out.written_with_others(p) else { break };
        out.add(range, inside)?;
    }
    for (pc, k, range, _) in offsets {
        let of = out.scaled.iter().find(|s| s.from.contains(&range.start))?;
        let Src::Reg { strides, shape, ty, .. } = p.code[pc].src[k] else { return None };
        let (offset, modifier) = (of.to + (range.start - of.from.start), Modifier::None);
        let ty = if ty.size() == 8 { Type::Q } else { Type::D };
        out.sources.push((pc, k, Src::Reg { offset, ty, strides, shape, modifier, constant: false }));
    }
    out.scale_what_is_written(p)?;
    Some(out)
}

/// The registers of an offset, of which each channel has one element, or all have the same.
fn range_of_offset(i: &Inst, k: usize) -> Option<Range<RegOffset>> {
    let Src::Reg { offset, ty, shape, modifier: Modifier::None, .. } = i.src[k] else { return None };
    let elements = match shape {
        Shape::Scalar => 1,
        Shape::Contiguous => u32::from(i.channels),
        Shape::General => return None,
    };
    Some(offset..offset + elements * ty.size())
}

impl Changes {
    /// Registers are to be scaled; those that overlap others are with these. `None` if that is another way.
    fn add(&mut self, mut range: Range<RegOffset>, inside: u32) -> Option<()> {
        let touches = |s: &Scaled, r: &Range<RegOffset>| s.from.start <= r.end && r.start <= s.from.end;
        while let Some(k) = self.scaled.iter().position(|s| touches(s, &range)) {
            let other = self.scaled.swap_remove(k);
            let inner = other.from.start < range.end && range.start < other.from.end;
            if other.inside != inside {
                if inner {
                    return None;
                }
                self.scaled.push(other);
                break;
            }
            range = range.start.min(other.from.start)..range.end.max(other.from.end);
        }
        let to = self.end + range.start % CHUNK;
        self.end = (to + (range.end - range.start)).next_multiple_of(CHUNK);
        self.scaled.push(Scaled { from: range, to, inside });
        (self.scaled.len() <= MOST).then_some(())
    }

    /// What an instruction writes of which a part is to be scaled.
    fn written_with_others(&self, p: &ProgramParts) -> Option<(Range<RegOffset>, u32)> {
        let ranges = p.code.iter().filter_map(|i| match i.dst {
            Dst::Reg { offset, ty, stride: 1, .. } => {
                Some(offset..offset + u32::from(i.channels) * ty.size())
            }
            _ => None,
        });
        let mut parts = ranges.filter_map(|r| {
            let of = self.scaled.iter().find(|s| r.start < s.from.end && s.from.start < r.end)?;
            let inner = of.from.start <= r.start && r.end <= of.from.end;
            (!inner).then_some((r, of.inside))
        });
        parts.next()
    }

    /// Behind each instruction that writes what is to be scaled, that is done; first of all, where nothing writes it.
    fn scale_what_is_written(&mut self, p: &ProgramParts) -> Option<()> {
        let mut written = vec![false; self.scaled.len()];
        for (pc, i) in p.code.iter().enumerate() {
            let mut ranges = Vec::new();
            i.writes(p, &mut |t| ranges.push(super::range_of_access(&t, i.channels, p)));
            for k in 0..self.scaled.len() {
                let of = &self.scaled[k].from;
                if !ranges.iter().any(|r| r.start < of.end && of.start < r.end) {
                    continue;
                }
                written[k] = true;
                let Dst::Reg { offset, ty, stride: 1, sat: false } = i.dst else { return None };
                let all = offset..offset + u32::from(i.channels) * ty.size();
                let inner = of.start <= all.start && all.end <= of.end;
                (inner && ty.is_int() && ty.size() >= 4 && i.op != Op::Message).then_some(())?;
                self.scale(p, k, (pc as Pc + 1, *i), (offset, ty))?;
            }
        }
        for k in (0..written.len()).filter(|k| !written[*k]) {
            let (from, first) = (self.scaled[k].from.clone(), *p.code.first()?);
            let (no_mask, pred) = (true, Pred::default());
            let once = Inst { channels: 1, no_mask, pred, first: 0, ..first };
            let ty = if from.end - from.start == 2 { Type::W } else { Type::D };
            for at in from.step_by(ty.size() as usize) {
                self.scale(p, k, (1, once), (at, ty))?;
            }
        }
        Some(())
    }

    /// Puts in what scales what an instruction writes, before another one.
    fn scale(
        &mut self,
        p: &ProgramParts,
        k: usize,
        (before, like): (Pc, Inst),
        (from, ty): (RegOffset, Type),
    ) -> Option<()> {
        let Scaled { from: Range { start, .. }, to, inside } = self.scaled[k];
        let (made, exec) = if ty.size() == 8 { (Type::Q, ExecType::I64) } else { (Type::D, ExecType::I32) };
        let strides = if like.channels == 1 { Strides::SCALAR } else { Strides::CONTIGUOUS };
        let source = |offset: RegOffset, ty: Type| {
            let constant = offset < p.registers.constants.len() as u32;
            let shape = strides.shape(like.channels.into());
            Src::Reg { offset, ty, strides, shape, modifier: Modifier::None, constant }
        };
        let offset = to + (from - start);
        let dst = Dst::Reg { offset, ty: made, stride: 1, sat: false };
        let facts = Facts { fuses_with_next: false, writes_only_next: false, auxiliary: true, ..like.facts };
        let inst = |op: Op, a: Src, b: Src| {
            let src = [a, b, Src::None, Src::None];
            Inst { op, exec, dst, src, aux: 0, dst2: 0, facts, ..like }
        };
        let by = immediate(p, p.simd.trailing_zeros(), Type::D)?;
        self.insts.push((before, inst(Op::Shl, source(from, ty), by)));
        if inside != 0 {
            let back = immediate(p, moved_back(inside, p.simd), Type::D)?;
            self.insts.push((before, inst(Op::Add, source(offset, made), back)));
        }
        Some(())
    }

    /// An access of several elements becomes one of each. `None` if one of them writes what others read.
    fn take_apart(&mut self, p: &ProgramParts, a: &Access, arrays: &[Arrays]) -> Option<()> {
        let i = &p.code[a.pc];
        let Some(Message::Simt(s)) = p.messages.get(i.aux as usize) else { return None };
        let element = arrays.iter().find(|of| of.stride == a.stride)?.element;
        if a.count == 1 || a.element != element {
            return Some(());
        }
        let channels = u32::from(i.channels);
        let (address, data) = (s.address..s.address + 8 * channels, s.data?);
        let end = data + a.count * s.component_stride.max(channels * u32::from(s.slot));
        (s.write || end <= address.start || address.end <= data).then_some(())?;
        self.first_alone.push(i.aux);
        for k in 1..a.count {
            let offset = i64::from(k * element * p.simd);
            let data = Some(data + k * s.component_stride);
            let aux = (p.messages.len() + self.messages.len()) as u32;
            self.messages.push(Message::Simt(Simt { elements: 1, offset, data, ..s.clone() }));
            self.insts.push((a.pc as Pc, Inst { aux, ..*i }));
        }
        Some(())
    }
}
