//! Integers of one lane, and the first lanes of others, in general registers.

use envisa_isa::Type as Number;
use envisa_lower::Op as Lowered;
use envisa_sem::Relation;
use envisa_vir::{Arith, Elem, Inst as VirInst, InstId, Shuffle, Value};
use iced_x86::{Code, ConditionCode};

use super::{Held, Select, Unsupported};
use crate::inst::{Base, Class, Mem, Op, Reg, Size};

/// A register and an immediate, and two registers: of 32 and of 64 bits.
struct Two {
    immediate: [Code; 2],
    register: [Code; 2],
}

macro_rules! two {
    ($a:ident $b:ident $c:ident $d:ident) => {
        Two { immediate: [Code::$a, Code::$b], register: [Code::$c, Code::$d] }
    };
}

const ADD: Two = two!(Add_rm32_imm32 Add_rm64_imm32 Add_r32_rm32 Add_r64_rm64);
const SUB: Two = two!(Sub_rm32_imm32 Sub_rm64_imm32 Sub_r32_rm32 Sub_r64_rm64);
const AND: Two = two!(And_rm32_imm32 And_rm64_imm32 And_r32_rm32 And_r64_rm64);
const OR: Two = two!(Or_rm32_imm32 Or_rm64_imm32 Or_r32_rm32 Or_r64_rm64);
const XOR: Two = two!(Xor_rm32_imm32 Xor_rm64_imm32 Xor_r32_rm32 Xor_r64_rm64);

