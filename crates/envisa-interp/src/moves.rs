//! Moves between elements of any two types and steps, whole vectors at a time; what other instructions read
//! and write odd operands with.

use std::marker::PhantomData;

use envisa_isa::Type;
use envisa_lower::ExecType;
use envisa_sem::{Bf, Convert, Hf, Ieee, Lane};

use crate::alu::{execute_in_mode, store, vector};
use crate::cpu_level::{Handler, Kernel, Vectors};
use crate::lane_operations::Copy;
use crate::operand::inst;
use crate::registers::Operands;
use crate::{At, exec_mask};
use envisa_machine::cpu::Level;
use envisa_machine::register_file::Pod;
use envisa_machine::thread::{Machine, Mask};

/// `mov` of elements `S`, consecutive or one for all channels, to consecutive elements `D`; `SAT`: saturating.
pub(crate) struct MoveK<S, D, const SAT: bool>(PhantomData<(S, D)>);

impl<S: Pod + Convert<D>, D: Pod + Lane, const SAT: bool> Kernel for MoveK<S, D, SAT> {
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
        let from = c.src[0].offset;
        if c.channels == 1 {
            let x = convert(m.t.regs.get(from));
            m.t.regs.set(c.dst, x);
            return pc + 1;
        }
        let mut r = [D::default(); 32];
        if c.src[1].offset == 0 {
            r = [convert(m.t.regs.get(from)); 32];
        } else {
            let s = m.t.regs.at::<S, 32>(from);
            for i in 0..vector(c) {
                r[i] = convert(s[i].get());
            }
        }
        store(m, c, mask, r);
        pc + 1
    }
}

/// Elements any number of elements apart: the cell says how many.
const ANY: u8 = 0;

/// A copy of elements `FROM` elements apart to where they are `TO` elements apart.
///
/// Steps of 2 and 4 are read and written as elements that are that much larger.
pub(crate) struct CopyK<T, const FROM: u8, const TO: u8>(PhantomData<T>);

impl<T: Pod + Lane, const FROM: u8, const TO: u8> Kernel for CopyK<T, FROM, TO> {
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask != 0 {
            let r = read::<T, FROM>(m, c);
            write::<T, TO>(m, c, mask, r);
        }
        pc + 1
    }
}

/// The whole instruction in any mode of `%cr0`.
#[cold]
#[inline(never)]
fn in_mode(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask) -> u32 {
    match inst(m, pc).exec {
        ExecType::I32 => execute_in_mode::<Copy, i32, 1>(m, c, pc, mask),
        ExecType::U32 => execute_in_mode::<Copy, u32, 1>(m, c, pc, mask),
        ExecType::I64 => execute_in_mode::<Copy, i64, 1>(m, c, pc, mask),
        ExecType::U64 => execute_in_mode::<Copy, u64, 1>(m, c, pc, mask),
        ExecType::F64 | ExecType::Odd => execute_in_mode::<Copy, f64, 1>(m, c, pc, mask),
        ExecType::F16 => execute_in_mode::<Copy, Hf, 1>(m, c, pc, mask),
        ExecType::Bf16 => execute_in_mode::<Copy, Bf, 1>(m, c, pc, mask),
        ExecType::F32 | ExecType::Wide | ExecType::None => execute_in_mode::<Copy, f32, 1>(m, c, pc, mask),
    }
}

#[inline(always)]
fn read<T: Pod + Lane, const FROM: u8>(m: &Machine<'_>, c: At<'_>) -> [T; 32] {
    let (at, n) = (c.src[0].offset, vector(c));
    let mut s = [T::default(); 32];
    macro_rules! within {
        ($wide:ty) => {{
            let w = m.t.regs.at::<$wide, 32>(at);
            for i in 0..n {
                s[i] = T::from_bits(w[i].get() as u64);
            }
        }};
    }
    match (FROM, size_of::<T>() * FROM as usize) {
        (1, _) => {
            let w = m.t.regs.at::<T, 32>(at);
            for i in 0..n {
                s[i] = w[i].get();
            }
        }
        (2 | 4, 2) => within!(u16),
        (2 | 4, 4) => within!(u32),
        (2 | 4, 8) => within!(u64),
        _ => {
            let step = c.src[1].offset;
            for (i, s) in s.iter_mut().enumerate().take(c.channels as usize) {
                *s = m.t.regs.get(at + i as u32 * step);
            }
        }
    }
    s
}

