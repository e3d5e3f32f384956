//! A list of x86 instructions with labels, to be encoded at once.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

use iced_x86::{Code, IcedError, Instruction, MemoryOperand, Mnemonic, OpKind, Register};

use crate::encode::encode;
use crate::encoding_forms::CODES;
use crate::rounding::Embedded;
use crate::vector_encodings::Op;
pub(crate) use crate::vector_encodings::Width;

/// How far back a load is looked for that gave the same.
const BACK: usize = 8;

/// Of encodings, the kind of the immediate behind a register: 0 while it is not known.
static IMMEDIATES: [AtomicU8; CODES] = [const { AtomicU8::new(0) }; CODES];

/// An instruction with a register and an immediate: the crate's own way looks for the kind of these every time.
fn with_immediate(c: Code, a: Register, i: i32) -> Result<Instruction, IcedError> {
    let known = &IMMEDIATES[c as usize];
    let kind = match known.load(Ordering::Relaxed) {
        1 => OpKind::Immediate32,
        2 => OpKind::Immediate32to64,
        _ => {
            let new = Instruction::with2(c, a, i)?;
            let kind = match new.op1_kind() {
                OpKind::Immediate32 => 1,
                OpKind::Immediate32to64 => 2,
                _ => 3,
            };
            known.store(kind, Ordering::Relaxed);
            return Ok(new);
        }
    };
    let mut new = Instruction::default();
    new.set_code(c);
    new.set_op0_register(a);
    new.set_op1_kind(kind);
    if kind == OpKind::Immediate32 {
        new.set_immediate32(i as u32)
    } else {
        new.set_immediate32to64(i.into())
    }
    Ok(new)
}

/// A place in the code, bound or still to be bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label(u32);

/// Unsupported an instruction has no native code.
pub(crate) type Unsupported = &'static str;

/// A vector register's number, 0 to 31.
pub(crate) type V = u8;
/// A mask register's number, 0 to 7.
pub(crate) type K = u8;

/// A vector register.
pub(crate) fn vector_register(v: V, w: Width) -> Register {
    let base = match w {
        Width::X => Register::XMM0,
        Width::Y => Register::YMM0,
        Width::Z => Register::ZMM0,
    };
    base + u32::from(v)
}

/// A mask register.
pub(crate) fn mask_register(k: K) -> Register {
    Register::K0 + u32::from(k)
}

/// A memory operand of the generated code.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Mem {
    pub base: Register,
    pub index: Register,
    pub scale: u32,
    pub disp: i64,
}

impl Mem {
    pub fn at(base: Register, disp: u32) -> Mem {
        Mem { base, index: Register::None, scale: 1, disp: i64::from(disp) }
    }
    pub fn indexed(base: Register, index: Register, scale: u32, disp: i64) -> Mem {
        Mem { base, index, scale, disp }
    }
    pub fn plus(self, more: u32) -> Mem {
        Mem { disp: self.disp + i64::from(more), ..self }
    }
    pub(crate) fn operand(self, broadcast: bool) -> MemoryOperand {
        MemoryOperand::new(self.base, self.index, self.scale, self.disp, 1, broadcast, Register::None)
    }
}

/// An operand of a vector instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Opd {
    Reg(V),
    Mem(Mem),
    /// One element for all lanes.
    Bcast(Mem),
}

/// Which lanes a vector instruction writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lanes {
    All,
    /// Those of the mask; the others stay.
    Of(K),
    /// Those of the mask; the others become zero.
    Zero(K),
}

/// The code in the making.
#[derive(Default)]
pub(crate) struct Asm {
    code: Vec<Instruction>,
    /// Labels that stand for others, by number: `alias[a] == a` for those that do not.
    alias: Vec<u32>,
    /// Some do.
    aliased: bool,
    /// The label before the next instruction.
    pending: Option<u32>,
    /// The next instruction may be come to from elsewhere.
    joined: bool,
    /// Labels, by number, that only name a place, and those that code goes to: no label is both.
    named: Vec<u32>,
    aimed: Vec<bool>,
    pub rounding: Embedded,
    /// First thing that could not be encoded.
    failed: Option<IcedError>,
    /// `(instruction, tag)`: where what the tags name begins.
    pub marks: Vec<(usize, u32)>,
    /// Where the register file is to hold what is in it.
    pub wanted: Vec<Wanted>,
    /// Code that is rarely come to, until it is put behind the rest.
    aside: Vec<Piece>,
}

