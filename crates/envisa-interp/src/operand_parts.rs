//! Instructions with operands that are not plain vectors, done in parts: odd sources are moved to plain
//! vectors behind the register file, the operation computes on those, and its result is moved to where it
//! belongs. Each part is vector code; no operation needs code for operands in every form.

use envisa_isa::Type;
use envisa_lower::{Dst, ExecType, Inst, Modifier, Op, Shape, Src, Strides};

use crate::cpu_level::{Handler, Kernel, call};
use crate::decode::{alu_handler, dst_cell, make_cell, src_cell};
use crate::moves::{Move, Place, choose_handler};
use crate::special_forms::is_other;
use crate::wide_integers::is_by_value;
use crate::{At, Cell, SrcCell, SrcKind, active_channels};
use envisa_machine::cpu::Level;
use envisa_machine::register_file::Registers;
use envisa_machine::thread::{Machine, STOP};

/// An instruction's parts.
pub(crate) struct Parts {
    pub cells: Vec<Cell>,
    /// Is any type a float's, so that `%cr0` matters?
    pub float: bool,
    /// The whole instruction, for modes that the parts are not for.
    pub general: Handler,
}

/// Runs an instruction's parts, whose number is the first source's offset.
pub(crate) struct PartsK;

impl Kernel for PartsK {
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        if active_channels(m, c) == 0 {
            return pc + 1;
        }
        let code = c.code;
        let Some(parts) = code.parts.get(c.src[0].offset as usize) else { return STOP };
        if parts.float && !m.t.ieee {
            return call(parts.general, m, c, pc);
        }
        for part in &parts.cells {
            call(part.run, m, At { cell: part, code }, pc);
        }
        pc + 1
    }
}

/// The type whose elements vectors of an execution type are.
fn element(exec: ExecType) -> Option<Type> {
    Some(match exec {
        ExecType::I32 => Type::D,
        ExecType::U32 => Type::Ud,
        ExecType::I64 => Type::Q,
        ExecType::U64 => Type::Uq,
        ExecType::F32 => Type::F,
        ExecType::F64 | ExecType::Odd => Type::Df,
        ExecType::F16 => Type::Hf,
        ExecType::Bf16 => Type::Bf,
        ExecType::Wide | ExecType::None => return None,
    })
}

/// Where a source's elements lie, if they are evenly spaced in the register file.
fn source(s: &Src, n: u8) -> Option<(Place, Modifier)> {
    let Src::Reg { offset, ty, strides, modifier, .. } = *s else { return None };
    Some((Place { offset, ty, step: strides.step(n as u32)? }, modifier))
}

/// Builds the parts of one instruction.
pub(crate) struct Splitter<'a> {
    level: Level,
    inst: &'a Inst,
    /// Where the register file ends, and intermediate vectors begin.
    end: u32,
    cells: Vec<Cell>,
}

impl<'a> Splitter<'a> {
    pub fn new(level: Level, inst: &'a Inst, end: u32) -> Self {
        Splitter { level, inst, end, cells: Vec::new() }
    }

    /// Intermediate vector `k`.
    fn spare(&self, k: u32, ty: Type) -> Place {
        Place { offset: self.end + 256 * k, ty, step: 1 }
    }

    /// A move as cell: of the instruction's channels, or whole vectors.
    fn push(&mut self, mv: Move, channels: u8, masked: bool) {
        let mut c = make_cell(self.inst, mv.run, Default::default(), (mv.to.offset, true));
        if !masked {
            c.pred = 0;
            c.always = u32::MAX;
            c.full = envisa_machine::register_file::all_channels(channels as usize);
        }
        // The predicate of `sel` picks a source.
        if self.inst.op == Op::Sel {
            c.pred = 0;
        }
        c.channels = channels;
        c.src[0].offset = mv.from.offset;
        c.src[1].offset = mv.from.step * mv.from.ty.size();
        c.src[2].offset = mv.to.step * mv.to.ty.size();
        self.cells.push(c);
    }

