//! The form of most handlers: read sources, compute channel by channel, write a destination.

use std::marker::PhantomData;

use envisa_isa::Type;
use envisa_lower::Src;
use envisa_sem::{AnyNan, FpMode, Ieee, Mode, Modifier, Sum, exact_arithmetic};

use crate::cpu_level::{Kernel, call_separately};
use crate::operand::{Exec, inst, read_general, write_general};
use crate::registers::Operands;
use crate::{At, SrcCell, SrcKind, exec_mask};
use envisa_machine::cpu::Isa;
use envisa_machine::register_file::{Pod, Unaligned, all_channels};
use envisa_machine::thread::{Machine, Mask, STOP};

/// What a channel computes.
pub(crate) trait Alu<T>: 'static {
    /// Depends on `%cr0`.
    const MODAL: bool = false;
    /// Is it a sum, in which NaNs keep their sign (`envisa_sem::nan`)?
    const SUM: Option<Sum> = None;
    /// The result of up to three sources; `aux` is the instruction's.
    fn compute_lane<M: Mode>(a: T, b: T, c: T, aux: u32, m: M) -> T;
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

/// The channels that vectors are computed for: the instruction's, in whole groups of eight. (Loops to a number that is known
/// when they are compiled would be unrolled first and made vectors of afterwards, which takes several times as long.)
#[inline(always)]
pub(crate) fn vector(c: At<'_>) -> usize {
    ((c.channels as usize + 7) & !7).min(32)
}

/// Are sources consecutive elements, or one for all channels, of the channels' own type?
pub(crate) fn is_plain(src: &[SrcCell]) -> bool {
    src.iter().all(|s| s.kind != SrcKind::General)
}

/// The value of a plain source of an instruction of one channel.
#[inline(always)]
pub(crate) fn scalar<T: Exec>(m: &Machine<'_>, c: At<'_>, i: usize) -> T {
    let s = &c.src[i];
    Adjust::of::<T>(s.modifier).apply(m.t.regs.get::<T>(s.offset))
}

/// The elements of plain source `i`, where they are, or where they were made consecutive.
#[inline(always)]
pub(crate) fn elements<T: Exec, const L: u8>(isa: Isa<L>, m: &mut Machine<'_>, c: At<'_>, i: usize) -> u32 {
    let s = &c.src[i];
    debug_assert!(s.kind != SrcKind::General);
    if s.kind == SrcKind::Contiguous {
        s.offset
    } else {
        call_separately::<PlainK<T>, L>(isa, m, c, i as u32)
    }
}

/// Makes a source's elements consecutive ones behind the register file; gives where those are. In place of the program
/// counter it takes the source's number.
struct PlainK<T>(PhantomData<T>);

impl<T: Exec> Kernel for PlainK<T> {
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: At<'_>, i: u32) -> u32 {
        let s = &c.src[i as usize];
        let (to, n) = (c.code.scratch_vector(i), vector(c));
        let adjust = Adjust::of::<T>(s.modifier);
        let mut r = [T::default(); 32];
        if s.kind == SrcKind::Scalar {
            r = [adjust.apply(m.t.regs.get::<T>(s.offset)); 32];
        } else {
            let from = m.t.regs.at::<T, 32>(s.offset);
            for i in 0..n {
                r[i] = adjust.apply(from[i].get());
            }
        }
        store_elements(m, to, n, &r);
        to
    }
}

/// Stores the first `n` elements.
#[inline(always)]
fn store_elements<T: Pod>(m: &mut Machine<'_>, to: u32, n: usize, r: &[T; 32]) {
    // (A loop would become a call of `memcpy`.)
    match (n, r.first_chunk::<8>(), r.first_chunk::<16>()) {
        (0..=8, Some(r), _) => m.t.regs.store_merged(to, *r),
        (0..=16, _, Some(r)) => m.t.regs.store_merged(to, *r),
        _ => m.t.regs.store_merged(to, *r),
    }
}

/// Writes a plain destination. (Handlers of plain operands have no other: where the results could also go to a
/// function that takes them by reference, the loops before are not vectorised.)
#[inline(always)]
pub(crate) fn store<T: Pod>(m: &mut Machine<'_>, c: At<'_>, mask: Mask, mut r: [T; 32]) {
    let n = vector(c);
    if mask != all_channels(n) {
        let (bits, old) = (m.t.regs.channel_bits(), m.t.regs.at::<T, 32>(c.dst));
        for i in 0..n {
            r[i] = if bits[i] & mask != 0 { r[i] } else { old[i].get() };
        }
    }
    store_elements(m, c.dst, n, &r);
}

