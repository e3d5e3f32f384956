//! From the vector IR to instructions with virtual registers.
//!
//! A value of several lanes is cut into parts, each of which is in a vector register; a mask into pieces of sixteen
//! lanes, each in a mask register; a value of one lane is in a general register (with zeros above its bits), or, where
//! floats are computed, in the lowest lane of a vector register.
//!
//! Of integers whose lanes lie at a known step the first lane is made as well, in a general register: that is what rows
//! are addressed by. Whichever of both nobody wants is swept away.

mod access;
mod arith;
mod control;
mod convert;
mod interpreter_calls;
mod lanes;
mod math;
mod moves;
mod place;
mod scalar;

use envisa_lower::Pc;
use envisa_vir as vir;
use envisa_vir::{Elem, Type, Value};
use iced_x86::Code;

use crate::Given;
use crate::function::Function;
use crate::inst::{Block, Class, Lanes, Mem, Op, Reg, Size, ZEROS};
use crate::ops::{self, Vop};
use crate::target::Target;

pub use lanes::Help;

/// Unsupported there is no code.
pub type Unsupported = &'static str;

/// Where a value is.
#[derive(Clone, Debug)]
pub(crate) enum Held {
    /// In a general register; a truth is 0 or 1 there.
    General(Reg),
    /// In the lowest lane of a vector register.
    Lane(Reg),
    /// In vector registers, by part.
    Vectors(Vec<Reg>),
    /// In mask registers, by piece.
    Masks(Vec<Reg>),
}

/// Lanes of a piece of a mask.
pub(crate) const PIECE: u32 = 16;

/// What selection gives.
pub(crate) struct Selected {
    pub function: Function,
    pub help: Vec<Help>,
    pub left: Vec<(Pc, Unsupported)>,
    pub resumptions: Vec<(Pc, u32)>,
}

pub(crate) struct Select<'a> {
    given: Given<'a>,
    f: &'a vir::Func,
    target: Target,
    m: Function,
    /// The block that is being made.
    at: Block,
    held: Vec<Option<Held>>,
    /// First lanes, in general registers.
    firsts: Vec<Option<Reg>>,
    blocks: Vec<Block>,
    help: Vec<Help>,
    /// The function, for those.
    shared: Option<std::sync::Arc<vir::Func>>,
    left: Vec<(Pc, Unsupported)>,
    resumptions: Vec<(Pc, u32)>,
}

/// Instructions for a function of the vector IR.
///
/// # Errors
/// What has none.
pub(crate) fn select_instructions(given: &Given<'_>) -> Result<Selected, Unsupported> {
    let (m, entry) = Function::new();
    let f = given.func;
    let n = f.value_count();
    let mut s = Select {
        given: *given,
        f,
        target: given.target,
        m,
        at: entry,
        held: vec![None; n],
        firsts: vec![None; n],
        blocks: Vec::new(),
        help: Vec::new(),
        shared: None,
        left: Vec::new(),
        resumptions: Vec::new(),
    };
    let order = vir::flow::Flow::new(f).order;
    s.make_blocks(&order, entry);
    for b in order {
        s.at = s.blocks[b.index()];
        for id in &f.block(b).insts {
            s.inst(*id)?;
        }
        s.end(b)?;
    }
    Ok(Selected { function: s.m, help: s.help, left: s.left, resumptions: s.resumptions })
}

/// Bytes of a value's parts, and how many there are.
impl Select<'_> {
    /// How many parts a vector has.
    fn parts(&self, ty: Type) -> usize {
        ty.bytes().div_ceil(self.target.bytes()) as usize
    }

    /// How many lanes a whole part has.
    fn lanes_of_part(&self, ty: Type) -> u32 {
        (self.target.bytes() / ty.elem.bytes().max(1)).min(ty.lanes.into())
    }

    /// The size of parts.
    fn size(&self, ty: Type) -> Size {
        match ty.bytes().min(self.target.bytes()) {
            0..=16 => Size::X,
            17..=32 => Size::Y,
            _ => Size::Z,
        }
    }

    fn ty(&self, v: Value) -> Type {
        self.f.ty(v)
    }

    fn code(&self, op: &Vop, size: Size) -> Result<Code, Unsupported> {
        op.code(self.target, size)
    }
}

