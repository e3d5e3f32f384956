//! Sums and differences of dwords with their carries or borrows, which are results of their own.

use super::*;

impl Emit<'_> {
    pub(super) fn carries(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        let Dst::Reg { offset, ty, stride: 1, sat: false } = i.dst else {
            return Err("an unusual destination");
        };
        if i.exec != ExecType::U32 || ty.size() != 4 || !ty.is_int() || i.dst2 == 0 {
            return Err("a carry of another type");
        }
        if i.channels == 1 {
            return self.lone_carry(pc, i);
        }
        let parts = self.parts(i, 4)?;
        if self.hazard(i, &parts) || (parts.len() > 1 && self.carry_meets(i, offset)) {
            return Err("a part would overwrite what a later one reads");
        }
        for part in &parts {
            let (to, second) = (offset + 4 * part.lane, i.dst2 + 4 * part.lane);
            let (w, mask) = (part.width, self.lanes(pc, part, to)?);
            let a = self.source(i, 0, part, 1)?;
            let a = self.in_register(a, part, 1);
            let b = self.source(i, 1, part, 2)?;
            // A sum is compared with what it is the sum of.
            let home = self.home(to, 4 * part.lanes).filter(|home| mask.is_none() && *home != a);
            let sum = home.unwrap_or(0);
            if i.op == Op::Addc {
                self.a.v3(VPADDD, w, sum, a, b, Lanes::All);
                self.a.vcmp(VPCMPUD, w, 4, sum, Opd::Reg(a), 1, None);
            } else {
                self.a.vcmp(VPCMPUD, w, 4, a, b, 1, None);
                self.a.v3(VPSUBD, w, sum, a, b, Lanes::All);
            }
            if home.is_none() {
                self.store_part(to, sum, 4, part, mask)?;
            }
            if !self.is_read_behind(pc, second) {
                continue;
            }
            // In one place with the sum, the carry stays.
            let mask = self.lanes(pc, part, second)?;
            let one = self.literal(1);
            let home = self.home(second, 4 * part.lanes).filter(|_| mask.is_none());
            let carry = home.unwrap_or(0);
            self.a.v2(VPBROADCASTD, w, carry, Opd::Mem(one), Lanes::Zero(4));
            if home.is_none() {
                self.store_part(second, carry, 4, part, mask)?;
            }
        }
        Ok(())
    }

    /// May somebody read what begins there behind an instruction?
    fn is_read_behind(&self, pc: Pc, at: RegOffset) -> bool {
        let read = |c| self.live.of_thread(pc + 1, c) || self.deferred.read_behind(c, pc + 1);
        self.cells.at(at).is_none_or(read)
    }

    /// Products and sums of 64 bits (`madw`): the lower halves, and where the second result goes, the upper ones, which
    /// come first.
    pub(super) fn both_halves(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        let Dst::Reg { offset, ty, stride: 1, sat: false } = i.dst else {
            return Err("an unusual destination");
        };
        if i.exec != ExecType::I64 || ty.size() != 4 || !ty.is_int() || i.dst2 == 0 {
            return Err("two results");
        }
        if i.channels == 1 {
            self.certain(pc)?;
            self.in_memory(offset, 4)?;
            self.in_memory(i.dst2, 4)?;
            self.load_int(&i.src[0], [Register::EAX, Register::RAX], true, 0)?;
            self.operate([Code::Imul_r32_rm32, Code::Imul_r64_rm64], &i.src[1], true, 0)?;
            self.operate([Code::Add_r32_rm32, Code::Add_r64_rm64], &i.src[2], true, 0)?;
            self.a.rr(Code::Mov_r64_rm64, Register::RCX, Register::RAX);
            self.a.ri(Code::Shr_rm64_imm8, Register::RCX, 32);
            let (low, high) = (self.reg(offset), self.reg(i.dst2));
            self.a.mr(Code::Mov_rm32_r32, high, Register::ECX);
            self.a.mr(Code::Mov_rm32_r32, low, Register::EAX);
            return Ok(());
        }
        let parts = self.parts(i, 8)?;
        if self.hazard(i, &parts) || (parts.len() > 1 && self.carry_meets(i, offset)) {
            return Err("a part would overwrite what a later one reads");
        }
        // Of factors of 32 bits the product is exact; else it is modulo 2^64.
        let small = |ty: Type| ty.is_int() && ty.size() <= 4;
        let factor = |s: &Src| match (crate::affine_vectors::constant(self.p, s), *s) {
            (Some(x), _) => (u32::try_from(x).is_ok(), i32::try_from(x).is_ok()),
            (None, Src::Reg { ty, modifier: Modifier::None, .. }) if small(ty) => {
                (!ty.is_signed(), ty.is_signed() || ty.size() < 4)
            }
            _ => (false, false),
        };
        let [(u0, s0), (u1, s1)] = [factor(&i.src[0]), factor(&i.src[1])];
        let product = match (u0 && u1, s0 && s1) {
            (true, _) => VPMULUDQ,
            (_, true) => VPMULDQ,
            _ => VPMULLQ,
        };
        let plain = crate::affine_vectors::constant(self.p, &i.src[2]) == Some(0);
        for part in &parts {
            let (to, second) = (offset + 4 * part.lane, i.dst2 + 4 * part.lane);
            let w = part.width;
            let a = self.source(i, 0, part, 1)?;
            let b = self.source(i, 1, part, 2)?;
            let a = self.in_register(a, part, 1);
            self.a.v3(product, w, 0, a, b, Lanes::All);
            if !plain {
                let c = self.source(i, 2, part, 3)?;
                self.a.v3(VPADDQ, w, 0, 0, c, Lanes::All);
            }
            // Making the mask of lanes may take the other temporaries.
            let mask = self.lanes(pc, part, second)?;
            self.a.v2i(VPSRLQ, w, 3, Opd::Reg(0), 32, Lanes::All);
            self.a.store_to_reg(VPMOVQD, w, 3, 3);
            self.store_part(second, 3, 4, part, mask)?;
            let mask = self.lanes(pc, part, to)?;
            self.a.store_to_reg(VPMOVQD, w, 3, 0);
            self.store_part(to, 3, 4, part, mask)?;
        }
        Ok(())
    }

    /// Would the carries of one part overwrite what a later one reads, or the sums of another?
    fn carry_meets(&self, i: &Inst, sums: RegOffset) -> bool {
        let n = u32::from(i.channels);
        let second = i.dst2..i.dst2 + 4 * n;
        let meets = |from: RegOffset, bytes: u32| second.start < from + bytes && from < second.end;
        let read = |s: &Src| match *s {
            Src::Reg { offset, ty, strides, constant: false, .. } => {
                (0..n).any(|k| meets(offset + strides.element(k) * ty.size(), ty.size()))
            }
            _ => false,
        };
        (sums != i.dst2 && meets(sums, 4 * n)) || i.src.iter().any(read)
    }

    /// The same of one channel.
    pub(super) fn lone_carry(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        let Dst::Reg { offset, .. } = i.dst else { return Err("an unusual destination") };
        self.certain(pc)?;
        let code = match i.op {
            Op::Addc => [Code::Add_r32_rm32, Code::Add_r64_rm64],
            _ => [Code::Sub_r32_rm32, Code::Sub_r64_rm64],
        };
        self.load_int(&i.src[0], [Register::EAX, Register::RAX], false, 0)?;
        self.operate(code, &i.src[1], false, 0)?;
        self.a.r(Code::Setb_rm8, Register::CL);
        self.a.rr(Code::Movzx_r32_rm8, Register::ECX, Register::CL);
        let (sum, carry) = (self.reg(offset), self.reg(i.dst2));
        self.a.mr(Code::Mov_rm32_r32, sum, Register::EAX);
        self.a.mr(Code::Mov_rm32_r32, carry, Register::ECX);
        Ok(())
    }
}
