//! Arithmetic on vectors.

use envisa_isa::Type as Number;
use envisa_lower::Op as Lowered;
use envisa_sem::Modifier;
use envisa_vir::{Arith, Elem, InstId, Type, Value};
use iced_x86::Code;

use super::{Held, Select, Unsupported};
use crate::inst::{Lanes, Op, Reg, Size};
use crate::ops::{self, Vop};

/// What an operation is to the CPU.
enum Plan {
    /// One instruction of two operands; the first may be exchanged with the second.
    Two(&'static Vop),
    /// Something else.
    Other,
}

impl Select<'_> {
    /// An operation on numbers: `false` if it has no code.
    pub(super) fn arith(&mut self, id: InstId, what: &Arith, args: &[Value]) -> Result<bool, Unsupported> {
        let v = self.result(id, 0);
        let ty = self.ty(v);
        if what.odd || self.f.inst(id).results > 1 || self.target.bytes() != 64 {
            return Ok(false);
        }
        if what.number.is_float() {
            return self.floats(v, ty, what, args);
        }
        if ty.lanes == 1
            && let Some(r) = self.scalar(what, ty.elem, args)?
        {
            self.set(v, Held::General(r));
            return Ok(true);
        }
        self.integers(v, ty, what, args)
    }

    /// An instruction of two operands, part by part.
    pub(super) fn two(&mut self, v: Value, op: &Vop, a: Value, b: Value) -> Result<bool, Unsupported> {
        let ty = self.ty(v);
        let (size, mut out) = (self.size(ty), Vec::new());
        for k in 0..self.parts(ty) {
            let (x, y) = (self.part(a, k)?, self.operand(b, k)?);
            out.push(self.vop(op, size, &[Op::Use(x, size), y])?);
        }
        self.set_parts(v, out);
        Ok(true)
    }

    /// Something of one operand, part by part.
    pub(super) fn each(
        &mut self,
        v: Value,
        a: Value,
        mut make: impl FnMut(&mut Self, Size, Reg) -> Result<Reg, Unsupported>,
    ) -> Result<bool, Unsupported> {
        let ty = self.ty(v);
        let (size, mut out) = (self.size(ty), Vec::new());
        for k in 0..self.parts(ty) {
            let x = self.part(a, k)?;
            out.push(make(self, size, x)?);
        }
        self.set_parts(v, out);
        Ok(true)
    }

    fn plan(what: &Arith, elem: Elem) -> Plan {
        use Lowered::*;
        let signed = what.number.is_signed();
        let of = |all: [&'static Vop; 4]| match elem {
            Elem::I8 => Plan::Two(all[0]),
            Elem::I16 => Plan::Two(all[1]),
            Elem::I64 => Plan::Two(all[3]),
            _ => Plan::Two(all[2]),
        };
        match (what.op, signed) {
            (Add, _) if what.negate == 0 => of([&ops::ADD8, &ops::ADD16, &ops::ADD32, &ops::ADD64]),
            (Add, _) if what.negate == 2 => of([&ops::SUB8, &ops::SUB16, &ops::SUB32, &ops::SUB64]),
            (Mul, _) if elem == Elem::I8 => Plan::Other,
            (Mul, _) => of([&ops::MUL16, &ops::MUL16, &ops::MUL32, &ops::MUL64]),
            (Min, true) => of([&ops::MINS8, &ops::MINS16, &ops::MINS32, &ops::MINS64]),
            (Max, true) => of([&ops::MAXS8, &ops::MAXS16, &ops::MAXS32, &ops::MAXS64]),
            (Min, false) => of([&ops::MINU8, &ops::MINU16, &ops::MINU32, &ops::MINU64]),
            (Max, false) => of([&ops::MAXU8, &ops::MAXU16, &ops::MAXU32, &ops::MAXU64]),
            (And, _) => of([&ops::AND32, &ops::AND32, &ops::AND32, &ops::AND64]),
            (Or, _) => of([&ops::OR32, &ops::OR32, &ops::OR32, &ops::OR64]),
            (Xor, _) => of([&ops::XOR32, &ops::XOR32, &ops::XOR32, &ops::XOR64]),
            _ => Plan::Other,
        }
    }

