//! What the dwords of the register file have to do with addresses of private memory, wherever they are written.

use std::collections::HashMap;
use std::ops::Range;

use envisa_isa::Modifier;

use super::super::fold_addresses::constant;
use super::super::range_of_access;
use crate::program::*;
use crate::{Extend, Message, Simt, Space};

/// The longest element.
pub(super) const MOST_BYTES: u32 = 8;
/// Rounds after which a program is left as it is.
const ROUNDS: usize = 16;

/// The lowest bits of a number, as many as are known: at most those of places in the longest element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Low {
    bits: u32,
    value: u32,
}

impl Low {
    const UNKNOWN: Low = Low { bits: 0, value: 0 };

    fn new(bits: u32, value: u32) -> Low {
        let bits = bits.min(MOST_BYTES.trailing_zeros());
        Low { bits, value: value & ((1 << bits) - 1) }
    }

    fn of(x: u32) -> Low {
        Low::new(32, x)
    }

    fn or(self, other: Low) -> Low {
        Low::new(self.bits.min(other.bits).min((self.value ^ other.value).trailing_zeros()), self.value)
    }

    fn plus(self, other: Low) -> Low {
        Low::new(self.bits.min(other.bits), self.value + other.value)
    }

    fn times(self, x: u32) -> Low {
        Low::new(self.bits + x.trailing_zeros(), self.value.wrapping_mul(x))
    }

    fn and(self, x: u32) -> Low {
        let known = (x >> self.bits).trailing_zeros() + self.bits;
        Low::new(known, self.value & x)
    }

    fn or_with(self, x: u32) -> Low {
        let known = (!x >> self.bits).trailing_zeros() + self.bits;
        Low::new(known, self.value | x)
    }

    /// The place in an element of so many bytes, a power of two.
    pub fn within(self, element: u32) -> Option<u32> {
        (self.bits >= element.trailing_zeros()).then_some(self.value & (element - 1))
    }
}

/// An address in an array of private memory, or what is added up to be one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Address {
    /// From channel to channel.
    pub stride: u32,
    /// Where the array begins in the thread's memory: what was added of that so far.
    at: u32,
    /// Was the start of the thread's memory added?
    thread: bool,
    /// Was the begin of all private memory added?
    base: bool,
    /// The rest: the offset within the array.
    low: Low,
}

impl Address {
    /// What each channel's part is from the first one's.
    fn first(stride: u32) -> Address {
        Address { stride, at: 0, thread: false, base: false, low: Low::of(0) }
    }

    /// Is a number that is added a part of where the array begins? Offsets within an array are less than its length.
    fn is_of_begin(&self, x: u32) -> bool {
        x >= self.stride
    }
}

/// What is known of a dword.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// Nothing wrote it so far.
    Unset,
    Number(u32),
    Plain(Low),
    /// A half of the address of all private memory.
    Base(u32),
    /// Where the thread's memory begins in that, and so many bytes more.
    Thread(u32),
    /// The low half of an address.
    Address(Address),
    /// The upper half of one, or what is carried to it.
    Upper,
}

impl Value {
    /// Has it nothing to do with private memory?
    fn is_usual(self) -> bool {
        matches!(self, Value::Unset | Value::Number(_) | Value::Plain(_))
    }

    fn low(self) -> Option<Low> {
        match self {
            Value::Number(x) => Some(Low::of(x)),
            Value::Plain(low) => Some(low),
            _ => None,
        }
    }

    /// One or the other; `None` if that is of no kind.
    fn or(self, other: Value) -> Option<Value> {
        Some(match (self, other) {
            (Value::Unset, x) | (x, Value::Unset) => x,
            (a, b) if a == b => a,
            (Value::Address(a), Value::Address(b)) => {
                let all = Address { low: a.low.or(b.low), ..a };
                (all == Address { low: all.low, ..b }).then_some(Value::Address(all))?
            }
            (a, b) => Value::Plain(a.low()?.or(b.low()?)),
        })
    }

