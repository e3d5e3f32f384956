//! Operations of singles and doubles.

use super::alu::{bare, negated};
use super::*;

impl Emit<'_> {
    /// `to = op(a, b)`, the operands swapped where that spares a load.
    pub(super) fn two(
        &mut self,
        i: &Inst,
        part: &Part,
        op: crate::ops::Op,
        to: V,
        lanes: Lanes,
        commutes: bool,
    ) -> Result<V, Why> {
        let a = self.source(i, 0, part, 1)?;
        let b = self.source(i, 1, part, 2)?;
        let (a, b) = match (a, b) {
            (Opd::Mem(_) | Opd::Bcast(_), Opd::Reg(_)) if commutes => (b, a),
            other => other,
        };
        let a = self.in_register(a, part, 1);
        self.a.v3(op, part.width, to, a, b, lanes);
        Ok(to)
    }

    pub(super) fn three_fma(
        &mut self,
        part: &Part,
        ops: (crate::ops::Op, crate::ops::Op),
        (a, b, c): (Opd, Opd, Opd),
        to: V,
        lanes: Lanes,
    ) -> V {
        let (by213, by231) = ops;
        let w = part.width;
        // Into the addend, if that is the destination; into a factor, if that is; else into a copy.
        if c == Opd::Reg(to) {
            let (a, b) = if matches!(a, Opd::Reg(_)) { (a, b) } else { (b, a) };
            let a = self.in_register(a, part, 1);
            self.a.v3(by231, w, to, a, b, lanes);
            return to;
        }
        if a == Opd::Reg(to) || b == Opd::Reg(to) {
            let other = if a == Opd::Reg(to) { b } else { a };
            let other = self.in_register(other, part, 1);
            self.a.v3(by213, w, to, other, c, lanes);
            return to;
        }
        let to = if lanes == Lanes::All { to } else { 0 };
        // Whichever is in memory is the last operand.
        match (a, b, c) {
            (Opd::Reg(a), Opd::Reg(b), c @ (Opd::Mem(_) | Opd::Bcast(_))) => {
                self.copy_reg(to, a, w);
                self.a.v3(by213, w, to, b, c, Lanes::All);
            }
            (a, b, c) => {
                let (a, b) = if matches!(a, Opd::Reg(_)) { (a, b) } else { (b, a) };
                let a = self.in_register(a, part, 1);
                let b = if b == Opd::Reg(0) { Opd::Reg(self.in_register(b, part, 2)) } else { b };
                match c {
                    Opd::Reg(c) => self.copy_reg(to, c, w),
                    Opd::Mem(_) => self.a.v2(VMOVDQU32, w, to, c, Lanes::All),
                    Opd::Bcast(m) => {
                        let op = if part.bytes == 8 { VPBROADCASTQ } else { VPBROADCASTD };
                        self.a.v2(op, w, to, Opd::Mem(m), Lanes::All);
                    }
                }
                self.a.v3(by231, w, to, a, b, Lanes::All);
            }
        }
        to
    }

    pub(super) fn float(&mut self, pc: Pc, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Why> {
        let w = part.width;
        if i.exec == ExecType::F16 && !matches!(i.op, Op::Mov | Op::Add | Op::Mul | Op::Sel) {
            return Err("an operation of halves");
        }
        match i.op {
            Op::Mov => {
                let to = if lanes == Lanes::All { to } else { 0 };
                let s = self.source(i, 0, part, to)?;
                Ok(self.in_register(s, part, to))
            }
            Op::Add => {
                let (n0, n1) = (negated(&i.src[0]), negated(&i.src[1]));
                let (op, a, b) = match (n0, n1) {
                    (Some(false), Some(true)) => (VSUBPS, 0, 1),
                    (Some(true), Some(false)) => (VSUBPS, 1, 0),
                    _ => return self.two(i, part, VADDPS, to, lanes, true),
                };
                let (sa, sb) = (bare(&i.src[a]), bare(&i.src[b]));
                let a = self.source_of(i, &sa, part, 1)?;
                let b = self.source_of(i, &sb, part, 2)?;
                let a = self.in_register(a, part, 1);
                self.a.v3(op, w, to, a, b, lanes);
                Ok(to)
            }
            Op::Mul => self.two(i, part, VMULPS, to, lanes, true),
            Op::Div | Op::Divm => self.two(i, part, VDIVPS, to, lanes, false),
            Op::Mad => {
                let n: [Option<bool>; 3] = std::array::from_fn(|k| negated(&i.src[k]));
                let mut s = [Opd::Reg(0); 3];
                let mut signs = [false; 3];
                for k in 0..3 {
                    let src = if n[k].is_some() { bare(&i.src[k]) } else { i.src[k] };
                    signs[k] = n[k] == Some(true);
                    s[k] = self.source_of(i, &src, part, k as u8 + 1)?;
                }
                let ops = match (signs[0] ^ signs[1], signs[2]) {
                    (false, false) => (VFMADD213PS, VFMADD231PS),
                    (false, true) => (VFMSUB213PS, VFMSUB231PS),
                    (true, false) => (VFNMADD213PS, VFNMADD231PS),
                    (true, true) => (VFNMSUB213PS, VFNMSUB231PS),
                };
                // Temporaries 1 to 3 hold operands; a copy goes to register 0.
                let (a, b) = (s[0], s[1]);
                let b = match (a, b) {
                    (Opd::Reg(_), b) => b,
                    (a, Opd::Reg(b)) => {
                        return Ok(self.three_fma(part, ops, (Opd::Reg(b), a, s[2]), to, lanes));
                    }
                    (_, b) => Opd::Reg(self.in_register(b, part, 2)),
                };
                Ok(self.three_fma(part, ops, (a, b, s[2]), to, lanes))
            }
            Op::Min | Op::Max => self.least(i, part, [VMINPS, VMAXPS], VCMPPS),
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
        [min, max]: [crate::ops::Op; 2],
        cmp: crate::ops::Op,
    ) -> Result<V, Why> {
        let w = part.width;
        let a = self.source(i, 0, part, 1)?;
        let a = self.in_register(a, part, 1);
        let b = self.source(i, 1, part, 2)?;
        let b = self.in_register(b, part, 2);
        let copy = if part.bytes == 8 { VMOVDQU64 } else { VMOVDQU32 };
        self.a.vcmp(cmp, w, 5, b, Opd::Reg(b), 3, None);
        self.a.v3(if i.op == Op::Min { min } else { max }, w, 0, a, Opd::Reg(b), Lanes::All);
        // A NaN in both: the second.
        self.a.vcmp(cmp, w, 5, a, Opd::Reg(a), 7, Some(5));
        self.a.v2(copy, w, 0, Opd::Reg(a), Lanes::Of(5));
        Ok(0)
    }

    pub(super) fn double(&mut self, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Why> {
        let w = part.width;
        match i.op {
            Op::Mov => {
                let to = if lanes == Lanes::All { to } else { 0 };
                let s = self.source(i, 0, part, to)?;
                Ok(self.in_register(s, part, to))
            }
            Op::Add => {
                let (n0, n1) = (negated(&i.src[0]), negated(&i.src[1]));
                let (op, a, b) = match (n0, n1) {
                    (Some(false), Some(true)) => (VSUBPD, 0, 1),
                    (Some(true), Some(false)) => (VSUBPD, 1, 0),
                    _ => return self.two(i, part, VADDPD, to, lanes, true),
                };
                let (sa, sb) = (bare(&i.src[a]), bare(&i.src[b]));
                let a = self.source_of(i, &sa, part, 1)?;
                let b = self.source_of(i, &sb, part, 2)?;
                let a = self.in_register(a, part, 1);
                self.a.v3(op, w, to, a, b, lanes);
                Ok(to)
            }
            Op::Mul => self.two(i, part, VMULPD, to, lanes, true),
            Op::Div | Op::Divm => self.two(i, part, VDIVPD, to, lanes, false),
            Op::Sqrt | Op::Sqrtm => {
                let s = self.source(i, 0, part, 1)?;
                self.a.v2(VSQRTPD, w, to, s, lanes);
                Ok(to)
            }
            Op::Mad => {
                let mut s = [Opd::Reg(0); 3];
                let mut signs = [false; 3];
                for k in 0..3 {
                    let n = negated(&i.src[k]).ok_or("a modifier of a double")?;
                    signs[k] = n;
                    s[k] = self.source_of(i, &bare(&i.src[k]), part, k as u8 + 1)?;
                }
                let ops = match (signs[0] ^ signs[1], signs[2]) {
                    (false, false) => (VFMADD213PD, VFMADD231PD),
                    (false, true) => (VFMSUB213PD, VFMSUB231PD),
                    (true, false) => (VFNMADD213PD, VFNMADD231PD),
                    (true, true) => (VFNMSUB213PD, VFNMSUB231PD),
                };
                let a = Opd::Reg(self.in_register(s[0], part, 1));
                let b = Opd::Reg(self.in_register(s[1], part, 2));
                Ok(self.three_fma(part, ops, (a, b, s[2]), to, lanes))
            }
            Op::Min | Op::Max => self.least(i, part, [VMINPD, VMAXPD], VCMPPD),
            Op::Sel => self.select(i, part, to, lanes),
            _ => Err("an operation of doubles"),
        }
    }
}