    fn integers(&mut self, v: Value, ty: Type, what: &Arith, args: &[Value]) -> Result<bool, Unsupported> {
        if let Plan::Two(op) = Self::plan(what, ty.elem) {
            // A constant comes second, where that is the same.
            let first = self.constant(args[0]).is_some() && what.negate == 0;
            let (a, b) = if first { (args[1], args[0]) } else { (args[0], args[1]) };
            return self.two(v, op, a, b);
        }
        if !matches!(ty.elem, Elem::I32 | Elem::I64) {
            return self.narrow_integers(v, ty, what, args);
        }
        let quads = ty.elem == Elem::I64;
        let pick = |d: &'static Vop, q: &'static Vop| if quads { q } else { d };
        let (add, sub) = (pick(&ops::ADD32, &ops::ADD64), pick(&ops::SUB32, &ops::SUB64));
        let signed = what.number.is_signed();
        match what.op {
            Lowered::Add if what.negate == 1 => self.two(v, sub, args[1], args[0]),
            Lowered::Add3 | Lowered::Mad if what.negate == 0 => {
                let op = match what.op {
                    Lowered::Add3 => add,
                    _ => pick(&ops::MUL32, &ops::MUL64),
                };
                let (a, b) =
                    if self.constant(args[0]).is_some() { (args[1], args[0]) } else { (args[0], args[1]) };
                let (size, mut out) = (self.size(ty), Vec::new());
                for k in 0..self.parts(ty) {
                    let (x, y) = (self.part(a, k)?, self.operand(b, k)?);
                    let r = self.vop(op, size, &[Op::Use(x, size), y])?;
                    let z = self.operand(args[2], k)?;
                    out.push(self.vop(add, size, &[Op::Use(r, size), z])?);
                }
                self.set_parts(v, out);
                Ok(true)
            }
            Lowered::Not => {
                let op = pick(&ops::TERNLOG32, &ops::TERNLOG64);
                self.each(v, args[0], |s, size, x| s.ternary(op, size, [x; 3], 0x55))
            }
            Lowered::Bfn => {
                let (size, mut out) = (self.size(ty), Vec::new());
                for k in 0..self.parts(ty) {
                    let [a, b, c] = [self.part(args[0], k)?, self.part(args[1], k)?, self.part(args[2], k)?];
                    // The table's index is `s0 + 2 s1 + 4 s2`; the CPU's has the first operand on top.
                    out.push(self.ternary(&ops::TERNLOG32, size, [c, b, a], what.aux as u8)?);
                }
                self.set_parts(v, out);
                Ok(true)
            }
            Lowered::Shl | Lowered::Shr | Lowered::Asr => self.shifts(v, ty, what.op, args),
            Lowered::Rol | Lowered::Ror if what.aux == ty.elem.bits() => self.rotations(v, ty, what.op, args),
            Lowered::Mulh if !quads => self.high_products(v, ty, signed, args),
            Lowered::Lzd if !quads => {
                self.each(v, args[0], |s, size, x| s.vop(&ops::LZCNT32, size, &[Op::Use(x, size)]))
            }
            Lowered::Avg => self.averages(v, ty, signed, args),
            _ => Ok(false),
        }
    }

    /// Logic of three.
    pub(super) fn ternary(
        &mut self,
        op: &Vop,
        size: Size,
        [a, b, c]: [Reg; 3],
        table: u8,
    ) -> Result<Reg, Unsupported> {
        let (code, to) = (self.code(op, size)?, self.m.reg(crate::inst::Class::Vector));
        let ops = [Op::Mod { from: a, to, size }, Op::Use(b, size), Op::Use(c, size), Op::Imm8(table)];
        self.m.lanes(self.at, code, &ops, Lanes::All);
        Ok(to)
    }

