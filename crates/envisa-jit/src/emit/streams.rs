//! Loads that are done ahead: of a loop in which each channel goes along a row of its own.
//!
//! A work-item per row, as of a matrix times a vector, makes every load of the loop a gather from as many lines as there
//! are channels, and the next iteration's goes to the same lines again. Such a gather loads the next dwords of all rows
//! at once, side by side in the context, column by column, and what comes next is taken from there.
//!
//! Nothing has to be known of the places for that: they are looked at each time, against where the last ones were. What
//! has to be known is that nobody writes in between: so this is for innermost loops without stores, atomics, fences,
//! barriers and calls, that are come to by their beginning only. Each dword is taken once, so that a loop which waits
//! for another thread's store loads anew.

use std::ops::RangeInclusive;

use envisa_lower::analysis::{CellId, Cells, Flow};
use envisa_lower::{Message, Op, Pc, Program, Simt};

use super::memory::form;
use crate::shape::Shapes;

/// How many iterations' dwords are loaded at once.
pub(crate) const COLUMNS: u32 = 16;
/// In the context, of each stream: the places that the first column was loaded from; how far from there the next load is
/// expected; the columns.
pub(crate) const NEXT: u32 = 64;
pub(crate) const TILE: u32 = 128;
pub(crate) const STREAM: u32 = TILE + 64 * COLUMNS;
/// Most of them in a program.
const MOST: usize = 8;

/// Sixteen channels of a load in a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stream {
    pub pc: Pc,
    /// Which sixteen.
    pub part: u32,
    /// Where the loop begins.
    pub head: Pc,
    /// From one place to the next one, as native code counts them.
    pub step: u32,
}

/// A program's loads of this kind.
pub(crate) fn streams(p: &Program, flow: &Flow, cells: &Cells, shapes: &Shapes) -> Vec<Stream> {
    let mut all = Vec::new();
    let loops = loops(p, flow);
    for at in &loops {
        let inner =
            |other: &RangeInclusive<Pc>| other != at && at.contains(other.start()) && other.end() <= at.end();
        if loops.iter().any(inner) || !quiet(p, at) || !closed(p, flow, at) {
            continue;
        }
        let loaded = loaded(p, cells, at);
        for pc in at.clone() {
            let (Some(s), channels) = (gather(p, pc), p.code()[pc as usize].channels) else { continue };
            let Ok(form) = form(p, s) else { continue };
            let bytes = u32::from(s.address_bytes) * u32::from(channels);
            let places: Vec<Option<CellId>> = (0..bytes / 64).map(|k| cells.at(s.address + 64 * k)).collect();
            let moves = |c: &Option<CellId>| {
                c.is_some_and(|c| {
                    shapes.step(c).is_none() && !loaded.contains(&c) && written(p, cells, at, c)
                })
            };
            if !matches!(channels, 16 | 32) || form.scale > 4 || !places.iter().all(moves) {
                continue;
            }
            let parts = 0..u32::from(channels) / 16;
            all.extend(parts.map(|part| Stream { pc, part, head: *at.start(), step: 4 / form.scale }));
        }
    }
    all.truncate(MOST);
    all
}

/// From a loop's first instruction to its last.
pub(super) fn loops(p: &Program, flow: &Flow) -> Vec<RangeInclusive<Pc>> {
    (0..flow.end())
        .filter(|pc| flow.reachable(*pc))
        .filter(|pc| p.code()[*pc as usize].op == Op::Goto && p.code()[*pc as usize].aux <= *pc)
        .map(|pc| p.code()[pc as usize].aux..=pc)
        .collect()
}

/// A load of a dword for each channel.
pub(super) fn gather(p: &Program, pc: Pc) -> Option<&Simt> {
    let i = &p.code()[pc as usize];
    match p.messages().get(i.aux as usize)? {
        Message::Simt(s) if i.op == Op::Message && i.first == 0 => {
            ((s.write, s.elements, s.element, s.slot) == (false, 1, 4, 4)).then_some(s)
        }
        _ => None,
    }
}

/// Does nothing in there write memory, or wait for those who do?
fn quiet(p: &Program, at: &RangeInclusive<Pc>) -> bool {
    at.clone().all(|pc| {
        let i = &p.code()[pc as usize];
        match i.op {
            Op::Message => match p.messages().get(i.aux as usize) {
                Some(Message::Simt(s)) => !s.write,
                Some(Message::Block(b)) => !b.write,
                _ => false,
            },
            Op::Call | Op::Ret | Op::Fcall | Op::Ifcall | Op::Fret | Op::SwitchJmp => false,
            Op::Barrier | Op::SplitBarrier | Op::NamedBarrier | Op::Fence => false,
            Op::Unsupported | Op::End => false,
            _ => true,
        }
    })
}

/// Is it come to from the instruction before its first one, and from nowhere else?
fn closed(p: &Program, flow: &Flow, at: &RangeInclusive<Pc>) -> bool {
    let outside = (0..flow.end()).filter(|pc| !at.contains(pc) && flow.reachable(*pc));
    outside.into_iter().all(|pc| {
        let i = &p.code()[pc as usize];
        let before = pc + 1 == *at.start() && !(i.op == Op::Goto && i.aux == *at.start());
        flow.successors(p.parts(), pc).iter().all(|s| !at.contains(s) || (before && s == at.start()))
    })
}

/// What comes from memory, in there.
fn loaded(p: &Program, cells: &Cells, at: &RangeInclusive<Pc>) -> Vec<CellId> {
    let mut all: Vec<CellId> = Vec::new();
    loop {
        let before = all.len();
        for pc in at.clone() {
            let mut from = p.code()[pc as usize].op == Op::Message;
            cells.accesses(p.parts(), pc, &mut |a| from |= !a.write && all.contains(&a.cell));
            if from {
                cells.accesses(p.parts(), pc, &mut |a| {
                    if a.write && !all.contains(&a.cell) {
                        all.push(a.cell);
                    }
                });
            }
        }
        if all.len() == before {
            return all;
        }
    }
}

/// Is it written in there?
fn written(p: &Program, cells: &Cells, at: &RangeInclusive<Pc>, cell: CellId) -> bool {
    at.clone().any(|pc| {
        let mut found = false;
        cells.accesses(p.parts(), pc, &mut |a| found |= a.write && a.cell == cell);
        found
    })
}
