//! Where the values of cells are still wanted.

use super::{Bits, CellId, CellKind, Cells, Flow, bits};
use crate::program::{Pc, ProgramParts};

/// Liveness of cells before each instruction, twice: of the values of one channel, and of whole cells.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// By program counter: cells of which a channel that comes here may read its element.
    channel: Rows,
    /// By program counter: cells of which anything may be read once the thread is here.
    thread: Rows,
    /// The writes that may ignore the execution mask, by program counter and cell.
    unmasked: Rows,
}

/// A set of cells for each instruction.
#[derive(Clone, Debug)]
struct Rows {
    words: Vec<u64>,
    /// Words of a set.
    width: usize,
}

impl Rows {
    fn new(n: usize, cells: usize) -> Rows {
        let width = cells.div_ceil(64);
        Rows { words: vec![0; n * width], width }
    }

    fn row(&self, pc: usize) -> &[u64] {
        self.words.get(pc * self.width..(pc + 1) * self.width).unwrap_or(&[])
    }

    fn has(&self, pc: Pc, cell: CellId) -> bool {
        self.row(pc as usize).get(cell as usize / 64).is_some_and(|w| w >> (cell % 64) & 1 != 0)
    }

    fn add(&mut self, pc: usize, cell: CellId) {
        add(&mut self.words[pc * self.width..(pc + 1) * self.width], cell);
    }
}

fn add(row: &mut [u64], cell: CellId) {
    row[cell as usize / 64] |= 1 << (cell % 64);
}

fn remove(row: &mut [u64], cell: CellId) {
    row[cell as usize / 64] &= !(1 << (cell % 64));
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
    fn of(&self, pc: usize) -> &[(CellId, Use)] {
        &self.all[self.from[pc]..self.from[pc + 1]]
    }
}

/// Where instructions may be followed by others, one instruction after the other, and where those of each begin.
struct Next {
    all: Vec<Pc>,
    from: Vec<usize>,
}

impl Next {
    fn new(n: usize, mut of: impl FnMut(Pc, &mut Vec<Pc>)) -> Next {
        let mut next = Next { all: Vec::with_capacity(n + n / 4), from: Vec::with_capacity(n + 1) };
        for pc in 0..n as Pc {
            next.from.push(next.all.len());
            of(pc, &mut next.all);
        }
        next.from.push(next.all.len());
        next
    }

    fn of(&self, pc: usize) -> &[Pc] {
        &self.all[self.from[pc]..self.from[pc + 1]]
    }

    /// Does nothing lead back?
    fn forward(&self) -> bool {
        (0..self.from.len() - 1).all(|pc| self.of(pc).iter().all(|s| *s as usize > pc))
    }
}

impl Liveness {
    /// Works it out. `full`: the thread starts with all channels of the dispatch.
    pub fn new(p: &ProgramParts, flow: &Flow, cells: &Cells, full: bool) -> Liveness {
        Liveness::without(p, flow, cells, full, &|_, _| false)
    }

