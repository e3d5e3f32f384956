//! Handlers with a form of their own: compares, selections, conversions, two results, DPAS.

use std::marker::PhantomData;

use envisa_lower::{Dst, ExecType, Op, Src};
use envisa_sem::dpas::{Accumulator, Dpas, Precision, Scales};
use envisa_sem::four_bit::{Downscale, look_up};
use envisa_sem::math::MacroMath;
use envisa_sem::{Float, FpMode, Hf, Ieee, Mode, Relation, convert, int};

use crate::alu::{elements, gather_source, scalar, source, store, vector, write};
use crate::control::GotoK;
use crate::cpu_level::Kernel;
use crate::operand::{Exec, inst, read_general, write_general};
use crate::registers::Operands;
use crate::{At, Code, active_channels, exec_mask, pred_mask};
use envisa_machine::cpu::Isa;
use envisa_machine::register_file::{Unaligned, all_channels, bits_of_lane_masks, blend_by_mask};
use envisa_machine::thread::{Fused, Machine, Mask, STOP, Status};
use envisa_machine::trap::Cause;

/// Values that can be compared.
pub(crate) trait Compare: Exec {
    /// Does the relation hold?
    fn holds<M: Mode>(self, r: Relation, b: Self, m: M) -> bool;
}

macro_rules! compare {
    (int $($t:ty)*) => {$(
        impl Compare for $t {
            #[inline(always)]
            fn holds<M: Mode>(self, r: Relation, b: Self, _: M) -> bool {
                r.holds(self, b)
            }
        }
    )*};
    (float $($t:ty)*) => {$(
        impl Compare for $t {
            #[inline(always)]
            fn holds<M: Mode>(self, r: Relation, b: Self, m: M) -> bool {
                self.compare(r, b, m)
            }
        }
    )*};
}
compare! { int i32 u32 i64 u64 }
compare! { float f32 f64 Hf envisa_sem::Bf }

/// `cmp` of plain sources.
pub(crate) struct CmpK<T>(PhantomData<T>);

impl<T: Compare> Kernel for CmpK<T> {
    #[inline(always)]
    fn run_with<const L: u8>(isa: Isa<L>, m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        if const { T::TYPE.is_float() } && !m.t.ieee {
            return compare_general::<T>(m, c, pc, mask);
        }
        let relation = relation_by_number(c.aux);
        if c.channels == 1 {
            let holds = scalar::<T>(m, c, 0).holds(relation, scalar(m, c, 1), Ieee);
            return write_comparison::<false>(m, c, pc, mask, holds as u32);
        }
        let (a, b) = (elements::<T, L>(isa, m, c, 0), elements::<T, L>(isa, m, c, 1));
        let bits = if c.channels > 16 {
            related_channels::<T, _, 32>(Ieee, relation, m.t.regs.at(a), m.t.regs.at(b))
        } else {
            related_channels::<T, _, 16>(Ieee, relation, m.t.regs.at(a), m.t.regs.at(b))
        };
        write_comparison::<false>(m, c, pc, mask, bits)
    }
}

/// `cmp` of sources in any form.
pub(crate) struct CmpGeneralK<T>(PhantomData<T>);

impl<T: Compare> Kernel for CmpGeneralK<T> {
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        compare_general::<T>(m, c, pc, mask)
    }
}

#[inline(never)]
fn compare_general<T: Compare>(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask) -> u32 {
    let Some(a) = source::<T>(m, c, pc, 0, mask) else { return STOP };
    let Some(b) = source::<T>(m, c, pc, 1, mask) else { return STOP };
    let (relation, mode) = (relation_by_number(c.aux), m.t.mode);
    let mut bits = 0;
    for i in 0..c.channels as usize {
        bits |= (a[i].holds(relation, b[i], mode) as u32) << i;
    }
    write_comparison::<true>(m, c, pc, mask, bits)
}

/// The relation of a compare, by its number.
#[inline(always)]
fn relation_by_number(number: u32) -> Relation {
    match number {
        0 => Relation::Eq,
        1 => Relation::Ne,
        2 => Relation::Gt,
        3 => Relation::Ge,
        4 => Relation::Lt,
        _ => Relation::Le,
    }
}

