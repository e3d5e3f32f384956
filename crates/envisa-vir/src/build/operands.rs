//! Elements of the register file as values, and back.

use envisa_isa::Type as Number;
use envisa_lower::{Inst as Lowered, Modifier, Op, Src};

use super::pieces::Piece;
use super::{Builder, No};
use crate::func::{Elem, Type, Value};
use crate::inst::{Inst, Shuffle};

/// Are they integers of one size, or the same?
pub(super) fn same_bits(a: Number, b: Number) -> bool {
    a == b || a.is_int() && b.is_int() && a.size() == b.size()
}

/// Halves a unit until it divides a number of bytes.
fn halve_until_divides(unit: &mut u32, bytes: u32) {
    while !bytes.is_multiple_of(*unit) {
        *unit /= 2;
    }
}

/// A source as an operation takes it.
pub(super) struct Taken {
    pub value: Value,
    /// A negation that is the operation's.
    pub negate: bool,
}

impl Builder<'_> {
    /// The value of a piece, here.
    pub(super) fn piece(&mut self, k: usize) -> Value {
        let p = self.pieces.all[k];
        if !p.written {
            return self.input(p.offset, p.ty, p.ty.elem.bytes());
        }
        self.read_var(k as u32, p.ty)
    }

    /// Elements of these places of the register file, a lane each.
    pub(super) fn read(&mut self, at: &[u32], bytes: u32) -> Result<Value, No> {
        let ty = Type::new(Elem::of_bytes(bytes).ok_or(No("an element of an odd size"))?, at.len() as u32);
        let constants = &self.p.registers().constants;
        let constant = |at: u32| {
            let bytes = constants.get(at as usize..(at + bytes) as usize)?;
            Some(bytes.iter().rev().fold(0, |x, b| x << 8 | u64::from(*b)))
        };
        if let Some(bits) = at.iter().map(|a| constant(*a)).collect::<Option<Vec<u64>>>() {
            return Ok(if bits.iter().all(|b| *b == bits[0]) {
                self.constant(bits[0], ty)
            } else {
                self.lanes(bits, ty)
            });
        }
        if at.len() > 1 && at.iter().all(|a| *a == at[0]) {
            let one = self.read(&at[..1], bytes)?;
            return Ok(self.push(Inst::Splat(one), ty));
        }
        let step = if at.len() > 1 { at[1].wrapping_sub(at[0]) } else { bytes };
        let even = at.windows(2).all(|w| w[1].wrapping_sub(w[0]) == step) && step < 1 << 16;
        let (low, high) =
            (at.iter().min().copied().unwrap_or(0), at.iter().max().copied().unwrap_or(0) + bytes);
        let touched = self.pieces.touching(low..high);
        let whole = |p: &Piece| p.offset == at[0] && p.ty == ty;
        if even && touched.len() == 1 && step == bytes && whole(&self.pieces.all[touched.start]) {
            return Ok(self.piece(touched.start));
        }
        if even && !self.pieces.all[touched.clone()].iter().any(|p| p.written) {
            return Ok(self.input(at[0], ty, step));
        }
        self.assemble(at, bytes, ty)
    }

    /// The same from parts of pieces.
    fn assemble(&mut self, at: &[u32], bytes: u32, ty: Type) -> Result<Value, No> {
        // Which bytes of the result are which of a piece.
        let (mut parts, mut used, mut unit) = (Vec::new(), Vec::new(), bytes);
        for (a, lane) in at.iter().zip(0u32..) {
            let mut from = *a;
            for k in self.pieces.touching(*a..a + bytes) {
                let p = self.pieces.all[k];
                let (start, end) = (p.offset.max(*a), p.end().min(a + bytes));
                if start != from {
                    break;
                }
                for n in [start - a, end - start, start - p.offset, p.ty.bytes()] {
                    halve_until_divides(&mut unit, n);
                }
                parts.push((lane * bytes + (start - a), k, start - p.offset, end - start));
                used.push(k);
                from = end;
            }
            if from != a + bytes {
                return Err(No("bytes of registers that are in no piece"));
            }
        }
        used.sort_unstable();
        used.dedup();
        let mut bases = Vec::new();
        let mut base = 0;
        for k in &used {
            bases.push(base);
            base += self.pieces.all[*k].ty.bytes();
        }
        let mut units = vec![0u16; (ty.bytes() / unit) as usize];
        for (to, k, from, n) in parts {
            let base = bases[used.binary_search(&k).unwrap_or(0)];
            for j in 0..n / unit {
                units[(to / unit + j) as usize] = ((base + from) / unit + j) as u16;
            }
        }
        let args = used.into_iter().map(|k| self.piece(k)).collect();
        Ok(self.push(Inst::Shuffle(Box::new(Shuffle { args, unit: unit as u8, units })), ty))
    }

    /// Writes lanes to these places, those of the mask if there is one.
    pub(super) fn write(&mut self, at: &[u32], value: Value, mask: Option<Value>) -> Result<(), No> {
        let ty = self.f.ty(value);
        let bytes = ty.elem.bytes();
        let value = match mask {
            None => value,
            Some(mask) => {
                let old = self.read(at, bytes)?;
                self.push(Inst::Select { mask, args: [value, old] }, ty)
            }
        };
        let (low, high) =
            (at.iter().min().copied().unwrap_or(0), at.iter().max().copied().unwrap_or(0) + bytes);
        for k in self.pieces.touching(low..high) {
            let p = self.pieces.all[k];
            let row = at.iter().zip(0u32..).all(|(a, k)| *a == at[0] + k * bytes);
            if row && p.offset == at[0] && p.ty == ty {
                self.write_var(k as u32, value);
            } else {
                self.insert(k, at, value);
            }
        }
        Ok(())
    }

    /// A piece of which some bytes become those of lanes.
    fn insert(&mut self, k: usize, at: &[u32], value: Value) {
        let (p, ty) = (self.pieces.all[k], self.f.ty(value));
        let bytes = ty.elem.bytes();
        let mut unit = p.ty.elem.bytes().min(bytes);
        let mut parts = Vec::new();
        for (a, lane) in at.iter().zip(0u32..) {
            let (start, end) = (p.offset.max(*a), p.end().min(a + bytes));
            if start < end {
                for n in [start - p.offset, end - start, start - a] {
                    halve_until_divides(&mut unit, n);
                }
                parts.push((start - p.offset, lane * bytes + (start - a), end - start));
            }
        }
        if parts.is_empty() {
            return;
        }
        let covered: u32 = parts.iter().map(|p| p.2).sum();
        let (mut args, mut base) = (Vec::new(), 0);
        let mut units: Vec<u16> = (0..(p.ty.bytes() / unit) as u16).collect();
        if covered < p.ty.bytes() {
            args.push(self.piece(k));
            base = p.ty.bytes() / unit;
        }
        args.push(value);
        for (to, from, n) in parts {
            for j in 0..n / unit {
                units[(to / unit + j) as usize] = (base + from / unit + j) as u16;
            }
        }
        let v = self.push(Inst::Shuffle(Box::new(Shuffle { args, unit: unit as u8, units })), p.ty);
        self.write_var(k as u32, v);
    }

    /// A source's elements by their own type, without its modifier.
    pub(super) fn elements(&mut self, s: &Src, lanes: u32) -> Result<(Value, Number, Modifier), No> {
        match *s {
            Src::Reg { offset, ty, strides, modifier, .. } if ty.is_int() || ty.is_float() => {
                let at: Vec<u32> = (0..lanes).map(|k| offset + strides.element(k) * ty.size()).collect();
                Ok((self.read(&at, ty.size())?, ty, modifier))
            }
            Src::None => {
                let zero = self.constant(0, Type::new(Elem::I32, lanes));
                Ok((zero, Number::Ud, Modifier::None))
            }
            Src::Reg { .. } => Err(No("a source of a type that is not an element's")),
            Src::Indirect { .. } => Err(No("a register by address")),
            Src::Pred { .. } => Err(No("a predicate among numbers")),
        }
    }

    /// Source `k` as numbers of a type, with its modifier; `sum`: its negation may be the operation's.
    pub(super) fn source(&mut self, i: &Lowered, k: usize, number: Number, sum: bool) -> Result<Taken, No> {
        let lanes = u32::from(i.channels);
        let (value, ty, modifier) = self.elements(&i.src[k], lanes)?;
        let copies = matches!(i.op, Op::Mov | Op::Sel);
        let mut value = self.convert(value, (ty, number), false, !copies)?;
        let absolute = matches!(modifier, Modifier::Abs | Modifier::NegAbs);
        if absolute && ty.is_int() != number.is_int() {
            return Err(No("an absolute value of another kind of number"));
        }
        let wide = Type::new(Elem::of(number), lanes);
        let steps = match modifier {
            Modifier::None | Modifier::Sat => [None, None],
            Modifier::Abs => [Some(Modifier::Abs), None],
            Modifier::NegAbs => [Some(Modifier::Abs), Some(Modifier::Neg)],
            Modifier::Neg => [None, Some(Modifier::Neg)],
            Modifier::Not => [Some(Modifier::Not), None],
        };
        // Of what has no sign it is the same.
        let unsigned = absolute && ty.is_int() && !ty.is_signed();
        if let Some(modifier) = steps[0].filter(|_| !unsigned) {
            let signed = if number.size() == 8 { Number::Q } else { Number::D };
            let number = if absolute && number.is_int() { signed } else { number };
            value = self.push(Inst::Modify { modifier, number, arg: value }, wide);
        }
        let negate = steps[1].is_some() && sum;
        if steps[1].is_some() && !sum {
            value = self.push(Inst::Modify { modifier: Modifier::Neg, number, arg: value }, wide);
        }
        Ok(Taken { value, negate })
    }

    /// Converts, if anything changes by that.
    pub(super) fn convert(
        &mut self,
        value: Value,
        (from, to): (Number, Number),
        sat: bool,
        operand: bool,
    ) -> Result<Value, No> {
        if same_bits(from, to) && !(sat && (from != to || to.is_float())) {
            return Ok(value);
        }
        let float = from.is_float() || to.is_float();
        let mode = self.mode_of(float)?;
        let operand = operand && float && !mode.is_ieee();
        let ty = Type::new(Elem::of(to), self.f.ty(value).lanes.into());
        Ok(self.push(Inst::Convert { from, to, sat, operand, mode, arg: value }, ty))
    }
}