    /// The same where instructions do not read all that they have as operands: `unread`.
    pub fn without(
        p: &ProgramParts,
        flow: &Flow,
        cells: &Cells,
        full: bool,
        unread: &dyn Fn(Pc, CellId) -> bool,
    ) -> Liveness {
        let n = flow.end() as usize;
        let mut uses = Uses { all: Vec::with_capacity(4 * n), from: Vec::with_capacity(n + 1) };
        for pc in 0..n as Pc {
            uses.from.push(uses.all.len());
            self::uses(p, cells, pc, full && flow.full(pc), &mut uses.all);
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
        let next = Next::new(n, |pc, out| out.extend(flow.channel_successors(p, pc).iter().flatten()));
        let mut channel = Rows::new(n, cells.len());
        solve(&mut channel, &next, |pc, live| {
            for (c, u) in uses.of(pc) {
                if *u != Use::Read {
                    remove(live, *c);
                }
            }
            for (c, u) in uses.of(pc) {
                if *u == Use::Read {
                    add(live, *c);
                }
            }
        });
        // A masked write may write all channels if no channel that waits reads what it has there, and nobody
        // reads across channels.
        let mut unmasked = Rows::new(n, cells.len());
        for pc in 0..n {
            if !flow.reachable(pc as Pc) {
                continue;
            }
            let all = full && flow.full(pc as Pc);
            let wanted = |c: CellId| {
                let cell = cells.get(c);
                let plain = match cell.kind {
                    CellKind::Vector | CellKind::Narrow => cell.channel.is_some() && !cell.read_across,
                    CellKind::Predicate => !cell.read_across,
                    _ => false,
                };
                !plain || flow.waiting(pc as Pc).any(|l| channel.has(l, c))
            };
            for (c, u) in &mut uses.all[uses.from[pc]..uses.from[pc + 1]] {
                if *u == Use::Masked && (all || !wanted(*c)) {
                    unmasked.add(pc, *c);
                    *u = Use::Kill;
                }
            }
        }
        let next = Next::new(n, |pc, out| out.extend(flow.successors(p, pc)));
        let mut thread = Rows::new(n, cells.len());
        solve(&mut thread, &next, |pc, live| {
            for (c, u) in uses.of(pc) {
                if *u == Use::Kill {
                    remove(live, *c);
                }
            }
            for (c, u) in uses.of(pc) {
                if *u != Use::Kill {
                    add(live, *c);
                }
            }
        });
        Liveness { channel, thread, unmasked }
    }

    /// The same where cells, the first of each pair, have the values of others, which are read in their place.
    pub fn with(&self, pairs: impl Iterator<Item = (CellId, CellId)>) -> Liveness {
        let mut all = self.clone();
        let pairs: Vec<_> = pairs.collect();
        for rows in [&mut all.channel, &mut all.thread] {
            for row in rows.words.chunks_exact_mut(rows.width.max(1)) {
                for (cell, other) in &pairs {
                    if row[*cell as usize / 64] >> (cell % 64) & 1 != 0 {
                        remove(row, *cell);
                        add(row, *other);
                    }
                }
            }
        }
        all
    }

    /// May a channel that comes to this instruction read its element of the cell before it gets another?
    pub fn of_channel(&self, pc: Pc, cell: CellId) -> bool {
        self.channel.has(pc, cell)
    }

    /// May anything of the cell be read, by whatever channel, once the thread is here?
    pub fn of_thread(&self, pc: Pc, cell: CellId) -> bool {
        self.thread.has(pc, cell)
    }

    /// The cells of which anything may be read once the thread is here.
    pub fn cells(&self, pc: Pc) -> impl Iterator<Item = CellId> + '_ {
        bits::of(self.thread.row(pc as usize)).map(|c| c as CellId)
    }

    /// Tells which cells of these are not in a set, and puts them in.
    pub fn more(&self, pc: Pc, seen: &mut Bits, tell: &mut dyn FnMut(CellId)) {
        seen.put(self.thread.row(pc as usize), &mut |c| tell(c as CellId));
    }

    /// May this instruction write all elements of the cell, though it is to write those of active channels?
    pub fn unmasked(&self, pc: Pc, cell: CellId) -> bool {
        self.unmasked.has(pc, cell)
    }
}

fn uses(p: &ProgramParts, cells: &Cells, pc: Pc, all: bool, tell: &mut Vec<(CellId, Use)>) {
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

/// Solves a backward problem: what is live before each instruction.
fn solve(live: &mut Rows, next: &Next, transfer: impl Fn(usize, &mut [u64])) {
    let width = live.width;
    let (forward, mut now) = (next.forward(), vec![0; width]);
    loop {
        let mut changed = false;
        for pc in (0..next.from.len() - 1).rev() {
            now.fill(0);
            for s in next.of(pc) {
                now.iter_mut().zip(live.row(*s as usize)).for_each(|(a, b)| *a |= b);
            }
            transfer(pc, &mut now);
            let row = &mut live.words[pc * width..(pc + 1) * width];
            if *row != *now {
                row.copy_from_slice(&now);
                changed = true;
            }
        }
        if !changed || forward {
            return;
        }
    }
}
