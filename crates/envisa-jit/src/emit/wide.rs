//! Messages whose channels have addresses of 64 bits.

use super::memory::{PTR, RA, Way};
use super::*;
use crate::context_layout::site;
use crate::emit::memory::Form;
use envisa_lower::Simt;

impl Emit<'_> {
    /// As [`Emit::way`], of addresses of 64 bits: what passes is left as offsets of 32.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn way_of_quads(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        part: &Part,
        entry: Label,
        misses: &mut bool,
    ) -> Result<Way, Unsupported> {
        let (first, span) = (self.site(i, site::WIDE), self.site(i, site::SPAN));
        let on = self.on(pc, part)?;
        let at = s.address + 8 * part.lane;
        // If only the first channel may run, all go where that does.
        if part.lanes == 1 || (self.runs_alone(i, part) && self.first_at_hand(at, 8, part)) {
            let r = RA[part.index as usize];
            match self.home_alone(at, 64).filter(|_| part.lanes > 1) {
                Some(v) => self.a.rr(Code::EVEX_Vmovq_rm64_xmm, r, vector_register(v, Width::X)),
                None => {
                    self.in_memory(at, 8)?;
                    let m = self.reg(at);
                    self.a.rm(Code::Mov_r64_rm64, r, m);
                }
            }
            if form.before != 0 {
                self.a.ri(Code::Shl_rm64_imm8, r, form.before as i32);
            }
            self.a.rm(Code::Sub_r64_rm64, r, first);
            self.a.rm(Code::Cmp_r64_rm64, r, span);
            self.a.jump(Code::Jae_rel32_64, entry);
            return Ok(Way::Same(r));
        }
        let (v, miss) = (6 + part.index as u8, 5 + part.index as u8);
        for h in 0..part.lanes / 8 {
            let d = if h == 0 { v } else { 2 };
            let at = s.address + 8 * part.lane + 64 * h;
            let mut from = match self.home(at, 64) {
                Some(r) => r,
                None => {
                    self.in_memory(at, 64)?;
                    self.a.v2(VMOVDQU32, Width::Z, d, Opd::Mem(self.reg(at)), Lanes::All);
                    d
                }
            };
            if form.before != 0 {
                self.a.v2i(VPSLLQ, Width::Z, d, Opd::Reg(from), form.before, Lanes::All);
                from = d;
            }
            self.a.v3(VPSUBQ, Width::Z, d, from, Opd::Bcast(first), Lanes::All);
            let of = self.mask_of_eight(on, h);
            let k = if h == 0 { miss } else { 7 };
            self.a.vcmp(VPCMPUQ, Width::Z, k, d, Opd::Bcast(span), 5, of);
            self.a.store_to_reg(VPMOVQD, Width::Z, d, d);
        }
        if part.lanes == 16 {
            self.a.rri(Code::VEX_Kshiftlw_kr_kr_imm8, mask_register(7), mask_register(7), 8);
            self.a.kkk(Code::VEX_Korw_kr_kr_kr, miss, miss, 7);
            let insert = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
            let [low, high] = [vector_register(v, Width::Z), vector_register(2, Width::Y)];
            self.a.push(iced_x86::Instruction::with4(insert, low, low, high, 1));
        }
        *misses = true;
        Ok(Way::Any(v))
    }
}

/// What sixteen channels' addresses turn out to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// All the same.
    Same,
    /// One element behind another.
    Row,
}

