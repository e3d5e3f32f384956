//! From a program's instructions to cells: chooses handlers.

use envisa_isa::{Combine, Type};
use envisa_lower::{Dst, ExecType, Inst, Modifier, Op, Program, Shape, Src};
use envisa_sem::{Bf, Hf, MathUnit};

use crate::alu::{Alu, GeneralK, LanesK, OneK, is_plain};
use crate::control::*;
use crate::cpu_level::{Handler, Kernel, Vectors, base_handler};
use crate::lane_operations::*;
use crate::math_unit::{Unit, UnitK};
use crate::messages;
use crate::operand::Exec;
use crate::operand_parts::{self, Parts, PartsK, Splitter};
use crate::picks::PickK;
use crate::predicates::{MovPredK, PredLogicK, SetpK};
use crate::special_forms::*;
use crate::wide_integers::{ByValueK, is_by_value};
use crate::{At, Cell, Code, SrcCell, SrcKind};
use envisa_machine::cpu::Level;

/// The types that hold bits of an execution type: reading and writing them is plain.
fn type_holds_bits(exec: ExecType, ty: Type) -> bool {
    match exec {
        ExecType::I32 | ExecType::U32 => matches!(ty, Type::D | Type::Ud),
        ExecType::I64 | ExecType::U64 => matches!(ty, Type::Q | Type::Uq),
        ExecType::F32 => ty == Type::F,
        ExecType::F64 | ExecType::Odd => ty == Type::Df,
        ExecType::F16 => ty == Type::Hf,
        ExecType::Bf16 => ty == Type::Bf,
        ExecType::Wide | ExecType::None => false,
    }
}

pub(super) fn src_cell(s: &Src, exec: ExecType) -> SrcCell {
    match *s {
        // An absolute value depends on the sign, which handlers of either signedness share: read by its type.
        Src::Reg { ty, modifier: Modifier::Abs | Modifier::NegAbs, .. } if ty.is_int() => SrcCell::default(),
        Src::Reg { offset, ty, shape, modifier: md, .. } if type_holds_bits(exec, ty) => match shape {
            Shape::Scalar => SrcCell { offset, kind: SrcKind::Scalar, modifier: md },
            Shape::Contiguous => SrcCell {
                offset,
                kind: if md == Modifier::None { SrcKind::Contiguous } else { SrcKind::Modified },
                modifier: md,
            },
            Shape::General => SrcCell::default(),
        },
        _ => SrcCell::default(),
    }
}

/// Where the destination starts, and whether it is consecutive elements of the channels' own type.
pub(super) fn dst_cell(i: &Inst) -> (u32, bool) {
    match i.dst {
        // All ones or zero: whatever the type of the sources.
        Dst::Reg { offset, ty, stride, .. } if i.op == Op::Cmp => {
            (offset, ty.size() == 4 && (stride == 1 || i.channels == 1))
        }
        Dst::Reg { offset, ty, stride: 1, sat: false } => (offset, type_holds_bits(i.exec, ty)),
        Dst::Pred { offset } => (offset, true),
        Dst::Reg { offset, ty, sat: false, .. } if i.channels == 1 => (offset, type_holds_bits(i.exec, ty)),
        _ => (0, false),
    }
}

/// What the choice of an instruction's code goes by.
#[derive(Clone, Copy)]
struct Choice<'a> {
    level: Level,
    /// Number of channels.
    n: u8,
    src: &'a [SrcCell; 3],
    /// The destination is consecutive elements of the channels' own type.
    plain: bool,
}

