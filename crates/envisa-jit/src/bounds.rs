//! Bounds of integers in a launch: which indices of 64 bits are what native code has of them in 32.
//!
//! Of `a[y * n + x]` with sizes in 64 bits, a message's index is the sum of integers that have, or may have, more than 32
//! ([`Extend::addends`](envisa_lower::Extend::addends)). Native code adds in 32 bits, and looks at each access whether that
//! is the same. Where the numbers of groups and work-items and the arguments of a launch say so of all channels, it need
//! not: bounds of what the program makes of them are found here.
//!
//! Registers are looked at whatever the flow of control: the bounds of a cell are of all that any instruction writes there.
//! What a loop counts by goes no further than what its condition compares it with.

use std::collections::BTreeMap;

use envisa_isa::predefined::var;
use envisa_isa::{Combine, Modifier, Type};
use envisa_lower::analysis::{CellId, CellKind, Cells, Flow};
use envisa_lower::{Addend, Dst, ExecType, Inst, Message, Op, Pc, Program, RegOffset, Shape, Src};
use envisa_machine::dispatch::Prepared;

use crate::affine_vectors::constant;
use crate::fast_maps::{Map, Set};

mod counter;
mod values;

/// From the least to the greatest, of integers that are exact, or in 32 bits any that are the same modulo 2^32.
type Bounds = (i64, i64);

/// Passes over the code, after which what still grows is anything.
const PASSES: usize = 8;
/// Most instructions that take part.
const MOST: usize = 1 << 12;
/// How far before what reads a predicate it is looked for what made it.
const FAR: Pc = 8;

/// What fits in 32 bits, and the launches in which it does.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Fitting {
    /// Messages whose sums do, by number.
    pub messages: Vec<u32>,
    /// Compares in 64 bits whose operands do, with their signs.
    pub compares: Vec<Pc>,
    /// Compares that come out one way whatever else the launch does, and which.
    pub decided: Vec<(Pc, bool)>,
    given: Given,
}

/// What bounds were found from: values from the least to the greatest, and numbers of groups and of a group's work-items.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Given {
    /// By where they are in the image of registers, with their bytes.
    values: Vec<(u32, u32, Bounds)>,
    groups: [u32; 3],
    local: [u32; 3],
}

impl Fitting {
    /// Of a launch. Bounds of what it is given are powers of two where these do as well, so that they hold in other
    /// launches, too.
    pub fn new(p: &Program, flow: &Flow, cells: &Cells, prepared: &Prepared) -> Fitting {
        let wanted = Wanted {
            messages: messages_with_addends(p),
            compares: wide_compares(p, flow),
            decidable: uniform_compares(p, flow),
        };
        if wanted.is_empty() || p.code().len() > MOST {
            return Fitting::default();
        }
        let find = |round: bool| {
            let mut search = Search::new(p, flow, cells, prepared, round);
            search.run(&wanted);
            search.fitting(&wanted)
        };
        let wide = find(true);
        if wide.count() == wanted.count() {
            return wide;
        }
        let exact = find(false);
        if exact.count() > wide.count() { exact } else { wide }
    }

    fn count(&self) -> usize {
        self.messages.len() + self.compares.len()
    }

    /// Does it hold in another launch?
    pub fn holds(&self, prepared: &Prepared) -> bool {
        let small = |a: [u32; 3], b: [u32; 3]| (0..3).all(|d| a[d] <= b[d]);
        let value = |(at, bytes, (least, most)): &(u32, u32, Bounds)| {
            value(prepared, *at, *bytes).is_some_and(|x| (*least..=*most).contains(&x))
        };
        let given = &self.given;
        (self.count() == 0 && self.decided.is_empty())
            || (small(prepared.groups, given.groups)
                && small(prepared.local, given.local)
                && given.values.iter().all(value))
    }
}

/// What is to fit in 32 bits: messages by number, with their addends and channels, and compares.
struct Wanted {
    messages: Vec<(u32, Vec<Addend>, u32)>,
    compares: Vec<Pc>,
    /// Compares that may be decided.
    decidable: Vec<Pc>,
}

impl Wanted {
    fn count(&self) -> usize {
        self.messages.len() + self.compares.len()
    }

    fn is_empty(&self) -> bool {
        self.count() == 0 && self.decidable.is_empty()
    }
}

