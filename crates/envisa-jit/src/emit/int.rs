//! Operations of dwords and quads.

use super::*;

/// Is an integer's source negated? Nothing, where it has another modifier.
fn is_negated(s: &Src) -> Option<bool> {
    match s {
        Src::Reg { modifier: Modifier::None, .. } => Some(false),
        Src::Reg { modifier: Modifier::Neg, .. } => Some(true),
        _ => None,
    }
}

/// The same source without its modifier.
fn without_modifier(s: &Src) -> Src {
    let mut s = *s;
    if let Src::Reg { modifier, .. } = &mut s {
        *modifier = Modifier::None;
    }
    s
}

impl Emit<'_> {
    pub(super) fn dwords(
        &mut self,
        i: &Inst,
        part: &Part,
        to: V,
        scratch: V,
        lanes: Lanes,
    ) -> Result<V, Unsupported> {
        let w = part.width;
        let signed = i.exec == ExecType::I32;
        let op = match i.op {
            Op::Mov => {
                let to = if lanes == Lanes::All { to } else { 0 };
                let s = self.source(i, 0, part, to)?;
                return Ok(self.in_register(s, part, to));
            }
            Op::Add => {
                if is_negated(&i.src[1]) == Some(true) && is_negated(&i.src[0]) == Some(false) {
                    let a = self.source(i, 0, part, 1)?;
                    let sb = without_modifier(&i.src[1]);
                    let b = self.source_of(i, &sb, part, 2)?;
                    let a = self.in_register(a, part, 1);
                    self.a.v3(VPSUBD, w, to, a, b, lanes);
                    return Ok(to);
                }
                return self.two(i, part, VPADDD, to, lanes, true);
            }
            Op::Add3 => {
                let mut a = self.source(i, 0, part, 1)?;
                let mut b = self.source(i, 1, part, 2)?;
                let mut c = self.source(i, 2, part, 3)?;
                // One in a register comes first.
                if !matches!(a, Opd::Reg(_)) {
                    std::mem::swap(&mut a, if matches!(b, Opd::Reg(_)) { &mut b } else { &mut c });
                }
                let a = self.in_register(a, part, 1);
                self.a.v3(VPADDD, w, 0, a, b, Lanes::All);
                self.a.v3(VPADDD, w, to, 0, c, lanes);
                return Ok(to);
            }
            Op::Mad => {
                let a = self.source(i, 0, part, 1)?;
                let b = self.source(i, 1, part, 2)?;
                let c = self.source(i, 2, part, 3)?;
                let (a, b) = if matches!(a, Opd::Reg(_)) { (a, b) } else { (b, a) };
                let a = self.in_register(a, part, 1);
                self.a.v3(VPMULLD, w, 0, a, b, Lanes::All);
                self.a.v3(VPADDD, w, to, 0, c, lanes);
                return Ok(to);
            }
            Op::Mul => return self.two(i, part, VPMULLD, to, lanes, true),
            Op::Mulh => return self.high_products(i, part, signed),
            Op::Min if signed => VPMINSD,
            Op::Min => VPMINUD,
            Op::Max if signed => VPMAXSD,
            Op::Max => VPMAXUD,
            Op::And => VPANDD,
            Op::Or => VPORD,
            Op::Xor => VPXORD,
            Op::Not => return self.inverted(i, part, scratch),
            Op::Shl | Op::Shr | Op::Asr | Op::Rol | Op::Ror => return self.shift(i, part, to, lanes),
            Op::FunnelShift => return self.funnel_shift(i, part, to, lanes),
            Op::Bfn => return self.table_of_three(i, part),
            Op::Sel => return self.select(i, part, to, lanes),
            Op::Lzd => {
                let a = self.source(i, 0, part, 1)?;
                self.a.v2(VPLZCNTD, w, to, a, lanes);
                return Ok(to);
            }
            _ => return self.rare(i, part),
        };
        self.two(i, part, op, to, lanes, true)
    }

    /// All bits the other way round, in dwords or quads.
    fn inverted(&mut self, i: &Inst, part: &Part, scratch: V) -> Result<V, Unsupported> {
        let a = self.source(i, 0, part, 1)?;
        let a = self.in_register(a, part, 1);
        self.a.v3i(VPTERNLOGD, part.width, scratch, a, Opd::Reg(a), 0x55, Lanes::All);
        Ok(scratch)
    }

    /// What a table says of the bits of three sources, dwords or quads.
    fn table_of_three(&mut self, i: &Inst, part: &Part) -> Result<V, Unsupported> {
        let a = self.source(i, 0, part, 1)?;
        let b = self.source(i, 1, part, 2)?;
        let c = self.source(i, 2, part, 3)?;
        // The table's index is `s0 + 2 s1 + 4 s2`; the CPU's has the first operand on top.
        let b = self.in_register(b, part, 2);
        let c = self.in_register(c, part, 3);
        self.copy_reg(0, c, part.width);
        let one_quad = part.bytes == 8 && matches!(a, Opd::Bcast(_));
        let a = if one_quad { Opd::Reg(self.in_register(a, part, 1)) } else { a };
        self.a.v3i(VPTERNLOGD, part.width, 0, b, a, i.aux & 0xff, Lanes::All);
        Ok(0)
    }

    /// Upper halves of products: those of even elements, and those of odd ones.
    fn high_products(&mut self, i: &Inst, part: &Part, signed: bool) -> Result<V, Unsupported> {
        let w = part.width;
        let (a, b) = (self.source(i, 0, part, 1)?, self.source(i, 1, part, 2)?);
        let one = [a, b].map(|x| matches!(x, Opd::Bcast(_)));
        let (a, b) = (self.in_register(a, part, 1), self.in_register(b, part, 2));
        // One for all elements is in the odd places, too.
        let (a, b, one) = if one[0] { (b, a, true) } else { (a, b, one[1]) };
        let mul = if signed { VPMULDQ } else { VPMULUDQ };
        self.a.v2i(VPSRLQ, w, 3, Opd::Reg(a), 32, Lanes::All);
        if !one {
            self.a.v2i(VPSRLQ, w, 4, Opd::Reg(b), 32, Lanes::All);
        }
        self.a.v3(mul, w, 3, 3, Opd::Reg(if one { b } else { 4 }), Lanes::All);
        self.a.v3(mul, w, 4, a, Opd::Reg(b), Lanes::All);
        if w == Width::Z && self.level == Level::Avx512 {
            let upper = self.literals(std::array::from_fn(|k| (k as u32 | 1) + 16 * (k as u32 & 1)));
            self.a.v2(VMOVDQU32, w, 0, Opd::Mem(upper), Lanes::All);
            self.a.v3(VPERMI2D, w, 0, 4, Opd::Reg(3), Lanes::All);
            return Ok(0);
        }
        self.a.v2i(VPSRLQ, w, 0, Opd::Reg(4), 32, Lanes::All);
        self.a.ri(Code::Mov_r32_imm32, Register::EAX, 0xaaaa);
        self.a.rr(Code::VEX_Kmovw_kr_r32, mask_register(5), Register::EAX);
        self.a.v2(VMOVDQU32, w, 0, Opd::Reg(3), Lanes::Of(5));
        Ok(0)
    }

    pub(super) fn shift(&mut self, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Unsupported> {
        let w = part.width;
        let wide = part.bytes == 8;
        let bits = 8 * part.bytes;
        if matches!(i.op, Op::Rol | Op::Ror) && i.aux != bits {
            return Err("a rotation of narrow elements");
        }
        if let Some(n) = crate::affine_vectors::constant(self.p, &i.src[1]) {
            let n = n as u32 & (bits - 1);
            let a = self.source(i, 0, part, 1)?;
            let op = match (i.op, wide) {
                (Op::Shl, false) => VPSLLD,
                (Op::Shr, false) => VPSRLD,
                (Op::Asr, false) => VPSRAD,
                (Op::Rol, false) => VPROLD,
                (Op::Ror, false) => VPRORD,
                (Op::Shl, true) => VPSLLQ,
                (Op::Shr, true) => VPSRLQ,
                (Op::Asr, true) => VPSRAQ,
                (Op::Rol, true) => VPROLQ,
                (_, true) => VPRORQ,
                _ => return Err("a shift"),
            };
            self.a.v2i(op, w, to, a, n, lanes);
            return Ok(to);
        }
        let a = self.source(i, 0, part, 1)?;
        let a = self.in_register(a, part, 1);
        let b = self.source(i, 1, part, 2)?;
        let b = self.in_register(b, part, 2);
        let op = match (i.op, wide) {
            (Op::Shl, false) => VPSLLVD,
            (Op::Shr, false) => VPSRLVD,
            (Op::Asr, false) => VPSRAVD,
            (Op::Shl, true) => VPSLLVQ,
            (Op::Shr, true) => VPSRLVQ,
            (Op::Asr, true) => VPSRAVQ,
            (Op::Rol, false) => {
                self.a.v3(VPROLVD, w, to, a, Opd::Reg(b), lanes);
                return Ok(to);
            }
            (Op::Ror, false) => {
                self.a.v3(VPRORVD, w, to, a, Opd::Reg(b), lanes);
                return Ok(to);
            }
            (Op::Rol, true) => {
                self.a.v3(VPROLVQ, w, to, a, Opd::Reg(b), lanes);
                return Ok(to);
            }
            _ => {
                self.a.v3(VPRORVQ, w, to, a, Opd::Reg(b), lanes);
                return Ok(to);
            }
        };
        // Counts are taken modulo the width.
        if wide {
            self.a.v2i(VPSLLQ, w, 2, Opd::Reg(b), 58, Lanes::All);
            self.a.v2i(VPSRLQ, w, 2, Opd::Reg(2), 58, Lanes::All);
        } else {
            let low = self.literal(31);
            self.a.v3(VPANDD, w, 2, b, Opd::Bcast(low), Lanes::All);
        }
        self.a.v3(op, w, to, a, Opd::Reg(2), lanes);
        Ok(to)
    }

    /// The upper dwords of quads, which are in two vectors, shifted left by a constant.
    fn funnel_shift(&mut self, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Unsupported> {
        let w = part.width;
        let upper = self.source(i, 0, part, 1)?;
        let lower = self.source(i, 1, part, 2)?;
        if self.funnels {
            let upper = self.in_register(upper, part, 1);
            self.a.v3i(VPSHLDD, w, to, upper, lower, i.aux, lanes);
            return Ok(to);
        }
        self.a.v2i(VPSLLD, w, 1, upper, i.aux, Lanes::All);
        self.a.v2i(VPSRLD, w, 2, lower, 32 - i.aux, Lanes::All);
        self.a.v3(VPORD, w, to, 1, Opd::Reg(2), lanes);
        Ok(to)
    }

    pub(super) fn quads(&mut self, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Unsupported> {
        let w = part.width;
        let signed = i.exec == ExecType::I64;
        let op = match i.op {
            Op::Mov => {
                let to = if lanes == Lanes::All { to } else { 0 };
                let s = self.source(i, 0, part, to)?;
                return Ok(self.in_register(s, part, to));
            }
            Op::Add => VPADDQ,
            Op::Mul => VPMULLQ,
            Op::And => VPANDQ,
            Op::Or => VPORQ,
            Op::Xor => VPXORQ,
            Op::Min if signed => VPMINSQ,
            Op::Min => VPMINUQ,
            Op::Max if signed => VPMAXSQ,
            Op::Max => VPMAXUQ,
            Op::Mad | Op::Add3 => {
                let a = self.source(i, 0, part, 1)?;
                let b = self.source(i, 1, part, 2)?;
                let c = self.source(i, 2, part, 3)?;
                let a = self.in_register(a, part, 1);
                let first = if i.op == Op::Mad { VPMULLQ } else { VPADDQ };
                self.a.v3(first, w, 0, a, b, Lanes::All);
                self.a.v3(VPADDQ, w, to, 0, c, lanes);
                return Ok(to);
            }
            Op::Not => return self.inverted(i, part, 0),
            Op::Bfn => return self.table_of_three(i, part),
            Op::Shl | Op::Shr | Op::Asr | Op::Rol | Op::Ror => return self.shift(i, part, to, lanes),
            Op::Sel => return self.select(i, part, to, lanes),
            Op::Cbit => {
                let a = self.source(i, 0, part, 1)?;
                let a = self.in_register(a, part, 1);
                self.ones(a, w);
                // Those of both halves.
                let low = self.same_quad(0xff);
                self.a.v2i(VPSRLQ, w, 2, Opd::Reg(0), 32, Lanes::All);
                self.a.v3(VPADDQ, w, 0, 0, Opd::Reg(2), Lanes::All);
                self.a.v3(VPANDQ, w, 0, 0, low, Lanes::All);
                return Ok(0);
            }
            Op::Avg => {
                let a = self.source(i, 0, part, 1)?;
                let a = self.in_register(a, part, 1);
                let b = self.source(i, 1, part, 2)?;
                let b = self.in_register(b, part, 2);
                self.a.v3(VPXORQ, w, 3, a, Opd::Reg(b), Lanes::All);
                let half = if signed { VPSRAQ } else { VPSRLQ };
                self.a.v2i(half, w, 3, Opd::Reg(3), 1, Lanes::All);
                self.a.v3(VPORQ, w, 0, a, Opd::Reg(b), Lanes::All);
                self.a.v3(VPSUBQ, w, 0, 0, Opd::Reg(3), Lanes::All);
                return Ok(0);
            }
            Op::Div | Op::Mod => return self.quotient_in_quads(i, part),
            _ => return Err("an operation of quads"),
        };
        self.two(i, part, op, to, lanes, true)
    }
}
