//! What a message moves, once it is known where to.

use super::address_patterns::First;
use super::gather::Places;
use super::memory::{Form, ON, PTR, Way};
use super::*;
use crate::asm::SlowPath;
use crate::context_layout::site;
use envisa_lower::Simt;

/// How far ahead rows are fetched that threads load once, and then do more, in bytes: what one of the next threads loads.
const NEXT_THREADS: u32 = 384;
/// The same of threads that have many rows.
const LATER_THREADS: u32 = 512;

impl Emit<'_> {
    /// Moves what is of a part. `missed`: it was seen that both halves are no rows, or not in line.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn transfer(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        part: &Part,
        (way, missed): (Way, bool),
        data: RegOffset,
    ) -> Result<(), Unsupported> {
        let on = self.transfer_mask(pc, part);
        // Gathers take their time even for no channels.
        let none = self.a.label();
        if let (Way::Any(_), Some(on)) = (way, on) {
            self.a.kk(Code::VEX_Kortestw_kr_kr, on, on);
            self.a.jump(Code::Je_rel32_64, none);
        }
        self.transfer_some(pc, i, s, form, part, (way, on, missed), data)?;
        self.a.bind(none);
        Ok(())
    }

    /// Both halves of a message at once, where that has to be done lane by lane: what lines are fetched for, and what it was
    /// seen of that places are no rows. Goes to `done` then; `true` if always.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn transfer_both(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        parts: &[Part],
        ways: &[Way],
        data: RegOffset,
        done: Label,
    ) -> Result<bool, Unsupported> {
        let (&[a, b], &[Way::Any(v), Way::Any(w)]) = (parts, ways) else { return Ok(false) };
        let line = self.line(pc);
        let narrow = s.write && s.element < 4;
        if (s.elements, s.slot, a.lanes) != (1, 4, 16)
            || form.scale > 8
            || !(narrow || line.is_some())
            || self.row_step(s, form, &a).is_none()
        {
            return Ok(false);
        }
        let on = [a, b].map(|part| self.transfer_mask(pc, &part));
        if let Some(line) = line {
            self.gather_lines(pc, &line, parts, (&[v, w], form.scale), &on)?;
            for (part, on) in parts.iter().zip(on) {
                let to = data + 4 * part.lane;
                let k = self.load_lanes(pc, to, on);
                self.store_part(to, Self::collected_in(parts, part), 4, part, k)?;
            }
            return Ok(true);
        }
        let (weary, other) = (self.site(i, site::ASTRAY), self.a.label());
        self.a.mi(Code::Test_rm32_imm32, weary, site::WEARY);
        self.a.jump(Code::Je_rel32_64, other);
        self.a.m(Code::Inc_rm32, weary);
        self.scatter_narrow_both(&[a, b], ([v, w], form.scale), (data, s.element.into()), on)?;
        self.a.jmp(done);
        self.a.bind(other);
        Ok(false)
    }

    #[allow(clippy::too_many_arguments)]
    fn transfer_some(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        part: &Part,
        (way, on, missed): (Way, Option<K>, bool),
        data: RegOffset,
    ) -> Result<(), Unsupported> {
        let element = u32::from(s.element);
        let mut positions = s.elements;
        let mut c = 0;
        if let Way::Row(r, plus) = way {
            self.fetch_next(i, s, form, part, (r, plus));
        }
        // Where the places turn out to be rows, they are moved as such.
        let mut done = None;
        if let Way::Any(v) = way
            && let Some(step) = self.row_step(s, form, part)
            && (s.elements, s.element, part.lanes, form.wide) == (1, 4, 16, false)
            && self.halves(s.address + 4 * part.lane).map(|x| x.wrapping_shl(form.before))
                == Some(step as i32)
        {
            return self.move_halves(pc, s, form, part, (v, step), data, on, None);
        }
        if let Way::Any(v) = way
            && let Some(step) = self.row_step(s, form, part)
            && !self.far_apart(s, form, part)
            && !self.never_a_row(s, form, part)
        {
            if self.looks_again() && (s.elements, s.element, part.lanes) == (1, 4, 16) {
                done = Some(self.look(pc, (i, s), form, part, (v, step), data, (on, missed))?);
            } else {
                done = Some(self.look_here(pc, (i, s), form, part, (v, step), data, on)?);
            }
        }
        if let (Way::Any(v), None, false) = (way, &done, missed) {
            done = self.look_for_steps(pc, (i, s), form, part, v, data, on)?;
        }
        if let Way::Any(v) = way {
            self.expect_next(pc, part, v);
        }
        if let Way::Any(v) = way
            && (s.elements, s.element, s.slot, s.write) == (0b11, 4, 4, false)
            && part.lanes == 16
            && form.scale <= 8
        {
            self.gather_pairs(pc, s, form, part, v, data, on)?;
            positions = 0;
        }
        if let Way::Any(v) = way
            && self.side_by_side(s, part.lanes)
            && form.scale <= 8
        {
            if s.write {
                self.store_anywhere(s, part, (v, form.scale), data, on)?;
            } else {
                let of = self.readable(Places { base: PTR, index: v, scale: form.scale, plus: 0 }, on);
                let of = self.lay_places(part, of.index, of.scale);
                self.load_channels(pc, s, part, of, data, on)?;
            }
            positions = 0;
        }
        if let (Way::Any(v), Some(on)) = (way, on)
            && positions != 0
            && (s.element, s.slot, s.write) == (4, 4, true)
            && self.level == Level::Avx512
            && form.scale <= 8
            && part.lanes > 1
        {
            let (d, aside) = done.unwrap_or_else(|| (self.a.label(), None));
            self.store_lone(s, form, part, v, data, on, d)?;
            done = Some((d, aside));
        }
        while positions != 0 {
            let place = positions.trailing_zeros();
            positions &= positions - 1;
            let to = data + c * s.component_stride;
            match way {
                Way::Any(v) => self.move_any(pc, s, form, part, v, to, place * element, on)?,
                way => self.move_row(pc, i, s, form, part, way, to, place * element, on)?,
            }
            c += 1;
        }
        if let Some((d, aside)) = done {
            if let Some(at) = aside {
                self.a.jmp(d);
                self.a.in_line(at);
            }
            self.a.bind(d);
        }
        Ok(())
    }

    /// Moves what is of a part whose places are looked at when running, unless that says that they are to be gathered;
    /// gives where it is done, and what was put aside.
    #[allow(clippy::too_many_arguments)]
    fn look_here(
        &mut self,
        pc: Pc,
        (i, s): (&Inst, &Simt),
        form: Form,
        part: &Part,
        (v, step): (V, u32),
        data: RegOffset,
        on: Option<K>,
    ) -> Result<(Label, Option<SlowPath>), Unsupported> {
        let (d, o) = (self.a.label(), self.a.label());
        let pairs = s.elements == 0b11;
        let windows = !pairs && !s.write && s.element == 4 && part.lanes == 16;
        let bent =
            windows && self.cells.at(s.address + 4 * part.lane).is_some_and(|c| self.shapes.clamped(c));
        // What comes first is taken to be the usual way.
        let mut aside = None;
        if bent {
            let other = self.a.label();
            self.move_from_window(pc, (i, s), form, part, v, data, on, other)?;
            aside = Some(self.a.begin_slow_path(pc));
            self.a.bind(other);
        }
        let (weary, gather) = (self.site(i, site::ASTRAY), self.a.label());
        let by_halves = s.elements == 1 && s.element == 4 && part.lanes == 16;
        let [look, halves] = std::array::from_fn(|_| self.a.label());
        if by_halves {
            self.a.mi(Code::Test_rm32_imm32, weary, site::WEARY | site::HALVES);
            self.a.jump(Code::Js_rel32_64, halves);
        } else {
            self.a.mi(Code::Test_rm32_imm32, weary, site::WEARY);
        }
        self.a.jump(Code::Jne_rel32_64, gather);
        self.a.bind(look);
        self.row_at_sight(pc, (i, s), form, part, (v, step), data, on, o)?;
        self.a.mi(Code::Mov_rm32_imm32, weary, 0);
        match aside {
            Some(_) => self.a.jmp(d),
            None => aside = Some(self.a.begin_slow_path(pc)),
        }
        self.a.bind(o);
        self.sparse_at_sight(pc, (i, s), form, part, v, data, on, d);
        if windows && !bent {
            let other = self.a.label();
            self.move_from_window(pc, (i, s), form, part, v, data, on, other)?;
            self.a.mi(Code::Mov_rm32_imm32, weary, 0);
            self.a.jmp(d);
            self.a.bind(other);
        }
        if by_halves {
            let other = self.a.label();
            self.a.bind(halves);
            self.move_halves(pc, s, form, part, (v, step), data, on, Some((weary, other)))?;
            self.a.jmp(d);
            self.a.bind(other);
            self.a.mi(Code::Test_rm32_imm32, weary, site::HALVES);
            self.a.jump(Code::Je_rel32_64, gather);
            self.a.mi(Code::Mov_rm32_imm32, weary, 0);
            self.a.jmp(look);
        } else if pairs && !s.write {
            if 4 % form.scale == 0 {
                let window = self.a.label();
                self.pairs_of_elements(pc, (i, s), form, part, v, data, on, window)?;
                self.a.mi(Code::Mov_rm32_imm32, weary, 0);
                self.a.jmp(d);
                self.a.bind(window);
            }
            let other = self.a.label();
            self.move_from_table(pc, i, s, form, part, v, data, on, other)?;
            self.a.jmp(d);
            self.a.bind(other);
        }
        self.a.bind(gather);
        self.a.m(Code::Inc_rm32, weary);
        Ok((d, aside))
    }

    /// The same by routines, of dwords that sixteen channels move.
    #[allow(clippy::too_many_arguments)]
    fn look(
        &mut self,
        pc: Pc,
        (i, s): (&Inst, &Simt),
        form: Form,
        part: &Part,
        (v, step): (V, u32),
        data: RegOffset,
        (on, missed): (Option<K>, bool),
    ) -> Result<(Label, Option<SlowPath>), Unsupported> {
        let [done, look, halves, gather, other] = std::array::from_fn(|_| self.a.label());
        let at = s.address + 4 * part.lane;
        let bent = !s.write && self.cells.at(at).is_some_and(|c| self.shapes.clamped(c));
        let mut aside = None;
        if bent && !missed {
            let other = self.a.label();
            self.move_from_window(pc, (i, s), form, part, v, data, on, other)?;
            aside = Some(self.a.begin_slow_path(pc));
            self.a.bind(other);
        }
        let weary = self.site(i, site::ASTRAY);
        self.a.mi(Code::Test_rm32_imm32, weary, site::WEARY | site::HALVES);
        self.a.jump(Code::Js_rel32_64, halves);
        self.a.jump(Code::Jne_rel32_64, gather);
        self.a.bind(look);
        if !missed {
            self.row_at_sight(pc, (i, s), form, part, (v, step), data, on, other)?;
            self.a.mi(Code::Mov_rm32_imm32, weary, 0);
            match aside {
                Some(_) => self.a.jmp(done),
                None => aside = Some(self.a.begin_slow_path(pc)),
            }
            self.a.bind(other);
        }
        let first = match (missed, s.write) {
            (true, _) => First::Row,
            (false, false) => First::Window,
            (false, true) => First::Halves,
        };
        self.look_again((i, s), form, part, v, data, on, first)?;
        self.a.jump(Code::Jne_rel32_64, gather);
        self.looked(pc, s, part, data, on, weary)?;
        self.a.jmp(done);
        // Where two rows are the rule, a call for each would take a third of the time.
        let neither = self.a.label();
        self.a.bind(halves);
        self.move_halves(pc, s, form, part, (v, step), data, on, Some((weary, neither)))?;
        self.a.jmp(done);
        self.a.bind(neither);
        self.a.mi(Code::Mov_rm32_imm32, weary, 0);
        self.a.jmp(look);
        self.a.bind(gather);
        self.a.m(Code::Inc_rm32, weary);
        Ok((done, aside))
    }

    /// Moves a row; goes to `other` where places are none.
    #[allow(clippy::too_many_arguments)]
    fn row_at_sight(
        &mut self,
        pc: Pc,
        (i, s): (&Inst, &Simt),
        form: Form,
        part: &Part,
        (v, step): (V, u32),
        data: RegOffset,
        on: Option<K>,
        other: Label,
    ) -> Result<(), Unsupported> {
        let ramp = std::array::from_fn(|k| step * k as u32);
        let ramp = self.literals(ramp);
        self.a.v2(VPBROADCASTD, part.width, 0, Opd::Reg(v), Lanes::All);
        self.a.v3(VPADDD, part.width, 0, 0, Opd::Mem(ramp), Lanes::All);
        self.a.vcmp(VPCMPUD, part.width, 5, v, Opd::Reg(0), 4, None);
        self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 5);
        self.a.jump(Code::Jne_rel32_64, other);
        if let (0b11, Some(on)) = (s.elements, on) {
            self.row_may_be_moved(i, s, part, (v, step as i32), on, other);
        }
        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vector_register(v, Width::X));
        // Channels that are off were not held against the site: the first one's place may be below it.
        self.a.rr(Code::Movsxd_r64_rm32, Register::RAX, Register::EAX);
        self.fetch_beside(s, Mem::indexed(PTR, Register::RAX, form.scale, 0));
        if s.elements == 0b11 {
            return self.move_pairs(pc, s, form, part, data, on);
        }
        self.move_row(pc, i, s, form, part, Way::Row(Register::RAX, 0), data, 0, on)
    }

    /// Are a part's places known to be farther apart than what is ever moved at once?
    pub(super) fn far_apart(&self, s: &Simt, form: Form, part: &Part) -> bool {
        let at = s.address + 4 * part.lane;
        let whole = |c: &CellId| self.cells.get(*c).offset == at && !form.wide;
        let stride = self.cells.at(at).filter(whole).and_then(|c| self.shapes.stride(c));
        stride.is_some_and(|x| (form.bytes(x) as u32 as i32).unsigned_abs() > 8)
    }

    /// Are dwords of a part, or pairs of them, so far apart that they are no row, as all distances are multiples of more bytes
    /// than each has?
    fn never_a_row(&self, s: &Simt, form: Form, part: &Part) -> bool {
        let bytes = 4 * s.elements.count_ones();
        s.element == 4 && self.common_factor(s, form, part) > bytes
    }

    /// How far apart the indices of consecutive elements are, or of consecutive pairs, where it is worth while to look
    /// whether they are that.
    pub(super) fn row_step(&self, s: &Simt, form: Form, part: &Part) -> Option<u32> {
        let bytes = match s.elements {
            1 => u32::from(s.element),
            0b11 if (s.element, s.slot) == (4, 4) && part.lanes == 16 => 8,
            _ => return None,
        };
        (form.scale <= 8 && bytes.is_multiple_of(form.scale)).then(|| bytes / form.scale)
    }

    /// Two rows of eight dwords. Where it is not certain that the places are those, goes to `other` if they are not, and
    /// if they are, has the site remember it, unless they are one row.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn move_halves(
        &mut self,
        pc: Pc,
        s: &Simt,
        form: Form,
        part: &Part,
        (v, step): (V, u32),
        data: RegOffset,
        on: Option<K>,
        unsure: Option<(Mem, Label)>,
    ) -> Result<(), Unsupported> {
        let to = data + 4 * part.lane;
        if let Some((_, other)) = unsure {
            self.two_rows(v, step, other);
        }
        let extract = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
        self.a.rri(extract, vector_register(0, Width::Y), vector_register(v, Width::Z), 1);
        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vector_register(v, Width::X));
        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::ESI, vector_register(0, Width::X));
        if let Some((weary, _)) = unsure {
            // `edx` may have the other half's place.
            let [one, told] = std::array::from_fn(|_| self.a.label());
            self.a.rr(Code::Sub_r32_rm32, Register::ESI, Register::EAX);
            self.a.ri(Code::Cmp_rm32_imm32, Register::ESI, 8 * step as i32);
            self.a.jump(Code::Je_rel32_64, one);
            self.a.mi(Code::Mov_rm32_imm32, weary, site::HALVES);
            self.a.jmp(told);
            self.a.bind(one);
            self.a.mi(Code::Mov_rm32_imm32, weary, 0);
            self.a.bind(told);
            self.a.rr(Code::Add_r32_rm32, Register::ESI, Register::EAX);
        }
        // As of a whole row.
        self.a.rr(Code::Movsxd_r64_rm32, Register::RAX, Register::EAX);
        self.a.rr(Code::Movsxd_r64_rm32, Register::RSI, Register::ESI);
        let m = [Register::RAX, Register::RSI].map(|r| Mem::indexed(PTR, r, form.scale, 0));
        if let Some(k) = on {
            self.a.rri(Code::VEX_Kshiftrw_kr_kr_imm8, mask_register(5), mask_register(k), 8);
        }
        let k = [on, on.map(|_| 5)];
        if s.write {
            let d = self.data_in(to, 64, 1)?;
            let lanes = k.map(|k| k.map_or(Lanes::All, Lanes::Of));
            self.a.rri(extract, vector_register(0, Width::Y), vector_register(d, Width::Z), 1);
            self.a.store(STORE32, Width::Y, m[0], d, lanes[0]);
            self.a.store(STORE32, Width::Y, m[1], 0, lanes[1]);
            return Ok(());
        }
        let lanes = k.map(|k| k.map_or(Lanes::All, Lanes::Zero));
        self.a.v2(VMOVDQU32, Width::Y, 0, Opd::Mem(m[0]), lanes[0]);
        self.a.v2(VMOVDQU32, Width::Y, 1, Opd::Mem(m[1]), lanes[1]);
        let insert = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
        let [low, high] = [vector_register(0, Width::Z), vector_register(1, Width::Y)];
        self.a.push(iced_x86::Instruction::with4(insert, low, low, high, 1));
        let k = self.load_lanes(pc, to, on);
        self.store_part(to, 0, 4, part, k)
    }

    /// Goes to `other` unless sixteen places are two rows of eight.
    pub(super) fn two_rows(&mut self, v: V, step: u32, other: Label) {
        let ramp = self.literals(std::array::from_fn(|k| step * (k as u32 % 8)));
        let first = self.literals(std::array::from_fn(|k| k as u32 & 8));
        self.a.v3(VPSUBD, Width::Z, 0, v, Opd::Mem(ramp), Lanes::All);
        self.a.v2(VMOVDQU32, Width::Z, 1, Opd::Mem(first), Lanes::All);
        self.a.v3(VPERMD, Width::Z, 1, 1, Opd::Reg(0), Lanes::All);
        self.a.vcmp(VPCMPUD, Width::Z, 5, 0, Opd::Reg(1), 4, None);
        self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 5);
        self.a.jump(Code::Jne_rel32_64, other);
    }

    /// The mask that [`Emit::on`] left for a half.
    pub(super) fn transfer_mask(&self, pc: Pc, part: &Part) -> Option<K> {
        if let Some(e) = self.plain_exec(pc, part) {
            return Some(e);
        }
        let i = self.inst(pc);
        let exec = !(i.no_mask || self.all_active(pc));
        (i.pred.offset != 0 || exec).then_some(ON[part.index as usize & 1])
    }

    /// The lanes that a load writes: like the channels, or all.
    pub(super) fn load_lanes(&self, pc: Pc, to: RegOffset, on: Option<K>) -> Option<K> {
        let id = self.cells.at(to)?;
        if self.inst(pc).pred.offset == 0 && self.live.may_write_unmasked(pc, id) { None } else { on }
    }

    /// Fetches what later threads will want of a row: that of sixteen channels is at `m`.
    pub(super) fn fetch_rows_ahead(&mut self, pc: Pc, s: &Simt, part: &Part, m: Mem) {
        // Both halves of bytes or words are in one line.
        if s.element < 4 && part.index != 0 {
            return;
        }
        let lines = u32::from(s.element).div_ceil(4);
        if self.streaming {
            let code = if s.write { Code::Prefetchw_m8 } else { Code::Prefetcht0_m8 };
            for line in 0..lines {
                self.a.m(code, m.plus(self.ahead() + 64 * line));
            }
        }
        if self.inst(pc).depth == 0 {
            if self.many_rows {
                // To the second cache: of so many rows, the first one would not keep what it gets.
                for line in 0..lines {
                    self.a.m(Code::Prefetcht1_m8, m.plus(LATER_THREADS + 64 * line));
                }
            } else if self.looping && !s.write {
                // Who loops meanwhile uses lines enough for the CPU's own prefetchers to lose track of these.
                self.a.m(Code::Prefetcht0_m8, m.plus(NEXT_THREADS));
            }
        }
    }

    /// Consecutive elements, or one for all.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn move_row(
        &mut self,
        pc: Pc,
        _: &Inst,
        s: &Simt,
        form: Form,
        part: &Part,
        way: Way,
        data: RegOffset,
        disp: u32,
        on: Option<K>,
    ) -> Result<(), Unsupported> {
        let (r, plus) = match way {
            Way::Row(r, plus) | Way::Words(r, plus) => (r, plus),
            Way::Same(r) => (r, 0),
            Way::Any(_) => return Err("a way"),
        };
        let (r, scale) = if form.scale > 8 {
            // What is moved may go through the other free register.
            let more = Register::RDI;
            self.a.rr(Code::Mov_r64_rm64, more, r);
            self.a.ri(Code::Shl_rm64_imm8, more, form.scale.trailing_zeros() as i32 - 3);
            (more, 8)
        } else {
            (r, form.scale)
        };
        let m = Mem::indexed(PTR, r, scale, i64::from(plus + disp));
        let row = matches!(way, Way::Row(..) | Way::Words(..));
        let slot = u32::from(s.slot);
        let to = data + slot * part.lane;
        let lanes = |k: Option<K>| k.map_or(Lanes::All, Lanes::Of);
        let w = part.width;
        if part.lanes == 1 {
            return self.move_one(s, m, to);
        }
        if row && part.lanes == 16 {
            self.fetch_rows_ahead(pc, s, part, m);
        }
        if s.write && !row {
            return self.store_same(s, part, m, to, on);
        }
        if slot == 8 {
            return self.move_quads(pc, part, (m, row, s.write), to, on);
        }
        if s.write {
            let v = self.data_in(to, 4 * part.lanes, 0)?;
            match s.element {
                4 => self.a.store(STORE32, w, m, v, lanes(on)),
                e if on.is_none() && w == Width::Z => {
                    // CPUs take longer to make elements narrow on their way to memory.
                    self.a.store_to_reg(if e == 2 { VPMOVDW } else { VPMOVDB }, w, 0, v);
                    self.a.store(STORE32, Width::of(16 * u32::from(e)), m, 0, Lanes::All);
                }
                2 => self.a.store(VPMOVDW, w, m, v, lanes(on)),
                _ => self.a.store(VPMOVDB, w, m, v, lanes(on)),
            }
            return Ok(());
        }
        let k = self.load_lanes(pc, to, on);
        let home = self.home(to, 4 * part.lanes);
        let dst = home.unwrap_or(0);
        // A row looked at when running may have lanes outside that are off.
        let l = match (home, k, on) {
            (Some(_), Some(k), _) => Lanes::Of(k),
            (_, _, Some(on)) => Lanes::Zero(on),
            _ => Lanes::All,
        };
        match (row, s.element) {
            (true, _) if matches!(way, Way::Words(..)) => {
                // What is off stays in the end: the bytes are joined elsewhere first.
                let zero = on.map_or(Lanes::All, Lanes::Zero);
                self.a.v2(VPMOVZXBD, w, 1, Opd::Mem(m.plus(1)), zero);
                self.a.v2(VPMOVZXBD, w, 0, Opd::Mem(m), zero);
                self.a.v2i(VPSLLD, w, 1, Opd::Reg(1), 8, Lanes::All);
                self.a.v3(VPORD, w, dst, 0, Opd::Reg(1), k.map_or(Lanes::All, Lanes::Of));
            }
            (true, 4) => self.a.v2(VMOVDQU32, w, dst, Opd::Mem(m), l),
            (true, 2) => self.a.v2(VPMOVZXWD, w, dst, Opd::Mem(m), l),
            (true, _) => self.a.v2(VPMOVZXBD, w, dst, Opd::Mem(m), l),
            (false, 4) => self.a.v2(VPBROADCASTD, w, dst, Opd::Mem(m), l),
            (false, e) => {
                let code = if e == 2 { Code::Movzx_r32_rm16 } else { Code::Movzx_r32_rm8 };
                self.a.rm(code, Register::ESI, m);
                let c = SPREAD[w as usize];
                self.a.rr(c, vector_register(if k.is_some() { 0 } else { dst }, w), Register::ESI);
                if let (Some(h), Some(k)) = (home, k) {
                    self.a.v2(VMOVDQU32, w, h, Opd::Reg(0), Lanes::Of(k));
                }
            }
        }
        if home.is_none() {
            self.store_part(to, 0, 4, part, k)?;
        }
        Ok(())
    }

    /// One channel's element.
    pub(super) fn move_one(&mut self, s: &Simt, m: Mem, to: RegOffset) -> Result<(), Unsupported> {
        let r = self.reg(to);
        let (esi, rsi) = (Register::ESI, Register::RSI);
        if s.write {
            match s.element {
                8 => {
                    self.a.rm(Code::Mov_r64_rm64, rsi, r);
                    self.a.mr(Code::Mov_rm64_r64, m, rsi);
                }
                4 => {
                    self.a.rm(Code::Mov_r32_rm32, esi, r);
                    self.a.mr(Code::Mov_rm32_r32, m, esi);
                }
                2 => {
                    self.a.rm(Code::Movzx_r32_rm16, esi, r);
                    self.a.mr(Code::Mov_rm16_r16, m, Register::SI);
                }
                _ => {
                    self.a.rm(Code::Movzx_r32_rm8, esi, r);
                    self.a.mr(Code::Mov_rm8_r8, m, Register::SIL);
                }
            }
            return Ok(());
        }
        match s.element {
            8 => {
                self.a.rm(Code::Mov_r64_rm64, rsi, m);
                self.a.mr(Code::Mov_rm64_r64, r, rsi);
                return Ok(());
            }
            4 => self.a.rm(Code::Mov_r32_rm32, esi, m),
            2 => self.a.rm(Code::Movzx_r32_rm16, esi, m),
            _ => self.a.rm(Code::Movzx_r32_rm8, esi, m),
        }
        self.a.mr(Code::Mov_rm32_r32, r, esi);
        Ok(())
    }

    /// All channels store to one place: the highest that is on comes last.
    pub(super) fn store_same(
        &mut self,
        s: &Simt,
        part: &Part,
        m: Mem,
        to: RegOffset,
        on: Option<K>,
    ) -> Result<(), Unsupported> {
        if s.slot == 8 {
            for h in 0..part.lanes.div_ceil(8) {
                let v = self.data_in(to + 64 * h, 64, 0)?;
                let eight = Part { lanes: 8, bytes: 8, width: Width::Z, ..*part };
                let on = self.mask_of_eight(on, h);
                self.store_highest(&eight, m, (v, 8), on);
            }
            return Ok(());
        }
        let v = self.data_in(to, 4 * part.lanes, 0)?;
        self.store_highest(part, m, (v, s.element.into()), on);
        Ok(())
    }

    /// Data of a store in a register.
    pub(super) fn data_in(&mut self, at: RegOffset, bytes: u32, tmp: V) -> Result<V, Unsupported> {
        if let Some(v) = self.home(at, bytes) {
            return Ok(v);
        }
        if let Some(first) = self.first(at) {
            self.spread(tmp, Width::of(bytes), first);
            return Ok(tmp);
        }
        self.in_memory(at, bytes)?;
        self.a.v2(VMOVDQU32, Width::of(bytes), tmp, Opd::Mem(self.reg(at)), Lanes::All);
        Ok(tmp)
    }

    /// Dwords of one lane, as of the channel that writes what a group has found: a scatter takes as long for one as for
    /// all. Goes to `done` afterwards, and where no lane is on; on, where there are more. (AVX2 has no scatters.)
    #[allow(clippy::too_many_arguments)]
    fn store_lone(
        &mut self,
        s: &Simt,
        form: Form,
        part: &Part,
        v: V,
        data: RegOffset,
        on: K,
        done: Label,
    ) -> Result<(), Unsupported> {
        let (w, more) = (part.width, self.a.label());
        let mask = if part.lanes == 8 { Code::VEX_Kmovb_r32_kr } else { Code::VEX_Kmovw_r32_kr };
        self.a.rr(mask, Register::EAX, mask_register(on));
        // Zero without the lowest bit: there is one at most; a carry, where there was none.
        self.a.rr(Code::VEX_Blsr_r32_rm32, Register::EAX, Register::EAX);
        self.a.jump(Code::Jne_rel32_64, more);
        self.a.jump(Code::Jb_rel32_64, done);
        self.a.compress(w, 0, v, on);
        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vector_register(0, Width::X));
        self.a.rr(Code::Movsxd_r64_rm32, Register::RAX, Register::EAX);
        let mut positions = s.elements;
        let mut to = data + 4 * part.lane;
        while positions != 0 {
            let m = Mem::indexed(PTR, Register::RAX, form.scale, i64::from(4 * positions.trailing_zeros()));
            positions &= positions - 1;
            let d = self.data_in(to, 4 * part.lanes, 0)?;
            self.a.compress(w, 0, d, on);
            self.a.mr(Code::EVEX_Vmovd_rm32_xmm, m, vector_register(0, Width::X));
            to += s.component_stride;
        }
        self.a.jmp(done);
        self.a.bind(more);
        Ok(())
    }

    /// Elements anywhere.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn move_any(
        &mut self,
        pc: Pc,
        s: &Simt,
        form: Form,
        part: &Part,
        v: V,
        data: RegOffset,
        disp: u32,
        on: Option<K>,
    ) -> Result<(), Unsupported> {
        let (slot, element) = (u32::from(s.slot), u32::from(s.element));
        let to = data + slot * part.lane;
        let w = part.width;
        let (index, scale) = if form.scale > 8 {
            self.a.v2i(VPSLLD, w, 3, Opd::Reg(v), form.scale.trailing_zeros() - 3, Lanes::All);
            (3, 8)
        } else {
            (v, form.scale)
        };
        let m = Mem::indexed(PTR, Register::None, scale, i64::from(disp));
        let all = |e: &mut Self, k: K| match on {
            Some(on) => e.a.kkk(Code::VEX_Korw_kr_kr_kr, k, on, on),
            None => {
                e.a.kkk(Code::VEX_Kxnorw_kr_kr_kr, k, k, k);
                if part.lanes == 8 {
                    e.a.rri(Code::VEX_Kshiftrw_kr_kr_imm8, mask_register(k), mask_register(k), 8);
                }
            }
        };
        if slot == 8 {
            for h in self.halves_on(pc, part) {
                let to = to + 64 * h;
                if s.write {
                    let mut index = index;
                    if h == 1 {
                        let extract = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
                        self.a.rri(
                            extract,
                            vector_register(2, Width::Y),
                            vector_register(index, Width::Z),
                            1,
                        );
                        index = 2;
                    }
                    all(self, 5);
                    let (first, by) = (h == 0, 8);
                    if first {
                        self.a.rri(Code::VEX_Kshiftlw_kr_kr_imm8, mask_register(5), mask_register(5), by);
                    }
                    self.a.rri(Code::VEX_Kshiftrw_kr_kr_imm8, mask_register(5), mask_register(5), by);
                    let d = self.data_in(to, 64, 0)?;
                    self.a.scatter(VPSCATTERDQ, Width::Z, m, index, d, 5);
                } else {
                    self.load_quads(part, Places { base: PTR, index, scale, plus: disp }, (0, h), on);
                    let k = self.mask_of_eight(on, h);
                    let k = if self.load_lanes(pc, to, on).is_some() { k } else { None };
                    let sub = Part { lanes: 8, bytes: 8, width: Width::Z, ..*part };
                    self.store_part(to, 0, 8, &sub, k)?;
                }
            }
            return Ok(());
        }
        if s.write {
            let d = self.data_in(to, 4 * part.lanes, 0)?;
            if s.element != 4 {
                return self.scatter_narrow(part, (index, scale, disp), (d, element), on);
            }
            all(self, 5);
            self.a.scatter(VPSCATTERDD, w, m, index, d, 5);
            return Ok(());
        }
        if let Some(line) = self.line(pc).filter(|_| disp == 0) {
            self.gather_lines(pc, &line, std::slice::from_ref(part), (&[index], scale), &[on])?;
        } else {
            self.load_dwords(part, Places { base: PTR, index, scale, plus: disp }, on);
        }
        if s.element != 4 {
            let and = self.literal(if s.element == 1 { 0xff } else { 0xffff });
            self.a.v3(VPANDD, w, 0, 0, Opd::Bcast(and), Lanes::All);
        }
        let k = self.load_lanes(pc, to, on);
        self.store_part(to, 0, 4, part, k)
    }
}
