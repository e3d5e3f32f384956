//! Functions of such instructions: blocks with parameters.

use iced_x86::{Code, ConditionCode};
use regalloc2::VReg;

use crate::inst::{Block, Class, Inst, Lanes, Mem, Op, Reg, Size};

/// A block in the making.
#[derive(Clone, Default)]
pub(crate) struct Body {
    pub insts: Vec<Inst>,
    pub params: Vec<Reg>,
    /// What is given to the parameters of the block that the last instruction jumps to.
    pub args: Vec<Reg>,
    /// It is rarely come to: its code is put behind the rest.
    pub cold: bool,
}

/// A function.
#[derive(Clone, Default)]
pub struct Function {
    pub(crate) blocks: Vec<Body>,
    regs: usize,
    /// Dwords of the pool.
    pub(crate) pool: Vec<u32>,
}

impl Function {
    /// One whose first block is there and empty.
    pub fn new() -> (Function, Block) {
        let mut f = Function::default();
        let entry = f.block();
        (f, entry)
    }

    /// A new block.
    pub fn block(&mut self) -> Block {
        self.blocks.push(Body::default());
        Block(self.blocks.len() as u32 - 1)
    }

    /// A new block that is rarely come to.
    pub fn cold(&mut self) -> Block {
        let b = self.block();
        self.body(b).cold = true;
        b
    }

    pub(crate) fn body(&mut self, b: Block) -> &mut Body {
        &mut self.blocks[b.0 as usize]
    }

    /// How many registers there are.
    pub(crate) fn regs(&self) -> usize {
        self.regs
    }

    /// A new register.
    pub fn reg(&mut self, class: Class) -> Reg {
        self.regs += 1;
        Reg(VReg::new(self.regs - 1, class.allocator()))
    }

    /// A new parameter of a block.
    pub fn param(&mut self, b: Block, class: Class) -> Reg {
        let r = self.reg(class);
        self.body(b).params.push(r);
        r
    }

    /// Appends an instruction.
    pub fn push(&mut self, b: Block, inst: Inst) {
        debug_assert!(self.body(b).insts.last().is_none_or(|i| !i.ends()), "{b:?} has ended");
        self.body(b).insts.push(inst);
    }

    /// Appends one of the CPU's that writes all its lanes.
    pub fn plain(&mut self, b: Block, code: Code, ops: &[Op]) {
        self.lanes(b, code, ops, Lanes::All);
    }

    /// Appends one of the CPU's.
    pub fn lanes(&mut self, b: Block, code: Code, ops: &[Op], lanes: Lanes) {
        let mut all = [Op::None; 4];
        all[..ops.len()].copy_from_slice(ops);
        self.push(b, Inst::Plain { code, ops: all, lanes });
    }

    /// Appends one that writes its first operand, a register of this class and size, which it gives.
    pub fn op(&mut self, b: Block, code: Code, (class, size): (Class, Size), ops: &[Op]) -> Reg {
        let to = self.reg(class);
        let mut all = [Op::None; 4];
        all[0] = Op::Def(to, size);
        all[1..=ops.len()].copy_from_slice(ops);
        self.push(b, Inst::Plain { code, ops: all, lanes: Lanes::All });
        to
    }

    /// Appends one that reads its first operand and overwrites it; gives what it becomes.
    pub fn change(&mut self, b: Block, code: Code, (from, size): (Reg, Size), ops: &[Op]) -> Reg {
        let to = Reg(VReg::new(self.regs, from.0.class()));
        self.regs += 1;
        let mut all = [Op::None; 4];
        all[0] = Op::Mod { from, to, size };
        all[1..=ops.len()].copy_from_slice(ops);
        self.push(b, Inst::Plain { code, ops: all, lanes: Lanes::All });
        to
    }

    /// Ends a block: it goes on at another one, with these as its parameters.
    pub fn jump(&mut self, b: Block, to: Block, args: &[Reg]) {
        self.push(b, Inst::Jump(to));
        self.body(b).args.extend_from_slice(args);
    }

