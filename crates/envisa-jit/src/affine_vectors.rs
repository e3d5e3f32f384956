//! Vectors of integers that are known by their first element: the same in all channels, or a step apart.

use envisa_isa::{Modifier, Type};
use envisa_lower::analysis::{Cell, CellId, CellKind, Cells, Flow, Liveness};
use envisa_lower::{Dst, ExecType, Inst, Message, Op, Pc, Program, Shape, Simt, Src};

use crate::fast_maps::{Map, Set};

mod lane_numbers;
mod twins;

pub(crate) use lane_numbers::lane_numbers;

/// What a launch gives in a register before the program runs: the words of a half of the channels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Seed {
    /// First byte in the register file, of 16 words.
    pub offset: u32,
    /// From word to word.
    pub step: i32,
    /// It is that in each so many channels, 8 or 16; the next ones begin anew.
    pub lanes: u8,
    /// How far the first word is from that of the half before, if both are alike but for that.
    pub jump: Option<i32>,
}

/// Passes over a program's definitions before its shapes are given up: each but the last few finds something out.
const ROUNDS: u32 = 64;

/// Shapes of cells: `element(i) = element(0) + i * step`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shapes {
    step: ByCell,
    /// The same of all cells of which it is known, however they are kept.
    strides: ByCell,
    /// Of cells that are kept whole: the step within each half of them.
    halves: ByCell,
    /// Of cells that are kept as their first element: those that are wanted as vectors as well, more than once.
    vectors: Set<CellId>,
    /// Of these, those whose first element is so far from another one's, and which that is.
    after: Map<CellId, (CellId, i32)>,
    /// Second halves of vectors, however they are kept, whose elements are all so far from those of the first.
    alike: ByCell,
    /// Of these, those that nobody makes, with the first halves, and how far they are from them.
    twins: Map<CellId, (CellId, i32)>,
    /// What instructions do not read, as they do not make them.
    unread: Set<(Pc, CellId)>,
    /// Vectors that are made of what was clamped: see [`clamped`].
    clamped: Set<CellId>,
    /// Cells that are made of numbers with high bits: see [`tagged_cells`].
    tagged: Set<CellId>,
}

/// The steps of cells that have one.
type ByCell = Vec<Option<i32>>;

fn step_of(all: &ByCell, c: CellId) -> Option<i32> {
    all.get(c as usize).copied().flatten()
}

/// A source's step, if it is known.
pub(crate) fn constant(p: &Program, s: &Src) -> Option<i64> {
    let Src::Reg { offset, ty, shape: Shape::Scalar, modifier, constant: true, .. } = *s else { return None };
    let b = p.registers().constants.get(offset as usize..(offset + ty.size()) as usize)?;
    let mut all = [0; 8];
    all[..b.len()].copy_from_slice(b);
    let x = i64::from_le_bytes(all);
    let unused = 64 - 8 * b.len() as u32;
    let x = match ty {
        Type::B | Type::W | Type::D | Type::Q => x << unused >> unused,
        Type::Ub | Type::Uw | Type::Ud | Type::Uq => x,
        _ => return None,
    };
    match modifier {
        Modifier::None => Some(x),
        Modifier::Neg => Some(x.wrapping_neg()),
        _ => None,
    }
}

impl Shapes {
    /// The step of a cell that is kept as its first element.
    pub fn step(&self, cell: CellId) -> Option<i32> {
        step_of(&self.step, cell)
    }

    /// The step of a cell, if it is known, however the cell is kept.
    pub fn stride(&self, cell: CellId) -> Option<i32> {
        step_of(&self.strides, cell)
    }

    /// Is a cell that is kept as its first element worth a register, too?
    pub fn vector(&self, cell: CellId) -> bool {
        self.vectors.contains(&cell)
    }

    /// The cell by whose first element that of another one is known, and how far apart they are.
    pub fn after(&self, cell: CellId) -> Option<(CellId, i32)> {
        self.after.get(&cell).copied()
    }

