//! Elements that change places or sizes.

use iced_x86::{Code, Instruction, OpKind};

use super::guest_memory::Masked;
use super::step_list::{O, Reg, STORE, half_register};
use super::vector::{Lanes, Src, is_own_memory, number};
use super::*;
use crate::vector_encodings::Name;

const AND: Code = Code::VEX_Vpand_ymm_ymm_ymmm256;
const PERMUTE: Code = Code::VEX_Vpermd_ymm_ymm_ymmm256;
const SHIFT: Code = Code::VEX_Vpslld_ymm_ymm_imm8;
const BLEND: Code = Code::VEX_Vpblendd_ymm_ymm_ymmm256_imm8;
const HIGH: Code = Code::VEX_Vextracti128_xmmm128_ymm_imm8;
const QUARTERS: Code = Code::VEX_Vpermq_ymm_ymmm256_imm8;

impl Narrow<'_> {
    /// The element of sixteen that each index names.
    fn of_sixteen(&mut self, index: Reg, table: [O; 2]) -> Reg {
        let [low, high, which, to] = std::array::from_fn(|_| self.list.temp());
        self.list.three(PERMUTE, low, index, table[0]);
        self.list.three(PERMUTE, high, index, table[1]);
        self.list.two_i(SHIFT, which, O::R(index), 28);
        self.list.blend(to, low, O::R(high), which);
        to
    }

    /// The elements that half an index names whose numbers are known: of each source those that are wanted.
    fn of_known(&mut self, index: Reg, known: &[u32], sources: &[O]) -> Reg {
        let from = |lane: usize| (known[lane] / 8) as usize % sources.len();
        let mut made: Option<Reg> = None;
        for (k, source) in sources.iter().enumerate() {
            let lanes = (0..8).filter(|l| from(*l) == k).fold(0, |all, l| all | 1 << l);
            if lanes == 0 {
                continue;
            }
            let there = (0..8).all(|l| from(l) != k || known[l] % 8 == l as u32);
            let own = if there {
                *source
            } else {
                let t = self.list.temp();
                self.list.three(PERMUTE, t, index, *source);
                O::R(t)
            };
            made = Some(match made {
                None => {
                    // Both halves are made before either goes to where it belongs.
                    let (t, r) = (self.list.temp(), self.list.in_reg(own));
                    self.list.copy(t, r);
                    t
                }
                Some(before) => {
                    let to = self.list.temp();
                    self.list.three_i(BLEND, to, before, own, lanes);
                    to
                }
            });
        }
        made.unwrap_or(index)
    }

    pub(super) fn permute(&mut self, i: &Instruction, w: usize) -> Result<(), Unsupported> {
        Self::whole(i)?;
        let (dst, index) = (number(i.op0_register()), number(i.op1_register()));
        let table = self.src(i, 2, 4);
        let table = [table.half(0), table.half(1)];
        let known = self.index(index);
        let made: Vec<Reg> = (0..Self::halves(w))
            .map(|h| match known {
                Some(x) => self.of_known(half_register(index, h), &x[8 * h as usize..][..8], &table),
                None => self.of_sixteen(half_register(index, h), table),
            })
            .collect();
        for (h, r) in made.into_iter().enumerate() {
            self.list.copy(half_register(dst, h as u32), r);
        }
        Ok(())
    }

    /// Elements of two vectors; the index is where the result goes.
    pub(super) fn permute_two(&mut self, i: &Instruction, w: usize) -> Result<(), Unsupported> {
        Self::whole(i)?;
        let (dst, a) = (number(i.op0_register()), number(i.op1_register()));
        let b = self.src(i, 2, 4);
        let a = [0, 1].map(|h| half_register(a, h));
        if w != 2 {
            let known = self.index(dst).filter(|_| w == 1);
            let known = known.ok_or("a permutation of less than 64 bytes that is not known")?;
            let to = half_register(dst, 0);
            let made = self.of_known(to, &known[..8], &[O::R(a[0]), b.half(0)]);
            self.list.copy(to, made);
            self.list.zero(half_register(dst, 1));
            return Ok(());
        }
        let made: Vec<Reg> = match self.index(dst) {
            Some(x) if (0..2).any(|c| x == std::array::from_fn(|k| 2 * k as u32 + c)) => {
                let imm = if x[0] == 0 { 0x88 } else { 0xdd };
                let b = [0, 1].map(|h| self.list.in_reg(b.half(h)));
                [a, b].map(|p| self.every_other(p, imm)).into()
            }
            Some(x)
                if (0..2u32)
                    .any(|h| x == std::array::from_fn(|k| 8 * h + k as u32 / 2 + k as u32 % 2 * 16)) =>
            {
                let h = x[0] / 8;
                self.in_turn(a[h as usize], b.half(h)).into()
            }
            Some(x) => {
                let all = [O::R(a[0]), O::R(a[1]), b.half(0), b.half(1)];
                (0..2)
                    .map(|h| self.of_known(half_register(dst, h), &x[8 * h as usize..][..8], &all))
                    .collect()
            }
            None => (0..2)
                .map(|h| {
                    let index = half_register(dst, h);
                    let first = self.of_sixteen(index, a.map(O::R));
                    let second = self.of_sixteen(index, [b.half(0), b.half(1)]);
                    let (which, to) = (self.list.temp(), self.list.temp());
                    self.list.two_i(SHIFT, which, O::R(index), 27);
                    self.list.blend(to, first, O::R(second), which);
                    to
                })
                .collect(),
        };
        for (h, r) in made.into_iter().enumerate() {
            self.list.copy(half_register(dst, h as u32), r);
        }
        Ok(())
    }

    /// Eight of sixteen dwords, every other one.
    fn every_other(&mut self, of: [Reg; 2], imm: u32) -> Reg {
        let (t, u) = (self.list.temp(), self.list.temp());
        self.list.three_i(Code::VEX_Vshufps_ymm_ymm_ymmm256_imm8, t, of[0], O::R(of[1]), imm);
        self.list.two_i(QUARTERS, u, O::R(t), 0xd8);
        u
    }

    /// Dwords of two vectors by turns.
    fn in_turn(&mut self, a: Reg, b: O) -> [Reg; 2] {
        let [low, high, x, y] = std::array::from_fn(|_| self.list.temp());
        self.list.three(Code::VEX_Vpunpckldq_ymm_ymm_ymmm256, low, a, b);
        self.list.three(Code::VEX_Vpunpckhdq_ymm_ymm_ymmm256, high, a, b);
        let halves = Code::VEX_Vperm2i128_ymm_ymm_ymmm256_imm8;
        self.list.three_i(halves, x, low, O::R(high), 0x20);
        self.list.three_i(halves, y, low, O::R(high), 0x31);
        [x, y]
    }

    /// Halves of a result whose elements are larger than the source's.
    pub(super) fn widened(
        &mut self,
        i: &Instruction,
        w: usize,
        code: Code,
        per: u32,
    ) -> Result<Vec<Reg>, Unsupported> {
        if i.is_broadcast() {
            return Err("a conversion of one element");
        }
        let from = self.src(i, 1, 0);
        Ok((0..Self::halves(w))
            .map(|h| {
                let o = match from {
                    Src::M(m) => O::M(m.plus(per * h)),
                    Src::V(v) if h == 1 => {
                        let t = self.list.temp();
                        match per {
                            16 => self.list.two_i(HIGH, t, O::R(half_register(v, 0)), 1),
                            _ => self.list.two_i(
                                Code::VEX_Vpsrldq_xmm_xmm_imm8,
                                t,
                                O::R(half_register(v, 0)),
                                8,
                            ),
                        }
                        O::R(t)
                    }
                    Src::V(v) => O::R(half_register(v, 0)),
                    Src::Same(o) => o,
                };
                let t = self.list.temp();
                self.list.two(code, t, o);
                t
            })
            .collect())
    }

    pub(super) fn widen(&mut self, i: &Instruction, w: usize, name: Name) -> Result<(), Unsupported> {
        use Code as C;
        use Name as N;
        let (codes, per, bytes) = match name {
            N::VPMOVSXBD => ([C::VEX_Vpmovsxbd_xmm_xmmm32, C::VEX_Vpmovsxbd_ymm_xmmm64], 8, 4),
            N::VPMOVZXBD => ([C::VEX_Vpmovzxbd_xmm_xmmm32, C::VEX_Vpmovzxbd_ymm_xmmm64], 8, 4),
            N::VPMOVSXWD => ([C::VEX_Vpmovsxwd_xmm_xmmm64, C::VEX_Vpmovsxwd_ymm_xmmm128], 16, 4),
            N::VPMOVZXWD => ([C::VEX_Vpmovzxwd_xmm_xmmm64, C::VEX_Vpmovzxwd_ymm_xmmm128], 16, 4),
            N::VPMOVSXBW => ([C::VEX_Vpmovsxbw_xmm_xmmm64, C::VEX_Vpmovsxbw_ymm_xmmm128], 16, 2),
            N::VPMOVZXBW => ([C::VEX_Vpmovzxbw_xmm_xmmm64, C::VEX_Vpmovzxbw_ymm_xmmm128], 16, 2),
            N::VPMOVSXDQ => ([C::VEX_Vpmovsxdq_xmm_xmmm64, C::VEX_Vpmovsxdq_ymm_xmmm128], 16, 8),
            N::VPMOVZXDQ => ([C::VEX_Vpmovzxdq_xmm_xmmm64, C::VEX_Vpmovzxdq_ymm_xmmm128], 16, 8),
            N::VCVTPH2PS => ([C::VEX_Vcvtph2ps_xmm_xmmm64, C::VEX_Vcvtph2ps_ymm_xmmm128], 16, 4),
            N::VCVTPS2PD => ([C::VEX_Vcvtps2pd_xmm_xmmm64, C::VEX_Vcvtps2pd_ymm_xmmm128], 16, 8),
            _ => ([C::VEX_Vcvtdq2pd_xmm_xmmm64, C::VEX_Vcvtdq2pd_ymm_xmmm128], 16, 8),
        };
        let code = codes[usize::from(w > 0)];
        let dst = number(i.op0_register());
        let lanes = Self::lanes(i);
        let guest = i.op1_kind() == OpKind::Memory && !is_own_memory(memory(i));
        let made = match lanes {
            Lanes::Of(k) | Lanes::Zero(k) if guest && self.mask(k, 4, 0).is_some() => {
                let element = match name {
                    N::VPMOVZXWD => 2,
                    N::VPMOVZXBD => 1,
                    _ => return Err("a conversion of the lanes of a mask"),
                };
                self.narrow_elements(memory(i), Masked { k, w, element }, code)
            }
            _ => self.widened(i, w, code, per)?,
        };
        for (h, r) in made.into_iter().enumerate() {
            self.put((dst, lanes, bytes, h as u32), |n, to| n.list.copy(to, r));
        }
        self.clear(dst, w);
        Ok(())
    }

    /// Elements made narrower; the bytes that they are, and the register that has them.
    fn packed_elements(&mut self, i: &Instruction, w: usize, name: Name) -> (Reg, u32) {
        let [from, other] = [0, 1].map(|h| half_register(number(i.op1_register()), h));
        use Code as C;
        let words = |n: &mut Self, low: u32| {
            let low = n.all(low);
            let a = n.list.temp();
            n.list.three(AND, a, from, O::M(low));
            let t = n.list.temp();
            if w == 2 {
                let (b, u) = (n.list.temp(), n.list.temp());
                n.list.three(AND, b, other, O::M(low));
                n.list.three(C::VEX_Vpackusdw_ymm_ymm_ymmm256, u, a, O::R(b));
                n.list.two_i(QUARTERS, t, O::R(u), 0xd8);
            } else {
                let b = n.list.temp();
                n.list.two_i(HIGH, b, O::R(a), 1);
                n.list.three(C::VEX_Vpackusdw_xmm_xmm_xmmm128, t, a, O::R(b));
            }
            t
        };
        let bytes = [4, 8, 16][w];
        match name {
            Name::VPMOVDW => (words(self, 0xffff), 2 * bytes),
            Name::VPMOVDB => {
                let t = words(self, 0xff);
                let (b, u) = (self.list.temp(), self.list.temp());
                if w == 2 {
                    self.list.two_i(HIGH, b, O::R(t), 1);
                } else {
                    self.list.zero(b);
                }
                self.list.three(C::VEX_Vpackuswb_xmm_xmm_xmmm128, u, t, O::R(b));
                (u, bytes)
            }
            Name::VPMOVWB => {
                let low = self.all(0x00ff_00ff);
                let [a, b, t] = std::array::from_fn(|_| self.list.temp());
                self.list.three(AND, a, from, O::M(low));
                if w == 2 {
                    let u = self.list.temp();
                    self.list.three(AND, b, other, O::M(low));
                    self.list.three(C::VEX_Vpackuswb_ymm_ymm_ymmm256, u, a, O::R(b));
                    self.list.two_i(QUARTERS, t, O::R(u), 0xd8);
                } else {
                    self.list.two_i(HIGH, b, O::R(a), 1);
                    self.list.three(C::VEX_Vpackuswb_xmm_xmm_xmmm128, t, a, O::R(b));
                }
                (t, 2 * bytes)
            }
            Name::VPMOVQD if w == 2 => (self.every_other([from, other], 0x88), 32),
            Name::VPMOVQD => {
                let (b, t) = (self.list.temp(), self.list.temp());
                self.list.two_i(HIGH, b, O::R(from), 1);
                self.list.three_i(C::VEX_Vshufps_xmm_xmm_xmmm128_imm8, t, from, O::R(b), 0x88);
                (t, 2 * bytes)
            }
            Name::VCVTPD2PS => {
                let code = [C::VEX_Vcvtpd2ps_xmm_xmmm128, C::VEX_Vcvtpd2ps_xmm_ymmm256][usize::from(w > 0)];
                let t = self.list.temp();
                self.list.two(code, t, O::R(from));
                if w < 2 {
                    return (t, 2 * bytes);
                }
                let (b, u) = (self.list.temp(), self.list.temp());
                self.list.two(code, b, O::R(other));
                self.list.three_i(C::VEX_Vinserti128_ymm_ymm_xmmm128_imm8, u, t, O::R(b), 1);
                (u, 32)
            }
            _ => {
                // Rounded as the immediate asks for.
                let how = i.immediate8().into();
                let t = self.list.temp();
                self.list.half_floats(t, from, w > 0, how);
                if w < 2 {
                    return (t, 2 * bytes);
                }
                let (b, u) = (self.list.temp(), self.list.temp());
                self.list.half_floats(b, other, true, how);
                self.list.three_i(C::VEX_Vinserti128_ymm_ymm_xmmm128_imm8, u, t, O::R(b), 1);
                (u, 32)
            }
        }
    }

    pub(super) fn shrink(&mut self, i: &Instruction, w: usize, name: Name) -> Result<(), Unsupported> {
        if i.op1_kind() != OpKind::Register {
            return Err("elements in memory made narrower");
        }
        let (r, bytes) = self.packed_elements(i, w, name);
        if i.op0_kind() == OpKind::Register {
            Self::whole(i)?;
            let to = number(i.op0_register());
            self.list.copy(half_register(to, 0), r);
            self.list.zero(half_register(to, 1));
            return Ok(());
        }
        let m = memory(i);
        if let Lanes::Of(k) = Self::lanes(i)
            && self.mask(k, 4, 0).is_some()
        {
            let element = match name {
                Name::VPMOVDW => 2,
                Name::VPMOVDB => 1,
                _ => return Err("a conversion of the lanes of a mask"),
            };
            if w == 0 {
                return Err("few elements of a mask");
            }
            self.store_narrow(m, Masked { k, w, element }, r, bytes);
        } else {
            self.store_bytes(m, r, bytes)?;
        }
        self.written(m, bytes);
        Ok(())
    }

    /// Stores the first bytes of a register.
    pub(super) fn store_bytes(&mut self, m: Mem, r: Reg, bytes: u32) -> Result<(), Unsupported> {
        let code = match bytes {
            32 => STORE[1],
            16 => STORE[0],
            8 => Code::VEX_Vmovq_xmmm64_xmm,
            4 => Code::VEX_Vmovd_rm32_xmm,
            _ => return Err("few bytes"),
        };
        self.list.store(code, m, r);
        Ok(())
    }

    /// What a vector was loaded with, if that is dwords of the context that stay.
    fn index(&self, v: crate::asm::V) -> Option<[u32; 16]> {
        let (_, m) = self.indices.iter().find(|l| l.0 == v)?;
        let k = u32::try_from(m.disp).ok()?.checked_sub(self.given.pool_at)? as usize / 4;
        self.given.pool.get(k..k + 16)?.try_into().ok()
    }

    /// A vector is loaded from memory, or becomes something else.
    pub(super) fn remember(&mut self, i: &Instruction) {
        if i.op_count() < 2 || i.op0_kind() != OpKind::Register || !i.op0_register().is_zmm() {
            if i.op_count() > 0 && i.op0_kind() == OpKind::Register && i.op0_register().is_vector_register() {
                let v = number(i.op0_register());
                self.indices.retain(|l| l.0 != v);
            }
            return;
        }
        let v = number(i.op0_register());
        self.indices.retain(|l| l.0 != v);
        let plain = i.code() == Code::EVEX_Vmovdqu32_zmm_k1z_zmmm512 && i.op1_kind() == OpKind::Memory;
        let m = memory(i);
        if plain && m.base == CTX && i.op_mask() == iced_x86::Register::None {
            self.indices.push((v, m));
        }
    }
}