/// A stretch of code by itself: marks and wants count from its begin.
struct Piece {
    code: Vec<Instruction>,
    marks: Vec<(usize, u32)>,
    wanted: Vec<Wanted>,
}

/// Where code stopped that something was put aside of, for [`Asm::in_line`].
#[must_use]
pub(crate) struct SlowPath {
    code: usize,
    marks: usize,
    wanted: usize,
    pending: Option<u32>,
    joined: bool,
}

/// Where code is, for [`Asm::back`].
#[derive(Clone, Copy)]
pub(crate) struct Here {
    pub code: usize,
    pending: Option<u32>,
    marks: usize,
    wanted: usize,
    aside: usize,
    joined: bool,
}

/// Before an instruction, these bytes of the register file are to be what they are to whoever reads them by other
/// means than the code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    pub before: usize,
    pub bytes: Range<u32>,
}

/// Encoded code.
pub(crate) struct Encoded {
    pub bytes: Vec<u8>,
    /// `(offset, tag)` as marked.
    pub marks: Vec<(u32, u32)>,
}

impl Asm {
    pub fn label(&mut self) -> Label {
        self.alias.push(self.alias.len() as u32);
        Label(self.alias.len() as u32 - 1)
    }

    /// The label stands for the next instruction.
    pub fn bind(&mut self, l: Label) {
        self.joined = true;
        self.put(l);
    }

    /// The same of a label that no code goes to.
    pub fn name(&mut self, l: Label) {
        self.named.push(l.0);
        self.put(l);
    }

    fn put(&mut self, l: Label) {
        match self.pending {
            Some(p) => (self.alias[l.0 as usize], self.aliased) = (p, true),
            None => self.pending = Some(l.0),
        }
    }

    /// What branches name a label by, until all are bound.
    pub fn number(&self, l: Label) -> u64 {
        u64::from(self.alias[l.0 as usize]) + 1
    }

    /// Tags the next instruction.
    pub fn mark(&mut self, tag: u32) {
        self.marks.push((self.code.len(), tag));
    }

    pub fn push(&mut self, i: Result<Instruction, IcedError>) {
        match i {
            Ok(mut i) => {
                self.rounding.apply(&mut i);
                if let Some(l) = self.pending.take() {
                    i.set_ip(u64::from(l) + 1);
                }
                self.code.push(i);
                self.joined = false;
            }
            Err(e) => {
                self.failed.get_or_insert(e);
            }
        }
    }

    pub fn op0(&mut self, c: Code) {
        self.push(Ok(Instruction::with(c)));
    }

    pub fn jump(&mut self, c: Code, to: Label) {
        self.aim(to);
        let mut i = Instruction::default();
        i.set_code(c);
        i.set_op0_kind(OpKind::NearBranch64);
        i.set_near_branch64(u64::from(to.0) + 1);
        self.push(Ok(i));
    }

    fn aim(&mut self, l: Label) {
        let n = l.0 as usize;
        if self.aimed.len() <= n {
            self.aimed.resize(n + 1, false);
        }
        self.aimed[n] = true;
    }

    /// Is what a load would give what the instruction before it stored? It is taken from there.
    fn just_stored(&mut self, c: Code, to: Register, m: Mem) -> bool {
        let stored = match c {
            Code::Mov_r32_rm32 => Code::Mov_rm32_r32,
            Code::Mov_r64_rm64 => Code::Mov_rm64_r64,
            _ => return false,
        };
        let [.., before, last] = self.code.as_slice() else { return false };
        let same = last.code() == stored
            && m.base == Register::RBX
            && m.index == Register::None
            && Instruction::with2(stored, m.operand(false), last.op1_register())
                .is_ok_and(|i| i.memory_displacement64() == last.memory_displacement64())
            && (last.memory_base(), last.memory_index()) == (Register::RBX, Register::None);
        if self.joined || !same {
            return false;
        }
        let from = last.op1_register();
        // The upper half of a register is zero where its lower one was written.
        let whole = c == Code::Mov_r64_rm64
            || (last.ip() == 0
                && !matches!(before.mnemonic(), Mnemonic::Cmp | Mnemonic::Test)
                && before.op0_kind() == OpKind::Register
                && before.op0_register() == from);
        if to != from || !whole {
            self.rr(c, to, from);
        }
        true
    }

