//! The shape of most handlers: read sources, compute channel by channel, write a destination.

use std::marker::PhantomData;

use envisa_isa::Type;
use envisa_lower::Src;
use envisa_sem::{FpMode, Ieee, Mode, Modifier, Quick, Sum, exact_arithmetic};

use crate::level::{Kernel, call};
use crate::operand::{Exec, inst, read_general, write_general};
use crate::registers::Operands;
use crate::{At, SrcCell, SrcKind, exec_mask};
use envisa_machine::regs::{Pod, Un, all_channels};
use envisa_machine::thread::{Machine, Mask, STOP};

/// What a channel computes.
pub(crate) trait Alu<T>: 'static {
    /// Depends on `%cr0`.
    const MODAL: bool = false;
    /// Is it a sum, in which NaNs keep their sign (`envisa_sem::nan`)?
    const SUM: Option<Sum> = None;
    /// The result of up to three sources; `aux` is the instruction's.
    fn go<M: Mode>(a: T, b: T, c: T, aux: u32, m: M) -> T;
}

/// A modifier as arithmetic on bits that vectorises: `((x & and) ^ xor) - sub`.
#[derive(Clone, Copy)]
struct Adjust {
    and: u64,
    xor: u64,
    sub: u64,
}

impl Adjust {
    #[inline(always)]
    fn of<T: Exec>(m: Modifier) -> Adjust {
        let (all, sign) = (u64::MAX, 1u64 << (T::BITS - 1));
        let float = const { T::TYPE.is_float() };
        let (and, xor, sub) = match m {
            Modifier::None | Modifier::Sat => (all, 0, 0),
            Modifier::Neg if float => (all, sign, 0),
            Modifier::Neg => (all, all, all),
            // Absolute values of integers are read by `read_general`.
            Modifier::Abs => (!sign, 0, 0),
            Modifier::NegAbs => (!sign, sign, 0),
            Modifier::Not => (all, all, 0),
        };
        Adjust { and, xor, sub }
    }

    #[inline(always)]
    fn apply<T: Exec>(self, x: T) -> T {
        T::from_bits(((x.to_bits() & self.and) ^ self.xor).wrapping_sub(self.sub))
    }
}

/// A source as loops over channels see it: one element for all (`U`) or a vector, with a modifier (`MOD`)
/// or without.
pub(crate) struct Source<'a, T, const U: bool, const MOD: bool, const N: usize> {
    at: &'a [Un<T>; N],
    uniform: T,
    adjust: Adjust,
}

impl<'a, T: Exec, const U: bool, const MOD: bool, const N: usize> Source<'a, T, U, MOD, N> {
    /// Source `i` of an instruction whose sources [`shape`] says these parameters of.
    #[inline(always)]
    pub fn new(m: &'a Machine<'_>, c: At<'_>, i: usize) -> Self {
        let s = &c.src[i];
        let adjust = Adjust::of::<T>(if MOD { s.modifier } else { Modifier::None });
        let uniform = if U { m.t.regs.get::<T>(s.offset) } else { T::default() };
        let uniform = if U && MOD { adjust.apply(uniform) } else { uniform };
        Source { at: m.t.regs.at(s.offset), uniform, adjust }
    }

    /// The value in channel `i`.
    #[inline(always)]
    pub fn lane(&self, i: usize) -> T {
        if U {
            self.uniform
        } else if MOD {
            self.adjust.apply(self.at[i].get())
        } else {
            self.at[i].get()
        }
    }
}

/// Which sources are uniform (bit i), and whether any has a modifier; `None` if one has to be read by
/// [`gather`].
pub(crate) fn shape(src: &[SrcCell]) -> Option<(u8, bool)> {
    let mut bits = 0;
    for (i, s) in src.iter().enumerate() {
        match s.kind {
            SrcKind::Scalar => bits |= 1 << i,
            SrcKind::Contiguous | SrcKind::Modified => {}
            SrcKind::General => return None,
        }
    }
    Some((bits, src.iter().any(|s| s.modifier != Modifier::None)))
}

