//! Reading and writing operands that are not plain vectors: other types, regions, indirect ones.

use envisa_isa::Type;
use envisa_lower::{Dst, Inst, Op, Src};
use envisa_sem::{Bf, Convert, Hf, Ieee, Lane, Modifier};

use crate::registers::Operands;
use envisa_machine::register_file::Pod;
use envisa_machine::thread::{Machine, Mask};
use envisa_machine::trap::Cause;

/// A type that channels compute in.
pub(crate) trait Exec: Pod + Lane {
    /// The source of a sum as it takes it: a NaN without its negation.
    fn summed(self, m: Modifier) -> Self;
    /// Reads elements of any type, converting them: for arithmetic, which flushes what `%cr0` says, or for what
    /// only `copies`.
    fn read(m: &Machine<'_>, ty: Type, copies: bool, at: &[u32], out: &mut [Self]);
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
fn indirect_offsets(
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
            let found = indirect_offsets(m, stray, from, element, ty.size(), mask, &mut at[..n]);
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
    apply_source_modifier(ty, modifier_, &mut out[..n]);
    true
}

/// Applies the modifier of a source of type `ty`.
#[inline(always)]
fn apply_source_modifier<T: Exec>(ty: Type, md: envisa_isa::Modifier, out: &mut [T]) {
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
            let found = indirect_offsets(m, false, to, element, ty.size(), mask, &mut at[..n]);
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
