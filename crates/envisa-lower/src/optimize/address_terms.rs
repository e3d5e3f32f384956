//! What addresses of 64 bits are sums of.
//!
//! `a[y * n + x]` by indices of 64 bits is a shifted sum of quads, which are extended dwords, or were put together of two
//! where devices have no product of 64 bits, and of scalars: the pointer, and what a loop counts. Instructions in between
//! may have been overwritten since; what counts is that the terms are the same at the message.

use std::ops::Range;

use envisa_isa::{Modifier, Type};

use super::fold_addresses::{Search, constant};
use crate::Addend;
use crate::program::*;

/// Most instructions between a message and a term.
const DEEPEST: u32 = 8;
/// Most terms.
const MOST: usize = 4;

/// `sum of (vectors << shift) + sum of origins and subtracted ones + add`, all in 64 bits.
#[derive(Default)]
pub(super) struct Terms {
    /// Vectors of integers and scalars that are shifted as these are.
    pub indices: Vec<Addend>,
    pub shift: u32,
    /// Scalars of 64 bits that the launch gives.
    pub origins: Vec<Src>,
    /// Scalars of 64 bits, negated, that are the same in all rounds of the loop around the message.
    pub subtracted: Vec<Src>,
    pub add: u64,
}

/// A scalar that is added, by which instruction and shifted how far.
struct Scalar {
    src: Src,
    by: Pc,
    shift: u32,
}

/// Terms as they are found.
#[derive(Default)]
struct Found {
    vectors: Vec<(Addend, u32)>,
    scalars: Vec<Scalar>,
    add: u64,
}

