//! Messages whose channels are a known number of bytes apart and which are no row of single elements: rows of memory are
//! moved, and elements are picked out of them or put together to them ([`crate::memory_rows`]).

use envisa_lower::Simt;

use super::memory::{Form, PTR, RA};
use super::transpose::{self, Channels};
use super::*;
use crate::asm::SlowPath;
use crate::context_layout::site;
use crate::memory_rows::{Plan, Steps};
use crate::multiples::Multiples;

/// Most bytes from channel to channel of which rows are moved: both halves of a message lie within a kilobyte.
const MOST: i32 = 32;
/// How far behind a register rows may begin: what is accessed ends within a kilobyte.
const REACH: i32 = 960;

/// Vectors that rows are in: those beyond are read where they are in memory. The last two have the places of channels that
/// may go anywhere.
const ROWS: [V; 5] = [0, 1, 3, 6, 7];
/// How many of these there are where they have.
const FEW: usize = 3;
/// How the elements of sixteen channels, or of eight, are moved.
#[derive(Clone, PartialEq, Eq, Debug)]
enum How {
    /// Elements are rows, each from where the first channel's is on, and as wide as in registers or narrower.
    Rows,
    /// Dwords or quads of rows: a plan for each vector that an element has in registers.
    Picked(Plan),
    /// The same of dwords that have bytes or words: bytes from channel to channel.
    Packed(Plan),
    /// Elements of up to three bytes together.
    Small,
    /// One byte or word of each channel, which others are between: up to four bytes from channel to channel.
    Sparse,
    /// Dwords of one channel after the other.
    Channels,
    /// Dwords that are the same for all channels.
    Same,
}

/// A message, and what is known of its places.
pub(super) struct Stepped {
    how: How,
    /// From channel to channel: bytes, and of indices.
    step: u32,
    index: i32,
    /// Channels.
    lanes: u32,
    /// Registers for rows.
    rows: &'static [V],
}

impl How {
    /// How a message of so many channels is moved that are so many bytes apart, if it is by rows.
    fn of(s: &Simt, step: u32, channels: u32) -> Option<How> {
        let (element, slot) = (u32::from(s.element), u32::from(s.slot));
        if s.upper || !matches!(slot, 4 | 8) || element > slot || (slot == 8 && element != 8) {
            return None;
        }
        let few = channels == 8;
        if !(channels == 16 || few && (element, slot) == (4, 4)) {
            return None;
        }
        let vector = 4 * channels;
        let lanes = vector / slot;
        let step = i32::try_from(step).ok().filter(|s| (1..=MOST).contains(s))?;
        let all = Steps { lanes, step, element, elements: s.elements, lane: slot, vector };
        let count = s.elements.count_ones();
        let dense = s.elements == (1 << count) - 1 && step == (count * element) as i32;
        // The last row of the last channels is to be in reach.
        let before = (slot as i32 / 4 - 1) * 8 * step + 16 * step;
        let plan = |of: Steps| {
            let plan = if s.write { of.stores() } else { of.loads() };
            plan.filter(|p| p.rows.iter().all(|r| r + before <= REACH))
        };
        if step == element as i32 {
            // A row of single elements others move.
            (!s.write && count > 1).then_some(How::Rows)
        } else if element >= 4 {
            plan(all).map(How::Picked)
        } else if dense && step % 4 == 0 {
            plan(Steps { element: 4, elements: (1 << (step / 4)) - 1, ..all }).map(How::Packed)
        } else {
            let sparse = (count == 1 && (element as i32 + 1..=4).contains(&step)).then_some(How::Sparse);
            (dense && step < 4 && count > 1).then_some(How::Small).or(sparse)
        }
    }
}

