//! Quads made of what their halves were made of.

use envisa_isa::{Combine, Modifier, Type};

use super::super::immediate;
use super::MOST;
use super::values::{Channels, Id, Place, Value, Values, Version};
use crate::program::*;

/// Most sums that the upper half of a product is made by.
const DEEPEST: u32 = 6;

/// An operation, its `aux`, its predicate and its sources.
pub(super) type Operation = (Op, u32, Pred, [Src; 3]);

/// What quads are made of: the halves of each source, of which the upper one may not matter.
struct Expression {
    op: Op,
    aux: u32,
    pred: Pred,
    operands: Vec<(Id, Option<Id>)>,
    /// The last instruction that makes a half.
    last: Pc,
    /// Where a choice was made.
    chosen: Option<Pc>,
}

/// How many sources an operation on dwords has of which quads may be made.
pub(super) fn sources(op: Op) -> Option<usize> {
    match op {
        Op::Not => Some(1),
        Op::And | Op::Or | Op::Xor | Op::Sel | Op::Mul | Op::Mulh | Op::Add => Some(2),
        Op::Bfn | Op::Add3 => Some(3),
        _ => None,
    }
}

/// An operation on quads for the channels of an instruction.
pub(super) fn instruction(of: &Inst, (op, aux, pred, [a, b, c]): Operation, to: RegOffset) -> Inst {
    let facts = Facts { uniform: false, fuses_with_next: false, writes_only_next: false, ..of.facts };
    let dst = Dst::Reg { offset: to, ty: Type::Q, stride: 1, sat: false };
    Inst { op, aux, pred, exec: ExecType::I64, dst, src: [a, b, c, Src::None], dst2: 0, facts, ..*of }
}

fn source(offset: RegOffset, ty: Type, of: Option<Channels>) -> Src {
    let (strides, shape) = match of {
        Some(_) => (Strides::CONTIGUOUS, Shape::Contiguous),
        None => (Strides::SCALAR, Shape::Scalar),
    };
    Src::Reg { offset, ty, strides, shape, modifier: Modifier::None, constant: false }
}

