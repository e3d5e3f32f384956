//! Elements from anywhere, into a vector.
//!
//! The instruction for it is a program of many steps on some CPUs, which nothing overlaps: there, single loads that are
//! put together take two thirds of its time.

use envisa_lower::Simt;

use super::memory::{Form, PTR};
use super::*;

/// Places, and how they become addresses: what they count from, indices in a vector, their factor, what is added.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub base: Register,
    pub index: V,
    pub scale: u32,
    pub plus: u32,
}

impl Places {
    /// One, by a general register.
    fn at(self, r: Register) -> Mem {
        Mem::indexed(self.base, r, self.scale, i64::from(self.plus))
    }
}

/// Indices of channels that are off are the site's first here.
const INDEX: V = 5;
/// Sixteen bytes of indices.
const QUARTER: V = 4;
/// Sixteen bytes of what is loaded.
const LOADED: V = 2;
/// The mask of the lanes of quads at hand, in its low bits.
const HALF: K = 5;
/// Lanes that are on are few if there are at most so many: they are brought together before, and apart behind.
const FEW: u32 = 4;

impl Emit<'_> {
    /// Is it better to load one after the other? All lanes that are on have passed the site.
    fn by_loads(&self, part: &Part) -> bool {
        self.loads && part.lanes == 16
    }

    /// Places all of which may be read, where some lanes are off and anything may be in these.
    pub(super) fn readable(&mut self, of: Places, on: Option<K>) -> Places {
        let Some(on) = on else { return of };
        self.a.v2(VMOVDQU32, Width::Z, INDEX, Opd::Reg(of.index), Lanes::Zero(on));
        Places { index: INDEX, ..of }
    }

    /// The indices of lanes `4 * q + 2 * second` and the next one, in `rsi` and `rax`; `rdx` may be where the other half goes.
    fn two_indices(&mut self, of: Places, q: u32, second: bool) {
        let from = if q == 0 { of.index } else { QUARTER };
        if q != 0 && !second {
            let extract = Code::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8;
            self.a.rri(
                extract,
                vector_register(QUARTER, Width::X),
                vector_register(of.index, Width::Z),
                q as i32,
            );
        }
        let from = vector_register(from, Width::X);
        if second {
            self.a.rri(Code::EVEX_Vpextrq_rm64_xmm_imm8, Register::RAX, from, 1);
        } else {
            self.a.rr(Code::EVEX_Vmovq_rm64_xmm, Register::RAX, from);
        }
        self.a.rr(Code::Mov_r32_rm32, Register::ESI, Register::EAX);
        self.a.ri(Code::Shr_rm64_imm8, Register::RAX, 32);
    }

    /// Sixteen bytes become the quarter of a vector, of which they are the first so far if they are that.
    fn quarter(&mut self, dst: V, q: u32) {
        if q != 0 {
            let w = Width::Z;
            let insert = Code::EVEX_Vinserti32x4_zmm_k1z_zmm_xmmm128_imm8;
            let i = iced_x86::Instruction::with4(
                insert,
                vector_register(dst, w),
                vector_register(dst, w),
                vector_register(LOADED, Width::X),
                q,
            );
            self.a.push(i);
        }
    }

    /// A dword for each lane, in the first vector.
    pub(super) fn load_dwords(&mut self, part: &Part, of: Places, on: Option<K>) {
        let w = part.width;
        if !self.by_loads(part) {
            self.lanes_of(part, on);
            let m = of.at(Register::None);
            self.a.v3(VPXORD, w, 0, 0, Opd::Reg(0), Lanes::All);
            self.a.gather(VPGATHERDD, w, 0, m, of.index, 5);
            return;
        }
        let done = on.map(|on| {
            let [many, done] = std::array::from_fn(|_| self.a.label());
            self.go_if_many(on, 16, many);
            self.a.compress(Width::Z, INDEX, of.index, on);
            self.four_dwords(Places { index: INDEX, ..of }, 0);
            self.a.v2(VPEXPANDD, Width::Z, 0, Opd::Reg(0), Lanes::Zero(on));
            self.a.jmp(done);
            self.a.bind(many);
            done
        });
        let of = self.readable(of, on);
        for q in 0..4 {
            self.four_dwords(of, q);
            self.quarter(0, q);
        }
        done.into_iter().for_each(|done| self.a.bind(done));
    }

    /// Goes to `many` if more than a few of a mask's first lanes are on.
    fn go_if_many(&mut self, on: K, lanes: u32, many: Label) {
        let code = if lanes == 8 { Code::VEX_Kmovb_r32_kr } else { Code::VEX_Kmovw_r32_kr };
        self.a.rr(code, Register::EAX, mask_register(on));
        self.a.rr(Code::Popcnt_r32_rm32, Register::EAX, Register::EAX);
        self.a.ri(Code::Cmp_rm32_imm8, Register::EAX, FEW as i32);
        self.a.jump(Code::Ja_rel32_64, many);
    }

    /// The dwords of four lanes, in the first vector if the lanes are the first ones.
    fn four_dwords(&mut self, of: Places, q: u32) {
        let to = vector_register(if q == 0 { 0 } else { LOADED }, Width::X);
        for second in [false, true] {
            self.two_indices(of, q, second);
            for (k, r) in [Register::RSI, Register::RAX].into_iter().enumerate() {
                let (m, at) = (of.at(r), 2 * u32::from(second) + k as u32);
                if at == 0 {
                    self.a.rm(Code::VEX_Vmovd_xmm_rm32, to, m);
                } else {
                    let insert = Code::VEX_Vpinsrd_xmm_xmm_rm32_imm8;
                    self.a.push(iced_x86::Instruction::with4(insert, to, to, m.operand(false), at));
                }
            }
        }
    }

    /// A quad for each of eight lanes, the first ones or (`h`) the others.
    pub(super) fn load_quads(&mut self, part: &Part, of: Places, (dst, h): (V, u32), on: Option<K>) {
        if !self.by_loads(part) {
            let mut index = of.index;
            if h == 1 {
                let extract = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
                self.a.rri(extract, vector_register(2, Width::Y), vector_register(index, Width::Z), 1);
                index = 2;
            }
            // Of the mask's bits the low eight count.
            match on {
                Some(on) => self.a.rri(
                    Code::VEX_Kshiftrw_kr_kr_imm8,
                    mask_register(5),
                    mask_register(on),
                    8 * h as i32,
                ),
                None => self.a.kkk(Code::VEX_Kxnorw_kr_kr_kr, 5, 5, 5),
            }
            let m = of.at(Register::None);
            self.a.v3(VPXORD, Width::Z, dst, dst, Opd::Reg(dst), Lanes::All);
            self.a.gather(VPGATHERDQ, Width::Z, dst, m, index, 5);
            return;
        }
        let done = on.map(|on| {
            let [many, done] = std::array::from_fn(|_| self.a.label());
            let mut index = of.index;
            if h == 1 {
                let extract = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
                self.a.rri(extract, vector_register(INDEX, Width::Y), vector_register(index, Width::Z), 1);
                index = INDEX;
            }
            let shift = Code::VEX_Kshiftrw_kr_kr_imm8;
            self.a.rri(shift, mask_register(HALF), mask_register(on), 8 * h as i32);
            self.go_if_many(HALF, 8, many);
            self.a.compress(Width::Y, INDEX, index, HALF);
            for q in 0..FEW / 2 {
                self.two_quads(Places { index: INDEX, ..of }, q, (dst, q));
            }
            self.a.v2(VPEXPANDQ, Width::Z, dst, Opd::Reg(dst), Lanes::Zero(HALF));
            self.a.jmp(done);
            self.a.bind(many);
            done
        });
        let of = self.readable(of, on);
        for q in 0..4 {
            self.two_quads(of, 4 * h + q, (dst, q));
        }
        done.into_iter().for_each(|done| self.a.bind(done));
    }

    /// The quads of the lanes of a pair become a quarter of a vector.
    fn two_quads(&mut self, of: Places, pair: u32, (dst, q): (V, u32)) {
        let to = vector_register(if q == 0 { dst } else { LOADED }, Width::X);
        self.two_indices(of, pair / 2, pair % 2 == 1);
        self.a.rm(Code::VEX_Vmovq_xmm_xmmm64, to, of.at(Register::RSI));
        let m = of.at(Register::RAX).operand(false);
        self.a.push(iced_x86::Instruction::with3(Code::VEX_Vmovhps_xmm_xmm_m64, to, to, m));
        self.quarter(dst, q);
    }

    /// The lanes of a gather, which it takes away one by one, in the fifth mask.
    pub(super) fn lanes_of(&mut self, part: &Part, on: Option<K>) {
        match on {
            Some(on) => self.a.kkk(Code::VEX_Korw_kr_kr_kr, 5, on, on),
            None => {
                self.a.kkk(Code::VEX_Kxnorw_kr_kr_kr, 5, 5, 5);
                if part.lanes == 8 {
                    self.a.rri(Code::VEX_Kshiftrw_kr_kr_imm8, mask_register(5), mask_register(5), 8);
                }
            }
        }
    }

    /// Pairs of dwords from anywhere, each loaded as one.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn gather_pairs(
        &mut self,
        pc: Pc,
        s: &Simt,
        form: Form,
        part: &Part,
        v: V,
        data: RegOffset,
        on: Option<K>,
    ) -> Result<(), Unsupported> {
        for h in 0..2 {
            let of = Places { base: PTR, index: v, scale: form.scale, plus: 0 };
            self.load_quads(part, of, (h as V, h), on);
        }
        for c in 0..2 {
            let which = self.literals(std::array::from_fn(|k| 2 * k as u32 + c));
            self.a.v2(VMOVDQU32, Width::Z, 2, Opd::Mem(which), Lanes::All);
            self.a.v3(VPERMI2D, Width::Z, 2, 0, Opd::Reg(1), Lanes::All);
            let to = data + c * s.component_stride + 4 * part.lane;
            let k = self.load_lanes(pc, to, on);
            self.store_part(to, 2, 4, part, k)?;
        }
        Ok(())
    }
}
