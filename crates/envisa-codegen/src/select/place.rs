//! Converts a message's addresses to indices, and checks them at its site.

use envisa_lower::{Extend, Modifier, Simt, Space, Src};
use envisa_vir::{Access, Elem, Inst as VirInst, Type, Value, Window};
use iced_x86::{Code, ConditionCode};

use super::{Select, Unsupported};
use crate::inst::{Base, Block, Mem, Op, Reg, Size};
use crate::ops;
use envisa_native_layout::{SITE, site};

/// How a gather or scatter makes its indices. The engine's sites are of the same form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// Bits that addresses are shifted by.
    pub before: u32,
    /// Bits that count.
    pub and: Option<u32>,
    /// What passed is multiplied by this.
    pub scale: u32,
    /// Addresses are of 64 bits.
    pub wide: bool,
    /// The message's number.
    pub message: u32,
    /// Bytes of an element, as the site counts them.
    pub element: u32,
    /// What indices must be multiples of.
    pub align: u32,
}

/// The largest factor of an index that is not an address yet.
const MOST_SCALE: u32 = 1 << 16;

impl Form {
    /// That of a message, if it has one.
    pub fn new(s: &Simt, message: u32) -> Result<Form, Unsupported> {
        if s.upper || s.stride != Src::None || s.elements == 0 {
            return Err("a message of a rare kind");
        }
        if !s.scale.is_power_of_two() || s.align > s.element {
            return Err("a factor or an alignment of a rare kind");
        }
        if !matches!(s.base, Src::None | Src::Reg { constant: true, .. }) {
            return Err("a base that varies");
        }
        let element = if s.is_paired() { 8 } else { u32::from(s.element) };
        let before = s.scale.trailing_zeros();
        let window =
            Form { before, and: None, scale: 1, wide: false, message, element, align: s.align.into() };
        if s.address_bytes == 8 {
            return match s.space {
                Space::Flat if s.extend == Extend::None => Ok(Form { wide: true, ..window }),
                _ => Err("64-bit addresses that are extended, or not of flat memory"),
            };
        }
        if s.address_bytes != 4 {
            return Err("addresses of words");
        }
        let plain = matches!(s.origin, Src::None | Src::Reg { modifier: Modifier::None, .. });
        match s.space {
            Space::Flat if s.extend == Extend::None => Err("32-bit virtual addresses"),
            Space::Flat if s.scale <= MOST_SCALE => Ok(Form {
                before: 0,
                scale: s.scale,
                align: u32::from(s.align) / s.scale.min(u32::from(s.align).max(1)),
                ..window
            }),
            Space::Slm if s.extend == Extend::None && plain => Ok(Form { and: Some(0x0fff_ffff), ..window }),
            Space::Bti(_) | Space::GeneralState | Space::Scratch(_) if s.extend == Extend::None && plain => {
                Ok(window)
            }
            _ => Err("another memory"),
        }
    }

    /// A field of the site.
    pub fn site(self, field: u32) -> Mem {
        Mem::at(Base::Sites, self.message * SITE + field)
    }

    /// From index to index where addresses lie at a step.
    pub fn step(self, of_addresses: i64) -> i64 {
        of_addresses << self.before
    }
}

