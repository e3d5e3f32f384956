//! The shape of most handlers: read sources, compute channel by channel, write a destination.

use std::marker::PhantomData;

use envisa_sem::{FpMode, Ieee, Mode, Modifier};

use super::level::Kernel;
use super::operand::{Exec, inst, read_general, write_general};
use super::{Cell, STOP, SrcKind, exec_mask};
use crate::regs::Un;
use crate::thread::{Machine, Mask};

/// What a channel computes.
pub(crate) trait Alu<T>: 'static {
    /// Depends on `%cr0`.
    const MODAL: bool = false;
    /// The result of up to three sources; `aux` is the instruction's.
    fn go<M: Mode>(a: T, b: T, c: T, aux: u32, m: M) -> T;
}

/// All ones in the low `N` bits.
pub(crate) const fn ones(n: usize) -> Mask {
    if n >= 32 { u32::MAX } else { (1 << n) - 1 }
}

/// Makes source `i` ready to be looked at by [`view`]; `false` after a fault. A plain vector is looked at in
/// place, anything else is put into `buffer`.
#[inline(always)]
pub(crate) fn ready<T: Exec, const N: usize>(
    m: &mut Machine<'_>,
    c: &Cell,
    pc: u32,
    i: usize,
    mask: Mask,
    buffer: &mut [Un<T>; N],
) -> bool {
    let s = &c.src[i];
    if s.kind == SrcKind::Scalar {
        let x = m.t.regs.get::<T>(s.offset);
        let x = if s.modifier == Modifier::None { x } else { x.modify(s.modifier) };
        *buffer = [Un::new(x); N];
        return true;
    }
    if s.kind == SrcKind::Modified {
        let from = m.t.regs.at::<T, N>(s.offset);
        if s.modifier == Modifier::Neg {
            for i in 0..N {
                buffer[i] = Un::new(from[i].get().modify(Modifier::Neg));
            }
        } else {
            for i in 0..N {
                buffer[i] = Un::new(from[i].get().modify(s.modifier));
            }
        }
        return true;
    }
    s.kind == SrcKind::Contiguous || fill(m, pc, i, c.channels, mask, buffer)
}

/// A source made ready.
#[inline(always)]
pub(crate) fn view<'a, T: Exec, const N: usize>(
    m: &'a Machine<'_>,
    c: &Cell,
    i: usize,
    buffer: &'a [Un<T>; N],
) -> &'a [Un<T>; N] {
    let s = &c.src[i];
    if s.kind == SrcKind::Contiguous { m.t.regs.at(s.offset) } else { buffer }
}

/// Reads a source that is no plain vector.
#[inline(never)]
fn fill<T: Exec, const N: usize>(
    m: &mut Machine<'_>,
    pc: u32,
    i: usize,
    channels: u8,
    mask: Mask,
    buffer: &mut [Un<T>; N],
) -> bool {
    let mut x = [T::default(); N];
    let n = (channels as usize).min(N);
    if !read_general(m, pc, &inst(m, pc).src[i], mask, &mut x[..n]) {
        return false;
    }
    *buffer = x.map(Un::new);
    true
}

/// Writes the destination; the next program counter.
#[inline(always)]
pub(crate) fn write<T: Exec, const N: usize>(
    m: &mut Machine<'_>,
    c: &Cell,
    pc: u32,
    mask: Mask,
    r: [T; N],
) -> u32 {
    if c.dst_plain {
        if mask == ones(N) {
            m.t.regs.store(c.dst, r);
        } else {
            m.t.regs.store_masked(c.dst, mask, r);
        }
        return pc + 1;
    }
    let n = (c.channels as usize).min(N);
    if write_general(m, pc, &inst(m, pc).dst, mask, &r[..n]) { pc + 1 } else { STOP }
}

/// `O` over channels of `T` with `S` sources, in vectors of `N`.
pub(crate) struct AluK<O, T, const S: usize, const N: usize>(PhantomData<(O, T)>);

impl<O: Alu<T>, T: Exec, const S: usize, const N: usize> Kernel for AluK<O, T, S, N> {
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: &Cell, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        if O::MODAL && !m.t.ieee {
            return modal::<O, T, S>(m, c, pc, mask);
        }
        let mut buffers = [[Un::new(T::default()); N]; 3];
        for i in 0..S {
            if !ready(m, c, pc, i, mask, &mut buffers[i]) {
                return STOP;
            }
        }
        let a = view(m, c, 0, &buffers[0]);
        let b = if S > 1 { view(m, c, 1, &buffers[1]) } else { a };
        let d = if S > 2 { view(m, c, 2, &buffers[2]) } else { a };
        let mut r = [T::default(); N];
        for i in 0..N {
            r[i] = O::go(a[i].get(), b[i].get(), d[i].get(), c.aux, Ieee);
        }
        write(m, c, pc, mask, r)
    }
}

/// The same in any mode of `%cr0`.
#[inline(never)]
fn modal<O: Alu<T>, T: Exec, const S: usize>(m: &mut Machine<'_>, c: &Cell, pc: u32, mask: Mask) -> u32 {
    let n = c.channels as usize;
    let mut s = [[T::default(); 32]; 3];
    for (i, s) in s.iter_mut().enumerate().take(S) {
        let src = inst(m, pc).src[i];
        if !read_general(m, pc, &src, mask, &mut s[..n]) {
            return STOP;
        }
    }
    let mode: FpMode = m.t.mode;
    let mut r = [T::default(); 32];
    for i in 0..n {
        if mask >> i & 1 != 0 {
            r[i] = O::go(s[0][i], s[1][i], s[2][i], c.aux, mode);
        }
    }
    if write_general(m, pc, &inst(m, pc).dst, mask, &r[..n]) { pc + 1 } else { STOP }
}
