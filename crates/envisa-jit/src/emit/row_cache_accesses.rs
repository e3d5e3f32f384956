//! Accesses that go through a cache of rows: see [`super::row_caches`].

use super::memory::{Form, Way};
use super::row_caches::{
    CACHE, CACHES, CLOSE, DATA, DIRTY, HITS, LIMIT, OPEN, PAUSE, PLACES, ROWS, RowAccess, SOME_CHANNELS,
};
use super::*;
use crate::context_layout::ROW_CACHE;
use envisa_lower::Simt;

impl Emit<'_> {
    /// Where in a context the caches of rows are.
    pub(super) fn row_caches_at(&self) -> u32 {
        self.streams_at() + STREAM * self.streams.len() as u32
    }

    /// An access whose places are in a cache of rows, or can be brought there; it goes to `done` then.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn access_row_cache(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        parts: &[Part],
        (data, done): (RegOffset, Label),
        entry: Label,
    ) -> Result<(), Unsupported> {
        let Some(access) = self.row_caches.access(pc) else { return Ok(()) };
        if !parts.iter().all(|part| self.goes_anywhere(i, s, form, part)) {
            return Ok(());
        }
        let RowAccess { cache, elements, .. } = self.row_caches.accesses[access];
        let step = self.row_caches.caches[cache].step;
        let at = self.row_caches_at() + CACHES + CACHE * cache as u32;
        let [limit, hits, pause] = [LIMIT, HITS, PAUSE].map(|field| Mem::at(CTX, at + field));
        let [again, paused, some, miss, other] = std::array::from_fn(|_| self.a.label());
        self.a.bind(again);
        self.a.mi(Code::Cmp_rm32_imm8, pause, 0);
        self.a.jump(Code::Jne_rel32_64, paused);
        let mut places = Vec::new();
        for part in parts {
            let Way::Any(v) = self.way(pc, i, s, form, part, entry, &mut false)? else {
                return Err("a row without addresses");
            };
            self.counting_bits(form, part, v);
            places.push(v);
        }
        for part in parts {
            if let Some(k) = self.transfer_mask(pc, part) {
                self.a.kk(Code::VEX_Kortestw_kr_kr, k, k);
                self.a.jump(Code::Jae_rel32_64, some);
            }
        }
        for (n, (part, v)) in parts.iter().zip(&places).enumerate() {
            let begin = Mem::at(CTX, at + 64 * part.index);
            self.a.v3(VPSUBD, Width::Z, n as V, *v, Opd::Mem(begin), Lanes::All);
        }
        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vector_register(0, Width::X));
        self.a.rm(Code::Cmp_r32_rm32, Register::EAX, limit);
        self.a.jump(Code::Jae_rel32_64, miss);
        if elements > 1 {
            self.a.rr(Code::Mov_r32_rm32, Register::ESI, Register::EAX);
            self.a.ri(Code::Add_rm32_imm8, Register::ESI, ((elements - 1) * step) as i32);
            self.a.rm(Code::Cmp_r32_rm32, Register::ESI, limit);
            self.a.jump(Code::Jae_rel32_64, miss);
        }
        self.a.rr(SPREAD[Width::Z as usize], vector_register(5, Width::Z), Register::EAX);
        for n in 0..parts.len() {
            self.a.vcmp(VPCMPUD, Width::Z, 5 + n as K, n as V, Opd::Reg(5), 4, None);
        }
        self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 5 + parts.len() as K - 1);
        self.a.jump(Code::Jne_rel32_64, miss);
        if step > 1 {
            self.a.ri(Code::Test_rm32_imm32, Register::EAX, step as i32 - 1);
            self.a.jump(Code::Jne_rel32_64, miss);
        }
        self.a.m(Code::Inc_rm32, hits);
        self.move_cached_columns(pc, s, parts, (at, step), data)?;
        self.a.jmp(done);
        let aside = self.a.begin_slow_path(pc);
        self.a.bind(some);
        self.a.mi(Code::Cmp_rm32_imm8, limit, 0);
        self.a.jump(Code::Je_rel32_64, other);
        self.call_stub(ROW_CACHE | SOME_CHANNELS | access as u32);
        self.a.jmp(other);
        self.a.bind(miss);
        for (part, v) in parts.iter().zip(&places) {
            let to = Mem::at(CTX, self.row_caches_at() + PLACES + 64 * part.index);
            self.a.store(STORE32, Width::Z, to, *v, Lanes::All);
        }
        self.call_stub(ROW_CACHE | access as u32);
        self.a.jump(Code::Je_rel32_64, again);
        self.a.jmp(other);
        self.a.bind(paused);
        self.a.m(Code::Dec_rm32, pause);
        self.a.jmp(other);
        self.a.in_line(aside);
        self.a.bind(other);
        Ok(())
    }

    /// Moves the columns of an access, of which the first is `eax` behind the first one of the cache.
    fn move_cached_columns(
        &mut self,
        pc: Pc,
        s: &Simt,
        parts: &[Part],
        (at, step): (u32, u32),
        data: RegOffset,
    ) -> Result<(), Unsupported> {
        self.a.rr(Code::Mov_r32_rm32, Register::ESI, Register::EAX);
        self.a.ri(Code::Shl_rm32_imm8, Register::ESI, (4 * ROWS / step).trailing_zeros() as i32);
        if s.write {
            let dirty = Mem::at(CTX, at + DIRTY);
            if step > 1 {
                self.a.ri(Code::Shr_rm32_imm8, Register::EAX, step.trailing_zeros() as i32);
            }
            self.a.rm(Code::Mov_r32_rm32, Register::EDX, dirty);
            for column in 0..s.elements.count_ones() {
                if column > 0 {
                    self.a.r(Code::Inc_rm32, Register::EAX);
                }
                self.a.rr(Code::Bts_rm32_r32, Register::EDX, Register::EAX);
            }
            self.a.mr(Code::Mov_rm32_r32, dirty, Register::EDX);
        }
        let columns = 0..s.elements.count_ones();
        for (part, column) in parts.iter().flat_map(|part| columns.clone().map(move |c| (part, c))) {
            let first = at + DATA + 64 * part.index;
            let m = Mem::indexed(CTX, Register::RSI, 1, i64::from(first + 4 * ROWS * column));
            let to = data + s.component_stride * column + 4 * part.lane;
            if s.write {
                let v = self.data_in(to, 64, 0)?;
                self.a.store(STORE32, Width::Z, m, v, Lanes::All);
                continue;
            }
            let lanes = self.load_lanes(pc, to, self.transfer_mask(pc, part));
            let home = self.home(to, 64).filter(|_| lanes.is_none());
            let v = home.unwrap_or(0);
            self.a.v2(VMOVDQU32, Width::Z, v, Opd::Mem(m), Lanes::All);
            if home.is_none() {
                self.store_part(to, 0, 4, part, lanes)?;
            }
        }
        Ok(())
    }

    /// Closes what is open where a thread goes on that leaves a loop with caches.
    pub(super) fn close_row_caches(&mut self, pc: Pc) {
        if self.row_caches.exits.binary_search(&pc).is_err() {
            return;
        }
        let [close, closed] = std::array::from_fn(|_| self.a.label());
        let open = Mem::at(CTX, self.row_caches_at() + OPEN);
        self.a.mi(Code::Cmp_rm32_imm8, open, 0);
        self.a.jump(Code::Jne_rel32_64, close);
        let aside = self.a.begin_slow_path(pc);
        self.a.bind(close);
        self.call_stub(ROW_CACHE | CLOSE);
        self.a.jmp(closed);
        self.a.in_line(aside);
        self.a.bind(closed);
    }
}
