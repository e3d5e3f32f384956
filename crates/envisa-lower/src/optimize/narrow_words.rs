//! Words of which only the lowest byte matters are computed as bytes.
//!
//! vISA's arithmetic on bytes is arithmetic on words: compilers extend bytes, compute words, and cut the results to bytes
//! again, often several times for one value. Here every variable of words is looked at as a whole, wherever the program
//! writes and reads it. If everything that reads it wants the lowest byte alone, or knows the rest because all that is
//! written there was extended from bytes, and if bytes suffice to make whatever is written there, then it is a variable of
//! bytes, and so are the operations that make it. It lies where the words did.
//!
//! The order in which instructions run does not matter: each channel finds its byte wherever it found its word.

use std::collections::BTreeMap;
use std::ops::Range;

use envisa_isa::{Modifier, Type};

use super::fold_addresses::constant;
use crate::program::*;

/// Rounds over the code at most. A program whose variables are not settled then stays as it is.
const ROUNDS: usize = 24;

/// What lies above the lowest bytes of a variable's words: both hold for what nothing writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct High {
    /// Zeros: the words are bytes without a sign.
    zero: bool,
    /// Copies of the lowest byte's highest bit.
    sign: bool,
}

impl High {
    const ANY: High = High { zero: false, sign: false };
    const SIGN: High = High { zero: false, sign: true };

    fn and(self, other: High) -> High {
        High { zero: self.zero && other.zero, sign: self.sign && other.sign }
    }

    fn all(highs: impl Iterator<Item = High>) -> High {
        highs.fold(High { zero: true, sign: true }, High::and)
    }

    fn of_byte(ty: Type) -> High {
        High { zero: !ty.is_signed(), sign: ty.is_signed() }
    }

    fn of_constant(x: i64) -> High {
        High { zero: (0..256).contains(&x), sign: (-128..128).contains(&x) }
    }
}

/// A variable of words, one for each of so many channels.
#[derive(Clone, Copy, Debug)]
struct Words {
    channels: u8,
    high: High,
    /// It may still turn out to be one of bytes.
    narrow: bool,
}

/// Makes variables of words those of bytes where that is right everywhere: is anything changed?
pub(super) fn narrow_words(p: &mut ProgramParts) -> bool {
    let cuts = |i: &Inst| {
        i.op == Op::Mov
            && matches!((i.dst, i.src[0]), (Dst::Reg { ty, .. }, Src::Reg { ty: of, .. }) if ty.size() == 1 && of.size() == 2)
    };
    if !p.code.iter().any(cuts) || p.code.iter().any(|i| matches!(i.op, Op::Fcall | Op::Ifcall)) {
        return false;
    }
    let mut variables = Variables(find_words(p));
    for round in 0.. {
        if round == ROUNDS {
            return false;
        }
        let mut changed = false;
        for i in &p.code {
            changed |= variables.restrict(p, i);
        }
        if !changed {
            break;
        }
    }
    // What nothing reads but what it makes itself needs no change.
    if !p.code.iter().any(|i| cuts(i) && variables.source(&i.src[0], i.channels).is_some()) {
        return false;
    }
    let parts = p.clone();
    for i in &mut p.code {
        variables.rewrite(&parts, i);
    }
    true
}

/// The variables of words that instructions access as a whole, and no other way.
fn find_words(p: &ProgramParts) -> BTreeMap<RegOffset, Words> {
    let mut all: BTreeMap<RegOffset, Words> = BTreeMap::new();
    // What is accessed otherwise.
    let mut others: Vec<Range<RegOffset>> = Vec::new();
    for i in &p.code {
        let mut whole: Vec<(RegOffset, u8)> = Vec::new();
        whole.extend(written_words(i));
        whole.extend(i.src.iter().filter_map(|s| read_words(s, i.channels)));
        for (at, channels) in &whole {
            let words = Words { channels: *channels, high: High { zero: true, sign: true }, narrow: true };
            let first = all.entry(*at).or_insert(words);
            if first.channels != *channels {
                others.push(*at..*at + 2 * u32::from(first.channels.max(*channels)));
            }
        }
        let mut other = |t: crate::touched::Touched| {
            let r = super::range_of_access(&t, i.channels, p);
            if !whole.iter().any(|(at, channels)| r == (*at..*at + 2 * u32::from(*channels))) {
                others.push(r);
            }
        };
        i.reads(p, &mut other);
        i.writes(p, &mut other);
    }
    let range = |(at, w): (&RegOffset, &Words)| *at..*at + 2 * u32::from(w.channels);
    let all_of_words: Vec<Range<RegOffset>> = all.iter().map(range).collect();
    for pair in all_of_words.windows(2).filter(|pair| pair[1].start < pair[0].end) {
        others.extend_from_slice(pair);
    }
    for r in others {
        // None is longer than this.
        let from = r.start.saturating_sub(64);
        let meets = |(at, w): &(&RegOffset, &mut Words)| **at + 2 * u32::from(w.channels) > r.start;
        all.range_mut(from..r.end).filter(meets).for_each(|(_, w)| w.narrow = false);
    }
    all.retain(|at, w| w.narrow && *at >= p.registers.locals_start);
    all
}

