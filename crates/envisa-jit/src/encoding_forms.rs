//! Instructions as bytes, most of them by a form that their encoding has.
//!
//! Where registers, places in memory and immediates go is the same for all instructions of an encoding: it is learnt from
//! what the encoder crate makes of one of them, and of the same one with other registers. What has no form, which is
//! rare, the crate encodes every time.

use std::sync::atomic::{AtomicU64, Ordering};

use iced_x86::{Encoder, IcedError, Instruction, OpKind, Register, RoundingControl};

/// More than x86 has encodings.
pub(crate) const CODES: usize = 5000;
/// Most bytes that an instruction has, rounded up.
pub(crate) const MOST: usize = 16;

/// By encoding, times three: with registers, with memory, with an element of it for all lanes.
static FORMS: [AtomicU64; 3 * CODES] = [const { AtomicU64::new(0) }; 3 * CODES];

/// Where an operand's register goes: three bits each in a form.
const NOWHERE: u8 = 0;
const REG: u8 = 1;
const RM: u8 = 2;
const VVVV: u8 = 3;
const IMMEDIATE: u8 = 4;
const OPCODE: u8 = 5;

/// Of an encoding that has no form.
const NONE: u64 = 1;

/// How the instructions of an encoding are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Form {
    kind: Kind,
    /// Where the registers of the operands go.
    to: [u8; 4],
    opcode: u8,
    map: u8,
    /// The mandatory prefix, as VEX numbers them.
    prefix: u8,
    w: bool,
    /// The length of vectors.
    l: u8,
    /// What is in the place of a register of the second byte.
    digit: u8,
    modrm: bool,
    /// Bytes of the immediate, as a power of two, from 1 on; 0 without one.
    immediate: u8,
    /// What short displacements are multiplied by, as a power of two.
    scaled: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Kind {
    #[default]
    Legacy,
    Vex,
    Evex,
}

impl Form {
    fn pack(self) -> u64 {
        let to = self.to.iter().rev().fold(0, |all, t| all << 3 | u64::from(*t));
        let fields = [
            (self.kind as u64 + 1, 2),
            (to, 12),
            (self.opcode.into(), 8),
            (self.map.into(), 3),
            (self.prefix.into(), 2),
            (self.w.into(), 1),
            (self.l.into(), 2),
            (self.digit.into(), 3),
            (self.modrm.into(), 1),
            (self.immediate.into(), 3),
            (self.scaled.into(), 3),
        ];
        // The lowest bit is that of those that have none.
        fields.iter().rev().fold(0, |all, (x, n)| all << n | x) << 1
    }

    #[inline]
    fn unpack(mut bits: u64) -> Form {
        let mut next = |n: u32| {
            let x = bits & ((1 << n) - 1);
            bits >>= n;
            x as u16
        };
        next(1);
        let kind = match next(2) {
            1 => Kind::Legacy,
            2 => Kind::Vex,
            _ => Kind::Evex,
        };
        let to = next(12);
        Form {
            kind,
            to: [to, to >> 3, to >> 6, to >> 9].map(|t| t as u8 & 7),
            opcode: next(8) as u8,
            map: next(3) as u8,
            prefix: next(2) as u8,
            w: next(1) != 0,
            l: next(2) as u8,
            digit: next(3) as u8,
            modrm: next(1) != 0,
            immediate: next(3) as u8,
            scaled: next(3) as u8,
        }
    }
}

/// The numbers of registers that have them in forms, by register.
static NUMBERS: [u8; 256] = {
    let mut all = [NO_NUMBER; 256];
    let mut k = 0;
    while k < 32 {
        if k < 8 {
            all[Register::K0 as usize + k] = k as u8;
        }
        if k < 16 {
            all[Register::AX as usize + k] = k as u8;
            all[Register::EAX as usize + k] = k as u8;
            all[Register::RAX as usize + k] = k as u8;
        }
        all[Register::XMM0 as usize + k] = k as u8;
        all[Register::YMM0 as usize + k] = k as u8;
        all[Register::ZMM0 as usize + k] = k as u8;
        k += 1;
    }
    all
};
const NO_NUMBER: u8 = 0xff;

