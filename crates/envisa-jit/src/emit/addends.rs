//! Indices that are sums, or halves of what has 64 bits: native code goes by 32 bits of them, and leaves messages to the
//! machine in which these are not all there is.

use super::*;
use envisa_lower::{Addend, Simt};

/// An addend of sixteen channels that is known by its first ones: the lower dword, and where the upper one is, which is the
/// same for all.
struct Line {
    first: First,
    upper: Option<RegOffset>,
    addend: Addend,
}

impl Emit<'_> {
    /// Goes to `entry` unless a message's indices are what their addends are in 64 bits, for all channels that run.
    pub(super) fn sums_fit(&mut self, pc: Pc, s: &Simt, parts: &[Part], entry: Label) -> Result<(), Why> {
        let of = s.extend.addends();
        let mut looked = Vec::new();
        for part in parts.iter().filter(|_| !of.is_empty()) {
            let lines: Option<Vec<Line>> = of.iter().map(|a| self.addend_line(*a, part)).collect();
            if let (Some(lines), 16) = (lines, part.lanes) {
                self.lines_fit(&lines, entry);
                continue;
            }
            let w = part.width;
            self.a.v3(VPXORD, w, 2, 2, Opd::Reg(2), Lanes::All);
            let mut lower = Vec::new();
            for (a, v) in of.iter().zip([0, 1]) {
                let low = self.addend(a.at, *a, part, v)?;
                lower.push(low);
                let Some(upper) = a.upper else { continue };
                // The upper dword is what a sign makes it.
                let upper = self.addend(upper, *a, part, 4)?;
                self.a.v2i(VPSRAD, w, 3, Opd::Reg(low), 31, Lanes::All);
                self.a.v3(VPXORD, w, 3, 3, Opd::Reg(upper), Lanes::All);
                self.a.v3(VPORD, w, 2, 2, Opd::Reg(3), Lanes::All);
            }
            if let [a, b] = lower[..] {
                // The sign is of none or of one of them where the sum is too large.
                self.a.v3(VPADDD, w, 3, a, Opd::Reg(b), Lanes::All);
                self.a.v3(VPXORD, w, 4, 3, Opd::Reg(a), Lanes::All);
                self.a.v3(VPXORD, w, 3, 3, Opd::Reg(b), Lanes::All);
                self.a.v3(VPANDD, w, 3, 3, Opd::Reg(4), Lanes::All);
                for (v, _) in lower.iter().zip(of).filter(|a| !a.1.signed && a.1.upper.is_none()) {
                    self.a.v3(VPORD, w, 3, 3, Opd::Reg(*v), Lanes::All);
                }
                self.a.v2i(VPSRAD, w, 3, Opd::Reg(3), 31, Lanes::All);
                self.a.v3(VPORD, w, 2, 2, Opd::Reg(3), Lanes::All);
            }
            let on = self.on(pc, part)?;
            let k = 5 + part.index as K;
            self.a.v3(VPXORD, w, 5, 5, Opd::Reg(5), Lanes::All);
            self.a.vcmp(VPCMPUD, w, k, 2, Opd::Reg(5), 4, on);
            looked.push(k);
        }
        if let (Some(a), Some(b)) = (looked.first(), looked.last()) {
            self.a.rr(Code::VEX_Kortestw_kr_kr, kreg(*a), kreg(*b));
            self.a.jump(Code::Jne_rel32_64, entry);
        }
        Ok(())
    }

    /// A part's dwords of an addend in a vector register.
    fn addend(&mut self, at: RegOffset, a: Addend, part: &Part, v: V) -> Result<V, Why> {
        if !a.scalar {
            return self.vector_at(at + 4 * part.lane, part, v);
        }
        self.in_memory(at, 4)?;
        self.a.v2(VPBROADCASTD, part.width, v, Opd::Mem(self.reg(at)), Lanes::All);
        Ok(v)
    }

    fn addend_line(&self, addend: Addend, part: &Part) -> Option<Line> {
        let same = |at: RegOffset| First { at, plus: 0, step: 0 };
        if addend.scalar {
            let known = addend.halves().all(|at| self.in_memory(at, 4).is_ok());
            return known.then_some(Line { first: same(addend.at), upper: addend.upper, addend });
        }
        let first = |at: RegOffset| self.first(at + 4 * part.lane);
        let upper = match addend.upper {
            None => None,
            Some(at) => Some(first(at).filter(|f| (f.step, f.plus) == (0, 0))?.at),
        };
        Some(Line { first: first(addend.at)?, upper, addend })
    }

    /// The same of sixteen channels whose addends are known by the first ones: nothing wraps around from there to the last
    /// ones, and neither does their sum.
    fn lines_fit(&mut self, of: &[Line], entry: Label) {
        let [sum, other] = [Register::EAX, Register::EDX];
        for line in of {
            let checked = line.upper.is_some() || !line.addend.signed;
            if checked || line.first.step != 0 {
                self.load_first(sum, &line.first);
                self.is_extended(sum, line, entry);
            }
            if line.first.step != 0 {
                self.goes_far(sum, line.first.step, entry);
                self.is_extended(sum, line, entry);
            }
        }
        let [a, b] = of else { return };
        self.load_first(sum, &a.first);
        self.load_first(other, &b.first);
        self.a.rr(Code::Add_r32_rm32, sum, other);
        self.a.jump(Code::Jo_rel32_64, entry);
        let step = a.first.step.wrapping_add(b.first.step);
        if step != 0 {
            self.goes_far(sum, step, entry);
        }
    }

    fn load_first(&mut self, r: Register, first: &First) {
        let m = self.reg(first.at);
        self.a.rm(Code::Mov_r32_rm32, r, m);
        if first.plus != 0 {
            self.a.ri(Code::Add_rm32_imm32, r, first.plus);
        }
    }

    /// From the first channel's to the last one's; goes to `entry` if that wraps around.
    fn goes_far(&mut self, r: Register, step: i32, entry: Label) {
        match step.checked_mul(15) {
            Some(far) => self.a.ri(Code::Add_rm32_imm32, r, far),
            None => return self.a.jmp(entry),
        }
        self.a.jump(Code::Jo_rel32_64, entry);
    }

    /// Goes to `entry` unless a dword's sign says all of its upper half; it is taken for one with a sign.
    fn is_extended(&mut self, r: Register, line: &Line, entry: Label) {
        if let Some(upper) = line.upper {
            let upper = self.reg(upper);
            self.a.rr(Code::Mov_r32_rm32, Register::ESI, r);
            self.a.ri(Code::Sar_rm32_imm8, Register::ESI, 31);
            self.a.rm(Code::Cmp_r32_rm32, Register::ESI, upper);
            self.a.jump(Code::Jne_rel32_64, entry);
        } else if !line.addend.signed {
            self.a.rr(Code::Test_rm32_r32, r, r);
            self.a.jump(Code::Js_rel32_64, entry);
        }
    }
}
