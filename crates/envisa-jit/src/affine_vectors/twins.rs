//! Second halves that nobody makes: what reads them takes the first ones.

use super::{Accesses, Shapes, step_of};
use crate::fast_maps::{Map, Set};
use envisa_isa::Modifier;
use envisa_lower::analysis::{Cell, CellId, Cells};
use envisa_lower::{Dst, ExecType, Inst, Message, Op, Pc, Program, Shape, Simt, Src};

/// The second halves, of those whose elements are all so far from the first half's, that need not be made: each with the
/// first half, and how far it is from it. `full`: threads have all their channels.
///
/// Where both are the same, whatever reads the second one can read the first. Where they are not, that is done by messages
/// that look at the first half alone, and by what makes other halves of the kind.
pub(super) fn derivable_halves(
    p: &Program,
    cells: &Cells,
    accesses: &Accesses,
    shapes: &Shapes,
    full: bool,
) -> Map<CellId, (CellId, i32)> {
    let before = |c: CellId| {
        let offset = cells.get(c).offset.checked_sub(64)?;
        cells.at(offset).filter(|b| cells.get(*b).offset == offset)
    };
    let kept = |c: CellId| step_of(&shapes.step, c).is_some();
    let mut twins: Map<CellId, (CellId, i32)> = Map::default();
    for (c, jump) in (0..).zip(&shapes.alike) {
        if let (Some(jump), Some(first), false) = (*jump, before(c), kept(c))
            && !kept(first)
        {
            twins.insert(c, (first, jump));
        }
    }
    // What one of them is made of may turn out to be none.
    loop {
        let mut none = Set::default();
        for (pc, accessed) in accesses.iter() {
            for c in accessed.read {
                let Some((_, jump)) = twins.get(c) else { continue };
                let i = &p.code()[pc as usize];
                let made = accessed.written.iter().any(|c| twins.contains_key(c));
                let reads = match i.op {
                    Op::Message => uses_as_half_places(p, i, cells.get(*c), |s| {
                        *jump == 0 || (full && !s.write && shapes.clamped.contains(c))
                    }),
                    _ => by_channels(i.op) && (*jump == 0 || made) && reads_whole_vectors(i, cells.get(*c)),
                };
                if !reads {
                    none.insert(*c);
                }
            }
        }
        if none.is_empty() {
            return twins;
        }
        twins.retain(|c, _| !none.contains(c));
    }
}

/// What instructions do not read that make first halves alone: the second halves of what they are made of.
pub(super) fn unread_halves(
    p: &Program,
    cells: &Cells,
    accesses: &Accesses,
    twins: &Map<CellId, (CellId, i32)>,
) -> Set<(Pc, CellId)> {
    let mut all = Set::default();
    if twins.is_empty() {
        return all;
    }
    for (pc, accessed) in accesses.iter() {
        if !accessed.written.iter().any(|c| twins.contains_key(c)) {
            continue;
        }
        let i = &p.code()[pc as usize];
        let second = |c: &&CellId| {
            let cell = cells.get(**c);
            let first = |s: &Src| match *s {
                Src::Reg { shape: Shape::Contiguous, offset, ty, .. } => {
                    offset < cell.offset + cell.bytes && cell.offset < offset + 16 * ty.size()
                }
                Src::Reg { shape: Shape::Scalar, offset, ty, strides, .. } => {
                    let at = offset + strides.element(0) * ty.size();
                    at < cell.offset + cell.bytes && cell.offset < at + ty.size()
                }
                Src::None => false,
                _ => true,
            };
            !i.src.iter().any(first)
        };
        all.extend(accessed.read.iter().filter(second).map(|c| (pc, *c)));
    }
    all
}

/// Does a message have the cell as the places of its second half, and as nothing else?
fn uses_as_half_places(p: &Program, i: &Inst, cell: &Cell, fits: impl Fn(&Simt) -> bool) -> bool {
    let Some(Message::Simt(s)) = p.messages().get(i.aux as usize) else { return false };
    let bytes = 4 * u32::from(i.channels);
    let apart = |from: u32, bytes: u32| from + bytes <= cell.offset || cell.offset + cell.bytes <= from;
    let data = s.component_stride * s.elements.count_ones();
    i.channels == 32
        && (s.address_bytes, s.element, s.slot) == (4, 4, 4)
        && s.address + 64 == cell.offset
        && s.address + bytes == cell.offset + cell.bytes
        && s.data.iter().all(|at| apart(*at, data))
        && fits(s)
}

/// Operations that compute channel by channel, of operands that they read as the vectors that they are.
fn by_channels(op: Op) -> bool {
    use Op::*;
    matches!(op, Mov | Add | Add3 | Mul | Mad | Shl | Shr | Asr | And | Or | Xor | Min | Max | Cmp | Sel)
}

/// Are all sources that meet a cell whole vectors of dwords, whose second half it is?
fn reads_whole_vectors(i: &Inst, cell: &Cell) -> bool {
    let n = u32::from(i.channels);
    let plain = |s: &Src| match *s {
        Src::Reg { shape: Shape::Contiguous, offset, ty, modifier, .. } => {
            let bytes = n * ty.size();
            let apart = offset + bytes <= cell.offset || cell.offset + cell.bytes <= offset;
            let integer = ty.is_int() && ty.size() == 4 && matches!(modifier, Modifier::None | Modifier::Neg);
            apart || (integer && n == 32 && offset + 64 == cell.offset)
        }
        Src::Reg { shape: Shape::Scalar, offset, ty, strides, .. } => {
            let at = offset + strides.element(0) * ty.size();
            at + ty.size() <= cell.offset || cell.offset + cell.bytes <= at
        }
        Src::Reg { .. } | Src::Indirect { .. } => false,
        _ => true,
    };
    let dwords = matches!(i.dst, Dst::Reg { ty, stride: 1, .. } if ty.size() == 4) || i.op == Op::Cmp;
    let integer = matches!(i.exec, ExecType::I32 | ExecType::U32);
    dwords && integer && i.dst2 == 0 && i.src.iter().all(plain)
}