    /// The sum of low halves, or of upper ones.
    fn sum(all: &[Value]) -> Option<Value> {
        if all.contains(&Value::Unset) {
            return Some(Value::Unset);
        }
        if let Some(k) = all.iter().position(|v| matches!(v, Value::Address(_))) {
            let Value::Address(mut to) = all[k] else { return None };
            for v in all[..k].iter().chain(&all[k + 1..]) {
                match *v {
                    Value::Base(0) if !to.base => to.base = true,
                    Value::Thread(at) if !to.thread => {
                        (to.at, to.thread) = (to.at.wrapping_add(at), true);
                    }
                    Value::Number(x) if to.is_of_begin(x) => to.at = to.at.wrapping_add(x),
                    v => to.low = to.low.plus(v.low()?),
                }
            }
            return Some(Value::Address(to));
        }
        if all.iter().any(|v| matches!(v, Value::Upper | Value::Base(1))) {
            let upper = |v: &Value| matches!(v, Value::Upper | Value::Base(1)) || v.is_usual();
            return all.iter().all(upper).then_some(Value::Upper);
        }
        let mut to = all[0];
        for v in &all[1..] {
            to = match (to, *v) {
                (Value::Number(a), Value::Number(b)) => Value::Number(a.wrapping_add(b)),
                (Value::Thread(at), Value::Number(x)) | (Value::Number(x), Value::Thread(at)) => {
                    Value::Thread(at.wrapping_add(x))
                }
                (a, b) => Value::Plain(a.low()?.plus(b.low()?)),
            };
        }
        Some(to)
    }
}

/// An access of an array.
pub(super) struct Access {
    pub pc: usize,
    pub stride: u32,
    /// Where the array begins in the thread's memory.
    pub at: u32,
    /// Bytes of an element as the message has it, and how many of them there are.
    pub element: u32,
    pub count: u32,
    pub low: Low,
}

/// What is known of all dwords.
pub(super) struct Values {
    all: Vec<Value>,
    /// Words that have numbers: those of channels.
    words: HashMap<RegOffset, u16>,
    /// Bytes of a thread's private memory.
    thread: u32,
    /// Did anything change in this round?
    changed: bool,
}

/// The operands of a sum, by their places.
fn terms(i: &Inst) -> Range<usize> {
    if i.op == Op::Add3 { 0..3 } else { 0..2 }
}

impl Values {
    /// All values, and all accesses of private memory; `None` if such memory is accessed otherwise, or may be.
    pub fn find(
        p: &ProgramParts,
        private: PrivateMemory,
        in_entry: impl Fn(Pc) -> bool,
    ) -> Option<(Values, Vec<Access>)> {
        let input = p.inputs.iter().find(|i| {
            let inside = i.image <= private.image && private.image + 8 <= i.image.saturating_add(i.bytes);
            inside && i.class == InputClass::General
        })?;
        let base = input.offset + private.image - input.image;
        let thread = private.bytes.checked_mul(p.simd)?;
        let words = crate::analysis::lane_words(p, in_entry);
        // Without the numbers of channels there are no arrays of theirs.
        (!words.is_empty()).then_some(())?;
        let all = vec![Value::Unset; p.registers.bytes.div_ceil(4) as usize];
        let mut values = Values { all, words, thread, changed: true };
        values.given(p, base);
        let mut rounds = 0;
        while std::mem::take(&mut values.changed) {
            rounds += 1;
            (rounds <= ROUNDS).then_some(())?;
            (0..p.code.len()).try_for_each(|pc| values.go_on(p, pc))?;
        }
        p.code.iter().all(|i| values.is_known(p, i)).then_some(())?;
        let of = |(pc, i): (usize, &Inst)| {
            message(p, i).filter(|s| values.accesses_array(p, i, s)).map(|s| values.access(pc, i, s))
        };
        let accesses: Option<Vec<_>> = p.code.iter().enumerate().filter_map(of).collect();
        Some((values, accesses?))
    }

    /// Before any instruction: the address of private memory, and anything in what no instruction writes and in inputs.
    fn given(&mut self, p: &ProgramParts, base: RegOffset) {
        let mut written = vec![false; self.all.len()];
        for i in &p.code {
            i.writes(p, &mut |t| {
                let r = range_of_access(&t, i.channels, p);
                written[dwords(&r)].fill(true);
            });
        }
        for input in &p.inputs {
            written[dwords(&(input.offset..input.offset + input.bytes))].fill(false);
        }
        for (value, _) in self.all.iter_mut().zip(&written).filter(|(_, written)| !**written) {
            *value = Value::Plain(Low::UNKNOWN);
        }
        for half in 0..2 {
            self.all[base as usize / 4 + half] = Value::Base(half as u32);
        }
    }

