//! Loads that are done ahead: of a loop in which each channel goes along a row of its own.
//!
//! A work-item per row, as of a matrix times a vector, makes every load of the loop a gather from as many lines as there
//! are channels, and the next iteration's goes to the same lines again. Such a gather loads the next dwords of all rows
//! at once, side by side in the context, column by column, and what comes next is taken from there. While it is, the tile
//! behind is loaded, four rows at a time, so that nobody waits for memory.
//!
//! Nothing has to be known of the places for that: they are looked at each time, against where the last ones were. Where
//! a loop makes them of a vector that stays as it is and of a scalar, they go on as that does, and it alone is looked at.
//!
//! What has to be known is that nobody writes in between: so this is for innermost loops without atomics, fences,
//! barriers and calls, that are come to by their beginning only. Stores are allowed to memory that is apart from what is
//! loaded ahead, which is looked at before anything is; a store that the machine does for the code discards what was loaded.
//! Each dword is taken once, so that a loop which waits for another thread's store loads anew.

use std::ops::RangeInclusive;

use envisa_isa::Modifier;
use envisa_lower::analysis::{CellId, Cells, Flow};
use envisa_lower::{Dst, ExecType, Message, Op, Pc, Program, RegOffset, Shape, Simt, Src};

use super::memory::address_form;
use crate::affine_vectors::Shapes;

/// How many iterations' dwords are loaded at once: a tile.
pub(crate) const COLUMNS: u32 = 16;
/// Most rows: a load's channels.
pub(crate) const ROWS: u32 = 32;
/// Bytes of a tile, a column after the other.
pub(crate) const TILE: u32 = 4 * ROWS * COLUMNS;
/// In the context, of each stream: the places that the first column was loaded from; how far from there the next load is
/// expected; whether the tile behind this one is being loaded; where the tile in use begins, from the first one's begin;
/// the scalar that the first column's places were made of; by how many bits a narrow element's dword is shifted; two tiles.
pub(crate) const NEXT: u32 = 4 * ROWS;
pub(crate) const BEHIND: u32 = NEXT + 4;
pub(crate) const USED: u32 = NEXT + 8;
pub(crate) const SCALAR: u32 = NEXT + 12;
pub(crate) const SHIFT: u32 = NEXT + 16;
pub(crate) const TILES: u32 = NEXT + 64;
/// Behind the tiles there is room for the upper halves of quads, for which any column may be taken to be the lower ones.
pub(crate) const STREAM: u32 = TILES + 2 * TILE + 4 * ROWS;
/// Most of them in a program.
const MOST: usize = 4;
/// Most stores in such a loop.
const STORES: usize = 4;

/// A load in a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stream {
    pub pc: Pc,
    /// What is loaded each time.
    pub column: Column,
    /// Where the loop begins.
    pub head: Pc,
    /// What its indices are made of, if they go on with a scalar.
    pub led: Option<ScalarIndex>,
    /// Stores in the loop: they must go to other memory.
    pub stores: Vec<Pc>,
}

/// One element of each row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Column {
    /// How many channels the load has.
    pub rows: u32,
    /// The bytes of an element: 1, 2, 4 or 8. Narrow ones are taken out of their dwords.
    pub element: u32,
    /// The bytes from a place to the next one, as native code counts places.
    pub scale: u32,
}

impl Column {
    /// From one element's place to the next one's.
    pub fn step(self) -> u32 {
        self.element / self.scale
    }

    /// From a tile's first place to the one behind its last.
    pub fn tile(self) -> u32 {
        4 * COLUMNS / self.scale
    }
}

/// Indices that are, in all channels, a scalar and what stays the same in the loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ScalarIndex {
    /// The instruction that makes them, in the load's block, if all channels are on.
    pub by: Pc,
    /// The scalar's dword: the same at the load.
    pub scalar: RegOffset,
}

/// A program's loads of this kind, but for those that go through caches.
pub(crate) fn find_streams(
    p: &Program,
    flow: &Flow,
    cells: &Cells,
    shapes: &Shapes,
    cached: impl Fn(Pc) -> bool,
) -> Vec<Stream> {
    let mut all = Vec::new();
    let (edges, ends) = (control_edges(p, flow), crate::deferred::block_ends(p, flow));
    for at in &innermost_loops(p, flow) {
        if !at.clone().any(|pc| goes_on(p, cells, shapes, at, pc).is_some()) {
            continue;
        }
        let stores = stores_in_loop(p, at).filter(|all| all.len() <= STORES);
        let Some(stores) = stores.filter(|_| closed(p, &edges, at)) else { continue };
        let mut loaded = loaded_cells(p, cells, at);
        for pc in at.clone() {
            if let Some(column) = loop_column(p, cells, shapes, at, pc, &loaded)
                && all.len() < MOST
                && !cached(pc)
            {
                let led = scalar_led_index(p, &ends, cells, at, pc);
                all.push(Stream { pc, column, head: *at.start(), led, stores: stores.clone() });
            }
            load(p, cells, pc, &mut loaded);
        }
    }
    all
}

