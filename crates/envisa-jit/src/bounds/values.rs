//! Bounds of what instructions make.

use super::*;

impl Known {
    /// Of two bounds, where both are known.
    fn with(self, other: Known, f: impl FnOnce(Bounds, Bounds) -> Option<Bounds>) -> Known {
        match (self, other) {
            (Known::Nothing, _) | (_, Known::Nothing) => Known::Nothing,
            (Known::In(a, b), Known::In(c, d)) => Known::new(f((a, b), (c, d))),
            _ => Known::Anything,
        }
    }

    fn then(self, f: impl FnOnce(Bounds) -> Option<Bounds>) -> Known {
        self.with(self, |a, _| f(a))
    }

    /// As elements of a type are read: what is known modulo 2^32 as the type has it.
    pub(super) fn read_as(self, ty: Type) -> Known {
        let (least, most) = match ty {
            Type::Ub => (0, 0xff),
            Type::B => (-0x80, 0x7f),
            Type::Uw => (0, 0xffff),
            Type::W => (-0x8000, 0x7fff),
            Type::Ud => (0, u32::MAX.into()),
            Type::D => (i32::MIN.into(), i32::MAX.into()),
            Type::Uq => (0, i64::MAX),
            Type::Q => (i64::MIN, i64::MAX),
            _ => return Known::Anything,
        };
        let within = |k: &Known| matches!(k, Known::In(a, b) if least <= *a && *b <= most);
        let moved = |by: i64| self.then(|(a, b)| Some((a.checked_add(by)?, b.checked_add(by)?)));
        match self {
            Known::Nothing => Known::Nothing,
            k if within(&k) => k,
            _ if ty.size() == 8 => Known::Anything,
            _ if ty.size() < 4 => Known::In(least, most),
            _ => {
                [moved(1 << 32), moved(-(1 << 32))].into_iter().find(within).unwrap_or(Known::In(least, most))
            }
        }
    }
}

fn sum_bounds((a, b): Bounds, (c, d): Bounds) -> Option<Bounds> {
    Some((a.checked_add(c)?, b.checked_add(d)?))
}

fn product_bounds((a, b): Bounds, (c, d): Bounds) -> Option<Bounds> {
    let all = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
    Some((*all.iter().min()?, *all.iter().max()?))
}

/// Bits below the highest one of a number that is not negative.
fn bits_of(x: i64) -> i64 {
    x.checked_ilog2().map_or(0, |n| i64::MAX >> (62 - n))
}

/// Of a function of three operands, bit by bit: a table by their bits, the first one's lowest. Bits above those of all
/// operands are what it makes of their signs, which must be known.
fn logic_bounds(table: u32, of: [Bounds; 3]) -> Option<Bounds> {
    let mut index = 0;
    let mut bits = 0;
    for (k, (least, most)) in of.into_iter().enumerate() {
        if (least < 0) != (most < 0) {
            return None;
        }
        index |= u32::from(least < 0) << k;
        bits = bits.max(bits_of(most.max(!least)));
    }
    match table >> index & 1 {
        0 => Some((0, bits)),
        _ => Some((!bits, -1)),
    }
}