/// Channels in which the relation holds.
#[inline(always)]
fn related_channels<T: Compare, M: Mode, const N: usize>(
    mode: M,
    relation: Relation,
    a: &[Unaligned<T>; N],
    b: &[Unaligned<T>; N],
) -> Mask {
    let (a, b) = if matches!(relation, Relation::Gt | Relation::Ge) { (b, a) } else { (a, b) };
    let holds = |relation| {
        let mut lanes = [0u8; N];
        for i in 0..N {
            lanes[i] = if a[i].get().holds(relation, b[i].get(), mode) { u8::MAX } else { 0 };
        }
        bits_of_lane_masks(&lanes)
    };
    match relation {
        Relation::Eq => holds(Relation::Eq),
        Relation::Ne => !holds(Relation::Eq),
        Relation::Gt | Relation::Lt => holds(Relation::Lt),
        Relation::Ge | Relation::Le => holds(Relation::Le),
    }
}

/// Writes what a compare found: to a predicate, to a vector of dwords, or if `G`, to a variable in any form.
#[inline(always)]
pub(super) fn write_comparison<const G: bool>(
    m: &mut Machine<'_>,
    c: At<'_>,
    pc: u32,
    mask: Mask,
    bits: Mask,
) -> u32 {
    if c.dst_plain {
        let old: u32 = m.t.regs.get(c.dst);
        m.t.regs.set(c.dst, old & !(mask << c.first) | (bits & mask) << c.first);
        return if c.fused { branch_after(m, c.code, pc) } else { pc + 1 };
    }
    if G {
        return compared_general(m, c, pc, mask, bits);
    }
    store(m, c, mask, blend_by_mask(bits, [u32::MAX; 32], [0; 32]));
    pc + 1
}

/// The branch behind a compare, without a turn of its own.
#[inline(never)]
fn branch_after(m: &mut Machine<'_>, code: &Code, pc: u32) -> u32 {
    match code.cells.get(pc as usize + 1) {
        Some(cell) => GotoK::run(m, At { cell, code }, pc + 1),
        None => pc + 1,
    }
}

#[inline(never)]
fn compared_general(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask, bits: Mask) -> u32 {
    let mut out = [0i32; 32];
    for (i, o) in out.iter_mut().enumerate() {
        *o = -((bits >> i & 1) as i32);
    }
    let n = c.channels as usize;
    if write_general(m, pc, &as_int(inst(m, pc).dst), mask, &out[..n]) { pc + 1 } else { STOP }
}

/// A destination whose bits are set as an integer's, whatever its type.
pub(super) fn as_int(d: Dst) -> Dst {
    use envisa_isa::Type;
    let int = |t: Type| match t.size() {
        1 => Type::B,
        2 => Type::W,
        4 => Type::D,
        _ => Type::Q,
    };
    match d {
        Dst::Reg { offset, ty, stride, .. } => Dst::Reg { offset, ty: int(ty), stride, sat: false },
        Dst::Indirect { address, bytes, per_address_log2, ty, stride, .. } => {
            Dst::Indirect { address, bytes, per_address_log2, ty: int(ty), stride, sat: false }
        }
        d => d,
    }
}

/// `sel` of plain operands: the predicate chooses between the sources.
pub(crate) struct SelK<T>(PhantomData<T>);

impl<T: Exec> Kernel for SelK<T> {
    #[inline(always)]
    fn run_with<const L: u8>(isa: Isa<L>, m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = active_channels(m, c);
        if mask == 0 {
            return pc + 1;
        }
        let pick = first_source_channels(m, c);
        if c.channels == 1 {
            let r: T = if pick & 1 != 0 { scalar(m, c, 0) } else { scalar(m, c, 1) };
            m.t.regs.set(c.dst, r);
            return pc + 1;
        }
        let (a, b) = (elements::<T, L>(isa, m, c, 0), elements::<T, L>(isa, m, c, 1));
        let (a, b) = (m.t.regs.at::<T, 32>(a), m.t.regs.at::<T, 32>(b));
        let (bits, n) = (m.t.regs.channel_bits(), vector(c));
        let mut r = [T::default(); 32];
        for i in 0..n {
            r[i] = if bits[i] & pick != 0 { a[i].get() } else { b[i].get() };
        }
        store(m, c, mask, r);
        pc + 1
    }
}

