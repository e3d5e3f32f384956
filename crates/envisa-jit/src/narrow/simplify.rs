//! Within a block, what a step makes that an earlier one made already is that one's, and steps that others make simpler
//! become simpler ones: truths are counted and chosen by as they are, without being turned into numbers or round first.

use iced_x86::{Code, Instruction, Mnemonic, OpKind, Register};

use super::register_tables::Table;
use super::step_list::{Effect, LOAD, List, NO, O, Reg, Step, UNITS};
use super::vector::is_own_memory;
use super::{Mem, is_vector, memory};
use crate::context_layout::{CTX, REGS};
use crate::fast_maps::Map;

const ADD: Code = Code::VEX_Vpaddd_ymm_ymm_ymmm256;
const SUB: Code = Code::VEX_Vpsubd_ymm_ymm_ymmm256;
const AND: Code = Code::VEX_Vpand_ymm_ymm_ymmm256;
const ANDN: Code = Code::VEX_Vpandn_ymm_ymm_ymmm256;
const OR: Code = Code::VEX_Vpor_ymm_ymm_ymmm256;
const XOR: Code = Code::VEX_Vpxor_ymm_ymm_ymmm256;
const BLEND: Code = Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm;
const MULTIPLY: [Code; 2] = [Code::VEX_Vpmuludq_ymm_ymm_ymmm256, Code::VEX_Vpmuldq_ymm_ymm_ymmm256];

/// Quarters of masks: each dword is all ones or all zeros.
const TRUTHS: std::ops::Range<Reg> = 64..UNITS;
/// Most values from memory that are remembered.
const REMEMBERED: usize = 32;
/// Most values of other times that are kept.
const MOST: usize = 4096;
/// How many steps are looked through for whether a value is a truth.
const DEEP: u32 = 4;

/// How many steps before one another may have read the same memory: what is kept longer takes a register from others, and
/// is read again at once.
const NEAR: u32 = 24;

/// A register's value: how often it had been written.
type Value = (Reg, u32);

/// What makes a value: the time at which it does, an instruction, its immediate, and its sources.
type Key = ((u32, u32), u64, [Value; 3]);

/// A value that was read from the code's own memory, or made of it.
struct FromMemory {
    key: Key,
    from: Mem,
    bytes: i64,
    value: Value,
    /// When.
    at: u32,
}

/// A step that only wrote, and what it read.
#[derive(Clone, Copy, Default)]
struct Maker {
    /// Which instruction of the list it is.
    at: u32,
    effect: Option<Effect>,
    sources: [Value; 3],
}

/// What is to be done instead of a step.
pub(super) enum Made {
    /// The step.
    Step(Step),
    /// A register has its value.
    Already(Reg),
}

/// What the registers have, from the start of a block on.
#[derive(Default)]
pub(super) struct Values {
    /// How often each was written.
    writes: Table<u32>,
    /// What wrote each last, where that only wrote.
    made_by: Table<Maker>,
    by_key: Map<Key, Value>,
    /// Steps of the block that are done.
    steps: u32,
    /// What was made at other times is not looked for any more.
    time: u32,
    from_memory: Vec<FromMemory>,
    /// Constants in the context: eight dwords from each multiple of 32 behind the first.
    literals: Vec<u32>,
    literals_at: u32,
}

impl Values {
    /// With the constants that the context will have, from `at` on.
    pub fn new(literals: &[u32], at: u32) -> Values {
        Values { literals: literals.to_vec(), literals_at: at, ..Values::default() }
    }

    /// A block begins.
    pub fn start(&mut self) {
        self.writes.clear();
        self.made_by.clear();
        self.steps = 0;
        self.forget();
    }

    fn forget(&mut self) {
        self.part();
        self.from_memory.clear();
    }

    /// Steps behind here do not change places with those before, and what they share would be kept until they are done: what
    /// they make again takes less.
    pub fn part(&mut self) {
        self.time += 1;
        if self.by_key.len() > MOST {
            self.by_key = Map::default();
        }
    }