/// Compares of what is the same for all channels into predicates of many, as those of upper halves of 64 bits are.
fn uniform_compares(p: &Program, flow: &Flow) -> Vec<Pc> {
    if !p.code().iter().any(|i| i.op == Op::PredLogic) {
        return Vec::new();
    }
    let compares = |pc: &Pc| {
        let i = &p.code()[*pc as usize];
        let dwords = matches!(i.exec, ExecType::I32 | ExecType::U32);
        i.op == Op::Cmp && dwords && i.facts.uniform && i.channels >= 16 && matches!(i.dst, Dst::Pred { .. })
    };
    (0..flow.end()).filter(compares).collect()
}

/// Compares in 64 bits of integers of 32 bits or less, as those with what is negated are.
fn wide_compares(p: &Program, flow: &Flow) -> Vec<Pc> {
    let narrow = |s: &Src| match s {
        Src::Reg { ty, .. } => ty.is_int() && ty.size() <= 4,
        s => constant(p, s).is_some(),
    };
    let compares = |pc: &Pc| {
        let i = &p.code()[*pc as usize];
        i.op == Op::Cmp && i.exec == ExecType::I64 && i.src[..2].iter().all(narrow)
    };
    (0..flow.end()).filter(compares).collect()
}

/// Messages whose indices have addends, by number.
fn messages_with_addends(p: &Program) -> Vec<(u32, Vec<Addend>, u32)> {
    let channels: BTreeMap<u32, u32> =
        p.code().iter().filter(|i| i.op == Op::Message).map(|i| (i.aux, u32::from(i.channels))).collect();
    let of = |m: &Message| match m {
        Message::Simt(s) => s.extend.addends().to_vec(),
        _ => Vec::new(),
    };
    let all = (0..).zip(p.messages()).filter_map(|(k, m)| Some((k, of(m), *channels.get(&k)?)));
    all.filter(|m| !m.1.is_empty()).collect()
}

/// An integer that all threads of a launch start with.
fn value(prepared: &Prepared, at: u32, bytes: u32) -> Option<i64> {
    let b = prepared.image.get(at as usize..(at + bytes) as usize)?;
    let mut all = [0; 8];
    all.get_mut(..b.len())?.copy_from_slice(b);
    Some(i64::from_le_bytes(all))
}

/// What is known of a place: nothing yet, anything, or bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Known {
    #[default]
    Nothing,
    In(i64, i64),
    Anything,
}

impl Known {
    fn new(b: Option<Bounds>) -> Known {
        b.map_or(Known::Anything, |(a, b)| Known::In(a, b))
    }

    fn or(self, other: Known) -> Known {
        match (self, other) {
            (Known::Nothing, x) | (x, Known::Nothing) => x,
            (Known::In(a, b), Known::In(c, d)) => Known::In(a.min(c), b.max(d)),
            _ => Known::Anything,
        }
    }
}

/// A place in registers: a cell, and of one that is accessed in several ways, the dword in it.
type Place = (CellId, u32);

/// An addition of a constant to what a loop counts by, before the loop goes on only as long as that is less than something.
struct Counter {
    place: Place,
    /// What it is compared with, and what is added to that for the greatest that passes.
    limit: Src,
    less: i64,
    exec: ExecType,
}

struct Search<'a> {
    p: &'a Program,
    flow: &'a Flow,
    cells: &'a Cells,
    prepared: &'a Prepared,
    round: bool,
    known: Map<Place, Known>,
    /// The same without what counters write.
    outside: Map<Place, Known>,
    counters: Map<Pc, Counter>,
    given: Given,
    /// Where branches go.
    leads: Set<Pc>,
}

/// The next power of two, or what is.
fn round_up_if(x: i64, round: bool) -> i64 {
    if round { (x.max(1) as u64).next_power_of_two() as i64 } else { x }
}

