//! Conversions.

use envisa_isa::Type as Number;
use envisa_vir::{Elem, InstId, Type, Value};
use iced_x86::Code;

use super::{Held, Select, Unsupported};
use crate::inst::{Lanes, Op, Reg, Size};
use crate::ops;

impl Select<'_> {
    /// A conversion in the usual mode: `false` if it has no code.
    pub(super) fn convert(
        &mut self,
        id: InstId,
        from: Number,
        to: Number,
        sat: bool,
        arg: Value,
    ) -> Result<bool, Unsupported> {
        let v = self.result(id, 0);
        let (old, new) = (self.ty(arg), self.ty(v));
        if from == to && !sat {
            // The same bits: NaNs may become quiet, so only integers.
            return if from.is_int() { self.same_bits(v, arg) } else { Ok(false) };
        }
        if from.is_int() && to.is_int() {
            if sat {
                return Ok(false);
            }
            if new.lanes == 1 {
                let r = self.scalar_convert(from, new.elem, arg)?;
                self.set(v, Held::General(r));
                return Ok(true);
            }
            return if new.elem == old.elem {
                self.same_bits(v, arg)
            } else if new.elem.bytes() > old.elem.bytes() {
                self.widened(v, old, new, from.is_signed(), arg)
            } else {
                self.cut(v, old, new, arg)
            };
        }
        if sat {
            return Ok(false);
        }
        match (from, to) {
            (Number::D, Number::F) => self.by_one(v, &ops::CVTDQ2PS, arg),
            (Number::Ud, Number::F) => self.by_one(v, &ops::CVTUDQ2PS, arg),
            (Number::F, Number::D | Number::Ud) => {
                let signed = to == Number::D;
                self.each(v, arg, |s, size, x| s.truncated(size, x, signed))
            }
            (Number::B | Number::Ub | Number::W | Number::Uw, Number::F) => {
                if new.lanes == 1 {
                    let r = self.scalar_convert(from, Elem::I32, arg)?;
                    let r = self.in_lane(r, Elem::I32);
                    let r = self.vop(&ops::CVTDQ2PS, Size::X, &[Op::Use(r, Size::X)])?;
                    self.set_parts(v, vec![r]);
                    return Ok(true);
                }
                let wide =
                    self.widened_parts(old, Type::new(Elem::I32, new.lanes.into()), from.is_signed(), arg)?;
                let size = self.size(new);
                let parts = wide.into_iter().map(|r| self.vop(&ops::CVTDQ2PS, size, &[Op::Use(r, size)]));
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                self.set_parts(v, parts);
                Ok(true)
            }
            (Number::F, Number::Df) => self.doubled(v, &ops::CVTPS2PD, arg),
            (Number::D, Number::Df) => self.doubled(v, &ops::CVTDQ2PD, arg),
            (Number::Df, Number::F) => self.singles_of_doubles(v, arg),
            (Number::Hf, Number::F) => self.singles_of_halves(v, arg),
            _ => Ok(false),
        }
    }

    fn by_one(&mut self, v: Value, op: &ops::Vop, arg: Value) -> Result<bool, Unsupported> {
        self.each(v, arg, |s, size, x| s.vop(op, size, &[Op::Use(x, size)]))
    }

    fn same_bits(&mut self, v: Value, arg: Value) -> Result<bool, Unsupported> {
        let ty = self.ty(v);
        if ty.lanes == 1 {
            let held = match self.held[arg.index()].clone() {
                Some(h @ Held::Lane(_)) => h,
                _ => Held::General(self.general(arg)?),
            };
            self.set(v, held);
            return Ok(true);
        }
        let parts: Vec<Reg> = (0..self.parts(ty)).map(|k| self.part(arg, k)).collect::<Result<_, _>>()?;
        self.set_parts(v, parts);
        Ok(true)
    }

    fn widened(
        &mut self,
        v: Value,
        old: Type,
        new: Type,
        signed: bool,
        arg: Value,
    ) -> Result<bool, Unsupported> {
        let parts = self.widened_parts(old, new, signed, arg)?;
        self.set_parts(v, parts);
        Ok(true)
    }

    /// Integers of more bits, by part.
    fn widened_parts(
        &mut self,
        old: Type,
        new: Type,
        signed: bool,
        arg: Value,
    ) -> Result<Vec<Reg>, Unsupported> {
        let two_steps = matches!((old.elem, new.elem), (Elem::I8 | Elem::I16, Elem::I64));
        let middle = if two_steps { new.of(Elem::I32) } else { new };
        let op = match (old.elem, middle.elem, signed) {
            (Elem::I8, Elem::I16, true) => &ops::SX8TO16,
            (Elem::I8, Elem::I16, false) => &ops::ZX8TO16,
            (Elem::I8, Elem::I32, true) => &ops::SX8TO32,
            (Elem::I8, Elem::I32, false) => &ops::ZX8TO32,
            (Elem::I16, Elem::I32, true) => &ops::SX16TO32,
            (Elem::I16, Elem::I32, false) => &ops::ZX16TO32,
            (Elem::I32, Elem::I64, true) => &ops::SX32TO64,
            (Elem::I32, Elem::I64, false) => &ops::ZX32TO64,
            _ => return Err("integers of a rare size"),
        };
        let (n, size) = (self.lanes_of_part(middle), self.size(middle));
        let mut parts = Vec::new();
        for k in 0..self.parts(middle) as u32 {
            let from = self.slice(arg, k * n, n)?;
            parts.push(self.lengthened(op, size, old.elem, middle.elem, from)?);
        }
        if !two_steps {
            return Ok(parts);
        }
        let op = if signed { &ops::SX32TO64 } else { &ops::ZX32TO64 };
        let (per, size, mut out) = (self.lanes_of_part(new), self.size(new), Vec::new());
        for k in 0..self.parts(new) as u32 {
            let first = k * per;
            let from = self.upper(parts[(first / n) as usize], first % n * 4, per * 4)?;
            out.push(self.lengthened(op, size, Elem::I32, Elem::I64, from)?);
        }
        Ok(out)
    }

    /// Lanes of more bits, of the lowest ones of a register.
    fn lengthened(
        &mut self,
        op: &ops::Vop,
        size: Size,
        from: Elem,
        to: Elem,
        r: Reg,
    ) -> Result<Reg, Unsupported> {
        let bytes = match size {
            Size::Z => 64,
            Size::Y => 32,
            _ => 16,
        };
        let small = if bytes * from.bytes() / to.bytes() > 16 { Size::Y } else { Size::X };
        self.vop(op, size, &[Op::Use(r, small)])
    }

    /// Integers of fewer bits: the low ones.
    fn cut(&mut self, v: Value, old: Type, new: Type, arg: Value) -> Result<bool, Unsupported> {
        let op = match (old.elem, new.elem) {
            (Elem::I64, Elem::I32) => &ops::DOWN64TO32,
            (Elem::I64, Elem::I16) => &ops::DOWN64TO16,
            (Elem::I64, Elem::I8) => &ops::DOWN64TO8,
            (Elem::I32, Elem::I16) => &ops::DOWN32TO16,
            (Elem::I32, Elem::I8) => &ops::DOWN32TO8,
            (Elem::I16, Elem::I8) => &ops::DOWN16TO8,
            _ => return Ok(false),
        };
        let size = self.size(old);
        let mut parts = Vec::new();
        for k in 0..self.parts(old) {
            let r = self.part(arg, k)?;
            parts.push(self.down(op, size, old.elem, new.elem, r)?);
        }
        let each = old.bytes().min(self.target.bytes()) * new.elem.bytes() / old.elem.bytes();
        let parts = self.join(parts, each);
        self.set_parts(v, parts);
        Ok(true)
    }

    /// Singles to integers: towards zero, out of range the nearest, NaN 0.
    fn truncated(&mut self, size: Size, x: Reg, signed: bool) -> Result<Reg, Unsupported> {
        if !signed {
            // Below zero, and of NaN: zero. Above, the conversion gives all ones.
            let zero = self.zeros(size)?;
            let x = self.vop(&ops::MAXPS, size, &[Op::Use(x, size), Op::Use(zero, size)])?;
            return self.vop(&ops::CVTTPS2UDQ, size, &[Op::Use(x, size)]);
        }
        let compare = self.code(&ops::CMPPS, size)?;
        let number = self.kop(compare, &[Op::Use(x, size), Op::Use(x, size), Op::Imm8(7)]);
        let r = self.zeroing(&ops::CVTTPS2DQ, size, number, &[Op::Use(x, size)])?;
        let limit = self.m.literal(0x4f00_0000).for_all();
        let above = self.kop(compare, &[Op::Use(x, size), Op::Mem(limit), Op::Imm8(0x1d)]);
        let most = Op::Mem(self.m.literal(0x7fff_ffff).for_all());
        self.blend(&ops::BLEND32, size, above, most, r)
    }

    /// To doubles, which take twice the bytes.
    fn doubled(&mut self, v: Value, op: &ops::Vop, arg: Value) -> Result<bool, Unsupported> {
        let new = self.ty(v);
        let (n, size) = (self.lanes_of_part(new), self.size(new));
        let mut parts = Vec::new();
        for k in 0..self.parts(new) as u32 {
            let from = if new.lanes == 1 { self.lane(arg)? } else { self.slice(arg, k * n, n)? };
            parts.push(self.lengthened(op, size, Elem::I32, Elem::I64, from)?);
        }
        self.set_parts(v, parts);
        Ok(true)
    }

    fn singles_of_doubles(&mut self, v: Value, arg: Value) -> Result<bool, Unsupported> {
        let old = self.ty(arg);
        let size = self.size(old);
        let (code, small) = match size {
            Size::X => (Code::EVEX_Vcvtpd2ps_xmm_k1z_xmmm128b64, Size::X),
            Size::Y => (Code::EVEX_Vcvtpd2ps_xmm_k1z_ymmm256b64, Size::X),
            _ => (Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er, Size::Y),
        };
        let mut parts = Vec::new();
        for k in 0..self.parts(old) {
            let r = self.part(arg, k)?;
            let to = self.m.reg(crate::inst::Class::Vector);
            self.m.lanes(self.at, code, &[Op::Def(to, small), Op::Use(r, size)], Lanes::All);
            parts.push(to);
        }
        let parts = self.join(parts, old.bytes().min(64) / 2);
        self.set_parts(v, parts);
        Ok(true)
    }

    fn singles_of_halves(&mut self, v: Value, arg: Value) -> Result<bool, Unsupported> {
        let new = self.ty(v);
        let (n, size) = (self.lanes_of_part(new), self.size(new));
        let mut parts = Vec::new();
        for k in 0..self.parts(new) as u32 {
            let from = if new.lanes == 1 { self.lane(arg)? } else { self.slice(arg, k * n, n)? };
            parts.push(self.lengthened(&ops::CVTPH2PS, size, Elem::I16, Elem::I32, from)?);
        }
        self.set_parts(v, parts);
        Ok(true)
    }
}
