//! Integers that are multiples of powers of two whatever the program is given: places that were made by shifts and
//! products need not be looked at for their alignment.

use envisa_isa::Modifier;
use envisa_lower::analysis::{CellId, CellKind, Cells, Flow, Liveness};
use envisa_lower::{Dst, ExecType, Inst, Op, Pc, Program, Shape, Src};

use crate::affine_vectors::constant;

/// Low bits that are zero in all elements of a cell of dwords, by cell.
#[derive(Clone, Debug)]
pub(crate) struct Multiples(Vec<u8>);

/// A zero has as many.
const ZERO: u8 = 32;

impl Multiples {
    /// How many low bits are zero in all dwords of so many bytes of the register file, up to 32.
    pub fn bits(&self, cells: &Cells, at: u32, bytes: u32) -> u8 {
        let (mut least, mut from) = (ZERO, at);
        while from < at + bytes {
            let Some(id) = cells.at(from) else { return 0 };
            let c = cells.get(id);
            if c.offset > from || !(from - c.offset).is_multiple_of(4) {
                return 0;
            }
            least = least.min(self.0[id as usize]);
            from = c.offset + c.bytes;
        }
        least
    }

    /// Finds them: what all definitions of a cell agree upon.
    pub fn new(p: &Program, flow: &Flow, cells: &Cells, live: &Liveness) -> Multiples {
        let good = |(id, c): (CellId, &envisa_lower::analysis::Cell)| {
            let dwords = match c.kind {
                CellKind::Vector => true,
                CellKind::Scalar => c.bytes == 4,
                _ => false,
            };
            let own = dwords && !c.input && c.written && !live.of_thread(0, id);
            if own { ZERO } else { 0 }
        };
        let mut all = Multiples(cells.iter().map(good).collect());
        // What else is written has no such bits; of the rest, which cells an instruction defines.
        let mut definitions: Vec<(Pc, CellId)> = Vec::new();
        for pc in (0..flow.end()).filter(|pc| flow.is_reachable(*pc)) {
            let plain = is_dword_arithmetic(&p.code()[pc as usize]);
            cells.accesses(p.parts(), pc, &mut |a| {
                if a.write && plain && all.0[a.cell as usize] != 0 {
                    definitions.push((pc, a.cell));
                } else if a.write {
                    all.0[a.cell as usize] = 0;
                }
            });
        }
        // It only ever becomes less.
        loop {
            let mut changed = false;
            let mut last = (Pc::MAX, 0);
            for (pc, cell) in &definitions {
                if last.0 != *pc {
                    last = (*pc, known_zero_bits(p, cells, &p.code()[*pc as usize], &all));
                }
                let known = &mut all.0[*cell as usize];
                changed |= last.1 < *known;
                *known = last.1.min(*known);
            }
            if !changed {
                return all;
            }
        }
    }
}

/// Does an instruction write dwords of integers, computed from others?
fn is_dword_arithmetic(i: &Inst) -> bool {
    matches!(i.exec, ExecType::I32 | ExecType::U32)
        && matches!(i.dst, Dst::Reg { ty, sat: false, .. } if ty.is_int() && ty.size() == 4)
        && i.dst2 == 0
}

/// The zero bits of what such an instruction makes.
fn known_zero_bits(p: &Program, cells: &Cells, i: &Inst, all: &Multiples) -> u8 {
    let of = |k: usize| {
        let Src::Reg { offset, ty, shape, modifier, strides, .. } = i.src[k] else { return 0 };
        if let Some(x) = constant(p, &i.src[k]) {
            return (x as u32).trailing_zeros() as u8;
        }
        if !ty.is_int() || ty.size() != 4 || !matches!(modifier, Modifier::None | Modifier::Neg) {
            return 0;
        }
        match shape {
            Shape::Scalar => all.bits(cells, offset + strides.element(0) * 4, 4),
            Shape::Contiguous => all.bits(cells, offset, 4 * u32::from(i.channels)),
            _ => 0,
        }
    };
    let bits = match i.op {
        Op::Mov => of(0),
        Op::Add | Op::Or | Op::Xor | Op::Min | Op::Max | Op::Sel => of(0).min(of(1)),
        Op::Add3 => of(0).min(of(1)).min(of(2)),
        Op::And => of(0).max(of(1)),
        Op::Mul => of(0) + of(1),
        Op::Mad => (of(0) + of(1)).min(of(2)),
        Op::Shl => match constant(p, &i.src[1]) {
            Some(n) => of(0) + (n as u8 & 31),
            None => of(0),
        },
        _ => 0,
    };
    bits.min(ZERO)
}
