//! A branch on what is the same for all channels is one that all of them take, or none.
//!
//! Compilers for devices without scalar branches compare scalars for every channel and let every channel choose: nothing
//! then says that channels stay together, in loops of which no channel ever leaves the others. Here the compare is made
//! once, and the branch is by its one bit.

use std::collections::{BTreeMap, HashSet};

use envisa_isa::Combine;

use super::Blocks;
use crate::program::*;

/// How far before what reads a predicate its compare is looked for.
const FAR: usize = 8;
/// Most compares and combinations of them for one branch.
const MOST: usize = 8;

/// A branch, and the compares and combinations of predicates that it goes by.
struct Decision {
    goto: usize,
    made: Vec<usize>,
}

/// Does what is described above.
pub(super) fn make_branches_uniform(p: &mut ProgramParts, blocks: &Blocks) {
    if p.simd <= 1 {
        return;
    }
    let mut all: Vec<Decision> = (0..p.code.len()).filter_map(|goto| Decision::of(p, blocks, goto)).collect();
    // Nobody else reads what was compared.
    let mut readers: BTreeMap<RegOffset, Vec<usize>> = BTreeMap::new();
    readers.extend(all.iter().flat_map(|d| d.predicates(p)).map(|at| (at, Vec::new())));
    for (pc, i) in p.code.iter().enumerate() {
        i.reads(p, &mut |t| {
            let r = super::range_of_access(&t, i.channels, p);
            readers.range_mut(r.start.saturating_sub(3)..r.end).for_each(|(_, pcs)| pcs.push(pc));
        });
    }
    let mut before = usize::MAX;
    while before != all.len() {
        before = all.len();
        let ours: HashSet<usize> = all.iter().flat_map(|d| d.made.iter().copied().chain([d.goto])).collect();
        all.retain(|d| d.predicates(p).all(|at| readers[&at].iter().all(|pc| ours.contains(pc))));
    }
    for d in &all {
        let single = p.code[d.goto].channels == 1;
        for pc in &d.made {
            let c = &mut p.code[*pc];
            (c.channels, c.no_mask) = (1, c.no_mask || !single);
        }
        p.code[d.goto].channels = 1;
    }
    if !all.is_empty() {
        for f in &p.functions {
            crate::flow::analyse_divergence(&mut p.code, &p.tables, f.entry, f.end, p.simd);
        }
    }
}

impl Decision {
    /// What a branch of all channels goes by, or one by the bit of the first channel, if that is the same for all of them.
    fn of(p: &ProgramParts, blocks: &Blocks, goto: usize) -> Option<Decision> {
        let i = &p.code[goto];
        let all = (u32::from(i.channels) == p.simd || i.channels == 1) && i.first == 0;
        let own = i.pred.offset != 0 && i.pred.combine == Combine::None;
        if i.op != Op::Goto || !all || !own {
            return None;
        }
        let (mut made, mut wanted) = (Vec::new(), vec![(i.pred.offset, goto)]);
        while let Some((at, reader)) = wanted.pop() {
            let near = (reader.saturating_sub(FAR)..reader).rev();
            let mut here = near.take_while(|pc| blocks.same(*pc as Pc, reader as Pc));
            let pc = here.find(|pc| writes_byte(p, *pc, at))?;
            if made.contains(&pc) {
                continue;
            }
            made.push(pc);
            let first_channel_only = i.channels == 1 && p.code[pc].channels == 1;
            let sources = is_uniform(p, pc, at, first_channel_only).then_some(&p.code[pc].src)?;
            wanted.extend(sources.iter().filter_map(|s| match *s {
                Src::Pred { offset, .. } => Some((offset, pc)),
                _ => None,
            }));
            if made.len() > MOST {
                return None;
            }
        }
        Some(Decision { goto, made })
    }

    fn predicates<'a>(&'a self, p: &'a ProgramParts) -> impl Iterator<Item = RegOffset> + 'a {
        self.made.iter().filter_map(|pc| match p.code[*pc].dst {
            Dst::Pred { offset } => Some(offset),
            _ => None,
        })
    }
}

/// Does it make the same of all channels that run, into this predicate: by a compare, or of other predicates? Or of the first
/// channel alone.
fn is_uniform(p: &ProgramParts, pc: usize, at: RegOffset, first_channel_only: bool) -> bool {
    let i = &p.code[pc];
    let same = |s: &Src| match s {
        Src::Reg { strides, .. } => i.op == Op::Cmp && strides.step(p.simd) == Some(0),
        Src::Pred { .. } => i.op == Op::PredLogic,
        Src::None => true,
        _ => false,
    };
    let all = (u32::from(i.channels) == p.simd || first_channel_only) && i.first == 0;
    matches!(i.op, Op::Cmp | Op::PredLogic)
        && i.dst == (Dst::Pred { offset: at })
        && i.pred == Pred::default()
        && all
        && i.src.iter().all(same)
}

fn writes_byte(p: &ProgramParts, pc: usize, at: RegOffset) -> bool {
    let i = &p.code[pc];
    let mut found = false;
    i.writes(p, &mut |t| found |= touches_byte(p, i, &t, at));
    found
}

fn touches_byte(p: &ProgramParts, i: &Inst, t: &crate::touched::Touched, at: RegOffset) -> bool {
    let r = super::range_of_access(t, i.channels, p);
    r.start < at + 4 && at < r.end
}