    fn shifts(&mut self, v: Value, ty: Type, op: Lowered, args: &[Value]) -> Result<bool, Unsupported> {
        let quads = ty.elem == Elem::I64;
        let bits = ty.elem.bits();
        if let Some(n) = self.constant(args[1]) {
            let n = n as u8 & (bits - 1) as u8;
            let op = match (op, quads) {
                (Lowered::Shl, false) => &ops::SLL32,
                (Lowered::Shr, false) => &ops::SRL32,
                (_, false) => &ops::SRA32,
                (Lowered::Shl, true) => &ops::SLL64,
                (Lowered::Shr, true) => &ops::SRL64,
                (_, true) => &ops::SRA64,
            };
            return self.each(v, args[0], |s, size, x| s.vop(op, size, &[Op::Use(x, size), Op::Imm8(n)]));
        }
        let (op, and) = match (op, quads) {
            (Lowered::Shl, false) => (&ops::SLLV32, &ops::AND32),
            (Lowered::Shr, false) => (&ops::SRLV32, &ops::AND32),
            (_, false) => (&ops::SRAV32, &ops::AND32),
            (Lowered::Shl, true) => (&ops::SLLV64, &ops::AND64),
            (Lowered::Shr, true) => (&ops::SRLV64, &ops::AND64),
            (_, true) => (&ops::SRAV64, &ops::AND64),
        };
        // Counts are taken modulo the width.
        let (size, mut out) = (self.size(ty), Vec::new());
        let low = Op::Mem(self.literal(ty.elem, u64::from(bits - 1))?.for_all());
        for k in 0..self.parts(ty) {
            let (x, n) = (self.part(args[0], k)?, self.part(args[1], k)?);
            let n = self.vop(and, size, &[Op::Use(n, size), low])?;
            out.push(self.vop(op, size, &[Op::Use(x, size), Op::Use(n, size)])?);
        }
        self.set_parts(v, out);
        Ok(true)
    }

    fn rotations(&mut self, v: Value, ty: Type, op: Lowered, args: &[Value]) -> Result<bool, Unsupported> {
        let quads = ty.elem == Elem::I64;
        let left = op == Lowered::Rol;
        if let Some(n) = self.constant(args[1]) {
            let n = n as u8 & (ty.elem.bits() - 1) as u8;
            let op = match (left, quads) {
                (true, false) => &ops::ROL32,
                (false, false) => &ops::ROR32,
                (true, true) => &ops::ROL64,
                (false, true) => &ops::ROR64,
            };
            return self.each(v, args[0], |s, size, x| s.vop(op, size, &[Op::Use(x, size), Op::Imm8(n)]));
        }
        let op = match (left, quads) {
            (true, false) => &ops::ROLV32,
            (false, false) => &ops::RORV32,
            _ => return Ok(false),
        };
        self.two(v, op, args[0], args[1])
    }

    /// The upper halves of products of dwords.
    fn high_products(
        &mut self,
        v: Value,
        ty: Type,
        signed: bool,
        args: &[Value],
    ) -> Result<bool, Unsupported> {
        let mul = if signed { &ops::MULS32 } else { &ops::MULU32 };
        let (size, mut out) = (self.size(ty), Vec::new());
        for k in 0..self.parts(ty) {
            let (a, b) = (self.part(args[0], k)?, self.part(args[1], k)?);
            let even = self.vop(mul, size, &[Op::Use(a, size), Op::Use(b, size)])?;
            let a = self.vop(&ops::SRL64, size, &[Op::Use(a, size), Op::Imm8(32)])?;
            let b = self.vop(&ops::SRL64, size, &[Op::Use(b, size), Op::Imm8(32)])?;
            let odd = self.vop(mul, size, &[Op::Use(a, size), Op::Use(b, size)])?;
            let even = self.vop(&ops::SRL64, size, &[Op::Use(even, size), Op::Imm8(32)])?;
            let k = self.mask_number(0xaaaa);
            out.push(self.blend(&ops::BLEND32, size, k, Op::Use(odd, size), even)?);
        }
        self.set_parts(v, out);
        Ok(true)
    }

