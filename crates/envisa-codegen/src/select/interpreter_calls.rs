//! Calls of the interpreter for single instructions: values go into the register file, and results come back.

use envisa_lower::{Block as Consecutive, Message, RegOffset, Simt, Space, Src};
use envisa_vir::{Access, AccessKind, Elem, Escape, InstId, Type, Value, Window};
use iced_x86::Code;

use super::{Held, Select, Unsupported};
use crate::inst::{Base, Inst, Mem, Op, Reg, Size};
use envisa_native_layout::{MESSAGE, at};

/// Where an access's result is in the register file: the first lane, and bytes from lane to lane.
type Place = (RegOffset, u32);

impl Select<'_> {
    /// An instruction that has no form in the IR.
    pub(super) fn escape(&mut self, id: InstId, e: &Escape) -> Result<(), Unsupported> {
        for h in &e.reads {
            self.put(h.value, Self::register_file(h.offset))?;
        }
        let exec = self.bits(e.exec)?;
        self.active(exec);
        self.m.push(self.at, Inst::Call { number: e.pc });
        for (k, offset) in e.writes.iter().enumerate() {
            self.take(self.result(id, k as u32), Self::register_file(*offset))?;
        }
        self.left.push((e.pc, e.reason));
        Ok(())
    }

    /// Channels, where the machine sees them.
    pub(super) fn active(&mut self, bits: Reg) {
        self.store_general(Elem::I32, Mem::at(Base::Context, at::EXEC), bits);
    }

    /// Has the machine execute an access: its operands go to the message's registers. Gives the results.
    pub(super) fn by_machine(&mut self, id: InstId, a: &Access) -> Result<Vec<Held>, Unsupported> {
        let code = &self.given.program.code()[a.pc as usize];
        let message = self.given.program.messages().get(code.aux as usize).ok_or("no message")?;
        let results: Vec<Type> = (0..self.f.inst(id).results).map(|k| self.ty(self.result(id, k))).collect();
        let places = match message {
            Message::Simt(s) => self.simt_operands(a, s, results.len())?,
            Message::Block(b) => self.block_operands(a, b, &results)?,
            Message::Atomic(t) => {
                self.space_operand(&t.space, a)?;
                self.row_operand(t.address, t.address_bytes.into(), a.address, t.address_bytes.into())?;
                self.scalar_operand(&t.base, a.base)?;
                self.scalar_operand(&t.origin, a.origin)?;
                for (at, v) in t.src.into_iter().flatten().zip(&a.data) {
                    self.row_operand(at, t.slot.into(), *v, t.element.into())?;
                }
                vec![(t.dst.unwrap_or(0), u32::from(t.slot)); results.len()]
            }
            _ => return Err("an access of a message that is none"),
        };
        if a.block {
            // All of its channels, or none.
            let r = self.general(a.mask)?;
            let r = self.gchange(Code::Neg_rm32, r, Size::R32, &[]);
            let ones = (u32::MAX >> (32 - u32::from(code.channels))) as i32;
            let r = self.gchange(Code::And_rm32_imm32, r, Size::R32, &[Op::Imm32(ones)]);
            self.active(r);
        } else {
            let r = self.bits(a.mask)?;
            self.active(r);
        }
        self.m.push(self.at, Inst::Call { number: MESSAGE | a.pc });
        places.iter().zip(&results).map(|(p, ty)| self.out_of_registers(*p, *ty)).collect()
    }

    /// Elements at a step in the register file.
    fn out_of_registers(&mut self, (offset, step): Place, ty: Type) -> Result<Held, Unsupported> {
        let bytes = ty.elem.bytes();
        if ty.lanes == 1 {
            return Ok(Held::General(self.load_general(ty.elem, Self::register_file(offset))));
        }
        if step == bytes {
            return self.load_row(ty, Self::register_file(offset)).map(Held::Vectors);
        }
        for k in 0..u32::from(ty.lanes) {
            let r = self.load_general(ty.elem, Self::register_file(offset + k * step));
            self.store_general(ty.elem, Mem::at(Base::Context, at::HELP + k * bytes), r);
        }
        self.load_row(ty, Mem::at(Base::Context, at::HELP)).map(Held::Vectors)
    }

    /// Puts a scalar where a message has it.
    fn scalar_operand(&mut self, s: &Src, v: Option<Value>) -> Result<(), Unsupported> {
        if let (Src::Reg { offset, ty, constant: false, .. }, Some(v)) = (s, v) {
            let elem = Elem::of_bytes(ty.size()).ok_or("a scalar of an odd size")?;
            let r = self.general(v)?;
            self.store_general(elem, Self::register_file(*offset), r);
        }
        Ok(())
    }

    fn space_operand(&mut self, space: &Space, a: &Access) -> Result<(), Unsupported> {
        let (Space::Bti(s) | Space::Bindless(s) | Space::Scratch(s)) = space else { return Ok(()) };
        match a.window {
            Window::Surface(v) | Window::Handle(v) | Window::Scratch(v) => self.scalar_operand(s, Some(v)),
            _ => Ok(()),
        }
    }

    /// Puts the low bytes of lanes at a step.
    fn row_operand(&mut self, to: RegOffset, step: u32, v: Value, bytes: u32) -> Result<(), Unsupported> {
        let ty = self.ty(v);
        let m = Self::register_file(to);
        if ty.elem.bytes() == bytes && (step == bytes || ty.lanes == 1) {
            return self.put_anew(v, m);
        }
        let elem = Elem::of_bytes(bytes).ok_or("an element of an odd size")?;
        // Lane by lane, through memory.
        let through = Mem::at(Base::Context, at::HELP);
        self.put_anew(v, through)?;
        for k in 0..u32::from(ty.lanes) {
            let r = self.load_general(elem, through.further((k * ty.elem.bytes()) as i32));
            self.store_general(elem, m.further((k * step) as i32), r);
        }
        Ok(())
    }

    /// Puts a value into memory: where its lanes lie at a step, made of the first one. Nobody needs the others then.
    fn put_anew(&mut self, v: Value, m: Mem) -> Result<(), Unsupported> {
        let ty = self.ty(v);
        let Some(step) = self.stepped(v).filter(|_| matches!(ty.elem, Elem::I32 | Elem::I64)) else {
            return self.put(v, m);
        };
        let first = self.first(v)?;
        for k in 0..self.parts(ty) {
            let part = self.ramp(ty, first, step, k)?;
            self.store_bytes(ty.bytes().min(self.target.bytes()), m.further(64 * k as i32), part)?;
        }
        Ok(())
    }

    fn simt_operands(&mut self, a: &Access, s: &Simt, results: usize) -> Result<Vec<Place>, Unsupported> {
        self.space_operand(&s.space, a)?;
        let bytes = u32::from(s.address_bytes);
        self.row_operand(s.address, bytes, a.address, bytes)?;
        self.scalar_operand(&s.stride, a.stride)?;
        self.scalar_operand(&s.base, a.base)?;
        self.scalar_operand(&s.origin, a.origin)?;
        let step = if s.is_paired() { 8 } else { u32::from(s.slot) };
        let data = s.data.unwrap_or(0);
        for (v, c) in a.data.iter().zip(0..) {
            self.row_operand(data + c * s.component_stride, step, *v, a.element.into())?;
        }
        Ok((0..results as u32).map(|c| (data + c * s.component_stride, step)).collect())
    }

    fn block_operands(
        &mut self,
        a: &Access,
        b: &Consecutive,
        results: &[Type],
    ) -> Result<Vec<Place>, Unsupported> {
        self.space_operand(&b.space, a)?;
        self.scalar_operand(&b.address, Some(a.address))?;
        self.scalar_operand(&b.origin, a.origin)?;
        let mut at = b.data.unwrap_or(0);
        if a.kind == AccessKind::Store {
            for v in &a.data {
                self.put(*v, Self::register_file(at))?;
                at += self.ty(*v).bytes();
            }
            return Ok(Vec::new());
        }
        let mut out = Vec::new();
        for ty in results {
            out.push((at, ty.elem.bytes()));
            at += ty.bytes();
        }
        Ok(out)
    }
}
