//! What a program does for the lower and for the upper half of its channels by an instruction each, one does for both.
//!
//! Devices whose instructions have at most 16 channels are given everything twice: `add (M1, 16) V5 V3 V1` and
//! `add (M5, 16) V6 V4 V2`. Here the registers of such pairs come to lie side by side, those of the upper channels behind
//! those of the lower ones, and of the two instructions one of 32 channels is made; of pairs of eights that lie so
//! already, or whose registers nothing else accesses, one of 16. Engines then see conditions, addresses and rows of all
//! channels.
//!
//! Pairs need not be neighbours: the second one goes to where the first is, past what has nothing to do with it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use envisa_isa::predefined::var;
use envisa_isa::{Combine, Type};

use super::{Blocks, CHUNK};
use crate::program::*;
use crate::registers::REGISTER_PADDING;
use crate::{Atomic, Message, Simt, Space};

/// How far behind the first of a pair the second is looked for.
const FAR: usize = 16;
/// Bytes of registers that a program may get.
const MOST: u32 = 256 << 10;
/// How often places are looked for: where parts of messages that stay keep ever more others from moving, none moves.
const ROUNDS: usize = 16;

/// Two instructions that become one.
#[derive(Clone, Debug)]
struct Pair {
    first: usize,
    second: usize,
    /// Where operands of both begin, and how many bytes those of one are.
    operands: Vec<(RegOffset, RegOffset, u32)>,
    /// Pairs whose second instruction goes out of this one's way.
    after: Vec<usize>,
    gone: bool,
}

/// Does what is described above.
pub(super) fn merge_halves(p: &mut ProgramParts) {
    let calls = |i: &Inst| matches!(i.op, Op::Call | Op::Fcall | Op::Ifcall | Op::SwitchJmp);
    let halves = p.code.iter().any(|i| i.channels > 1 && i.first != 0);
    if !halves || p.functions.len() != 1 || p.code.iter().any(calls) {
        return;
    }
    let simd = p.simd;
    for channels in [8, 16].into_iter().filter(|c| 2 * c <= simd) {
        let blocks = Blocks::new(p);
        let mut pairs = find_pairs(p, &blocks, channels);
        if pairs.is_empty() {
            continue;
        }
        let mut registers = Registers::new(p, channels == 8);
        if registers.place_pairs(p, &mut pairs) {
            registers.apply_moves(p);
        }
        merge(p, &pairs);
    }
}

/// Finds all pairs of so many channels each.
fn find_pairs(p: &ProgramParts, blocks: &Blocks, channels: u32) -> Vec<Pair> {
    let half = |pc: usize| {
        let i = &p.code[pc];
        (u32::from(i.channels) == channels && (i.op.facts().by_channel || i.op == Op::Message))
            .then_some(u32::from(i.first) / channels % 2)
    };
    let mut named = vec![0u32; p.messages.len()];
    for i in p.code.iter().filter(|i| i.op == Op::Message) {
        named[i.aux as usize] += 1;
    }
    let once = |pc: usize| p.code[pc].op != Op::Message || named[p.code[pc].aux as usize] == 1;
    // It has a place of its own, which no address register names.
    let mode = p.registers.predefined[var::CR0 as usize];
    let mode = mode..mode + CHUNK;
    let mut touched: HashMap<usize, Touches> = HashMap::new();
    let (mut all, mut second): (Vec<Pair>, HashMap<usize, usize>) = (Vec::new(), HashMap::new());
    for first in 0..p.code.len() {
        if half(first) != Some(0) || second.contains_key(&first) || !once(first) {
            continue;
        }
        let mut after = Vec::new();
        for at in first + 1..p.code.len().min(first + FAR) {
            if !blocks.same(first as Pc, at as Pc) {
                break;
            }
            if let Some(k) = second.get(&at) {
                after.push(*k);
                continue;
            }
            if half(at) != Some(1) || !once(at) {
                continue;
            }
            let Some(operands) = operands(p, &p.code[first], &p.code[at]) else { continue };
            let mut touches =
                |pc: usize| touched.entry(pc).or_insert_with(|| Touches::of_instruction(p, pc)).clone();
            let own = touches(at);
            let message = p.code[at].op == Op::Message;
            let free = (first..at).filter(|b| !second.contains_key(b)).all(|b| {
                let passes = !message || b == first || p.code[b].op.facts().by_channel;
                let other = touches(b);
                passes && !other.meets(&own) && !other.writes.iter().any(|w| ranges_overlap(w, &mode))
            });
            if free {
                second.insert(at, all.len());
                all.push(Pair { first, second: at, operands, after, gone: false });
            }
            break;
        }
    }
    all
}

