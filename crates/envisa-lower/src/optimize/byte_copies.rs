//! Copies of bytes are read where the bytes were first, and a choice between two bytes by which is the greater is one
//! instruction.
//!
//! Both are left over where words became bytes ([`super::narrow_words`]): what cut a word or extended a byte only copies
//! then, and the lesser of two is a compare into a vector of ones and zeros, by whose bits another instruction chooses.
//! Nothing goes here; what has no reader any more does ([`super::dead_code`]).

use std::collections::BTreeMap;
use std::ops::Range;

use envisa_isa::{Modifier, Type};

use super::{Blocks, range_of_access};
use crate::program::*;

/// The truth table of `bfn` by which the first operand's bits choose between the other two.
const CHOOSE: u32 = 0xd8;

/// The channels that execute an instruction, within a block.
type Runs = (u8, u8, bool);

/// What a byte for all channels is made by.
const ONE: Runs = (1, 0, true);

/// Bytes side by side, one for each channel, or one for all.
#[derive(Clone, Copy, Debug)]
struct Bytes {
    runs: Runs,
    /// The same for copies.
    value: u32,
    /// Where they were first.
    first: RegOffset,
    /// What they say, if they are all ones or all zeros.
    says: Option<Truth>,
}

/// Is the first of two values the greater one?
#[derive(Clone, Copy, Debug)]
struct Truth {
    values: [u32; 2],
    /// Ones say that it is; otherwise that it is not, or that both are equal.
    greater: bool,
    signed: bool,
}

/// Does what is described above, block by block.
pub(super) fn read_first_copies(p: &mut ProgramParts, blocks: &Blocks) {
    let mut known = Known::default();
    for pc in 0..p.code.len() {
        if pc == 0 || !blocks.same(pc as Pc - 1, pc as Pc) {
            known.bytes.clear();
        }
        known.go_on(p, pc);
    }
}

#[derive(Default)]
struct Known {
    /// By where they are, and whether they are one for all.
    bytes: BTreeMap<(RegOffset, bool), Bytes>,
    /// How many values there are.
    values: u32,
}

fn runs(i: &Inst) -> Runs {
    if i.channels == 1 && i.no_mask { ONE } else { (i.channels, i.first, i.no_mask) }
}

impl Bytes {
    fn key(&self, at: RegOffset) -> (RegOffset, bool) {
        (at, self.runs == ONE)
    }
}

impl Known {
    fn go_on(&mut self, p: &mut ProgramParts, pc: usize) {
        let mut i = p.code[pc];
        let whole = i.pred == Pred::default() && i.dst2 == 0 && (i.channels > 1 || i.no_mask);
        let mut made = None;
        if i.op.is_computation() || i.op == Op::Cmp || i.op == Op::Mov {
            let read = i.src.map(|s| self.read(&s, runs(&i)));
            for (s, read) in i.src.iter_mut().zip(&read) {
                if let (Src::Reg { offset, .. }, Some(bytes)) = (s, read)
                    && self.bytes.get(&bytes.key(bytes.first)).is_some_and(|b| b.value == bytes.value)
                {
                    *offset = bytes.first;
                }
            }
            made = match i.dst {
                Dst::Reg { offset, ty, stride: 1, sat: false } if whole && ty.is_int() && ty.size() == 1 => {
                    Some((offset, self.make(&mut i, offset, &read)))
                }
                _ => None,
            };
            p.code[pc] = i;
        }
        i.writes(p, &mut |t| self.forget(range_of_access(&t, i.channels, p)));
        if let Some((at, bytes)) = made {
            self.bytes.insert(bytes.key(at), bytes);
        }
    }

