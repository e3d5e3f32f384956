//! Which channels may be active at an instruction, as far as the channels that a launch's threads start with, their
//! local ids, and branches by these tell: for others there need be no code.

use std::collections::{BTreeMap, BTreeSet};

use envisa_isa::{Combine, Modifier, Type};
use envisa_lower::analysis::{CellId, CellKind, Cells, Flow, Liveness};
use envisa_lower::{Dst, ExecType, Inst, Op, Pc, Program, Shape, Src};

use crate::affine_vectors::constant;

/// What all threads that run the code start with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// Channels that any of them has.
    pub channels: u32,
    /// Words that are the same in all of them: first byte in the register file, and sixteen of them.
    pub words: Vec<(u32, [u16; 16])>,
}

/// The channels that may be active, by instruction; empty where nothing is known.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Active(Vec<u32>);

/// Values of a cell's sixteen elements, and which of them are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Lanes {
    x: [i32; 16],
    known: u16,
}

/// Bits of a predicate, and which of them are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Truth {
    bits: u32,
    known: u32,
}

/// What is known of the channels that come to an instruction: those of them that are known to have something have it
/// there and nowhere else.
#[derive(Clone, Debug)]
struct State {
    may: u32,
    values: BTreeMap<CellId, Lanes>,
    truths: BTreeMap<CellId, Truth>,
}

/// Passes over the code before the search is given up.
const PASSES: usize = 16;

/// Vectors and predicates that are remembered at all joins together, before it is.
const ROOM: usize = 1 << 18;

/// All channels of a program.
pub(crate) fn all_channels(simd: u32) -> u32 {
    u32::MAX >> 32u32.saturating_sub(simd).min(31)
}

impl Active {
    /// The channels that may be active at an instruction: no others are.
    pub fn at(&self, pc: Pc) -> u32 {
        self.0.get(pc as usize).copied().unwrap_or(u32::MAX)
    }

    /// May channels behind the first sixteen be active anywhere?
    pub fn upper(&self) -> bool {
        self.0.is_empty() || self.0.iter().any(|m| m >> 16 != 0)
    }

    /// Finds them. Each channel goes its own way, and what it computes stays what it is while it waits.
    pub fn new(p: &Program, flow: &Flow, cells: &Cells, live: &Liveness, given: &Given) -> Active {
        let full = all_channels(p.simd());
        let parts = |i: &Inst| i.op == Op::Goto && i.channels > 1 && i.pred.offset != 0;
        // Code of vectors has its own channels.
        if p.simd() < 8 || (given.channels == full && !p.code().iter().any(parts)) {
            return Active::default();
        }
        let search = Search {
            p,
            flow,
            cells,
            live,
            words: unwritten_words(cells, given),
            own: own_element_cells(p, flow, cells),
        };
        let Some(found) = search.run(given.channels) else { return Active::default() };
        let reached = |pc: &Pc| flow.is_reachable(*pc);
        if (0..flow.end()).filter(reached).all(|pc| found[pc as usize] == full) {
            return Active::default();
        }
        Active(found)
    }
}

/// Words in registers that nothing writes.
fn unwritten_words(cells: &Cells, given: &Given) -> Vec<(u32, [u16; 16])> {
    let written =
        |at: u32| cells.iter().any(|(_, c)| c.written && c.offset < at + 32 && at < c.offset + c.bytes);
    given.words.iter().filter(|w| !written(w.0)).copied().collect()
}