/// Reading values.
impl Select<'_> {
    /// The number in all lanes, if it is known.
    fn constant(&self, v: Value) -> Option<u64> {
        match self.f.def_inst(v) {
            Some(vir::Inst::Const(bits)) => Some(*bits & self.ty(v).elem.all()),
            Some(vir::Inst::Splat(one)) => self.constant(*one),
            _ => None,
        }
    }

    /// A constant of one lane that fits an immediate, for computing in so many bits.
    fn immediate(&self, v: Value, bits: u32) -> Option<i32> {
        let x = self.constant(v)?;
        match bits {
            64 => i32::try_from(x as i64).ok(),
            _ => Some(x as u32 as i32),
        }
    }

    /// A value of one lane in a general register, with zeros above its bits.
    fn general(&mut self, v: Value) -> Result<Reg, Unsupported> {
        let ty = self.ty(v);
        if ty.lanes != 1 {
            return Err("a vector as a scalar");
        }
        if let Some(x) = self.constant(v) {
            return Ok(self.number(x));
        }
        match self.held[v.index()].clone() {
            Some(Held::General(r)) => Ok(r),
            Some(Held::Lane(r)) => {
                let (code, size) = match ty.elem {
                    Elem::I64 => (Code::EVEX_Vmovq_rm64_xmm, Size::R64),
                    _ => (Code::EVEX_Vmovd_rm32_xmm, Size::R32),
                };
                let code = self.vex(code, Code::VEX_Vmovq_rm64_xmm, Code::VEX_Vmovd_rm32_xmm);
                let r = self.m.op(self.at, code, (Class::General, size), &[Op::Use(r, Size::X)]);
                Ok(self.zeros_above(r, ty.elem))
            }
            _ => Err("a scalar that is nowhere"),
        }
    }

    /// The encoding that the target has of a move between a general and a vector register.
    fn vex(&self, evex: Code, wide: Code, narrow: Code) -> Code {
        match self.target {
            Target::Avx512 => evex,
            Target::Avx2 if matches!(evex, Code::EVEX_Vmovq_rm64_xmm | Code::EVEX_Vmovq_xmm_rm64) => wide,
            Target::Avx2 => narrow,
        }
    }

    /// A number in a general register.
    fn number(&mut self, x: u64) -> Reg {
        let (code, size, imm) = if let Ok(x) = u32::try_from(x) {
            (Code::Mov_r32_imm32, Size::R32, Op::Imm32(x as i32))
        } else if let Ok(x) = i32::try_from(x as i64) {
            (Code::Mov_rm64_imm32, Size::R64, Op::Imm64(x))
        } else {
            // In two dwords of the pool, which are found as a pair.
            let all = std::array::from_fn(|k| if k % 2 == 0 { x as u32 } else { (x >> 32) as u32 });
            let m = self.m.literals(all);
            return self.m.op(self.at, Code::Mov_r64_rm64, (Class::General, Size::R64), &[Op::Mem(m)]);
        };
        self.m.op(self.at, code, (Class::General, size), &[imm])
    }

    /// A value of one lane in the lowest lane of a vector register.
    fn lane(&mut self, v: Value) -> Result<Reg, Unsupported> {
        let ty = self.ty(v);
        if let Some(x) = self.constant(v) {
            let m = self.literal(ty.elem, x)?;
            let (code, wide, narrow) =
                (Code::EVEX_Vmovd_xmm_rm32, Code::VEX_Vmovq_xmm_rm64, Code::VEX_Vmovd_xmm_rm32);
            let code = if ty.elem == Elem::I64 { Code::EVEX_Vmovq_xmm_rm64 } else { code };
            let code = self.vex(code, wide, narrow);
            return Ok(self.m.op(self.at, code, (Class::Vector, Size::X), &[Op::Mem(m)]));
        }
        if let Some(Held::Lane(r)) = self.held[v.index()] {
            return Ok(r);
        }
        let r = self.general(v)?;
        let (code, size) = match ty.elem {
            Elem::I64 => (Code::EVEX_Vmovq_xmm_rm64, Size::R64),
            _ => (Code::EVEX_Vmovd_xmm_rm32, Size::R32),
        };
        let code = self.vex(code, Code::VEX_Vmovq_xmm_rm64, Code::VEX_Vmovd_xmm_rm32);
        Ok(self.m.op(self.at, code, (Class::Vector, Size::X), &[Op::Use(r, size)]))
    }

    /// An element in the pool: a dword, or a quad.
    fn literal(&mut self, elem: Elem, x: u64) -> Result<Mem, Unsupported> {
        match elem {
            Elem::I64 => {
                let all = std::array::from_fn(|k| if k % 2 == 0 { x as u32 } else { (x >> 32) as u32 });
                Ok(self.m.literals(all))
            }
            Elem::I32 => Ok(self.m.literal(x as u32)),
            Elem::I16 => Ok(self.m.literal(x as u32 & 0xffff | (x as u32) << 16)),
            Elem::I8 => Ok(self.m.literal((x as u32 & 0xff) * 0x0101_0101)),
            Elem::Mask => Err("a mask as a number"),
        }
    }

    /// The same number in all lanes of a part.
    fn splat_number(&mut self, ty: Type, x: u64) -> Result<Reg, Unsupported> {
        let size = self.size(ty);
        if x == 0 {
            return self.zeros(size);
        }
        let m = self.literal(ty.elem, x)?;
        let op = if ty.elem == Elem::I64 { &ops::BCAST64 } else { &ops::BCAST32 };
        let code = self.code(op, size)?;
        Ok(self.m.op(self.at, code, (Class::Vector, size), &[Op::Mem(m)]))
    }

    /// Zeros.
    fn zeros(&mut self, _: Size) -> Result<Reg, Unsupported> {
        // All of the register, whatever is read of it; without a source it depends on nothing.
        Ok(self.m.op(self.at, ZEROS, (Class::Vector, Size::X), &[]))
    }

    /// A part of a vector in a register.
    fn part(&mut self, v: Value, k: usize) -> Result<Reg, Unsupported> {
        let ty = self.ty(v);
        if let Some(x) = self.constant(v) {
            return self.splat_number(ty, x);
        }
        if let Some(vir::Inst::Lanes(all)) = self.f.def_inst(v) {
            let m = self.lanes_in_pool(ty, all, k)?;
            let size = self.size(ty);
            let code = self.code(&ops::MOV32, size)?;
            return Ok(self.m.op(self.at, code, (Class::Vector, size), &[Op::Mem(m)]));
        }
        match &self.held[v.index()] {
            Some(Held::Vectors(all)) => all.get(k).copied().ok_or("a part that is nowhere"),
            Some(Held::Lane(_) | Held::General(_)) if ty.lanes == 1 => self.lane(v),
            _ => Err("a vector that is nowhere"),
        }
    }

    /// Bits by lane, in the pool.
    fn lanes_in_pool(&mut self, ty: Type, all: &[u64], k: usize) -> Result<Mem, Unsupported> {
        let size = ty.elem.bytes() as usize;
        if size == 0 {
            return Err("a mask as a vector");
        }
        let bytes: Vec<u8> = all.iter().flat_map(|x| x.to_le_bytes().into_iter().take(size)).collect();
        let from = k * self.target.bytes() as usize;
        let mut dwords = [0; 16];
        for (d, b) in dwords.iter_mut().zip(bytes.get(from..).unwrap_or_default().chunks(4)) {
            let mut four = [0; 4];
            four[..b.len()].copy_from_slice(b);
            *d = u32::from_le_bytes(four);
        }
        Ok(self.m.literals(dwords))
    }

    /// A part of a vector as the last operand of an instruction: in memory if it is a constant there.
    fn operand(&mut self, v: Value, k: usize) -> Result<Op, Unsupported> {
        let ty = self.ty(v);
        let size = self.size(ty);
        let wide = matches!(ty.elem, Elem::I32 | Elem::I64);
        match (self.constant(v), self.f.def_inst(v)) {
            (Some(x), _) if wide && self.target == Target::Avx512 && x != 0 && ty.lanes > 1 => {
                Ok(Op::Mem(self.literal(ty.elem, x)?.for_all()))
            }
            (None, Some(vir::Inst::Lanes(all))) if ty.lanes > 1 => {
                Ok(Op::Mem(self.lanes_in_pool(ty, all, k)?))
            }
            _ => Ok(Op::Use(self.part(v, k)?, size)),
        }
    }

    /// A piece of a mask.
    fn piece(&mut self, v: Value, k: usize) -> Result<Reg, Unsupported> {
        let lanes = self.ty(v).lanes;
        if self.target != Target::Avx512 {
            return Err("masks of AVX2");
        }
        if lanes == 1 {
            let r = self.general(v)?;
            return Ok(self.m.op(
                self.at,
                Code::VEX_Kmovd_kr_r32,
                (Class::Mask, Size::K),
                &[Op::Use(r, Size::R32)],
            ));
        }
        let bits = self.known_bits(v);
        if let Some(bits) = bits {
            return Ok(self.mask_number(bits >> (PIECE * k as u32) & 0xffff));
        }
        match &self.held[v.index()] {
            Some(Held::Masks(all)) => all.get(k).copied().ok_or("a piece that is nowhere"),
            _ => Err("a mask that is nowhere"),
        }
    }

    /// The bits of a mask that is known.
    fn known_bits(&self, v: Value) -> Option<u32> {
        let lanes = u32::from(self.ty(v).lanes);
        match self.f.def_inst(v) {
            Some(vir::Inst::Const(x)) => Some(if x & 1 != 0 { u32::MAX >> (32 - lanes) } else { 0 }),
            Some(vir::Inst::Lanes(all)) => {
                Some(all.iter().zip(0..32).fold(0, |m, (x, k)| m | ((*x as u32) & 1) << k))
            }
            _ => None,
        }
    }

    /// These bits in a mask register.
    fn mask_number(&mut self, bits: u32) -> Reg {
        let r =
            self.m.op(self.at, Code::Mov_r32_imm32, (Class::General, Size::R32), &[Op::Imm32(bits as i32)]);
        self.m.op(self.at, Code::VEX_Kmovd_kr_r32, (Class::Mask, Size::K), &[Op::Use(r, Size::R32)])
    }

    /// Are all lanes of a mask true for certain?
    fn always(&self, v: Value) -> bool {
        match self.f.def_inst(v) {
            Some(vir::Inst::Const(x)) => x & 1 != 0,
            Some(vir::Inst::Lanes(all)) => all.iter().all(|x| x & 1 != 0),
            _ => false,
        }
    }

    /// The lanes of a mask that a part of such elements has, in the low bits of a mask register.
    fn mask_of_part(&mut self, mask: Value, ty: Type, k: usize) -> Result<Reg, Unsupported> {
        let lanes = self.lanes_of_part(ty);
        if lanes > PIECE {
            // Two pieces in one.
            let (low, high) = (self.piece(mask, 2 * k)?, self.piece(mask, 2 * k + 1)?);
            let both = [Op::Use(high, Size::K), Op::Use(low, Size::K)];
            return Ok(self.m.op(self.at, Code::VEX_Kunpckwd_kr_kr_kr, (Class::Mask, Size::K), &both));
        }
        let first = lanes * k as u32;
        let piece = self.piece(mask, (first / PIECE) as usize)?;
        Ok(self.higher(piece, first % PIECE))
    }

    /// The lanes of a piece from one on.
    fn higher(&mut self, piece: Reg, by: u32) -> Reg {
        if by == 0 {
            return piece;
        }
        let ops = [Op::Use(piece, Size::K), Op::Imm8(by as u8)];
        self.m.op(self.at, Code::VEX_Kshiftrw_kr_kr_imm8, (Class::Mask, Size::K), &ops)
    }

    /// A mask as bits in a general register; beyond its lanes zeros.
    fn bits(&mut self, v: Value) -> Result<Reg, Unsupported> {
        let lanes = u32::from(self.ty(v).lanes);
        if lanes == 1 {
            return self.general(v);
        }
        let (class, at) = ((Class::General, Size::R32), self.at);
        if let Some(bits) = self.known_bits(v) {
            return Ok(self.number(bits.into()));
        }
        let low = self.piece(v, 0)?;
        if lanes <= PIECE {
            let r = self.m.op(at, Code::VEX_Kmovw_r32_kr, class, &[Op::Use(low, Size::K)]);
            return Ok(if lanes < PIECE {
                self.m.change(at, Code::And_rm32_imm32, (r, Size::R32), &[Op::Imm32((1 << lanes) - 1)])
            } else {
                r
            });
        }
        let high = self.piece(v, 1)?;
        let both = [Op::Use(high, Size::K), Op::Use(low, Size::K)];
        let both = self.m.op(at, Code::VEX_Kunpckwd_kr_kr_kr, (Class::Mask, Size::K), &both);
        Ok(self.m.op(at, Code::VEX_Kmovd_r32_kr, class, &[Op::Use(both, Size::K)]))
    }
}