/// The channels of a `sel` that take its first source.
#[inline(always)]
fn first_source_channels(m: &Machine<'_>, c: At<'_>) -> Mask {
    if c.pred == 0 { u32::MAX } else { pred_mask(m, c) }
}

/// `sel` of operands in any form.
pub(crate) struct SelGeneralK<T>(PhantomData<T>);

impl<T: Exec> Kernel for SelGeneralK<T> {
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = active_channels(m, c);
        if mask == 0 {
            return pc + 1;
        }
        let pick = first_source_channels(m, c);
        let Some(a) = source::<T>(m, c, pc, 0, mask) else { return STOP };
        let Some(b) = source::<T>(m, c, pc, 1, mask) else { return STOP };
        write(m, c, pc, mask, &blend_by_mask(pick, a, b))
    }
}

/// `addc` and `subb`: a second result in `dst2`. `G`: of operands in any form.
pub(crate) struct CarryK<const SUB: bool, const G: bool>;

impl<const SUB: bool, const G: bool> Kernel for CarryK<SUB, G> {
    #[inline(always)]
    fn run_with<const L: u8>(isa: Isa<L>, m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        let Some(a) = gather_source::<u32, G, L>(isa, m, c, (pc, 0), mask) else { return STOP };
        let Some(b) = gather_source::<u32, G, L>(isa, m, c, (pc, 1), mask) else { return STOP };
        let (mut r, mut carry) = ([0u32; 32], [0u32; 32]);
        for i in 0..vector(c) {
            (r[i], carry[i]) = if SUB { int::subb(a[i], b[i]) } else { int::addc(a[i], b[i]) };
        }
        let next = if G {
            write(m, c, pc, mask, &r)
        } else {
            store(m, c, mask, r);
            pc + 1
        };
        // After the sum: in one place, the carry stays (page ADDC).
        let second = inst(m, pc).dst2;
        if second != 0 && next != STOP {
            m.t.regs.store_masked(second, mask, carry);
        }
        next
    }
}

/// `madw` of sources in 64 bits: the low halves, and the high ones in `dst2`. (There is no general form.)
pub(crate) struct MadwK;

impl Kernel for MadwK {
    #[inline(always)]
    fn run_with<const L: u8>(isa: Isa<L>, m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        let (a, b) = (elements::<u64, L>(isa, m, c, 0), elements::<u64, L>(isa, m, c, 1));
        let d = elements::<u64, L>(isa, m, c, 2);
        let regs = &m.t.regs;
        let (a, b, d) = (regs.at::<u64, 32>(a), regs.at::<u64, 32>(b), regs.at::<u64, 32>(d));
        let (mut low, mut high) = ([0u32; 32], [0u32; 32]);
        for i in 0..vector(c) {
            let r = a[i].get().wrapping_mul(b[i].get()).wrapping_add(d[i].get());
            (low[i], high[i]) = (r as u32, (r >> 32) as u32);
        }
        // The second destination's offset.
        if c.aux != 0 {
            m.t.regs.store_masked(c.aux, mask, high);
        }
        store(m, c, mask, low);
        pc + 1
    }
}

/// Everything else that computes: sources read in any form, results written in any form.
pub(crate) struct OtherK;

impl Kernel for OtherK {
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        let i = inst(m, pc);
        match i.op {
            Op::Mulh | Op::Madw | Op::Bfi | Op::Sad2 | Op::Sad2add | Op::Dp4a => integers(m, c, pc, mask),
            Op::Fcvt | Op::Srnd => execute_conversions(m, c, pc, mask),
            Op::Dnscl | Op::ShflIdx4 => execute_nibbles(m, c, pc, mask),
            Op::Pln => execute_plane(m, c, pc, mask),
            Op::Line | Op::Dp2 | Op::Dp3 | Op::Dp4 | Op::Dph => execute_products(m, c, pc, mask),
            Op::Invm | Op::Rsqtm if i.exec == ExecType::F64 => execute_math_macros::<f64>(m, c, pc, mask),
            Op::Invm | Op::Rsqtm if i.exec == ExecType::F32 => execute_math_macros::<f32>(m, c, pc, mask),
            op => m.fault(
                pc,
                None,
                Cause::Unsupported { name: "instruction", reason: format!("{op:?} has no such operands") },
            ),
        }
    }
}

