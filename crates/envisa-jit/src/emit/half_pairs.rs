//! Both halves of a message at once, where each is mostly a row, or a row whose ends are clamped.

use super::memory::{Form, PTR, RA, Way, address_form};
use super::*;
use crate::asm::SlowPath;
use crate::context_layout::site;
use envisa_lower::{Message, Simt};

/// Of a load from both halves' windows: the next instruction, which loads from the same places of another memory, finds in
/// registers 1 and 2 where in its windows they are, and in masks 5 and 6 which are not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Looked {
    pc: Pc,
    address: RegOffset,
    /// Bytes from index to index.
    scale: u32,
}

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
    ) -> Result<Option<SlowPath>, Unsupported> {
        let Some(step) = self.mostly_rows(pc, i, s, form, parts, align) else { return Ok(None) };
        let &[a, b] = parts else { return Ok(None) };
        let windows = self.bent(s);
        let on = [self.on(pc, &a)?, self.on(pc, &b)?];
        // Where the second half is as the first one, so far from it, that is known by looking at the first.
        let second = self.cells.at(s.address + 64);
        let jump = second.and_then(|c| self.shapes.alike(c)).filter(|_| windows && on == [None; 2]);
        let halves = if jump.is_some() { &parts[..1] } else { parts };
        let look = Looked { pc, address: s.address, scale: form.scale << form.before };
        let known = windows && on == [None; 2] && self.looked == Some(look);
        let mut indices = Vec::new();
        for part in halves {
            indices.push(self.indices(s, part)?);
        }
        let (weary, other) = (self.site(i, site::ASTRAY), self.a.label());
        if !windows {
            self.a.mi(Code::Test_rm32_imm32, weary, site::WEARY | site::HALVES);
            self.a.jump(Code::Jne_rel32_64, other);
        }
        for (k, (v, on)) in (0..).zip(indices.iter().zip(on)).filter(|_| !known) {
            if windows {
                self.places_in_window(look.scale, *v, 1 + k, 5 + k, on);
            } else {
                let ramp = self.literals(std::array::from_fn(|k| (step >> form.before) * k as u32));
                self.a.v2(VPBROADCASTD, Width::Z, 1 + k, Opd::Reg(*v), Lanes::All);
                self.a.v3(VPADDD, Width::Z, 1 + k, 1 + k, Opd::Mem(ramp), Lanes::All);
                self.a.vcmp(VPCMPUD, Width::Z, 5 + k, *v, Opd::Reg(1 + k), 4, None);
            }
        }
        self.a.kk(Code::VEX_Kortestw_kr_kr, 5, if jump.is_some() { 5 } else { 6 });
        self.a.jump(Code::Jne_rel32_64, other);
        let limit = self.site(i, site::LAST16);
        let places = [Register::EAX, Register::EDX];
        for (r, v) in places.into_iter().zip(&indices) {
            self.a.rr(Code::EVEX_Vmovd_rm32_xmm, r, vector_register(*v, Width::X));
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
        let next = self.next_of_block(pc).filter(|_| windows && on == [None; 2]);
        let next = next.map(|pc| Looked { pc, ..look });
        self.looked = next.filter(|look| self.next_looks_so(*look, data));
        let aside = self.a.begin_slow_path(pc);
        self.a.bind(other);
        Ok(Some(aside))
    }

    /// Does a later instruction find what it would look at, once this one has been done?
    pub(super) fn looks_on(&self, pc: Pc) -> bool {
        self.looked.is_some_and(|l| l.pc > pc)
    }

    /// The next instruction that is made where it stands.
    pub(super) fn next_of_block(&self, pc: Pc) -> Option<Pc> {
        let nothing = |pc: &Pc| self.deferred.skips(*pc) || self.inst(*pc).op == Op::Nop;
        (pc + 1..self.blocks[pc as usize]).find(|pc| !nothing(pc))
    }

    /// Looks at what the next message will not look at again: for code that was put aside, and may have done anything.
    pub(super) fn look_for_next(&mut self, s: &Simt, parts: &[Part]) -> Result<(), Unsupported> {
        let Some(look) = self.looked else { return Ok(()) };
        let jump = self.cells.at(s.address + 64).and_then(|c| self.shapes.alike(c));
        let halves = if jump.is_some() { &parts[..1] } else { parts };
        for (k, part) in (0..).zip(halves) {
            let v = self.indices(s, part)?;
            self.places_in_window(look.scale, v, 1 + k, 5 + k, None);
        }
        Ok(())
    }

    /// Does the next instruction load from the same places of another memory, as far as is known here?
    fn next_looks_so(&self, look: Looked, data: RegOffset) -> bool {
        let indices = look.address..look.address + 128;
        let stay = data + 128 <= indices.start || indices.end <= data;
        let next = self.inst(look.pc);
        let Some(Message::Simt(s)) = self.p.messages().get(next.aux as usize) else { return false };
        let whole = next.op == Op::Message && next.pred.offset == 0 && (next.channels, next.first) == (32, 0);
        stay && whole
            && (next.no_mask || self.all_active(look.pc))
            && (s.address, s.address_bytes, s.write) == (look.address, 4, false)
            && address_form(self.p, s).is_ok_and(|f| f.scale << f.before == look.scale)
    }

    /// How far apart the indices of consecutive elements would be, where both halves of dwords are looked at at once.
    fn mostly_rows(&self, pc: Pc, i: &Inst, s: &Simt, form: Form, parts: &[Part], align: u32) -> Option<u32> {
        let &[a, b] = parts else { return None };
        let dwords = (s.elements, s.element, s.slot) == (1, 4, 4) && (a.lanes, b.lanes) == (16, 16);
        let step = self.row_step(s, form, &a).filter(|_| dwords && !form.wide)?;
        let otherwise = |part: &Part| {
            let halves = self.halves(s.address + 4 * part.lane).map(|x| x.wrapping_shl(form.before));
            self.far_apart(s, form, part)
                || halves == Some(step as i32)
                || !self.goes_anywhere(i, s, form, part)
        };
        let far = form.before > 2 || !step.is_multiple_of(align.max(1) << form.before);
        (!far && self.line(pc).is_none() && !parts.iter().any(otherwise)).then_some(step)
    }

    /// Are both halves of a load's places made of what was clamped?
    fn bent(&self, s: &Simt) -> bool {
        let clamped = |at: RegOffset| {
            let c = self.cells.at(at).filter(|c| self.cells.get(*c).offset == at);
            c.is_some_and(|c| self.shapes.clamped(c))
        };
        !s.write && clamped(s.address) && clamped(s.address + 64)
    }
}
