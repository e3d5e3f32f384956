//! Instructions some of whose operands are found by address registers: their elements are brought to a row of their
//! own, by which the instruction is done as any other, and what it makes is put from there to where they point.

use envisa_lower::{REGISTER_PADDING, Strides};

use super::gather::Places;
use super::per_channel::{Array, PLACE};
use super::*;

/// An operand that is found by address registers.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// The first address register.
    pub address: RegOffset,
    /// What is added to each.
    bytes: i16,
    /// Channels of each.
    per: u32,
    strides: Strides,
    /// Does the region begin at each address?
    anew: bool,
    /// Bytes of an element.
    pub size: u32,
}

impl Found {
    pub fn source(s: &Src) -> Option<Found> {
        let Src::Indirect { address, bytes, per_address_log2, ty, strides, .. } = *s else { return None };
        Some(Found {
            address,
            bytes,
            per: 1 << per_address_log2.min(5),
            strides,
            anew: true,
            size: ty.size(),
        })
    }

    pub fn destination(d: &Dst) -> Option<Found> {
        let Dst::Indirect { address, bytes, per_address_log2, ty, stride, .. } = *d else { return None };
        let strides = Strides { vertical: stride, width_log2: 0, horizontal: stride };
        Some(Found {
            address,
            bytes,
            per: 1 << per_address_log2.min(5),
            strides,
            anew: false,
            size: ty.size(),
        })
    }

    /// Have so many channels one address?
    pub fn single(self, channels: u32) -> bool {
        self.per >= channels
    }

    /// The address register of a channel.
    fn word(self, channel: u32) -> RegOffset {
        self.address + 2 * (channel / self.per)
    }

    /// From a channel's address to its element, which hardware adds in 16 bits.
    fn plus(self, channel: u32) -> u32 {
        self.inside(channel).wrapping_add(self.bytes as u16 as u32) & 0xffff
    }

    /// The same without what is added to all.
    fn inside(self, channel: u32) -> u32 {
        self.strides.element(if self.anew { channel % self.per } else { channel }) * self.size
    }

    /// How the elements of so many channels lie, if they have one address.
    fn shape(self, channels: u32) -> Option<Shape> {
        self.single(channels).then(|| self.strides.shape(channels))
    }
}

/// The vector of a block's places.
const PLACES: V = 6;
/// A datum of one element, and how it is moved.
const DATUM: [Register; 4] = [Register::DL, Register::DX, Register::EDX, Register::RDX];
const LOAD: [Code; 4] = [Code::Movzx_r32_rm8, Code::Movzx_r32_rm16, Code::Mov_r32_rm32, Code::Mov_r64_rm64];
const STORE: [Code; 4] = [Code::Mov_rm8_r8, Code::Mov_rm16_r16, Code::Mov_rm32_r32, Code::Mov_rm64_r64];

fn load(size: u32) -> (Code, Register) {
    let k = size.trailing_zeros() as usize;
    (LOAD[k], DATUM[k.max(2)])
}

fn store(size: u32) -> (Code, Register) {
    let k = size.trailing_zeros() as usize;
    (STORE[k], DATUM[k])
}

/// Elements side by side.
fn row(at: RegOffset, n: u32) -> (RegOffset, Strides, Shape) {
    match n {
        1 => (at, Strides::SCALAR, Shape::Scalar),
        _ => (at, Strides::CONTIGUOUS, Shape::Contiguous),
    }
}

