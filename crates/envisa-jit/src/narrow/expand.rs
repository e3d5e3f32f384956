//! One instruction after the other.

use iced_x86::{Code, Instruction, OpKind, Register};

use super::step_list::{COPY, LOAD, O, half_register};
use super::vector::{Lanes, avx2_counterpart, number};
use super::*;
use crate::vector_encodings::{Name, name};

impl Narrow<'_> {
    pub(super) fn one(&mut self, i: &Instruction, next: &[Instruction]) -> Result<(), Unsupported> {
        let constant = (i.code() == Code::Mov_r32_imm32).then(|| (i.op0_register(), i.immediate32()));
        let before = std::mem::replace(&mut self.constant, constant);
        let vector = (0..i.op_count())
            .any(|k| i.op_kind(k) == OpKind::Register && is_vector(i.op_register(k)))
            || i.memory_index().is_vector_register();
        if !vector || matches!(i.code(), Code::VEX_Vmovups_ymm_ymmm256 | Code::VEX_Vmovups_ymmm256_ymm) {
            self.pass(i);
            return Ok(());
        }
        if self.masks(i, before, next).is_some() {
            return Ok(());
        }
        if let Some((name, w)) = name(i.code()) {
            return match avx2_counterpart(name) {
                Some(s) => self.plain(i, w, s),
                None => self.named(i, name, w, next),
            };
        }
        self.other(i)
    }

    /// An instruction on general registers and memory.
    fn pass(&mut self, i: &Instruction) {
        self.list.raw(*i);
        if i.is_call_near() || i.is_call_near_indirect() {
            self.spread.clear();
        }
        if i.op_count() > 0 {
            match i.op0_kind() {
                OpKind::Memory => self.written(memory(i), 64),
                OpKind::Register => self.overwritten(i.op0_register()),
                _ => {}
            }
        }
    }

    fn named(
        &mut self,
        i: &Instruction,
        name: Name,
        w: usize,
        next: &[Instruction],
    ) -> Result<(), Unsupported> {
        use Name as N;
        match name {
            N::STORE32 => self.store(i, w, 4, next),
            N::STORE64 => self.store(i, w, 8, next),
            N::VPBROADCASTD | N::VBROADCASTSS => self.same_in_all(i, w, 4),
            N::VPBROADCASTQ => self.same_in_all(i, w, 8),
            N::VPBROADCASTB => self.same_in_all(i, w, 1),
            N::VPBROADCASTW => self.same_in_all(i, w, 2),
            N::VPBLENDMD => self.blended(i, w, 4),
            N::VPBLENDMQ => self.blended(i, w, 8),
            N::VCMPPS | N::VCMPPD => self.compare_floats(i, w, name),
            N::VPCMPD | N::VPCMPUD | N::VPCMPQ | N::VPCMPUQ => self.compare_ints(i, w, name),
            N::VPCMPB | N::VPCMPUB | N::VPCMPW | N::VPCMPUW => self.compare_narrow(i, w, name, next),
            // The compare before it wrote it.
            N::VPMOVM2B | N::VPMOVM2W => Ok(()),
            N::VPMOVM2D | N::VPMOVM2Q => self.spread_truths(i, w, name),
            N::VPTERNLOGD => self.ternary(i, w),
            N::VPERMD => self.permute(i, w),
            N::VPERMI2D => self.permute_two(i, w),
            N::VPMOVSXBD
            | N::VPMOVZXBD
            | N::VPMOVSXWD
            | N::VPMOVZXWD
            | N::VPMOVSXBW
            | N::VPMOVZXBW
            | N::VPMOVSXDQ
            | N::VPMOVZXDQ
            | N::VCVTPH2PS
            | N::VCVTPS2PD
            | N::VCVTDQ2PD => self.widen(i, w, name),
            N::VPMOVDW | N::VPMOVDB | N::VPMOVWB | N::VPMOVQD | N::VCVTPS2PH | N::VCVTPD2PS => {
                self.shrink(i, w, name)
            }
            N::VPGATHERDD => self.gather_dwords(i, w),
            N::VPGATHERDQ => self.gather_quads(i),
            N::VPSCATTERDD => self.scatter(i, w, 4),
            N::VPSCATTERDQ => self.scatter(i, w, 8),
            N::VPDPBUSD => self.products(i, w),
            _ => self.integer(i, w, name),
        }
    }

    /// Sixteen bytes of a register, in another one, behind which are zeros.
    fn quarter_out(&mut self, i: &Instruction, quarter: u32) {
        let (to, from) = (number(i.op0_register()), number(i.op1_register()));
        let from = half_register(from, quarter / 2);
        if quarter.is_multiple_of(2) {
            self.list.two(LOAD[0], half_register(to, 0), O::R(from));
        } else {
            self.list.two_i(Code::VEX_Vextracti128_xmmm128_ymm_imm8, half_register(to, 0), O::R(from), 1);
        }
        self.list.zero(half_register(to, 1));
    }

    /// Two quarters of one register, and behind them two of another one.
    fn shuffle_quarters(&mut self, i: &Instruction) {
        let [to, a, b] = [0, 1, 2].map(|k| number(i.op_register(k)));
        let quarters = u32::from(i.immediate8());
        let halves = [(a, quarters & 15), (b, quarters >> 4)].map(|(from, chosen)| {
            let [low, high] = [0, 1].map(|h| half_register(from, h));
            match chosen {
                0b0100 => low,
                0b1110 => high,
                _ => {
                    let t = self.list.temp();
                    let chosen = chosen & 3 | chosen >> 2 << 4;
                    self.list.three_i(Code::VEX_Vperm2i128_ymm_ymm_ymmm256_imm8, t, low, O::R(high), chosen);
                    t
                }
            }
        });
        // A half of the destination may be a half that goes to the other one.
        let halves = halves.map(|half| {
            let t = self.list.temp();
            self.list.copy(t, half);
            t
        });
        for (h, half) in halves.into_iter().enumerate() {
            self.list.copy(half_register(to, h as u32), half);
        }
    }

    /// What has one width only.
    fn other(&mut self, i: &Instruction) -> Result<(), Unsupported> {
        use Code as C;
        match i.code() {
            C::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8 if i.op0_kind() == OpKind::Register => {
                let (to, from) = (number(i.op0_register()), number(i.op1_register()));
                self.list.copy(half_register(to, 0), half_register(from, u32::from(i.immediate8() & 1)));
                self.list.zero(half_register(to, 1));
            }
            C::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8 if i.op0_kind() == OpKind::Memory => {
                let (quarter, m) = (u32::from(i.immediate8() & 3), memory(i));
                self.list.store_quarter(m, half_register(number(i.op1_register()), quarter / 2), quarter % 2);
                self.written(m, 16);
            }
            C::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8 => self.quarter_out(i, u32::from(i.immediate8() & 3)),
            C::EVEX_Vextracti32x4_xmmm128_k1z_ymm_imm8 if i.op0_kind() == OpKind::Register => {
                self.quarter_out(i, u32::from(i.immediate8() & 1));
            }
            C::EVEX_Vpsrldq_xmm_xmmm128_imm8 if i.op1_kind() == OpKind::Register => {
                let [to, from] = [0, 1].map(|k| number(i.op_register(k)));
                let (by, code) = (u32::from(i.immediate8()), C::VEX_Vpsrldq_xmm_xmm_imm8);
                self.list.two_i(code, half_register(to, 0), O::R(half_register(from, 0)), by);
                self.list.zero(half_register(to, 1));
            }
            C::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8 if i.op2_kind() == OpKind::Register => {
                let [to, a, b] = [0, 1, 2].map(|k| number(i.op_register(k)));
                let at = u32::from(i.immediate8() & 1);
                let t = self.list.temp();
                self.list.copy(t, half_register(b, 0));
                self.list.copy(half_register(to, 1 - at), half_register(a, 1 - at));
                self.list.copy(half_register(to, at), t);
            }
            C::EVEX_Vinserti32x4_zmm_k1z_zmm_xmmm128_imm8 if i.op2_kind() == OpKind::Memory => {
                let [to, a] = [0, 1].map(|k| number(i.op_register(k)));
                let (quarter, code) =
                    (u32::from(i.immediate8() & 3), C::VEX_Vinserti128_ymm_ymm_xmmm128_imm8);
                let h = quarter / 2;
                self.list.copy(half_register(to, 1 - h), half_register(a, 1 - h));
                self.list.three_i(
                    code,
                    half_register(to, h),
                    half_register(a, h),
                    O::M(memory(i)),
                    quarter % 2,
                );
            }
            C::EVEX_Vinserti32x4_zmm_k1z_zmm_xmmm128_imm8 => {
                let [to, a, b] = [0, 1, 2].map(|k| number(i.op_register(k)));
                let quarter = u32::from(i.immediate8() & 3);
                let (h, t) = (quarter / 2, self.list.temp());
                let code = C::VEX_Vinserti128_ymm_ymm_xmmm128_imm8;
                self.list.three_i(code, t, half_register(a, h), O::R(half_register(b, 0)), quarter % 2);
                self.list.copy(half_register(to, 1 - h), half_register(a, 1 - h));
                self.list.copy(half_register(to, h), t);
            }
            C::EVEX_Vinserti32x4_ymm_k1z_ymm_xmmm128_imm8 => {
                let [to, a] = [0, 1].map(|k| half_register(number(i.op_register(k)), 0));
                let b = match i.op2_kind() {
                    OpKind::Memory => O::M(memory(i)),
                    _ => O::R(half_register(number(i.op_register(2)), 0)),
                };
                let code = C::VEX_Vinserti128_ymm_ymm_xmmm128_imm8;
                self.list.three_i(code, to, a, b, u32::from(i.immediate8() & 1));
                self.list.zero(half_register(number(i.op0_register()), 1));
            }
            C::EVEX_Vshufi32x4_zmm_k1z_zmm_zmmm512b32_imm8 if i.op2_kind() == OpKind::Register => {
                self.shuffle_quarters(i);
            }
            C::EVEX_Vmovd_rm32_xmm => self.element_out(i, C::VEX_Vmovd_rm32_xmm),
            C::EVEX_Vmovq_rm64_xmm => self.element_out(i, C::VEX_Vmovq_rm64_xmm),
            C::EVEX_Vmovd_xmm_rm32 => self.element_in(i, C::VEX_Vmovd_xmm_rm32),
            C::EVEX_Vmovq_xmm_rm64 => self.element_in(i, C::VEX_Vmovq_xmm_rm64),
            C::EVEX_Vpbroadcastd_xmm_k1z_r32 => return self.same_in_all(i, 0, 4),
            C::EVEX_Vpbroadcastd_ymm_k1z_r32 => return self.same_in_all(i, 1, 4),
            C::EVEX_Vpbroadcastd_zmm_k1z_r32 => return self.same_in_all(i, 2, 4),
            C::EVEX_Vpbroadcastq_xmm_k1z_r64 => return self.same_in_all(i, 0, 8),
            C::EVEX_Vpbroadcastq_ymm_k1z_r64 => return self.same_in_all(i, 1, 8),
            C::EVEX_Vpbroadcastq_zmm_k1z_r64 => return self.same_in_all(i, 2, 8),
            _ => return Err("no way to do it with AVX2"),
        }
        Ok(())
    }

    fn element_out(&mut self, i: &Instruction, code: Code) {
        let from = half_register(number(i.op1_register()), 0);
        if i.op0_kind() == OpKind::Register {
            self.list.gpr_of(code, i.op0_register(), from);
            self.overwritten(i.op0_register());
        } else {
            let m = memory(i);
            self.list.store(code, m, from);
            self.written(m, 8);
        }
    }

    fn element_in(&mut self, i: &Instruction, code: Code) {
        let to = number(i.op0_register());
        if i.op1_kind() == OpKind::Register {
            self.list.of_gpr(code, half_register(to, 0), i.op1_register());
        } else {
            self.list.two(code, half_register(to, 0), O::M(memory(i)));
        }
        self.list.zero(half_register(to, 1));
    }

    fn blended(&mut self, i: &Instruction, w: usize, bytes: u32) -> Result<(), Unsupported> {
        let (dst, a) = (number(i.op0_register()), number(i.op1_register()));
        let k = i.op_mask();
        if k == Register::None || i.zeroing_masking() {
            return Err("a blend without a mask");
        }
        let b = self.src(i, 2, bytes);
        for h in 0..Self::halves(w) {
            let b = b.half(h);
            match self.mask(k.number() as u8, bytes, h) {
                Some(mask) => self.list.blend(half_register(dst, h), half_register(a, h), b, mask),
                None => match b {
                    O::R(r) => self.list.copy(half_register(dst, h), r),
                    b => self.list.two(super::step_list::LOAD[1], half_register(dst, h), b),
                },
            }
        }
        self.clear(dst, w);
        Ok(())
    }

    fn spread_truths(&mut self, i: &Instruction, w: usize, name: Name) -> Result<(), Unsupported> {
        let (dst, k) = (number(i.op0_register()), i.op1_register().number() as u8);
        let bytes = if name == Name::VPMOVM2Q { 8 } else { 4 };
        for h in 0..Self::halves(w) {
            match self.mask(k, bytes, h) {
                Some(m) => self.list.two(COPY, half_register(dst, h), O::R(m)),
                None => self.list.ones(half_register(dst, h)),
            }
        }
        self.clear(dst, w);
        Ok(())
    }

    /// The lanes of an instruction that has to write all.
    pub(super) fn whole(i: &Instruction) -> Result<(), Unsupported> {
        match Self::lanes(i) {
            Lanes::All => Ok(()),
            _ => Err("by a mask"),
        }
    }
}