/// Writes a destination in any form; the next program counter.
#[inline(never)]
pub(crate) fn write<T: Exec>(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask, r: &[T; 32]) -> u32 {
    let n = (c.channels as usize).min(32);
    if write_general(m, pc, &inst(m, pc).dst, mask, &r[..n]) { pc + 1 } else { STOP }
}

/// The elements of source `i`: of a plain one, or if `G`, of one in any form. `None` after a fault.
#[inline(always)]
pub(crate) fn gather_source<T: Exec, const G: bool, const L: u8>(
    isa: Isa<L>,
    m: &mut Machine<'_>,
    c: At<'_>,
    (pc, i): (u32, usize),
    mask: Mask,
) -> Option<[T; 32]> {
    if G {
        return source(m, c, pc, i, mask);
    }
    let at = elements::<T, L>(isa, m, c, i);
    Some(m.t.regs.load(at))
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
fn adjust_sum_operands<T: Exec, const N: usize>(sum: Sum, s: &mut [[T; N]; 3], modifiers: [Modifier; 3]) {
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
        One { go: O::compute_lane::<FpMode>, lanes: lanes::<O, T>, sources: S, modal: O::MODAL, sum: O::SUM }
    }
}

/// See [`One::lanes`].
fn lanes<O: Alu<T>, T: Exec>([a, b, d]: &mut [[T; 32]; 3], n: usize, aux: u32) {
    for i in 0..n.min(32) {
        a[i] = O::compute_lane(a[i], b[i], d[i], aux, AnyNan(Ieee));
    }
}

/// An operation of operands in any form, in any mode.
#[inline(never)]
fn execute_general<T: Exec>(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask, one: &One<T>) -> u32 {
    if one.modal && !m.t.ieee {
        return by_channel(m, c, pc, mask, one);
    }
    let n = (c.channels as usize).min(32);
    let Some(mut s) = sources(m, c, pc, mask, one.sources) else { return STOP };
    (one.lanes)(&mut s, n, c.aux);
    if one.modal && any_nan(&s[0][..n]) {
        return by_channel(m, c, pc, mask, one);
    }
    write(m, c, pc, mask, &s[0])
}

/// The first `count` sources.
fn sources<T: Exec>(
    m: &mut Machine<'_>,
    c: At<'_>,
    pc: u32,
    mask: Mask,
    count: usize,
) -> Option<[[T; 32]; 3]> {
    let mut s = [[T::default(); 32]; 3];
    for (k, s) in s.iter_mut().enumerate().take(count) {
        *s = source(m, c, pc, k, mask)?;
    }
    Some(s)
}

/// The elements of source `k` in whatever form it is; `None` after a fault.
#[inline(never)]
pub(crate) fn source<T: Exec>(
    m: &mut Machine<'_>,
    c: At<'_>,
    pc: u32,
    k: usize,
    mask: Mask,
) -> Option<[T; 32]> {
    let mut r = [T::default(); 32];
    let (cell, out) = (&c.src[k], &mut r[..(c.channels as usize).min(32)]);
    let adjust = Adjust::of::<T>(cell.modifier);
    match cell.kind {
        SrcKind::Scalar => out.fill(adjust.apply(m.t.regs.get::<T>(cell.offset))),
        SrcKind::Contiguous | SrcKind::Modified => {
            for (i, x) in out.iter_mut().enumerate() {
                *x = adjust.apply(m.t.regs.get::<T>(cell.offset + i as u32 * T::TYPE.size()));
            }
        }
        SrcKind::General => {
            if !read_general(m, pc, &inst(m, pc).src[k], mask, out) {
                return None;
            }
        }
    }
    Some(r)
}

/// What an operation makes of each channel, in any mode and by the rule which NaN a NaN is, which loops leave open. (Each type
/// has one, not each operation: it is seldom wanted. It does not take results by reference: see [`store`].)
#[cold]
#[inline(never)]
fn compute_exact<T: Exec>(
    m: &mut Machine<'_>,
    c: At<'_>,
    pc: u32,
    mask: Mask,
    one: &One<T>,
) -> Option<[T; 32]> {
    let mut s = sources(m, c, pc, mask, one.sources)?;
    if let Some(sum) = one.sum {
        let modifiers = [0, 1, 2].map(|k| match c.src[k].kind {
            SrcKind::General => modifier(&inst(m, pc).src[k]),
            _ => c.src[k].modifier,
        });
        adjust_sum_operands(sum, &mut s, modifiers);
    }
    let mode = m.t.mode;
    Some(std::array::from_fn(|i| (one.go)(s[0][i], s[1][i], s[2][i], c.aux, mode)))
}