impl<'a> Search<'a> {
    fn new(
        p: &'a Program,
        flow: &'a Flow,
        cells: &'a Cells,
        prepared: &'a Prepared,
        round: bool,
    ) -> Search<'a> {
        let most = |n: [u32; 3]| n.map(|n| round_up_if(n.into(), round).try_into().unwrap_or(u32::MAX));
        let given = Given { values: Vec::new(), groups: most(prepared.groups), local: most(prepared.local) };
        let (known, outside, counters) = Default::default();
        let targets = p.code().iter().filter(|i| i.op == Op::Goto).map(|i| i.aux);
        let leads = targets.chain(p.parts().tables.iter().flatten().copied()).collect();
        Search { p, flow, cells, prepared, round, known, outside, counters, given, leads }
    }

    /// Finds the bounds of all that is wanted, and of what that is made of.
    fn run(&mut self, wanted: &Wanted) {
        let order = self.makers(wanted);
        for pass in 0..2 * PASSES {
            let mut changed = false;
            for pc in &order {
                changed |= self.step(*pc, pass >= PASSES);
            }
            if !changed {
                return;
            }
        }
        // What has not settled is not known.
        self.known.values_mut().for_each(|k| *k = Known::Anything);
    }

    /// The instructions that make what is wanted, and what that is made of, in the order of the code; what the launch gives
    /// is known then.
    fn makers(&mut self, wanted: &Wanted) -> Vec<Pc> {
        let mut writers: Map<CellId, Vec<Pc>> = Map::default();
        for pc in (0..self.flow.end()).filter(|pc| self.flow.is_reachable(*pc)) {
            self.cells.accesses(self.p.parts(), pc, &mut |a| {
                if a.write {
                    writers.entry(a.cell).or_default().push(pc);
                }
            });
        }
        let mut open: Vec<CellId> = Vec::new();
        for pc in wanted.compares.iter().chain(&wanted.decidable) {
            self.cells.accesses(self.p.parts(), *pc, &mut |a| {
                if !a.write {
                    open.push(a.cell);
                }
            });
        }
        for (_, addends, channels) in &wanted.messages {
            for a in addends {
                let bytes = if a.scalar { 4 } else { 4 * channels };
                a.halves().for_each(|at| self.pieces(at, bytes, &mut |c| open.push(c)));
            }
        }
        let (mut seen, mut order): (Set<CellId>, Set<Pc>) = Default::default();
        while let Some(c) = open.pop() {
            if !seen.insert(c) {
                continue;
            }
            self.begin(c);
            let none = Vec::new();
            let all = writers.get(&c).unwrap_or(&none);
            for pc in all {
                if !order.insert(*pc) {
                    continue;
                }
                let mut read = |a: envisa_lower::analysis::Access| {
                    if !a.write {
                        open.push(a.cell);
                    }
                };
                self.cells.accesses(self.p.parts(), *pc, &mut read);
                if let Some(counter) = self.counter(*pc, all)
                    && !self.counters.values().any(|c| c.place == counter.place)
                {
                    if let Src::Reg { offset, ty, constant: false, .. } = counter.limit {
                        self.pieces(offset, ty.size(), &mut |c| open.push(c));
                    }
                    self.counters.insert(*pc, counter);
                }
            }
        }
        let mut order: Vec<Pc> = order.into_iter().collect();
        order.sort_unstable();
        order
    }

    /// The cells of a run of bytes.
    fn pieces(&self, at: RegOffset, bytes: u32, tell: &mut dyn FnMut(CellId)) {
        let mut p = at;
        while p < at + bytes {
            let Some(c) = self.cells.at(p) else { return };
            tell(c);
            p = self.cells.get(c).offset + self.cells.get(c).bytes;
        }
    }

    /// What is in a cell when a thread starts: what the launch puts there, and zero else.
    fn begin(&mut self, id: CellId) {
        let c = *self.cells.get(id);
        let places = self.places(c.offset, c.bytes).unwrap_or_default();
        for place in places {
            let (at, bytes) = match self.by_dwords(id) {
                true => (c.offset + 4 * place.1, 4),
                false => (c.offset, c.bytes),
            };
            // Variables that are predefined have what the machine puts there.
            let given = c.input || c.offset < self.p.registers().locals_start;
            let start = if given { self.start(at, bytes) } else { Known::In(0, 0) };
            self.known.insert(place, start);
            self.outside.insert(place, start);
        }
    }

    /// What the launch puts into a scalar, or each element of local ids.
    fn start(&mut self, at: RegOffset, bytes: u32) -> Known {
        let r0 = self.p.registers().predefined[var::R0 as usize];
        let inputs = self.p.inputs().iter().filter(|i| i.offset <= at && at + bytes <= i.offset + i.bytes);
        let image = match at.checked_sub(r0).filter(|x| x + bytes <= 32) {
            Some(x) => Some(x),
            None => inputs.map(|i| i.image + (at - i.offset)).next(),
        };
        let Some(image) = image else { return Known::Anything };
        let below = |n: u32| Known::In(0, i64::from(n.max(1)) - 1);
        let payload = self.prepared.payload_range();
        let group = [4, 24, 28].iter().position(|x| (*x, 4) == (image, bytes));
        if let Some(d) = group {
            return below(self.given.groups[d]);
        }
        if payload.contains(&(image as usize)) {
            // Local ids are words.
            return below(self.given.local.into_iter().max().unwrap_or(1));
        }
        let end = image + bytes;
        if self.prepared.varying_ranges().any(|r| image < r.end && r.start < end) {
            return match self.prepared.varying_ranges().skip(2).any(|r| r.contains(&image) && bytes == 4) {
                // How many work-items a group has.
                true => below(self.given.local.into_iter().max().unwrap_or(1) + 1),
                false => Known::Anything,
            };
        }
        let found = matches!(bytes, 4 | 8).then(|| value(self.prepared, image, bytes)).flatten();
        match found {
            Some(x) if (0..1 << 31).contains(&x) => {
                let bounds = if x == 0 { (0, 0) } else { (1, round_up_if(x, self.round)) };
                self.given.values.push((image, bytes, bounds));
                Known::In(bounds.0, bounds.1)
            }
            _ => Known::Anything,
        }
    }

    /// Does each dword of a cell have bounds of its own?
    fn by_dwords(&self, id: CellId) -> bool {
        let c = self.cells.get(id);
        let dwords = c.bytes <= 32 && (c.offset | c.bytes).is_multiple_of(4);
        dwords && matches!(c.kind, CellKind::Mixed | CellKind::Vector)
    }

    /// The places of a run of bytes, if bounds of them are kept.
    fn places(&self, at: RegOffset, bytes: u32) -> Option<Vec<Place>> {
        let mut all = Vec::new();
        let mut p = at;
        while p < at + bytes {
            let id = self.cells.at(p)?;
            let c = self.cells.get(id);
            match c.kind {
                _ if self.by_dwords(id) => {
                    if !(p | bytes).is_multiple_of(4) {
                        return None;
                    }
                    let end = (c.offset + c.bytes).min(at + bytes);
                    all.extend((p..end).step_by(4).map(|x| (id, (x - c.offset) / 4)));
                }
                CellKind::Vector | CellKind::Narrow => all.push((id, 0)),
                CellKind::Scalar if c.offset == p => all.push((id, 0)),
                _ => return None,
            }
            p = c.offset + c.bytes;
        }
        Some(all)
    }
}

