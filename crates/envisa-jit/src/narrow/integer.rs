//! What AVX2 lacks: compares, rotations, counts, products and extremes of integers, conversions of numbers without sign.

use iced_x86::{Code, Instruction, OpKind};

use super::step_list::{O, Reg, half_register};
use super::vector::number;
use super::*;
use crate::asm::K;
use crate::vector_encodings::Name;

const AND: Code = Code::VEX_Vpand_ymm_ymm_ymmm256;
const ANDN: Code = Code::VEX_Vpandn_ymm_ymm_ymmm256;
const OR: Code = Code::VEX_Vpor_ymm_ymm_ymmm256;
const XOR: Code = Code::VEX_Vpxor_ymm_ymm_ymmm256;
const SLL: Code = Code::VEX_Vpslld_ymm_ymm_imm8;
const SRL: Code = Code::VEX_Vpsrld_ymm_ymm_imm8;
const SRA: Code = Code::VEX_Vpsrad_ymm_ymm_imm8;
const SLLQ: Code = Code::VEX_Vpsllq_ymm_ymm_imm8;
const SRLQ: Code = Code::VEX_Vpsrlq_ymm_ymm_imm8;
/// How elements of a size are compared: by equality, by which is the greater one if they have signs, by the lesser and the
/// greater of both without signs and with them.
struct Compares {
    eq: Code,
    gt: Code,
    unsigned: [Code; 2],
    with_sign: [Code; 2],
}

const BYTES: Compares = Compares {
    eq: Code::VEX_Vpcmpeqb_ymm_ymm_ymmm256,
    gt: Code::VEX_Vpcmpgtb_ymm_ymm_ymmm256,
    unsigned: [Code::VEX_Vpminub_ymm_ymm_ymmm256, Code::VEX_Vpmaxub_ymm_ymm_ymmm256],
    with_sign: [Code::VEX_Vpminsb_ymm_ymm_ymmm256, Code::VEX_Vpmaxsb_ymm_ymm_ymmm256],
};
const WORDS: Compares = Compares {
    eq: Code::VEX_Vpcmpeqw_ymm_ymm_ymmm256,
    gt: Code::VEX_Vpcmpgtw_ymm_ymm_ymmm256,
    unsigned: [Code::VEX_Vpminuw_ymm_ymm_ymmm256, Code::VEX_Vpmaxuw_ymm_ymm_ymmm256],
    with_sign: [Code::VEX_Vpminsw_ymm_ymm_ymmm256, Code::VEX_Vpmaxsw_ymm_ymm_ymmm256],
};
const DWORDS: Compares = Compares {
    eq: Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256,
    gt: Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256,
    unsigned: [Code::VEX_Vpminud_ymm_ymm_ymmm256, Code::VEX_Vpmaxud_ymm_ymm_ymmm256],
    with_sign: [Code::VEX_Vpminsd_ymm_ymm_ymmm256, Code::VEX_Vpmaxsd_ymm_ymm_ymmm256],
};
const GTQ: Code = Code::VEX_Vpcmpgtq_ymm_ymm_ymmm256;
/// The sign of quads.
const TOP: u64 = 1 << 63;