#[inline]
fn number(r: Register) -> u8 {
    NUMBERS[r as usize & 255]
}

/// Writes instructions.
pub(crate) struct Writer {
    crate_own: Encoder,
}

impl Writer {
    /// # Errors
    /// Those of the crate.
    pub fn new() -> Result<Writer, IcedError> {
        Ok(Writer { crate_own: Encoder::try_with_capacity(64, MOST)? })
    }

    /// Writes an instruction, which is no branch, and tells how many bytes it has.
    ///
    /// # Errors
    /// It cannot be encoded.
    #[inline]
    pub fn write(&mut self, i: &Instruction, to: &mut [u8; MOST]) -> Result<usize, IcedError> {
        if i.rounding_control() != RoundingControl::None {
            return self.put_by_crate(i, to);
        }
        let memory = match memory_operand(i) {
            false => 0,
            true if i.is_broadcast() => 2,
            true => 1,
        };
        let form = &FORMS[3 * i.code() as usize + memory];
        let mut bits = form.load(Ordering::Relaxed);
        if bits == 0 {
            bits = self.learn(i).map_or(NONE, Form::pack);
            form.store(bits, Ordering::Relaxed);
        }
        let n = match bits & NONE {
            0 => encode_by_form(i, Form::unpack(bits), memory != 0, to),
            _ => None,
        };
        match n {
            Some(n) => {
                debug_assert!(self.by_crate(i).is_ok_and(|b| b == to[..n]), "{i:?}");
                Ok(n)
            }
            None => self.put_by_crate(i, to),
        }
    }

