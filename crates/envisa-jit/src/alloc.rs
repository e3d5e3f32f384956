//! Which cells live in registers.

use std::collections::BTreeMap;

use envisa_lower::analysis::{CellId, CellKind, Cells, Flow, Liveness};
use envisa_lower::{Dst, ExecType, Op, Pc, Program, Shape, Src};

use crate::affine_vectors::Shapes;
use crate::rare_sides::count_usual;

/// First vector register that holds a cell; those below are for intermediate values.
pub(crate) const FIRST: u8 = 8;

/// How much an access counts that is rarely come to.
const RARE: f32 = 1.0 / 256.0;

/// How many accesses to memory cost what a barrier does to a register of a thread that takes turns.
const PER_BARRIER: f32 = 2.0;

/// The register of each vector cell that has one.
pub(crate) struct Allocation {
    vector: Vec<Option<u8>>,
    /// By register: `(first, last)`, where cells are in it, ascending; one may begin where the one before it ends.
    spans: [Vec<(Pc, Pc)>; 32],
}

struct Interval {
    cell: CellId,
    start: Pc,
    end: Pc,
    weight: f32,
}

impl Allocation {
    /// A linear scan over live ranges; who has the least uses for its length stays in memory, what is rarely come to counting
    /// little. `keep`: cells
    /// that are to stay there; `longer`: cells that are read where the program does not; `turns`: threads take turns, so
    /// that what is in registers at a barrier goes to memory there, and is loaded behind it.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        p: &Program,
        flow: &Flow,
        cells: &Cells,
        live: &Liveness,
        shapes: &Shapes,
        keep: &dyn Fn(CellId) -> bool,
        longer: &[(CellId, Pc)],
        turns: bool,
    ) -> Self {
        let usual = count_usual(p.code());
        let weight = |pc: Pc| {
            let at = pc as usize;
            let often = if usual[at] == usual[at + 1] { RARE } else { 1.0 };
            often * 10f32.powi(i32::from(p.code()[at].depth.min(5)))
        };
        let mut ranges: Vec<Option<(Pc, Pc, f32)>> = vec![None; cells.len()];
        let mut widen = |c: CellId, pc: Pc, weight: f32| {
            let r = ranges[c as usize].get_or_insert((pc, pc, 0.0));
            (r.0, r.1, r.2) = (r.0.min(pc), r.1.max(pc), r.2 + weight);
        };
        // Between the first and the last place where a cell is alive it need not be looked for.
        for (c, _) in cells.iter() {
            if let Some((first, last)) = live.span(c) {
                widen(c, first, 0.0);
                widen(c, last, 0.0);
            }
        }
        for pc in (0..flow.end()).filter(|pc| flow.is_reachable(*pc)) {
            cells.accesses(p.parts(), pc, &mut |a| {
                if a.write || !shapes.unread(pc, a.cell) {
                    widen(a.cell, pc, weight(pc));
                }
            });
        }
        let mut barriers = vec![0f32; cells.len()];
        for pc in (0..flow.end()).filter(|pc| turns && flow.is_reachable(*pc)) {
            let i = &p.code()[pc as usize];
            if i.op == Op::Barrier {
                let weight = weight(pc);
                live.cells(pc + 1).for_each(|c| barriers[c as usize] += weight);
            }
        }
        for (c, pc) in longer {
            widen(*c, *pc, 0.0);
        }
        let mut intervals: Vec<Interval> = cells
            .iter()
            .filter(|(id, c)| matches!(c.kind, CellKind::Vector | CellKind::Narrow) && !keep(*id))
            .filter_map(|(cell, _)| {
                let (start, end, uses) = ranges[cell as usize]?;
                if uses <= PER_BARRIER * barriers[cell as usize] {
                    return None;
                }
                // A register that is taken on a rare side as well is taken from little.
                let behind = (end as usize + 1).min(usual.len() - 1);
                let length = match usual[behind] - usual[start as usize] {
                    0 => end - start + 1,
                    length => length,
                };
                Some(Interval { cell, start, end, weight: uses / length as f32 })
            })
            .collect();
        intervals.sort_by_key(|i| i.start);
        let mut vector = vec![None; cells.len()];
        let mut free: Vec<u8> = (FIRST..32).rev().collect();
        let mut active: Vec<(usize, u8)> = Vec::new();
        for (k, i) in intervals.iter().enumerate() {
            // A sum takes the place of what it is added to.
            let over = addend_cell(p, cells, i).and_then(|c| {
                active.iter().position(|(a, _)| intervals[*a].cell == c && intervals[*a].end == i.start)
            });
            if let Some(at) = over {
                active[at].0 = k;
                vector[i.cell as usize] = Some(active[at].1);
                continue;
            }
            active.retain(|(a, r)| {
                let on = intervals[*a].end >= i.start;
                if !on {
                    free.push(*r);
                }
                on
            });
            if let Some(r) = free.pop() {
                active.push((k, r));
                vector[i.cell as usize] = Some(r);
                continue;
            }
            let least = active
                .iter()
                .enumerate()
                .min_by(|a, b| intervals[a.1.0].weight.total_cmp(&intervals[b.1.0].weight))
                .map(|(at, a)| (at, *a));
            if let Some((at, (a, r))) = least
                && intervals[a].weight < i.weight
            {
                vector[intervals[a].cell as usize] = None;
                active[at] = (k, r);
                vector[i.cell as usize] = Some(r);
            }
        }
        let spans = fill_gaps(&intervals, &mut vector).map(|taken| taken.into_iter().collect());
        Allocation { vector, spans }
    }

    /// The vector register that a cell is in.
    pub fn vector(&self, cell: CellId) -> Option<u8> {
        self.vector.get(cell as usize).copied().flatten()
    }

    /// Does a cell live in this register at an instruction?
    pub fn busy(&self, pc: Pc, register: u8) -> bool {
        let all = &self.spans[usize::from(register)];
        let begun = all.partition_point(|s| s.0 <= pc);
        all[..begun].last().is_some_and(|s| pc <= s.1)
    }

    /// All vector registers in use.
    pub fn used(&self) -> Vec<u8> {
        let mut all: Vec<u8> = self.vector.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Gives registers that are free all along to those that have none, as one that had to give way left what it had taken;
/// the spans of all registers: the last instruction of each by the first.
fn fill_gaps(intervals: &[Interval], vector: &mut [Option<u8>]) -> [BTreeMap<Pc, Pc>; 32] {
    let mut spans = [const { BTreeMap::new() }; 32];
    let mut left = Vec::new();
    for i in intervals {
        match vector[i.cell as usize] {
            Some(r) => {
                let end: &mut Pc = spans[usize::from(r)].entry(i.start).or_insert(i.end);
                *end = i.end.max(*end);
            }
            None => left.push(i),
        }
    }
    left.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    for i in left {
        let free = |r: &u8| {
            let before = spans[usize::from(*r)].range(..=i.end).next_back();
            before.is_none_or(|(_, end)| *end < i.start)
        };
        if let Some(r) = (FIRST..32).find(free) {
            vector[i.cell as usize] = Some(r);
            spans[usize::from(r)].insert(i.start, i.end);
        }
    }
    spans
}

/// The cell to which the fused operation that an interval begins with adds, for the same channels, if nothing else of the
/// operation is in it: native code reads it before it writes the result.
fn addend_cell(p: &Program, cells: &Cells, of: &Interval) -> Option<CellId> {
    let (i, to) = (&p.code()[of.start as usize], cells.get(of.cell));
    let Dst::Reg { offset, ty, stride: 1, .. } = i.dst else { return None };
    let Src::Reg { offset: from, ty: same, shape: Shape::Contiguous, .. } = i.src[2] else { return None };
    let fused = i.op == Op::Mad && matches!(i.exec, ExecType::F32 | ExecType::F64);
    if !fused || ty.size() != same.size() || to.offset < offset {
        return None;
    }
    let at = from + (to.offset - offset);
    let cell = cells.at(at)?;
    let c = cells.get(cell);
    let (range, n) = (c.offset..c.offset + c.bytes, u32::from(i.channels));
    let apart = i.src[..2].iter().all(|s| match *s {
        Src::Reg { shape: Shape::Contiguous, offset, .. } if offset == from => true,
        Src::Reg { offset, ty, strides, constant, .. } => {
            constant || (0..n).map(|k| offset + strides.element(k) * ty.size()).all(|at| !range.contains(&at))
        }
        _ => false,
    });
    ((c.offset, c.bytes) == (at, to.bytes) && apart).then_some(cell)
}