    /// How far all elements of a vector's second half are from those of the first, the cell before it.
    pub fn alike(&self, cell: CellId) -> Option<i32> {
        step_of(&self.alike, cell)
    }

    /// The first half that a second one is so far from which nobody makes.
    pub fn twin(&self, cell: CellId) -> Option<(CellId, i32)> {
        self.twins.get(&cell).copied()
    }

    /// All of these, each with its first half.
    pub fn twins(&self) -> impl Iterator<Item = (CellId, CellId)> {
        self.twins.iter().map(|(c, (first, _))| (*c, *first))
    }

    /// Is a cell an operand of an instruction that does not read it?
    pub fn unread(&self, pc: Pc, cell: CellId) -> bool {
        self.unread.contains(&(pc, cell))
    }

    /// Instructions do not read more than that.
    pub fn leave_unread(&mut self, unread: &Set<(Pc, CellId)>) {
        self.unread.extend(unread);
    }

    /// Does an instruction not read what it is said to?
    pub fn are_all_read(&self) -> bool {
        self.unread.is_empty() && self.twins.is_empty()
    }

    /// Is a cell nothing but the bytes that the program writes there?
    pub fn plain(&self, cell: CellId) -> bool {
        self.step(cell).is_none() && self.twin(cell).is_none()
    }

    /// Is a cell made of what was clamped?
    pub fn clamped(&self, cell: CellId) -> bool {
        self.clamped.contains(&cell)
    }

    /// Is a cell made of numbers that say what memory an address is of?
    pub fn tagged(&self, cell: CellId) -> bool {
        self.tagged.contains(&cell)
    }

    /// What is known of a function, which may be called with anything in registers.
    pub fn of_function(p: &Program, flow: &Flow, cells: &Cells) -> Shapes {
        let accesses = collect_accesses(p, flow, cells);
        let (clamped, tagged) = (clamped(p, &accesses, cells), tagged_cells(p, &accesses));
        Shapes { clamped, tagged, ..Shapes::default() }
    }

    /// The step within each eight elements of a cell, if that is known.
    pub fn halves(&self, cell: CellId) -> Option<i32> {
        step_of(&self.halves, cell)
    }

