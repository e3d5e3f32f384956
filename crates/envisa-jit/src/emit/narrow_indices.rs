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

/// An addend of channels that is known by one register: what is in there, and from so much to so much more.
#[derive(Clone, Copy, PartialEq)]
struct Span {
    at: RegOffset,
    upper: Option<RegOffset>,
    signed: bool,
    far: [i64; 2],
}

impl Span {
    fn new(line: &Line) -> Span {
        let First { at, plus, step } = line.first;
        let ends = [0, 15].map(|lane| i64::from(plus) + lane * i64::from(step));
        let far = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        Span { at, upper: line.upper, signed: line.addend.signed, far }
    }

    /// Adds the addends of one more part: to those before it where they are known by the same registers.
    fn add(all: &mut Vec<Vec<Span>>, lines: &[Line]) {
        let new: Vec<Span> = lines.iter().map(Span::new).collect();
        let key = |s: &Span| (s.at, s.upper, s.signed);
        let same = |old: &&mut Vec<Span>| old.iter().map(key).eq(new.iter().map(key));
        match all.iter_mut().find(same) {
            Some(old) => old.iter_mut().zip(&new).for_each(|(old, new)| {
                old.far = [old.far[0].min(new.far[0]), old.far[1].max(new.far[1])];
            }),
            None => all.push(new),
        }
    }
}

impl Emit<'_> {
    /// Goes to `entry` unless a message's indices are what their addends are in 64 bits, for all channels that run.
    pub(super) fn sums_fit(
        &mut self,
        pc: Pc,
        s: &Simt,
        parts: &[Part],
        entry: Label,
    ) -> Result<(), Unsupported> {
        if self.fitting.contains(&self.inst(pc).aux) {
            return Ok(());
        }
        let of = s.extend.addends();
        let mut looked = Vec::new();
        let mut spans: Vec<Vec<Span>> = Vec::new();
        for part in parts.iter().filter(|_| !of.is_empty()) {
            let lines: Option<Vec<Line>> = of.iter().map(|a| self.addend_line(*a, part)).collect();
            if let (Some(lines), 16) = (lines, part.lanes) {
                Span::add(&mut spans, &lines);
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
        let mut fit = Vec::new();
        for of in spans {
            self.spans_fit(&of, &mut fit, entry);
        }
        if let (Some(a), Some(b)) = (looked.first(), looked.last()) {
            self.a.kk(Code::VEX_Kortestw_kr_kr, *a, *b);
            self.a.jump(Code::Jne_rel32_64, entry);
        }
        Ok(())
    }

    /// A part's dwords of an addend in a vector register.
    fn addend(&mut self, at: RegOffset, a: Addend, part: &Part, v: V) -> Result<V, Unsupported> {
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

    /// The same of channels whose addends are known by their first ones: nothing wraps around from the least to the largest ones,
    /// and neither do their sums. Of those in `fit` that is known.
    fn spans_fit(&mut self, of: &[Span], fit: &mut Vec<Span>, entry: Label) {
        let [sum, other] = [Register::EAX, Register::EDX];
        for s in of {
            if fit.contains(s) {
                continue;
            }
            fit.push(*s);
            let (checked, far) = (s.upper.is_some() || !s.signed, s.far[1] != s.far[0]);
            if checked || far {
                self.load_addend(sum, s, s.far[0], entry);
                self.is_extended(sum, s, entry);
            }
            if far {
                self.goes_far(sum, s.far[1] - s.far[0], entry);
                // What is not negative does not become so.
                if s.upper.is_some() {
                    self.is_extended(sum, s, entry);
                }
            }
        }
        let [a, b] = of else { return };
        self.load_addend(sum, a, a.far[0], entry);
        self.load_addend(other, b, b.far[0], entry);
        self.a.rr(Code::Add_r32_rm32, sum, other);
        self.a.jump(Code::Jo_rel32_64, entry);
        let far = a.far[1] - a.far[0] + b.far[1] - b.far[0];
        if far != 0 {
            self.goes_far(sum, far, entry);
        }
    }

    /// An addend so far from where it is known.
    fn load_addend(&mut self, r: Register, span: &Span, far: i64, entry: Label) {
        let m = self.reg(span.at);
        self.a.rm(Code::Mov_r32_rm32, r, m);
        if far != 0 {
            self.goes_far(r, far, entry);
        }
    }

    /// Adds so much; goes to `entry` if that wraps around.
    fn goes_far(&mut self, r: Register, far: i64, entry: Label) {
        match i32::try_from(far) {
            Ok(far) => self.a.ri(Code::Add_rm32_imm32, r, far),
            Err(_) => return self.a.jmp(entry),
        }
        self.a.jump(Code::Jo_rel32_64, entry);
    }

    /// Goes to `entry` unless a dword's sign says all of its upper half; it is taken for one with a sign.
    fn is_extended(&mut self, r: Register, span: &Span, entry: Label) {
        if let Some(upper) = span.upper {
            let upper = self.reg(upper);
            self.a.rr(Code::Mov_r32_rm32, Register::ESI, r);
            self.a.ri(Code::Sar_rm32_imm8, Register::ESI, 31);
            self.a.rm(Code::Cmp_r32_rm32, Register::ESI, upper);
            self.a.jump(Code::Jne_rel32_64, entry);
        } else if !span.signed {
            self.a.rr(Code::Test_rm32_r32, r, r);
            self.a.jump(Code::Js_rel32_64, entry);
        }
    }
}
