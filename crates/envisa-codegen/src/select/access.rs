//! Accesses of memory: guards, and what is done where they let pass.

use envisa_lower::{Message, Simt};
use envisa_vir::{Access, AccessKind, Elem, InstId, Type, Value, Window};
use iced_x86::{Code, ConditionCode};

use super::place::Form;
use super::{Held, Select, Unsupported};
use crate::inst::{Base, Block, Class, Inst, Lanes, Mem, Op, Reg, Size};
use crate::ops;
use envisa_native_layout::{SITE, site};

/// How a message goes on that passed.
struct Passed<'a> {
    a: &'a Access,
    form: Form,
    /// Bytes from an element's place in memory to the next one's.
    bytes: u32,
    /// The elements' offsets.
    offsets: Vec<i32>,
    /// Types of results.
    results: Vec<Type>,
    miss: Block,
    join: Block,
}

impl Select<'_> {
    /// An access.
    pub(super) fn access(&mut self, id: InstId, a: &Access) -> Result<(), Unsupported> {
        let (at, made) = (self.at, self.m.body(self.at).insts.len());
        let Err(why) = self.access_natively(id, a) else { return Ok(()) };
        // What was made of it is taken back: nothing comes to its other blocks.
        self.m.body(at).insts.truncate(made);
        self.m.body(at).args.clear();
        self.at = at;
        self.left.push((a.pc, why));
        let all = self.by_machine(id, a)?;
        for (k, held) in all.into_iter().enumerate() {
            self.set(self.result(id, k as u32), held);
        }
        Ok(())
    }

    fn access_natively(&mut self, id: InstId, a: &Access) -> Result<(), Unsupported> {
        let program = self.given.program;
        let aux = program.code()[a.pc as usize].aux;
        match program.messages().get(aux as usize) {
            Some(Message::Simt(s)) => self.simt(id, a, s, aux),
            Some(Message::Block(b)) => {
                let message = aux;
                if !b.scale.is_power_of_two() || b.bytes > 512 {
                    return Err("a block of a rare size");
                }
                self.consecutive(id, a, message, b.wraps)
            }
            _ => Err("an atomic"),
        }
    }

    /// Results as parameters of a block.
    fn params(&mut self, b: Block, ty: Type) -> Held {
        if ty.lanes == 1 {
            return Held::General(self.m.param(b, Class::General));
        }
        Held::Vectors((0..self.parts(ty)).map(|_| self.m.param(b, Class::Vector)).collect())
    }

    /// Goes on at a block with these results.
    fn hand(&mut self, to: Block, all: &[Held]) {
        let mut args = Vec::new();
        for h in all {
            match h {
                Held::General(r) | Held::Lane(r) => args.push(*r),
                Held::Vectors(v) | Held::Masks(v) => args.extend(v),
            }
        }
        self.m.jump(self.at, to, &args);
    }

    /// Both ways have come to one: the one that missed goes by the machine.
    fn joined(&mut self, id: InstId, a: &Access, miss: Block, join: Block) -> Result<(), Unsupported> {
        self.at = miss;
        let all = self.by_machine(id, a)?;
        self.hand(join, &all);
        self.at = join;
        for k in 0..self.f.inst(id).results {
            let v = self.result(id, k);
            let held = self.params(join, self.ty(v));
            self.set(v, held);
        }
        Ok(())
    }

    fn simt(&mut self, id: InstId, a: &Access, s: &Simt, message: u32) -> Result<(), Unsupported> {
        let form = Form::new(s, message)?;
        let results: Vec<Type> = (0..self.f.inst(id).results).map(|k| self.ty(self.result(id, k))).collect();
        let element = u32::from(a.element);
        let offsets: Vec<i32> =
            (0..64).filter(|k| a.elements >> k & 1 != 0).map(|k| k * element as i32).collect();
        if offsets.last().is_some_and(|o| *o > 900) {
            return Err("elements far off");
        }
        let step = self.step_of(a, form);
        let row =
            step.is_some_and(|s| offsets.len() == 1 && s * i64::from(form.scale) == i64::from(form.element));
        let narrow = |ty: Type| ty.elem.bytes() < 4;
        let data = a.data.iter().map(|v| self.ty(*v));
        let any_narrow = results.iter().copied().chain(data.clone()).any(narrow);
        let widened = data.clone().any(|ty| ty.elem.bytes() != element);
        let store = a.kind == AccessKind::Store;
        let alone = a.lanes == 1;
        let same = step == Some(0) && !store;
        if !alone && !row && !same && (any_narrow || store && (widened || element < 4)) {
            return Err("narrow elements anywhere");
        }
        if !alone && !row && !same && element < 4 && offsets.len() > 1 {
            return Err("several narrow elements anywhere");
        }
        if matches!(a.window, Window::Handle(_) | Window::Arguments) {
            return Err("another memory");
        }
        let (miss, join) = (self.m.cold(), self.m.block());
        self.key(a, s, form, miss)?;
        let p = Passed { a, form, bytes: element, offsets, results, miss, join };
        match step {
            _ if alone => self.one(&p)?,
            Some(0) if !store => self.same(&p)?,
            Some(step) if row => self.row(&p, step)?,
            step => self.anywhere(&p, step)?,
        }
        self.joined(id, a, miss, join)
    }

    /// From index to index, where that is known.
    fn step_of(&self, a: &Access, form: Form) -> Option<i64> {
        if a.lanes == 1 {
            return Some(0);
        }
        if self.constant(a.address).is_some() {
            return Some(0);
        }
        let step = form.step(self.stepped(a.address)?);
        i32::try_from(step).ok().map(i64::from)
    }

    /// Bytes of the guest from an index on.
    fn guest(&mut self, form: Form, index: Reg, size: Size) -> Mem {
        let mut m = Mem::at(Base::Guest, 0);
        if form.scale <= 8 {
            m.scale = form.scale as u8;
            m.index = Some((index, size));
            return m;
        }
        let by = Op::Imm8(form.scale.trailing_zeros() as u8);
        let r = match size {
            Size::R64 => self.gchange(Code::Shl_rm64_imm8, index, Size::R64, &[by]),
            _ => {
                let code = ops::SLL32.code(self.target, size).unwrap_or(Code::INVALID);
                self.m.op(self.at, code, (Class::Vector, size), &[Op::Use(index, size), by])
            }
        };
        m.index = Some((r, size));
        m
    }

    fn aim(&mut self, message: u32) {
        self.m.push(self.at, Inst::Aim { message });
    }

    /// One channel.
    fn one(&mut self, p: &Passed<'_>) -> Result<(), Unsupported> {
        let always = self.constant(p.a.mask) == Some(1);
        if !always {
            // Where it is off, results have any bits.
            let (on, off) = (self.m.block(), self.m.block());
            let when = self.any(p.a.mask)?;
            self.m.branch(self.at, when, [on, off]);
            self.at = off;
            let zero = self.number(0);
            let all: Vec<Held> = p.results.iter().map(|_| Held::General(zero)).collect();
            self.hand(p.join, &all);
            self.at = on;
        }
        let index = self.first_index(p.a, p.form)?;
        self.below(p.form, index, site::COUNT, p.miss);
        self.aligned(p.a, p.form, index, p.miss);
        let data: Vec<Reg> = p.a.data.iter().map(|v| self.general(*v)).collect::<Result<_, _>>()?;
        let elem = Elem::of_bytes(p.bytes).ok_or("an element of an odd size")?;
        self.aim(p.form.message);
        let m = self.guest(p.form, index, Size::R64);
        let mut all = Vec::new();
        for (k, o) in p.offsets.iter().enumerate() {
            match data.get(k) {
                Some(r) => self.store_general(elem, m.further(*o), *r),
                None => all.push(Held::General(self.load_general(elem, m.further(*o)))),
            }
        }
        self.hand(p.join, &all);
        Ok(())
    }

    /// All channels load from one place. Where none is on, that is not looked at.
    fn same(&mut self, p: &Passed<'_>) -> Result<(), Unsupported> {
        if !self.always(p.a.mask) {
            let (on, off) = (self.m.block(), self.m.block());
            let when = self.any(p.a.mask)?;
            self.m.branch(self.at, when, [on, off]);
            self.at = off;
            let mut all = Vec::new();
            for ty in &p.results {
                let zero = self.zeros(Size::X)?;
                all.push(Held::Vectors(vec![zero; self.parts(*ty)]));
            }
            self.hand(p.join, &all);
            self.at = on;
        }
        let index = self.first_index(p.a, p.form)?;
        self.below(p.form, index, site::COUNT, p.miss);
        self.aligned(p.a, p.form, index, p.miss);
        self.aim(p.form.message);
        let m = self.guest(p.form, index, Size::R64);
        let elem = Elem::of_bytes(p.bytes).ok_or("an element of an odd size")?;
        let mut all = Vec::new();
        for (ty, o) in p.results.iter().zip(&p.offsets) {
            let size = self.size(*ty);
            let part = if elem == ty.elem && matches!(elem, Elem::I32 | Elem::I64) {
                let op = if elem == Elem::I64 { &ops::BCAST64 } else { &ops::BCAST32 };
                self.vop(op, size, &[Op::Mem(m.further(*o))])?
            } else {
                let r = self.load_general(elem, m.further(*o));
                self.spread_part(ty.elem, size, r)?
            };
            all.push(Held::Vectors(vec![part; self.parts(*ty)]));
        }
        self.hand(p.join, &all);
        Ok(())
    }

    /// Consecutive elements.
    fn row(&mut self, p: &Passed<'_>, step: i64) -> Result<(), Unsupported> {
        let always = self.always(p.a.mask);
        let index = self.first_index(p.a, p.form)?;
        let limit = if p.a.lanes == 16 { site::LAST16 } else { site::LAST };
        let edge = if always { p.miss } else { self.m.cold() };
        self.below(p.form, index, limit, edge);
        self.aligned(p.a, p.form, index, p.miss);
        self.row_inside(p, index, !always && p.a.kind == AccessKind::Store)?;
        if !always {
            // Channels that are on may be inside.
            self.at = edge;
            self.below(p.form, index, site::COUNT, p.miss);
            self.aligned(p.a, p.form, index, p.miss);
            let mut all = Vec::new();
            for part in 0..usize::from(p.a.lanes).div_ceil(16) {
                let ty = Type::new(Elem::I32, u32::from(p.a.lanes).min(16));
                let per = 16 * part as i64 * step;
                let from = self.plus(index, per, Elem::I32).ok_or("a row far off")?;
                let places = self.ramp(ty, from, step, 0)?;
                all.push(self.outside(p, places, part)?);
            }
            self.none_outside(&all, p.miss);
            self.row_inside(p, index, true)?;
        }
        Ok(())
    }

    /// The lanes of a mask that sixteen of an access have, in a mask register.
    fn mask_of(&mut self, mask: Value, part: usize) -> Result<Reg, Unsupported> {
        self.piece(mask, part)
    }

    /// Which lanes that are on are outside.
    fn outside(&mut self, p: &Passed<'_>, places: Reg, part: usize) -> Result<Reg, Unsupported> {
        let size = self.size(Type::new(Elem::I32, u32::from(p.a.lanes).min(16)));
        self.outside_of(p, places, part, size, site::COUNT)
    }

    fn outside_of(
        &mut self,
        p: &Passed<'_>,
        places: Reg,
        part: usize,
        size: Size,
        count: u32,
    ) -> Result<Reg, Unsupported> {
        let on = self.mask_of(p.a.mask, part)?;
        let (code, to) = (self.code(&ops::CMPU32, size)?, self.m.reg(Class::Mask));
        let limit = p.form.site(count).for_all();
        let ops = [Op::Def(to, Size::K), Op::Use(places, size), Op::Mem(limit), Op::Imm8(5)];
        self.m.lanes(self.at, code, &ops, Lanes::Of(on));
        Ok(to)
    }

    fn none_outside(&mut self, all: &[Reg], miss: Block) {
        self.any_piece(all[0], *all.last().unwrap_or(&all[0]));
        self.unless(ConditionCode::ne, miss);
    }

    /// Moves a row that is inside, or of which what is on is.
    fn row_inside(&mut self, p: &Passed<'_>, index: Reg, masked: bool) -> Result<(), Unsupported> {
        let elem = Elem::of_bytes(p.bytes).ok_or("an element of an odd size")?;
        // A pair of dwords a channel: what is in memory is a row of quads.
        let paired = p.form.element != p.bytes;
        if paired {
            return Err("pairs of dwords");
        }
        let mut all = Vec::new();
        if p.a.kind == AccessKind::Load {
            self.aim(p.form.message);
            let m = self.guest(p.form, index, Size::R64).further(p.offsets[0]);
            for ty in &p.results {
                let mut parts = Vec::new();
                for k in 0..self.parts(*ty) {
                    let at = m.further((k as u32 * self.lanes_of_part(*ty) * p.bytes) as i32);
                    let on = if masked { Some(self.mask_of_part(p.a.mask, *ty, k)?) } else { None };
                    parts.push(self.load_part(*ty, elem, at, on)?);
                }
                all.push(Held::Vectors(parts));
            }
        } else {
            let v = p.a.data[0];
            let ty = self.ty(v);
            let mut parts = Vec::new();
            for k in 0..self.parts(ty) {
                let r = self.part(v, k)?;
                parts.push(if ty.elem == elem { r } else { self.narrow_part(ty, elem, r)? });
            }
            self.aim(p.form.message);
            let m = self.guest(p.form, index, Size::R64).further(p.offsets[0]);
            for (k, r) in parts.into_iter().enumerate() {
                let lanes = self.lanes_of_part(ty);
                let at = m.further((k as u32 * lanes * p.bytes) as i32);
                let on = if masked { Some(self.mask_of_part(p.a.mask, ty, k)?) } else { None };
                self.store_part(elem, lanes, at, r, on)?;
            }
        }
        self.hand(p.join, &all);
        Ok(())
    }

    fn narrow_part(&mut self, ty: Type, elem: Elem, r: Reg) -> Result<Reg, Unsupported> {
        let op = match (ty.elem, elem) {
            (Elem::I32, Elem::I16) => &ops::DOWN32TO16,
            (Elem::I32, Elem::I8) => &ops::DOWN32TO8,
            (Elem::I16, Elem::I8) => &ops::DOWN16TO8,
            _ => return Err("an element of a rare size"),
        };
        self.down(op, self.size(ty), ty.elem, elem, r)
    }

    /// Loads lanes of a part, which are elements in memory, extended by zeros.
    fn load_part(&mut self, ty: Type, elem: Elem, m: Mem, on: Option<Reg>) -> Result<Reg, Unsupported> {
        let size = self.size(ty);
        let bytes = self.lanes_of_part(ty) * elem.bytes();
        let op = match (elem, ty.elem) {
            (a, b) if a == b && bytes < 16 && on.is_none() => return self.load_bytes(bytes, m),
            (Elem::I8, Elem::I8) => &ops::MOV8,
            (Elem::I16, Elem::I16) => &ops::MOV16,
            (Elem::I32, Elem::I32) => &ops::MOV32,
            (Elem::I64, Elem::I64) => &ops::MOV64,
            (Elem::I8, Elem::I32) => &ops::ZX8TO32,
            (Elem::I16, Elem::I32) => &ops::ZX16TO32,
            (Elem::I8, Elem::I16) => &ops::ZX8TO16,
            _ => return Err("an element of a rare size"),
        };
        match on {
            None => self.vop(op, size, &[Op::Mem(m)]),
            Some(k) => self.zeroing(op, size, k, &[Op::Mem(m)]),
        }
    }

    /// Stores so many elements of a register.
    fn store_part(
        &mut self,
        elem: Elem,
        lanes: u32,
        m: Mem,
        r: Reg,
        on: Option<Reg>,
    ) -> Result<(), Unsupported> {
        let bytes = lanes * elem.bytes();
        let Some(k) = on else { return self.store_bytes(bytes, m, r) };
        let size = match bytes {
            0..=16 => Size::X,
            17..=32 => Size::Y,
            _ => Size::Z,
        };
        let op = match elem {
            Elem::I8 => &ops::STORE8,
            Elem::I16 => &ops::STORE16,
            Elem::I64 => &ops::STORE64,
            Elem::I32 | Elem::Mask => &ops::STORE32,
        };
        let code = self.code(op, size)?;
        self.m.lanes(self.at, code, &[Op::Mem(m), Op::Use(r, size)], Lanes::Of(k));
        Ok(())
    }

    /// Elements anywhere.
    fn anywhere(&mut self, p: &Passed<'_>, step: Option<i64>) -> Result<(), Unsupported> {
        let n = usize::from(p.a.lanes).div_ceil(16);
        let ty = Type::new(Elem::I32, u32::from(p.a.lanes).min(16));
        let size = self.size(ty);
        let narrow = p.bytes < 4;
        // Of narrow elements four bytes are loaded.
        let count = if narrow { site::COUNT4 } else { site::COUNT };
        let first = match step {
            Some(step) if !p.form.wide && p.form.and.is_none() => {
                Some((self.first_index(p.a, p.form)?, step))
            }
            _ => None,
        };
        let (mut places, mut all) = (Vec::new(), Vec::new());
        for part in 0..n {
            let index = match first {
                Some((first, step)) => {
                    let from = self.plus(first, 16 * part as i64 * step, Elem::I32).ok_or("lanes far off")?;
                    self.ramp(ty, from, step, 0)?
                }
                None => self.indices(p.a, p.form, part)?,
            };
            let mut out = self.outside_of(p, index, part, size, count)?;
            if p.form.align > 1 {
                let low = self.m.literal(p.form.align - 1).for_all();
                let code = match size {
                    Size::X => Code::EVEX_Vptestmd_kr_k1_xmm_xmmm128b32,
                    Size::Y => Code::EVEX_Vptestmd_kr_k1_ymm_ymmm256b32,
                    _ => Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32,
                };
                let on = self.mask_of(p.a.mask, part)?;
                let to = self.m.reg(Class::Mask);
                let ops = [Op::Def(to, Size::K), Op::Use(index, size), Op::Mem(low)];
                self.m.lanes(self.at, code, &ops, Lanes::Of(on));
                out = self.kop(Code::VEX_Korw_kr_kr_kr, &[Op::Use(out, Size::K), Op::Use(to, Size::K)]);
            }
            places.push(index);
            all.push(out);
        }
        self.none_outside(&all, p.miss);
        let results = if p.a.kind == AccessKind::Load {
            self.aim(p.form.message);
            let mems: Vec<Mem> = places.iter().map(|i| self.guest(p.form, *i, size)).collect();
            self.gathered(p, &mems)?
        } else {
            self.scattered(p, &places)?;
            Vec::new()
        };
        self.hand(p.join, &results);
        Ok(())
    }

    fn gathered(&mut self, p: &Passed<'_>, mems: &[Mem]) -> Result<Vec<Held>, Unsupported> {
        let mut all = Vec::new();
        for (ty, o) in p.results.iter().zip(&p.offsets) {
            let size = self.size(*ty);
            let quads = ty.elem == Elem::I64;
            let mut parts = Vec::new();
            for k in 0..self.parts(*ty) {
                let on = self.mask_of_part(p.a.mask, *ty, k)?;
                let m = self.mem_of_part(mems, *ty, k)?;
                let zero = self.zeros(size)?;
                let code = self.code(if quads { &ops::GATHER64 } else { &ops::GATHER32 }, size)?;
                let (to, left) = (self.m.reg(Class::Vector), self.m.reg(Class::Mask));
                let ops = [Op::Mod { from: zero, to, size }, Op::Mem(m.further(*o))];
                self.m.lanes(self.at, code, &ops, Lanes::Cleared { from: on, to: left });
                let r = match p.bytes {
                    1 | 2 => {
                        let bits = self.m.literal(u32::MAX >> (32 - 8 * p.bytes)).for_all();
                        self.vop(&ops::AND32, size, &[Op::Use(to, size), Op::Mem(bits)])?
                    }
                    _ => to,
                };
                parts.push(r);
            }
            all.push(Held::Vectors(parts));
        }
        Ok(all)
    }

    /// The indices of a part of a type, of those of sixteen lanes each.
    fn mem_of_part(&mut self, mems: &[Mem], ty: Type, k: usize) -> Result<Mem, Unsupported> {
        let per = self.lanes_of_part(ty);
        let first = per * k as u32;
        let mut m = mems[(first / 16) as usize];
        if ty.elem != Elem::I64 {
            return Ok(m);
        }
        let Some((index, _)) = m.index else { return Err("places without an index") };
        let r = self.upper(index, first % 16 * 4, 4 * per)?;
        m.index = Some((r, if per > 4 { Size::Y } else { Size::X }));
        Ok(m)
    }

    fn scattered(&mut self, p: &Passed<'_>, places: &[Reg]) -> Result<(), Unsupported> {
        let mut all = Vec::new();
        for v in &p.a.data {
            let ty = self.ty(*v);
            let parts: Vec<Reg> = (0..self.parts(ty)).map(|k| self.part(*v, k)).collect::<Result<_, _>>()?;
            all.push((ty, parts));
        }
        let size = self.size(Type::new(Elem::I32, u32::from(p.a.lanes).min(16)));
        self.aim(p.form.message);
        let mems: Vec<Mem> = places.iter().map(|i| self.guest(p.form, *i, size)).collect();
        for ((ty, parts), o) in all.into_iter().zip(&p.offsets) {
            let size = self.size(ty);
            for (k, r) in parts.into_iter().enumerate() {
                let on = self.mask_of_part(p.a.mask, ty, k)?;
                let m = self.mem_of_part(&mems, ty, k)?;
                let op = if ty.elem == Elem::I64 { &ops::SCATTER64 } else { &ops::SCATTER32 };
                let (code, left) = (self.code(op, size)?, self.m.reg(Class::Mask));
                let ops = [Op::Mem(m.further(*o)), Op::Use(r, size)];
                self.m.lanes(self.at, code, &ops, Lanes::Cleared { from: on, to: left });
            }
        }
        Ok(())
    }

    /// Consecutive bytes at one address.
    fn consecutive(&mut self, id: InstId, a: &Access, message: u32, wraps: bool) -> Result<(), Unsupported> {
        let flat = a.window == Window::Flat;
        if flat && wraps {
            return Err("a block of a rare kind");
        }
        if flat && a.align > 1 && !(a.offset as u64).is_multiple_of(a.align.into()) {
            return Err("a block whose offset is not aligned");
        }
        let Ok(offset) = i32::try_from(a.offset) else { return Err("a block far off") };
        if matches!(a.window, Window::Handle(_) | Window::Arguments) {
            return Err("another memory");
        }
        let (miss, join) = (self.m.cold(), self.m.block());
        let results: Vec<Type> = (0..self.f.inst(id).results).map(|k| self.ty(self.result(id, k))).collect();
        if self.constant(a.mask) != Some(1) {
            let on = self.m.block();
            let off = self.m.block();
            let when = self.any(a.mask)?;
            self.m.branch(self.at, when, [on, off]);
            self.at = off;
            let mut all = Vec::new();
            for ty in &results {
                let zero = self.zeros(Size::X)?;
                let one = self.number(0);
                all.push(if ty.lanes == 1 {
                    Held::General(one)
                } else {
                    Held::Vectors(vec![zero; self.parts(*ty)])
                });
            }
            self.hand(join, &all);
            self.at = on;
        }
        self.window_key(a.window, message, miss)?;
        let mut r = self.general(a.address)?;
        if a.scale > 1 {
            let by = Op::Imm8(a.scale.trailing_zeros() as u8);
            r = self.gchange(Code::Shl_rm64_imm8, r, Size::R64, &[by]);
        }
        if let Some(origin) = a.origin {
            let o = self.general(origin)?;
            r = self.gchange(Code::Add_r64_rm64, r, Size::R64, &[Op::Use(o, Size::R64)]);
        }
        // A flat address's offset is in the key.
        if !flat && offset != 0 {
            r = self.gchange(Code::Add_rm64_imm32, r, Size::R64, &[Op::Imm64(offset)]);
        }
        if a.window == Window::Slm {
            r = self.gchange(Code::And_rm32_imm32, r, Size::R32, &[Op::Imm32(0x0fff_ffff)]);
        } else if !flat && wraps {
            r = self.gop(Code::Mov_r32_rm32, Size::R32, &[Op::Use(r, Size::R32)]);
        }
        if a.align > 1
            && !(a.scale.is_multiple_of(a.align.into())
                && a.origin.is_none()
                && a.offset % i64::from(a.align) == 0)
        {
            let low = Op::Imm32(i32::from(a.align) - 1);
            self.plain(Code::Test_rm32_imm32, &[Op::Use(r, Size::R32), low]);
            self.unless(ConditionCode::ne, miss);
        }
        let field = |f| Mem::at(Base::Sites, message * SITE + f);
        if flat {
            r = self.gchange(Code::Sub_r64_rm64, r, Size::R64, &[Op::Mem(field(site::KEY))]);
        }
        self.plain(Code::Cmp_r64_rm64, &[Op::Use(r, Size::R64), Op::Mem(field(site::WIDE))]);
        self.unless(ConditionCode::ae, miss);
        let all = self.move_block(a, message, r, &results)?;
        self.hand(join, &all);
        self.joined(id, a, miss, join)
    }

    fn move_block(
        &mut self,
        a: &Access,
        message: u32,
        r: Reg,
        results: &[Type],
    ) -> Result<Vec<Held>, Unsupported> {
        let mut m = Mem::at(Base::Guest, 0);
        m.index = Some((r, Size::R64));
        let mut out = Vec::new();
        if a.kind == AccessKind::Load {
            self.aim(message);
            for ty in results {
                if ty.lanes == 1 {
                    out.push(Held::General(self.load_general(ty.elem, m)));
                } else {
                    let parts = self.load_row(*ty, m)?;
                    out.push(Held::Vectors(parts));
                }
                m = m.further(ty.bytes() as i32);
            }
            return Ok(out);
        }
        let mut stored = Vec::new();
        for v in &a.data {
            let ty = self.ty(*v);
            let regs: Vec<Reg> = match ty.lanes {
                1 => vec![self.general(*v)?],
                _ => (0..self.parts(ty)).map(|k| self.part(*v, k)).collect::<Result<_, _>>()?,
            };
            stored.push((ty, regs));
        }
        self.aim(message);
        for (ty, regs) in stored {
            for (k, r) in regs.into_iter().enumerate() {
                let at = m.further(64 * k as i32);
                if ty.lanes == 1 {
                    self.store_general(ty.elem, at, r);
                } else {
                    self.store_bytes(ty.bytes().min(64), at, r)?;
                }
            }
            m = m.further(ty.bytes() as i32);
        }
        Ok(out)
    }
}
