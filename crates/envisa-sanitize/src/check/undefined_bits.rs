//! Which bits of registers and predicates have a value, and what instructions make of those that have none.
//!
//! Computing with bits that nothing gave a value is no mistake: compilers do it where no result takes them. So the
//! instructions of a thread that has such bits are followed, bit by bit, as Memcheck does it, and what depends on
//! them is complained of: branches, addresses, and what is stored where others see it.

use std::collections::HashMap;
use std::hash::Hash;

use envisa_isa::Type;
use envisa_lower::{Dst, ExecType, Inst, Message, Modifier, Op, Shape, Src, Touched};
use envisa_machine::thread::{Machine, Mask};

use super::memory_content::ContentPlace;
use super::uninitialised::{Shadow, element};
use super::{Checks, MAX_CALLS, byte_moves, channels};

/// Where bits without a value come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// Memory that nothing wrote.
    Memory(ContentPlace),
    /// A register that nothing wrote.
    Register(u32),
}

/// The instruction that brought bits without a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Origin {
    pub pc: u32,
    pub from: Source,
    /// They were moved since, and not computed with.
    pub copy: bool,
    /// The calls that led there.
    pub calls: Stack,
}

/// Where bytes without a value come from, by dwords: parts of one dword may come from different instructions, as an
/// element of a vector and its padding do.
#[derive(Clone, Debug)]
pub(super) struct Origins<K>(HashMap<K, [Option<Origin>; 4]>);

impl<K> Default for Origins<K> {
    fn default() -> Origins<K> {
        Origins(HashMap::new())
    }
}

impl<K: Copy + Eq + Hash> Origins<K> {
    /// None is known.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Is none known?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Of a byte of a dword.
    pub fn get(&self, dword: K, byte: u64) -> Option<Origin> {
        self.0.get(&dword).and_then(|all| all[byte as usize & 3])
    }

    /// A byte of a dword comes from there now, or is written.
    pub fn set(&mut self, dword: K, byte: u64, origin: Option<Origin>) {
        match origin {
            Some(_) => self.0.entry(dword).or_default()[byte as usize & 3] = origin,
            None if self.0.is_empty() => {}
            None => {
                if let Some(all) = self.0.get_mut(&dword) {
                    all[byte as usize & 3] = None;
                    if all.iter().all(Option::is_none) {
                        self.0.remove(&dword);
                    }
                }
            }
        }
    }
}

/// A stack of calls, by its number in [`Stacks`]; none of them is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Stack(u32);

/// Stacks of calls that led to values without content: of each the innermost calls, by program counter.
#[derive(Debug, Default)]
pub(super) struct Stacks(Vec<Vec<u32>>);

impl Stacks {
    /// Stacks that are kept; values of others are told without theirs.
    const MOST: usize = 256;

    /// The calls that a thread is in.
    pub fn of(&mut self, m: &Machine<'_>) -> Stack {
        if m.t.calls().next().is_none() {
            return Stack(0);
        }
        let is = |known: &Vec<u32>| m.t.calls().take(MAX_CALLS).eq(known.iter().copied());
        match self.0.iter().position(is) {
            Some(at) => Stack(at as u32 + 1),
            None if self.0.len() >= Stacks::MOST => Stack(0),
            None => {
                self.0.push(m.t.calls().take(MAX_CALLS).collect());
                Stack(self.0.len() as u32)
            }
        }
    }

    /// The calls of a stack, innermost first.
    pub fn calls(&self, stack: Stack) -> &[u32] {
        (stack.0 as usize).checked_sub(1).and_then(|at| self.0.get(at)).map_or(&[], Vec::as_slice)
    }
}

/// Predicates of which some channels have no value: which, and where that comes from.
pub(super) type Flags = HashMap<u32, (Mask, Origin)>;

const ALL: u64 = u64::MAX;

/// The bits from the lowest one of these on: of a sum, those that a carry can change.
fn and_above(bits: u64) -> u64 {
    if bits == 0 { 0 } else { ALL << bits.trailing_zeros() }
}

fn low(bits: u64) -> u64 {
    if bits >= 64 { ALL } else { (1 << bits) - 1 }
}

/// A number of some bits as one of 64.
fn extend(bits: u64, width: u64, signed: bool) -> u64 {
    let signed = signed && width > 0 && bits >> (width - 1).min(63) & 1 != 0;
    if signed { bits | !low(width) } else { bits & low(width) }
}