    /// What a dword of a channel's element is: the lower one or, of quads, the upper one.
    fn value(&self, p: &ProgramParts, s: &Src, channel: u32, upper: bool) -> Value {
        if let Some(x) = constant(p, s) {
            return Value::Number((x >> if upper { 32 } else { 0 }) as u32);
        }
        let Src::Reg { offset, ty, strides, modifier, constant: false, .. } = *s else {
            return Value::Plain(Low::UNKNOWN);
        };
        let at = offset + strides.element(channel) * ty.size();
        let word = || self.words.get(&at).map_or(Value::Plain(Low::UNKNOWN), |x| Value::Number((*x).into()));
        let value = match (ty.size(), upper) {
            (2, false) => word(),
            (4, false) | (8, _) => self.all[at as usize / 4 + usize::from(upper)],
            // The sign of a dword.
            (4, true) if !self.all[at as usize / 4].is_usual() => Value::Upper,
            _ => Value::Plain(Low::UNKNOWN),
        };
        let changed = modifier != Modifier::None || ty.is_float() || !at.is_multiple_of(ty.size().min(4));
        if changed && value.is_usual() { Value::Plain(Low::UNKNOWN) } else { value }
    }

    /// Does it read anything that has to do with private memory?
    fn reads_address(&self, p: &ProgramParts, i: &Inst, apart_from: &Range<RegOffset>) -> bool {
        let mut found = false;
        i.reads(p, &mut |t| {
            let r = range_of_access(&t, i.channels, p);
            let apart = |at: &usize| !apart_from.contains(&(4 * *at as u32));
            found |= dwords(&r).filter(apart).any(|at| !self.all[at].is_usual());
        });
        found
    }

    /// Is all known of what an instruction reads together with addresses?
    fn is_known(&self, p: &ProgramParts, i: &Inst) -> bool {
        let mut found = Vec::new();
        i.reads(p, &mut |t| found.push(range_of_access(&t, i.channels, p)));
        let mut read = found.iter().flat_map(dwords).map(|at| self.all[at]);
        !read.clone().any(|v| !v.is_usual()) || !read.any(|v| v == Value::Unset)
    }

    /// What an instruction writes is joined to what is known; `None` if it does with addresses what none may.
    fn go_on(&mut self, p: &ProgramParts, pc: usize) -> Option<()> {
        let i = &p.code[pc];
        if let Some(s) = message(p, i) {
            let address = s.address..s.address + u32::from(s.address_bytes) * u32::from(i.channels);
            let own = if self.accesses_array(p, i, s) { address } else { 0..0 };
            (!self.reads_address(p, i, &own)).then_some(())?;
            return self.write_anything(p, i);
        }
        let special = self.reads_address(p, i, &(0..0)) || self.length_of_part(p, pc).is_some();
        let Dst::Reg { offset, ty, stride, sat: false } = i.dst else {
            return if special { None } else { self.write_anything(p, i) };
        };
        let computes = matches!(
            i.op,
            Op::Mov | Op::Add | Op::Add3 | Op::Addc | Op::Mul | Op::Mad | Op::Shl | Op::And | Op::Or
        ) || i.op == Op::Asr && special;
        let whole = ty.is_int() && ty.size() >= 4 && offset % 4 == 0;
        if !computes || !whole || i.exec == ExecType::Wide {
            return if special { None } else { self.write_anything(p, i) };
        }
        let made: Option<Vec<_>> = (0..i.channels.into()).map(|c| self.lane(p, pc, c)).collect();
        for (c, (low, upper)) in (0..).zip(made?) {
            let at = (offset + c * u32::from(stride) * ty.size()) as usize / 4;
            self.set(at, low)?;
            if ty.size() == 8 {
                self.set(at + 1, upper)?;
            }
            if i.op == Op::Addc {
                let carry = if low.is_usual() { Value::Plain(Low::UNKNOWN) } else { Value::Upper };
                self.set((i.dst2 + 4 * c) as usize / 4, carry)?;
            }
        }
        Some(())
    }