impl Choice<'_> {
    /// The level's vector code, if there is such and the destination and the first `count` sources are what that is for.
    fn vectors(self, count: usize) -> Option<Vectors> {
        Vectors::of(self.level).filter(|_| self.plain && is_plain(&self.src[..count]))
    }

    /// Of one handler for plain operands, and one for operands in any form.
    fn of<P: Kernel, G: Kernel>(self, count: usize) -> Handler {
        match self.vectors(count) {
            Some(l) => l.handler::<P>(),
            None => base_handler::<G>(),
        }
    }

    /// An operation on `S` sources.
    fn alu<O: Alu<T>, T: Exec, const S: usize>(self) -> Handler {
        match self.vectors(S) {
            Some(l) if self.n == 1 => l.handler::<OneK<O, T, S>>(),
            Some(l) => l.handler::<LanesK<O, T, S>>(),
            None => base_handler::<GeneralK<O, T, S>>(),
        }
    }

    /// A function of the math unit.
    fn unit<O: Unit<T>, T: Exec + MathUnit, const S: usize>(self) -> Handler {
        self.of::<UnitK<O, T, S>, GeneralK<O, T, S>>(S)
    }

    /// A compare.
    fn compare<T: Compare>(self) -> Handler {
        self.of::<CmpK<T>, CmpGeneralK<T>>(2)
    }

    /// A selection.
    fn select<T: Exec>(self) -> Handler {
        self.of::<SelK<T>, SelGeneralK<T>>(2)
    }
}

/// The handler of an instruction that computes channel by channel.
pub(super) fn alu_handler(level: Level, i: &Inst, src: &[SrcCell; 3]) -> Option<Handler> {
    let c = Choice { level, n: i.channels, src, plain: dst_cell(i).1 };
    match i.exec {
        ExecType::F32 | ExecType::F64 | ExecType::F16 | ExecType::Bf16 => floats(c, i),
        ExecType::I32 | ExecType::U32 | ExecType::I64 | ExecType::U64 => integers(c, i),
        ExecType::Odd => odd(c, i),
        ExecType::Wide | ExecType::None => untyped_handler(c, i),
    }
}

/// Handlers of operations by operation and type: what computes, the type that it computes in, and its number of sources.
macro_rules! operations {
    ($c:ident, $i:ident, $of:ident: $($op:pat, $exec:pat => $name:ident $t:ty, $s:literal;)*) => {
        match ($i.op, $i.exec) {
            $(($op, $exec) => Some($c.$of::<$name, $t, $s>()),)*
            _ => None,
        }
    };
}

/// For destinations of narrower floats.
fn odd(c: Choice<'_>, i: &Inst) -> Option<Handler> {
    operations! { c, i, alu:
        Op::Add, _ => AddOdd f64, 2;
        Op::Mul, _ => MulOdd f64, 2;
        Op::Mad, _ => MadOdd f64, 3;
        Op::Div, _ => DivOdd f64, 2;
        Op::Sqrt, _ => SqrtOdd f64, 1;
    }
}

/// Those that do not look at the type.
fn untyped_handler(c: Choice<'_>, i: &Inst) -> Option<Handler> {
    Some(match i.op {
        Op::Addc => c.of::<CarryK<false, false>, CarryK<false, true>>(2),
        Op::Subb => c.of::<CarryK<true, false>, CarryK<true, true>>(2),
        Op::Cmp => return compare_handler(c, i),
        _ => return None,
    })
}