    /// The bytes that a source reads, one for each channel or one for all.
    fn read(&mut self, s: &Src, runs: Runs) -> Option<Bytes> {
        let Src::Reg { offset, ty, shape, constant: false, .. } = *s else { return None };
        let runs = match shape {
            Shape::Contiguous => runs,
            Shape::Scalar => ONE,
            Shape::General => return None,
        };
        if !ty.is_int() || ty.size() != 1 {
            return None;
        }
        if let Some(bytes) = self.bytes.get(&(offset, runs == ONE)) {
            return (bytes.runs == runs).then_some(*bytes);
        }
        let bytes = self.new_value(offset, runs, None);
        self.bytes.insert(bytes.key(offset), bytes);
        Some(bytes)
    }

    fn new_value(&mut self, first: RegOffset, runs: Runs, says: Option<Truth>) -> Bytes {
        self.values += 1;
        Bytes { runs, value: self.values, first, says }
    }

    /// What an instruction makes; of a choice of the greater or the lesser, which it becomes, too.
    fn make(&mut self, i: &mut Inst, to: RegOffset, read: &[Option<Bytes>; 4]) -> Bytes {
        let plain = |k: usize| matches!(i.src[k], Src::Reg { modifier: Modifier::None, .. });
        let two = |a: usize, b: usize| match (read[a], read[b]) {
            // Both of each channel's own.
            (Some(x), Some(y)) if plain(a) && plain(b) && x.runs == y.runs && x.runs != ONE => {
                Some([x.value, y.value])
            }
            _ => None,
        };
        let mut says = None;
        match i.op {
            Op::Mov if plain(0) => {
                if let Some(from) = read[0].filter(|from| from.runs == runs(i)) {
                    return from;
                }
            }
            Op::Cmp => says = two(0, 1).and_then(|values| truth(i, values)),
            Op::Bfn if i.aux & 0xff == CHOOSE && plain(0) => {
                if let (Some(truth), Some(values)) = (read[0].and_then(|t| t.says), two(1, 2))
                    && let Some(greater) = chooses_greater(truth, values)
                {
                    choose(i, greater, truth.signed);
                }
            }
            _ => {}
        }
        self.new_value(to, runs(i), says)
    }

    fn forget(&mut self, gone: Range<RegOffset>) {
        // None has more than 32 bytes.
        let from = gone.start.saturating_sub(31);
        let meets =
            |(at, b): (&(RegOffset, bool), &Bytes)| (at.0 + u32::from(b.runs.0) > gone.start).then_some(*at);
        let all: Vec<_> = self.bytes.range((from, false)..(gone.end, false)).filter_map(meets).collect();
        for key in all {
            self.bytes.remove(&key);
        }
    }
}

/// What a compare of two values into bytes says.
fn truth(i: &Inst, values: [u32; 2]) -> Option<Truth> {
    let signed = |s: &Src| match *s {
        Src::Reg { ty, .. } => ty.is_signed(),
        _ => false,
    };
    let [a, b] = [0, 1].map(|k| signed(&i.src[k]));
    let signed = match (a, b, i.exec) {
        (true, true, ExecType::I32) => true,
        // The negative ones are the greatest where both are extended by their signs, too.
        (false, false, ExecType::I32 | ExecType::U32) | (true, true, ExecType::U32) => false,
        _ => return None,
    };
    let greater = match i.aux {
        2 | 3 => true,
        4 | 5 => false,
        _ => return None,
    };
    Some(Truth { values, greater, signed })
}

/// Is it the greater one that a truth chooses from these?
fn chooses_greater(truth: Truth, [a, b]: [u32; 2]) -> Option<bool> {
    match truth.values {
        values if values == [a, b] => Some(truth.greater),
        values if values == [b, a] => Some(!truth.greater),
        _ => None,
    }
}

fn choose(i: &mut Inst, greater: bool, signed: bool) {
    let [_, mut a, mut b, _] = i.src;
    for s in [&mut a, &mut b] {
        if let Src::Reg { ty, .. } = s {
            *ty = if signed { Type::B } else { Type::Ub };
        }
    }
    (i.op, i.aux) = (if greater { Op::Max } else { Op::Min }, 0);
    i.exec = if signed { ExecType::I32 } else { ExecType::U32 };
    i.src = [a, b, Src::None, Src::None];
}
