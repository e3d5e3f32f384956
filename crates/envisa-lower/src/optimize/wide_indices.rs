//! Indices that a program has in 64 bits, and adds up there.
//!
//! Of `a[i * n + j]`, compilers extend `i * n` and `j` and add quads, or make products of 64 bits of dwords. Here their sum
//! is made in 32 bits, and the message extends it: it knows what it is the sum of, and whether that is the same in 64 bits
//! ([`Extend::addends`](crate::Extend::addends)).
//!
//! Of two scalars of 64 bits that are added to an index, a message adds one: their sum is made before it.

use envisa_isa::{Modifier, Type};

use super::address_terms::Terms;
use super::dominators::Dominators;
use super::fold_addresses::{Place, Search};
use super::{Blocks, CHUNK, Uses, immediate};
use crate::program::*;
use crate::registers::REGISTER_PADDING;
use crate::{Addend, Extend, Message, Space};

/// Most sums that are made.
const MOST: usize = 256;

/// A sum that was made.
struct Made {
    of: [Addend; 2],
    /// The sum: of 32 bits, or with its upper dwords.
    sum: Addend,
    channels: u8,
    first: u8,
    pc: Pc,
}

/// Sums that messages want, and the instructions that make them, each with the message before which it is put.
struct Sums<'a> {
    uses: &'a Uses,
    blocks: &'a Blocks,
    room: RegOffset,
    made: Vec<Made>,
    insts: Vec<(Pc, Inst)>,
}

/// Extends vectors of bytes and words to dwords before these are extended to quads: the numbers of work-items are words, and an index
/// is known by dwords.
pub(super) fn extend_by_dwords(p: &mut ProgramParts, blocks: &Blocks) {
    let mut room = p.registers.bytes.saturating_sub(REGISTER_PADDING).next_multiple_of(CHUNK);
    let mut insts = Vec::new();
    for pc in 1..p.code.len() as Pc {
        let i = &mut p.code[pc as usize];
        let Some(ty) = extends_narrow(i).filter(|_| blocks.same(pc - 1, pc) && insts.len() < MOST) else {
            continue;
        };
        insts.push((
            pc,
            Inst { dst: Dst::Reg { offset: room, ty, stride: 1, sat: false }, exec: ExecType::I32, ..*i },
        ));
        i.src[0] = vector(room, ty);
        room += (4 * u32::from(i.channels)).next_multiple_of(CHUNK);
    }
    if !insts.is_empty() {
        p.registers.bytes = p.registers.bytes.max((room + REGISTER_PADDING).next_multiple_of(CHUNK));
        super::insert(p, insts);
    }
}

/// Does an instruction extend a vector of bytes or words to quads? The type of the dwords in between.
fn extends_narrow(i: &Inst) -> Option<Type> {
    let Dst::Reg { ty: Type::Q | Type::Uq, stride: 1, sat: false, .. } = i.dst else { return None };
    let Src::Reg { ty, shape: Shape::Contiguous, modifier: Modifier::None, constant: false, .. } = i.src[0]
    else {
        return None;
    };
    let plain = i.op == Op::Mov && i.channels >= 8 && i.pred == Pred::default() && i.dst2 == 0;
    let narrow = plain && ty.is_int() && ty.size() < 4;
    narrow.then_some(if ty.is_signed() { Type::D } else { Type::Ud })
}

/// Does what is described above.
pub(super) fn add(p: &mut ProgramParts, uses: &Uses, blocks: &Blocks) {
    let dominators = Dominators::new(p, blocks);
    let room = p.registers.bytes.saturating_sub(REGISTER_PADDING).next_multiple_of(CHUNK);
    let mut named = vec![0u32; p.messages.len()];
    for i in p.code.iter().filter(|i| i.op == Op::Message) {
        named[i.aux as usize] += 1;
    }
    let mut sums = Sums { uses, blocks, room, made: Vec::new(), insts: Vec::new() };
    for pc in 0..p.code.len() as Pc {
        let i = p.code[pc as usize];
        if i.op != Op::Message || named[i.aux as usize] != 1 || i.no_mask || sums.made.len() >= MOST {
            continue;
        }
        let search = Search { p, uses, blocks, dominators: &dominators, at: Place::of(pc as usize, &i) };
        // What is put in before an instruction is not run by those who come to that from elsewhere.
        let alone = blocks.before(pc).is_empty();
        let simple =
            |t: &Terms, origins: &[Src]| t.indices.len() < 2 && origins.len() < 2 && t.subtracted.is_empty();
        let Some((t, mut origins)) = address_terms(&search, &i).filter(|(t, o)| !alone || simple(t, o))
        else {
            continue;
        };
        let mut origin = origins.pop().unwrap_or(Src::None);
        if let Some(other) = origins.pop() {
            let at = sums.take(CHUNK);
            sums.insts.push((pc, compute_scalar(&i, Op::Add, [origin, other], at)));
            origin = scalar(at, Type::Uq);
        }
        for s in &t.subtracted {
            let at = sums.take(CHUNK);
            sums.insts.push((pc, compute_scalar(&i, Op::Add, [origin, *s], at)));
            origin = scalar(at, Type::Uq);
        }
        let mut indices = t.indices.clone();
        if indices.len() > 2 {
            origin = sums.add_scalars(p, (pc, &i), origin, (&mut indices, t.shift));
        }
        let (at, extend) = match indices[..] {
            [one] if one.upper.is_some() => (one.at, Extend::Joined(one)),
            [one] => (one.at, if one.signed { Extend::Sign } else { Extend::Zero }),
            [a, b] => (sums.dwords(pc, &i, [a, b]).at, Extend::Sum([a, b])),
            [a, b, c] => {
                // What has 64 bits already is added up in these.
                let mut all = [a, b, c];
                all.sort_by_key(|a| (a.upper.is_none(), a.signed));
                let of = [sums.quads(pc, &i, [all[0], all[1]]), all[2]];
                (sums.dwords(pc, &i, of).at, Extend::Sum(of))
            }
            _ => continue,
        };
        if let Message::Simt(s) = &mut p.messages[i.aux as usize] {
            (s.address, s.address_bytes, s.extend, s.scale) = (at, 4, extend, 1 << t.shift);
            (s.offset, s.origin) = (s.offset.wrapping_add(t.add as i64), origin);
        }
    }
    let Sums { room, insts, .. } = sums;
    if !insts.is_empty() {
        p.registers.bytes = p.registers.bytes.max((room + REGISTER_PADDING).next_multiple_of(CHUNK));
        super::insert(p, insts);
    }
}

