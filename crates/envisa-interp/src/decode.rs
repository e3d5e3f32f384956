//! From a program's instructions to cells: chooses handlers.

use envisa_isa::{Combine, Type};
use envisa_lower::{Dst, ExecType, Inst, Modifier, Op, Program, Shape, Src};
use envisa_sem::{Bf, Hf, MathUnit};

use crate::alu::{Alu, FlushK, GeneralK, PlainK, are_plain};
use crate::control::*;
use crate::level::{Handler, Vectors, handler};
use crate::messages;
use crate::operand::Exec;
use crate::ops::*;
use crate::parts::{self, Parts, PartsK, Splitter};
use crate::predicates::{MovPredK, PredLogicK, SetpK};
use crate::special::*;
use crate::unit::{Unit, UnitK};
use crate::wide::{ByValueK, is_by_value};
use crate::{At, Cell, Code, SrcCell, SrcKind};
use envisa_machine::cpu::Level;

/// The types that hold bits of an execution type: reading and writing them is plain.
fn holds(exec: ExecType, ty: Type) -> bool {
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
        Src::Reg { offset, ty, shape, modifier: md, .. } if holds(exec, ty) => match shape {
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
        Dst::Reg { offset, ty, stride: 1, sat: false } => (offset, holds(i.exec, ty)),
        Dst::Pred { offset } => (offset, true),
        Dst::Reg { offset, ty, sat: false, .. } if i.channels == 1 => (offset, holds(i.exec, ty)),
        _ => (0, false),
    }
}

/// The handler of a kernel for this number of channels, whose last parameter is the size of its vectors.
macro_rules! sized {
    ($l:expr, $n:expr, $kernel:ident [ $($p:ty),* ; $($k:expr),* ]) => {
        match $n {
            1 => $l.handler::<$kernel<$($p,)* $({ $k },)* 1>>(),
            2..=16 => $l.handler::<$kernel<$($p,)* $({ $k },)* 16>>(),
            _ => $l.handler::<$kernel<$($p,)* $({ $k },)* 32>>(),
        }
    };
}

pub(crate) use sized;

/// The same for plain operands (`plain`); for operands in any form a handler at the base level.
macro_rules! by_shape {
    ($level:expr, $n:expr, $plain:expr, $kernel:ident [ $($p:ty),* ; $($k:expr),* ]) => {
        match Vectors::of($level) {
            Some(l) if $plain => sized!(l, $n, $kernel[$($p),*; $($k,)* false]),
            _ => handler::<$kernel<$($p,)* $({ $k },)* true, 32>>(),
        }
    };
}

/// Which of the variants of a handler is wanted.
#[derive(Clone, Copy)]
pub(super) struct Variant {
    /// The level.
    pub level: Level,
    /// Is it for modes of `%cr0` that flush denormals?
    pub flushing: bool,
}

/// Code for an operation of so many sources.
fn channels<O: Alu<T>, T: Exec, const S: usize>(c: Choice<'_>) -> Handler {
    let plain = c.plain && are_plain(&c.src[..S]);
    match Vectors::of(c.w.level).filter(|_| plain) {
        Some(l) if O::MODAL && c.w.flushing => match c.n {
            1 => l.handler::<FlushK<O, T, S, 1>>(),
            _ => l.handler::<FlushK<O, T, S, 32>>(),
        },
        Some(l) => sized!(l, c.n, PlainK[O, T; S]),
        None => handler::<GeneralK<O, T, S>>(),
    }
}

/// Code for a function of the math unit, in whatever mode.
fn unit<O: Unit<T>, T: Exec + MathUnit, const S: usize>(c: Choice<'_>) -> Handler {
    match Vectors::of(c.w.level).filter(|_| c.plain && are_plain(&c.src[..S])) {
        Some(l) => l.handler::<UnitK<O, T, S, false>>(),
        None => handler::<UnitK<O, T, S, true>>(),
    }
}

/// What the choice of an instruction's code goes by.
#[derive(Clone, Copy)]
struct Choice<'a> {
    w: Variant,
    /// Number of channels.
    n: u8,
    src: &'a [SrcCell; 3],
    /// The destination is consecutive elements of the channels' own type.
    plain: bool,
}