    fn put_by_crate(&mut self, i: &Instruction, to: &mut [u8; MOST]) -> Result<usize, IcedError> {
        let bytes = self.by_crate(i)?;
        to[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn by_crate(&mut self, i: &Instruction) -> Result<Vec<u8>, IcedError> {
        let done = self.crate_own.encode(i, 0);
        // Also what it wrote before it found a mistake.
        let bytes = self.crate_own.take_buffer();
        done.map(|_| bytes)
    }

    /// The form of an instruction's encoding, if it has one.
    fn learn(&mut self, i: &Instruction) -> Option<Form> {
        let mut plain = *i;
        let mut memory = false;
        let (mut immediate, mut bytes) = (0, 0);
        for k in 0..i.op_count() {
            match i.op_kind(k) {
                OpKind::Register => plain.set_op_register(k, register_with_number(i.op_register(k), 0)?),
                OpKind::Memory => memory = true,
                OpKind::Immediate8 | OpKind::Immediate8to32 | OpKind::Immediate8to64 => {
                    (immediate, bytes) = (1, 1);
                }
                OpKind::Immediate32 | OpKind::Immediate32to64 => (immediate, bytes) = (3, 4),
                OpKind::Immediate64 => (immediate, bytes) = (4, 8),
                _ => return None,
            }
        }
        if memory {
            plain.set_memory_base(Register::RAX);
            if number(i.memory_index()) != NO_NUMBER {
                plain.set_memory_index(register_with_number(i.memory_index(), 0)?);
            }
            plain.set_memory_displ_size(1);
            // All factors divide it, and give something that is short.
            plain.set_memory_displacement64(64);
        }
        let code = self.by_crate(&plain).ok()?;
        let mut form = Form { immediate, ..Form::default() };
        let at = form.head(&code)?;
        for k in 0..i.op_count() {
            if i.op_kind(k) != OpKind::Register {
                continue;
            }
            let mut second = plain;
            second.set_op_register(k, register_with_number(i.op_register(k), 1)?);
            let changed = self.by_crate(&second).ok()?;
            *form.to.get_mut(k as usize)? = register_position(&code, &changed, at)?;
        }
        form.modrm = memory || form.to.contains(&RM) || form.to.contains(&REG);
        if form.to.contains(&IMMEDIATE) {
            if immediate != 0 {
                return None;
            }
            (form.immediate, bytes) = (1, 1);
        }
        if form.to.contains(&OPCODE) {
            form.opcode &= !7;
        }
        if form.modrm && !form.to.contains(&REG) {
            form.digit = code.get(at + 1)? >> 3 & 7;
        }
        if memory {
            let sib = usize::from(code.get(at + 1)? & 7 == 4);
            // With a prefix that is none of those in forms, it is something else.
            let short = *code.get(at + 2 + sib)?;
            if !short.is_power_of_two() || short > 64 {
                return None;
            }
            form.scaled = 6 - short.trailing_zeros() as u8;
        }
        // It has to be right for what it was learnt from.
        let mut own = [0; MOST];
        let n = encode_by_form(i, form, memory, &mut own)?;
        let other = encode_by_form(&plain, form, memory, &mut [0; MOST])?;
        let right =
            self.by_crate(i).is_ok_and(|b| b == own[..n]) && other == code.len() && n >= at + 1 + bytes;
        right.then_some(form)
    }
}

impl Form {
    /// Takes what comes before the opcode, and that; where it is.
    fn head(&mut self, code: &[u8]) -> Option<usize> {
        let at = match *code.first()? {
            0x62 => {
                self.kind = Kind::Evex;
                self.map = code[1] & 7;
                (self.w, self.prefix) = (code[2] & 0x80 != 0, code[2] & 3);
                self.l = code[3] >> 5 & 3;
                4
            }
            0xc5 => {
                (self.kind, self.map) = (Kind::Vex, 1);
                (self.prefix, self.l) = (code[1] & 3, code[1] >> 2 & 1);
                2
            }
            0xc4 => {
                (self.kind, self.map) = (Kind::Vex, code[1] & 0x1f);
                (self.w, self.prefix, self.l) = (code[2] & 0x80 != 0, code[2] & 3, code[2] >> 2 & 1);
                3
            }
            first => {
                let mut at = 0;
                if let Some(p) = PREFIXES.iter().position(|p| *p == first) {
                    (self.prefix, at) = (p as u8 + 1, 1);
                }
                if code.get(at)? & 0xf0 == 0x40 {
                    self.w = code[at] & 8 != 0;
                    at += 1;
                }
                if *code.get(at)? == 0x0f {
                    (self.map, at) = (1, at + 1);
                    match code.get(at)? {
                        0x38 => (self.map, at) = (2, at + 1),
                        0x3a => (self.map, at) = (3, at + 1),
                        _ => {}
                    }
                }
                at
            }
        };
        self.opcode = *code.get(at)?;
        Some(at)
    }
}

/// As VEX numbers them, from 1 on.
const PREFIXES: [u8; 3] = [0x66, 0xf3, 0xf2];

/// The register of the same kind that has this number.
fn register_with_number(r: Register, n: u32) -> Option<Register> {
    let k = number(r);
    (k != NO_NUMBER).then(|| r - u32::from(k) + n)
}

/// Where a register goes that is the first of its kind and then the second; `at`: where the opcode is.
fn register_position(first: &[u8], second: &[u8], at: usize) -> Option<u8> {
    if first.len() != second.len() {
        return None;
    }
    let mut differ = (0..first.len()).filter(|k| first[*k] != second[*k]);
    let (k, None) = (differ.next()?, differ.next()) else { return None };
    let bits = first[k] ^ second[k];
    let vex = match first[0] {
        0x62 => Some(2),
        0xc4 | 0xc5 => Some(at - 1),
        _ => None,
    };
    match bits {
        8 if Some(k) == vex => Some(VVVV),
        1 if k == at => Some(OPCODE),
        8 if k == at + 1 => Some(REG),
        1 if k == at + 1 => Some(RM),
        16 if vex.is_some() && k + 1 == first.len() => Some(IMMEDIATE),
        _ => None,
    }
}

#[inline]
fn memory_operand(i: &Instruction) -> bool {
    i.op0_kind() == OpKind::Memory || i.op1_kind() == OpKind::Memory || i.op2_kind() == OpKind::Memory
}

/// Bytes in the making.
struct Bytes<'a> {
    all: &'a mut [u8; MOST],
    n: usize,
}

impl Bytes<'_> {
    #[inline]
    fn put(&mut self, b: u8) {
        self.all[self.n % MOST] = b;
        self.n += 1;
    }

