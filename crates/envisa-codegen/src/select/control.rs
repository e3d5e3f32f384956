//! Blocks, and where they go.

use envisa_lower::{Op as Lowered, fence};
use envisa_vir::{Block as VirBlock, Inst as VirInst, InstId, Terminator, Value};
use iced_x86::{Code, ConditionCode};

use super::{Held, Select, Unsupported};
use crate::inst::{Base, Block, Class, Inst, Mem, Op, Reg, Size};
use envisa_native_layout::at;

impl Select<'_> {
    /// Blocks with parameters, in an order that definitions come first in.
    pub(super) fn make_blocks(&mut self, order: &[VirBlock], entry: Block) {
        self.blocks = vec![entry; self.f.blocks().len()];
        for b in order {
            if *b == VirBlock::ENTRY {
                continue;
            }
            let block = self.m.block();
            self.blocks[b.index()] = block;
            let f = self.f;
            for v in &f.block(*b).params {
                let (ty, v) = (self.ty(*v), *v);
                let held = if ty.lanes == 1 {
                    Held::General(self.m.param(block, Class::General))
                } else if ty.is_mask() {
                    let n = u32::from(ty.lanes).div_ceil(super::PIECE);
                    Held::Masks((0..n).map(|_| self.m.param(block, Class::Mask)).collect())
                } else {
                    Held::Vectors((0..self.parts(ty)).map(|_| self.m.param(block, Class::Vector)).collect())
                };
                self.set(v, held);
                if self.stepped(v).is_some() {
                    self.firsts[v.index()] = Some(self.m.param(block, Class::General));
                }
            }
        }
    }

    /// What is handed on for a parameter.
    fn handed(&mut self, param: Value, arg: Value, out: &mut Vec<Reg>) -> Result<(), Unsupported> {
        let ty = self.ty(arg);
        if ty.lanes == 1 {
            out.push(self.general(arg)?);
        } else if ty.is_mask() {
            for k in 0..u32::from(ty.lanes).div_ceil(super::PIECE) {
                out.push(self.piece(arg, k as usize)?);
            }
        } else {
            for k in 0..self.parts(ty) {
                out.push(self.part(arg, k)?);
            }
        }
        if self.stepped(param).is_some() {
            out.push(self.first(arg)?);
        }
        Ok(())
    }

    fn goes(&mut self, t: &envisa_vir::Target) -> Result<(), Unsupported> {
        let mut args = Vec::new();
        let f = self.f;
        for (param, arg) in f.block(t.block).params.iter().zip(&t.args) {
            self.handed(*param, *arg, &mut args)?;
        }
        let to = self.blocks[t.block.index()];
        self.m.jump(self.at, to, &args);
        Ok(())
    }

    /// Where a block goes.
    pub(super) fn end(&mut self, b: VirBlock) -> Result<(), Unsupported> {
        let f = self.f;
        match &f.block(b).end {
            Terminator::Jump(t) => self.goes(t),
            Terminator::Branch { mask, then, other } => {
                let when = self.any(*mask)?;
                let to = [self.m.block(), self.m.block()];
                self.m.branch(self.at, when, to);
                for (t, at) in [then, other].into_iter().zip(to) {
                    self.at = at;
                    self.goes(t)?;
                }
                Ok(())
            }
            Terminator::Return => {
                self.m.push(self.at, Inst::Return);
                Ok(())
            }
            Terminator::Trap(pc) => {
                self.m.push(self.at, Inst::Call { number: *pc });
                self.m.push(self.at, Inst::Return);
                Ok(())
            }
            Terminator::Barrier { pc, reads, resume } => {
                if !reads.is_empty() || self.given.program.code()[*pc as usize].op != Lowered::Barrier {
                    return Err("a barrier of a rare kind");
                }
                let number = self.resumptions.len() as u32 + 2;
                self.resumptions.push((pc + 1, number));
                self.m.push(self.at, Inst::Barrier { next: pc + 1, number });
                self.goes(resume)
            }
        }
    }

    /// Sets the flags by whether any lane of a mask is true: the condition that says so.
    pub(super) fn any(&mut self, mask: Value) -> Result<ConditionCode, Unsupported> {
        if self.ty(mask).lanes == 1 {
            let r = self.general(mask)?;
            self.plain(Code::Test_rm32_r32, &[Op::Use(r, Size::R32), Op::Use(r, Size::R32)]);
            return Ok(ConditionCode::ne);
        }
        let low = self.piece(mask, 0)?;
        let high = if self.ty(mask).lanes > 16 { self.piece(mask, 1)? } else { low };
        self.any_piece(low, high);
        Ok(ConditionCode::ne)
    }

    /// Sets the flags by whether any lane of two pieces is true.
    pub(super) fn any_piece(&mut self, low: Reg, high: Reg) {
        self.plain(Code::VEX_Kortestw_kr_kr, &[Op::Use(low, Size::K), Op::Use(high, Size::K)]);
    }

    /// Goes on in a new block unless the flags say so: then at another one.
    pub(super) fn unless(&mut self, when: ConditionCode, to: Block) {
        let next = self.m.block();
        self.m.branch(self.at, when, [to, next]);
        self.at = next;
    }

    /// A backward branch takes from the budget.
    pub(super) fn spend(&mut self, pc: u32, cost: u32) {
        let budget = Mem::at(Base::Context, at::BUDGET);
        self.plain(Code::Sub_rm64_imm32, &[Op::Mem(budget), Op::Imm64(cost as i32)]);
        let over = self.m.cold();
        self.unless(ConditionCode::s, over);
        self.m.push(over, Inst::Expire { pc });
        let next = self.at;
        self.m.jump(over, next, &[]);
    }

    /// Orders accesses: a group's threads run on one host thread.
    pub(super) fn fence(&mut self, pc: u32) {
        let aux = self.given.program.code()[pc as usize].aux;
        if aux & fence::GLOBAL != 0 && aux & fence::GROUP == 0 {
            self.plain(Code::Mfence, &[]);
        }
    }

    /// Selects an instruction.
    pub(super) fn inst(&mut self, id: InstId) -> Result<(), Unsupported> {
        let f = self.f;
        match &f.inst(id).inst {
            // Made where they are wanted.
            VirInst::Const(_) | VirInst::Lanes(_) => Ok(()),
            VirInst::Spend { pc, cost } => {
                self.spend(*pc, *cost);
                Ok(())
            }
            VirInst::Fence(pc) => {
                self.fence(*pc);
                Ok(())
            }
            VirInst::Mode(cr0) => {
                let to = Mem::at(Base::Registers, self.given.cr0);
                self.plain(Code::Mov_rm32_imm32, &[Op::Mem(to), Op::Imm32(*cr0 as i32)]);
                Ok(())
            }
            VirInst::Input { offset, step } => self.input(id, *offset, *step),
            VirInst::Dispatch => self.dispatch(id),
            VirInst::Access(a) => self.access(id, a),
            VirInst::Escape(e) => self.escape(id, e),
            _ => self.pure(id),
        }
    }

    /// One whose results follow from its operands.
    fn pure(&mut self, id: InstId) -> Result<(), Unsupported> {
        let v = self.result(id, 0);
        if self.stepped(v).is_some() && self.f.inst(id).results == 1 && self.first_of(id, v)? {
            if self.f.facts(v).uniform {
                let first = self.firsts[v.index()].ok_or("a first lane that is nowhere")?;
                return self.spread(v, first);
            }
            return self.whole(id);
        }
        self.whole(id)?;
        if self.stepped(v).is_some() && self.firsts[v.index()].is_none() {
            let first = self.extract(v)?;
            self.firsts[v.index()] = Some(first);
        }
        Ok(())
    }

    /// All lanes.
    fn whole(&mut self, id: InstId) -> Result<(), Unsupported> {
        let f = self.f;
        let done = match &f.inst(id).inst {
            VirInst::Arith { what, args } => self.arith(id, what, args)?,
            VirInst::Modify { modifier, number, arg } => self.modify(id, *modifier, *number, *arg)?,
            VirInst::Cmp { relation, number, mode, args } => {
                self.compare(id, *relation, *number, *mode, *args)?
            }
            VirInst::Convert { from, to, sat, operand, mode, arg } => {
                let plain = mode.is_ieee();
                let _ = operand;
                plain && self.convert(id, *from, *to, *sat, *arg)?
            }
            VirInst::Select { mask, args } => self.select(id, *mask, *args)?,
            VirInst::Splat(arg) => self.splat(id, *arg)?,
            VirInst::Shuffle(s) => self.shuffle(id, s)?,
            VirInst::Logic { op, args } => self.logic(id, *op, *args)?,
            VirInst::Vote { all, arg } => self.vote(id, *all, *arg)?,
            VirInst::ToBits(arg) => {
                let bits = self.bits(*arg)?;
                self.set(self.result(id, 0), Held::General(bits));
                true
            }
            VirInst::FromBits(arg) => {
                let bits = self.general(*arg)?;
                self.set_bits(self.result(id, 0), bits);
                true
            }
            _ => false,
        };
        if done { Ok(()) } else { self.helped(id) }
    }
}