/// The handler of an instruction that computes channel by channel.
pub(super) fn alu(w: Variant, i: &Inst, src: &[SrcCell; 3]) -> Option<Handler> {
    let c = Choice { w, n: i.channels, src, plain: dst_cell(i).1 };
    match i.exec {
        ExecType::F32 | ExecType::F64 | ExecType::F16 | ExecType::Bf16 => floats(c, i),
        ExecType::I32 | ExecType::U32 | ExecType::I64 | ExecType::U64 => integers(c, i),
        ExecType::Odd => odd(c, i),
        ExecType::Wide | ExecType::None => others(c, i),
    }
}

/// For destinations of narrower floats.
fn odd(c: Choice<'_>, i: &Inst) -> Option<Handler> {
    Some(match i.op {
        Op::Add => channels::<AddOdd, f64, 2>(c),
        Op::Mul => channels::<MulOdd, f64, 2>(c),
        Op::Mad => channels::<MadOdd, f64, 3>(c),
        Op::Div => channels::<DivOdd, f64, 2>(c),
        Op::Sqrt => channels::<SqrtOdd, f64, 1>(c),
        _ => return None,
    })
}

/// Those that do not look at the type.
fn others(c: Choice<'_>, i: &Inst) -> Option<Handler> {
    let (l, n, src, plain) = (c.w.level, c.n, c.src, c.plain);
    let plain = plain && are_plain(&src[..2]);
    Some(match i.op {
        Op::Addc => by_shape!(l, n, plain, CarryK[; false]),
        Op::Subb => by_shape!(l, n, plain, CarryK[; true]),
        Op::Cmp => return comparison(l, i, src),
        _ => return None,
    })
}

