//! Blocks: where channels go, part and join.

use envisa_lower::{Inst as Lowered, Op, Pc};

use super::{Builder, No, NotBuilt};
use crate::func::{Block, Func, Type, Value};
use crate::inst::{Inst, Logic, Target, Terminator};
use crate::operation_classes::{Class, class};

impl Builder<'_> {
    /// All blocks.
    pub(super) fn run(mut self) -> Result<Func, NotBuilt> {
        let starts = self.starts();
        let reachable = self.reachable();
        let heads: Vec<Pc> = {
            let back = |(pc, i): (Pc, &Lowered)| (i.op == Op::Goto && i.aux <= pc).then_some(i.aux);
            (0..).zip(&self.p.code()[..self.end as usize]).filter_map(back).collect()
        };
        self.ssa.block(Block::ENTRY, 0);
        for pc in &starts {
            let b = if *pc == 0 && !heads.contains(&0) { Block::ENTRY } else { self.f.add_block(*pc) };
            self.ssa.block(b, *pc);
            self.at.insert(*pc, b);
        }
        if self.at.get(&0) != Some(&Block::ENTRY) {
            self.jump(0);
        }
        let mut heads = heads;
        heads.sort_unstable();
        // Modes are known where code is straight, or where they never change.
        let changes: Vec<Pc> = (0..)
            .zip(&self.p.code()[..self.end as usize])
            .filter(|(_, i)| self.writes_mode(i))
            .map(|(pc, _)| pc)
            .collect();
        let straight = starts.get(1).copied().unwrap_or(self.end);
        let late = changes.iter().any(|pc| *pc >= straight);
        for (k, pc) in starts.iter().enumerate() {
            if let Some(label) = self.labels.index(*pc) {
                self.resume_block(label);
            }
            let b = self.at[pc];
            if !reachable[*pc as usize] {
                continue;
            }
            let head = heads.binary_search(pc).is_ok();
            if !head {
                self.ssa.seal(b);
            }
            self.cur = b;
            if k > 0 && late {
                self.cr0 = None;
            }
            self.block(*pc, starts.get(k + 1).copied().unwrap_or(self.end));
            if self.f.value_count() as u64 > self.budget || self.ssa.steps > 64 * self.budget {
                return Err(NotBuilt { pc: *pc, reason: "more values than the budget" });
            }
        }
        self.finish()
    }

    /// Where blocks begin.
    fn starts(&self) -> Vec<Pc> {
        let mut starts = vec![0];
        for (pc, i) in (0..).zip(&self.p.code()[..self.end as usize]) {
            match class(i.op) {
                Class::Goto => starts.extend([i.aux, pc + 1]),
                Class::Return | Class::Fault | Class::Barrier => starts.push(pc + 1),
                Class::Split if i.aux == 0 => starts.push(pc + 1),
                _ => {}
            }
        }
        starts.extend_from_slice(&self.labels.at);
        starts.retain(|pc| *pc < self.end);
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// Which instructions a thread may come to.
    fn reachable(&self) -> Vec<bool> {
        let mut seen = vec![false; self.end as usize + 1];
        let mut work = vec![0];
        while let Some(mut pc) = work.pop() {
            while pc < self.end && !seen[pc as usize] {
                seen[pc as usize] = true;
                let i = &self.p.code()[pc as usize];
                match class(i.op) {
                    Class::Goto => work.push(i.aux),
                    Class::Fault => break,
                    _ => {}
                }
                pc += 1;
            }
        }
        seen
    }

    fn set_end(&mut self, b: Block, end: Terminator) {
        let targets: Vec<Block> = end.targets().map(|t| t.block).collect();
        for t in targets {
            self.ssa.edge(b, t);
        }
        self.f.block_mut(b).end = end;
    }

    /// The current block goes to an instruction's.
    fn jump(&mut self, pc: Pc) {
        let end = match self.at.get(&pc) {
            Some(b) => Terminator::Jump(Target::new(*b)),
            None => Terminator::Trap(pc.saturating_sub(1)),
        };
        self.set_end(self.cur, end);
    }

    /// A block on the way, which becomes the current one.
    fn between(&mut self, pc: Pc) -> Block {
        let b = self.f.add_block(pc);
        self.ssa.block(b, pc);
        b
    }

    /// The block that looks whether any channels wait at a label, without any active ones.
    fn resume_block(&mut self, label: usize) {
        let Some(b) = self.resumes[label] else { return };
        self.ssa.seal(b);
        self.cur = b;
        let pc = self.labels.at[label];
        self.pc = pc;
        self.converged = false;
        let none = self.constant(0, Type::mask(self.f.simd));
        let (exec, wait) = (self.exec_var(), self.wait_var(label));
        self.write_var(exec, none);
        let waiting = self.read_var(wait, Type::mask(self.f.simd));
        let then = Target::new(self.at[&pc]);
        let other = self.resume(pc);
        self.set_end(b, Terminator::Branch { mask: waiting, then, other });
    }

    /// Where the thread goes on if no channel is active at `pc` any more.
    fn resume(&mut self, pc: Pc) -> Target {
        let block = match self.labels.next(pc) {
            Some(label) => match self.resumes[label] {
                Some(b) => b,
                None => {
                    let b = self.between(self.labels.at[label]);
                    self.resumes[label] = Some(b);
                    b
                }
            },
            None => {
                let b = self.between(pc);
                self.ssa.seal(b);
                b
            }
        };
        Target::new(block)
    }

    /// The instructions of a block.
    fn block(&mut self, from: Pc, to: Pc) {
        for pc in from..to {
            let i = self.p.code()[pc as usize];
            self.pc = pc;
            self.converged = self.labels.all_active(pc);
            match class(i.op) {
                Class::Join => self.join(pc),
                Class::Goto if i.aux > pc => return self.forward(&i),
                Class::Goto => return self.backward(&i),
                Class::Return => return self.leave(&i),
                Class::Fault => {
                    let b = self.cur;
                    return self.set_end(b, Terminator::Trap(pc));
                }
                Class::Barrier => return self.wait(&i),
                Class::Split if i.aux == 0 => return self.wait(&i),
                _ => self.inst(&i),
            }
        }
        self.jump(to);
    }

    fn join(&mut self, pc: Pc) {
        let Some(label) = self.labels.index(pc) else { return };
        let ty = Type::mask(self.f.simd);
        let (exec, wait) = (self.exec_var(), self.wait_var(label));
        let (active, waiting) = (self.read_exec(self.cur), self.read_var(wait, ty));
        let all = self.logic(Logic::Or, active, waiting);
        let none = self.constant(0, ty);
        self.write_var(exec, all);
        self.write_var(wait, none);
    }

    fn wait(&mut self, i: &Lowered) {
        let mut vars = Vec::new();
        let (p, n) = (self.p, u32::from(i.channels));
        i.reads(p.parts(), &mut |t| {
            if let Some(r) = t.range(n) {
                vars.extend(
                    self.pieces.touching(r).filter(|k| self.pieces.all[*k].written).map(|k| k as u32),
                );
            }
        });
        vars.sort_unstable();
        vars.dedup();
        let reads = self.homes(&vars);
        let b = self.cur;
        match self.at.get(&(self.pc + 1)) {
            Some(next) => {
                let resume = Target::new(*next);
                self.set_end(b, Terminator::Barrier { pc: self.pc, reads, resume });
            }
            None => self.set_end(b, Terminator::Trap(self.pc)),
        }
    }

    /// The channels of a branch, of all of the thread; `None`: all active ones. Of branches with one channel it is the
    /// truth that they go.
    fn taken(&mut self, i: &Lowered) -> Option<Value> {
        let lanes = u32::from(i.channels);
        if lanes == 1 {
            return self.predicate(i);
        }
        let simd = self.f.simd;
        if i.pred.offset == 0 && i.first == 0 && lanes >= simd {
            return None;
        }
        let go = match self.guard(i) {
            Ok(Some(mask)) => mask,
            Ok(None) | Err(No(_)) => self.constant(1, Type::mask(lanes)),
        };
        let go = if lanes >= simd {
            self.mask_lanes(go, 0, simd)
        } else {
            let none = self.constant(0, Type::mask(simd));
            let fits = lanes.min(simd.saturating_sub(u32::from(i.first)));
            let go = if fits < lanes { self.mask_lanes(go, 0, fits) } else { go };
            self.with_lanes(none, u32::from(i.first), go)
        };
        let exec = self.exec();
        Some(self.logic(Logic::And, go, exec))
    }

    fn any(&mut self, mask: Value) -> Value {
        self.push(Inst::Vote { all: false, arg: mask }, Type::mask(1))
    }

    /// All active channels have gone to a label ahead.
    fn all_ahead(&mut self, from: Block, pc: Pc, target: Pc, gone: Value) {
        self.cur = from;
        if self.labels.between(pc, target).is_none() {
            let exec = self.exec_var();
            self.write_var(exec, gone);
            return self.jump(target);
        }
        self.deposit(target, gone);
        let t = self.resume(pc);
        self.set_end(from, Terminator::Jump(t));
    }

    /// Channels wait at a label.
    fn deposit(&mut self, target: Pc, more: Value) {
        let Some(label) = self.labels.index(target) else { return };
        let wait = self.wait_var(label);
        let old = self.read_var(wait, Type::mask(self.f.simd));
        let all = self.logic(Logic::Or, old, more);
        self.write_var(wait, all);
    }

    fn forward(&mut self, i: &Lowered) {
        let (b, pc, target) = (self.cur, self.pc, i.aux);
        let taken = self.taken(i);
        let exec = self.exec();
        let Some(taken) = taken else { return self.all_ahead(b, pc, target, exec) };
        if i.channels == 1 {
            let gone = self.between(pc);
            let next = self.next_block(pc);
            let end = Terminator::Branch { mask: taken, then: Target::new(gone), other: next };
            self.set_end(b, end);
            self.ssa.seal(gone);
            return self.all_ahead(gone, pc, target, exec);
        }
        let rest = self.logic(Logic::AndNot, exec, taken);
        let some = self.any(rest);
        let (stay, gone) = (self.between(pc), self.between(pc));
        self.set_end(b, Terminator::Branch { mask: some, then: Target::new(stay), other: Target::new(gone) });
        self.ssa.seal(stay);
        self.ssa.seal(gone);
        self.cur = stay;
        self.deposit(target, taken);
        let exec = self.exec_var();
        self.write_var(exec, rest);
        self.jump(pc + 1);
        self.all_ahead(gone, pc, target, taken);
    }

    fn next_block(&mut self, pc: Pc) -> Target {
        match self.at.get(&(pc + 1)) {
            Some(b) => Target::new(*b),
            None => {
                let b = self.between(pc);
                self.ssa.seal(b);
                self.f.block_mut(b).end = Terminator::Trap(pc);
                Target::new(b)
            }
        }
    }

    fn backward(&mut self, i: &Lowered) {
        let (b, pc, target) = (self.cur, self.pc, i.aux);
        let taken = self.taken(i);
        let cost = pc + 1 - target;
        let Some(taken) = taken else {
            self.push_all(Inst::Spend { pc, cost }, &[]);
            return self.jump(target);
        };
        let parts = i.channels > 1;
        let exec = self.exec();
        let some = if parts { self.any(taken) } else { taken };
        let gone = self.between(pc);
        let next = self.next_block(pc);
        self.set_end(b, Terminator::Branch { mask: some, then: Target::new(gone), other: next });
        self.ssa.seal(gone);
        self.cur = gone;
        self.push_all(Inst::Spend { pc, cost }, &[]);
        if parts {
            let rest = self.logic(Logic::AndNot, exec, taken);
            self.deposit(pc + 1, rest);
            let exec = self.exec_var();
            self.write_var(exec, taken);
        }
        self.jump(target);
    }

    fn leave(&mut self, i: &Lowered) {
        let (b, pc) = (self.cur, self.pc);
        let Some(taken) = self.taken(i) else {
            let t = self.resume(pc);
            return self.set_end(b, Terminator::Jump(t));
        };
        if i.channels == 1 {
            let gone = self.resume(pc);
            let next = self.next_block(pc);
            return self.set_end(b, Terminator::Branch { mask: taken, then: gone, other: next });
        }
        let exec = self.exec();
        let rest = self.logic(Logic::AndNot, exec, taken);
        let some = self.any(rest);
        let (stay, gone) = (self.between(pc), self.resume(pc));
        self.set_end(b, Terminator::Branch { mask: some, then: Target::new(stay), other: gone });
        self.ssa.seal(stay);
        self.cur = stay;
        let exec = self.exec_var();
        self.write_var(exec, rest);
        self.jump(pc + 1);
    }

    /// All blocks are there: parameters are handed what they are, and those that are always the same go.
    fn finish(mut self) -> Result<Func, NotBuilt> {
        for b in self.f.blocks() {
            self.ssa.seal(b);
        }
        while let Some((b, var)) = self.ssa.next_pending() {
            let ty = self.var_type(var);
            for k in 0..self.ssa.preds(b).len() {
                let from = self.ssa.preds(b)[k];
                self.read_at(from, var, ty);
            }
            if self.f.value_count() as u64 > self.budget || self.ssa.steps > 64 * self.budget {
                return Err(NotBuilt { pc: self.f.block(b).pc, reason: "more values than the budget" });
            }
        }
        for from in self.f.blocks() {
            let targets: Vec<Block> = self.f.block(from).end.targets().map(|t| t.block).collect();
            for (k, to) in targets.into_iter().enumerate() {
                let vars = self.ssa.params(to).to_vec();
                let args = vars
                    .into_iter()
                    .map(|v| {
                        let ty = self.var_type(v);
                        self.read_at(from, v, ty)
                    })
                    .collect();
                if let Some(t) = self.f.block_mut(from).end.targets_mut().nth(k) {
                    t.args = args;
                }
            }
        }
        let entry = self.f.block_mut(Block::ENTRY);
        let rest = std::mem::replace(&mut entry.insts, std::mem::take(&mut self.prologue));
        entry.insts.extend(rest);
        crate::passes::params::run(&mut self.f);
        Ok(self.f)
    }

    fn var_type(&self, var: u32) -> Type {
        if var < self.exec_var() { self.home(var).1 } else { Type::mask(self.f.simd) }
    }
}
