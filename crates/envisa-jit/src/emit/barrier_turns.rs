//! Threads of a group that wait for each other at barriers, taking turns: each runs to its next barrier or to its
//! end, then the next one does. The machine has no part in that unless something else happens.

use std::collections::BTreeSet;

use super::*;
use crate::context_layout::{record, state, together};
use crate::fast_maps::Map;

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
        self.a.mi(Code::Cmp_rm32_imm8, Mem::at(CTX, at::TOGETHER), together::SINGLE as i32);
        self.a.jump(Code::Je_rel32_64, to);
    }

    /// Where the code begins, and where turns do.
    pub(super) fn enter_turns(&mut self) {
        let [single, begin, start, each, set, known] = std::array::from_fn(|_| self.a.label());
        let [records, end] = [at::RECORDS, at::RECORDS_END].map(|f| Mem::at(CTX, f));
        self.a.rm(Code::Mov_r64_rm64, RECORD, records);
        self.if_single(single);
        // Nor do any when a thread ends, or where it waits: those are in its record then.
        self.no_waits();
        if self.keeps_channels() {
            self.all_channels();
        }
        // The first time, the host did not know where threads start.
        let (how, to, told) =
            (self.field(record::RESUME), self.field(record::RESUME_AT), Mem::at(CTX, at::START));
        self.a.address(Register::RAX, start);
        self.a.rm(Code::Cmp_r64_rm64, Register::RAX, told);
        self.a.jump(Code::Je_rel32_64, known);
        self.a.mr(Code::Mov_rm64_r64, told, Register::RAX);
        self.a.bind(each);
        self.a.mi(Code::Cmp_rm32_imm8, how, state::NEW as i32);
        self.a.jump(Code::Jne_rel32_64, set);
        self.a.mr(Code::Mov_rm64_r64, to, Register::RAX);
        self.a.bind(set);
        self.a.ri(Code::Add_rm64_imm32, RECORD, self.record_bytes() as i32);
        self.a.rm(Code::Cmp_r64_rm64, RECORD, end);
        self.a.jump(Code::Jb_rel32_64, each);
        self.a.rm(Code::Mov_r64_rm64, RECORD, records);
        self.a.bind(known);
        self.a.jmp(begin);
        // The turn of one is over.
        let (turn, over) = (self.turn, self.over);
        self.a.bind(turn);
        self.a.ri(Code::Add_rm64_imm32, RECORD, self.record_bytes() as i32);
        self.a.rm(Code::Cmp_r64_rm64, RECORD, end);
        self.a.jump(Code::Jae_rel32_64, over);
        self.a.bind(begin);
        if self.loops() {
            let left = self.field(record::LEFT);
            let turn = Mem::at(CTX, at::TURN);
            self.a.rm(Code::Mov_r64_rm64, Register::RDX, left);
            self.a.rm(Code::Cmp_r64_rm64, Register::RDX, turn);
            self.a.rm(Code::Cmova_r64_rm64, Register::RDX, turn);
            self.a.mr(Code::Mov_rm64_r64, Mem::at(CTX, at::BUDGET), Register::RDX);
            self.a.mr(Code::Mov_rm64_r64, Mem::at(CTX, at::SEGMENT), Register::RDX);
        }
        self.a.m(Code::Jmp_rm64, to);
        self.a.bind(start);
        self.resumed = Some(start);
        self.own_registers();
        let next = self.next;
        self.a.jmp(next);
        // All have had theirs.
        self.a.bind(over);
        let (paused, mixed, out) = (self.a.label(), self.a.label(), self.out);
        self.a.rm(Code::Mov_r64_rm64, RECORD, records);
        self.a.rr(Code::Xor_r32_rm32, Register::EAX, Register::EAX);
        self.a.rm(Code::Mov_r32_rm32, Register::EDX, Mem::at(CTX, at::ENDED));
        self.a.rr(Code::Test_rm32_r32, Register::EDX, Register::EDX);
        self.a.jump(Code::Jne_rel32_64, mixed);
        let cost = self.flow.end().max(1) as i32;
        self.a.mi(Code::Sub_rm64_imm32, Mem::at(CTX, at::LEFT), cost);
        self.a.jump(Code::Jns_rel32_64, begin);
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

    /// The register file is that of the thread whose turn it is.
    fn own_registers(&mut self) {
        let registers = self.field(record::REGISTERS);
        self.a.rm(Code::Mov_r64_rm64, REGS, registers);
    }

    /// A thread is at a barrier, behind which it goes on when it is its turn again: at once, if it is the only one of its
    /// group. `single`: what ends the run of a thread that runs by itself.
    pub(super) fn turn_ends(&mut self, barrier: Pc, single: impl FnOnce(&mut Self)) {
        let next = barrier + 1;
        let [other, over, resume] = std::array::from_fn(|_| self.a.label());
        self.a.mi(Code::Cmp_rm32_imm8, Mem::at(CTX, at::TOGETHER), together::ALONE as i32);
        self.a.jump(Code::Jbe_rel32_64, other);
        let cells: Vec<CellId> = self.live.cells(next).collect();
        for c in &cells {
            // Memory has what nothing wrote since the barrier before, and first elements.
            if self.shapes.plain(*c) && self.changed.has(barrier, *c) {
                self.spill(*c);
            }
            self.want(*c);
        }
        self.a.address(Register::RAX, resume);
        let k = self.resumption(next);
        let [at, number, exec] = [record::RESUME_AT, record::RESUME, record::EXEC].map(|f| self.field(f));
        self.a.mr(Code::Mov_rm64_r64, at, Register::RAX);
        self.a.mi(Code::Mov_rm32_imm32, number, k as i32);
        if !self.all_active(next) {
            self.a.kkk(Code::VEX_Kunpckwd_kr_kr_kr, 0, EXEC[1], EXEC[0]);
            self.a.mr(Code::VEX_Kmovd_m32_kr, exec, mask_register(0));
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
        self.next_turn();
        self.a.bind(other);
        self.a.jump(Code::Je_rel32_64, over);
        single(self);
        self.a.bind(resume);
        self.resumed = Some(resume);
        self.own_registers();
        if self.keeps_channels() {
            // They are still all active.
        } else if self.all_active(next) {
            self.all_channels();
        } else {
            self.a.rm(Code::VEX_Kmovd_kr_km32, mask_register(0), exec);
            self.a.kkk(Code::VEX_Korw_kr_kr_kr, EXEC[0], 0, 0);
            self.a.rri(Code::VEX_Kshiftrd_kr_kr_imm8, mask_register(EXEC[1]), mask_register(0), 16);
        }
        for (to, from) in self.waits_of(next) {
            self.a.rm(Code::Mov_r32_rm32, Register::EAX, from);
            self.a.mr(Code::Mov_rm32_r32, to, Register::EAX);
        }
        cells.into_iter().for_each(|c| self.reload(c));
        self.a.bind(over);
    }

    /// What this turn took, in `rax`; the row has less left.
    fn spent(&mut self) {
        self.a.rm(Code::Mov_r64_rm64, Register::RAX, Mem::at(CTX, at::SEGMENT));
        self.a.rm(Code::Sub_r64_rm64, Register::RAX, Mem::at(CTX, at::BUDGET));
        self.a.mr(Code::Sub_rm64_r64, Mem::at(CTX, at::LEFT), Register::RAX);
    }

    /// Where channels may wait at an instruction: in the context, and in the thread's record.
    fn waits_of(&self, pc: Pc) -> Vec<(Mem, Mem)> {
        let at = self.flow.waiting_labels(pc).filter_map(|l| self.waits.get(&l));
        at.map(|at| (Mem::at(CTX, *at), self.field(record::WAITS + at - at::WAITS))).collect()
    }

    /// A thread ended.
    pub(super) fn thread_ends(&mut self) {
        let single = self.a.label();
        self.if_single(single);
        let how = self.field(record::RESUME);
        self.a.mi(Code::Mov_rm32_imm32, how, state::ENDED as i32);
        self.a.mi(Code::Add_rm32_imm32, Mem::at(CTX, at::ENDED), 1);
        if self.loops() {
            self.spent();
        }
        if self.keeps_channels() {
            self.all_channels();
        }
        self.next_turn();
        self.a.bind(single);
    }

    /// The turn of a thread is over: that of the next one begins. In each place by a jump of its own, as CPUs tell by that
    /// where it goes; but not where what it may spend is to be set first.
    fn next_turn(&mut self) {
        let (turn, over) = (self.turn, self.over);
        if self.loops() {
            self.a.jmp(turn);
            return;
        }
        self.a.ri(Code::Add_rm64_imm32, RECORD, self.record_bytes() as i32);
        self.a.rm(Code::Cmp_r64_rm64, RECORD, Mem::at(CTX, at::RECORDS_END));
        self.a.jump(Code::Jae_rel32_64, over);
        let to = self.field(record::RESUME_AT);
        if let Some(same) = self.resumed {
            self.a.address(Register::RDX, same);
            self.a.rm(Code::Cmp_r64_rm64, Register::RDX, to);
            self.a.jump(Code::Je_rel32_64, same);
        }
        self.a.m(Code::Jmp_rm64, to);
    }

    /// Are all channels active in every turn's beginning and end? The masks stay as they are from turn to turn then. (In
    /// code for AVX2 it costs nothing to say it each time, and tells what is known of them.)
    pub(super) fn keeps_channels(&self) -> bool {
        self.takes_turns() && self.keeps_channels
    }

    /// The host is to see whose turn it is, if they take any. `rcx` may be overwritten.
    pub(super) fn tell_turn(&mut self) {
        if !self.takes_turns() {
            return;
        }
        let single = self.a.label();
        self.if_single(single);
        let index = self.index();
        self.a.rm(Code::Mov_r32_rm32, Register::ECX, index);
        self.a.mr(Code::Mov_rm32_r32, Mem::at(CTX, at::INDEX), Register::ECX);
        self.a.bind(single);
    }

    /// Where the index of a thread that starts is.
    pub(super) fn index(&self) -> Mem {
        if self.takes_turns() { self.field(record::INDEX) } else { Mem::at(CTX, at::INDEX) }
    }
}

/// Of each barrier, the cells that may have been written since the one before it, or since the start.
#[derive(Default)]
pub(super) struct Changed {
    /// The cells that anybody asks for: those that are wanted behind a barrier.
    number: Map<CellId, usize>,
    /// By barrier: a bit for each of them.
    barriers: Map<Pc, Vec<u64>>,
}

/// Words of bits for all blocks together, beyond which anything may have been written.
const MOST: usize = 1 << 22;

impl Changed {
    pub fn new(p: &Program, flow: &Flow, cells: &Cells, live: &Liveness) -> Changed {
        let barrier = |pc: Pc| p.code()[pc as usize].op == Op::Barrier;
        let mut all = Changed::default();
        for pc in (0..flow.end()).filter(|pc| flow.is_reachable(*pc) && barrier(*pc)) {
            for c in live.cells(pc + 1) {
                let next = all.number.len();
                all.number.entry(c).or_insert(next);
            }
        }
        let ends = crate::deferred::block_ends(p, flow);
        let mut starts: Vec<Pc> = ends.clone();
        starts.insert(0, 0);
        starts.pop();
        starts.dedup();
        let width = all.number.len().div_ceil(64);
        if width == 0 || width * starts.len() > MOST {
            return Changed::default();
        }
        // By block, what may have been written when the thread comes there. What the launch gives is in memory at the
        // start.
        let mut rows: Vec<Option<Vec<u64>>> = vec![None; starts.len()];
        let mut first = vec![0; width];
        cells.iter().filter(|(_, c)| !c.input).for_each(|(id, _)| all.put(&mut first, id));
        rows[0] = Some(first);
        let mut work = BTreeSet::from([0]);
        while let Some(b) = work.pop_first() {
            let Some(mut now) = rows[b].clone() else { continue };
            let last = ends[starts[b] as usize] - 1;
            for pc in starts[b]..=last {
                cells.accesses(p.parts(), pc, &mut |a| {
                    if a.write {
                        all.put(&mut now, a.cell);
                    }
                });
            }
            if barrier(last) {
                all.barriers.insert(last, std::mem::replace(&mut now, vec![0; width]));
            }
            for to in flow.successors(p.parts(), last) {
                let Ok(to) = starts.binary_search(&to) else { continue };
                let news = match &mut rows[to] {
                    Some(known) => known.iter_mut().zip(&now).fold(false, |news, (k, n)| {
                        let more = *n & !*k != 0;
                        *k |= n;
                        news | more
                    }),
                    none => {
                        *none = Some(now.clone());
                        true
                    }
                };
                if news {
                    work.insert(to);
                }
            }
        }
        all
    }

    fn put(&self, row: &mut [u64], c: CellId) {
        if let Some(k) = self.number.get(&c) {
            row[k / 64] |= 1 << (k % 64);
        }
    }

    /// May a cell that is wanted behind a barrier have been written since the barrier before this one, or since the start?
    fn has(&self, barrier: Pc, c: CellId) -> bool {
        match (self.barriers.get(&barrier), self.number.get(&c)) {
            (Some(row), Some(k)) => row[k / 64] >> (k % 64) & 1 != 0,
            _ => true,
        }
    }
}