/// The variable of words that an instruction writes all of.
fn written_words(i: &Inst) -> Option<(RegOffset, u8)> {
    match i.dst {
        Dst::Reg { offset, ty, stride: 1, sat: false } if ty.is_int() && ty.size() == 2 && i.dst2 == 0 => {
            Some((offset, i.channels))
        }
        _ => None,
    }
}

/// The variable of words that a source reads as it is: of all channels, or one for all.
fn read_words(s: &Src, channels: u8) -> Option<(RegOffset, u8)> {
    match *s {
        Src::Reg { offset, ty, shape, constant: false, .. } if ty.is_int() && ty.size() == 2 => match shape {
            Shape::Scalar => Some((offset, 1)),
            Shape::Contiguous => Some((offset, channels)),
            Shape::General => None,
        },
        _ => None,
    }
}

/// How instructions combine bits of their sources: the truth table, as that of `bfn`.
fn truth_table(i: &Inst) -> Option<u32> {
    match i.op {
        Op::And => Some(0x88),
        Op::Or => Some(0xee),
        Op::Xor => Some(0x66),
        Op::Not => Some(0x55),
        Op::Bfn => Some(i.aux & 0xff),
        _ => None,
    }
}

/// Can the table give a one above the lowest bytes, where these sources have zeros or anything?
fn leaves_zeros(table: u32, sources: &[High]) -> bool {
    (0..1 << sources.len()).all(|bits: u32| {
        let possible = (0..).zip(sources).all(|(k, high)| bits >> k & 1 == 0 || !high.zero);
        !possible || table >> bits & 1 == 0
    })
}

/// As what bytes are ordered to be in the order of the words that they were, of which `high` is known: with a sign or without.
fn order(p: &ProgramParts, i: &Inst, high: High) -> Option<ExecType> {
    let mut types = i.src.iter().filter_map(|s| match *s {
        Src::Reg { ty, constant: false, .. } => Some(ty.is_signed()),
        _ => None,
    });
    let signed = types.next()?;
    let negative = |s: &Src| constant(p, s).is_some_and(|x| (x as i64) < 0);
    match high {
        High { zero: true, .. } => Some(ExecType::U32),
        High { sign: true, .. } if !types.all(|other| other == signed) => None,
        High { sign: true, .. } if signed && i.exec == ExecType::I32 => Some(ExecType::I32),
        // The negative ones are the greatest then, as they are among bytes.
        High { sign: true, .. } if !i.src.iter().any(negative) => Some(ExecType::U32),
        _ => None,
    }
}

struct Variables(BTreeMap<RegOffset, Words>);

impl Variables {
    fn get(&self, at: (RegOffset, u8)) -> Option<&Words> {
        self.0.get(&at.0).filter(|w| w.narrow && w.channels == at.1)
    }

    /// The variable that a source reads, if it may be one of bytes.
    fn source(&self, s: &Src, channels: u8) -> Option<&Words> {
        self.get(read_words(s, channels)?)
    }

    fn give_up(&mut self, at: RegOffset) {
        if let Some(w) = self.0.get_mut(&at) {
            w.narrow = false;
        }
    }

    /// Takes from the variables of an instruction what it does not leave them: is that anything?
    fn restrict(&mut self, p: &ProgramParts, i: &Inst) -> bool {
        if let Some(to) = written_words(i).filter(|to| self.get(*to).is_some()) {
            let high = self.made_of_bytes(p, i);
            let Some(words) = self.0.get_mut(&to.0) else { return false };
            let before = *words;
            match high {
                Some(high) => words.high = words.high.and(high),
                None => words.narrow = false,
            }
            return before.narrow != words.narrow || before.high != words.high;
        }
        let mut changed = false;
        for s in &i.src {
            if let Some(at) = read_words(s, i.channels).filter(|at| self.get(*at).is_some())
                && self.read_as(i, s).is_none()
            {
                self.give_up(at.0);
                changed = true;
            }
        }
        changed
    }

