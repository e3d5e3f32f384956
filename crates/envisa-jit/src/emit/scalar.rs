//! Instructions of one channel on integers, and vectors that are kept as their first element.

use super::*;
use crate::affine_vectors::constant;

/// A condition of the flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cond {
    E,
    Ne,
    A,
    Ae,
    B,
    Be,
    G,
    Ge,
    L,
    Le,
}

impl Cond {
    fn of(relation: u32, signed: bool) -> Option<Cond> {
        Some(match (relation, signed) {
            (0, _) => Cond::E,
            (1, _) => Cond::Ne,
            (2, true) => Cond::G,
            (3, true) => Cond::Ge,
            (4, true) => Cond::L,
            (5, true) => Cond::Le,
            (2, false) => Cond::A,
            (3, false) => Cond::Ae,
            (4, false) => Cond::B,
            (5, false) => Cond::Be,
            _ => return None,
        })
    }

    pub fn not(self) -> Cond {
        match self {
            Cond::E => Cond::Ne,
            Cond::Ne => Cond::E,
            Cond::A => Cond::Be,
            Cond::Ae => Cond::B,
            Cond::B => Cond::Ae,
            Cond::Be => Cond::A,
            Cond::G => Cond::Le,
            Cond::Ge => Cond::L,
            Cond::L => Cond::Ge,
            Cond::Le => Cond::G,
        }
    }

    pub fn jump(self) -> Code {
        match self {
            Cond::E => Code::Je_rel32_64,
            Cond::Ne => Code::Jne_rel32_64,
            Cond::A => Code::Ja_rel32_64,
            Cond::Ae => Code::Jae_rel32_64,
            Cond::B => Code::Jb_rel32_64,
            Cond::Be => Code::Jbe_rel32_64,
            Cond::G => Code::Jg_rel32_64,
            Cond::Ge => Code::Jge_rel32_64,
            Cond::L => Code::Jl_rel32_64,
            Cond::Le => Code::Jle_rel32_64,
        }
    }

    fn set(self) -> Code {
        match self {
            Cond::E => Code::Sete_rm8,
            Cond::Ne => Code::Setne_rm8,
            Cond::A => Code::Seta_rm8,
            Cond::Ae => Code::Setae_rm8,
            Cond::B => Code::Setb_rm8,
            Cond::Be => Code::Setbe_rm8,
            Cond::G => Code::Setg_rm8,
            Cond::Ge => Code::Setge_rm8,
            Cond::L => Code::Setl_rm8,
            Cond::Le => Code::Setle_rm8,
        }
    }
}

const A: [Register; 2] = [Register::EAX, Register::RAX];
const C: [Register; 2] = [Register::ECX, Register::RCX];
const D: [Register; 2] = [Register::EDX, Register::RDX];

/// 32- and 64-bit encodings of `op reg, reg/memory`.
fn reg_mem_encodings(op: Op) -> Option<[Code; 2]> {
    Some(match op {
        Op::Add | Op::Add3 => [Code::Add_r32_rm32, Code::Add_r64_rm64],
        Op::Mul | Op::Mad => [Code::Imul_r32_rm32, Code::Imul_r64_rm64],
        Op::And => [Code::And_r32_rm32, Code::And_r64_rm64],
        Op::Or => [Code::Or_r32_rm32, Code::Or_r64_rm64],
        Op::Xor => [Code::Xor_r32_rm32, Code::Xor_r64_rm64],
        _ => return None,
    })
}

/// The encoding of the same operation with an immediate.
fn immediate(code: Code) -> Option<Code> {
    Some(match code {
        Code::Add_r32_rm32 => Code::Add_rm32_imm32,
        Code::Sub_r32_rm32 => Code::Sub_rm32_imm32,
        Code::Add_r64_rm64 => Code::Add_rm64_imm32,
        Code::And_r32_rm32 => Code::And_rm32_imm32,
        Code::And_r64_rm64 => Code::And_rm64_imm32,
        Code::Or_r32_rm32 => Code::Or_rm32_imm32,
        Code::Or_r64_rm64 => Code::Or_rm64_imm32,
        Code::Xor_r32_rm32 => Code::Xor_rm32_imm32,
        Code::Xor_r64_rm64 => Code::Xor_rm64_imm32,
        Code::Cmp_r32_rm32 => Code::Cmp_rm32_imm32,
        Code::Cmp_r64_rm64 => Code::Cmp_rm64_imm32,
        _ => return None,
    })
}

