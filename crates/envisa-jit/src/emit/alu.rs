//! Instructions that compute channel by channel.

use super::*;

pub(super) fn exec_bytes(e: ExecType) -> Result<u32, Unsupported> {
    match e {
        ExecType::I32 | ExecType::U32 | ExecType::F32 => Ok(4),
        ExecType::I64 | ExecType::U64 | ExecType::F64 => Ok(8),
        ExecType::F16 => Ok(4),
        _ => Err("a type without native code"),
    }
}

pub(super) fn is_float(e: ExecType) -> bool {
    matches!(e, ExecType::F32 | ExecType::F64 | ExecType::F16)
}

/// Halves that are only moved, or picked, as the words that they are: a signalling NaN stays one. Those with a modifier
/// go on being halves, whose words the instruction takes with other signs.
pub(super) fn as_words(i: &Inst) -> Inst {
    let mut i = *i;
    let (Op::Mov | Op::Sel, ExecType::F16, Dst::Reg { ty: Type::Hf, sat: false, .. }) = (i.op, i.exec, i.dst)
    else {
        return i;
    };
    let other = |s: &Src| matches!(s, Src::Reg { ty, .. } | Src::Indirect { ty, .. } if *ty != Type::Hf);
    if i.src.iter().any(other) {
        return i;
    }
    i.exec = ExecType::U32;
    if let Dst::Reg { ty, .. } = &mut i.dst {
        *ty = Type::Uw;
    }
    for s in &mut i.src {
        if let Src::Reg { ty, modifier, .. } | Src::Indirect { ty, modifier, .. } = s
            && *modifier == Modifier::None
        {
            *ty = Type::Uw;
        }
    }
    i
}

/// Dwords that become quads, and what becomes doubles, are extended when they are read.
pub(super) fn extend_sources(mut i: Inst) -> Inst {
    if let (Op::Mov, ExecType::I32 | ExecType::U32, Dst::Reg { ty: Type::Q | Type::Uq, sat: false, .. }) =
        (i.op, i.exec, i.dst)
        && matches!(i.src[0], Src::Reg { modifier: Modifier::None, .. })
    {
        i.exec = ExecType::I64;
    }
    if let (Op::Mov, Dst::Reg { ty: Type::Df, sat: false, .. }, Src::Reg { ty: from, modifier, .. }) =
        (i.op, i.dst, i.src[0])
        && (from == Type::F || from.is_int() && from.size() <= 4 && modifier == Modifier::None)
    {
        i.exec = ExecType::F64;
    }
    // Singles that become quads do so as doubles, which hold them all.
    if let (Op::Mov, ExecType::F32, Dst::Reg { ty: Type::Q | Type::Uq, .. }, Src::Reg { ty: Type::F, .. }) =
        (i.op, i.exec, i.dst, i.src[0])
    {
        i.exec = ExecType::F64;
    }
    i
}