/// Writing values.
impl Select<'_> {
    fn set(&mut self, v: Value, held: Held) {
        self.held[v.index()] = Some(held);
    }

    /// The bits of a general register as a mask of so many lanes.
    fn set_bits(&mut self, v: Value, bits: Reg) {
        let (lanes, class) = (u32::from(self.ty(v).lanes), (Class::Mask, Size::K));
        if lanes == 1 {
            let r = self.m.change(self.at, Code::And_rm32_imm32, (bits, Size::R32), &[Op::Imm32(1)]);
            return self.set(v, Held::General(r));
        }
        let all = self.m.op(self.at, Code::VEX_Kmovd_kr_r32, class, &[Op::Use(bits, Size::R32)]);
        let mut pieces = vec![all];
        if lanes > PIECE {
            let ops = [Op::Use(all, Size::K), Op::Imm8(16)];
            pieces.push(self.m.op(self.at, Code::VEX_Kshiftrd_kr_kr_imm8, class, &ops));
        }
        self.set(v, Held::Masks(pieces));
    }

    /// A vector instruction with a new result.
    fn vop(&mut self, op: &Vop, size: Size, ops: &[Op]) -> Result<Reg, Unsupported> {
        let code = self.code(op, size)?;
        Ok(self.m.op(self.at, code, (Class::Vector, size), ops))
    }

    /// A vector instruction of lanes of a mask; the others are zero.
    fn zeroing(&mut self, op: &Vop, size: Size, mask: Reg, ops: &[Op]) -> Result<Reg, Unsupported> {
        let code = self.code(op, size)?;
        let to = self.m.reg(Class::Vector);
        let mut all = vec![Op::Def(to, size)];
        all.extend_from_slice(ops);
        self.m.lanes(self.at, code, &all, Lanes::Zero(mask));
        Ok(to)
    }

    /// A result in vector registers, by part.
    fn set_parts(&mut self, v: Value, parts: Vec<Reg>) {
        let held = if self.ty(v).lanes == 1 { Held::Lane(parts[0]) } else { Held::Vectors(parts) };
        self.set(v, held);
    }

    /// An instruction with a general register as its result.
    fn gop(&mut self, code: Code, size: Size, ops: &[Op]) -> Reg {
        self.m.op(self.at, code, (Class::General, size), ops)
    }

    /// One that changes a general register.
    fn gchange(&mut self, code: Code, from: Reg, size: Size, ops: &[Op]) -> Reg {
        self.m.change(self.at, code, (from, size), ops)
    }

    /// An instruction with a mask register as its result.
    fn kop(&mut self, code: Code, ops: &[Op]) -> Reg {
        self.m.op(self.at, code, (Class::Mask, Size::K), ops)
    }

    fn plain(&mut self, code: Code, ops: &[Op]) {
        self.m.plain(self.at, code, ops);
    }

    fn result(&self, id: vir::InstId, k: u32) -> Value {
        Value(self.f.inst(id).first.0 + k)
    }

    /// Does the first lane of a value say where the others are?
    fn stepped(&self, v: Value) -> Option<i64> {
        let ty = self.ty(v);
        let int = matches!(ty.elem, Elem::I16 | Elem::I32 | Elem::I64);
        if int && ty.lanes > 1 { self.f.facts(v).step } else { None }
    }
}
