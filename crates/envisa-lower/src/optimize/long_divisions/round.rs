//! A round of a loop that may divide, computed as expressions of what is in the registers as it begins.

use std::collections::HashMap;
use std::ops::Range;

use envisa_isa::{Combine, Modifier, Type};

use super::super::fold_addresses::constant;
use super::values::{Id, Place, Quad, Value, Values};
use super::{Loops, has_channels, is_scalar, wide};
use crate::program::*;

/// The relations of compares.
const EQUAL: u32 = 0;
const UNEQUAL: u32 = 1;
const GREATER: u32 = 2;
const GREATER_OR_EQUAL: u32 = 3;
const LESS: u32 = 4;
const LESS_OR_EQUAL: u32 = 5;
/// `a & b | c` as a table of three, and `a & b` as one of two predicates.
const AND_OR: u32 = 0xf8;
const BOTH: u32 = 0x88;

/// Instructions that some channels jump over.
struct Branch {
    /// Holds for those that do.
    skips: Id,
    to: Pc,
    /// How many dwords were written before.
    written: usize,
}

pub(super) struct Round<'a> {
    loops: &'a Loops<'a>,
    /// Where the loop begins.
    start: Pc,
    pub values: Values,
    /// What was written, the newest last.
    written: Vec<(Place, Id)>,
    predicates: Vec<(RegOffset, Id)>,
    branch: Option<Branch>,
    /// Constants that were read, as sources: dwords with a high half of zero.
    constants: HashMap<Quad, Src>,
}

