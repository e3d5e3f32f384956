//! Which code every channel has run before it comes to an instruction.

use super::Blocks;
use crate::flow::may_diverge;
use crate::program::*;

/// Dominators of the blocks of a program, as each channel goes through them: a channel that runs a block has run all that
/// dominate it, since its function began.
pub(super) struct Dominators {
    /// By block: its number on the way down the tree of dominators, and the last one of those below it. `None` of blocks
    /// that nothing leads to.
    below: Vec<Option<(u32, u32)>>,
}

impl Dominators {
    /// `None` of programs with subroutines, whose returns lead anywhere, and with jump tables, whose loops nobody knows.
    pub fn new(p: &ProgramParts, blocks: &Blocks) -> Option<Dominators> {
        if p.code.iter().any(|i| matches!(i.op, Op::Call | Op::SwitchJmp)) {
            return None;
        }
        let successors = block_successors(p, blocks);
        let roots: Vec<u32> =
            p.functions.iter().filter_map(|f| blocks.of.get(f.entry as usize)).copied().collect();
        let order = reverse_postorder(&roots, &successors);
        let immediate = immediate(&roots, &order, &successors);
        Some(Dominators { below: number_subtrees(successors.len(), &order, &immediate) })
    }

    /// Has each channel that comes to `b` run `a` before?
    pub fn dominates(&self, blocks: &Blocks, a: Pc, b: Pc) -> bool {
        if blocks.same(a, b) {
            return a < b;
        }
        let at = |pc: Pc| self.below[blocks.of[pc as usize] as usize];
        matches!((at(a), at(b)), (Some(a), Some(b)) if a.0 <= b.0 && b.0 <= a.1)
    }
}

/// Where a channel may go from the end of each block.
fn block_successors(p: &ProgramParts, blocks: &Blocks) -> Vec<Vec<u32>> {
    let count = blocks.start.len();
    let block = |pc: Pc| blocks.of.get(pc as usize).copied();
    (0..count)
        .map(|b| {
            let end = blocks.start.get(b + 1).map_or(p.code.len(), |s| *s as usize);
            let i = &p.code[end - 1];
            let all = i.pred.offset == 0 && !may_diverge(i, p.simd);
            let next = || block(end as Pc);
            match i.op {
                Op::Goto if all => block(i.aux).into_iter().collect(),
                Op::Goto => block(i.aux).into_iter().chain(next()).collect(),
                Op::Ret | Op::Fret if all => Vec::new(),
                Op::End => Vec::new(),
                _ => next().into_iter().collect(),
            }
        })
        .collect()
}

/// Blocks that any of the roots leads to, each after one that leads to it.
fn reverse_postorder(roots: &[u32], successors: &[Vec<u32>]) -> Vec<u32> {
    let mut seen = vec![false; successors.len()];
    let mut post = Vec::new();
    for root in roots {
        let mut stack = Vec::new();
        if !std::mem::replace(&mut seen[*root as usize], true) {
            stack.push((*root, 0));
        }
        while let Some((b, k)) = stack.pop() {
            match successors[b as usize].get(k) {
                Some(to) => {
                    stack.push((b, k + 1));
                    if !std::mem::replace(&mut seen[*to as usize], true) {
                        stack.push((*to, 0));
                    }
                }
                None => post.push(b),
            }
        }
    }
    post.reverse();
    post
}

/// Nothing: what is above the roots, which no block is.
const ABOVE: u32 = u32::MAX;

/// The immediate dominator of each block in the order, by its place there plus one; 0 is above the roots (Cooper, Harvey and
/// Kennedy, "A simple, fast dominance algorithm").
fn immediate(roots: &[u32], order: &[u32], successors: &[Vec<u32>]) -> Vec<u32> {
    let mut place = vec![ABOVE; successors.len()];
    for (b, k) in order.iter().zip(1..) {
        place[*b as usize] = k;
    }
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); order.len() + 1];
    for root in roots {
        before[place[*root as usize] as usize].push(0);
    }
    for b in order {
        for to in &successors[*b as usize] {
            before[place[*to as usize] as usize].push(place[*b as usize]);
        }
    }
    let mut dominator = vec![ABOVE; order.len() + 1];
    dominator[0] = 0;
    loop {
        let mut changed = false;
        for k in 1..=order.len() {
            let known = before[k].iter().copied().filter(|b| dominator[*b as usize] != ABOVE);
            let new = known.reduce(|a, b| common_dominator(&dominator, a, b)).unwrap_or(ABOVE);
            changed |= std::mem::replace(&mut dominator[k], new) != new;
        }
        if !changed {
            return dominator;
        }
    }
}

fn common_dominator(dominator: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        if a > b {
            a = dominator[a as usize];
        } else {
            b = dominator[b as usize];
        }
    }
    a
}

/// Numbers so many blocks so that those that one dominates are a range.
fn number_subtrees(blocks: usize, order: &[u32], immediate: &[u32]) -> Vec<Option<(u32, u32)>> {
    let mut below = vec![None; blocks];
    // How many each one dominates, itself included: those in the order after it.
    let mut count = vec![1u32; immediate.len()];
    for k in (1..immediate.len()).rev() {
        count[immediate[k] as usize] += count[k];
    }
    // The next free number below each.
    let mut free = vec![0u32; immediate.len()];
    for k in 1..immediate.len() {
        let above = immediate[k] as usize;
        let first = free[above];
        free[above] += count[k];
        free[k] = first + 1;
        below[order[k - 1] as usize] = Some((first, first + count[k] - 1));
    }
    below
}
