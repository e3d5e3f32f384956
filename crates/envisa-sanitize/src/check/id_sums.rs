//! Addresses as sums of the ids of groups and work-items, each times a factor: what can be said of all of a launch's
//! accesses before it runs.
//!
//! What registers are computed from is found once for a program ([`Operands`]). A launch, whose arguments are numbers,
//! makes sums of that ([`Sums`]). Integers alone are followed, as exact numbers: what does not fit its type for some
//! work-item is not a sum.

use std::collections::HashMap;
use std::ops::Range;

use envisa_isa::predefined::var;
use envisa_isa::{Combine, Type};
use envisa_lower::{Dst, ExecType, Inst, Message, Modifier, Op, Program, RegOffset, Src, Touched};
use envisa_machine::thread::Machine;
use envisa_machine::thread_inputs::{GROUP_IDS, OF_THREAD};

use super::branch_guards::Guards;
use super::id_conditions::{Known as Bounds, Truth};
use super::pointer_flows::targets;
use super::proven_reads::addressable;

/// Ids that sums have factors of: x, y and z of groups, then of work-items in their group.
pub(super) const IDS: usize = 6;

/// A number, and how often each id is added to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Sum {
    pub base: i128,
    pub factors: [i128; IDS],
}

impl Sum {
    fn number(base: i128) -> Sum {
        Sum { base, factors: [0; IDS] }
    }

    fn id(n: usize) -> Sum {
        let mut sum = Sum::number(0);
        sum.factors[n] = 1;
        sum
    }

    fn as_number(&self) -> Option<i128> {
        (self.factors == [0; IDS]).then_some(self.base)
    }

    /// Is it the same for all work-items of a group?
    fn is_of_group(&self) -> bool {
        self.factors[3..] == [0; 3]
    }

    pub fn minus(self, other: Sum) -> Option<Sum> {
        self.plus(other.times(-1)?)
    }

    fn plus(self, other: Sum) -> Option<Sum> {
        let mut sum = Sum::number(self.base.checked_add(other.base)?);
        for (to, (a, b)) in sum.factors.iter_mut().zip(self.factors.into_iter().zip(other.factors)) {
            *to = a.checked_add(b)?;
        }
        Some(sum)
    }

    fn times(self, n: i128) -> Option<Sum> {
        let mut sum = Sum::number(self.base.checked_mul(n)?);
        for (to, a) in sum.factors.iter_mut().zip(self.factors) {
            *to = a.checked_mul(n)?;
        }
        Some(sum)
    }

    /// A product of which one factor is a number.
    fn product(self, other: Sum) -> Option<Sum> {
        match (self.as_number(), other.as_number()) {
            (Some(n), _) => other.times(n),
            (_, Some(n)) => self.times(n),
            _ => None,
        }
    }

    /// Shifted to the right, if no bit is lost of it or if it is a number.
    fn shifted(self, bits: u32) -> Option<Sum> {
        let lossless = self.base.trailing_zeros() >= bits || self.base == 0;
        if self.as_number().is_some() || lossless && self.factors.iter().all(|f| f & ((1 << bits) - 1) == 0) {
            return Some(Sum { base: self.base >> bits, factors: self.factors.map(|f| f >> bits) });
        }
        None
    }
}

/// What an instruction reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operand {
    /// Nobody knows.
    Unknown,
    /// An element that is there from the start: of an input, whose place in the image of inputs is known, or an immediate.
    Kept { offset: RegOffset, ty: Type, image: Option<u32> },
    /// Words of an input, one for each channel of the thread: where the first channel's is in the image of inputs.
    Row(u32),
    /// What these instructions wrote, which has to be the same sum; `alike`: one element for all channels.
    Written { by: [u32; 2], ty: Type, alike: bool },
}

/// What the sources of a program's instructions and the addresses of its messages are.
#[derive(Debug, Default)]
pub(super) struct Operands {
    sources: Vec<[Operand; 3]>,
    /// By program counter: a message's addresses, one for each channel.
    addresses: Vec<Operand>,
    /// By program counter: the instruction's predicate.
    predicates: Vec<Operand>,
    guards: Guards,
}

/// What a byte of the register file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    Unknown,
    /// An input's byte, at this place of the image of inputs.
    Input(u32),
    /// What an instruction wrote.
    By(u32),
}