    /// Finds them: vectors of 16 dwords that are always written whole, of shapes that agree, and that
    /// addresses are made of. They are found from what a launch gives, and from the numbers of channels that the program
    /// makes itself.
    pub fn new(
        p: &Program,
        flow: &Flow,
        cells: &Cells,
        live: &Liveness,
        full: bool,
        seeds: &[Seed],
        lane_numbers: &[Seed],
    ) -> Shapes {
        let accesses = collect_accesses(p, flow, cells);
        let (clamped, tagged) = (clamped(p, &accesses, cells), tagged_cells(p, &accesses));
        let definitions = collect_definitions(p, flow, cells, live, full, &accesses);
        let mut seeds = [&unwritten_seeds(cells, seeds), lane_numbers].concat();
        let mut halves = Vec::new();
        if seeds.iter().any(|s| s.lanes == 8) {
            let all = solve_steps(p, cells, &definitions, &seeds).unwrap_or_default();
            halves = steps_of_cells(&all);
            seeds.retain(|s| s.lanes == 16);
        }
        let Some(step) = solve_steps(p, cells, &definitions, &seeds) else {
            return Shapes { clamped, tagged, ..Shapes::default() };
        };
        let strides = steps_of_cells(&step);
        let shaped = |c: CellId| matches!(step[c as usize], Some(Some(_)));
        // Wanted are those that addresses are, or are made of: what makes them mostly stands before them.
        let mut wanted = vec![false; cells.len()];
        let mut grew = true;
        while grew {
            grew = false;
            for (pc, accessed) in accesses.iter().rev() {
                let made = accessed.written.iter().any(|c| wanted[*c as usize]);
                let mut want = |c: CellId| {
                    if shaped(c) && !wanted[c as usize] {
                        (wanted[c as usize], grew) = (true, true);
                    }
                };
                let i = &p.code()[pc as usize];
                if i.op == Op::Message {
                    if let Some(Message::Simt(s)) = p.messages().get(i.aux as usize)
                        && s.address_bytes == 4
                    {
                        let row =
                            |c: &CellId| full || step[*c as usize].flatten().is_some_and(|x| is_row(s, x));
                        let upper = s.extend.addends().iter().filter(|a| !a.scalar).filter_map(|a| a.upper);
                        for at in std::iter::once(s.address).chain(upper) {
                            for part in 0..u32::from(i.channels).div_ceil(16) {
                                cells.at(at + 64 * part).filter(row).into_iter().for_each(&mut want);
                            }
                        }
                    }
                } else if made {
                    accessed.read.iter().copied().for_each(want);
                }
            }
        }
        // What is made of nothing but those, where these are no vectors else, costs less as one of them.
        let uses = vector_uses(p, &accesses, |c| wanted[c as usize], |_, _| false);
        let first = |c: &CellId| wanted[*c as usize] && uses.get(c).is_none_or(|n| *n <= 1);
        let mut made = Vec::new();
        for (_, accessed) in accesses.iter() {
            let mut from =
                accessed.read.iter().filter(|c| cells.get(**c).kind == CellKind::Vector).peekable();
            if from.peek().is_some() && from.all(first) {
                made.extend(accessed.written.iter().copied().filter(|c| shaped(*c)));
            }
        }
        made.into_iter().for_each(|c| wanted[c as usize] = true);
        // A cell is kept by its first element only if all halves of its instruction are: code is by
        // instruction, not by half.
        let mut step = strides.clone();
        step.iter_mut().zip(wanted).filter(|s| !s.1).for_each(|s| *s.0 = None);
        loop {
            let mut changed = false;
            for (_, accessed) in accesses.iter() {
                if accessed.written.iter().any(|c| step[*c as usize].is_none()) {
                    accessed.written.iter().for_each(|c| changed |= step[*c as usize].take().is_some());
                }
            }
            if !changed {
                let alike = constant_distance_halves(p, cells, &definitions, &seeds);
                let after = kept_as_first_elements(cells, &alike, &step);
                let kept = Shapes { clamped, tagged, ..Shapes::default() };
                let mut all = Shapes { step, strides, halves, after, alike, ..kept };
                if !cells.are_shared() {
                    all.twins = twins::derivable_halves(p, cells, &accesses, &all, full);
                    all.unread = twins::unread_halves(p, cells, &accesses, &all.twins);
                }
                all.vectors = wholly_read_vectors(p, &accesses, &all);
                return all;
            }
        }
    }
}

/// Are places such a step apart one row, or one place? Others are gathered: by vectors, which threads that lack channels
/// have in registers as well.
fn is_row(s: &Simt, step: i32) -> bool {
    let bytes = (step as u32).wrapping_mul(s.scale);
    bytes == 0 || bytes == if s.is_paired() { 8 } else { u32::from(s.element) }
}

/// Cells that more than one execution of an instruction wants whole: not those that make another one of the kind,
/// and not messages, which take an address by its first element.
fn wholly_read_vectors(p: &Program, accesses: &Accesses, shapes: &Shapes) -> Set<CellId> {
    let uses = vector_uses(p, accesses, |c| shapes.step(c).is_some(), |pc, c| shapes.unread(pc, c));
    uses.into_iter().filter(|u| u.1 > 1).map(|u| u.0).collect()
}

