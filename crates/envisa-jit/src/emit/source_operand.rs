//! Sources of an instruction as operands, in the type that it computes in.

use super::alu::is_float;
use super::*;

/// Where vectors of 64 bytes begin both halves of which are written by themselves, and never at once.
pub(super) fn in_halves(p: &Program) -> Vec<RegOffset> {
    let (mut halves, mut whole) = (Vec::new(), Vec::new());
    for i in p.code() {
        i.writes(p.parts(), &mut |t| match t.range(i.channels.into()) {
            Some(r) if r.end - r.start == 32 => halves.push(r.start),
            Some(r) if r.end - r.start > 32 => whole.push(r),
            _ => {}
        });
    }
    halves.sort_unstable();
    halves.dedup();
    whole.sort_unstable_by_key(|r| r.start);
    // Up to where those go that begin there or before.
    let mut end = 0;
    for r in &mut whole {
        end = end.max(r.end);
        r.end = end;
    }
    let at_once = |at: RegOffset| {
        let before = whole.partition_point(|r| r.start < at + 64);
        before.checked_sub(1).is_some_and(|k| at < whole[k].end)
    };
    let both = |at: &RegOffset| halves.binary_search(&(at + 32)).is_ok() && !at_once(*at);
    halves.iter().copied().filter(both).collect()
}

/// Does an instruction move integers to elements that are no larger, so that their upper bits do not matter?
fn cuts(i: &Inst, ty: Type) -> bool {
    let plain = matches!(i.src[0], Src::Reg { modifier: Modifier::None, .. });
    matches!(i.dst, Dst::Reg { ty: to, sat: false, .. } if to.is_int() && to.size() <= ty.size())
        && i.op == Op::Mov
        && plain
        && ty.is_int()
}