/// What an instruction reads and writes, and the predicates' bits of its channels.
#[derive(Clone)]
struct Touches {
    reads: Vec<Range<RegOffset>>,
    writes: Vec<Range<RegOffset>>,
    /// Predicates, of which it has only the bits of its channels.
    bits: Vec<RegOffset>,
    channels: Range<u32>,
}

impl Touches {
    fn of_instruction(p: &ProgramParts, pc: usize) -> Touches {
        let i = &p.code[pc];
        let mut bits = Vec::new();
        if i.pred.offset != 0 && i.pred.combine == Combine::None {
            bits.push(i.pred.offset);
        }
        if let Dst::Pred { offset } = i.dst {
            bits.push(offset);
        }
        bits.extend(i.src.iter().filter_map(|s| match *s {
            Src::Pred { offset, .. } => Some(offset),
            _ => None,
        }));
        if !i.op.facts().by_channel && i.op != Op::Message || i.pred.combine != Combine::None {
            bits.clear();
        }
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        i.reads(p, &mut |t| reads.push(super::range_of_access(&t, i.channels, p)));
        i.writes(p, &mut |t| writes.push(super::range_of_access(&t, i.channels, p)));
        let channels = u32::from(i.first)..u32::from(i.first) + u32::from(i.channels);
        Touches { reads, writes, bits, channels }
    }

    /// Must they stay in their order?
    fn meets(&self, other: &Touches) -> bool {
        let apart = self.channels.end <= other.channels.start || other.channels.end <= self.channels.start;
        let bits = |r: &Range<RegOffset>| {
            let at = |t: &Touches| r.end == r.start + 4 && t.bits.contains(&r.start);
            apart && at(self) && at(other)
        };
        let meet = |a: &[Range<RegOffset>], b: &[Range<RegOffset>]| {
            a.iter().any(|a| b.iter().any(|b| ranges_overlap(a, b) && !(a == b && bits(a))))
        };
        meet(&self.writes, &other.reads)
            || meet(&self.writes, &other.writes)
            || meet(&self.reads, &other.writes)
    }
}