/// The registers when control comes to an instruction.
struct Known<'a> {
    p: &'a Program,
    /// By byte: what was put there last, in the order of the code.
    last: Vec<Origin>,
    /// By byte: how many instructions write it, an input being one; two stand for more.
    writers: Vec<u8>,
    /// The last place up to here that a branch leads to.
    start: u32,
    /// By predicate: who wrote it, in the order of the code.
    predicates: HashMap<RegOffset, Vec<u32>>,
}

impl Operands {
    /// Looks at a program.
    pub fn of(p: &Program) -> Operands {
        let mut out = Operands { guards: Guards::of(p), ..Operands::default() };
        // What functions do with registers is not followed.
        let calls = |i: &Inst| matches!(i.op, Op::Call | Op::Fcall | Op::Ifcall);
        if p.functions().len() > 1
            || p.code().iter().any(calls)
            || p.registers().bytes > super::pointer_flows::MOST_BYTES
        {
            return out;
        }
        let targets = targets(p);
        let mut known = Known::new(p);
        for (pc, i) in (0u32..).zip(p.code()) {
            if targets.contains(&pc) {
                known.start = pc;
            }
            let [a, b, c, _] = &i.src;
            out.sources.push([a, b, c].map(|src| known.source(i, src)));
            out.predicates.push(known.predicate(i, i.pred.offset));
            out.addresses.push(match p.messages().get(i.aux as usize) {
                Some(Message::Simt(s)) if i.op == Op::Message && s.address_bytes >= 4 => {
                    let ty = if s.address_bytes == 8 { Type::Uq } else { Type::Ud };
                    known.elements(i, (s.address, ty), 1)
                }
                _ => Operand::Unknown,
            });
            if let Dst::Pred { offset } = i.dst {
                known.predicates.entry(offset).or_default().push(pc);
            }
            written(p, i, &mut |range| {
                known.last.get_mut(range).into_iter().for_each(|to| to.fill(Origin::By(pc)));
            });
        }
        out
    }
}

/// The channels of an instruction, as a mask.
pub(super) fn channels(i: &Inst) -> u64 {
    ((1 << i.channels) - 1) << i.first
}

/// The bytes of the register file that an instruction may write.
fn written(p: &Program, i: &Inst, each: &mut dyn FnMut(Range<usize>)) {
    i.writes(p.parts(), &mut |t| {
        let range = match (t, t.range(u32::from(i.channels))) {
            (Touched::Indirect { .. }, _) | (_, None) => addressable(p),
            (_, Some(range)) => range,
        };
        each(range.start as usize..range.end as usize);
    });
}

