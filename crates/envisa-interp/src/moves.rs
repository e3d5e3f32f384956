//! Moves between elements of any two types and steps, whole vectors at a time; what other instructions read
//! and write odd operands with.

use std::marker::PhantomData;

use envisa_isa::Type;
use envisa_lower::ExecType;
use envisa_sem::{Bf, Convert, Hf, Ieee, Lane};

use crate::alu::{modal, store};
use crate::level::{Handler, Kernel, Vectors};
use crate::operand::inst;
use crate::ops::Copy;
use crate::registers::Operands;
use crate::{At, exec_mask};
use envisa_machine::cpu::Level;
use envisa_machine::regs::{Pod, blend};
use envisa_machine::thread::{Machine, Mask};

/// One element for all channels.
const ONE: u8 = 0;
/// Elements any number of elements apart: the cell says how many.
const ANY: u8 = u8::MAX;

/// `mov` of elements `S`, `FROM` elements apart, to elements `D`, `TO` elements apart; `SAT`: saturating.
///
/// Steps of 2 and 4 are read and written as elements that are that much larger.
pub(crate) struct MoveK<S, D, const FROM: u8, const TO: u8, const SAT: bool, const N: usize>(
    PhantomData<(S, D)>,
);

impl<S: Pod + Convert<D>, D: Pod + Lane, const FROM: u8, const TO: u8, const SAT: bool, const N: usize> Kernel
    for MoveK<S, D, FROM, TO, SAT, N>
{
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        if const { S::TYPE.is_float() || D::TYPE.is_float() } && !m.t.ieee {
            return in_mode(m, c, pc, mask);
        }
        let convert = |x: S| if SAT { x.convert_sat(Ieee) } else { x.convert(Ieee) };
        let r: [D; N] = if FROM == ONE {
            [convert(m.t.regs.get::<S>(c.src[0].offset)); N]
        } else {
            let s = read::<S, FROM, N>(m, c);
            let mut r = [D::default(); N];
            for i in 0..N {
                r[i] = convert(s[i]);
            }
            r
        };
        write::<D, TO, N>(m, c, mask, r);
        pc + 1
    }
}

/// The whole instruction in any mode of `%cr0`.
#[cold]
#[inline(never)]
fn in_mode(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask) -> u32 {
    match inst(m, pc).exec {
        ExecType::I32 => modal::<Copy, i32, 1>(m, c, pc, mask),
        ExecType::U32 => modal::<Copy, u32, 1>(m, c, pc, mask),
        ExecType::I64 => modal::<Copy, i64, 1>(m, c, pc, mask),
        ExecType::U64 => modal::<Copy, u64, 1>(m, c, pc, mask),
        ExecType::F64 | ExecType::Odd => modal::<Copy, f64, 1>(m, c, pc, mask),
        ExecType::F16 => modal::<Copy, Hf, 1>(m, c, pc, mask),
        ExecType::Bf16 => modal::<Copy, Bf, 1>(m, c, pc, mask),
        ExecType::F32 | ExecType::Wide | ExecType::None => modal::<Copy, f32, 1>(m, c, pc, mask),
    }
}

#[inline(always)]
fn read<S: Pod + Lane, const FROM: u8, const N: usize>(m: &Machine<'_>, c: At<'_>) -> [S; N] {
    let at = c.src[0].offset;
    let mut s = [S::default(); N];
    macro_rules! within {
        ($wide:ty) => {{
            let w = m.t.regs.at::<$wide, N>(at);
            for i in 0..N {
                s[i] = S::from_bits(w[i].get() as u64);
            }
        }};
    }
    match (FROM, size_of::<S>() * FROM as usize) {
        (1, _) => return m.t.regs.load(at),
        (2 | 4, 2) => within!(u16),
        (2 | 4, 4) => within!(u32),
        (2 | 4, 8) => within!(u64),
        _ => {
            let step = c.src[1].offset;
            for (i, s) in s.iter_mut().enumerate() {
                *s = m.t.regs.get(at + i as u32 * step);
            }
        }
    }
    s
}