impl Search<'_> {
    /// The messages whose addends and sums are numbers of 32 bits with a sign, and the compares whose operands are.
    fn fitting(self, wanted: &Wanted) -> Fitting {
        let small = |(a, b): Bounds| a >= i32::MIN.into() && b <= i32::MAX.into();
        let fits = |(_, addends, channels): &&(u32, Vec<Addend>, u32)| {
            let all: Option<Vec<Bounds>> = addends.iter().map(|a| self.addend(a, *channels)).collect();
            all.is_some_and(|all| {
                let sum = all.iter().fold((0, 0), |s, a| (s.0 + a.0, s.1 + a.1));
                all.iter().copied().all(small) && small(sum)
            })
        };
        let messages = wanted.messages.iter().filter(fits).map(|m| m.0).collect();
        let fits = |pc: &&Pc| {
            let i = &self.p.code()[**pc as usize];
            let small = |s: &Src| matches!(self.source(&self.known, i, s), Known::In(a, b) if small((a, b)));
            i.src[..2].iter().all(small)
        };
        let compares = wanted.compares.iter().filter(fits).copied().collect();
        let decided = wanted.decidable.iter().filter_map(|pc| Some((*pc, self.decided(*pc)?))).collect();
        Fitting { messages, compares, decided, given: self.given }
    }

    /// The bounds of an addend of so many channels, which its lower dword has with its sign.
    fn addend(&self, a: &Addend, channels: u32) -> Option<Bounds> {
        let bytes = if a.scalar { 4 } else { 4 * channels };
        let ty = if a.signed && a.upper.is_none() { Type::D } else { Type::Ud };
        let dwords = |at: RegOffset| self.elements(&self.known, at, bytes, 4);
        let upper = a.upper.map_or(Known::In(0, 0), dwords);
        match (dwords(a.at).read_as(ty), upper) {
            (Known::In(a, b), Known::In(0, 0)) => Some((a, b)),
            _ => None,
        }
    }
}
