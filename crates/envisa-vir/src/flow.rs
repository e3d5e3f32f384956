//! Order, predecessors and dominators of blocks.

use crate::func::{Block, Func};

/// Of the blocks that the entry leads to.
pub struct Flow {
    /// In an order in which each comes after one that leads to it (reverse postorder).
    pub order: Vec<Block>,
    /// By block: its place in the order; `u32::MAX` if nothing leads to it.
    place: Vec<u32>,
    /// By place: the place of the immediate dominator.
    dominator: Vec<u32>,
    /// By place: how deep it is in the tree of dominators.
    depth: Vec<u32>,
    /// By block.
    preds: Vec<Vec<Block>>,
}

impl Flow {
    /// Of a function (Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm").
    pub fn new(f: &Func) -> Flow {
        let order = reachable_blocks(f);
        let mut place = vec![u32::MAX; f.blocks().len()];
        for (b, k) in order.iter().zip(0..) {
            place[b.index()] = k;
        }
        let mut preds = vec![Vec::new(); place.len()];
        for b in &order {
            f.block(*b).end.targets().for_each(|t| preds[t.block.index()].push(*b));
        }
        let mut dominator = vec![u32::MAX; order.len()];
        dominator[0] = 0;
        loop {
            let mut changed = false;
            for (k, b) in order.iter().enumerate().skip(1) {
                let mut new = u32::MAX;
                for p in preds[b.index()].iter().map(|p| place[p.index()]) {
                    if dominator[p as usize] != u32::MAX {
                        new = if new == u32::MAX { p } else { common_dominator(&dominator, new, p) };
                    }
                }
                changed |= std::mem::replace(&mut dominator[k], new) != new;
            }
            if !changed {
                break;
            }
        }
        let mut depth = vec![0; order.len()];
        for k in 1..order.len() {
            depth[k] = depth[dominator[k] as usize] + 1;
        }
        Flow { order, place, dominator, depth, preds }
    }

    /// Does the entry lead to a block?
    pub fn reaches(&self, b: Block) -> bool {
        self.place[b.index()] != u32::MAX
    }

    /// Blocks that lead to a block, once for each time.
    pub fn preds(&self, b: Block) -> &[Block] {
        &self.preds[b.index()]
    }

    /// The immediate dominator; of the entry itself.
    pub fn dominator(&self, b: Block) -> Block {
        self.order[self.dominator[self.place[b.index()] as usize] as usize]
    }

    /// Is every way to `b` by `a`?
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let (a, mut b) = (self.place[a.index()], self.place[b.index()]);
        while self.depth[b as usize] > self.depth[a as usize] {
            b = self.dominator[b as usize];
        }
        a == b
    }
}

fn common_dominator(dominator: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b {
            a = dominator[a as usize];
        }
        while b > a {
            b = dominator[b as usize];
        }
    }
    a
}

/// Blocks that the entry leads to, each after one that leads to it.
pub fn reachable_blocks(f: &Func) -> Vec<Block> {
    let mut seen = vec![false; f.blocks().len()];
    let mut post = Vec::new();
    let mut stack = vec![(Block::ENTRY, 0)];
    seen[0] = true;
    while let Some((b, k)) = stack.pop() {
        match f.block(b).end.targets().nth(k) {
            Some(t) => {
                stack.push((b, k + 1));
                if !std::mem::replace(&mut seen[t.block.index()], true) {
                    stack.push((t.block, 0));
                }
            }
            None => post.push(b),
        }
    }
    post.reverse();
    post
}
