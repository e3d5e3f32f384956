//! Halves of quads that are an extended dword and a constant are worked out in dwords.
//!
//! Devices without products of 64 bits take the quad `y - 1` of `(y - 1) * n` apart, to multiply its dwords. The lower half is
//! `y - 1` in 32 bits, and the upper one is whether that wrapped: engines see whether these are the same for all channels, or a
//! step apart, which they do not see of halves of quads.

use envisa_isa::{Modifier, Type};

use super::fold_addresses::{Place, Search, constant};
use super::{Blocks, CHUNK, Uses, immediate};
use crate::program::*;
use crate::registers::REGISTER_PADDING;

/// Most halves that are worked out.
const MOST: usize = 256;

/// A move of the lower or the upper dwords of `extended dword + add`.
struct Half {
    pc: Pc,
    upper: bool,
    /// Where the dwords are, which are extended with zeros.
    dwords: RegOffset,
    /// The constant as a dword, and its value; `None` where nothing is added.
    add: Option<(Src, i32)>,
}

/// Does what is described above.
pub(super) fn narrow_quad_halves(p: &mut ProgramParts, uses: &Uses, blocks: &Blocks) {
    let halves: Vec<Half> =
        (0..p.code.len() as Pc).filter_map(|pc| Half::of(p, uses, blocks, pc)).take(MOST).collect();
    let mut room = p.registers.bytes.saturating_sub(REGISTER_PADDING).next_multiple_of(CHUNK);
    let mut insts = Vec::new();
    for h in halves {
        let Some(made) = h.instructions(p, &mut room) else { continue };
        let alone = blocks.before(h.pc).is_empty();
        let Some((last, first)) = made.split_last() else { continue };
        // What is put in before an instruction is not run by those who come to that from elsewhere.
        if first.is_empty() || !alone {
            insts.extend(first.iter().map(|i| (h.pc, *i)));
            p.code[h.pc as usize] = *last;
        }
    }
    if !insts.is_empty() {
        p.registers.bytes = p.registers.bytes.max((room + REGISTER_PADDING).next_multiple_of(CHUNK));
        super::insert(p, insts);
    }
}

impl Half {
    /// What an instruction moves, if it is such a half.
    fn of(p: &ProgramParts, uses: &Uses, blocks: &Blocks, pc: Pc) -> Option<Half> {
        let i = &p.code[pc as usize];
        let Src::Reg {
            offset,
            ty: Type::D | Type::Ud,
            strides,
            modifier: Modifier::None,
            constant: false,
            ..
        } = i.src[0]
        else {
            return None;
        };
        let whole = matches!(i.dst, Dst::Reg { ty: Type::D | Type::Ud, stride: 1, sat: false, .. })
            && i.pred == Pred::default();
        let n = u32::from(i.channels);
        if i.op != Op::Mov || !whole || n < 8 || strides.step(n) != Some(2) {
            return None;
        }
        let search = Search { p, uses, blocks, dominators: &None, at: Place::of(pc as usize, i) };
        [false, true].into_iter().find_map(|upper| {
            let quads = offset.checked_sub(4 * u32::from(upper))?;
            let (dwords, add) = search.extended(quads, pc)?;
            Some(Half { pc, upper, dwords, add })
        })
    }

    /// The instructions that make the half in the move's destination; `None` where they need a constant that the program does not
    /// have.
    fn instructions(&self, p: &ProgramParts, room: &mut RegOffset) -> Option<Vec<Inst>> {
        let mov = p.code[self.pc as usize];
        let make = |op, exec, a, b| Inst { op, exec, src: [a, b, Src::None, Src::None], ..mov };
        let y = |ty| vector(self.dwords, ty, Modifier::None);
        let (k, value) = match self.add {
            Some(add) => add,
            None if self.upper => return Some(vec![make(Op::Mov, mov.exec, number(p, 0)?, Src::None)]),
            None => return Some(vec![make(Op::Mov, mov.exec, y(Type::Ud), Src::None)]),
        };
        let mut all = vec![make(Op::Add, ExecType::I32, y(Type::D), k)];
        if !self.upper {
            return Some(all);
        }
        let bytes = (4 * u32::from(mov.channels)).next_multiple_of(CHUNK);
        let places: [RegOffset; 3] = std::array::from_fn(|n| *room + n as u32 * bytes);
        *room += 3 * bytes;
        let before = |n: usize, ty| vector(places[n], ty, Modifier::None);
        // Only a sum that wrapped is past the dword on the wrong side: then the difference is the constant, and zero else.
        let further = if value < 0 { Op::Max } else { Op::Min };
        all.push(make(further, ExecType::U32, before(0, Type::Ud), y(Type::Ud)));
        let minus = vector(self.dwords, Type::D, Modifier::Neg);
        all.push(make(Op::Add, ExecType::I32, before(1, Type::D), minus));
        match value {
            1 | -1 => {}
            2.. => all.push(make(Op::Min, ExecType::U32, before(2, Type::Ud), number(p, 1)?)),
            _ => all.push(make(Op::Max, ExecType::I32, before(2, Type::D), number(p, u32::MAX)?)),
        }
        let temporaries = all.len() - 1;
        for (i, offset) in all[..temporaries].iter_mut().zip(places) {
            i.dst = Dst::Reg { offset, ty: Type::Ud, stride: 1, sat: false };
        }
        Some(all)
    }
}

impl Search<'_> {
    /// The dwords that quads are the extended ones of, as a reader has them, and what was added to them.
    fn extended(&self, quads: RegOffset, reader: Pc) -> Option<(RegOffset, Option<(Src, i32)>)> {
        let (mut pc, mut add) = (self.whole_definition_before(quads, 8, reader)?, None);
        let d = &self.p.code[pc as usize];
        if d.op == Op::Add && matches!(d.exec, ExecType::I64 | ExecType::U64) {
            let (v, c) = if constant(self.p, &d.src[1]).is_some() { (0, 1) } else { (1, 0) };
            let value = constant(self.p, &d.src[c])? as i64;
            let Src::Reg { offset: at, .. } = d.src[c] else { return None };
            let fits = i32::try_from(value).ok().filter(|x| *x != 0 && *x != i32::MIN)?;
            let (offset, _) = self.unchanged_integers(pc, &d.src[v], 8)?;
            add = Some((scalar(at, Type::D), fits));
            pc = self.whole_definition_before(offset, 8, pc)?;
        }
        let d = &self.p.code[pc as usize];
        let (at, ty) = self.unchanged_integers(pc, &d.src[0], 4).filter(|_| d.op == Op::Mov)?;
        (ty == Type::Ud).then_some((at, add))
    }
}

/// A number among the program's constants.
fn number(p: &ProgramParts, value: u32) -> Option<Src> {
    immediate(p, value, if value == u32::MAX { Type::D } else { Type::Ud })
}

/// A constant.
fn scalar(offset: RegOffset, ty: Type) -> Src {
    Src::Reg {
        offset,
        ty,
        strides: Strides::SCALAR,
        shape: Shape::Scalar,
        modifier: Modifier::None,
        constant: true,
    }
}

/// One element a channel.
fn vector(offset: RegOffset, ty: Type, modifier: Modifier) -> Src {
    Src::Reg { offset, ty, strides: Strides::CONTIGUOUS, shape: Shape::Contiguous, modifier, constant: false }
}