    /// The address of a label.
    pub fn address(&mut self, r: Register, of: Label) {
        self.aim(of);
        let m = MemoryOperand::with_base_displ(Register::RIP, i64::from(of.0) + 1);
        self.push(Instruction::with2(Code::Lea_r64_m, r, m));
    }

    pub fn jmp(&mut self, to: Label) {
        self.jump(Code::Jmp_rel32_64, to);
    }

    pub fn rr(&mut self, c: Code, a: Register, b: Register) {
        self.push(Instruction::with2(c, a, b));
    }

    pub fn rm(&mut self, c: Code, a: Register, m: Mem) {
        if self.just_stored(c, a, m) {
            return;
        }
        self.push(Instruction::with2(c, a, m.operand(false)));
    }

    pub fn mr(&mut self, c: Code, m: Mem, a: Register) {
        self.push(Instruction::with2(c, m.operand(false), a));
    }

    pub fn ri(&mut self, c: Code, a: Register, i: i32) {
        self.push(with_immediate(c, a, i));
    }

    pub fn mi(&mut self, c: Code, m: Mem, i: i32) {
        self.push(Instruction::with2(c, m.operand(false), i));
    }

    pub fn m(&mut self, c: Code, m: Mem) {
        self.push(Instruction::with1(c, m.operand(false)));
    }

    pub fn r(&mut self, c: Code, r: Register) {
        self.push(Instruction::with1(c, r));
    }

    pub fn rri(&mut self, c: Code, a: Register, b: Register, i: i32) {
        self.push(Instruction::with3(c, a, b, i));
    }

    pub fn rmi(&mut self, c: Code, a: Register, m: Mem, i: i32) {
        self.push(Instruction::with3(c, a, m.operand(false), i));
    }

    pub fn rrr(&mut self, c: Code, a: Register, b: Register, d: Register) {
        self.push(Instruction::with3(c, a, b, d));
    }

    /// An operation on two mask registers.
    pub fn kk(&mut self, c: Code, a: K, b: K) {
        self.rr(c, mask_register(a), mask_register(b));
    }

    /// An operation on three mask registers.
    pub fn kkk(&mut self, c: Code, a: K, b: K, d: K) {
        self.rrr(c, mask_register(a), mask_register(b), mask_register(d));
    }

    fn masked(i: Result<Instruction, IcedError>, lanes: Lanes) -> Result<Instruction, IcedError> {
        let mut i = i?;
        match lanes {
            Lanes::All => {}
            Lanes::Of(k) => i.set_op_mask(mask_register(k)),
            Lanes::Zero(k) => {
                i.set_op_mask(mask_register(k));
                i.set_zeroing_masking(true);
            }
        }
        Ok(i)
    }

    /// The register that an operand of this encoding is in: narrower than the result for some.
    fn narrow(c: Code, w: Width, operand: u32) -> Width {
        crate::vector_encodings::operand(c, operand).unwrap_or(w)
    }

    /// `dst = op(a, b)`.
    pub fn v3(&mut self, op: Op, w: Width, dst: V, a: V, b: Opd, lanes: Lanes) {
        let (c, d, a) = (op[w as usize], vector_register(dst, w), vector_register(a, w));
        let i = match b {
            Opd::Reg(b) => Instruction::with3(c, d, a, vector_register(b, w)),
            Opd::Mem(m) => Instruction::with3(c, d, a, m.operand(false)),
            Opd::Bcast(m) => Instruction::with3(c, d, a, m.operand(true)),
        };
        self.push(Self::masked(i, lanes));
    }

    /// `dst = op(a, b, immediate)`.
    #[allow(clippy::too_many_arguments)]
    pub fn v3i(&mut self, op: Op, w: Width, dst: V, a: V, b: Opd, imm: u32, lanes: Lanes) {
        let (c, d, a) = (op[w as usize], vector_register(dst, w), vector_register(a, w));
        let i = match b {
            Opd::Reg(b) => Instruction::with4(c, d, a, vector_register(b, w), imm),
            Opd::Mem(m) => Instruction::with4(c, d, a, m.operand(false), imm),
            Opd::Bcast(m) => Instruction::with4(c, d, a, m.operand(true), imm),
        };
        self.push(Self::masked(i, lanes));
    }

