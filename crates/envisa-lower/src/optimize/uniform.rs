//! A branch on what is the same for all channels is one that all of them take, or none.
//!
//! Compilers for devices without scalar branches compare scalars for every channel and let every channel choose: nothing
//! then says that channels stay together, in loops of which no channel ever leaves the others. Here the compare is made
//! once, and the branch is by its one bit.

use envisa_isa::Combine;

use super::Blocks;
use crate::program::*;

/// How far before the branch the compare is looked for.
const FAR: usize = 8;

/// Does what is described above.
pub(super) fn branches(p: &mut ProgramParts, blocks: &Blocks) {
    let mut pairs = Vec::new();
    for (goto, i) in p.code.iter().enumerate() {
        let all = i.op == Op::Goto && u32::from(i.channels) == p.simd && i.first == 0;
        let own = i.pred.offset != 0 && i.pred.combine == Combine::None;
        if all && own && p.simd > 1 {
            let near = (goto.saturating_sub(FAR)..goto).rev();
            let here = near.take_while(|pc| blocks.same(*pc as Pc, goto as Pc));
            let mut writers = here.filter(|pc| writes(p, *pc, i.pred.offset));
            pairs
                .extend(writers.next().filter(|pc| is_uniform(p, *pc, i.pred.offset)).map(|cmp| (cmp, goto)));
        }
    }
    // Nobody else reads what was compared.
    pairs.retain(|(_, goto)| {
        let at = p.code[*goto].pred.offset;
        (0..p.code.len()).all(|pc| pc == *goto || !reads(p, pc, at))
    });
    for &(cmp, goto) in &pairs {
        let c = &mut p.code[cmp];
        (c.channels, c.no_mask) = (1, true);
        p.code[goto].channels = 1;
    }
    if !pairs.is_empty() {
        for f in &p.functions {
            crate::flow::analyse(&mut p.code, &p.tables, f.entry, f.end, p.simd);
        }
    }
}

/// Does it compare the same for all channels that run, into this predicate?
fn is_uniform(p: &ProgramParts, pc: usize, at: RegOffset) -> bool {
    let i = &p.code[pc];
    let scalar = |s: &Src| match s {
        Src::Reg { strides, .. } => strides.step(p.simd) == Some(0),
        Src::None => true,
        _ => false,
    };
    let all = u32::from(i.channels) == p.simd && i.first == 0;
    i.op == Op::Cmp
        && i.dst == (Dst::Pred { offset: at })
        && i.pred == Pred::default()
        && all
        && i.src.iter().all(scalar)
}

fn writes(p: &ProgramParts, pc: usize, at: RegOffset) -> bool {
    let i = &p.code[pc];
    let mut found = false;
    i.writes(p, &mut |t| found |= touches(p, i, &t, at));
    found
}

fn reads(p: &ProgramParts, pc: usize, at: RegOffset) -> bool {
    let i = &p.code[pc];
    let mut found = false;
    i.reads(p, &mut |t| found |= touches(p, i, &t, at));
    found
}

fn touches(p: &ProgramParts, i: &Inst, t: &crate::touched::Touched, at: RegOffset) -> bool {
    let r = super::range(t, i.channels, p);
    r.start < at + 4 && at < r.end
}
