//! What instructions read and write, and other orders of them.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{chunks_of_range, range_of_access};
use crate::program::*;

/// Bytes of the smallest operand that takes a vector register.
pub(super) const VECTOR: u32 = 32;

/// The registers that an instruction reads and writes.
pub(super) struct Accesses {
    pub reads: Vec<Range<RegOffset>>,
    pub writes: Vec<Range<RegOffset>>,
}

impl Accesses {
    pub fn of(p: &ProgramParts, pc: usize) -> Accesses {
        Accesses::of_instruction(p, &p.code[pc])
    }

    /// Those of one that need not be the program's.
    pub fn of_instruction(p: &ProgramParts, i: &Inst) -> Accesses {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        i.reads(p, &mut |t| reads.push(range_of_access(&t, i.channels, p)));
        i.writes(p, &mut |t| writes.push(range_of_access(&t, i.channels, p)));
        Accesses { reads, writes }
    }

    /// The chunks that it reads any of.
    pub fn chunks_read(&self) -> BTreeSet<u32> {
        self.reads.iter().flat_map(|r| chunks_of_range(r.clone())).collect()
    }
}

/// Puts the instructions of each block into another order.
pub(super) fn reorder_blocks(p: &mut ProgramParts, order: &[usize]) {
    let mut to = vec![0; order.len()];
    for (at, pc) in order.iter().enumerate() {
        to[*pc] = at as Pc;
    }
    p.code = order.iter().map(|pc| p.code[*pc]).collect();
    p.upper.iter_mut().for_each(|u| u.pc = to[u.pc as usize]);
    p.upper.sort_unstable_by_key(|u| (u.pc, u.channel));
    for f in &p.functions {
        crate::flow::analyse_divergence(&mut p.code, &p.tables, f.entry, f.end, p.simd);
    }
}