impl Emit<'_> {
    /// A message whose channels are a known number of bytes apart, if it is moved by rows: that the first channel's place
    /// and the last one's pass tells that all do. Where they do not, or where a store is of some channels only, what comes
    /// next does it, which is put aside.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn by_steps(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        parts: &[Part],
        align: u32,
        data: RegOffset,
    ) -> Result<Option<SlowPath>, Unsupported> {
        let Some(known) = self.stepped(pc, i, s, form, parts) else { return Ok(None) };
        let (here, other) = (self.a.here(), self.a.label());
        if self.by_known_steps(pc, i, s, form, parts, (align, other), &known, data).is_err() {
            self.a.back(here);
            return Ok(None);
        }
        let aside = self.a.begin_slow_path(pc);
        self.a.bind(other);
        Ok(Some(aside))
    }

    /// The same, all of whose channels' places are held against the site here; goes to `other` where they do not pass.
    #[allow(clippy::too_many_arguments)]
    fn by_known_steps(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        parts: &[Part],
        (align, other): (u32, Label),
        known: &Stepped,
        data: RegOffset,
    ) -> Result<(), Unsupported> {
        let mut on = Vec::new();
        for part in parts {
            on.push(self.on(pc, part)?);
        }
        if s.write {
            for k in on.iter().flatten() {
                self.all_or_else(*k, known.lanes, other);
            }
        }
        // Both halves may be one row.
        let jump = self.cells.at(s.address + 64).and_then(|c| self.shapes.alike(c));
        let near = known.how != How::Channels || 32 * known.step <= 1024;
        let one = parts.len() == 1 || (jump == Some(16 * known.index) && near && known.lanes == 16);
        let rows = if one { 1 } else { 2 };
        for (k, part) in parts.iter().enumerate().take(rows) {
            let r = [Register::EAX, Register::EDX][k];
            self.first_index(s.address + 4 * part.lane, r)?;
            self.offset(i, form, r)?;
            if align > 1 {
                self.a.ri(Code::Test_rm32_imm32, r, align as i32 - 1);
                self.a.jump(Code::Jne_rel32_64, other);
            }
            let channels = known.lanes as i32 * if one { parts.len() as i32 } else { 1 };
            let last = Mem::indexed(
                RA[k],
                Register::None,
                1,
                i64::from(((channels - 1) * known.index) << form.before),
            );
            self.a.rm(Code::Lea_r32_m, Register::ESI, last);
            for r in [r, Register::ESI] {
                let limit = self.site(i, site::COUNT);
                self.a.rm(Code::Cmp_r32_rm32, r, limit);
                self.a.jump(Code::Jae_rel32_64, other);
            }
            if form.scale > 8 {
                self.a.ri(Code::Shl_rm64_imm8, RA[k], form.scale.trailing_zeros() as i32 - 3);
            }
        }
        let pointer = self.site(i, site::POINTER);
        self.a.rm(Code::Mov_r64_rm64, PTR, pointer);
        for (k, (part, on)) in parts.iter().zip(on).enumerate() {
            let (r, plus) = if one { (RA[0], 16 * k as u32 * known.step) } else { (RA[k], 0) };
            let m = Mem::indexed(PTR, r, form.scale.min(8), plus.into());
            match s.write {
                true => self.store_steps(s, known, part, m, data)?,
                false => self.load_steps(pc, s, known, part, m, data, on)?,
            }
        }
        Ok(())
    }

    /// Several elements a channel, whose places nothing is known of but that they are inside: where they turn out to be
    /// side by side from channel to channel, and all channels run, they are moved by rows. Gives where that is done, and
    /// what was put aside.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn look_for_steps(
        &mut self,
        pc: Pc,
        (i, s): (&Inst, &Simt),
        form: Form,
        part: &Part,
        v: V,
        data: RegOffset,
        on: Option<K>,
    ) -> Result<Option<(Label, Option<SlowPath>)>, Unsupported> {
        let count = s.elements.count_ones();
        let factor = self.common_factor(s, form, part);
        // Of single elements others look for rows.
        let apart = count > 1 || s.element == 4 && factor > 4;
        if !apart || !matches!(part.lanes, 8 | 16) || form.scale > 8 || self.far_apart(s, form, part) {
            return Ok(None);
        }
        // Vectors side by side, those of three elements that are kept as four, or those that begin at each element, as of
        // stencils; or parts of larger ones, as far apart as the factor that indices have.
        let element = u32::from(s.element);
        let padded = count.next_power_of_two();
        let all = [count * element, padded * element, element, factor, 2 * factor];
        let first = |k: usize| !all[..k].contains(&all[k]);
        let mut all: Vec<Stepped> = all
            .into_iter()
            .enumerate()
            .filter(|(k, step)| first(*k) && step.is_multiple_of(form.scale.max(factor)))
            .filter_map(|(_, step)| {
                let (how, index) = (self.how(s, step, part.lanes)?, (step / form.scale) as i32);
                Some(Stepped { how, step, index, lanes: part.lanes, rows: &ROWS[..FEW] })
            })
            .collect();
        // Or the same one for all channels, as those of a row.
        if !s.write && (s.element, s.slot) == (4, 4) {
            all.push(Stepped { how: How::Same, step: 0, index: 0, lanes: part.lanes, rows: &ROWS[..FEW] });
        }
        if all.is_empty() {
            return Ok(None);
        }
        let (here, done, other) = (self.a.here(), self.a.label(), self.a.label());
        let weary = self.site(i, site::ASTRAY);
        self.a.mi(Code::Test_rm32_imm32, weary, site::WEARY);
        self.a.jump(Code::Jne_rel32_64, other);
        for (nth, known) in all.iter().enumerate() {
            let last = nth + 1 == all.len();
            let next = if last { other } else { self.a.label() };
            if self.by_steps_at_sight(pc, (i, s), form, part, (v, known), data, on, next).is_err() {
                self.a.back(here);
                return Ok(None);
            }
            self.a.mi(Code::Mov_rm32_imm32, weary, 0);
            if !last {
                self.a.jmp(done);
                self.a.bind(next);
            }
        }
        let aside = self.a.begin_slow_path(pc);
        self.a.bind(other);
        self.a.m(Code::Inc_rm32, weary);
        Ok(Some((done, Some(aside))))
    }

    /// Pairs that begin at each element are moved by rows; goes to `other` where they do not.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn pairs_of_elements(
        &mut self,
        pc: Pc,
        (i, s): (&Inst, &Simt),
        form: Form,
        part: &Part,
        v: V,
        data: RegOffset,
        on: Option<K>,
        other: Label,
    ) -> Result<(), Unsupported> {
        let step = u32::from(s.element);
        let how = How::of(s, step, part.lanes).filter(|_| step.is_multiple_of(form.scale));
        let (how, index) = (how.ok_or("no rows of elements")?, (step / form.scale) as i32);
        let known = Stepped { how, step, index, lanes: part.lanes, rows: &ROWS[..FEW] };
        self.by_steps_at_sight(pc, (i, s), form, part, (v, &known), data, on, other)
    }

    /// One byte or word a channel, whose places turn out to be up to four bytes apart, as those of pixels are, is moved by rows:
    /// goes to `done` then.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn sparse_at_sight(
        &mut self,
        pc: Pc,
        (i, s): (&Inst, &Simt),
        form: Form,
        part: &Part,
        v: V,
        data: RegOffset,
        on: Option<K>,
        done: Label,
    ) {
        let element = u32::from(s.element);
        if s.elements.count_ones() != 1 || part.lanes != 16 || s.write && self.level == Level::Avx2 {
            return;
        }
        let factor = form.scale.max(self.common_factor(s, form, part));
        for step in (element + 1..=4).filter(|step| step.is_multiple_of(factor)) {
            let Some(how @ How::Sparse) = How::of(s, step, part.lanes) else { continue };
            let index = (step / form.scale) as i32;
            let known = Stepped { how, step, index, lanes: part.lanes, rows: &ROWS[..FEW] };
            let (here, next) = (self.a.here(), self.a.label());
            if self.by_steps_at_sight(pc, (i, s), form, part, (v, &known), data, on, next).is_err() {
                self.a.back(here);
                continue;
            }
            let weary = self.site(i, site::ASTRAY);
            self.a.mi(Code::Mov_rm32_imm32, weary, 0);
            self.a.jmp(done);
            self.a.bind(next);
        }
    }

    /// Moves elements whose places turn out to be so many bytes apart; goes to `other` where they do not.
    #[allow(clippy::too_many_arguments)]
    fn by_steps_at_sight(
        &mut self,
        pc: Pc,
        (i, s): (&Inst, &Simt),
        form: Form,
        part: &Part,
        (v, known): (V, &Stepped),
        data: RegOffset,
        on: Option<K>,
        other: Label,
    ) -> Result<(), Unsupported> {
        let ramp = self.literals(std::array::from_fn(|k| (known.index * k as i32) as u32));
        self.a.v2(VPBROADCASTD, part.width, 0, Opd::Reg(v), Lanes::All);
        self.a.v3(VPADDD, part.width, 0, 0, Opd::Mem(ramp), Lanes::All);
        self.a.vcmp(VPCMPUD, part.width, 5, v, Opd::Reg(0), 4, None);
        self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 5);
        self.a.jump(Code::Jne_rel32_64, other);
        if let Some(on) = on {
            self.row_may_be_moved(i, s, part, (v, known.index), on, other);
        }
        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vector_register(v, Width::X));
        let m = Mem::indexed(PTR, Register::RAX, form.scale, 0);
        match s.write {
            true => self.store_steps(s, known, part, m, data),
            false => self.load_steps(pc, s, known, part, m, data, on),
        }
    }

    /// Of sixteen places that are a step apart, some of which are of channels that are off: goes to `other` unless a store
    /// is of all channels, or all that a load would read is inside. Those that are on are inside, so that the places are as
    /// far from them as their numbers say; they may be off the first one's side and the last one's.
    pub(super) fn row_may_be_moved(
        &mut self,
        i: &Inst,
        s: &Simt,
        part: &Part,
        (v, step): (V, i32),
        on: K,
        other: Label,
    ) {
        if s.write {
            return self.all_or_else(on, part.lanes, other);
        }
        let all = self.a.label();
        self.a.kk(Self::test_of_lanes(part.lanes), on, on);
        self.a.jump(Code::Jb_rel32_64, all);
        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vector_register(v, Width::X));
        let last = Mem::indexed(Register::RAX, Register::None, 1, i64::from((part.lanes as i32 - 1) * step));
        self.a.rm(Code::Lea_r32_m, Register::ESI, last);
        for r in [Register::EAX, Register::ESI] {
            let limit = self.site(i, site::COUNT);
            self.a.rm(Code::Cmp_r32_rm32, r, limit);
            self.a.jump(Code::Jae_rel32_64, other);
        }
        self.a.bind(all);
    }

    /// What tells whether all of sixteen lanes, or of eight, are on: the carry flag is set then.
    fn test_of_lanes(lanes: u32) -> Code {
        if lanes == 8 { Code::VEX_Kortestb_kr_kr } else { Code::VEX_Kortestw_kr_kr }
    }

    /// Goes to `other` unless all of these lanes are on.
    pub(super) fn all_or_else(&mut self, on: K, lanes: u32, other: Label) {
        self.a.kk(Self::test_of_lanes(lanes), on, on);
        self.a.jump(Code::Jae_rel32_64, other);
    }

    /// Sixteen consecutive pairs of dwords, from `rax` on.
    pub(super) fn move_pairs(
        &mut self,
        pc: Pc,
        s: &Simt,
        form: Form,
        part: &Part,
        data: RegOffset,
        on: Option<K>,
    ) -> Result<(), Unsupported> {
        let m = Mem::indexed(PTR, Register::RAX, form.scale, 0);
        let to = [0, 1].map(|c| data + c * s.component_stride + 4 * part.lane);
        let pick = |f: &dyn Fn(u32) -> u32| std::array::from_fn(|k| f(k as u32));
        if s.write {
            let d = [self.data_in(to[0], 64, 0)?, self.data_in(to[1], 64, 1)?];
            for h in 0..2 {
                let which = self.literals(pick(&|k| 8 * h + k / 2 + k % 2 * 16));
                self.a.v2(VMOVDQU32, Width::Z, 2, Opd::Mem(which), Lanes::All);
                self.a.v3(VPERMI2D, Width::Z, 2, d[0], Opd::Reg(d[1]), Lanes::All);
                self.a.store(STORE32, Width::Z, m.plus(64 * h), 2, Lanes::All);
            }
            return Ok(());
        }
        self.a.v2(VMOVDQU32, Width::Z, 0, Opd::Mem(m), Lanes::All);
        self.a.v2(VMOVDQU32, Width::Z, 1, Opd::Mem(m.plus(64)), Lanes::All);
        for (c, to) in to.into_iter().enumerate() {
            let which = self.literals(pick(&|k| 2 * k + c as u32));
            self.a.v2(VMOVDQU32, Width::Z, 2, Opd::Mem(which), Lanes::All);
            self.a.v3(VPERMI2D, Width::Z, 2, 0, Opd::Reg(1), Lanes::All);
            let k = self.load_lanes(pc, to, on);
            self.store_part(to, 2, 4, part, k)?;
        }
        Ok(())
    }

    /// How a message is moved, if it is by rows.
    fn stepped(&self, pc: Pc, i: &Inst, s: &Simt, form: Form, parts: &[Part]) -> Option<Stepped> {
        let lanes = parts.first()?.lanes;
        let alone = parts.iter().any(|p| p.lanes != lanes || self.runs_alone(i, p));
        if form.wide || alone || self.line(pc).is_some() {
            return None;
        }
        let step_of = |part: &Part| {
            let at = s.address + 4 * part.lane;
            let c = self.cells.at(at).filter(|c| self.cells.get(*c).offset == at)?;
            let there = self.first(at).is_some() || self.home_alone(at, 64).is_some();
            let there = there || (self.twin(at).is_none() && self.in_memory(at, 64).is_ok());
            self.shapes.stride(c).filter(|_| there)
        };
        let index = step_of(parts.first()?)?;
        let all = parts.iter().all(|p| step_of(p) == Some(index));
        let bytes = u32::try_from(form.bytes(index)).ok()?;
        // What is aligned for the first channel is for all.
        let aligned = bytes % u32::from(s.align.max(1)) == 0;
        let how = self.how(s, bytes, lanes);
        // Stores by masks of bytes.
        let has = |how: &How| *how != How::Sparse || self.level == Level::Avx512 || !s.write;
        let how = how.filter(|how| index > 0 && all && aligned && has(how))?;
        Some(Stepped { how, step: bytes, index, lanes, rows: &ROWS })
    }

    /// How a message of so many channels is moved that are so many bytes apart.
    fn how(&self, s: &Simt, step: u32, channels: u32) -> Option<How> {
        // Where gaps are wider than what is between them, rows are many for what is moved; those of loads are, too, where gaps
        // are as wide.
        let dense = 4 * s.elements.count_ones();
        let least = 2 * dense + u32::from(s.write);
        let wide = (least..=transpose::APART).contains(&step);
        match self.side_by_side(s, channels) && wide {
            true => Some(How::Channels),
            false => How::of(s, step, channels),
        }
    }

    /// The power of two that all distances between a message's places are multiples of, up to the farthest that is moved at
    /// once.
    pub(super) fn common_factor(&self, s: &Simt, form: Form, part: &Part) -> u32 {
        let all = self.multiples.get_or_init(|| Multiples::new(self.p, self.flow, self.cells, self.live));
        let bits = all.bits(self.cells, s.address + 4 * part.lane, 4 * part.lanes);
        (form.scale << (form.before + u32::from(bits)).min(16)).min(transpose::APART)
    }

    /// The first channel's index.
    fn first_index(&mut self, at: RegOffset, r: Register) -> Result<(), Unsupported> {
        if let Some(first) = self.first(at) {
            self.a.rm(Code::Mov_r32_rm32, r, self.reg(first.at));
            if first.plus != 0 {
                self.a.ri(Code::Add_rm32_imm32, r, first.plus);
            }
        } else if let Some(v) = self.home_alone(at, 64) {
            self.a.rr(Code::EVEX_Vmovd_rm32_xmm, r, vector_register(v, Width::X));
        } else {
            self.in_memory(at, 64)?;
            self.a.rm(Code::Mov_r32_rm32, r, self.reg(at));
        }
        Ok(())
    }

    /// Where the vectors are that an element of a part has in registers: of quads two.
    fn in_registers(
        s: &Simt,
        part: &Part,
        data: RegOffset,
    ) -> impl Iterator<Item = (u32, RegOffset)> + use<> {
        let slot = u32::from(s.slot);
        let (stride, first) = (s.component_stride, data + slot * part.lane);
        let elements = s.elements.count_ones();
        (0..slot / 4).flat_map(move |h| (0..elements).map(move |c| (h, first + c * stride + 64 * h)))
    }

    /// The places of a message's elements, in bytes from the channel's.
    fn places_of(s: &Simt) -> Vec<u32> {
        (0..64).filter(|k| s.elements >> k & 1 != 0).map(|k| k * u32::from(s.element)).collect()
    }

    #[allow(clippy::too_many_arguments)]
    fn load_steps(
        &mut self,
        pc: Pc,
        s: &Simt,
        known: &Stepped,
        part: &Part,
        m: Mem,
        data: RegOffset,
        on: Option<K>,
    ) -> Result<(), Unsupported> {
        let (places, count) = (Self::places_of(s), s.elements.count_ones() as usize);
        let all: Vec<(u32, RegOffset)> = Self::in_registers(s, part, data).collect();
        match &known.how {
            How::Rows => {
                for (k, (h, to)) in all.into_iter().enumerate() {
                    let from = m.plus(64 * h + places[k % count]);
                    let op =
                        [VPMOVZXBD, VPMOVZXWD, VMOVDQU32, VMOVDQU64][s.element.trailing_zeros() as usize];
                    let v = self.free_home(pc, to, part, on).unwrap_or(0);
                    self.a.v2(op, part.width, v, Opd::Mem(from), Lanes::All);
                    self.loaded(pc, s, part, (h, to), v, on)?;
                }
            }
            How::Picked(plan) => {
                for h in 0..u32::from(s.slot) / 4 {
                    let m = m.plus(h * 8 * known.step);
                    let rows = self.rows_of_plan(known, plan, m);
                    let to = &all[h as usize * count..][..count];
                    if let Some(halves) = plan.halves().filter(|_| s.slot == 4 && part.lanes == 16) {
                        self.deinterleave(pc, (s, part), plan, halves, &rows, to, on)?;
                        continue;
                    }
                    for (units, (h, to)) in plan.units.iter().zip(to) {
                        let whole = s.slot == 4 && part.lanes == 16;
                        let home = self.free_home(pc, *to, part, on).filter(|_| whole);
                        let v = self.put_together(units, plan.unit, &rows, home)?;
                        self.loaded(pc, s, part, (*h, *to), v, on)?;
                    }
                }
            }
            How::Packed(plan) => {
                let rows = self.rows_of_plan(known, plan, m);
                let mut had = None;
                for (place, (h, to)) in places.into_iter().zip(all) {
                    let dword = place / 4;
                    let from = match had {
                        Some((d, v)) if d == dword => v,
                        _ => {
                            let v = self.put_together(&plan.units[dword as usize], plan.unit, &rows, None)?;
                            // A store by a mask may take a register of these.
                            had = Some((dword, v)).filter(|_| on.is_none());
                            v
                        }
                    };
                    let v = self.part_of_dwords(from, 8 * (place % 4), s.element.into());
                    self.loaded(pc, s, part, (h, to), v, on)?;
                }
            }
            How::Same => {
                for (place, (h, to)) in places.into_iter().zip(all) {
                    let v = self.free_home(pc, to, part, on).unwrap_or(0);
                    self.a.v2(VPBROADCASTD, part.width, v, Opd::Mem(m.plus(place)), Lanes::All);
                    self.loaded(pc, s, part, (h, to), v, on)?;
                }
            }
            How::Channels => {
                let of = Channels::Apart(m, known.step);
                self.load_channels(pc, s, part, of, data, on)?;
            }
            How::Sparse if self.level == Level::Avx2 => {
                self.quarters(known.step, s.element.into(), m.plus(places[0]));
                for (h, to) in all {
                    self.loaded(pc, s, part, (h, to), 0, on)?;
                }
            }
            How::Sparse => {
                let (step, element) = (known.step, u32::from(s.element));
                // Nothing behind the last element is read.
                self.bytes_in_mask(|k| k < 15 * step + element);
                let from = m.plus(places[0]);
                self.a.v2(VMOVDQU8, Width::Z, 0, Opd::Mem(from), Lanes::Zero(5));
                self.move_groups(step, true);
                let which = self.bytes_of(|k| (k % 4 < element).then(|| k / 4 * step + k % 4));
                self.a.v3(VPSHUFB, Width::Z, 2, 0, Opd::Mem(which), Lanes::All);
                for (h, to) in all {
                    self.loaded(pc, s, part, (h, to), 2, on)?;
                }
            }
            How::Small => {
                let bytes = 16 * known.step;
                self.lanes_below(bytes / 4);
                self.a.v2(VMOVDQU32, Width::Z, 0, Opd::Mem(m), Lanes::Zero(5));
                self.move_groups(known.step, true);
                for (place, (h, to)) in places.into_iter().zip(all) {
                    let element = u32::from(s.element);
                    let which =
                        self.bytes_of(|k| (k % 4 < element).then(|| k / 4 * known.step + place + k % 4));
                    self.a.v3(VPSHUFB, Width::Z, 2, 0, Opd::Mem(which), Lanes::All);
                    self.loaded(pc, s, part, (h, to), 2, on)?;
                }
            }
        }
        Ok(())
    }

    /// The register that a vector is in all of whose lanes are written.
    pub(super) fn free_home(&self, pc: Pc, to: RegOffset, part: &Part, on: Option<K>) -> Option<V> {
        self.home(to, 4 * part.lanes).filter(|_| self.load_lanes(pc, to, on).is_none())
    }

    /// What was loaded goes where it belongs, as far as channels are on.
    pub(super) fn loaded(
        &mut self,
        pc: Pc,
        s: &Simt,
        part: &Part,
        (h, to): (u32, RegOffset),
        v: V,
        on: Option<K>,
    ) -> Result<(), Unsupported> {
        let k = self.load_lanes(pc, to, on);
        if k.is_none() && self.home(to, 4 * part.lanes) == Some(v) {
            return Ok(());
        }
        if s.slot == 8 {
            let k = self.mask_of_eight(k, h);
            let eight = Part { lanes: 8, bytes: 8, width: Width::Z, ..*part };
            return self.store_part(to, v, 8, &eight, k);
        }
        self.store_part(to, v, 4, part, k)
    }

    /// Loads rows; those for which there is no register stay where they are.
    fn rows_of_plan(&mut self, known: &Stepped, plan: &Plan, m: Mem) -> Vec<Opd> {
        let mut all = Vec::new();
        for (k, row) in plan.rows.iter().enumerate() {
            let from = m.plus(*row as u32);
            if self.streaming {
                self.a.m(Code::Prefetcht0_m8, from.plus(self.ahead()));
            }
            all.push(match known.rows.get(k) {
                Some(v) => {
                    self.a.v2(VMOVDQU32, Width::of(4 * known.lanes), *v, Opd::Mem(from), Lanes::All);
                    Opd::Reg(*v)
                }
                None => Opd::Mem(from),
            });
        }
        all
    }

    fn store_steps(
        &mut self,
        s: &Simt,
        known: &Stepped,
        part: &Part,
        m: Mem,
        data: RegOffset,
    ) -> Result<(), Unsupported> {
        let count = s.elements.count_ones() as usize;
        let all: Vec<(u32, RegOffset)> = Self::in_registers(s, part, data).collect();
        match &known.how {
            How::Rows => return Err("rows that are stored"),
            How::Picked(plan) => {
                for h in 0..u32::from(s.slot) / 4 {
                    let mut from = Vec::new();
                    for (k, (_, at)) in all[h as usize * count..][..count].iter().enumerate() {
                        let bytes = 4 * known.lanes;
                        from.push(match (self.home(*at, bytes), known.rows.get(k)) {
                            (Some(v), _) => Opd::Reg(v),
                            (None, Some(tmp)) => Opd::Reg(self.data_in(*at, bytes, *tmp)?),
                            (None, None) => {
                                self.in_memory(*at, bytes)?;
                                Opd::Mem(self.reg(*at))
                            }
                        });
                    }
                    self.store_rows(plan, &from, m.plus(h * 8 * known.step))?;
                }
            }
            How::Packed(plan) => {
                let each = 4 / usize::from(s.element);
                let mut from = Vec::new();
                for (dword, elements) in all.chunks(each).enumerate() {
                    let v = *known.rows.get(dword).ok_or("many dwords of narrow elements")?;
                    self.pack(v, elements, s.element.into())?;
                    from.push(Opd::Reg(v));
                }
                self.store_rows(plan, &from, m)?;
            }
            How::Channels => self.store_channels(s, part, Channels::Apart(m, known.step), data, None)?,
            How::Same => return Err("all channels store to one place"),
            How::Sparse => {
                let (step, element) = (known.step, u32::from(s.element));
                self.pack(0, &all, element)?;
                let own = |k: u32| k % step < element;
                let which = self.bytes_of(|k| (k < 4 * step && own(k)).then(|| k / step * 4 + k % step));
                self.a.v3(VPSHUFB, Width::Z, 0, 0, Opd::Mem(which), Lanes::All);
                self.move_groups(step, false);
                self.bytes_in_mask(|k| k < 16 * step && own(k));
                let to = m.plus(Self::places_of(s)[0]);
                self.a.store(STORE8, Width::Z, to, 0, Lanes::Of(5));
            }
            How::Small => {
                self.pack(0, &all, s.element.into())?;
                let step = known.step;
                let which = self.bytes_of(|k| (k < 4 * step).then(|| k / step * 4 + k % step));
                self.a.v3(VPSHUFB, Width::Z, 0, 0, Opd::Mem(which), Lanes::All);
                self.move_groups(step, false);
                self.lanes_below(4 * step);
                self.a.store(STORE32, Width::Z, m, 0, Lanes::Of(5));
            }
        }
        Ok(())
    }

    /// Stores rows that are put together from elements' vectors.
    fn store_rows(&mut self, plan: &Plan, from: &[Opd], m: Mem) -> Result<(), Unsupported> {
        for (units, row) in plan.units.iter().zip(&plan.rows) {
            let to = m.plus(*row as u32);
            if self.streaming {
                self.a.m(Code::Prefetchw_m8, to.plus(self.ahead()));
            }
            let v = self.put_together(units, plan.unit, from, None)?;
            let whole = units.iter().all(Option::is_some);
            if !whole {
                let stored = units.iter().map(Option::is_some).zip(0..);
                self.lanes_in_mask(stored.fold(0, |m, (stored, k)| m | i32::from(stored) << k));
            }
            let lanes = if whole { Lanes::All } else { Lanes::Of(5) };
            self.a.store(STORE32, Width::of(4 * units.len() as u32), to, v, lanes);
        }
        Ok(())
    }

    /// The low bits of elements, so many bytes each, side by side in dwords.
    fn pack(&mut self, to: V, elements: &[(u32, RegOffset)], bytes: u32) -> Result<(), Unsupported> {
        for (k, (_, at)) in (0..).zip(elements) {
            let v = self.data_in(*at, 64, 5)?;
            let (w, bits) = (Width::Z, self.literal((1 << (8 * bytes)) - 1));
            let made = if k == 0 { to } else { 5 };
            let upper = 8 * bytes * (k + 1) == 32;
            if upper {
                self.a.v2i(VPSLLD, w, made, Opd::Reg(v), 8 * bytes * k, Lanes::All);
            } else {
                self.a.v3(VPANDD, w, made, v, Opd::Bcast(bits), Lanes::All);
                if k != 0 {
                    self.a.v2i(VPSLLD, w, made, Opd::Reg(made), 8 * bytes * k, Lanes::All);
                }
            }
            if k != 0 {
                self.a.v3(VPORD, w, to, to, Opd::Reg(made), Lanes::All);
            }
        }
        Ok(())
    }
}
