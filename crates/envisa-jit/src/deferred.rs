//! Results that are made where they are read: truths, which stay masks on their way from compares to what they
//! decide, and elements picked out of dwords.
//!
//! Compilers make vectors of truths (`cmp` into a register, `sel` of it and 0, `cmp.ne` with 0) to join
//! conditions. Where such a value has one reader, in the same block, nothing is written: the reader evaluates the
//! compares it comes from, each into the mask of those before.

use envisa_isa::{Combine, Modifier, Type};
use envisa_lower::analysis::{CellId, CellKind, Cells, Flow, Liveness};
use envisa_lower::{Dst, ExecType, Inst, Op, Pc, Program, RegOffset, Shape, Src, Strides};

use crate::affine_vectors::{Shapes, constant};
use crate::fast_maps::{Map, Set};
use crate::float_modes::Modes;

/// Most leaves of a chain.
const MOST: usize = 12;
/// How far off readers are looked for.
const FAR: Pc = 96;

/// What a chain is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaf {
    /// What a compare gives.
    Compare(Pc),
    /// Is what an instruction selects where its predicate holds other than zero?
    Nonzero(Pc),
    /// A predicate, where it is kept.
    Pred { offset: RegOffset, invert: bool },
}

/// How a leaf joins those before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Join {
    And,
    Or,
    Xor,
}

/// A truth a channel, from left to right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Chain {
    pub first: Leaf,
    pub rest: Vec<(Join, Leaf)>,
    /// The opposite of all that.
    pub invert: bool,
}

impl Chain {
    fn leaf(first: Leaf) -> Chain {
        Chain { first, rest: Vec::new(), invert: false }
    }

    /// Is it true where every leaf is?
    pub fn conjunction(&self) -> bool {
        !self.invert && self.rest.iter().all(|r| r.0 == Join::And)
    }

    fn leaves(&self) -> impl Iterator<Item = Leaf> + '_ {
        std::iter::once(self.first).chain(self.rest.iter().map(|r| r.1))
    }

    /// Both, if they can be written as one.
    fn join(self, by: Join, other: Chain) -> Option<Chain> {
        let (mut a, b) = match other.rest.is_empty() {
            true => (self, other),
            false if self.rest.is_empty() => (other, self),
            false => (self, other),
        };
        if a.invert || b.invert || !b.rest.iter().all(|r| r.0 == by) {
            return None;
        }
        a.rest.push((by, b.first));
        a.rest.extend(b.rest);
        (a.rest.len() < MOST).then_some(a)
    }
}

/// What a truth is where it holds; elsewhere it is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    /// A predicate's bit.
    Bit,
    /// This number.
    Number(i32),
    /// Any number but 0.
    Nonzero,
}

/// A truth whose reader may take it: who makes it, and what it is.
type Pending = (Pc, Chain, Value);

/// What is made where it is read.
#[derive(Clone, Default, Debug)]
pub(crate) struct Deferred {
    /// By instruction: the truth that it makes, or decides by.
    chains: Map<Pc, (Chain, Value)>,
    /// The predicates that instructions do not find where they are kept: `(reader, predicate)` to the writer.
    preds: Map<(Pc, RegOffset), Pc>,
    /// These readers.
    readers: Set<Pc>,
    /// Instructions whose sources are others.
    patched: Map<Pc, Inst>,
    /// What has no code of its own.
    skipped: Set<Pc>,
    /// Cells that are read later than the program does.
    pub longer: Vec<(CellId, Pc)>,
    /// The last of those places, by cell.
    last: Map<CellId, Pc>,
    /// Instructions that read what others were to write, and find it elsewhere.
    elsewhere: Set<Pc>,
}

impl Deferred {
    /// Is there nothing of the kind?
    pub fn is_empty(&self) -> bool {
        self.skipped.is_empty() && self.chains.is_empty()
    }

    /// Has the instruction no code of its own?
    pub fn skips(&self, pc: Pc) -> bool {
        self.skipped.contains(&pc)
    }

