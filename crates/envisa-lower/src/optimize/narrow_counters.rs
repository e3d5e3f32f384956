//! What loops count in 64 bits and never gets there is counted in 32.
//!
//! Of `for (size_t j = 0; j < n; j++)` with an `n` of 32 bits, compilers for devices that compare no quads ask whether the
//! upper dword of `j` is zero and the lower one less than `n`. It goes on from there only: the upper one is always zero. Here
//! `j` is a dword, which who reads quads extends, and nobody asks for the upper one.

use envisa_isa::{Combine, Modifier, Type};

use super::fold_addresses::constant;
use super::{Blocks, CHUNK, Uses, chunks_of_range};
use crate::program::*;
use crate::registers::REGISTER_PADDING;

/// Most counters that are narrowed.
const MOST: usize = 64;
/// Relations of compares, as instructions have them.
const EQ: u32 = 0;
const LT: u32 = 4;
/// Both of two predicates, as a table of truth.
const BOTH: u32 = 0x88;

/// A scalar of 64 bits that a loop counts by.
struct Counter {
    at: RegOffset,
    /// Instructions that begin it.
    starts: Vec<Pc>,
    /// The addition of one.
    next: Pc,
    /// The branch back, and the predicate of the compare of its lower dword.
    back: Pc,
    less: RegOffset,
    /// Where both were asked for, the upper dword and the lower one.
    both: Pc,
    /// Those that read it.
    readers: Vec<Pc>,
}

/// Does what is described above; whether there were any.
pub(super) fn narrow_counters(p: &mut ProgramParts, uses: &Uses, blocks: &Blocks) -> bool {
    let calls = |i: &Inst| matches!(i.op, Op::Call | Op::Fcall | Op::Ifcall | Op::SwitchJmp);
    let candidates: Vec<Pc> = (0..p.code.len() as Pc).filter(|pc| counted_scalar(p, *pc).is_some()).collect();
    if candidates.is_empty() || p.functions.len() != 1 || p.code.iter().any(calls) {
        return false;
    }
    let Ok(flow) = crate::analysis::Flow::new(p) else { return false };
    let mut room = p.registers.bytes.saturating_sub(REGISTER_PADDING).next_multiple_of(CHUNK);
    let of = |pc| Counter::of(p, uses, blocks, &flow, pc);
    let found: Vec<Counter> = candidates.into_iter().take(MOST).filter_map(of).collect();
    for c in &found {
        c.narrow(p, blocks, room);
        room += CHUNK;
    }
    if found.is_empty() {
        return false;
    }
    p.registers.bytes = p.registers.bytes.max((room + REGISTER_PADDING).next_multiple_of(CHUNK));
    // What nobody asks for but who makes it is not made.
    let mut keep = vec![true; p.code.len()];
    for c in &found {
        let Dst::Pred { offset } = p.code[c.both as usize].dst else { continue };
        let reads = |i: &Inst| {
            let mut found = false;
            i.reads(p, &mut |t| {
                let r = super::range_of_access(&t, i.channels, p);
                found |= r.start < offset + 4 && offset < r.end;
            });
            found
        };
        keep[c.both as usize] = (0..).zip(&p.code).any(|(pc, i): (Pc, &Inst)| pc != c.both && reads(i));
    }
    super::dead_code::remove_instructions(p, &keep);
    super::dead_code::remove_dead_code(p);
    true
}

/// The scalar of 64 bits that an instruction adds one to.
fn counted_scalar(p: &ProgramParts, pc: Pc) -> Option<RegOffset> {
    let i = &p.code[pc as usize];
    let Dst::Reg { offset: at, ty: Type::Q | Type::Uq, stride: 1, sat: false } = i.dst else { return None };
    let own = element(&i.src[0]).is_some_and(|(from, ty)| from == at && ty.size() == 8 && ty.is_int());
    let one = i.op == Op::Add && constant(p, &i.src[1]) == Some(1);
    (own && one && i.channels == 1 && runs_unconditionally(i) && at >= p.registers.locals_start).then_some(at)
}

fn quad_range(at: RegOffset) -> std::ops::Range<RegOffset> {
    at..at + 8
}

/// An element of an instruction of one channel, without a modifier.
fn element(s: &Src) -> Option<(RegOffset, Type)> {
    match *s {
        Src::Reg { offset, ty, shape: Shape::Scalar, modifier: Modifier::None, constant: false, .. } => {
            Some((offset, ty))
        }
        _ => None,
    }
}

/// Runs an instruction whatever channels are active, and unconditionally?
fn runs_unconditionally(i: &Inst) -> bool {
    i.no_mask && i.pred.offset == 0
}