    /// Both halves of what an instruction makes for a channel.
    fn lane(&self, p: &ProgramParts, pc: usize, c: u32) -> Option<(Value, Value)> {
        let i = &p.code[pc];
        let of = |k: usize, upper: bool| self.value(p, &i.src[k], c, upper);
        let low = |v: Value| v.low().unwrap_or(Low::UNKNOWN);
        let by = |k: usize| constant(p, &i.src[k]).map(|x| x as u32);
        let product = || match (by(0), by(1)) {
            (Some(x), Some(y)) => Value::Number(x.wrapping_mul(y)),
            (_, Some(x)) => Value::Plain(low(of(0, false)).times(x)),
            (Some(x), _) => Value::Plain(low(of(1, false)).times(x)),
            _ => Value::Plain(Low::UNKNOWN),
        };
        let unmodified = terms(i).all(|k| {
            matches!(i.src[k], Src::Reg { modifier: Modifier::None, .. }) || of(k, false).is_usual()
        });
        unmodified.then_some(())?;
        let usual = |low: Low| Some((Value::Plain(low), Value::Plain(Low::UNKNOWN)));
        match i.op {
            Op::Mov => Some((of(0, false), of(0, true))),
            Op::Add | Op::Add3 | Op::Addc => {
                let sum = |upper: bool| Value::sum(&terms(i).map(|k| of(k, upper)).collect::<Vec<_>>());
                let low = sum(false)?;
                let upper = if low.is_usual() { Value::Plain(Low::UNKNOWN) } else { Value::Upper };
                Some((low, upper))
            }
            Op::Mul | Op::Mad => {
                let added = if i.op == Op::Mad { of(2, false) } else { Value::Number(0) };
                let made = match self.length_of_part(p, pc) {
                    Some((_, stride)) => Value::Address(Address::first(stride)),
                    None if i.channels == 1 && (by(0).or(by(1)) == Some(self.thread)) => Value::Thread(0),
                    None => product(),
                };
                let factors = of(0, false).is_usual() && of(1, false).is_usual();
                factors.then_some(())?;
                let low = Value::sum(&[made, added])?;
                Some((low, if low.is_usual() { Value::Plain(Low::UNKNOWN) } else { Value::Upper }))
            }
            Op::Shl if self.length_of_part(p, pc).is_some() => {
                let (_, stride) = self.length_of_part(p, pc)?;
                Some((Value::Address(Address::first(stride)), Value::Upper))
            }
            Op::Shl => match by(1).filter(|x| *x < 32 && of(0, false).is_usual()) {
                Some(x) => usual(low(of(0, false)).times(1 << x)),
                None if of(0, false).is_usual() => usual(Low::UNKNOWN),
                None => None,
            },
            Op::And | Op::Or if of(0, false).is_usual() && of(1, false).is_usual() => {
                let logic = |a: Low, x: u32| if i.op == Op::And { a.and(x) } else { a.or_with(x) };
                usual(match (by(0), by(1)) {
                    (_, Some(x)) => logic(low(of(0, false)), x),
                    (Some(x), _) => logic(low(of(1, false)), x),
                    _ => Low::UNKNOWN,
                })
            }
            // The sign of the low half is the upper one.
            Op::Asr => (by(1) == Some(31)).then_some((Value::Upper, Value::Upper)),
            _ => None,
        }
    }

    fn set(&mut self, at: usize, value: Value) -> Option<()> {
        let joined = self.all[at].or(value)?;
        self.changed |= joined != self.all[at];
        self.all[at] = joined;
        Some(())
    }

    /// What it writes may be anything.
    fn write_anything(&mut self, p: &ProgramParts, i: &Inst) -> Option<()> {
        let mut written = Vec::new();
        i.writes(p, &mut |t| written.push(range_of_access(&t, i.channels, p)));
        written.iter().flat_map(dwords).try_for_each(|at| self.set(at, Value::Plain(Low::UNKNOWN)))
    }

