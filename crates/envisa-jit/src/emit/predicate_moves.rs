//! Logic of predicates, and moves between predicates and registers.

use super::*;

impl Emit<'_> {
    /// Logic of predicates.
    pub(super) fn pred_logic(&mut self, pc: Pc) -> Result<(), Unsupported> {
        let i = *self.inst(pc);
        let Dst::Pred { offset } = i.dst else { return Err("a destination that is no predicate") };
        if i.pred.offset != 0 {
            return Err("logic of predicates by a predicate");
        }
        if i.channels < 8 {
            return self.logic_of_few(pc, &i, offset);
        }
        let code = match i.aux & 0xff {
            0x88 => Some(Code::VEX_Kandw_kr_kr_kr),
            0xee => Some(Code::VEX_Korw_kr_kr_kr),
            0x66 => Some(Code::VEX_Kxorw_kr_kr_kr),
            0x55 => None,
            _ => return Err("a rare truth table"),
        };
        let parts = self.parts(&i, 4)?;
        for part in &parts {
            let load = |e: &mut Self, s: &Src, k: K| {
                let Src::Pred { offset, invert } = *s else { return Err("a source that is no predicate") };
                e.pred(offset, part, k)?;
                if invert {
                    e.a.kk(Code::VEX_Knotw_kr_kr, k, k);
                }
                Ok(())
            };
            load(self, &i.src[0], PRED)?;
            match code {
                Some(code) => {
                    load(self, &i.src[1], 5)?;
                    self.a.kkk(code, PRED, PRED, 5);
                }
                None => self.a.kk(Code::VEX_Knotw_kr_kr, PRED, PRED),
            }
            self.set_pred(pc, offset, part, PRED)?;
        }
        Ok(())
    }

    /// Logic of predicates of less than eight channels, all of which run: that of their dwords.
    fn logic_of_few(&mut self, pc: Pc, i: &Inst, to: RegOffset) -> Result<(), Unsupported> {
        let sources: &[Src] = if i.aux & 0xff == 0x55 { &i.src[..1] } else { &i.src[..2] };
        let kept =
            |s: &Src| matches!(*s, Src::Pred { offset, .. } if self.deferred.pred(pc, offset).is_none());
        if !(i.no_mask || self.all_active(pc)) || !sources.iter().all(kept) {
            return Err("logic of few channels");
        }
        let code = match i.aux & 0xff {
            0x88 => Code::And_r32_rm32,
            0xee => Code::Or_r32_rm32,
            0x66 => Code::Xor_r32_rm32,
            0x55 => Code::INVALID,
            _ => return Err("a rare truth table"),
        };
        // Of a predicate that is one bit everywhere, the others stay zero.
        let bits = |at: RegOffset| self.cells.at(at).map_or(32, |c| self.cells.get(c).bits);
        let single = i.channels == 1 && i.first == 0 && bits(to) == 1;
        for (s, r) in sources.iter().zip([Register::EAX, Register::ECX]) {
            let Src::Pred { offset, invert } = *s else { return Err("a source that is no predicate") };
            let from = self.reg(offset);
            self.a.rm(Code::Mov_r32_rm32, r, from);
            if invert {
                self.a.r(Code::Not_rm32, r);
            }
        }
        if code == Code::INVALID {
            self.a.r(Code::Not_rm32, Register::EAX);
        } else {
            self.a.rr(code, Register::EAX, Register::ECX);
        }
        let m = self.reg(to);
        if single {
            self.a.ri(Code::And_rm32_imm32, Register::EAX, 1);
            self.a.mr(Code::Mov_rm32_r32, m, Register::EAX);
            return Ok(());
        }
        // Bits of other channels stay.
        let of = ((1u32 << i.channels) - 1) << i.first;
        self.a.ri(Code::And_rm32_imm32, Register::EAX, of as i32);
        self.a.rm(Code::Mov_r32_rm32, Register::ECX, m);
        self.a.ri(Code::And_rm32_imm32, Register::ECX, !of as i32);
        self.a.rr(Code::Or_r32_rm32, Register::EAX, Register::ECX);
        self.a.mr(Code::Mov_rm32_r32, m, Register::EAX);
        Ok(())
    }

    /// All bits of a predicate into a scalar, whichever channels are active.
    pub(super) fn predicate_value(&mut self, pc: Pc) -> Result<(), Unsupported> {
        let i = *self.inst(pc);
        let (Dst::Reg { offset: to, ty, .. }, Src::Pred { offset, invert }) = (i.dst, i.src[0]) else {
            return Err("a predicate that is moved to a rare place");
        };
        self.in_memory(to, ty.size())?;
        let from = self.reg(offset);
        self.a.rm(Code::Mov_r32_rm32, Register::EAX, from);
        if invert {
            self.a.r(Code::Not_rm32, Register::EAX);
        }
        self.keep_scalar(to, ty);
        Ok(())
    }

    /// Predicates' bits from the lowest of each channel's number.
    fn predicate_of_channels(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        let (Dst::Pred { offset }, Src::Reg { ty, shape, .. }) = (i.dst, i.src[0]) else {
            return Err("bits of a predicate of a rare kind");
        };
        if i.pred.offset != 0 || shape == Shape::Scalar || !ty.is_int() || ty.size() > 4 || i.channels < 8 {
            return Err("bits of a predicate of a rare kind");
        }
        let i = Inst { exec: ExecType::U32, ..*i };
        for part in &self.parts(&i, 4)? {
            let s = self.source(&i, 0, part, 1)?;
            let v = self.in_register(s, part, 1);
            self.a.v2i(VPSLLD, part.width, 1, Opd::Reg(v), 31, Lanes::All);
            self.a.v3(VPXORD, part.width, 2, 2, Opd::Reg(2), Lanes::All);
            self.a.vcmp(VPCMPUD, part.width, PRED, 1, Opd::Reg(2), 4, None);
            self.set_pred(pc, offset, part, PRED)?;
        }
        Ok(())
    }

    /// Predicates' bits from a scalar: those of all the instruction's channels, whichever are active.
    pub(super) fn predicate_bits(&mut self, pc: Pc) -> Result<(), Unsupported> {
        let i = *self.inst(pc);
        let (
            Dst::Pred { offset },
            Src::Reg { offset: from, ty, shape: Shape::Scalar, modifier, constant, .. },
        ) = (i.dst, i.src[0])
        else {
            return self.predicate_of_channels(pc, &i);
        };
        if i.pred.offset != 0 || !i.first.is_multiple_of(8) || modifier != Modifier::None || !ty.is_int() {
            return Err("bits of a predicate of a rare kind");
        }
        let to = self.reg(offset + u32::from(i.first) / 8);
        if !constant {
            self.in_memory(from, ty.size())?;
        }
        self.load_int(&i.src[0], [Register::EAX, Register::RAX], false, 0)?;
        match i.channels {
            32 => self.a.mr(Code::Mov_rm32_r32, to, Register::EAX),
            16 => self.a.mr(Code::Mov_rm16_r16, to, Register::AX),
            8 => self.a.mr(Code::Mov_rm8_r8, to, Register::AL),
            _ => return Err("bits of a predicate for few channels"),
        }
        Ok(())
    }
}
