//! Instructions that AVX2 has, too, but for masks, embedded broadcasts and 64 bytes.

use iced_x86::{Code, Instruction, Register};

use super::step_list::{LOAD, O, Reg, half_register, mask_quarter_register};
use super::*;
use crate::asm::{K, V};
use crate::vector_encodings::Name;

/// How an instruction is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Two,
    Three,
    /// The destination is the first source.
    Fused,
    /// A register and an immediate.
    Shift,
    /// A source and an immediate.
    TwoI,
}

/// An instruction of AVX2: its form, its encodings for 16 and 32 bytes, and bytes of what a mask's bit is for.
pub(super) type Same = (Form, [Code; 2], u32);

macro_rules! same {
    ($name:ident; $($n:ident $form:ident $x:ident $y:ident $bytes:literal;)*) => {
        match $name {
            $(Name::$n => Some((Form::$form, [Code::$x, Code::$y], $bytes)),)*
            _ => None,
        }
    };
}

/// What AVX2 has under the same name.
pub(super) fn avx2_counterpart(name: Name) -> Option<Same> {
    same! { name;
        VADDPS Three VEX_Vaddps_xmm_xmm_xmmm128 VEX_Vaddps_ymm_ymm_ymmm256 4;
        VSUBPS Three VEX_Vsubps_xmm_xmm_xmmm128 VEX_Vsubps_ymm_ymm_ymmm256 4;
        VMULPS Three VEX_Vmulps_xmm_xmm_xmmm128 VEX_Vmulps_ymm_ymm_ymmm256 4;
        VDIVPS Three VEX_Vdivps_xmm_xmm_xmmm128 VEX_Vdivps_ymm_ymm_ymmm256 4;
        VMINPS Three VEX_Vminps_xmm_xmm_xmmm128 VEX_Vminps_ymm_ymm_ymmm256 4;
        VMAXPS Three VEX_Vmaxps_xmm_xmm_xmmm128 VEX_Vmaxps_ymm_ymm_ymmm256 4;
        VADDPD Three VEX_Vaddpd_xmm_xmm_xmmm128 VEX_Vaddpd_ymm_ymm_ymmm256 8;
        VSUBPD Three VEX_Vsubpd_xmm_xmm_xmmm128 VEX_Vsubpd_ymm_ymm_ymmm256 8;
        VMINPD Three VEX_Vminpd_xmm_xmm_xmmm128 VEX_Vminpd_ymm_ymm_ymmm256 8;
        VMAXPD Three VEX_Vmaxpd_xmm_xmm_xmmm128 VEX_Vmaxpd_ymm_ymm_ymmm256 8;
        VMULPD Three VEX_Vmulpd_xmm_xmm_xmmm128 VEX_Vmulpd_ymm_ymm_ymmm256 8;
        VDIVPD Three VEX_Vdivpd_xmm_xmm_xmmm128 VEX_Vdivpd_ymm_ymm_ymmm256 8;
        VPADDD Three VEX_Vpaddd_xmm_xmm_xmmm128 VEX_Vpaddd_ymm_ymm_ymmm256 4;
        VPSUBD Three VEX_Vpsubd_xmm_xmm_xmmm128 VEX_Vpsubd_ymm_ymm_ymmm256 4;
        VPMULLD Three VEX_Vpmulld_xmm_xmm_xmmm128 VEX_Vpmulld_ymm_ymm_ymmm256 4;
        VPMINSD Three VEX_Vpminsd_xmm_xmm_xmmm128 VEX_Vpminsd_ymm_ymm_ymmm256 4;
        VPMAXSD Three VEX_Vpmaxsd_xmm_xmm_xmmm128 VEX_Vpmaxsd_ymm_ymm_ymmm256 4;
        VPMINUD Three VEX_Vpminud_xmm_xmm_xmmm128 VEX_Vpminud_ymm_ymm_ymmm256 4;
        VPMAXUD Three VEX_Vpmaxud_xmm_xmm_xmmm128 VEX_Vpmaxud_ymm_ymm_ymmm256 4;
        VPANDD Three VEX_Vpand_xmm_xmm_xmmm128 VEX_Vpand_ymm_ymm_ymmm256 4;
        VPORD Three VEX_Vpor_xmm_xmm_xmmm128 VEX_Vpor_ymm_ymm_ymmm256 4;
        VPXORD Three VEX_Vpxor_xmm_xmm_xmmm128 VEX_Vpxor_ymm_ymm_ymmm256 4;
        VPADDQ Three VEX_Vpaddq_xmm_xmm_xmmm128 VEX_Vpaddq_ymm_ymm_ymmm256 8;
        VPSUBQ Three VEX_Vpsubq_xmm_xmm_xmmm128 VEX_Vpsubq_ymm_ymm_ymmm256 8;
        VPANDQ Three VEX_Vpand_xmm_xmm_xmmm128 VEX_Vpand_ymm_ymm_ymmm256 8;
        VPORQ Three VEX_Vpor_xmm_xmm_xmmm128 VEX_Vpor_ymm_ymm_ymmm256 8;
        VPXORQ Three VEX_Vpxor_xmm_xmm_xmmm128 VEX_Vpxor_ymm_ymm_ymmm256 8;
        VPSLLVD Three VEX_Vpsllvd_xmm_xmm_xmmm128 VEX_Vpsllvd_ymm_ymm_ymmm256 4;
        VPSRLVD Three VEX_Vpsrlvd_xmm_xmm_xmmm128 VEX_Vpsrlvd_ymm_ymm_ymmm256 4;
        VPSRAVD Three VEX_Vpsravd_xmm_xmm_xmmm128 VEX_Vpsravd_ymm_ymm_ymmm256 4;
        VPSLLVQ Three VEX_Vpsllvq_xmm_xmm_xmmm128 VEX_Vpsllvq_ymm_ymm_ymmm256 8;
        VPSRLVQ Three VEX_Vpsrlvq_xmm_xmm_xmmm128 VEX_Vpsrlvq_ymm_ymm_ymmm256 8;
        VPMULUDQ Three VEX_Vpmuludq_xmm_xmm_xmmm128 VEX_Vpmuludq_ymm_ymm_ymmm256 8;
        VPMULDQ Three VEX_Vpmuldq_xmm_xmm_xmmm128 VEX_Vpmuldq_ymm_ymm_ymmm256 8;
        VPMINUB Three VEX_Vpminub_xmm_xmm_xmmm128 VEX_Vpminub_ymm_ymm_ymmm256 1;
        VPMAXUB Three VEX_Vpmaxub_xmm_xmm_xmmm128 VEX_Vpmaxub_ymm_ymm_ymmm256 1;
        VPMINSB Three VEX_Vpminsb_xmm_xmm_xmmm128 VEX_Vpminsb_ymm_ymm_ymmm256 1;
        VPMAXSB Three VEX_Vpmaxsb_xmm_xmm_xmmm128 VEX_Vpmaxsb_ymm_ymm_ymmm256 1;
        VPADDW Three VEX_Vpaddw_xmm_xmm_xmmm128 VEX_Vpaddw_ymm_ymm_ymmm256 2;
        VPSUBW Three VEX_Vpsubw_xmm_xmm_xmmm128 VEX_Vpsubw_ymm_ymm_ymmm256 2;
        VPADDB Three VEX_Vpaddb_xmm_xmm_xmmm128 VEX_Vpaddb_ymm_ymm_ymmm256 1;
        VPSUBB Three VEX_Vpsubb_xmm_xmm_xmmm128 VEX_Vpsubb_ymm_ymm_ymmm256 1;
        VPMULLW Three VEX_Vpmullw_xmm_xmm_xmmm128 VEX_Vpmullw_ymm_ymm_ymmm256 2;
        VPSUBSW Three VEX_Vpsubsw_xmm_xmm_xmmm128 VEX_Vpsubsw_ymm_ymm_ymmm256 2;
        VPSUBUSW Three VEX_Vpsubusw_xmm_xmm_xmmm128 VEX_Vpsubusw_ymm_ymm_ymmm256 2;
        VPSUBUSB Three VEX_Vpsubusb_xmm_xmm_xmmm128 VEX_Vpsubusb_ymm_ymm_ymmm256 1;
        VPMINUW Three VEX_Vpminuw_xmm_xmm_xmmm128 VEX_Vpminuw_ymm_ymm_ymmm256 2;
        VPMAXUW Three VEX_Vpmaxuw_xmm_xmm_xmmm128 VEX_Vpmaxuw_ymm_ymm_ymmm256 2;
        VPMINSW Three VEX_Vpminsw_xmm_xmm_xmmm128 VEX_Vpminsw_ymm_ymm_ymmm256 2;
        VPMAXSW Three VEX_Vpmaxsw_xmm_xmm_xmmm128 VEX_Vpmaxsw_ymm_ymm_ymmm256 2;
        VPUNPCKLDQ Three VEX_Vpunpckldq_xmm_xmm_xmmm128 VEX_Vpunpckldq_ymm_ymm_ymmm256 4;
        VPUNPCKHDQ Three VEX_Vpunpckhdq_xmm_xmm_xmmm128 VEX_Vpunpckhdq_ymm_ymm_ymmm256 4;
        VPUNPCKLQDQ Three VEX_Vpunpcklqdq_xmm_xmm_xmmm128 VEX_Vpunpcklqdq_ymm_ymm_ymmm256 8;
        VPUNPCKHQDQ Three VEX_Vpunpckhqdq_xmm_xmm_xmmm128 VEX_Vpunpckhqdq_ymm_ymm_ymmm256 8;
        VPSHUFB Three VEX_Vpshufb_xmm_xmm_xmmm128 VEX_Vpshufb_ymm_ymm_ymmm256 1;
        VFMADD132PS Fused VEX_Vfmadd132ps_xmm_xmm_xmmm128 VEX_Vfmadd132ps_ymm_ymm_ymmm256 4;
        VFMADD213PS Fused VEX_Vfmadd213ps_xmm_xmm_xmmm128 VEX_Vfmadd213ps_ymm_ymm_ymmm256 4;
        VFMADD231PS Fused VEX_Vfmadd231ps_xmm_xmm_xmmm128 VEX_Vfmadd231ps_ymm_ymm_ymmm256 4;
        VFMSUB132PS Fused VEX_Vfmsub132ps_xmm_xmm_xmmm128 VEX_Vfmsub132ps_ymm_ymm_ymmm256 4;
        VFMSUB213PS Fused VEX_Vfmsub213ps_xmm_xmm_xmmm128 VEX_Vfmsub213ps_ymm_ymm_ymmm256 4;
        VFMSUB231PS Fused VEX_Vfmsub231ps_xmm_xmm_xmmm128 VEX_Vfmsub231ps_ymm_ymm_ymmm256 4;
        VFNMADD132PS Fused VEX_Vfnmadd132ps_xmm_xmm_xmmm128 VEX_Vfnmadd132ps_ymm_ymm_ymmm256 4;
        VFNMADD213PS Fused VEX_Vfnmadd213ps_xmm_xmm_xmmm128 VEX_Vfnmadd213ps_ymm_ymm_ymmm256 4;
        VFNMADD231PS Fused VEX_Vfnmadd231ps_xmm_xmm_xmmm128 VEX_Vfnmadd231ps_ymm_ymm_ymmm256 4;
        VFNMSUB132PS Fused VEX_Vfnmsub132ps_xmm_xmm_xmmm128 VEX_Vfnmsub132ps_ymm_ymm_ymmm256 4;
        VFNMSUB213PS Fused VEX_Vfnmsub213ps_xmm_xmm_xmmm128 VEX_Vfnmsub213ps_ymm_ymm_ymmm256 4;
        VFNMSUB231PS Fused VEX_Vfnmsub231ps_xmm_xmm_xmmm128 VEX_Vfnmsub231ps_ymm_ymm_ymmm256 4;
        VFMADD132PD Fused VEX_Vfmadd132pd_xmm_xmm_xmmm128 VEX_Vfmadd132pd_ymm_ymm_ymmm256 8;
        VFMADD213PD Fused VEX_Vfmadd213pd_xmm_xmm_xmmm128 VEX_Vfmadd213pd_ymm_ymm_ymmm256 8;
        VFMADD231PD Fused VEX_Vfmadd231pd_xmm_xmm_xmmm128 VEX_Vfmadd231pd_ymm_ymm_ymmm256 8;
        VFMSUB132PD Fused VEX_Vfmsub132pd_xmm_xmm_xmmm128 VEX_Vfmsub132pd_ymm_ymm_ymmm256 8;
        VFMSUB213PD Fused VEX_Vfmsub213pd_xmm_xmm_xmmm128 VEX_Vfmsub213pd_ymm_ymm_ymmm256 8;
        VFMSUB231PD Fused VEX_Vfmsub231pd_xmm_xmm_xmmm128 VEX_Vfmsub231pd_ymm_ymm_ymmm256 8;
        VFNMADD132PD Fused VEX_Vfnmadd132pd_xmm_xmm_xmmm128 VEX_Vfnmadd132pd_ymm_ymm_ymmm256 8;
        VFNMADD213PD Fused VEX_Vfnmadd213pd_xmm_xmm_xmmm128 VEX_Vfnmadd213pd_ymm_ymm_ymmm256 8;
        VFNMADD231PD Fused VEX_Vfnmadd231pd_xmm_xmm_xmmm128 VEX_Vfnmadd231pd_ymm_ymm_ymmm256 8;
        VFNMSUB132PD Fused VEX_Vfnmsub132pd_xmm_xmm_xmmm128 VEX_Vfnmsub132pd_ymm_ymm_ymmm256 8;
        VFNMSUB213PD Fused VEX_Vfnmsub213pd_xmm_xmm_xmmm128 VEX_Vfnmsub213pd_ymm_ymm_ymmm256 8;
        VFNMSUB231PD Fused VEX_Vfnmsub231pd_xmm_xmm_xmmm128 VEX_Vfnmsub231pd_ymm_ymm_ymmm256 8;
        VSQRTPS Two VEX_Vsqrtps_xmm_xmmm128 VEX_Vsqrtps_ymm_ymmm256 4;
        VSQRTPD Two VEX_Vsqrtpd_xmm_xmmm128 VEX_Vsqrtpd_ymm_ymmm256 8;
        VCVTDQ2PS Two VEX_Vcvtdq2ps_xmm_xmmm128 VEX_Vcvtdq2ps_ymm_ymmm256 4;
        VCVTTPS2DQ Two VEX_Vcvttps2dq_xmm_xmmm128 VEX_Vcvttps2dq_ymm_ymmm256 4;
        VPABSB Two VEX_Vpabsb_xmm_xmmm128 VEX_Vpabsb_ymm_ymmm256 1;
        VPABSW Two VEX_Vpabsw_xmm_xmmm128 VEX_Vpabsw_ymm_ymmm256 2;
        VPABSD Two VEX_Vpabsd_xmm_xmmm128 VEX_Vpabsd_ymm_ymmm256 4;
        VMOVDQU32 Two VEX_Vmovups_xmm_xmmm128 VEX_Vmovups_ymm_ymmm256 4;
        VMOVDQU64 Two VEX_Vmovups_xmm_xmmm128 VEX_Vmovups_ymm_ymmm256 8;
        VPSLLD Shift VEX_Vpslld_xmm_xmm_imm8 VEX_Vpslld_ymm_ymm_imm8 4;
        VPSRLD Shift VEX_Vpsrld_xmm_xmm_imm8 VEX_Vpsrld_ymm_ymm_imm8 4;
        VPSRAD Shift VEX_Vpsrad_xmm_xmm_imm8 VEX_Vpsrad_ymm_ymm_imm8 4;
        VPSLLW Shift VEX_Vpsllw_xmm_xmm_imm8 VEX_Vpsllw_ymm_ymm_imm8 2;
        VPSRLW Shift VEX_Vpsrlw_xmm_xmm_imm8 VEX_Vpsrlw_ymm_ymm_imm8 2;
        VPSRAW Shift VEX_Vpsraw_xmm_xmm_imm8 VEX_Vpsraw_ymm_ymm_imm8 2;
        VPSLLQ Shift VEX_Vpsllq_xmm_xmm_imm8 VEX_Vpsllq_ymm_ymm_imm8 8;
        VPSRLQ Shift VEX_Vpsrlq_xmm_xmm_imm8 VEX_Vpsrlq_ymm_ymm_imm8 8;
        VRNDSCALEPS TwoI VEX_Vroundps_xmm_xmmm128_imm8 VEX_Vroundps_ymm_ymmm256_imm8 4;
        VRNDSCALEPD TwoI VEX_Vroundpd_xmm_xmmm128_imm8 VEX_Vroundpd_ymm_ymmm256_imm8 8;
    }
}

