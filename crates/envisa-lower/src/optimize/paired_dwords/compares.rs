//! Compares of quads by their halves: equal if both are, less if the upper one is, or is equal and the lower one less.

use std::collections::{HashMap, HashSet};

use envisa_isa::Type;

use super::super::range_of_access;
use super::LEAST;
use super::values::{Id, Values};
use crate::program::*;

/// Relations, as they are in [`Inst::aux`].
const EQUAL: u32 = 0;
const UNEQUAL: u32 = 1;
const GREATER: u32 = 2;
const GREATER_EQUAL: u32 = 3;
const LESS: u32 = 4;
const LESS_EQUAL: u32 = 5;

/// Truth tables.
const AND: u32 = 0x88;
const OR: u32 = 0xee;

/// A compare of dwords.
struct Compare {
    relation: u32,
    exec: ExecType,
    sides: [Id; 2],
}

impl Compare {
    /// The same with its sides the other way round.
    fn swapped(&self) -> Compare {
        let relation = match self.relation {
            GREATER => LESS,
            GREATER_EQUAL => LESS_EQUAL,
            LESS => GREATER,
            LESS_EQUAL => GREATER_EQUAL,
            same => same,
        };
        let [a, b] = self.sides;
        Compare { relation, exec: self.exec, sides: [b, a] }
    }
}

