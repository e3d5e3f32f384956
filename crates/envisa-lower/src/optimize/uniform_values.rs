//! Vectors of which all elements are the same are computed once.
//!
//! Compilers divide by what is the same for all channels as they divide by anything: they convert the divisor, and work out
//! its reciprocal, in every channel. Here an instruction whose sources are the same for all channels is one of a single
//! channel, and who reads its vector reads the first element, if all of them can.

use std::ops::Range;

use super::{Blocks, CHUNK, Uses, chunks_of_range, range_of_access};
use crate::program::*;

/// Fewer channels are left as they are.
const LEAST: u8 = 8;

/// Does what is described above.
pub(super) fn compute_once(p: &mut ProgramParts, blocks: &Blocks) {
    let uses = Uses::new(p);
    let readers = Readers::new(p);
    for pc in 0..p.code.len() {
        let Some(vector) = Vector::of(p, pc) else { continue };
        let single = !uses.calls && uses.only_writer(vector.at.clone()) == Some(pc as Pc);
        let Some(all) = single.then(|| readers.of(p, &vector.at)) else { continue };
        let reads = |r: &Pc| *r > pc as Pc && blocks.same(pc as Pc, *r) && vector.sources_of(p, *r).is_some();
        if all.is_empty() || !all.iter().all(reads) {
            continue;
        }
        for r in all {
            let sources = vector.sources_of(p, r).unwrap_or_default();
            for (k, s) in p.code[r as usize].src.iter_mut().enumerate() {
                if sources[k]
                    && let Src::Reg { offset, strides, shape, .. } = s
                {
                    (*offset, *strides, *shape) = (vector.at.start, Strides::SCALAR, Shape::Scalar);
                }
            }
            let i = &mut p.code[r as usize];
            i.facts.uniform = i.src.iter().all(is_one_for_all);
        }
        let i = &mut p.code[pc];
        (i.channels, i.no_mask) = (1, true);
    }
}

/// Is a source absent, or one element for all channels?
fn is_one_for_all(s: &Src) -> bool {
    matches!(s, Src::None | Src::Reg { shape: Shape::Scalar, .. })
}

/// The readers of each register.
struct Readers {
    /// `(chunk, reader)`, sorted.
    all: Vec<(u32, Pc)>,
}

impl Readers {
    fn new(p: &ProgramParts) -> Readers {
        let mut all = Vec::new();
        for (pc, i) in p.code.iter().enumerate() {
            i.reads(p, &mut |t| {
                all.extend(chunks_of_range(range_of_access(&t, i.channels, p)).map(|c| (c, pc as Pc)))
            });
        }
        all.sort_unstable();
        all.dedup();
        Readers { all }
    }

    /// The instructions that read any of a range, in the order of the code.
    fn of(&self, p: &ProgramParts, range: &Range<RegOffset>) -> Vec<Pc> {
        let mut found: Vec<Pc> = chunks_of_range(range.clone())
            .flat_map(|c| {
                let from = self.all.partition_point(|r| r.0 < c);
                self.all[from..].iter().take_while(move |r| r.0 == c).map(|r| r.1)
            })
            .filter(|r| reads_any(p, &p.code[*r as usize], range))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn reads_any(p: &ProgramParts, i: &Inst, range: &Range<RegOffset>) -> bool {
    let mut any = false;
    i.reads(p, &mut |t| {
        let r = range_of_access(&t, i.channels, p);
        any |= r.start < range.end && range.start < r.end;
    });
    any
}

/// What an instruction writes for all channels, the same for each of them.
struct Vector {
    at: Range<RegOffset>,
    bytes: u32,
    no_mask: bool,
}

impl Vector {
    fn of(p: &ProgramParts, pc: usize) -> Option<Vector> {
        let i = &p.code[pc];
        let Dst::Reg { offset, ty, stride: 1, .. } = i.dst else { return None };
        let facts = i.op.facts();
        // Native code keeps scalars in integer registers and moves floats to and fro: longer chains of floats, like those with
        // reciprocals (which are not pure), take less time as vectors.
        let computes = (i.op.is_computation() || i.op == Op::Mov) && facts.pure && facts.by_channel;
        let whole = u32::from(i.channels) == p.simd && i.first == 0 && i.channels >= LEAST;
        let plain = i.pred == Pred::default() && i.dst2 == 0 && i.facts.converged && !i.facts.auxiliary;
        let at = offset..offset + u32::from(i.channels) * ty.size();
        let own = offset.is_multiple_of(CHUNK) && p.registers.is_plain_variable(offset);
        let taken = || p.registers.address_taken().any(|t| t.start < at.end && at.start < t.end);
        let once = computes && whole && plain && own && i.src.iter().all(is_one_for_all) && !taken();
        once.then_some(Vector { at, bytes: ty.size(), no_mask: i.no_mask })
    }

    /// Which sources of an instruction are this vector's elements, each channel's own; `None` if it reads it otherwise.
    fn sources_of(&self, p: &ProgramParts, reader: Pc) -> Option<[bool; 4]> {
        let mut i = p.code[reader as usize];
        let by_channel =
            i.op.facts().by_channel && (i.op.is_computation() || matches!(i.op, Op::Mov | Op::Cmp));
        if !by_channel || (i.no_mask && !self.no_mask) {
            return None;
        }
        let first = self.at.start + u32::from(i.first) * self.bytes;
        let own = i.src.map(|s| {
            matches!(s, Src::Reg { offset, ty, shape: Shape::Contiguous, constant: false, .. }
                if offset == first && ty.size() == self.bytes && i.channels > 1)
        });
        for (s, own) in i.src.iter_mut().zip(own) {
            if own {
                *s = Src::None;
            }
        }
        (!reads_any(p, &i, &self.at)).then_some(own)
    }
}
