//! Gathers that load ahead: see [`super::row_streams`].

use super::memory::{Form, PTR, Way};
use super::row_streams::{
    BEHIND, COLUMNS, Column, NEXT, ROWS, SCALAR, SHIFT, STREAM, ScalarIndex, Stream, TILE, TILES, USED,
};
use super::site_reach::{SiteReach, site_reach};
use super::*;
use crate::asm::SlowPath;
use crate::context_layout::site;
use envisa_lower::Simt;

const FETCHED: u32 = 128;
/// The number of the first of four rows.
const ROW: Register = Register::R9;
/// Where its columns are stored, in dwords from the first tile's begin.
const TO: Register = Register::R10;
/// How far the place at hand is from its row's first one in a tile.
const BEFORE: Register = Register::ESI;

/// A part of a load.
struct Place {
    /// Its places.
    v: V,
    part: Part,
    /// The channels that load; `None`: all.
    on: Option<K>,
    /// Where in a context it is noted from which places on its rows are loaded.
    at: u32,
}

impl Emit<'_> {
    /// Where in a context the streams are.
    pub fn streams_at(&self) -> u32 {
        (self.symbols_at() + 8 * self.p.symbols().len() as u32).next_multiple_of(64)
    }

    fn stream_at(&self, k: usize) -> u32 {
        self.streams_at() + STREAM * k as u32
    }

    /// Nothing is loaded: of those of a loop that begins here, or of all of them.
    pub(super) fn forget_streams(&mut self, head: Option<Pc>) {
        self.forget(|s| head.is_none_or(|h| h == s.head));
    }

    /// The same of a load whose site may lead elsewhere from now on: what it has ahead is not of there. And of those with
    /// which a store shares a loop that the machine has done: it may have written what they have ahead.
    pub(super) fn forget_streams_of(&mut self, pc: Pc) {
        self.forget(|s| s.pc == pc || s.stores.contains(&pc));
    }

    fn forget(&mut self, of: impl Fn(&Stream) -> bool) {
        for k in 0..self.streams.len() {
            if of(&self.streams[k]) {
                self.nothing_ahead(k);
            }
        }
    }

    /// What comes next is the first of a tile that has to be loaded.
    fn nothing_ahead(&mut self, k: usize) {
        let at = self.stream_at(k);
        let next = Mem::at(CTX, at + NEXT);
        // `BEHIND` is the upper half.
        self.a.mi(Code::Mov_rm64_imm32, next, self.streams[k].column.tile() as i32);
    }

    /// The stream that a load is, if it is one.
    pub(super) fn stream(&self, pc: Pc) -> Option<usize> {
        self.streams.iter().position(|s| s.pc == pc)
    }

    /// The scalar that a load's places go on with, all channels being on, and how far indices are shifted to be places.
    fn scalar_index(&self, pc: Pc, form: Form) -> Option<(RegOffset, u32)> {
        let &Stream { column, led, .. } = &self.streams[self.stream(pc)?];
        let ScalarIndex { by, scalar } = led?;
        let whole = |pc: Pc| self.inst(pc).no_mask || self.all_active(pc);
        let plain = !form.wide && form.and.is_none() && form.added.is_none();
        let made = !self.deferred.skips(by) && !self.deferred.reads(by) && self.inst(pc).pred.offset == 0;
        // What somebody reads behind the load is there at the load.
        let kept = self.cells.at(scalar).is_some_and(|c| self.live.of_thread(pc + 1, c));
        (plain && made && kept && whole(by) && whole(pc) && column.step() % (1 << form.before) == 0)
            .then_some((scalar, form.before))
            .filter(|_| self.in_memory(scalar, 4).is_ok())
    }

    /// Dwords of rows that are loaded already, where it takes only a scalar to know that they are what comes next. Gives
    /// where other code may take them, and what else there is to do is put aside; `None` where places have to be looked at.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn take_by_scalar_index(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        parts: &[Part],
        data: RegOffset,
        done: Label,
    ) -> Result<Option<(Label, SlowPath)>, Unsupported> {
        let Some((k, (scalar, shift))) = self.stream(pc).zip(self.scalar_index(pc, form)) else {
            return Ok(None);
        };
        if !parts.iter().all(|part| self.goes_anywhere(i, s, form, part)) {
            return Ok(None);
        }
        let (at, column) = (self.stream_at(k), self.streams[k].column);
        let [take, look] = std::array::from_fn(|_| self.a.label());
        let scalar = self.reg(scalar);
        self.a.rm(Code::Mov_r32_rm32, Register::EAX, scalar);
        self.a.rm(Code::Sub_r32_rm32, Register::EAX, Mem::at(CTX, at + SCALAR));
        if shift != 0 {
            self.a.ri(Code::Shl_rm32_imm8, Register::EAX, shift as i32);
        }
        self.a.rm(Code::Cmp_r32_rm32, Register::EAX, Mem::at(CTX, at + NEXT));
        self.a.jump(Code::Jne_rel32_64, look);
        self.a.ri(Code::Cmp_rm32_imm32, Register::EAX, column.tile() as i32);
        self.a.jump(Code::Jae_rel32_64, look);
        self.a.bind(take);
        let all: Vec<(Part, Option<K>)> = parts.iter().map(|part| (*part, None)).collect();
        self.take(pc, i, form, &all, data, done)?;
        let aside = self.a.begin_slow_path(pc);
        self.a.bind(look);
        Ok(Some((take, aside)))
    }

    /// Keeps what the scalar is for the places of the first column: those of the load at hand are so far behind them.
    fn note_scalar(&mut self, pc: Pc, form: Form, before: Option<Register>) {
        let Some((k, (scalar, shift))) = self.stream(pc).zip(self.scalar_index(pc, form)) else { return };
        let to = Mem::at(CTX, self.stream_at(k) + SCALAR);
        let scalar = self.reg(scalar);
        self.a.rm(Code::Mov_r32_rm32, Register::EAX, scalar);
        if let Some(before) = before {
            let by = TO.full_register32();
            self.a.rr(Code::Mov_r32_rm32, by, before);
            self.a.ri(Code::Shr_rm32_imm8, by, shift as i32);
            self.a.rr(Code::Sub_r32_rm32, Register::EAX, by);
        }
        self.a.mr(Code::Mov_rm32_r32, to, Register::EAX);
    }

    /// Takes a column: `eax` has how far it is from the first one.
    fn take(
        &mut self,
        pc: Pc,
        i: &Inst,
        form: Form,
        all: &[(Part, Option<K>)],
        data: RegOffset,
        done: Label,
    ) -> Result<(), Unsupported> {
        let Some(k) = self.stream(pc) else { return Err("no stream") };
        let (at, column) = (self.stream_at(k), self.streams[k].column);
        let [next, behind, used] = [NEXT, BEHIND, USED].map(|field| Mem::at(CTX, at + field));
        let narrow = column.element < 4;
        if narrow {
            self.shift_of_element(at, column);
        }
        self.a.rr(Code::Mov_r32_rm32, Register::ESI, Register::EAX);
        if narrow {
            self.a.ri(Code::And_rm32_imm8, Register::ESI, -(4 / column.scale as i32));
        }
        self.a.ri(Code::Shl_rm32_imm8, Register::ESI, (ROWS * column.scale).trailing_zeros() as i32);
        self.a.rm(Code::Add_r32_rm32, Register::ESI, used);
        self.a.ri(Code::Add_rm32_imm8, Register::EAX, column.step() as i32);
        self.a.mr(Code::Mov_rm32_r32, next, Register::EAX);
        for &(part, on) in all {
            let m = Mem::indexed(CTX, Register::RSI, 1, i64::from(at + TILES + 64 * part.index));
            if column.element == 8 {
                self.take_quads(pc, &part, on, m, data)?;
                continue;
            }
            let to = data + 4 * part.lane;
            let lanes = self.load_lanes(pc, to, on);
            let home = self.home(to, 64).filter(|_| lanes.is_none());
            let v = home.unwrap_or(0);
            self.a.v2(VMOVDQU32, Width::Z, v, Opd::Mem(m), Lanes::All);
            if narrow {
                let shift = Mem::at(CTX, at + SHIFT);
                let mask = self.literal((1 << (8 * column.element)) - 1);
                self.a.v3(VPSRLVD, Width::Z, v, v, Opd::Bcast(shift), Lanes::All);
                self.a.v3(VPANDD, Width::Z, v, v, Opd::Bcast(mask), Lanes::All);
            }
            if home.is_none() {
                self.store_part(to, 0, 4, &part, lanes)?;
            }
        }
        // With every other column of dwords four rows of the tile behind are loaded, so that it is there behind the last one.
        self.a.ri(Code::Test_rm32_imm32, Register::ESI, 4 * ROWS as i32);
        self.a.jump(Code::Jne_rel32_64, done);
        self.a.mi(Code::Cmp_rm32_imm8, behind, 0);
        self.a.jump(Code::Je_rel32_64, done);
        if narrow {
            // With the first element of its dwords only.
            self.a.mi(Code::Cmp_rm32_imm8, Mem::at(CTX, at + SHIFT), 0);
            self.a.jump(Code::Jne_rel32_64, done);
        }
        let row = ROW.full_register32();
        self.a.rr(Code::Mov_r32_rm32, row, Register::ESI);
        self.a.ri(Code::And_rm32_imm32, row, (TILE - 4 * ROWS) as i32);
        self.a.ri(Code::Shr_rm32_imm8, row, (4 * ROWS / 2).trailing_zeros() as i32);
        if column.rows < ROWS {
            self.a.ri(Code::Cmp_rm32_imm8, row, column.rows as i32);
            self.a.jump(Code::Jae_rel32_64, done);
        }
        let pointer = self.site(i, site::POINTER);
        self.a.rm(Code::Mov_r64_rm64, PTR, pointer);
        self.a.rm(Code::Mov_r32_rm32, TO.full_register32(), used);
        self.a.ri(Code::Xor_rm32_imm32, TO.full_register32(), TILE as i32);
        self.load_rows(form, at, 4 * COLUMNS);
        Ok(())
    }

    /// Quads whose halves are in two columns of dwords, one behind the other.
    fn take_quads(
        &mut self,
        pc: Pc,
        part: &Part,
        on: Option<K>,
        low: Mem,
        data: RegOffset,
    ) -> Result<(), Unsupported> {
        self.a.v2(VMOVDQU32, Width::Z, 2, Opd::Mem(low), Lanes::All);
        self.a.v2(VMOVDQU32, Width::Z, 3, Opd::Mem(low.plus(4 * ROWS)), Lanes::All);
        for h in self.halves_on(pc, part) {
            let to = data + 8 * part.lane + 64 * h;
            let which = self.literals(std::array::from_fn(|k| 8 * h + k as u32 / 2 + 16 * (k as u32 % 2)));
            self.a.v2(VMOVDQU32, Width::Z, 0, Opd::Mem(which), Lanes::All);
            self.a.v3(VPERMI2D, Width::Z, 0, 2, Opd::Reg(3), Lanes::All);
            let half = self.mask_of_eight(on, h);
            let lanes = self.load_lanes(pc, to, on).and(half);
            let of_half = Part { lanes: 8, bytes: 8, width: Width::Z, ..*part };
            self.store_part(to, 0, 8, &of_half, lanes)?;
        }
        Ok(())
    }

    /// By how many bits the element that is `eax` from a tile's begin is shifted to the lowest bits of its dword.
    fn shift_of_element(&mut self, at: u32, column: Column) {
        self.a.rr(Code::Mov_r32_rm32, Register::ESI, Register::EAX);
        self.a.ri(Code::And_rm32_imm8, Register::ESI, 4 / column.scale as i32 - 1);
        self.a.ri(Code::Shl_rm32_imm8, Register::ESI, (8 * column.scale).trailing_zeros() as i32);
        self.a.mr(Code::Mov_rm32_r32, Mem::at(CTX, at + SHIFT), Register::ESI);
    }

    /// Elements from anywhere: what is loaded already, or is loaded with the next ones of its rows. Goes to `done` then, which
    /// is to be bound where the code goes on; what else there is to do is put aside. What is loaded already has passed the
    /// site, and is as it has to be aligned, so that places where it is expected need not be looked at again; but those of
    /// 64 bits have to have passed the site, as they are known by their low halves.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn take_ahead(
        &mut self,
        pc: Pc,
        i: &Inst,
        form: Form,
        align: u32,
        parts: &[Part],
        ways: &[Way],
        (data, done): (RegOffset, Label),
        led: Option<(Label, SlowPath)>,
    ) -> Result<Option<SlowPath>, Unsupported> {
        let Some(k) = self.stream(pc) else { return Ok(None) };
        let places: Vec<V> =
            ways.iter().filter_map(|way| if let Way::Any(v) = way { Some(*v) } else { None }).collect();
        if places.len() != parts.len() {
            return if led.is_some() { Err("a row stream without addresses") } else { Ok(None) };
        }
        let (at, column) = (self.stream_at(k), self.streams[k].column);
        let all: Vec<Place> = parts
            .iter()
            .zip(places)
            .map(|(part, v)| Place {
                v,
                part: *part,
                on: self.transfer_mask(pc, part),
                at: at + 64 * part.index,
            })
            .collect();
        let [next, behind, used] = [NEXT, BEHIND, USED].map(|field| Mem::at(CTX, at + field));
        let [fill, look, last, other] = std::array::from_fn(|_| self.a.label());
        let last_mask = 5 + all.len() as K - 1;
        for (n, &Place { v, on, at, .. }) in all.iter().enumerate() {
            self.a.v3(VPSUBD, Width::Z, n as V, v, Opd::Mem(Mem::at(CTX, at)), Lanes::All);
            self.a.vcmp(VPCMPUD, Width::Z, 5 + n as K, n as V, Opd::Bcast(next), 4, on);
        }
        self.a.kk(Code::VEX_Kortestw_kr_kr, 5, last_mask);
        self.a.jump(Code::Jne_rel32_64, other);
        self.a.rm(Code::Mov_r32_rm32, Register::EAX, next);
        self.a.ri(Code::Cmp_rm32_imm32, Register::EAX, column.tile() as i32);
        self.a.jump(Code::Jae_rel32_64, fill);
        let (take, aside) = match led {
            Some((take, aside)) => {
                self.a.jmp(take);
                (take, aside)
            }
            None => {
                let take = self.a.label();
                self.a.bind(take);
                let all: Vec<(Part, Option<K>)> = all.iter().map(|p| (p.part, p.on)).collect();
                self.take(pc, i, form, &all, data, done)?;
                (take, self.a.begin_slow_path(pc))
            }
        };
        // Everything is inside, also so far ahead, and also of channels that are off.
        self.a.bind(fill);
        let count = self.site(i, site::COUNT);
        self.a.mi(Code::Cmp_rm32_imm8, behind, 0);
        self.a.jump(Code::Jne_rel32_64, last);
        self.stores_apart(i, form, k, other)?;
        // From where the first row's line begins, if that is inside: rows that are a multiple of a line apart then take one
        // line each.
        let pointer = self.site(i, site::POINTER);
        self.after_line_begin(form, pointer, (all[0].v, column.element));
        let [inside, beyond] = std::array::from_fn(|_| self.a.label());
        self.a.bind(inside);
        self.tiles_inside(&all, (count, column), align, (beyond, other));
        self.note_scalar(pc, form, Some(BEFORE));
        self.load_all_rows(form, at, column.rows);
        self.a.rr(Code::Test_rm32_r32, BEFORE, BEFORE);
        self.a.jump(Code::Je_rel32_64, look);
        // With the columns that are left, not all rows of the tile behind would be loaded.
        self.a.rr(Code::Mov_r32_rm32, Register::EAX, BEFORE);
        self.a.jmp(take);
        self.a.bind(beyond);
        self.a.rr(Code::Test_rm32_r32, BEFORE, BEFORE);
        self.a.jump(Code::Je_rel32_64, other);
        self.a.rr(Code::Xor_r32_rm32, BEFORE, BEFORE);
        self.a.jmp(inside);
        // The tile behind has been loaded.
        self.a.bind(last);
        self.next_tile(&all, column);
        self.a.mi(Code::Xor_rm32_imm32, used, TILE as i32);
        self.note_scalar(pc, form, None);
        // Is the one behind inside?
        self.a.bind(look);
        self.look_behind(&all, (count, column), behind);
        self.a.rr(Code::Xor_r32_rm32, Register::EAX, Register::EAX);
        self.a.jmp(take);
        self.a.bind(other);
        Ok(Some(aside))
    }

    /// Goes to `other` if a store of the loop may reach the memory that the load may: both by their sites.
    fn stores_apart(&mut self, i: &Inst, form: Form, k: usize, other: Label) -> Result<(), Unsupported> {
        let stores = self.streams[k].stores.clone();
        let [begin, end] = [Register::R9, Register::R10];
        if !stores.is_empty() {
            let element = self.streams[k].column.element;
            let of = SiteReach { count: site::COUNT, scale: form.scale, bytes: element };
            self.reached(i, of, [begin, end]);
        }
        for pc in stores {
            let i = *self.inst(pc);
            let Some(of) = self.p.messages().get(i.aux as usize) else { return Err("no store") };
            let of = match site_reach(self.p, of) {
                Ok(of) => of,
                // The machine does it.
                Err(_) => continue,
            };
            let apart = self.a.label();
            self.reached(&i, of, [Register::RAX, Register::RSI]);
            self.a.rr(Code::Cmp_r64_rm64, Register::RAX, end);
            self.a.jump(Code::Jae_rel32_64, apart);
            self.a.rr(Code::Cmp_r64_rm64, Register::RSI, begin);
            self.a.jump(Code::Ja_rel32_64, other);
            self.a.bind(apart);
        }
        Ok(())
    }

    /// The first byte that accesses by a site may reach and the one behind the last.
    fn reached(&mut self, i: &Inst, of: SiteReach, [begin, end]: [Register; 2]) {
        let SiteReach { count, scale, bytes } = of;
        let (pointer, count_at) = (self.site(i, site::POINTER), self.site(i, count));
        match count {
            site::COUNT => self.a.rm(Code::Mov_r32_rm32, end.full_register32(), count_at),
            _ => self.a.rm(Code::Mov_r64_rm64, end, count_at),
        }
        self.a.rm(Code::Mov_r64_rm64, begin, pointer);
        if scale > 1 {
            self.a.ri(Code::Shl_rm64_imm8, end, scale.trailing_zeros() as i32);
        }
        self.a.rr(Code::Add_r64_rm64, end, begin);
        self.a.ri(Code::Add_rm64_imm32, end, bytes as i32 - scale as i32);
    }

    /// How far a place is from where its line begins, to [`BEFORE`]: so many whole elements, and whole dwords.
    fn after_line_begin(&mut self, form: Form, pointer: Mem, (place, element): (V, u32)) {
        self.a.rm(Code::Mov_r64_rm64, PTR, pointer);
        let line_bits = form.scale.trailing_zeros() as i32;
        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, BEFORE, vector_register(place, Width::X));
        self.a.ri(Code::Shl_rm32_imm8, BEFORE, line_bits);
        self.a.rr(Code::Add_r32_rm32, BEFORE, PTR.full_register32());
        self.a.ri(Code::And_rm32_imm32, BEFORE, (4 * COLUMNS - element.max(4)) as i32);
        self.a.ri(Code::Shr_rm32_imm8, BEFORE, line_bits);
    }

    /// Puts aside where the rows of a tile begin, [`BEFORE`] ahead of their places. Goes to `beyond` where not all of their
    /// columns are inside, and to `other` where they are not aligned.
    fn tiles_inside(
        &mut self,
        all: &[Place],
        (count, column): (Mem, Column),
        align: u32,
        (beyond, other): (Label, Label),
    ) {
        let ends = self.literal(column.tile() - column.step());
        self.a.rr(SPREAD[Width::Z as usize], vector_register(5, Width::Z), BEFORE);
        for &Place { v, .. } in all {
            self.a.v3(VPSUBD, Width::Z, 0, v, Opd::Reg(5), Lanes::All);
            self.a.vcmp(VPCMPUD, Width::Z, 5, 0, Opd::Bcast(count), 5, None);
            self.a.v3(VPADDD, Width::Z, 0, 0, Opd::Bcast(ends), Lanes::All);
            self.a.vcmp(VPCMPUD, Width::Z, 6, 0, Opd::Bcast(count), 5, None);
            self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 6);
            self.a.jump(Code::Jne_rel32_64, beyond);
            if align > 1 {
                let low = self.literal(align - 1);
                self.a.v3(VPANDD, Width::Z, 0, v, Opd::Bcast(low), Lanes::All);
                self.a.v3(VPXORD, Width::Z, 1, 1, Opd::Reg(1), Lanes::All);
                self.a.vcmp(VPCMPUD, Width::Z, 5, 0, Opd::Reg(1), 4, None);
                self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 5);
                self.a.jump(Code::Jne_rel32_64, other);
            }
        }
        for &Place { v, at, .. } in all {
            self.a.v3(VPSUBD, Width::Z, 0, v, Opd::Reg(5), Lanes::All);
            self.a.store(STORE32, Width::Z, Mem::at(CTX, at), 0, Lanes::All);
        }
    }

    /// Loads a tile: its rows, four at a time.
    fn load_all_rows(&mut self, form: Form, at: u32, rows: u32) {
        let used = Mem::at(CTX, at + USED);
        let row = ROW.full_register32();
        let again = self.a.label();
        self.a.rr(Code::Xor_r32_rm32, row, row);
        self.a.bind(again);
        self.a.rm(Code::Mov_r32_rm32, TO.full_register32(), used);
        self.load_rows(form, at, 0);
        self.a.ri(Code::Add_rm32_imm8, row, 4);
        self.a.ri(Code::Cmp_rm32_imm8, row, rows as i32);
        self.a.jump(Code::Jb_rel32_64, again);
    }

    /// Rows begin where those of the tile behind do.
    fn next_tile(&mut self, all: &[Place], column: Column) {
        let columns = self.literal(column.tile());
        for &Place { at, .. } in all {
            self.a.v2(VMOVDQU32, Width::Z, 0, Opd::Mem(Mem::at(CTX, at)), Lanes::All);
            self.a.v3(VPADDD, Width::Z, 0, 0, Opd::Bcast(columns), Lanes::All);
            self.a.store(STORE32, Width::Z, Mem::at(CTX, at), 0, Lanes::All);
        }
    }

    /// Notes in `behind` whether all columns of the tile behind are inside.
    fn look_behind(&mut self, all: &[Place], (count, column): (Mem, Column), behind: Mem) {
        let ends_behind = self.literal(2 * column.tile() - column.step());
        for (n, &Place { at, .. }) in all.iter().enumerate() {
            self.a.v2(VMOVDQU32, Width::Z, 0, Opd::Mem(Mem::at(CTX, at)), Lanes::All);
            self.a.v3(VPADDD, Width::Z, 0, 0, Opd::Bcast(ends_behind), Lanes::All);
            self.a.vcmp(VPCMPUD, Width::Z, 5 + n as K, 0, Opd::Bcast(count), 5, None);
        }
        self.a.rr(Code::Xor_r32_rm32, Register::EAX, Register::EAX);
        self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 5 + all.len() as K - 1);
        self.a.r(Code::Sete_rm8, Register::AL);
        self.a.mr(Code::Mov_rm32_r32, behind, Register::EAX);
    }

    /// Of a load that is done by itself: the next one is the first that is loaded ahead.
    pub(super) fn expect_next(&mut self, pc: Pc, part: &Part, v: V) {
        let Some(k) = self.stream(pc) else { return };
        let column = self.streams[k].column;
        let last = self.literal(column.tile() - column.step());
        self.a.v3(VPSUBD, Width::Z, 0, v, Opd::Bcast(last), Lanes::All);
        let here = Mem::at(CTX, self.stream_at(k) + 64 * part.index);
        self.a.store(STORE32, Width::Z, here, 0, Lanes::All);
        self.nothing_ahead(k);
    }

    /// Loads sixteen dwords of four rows each, so many bytes behind their places, and stores them by columns: of four rows
    /// each quarter of a vector has four.
    fn load_rows(&mut self, form: Form, at: u32, behind: u32) {
        self.a.ri(Code::Shr_rm32_imm8, TO.full_register32(), 2);
        self.a.rr(Code::Add_r32_rm32, TO.full_register32(), ROW.full_register32());
        for r in 0..4 {
            let place = Mem::indexed(CTX, ROW, 4, i64::from(at + 4 * r));
            self.a.rm(Code::Mov_r32_rm32, Register::EAX, place);
            let row = Mem::indexed(PTR, Register::RAX, form.scale, i64::from(behind));
            self.a.v2(VMOVDQU32, Width::Z, r as V, Opd::Mem(row), Lanes::All);
            self.a.m(Code::Prefetcht1_m8, row.plus(FETCHED));
        }
        let columns = self.transpose(Width::Z, [0, 1, 2, 3]);
        for (c, v) in (0..).zip(columns) {
            for quarter in 0..4 {
                let column = 4 * ROWS * (4 * quarter + c);
                let m = Mem::indexed(CTX, TO, 4, i64::from(at + TILES + column));
                self.a.store_quarter(m, v, quarter, Lanes::All);
            }
        }
    }
}