/// How often cells that are kept as their first elements are wanted whole, deeper in loops the more.
fn vector_uses(
    p: &Program,
    accesses: &Accesses,
    has: impl Fn(CellId) -> bool,
    unread: impl Fn(Pc, CellId) -> bool,
) -> Map<CellId, u32> {
    let mut uses: Map<CellId, u32> = Map::default();
    for (pc, accessed) in accesses.iter() {
        let i = &p.code()[pc as usize];
        if i.op != Op::Message && !accessed.written.iter().any(|c| has(*c)) {
            let wanted = accessed.read.iter().filter(|c| has(**c) && !unread(pc, **c));
            wanted.for_each(|c| *uses.entry(*c).or_insert(0) += 1 + u32::from(i.depth));
        }
    }
    uses
}

/// The cells that are second halves of what one instruction writes, and how far all of their elements are from those of
/// the first half, which is the cell before them: whatever writes one writes both, from sources of which that is known.
fn constant_distance_halves(
    p: &Program,
    cells: &Cells,
    definitions: &[Definition],
    seeds: &[Seed],
) -> ByCell {
    let whole = |offset: u32| cells.at(offset).filter(|c| cells.get(*c).offset == offset);
    let mut seconds: Vec<(&Inst, CellId)> = Vec::new();
    let mut jumps: Steps = vec![Some(None); cells.len()];
    for d in definitions {
        let i = &p.code()[d.pc as usize];
        if d.all && d.good && i.channels == 32 && part_of(i, cells.get(d.cell)) == Some(1) {
            seconds.push((i, d.cell));
            jumps[d.cell as usize] = None;
        }
    }
    // Nothing writes one of them without the other, or as another's half.
    for d in definitions {
        let (i, c) = (&p.code()[d.pc as usize], cells.get(d.cell));
        let part = part_of(i, c).filter(|_| d.all && d.good && i.channels == 32);
        if part != Some(1) {
            jumps[d.cell as usize] = Some(None);
        }
        if let Some(behind) = whole(c.offset + 64).filter(|_| part != Some(0)) {
            jumps[behind as usize] = Some(None);
        }
    }
    let source = |s: &Src, to: u32, jumps: &Steps| {
        let Src::Reg { offset, shape, ty, modifier, .. } = *s else {
            return if matches!(s, Src::None) { Known::Step(0) } else { Known::Not };
        };
        let known = match shape {
            Shape::Scalar if ty.is_int() && ty.size() <= 4 => Some(0),
            Shape::Contiguous if ty.is_int() && ty.size() == 4 => {
                if offset != to && offset < to + 128 && to < offset + 128 {
                    return Known::Not;
                }
                match (whole(offset), whole(offset + 64)) {
                    (Some(_), Some(c)) => match jumps[c as usize] {
                        Some(known) => known,
                        None => return Known::NotYet,
                    },
                    _ => None,
                }
            }
            Shape::Contiguous if ty == Type::Uw => {
                seeds.iter().find(|s| s.offset == offset + 32).and_then(|s| s.jump)
            }
            _ => None,
        };
        match (known, modifier) {
            (Some(x), Modifier::None) => Known::Step(x),
            (Some(x), Modifier::Neg) => Known::Step(x.wrapping_neg()),
            _ => Known::Not,
        }
    };
    let mut waits = true;
    loop {
        let mut changed = false;
        for (i, c) in &seconds {
            let Dst::Reg { offset: to, .. } = i.dst else { continue };
            let now = match plainly_integer(i).then(|| combine_steps(p, i, |s| source(s, to, &jumps))) {
                Some(Known::Step(x)) => Some(x),
                Some(Known::NotYet) if waits => continue,
                _ => None,
            };
            let known = &mut jumps[*c as usize];
            let merged = Some(if known.is_some_and(|old| old != now) { None } else { now });
            changed |= *known != merged;
            *known = merged;
        }
        match (changed, waits) {
            (true, _) => {}
            (false, true) => waits = false,
            (false, false) => return steps_of_cells(&jumps),
        }
    }
}