/// What a load takes each time that goes on through memory in a loop, given what comes from memory before it.
fn loop_column(
    p: &Program,
    cells: &Cells,
    shapes: &Shapes,
    at: &RangeInclusive<Pc>,
    pc: Pc,
    loaded: &[CellId],
) -> Option<Column> {
    let (s, channels) = (elements(p, pc)?, p.code()[pc as usize].channels);
    let bytes = u32::from(s.address_bytes) * u32::from(channels);
    let computed = |c: CellId| !loaded.contains(&c);
    let all = (0..bytes / 64).all(|k| cells.at(s.address + 64 * k).is_some_and(computed));
    goes_on(p, cells, shapes, at, pc).filter(|_| all)
}

/// The same whether or not it goes by what comes from memory.
fn goes_on(p: &Program, cells: &Cells, shapes: &Shapes, at: &RangeInclusive<Pc>, pc: Pc) -> Option<Column> {
    let (s, channels) = (elements(p, pc)?, p.code()[pc as usize].channels);
    let element = u32::from(s.element);
    let form = address_form(p, s).ok().filter(|form| matches!(channels, 16 | 32) && form.scale <= element)?;
    let bytes = u32::from(s.address_bytes) * u32::from(channels);
    let moves = |c: CellId| shapes.step(c).is_none() && is_written_in_loop(p, cells, at, c);
    let all = (0..bytes / 64).all(|k| cells.at(s.address + 64 * k).is_some_and(moves));
    all.then(|| Column { rows: u32::from(channels), element, scale: form.scale })
}

/// Of what a load's indices are made each time, if that is a scalar which the loop writes and a vector which it does not.
fn scalar_led_index(
    p: &Program,
    ends: &[Pc],
    cells: &Cells,
    at: &RangeInclusive<Pc>,
    pc: Pc,
) -> Option<ScalarIndex> {
    let (s, channels) = (elements(p, pc)?, p.code()[pc as usize].channels);
    let parts = (u32::from(s.address_bytes) * u32::from(channels)).div_ceil(64);
    let indices: Option<Vec<CellId>> = (0..parts).map(|k| cells.at(s.address + 64 * k)).collect();
    let indices = indices?;
    let writes = |by: Pc, of: &[CellId]| {
        let mut found = false;
        cells.accesses(p.parts(), by, &mut |a| found |= a.write && of.contains(&a.cell));
        found
    };
    let mut writers = at.clone().filter(|by| writes(*by, &indices));
    let (by, None) = (writers.next().filter(|by| *by < pc)?, writers.next()) else { return None };
    let i = &p.code()[by as usize];
    let Dst::Reg { offset, ty, stride: 1, sat: false } = i.dst else { return None };
    let plain = i.op == Op::Add && matches!(i.exec, ExecType::I32 | ExecType::U32) && i.pred.offset == 0;
    let all = (offset, ty.size(), i.channels, i.dst2) == (s.address, 4, channels, 0) && ty.is_int();
    if !plain || !all || ends[by as usize] <= pc {
        return None;
    }
    let dword = |s: &Src, of: Shape| match *s {
        Src::Reg { offset, ty, shape, modifier: Modifier::None, constant: false, .. } => {
            (shape == of && ty.is_int() && ty.size() == 4).then_some(offset)
        }
        _ => None,
    };
    let [a, b] = [&i.src[0], &i.src[1]];
    let (vector, scalar) = dword(a, Shape::Contiguous)
        .zip(dword(b, Shape::Scalar))
        .or_else(|| dword(b, Shape::Contiguous).zip(dword(a, Shape::Scalar)))?;
    let stays =
        (0..parts).all(|k| cells.at(vector + 64 * k).is_some_and(|c| !is_written_in_loop(p, cells, at, c)));
    let moves = cells.at(scalar).filter(|c| is_written_in_loop(p, cells, at, *c))?;
    let same = (by + 1..pc).all(|between| !writes(between, &[moves]));
    (stays && same).then_some(ScalarIndex { by, scalar })
}

/// Loops of more instructions are not looked at, nor are those around others where all of them together have so many
/// times the instructions of the program.
const LONGEST: usize = 2048;
const DEEPEST: usize = 16;

/// From a loop's first instruction to its last, by the last.
pub(super) fn find_loops(p: &Program, flow: &Flow) -> Vec<RangeInclusive<Pc>> {
    let mut all: Vec<RangeInclusive<Pc>> = (0..flow.end())
        .filter(|pc| flow.is_reachable(*pc))
        .filter(|pc| p.code()[*pc as usize].op == Op::Goto && p.code()[*pc as usize].aux <= *pc)
        .map(|pc| p.code()[pc as usize].aux..=pc)
        .filter(|at| at.clone().count() <= LONGEST)
        .collect();
    let mut lengths: Vec<usize> = all.iter().map(|at| at.clone().count()).collect();
    lengths.sort_unstable();
    let mut room = DEEPEST * flow.end() as usize;
    let fits = |n: &&usize| room.checked_sub(**n).inspect(|left| room = *left).is_some();
    let longest = lengths.iter().take_while(fits).last().copied().unwrap_or(0);
    all.retain(|at| at.clone().count() <= longest);
    all
}

