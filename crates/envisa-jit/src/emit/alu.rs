//! Instructions that compute channel by channel.

use super::*;

/// How the sign of a float's source is changed by folding it into an operation.
fn negated(s: &Src) -> Option<bool> {
    match s {
        Src::Reg { modifier: Modifier::None, .. } => Some(false),
        Src::Reg { modifier: Modifier::Neg, .. } => Some(true),
        _ => None,
    }
}

/// The same source without its modifier.
fn bare(s: &Src) -> Src {
    let mut s = *s;
    if let Src::Reg { modifier, .. } = &mut s {
        *modifier = Modifier::None;
    }
    s
}

pub(super) fn exec_bytes(e: ExecType) -> Result<u32, Why> {
    match e {
        ExecType::I32 | ExecType::U32 | ExecType::F32 => Ok(4),
        ExecType::I64 | ExecType::U64 | ExecType::F64 => Ok(8),
        ExecType::F16 => Ok(4),
        _ => Err("a type without native code"),
    }
}

fn is_float(e: ExecType) -> bool {
    matches!(e, ExecType::F32 | ExecType::F64 | ExecType::F16)
}

impl Emit<'_> {
    /// An instruction that computes.
    pub(super) fn compute(&mut self, pc: Pc) -> Result<(), Why> {
        let i = *self.inst(pc);
        if let Dst::Reg { offset, .. } = i.dst
            && self.step(offset).is_some()
        {
            return self.shaped(pc, &i);
        }
        let makes_float = matches!(i.dst, Dst::Reg { ty, .. } if ty.is_float());
        if (is_float(i.exec) || makes_float) && !self.ieee {
            return Err("another floating-point mode");
        }
        if i.channels == 1 && self.scalar(pc, &i)? {
            return Ok(());
        }
        if i.op == Op::Cmp {
            if self.fusable(pc) {
                self.fused = true;
                return Ok(());
            }
            return self.compare(pc, &i);
        }
        let Dst::Reg { offset, ty, stride, sat } = i.dst else { return Err("an unusual destination") };
        if i.dst2 != 0 {
            return Err("two results");
        }
        let bytes = exec_bytes(i.exec)?;
        // Narrow integers compute in dwords, where only their low bits matter.
        if stride != 1 && i.channels != 1 {
            return self.gaps(pc, &i);
        }
        let narrow = ty.size() != bytes || ty.is_float() != is_float(i.exec) || i.exec == ExecType::F16;
        if sat && i.exec != ExecType::F32 {
            return Err("saturation");
        }
        if i.op == Op::Mov && !narrow && !sat && i.exec != ExecType::F16 && self.copy(pc, &i)? {
            return Ok(());
        }
        let parts = self.parts(&i, bytes)?;
        if self.hazard(&i, &parts) {
            return Err("a part would overwrite what a later one reads");
        }
        for part in &parts {
            let to = offset + part.lane * ty.size();
            if part.lanes == 1 {
                self.certain(pc)?;
                let v = self.value(pc, &i, part, 0, Lanes::All)?;
                let v = self.converted(&i, v, ty, sat, part)?;
                let m = self.reg(to);
                match ty.size() {
                    8 => self.a.mr(Code::EVEX_Vmovq_rm64_xmm, m, vreg(v, Width::X)),
                    4 => self.a.mr(Code::EVEX_Vmovd_rm32_xmm, m, vreg(v, Width::X)),
                    2 => {
                        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vreg(v, Width::X));
                        self.a.mr(Code::Mov_rm16_r16, m, Register::AX);
                    }
                    _ => {
                        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vreg(v, Width::X));
                        self.a.mr(Code::Mov_rm8_r8, m, Register::AL);
                    }
                }
                continue;
            }
            let mask = self.lanes(pc, part, to)?;
            if narrow || sat {
                let v = self.value(pc, &i, part, 0, Lanes::All)?;
                let v = self.converted(&i, v, ty, sat, part)?;
                self.store_part(to, v, ty.size(), part, mask)?;
                continue;
            }
            match (self.home(to, part.lanes * bytes), mask) {
                (Some(v), None) => {
                    let r = self.value(pc, &i, part, v, Lanes::All)?;
                    self.copy_reg(v, r, part.width);
                }
                (Some(v), Some(k)) => {
                    let r = self.value(pc, &i, part, v, Lanes::Of(k))?;
                    if r != v {
                        let op = if bytes == 8 { VMOVDQU64 } else { VMOVDQU32 };
                        self.a.v2(op, part.width, v, Opd::Reg(r), Lanes::Of(k));
                    }
                }
                (None, mask) => {
                    let v = self.value(pc, &i, part, 0, Lanes::All)?;
                    self.store_part(to, v, bytes, part, mask)?;
                }
            }
        }
        Ok(())
    }

    /// A destination of the bytes or words of dwords: the others' bits stay.
    fn gaps(&mut self, pc: Pc, i: &Inst) -> Result<(), Why> {
        let Dst::Reg { offset, ty, stride, sat } = i.dst else { return Err("an unusual destination") };
        let (size, inside) = (ty.size(), offset % 4);
        if !matches!(i.exec, ExecType::I32 | ExecType::U32)
            || sat
            || !ty.is_int()
            || u32::from(stride) * size != 4
            || size == 4
            || inside + size > 4
        {
            return Err("a destination with gaps");
        }
        let parts = self.parts(i, 4)?;
        if parts[0].lanes == 1 || self.hazard(i, &parts) {
            return Err("a destination with gaps that is read, too");
        }
        for part in &parts {
            let to = offset - inside + 4 * part.lane;
            let home = self.home(to, 4 * part.lanes);
            if home.is_none() {
                self.in_memory(to, 4 * part.lanes)?;
            }
            let mask = self.lanes(pc, part, to + inside)?;
            let mut v = self.value(pc, i, part, 0, Lanes::All)?;
            let w = part.width;
            if inside != 0 {
                self.a.v2i(VPSLLD, w, 0, Opd::Reg(v), 8 * inside, Lanes::All);
                v = 0;
            }
            let bits = self.literal(((1u32 << (8 * size)) - 1) << (8 * inside));
            let d = home.unwrap_or(5);
            if home.is_none() {
                self.a.v2(VMOVDQU32, w, d, Opd::Mem(self.reg(to)), Lanes::All);
            }
            // Where the bits are ones those of the value, else those that were there.
            let lanes = mask.map_or(Lanes::All, Lanes::Of);
            self.a.v3i(VPTERNLOGD, w, d, v, Opd::Bcast(bits), 0xd8, lanes);
            if home.is_none() {
                self.a.store(STORE32, w, self.reg(to), d, Lanes::All);
            }
        }
        Ok(())
    }

    /// Is an instruction of one channel executed for certain?
    pub(super) fn certain(&self, pc: Pc) -> Result<(), Why> {
        let i = self.inst(pc);
        let predicated = i.pred.offset != 0 && i.op != Op::Sel;
        if predicated {
            return Err("one channel by a predicate");
        }
        if i.no_mask || self.all_active(pc) { Ok(()) } else { Err("one channel that may be off") }
    }

    pub(super) fn copy_reg(&mut self, to: V, from: V, w: Width) {
        if to != from {
            self.a.v2(VMOVDQU32, w, to, Opd::Reg(from), Lanes::All);
        }
    }

    /// Writes a vector of elements of so many bytes where no register holds it.
    pub(super) fn store_part(
        &mut self,
        to: RegOffset,
        v: V,
        bytes: u32,
        part: &Part,
        mask: Option<K>,
    ) -> Result<(), Why> {
        let m = self.reg(to);
        let w = Width::of(part.lanes * bytes);
        if part.lanes * bytes < 16 {
            return Err("fewer than sixteen bytes");
        }
        if let Some(home) = self.home(to, part.lanes * bytes) {
            let op = if bytes == 8 { VMOVDQU64 } else { VMOVDQU32 };
            self.a.v2(op, w, home, Opd::Reg(v), mask.map_or(Lanes::All, Lanes::Of));
            return Ok(());
        }
        if self.cells.at(to).is_some_and(|c| {
            let c = self.cells.get(c);
            c.offset < to + part.lanes * bytes
                && (c.offset != to || c.bytes != part.lanes * bytes)
                && c.kind == CellKind::Vector
        }) {
            return Err("a part of a vector in a register");
        }
        match (mask, bytes) {
            (None, _) => self.a.store(STORE32, w, m, v, Lanes::All),
            // CPUs do not forward what masked stores wrote: all is stored.
            (Some(k), 4) => {
                self.a.v2(VMOVDQU32, w, 5, Opd::Mem(m), Lanes::All);
                self.a.v2(VMOVDQU32, w, 5, Opd::Reg(v), Lanes::Of(k));
                self.a.store(STORE32, w, m, 5, Lanes::All);
            }
            (Some(k), 8) => {
                self.a.v2(VMOVDQU64, w, 5, Opd::Mem(m), Lanes::All);
                self.a.v2(VMOVDQU64, w, 5, Opd::Reg(v), Lanes::Of(k));
                self.a.store(STORE32, w, m, 5, Lanes::All);
            }
            (Some(_), _) => return Err("narrow elements by a mask"),
        }
        Ok(())
    }

    /// A result in the destination's type: saturated, narrowed or converted.
    fn converted(&mut self, i: &Inst, v: V, ty: Type, sat: bool, part: &Part) -> Result<V, Why> {
        let w = part.width;
        if sat {
            let one = self.literal(1f32.to_bits());
            self.a.v3(VPXORD, w, 5, 5, Opd::Reg(5), Lanes::All);
            self.a.v3(VMAXPS, w, 0, v, Opd::Reg(5), Lanes::All);
            self.a.v3(VMINPS, w, 0, 0, Opd::Bcast(one), Lanes::All);
            if ty == Type::F {
                return Ok(0);
            }
            return Err("saturation to another type");
        }
        let v = match (i.exec, ty) {
            (ExecType::F32, Type::F)
            | (ExecType::I32 | ExecType::U32, Type::D | Type::Ud)
            | (ExecType::I64 | ExecType::U64, Type::Q | Type::Uq)
            | (ExecType::F64, Type::Df) => v,
            (ExecType::I32, Type::F) => {
                self.a.v2(VCVTDQ2PS, w, 0, Opd::Reg(v), Lanes::All);
                0
            }
            (ExecType::U32, Type::F) => {
                self.a.v2(VCVTUDQ2PS, w, 0, Opd::Reg(v), Lanes::All);
                0
            }
            (ExecType::F32, Type::D) => {
                self.truncate(v, w, true);
                0
            }
            (ExecType::F32, Type::Ud) => {
                self.truncate(v, w, false);
                0
            }
            (ExecType::I32 | ExecType::U32, Type::Uw | Type::W) if part.lanes > 1 => {
                self.a.store_to_reg(VPMOVDW, w, 0, v);
                0
            }
            (ExecType::I32 | ExecType::U32, Type::Ub | Type::B) if part.lanes > 1 => {
                self.a.store_to_reg(VPMOVDB, w, 0, v);
                0
            }
            (ExecType::I32 | ExecType::U32, Type::Uw | Type::W | Type::Ub | Type::B) => v,
            (ExecType::I64 | ExecType::U64, Type::D | Type::Ud) if part.lanes > 1 => {
                self.a.store_to_reg(VPMOVQD, w, 0, v);
                0
            }
            (ExecType::I64 | ExecType::U64, Type::D | Type::Ud) => v,
            (ExecType::F32 | ExecType::F16, Type::Hf) => {
                self.a.cvt_half(w, 0, v);
                0
            }
            (ExecType::F16, Type::F) => v,
            _ => return Err("a conversion without native code"),
        };
        Ok(v)
    }

    /// A single to an integer in register 0: towards zero, out of range the nearest, NaN 0.
    fn truncate(&mut self, v: V, w: Width, signed: bool) {
        // NaN becomes zero.
        self.a.vcmp(VCMPPS, w, 5, v, Opd::Reg(v), 7, None);
        self.a.v2(VMOVDQU32, w, 5, Opd::Reg(v), Lanes::Zero(5));
        if signed {
            let limit = self.literal(0x4f00_0000);
            let most = self.literal(0x7fff_ffff);
            self.a.vcmp(VCMPPS, w, 5, 5, Opd::Bcast(limit), 0x1d, None);
            self.a.v2(VCVTTPS2DQ, w, 0, Opd::Reg(5), Lanes::All);
            self.a.v2(VPBROADCASTD, w, 0, Opd::Mem(most), Lanes::Of(5));
        } else {
            // Below zero: zero. Above, the conversion gives all ones.
            self.a.v3(VPXORD, w, 0, 0, Opd::Reg(0), Lanes::All);
            self.a.v3(VMAXPS, w, 5, 5, Opd::Reg(0), Lanes::All);
            self.a.v2(VCVTTPS2UDQ, w, 0, Opd::Reg(5), Lanes::All);
        }
    }

    /// A source's elements of a part in the execution type, as an operand; `tmp` may be overwritten.
    pub(super) fn source(&mut self, i: &Inst, k: usize, part: &Part, tmp: V) -> Result<Opd, Why> {
        self.source_of(i, &i.src[k], part, tmp)
    }

    pub(super) fn source_of(&mut self, i: &Inst, s: &Src, part: &Part, tmp: V) -> Result<Opd, Why> {
        let Src::Reg { offset, ty, strides, shape, modifier, .. } = *s else {
            return Err("a source that is no plain register");
        };
        let plain = self.unmodified(i, (offset, ty, shape, strides), part, tmp)?;
        self.modified(i, plain, ty, modifier, part, tmp)
    }

    fn unmodified(
        &mut self,
        i: &Inst,
        (offset, ty, shape, strides): (RegOffset, Type, Shape, envisa_lower::Strides),
        part: &Part,
        tmp: V,
    ) -> Result<Opd, Why> {
        let (w, bytes, a) = (part.width, part.bytes, offset + part.lane * ty.size());
        let same = ty.size() == bytes && (ty.is_float() == is_float(i.exec)) && i.exec != ExecType::F16;
        if shape == Shape::Scalar || part.lanes == 1 {
            let at = offset + strides.element(0) * ty.size();
            let m = self.reg(at);
            if same && part.lanes > 1 {
                return Ok(Opd::Bcast(m));
            }
            return self.scalar_vector(i.exec, ty, m, part, tmp);
        }
        if shape == Shape::General {
            return self.general(i, (offset, ty, strides), part, tmp);
        }
        if same {
            if let Some(step) = self.step(a) {
                let m = self.reg(a);
                if step == 0 && bytes == 4 {
                    return Ok(Opd::Bcast(m));
                }
                self.spread(tmp, w, m, step);
                return Ok(Opd::Reg(tmp));
            }
            if let Some(v) = self.home(a, part.lanes * bytes) {
                return Ok(Opd::Reg(v));
            }
            self.in_memory(a, part.lanes * bytes)?;
            return Ok(Opd::Mem(self.reg(a)));
        }
        // Narrower or of another kind: converted on the way.
        let m = self.convertible(a, part.lanes * ty.size(), tmp)?;
        match (i.exec, ty) {
            (ExecType::I32 | ExecType::U32, Type::Uw) => self.a.v2(VPMOVZXWD, w, tmp, m, Lanes::All),
            (ExecType::I32 | ExecType::U32, Type::W) => self.a.v2(VPMOVSXWD, w, tmp, m, Lanes::All),
            (ExecType::I32 | ExecType::U32, Type::Ub) => self.a.v2(VPMOVZXBD, w, tmp, m, Lanes::All),
            (ExecType::I32 | ExecType::U32, Type::B) => self.a.v2(VPMOVSXBD, w, tmp, m, Lanes::All),
            (ExecType::I64 | ExecType::U64, Type::Ud) => self.a.v2(VPMOVZXDQ, w, tmp, m, Lanes::All),
            (ExecType::I64 | ExecType::U64, Type::D) => self.a.v2(VPMOVSXDQ, w, tmp, m, Lanes::All),
            (ExecType::F32 | ExecType::F16, Type::Hf) => self.a.v2(VCVTPH2PS, w, tmp, m, Lanes::All),
            (ExecType::F64, Type::F) => self.a.v2(VCVTPS2PD, w, tmp, m, Lanes::All),
            (ExecType::F32, Type::D) => self.a.v2(VCVTDQ2PS, w, tmp, m, Lanes::All),
            (ExecType::F32, Type::Ud) => self.a.v2(VCVTUDQ2PS, w, tmp, m, Lanes::All),
            (ExecType::F64, Type::D) => self.a.v2(VCVTDQ2PD, w, tmp, m, Lanes::All),
            (ExecType::F64, Type::Ud) => self.a.v2(VCVTUDQ2PD, w, tmp, m, Lanes::All),
            _ => return Err("a source of a type without native code"),
        }
        Ok(Opd::Reg(tmp))
    }

    /// Are these bytes nowhere but in memory?
    pub(super) fn in_memory(&self, at: RegOffset, bytes: u32) -> Result<(), Why> {
        let mut p = at;
        while p < at + bytes {
            let Some(id) = self.cells.at(p) else {
                p += 1;
                continue;
            };
            if self.alloc.vector(id).is_some() || self.shapes.step(id).is_some() {
                return Err("a part of a vector in a register");
            }
            let c = self.cells.get(id);
            p = c.offset + c.bytes;
        }
        Ok(())
    }

    /// Bytes that a conversion takes: in memory, or of a register's low or high half.
    fn convertible(&mut self, at: RegOffset, bytes: u32, tmp: V) -> Result<Opd, Why> {
        let Some(id) = self.cells.at(at) else { return Ok(Opd::Mem(self.reg(at))) };
        let c = *self.cells.get(id);
        if let Some(step) = self.shapes.step(id) {
            let m = self.reg(c.offset);
            self.spread(tmp, Width::Z, m, step);
        } else if let Some(v) = self.alloc.vector(id) {
            if c.offset == at {
                return Ok(Opd::Reg(v));
            }
            self.copy_reg(tmp, v, Width::Z);
        } else {
            self.in_memory(at, bytes)?;
            return Ok(Opd::Mem(self.reg(at)));
        }
        match at - c.offset {
            0 => {}
            32 if c.bytes == 64 => {
                self.a.rri(
                    Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8,
                    vreg(tmp, Width::Y),
                    vreg(tmp, Width::Z),
                    1,
                );
            }
            _ => return Err("a part of a vector in a register"),
        }
        Ok(Opd::Reg(tmp))
    }

    /// A scalar in all lanes, converted.
    fn scalar_vector(&mut self, exec: ExecType, ty: Type, m: Mem, part: &Part, tmp: V) -> Result<Opd, Why> {
        let w = part.width;
        let one = part.lanes == 1;
        let wide = part.bytes == 8;
        let eax = Register::EAX;
        match ty {
            Type::Ub => self.a.rm(Code::Movzx_r32_rm8, eax, m),
            Type::Uw | Type::Hf => self.a.rm(Code::Movzx_r32_rm16, eax, m),
            Type::B if wide => self.a.rm(Code::Movsx_r64_rm8, Register::RAX, m),
            Type::B => self.a.rm(Code::Movsx_r32_rm8, eax, m),
            Type::W if wide => self.a.rm(Code::Movsx_r64_rm16, Register::RAX, m),
            Type::W => self.a.rm(Code::Movsx_r32_rm16, eax, m),
            Type::D if wide && exec != ExecType::F64 => self.a.rm(Code::Movsxd_r64_rm32, Register::RAX, m),
            Type::D | Type::Ud | Type::F => {
                if !one && !wide && (ty == Type::F) == is_float(exec) && exec != ExecType::F16 {
                    self.a.v2(VPBROADCASTD, w, tmp, Opd::Mem(m), Lanes::All);
                    return Ok(Opd::Reg(tmp));
                }
                if one && !wide && (ty == Type::F) == is_float(exec) {
                    self.a.rm(Code::EVEX_Vmovd_xmm_rm32, vreg(tmp, Width::X), m);
                    return Ok(Opd::Reg(tmp));
                }
                self.a.rm(Code::Mov_r32_rm32, eax, m);
            }
            Type::Q | Type::Uq | Type::Df => {
                if one {
                    self.a.rm(Code::EVEX_Vmovq_xmm_rm64, vreg(tmp, Width::X), m);
                } else {
                    self.a.v2(VPBROADCASTQ, w, tmp, Opd::Mem(m), Lanes::All);
                }
                return match (exec, ty) {
                    (ExecType::I64 | ExecType::U64, Type::Q | Type::Uq) | (ExecType::F64, Type::Df) => {
                        Ok(Opd::Reg(tmp))
                    }
                    _ => Err("a scalar of a type without native code"),
                };
            }
            _ => return Err("a scalar of a type without native code"),
        }
        // The bits are in `rax`; widths of conversions' sources are half of the result's where it is wide.
        let (from_int, x) = (ty.is_int(), vreg(tmp, Width::X));
        match exec {
            ExecType::I32 | ExecType::U32 if from_int => {
                if one {
                    self.a.rr(Code::EVEX_Vmovd_xmm_rm32, x, eax);
                } else {
                    self.a.rr(
                        [
                            Code::EVEX_Vpbroadcastd_xmm_k1z_r32,
                            Code::EVEX_Vpbroadcastd_ymm_k1z_r32,
                            Code::EVEX_Vpbroadcastd_zmm_k1z_r32,
                        ][w as usize],
                        vreg(tmp, w),
                        eax,
                    );
                }
            }
            ExecType::I64 | ExecType::U64 if from_int => {
                self.a.rr(
                    [
                        Code::EVEX_Vpbroadcastq_xmm_k1z_r64,
                        Code::EVEX_Vpbroadcastq_ymm_k1z_r64,
                        Code::EVEX_Vpbroadcastq_zmm_k1z_r64,
                    ][w as usize],
                    vreg(tmp, w),
                    Register::RAX,
                );
            }
            _ => {
                self.a.rr(Code::EVEX_Vpbroadcastd_zmm_k1z_r32, vreg(tmp, Width::Z), eax);
                let op = match (exec, ty) {
                    (ExecType::F32, Type::F) => return Ok(Opd::Reg(tmp)),
                    (ExecType::F32 | ExecType::F16, Type::Hf) => {
                        // Words in the low half of each dword: packed for the conversion.
                        self.a.store_to_reg(VPMOVDW, Width::Z, tmp, tmp);
                        VCVTPH2PS
                    }
                    (ExecType::F64, Type::F) => VCVTPS2PD,
                    (ExecType::F64, Type::Ud | Type::Uw | Type::Ub) => VCVTUDQ2PD,
                    (ExecType::F64, Type::D | Type::W | Type::B) => VCVTDQ2PD,
                    (ExecType::F32, Type::Ud | Type::Uw | Type::Ub) => VCVTUDQ2PS,
                    (ExecType::F32, Type::D | Type::W | Type::B) => VCVTDQ2PS,
                    _ => return Err("a scalar of a type without native code"),
                };
                self.a.v2(op, w, tmp, Opd::Reg(tmp), Lanes::All);
            }
        }
        Ok(Opd::Reg(tmp))
    }

    /// Elements with gaps: the bytes or words of dwords, the dwords of quads.
    fn general(
        &mut self,
        i: &Inst,
        (offset, ty, strides): (RegOffset, Type, envisa_lower::Strides),
        part: &Part,
        tmp: V,
    ) -> Result<Opd, Why> {
        let n = u32::from(i.channels);
        let step = strides.step(n).ok_or("a region of rows")? * ty.size();
        let w = part.width;
        let float = ty.is_float() && !matches!(ty, Type::Hf | Type::F);
        if part.bytes != 4 || is_float(i.exec) != ty.is_float() || float || i.exec == ExecType::F16 {
            return Err("a region of a type without native code");
        }
        match (step, ty.size()) {
            (4, 1 | 2) => {
                let inside = offset % 4;
                let first = offset - inside + 4 * part.lane;
                if inside + ty.size() > 4 {
                    return Err("elements across dwords");
                }
                let from = if let Some(step) = self.step(first) {
                    let m = self.reg(first);
                    self.spread(tmp, w, m, step);
                    Opd::Reg(tmp)
                } else if let Some(v) = self.home(first, 4 * part.lanes) {
                    Opd::Reg(v)
                } else {
                    self.in_memory(first, 4 * part.lanes)?;
                    Opd::Mem(self.reg(first))
                };
                let bits = 8 * ty.size();
                let up = 32 - bits - 8 * inside;
                let from = match from {
                    Opd::Mem(_) => {
                        self.a.v2(VMOVDQU32, w, tmp, from, Lanes::All);
                        Opd::Reg(tmp)
                    }
                    other => other,
                };
                let from = if up != 0 {
                    self.a.v2i(VPSLLD, w, tmp, from, up, Lanes::All);
                    Opd::Reg(tmp)
                } else {
                    from
                };
                let op = if ty.is_int() && ty.is_signed() { VPSRAD } else { VPSRLD };
                self.a.v2i(op, w, tmp, from, 32 - bits, Lanes::All);
                if ty == Type::Hf {
                    self.a.store_to_reg(VPMOVDW, w, tmp, tmp);
                    self.a.v2(VCVTPH2PS, w, tmp, Opd::Reg(tmp), Lanes::All);
                }
                Ok(Opd::Reg(tmp))
            }
            (8, 4) if part.lanes == 16 => {
                // Low or high dwords of sixteen quads.
                let inside = offset % 8 / 4;
                let first = offset - offset % 8 + 8 * part.lane;
                let index = std::array::from_fn(|k| 2 * k as u32 + inside);
                let index = self.literals(index);
                let high = match self.home(first + 64, 64) {
                    Some(v) => Opd::Reg(v),
                    None => {
                        self.in_memory(first + 64, 64)?;
                        Opd::Mem(self.reg(first + 64))
                    }
                };
                let low = match self.home(first, 64) {
                    Some(v) => v,
                    None => {
                        self.in_memory(first, 64)?;
                        self.a.v2(VMOVDQU32, w, 4, Opd::Mem(self.reg(first)), Lanes::All);
                        4
                    }
                };
                // The index is overwritten by the result.
                let to = if tmp == 4 { 5 } else { tmp };
                self.a.v2(VMOVDQU32, w, to, Opd::Mem(index), Lanes::All);
                self.a.v3(VPERMI2D, w, to, low, high, Lanes::All);
                self.copy_reg(tmp, to, w);
                Ok(Opd::Reg(tmp))
            }
            _ => Err("a region without native code"),
        }
    }

    /// Applies a modifier.
    fn modified(
        &mut self,
        i: &Inst,
        from: Opd,
        ty: Type,
        modifier: Modifier,
        part: &Part,
        tmp: V,
    ) -> Result<Opd, Why> {
        let w = part.width;
        if modifier == Modifier::None {
            return Ok(from);
        }
        let wide = part.bytes == 8;
        if is_float(i.exec) {
            if wide {
                return Err("a modifier of a double");
            }
            let v = self.in_register(from, part, tmp);
            let (op, bits) = match modifier {
                Modifier::Neg => (VPXORD, 0x8000_0000u32),
                Modifier::Abs => (VPANDD, 0x7fff_ffff),
                Modifier::NegAbs => (VPORD, 0x8000_0000),
                _ => return Err("a modifier without native code"),
            };
            let bits = self.literal(bits);
            self.a.v3(op, w, tmp, v, Opd::Bcast(bits), Lanes::All);
            return Ok(Opd::Reg(tmp));
        }
        match modifier {
            Modifier::Neg => {
                let v = self.in_register(from, part, tmp);
                let spare = if tmp == 5 { 4 } else { 5 };
                self.a.v3(VPXORD, w, spare, spare, Opd::Reg(spare), Lanes::All);
                self.a.v3(if wide { VPSUBQ } else { VPSUBD }, w, tmp, spare, Opd::Reg(v), Lanes::All);
            }
            Modifier::Abs if ty.is_signed() => {
                self.a.v2(if wide { VPABSQ } else { VPABSD }, w, tmp, from, Lanes::All);
            }
            Modifier::Not => {
                let v = self.in_register(from, part, tmp);
                self.a.v3i(VPTERNLOGD, w, tmp, v, Opd::Reg(v), 0x55, Lanes::All);
            }
            _ => return Err("a modifier without native code"),
        }
        Ok(Opd::Reg(tmp))
    }

    /// The operand in a register: `tmp`, if it is in none.
    pub(super) fn in_register(&mut self, o: Opd, part: &Part, tmp: V) -> V {
        let wide = part.bytes == 8;
        match o {
            Opd::Reg(v) => return v,
            Opd::Mem(_) => self.a.v2(VMOVDQU32, part.width, tmp, o, Lanes::All),
            Opd::Bcast(m) => {
                let op = if wide { VPBROADCASTQ } else { VPBROADCASTD };
                self.a.v2(op, part.width, tmp, Opd::Mem(m), Lanes::All);
            }
        }
        tmp
    }

    /// A move without conversion: `true` if it was one.
    fn copy(&mut self, pc: Pc, i: &Inst) -> Result<bool, Why> {
        let Dst::Reg { offset: to, ty, .. } = i.dst else { return Ok(false) };
        let Src::Reg { ty: from, modifier: Modifier::None, shape, .. } = i.src[0] else { return Ok(false) };
        if from.size() != ty.size() || from.is_float() != ty.is_float() || i.channels == 1 {
            return Ok(false);
        }
        if shape == Shape::General {
            return Ok(false);
        }
        let parts = self.parts(i, ty.size())?;
        if self.hazard(i, &parts) {
            return Err("a part would overwrite what a later one reads");
        }
        for part in &parts {
            let to = to + part.lane * ty.size();
            let mask = self.lanes(pc, part, to)?;
            let s = self.source(i, 0, part, 0)?;
            if let Some(v) = self.home(to, part.lanes * part.bytes) {
                let lanes = mask.map_or(Lanes::All, Lanes::Of);
                let wide = part.bytes == 8;
                match s {
                    Opd::Bcast(m) => {
                        let op = if wide { VPBROADCASTQ } else { VPBROADCASTD };
                        self.a.v2(op, part.width, v, Opd::Mem(m), lanes);
                    }
                    s if s == Opd::Reg(v) => {}
                    s => self.a.v2(if wide { VMOVDQU64 } else { VMOVDQU32 }, part.width, v, s, lanes),
                }
            } else {
                let v = self.in_register(s, part, 0);
                self.store_part(to, v, part.bytes, part, mask)?;
            }
        }
        Ok(true)
    }

    /// Computes a part; gives the register of the result: `to`, whose lanes outside of `lanes` stay, or an
    /// intermediate one, of which all lanes are written.
    fn value(&mut self, pc: Pc, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Why> {
        // Where lanes stay, what takes several steps is made elsewhere.
        let scratch = if lanes == Lanes::All { to } else { 0 };
        match i.exec {
            ExecType::F32 | ExecType::F16 => self.float(pc, i, part, to, lanes),
            ExecType::F64 => self.double(i, part, to, lanes),
            ExecType::I32 | ExecType::U32 => self.dwords(i, part, to, scratch, lanes),
            ExecType::I64 | ExecType::U64 => self.quads(i, part, to, lanes),
            _ => Err("a type without native code"),
        }
    }

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

    fn three_fma(
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

    fn float(&mut self, pc: Pc, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Why> {
        let w = part.width;
        if i.exec == ExecType::F16 && !matches!(i.op, Op::Mov | Op::Add | Op::Mul | Op::Sel) {
            return Err("an operation of halves");
        }
        match i.op {
            Op::Mov => {
                let s = self.source(i, 0, part, 0)?;
                Ok(self.in_register(s, part, 0))
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
            Op::Min | Op::Max => {
                // The CPU's gives the second of two that are equal or unordered, as the page does, but for
                // a second one that is NaN, where the page gives the first.
                let a = self.source(i, 0, part, 1)?;
                let a = self.in_register(a, part, 1);
                let b = self.source(i, 1, part, 2)?;
                let b = self.in_register(b, part, 2);
                let op = if i.op == Op::Min { VMINPS } else { VMAXPS };
                self.a.vcmp(VCMPPS, w, 5, b, Opd::Reg(b), 3, None);
                self.a.v3(op, w, 0, a, Opd::Reg(b), Lanes::All);
                // A NaN in both: the second.
                self.a.vcmp(VCMPPS, w, 5, a, Opd::Reg(a), 7, Some(5));
                self.a.v2(VMOVDQU32, w, 0, Opd::Reg(a), Lanes::Of(5));
                Ok(0)
            }
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

    fn double(&mut self, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Why> {
        let w = part.width;
        match i.op {
            Op::Mov => {
                let s = self.source(i, 0, part, 0)?;
                Ok(self.in_register(s, part, 0))
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
            Op::Sel => self.select(i, part, to, lanes),
            _ => Err("an operation of doubles"),
        }
    }

    fn select(&mut self, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Why> {
        if i.pred.combine != Combine::None || i.pred.offset == 0 {
            return Err("a selection by all channels");
        }
        let a = self.source(i, 0, part, 1)?;
        let b = self.source(i, 1, part, 2)?;
        self.pred(i.pred.offset, part, 5)?;
        let (yes, no) = if i.pred.invert { (b, a) } else { (a, b) };
        let no = self.in_register(no, part, 3);
        let op = if part.bytes == 8 { VPBLENDMQ } else { VPBLENDMD };
        let to = if lanes == Lanes::All { to } else { 0 };
        self.a.v3(op, part.width, to, no, yes, Lanes::Of(5));
        Ok(to)
    }

    fn dwords(&mut self, i: &Inst, part: &Part, to: V, scratch: V, lanes: Lanes) -> Result<V, Why> {
        let w = part.width;
        let signed = i.exec == ExecType::I32;
        let op = match i.op {
            Op::Mov => {
                let s = self.source(i, 0, part, 0)?;
                return Ok(self.in_register(s, part, 0));
            }
            Op::Add => {
                if negated(&i.src[1]) == Some(true) && negated(&i.src[0]) == Some(false) {
                    let a = self.source(i, 0, part, 1)?;
                    let sb = bare(&i.src[1]);
                    let b = self.source_of(i, &sb, part, 2)?;
                    let a = self.in_register(a, part, 1);
                    self.a.v3(VPSUBD, w, to, a, b, lanes);
                    return Ok(to);
                }
                return self.two(i, part, VPADDD, to, lanes, true);
            }
            Op::Add3 => {
                let a = self.source(i, 0, part, 1)?;
                let b = self.source(i, 1, part, 2)?;
                let c = self.source(i, 2, part, 3)?;
                let a = self.in_register(a, part, 1);
                self.a.v3(VPADDD, w, 0, a, b, Lanes::All);
                self.a.v3(VPADDD, w, to, 0, c, lanes);
                return Ok(to);
            }
            Op::Mad => {
                let a = self.source(i, 0, part, 1)?;
                let b = self.source(i, 1, part, 2)?;
                let c = self.source(i, 2, part, 3)?;
                let a = self.in_register(a, part, 1);
                self.a.v3(VPMULLD, w, 0, a, b, Lanes::All);
                self.a.v3(VPADDD, w, to, 0, c, lanes);
                return Ok(to);
            }
            Op::Mul => return self.two(i, part, VPMULLD, to, lanes, true),
            Op::Mulh => {
                let a = self.source(i, 0, part, 1)?;
                let b = self.source(i, 1, part, 2)?;
                let a = self.in_register(a, part, 1);
                let b = self.in_register(b, part, 2);
                let mul = if signed { VPMULDQ } else { VPMULUDQ };
                self.a.v3(mul, w, 0, a, Opd::Reg(b), Lanes::All);
                self.a.v2i(VPSRLQ, w, 3, Opd::Reg(a), 32, Lanes::All);
                self.a.v2i(VPSRLQ, w, 4, Opd::Reg(b), 32, Lanes::All);
                self.a.v3(mul, w, 3, 3, Opd::Reg(4), Lanes::All);
                self.a.v2i(VPSRLQ, w, 0, Opd::Reg(0), 32, Lanes::All);
                self.a.ri(Code::Mov_r32_imm32, Register::EAX, 0xaaaa);
                self.a.rr(Code::VEX_Kmovw_kr_r32, kreg(5), Register::EAX);
                self.a.v2(VMOVDQU32, w, 0, Opd::Reg(3), Lanes::Of(5));
                return Ok(0);
            }
            Op::Min if signed => VPMINSD,
            Op::Min => VPMINUD,
            Op::Max if signed => VPMAXSD,
            Op::Max => VPMAXUD,
            Op::And => VPANDD,
            Op::Or => VPORD,
            Op::Xor => VPXORD,
            Op::Not => {
                let a = self.source(i, 0, part, 1)?;
                let a = self.in_register(a, part, 1);
                self.a.v3i(VPTERNLOGD, w, scratch, a, Opd::Reg(a), 0x55, Lanes::All);
                return Ok(scratch);
            }
            Op::Shl | Op::Shr | Op::Asr | Op::Rol | Op::Ror => return self.shift(i, part, to, lanes),
            Op::Bfn => {
                let a = self.source(i, 0, part, 1)?;
                let b = self.source(i, 1, part, 2)?;
                let c = self.source(i, 2, part, 3)?;
                // The table's index is `s0 + 2 s1 + 4 s2`; the CPU's has the first operand on top.
                let b = self.in_register(b, part, 2);
                let c = self.in_register(c, part, 3);
                self.copy_reg(0, c, w);
                self.a.v3i(VPTERNLOGD, w, 0, b, a, i.aux & 0xff, Lanes::All);
                return Ok(0);
            }
            Op::Sel => return self.select(i, part, to, lanes),
            Op::Lzd => {
                let a = self.source(i, 0, part, 1)?;
                self.a.v2(VPLZCNTD, w, to, a, lanes);
                return Ok(to);
            }
            _ => return Err("an operation of dwords"),
        };
        self.two(i, part, op, to, lanes, true)
    }

    fn shift(&mut self, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Why> {
        let w = part.width;
        let wide = part.bytes == 8;
        let bits = 8 * part.bytes;
        if matches!(i.op, Op::Rol | Op::Ror) && i.aux != bits {
            return Err("a rotation of narrow elements");
        }
        if let Some(n) = crate::shape::constant(self.p, &i.src[1]) {
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
            _ => return Err("a rotation of quads"),
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

    fn quads(&mut self, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Why> {
        let w = part.width;
        let signed = i.exec == ExecType::I64;
        let op = match i.op {
            Op::Mov => {
                let s = self.source(i, 0, part, 0)?;
                return Ok(self.in_register(s, part, 0));
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
            Op::Shl | Op::Shr | Op::Asr | Op::Rol | Op::Ror => return self.shift(i, part, to, lanes),
            Op::Sel => return self.select(i, part, to, lanes),
            _ => return Err("an operation of quads"),
        };
        self.two(i, part, op, to, lanes, true)
    }

    /// A compare into a predicate or a vector.
    fn compare(&mut self, pc: Pc, i: &Inst) -> Result<(), Why> {
        if i.pred.offset != 0 {
            return Err("a compare by a predicate");
        }
        let bytes = exec_bytes(i.exec)?;
        let parts = self.parts(i, bytes)?;
        if parts[0].lanes == 1 {
            return Err("a compare of one channel");
        }
        match i.dst {
            Dst::Pred { offset } => {
                for part in &parts {
                    self.compare_part(i, part, PRED, None)?;
                    self.set_pred(pc, offset, part, PRED)?;
                }
                Ok(())
            }
            Dst::Reg { offset, ty, stride: 1, .. } if ty.size() == bytes => {
                if self.hazard(i, &parts) {
                    return Err("a part would overwrite what a later one reads");
                }
                for part in &parts {
                    let to = offset + part.lane * bytes;
                    // Making the mask of lanes takes others.
                    self.compare_part(i, part, 4, None)?;
                    let mask = self.lanes(pc, part, to)?;
                    let home = self.home(to, part.lanes * bytes).filter(|_| mask.is_none());
                    let op = if bytes == 8 { VPMOVM2Q } else { VPMOVM2D };
                    let v = vreg(home.unwrap_or(0), part.width);
                    self.a.rr(op[part.width as usize], v, kreg(4));
                    if home.is_none() {
                        self.store_part(to, 0, bytes, part, mask)?;
                    }
                }
                Ok(())
            }
            _ => Err("a compare into another type"),
        }
    }

    /// Compares a part into a mask register, zero where `of` is.
    pub(super) fn compare_part(&mut self, i: &Inst, part: &Part, k: K, of: Option<K>) -> Result<(), Why> {
        let a = self.source(i, 0, part, 1)?;
        let b = self.source(i, 1, part, 2)?;
        let (op, table): (_, [u32; 6]) = match i.exec {
            ExecType::F32 => (VCMPPS, [0, 4, 0x1e, 0x1d, 0x11, 0x12]),
            ExecType::F64 => (VCMPPD, [0, 4, 0x1e, 0x1d, 0x11, 0x12]),
            ExecType::I32 => (VPCMPD, [0, 4, 6, 5, 1, 2]),
            ExecType::U32 => (VPCMPUD, [0, 4, 6, 5, 1, 2]),
            ExecType::I64 => (VPCMPQ, [0, 4, 6, 5, 1, 2]),
            ExecType::U64 => (VPCMPUQ, [0, 4, 6, 5, 1, 2]),
            _ => return Err("a compare of a type without native code"),
        };
        let how = *table.get(i.aux as usize).ok_or("a relation")?;
        let a = self.in_register(a, part, 1);
        self.a.vcmp(op, part.width, k, a, b, how, of);
        Ok(())
    }
}