/// Of cells that are alike, those that are kept as their first elements, with the first halves.
fn kept_as_first_elements(cells: &Cells, alike: &ByCell, step: &ByCell) -> Map<CellId, (CellId, i32)> {
    let before = |c: CellId| {
        let offset = cells.get(c).offset.checked_sub(64)?;
        let b = cells.at(offset).filter(|b| cells.get(*b).offset == offset)?;
        (step_of(step, c).is_some() && step_of(step, b) == step_of(step, c)).then_some(b)
    };
    (0..).zip(alike).filter_map(|(c, x)| Some((c, (before(c)?, (*x)?)))).collect()
}

/// Vectors of integers that are made of a least or largest one: places that go on by steps but for those at the edges,
/// which are the same. It is a guess: others are counted in, and what is done by it looks at the places.
fn clamped(p: &Program, accesses: &Accesses, cells: &Cells) -> Set<CellId> {
    let mut all = Set::default();
    loop {
        let before = all.len();
        for (pc, a) in accesses.iter() {
            let i = &p.code()[pc as usize];
            let goes_on = match i.op {
                _ if !matches!(i.exec, ExecType::I32 | ExecType::U32) || i.channels < 16 => false,
                Op::Min | Op::Max => true,
                Op::Mov | Op::Add | Op::Add3 | Op::Shl | Op::Mul | Op::Mad => {
                    a.read.iter().any(|c| all.contains(c))
                }
                _ => false,
            };
            if goes_on {
                all.extend(a.written.iter().copied().filter(|c| cells.get(*c).kind == CellKind::Vector));
            }
        }
        if all.len() == before {
            return all;
        }
    }
}

/// Cells that are made of a number of 28 bits and more: in addresses of local memory, compilers have those bits tell that they
/// are that. It is a guess: in others they are taken to be zero, and what has some is left to the machine.
fn tagged_cells(p: &Program, accesses: &Accesses) -> Set<CellId> {
    let tag = |s: &Src| constant(p, s).is_some_and(|x| (1..15).contains(&(x as u32 >> 28)));
    let mut all = Set::default();
    loop {
        let before = all.len();
        for (pc, a) in accesses.iter() {
            let i = &p.code()[pc as usize];
            let integer = matches!(i.exec, ExecType::I32 | ExecType::U32);
            let goes_on = integer && !matches!(i.op, Op::Message | Op::And | Op::Shr | Op::Asr | Op::Cmp);
            if goes_on && (i.src.iter().any(tag) || a.read.iter().any(|c| all.contains(c))) {
                all.extend(a.written);
            }
        }
        if all.len() == before {
            return all;
        }
    }
}

/// The cells that an instruction accesses.
struct Accessed<'a> {
    read: &'a [CellId],
    written: &'a [CellId],
}

/// What each instruction accesses that is ever reached: one after the other.
struct Accesses {
    cells: Vec<CellId>,
    /// With each, where what it reads begins, and what it writes.
    of: Vec<(Pc, usize, usize)>,
}

impl Accesses {
    fn iter(&self) -> impl DoubleEndedIterator<Item = (Pc, Accessed<'_>)> {
        let end = |k: usize| self.of.get(k + 1).map_or(self.cells.len(), |o| o.1);
        self.of.iter().enumerate().map(move |(k, (pc, read, written))| {
            (*pc, Accessed { read: &self.cells[*read..*written], written: &self.cells[*written..end(k)] })
        })
    }
}

fn collect_accesses(p: &Program, flow: &Flow, cells: &Cells) -> Accesses {
    let n = p.code().len();
    let mut all = Accesses { cells: Vec::with_capacity(4 * n), of: Vec::with_capacity(n) };
    let mut written = Vec::new();
    for pc in (0..flow.end()).filter(|pc| flow.is_reachable(*pc)) {
        let from = all.cells.len();
        cells.accesses(p.parts(), pc, &mut |a| {
            if a.write { &mut written } else { &mut all.cells }.push(a.cell);
        });
        all.of.push((pc, from, all.cells.len()));
        all.cells.append(&mut written);
    }
    all
}

