//! DPAS, the systolic multiply-accumulate: `dst = src0 + src2 × src1` on small matrices (pages DPAS, DPASW; BDPAS
//! has no page).
//!
//! With M the repeat count, N the execution size and K the depth times [`Dpas::ops_per_channel`]:
//! `src0` and `dst` are M×N and `src2` (A, the activations) is M×K, row-major; `src1` (B, the weights) is
//! K×N with each column packed into the dwords of its channel: dword `j` of channel `i` is at dword
//! `j·N + i`. Elements narrower than a byte start at the low bits.
//!
//! **Integers.** The sum is exact, then taken modulo 2^32 or, with `.sat`, clamped once to the
//! destination's type. (The hardware's accumulator has 32 bits at every stage; saturation could only
//! differ there if an intermediate sum leaves the range and the final one returns into it.)
//!
//! **Floats.** For each depth in order, the accumulator becomes `acc + (p0 + p1)`, where `p` are the
//! stage's products and `+` rounds to a single, to nearest even, whatever `%cr0` says: the reading of the
//! page's `temp += dot2(…)`. With four products a stage it is `(p0 + p1) + (p2 + p3)`, with one just the
//! product, with eight the sum of both fours. Products of `hf`, `tf32` and 8-bit floats are exact in a single, of `bf` too unless they
//! leave its exponent range. Denormals are kept; which NaN a result is [`crate::nan`] says, a product's weight
//! being its first operand, and a sum's those before `+`. The hardware's internal alignment is not published, so
//! low bits of long sums may differ from a device's. A 16-bit accumulator is widened at the start and
//! rounded once at the end.
//!
//! **Scales** (BDPAS). A block of the inner dimension, 32 elements, has a scale for each row of `src2` and one for
//! each column of `src1`: bytes in E8M0, `s` meaning 2^(s − 127) and 255 NaN. What a stage adds is multiplied by
//! both, exactly, and rounded to a single.

use envisa_isa::systolic::{SCALE_BLOCK, ops_per_channel};

use crate::convert::{bf8_to_hf, f32_to_bf, f32_to_hf, hf8_to_f32};
use crate::float::Float;
use crate::float_mode::{Ieee, Rounding};
use crate::four_bit::e2m1_to_f32;
use crate::lane::{Bf, Hf};

pub use envisa_isa::systolic::Precision;

/// The type of `dst` or `src0`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Accumulator {
    /// Unsigned dword.
    Ud,
    /// Signed dword.
    D,
    /// Single.
    F,
    /// Half, two to a dword.
    Hf,
    /// bfloat16, two to a dword.
    Bf,
}

impl Accumulator {
    /// Bytes an element takes.
    pub const fn size(self) -> usize {
        match self {
            Accumulator::Hf | Accumulator::Bf => 2,
            _ => 4,
        }
    }

    const fn is_int(self) -> bool {
        matches!(self, Accumulator::Ud | Accumulator::D)
    }
}

/// Why a DPAS cannot be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DpasError {
    /// The depth is none of 1, 2, 4, 8.
    Depth(u32),
    /// The repeat count is not 1 to 8.
    Repeat(u32),
    /// The execution size is neither 8 nor 16.
    ExecSize(u32),
    /// The specification's table of types has no such row.
    Types,
    /// An operand has fewer bytes than the instruction touches: which one, and how many it needs.
    Short(&'static str, usize),
}

impl core::fmt::Display for DpasError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            DpasError::Depth(n) => write!(f, "systolic depth {n} is none of 1, 2, 4, 8"),
            DpasError::Repeat(n) => write!(f, "repeat count {n} is not 1 to 8"),
            DpasError::ExecSize(n) => write!(f, "execution size {n} is neither 8 nor 16"),
            DpasError::Types => f.write_str("no DPAS has this combination of types"),
            DpasError::Short(operand, n) => write!(f, "{operand} is shorter than the {n} bytes needed"),
        }
    }
}

impl core::error::Error for DpasError {}

/// A DPAS instruction's shape. Made by [`Dpas::new`], which checks it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dpas {
    weights: Precision,
    activations: Precision,
    depth: usize,
    repeat: usize,
    exec_size: usize,
    dst: Accumulator,
    src0: Accumulator,
    sat: bool,
}

const MAX_N: usize = 16;
const MAX_K: usize = 64;

