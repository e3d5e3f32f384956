//! Functions of the math unit: the sequences of `envisa-sem`, each operation one instruction.

use envisa_lower::Op as Lowered;
use envisa_sem::lanes::{Apply, Lanes as Sequence, Rounded};
use envisa_sem::math::Function;
use envisa_vir::{Elem, Type, Value};
use iced_x86::{Code, ConditionCode};

use super::{Select, Unsupported};
use crate::inst::{Class, Op, Reg, Size};
use crate::ops::{self, Vop};

/// The function that an operation is.
fn function(op: Lowered) -> Option<Function> {
    Some(match op {
        Lowered::Inv => Function::Inv,
        Lowered::Rsqrt => Function::Rsqrt,
        Lowered::Exp => Function::Exp,
        Lowered::Log => Function::Log,
        Lowered::Pow => Function::Pow,
        Lowered::Sin => Function::Sin,
        Lowered::Cos => Function::Cos,
        Lowered::Tanh => Function::Tanh,
        Lowered::Sigm => Function::Sigm,
        _ => return None,
    })
}

impl Select<'_> {
    /// A function of singles: `false` if it is none.
    pub(super) fn math(
        &mut self,
        v: Value,
        ty: Type,
        op: Lowered,
        args: &[Value],
    ) -> Result<bool, Unsupported> {
        let Some(f) = function(op) else { return Ok(false) };
        let (size, mut out) = (self.size(ty), Vec::new());
        for k in 0..self.parts(ty) {
            let a = self.part(args[0], k)?;
            let b = if f.is_binary() { self.part(args[1], k)? } else { a };
            let lanes = self.lanes_of_part(ty);
            let mut w = Writer { s: self, size, lanes, failed: None };
            let r = f.apply(&mut w, a, b);
            if let Some(why) = w.failed {
                return Err(why);
            }
            out.push(r);
        }
        self.set_parts(v, out);
        Ok(true)
    }
}

/// Writes a sequence down as instructions.
struct Writer<'s, 'a> {
    s: &'s mut Select<'a>,
    size: Size,
    lanes: u32,
    failed: Option<Unsupported>,
}

impl Writer<'_, '_> {
    fn vector(&mut self, op: &Vop, ops: &[Op]) -> Reg {
        let made = self.s.vop(op, self.size, ops);
        self.kept(made)
    }

    /// What was made, or why not, which is told in the end.
    fn kept(&mut self, made: Result<Reg, Unsupported>) -> Reg {
        made.unwrap_or_else(|why| {
            self.failed.get_or_insert(why);
            self.s.m.reg(Class::Vector)
        })
    }

    fn used(&self, r: Reg) -> Op {
        Op::Use(r, self.size)
    }

    fn by(&mut self, op: &Vop, a: Reg, b: Reg) -> Reg {
        let ops = [self.used(a), self.used(b)];
        self.vector(op, &ops)
    }

    fn count(&mut self, op: &Vop, a: Reg, n: u32) -> Reg {
        let ops = [self.used(a), Op::Imm8(n as u8)];
        self.vector(op, &ops)
    }

    fn mask(&mut self, op: &Vop, a: Reg, b: Reg, how: u8) -> Reg {
        match self.s.code(op, self.size) {
            Ok(code) => {
                let ops = [self.used(a), self.used(b), Op::Imm8(how)];
                self.s.kop(code, &ops)
            }
            Err(why) => {
                self.failed.get_or_insert(why);
                self.s.m.reg(Class::Mask)
            }
        }
    }

    /// `b * a + c`.
    fn fuse(&mut self, op: &Vop, a: Reg, b: Reg, c: Reg) -> Reg {
        let c = self.used(c);
        let made = self.s.fused(op, self.size, b, a, c);
        self.kept(made)
    }
}

impl Sequence for Writer<'_, '_> {
    type V = Reg;
    type M = Reg;

