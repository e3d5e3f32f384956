//! Instructions that compute channel by channel, and those on predicates.

use envisa_isa::Type as Number;
use envisa_lower::{Dst, ExecType, Inst as Lowered, Op, RegOffset, Shape, Src};
use envisa_sem::{Modifier, Relation};

use super::{Builder, No};
use crate::eval;
use crate::func::{Elem, Type, Value};
use crate::inst::{Arith, Exact, Inst, Logic};
use crate::operation_classes::{self, Class};

/// Types of operands, and what is made of their values.
type Kinds = Vec<(Number, Modifier)>;

impl Builder<'_> {
    /// Writes numbers to the destination, as it asks.
    pub(super) fn result(
        &mut self,
        i: &Lowered,
        value: Value,
        number: Number,
        mask: Option<Value>,
    ) -> Result<(), No> {
        match i.dst {
            Dst::None | Dst::Pred { .. } => Ok(()),
            Dst::Indirect { .. } => Err(No("a register by address")),
            Dst::Reg { offset, ty, stride, sat } => {
                let value = self.convert(value, (number, ty), sat, false)?;
                let step = u32::from(stride) * ty.size();
                let at: Vec<u32> = (0..u32::from(i.channels)).map(|k| offset + k * step).collect();
                self.write(&at, value, mask)
            }
        }
    }

    /// Writes dwords one after another.
    fn dwords(
        &mut self,
        i: &Lowered,
        offset: RegOffset,
        value: Value,
        mask: Option<Value>,
    ) -> Result<(), No> {
        let at: Vec<u32> = (0..u32::from(i.channels)).map(|k| offset + 4 * k).collect();
        self.write(&at, value, mask)
    }

    /// Is it done by values? See the interpreter's `wide`.
    fn by_value(i: &Lowered) -> bool {
        let sat = matches!(i.dst, Dst::Reg { sat: true, .. } | Dst::Indirect { sat: true, .. });
        let int = matches!(i.exec, ExecType::I32 | ExecType::U32 | ExecType::I64 | ExecType::U64);
        i.exec == ExecType::Wide || sat && int && matches!(i.op, Op::Add | Op::Add3 | Op::Mul | Op::Mad)
    }

    /// An arithmetic operation.
    pub(super) fn arith(&mut self, i: &Lowered, class: Class) -> Result<(), No> {
        if Self::by_value(i) {
            return self.exact(i);
        }
        let (mut number, odd) = operation_classes::number(i.exec).ok_or(No("no type to compute in"))?;
        let mut aux = if matches!(i.op, Op::Bfn | Op::Rol | Op::Ror) { i.aux } else { 0 };
        let signed = |s: &Src| matches!(s, Src::Reg { ty, .. } if ty.is_signed());
        match i.op {
            Op::Dp4a => {
                aux = u32::from(signed(&i.src[1])) | u32::from(signed(&i.src[2])) << 1;
                let dword = |s: &Src| matches!(s, Src::Reg { ty, .. } if ty.size() == 4);
                let plain = matches!(i.dst, Dst::Reg { ty, sat: false, .. } if ty.size() == 4 && ty.is_int());
                number = if plain && i.src[..3].iter().all(dword) { Number::Ud } else { Number::Q };
            }
            Op::Madw => number = Number::Q,
            Op::Mulh if number == Number::Uq => number = Number::Q,
            _ => {}
        }
        let mode = self.mode_of(number.is_float())?;
        let mut what = Arith { op: i.op, number, odd, negate: 0, aux, mode };
        if eval::eval_arith(&what, [1; 4]).is_none() {
            return Err(No("an operation without such operands"));
        }
        let sum = matches!(i.op, Op::Add | Op::Add3 | Op::Mad);
        let mut args = Vec::new();
        for k in 0..operation_classes::arity(i.op) {
            let taken = self.source(i, k, number, sum)?;
            what.negate |= u8::from(taken.negate) << k;
            args.push(taken.value);
        }
        let mask = self.guard(i)?;
        let lanes = u32::from(i.channels);
        let ty = Type::new(Elem::of(number), lanes);
        let dword = Type::new(Elem::I32, lanes);
        let inst = Inst::Arith { what, args };
        match class {
            Class::Two(_) if i.op == Op::Madw => {
                let [low, high] = self.push2(inst, [dword, dword]);
                if i.dst2 != 0 {
                    self.dwords(i, i.dst2, high, mask)?;
                }
                self.result(i, low, Number::Ud, mask)
            }
            Class::Two(_) => {
                let [value, second] = self.push2(inst, [ty, dword]);
                self.result(i, value, number, mask)?;
                // After the sum: in one place, the carry stays.
                if i.dst2 == 0 { Ok(()) } else { self.dwords(i, i.dst2, second, mask) }
            }
            Class::Early(_) => {
                let [value, early] = self.push2(inst, [ty, Type::mask(lanes)]);
                if i.dst2 != 0 {
                    self.set_predicate(i.dst2, u32::from(i.first), early, mask);
                }
                self.result(i, value, number, mask)
            }
            _ => {
                let value = self.push(inst, ty);
                self.result(i, value, number, mask)
            }
        }
    }

    /// The operands of an operation by values.
    fn exact_operands(&mut self, i: &Lowered) -> Result<(Kinds, Vec<Value>), No> {
        let (mut from, mut args) = (Vec::new(), Vec::new());
        for s in i.src[..3].iter().take_while(|s| **s != Src::None) {
            let (value, ty, modifier) = self.elements(s, i.channels.into())?;
            if !ty.is_int() {
                return Err(No("a float among integers"));
            }
            from.push((ty, modifier));
            args.push(value);
        }
        Ok((from, args))
    }

    fn exact(&mut self, i: &Lowered) -> Result<(), No> {
        let (from, args) = self.exact_operands(i)?;
        let Dst::Reg { ty: to, sat, .. } = i.dst else {
            return Err(No("a result by values that goes nowhere"));
        };
        let mode = self.mode_of(to.is_float())?;
        let what = Exact { op: i.op, from, to, sat, aux: i.aux, mode };
        if eval::eval_exact(&what, [1; 4]).is_none() {
            return Err(No("an operation without such operands"));
        }
        let mask = self.guard(i)?;
        let lanes = u32::from(i.channels);
        let ty = Type::new(Elem::of(to), lanes);
        let inst = Inst::Exact { what: Box::new(what), args };
        let value = if i.op == Op::Add3o {
            let [value, overflows] = self.push2(inst, [ty, Type::mask(lanes)]);
            if i.dst2 != 0 {
                self.set_predicate(i.dst2, u32::from(i.first), overflows, mask);
            }
            value
        } else {
            self.push(inst, ty)
        };
        self.raw_result(i, value, mask)
    }

    /// Writes bits to the destination.
    fn raw_result(&mut self, i: &Lowered, value: Value, mask: Option<Value>) -> Result<(), No> {
        let Dst::Reg { offset, ty, stride, .. } = i.dst else { return Ok(()) };
        let step = u32::from(stride) * ty.size();
        let at: Vec<u32> = (0..u32::from(i.channels)).map(|k| offset + k * step).collect();
        self.write(&at, value, mask)
    }

    /// A copy by value, or in the type that channels compute in.
    fn copied(&mut self, i: &Lowered, k: usize) -> Result<(Value, Option<Number>), No> {
        if !Self::by_value(i) {
            let (number, _) = operation_classes::number(i.exec).ok_or(No("no type to compute in"))?;
            return Ok((self.source(i, k, number, false)?.value, Some(number)));
        }
        let (value, ty, modifier) = self.elements(&i.src[k], i.channels.into())?;
        let Dst::Reg { ty: to, sat, .. } = i.dst else {
            return Err(No("a result by values that goes nowhere"));
        };
        if !ty.is_int() {
            return Err(No("a float among integers"));
        }
        let mode = self.mode_of(to.is_float())?;
        let what = Exact { op: Op::Mov, from: vec![(ty, modifier)], to, sat, aux: 0, mode };
        let ty = Type::new(Elem::of(to), i.channels.into());
        Ok((self.push(Inst::Exact { what: Box::new(what), args: vec![value] }, ty), None))
    }

    /// `mov`.
    pub(super) fn mov(&mut self, i: &Lowered) -> Result<(), No> {
        let (value, number) = self.copied(i, 0)?;
        let mask = self.guard(i)?;
        match number {
            Some(number) => self.result(i, value, number, mask),
            None => self.raw_result(i, value, mask),
        }
    }

    /// `sel`: the predicate chooses, all active channels run.
    pub(super) fn sel(&mut self, i: &Lowered) -> Result<(), No> {
        let ((a, number), (b, _)) = (self.copied(i, 0)?, self.copied(i, 1)?);
        let mask = self.active(i);
        let value = match self.predicate(i) {
            None => a,
            Some(pick) => {
                let ty = self.f.ty(a);
                self.push(Inst::Select { mask: pick, args: [a, b] }, ty)
            }
        };
        match number {
            Some(number) => self.result(i, value, number, mask),
            None => self.raw_result(i, value, mask),
        }
    }

    /// `cmp`, to a predicate or to a variable.
    pub(super) fn cmp(&mut self, i: &Lowered) -> Result<(), No> {
        let lanes = u32::from(i.channels);
        let relation = Relation::from_code(i.aux as u8).ok_or(No("a relation that is not defined"))?;
        let holds = if i.exec == ExecType::Wide {
            let (from, args) = self.exact_operands(i)?;
            let mode = self.mode_of(false)?;
            let what = Exact { op: Op::Cmp, from, to: Number::Ud, sat: false, aux: i.aux, mode };
            self.push(Inst::Exact { what: Box::new(what), args }, Type::mask(lanes))
        } else {
            let (number, _) = operation_classes::number(i.exec).ok_or(No("no type to compute in"))?;
            let mode = self.mode_of(number.is_float())?;
            let a = self.source(i, 0, number, false)?.value;
            let b = self.source(i, 1, number, false)?.value;
            self.push(Inst::Cmp { relation, number, mode, args: [a, b] }, Type::mask(lanes))
        };
        let mask = self.guard(i)?;
        match i.dst {
            Dst::Pred { offset } => {
                self.set_predicate(offset, u32::from(i.first), holds, mask);
                Ok(())
            }
            Dst::Reg { ty, .. } => {
                let ty = Type::new(Elem::of(ty), lanes);
                let (ones, zeros) = (self.constant(u64::MAX, ty), self.constant(0, ty));
                let value = self.push(Inst::Select { mask: holds, args: [ones, zeros] }, ty);
                self.raw_result(i, value, mask)
            }
            Dst::None => Ok(()),
            Dst::Indirect { .. } => Err(No("a register by address")),
        }
    }

    /// `and or xor not` of predicates.
    pub(super) fn predicate_logic(&mut self, i: &Lowered) -> Result<(), No> {
        let (first, lanes) = (u32::from(i.first), u32::from(i.channels));
        let operand = |b: &mut Self, s: &Src| match *s {
            Src::Pred { offset, invert } => {
                let bits = b.predicate_lanes(offset, first, lanes);
                Ok(if invert { b.not(bits) } else { bits })
            }
            Src::None => Ok(b.constant(0, Type::mask(lanes))),
            Src::Reg { .. } | Src::Indirect { .. } => Err(No("a number among predicates")),
        };
        let (a, b) = (operand(self, &i.src[0])?, operand(self, &i.src[1])?);
        let value = match i.aux {
            0x88 => self.logic(Logic::And, a, b),
            0xee => self.logic(Logic::Or, a, b),
            0x66 => self.logic(Logic::Xor, a, b),
            _ => self.not(a),
        };
        let mask = self.guard(i)?;
        if let Dst::Pred { offset } = i.dst {
            self.set_predicate(offset, first, value, mask);
        }
        Ok(())
    }

    /// `setp`.
    pub(super) fn setp(&mut self, i: &Lowered) -> Result<(), No> {
        let (first, lanes) = (u32::from(i.first), u32::from(i.channels));
        let Dst::Pred { offset } = i.dst else { return Ok(()) };
        let (Src::Reg { shape, .. }, true) = (i.src[0], i.pred.offset == 0 || lanes > 0) else {
            return Err(No("a predicate of what is not a register"));
        };
        if shape == Shape::Scalar {
            // All bits, whatever the execution mask.
            let scalar = Lowered { channels: 1, ..*i };
            let value = self.source(&scalar, 0, Number::Ud, false)?.value;
            let bits = self.push(Inst::FromBits(value), Type::mask(lanes));
            self.set_predicate(offset, first, bits, None);
            return Ok(());
        }
        let ty = Type::new(Elem::I32, lanes);
        let value = self.source(i, 0, Number::Ud, false)?.value;
        let (one, zero) = (self.constant(1, ty), self.constant(0, ty));
        let low = Inst::Arith { what: Arith::new(Op::And, Number::Ud), args: vec![value, one] };
        let low = self.push(low, ty);
        let mode = self.mode_of(false)?;
        let cmp = Inst::Cmp { relation: Relation::Ne, number: Number::Ud, mode, args: [low, zero] };
        let bits = self.push(cmp, Type::mask(lanes));
        let mask = self.guard(i)?;
        self.set_predicate(offset, first, bits, mask);
        Ok(())
    }

    /// `mov` from a predicate: all of its bits, whatever the execution mask.
    pub(super) fn mov_predicate(&mut self, i: &Lowered) -> Result<(), No> {
        let Src::Pred { offset, invert } = i.src[0] else { return Ok(()) };
        let Dst::Reg { offset: to, ty, .. } = i.dst else { return Err(No("a register by address")) };
        let mut bits = self.predicate_lanes(offset, 0, 32);
        if invert {
            bits = self.not(bits);
        }
        let dword = Type::new(Elem::I32, 1);
        let value = self.push(Inst::ToBits(bits), dword);
        let number = match ty.size() {
            1 => Number::Ub,
            2 => Number::Uw,
            4 => Number::Ud,
            _ => Number::Uq,
        };
        let value = self.convert(value, (Number::Ud, number), false, false)?;
        self.write(&[to], value, None)
    }

    /// `%ce0`.
    pub(super) fn enables(&mut self, i: &Lowered) -> Result<(), No> {
        let Dst::Reg { offset, .. } = i.dst else { return Ok(()) };
        if i.aux != 0 {
            return Err(No("the time"));
        }
        let exec = self.exec();
        let value = self.push(Inst::ToBits(exec), Type::new(Elem::I32, 1));
        self.write(&[offset], value, None)
    }
}