    fn value(&self, r: Reg) -> Value {
        (r, self.writes.get(r).unwrap_or(0))
    }

    /// What a step makes that only writes, whose sources have their names.
    pub fn make(&mut self, s: &Step, list: &mut List) -> Made {
        let mut s = *s;
        while let Some(simpler) = self.simpler(&s, list) {
            match simpler {
                Made::Step(simpler) => s = simpler,
                already => return already,
            }
        }
        let found = self.key(&s, &list.code[s.at as usize]).and_then(|(key, from)| match from {
            None => self.by_key.get(&key).copied(),
            Some(_) => {
                let near = |f: &&FromMemory| f.key == key && self.steps - f.at <= NEAR;
                self.from_memory.iter().find(near).map(|f| f.value)
            }
        });
        match found.filter(|v| self.value(v.0) == *v) {
            Some((r, _)) => Made::Already(r),
            None => Made::Step(s),
        }
    }

    /// A register is given another value.
    pub fn overwritten(&mut self, r: Reg) {
        *self.writes.or_default(r) += 1;
        self.made_by.remove(r);
    }

    /// A step is done, under its names.
    pub fn done(&mut self, s: &Step, code: &[Instruction]) {
        let i = &code[s.at as usize];
        let key = if s.effect == Effect::Write { self.key(s, i) } else { None };
        let sources = [s.ops[1], s.ops[2], s.ops[3]].map(|r| self.value(r));
        s.touches(|r, _, written| {
            if written {
                self.overwritten(r);
            }
        });
        if matches!(s.effect, Effect::Write | Effect::Make) {
            self.made_by.insert(s.ops[0], Maker { at: s.at, effect: Some(s.effect), sources });
        }
        self.steps += 1;
        match key {
            Some((key, None)) => {
                self.by_key.insert(key, self.value(s.ops[0]));
            }
            Some((key, Some((from, bytes)))) => {
                if self.from_memory.len() == REMEMBERED {
                    self.from_memory.remove(0);
                }
                let value = self.value(s.ops[0]);
                self.from_memory.push(FromMemory { key, from, bytes, value, at: self.steps });
            }
            None if s.effect == Effect::Read => self.happened(i),
            None => {}
        }
    }

    /// What an instruction does that writes no register of the list.
    fn happened(&mut self, i: &Instruction) {
        let base = |r: Register| [CTX, REGS].contains(&r.full_register());
        let modes = matches!(i.mnemonic(), Mnemonic::Vldmxcsr | Mnemonic::Ldmxcsr);
        if modes || i.is_call_near() || i.is_call_near_indirect() || i.is_string_instruction() {
            return self.forget();
        }
        match (i.op_count() > 0).then(|| i.op0_kind()) {
            Some(OpKind::Register) if base(i.op0_register()) => self.forget(),
            Some(OpKind::Memory) => {
                let (m, bytes) = (memory(i), i.memory_size().size() as i64);
                let met = |f: &FromMemory| {
                    let apart = f.from.disp + f.bytes <= m.disp || m.disp + bytes <= f.from.disp;
                    f.from.base == m.base && !(apart && m.index == Register::None)
                };
                self.from_memory.retain(|f| !met(f));
            }
            _ => {}
        }
    }

    /// What makes the value that a step writes, and where it reads memory; `None` if it reads what is not looked at.
    fn key(&self, s: &Step, i: &Instruction) -> Option<(Key, Option<(Mem, i64)>)> {
        if s.copies || s.index != NO {
            return None;
        }
        let (mut immediate, mut from) = (0, None);
        for k in 0..i.op_count() {
            match i.op_kind(k) {
                OpKind::Register if is_vector(i.op_register(k)) => {}
                OpKind::Immediate8 => immediate |= u64::from(i.immediate8()),
                OpKind::Memory => {
                    let m = memory(i);
                    if !is_own_memory(m) || m.index != Register::None {
                        return None;
                    }
                    immediate |= (m.disp as u64) << 9 | u64::from(m.base == CTX) << 8;
                    from = Some((m, i.memory_size().size() as i64));
                }
                _ => return None,
            }
        }
        let mut sources = [s.ops[1], s.ops[2], s.ops[3]];
        if s.commutes && sources[1] != NO && sources[1] < sources[0] {
            sources.swap(0, 1);
        }
        Some((((self.time, i.code() as u32), immediate, sources.map(|r| self.value(r))), from))
    }