impl Shadow {
    /// The bits without a value of up to eight bytes.
    pub fn undefined(&self, at: u32, bytes: u32) -> u64 {
        if self.written.all(at, bytes) {
            return 0;
        }
        (0..bytes.min(8))
            .filter(|n| !self.written.any(at + n, 1))
            .fold(0, |x, n| x | u64::from(self.bits.get(&(at + n)).copied().unwrap_or(0xff)) << (8 * n))
    }

    /// From now on these bits of up to eight bytes have no value, and the others have one.
    pub fn set_undefined(&mut self, at: u32, bytes: u32, bits: u64, origin: Option<Origin>) {
        for n in 0..bytes.min(8) {
            let byte = (bits >> (8 * n)) as u8;
            self.set_origin(at + n, origin.filter(|_| byte != 0));
            if byte == 0 {
                self.written.set(at + n, 1);
                continue;
            }
            self.written.unset(at + n, 1);
            match byte {
                0xff if self.bits.is_empty() => {}
                0xff => drop(self.bits.remove(&(at + n))),
                _ => drop(self.bits.insert(at + n, byte)),
            }
        }
    }

    /// Where bytes without a value come from, if that is known of them.
    pub fn set_copied(&mut self, at: u32, bytes: u32, origins: [Option<Origin>; 8]) {
        for (at, origin) in (at..at + bytes).zip(origins) {
            if origin.is_some() && !self.written.any(at, 1) {
                self.set_origin(at, origin);
            }
        }
    }

    /// Where a byte without a value comes from.
    pub fn origin(&self, at: u32) -> Option<Origin> {
        self.origins.get(at / 4, u64::from(at % 4))
    }

    /// A byte without a value comes from there, or has one.
    pub fn set_origin(&mut self, at: u32, origin: Option<Origin>) {
        self.origins.set(at / 4, u64::from(at % 4), origin);
    }
}

/// An element that an instruction reads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Element {
    pub value: u64,
    pub undefined: u64,
    /// Its bytes in the register file, if it is taken as it is.
    pub at: u32,
    pub bytes: u32,
    origin: Option<Origin>,
}

/// What a channel of an instruction reads of a source.
fn read(m: &Machine<'_>, (pc, calls): (u32, Stack), shadow: &Shadow, src: &Src, k: u32) -> Element {
    let (at, ty, modifier) = match *src {
        Src::None | Src::Pred { .. } => return Element::default(),
        Src::Reg { offset, ty, strides, modifier, .. } => {
            (offset + strides.element(k) * ty.size(), ty, modifier)
        }
        Src::Indirect { address, bytes, per_address_log2, ty, strides, modifier } => {
            let t = Touched::Indirect {
                address,
                add: bytes,
                per_address_log2,
                bytes: ty.size(),
                strides,
                anew: true,
            };
            let Some((at, _)) = element(m, t, k) else { return Element::default() };
            (at, ty, modifier)
        }
    };
    let (bytes, width, signed) = (ty.size().min(8), 8 * u64::from(ty.size()), ty.is_int() && ty.is_signed());
    let mut raw = [0; 8];
    raw[..bytes as usize].copy_from_slice(m.t.regs.slice(at, bytes));
    let mut value = extend(u64::from_le_bytes(raw), width, signed);
    let constant = matches!(src, Src::Reg { constant: true, .. });
    let mut undefined = if constant { 0 } else { extend(shadow.undefined(at, bytes), width, signed) };
    match modifier {
        Modifier::Not => value = !value,
        Modifier::None => {}
        _ => undefined = and_above(undefined),
    }
    let here = || Origin { pc, from: Source::Register(at), copy: false, calls };
    let first = at + (undefined.trailing_zeros() / 8).min(bytes - 1);
    let origin = (undefined != 0).then(|| shadow.origin(first).unwrap_or_else(here));
    let taken = if constant || modifier != Modifier::None { 0 } else { bytes };
    Element { value, undefined, at, bytes: taken, origin }
}

fn source_type(src: &Src) -> Option<Type> {
    match *src {
        Src::Reg { ty, .. } | Src::Indirect { ty, .. } => Some(ty),
        Src::None | Src::Pred { .. } => None,
    }
}

/// Is the result of a move or a selection its source, or the low part of that?
fn is_plain(i: &Inst) -> bool {
    let (Dst::Reg { ty, sat, .. } | Dst::Indirect { ty, sat, .. }) = i.dst else { return false };
    let integers = i.src.iter().filter_map(source_type).all(|ty| ty.is_int() && !ty.is_packed());
    !sat && (source_type(&i.src[0]) == Some(ty) || integers && ty.is_int())
}

