//! Sums and differences of dwords with their carries or borrows, which are results of their own.

use super::*;

impl Emit<'_> {
    pub(super) fn carries(&mut self, pc: Pc, i: &Inst) -> Result<(), Why> {
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
            if i.op == Op::Addc {
                self.a.v3(VPADDD, w, 0, a, b, Lanes::All);
                self.a.vcmp(VPCMPUD, w, 4, 0, Opd::Reg(a), 1, None);
            } else {
                self.a.vcmp(VPCMPUD, w, 4, a, b, 1, None);
                self.a.v3(VPSUBD, w, 0, a, b, Lanes::All);
            }
            self.store_part(to, 0, 4, part, mask)?;
            // In one place with the sum, the carry stays.
            let mask = self.lanes(pc, part, second)?;
            let one = self.literal(1);
            self.a.v2(VPBROADCASTD, w, 0, Opd::Mem(one), Lanes::Zero(4));
            self.store_part(second, 0, 4, part, mask)?;
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
    pub(super) fn lone_carry(&mut self, pc: Pc, i: &Inst) -> Result<(), Why> {
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