impl Emit<'_> {
    /// A source's elements of a part in the execution type, as an operand; `tmp` may be overwritten.
    pub(super) fn source(&mut self, i: &Inst, k: usize, part: &Part, tmp: V) -> Result<Opd, Unsupported> {
        self.source_of(i, &i.src[k], part, tmp)
    }

    pub(super) fn source_of(&mut self, i: &Inst, s: &Src, part: &Part, tmp: V) -> Result<Opd, Unsupported> {
        let Src::Reg { offset, ty, strides, shape, modifier, .. } = *s else {
            return Err("a source that is no plain register");
        };
        let plain = self.unmodified(i, (offset, ty, shape, strides), part, tmp)?;
        let plain = self.flushed_source(i, plain, ty, part, tmp);
        self.modified(i, plain, ty, modifier, part, tmp)
    }

    pub(super) fn unmodified(
        &mut self,
        i: &Inst,
        (offset, ty, shape, strides): (RegOffset, Type, Shape, envisa_lower::Strides),
        part: &Part,
        tmp: V,
    ) -> Result<Opd, Unsupported> {
        let (w, bytes, a) = (part.width, part.bytes, offset + part.lane * ty.size());
        let same = ty.size() == bytes && (ty.is_float() == is_float(i.exec)) && i.exec != ExecType::F16;
        if let Some(v) = self.tile_source(offset) {
            return Ok(Opd::Reg(v));
        }
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
        if bytes == 4
            && ty.is_int()
            && ty.size() <= 4
            && !is_float(i.exec)
            && let Some(mut all) = self.known.literal(self.now, a, ty, part.lanes)
        {
            all.resize(16, 0);
            let all = self.literals(std::array::from_fn(|k| all[k]));
            return Ok(Opd::Mem(all));
        }
        if same {
            if let Some(v) = self.home(a, part.lanes * bytes) {
                return Ok(Opd::Reg(v));
            }
            if let Some(twin) = self.twin(a).filter(|_| part.lanes * bytes == 64) {
                return Ok(self.of_twin(twin, tmp));
            }
            if let Some(first) = self.first(a) {
                if (first.step, first.plus) == (0, 0) && bytes == 4 {
                    return Ok(Opd::Bcast(self.reg(first.at)));
                }
                self.spread(tmp, w, first);
                return Ok(Opd::Reg(tmp));
            }
            self.in_memory(a, part.lanes * bytes)?;
            // The CPU gives a load what is in one store, not what is in two, for which it waits.
            if w == Width::Z && self.level == Level::Avx512 && self.in_halves.binary_search(&a).is_ok() {
                self.a.v2(VMOVDQU32, Width::Y, tmp, Opd::Mem(self.reg(a)), Lanes::All);
                let insert = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
                let (v, m) = (vector_register(tmp, w), self.reg(a + 32).operand(false));
                self.a.push(iced_x86::Instruction::with4(insert, v, v, m, 1));
                return Ok(Opd::Reg(tmp));
            }
            return Ok(Opd::Mem(self.reg(a)));
        }
        // Narrower or of another kind: converted on the way.
        let m = self.convertible(a, part.lanes * ty.size(), tmp)?;
        match (i.exec, ty) {
            (ExecType::I32 | ExecType::U32, Type::Uw | Type::Hf) => {
                self.a.v2(VPMOVZXWD, w, tmp, m, Lanes::All)
            }
            (ExecType::I32 | ExecType::U32, Type::W) => self.a.v2(VPMOVSXWD, w, tmp, m, Lanes::All),
            (ExecType::I32 | ExecType::U32, Type::Ub) => self.a.v2(VPMOVZXBD, w, tmp, m, Lanes::All),
            (ExecType::I32 | ExecType::U32, Type::B) => self.a.v2(VPMOVSXBD, w, tmp, m, Lanes::All),
            (ExecType::I64 | ExecType::U64, Type::Uw | Type::W | Type::Ub | Type::B) => {
                let (first, then) = match ty {
                    Type::Uw => (VPMOVZXWD, VPMOVZXDQ),
                    Type::W => (VPMOVSXWD, VPMOVSXDQ),
                    Type::Ub => (VPMOVZXBD, VPMOVZXDQ),
                    _ => (VPMOVSXBD, VPMOVSXDQ),
                };
                self.a.v2(first, Width::of(4 * part.lanes), tmp, m, Lanes::All);
                self.a.v2(then, w, tmp, Opd::Reg(tmp), Lanes::All);
            }
            (ExecType::I64 | ExecType::U64, Type::Ud) => self.a.v2(VPMOVZXDQ, w, tmp, m, Lanes::All),
            (ExecType::I64 | ExecType::U64, Type::D) => self.a.v2(VPMOVSXDQ, w, tmp, m, Lanes::All),
            (ExecType::F32 | ExecType::F16, Type::Hf) => self.a.v2(VCVTPH2PS, w, tmp, m, Lanes::All),
            (ExecType::F64, Type::Uw | Type::W | Type::Ub | Type::B) => {
                let op = match ty {
                    Type::Uw => VPMOVZXWD,
                    Type::W => VPMOVSXWD,
                    Type::Ub => VPMOVZXBD,
                    _ => VPMOVSXBD,
                };
                self.a.v2(op, Width::of(4 * part.lanes), tmp, m, Lanes::All);
                self.a.v2(VCVTDQ2PD, w, tmp, Opd::Reg(tmp), Lanes::All);
            }
            (ExecType::F64, Type::F) => self.a.v2(VCVTPS2PD, w, tmp, m, Lanes::All),
            (ExecType::F32, Type::D) => self.a.v2(VCVTDQ2PS, w, tmp, m, Lanes::All),
            (ExecType::F32, Type::Ud) => self.unsigned_to_float(VCVTUDQ2PS, w, tmp, m),
            (ExecType::F64, Type::D) => self.a.v2(VCVTDQ2PD, w, tmp, m, Lanes::All),
            (ExecType::F64, Type::Ud) => self.unsigned_to_float(VCVTUDQ2PD, w, tmp, m),
            _ => return Err("a source of a type without native code"),
        }
        Ok(Opd::Reg(tmp))
    }

    /// Are these bytes nowhere but in memory?
    pub(super) fn in_memory(&self, at: RegOffset, bytes: u32) -> Result<(), Unsupported> {
        let mut p = at;
        while p < at + bytes {
            let Some(id) = self.cells.at(p) else {
                p += 1;
                continue;
            };
            if self.alloc.vector(id).is_some() || !self.shapes.plain(id) {
                return Err("a part of a vector in a register");
            }
            let c = self.cells.get(id);
            p = c.offset + c.bytes;
        }
        Ok(())
    }

    /// Bytes that a conversion takes: in memory, or of a register's low or high half.
    pub(super) fn convertible(&mut self, at: RegOffset, bytes: u32, tmp: V) -> Result<Opd, Unsupported> {
        let Some(id) = self.cells.at(at) else { return Ok(Opd::Mem(self.reg(at))) };
        let c = *self.cells.get(id);
        let all = if let Some(first) = self.first(c.offset) {
            self.spread(tmp, Width::Z, first);
            tmp
        } else if let Some(v) = self.alloc.vector(id) {
            v
        } else {
            self.in_memory(at, bytes)?;
            return Ok(Opd::Mem(self.reg(at)));
        };
        match at - c.offset {
            0 => return Ok(Opd::Reg(all)),
            32 if c.bytes == 64 => {
                self.a.rri(
                    Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8,
                    vector_register(tmp, Width::Y),
                    vector_register(all, Width::Z),
                    1,
                );
            }
            inside if c.kind == CellKind::Narrow && inside.is_multiple_of(8) => {
                let extract = match c.bytes {
                    64 => Code::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8,
                    _ => Code::EVEX_Vextracti32x4_xmmm128_k1z_ymm_imm8,
                };
                let x = vector_register(tmp, Width::X);
                self.a.rri(
                    extract,
                    x,
                    vector_register(all, Width::of(c.bytes.max(32))),
                    (inside / 16) as i32,
                );
                if !inside.is_multiple_of(16) {
                    self.a.rri(Code::EVEX_Vpsrldq_xmm_xmmm128_imm8, x, x, 8);
                }
            }
            _ => return Err("a part of a vector in a register"),
        }
        Ok(Opd::Reg(tmp))
    }

    /// A scalar in all lanes, converted.
    pub(super) fn scalar_vector(
        &mut self,
        exec: ExecType,
        ty: Type,
        m: Mem,
        part: &Part,
        tmp: V,
    ) -> Result<Opd, Unsupported> {
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
                    self.a.rm(Code::EVEX_Vmovd_xmm_rm32, vector_register(tmp, Width::X), m);
                    return Ok(Opd::Reg(tmp));
                }
                self.a.rm(Code::Mov_r32_rm32, eax, m);
            }
            Type::Q | Type::Uq | Type::Df => {
                if one {
                    self.a.rm(Code::EVEX_Vmovq_xmm_rm64, vector_register(tmp, Width::X), m);
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
        let (from_int, x) = (ty.is_int() || !is_float(exec), vector_register(tmp, Width::X));
        match exec {
            ExecType::I32 | ExecType::U32 if from_int => {
                if one {
                    self.a.rr(Code::EVEX_Vmovd_xmm_rm32, x, eax);
                } else {
                    self.a.rr(SPREAD[w as usize], vector_register(tmp, w), eax);
                }
            }
            ExecType::I64 | ExecType::U64 if from_int => {
                self.a.rr(
                    [
                        Code::EVEX_Vpbroadcastq_xmm_k1z_r64,
                        Code::EVEX_Vpbroadcastq_ymm_k1z_r64,
                        Code::EVEX_Vpbroadcastq_zmm_k1z_r64,
                    ][w as usize],
                    vector_register(tmp, w),
                    Register::RAX,
                );
            }
            _ => {
                self.a.rr(Code::EVEX_Vpbroadcastd_zmm_k1z_r32, vector_register(tmp, Width::Z), eax);
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
                if op == VCVTUDQ2PS || op == VCVTUDQ2PD {
                    self.unsigned_to_float(op, w, tmp, Opd::Reg(tmp));
                } else {
                    self.a.v2(op, w, tmp, Opd::Reg(tmp), Lanes::All);
                }
            }
        }
        Ok(Opd::Reg(tmp))
    }

    /// Elements with gaps: the bytes or words of dwords, the bytes of words, the dwords of quads.
    pub(super) fn general(
        &mut self,
        i: &Inst,
        (offset, ty, strides): (RegOffset, Type, envisa_lower::Strides),
        part: &Part,
        tmp: V,
    ) -> Result<Opd, Unsupported> {
        let n = u32::from(i.channels);
        let step = strides.step(n).ok_or("a region of rows")? * ty.size();
        let float = ty.is_float() && !matches!(ty, Type::Hf | Type::F);
        if part.bytes != 4 || is_float(i.exec) != ty.is_float() || float || i.exec == ExecType::F16 {
            return Err("a region of a type without native code");
        }
        match (step, ty.size()) {
            (4, 1 | 2) => self.inside_dwords((offset, ty), cuts(i, ty), part, tmp),
            (2, 1) => self.low_or_high_bytes((offset, ty), part, tmp),
            (8, 4) if part.lanes == 16 => self.dwords_of_sixteen_quads(offset, part, tmp),
            (8, 4) if part.lanes == 8 => self.dwords_of_eight_quads(offset, part, tmp),
            _ => Err("a region without native code"),
        }
    }

    /// The bytes or words of dwords; of those that are `cut`, what is above them may be anything.
    fn inside_dwords(
        &mut self,
        (offset, ty): (RegOffset, Type),
        cut: bool,
        part: &Part,
        tmp: V,
    ) -> Result<Opd, Unsupported> {
        let w = part.width;
        let inside = offset % 4;
        let first = offset - inside + 4 * part.lane;
        if inside + ty.size() > 4 {
            return Err("elements across dwords");
        }
        let from = if let Some(v) = self.home(first, 4 * part.lanes) {
            Opd::Reg(v)
        } else if let Some(first) = self.first(first) {
            self.spread(tmp, w, first);
            Opd::Reg(tmp)
        } else {
            self.in_memory(first, 4 * part.lanes)?;
            Opd::Mem(self.reg(first))
        };
        if cut && inside == 0 {
            return Ok(from);
        }
        let bits = 8 * ty.size();
        let up = 32 - bits - 8 * inside;
        let signed = ty.is_int() && ty.is_signed() && !cut;
        if up != 0 && !signed && !cut && ty != Type::Hf {
            // The others' bytes become zeros.
            let v = self.in_register(from, part, tmp);
            if inside == 0 {
                let low = self.literal((1 << bits) - 1);
                self.a.v3(VPANDD, w, tmp, v, Opd::Bcast(low), Lanes::All);
                return Ok(Opd::Reg(tmp));
            }
            let byte = |lane: u32, b: u32| if b < ty.size() { 4 * (lane % 4) + inside + b } else { 0x80 };
            let pick = std::array::from_fn(|k| (0..4).fold(0, |all, b| all | byte(k as u32, b) << (8 * b)));
            let pick = self.literals(pick);
            self.a.v3(VPSHUFB, w, tmp, v, Opd::Mem(pick), Lanes::All);
            return Ok(Opd::Reg(tmp));
        }
        let from = match from {
            Opd::Mem(_) => {
                self.a.v2(VMOVDQU32, w, tmp, from, Lanes::All);
                Opd::Reg(tmp)
            }
            other => other,
        };
        let (from, down) = match up {
            0 => (from, 32 - bits),
            _ if cut => (from, 8 * inside),
            _ => {
                self.a.v2i(VPSLLD, w, tmp, from, up, Lanes::All);
                (Opd::Reg(tmp), 32 - bits)
            }
        };
        let op = if signed { VPSRAD } else { VPSRLD };
        self.a.v2i(op, w, tmp, from, down, Lanes::All);
        if ty == Type::Hf {
            self.a.store_to_reg(VPMOVDW, w, tmp, tmp);
            self.a.v2(VCVTPH2PS, w, tmp, Opd::Reg(tmp), Lanes::All);
        }
        Ok(Opd::Reg(tmp))
    }

    /// The low or high bytes of words.
    fn low_or_high_bytes(
        &mut self,
        (offset, ty): (RegOffset, Type),
        part: &Part,
        tmp: V,
    ) -> Result<Opd, Unsupported> {
        let w = part.width;
        let inside = offset % 2;
        let first = offset - inside + 2 * part.lane;
        self.in_memory(first, 2 * part.lanes)?;
        let m = self.reg(first);
        self.a.v2(VPMOVZXWD, w, tmp, Opd::Mem(m), Lanes::All);
        let up = 24 - 8 * inside;
        self.a.v2i(VPSLLD, w, tmp, Opd::Reg(tmp), up, Lanes::All);
        let down = if ty.is_signed() { VPSRAD } else { VPSRLD };
        self.a.v2i(down, w, tmp, Opd::Reg(tmp), 24, Lanes::All);
        Ok(Opd::Reg(tmp))
    }

    /// The low or high dwords of sixteen quads.
    fn dwords_of_sixteen_quads(
        &mut self,
        offset: RegOffset,
        part: &Part,
        tmp: V,
    ) -> Result<Opd, Unsupported> {
        let w = part.width;
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

    /// The low or high dwords of eight quads.
    fn dwords_of_eight_quads(&mut self, offset: RegOffset, part: &Part, tmp: V) -> Result<Opd, Unsupported> {
        let first = offset - offset % 8 + 8 * part.lane;
        let mut from = match self.home(first, 64) {
            Some(v) => v,
            None => {
                self.in_memory(first, 64)?;
                self.a.v2(VMOVDQU32, Width::Z, tmp, Opd::Mem(self.reg(first)), Lanes::All);
                tmp
            }
        };
        if !offset.is_multiple_of(8) {
            self.a.v2i(VPSRLQ, Width::Z, tmp, Opd::Reg(from), 32, Lanes::All);
            from = tmp;
        }
        self.a.store_to_reg(VPMOVQD, Width::Z, tmp, from);
        Ok(Opd::Reg(tmp))
    }

    /// Applies a modifier.
    pub(super) fn modified(
        &mut self,
        i: &Inst,
        from: Opd,
        ty: Type,
        modifier: Modifier,
        part: &Part,
        tmp: V,
    ) -> Result<Opd, Unsupported> {
        let w = part.width;
        if modifier == Modifier::None {
            return Ok(from);
        }
        let wide = part.bytes == 8;
        if is_float(i.exec) {
            let v = self.in_register(from, part, tmp);
            let (op, bits, low) = match modifier {
                Modifier::Neg => (VPXORD, 0x8000_0000u32, 0),
                Modifier::Abs => (VPANDD, 0x7fff_ffff, u32::MAX),
                Modifier::NegAbs => (VPORD, 0x8000_0000, 0),
                _ => return Err("a modifier without native code"),
            };
            let bits = match wide {
                true => Opd::Mem(self.literals(std::array::from_fn(|k| if k % 2 == 1 { bits } else { low }))),
                false => Opd::Bcast(self.literal(bits)),
            };
            self.a.v3(op, w, tmp, v, bits, Lanes::All);
            return Ok(Opd::Reg(tmp));
        }
        if ty == Type::Hf {
            let (op, bits) = match modifier {
                Modifier::Neg => (VPXORD, 0x8000),
                Modifier::Abs => (VPANDD, 0x7fff),
                Modifier::NegAbs => (VPORD, 0x8000),
                _ => return Err("a modifier without native code"),
            };
            let v = self.in_register(from, part, tmp);
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
            Modifier::Abs | Modifier::NegAbs => {
                // By the source's sign, or the type's that is computed in.
                let mut v = from;
                if ty.is_signed() || matches!(i.exec, ExecType::I32 | ExecType::I64) {
                    self.a.v2(if wide { VPABSQ } else { VPABSD }, w, tmp, from, Lanes::All);
                    v = Opd::Reg(tmp);
                }
                if modifier == Modifier::NegAbs {
                    return self.modified(i, v, ty, Modifier::Neg, part, tmp);
                }
                return Ok(v);
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
}