/// Reads a source: a plain vector or scalar, or if `G`, one in any form. `None` after a fault. (Inlined: kernels of
/// 64-bit integers take twice as long without.)
#[inline(always)]
pub(crate) fn gather<T: Exec, const G: bool, const N: usize>(
    m: &mut Machine<'_>,
    c: At<'_>,
    pc: u32,
    i: usize,
    mask: Mask,
) -> Option<[T; N]> {
    let s = &c.src[i];
    debug_assert!(G || s.kind != SrcKind::General);
    match s.kind {
        SrcKind::Contiguous => Some(m.t.regs.load(s.offset)),
        SrcKind::Modified => {
            let (mut x, adjust) = (m.t.regs.load::<T, N>(s.offset), Adjust::of::<T>(s.modifier));
            for x in &mut x {
                *x = adjust.apply(*x);
            }
            Some(x)
        }
        SrcKind::General if G => {
            let mut x = [T::default(); N];
            let n = (c.channels as usize).min(N);
            read_general(m, pc, &inst(m, pc).src[i], mask, &mut x[..n]).then_some(x)
        }
        _ => Some([Adjust::of::<T>(s.modifier).apply(m.t.regs.get::<T>(s.offset)); N]),
    }
}

/// Writes a plain destination. (Handlers with a shape have no other: where the results could also go to a
/// function that takes them by reference, the loops before are not vectorised.)
#[inline(always)]
pub(crate) fn store<T: Pod, const N: usize>(m: &mut Machine<'_>, c: At<'_>, mask: Mask, r: [T; N]) {
    if mask == all_channels(N) {
        m.t.regs.store(c.dst, r);
    } else {
        m.t.regs.store_masked(c.dst, mask, r);
    }
}

/// Writes the destination: a plain vector, or if `G`, one in any form. The next program counter.
#[inline(always)]
pub(crate) fn write<T: Exec, const G: bool, const N: usize>(
    m: &mut Machine<'_>,
    c: At<'_>,
    pc: u32,
    mask: Mask,
    r: [T; N],
) -> u32 {
    if !G || c.dst_plain {
        store(m, c, mask, r);
        return pc + 1;
    }
    put(m, c, pc, mask, &r)
}

/// Writes a destination that is not a plain vector; the next program counter.
#[inline(never)]
fn put<T: Exec>(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask, r: &[T]) -> u32 {
    let n = (c.channels as usize).min(r.len());
    if write_general(m, pc, &inst(m, pc).dst, mask, &r[..n]) { pc + 1 } else { STOP }
}

/// Is one of the results of a loop NaN? Which one it is has been left open: see [`again`].
#[inline(always)]
fn any_nan<T: Exec>(r: &[T]) -> bool {
    let (sign, infinity) = const {
        let format = match T::TYPE {
            Type::Df => Some(exact_arithmetic::DF),
            Type::F => Some(exact_arithmetic::F),
            Type::Hf => Some(exact_arithmetic::HF),
            Type::Bf => Some(exact_arithmetic::BF),
            _ => None,
        };
        match format {
            Some(f) => (f.sign(), f.infinity()),
            // No integer is more than this.
            None => (0, u64::MAX),
        }
    };
    let mut any = false;
    for x in r {
        any |= x.to_bits() & !sign > infinity;
    }
    any
}

/// The modifier of a source.
fn modifier(s: &Src) -> Modifier {
    match s {
        Src::Reg { modifier, .. } | Src::Indirect { modifier, .. } => *modifier,
        _ => Modifier::None,
    }
}

/// Gives the operands of a sum as it takes them, where they are NaN.
fn subtract<T: Exec, const N: usize>(sum: Sum, s: &mut [[T; N]; 3], modifiers: [Modifier; 3]) {
    for (s, m) in s.iter_mut().zip(modifiers) {
        for x in s {
            *x = x.summed(m);
        }
    }
    if sum.swapped(modifiers[0], modifiers[1]) {
        s.swap(0, 1);
    }
}

/// An operation, for code that many share.
struct One<T> {
    /// What it makes of one channel, in any mode.
    go: fn(T, T, T, u32, FpMode) -> T,
    /// What it makes of the first `n` channels in the mode that handlers are for, in place of the first source.
    lanes: fn(s: &mut [[T; 32]; 3], n: usize, aux: u32),
    sources: usize,
    modal: bool,
    sum: Option<Sum>,
}

impl<T: Exec> One<T> {
    const fn of<O: Alu<T>, const S: usize>() -> One<T> {
        One { go: O::go::<FpMode>, lanes: lanes::<O, T>, sources: S, modal: O::MODAL, sum: O::SUM }
    }
}

/// See [`One::lanes`]: one channel, or all that there can be.
fn lanes<O: Alu<T>, T: Exec>([a, b, d]: &mut [[T; 32]; 3], n: usize, aux: u32) {
    if n == 1 {
        a[0] = O::go(a[0], b[0], d[0], aux, Quick(Ieee));
        return;
    }
    for i in 0..32 {
        a[i] = O::go(a[i], b[i], d[i], aux, Quick(Ieee));
    }
}

