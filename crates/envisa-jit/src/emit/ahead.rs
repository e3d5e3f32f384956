//! Gathers that load ahead: see [`super::streams`].

use envisa_lower::Simt;

use super::memory::{Form, PTR};
use super::streams::{COLUMNS, NEXT, STREAM, Stream, TILE};
use super::*;
use crate::layout::site;

/// How far behind the columns that are loaded the lines of all rows are fetched, in bytes: more rows than the CPU's
/// prefetchers follow.
const FETCHED: u32 = 128;

/// The number of the first of four rows.
const ROW: Register = Register::R9;

impl Emit<'_> {
    /// Where in a context the streams are.
    pub fn streams_at(&self) -> u32 {
        (self.symbols_at() + 8 * self.p.symbols().len() as u32).next_multiple_of(64)
    }

    fn stream_at(&self, k: usize) -> u32 {
        self.streams_at() + STREAM * k as u32
    }

    /// Nothing is loaded: of those of a loop that begins here, or of all of them.
    pub(super) fn forget_streams(&mut self, head: Option<Pc>) {
        for k in 0..self.streams.len() {
            let Stream { head: at, step, .. } = self.streams[k];
            if head.is_none_or(|h| h == at) {
                let next = Mem::at(CTX, self.stream_at(k) + NEXT);
                self.a.mi(Code::Mov_rm32_imm32, next, (COLUMNS * step) as i32);
            }
        }
    }

    /// The same of a load whose site may lead elsewhere from now on: what it has ahead is not of there.
    pub(super) fn forget_streams_of(&mut self, pc: Pc) {
        for k in 0..self.streams.len() {
            let Stream { pc: of, step, .. } = self.streams[k];
            if of == pc {
                let next = Mem::at(CTX, self.stream_at(k) + NEXT);
                self.a.mi(Code::Mov_rm32_imm32, next, (COLUMNS * step) as i32);
            }
        }
    }

    /// The stream that a part of a load is, if it is one.
    pub(super) fn stream(&self, pc: Pc, part: &Part) -> Option<usize> {
        self.streams.iter().position(|s| (s.pc, s.part) == (pc, part.index) && part.lanes == 16)
    }

    /// Dwords from anywhere: from what is loaded already, or with the next ones of their rows, or by themselves.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn gather_ahead(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        part: &Part,
        v: V,
        data: RegOffset,
        on: Option<K>,
        k: usize,
    ) -> Result<(), Why> {
        let (step, at) = (self.streams[k].step, self.stream_at(k));
        let (first, next) = (Mem::at(CTX, at), Mem::at(CTX, at + NEXT));
        let [take, fill, alone, done] = std::array::from_fn(|_| self.a.label());
        self.a.v3(VPSUBD, Width::Z, 0, v, Opd::Mem(first), Lanes::All);
        self.a.vcmp(VPCMPUD, Width::Z, 5, 0, Opd::Bcast(next), 4, on);
        self.a.rr(Code::VEX_Kortestw_kr_kr, kreg(5), kreg(5));
        self.a.jump(Code::Jne_rel32_64, alone);
        self.a.rm(Code::Mov_r32_rm32, Register::EAX, next);
        self.a.ri(Code::Cmp_rm32_imm32, Register::EAX, (COLUMNS * step) as i32);
        self.a.jump(Code::Jae_rel32_64, fill);
        self.a.bind(take);
        self.a.rr(Code::Mov_r32_rm32, Register::ESI, Register::EAX);
        self.a.ri(Code::Shl_rm32_imm8, Register::ESI, (64 / step).trailing_zeros() as i32);
        self.a.ri(Code::Add_rm32_imm8, Register::EAX, step as i32);
        self.a.mr(Code::Mov_rm32_r32, next, Register::EAX);
        let column = Mem::indexed(CTX, Register::RSI, 1, i64::from(at + TILE));
        self.a.v2(VMOVDQU32, Width::Z, 0, Opd::Mem(column), Lanes::All);
        let to = data + 4 * part.lane;
        let lanes = self.load_lanes(pc, to, on);
        self.store_part(to, 0, 4, part, lanes)?;
        self.a.jmp(done);
        // So far ahead everything is inside; of channels that are off, that is not known of their places either.
        self.a.bind(fill);
        let last = self.literal((COLUMNS - 1) * step);
        let count = self.site(i, site::COUNT);
        self.a.v3(VPADDD, Width::Z, 0, v, Opd::Bcast(last), Lanes::All);
        self.a.vcmp(VPCMPUD, Width::Z, 5, 0, Opd::Bcast(count), 5, None);
        self.a.rr(Code::VEX_Kortestw_kr_kr, kreg(5), kreg(5));
        self.a.jump(Code::Jne_rel32_64, alone);
        if on.is_some() {
            self.a.vcmp(VPCMPUD, Width::Z, 5, v, Opd::Bcast(count), 5, None);
            self.a.rr(Code::VEX_Kortestw_kr_kr, kreg(5), kreg(5));
            self.a.jump(Code::Jne_rel32_64, alone);
        }
        self.a.store(STORE32, Width::Z, first, v, Lanes::All);
        self.load_columns(form, at);
        self.a.rr(Code::Xor_r32_rm32, Register::EAX, Register::EAX);
        self.a.jmp(take);
        // The next one is the first that is loaded ahead.
        self.a.bind(alone);
        self.a.v3(VPSUBD, Width::Z, 0, v, Opd::Bcast(last), Lanes::All);
        self.a.store(STORE32, Width::Z, first, 0, Lanes::All);
        self.a.mi(Code::Mov_rm32_imm32, next, (COLUMNS * step) as i32);
        self.move_any(pc, s, form, part, v, data, 0, on)?;
        self.a.bind(done);
        Ok(())
    }

    /// Loads sixteen dwords of sixteen rows each, and stores them by columns: four rows at a time, of which each quarter
    /// of a vector has four columns.
    fn load_columns(&mut self, form: Form, at: u32) {
        let again = self.a.label();
        self.a.rr(Code::Xor_r32_rm32, Register::R9D, Register::R9D);
        self.a.bind(again);
        for r in 0..4 {
            let place = Mem::indexed(CTX, ROW, 4, i64::from(at + 4 * r));
            self.a.rm(Code::Mov_r32_rm32, Register::EAX, place);
            let row = Mem::indexed(PTR, Register::RAX, form.scale, 0);
            self.a.v2(VMOVDQU32, Width::Z, r as V, Opd::Mem(row), Lanes::All);
            // As far as the second cache: in the first one, rows may all want the same few places.
            self.a.m(Code::Prefetcht1_m8, row.plus(FETCHED));
        }
        let w = Width::Z;
        self.a.v3(VPUNPCKLDQ, w, 4, 0, Opd::Reg(1), Lanes::All);
        self.a.v3(VPUNPCKHDQ, w, 5, 0, Opd::Reg(1), Lanes::All);
        self.a.v3(VPUNPCKLDQ, w, 0, 2, Opd::Reg(3), Lanes::All);
        self.a.v3(VPUNPCKHDQ, w, 1, 2, Opd::Reg(3), Lanes::All);
        self.a.v3(VPUNPCKLQDQ, w, 2, 4, Opd::Reg(0), Lanes::All);
        self.a.v3(VPUNPCKHQDQ, w, 3, 4, Opd::Reg(0), Lanes::All);
        self.a.v3(VPUNPCKLQDQ, w, 4, 5, Opd::Reg(1), Lanes::All);
        self.a.v3(VPUNPCKHQDQ, w, 5, 5, Opd::Reg(1), Lanes::All);
        for (c, v) in (2..6).enumerate() {
            for quarter in 0..4 {
                let column = 64 * (4 * quarter + c as u32);
                let m = Mem::indexed(CTX, ROW, 4, i64::from(at + TILE + column));
                if quarter == 0 {
                    self.a.store(STORE32, Width::X, m, v, Lanes::All);
                } else {
                    let extract = Code::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8;
                    let i = iced_x86::Instruction::with3(extract, m.operand(false), vreg(v, w), quarter);
                    self.a.push(i);
                }
            }
        }
        self.a.ri(Code::Add_rm32_imm8, Register::R9D, 4);
        self.a.ri(Code::Cmp_rm32_imm8, Register::R9D, 16);
        self.a.jump(Code::Jb_rel32_64, again);
    }
}
