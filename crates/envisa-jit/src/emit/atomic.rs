//! Atomics: the lanes one after the other, the lowest first. Those of local memory take no lock, as the threads of a
//! group run on one host thread.

use envisa_lower::Atomic;
use envisa_sem::atomic::AtomicOp;

use super::memory::{PTR, Way, address_form};
use super::per_channel::{Array, PLACE};
use super::*;
use crate::context_layout::site;
use crate::sites::gather_of;

/// The lane's datum, by how many bytes it has: 2, 4, 8.
const DATUM: [Register; 3] = [Register::DX, Register::EDX, Register::RDX];
/// What was there; what compare-and-exchange compares with.
const OLD: [Register; 3] = [Register::AX, Register::EAX, Register::RAX];
/// What it becomes.
const NEW: [Register; 3] = [Register::R10W, Register::R10D, Register::R10];

/// An instruction on words, dwords and quads.
type Sizes = [Code; 3];
const ADD_TO: Sizes = [Code::Add_rm16_r16, Code::Add_rm32_r32, Code::Add_rm64_r64];
const AND_TO: Sizes = [Code::And_rm16_r16, Code::And_rm32_r32, Code::And_rm64_r64];
const OR_TO: Sizes = [Code::Or_rm16_r16, Code::Or_rm32_r32, Code::Or_rm64_r64];
const XOR_TO: Sizes = [Code::Xor_rm16_r16, Code::Xor_rm32_r32, Code::Xor_rm64_r64];
const EXCHANGE_ADD: Sizes = [Code::Xadd_rm16_r16, Code::Xadd_rm32_r32, Code::Xadd_rm64_r64];
const EXCHANGE: Sizes = [Code::Xchg_rm16_r16, Code::Xchg_rm32_r32, Code::Xchg_rm64_r64];
const COMPARE_EXCHANGE: Sizes = [Code::Cmpxchg_rm16_r16, Code::Cmpxchg_rm32_r32, Code::Cmpxchg_rm64_r64];
const COMPARE: Sizes = [Code::Cmp_r16_rm16, Code::Cmp_r32_rm32, Code::Cmp_r64_rm64];
const STORE: Sizes = [Code::Mov_rm16_r16, Code::Mov_rm32_r32, Code::Mov_rm64_r64];
/// Loads what is above a word as zeros.
const LOAD: Sizes = [Code::Movzx_r32_rm16, Code::Mov_r32_rm32, Code::Mov_r64_rm64];

/// Vectors of one lane that an operation on floats has: what was there, and the singles of that; the datum, and the
/// singles; what is compared with, and the singles.
const WAS: [V; 2] = [0, 2];
const GIVEN: [V; 2] = [1, 3];
const WITH: [V; 2] = [4, 5];

/// What an atomic does to one element.
#[derive(Clone, Copy)]
struct One<'a> {
    op: AtomicOp,
    /// The operands' order is that of the LSC's messages.
    lsc: bool,
    /// Words, dwords or quads: which of [`Sizes`].
    size: usize,
    /// Bytes that a lane's datum has in registers.
    slot: u32,
    place: Mem,
    local: bool,
    /// What was there is wanted.
    keeps: bool,
    /// It is collected in registers, of parts of an instruction.
    collects: Option<&'a [Part]>,
}

impl One<'_> {
    /// The register of a datum, a dword at least.
    fn wide(&self, of: [Register; 3]) -> Register {
        of[self.size.max(1)]
    }

    /// How the datum is to be to what is there, as a comparison's number, if the operation is a least or greatest value of
    /// integers that nobody reads: others change nothing, and need not lock the line, which takes as long as to read twenty.
    fn changes_if(&self) -> Option<(bool, u32)> {
        const LESS: u32 = 1;
        const GREATER: u32 = 6;
        match self.op {
            _ if self.keeps || self.local => None,
            AtomicOp::Imin => Some((true, LESS)),
            AtomicOp::Imax => Some((true, GREATER)),
            AtomicOp::Umin => Some((false, LESS)),
            AtomicOp::Umax => Some((false, GREATER)),
            _ => None,
        }
    }

    /// Which array has what is compared with, and which what is stored: the operands' order differs by message.
    fn compared(&self) -> (Array, Array) {
        match (self.lsc, self.op) {
            (true, _) | (false, AtomicOp::FcmpWr) => (Array::First, Array::Second),
            _ => (Array::Second, Array::First),
        }
    }
}

