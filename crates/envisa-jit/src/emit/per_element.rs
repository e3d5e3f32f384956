//! Instructions whose channels are few, or whose elements lie apart: one element after the other.

use super::memory::{Form, PTR, Way};
use super::*;
use crate::context_layout::site;
use envisa_lower::{Simt, Strides};

/// Most channels that are done so: with more, the machine is as fast.
const MOST: u32 = 16;

impl Emit<'_> {
    /// Runs an instruction channel by channel, all of which run for certain.
    pub(super) fn few(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        self.certain(pc)?;
        if self.deferred.reads(pc) {
            return Err("a value that is made where it is read");
        }
        let n = u32::from(i.channels);
        let Dst::Reg { offset: to, ty, stride, sat: false } = i.dst else {
            return Err("an unusual destination");
        };
        let carries = matches!(i.op, Op::Addc | Op::Subb);
        if n > MOST || i.op == Op::Cmp || (i.dst2 != 0 && !carries) {
            return Err("an instruction that is not done by elements");
        }
        if !carries && self.four(pc, i)? {
            return Ok(());
        }
        let step = u32::from(stride) * ty.size();
        let meets = |j: u32, k: u32| {
            let written = to + j * step..to + j * step + ty.size();
            i.src.iter().any(|s| {
                let Src::Reg { offset, ty, strides, constant: false, .. } = *s else { return false };
                let read = offset + strides.element(k) * ty.size();
                let carry = i.dst2 + 4 * j;
                (written.start < read + ty.size() && read < written.end)
                    || (carries && carry < read + ty.size() && read < carry + 4)
            })
        };
        if carries && (ty.size() != 4 || i.exec != ExecType::U32 || i.dst2 == 0) {
            return Err("a carry of another type");
        }
        if (0..n).any(|k| (0..k).any(|j| meets(j, k))) {
            return Err("an element would overwrite what a later one reads");
        }
        self.in_memory(to, (n - 1) * step + ty.size())?;
        if carries {
            self.in_memory(i.dst2, 4 * n)?;
        }
        for k in 0..n {
            let mut one = *i;
            (one.channels, one.first) = (1, i.first + k as u8);
            one.dst = Dst::Reg { offset: to + k * step, ty, stride: 1, sat: false };
            if carries {
                one.dst2 += 4 * k;
            }
            for s in &mut one.src {
                match s {
                    Src::Reg { offset, ty, strides, shape, .. } => {
                        *offset += strides.element(k) * ty.size();
                        (*strides, *shape) = (Strides::SCALAR, Shape::Scalar);
                        self.in_memory(*offset, ty.size())?;
                    }
                    Src::None => {}
                    _ => return Err("a source that is no plain register"),
                }
            }
            if carries {
                self.lone_carry(pc, &one)?;
            } else if !(self.immediate(pc, &one)? || self.scalar(pc, &one)?) {
                self.lone(pc, &one)?;
            }
        }
        Ok(())
    }

    /// Four channels of dwords side by side, in a vector; `false` (and nothing done) if they are not that.
    fn four(&mut self, pc: Pc, i: &Inst) -> Result<bool, Unsupported> {
        let float = super::alu::is_float(i.exec);
        let dwords = |ty: Type| ty.size() == 4 && ty.is_float() == float;
        let Dst::Reg { offset: to, ty, stride: 1, sat: false } = i.dst else { return Ok(false) };
        let source = |s: &Src| match *s {
            Src::Reg { offset, ty, shape: Shape::Contiguous, .. } => {
                dwords(ty) && self.in_memory(offset, 16).is_ok()
            }
            Src::Reg { offset, ty, shape: Shape::Scalar, .. } => {
                dwords(ty) && self.in_memory(offset, 4).is_ok()
            }
            Src::None => true,
            _ => false,
        };
        let plain = matches!(i.exec, ExecType::I32 | ExecType::U32 | ExecType::F32);
        if !plain || i.channels != 4 || !dwords(ty) || i.pred.offset != 0 || !i.src.iter().all(source) {
            return Ok(false);
        }
        self.in_memory(to, 16)?;
        let part = Part { index: 0, lanes: 4, lane: 0, channel: i.first.into(), width: Width::X, bytes: 4 };
        let v = self.value(pc, i, &part, 0, Lanes::All)?;
        let m = self.reg(to);
        self.a.store(STORE32, Width::X, m, v, Lanes::All);
        Ok(true)
    }

    /// An instruction of one channel, in vector registers.
    pub(super) fn lone(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        let Dst::Reg { offset: to, ty, sat, .. } = i.dst else { return Err("an unusual destination") };
        self.certain(pc)?;
        let bytes = super::alu::exec_bytes(i.exec)?;
        let part = Part { index: 0, lanes: 1, lane: 0, channel: i.first.into(), width: Width::X, bytes };
        let v = self.value(pc, i, &part, 0, Lanes::All)?;
        let v = self.converted(i, v, (ty, sat), &part, 0)?;
        let m = self.reg(to);
        match ty.size() {
            8 => self.a.mr(Code::EVEX_Vmovq_rm64_xmm, m, vector_register(v, Width::X)),
            4 => self.a.mr(Code::EVEX_Vmovd_rm32_xmm, m, vector_register(v, Width::X)),
            2 => {
                self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vector_register(v, Width::X));
                self.a.mr(Code::Mov_rm16_r16, m, Register::AX);
            }
            _ => {
                self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vector_register(v, Width::X));
                self.a.mr(Code::Mov_rm8_r8, m, Register::AL);
            }
        }
        Ok(())
    }

    /// A message of two or four channels, all of which run: one after the other, where all of them are inside.
    pub(super) fn few_places(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        data: RegOffset,
    ) -> Result<(), Unsupported> {
        self.certain(pc)?;
        let n = u32::from(i.channels);
        let size = if form.wide { 8 } else { 4 };
        let slot = u32::from(s.slot);
        self.in_memory(s.address, size * n)?;
        for c in 0..s.elements.count_ones() {
            self.in_memory(data + c * s.component_stride, slot * n)?;
        }
        let (entry, back) = (self.a.label(), self.a.label());
        self.key(pc, i, s, entry)?;
        let lane = |k: u32| {
            let part = Part { index: 0, lanes: 1, lane: 0, channel: 0, width: Width::X, bytes: 4 };
            (Simt { address: s.address + size * k, ..s.clone() }, part)
        };
        let align = u32::from(s.align) / form.scale;
        let aligned = self.aligned_already(s, form, (align, n), entry)?;
        // Where each goes, and whether it is inside, before anything is done.
        for k in 0..n {
            let (s, part) = lane(k);
            let way = self.way(pc, i, &s, form, &part, entry, &mut false)?;
            let Way::Same(r) = way else { return Err("a way") };
            if !aligned {
                self.aligned(pc, &part, way, align, entry);
            }
            self.a.mr(Code::Mov_rm64_r64, Mem::at(CTX, at::LANES + 8 * k), r);
        }
        let pointer = self.site(i, site::POINTER);
        self.a.rm(Code::Mov_r64_rm64, PTR, pointer);
        for k in 0..n {
            let (s, part) = lane(k);
            self.a.rm(Code::Mov_r64_rm64, Register::RAX, Mem::at(CTX, at::LANES + 8 * k));
            self.transfer(pc, i, &s, form, &part, (Way::Same(Register::RAX), false), data + slot * k)?;
        }
        self.a.bind(back);
        self.later.push(Later::Miss { pc, entry, back });
        Ok(())
    }

    /// Low or high bytes of words: the others stay.
    pub(super) fn bytes_of_words(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        let Dst::Reg { offset, ty, stride: 2, sat: false } = i.dst else {
            return Err("a destination with gaps");
        };
        if !matches!(i.exec, ExecType::I32 | ExecType::U32) || !ty.is_int() || ty.size() != 1 {
            return Err("a destination with gaps");
        }
        let parts = self.parts(i, 4)?;
        if parts[0].lanes == 1 || self.hazard(i, &parts) {
            return Err("a destination with gaps that is read, too");
        }
        let inside = offset % 2;
        for part in &parts {
            let to = offset - inside + 2 * part.lane;
            let words = Width::of(2 * part.lanes);
            let mask = self.lanes(pc, part, to + inside)?;
            let mut v = self.value(pc, i, part, 0, Lanes::All)?;
            if inside != 0 {
                self.a.v2i(VPSLLD, part.width, 0, Opd::Reg(v), 8, Lanes::All);
                v = 0;
            }
            self.a.store_to_reg(VPMOVDW, part.width, 0, v);
            match self.convertible(to, 2 * part.lanes, 5)? {
                Opd::Reg(r) => self.copy_reg(5, r, words),
                other => self.a.v2(VMOVDQU32, words, 5, other, Lanes::All),
            }
            let bits = self.literal(0x00ff_00ff << (8 * inside));
            self.a.v3i(VPTERNLOGD, words, 5, 0, Opd::Bcast(bits), 0xd8, Lanes::All);
            self.store_part(to, 5, 2, part, mask)?;
        }
        Ok(())
    }

    /// Low or high dwords of quads: the others stay.
    pub(super) fn half_quads(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        let Dst::Reg { offset, ty, stride: 2, sat: false } = i.dst else {
            return Err("a destination with gaps");
        };
        let same = matches!(i.exec, ExecType::I32 | ExecType::U32) && ty.is_int()
            || i.exec == ExecType::F32 && ty == Type::F;
        if ty.size() != 4 || !same {
            return Err("a destination with gaps");
        }
        let parts = self.parts(i, 4)?;
        if parts[0].lanes == 1 || self.hazard(i, &parts) {
            return Err("a destination with gaps that is read, too");
        }
        let high = offset % 8 == 4;
        if high && self.made_whole == Some(pc) {
            return Ok(());
        }
        if !high && self.whole_quads(pc, i, &parts)? {
            return Ok(());
        }
        let bits = self.literals(std::array::from_fn(|k| if (k % 2 == 1) == high { u32::MAX } else { 0 }));
        for part in &parts {
            let mask = self.lanes(pc, part, offset + 8 * part.lane)?;
            let v = self.value(pc, i, part, 0, Lanes::All)?;
            for h in 0..part.lanes / 8 {
                let to = offset - offset % 8 + 8 * part.lane + 64 * h;
                self.in_memory(to, 64)?;
                let m = self.reg(to);
                let mut from = v;
                if h == 1 {
                    let extract = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
                    self.a.rri(extract, vector_register(4, Width::Y), vector_register(v, Width::Z), 1);
                    from = 4;
                }
                let k = self.mask_of_eight(mask, h);
                self.a.v2(VPMOVZXDQ, Width::Z, 4, Opd::Reg(from), Lanes::All);
                if high {
                    self.a.v2i(VPSLLQ, Width::Z, 4, Opd::Reg(4), 32, Lanes::All);
                }
                self.a.v2(VMOVDQU64, Width::Z, 5, Opd::Mem(m), Lanes::All);
                self.a.v3i(VPTERNLOGD, Width::Z, 5, 4, Opd::Mem(bits), 0xd8, Lanes::All);
                if let Some(k) = k {
                    self.a.v2(VMOVDQU64, Width::Z, 4, Opd::Mem(m), Lanes::All);
                    self.a.v2(VMOVDQU64, Width::Z, 4, Opd::Reg(5), Lanes::Of(k));
                    self.a.store(STORE32, Width::Z, m, 4, Lanes::All);
                } else {
                    self.a.store(STORE32, Width::Z, m, 5, Lanes::All);
                }
            }
        }
        Ok(())
    }

    /// Quads whose lower dwords this instruction moves, and whose upper ones the next: both are, at once. `false`: it is not so.
    fn whole_quads(&mut self, pc: Pc, i: &Inst, parts: &[Part]) -> Result<bool, Unsupported> {
        let (Some(next), Dst::Reg { offset, .. }) = (self.next_of_block(pc), i.dst) else { return Ok(false) };
        let j = *self.inst(next);
        let to = matches!(j.dst, Dst::Reg { offset: at, ty: Type::D | Type::Ud, stride: 2, sat: false } if at == offset + 4);
        let plain = i.op == Op::Mov && i.pred.offset == 0 && (i.no_mask || self.all_active(pc));
        let same = (j.op, j.exec, j.channels, j.first, j.pred) == (i.op, i.exec, i.channels, i.first, i.pred)
            && (j.no_mask || self.all_active(next));
        let same = same && to && plain;
        if !same || offset % 8 != 0 || self.hazard(&j, parts) {
            return Ok(false);
        }
        let extract = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
        for part in parts {
            let low = self.value(pc, i, part, 0, Lanes::All)?;
            let low = if low == 0 {
                self.copy_reg(3, 0, part.width);
                3
            } else {
                low
            };
            let high = self.value(next, &j, part, 0, Lanes::All)?;
            for h in 0..part.lanes / 8 {
                let to = offset + 8 * part.lane + 64 * h;
                self.in_memory(to, 64)?;
                for (half, mut from) in [(4, low), (5, high)] {
                    if h == 1 {
                        self.a.rri(
                            extract,
                            vector_register(half, Width::Y),
                            vector_register(from, Width::Z),
                            1,
                        );
                        from = half;
                    }
                    self.a.v2(VPMOVZXDQ, Width::Z, half, Opd::Reg(from), Lanes::All);
                }
                self.a.v2i(VPSLLQ, Width::Z, 5, Opd::Reg(5), 32, Lanes::All);
                self.a.v3(VPORD, Width::Z, 4, 4, Opd::Reg(5), Lanes::All);
                let m = self.reg(to);
                self.a.store(STORE32, Width::Z, m, 4, Lanes::All);
            }
        }
        self.made_whole = Some(next);
        Ok(true)
    }
}
