//! Calls of the machine's own code, and of functions.

use super::*;
use envisa_machine::local_shadow::Noted;

impl<'a> Emit<'a> {
    /// Code that stops at instructions for an observer.
    /// Those that are noted go on if nothing has to be looked at.
    pub fn stopping_at(self, stops: &'a [bool], noted: &'a Noted) -> Emit<'a> {
        let blocks = crate::deferred::blocks_between(self.p, self.flow, stops);
        let (streams, lines, rows) = Default::default();
        let row_caches = RowCaches::default();
        let noted = Some(noted);
        Emit { stops, noted, blocks, streams, row_caches, lines, rows, keeps_channels: false, ..self }
    }
}

impl Emit<'_> {
    /// A vector that is kept as its first element.
    pub fn spread(&mut self, to: V, w: Width, first: First) {
        let m = self.reg(first.at);
        self.a.v2(VPBROADCASTD, w, to, Opd::Mem(m), Lanes::All);
        self.ramp(to, w, first.plus, first.step);
    }

    /// Adds so much to the first element, and to each next one so much that it is a step apart from the one before.
    pub fn ramp(&mut self, to: V, w: Width, plus: i32, step: i32) {
        if (plus, step) != (0, 0) {
            let ramp =
                std::array::from_fn(|i| (plus as u32).wrapping_add((step as u32).wrapping_mul(i as u32)));
            let ramp = self.literals(ramp);
            self.a.v3(VPADDD, w, to, to, Opd::Mem(ramp), Lanes::All);
        }
    }

    /// Calls the machine's own code for an instruction, with its operands where it looks for them.
    pub fn call(&mut self, pc: Pc) {
        let mut load = Vec::new();
        let mut stored = Vec::new();
        self.cells.accesses(self.p.parts(), pc, &mut |a| {
            if a.write && !load.contains(&a.cell) {
                load.push(a.cell);
            }
            if (!a.write || self.live.of_thread(pc, a.cell)) && !stored.contains(&a.cell) {
                stored.push(a.cell);
            }
        });
        for c in stored {
            self.spill(c);
            self.want(c);
        }
        self.clear_zero_halves(pc);
        self.call_stub(pc);
        let stop = self.leave;
        self.a.jump(Code::Jne_rel32_64, stop);
        load.into_iter().for_each(|c| self.reload(c));
        self.forget_streams_of(pc);
    }

    /// Upper halves of a message's index that have no code are zero for the machine.
    fn clear_zero_halves(&mut self, pc: Pc) {
        let ranges = self.zero_halves.map_or(&[][..], |z| z.zeros(pc));
        for range in ranges {
            let (bytes, code) = match range.len() % 8 {
                0 => (8, Code::Mov_rm64_imm32),
                _ => (4, Code::Mov_rm32_imm32),
            };
            for at in range.clone().step_by(bytes) {
                let m = self.reg(at);
                self.a.mi(code, m, 0);
            }
        }
    }

    /// Leaves for the engine, which calls a function or subroutine; the thread goes on behind it when that has returned.
    pub(super) fn function(&mut self, pc: Pc) -> Result<(), Unsupported> {
        self.hand_over();
        let i = self.inst(pc);
        if i.op == Op::Call {
            // Where it is entered.
            self.resumption(i.aux);
        }
        let k = self.resumption(pc + 1);
        self.a.mi(Code::Mov_rm32_imm32, Mem::at(CTX, at::RESUME), k as i32);
        self.a.mi(Code::Mov_rm32_imm32, Mem::at(CTX, at::PC), pc as i32);
        self.store_exec();
        self.a.ri(Code::Mov_r32_imm32, Register::EAX, exit::CALL);
        self.exit();
        Ok(())
    }

    /// Puts all cells where other functions find them: all of them are wanted there.
    pub(super) fn hand_over(&mut self) {
        for c in 0..self.cells.len() as CellId {
            self.spill(c);
            self.want(c);
        }
    }

    /// Calls the stub; the flags say whether to go on.
    pub fn call_stub(&mut self, number: u32) {
        if self.level == Level::Avx2 {
            // The stub does not know where the mask is.
            self.store_exec();
        }
        self.a.ri(Code::Mov_r32_imm32, Register::EAX, number as i32);
        self.want_shared();
        let stub = self.stub;
        self.a.jump(Code::Call_rel32_64, stub);
        self.a.rr(Code::Test_rm32_r32, Register::EAX, Register::EAX);
    }

    /// Puts a cell where the machine looks for it.
    pub fn spill(&mut self, c: CellId) {
        let cell = *self.cells.get(c);
        if self.place_in_payload(cell.offset).is_some() {
            // The machine brings it.
        } else if let Some(first) = self.first(cell.offset) {
            self.spread(0, Width::Z, first);
            self.a.store(STORE32, Width::Z, self.reg(cell.offset), 0, Lanes::All);
        } else if let Some(twin) = self.twin(cell.offset) {
            let from = self.of_twin(twin, 0);
            let v = self.whole_in_register(from, 0);
            self.a.store(STORE32, Width::Z, self.reg(cell.offset), v, Lanes::All);
        } else if let Some(v) = self.alloc.vector(c) {
            self.a.store(STORE32, Width::of(cell.bytes), self.reg(cell.offset), v, Lanes::All);
        }
    }

    /// The next instruction wants a cell to be in memory.
    pub fn want(&mut self, c: CellId) {
        let cell = self.cells.get(c);
        self.a.want(cell.offset..cell.offset + cell.bytes);
        if let Some(first) = self.first(cell.offset) {
            self.a.want(first.at..first.at + 4);
        }
        if let Some((first, _)) = self.twin(cell.offset) {
            self.a.want(first..first + 64);
        }
    }

    /// The machine is about to look at the registers that it has a part in.
    pub(super) fn want_shared(&mut self) {
        if !self.together {
            self.a.want(0..self.p.registers().locals_start);
        }
    }

    /// Takes a cell from where the machine keeps it.
    pub fn reload(&mut self, c: CellId) {
        let cell = *self.cells.get(c);
        if let (Some(v), Some(first)) = (self.alloc.vector(c), self.first(cell.offset)) {
            self.spread(v, Width::Z, first);
        } else if let Some(v) = self.alloc.vector(c) {
            self.a.v2(VMOVDQU32, Width::of(cell.bytes), v, Opd::Mem(self.reg(cell.offset)), Lanes::All);
        }
    }

    /// The active channels as the host sees them.
    pub fn store_exec(&mut self) {
        self.a.kkk(Code::VEX_Kunpckwd_kr_kr_kr, 0, EXEC[1], EXEC[0]);
        self.a.mr(Code::VEX_Kmovd_m32_kr, Mem::at(CTX, at::EXEC), mask_register(0));
    }

    pub(super) fn load_exec(&mut self) {
        self.channels_at(at::EXEC);
    }

    /// The active channels are those that the context has there.
    pub(super) fn channels_at(&mut self, field: u32) {
        self.a.rm(Code::VEX_Kmovd_kr_km32, mask_register(0), Mem::at(CTX, field));
        self.a.kkk(Code::VEX_Korw_kr_kr_kr, EXEC[0], 0, 0);
        self.a.rri(Code::VEX_Kshiftrd_kr_kr_imm8, mask_register(EXEC[1]), mask_register(0), 16);
    }

    /// Calls the machine for the instruction in `eax`, all registers saved.
    pub(super) fn write_stub(&mut self) {
        let stub = self.stub;
        self.a.bind(stub);
        let used: Vec<(Mem, V)> = match self.level {
            Level::Avx2 => (0..16).map(|v| (Mem::at(CTX, at::VECTORS + 32 * u32::from(v)), v)).collect(),
            Level::Avx512 => {
                let all = self.alloc.used().into_iter();
                all.map(|v| (Mem::at(CTX, at::VECTORS + 64 * u32::from(v)), v)).collect()
            }
        };
        for (m, v) in &used {
            match self.level {
                Level::Avx2 => self.a.mr(Code::VEX_Vmovups_ymmm256_ymm, *m, vector_register(*v, Width::Y)),
                Level::Avx512 => self.a.store(STORE32, Width::Z, *m, *v, Lanes::All),
            }
        }
        if self.level == Level::Avx512 {
            self.store_exec();
        }
        self.tell_turn();
        self.a.ri(Code::Sub_rm64_imm32, Register::RSP, 8);
        self.a.rr(Code::Mov_r64_rm64, Register::RDI, CTX);
        self.a.rr(Code::Mov_r32_rm32, Register::ESI, Register::EAX);
        self.a.op0(Code::VEX_Vzeroupper);
        self.a.m(Code::Call_rm64, Mem::at(CTX, at::CALL));
        self.a.ri(Code::Add_rm64_imm32, Register::RSP, 8);
        for (m, v) in &used {
            match self.level {
                Level::Avx2 => self.a.rm(Code::VEX_Vmovups_ymm_ymmm256, vector_register(*v, Width::Y), *m),
                Level::Avx512 => self.a.v2(VMOVDQU32, Width::Z, *v, Opd::Mem(*m), Lanes::All),
            }
        }
        if self.level == Level::Avx512 {
            self.load_exec();
        }
        self.a.op0(Code::Retnq);
    }
}