/// The bits without a value of what a channel computes of such elements. `picked`: the source that a selection takes, if
/// that is known.
fn result(i: &Inst, [a, b, c, d]: [Element; 4], picked: Option<usize>) -> u64 {
    let any = a.undefined | b.undefined | c.undefined | d.undefined;
    let integers = i.src.iter().filter_map(source_type).all(|ty| ty.is_int() && !ty.is_packed());
    let sat = matches!(i.dst, Dst::Reg { sat: true, .. } | Dst::Indirect { sat: true, .. });
    let plain = is_plain(i);
    if i.op == Op::Sel {
        return match picked {
            Some(n) if plain => [a, b][n & 1].undefined,
            Some(n) => {
                if [a, b][n & 1].undefined != 0 {
                    ALL
                } else {
                    0
                }
            }
            None => ALL,
        };
    }
    if any == 0 {
        return 0;
    }
    let zero = |e: Element| e.undefined == 0 && e.value == 0;
    if i.op == Op::Mov && plain {
        return a.undefined;
    }
    if !integers || sat {
        return ALL;
    }
    let width = if matches!(i.exec, ExecType::I64 | ExecType::U64) { 64 } else { 32 };
    let count = b.value & (width - 1);
    if let Some(table) = byte_moves::table(i) {
        return byte_moves::undefined(table, [a, b, c]);
    }
    match i.op {
        Op::Not => any,
        Op::Shl if b.undefined == 0 => a.undefined << count,
        Op::Shr if b.undefined == 0 => extend(a.undefined, width, false) >> count,
        Op::Asr if b.undefined == 0 => (extend(a.undefined, width, true) as i64 >> count) as u64,
        Op::Add | Op::Add3 | Op::Addc | Op::Subb => and_above(any),
        Op::Mul if zero(a) || zero(b) => 0,
        Op::Mul => and_above(any),
        Op::Mad if zero(a) || zero(b) => c.undefined,
        Op::Mad => and_above(any),
        Op::Bfe if (a.undefined | b.undefined) == 0 => {
            let field = c.undefined >> (b.value & 31) & low(a.value & 31);
            extend(field, a.value & 31, i.exec == ExecType::I32)
        }
        Op::Bfi if (a.undefined | b.undefined) == 0 => {
            let (field, at) = (low(a.value & 31), b.value & 31);
            (c.undefined & field) << at | d.undefined & !(field << at)
        }
        _ => ALL,
    }
}

/// Has a comparison of two elements a result whatever their undefined bits are?
fn compares(i: &Inst, a: Element, b: Element) -> bool {
    let integers = i.src.iter().filter_map(source_type).all(Type::is_int);
    let differ = (a.value ^ b.value) & !(a.undefined | b.undefined) != 0;
    i.src[0] == i.src[1] || integers && i.aux < 2 && differ
}

impl Checks {
    /// Follows the bits without a value that an instruction reads; false if it is none that computes, whose operands must
    /// all have one. Complains of a predicate without a value that decides where channels go, or what is stored.
    pub(super) fn follow_undefined_bits(&mut self, m: &Machine<'_>, pc: u32, i: &Inst, mask: Mask) -> bool {
        let active = if i.no_mask { u32::MAX } else { m.t.mask >> i.first };
        let full = u32::MAX >> (32 - u32::from(i.channels.clamp(1, 32)));
        let flags = |shadow: &Shadow, at: u32| match shadow.flags.get(&at) {
            Some((bits, origin)) if bits >> i.first & full != 0 => {
                let all = i.pred.combine != envisa_isa::Combine::None;
                Some((if all { full } else { bits >> i.first & full & active }, *origin))
            }
            _ => None,
        };
        let shadow = self.whole_shadow(m);
        let unsure = flags(shadow, i.pred.offset).filter(|f| i.pred.offset != 0 && f.0 != 0);
        let computes = match i.op {
            Op::Message => {
                // What a load brings that may not run is its own matter: of what it leaves, somebody else knows.
                let changes = |message: &Message| match message {
                    Message::Simt(s) => s.write,
                    Message::Block(b) => b.write,
                    Message::Typed(t) => t.write,
                    Message::Sample(_) => false,
                    _ => true,
                };
                let unsure =
                    unsure.filter(|_| m.env.program.messages().get(i.aux as usize).is_some_and(changes));
                if let Some((bits, origin)) = unsure {
                    self.report_undefined_use(m, pc, bits.trailing_zeros() + u32::from(i.first), origin);
                }
                return false;
            }
            Op::Goto | Op::Call | Op::Ret | Op::Fret | Op::Fcall => {
                let goes = unsure.map(|f| (f.0 & m.t.mask >> i.first, f.1)).filter(|f| f.0 != 0);
                if let Some((bits, origin)) = goes {
                    self.report_undefined_use(m, pc, bits.trailing_zeros() + u32::from(i.first), origin);
                }
                return false;
            }
            Op::PredLogic | Op::Setp | Op::MovPred => return self.flow_predicates(m, pc, i, mask),
            Op::Dpas | Op::Dpasw | Op::Bdpas | Op::Pln | Op::Line | Op::ShflIdx4 | Op::Pick => false,
            Op::Dp2 | Op::Dp3 | Op::Dp4 | Op::Dph | Op::Sad2 | Op::Sad2add => false,
            Op::ChannelEnables | Op::Join | Op::Ifcall | Op::Faddr | Op::SwitchJmp | Op::Barrier => false,
            Op::SplitBarrier | Op::NamedBarrier | Op::Fence | Op::Unsupported | Op::End | Op::Nop => false,
            _ => true,
        };
        if computes {
            self.compute(m, pc, i, mask, unsure);
        }
        computes
    }