/// Of integers.
fn integers(c: Choice<'_>, i: &Inst) -> Option<Handler> {
    use ExecType::{I32, I64, U32, U64};
    match (i.op, i.exec) {
        // The sign matters to saturation and conversion, not to a plain destination.
        (Op::Sel, I32) if !c.plain => return Some(c.select::<i32>()),
        (Op::Sel, I64) if !c.plain => return Some(c.select::<i64>()),
        (Op::Sel, I32 | U32) => return Some(c.select::<u32>()),
        (Op::Sel, I64 | U64) => return Some(c.select::<u64>()),
        // What general code does in 64 bits; see `parts`.
        (Op::Madw, I64) => return Some(c.vectors(3)?.handler::<MadwK>()),
        (Op::Rol, U32) if i.aux == 32 => return Some(c.alu::<RolD, u32, 2>()),
        (Op::Ror, U32) if i.aux == 32 => return Some(c.alu::<RorD, u32, 2>()),
        (Op::Dp4a, U32) if !c.plain => return None,
        _ => {}
    }
    // What does not look at the sign is compiled once for each size.
    let handler = operations! { c, i, alu:
        Op::Mov, I32 => Copy i32, 1;
        Op::Mov, U32 => Copy u32, 1;
        Op::Mov, I64 => Copy i64, 1;
        Op::Mov, U64 => Copy u64, 1;
        Op::Add, I32 | U32 => Add u32, 2;
        Op::Add, I64 | U64 => Add u64, 2;
        Op::Add3, I32 | U32 => Add3 u32, 3;
        Op::Add3, I64 | U64 => Add3 u64, 3;
        Op::Mul, I32 | U32 => Mul u32, 2;
        Op::Mul, I64 | U64 => Mul u64, 2;
        Op::Mad, I32 | U32 => Mad u32, 3;
        Op::Mad, I64 | U64 => Mad u64, 3;
        Op::Min, I32 => Min i32, 2;
        Op::Min, U32 => Min u32, 2;
        Op::Max, I32 => Max i32, 2;
        Op::Max, U32 => Max u32, 2;
        Op::Min, I64 => Min i64, 2;
        Op::Min, U64 => Min u64, 2;
        Op::Max, I64 => Max i64, 2;
        Op::Max, U64 => Max u64, 2;
        Op::Avg, I32 => Avg i32, 2;
        Op::Avg, U32 => Avg u32, 2;
        Op::Avg, I64 => Avg i64, 2;
        Op::Avg, U64 => Avg u64, 2;
        Op::Div, I32 => Div i32, 2;
        Op::Div, U32 => Div u32, 2;
        Op::Div, I64 => Div i64, 2;
        Op::Div, U64 => Div u64, 2;
        Op::Mod, I32 => Mod i32, 2;
        Op::Mod, U32 => Mod u32, 2;
        Op::Mod, I64 => Mod i64, 2;
        Op::Mod, U64 => Mod u64, 2;
        Op::And, I32 | U32 => And u32, 2;
        Op::Or, I32 | U32 => Or u32, 2;
        Op::Xor, I32 | U32 => Xor u32, 2;
        Op::Not, I32 | U32 => Not u32, 1;
        Op::And, I64 | U64 => And u64, 2;
        Op::Or, I64 | U64 => Or u64, 2;
        Op::Xor, I64 | U64 => Xor u64, 2;
        Op::Not, I64 | U64 => Not u64, 1;
        Op::Shl, I32 | U32 => Shl u32, 2;
        Op::Shl, I64 | U64 => Shl u64, 2;
        Op::Shr, U32 | I32 => Shr u32, 2;
        Op::Shr, U64 | I64 => Shr u64, 2;
        Op::Asr, I32 | U32 => Asr i32, 2;
        Op::Asr, I64 | U64 => Asr i64, 2;
        Op::Rol, U32 => Rol u32, 2;
        Op::Ror, U32 => Ror u32, 2;
        Op::Rol, U64 => Rol u64, 2;
        Op::Ror, U64 => Ror u64, 2;
        Op::Bfn, I32 | U32 => Bfn u32, 3;
        Op::Bfn, I64 | U64 => Bfn u64, 3;
        Op::FunnelShift, U32 => FunnelShift u32, 2;
        Op::Bfe, U32 => Bfe u32, 3;
        Op::Bfe, I32 => Bfe i32, 3;
        Op::Bfrev, U32 => Bfrev u32, 1;
        Op::Cbit, U32 => Cbit u32, 1;
        Op::Cbit, U64 => Cbit u64, 1;
        Op::Fbh, U32 => Fbh u32, 1;
        Op::Fbh, I32 => Fbh i32, 1;
        Op::Fbl, U32 => Fbl u32, 1;
        Op::Lzd, U32 => Lzd u32, 1;
        Op::Mulh, U32 => Mulh u32, 2;
        Op::Mulh, I32 => Mulh i32, 2;
        Op::Dp4a, U32 => Dp4a u32, 3;
    };
    handler.or_else(|| untyped_handler(c, i))
}