    /// `(a | b) - ((a ^ b) >> 1)`.
    fn averages(&mut self, v: Value, ty: Type, signed: bool, args: &[Value]) -> Result<bool, Unsupported> {
        let quads = ty.elem == Elem::I64;
        let (xor, or, sub) = match quads {
            true => (&ops::XOR64, &ops::OR64, &ops::SUB64),
            false => (&ops::XOR32, &ops::OR32, &ops::SUB32),
        };
        let half = match (signed, quads) {
            (true, true) => &ops::SRA64,
            (false, true) => &ops::SRL64,
            (true, false) => &ops::SRA32,
            (false, false) => &ops::SRL32,
        };
        let (size, mut out) = (self.size(ty), Vec::new());
        for k in 0..self.parts(ty) {
            let (a, b) = (self.part(args[0], k)?, self.part(args[1], k)?);
            let both = [Op::Use(a, size), Op::Use(b, size)];
            let x = self.vop(xor, size, &both)?;
            let x = self.vop(half, size, &[Op::Use(x, size), Op::Imm8(1)])?;
            let o = self.vop(or, size, &both)?;
            out.push(self.vop(sub, size, &[Op::Use(o, size), Op::Use(x, size)])?);
        }
        self.set_parts(v, out);
        Ok(true)
    }

    /// Bytes and words: shifts of words, and what is made of these.
    fn narrow_integers(
        &mut self,
        v: Value,
        ty: Type,
        what: &Arith,
        args: &[Value],
    ) -> Result<bool, Unsupported> {
        match what.op {
            Lowered::Not => {
                self.each(v, args[0], |s, size, x| s.ternary(&ops::TERNLOG32, size, [x; 3], 0x55))
            }
            Lowered::Mad if ty.elem == Elem::I16 && what.negate == 0 => {
                let (size, mut out) = (self.size(ty), Vec::new());
                for k in 0..self.parts(ty) {
                    let (a, b, c) = (self.part(args[0], k)?, self.part(args[1], k)?, self.part(args[2], k)?);
                    let r = self.vop(&ops::MUL16, size, &[Op::Use(a, size), Op::Use(b, size)])?;
                    out.push(self.vop(&ops::ADD16, size, &[Op::Use(r, size), Op::Use(c, size)])?);
                }
                self.set_parts(v, out);
                Ok(true)
            }
            Lowered::Shl | Lowered::Shr | Lowered::Asr if ty.elem == Elem::I16 => {
                let Some(n) = self.constant(args[1]).filter(|n| *n < 16) else { return Ok(false) };
                let op = match what.op {
                    Lowered::Shl => &ops::SLL16,
                    Lowered::Shr => &ops::SRL16,
                    _ => &ops::SRA16,
                };
                let n = Op::Imm8(n as u8);
                self.each(v, args[0], |s, size, x| s.vop(op, size, &[Op::Use(x, size), n]))
            }
            _ => Ok(false),
        }
    }

