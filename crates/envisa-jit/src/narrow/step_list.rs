//! The list between: instructions of AVX2 on as many registers as it takes.

use iced_x86::{Code, IcedError, Instruction, Register};

use super::encodings::operands;
use crate::asm::{K, Mem, V};

/// A register of 32 bytes that is still to be given one of the CPU's.
pub(super) type Reg = u32;
/// An operand that is none.
pub(super) const NO: Reg = u32::MAX;
/// Those that are halves of vectors and quarters of masks; those from here on live in one block.
pub(super) const UNITS: Reg = 96;

/// A half of a vector register.
pub(super) fn half_register(v: V, h: u32) -> Reg {
    Reg::from(v) * 2 + h
}

/// Eight bits of a mask register, as dwords of ones or zeros.
pub(super) fn mask_quarter_register(k: K, q: u32) -> Reg {
    64 + Reg::from(k) * 4 + q
}

/// What an instruction does to registers of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// It reads its operands.
    Read,
    /// It writes its first and reads the others.
    Write,
    /// It writes its first, whatever that was: all operands are the same.
    Make,
    /// It reads and writes its first.
    Update,
    /// It reads and writes its first and its last; nothing shares a register.
    Gather,
    /// It is no instruction but a label.
    Label(u32),
}

/// An instruction; where an operand is of the list, the register named is one of that width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Which of the list's: steps are moved about and looked at often, instructions are not.
    pub at: u32,
    pub ops: [Reg; 4],
    /// The index of its memory operand.
    pub index: Reg,
    pub effect: Effect,
    /// The first two sources may be swapped.
    pub commutes: bool,
    /// It copies a register, and does nothing else.
    pub copies: bool,
}

impl Step {
    /// Tells `(register, read, written)`.
    #[inline]
    pub fn touches(&self, mut tell: impl FnMut(Reg, bool, bool)) {
        if let Effect::Label(_) = self.effect {
            return;
        }
        if self.index != NO {
            tell(self.index, true, false);
        }
        for (k, r) in self.ops.iter().enumerate().filter(|o| *o.1 != NO) {
            match (self.effect, k) {
                (Effect::Write, 0) => tell(*r, false, true),
                (Effect::Make, 0) => tell(*r, false, true),
                (Effect::Make, _) => {}
                (Effect::Update | Effect::Gather, 0) | (Effect::Gather, 2) => tell(*r, true, true),
                _ => tell(*r, true, false),
            }
        }
    }

    /// May it be left out where nobody wants what it writes?
    pub fn pure(&self) -> bool {
        matches!(self.effect, Effect::Write | Effect::Make | Effect::Update | Effect::Gather)
    }
}

/// A copy of a register.
pub(super) const COPY: Code = Code::VEX_Vmovaps_ymm_ymmm256;
/// Loads and stores.
pub(super) const LOAD: [Code; 2] = [Code::VEX_Vmovups_xmm_xmmm128, Code::VEX_Vmovups_ymm_ymmm256];
pub(super) const STORE: [Code; 2] = [Code::VEX_Vmovups_xmmm128_xmm, Code::VEX_Vmovups_ymmm256_ymm];

/// A source.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum O {
    R(Reg),
    M(Mem),
}

/// The kind of register that an operand of an encoding is: the first of its kind.
fn class(code: Code, operand: u32) -> Register {
    if operands(code) >> (4 * operand) & 3 == 1 { Register::XMM0 } else { Register::YMM0 }
}

/// May that operand be in memory?
pub(super) fn can_fold_memory(code: Code, operand: u32) -> bool {
    operands(code) >> (4 * operand) & 4 != 0
}

/// The list in the making.
#[derive(Default)]
pub(super) struct List {
    pub steps: Vec<Step>,
    pub code: Vec<Instruction>,
    /// The instruction of all copies, once there is one.
    pub copy: Option<u32>,
    pub next: Reg,
    /// Registers that have to be the CPU's.
    pub pinned: Vec<Reg>,
    /// First thing that could not be encoded.
    pub failed: Option<IcedError>,
}

impl List {
    /// An empty one, with room for so many steps.
    pub fn with_room(n: usize) -> List {
        List { steps: Vec::with_capacity(n), code: Vec::with_capacity(n), ..List::default() }
    }

    /// A register of its own.
    pub fn temp(&mut self) -> Reg {
        self.next += 1;
        self.next - 1
    }

    /// A register of its own that is one of the CPU's.
    pub fn pinned(&mut self) -> Reg {
        let t = self.temp();
        self.pinned.push(t);
        t
    }

