//! Branches, joins, barriers.

use envisa_lower::fence;

use super::scalar::Cond;
use super::*;

pub(super) const TAKEN: [K; 2] = [3, 4];

/// Labels that each branch looks through by code of its own; for more there is one code for all branches.
const FEW: usize = 8;

impl Emit<'_> {
    /// Is the compare's predicate wanted by the branch right behind it only, and can it be one with it?
    pub(super) fn fusable(&mut self, pc: Pc) -> bool {
        let (cmp, next) = (*self.inst(pc), pc + 1);
        if next >= self.flow.end() {
            return false;
        }
        let goto = *self.inst(next);
        // What is in another mode than the branch is done before it.
        if super::alu::is_float(cmp.exec) && !self.modes.ieee(pc..next + 1) {
            return false;
        }
        let (Dst::Pred { offset }, Op::Goto) = (cmp.dst, goto.op) else { return false };
        if (goto.channels > 1 && !self.whole(&goto))
            || goto.pred.offset != offset
            || goto.pred.combine != Combine::None
            || cmp.pred.offset != 0
        {
            return false;
        }
        let Some(id) = self.cells.at(offset) else { return false };
        let dead = self.flow.successors(self.p.parts(), next).iter().all(|s| !self.live.of_thread(*s, id));
        // Who comes to the branch alone begins a block with it.
        if !dead || self.blocks[pc as usize] == next || self.flow.waits_at(pc, next) {
            return false;
        }
        let here = self.a.here();
        let can = if goto.channels == 1 && goto.first == 0 {
            self.first_of(&cmp, pc).is_some_and(|c| self.scalar_compare(&c).is_ok())
        } else {
            let parts = super::alu::exec_bytes(cmp.exec).and_then(|b| self.parts(&cmp, b));
            cmp.channels == goto.channels
                && goto.first == 0
                && cmp.first == 0
                && parts.is_ok_and(|parts| {
                    parts
                        .iter()
                        .all(|p| p.lanes != 1 && p.bytes == 4 && self.compare_part(&cmp, p, 5, None).is_ok())
                })
        };
        self.a.back(here);
        can
    }

    /// A compare as channel 0 sees it, if that channel executes it for certain and both sources are scalars.
    fn first_of(&self, cmp: &Inst, pc: Pc) -> Option<Inst> {
        let scalar = |s: &Src| matches!(s, Src::Reg { shape: Shape::Scalar, .. });
        let certain = cmp.no_mask || self.all_active(pc);
        let plain = cmp.channels == 1 || (scalar(&cmp.src[0]) && scalar(&cmp.src[1]));
        (certain && plain && cmp.first == 0).then_some(Inst { channels: 1, ..*cmp })
    }

    pub(super) fn control(&mut self, pc: Pc) -> Result<(), Unsupported> {
        let i = *self.inst(pc);
        match i.op {
            Op::Join => self.join(pc),
            Op::Goto => self.goto(pc, &i)?,
            Op::Ret => self.ret(pc, &i)?,
            Op::Barrier => {
                let next = pc + 1;
                if i.pred.offset != 0 {
                    return Err("a barrier by a predicate");
                }
                if self.flow.waiting_labels(next).len() > 8 * FEW {
                    return Err("a barrier where channels may wait at very many labels");
                }
                let waits = |e: &mut Self| {
                    e.spill_all(next);
                    let k = e.resumption(next);
                    e.a.mi(Code::Mov_rm32_imm32, Mem::at(CTX, at::RESUME), k as i32);
                    e.a.mi(Code::Mov_rm32_imm32, Mem::at(CTX, at::PC), next as i32);
                    e.store_exec();
                    e.a.ri(Code::Mov_r32_imm32, Register::EAX, exit::BARRIER);
                    e.exit();
                };
                match self.takes_turns() {
                    true => self.turn_ends(pc, waits),
                    false => waits(self),
                }
            }
            // A group's threads run on one host thread.
            Op::Fence if i.aux & fence::GLOBAL == 0 || i.aux & fence::GROUP != 0 => {}
            Op::Fence => {
                // All that was stored is seen before what is loaded from here on.
                self.a.push(
                    iced_x86::Instruction::with2(
                        Code::Or_rm32_imm8,
                        Mem { base: Register::RSP, index: Register::None, scale: 1, disp: -8 }.operand(false),
                        0i32,
                    )
                    .map(|mut i| {
                        i.set_has_lock_prefix(true);
                        i
                    }),
                );
            }
            Op::Nop => {}
            _ => return Err("the end of the code"),
        }
        Ok(())
    }

    fn wait(&self, label: Pc) -> Option<Mem> {
        self.waits.get(&label).map(|at| Mem::at(CTX, *at))
    }

    /// Channels that wait here join.
    fn join(&mut self, pc: Pc) {
        if self.reconverges(pc) || !self.flow.waits_at(pc, pc) {
            return;
        }
        let Some(m) = self.wait(pc) else { return };
        if self.full && self.flow.all_channels_active(pc + 1) {
            // Nobody is missing then.
            if self.parts_rarely() {
                let (entry, back) = (self.a.label(), self.a.label());
                self.a.mi(Code::Cmp_rm32_imm8, m, 0);
                self.a.jump(Code::Jne_rel32_64, entry);
                self.a.bind(back);
                self.later.push(Later::Joined { wait: m, entry, back });
                return;
            }
            self.all_channels();
        } else {
            self.a.rm(Code::VEX_Kmovd_kr_km32, mask_register(5), m);
            self.a.kkk(Code::VEX_Korw_kr_kr_kr, 1, 1, 5);
            if self.active.upper() && self.p.simd() == 32 {
                self.a.rri(Code::VEX_Kshiftrd_kr_kr_imm8, mask_register(5), mask_register(5), 16);
                self.a.kkk(Code::VEX_Korw_kr_kr_kr, 2, 2, 5);
            }
        }
        self.a.mi(Code::Mov_rm32_imm32, m, 0);
    }

    /// Lets the channels of a pair of masks wait at a label.
    fn deposit(&mut self, pc: Pc, label: Pc, masks: [K; 2]) -> Result<(), Unsupported> {
        let m = self.wait(label).ok_or("a label where nobody waits")?;
        self.a.kkk(Code::VEX_Kunpckwd_kr_kr_kr, 0, masks[1], masks[0]);
        if self.flow.waits_at(pc, label) {
            self.a.rr(Code::VEX_Kmovd_r32_kr, Register::EAX, mask_register(0));
            self.a.mr(Code::Or_rm32_r32, m, Register::EAX);
        } else {
            self.a.mr(Code::VEX_Kmovd_m32_kr, m, mask_register(0));
        }
        Ok(())
    }

    /// No channel is active: those at the lowest of the labels go on. `last`: somebody does wait there.
    fn lowest(&mut self, labels: &[Pc], last: Option<Pc>) {
        if let Some(first) = labels.first()
            && labels.len() > FEW
        {
            let to = *self.lowest.entry(*first).or_insert_with(|| self.a.label());
            self.a.jmp(to);
            return;
        }
        for l in labels {
            self.resume_if(*l);
        }
        let to = match last {
            Some(l) => self.labels[l as usize],
            None => self.done,
        };
        self.a.jmp(to);
    }

    /// Those who wait at a label go on, if there are any.
    fn resume_if(&mut self, label: Pc) {
        let Some(m) = self.wait(label) else { return };
        self.a.mi(Code::Cmp_rm32_imm8, m, 0);
        let to = self.labels[label as usize];
        self.a.jump(Code::Jne_rel32_64, to);
    }

    /// What looks through all labels from one of them on, the same code for all that come to it: where channels cannot
    /// wait, none do.
    pub(super) fn resume_lowest(&mut self) {
        let entries = std::mem::take(&mut self.lowest);
        let Some(first) = entries.keys().next().copied() else { return };
        for l in self.flow.all_waiting_labels().into_iter().filter(|l| *l >= first) {
            if let Some(entry) = entries.get(&l) {
                self.a.bind(*entry);
            }
            // Where masks are kept, nobody waits.
            if self.structured.reconvergence(l).is_none() {
                self.resume_if(l);
            }
        }
        let done = self.done;
        self.a.jmp(done);
    }

    /// All channels of the dispatch are active.
    pub(super) fn all_channels(&mut self) {
        for k in EXEC {
            self.a.kkk(Code::VEX_Kxnorw_kr_kr_kr, k, k, k);
        }
        if self.p.simd() < 32 {
            self.a.kkk(Code::VEX_Kxorw_kr_kr_kr, 2, 2, 2);
        }
        if self.p.simd() < 16 {
            self.a.rri(
                Code::VEX_Kshiftrw_kr_kr_imm8,
                mask_register(1),
                mask_register(1),
                16 - self.p.simd() as i32,
            );
        }
    }

    fn no_channels(&mut self) {
        for k in EXEC {
            self.a.kkk(Code::VEX_Kxorw_kr_kr_kr, k, k, k);
        }
    }

    /// All active channels go ahead to a label, where others may wait on the way.
    fn all_ahead(&mut self, pc: Pc, target: Pc) -> Result<(), Unsupported> {
        let between: Vec<Pc> = self.flow.waiting_labels(pc).take_while(|l| *l < target).collect();
        let to = self.labels[target as usize];
        if between.is_empty() {
            self.a.jmp(to);
            return Ok(());
        }
        if self.wait(target).is_none() {
            return Err("a label where nobody waits");
        }
        let (last, first) = between.split_last().ok_or("no labels")?;
        // Whether anybody is there, and only then do those that come wait.
        if first.len() <= FEW {
            let waits = self.a.label();
            for l in &between {
                let Some(m) = self.wait(*l) else { continue };
                self.a.mi(Code::Cmp_rm32_imm8, m, 0);
                self.a.jump(Code::Jne_rel32_64, waits);
            }
            self.a.jmp(to);
            self.a.bind(waits);
        }
        self.deposit(pc, target, EXEC)?;
        self.no_channels();
        self.lowest(first, Some(*last));
        Ok(())
    }

    /// Spends what a backward branch costs.
    pub(super) fn spend(&mut self, pc: Pc, target: Pc) {
        let cost = pc + 1 - target;
        self.a.mi(Code::Sub_rm64_imm32, Mem::at(CTX, at::BUDGET), cost as i32);
        let entry = self.a.label();
        self.a.jump(Code::Js_rel32_64, entry);
        self.later.push(Later::Expired { pc, entry });
    }

    fn goto(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        let (target, next) = (i.aux, self.labels[pc as usize + 1]);
        let fused = std::mem::take(&mut self.fused);
        let split = i.channels > 1 && (i.pred.offset != 0 || !self.whole(i));
        if !split {
            if self.goes_over_others(pc) {
                return Ok(());
            }
            let mut over = None;
            if i.pred.offset != 0 {
                let cond = if fused {
                    let cmp = self.first_of(self.inst(pc - 1), pc - 1).ok_or("a compare")?;
                    self.scalar_compare(&cmp)?
                } else {
                    if i.channels != 1 {
                        return Err("a branch");
                    }
                    self.test_pred(i)?;
                    Cond::Ne
                };
                let cond = if i.pred.invert { cond.not() } else { cond };
                let clear = target > pc && self.flow.waiting_labels(pc).next().is_none_or(|l| l >= target);
                if clear {
                    let to = self.labels[target as usize];
                    self.a.jump(cond.jump(), to);
                    return Ok(());
                }
                let l = self.a.label();
                self.a.jump(cond.not().jump(), l);
                over = Some(l);
            }
            if target > pc {
                self.all_ahead(pc, target)?;
            } else {
                self.spend(pc, target);
                let to = self.labels[target as usize];
                self.a.jmp(to);
            }
            if let Some(l) = over {
                self.a.bind(l);
            }
            return Ok(());
        }
        if target > pc && self.parts_rarely() && self.all_active(pc) && self.whole(i) && i.channels >= 16 {
            return self.goto_of_all(pc, i, fused);
        }
        if self.narrows_mask(pc, i, fused)? {
            return Ok(());
        }
        self.taken(pc, i, fused)?;
        if target > pc {
            let entry = self.a.label();
            let back = self.goes_apart(pc, target).unwrap_or(next);
            self.a.jump(Code::Jne_rel32_64, entry);
            self.later.push(Later::Taken { pc, entry, back });
            return Ok(());
        }
        self.a.jump(Code::Je_rel32_64, next);
        // The others wait behind the branch.
        for k in 0..2 {
            self.a.kkk(Code::VEX_Kandnw_kr_kr_kr, EXEC[k], TAKEN[k], EXEC[k]);
        }
        self.deposit(pc, pc + 1, EXEC)?;
        for k in 0..2 {
            self.a.kkk(Code::VEX_Korw_kr_kr_kr, EXEC[k], TAKEN[k], TAKEN[k]);
        }
        self.spend(pc, target);
        let to = self.labels[target as usize];
        self.a.jmp(to);
        Ok(())
    }

    /// Do forward branches mostly take all of a thread's channels one way? So they do where a group's threads share work
    /// out among them, each the rows of its own. (Code for AVX2 has masks that are asked in another way.)
    pub(super) fn parts_rarely(&self) -> bool {
        self.takes_turns() && self.level == Level::Avx512
    }

    /// A forward branch that all channels come to: all of them take it, or none, or else they part.
    fn goto_of_all(&mut self, pc: Pc, i: &Inst, fused: bool) -> Result<(), Unsupported> {
        let (target, next) = (i.aux, self.labels[pc as usize + 1]);
        self.predicate(pc, i, fused, false)?;
        match i.channels {
            32 => {
                self.a.kkk(Code::VEX_Kunpckwd_kr_kr_kr, 5, TAKEN[1], TAKEN[0]);
                self.a.kk(Code::VEX_Kortestd_kr_kr, 5, 5);
            }
            _ => self.a.kk(Code::VEX_Kortestw_kr_kr, TAKEN[0], TAKEN[0]),
        }
        // Zero: none has the predicate; carry: all have it.
        let mut ways = [Code::Je_rel32_64, Code::Jae_rel32_64];
        if !i.pred.invert {
            ways = [Code::Jb_rel32_64, Code::Jne_rel32_64];
        }
        let part = self.a.label();
        if self.flow.waiting_labels(pc).next().is_none_or(|l| l >= target) {
            let to = self.labels[target as usize];
            self.a.jump(ways[0], to);
        } else {
            if self.wait(target).is_none() {
                return Err("a label where nobody waits");
            }
            let entry = self.a.label();
            self.a.jump(ways[0], entry);
            self.later.push(Later::AllTaken { pc, entry });
        }
        self.a.jump(ways[1], part);
        self.later.push(Later::Parted { pc, entry: part, back: next });
        Ok(())
    }

    /// Is it one of all channels?
    fn whole(&self, i: &Inst) -> bool {
        u32::from(i.channels) == self.p.simd() && i.first == 0
    }

    /// As [`Emit::taken`], of an instruction of some of the channels.
    fn taken_of_some(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        if i.pred.combine != Combine::None || self.deferred.pred(pc, i.pred.offset).is_some() {
            return Err("a branch by all channels");
        }
        let of = u32::MAX >> (32 - u32::from(i.channels).min(32)) << i.first;
        for h in 0..2 {
            let (k, e, bits) = (mask_register(TAKEN[h]), mask_register(EXEC[h]), of >> (16 * h) & 0xffff);
            if bits == 0 {
                self.a.rrr(Code::VEX_Kxorw_kr_kr_kr, k, k, k);
                continue;
            }
            self.a.ri(Code::Mov_r32_imm32, Register::EAX, bits as i32);
            self.a.rr(Code::VEX_Kmovw_kr_r32, k, Register::EAX);
            self.a.rrr(Code::VEX_Kandw_kr_kr_kr, k, k, e);
            if i.pred.offset == 0 {
                continue;
            }
            let m = self.reg(i.pred.offset + 2 * h as u32);
            self.a.rm(Code::VEX_Kmovw_kr_km16, mask_register(PRED), m);
            match i.pred.invert {
                true => self.a.rrr(Code::VEX_Kandnw_kr_kr_kr, k, mask_register(PRED), k),
                false => self.a.rrr(Code::VEX_Kandw_kr_kr_kr, k, mask_register(PRED), k),
            }
        }
        self.a.kk(Code::VEX_Kortestw_kr_kr, TAKEN[0], TAKEN[1]);
        Ok(())
    }

    /// The active channels that a predicate lets go, in `TAKEN`; the flags say whether there are any.
    pub(super) fn taken(&mut self, pc: Pc, i: &Inst, fused: bool) -> Result<(), Unsupported> {
        if !self.whole(i) {
            return self.taken_of_some(pc, i);
        }
        self.predicate(pc, i, fused, true)?;
        self.a.kk(Code::VEX_Kortestw_kr_kr, 3, 4);
        Ok(())
    }

    /// A branch's predicate in `TAKEN`: `go`: which active channels it lets go; else, of a branch that all channels come to,
    /// as it is, not inverted.
    pub(super) fn predicate(&mut self, pc: Pc, i: &Inst, fused: bool, go: bool) -> Result<(), Unsupported> {
        if i.pred.combine != Combine::None {
            return Err("a branch by all channels");
        }
        if !(8..=32).contains(&i.channels) {
            return Err("a branch of few channels");
        }
        let parts = self.parts(i, 4)?;
        let (all, invert) = (!go || self.all_active(pc), go && i.pred.invert);
        for part in &parts {
            let k = TAKEN[part.index as usize];
            let e = EXEC[part.index as usize];
            if fused {
                let cmp = *self.inst(pc - 1);
                self.compare_part(&cmp, part, k, (!all && !invert).then_some(e))?;
            } else if let Some(chain) = self.deferred.pred(pc, i.pred.offset) {
                self.chain(chain, part, k, (!all && !invert).then_some(e))?;
            } else {
                self.pred(i.pred.offset, part, k)?;
                if go && !invert {
                    self.a.kkk(Code::VEX_Kandw_kr_kr_kr, k, k, e);
                }
            }
            if invert {
                self.a.kkk(Code::VEX_Kandnw_kr_kr_kr, k, k, e);
            }
        }
        for k in TAKEN {
            let asked = go || self.p.simd() == 32 || self.parts_rarely();
            if asked && !parts.iter().any(|p| TAKEN[p.index as usize] == k) {
                self.a.kkk(Code::VEX_Kxorw_kr_kr_kr, k, k, k);
            }
        }
        Ok(())
    }

    fn ret(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        let next = self.labels[pc as usize + 1];
        self.fused = false;
        let labels: Vec<Pc> = self.flow.waiting_labels(pc).collect();
        if self.cells.are_shared() {
            self.hand_over();
        }
        if i.channels > 1 && (i.pred.offset != 0 || !self.whole(i)) {
            self.taken(pc, i, false)?;
            for k in 0..2 {
                self.a.kkk(Code::VEX_Kandnw_kr_kr_kr, EXEC[k], TAKEN[k], EXEC[k]);
            }
            self.a.kk(Code::VEX_Kortestw_kr_kr, 1, 2);
            self.a.jump(Code::Jne_rel32_64, next);
        } else if i.pred.offset != 0 {
            self.test_pred(i)?;
            self.a.jump(if i.pred.invert { Code::Jne_rel32_64 } else { Code::Je_rel32_64 }, next);
        }
        if !labels.is_empty() {
            self.no_channels();
        }
        self.lowest(&labels, None);
        Ok(())
    }

    /// What is put behind the code.
    ///
    /// # Errors
    /// There can be no such code.
    pub(super) fn put_later(&mut self, l: Later) -> Result<(), String> {
        match l {
            Later::Apart(all) => return self.put_apart(all),
            Later::Miss { pc, entry, back } => {
                self.a.bind(entry);
                self.call(pc);
                self.a.jmp(back);
            }
            Later::Stop { pc, entry, back } => self.stop_at(pc, entry, back),
            Later::NarrowRow { row, entry, back } => {
                let missed = self.put_missed_row(row, entry, back);
                missed.map_err(|why| format!("instruction {}: {why}", row.last()))?;
            }
            Later::Edge { place, entry, back, miss } => {
                self.a.bind(entry);
                self.edge(&place, back, miss);
            }
            Later::Taken { pc, entry, back } => {
                self.a.bind(entry);
                let target = self.inst(pc).aux;
                for k in 0..2 {
                    self.a.kkk(Code::VEX_Kandnw_kr_kr_kr, EXEC[k], TAKEN[k], EXEC[k]);
                }
                let all = self.a.label();
                self.a.kk(Code::VEX_Kortestw_kr_kr, 1, 2);
                self.a.jump(Code::Je_rel32_64, all);
                let some = self.deposit(pc, target, TAKEN);
                self.a.jmp(back);
                // All of them: they need not wait for anybody, and go there as they are.
                self.a.bind(all);
                for k in 0..2 {
                    self.a.kkk(Code::VEX_Korw_kr_kr_kr, EXEC[k], TAKEN[k], TAKEN[k]);
                }
                if some.and_then(|()| self.all_ahead(pc, target)).is_err() {
                    self.a.op0(Code::Ud2);
                }
            }
            Later::Narrowed { pc, entry, back } => {
                self.a.bind(entry);
                self.jump_to_masked_code(pc, back);
            }
            Later::Parted { pc, entry, back } => {
                self.a.bind(entry);
                let i = *self.inst(pc);
                // All were active: those that stay have the predicate, or have it not.
                for (k, e) in TAKEN.into_iter().zip(EXEC) {
                    if i.pred.invert {
                        self.a.kkk(Code::VEX_Kandnw_kr_kr_kr, 5, k, e);
                        self.a.kkk(Code::VEX_Kandw_kr_kr_kr, e, k, e);
                        self.a.kkk(Code::VEX_Korw_kr_kr_kr, k, 5, 5);
                    } else {
                        self.a.kkk(Code::VEX_Kandnw_kr_kr_kr, e, k, e);
                    }
                }
                if self.deposit(pc, i.aux, TAKEN).is_err() {
                    self.a.op0(Code::Ud2);
                }
                self.a.jmp(back);
            }
            Later::AllTaken { pc, entry } => {
                self.a.bind(entry);
                if self.all_ahead(pc, self.inst(pc).aux).is_err() {
                    self.a.op0(Code::Ud2);
                }
            }
            Later::FirstOfRow { place, row, last, farther, entry, back } => {
                self.a.bind(entry);
                self.first_of_row(place, row, last, farther);
                self.a.jmp(back);
            }
            Later::Joined { wait, entry, back } => {
                self.a.bind(entry);
                self.all_channels();
                self.a.mi(Code::Mov_rm32_imm32, wait, 0);
                self.a.jmp(back);
            }
            Later::Expired { pc, entry } => {
                self.a.bind(entry);
                self.tell_turn();
                let target = self.inst(pc).aux;
                self.a.mi(Code::Mov_rm32_imm32, Mem::at(CTX, at::PC), pc as i32);
                if self.together {
                    self.spill_all(target);
                    let k = self.resumption(target);
                    self.a.mi(Code::Mov_rm32_imm32, Mem::at(CTX, at::RESUME), k as i32);
                    self.store_exec();
                } else {
                    // Alone: it asks, and goes on.
                    let live: Vec<CellId> = self.live.cells(target).collect();
                    live.into_iter().for_each(|c| self.want(c));
                    self.call_stub(pc | RENEW);
                    let (to, out) = (self.labels[target as usize], self.out);
                    self.a.jump(Code::Je_rel32_64, to);
                    self.a.jmp(out);
                    return Ok(());
                }
                self.a.ri(Code::Mov_r32_imm32, Register::EAX, exit::EXPIRED);
                self.exit();
            }
        }
        Ok(())
    }

    /// An instruction of the machine's at which the thread may wait, whichever channels are active.
    pub(super) fn suspending(&mut self, pc: Pc) -> Result<(), Unsupported> {
        let next = if self.inst(pc).op == Op::Dpasw { pc } else { pc + 1 };
        self.spill_all(next);
        let k = self.resumption(next);
        self.a.mi(Code::Mov_rm32_imm32, Mem::at(CTX, at::RESUME), k as i32);
        self.call(pc);
        self.slow.push((pc, if self.stops.is_empty() { "it may wait" } else { "an observer is told of it" }));
        Ok(())
    }

    /// `%ce0`.
    pub(super) fn channel_enables(&mut self, pc: Pc) -> Result<(), Unsupported> {
        let Dst::Reg { offset, .. } = self.inst(pc).dst else { return Err("a destination") };
        self.a.kkk(Code::VEX_Kunpckwd_kr_kr_kr, 0, 2, 1);
        let m = self.reg(offset);
        self.a.mr(Code::VEX_Kmovd_m32_kr, m, mask_register(0));
        Ok(())
    }
}
