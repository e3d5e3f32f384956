//! The shape of most handlers: read sources, compute channel by channel, write a destination.

use std::marker::PhantomData;

use envisa_sem::{FpMode, Ieee, Mode, Modifier};

use super::level::Kernel;
use super::operand::{Exec, inst, read_general, write_general};
use super::{Cell, STOP, SrcKind, exec_mask};
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

/// Reads source `i` into an array; `None` after a fault.
#[inline(always)]
pub(crate) fn read<T: Exec, const N: usize>(
    m: &mut Machine<'_>,
    c: &Cell,
    pc: u32,
    i: usize,
    mask: Mask,
) -> Option<[T; N]> {
    let s = &c.src[i];
    let mut x = match s.kind {
        SrcKind::Contiguous => m.t.regs.load::<T, N>(s.offset),
        SrcKind::Scalar => [m.t.regs.get::<T>(s.offset); N],
        SrcKind::General => {
            let mut x = [T::default(); N];
            let n = (c.channels as usize).min(N);
            if !read_general(m, pc, &inst(m, pc).src[i], mask, &mut x[..n]) {
                return None;
            }
            return Some(x);
        }
    };
    match s.modifier {
        Modifier::None => {}
        Modifier::Neg => x = x.map(|v| v.modify(Modifier::Neg)),
        md => x = x.map(|v| v.modify(md)),
    }
    Some(x)
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
            blend(m, c.dst, mask, r);
        }
        return pc + 1;
    }
    let n = (c.channels as usize).min(N);
    if write_general(m, pc, &inst(m, pc).dst, mask, &r[..n]) { pc + 1 } else { STOP }
}

/// Stores the channels of a mask.
#[inline(always)]
pub(crate) fn blend<T: Exec, const N: usize>(m: &mut Machine<'_>, at: u32, mask: Mask, r: [T; N]) {
    let old = m.t.regs.load::<T, N>(at);
    let mut out = old;
    for i in 0..N {
        out[i] = if mask >> i & 1 != 0 { r[i] } else { old[i] };
    }
    m.t.regs.store(at, out);
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
        let Some(a) = read::<T, N>(m, c, pc, 0, mask) else { return STOP };
        let b = if S > 1 {
            let Some(b) = read::<T, N>(m, c, pc, 1, mask) else { return STOP };
            b
        } else {
            [T::default(); N]
        };
        let d = if S > 2 {
            let Some(d) = read::<T, N>(m, c, pc, 2, mask) else { return STOP };
            d
        } else {
            [T::default(); N]
        };
        let mut r = [T::default(); N];
        for i in 0..N {
            r[i] = O::go(a[i], b[i], d[i], c.aux, Ieee);
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