/// An instruction writes a vector's cell.
struct Definition {
    pc: Pc,
    cell: CellId,
    /// What it writes counts for all channels.
    all: bool,
    /// Nobody reads of the cell what the program did not write.
    good: bool,
}

/// Every definition.
fn collect_definitions(
    p: &Program,
    flow: &Flow,
    cells: &Cells,
    live: &Liveness,
    full: bool,
    accesses: &Accesses,
) -> Vec<Definition> {
    let mut out = Vec::new();
    for (pc, accessed) in accesses.iter() {
        let i = &p.code()[pc as usize];
        for cell in accessed.written.iter().copied() {
            let c = cells.get(cell);
            if c.kind == CellKind::Vector {
                let all =
                    i.no_mask || (full && flow.all_channels_active(pc)) || live.may_write_unmasked(pc, cell);
                let good = c.bytes == 64 && !c.input && !live.of_thread(0, cell);
                out.push(Definition { pc, cell, all, good });
            }
        }
    }
    out
}

/// What is known of the steps of cells, by cell: nothing yet, that there is none, or the step.
type Steps = Vec<Option<Option<i32>>>;

/// The steps of the cells that have one.
fn steps_of_cells(of: &Steps) -> ByCell {
    of.iter().map(|s| s.flatten()).collect()
}

/// Seeds in registers that keep what the launch put there: nothing writes any of their bytes.
fn unwritten_seeds(cells: &Cells, seeds: &[Seed]) -> Vec<Seed> {
    let written = |s: &Seed| {
        let meets = |c: &Cell| c.offset < s.offset + 32 && s.offset < c.offset + c.bytes;
        cells.iter().any(|(_, c)| c.written && meets(c))
    };
    seeds.iter().filter(|s| !written(s)).copied().collect()
}

/// The steps of all cells that instructions write as vectors, `None` where there is none; no result if that does
/// not settle.
///
/// A greatest fixpoint: a cell without an entry is one of which no definition has been judged yet, and only that
/// lets a definition wait. What never gets an entry would have its users wait for ever, with what their other
/// definitions say standing as if there were no more. So cells that no reachable instruction writes as vectors
/// have no step from the start, and once all that can be judged has been, what still waits has none either.
fn solve_steps(p: &Program, cells: &Cells, definitions: &[Definition], seeds: &[Seed]) -> Option<Steps> {
    let mut step: Steps = vec![Some(None); cells.len()];
    definitions.iter().for_each(|d| step[d.cell as usize] = None);
    let mut waits = true;
    for _ in 0..ROUNDS {
        let mut changed = false;
        for d in definitions {
            let (i, c) = (&p.code()[d.pc as usize], d.cell);
            let now = match part_of(i, cells.get(c)) {
                Some(part) if d.all && d.good => match step_of_instruction(p, cells, i, part, &step, seeds) {
                    Known::Step(s) => Some(s),
                    Known::NotYet if waits => continue,
                    Known::NotYet | Known::Not => None,
                },
                _ => None,
            };
            let known = &mut step[c as usize];
            let merged = Some(if known.is_some_and(|old| old != now) { None } else { now });
            changed |= *known != merged;
            *known = merged;
        }
        match (changed, waits) {
            (true, _) => {}
            (false, true) => waits = false,
            (false, false) => return Some(step),
        }
    }
    None
}

/// Which half of an instruction's destination a cell is; `None` if it is something else that the instruction writes.
fn part_of(i: &Inst, cell: &Cell) -> Option<u32> {
    let Dst::Reg { offset, .. } = i.dst else { return None };
    let from = cell.offset.checked_sub(offset)?;
    (from.is_multiple_of(64) && from / 4 < u32::from(i.channels)).then_some(from / 64)
}

/// What is known of a result.
enum Known {
    Step(i32),
    /// A source is a cell of which no definition has been judged yet.
    NotYet,
    Not,
}

