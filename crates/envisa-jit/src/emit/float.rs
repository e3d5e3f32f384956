//! Operations of singles and doubles.

use super::alu::is_float;
use super::mode::embedded_control;
use super::*;
use envisa_sem::{Mode, Rounding};

/// A source without its negation, and whether it has one: in a sum that is the operation's (`envisa_sem::nan`).
fn signed(s: &Src) -> Option<(bool, Src)> {
    let mut s = *s;
    let Src::Reg { modifier, .. } = &mut s else { return None };
    let (negated, rest) = match *modifier {
        Modifier::None => (false, Modifier::None),
        Modifier::Neg => (true, Modifier::None),
        Modifier::Abs => (false, Modifier::Abs),
        Modifier::NegAbs => (true, Modifier::Abs),
        _ => return None,
    };
    *modifier = rest;
    Some((negated, s))
}

/// A fused operation by the order of its operands: `to * c + b`, `b * to + c`, `b * c + to`. The first two that are
/// named are the factors, of which the first comes first where both are NaN.
struct Fused {
    by132: crate::vector_encodings::Op,
    by213: crate::vector_encodings::Op,
    by231: crate::vector_encodings::Op,
}

/// The fused operations of a format, by the signs of the product and of what is added.
macro_rules! fused {
    ($($a:ident $b:ident $c:ident)*) => {
        [$(Fused { by132: $a, by213: $b, by231: $c },)*]
    };
}

/// The operations on singles or on doubles.
fn fused_ops(wide: bool, product: bool, addend: bool) -> Fused {
    let [a, b, c, d] = if wide {
        fused! {
            VFMADD132PD VFMADD213PD VFMADD231PD
            VFMSUB132PD VFMSUB213PD VFMSUB231PD
            VFNMADD132PD VFNMADD213PD VFNMADD231PD
            VFNMSUB132PD VFNMSUB213PD VFNMSUB231PD
        }
    } else {
        fused! {
            VFMADD132PS VFMADD213PS VFMADD231PS
            VFMSUB132PS VFMSUB213PS VFMSUB231PS
            VFNMADD132PS VFNMADD213PS VFNMADD231PS
            VFNMSUB132PS VFNMSUB213PS VFNMSUB231PS
        }
    };
    match (product, addend) {
        (false, false) => a,
        (false, true) => b,
        (true, false) => c,
        (true, true) => d,
    }
}

