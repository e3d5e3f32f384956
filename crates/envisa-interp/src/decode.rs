//! From a program's instructions to cells: chooses handlers.

use envisa_isa::{Combine, Type};
use envisa_lower::{Dst, ExecType, Inst, Modifier, Op, Program, Shape, Src};
use envisa_sem::{Bf, Hf, MathUnit};

use crate::alu::{Alu, AluK, AnyK, FlushK, shape};
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

/// Handlers for rarer shapes: of plain operands (`plain`) whose shapes are found at run time, for one channel
/// or vectors of 16 and 32; of operands in any form, at the base level.
macro_rules! rare {
    ($level:expr, $n:expr, $plain:expr, $kernel:ident [ $($p:ty),* ; $($k:expr),* ]) => {
        match (Vectors::of($level), $n) {
            (Some(l), 1) if $plain => l.handler::<$kernel<$($p,)* $({ $k },)* false, 1>>(),
            (Some(l), 2..=16) if $plain => l.handler::<$kernel<$($p,)* $({ $k },)* false, 16>>(),
            (Some(l), _) if $plain => l.handler::<$kernel<$($p,)* $({ $k },)* false, 32>>(),
            (_, 1) => handler::<$kernel<$($p,)* $({ $k },)* true, 1>>(),
            _ => handler::<$kernel<$($p,)* $({ $k },)* true, 32>>(),
        }
    };
}