fn sources<T: Exec>(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask) -> Option<[[T; 32]; 4]> {
    let n = c.channels as usize;
    let mut s = [[T::default(); 32]; 4];
    for (i, s) in s.iter_mut().enumerate() {
        if !read_general(m, pc, &inst(m, pc).src[i], mask, &mut s[..n]) {
            return None;
        }
    }
    Some(s)
}

/// Sets the bits of a predicate that are of the instruction's channels and in `mask`.
pub(super) fn set_predicate(m: &mut Machine<'_>, c: At<'_>, offset: u32, mask: Mask, bits: u32) {
    let old: u32 = m.t.regs.get(offset);
    m.t.regs.set(offset, old & !(mask << c.first) | (bits & mask) << c.first);
}

/// Sums of products across groups of four channels, and `line`.
fn execute_products(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask) -> u32 {
    let op = inst(m, pc).op;
    let n = c.channels as usize;
    // A channel reads its group's elements, whoever else runs.
    let group = mask | (mask >> 1) | (mask >> 2) | (mask >> 3);
    let all = ((group & 0x1111_1111) * 15) & c.full;
    let Some(s) = sources::<f32>(m, c, pc, all) else { return STOP };
    let mode: FpMode = m.t.mode;
    let p = match (op, inst(m, pc).src[0]) {
        (Op::Line, Src::Reg { offset, .. }) if offset + 16 <= m.t.regs.len() => {
            [m.t.regs.get::<f32>(offset), m.t.regs.get::<f32>(offset + 12)]
        }
        _ => [0.0; 2],
    };
    let mut r = [0f32; 32];
    for (k, r) in r.iter_mut().enumerate().take(n) {
        let g = k & !3;
        let dot = |n: usize| {
            let first = Float::mul(s[0][g], s[1][g], mode);
            (1..n).fold(first, |sum, q| Float::mad(s[0][g + q], s[1][g + q], sum, mode))
        };
        *r = match op {
            Op::Line => Float::mad(p[0], s[1][k], p[1], mode),
            Op::Dp2 => dot(2),
            Op::Dp3 => dot(3),
            Op::Dp4 => dot(4),
            _ => Float::add(dot(3), s[1][g + 3], mode),
        };
    }
    write(m, c, pc, mask, &r)
}

/// `invm`, `rsqtm`: a start value, and whether it is final.
fn execute_math_macros<T: Exec + MacroMath>(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask) -> u32 {
    let i = inst(m, pc);
    let Some(s) = sources::<T>(m, c, pc, mask) else { return STOP };
    let mode: FpMode = m.t.mode;
    let (mut r, mut early) = ([T::default(); 32], 0);
    for k in 0..c.channels as usize {
        let (x, e) = if i.op == Op::Invm { s[0][k].invm(s[1][k], mode) } else { s[0][k].rsqtm(mode) };
        r[k] = x;
        early |= (e as u32) << k;
    }
    set_predicate(m, c, i.dst2, mask, early);
    write(m, c, pc, mask, &r)
}

fn signed(s: &Src) -> bool {
    matches!(s, Src::Reg { ty, .. } | Src::Indirect { ty, .. } if ty.is_signed())
}

