//! Messages whose channels have addresses of 64 bits.

use super::memory::{RA, Way};
use super::*;
use crate::emit::memory::Form;
use envisa_codegen::layout::site;
use envisa_lower::Simt;

impl Emit<'_> {
    /// As [`Emit::way`], of addresses of 64 bits: what passes is left as offsets of 32.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn way_of_quads(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        part: &Part,
        entry: Label,
        misses: &mut bool,
    ) -> Result<Way, Why> {
        let (first, span) = (self.site(i, site::WIDE), self.site(i, site::SPAN));
        let on = self.on(pc, part)?;
        let at = s.address + 8 * part.lane;
        // If only the first channel may run, all go where that does.
        if part.lanes == 1 || (self.runs_alone(i, part) && self.first_at_hand(at, 8, part)) {
            let r = RA[part.index as usize];
            match self.home_alone(at, 64).filter(|_| part.lanes > 1) {
                Some(v) => self.a.rr(Code::EVEX_Vmovq_rm64_xmm, r, vreg(v, Width::X)),
                None => {
                    self.in_memory(at, 8)?;
                    let m = self.reg(at);
                    self.a.rm(Code::Mov_r64_rm64, r, m);
                }
            }
            if form.before != 0 {
                self.a.ri(Code::Shl_rm64_imm8, r, form.before as i32);
            }
            self.a.rm(Code::Sub_r64_rm64, r, first);
            self.a.rm(Code::Cmp_r64_rm64, r, span);
            self.a.jump(Code::Jae_rel32_64, entry);
            return Ok(Way::Same(r));
        }
        let (v, miss) = (6 + part.index as u8, 5 + part.index as u8);
        for h in 0..part.lanes / 8 {
            let d = if h == 0 { v } else { 2 };
            let at = s.address + 8 * part.lane + 64 * h;
            let mut from = match self.home(at, 64) {
                Some(r) => r,
                None => {
                    self.in_memory(at, 64)?;
                    self.a.v2(VMOVDQU32, Width::Z, d, Opd::Mem(self.reg(at)), Lanes::All);
                    d
                }
            };
            if form.before != 0 {
                self.a.v2i(VPSLLQ, Width::Z, d, Opd::Reg(from), form.before, Lanes::All);
                from = d;
            }
            self.a.v3(VPSUBQ, Width::Z, d, from, Opd::Bcast(first), Lanes::All);
            let of = self.half(on, h);
            let k = if h == 0 { miss } else { 7 };
            self.a.vcmp(VPCMPUQ, Width::Z, k, d, Opd::Bcast(span), 5, of);
            self.a.store_to_reg(VPMOVQD, Width::Z, d, d);
        }
        if part.lanes == 16 {
            self.a.rri(Code::VEX_Kshiftlw_kr_kr_imm8, kreg(7), kreg(7), 8);
            self.a.rrr(Code::VEX_Korw_kr_kr_kr, kreg(miss), kreg(miss), kreg(7));
            let insert = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
            let [low, high] = [vreg(v, Width::Z), vreg(2, Width::Y)];
            self.a.push(iced_x86::Instruction::with4(insert, low, low, high, 1));
        }
        *misses = true;
        Ok(Way::Any(v))
    }
}