/// Does an instruction copy both dwords of a quad to those of another place?
fn copies_quad(i: &Inst, at: RegOffset) -> Option<RegOffset> {
    let Src::Reg {
        offset, ty: Type::D | Type::Ud, shape: Shape::Contiguous, modifier: Modifier::None, ..
    } = i.src[0]
    else {
        return None;
    };
    match i.dst {
        Dst::Reg { offset: to, ty: Type::D | Type::Ud, stride: 1, sat: false }
            if (i.op, i.channels, offset) == (Op::Mov, 2, at)
                && runs_unconditionally(i)
                && to.is_multiple_of(8) =>
        {
            Some(to)
        }
        _ => None,
    }
}

impl Counter {
    /// What an instruction counts by, if its upper dword is always zero.
    fn of(
        p: &ProgramParts,
        uses: &Uses,
        blocks: &Blocks,
        flow: &crate::analysis::Flow,
        next: Pc,
    ) -> Option<Counter> {
        let at = counted_scalar(p, next)?;
        let writers: Vec<Pc> =
            chunks_of_range(quad_range(at)).flat_map(|c| uses.writers(c)).map(|w| w.1).collect();
        let starts: Vec<Pc> = writers.into_iter().filter(|w| *w != next).collect();
        if starts.is_empty() || !starts.iter().all(|pc| starts_small(p, *pc, at)) {
            return None;
        }
        // The branch back ends the block.
        let back = (next..p.code.len() as Pc).take_while(|pc| blocks.same(*pc, next)).last()?;
        let b = &p.code[back as usize];
        let plain = b.pred.combine == Combine::None && !b.pred.invert && b.pred.offset != 0;
        if b.op != Op::Goto || b.aux > next || !plain {
            return None;
        }
        let (less, both) = less_than(p, at, next, back)?;
        // Who comes back to the addition has taken the branch, or begun anew.
        let mut open = vec![0];
        open.extend(flow.successors(p, back).into_iter().filter(|to| *to != b.aux));
        let mut seen = vec![false; p.code.len()];
        while let Some(pc) = open.pop() {
            if pc == next {
                return None;
            }
            if std::mem::replace(seen.get_mut(pc as usize)?, true) || starts.contains(&pc) {
                continue;
            }
            open.extend(flow.successors(p, pc));
        }
        let readers = readers_of_counter(p, at, next)?;
        Some(Counter { at, starts, next, back, less, both, readers })
    }

    /// Makes it a dword.
    fn narrow(&self, p: &mut ProgramParts, blocks: &Blocks, to: RegOffset) {
        let dword = Dst::Reg { offset: to, ty: Type::Ud, stride: 1, sat: false };
        let as_dword = |s: &mut Src| {
            if let Src::Reg { ty, .. } = s {
                *ty = if ty.size() == 8 { Type::Ud } else { *ty };
            }
        };
        for pc in self.starts.iter().chain([&self.next]) {
            let i = &mut p.code[*pc as usize];
            (i.dst, i.exec) = (dword, ExecType::U32);
            i.src[..2].iter_mut().for_each(as_dword);
        }
        for pc in &self.readers {
            let i = &mut p.code[*pc as usize];
            if let Some(copy) = copies_quad(i, self.at) {
                i.dst = Dst::Reg { offset: copy, ty: Type::Uq, stride: 1, sat: false };
                (i.channels, i.exec, i.src[0]) = (1, ExecType::U64, scalar(to, Type::Ud));
                self.forward(p, blocks, *pc, copy, to);
                continue;
            }
            i.src.iter_mut().for_each(|s| replace_quad_operand(s, self.at, to));
        }
        replace_quad_operand(&mut p.code[self.next as usize].src[0], self.at, to);
        p.code[self.back as usize].pred.offset = self.less;
    }

    /// Who reads a copy in its block, while it is one, reads the counter.
    fn forward(&self, p: &mut ProgramParts, blocks: &Blocks, made: Pc, copy: RegOffset, to: RegOffset) {
        for pc in (made + 1..p.code.len() as Pc).take_while(|pc| blocks.same(*pc, made)) {
            if p.code[pc as usize].op != Op::Message {
                p.code[pc as usize].src.iter_mut().for_each(|s| replace_quad_operand(s, copy, to));
            }
            if pc == self.next || writes_range(p, pc, copy..copy + 8) {
                return;
            }
        }
    }
}

/// A dword in place of a quad, of its lower half, or of its upper one, which is zero.
fn replace_quad_operand(s: &mut Src, quad: RegOffset, to: RegOffset) {
    match element(s) {
        Some((at, ty)) if at == quad && ty.size() == 8 && ty.is_int() => *s = scalar(to, Type::Ud),
        Some((at, ty @ (Type::D | Type::Ud))) if at == quad => *s = scalar(to, ty),
        // The first constant is zero.
        Some((at, ty @ (Type::D | Type::Ud))) if at == quad + 4 => {
            *s = scalar(0, ty);
            if let Src::Reg { constant, .. } = s {
                *constant = true;
            }
        }
        _ => {}
    }
}