impl<'a> Round<'a> {
    pub fn new(loops: &'a Loops<'a>, start: Pc) -> Round<'a> {
        let (written, predicates, branch) = (Vec::new(), Vec::new(), None);
        let (values, constants) = (Values::default(), HashMap::new());
        Round { loops, start, values, written, predicates, branch, constants }
    }

    /// Computes instructions; `None` if one does what divisions do not.
    pub fn compute(&mut self, code: Range<Pc>) -> Option<()> {
        let loops = self.loops;
        for pc in code {
            let i = &loops.p.code[pc as usize];
            match i.op {
                Op::Join => self.join(pc)?,
                Op::Goto => self.skip(i, pc)?,
                Op::Cmp | Op::PredLogic => self.predicate_of(i)?,
                _ => self.dwords_of(i)?,
            }
        }
        self.branch.is_none().then_some(())
    }

    /// What a dword of each channel is by now.
    pub fn read(&mut self, at: Place) -> Option<Id> {
        for (place, id) in self.written.iter().rev() {
            if *place == at {
                return Some(*id);
            }
            if overlap(*place, at, self.loops.p.simd) {
                return None;
            }
        }
        let set = (at.step == 0).then(|| self.loops.scalar_constant(at.offset, self.start)).flatten();
        Some(match set {
            Some(x) => self.values.constant(x),
            None => self.values.start(at),
        })
    }

    /// Whether a predicate holds.
    pub fn holds(&mut self, by: Pred) -> Option<Id> {
        let id = self.predicates.iter().rev().find(|(at, _)| *at == by.offset)?.1;
        (by.combine == Combine::None).then(|| if by.invert { self.values.not(id) } else { id })
    }

    /// Quads that were written, by their first byte.
    pub fn written_quads(&self) -> impl Iterator<Item = RegOffset> {
        self.written.iter().filter(|(place, _)| place.step == 8).map(|(place, _)| place.offset)
    }

    /// The source that a quad is read from, one for each channel or one for all, if the loop leaves that as it is.
    pub fn source(&self, of: Quad) -> Option<Src> {
        if let Some(s) = self.constants.get(&of) {
            return Some(*s);
        }
        let place = |id| match self.values.get(id) {
            Value::Start(at) => {
                let changed = |(w, _): &(Place, Id)| overlap(*w, at, self.loops.p.simd);
                (!self.written.iter().any(changed)).then_some(at)
            }
            _ => None,
        };
        let low = place(of[0])?;
        let zero = self.values.get(of[1]) == Value::Constant(0);
        let ty = if zero { Type::Ud } else { Type::Q };
        let (strides, shape) = match low.step {
            0 => (Strides::SCALAR, Shape::Scalar),
            step if step == ty.size() => (Strides::CONTIGUOUS, Shape::Contiguous),
            _ => return None,
        };
        let pair = zero || place(of[1])? == Place { offset: low.offset + 4, ..low };
        let modifier = Modifier::None;
        pair.then_some(Src::Reg { offset: low.offset, ty, strides, shape, modifier, constant: false })
    }

    /// Channels that jumped over instructions have what was there before.
    fn join(&mut self, pc: Pc) -> Option<()> {
        let Some(b) = self.branch.take_if(|b| b.to == pc) else { return Some(()) };
        let mut inside = self.written.split_off(b.written);
        while let Some((place, id)) = inside.pop() {
            inside.retain(|(other, _)| *other != place);
            if inside.iter().any(|(other, _)| overlap(*other, place, self.loops.p.simd)) {
                return None;
            }
            let before = self.read(place)?;
            let either = self.values.choice(b.skips, before, id);
            self.written.push((place, either));
        }
        Some(())
    }

    fn skip(&mut self, i: &Inst, pc: Pc) -> Option<()> {
        let forward = i.aux > pc && i.pred.offset != 0 && self.branch.is_none();
        (forward && has_channels(self.loops.p, i)).then_some(())?;
        let skips = self.holds(i.pred)?;
        self.branch = Some(Branch { skips, to: i.aux, written: self.written.len() });
        Some(())
    }

    fn predicate_of(&mut self, i: &Inst) -> Option<()> {
        let Dst::Pred { offset } = i.dst else { return None };
        (i.pred == Pred::default() && self.branch.is_none()).then_some(())?;
        let v = if i.op == Op::PredLogic {
            (has_channels(self.loops.p, i) && i.aux == BOTH).then_some(())?;
            let [a, b] = [0, 1].map(|k| match i.src[k] {
                Src::Pred { offset, invert } => self.holds(Pred { offset, combine: Combine::None, invert }),
                _ => None,
            });
            self.values.both(a?, b?)
        } else {
            // What is the same for all channels may be compared for any of them.
            let scalar = |s: &Src| matches!(s, Src::Reg { shape: Shape::Scalar, .. });
            let any = i.first == 0 && i.no_mask && i.src[..2].iter().all(scalar);
            (any || has_channels(self.loops.p, i)).then_some(())?;
            self.compare(i)?
        };
        self.predicates.push((offset, v));
        Some(())
    }

    fn compare(&mut self, i: &Inst) -> Option<Id> {
        let [a, b] = [self.operand(i, 0)?, self.operand(i, 1)?];
        let less = |r: &mut Self, a: Operand, b: Operand| match i.exec {
            ExecType::U64 => Some(r.values.less(a.quad()?, b.quad()?)),
            ExecType::U32 => Some(r.values.less_dword(a.low, b.low)),
            _ => None,
        };
        let zero = |r: &mut Self| {
            let is =
                matches!(i.exec, ExecType::I32 | ExecType::U32) && r.values.get(b.low) == Value::Constant(0);
            is.then(|| r.values.is_zero(a.low))
        };
        let (v, negated) = match i.aux {
            EQUAL => (zero(self)?, false),
            UNEQUAL => (zero(self)?, true),
            LESS => (less(self, a, b)?, false),
            GREATER_OR_EQUAL => (less(self, a, b)?, true),
            GREATER => (less(self, b, a)?, false),
            LESS_OR_EQUAL => (less(self, b, a)?, true),
            _ => return None,
        };
        Some(if negated { self.values.not(v) } else { v })
    }

    fn dwords_of(&mut self, i: &Inst) -> Option<()> {
        let Dst::Reg { offset, ty, stride, sat: false } = i.dst else { return None };
        let scalar = i.channels == 1 && i.first == 0 && i.no_mask;
        let chosen = i.op == Op::Sel;
        let plain = i.dst2 == 0 && ty.is_int() && (chosen || i.pred == Pred::default());
        (plain && (scalar && !chosen || has_channels(self.loops.p, i))).then_some(())?;
        let result = self.result(i)?;
        let step = |bytes| if scalar { 0 } else { bytes };
        match (ty.size(), stride) {
            (8, 1) => {
                let step = step(8);
                for (half, id) in (0..).zip(result.quad()?) {
                    self.written.push((Place { offset: offset + 4 * half, step }, id));
                }
            }
            (4, _) => {
                let step = step(4 * u32::from(stride));
                self.written.push((Place { offset, step }, result.low));
            }
            _ => return None,
        }
        Some(())
    }

    fn result(&mut self, i: &Inst) -> Option<Operand> {
        let operands = [self.operand(i, 0)?, self.operand(i, 1)?, self.operand(i, 2)?];
        let [a, b, c] = operands;
        let negated = [a, b, c].map(|x| x.negated);
        let exec_wide = wide(i);
        (negated == [false, i.op == Op::Add, false]).then_some(())?;
        let v = &mut self.values;
        let both = |v: &mut Values, f: &dyn Fn(&mut Values, [Id; 3]) -> Id| {
            let low = f(v, [a.low, b.low, c.low]);
            let high = match (a.high, b.high, c.high, exec_wide) {
                (Some(x), Some(y), Some(z), true) => Some(f(v, [x, y, z])),
                _ => None,
            };
            Some(Operand { low, high, negated: false })
        };
        match i.op {
            Op::Mov => Some(a),
            Op::And => both(v, &|v, [a, b, _]| v.and(a, b)),
            Op::Or => both(v, &|v, [a, b, _]| v.or(a, b)),
            Op::Bfn if i.aux & 0xff == AND_OR => both(v, &|v, [a, b, c]| {
                let masked = v.and(a, b);
                v.or(masked, c)
            }),
            Op::Sel => {
                let p = self.holds(i.pred)?;
                both(&mut self.values, &|v, [a, b, _]| v.choice(p, a, b))
            }
            Op::Shl if exec_wide => v.shifted_left(a.quad()?, b.quad()?).map(Operand::from),
            Op::Shr if i.exec == ExecType::U64 => {
                let (x, k) = (a.quad()?, b.quad()?);
                Some(v.halves(|h| Value::Shifted(h, x, k)).into())
            }
            Op::Add if exec_wide => Some(v.difference(a.quad()?, b.quad()?).into()),
            _ => None,
        }
    }

    /// A source, extended to a quad if that does not ask for its sign; zero if there is none.
    fn operand(&mut self, i: &Inst, k: usize) -> Option<Operand> {
        let s = self.loops.without_absolute(i.src[k], self.start)?;
        let zero = self.values.constant(0);
        let Src::Reg { offset, ty, strides, shape, modifier, constant: is_constant } = s else {
            let none = Operand { low: zero, high: Some(zero), negated: false };
            return matches!(s, Src::None).then_some(none);
        };
        let negated = modifier == Modifier::Neg;
        (ty.is_int() && (negated || modifier == Modifier::None)).then_some(())?;
        if is_constant {
            (!negated).then_some(())?;
            let x = constant(self.loops.p, &s)?;
            let quad = [x as u32, (x >> 32) as u32].map(|x| self.values.constant(x));
            self.constants.entry(quad).or_insert(s);
            return Some(quad.into());
        }
        let size = ty.size();
        let step = if i.channels == 1 || shape == Shape::Scalar { 0 } else { size * strides.element(1) };
        let n = if step == 0 { 1 } else { u32::from(i.channels) };
        let regular = (0..n).all(|k| size * strides.element(k) == k * step);
        (regular && (size == 8 || size == 4) && (wide(i) || size == 4)).then_some(())?;
        let low = self.read(Place { offset, step })?;
        let high = match ty {
            Type::Ud => Some(zero),
            _ if size == 8 => Some(self.read(Place { offset: offset + 4, step })?),
            _ => None,
        };
        Some(Operand { low, high, negated })
    }
}