    #[inline]
    fn put32(&mut self, x: u32) {
        x.to_le_bytes().into_iter().for_each(|b| self.put(b));
    }
}

/// A place in memory as an instruction names it.
struct Place {
    base: u8,
    index: u8,
    /// The byte behind the second, if there is one.
    sib: Option<u8>,
    /// The uppermost bits of the second byte, and the displacement.
    how: u8,
    displacement: i32,
}

/// The place that an instruction names; `None` for those that need other ways.
#[inline]
fn memory_place(i: &Instruction, scaled: u8) -> Option<Place> {
    let base = i.memory_base();
    let index = i.memory_index();
    let displacement = i32::try_from(i.memory_displacement64() as i64).ok()?;
    if !(Register::RAX..=Register::R15).contains(&base) {
        return None;
    }
    let b = number(base);
    let short = displacement >> scaled;
    let (how, displacement) = match i.memory_displ_size() {
        0 if displacement != 0 => return None,
        0 if b & 7 != 5 => (0, 0),
        0 | 1 if short << scaled == displacement && i8::try_from(short).is_ok() => (0x40, short),
        1 => (0x80, displacement),
        _ => return None,
    };
    let factor = i.memory_index_scale().trailing_zeros() as u8;
    let (index, x) = match index {
        Register::None => (0, 4),
        index => (number(index), number(index) & 7),
    };
    let sib = (i.memory_index() != Register::None || b & 7 == 4 || factor != 0)
        .then_some(factor << 6 | x << 3 | b & 7);
    Some(Place { base: b, index, sib, how, displacement })
}

