//! Operations of dwords that the CPU has no instruction for: quotients, counts, fields of bits, sums of products.

use super::*;
use crate::affine_vectors::constant;

/// Temporaries that sources do not come through.
const SPARE: [V; 2] = [6, 7];

impl Emit<'_> {
    /// A dword in all lanes, as an operand.
    fn same(&mut self, x: u32) -> Opd {
        Opd::Bcast(self.literal(x))
    }

    /// A quad in all lanes, as an operand.
    pub(super) fn same_quad(&mut self, x: u64) -> Opd {
        Opd::Mem(self.literals(std::array::from_fn(|k| (x >> (k % 2 * 32)) as u32)))
    }

    /// A source in a register, which may be `tmp`.
    fn vector_of(&mut self, i: &Inst, k: usize, part: &Part, tmp: V) -> Result<V, Unsupported> {
        let s = self.source(i, k, part, tmp)?;
        Ok(self.in_register(s, part, tmp))
    }

    /// Computes one of them into register 0.
    pub(super) fn rare(&mut self, i: &Inst, part: &Part) -> Result<V, Unsupported> {
        let w = part.width;
        let all = Lanes::All;
        match i.op {
            Op::Div | Op::Mod => self.quotient(i, part)?,
            Op::Cbit => {
                let a = self.vector_of(i, 0, part, 1)?;
                self.ones(a, w);
            }
            Op::Fbl => {
                // The lowest bit alone; without one, there are 32 zeros before it, and it is at -1.
                let a = self.vector_of(i, 0, part, 1)?;
                self.a.v3(VPXORD, w, 2, 2, Opd::Reg(2), all);
                self.a.v3(VPSUBD, w, 2, 2, Opd::Reg(a), all);
                self.a.v3(VPANDD, w, 2, a, Opd::Reg(2), all);
                self.a.v2(VPLZCNTD, w, 2, Opd::Reg(2), all);
                let last = self.literal(31);
                self.a.v2(VPBROADCASTD, w, 0, Opd::Mem(last), all);
                self.a.v3(VPSUBD, w, 0, 0, Opd::Reg(2), all);
            }
            Op::Fbh => {
                let mut a = self.vector_of(i, 0, part, 1)?;
                if i.exec == ExecType::I32 {
                    // Bits that differ from the sign.
                    self.a.v2i(VPSRAD, w, 2, Opd::Reg(a), 31, all);
                    self.a.v3(VPXORD, w, 2, 2, Opd::Reg(a), all);
                    a = 2;
                }
                self.a.v2(VPLZCNTD, w, 0, Opd::Reg(a), all);
                let (none, ones) = (self.same(32), self.literal(u32::MAX));
                self.a.vcmp(VPCMPD, w, 5, 0, none, 0, None);
                self.a.v2(VPBROADCASTD, w, 0, Opd::Mem(ones), Lanes::Of(5));
            }
            Op::Bfrev => {
                let a = self.vector_of(i, 0, part, 1)?;
                self.copy_reg(0, a, w);
                // Neighbouring bits, pairs, fours and bytes change places, and then words.
                for (by, low) in [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0f0f_0f0f), (8, 0x00ff_00ff)] {
                    let low = self.same(low);
                    self.a.v2i(VPSRLD, w, 2, Opd::Reg(0), by, all);
                    self.a.v3(VPANDD, w, 2, 2, low, all);
                    self.a.v3(VPANDD, w, 0, 0, low, all);
                    self.a.v2i(VPSLLD, w, 0, Opd::Reg(0), by, all);
                    self.a.v3(VPORD, w, 0, 0, Opd::Reg(2), all);
                }
                self.a.v2i(VPROLD, w, 0, Opd::Reg(0), 16, all);
            }
            Op::Bfe => {
                let width = self.vector_of(i, 0, part, 1)?;
                let offset = self.vector_of(i, 1, part, 2)?;
                let value = self.vector_of(i, 2, part, 3)?;
                let low = self.same(31);
                self.a.v3(VPANDD, w, SPARE[0], offset, low, all);
                self.a.v3(VPANDD, w, SPARE[1], width, low, all);
                if i.exec == ExecType::I32 {
                    // Up, so that the field's sign is the dword's, and down; by 32, if it has no bits.
                    self.a.v3(VPSRAVD, w, 0, value, Opd::Reg(SPARE[0]), all);
                    let bits = self.literal(32);
                    self.a.v2(VPBROADCASTD, w, 2, Opd::Mem(bits), all);
                    self.a.v3(VPSUBD, w, 2, 2, Opd::Reg(SPARE[1]), all);
                    self.a.v3(VPSLLVD, w, 0, 0, Opd::Reg(2), all);
                    self.a.v3(VPSRAVD, w, 0, 0, Opd::Reg(2), all);
                } else {
                    self.below(SPARE[1], w);
                    self.a.v3(VPSRLVD, w, 0, value, Opd::Reg(SPARE[0]), all);
                    self.a.v3(VPANDD, w, 0, 0, Opd::Reg(SPARE[1]), all);
                }
            }
            Op::Bfi => {
                let width = self.vector_of(i, 0, part, 1)?;
                let offset = self.vector_of(i, 1, part, 2)?;
                let low = self.same(31);
                self.a.v3(VPANDD, w, SPARE[0], offset, low, all);
                self.a.v3(VPANDD, w, SPARE[1], width, low, all);
                let value = self.vector_of(i, 2, part, 3)?;
                let base = self.vector_of(i, 3, part, 2)?;
                self.below(SPARE[1], w);
                self.a.v3(VPSLLVD, w, SPARE[1], SPARE[1], Opd::Reg(SPARE[0]), all);
                self.a.v3(VPSLLVD, w, SPARE[0], value, Opd::Reg(SPARE[0]), all);
                self.copy_reg(0, base, w);
                // Where the mask has ones those of the value, else those of the base.
                self.a.v3i(VPTERNLOGD, w, 0, SPARE[0], Opd::Reg(SPARE[1]), 0xd8, all);
            }
            Op::Avg => {
                // `(a | b) - ((a ^ b) >> 1)` has no bit too many.
                let a = self.vector_of(i, 0, part, 1)?;
                let b = self.vector_of(i, 1, part, 2)?;
                let shift = if i.exec == ExecType::I32 { VPSRAD } else { VPSRLD };
                self.a.v3(VPXORD, w, SPARE[0], a, Opd::Reg(b), all);
                self.a.v2i(shift, w, SPARE[0], Opd::Reg(SPARE[0]), 1, all);
                self.a.v3(VPORD, w, 0, a, Opd::Reg(b), all);
                self.a.v3(VPSUBD, w, 0, 0, Opd::Reg(SPARE[0]), all);
            }
            Op::Dp4a => self.four_products(i, part)?,
            _ => return Err("an operation of dwords"),
        }
        Ok(0)
    }

    /// Of a number of bits, below 32, so many ones; register 0 is lost.
    fn below(&mut self, v: V, w: Width) {
        let one = self.literal(1);
        let minus = self.same(u32::MAX);
        self.a.v2(VPBROADCASTD, w, 0, Opd::Mem(one), Lanes::All);
        self.a.v3(VPSLLVD, w, v, 0, Opd::Reg(v), Lanes::All);
        self.a.v3(VPADDD, w, v, v, minus, Lanes::All);
    }

    /// Into register 0, how many ones dwords have.
    pub(super) fn ones(&mut self, a: V, w: Width) {
        let all = Lanes::All;
        let [odd, pairs, fours, each] =
            [0x5555_5555, 0x3333_3333, 0x0f0f_0f0f, 0x0101_0101].map(|x| self.same(x));
        self.a.v2i(VPSRLD, w, 2, Opd::Reg(a), 1, all);
        self.a.v3(VPANDD, w, 2, 2, odd, all);
        self.a.v3(VPSUBD, w, 0, a, Opd::Reg(2), all);
        self.a.v2i(VPSRLD, w, 2, Opd::Reg(0), 2, all);
        self.a.v3(VPANDD, w, 2, 2, pairs, all);
        self.a.v3(VPANDD, w, 0, 0, pairs, all);
        self.a.v3(VPADDD, w, 0, 0, Opd::Reg(2), all);
        self.a.v2i(VPSRLD, w, 2, Opd::Reg(0), 4, all);
        self.a.v3(VPADDD, w, 0, 0, Opd::Reg(2), all);
        self.a.v3(VPANDD, w, 0, 0, fours, all);
        // The sum of the four bytes comes to stand in the highest.
        self.a.v3(VPMULLD, w, 0, 0, each, all);
        self.a.v2i(VPSRLD, w, 0, Opd::Reg(0), 24, all);
    }

    /// A quotient, or what is left by it, into register 0.
    ///
    /// In doubles: a quotient that is no integer is at least `1 / b` away from the next, and they are finer, however
    /// they are rounded.
    fn quotient(&mut self, i: &Inst, part: &Part) -> Result<(), Unsupported> {
        let (w, all) = (part.width, Lanes::All);
        let signed = i.exec == ExecType::I32;
        let a = self.vector_of(i, 0, part, 1)?;
        let b = self.vector_of(i, 1, part, 2)?;
        let convert = if signed { VCVTDQ2PD } else { VCVTUDQ2PD };
        // 1.5 * 2^52: added to it, an integer is in the lowest bits.
        let base = self.same_quad(0x4338_0000_0000_0000);
        let wide = Width::of(8 * part.lanes.min(8));
        for h in 0..part.lanes.div_ceil(8) {
            let [mut x, mut y] = [a, b];
            if h == 1 {
                let extract = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
                self.a.rri(extract, vector_register(3, Width::Y), vector_register(a, Width::Z), 1);
                self.a.rri(extract, vector_register(4, Width::Y), vector_register(b, Width::Z), 1);
                [x, y] = [3, 4];
            }
            self.a.v2(convert, wide, 3, Opd::Reg(x), all);
            self.a.v2(convert, wide, 4, Opd::Reg(y), all);
            self.a.v3(VDIVPD, wide, 3, 3, Opd::Reg(4), all);
            self.a.v2i(VRNDSCALEPD, wide, 3, Opd::Reg(3), 11, all);
            self.a.v3(VADDPD, wide, 3, 3, base, all);
            let to = if h == 1 { 3 } else { 0 };
            self.a.store_to_reg(VPMOVQD, wide, to, 3);
            if h == 1 {
                let insert = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
                let [low, high] = [vector_register(0, Width::Z), vector_register(3, Width::Y)];
                self.a.push(iced_x86::Instruction::with4(insert, low, low, high, 1));
            }
        }
        if i.op == Op::Mod {
            self.a.v3(VPMULLD, w, 0, 0, Opd::Reg(b), all);
            self.a.v3(VPSUBD, w, 0, a, Opd::Reg(0), all);
        }
        if constant(self.p, &i.src[1]).is_some_and(|b| b as u32 != 0) {
            return Ok(());
        }
        // By zero: all ones, or of the numerator's sign as much as there is.
        self.a.v3(VPXORD, w, 3, 3, Opd::Reg(3), all);
        self.a.vcmp(VPCMPUD, w, 5, b, Opd::Reg(3), 0, None);
        if signed {
            let most = self.same(0x7fff_ffff);
            self.a.v2i(VPSRAD, w, 3, Opd::Reg(a), 31, all);
            self.a.v3(VPXORD, w, 3, 3, most, all);
            self.a.v2(VMOVDQU32, w, 0, Opd::Reg(3), Lanes::Of(5));
        } else {
            let ones = self.literal(u32::MAX);
            self.a.v2(VPBROADCASTD, w, 0, Opd::Mem(ones), Lanes::Of(5));
        }
        Ok(())
    }

    /// The same in quads, of dwords of which some have a sign and others none.
    pub(super) fn quotient_in_quads(&mut self, i: &Inst, part: &Part) -> Result<V, Unsupported> {
        let (w, all) = (part.width, Lanes::All);
        let small = |s: &Src| match (constant(self.p, s), *s) {
            (Some(x), _) => x.unsigned_abs() <= 1 << 33,
            (None, Src::Reg { ty, .. }) => ty.is_int() && ty.size() <= 4,
            _ => false,
        };
        if i.exec != ExecType::I64 || !i.src[..2].iter().all(small) {
            return self.quotient_of_any_quads(i, part);
        }
        let a = self.vector_of(i, 0, part, 1)?;
        let b = self.vector_of(i, 1, part, 2)?;
        let base = self.same_quad(0x4338_0000_0000_0000);
        self.a.v2(VCVTQQ2PD, w, 3, Opd::Reg(a), all);
        self.a.v2(VCVTQQ2PD, w, 4, Opd::Reg(b), all);
        self.a.v3(VDIVPD, w, 3, 3, Opd::Reg(4), all);
        self.a.v2i(VRNDSCALEPD, w, 3, Opd::Reg(3), 11, all);
        self.a.v3(VADDPD, w, 3, 3, base, all);
        self.a.v3(VPSUBQ, w, 0, 3, base, all);
        if i.op == Op::Mod {
            self.a.v3(VPMULLQ, w, 0, 0, Opd::Reg(b), all);
            self.a.v3(VPSUBQ, w, 0, a, Opd::Reg(0), all);
        }
        self.a.v3(VPXORD, w, 4, 4, Opd::Reg(4), all);
        self.a.vcmp(VPCMPUQ, w, 5, b, Opd::Reg(4), 0, None);
        let most = self.same_quad(i64::MAX as u64);
        self.a.v2i(VPSRAQ, w, 3, Opd::Reg(a), 63, all);
        self.a.v3(VPXORQ, w, 3, 3, most, all);
        self.a.v2(VMOVDQU64, w, 0, Opd::Reg(3), Lanes::Of(5));
        Ok(0)
    }

    /// The same of quads without a sign, whatever they are. Doubles give a quotient that is too small by a little: what is left
    /// is divided again, which is then too small by one at most. Factors make up for what any rounding adds.
    fn quotient_of_any_quads(&mut self, i: &Inst, part: &Part) -> Result<V, Unsupported> {
        const DIVISOR: V = SPARE[0];
        const LEFT: V = SPARE[1];
        if i.exec != ExecType::U64 {
            return Err("a quotient of quads");
        }
        let (w, all) = (part.width, Lanes::All);
        let a = self.vector_of(i, 0, part, 1)?;
        let b = self.vector_of(i, 1, part, 2)?;
        // 1 - 2^-49: four roundings add less than 2^-50.
        let less = self.same_quad((1.0 - 2f64.powi(-49)).to_bits());
        self.a.v2(VCVTUQQ2PD, w, DIVISOR, Opd::Reg(b), all);
        let mut left = a;
        for again in [false, true] {
            self.a.v2(VCVTUQQ2PD, w, 3, Opd::Reg(left), all);
            self.a.v3(VDIVPD, w, 3, 3, Opd::Reg(DIVISOR), all);
            self.a.v3(VMULPD, w, 3, 3, less, all);
            if self.level == Level::Avx512 {
                self.a.v2(VCVTTPD2UQQ, w, 3, Opd::Reg(3), all);
            } else {
                self.integers(3, part, Type::Uq, 3);
            }
            if again {
                self.a.v3(VPADDQ, w, 0, 0, Opd::Reg(3), all);
            } else {
                self.copy_reg(0, 3, w);
            }
            self.a.v3(VPMULLQ, w, 3, 3, Opd::Reg(b), all);
            self.a.v3(VPSUBQ, w, LEFT, left, Opd::Reg(3), all);
            left = LEFT;
        }
        // Where it is not less than the divisor, there is one more.
        self.a.vcmp(VPCMPUQ, w, 5, LEFT, Opd::Reg(b), 5, None);
        if i.op == Op::Mod {
            self.a.v3(VPSUBQ, w, LEFT, LEFT, Opd::Reg(b), Lanes::Of(5));
            self.copy_reg(0, LEFT, w);
        } else {
            let one = self.same_quad(1);
            self.a.v3(VPADDQ, w, 0, 0, one, Lanes::Of(5));
        }
        // By zero: all ones.
        self.a.v3(VPXORD, w, 3, 3, Opd::Reg(3), all);
        self.a.vcmp(VPCMPUQ, w, 5, b, Opd::Reg(3), 0, None);
        let ones = self.same_quad(u64::MAX);
        self.a.v2(VMOVDQU64, w, 0, ones, Lanes::Of(5));
        Ok(0)
    }

    /// A sum and four products of bytes, into register 0: not all CPUs have them, nor those of all signs.
    fn four_products(&mut self, i: &Inst, part: &Part) -> Result<(), Unsupported> {
        let (w, all) = (part.width, Lanes::All);
        let of = |s: &Src| match *s {
            Src::Reg { ty, modifier: Modifier::None, .. } if ty.is_int() && ty.size() == 4 => {
                Ok(ty.is_signed())
            }
            _ => Err("bytes of another type"),
        };
        let signs = [of(&i.src[1])?, of(&i.src[2])?];
        let sum = self.vector_of(i, 0, part, 1)?;
        self.copy_reg(0, sum, w);
        let b = self.vector_of(i, 1, part, 2)?;
        let c = self.vector_of(i, 2, part, 3)?;
        for k in 0..4 {
            for (from, signed, to) in [(b, signs[0], SPARE[0]), (c, signs[1], SPARE[1])] {
                let up = 24 - 8 * k;
                let mut from = from;
                if up != 0 {
                    self.a.v2i(VPSLLD, w, to, Opd::Reg(from), up, all);
                    from = to;
                }
                let down = if signed { VPSRAD } else { VPSRLD };
                self.a.v2i(down, w, to, Opd::Reg(from), 24, all);
            }
            self.a.v3(VPMULLD, w, SPARE[0], SPARE[0], Opd::Reg(SPARE[1]), all);
            self.a.v3(VPADDD, w, 0, 0, Opd::Reg(SPARE[0]), all);
        }
        Ok(())
    }
}