#[inline(always)]
fn write<D: Pod + Lane, const TO: u8, const N: usize>(m: &mut Machine<'_>, c: At<'_>, mask: Mask, r: [D; N]) {
    macro_rules! within {
        ($wide:ty) => {{
            let old = m.t.regs.load::<$wide, N>(c.dst);
            let mut out = [0; N];
            for i in 0..N {
                let element = (u64::MAX >> (64 - D::BITS)) as $wide;
                out[i] = old[i] & !element | r[i].to_bits() as $wide & element;
            }
            m.t.regs.store_merged(c.dst, blend(mask, out, old));
        }};
    }
    match (TO, size_of::<D>() * TO as usize) {
        (1, _) => store(m, c, mask, r),
        (2 | 4, 2) => within!(u16),
        (2 | 4, 4) => within!(u32),
        (2 | 4, 8) => within!(u64),
        _ => {
            let step = c.src[2].offset;
            for (i, x) in r.iter().enumerate() {
                if mask >> i & 1 != 0 {
                    m.t.regs.set(c.dst + i as u32 * step, *x);
                }
            }
        }
    }
}

/// Where elements lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The first.
    pub offset: u32,
    /// Their type.
    pub ty: Type,
    /// Elements from one to the next; 0: all channels' is the first.
    pub step: u32,
}

impl Place {
    /// The same with the type that matters to a move that does not look at signs, where it does not.
    fn plain(self) -> Place {
        let ty = match self.ty {
            Type::Bool => Type::Ub,
            Type::V | Type::Uv | Type::Vf => Type::Ud,
            t => t,
        };
        Place { ty, ..self }
    }
}

/// A type's unsigned counterpart of the same size.
fn bits(ty: Type) -> Type {
    match ty.size() {
        1 => Type::Ub,
        2 => Type::Uw,
        4 => Type::Ud,
        _ => Type::Uq,
    }
}

/// Vectors of this many channels.
fn lanes(channels: u8) -> u32 {
    match channels {
        1 => 1,
        2..=16 => 16,
        _ => 32,
    }
}

/// A move that one handler does, and where it reads and writes.
#[derive(Clone, Copy)]
pub(crate) struct Move {
    /// The handler.
    pub run: Handler,
    /// What is read.
    pub from: Place,
    /// What is written.
    pub to: Place,
}

/// The handler of a move, if there is one for these types and steps. `end` is the size of the register file:
/// vectors are read and written whole.
pub(crate) fn pick(l: Level, n: u8, from: Place, to: Place, sat: bool, end: u32) -> Option<Move> {
    let l = Vectors::of(l)?;
    let (from, to) = (from.plain(), to.plain());
    let fits = |p: Place| {
        let bytes = lanes(n) as u64 * p.step.max(1) as u64 * p.ty.size() as u64;
        p.offset as u64 + bytes <= end as u64
    };
    if n > 1 && !(fits(from) && fits(to)) {
        return None;
    }
    let (mut s, mut d) = (from.ty, to.ty);
    // Conversion from floats to integers clamps anyway.
    let sat = sat && !(d.is_int() && (s == d || s.is_float()));
    if s == d && !sat {
        // Bits are copied, whatever they mean.
        (s, d) = (bits(s), bits(d));
    } else if s.is_int() && d.is_int() && !sat {
        d = bits(d);
        if s.size() >= d.size() {
            s = bits(s);
        }
    }
    let (s, d) = ((s, from.step), (d, to.step));
    let run = if sat { saturating(l, n, s, d) } else { wrapping(l, n, s, d) };
    Some(Move { run: run?, from, to })
}

/// Handlers for the steps that occur, of the types that are often packed.
macro_rules! packed {
    ($l:expr, $n:expr, $from:expr, $to:expr, $s:ty, $d:ty) => {{
        macro_rules! sized {
            ($a:expr, $b:expr) => {
                match $n {
                    2..=16 => $l.handler::<MoveK<$s, $d, { $a }, { $b }, false, 16>>(),
                    _ => $l.handler::<MoveK<$s, $d, { $a }, { $b }, false, 32>>(),
                }
            };
        }
        match ($from, $to) {
            _ if $n == 1 => $l.handler::<MoveK<$s, $d, ONE, 1, false, 1>>(),
            (1, 1) => sized!(1, 1),
            (0, 1) => sized!(ONE, 1),
            (2, 1) => sized!(2, 1),
            (4, 1) => sized!(4, 1),
            (1, 2) => sized!(1, 2),
            (1, 4) => sized!(1, 4),
            (_, 1) => sized!(ANY, 1),
            _ => sized!(ANY, ANY),
        }
    }};
}