/// A source or a result: its high half is `None` if it is not known.
#[derive(Clone, Copy)]
struct Operand {
    low: Id,
    high: Option<Id>,
    negated: bool,
}

impl Operand {
    fn quad(self) -> Option<Quad> {
        Some([self.low, self.high?])
    }
}

impl From<Quad> for Operand {
    fn from([low, high]: Quad) -> Operand {
        Operand { low, high: Some(high), negated: false }
    }
}

/// May dwords of these channels share bytes?
fn overlap(a: Place, b: Place, channels: u32) -> bool {
    let end = |p: Place| p.offset + (channels - 1) * p.step + 4;
    // The halves of the same quads do not.
    let halves = a.step == 8 && b.step == 8 && a.offset.abs_diff(b.offset) % 8 == 4;
    !halves && a.offset < end(b) && b.offset < end(a)
}

/// A round's exit is computed by instructions that leave registers alone.
pub(super) fn is_count_down(p: &ProgramParts, i: &Inst) -> Option<RegOffset> {
    let Dst::Reg { offset, ty, stride: 1, sat: false } = i.dst else { return None };
    let own = matches!(i.src[0], Src::Reg { offset: at, ty, modifier: Modifier::None, constant: false, .. }
        if at == offset && ty.is_int() && ty.size() == 4);
    let minus_one = constant(p, &i.src[1]).map(|x| x as u32) == Some(u32::MAX);
    let dword = ty.is_int() && ty.size() == 4 && matches!(i.exec, ExecType::I32 | ExecType::U32);
    (i.op == Op::Add && is_scalar(i) && dword && own && minus_one).then_some(offset)
}
