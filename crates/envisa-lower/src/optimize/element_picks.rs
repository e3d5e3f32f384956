//! Narrow elements that a move picked out of dwords are read in the dwords.
//!
//! Compilers pick words out of the dwords that a message loaded, put them side by side, and pick bytes out of these. Where a
//! move reads what such a move made, in the same block and while the dwords are as they were, it picks out of the dwords
//! itself: native code does that in a vector's lanes.

use std::ops::Range;

use envisa_isa::{Modifier, Type};

use super::{Blocks, range_of_access};
use crate::program::*;

/// Bytes from one channel's element to the next one's.
const DWORD: u32 = 4;

/// Elements side by side that were picked out of dwords, one of each.
struct Picked {
    to: RegOffset,
    /// Bytes of an element: 1 or 2.
    size: u32,
    /// The first one's place in the first dword.
    from: RegOffset,
    channels: u8,
    first: u8,
    no_mask: bool,
}

impl Picked {
    fn elements(&self) -> Range<RegOffset> {
        self.to..self.to + self.size * u32::from(self.channels)
    }

    fn dwords(&self) -> Range<RegOffset> {
        let begin = self.from & !(DWORD - 1);
        begin..begin + DWORD * u32::from(self.channels)
    }
}

/// Does what is described above, block by block.
pub(super) fn read_in_dwords(p: &mut ProgramParts, blocks: &Blocks) {
    let mut known: Vec<Picked> = Vec::new();
    for pc in 0..p.code.len() {
        if pc > 0 && !blocks.same(pc as Pc - 1, pc as Pc) {
            known.clear();
        }
        let mut i = p.code[pc];
        if i.op == Op::Mov
            && let Some(from) = known.iter().find_map(|k| place(&i, k))
            && let Src::Reg { offset, strides, shape, ty, .. } = &mut i.src[0]
        {
            let vertical = (DWORD / ty.size()) as u8;
            (*offset, *strides) = (from, Strides { vertical, width_log2: 0, horizontal: 0 });
            *shape = Shape::General;
            p.code[pc] = i;
        }
        i.writes(p, &mut |t| {
            let r = range_of_access(&t, i.channels, p);
            let apart = |of: Range<RegOffset>| of.end <= r.start || r.end <= of.start;
            known.retain(|k| apart(k.elements()) && apart(k.dwords()));
        });
        known.extend(picked(p, &i));
    }
}

/// Where a move's first element is in the dwords, if it reads one of each picked element, and of its channels' own.
fn place(i: &Inst, of: &Picked) -> Option<RegOffset> {
    let Src::Reg { offset, ty, strides, constant: false, .. } = i.src[0] else { return None };
    let step = strides.step(i.channels.into())? * ty.size();
    let (element, inside) = (offset.checked_sub(of.to)? / of.size, (offset - of.to) % of.size);
    let picked = element + u32::from(i.channels) <= of.channels.into();
    let own = of.no_mask || (!i.no_mask && u32::from(of.first) + element == u32::from(i.first));
    let whole = is_narrow(ty) && step == of.size && inside + ty.size() <= of.size;
    (picked && own && whole).then_some(of.from + DWORD * element + inside)
}

fn is_narrow(ty: Type) -> bool {
    ty.is_int() && ty.size() < DWORD
}

/// What an instruction picks out of dwords, if that is all that it does.
fn picked(p: &ProgramParts, i: &Inst) -> Option<Picked> {
    let Dst::Reg { offset: to, ty, stride: 1, sat: false } = i.dst else { return None };
    let Src::Reg { offset: from, ty: of, strides, modifier: Modifier::None, constant: false, .. } = i.src[0]
    else {
        return None;
    };
    let plain = i.op == Op::Mov && i.pred == Pred::default() && i.dst2 == 0 && i.channels > 1;
    let size = ty.size();
    let alike = is_narrow(ty) && is_narrow(of) && of.size() == size;
    let step = strides.step(i.channels.into())? * size;
    let made = Picked { to, size, from, channels: i.channels, first: i.first, no_mask: i.no_mask };
    let (elements, dwords) = (made.elements(), made.dwords());
    let apart = elements.end <= dwords.start || dwords.end <= elements.start;
    let local = to.min(dwords.start) >= p.registers.locals_start;
    (plain && alike && step == DWORD && from % DWORD + size <= DWORD && apart && local).then_some(made)
}
