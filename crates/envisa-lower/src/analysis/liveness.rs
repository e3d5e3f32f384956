//! Where the values of cells are still wanted.

use std::collections::BTreeSet;

use super::ranges::Ranges;
use super::{CellId, CellKind, Cells, Flow, NotAnalysed, bits};
use crate::program::{Pc, ProgramParts};

/// Liveness of cells before each instruction that is ever reached, twice: of the values of one channel, and of whole
/// cells.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// Cells of which a channel that comes here may read its element.
    channel: Ranges,
    /// Cells of which anything may be read once the thread is here.
    thread: Ranges,
    /// The writes that may ignore the execution mask, ascending.
    unmasked: Vec<(Pc, CellId)>,
}

/// Words of bits that the blocks' sets may have together: of so many for each instruction, and of so many in any case.
const WORDS: (usize, usize) = (64, 1 << 20);
/// The same of words that are joined until nothing changes any more, and of runs.
const STEPS: (usize, usize) = (4096, 1 << 24);
const RUNS: (usize, usize) = (32, 1 << 20);

/// Of more labels than that where channels wait nobody looks at what is wanted there: a write keeps its mask.
const WAITING: usize = 64;

fn max_runs(of: (usize, usize), code: usize) -> usize {
    of.0 * code + of.1
}

/// What an instruction does to a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    /// Written whole, whatever the mask.
    Kill,
    /// Written for active channels only: a channel's element is another one after it.
    Masked,
}

/// What instructions do, one after the other, and where that of each begins.
struct Uses {
    all: Vec<(CellId, Use)>,
    from: Vec<usize>,
}

impl Uses {
    fn uses_at(&self, pc: Pc) -> &[(CellId, Use)] {
        &self.all[self.from[pc as usize]..self.from[pc as usize + 1]]
    }
}

/// Code cut into blocks: entered at the start, left at the end.
struct Blocks {
    /// The first instruction of each, and the end of the code.
    starts: Vec<Pc>,
    /// The blocks behind one after the other, and where those of each begin; blocks that are never reached have none.
    next: Vec<u32>,
    from: Vec<usize>,
    reached: Vec<bool>,
}

/// Tells each instruction that may come after one.
type Successors<'a> = &'a dyn Fn(Pc, &mut dyn FnMut(Pc));

impl Blocks {
    fn new(flow: &Flow, each: Successors<'_>) -> Blocks {
        let n = flow.end() as usize;
        let mut leads = vec![false; n + 1];
        (leads[0], leads[n]) = (true, true);
        for pc in (0..n as Pc).filter(|pc| flow.is_reachable(*pc)) {
            let mut behind = 0;
            each(pc, &mut |to| {
                behind += 1;
                if to != pc + 1 {
                    leads[to as usize] = true;
                    behind = 2;
                }
            });
            leads[pc as usize + 1] |= behind != 1;
        }
        for pc in 1..n as Pc {
            leads[pc as usize] |= flow.is_reachable(pc) != flow.is_reachable(pc - 1);
        }
        let starts: Vec<Pc> = (0..=n as Pc).filter(|pc| leads[*pc as usize]).collect();
        let mut blocks = Blocks { starts, next: Vec::new(), from: Vec::new(), reached: Vec::new() };
        for b in 0..blocks.len() {
            blocks.from.push(blocks.next.len());
            let reached = flow.is_reachable(blocks.starts[b]);
            blocks.reached.push(reached);
            if reached {
                let (starts, next) = (&blocks.starts, &mut blocks.next);
                each(starts[b + 1] - 1, &mut |to| {
                    next.extend(starts.binary_search(&to).ok().map(|k| k as u32));
                });
            }
        }
        blocks.from.push(blocks.next.len());
        blocks
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn instructions_of_block(&self, block: usize) -> std::ops::Range<Pc> {
        self.starts[block]..self.starts[block + 1]
    }

    fn next(&self, block: usize) -> &[u32] {
        &self.next[self.from[block]..self.from[block + 1]]
    }

    /// The blocks before each: the same the other way round.
    fn predecessors(&self) -> (Vec<u32>, Vec<usize>) {
        let mut from = vec![0; self.len() + 1];
        self.next.iter().for_each(|n| from[*n as usize + 1] += 1);
        (0..self.len()).for_each(|b| from[b + 1] += from[b]);
        let (mut at, mut all) = (from.clone(), vec![0; self.next.len()]);
        for b in 0..self.len() {
            for n in self.next(b) {
                all[at[*n as usize]] = b as u32;
                at[*n as usize] += 1;
            }
        }
        (all, from)
    }
}

impl Liveness {
    /// Works it out. `full`: the thread starts with all channels of the dispatch.
    ///
    /// # Errors
    /// So much is alive in so many places that it is too much for the length of the code.
    pub fn new(p: &ProgramParts, flow: &Flow, cells: &Cells, full: bool) -> Result<Liveness, NotAnalysed> {
        Liveness::without(p, flow, cells, full, &|_, _| false)
    }