/// Of integers.
fn integers(c: Choice<'_>, i: &Inst) -> Option<Handler> {
    use ExecType::{I32, I64, U32, U64};
    let (l, n, src, plain) = (c.w.level, c.n, c.src, c.plain);
    let plain = plain && are_plain(&src[..2]);
    // What does not look at the sign is compiled once for each size.
    Some(match (i.op, i.exec) {
        (Op::Mov, I32) => channels::<Copy, i32, 1>(c),
        (Op::Mov, U32) => channels::<Copy, u32, 1>(c),
        (Op::Mov, I64) => channels::<Copy, i64, 1>(c),
        (Op::Mov, U64) => channels::<Copy, u64, 1>(c),
        (Op::Add, I32 | U32) => channels::<Add, u32, 2>(c),
        (Op::Add, I64 | U64) => channels::<Add, u64, 2>(c),
        (Op::Add3, I32 | U32) => channels::<Add3, u32, 3>(c),
        (Op::Add3, I64 | U64) => channels::<Add3, u64, 3>(c),
        (Op::Mul, I32 | U32) => channels::<Mul, u32, 2>(c),
        (Op::Mul, I64 | U64) => channels::<Mul, u64, 2>(c),
        (Op::Mad, I32 | U32) => channels::<Mad, u32, 3>(c),
        (Op::Mad, I64 | U64) => channels::<Mad, u64, 3>(c),
        (Op::Min, I32) => channels::<Min, i32, 2>(c),
        (Op::Min, U32) => channels::<Min, u32, 2>(c),
        (Op::Max, I32) => channels::<Max, i32, 2>(c),
        (Op::Max, U32) => channels::<Max, u32, 2>(c),
        (Op::Min, I64) => channels::<Min, i64, 2>(c),
        (Op::Min, U64) => channels::<Min, u64, 2>(c),
        (Op::Max, I64) => channels::<Max, i64, 2>(c),
        (Op::Max, U64) => channels::<Max, u64, 2>(c),
        (Op::Avg, I32) => channels::<Avg, i32, 2>(c),
        (Op::Avg, U32) => channels::<Avg, u32, 2>(c),
        (Op::Avg, I64) => channels::<Avg, i64, 2>(c),
        (Op::Avg, U64) => channels::<Avg, u64, 2>(c),
        (Op::Div, I32) => channels::<Div, i32, 2>(c),
        (Op::Div, U32) => channels::<Div, u32, 2>(c),
        (Op::Div, I64) => channels::<Div, i64, 2>(c),
        (Op::Div, U64) => channels::<Div, u64, 2>(c),
        (Op::Mod, I32) => channels::<Mod, i32, 2>(c),
        (Op::Mod, U32) => channels::<Mod, u32, 2>(c),
        (Op::Mod, I64) => channels::<Mod, i64, 2>(c),
        (Op::Mod, U64) => channels::<Mod, u64, 2>(c),
        (Op::And, I32 | U32) => channels::<And, u32, 2>(c),
        (Op::Or, I32 | U32) => channels::<Or, u32, 2>(c),
        (Op::Xor, I32 | U32) => channels::<Xor, u32, 2>(c),
        (Op::Not, I32 | U32) => channels::<Not, u32, 1>(c),
        (Op::And, I64 | U64) => channels::<And, u64, 2>(c),
        (Op::Or, I64 | U64) => channels::<Or, u64, 2>(c),
        (Op::Xor, I64 | U64) => channels::<Xor, u64, 2>(c),
        (Op::Not, I64 | U64) => channels::<Not, u64, 1>(c),
        (Op::Shl, I32 | U32) => channels::<Shl, u32, 2>(c),
        (Op::Shl, I64 | U64) => channels::<Shl, u64, 2>(c),
        (Op::Shr, U32 | I32) => channels::<Shr, u32, 2>(c),
        (Op::Shr, U64 | I64) => channels::<Shr, u64, 2>(c),
        (Op::Asr, I32 | U32) => channels::<Asr, i32, 2>(c),
        (Op::Asr, I64 | U64) => channels::<Asr, i64, 2>(c),
        (Op::Rol, U32) if i.aux == 32 => channels::<RolD, u32, 2>(c),
        (Op::Ror, U32) if i.aux == 32 => channels::<RorD, u32, 2>(c),
        (Op::Rol, U32) => channels::<Rol, u32, 2>(c),
        (Op::Ror, U32) => channels::<Ror, u32, 2>(c),
        (Op::Rol, U64) => channels::<Rol, u64, 2>(c),
        (Op::Ror, U64) => channels::<Ror, u64, 2>(c),
        (Op::Bfn, I32 | U32) => match i.aux {
            0x96 => channels::<BfnOf<0x96>, u32, 3>(c),
            0xd8 => channels::<BfnOf<0xd8>, u32, 3>(c),
            0xca => channels::<BfnOf<0xca>, u32, 3>(c),
            0xe8 => channels::<BfnOf<0xe8>, u32, 3>(c),
            0xf8 => channels::<BfnOf<0xf8>, u32, 3>(c),
            0x78 => channels::<BfnOf<0x78>, u32, 3>(c),
            0xfe => channels::<BfnOf<0xfe>, u32, 3>(c),
            _ => channels::<Bfn, u32, 3>(c),
        },
        (Op::Bfn, I64 | U64) => channels::<Bfn, u64, 3>(c),
        (Op::Bfe, U32) => channels::<Bfe, u32, 3>(c),
        (Op::Bfe, I32) => channels::<Bfe, i32, 3>(c),
        (Op::Bfrev, U32) => channels::<Bfrev, u32, 1>(c),
        (Op::Cbit, U32) => channels::<Cbit, u32, 1>(c),
        (Op::Cbit, U64) => channels::<Cbit, u64, 1>(c),
        (Op::Fbh, U32) => channels::<Fbh, u32, 1>(c),
        (Op::Fbh, I32) => channels::<Fbh, i32, 1>(c),
        (Op::Fbl, U32) => channels::<Fbl, u32, 1>(c),
        (Op::Lzd, U32) => channels::<Lzd, u32, 1>(c),
        // The sign matters to saturation and conversion, not to a plain destination.
        (Op::Sel, I32) if !plain => by_shape!(l, n, false, SelK[i32;]),
        (Op::Sel, I64) if !plain => by_shape!(l, n, false, SelK[i64;]),
        (Op::Sel, I32 | U32) => by_shape!(l, n, plain, SelK[u32;]),
        (Op::Sel, I64 | U64) => by_shape!(l, n, plain, SelK[u64;]),
        (Op::Mulh, U32) => channels::<Mulh, u32, 2>(c),
        (Op::Mulh, I32) => channels::<Mulh, i32, 2>(c),
        // What general code does in 64 bits; see `parts`.
        (Op::Madw, I64) if plain => sized!(Vectors::of(l)?, n, MadwK[;]),
        (Op::Dp4a, U32) if plain => channels::<Dp4a, u32, 3>(c),
        _ => return others(c, i),
    })
}