impl Narrow<'_> {
    fn op(&mut self, code: Code, a: Reg, b: O) -> Reg {
        let t = self.list.temp();
        self.list.three(code, t, a, b);
        t
    }

    fn by(&mut self, code: Code, a: Reg, imm: u32) -> Reg {
        let t = self.list.temp();
        self.list.two_i(code, t, O::R(a), imm);
        t
    }

    fn one_of(&mut self, code: Code, a: Reg) -> Reg {
        let t = self.list.temp();
        self.list.two(code, t, O::R(a));
        t
    }

    pub(super) fn compare_floats(
        &mut self,
        i: &Instruction,
        w: usize,
        name: Name,
    ) -> Result<(), Unsupported> {
        let (codes, bytes) = match name {
            Name::VCMPPS => {
                ([Code::VEX_Vcmpps_xmm_xmm_xmmm128_imm8, Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8], 4)
            }
            _ => ([Code::VEX_Vcmppd_xmm_xmm_xmmm128_imm8, Code::VEX_Vcmppd_ymm_ymm_ymmm256_imm8], 8),
        };
        let imm = u32::from(i.immediate8());
        self.compare(i, w, bytes, |n, t, a, b| {
            n.list.three_i(codes[usize::from(w > 0)], t, a, b, imm);
        })
    }

    /// Compares halves; the result is a mask.
    fn compare(
        &mut self,
        i: &Instruction,
        w: usize,
        bytes: u32,
        mut make: impl FnMut(&mut Self, Reg, Reg, O),
    ) -> Result<(), Unsupported> {
        let (k, a) = (i.op0_register().number() as K, number(i.op1_register()));
        let b = self.src(i, 2, bytes);
        let of = match i.op_mask() {
            iced_x86::Register::None => None,
            m => Some(m.number() as K),
        };
        let mut halves = [0; 2];
        for h in 0..Self::halves(w) {
            let t = self.list.temp();
            let b =
                if w == 0 && i.op2_kind() == OpKind::Memory { O::R(self.loaded(b, h, w)) } else { b.half(h) };
            make(self, t, half_register(a, h), b);
            if w == 0 {
                // Nothing is true behind sixteen bytes.
                self.list.two(super::step_list::LOAD[0], t, O::R(t));
            }
            halves[h as usize] = t;
        }
        self.compared(k, of, w, bytes, halves);
        Ok(())
    }

    pub(super) fn compare_ints(&mut self, i: &Instruction, w: usize, name: Name) -> Result<(), Unsupported> {
        let (bytes, signed) = match name {
            Name::VPCMPD => (4, true),
            Name::VPCMPUD => (4, false),
            Name::VPCMPQ => (8, true),
            _ => (8, false),
        };
        let how = i.immediate8() & 7;
        self.compare(i, w, bytes, |n, t, a, b| match bytes {
            4 => n.compare_dwords(t, a, b, how, signed),
            _ => n.compare_quads(t, a, b, how, signed),
        })
    }

    fn not(&mut self, t: Reg, a: Reg) {
        let ones = self.all(!0);
        self.list.three(XOR, t, a, O::M(ones));
    }

    fn compare_dwords(&mut self, t: Reg, a: Reg, b: O, how: u8, signed: bool) {
        self.compare_elements(t, a, b, how, signed, &DWORDS);
    }

    /// A compare of bytes or words, which the emitter only makes to spread its truths over elements of the same size right
    /// behind it: it leaves these there, and no mask.
    pub(super) fn compare_narrow(
        &mut self,
        i: &Instruction,
        w: usize,
        name: Name,
        next: &[Instruction],
    ) -> Result<(), Unsupported> {
        let (elements, signed, spread) = match name {
            Name::VPCMPB => (&BYTES, true, Name::VPMOVM2B),
            Name::VPCMPUB => (&BYTES, false, Name::VPMOVM2B),
            Name::VPCMPW => (&WORDS, true, Name::VPMOVM2W),
            _ => (&WORDS, false, Name::VPMOVM2W),
        };
        let to = next.first().filter(|n| {
            crate::vector_encodings::name(n.code()) == Some((spread, w))
                && n.op1_register() == i.op0_register()
        });
        let Some(to) = to.filter(|_| i.op_mask() == iced_x86::Register::None) else {
            return Err("truths of bytes or words in a mask");
        };
        let (dst, a, how) = (number(to.op0_register()), number(i.op1_register()), i.immediate8() & 7);
        let b = self.src(i, 2, 0);
        for h in 0..Self::halves(w) {
            let t = self.list.temp();
            let b = if w == 0 { O::R(self.loaded(b, h, w)) } else { b.half(h) };
            self.compare_elements(t, half_register(a, h), b, how, signed, elements);
            self.list.copy(half_register(dst, h), t);
        }
        self.clear(dst, w);
        Ok(())
    }

    /// Truths of elements, in these: `how` as the CPU has it for integers.
    fn compare_elements(&mut self, t: Reg, a: Reg, b: O, how: u8, signed: bool, elements: &Compares) {
        let Compares { eq, gt, unsigned, with_sign } = *elements;
        let [min, max] = if signed { with_sign } else { unsigned };
        match (how, signed) {
            (0, _) => self.list.three(eq, t, a, b),
            (4, _) => {
                let u = self.op(eq, a, b);
                self.not(t, u);
            }
            (1, true) => {
                let b = self.list.in_reg(b);
                self.list.three(gt, t, b, O::R(a));
            }
            (6, true) => self.list.three(gt, t, a, b),
            // At most: the lesser of both is the first.
            (2 | 6, _) => {
                let u = self.op(min, a, b);
                let v = if how == 2 { t } else { self.list.temp() };
                self.list.three(eq, v, u, O::R(a));
                if how == 6 {
                    self.not(t, v);
                }
            }
            _ => {
                let u = self.op(max, a, b);
                let v = if how == 5 { t } else { self.list.temp() };
                self.list.three(eq, v, u, O::R(a));
                if how == 1 {
                    self.not(t, v);
                }
            }
        }
    }

    fn compare_quads(&mut self, t: Reg, a: Reg, b: O, how: u8, signed: bool) {
        let eq = Code::VEX_Vpcmpeqq_ymm_ymm_ymmm256;
        if how == 0 {
            return self.list.three(eq, t, a, b);
        }
        if how == 4 {
            let u = self.op(eq, a, b);
            return self.not(t, u);
        }
        let b = self.list.in_reg(b);
        let (a, b) = if signed { (a, b) } else { (self.flipped(a), self.flipped(b)) };
        let (x, y) = if matches!(how, 1 | 5) { (b, a) } else { (a, b) };
        if matches!(how, 1 | 6) {
            return self.list.three(GTQ, t, x, O::R(y));
        }
        let u = self.op(GTQ, x, O::R(y));
        self.not(t, u);
    }

    /// Quads with the other sign.
    fn flipped(&mut self, a: Reg) -> Reg {
        let top = self.quads(TOP);
        self.op(XOR, a, O::M(top))
    }

    /// Computes half after half by registers.
    fn each(
        &mut self,
        i: &Instruction,
        w: usize,
        (last, bytes): (u32, u32),
        mut make: impl FnMut(&mut Self, Reg, Reg, Reg),
    ) -> Result<(), Unsupported> {
        let dst = number(i.op0_register());
        let lanes = Self::lanes(i);
        let b = self.src(i, last, bytes);
        for h in 0..Self::halves(w) {
            let b = self.loaded(b, h, w);
            let a = if last == 2 { half_register(number(i.op1_register()), h) } else { b };
            self.put((dst, lanes, bytes, h), |n, to| make(n, to, a, b));
        }
        self.clear(dst, w);
        Ok(())
    }

    pub(super) fn integer(&mut self, i: &Instruction, w: usize, name: Name) -> Result<(), Unsupported> {
        use Name as N;
        let imm = || u32::from(i.immediate8());
        match name {
            N::VPROLD => self.each(i, w, (1, 4), |n, to, a, _| n.rotate(to, a, imm() & 31)),
            N::VPRORD => self.each(i, w, (1, 4), |n, to, a, _| n.rotate(to, a, (32 - (imm() & 31)) & 31)),
            N::VPROLQ => self.each(i, w, (1, 8), |n, to, a, _| n.rotate_quads(to, a, imm() & 63)),
            N::VPRORQ => {
                self.each(i, w, (1, 8), |n, to, a, _| n.rotate_quads(to, a, (64 - (imm() & 63)) & 63))
            }
            N::VPROLVD => self.each(i, w, (2, 4), |n, to, a, b| n.rotate_by(to, a, b, true)),
            N::VPRORVD => self.each(i, w, (2, 4), |n, to, a, b| n.rotate_by(to, a, b, false)),
            N::VPROLVQ => self.each(i, w, (2, 8), |n, to, a, b| n.rotate_quads_by(to, a, b, true)),
            N::VPRORVQ => self.each(i, w, (2, 8), |n, to, a, b| n.rotate_quads_by(to, a, b, false)),
            N::VCVTQQ2PD => self.each(i, w, (1, 8), |n, to, a, _| n.double_of_quad(to, a, true)),
            N::VCVTUQQ2PD => self.each(i, w, (1, 8), |n, to, a, _| n.double_of_quad(to, a, false)),
            N::VPSRAQ => self.each(i, w, (1, 8), |n, to, a, _| {
                let m = n.sign(a);
                let x = n.op(XOR, a, O::R(m));
                let y = n.by(SRLQ, x, imm());
                n.list.three(XOR, to, y, O::R(m));
            }),
            N::VPSRAVQ => self.each(i, w, (2, 8), |n, to, a, b| {
                let m = n.sign(a);
                let x = n.op(XOR, a, O::R(m));
                let y = n.op(Code::VEX_Vpsrlvq_ymm_ymm_ymmm256, x, O::R(b));
                n.list.three(XOR, to, y, O::R(m));
            }),
            N::VPABSQ => self.each(i, w, (1, 8), |n, to, a, _| {
                let m = n.sign(a);
                let x = n.op(XOR, a, O::R(m));
                n.list.three(Code::VEX_Vpsubq_ymm_ymm_ymmm256, to, x, O::R(m));
            }),
            N::VPMULLQ => self.each(i, w, (2, 8), |n, to, a, b| {
                let swapped = n.list.temp();
                n.list.two_i(Code::VEX_Vpshufd_ymm_ymmm256_imm8, swapped, O::R(b), 0xb1);
                let cross = n.op(Code::VEX_Vpmulld_ymm_ymm_ymmm256, a, O::R(swapped));
                let high = n.by(SRLQ, cross, 32);
                let sum = n.op(Code::VEX_Vpaddd_ymm_ymm_ymmm256, cross, O::R(high));
                let up = n.by(SLLQ, sum, 32);
                let low = n.op(Code::VEX_Vpmuludq_ymm_ymm_ymmm256, a, O::R(b));
                n.list.three(Code::VEX_Vpaddq_ymm_ymm_ymmm256, to, low, O::R(up));
            }),
            N::VPMINSQ | N::VPMAXSQ | N::VPMINUQ | N::VPMAXUQ => self.each(i, w, (2, 8), |n, to, a, b| {
                let signed = matches!(name, N::VPMINSQ | N::VPMAXSQ);
                let (x, y) = if signed { (a, b) } else { (n.flipped(a), n.flipped(b)) };
                let more = n.op(GTQ, x, O::R(y));
                let (no, yes) = if matches!(name, N::VPMINSQ | N::VPMINUQ) { (a, b) } else { (b, a) };
                n.list.blend(to, no, O::R(yes), more);
            }),
            N::VPLZCNTD => self.each(i, w, (1, 4), |n, to, a, _| n.leading_zeros(to, a)),
            N::VCVTUDQ2PS => self.each(i, w, (1, 4), |n, to, a, _| n.float_of_unsigned(to, a)),
            N::VCVTTPS2UDQ => self.each(i, w, (1, 4), |n, to, a, _| n.unsigned_of_float(to, a)),
            N::VCVTUDQ2PD => self.unsigned_to_double(i, w),
            _ => Err("no way to do it with AVX2"),
        }
    }

    /// All ones where a quad is negative.
    fn sign(&mut self, a: Reg) -> Reg {
        let z = self.list.temp();
        self.list.zero(z);
        self.op(GTQ, z, O::R(a))
    }

    /// To the left.
    fn rotate(&mut self, to: Reg, a: Reg, by: u32) {
        match by {
            0 => self.list.copy(to, a),
            8 | 16 | 24 => {
                let byte = |k: u32, b: u32| 4 * (k % 4) + (b + 4 - by / 8) % 4;
                let pick =
                    std::array::from_fn(|k| (0..4).fold(0, |all, b| all | byte(k as u32, b) << (8 * b)));
                let pick = self.literal(pick);
                self.list.three(Code::VEX_Vpshufb_ymm_ymm_ymmm256, to, a, O::M(pick));
            }
            by => {
                let (x, y) = (self.by(SLL, a, by), self.by(SRL, a, 32 - by));
                self.list.three(OR, to, x, O::R(y));
            }
        }
    }

    fn rotate_quads(&mut self, to: Reg, a: Reg, by: u32) {
        match by {
            0 => self.list.copy(to, a),
            32 => self.list.two_i(Code::VEX_Vpshufd_ymm_ymmm256_imm8, to, O::R(a), 0xb1),
            by => {
                let (x, y) = (self.by(SLLQ, a, by), self.by(SRLQ, a, 64 - by));
                self.list.three(OR, to, x, O::R(y));
            }
        }
    }

    fn rotate_by(&mut self, to: Reg, a: Reg, b: Reg, left: bool) {
        let (low, all) = (self.all(31), self.all(32));
        let count = self.op(AND, b, O::M(low));
        let whole = self.list.in_reg(O::M(all));
        let rest = self.op(Code::VEX_Vpsubd_ymm_ymm_ymmm256, whole, O::R(count));
        let (l, r) = if left { (count, rest) } else { (rest, count) };
        // A count of 32 leaves nothing.
        let x = self.op(Code::VEX_Vpsllvd_ymm_ymm_ymmm256, a, O::R(l));
        let y = self.op(Code::VEX_Vpsrlvd_ymm_ymm_ymmm256, a, O::R(r));
        self.list.three(OR, to, x, O::R(y));
    }

    fn rotate_quads_by(&mut self, to: Reg, a: Reg, b: Reg, left: bool) {
        let (low, all) = (self.quads(63), self.quads(64));
        let count = self.op(AND, b, O::M(low));
        let whole = self.list.in_reg(O::M(all));
        let rest = self.op(Code::VEX_Vpsubq_ymm_ymm_ymmm256, whole, O::R(count));
        let (l, r) = if left { (count, rest) } else { (rest, count) };
        // A count of 64 leaves nothing.
        let x = self.op(Code::VEX_Vpsllvq_ymm_ymm_ymmm256, a, O::R(l));
        let y = self.op(Code::VEX_Vpsrlvq_ymm_ymm_ymmm256, a, O::R(r));
        self.list.three(OR, to, x, O::R(y));
    }

    /// Quads as doubles: both halves are exact, the upper one 2^52 less, and their sum is rounded once.
    fn double_of_quad(&mut self, to: Reg, a: Reg, signed: bool) {
        let low = self.quads(0xffff_ffff);
        let base = self.quads(0x4330_0000_0000_0000);
        // 2^84, with the sign the other way round; and with what both are too much.
        let (upper, both) = match signed {
            true => (0x4530_0000_8000_0000, 0x4530_0000_8010_0000),
            false => (0x4530_0000_0000_0000, 0x4530_0000_0010_0000),
        };
        let (upper, both) = (self.quads(upper), self.quads(both));
        let high = self.by(SRLQ, a, 32);
        let high = self.op(XOR, high, O::M(upper));
        let high = self.op(Code::VEX_Vsubpd_ymm_ymm_ymmm256, high, O::M(both));
        let low = self.op(AND, a, O::M(low));
        let low = self.op(OR, low, O::M(base));
        let sum = self.op(Code::VEX_Vaddpd_ymm_ymm_ymmm256, high, O::R(low));
        // Rounded down, the sum of opposites would have a sign.
        let zero = self.list.temp();
        self.list.zero(zero);
        let is_zero = self.op(Code::VEX_Vpcmpeqq_ymm_ymm_ymmm256, a, O::R(zero));
        self.list.three(ANDN, to, is_zero, O::R(sum));
    }

    fn leading_zeros(&mut self, to: Reg, a: Reg) {
        // Without a bit right below the first, so that no rounding comes to the next power of two, the exponent says
        // where the first bit is; of numbers that are taken to be negative it is more than any other's.
        let below = self.by(SRL, a, 1);
        let top = self.op(ANDN, below, O::R(a));
        let float = self.one_of(Code::VEX_Vcvtdq2ps_ymm_ymmm256, top);
        let exponent = self.by(SRL, float, 23);
        let (most, all, zeros) = (self.all(127 + 31), self.all(32), self.list.temp());
        let most = self.list.in_reg(O::M(most));
        let n = self.op(Code::VEX_Vpsubd_ymm_ymm_ymmm256, most, O::R(exponent));
        self.list.zero(zeros);
        let n = self.op(Code::VEX_Vpmaxsd_ymm_ymm_ymmm256, n, O::R(zeros));
        // Zero has no exponent.
        self.list.three(Code::VEX_Vpminsd_ymm_ymm_ymmm256, to, n, O::M(all));
    }

    /// Dwords without sign as singles: both halves are exact, and their sum is rounded once.
    fn float_of_unsigned(&mut self, to: Reg, a: Reg) {
        let low = self.all(0xffff);
        let [low_base, high_base, both] = [0x4b00_0000, 0x5300_0000, 0x5300_0080].map(|x| self.all(x));
        let low = self.op(AND, a, O::M(low));
        let low = self.op(OR, low, O::M(low_base));
        let high = self.by(SRL, a, 16);
        let high = self.op(OR, high, O::M(high_base));
        let high = self.op(Code::VEX_Vsubps_ymm_ymm_ymmm256, high, O::M(both));
        self.list.three(Code::VEX_Vaddps_ymm_ymm_ymmm256, to, low, O::R(high));
    }

    /// Singles, none of them below zero, as dwords without sign; those too large as all ones.
    fn unsigned_of_float(&mut self, to: Reg, a: Reg) {
        let (half, whole) = (self.all(0x4f00_0000), self.all(0x4f80_0000));
        let convert = Code::VEX_Vcvttps2dq_ymm_ymmm256;
        let small = self.one_of(convert, a);
        let less = self.op(Code::VEX_Vsubps_ymm_ymm_ymmm256, a, O::M(half));
        let large = self.one_of(convert, less);
        let is_large = self.by(SRA, small, 31);
        let large = self.op(AND, large, O::R(is_large));
        let t = self.op(OR, small, O::R(large));
        let over = self.list.temp();
        // Not below 2^32.
        self.list.three_i(Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8, over, a, O::M(whole), 5);
        self.list.three(OR, to, t, O::R(over));
    }

    fn unsigned_to_double(&mut self, i: &Instruction, w: usize) -> Result<(), Unsupported> {
        Self::whole(i)?;
        let dst = number(i.op0_register());
        let wide = self.widened(i, w, Code::VEX_Vpmovzxdq_ymm_xmmm128, 16)?;
        let base = self.quads(0x4330_0000_0000_0000);
        for (h, r) in wide.into_iter().enumerate() {
            let t = self.op(OR, r, O::M(base));
            self.list.three(Code::VEX_Vsubpd_ymm_ymm_ymmm256, half_register(dst, h as u32), t, O::M(base));
        }
        self.clear(dst, w);
        Ok(())
    }

    /// Adds sums of four products of bytes, those of the first source without sign.
    pub(super) fn products(&mut self, i: &Instruction, w: usize) -> Result<(), Unsupported> {
        let (dst, a) = (number(i.op0_register()), number(i.op1_register()));
        let lanes = Self::lanes(i);
        let b = self.src(i, 2, 4);
        for h in 0..Self::halves(w) {
            let b = self.loaded(b, h, w);
            self.put((dst, lanes, 4, h), |n, to| {
                let a = half_register(a, h);
                let low = n.all(0x00ff_00ff);
                let multiply = Code::VEX_Vpmaddwd_ymm_ymm_ymmm256;
                let even_a = n.op(AND, a, O::M(low));
                let odd_a = n.by(Code::VEX_Vpsrlw_ymm_ymm_imm8, a, 8);
                let even_b = n.by(Code::VEX_Vpsllw_ymm_ymm_imm8, b, 8);
                let even_b = n.by(Code::VEX_Vpsraw_ymm_ymm_imm8, even_b, 8);
                let odd_b = n.by(Code::VEX_Vpsraw_ymm_ymm_imm8, b, 8);
                let even = n.op(multiply, even_a, O::R(even_b));
                let odd = n.op(multiply, odd_a, O::R(odd_b));
                let sum = n.op(Code::VEX_Vpaddd_ymm_ymm_ymmm256, even, O::R(odd));
                n.list.three(Code::VEX_Vpaddd_ymm_ymm_ymmm256, to, sum, O::R(half_register(dst, h)));
            });
        }
        self.clear(dst, w);
        Ok(())
    }
}