/// The loops in which there is no other one.
pub(super) fn innermost_loops(p: &Program, flow: &Flow) -> Vec<RangeInclusive<Pc>> {
    let mut all = find_loops(p, flow);
    let mut last = None;
    // By where they end: those inside of a loop come before it.
    all.retain(|at| {
        let around = last.is_some_and(|last| last >= *at.start());
        last = last.max(Some(*at.start()));
        !around
    });
    all
}

/// Where the thread goes by branches and returns, and from where; sorted.
pub(super) fn control_edges(p: &Program, flow: &Flow) -> Vec<(Pc, Pc)> {
    let goes = |pc: &Pc| matches!(p.code()[*pc as usize].op, Op::Goto | Op::Ret);
    let mut all = Vec::new();
    for pc in (0..flow.end()).filter(goes) {
        all.extend(flow.successors(p.parts(), pc).into_iter().map(|to| (to, pc)));
    }
    all.sort_unstable();
    all
}

/// A load of a dword for each channel, or each of the second sixteen.
pub(super) fn gather(p: &Program, pc: Pc) -> Option<&Simt> {
    elements(p, pc).filter(|s| s.element == 4)
}

/// The same of a dword, of a byte or word in one, or of a quad.
fn elements(p: &Program, pc: Pc) -> Option<&Simt> {
    let i = &p.code()[pc as usize];
    match p.messages().get(i.aux as usize)? {
        Message::Simt(s) if i.op == Op::Message && i.first.is_multiple_of(16) => {
            let slot = s.element.max(4);
            let plain = s.element.is_power_of_two() && slot <= 8;
            (plain && (s.write, s.elements, s.slot) == (false, 1, slot)).then_some(s)
        }
        _ => None,
    }
}

/// The stores in a loop, if nothing else in it writes memory or waits for those who do.
pub(super) fn stores_in_loop(p: &Program, at: &RangeInclusive<Pc>) -> Option<Vec<Pc>> {
    let mut all = Vec::new();
    for pc in at.clone() {
        let i = &p.code()[pc as usize];
        let write = match i.op {
            Op::Message => match p.messages().get(i.aux as usize)? {
                Message::Simt(s) => s.write,
                Message::Block(b) => b.write,
                _ => return None,
            },
            Op::Call | Op::Ret | Op::Fcall | Op::Ifcall | Op::Fret | Op::SwitchJmp => return None,
            Op::Barrier | Op::SplitBarrier | Op::NamedBarrier | Op::Fence => return None,
            Op::Unsupported | Op::End => return None,
            _ => false,
        };
        if write {
            all.push(pc);
        }
    }
    Some(all)
}

/// Is it come to from the instruction before its first one, and from nowhere else?
pub(super) fn closed(p: &Program, edges: &[(Pc, Pc)], at: &RangeInclusive<Pc>) -> bool {
    let inside = edges.partition_point(|e| e.0 < *at.start())..edges.partition_point(|e| e.0 <= *at.end());
    edges[inside].iter().filter(|(_, from)| !at.contains(from)).all(|(to, from)| {
        let i = &p.code()[*from as usize];
        to == at.start() && from + 1 == *to && !(i.op == Op::Goto && i.aux == *to)
    })
}

/// What comes from memory where an iteration begins. Registers serve for this and that: what is written over does not.
pub(super) fn loaded_cells(p: &Program, cells: &Cells, at: &RangeInclusive<Pc>) -> Vec<CellId> {
    let mut all: Vec<CellId> = Vec::new();
    loop {
        let before = all.clone();
        at.clone().for_each(|pc| load(p, cells, pc, &mut all));
        before.iter().for_each(|c| {
            if !all.contains(c) {
                all.push(*c);
            }
        });
        if all.len() == before.len() {
            return all;
        }
    }
}

/// What comes from memory behind an instruction, by what does before it.
pub(super) fn load(p: &Program, cells: &Cells, pc: Pc, all: &mut Vec<CellId>) {
    let mut from = p.code()[pc as usize].op == Op::Message;
    cells.accesses(p.parts(), pc, &mut |a| from |= !a.write && all.contains(&a.cell));
    cells.accesses(p.parts(), pc, &mut |a| {
        if a.write && from && !all.contains(&a.cell) {
            all.push(a.cell);
        } else if a.write && a.whole && !from {
            all.retain(|c| *c != a.cell);
        }
    });
}

/// Is it written in there?
pub(super) fn is_written_in_loop(p: &Program, cells: &Cells, at: &RangeInclusive<Pc>, cell: CellId) -> bool {
    at.clone().any(|pc| {
        let mut found = false;
        cells.accesses(p.parts(), pc, &mut |a| found |= a.write && a.cell == cell);
        found
    })
}