    fn bits(&mut self, bits: u32) -> Reg {
        let made = self.s.splat_number(Type::new(Elem::I32, 16), bits.into());
        self.kept(made)
    }
    fn add(&mut self, a: Reg, b: Reg) -> Reg {
        self.by(&ops::ADDPS, a, b)
    }
    fn sub(&mut self, a: Reg, b: Reg) -> Reg {
        self.by(&ops::SUBPS, a, b)
    }
    fn mul(&mut self, a: Reg, b: Reg) -> Reg {
        self.by(&ops::MULPS, a, b)
    }
    fn div(&mut self, a: Reg, b: Reg) -> Reg {
        self.by(&ops::DIVPS, a, b)
    }
    fn fma(&mut self, a: Reg, b: Reg, c: Reg) -> Reg {
        self.fuse(&ops::FMADDPS, a, b, c)
    }
    fn fnma(&mut self, a: Reg, b: Reg, c: Reg) -> Reg {
        self.fuse(&ops::FNMADDPS, a, b, c)
    }
    fn fms(&mut self, a: Reg, b: Reg, c: Reg) -> Reg {
        self.fuse(&ops::FMSUBPS, a, b, c)
    }
    fn min(&mut self, a: Reg, b: Reg) -> Reg {
        self.by(&ops::MINPS, a, b)
    }
    fn max(&mut self, a: Reg, b: Reg) -> Reg {
        self.by(&ops::MAXPS, a, b)
    }
    fn rint(&mut self, a: Reg) -> Reg {
        self.count(&ops::RNDSCALEPS, a, 8)
    }
    fn int_to_float(&mut self, a: Reg) -> Reg {
        let a = self.used(a);
        self.vector(&ops::CVTDQ2PS, &[a])
    }
    fn and(&mut self, a: Reg, b: Reg) -> Reg {
        self.by(&ops::AND32, a, b)
    }
    fn or(&mut self, a: Reg, b: Reg) -> Reg {
        self.by(&ops::OR32, a, b)
    }
    fn xor(&mut self, a: Reg, b: Reg) -> Reg {
        self.by(&ops::XOR32, a, b)
    }
    fn shl(&mut self, a: Reg, n: u32) -> Reg {
        self.count(&ops::SLL32, a, n)
    }
    fn shr(&mut self, a: Reg, n: u32) -> Reg {
        self.count(&ops::SRL32, a, n)
    }
    fn sar(&mut self, a: Reg, n: u32) -> Reg {
        self.count(&ops::SRA32, a, n)
    }
    fn iadd(&mut self, a: Reg, b: Reg) -> Reg {
        self.by(&ops::ADD32, a, b)
    }
    fn isub(&mut self, a: Reg, b: Reg) -> Reg {
        self.by(&ops::SUB32, a, b)
    }
    fn lt(&mut self, a: Reg, b: Reg) -> Reg {
        self.mask(&ops::CMPPS, a, b, 0x11)
    }
    fn eq(&mut self, a: Reg, b: Reg) -> Reg {
        self.mask(&ops::CMPPS, a, b, 0)
    }
    fn unordered(&mut self, a: Reg, b: Reg) -> Reg {
        self.mask(&ops::CMPPS, a, b, 3)
    }
    fn ilt(&mut self, a: Reg, b: Reg) -> Reg {
        self.mask(&ops::CMPS32, a, b, 1)
    }
    fn ieq(&mut self, a: Reg, b: Reg) -> Reg {
        self.mask(&ops::CMPS32, a, b, 0)
    }
    fn ult(&mut self, a: Reg, b: Reg) -> Reg {
        self.mask(&ops::CMPU32, a, b, 1)
    }
    fn both(&mut self, a: Reg, b: Reg) -> Reg {
        self.s.kop(Code::VEX_Kandw_kr_kr_kr, &[Op::Use(a, Size::K), Op::Use(b, Size::K)])
    }
    fn either(&mut self, a: Reg, b: Reg) -> Reg {
        self.s.kop(Code::VEX_Korw_kr_kr_kr, &[Op::Use(a, Size::K), Op::Use(b, Size::K)])
    }
    fn select(&mut self, m: Reg, a: Reg, b: Reg) -> Reg {
        let a = self.used(a);
        let made = self.s.blend(&ops::BLEND32, self.size, m, a, b);
        self.kept(made)
    }
    fn table(&mut self, table: &[u32; 16], index: Reg) -> Reg {
        let t = self.s.m.literals(*table);
        let ops = [Op::Use(index, Size::Z), Op::Mem(t)];
        self.s.m.op(self.s.at, Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32, (Class::Vector, Size::Z), &ops)
    }
    fn rarely<const N: usize>(
        &mut self,
        m: Reg,
        usual: [Reg; N],
        f: impl FnOnce(&mut Self) -> [Reg; N],
    ) -> [Reg; N] {
        let (some, join) = (self.s.m.cold(), self.s.m.block());
        let none = self.s.m.block();
        // Only lanes that there are count.
        let m = match self.lanes {
            16 => m,
            n => {
                let all = self.s.mask_number((1 << n) - 1);
                self.both(m, all)
            }
        };
        self.s.any_piece(m, m);
        let at = self.s.at;
        self.s.m.branch(at, ConditionCode::ne, [some, none]);
        self.s.m.jump(none, join, &usual);
        self.s.at = some;
        let other = f(self);
        let chosen: Vec<Reg> = other.into_iter().zip(usual).map(|(o, u)| self.select(m, o, u)).collect();
        let at = self.s.at;
        self.s.m.jump(at, join, &chosen);
        self.s.at = join;
        usual.map(|_| self.s.m.param(join, Class::Vector))
    }
    fn split(&mut self, a: Reg) -> (Reg, Rounded<Reg>) {
        // As `envisa_sem::lanes::x86::Avx512` does it: what scales reads the single.
        let rest = self.count(&ops::REDUCEPS, a, 8);
        let n = Sequence::sub(self, a, rest);
        (rest, Rounded { float: n, bits: n })
    }
    fn not_normal(&mut self, a: Reg) -> Reg {
        match self.s.code(&ops::FPCLASSPS, self.size) {
            Ok(code) => {
                let ops = [self.used(a), Op::Imm8(0xff)];
                self.s.kop(code, &ops)
            }
            Err(why) => {
                self.failed.get_or_insert(why);
                self.s.m.reg(Class::Mask)
            }
        }
    }
    fn scale(&mut self, a: Reg, n: Rounded<Reg>) -> Reg {
        self.by(&ops::SCALEFPS, a, n.float)
    }
    fn power_of_two(&mut self, a: Reg) -> Reg {
        let one = self.float(1.0);
        self.by(&ops::SCALEFPS, one, a)
    }
}