/// The cells whose elements, while channels wait, only the channels write whose they are, each its own; by cell.
fn own_element_cells(p: &Program, flow: &Flow, cells: &Cells) -> Vec<bool> {
    let one = |(_, c): (CellId, &envisa_lower::analysis::Cell)| match c.kind {
        CellKind::Vector => c.bytes == 64 && c.channel.is_some_and(|c| c.is_multiple_of(16)),
        CellKind::Predicate => true,
        _ => false,
    };
    let mut own: Vec<bool> = cells.iter().map(one).collect();
    for pc in (0..flow.end()).filter(|pc| flow.is_reachable(*pc)) {
        let i = &p.code()[pc as usize];
        cells.accesses(p.parts(), pc, &mut |a| {
            if !a.write || flow.waiting_labels(pc).next().is_none() {
                return;
            }
            let c = cells.get(a.cell);
            own[a.cell as usize] &= match (c.kind, i.dst) {
                (CellKind::Predicate, Dst::Pred { offset }) => {
                    offset == c.offset
                        && !i.no_mask
                        && i.channels > 1
                        && matches!(i.op, Op::Cmp | Op::PredLogic)
                }
                (CellKind::Predicate, _) => false,
                _ => a.masked && !i.no_mask && i.channels > 1,
            };
        });
    }
    own
}

struct Search<'a> {
    p: &'a Program,
    flow: &'a Flow,
    cells: &'a Cells,
    live: &'a Liveness,
    words: Vec<(u32, [u16; 16])>,
    own: Vec<bool>,
}