impl Search<'_> {
    /// The terms of a message's quads, which are shifted by `shift` there; `None` if not all are known.
    pub fn terms(&self, quads: RegOffset, shift: u32) -> Option<Terms> {
        let mut found = Found::default();
        self.walk((quads, self.at.pc), shift, DEEPEST, &mut found)?;
        let shift = found.vectors.first()?.1;
        if found.vectors.iter().any(|v| v.1 != shift) {
            return None;
        }
        let mut all = Terms { shift, add: found.add, ..Terms::default() };
        all.indices.extend(found.vectors.into_iter().map(|v| v.0));
        for s in found.scalars {
            if let Some(index) = self.scalar_index(&s, shift).filter(|_| !is_negated(&s.src)) {
                all.indices.push(index);
            } else if is_negated(&s.src) {
                // Where a message may go is known of its origin, which this becomes a part of.
                let fixed = |r: &Range<RegOffset>| !self.blocks.varies(self.uses, r.clone(), self.at.pc);
                self.scalar(&s).filter(|r| s.shift == 0 && r.end - r.start == 8 && fixed(r))?;
                all.subtracted.push(s.src);
            } else if self.is_origin(&s) {
                all.origins.push(s.src);
            } else {
                return None;
            }
        }
        Some(all)
    }

    /// Finds the terms of quads as an instruction reads them.
    fn walk(
        &self,
        (quads, reader): (RegOffset, Pc),
        shift: u32,
        depth: u32,
        found: &mut Found,
    ) -> Option<()> {
        if shift > 16 || depth == 0 || found.vectors.len() + found.scalars.len() > MOST {
            return None;
        }
        if let Some(joined) = self.joined(quads, reader) {
            found.vectors.push((joined, shift));
            return Some(());
        }
        let pc = self.whole_definition_before(quads, 8, reader)?;
        let d = &self.p.code[pc as usize];
        let in_quads = matches!(d.exec, ExecType::I64 | ExecType::U64);
        match d.op {
            Op::Mov => self.term(&d.src[0], pc, shift, depth - 1, found),
            Op::Add if in_quads => {
                self.term(&d.src[0], pc, shift, depth - 1, found)?;
                self.term(&d.src[1], pc, shift, depth - 1, found)
            }
            Op::Shl if in_quads => {
                // The count is a few low bits (page SHL).
                let more = constant(self.p, &d.src[1])? & 63;
                self.term(&d.src[0], pc, shift.checked_add(more as u32)?, depth - 1, found)
            }
            _ => None,
        }
    }

    /// A source of an instruction that computes in 64 bits.
    fn term(&self, s: &Src, pc: Pc, shift: u32, depth: u32, found: &mut Found) -> Option<()> {
        if let Some(k) = constant(self.p, s) {
            found.add = found.add.wrapping_add(k.checked_shl(shift)?);
            return Some(());
        }
        let Src::Reg { offset, ty, shape, modifier, constant: false, .. } = *s else { return None };
        match (shape, ty) {
            (Shape::Scalar, Type::Q | Type::Uq) if is_negated(s) => {
                found.scalars.push(Scalar { src: *s, by: pc, shift });
                Some(())
            }
            _ if modifier != Modifier::None => None,
            (Shape::Contiguous, Type::Q | Type::Uq) => self.walk((offset, pc), shift, depth, found),
            (Shape::Contiguous, Type::D | Type::Ud) => {
                let (at, ty) = self.unchanged_integers(pc, s, 4)?;
                found.vectors.push((Addend { at, signed: ty == Type::D, ..Addend::default() }, shift));
                Some(())
            }
            (Shape::Scalar, Type::Q | Type::Uq | Type::D | Type::Ud) => {
                found.scalars.push(Scalar { src: *s, by: pc, shift });
                Some(())
            }
            _ => None,
        }
    }

    /// Quads that the two instructions before their reader put together of dwords.
    fn joined(&self, quads: RegOffset, reader: Pc) -> Option<Addend> {
        let all = quads..quads + 8 * u32::from(self.at.channels);
        let mut halves = [None; 2];
        let mut before = reader;
        for _ in 0..2 {
            let pc = self.uses.last_before(all.clone(), before).filter(|pc| self.blocks.same(*pc, reader))?;
            let d = &self.p.code[pc as usize];
            let Dst::Reg { offset, ty, stride: 2, .. } = d.dst else { return None };
            let half = offset.checked_sub(quads).filter(|x| [0, 4].contains(x))? / 4;
            let dwords = ty.is_int() && ty.size() == 4 && matches!(d.exec, ExecType::I32 | ExecType::U32);
            if d.op != Op::Mov || !dwords || !self.makes_all(pc) || halves[half as usize].is_some() {
                return None;
            }
            halves[half as usize] = Some(self.unchanged_integers(pc, &d.src[0], 4)?.0);
            before = pc;
        }
        Some(Addend { at: halves[0]?, upper: halves[1], ..Addend::default() })
    }

    /// Where a scalar's bytes are, if they are the same at the message as where it was added.
    fn scalar(&self, s: &Scalar) -> Option<Range<RegOffset>> {
        let Src::Reg { offset, ty, .. } = s.src else { return None };
        let range = offset..offset + ty.size();
        self.stable(s.by, range.clone()).then_some(range)
    }

    /// A scalar as an index, if it is shifted as far as the vectors: where it was added, or where it was made.
    fn scalar_index(&self, s: &Scalar, shift: u32) -> Option<Addend> {
        let index = |s: &Scalar| {
            let range = self.scalar(s)?;
            let Src::Reg { ty, .. } = s.src else { return None };
            let upper = (ty.size() == 8).then_some(range.start + 4);
            Some(Addend { at: range.start, upper, signed: ty == Type::D, scalar: true })
        };
        // Of what is not shifted, most is the pointer.
        if s.shift == shift && (shift > 0 || !self.is_origin(s)) {
            return index(s);
        }
        let Src::Reg { offset, ty: Type::Q | Type::Uq, .. } = s.src else { return None };
        let made =
            self.uses.last_before(offset..offset + 8, s.by).filter(|pc| self.blocks.same(*pc, s.by))?;
        let d = &self.p.code[made as usize];
        let whole =
            matches!(d.dst, Dst::Reg { offset: to, ty: Type::Q | Type::Uq, sat: false, .. } if to == offset);
        let shifts = d.op == Op::Shl && matches!(d.exec, ExecType::I64 | ExecType::U64);
        let alone = d.channels == 1 && d.no_mask && d.pred == Pred::default();
        if !whole || !shifts || !alone || s.shift != 0 || constant(self.p, &d.src[1]) != Some(shift.into()) {
            return None;
        }
        let integer = match d.src[0] {
            Src::Reg { ty, constant: false, .. } => matches!(ty, Type::Q | Type::Uq | Type::D | Type::Ud),
            _ => false,
        };
        index(&Scalar { src: d.src[0], by: made, shift }).filter(|_| integer)
    }

    /// Is a scalar of 64 bits, added as it is, what the launch gives? Where a message may go is known of such scalars alone; a
    /// stack pointer is another one in each thread.
    fn is_origin(&self, s: &Scalar) -> bool {
        let range = self.scalar(s).filter(|r| s.shift == 0 && r.end - r.start == 8);
        range.is_some_and(|r| self.uses.is_given(r))
    }
}

fn is_negated(s: &Src) -> bool {
    matches!(s, Src::Reg { modifier: Modifier::Neg, .. })
}