impl Values<'_> {
    /// Quads that have these halves, as an instruction finds them; made there, if nobody has yet.
    pub fn quads(&mut self, low: Id, high: Id, at: Pc, ty: Type) -> Option<Src> {
        if let Some(s) = self.found(low, high, at, ty) {
            return Some(s);
        }
        if self.hopeless.contains(&[low, high]) {
            return None;
        }
        if self.make(low, high).is_none() {
            self.hopeless.insert([low, high]);
            return None;
        }
        self.found(low, high, at, ty)
    }

    /// The same, of those that are there already.
    pub fn found(&mut self, low: Id, high: Id, at: Pc, ty: Type) -> Option<Src> {
        if let (Value::Constant(l), Value::Constant(h)) = (self.get(low), self.get(high)) {
            return self.constant_quad([l, h], at, ty);
        }
        let i = &self.p.code[at as usize];
        let channels = (i.channels, i.first);
        let places = self.quads_of.get(&[low, high]).into_iter().flatten();
        let mut fitting = places.filter(|p| p.of.is_none_or(|of| of == channels));
        if let Some(place) = fitting.find(|p| self.holds(p, at)) {
            return Some(source(place.offset, ty, place.of));
        }
        match self.get(high) {
            Value::Constant(0) => self.extended(low, at),
            _ => None,
        }
    }

    /// Dwords as quads whose upper halves are zero.
    fn extended(&self, low: Id, at: Pc) -> Option<Src> {
        let i = &self.p.code[at as usize];
        let channels = (i.channels, i.first);
        match self.home(low, channels, at) {
            Some(offset) => Some(source(offset, Type::Ud, Some(channels))),
            None => Some(source(self.scalar(low, at)?, Type::Ud, None)),
        }
    }

    /// Quads with a lower half, and any upper one.
    fn with_low(&mut self, low: Id, at: Pc) -> Option<Src> {
        if let Value::Constant(l) = self.get(low) {
            return immediate(self.p, l, Type::Ud);
        }
        let i = &self.p.code[at as usize];
        let channels = (i.channels, i.first);
        let mut places = self.above.get(&low).into_iter().flatten();
        let place = places.find(|p| p.of.is_none_or(|of| of == channels) && self.holds(p, at));
        match place {
            Some(place) => Some(source(place.offset, Type::Q, place.of)),
            None => self.extended(low, at),
        }
    }

    /// A constant: an extended dword among the program's constants, or a scalar that is set when the program begins.
    fn constant_quad(&mut self, [l, h]: [u32; 2], at: Pc, ty: Type) -> Option<Src> {
        if h == 0
            && let Some(s) = immediate(self.p, l, Type::Ud)
        {
            return Some(s);
        }
        if (h, ty) == (u32::MAX, Type::Q)
            && l >= 1 << 31
            && let Some(s) = immediate(self.p, l, Type::D)
        {
            return Some(s);
        }
        if let Some(offset) = self.wide_constants.get(&[l, h]) {
            return Some(source(*offset, ty, None));
        }
        // Code that a thread begins with, and that nothing goes back to.
        let entry = self.p.functions[0].entry + 1;
        let begins = self.blocks.in_entry(entry) && !self.blocks.before(entry).is_empty();
        if !begins || at <= entry || self.edits.made >= MOST {
            return None;
        }
        let halves = [immediate(self.p, l, Type::Ud)?, immediate(self.p, h, Type::Ud)?];
        let offset = self.edits.take(8);
        for (half, s) in [0, 4].into_iter().zip(halves) {
            let dst = Dst::Reg { offset: offset + half, ty: Type::Ud, stride: 1, sat: false };
            let of = self.p.code[entry as usize];
            let i = Inst {
                channels: 1,
                first: 0,
                no_mask: true,
                exec: ExecType::U32,
                ..instruction(&of, (Op::Mov, 0, Pred::default(), [s, Src::None, Src::None]), offset)
            };
            self.edits.put_in.push((entry, Inst { dst, ..i }));
        }
        self.wide_constants.insert([l, h], offset);
        Some(source(offset, ty, None))
    }

    /// Makes quads where the last of their halves is made.
    fn make(&mut self, low: Id, high: Id) -> Option<()> {
        let e = self.expression(low, high)?;
        if self.blocks.before(e.last).is_empty() || self.edits.made >= MOST {
            return None;
        }
        let made = self.operation(&e, e.last)?;
        let of = self.p.code[e.last as usize];
        let offset = self.edits.take(8 * u32::from(of.channels));
        self.edits.put_in.push((e.last, instruction(&of, made, offset)));
        let place = Place { offset, of: Some((of.channels, of.first)), version: Version::PutIn(e.last) };
        self.note_place(place, [low, high]);
        Some(())
    }

    /// What makes quads of these halves at an instruction, of what is there.
    pub fn at_once(&mut self, low: Id, high: Id, at: Pc) -> Option<Operation> {
        let e = self.expression(low, high)?;
        self.operation(&e, at)
    }

    fn operation(&mut self, e: &Expression, at: Pc) -> Option<Operation> {
        if let Some(chosen) = e.chosen {
            let there = self.blocks.same(chosen, at)
                && self.predicate_writer(e.pred.offset, at) == self.predicate_writer(e.pred.offset, chosen);
            there.then_some(())?;
        }
        let mut src = [Src::None; 3];
        for (s, (l, h)) in src.iter_mut().zip(&e.operands) {
            *s = match h {
                Some(h) => self.quads(*l, *h, at, Type::Q)?,
                None => self.with_low(*l, at)?,
            };
        }
        // Of what is the same for all channels nothing is made for each, unless each has a choice.
        let vector = src.iter().any(|s| matches!(s, Src::Reg { shape: Shape::Contiguous, .. }));
        (vector || e.chosen.is_some()).then_some((e.op, e.aux, e.pred, src))
    }

    fn expression(&mut self, low: Id, high: Id) -> Option<Expression> {
        let Value::Made(l, a) = self.get(low) else { return self.unchanged_half(high, low, true) };
        let i = self.p.code[l as usize];
        if i.op == Op::Mul {
            return self.product(l, a, high);
        }
        let Value::Made(h, b) = self.get(high) else { return self.unchanged_half(low, high, false) };
        let j = self.p.code[h as usize];
        let alike = |i: &Inst| (i.op, i.aux, i.pred, i.channels, i.first);
        if alike(&i) != alike(&j) || matches!(i.op, Op::Add | Op::Add3 | Op::Mulh) {
            return self.unchanged_half(low, high, false).or_else(|| self.unchanged_half(high, low, true));
        }
        let chosen = (i.op == Op::Sel).then_some(l);
        if chosen.is_some() {
            let same = self.blocks.same(l, h)
                && i.pred.combine == Combine::None
                && self.predicate_writer(i.pred.offset, l) == self.predicate_writer(i.pred.offset, h);
            same.then_some(())?;
        }
        let operands = a.into_iter().zip(b.map(Some)).take(sources(i.op)?).collect();
        Some(Expression { op: i.op, aux: i.aux, pred: i.pred, operands, last: l.max(h), chosen })
    }

    /// Quads of whose halves an operation changes one alone: with a constant in the other one, it does nothing there.
    fn unchanged_half(&mut self, changed: Id, other: Id, upper: bool) -> Option<Expression> {
        let Value::Made(pc, src) = self.get(changed) else { return None };
        let i = self.p.code[pc as usize];
        let count = sources(i.op)?;
        let mut halves = [None; 3];
        let keeps = if i.op == Op::Bfn {
            let keeps = (0..3).find(|k| !upper && self.quads_of.contains_key(&[src[*k], other]))?;
            let may = |(k, x): (usize, &Option<u32>)| x.is_none_or(|x| self.may_have_upper(src[k], x));
            let fits = |all: &[Option<u32>; 3]| all.iter().enumerate().all(may);
            let constants = constants_that_keep(i.aux, keeps).into_iter().find(fits)?;
            for (half, constant) in halves.iter_mut().zip(constants) {
                *half = constant.map(|x| self.constant(x));
            }
            keeps
        } else {
            let nothing = match i.op {
                Op::Or | Op::Xor => 0,
                Op::And => u32::MAX,
                _ => return None,
            };
            let k = (0..2).find(|k| matches!(self.get(src[*k]), Value::Constant(_)))?;
            halves[k] = Some(self.constant(nothing));
            1 - k
        };
        halves[keeps] = Some(other);
        let pair = |(x, y): (Id, Option<Id>)| match y {
            Some(y) if upper => (y, Some(x)),
            y => (x, y),
        };
        let operands = src.into_iter().zip(halves).take(count).map(pair).collect();
        Some(Expression { op: i.op, aux: i.aux, pred: i.pred, operands, last: pc, chosen: None })
    }

    /// May there be quads with a lower half, and a constant as the upper one?
    fn may_have_upper(&self, low: Id, high: u32) -> bool {
        let constant = matches!(self.get(low), Value::Constant(_));
        constant || high == 0 && self.is_anywhere(low)
    }

    /// A product: that of the lower dwords, to the upper half of which those with the upper ones are added.
    fn product(&mut self, low: Pc, factors: [Id; 3], high: Id) -> Option<Expression> {
        let [x, y, _] = factors;
        let (mut upper, mut terms, mut last) = (None, Vec::new(), low);
        self.add_up(high, DEEPEST, &mut upper, &mut terms, &mut last)?;
        let [p, q] = upper?;
        if (p, q) != (x, y) && (p, q) != (y, x) {
            return None;
        }
        let mut uppers: [Option<Id>; 2] = [None; 2];
        for [p, q] in terms {
            if [p, q].iter().any(|id| self.get(*id) == Value::Constant(0)) {
                continue;
            }
            // What is multiplied by the one factor is the upper half of the other.
            let ways = [(p, x, 1, q), (q, x, 1, p), (p, y, 0, q), (q, y, 0, p)];
            let (_, _, factor, other) =
                ways.into_iter().find(|(a, b, factor, _)| a == b && uppers[*factor].is_none())?;
            uppers[factor] = Some(other);
        }
        let zero = self.constant(0);
        let operands = vec![(x, uppers[0].or(Some(zero))), (y, uppers[1].or(Some(zero)))];
        Some(Expression { op: Op::Mul, aux: 0, pred: Pred::default(), operands, last, chosen: None })
    }

    fn add_up(
        &mut self,
        id: Id,
        depth: u32,
        upper: &mut Option<[Id; 2]>,
        terms: &mut Vec<[Id; 2]>,
        last: &mut Pc,
    ) -> Option<()> {
        let Value::Made(pc, src) = self.get(id) else {
            return (self.get(id) == Value::Constant(0)).then_some(());
        };
        *last = pc.max(*last);
        let i = &self.p.code[pc as usize];
        match i.op {
            Op::Add | Op::Add3 if depth > 0 => {
                let count = sources(i.op)?;
                src[..count].iter().try_for_each(|s| self.add_up(*s, depth - 1, upper, terms, last))
            }
            Op::Mulh if i.exec == ExecType::U32 => upper.replace([src[0], src[1]]).is_none().then_some(()),
            Op::Mul => {
                terms.push([src[0], src[1]]);
                Some(())
            }
            _ => None,
        }
    }
}

