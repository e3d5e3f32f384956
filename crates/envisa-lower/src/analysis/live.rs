//! Where the values of cells are still wanted.

use super::{Bits, CellId, CellKind, Cells, Flow};
use crate::program::{Pc, ProgramParts};

/// Liveness of cells before each instruction, twice: of the values of one channel, and of whole cells.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// By program counter: cells of which a channel that comes here may read its element.
    channel: Vec<Bits>,
    /// By program counter: cells of which anything may be read once the thread is here.
    thread: Vec<Bits>,
    /// By program counter: the writes there that may ignore the execution mask.
    unmasked: Vec<Vec<CellId>>,
}

/// Reads and writes of one instruction.
struct Uses {
    reads: Vec<CellId>,
    /// A channel's element is another one after it.
    channel_kills: Vec<CellId>,
    /// Written whole, whatever the mask.
    kills: Vec<CellId>,
    /// Written for active channels only.
    masked: Vec<CellId>,
}

impl Liveness {
    /// Works it out. `full`: the thread starts with all channels of the dispatch.
    pub fn new(p: &ProgramParts, flow: &Flow, cells: &Cells, full: bool) -> Liveness {
        let n = flow.end() as usize;
        let mut uses: Vec<Uses> = (0..n as Pc).map(|pc| uses(p, cells, pc, full && flow.full(pc))).collect();
        let empty = || vec![Bits::new(cells.len()); n];
        let (mut channel, mut thread) = (empty(), empty());
        let next: Vec<[Option<Pc>; 2]> = (0..n as Pc).map(|pc| flow.channel_successors(p, pc)).collect();
        let size = (n, cells.len());
        let join = |now: &mut Bits, live: &[Bits], s: Pc| {
            if let Some(l) = live.get(s as usize) {
                now.join(l);
            }
        };
        solve(
            size,
            &mut channel,
            &|pc, now, l| next[pc].iter().flatten().for_each(|s| join(now, l, *s)),
            &|pc, live| {
                uses[pc].channel_kills.iter().for_each(|c| live.remove(*c as usize));
                uses[pc].reads.iter().for_each(|c| live.add(*c as usize));
            },
        );
        // A masked write may write all channels if no channel that waits reads what it has there, and nobody
        // reads across channels.
        let mut unmasked = vec![Vec::new(); n];
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
                !plain || flow.waiting(pc as Pc).any(|l| channel[l as usize].has(c as usize))
            };
            let u = &mut uses[pc];
            let masked = std::mem::take(&mut u.masked);
            for c in masked {
                if all || !wanted(c) {
                    unmasked[pc].push(c);
                    u.kills.push(c);
                } else {
                    u.masked.push(c);
                }
            }
        }
        let next: Vec<Vec<Pc>> = (0..n as Pc).map(|pc| flow.successors(p, pc)).collect();
        solve(
            size,
            &mut thread,
            &|pc, now, l| next[pc].iter().for_each(|s| join(now, l, *s)),
            &|pc, live| {
                uses[pc].kills.iter().for_each(|c| live.remove(*c as usize));
                uses[pc].masked.iter().for_each(|c| live.add(*c as usize));
                uses[pc].reads.iter().for_each(|c| live.add(*c as usize));
            },
        );
        Liveness { channel, thread, unmasked }
    }

    /// May a channel that comes to this instruction read its element of the cell before it gets another?
    pub fn of_channel(&self, pc: Pc, cell: CellId) -> bool {
        self.channel.get(pc as usize).is_some_and(|b| b.has(cell as usize))
    }

    /// May anything of the cell be read, by whatever channel, once the thread is here?
    pub fn of_thread(&self, pc: Pc, cell: CellId) -> bool {
        self.thread.get(pc as usize).is_some_and(|b| b.has(cell as usize))
    }

    /// The cells of which anything may be read once the thread is here.
    pub fn cells(&self, pc: Pc) -> impl Iterator<Item = CellId> + '_ {
        self.thread.get(pc as usize).into_iter().flat_map(|b| b.iter().map(|c| c as CellId))
    }

    /// May this instruction write all elements of the cell, though it is to write those of active channels?
    pub fn unmasked(&self, pc: Pc, cell: CellId) -> bool {
        self.unmasked.get(pc as usize).is_some_and(|l| l.contains(&cell))
    }
}

fn uses(p: &ProgramParts, cells: &Cells, pc: Pc, all: bool) -> Uses {
    let i = &p.code[pc as usize];
    let mut u = Uses { reads: Vec::new(), channel_kills: Vec::new(), kills: Vec::new(), masked: Vec::new() };
    // The predicate of `sel` picks a source; all active channels are written.
    let predicated = i.pred.offset != 0 && i.op != crate::Op::Sel;
    let certain = i.no_mask || all;
    // Nobody knows yet how much of its response it writes.
    let raw =
        i.op == crate::Op::Message && matches!(p.messages.get(i.aux as usize), Some(crate::Message::Raw(_)));
    cells.accesses(p, pc, &mut |a| {
        let c = cells.get(a.cell);
        let stays = match (a.write, c.kind) {
            (false, _) => true,
            (true, CellKind::Predicate) => {
                // Only the bits of the instruction's channels change.
                predicated
                    || (i.op != crate::Op::Setp
                        && (i.channels as u32) < p.simd
                        && !(i.channels == 1 && c.channel == Some(0) && certain))
            }
            (true, _) => raw || predicated || !a.whole || (i.channels == 1 && !certain),
        };
        if stays {
            u.reads.push(a.cell);
            return;
        }
        u.channel_kills.push(a.cell);
        let masked = a.masked || (c.kind == CellKind::Predicate && i.channels > 1);
        if masked && !i.no_mask { u.masked.push(a.cell) } else { u.kills.push(a.cell) }
    });
    u
}

/// Solves a backward problem: what is live before each instruction.
fn solve(
    (n, bound): (usize, usize),
    live: &mut [Bits],
    next: &dyn Fn(usize, &mut Bits, &[Bits]),
    transfer: &dyn Fn(usize, &mut Bits),
) {
    let mut changed = true;
    while changed {
        changed = false;
        for pc in (0..n).rev() {
            let mut now = Bits::new(bound);
            next(pc, &mut now, live);
            transfer(pc, &mut now);
            if now != live[pc] {
                live[pc] = now;
                changed = true;
            }
        }
    }
}