/// Of floats.
fn floats(c: Choice<'_>, i: &Inst) -> Option<Handler> {
    use ExecType::{Bf16, F16, F32, F64};
    match (i.op, i.exec) {
        (Op::Sel, F32) => return Some(c.select::<f32>()),
        (Op::Sel, F64) => return Some(c.select::<f64>()),
        (Op::Sel, F16) => return Some(c.select::<Hf>()),
        (Op::Sel, Bf16) => return Some(c.select::<Bf>()),
        _ => {}
    }
    let handler = operations! { c, i, alu:
        Op::Mov, F32 => Copy f32, 1;
        Op::Mov, F64 => Copy f64, 1;
        Op::Mov, F16 => Copy Hf, 1;
        Op::Mov, Bf16 => Copy Bf, 1;
        Op::Add, F32 => Add f32, 2;
        Op::Mul, F32 => Mul f32, 2;
        Op::Mad, F32 => Mad f32, 3;
        Op::Min, F32 => Min f32, 2;
        Op::Max, F32 => Max f32, 2;
        Op::Add, F64 => Add f64, 2;
        Op::Mul, F64 => Mul f64, 2;
        Op::Mad, F64 => Mad f64, 3;
        Op::Min, F64 => Min f64, 2;
        Op::Max, F64 => Max f64, 2;
        Op::Add, F16 => Add Hf, 2;
        Op::Mul, F16 => Mul Hf, 2;
        Op::Mad, F16 => Mad Hf, 3;
        Op::Min, F16 => Min Hf, 2;
        Op::Max, F16 => Max Hf, 2;
        Op::Add, Bf16 => Add Bf, 2;
        Op::Mul, Bf16 => Mul Bf, 2;
        Op::Mad, Bf16 => Mad Bf, 3;
        Op::Min, Bf16 => Min Bf, 2;
        Op::Max, Bf16 => Max Bf, 2;
        Op::Div | Op::Divm, F32 => Div f32, 2;
        Op::Div | Op::Divm, F64 => Div f64, 2;
        Op::Div | Op::Divm, F16 => Div Hf, 2;
        Op::Sqrt | Op::Sqrtm, F32 => Sqrt f32, 1;
        Op::Sqrt | Op::Sqrtm, F64 => Sqrt f64, 1;
        Op::Sqrt | Op::Sqrtm, F16 => Sqrt Hf, 1;
        Op::Inv, F32 => Inv f32, 1;
        Op::Inv, F64 => Inv f64, 1;
        Op::Inv, F16 => Inv Hf, 1;
        Op::Rsqrt, F64 => Rsqrt f64, 1;
        Op::Lrp, F32 => Lrp f32, 3;
        Op::Frc, F32 => Frc f32, 1;
        Op::Rndd, F32 => Rndd f32, 1;
        Op::Rndu, F32 => Rndu f32, 1;
        Op::Rnde, F32 => Rnde f32, 1;
        Op::Rndz, F32 => Rndz f32, 1;
        Op::Frc, F64 => Frc f64, 1;
        Op::Rndd, F64 => Rndd f64, 1;
        Op::Rndu, F64 => Rndu f64, 1;
        Op::Rnde, F64 => Rnde f64, 1;
        Op::Rndz, F64 => Rndz f64, 1;
        Op::Frc, F16 => Frc Hf, 1;
        Op::Rndd, F16 => Rndd Hf, 1;
        Op::Rndu, F16 => Rndu Hf, 1;
        Op::Rnde, F16 => Rnde Hf, 1;
        Op::Rndz, F16 => Rndz Hf, 1;
    };
    let unit = || {
        operations! { c, i, unit:
            Op::Rsqrt, F32 => Rsqrt f32, 1;
            Op::Rsqrt, F16 => Rsqrt Hf, 1;
            Op::Exp, F32 => Exp f32, 1;
            Op::Exp, F16 => Exp Hf, 1;
            Op::Log, F32 => Log f32, 1;
            Op::Log, F16 => Log Hf, 1;
            Op::Pow, F32 => Pow f32, 2;
            Op::Pow, F16 => Pow Hf, 2;
            Op::Sin, F32 => Sin f32, 1;
            Op::Sin, F16 => Sin Hf, 1;
            Op::Cos, F32 => Cos f32, 1;
            Op::Cos, F16 => Cos Hf, 1;
            Op::Tanh, F32 => Tanh f32, 1;
            Op::Tanh, F16 => Tanh Hf, 1;
            Op::Sigm, F32 => Sigm f32, 1;
            Op::Sigm, F16 => Sigm Hf, 1;
        }
    };
    handler.or_else(unit).or_else(|| untyped_handler(c, i))
}