/// What the other two operands of a table of three are for it to give one of them as it is, in all ways; `None` where one does not
/// matter.
fn constants_that_keep(table: u32, kept: usize) -> Vec<[Option<u32>; 3]> {
    let [a, b] = [[1, 2], [0, 2], [0, 1]][kept];
    let any = [Some(0), Some(1), None];
    let mut all = Vec::new();
    for (x, y) in
        [(2, 0), (2, 1), (0, 2), (1, 2), (0, 0), (0, 1), (1, 0), (1, 1)].map(|(x, y)| (any[x], any[y]))
    {
        let fits = |bits: u32| {
            let one = |k: usize| bits >> k & 1;
            let meant = x.is_none_or(|x| x == one(a)) && y.is_none_or(|y| y == one(b));
            !meant || table >> bits & 1 == one(kept)
        };
        if (0..8).all(fits) {
            let mut constants = [None; 3];
            (constants[a], constants[b]) = (x.map(u32::wrapping_neg), y.map(u32::wrapping_neg));
            all.push(constants);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_kept_by_constants() {
        let (zero, ones) = (Some(0), Some(u32::MAX));
        // a & b | c: where a or b is zero, it is c.
        let ways = constants_that_keep(0xf8, 2);
        assert!(ways.starts_with(&[[None, zero, None], [zero, None, None]]));
        assert!(!ways.contains(&[None, ones, None]));
        // a ^ b ^ c.
        assert_eq!(constants_that_keep(0x96, 0), [[None, zero, zero], [None, ones, ones]]);
        // a & b & c.
        assert_eq!(constants_that_keep(0x80, 1), [[ones, None, ones]]);
        // !a.
        assert!(constants_that_keep(0x55, 0).is_empty());
    }
}
