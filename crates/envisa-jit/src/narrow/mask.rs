//! Mask registers: truths as dwords of ones or zeros, eight to a vector.

use iced_x86::{Code, Instruction, Register};

use super::step_list::{O, Reg, mask_quarter_register};
use super::*;
use crate::asm::K;

const AND: Code = Code::VEX_Vpand_ymm_ymm_ymmm256;
const ANDN: Code = Code::VEX_Vpandn_ymm_ymm_ymmm256;
const OR: Code = Code::VEX_Vpor_ymm_ymm_ymmm256;
const XOR: Code = Code::VEX_Vpxor_ymm_ymm_ymmm256;
const EQ: Code = Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256;

fn register_bit(r: Reg) -> u32 {
    1 << (r - 64)
}

impl Narrow<'_> {
    fn known(&mut self, r: Reg, value: Option<bool>) {
        self.ones &= !register_bit(r);
        self.zeros &= !register_bit(r);
        match value {
            Some(true) => self.ones |= register_bit(r),
            Some(false) => self.zeros |= register_bit(r),
            None => {}
        }
    }

    pub(super) fn knows(&self, r: Reg) -> Option<bool> {
        match (self.ones & register_bit(r) != 0, self.zeros & register_bit(r) != 0) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    pub(super) fn no_truths(&mut self, k: K, q: u32) {
        let r = mask_quarter_register(k, q);
        self.list.zero(r);
        self.known(r, Some(false));
    }

    fn set(&mut self, to: Reg, from: Reg) {
        let value = self.knows(from);
        match value {
            Some(true) => self.list.ones(to),
            Some(false) => self.list.zero(to),
            None => self.list.copy(to, from),
        }
        self.known(to, value);
    }

    /// An instruction on masks; `None` if it is none. `constant`: a general register that the instruction before gave this
    /// value.
    pub(super) fn masks(
        &mut self,
        i: &Instruction,
        constant: Option<(Register, u32)>,
        next: &[Instruction],
    ) -> Option<()> {
        use Code as C;
        let k = |n: u32| i.op_register(n).number() as K;
        match i.code() {
            C::VEX_Kandw_kr_kr_kr
            | C::VEX_Kandnw_kr_kr_kr
            | C::VEX_Korw_kr_kr_kr
            | C::VEX_Kxorw_kr_kr_kr
            | C::VEX_Kxnorw_kr_kr_kr => self.logic(i.code(), k(0), k(1), k(2)),
            C::VEX_Knotw_kr_kr => {
                let ones = self.all(!0);
                for q in 0..2 {
                    let (to, from) = (mask_quarter_register(k(0), q), mask_quarter_register(k(1), q));
                    let value = self.knows(from).map(|v| !v);
                    self.list.three(XOR, to, from, O::M(ones));
                    self.known(to, value);
                }
                self.upper(k(0));
            }
            C::VEX_Kshiftrw_kr_kr_imm8 | C::VEX_Kshiftrd_kr_kr_imm8 | C::VEX_Kshiftlw_kr_kr_imm8 => {
                self.shifted(i, k(0), k(1));
            }
            C::VEX_Kunpckwd_kr_kr_kr => {
                let from = [
                    mask_quarter_register(k(2), 0),
                    mask_quarter_register(k(2), 1),
                    mask_quarter_register(k(1), 0),
                    mask_quarter_register(k(1), 1),
                ];
                self.quarters(k(0), from.map(Some));
            }
            C::VEX_Kortestw_kr_kr => self.test_of_masks(&[k(0), k(1)], 2, next),
            C::VEX_Kortestb_kr_kr => self.test_of_masks(&[k(0), k(1)], 1, next),
            C::VEX_Kmovw_kr_km16 => self.bits(k(0), memory(i), 2),
            C::VEX_Kmovb_kr_km8 => self.bits(k(0), memory(i), 1),
            C::VEX_Kmovd_kr_km32 => self.bits(k(0), memory(i), 4),
            C::VEX_Kmovw_kr_r32 => match constant.filter(|c| c.0 == i.op1_register()) {
                Some((_, bits)) => self.constant_bits(k(0), bits),
                None => {
                    let (x, t) = (self.list.temp(), self.list.temp());
                    self.list.of_gpr(C::VEX_Vmovd_xmm_rm32, x, i.op1_register());
                    self.list.two(broadcast_code(4), t, O::R(x));
                    self.of_bits(k(0), t, 2);
                }
            },
            C::VEX_Kmovw_r32_kr => self.gather_bits(i.op0_register(), k(1), 2),
            C::VEX_Kmovd_r32_kr => self.gather_bits(i.op0_register(), k(1), 4),
            C::VEX_Kmovw_m16_kr => {
                self.gather_bits(FREE[0], k(1), 2);
                self.put_in_memory(C::Mov_rm16_r16, memory(i), Register::R11W, 2);
            }
            C::VEX_Kmovb_m8_kr => {
                self.gather_bits(FREE[0], k(1), 1);
                self.put_in_memory(C::Mov_rm8_r8, memory(i), Register::R11L, 1);
            }
            C::VEX_Kmovd_m32_kr => {
                self.gather_bits(FREE[0], k(1), 4);
                self.put_in_memory(C::Mov_rm32_r32, memory(i), FREE[0], 4);
            }
            _ => return None,
        }
        Some(())
    }

    fn put_in_memory(&mut self, code: Code, m: Mem, r: Register, bytes: u32) {
        match Instruction::with2(code, m.operand(false), r) {
            Ok(i) => self.list.raw(i),
            Err(e) => {
                self.list.failed.get_or_insert(e);
            }
        }
        self.written(m, bytes);
    }

    /// Nothing is left of the upper half of 32 bits.
    fn upper(&mut self, k: K) {
        self.no_truths(k, 2);
        self.no_truths(k, 3);
    }

    fn logic(&mut self, code: Code, to: K, a: K, b: K) {
        for q in 0..2 {
            let (d, a, b) =
                (mask_quarter_register(to, q), mask_quarter_register(a, q), mask_quarter_register(b, q));
            let (va, vb) = (self.knows(a), self.knows(b));
            match code {
                Code::VEX_Kxorw_kr_kr_kr if a == b => {
                    self.list.zero(d);
                    self.known(d, Some(false));
                }
                Code::VEX_Kxnorw_kr_kr_kr if a == b => {
                    self.list.ones(d);
                    self.known(d, Some(true));
                }
                Code::VEX_Kandw_kr_kr_kr => match (va, vb) {
                    (Some(true), _) => self.set(d, b),
                    (_, Some(true)) => self.set(d, a),
                    (Some(false), _) => self.set(d, a),
                    (_, Some(false)) => self.set(d, b),
                    _ if a == b => self.set(d, a),
                    _ => self.two_of(AND, d, a, b),
                },
                Code::VEX_Kandnw_kr_kr_kr => match (va, vb) {
                    (Some(false), _) => self.set(d, b),
                    (_, Some(false)) => self.set(d, b),
                    _ => self.two_of(ANDN, d, a, b),
                },
                Code::VEX_Korw_kr_kr_kr => match (va, vb) {
                    (Some(false), _) => self.set(d, b),
                    (_, Some(false)) => self.set(d, a),
                    _ if a == b => self.set(d, a),
                    _ => self.two_of(OR, d, a, b),
                },
                Code::VEX_Kxorw_kr_kr_kr => self.two_of(XOR, d, a, b),
                _ => {
                    let (t, ones) = (self.list.temp(), self.all(!0));
                    self.list.three(XOR, t, a, O::R(b));
                    self.list.three(XOR, d, t, O::M(ones));
                    self.known(d, None);
                }
            }
        }
        self.upper(to);
    }

    fn two_of(&mut self, code: Code, d: Reg, a: Reg, b: Reg) {
        self.list.three(code, d, a, O::R(b));
        self.known(d, None);
    }

    /// Sets all quarters of a mask at once, from others or to nothing.
    fn quarters(&mut self, to: K, from: [Option<Reg>; 4]) {
        let mine = |r: Reg| (mask_quarter_register(to, 0)..mask_quarter_register(to, 3) + 1).contains(&r);
        let from = from.map(|r| {
            r.map(|r| {
                let value = self.knows(r);
                if !mine(r) || value.is_some() {
                    return (r, value);
                }
                let t = self.list.temp();
                self.list.copy(t, r);
                (t, None)
            })
        });
        for (q, f) in from.into_iter().enumerate() {
            let d = mask_quarter_register(to, q as u32);
            match f {
                None | Some((_, Some(false))) => {
                    self.list.zero(d);
                    self.known(d, Some(false));
                }
                Some((_, Some(true))) => {
                    self.list.ones(d);
                    self.known(d, Some(true));
                }
                Some((r, None)) => {
                    self.list.copy(d, r);
                    self.known(d, None);
                }
            }
        }
    }

    fn shifted(&mut self, i: &Instruction, to: K, from: K) {
        let by = u32::from(i.immediate8());
        let (right, bits) = match i.code() {
            Code::VEX_Kshiftlw_kr_kr_imm8 => (false, 16),
            Code::VEX_Kshiftrw_kr_kr_imm8 => (true, 16),
            _ => (true, 32),
        };
        if by.is_multiple_of(8) {
            let n = by / 8;
            let all = std::array::from_fn(|q| {
                let q = q as u32;
                let s = if right { q.checked_add(n) } else { q.checked_sub(n) };
                s.filter(|s| *s < bits / 8 && q < bits / 8).map(|s| mask_quarter_register(from, s))
            });
            return self.quarters(to, all);
        }
        // Through a general register.
        self.gather_bits(FREE[0], from, bits / 8);
        let (x, t) = (self.list.temp(), self.list.temp());
        self.list.of_gpr(Code::VEX_Vmovd_xmm_rm32, x, FREE[0]);
        let code = if right { Code::VEX_Vpsrld_xmm_xmm_imm8 } else { Code::VEX_Vpslld_xmm_xmm_imm8 };
        self.list.two_i(code, x, O::R(x), by);
        self.list.two(broadcast_code(4), t, O::R(x));
        self.of_bits(to, t, bits / 8);
    }

    /// Truths of bits in memory.
    fn bits(&mut self, to: K, m: Mem, bytes: u32) {
        let t = self.list.temp();
        self.list.two(broadcast_code(bytes), t, O::M(m));
        self.of_bits(to, t, bytes);
    }

    /// Truths of sixteen bits that are known.
    fn constant_bits(&mut self, to: K, bits: u32) {
        for q in 0..2 {
            let (d, mine) = (mask_quarter_register(to, q), bits >> (8 * q) & 0xff);
            match mine {
                0 => self.list.zero(d),
                0xff => self.list.ones(d),
                _ => {
                    let all = self.literal(std::array::from_fn(|n| 0u32.wrapping_sub(mine >> n & 1)));
                    self.list.two(super::step_list::LOAD[1], d, O::M(all));
                }
            }
            self.known(d, [(0, false), (0xff, true)].into_iter().find(|k| k.0 == mine).map(|k| k.1));
        }
        self.upper(to);
    }

    /// Truths of bits that all dwords of a register have.
    fn of_bits(&mut self, to: K, t: Reg, bytes: u32) {
        for q in 0..4 {
            if q >= bytes {
                self.no_truths(to, q);
                continue;
            }
            let which = self.literal(std::array::from_fn(|k| 1 << (8 * q + k as u32)));
            let (d, u) = (mask_quarter_register(to, q), self.list.temp());
            self.list.three(AND, u, t, O::M(which));
            self.list.three(EQ, d, u, O::M(which));
            self.known(d, None);
        }
    }

    /// The bits of so many quarters of a mask, in a general register. Flags stay.
    pub(super) fn gather_bits(&mut self, to: Register, k: K, quarters: u32) {
        let mut first = true;
        for q in 0..quarters {
            let r = mask_quarter_register(k, q);
            if self.knows(r) == Some(false) && q != 0 {
                continue;
            }
            let part = if first { to } else { FREE[1] };
            self.list.gpr_of(Code::VEX_Vmovmskps_r32_ymm, part, r);
            if !first {
                let turn = Instruction::with3(Code::VEX_Rorx_r32_rm32_imm8, part, part, 32 - 8 * q);
                let m = Mem::indexed(to.full_register(), part.full_register(), 1, 0);
                let add = Instruction::with2(Code::Lea_r32_m, to, m.operand(false));
                for i in [turn, add] {
                    match i {
                        Ok(i) => self.list.raw(i),
                        Err(e) => {
                            self.list.failed.get_or_insert(e);
                        }
                    }
                }
            }
            first = false;
        }
        self.overwritten(to);
    }

    /// Flags: whether any bit is set, and, if that is what is asked, whether all are.
    fn test_of_masks(&mut self, ks: &[K], quarters: u32, next: &[Instruction]) {
        let all = next
            .iter()
            .find(|i| i.is_jcc_short_or_near())
            .is_some_and(|i| matches!(i.code(), Code::Jae_rel32_64 | Code::Jb_rel32_64));
        let mut of: Vec<Reg> = Vec::new();
        for k in ks {
            for q in 0..quarters {
                let r = mask_quarter_register(*k, q);
                let neutral = if all { None } else { Some(false) };
                if !of.contains(&r) && (neutral.is_none() || self.knows(r) != neutral) {
                    of.push(r);
                }
            }
        }
        if all {
            // A bit is in the result if either mask has it.
            let mut joint = None;
            for q in 0..quarters {
                let (a, b) = (mask_quarter_register(ks[0], q), mask_quarter_register(ks[1], q));
                let mut r = a;
                if a != b {
                    r = self.list.temp();
                    self.list.three(OR, r, a, O::R(b));
                }
                joint = Some(match joint {
                    None => r,
                    Some(j) => {
                        let t = self.list.temp();
                        self.list.three(AND, t, j, O::R(r));
                        t
                    }
                });
            }
            let ones = self.all(!0);
            if let Some(j) = joint {
                self.list.test(j, O::M(ones));
            }
            return;
        }
        let Some((first, rest)) = of.split_first() else {
            let r = mask_quarter_register(ks[0], 0);
            return self.list.test(r, O::R(r));
        };
        let mut sum = *first;
        for r in rest {
            let t = self.list.temp();
            self.list.three(OR, t, sum, O::R(*r));
            sum = t;
        }
        self.list.test(sum, O::R(sum));
    }

    /// A compare's result: one half, or two, of dwords or quads.
    pub(super) fn compared(&mut self, to: K, of: Option<K>, w: usize, bytes: u32, halves: [Reg; 2]) {
        let mut got = Vec::new();
        if bytes == 8 {
            got.push(self.packed(w, halves));
        } else {
            got.extend(&halves[..Self::halves(w) as usize]);
        }
        for (q, r) in got.iter().enumerate() {
            let d = mask_quarter_register(to, q as u32);
            match of.map(|k| mask_quarter_register(k, q as u32)) {
                Some(m) if self.knows(m) != Some(true) => self.two_of(AND, d, *r, m),
                _ => {
                    self.list.copy(d, *r);
                    self.known(d, None);
                }
            }
        }
        for q in got.len() as u32..4 {
            self.no_truths(to, q);
        }
    }

    /// Truths of quads, as dwords.
    fn packed(&mut self, w: usize, halves: [Reg; 2]) -> Reg {
        let (t, u) = (self.list.temp(), self.list.temp());
        match w {
            2 => {
                self.list.three_i(
                    Code::VEX_Vshufps_ymm_ymm_ymmm256_imm8,
                    t,
                    halves[0],
                    O::R(halves[1]),
                    0x88,
                );
                self.list.two_i(Code::VEX_Vpermq_ymm_ymmm256_imm8, u, O::R(t), 0xd8);
            }
            1 => {
                self.list.two_i(Code::VEX_Vextracti128_xmmm128_ymm_imm8, t, O::R(halves[0]), 1);
                self.list.three_i(Code::VEX_Vshufps_xmm_xmm_xmmm128_imm8, u, halves[0], O::R(t), 0x88);
            }
            _ => {
                self.list.two_i(Code::VEX_Vpshufd_xmm_xmmm128_imm8, t, O::R(halves[0]), 0x08);
                self.list.two(Code::VEX_Vmovq_xmm_xmmm64, u, O::R(t));
            }
        }
        u
    }
}