    /// The same where instructions do not read all that they have as operands: `unread`.
    ///
    /// # Errors
    /// As above.
    pub fn without(
        p: &ProgramParts,
        flow: &Flow,
        cells: &Cells,
        full: bool,
        unread: &dyn Fn(Pc, CellId) -> bool,
    ) -> Result<Liveness, NotAnalysed> {
        let n = flow.end();
        let mut uses =
            Uses { all: Vec::with_capacity(4 * n as usize), from: Vec::with_capacity(n as usize + 1) };
        for pc in 0..n {
            uses.from.push(uses.all.len());
            self::collect_uses(p, cells, pc, full && flow.all_channels_active(pc), &mut uses.all);
            let mut k = uses.from[pc as usize];
            while let Some((c, u)) = uses.all.get(k) {
                if *u == Use::Read && unread(pc, *c) {
                    uses.all.swap_remove(k);
                } else {
                    k += 1;
                }
            }
        }
        uses.from.push(uses.all.len());
        let blocks = Blocks::new(flow, &|pc, tell| {
            flow.channel_successors(p, pc).into_iter().flatten().for_each(tell);
        });
        let channel = solve_backward(&blocks, &uses, cells.len(), &|u| u != Use::Read)?;
        let unmasked = find_unmasked_writes(flow, cells, full, &channel, &mut uses);
        let blocks = Blocks::new(flow, &|pc, tell| flow.each_successor(p, pc, tell));
        let thread = solve_backward(&blocks, &uses, cells.len(), &|u| u == Use::Kill)?;
        Ok(Liveness { channel, thread, unmasked })
    }

    /// The same where cells, the first of each pair, have the values of others, which are read in their place.
    pub fn with(&self, pairs: impl Iterator<Item = (CellId, CellId)>) -> Liveness {
        let pairs: Vec<_> = pairs.collect();
        let [channel, thread] = [&self.channel, &self.thread].map(|r| r.with_cells_replaced(&pairs));
        Liveness { channel, thread, unmasked: self.unmasked.clone() }
    }

    /// May a channel that comes to this instruction read its element of the cell before it gets another?
    pub fn of_channel(&self, pc: Pc, cell: CellId) -> bool {
        self.channel.has(pc, cell)
    }

    /// May anything of the cell be read, by whatever channel, once the thread is here?
    pub fn of_thread(&self, pc: Pc, cell: CellId) -> bool {
        self.thread.has(pc, cell)
    }

    /// The cells of which anything may be read once the thread is here, ascending.
    pub fn cells(&self, pc: Pc) -> impl Iterator<Item = CellId> {
        self.thread.at(pc).into_iter()
    }

    /// The first and the last instruction at which anything of the cell may be read still.
    pub fn span(&self, cell: CellId) -> Option<(Pc, Pc)> {
        let all = self.thread.of(cell);
        Some((all.first()?.0, all.last()?.1 - 1))
    }