    /// Does the register hold what this load would give, since a few instructions?
    fn held(&self, load: &Instruction) -> bool {
        // A conversion that was made before rounded otherwise.
        if self.pending.is_some() || self.rounding.is_on() {
            return false;
        }
        let to = load.op0_register().full_register();
        for i in self.code.iter().rev().take(BACK) {
            // A label's instruction may be come to from elsewhere.
            if i == load {
                return true;
            }
            let other = i.op_count() == 0
                || i.op0_kind() == OpKind::Memory
                || i.ip() != 0
                || i.is_call_near()
                || i.op0_register().full_register() == to;
            if other {
                return false;
            }
        }
        false
    }

    /// `dst = op(a)`; the source is as narrow as the encoding says.
    pub fn v2(&mut self, op: Op, w: Width, dst: V, a: Opd, lanes: Lanes) {
        let c = op[w as usize];
        let d = vector_register(dst, Self::narrow(c, w, 0));
        if let (Opd::Mem(m), Lanes::All) = (a, lanes)
            && matches!(m.base, Register::RBX | Register::RBP)
            && m.index == Register::None
            && let Ok(i) = Instruction::with2(c, d, m.operand(false))
            && self.held(&i)
        {
            return;
        }
        let i = match a {
            Opd::Reg(a) => Instruction::with2(c, d, vector_register(a, Self::narrow(c, w, 1))),
            Opd::Mem(m) => Instruction::with2(c, d, m.operand(false)),
            Opd::Bcast(m) => Instruction::with2(c, d, m.operand(true)),
        };
        self.push(Self::masked(i, lanes));
    }

    /// `dst = op(a, immediate)`.
    pub fn v2i(&mut self, op: Op, w: Width, dst: V, a: Opd, imm: u32, lanes: Lanes) {
        let (c, d) = (op[w as usize], vector_register(dst, w));
        let i = match a {
            Opd::Reg(a) => Instruction::with3(c, d, vector_register(a, w), imm),
            Opd::Mem(m) => Instruction::with3(c, d, m.operand(false), imm),
            Opd::Bcast(m) => Instruction::with3(c, d, m.operand(true), imm),
        };
        self.push(Self::masked(i, lanes));
    }

    /// `k = compare(a, b)` by the immediate, zero where `of` has no bit.
    #[allow(clippy::too_many_arguments)]
    pub fn vcmp(&mut self, op: Op, w: Width, k: K, a: V, b: Opd, imm: u32, of: Option<K>) {
        let (c, d, a) = (op[w as usize], mask_register(k), vector_register(a, w));
        let i = match b {
            Opd::Reg(b) => Instruction::with4(c, d, a, vector_register(b, w), imm),
            Opd::Mem(m) => Instruction::with4(c, d, a, m.operand(false), imm),
            Opd::Bcast(m) => Instruction::with4(c, d, a, m.operand(true), imm),
        };
        self.push(Self::masked(i, of.map_or(Lanes::All, Lanes::Of)));
    }

    /// `k`: which of `a` are of the classes of the immediate.
    pub fn vclass(&mut self, op: Op, w: Width, k: K, a: Opd, imm: u32) {
        let (c, d) = (op[w as usize], mask_register(k));
        self.push(match a {
            Opd::Reg(a) => Instruction::with3(c, d, vector_register(a, w), imm),
            Opd::Mem(m) => Instruction::with3(c, d, m.operand(false), imm),
            Opd::Bcast(m) => Instruction::with3(c, d, m.operand(true), imm),
        });
    }

    /// Stores lanes.
    pub fn store(&mut self, op: Op, w: Width, m: Mem, v: V, lanes: Lanes) {
        let c = op[w as usize];
        let i = Instruction::with2(c, m.operand(false), vector_register(v, Self::narrow(c, w, 1)));
        self.push(Self::masked(i, lanes));
    }