impl Emit<'_> {
    /// Is a source's value never NaN?
    fn is_number(&self, s: &Src) -> bool {
        let Src::Reg { offset, ty, constant, .. } = *s else { return false };
        if ty.is_int() {
            return true;
        }
        let bytes = self.p.registers().constants.get(offset as usize..(offset + ty.size()) as usize);
        let Some(bytes) = bytes.filter(|_| constant) else { return false };
        match ty {
            Type::F => bytes.try_into().is_ok_and(|b| !f32::from_le_bytes(b).is_nan()),
            Type::Df => bytes.try_into().is_ok_and(|b| !f64::from_le_bytes(b).is_nan()),
            _ => false,
        }
    }

    /// May two operands be swapped, as far as NaNs are concerned?
    fn swappable(&self, i: &Inst, a: usize, b: usize) -> bool {
        !is_float(i.exec) || self.is_number(&i.src[a]) || self.is_number(&i.src[b])
    }

    /// `to = op(a, b)`, the operands swapped where that spares a load.
    pub(super) fn two(
        &mut self,
        i: &Inst,
        part: &Part,
        op: crate::vector_encodings::Op,
        to: V,
        lanes: Lanes,
        commutes: bool,
    ) -> Result<V, Unsupported> {
        let a = self.source(i, 0, part, 1)?;
        let (a, b) = if i.src[0] == i.src[1] {
            // What is converted is so once.
            let a = Opd::Reg(self.in_register(a, part, 1));
            (a, a)
        } else {
            (a, self.source(i, 1, part, 2)?)
        };
        let (a, b) = match (a, b) {
            (Opd::Mem(_) | Opd::Bcast(_), Opd::Reg(_)) if commutes && self.swappable(i, 0, 1) => (b, a),
            other => other,
        };
        let a = self.in_register(a, part, 1);
        // Where they were swapped, the first may be where the second would be.
        let b = self.rounded_operand(b, part, if a == 2 { 1 } else { 2 });
        self.a.v3(op, part.width, to, a, b, lanes);
        Ok(to)
    }

    /// A sum or difference of singles or doubles.
    fn sum(&mut self, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Unsupported> {
        let wide = part.bytes == 8;
        let [add, sub] = if wide { [VADDPD, VSUBPD] } else { [VADDPS, VSUBPS] };
        let (n0, s0) = signed(&i.src[0]).ok_or("a modifier of a sum")?;
        let (n1, s1) = signed(&i.src[1]).ok_or("a modifier of a sum")?;
        let op = match (n0, n1) {
            (false, false) => return self.two(i, part, add, to, lanes, true),
            (true, true) => {
                let a = self.source_of(i, &s0, part, 1)?;
                let b = self.source_of(i, &s1, part, 3)?;
                let one = match wide {
                    true => Opd::Mem(
                        self.literals(std::array::from_fn(|k| if k % 2 == 1 { 0x3ff0_0000 } else { 0 })),
                    ),
                    false => Opd::Bcast(self.literal(1f32.to_bits())),
                };
                return Ok(self.fuse(part, fused_ops(wide, true, true), (a, one, b), true, to, lanes));
            }
            _ => sub,
        };
        let (a, b) = if n1 { (s0, s1) } else { (s1, s0) };
        let a = self.source_of(i, &a, part, 1)?;
        let b = self.source_of(i, &b, part, 2)?;
        let a = self.in_register(a, part, 1);
        let b = self.rounded_operand(b, part, 2);
        self.a.v3(op, part.width, to, a, b, lanes);
        Ok(to)
    }

    /// A fused product and sum of singles or doubles.
    fn mad(&mut self, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Unsupported> {
        let mut s = [Opd::Reg(0); 3];
        let mut signs = [false; 3];
        for k in 0..3 {
            let (negated, src) = signed(&i.src[k]).ok_or("a modifier of a sum")?;
            signs[k] = negated;
            s[k] = self.source_of(i, &src, part, k as u8 + 1)?;
        }
        let op = fused_ops(part.bytes == 8, signs[0] ^ signs[1], signs[2]);
        let any = self.swappable(i, 0, 1);
        // Temporaries 1 to 3 hold operands; a copy goes to register 0.
        Ok(self.fuse(part, op, (s[0], s[1], s[2]), any, to, lanes))
    }

    /// A fused product and sum of halves, as singles that may be rounded once more: of the two singles beside a sum that is
    /// none, the one whose last bit is set, which no half and nothing halfway between two of them has (Boldo and Melquiond,
    /// "Emulation of a FMA and Correctly Rounded Sums", 2008).
    fn mad_halves(&mut self, i: &Inst, part: &Part) -> Result<V, Unsupported> {
        if !matches!(i.dst, Dst::Reg { ty: Type::Hf, .. }) || self.a.rounding.is_on() {
            return Err("a fused product and sum of halves");
        }
        let mut s = [0; 3];
        let mut signs = [false; 3];
        for k in 0..3 {
            let (negated, src) = signed(&i.src[k]).ok_or("a modifier of a sum")?;
            signs[k] = negated;
            let tmp = k as V + 1;
            let from = self.source_of(i, &src, part, tmp)?;
            s[k] = self.in_register(from, part, tmp);
        }
        let [a, b, c] = s;
        let op = fused_ops(false, signs[0] ^ signs[1], signs[2]);
        let before = self.rounding;
        // Instructions on all lanes of AVX-512 have a direction of their own.
        let w = if self.level == Level::Avx512 { Width::Z } else { part.width };
        self.copy_reg(0, c, w);
        self.copy_reg(3, c, w);
        for (to, direction) in [(0, Rounding::Down), (3, Rounding::Up)] {
            if self.level == Level::Avx512 {
                self.a.rounding.begin(embedded_control(direction));
            } else {
                self.rounds(direction);
            }
            self.a.v3(op.by231, w, to, a, Opd::Reg(b), Lanes::All);
            self.a.rounding.end();
        }
        self.rounds(before);
        // A sum that comes to nothing has the sign that its direction gives it.
        let (odd, other) = if self.mode().rounding() == Rounding::Down { (3, 0) } else { (0, 3) };
        let one = Opd::Bcast(self.literal(1));
        self.a.v3(VPANDD, w, 4, odd, one, Lanes::All);
        self.a.vcmp(VPCMPUD, w, 5, 4, one, 0, None);
        self.a.v2(VMOVDQU32, w, other, Opd::Reg(odd), Lanes::Of(5));
        Ok(other)
    }

    /// `a * b + c`; of the factors either may come first if `any`.
    fn fuse(
        &mut self,
        part: &Part,
        op: Fused,
        (a, b, c): (Opd, Opd, Opd),
        any: bool,
        to: V,
        lanes: Lanes,
    ) -> V {
        let w = part.width;
        let (mut a, mut b, c) = (
            self.rounded_operand(a, part, 1),
            self.rounded_operand(b, part, 2),
            self.rounded_operand(c, part, 3),
        );
        let any = any || a == b;
        let here = Opd::Reg(to);
        let register = |o: Opd| matches!(o, Opd::Reg(_));
        // Into the addend, if that is the destination; into a factor, if that is; else into a copy.
        if c != here && (a == here || b == here) {
            if any && a == here {
                (a, b) = (b, a);
            }
            if b == here {
                let a = self.in_register(a, part, 1);
                self.a.v3(op.by213, w, to, a, c, lanes);
            } else {
                let c = self.in_register(c, part, 3);
                self.a.v3(op.by132, w, to, c, b, lanes);
            }
            return to;
        }
        if any && !register(a) {
            (a, b) = (b, a);
        }
        let a = self.in_register(a, part, 1);
        if c == here {
            self.a.v3(op.by231, w, to, a, b, lanes);
            return to;
        }
        let to = if lanes == Lanes::All { to } else { 0 };
        match (b, c) {
            // Whichever is in memory is the last operand.
            (Opd::Reg(b), Opd::Mem(_) | Opd::Bcast(_)) => {
                self.copy_reg(to, b, w);
                self.a.v3(op.by213, w, to, a, c, Lanes::All);
            }
            (b, c) => {
                match c {
                    Opd::Reg(c) => self.copy_reg(to, c, w),
                    c => {
                        self.in_register(c, part, to);
                    }
                }
                self.a.v3(op.by231, w, to, a, b, Lanes::All);
            }
        }
        to
    }

    pub(super) fn float(
        &mut self,
        pc: Pc,
        i: &Inst,
        part: &Part,
        to: V,
        lanes: Lanes,
    ) -> Result<V, Unsupported> {
        let w = part.width;
        if i.exec == ExecType::F16 {
            use Op::*;
            match i.op {
                Min | Max => return self.least_halves(i, part),
                Mad => return self.mad_halves(i, part),
                // What is rounded to singles first is rounded once to halves.
                Mov | Sel | Add | Mul | Div | Divm | Sqrt | Sqrtm | Frc | Rndd | Rndu | Rnde | Rndz => {}
                _ => return Err("an operation of halves"),
            }
        }
        match i.op {
            Op::Mov => {
                let to = if lanes == Lanes::All { to } else { 0 };
                let s = self.source(i, 0, part, to)?;
                Ok(self.in_register(s, part, to))
            }
            Op::Add => self.sum(i, part, to, lanes),
            Op::Mul => self.two(i, part, VMULPS, to, lanes, true),
            Op::Div | Op::Divm => self.two(i, part, VDIVPS, to, lanes, false),
            Op::Mad => self.mad(i, part, to, lanes),
            Op::Min | Op::Max => self.least(i, part, [VMINPS, VMAXPS], VCMPPS, to, lanes),
            Op::Sqrt | Op::Sqrtm => {
                let s = self.source(i, 0, part, 1)?;
                self.a.v2(VSQRTPS, w, to, s, lanes);
                Ok(to)
            }
            Op::Rndd | Op::Rndu | Op::Rnde | Op::Rndz => {
                let s = self.source(i, 0, part, 1)?;
                let how = match i.op {
                    Op::Rnde => 8,
                    Op::Rndd => 9,
                    Op::Rndu => 10,
                    _ => 11,
                };
                self.a.v2i(VRNDSCALEPS, w, to, s, how, lanes);
                Ok(to)
            }
            Op::Frc => {
                let s = self.source(i, 0, part, 1)?;
                let s = self.in_register(s, part, 1);
                self.a.v2i(VRNDSCALEPS, w, 2, Opd::Reg(s), 9, Lanes::All);
                self.a.v3(VSUBPS, w, to, s, Opd::Reg(2), lanes);
                Ok(to)
            }
            Op::Sel => self.select(i, part, to, lanes),
            _ => self.math(pc, i, part, lanes),
        }
    }

    /// Minimum or maximum. The CPU's gives the second of two that are equal or unordered, as the page does, but for a
    /// second one that is NaN, where the page gives the first.
    fn least(
        &mut self,
        i: &Inst,
        part: &Part,
        [min, max]: [crate::vector_encodings::Op; 2],
        cmp: crate::vector_encodings::Op,
        to: V,
        lanes: Lanes,
    ) -> Result<V, Unsupported> {
        let w = part.width;
        let op = if i.op == Op::Min { min } else { max };
        // A number as the second is what a NaN gives; one that equals nothing but itself may as well be the second.
        let second = match [0, 1].map(|k| self.immediate_number(&i.src[k])) {
            [_, Some(_)] => Some(1),
            [Some(true), None] => Some(0),
            _ => None,
        };
        if let Some(second) = second {
            let a = self.source(i, 1 - second, part, 1)?;
            let a = self.in_register(a, part, 1);
            let b = self.source(i, second, part, 2)?;
            self.a.v3(op, w, to, a, b, lanes);
            return Ok(to);
        }
        let a = self.source(i, 0, part, 1)?;
        let a = self.in_register(a, part, 1);
        let b = self.source(i, 1, part, 2)?;
        let b = self.in_register(b, part, 2);
        let copy = if part.bytes == 8 { VMOVDQU64 } else { VMOVDQU32 };
        self.a.vcmp(cmp, w, 5, b, Opd::Reg(b), 3, None);
        self.a.v3(op, w, 0, a, Opd::Reg(b), Lanes::All);
        // A NaN in both: the second.
        self.a.vcmp(cmp, w, 5, a, Opd::Reg(a), 7, Some(5));
        self.a.v2(copy, w, 0, Opd::Reg(a), Lanes::Of(5));
        Ok(0)
    }

    /// Of a source that is an immediate single or double, and no NaN: does it equal nothing but itself in any mode (a zero
    /// equals the other one, and so may what is flushed)?
    fn immediate_number(&self, s: &Src) -> Option<bool> {
        let Src::Reg { offset, ty, shape: Shape::Scalar, modifier: Modifier::None, constant: true, .. } = *s
        else {
            return None;
        };
        let at = self.p.registers().constants.get(offset as usize..)?;
        let (nan, normal) = match ty {
            Type::F => {
                let x = f32::from_le_bytes(*at.first_chunk()?);
                (x.is_nan(), x.is_normal())
            }
            Type::Df => {
                let x = f64::from_le_bytes(*at.first_chunk()?);
                (x.is_nan(), x.is_normal())
            }
            _ => return None,
        };
        (!nan).then_some(normal)
    }

    /// The same of halves, in words: NaNs stay what they are.
    fn least_halves(&mut self, i: &Inst, part: &Part) -> Result<V, Unsupported> {
        let halves = |s: &Src| matches!(s, Src::Reg { ty: Type::Hf, .. });
        if !i.src[..2].iter().all(halves) || !matches!(i.dst, Dst::Reg { ty: Type::Hf, .. }) {
            return Err("an operation of halves");
        }
        let (w, words) = (part.width, Inst { exec: ExecType::U32, ..*i });
        for (k, v) in [(0, 1), (1, 2)] {
            let s = self.source(&words, k, part, v)?;
            let s = self.in_register(s, part, v);
            self.copy_reg(v, s, w);
            self.flush_words(v, part);
            self.a.store_to_reg(VPMOVDW, w, v + 2, v);
            self.a.v2(VCVTPH2PS, w, v + 2, Opd::Reg(v + 2), Lanes::All);
        }
        // The first, if it is less or more, or if the other is NaN alone.
        let how = if i.op == Op::Min { 0x11 } else { 0x1e };
        self.a.vcmp(VCMPPS, w, 5, 4, Opd::Reg(4), 3, None);
        self.a.vcmp(VCMPPS, w, 5, 3, Opd::Reg(3), 7, Some(5));
        self.a.v2(VMOVDQU32, w, 2, Opd::Reg(1), Lanes::Of(5));
        self.a.vcmp(VCMPPS, w, 5, 3, Opd::Reg(4), how, None);
        self.a.v2(VMOVDQU32, w, 2, Opd::Reg(1), Lanes::Of(5));
        Ok(2)
    }

    pub(super) fn double(&mut self, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Unsupported> {
        let w = part.width;
        match i.op {
            Op::Mov => {
                let to = if lanes == Lanes::All { to } else { 0 };
                let s = self.source(i, 0, part, to)?;
                Ok(self.in_register(s, part, to))
            }
            Op::Add => self.sum(i, part, to, lanes),
            Op::Mul => self.two(i, part, VMULPD, to, lanes, true),
            Op::Div | Op::Divm => self.two(i, part, VDIVPD, to, lanes, false),
            Op::Sqrt | Op::Sqrtm => {
                let s = self.source(i, 0, part, 1)?;
                self.a.v2(VSQRTPD, w, to, s, lanes);
                Ok(to)
            }
            Op::Mad => self.mad(i, part, to, lanes),
            Op::Min | Op::Max => self.least(i, part, [VMINPD, VMAXPD], VCMPPD, to, lanes),
            Op::Sel => self.select(i, part, to, lanes),
            _ => Err("an operation of doubles"),
        }
    }
}