fn ranges_overlap(a: &Range<RegOffset>, b: &Range<RegOffset>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Does an instruction write what it carries, a dword for each channel, to a second destination?
fn carries(i: &Inst) -> bool {
    i.dst2 != 0 && matches!(i.op, Op::Addc | Op::Subb)
}

/// The operands of two instructions that do the same for one half of the channels and for the other.
fn operands(p: &ProgramParts, a: &Inst, b: &Inst) -> Option<Vec<(RegOffset, RegOffset, u32)>> {
    let n = u32::from(a.channels);
    let same = (a.op, a.exec, a.no_mask, a.pred, a.function) == (b.op, b.exec, b.no_mask, b.pred, b.function)
        && a.channels == b.channels
        && u32::from(a.first).is_multiple_of(2 * n)
        && b.first == a.first + a.channels
        && (carries(a) || (a.dst2, b.dst2) == (0, 0))
        && a.pred.combine == Combine::None
        && (a.aux == b.aux || a.op == Op::Message);
    let mut all = Vec::new();
    if !same {
        return None;
    }
    if carries(a) {
        all.push((a.dst2, b.dst2, n * Type::Ud.size()));
    }
    match (a.dst, b.dst) {
        (Dst::None, Dst::None) => {}
        (Dst::Pred { offset: x }, Dst::Pred { offset: y }) if x == y => {}
        (
            Dst::Reg { offset: x, ty, stride, sat },
            Dst::Reg { offset: y, ty: other, stride: same, sat: too },
        ) if (ty, stride, sat) == (other, same, too) => all.push((x, y, n * u32::from(stride) * ty.size())),
        _ => return None,
    }
    for (s, t) in a.src.iter().zip(&b.src) {
        match (*s, *t) {
            (
                Src::Reg { offset: x, ty, strides, modifier, constant, .. },
                Src::Reg { offset: y, ty: other, strides: same, modifier: too, constant: as_well, .. },
            ) => {
                if (ty, modifier, constant) != (other, too, as_well) {
                    return None;
                }
                let step = strides.step(n).filter(|x| same.step(n) == Some(*x))?;
                match (step, constant) {
                    (0, true) => {
                        let value =
                            |at: u32| p.registers.constants.get(at as usize..(at + ty.size()) as usize);
                        (value(x)? == value(y)?).then_some(())?;
                    }
                    (0, false) => (x == y).then_some(())?,
                    (1.., false) => all.push((x, y, n * step * ty.size())),
                    _ => return None,
                }
            }
            (s, t) if s == t && matches!(s, Src::None | Src::Pred { .. }) => {}
            _ => return None,
        }
    }
    if a.op == Op::Message {
        match_messages(&p.messages[a.aux as usize], &p.messages[b.aux as usize], n, &mut all)?;
    }
    Some(all)
}

/// The same of messages.
fn match_messages(
    a: &Message,
    b: &Message,
    n: u32,
    all: &mut Vec<(RegOffset, RegOffset, u32)>,
) -> Option<()> {
    match (a, b) {
        (Message::Simt(a), Message::Simt(b)) => {
            (*a == Simt { address: a.address, data: a.data, ..b.clone() } && a.stride == Src::None)
                .then_some(())?;
            all.push((a.address, b.address, n * u32::from(a.address_bytes)));
            let (x, y) = (a.data?, b.data?);
            let parts = if a.is_paired() { 1 } else { a.elements.count_ones() };
            all.extend(
                (0..parts).map(|c| c * a.component_stride).map(|c| (x + c, y + c, n * u32::from(a.slot))),
            );
        }
        (Message::Atomic(a), Message::Atomic(b)) => {
            (*a == Atomic { address: a.address, src: a.src, dst: a.dst, ..b.clone() }).then_some(())?;
            if a.address_bytes != 0 {
                all.push((a.address, b.address, n * u32::from(a.address_bytes)));
            }
            for (x, y) in [(a.src[0], b.src[0]), (a.src[1], b.src[1]), (a.dst, b.dst)] {
                match (x, y) {
                    (None, None) => {}
                    (Some(x), Some(y)) => all.push((x, y, n * u32::from(a.slot))),
                    _ => return None,
                }
            }
        }
        _ => return None,
    }
    Some(())
}

/// Registers that instructions access together stay together: units of whole chunks. Where they go.
struct Registers {
    /// Of each chunk: the first of its unit.
    unit: Vec<u32>,
    /// Of each unit, by its first chunk: bytes from its beginning that are touched.
    used: Vec<u32>,
    /// Units that stay where they are.
    pinned: HashSet<u32>,
    /// May registers be moved?
    movable: bool,
    /// Of each unit, by its first chunk, how many instructions access it, if only those move that nothing but pairs
    /// accesses: parts of 64 bytes that are accessed one by one are no vectors.
    accesses: Option<Vec<u32>>,
    locals: RegOffset,
    /// Where units are now, and where they were.
    to: HashMap<u32, RegOffset>,
    end: RegOffset,
    /// Inputs that follow others.
    inputs: Vec<(usize, usize)>,
}

impl Registers {
    fn new(p: &ProgramParts, of_pairs_alone: bool) -> Registers {
        let chunks = p.registers.bytes.div_ceil(CHUNK) as usize;
        let mut joined = vec![false; chunks + 1];
        let mut ranges = Vec::new();
        let mut odd = Vec::new();
        let mut by_instruction = Vec::new();
        for i in &p.code {
            let mut own = Vec::new();
            i.reads(p, &mut |t| own.push(super::range_of_access(&t, i.channels, p)));
            i.writes(p, &mut |t| own.push(super::range_of_access(&t, i.channels, p)));
            for r in own.iter().filter(|r| !r.is_empty()) {
                let (first, last) = (r.start / CHUNK, (r.end - 1) / CHUNK);
                (first..last).for_each(|c| joined[c as usize] = true);
            }
            let message = || p.messages.get(i.aux as usize);
            let known = match i.op {
                Op::Message => matches!(message(), Some(Message::Simt(_) | Message::Atomic(_))),
                // What they read is more than their operands say, and may lie apart.
                Op::Dpas | Op::Dpasw | Op::Bdpas | Op::Unsupported => false,
                Op::Pln | Op::Line | Op::ShflIdx4 => false,
                _ => i.dst2 == 0 || carries(i),
            };
            if !known {
                odd.extend(own.iter().map(|r| r.start / CHUNK));
            }
            by_instruction.push(own.clone());
            ranges.append(&mut own);
        }
        let mut unit: Vec<u32> = Vec::with_capacity(chunks);
        for c in 0..chunks {
            let before = c.checked_sub(1).filter(|b| joined[*b]).map(|b| unit[b]);
            unit.push(before.unwrap_or(c as u32));
        }
        let mut used = vec![0; chunks];
        for r in ranges.iter().filter(|r| !r.is_empty()) {
            let u = unit[(r.start / CHUNK) as usize];
            let end = r.end - u * CHUNK;
            used[u as usize] = end.max(used[u as usize]);
        }
        let pinned = odd.into_iter().map(|c| unit[c as usize]).collect();
        let accesses = of_pairs_alone.then(|| {
            let mut all = vec![0; chunks];
            for own in &by_instruction {
                let units: HashSet<u32> = own.iter().map(|r| unit[(r.start / CHUNK) as usize]).collect();
                units.into_iter().for_each(|u| all[u as usize] += 1);
            }
            all
        });
        Registers {
            unit,
            used,
            pinned,
            movable: true,
            accesses,
            locals: p.registers.locals_start,
            to: HashMap::new(),
            end: 0,
            inputs: Vec::new(),
        }
    }

    /// How many instructions of pairs access each unit.
    fn accesses_of_pairs(&self, pairs: &[Pair]) -> HashMap<u32, u32> {
        let mut all = HashMap::new();
        for pair in pairs.iter().filter(|k| !k.gone) {
            for second in [false, true] {
                let of = |o: &(RegOffset, RegOffset, u32)| self.unit_at(if second { o.1 } else { o.0 });
                let units: HashSet<u32> = pair.operands.iter().map(of).collect();
                units.into_iter().for_each(|u| *all.entry(u).or_insert(0) += 1);
            }
        }
        all
    }

    fn unit_at(&self, at: RegOffset) -> u32 {
        self.unit.get((at / CHUNK) as usize).copied().unwrap_or(at / CHUNK)
    }

    /// Where a byte is.
    fn at(&self, at: RegOffset) -> RegOffset {
        let u = self.unit_at(at);
        self.to.get(&u).map_or(at, |to| to + (at - u * CHUNK))
    }

    /// The two inputs that begin at two places, if the second one follows the first in what a thread is given, and may
    /// do so here.
    fn adjacent_inputs(
        &self,
        p: &ProgramParts,
        (a, b, bytes): (RegOffset, RegOffset, u32),
    ) -> Option<(usize, usize)> {
        let find = |at: RegOffset| {
            p.inputs.iter().position(|i| (i.offset, i.bytes) == (at, bytes) && i.class == InputClass::General)
        };
        let (x, y) = (find(a)?, find(b)?);
        let free = p.registers.address_base + p.registers.address_homes.len() as u32 * CHUNK;
        let alone = |u: u32, k: usize| {
            let inside =
                |i: &InputSlot| super::chunks_of_range(i.offset..i.offset + i.bytes.max(1)).contains(&u);
            p.inputs.iter().enumerate().all(|(at, i)| at == k || !inside(i))
        };
        let (u, v) = (a / CHUNK, b / CHUNK);
        (p.inputs[y].image == p.inputs[x].image + bytes
            && 2 * bytes <= CHUNK
            && a >= free
            && b >= free
            && alone(u, x)
            && alone(v, y))
        .then_some((x, y))
    }

    /// Finds places for the registers of pairs; pairs that cannot be had are gone afterwards. `false`: nothing moves.
    fn place_pairs(&mut self, p: &ProgramParts, pairs: &mut [Pair]) -> bool {
        for _ in 0..ROUNDS {
            let twins = self.following_units(p, pairs);
            if !self.movable {
                return false;
            }
            if self.place_following_units(p, pairs, &twins) {
                return !self.to.is_empty();
            }
        }
        self.movable = false;
        self.following_units(p, pairs);
        false
    }

    /// The units that follow others, and after how many bytes.
    fn following_units(&mut self, p: &ProgramParts, pairs: &mut [Pair]) -> HashMap<u32, (u32, u32)> {
        loop {
            let (mut twins, mut upper) = (HashMap::new(), HashMap::new());
            let mut lost = false;
            let own = self.accesses.as_ref().map(|all| (all, self.accesses_of_pairs(pairs)));
            let alone = |u: u32| own.as_ref().is_none_or(|(all, of)| of.get(&u) == Some(&all[u as usize]));
            for k in 0..pairs.len() {
                if pairs[k].gone {
                    continue;
                }
                let waits = pairs[k].after.iter().any(|a| pairs[*a].gone);
                let fits =
                    pairs[k].operands.iter().all(|o| self.can_follow(p, *o, &alone, &mut twins, &mut upper));
                if waits || !fits {
                    (pairs[k].gone, lost) = (true, true);
                }
            }
            if !lost {
                return twins;
            }
        }
    }

    fn can_follow(
        &self,
        p: &ProgramParts,
        (a, b, bytes): (RegOffset, RegOffset, u32),
        alone: &dyn Fn(u32) -> bool,
        twins: &mut HashMap<u32, (u32, u32)>,
        upper: &mut HashMap<u32, u32>,
    ) -> bool {
        let (u, v) = (self.unit_at(a), self.unit_at(b));
        // Elements that lie apart begin inside of the first step.
        let (x, y) = (a - u * CHUNK, b - v * CHUNK);
        let stays = |w: u32| w * CHUNK < self.locals || self.pinned.contains(&w) || !self.movable;
        if a + bytes == b && (u == v || stays(u) && stays(v)) {
            return true;
        }
        let whole = |w: u32| self.used[w as usize] <= bytes;
        let inputs = u * CHUNK < self.locals && v * CHUNK < self.locals;
        let may = match inputs {
            true => {
                let kept = [u, v].iter().any(|w| self.pinned.contains(w));
                !kept && (x, y) == (0, 0) && self.adjacent_inputs(p, (a, b, bytes)).is_some()
            }
            false => !stays(u) && !stays(v),
        };
        if !self.movable || u == v || x != y || x >= bytes || !whole(u) || !whole(v) || !may {
            return false;
        }
        if twins.contains_key(&v) || upper.contains_key(&u) || !alone(u) || !alone(v) {
            return false;
        }
        *twins.entry(u).or_insert((v, bytes)) == (v, bytes) && *upper.entry(v).or_insert(u) == u
    }

    /// Gives all twins a place; `false` if a message's parts would not be as far from each other as it can say: those
    /// stay where they are then.
    fn place_following_units(
        &mut self,
        p: &ProgramParts,
        pairs: &[Pair],
        twins: &HashMap<u32, (u32, u32)>,
    ) -> bool {
        self.to.clear();
        self.inputs.clear();
        let first = p.registers.bytes.saturating_sub(REGISTER_PADDING).next_multiple_of(CHUNK);
        let mut room = first;
        // In the order in which they are named: first those of messages, whose parts are to be as far from each other.
        let message = |k: &&Pair| p.code[k.first].op == Op::Message;
        let all = || pairs.iter().filter(|k| !k.gone);
        for pair in all().filter(message).chain(all()) {
            for &(a, b, bytes) in &pair.operands {
                let u = self.unit_at(a);
                let Some((v, bytes)) = twins.get(&u).filter(|t| t.0 == self.unit_at(b) && t.1 == bytes)
                else {
                    continue;
                };
                if self.to.contains_key(v) {
                    continue;
                }
                if u * CHUNK < self.locals {
                    self.inputs.extend(self.adjacent_inputs(p, (a, b, *bytes)));
                    self.to.insert(*v, u * CHUNK + bytes);
                    continue;
                }
                self.to.insert(u, room);
                self.to.insert(*v, room + bytes);
                room = (room + 2 * bytes).next_multiple_of(CHUNK);
            }
        }
        self.end = room;
        if room - first > MOST {
            self.movable = false;
            return false;
        }
        let before = self.pinned.len();
        for m in &p.messages {
            let Message::Simt(s) = m else { continue };
            if let Some(data) = s.data.filter(|_| self.part_stride(s).is_none()) {
                let parts = s.elements.count_ones();
                let parts: Vec<u32> =
                    (0..parts).map(|c| self.unit_at(data + c * s.component_stride)).collect();
                self.pinned.extend(parts);
            }
        }
        before == self.pinned.len()
    }

    /// From part to part of what a message moves, where that is the same for all.
    fn part_stride(&self, s: &Simt) -> Option<u32> {
        let (Some(data), false) = (s.data, s.is_paired()) else { return Some(s.component_stride) };
        let part = |c: u32| self.at(data + c * s.component_stride);
        match s.elements.count_ones() {
            0 | 1 => Some(s.component_stride),
            n => {
                let step = part(1).checked_sub(part(0))?;
                (1..n).all(|c| part(c) == part(0) + c * step).then_some(step)
            }
        }
    }

    /// Moves them.
    fn apply_moves(&self, p: &mut ProgramParts) {
        let src = |s: &mut Src| {
            if let Src::Reg { offset, constant: false, .. } = s {
                *offset = self.at(*offset);
            }
        };
        for i in &mut p.code {
            if let Dst::Reg { offset, .. } = &mut i.dst {
                *offset = self.at(*offset);
            }
            if carries(i) {
                i.dst2 = self.at(i.dst2);
            }
            i.src.iter_mut().for_each(src);
        }
        for m in &mut p.messages {
            if let Some(
                Space::Bti(s)
                | Space::Bindless(s)
                | Space::Scratch(s)
                | Space::Counter(s)
                | Space::HandleCounter(s),
            ) = m.space_mut()
            {
                src(s);
            }
            match m {
                Message::Simt(s) => {
                    s.component_stride = self.part_stride(s).unwrap_or(s.component_stride);
                    s.address = self.at(s.address);
                    s.data = s.data.map(|d| self.at(d));
                    [&mut s.base, &mut s.origin, &mut s.stride].into_iter().for_each(src);
                }
                Message::Atomic(a) => {
                    a.address = self.at(a.address);
                    a.src = a.src.map(|s| s.map(|d| self.at(d)));
                    a.dst = a.dst.map(|d| self.at(d));
                    [&mut a.base, &mut a.origin].into_iter().for_each(src);
                }
                _ => {}
            }
        }
        let mut gone = HashSet::new();
        for &(x, y) in &self.inputs {
            p.inputs[x].bytes *= 2;
            gone.insert(y);
        }
        let mut k = 0;
        p.inputs.retain(|_| {
            k += 1;
            !gone.contains(&(k - 1))
        });
        p.registers.bytes = p.registers.bytes.max((self.end + REGISTER_PADDING).next_multiple_of(CHUNK));
    }
}

/// Makes one instruction of each pair.
fn merge(p: &mut ProgramParts, pairs: &[Pair]) {
    let mut keep = vec![true; p.code.len()];
    // What the second ones were made of comes along.
    let to: HashMap<usize, usize> = pairs.iter().filter(|k| !k.gone).map(|k| (k.second, k.first)).collect();
    let mut upper = std::mem::take(&mut p.upper);
    for u in &mut upper {
        if let Some(first) = to.get(&(u.pc as usize)) {
            u.pc = *first as Pc;
        }
    }
    for pair in pairs.iter().filter(|k| !k.gone) {
        let second = p.code[pair.second];
        let i = &mut p.code[pair.first];
        let n = u32::from(i.channels);
        i.channels *= 2;
        for s in &mut i.src {
            if let Src::Reg { strides, shape, .. } = s
                && let Some(step) = strides.step(n)
            {
                *strides = Strides { vertical: step as u8, width_log2: 0, horizontal: 0 };
                *shape = i.op.shape(*strides, 2 * n);
            }
        }
        upper.push(Upper {
            pc: pair.first as Pc,
            channel: second.first,
            source: second.source,
            span: second.span,
        });
        keep[pair.second] = false;
    }
    upper.sort_unstable_by_key(|u| (u.pc, u.channel));
    p.upper = upper;
    super::dead_code::remove_instructions(p, &keep);
    let (start, end) = (p.functions[0].entry, p.functions[0].end);
    crate::flow::analyse_divergence(&mut p.code, &p.tables, start, end, p.simd);
}