    /// Operations of singles and doubles.
    fn floats(&mut self, v: Value, ty: Type, what: &Arith, args: &[Value]) -> Result<bool, Unsupported> {
        let wide = match what.number {
            Number::F => false,
            Number::Df => true,
            _ => return Ok(false),
        };
        if !what.mode.is_ieee() {
            return Ok(false);
        }
        let pick = |s: &'static Vop, d: &'static Vop| if wide { d } else { s };
        match what.op {
            Lowered::Add => {
                let (add, sub) = (pick(&ops::ADDPS, &ops::ADDPD), pick(&ops::SUBPS, &ops::SUBPD));
                match what.negate & 3 {
                    0 => self.two(v, add, args[0], args[1]),
                    2 => self.two(v, sub, args[0], args[1]),
                    1 => self.two(v, sub, args[1], args[0]),
                    _ => {
                        // Both: less the product by one, less the second.
                        let one = if wide { 1f64.to_bits() } else { 1f32.to_bits().into() };
                        let op = pick(&ops::FNMSUBPS, &ops::FNMSUBPD);
                        let (size, mut out) = (self.size(ty), Vec::new());
                        for k in 0..self.parts(ty) {
                            let (a, b) = (self.part(args[0], k)?, self.part(args[1], k)?);
                            let one = self.splat_number(Type::new(ty.elem, 16), one)?;
                            out.push(self.fused(op, size, one, a, Op::Use(b, size))?);
                        }
                        self.set_parts(v, out);
                        Ok(true)
                    }
                }
            }
            Lowered::Mul => self.two(v, pick(&ops::MULPS, &ops::MULPD), args[0], args[1]),
            Lowered::Div | Lowered::Divm => self.two(v, pick(&ops::DIVPS, &ops::DIVPD), args[0], args[1]),
            Lowered::Mad => {
                let (product, addend) = ((what.negate & 1) ^ (what.negate >> 1 & 1), what.negate >> 2 & 1);
                let op = match (product != 0, addend != 0) {
                    (false, false) => pick(&ops::FMADDPS, &ops::FMADDPD),
                    (false, true) => pick(&ops::FMSUBPS, &ops::FMSUBPD),
                    (true, false) => pick(&ops::FNMADDPS, &ops::FNMADDPD),
                    (true, true) => pick(&ops::FNMSUBPS, &ops::FNMSUBPD),
                };
                let (size, mut out) = (self.size(ty), Vec::new());
                for k in 0..self.parts(ty) {
                    let (a, b) = (self.part(args[0], k)?, self.part(args[1], k)?);
                    let c = self.operand(args[2], k)?;
                    // The first factor's NaN comes first: it is the second operand of `b * a + c`.
                    out.push(self.fused(op, size, b, a, c)?);
                }
                self.set_parts(v, out);
                Ok(true)
            }
            Lowered::Min | Lowered::Max => self.least(v, ty, what.op == Lowered::Min, wide, args),
            Lowered::Sqrt | Lowered::Sqrtm => {
                let op = pick(&ops::SQRTPS, &ops::SQRTPD);
                self.each(v, args[0], |s, size, x| s.vop(op, size, &[Op::Use(x, size)]))
            }
            Lowered::Rndd | Lowered::Rndu | Lowered::Rnde | Lowered::Rndz => {
                let how = match what.op {
                    Lowered::Rnde => 8,
                    Lowered::Rndd => 9,
                    Lowered::Rndu => 10,
                    _ => 11,
                };
                let op = pick(&ops::RNDSCALEPS, &ops::RNDSCALEPD);
                self.each(v, args[0], |s, size, x| s.vop(op, size, &[Op::Use(x, size), Op::Imm8(how)]))
            }
            Lowered::Frc if !wide => self.each(v, args[0], |s, size, x| {
                let down = s.vop(&ops::RNDSCALEPS, size, &[Op::Use(x, size), Op::Imm8(9)])?;
                s.vop(&ops::SUBPS, size, &[Op::Use(x, size), Op::Use(down, size)])
            }),
            _ if !wide => self.math(v, ty, what.op, args),
            _ => Ok(false),
        }
    }

    /// `second * first + third`, into the first factor's register.
    pub(super) fn fused(
        &mut self,
        op: &Vop,
        size: Size,
        first: Reg,
        second: Reg,
        c: Op,
    ) -> Result<Reg, Unsupported> {
        let (code, to) = (self.code(op, size)?, self.m.reg(crate::inst::Class::Vector));
        let ops = [Op::Mod { from: first, to, size }, Op::Use(second, size), c];
        self.m.lanes(self.at, code, &ops, Lanes::All);
        Ok(to)
    }