    fn push(&mut self, i: Result<Instruction, IcedError>, ops: [Reg; 4], effect: Effect) {
        match i {
            Ok(i) => {
                let at = self.code.len() as u32;
                self.code.push(i);
                let copies = i.code() == COPY && ops[1] != NO && ops[0] != NO;
                self.steps.push(Step { at, ops, index: NO, effect, commutes: false, copies });
            }
            Err(e) => {
                self.failed.get_or_insert(e);
            }
        }
    }

    /// An instruction that has no operands of the list.
    pub fn raw(&mut self, i: Instruction) {
        self.push(Ok(i), [NO; 4], Effect::Read);
    }

    pub fn label(&mut self, l: u32) {
        let (ops, effect) = ([NO; 4], Effect::Label(l));
        self.steps.push(Step { at: u32::MAX, ops, index: NO, effect, commutes: false, copies: false });
    }

    /// `dst = op(a)`.
    pub fn two(&mut self, c: Code, dst: Reg, a: O) {
        match a {
            O::R(a) => {
                let i = Instruction::with2(c, class(c, 0), class(c, 1));
                self.push(i, [dst, a, NO, NO], Effect::Write);
            }
            O::M(m) => {
                let i = Instruction::with2(c, class(c, 0), m.operand(false));
                self.push(i, [dst, NO, NO, NO], Effect::Write);
            }
        }
    }

    /// `dst = op(a, immediate)`.
    pub fn two_i(&mut self, c: Code, dst: Reg, a: O, imm: u32) {
        match a {
            O::R(a) => {
                let i = Instruction::with3(c, class(c, 0), class(c, 1), imm);
                self.push(i, [dst, a, NO, NO], Effect::Write);
            }
            O::M(m) => {
                let i = Instruction::with3(c, class(c, 0), m.operand(false), imm);
                self.push(i, [dst, NO, NO, NO], Effect::Write);
            }
        }
    }

    fn three_of(&mut self, c: Code, (dst, a, b): (Reg, Reg, O), effect: Effect) {
        match b {
            O::R(b) => {
                let i = Instruction::with3(c, class(c, 0), class(c, 1), class(c, 2));
                self.push(i, [dst, a, b, NO], effect);
            }
            O::M(m) => {
                let i = Instruction::with3(c, class(c, 0), class(c, 1), m.operand(false));
                self.push(i, [dst, a, NO, NO], effect);
            }
        }
    }

    /// `dst = op(a, b)`.
    pub fn three(&mut self, c: Code, dst: Reg, a: Reg, b: O) {
        self.three_of(c, (dst, a, b), Effect::Write);
        if commutes(c)
            && let Some(s) = self.steps.last_mut()
        {
            s.commutes = true;
        }
    }

    /// `dst = op(dst, a, b)`.
    pub fn update(&mut self, c: Code, dst: Reg, a: Reg, b: O) {
        self.three_of(c, (dst, a, b), Effect::Update);
    }

    /// `dst = op(a, b, immediate)`.
    pub fn three_i(&mut self, c: Code, dst: Reg, a: Reg, b: O, imm: u32) {
        match b {
            O::R(b) => {
                let i = Instruction::with4(c, class(c, 0), class(c, 1), class(c, 2), imm);
                self.push(i, [dst, a, b, NO], Effect::Write);
            }
            O::M(m) => {
                let i = Instruction::with4(c, class(c, 0), class(c, 1), m.operand(false), imm);
                self.push(i, [dst, a, NO, NO], Effect::Write);
            }
        }
    }

    /// `dst = mask ? b : a`, by the top bit of each dword.
    pub fn blend(&mut self, dst: Reg, a: Reg, b: O, mask: Reg) {
        let c = Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm;
        let y = Register::YMM0;
        match b {
            O::R(b) => {
                self.push(Instruction::with4(c, y, y, y, y), [dst, a, b, mask], Effect::Write);
            }
            O::M(m) => {
                let i = Instruction::with4(c, y, y, m.operand(false), y);
                self.push(i, [dst, a, NO, mask], Effect::Write);
            }
        }
    }

    /// All zeros.
    pub fn zero(&mut self, dst: Reg) {
        let c = Code::VEX_Vpxor_ymm_ymm_ymmm256;
        let y = Register::YMM0;
        self.push(Instruction::with3(c, y, y, y), [dst, dst, dst, NO], Effect::Make);
    }

    /// All ones.
    pub fn ones(&mut self, dst: Reg) {
        let c = Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256;
        let y = Register::YMM0;
        self.push(Instruction::with3(c, y, y, y), [dst, dst, dst, NO], Effect::Make);
    }

    pub fn copy(&mut self, dst: Reg, from: Reg) {
        if dst == from {
            return;
        }
        match self.copy {
            Some(at) => {
                let (ops, effect) = ([dst, from, NO, NO], Effect::Write);
                self.steps.push(Step { at, ops, index: NO, effect, commutes: false, copies: true });
            }
            None => {
                self.two(COPY, dst, O::R(from));
                self.copy = self.steps.last().map(|s| s.at);
            }
        }
    }

