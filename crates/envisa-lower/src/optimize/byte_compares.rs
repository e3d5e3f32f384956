//! Bytes that are widened to be compared and picked from are compared and picked as bytes.
//!
//! For the lesser or greater of two bytes compilers widen both twice (without the sign for the compare, with it for the
//! choice), compare words into a vector of truths, pick by its bits, and cut the result to a byte again: half a dozen
//! instructions on words. Here that is one on bytes, from which the word is made for those who want it; mostly nobody
//! does, and what has no reader goes ([`super::dead_code`]).

use std::ops::Range;

use envisa_isa::{Modifier, Type};

use super::{Blocks, CHUNK, range_of_access};
use crate::program::*;
use crate::registers::REGISTER_PADDING;

/// How many vectors are known at a time.
const KNOWN: usize = 512;
/// Bytes of registers that a program may get.
const MOST: u32 = 16 << 10;
/// The truth table of `bfn` by which the first operand's bits pick from the other two.
const PICK: u32 = 0xd8;

/// What an element has above its lowest byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum High {
    /// It is a byte.
    None,
    Zero,
    Sign,
}

/// The channels that execute an instruction, within a block.
type Runs = (u8, u8, bool);

/// A vector whose elements' lowest bytes have a number of their own.
#[derive(Clone, Copy, Debug)]
struct Vector {
    at: RegOffset,
    /// Bytes of an element, and from element to element.
    size: u32,
    step: u32,
    runs: Runs,
    value: u32,
    high: High,
}

/// All ones where the first of two values is the greater one (or as great), else zeros; or the other way round.
#[derive(Clone, Copy, Debug)]
struct Truth {
    at: RegOffset,
    runs: Runs,
    values: [u32; 2],
    greater: bool,
    signed: bool,
}

/// Does what is described above.
pub(super) fn keep_compares_in_bytes(p: &mut ProgramParts, blocks: &Blocks) {
    let picks = |i: &Inst| {
        i.op == Op::Bfn && i.aux & 0xff == PICK && matches!(i.dst, Dst::Reg { ty, .. } if ty.size() == 2)
    };
    if !p.code.iter().any(picks) {
        return;
    }
    let room = p.registers.bytes.saturating_sub(REGISTER_PADDING).next_multiple_of(CHUNK);
    let mut all =
        Bytes { vectors: Vec::new(), truths: Vec::new(), values: 0, first: room, room, made: Vec::new() };
    for pc in 0..p.code.len() {
        if pc == 0 || !blocks.same(pc as Pc - 1, pc as Pc) {
            all.vectors.clear();
            all.truths.clear();
        }
        all.one(p, pc);
    }
    let Bytes { room, made, .. } = all;
    if made.is_empty() {
        return;
    }
    p.registers.bytes = p.registers.bytes.max((room + REGISTER_PADDING).next_multiple_of(CHUNK));
    super::insert(p, made);
}

struct Bytes {
    vectors: Vec<Vector>,
    truths: Vec<Truth>,
    /// Numbers given out.
    values: u32,
    /// Registers given out.
    first: RegOffset,
    room: RegOffset,
    /// Instructions to be put in, and before which.
    made: Vec<(Pc, Inst)>,
}

fn channels_it_runs(i: &Inst) -> Runs {
    (i.channels, i.first, i.no_mask)
}

/// An integer operand as it is, one element for each channel: its type, where it begins, bytes from one to the next.
fn operand(s: &Src, channels: u8) -> Option<(Type, RegOffset, u32)> {
    let Src::Reg { offset, ty, strides, modifier: Modifier::None, constant: false, .. } = *s else {
        return None;
    };
    let step = strides.step(channels.into()).filter(|s| *s != 0 && ty.is_int())?;
    Some((ty, offset, step * ty.size()))
}

fn byte_source(at: RegOffset, signed: bool) -> Src {
    Src::Reg {
        offset: at,
        ty: if signed { Type::B } else { Type::Ub },
        strides: Strides::CONTIGUOUS,
        shape: Shape::Contiguous,
        modifier: Modifier::None,
        constant: false,
    }
}

impl Vector {
    fn range(&self) -> Range<RegOffset> {
        self.at..self.at + self.step * (u32::from(self.runs.0) - 1) + self.size
    }
}

impl Bytes {
    fn one(&mut self, p: &mut ProgramParts, pc: usize) {
        let i = p.code[pc];
        let plain = i.pred == Pred::default() && i.dst2 == 0 && i.channels > 1;
        let found = match i.dst {
            Dst::Reg { offset, ty, stride: 1, sat: false } if plain && ty.is_int() => match i.op {
                Op::Mov => self.moved(&mut p.code[pc], offset, ty).map(Found::Vector),
                Op::Cmp if ty.size() == 2 => self.compared(&i, offset).map(Found::Truth),
                Op::Bfn if ty.size() == 2 && i.aux & 0xff == PICK => {
                    self.picked(&mut p.code[pc], pc, offset).map(Found::Vector)
                }
                _ => None,
            },
            _ => None,
        };
        i.writes(p, &mut |t| {
            let gone = range_of_access(&t, i.channels, p);
            let apart = |r: Range<RegOffset>| r.end <= gone.start || gone.end <= r.start;
            self.vectors.retain(|v| apart(v.range()));
            self.truths.retain(|t| apart(t.at..t.at + 2 * u32::from(t.runs.0)));
        });
        match found {
            Some(Found::Vector(v)) => self.know(v),
            Some(Found::Truth(t)) => self.truths.push(t),
            None => {}
        }
    }