/// Of floats.
fn floats(c: Choice<'_>, i: &Inst) -> Option<Handler> {
    use ExecType::{Bf16, F16, F32, F64};
    let (l, n, src, plain) = (c.w.level, c.n, c.src, c.plain);
    let plain = plain && are_plain(&src[..2]);
    Some(match (i.op, i.exec) {
        (Op::Mov, F32) => channels::<Copy, f32, 1>(c),
        (Op::Mov, F64) => channels::<Copy, f64, 1>(c),
        (Op::Mov, F16) => channels::<Copy, Hf, 1>(c),
        (Op::Mov, Bf16) => channels::<Copy, Bf, 1>(c),
        (Op::Add, F32) => channels::<Add, f32, 2>(c),
        (Op::Mul, F32) => channels::<Mul, f32, 2>(c),
        (Op::Mad, F32) => channels::<Mad, f32, 3>(c),
        (Op::Min, F32) => channels::<Min, f32, 2>(c),
        (Op::Max, F32) => channels::<Max, f32, 2>(c),
        (Op::Add, F64) => channels::<Add, f64, 2>(c),
        (Op::Mul, F64) => channels::<Mul, f64, 2>(c),
        (Op::Mad, F64) => channels::<Mad, f64, 3>(c),
        (Op::Min, F64) => channels::<Min, f64, 2>(c),
        (Op::Max, F64) => channels::<Max, f64, 2>(c),
        (Op::Add, F16) => channels::<Add, Hf, 2>(c),
        (Op::Mul, F16) => channels::<Mul, Hf, 2>(c),
        (Op::Mad, F16) => channels::<Mad, Hf, 3>(c),
        (Op::Min, F16) => channels::<Min, Hf, 2>(c),
        (Op::Max, F16) => channels::<Max, Hf, 2>(c),
        (Op::Add, Bf16) => channels::<Add, Bf, 2>(c),
        (Op::Mul, Bf16) => channels::<Mul, Bf, 2>(c),
        (Op::Mad, Bf16) => channels::<Mad, Bf, 3>(c),
        (Op::Min, Bf16) => channels::<Min, Bf, 2>(c),
        (Op::Max, Bf16) => channels::<Max, Bf, 2>(c),
        (Op::Div | Op::Divm, F32) => channels::<Div, f32, 2>(c),
        (Op::Div | Op::Divm, F64) => channels::<Div, f64, 2>(c),
        (Op::Div | Op::Divm, F16) => channels::<Div, Hf, 2>(c),
        (Op::Sqrt | Op::Sqrtm, F32) => channels::<Sqrt, f32, 1>(c),
        (Op::Sqrt | Op::Sqrtm, F64) => channels::<Sqrt, f64, 1>(c),
        (Op::Sqrt | Op::Sqrtm, F16) => channels::<Sqrt, Hf, 1>(c),
        (Op::Inv, F32) => channels::<Inv, f32, 1>(c),
        (Op::Inv, F64) => channels::<Inv, f64, 1>(c),
        (Op::Inv, F16) => channels::<Inv, Hf, 1>(c),
        (Op::Rsqrt, F32) => unit::<Rsqrt, f32, 1>(c),
        (Op::Rsqrt, F64) => channels::<Rsqrt, f64, 1>(c),
        (Op::Rsqrt, F16) => unit::<Rsqrt, Hf, 1>(c),
        (Op::Exp, F32) => unit::<Exp, f32, 1>(c),
        (Op::Exp, F16) => unit::<Exp, Hf, 1>(c),
        (Op::Log, F32) => unit::<Log, f32, 1>(c),
        (Op::Log, F16) => unit::<Log, Hf, 1>(c),
        (Op::Pow, F32) => unit::<Pow, f32, 2>(c),
        (Op::Pow, F16) => unit::<Pow, Hf, 2>(c),
        (Op::Sin, F32) => unit::<Sin, f32, 1>(c),
        (Op::Sin, F16) => unit::<Sin, Hf, 1>(c),
        (Op::Cos, F32) => unit::<Cos, f32, 1>(c),
        (Op::Cos, F16) => unit::<Cos, Hf, 1>(c),
        (Op::Tanh, F32) => unit::<Tanh, f32, 1>(c),
        (Op::Tanh, F16) => unit::<Tanh, Hf, 1>(c),
        (Op::Sigm, F32) => unit::<Sigm, f32, 1>(c),
        (Op::Sigm, F16) => unit::<Sigm, Hf, 1>(c),
        (Op::Lrp, F32) => channels::<Lrp, f32, 3>(c),
        (Op::Frc, F32) => channels::<Frc, f32, 1>(c),
        (Op::Rndd, F32) => channels::<Rndd, f32, 1>(c),
        (Op::Rndu, F32) => channels::<Rndu, f32, 1>(c),
        (Op::Rnde, F32) => channels::<Rnde, f32, 1>(c),
        (Op::Rndz, F32) => channels::<Rndz, f32, 1>(c),
        (Op::Frc, F64) => channels::<Frc, f64, 1>(c),
        (Op::Rndd, F64) => channels::<Rndd, f64, 1>(c),
        (Op::Rndu, F64) => channels::<Rndu, f64, 1>(c),
        (Op::Rnde, F64) => channels::<Rnde, f64, 1>(c),
        (Op::Rndz, F64) => channels::<Rndz, f64, 1>(c),
        (Op::Frc, F16) => channels::<Frc, Hf, 1>(c),
        (Op::Rndd, F16) => channels::<Rndd, Hf, 1>(c),
        (Op::Rndu, F16) => channels::<Rndu, Hf, 1>(c),
        (Op::Rnde, F16) => channels::<Rnde, Hf, 1>(c),
        (Op::Rndz, F16) => channels::<Rndz, Hf, 1>(c),
        (Op::Sel, F32) => by_shape!(l, n, plain, SelK[f32;]),
        (Op::Sel, F64) => by_shape!(l, n, plain, SelK[f64;]),
        (Op::Sel, F16) => by_shape!(l, n, plain, SelK[Hf;]),
        (Op::Sel, Bf16) => by_shape!(l, n, plain, SelK[Bf;]),
        _ => return others(c, i),
    })
}