impl Dpas {
    /// `DPAS.W.A.depth.repeat (exec_size)`: `weights` (W) is the precision of `src1`, `activations` (A) of
    /// `src2`.
    ///
    /// # Errors
    /// A shape or combination of types the page does not list.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        weights: Precision,
        activations: Precision,
        depth: u32,
        repeat: u32,
        exec_size: u32,
        dst: Accumulator,
        src0: Accumulator,
        sat: bool,
    ) -> Result<Dpas, DpasError> {
        use Precision::*;
        if !matches!(depth, 1 | 2 | 4 | 8) {
            return Err(DpasError::Depth(depth));
        }
        if !(1..=8).contains(&repeat) {
            return Err(DpasError::Repeat(repeat));
        }
        if exec_size != 8 && exec_size != 16 {
            return Err(DpasError::ExecSize(exec_size));
        }
        let either = |t: Accumulator| dst == t || dst == Accumulator::F;
        let either0 = |t: Accumulator| src0 == t || src0 == Accumulator::F;
        let single = dst == Accumulator::F && src0 == Accumulator::F;
        let legal = match (weights, activations) {
            (Bf, Bf) => either(Accumulator::Bf) && either0(Accumulator::Bf),
            (Hf, Hf) => either(Accumulator::Hf) && either0(Accumulator::Hf),
            (Tf32, Tf32) => single,
            (Bf8 | Hf8, Bf8 | Hf8) | (E2m1, E2m1) => either(Accumulator::Bf) && either0(Accumulator::Bf),
            (w, a) => w.is_int() && a.is_int() && dst.is_int() && src0.is_int(),
        };
        if !legal {
            return Err(DpasError::Types);
        }
        Ok(Dpas {
            weights,
            activations,
            depth: depth as usize,
            repeat: repeat as usize,
            exec_size: exec_size as usize,
            dst,
            src0,
            sat,
        })
    }

    /// The same with scales.
    ///
    /// # Errors
    /// Integers have none.
    pub fn scaled(self) -> Result<Dpas, DpasError> {
        if self.dst.is_int() || self.weights == Precision::Tf32 { Err(DpasError::Types) } else { Ok(self) }
    }

    /// Blocks of the inner dimension, each with scales of its own.
    pub const fn blocks(&self) -> usize {
        self.k().div_ceil(SCALE_BLOCK as usize)
    }

    /// Products of one channel and one depth.
    pub const fn ops_per_channel(&self) -> usize {
        ops_per_channel(self.weights.bits(), self.activations.bits()) as usize
    }

    const fn k(&self) -> usize {
        self.depth * self.ops_per_channel()
    }

    /// Bytes of `dst`.
    pub const fn dst_bytes(&self) -> usize {
        self.repeat * self.exec_size * self.dst.size()
    }

    /// Bytes of `src0`.
    pub const fn src0_bytes(&self) -> usize {
        self.repeat * self.exec_size * self.src0.size()
    }

    /// Bytes of `src1`: whole rows of one dword a channel.
    pub const fn src1_bytes(&self) -> usize {
        (self.k() * self.weights.bits() as usize).div_ceil(32) * self.exec_size * 4
    }

    /// Bytes of `src2`.
    pub const fn src2_bytes(&self) -> usize {
        (self.repeat * self.k() * self.activations.bits() as usize).div_ceil(8)
    }

    /// For DPASW on registers of 32 bytes: how many of `src2`'s registers come from the first and how many
    /// from the second of the two fused threads, in this order (page DPASW).
    pub const fn dpasw_registers(&self) -> (usize, usize) {
        let n = self.src2_bytes().div_ceil(32);
        (n.div_ceil(2), n / 2)
    }

    /// Computes `dst`; operands are little-endian register bytes. Without `src0` the sums start at zero.
    /// Every source is read before `dst` is written, so callers may pass copies of overlapping registers.
    ///
    /// # Errors
    /// [`DpasError::Short`]; `dst` is then unchanged.
    pub fn run(
        &self,
        dst: &mut [u8],
        src0: Option<&[u8]>,
        src1: &[u8],
        src2: &[u8],
        scales: Option<Scales<'_>>,
    ) -> Result<(), DpasError> {
        let need =
            |name, have: usize, n: usize| if have < n { Err(DpasError::Short(name, n)) } else { Ok(()) };
        need("dst", dst.len(), self.dst_bytes())?;
        if let Some(c) = src0 {
            need("src0", c.len(), self.src0_bytes())?;
        }
        need("src1", src1.len(), self.src1_bytes())?;
        need("src2", src2.len(), self.src2_bytes())?;
        if let Some(s) = scales {
            need("src3", s.weights.len(), self.blocks() * self.exec_size)?;
            need("src4", s.activations.len(), self.blocks() * self.repeat)?;
        }
        if self.dst.is_int() {
            self.run_int(dst, src0, src1, src2);
        } else {
            self.run_float(dst, src0, src1, src2, scales);
        }
        Ok(())
    }

    fn run_int(&self, dst: &mut [u8], src0: Option<&[u8]>, src1: &[u8], src2: &[u8]) {
        let (n, k) = (self.exec_size, self.k());
        let mut b = [[0i32; MAX_N]; MAX_K];
        for (e, row) in b[..k].iter_mut().enumerate() {
            for (i, x) in row[..n].iter_mut().enumerate() {
                *x = column_element(self.weights, src1, n, i, e);
            }
        }
        for r in 0..self.repeat {
            // At most 64 products of 16 bits: exact in 32.
            let mut sum = [0i32; MAX_N];
            for (e, row) in b[..k].iter().enumerate() {
                let a = int_element(self.activations, src2, r * k + e);
                for (s, x) in sum.iter_mut().zip(row) {
                    *s += a * x;
                }
            }
            for (i, s) in sum[..n].iter().enumerate() {
                let at = r * n + i;
                let start = match (src0, self.src0) {
                    (None, _) => 0,
                    (Some(c), Accumulator::D) => u32_at(c, at) as i32 as i64,
                    (Some(c), _) => u32_at(c, at) as i64,
                };
                let exact = start + *s as i64;
                let x = match (self.sat, self.dst) {
                    (false, _) => exact as u32,
                    (true, Accumulator::D) => exact.clamp(i32::MIN as i64, i32::MAX as i64) as u32,
                    (true, _) => exact.clamp(0, u32::MAX as i64) as u32,
                };
                dst[4 * at..4 * at + 4].copy_from_slice(&x.to_le_bytes());
            }
        }
    }

    fn run_float(
        &self,
        dst: &mut [u8],
        src0: Option<&[u8]>,
        src1: &[u8],
        src2: &[u8],
        scales: Option<Scales<'_>>,
    ) {
        let (n, k) = (self.exec_size, self.k());
        let mut b = [[0f32; MAX_N]; MAX_K];
        for (e, row) in b[..k].iter_mut().enumerate() {
            let per_dword = (32 / self.weights.bits()) as usize;
            for (i, x) in row[..n].iter_mut().enumerate() {
                let at = (e / per_dword * n + i) * per_dword + e % per_dword;
                *x = float_element(self.weights, src1, at);
            }
        }
        for r in 0..self.repeat {
            let mut acc = [0f32; MAX_N];
            if let Some(c) = src0 {
                for (i, s) in acc[..n].iter_mut().enumerate() {
                    *s = match self.src0 {
                        Accumulator::Hf => Hf(u16_at(c, r * n + i)).into(),
                        Accumulator::Bf => Bf(u16_at(c, r * n + i)).into(),
                        _ => f32::from_bits(u32_at(c, r * n + i)),
                    };
                }
            }
            let row = Row { r, src2, scales, weights: &b };
            let mut out = self.row::<false>(&row, acc);
            // The host may have taken another of several NaNs.
            if out.iter().any(|x| x.is_nan()) {
                out = self.row::<true>(&row, acc);
            }
            let near = Rounding::NearestEven;
            for (i, &s) in out[..n].iter().enumerate() {
                let at = r * n + i;
                match self.dst {
                    Accumulator::Hf => put16(dst, at, f32_to_hf(s, near).0),
                    Accumulator::Bf => put16(dst, at, f32_to_bf(s, near).0),
                    _ => dst[4 * at..4 * at + 4].copy_from_slice(&s.to_le_bytes()),
                }
            }
        }
    }

    /// The sums of a row that begins with `acc`. `NANS`: which NaN comes out is as it has to be.
    fn row<const NANS: bool>(&self, row: &Row<'_>, mut acc: [f32; MAX_N]) -> [f32; MAX_N] {
        let (n, k, ops) = (self.exec_size, self.k(), self.ops_per_channel());
        let &Row { r, src2, scales, weights: b } = row;
        for d in 0..self.depth {
            let a = |j: usize| float_element(self.activations, src2, r * k + d * ops + j);
            let row = |j: usize| &b[d * ops + j];
            let four = |at: usize| {
                let (x, y) = ([0, 1, 2, 3].map(|j| a(at + j)), [0, 1, 2, 3].map(|j| row(at + j)));
                move |i: usize| {
                    let p = |j: usize| product::<NANS>(y[j][i], x[j]);
                    sum::<NANS>(sum::<NANS>(p(0), p(1)), sum::<NANS>(p(2), p(3)))
                }
            };
            let mut stage = [0f32; MAX_N];
            match ops {
                1 => {
                    let (a0, b0) = (a(0), row(0));
                    for i in 0..MAX_N {
                        stage[i] = product::<NANS>(b0[i], a0);
                    }
                }
                2 => {
                    let (a0, a1, b0, b1) = (a(0), a(1), row(0), row(1));
                    for i in 0..MAX_N {
                        stage[i] = sum::<NANS>(product::<NANS>(b0[i], a0), product::<NANS>(b1[i], a1));
                    }
                }
                4 => {
                    let all = four(0);
                    for (i, s) in stage.iter_mut().enumerate() {
                        *s = all(i);
                    }
                }
                _ => {
                    let (first, second) = (four(0), four(4));
                    for (i, s) in stage.iter_mut().enumerate() {
                        *s = sum::<NANS>(first(i), second(i));
                    }
                }
            }
            if let Some(scales) = scales {
                let block = d * ops / SCALE_BLOCK as usize;
                let row = scales.activations[block * self.repeat + r];
                for (s, column) in stage.iter_mut().zip(&scales.weights[block * n..][..n]) {
                    *s = scale(*s, *column, row);
                }
            }
            for i in 0..MAX_N {
                acc[i] = sum::<NANS>(acc[i], stage[i]);
            }
        }
        acc
    }
}