fn integers(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask) -> u32 {
    let i = inst(m, pc);
    let n = c.channels as usize;
    // Pairs of channels are read together, whichever of the two runs.
    let pairs = matches!(i.op, Op::Sad2 | Op::Sad2add);
    let read = if pairs {
        (mask | ((mask << 1) & 0xaaaa_aaaa) | ((mask >> 1) & 0x5555_5555)) & c.full
    } else {
        mask
    };
    let Some(s) = sources::<i64>(m, c, pc, read) else { return STOP };
    let mut r = [0i64; 32];
    let byte = |x: i64, k: u32, s: bool| {
        let b = (x >> (8 * k)) as u8;
        if s { b as i8 as i64 } else { b as i64 }
    };
    for k in 0..n {
        let (a, b, d, e) = (s[0][k], s[1][k], s[2][k], s[3][k]);
        r[k] = match i.op {
            Op::Mulh => ((a as i128 * b as i128) >> 32) as i64,
            // The low half; the high one below.
            Op::Madw => a.wrapping_mul(b).wrapping_add(d),
            Op::Bfi => int::bfi(a as u32, b as u32, d as u32, e as u32) as i64,
            Op::Sad2 | Op::Sad2add => {
                // Pairs of neighbouring channels.
                let p = k & !1;
                let pair = (s[0][p] - s[1][p]).abs() + (s[0][p + 1] - s[1][p + 1]).abs();
                if i.op == Op::Sad2add { pair + d } else { pair }
            }
            _ => {
                let (sa, sb) = (signed(&i.src[1]), signed(&i.src[2]));
                a + (0..4).map(|q| byte(b, q, sa) * byte(d, q, sb)).sum::<i64>()
            }
        };
    }
    if i.op == Op::Madw && i.dst2 != 0 {
        let mut high = [0u32; 32];
        for k in 0..n {
            high[k] = (r[k] >> 32) as u32;
            r[k] &= 0xffff_ffff;
        }
        m.t.regs.store_masked(i.dst2, mask & all_channels(n), high);
    }
    write(m, c, pc, mask, &r)
}

fn execute_conversions(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask) -> u32 {
    use envisa_isa::Type;
    let i = inst(m, pc);
    let n = c.channels as usize;
    let src_ty = match i.src[0] {
        Src::Reg { ty, .. } | Src::Indirect { ty, .. } => ty,
        _ => Type::Ud,
    };
    let dst_ty = match i.dst {
        Dst::Reg { ty, .. } | Dst::Indirect { ty, .. } => ty,
        _ => return pc + 1,
    };
    let mut out = [0u32; 32];
    if i.op == Op::Srnd {
        let mut random = [0u32; 32];
        if !read_general(m, pc, &i.src[1], mask, &mut random[..n]) {
            return STOP;
        }
        let mut x = [0f32; 32];
        if !read_general(m, pc, &i.src[0], mask, &mut x[..n]) {
            return STOP;
        }
        for k in 0..n {
            out[k] = match src_ty {
                Type::F => convert::srnd_hf(x[k], random[k] as u16).0 as u32,
                _ => convert::srnd_bf8(convert::f32_to_hf(x[k], Default::default()), random[k] as u8) as u32,
            };
        }
    } else {
        // To and from 8-bit floats and tf32, whose bits are in `ub` and `ud`.
        for k in 0..n {
            let one = |s: &Src| match *s {
                Src::Reg { offset, ty, strides, .. } => Some(offset + strides.element(k as u32) * ty.size()),
                _ => None,
            };
            let Some(at) = one(&i.src[0]) else {
                return m.fault(
                    pc,
                    None,
                    Cause::Unsupported { name: "FCVT", reason: "its source is indirect".into() },
                );
            };
            out[k] = match (src_ty, dst_ty) {
                (Type::Ub | Type::B, Type::Hf) => convert::bf8_to_hf(m.t.regs.get(at)).0 as u32,
                (Type::Hf, Type::Ub | Type::B) => convert::hf_to_bf8(Hf(m.t.regs.get(at))) as u32,
                (Type::Ud, Type::F) => m.t.regs.get(at),
                (Type::F, Type::Ud) => convert::f32_to_tf32(m.t.regs.get(at)),
                _ => {
                    return m.fault(
                        pc,
                        None,
                        Cause::Unsupported {
                            name: "FCVT",
                            reason: format!(
                                "there is no conversion from {} to {}",
                                src_ty.name(),
                                dst_ty.name()
                            ),
                        },
                    );
                }
            };
        }
    }
    let dst = as_int(i.dst);
    if write_general(m, pc, &dst, mask, &out[..n]) { pc + 1 } else { STOP }
}