    fn compute(&mut self, m: &Machine<'_>, pc: u32, i: &Inst, mask: Mask, unsure: Option<(Mask, Origin)>) {
        let calls = self.stacks.of(m);
        let shadow = self.whole_shadow(m);
        let picks: u32 = m.t.regs.peek(i.pred.offset);
        let (mut results, mut undefined, mut origin) = ([0u64; 32], 0u32, None);
        let mut copied = Vec::new();
        let also = unsure.filter(|_| i.op != Op::Sel).map_or(0, |f| f.0);
        for k in channels(mask | also) {
            let elements = [0, 1, 2, 3].map(|n| read(m, (pc, calls), shadow, &i.src[n], k));
            let is_unsure = unsure.is_some_and(|f| f.0 >> k & 1 != 0);
            let picked = match i.op {
                Op::Sel if !is_unsure && i.pred.combine == envisa_isa::Combine::None => {
                    let first = (picks >> (u32::from(i.first) + k) & 1 != 0) != i.pred.invert;
                    Some(usize::from(!first))
                }
                _ => None,
            };
            let bits = match i.op {
                Op::Cmp if compares(i, elements[0], elements[1]) => 0,
                Op::Cmp if elements[0].undefined | elements[1].undefined == 0 => 0,
                Op::Cmp => ALL,
                Op::Sel if picked.is_none() && !is_unsure => elements[0].undefined | elements[1].undefined,
                _ => result(i, elements, picked),
            };
            let bits = if is_unsure { ALL } else { bits };
            if bits != 0 {
                let from = elements.iter().find_map(|e| e.origin).or(unsure.map(|f| f.1));
                origin = origin.or(from);
                if !is_unsure {
                    let source = if i.op == Op::Mov { Some(0) } else { picked }.filter(|_| is_plain(i));
                    let bytes = byte_moves::copied(i, elements, source);
                    copied.push((k, bytes.map(|at| shadow.origin(at?))));
                }
                (results[k as usize], undefined) = (bits, undefined | 1 << k);
            }
        }
        if undefined != 0 {
            (shadow.spoilt, shadow.changes) = (true, true);
        }
        let mut copied = copied.into_iter().peekable();
        let origin = origin.map(|o| Origin { copy: false, ..o }).unwrap_or(Origin {
            pc,
            from: Source::Register(0),
            copy: false,
            calls,
        });
        let base = m.env.program.registers().address_base;
        let mut uses = false;
        for k in channels(mask | also & undefined) {
            let bits = results[k as usize];
            let at = match i.dst {
                Dst::Reg { offset, ty, stride, .. } => {
                    Some((offset + k * u32::from(stride) * ty.size(), ty.size()))
                }
                Dst::Indirect { address, bytes, per_address_log2, ty, stride, .. } => {
                    let strides = envisa_lower::Strides { vertical: stride, width_log2: 0, horizontal: 0 };
                    let (add, bytes) = (bytes, ty.size());
                    element(
                        m,
                        Touched::Indirect { address, add, per_address_log2, bytes, strides, anew: false },
                        k,
                    )
                }
                Dst::None | Dst::Pred { .. } => None,
            };
            // Address registers and states decide what other instructions do.
            match at {
                Some((at, _)) if at < base => uses |= bits != 0,
                Some((at, bytes)) => {
                    shadow.set_undefined(at, bytes, bits, Some(origin));
                    if let Some((_, origins)) = copied.next_if(|c| c.0 == k) {
                        shadow.set_copied(at, bytes, origins);
                    }
                }
                None => {}
            }
            if i.dst2 != 0 && !matches!(i.op, Op::Add3o | Op::Invm | Op::Rsqtm) {
                shadow.set_undefined(i.dst2 + 4 * k, 4, if bits == 0 { 0 } else { ALL }, Some(origin));
            }
        }
        let predicate = match (i.dst, i.op) {
            (Dst::Pred { offset }, _) => Some(offset),
            (_, Op::Add3o | Op::Invm | Op::Rsqtm) if i.dst2 != 0 => Some(i.dst2),
            _ => None,
        };
        if let Some(at) = predicate {
            shadow.set_flags(at, (mask | also) << i.first, undefined << i.first, origin);
        }
        if uses {
            self.report_undefined_use(m, pc, undefined.trailing_zeros() + u32::from(i.first), origin);
        }
    }