impl Select<'_> {
    /// The first lane of a value, in a general register with zeros above.
    pub(super) fn first(&mut self, v: Value) -> Result<Reg, Unsupported> {
        let ty = self.ty(v);
        if ty.lanes == 1 {
            return self.general(v);
        }
        if let Some(x) = self.constant(v) {
            return Ok(self.number(x));
        }
        if let Some(VirInst::Lanes(all)) = self.f.def_inst(v) {
            let x = all[0];
            return Ok(self.number(x));
        }
        match self.firsts[v.index()] {
            Some(r) => Ok(r),
            None => self.extract(v),
        }
    }

    /// The first lane of a vector.
    pub(super) fn extract(&mut self, v: Value) -> Result<Reg, Unsupported> {
        let part = self.part(v, 0)?;
        Ok(self.out_of_lane(part, self.ty(v).elem))
    }

    /// The lowest lane of a vector register, in a general one.
    pub(super) fn out_of_lane(&mut self, part: Reg, elem: Elem) -> Reg {
        let (code, size) = match elem {
            Elem::I64 => (Code::EVEX_Vmovq_rm64_xmm, Size::R64),
            _ => (Code::EVEX_Vmovd_rm32_xmm, Size::R32),
        };
        let code = self.vex(code, Code::VEX_Vmovq_rm64_xmm, Code::VEX_Vmovd_rm32_xmm);
        let r = self.gop(code, size, &[Op::Use(part, Size::X)]);
        self.zeros_above(r, elem)
    }

    /// The bits of an element, with zeros above.
    pub(super) fn zeros_above(&mut self, r: Reg, elem: Elem) -> Reg {
        match elem {
            Elem::I8 => self.gop(Code::Movzx_r32_rm8, Size::R32, &[Op::Use(r, Size::R8)]),
            Elem::I16 => self.gop(Code::Movzx_r32_rm16, Size::R32, &[Op::Use(r, Size::R16)]),
            _ => r,
        }
    }

    /// The same with its sign above, in 32 or 64 bits.
    pub(super) fn extended(&mut self, r: Reg, from: Elem, to64: bool) -> Reg {
        let (code, size) = match (from, to64) {
            (Elem::I8, false) => (Code::Movsx_r32_rm8, Size::R8),
            (Elem::I16, false) => (Code::Movsx_r32_rm16, Size::R16),
            (Elem::I8, true) => (Code::Movsx_r64_rm8, Size::R8),
            (Elem::I16, true) => (Code::Movsx_r64_rm16, Size::R16),
            (Elem::I32, true) => (Code::Movsxd_r64_rm32, Size::R32),
            _ => return r,
        };
        let to = if to64 { Size::R64 } else { Size::R32 };
        self.gop(code, to, &[Op::Use(r, size)])
    }

    /// An operation whose second operand may be an immediate.
    fn by(&mut self, two: &Two, wide: bool, a: Reg, b: Value) -> Result<Reg, Unsupported> {
        let (w, size) = (usize::from(wide), if wide { Size::R64 } else { Size::R32 });
        if let Some(x) = self.immediate(b, if wide { 64 } else { 32 }) {
            let x = if wide { Op::Imm64(x) } else { Op::Imm32(x) };
            return Ok(self.gchange(two.immediate[w], a, size, &[x]));
        }
        let b = self.first(b)?;
        Ok(self.gchange(two.register[w], a, size, &[Op::Use(b, size)]))
    }

    /// The first lane of an operation on integers; nothing where it has no code.
    pub(super) fn scalar(
        &mut self,
        what: &Arith,
        elem: Elem,
        args: &[Value],
    ) -> Result<Option<Reg>, Unsupported> {
        if !what.number.is_int() || matches!(elem, Elem::Mask) {
            return Ok(None);
        }
        let narrow = matches!(elem, Elem::I8 | Elem::I16);
        let (wide, signed) = (elem == Elem::I64, what.number.is_signed());
        let size = if wide { Size::R64 } else { Size::R32 };
        let w = usize::from(wide);
        let negated = |k: usize| what.negate >> k & 1 != 0;
        let r = match what.op {
            Lowered::Add if what.negate == 0 => {
                // A constant comes second.
                let (a, b) =
                    if self.constant(args[0]).is_some() { (args[1], args[0]) } else { (args[0], args[1]) };
                let a = self.first(a)?;
                self.by(&ADD, wide, a, b)?
            }
            Lowered::Add if what.negate == 2 => {
                let a = self.first(args[0])?;
                self.by(&SUB, wide, a, args[1])?
            }
            Lowered::Add if negated(0) && !negated(1) => {
                let a = self.first(args[1])?;
                self.by(&SUB, wide, a, args[0])?
            }
            Lowered::Add3 if what.negate == 0 => {
                let a = self.first(args[0])?;
                let a = self.by(&ADD, wide, a, args[1])?;
                self.by(&ADD, wide, a, args[2])?
            }
            Lowered::Mul | Lowered::Mad if what.negate == 0 => {
                let r = self.product(wide, args[0], args[1])?;
                if what.op == Lowered::Mad { self.by(&ADD, wide, r, args[2])? } else { r }
            }
            Lowered::And | Lowered::Or | Lowered::Xor => {
                let two = match what.op {
                    Lowered::And => &AND,
                    Lowered::Or => &OR,
                    _ => &XOR,
                };
                let a = self.first(args[0])?;
                self.by(two, wide, a, args[1])?
            }
            Lowered::Not => {
                let a = self.first(args[0])?;
                self.gchange([Code::Not_rm32, Code::Not_rm64][w], a, size, &[])
            }
            Lowered::Shl | Lowered::Shr | Lowered::Asr if !narrow => self.shifted(what.op, wide, args)?,
            Lowered::Shl | Lowered::Shr | Lowered::Asr => return Ok(None),
            Lowered::Min | Lowered::Max if !narrow => {
                let (a, b) = (self.first(args[0])?, self.first(args[1])?);
                self.plain(
                    [Code::Cmp_r32_rm32, Code::Cmp_r64_rm64][w],
                    &[Op::Use(a, size), Op::Use(b, size)],
                );
                let code = match (what.op, signed, wide) {
                    (Lowered::Min, true, false) => Code::Cmovg_r32_rm32,
                    (Lowered::Min, true, true) => Code::Cmovg_r64_rm64,
                    (Lowered::Min, false, false) => Code::Cmova_r32_rm32,
                    (Lowered::Min, false, true) => Code::Cmova_r64_rm64,
                    (_, true, false) => Code::Cmovl_r32_rm32,
                    (_, true, true) => Code::Cmovl_r64_rm64,
                    (_, false, false) => Code::Cmovb_r32_rm32,
                    (_, false, true) => Code::Cmovb_r64_rm64,
                };
                self.gchange(code, a, size, &[Op::Use(b, size)])
            }
            _ => return Ok(None),
        };
        Ok(Some(if narrow { self.zeros_above(r, elem) } else { r }))
    }

    fn product(&mut self, wide: bool, a: Value, b: Value) -> Result<Reg, Unsupported> {
        let (a, b) = if self.constant(a).is_some() { (b, a) } else { (a, b) };
        let size = if wide { Size::R64 } else { Size::R32 };
        let x = self.first(a)?;
        if let Some(by) = self.immediate(b, if wide { 64 } else { 32 }) {
            let (code, by) = if wide {
                (Code::Imul_r64_rm64_imm32, Op::Imm64(by))
            } else {
                (Code::Imul_r32_rm32_imm32, Op::Imm32(by))
            };
            return Ok(self.gop(code, size, &[Op::Use(x, size), by]));
        }
        let y = self.first(b)?;
        let code = if wide { Code::Imul_r64_rm64 } else { Code::Imul_r32_rm32 };
        Ok(self.gchange(code, x, size, &[Op::Use(y, size)]))
    }

    fn shifted(&mut self, op: Lowered, wide: bool, args: &[Value]) -> Result<Reg, Unsupported> {
        let (w, size) = (usize::from(wide), if wide { Size::R64 } else { Size::R32 });
        let a = self.first(args[0])?;
        if let Some(n) = self.constant(args[1]) {
            let code = match op {
                Lowered::Shl => [Code::Shl_rm32_imm8, Code::Shl_rm64_imm8],
                Lowered::Shr => [Code::Shr_rm32_imm8, Code::Shr_rm64_imm8],
                _ => [Code::Sar_rm32_imm8, Code::Sar_rm64_imm8],
            };
            let n = n as u8 & if wide { 63 } else { 31 };
            return Ok(self.gchange(code[w], a, size, &[Op::Imm8(n)]));
        }
        let n = self.first(args[1])?;
        let code = match op {
            Lowered::Shl => [Code::VEX_Shlx_r32_rm32_r32, Code::VEX_Shlx_r64_rm64_r64],
            Lowered::Shr => [Code::VEX_Shrx_r32_rm32_r32, Code::VEX_Shrx_r64_rm64_r64],
            _ => [Code::VEX_Sarx_r32_rm32_r32, Code::VEX_Sarx_r64_rm64_r64],
        };
        Ok(self.gop(code[w], size, &[Op::Use(a, size), Op::Use(n, size)]))
    }

    /// The first lane of a conversion between integers.
    pub(super) fn scalar_convert(&mut self, from: Number, to: Elem, arg: Value) -> Result<Reg, Unsupported> {
        let r = self.first(arg)?;
        let elem = Elem::of(from);
        if to.bytes() <= elem.bytes() {
            // The low bits: 32 of 64 are a copy.
            return Ok(match (elem, to) {
                (Elem::I64, Elem::I32) => self.gop(Code::Mov_r32_rm32, Size::R32, &[Op::Use(r, Size::R32)]),
                _ if to == elem => r,
                _ => self.zeros_above(r, to),
            });
        }
        if !from.is_signed() {
            return Ok(r);
        }
        let r = self.extended(r, elem, to == Elem::I64);
        Ok(self.zeros_above(r, to))
    }

    /// Makes the first lane of a value whose others lie at a step; `false` where that is taken out of all.
    pub(super) fn first_of(&mut self, id: InstId, v: Value) -> Result<bool, Unsupported> {
        let (f, elem) = (self.f, self.ty(v).elem);
        let r = match &f.inst(id).inst {
            VirInst::Arith { what, args } => self.scalar(what, elem, args)?,
            VirInst::Convert { from, to, sat: false, arg, .. } if from.is_int() && to.is_int() => {
                Some(self.scalar_convert(*from, elem, *arg)?)
            }
            // What is in a vector register already goes to all lanes from there.
            VirInst::Splat(arg) if matches!(self.held[arg.index()], Some(Held::Lane(_))) => None,
            VirInst::Splat(arg) => Some(self.general(*arg)?),
            VirInst::Shuffle(s) => self.first_of_shuffle(elem, s)?,
            _ => None,
        };
        self.firsts[v.index()] = r;
        Ok(r.is_some())
    }

    fn first_of_shuffle(&mut self, elem: Elem, s: &Shuffle) -> Result<Option<Reg>, Unsupported> {
        let Some(u) = s.units.first().filter(|_| u32::from(s.unit) == elem.bytes()) else { return Ok(None) };
        let mut lane = u32::from(*u);
        for v in &s.args {
            let ty = self.ty(*v);
            if ty.elem != elem {
                return Ok(None);
            }
            if lane < u32::from(ty.lanes) {
                if lane == 0 {
                    return self.first(*v).map(Some);
                }
                let Some(step) = self.stepped(*v) else { return Ok(None) };
                let r = self.first(*v)?;
                return Ok(self.plus(r, step.wrapping_mul(i64::from(lane)), elem));
            }
            lane -= u32::from(ty.lanes);
        }
        Ok(None)
    }

    /// A register and a number.
    pub(super) fn plus(&mut self, r: Reg, x: i64, elem: Elem) -> Option<Reg> {
        let x = i32::try_from(x).ok()?;
        if x == 0 {
            return Some(r);
        }
        let r = match elem {
            Elem::I64 => self.gchange(Code::Add_rm64_imm32, r, Size::R64, &[Op::Imm64(x)]),
            _ => self.gchange(Code::Add_rm32_imm32, r, Size::R32, &[Op::Imm32(x)]),
        };
        Some(self.zeros_above(r, elem))
    }

    /// Compares integers of one lane: the truth in a general register.
    pub(super) fn scalar_compare(
        &mut self,
        relation: Relation,
        number: Number,
        [a, b]: [Value; 2],
    ) -> Result<Reg, Unsupported> {
        let elem = Elem::of(number);
        let signed = number.is_signed();
        let wide = elem == Elem::I64;
        let narrow = matches!(elem, Elem::I8 | Elem::I16);
        let take = |s: &mut Self, v: Value| -> Result<Reg, Unsupported> {
            let r = s.general(v)?;
            Ok(if narrow && signed { s.extended(r, elem, false) } else { r })
        };
        let (x, y) = (take(self, a)?, take(self, b)?);
        let size = if wide { Size::R64 } else { Size::R32 };
        let code = if wide { Code::Cmp_r64_rm64 } else { Code::Cmp_r32_rm32 };
        self.plain(code, &[Op::Use(x, size), Op::Use(y, size)]);
        let when = match (relation, signed) {
            (Relation::Eq, _) => ConditionCode::e,
            (Relation::Ne, _) => ConditionCode::ne,
            (Relation::Gt, true) => ConditionCode::g,
            (Relation::Ge, true) => ConditionCode::ge,
            (Relation::Lt, true) => ConditionCode::l,
            (Relation::Le, true) => ConditionCode::le,
            (Relation::Gt, false) => ConditionCode::a,
            (Relation::Ge, false) => ConditionCode::ae,
            (Relation::Lt, false) => ConditionCode::b,
            (Relation::Le, false) => ConditionCode::be,
        };
        Ok(self.truth(when))
    }

    /// What the flags say, as 0 or 1.
    pub(super) fn truth(&mut self, when: ConditionCode) -> Reg {
        let code = match when {
            ConditionCode::e => Code::Sete_rm8,
            ConditionCode::ne => Code::Setne_rm8,
            ConditionCode::g => Code::Setg_rm8,
            ConditionCode::ge => Code::Setge_rm8,
            ConditionCode::l => Code::Setl_rm8,
            ConditionCode::le => Code::Setle_rm8,
            ConditionCode::a => Code::Seta_rm8,
            ConditionCode::ae => Code::Setae_rm8,
            ConditionCode::b => Code::Setb_rm8,
            _ => Code::Setbe_rm8,
        };
        let r = self.m.op(self.at, code, (Class::General, Size::R8), &[]);
        self.gop(Code::Movzx_r32_rm8, Size::R32, &[Op::Use(r, Size::R8)])
    }

    /// Loads an element into a general register.
    pub(super) fn load_general(&mut self, elem: Elem, m: Mem) -> Reg {
        let (code, size) = match elem {
            Elem::I8 => (Code::Movzx_r32_rm8, Size::R32),
            Elem::I16 => (Code::Movzx_r32_rm16, Size::R32),
            Elem::I64 => (Code::Mov_r64_rm64, Size::R64),
            Elem::I32 | Elem::Mask => (Code::Mov_r32_rm32, Size::R32),
        };
        self.gop(code, size, &[Op::Mem(m)])
    }

    /// Stores an element of a general register.
    pub(super) fn store_general(&mut self, elem: Elem, m: Mem, r: Reg) {
        let (code, size) = match elem {
            Elem::I8 => (Code::Mov_rm8_r8, Size::R8),
            Elem::I16 => (Code::Mov_rm16_r16, Size::R16),
            Elem::I64 => (Code::Mov_rm64_r64, Size::R64),
            Elem::I32 | Elem::Mask => (Code::Mov_rm32_r32, Size::R32),
        };
        self.plain(code, &[Op::Mem(m), Op::Use(r, size)]);
    }

    /// The same number in all lanes of a vector, of a general register.
    pub(super) fn spread(&mut self, v: Value, r: Reg) -> Result<(), Unsupported> {
        let ty = self.ty(v);
        let part = self.spread_part(ty.elem, self.size(ty), r)?;
        self.set(v, Held::Vectors(vec![part; self.parts(ty)]));
        Ok(())
    }

    /// Bytes of the register file.
    pub(super) fn register_file(offset: u32) -> Mem {
        Mem::at(Base::Registers, offset)
    }
}
