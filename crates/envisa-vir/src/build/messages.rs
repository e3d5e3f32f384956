//! Messages as accesses.

use envisa_isa::Type as Number;
use envisa_lower::{Atomic, Block, Extend, Inst as Lowered, Message, Modifier, RegOffset, Simt, Space, Src};

use super::{Builder, No};
use crate::func::{Elem, Type, Value};
use crate::inst::{Access, AccessKind, AccessShape, Inst, Window};

/// Types of values that hold so many bytes one after another: the results, or data, of a block.
pub fn types_of(mut bytes: u32) -> Vec<Type> {
    let mut out = Vec::new();
    while bytes > 0 {
        let elem =
            [Elem::I32, Elem::I16, Elem::I8].into_iter().find(|e| e.bytes() <= bytes).unwrap_or(Elem::I8);
        let lanes = 1 << (bytes / elem.bytes()).min(32).ilog2();
        out.push(Type::new(elem, lanes));
        bytes -= lanes * elem.bytes();
    }
    out
}

impl Builder<'_> {
    /// A message.
    pub(super) fn message(&mut self, i: &Lowered) -> Result<(), No> {
        let p = self.p;
        match &p.messages()[i.aux as usize] {
            Message::Simt(s) => self.simt(i, s),
            Message::Block(b) => self.block_message(i, b),
            Message::Atomic(a) => self.atomic(i, a),
            Message::Status(_) | Message::TypedStatus(_) => Err(No("whether addresses have memory")),
            Message::Typed(_) | Message::TypedAtomic(_) | Message::Sample(_) | Message::Info(_) => {
                Err(No("texels"))
            }
            Message::Media(_) | Message::Block2d(_) => Err(No("a rectangle")),
            Message::Pixels(_) | Message::Urb(_) => Err(No("graphics")),
            Message::Raw(_) => Err(No("a message whose descriptor is in a register")),
        }
    }

    /// A scalar operand in 64 bits; `None` if there is none.
    fn scalar(&mut self, s: &Src) -> Result<Option<Value>, No> {
        if *s == Src::None {
            return Ok(None);
        }
        let (value, ty, modifier) = self.elements(s, 1)?;
        if modifier != Modifier::None || !ty.is_int() {
            return Err(No("a modifier of a message's operand"));
        }
        let to = if ty.is_signed() { Number::Q } else { Number::Uq };
        self.convert(value, (ty, to), false, false).map(Some)
    }

    fn window(&mut self, space: &Space) -> Result<Window, No> {
        let dword = Type::new(Elem::I32, 1);
        Ok(match space {
            Space::Flat => Window::Flat,
            Space::Slm => Window::Slm,
            Space::GeneralState => Window::State,
            Space::Arguments => Window::Arguments,
            Space::Table(n) => Window::Surface(self.constant(u64::from(*n), dword)),
            Space::Handle(n) => Window::Handle(self.constant(u64::from(*n), dword)),
            Space::Bti(s) | Space::Bindless(s) | Space::Scratch(s) => {
                let value = self.elements(s, 1)?.0;
                match space {
                    Space::Bti(_) => Window::Surface(value),
                    Space::Bindless(_) => Window::Handle(value),
                    _ => Window::Scratch(value),
                }
            }
            Space::Counter(_) | Space::HandleCounter(_) => return Err(No("an append counter")),
        })
    }

    /// What accesses have in common.
    fn access(&mut self, i: &Lowered, kind: AccessKind, window: Window) -> Result<Access, No> {
        let lanes = u32::from(i.channels);
        let mask = match self.guard(i)? {
            Some(mask) => mask,
            None => self.constant(1, Type::mask(lanes)),
        };
        Ok(Access {
            pc: self.pc,
            kind,
            window,
            lanes: lanes as u8,
            block: false,
            mask,
            address: mask,
            extend: Extend::None,
            bits: 64,
            stride: None,
            base: None,
            scale: 1,
            offset: 0,
            origin: None,
            align: 1,
            element: 4,
            upper: false,
            elements: 1,
            data: Vec::new(),
            shape: AccessShape::Gather,
        })
    }

    fn addresses(&mut self, at: RegOffset, bytes: u8, lanes: u32) -> Result<Value, No> {
        let at: Vec<u32> = (0..lanes).map(|k| at + k * u32::from(bytes)).collect();
        self.read(&at, bytes.into())
    }

    fn simt(&mut self, i: &Lowered, s: &Simt) -> Result<(), No> {
        let lanes = u32::from(i.channels);
        let data = s.data.ok_or(No("a prefetch"))?;
        if s.upper {
            return Err(No("elements in upper halves"));
        }
        if !s.extend.addends().is_empty() {
            return Err(No("indices that are sums in 64 bits"));
        }
        let count = s.elements.count_ones();
        let paired = s.is_paired();
        let (slot, step) = if paired { (4, 8) } else { (u32::from(s.slot), u32::from(s.slot)) };
        let place = |c: u32, k: u32| data + c * s.component_stride + k * step;
        let window = self.window(&s.space)?;
        let kind = if s.write { AccessKind::Store } else { AccessKind::Load };
        let stride = self.scalar(&s.stride)?;
        let address = self.addresses(s.address, s.address_bytes, if stride.is_some() { 1 } else { lanes })?;
        let (base, origin) = (self.scalar(&s.base)?, self.scalar(&s.origin)?);
        let mut stored = Vec::new();
        if s.write {
            for c in 0..count {
                let at: Vec<u32> = (0..lanes).map(|k| place(c, k)).collect();
                stored.push(self.read(&at, s.element.into())?);
            }
        }
        let narrow = s.address_bytes < 8 && s.extend == Extend::None || window != Window::Flat;
        let access = Access {
            address,
            extend: s.extend,
            bits: if narrow { 32 } else { 64 },
            stride,
            base,
            scale: s.scale,
            offset: s.offset,
            origin,
            align: s.align,
            element: s.element,
            elements: s.elements,
            data: stored,
            ..self.access(i, kind, window)?
        };
        let mask = self.guard(i)?;
        if s.write {
            self.push_all(Inst::Access(Box::new(access)), &[]);
            return Ok(());
        }
        let ty = Type::new(Elem::of_bytes(slot).ok_or(No("an element of an odd size"))?, lanes);
        let results = self.push_all(Inst::Access(Box::new(access)), &vec![ty; count as usize]);
        for (value, c) in results.into_iter().zip(0..) {
            let at: Vec<u32> = (0..lanes).map(|k| place(c, k)).collect();
            self.write(&at, value, mask)?;
        }
        Ok(())
    }

    fn block_message(&mut self, i: &Lowered, b: &Block) -> Result<(), No> {
        let data = b.data.ok_or(No("a prefetch"))?;
        let window = self.window(&b.space)?;
        let kind = if b.write { AccessKind::Store } else { AccessKind::Load };
        let address = self.scalar(&b.address)?.ok_or(No("a block without an address"))?;
        let origin = self.scalar(&b.origin)?;
        // Whether any channel is active.
        let one = Type::mask(1);
        let active = match (b.masked, self.guard(i)?) {
            (true, Some(mask)) => self.push(Inst::Vote { all: false, arg: mask }, one),
            (true, None) => self.constant(1, one),
            (false, _) => self.constant(1, one),
        };
        let types = types_of(b.bytes);
        let mut stored = Vec::new();
        let mut offsets = Vec::new();
        let mut at = data;
        for ty in &types {
            let bytes = ty.elem.bytes();
            let places: Vec<u32> = (0..u32::from(ty.lanes)).map(|k| at + k * bytes).collect();
            if b.write {
                stored.push(self.read(&places, bytes)?);
            }
            offsets.push(places);
            at += ty.bytes();
        }
        let narrow = b.wraps || window != Window::Flat;
        let access = Access {
            lanes: 1,
            block: true,
            mask: active,
            address,
            bits: if narrow { 32 } else { 64 },
            scale: b.scale,
            offset: b.offset,
            origin,
            align: b.align as u8,
            element: 1,
            data: stored,
            shape: AccessShape::Uniform,
            ..self.access(i, kind, window)?
        };
        let results: &[Type] = if b.write { &[] } else { &types };
        let always = self.f.constant(active) == Some(1);
        for (value, places) in
            self.push_all(Inst::Access(Box::new(access)), results).into_iter().zip(&offsets)
        {
            let lanes = places.len() as u32;
            let mask = (!always).then(|| match lanes {
                1 => active,
                _ => self.push(Inst::Splat(active), Type::mask(lanes)),
            });
            self.write(places, value, mask)?;
        }
        Ok(())
    }

    fn atomic(&mut self, i: &Lowered, a: &Atomic) -> Result<(), No> {
        let lanes = u32::from(i.channels);
        if a.address_bytes == 0 {
            return Err(No("an append counter"));
        }
        let window = self.window(&a.space)?;
        let address = self.addresses(a.address, a.address_bytes, lanes)?;
        let (base, origin) = (self.scalar(&a.base)?, self.scalar(&a.origin)?);
        let places = |at: u32| -> Vec<u32> { (0..lanes).map(|k| at + k * u32::from(a.slot)).collect() };
        let mut data = Vec::new();
        for src in a.src.into_iter().flatten() {
            data.push(self.read(&places(src), a.element.into())?);
        }
        let narrow = a.address_bytes < 8 && a.extend == Extend::None || window != Window::Flat;
        let access = Access {
            address,
            extend: a.extend,
            bits: if narrow { 32 } else { 64 },
            base,
            scale: a.scale,
            offset: a.offset,
            origin,
            align: a.element,
            element: a.element,
            data,
            ..self.access(i, AccessKind::Atomic, window)?
        };
        let mask = self.guard(i)?;
        let ty = Type::new(Elem::of_bytes(a.slot.into()).ok_or(No("an element of an odd size"))?, lanes);
        let results: &[Type] = if a.dst.is_some() { &[ty] } else { &[] };
        let results = self.push_all(Inst::Access(Box::new(access)), results);
        if let (Some(dst), Some(value)) = (a.dst, results.first()) {
            self.write(&places(dst), *value, mask)?;
        }
        Ok(())
    }
}
