//! Memory of the guest, lane by lane.

use iced_x86::{Code, FlowControl, IcedError, Instruction, Register, RflagsBits};

use super::step_list::{LOAD, O, Reg, STORE, half_register, mask_quarter_register};
use super::vector::{Lanes, number};
use super::*;
use crate::asm::K;
use crate::context_layout::at;

/// Elements narrower than dwords, by a mask.
#[derive(Clone, Copy, Debug)]
pub(super) struct Masked {
    pub k: K,
    pub w: usize,
    /// Bytes.
    pub element: u32,
}

/// Dwords of the context, one a lane: two arrays.
const FIRST: Mem = Mem { base: CTX, index: Register::None, scale: 1, disp: at::LANES as i64 };
const SECOND: Mem = Mem { base: CTX, index: Register::None, scale: 1, disp: at::LANES as i64 + 64 };
/// The bits of the mask, a datum, a place.
const BITS: Register = Register::R11D;
const DATUM: [Register; 4] = [Register::R14L, Register::R14W, Register::R14D, Register::R14];
const PLACE: Register = Register::R15;

impl Narrow<'_> {
    fn raw(&mut self, i: Result<Instruction, IcedError>) {
        match i {
            Ok(i) => self.list.raw(i),
            Err(e) => {
                self.list.failed.get_or_insert(e);
            }
        }
    }

    fn raw_rm(&mut self, code: Code, r: Register, m: Mem) {
        self.raw(Instruction::with2(code, r, m.operand(false)));
    }

    fn raw_mr(&mut self, code: Code, m: Mem, r: Register) {
        self.raw(Instruction::with2(code, m.operand(false), r));
    }

    fn raw_jump(&mut self, code: Code, to: u32) {
        self.raw(Instruction::with_branch(code, u64::from(to) + 1));
    }

    /// Does something for each lane of those whose bits are in `BITS`.
    fn each_bit(&mut self, lanes: u32, mut body: impl FnMut(&mut Self, u32)) {
        for lane in 0..lanes {
            let over = self.fresh();
            self.raw(Instruction::with2(Code::Bt_rm32_imm8, BITS, lane));
            self.raw_jump(Code::Jae_rel32_64, over);
            body(self, lane);
            self.label(over);
        }
    }

    /// Goes on at the label that it gives if all lanes are in the mask, whose bits are in `BITS`.
    fn if_all(&mut self, k: K, w: usize) -> (u32, u32) {
        let all = self.fresh();
        self.gather_bits(BITS, k, Self::halves(w));
        let lanes = 8 * Self::halves(w);
        self.raw(Instruction::with2(Code::Cmp_rm32_imm32, BITS, (1i32 << lanes) - 1));
        self.raw_jump(Code::Je_rel32_64, all);
        (all, lanes)
    }

    /// Elements of bytes or words of the lanes of a mask, made dwords; the others are anything.
    pub(super) fn narrow_elements(&mut self, m: Mem, of: Masked, code: Code) -> Vec<Reg> {
        let done = self.fresh();
        let (all, lanes) = self.if_all(of.k, of.w);
        let load = if of.element == 2 { Code::Movzx_r32_rm16 } else { Code::Movzx_r32_rm8 };
        self.each_bit(lanes, |n, lane| {
            n.raw_rm(load, DATUM[2], m.plus(of.element * lane));
            n.raw_mr(Code::Mov_rm32_r32, FIRST.plus(4 * lane), DATUM[2]);
        });
        self.raw_jump(Code::Jmp_rel32_64, done);
        self.label(all);
        for h in 0..Self::halves(of.w) {
            let t = self.list.temp();
            self.list.two(code, t, O::M(m.plus(8 * of.element * h)));
            self.list.store(STORE[1], FIRST.plus(32 * h), t);
        }
        self.label(done);
        (0..Self::halves(of.w))
            .map(|h| {
                let t = self.list.temp();
                self.list.two(LOAD[1], t, O::M(FIRST.plus(32 * h)));
                t
            })
            .collect()
    }

    /// Stores bytes or words, which lie side by side in a register, of the lanes of a mask.
    pub(super) fn store_narrow(&mut self, m: Mem, of: Masked, r: Reg, bytes: u32) {
        let done = self.fresh();
        self.list.store(STORE[1], FIRST, r);
        let (all, lanes) = self.if_all(of.k, of.w);
        let (load, store, datum) = match of.element {
            2 => (Code::Movzx_r32_rm16, Code::Mov_rm16_r16, DATUM[1]),
            _ => (Code::Movzx_r32_rm8, Code::Mov_rm8_r8, DATUM[0]),
        };
        self.each_bit(lanes, |n, lane| {
            n.raw_rm(load, DATUM[2], FIRST.plus(of.element * lane));
            n.raw_mr(store, m.plus(of.element * lane), datum);
        });
        self.raw_jump(Code::Jmp_rel32_64, done);
        self.label(all);
        let t = self.list.temp();
        self.list.two(LOAD[usize::from(bytes > 16)], t, O::M(FIRST));
        if self.store_bytes(m, t, bytes).is_err() {
            self.list.failed.get_or_insert_with(|| unreachable!("sizes of narrow elements are few"));
        }
        self.label(done);
    }

    /// Stores a vector, or its lanes of a mask; `next` are the instructions behind.
    pub(super) fn store(
        &mut self,
        i: &Instruction,
        w: usize,
        bytes: u32,
        next: &[Instruction],
    ) -> Result<(), Unsupported> {
        let (m, from) = (memory(i), number(i.op1_register()));
        let k = match Self::lanes(i) {
            Lanes::All => None,
            Lanes::Of(k) | Lanes::Zero(k) => Some(k),
        };
        let whole = w == 2 || (w, bytes) == (1, 4);
        match k.filter(|_| whole && self.given.slow_masked_stores && flags_are_free(next)) {
            Some(k) => self.store_whole_if_all(m, from, k, (w, bytes)),
            None => self.store_halves(m, from, k, (w, bytes)),
        }
        self.written(m, 16 << w);
        Ok(())
    }

    fn store_halves(&mut self, m: Mem, from: V, k: Option<K>, (w, bytes): (usize, u32)) {
        let y = usize::from(w > 0);
        for h in 0..Self::halves(w) {
            let (m, r) = (m.plus(32 * h), half_register(from, h));
            match k.and_then(|k| self.mask(k, bytes, h)) {
                None => self.list.store(STORE[y], m, r),
                Some(mask) => {
                    let code = match bytes {
                        8 => [Code::VEX_Vpmaskmovq_m128_xmm_xmm, Code::VEX_Vpmaskmovq_m256_ymm_ymm][y],
                        _ => [Code::VEX_Vpmaskmovd_m128_xmm_xmm, Code::VEX_Vpmaskmovd_m256_ymm_ymm][y],
                    };
                    self.list.masked_store(code, m, mask, r);
                }
            }
        }
    }

    /// The same, without a mask where it turns out to be that of all lanes.
    fn store_whole_if_all(&mut self, m: Mem, from: V, k: K, of: (usize, u32)) {
        let quarters = if of.1 == 8 { 1 } else { Self::halves(of.0) };
        let mut unknown: Vec<Reg> = (0..quarters).map(|q| mask_quarter_register(k, q)).collect();
        unknown.retain(|r| self.knows(*r) != Some(true));
        let all = match unknown[..] {
            [] => return self.store_halves(m, from, None, of),
            [one] => one,
            [a, b, ..] => {
                let t = self.list.temp();
                self.list.three(Code::VEX_Vpand_ymm_ymm_ymmm256, t, a, O::R(b));
                t
            }
        };
        let (some, done) = (self.fresh(), self.fresh());
        let ones = self.all(!0);
        self.list.test(all, O::M(ones));
        self.raw_jump(Code::Jae_rel32_64, some);
        self.store_halves(m, from, None, of);
        self.raw_jump(Code::Jmp_rel32_64, done);
        // What is known of masks is so on both ways.
        let known = (self.ones, self.zeros);
        for (label, k) in [(some, Some(k)), (done, None)] {
            self.label(label);
            (self.ones, self.zeros) = known;
            if k.is_some() {
                self.store_halves(m, from, k, of);
            }
        }
    }

    /// A gather's operands in registers of the CPU; the result is where the destination's half goes.
    fn gather(&mut self, code: Code, to: Reg, m: Mem, index: Reg, mask: Option<Reg>) {
        let [d, x, k] = std::array::from_fn(|_| self.list.pinned());
        match mask {
            None => {
                self.list.zero(d);
                self.list.ones(k);
            }
            Some(mask) => {
                self.list.copy(d, to);
                self.list.copy(k, mask);
            }
        }
        self.list.copy(x, index);
        self.list.gather(code, d, m, x, k);
        self.list.copy(to, d);
    }

    pub(super) fn gather_dwords(&mut self, i: &Instruction, w: usize) -> Result<(), Unsupported> {
        let (dst, index, k) = (number(i.op0_register()), number(i.memory_index()), i.op_mask().number() as K);
        let m = memory(i);
        let code = match w {
            0 => Code::VEX_Vpgatherdd_xmm_vm32x_xmm,
            _ => Code::VEX_Vpgatherdd_ymm_vm32y_ymm,
        };
        for h in 0..Self::halves(w) {
            let mask = self.mask(k, 4, h);
            self.gather(code, half_register(dst, h), m, half_register(index, h), mask);
        }
        (0..4).for_each(|q| self.no_truths(k, q));
        self.clear(dst, w);
        Ok(())
    }

    /// Eight quads; the indices are a half of a vector.
    pub(super) fn gather_quads(&mut self, i: &Instruction) -> Result<(), Unsupported> {
        if !i.op0_register().is_zmm() {
            return Err("a gather of few elements");
        }
        let (dst, index, k) = (number(i.op0_register()), number(i.memory_index()), i.op_mask().number() as K);
        let m = memory(i);
        let high = self.list.temp();
        self.list.two_i(Code::VEX_Vextracti128_xmmm128_ymm_imm8, high, O::R(half_register(index, 0)), 1);
        for (h, index) in [half_register(index, 0), high].into_iter().enumerate() {
            let mask = self.mask(k, 8, h as u32);
            self.gather(Code::VEX_Vpgatherdq_ymm_vm32x_ymm, half_register(dst, h as u32), m, index, mask);
        }
        (0..4).for_each(|q| self.no_truths(k, q));
        Ok(())
    }

    /// Elements to anywhere, the first lane first.
    pub(super) fn scatter(&mut self, i: &Instruction, w: usize, bytes: u32) -> Result<(), Unsupported> {
        if w == 0 || (bytes == 8 && w != 2) {
            return Err("a scatter of few elements");
        }
        let (index, from, k) =
            (number(i.memory_index()), number(i.op1_register()), i.op_mask().number() as K);
        let m = Mem { index: PLACE, ..memory(i) };
        let lanes = if bytes == 8 { 8 } else { 8 * Self::halves(w) };
        for h in 0..lanes / 8 {
            self.list.store(STORE[1], FIRST.plus(32 * h), half_register(index, h));
        }
        for h in 0..Self::halves(w) {
            self.list.store(STORE[1], SECOND.plus(32 * h), half_register(from, h));
        }
        let (load, store, datum) = match bytes {
            8 => (Code::Mov_r64_rm64, Code::Mov_rm64_r64, DATUM[3]),
            _ => (Code::Mov_r32_rm32, Code::Mov_rm32_r32, DATUM[2]),
        };
        let one = |n: &mut Self, lane: u32| {
            n.raw_rm(Code::Movsxd_r64_rm32, PLACE, FIRST.plus(4 * lane));
            n.raw_rm(load, datum, SECOND.plus(bytes * lane));
            n.raw_mr(store, m, datum);
        };
        if (0..lanes / 8).all(|q| self.knows(mask_quarter_register(k, q)) == Some(true)) {
            (0..lanes).for_each(|lane| one(self, lane));
        } else {
            self.gather_bits(BITS, k, lanes / 8);
            self.each_bit(lanes, one);
        }
        (0..4).for_each(|q| self.no_truths(k, q));
        Ok(())
    }
}

/// Does nothing in the instructions that follow read the flags as they are now?
fn flags_are_free(next: &[Instruction]) -> bool {
    let all = RflagsBits::CF | RflagsBits::ZF | RflagsBits::SF | RflagsBits::OF;
    for i in next {
        if i.rflags_read() & all != 0 {
            return false;
        }
        if i.rflags_modified() & all == all || i.flow_control() != FlowControl::Next {
            break;
        }
    }
    true
}