impl Sums<'_> {
    /// Adds a scalar among three indices to an origin, so that two indices are left. It is one that does not change in the loop
    /// around the message: where a message may go is known from its origin.
    fn add_scalars(
        &mut self,
        p: &ProgramParts,
        (pc, message): (Pc, &Inst),
        origin: Src,
        (indices, shift): (&mut Vec<Addend>, u32),
    ) -> Src {
        let count = if shift == 0 { None } else { immediate(p, shift, Type::D) };
        let varies = |a: &Addend| a.halves().any(|at| self.blocks.varies(self.uses, at..at + 4, pc));
        let fixed = indices.iter().position(|a| scalar_quad(a).is_some() && !varies(a));
        let Some(k) = fixed.filter(|_| indices.len() > 2 && (shift == 0 || count.is_some())) else {
            return origin;
        };
        let Some(mut add) = scalar_quad(&indices.remove(k)) else { return origin };
        if let Some(count) = count {
            let at = self.take(CHUNK);
            self.insts.push((pc, compute_scalar(message, Op::Shl, [add, count], at)));
            add = scalar(at, Type::Uq);
        }
        if origin != Src::None {
            let at = self.take(CHUNK);
            self.insts.push((pc, compute_scalar(message, Op::Add, [origin, add], at)));
            return scalar(at, Type::Uq);
        }
        add
    }

    /// So many new bytes of registers.
    fn take(&mut self, bytes: u32) -> RegOffset {
        let at = self.room;
        self.room += bytes.next_multiple_of(CHUNK);
        at
    }

    /// The sum of these that was made before a message, if it and they are there still.
    fn find(&self, pc: Pc, i: &Inst, of: [Addend; 2], wide: bool) -> Option<Addend> {
        let kept = |m: &Made, a: &Addend| {
            let bytes = if a.scalar { 4 } else { 4 * u32::from(i.channels) };
            a.halves().all(|at| self.uses.last_before(at..at + bytes, pc).is_none_or(|w| w < m.pc))
        };
        let same = |m: &&Made| {
            (m.of, m.channels, m.first, m.sum.upper.is_some()) == (of, i.channels, i.first, wide)
                && self.blocks.same(m.pc, pc)
                && m.of.iter().all(|a| kept(m, a))
        };
        self.made.iter().rev().find(same).map(|m| m.sum)
    }

    fn keep(&mut self, pc: Pc, i: &Inst, of: [Addend; 2], sum: Addend) -> Addend {
        self.made.push(Made { of, sum, channels: i.channels, first: i.first, pc });
        sum
    }

    /// The sum of the dwords of two addends, for the channels of a message.
    fn dwords(&mut self, pc: Pc, i: &Inst, of: [Addend; 2]) -> Addend {
        if let Some(sum) = self.find(pc, i, of, false) {
            return sum;
        }
        let at = self.take(4 * u32::from(i.channels));
        self.insts.push((pc, compute(i, Op::Add, at, [low(of[0]), low(of[1]), Src::None])));
        self.keep(pc, i, of, Addend { at, ..Addend::default() })
    }

    /// The sum of two addends in 64 bits.
    fn quads(&mut self, pc: Pc, i: &Inst, of: [Addend; 2]) -> Addend {
        if let Some(sum) = self.find(pc, i, of, true) {
            return sum;
        }
        let [at, upper, carry] = [(); 3].map(|()| self.take(4 * u32::from(i.channels)));
        let mut highs = [Src::None; 2];
        for (high, a) in highs.iter_mut().zip(of) {
            *high = match a.upper {
                Some(at) => low(Addend { at, ..a }),
                None => Src::None,
            };
        }
        let lows = of.map(|a| with_type(low(a), Type::Ud));
        let dst = Dst::Reg { offset: at, ty: Type::Ud, stride: 1, sat: false };
        let add = compute(i, Op::Addc, at, [lows[0], lows[1], Src::None]);
        let add = Inst { exec: ExecType::U32, dst, dst2: carry, ..add };
        let carried = vector(carry, Type::D);
        let high = match highs {
            [a, Src::None] | [Src::None, a] => compute(i, Op::Add, upper, [a, carried, Src::None]),
            [a, b] => compute(i, Op::Add3, upper, [a, b, carried]),
        };
        self.insts.extend([(pc, add), (pc, high)]);
        self.keep(pc, i, of, Addend { at, upper: Some(upper), ..Addend::default() })
    }
}