    /// Which source of a product is the length of a work-item's part, or the shift by it, and that length, if the other one is
    /// the numbers of channels.
    pub fn length_of_part(&self, p: &ProgramParts, pc: usize) -> Option<(usize, u32)> {
        let i = &p.code[pc];
        if !matches!(i.op, Op::Mul | Op::Mad | Op::Shl) || i.channels == 1 {
            return None;
        }
        let from = if i.op == Op::Shl { 1 } else { 0 };
        let (factor, x) = (from..2).find_map(|k| Some((k, constant(p, &i.src[k])?)))?;
        let length = if i.op == Op::Shl { 1u64.checked_shl(u32::try_from(x).ok()?)? } else { x };
        let most = u64::from(self.thread / p.simd);
        let own = |c: u32| {
            let x = u32::from(i.first) + c;
            self.value(p, &i.src[1 - factor], c, false) == Value::Number(x)
        };
        let all = (4..=most).contains(&length) && (0..i.channels.into()).all(own);
        all.then_some((factor, length as u32))
    }

    /// What an instruction makes for its first channel.
    pub fn made(&self, p: &ProgramParts, pc: usize) -> Option<Value> {
        let i = &p.code[pc];
        let computes = matches!(i.op, Op::Add | Op::Add3 | Op::Addc | Op::Mul | Op::Mad | Op::Shl);
        computes.then(|| self.lane(p, pc, 0)).flatten().map(|made| made.0)
    }

    /// The terms of a sum that is this address which are offsets within the array.
    pub fn offsets(&self, p: &ProgramParts, pc: usize, to: &Address) -> Vec<usize> {
        let i = &p.code[pc];
        let is_offset = |v: Value| match v {
            Value::Number(x) => !to.is_of_begin(x),
            v => v.is_usual(),
        };
        terms(i).filter(|k| is_offset(self.value(p, &i.src[*k], 0, false))).collect()
    }

    /// The lowest bits of a source that are the same in all channels.
    pub fn low_of_all(&self, p: &ProgramParts, pc: usize, k: usize) -> Low {
        let i = &p.code[pc];
        let of = |c: u32| self.value(p, &i.src[k], c, false).low().unwrap_or(Low::UNKNOWN);
        (1..i.channels.into()).fold(of(0), |all, c| all.or(of(c)))
    }

    /// An access of an array, if that is known well enough.
    fn access(&self, pc: usize, i: &Inst, s: &Simt) -> Option<Access> {
        let half = |c: u32, k: u32| self.all[(s.address + 8 * c + 4 * k) as usize / 4];
        let upper = (0..i.channels.into()).all(|c| half(c, 1) == Value::Upper);
        let all = (1..i.channels.into()).try_fold(half(0, 0), |all, c| all.or(half(c, 0)));
        let Value::Address(Address { stride, at, thread: true, base: true, low }) = all? else { return None };
        let (element, count) = (s.element.into(), s.elements.count_ones());
        upper.then_some(Access { pc, stride, at, element, count, low })
    }

    /// Has it a plain quad of an address for each channel, the first of which is in an array?
    fn accesses_array(&self, p: &ProgramParts, i: &Inst, s: &Simt) -> bool {
        (s.space, s.address_bytes, s.scale, s.offset, s.extend) == (Space::Flat, 8, 1, 0, Extend::None)
            && (s.stride, s.origin) == (Src::None, Src::None)
            && (s.base == Src::None || constant(p, &s.base) == Some(0))
            && !s.upper
            && (s.elements & (s.elements + 1)) == 0
            && u32::from(i.channels) <= p.simd
            && matches!(self.all[s.address as usize / 4], Value::Address(_))
    }
}

/// The dwords of a range, by their numbers.
fn dwords(r: &Range<RegOffset>) -> Range<usize> {
    r.start as usize / 4..(r.end as usize).div_ceil(4)
}

/// The load or store of each channel that an instruction is.
fn message<'p>(p: &'p ProgramParts, i: &Inst) -> Option<&'p Simt> {
    match p.messages.get(i.aux as usize)? {
        Message::Simt(s) if i.op == Op::Message => Some(s),
        _ => None,
    }
}