    /// Stores sixteen bytes of a vector of 64, the first ones or those behind so many.
    pub fn store_quarter(&mut self, m: Mem, v: V, q: u32, lanes: Lanes) {
        if q == 0 {
            return self.store(crate::vector_encodings::STORE32, Width::X, m, v, lanes);
        }
        let c = Code::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8;
        self.push(Self::masked(
            Instruction::with3(c, m.operand(false), vector_register(v, Width::Z), q),
            lanes,
        ));
    }

    /// Gathers into `dst` the lanes of `k`, which is zero afterwards; the index's width is the encoding's.
    pub fn gather(&mut self, op: Op, w: Width, dst: V, m: Mem, index: V, k: K) {
        let c = op[w as usize];
        let m = Mem { index: vector_register(index, Self::narrow(c, w, 1)), ..m };
        let d = vector_register(dst, Self::narrow(c, w, 0));
        self.push(Self::masked(Instruction::with2(c, d, m.operand(false)), Lanes::Of(k)));
    }

    /// Scatters the lanes of `k`, which is zero afterwards.
    pub fn scatter(&mut self, op: Op, w: Width, m: Mem, index: V, src: V, k: K) {
        let c = op[w as usize];
        let m = Mem { index: vector_register(index, Self::narrow(c, w, 0)), ..m };
        let s = vector_register(src, Self::narrow(c, w, 1));
        self.push(Self::masked(Instruction::with2(c, m.operand(false), s), Lanes::Of(k)));
    }

    /// The next instruction wants these bytes of the register file.
    pub fn want(&mut self, bytes: Range<u32>) {
        self.wanted.push(Wanted { before: self.code.len(), bytes });
    }

    /// Where the code is now, for [`Asm::back`].
    pub fn here(&self) -> Here {
        Here {
            code: self.code.len(),
            pending: self.pending,
            marks: self.marks.len(),
            wanted: self.wanted.len(),
            aside: self.aside.len(),
            joined: self.joined,
        }
    }

    /// Forgets what was added since.
    pub fn back(&mut self, to: Here) {
        self.code.truncate(to.code);
        self.joined = to.joined;
        self.pending = to.pending;
        self.marks.truncate(to.marks);
        self.wanted.truncate(to.wanted);
        self.aside.truncate(to.aside);
    }

    /// What comes next is rarely come to, begins with a label, is of what the tag names, and goes elsewhere at its end: it
    /// is put behind the rest, so that what runs often lies together.
    pub fn begin_slow_path(&mut self, tag: u32) -> SlowPath {
        let at = SlowPath {
            code: self.code.len(),
            marks: self.marks.len(),
            wanted: self.wanted.len(),
            pending: self.pending.take(),
            joined: self.joined,
        };
        self.mark(tag);
        at
    }

    /// The code goes on where it stopped.
    pub fn in_line(&mut self, at: SlowPath) {
        if self.pending.is_some() {
            self.op0(Code::Ud2);
        }
        let mut piece = Piece {
            code: self.code.split_off(at.code),
            marks: self.marks.split_off(at.marks),
            wanted: self.wanted.split_off(at.wanted),
        };
        piece.marks.iter_mut().for_each(|m| m.0 -= at.code);
        piece.wanted.iter_mut().for_each(|w| w.before -= at.code);
        self.aside.push(piece);
        (self.pending, self.joined) = (at.pending, at.joined);
    }

    /// Puts here what was put aside.
    pub fn put_aside(&mut self) {
        for mut piece in std::mem::take(&mut self.aside) {
            let at = self.code.len();
            self.code.append(&mut piece.code);
            self.marks.extend(piece.marks.iter().map(|(k, tag)| (k + at, *tag)));
            self.wanted.extend(piece.wanted.into_iter().map(|w| Wanted { before: w.before + at, ..w }));
        }
        self.joined = true;
    }

    /// Labels that stand for others are named as those.
    fn resolve(&mut self) {
        if !std::mem::take(&mut self.aliased) {
            return;
        }
        let alias = &self.alias;
        for i in &mut self.code {
            if i.is_jcc_short_or_near() || i.is_jmp_short_or_near() || i.is_call_near() {
                let to = i.near_branch64() - 1;
                i.set_near_branch64(u64::from(alias[to as usize]) + 1);
            } else if i.is_ip_rel_memory_operand() {
                let to = i.memory_displacement64() - 1;
                i.set_memory_displacement64(u64::from(alias[to as usize]) + 1);
            }
        }
        self.alias.iter_mut().zip(0..).for_each(|(a, l)| *a = l);
    }