impl Emit<'_> {
    /// Single elements whose places are known when running only, as sums of 64 bits are: where all channels of each half turn
    /// out to have one place, or places side by side, and all of these are inside, they are moved as such, and it goes to `done`.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn quads_at_sight(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        (parts, align): (&[Part], u32),
        data: RegOffset,
        done: Label,
    ) -> Result<(), Unsupported> {
        let whole = u32::from(s.element).is_multiple_of(1 << form.before);
        let single = s.elements == 1 && form.wide && form.scale == 1 && whole;
        if !single || parts.iter().any(|p| p.lanes != 16 || self.runs_alone(i, p)) {
            return Ok(());
        }
        let mut on = Vec::new();
        for part in parts {
            on.push(self.on(pc, part)?);
        }
        if let Some(other) = self.unless_rows(pc) {
            self.move_seen(pc, (i, s), form, (parts, align), (data, &on), (Sight::Row, other))?;
            self.a.jmp(done);
            self.a.bind(other);
        }
        let (weary, other) = (self.site(i, site::ASTRAY), self.a.label());
        self.a.mi(Code::Test_rm32_imm32, weary, site::WEARY);
        self.a.jump(Code::Jne_rel32_64, other);
        // All stores to one place are a matter of order.
        let all: &[Sight] = if s.write { &[Sight::Row] } else { &[Sight::Same, Sight::Row] };
        for (k, sight) in all.iter().enumerate() {
            let next = if k + 1 == all.len() { other } else { self.a.label() };
            for part in parts {
                self.are_seen(s, form, part, *sight, next)?;
            }
            self.move_seen(pc, (i, s), form, (parts, align), (data, &on), (*sight, other))?;
            if *sight == Sight::Row {
                self.note_rows(pc);
            }
            self.a.mi(Code::Mov_rm32_imm32, weary, 0);
            self.a.jmp(done);
            self.a.bind(next);
        }
        Ok(())
    }

    /// Moves what is in places of which it was seen what they are; goes to `other` unless all of them are inside.
    fn move_seen(
        &mut self,
        pc: Pc,
        (i, s): (&Inst, &Simt),
        form: Form,
        (parts, align): (&[Part], u32),
        (data, on): (RegOffset, &[Option<K>]),
        (sight, other): (Sight, Label),
    ) -> Result<(), Unsupported> {
        let reach = if sight == Sight::Row { 15 * u32::from(s.element) } else { 0 };
        for part in parts {
            self.first_inside(i, s, form, part, (reach, align), other)?;
        }
        let pointer = self.site(i, site::POINTER);
        self.a.rm(Code::Mov_r64_rm64, PTR, pointer);
        for (part, on) in parts.iter().zip(on) {
            let r = RA[part.index as usize];
            let way = if sight == Sight::Row { Way::Row(r, 0) } else { Way::Same(r) };
            self.move_row(pc, i, s, form, part, way, data, 0, *on)?;
        }
        Ok(())
    }

    /// Goes to `other` unless the addresses of a half, or what is shifted to be these, are what they are taken for, those of channels that are off included.
    fn are_seen(
        &mut self,
        s: &Simt,
        form: Form,
        part: &Part,
        sight: Sight,
        other: Label,
    ) -> Result<(), Unsupported> {
        let w = Width::Z;
        for h in 0..2 {
            let at = s.address + 8 * part.lane + 64 * h;
            let quads = match self.home(at, 64) {
                Some(v) => Opd::Reg(v),
                None => {
                    self.in_memory(at, 64)?;
                    Opd::Mem(self.reg(at))
                }
            };
            if h == 0 {
                match quads {
                    Opd::Reg(v) => self.a.v2(VPBROADCASTQ, w, 0, Opd::Reg(v), Lanes::All),
                    _ => self.a.v2(VPBROADCASTQ, w, 0, Opd::Mem(self.reg(at)), Lanes::All),
                }
            }
            let mut expected = 0;
            if sight == Sight::Row {
                let step = u32::from(s.element) >> form.before;
                let quad = |k: usize| if k.is_multiple_of(2) { step * (k as u32 / 2 + 8 * h) } else { 0 };
                let ramp = self.literals(std::array::from_fn(quad));
                self.a.v3(VPADDQ, w, 1, 0, Opd::Mem(ramp), Lanes::All);
                expected = 1;
            }
            self.a.vcmp(VPCMPUQ, w, 5 + h as K, expected, quads, 4, None);
        }
        self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 6);
        self.a.jump(Code::Jne_rel32_64, other);
        Ok(())
    }

    /// The first channel's offset in a half's own register; goes to `other` unless that place and the one so many bytes behind
    /// it are inside, and it is aligned.
    fn first_inside(
        &mut self,
        i: &Inst,
        s: &Simt,
        form: Form,
        part: &Part,
        (reach, align): (u32, u32),
        other: Label,
    ) -> Result<(), Unsupported> {
        let (r, at) = (RA[part.index as usize], s.address + 8 * part.lane);
        match self.home(at, 64) {
            Some(v) => self.a.rr(Code::EVEX_Vmovq_rm64_xmm, r, vector_register(v, Width::X)),
            None => {
                self.in_memory(at, 8)?;
                let m = self.reg(at);
                self.a.rm(Code::Mov_r64_rm64, r, m);
            }
        }
        if form.before != 0 {
            self.a.ri(Code::Shl_rm64_imm8, r, form.before as i32);
        }
        let (first, span) = (self.site(i, site::WIDE), self.site(i, site::SPAN));
        self.a.rm(Code::Sub_r64_rm64, r, first);
        self.a.rm(Code::Cmp_r64_rm64, r, span);
        self.a.jump(Code::Jae_rel32_64, other);
        if reach != 0 {
            self.a.rr(Code::Mov_r64_rm64, Register::RSI, r);
            self.a.ri(Code::Add_rm64_imm32, Register::RSI, reach as i32);
            self.a.rm(Code::Cmp_r64_rm64, Register::RSI, span);
            self.a.jump(Code::Jae_rel32_64, other);
        }
        if align > 1 {
            self.a.ri(Code::Test_rm64_imm32, r, align as i32 - 1);
            self.a.jump(Code::Jne_rel32_64, other);
        }
        Ok(())
    }
}
