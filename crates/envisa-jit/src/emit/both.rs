//! Both halves of a message at once, where each is mostly a row, or a row whose ends are clamped.

use super::memory::{Form, PTR, RA, Way};
use super::*;
use crate::asm::Aside;
use crate::layout::site;
use envisa_lower::Simt;

impl Emit<'_> {
    /// Two halves of dwords that may go anywhere, but mostly are a row each: both are looked at at once, as indices that
    /// nothing has been done to yet: those of a row, or of a window, differ by as little as their places do. That the
    /// first place is far enough from the end tells that all of it is inside, and that it is aligned that all are. All
    /// other places are put aside.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn both_rows(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        parts: &[Part],
        align: u32,
        data: RegOffset,
    ) -> Result<Option<Aside>, Why> {
        let &[a, b] = parts else { return Ok(None) };
        let dwords = (s.elements, s.element, s.slot) == (1, 4, 4) && (a.lanes, b.lanes) == (16, 16);
        let Some(step) = self.row_step(s, form, &a).filter(|_| dwords && !form.wide) else {
            return Ok(None);
        };
        let cell = |part: &Part| self.cells.at(s.address + 4 * part.lane);
        let otherwise = |part: &Part| {
            let halves = self.halves(s.address + 4 * part.lane).map(|x| x.wrapping_shl(form.before));
            self.far_apart(s, form, part)
                || halves == Some(step as i32)
                || !self.goes_anywhere(i, s, form, part)
        };
        let far = form.before > 2 || !step.is_multiple_of(align.max(1) << form.before);
        if far || self.line(pc).is_some() || parts.iter().any(otherwise) {
            return Ok(None);
        }
        let bent = parts.iter().all(|part| cell(part).is_some_and(|c| self.shapes.clamped(c)));
        let windows = bent && !s.write;
        let on = [self.on(pc, &a)?, self.on(pc, &b)?];
        // Where the second half is as the first one, so far from it, that is known by looking at the first.
        let second = cell(&b).filter(|c| self.cells.get(*c).offset == s.address + 4 * b.lane);
        let jump = second.and_then(|c| self.shapes.alike(c)).filter(|_| windows && on == [None; 2]);
        let halves = if jump.is_some() { &parts[..1] } else { parts };
        let mut indices = Vec::new();
        for part in halves {
            indices.push(self.indices(s, part)?);
        }
        let (weary, other) = (self.site(i, site::ASTRAY), self.a.label());
        if !windows {
            self.a.mi(Code::Test_rm32_imm32, weary, site::WEARY | site::HALVES);
            self.a.jump(Code::Jne_rel32_64, other);
        }
        for (k, (v, on)) in (0..).zip(indices.iter().zip(on)) {
            if windows {
                self.places_in_window(form.scale << form.before, *v, 1 + k, 5 + k, on);
            } else {
                let ramp = self.literals(std::array::from_fn(|k| (step >> form.before) * k as u32));
                self.a.v2(VPBROADCASTD, Width::Z, 1 + k, Opd::Reg(*v), Lanes::All);
                self.a.v3(VPADDD, Width::Z, 1 + k, 1 + k, Opd::Mem(ramp), Lanes::All);
                self.a.vcmp(VPCMPUD, Width::Z, 5 + k, *v, Opd::Reg(1 + k), 4, None);
            }
        }
        self.a.rr(Code::VEX_Kortestw_kr_kr, kreg(5), kreg(if jump.is_some() { 5 } else { 6 }));
        self.a.jump(Code::Jne_rel32_64, other);
        let limit = self.site(i, site::LAST16);
        let places = [Register::EAX, Register::EDX];
        for (r, v) in places.into_iter().zip(&indices) {
            self.a.rr(Code::EVEX_Vmovd_rm32_xmm, r, vreg(*v, Width::X));
        }
        if let Some(jump) = jump {
            let second = Mem::indexed(Register::RAX, Register::None, 1, jump.into());
            self.a.rm(Code::Lea_r32_m, Register::EDX, second);
        }
        for r in places {
            self.offset(i, form, r)?;
            self.a.rm(Code::Cmp_r32_rm32, r, limit);
            self.a.jump(Code::Jae_rel32_64, other);
            if align > 1 {
                self.a.ri(Code::Test_rm32_imm32, r, align as i32 - 1);
                self.a.jump(Code::Jne_rel32_64, other);
            }
        }
        let pointer = self.site(i, site::POINTER);
        self.a.rm(Code::Mov_r64_rm64, PTR, pointer);
        for (k, (part, on)) in (0..).zip(parts.iter().zip(on)) {
            let r = RA[k as usize];
            let m = Mem::indexed(PTR, r, form.scale, 0);
            if windows {
                let which = if jump.is_some() { 1 } else { 1 + k };
                self.take_from_window(pc, s, part, m, which, data, on)?;
            } else {
                self.fetch_beside(s, m);
                self.move_row(pc, i, s, form, part, Way::Row(r, 0), data, 0, on)?;
            }
        }
        if !windows {
            self.a.mi(Code::Mov_rm32_imm32, weary, 0);
        }
        let aside = self.a.step_aside(pc);
        self.a.bind(other);
        Ok(Some(aside))
    }
}
