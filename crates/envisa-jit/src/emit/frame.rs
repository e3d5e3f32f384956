//! How code begins, where it goes on after the machine ran, and how it returns.

use envisa_lower::analysis::Cell;

use super::*;

impl Emit<'_> {
    /// The number of a resumption at an instruction.
    pub fn resumption(&mut self, pc: Pc) -> u32 {
        let (a, all) = (&mut self.a, &mut self.resumptions);
        *self.resumption_at.entry(pc).or_insert_with(|| {
            all.push((pc, a.label()));
            all.len() as u32 - 1
        })
    }

    /// Puts all that is wanted at an instruction where a resumption finds it.
    pub fn spill_all(&mut self, pc: Pc) {
        let all: Vec<CellId> = self.live.cells(pc).collect();
        for c in all {
            // A first element is in its place already.
            if self.shapes.plain(c) {
                self.spill(c);
            }
            self.want(c);
        }
    }

    pub(super) fn prologue(&mut self) {
        for r in [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15] {
            self.a.r(Code::Push_r64, r);
        }
        self.a.ri(Code::Sub_rm64_imm32, Register::RSP, 8);
        self.a.rr(Code::Mov_r64_rm64, CTX, Register::RSI);
        self.a.rr(Code::Mov_r64_rm64, REGS, Register::RDI);
        self.a.rm(Code::Mov_r64_rm64, SITES, Mem::at(CTX, at::SITES));
        self.forget_streams(None);
        match self.start {
            Some(start) if !self.together => {
                self.find_payload(start);
                self.start_thread(start);
            }
            start => {
                let body = self.a.label();
                if start.is_some() {
                    self.enter_turns();
                }
                self.load_exec();
                self.a.rm(Code::Mov_r32_rm32, Register::EAX, Mem::at(CTX, at::RESUME));
                self.a.rr(Code::Test_rm32_r32, Register::EAX, Register::EAX);
                // Bound to the resumptions' dispatch, which is behind the code.
                let dispatch = self.a.label();
                self.resumptions.push((Pc::MAX, dispatch));
                self.a.jump(Code::Jne_rel32_64, dispatch);
                if let Some(start) = start {
                    self.a.jmp(body);
                    self.start_thread(start);
                }
                self.a.bind(body);
            }
        }
        let first: Vec<CellId> = self.live.cells(0).collect();
        for c in first {
            let cell = *self.cells.get(c);
            if cell.input {
                self.reload(c);
                continue;
            }
            if let Some(v) = self.alloc.vector(c) {
                self.a.v3(VPXORD, Width::Z, v, v, Opd::Reg(v), Lanes::All);
            } else if cell.written && (cell.kind != CellKind::Vector || self.must_be_zero(&cell)) {
                self.fill(cell.offset, cell.bytes, 0);
            }
        }
    }

    /// May a channel read of a cell what it has not written?
    fn must_be_zero(&self, cell: &Cell) -> bool {
        let end = cell.offset + cell.bytes;
        self.p.registers().fresh.iter().any(|r| r.start < end && cell.offset < r.end)
    }

    /// Fills bytes of the register file with the same one.
    pub(super) fn fill(&mut self, offset: RegOffset, bytes: u32, with: u8) {
        let all = u32::from_le_bytes([with; 4]);
        if with == 0 {
            self.a.v3(VPXORD, Width::Z, 0, 0, Opd::Reg(0), Lanes::All);
        } else {
            let all = self.literal(all);
            self.a.v2(VPBROADCASTD, Width::Z, 0, Opd::Mem(all), Lanes::All);
        }
        let (mut at, end) = (offset, offset + bytes);
        while at < end {
            let rest = end - at;
            let m = Mem::at(REGS, at);
            at += match rest {
                64.. => {
                    self.a.store(STORE32, Width::Z, m, 0, Lanes::All);
                    64
                }
                32.. => {
                    self.a.store(STORE32, Width::Y, m, 0, Lanes::All);
                    32
                }
                16.. => {
                    self.a.store(STORE32, Width::X, m, 0, Lanes::All);
                    16
                }
                4.. => {
                    self.a.mi(Code::Mov_rm32_imm32, m, all as i32);
                    4
                }
                _ => {
                    self.a.mi(Code::Mov_rm8_imm8, m, with.into());
                    1
                }
            };
        }
    }

    pub(super) fn resume_points(&mut self) {
        let all = std::mem::take(&mut self.resumptions);
        let Some(dispatch) = all.first() else { return };
        self.a.bind(dispatch.1);
        for (k, (_, l)) in all.iter().enumerate().skip(1) {
            self.a.ri(Code::Cmp_EAX_imm32, Register::EAX, k as i32);
            self.a.jump(Code::Je_rel32_64, *l);
        }
        self.a.op0(Code::Ud2);
        for (pc, l) in &all[1..] {
            self.a.bind(*l);
            let cells: Vec<CellId> = self.live.cells(*pc).collect();
            cells.into_iter().for_each(|c| self.reload(c));
            let to = self.labels[*pc as usize];
            self.a.jmp(to);
        }
        self.resumptions = all;
    }

    pub(super) fn epilogue(&mut self) {
        let (done, leave, out) = (self.done, self.leave, self.out);
        self.a.bind(done);
        match self.start {
            Some(_) if self.together => self.thread_ends(),
            Some(start) => self.end_thread(start),
            None => {}
        }
        self.a.ri(Code::Mov_r32_imm32, Register::EAX, exit::DONE);
        self.a.jmp(out);
        self.a.bind(leave);
        self.a.ri(Code::Cmp_rm32_imm32, Register::EAX, exit::ENDED);
        if self.start.is_some() {
            let stopped = self.a.label();
            self.a.jump(Code::Jne_rel32_64, stopped);
            // Nobody waits for a thread that has ended.
            self.no_waits();
            self.a.jmp(done);
            self.a.bind(stopped);
        } else {
            self.a.jump(Code::Je_rel32_64, done);
        }
        self.a.ri(Code::Mov_r32_imm32, Register::EAX, exit::STOPPED);
        self.a.bind(out);
        self.exit();
    }

    /// Returns what is in `eax`.
    pub fn exit(&mut self) {
        self.want_shared();
        self.a.op0(Code::VEX_Vzeroupper);
        self.a.ri(Code::Add_rm64_imm32, Register::RSP, 8);
        for r in [Register::R15, Register::R14, Register::R13, Register::R12, Register::RBP, Register::RBX] {
            self.a.r(Code::Pop_r64, r);
        }
        self.a.op0(Code::Retnq);
    }
}