    /// Does it read what has not been made?
    pub fn reads(&self, pc: Pc) -> bool {
        self.patched.contains_key(&pc)
            || self.chains.contains_key(&pc)
            || self.elsewhere.contains(&pc)
            || self.readers.contains(&pc)
    }

    /// The truth that an instruction makes of others.
    pub fn chain(&self, pc: Pc) -> Option<&(Chain, Value)> {
        self.chains.get(&pc)
    }

    /// The predicate that an instruction looks at, if it was not written.
    pub fn pred(&self, pc: Pc, offset: RegOffset) -> Option<&Chain> {
        let from = self.preds.get(&(pc, offset))?;
        self.chains.get(from).map(|c| &c.0)
    }

    /// An instruction with the sources it really has.
    pub fn inst(&self, pc: Pc) -> Option<&Inst> {
        self.patched.get(&pc)
    }

    /// Cells that only instructions without code write.
    pub fn gone(&self, p: &Program, cells: &Cells) -> Set<CellId> {
        if self.skipped.is_empty() {
            return Set::default();
        }
        let (mut gone, mut written) = (Set::default(), Set::default());
        for pc in 0..p.code().len() as Pc {
            cells.accesses(p.parts(), pc, &mut |a| {
                if a.write {
                    if self.skips(pc) {
                        gone.insert(a.cell)
                    } else {
                        written.insert(a.cell)
                    };
                }
            });
        }
        gone.difference(&written).copied().collect()
    }
}

/// What the search knows.
struct Search<'a> {
    p: &'a Program,
    flow: &'a Flow,
    cells: &'a Cells,
    live: &'a Liveness,
    shapes: &'a Shapes,
    full: bool,
    modes: &'a Modes,
    /// How compares come out that the launch decides.
    outcomes: &'a [(Pc, bool)],
    /// One past the end of the block of each instruction.
    ends: Vec<Pc>,
    /// Truths with one reader: by reader and what it reads.
    pending: Map<Pc, Vec<(RegOffset, Pending)>>,
    out: Deferred,
}

impl Deferred {
    /// Finds all of it.
    pub fn new(
        p: &Program,
        flow: &Flow,
        cells: &Cells,
        live: &Liveness,
        shapes: &Shapes,
        (full, modes, outcomes): (bool, &Modes, &[(Pc, bool)]),
    ) -> Deferred {
        let pending = Map::default();
        let (ends, out) = (block_ends(p, flow), Deferred::default());
        let mut s = Search { p, flow, cells, live, shapes, full, modes, outcomes, ends, pending, out };
        for pc in (0..flow.end()).filter(|pc| flow.is_reachable(*pc)) {
            s.picked(pc);
            s.truth(pc);
        }
        for (c, pc) in &s.out.longer {
            let last = s.out.last.entry(*c).or_insert(*pc);
            *last = (*last).max(*pc);
        }
        s.out
    }

    /// Is a cell read at an instruction, or behind it, where the program does not?
    pub fn read_behind(&self, cell: CellId, pc: Pc) -> bool {
        self.last.get(&cell).is_some_and(|last| *last >= pc)
    }

    /// Compares in 64 bits of what fits in 32, with its sign, are done in 32.
    pub fn narrow_compares(&mut self, p: &Program, all: &[Pc]) {
        for pc in all {
            let was = &p.code()[*pc as usize];
            let i = *self.inst(*pc).unwrap_or(was);
            // What is read in place of another may have no sign.
            let narrow = |(s, was): (&Src, &Src)| match s {
                Src::Reg { ty, .. } => s == was || (ty.is_int() && ty.size() <= 4 && *ty != Type::Ud),
                s => constant(p, s).is_some_and(|x| i32::try_from(x).is_ok()),
            };
            if i.exec == ExecType::I64 && i.src[..2].iter().zip(&was.src).all(narrow) {
                // What fits is the same with a sign.
                let signed = |s: Src| match s {
                    Src::Reg { ty: Type::Ud, offset, strides, shape, modifier, constant } => {
                        Src::Reg { ty: Type::D, offset, strides, shape, modifier, constant }
                    }
                    s => s,
                };
                self.patched.insert(*pc, Inst { exec: ExecType::I32, src: i.src.map(signed), ..i });
            }
        }
    }