impl<'a> Known<'a> {
    fn new(p: &'a Program) -> Known<'a> {
        let bytes = p.registers().bytes as usize;
        let (mut last, mut writers) = (vec![Origin::Unknown; bytes], vec![0u8; bytes]);
        let r0 = p.registers().predefined[var::R0 as usize];
        let inputs = p.inputs().iter().map(|slot| (slot.offset, slot.image, slot.bytes));
        for (offset, image, bytes) in inputs.chain([(r0, 0, OF_THREAD.end)]) {
            for n in 0..bytes {
                let at = (offset + n) as usize;
                if let (Some(last), Some(writers)) = (last.get_mut(at), writers.get_mut(at)) {
                    (*last, *writers) = (Origin::Input(image + n), 1);
                }
            }
        }
        for i in p.code() {
            written(p, i, &mut |range| {
                writers.get_mut(range).into_iter().flatten().for_each(|n| *n = (*n + 1).min(2));
            });
        }
        Known { p, last, writers, start: 0, predicates: HashMap::new() }
    }

    /// What a byte holds when control comes to the instruction that is looked at.
    fn byte(&self, at: RegOffset) -> Origin {
        let (Some(last), Some(writers)) = (self.last.get(at as usize), self.writers.get(at as usize)) else {
            return Origin::Unknown;
        };
        match *last {
            Origin::By(pc) if *writers == 1 || pc >= self.start => *last,
            Origin::Input(_) if *writers == 1 || self.start == 0 => *last,
            _ => Origin::Unknown,
        }
    }

    /// The bits of a predicate that are of the instruction's channels.
    fn predicate(&self, i: &Inst, at: RegOffset) -> Operand {
        let alike = i.channels == 1;
        let mut open = channels(i);
        let mut by = [None; 2];
        for pc in self.predicates.get(&at).into_iter().flatten().rev() {
            let Some(writer) = self.p.code().get(*pc as usize) else { break };
            if open & channels(writer) == 0 {
                continue;
            }
            open &= !channels(writer);
            match by.iter_mut().find(|by| by.is_none()) {
                Some(by) if self.byte(at) == Origin::By(*pc) || *pc >= self.start => *by = Some(*pc),
                _ => break,
            }
            if let (0, [Some(a), b]) = (open, by) {
                return Operand::Written { by: [a, b.unwrap_or(a)], ty: Type::Ud, alike };
            }
        }
        Operand::Unknown
    }

    fn source(&self, i: &Inst, src: &Src) -> Operand {
        if let Src::Pred { offset, .. } = *src {
            return self.predicate(i, offset);
        }
        let Src::Reg { offset, ty, strides, modifier: Modifier::None | Modifier::Neg, constant, .. } = *src
        else {
            return Operand::Unknown;
        };
        if constant {
            return Operand::Kept { offset, ty, image: None };
        }
        match strides.step(u32::from(i.channels)) {
            Some(step) => self.elements(i, (offset, ty), step),
            None => Operand::Unknown,
        }
    }

    /// Elements of this type, so many elements from channel to channel.
    fn elements(&self, i: &Inst, (offset, ty): (RegOffset, Type), step: u32) -> Operand {
        match self.byte(offset) {
            Origin::Unknown => Operand::Unknown,
            Origin::Input(image) if step == 0 => Operand::Kept { offset, ty, image: Some(image) },
            Origin::Input(image) => self.row(i, (offset, ty, image), step),
            Origin::By(_) => self.results(i, (offset, ty), step),
        }
    }

    fn row(&self, i: &Inst, (offset, ty, image): (RegOffset, Type, u32), step: u32) -> Operand {
        let same = |k: u32| self.byte(offset + 2 * k) == Origin::Input(image + 2 * k);
        match image.checked_sub(2 * u32::from(i.first)) {
            Some(first) if ty.size() == 2 && step == 1 && (0..u32::from(i.channels)).all(same) => {
                Operand::Row(first)
            }
            _ => Operand::Unknown,
        }
    }

    /// What one instruction wrote, or two, each for channels of its own.
    fn results(&self, i: &Inst, (offset, ty): (RegOffset, Type), step: u32) -> Operand {
        let mut by: Option<[u32; 2]> = None;
        let alike = step == 0;
        for k in 0..if alike { 1 } else { u32::from(i.channels) } {
            let at = offset + k * step * ty.size();
            let Origin::By(pc) = self.byte(at) else { return Operand::Unknown };
            let whole = (at..at + ty.size()).all(|byte| self.byte(byte) == Origin::By(pc));
            let channel = if alike { None } else { Some(u32::from(i.first) + k) };
            if !whole || !self.is_element(pc, at, ty, channel) {
                return Operand::Unknown;
            }
            match &mut by {
                None => by = Some([pc; 2]),
                Some([first, second]) if first == second => *second = pc,
                Some(both) if both.contains(&pc) => {}
                Some(_) => return Operand::Unknown,
            }
        }
        by.map_or(Operand::Unknown, |by| Operand::Written { by, ty, alike })
    }

    /// Does an element, or its lower part, begin there that an instruction wrote, of this channel if one is given?
    fn is_element(&self, pc: u32, at: RegOffset, read: Type, channel: Option<u32>) -> bool {
        let Some(i) = self.p.code().get(pc as usize) else { return false };
        let Dst::Reg { offset, ty, stride, sat: false } = i.dst else { return false };
        let step = u32::from(stride) * ty.size();
        let (Some(far), true) = (at.checked_sub(offset), read.size() <= ty.size()) else { return false };
        far % step == 0
            && far / step < u32::from(i.channels)
            && channel.is_none_or(|k| u32::from(i.first) + far / step == k)
    }
}

/// The sums of a launch.
pub(super) struct Sums<'a> {
    m: &'a Machine<'a>,
    operands: &'a Operands,
    /// How many there are of each id.
    counts: [u32; IDS],
    /// By program counter: what the instruction writes for each channel.
    results: Vec<Option<Sum>>,
    /// By program counter: the truth that it writes, as a predicate or as a number that is zero where it is false.
    truths: Vec<Option<Truth>>,
}