/// Does an instruction write any of a range?
fn writes_range(p: &ProgramParts, pc: Pc, range: std::ops::Range<RegOffset>) -> bool {
    let (i, mut found) = (&p.code[pc as usize], false);
    i.writes(p, &mut |t| {
        let r = super::range_of_access(&t, i.channels, p);
        found |= r.start < range.end && range.start < r.end;
    });
    found
}

/// A scalar.
fn scalar(offset: RegOffset, ty: Type) -> Src {
    let (strides, shape) = (Strides::SCALAR, Shape::Scalar);
    Src::Reg { offset, ty, strides, shape, modifier: Modifier::None, constant: false }
}

/// Is a quad all that an instruction writes, and what it writes a small number?
fn starts_small(p: &ProgramParts, pc: Pc, at: RegOffset) -> bool {
    let i = &p.code[pc as usize];
    let to =
        matches!(i.dst, Dst::Reg { offset, ty: Type::Q | Type::Uq, stride: 1, sat: false } if offset == at);
    let small = constant(p, &i.src[0]).is_some_and(|x| x < 1 << 31)
        || element(&i.src[0]).is_some_and(|(_, ty)| matches!(ty, Type::Uw | Type::Ub));
    to && small && (i.op, i.channels) == (Op::Mov, 1) && runs_unconditionally(i)
}

/// The predicate that says of a counter's lower dword that it is less than another one, if a branch is taken only where
/// it holds and the upper dword is zero; and the instruction that asks for both.
fn less_than(p: &ProgramParts, at: RegOffset, next: Pc, back: Pc) -> Option<(RegOffset, Pc)> {
    let made = |predicate: RegOffset, reader: Pc| {
        let pc = (next + 1..reader).rev().find(|pc| writes_range(p, *pc, predicate..predicate + 4))?;
        let i = &p.code[pc as usize];
        (i.dst == (Dst::Pred { offset: predicate }) && runs_unconditionally(i) && i.first == 0).then_some(pc)
    };
    // A dword of the counter, or of a copy of it.
    let half = |s: &Src, reader: Pc| {
        let (from, ty) = element(s).filter(|(_, ty)| matches!(ty, Type::D | Type::Ud))?;
        let quad = from & !7;
        let copy = || {
            let pc = (next + 1..reader).rev().find(|pc| writes_range(p, *pc, quad..quad + 8))?;
            copies_quad(&p.code[pc as usize], at).filter(|to| *to == quad)
        };
        (quad == at || copy().is_some()).then_some((from - quad, ty))
    };
    let both = made(p.code[back as usize].pred.offset, back)?;
    let i = &p.code[both as usize];
    let [Src::Pred { offset: a, invert: false }, Src::Pred { offset: b, invert: false }] = i.src[..2] else {
        return None;
    };
    if i.op != Op::PredLogic || i.aux != BOTH {
        return None;
    }
    let compared = |predicate: RegOffset| {
        let pc = made(predicate, both)?;
        let c = &p.code[pc as usize];
        let of = half(&c.src[0], pc)?;
        (c.op == Op::Cmp).then_some((c.aux, c.exec, of, c.src[1]))
    };
    let zero = |at: RegOffset| {
        let (relation, _, (half, _), other) = compared(at)?;
        ((relation, half) == (EQ, 4) && constant(p, &other) == Some(0)).then_some(())
    };
    let less = |at: RegOffset| {
        let (relation, exec, (half, ty), _) = compared(at)?;
        ((relation, exec, half, ty) == (LT, ExecType::U32, 0, Type::Ud)).then_some(at)
    };
    let found =
        less(a).and_then(|l| zero(b).map(|()| l)).or_else(|| less(b).and_then(|l| zero(a).map(|()| l)))?;
    // The branch has it as it was compared.
    let compare = made(found, both)?;
    (compare + 1..back).all(|pc| !writes_range(p, pc, found..found + 4)).then_some((found, both))
}

/// Who reads a counter, but for the addition; `None` if anybody does so in a way that a dword does not serve.
fn readers_of_counter(p: &ProgramParts, at: RegOffset, next: Pc) -> Option<Vec<Pc>> {
    let mut all = Vec::new();
    for (pc, i) in (0..).zip(&p.code) {
        let mut reads = 0;
        i.reads(p, &mut |t| {
            let r = super::range_of_access(&t, i.channels, p);
            reads += u32::from(r.start < at + 8 && at < r.end);
        });
        if reads == 0 || pc == next {
            continue;
        }
        let served = |s: &&Src| match element(s) {
            Some((from, ty)) if from == at => matches!(ty, Type::Q | Type::Uq | Type::D | Type::Ud),
            Some((from, ty)) if from == at + 4 => matches!(ty, Type::D | Type::Ud),
            _ => false,
        };
        let plain = i.src.iter().filter(served).count() as u32;
        if !(reads == plain && i.op != Op::Message || reads == 1 && copies_quad(i, at).is_some()) {
            return None;
        }
        all.push(pc);
    }
    Some(all)
}