impl Search<'_> {
    /// The channels that may be active at each instruction; `None` where that takes too long to find.
    fn run(&self, channels: u32) -> Option<Vec<u32>> {
        let end = self.flow.end() as usize;
        let mut states: BTreeMap<Pc, State> = BTreeMap::new();
        states.insert(0, State { may: channels, values: BTreeMap::new(), truths: BTreeMap::new() });
        let (mut work, mut found) = (BTreeSet::from([0]), vec![0; end]);
        let (mut steps, mut room) = (0, ROOM);
        // Where channels come together, what each way brings has to be joined.
        let mut joins = vec![false; end + 1];
        for (pc, i) in (0..).zip(&self.p.code()[..end]) {
            if i.op == Op::Goto {
                (joins[i.aux as usize], joins[pc as usize + 1]) = (true, true);
            }
        }
        while let Some(from) = work.pop_first() {
            let mut s = states.get(&from)?.clone();
            let mut pc = from;
            loop {
                steps += 1;
                if steps > PASSES * end.max(64) {
                    return None;
                }
                found[pc as usize] |= s.may;
                let i = &self.p.code()[pc as usize];
                let [to, other] = self.flow.channel_successors(self.p.parts(), pc);
                let [taken, not] = self.ways(i, &s);
                self.step(pc, i, &mut s);
                let mut goes_on = None;
                for (to, may) in [(to, taken), (other, not)] {
                    let Some(to) = to.filter(|_| may != 0) else { continue };
                    if i.op != Op::Goto && to == pc + 1 && !joins[to as usize] {
                        goes_on = Some(to);
                    } else if self.bring(&mut states, to, &s, may, &mut room)? {
                        work.insert(to);
                    }
                }
                match goes_on {
                    Some(to) => pc = to,
                    None => break,
                }
            }
        }
        Some(found)
    }

    /// The channels that may go to the first and the second successor.
    fn ways(&self, i: &Inst, s: &State) -> [u32; 2] {
        let whole = i.first == 0 && u32::from(i.channels) == self.p.simd() && i.channels > 1;
        if i.op != Op::Goto || i.pred.offset == 0 || i.pred.combine != Combine::None || !whole {
            return [s.may; 2];
        }
        let truth = self.truth(s, i.pred.offset, i.pred.invert);
        [s.may & !(truth.known & !truth.bits), s.may & !(truth.known & truth.bits)]
    }

    /// Channels come to an instruction, knowing what they know: is that news there? `None` if there is no more room.
    fn bring(
        &self,
        states: &mut BTreeMap<Pc, State>,
        to: Pc,
        s: &State,
        may: u32,
        room: &mut usize,
    ) -> Option<bool> {
        let wanted = |c: &CellId| self.live.of_channel(to, *c);
        let Some(old) = states.get_mut(&to) else {
            let mut new = State { may, ..s.clone() };
            new.values.retain(|c, _| wanted(c));
            new.truths.retain(|c, _| wanted(c));
            *room = room.checked_sub(new.values.len() + new.truths.len())?;
            states.insert(to, new);
            return Some(true);
        };
        let mut news = may & !old.may != 0;
        old.may |= may;
        old.values.retain(|c, l| {
            let before = l.known;
            l.known &= s.values.get(c).map_or(0, |n| {
                (0..16).filter(|k| n.known >> k & 1 == 1 && n.x[*k] == l.x[*k]).fold(0, |m, k| m | 1 << k)
            });
            news |= l.known != before;
            l.known != 0
        });
        old.truths.retain(|c, t| {
            let before = t.known;
            t.known &= s.truths.get(c).map_or(0, |n| n.known & !(n.bits ^ t.bits));
            news |= t.known != before;
            t.known != 0
        });
        Some(news)
    }

    /// What is known once an instruction has been executed.
    fn step(&self, pc: Pc, i: &Inst, s: &mut State) {
        let vectors = self.vectors(i, s);
        let truth = self.truth_of(i, s);
        self.cells.accesses(self.p.parts(), pc, &mut |a| {
            if a.write {
                s.values.remove(&a.cell);
                s.truths.remove(&a.cell);
            }
        });
        for (c, l) in vectors.into_iter().flatten() {
            s.values.insert(c, l);
        }
        if let Some((c, t)) = truth {
            s.truths.insert(c, t);
        }
    }

    /// The cell that begins at a byte, if it is one of whose values something may be known.
    fn cell(&self, offset: u32) -> Option<CellId> {
        let c = self.cells.at(offset)?;
        (self.cells.get(c).offset == offset && self.own[c as usize]).then_some(c)
    }

    /// A source's values in sixteen channels of an instruction.
    fn source(&self, i: &Inst, s: &State, n: usize, part: u32) -> Option<Lanes> {
        if let Some(x) = constant(self.p, &i.src[n]) {
            return Some(Lanes { x: [x as i32; 16], known: u16::MAX });
        }
        let mut l = match i.src[n] {
            Src::None => Lanes { x: [0; 16], known: u16::MAX },
            Src::Reg {
                offset, ty: Type::D | Type::Ud, shape: Shape::Contiguous, constant: false, ..
            } => {
                let c = self.cell(offset + 64 * part)?;
                let own = self.cells.get(c).channel.map(u32::from) == Some(u32::from(i.first) + 16 * part);
                *s.values.get(&c).filter(|_| own)?
            }
            Src::Reg { offset, ty, shape: Shape::Contiguous, constant: false, .. }
                if matches!(ty, Type::Uw | Type::W) =>
            {
                let words = self.words.iter().find(|w| w.0 == offset + 32 * part)?.1;
                let x = words.map(|w| if ty == Type::W { i32::from(w as i16) } else { i32::from(w) });
                Lanes { x, known: u16::MAX }
            }
            _ => return None,
        };
        match i.src[n] {
            Src::None | Src::Reg { modifier: Modifier::None, .. } => Some(l),
            Src::Reg { modifier: Modifier::Neg, .. } => {
                l.x = l.x.map(i32::wrapping_neg);
                Some(l)
            }
            _ => None,
        }
    }

    /// Computes sixteen channels; what any source lacks is not known.
    fn compute(&self, i: &Inst, s: &State, part: u32, f: impl Fn([i32; 3]) -> i32) -> Option<Lanes> {
        let [a, b, c] = [0, 1, 2].map(|n| self.source(i, s, n, part));
        let (a, b, c) = (a?, b?, c?);
        let known = a.known & b.known & c.known;
        let x = std::array::from_fn(|k| f([a.x[k], b.x[k], c.x[k]]));
        (known != 0).then_some(Lanes { x, known })
    }

    /// Is it an instruction on dwords of all channels of its halves?
    fn plain(i: &Inst) -> bool {
        matches!(i.exec, ExecType::I32 | ExecType::U32)
            && i.pred.offset == 0
            && matches!(i.channels, 16 | 32)
            && !i.no_mask
            && i.first.is_multiple_of(16)
    }

    /// What an instruction writes to vectors, as far as it is known.
    fn vectors(&self, i: &Inst, s: &State) -> [Option<(CellId, Lanes)>; 2] {
        let Dst::Reg { offset, ty: Type::D | Type::Ud, stride: 1, sat: false } = i.dst else {
            return [None; 2];
        };
        if !Self::plain(i) || i.dst2 != 0 {
            return [None; 2];
        }
        let f: fn([i32; 3]) -> i32 = match i.op {
            Op::Mov => |[a, ..]| a,
            Op::Add | Op::Add3 => |[a, b, c]| a.wrapping_add(b).wrapping_add(c),
            Op::Mul => |[a, b, _]| a.wrapping_mul(b),
            Op::Mad => |[a, b, c]| a.wrapping_mul(b).wrapping_add(c),
            Op::And => |[a, b, _]| a & b,
            Op::Or => |[a, b, _]| a | b,
            Op::Shl if constant(self.p, &i.src[1]).is_some_and(|k| (0..32).contains(&k)) => {
                |[a, b, _]| a.wrapping_shl(b as u32)
            }
            _ => return [None; 2],
        };
        [0, 1].map(|part| {
            if 16 * part >= u32::from(i.channels) {
                return None;
            }
            Some((self.cell(offset + 64 * part)?, self.compute(i, s, part, f)?))
        })
    }

    /// A predicate's bits.
    fn truth(&self, s: &State, offset: u32, invert: bool) -> Truth {
        let known = self.cell(offset).and_then(|c| s.truths.get(&c));
        let t = known.copied().unwrap_or(Truth { bits: 0, known: 0 });
        Truth { bits: if invert { !t.bits } else { t.bits }, ..t }
    }

    /// What an instruction writes to a predicate, with what was there of other channels.
    fn truth_of(&self, i: &Inst, s: &State) -> Option<(CellId, Truth)> {
        let Dst::Pred { offset } = i.dst else { return None };
        let c = self.cell(offset).filter(|_| i.pred.offset == 0 && !i.no_mask)?;
        let shift = u32::from(i.first);
        let of = i.channel_bits();
        let mut t = self.truth(s, offset, false);
        let new = match i.op {
            Op::Cmp if Self::plain(i) => {
                let how: fn(i64, i64) -> bool = match i.aux {
                    0 => |a, b| a == b,
                    1 => |a, b| a != b,
                    2 => |a, b| a > b,
                    3 => |a, b| a >= b,
                    4 => |a, b| a < b,
                    5 => |a, b| a <= b,
                    _ => return None,
                };
                let signed = i.exec == ExecType::I32;
                let wide = move |x: i32| if signed { i64::from(x) } else { i64::from(x as u32) };
                let mut new = Truth { bits: 0, known: 0 };
                for part in 0..u32::from(i.channels) / 16 {
                    let Some(l) = self.compute(i, s, part, |[a, b, _]| i32::from(how(wide(a), wide(b))))
                    else {
                        continue;
                    };
                    let at = shift + 16 * part;
                    let bits = (0..16).fold(0u32, |m, k| m | (l.x[k] as u32) << k);
                    (new.bits, new.known) = (new.bits | bits << at, new.known | u32::from(l.known) << at);
                }
                new
            }
            Op::PredLogic => {
                let one = |n: usize| match i.src[n] {
                    Src::Pred { offset, invert } => Some(self.truth(s, offset, invert)),
                    _ => None,
                };
                let a = one(0)?;
                match i.aux & 0xff {
                    0x55 => Truth { bits: !a.bits, ..a },
                    table => {
                        let b = one(1)?;
                        let known = a.known & b.known;
                        match table {
                            0x88 => Truth { bits: a.bits & b.bits, known },
                            0xee => Truth { bits: a.bits | b.bits, known },
                            0x66 => Truth { bits: a.bits ^ b.bits, known },
                            _ => return None,
                        }
                    }
                }
            }
            _ => return None,
        };
        t.known = t.known & !of | new.known & of;
        t.bits = t.bits & !of | new.bits & of;
        (t.known != 0).then_some((c, t))
    }
}
