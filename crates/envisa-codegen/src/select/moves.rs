//! Instructions that move bits: inputs, splats, selections, masks.

use envisa_isa::Type as Number;
use envisa_sem::FpMode;
use envisa_sem::Relation;
use envisa_vir::{Elem, InstId, Logic, Type, Value};
use iced_x86::{Code, ConditionCode};

use super::{Held, PIECE, Select, Unsupported};
use crate::inst::{Base, Class, Lanes, Mem, Op, Reg, Size};
use crate::ops;
use envisa_native_layout::at;

impl Select<'_> {
    /// What the thread starts with.
    pub(super) fn input(&mut self, id: InstId, offset: u32, step: u32) -> Result<(), Unsupported> {
        let v = self.result(id, 0);
        let ty = self.ty(v);
        if ty.lanes == 1 {
            let r = self.load_general(ty.elem, Self::register_file(offset));
            self.set(v, Held::General(r));
            return Ok(());
        }
        let bytes = ty.elem.bytes();
        if self.stepped(v).is_some() || step == 0 {
            let r = self.load_general(ty.elem, Self::register_file(offset));
            if step == 0 {
                return self.spread(v, r);
            }
            self.firsts[v.index()] = Some(r);
        }
        if step == bytes {
            let parts = self.load_row(ty, Self::register_file(offset))?;
            self.set_parts(v, parts);
            return Ok(());
        }
        // Lane by lane, through memory.
        for k in 0..u32::from(ty.lanes) {
            let r = self.load_general(ty.elem, Self::register_file(offset + k * step));
            self.store_general(ty.elem, Mem::at(Base::Context, at::HELP + k * bytes), r);
        }
        let parts = self.load_row(ty, Mem::at(Base::Context, at::HELP))?;
        self.set_parts(v, parts);
        Ok(())
    }

    /// Consecutive elements in memory, by part.
    pub(super) fn load_row(&mut self, ty: Type, m: Mem) -> Result<Vec<Reg>, Unsupported> {
        let n = self.parts(ty);
        (0..n)
            .map(|k| self.load_bytes(ty.bytes().min(self.target.bytes()), m.further(64 * k as i32)))
            .collect()
    }

    /// So many bytes of memory in a vector register.
    pub(super) fn load_bytes(&mut self, bytes: u32, m: Mem) -> Result<Reg, Unsupported> {
        let class = Class::Vector;
        let to = |s: &mut Self, code, size| Ok(s.m.op(s.at, code, (class, size), &[Op::Mem(m)]));
        match bytes {
            0..=3 => {
                let elem = if bytes == 1 { Elem::I8 } else { Elem::I16 };
                let r = self.load_general(elem, m);
                Ok(self.in_lane(r, Elem::I32))
            }
            4 => to(self, Code::EVEX_Vmovd_xmm_rm32, Size::X),
            8 => to(self, Code::EVEX_Vmovq_xmm_rm64, Size::X),
            16 => to(self, ops::MOV32.code(self.target, Size::X)?, Size::X),
            32 => to(self, ops::MOV32.code(self.target, Size::Y)?, Size::Y),
            _ => to(self, ops::MOV32.code(self.target, Size::Z)?, Size::Z),
        }
    }

    /// Stores so many bytes of a vector register.
    pub(super) fn store_bytes(&mut self, bytes: u32, m: Mem, r: Reg) -> Result<(), Unsupported> {
        let (code, size) = match bytes {
            0..=3 => {
                let elem = if bytes == 1 { Elem::I8 } else { Elem::I16 };
                let r = self.out_of_lane(r, Elem::I32);
                self.store_general(elem, m, r);
                return Ok(());
            }
            4 => (Code::EVEX_Vmovd_rm32_xmm, Size::X),
            8 => (Code::EVEX_Vmovq_rm64_xmm, Size::X),
            16 => (ops::STORE32.code(self.target, Size::X)?, Size::X),
            32 => (ops::STORE32.code(self.target, Size::Y)?, Size::Y),
            _ => (ops::STORE32.code(self.target, Size::Z)?, Size::Z),
        };
        self.plain(code, &[Op::Mem(m), Op::Use(r, size)]);
        Ok(())
    }

    /// A general register in the lowest lane of a vector register.
    pub(super) fn in_lane(&mut self, r: Reg, elem: Elem) -> Reg {
        let (code, size) = match elem {
            Elem::I64 => (Code::EVEX_Vmovq_xmm_rm64, Size::R64),
            _ => (Code::EVEX_Vmovd_xmm_rm32, Size::R32),
        };
        let code = self.vex(code, Code::VEX_Vmovq_xmm_rm64, Code::VEX_Vmovd_xmm_rm32);
        self.m.op(self.at, code, (Class::Vector, Size::X), &[Op::Use(r, size)])
    }

    /// The same number in all lanes of a register.
    pub(super) fn spread_part(&mut self, elem: Elem, size: Size, r: Reg) -> Result<Reg, Unsupported> {
        let (op, from) = match elem {
            Elem::I8 => (&ops::SPREAD8, Size::R32),
            Elem::I16 => (&ops::SPREAD16, Size::R32),
            Elem::I64 => (&ops::SPREAD64, Size::R64),
            Elem::I32 | Elem::Mask => (&ops::SPREAD32, Size::R32),
        };
        self.vop(op, size, &[Op::Use(r, from)])
    }

    /// The thread's channels.
    pub(super) fn dispatch(&mut self, id: InstId) -> Result<(), Unsupported> {
        let bits = self.load_general(Elem::I32, Mem::at(Base::Context, at::DISPATCH));
        self.set_bits(self.result(id, 0), bits);
        Ok(())
    }

    /// One lane to all.
    pub(super) fn splat(&mut self, id: InstId, arg: Value) -> Result<bool, Unsupported> {
        let v = self.result(id, 0);
        let ty = self.ty(v);
        if ty.lanes == 1 {
            let r = self.general(arg)?;
            self.set(v, Held::General(r));
            return Ok(true);
        }
        if ty.is_mask() {
            let r = self.general(arg)?;
            // 0 or all ones.
            let r = self.gchange(Code::Neg_rm32, r, Size::R32, &[]);
            self.set_bits(v, r);
            return Ok(true);
        }
        if let Some(Held::Lane(r)) = self.held[arg.index()] {
            let op = match ty.elem {
                Elem::I8 => &ops::BCAST8,
                Elem::I16 => &ops::BCAST16,
                Elem::I64 => &ops::BCAST64,
                Elem::I32 | Elem::Mask => &ops::BCAST32,
            };
            let part = self.vop(op, self.size(ty), &[Op::Use(r, Size::X)])?;
            self.set(v, Held::Vectors(vec![part; self.parts(ty)]));
            return Ok(true);
        }
        let r = self.general(arg)?;
        self.spread(v, r)?;
        Ok(true)
    }

    /// By lane of a mask, one or the other.
    pub(super) fn select(
        &mut self,
        id: InstId,
        mask: Value,
        [a, b]: [Value; 2],
    ) -> Result<bool, Unsupported> {
        let v = self.result(id, 0);
        let ty = self.ty(v);
        if ty.is_mask() {
            return self.select_masks(v, mask, a, b);
        }
        if ty.lanes == 1 {
            let (m, x, y) = (self.general(mask)?, self.general(a)?, self.general(b)?);
            self.plain(Code::Test_rm32_r32, &[Op::Use(m, Size::R32), Op::Use(m, Size::R32)]);
            let r = self.gchange(Code::Cmovne_r64_rm64, y, Size::R64, &[Op::Use(x, Size::R64)]);
            self.set(v, Held::General(r));
            return Ok(true);
        }
        let op = match ty.elem {
            Elem::I8 => &ops::BLEND8,
            Elem::I16 => &ops::BLEND16,
            Elem::I64 => &ops::BLEND64,
            Elem::I32 | Elem::Mask => &ops::BLEND32,
        };
        let (size, mut out) = (self.size(ty), Vec::new());
        for k in 0..self.parts(ty) {
            let y = self.part(b, k)?;
            let x = self.operand(a, k)?;
            let m = self.mask_of_part(mask, ty, k)?;
            out.push(self.blend(op, size, m, x, y)?);
        }
        self.set_parts(v, out);
        Ok(true)
    }

    /// `m ? x : y`.
    pub(super) fn blend(
        &mut self,
        op: &ops::Vop,
        size: Size,
        m: Reg,
        x: Op,
        y: Reg,
    ) -> Result<Reg, Unsupported> {
        let (code, to) = (self.code(op, size)?, self.m.reg(Class::Vector));
        self.m.lanes(self.at, code, &[Op::Def(to, size), Op::Use(y, size), x], Lanes::Of(m));
        Ok(to)
    }

    fn two_masks(&mut self, code: Code, a: Reg, b: Reg) -> Reg {
        self.kop(code, &[Op::Use(a, Size::K), Op::Use(b, Size::K)])
    }

    fn select_masks(&mut self, v: Value, mask: Value, a: Value, b: Value) -> Result<bool, Unsupported> {
        let lanes = u32::from(self.ty(v).lanes);
        if lanes == 1 {
            let (m, x, y) = (self.general(mask)?, self.general(a)?, self.general(b)?);
            self.plain(Code::Test_rm32_r32, &[Op::Use(m, Size::R32), Op::Use(m, Size::R32)]);
            let r = self.gchange(Code::Cmovne_r32_rm32, y, Size::R32, &[Op::Use(x, Size::R32)]);
            self.set(v, Held::General(r));
            return Ok(true);
        }
        let mut out = Vec::new();
        for k in 0..lanes.div_ceil(PIECE) as usize {
            let (m, x, y) = (self.piece(mask, k)?, self.piece(a, k)?, self.piece(b, k)?);
            let x = self.two_masks(Code::VEX_Kandw_kr_kr_kr, m, x);
            let y = self.two_masks(Code::VEX_Kandnw_kr_kr_kr, m, y);
            out.push(self.two_masks(Code::VEX_Korw_kr_kr_kr, x, y));
        }
        self.set(v, Held::Masks(out));
        Ok(true)
    }

    /// An operation on masks.
    pub(super) fn logic(&mut self, id: InstId, op: Logic, [a, b]: [Value; 2]) -> Result<bool, Unsupported> {
        let v = self.result(id, 0);
        let lanes = u32::from(self.ty(v).lanes);
        if lanes == 1 {
            let (x, y) = (self.general(a)?, self.general(b)?);
            let r = match op {
                Logic::And => self.gchange(Code::And_r32_rm32, x, Size::R32, &[Op::Use(y, Size::R32)]),
                Logic::Or => self.gchange(Code::Or_r32_rm32, x, Size::R32, &[Op::Use(y, Size::R32)]),
                Logic::Xor => self.gchange(Code::Xor_r32_rm32, x, Size::R32, &[Op::Use(y, Size::R32)]),
                Logic::AndNot => {
                    let both = [Op::Use(y, Size::R32), Op::Use(x, Size::R32)];
                    self.gop(Code::VEX_Andn_r32_r32_rm32, Size::R32, &both)
                }
            };
            self.set(v, Held::General(r));
            return Ok(true);
        }
        let mut out = Vec::new();
        for k in 0..lanes.div_ceil(PIECE) as usize {
            let (x, y) = (self.piece(a, k)?, self.piece(b, k)?);
            out.push(match op {
                Logic::And => self.two_masks(Code::VEX_Kandw_kr_kr_kr, x, y),
                Logic::Or => self.two_masks(Code::VEX_Korw_kr_kr_kr, x, y),
                Logic::Xor => self.two_masks(Code::VEX_Kxorw_kr_kr_kr, x, y),
                Logic::AndNot => self.two_masks(Code::VEX_Kandnw_kr_kr_kr, y, x),
            });
        }
        self.set(v, Held::Masks(out));
        Ok(true)
    }

    /// Is any lane true, or are all?
    pub(super) fn vote(&mut self, id: InstId, all: bool, arg: Value) -> Result<bool, Unsupported> {
        let v = self.result(id, 0);
        let lanes = u32::from(self.ty(arg).lanes);
        let r = if !all || lanes == 1 {
            let when = self.any(arg)?;
            self.truth(when)
        } else {
            let bits = self.bits(arg)?;
            let ones = Op::Imm32((u32::MAX >> (32 - lanes)) as i32);
            self.plain(Code::Cmp_rm32_imm32, &[Op::Use(bits, Size::R32), ones]);
            self.truth(ConditionCode::e)
        };
        self.set(v, Held::General(r));
        Ok(true)
    }

    /// Compares lane by lane.
    pub(super) fn compare(
        &mut self,
        id: InstId,
        relation: Relation,
        number: Number,
        mode: FpMode,
        args: [Value; 2],
    ) -> Result<bool, Unsupported> {
        let v = self.result(id, 0);
        let ty = self.ty(args[0]);
        if ty.lanes == 1 && number.is_int() {
            let r = self.scalar_compare(relation, number, args)?;
            self.set(v, Held::General(r));
            return Ok(true);
        }
        let signed = number.is_signed();
        let op = match (number, ty.elem) {
            (Number::F, _) => &ops::CMPPS,
            (Number::Df, _) => &ops::CMPPD,
            (Number::Hf | Number::Bf, _) => return Ok(false),
            (_, Elem::I8) => {
                if signed {
                    &ops::CMPS8
                } else {
                    &ops::CMPU8
                }
            }
            (_, Elem::I16) => {
                if signed {
                    &ops::CMPS16
                } else {
                    &ops::CMPU16
                }
            }
            (_, Elem::I64) => {
                if signed {
                    &ops::CMPS64
                } else {
                    &ops::CMPU64
                }
            }
            _ => {
                if signed {
                    &ops::CMPS32
                } else {
                    &ops::CMPU32
                }
            }
        };
        if number.is_float() && !mode.is_ieee() {
            return Ok(false);
        }
        let how = match (relation, number.is_float()) {
            (Relation::Eq, _) => 0,
            (Relation::Ne, _) => 4,
            (Relation::Lt, false) => 1,
            (Relation::Le, false) => 2,
            (Relation::Ge, false) => 5,
            (Relation::Gt, false) => 6,
            (Relation::Lt, true) => 0x11,
            (Relation::Le, true) => 0x12,
            (Relation::Ge, true) => 0x1d,
            (Relation::Gt, true) => 0x1e,
        };
        let (size, mut out) = (self.size(ty), Vec::new());
        let code = self.code(op, size)?;
        for k in 0..self.parts(ty) {
            let (x, y) = (self.part(args[0], k)?, self.operand(args[1], k)?);
            out.push(self.kop(code, &[Op::Use(x, size), y, Op::Imm8(how)]));
        }
        self.set_mask_parts(v, ty, out);
        Ok(true)
    }

    /// A mask by the parts of vectors of a type.
    pub(super) fn set_mask_parts(&mut self, v: Value, of: Type, parts: Vec<Reg>) {
        let lanes = u32::from(of.lanes);
        if lanes == 1 {
            let bits = self.gop(Code::VEX_Kmovd_r32_kr, Size::R32, &[Op::Use(parts[0], Size::K)]);
            return self.set_bits(v, bits);
        }
        let pieces = match self.lanes_of_part(of) {
            8 if lanes > 8 => {
                parts.chunks(2).map(|p| self.two_masks(Code::VEX_Kunpckbw_kr_kr_kr, p[1], p[0])).collect()
            }
            32 => {
                let ops = [Op::Use(parts[0], Size::K), Op::Imm8(16)];
                let high = self.kop(Code::VEX_Kshiftrd_kr_kr_imm8, &ops);
                vec![parts[0], high]
            }
            n if of.bytes() < 16 => {
                // A register of the least size has more lanes.
                let up = [Op::Use(parts[0], Size::K), Op::Imm8(16 - n as u8)];
                let up = self.kop(Code::VEX_Kshiftlw_kr_kr_imm8, &up);
                let down = [Op::Use(up, Size::K), Op::Imm8(16 - n as u8)];
                vec![self.kop(Code::VEX_Kshiftrw_kr_kr_imm8, &down)]
            }
            _ => parts,
        };
        self.set(v, Held::Masks(pieces));
    }
}