/// An instruction by a form of its encoding: how many bytes it has.
#[inline]
fn encode_by_form(i: &Instruction, form: Form, memory: bool, to: &mut [u8; MOST]) -> Option<usize> {
    let place = if memory { Some(memory_place(i, form.scaled)?) } else { None };
    let mut numbers = [0u8; 6];
    numbers[REG as usize] = form.digit;
    for (k, to) in form.to.into_iter().enumerate().filter(|t| t.1 != NOWHERE) {
        numbers[usize::from(to) % 6] = number(i.op_register(k as u32));
    }
    let [_, reg, mut rm, vvvv, upper, low] = numbers;
    let mut index = 0;
    if let Some(p) = &place {
        (rm, index) = (p.base, p.index);
    }
    let mut b = Bytes { all: to, n: 0 };
    match form.kind {
        Kind::Legacy => {
            if i.has_lock_prefix() {
                return None;
            }
            if let Some(p) = usize::from(form.prefix).checked_sub(1) {
                b.put(PREFIXES[p % 3]);
            }
            let rex = u8::from(form.w) << 3 | (reg >> 3) << 2 | (index >> 3) << 1 | rm >> 3 | low >> 3;
            if rex != 0 {
                b.put(0x40 | rex);
            }
            match form.map {
                0 => {}
                1 => b.put(0x0f),
                2 => [0x0f, 0x38].into_iter().for_each(|x| b.put(x)),
                _ => [0x0f, 0x3a].into_iter().for_each(|x| b.put(x)),
            }
        }
        Kind::Vex => {
            let last = (!vvvv & 15) << 3 | form.l << 2 | form.prefix;
            if form.map == 1 && !form.w && index < 8 && rm < 8 {
                b.put(0xc5);
                b.put((!reg >> 3 & 1) << 7 | last);
            } else {
                b.put(0xc4);
                b.put((!reg >> 3 & 1) << 7 | (!index >> 3 & 1) << 6 | (!rm >> 3 & 1) << 5 | form.map);
                b.put(u8::from(form.w) << 7 | last);
            }
        }
        Kind::Evex => {
            if i.suppress_all_exceptions() {
                return None;
            }
            // Of a register in the second byte the fifth bit is where an index has its fourth; an index has its fifth with
            // the one between.
            let (x, v) = match &place {
                Some(_) => (index >> 3, vvvv | index & 16),
                None => (rm >> 4, vvvv),
            };
            b.put(0x62);
            let r = (!reg >> 3 & 1) << 7 | (!x & 1) << 6 | (!rm >> 3 & 1) << 5 | (!reg >> 4 & 1) << 4;
            b.put(r | form.map);
            b.put(u8::from(form.w) << 7 | (!v & 15) << 3 | 4 | form.prefix);
            let mask = match i.op_mask() {
                Register::None => 0,
                k => number(k),
            };
            let all = u8::from(i.is_broadcast());
            b.put(u8::from(i.zeroing_masking()) << 7 | form.l << 5 | all << 4 | (!v >> 4 & 1) << 3 | mask);
        }
    }
    b.put(form.opcode | low & 7);
    match &place {
        Some(p) => {
            b.put(p.how | (reg & 7) << 3 | if p.sib.is_some() { 4 } else { rm & 7 });
            p.sib.into_iter().for_each(|s| b.put(s));
            match p.how {
                0x40 => b.put(p.displacement as u8),
                0x80 => b.put32(p.displacement as u32),
                _ => {}
            }
        }
        None if form.modrm => b.put(0xc0 | (reg & 7) << 3 | rm & 7),
        None => {}
    }
    match form.immediate {
        0 => {}
        1 if form.to.contains(&IMMEDIATE) => b.put(upper << 4),
        1 => b.put(i.immediate8()),
        3 => b.put32(i.immediate32()),
        _ => {
            b.put32(i.immediate64() as u32);
            b.put32((i.immediate64() >> 32) as u32);
        }
    }
    (b.n <= MOST).then_some(b.n)
}

#[cfg(test)]
mod tests {
    use iced_x86::{Code, MemoryOperand};

    use super::*;