/// Does an instruction make whole dwords of integers?
fn plainly_integer(i: &Inst) -> bool {
    matches!(i.dst, Dst::Reg { ty: Type::D | Type::Ud, stride: 1, sat: false, .. })
        && matches!(i.exec, ExecType::I32 | ExecType::U32)
        && i.pred.offset == 0
}

fn step_of_instruction(
    p: &Program,
    cells: &Cells,
    i: &Inst,
    part: u32,
    steps: &Steps,
    seeds: &[Seed],
) -> Known {
    let Dst::Reg { offset: to, .. } = i.dst else { return Known::Not };
    if !plainly_integer(i) || i.channels < 16 {
        return Known::Not;
    }
    let source = |s: &Src| -> Known {
        match *s {
            Src::Reg { offset, ty, shape, modifier, .. } => {
                let negative = match modifier {
                    Modifier::None => false,
                    Modifier::Neg => true,
                    _ => return Known::Not,
                };
                if !ty.is_int() || ty.size() > 4 {
                    return Known::Not;
                }
                let known = match shape {
                    Shape::Scalar => Some(0),
                    Shape::Contiguous if ty.size() == 4 => {
                        let n = 4 * u32::from(i.channels);
                        if offset != to && offset < to + n && to < offset + n {
                            return Known::Not;
                        }
                        let Some(c) = cells.at(offset + 64 * part) else { return Known::Not };
                        if cells.get(c).offset != offset + 64 * part {
                            return Known::Not;
                        }
                        match steps[c as usize] {
                            None => return Known::NotYet,
                            Some(s) => s,
                        }
                    }
                    Shape::Contiguous if ty == Type::Uw && i.op == Op::Mov => {
                        seeds.iter().find(|s| s.offset == offset + 32 * part).map(|s| s.step)
                    }
                    _ => None,
                };
                match known {
                    Some(s) => Known::Step(if negative { s.wrapping_neg() } else { s }),
                    None => Known::Not,
                }
            }
            Src::None => Known::Step(0),
            _ => Known::Not,
        }
    };
    combine_steps(p, i, source)
}

/// What is known of a result by what is known of its sources: the step, or how far halves are apart.
fn combine_steps(p: &Program, i: &Inst, source: impl Fn(&Src) -> Known) -> Known {
    let mut s = [0; 3];
    for (s, src) in s.iter_mut().zip(&i.src) {
        match source(src) {
            Known::Step(x) => *s = x,
            other => return other,
        }
    }
    let [a, b, c] = s;
    match i.op {
        Op::Mov => Known::Step(a),
        Op::Add => Known::Step(a.wrapping_add(b)),
        Op::Add3 => Known::Step(a.wrapping_add(b).wrapping_add(c)),
        Op::Mul | Op::Mad => {
            let k = |n: usize| constant(p, &i.src[n]).map(|x| x as i32);
            let product = match (a, b) {
                (0, 0) => Some(0),
                (a, 0) => k(1).map(|k| a.wrapping_mul(k)),
                (0, b) => k(0).map(|k| b.wrapping_mul(k)),
                _ => None,
            };
            product.map_or(Known::Not, |x| Known::Step(x.wrapping_add(if i.op == Op::Mad { c } else { 0 })))
        }
        Op::Shl => match (b, constant(p, &i.src[1])) {
            (0, Some(k)) => Known::Step(a.wrapping_shl(k as u32)),
            (0, None) if a == 0 => Known::Step(0),
            _ => Known::Not,
        },
        Op::And | Op::Or | Op::Xor | Op::Shr | Op::Asr | Op::Min | Op::Max if [a, b] == [0, 0] => {
            Known::Step(0)
        }
        // Scalars of this kind are multiplied as they are in a register.
        Op::Mulh if [a, b] == [0, 0] && i.exec == ExecType::U32 => {
            let whole = |s: &Src| matches!(s, Src::Reg { ty: Type::Ud, modifier: Modifier::None, .. });
            if i.src[..2].iter().all(whole) { Known::Step(0) } else { Known::Not }
        }
        _ => Known::Not,
    }
}