/// What a row of a result on floats is made of.
struct Row<'a> {
    r: usize,
    src2: &'a [u8],
    scales: Option<Scales<'a>>,
    weights: &'a [[f32; MAX_N]; MAX_K],
}

/// The scales of BDPAS: of each block in turn, those of its columns or rows.
#[derive(Clone, Copy, Debug)]
pub struct Scales<'a> {
    /// A byte for each column of `src1`.
    pub weights: &'a [u8],
    /// A byte for each row of `src2`.
    pub activations: &'a [u8],
}

#[inline(always)]
fn product<const NANS: bool>(weight: f32, activation: f32) -> f32 {
    if NANS { Float::mul(weight, activation, Ieee) } else { weight * activation }
}

#[inline(always)]
fn sum<const NANS: bool>(a: f32, b: f32) -> f32 {
    if NANS { Float::add(a, b, Ieee) } else { a + b }
}

/// A single times two scales, rounded once.
fn scale(x: f32, a: u8, b: u8) -> f32 {
    if a == 255 || b == 255 {
        return f32::NAN;
    }
    // 2^-254 to 2^254: normal doubles, and so is every single times one of them.
    let factor = f64::from_bits((1023 - 254 + a as u64 + b as u64) << 52);
    (x as f64 * factor) as f32
}

