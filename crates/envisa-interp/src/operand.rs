//! Reading and writing operands that are not plain vectors: other types, regions, indirect ones.

use envisa_isa::Type;
use envisa_lower::{Dst, Inst, Op, Src};
use envisa_sem::{Bf, Convert, Hf, Ieee, Lane, Modifier};

use crate::registers::Operands;
use envisa_machine::regs::Pod;
use envisa_machine::thread::{Machine, Mask};
use envisa_machine::trap::Cause;

/// A type that channels compute in.
pub(crate) trait Exec: Pod + Lane {
    /// The source of a sum as it takes it: a NaN without its negation.
    fn summed(self, m: Modifier) -> Self;
    /// Reads elements of any type, converting them: for arithmetic, which flushes what `%cr0` says, or for what
    /// only `copies`.
    fn read(m: &Machine<'_>, ty: Type, copies: bool, at: &[u32], out: &mut [Self]);
    /// Reads elements of any type that lie `step` elements apart, converting them.
    fn read_apart(m: &Machine<'_>, ty: Type, copies: bool, offset: u32, step: u32, out: &mut [Self]);
    /// Writes elements of any type that lie `step` elements apart, converting them: those of `mask`.
    fn write_apart(m: &mut Machine<'_>, ty: Type, offset: u32, step: u32, mask: Mask, values: &[Self]);
    /// Writes elements of any type, converting them: those of `mask`, each at its offset.
    fn write(m: &mut Machine<'_>, ty: Type, sat: bool, at: &[u32], mask: Mask, values: &[Self]);
}

#[inline(always)]
fn read_as<S: Pod + Convert<T>, T: Exec>(m: &Machine<'_>, copies: bool, at: &[u32], out: &mut [T]) {
    if m.t.ieee {
        for (o, a) in out.iter_mut().zip(at) {
            *o = m.t.regs.get::<S>(*a).convert(Ieee);
        }
    } else {
        for (o, a) in out.iter_mut().zip(at) {
            let x = m.t.regs.get::<S>(*a);
            *o = if copies { x.convert(m.t.mode) } else { x.operand(m.t.mode) };
        }
    }
}

/// Elements `step` apart, for the steps that occur: the loops of known steps become vector code.
#[inline(always)]
fn read_steps<S: Pod + Convert<T>, T: Exec>(
    m: &Machine<'_>,
    copies: bool,
    offset: u32,
    step: u32,
    out: &mut [T],
) {
    #[inline(always)]
    fn go<S: Pod + Convert<T>, T: Exec>(m: &Machine<'_>, offset: u32, step: u32, out: &mut [T]) {
        for (i, o) in out.iter_mut().enumerate() {
            *o = m.t.regs.get::<S>(offset + i as u32 * step * size_of::<S>() as u32).convert(Ieee);
        }
    }
    if !m.t.ieee && const { S::TYPE.is_float() || T::TYPE.is_float() } {
        let step = step * size_of::<S>() as u32;
        for (i, o) in out.iter_mut().enumerate() {
            let x = m.t.regs.get::<S>(offset + i as u32 * step);
            *o = if copies { x.convert(m.t.mode) } else { x.operand(m.t.mode) };
        }
        return;
    }
    match step {
        1 => go::<S, T>(m, offset, 1, out),
        2 => go::<S, T>(m, offset, 2, out),
        4 => go::<S, T>(m, offset, 4, out),
        _ => go::<S, T>(m, offset, step, out),
    }
}

#[inline(always)]
fn write_steps<D: Pod + Lane, T: Exec + Convert<D>>(
    m: &mut Machine<'_>,
    offset: u32,
    step: u32,
    mask: Mask,
    v: &[T],
) {
    let mut out = [D::default(); 32];
    let n = v.len().min(32);
    if !m.t.ieee && const { D::TYPE.is_float() || T::TYPE.is_float() } {
        for (o, x) in out.iter_mut().zip(v) {
            *o = x.convert(m.t.mode);
        }
    } else {
        for (o, x) in out.iter_mut().zip(v) {
            *o = x.convert(Ieee);
        }
    }
    put_steps(m, offset, step, mask, &out[..n]);
}

/// Writes elements `step` apart: those of `mask`.
#[inline(never)]
fn put_steps<D: Pod>(m: &mut Machine<'_>, offset: u32, step: u32, mask: Mask, out: &[D]) {
    let size = size_of::<D>() as u32;
    match (step, out.len()) {
        (1, 32) => m.t.regs.store_masked(offset, mask, array::<D, 32>(out)),
        (1, 16) => m.t.regs.store_masked(offset, mask, array::<D, 16>(out)),
        (_, n) if mask == envisa_machine::regs::all_channels(n) => {
            for (i, o) in out.iter().enumerate() {
                m.t.regs.set(offset + i as u32 * step * size, *o);
            }
        }
        _ => {
            for (i, o) in out.iter().enumerate() {
                if mask >> i & 1 != 0 {
                    m.t.regs.set(offset + i as u32 * step * size, *o);
                }
            }
        }
    }
}

/// The first `N` elements.
#[inline(always)]
fn array<D: Pod, const N: usize>(from: &[D]) -> [D; N] {
    let mut to = [D::default(); N];
    to.copy_from_slice(&from[..N]);
    to
}

#[inline(always)]
fn write_as<D: Pod, T: Exec + Convert<D>>(m: &mut Machine<'_>, sat: bool, at: &[u32], mask: Mask, v: &[T]) {
    for (i, (a, x)) in at.iter().zip(v).enumerate() {
        if mask >> i & 1 == 0 {
            continue;
        }
        let y: D = match (sat, m.t.ieee) {
            (false, true) => x.convert(Ieee),
            (false, false) => x.convert(m.t.mode),
            (true, _) => x.convert_sat(m.t.mode),
        };
        m.t.regs.set(*a, y);
    }
}

/// Calls a function with the Rust type of elements of a type.
macro_rules! of_type {
    ($ty:expr, $f:ident($($arg:expr),*)) => {
        match $ty {
            Type::Ub | Type::Bool => $f::<u8, Self>($($arg),*),
            Type::B => $f::<i8, Self>($($arg),*),
            Type::Uw => $f::<u16, Self>($($arg),*),
            Type::W => $f::<i16, Self>($($arg),*),
            Type::Ud | Type::V | Type::Uv | Type::Vf => $f::<u32, Self>($($arg),*),
            Type::D => $f::<i32, Self>($($arg),*),
            Type::Uq => $f::<u64, Self>($($arg),*),
            Type::Q => $f::<i64, Self>($($arg),*),
            Type::F => $f::<f32, Self>($($arg),*),
            Type::Df => $f::<f64, Self>($($arg),*),
            Type::Hf => $f::<Hf, Self>($($arg),*),
            Type::Bf => $f::<Bf, Self>($($arg),*),
        }
    };
}

macro_rules! exec {
    ($($sums:ident: $($t:ty)*;)*) => {$($(
        impl Exec for $t {
            #[inline(always)]
            fn summed(self, m: Modifier) -> Self {
                exec!(@$sums self m)
            }
            fn read(m: &Machine<'_>, ty: Type, copies: bool, at: &[u32], out: &mut [Self]) {
                of_type!(ty, read_as(m, copies, at, out))
            }
            fn read_apart(m: &Machine<'_>, ty: Type, copies: bool, offset: u32, step: u32, out: &mut [Self]) {
                of_type!(ty, read_steps(m, copies, offset, step, out))
            }
            fn write_apart(m: &mut Machine<'_>, ty: Type, offset: u32, step: u32, mask: Mask, v: &[Self]) {
                of_type!(ty, write_steps(m, offset, step, mask, v))
            }
            fn write(m: &mut Machine<'_>, ty: Type, sat: bool, at: &[u32], mask: Mask, v: &[Self]) {
                of_type!(ty, write_as(m, sat, at, mask, v))
            }
        }
    )*)*};
    (@integers $x:ident $m:ident) => {{
        let _ = $m;
        $x
    }};
    (@floats $x:ident $m:ident) => {
        envisa_sem::Float::summed($x, $m)
    };
}
exec! {
    integers: i32 u32 i64 u64;
    floats: f32 f64 Hf Bf;
}

/// Register offsets of an indirect operand's elements, for the channels of `mask` (others: the first
/// valid address register's place is not looked at; they get offset 0, where zeros are). `stray`: so do those that
/// are not variable's. `element`: how many elements a channel's is behind where its address points.
fn indirect(
    m: &Machine<'_>,
    stray: bool,
    (address, bytes, per_log2): (u32, i16, u8),
    element: impl Fn(u32) -> u32,
    size: u32,
    mask: Mask,
    at: &mut [u32],
) -> Result<(), (u32, i64)> {
    let per = 1u32 << per_log2.min(5);
    for (i, a) in at.iter_mut().enumerate() {
        let i = i as u32;
        *a = 0;
        if mask >> i & 1 == 0 {
            continue;
        }
        let base: u16 = m.t.regs.get(address + 2 * (i / per));
        let base = base.wrapping_add((element(i) * size) as u16);
        *a = match m.indirect(base, bytes, size) {
            Ok(at) => at,
            Err(_) if stray => 0,
            Err(e) => return Err((i, e)),
        };
    }
    Ok(())
}

/// Reads a source in any form; `false` after a fault.
#[inline(never)]
pub(crate) fn read_general<T: Exec>(
    m: &mut Machine<'_>,
    pc: u32,
    src: &Src,
    mask: Mask,
    out: &mut [T],
) -> bool {
    let mut at = [0u32; 32];
    let n = out.len().min(32);
    let copies = matches!(inst(m, pc).op, Op::Mov | Op::Sel);
    let (ty, modifier_) = match *src {
        Src::Reg { offset, ty, strides, modifier, .. } if strides.step(n as u32).is_some() => {
            T::read_apart(m, ty, copies, offset, strides.step(n as u32).unwrap_or(0), &mut out[..n]);
            apply(ty, modifier, &mut out[..n]);
            return true;
        }
        Src::Reg { offset, ty, strides, modifier, .. } => {
            let size = ty.size();
            for (i, a) in at[..n].iter_mut().enumerate() {
                *a = offset + strides.element(i as u32) * size;
            }
            (ty, modifier)
        }
        Src::Indirect { address, bytes, per_address_log2, ty, strides, modifier } => {
            let (from, stray) = ((address, bytes, per_address_log2), m.env.stray_reads);
            let per = 1 << per_address_log2.min(5);
            let element = |k: u32| strides.element(k % per);
            let found = indirect(m, stray, from, element, ty.size(), mask, &mut at[..n]);
            if let Err((channel, address)) = found {
                let channel = channel + u32::from(inst(m, pc).first);
                m.fault(pc, Some(channel), Cause::Indirect { address });
                return false;
            }
            (ty, modifier)
        }
        Src::Pred { offset, invert } => {
            let bits: u32 = m.t.regs.get(offset);
            let bits = if invert { !bits } else { bits };
            for (i, o) in out.iter_mut().enumerate() {
                *o = T::from_bits((bits >> i & 1) as u64);
            }
            return true;
        }
        Src::None => {
            out.fill(T::default());
            return true;
        }
    };
    T::read(m, ty, copies, &at[..n], &mut out[..n]);
    apply(ty, modifier_, &mut out[..n]);
    true
}

/// Applies the modifier of a source of type `ty`.
#[inline(always)]
fn apply<T: Exec>(ty: Type, md: envisa_isa::Modifier, out: &mut [T]) {
    if md == Modifier::None {
        return;
    }
    if ty.is_signed() && matches!(md, Modifier::Abs | Modifier::NegAbs) {
        // By the source's sign, whatever type the channels compute in.
        for o in out {
            let shift = 64 - T::BITS;
            let x = ((o.to_bits() << shift) as i64) >> shift;
            let x = x.wrapping_abs();
            *o = T::from_bits(if md == Modifier::Abs { x } else { x.wrapping_neg() } as u64);
        }
    } else {
        for o in out {
            *o = o.modify(md);
        }
    }
}

/// Writes a destination in any form; `false` after a fault.
#[inline(never)]
pub(crate) fn write_general<T: Exec>(
    m: &mut Machine<'_>,
    pc: u32,
    dst: &Dst,
    mask: Mask,
    values: &[T],
) -> bool {
    let mut at = [0u32; 32];
    let n = values.len().min(32);
    match *dst {
        Dst::None | Dst::Pred { .. } => true,
        Dst::Reg { offset, ty, stride, sat: false } => {
            T::write_apart(m, ty, offset, stride as u32, mask, &values[..n]);
            true
        }
        Dst::Reg { offset, ty, stride, sat } => {
            let step = stride as u32 * ty.size();
            for (i, a) in at[..n].iter_mut().enumerate() {
                *a = offset + i as u32 * step;
            }
            T::write(m, ty, sat, &at[..n], mask, &values[..n]);
            true
        }
        Dst::Indirect { address, bytes, per_address_log2, ty, stride, sat } => {
            let to = (address, bytes, per_address_log2);
            let element = |k: u32| k * u32::from(stride);
            let found = indirect(m, false, to, element, ty.size(), mask, &mut at[..n]);
            if let Err((channel, address)) = found {
                let channel = channel + u32::from(inst(m, pc).first);
                m.fault(pc, Some(channel), Cause::Indirect { address });
                return false;
            }
            T::write(m, ty, sat, &at[..n], mask, &values[..n]);
            true
        }
    }
}

/// Reads a scalar as 64 bits, sign-extended where its type is signed.
pub(crate) fn read_scalar(m: &mut Machine<'_>, pc: u32, src: &Src) -> Option<u64> {
    let signed = matches!(src, Src::Reg { ty, .. } | Src::Indirect { ty, .. } if ty.is_signed());
    if signed {
        let mut x = [0i64];
        read_general(m, pc, src, 1, &mut x).then_some(x[0] as u64)
    } else {
        let mut x = [0u64];
        read_general(m, pc, src, 1, &mut x).then_some(x[0])
    }
}

/// The instruction a cell was made from.
#[inline(always)]
pub(crate) fn inst<'a>(m: &Machine<'a>, pc: u32) -> &'a Inst {
    &m.env.program.code()[pc as usize]
}