    /// Ends a block by the flags: it goes on at the first of two that have no parameters, or at the second.
    pub fn branch(&mut self, b: Block, when: ConditionCode, to: [Block; 2]) {
        self.push(b, Inst::Branch { when, to });
    }

    /// Sixteen dwords in the pool.
    pub fn literals(&mut self, all: [u32; 16]) -> Mem {
        let found = self.pool.chunks_exact(16).position(|c| c == all);
        let k = found.unwrap_or_else(|| {
            self.pool.resize(self.pool.len().next_multiple_of(16), 0);
            self.pool.extend(all);
            self.pool.len() / 16 - 1
        });
        Mem::at(crate::inst::Base::Pool, 64 * k as u32)
    }

    /// A dword in the pool.
    pub fn literal(&mut self, x: u32) -> Mem {
        let found = self.pool.iter().position(|c| *c == x);
        let k = found.unwrap_or_else(|| {
            self.pool.push(x);
            self.pool.len() - 1
        });
        Mem::at(crate::inst::Base::Pool, 4 * k as u32)
    }

    /// Where a block goes on.
    pub(crate) fn successors(&self, b: Block) -> impl Iterator<Item = Block> {
        let all = match self.blocks[b.0 as usize].insts.last() {
            Some(Inst::Jump(to)) => [Some(*to), None],
            Some(Inst::Branch { to, .. }) => to.map(Some),
            _ => [None; 2],
        };
        all.into_iter().flatten()
    }

    /// Puts a block of its own on each way from a block with two ways to one that is come to from elsewhere as well.
    pub(crate) fn split_edges(&mut self) {
        let mut comers = vec![0u32; self.blocks.len()];
        for b in 0..self.blocks.len() as u32 {
            self.successors(Block(b)).for_each(|s| comers[s.0 as usize] += 1);
        }
        for b in 0..self.blocks.len() {
            let Some(Inst::Branch { to, .. }) = self.blocks[b].insts.last() else {
                continue;
            };
            let mut to = *to;
            for t in &mut to {
                if comers[t.0 as usize] < 2 {
                    continue;
                }
                let (between, cold) = (self.block(), self.body(*t).cold);
                self.body(between).cold = cold;
                self.jump(between, *t, &[]);
                *t = between;
            }
            if let Some(Inst::Branch { to: t, .. }) = self.blocks[b].insts.last_mut() {
                *t = to;
            }
        }
    }

    /// Puts each block behind those that it is come to from, but for loops, as the allocator's checker wants it; leaves out
    /// those that nothing comes to.
    pub(crate) fn order(&mut self) {
        let mut seen = vec![false; self.blocks.len()];
        seen[0] = true;
        let mut all = Vec::new();
        let mut path: Vec<(Block, Vec<Block>)> = vec![(Block(0), self.successors(Block(0)).collect())];
        while let Some((b, rest)) = path.last_mut() {
            let Some(next) = rest.pop() else {
                all.push(b.0 as usize);
                path.pop();
                continue;
            };
            if !std::mem::replace(&mut seen[next.0 as usize], true) {
                path.push((next, self.successors(next).collect()));
            }
        }
        all.reverse();
        let mut now = vec![u32::MAX; self.blocks.len()];
        all.iter().zip(0..).for_each(|(b, k)| now[*b] = k);
        let mut blocks: Vec<Body> = all.iter().map(|b| std::mem::take(&mut self.blocks[*b])).collect();
        let name = |b: &mut Block| b.0 = now[b.0 as usize];
        for b in &mut blocks {
            match b.insts.last_mut() {
                Some(Inst::Jump(to)) => name(to),
                Some(Inst::Branch { to, .. }) => to.iter_mut().for_each(name),
                _ => {}
            }
        }
        self.blocks = blocks;
    }
}