    /// More that has no code, and who reads what that was to write.
    pub fn leave_out(&mut self, skipped: &Set<Pc>, readers: &Set<Pc>) {
        self.skipped.extend(skipped);
        self.elsewhere.extend(readers);
    }
}

/// One past the end of the block of each instruction: where channels come or go, or the thread does.
pub(crate) fn block_ends(p: &Program, flow: &Flow) -> Vec<Pc> {
    blocks_between(p, flow, &[])
}

/// The same where code stops at some instructions, too, and goes on behind them.
pub(crate) fn blocks_between(p: &Program, flow: &Flow, stops: &[bool]) -> Vec<Pc> {
    let n = flow.end();
    let mut leads = vec![false; n as usize + 1];
    for (pc, _) in stops.iter().take(n as usize).enumerate().filter(|(_, stops)| **stops) {
        leads[pc..pc + 2].fill(true);
    }
    leads[n as usize] = true;
    for pc in 0..n {
        let i = &p.code()[pc as usize];
        match i.op {
            Op::Join => leads[pc as usize] = true,
            Op::Goto => {
                leads[pc as usize + 1] = true;
                leads[(i.aux.min(n)) as usize] = true;
            }
            Op::Call => {
                leads[pc as usize + 1] = true;
                leads[(i.aux.min(n)) as usize] = true;
            }
            Op::Ret | Op::Fcall | Op::Ifcall | Op::End | Op::Unsupported => leads[pc as usize + 1] = true,
            op if op.waits() => {
                leads[pc as usize] |= op == Op::Dpasw;
                leads[pc as usize + 1] = true;
            }
            _ => {}
        }
    }
    let mut ends = vec![n; n as usize];
    let mut end = n;
    for pc in (0..n).rev() {
        ends[pc as usize] = end;
        if leads[pc as usize] {
            end = pc;
        }
    }
    ends
}

/// Does it compute in dwords?
fn computes_in_dwords(i: &Inst) -> bool {
    matches!(i.exec, ExecType::I32 | ExecType::U32 | ExecType::F32)
}

/// Dwords of integers, negated or as they are.
fn plain_dwords(s: &Src) -> bool {
    let plain = matches!(s, Src::Reg { ty: Type::D | Type::Ud, shape, modifier: Modifier::None | Modifier::Neg, constant: false, .. }
        if *shape != Shape::General);
    plain
}

/// May a predicate be made in the middle of such an instruction?
pub(crate) fn by_lanes(op: Op) -> bool {
    matches!(
        op,
        Op::Mov
            | Op::Add
            | Op::Add3
            | Op::Mul
            | Op::Mad
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::Not
            | Op::Shl
            | Op::Shr
            | Op::Asr
            | Op::Min
            | Op::Max
            | Op::Sel
    )
}