    fn know(&mut self, v: Vector) {
        if self.vectors.len() == KNOWN {
            self.vectors.remove(0);
        }
        self.vectors.push(v);
    }

    fn value(&mut self) -> u32 {
        self.values += 1;
        self.values
    }

    /// What is known of an operand.
    fn find(&self, runs: Runs, (ty, at, step): (Type, RegOffset, u32)) -> Option<Vector> {
        let same = |v: &&Vector| (v.at, v.size, v.step, v.runs) == (at, ty.size(), step, runs);
        self.vectors.iter().find(same).copied()
    }

    /// Where a value's bytes lie side by side.
    fn home(&self, runs: Runs, value: u32) -> Option<RegOffset> {
        let home = |v: &&Vector| (v.size, v.step, v.runs, v.value) == (1, 1, runs, value);
        self.vectors.iter().find(home).map(|v| v.at)
    }

    /// A move: the same bytes in another place. They are taken from where they lie side by side.
    fn moved(&mut self, i: &mut Inst, to: RegOffset, ty: Type) -> Option<Vector> {
        let runs = channels_it_runs(i);
        let from = operand(&i.src[0], i.channels)?;
        let (of, size) = (from.0, ty.size());
        let known = match self.find(runs, from) {
            Some(v) => v,
            None if of.size() == 1 => {
                let value = self.value();
                let v = Vector { at: from.1, size: 1, step: from.2, runs, value, high: High::None };
                self.know(v);
                v
            }
            None => return None,
        };
        if (of.size() == 1 || size == 1)
            && let Some(home) = self.home(runs, known.value).filter(|h| *h != from.1)
        {
            i.src[0] = byte_source(home, of.size() == 1 && of.is_signed());
        }
        let high = match (of.size(), size) {
            (_, 1) => High::None,
            (1, _) if of.is_signed() => High::Sign,
            (1, _) => High::Zero,
            (a, b) if a >= b => known.high,
            _ => return None,
        };
        Some(Vector { at: to, size, step: size, runs, value: known.value, high })
    }

    /// A compare of two widened vectors.
    fn compared(&self, i: &Inst, to: RegOffset) -> Option<Truth> {
        let [x, y] = [operand(&i.src[0], i.channels)?, operand(&i.src[1], i.channels)?];
        let [a, b] = [self.find(channels_it_runs(i), x)?, self.find(channels_it_runs(i), y)?];
        if a.high != b.high || x.0 != y.0 || x.0.size() != 2 {
            return None;
        }
        let signed = match (a.high, i.exec) {
            (High::Zero, ExecType::I32 | ExecType::U32) => false,
            (High::Sign, ExecType::I32) if x.0.is_signed() => true,
            // The negative ones are the greatest then, as they are among bytes.
            (High::Sign, ExecType::U32) if !x.0.is_signed() => false,
            _ => return None,
        };
        let greater = match i.aux {
            2 | 3 => true,
            4 | 5 => false,
            _ => return None,
        };
        Some(Truth { at: to, runs: channels_it_runs(i), values: [a.value, b.value], greater, signed })
    }

    /// A choice of one of the two that were compared.
    fn picked(&mut self, i: &mut Inst, pc: usize, to: RegOffset) -> Option<Vector> {
        let runs = channels_it_runs(i);
        let [t, x, y] = [0, 1, 2].map(|k| operand(&i.src[k], i.channels));
        let (ty, at, 2) = t? else { return None };
        let truth = *self.truths.iter().find(|t| (t.at, t.runs) == (at, runs) && ty.size() == 2)?;
        let (x, y) = (self.find(runs, x?)?, self.find(runs, y?)?);
        if x.high != y.high || x.size != 2 || x.high == High::None {
            return None;
        }
        let op = match [x.value, y.value] {
            v if v == truth.values => truth.greater,
            [a, b] if [b, a] == truth.values => !truth.greater,
            _ => return None,
        };
        let [a, b] = truth.values.map(|v| self.home(runs, v));
        let (a, b) = (a?, b?);
        let bytes = u32::from(i.channels).next_multiple_of(CHUNK);
        if self.room + bytes - self.first > MOST {
            return None;
        }
        let home = self.room;
        self.room += bytes;
        let exec = |signed: bool| if signed { ExecType::I32 } else { ExecType::U32 };
        let ty = if truth.signed { Type::B } else { Type::Ub };
        self.made.push((
            pc as Pc,
            Inst {
                op: if op { Op::Max } else { Op::Min },
                exec: exec(truth.signed),
                dst: Dst::Reg { offset: home, ty, stride: 1, sat: false },
                src: [byte_source(a, truth.signed), byte_source(b, truth.signed), Src::None, Src::None],
                aux: 0,
                ..*i
            },
        ));
        let signed = x.high == High::Sign;
        *i = Inst {
            op: Op::Mov,
            exec: exec(signed),
            src: [byte_source(home, signed), Src::None, Src::None, Src::None],
            aux: 0,
            ..*i
        };
        let value = self.value();
        self.know(Vector { at: home, size: 1, step: 1, runs, value, high: High::None });
        Some(Vector { at: to, size: 2, step: 2, runs, value, high: x.high })
    }
}

enum Found {
    Vector(Vector),
    Truth(Truth),
}