fn comparison(l: Level, i: &Inst, src: &[SrcCell; 3]) -> Option<Handler> {
    let n = i.channels;
    let plain = dst_cell(i).1 && are_plain(&src[..2]);
    Some(match i.exec {
        ExecType::I32 => by_shape!(l, n, plain, CmpK[i32;]),
        ExecType::U32 => by_shape!(l, n, plain, CmpK[u32;]),
        ExecType::I64 => by_shape!(l, n, plain, CmpK[i64;]),
        ExecType::U64 => by_shape!(l, n, plain, CmpK[u64;]),
        ExecType::F32 => by_shape!(l, n, plain, CmpK[f32;]),
        ExecType::F64 | ExecType::Odd => by_shape!(l, n, plain, CmpK[f64;]),
        ExecType::F16 => by_shape!(l, n, plain, CmpK[Hf;]),
        ExecType::Bf16 => by_shape!(l, n, plain, CmpK[Bf;]),
        ExecType::Wide | ExecType::None => return None,
    })
}

fn choose(l: Level, i: &Inst, src: &[SrcCell; 3], p: &Program) -> Handler {
    let sat = matches!(i.dst, Dst::Reg { sat: true, .. } | Dst::Indirect { sat: true, .. });
    if is_by_value(i.op, i.exec, sat) {
        return handler::<ByValueK>();
    }
    match i.op {
        others!() => return handler::<OtherK>(),
        Op::MovPred => return handler::<MovPredK>(),
        Op::Setp => return handler::<SetpK>(),
        Op::PredLogic => return handler::<PredLogicK>(),
        Op::Dpas | Op::Bdpas => return handler::<DpasK<false>>(),
        Op::Dpasw => return handler::<DpasK<true>>(),
        Op::Join => return handler::<JoinK>(),
        Op::Goto => return handler::<GotoK>(),
        Op::Ret | Op::Fret => return handler::<RetK>(),
        Op::Fence => return handler::<FenceK>(),
        Op::Nop => return handler::<NopK>(),
        Op::Message => return messages::choose(l, i, p),
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
        | Op::End => return handler::<ControlK>(),
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
        | Op::Bfn
        | Op::Bfe
        | Op::Bfrev
        | Op::Cbit
        | Op::Fbh
        | Op::Fbl
        | Op::Lzd
        | Op::Sel => {}
    }
    alu(Variant { level: l, flushing: false }, i, src).unwrap_or_else(|| handler::<OtherK>())
}