impl Search<'_> {
    /// Of elements side by side.
    pub(super) fn elements(&self, of: &Map<Place, Known>, at: RegOffset, bytes: u32, size: u32) -> Known {
        let Some(places) = self.places(at, bytes) else { return Known::Anything };
        let known = |p: &Place| of.get(p).copied().unwrap_or(Known::Anything);
        if size == 8 && places.iter().any(|p| self.by_dwords(p.0)) {
            // The upper dword is zero.
            return match places[..] {
                [low, high] => {
                    known(&low).read_as(Type::Ud).with(known(&high), |l, h| (h == (0, 0)).then_some(l))
                }
                _ => Known::Anything,
            };
        }
        places.iter().map(known).fold(Known::Nothing, Known::or)
    }

    /// Of an instruction's source, as the integers that it reads.
    pub(super) fn source(&self, of: &Map<Place, Known>, i: &Inst, s: &Src) -> Known {
        if let Some(x) = constant(self.p, s) {
            return Known::In(x, x);
        }
        let Src::Reg { offset, ty, shape, modifier, constant: false, .. } = *s else {
            return if *s == Src::None { Known::In(0, 0) } else { Known::Anything };
        };
        if !ty.is_int() {
            return Known::Anything;
        }
        let elements = |n: u32| self.elements(of, offset, n * ty.size(), ty.size());
        let known = match shape {
            Shape::Scalar => elements(1),
            Shape::Contiguous => elements(i.channels.into()),
            Shape::General => Known::Anything,
        };
        let known = known.read_as(ty);
        match modifier {
            Modifier::None => known,
            Modifier::Neg => known.then(|(a, b)| Some((b.checked_neg()?, a.checked_neg()?))),
            _ => Known::Anything,
        }
    }

    /// Of an instruction's results: exact, or what its type cuts them to.
    fn result(&self, i: &Inst) -> Known {
        let exec = match i.exec {
            ExecType::I32 => Type::D,
            ExecType::U32 => Type::Ud,
            ExecType::I64 => Type::Q,
            ExecType::U64 => Type::Uq,
            _ => return Known::Anything,
        };
        let [a, b, c] = [0, 1, 2].map(|k| self.source(&self.known, i, &i.src[k]));
        // Who compares, divides or shifts to the right does so by numbers of the type.
        let [x, y] = [a, b].map(|k| k.read_as(exec));
        let count = constant(self.p, &i.src[1]).filter(|k| (0..8 * i64::from(exec.size())).contains(k));
        let positive = |(a, _): Bounds| a >= 0;
        match i.op {
            Op::Mov => a,
            Op::Add => a.with(b, sum_bounds),
            Op::Addc if exec == Type::Ud => x.with(y, sum_bounds),
            Op::Add3 => a.with(b, sum_bounds).with(c, sum_bounds),
            Op::Mul => a.with(b, product_bounds),
            Op::Mad => a.with(b, product_bounds).with(c, sum_bounds),
            Op::Mulh if exec == Type::Ud => {
                x.with(y, |a, b| product_bounds(a, b).map(|(a, b)| (a >> 32, b >> 32)))
            }
            Op::Shl => a.then(|a| product_bounds(a, [1i64.checked_shl(count? as u32)?; 2].into())),
            Op::Shr => x.then(|x| positive(x).then_some((x.0 >> count?, x.1 >> count?))),
            Op::Asr => x.then(|x| Some((x.0 >> count?, x.1 >> count?))),
            Op::And => match (x, y) {
                (Known::In(0.., m), Known::In(0.., n)) => Known::In(0, m.min(n)),
                (Known::In(0.., m), _) | (_, Known::In(0.., m)) => Known::In(0, m),
                _ => x.with(y, |_, _| None),
            },
            Op::Or | Op::Xor => {
                x.with(y, |a, b| (positive(a) && positive(b)).then(|| (0, bits_of(a.1.max(b.1)))))
            }
            Op::Bfn => {
                let z = c.read_as(exec);
                match (x, y, z) {
                    (Known::In(a, b), Known::In(c, d), Known::In(e, f)) => {
                        Known::new(logic_bounds(i.aux & 0xff, [(a, b), (c, d), (e, f)]))
                    }
                    (Known::Nothing, ..) | (_, Known::Nothing, _) | (.., Known::Nothing) => Known::Nothing,
                    _ => Known::Anything,
                }
            }
            Op::Min => x.with(y, |a, b| Some((a.0.min(b.0), a.1.min(b.1)))),
            Op::Max => x.with(y, |a, b| Some((a.0.max(b.0), a.1.max(b.1)))),
            Op::Sel => a.or(b),
            Op::Div => x.with(y, |a, b| (positive(a) && b.0 > 0).then(|| (a.0 / b.1, a.1 / b.0))),
            Op::Mod => x.with(y, |a, b| (positive(a) && b.0 > 0).then(|| (0, a.1.min(b.1 - 1)))),
            _ => Known::Anything,
        }
    }

    /// Adds what an instruction writes to what is known of its places; whether that changed anything. What still changes
    /// is anything when so asked.
    pub(super) fn step(&mut self, pc: Pc, widen: bool) -> bool {
        let i = self.p.code()[pc as usize];
        let result = self.result(&i);
        if result == Known::Nothing {
            return false;
        }
        let counted = self.counters.get(&pc).map(|c| self.counted(&i, c));
        let bytes = |ty: Type| u32::from(i.channels) * ty.size();
        let whole = match i.dst {
            Dst::Reg { offset, ty, stride: 1, sat: false }
                if ty.is_int() && ty.size() >= 4 && (i.dst2 == 0 || i.op == Op::Addc) =>
            {
                Some((offset, ty, bytes(ty)))
            }
            _ => None,
        };
        // What is not kept for all of it is not known for any of it.
        let kept = |(at, _, bytes): &(RegOffset, Type, u32)| self.places(*at, *bytes).is_some();
        let carry = whole.filter(|_| i.dst2 != 0).map(|_| (i.dst2, Type::Ud, bytes(Type::Ud))).filter(kept);
        let whole = whole.filter(kept);
        let mut all: Map<Place, Known> = Map::default();
        self.cells.accesses(self.p.parts(), pc, &mut |a| {
            if a.write {
                let c = self.cells.get(a.cell);
                let inside = |(at, _, bytes): &(RegOffset, Type, u32)| {
                    c.offset < at + bytes && *at < c.offset + c.bytes
                };
                if ![&whole, &carry].into_iter().flatten().any(inside) {
                    let places = self.places(c.offset, c.bytes).unwrap_or_default();
                    all.extend(places.into_iter().map(|p| (p, Known::Anything)));
                }
            }
        });
        if let Some((at, ty, bytes)) = whole {
            let result = match (counted.unwrap_or(result), i.exec) {
                // Sums of 32 bits are extended as their type says.
                (k, ExecType::I32) if ty.size() == 8 => k.read_as(Type::D),
                (k, ExecType::U32) if ty.size() == 8 => k.read_as(Type::Ud),
                (k, _) => k,
            };
            let places = self.places(at, bytes).unwrap_or_default();
            let halves = written_dwords(result, ty);
            let copied = self.copied(&i, ty).filter(|all| all.len() == places.len());
            for (k, p) in places.into_iter().enumerate() {
                let value = match ty.size() == 8 && self.by_dwords(p.0) {
                    true => halves[k % 2],
                    false if ty.size() == 8 => result.read_as(ty),
                    false => halves[0],
                };
                all.insert(p, copied.as_ref().map_or(value, |copied| copied[k]));
            }
        }
        if let Some((at, _, bytes)) = carry {
            let carried = result.then(|(a, b)| Some((a >> 32, b >> 32)));
            all.extend(self.places(at, bytes).unwrap_or_default().into_iter().map(|p| (p, carried)));
        }
        let mut changed = false;
        for (place, new) in all {
            let maps = [Some(&mut self.known), counted.is_none().then_some(&mut self.outside)];
            for known in maps.into_iter().flatten().filter_map(|m| m.get_mut(&place)) {
                let now = known.or(new);
                if now != *known {
                    changed = true;
                    *known = if widen { Known::Anything } else { now };
                }
            }
        }
        changed
    }
}