#[inline(always)]
fn write<T: Pod + Lane, const TO: u8>(m: &mut Machine<'_>, c: At<'_>, mask: Mask, r: [T; 32]) {
    macro_rules! within {
        ($wide:ty) => {{
            let old = m.t.regs.at::<$wide, 32>(c.dst);
            let element = (u64::MAX >> (64 - T::BITS)) as $wide;
            let mut out = [0; 32];
            for i in 0..vector(c) {
                out[i] = old[i].get() & !element | r[i].to_bits() as $wide & element;
            }
            store::<$wide>(m, c, mask, out);
        }};
    }
    match (TO, size_of::<T>() * TO as usize) {
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
pub(crate) fn choose_handler(l: Level, n: u8, from: Place, to: Place, sat: bool, end: u32) -> Option<Move> {
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
    let run = match (from.step, to.step) {
        (0 | 1, 1) if sat => saturating_handler(l, s, d),
        (0 | 1, 1) => wrapping_handler(l, s, d),
        _ if n == 1 && sat => saturating_handler(l, s, d),
        _ if n == 1 => wrapping_handler(l, s, d),
        (from, to) if s == d && !sat => copy_handler(l, (s, from), (d, to)),
        _ => None,
    };
    Some(Move { run: run?, from, to })
}

/// The handler of copies of elements with a step.
fn copy_handler(l: Vectors, (ty, from): (Type, u32), (_, to): (Type, u32)) -> Option<Handler> {
    macro_rules! steps {
        ($t:ty) => {
            match (from, to) {
                (2, 1) => l.handler::<CopyK<$t, 2, 1>>(),
                (4, 1) => l.handler::<CopyK<$t, 4, 1>>(),
                (1, 2) => l.handler::<CopyK<$t, 1, 2>>(),
                (1, 4) => l.handler::<CopyK<$t, 1, 4>>(),
                (_, 1) => l.handler::<CopyK<$t, ANY, 1>>(),
                _ => l.handler::<CopyK<$t, ANY, ANY>>(),
            }
        };
    }
    Some(match ty {
        Type::Ub => steps!(u8),
        Type::Uw => steps!(u16),
        Type::Ud => steps!(u32),
        Type::Uq => steps!(u64),
        _ => return None,
    })
}

/// Handlers of moves without saturation.
fn wrapping_handler(l: Vectors, s: Type, d: Type) -> Option<Handler> {
    macro_rules! pairs {
        ($($un:ident $ut:ty => $($vn:ident $vt:ty),*;)*) => {
            match (s, d) {
                $($((Type::$un, Type::$vn) => l.handler::<MoveK<$ut, $vt, false>>(),)*)*
                _ => return None,
            }
        };
    }
    Some(pairs! {
        Ub u8 => Ub u8, Uw u16, Ud u32, Uq u64, F f32;
        B i8 => Uw u16, Ud u32, Uq u64, F f32;
        Uw u16 => Ub u8, Uw u16, Ud u32, Uq u64, F f32;
        W i16 => Ud u32, Uq u64, F f32;
        Ud u32 => Ub u8, Uw u16, Ud u32, Uq u64, F f32, Df f64;
        D i32 => Uq u64, F f32, Df f64, Hf Hf;
        Uq u64 => Ub u8, Uw u16, Ud u32, Uq u64, F f32, Df f64;
        Q i64 => F f32, Df f64;
        F f32 => Ub u8, B i8, Uw u16, W i16, Ud u32, D i32, Uq u64, Q i64, Hf Hf, Bf Bf, Df f64;
        Df f64 => Ud u32, D i32, Uq u64, Q i64, F f32, Hf Hf, Bf Bf;
        Hf Hf => F f32, Df f64;
        Bf Bf => F f32;
    })
}

/// Handlers of moves with saturation.
fn saturating_handler(l: Vectors, s: Type, d: Type) -> Option<Handler> {
    macro_rules! pairs {
        ($($un:ident $ut:ty => $($vn:ident $vt:ty),*;)*) => {
            match (s, d) {
                $($((Type::$un, Type::$vn) => l.handler::<MoveK<$ut, $vt, true>>(),)*)*
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