/// The dwords of an addend, the lower ones if it has 64 bits.
fn low(a: Addend) -> Src {
    if a.scalar { scalar(a.at, Type::D) } else { vector(a.at, Type::D) }
}

fn with_type(mut s: Src, of: Type) -> Src {
    if let Src::Reg { ty, .. } = &mut s {
        *ty = of;
    }
    s
}

/// An instruction on dwords, for the channels of a message.
fn compute(message: &Inst, op: Op, to: RegOffset, [a, b, c]: [Src; 3]) -> Inst {
    Inst {
        op,
        pred: Pred::default(),
        exec: ExecType::I32,
        dst: Dst::Reg { offset: to, ty: Type::D, stride: 1, sat: false },
        src: [a, b, c, Src::None],
        aux: 0,
        ..*message
    }
}

/// What a message's addresses are made of, and the scalars of 64 bits among that, its own one included; `None` where they are
/// not quads, or no index of 32 bits that can be told from a pointer.
fn address_terms(search: &Search<'_>, i: &Inst) -> Option<(Terms, Vec<Src>)> {
    let Message::Simt(s) = &search.p.messages[i.aux as usize] else { return None };
    let quads = (s.space, s.address_bytes, s.extend, s.stride, s.base)
        == (Space::Flat, 8, Extend::None, Src::None, Src::None);
    if !quads || i.channels < 8 || !s.scale.is_power_of_two() {
        return None;
    }
    let t = search.terms(s.address, s.scale.trailing_zeros())?;
    let mut origins = t.origins.clone();
    origins.extend(Some(s.origin).filter(|o| *o != Src::None));
    let quad = |s: &Src| {
        matches!(s, Src::Reg { ty: Type::Q | Type::Uq, shape: Shape::Scalar, modifier: Modifier::None, .. })
    };
    // A pointer that a launch gives is none of the indices, and what is shifted is none itself.
    let given = |s: &Src| matches!(*s, Src::Reg { offset, .. } if search.uses.is_given(offset..offset + 8));
    let dwords = t.indices.iter().all(|a| a.upper.is_none());
    let adds_scalars = origins.len() > 1 || !t.subtracted.is_empty() || t.indices.len() > 2;
    let told = dwords || t.shift > 0 || origins.iter().any(given);
    let fits = addable(&t.indices)
        && origins.len() <= 2
        && (t.subtracted.is_empty() || !origins.is_empty())
        && (!adds_scalars || origins.iter().all(quad));
    (told && fits).then_some((t, origins))
}

/// Can indices be added up? Of three, at least two are in 64 bits, or have no sign.
fn addable(indices: &[Addend]) -> bool {
    let wide = |a: &&Addend| a.upper.is_some() || !a.signed;
    match indices {
        [_, _, _] => indices.iter().any(|a| a.upper.is_some()) && indices.iter().filter(wide).count() >= 2,
        _ => indices.len() <= 2,
    }
}

/// A scalar in a register.
fn scalar(offset: RegOffset, ty: Type) -> Src {
    Src::Reg {
        offset,
        ty,
        strides: Strides::SCALAR,
        shape: Shape::Scalar,
        modifier: Modifier::None,
        constant: false,
    }
}

/// A vector in registers.
fn vector(offset: RegOffset, ty: Type) -> Src {
    Src::Reg {
        offset,
        ty,
        strides: Strides::CONTIGUOUS,
        shape: Shape::Contiguous,
        modifier: Modifier::None,
        constant: false,
    }
}

/// A scalar index as a source of 64 bits, if it is one.
fn scalar_quad(a: &Addend) -> Option<Src> {
    match a.upper {
        _ if !a.scalar => None,
        None => Some(scalar(a.at, if a.signed { Type::D } else { Type::Ud })),
        Some(upper) => (a.at.is_multiple_of(8) && upper == a.at + 4).then(|| scalar(a.at, Type::Q)),
    }
}

/// An instruction on scalars of 64 bits.
fn compute_scalar(message: &Inst, op: Op, of: [Src; 2], to: RegOffset) -> Inst {
    Inst {
        op,
        channels: 1,
        first: 0,
        no_mask: true,
        pred: Pred::default(),
        exec: ExecType::I64,
        dst: Dst::Reg { offset: to, ty: Type::Uq, stride: 1, sat: false },
        src: [of[0], of[1], Src::None, Src::None],
        aux: 0,
        ..*message
    }
}
