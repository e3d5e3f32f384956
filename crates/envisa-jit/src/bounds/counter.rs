//! What loops count by, and how far.

use super::*;

/// Relations of compares, as instructions have them.
const GT: u32 = 2;
const GE: u32 = 3;
const LT: u32 = 4;
const LE: u32 = 5;
/// Both of two predicates, as a table of truth.
const BOTH: u32 = 0x88;
/// How far behind an addition the branch is that it is for.
const NEAR: Pc = 64;

impl Search<'_> {
    /// An addition of a constant that is followed by a branch back to where it is less than something, and that nobody
    /// comes to on another way without a new start.
    pub(super) fn counter(&self, pc: Pc, writers: &[Pc]) -> Option<Counter> {
        let i = self.p.code()[pc as usize];
        let Dst::Reg { offset, ty, stride: 1, sat: false } = i.dst else { return None };
        let n = u32::from(i.channels);
        let own = matches!(i.src[0], Src::Reg { offset: from, ty, modifier: Modifier::None, shape, .. }
            if from == offset && ty.is_int() && matches!(ty.size(), 4 | 8) && shape == shape_of(n));
        let plain = i.op == Op::Add && i.pred.offset == 0 && i.first == 0 && ty.is_int() && ty.size() >= 4;
        if !own || !plain || constant(self.p, &i.src[1]).is_none_or(|k| !(1..1 << 31).contains(&k)) {
            return None;
        }
        let back = self.branch_back(pc)?;
        let b = self.p.code()[back as usize];
        let together = b.channels == 1 && n == 1;
        let apart = b.channels == i.channels && n > 1 && !i.no_mask;
        if !(together || apart) || writers.iter().any(|w| (pc + 1..=back).contains(w)) {
            return None;
        }
        let (limit, less, exec) = self.limit(&i, pc, b.pred.offset, back)?;
        // Where the branch is not taken, what was counted begins anew before it goes on.
        let mut open: Vec<Pc> = match together {
            true => self.flow.successors(self.p.parts(), back),
            false => self.flow.channel_successors(self.p.parts(), back).into_iter().flatten().collect(),
        };
        open.retain(|to| *to != b.aux);
        let mut seen = Set::default();
        while let Some(at) = open.pop() {
            if at == pc {
                return None;
            }
            if !seen.insert(at) || (writers.contains(&at) && self.begins(at, offset, n)) {
                continue;
            }
            match together {
                true => open.extend(self.flow.successors(self.p.parts(), at)),
                false => open.extend(self.flow.channel_successors(self.p.parts(), at).into_iter().flatten()),
            }
        }
        let place = *self.places(offset, n * ty.size())?.first()?;
        Some(Counter { place, limit, less, exec })
    }

    /// Does an instruction write all that is counted by, of all channels that come to it?
    fn begins(&self, pc: Pc, offset: RegOffset, channels: u32) -> bool {
        let i = &self.p.code()[pc as usize];
        let same = matches!(i.dst, Dst::Reg { offset: to, stride: 1, .. } if to == offset);
        let all = channels > 1 || i.no_mask || i.facts.converged;
        same && all && u32::from(i.channels) == channels && i.pred.offset == 0 && i.first == 0
    }

    /// The branch back at the end of the block, by a predicate.
    fn branch_back(&self, pc: Pc) -> Option<Pc> {
        let code = self.p.code();
        let end = (pc + 1..code.len().min((pc + NEAR) as usize) as Pc).find(|q| {
            let i = &code[*q as usize];
            self.leads.contains(q)
                || matches!(i.op, Op::Goto | Op::Ret | Op::Join | Op::End | Op::Unsupported)
        })?;
        let b = &code[end as usize];
        let back = b.op == Op::Goto && b.aux <= pc && b.first == 0 && !self.leads.contains(&end);
        (back && b.pred.offset != 0 && !b.pred.invert && b.pred.combine == Combine::None).then_some(end)
    }

    /// What a counter is less than where a predicate holds, behind it and before a reader, what is added to that for
    /// the greatest that passes, and how they are compared.
    fn limit(&self, i: &Inst, pc: Pc, predicate: RegOffset, reader: Pc) -> Option<(Src, i64, ExecType)> {
        let from = (pc + 1).max(reader.saturating_sub(FAR));
        let made = (from..reader).rev().find(|q| self.writes(*q, predicate))?;
        let c = &self.p.code()[made as usize];
        if c.dst != (Dst::Pred { offset: predicate }) || c.pred.offset != 0 || c.first != 0 {
            return None;
        }
        match c.op {
            Op::PredLogic if c.aux == BOTH => c.src[..2].iter().find_map(|s| match *s {
                Src::Pred { offset, invert: false } => self.limit(i, pc, offset, made),
                _ => None,
            }),
            Op::Cmp if c.channels == i.channels => {
                let own = |s: &Src| self.is_counter(i, pc, s, made);
                let (limit, less) = match c.aux {
                    LT if own(&c.src[0]) => (c.src[1], 1),
                    LE if own(&c.src[0]) => (c.src[1], 0),
                    GT if own(&c.src[1]) => (c.src[0], 1),
                    GE if own(&c.src[1]) => (c.src[0], 0),
                    _ => return None,
                };
                Some((limit, less, c.exec))
            }
            _ => None,
        }
    }

    /// Is a source what was counted by before, or a copy of it?
    fn is_counter(&self, i: &Inst, pc: Pc, s: &Src, reader: Pc) -> bool {
        let Dst::Reg { offset: own, ty: of, .. } = i.dst else { return false };
        let Src::Reg { offset, ty, modifier: Modifier::None, shape, constant: false, .. } = *s else {
            return false;
        };
        if !ty.is_int() || ty.size() != of.size() || shape != shape_of(i.channels.into()) {
            return false;
        }
        let copy = || {
            let made = (pc + 1..reader).rev().find(|q| self.writes(*q, offset))?;
            let m = &self.p.code()[made as usize];
            let plain = m.op == Op::Mov && m.channels == i.channels && m.pred.offset == 0;
            let to = matches!(m.dst, Dst::Reg { offset: to, ty: as_ty, stride: 1, sat: false }
                if to == offset && as_ty.is_int() && as_ty.size() >= of.size() && (i.channels == 1 || as_ty.size() == of.size()));
            (plain && to).then(|| self.is_counter(i, pc, &m.src[0], made))
        };
        offset == own || copy() == Some(true)
    }

    /// Does an instruction write the cell of a byte?
    fn writes(&self, pc: Pc, at: RegOffset) -> bool {
        let mut found = false;
        let cell = self.cells.at(at);
        self.cells.accesses(self.p.parts(), pc, &mut |a| found |= a.write && Some(a.cell) == cell);
        found
    }

    /// What an addition writes that comes after a start, or after the branch was taken.
    pub(super) fn counted(&self, i: &Inst, c: &Counter) -> Known {
        let Dst::Reg { offset, ty, .. } = i.dst else { return Known::Anything };
        let Some(by) = constant(self.p, &i.src[1]) else { return Known::Anything };
        let bytes = u32::from(i.channels) * ty.size();
        let (as_ty, most) = match c.exec {
            ExecType::U32 => (Type::Ud, u32::MAX.into()),
            ExecType::I32 => (Type::D, i32::MAX.into()),
            ExecType::U64 => (Type::Uq, i64::MAX >> 1),
            ExecType::I64 => (Type::Q, i64::MAX >> 1),
            _ => return Known::Anything,
        };
        let start = self.elements(&self.outside, offset, bytes, ty.size()).read_as(as_ty);
        let limit = self.source(&self.known, i, &c.limit).read_as(as_ty);
        match (start, limit) {
            (Known::Nothing, _) | (_, Known::Nothing) => Known::Nothing,
            (Known::In(first, last), Known::In(_, limit)) => {
                let greatest = last.max(limit - c.less);
                // Nothing wraps around.
                match greatest.checked_add(by) {
                    Some(next) if next <= most => Known::In(first, next),
                    _ => Known::Anything,
                }
            }
            _ => Known::Anything,
        }
    }
}

/// How a source of so many channels lies that has an element for each.
fn shape_of(channels: u32) -> Shape {
    if channels == 1 { Shape::Scalar } else { Shape::Contiguous }
}