impl Emit<'_> {
    /// An instruction that computes: by vectors, or, where it has few channels and they cannot, one after the other.
    pub(super) fn compute(&mut self, pc: Pc) -> Result<(), Unsupported> {
        let before = (self.a.here(), self.later.len());
        self.held = None;
        let i = as_words(self.inst(pc));
        self.mode_allows(&i)?;
        let tiles = self.tiles.clone();
        match self.tiled(pc) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(_) => {
                self.a.back(before.0);
                self.tiles = tiles;
                self.leave_tiles(pc);
                self.tiles = None;
            }
        }
        let before = (self.a.here(), self.later.len());
        self.vectors(pc, i).or_else(|why| {
            if i.channels == 1 {
                return Err(why);
            }
            self.a.back(before.0);
            self.later.truncate(before.1);
            self.few(pc, &i).map_err(|_| why)
        })
    }

    pub(super) fn vectors(&mut self, pc: Pc, i: Inst) -> Result<(), Unsupported> {
        if let Some((chain, value)) = self.deferred.chain(pc) {
            return self.truth(pc, &i, chain, *value);
        }
        if let Dst::Reg { offset, .. } = i.dst
            && self.step(offset).is_some()
        {
            return self.shaped(pc, &i);
        }
        let mut i = i;
        if let Dst::Reg { offset, .. } = i.dst
            && i.channels == 32
            && self.twin(offset + 64).is_some()
        {
            // Of its second half nothing is made.
            i.channels = 16;
        }
        let points = i.src.iter().any(|s| matches!(s, Src::Indirect { .. }));
        if points || matches!(i.dst, Dst::Indirect { .. }) {
            return self.indirect(pc, &i);
        }
        let i = extend_sources(i);
        if matches!(i.op, Op::Addc | Op::Subb) {
            return self.carries(pc, &i);
        }
        if i.op == Op::Madw {
            return self.both_halves(pc, &i);
        }
        if i.channels == 1 && (self.immediate(pc, &i)? || self.scalar(pc, &i)?) {
            return Ok(());
        }
        if i.channels > 1 && self.packed(pc, &i)? {
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
        if i.op == Op::Mov && !narrow && !sat && i.exec != ExecType::F16 && self.copy(pc, &i)? {
            return Ok(());
        }
        let parts = self.parts(&i, bytes)?;
        if self.hazard(&i, &parts) {
            return Err("a part would overwrite what a later one reads");
        }
        if i.exec == ExecType::F32 && !narrow && !sat && self.both_at_once(pc, &i, offset, &parts)? {
            return Ok(());
        }
        for part in &parts {
            let to = offset + part.lane * ty.size();
            if part.lanes == 1 {
                self.lone(pc, &i)?;
                continue;
            }
            let mask = self.lanes(pc, part, to)?;
            if narrow || sat {
                let v = self.value(pc, &i, part, 0, Lanes::All)?;
                let home = self.home(to, part.lanes * ty.size()).filter(|_| mask.is_none());
                let v = self.converted(&i, v, (ty, sat), part, home.unwrap_or(0))?;
                if home.is_none_or(|h| h != v) {
                    self.store_part(to, v, ty.size(), part, mask)?;
                }
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

    /// A function of the math unit of two whole halves, if it can be made of both at once.
    fn both_at_once(
        &mut self,
        pc: Pc,
        i: &Inst,
        offset: RegOffset,
        parts: &[Part],
    ) -> Result<bool, Unsupported> {
        let &[a, b] = parts else { return Ok(false) };
        if (a.lanes, b.lanes) != (16, 16) || self.flushes_result(i) {
            return Ok(false);
        }
        let [to, other] = [a, b].map(|part| self.home(offset + 4 * part.lane, 64));
        let (Some(to), Some(other)) = (to, other) else { return Ok(false) };
        let here = self.a.here();
        let masks = [self.lanes(pc, &a, offset)?, self.lanes(pc, &b, offset + 64)?];
        let made = masks == [None; 2] && self.math_of_both(pc, i, parts, [to, other])?;
        if !made {
            self.a.back(here);
        }
        Ok(made)
    }

    /// A destination of the bytes or words of dwords: the others' bits stay.
    pub(super) fn gaps(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        let Dst::Reg { offset, ty, stride, sat } = i.dst else { return Err("an unusual destination") };
        if ty.size() == 4 {
            return self.half_quads(pc, i);
        }
        if ty.size() == 1 && stride == 2 {
            return self.bytes_of_words(pc, i);
        }
        let (size, inside) = (ty.size(), offset % 4);
        if !matches!(i.exec, ExecType::I32 | ExecType::U32)
            || sat
            || !ty.is_int()
            || u32::from(stride) * size != 4
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
            let d = home.unwrap_or(if v == 5 { 4 } else { 5 });
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
    pub(super) fn certain(&self, pc: Pc) -> Result<(), Unsupported> {
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
    ) -> Result<(), Unsupported> {
        let m = self.reg(to);
        let w = Width::of(part.lanes * bytes);
        if part.lanes * bytes < 8 {
            return Err("fewer than eight bytes");
        }
        if let Some(home) = self.home(to, part.lanes * bytes) {
            let op = if bytes == 8 { VMOVDQU64 } else { VMOVDQU32 };
            let op = match (bytes, mask) {
                (1, Some(_)) => VMOVDQU8,
                (2, Some(_)) => VMOVDQU16,
                _ => op,
            };
            self.a.v2(op, w, home, Opd::Reg(v), mask.map_or(Lanes::All, Lanes::Of));
            return Ok(());
        }
        if self.part_of_home(to, v, bytes, part, mask)? {
            return Ok(());
        }
        self.in_memory(to, part.lanes * bytes)?;
        match (mask, bytes) {
            (None, _) if part.lanes * bytes == 8 => {
                self.a.mr(Code::EVEX_Vmovq_rm64_xmm, m, vector_register(v, Width::X));
            }
            (None, _) => self.a.store(STORE32, w, m, v, Lanes::All),
            // CPUs do not forward what masked stores wrote: all is stored.
            (Some(k), 4 | 8) => {
                let op = if bytes == 8 { VMOVDQU64 } else { VMOVDQU32 };
                // What is written may be in any register below those that hold cells.
                let all = if v == 5 { 4 } else { 5 };
                self.a.v2(op, w, all, Opd::Mem(m), Lanes::All);
                self.a.v2(op, w, all, Opd::Reg(v), Lanes::Of(k));
                self.a.store(STORE32, w, m, all, Lanes::All);
            }
            // In dwords, and narrow again.
            (Some(k), _) => {
                let dwords = Width::of(4 * part.lanes);
                let (wider, narrower) = if bytes == 2 { (VPMOVZXWD, VPMOVDW) } else { (VPMOVZXBD, VPMOVDB) };
                self.a.v2(wider, dwords, 4, Opd::Reg(v), Lanes::All);
                self.a.v2(wider, dwords, 5, Opd::Mem(m), Lanes::All);
                self.a.v2(VMOVDQU32, dwords, 5, Opd::Reg(4), Lanes::Of(k));
                self.a.store(narrower, dwords, m, 5, Lanes::All);
            }
        }
        Ok(())
    }

    /// Writes a part of what a register holds: `false` if none does.
    fn part_of_home(
        &mut self,
        to: RegOffset,
        v: V,
        bytes: u32,
        part: &Part,
        mask: Option<K>,
    ) -> Result<bool, Unsupported> {
        let Some(id) = self.cells.at(to) else { return Ok(false) };
        let c = *self.cells.get(id);
        let Some(home) = self.alloc.vector(id) else { return Ok(false) };
        let (inside, one) = (to - c.offset, part.lanes * bytes);
        // A register for the part that is there, and one more: what is written may be in any.
        let mut spare = [5, 4, 3].into_iter().filter(|r| *r != v);
        let [Some(old), Some(other)] = [spare.next(), spare.next()] else { return Err("too few registers") };
        let all = Width::of(c.bytes);
        // Eight bytes are written with the others of their sixteen.
        let size = one.max(16);
        let Some((insert, extract, of)) = piece_moves(c.bytes, size).filter(|_| one >= 8) else {
            return Err("a part of a vector in a register");
        };
        let number = inside / size;
        let take = |e: &mut Self, to: V| match extract {
            Some(extract) => {
                e.a.rri(extract, vector_register(to, of), vector_register(home, all), number as i32)
            }
            None => e.copy_reg(to, home, of),
        };
        let upper = inside % 16 == 8 && one == 8;
        let down = Code::EVEX_Vpsrldq_xmm_xmmm128_imm8;
        let mut from = v;
        if let Some(k) = mask {
            let op = match bytes {
                8 => VMOVDQU64,
                4 => VMOVDQU32,
                2 => VMOVDQU16,
                _ => VMOVDQU8,
            };
            take(self, old);
            if upper {
                self.a.rri(down, vector_register(old, of), vector_register(old, of), 8);
            }
            self.a.v2(op, of, old, Opd::Reg(v), Lanes::Of(k));
            from = old;
        }
        if one == 8 {
            take(self, other);
            if upper {
                self.a.v3(VPUNPCKLQDQ, of, old, other, Opd::Reg(from), Lanes::All);
            } else {
                self.a.rri(down, vector_register(other, of), vector_register(other, of), 8);
                self.a.v3(VPUNPCKLQDQ, of, old, from, Opd::Reg(other), Lanes::All);
            }
            from = old;
        }
        match insert {
            Some(insert) => {
                let [whole, piece] = [vector_register(home, all), vector_register(from, of)];
                self.a.push(iced_x86::Instruction::with4(insert, whole, whole, piece, number));
            }
            None => self.copy_reg(home, from, of),
        }
        Ok(true)
    }

    /// A result in the destination's type: saturated, narrowed or converted, in the same register or in `to`.
    pub(super) fn converted(
        &mut self,
        i: &Inst,
        v: V,
        (ty, sat): (Type, bool),
        part: &Part,
        to: V,
    ) -> Result<V, Unsupported> {
        let w = part.width;
        let v = self.saturated(i, v, (ty, sat), part, to)?;
        let v = match (i.exec, ty) {
            (ExecType::F32, Type::F)
            | (ExecType::I32 | ExecType::U32, Type::D | Type::Ud)
            | (ExecType::I64 | ExecType::U64, Type::Q | Type::Uq)
            | (ExecType::F64, Type::Df) => v,
            (ExecType::I32, Type::F) => {
                self.a.v2(VCVTDQ2PS, w, to, Opd::Reg(v), Lanes::All);
                to
            }
            (ExecType::U32, Type::F) => {
                self.unsigned_to_float(VCVTUDQ2PS, w, to, Opd::Reg(v));
                to
            }
            (ExecType::F32, Type::D) => {
                self.truncate(v, w, true, to);
                to
            }
            (ExecType::F32, Type::Ud) => {
                self.truncate(v, w, false, to);
                to
            }
            (ExecType::I32 | ExecType::U32 | ExecType::F32, Type::Uw | Type::W) if part.lanes > 1 => {
                self.a.store_to_reg(VPMOVDW, w, to, v);
                to
            }
            (ExecType::I32 | ExecType::U32 | ExecType::F32, Type::Ub | Type::B) if part.lanes > 1 => {
                self.a.store_to_reg(VPMOVDB, w, to, v);
                to
            }
            (ExecType::I32 | ExecType::U32 | ExecType::F32, Type::Uw | Type::W | Type::Ub | Type::B) => v,
            (ExecType::I64 | ExecType::U64 | ExecType::F64, _) if ty.is_int() && ty.size() < 8 => {
                if part.lanes == 1 {
                    return Ok(v);
                }
                let dwords = Width::of(4 * part.lanes);
                self.a.store_to_reg(VPMOVQD, w, to, v);
                match ty.size() {
                    2 => self.a.store_to_reg(VPMOVDW, dwords, to, to),
                    1 => self.a.store_to_reg(VPMOVDB, dwords, to, to),
                    _ => {}
                }
                to
            }
            (ExecType::F64, Type::Q | Type::Uq) => v,
            (ExecType::I64 | ExecType::U64, Type::F | Type::Df) => {
                self.floats(v, part, i.exec == ExecType::I64, ty, to);
                to
            }
            (ExecType::F64, Type::F) => {
                let v = self.flushed_before(i, v, part, 4);
                self.a.v2(VCVTPD2PS, w, to, Opd::Reg(v), Lanes::All);
                if self.flushes(Type::F) {
                    let singles = Part { width: Width::of(4 * part.lanes), bytes: 4, ..*part };
                    self.flush(to, &singles, Type::F, to);
                }
                to
            }
            // What was picked are words.
            (ExecType::F16, Type::Hf) if matches!(i.op, Op::Min | Op::Max) => {
                if part.lanes > 1 {
                    self.a.store_to_reg(VPMOVDW, w, to, v);
                    return Ok(to);
                }
                v
            }
            (ExecType::F32 | ExecType::F16, Type::Hf) => {
                let v = self.flushed_before(i, v, part, 4);
                self.singles_to_halves(part, to, v);
                to
            }
            (ExecType::F16, Type::F) => v,
            _ => return Err("a conversion without native code"),
        };
        Ok(v)
    }

    /// A result within the bounds of the destination's type, not narrowed yet.
    fn saturated(
        &mut self,
        i: &Inst,
        v: V,
        (ty, sat): (Type, bool),
        part: &Part,
        to: V,
    ) -> Result<V, Unsupported> {
        let w = part.width;
        let narrow = matches!(ty, Type::Ub | Type::B | Type::Uw | Type::W);
        Ok(match (i.exec, ty) {
            (ExecType::F32, Type::F) if sat => {
                let v = self.flushed_before(i, v, part, 4);
                let one = self.literal(1f32.to_bits());
                // Functions of the math unit leave their result in any register.
                let zero = if v == 5 { 4 } else { 5 };
                self.a.v3(VPXORD, w, zero, zero, Opd::Reg(zero), Lanes::All);
                self.a.v3(VMAXPS, w, to, v, Opd::Reg(zero), Lanes::All);
                self.a.v3(VMINPS, w, to, to, Opd::Bcast(one), Lanes::All);
                return Ok(to);
            }
            // With or without saturation the nearest, when it was a float.
            (ExecType::F32, _) if narrow => {
                self.truncate(v, w, ty.is_signed(), to);
                self.clamp(to, w, ty, ty.is_signed(), to);
                to
            }
            (ExecType::F32, Type::D | Type::Ud) => v,
            (ExecType::F64, _) if ty.is_int() => {
                self.integers(v, part, ty, to);
                to
            }
            (ExecType::I32 | ExecType::U32, _) if sat && narrow && i.op == Op::Mov => {
                self.clamp(v, w, ty, i.exec == ExecType::I32, to);
                to
            }
            _ if sat => return Err("saturation to another type"),
            _ => v,
        })
    }

    /// Dwords, signed or not, to the nearest that a narrow type has.
    fn clamp(&mut self, v: V, w: Width, ty: Type, signed: bool, to: V) {
        let bits = 8 * ty.size();
        let most = if ty.is_signed() { (1u32 << (bits - 1)) - 1 } else { (1 << bits) - 1 };
        let most = self.literal(most);
        let mut from = v;
        if signed {
            let least = if ty.is_signed() { (-1i32 << (bits - 1)) as u32 } else { 0 };
            let least = self.literal(least);
            self.a.v3(VPMAXSD, w, to, from, Opd::Bcast(least), Lanes::All);
            from = to;
        }
        self.a.v3(if signed { VPMINSD } else { VPMINUD }, w, to, from, Opd::Bcast(most), Lanes::All);
    }

    /// A single to an integer in `to`: towards zero, out of range the nearest, NaN 0.
    pub(super) fn truncate(&mut self, v: V, w: Width, signed: bool, to: V) {
        // NaN becomes zero.
        self.a.vcmp(VCMPPS, w, 5, v, Opd::Reg(v), 7, None);
        self.a.v2(VMOVDQU32, w, 5, Opd::Reg(v), Lanes::Zero(5));
        if signed {
            let limit = self.literal(0x4f00_0000);
            let most = self.literal(0x7fff_ffff);
            self.a.vcmp(VCMPPS, w, 5, 5, Opd::Bcast(limit), 0x1d, None);
            self.a.v2(VCVTTPS2DQ, w, to, Opd::Reg(5), Lanes::All);
            self.a.v2(VPBROADCASTD, w, to, Opd::Mem(most), Lanes::Of(5));
        } else {
            // Below zero: zero. Above, the conversion gives all ones.
            self.a.v3(VPXORD, w, 0, 0, Opd::Reg(0), Lanes::All);
            self.a.v3(VMAXPS, w, 5, 5, Opd::Reg(0), Lanes::All);
            self.a.v2(VCVTTPS2UDQ, w, to, Opd::Reg(5), Lanes::All);
        }
    }

    /// A move without conversion: `true` if it was one.
    pub(super) fn copy(&mut self, pc: Pc, i: &Inst) -> Result<bool, Unsupported> {
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
    pub(super) fn value(
        &mut self,
        pc: Pc,
        i: &Inst,
        part: &Part,
        to: V,
        lanes: Lanes,
    ) -> Result<V, Unsupported> {
        if self.flushes_result(i) {
            let v = self.unflushed(pc, i, part, 0, Lanes::All)?;
            return Ok(self.flushed_before(i, v, part, 0));
        }
        self.unflushed(pc, i, part, to, lanes)
    }

    fn unflushed(&mut self, pc: Pc, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Unsupported> {
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
}

/// How a piece of so many bytes is put into a register of so many, how it is taken out, and how wide it is; neither
/// takes anything if it is all of it.
fn piece_moves(all: u32, piece: u32) -> Option<(Option<Code>, Option<Code>, Width)> {
    let (insert, extract, of) = match (all, piece) {
        (64, 32) => (
            Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8,
            Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8,
            Width::Y,
        ),
        (64, 16) => (
            Code::EVEX_Vinserti32x4_zmm_k1z_zmm_xmmm128_imm8,
            Code::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8,
            Width::X,
        ),
        (32, 16) => (
            Code::EVEX_Vinserti32x4_ymm_k1z_ymm_xmmm128_imm8,
            Code::EVEX_Vextracti32x4_xmmm128_k1z_ymm_imm8,
            Width::X,
        ),
        (16, 16) => return Some((None, None, Width::X)),
        _ => return None,
    };
    Some((Some(insert), Some(extract), of))
}
