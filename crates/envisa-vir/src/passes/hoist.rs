//! What is the same in every round of a loop is done before it: instructions whose results follow from their operands.

use crate::flow::Flow;
use crate::func::{Block, Def, Func, InstId};
use crate::inst::{Effect, Inst};

/// See the module.
pub fn run(f: &mut Func) {
    let flow = Flow::new(f);
    let loops = Loops::new(f, &flow);
    if loops.none {
        return;
    }
    // Where each instruction is.
    let mut at = vec![Block::ENTRY; f.inst_count()];
    for b in &flow.order {
        f.block(*b).insts.iter().for_each(|i| at[i.index()] = *b);
    }
    for b in &flow.order {
        let insts = std::mem::take(&mut f.block_mut(*b).insts);
        let mut kept = Vec::with_capacity(insts.len());
        for i in insts {
            let to = hoist_target(f, &flow, &loops, &at, *b, i);
            at[i.index()] = to;
            if to == *b { kept.push(i) } else { f.block_mut(to).insts.push(i) }
        }
        f.block_mut(*b).insts = kept;
    }
}

/// The block outside of as many loops as possible where an instruction may be.
fn hoist_target(f: &Func, flow: &Flow, loops: &Loops, at: &[Block], b: Block, i: InstId) -> Block {
    let inst = &f.inst(i).inst;
    let mut to = b;
    if inst.effect() != Effect::Pure || matches!(inst, Inst::Const(_) | Inst::Lanes(_)) {
        return to;
    }
    while let Some(head) = loops.innermost(to) {
        if head == Block::ENTRY {
            break;
        }
        let out = flow.dominator(head);
        let mut there = true;
        inst.operands(&mut |v| {
            there &= match f.def(v) {
                Def::Param(b, _) => flow.dominates(b, out),
                Def::Result(i, _) => flow.dominates(at[i.index()], out),
                Def::Gone => false,
            };
        });
        if !there {
            break;
        }
        to = out;
    }
    to
}

/// Loops by their heads: blocks that dominate one that leads to them.
struct Loops {
    /// By block: the head of the innermost loop around it, of a head that of the next one.
    around: Vec<Option<Block>>,
    is_head: Vec<bool>,
    none: bool,
}

impl Loops {
    fn new(f: &Func, flow: &Flow) -> Loops {
        let n = f.blocks().len();
        let mut loops = Loops { around: vec![None; n], is_head: vec![false; n], none: true };
        // The outermost loop found so far that a block is in.
        let mut outer: Vec<Block> = f.blocks().collect();
        fn find(outer: &mut [Block], b: Block) -> Block {
            let mut root = b;
            while outer[root.index()] != root {
                root = outer[root.index()];
            }
            let mut at = b;
            while outer[at.index()] != root {
                at = std::mem::replace(&mut outer[at.index()], root);
            }
            root
        }
        // Inner heads come after outer ones.
        for head in flow.order.iter().rev() {
            let mut work: Vec<Block> = Vec::new();
            for p in flow.preds(*head).iter().filter(|p| flow.dominates(*head, **p)) {
                loops.is_head[head.index()] = true;
                loops.none = false;
                work.push(find(&mut outer, *p));
            }
            while let Some(b) = work.pop() {
                if b == *head || find(&mut outer, b) != b {
                    continue;
                }
                loops.around[b.index()] = Some(*head);
                outer[b.index()] = *head;
                for p in flow.preds(b).iter().filter(|p| flow.dominates(*head, **p)) {
                    work.push(find(&mut outer, *p));
                }
            }
        }
        loops
    }

    /// The head of the innermost loop that a block is in.
    fn innermost(&self, b: Block) -> Option<Block> {
        if self.is_head[b.index()] { Some(b) } else { self.around[b.index()] }
    }
}