    /// Moves between predicates and registers, and logic of predicates.
    fn flow_predicates(&mut self, m: &Machine<'_>, pc: u32, i: &Inst, mask: Mask) -> bool {
        let calls = self.stacks.of(m);
        let shadow = self.whole_shadow(m);
        let full = u32::MAX >> (32 - u32::from(i.channels.clamp(1, 32)));
        let one = |shadow: &Shadow, src: &Src| match *src {
            Src::Pred { offset, invert } => {
                let value: u32 = m.t.regs.peek(offset);
                let (undefined, origin) = shadow.flags.get(&offset).map_or((0, None), |f| (f.0, Some(f.1)));
                (if invert { !value } else { value }, undefined, origin)
            }
            _ => {
                let e = read(m, (pc, calls), shadow, src, 0);
                (e.value as u32, e.undefined as u32, e.origin)
            }
        };
        let (a, b) = (one(shadow, &i.src[0]), one(shadow, &i.src[1]));
        let both = a.1 | b.1;
        let undefined = match (i.op, i.aux) {
            (Op::PredLogic, 0x88) => both & !(!a.0 & !a.1 | !b.0 & !b.1),
            (Op::PredLogic, 0xee) => both & !(a.0 & !a.1 | b.0 & !b.1),
            _ => both,
        };
        if undefined != 0 {
            (shadow.spoilt, shadow.changes) = (true, true);
        }
        let origin = a.2.or(b.2).unwrap_or(Origin { pc, from: Source::Register(0), copy: false, calls });
        match i.dst {
            Dst::Pred { offset } if i.op == Op::Setp => {
                let scalar = !matches!(i.src[0], Src::Reg { shape, .. } if shape != Shape::Scalar);
                let lowest = |k: &u32| read(m, (pc, calls), shadow, &i.src[0], *k).undefined & 1 != 0;
                let (bits, undefined) = match scalar {
                    true => (full, undefined & full),
                    false => (mask, channels(mask).filter(lowest).fold(0, |x, k| x | 1 << k)),
                };
                shadow.set_flags(offset, bits << i.first, undefined << i.first, origin);
            }
            Dst::Pred { offset } => {
                let bits = mask << i.first;
                shadow.set_flags(offset, bits, undefined & bits, origin);
            }
            Dst::Reg { offset, ty, .. } => {
                shadow.set_undefined(offset, ty.size(), u64::from(undefined), Some(origin));
            }
            Dst::None | Dst::Indirect { .. } => {}
        }
        true
    }
}

impl Shadow {
    /// Of these channels of a predicate, those of the second mask have no value now, and the others have one.
    fn set_flags(&mut self, at: u32, channels: Mask, undefined: Mask, origin: Origin) {
        let before = self.flags.get(&at).copied();
        let others = before.map(|f| (f.0 & !channels, f.1)).filter(|f| f.0 != 0);
        match others.map_or(0, |f| f.0) | undefined {
            0 if before.is_none() => {}
            0 => drop(self.flags.remove(&at)),
            // The lowest channel's is told.
            now => {
                let first =
                    others.filter(|f| undefined == 0 || f.0.trailing_zeros() < undefined.trailing_zeros());
                self.flags.insert(at, (now, first.map_or(origin, |f| f.1)));
            }
        }
    }

    /// Does an instruction read or write a predicate of which some channels have no value?
    pub fn has_flags(&self, i: &Inst) -> bool {
        let there = |at: u32| self.flags.contains_key(&at);
        !self.flags.is_empty()
            && (i.pred.offset != 0 && there(i.pred.offset)
                || matches!(i.dst, Dst::Pred { offset } if there(offset))
                || i.dst2 != 0 && there(i.dst2)
                || i.src.iter().any(|s| matches!(*s, Src::Pred { offset, .. } if there(offset))))
    }
}