    /// Instructions of all kinds, with every register and many places, are what the crate makes of them, the first of an
    /// encoding as those that come after it.
    #[test]
    fn forms_write_what_the_crate_does() {
        use Register::*;
        let mut w = Writer::new().expect("an encoder");
        let mut crate_own = Encoder::new(64);
        let (mut all, mut by_forms) = (0, 0);
        let mut hold = |i: Result<Instruction, IcedError>| {
            let i = i.expect("an instruction");
            let mut own = [0; MOST];
            let n = w.write(&i, &mut own).expect("it is encodable");
            crate_own.encode(&i, 0).expect("it is encodable");
            assert_eq!(own[..n], crate_own.take_buffer(), "{i}");
            all += 1;
            by_forms += usize::from(w.learn(&i).is_some());
        };
        for k in 0..512u32 {
            let g = |n: u32| RAX + (k.wrapping_mul(n) + n) % 16;
            let e = |n: u32| EAX + (k.wrapping_mul(n) + n) % 16;
            let z = |n: u32| ZMM0 + (k.wrapping_mul(n) + n) % 32;
            let y = |n: u32| YMM0 + (k.wrapping_mul(n) + n) % 16;
            let displacement = [0, 1, 64, -128, 127, 128, 4096, 8192, -8192, 1 << 20][k as usize % 10];
            let index = if k % 3 == 0 || g(7) == RSP { None } else { g(7) };
            let broadcast = |b| MemoryOperand::new(g(1), index, 1 << (k % 4), displacement, 1, b, None);
            let m = || broadcast(false);
            hold(Instruction::with2(Code::Mov_r64_rm64, g(1), g(3)));
            hold(Instruction::with2(Code::Mov_r32_rm32, e(1), m()));
            hold(Instruction::with2(Code::Mov_rm32_r32, m(), e(5)));
            hold(Instruction::with2(Code::Mov_rm16_r16, m(), AX + k % 16));
            hold(Instruction::with2(Code::Mov_rm8_r8, m(), [AL, SIL, R9L][k as usize % 3]));
            hold(Instruction::with2(Code::Add_rm32_imm32, e(1), k as i32 - 200));
            hold(Instruction::with2(Code::Cmp_rm32_imm8, m(), k as i32 % 128));
            hold(Instruction::with2(Code::Cmp_EAX_imm32, EAX, k as i32));
            hold(Instruction::with2(Code::Mov_r32_imm32, e(3), k as i32));
            hold(Instruction::with2(Code::Mov_r64_imm64, g(3), u64::from(k) << 33 | 5));
            hold(Instruction::with2(Code::Shl_rm32_imm8, e(3), k % 32));
            hold(Instruction::with2(Code::Shl_rm32_CL, e(3), CL));
            hold(Instruction::with3(Code::Imul_r32_rm32_imm32, e(3), e(1), k as i32));
            hold(Instruction::with1(Code::Push_r64, g(5)));
            hold(Instruction::with1(Code::Call_rm64, m()));
            let mut locked = Instruction::with2(Code::Add_rm32_r32, m(), e(3)).expect("an instruction");
            locked.set_has_lock_prefix(k % 2 == 0);
            hold(Ok(locked));
            hold(Instruction::with3(Code::VEX_Vpaddd_ymm_ymm_ymmm256, y(1), y(3), y(5)));
            hold(Instruction::with3(Code::VEX_Vpaddd_ymm_ymm_ymmm256, y(1), y(3), m()));
            hold(Instruction::with4(Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm, y(1), y(3), y(5), y(7)));
            hold(Instruction::with4(Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8, y(1), y(3), m(), k % 32));
            hold(Instruction::with2(Code::VEX_Kmovd_kr_km32, K0 + k % 8, m()));
            hold(Instruction::with3(Code::VEX_Kandw_kr_kr_kr, K0 + k % 8, K0 + k / 8 % 8, K0 + k / 64));
            hold(Ok(Instruction::with(Code::VEX_Vzeroupper)));
            hold(Ok(Instruction::with(Code::Retnq)));
            for b in [m(), broadcast(true)] {
                let add = Instruction::with3(Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, z(1), z(3), b);
                let mut add = add.expect("an instruction");
                if k % 2 == 0 {
                    add.set_op_mask(K1 + k % 7);
                    add.set_zeroing_masking(k % 4 == 0);
                }
                hold(Ok(add));
                let less = Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8;
                hold(Instruction::with4(less, K0 + k % 8, z(3), b, k % 8));
            }
            hold(Instruction::with3(Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, z(1), z(3), z(5)));
            hold(Instruction::with2(Code::EVEX_Vpmovzxbd_zmm_k1z_xmmm128, z(1), m()));
            hold(Instruction::with2(Code::EVEX_Vmovd_xmm_rm32, XMM0 + k % 32, e(1)));
            let places = MemoryOperand::new(g(1), z(3), 1 << (k % 4), displacement, 1, false, None);
            let gather = Instruction::with2(Code::EVEX_Vpgatherdd_zmm_k1_vm32z, z(4), places);
            let mut gather = gather.expect("an instruction");
            gather.set_op_mask(K1 + k % 7);
            hold(Ok(gather));
        }
        assert!(by_forms * 10 > all * 8, "{by_forms} of {all} have forms");
    }
}