impl Emit<'_> {
    /// Loads an integer source, extended to the execution type, into a register. `part`: of a vector, the
    /// first element of this half.
    pub(super) fn load_int(
        &mut self,
        s: &Src,
        to: [Register; 2],
        wide: bool,
        part: u32,
    ) -> Result<(), Unsupported> {
        let Src::Reg { offset, ty, strides, shape, modifier, .. } = *s else {
            return Err("a source that is no plain register");
        };
        let w = usize::from(wide);
        if let Some(x) = constant(self.p, s) {
            match i32::try_from(x) {
                Ok(x) if wide => self.a.ri(Code::Mov_rm64_imm32, to[1], x),
                _ if !wide => self.a.ri(Code::Mov_r32_imm32, to[0], x as i32),
                _ => self.a.push(iced_x86::Instruction::with2(Code::Mov_r64_imm64, to[1], x)),
            }
            return Ok(());
        }
        let at = match shape {
            Shape::Contiguous => offset + part * 16 * ty.size(),
            _ => offset + strides.element(0) * ty.size(),
        };
        if let (Shape::Contiguous, Some(v)) = (shape, self.home_alone(at, 64)) {
            if ty.size() != 4 {
                return Err("a part of a vector in a register");
            }
            self.a.rr(Code::EVEX_Vmovd_rm32_xmm, to[0], vector_register(v, Width::X));
        } else {
            let first = (shape == Shape::Contiguous).then(|| self.first(at)).flatten();
            let m = self.reg(first.map_or(at, |f| f.at));
            match ty {
                Type::Ub => self.a.rm(Code::Movzx_r32_rm8, to[0], m),
                Type::Uw => self.a.rm(Code::Movzx_r32_rm16, to[0], m),
                Type::B => self.a.rm([Code::Movsx_r32_rm8, Code::Movsx_r64_rm8][w], to[w], m),
                Type::W => self.a.rm([Code::Movsx_r32_rm16, Code::Movsx_r64_rm16][w], to[w], m),
                Type::D if wide => self.a.rm(Code::Movsxd_r64_rm32, to[1], m),
                Type::D | Type::Ud => self.a.rm(Code::Mov_r32_rm32, to[0], m),
                Type::Q | Type::Uq if wide && self.made_of_dwords(at) => {
                    let [low, high] = [to[0], Register::ESI];
                    self.a.rm(Code::Mov_r32_rm32, high, m.plus(4));
                    self.a.ri(Code::Shl_rm64_imm8, Register::RSI, 32);
                    self.a.rm(Code::Mov_r32_rm32, low, m);
                    self.a.rr(Code::Or_r64_rm64, to[1], Register::RSI);
                }
                Type::Q | Type::Uq if wide => self.a.rm(Code::Mov_r64_rm64, to[1], m),
                Type::Q | Type::Uq => self.a.rm(Code::Mov_r32_rm32, to[0], m),
                _ => return Err("a source that is no integer"),
            }
            if let Some(first) = first.filter(|f| f.plus != 0) {
                self.a.ri(Code::Add_rm32_imm32, to[0], first.plus);
            }
        }
        match modifier {
            Modifier::None => {}
            Modifier::Neg => self.a.r([Code::Neg_rm32, Code::Neg_rm64][w], to[w]),
            Modifier::Not => self.a.r([Code::Not_rm32, Code::Not_rm64][w], to[w]),
            _ => return Err("a modifier of a scalar"),
        }
        Ok(())
    }

    /// Puts an integer operation's result into `eax` or `rax`.
    fn int_op(&mut self, i: &Inst, wide: bool, part: u32) -> Result<(), Unsupported> {
        let w = usize::from(wide);
        let signed = matches!(i.exec, ExecType::I32 | ExecType::I64);
        match i.op {
            Op::Mov => self.load_int(&i.src[0], A, wide, part)?,
            Op::Not => {
                self.load_int(&i.src[0], A, wide, part)?;
                self.a.r([Code::Not_rm32, Code::Not_rm64][w], A[w]);
            }
            Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Add3 | Op::Mad => {
                let codes = reg_mem_encodings(i.op).ok_or("an operation")?;
                let factor = constant(self.p, &i.src[1]).filter(|_| i.op == Op::Mul && !wide);
                if let Some(x) = factor
                    && let Some(m) = self.plain_scalar(&i.src[0], wide, part)
                {
                    self.a.rmi(Code::Imul_r32_rm32_imm32, A[0], m, x as i32);
                    return Ok(());
                }
                self.load_int(&i.src[0], A, wide, part)?;
                self.operate(codes, &i.src[1], wide, part)?;
                if matches!(i.op, Op::Add3 | Op::Mad) {
                    self.operate([Code::Add_r32_rm32, Code::Add_r64_rm64], &i.src[2], wide, part)?;
                }
            }
            Op::Mulh => {
                self.load_int(&i.src[0], A, true, part)?;
                self.load_int(&i.src[1], D, true, part)?;
                self.a.rr(Code::Imul_r64_rm64, A[1], D[1]);
                self.a.ri(Code::Shr_rm64_imm8, A[1], 32);
            }
            Op::Shl | Op::Shr | Op::Asr => {
                self.load_int(&i.src[0], A, wide, part)?;
                let bits = if wide { 63 } else { 31 };
                if let Some(n) = constant(self.p, &i.src[1]) {
                    let code = match i.op {
                        Op::Shl => [Code::Shl_rm32_imm8, Code::Shl_rm64_imm8],
                        Op::Shr => [Code::Shr_rm32_imm8, Code::Shr_rm64_imm8],
                        _ => [Code::Sar_rm32_imm8, Code::Sar_rm64_imm8],
                    };
                    self.a.ri(code[w], A[w], n as i32 & bits);
                } else {
                    // Counts are taken modulo the width, by the CPU too.
                    self.load_int(&i.src[1], C, false, part)?;
                    let code = match i.op {
                        Op::Shl => [Code::Shl_rm32_CL, Code::Shl_rm64_CL],
                        Op::Shr => [Code::Shr_rm32_CL, Code::Shr_rm64_CL],
                        _ => [Code::Sar_rm32_CL, Code::Sar_rm64_CL],
                    };
                    self.a.rr(code[w], A[w], Register::CL);
                }
            }
            Op::Min | Op::Max => {
                self.load_int(&i.src[0], A, wide, part)?;
                self.load_int(&i.src[1], C, wide, part)?;
                self.a.rr([Code::Cmp_r32_rm32, Code::Cmp_r64_rm64][w], A[w], C[w]);
                let code = match (i.op, signed) {
                    (Op::Min, true) => [Code::Cmovg_r32_rm32, Code::Cmovg_r64_rm64],
                    (Op::Min, false) => [Code::Cmova_r32_rm32, Code::Cmova_r64_rm64],
                    (_, true) => [Code::Cmovl_r32_rm32, Code::Cmovl_r64_rm64],
                    (_, false) => [Code::Cmovb_r32_rm32, Code::Cmovb_r64_rm64],
                };
                self.a.rr(code[w], A[w], C[w]);
            }
            Op::Cbit => {
                self.load_int(&i.src[0], A, wide, part)?;
                self.a.rr([Code::Popcnt_r32_rm32, Code::Popcnt_r64_rm64][w], A[w], A[w]);
            }
            Op::Fbl => {
                self.load_int(&i.src[0], A, false, part)?;
                self.a.rr(Code::Tzcnt_r32_rm32, A[0], A[0]);
                // Of zero, the carry says that there is no bit.
                self.a.rr(Code::Sbb_r32_rm32, C[0], C[0]);
                self.a.rr(Code::Or_r32_rm32, A[0], C[0]);
            }
            Op::Sel => {
                self.load_int(&i.src[0], A, wide, part)?;
                self.load_int(&i.src[1], C, wide, part)?;
                self.test_pred(i)?;
                let code = if i.pred.invert {
                    [Code::Cmovne_r32_rm32, Code::Cmovne_r64_rm64]
                } else {
                    [Code::Cmove_r32_rm32, Code::Cmove_r64_rm64]
                };
                self.a.rr(code[w], A[w], C[w]);
            }
            _ => return Err("an operation of scalars"),
        }
        Ok(())
    }

    /// Where a scalar is that is in memory as it is wanted, in this width.
    fn plain_scalar(&mut self, s: &Src, wide: bool, part: u32) -> Option<Mem> {
        let Src::Reg { offset, ty, shape, strides, modifier: Modifier::None, constant: false } = *s else {
            return None;
        };
        if ty.size() != if wide { 8 } else { 4 } {
            return None;
        }
        if wide && self.made_of_dwords(offset + strides.element(0) * 8) {
            return None;
        }
        if shape != Shape::Contiguous {
            return Some(self.reg(offset + strides.element(0) * ty.size()));
        }
        let first = self.first(offset + part * 64);
        if self.home_alone(offset + part * 64, 64).is_some() || first.is_some_and(|f| f.plus != 0) {
            return None;
        }
        let at = offset + part * 16 * ty.size();
        let at = self.first(at).map_or(at, |f| f.at);
        Some(self.reg(at))
    }

    /// `rax = op(rax, source)`.
    pub(super) fn operate(
        &mut self,
        codes: [Code; 2],
        s: &Src,
        wide: bool,
        part: u32,
    ) -> Result<(), Unsupported> {
        let w = usize::from(wide);
        if let Some(x) =
            constant(self.p, s).and_then(|x| i32::try_from(x).ok().or((!wide).then_some(x as i32)))
            && let Some(code) = immediate(codes[w])
        {
            self.a.ri(code, A[w], x);
            return Ok(());
        }
        // The opposite of something is taken away.
        if let Src::Reg { offset, ty, strides, shape, modifier: Modifier::Neg, constant: false } = *s
            && codes[0] == Code::Add_r32_rm32
        {
            let plain = Src::Reg { offset, ty, strides, shape, modifier: Modifier::None, constant: false };
            return self.operate([Code::Sub_r32_rm32, Code::Sub_r64_rm64], &plain, wide, part);
        }
        if let Some(m) = self.plain_scalar(s, wide, part) {
            self.a.rm(codes[w], A[w], m);
            return Ok(());
        }
        self.load_int(s, D, wide, part)?;
        self.a.rr(codes[w], A[w], D[w]);
        Ok(())
    }

    /// Tests the bit of a predicate that an instruction of one channel looks at: the flags say whether it is
    /// zero.
    pub(super) fn test_pred(&mut self, i: &Inst) -> Result<(), Unsupported> {
        if i.pred.combine != Combine::None || i.pred.offset == 0 {
            return Err("a predicate of all channels");
        }
        let m = self.reg(i.pred.offset + u32::from(i.first) / 8);
        self.a.mi(Code::Test_rm8_imm8, m, 1 << (i.first % 8));
        Ok(())
    }

    /// A move of an immediate of four bytes: `false` if it is another.
    pub(super) fn immediate(&mut self, pc: Pc, i: &Inst) -> Result<bool, Unsupported> {
        let (Dst::Reg { offset, ty, sat: false, .. }, Op::Mov) = (i.dst, i.op) else { return Ok(false) };
        let Src::Reg { offset: from, ty: of, modifier: Modifier::None, constant: true, .. } = i.src[0] else {
            return Ok(false);
        };
        let same = ty.size() == 4 && of.size() == 4 && ty.is_float() == of.is_float();
        let bytes = self.p.registers().constants.get(from as usize..from as usize + 4);
        let (true, Some(bytes)) = (same, bytes.and_then(|b| b.try_into().ok())) else { return Ok(false) };
        self.certain(pc)?;
        let m = self.reg(offset);
        self.a.mi(Code::Mov_rm32_imm32, m, i32::from_le_bytes(bytes));
        Ok(true)
    }

    /// An instruction of one channel on integers: `false` if it is another.
    pub(super) fn scalar(&mut self, pc: Pc, i: &Inst) -> Result<bool, Unsupported> {
        let wide = match i.exec {
            ExecType::I32 | ExecType::U32 => false,
            ExecType::I64 | ExecType::U64 => true,
            _ if i.op != Op::Cmp => return Ok(false),
            _ => false,
        };
        if i.op == Op::Cmp {
            self.certain(pc)?;
            if self.fusable(pc) {
                self.fused = true;
                return Ok(true);
            }
            if let Dst::Reg { offset, ty, .. } = i.dst {
                self.in_memory(offset, ty.size())?;
                let cond = self.scalar_compare(i)?;
                self.a.r(cond.set(), Register::AL);
                self.a.rr(Code::Movzx_r32_rm8, Register::EAX, Register::AL);
                self.a.r(Code::Neg_rm64, Register::RAX);
                self.keep_scalar(offset, ty);
                return Ok(true);
            }
            let Dst::Pred { offset } = i.dst else {
                return Err("a compare of one channel into a rare place");
            };
            let single = self.cells.at(offset).is_some_and(|c| self.cells.get(c).bits == 1);
            if !single {
                return Err("one bit of a predicate");
            }
            let cond = self.scalar_compare(i)?;
            self.a.r(cond.set(), Register::AL);
            self.a.rr(Code::Movzx_r32_rm8, Register::EAX, Register::AL);
            let m = self.reg(offset);
            self.a.mr(Code::Mov_rm32_r32, m, Register::EAX);
            return Ok(true);
        }
        let Dst::Reg { offset, ty, sat: false, .. } = i.dst else { return Ok(false) };
        let other = |s: &Src| is_absolute(s) || matches!(s, Src::Reg { ty, .. } if ty.is_float());
        if i.dst2 != 0 || !ty.is_int() || i.src.iter().any(other) {
            return Ok(false);
        }
        // Of products in 64 bits: what is multiplied is as wide as it says.
        let signed = i.exec == ExecType::I32;
        let dword = |s: &Src| {
            let wanted = if signed { Type::D } else { Type::Ud };
            matches!(s, Src::Reg { ty, modifier: Modifier::None, .. } if *ty == wanted)
        };
        let upper = i.op == Op::Mulh && !wide && ty.size() == 4 && i.src[..2].iter().all(dword);
        if !upper
            && !matches!(
                i.op,
                Op::Mov
                    | Op::Not
                    | Op::Add
                    | Op::Add3
                    | Op::Mul
                    | Op::Mad
                    | Op::And
                    | Op::Or
                    | Op::Xor
                    | Op::Shl
                    | Op::Shr
                    | Op::Asr
                    | Op::Min
                    | Op::Max
                    | Op::Cbit
                    | Op::Fbl
                    | Op::Sel
            )
        {
            return Ok(false);
        }
        self.certain(pc)?;
        self.int_op(i, wide, 0)?;
        if ty.size() == 8 && !wide {
            return Err("a quad of a dword operation");
        }
        self.keep_scalar(offset, ty);
        Ok(true)
    }

    /// Writes a scalar from `rax`.
    pub(super) fn keep_scalar(&mut self, offset: RegOffset, ty: Type) {
        let m = self.reg(offset);
        match ty.size() {
            1 => self.a.mr(Code::Mov_rm8_r8, m, Register::AL),
            2 => self.a.mr(Code::Mov_rm16_r16, m, Register::AX),
            4 => self.a.mr(Code::Mov_rm32_r32, m, Register::EAX),
            _ => self.a.mr(Code::Mov_rm64_r64, m, Register::RAX),
        }
    }

    /// Compares two scalars; the flags, and the condition that they are to be asked for.
    pub(super) fn scalar_compare(&mut self, i: &Inst) -> Result<Cond, Unsupported> {
        let (wide, signed) = match i.exec {
            _ if i.src.iter().any(is_absolute) => return self.lone_compare(i),
            ExecType::I32 => (false, true),
            ExecType::U32 => (false, false),
            ExecType::I64 => (true, true),
            ExecType::U64 => (true, false),
            _ => return self.lone_compare(i),
        };
        let cond = Cond::of(i.aux, signed).ok_or("a relation")?;
        self.load_int(&i.src[0], A, wide, 0)?;
        self.operate([Code::Cmp_r32_rm32, Code::Cmp_r64_rm64], &i.src[1], wide, 0)?;
        Ok(cond)
    }

    /// The same in vector registers.
    fn lone_compare(&mut self, i: &Inst) -> Result<Cond, Unsupported> {
        let bytes = super::alu::exec_bytes(i.exec)?;
        let part = Part { index: 0, lanes: 1, lane: 0, channel: 0, width: Width::X, bytes };
        self.compare_part(i, &part, 5, None)?;
        self.a.rr(Code::VEX_Kmovw_r32_kr, Register::EAX, mask_register(5));
        self.a.ri(Code::Test_AL_imm8, Register::AL, 1);
        Ok(Cond::Ne)
    }

    /// A vector that is kept as its first element, a half at a time.
    pub(super) fn shaped(&mut self, _: Pc, i: &Inst) -> Result<(), Unsupported> {
        let Dst::Reg { offset, .. } = i.dst else { return Err("a destination") };
        for part in 0..u32::from(i.channels) / 16 {
            let to = offset + 64 * part;
            // As of vectors: nobody reads what is of channels that are off all the time. What goes on from the first half
            // needs that.
            let on = self.may_run(i, u32::from(i.first) + 16 * part, 16);
            if part > 0 && !on {
                continue;
            }
            let first = self.first(to).ok_or("a vector that is not kept as its first element")?;
            // What goes on from the half before has its first element, which is still there.
            if first.at == to {
                self.int_op(i, false, part)?;
                let m = self.reg(to);
                self.a.mr(Code::Mov_rm32_r32, m, Register::EAX);
            }
            if let Some(v) = self.home(to, 64) {
                self.a.rr(Code::EVEX_Vpbroadcastd_zmm_k1z_r32, vector_register(v, Width::Z), Register::EAX);
                self.ramp(v, Width::Z, first.plus, first.step);
            }
        }
        Ok(())
    }
}

/// Is a source an absolute value, or the opposite of one?
fn is_absolute(s: &Src) -> bool {
    matches!(s, Src::Reg { modifier: Modifier::Abs | Modifier::NegAbs, .. })
}