impl Search<'_> {
    /// What a move of dwords side by side puts into each of its places.
    fn copied(&self, i: &Inst, ty: Type) -> Option<Vec<Known>> {
        let Src::Reg { offset, ty: from, shape: Shape::Contiguous, modifier, constant: false, .. } = i.src[0]
        else {
            return None;
        };
        let dwords = ty.is_int() && from.is_int() && (ty.size(), from.size()) == (4, 4);
        if i.op != Op::Mov || !dwords || modifier != Modifier::None {
            return None;
        }
        let places = self.places(offset, 4 * u32::from(i.channels))?;
        let known = |p: &Place| self.known.get(p).copied().unwrap_or(Known::Anything).read_as(from);
        Some(places.iter().map(known).collect())
    }

    /// How a compare comes out, if bounds say so.
    pub(super) fn decided(&self, pc: Pc) -> Option<bool> {
        let i = &self.p.code()[pc as usize];
        let ty = if i.exec == ExecType::U32 { Type::Ud } else { Type::D };
        let [a, b] = [0, 1].map(|k| self.source(&self.known, i, &i.src[k]).read_as(ty));
        let (Known::In(a, b), Known::In(c, d)) = (a, b) else { return None };
        let (less, equal, greater) = (b < c, a == b && c == d && a == c, a > d);
        let apart = less || greater;
        match i.aux {
            0 if equal || apart => Some(equal),
            1 if equal || apart => Some(!equal),
            2 if greater || b <= c => Some(greater),
            3 if a >= d || less => Some(a >= d),
            4 if less || a >= d => Some(less),
            5 if b <= c || greater => Some(b <= c),
            _ => None,
        }
    }
}

/// A result as dwords have it: of a quad, the lower and the upper one.
fn written_dwords(result: Known, ty: Type) -> [Known; 2] {
    let few = |(a, b): (i64, i64)| b.checked_sub(a).is_some_and(|n| n < 1 << 32);
    match (ty.size(), result) {
        (4, Known::In(a, b)) if few((a, b)) => [result, Known::Anything],
        (8, Known::In(0.., b)) if b < 1 << 32 => [result, Known::In(0, 0)],
        _ => [Known::Anything; 2],
    }
}