/// Handlers for vectors and scalars.
macro_rules! vectors {
    ($l:expr, $n:expr, $from:expr, $to:expr, $sat:literal, $s:ty, $d:ty) => {
        match ($from, $to) {
            _ if $n == 1 => $l.handler::<MoveK<$s, $d, ONE, 1, $sat, 1>>(),
            (1, 1) if $n <= 16 => $l.handler::<MoveK<$s, $d, 1, 1, $sat, 16>>(),
            (1, 1) => $l.handler::<MoveK<$s, $d, 1, 1, $sat, 32>>(),
            (0, 1) if $n <= 16 => $l.handler::<MoveK<$s, $d, ONE, 1, $sat, 16>>(),
            (0, 1) => $l.handler::<MoveK<$s, $d, ONE, 1, $sat, 32>>(),
            _ => return None,
        }
    };
}

/// Handlers of moves without saturation.
fn wrapping(l: Vectors, n: u8, (s, from): (Type, u32), (d, to): (Type, u32)) -> Option<Handler> {
    macro_rules! pairs {
        ($($sn:ident $st:ty => $($dn:ident $dt:ty),*;)* | $($un:ident $ut:ty => $($vn:ident $vt:ty),*;)*) => {
            match (s, d) {
                $($((Type::$sn, Type::$dn) => packed!(l, n, from, to, $st, $dt),)*)*
                $($((Type::$un, Type::$vn) => vectors!(l, n, from, to, false, $ut, $vt),)*)*
                _ => return None,
            }
        };
    }
    Some(pairs! {
        Ub u8 => Ub u8, Uw u16, Ud u32;
        B i8 => Uw u16, Ud u32;
        Uw u16 => Ub u8, Uw u16, Ud u32;
        W i16 => Ud u32;
        Ud u32 => Ub u8, Uw u16, Ud u32, Uq u64;
        D i32 => Uq u64;
        Uq u64 => Ud u32, Uq u64;
        |
        Ub u8 => Uq u64, F f32;
        B i8 => Uq u64, F f32;
        Uw u16 => Uq u64, F f32;
        W i16 => Uq u64, F f32;
        Ud u32 => F f32, Df f64;
        D i32 => F f32, Df f64, Hf Hf;
        Uq u64 => Ub u8, Uw u16, F f32, Df f64;
        Q i64 => F f32, Df f64;
        F f32 => Ub u8, B i8, Uw u16, W i16, Ud u32, D i32, Uq u64, Q i64, Hf Hf, Bf Bf, Df f64;
        Df f64 => Ud u32, D i32, Uq u64, Q i64, F f32, Hf Hf, Bf Bf;
        Hf Hf => F f32, Df f64;
        Bf Bf => F f32;
    })
}

/// Handlers of moves with saturation.
fn saturating(l: Vectors, n: u8, (s, from): (Type, u32), (d, to): (Type, u32)) -> Option<Handler> {
    macro_rules! pairs {
        ($($un:ident $ut:ty => $($vn:ident $vt:ty),*;)*) => {
            match (s, d) {
                $($((Type::$un, Type::$vn) => vectors!(l, n, from, to, true, $ut, $vt),)*)*
                _ => return None,
            }
        };
    }
    Some(pairs! {
        D i32 => Ub u8, B i8, Uw u16, W i16, Ud u32;
        Ud u32 => Ub u8, B i8, Uw u16, W i16, D i32;
        Q i64 => Ub u8, B i8, Uw u16, W i16, Ud u32, D i32;
        F f32 => F f32, Hf Hf;
        Hf Hf => Hf Hf;
        Df f64 => Df f64;
    })
}