    /// Moves elements, by one handler or several.
    fn moves(&mut self, from: Place, to: Place, sat: bool, n: u8, masked: bool) -> Option<()> {
        let (level, limit) = (self.level, self.end + Registers::SPARE);
        if let Some(mv) = choose_handler(level, n, from, to, sat, limit) {
            self.push(mv, n, masked);
            return Some(());
        }
        let mut from = from;
        if n > 1 && from.step > 1 {
            let packed = self.spare(4, from.ty);
            self.push(choose_handler(level, n, from, packed, false, limit)?, n, false);
            from = packed;
        }
        if sat && from.ty.is_int() && from.ty.size() < 4 {
            // Dwords hold any of them.
            let wide = self.spare(5, Type::D);
            self.push(choose_handler(level, n, from, wide, false, limit)?, n, false);
            from = wide;
        }
        if n > 1 && to.step > 1 {
            let packed = self.spare(4, to.ty);
            if packed.offset == from.offset {
                let moved = self.spare(5, from.ty);
                self.push(choose_handler(level, n, from, moved, false, limit)?, n, false);
                from = moved;
            }
            self.push(choose_handler(level, n, from, packed, sat, limit)?, n, false);
            self.push(choose_handler(level, n, packed, to, false, limit)?, n, masked);
        } else {
            self.push(choose_handler(level, n, from, to, sat, limit)?, n, masked);
        }
        Some(())
    }

    /// A `mov` without modifier.
    pub fn mov(mut self) -> Option<Vec<Cell>> {
        let i = self.inst;
        let (from, modifier) = source(&i.src[0], i.channels)?;
        let Dst::Reg { offset, ty, stride, sat } = i.dst else { return None };
        if i.op != Op::Mov || modifier != Modifier::None {
            return None;
        }
        self.moves(from, Place { offset, ty, step: stride as u32 }, sat, i.channels, true)?;
        Some(self.cells)
    }

    /// Any instruction that computes channel by channel.
    pub fn compute(mut self) -> Option<Vec<Cell>> {
        let i = self.inst;
        let n = i.channels;
        let sat = matches!(i.dst, Dst::Reg { sat: true, .. });
        if (is_other(i.op) || is_by_value(i.op, i.exec, sat)) && !self.fits(sat) {
            return None;
        }
        let mut j = *i;
        if i.op == Op::Dp4a {
            let signed = |s: &Src| matches!(s, Src::Reg { ty, .. } if ty.is_signed());
            j.aux = signed(&i.src[1]) as u32 | (signed(&i.src[2]) as u32) << 1;
            j.exec = ExecType::U32;
        }
        let exec = element(j.exec)?;
        for k in 0..3 {
            if j.src[k] != Src::None {
                j.src[k] = self.read(k as u32, i.src[k], (j.exec, exec))?;
            }
        }
        let mut write = None;
        match i.dst {
            // Its destinations are of dwords.
            Dst::Reg { offset, stride, .. } if i.op == Op::Madw => {
                if stride != 1 && n != 1 {
                    return None;
                }
                j.aux = i.dst2;
                j.dst = Dst::Reg { offset, ty: Type::Q, stride: 1, sat: false };
            }
            Dst::Reg { offset, ty, stride, sat } if !dst_cell(&j).1 => {
                let result = self.spare(3, if i.op == Op::Cmp { Type::D } else { exec });
                j.dst = Dst::Reg { offset: result.offset, ty: result.ty, stride: 1, sat: false };
                let int = |t: Type| match t.size() {
                    1 => Type::Ub,
                    2 => Type::Uw,
                    4 => Type::Ud,
                    _ => Type::Uq,
                };
                let ty = if i.op == Op::Cmp { int(ty) } else { ty };
                write = Some((result, Place { offset, ty, step: stride as u32 }, sat && i.op != Op::Cmp));
            }
            Dst::Reg { .. } | Dst::Pred { .. } => {}
            Dst::Indirect { .. } | Dst::None => return None,
        }
        let src = [0, 1, 2].map(|k| src_cell(&j.src[k], j.exec));
        let run = alu_handler(self.level, &j, &src)?;
        self.cells.push(make_cell(&j, run, src, dst_cell(&j)));
        if let Some((result, to, sat)) = write {
            self.moves(result, to, sat, n, true)?;
        }
        Some(self.cells)
    }