/// An operation of operands in any form, in the mode that handlers are for.
#[inline(never)]
fn general<T: Exec>(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask, one: &One<T>) -> u32 {
    let n = (c.channels as usize).min(32);
    let mut s = [[T::default(); 32]; 3];
    for (k, s) in s.iter_mut().enumerate().take(one.sources) {
        if !source(m, c, pc, k, mask, &mut s[..n]) {
            return STOP;
        }
    }
    (one.lanes)(&mut s, n, c.aux);
    let [mut r, ..] = s;
    if one.modal && any_nan(&r[..n]) {
        r = again(m, c, pc, mask, one);
    }
    match n {
        1 => write::<T, true, 1>(m, c, pc, mask, [r[0]]),
        _ => write::<T, true, 32>(m, c, pc, mask, r),
    }
}

/// Reads source `k` in whatever form it is; `false` after a fault.
fn source<T: Exec>(m: &mut Machine<'_>, c: At<'_>, pc: u32, k: usize, mask: Mask, out: &mut [T]) -> bool {
    let cell = &c.src[k];
    let adjust = Adjust::of::<T>(cell.modifier);
    match cell.kind {
        SrcKind::Scalar => out.fill(adjust.apply(m.t.regs.get::<T>(cell.offset))),
        SrcKind::Contiguous | SrcKind::Modified => {
            for (i, x) in out.iter_mut().enumerate() {
                *x = adjust.apply(m.t.regs.get::<T>(cell.offset + i as u32 * T::TYPE.size()));
            }
        }
        SrcKind::General => return read_general(m, pc, &inst(m, pc).src[k], mask, out),
    }
    true
}

/// Computes anew, and by the rule which NaN a NaN is, results that a loop has left that open of. (Each type has one, not
/// each operation and shape: it is seldom wanted. It does not take the results by reference: see [`store`].)
#[cold]
#[inline(never)]
fn again<T: Exec, const N: usize>(
    m: &mut Machine<'_>,
    c: At<'_>,
    pc: u32,
    mask: Mask,
    one: &One<T>,
) -> [T; N] {
    let mut s = [[T::default(); 32]; 3];
    let n = (c.channels as usize).min(N);
    for (k, s) in s.iter_mut().enumerate().take(one.sources) {
        let read = source(m, c, pc, k, mask, &mut s[..n]);
        debug_assert!(read, "it was read before");
    }
    if let Some(sum) = one.sum {
        let modifiers = [0, 1, 2].map(|k| match c.src[k].kind {
            SrcKind::General => modifier(&inst(m, pc).src[k]),
            _ => c.src[k].modifier,
        });
        subtract(sum, &mut s, modifiers);
    }
    let mode = m.t.mode;
    std::array::from_fn(|i| (one.go)(s[0][i], s[1][i], s[2][i], c.aux, mode))
}

/// `O` over channels of `T` with `S` sources, in vectors of `N`; `A`, `B`, `C`: the source is uniform;
/// `MOD`: some have modifiers.
pub(crate) struct AluK<
    O,
    T,
    const S: usize,
    const A: bool,
    const B: bool,
    const C: bool,
    const MOD: bool,
    const N: usize,
>(PhantomData<(O, T)>);

impl<
    O: Alu<T>,
    T: Exec,
    const S: usize,
    const A: bool,
    const B: bool,
    const C: bool,
    const MOD: bool,
    const N: usize,
> Kernel for AluK<O, T, S, A, B, C, MOD, N>
{
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        if O::MODAL && !m.t.ieee {
            return in_mode::<O, T, S>(m, c, pc, mask);
        }
        let a = Source::<T, A, MOD, N>::new(m, c, 0);
        let b = Source::<T, B, MOD, N>::new(m, c, 1);
        let d = Source::<T, C, MOD, N>::new(m, c, 2);
        let mut r = [T::default(); N];
        for i in 0..N {
            let b = if S > 1 { b.lane(i) } else { T::default() };
            let d = if S > 2 { d.lane(i) } else { T::default() };
            r[i] = O::go(a.lane(i), b, d, c.aux, Quick(Ieee));
        }
        if O::MODAL && any_nan(&r) {
            r = again(m, c, pc, mask, &const { One::of::<O, S>() });
        }
        store(m, c, mask, r);
        pc + 1
    }
}

