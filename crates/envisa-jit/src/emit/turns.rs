//! Threads of a group that wait for each other at barriers, taking turns: each runs to its next barrier or to its
//! end, then the next one does. The machine has no part in that unless something else happens.

use super::*;
use crate::layout::{record, state};

/// The record of the thread whose turn it is.
const RECORD: Register = Register::R13;

impl Emit<'_> {
    /// Does the code start threads that are alive together, and let them take turns? It can also run single threads
    /// of such a group, as [`at::TOGETHER`] says.
    pub(super) fn takes_turns(&self) -> bool {
        self.together && self.start.is_some()
    }

    /// Bytes of a thread's record.
    pub(super) fn record_bytes(&self) -> u32 {
        (record::WAITS + 4 * self.waits.len() as u32).next_multiple_of(64)
    }

    fn field(&self, at: u32) -> Mem {
        Mem::at(RECORD, at)
    }

    /// Jumps to a label if a single thread runs.
    fn if_single(&mut self, to: Label) {
        self.a.mi(Code::Cmp_rm32_imm8, Mem::at(CTX, at::TOGETHER), 0);
        self.a.jump(Code::Je_rel32_64, to);
    }

    /// Where the code begins, and where turns do.
    pub(super) fn enter_turns(&mut self) {
        let [single, next, over] = std::array::from_fn(|_| self.a.label());
        self.a.rm(Code::Mov_r64_rm64, RECORD, Mem::at(CTX, at::RECORDS));
        self.if_single(single);
        let begin = self.a.label();
        self.a.jmp(begin);
        // The turn of one is over.
        let turn = self.turn;
        self.a.bind(turn);
        let index = Mem::at(CTX, at::INDEX);
        self.a.rm(Code::Mov_r32_rm32, Register::EAX, index);
        self.a.ri(Code::Add_rm32_imm8, Register::EAX, 1);
        self.a.ri(Code::Add_rm64_imm32, RECORD, self.record_bytes() as i32);
        self.a.rm(Code::Cmp_r32_rm32, Register::EAX, Mem::at(CTX, at::THREADS));
        self.a.jump(Code::Jae_rel32_64, over);
        self.a.bind(next);
        self.a.mr(Code::Mov_rm32_r32, index, Register::EAX);
        self.a.bind(begin);
        let registers = self.field(record::REGISTERS);
        self.a.rm(Code::Mov_r64_rm64, REGS, registers);
        if self.loops() {
            let left = self.field(record::LEFT);
            let turn = Mem::at(CTX, at::TURN);
            self.a.rm(Code::Mov_r64_rm64, Register::RDX, left);
            self.a.rm(Code::Cmp_r64_rm64, Register::RDX, turn);
            self.a.rm(Code::Cmova_r64_rm64, Register::RDX, turn);
            self.a.mr(Code::Mov_rm64_r64, Mem::at(CTX, at::BUDGET), Register::RDX);
            self.a.mr(Code::Mov_rm64_r64, Mem::at(CTX, at::SEGMENT), Register::RDX);
        }
        let (how, to, start) = (self.field(record::STATE), self.field(record::RESUME_AT), self.next);
        self.a.mi(Code::Cmp_rm32_imm8, how, state::NEW as i32);
        self.a.jump(Code::Je_rel32_64, start);
        self.a.m(Code::Jmp_rm64, to);
        // All have had theirs.
        self.a.bind(over);
        let (paused, mixed, out) = (self.a.label(), self.a.label(), self.out);
        self.a.rm(Code::Mov_r64_rm64, RECORD, Mem::at(CTX, at::RECORDS));
        self.a.rr(Code::Xor_r32_rm32, Register::EAX, Register::EAX);
        self.a.mr(Code::Mov_rm32_r32, index, Register::EAX);
        self.a.rm(Code::Mov_r32_rm32, Register::EDX, Mem::at(CTX, at::ENDED));
        self.a.rr(Code::Test_rm32_r32, Register::EDX, Register::EDX);
        self.a.jump(Code::Jne_rel32_64, mixed);
        let cost = self.flow.end().max(1) as i32;
        self.a.mi(Code::Sub_rm64_imm32, Mem::at(CTX, at::LEFT), cost);
        self.a.jump(Code::Jns_rel32_64, next);
        self.a.bind(paused);
        self.a.ri(Code::Mov_r32_imm32, Register::EAX, exit::PAUSED);
        self.a.jmp(out);
        self.a.bind(mixed);
        // `eax` is that all are done.
        self.a.rm(Code::Cmp_r32_rm32, Register::EDX, Mem::at(CTX, at::THREADS));
        self.a.jump(Code::Je_rel32_64, out);
        self.a.ri(Code::Mov_r32_imm32, Register::EAX, exit::MIXED);
        self.a.jmp(out);
        self.a.bind(single);
    }

    /// A thread is at a barrier: if it is the only one of its group, it goes on at this label.
    pub(super) fn turn_ends_alone(&mut self, _: Pc) -> Label {
        let over = self.a.label();
        self.a.mi(Code::Cmp_rm32_imm8, Mem::at(CTX, at::THREADS), 1);
        self.a.jump(Code::Je_rel32_64, over);
        over
    }

    /// A thread is at a barrier, and goes on at this instruction when it is its turn again. What is wanted then is in
    /// the register file.
    pub(super) fn turn_ends(&mut self, next: Pc) {
        let single = self.a.label();
        self.if_single(single);
        let resume = self.a.label();
        self.turns.push((next, resume));
        self.a.address(Register::RAX, resume);
        let k = self.resumption(next);
        let [at, number, pc, how, exec] =
            [record::RESUME_AT, record::RESUME, record::PC, record::STATE, record::EXEC]
                .map(|f| self.field(f));
        self.a.mr(Code::Mov_rm64_r64, at, Register::RAX);
        self.a.mi(Code::Mov_rm32_imm32, number, k as i32);
        self.a.mi(Code::Mov_rm32_imm32, pc, next as i32);
        self.a.mi(Code::Mov_rm32_imm32, how, state::BARRIER as i32);
        if self.all_active(next) {
            let all = u64::from(u32::MAX) >> (32 - self.p.simd().min(32));
            self.a.mi(Code::Mov_rm32_imm32, exec, all as u32 as i32);
        } else {
            self.a.rrr(Code::VEX_Kunpckwd_kr_kr_kr, kreg(0), kreg(EXEC[1]), kreg(EXEC[0]));
            self.a.mr(Code::VEX_Kmovd_m32_kr, exec, kreg(0));
        }
        for (from, to) in self.waits_of(next) {
            self.a.rm(Code::Mov_r32_rm32, Register::EAX, from);
            self.a.mr(Code::Mov_rm32_r32, to, Register::EAX);
            self.a.mi(Code::Mov_rm32_imm32, from, 0);
        }
        if self.loops() {
            self.spent();
            let left = self.field(record::LEFT);
            self.a.mr(Code::Sub_rm64_r64, left, Register::RAX);
        }
        let turn = self.turn;
        self.a.jmp(turn);
        self.a.bind(single);
    }

    /// What this turn took, in `rax`; the row has less left.
    fn spent(&mut self) {
        self.a.rm(Code::Mov_r64_rm64, Register::RAX, Mem::at(CTX, at::SEGMENT));
        self.a.rm(Code::Sub_r64_rm64, Register::RAX, Mem::at(CTX, at::BUDGET));
        self.a.mr(Code::Sub_rm64_r64, Mem::at(CTX, at::LEFT), Register::RAX);
    }

    /// Where channels may wait at an instruction: in the context, and in the thread's record.
    fn waits_of(&self, pc: Pc) -> Vec<(Mem, Mem)> {
        let at = self.flow.waiting(pc).filter_map(|l| self.waits.get(&l));
        at.map(|at| (Mem::at(CTX, *at), self.field(record::WAITS + at - at::WAITS))).collect()
    }

    /// Where threads go on whose turn it is again.
    pub(super) fn turn_points(&mut self) {
        for (pc, resume) in std::mem::take(&mut self.turns) {
            self.a.bind(resume);
            if self.all_active(pc) {
                self.all_channels();
            } else {
                let exec = self.field(record::EXEC);
                self.a.rm(Code::VEX_Kmovd_kr_km32, kreg(0), exec);
                self.a.rrr(Code::VEX_Korw_kr_kr_kr, kreg(EXEC[0]), kreg(0), kreg(0));
                self.a.rri(Code::VEX_Kshiftrd_kr_kr_imm8, kreg(EXEC[1]), kreg(0), 16);
            }
            for (to, from) in self.waits_of(pc) {
                self.a.rm(Code::Mov_r32_rm32, Register::EAX, from);
                self.a.mr(Code::Mov_rm32_r32, to, Register::EAX);
            }
            let cells: Vec<CellId> = self.live.cells(pc).collect();
            cells.into_iter().for_each(|c| self.reload(c));
            let to = self.labels[pc as usize];
            self.a.jmp(to);
        }
    }

    /// A thread ended.
    pub(super) fn thread_ends(&mut self) {
        let single = self.a.label();
        self.if_single(single);
        let how = self.field(record::STATE);
        self.a.mi(Code::Mov_rm32_imm32, how, state::ENDED as i32);
        self.a.mi(Code::Add_rm32_imm32, Mem::at(CTX, at::ENDED), 1);
        if self.loops() {
            self.spent();
        }
        let turn = self.turn;
        self.a.jmp(turn);
        self.a.bind(single);
    }
}