    /// The code with all labels bound, and how many labels there are.
    ///
    /// # Errors
    /// What could not be encoded.
    pub fn settled(&mut self) -> Result<(&[Instruction], u32), String> {
        self.settle()?;
        Ok((&self.code, self.alias.len() as u32))
    }

    /// The same, to replace instructions one by one.
    ///
    /// # Errors
    /// What could not be encoded.
    pub fn settled_mut(&mut self) -> Result<&mut [Instruction], String> {
        self.settle()?;
        Ok(&mut self.code)
    }

    /// Puts other code in its place: of each instruction, where the first that it became is, and where all that was before it
    /// has been done; so many labels, of which some stand for others.
    pub fn replace(
        &mut self,
        code: Vec<Instruction>,
        (at, done): (&[usize], &[usize]),
        (labels, alias): (u32, &[(u32, u32)]),
    ) {
        self.code = code;
        self.alias.extend(self.alias.len() as u32..labels);
        for (l, of) in alias {
            (self.alias[*l as usize], self.aliased) = (*of, true);
        }
        self.resolve();
        let now = |of: &[usize], k: usize| of.get(k).copied().unwrap_or(self.code.len());
        self.marks.iter_mut().for_each(|m| m.0 = now(at, m.0));
        self.wanted.iter_mut().for_each(|w| w.before = now(done, w.before));
    }

    /// All labels are bound and named as what they are.
    fn settle(&mut self) -> Result<(), String> {
        if let Some(e) = &self.failed {
            return Err(e.to_string());
        }
        if self.named.iter().any(|l| self.aimed.get(*l as usize) == Some(&true)) {
            return Err("code goes to a label that only names a place".into());
        }
        if self.pending.is_some() {
            self.op0(Code::Ud2);
        }
        self.resolve();
        Ok(())
    }

    /// Encodes everything.
    pub fn finish(mut self) -> Result<Encoded, String> {
        // What cannot be encoded is a mistake of this compiler; the interpreter runs it.
        let encoded = self.settle().and_then(|()| encode(&self.code));
        debug_assert!(encoded.is_ok(), "{encoded:?}");
        let (bytes, at) = encoded?;
        let offset = |k: usize| at.get(k).copied().unwrap_or(u32::MAX);
        Ok(Encoded { marks: self.marks.iter().map(|(k, tag)| (offset(*k), *tag)).collect(), bytes })
    }
}

impl Asm {
    /// Narrowing into a register.
    pub fn store_to_reg(&mut self, op: Op, w: Width, dst: V, src: V) {
        let c = op[w as usize];
        let d = vector_register(dst, Self::narrow(c, w, 0));
        let i = Instruction::with2(c, d, vector_register(src, Self::narrow(c, w, 1)));
        self.push(i);
    }

    /// The dwords of the lanes of a mask, side by side from the first on, and zeros behind them.
    pub fn compress(&mut self, w: Width, dst: V, src: V, k: K) {
        let c = crate::vector_encodings::VPCOMPRESSD[w as usize];
        let i = Instruction::with2(c, vector_register(dst, w), vector_register(src, w)).map(|mut i| {
            i.set_op_mask(mask_register(k));
            i.set_zeroing_masking(true);
            i
        });
        self.push(i);
    }

    /// A dword of a general register in the lanes of a mask.
    pub fn put_lane(&mut self, w: Width, dst: V, r: Register, k: K) {
        let i = Instruction::with2(crate::vector_encodings::SPREAD[w as usize], vector_register(dst, w), r)
            .map(|mut i| {
                i.set_op_mask(mask_register(k));
                i
            });
        self.push(i);
    }

    /// Singles to halves in a register, rounded by the CPU's number of a direction.
    pub fn cvt_half(&mut self, w: Width, dst: V, src: V, how: u32) {
        let c = crate::vector_encodings::VCVTPS2PH[w as usize];
        let d = vector_register(dst, Self::narrow(c, w, 0));
        self.push(Instruction::with3(c, d, vector_register(src, Self::narrow(c, w, 1)), how));
    }
}