/// A write of `%cr0`: the instruction, then the mode.
struct ModeK;

impl crate::level::Kernel for ModeK {
    fn run(m: &mut envisa_machine::thread::Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let inner = c.code.inner.get(pc as usize).copied().flatten();
        let next = match inner {
            Some(h) => crate::level::call(h, m, c, pc),
            None => pc + 1,
        };
        m.refresh_mode();
        next
    }
}

/// An instruction that reads and writes overlapping registers at different places computes from copies:
/// every handler reads its whole sources first, so nothing needs doing here. See `alu::AluK`.
pub(super) fn decode(p: &Program, level: Level, observed: bool) -> Code {
    let mut code = Code {
        program: p.clone(),
        file: p.registers().bytes,
        cells: Vec::with_capacity(p.code().len()),
        inner: vec![None; p.code().len()],
        flushing: vec![None; p.code().len()],
        parts: Vec::new(),
        plans: messages::plans(p),
    };
    let cr0 = p.registers().predefined[envisa_isa::predefined::var::CR0 as usize];
    for (pc, i) in p.code().iter().enumerate() {
        let src = [0, 1, 2].map(|k| src_cell(&i.src[k], i.exec));
        let mut c = cell(i, choose(level, i, &src, p), src, dst_cell(i));
        let floats = matches!(i.exec, ExecType::F32 | ExecType::F64 | ExecType::F16 | ExecType::Bf16);
        if floats && Vectors::of(level).is_some() && c.dst_plain && are_plain(&src[..sources(i)]) {
            code.flushing[pc] = alu(Variant { level, flushing: true }, i, &src);
        }
        if let Some(mut cells) = in_parts(level, i, &src, p.registers().bytes) {
            if cells.len() == 1 {
                c = cells.swap_remove(0);
            } else {
                let general = general(level, i, p);
                c = described(i, handler::<PartsK>(), parts::index(code.parts.len()));
                code.parts.push(Parts { cells, float: parts::is_float(i), general });
            }
        }
        if let Dst::Reg { offset, .. } = i.dst
            && (cr0..cr0 + 64).contains(&offset)
        {
            code.inner[pc] = Some(c.run);
            c.run = handler::<ModeK>();
        }
        c.fused = !observed && i.op == Op::Cmp && i.facts.fuses_with_next;
        code.cells.push(c);
    }
    code
}

/// The handler of an instruction that is told nothing of its operands: it goes by their description.
fn general(l: Level, i: &Inst, p: &Program) -> Handler {
    choose(l, i, &[SrcCell::default(); 3], p)
}

/// A cell whose operands a general handler reads and writes by their description.
pub(super) fn described(i: &Inst, run: Handler, src: [SrcCell; 3]) -> Cell {
    // Predicates are always written in place.
    cell(i, run, src, if matches!(i.dst, Dst::Pred { .. }) { dst_cell(i) } else { (0, false) })
}

/// An instruction's cell with general code.
pub(super) fn general_cell(l: Level, i: &Inst, p: &Program) -> Cell {
    described(i, general(l, i, p), [SrcCell::default(); 3])
}

/// Number of sources.
fn sources(i: &Inst) -> usize {
    i.src[..3].iter().take_while(|s| **s != Src::None).count()
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
pub(super) fn cell(i: &Inst, run: Handler, src: [SrcCell; 3], (dst, dst_plain): (u32, bool)) -> Cell {
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