/// An operation of operands in any form, in any mode of `%cr0`, channel by channel.
#[cold]
#[inline(never)]
fn by_channel<T: Exec>(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask, one: &One<T>) -> u32 {
    match compute_exact(m, c, pc, mask, one) {
        Some(r) => write(m, c, pc, mask, &r),
        None => STOP,
    }
}

/// The same of one that is known.
pub(crate) fn execute_in_mode<O: Alu<T>, T: Exec, const S: usize>(
    m: &mut Machine<'_>,
    c: At<'_>,
    pc: u32,
    mask: Mask,
) -> u32 {
    by_channel(m, c, pc, mask, &const { One::of::<O, S>() })
}

/// `O` over channels of `T` with `S` plain sources.
pub(crate) struct LanesK<O, T, const S: usize>(PhantomData<(O, T)>);

impl<O: Alu<T>, T: Exec, const S: usize> Kernel for LanesK<O, T, S> {
    #[inline(always)]
    fn run_with<const L: u8>(isa: Isa<L>, m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        let a = elements::<T, L>(isa, m, c, 0);
        let b = if S > 1 { elements::<T, L>(isa, m, c, 1) } else { a };
        let d = if S > 2 { elements::<T, L>(isa, m, c, 2) } else { a };
        // (Parts of a crate do not inline each other's functions: methods of arrays would be calls.)
        let s = [m.t.regs.at::<T, 32>(a), m.t.regs.at::<T, 32>(b), m.t.regs.at::<T, 32>(d)];
        let (n, aux) = (vector(c), c.aux);
        let mut r = [T::default(); 32];
        if !O::MODAL || m.t.ieee {
            compute_channels::<O, T, _, S>(s, n, aux, AnyNan(Ieee), &mut r);
        } else {
            let Some(mode) = m.t.mode.nearest() else { return execute_in_mode::<O, T, S>(m, c, pc, mask) };
            compute_channels::<O, T, _, S>(s, n, aux, AnyNan(mode), &mut r);
        }
        if O::MODAL
            && any_nan(&r[..n])
            && let Some(exact) = compute_exact(m, c, pc, mask, &const { One::of::<O, S>() })
        {
            r = exact;
        }
        store(m, c, mask, r);
        pc + 1
    }
}

/// Computes `n` channels.
#[inline(always)]
fn compute_channels<O: Alu<T>, T: Exec, M: Mode, const S: usize>(
    [a, b, d]: [&[Unaligned<T>; 32]; 3],
    n: usize,
    aux: u32,
    mode: M,
    r: &mut [T; 32],
) {
    for i in 0..n {
        let b = if S > 1 { b[i].get() } else { T::default() };
        let d = if S > 2 { d[i].get() } else { T::default() };
        r[i] = O::compute_lane(a[i].get(), b, d, aux, mode);
    }
}

/// `O` over one channel of `T` with `S` plain sources.
pub(crate) struct OneK<O, T, const S: usize>(PhantomData<(O, T)>);

impl<O: Alu<T>, T: Exec, const S: usize> Kernel for OneK<O, T, S> {
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        let a = scalar(m, c, 0);
        let b = if S > 1 { scalar(m, c, 1) } else { T::default() };
        let d = if S > 2 { scalar(m, c, 2) } else { T::default() };
        let mut r = if !O::MODAL || m.t.ieee {
            O::compute_lane(a, b, d, c.aux, AnyNan(Ieee))
        } else {
            let Some(mode) = m.t.mode.nearest() else { return execute_in_mode::<O, T, S>(m, c, pc, mask) };
            O::compute_lane(a, b, d, c.aux, AnyNan(mode))
        };
        if O::MODAL
            && any_nan(&[r])
            && let Some(exact) = compute_exact(m, c, pc, mask, &const { One::of::<O, S>() })
        {
            r = exact[0];
        }
        m.t.regs.set(c.dst, r);
        pc + 1
    }
}

/// `O` over channels of `T` with `S` sources, of operands in any form.
pub(crate) struct GeneralK<O, T, const S: usize>(PhantomData<(O, T)>);

impl<O: Alu<T>, T: Exec, const S: usize> Kernel for GeneralK<O, T, S> {
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        execute_general(m, c, pc, mask, &const { One::of::<O, S>() })
    }
}