/// A compare.
fn compare_handler(c: Choice<'_>, i: &Inst) -> Option<Handler> {
    Some(match i.exec {
        ExecType::I32 => c.compare::<i32>(),
        ExecType::U32 => c.compare::<u32>(),
        ExecType::I64 => c.compare::<i64>(),
        ExecType::U64 => c.compare::<u64>(),
        ExecType::F32 => c.compare::<f32>(),
        ExecType::F64 | ExecType::Odd => c.compare::<f64>(),
        ExecType::F16 => c.compare::<Hf>(),
        ExecType::Bf16 => c.compare::<Bf>(),
        ExecType::Wide | ExecType::None => return None,
    })
}

fn choose_handler(l: Level, i: &Inst, src: &[SrcCell; 3], p: &Program) -> Handler {
    let sat = matches!(i.dst, Dst::Reg { sat: true, .. } | Dst::Indirect { sat: true, .. });
    if is_by_value(i.op, i.exec, sat) {
        return base_handler::<ByValueK>();
    }
    match i.op {
        others!() => return base_handler::<OtherK>(),
        Op::MovPred => return base_handler::<MovPredK>(),
        Op::Pick => return base_handler::<PickK>(),
        Op::Setp => return base_handler::<SetpK>(),
        Op::PredLogic => return base_handler::<PredLogicK>(),
        Op::Dpas | Op::Bdpas => return base_handler::<DpasK<false>>(),
        Op::Dpasw => return base_handler::<DpasK<true>>(),
        Op::Join => return base_handler::<JoinK>(),
        Op::Goto => return base_handler::<GotoK>(),
        Op::Ret | Op::Fret => return base_handler::<RetK>(),
        Op::Fence => return base_handler::<FenceK>(),
        Op::Nop => return base_handler::<NopK>(),
        Op::Message => return messages::choose_handler(l, i, p),
        Op::Call
        | Op::Fcall
        | Op::Ifcall
        | Op::Faddr
        | Op::SwitchJmp
        | Op::Barrier
        | Op::SplitBarrier
        | Op::NamedBarrier
        | Op::ChannelEnables
        | Op::Unsupported
        | Op::End => return base_handler::<ControlK>(),
        // Channels compute, each type with code of its own: `alu`.
        Op::Mov
        | Op::Add3o
        | Op::Cmp
        | Op::Add
        | Op::Add3
        | Op::Addc
        | Op::Subb
        | Op::Mul
        | Op::Mulh
        | Op::Mad
        | Op::Lrp
        | Op::Div
        | Op::Mod
        | Op::Min
        | Op::Max
        | Op::Avg
        | Op::Inv
        | Op::Rsqrt
        | Op::Sqrt
        | Op::Exp
        | Op::Log
        | Op::Pow
        | Op::Sin
        | Op::Cos
        | Op::Tanh
        | Op::Sigm
        | Op::Divm
        | Op::Sqrtm
        | Op::Frc
        | Op::Rndd
        | Op::Rndu
        | Op::Rnde
        | Op::Rndz
        | Op::And
        | Op::Or
        | Op::Xor
        | Op::Not
        | Op::Shl
        | Op::Shr
        | Op::Asr
        | Op::Rol
        | Op::Ror
        | Op::FunnelShift
        | Op::Bfn
        | Op::Bfe
        | Op::Bfrev
        | Op::Cbit
        | Op::Fbh
        | Op::Fbl
        | Op::Lzd
        | Op::Sel => {}
    }
    alu_handler(l, i, src).unwrap_or_else(|| base_handler::<OtherK>())
}

/// A write of `%cr0`: the instruction, then the mode.
struct ModeK;