    /// The type that bytes are read as which were words, by an instruction whose result is not a byte that was a word;
    /// `None` if it has to see the words.
    fn read_as(&self, i: &Inst, s: &Src) -> Option<Type> {
        let words = self.source(s, i.channels)?;
        let Src::Reg { ty, modifier: Modifier::None, .. } = *s else { return None };
        let integers = matches!(i.exec, ExecType::I32 | ExecType::U32);
        match (i.op, i.dst) {
            (Op::Mov, Dst::Reg { ty: to, sat: false, .. }) if integers && to.is_int() && to.size() == 1 => {
                Some(Type::Ub)
            }
            (Op::Mov, Dst::Reg { ty: to, .. }) if !to.is_int() => None,
            (Op::Mov, Dst::Reg { .. }) | (Op::Cmp, Dst::Pred { .. }) if integers => match words.high {
                High { zero: true, .. } => Some(Type::Ub),
                High { sign: true, .. } if ty.is_signed() => Some(Type::B),
                _ => None,
            },
            _ => None,
        }
    }

    /// Can an instruction that makes words make their lowest bytes of bytes, and what lies above these in the words?
    fn made_of_bytes(&self, p: &ProgramParts, i: &Inst) -> Option<High> {
        if !matches!(i.exec, ExecType::I32 | ExecType::U32) {
            return None;
        }
        let negated = matches!(i.op, Op::Add | Op::Add3);
        let sources: Vec<&Src> = i.src.iter().filter(|s| **s != Src::None).collect();
        let plain = |s: &&&Src| match ***s {
            Src::Reg { modifier, .. } => modifier == Modifier::None || negated && modifier == Modifier::Neg,
            _ => false,
        };
        if sources.iter().filter(plain).count() != sources.len() {
            return None;
        }
        let mut highs = Vec::with_capacity(sources.len());
        for s in &sources {
            highs.push(self.lowest_byte(p, i, s)?);
        }
        let all = High::all(highs.iter().copied());
        match i.op {
            Op::Mov => highs.first().copied(),
            Op::Add | Op::Add3 => Some(High::ANY),
            Op::Cmp => order(p, i, all).map(|_| High::SIGN),
            Op::Min | Op::Max => order(p, i, all).map(|_| all),
            Op::Sel => Some(all),
            _ => {
                let table = truth_table(i)?;
                Some(High { zero: leaves_zeros(table, &highs), sign: all.sign })
            }
        }
    }

    /// What lies above the lowest byte of a source, if that byte can be read by itself.
    fn lowest_byte(&self, p: &ProgramParts, i: &Inst, s: &Src) -> Option<High> {
        let Src::Reg { ty, shape, constant: immediate, .. } = *s else { return None };
        if !ty.is_int() {
            return None;
        }
        if immediate {
            return Some(High::of_constant(constant(p, s)? as i64));
        }
        if let Some(words) = self.source(s, i.channels) {
            return Some(words.high);
        }
        match shape {
            Shape::General => None,
            _ if ty.size() == 1 => Some(High::of_byte(ty)),
            // An element's lowest byte comes first.
            Shape::Scalar => Some(High::ANY),
            Shape::Contiguous => (i.op == Op::Mov).then_some(High::ANY),
        }
    }

    /// Makes an instruction one on bytes.
    fn rewrite(&self, p: &ProgramParts, i: &mut Inst) {
        let old = *i;
        if written_words(&old).and_then(|to| self.get(to)).is_none() {
            for s in &mut i.src {
                if let Some(as_ty) = self.read_as(&old, s)
                    && let Src::Reg { ty, .. } = s
                {
                    *ty = as_ty;
                }
            }
            return;
        }
        let ordered = matches!(old.op, Op::Cmp | Op::Min | Op::Max);
        let highs = old.src.iter().filter(|s| **s != Src::None).filter_map(|s| self.lowest_byte(p, &old, s));
        let signed = ordered && order(p, &old, High::all(highs)) == Some(ExecType::I32);
        let byte = if signed { Type::B } else { Type::Ub };
        if ordered {
            i.exec = if signed { ExecType::I32 } else { ExecType::U32 };
        }
        if let Dst::Reg { ty, .. } = &mut i.dst {
            *ty = byte;
        }
        for s in &mut i.src {
            let words = self.source(s, old.channels).is_some();
            let Src::Reg { ty, shape, constant: false, .. } = s else { continue };
            let byte_of_its_own = ty.size() == 1 && !ordered;
            if words || (!byte_of_its_own && (ty.size() == 1 || *shape == Shape::Scalar)) {
                *ty = byte;
            }
        }
    }
}