    /// Minimum or maximum. The CPU's gives the second of two that are equal or unordered, as the page does, but for a
    /// second one that is NaN, where the page gives the first.
    fn least(
        &mut self,
        v: Value,
        ty: Type,
        min: bool,
        wide: bool,
        args: &[Value],
    ) -> Result<bool, Unsupported> {
        let (op, cmp, copy) = match (min, wide) {
            (true, false) => (&ops::MINPS, &ops::CMPPS, &ops::BLEND32),
            (false, false) => (&ops::MAXPS, &ops::CMPPS, &ops::BLEND32),
            (true, true) => (&ops::MINPD, &ops::CMPPD, &ops::BLEND64),
            (false, true) => (&ops::MAXPD, &ops::CMPPD, &ops::BLEND64),
        };
        let (size, mut out) = (self.size(ty), Vec::new());
        let compare = self.code(cmp, size)?;
        for k in 0..self.parts(ty) {
            let (a, b) = (self.part(args[0], k)?, self.part(args[1], k)?);
            let r = self.vop(op, size, &[Op::Use(a, size), Op::Use(b, size)])?;
            // A NaN in both: the second.
            let nan = self.kop(compare, &[Op::Use(b, size), Op::Use(b, size), Op::Imm8(3)]);
            let alone = self.m.reg(crate::inst::Class::Mask);
            let ops = [Op::Def(alone, Size::K), Op::Use(a, size), Op::Use(a, size), Op::Imm8(7)];
            self.m.lanes(self.at, compare, &ops, Lanes::Of(nan));
            out.push(self.blend(copy, size, alone, Op::Use(a, size), r)?);
        }
        self.set_parts(v, out);
        Ok(true)
    }

    /// A source modifier.
    pub(super) fn modify(
        &mut self,
        id: InstId,
        modifier: Modifier,
        number: Number,
        arg: Value,
    ) -> Result<bool, Unsupported> {
        let v = self.result(id, 0);
        let ty = self.ty(v);
        if modifier == Modifier::None || self.target.bytes() != 64 {
            return Ok(false);
        }
        if number.is_float() {
            let sign = 1u64 << (ty.elem.bits() - 1);
            let (op, bits): (&Vop, u64) = match modifier {
                Modifier::Neg => (&ops::XOR32, sign),
                Modifier::Abs => (&ops::AND32, sign - 1),
                Modifier::NegAbs => (&ops::OR32, sign),
                _ => return Ok(false),
            };
            let all = self.splat_number(Type::new(ty.elem, 64), bits)?;
            return self.each(v, arg, |s, size, x| s.vop(op, size, &[Op::Use(x, size), Op::Use(all, size)]));
        }
        let sub = match ty.elem {
            Elem::I8 => &ops::SUB8,
            Elem::I16 => &ops::SUB16,
            Elem::I64 => &ops::SUB64,
            _ => &ops::SUB32,
        };
        match modifier {
            Modifier::Neg if ty.lanes == 1 => {
                let r = self.general(arg)?;
                let (code, size) = match ty.elem {
                    Elem::I64 => (Code::Neg_rm64, Size::R64),
                    _ => (Code::Neg_rm32, Size::R32),
                };
                let r = self.gchange(code, r, size, &[]);
                let r = self.zeros_above(r, ty.elem);
                self.set(v, Held::General(r));
                Ok(true)
            }
            Modifier::Neg => self.each(v, arg, |s, size, x| {
                let zero = s.zeros(size)?;
                s.vop(sub, size, &[Op::Use(zero, size), Op::Use(x, size)])
            }),
            Modifier::Not => self.each(v, arg, |s, size, x| s.ternary(&ops::TERNLOG32, size, [x; 3], 0x55)),
            Modifier::Abs if ty.elem == Elem::I32 && number.is_signed() => {
                self.each(v, arg, |s, size, x| s.vop(&ops::ABS32, size, &[Op::Use(x, size)]))
            }
            _ => Ok(false),
        }
    }
}
