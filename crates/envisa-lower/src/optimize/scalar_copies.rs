//! Copies of scalars are read where they were copied from.
//!
//! Compilers take addresses apart by copying both halves to a pair of registers and each half of that to a register of its own.
//! Here instructions read what was there first, and nobody needs the copies. What messages read stays as it is.

use std::ops::Range;

use envisa_isa::Modifier;

use super::{Blocks, range_of_access};
use crate::program::*;

/// Most elements that a move copies.
const MOST: u8 = 4;

/// Bytes that are the same as other ones.
struct Copy {
    to: Range<RegOffset>,
    from: RegOffset,
}

impl Copy {
    fn source(&self) -> Range<RegOffset> {
        self.from..self.from + (self.to.end - self.to.start)
    }
}

/// Does what is described above, block by block.
pub(super) fn read_sources(p: &mut ProgramParts, blocks: &Blocks) {
    let mut copies: Vec<Copy> = Vec::new();
    for pc in 0..p.code.len() {
        if pc > 0 && !blocks.same(pc as Pc - 1, pc as Pc) {
            copies.clear();
        }
        let mut i = p.code[pc];
        if !copies.is_empty() && (i.op.is_computation() || matches!(i.op, Op::Mov | Op::Cmp)) {
            i.src.iter_mut().for_each(|s| read_source(s, &copies));
            p.code[pc] = i;
        }
        i.writes(p, &mut |t| {
            let r = range_of_access(&t, i.channels, p);
            let apart = |of: Range<RegOffset>| of.end <= r.start || r.end <= of.start;
            copies.retain(|c| apart(c.to.clone()) && apart(c.source()));
        });
        copies.extend(copy(p, &i));
    }
}

/// A scalar that is inside of a copy is read at its source.
fn read_source(s: &mut Src, copies: &[Copy]) {
    if let Src::Reg { offset, ty, shape: Shape::Scalar, constant: false, .. } = s
        && let Some(c) = copies.iter().find(|c| c.to.start <= *offset && *offset + ty.size() <= c.to.end)
    {
        *offset = c.from + (*offset - c.to.start);
    }
}

/// What an instruction copies, if that is all that it does, whichever channels are active.
fn copy(p: &ProgramParts, i: &Inst) -> Option<Copy> {
    let Dst::Reg { offset: to, ty, stride: 1, sat: false } = i.dst else { return None };
    let Src::Reg { offset: from, ty: of, shape, modifier: Modifier::None, constant: false, .. } = i.src[0]
    else {
        return None;
    };
    let bytes = u32::from(i.channels) * ty.size();
    let plain = i.op == Op::Mov && i.no_mask && i.pred == Pred::default() && i.dst2 == 0;
    let alike = ty.is_int() && of.is_int() && ty.size() == of.size() && ty.size() >= 4;
    let side_by_side = i.channels == 1 || i.channels <= MOST && shape == Shape::Contiguous;
    let local = to.min(from) >= p.registers.locals_start;
    let apart = to + bytes <= from || from + bytes <= to;
    (plain && alike && side_by_side && local && apart).then(|| Copy { to: to..to + bytes, from })
}