impl Values<'_> {
    /// The compare of quads that an instruction puts together of compares of their halves.
    pub fn compare(&mut self, pc: Pc) -> Option<Inst> {
        let i = self.p.code[pc as usize];
        let table = i.aux & 0xff;
        let (a, b) = self.combined(pc)?;
        if let (Some(a), Some(b)) = (self.compare_at(a), self.compare_at(b)) {
            return match (table, a.relation, b.relation) {
                (AND, EQUAL, EQUAL) | (OR, UNEQUAL, UNEQUAL) => self.both(pc, &a, &b),
                _ => None,
            };
        }
        if table != OR {
            return None;
        }
        self.ordered(pc, a, b).or_else(|| self.ordered(pc, b, a))
    }

    /// The instructions that made the two predicates that one combines.
    fn combined(&self, pc: Pc) -> Option<(Pc, Pc)> {
        let i = &self.p.code[pc as usize];
        if i.op != Op::PredLogic || i.channels < LEAST || i.no_mask || i.pred != Pred::default() {
            return None;
        }
        let [Src::Pred { offset: a, invert: false }, Src::Pred { offset: b, invert: false }, ..] = i.src
        else {
            return None;
        };
        let same = |of: Pc| {
            let w = &self.p.code[of as usize];
            (w.channels, w.first, w.no_mask, w.pred) == (i.channels, i.first, false, Pred::default())
        };
        let made = |at| self.predicate_writer(at, pc).filter(|of| same(*of));
        Some((made(a)?, made(b)?))
    }

    /// The compare of dwords that an instruction makes.
    fn compare_at(&mut self, of: Pc) -> Option<Compare> {
        let i = self.p.code[of as usize];
        if i.op != Op::Cmp || !matches!(i.exec, ExecType::I32 | ExecType::U32) {
            return None;
        }
        let by_order = i.aux > UNEQUAL;
        let fits = |s: &Src| match *s {
            Src::Reg { ty, constant, .. } => {
                let small = constant
                    && super::super::fold_addresses::constant(self.p, s).is_some_and(|x| x < 1 << 31);
                !by_order || small || ty.is_signed() == (i.exec == ExecType::I32)
            }
            _ => false,
        };
        if !i.src[..2].iter().all(fits) {
            return None;
        }
        let sides = [self.of_source(&i.src[0], of)?, self.of_source(&i.src[1], of)?];
        Some(Compare { relation: i.aux, exec: i.exec, sides })
    }

    /// Both halves are equal, or one of them is not: which one is the upper one is not said.
    fn both(&mut self, pc: Pc, a: &Compare, b: &Compare) -> Option<Inst> {
        let ways = [(a.sides, b.sides), (b.sides, a.sides)];
        ways.into_iter().find_map(|(low, high)| {
            let [p, q] = high;
            let sides = self.quad_sides(pc, low, [p, q], Type::Q);
            let sides = sides.or_else(|| self.quad_sides(pc, low, [q, p], Type::Q))?;
            self.made(pc, a.relation, ExecType::I64, sides)
        })
    }

    /// The upper half is less, or it is equal, and the lower one less.
    fn ordered(&mut self, pc: Pc, strict: Pc, tie: Pc) -> Option<Inst> {
        let strict = self.compare_at(strict)?;
        let made = self.combined(tie).filter(|_| self.p.code[tie as usize].aux & 0xff == AND)?;
        let (a, b) = (self.compare_at(made.0)?, self.compare_at(made.1)?);
        let (equal, low) = if a.relation == EQUAL { (a, b) } else { (b, a) };
        if equal.relation != EQUAL || low.exec != ExecType::U32 || low.relation <= UNEQUAL {
            return None;
        }
        let strict = if strict.relation == GREATER { strict.swapped() } else { strict };
        let [p, q] = strict.sides;
        if strict.relation != LESS || equal.sides != [p, q] && equal.sides != [q, p] {
            return None;
        }
        let low = if matches!(low.relation, GREATER | GREATER_EQUAL) { low.swapped() } else { low };
        let (exec, ty) = match strict.exec {
            ExecType::I32 => (ExecType::I64, Type::Q),
            _ => (ExecType::U64, Type::Uq),
        };
        let sides = self.quad_sides(pc, low.sides, strict.sides, ty)?;
        self.made(pc, low.relation, exec, sides)
    }

    fn quad_sides(&mut self, pc: Pc, low: [Id; 2], high: [Id; 2], ty: Type) -> Option<[Src; 2]> {
        // Of constants alone no quads are made before it is known that the other side can be had.
        let first = usize::from(matches!(self.get(low[0]), super::values::Value::Constant(_)));
        let one = self.quads(low[first], high[first], pc, ty)?;
        let other = self.quads(low[1 - first], high[1 - first], pc, ty)?;
        Some(if first == 0 { [one, other] } else { [other, one] })
    }

    fn made(&self, pc: Pc, relation: u32, exec: ExecType, [a, b]: [Src; 2]) -> Option<Inst> {
        let i = self.p.code[pc as usize];
        let vector = |s: &Src| matches!(s, Src::Reg { shape: Shape::Contiguous, .. });
        let src = [a, b, Src::None, Src::None];
        src.iter().any(vector).then_some(Inst { op: Op::Cmp, exec, aux: relation, src, ..i })
    }

    /// Drops the compares of halves, and what combined them, whose predicates nobody but these read any more.
    pub fn drop_compares_of_halves(&mut self, compared: &[Pc]) {
        let mut readers: HashMap<RegOffset, Vec<Pc>> = HashMap::new();
        for (pc, i) in (0..).zip(&self.p.code) {
            i.reads(self.p, &mut |t| {
                let r = range_of_access(&t, i.channels, self.p);
                let predicates = r.start - r.start % 4..r.end.min(self.p.registers.locals_start);
                predicates.step_by(4).for_each(|at| readers.entry(at).or_default().push(pc));
            });
        }
        let mut gone: HashSet<Pc> = compared.iter().copied().collect();
        let mut wanted: Vec<Pc> = compared.to_vec();
        while let Some(reader) = wanted.pop() {
            let i = &self.p.code[reader as usize];
            for s in i.src {
                let Src::Pred { offset, .. } = s else { continue };
                let Some(maker) = self.predicate_writer(offset, reader) else { continue };
                let m = &self.p.code[maker as usize];
                let pure = matches!(m.op, Op::Cmp | Op::PredLogic) && m.dst == (Dst::Pred { offset });
                // What reads it behind a place where it is made anew reads something else.
                let anew = compared.contains(&reader) && i.dst == (Dst::Pred { offset });
                let unread = readers.get(&offset).is_none_or(|all| {
                    all.iter()
                        .all(|pc| *pc == maker || gone.contains(pc) || anew && !(maker..=reader).contains(pc))
                });
                if pure && unread && gone.insert(maker) {
                    self.edits.dropped.push(maker);
                    wanted.push(maker);
                }
            }
        }
    }
}
