//! Physical registers for virtual ones: a function as the allocator sees it.

use regalloc2::{
    Block as RaBlock, Inst as RaInst, InstRange, MachineEnv, Operand, OperandConstraint, OperandKind,
    OperandPos, Output, PRegSet, RegClass, RegallocOptions, VReg,
};

use crate::function::Function;
use crate::inst::{Block, Inst, Lanes, Mem, Op, Reg};
use crate::target::Target;

/// A function as the allocator sees it.
pub(crate) struct View<'f> {
    f: &'f Function,
    blocks: Vec<InstRange>,
    /// Of each instruction: its block, and its place there.
    pub at: Vec<(u32, u32)>,
    operands: Vec<Operand>,
    /// Where those of each instruction end.
    ends: Vec<u32>,
    successors: Vec<Vec<RaBlock>>,
    predecessors: Vec<Vec<RaBlock>>,
    params: Vec<Vec<VReg>>,
    args: Vec<Vec<VReg>>,
    /// All registers that it gives.
    all: PRegSet,
}

/// The registers that an operand names, as the allocator is told them; the order is that in which
/// [`crate::emit`] takes what they became.
pub(crate) fn operands(i: &Inst, out: &mut Vec<Operand>) {
    let used = |r: Reg| Operand::reg_use(r.0);
    match i {
        Inst::Plain { ops, lanes, .. } => {
            for op in ops {
                match *op {
                    Op::Def(r, _) => out.push(Operand::reg_def(r.0)),
                    Op::Use(r, _) => out.push(used(r)),
                    Op::Mod { from, to, .. } => push_changed_operand(from, to, out),
                    Op::Mem(m) => registers(&m).for_each(|r| out.push(used(r))),
                    Op::None | Op::Imm8(_) | Op::Imm32(_) | Op::Imm64(_) => {}
                }
            }
            match *lanes {
                Lanes::All => {}
                Lanes::Of(k) | Lanes::Zero(k) => out.push(used(k)),
                Lanes::Cleared { from, to } => push_changed_operand(from, to, out),
            }
        }
        Inst::Aim { .. } | Inst::Call { .. } | Inst::Expire { .. } | Inst::Barrier { .. } => {}
        Inst::Jump(_) | Inst::Branch { .. } | Inst::Return => {}
    }
}

fn push_changed_operand(from: Reg, to: Reg, out: &mut Vec<Operand>) {
    let place = out.len();
    out.push(Operand::reg_use(from.0));
    out.push(Operand::new(to.0, OperandConstraint::Reuse(place), OperandKind::Def, OperandPos::Late));
}

/// The registers of a memory operand.
pub(crate) fn registers(m: &Mem) -> impl Iterator<Item = Reg> {
    m.index.map(|i| i.0).into_iter()
}

impl<'f> View<'f> {
    pub fn new(f: &'f Function, target: Target) -> View<'f> {
        let n = f.blocks.len();
        let mut v = View {
            f,
            blocks: Vec::with_capacity(n),
            at: Vec::new(),
            operands: Vec::new(),
            ends: Vec::new(),
            successors: vec![Vec::new(); n],
            predecessors: vec![Vec::new(); n],
            params: Vec::with_capacity(n),
            args: Vec::with_capacity(n),
            all: target.all(),
        };
        let mut of_one = Vec::new();
        for (b, body) in f.blocks.iter().enumerate() {
            let first = v.at.len();
            for (k, i) in body.insts.iter().enumerate() {
                v.at.push((b as u32, k as u32));
                // What an operand reuses is counted from the instruction's first.
                of_one.clear();
                operands(i, &mut of_one);
                v.operands.extend(&of_one);
                v.ends.push(v.operands.len() as u32);
            }
            v.blocks.push(InstRange::new(RaInst::new(first), RaInst::new(v.at.len())));
            for s in f.successors(Block(b as u32)) {
                v.successors[b].push(RaBlock::new(s.0 as usize));
                v.predecessors[s.0 as usize].push(RaBlock::new(b));
            }
            v.params.push(body.params.iter().map(|r| r.0).collect());
            v.args.push(body.args.iter().map(|r| r.0).collect());
        }
        v
    }

    fn inst(&self, i: RaInst) -> &Inst {
        let (b, k) = self.at[i.index()];
        &self.f.blocks[b as usize].insts[k as usize]
    }

    /// Gives all virtual registers physical ones.
    ///
    /// # Errors
    /// Unsupported that is impossible: a mistake of this compiler.
    pub fn allocate(&self, target: Target) -> Result<Output, String> {
        let env = target.registers();
        let options = RegallocOptions { validate_ssa: cfg!(debug_assertions), ..RegallocOptions::default() };
        let out = regalloc2::run(self, &env, &options).map_err(|e| format!("registers: {e}"))?;
        if cfg!(debug_assertions) {
            self.check(&env, &out)?;
        }
        Ok(out)
    }

    /// Holds an allocation against what it is of.
    ///
    /// # Errors
    /// What differs.
    fn check(&self, env: &MachineEnv, out: &Output) -> Result<(), String> {
        let mut checker = regalloc2::checker::Checker::new(self, env);
        checker.prepare(out);
        checker.run().map_err(|e| format!("registers, checked: {e:?}"))
    }
}

impl regalloc2::Function for View<'_> {
    fn num_insts(&self) -> usize {
        self.at.len()
    }

    fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    fn entry_block(&self) -> RaBlock {
        RaBlock::new(0)
    }

    fn block_insns(&self, b: RaBlock) -> InstRange {
        self.blocks[b.index()]
    }

    fn block_succs(&self, b: RaBlock) -> &[RaBlock] {
        &self.successors[b.index()]
    }

    fn block_preds(&self, b: RaBlock) -> &[RaBlock] {
        &self.predecessors[b.index()]
    }

    fn block_params(&self, b: RaBlock) -> &[VReg] {
        &self.params[b.index()]
    }

    fn is_ret(&self, i: RaInst) -> bool {
        matches!(self.inst(i), Inst::Return)
    }

    fn is_branch(&self, i: RaInst) -> bool {
        let i = self.inst(i);
        i.ends() && !matches!(i, Inst::Return)
    }

    fn branch_blockparams(&self, b: RaBlock, _: RaInst, _: usize) -> &[VReg] {
        &self.args[b.index()]
    }

    fn inst_operands(&self, i: RaInst) -> &[Operand] {
        let k = i.index();
        let first = if k == 0 { 0 } else { self.ends[k - 1] };
        &self.operands[first as usize..self.ends[k] as usize]
    }

    fn inst_clobbers(&self, i: RaInst) -> PRegSet {
        match self.inst(i) {
            Inst::Barrier { .. } => self.all,
            _ => PRegSet::empty(),
        }
    }

    fn num_vregs(&self) -> usize {
        self.f.regs()
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        match class {
            RegClass::Int | RegClass::Vector => 1,
            RegClass::Float => VECTOR_SLOTS,
        }
    }
}

/// Bytes of a slot.
pub(crate) const SLOT: u32 = 8;
/// Slots of a vector register.
const VECTOR_SLOTS: usize = 8;