impl<'a> Sums<'a> {
    /// Of the launch of which this is a first thread, which is about to start.
    pub fn of(m: &'a Machine<'a>, operands: &'a Operands) -> Sums<'a> {
        let [groups, items] = [m.env.groups, m.env.inputs.local];
        let counts = std::array::from_fn(|n| if n < 3 { groups[n] } else { items[n - 3] });
        let mut sums = Sums { m, operands, counts, results: Vec::new(), truths: Vec::new() };
        for (pc, i) in m.env.program.code().iter().enumerate().take(operands.sources.len()) {
            let (result, truth) = (sums.result(pc, i), sums.truth(pc, i));
            sums.results.push(result);
            sums.truths.push(truth);
        }
        sums
    }

    /// How many there are of each id.
    pub fn counts(&self) -> [u32; IDS] {
        self.counts
    }

    /// The least and the most that it is for a work-item of the launch.
    pub fn range(&self, sum: &Sum) -> Option<(i128, i128)> {
        let (mut low, mut high) = (sum.base, sum.base);
        for (factor, count) in sum.factors.iter().zip(self.counts) {
            let most = factor.checked_mul(i128::from(count) - 1)?;
            low = low.checked_add(most.min(0))?;
            high = high.checked_add(most.max(0))?;
        }
        Some((low, high))
    }

    /// The address that a message has of each channel, before anything is added.
    pub fn address(&self, pc: u32) -> Option<Sum> {
        self.value(*self.operands.addresses.get(pc as usize)?)
    }

    /// A number that is added to a message's addresses.
    pub fn added(&self, src: &Src) -> Option<i128> {
        match *src {
            Src::None => Some(0),
            Src::Reg { offset, ty, modifier: Modifier::None, constant: true, .. } => {
                self.number(offset, ty)?.as_number()
            }
            _ => None,
        }
    }

    /// What is known of all work-items that come to a message.
    pub fn bounds(&self, message: u32) -> Bounds {
        let code = self.m.env.program.code();
        let mut all = Bounds { is_all: self.operands.guards.decide(message), ..Bounds::default() };
        for (pc, taken) in self.operands.guards.before(message) {
            let truth = self.operands.predicates.get(pc as usize).and_then(|of| self.truth_of(*of));
            let Some((i, truth)) = code.get(pc as usize).zip(truth) else {
                all.is_all = false;
                continue;
            };
            all = all.and(truth.when(taken != i.pred.invert));
        }
        all
    }

    fn fits(&self, sum: &Sum, (least, most): (i128, i128)) -> bool {
        self.range(sum).is_some_and(|(low, high)| least <= low && high <= most)
    }

    fn result(&self, pc: usize, i: &Inst) -> Option<Sum> {
        let exec = computed_in(i)?;
        if i.pred.offset != 0 {
            return None;
        }
        let source = |n: usize| self.source(pc, i, n);
        let sum = match i.op {
            Op::Mov => source(0)?,
            Op::Faddr => Sum::number(i128::from(*self.m.env.symbols.get(i.aux as usize)?)),
            Op::Add => source(0)?.plus(source(1)?)?,
            Op::Add3 => source(0)?.plus(source(1)?)?.plus(source(2)?)?,
            Op::Mul => source(0)?.product(source(1)?)?,
            Op::Mad => source(0)?.product(source(1)?)?.plus(source(2)?)?,
            Op::Shl => {
                let bits = source(1)?.as_number().filter(|bits| (0..32).contains(bits))?;
                source(0)?.times(1 << bits)?
            }
            Op::Shr | Op::Asr => {
                let bits = source(1)?.as_number().filter(|bits| (0..32).contains(bits))?;
                source(0)?.shifted(bits as u32)?
            }
            _ => return None,
        };
        let Dst::Reg { ty, sat: false, .. } = i.dst else { return None };
        (self.fits(&sum, exec) && self.fits(&sum, limits(ty)?)).then_some(sum)
    }

    /// A source as the instruction computes with it.
    fn source(&self, pc: usize, i: &Inst, n: usize) -> Option<Sum> {
        let sum = self.value(self.operands.sources[pc][n])?;
        let negated = matches!(i.src[n], Src::Reg { modifier: Modifier::Neg, .. });
        let sum = if negated { sum.times(-1)? } else { sum };
        // What is of another sign there is another number.
        self.fits(&sum, computed_in(i)?).then_some(sum)
    }

    fn truth(&self, pc: usize, i: &Inst) -> Option<Truth> {
        let chooses = i.op == Op::Sel && i.pred.combine == Combine::None;
        if i.pred.offset != 0 && !chooses {
            return None;
        }
        let number = |n: usize| self.source(pc, i, n).and_then(|sum| sum.as_number());
        let truth = |n: usize| {
            let truth = self.truth_of(self.operands.sources[pc][n])?;
            Some(if matches!(i.src[n], Src::Pred { invert: true, .. }) { truth.not() } else { truth })
        };
        // Odd numbers, of which the lowest bit is enough to tell: all ones and one.
        let known = |n: usize| match number(n) {
            Some(number @ -1..=1) => Truth::constant(number != 0),
            _ => truth(n).unwrap_or_default(),
        };
        if let Dst::Reg { ty, .. } = i.dst {
            limits(ty)?;
        }
        let found = match i.op {
            Op::PredLogic => match i.aux {
                AND => known(0).and(&known(1)),
                OR => known(0).or(known(1)),
                XOR => return None,
                _ => truth(0)?.not(),
            },
            _ if computed_in(i).is_none() => return None,
            Op::Cmp => match (truth(0), number(1), i.aux) {
                (Some(truth), Some(0), EQ) => truth.not(),
                (Some(truth), Some(0), NE) => truth,
                _ => {
                    let apart = self.source(pc, i, 0)?.minus(self.source(pc, i, 1)?)?;
                    Truth::compare(i.aux, &apart, self.range(&apart)?)?
                }
            },
            Op::Sel => {
                let of = self.truth_of(*self.operands.predicates.get(pc)?).unwrap_or_default();
                let chosen = if i.pred.invert { of.not() } else { of };
                chosen.and(&known(0)).or(chosen.not().and(&known(1)))
            }
            Op::Mov => truth(0)?,
            Op::And => known(0).and(&known(1)),
            Op::Or => known(0).or(known(1)),
            _ => return None,
        };
        (found != Truth::default()).then_some(found)
    }

    fn truth_of(&self, operand: Operand) -> Option<Truth> {
        let Operand::Written { by: [a, b], alike, .. } = operand else { return None };
        let truth = self.truths.get(a as usize)?.as_ref()?;
        let same = a == b || self.truths.get(b as usize)?.as_ref() == Some(truth);
        (same && (!alike || truth.is_of_group())).then(|| truth.clone())
    }

    fn value(&self, operand: Operand) -> Option<Sum> {
        let sum = match operand {
            Operand::Unknown => return None,
            Operand::Kept { offset, ty, image: None } => return self.number(offset, ty),
            Operand::Kept { offset, ty, image: Some(at) } => {
                let image = at..at + ty.size();
                match GROUP_IDS.iter().position(|id| *id == image) {
                    Some(n) => Sum::id(n),
                    None if self.m.env.inputs.is_same(image) => return self.number(offset, ty),
                    None => return None,
                }
            }
            Operand::Row(at) => Sum::id(3 + self.m.env.inputs.dimension_of(at)?),
            Operand::Written { by: [a, b], ty, alike } => {
                let sum = (*self.results.get(a as usize)?)?;
                let same = a == b || self.results.get(b as usize) == Some(&Some(sum));
                if !same || alike && !sum.is_of_group() || !self.fits(&sum, limits(ty)?) {
                    return None;
                }
                sum
            }
        };
        // An id of which there is one is zero.
        let mut sum = sum;
        (0..IDS).filter(|n| self.counts[*n] < 2).for_each(|n| sum.factors[n] = 0);
        Some(sum)
    }

    /// The number in a register.
    fn number(&self, offset: RegOffset, ty: Type) -> Option<Sum> {
        let bytes = self.m.t.regs.slice(offset, ty.size());
        let (least, _) = limits(ty)?;
        let raw = bytes.iter().rev().fold(0i128, |n, byte| n << 8 | i128::from(*byte));
        let wraps = least < 0 && raw > -(least + 1);
        Some(Sum::number(if wraps { raw + 2 * least } else { raw }))
    }
}

/// Relations of compares, and tables of the logic of predicates.
const EQ: u32 = 0;
const NE: u32 = 1;
const AND: u32 = 0x88;
const OR: u32 = 0xee;
const XOR: u32 = 0x66;

/// The least and the most of the integers that an instruction computes with.
fn computed_in(i: &Inst) -> Option<(i128, i128)> {
    match i.exec {
        ExecType::I32 => limits(Type::D),
        ExecType::U32 => limits(Type::Ud),
        ExecType::I64 => limits(Type::Q),
        ExecType::U64 => limits(Type::Uq),
        ExecType::Wide | ExecType::None => Some((i128::MIN, i128::MAX)),
        _ => None,
    }
}

/// The least and the most that an integer type holds.
fn limits(ty: Type) -> Option<(i128, i128)> {
    let signed = match ty {
        Type::B | Type::W | Type::D | Type::Q => true,
        Type::Ub | Type::Uw | Type::Ud | Type::Uq => false,
        _ => return None,
    };
    let bits = 8 * ty.size();
    Some(if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) })
}