impl Search<'_> {
    fn inst(&self, pc: Pc) -> &Inst {
        &self.p.code()[pc as usize]
    }

    /// Does what the instruction writes count for all channels?
    fn all(&self, pc: Pc, c: CellId) -> bool {
        self.inst(pc).no_mask
            || (self.full && self.flow.all_channels_active(pc))
            || self.live.may_write_unmasked(pc, c)
    }

    fn accesses(&self, pc: Pc, write: bool) -> Vec<(CellId, bool)> {
        let mut out = Vec::new();
        self.cells.accesses(self.p.parts(), pc, &mut |a| {
            if a.write == write {
                out.push((a.cell, a.whole));
            }
        });
        out
    }

    /// Who reads what an instruction writes, if they are all in its block and not far off; one that reads it twice
    /// comes twice.
    fn readers(&self, pc: Pc, of: &[CellId]) -> Option<Vec<Pc>> {
        let mut out = Vec::new();
        let end = self.ends[pc as usize];
        for q in pc + 1..end.min(pc + FAR) {
            let reads = self.accesses(q, false);
            let n = reads.iter().filter(|r| of.contains(&r.0)).count();
            if n != 0 {
                if n % of.len() != 0 || reads.iter().any(|r| of.contains(&r.0) && !r.1) {
                    return None;
                }
                out.extend(std::iter::repeat_n(q, n / of.len()));
            }
            let wanted = |s: &Pc| of.iter().any(|c| self.live.of_thread(*s, *c));
            let gone = match q + 1 == end {
                true => !self.flow.successors(self.p.parts(), q).iter().any(wanted),
                false => !wanted(&(q + 1)),
            };
            let written = self.accesses(q, true);
            let over = |c: &CellId| written.iter().any(|w| w.0 == *c && w.1) && self.all(q, *c);
            if gone || (self.inst(q).pred.offset == 0 && of.iter().all(over)) {
                return Some(out);
            }
            if written.iter().any(|w| of.contains(&w.0)) {
                return None;
            }
        }
        None
    }

    /// Does nothing write what an instruction reads, from behind it to another one?
    fn stable(&self, from: Pc, to: Pc) -> bool {
        let reads: Vec<CellId> = self.accesses(from, false).into_iter().map(|r| r.0).collect();
        (from + 1..=to).all(|q| self.accesses(q, true).iter().all(|w| !reads.contains(&w.0)))
    }

    /// Can the leaves of a chain still be had there?
    fn holds(&self, chain: &Chain, since: Pc, at: Pc) -> bool {
        chain.leaves().all(|l| match l {
            Leaf::Compare(pc) | Leaf::Nonzero(pc) => self.stable(pc, at),
            Leaf::Pred { offset, .. } => {
                let Some(id) = self.cells.at(offset) else { return false };
                (since + 1..=at).all(|q| self.accesses(q, true).iter().all(|w| w.0 != id))
            }
        })
    }

    /// The cells of a vector of truths, of a whole instruction.
    fn vector(&self, i: &Inst) -> Option<(RegOffset, Vec<CellId>)> {
        let Dst::Reg { offset, ty, stride: 1, sat: false } = i.dst else { return None };
        // A compare writes all bits or none, whatever its destination's type.
        let integers = ty.is_int() || i.op == Op::Cmp;
        if !integers || ty.size() != 4 || !matches!(i.channels, 16 | 32) || i.dst2 != 0 {
            return None;
        }
        let parts = u32::from(i.channels) / 16;
        let cells: Option<Vec<CellId>> = (0..parts)
            .map(|k| {
                let id = self.cells.at(offset + 64 * k)?;
                let c = self.cells.get(id);
                let plain = c.kind == CellKind::Vector && c.offset == offset + 64 * k && c.bytes == 64;
                (plain && self.shapes.plain(id)).then_some(id)
            })
            .collect();
        Some((offset, cells?))
    }

    /// Where a source is, if it is a whole vector of integers, and whether it is negated.
    fn whole(&self, s: &Src) -> Option<(RegOffset, bool)> {
        let Src::Reg { offset, ty, shape: Shape::Contiguous, modifier, constant: false, .. } = *s else {
            return None;
        };
        let negated = match modifier {
            Modifier::None => false,
            Modifier::Neg => true,
            _ => return None,
        };
        (ty.is_int() && ty.size() == 4).then_some((offset, negated))
    }

    /// What an instruction may take of a register, as its only reader.
    fn pending(&self, pc: Pc, offset: RegOffset) -> Option<&Pending> {
        self.pending.get(&pc)?.iter().find(|p| p.0 == offset).map(|p| &p.1)
    }

    /// A truth that this instruction is the only one to read, and what it is as a vector.
    fn truth_of(&self, pc: Pc, s: &Src) -> Option<(Chain, Value)> {
        let (offset, negated) = self.whole(s)?;
        let (from, chain, value) = self.pending(pc, offset)?;
        let value = match *value {
            Value::Bit => return None,
            Value::Number(x) if negated => Value::Number(x.wrapping_neg()),
            value => value,
        };
        self.holds(chain, *from, pc).then(|| (chain.clone(), value))
    }

    /// A predicate, made here or found where it is kept.
    fn pred_of(&self, pc: Pc, offset: RegOffset, invert: bool) -> Option<Chain> {
        match self.pending(pc, offset) {
            Some((from, chain, Value::Bit)) if !invert && self.holds(chain, *from, pc) => Some(chain.clone()),
            _ => Some(Chain::leaf(Leaf::Pred { offset, invert })),
        }
    }

    /// The truth that an instruction makes, the vector that it is, and whether vectors of truths went into it.
    fn made(&self, pc: Pc) -> Option<(Chain, Value, bool)> {
        let i = self.inst(pc);
        if i.first != 0 || !matches!(i.channels, 16 | 32) || u32::from(i.channels) != self.p.simd() {
            return None;
        }
        let vector = matches!(i.dst, Dst::Reg { .. });
        match i.op {
            Op::Cmp if i.pred.offset == 0 && computes_in_dwords(i) => {
                let value = if vector { Value::Number(-1) } else { Value::Bit };
                if i.exec != ExecType::F32
                    && i.aux < 2
                    && constant(self.p, &i.src[1]) == Some(0)
                    && let Some((chain, _)) = self.truth_of(pc, &i.src[0])
                {
                    return Some((Chain { invert: chain.invert ^ (i.aux == 0), ..chain }, value, true));
                }
                // It is made in the middle of another one of its block, as that is.
                if i.exec == ExecType::F32 && !self.modes.ieee(pc..self.ends[pc as usize]) {
                    return None;
                }
                Some((Chain::leaf(Leaf::Compare(pc)), value, false))
            }
            Op::PredLogic if i.pred.offset == 0 => {
                let by = match i.aux & 0xff {
                    0x88 => Join::And,
                    0xee => Join::Or,
                    0x66 => Join::Xor,
                    _ => return None,
                };
                let side = |s: &Src| match *s {
                    Src::Pred { offset, invert } => self.pred_of(pc, offset, invert),
                    _ => None,
                };
                let [a, b] = [side(&i.src[0])?, side(&i.src[1])?];
                // What changes nothing is left out.
                let neutral = |c: &Chain| self.outcome(c) == Some(by == Join::And);
                if neutral(&a) {
                    return Some((b, Value::Bit, false));
                }
                if neutral(&b) {
                    return Some((a, Value::Bit, false));
                }
                Some((a.join(by, b)?, Value::Bit, false))
            }
            Op::Sel if vector && i.exec != ExecType::F32 && computes_in_dwords(i) => self.selected(pc, i),
            _ => None,
        }
    }

    fn selected(&self, pc: Pc, i: &Inst) -> Option<(Chain, Value, bool)> {
        if i.pred.offset == 0 || i.pred.combine != Combine::None {
            return None;
        }
        let by = self.pred_of(pc, i.pred.offset, i.pred.invert)?;
        let known = |k: usize| constant(self.p, &i.src[k]).map(|x| x as i32);
        match (known(0), known(1)) {
            (None, Some(0)) => match self.truth_of(pc, &i.src[0]) {
                Some((chain, value)) => Some((by.join(Join::And, chain)?, value, true)),
                None if plain_dwords(&i.src[0]) => {
                    Some((by.join(Join::And, Chain::leaf(Leaf::Nonzero(pc)))?, Value::Nonzero, false))
                }
                None => None,
            },
            (Some(x), None) => {
                let (chain, value) = self.truth_of(pc, &i.src[1])?;
                (value == Value::Number(x)).then_some(())?;
                Some((by.join(Join::Or, chain)?, value, true))
            }
            (Some(x), Some(0)) if x != 0 => Some((by, Value::Number(x), false)),
            _ => None,
        }
    }

    /// What a chain is if it is a compare that the launch decides.
    fn outcome(&self, chain: &Chain) -> Option<bool> {
        let Leaf::Compare(pc) = chain.first else { return None };
        let of = self.outcomes.iter().find(|d| d.0 == pc).filter(|_| chain.rest.is_empty());
        of.map(|d| d.1 ^ chain.invert)
    }

    /// The producers of an instruction's sources have no code of their own.
    fn commit(&mut self, pc: Pc, chain: &Chain) {
        for (offset, (from, made, value)) in self.pending.remove(&pc).unwrap_or_default() {
            // What is not part of the chain was left where it is.
            let left_out = value == Value::Bit && self.outcome(&made).is_some();
            let used = left_out || made.leaves().all(|l| chain.leaves().any(|o| o == l));
            let kept = chain.leaves().any(|l| matches!(l, Leaf::Pred { offset: at, .. } if at == offset));
            if !used || (value == Value::Bit && kept) {
                continue;
            }
            self.out.skipped.insert(from);
            if value == Value::Bit {
                self.out.preds.insert((pc, offset), from);
                self.out.readers.insert(pc);
            }
            self.out.chains.insert(from, (made, value));
        }
        for leaf in chain.leaves() {
            if let Leaf::Compare(from) | Leaf::Nonzero(from) = leaf {
                let read: Vec<_> = self.accesses(from, false);
                self.out.longer.extend(read.into_iter().map(|r| (r.0, pc)));
            }
        }
    }

    /// Looks at one instruction: what it makes of truths, and who reads it.
    fn truth(&mut self, pc: Pc) {
        let i = *self.inst(pc);
        let Some((chain, value, vectors)) = self.made(pc) else {
            self.decided(pc, &i);
            return;
        };
        if self.pending.contains_key(&pc) {
            self.commit(pc, &chain);
        }
        if vectors {
            self.out.chains.insert(pc, (chain.clone(), value));
        }
        let (offset, cells) = match i.dst {
            Dst::Pred { offset } => match self.cells.at(offset) {
                Some(id) if self.cells.get(id).kind == CellKind::Predicate => (offset, vec![id]),
                _ => return,
            },
            _ => match self.vector(&i) {
                Some(v) => v,
                None => return,
            },
        };
        if chain.invert || !cells.iter().all(|c| self.all(pc, *c)) {
            return;
        }
        if let Some(readers) = self.readers(pc, &cells)
            && let [q] = readers[..]
            && self.takes(q, offset, value)
        {
            let of = self.pending.entry(q).or_default();
            of.retain(|p| p.0 != offset);
            of.push((offset, (pc, chain, value)));
        }
    }

    /// Can an instruction take a truth as such, if all else holds?
    fn takes(&self, q: Pc, offset: RegOffset, value: Value) -> bool {
        let i = self.inst(q);
        if i.first != 0 || u32::from(i.channels) != self.p.simd() {
            return false;
        }
        let integers = i.exec != ExecType::F32 && computes_in_dwords(i);
        match value {
            Value::Bit => {}
            Value::Number(_) => return matches!(i.op, Op::Cmp | Op::Sel) && integers,
            Value::Nonzero => {
                let zero = i.aux < 2 && constant(self.p, &i.src[1]) == Some(0);
                return i.op == Op::Cmp && i.pred.offset == 0 && integers && zero;
            }
        }
        match i.op {
            Op::PredLogic => i.pred.offset == 0,
            Op::Goto => i.pred.offset == offset && i.pred.combine == Combine::None,
            op if by_lanes(op) => {
                let plain = matches!(i.dst, Dst::Reg { ty, stride: 1, .. } if ty.size() == 4);
                plain && computes_in_dwords(i) && i.pred.offset == offset && i.pred.combine == Combine::None
            }
            _ => false,
        }
    }

    /// An instruction that goes by a predicate.
    fn decided(&mut self, pc: Pc, i: &Inst) {
        let Some((from, chain, Value::Bit)) = self.pending(pc, i.pred.offset).cloned() else { return };
        if !(i.op == Op::Goto || by_lanes(i.op)) || !self.holds(&chain, from, pc) {
            return;
        }
        self.pending.entry(pc).or_default().retain(|p| p.0 == i.pred.offset);
        self.commit(pc, &chain);
    }

    /// The low bytes, or some others, of dwords that an instruction moves into a vector of their own.
    fn pick(&self, pc: Pc) -> Option<Src> {
        let i = self.out.patched.get(&pc).unwrap_or(self.inst(pc));
        let Dst::Reg { ty, stride: 1, sat: false, .. } = i.dst else { return None };
        let Src::Reg { offset, ty: from, strides, shape, modifier: Modifier::None, constant: false } =
            i.src[0]
        else {
            return None;
        };
        let size = ty.size();
        if i.op != Op::Mov
            || i.pred.offset != 0
            || size > 2
            || !ty.is_int()
            || !from.is_int()
            || !matches!(i.channels, 16 | 32)
        {
            return None;
        }
        let strides = match shape {
            Shape::General
                if from.size() == size && strides.step(i.channels.into()).map(|s| s * size) == Some(4) =>
            {
                strides
            }
            Shape::Contiguous if from.size() == 4 => {
                Strides { vertical: (4 / size) as u8, width_log2: 0, horizontal: 0 }
            }
            _ => return None,
        };
        Some(Src::Reg {
            offset,
            ty,
            strides,
            shape: Shape::General,
            modifier: Modifier::None,
            constant: false,
        })
    }

    /// Bytes or words picked out of dwords, whose readers can pick them as well.
    fn picked(&mut self, pc: Pc) {
        let i = *self.inst(pc);
        let Some(Src::Reg { offset: from, strides, .. }) = self.pick(pc) else { return };
        let Dst::Reg { offset, ty, .. } = i.dst else { return };
        let n = u32::from(i.channels);
        let (size, bytes) = (ty.size(), ty.size() * n);
        let cells: Vec<CellId> = self.accesses(pc, true).into_iter().map(|w| w.0).collect();
        let plain = cells.iter().all(|c| {
            let c = self.cells.get(*c);
            c.offset == offset && c.bytes == bytes
        });
        if !plain || cells.is_empty() {
            return;
        }
        let Some(readers) = self.readers(pc, &cells) else { return };
        // Where all compute at this width, these are made once.
        let packed = |q: &Pc| {
            let written = self.accesses(*q, true);
            crate::packable::element(self.inst(*q)) == Some(size) && written.iter().all(|w| self.all(*q, w.0))
        };
        if readers.iter().all(packed) {
            return;
        }
        let first = from - from % 4;
        let dwords: Vec<CellId> = (0..n).filter_map(|k| self.cells.at(first + 4 * k)).collect();
        let mut patched: Map<Pc, Inst> = Map::default();
        for q in readers {
            let mut reader = *patched.get(&q).or(self.out.patched.get(&q)).unwrap_or(self.inst(q));
            let able = by_lanes(reader.op) && matches!(reader.exec, ExecType::I32 | ExecType::U32);
            let stays = (pc + 1..=q).all(|q| self.accesses(q, true).iter().all(|w| !dwords.contains(&w.0)));
            if !able || !stays || reader.channels != i.channels || reader.first != i.first {
                return;
            }
            for s in &mut reader.src {
                if let Src::Reg {
                    offset: at, ty, modifier, shape: Shape::Contiguous, constant: false, ..
                } = *s
                    && at == offset
                    && ty.is_int()
                    && ty.size() == size
                {
                    let (offset, shape) = (from, Shape::General);
                    *s = Src::Reg { offset, ty, strides, shape, modifier, constant: false };
                }
            }
            let left =
                |s: &Src| matches!(*s, Src::Reg { offset: at, .. } if (offset..offset + bytes).contains(&at));
            if reader.src.iter().any(left) {
                return;
            }
            patched.insert(q, reader);
        }
        for q in patched.keys() {
            self.out.longer.extend(dwords.iter().map(|c| (*c, *q)));
        }
        self.out.skipped.insert(pc);
        self.out.patched.extend(patched);
    }
}