/// Which lanes an instruction writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lanes {
    All,
    Of(K),
    Zero(K),
}

/// A source as the emitter gave it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Src {
    V(V),
    M(Mem),
    /// The same in all lanes.
    Same(O),
}

impl Src {
    /// Its half.
    pub fn half(self, h: u32) -> O {
        match self {
            Src::V(v) => O::R(half_register(v, h)),
            Src::M(m) => O::M(m.plus(32 * h)),
            Src::Same(o) => o,
        }
    }
}

/// The number of a vector register.
pub(super) fn number(r: Register) -> V {
    r.full_register().number() as V
}

impl Narrow<'_> {
    /// Is a vector so wide that it has two halves?
    pub(super) fn halves(w: usize) -> u32 {
        if w == 2 { 2 } else { 1 }
    }

    pub(super) fn lanes(i: &Instruction) -> Lanes {
        match i.op_mask() {
            Register::None => Lanes::All,
            k if i.zeroing_masking() => Lanes::Zero(k.number() as K),
            k => Lanes::Of(k.number() as K),
        }
    }

    /// A source of elements of so many bytes.
    pub(super) fn src(&mut self, i: &Instruction, k: u32, bytes: u32) -> Src {
        if i.op_kind(k) == OpKind::Register {
            return Src::V(number(i.op_register(k)));
        }
        let m = memory(i);
        if i.is_broadcast() { Src::Same(self.broadcast(m, bytes)) } else { Src::M(m) }
    }

    /// A half of a source in a register, no more of it than the instruction may touch.
    pub(super) fn loaded(&mut self, s: Src, h: u32, w: usize) -> Reg {
        match s {
            Src::M(m) if w == 0 => {
                let t = self.list.temp();
                self.list.two(LOAD[0], t, O::M(m));
                t
            }
            s => self.list.in_reg(s.half(h)),
        }
    }

    /// The truths of a half's lanes; `None` if all hold.
    pub(super) fn mask(&mut self, k: K, bytes: u32, h: u32) -> Option<Reg> {
        let q = if bytes == 8 { 0 } else { h };
        let r = mask_quarter_register(k, q);
        if self.ones >> (r - 64) & 1 != 0 {
            return None;
        }
        if bytes != 8 {
            return Some(r);
        }
        Some(self.wide_mask(r, h))
    }

    /// Four of eight truths, of quads.
    pub(super) fn wide_mask(&mut self, r: Reg, h: u32) -> Reg {
        let t = self.list.temp();
        let mut from = r;
        if h == 1 {
            from = self.list.temp();
            self.list.two_i(Code::VEX_Vextracti128_xmmm128_ymm_imm8, from, O::R(r), 1);
        }
        self.list.two(Code::VEX_Vpmovsxdq_ymm_xmmm128, t, O::R(from));
        t
    }

    /// Makes half `h` of a destination, by its lanes.
    pub(super) fn put(
        &mut self,
        (dst, lanes, bytes, h): (V, Lanes, u32, u32),
        make: impl FnOnce(&mut Self, Reg),
    ) {
        let to = half_register(dst, h);
        let mask = match lanes {
            Lanes::All => None,
            Lanes::Of(k) | Lanes::Zero(k) => self.mask(k, bytes, h),
        };
        let Some(mask) = mask else { return make(self, to) };
        let t = self.list.temp();
        make(self, t);
        self.by_mask(to, t, mask, lanes);
    }

    pub(super) fn by_mask(&mut self, to: Reg, t: Reg, mask: Reg, lanes: Lanes) {
        match lanes {
            Lanes::Zero(_) => self.list.three(Code::VEX_Vpand_ymm_ymm_ymmm256, to, t, O::R(mask)),
            _ => self.list.blend(to, to, O::R(t), mask),
        }
    }

    /// What a narrow result leaves of its register is zero.
    pub(super) fn clear(&mut self, dst: V, w: usize) {
        if w < 2 {
            self.list.zero(half_register(dst, 1));
        }
        if w == 0 {
            let low = half_register(dst, 0);
            self.list.two(LOAD[0], low, O::R(low));
        }
    }

    /// An instruction that AVX2 has.
    pub(super) fn plain(
        &mut self,
        i: &Instruction,
        w: usize,
        (form, codes, bytes): Same,
    ) -> Result<(), Unsupported> {
        let code = codes[usize::from(w > 0)];
        let dst = number(i.op0_register());
        let lanes = Self::lanes(i);
        let last = match form {
            Form::Two | Form::Shift | Form::TwoI => 1,
            Form::Three | Form::Fused => 2,
        };
        if let (Form::Three, true) = (form, is_zero(i)) {
            for h in 0..2 {
                self.list.zero(half_register(dst, h));
            }
            return Ok(());
        }
        if matches!(form, Form::Two) && code == LOAD[usize::from(w > 0)] {
            return self.load(i, w, bytes);
        }
        let b = self.src(i, last, bytes);
        let a = if last == 2 { number(i.op1_register()) } else { 0 };
        let imm = if matches!(form, Form::Shift | Form::TwoI) { u32::from(i.immediate8()) } else { 0 };
        for h in 0..Self::halves(w) {
            let b = b.half(h);
            self.put((dst, lanes, bytes, h), |n, to| match form {
                Form::Two => n.list.two(code, to, b),
                Form::TwoI => n.list.two_i(code, to, b, imm),
                Form::Shift => {
                    let b = n.list.in_reg(b);
                    n.list.two_i(code, to, O::R(b), imm);
                }
                Form::Three => n.list.three(code, to, half_register(a, h), b),
                Form::Fused => {
                    n.list.copy(to, half_register(dst, h));
                    n.list.update(code, to, half_register(a, h), b);
                }
            });
        }
        self.clear(dst, w);
        Ok(())
    }

    /// A move into a register.
    fn load(&mut self, i: &Instruction, w: usize, bytes: u32) -> Result<(), Unsupported> {
        let dst = number(i.op0_register());
        let lanes = Self::lanes(i);
        let y = usize::from(w > 0);
        let b = self.src(i, 1, bytes);
        for h in 0..Self::halves(w) {
            let from = b.half(h);
            let mask = match lanes {
                Lanes::All => None,
                Lanes::Of(k) | Lanes::Zero(k) => self.mask(k, bytes, h),
            };
            let to = half_register(dst, h);
            match (from, mask) {
                (O::R(r), None) if y == 1 => self.list.copy(to, r),
                (o, None) => self.list.two(LOAD[y], to, o),
                (O::R(r), Some(mask)) => match lanes {
                    Lanes::Zero(_) => self.list.three(Code::VEX_Vpand_ymm_ymm_ymmm256, to, r, O::R(mask)),
                    _ => self.list.blend(to, to, O::R(r), mask),
                },
                (O::M(m), Some(mask)) if is_own_memory(m) && y == 1 => match lanes {
                    Lanes::Zero(_) => self.list.three(Code::VEX_Vpand_ymm_ymm_ymmm256, to, mask, O::M(m)),
                    _ => self.list.blend(to, to, O::M(m), mask),
                },
                // Lanes that are off may lie where nothing is.
                (O::M(m), Some(mask)) => {
                    let code = match bytes {
                        8 => [Code::VEX_Vpmaskmovq_xmm_xmm_m128, Code::VEX_Vpmaskmovq_ymm_ymm_m256][y],
                        _ => [Code::VEX_Vpmaskmovd_xmm_xmm_m128, Code::VEX_Vpmaskmovd_ymm_ymm_m256][y],
                    };
                    if let Lanes::Zero(_) = lanes {
                        self.list.masked_load(code, to, mask, m);
                    } else {
                        let t = self.list.temp();
                        self.list.masked_load(code, t, mask, m);
                        self.list.blend(to, to, O::R(t), mask);
                    }
                }
            }
        }
        // What lies behind a narrow vector is zero, whatever the lanes.
        self.clear(dst, w);
        Ok(())
    }

    /// One element in all lanes.
    pub(super) fn same_in_all(&mut self, i: &Instruction, w: usize, bytes: u32) -> Result<(), Unsupported> {
        let dst = number(i.op0_register());
        let lanes = Self::lanes(i);
        let from = match i.op1_kind() {
            OpKind::Register if i.op1_register().is_gpr() => {
                let x = self.list.temp();
                let (code, r) = match bytes {
                    8 => (Code::VEX_Vmovq_xmm_rm64, i.op1_register()),
                    _ => (Code::VEX_Vmovd_xmm_rm32, i.op1_register()),
                };
                self.list.of_gpr(code, x, r);
                let t = self.list.temp();
                self.list.two(broadcast_code(bytes), t, O::R(x));
                O::R(t)
            }
            OpKind::Register => {
                let t = self.list.temp();
                self.list.two(broadcast_code(bytes), t, O::R(half_register(number(i.op1_register()), 0)));
                O::R(t)
            }
            _ => self.broadcast(memory(i), bytes),
        };
        for h in 0..Self::halves(w) {
            self.put((dst, lanes, bytes, h), |n, to| match from {
                O::R(r) => n.list.copy(to, r),
                o => n.list.two(LOAD[1], to, o),
            });
        }
        self.clear(dst, w);
        Ok(())
    }
}

/// Does it zero its destination?
fn is_zero(i: &Instruction) -> bool {
    matches!(
        i.code(),
        Code::EVEX_Vpxord_xmm_k1z_xmm_xmmm128b32
            | Code::EVEX_Vpxord_ymm_k1z_ymm_ymmm256b32
            | Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32
    ) && i.op_mask() == Register::None
        && i.op2_kind() == OpKind::Register
        && i.op1_register() == i.op2_register()
}

/// Is it memory of the code's own, all of which may be touched?
pub(super) fn is_own_memory(m: Mem) -> bool {
    m.base == CTX || m.base == crate::context_layout::REGS
}