    /// A source in a register.
    pub fn in_reg(&mut self, o: O) -> Reg {
        match o {
            O::R(r) => r,
            O::M(m) => {
                let t = self.temp();
                self.two(LOAD[1], t, O::M(m));
                t
            }
        }
    }

    /// Stores a register.
    pub fn store(&mut self, c: Code, m: Mem, r: Reg) {
        let i = Instruction::with2(c, m.operand(false), class(c, 1));
        self.push(i, [NO, r, NO, NO], Effect::Read);
    }

    /// Stores the lower or upper half of a register.
    pub fn store_quarter(&mut self, m: Mem, r: Reg, which: u32) {
        if which == 0 {
            return self.store(STORE[0], m, r);
        }
        let c = Code::VEX_Vextracti128_xmmm128_ymm_imm8;
        self.push(Instruction::with3(c, m.operand(false), class(c, 1), which), [NO, r, NO, NO], Effect::Read);
    }

    /// Loads or stores the elements of a mask.
    pub fn masked_load(&mut self, c: Code, dst: Reg, mask: Reg, m: Mem) {
        let i = Instruction::with3(c, class(c, 0), class(c, 1), m.operand(false));
        self.push(i, [dst, mask, NO, NO], Effect::Write);
    }

    pub fn masked_store(&mut self, c: Code, m: Mem, mask: Reg, r: Reg) {
        let i = Instruction::with3(c, m.operand(false), class(c, 1), class(c, 2));
        self.push(i, [NO, mask, r, NO], Effect::Read);
    }

    /// Singles to halves, rounded as the immediate says.
    pub fn half_floats(&mut self, dst: Reg, from: Reg, wide: bool, how: u32) {
        let (c, class) = match wide {
            true => (Code::VEX_Vcvtps2ph_xmmm128_ymm_imm8, Register::YMM0),
            false => (Code::VEX_Vcvtps2ph_xmmm64_xmm_imm8, Register::XMM0),
        };
        self.push(Instruction::with3(c, Register::XMM0, class, how), [dst, from, NO, NO], Effect::Write);
    }

    /// Sets flags.
    pub fn test(&mut self, a: Reg, b: O) {
        let c = Code::VEX_Vptest_ymm_ymmm256;
        match b {
            O::R(b) => {
                let i = Instruction::with2(c, Register::YMM0, Register::YMM0);
                self.push(i, [a, b, NO, NO], Effect::Read);
            }
            O::M(m) => {
                let i = Instruction::with2(c, Register::YMM0, m.operand(false));
                self.push(i, [a, NO, NO, NO], Effect::Read);
            }
        }
    }

    /// A general register from one of the list.
    pub fn gpr_of(&mut self, c: Code, r: Register, from: Reg) {
        self.push(Instruction::with2(c, r, class(c, 1)), [NO, from, NO, NO], Effect::Read);
    }

    /// One of the list from a general register.
    pub fn of_gpr(&mut self, c: Code, dst: Reg, r: Register) {
        self.push(Instruction::with2(c, class(c, 0), r), [dst, NO, NO, NO], Effect::Write);
    }

    /// Elements from anywhere; `mask` is lost. All three in registers of their own.
    pub fn gather(&mut self, c: Code, dst: Reg, m: Mem, index: Reg, mask: Reg) {
        let m = Mem { index: class(c, 1), ..m };
        let i = Instruction::with3(c, class(c, 0), m.operand(false), class(c, 2));
        self.push(i, [dst, NO, mask, NO], Effect::Gather);
        if let Some(s) = self.steps.last_mut() {
            s.index = index;
        }
    }
}

/// May the sources be swapped?
fn commutes(c: Code) -> bool {
    matches!(
        c,
        Code::VEX_Vpaddd_ymm_ymm_ymmm256
            | Code::VEX_Vpand_ymm_ymm_ymmm256
            | Code::VEX_Vpor_ymm_ymm_ymmm256
            | Code::VEX_Vpxor_ymm_ymm_ymmm256
            | Code::VEX_Vpmulld_ymm_ymm_ymmm256
            | Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256
            | Code::VEX_Vpminsd_ymm_ymm_ymmm256
            | Code::VEX_Vpmaxsd_ymm_ymm_ymmm256
            | Code::VEX_Vpminud_ymm_ymm_ymmm256
            | Code::VEX_Vpmaxud_ymm_ymm_ymmm256
            | Code::VEX_Vpaddq_ymm_ymm_ymmm256
            | Code::VEX_Vpmuludq_ymm_ymm_ymmm256
            | Code::VEX_Vpmuldq_ymm_ymm_ymmm256
    )
}
