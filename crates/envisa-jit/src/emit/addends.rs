//! Indices that are sums of two: native code goes by the sum in 32 bits, and leaves messages to the machine in which that is
//! not the sum in 64.

use super::*;
use envisa_lower::{Addend, Extend, Simt};

impl Emit<'_> {
    /// Goes to `entry` unless a message's indices are what their addends are in 64 bits, for all channels that run.
    pub(super) fn sums_fit(&mut self, pc: Pc, s: &Simt, parts: &[Part], entry: Label) -> Result<(), Why> {
        let Extend::Sum(of) = s.extend else { return Ok(()) };
        let mut looked = Vec::new();
        for part in parts {
            let at = |from: RegOffset| from + 4 * part.lane;
            let lines = of.map(|a| self.first(at(a.at)));
            if let ([Some(a), Some(b)], 16) = (lines, part.lanes) {
                self.lines_fit([(a, of[0]), (b, of[1])], entry);
                continue;
            }
            let [a, b] = [self.vector_at(at(of[0].at), part, 0)?, self.vector_at(at(of[1].at), part, 1)?];
            let w = part.width;
            // The sign is of none or of one of them where the sum is too large.
            self.a.v3(VPADDD, w, 2, a, Opd::Reg(b), Lanes::All);
            self.a.v3(VPXORD, w, 5, 2, Opd::Reg(a), Lanes::All);
            self.a.v3(VPXORD, w, 2, 2, Opd::Reg(b), Lanes::All);
            self.a.v3(VPANDD, w, 2, 2, Opd::Reg(5), Lanes::All);
            for (v, _) in [a, b].into_iter().zip(of).filter(|a| !a.1.signed) {
                self.a.v3(VPORD, w, 2, 2, Opd::Reg(v), Lanes::All);
            }
            let on = self.on(pc, part)?;
            let k = 5 + part.index as K;
            self.a.v3(VPXORD, w, 5, 5, Opd::Reg(5), Lanes::All);
            self.a.vcmp(VPCMPD, w, k, 2, Opd::Reg(5), 1, on);
            looked.push(k);
        }
        if let (Some(a), Some(b)) = (looked.first(), looked.last()) {
            self.a.rr(Code::VEX_Kortestw_kr_kr, kreg(*a), kreg(*b));
            self.a.jump(Code::Jne_rel32_64, entry);
        }
        Ok(())
    }

    /// The same of sixteen channels whose addends are known by the first ones: nothing wraps around from there to the last
    /// ones, and neither does their sum.
    fn lines_fit(&mut self, of: [(First, Addend); 2], entry: Label) {
        let [sum, other] = [Register::EAX, Register::EDX];
        let goes_on = |e: &mut Self, r: Register, step: i32, addend: Option<Addend>| {
            let negative = |e: &mut Self| {
                if addend.is_some_and(|a| !a.signed) {
                    e.a.rr(Code::Test_rm32_r32, r, r);
                    e.a.jump(Code::Js_rel32_64, entry);
                }
            };
            negative(e);
            if step != 0 {
                match step.checked_mul(15) {
                    Some(far) => e.a.ri(Code::Add_rm32_imm32, r, far),
                    None => return e.a.jmp(entry),
                }
                e.a.jump(Code::Jo_rel32_64, entry);
                negative(e);
            }
        };
        let load = |e: &mut Self, r: Register, first: First| {
            let m = e.reg(first.at);
            e.a.rm(Code::Mov_r32_rm32, r, m);
            if first.plus != 0 {
                e.a.ri(Code::Add_rm32_imm32, r, first.plus);
            }
        };
        for (first, addend) in of.into_iter().filter(|(f, a)| f.step != 0 || !a.signed) {
            load(self, sum, first);
            goes_on(self, sum, first.step, Some(addend));
        }
        load(self, sum, of[0].0);
        load(self, other, of[1].0);
        self.a.rr(Code::Add_r32_rm32, sum, other);
        self.a.jump(Code::Jo_rel32_64, entry);
        goes_on(self, sum, of[0].0.step.wrapping_add(of[1].0.step), None);
    }
}