    /// May the operation, which only general code does otherwise, be done in 64 bits?
    fn fits(&self, sat: bool) -> bool {
        let i = self.inst;
        let of = |s: &Src| match *s {
            Src::Reg { ty, .. } => Some(ty),
            _ => None,
        };
        // What does not fit is computed in another type.
        let small = i.src.iter().filter_map(of).all(|t| t.is_int() && t.size() <= 4);
        let small = small && matches!(i.dst, Dst::Reg { ty, .. } if ty.is_int() && ty.size() <= 4);
        match i.op {
            // The type holds the exact result.
            Op::Add | Op::Add3 | Op::Mul | Op::Mad => sat && i.exec != ExecType::Wide,
            Op::Madw => !sat && small && matches!(i.dst, Dst::Reg { ty, .. } if ty.size() == 4),
            Op::Dp4a => {
                let dwords = |t: Type| t.is_int() && t.size() == 4;
                !sat && i.src[..3].iter().filter_map(of).filter(|t| dwords(*t)).count() == 3
                    && matches!(i.dst, Dst::Reg { ty, .. } if dwords(ty))
            }
            _ => false,
        }
    }

    /// Source `k`, made plain if it is not.
    fn read(&mut self, k: u32, s: Src, (compute, exec): (ExecType, Type)) -> Option<Src> {
        let n = self.inst.channels;
        if src_cell(&s, compute).kind != SrcKind::General {
            return Some(s);
        }
        let (from, modifier) = source(&s, n)?;
        let absolute = from.ty.is_int() && matches!(modifier, Modifier::Abs | Modifier::NegAbs);
        // How it acts on an unsigned source depends on the type that channels compute in.
        if absolute && !(from.ty.is_signed() && exec.is_int()) {
            return None;
        }
        let (channels, shape) = if from.step == 0 { (1, Shape::Scalar) } else { (n, Shape::Contiguous) };
        let at = self.spare(k, exec);
        self.moves(from, at, false, channels, false)?;
        let strides = if channels == 1 { Strides::SCALAR } else { Strides::CONTIGUOUS };
        let plain =
            |modifier| Src::Reg { offset: at.offset, ty: exec, strides, shape, modifier, constant: false };
        if !absolute {
            return Some(plain(modifier));
        }
        // The larger of the value and its negation.
        let i = Inst {
            op: Op::Max,
            exec: if exec.size() == 8 { ExecType::I64 } else { ExecType::I32 },
            channels,
            src: [plain(Modifier::None), plain(Modifier::Neg), Src::None, Src::None],
            dst: Dst::Reg { offset: at.offset, ty: exec, stride: 1, sat: false },
            ..*self.inst
        };
        let src = [0, 1, 2].map(|k| src_cell(&i.src[k], i.exec));
        let mut c = make_cell(&i, alu_handler(self.level, &i, &src)?, src, dst_cell(&i));
        (c.pred, c.always, c.full) =
            (0, u32::MAX, envisa_machine::register_file::all_channels(channels as usize));
        self.cells.push(c);
        Some(plain(if modifier == Modifier::NegAbs { Modifier::Neg } else { Modifier::None }))
    }
}

/// Is any of the instruction's types a float's?
pub(crate) fn is_float(i: &Inst) -> bool {
    let source = |s: &Src| matches!(s, Src::Reg { ty, .. } | Src::Indirect { ty, .. } if ty.is_float());
    i.src.iter().any(source) || matches!(i.dst, Dst::Reg { ty, .. } if ty.is_float())
}

/// A source of [`PartsK`]: the number of the parts; a general one for the handler of the whole.
pub(crate) fn index(k: usize) -> [SrcCell; 3] {
    let general = SrcCell::default();
    [SrcCell { offset: k as u32, ..general }, general, general]
}
