//! What is read once is made where it is read, if what it is made of is kept that long anyway.
//!
//! Compilers for devices with many registers begin with what takes long: of an unrolled loop all differences come first, then all
//! their squares. Each waits in a register of its own, and what every round reads has none left. A result that one instruction
//! reads moves down to it; that takes no register longer where all vectors that it is made of are read behind it as well.

use std::collections::HashMap;
use std::ops::Range;

use envisa_isa::predefined::var;

use super::accesses::{Accesses, VECTOR, reorder_blocks};
use super::{Blocks, CHUNK, chunks_of_range};
use crate::program::*;

/// How many instructions one moves down at most.
const FAR: usize = 64;

/// Does what is described above.
pub(super) fn sink_instructions(p: &mut ProgramParts, blocks: &Blocks) {
    let mode = p.registers.predefined[var::CR0 as usize];
    let accesses: Vec<Accesses> = (0..p.code.len()).map(|pc| Accesses::of(p, pc)).collect();
    let once = Once::new(p, &accesses);
    let mut order: Vec<usize> = (0..p.code.len()).collect();
    let mut moved = false;
    let mut start = 0;
    while start < order.len() {
        let block = &mut order[start..];
        let len = block.iter().take_while(|pc| blocks.same(start as Pc, **pc as Pc)).count();
        let block = &mut block[..len];
        let mut last = HashMap::new();
        for (at, pc) in block.iter().enumerate() {
            accesses[*pc].reads.iter().flat_map(|r| chunks_of_range(r.clone())).for_each(|c| {
                last.insert(c, at);
            });
        }
        for at in (0..len.saturating_sub(2)).rev() {
            let Some(to) = find_sink_position(p, (&accesses, &once), &last, (start, block), at, mode) else {
                continue;
            };
            block[at..to].rotate_left(1);
            moved = true;
        }
        start += len;
    }
    if moved {
        reorder_blocks(p, &order);
    }
}

/// The chunks that one instruction writes and one reads.
struct Once {
    counts: Vec<[u8; 2]>,
}

impl Once {
    fn new(p: &ProgramParts, accesses: &[Accesses]) -> Once {
        let mut counts = vec![[0u8; 2]; p.registers.bytes.div_ceil(CHUNK) as usize];
        for a in accesses {
            for (which, all) in [&a.writes, &a.reads].into_iter().enumerate() {
                let mut mine: Vec<u32> = all.iter().flat_map(|r| chunks_of_range(r.clone())).collect();
                mine.sort_unstable();
                mine.dedup();
                for c in mine {
                    if let Some(n) = counts.get_mut(c as usize) {
                        n[which] = n[which].saturating_add(1);
                    }
                }
            }
        }
        Once { counts }
    }

    fn holds(&self, r: &Range<RegOffset>) -> bool {
        chunks_of_range(r.clone()).all(|c| self.counts.get(c as usize) == Some(&[1, 1]))
    }
}

/// May it be made later: a vector, by a computation of each channel?
fn is_movable(p: &ProgramParts, i: &Inst) -> bool {
    let Dst::Reg { offset, ty, stride: 1, .. } = i.dst else { return false };
    let facts = i.op.facts();
    let direct = i.src.iter().all(|s| matches!(s, Src::Reg { .. } | Src::None));
    let vector = u32::from(i.channels) * ty.size() >= VECTOR && offset >= p.registers.locals_start;
    facts.pure && facts.by_channel && direct && vector && i.dst2 == 0 && i.pred == Pred::default()
}

/// Before which place of its block the instruction at one may be made.
fn find_sink_position(
    p: &ProgramParts,
    (accesses, once): (&[Accesses], &Once),
    last: &HashMap<u32, usize>,
    (start, block): (usize, &[usize]),
    at: usize,
    mode: RegOffset,
) -> Option<usize> {
    let pc = block[at];
    let (i, own) = (&p.code[pc], &accesses[pc]);
    let meets = |a: &[Range<RegOffset>], b: &[Range<RegOffset>]| {
        a.iter().any(|a| b.iter().any(|b| a.start < b.end && b.start < a.end))
    };
    if !is_movable(p, i) || !own.writes.iter().all(|w| once.holds(w)) {
        return None;
    }
    let modes = mode..mode + CHUNK;
    for (to, other) in block.iter().enumerate().skip(at + 1).take(FAR) {
        let a = &accesses[*other];
        if meets(&a.reads, &own.writes) {
            // Places by the order of the code only move down.
            let kept = |r: &Range<RegOffset>| {
                let vector = r.end - r.start >= VECTOR;
                !vector
                    || chunks_of_range(r.clone()).all(|c| last.get(&c).is_some_and(|l| start + l > *other))
            };
            // Addresses are known by their first channel mostly, and take no vector.
            let computes = p.code[*other].op != Op::Message;
            return (to > at + 1 && computes && own.reads.iter().all(kept)).then_some(to);
        }
        if meets(&a.writes, &own.reads) || meets(&a.writes, std::slice::from_ref(&modes)) {
            return None;
        }
    }
    None
}