impl Emit<'_> {
    pub(super) fn atomic(&mut self, pc: Pc, i: &Inst, a: &Atomic) -> Result<(), Unsupported> {
        let op = if a.lsc { AtomicOp::from_lsc_subop(a.code) } else { AtomicOp::from_legacy_code(a.code) };
        let op = op.ok_or("an atomic operator that means nothing")?;
        if !matches!((a.element, a.slot), (2 | 4, 4) | (8, 8)) {
            return Err("an atomic on elements of a rare size");
        }
        if op.is_bf() {
            return Err("an atomic on brain floats");
        }
        let s = gather_of(a);
        let form = address_form(self.p, &s)?;
        if !matches!(u32::from(i.channels), 1 | 8 | 16 | 32) {
            return Err("a message of few channels");
        }
        let parts = self.parts(i, 4)?;
        if parts[0].lanes == 1 {
            self.certain(pc)?;
        }
        let (entry, back) = (self.a.label(), self.a.label());
        self.key(pc, i, &s, entry)?;
        let mut ways = Vec::new();
        let mut misses = false;
        let element = u32::from(a.element);
        // Places count from a multiple of the element's size.
        let align = element / form.scale;
        let aligned = self.aligned_already(&s, form, (align, u32::from(i.channels)), entry)?;
        for part in &parts {
            let way = self.way(pc, i, &s, form, part, entry, &mut misses)?;
            if let (Way::Any(v), false) = (way, form.wide) {
                self.outside(pc, i, &s, form, part, v);
            }
            if !aligned {
                self.aligned(pc, part, way, align, entry);
            }
            ways.push(way);
        }
        if misses {
            let [a, b] = [parts.first(), parts.last()].map(|p| 5 + p.map_or(0, |p| p.index as K));
            self.a.kk(Code::VEX_Kortestw_kr_kr, a, b);
            self.a.jump(Code::Jne_rel32_64, entry);
        }
        let pointer = self.site(i, site::POINTER);
        self.a.rm(Code::Mov_r64_rm64, PTR, pointer);
        for (part, way) in parts.iter().zip(&mut ways) {
            self.spread_way(part, way, element / form.scale.min(element));
        }
        // Two halves of dwords are done at once.
        let at_once = if a.slot == 4 { 2 } else { 1 };
        for (parts, ways) in parts.chunks(at_once).zip(ways.chunks(at_once)) {
            self.atomic_parts(pc, parts, ways, form.scale, (op, a))?;
        }
        self.a.bind(back);
        self.later.push(Later::Miss { pc, entry, back });
        Ok(())
    }

    /// Places that are known by the first, as a vector; `step`: from one of a row to the next.
    fn spread_way(&mut self, part: &Part, way: &mut Way, step: u32) {
        let (Way::Same(r) | Way::Row(r, _)) = *way else { return };
        let row = matches!(way, Way::Row(..));
        let (v, w) = (6 + part.index as u8, part.width);
        let codes = SPREAD;
        let low = if r == Register::RAX { Register::EAX } else { Register::EDX };
        self.a.rr(codes[w as usize], vector_register(v, w), low);
        if row {
            let ramp = self.literals(std::array::from_fn(|k| step * k as u32));
            self.a.v3(VPADDD, w, v, v, Opd::Mem(ramp), Lanes::All);
        }
        *way = Way::Any(v);
    }

    fn atomic_parts(
        &mut self,
        pc: Pc,
        parts: &[Part],
        ways: &[Way],
        scale: u32,
        (op, a): (AtomicOp, &Atomic),
    ) -> Result<(), Unsupported> {
        let slot = u32::from(a.slot);
        let lanes = parts[0].lanes;
        let one = One {
            op,
            lsc: a.lsc,
            size: a.element.trailing_zeros() as usize - 1,
            slot,
            place: Mem::indexed(PTR, PLACE[1], scale.min(8), 0),
            local: matches!(a.space, envisa_lower::Space::Slm),
            keeps: a.dst.is_some(),
            collects: (lanes > 1 && slot == 4 && !op.is_float()).then_some(parts),
        };
        // Where a part's dwords begin in the arrays.
        let behind = |part: &Part| if parts.len() > 1 { 4 * part.lane } else { 0 };
        let mut on: Vec<Option<K>> = parts.iter().map(|part| self.transfer_mask(pc, part)).collect();
        for (k, (part, way)) in parts.iter().zip(ways).enumerate() {
            let &Way::Any(v) = way else { return Err("a way") };
            let w = part.width;
            if scale > 8 {
                self.a.v2i(VPSLLD, w, v, Opd::Reg(v), scale.trailing_zeros() - 3, Lanes::All);
            }
            self.lay_out(w, Array::Places.all().plus(behind(part)), v);
            for (src, to) in a.src.iter().zip([Array::First, Array::Second]) {
                let Some(src) = src else { continue };
                if lanes == 1 {
                    let m = self.reg(*src);
                    self.a.rm(LOAD[one.size.max(1)], one.wide(DATUM), m);
                    self.a.mr(STORE[one.size.max(1)], to.all(), one.wide(DATUM));
                    continue;
                }
                for (half, bytes) in data_by_vector(part, slot) {
                    let d = self.data_in(src + slot * part.lane + half, bytes, 0)?;
                    self.lay_out(Width::of(bytes), to.all().plus(behind(part) + half), d);
                    if let Some(changes) = one.changes_if()
                        && (one.size, slot, part.lanes, self.level) == (1, 4, 16, Level::Avx512)
                    {
                        on[k] = Some(self.changing(one.place, part, (v, d), changes, on[k]));
                    }
                }
            }
        }
        let body = |e: &mut Self| {
            e.a.rm(Code::Mov_r32_rm32, PLACE[0], Array::Places.one(4));
            e.one_atomic(&one)
        };
        match *on {
            [low, high] => self.each_of_both([low, high], body)?,
            _ => self.each(&parts[0], on[0], body)?,
        }
        let Some(dst) = a.dst else { return Ok(()) };
        if lanes == 1 {
            self.a.rm(LOAD[one.size.max(1)], one.wide(DATUM), Array::First.all());
            let m = self.reg(dst);
            self.a.mr(STORE[one.size.max(1)], m, one.wide(DATUM));
            return Ok(());
        }
        for (part, on) in parts.iter().zip(on) {
            for (half, bytes) in data_by_vector(part, slot) {
                let to = dst + slot * part.lane + half;
                let v = match one.collects {
                    Some(parts) => self.collected(parts, part),
                    None => {
                        let from = Opd::Mem(Array::First.all().plus(behind(part) + half));
                        self.a.v2(VMOVDQU32, Width::of(bytes), 0, from, Lanes::All);
                        0
                    }
                };
                let k = self.load_lanes(pc, to, on);
                if slot == 8 {
                    let k = self.mask_of_eight(k, half / 64);
                    let sub = Part { lanes: 8, bytes: 8, width: Width::Z, ..*part };
                    self.store_part(to, v, 8, &sub, k)?;
                } else {
                    self.store_part(to, v, 4, part, k)?;
                }
            }
        }
        Ok(())
    }

    /// The lanes of a part whose data are to what is at their places as `changes` says.
    fn changing(
        &mut self,
        place: Mem,
        part: &Part,
        (places, data): (V, V),
        (signed, relation): (bool, u32),
        on: Option<K>,
    ) -> K {
        /// What is there; the first vector may be the data's.
        const THERE: V = 1;
        let found = 6 + part.index as K % 2;
        self.lanes_of(part, on);
        self.a.v3(VPXORD, Width::Z, THERE, THERE, Opd::Reg(THERE), Lanes::All);
        self.a.gather(VPGATHERDD, Width::Z, THERE, place, places, 5);
        let compare = if signed { VPCMPD } else { VPCMPUD };
        self.a.vcmp(compare, Width::Z, found, data, Opd::Reg(THERE), relation, on);
        found
    }

    /// Reads, changes and writes the element at a place; what the message returns goes to the first array.
    fn one_atomic(&mut self, one: &One<'_>) -> Result<(), Unsupported> {
        use AtomicOp as A;
        let (size, place, locks) = (one.size, one.place, !one.local);
        let (datum, old, new) = (DATUM[size], OLD[size], NEW[size]);
        match one.op {
            A::Add | A::Sub | A::Inc | A::Dec | A::PreDec => {
                match one.op {
                    A::Inc => self.number(one, 1),
                    A::Dec | A::PreDec => self.number(one, -1),
                    _ => self.datum(one, Array::First, DATUM),
                }
                if one.op == A::Sub {
                    let neg = if size == 2 { Code::Neg_rm64 } else { Code::Neg_rm32 };
                    self.a.r(neg, one.wide(DATUM));
                }
                match (one.local, one.keeps) {
                    (_, false) => self.locked(ADD_TO[size], place, datum, locks),
                    (true, true) => {
                        self.a.rm(LOAD[size], one.wide(OLD), place);
                        self.a.rr(add_code(size), one.wide(DATUM), one.wide(OLD));
                        self.a.mr(STORE[size], place, datum);
                    }
                    (false, true) => {
                        self.locked(EXCHANGE_ADD[size], place, datum, true);
                        self.a.rr(LOAD[size], one.wide(OLD), datum);
                    }
                }
                if one.op == A::PreDec && one.keeps {
                    // It returns what is there now.
                    self.number(one, -1);
                    self.a.rr(add_code(size), one.wide(OLD), one.wide(DATUM));
                    if size == 0 {
                        self.a.rr(Code::Movzx_r32_rm16, Register::EAX, Register::AX);
                    }
                }
            }
            A::And | A::Or | A::Xor if !one.keeps => {
                self.datum(one, Array::First, DATUM);
                let code = match one.op {
                    A::And => AND_TO,
                    A::Or => OR_TO,
                    _ => XOR_TO,
                };
                self.locked(code[size], place, datum, locks);
            }
            A::Xchg => {
                self.datum(one, Array::First, DATUM);
                self.a.mr(EXCHANGE[size], place, datum);
                self.a.rr(LOAD[size], one.wide(OLD), datum);
            }
            A::Load => self.a.rm(LOAD[size], one.wide(OLD), place),
            A::CmpXchg => {
                let (compare, to) = one.compared();
                self.datum(one, compare, OLD);
                self.datum(one, to, NEW);
                if size == 0 {
                    self.a.rr(Code::Movzx_r32_rm16, Register::EAX, Register::AX);
                }
                self.locked(COMPARE_EXCHANGE[size], place, new, locks);
            }
            _ => {
                let float = one.op.is_float();
                if float {
                    self.float_operands(one);
                } else {
                    self.datum(one, Array::First, DATUM);
                }
                self.a.rm(LOAD[size], one.wide(OLD), place);
                let (again, done) = (self.a.label(), self.a.label());
                self.a.bind(again);
                if let Some((signed, relation)) = one.changes_if() {
                    let leave = match (signed, relation) {
                        (true, 1) => Code::Jle_rel32_64,
                        (true, _) => Code::Jge_rel32_64,
                        (false, 1) => Code::Jbe_rel32_64,
                        (false, _) => Code::Jae_rel32_64,
                    };
                    self.a.rr(COMPARE[size], old, datum);
                    self.a.jump(leave, done);
                    self.a.rr(LOAD[size.max(1)], one.wide(NEW), one.wide(DATUM));
                } else if float {
                    self.changed_float(one);
                } else {
                    self.changed(one, (datum, old));
                }
                self.locked(COMPARE_EXCHANGE[size], place, new, locks);
                self.a.jump(Code::Jne_rel32_64, again);
                self.a.bind(done);
            }
        }
        if one.keeps {
            match one.collects {
                Some(parts) => self.collect(parts, one.wide(OLD)),
                None => self.a.mr(STORE[size.max(1)], Array::First.one(one.slot), one.wide(OLD)),
            }
        }
        Ok(())
    }

    /// A lane's datum from an array to a register, all of its slot.
    fn datum(&mut self, one: &One<'_>, from: Array, to: [Register; 3]) {
        self.a.rm(LOAD[one.size.max(1)], one.wide(to), from.one(one.slot));
    }

    fn number(&mut self, one: &One<'_>, n: i32) {
        let code = if one.size == 2 { Code::Mov_rm64_imm32 } else { Code::Mov_r32_imm32 };
        self.a.ri(code, one.wide(DATUM), n);
    }

    /// `NEW = op(OLD, DATUM)`, of integers.
    fn changed(&mut self, one: &One<'_>, (datum, old): (Register, Register)) {
        use AtomicOp as A;
        let quads = one.size == 2;
        let pick = |dword: Code, quad: Code| if quads { quad } else { dword };
        let [new, was] = [one.wide(NEW), one.wide(OLD)];
        self.a.rr(pick(Code::Mov_r32_rm32, Code::Mov_r64_rm64), new, one.wide(DATUM));
        let take = match one.op {
            A::And => return self.a.rr(pick(Code::And_r32_rm32, Code::And_r64_rm64), new, was),
            A::Or => return self.a.rr(pick(Code::Or_r32_rm32, Code::Or_r64_rm64), new, was),
            A::Xor => return self.a.rr(pick(Code::Xor_r32_rm32, Code::Xor_r64_rm64), new, was),
            A::Umin => pick(Code::Cmovb_r32_rm32, Code::Cmovb_r64_rm64),
            A::Umax => pick(Code::Cmova_r32_rm32, Code::Cmova_r64_rm64),
            A::Imin => pick(Code::Cmovl_r32_rm32, Code::Cmovl_r64_rm64),
            _ => pick(Code::Cmovg_r32_rm32, Code::Cmovg_r64_rm64),
        };
        self.a.rr(COMPARE[one.size], old, datum);
        self.a.rr(take, new, was);
    }

    /// The operands of an operation on floats, in vectors.
    fn float_operands(&mut self, one: &One<'_>) {
        let (compare, datum) = match one.op {
            AtomicOp::FcmpWr => one.compared(),
            _ => (Array::Second, Array::First),
        };
        if one.op == AtomicOp::FcmpWr {
            self.datum(one, compare, DATUM);
            self.single(one, DATUM, WITH);
        }
        self.datum(one, datum, DATUM);
        if one.op == AtomicOp::Fsub {
            // What is subtracted is what is added, negated, also if it is NaN.
            let code = if one.size == 2 { Code::Btc_rm64_imm8 } else { Code::Btc_rm32_imm8 };
            self.a.ri(code, one.wide(DATUM), (16 << one.size) - 1);
        }
        self.single(one, DATUM, GIVEN);
    }

    /// A float to a vector; of halves the single, too.
    fn single(&mut self, one: &One<'_>, from: [Register; 3], to: [V; 2]) {
        let code = if one.size == 2 { Code::EVEX_Vmovq_xmm_rm64 } else { Code::EVEX_Vmovd_xmm_rm32 };
        self.a.rr(code, vector_register(to[0], Width::X), one.wide(from));
        if one.size == 0 {
            self.a.v2(VCVTPH2PS, Width::X, to[1], Opd::Reg(to[0]), Lanes::All);
        }
    }

    /// `NEW = op(OLD, DATUM)`, of floats: denormals are kept and sums round to nearest even, whatever the mode.
    fn changed_float(&mut self, one: &One<'_>) {
        use AtomicOp as A;
        const K5: K = 5;
        const K6: K = 6;
        let w = Width::X;
        self.single(one, OLD, WAS);
        // What is computed with.
        let [was, given, with] = [WAS, GIVEN, WITH].map(|v| v[usize::from(one.size == 0)]);
        let (cmp, copy) = if one.size == 2 { (VCMPPD, VMOVDQU64) } else { (VCMPPS, VMOVDQU32) };
        match one.op {
            A::Fadd | A::Fsub => {
                let add = if one.size == 2 { VADDPD } else { VADDPS };
                self.a.v3(add, w, WAS[0], was, Opd::Reg(given), Lanes::All);
                if one.size == 0 {
                    self.a.cvt_half(w, WAS[0], WAS[0], 0);
                }
            }
            A::FcmpWr => {
                self.a.vcmp(cmp, w, K5, was, Opd::Reg(with), 0, None);
                self.a.v2(copy, w, WAS[0], Opd::Reg(GIVEN[0]), Lanes::Of(K5));
            }
            op => {
                // The datum where it is beyond, or a number and what was there is none.
                self.a.vcmp(cmp, w, K5, was, Opd::Reg(was), 3, None);
                self.a.vcmp(cmp, w, K5, given, Opd::Reg(given), 7, Some(K5));
                let beyond = if op == A::Fmin { 0x11 } else { 0x1e };
                self.a.vcmp(cmp, w, K6, given, Opd::Reg(was), beyond, None);
                self.a.kkk(Code::VEX_Korw_kr_kr_kr, K5, K5, K6);
                self.a.v2(copy, w, WAS[0], Opd::Reg(GIVEN[0]), Lanes::Of(K5));
            }
        }
        let code = if one.size == 2 { Code::EVEX_Vmovq_rm64_xmm } else { Code::EVEX_Vmovd_rm32_xmm };
        self.a.rr(code, one.wide(NEW), vector_register(WAS[0], w));
    }

    fn locked(&mut self, code: Code, m: Mem, r: Register, lock: bool) {
        let i = iced_x86::Instruction::with2(code, m.operand(false), r).map(|mut i| {
            i.set_has_lock_prefix(lock);
            i
        });
        self.a.push(i);
    }
}

/// A sum of registers.
fn add_code(size: usize) -> Code {
    if size == 2 { Code::Add_r64_rm64 } else { Code::Add_r32_rm32 }
}

/// A part's data by vector: where, from its first byte on, and how many bytes.
fn data_by_vector(part: &Part, slot: u32) -> impl Iterator<Item = (u32, u32)> + use<> {
    let bytes = slot * part.lanes;
    (0..bytes.div_ceil(64)).map(move |h| (64 * h, bytes.min(64)))
}