    /// The instruction that made what a register has, and the registers that it read, if these still have what they had.
    fn maker<'a>(&self, r: Reg, list: &'a List) -> Option<(&'a Instruction, [Reg; 3])> {
        let m = self.made_by.get(r).filter(|_| r != NO)?;
        let same = m.effect == Some(Effect::Make) || m.sources.iter().all(|v| self.value(v.0) == *v);
        same.then(|| (&list.code[m.at as usize], m.sources.map(|v| v.0)))
    }

    /// Is a register known to have zeros, or ones, all over?
    fn all_bits(&self, r: Reg, list: &List) -> Option<bool> {
        let m = self.made_by.get(r).filter(|m| r != NO && m.effect == Some(Effect::Make))?;
        Some(list.code[m.at as usize].code() != XOR)
    }

    /// Constant memory that an operand reads: the same in all lanes.
    fn same_literal(&self, i: &Instruction) -> Option<u32> {
        let all = self.literal(i)?;
        all.iter().all(|x| *x == all[0]).then_some(all[0])
    }

    fn literal(&self, i: &Instruction) -> Option<&[u32]> {
        let k = (0..i.op_count()).find(|k| i.op_kind(*k) == OpKind::Memory)?;
        let m = memory(i);
        let at = usize::try_from(m.disp - i64::from(self.literals_at)).ok()?;
        let whole = k != 0 && m.base == CTX && m.index == Register::None && at.is_multiple_of(32);
        let wide = i.memory_size().size() == 32;
        (whole && wide).then(|| self.literals.get(at / 4..at / 4 + 8))?
    }

    /// Are all dwords of a register all ones or all zeros?
    fn is_truth(&self, r: Reg, list: &List, deep: u32) -> bool {
        use Code as C;
        if TRUTHS.contains(&r) || self.all_bits(r, list).is_some() {
            return true;
        }
        let Some((i, of)) = self.maker(r, list).filter(|_| deep > 0) else { return false };
        let all = |n: usize| of[..n].iter().all(|r| *r != NO && self.is_truth(*r, list, deep - 1));
        match i.code() {
            C::VEX_Vpcmpeqd_ymm_ymm_ymmm256
            | C::VEX_Vpcmpgtd_ymm_ymm_ymmm256
            | C::VEX_Vpcmpeqq_ymm_ymm_ymmm256
            | C::VEX_Vpcmpgtq_ymm_ymm_ymmm256
            | C::VEX_Vcmpps_ymm_ymm_ymmm256_imm8
            | C::VEX_Vcmppd_ymm_ymm_ymmm256_imm8 => true,
            C::VEX_Vpermq_ymm_ymmm256_imm8 => all(1),
            C::VEX_Vshufps_ymm_ymm_ymmm256_imm8 => all(2),
            AND | ANDN | OR | XOR => all(2),
            _ => false,
        }
    }

    /// The register whose opposite, bit by bit, a register has.
    fn opposite(&self, r: Reg, list: &List) -> Option<Reg> {
        let (i, of) = self.maker(r, list).filter(|m| m.0.code() == XOR)?;
        match of[1] {
            NO => (self.same_literal(i) == Some(!0)).then_some(of[0]),
            b if self.all_bits(b, list) == Some(true) => Some(of[0]),
            b if self.all_bits(of[0], list) == Some(true) => Some(b),
            _ => None,
        }
    }

    /// The register that is taken from zero, dword by dword, to give what a register has; of ones for truths, the truths.
    fn negated(&self, r: Reg, list: &List) -> Option<Reg> {
        let (i, of) = self.maker(r, list)?;
        match i.code() {
            SUB if of[1] != NO && self.all_bits(of[0], list) == Some(false) => Some(of[1]),
            AND if of[1] == NO && self.same_literal(i) == Some(1) => {
                self.is_truth(of[0], list, DEEP).then_some(of[0])
            }
            _ => None,
        }
    }

    /// The same as a step, with less.
    fn simpler(&self, s: &Step, list: &mut List) -> Option<Made> {
        let i = list.code[s.at as usize];
        let [to, a, b, _] = s.ops;
        let source = if b == NO { O::M(memory(&i)) } else { O::R(b) };
        let build = |list: &mut List, code: Code, a: Reg, b: O| {
            list.three(code, to, a, b);
            list.steps.pop().map(Made::Step)
        };
        match i.code() {
            ADD | SUB if b != NO => {
                for (x, y) in [(a, b), (b, a)].into_iter().take(if i.code() == ADD { 2 } else { 1 }) {
                    if self.all_bits(y, list) == Some(false) {
                        return Some(Made::Already(x));
                    }
                    if let Some(m) = self.negated(y, list) {
                        let code = if i.code() == ADD { SUB } else { ADD };
                        return build(list, code, x, O::R(m));
                    }
                }
                None
            }
            AND if b == NO => self.opposite(a, list).and_then(|m| build(list, ANDN, m, source)),
            AND => [(a, b), (b, a)].into_iter().find_map(|(x, y)| match self.all_bits(y, list) {
                Some(ones) => Some(Made::Already(if ones { x } else { y })),
                None => self.opposite(y, list).and_then(|m| build(list, ANDN, m, O::R(x))),
            }),
            ANDN => self.opposite(a, list).and_then(|m| build(list, AND, m, source)),
            XOR if b == NO && self.same_literal(&i) == Some(!0) => self.opposite(a, list).map(Made::Already),
            OR | XOR if b != NO => [(a, b), (b, a)]
                .into_iter()
                .find_map(|(x, y)| (self.all_bits(y, list) == Some(false)).then_some(Made::Already(x))),
            BLEND => self.choice(s, source, list),
            code if MULTIPLY.contains(&code) && b != NO => {
                let [x, y] = [a, b].map(|r| self.same_upper(r, list));
                (x.is_some() || y.is_some())
                    .then(|| build(list, code, x.unwrap_or(a), O::R(y.unwrap_or(b))))?
            }
            _ => None,
        }
    }

    /// A choice by the opposite of truths, or by truths that are known.
    fn choice(&self, s: &Step, other: O, list: &mut List) -> Option<Made> {
        let [to, a, b, mask] = s.ops;
        if let (Some(m), O::R(b)) = (self.opposite(mask, list), other) {
            list.blend(to, b, O::R(a), m);
            return list.steps.pop().map(Made::Step);
        }
        let (i, _) = self.maker(mask, list).filter(|m| m.0.code() == LOAD[1])?;
        let which = self.literal(i)?.iter().rev().fold(0, |all, x| all << 1 | x >> 31);
        match which {
            0 => Some(Made::Already(a)),
            0xff if b != NO => Some(Made::Already(b)),
            _ => {
                list.three_i(Code::VEX_Vpblendd_ymm_ymm_ymmm256_imm8, to, a, other, which);
                list.steps.pop().map(Made::Step)
            }
        }
    }

    /// The register whose lower dwords are a register's: of upper dwords, in place of lower ones, where all are the same.
    fn same_upper(&self, r: Reg, list: &List) -> Option<Reg> {
        let (i, of) = self.maker(r, list)?;
        let shifts = i.code() == Code::VEX_Vpsrlq_ymm_ymm_imm8 && i.immediate8() == 32;
        let (from, _) = self.maker(of[0], list).filter(|_| shifts)?;
        (from.code() == Code::VEX_Vpbroadcastd_ymm_xmmm32).then_some(of[0])
    }
}