fn u32_at(bytes: &[u8], i: usize) -> u32 {
    u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]])
}

fn u16_at(bytes: &[u8], i: usize) -> u16 {
    u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]])
}

fn put16(bytes: &mut [u8], i: usize, x: u16) {
    bytes[2 * i..2 * i + 2].copy_from_slice(&x.to_le_bytes());
}

/// Element `e` of the column of channel `i` in `src1`.
fn column_element(p: Precision, bytes: &[u8], n: usize, i: usize, e: usize) -> i32 {
    let per_dword = (32 / p.bits()) as usize;
    int_element(p, bytes, (e / per_dword * n + i) * per_dword + e % per_dword)
}

/// Element `e` of a run of integers of at most 8 bits.
fn int_element(p: Precision, bytes: &[u8], e: usize) -> i32 {
    let bits = p.bits();
    let at = e * bits as usize;
    let x = (bytes[at / 8] as u32) >> (at % 8);
    let high = x << (32 - bits);
    if p.is_signed() { high as i32 >> (32 - bits) } else { (high >> (32 - bits)) as i32 }
}

/// Element `e` of a run of floats.
fn float_element(p: Precision, bytes: &[u8], e: usize) -> f32 {
    match p {
        Precision::Bf => Bf(u16_at(bytes, e)).into(),
        Precision::Hf => Hf(u16_at(bytes, e)).into(),
        Precision::Bf8 => bf8_to_hf(bytes[e]).into(),
        Precision::Hf8 => hf8_to_f32(bytes[e]),
        Precision::E2m1 => e2m1_to_f32(bytes[e / 2] >> (4 * (e & 1))),
        // Integers have their own path.
        _ => f32::from_bits(u32_at(bytes, e) & !0x1fff),
    }
}