/// The handler of a kernel for this number of channels, whose last parameter is the size of its vector. One
/// channel is a shape of its own, made of uniform sources.
macro_rules! sized {
    ($l:expr, $n:expr, $kernel:ident [ $($p:ty),* ; $($k:expr),* ]) => {
        match $n {
            2..=16 => $l.handler::<$kernel<$($p,)* $({ $k },)* 16>>(),
            _ => $l.handler::<$kernel<$($p,)* $({ $k },)* 32>>(),
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

/// Code of plain operands for modes that flush denormals.
fn flushing<O: Alu<T>, T: Exec, const S: usize>(l: Level, n: u8) -> Handler {
    match Vectors::of(l) {
        Some(l) if n == 1 => l.handler::<FlushK<O, T, S, 1>>(),
        Some(l) => l.handler::<FlushK<O, T, S, 32>>(),
        None if n == 1 => handler::<AnyK<O, T, S, true, 1>>(),
        None => handler::<AnyK<O, T, S, true, 32>>(),
    }
}

/// Code for one source.
fn unary<O: Alu<T>, T: Exec>(w: Variant, n: u8, src: &[SrcCell; 3], plain: bool) -> Handler {
    if O::MODAL && w.flushing {
        return flushing::<O, T, 1>(w.level, n);
    }
    let Some(l) = Vectors::of(w.level) else { return any::<O, T, 1>(w, n, src, plain) };
    match shape(&src[..1]).filter(|_| plain) {
        Some(_) if n == 1 => l.handler::<AluK<O, T, 1, true, false, false, true, 1>>(),
        Some((0, false)) => sized!(l, n, AluK[O, T; 1, false, false, false, false]),
        Some((1, false)) => sized!(l, n, AluK[O, T; 1, true, false, false, false]),
        _ => any::<O, T, 1>(w, n, src, plain),
    }
}

/// Code for two sources, also for vectors with modifiers.
fn binary<O: Alu<T>, T: Exec>(w: Variant, n: u8, src: &[SrcCell; 3], plain: bool) -> Handler {
    let Some(l) = Vectors::of(w.level).filter(|_| n > 1 && !(O::MODAL && w.flushing)) else {
        return binary_plain::<O, T>(w, n, src, plain);
    };
    match shape(&src[..2]).filter(|_| plain) {
        Some((0, true)) => sized!(l, n, AluK[O, T; 2, false, false, false, true]),
        Some((1, true)) => sized!(l, n, AluK[O, T; 2, true, false, false, true]),
        Some((2, true)) => sized!(l, n, AluK[O, T; 2, false, true, false, true]),
        _ => binary_plain::<O, T>(w, n, src, plain),
    }
}

/// Code for two sources that seldom have modifiers.
fn binary_plain<O: Alu<T>, T: Exec>(w: Variant, n: u8, src: &[SrcCell; 3], plain: bool) -> Handler {
    if O::MODAL && w.flushing {
        return flushing::<O, T, 2>(w.level, n);
    }
    let Some(l) = Vectors::of(w.level) else { return any::<O, T, 2>(w, n, src, plain) };
    match shape(&src[..2]).filter(|_| plain) {
        Some(_) if n == 1 => l.handler::<AluK<O, T, 2, true, true, false, true, 1>>(),
        Some((0, false)) => sized!(l, n, AluK[O, T; 2, false, false, false, false]),
        Some((1, false)) => sized!(l, n, AluK[O, T; 2, true, false, false, false]),
        Some((2, false)) => sized!(l, n, AluK[O, T; 2, false, true, false, false]),
        _ => any::<O, T, 2>(w, n, src, plain),
    }
}

/// Code for three sources, also for vectors with modifiers.
fn ternary<O: Alu<T>, T: Exec>(w: Variant, n: u8, src: &[SrcCell; 3], plain: bool) -> Handler {
    let Some(l) = Vectors::of(w.level).filter(|_| n > 1 && !(O::MODAL && w.flushing)) else {
        return ternary_plain::<O, T>(w, n, src, plain);
    };
    match shape(src).filter(|_| plain) {
        Some((0, true)) => sized!(l, n, AluK[O, T; 3, false, false, false, true]),
        Some((1, true)) => sized!(l, n, AluK[O, T; 3, true, false, false, true]),
        Some((2, true)) => sized!(l, n, AluK[O, T; 3, false, true, false, true]),
        Some((4, true)) => sized!(l, n, AluK[O, T; 3, false, false, true, true]),
        _ => ternary_plain::<O, T>(w, n, src, plain),
    }
}

/// Code for three sources that seldom have modifiers.
fn ternary_plain<O: Alu<T>, T: Exec>(w: Variant, n: u8, src: &[SrcCell; 3], plain: bool) -> Handler {
    if O::MODAL && w.flushing {
        return flushing::<O, T, 3>(w.level, n);
    }
    let Some(l) = Vectors::of(w.level) else { return any::<O, T, 3>(w, n, src, plain) };
    match shape(src).filter(|_| plain) {
        Some(_) if n == 1 => l.handler::<AluK<O, T, 3, true, true, true, true, 1>>(),
        Some((0, false)) => sized!(l, n, AluK[O, T; 3, false, false, false, false]),
        Some((1, false)) => sized!(l, n, AluK[O, T; 3, true, false, false, false]),
        Some((2, false)) => sized!(l, n, AluK[O, T; 3, false, true, false, false]),
        Some((3, false)) => sized!(l, n, AluK[O, T; 3, true, true, false, false]),
        Some((4, false)) => sized!(l, n, AluK[O, T; 3, false, false, true, false]),
        Some((5, false)) => sized!(l, n, AluK[O, T; 3, true, false, true, false]),
        Some((6, false)) => sized!(l, n, AluK[O, T; 3, false, true, true, false]),
        _ => any::<O, T, 3>(w, n, src, plain),
    }
}

/// Code for sources in any shape.
fn any<O: Alu<T>, T: Exec, const S: usize>(w: Variant, n: u8, src: &[SrcCell; 3], plain: bool) -> Handler {
    if O::MODAL && w.flushing {
        return flushing::<O, T, S>(w.level, n);
    }
    let l = w.level;
    let plain = plain && shape(&src[..S]).is_some();
    rare!(l, n, plain, AnyK[O, T; S])
}

/// Code for a function of the math unit, in whatever mode.
fn unit<O: Unit<T>, T: Exec + MathUnit, const S: usize>(
    l: Level,
    n: u8,
    src: &[SrcCell; 3],
    plain: bool,
) -> Handler {
    match Vectors::of(l).filter(|_| plain && shape(&src[..S]).is_some()) {
        Some(l) if n <= 16 => l.handler::<UnitK<O, T, S, false, 16>>(),
        Some(l) => l.handler::<UnitK<O, T, S, false, 32>>(),
        None => handler::<UnitK<O, T, S, true, 32>>(),
    }
}

/// Code for a compare, also of vectors with modifiers.
fn compare<T: Compare, const R: u8>(level: Level, n: u8, src: &[SrcCell; 3], plain: bool) -> Handler {
    let Some(l) = Vectors::of(level).filter(|_| n > 1) else {
        return compare_plain::<T, R>(level, n, src, plain);
    };
    match shape(&src[..2]).filter(|_| plain) {
        Some((0, true)) => sized!(l, n, CmpK[T; R, false, false, true]),
        Some((2, true)) => sized!(l, n, CmpK[T; R, false, true, true]),
        _ => compare_plain::<T, R>(level, n, src, plain),
    }
}

/// Code for a compare of sources that seldom have modifiers.
fn compare_plain<T: Compare, const R: u8>(level: Level, n: u8, src: &[SrcCell; 3], plain: bool) -> Handler {
    let Some(l) = Vectors::of(level) else {
        return rare!(level, n, plain && shape(&src[..2]).is_some(), CmpAnyK[T;]);
    };
    match shape(&src[..2]).filter(|_| plain) {
        Some(_) if n == 1 => l.handler::<CmpK<T, R, true, true, true, 1>>(),
        Some((0, false)) => sized!(l, n, CmpK[T; R, false, false, false]),
        Some((1, false)) => sized!(l, n, CmpK[T; R, true, false, false]),
        Some((2, false)) => sized!(l, n, CmpK[T; R, false, true, false]),
        Some((3, false)) => sized!(l, n, CmpK[T; R, true, true, false]),
        s => rare!(level, n, s.is_some(), CmpAnyK[T;]),
    }
}

/// Code for a selection.
fn select<T: Exec>(level: Level, n: u8, src: &[SrcCell; 3], plain: bool) -> Handler {
    let Some(l) = Vectors::of(level) else {
        return rare!(level, n, plain && shape(&src[..2]).is_some(), SelAnyK[T;]);
    };
    match shape(&src[..2]).filter(|_| plain) {
        Some(_) if n == 1 => l.handler::<SelK<T, true, true, true, 1>>(),
        Some((0, false)) => sized!(l, n, SelK[T; false, false, false]),
        Some((1, false)) => sized!(l, n, SelK[T; true, false, false]),
        Some((2, false)) => sized!(l, n, SelK[T; false, true, false]),
        Some((3, false)) => sized!(l, n, SelK[T; true, true, false]),
        s => rare!(level, n, s.is_some(), SelAnyK[T;]),
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

/// Code for each shape of so many sources.
macro_rules! common {
    ($c:expr, $o:ty, $t:ty, 1) => {
        unary::<$o, $t>($c.w, $c.n, $c.src, $c.plain)
    };
    ($c:expr, $o:ty, $t:ty, 2) => {
        binary::<$o, $t>($c.w, $c.n, $c.src, $c.plain)
    };
    ($c:expr, $o:ty, $t:ty, 3) => {
        ternary::<$o, $t>($c.w, $c.n, $c.src, $c.plain)
    };
}

/// The same for sources that seldom have modifiers.
macro_rules! unmodified {
    ($c:expr, $o:ty, $t:ty, 2) => {
        binary_plain::<$o, $t>($c.w, $c.n, $c.src, $c.plain)
    };
    ($c:expr, $o:ty, $t:ty, 3) => {
        ternary_plain::<$o, $t>($c.w, $c.n, $c.src, $c.plain)
    };
}

/// Code of the math unit for so many sources.
macro_rules! unit {
    ($c:expr, $o:ty, $t:ty, $s:literal) => {
        unit::<$o, $t, $s>($c.w.level, $c.n, $c.src, $c.plain)
    };
}

/// The general code for so many sources.
macro_rules! seldom {
    ($c:expr, $o:ty, $t:ty, $s:literal) => {
        any::<$o, $t, $s>($c.w, $c.n, $c.src, $c.plain)
    };
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
        Op::Add => seldom!(c, AddOdd, f64, 2),
        Op::Mul => seldom!(c, MulOdd, f64, 2),
        Op::Mad => seldom!(c, MadOdd, f64, 3),
        Op::Div => seldom!(c, DivOdd, f64, 2),
        Op::Sqrt => seldom!(c, SqrtOdd, f64, 1),
        _ => return None,
    })
}

/// Those that do not look at the type.
fn others(c: Choice<'_>, i: &Inst) -> Option<Handler> {
    let (l, n, src, plain) = (c.w.level, c.n, c.src, c.plain);
    let shaped = shape(&src[..2]).is_some();
    Some(match i.op {
        Op::Addc => rare!(l, n, plain && shaped, CarryK[; false]),
        Op::Subb => rare!(l, n, plain && shaped, CarryK[; true]),
        Op::Cmp => return comparison(l, i, src),
        _ => return None,
    })
}

/// Of integers.
fn integers(c: Choice<'_>, i: &Inst) -> Option<Handler> {
    use ExecType::{I32, I64, U32, U64};
    let (l, n, src, plain) = (c.w.level, c.n, c.src, c.plain);
    let shaped = shape(&src[..2]).is_some();
    // What does not look at the sign is compiled once for each size. Each shape has code of its own where interpreters
    // spend their time: for 32 bits.
    Some(match (i.op, i.exec) {
        (Op::Mov, I32) => common!(c, Copy, i32, 1),
        (Op::Mov, U32) => common!(c, Copy, u32, 1),
        (Op::Mov, I64) => common!(c, Copy, i64, 1),
        (Op::Mov, U64) => common!(c, Copy, u64, 1),
        (Op::Add, I32 | U32) => common!(c, Add, u32, 2),
        (Op::Add, I64 | U64) => common!(c, Add, u64, 2),
        (Op::Add3, I32 | U32) => unmodified!(c, Add3, u32, 3),
        (Op::Add3, I64 | U64) => seldom!(c, Add3, u64, 3),
        (Op::Mul, I32 | U32) => unmodified!(c, Mul, u32, 2),
        (Op::Mul, I64 | U64) => seldom!(c, Mul, u64, 2),
        (Op::Mad, I32 | U32) => unmodified!(c, Mad, u32, 3),
        (Op::Mad, I64 | U64) => seldom!(c, Mad, u64, 3),
        (Op::Min, I32) => unmodified!(c, Min, i32, 2),
        (Op::Min, U32) => unmodified!(c, Min, u32, 2),
        (Op::Max, I32) => unmodified!(c, Max, i32, 2),
        (Op::Max, U32) => unmodified!(c, Max, u32, 2),
        (Op::Min, I64) => seldom!(c, Min, i64, 2),
        (Op::Min, U64) => seldom!(c, Min, u64, 2),
        (Op::Max, I64) => seldom!(c, Max, i64, 2),
        (Op::Max, U64) => seldom!(c, Max, u64, 2),
        (Op::Avg, I32) => seldom!(c, Avg, i32, 2),
        (Op::Avg, U32) => seldom!(c, Avg, u32, 2),
        (Op::Avg, I64) => seldom!(c, Avg, i64, 2),
        (Op::Avg, U64) => seldom!(c, Avg, u64, 2),
        (Op::Div, I32) => seldom!(c, Div, i32, 2),
        (Op::Div, U32) => seldom!(c, Div, u32, 2),
        (Op::Div, I64) => seldom!(c, Div, i64, 2),
        (Op::Div, U64) => seldom!(c, Div, u64, 2),
        (Op::Mod, I32) => seldom!(c, Mod, i32, 2),
        (Op::Mod, U32) => seldom!(c, Mod, u32, 2),
        (Op::Mod, I64) => seldom!(c, Mod, i64, 2),
        (Op::Mod, U64) => seldom!(c, Mod, u64, 2),
        (Op::And, I32 | U32) => unmodified!(c, And, u32, 2),
        (Op::Or, I32 | U32) => unmodified!(c, Or, u32, 2),
        (Op::Xor, I32 | U32) => unmodified!(c, Xor, u32, 2),
        (Op::Not, I32 | U32) => common!(c, Not, u32, 1),
        (Op::And, I64 | U64) => seldom!(c, And, u64, 2),
        (Op::Or, I64 | U64) => seldom!(c, Or, u64, 2),
        (Op::Xor, I64 | U64) => seldom!(c, Xor, u64, 2),
        (Op::Not, I64 | U64) => seldom!(c, Not, u64, 1),
        (Op::Shl, I32 | U32) => unmodified!(c, Shl, u32, 2),
        (Op::Shl, I64 | U64) => unmodified!(c, Shl, u64, 2),
        (Op::Shr, U32 | I32) => unmodified!(c, Shr, u32, 2),
        (Op::Shr, U64 | I64) => seldom!(c, Shr, u64, 2),
        (Op::Asr, I32 | U32) => unmodified!(c, Asr, i32, 2),
        (Op::Asr, I64 | U64) => seldom!(c, Asr, i64, 2),
        (Op::Rol, U32) if i.aux == 32 => unmodified!(c, RolD, u32, 2),
        (Op::Ror, U32) if i.aux == 32 => unmodified!(c, RorD, u32, 2),
        (Op::Rol, U32) => seldom!(c, Rol, u32, 2),
        (Op::Ror, U32) => seldom!(c, Ror, u32, 2),
        (Op::Rol, U64) => seldom!(c, Rol, u64, 2),
        (Op::Ror, U64) => seldom!(c, Ror, u64, 2),
        (Op::Bfn, I32 | U32) => match i.aux {
            0x96 => seldom!(c, BfnOf<0x96>, u32, 3),
            0xd8 => seldom!(c, BfnOf<0xd8>, u32, 3),
            0xca => seldom!(c, BfnOf<0xca>, u32, 3),
            0xe8 => seldom!(c, BfnOf<0xe8>, u32, 3),
            0xf8 => seldom!(c, BfnOf<0xf8>, u32, 3),
            0x78 => seldom!(c, BfnOf<0x78>, u32, 3),
            0xfe => seldom!(c, BfnOf<0xfe>, u32, 3),
            _ => seldom!(c, Bfn, u32, 3),
        },
        (Op::Bfn, I64 | U64) => seldom!(c, Bfn, u64, 3),
        (Op::Bfe, U32) => seldom!(c, Bfe, u32, 3),
        (Op::Bfe, I32) => seldom!(c, Bfe, i32, 3),
        (Op::Bfrev, U32) => seldom!(c, Bfrev, u32, 1),
        (Op::Cbit, U32) => seldom!(c, Cbit, u32, 1),
        (Op::Cbit, U64) => seldom!(c, Cbit, u64, 1),
        (Op::Fbh, U32) => seldom!(c, Fbh, u32, 1),
        (Op::Fbh, I32) => seldom!(c, Fbh, i32, 1),
        (Op::Fbl, U32) => seldom!(c, Fbl, u32, 1),
        (Op::Lzd, U32) => seldom!(c, Lzd, u32, 1),
        // The sign matters to saturation and conversion, not to a plain destination.
        (Op::Sel, I32) if !plain => rare!(l, n, false, SelAnyK[i32;]),
        (Op::Sel, I64) if !plain => rare!(l, n, false, SelAnyK[i64;]),
        (Op::Sel, I32 | U32) => select::<u32>(l, n, src, plain),
        (Op::Sel, I64 | U64) => select::<u64>(l, n, src, plain),
        (Op::Mulh, U32) => seldom!(c, Mulh, u32, 2),
        (Op::Mulh, I32) => seldom!(c, Mulh, i32, 2),
        // What general code does in 64 bits; see `parts`.
        (Op::Madw, I64) if plain && shaped && Vectors::of(l).is_some() => rare!(l, n, true, MadwK[;]),
        (Op::Dp4a, U32) if plain => seldom!(c, Dp4a, u32, 3),
        _ => return others(c, i),
    })
}

/// Of floats.
fn floats(c: Choice<'_>, i: &Inst) -> Option<Handler> {
    use ExecType::{Bf16, F16, F32, F64};
    let (l, n, src, plain) = (c.w.level, c.n, c.src, c.plain);
    let shaped = shape(&src[..2]).is_some();
    Some(match (i.op, i.exec) {
        (Op::Mov, F32) => common!(c, Copy, f32, 1),
        (Op::Mov, F64) => seldom!(c, Copy, f64, 1),
        (Op::Mov, F16) => seldom!(c, Copy, Hf, 1),
        (Op::Mov, Bf16) => seldom!(c, Copy, Bf, 1),
        (Op::Add, F32) => common!(c, Add, f32, 2),
        (Op::Mul, F32) => common!(c, Mul, f32, 2),
        (Op::Mad, F32) => common!(c, Mad, f32, 3),
        (Op::Min, F32) => common!(c, Min, f32, 2),
        (Op::Max, F32) => common!(c, Max, f32, 2),
        (Op::Add, F64) => unmodified!(c, Add, f64, 2),
        (Op::Mul, F64) => unmodified!(c, Mul, f64, 2),
        (Op::Mad, F64) => unmodified!(c, Mad, f64, 3),
        (Op::Min, F64) => seldom!(c, Min, f64, 2),
        (Op::Max, F64) => seldom!(c, Max, f64, 2),
        (Op::Add, F16) => seldom!(c, Add, Hf, 2),
        (Op::Mul, F16) => seldom!(c, Mul, Hf, 2),
        (Op::Mad, F16) => seldom!(c, Mad, Hf, 3),
        (Op::Min, F16) => seldom!(c, Min, Hf, 2),
        (Op::Max, F16) => seldom!(c, Max, Hf, 2),
        (Op::Add, Bf16) => seldom!(c, Add, Bf, 2),
        (Op::Mul, Bf16) => seldom!(c, Mul, Bf, 2),
        (Op::Mad, Bf16) => seldom!(c, Mad, Bf, 3),
        (Op::Min, Bf16) => seldom!(c, Min, Bf, 2),
        (Op::Max, Bf16) => seldom!(c, Max, Bf, 2),
        (Op::Div | Op::Divm, F32) => common!(c, Div, f32, 2),
        (Op::Div | Op::Divm, F64) => seldom!(c, Div, f64, 2),
        (Op::Div | Op::Divm, F16) => seldom!(c, Div, Hf, 2),
        (Op::Sqrt | Op::Sqrtm, F32) => common!(c, Sqrt, f32, 1),
        (Op::Sqrt | Op::Sqrtm, F64) => seldom!(c, Sqrt, f64, 1),
        (Op::Sqrt | Op::Sqrtm, F16) => seldom!(c, Sqrt, Hf, 1),
        (Op::Inv, F32) => common!(c, Inv, f32, 1),
        (Op::Inv, F64) => seldom!(c, Inv, f64, 1),
        (Op::Inv, F16) => seldom!(c, Inv, Hf, 1),
        (Op::Rsqrt, F32) => unit!(c, Rsqrt, f32, 1),
        (Op::Rsqrt, F64) => seldom!(c, Rsqrt, f64, 1),
        (Op::Rsqrt, F16) => unit!(c, Rsqrt, Hf, 1),
        (Op::Exp, F32) => unit!(c, Exp, f32, 1),
        (Op::Exp, F16) => unit!(c, Exp, Hf, 1),
        (Op::Log, F32) => unit!(c, Log, f32, 1),
        (Op::Log, F16) => unit!(c, Log, Hf, 1),
        (Op::Pow, F32) => unit!(c, Pow, f32, 2),
        (Op::Pow, F16) => unit!(c, Pow, Hf, 2),
        (Op::Sin, F32) => unit!(c, Sin, f32, 1),
        (Op::Sin, F16) => unit!(c, Sin, Hf, 1),
        (Op::Cos, F32) => unit!(c, Cos, f32, 1),
        (Op::Cos, F16) => unit!(c, Cos, Hf, 1),
        (Op::Tanh, F32) => unit!(c, Tanh, f32, 1),
        (Op::Tanh, F16) => unit!(c, Tanh, Hf, 1),
        (Op::Sigm, F32) => unit!(c, Sigm, f32, 1),
        (Op::Sigm, F16) => unit!(c, Sigm, Hf, 1),
        (Op::Lrp, F32) => seldom!(c, Lrp, f32, 3),
        (Op::Frc, F32) => seldom!(c, Frc, f32, 1),
        (Op::Rndd, F32) => common!(c, Rndd, f32, 1),
        (Op::Rndu, F32) => common!(c, Rndu, f32, 1),
        (Op::Rnde, F32) => common!(c, Rnde, f32, 1),
        (Op::Rndz, F32) => common!(c, Rndz, f32, 1),
        (Op::Frc, F64) => seldom!(c, Frc, f64, 1),
        (Op::Rndd, F64) => seldom!(c, Rndd, f64, 1),
        (Op::Rndu, F64) => seldom!(c, Rndu, f64, 1),
        (Op::Rnde, F64) => seldom!(c, Rnde, f64, 1),
        (Op::Rndz, F64) => seldom!(c, Rndz, f64, 1),
        (Op::Frc, F16) => seldom!(c, Frc, Hf, 1),
        (Op::Rndd, F16) => seldom!(c, Rndd, Hf, 1),
        (Op::Rndu, F16) => seldom!(c, Rndu, Hf, 1),
        (Op::Rnde, F16) => seldom!(c, Rnde, Hf, 1),
        (Op::Rndz, F16) => seldom!(c, Rndz, Hf, 1),
        (Op::Sel, F32) => select::<f32>(l, n, src, plain),
        (Op::Sel, F64) => rare!(l, n, plain && shaped, SelAnyK[f64;]),
        (Op::Sel, F16) => rare!(l, n, plain && shaped, SelAnyK[Hf;]),
        (Op::Sel, Bf16) => rare!(l, n, plain && shaped, SelAnyK[Bf;]),
        _ => return others(c, i),
    })
}

fn comparison(l: Level, i: &Inst, src: &[SrcCell; 3]) -> Option<Handler> {
    let (n, plain) = (i.channels, dst_cell(i).1);
    macro_rules! relation {
        ($compare:ident, $t:ty) => {
            match i.aux {
                0 => $compare::<$t, 0>(l, n, src, plain),
                1 => $compare::<$t, 1>(l, n, src, plain),
                2 => $compare::<$t, 2>(l, n, src, plain),
                3 => $compare::<$t, 3>(l, n, src, plain),
                4 => $compare::<$t, 4>(l, n, src, plain),
                _ => $compare::<$t, 5>(l, n, src, plain),
            }
        };
    }
    let shaped = plain && shape(&src[..2]).is_some();
    Some(match i.exec {
        ExecType::I32 => relation!(compare_plain, i32),
        ExecType::U32 => relation!(compare_plain, u32),
        ExecType::I64 => rare!(l, n, shaped, CmpAnyK[i64;]),
        ExecType::U64 => rare!(l, n, shaped, CmpAnyK[u64;]),
        ExecType::F32 => relation!(compare, f32),
        ExecType::F64 | ExecType::Odd => rare!(l, n, shaped, CmpAnyK[f64;]),
        ExecType::F16 => rare!(l, n, shaped, CmpAnyK[Hf;]),
        ExecType::Bf16 => rare!(l, n, shaped, CmpAnyK[Bf;]),
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
        if floats && Vectors::of(level).is_some() && c.dst_plain && shape(&src[..sources(i)]).is_some() {
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