/// Elements of 4 bits: made, or looked up in a table that all channels share.
fn execute_nibbles(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask) -> u32 {
    let i = inst(m, pc);
    let n = c.channels as usize;
    let mut out = [0u32; 32];
    let (mut a, mut b) = ([0u32; 32], [0u32; 32]);
    if !read_general(m, pc, &i.src[1], mask, &mut b[..n]) {
        return STOP;
    }
    if i.op == Op::Dnscl {
        let Some(downscale) = Downscale::new(c.aux) else {
            let reason = "its fields mean nothing".into();
            return m.fault(pc, None, Cause::Unsupported { name: "DNSCL", reason });
        };
        if !read_general(m, pc, &i.src[0], mask, &mut a[..n]) {
            return STOP;
        }
        for k in 0..n {
            out[k] = downscale.run(a[k], b[k]);
        }
    } else {
        let (Src::Reg { offset, .. }, Src::Reg { ty, .. }) = (i.src[0], i.src[1]) else {
            let reason = "its sources are not registers".into();
            return m.fault(pc, None, Cause::Unsupported { name: "SHFL_IDX4", reason });
        };
        let table: [u32; 16] = std::array::from_fn(|k| m.t.regs.get(offset + 4 * k as u32));
        for k in 0..n {
            out[k] = look_up(&table, b[k], 2 * ty.size());
        }
    }
    if write_general(m, pc, &i.dst, mask, &out[..n]) { pc + 1 } else { STOP }
}

/// `plane`: `p·u + q·v + r`; the plane's coefficients are a scalar region, `v` follows `u`.
fn execute_plane(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask) -> u32 {
    let i = inst(m, pc);
    let n = c.channels as usize;
    let (Src::Reg { offset: p, .. }, Src::Reg { offset: u, .. }) = (i.src[0], i.src[1]) else {
        return m.fault(
            pc,
            None,
            Cause::Unsupported { name: "PLANE", reason: "its sources are not registers".into() },
        );
    };
    let coefficient = |k: u32| m.t.regs.get::<f32>(p + 4 * k);
    let (a, b, d) = (coefficient(0), coefficient(1), coefficient(3));
    let mut r = [0f32; 32];
    let mode: FpMode = m.t.mode;
    let end = m.t.regs.len();
    for (k, r) in r.iter_mut().enumerate().take(n) {
        // `u` and `v` alternate by eight channels.
        let at = u + (k as u32 / 8 * 64) + (k as u32 % 8 * 4);
        if at + 36 > end {
            break;
        }
        let (u, v) = (m.t.regs.get::<f32>(at), m.t.regs.get::<f32>(at + 32));
        *r = Float::pln(a, b, d, u, v, mode);
    }
    write(m, c, pc, mask, &r)
}

enum Exchanged {
    /// Both threads' registers, the one with the even index first.
    Both(Vec<u8>),
    /// The other thread has not come so far.
    Wait,
    /// The other thread is at another DPASW.
    Apart,
}

/// Gives this thread's part of an operand to the thread it is fused with, and takes that one's.
fn exchange_with_fused_thread(m: &mut Machine<'_>, pc: u32, own: Vec<u8>) -> Exchanged {
    let (me, other) = (m.t.index as usize, m.t.index as usize ^ 1);
    let fused = &mut m.group.fused;
    if fused.len() <= me.max(other) {
        fused.resize_with(me.max(other) + 1, Fused::default);
    }
    let number = m.t.fused + 1;
    let slot = number as usize & 1;
    if fused[me].count < number {
        fused[me].count = number;
        fused[me].operands[slot] = (pc, own.clone());
    }
    if fused[other].count < number {
        return Exchanged::Wait;
    }
    m.t.fused = number;
    let (at, theirs) = &fused[other].operands[slot];
    if *at != pc {
        return Exchanged::Apart;
    }
    let (first, second) = if me & 1 == 0 { (&own, theirs) } else { (theirs, &own) };
    Exchanged::Both([first.as_slice(), second.as_slice()].concat())
}

/// `dpas`; `WIDE`: `dpasw`.
pub(crate) struct DpasK<const WIDE: bool>;