/// `O` over channels of `T` with `S` sources, of plain operands whose shapes are found at run time, or if `G`,
/// of operands in any form.
pub(crate) struct AnyK<O, T, const S: usize, const G: bool, const N: usize>(PhantomData<(O, T)>);

impl<O: Alu<T>, T: Exec, const S: usize, const G: bool, const N: usize> Kernel for AnyK<O, T, S, G, N> {
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        if O::MODAL && !m.t.ieee {
            return in_mode::<O, T, S>(m, c, pc, mask);
        }
        if G {
            return general(m, c, pc, mask, &const { One::of::<O, S>() });
        }
        let zero = [T::default(); N];
        let Some(a) = gather::<T, false, N>(m, c, pc, 0, mask) else { return STOP };
        let b = if S > 1 { gather::<T, false, N>(m, c, pc, 1, mask) } else { Some(zero) };
        let Some(b) = b else { return STOP };
        let d = if S > 2 { gather::<T, false, N>(m, c, pc, 2, mask) } else { Some(zero) };
        let Some(d) = d else { return STOP };
        let mut r = zero;
        for i in 0..N {
            r[i] = O::go(a[i], b[i], d[i], c.aux, Quick(Ieee));
        }
        if O::MODAL && any_nan(&r) {
            r = again(m, c, pc, mask, &const { One::of::<O, S>() });
        }
        store(m, c, mask, r);
        pc + 1
    }
}

/// `O` over channels of `T` with `S` plain sources, where `%cr0` rounds to nearest even.
pub(crate) struct FlushK<O, T, const S: usize, const N: usize>(PhantomData<(O, T)>);

impl<O: Alu<T>, T: Exec, const S: usize, const N: usize> Kernel for FlushK<O, T, S, N> {
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        let Some(mode) = m.t.mode.nearest() else { return modal::<O, T, S>(m, c, pc, mask) };
        let zero = [T::default(); N];
        let Some(a) = gather::<T, false, N>(m, c, pc, 0, mask) else { return STOP };
        let b = if S > 1 { gather::<T, false, N>(m, c, pc, 1, mask) } else { Some(zero) };
        let Some(b) = b else { return STOP };
        let d = if S > 2 { gather::<T, false, N>(m, c, pc, 2, mask) } else { Some(zero) };
        let Some(d) = d else { return STOP };
        let mut r = zero;
        for i in 0..N {
            r[i] = O::go(a[i], b[i], d[i], c.aux, Quick(mode));
        }
        if any_nan(&r) {
            r = again(m, c, pc, mask, &const { One::of::<O, S>() });
        }
        store(m, c, mask, r);
        pc + 1
    }
}

/// The same in a mode of `%cr0` other than the one that handlers are for.
#[inline(never)]
fn in_mode<O: Alu<T>, T: Exec, const S: usize>(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask) -> u32 {
    match c.code.flushing.get(pc as usize) {
        Some(Some(h)) => call(*h, m, c, pc),
        _ => modal::<O, T, S>(m, c, pc, mask),
    }
}

/// The same in any mode of `%cr0`.
pub(crate) fn modal<O: Alu<T>, T: Exec, const S: usize>(
    m: &mut Machine<'_>,
    c: At<'_>,
    pc: u32,
    mask: Mask,
) -> u32 {
    by_channel(m, c, pc, mask, &const { One::of::<O, S>() })
}

/// An operation of operands in any form, in any mode of `%cr0`.
#[inline(never)]
fn by_channel<T: Exec>(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask, one: &One<T>) -> u32 {
    let n = c.channels as usize;
    let mut s = [[T::default(); 32]; 3];
    for (i, s) in s.iter_mut().enumerate().take(one.sources) {
        let src = inst(m, pc).src[i];
        if !read_general(m, pc, &src, mask, &mut s[..n]) {
            return STOP;
        }
    }
    let mode: FpMode = m.t.mode;
    if let Some(sum) = one.sum {
        let i = inst(m, pc);
        subtract(sum, &mut s, [0, 1, 2].map(|k| modifier(&i.src[k])));
    }
    let mut r = [T::default(); 32];
    for i in 0..n {
        if mask >> i & 1 != 0 {
            r[i] = (one.go)(s[0][i], s[1][i], s[2][i], c.aux, mode);
        }
    }
    if write_general(m, pc, &inst(m, pc).dst, mask, &r[..n]) { pc + 1 } else { STOP }
}