impl Select<'_> {
    /// What the site is for is held against what is asked for: else goes to `miss`.
    pub(super) fn key(&mut self, a: &Access, s: &Simt, form: Form, miss: Block) -> Result<(), Unsupported> {
        let key = form.site(site::KEY);
        match a.window {
            Window::Flat => {
                let Some(origin) = a.origin.filter(|v| !self.fixed(*v)) else { return Ok(()) };
                let r = self.general(origin)?;
                self.plain(Code::Cmp_r64_rm64, &[Op::Use(r, Size::R64), Op::Mem(key)]);
                self.unless(ConditionCode::ne, miss);
            }
            _ => self.window_key(a.window, form.message, miss)?,
        }
        let _ = s;
        Ok(())
    }

    /// The same of windows alone.
    pub(super) fn window_key(
        &mut self,
        window: Window,
        message: u32,
        miss: Block,
    ) -> Result<(), Unsupported> {
        let key = Mem::at(Base::Sites, message * SITE + site::KEY);
        match window {
            Window::Surface(v) => {
                if self.constant(v).is_some() || self.fixed(v) {
                    return Ok(());
                }
                let r = self.general(v)?;
                self.plain(Code::Cmp_r32_rm32, &[Op::Use(r, Size::R32), Op::Mem(key)]);
            }
            Window::Scratch(v) => {
                let r = self.general(v)?;
                let r = self.gchange(Code::Shr_rm32_imm8, r, Size::R32, &[Op::Imm8(6)]);
                self.plain(Code::Cmp_r32_rm32, &[Op::Use(r, Size::R32), Op::Mem(key)]);
            }
            Window::Flat | Window::Slm | Window::State => return Ok(()),
            Window::Handle(_) | Window::Arguments => return Err("another memory"),
        }
        self.unless(ConditionCode::ne, miss);
        Ok(())
    }

    /// Is a value what the launch put into a register, the same for all threads?
    fn fixed(&self, v: Value) -> bool {
        match self.f.def_inst(v) {
            Some(VirInst::Const(_)) => true,
            Some(VirInst::Input { offset, .. }) => {
                let end = offset + self.ty(v).elem.bytes();
                let inputs = self.given.program.inputs();
                inputs.iter().any(|i| i.offset <= *offset && end <= i.offset + i.bytes.max(4))
            }
            Some(VirInst::Convert { arg, .. }) => self.ty(*arg).lanes == 1 && self.fixed(*arg),
            _ => false,
        }
    }

    /// The first lane's index, counted from the site's first.
    pub(super) fn first_index(&mut self, a: &Access, form: Form) -> Result<Reg, Unsupported> {
        let mut r = self.first(a.address)?;
        if form.wide {
            if form.before != 0 {
                r = self.gchange(Code::Shl_rm64_imm8, r, Size::R64, &[Op::Imm8(form.before as u8)]);
            }
            return Ok(self.gchange(Code::Sub_r64_rm64, r, Size::R64, &[Op::Mem(form.site(site::WIDE))]));
        }
        if form.before != 0 {
            r = self.gchange(Code::Shl_rm32_imm8, r, Size::R32, &[Op::Imm8(form.before as u8)]);
        }
        if let Some(origin) = a.origin.filter(|_| a.window != Window::Flat) {
            let origin = self.general(origin)?;
            r = self.gchange(Code::Add_r32_rm32, r, Size::R32, &[Op::Use(origin, Size::R32)]);
        }
        r = self.gchange(Code::Sub_r32_rm32, r, Size::R32, &[Op::Mem(form.site(site::LOW))]);
        if let Some(and) = form.and {
            r = self.gchange(Code::And_rm32_imm32, r, Size::R32, &[Op::Imm32(and as i32)]);
        }
        Ok(r)
    }

    /// Goes to `miss` unless an index is below a limit of the site (of 64-bit ones, that of all first).
    pub(super) fn below(&mut self, form: Form, index: Reg, limit: u32, miss: Block) {
        if form.wide {
            self.plain(Code::Cmp_r64_rm64, &[Op::Use(index, Size::R64), Op::Mem(form.site(site::SPAN))]);
            self.unless(ConditionCode::ae, miss);
            if limit == site::COUNT {
                return;
            }
        }
        self.plain(Code::Cmp_r32_rm32, &[Op::Use(index, Size::R32), Op::Mem(form.site(limit))]);
        self.unless(ConditionCode::ae, miss);
    }

    /// Goes to `miss` unless an index is a multiple of what it must be.
    pub(super) fn aligned(&mut self, a: &Access, form: Form, index: Reg, miss: Block) {
        if form.align <= 1 || self.aligned_already(a, form) {
            return;
        }
        let low = Op::Imm32(form.align as i32 - 1);
        self.plain(Code::Test_rm32_imm32, &[Op::Use(index, Size::R32), low]);
        self.unless(ConditionCode::ne, miss);
    }

    /// Are addresses known to be multiples of the alignment, and all that is added to them?
    fn aligned_already(&self, a: &Access, form: Form) -> bool {
        let bits = form.align.trailing_zeros();
        let zeros = |v: Value| u32::from(self.f.facts(v).low_zeros);
        let base = a.base.and_then(|b| self.constant(b)).unwrap_or(0);
        let plus = base.wrapping_mul(a.scale.into()).wrapping_add(a.offset as u64);
        let windows = !form.wide && a.window != Window::Flat;
        windows
            && plus % u64::from(form.align) == 0
            && form.before + zeros(a.address) >= bits
            && a.origin.is_none_or(|o| zeros(o) >= bits)
    }

    /// The indices of sixteen lanes, or as many as there are.
    pub(super) fn indices(&mut self, a: &Access, form: Form, part: usize) -> Result<Reg, Unsupported> {
        let lanes = u32::from(a.lanes).min(16);
        let ty = Type::new(Elem::I32, lanes);
        let size = self.size(ty);
        if form.wide {
            return self.wide_indices(a, form, part, lanes);
        }
        let mut r = self.part(a.address, part)?;
        if form.before != 0 {
            r = self.vop(&ops::SLL32, size, &[Op::Use(r, size), Op::Imm8(form.before as u8)])?;
        }
        if let Some(origin) = a.origin.filter(|_| a.window != Window::Flat) {
            let o = match self.constant(origin) {
                Some(x) => Op::Mem(self.m.literal(x as u32).for_all()),
                None => {
                    let o = self.general(origin)?;
                    Op::Use(self.spread_part(Elem::I32, size, o)?, size)
                }
            };
            r = self.vop(&ops::ADD32, size, &[Op::Use(r, size), o])?;
        }
        r = self.vop(&ops::SUB32, size, &[Op::Use(r, size), Op::Mem(form.site(site::LOW).for_all())])?;
        if let Some(and) = form.and {
            let and = self.m.literal(and).for_all();
            r = self.vop(&ops::AND32, size, &[Op::Use(r, size), Op::Mem(and)])?;
        }
        Ok(r)
    }

    /// The same of addresses of 64 bits: what is beyond 32 bits becomes the largest one.
    fn wide_indices(&mut self, a: &Access, form: Form, part: usize, lanes: u32) -> Result<Reg, Unsupported> {
        let quads = Type::new(Elem::I64, lanes);
        let (n, size) = (self.parts(quads), self.size(quads));
        let first = form.site(site::WIDE).for_all();
        let most = self.literal(Elem::I64, 0xffff_ffff)?.for_all();
        let mut all = Vec::new();
        for k in 0..n {
            let mut r = self.part(a.address, part * n + k)?;
            if form.before != 0 {
                r = self.vop(&ops::SLL64, size, &[Op::Use(r, size), Op::Imm8(form.before as u8)])?;
            }
            r = self.vop(&ops::SUB64, size, &[Op::Use(r, size), Op::Mem(first)])?;
            r = self.vop(&ops::MINU64, size, &[Op::Use(r, size), Op::Mem(most)])?;
            all.push(self.down(&ops::DOWN64TO32, size, Elem::I64, Elem::I32, r)?);
        }
        let bytes = quads.bytes().min(64) / 2;
        Ok(self.join(all, bytes)[0])
    }

    /// Lanes from a first one on, at a step.
    pub(super) fn ramp(&mut self, ty: Type, first: Reg, step: i64, part: usize) -> Result<Reg, Unsupported> {
        let size = self.size(ty);
        let r = self.spread_part(ty.elem, size, first)?;
        let n = self.lanes_of_part(ty) as usize;
        let all: Vec<u64> = (0..n).map(|k| step.wrapping_mul((part * n + k) as i64) as u64).collect();
        let m = self.lanes_in_pool(ty, &all, 0)?;
        let add = if ty.elem == Elem::I64 { &ops::ADD64 } else { &ops::ADD32 };
        self.vop(add, size, &[Op::Use(r, size), Op::Mem(m)])
    }
}