impl<const WIDE: bool> Kernel for DpasK<WIDE> {
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        use envisa_isa::Type;
        let mask = exec_mask(m, c);
        if mask == 0 && !WIDE {
            return pc + 1;
        }
        let i = inst(m, pc);
        let name = match i.op {
            Op::Bdpas => "BDPAS",
            Op::Dpasw => "DPASW",
            _ => "DPAS",
        };
        let wrong =
            |m: &mut Machine<'_>, reason: String| m.fault(pc, None, Cause::Unsupported { name, reason });
        let acc = |t: Type| match t {
            Type::F => Some(Accumulator::F),
            Type::Hf => Some(Accumulator::Hf),
            Type::Bf => Some(Accumulator::Bf),
            Type::D => Some(Accumulator::D),
            Type::Ud => Some(Accumulator::Ud),
            _ => None,
        };
        let Dst::Reg { offset: dst, ty: dst_ty, .. } = i.dst else {
            return pc + 1;
        };
        let acc_ty = match i.src[0] {
            Src::Reg { ty, .. } => ty,
            _ => dst_ty,
        };
        let (Some(d), Some(a)) = (acc(dst_ty), acc(acc_ty)) else {
            return wrong(m, format!("no accumulator of type {}", dst_ty.name()));
        };
        let (Some(w), Some(v)) =
            (Precision::from_code(c.aux as u8), Precision::from_code((c.aux >> 8) as u8))
        else {
            return wrong(m, "a precision code that is not defined".into());
        };
        let shape = Dpas::new(w, v, c.aux >> 16 & 0xff, c.aux >> 24, c.channels as u32, d, a, false);
        let shape = shape.and_then(|s| if i.op == Op::Bdpas { s.scaled() } else { Ok(s) });
        let shape = match shape {
            Ok(s) => s,
            Err(e) => return wrong(m, e.to_string()),
        };
        let bytes = |m: &Machine<'_>, s: &Src, n: usize| match *s {
            Src::Reg { offset, .. } => Some(m.t.regs.slice(offset, n as u32).to_vec()),
            _ => None,
        };
        let acc = bytes(m, &i.src[0], shape.src0_bytes());
        let weights = bytes(m, &i.src[1], shape.src1_bytes()).unwrap_or_default();
        let values = if WIDE {
            let (first, second) = shape.dpasw_registers();
            let own = 32 * if m.t.index & 1 == 0 { first } else { second };
            let own = bytes(m, &i.src[2], own).unwrap_or_default();
            match exchange_with_fused_thread(m, pc, own) {
                Exchanged::Both(values) => values,
                Exchanged::Wait => return m.suspend(pc, Status::Fused),
                Exchanged::Apart => return wrong(m, "the two fused threads are not at one place".into()),
            }
        } else {
            bytes(m, &i.src[2], shape.src2_bytes()).unwrap_or_default()
        };
        let mut out = vec![0u8; shape.dst_bytes()];
        let columns = shape.blocks() * c.channels as usize;
        let scales = match i.op {
            Op::Bdpas => bytes(m, &i.src[3], columns + shape.blocks() * (c.aux >> 24) as usize),
            _ => None,
        };
        let scales = scales.as_ref().map(|s| {
            let (weights, activations) = s.split_at(columns.min(s.len()));
            Scales { weights, activations }
        });
        if let Err(e) = shape.run(&mut out, acc.as_deref(), &weights, &values, scales) {
            return wrong(m, e.to_string());
        }
        let element = d.size();
        let n = c.channels as usize;
        let to = m.t.regs.slice_mut(dst, out.len() as u32);
        if to.len() != out.len() {
            return wrong(m, "its destination ends beyond the register file".into());
        }
        if mask == all_channels(n) {
            to.copy_from_slice(&out);
        } else {
            for (k, (t, o)) in to.chunks_mut(element).zip(out.chunks(element)).enumerate() {
                if mask >> (k % n) & 1 != 0 {
                    t.copy_from_slice(o);
                }
            }
        }
        pc + 1
    }
}

/// The operations that [`OtherK`] alone does.
macro_rules! others {
    () => {
        Op::Madw
            | Op::Bfi
            | Op::Sad2
            | Op::Sad2add
            | Op::Dp4a
            | Op::Fcvt
            | Op::Srnd
            | Op::Pln
            | Op::Dnscl
            | Op::ShflIdx4
            | Op::Line
            | Op::Dp2
            | Op::Dp3
            | Op::Dp4
            | Op::Dph
            | Op::Invm
            | Op::Rsqtm
    };
}
pub(crate) use others;

/// Is the operation one of them?
pub(crate) fn is_other(op: Op) -> bool {
    matches!(op, others!())
}