    /// May this instruction write all elements of the cell, though it is to write those of active channels?
    pub fn may_write_unmasked(&self, pc: Pc, cell: CellId) -> bool {
        self.unmasked.binary_search(&(pc, cell)).is_ok()
    }
}

/// A masked write may write all channels if no channel that waits reads what it has there, and nobody reads across
/// channels: such writes are found, and count as others do from here on.
fn find_unmasked_writes(
    flow: &Flow,
    cells: &Cells,
    full: bool,
    channel: &Ranges,
    uses: &mut Uses,
) -> Vec<(Pc, CellId)> {
    let mut all = Vec::new();
    for pc in (0..flow.end()).filter(|pc| flow.is_reachable(*pc)) {
        let (every, waiting) = (full && flow.all_channels_active(pc), flow.waiting_labels(pc).len());
        let wanted = |c: CellId| {
            let cell = cells.get(c);
            let plain = match cell.kind {
                CellKind::Vector | CellKind::Narrow => cell.channel.is_some() && !cell.read_across,
                CellKind::Predicate => !cell.read_across,
                _ => false,
            };
            !plain || waiting > WAITING || flow.waiting_labels(pc).any(|l| channel.has(l, c))
        };
        for (c, u) in &mut uses.all[uses.from[pc as usize]..uses.from[pc as usize + 1]] {
            if *u == Use::Masked && (every || !wanted(*c)) {
                all.push((pc, *c));
                *u = Use::Kill;
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

fn collect_uses(p: &ProgramParts, cells: &Cells, pc: Pc, all: bool, tell: &mut Vec<(CellId, Use)>) {
    let i = &p.code[pc as usize];
    // The predicate of `sel` picks a source; all active channels are written.
    let predicated = i.pred.offset != 0 && i.op != crate::Op::Sel;
    let certain = i.no_mask || all;
    // Nobody knows yet how much of its response it writes.
    let raw =
        i.op == crate::Op::Message && matches!(p.messages.get(i.aux as usize), Some(crate::Message::Raw(_)));
    cells.accesses(p, pc, &mut |a| {
        let c = cells.get(a.cell);
        let stays = !a.write || raw || predicated || !a.whole || (i.channels == 1 && !certain);
        let masked = a.masked || (c.kind == CellKind::Predicate && i.channels > 1);
        tell.push((
            a.cell,
            match (stays, masked && !i.no_mask) {
                (true, _) => Use::Read,
                (false, true) => Use::Masked,
                (false, false) => Use::Kill,
            },
        ));
    });
}

/// Cells that may be alive where blocks begin, by number; the others are wanted within blocks alone.
struct Global {
    /// By cell: its number.
    number: Vec<u32>,
    /// By number: the cell.
    cells: Vec<CellId>,
    /// By block: those that it wants before it overwrites them, and those that it overwrites first.
    read: Vec<Vec<u32>>,
    written: Vec<Vec<u32>>,
}

const NONE: u32 = u32::MAX;

impl Global {
    fn new(blocks: &Blocks, uses: &Uses, cells: usize, kills: &dyn Fn(Use) -> bool) -> Global {
        let mut g = Global {
            number: vec![NONE; cells],
            cells: Vec::new(),
            read: vec![Vec::new(); blocks.len()],
            written: vec![Vec::new(); blocks.len()],
        };
        // By cell: the last block that touches it, and whether it read it first.
        let mut seen = vec![NONE; cells];
        for b in (0..blocks.len()).filter(|b| blocks.reached[*b]) {
            for pc in blocks.instructions_of_block(b) {
                let of = uses.uses_at(pc);
                let first = |c: CellId, seen: &mut Vec<u32>| {
                    std::mem::replace(&mut seen[c as usize], b as u32) != b as u32
                };
                for (c, _) in of.iter().filter(|u| !kills(u.1)) {
                    if first(*c, &mut seen) {
                        g.read[b].push(*c);
                    }
                }
                for (c, _) in of.iter().filter(|u| kills(u.1)) {
                    if first(*c, &mut seen) {
                        g.written[b].push(*c);
                    }
                }
            }
        }
        for c in g.read.iter_mut().flatten() {
            let k = &mut g.number[*c as usize];
            if *k == NONE {
                *k = g.cells.len() as u32;
                g.cells.push(*c);
            }
            *c = *k;
        }
        for all in &mut g.written {
            let number = &g.number;
            all.retain_mut(|c| {
                *c = number[*c as usize];
                *c != NONE
            });
        }
        g
    }
}

/// Solves a backward problem: what is live before each instruction. `kills`: after such a use nothing of what was there
/// before is wanted.
fn solve_backward(
    blocks: &Blocks,
    uses: &Uses,
    cells: usize,
    kills: &dyn Fn(Use) -> bool,
) -> Result<Ranges, NotAnalysed> {
    let n = blocks.starts.last().map_or(0, |e| *e as usize);
    let too_much = |b: usize| NotAnalysed { pc: blocks.starts[b], reason: "too much is alive for analysis" };
    let g = Global::new(blocks, uses, cells, kills);
    let width = g.cells.len().div_ceil(64);
    if width * blocks.len() > max_runs(WORDS, n) {
        return Err(too_much(0));
    }
    let mut rows = vec![0u64; width * blocks.len()];
    let (before, from) = blocks.predecessors();
    let mut work: BTreeSet<u32> = (0..blocks.len() as u32).filter(|b| blocks.reached[*b as usize]).collect();
    let (mut steps, mut now) = (max_runs(STEPS, n), vec![0u64; width]);
    while let Some(b) = work.pop_last() {
        let b = b as usize;
        steps = steps.checked_sub(1 + width * (1 + blocks.next(b).len())).ok_or_else(|| too_much(b))?;
        live_at_block_end(blocks, b, &rows, &mut now);
        g.written[b].iter().for_each(|c| bits::remove(&mut now, *c));
        g.read[b].iter().for_each(|c| bits::add(&mut now, *c));
        let row = &mut rows[b * width..(b + 1) * width];
        if *row != *now {
            row.copy_from_slice(&now);
            work.extend(&before[from[b]..from[b + 1]]);
        }
    }
    let runs = live_runs(blocks, uses, (&g, &rows), kills).ok_or_else(|| too_much(0))?;
    Ok(Ranges::new(cells, runs))
}

/// What is live behind a block, by what is where the blocks begin that may follow it.
fn live_at_block_end(blocks: &Blocks, b: usize, rows: &[u64], now: &mut [u64]) {
    now.fill(0);
    for s in blocks.next(b) {
        let at = *s as usize * now.len();
        now.iter_mut().zip(&rows[at..]).for_each(|(a, b)| *a |= b);
    }
}

/// The runs of instructions before which each cell is alive; `None` if there are too many.
fn live_runs(
    blocks: &Blocks,
    uses: &Uses,
    (g, rows): (&Global, &[u64]),
    kills: &dyn Fn(Use) -> bool,
) -> Option<Vec<(Pc, Pc, CellId)>> {
    let width = g.cells.len().div_ceil(64);
    let most = max_runs(RUNS, blocks.starts.last().map_or(0, |e| *e as usize));
    // By cell: where the run ends that is under way, from the end of the code to its start; 0 if none is.
    let mut ends = vec![0; g.number.len()];
    let (mut runs, mut now, none) = (Vec::new(), vec![0; width], vec![0; width]);
    for b in (0..blocks.len()).rev() {
        let end = blocks.starts[b + 1];
        live_at_block_end(blocks, b, rows, &mut now);
        let there = rows.get((b + 1) * width..(b + 2) * width).unwrap_or(&none);
        for k in bits::numbers_in_bitset(now.iter().zip(there).map(|(a, b)| a ^ b)) {
            let c = g.cells[k as usize];
            if bits::contains_cell(&now, k) {
                ends[c as usize] = end;
            } else {
                close(&mut runs, &mut ends, c, end);
            }
        }
        if !blocks.reached[b] {
            continue;
        }
        for pc in blocks.instructions_of_block(b).rev() {
            for (c, u) in uses.uses_at(pc) {
                if kills(*u) {
                    close(&mut runs, &mut ends, *c, pc + 1);
                }
            }
            for (c, u) in uses.uses_at(pc) {
                // What is no write that kills is alive here, as a read or as what it leaves of others' values.
                let end = &mut ends[*c as usize];
                if !kills(*u) && *end == 0 {
                    *end = pc + 1;
                }
            }
        }
        if runs.len() > most {
            return None;
        }
    }
    for c in 0..ends.len() as CellId {
        close(&mut runs, &mut ends, c, 0);
    }
    Some(runs)
}

/// The run of a cell begins with this instruction, if one is under way.
fn close(runs: &mut Vec<(Pc, Pc, CellId)>, ends: &mut [Pc], c: CellId, start: Pc) {
    let end = std::mem::take(&mut ends[c as usize]);
    if start < end {
        runs.push((start, end, c));
    }
}