impl crate::cpu_level::Kernel for ModeK {
    fn run(m: &mut envisa_machine::thread::Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let inner = c.code.inner.get(pc as usize).copied().flatten();
        let next = match inner {
            Some(h) => crate::cpu_level::call(h, m, c, pc),
            None => pc + 1,
        };
        m.refresh_mode();
        next
    }
}

/// An instruction that reads and writes overlapping registers at different places computes from copies:
/// every handler reads its whole sources first, so nothing needs doing here. See `alu::LanesK`.
pub(super) fn decode(p: &Program, level: Level, observed: bool) -> Code {
    let mut code = Code {
        program: p.clone(),
        file: p.registers().bytes,
        cells: Vec::with_capacity(p.code().len()),
        inner: vec![None; p.code().len()],
        parts: Vec::new(),
        plans: messages::plan_messages(p),
    };
    let cr0 = p.registers().predefined[envisa_isa::predefined::var::CR0 as usize];
    for (pc, i) in p.code().iter().enumerate() {
        let src = [0, 1, 2].map(|k| src_cell(&i.src[k], i.exec));
        let mut c = make_cell(i, choose_handler(level, i, &src, p), src, dst_cell(i));
        if let Some(mut cells) = in_parts(level, i, &src, p.registers().bytes) {
            if cells.len() == 1 {
                c = cells.swap_remove(0);
            } else {
                let general = general_handler(level, i, p);
                c = described_cell(i, base_handler::<PartsK>(), operand_parts::index(code.parts.len()));
                code.parts.push(Parts { cells, float: operand_parts::is_float(i), general });
            }
        }
        if let Dst::Reg { offset, .. } = i.dst
            && (cr0..cr0 + 64).contains(&offset)
        {
            code.inner[pc] = Some(c.run);
            c.run = base_handler::<ModeK>();
        }
        c.fused = !observed && i.op == Op::Cmp && i.facts.fuses_with_next;
        code.cells.push(c);
    }
    code
}

/// The handler of an instruction that is told nothing of its operands: it goes by their description.
fn general_handler(l: Level, i: &Inst, p: &Program) -> Handler {
    choose_handler(l, i, &[SrcCell::default(); 3], p)
}

/// A cell whose operands a general handler reads and writes by their description.
pub(super) fn described_cell(i: &Inst, run: Handler, src: [SrcCell; 3]) -> Cell {
    // Predicates are always written in place.
    make_cell(i, run, src, if matches!(i.dst, Dst::Pred { .. }) { dst_cell(i) } else { (0, false) })
}

/// An instruction's cell with general code.
pub(super) fn general_cell(l: Level, i: &Inst, p: &Program) -> Cell {
    described_cell(i, general_handler(l, i, p), [SrcCell::default(); 3])
}

/// The parts of an instruction with operands that are not plain vectors, if it has such and can be done so.
fn in_parts(l: Level, i: &Inst, src: &[SrcCell; 3], end: u32) -> Option<Vec<Cell>> {
    let odd = |k: usize| src[k].kind == SrcKind::General && i.src[k] != Src::None;
    if Vectors::of(l).is_none() || dst_cell(i).1 && !(0..3).any(odd) && i.op != Op::Dp4a {
        return None;
    }
    Splitter::new(l, i, end).mov().or_else(|| Splitter::new(l, i, end).compute())
}

/// An instruction's cell.
pub(super) fn make_cell(i: &Inst, run: Handler, src: [SrcCell; 3], (dst, dst_plain): (u32, bool)) -> Cell {
    let n = i.channels as u32;
    // A compare into a variable is not one into a predicate.
    let dst_plain = dst_plain && (i.op != Op::Cmp || matches!(i.dst, Dst::Pred { .. }));
    Cell {
        run,
        full: if n >= 32 { u32::MAX } else { (1 << n) - 1 },
        pred: i.pred.offset,
        src,
        dst,
        aux: i.aux,
        channels: i.channels,
        first: i.first,
        always: if i.no_mask { u32::MAX } else { 0 },
        combine: match i.pred.combine {
            Combine::None => 0,
            Combine::Any => 1,
            Combine::All => 2,
        } | (i.pred.invert as u8) << 2,
        dst_plain,
        fused: false,
    }
}