impl Emit<'_> {
    /// An instruction with such operands. What points outside of variables goes the slow way, which faults.
    pub(super) fn indirect_instruction(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        let n = u32::from(i.channels);
        if n < 8 {
            self.certain(pc)?;
        }
        if i.dst2 != 0 || matches!(i.op, Op::Addc | Op::Subb) {
            return Err("two results, found by address registers");
        }
        let (entry, back) = (self.a.label(), self.a.label());
        // The register file has room behind its last variable.
        let (mut at, end) = (self.p.registers().bytes - REGISTER_PADDING, self.p.registers().bytes);
        let mut room = |bytes: u32| {
            let first = at;
            at += bytes.next_multiple_of(64);
            (at <= end).then_some(first).ok_or("many operands found by address registers")
        };
        let mut j = *i;
        let to = Found::destination(&j.dst);
        let mut made = None;
        for s in &mut j.src {
            let Some(f) = Found::source(s) else { continue };
            let Src::Indirect { ty, modifier, .. } = *s else { continue };
            let n = if f.shape(n) == Some(Shape::Scalar) { 1 } else { n };
            let at = room(n * f.size)?;
            if n == u32::from(i.channels) && to.is_some_and(|to| to.size <= f.size) {
                // What is made of elements may take the place of these: those behind them are not in it.
                made = Some(at);
            }
            self.fetch(pc, (i, n), f, at, entry)?;
            let (offset, strides, shape) = row(at, n);
            *s = Src::Reg { offset, ty, strides, shape, modifier, constant: false };
        }
        let mut put = None;
        if let (Some(f), Dst::Indirect { ty, sat, .. }) = (to, j.dst) {
            // All addresses are looked at before anything is written.
            self.all_inside(pc, i, f, entry)?;
            let made = made.map_or_else(|| room(n * f.size), Ok)?;
            put = Some((f, made));
            j.dst = Dst::Reg { offset: made, ty, stride: 1, sat };
        }
        let j = super::alu::as_words(&j);
        self.mode_allows(&j)?;
        // Who finds that an address is no variable's leaves the code, which is only done rounding to nearest.
        if self.rounds_otherwise(&j) {
            return Err("operands found by address registers, in another floating-point mode");
        }
        let before = (self.a.here(), self.later.len());
        let done = match put {
            Some((_, made)) if n >= 8 => self.make_row(pc, &j, made),
            _ => self.vectors(pc, j),
        };
        done.or_else(|why| {
            if n == 1 {
                return Err(why);
            }
            self.a.back(before.0);
            self.later.truncate(before.1);
            self.few(pc, &j).map_err(|_| why)
        })?;
        if let Some((f, made)) = put {
            self.put_row(pc, i, f, made)?;
        }
        self.a.bind(back);
        self.later.push(Later::Miss { pc, entry, back });
        Ok(())
    }

    /// Sixteen channels at a time, or eight.
    fn blocks(&self, i: &Inst) -> Result<Vec<Part>, Unsupported> {
        self.parts(i, 4)
    }

    /// The channels of a block whose elements are touched; `None` for all.
    fn touching(&mut self, pc: Pc, i: &Inst, part: &Part) -> Result<Option<K>, Unsupported> {
        if i.op != Op::Sel || i.no_mask || self.all_active(pc) {
            return if i.op == Op::Sel { Ok(None) } else { self.on(pc, part) };
        }
        // The predicate picks.
        let (k, e) = (super::memory::ON[part.index as usize & 1], self.exec(part));
        self.a.kkk(Code::VEX_Korw_kr_kr_kr, k, e, e);
        if part.lanes == 8 {
            self.a.rri(Code::VEX_Kshiftlw_kr_kr_imm8, mask_register(k), mask_register(k), 8);
            self.a.rri(Code::VEX_Kshiftrw_kr_kr_imm8, mask_register(k), mask_register(k), 8);
        }
        Ok(Some(k))
    }

    /// Lets the register file have these bytes, wherever they are.
    fn in_file(&mut self, at: RegOffset, bytes: u32) {
        let mut p = at;
        while p < at + bytes {
            let Some(id) = self.cells.at(p) else {
                p += 1;
                continue;
            };
            self.spill(id);
            let c = self.cells.get(id);
            p = c.offset + c.bytes;
        }
    }

    /// Leaves in `rdi` where an address points, counted from the first variable that addresses may name.
    fn place(&mut self, word: RegOffset, plus: u32) {
        self.in_file(word, 2);
        let m = self.reg(word);
        self.a.rm(Code::Movzx_r32_rm16, PLACE[0], m);
        if plus != 0 {
            self.a.ri(Code::Add_rm32_imm32, PLACE[0], plus as i32);
            self.a.rr(Code::Movzx_r32_rm16, PLACE[0], Register::DI);
        }
    }

    /// The same of so many bytes that are one variable's, else it goes to `entry`.
    fn place_inside(&mut self, word: RegOffset, plus: u32, bytes: u32, entry: Label) {
        self.place(word, plus);
        let chunks = self.p.registers().address_homes.len() as u32;
        let ends = self.ends();
        self.a.rr(Code::Mov_r32_rm32, Register::ESI, PLACE[0]);
        self.a.ri(Code::Shr_rm32_imm8, Register::ESI, 6);
        self.a.ri(Code::Cmp_rm32_imm32, Register::ESI, chunks as i32);
        self.a.jump(Code::Jae_rel32_64, entry);
        let end = Mem::indexed(CTX, Register::RSI, 4, ends.disp);
        self.a.rm(Code::Mov_r32_rm32, Register::ESI, end);
        self.a.ri(Code::Sub_rm32_imm32, Register::ESI, bytes as i32);
        // An end may be closer to the first byte than that.
        self.a.jump(Code::Jb_rel32_64, entry);
        self.a.rr(Code::Cmp_r32_rm32, PLACE[0], Register::ESI);
        self.a.jump(Code::Ja_rel32_64, entry);
    }

    /// Where the variable ends that each chunk of addresses belongs to, zero if there is none; and a zero behind them.
    fn ends(&mut self) -> Mem {
        let homes = &self.p.registers().address_homes;
        let at = *self.ends.get_or_insert_with(|| {
            self.pool.extend(homes.iter().map(|h| h.1).chain([0]));
            self.pool.len() as u32 - homes.len() as u32 - 1
        });
        Mem::at(CTX, self.pool_at() + 4 * at)
    }

    /// Where in a context these are.
    pub(super) fn ends_range(&self) -> Range<u32> {
        let n = self.p.registers().address_homes.len() as u32 + 1;
        self.ends.map_or(0..0, |at| self.pool_at() + 4 * at..self.pool_at() + 4 * (at + n))
    }

    /// Leaves in a vector where the elements of a block are; goes to `entry` where one is in no variable.
    pub(super) fn places(
        &mut self,
        f: Found,
        part: &Part,
        v: V,
        on: Option<K>,
        entry: Option<Label>,
    ) -> Result<(), Unsupported> {
        let w = part.width;
        let at = f.word(part.lane);
        if f.per >= part.lanes {
            self.in_file(at, 2);
            let m = self.reg(at);
            self.a.rm(Code::Movzx_r32_rm16, Register::EAX, m);
            self.a.rr(SPREAD[w as usize], vector_register(v, w), Register::EAX);
        } else {
            let words = 2 * part.lanes / f.per;
            let from = match f.per {
                1 => self.convertible(at, words, v).ok(),
                _ => None,
            };
            let from = from.unwrap_or_else(|| {
                self.in_file(at, words);
                Opd::Mem(self.reg(at))
            });
            self.a.v2(VPMOVZXWD, w, v, from, Lanes::All);
            if f.per > 1 {
                let which = self.literals(std::array::from_fn(|k| k as u32 / f.per));
                self.a.v2(VMOVDQU32, Width::Z, 1, Opd::Mem(which), Lanes::All);
                self.a.v3(VPERMD, Width::Z, v, 1, Opd::Reg(v), Lanes::All);
            }
        }
        let plus = |k: usize| f.plus(part.lane + k as u32 % part.lanes);
        if (0..16).any(|k| plus(k) != 0) {
            let add = self.literals(std::array::from_fn(plus));
            self.a.v3(VPADDD, w, v, v, Opd::Mem(add), Lanes::All);
            let low = self.literal(0xffff);
            self.a.v3(VPANDD, w, v, v, Opd::Bcast(low), Lanes::All);
        }
        let Some(entry) = entry else { return Ok(()) };
        if let Some(aim) = self.aim(self.now, f.address).filter(|aim| aim.end - aim.start >= f.size) {
            // Those of one variable, as nearly all are. What lies in another one is the machine's.
            let mut from = v;
            if aim.start != 0 {
                let start = self.literal(aim.start);
                self.a.v3(VPSUBD, w, 1, v, Opd::Bcast(start), Lanes::All);
                from = 1;
            }
            let last = self.literal(aim.end - aim.start - f.size);
            self.a.vcmp(VPCMPUD, w, 5, from, Opd::Bcast(last), 6, on);
            self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 5);
            self.a.jump(Code::Jne_rel32_64, entry);
            return Ok(());
        }
        let chunks = self.p.registers().address_homes.len() as u32;
        let (most, ends) = (self.literal(chunks), self.ends());
        self.a.v2i(VPSRLD, w, 1, Opd::Reg(v), 6, Lanes::All);
        self.a.v3(VPMINUD, w, 1, 1, Opd::Bcast(most), Lanes::All);
        self.a.kkk(Code::VEX_Kxnorw_kr_kr_kr, 5, 5, 5);
        self.a.v3(VPXORD, w, 2, 2, Opd::Reg(2), Lanes::All);
        let m = Mem::indexed(CTX, Register::None, 4, ends.disp);
        self.a.gather(VPGATHERDD, w, 2, m, 1, 5);
        let size = self.literal(f.size);
        self.a.v3(VPADDD, w, 1, v, Opd::Bcast(size), Lanes::All);
        self.a.vcmp(VPCMPUD, w, 5, 1, Opd::Reg(2), 6, on);
        self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 5);
        self.a.jump(Code::Jne_rel32_64, entry);
        Ok(())
    }

    /// Goes to `entry` unless all elements that an instruction touches are inside of variables.
    fn all_inside(&mut self, pc: Pc, i: &Inst, f: Found, entry: Label) -> Result<(), Unsupported> {
        let n = u32::from(i.channels);
        if let Some(Shape::Scalar | Shape::Contiguous) = f.shape(n) {
            self.place_inside(f.word(0), f.plus(0), f.inside(n - 1) + f.size, entry);
            return Ok(());
        }
        if n < 8 {
            (0..n).for_each(|k| self.place_inside(f.word(k), f.plus(k), f.size, entry));
            return Ok(());
        }
        for part in &self.blocks(i)? {
            let on = self.touching(pc, i, part)?;
            self.places(f, part, PLACES, on, Some(entry))?;
        }
        Ok(())
    }

    fn pointed_base(&self) -> i64 {
        i64::from(self.p.registers().address_base)
    }

    /// Brings the elements of the first channels of a source to a row; goes to `entry` where one that is read is in no
    /// variable.
    fn fetch(
        &mut self,
        pc: Pc,
        (i, n): (&Inst, u32),
        f: Found,
        to: RegOffset,
        entry: Label,
    ) -> Result<(), Unsupported> {
        let place = Mem::indexed(REGS, PLACE[1], 1, self.pointed_base());
        if n == 1 || f.shape(n) == Some(Shape::Contiguous) {
            self.place_inside(f.word(0), f.plus(0), n * f.size, entry);
            self.copy_bytes(n * f.size, (REGS, to), place, false);
            return Ok(());
        }
        if n < 8 {
            for k in 0..n {
                self.place_inside(f.word(k), f.plus(k), f.size, entry);
                self.copy_bytes(f.size, (REGS, to + k * f.size), place, false);
            }
            return Ok(());
        }
        for part in &self.blocks(i)? {
            let on = self.touching(pc, i, part)?;
            self.places(f, part, PLACES, on, Some(entry))?;
            let m = Mem::indexed(REGS, Register::None, 1, self.pointed_base());
            let to = self.reg(to + f.size * part.lane);
            let w = part.width;
            if f.size == 8 {
                for h in 0..part.lanes / 8 {
                    let mut index = PLACES;
                    if h == 1 {
                        let extract = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
                        self.a.rri(
                            extract,
                            vector_register(2, Width::Y),
                            vector_register(PLACES, Width::Z),
                            1,
                        );
                        index = 2;
                    }
                    // Of the mask's bits the low eight count.
                    match on {
                        Some(on) => self.a.rri(
                            Code::VEX_Kshiftrw_kr_kr_imm8,
                            mask_register(5),
                            mask_register(on),
                            8 * h as i32,
                        ),
                        None => self.a.kkk(Code::VEX_Kxnorw_kr_kr_kr, 5, 5, 5),
                    }
                    self.a.v3(VPXORD, Width::Z, 0, 0, Opd::Reg(0), Lanes::All);
                    self.a.gather(VPGATHERDQ, Width::Z, 0, m, index, 5);
                    self.a.store(STORE32, Width::Z, to.plus(64 * h), 0, Lanes::All);
                }
                continue;
            }
            // Behind the last variable there are bytes for a whole dword.
            let plus = self.p.registers().address_base;
            self.load_dwords(part, Places { base: REGS, index: PLACES, scale: 1, plus }, on);
            match f.size {
                4 => self.a.store(STORE32, w, to, 0, Lanes::All),
                2 => self.a.store(VPMOVDW, w, to, 0, Lanes::All),
                _ => self.a.store(VPMOVDB, w, to, 0, Lanes::All),
            }
        }
        Ok(())
    }

    /// Copies bytes between a row and a place; `back`: from the row.
    fn copy_bytes(&mut self, bytes: u32, (base, at): (Register, u32), place: Mem, back: bool) {
        let mut done = 0;
        while done < bytes {
            let row = Mem::at(base, at + done);
            let place = place.plus(done);
            let (from, to) = if back { (row, place) } else { (place, row) };
            let n = match bytes - done {
                64.. => 64,
                32.. => 32,
                16.. => 16,
                rest => 1 << rest.ilog2(),
            };
            if n >= 16 {
                let w = Width::of(n);
                self.a.v2(VMOVDQU32, w, 0, Opd::Mem(from), Lanes::All);
                self.a.store(STORE32, w, to, 0, Lanes::All);
            } else {
                let ((load, wide), (store, datum)) = (load(n), store(n));
                self.a.rm(load, wide, from);
                self.a.mr(store, to, datum);
            }
            done += n;
        }
    }

    /// Computes all channels of an instruction, whichever run, into a row that nothing else knows of.
    fn make_row(&mut self, pc: Pc, i: &Inst, to: RegOffset) -> Result<(), Unsupported> {
        let i = super::alu::extend_sources(*i);
        let Dst::Reg { ty, sat, .. } = i.dst else { return Err("an unusual destination") };
        let bytes = super::alu::exec_bytes(i.exec)?;
        let same = ty.size() == bytes && ty.is_float() == super::alu::is_float(i.exec);
        for part in &self.parts(&i, bytes)? {
            let mut v = self.value(pc, &i, part, 0, Lanes::All)?;
            if !same || sat || i.exec == ExecType::F16 {
                v = self.converted(&i, v, (ty, sat), part, 0)?;
            }
            let m = self.reg(to + ty.size() * part.lane);
            match part.lanes * ty.size() {
                8 => self.a.mr(Code::EVEX_Vmovq_rm64_xmm, m, vector_register(v, Width::X)),
                n => self.a.store(STORE32, Width::of(n), m, v, Lanes::All),
            }
        }
        Ok(())
    }

    /// Puts the elements of a row to where those of the channels that run are.
    fn put_row(&mut self, pc: Pc, i: &Inst, f: Found, from: RegOffset) -> Result<(), Unsupported> {
        let n = u32::from(i.channels);
        let place = Mem::indexed(REGS, PLACE[1], 1, self.pointed_base());
        if n < 8 {
            for k in 0..n {
                self.place(f.word(k), f.plus(k));
                self.copy_bytes(f.size, (REGS, from + k * f.size), place, true);
            }
            return Ok(());
        }
        for part in &self.blocks(i)? {
            let on = self.touching(pc, i, part)?;
            let at = f.size * part.lane;
            if f.shape(n) == Some(Shape::Contiguous) && (on.is_none() || f.size <= 4) {
                self.place(f.word(0), f.plus(0));
                match on {
                    None => self.copy_bytes(f.size * part.lanes, (REGS, from + at), place.plus(at), true),
                    Some(k) => self.merge(f.size, part, self.reg(from + at), place.plus(at), k),
                }
                continue;
            }
            self.places(f, part, PLACES, None, None)?;
            self.a.store(STORE32, part.width, Array::Places.all(), PLACES, Lanes::All);
            let done = self.a.label();
            if let Some(on) = on {
                let some = self.a.label();
                self.all_lanes(part, on, some);
                self.put_lanes(part, f.size, from + at, place);
                self.a.jmp(done);
                self.a.bind(some);
                let ((load, wide), (store, datum)) = (load(f.size), store(f.size));
                let element = Mem::indexed(REGS, Register::R9, f.size, i64::from(from + at));
                self.each(part, Some(on), |e| {
                    e.a.rm(Code::Mov_r32_rm32, PLACE[0], Array::Places.one(4));
                    e.a.rm(load, wide, element);
                    e.a.mr(store, place, datum);
                    Ok(())
                })?;
            } else {
                self.put_lanes(part, f.size, from + at, place);
            }
            self.a.bind(done);
        }
        Ok(())
    }

    /// Goes to `some` unless all of a part's lanes are in a mask.
    fn all_lanes(&mut self, part: &Part, on: K, some: Label) {
        self.a.rr(Code::VEX_Kmovw_r32_kr, Register::EAX, mask_register(on));
        self.a.ri(Code::Cmp_rm32_imm32, Register::EAX, (1 << part.lanes) - 1);
        self.a.jump(Code::Jne_rel32_64, some);
    }

    /// Puts the elements of all lanes from a row to their places, which the context has.
    fn put_lanes(&mut self, part: &Part, size: u32, from: RegOffset, place: Mem) {
        let ((load, wide), (store, datum)) = (load(size), store(size));
        for lane in 0..part.lanes {
            self.a.rm(Code::Mov_r32_rm32, PLACE[0], Array::Places.all().plus(4 * lane));
            self.a.rm(load, wide, Mem::at(REGS, from + size * lane));
            self.a.mr(store, place, datum);
        }
    }

    /// Overwrites the elements of a mask, as dwords if they are narrower.
    fn merge(&mut self, size: u32, part: &Part, from: Mem, to: Mem, k: K) {
        let w = part.width;
        let (wider, narrower) = match size {
            4 => (VMOVDQU32, STORE32),
            2 => (VPMOVZXWD, VPMOVDW),
            _ => (VPMOVZXBD, VPMOVDB),
        };
        self.a.v2(wider, w, 0, Opd::Mem(from), Lanes::All);
        self.a.v2(wider, w, 1, Opd::Mem(to), Lanes::All);
        self.a.v2(VMOVDQU32, w, 1, Opd::Reg(0), Lanes::Of(k));
        self.a.store(narrower, w, to, 1, Lanes::All);
    }
}
