//! Caches of rows: of loops in which each channel loads from and stores to a row of its own.
//!
//! A work-item per row makes every access of a loop one to as many lines as there are channels, and rows that are a page
//! apart share the few places which the CPU's caches have for them. Here such accesses go to a cache in the context: of
//! each row the same few columns, side by side, column by column. An access whose places are in there is one move of a
//! vector; for any other the engine is called, which writes back what was stored and brings the columns that come next
//! (`engine/row_cache_moves.rs`).
//!
//! While a cache is open, memory lacks what is in it. So everything that may see memory closes it first: calls of the
//! engine, the turn's end, the loop's exits. Other accesses of the loop must reach other memory, which the engine looks
//! at before it opens a cache. In the loop there are no atomics, fences, barriers and calls.

use std::ops::RangeInclusive;

use envisa_lower::analysis::{CellId, Cells, Flow};
use envisa_lower::{Message, Op, Pc, Program, Simt};

use super::memory::address_form;
use super::row_streams::{
    closed, control_edges, innermost_loops, is_written_in_loop, load, loaded_cells, stores_in_loop,
};
use super::site_reach::{SiteReach, site_reach};
use crate::affine_vectors::Shapes;

/// Columns that are brought at once.
pub(crate) const COLUMNS: u32 = 16;
/// Most rows: an access's channels.
pub(crate) const ROWS: u32 = 32;
/// Most caches in a program, and accesses that go through them.
const MOST: usize = 4;
const ACCESSES: usize = 16;

/// In the context, of all caches: which are open, a bit each; the places of the access that the engine is called for; where
/// the first row's place was when it was called for an access before.
pub(crate) const OPEN: u32 = 0;
pub(crate) const PLACES: u32 = 64;
pub(crate) const BEFORE: u32 = PLACES + 4 * ROWS;
/// Where the first cache begins.
pub(crate) const CACHES: u32 = BEFORE + 4 * ACCESSES as u32;

/// In the context, of each cache: the places of the first column; how far behind them places are in the cache; which
/// columns were stored to, a bit each; how many accesses found their places; how many times it is not to be asked for; how
/// often it was of little use; the site's pointer; the columns, of as many dwords as there are rows.
pub(crate) const LIMIT: u32 = 4 * ROWS;
pub(crate) const DIRTY: u32 = LIMIT + 4;
pub(crate) const HITS: u32 = LIMIT + 8;
pub(crate) const PAUSE: u32 = LIMIT + 12;
pub(crate) const USELESS: u32 = LIMIT + 16;
pub(crate) const POINTER: u32 = LIMIT + 24;
pub(crate) const DATA: u32 = LIMIT + 64;
pub(crate) const CACHE: u32 = DATA + 2 * COLUMNS * 4 * ROWS;

/// Behind the caches, for what the columns of an access seem to reach beyond the last one's.
const BEYOND: u32 = 3 * 4 * ROWS;

/// What the engine is called with, beside the number of an access, where some channels do not run;
pub(crate) const SOME_CHANNELS: u32 = 1 << 27;
/// and where all caches are to be closed.
pub(crate) const CLOSE: u32 = 1 << 26;

/// The caches of a program.
#[derive(Clone, Default, Debug)]
pub(crate) struct RowCaches {
    pub caches: Vec<RowCache>,
    /// Those that go through them, in the program's order.
    pub accesses: Vec<RowAccess>,
    /// Where threads go on that leave their loops; sorted.
    pub exits: Vec<Pc>,
}

/// A cache: of one surface, in one loop.
#[derive(Clone, Debug)]
pub(crate) struct RowCache {
    pub rows: u32,
    /// From a place to the next dword's, and bytes from a place to the next one's.
    pub step: u32,
    pub scale: u32,
    /// The sites of its accesses, and how many dwords these have.
    pub sites: Vec<(u32, u32)>,
    /// The sites of the loop's other messages that must reach other memory, and what they reach.
    pub others: Vec<(u32, SiteReach)>,
}

/// An access that goes through a cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowAccess {
    pub pc: Pc,
    pub cache: usize,
    pub write: bool,
    /// Dwords of a channel, one column after the other.
    pub elements: u32,
}

impl RowCaches {
    /// Bytes in a context.
    pub fn bytes(&self) -> u32 {
        if self.caches.is_empty() { 0 } else { CACHES + CACHE * self.caches.len() as u32 + BEYOND }
    }

    /// The number of an access, if it goes through a cache.
    pub fn access(&self, pc: Pc) -> Option<usize> {
        self.accesses.binary_search_by_key(&pc, |a| a.pc).ok()
    }
}

/// The caches that a program's loops may have.
pub(crate) fn find_row_caches(p: &Program, flow: &Flow, cells: &Cells, shapes: &Shapes) -> RowCaches {
    let mut all = RowCaches::default();
    let edges = control_edges(p, flow);
    for at in &innermost_loops(p, flow) {
        let stores = stores_in_loop(p, at).filter(|all| !all.is_empty());
        let Some(stores) = stores.filter(|_| closed(p, &edges, at)) else { continue };
        let before = all.caches.len();
        let rows = accesses_of_rows(p, cells, shapes, at);
        if !rows.iter().any(|pc| stores.contains(pc)) {
            // Loads alone are done ahead: see `row_streams`.
            continue;
        }
        for pc in &rows {
            if all.caches.len() < MOST && all.accesses.iter().all(|a| a.pc != *pc) {
                add_cache(p, at, &rows, *pc, &mut all);
            }
        }
        if all.caches.len() > before {
            let next = |pc: Pc| flow.successors(p.parts(), pc).into_iter().chain(flow.waiting_labels(pc));
            all.exits.extend(at.clone().flat_map(next).filter(|to| !at.contains(to)));
        }
    }
    all.accesses.sort_by_key(|a| a.pc);
    all.exits.sort_unstable();
    all.exits.dedup();
    all
}

/// Adds the cache of an access and of all others of rows that go to the same surface in its loop.
fn add_cache(p: &Program, at: &RangeInclusive<Pc>, rows: &[Pc], first: Pc, all: &mut RowCaches) {
    let Some(s) = access_of_row(p, first) else { return };
    let Ok(form) = address_form(p, s) else { return };
    let same = |pc: &Pc| {
        let channels = |pc: Pc| p.code()[pc as usize].channels;
        let of = access_of_row(p, *pc).filter(|_| channels(*pc) == channels(first));
        of.is_some_and(|o| (&o.space, &o.base, &o.origin, o.scale) == (&s.space, &s.base, &s.origin, s.scale))
    };
    let own: Vec<Pc> = rows.iter().copied().filter(same).collect();
    if all.accesses.len() + own.len() > ACCESSES {
        return;
    }
    let elements = |pc: Pc| access_of_row(p, pc).map_or(1, |s| s.elements.count_ones());
    let site = |pc: &Pc| p.code()[*pc as usize].aux;
    let messages = at.clone().filter(|pc| p.code()[*pc as usize].op == Op::Message && !own.contains(pc));
    let writes = own.iter().any(|pc| is_store(p, *pc));
    // What is only loaded may be loaded by others, too. What the machine does closes all caches.
    let reach = |pc: Pc| {
        let m = p.messages().get(site(&pc) as usize).filter(|_| writes || is_store(p, pc))?;
        Some((site(&pc), site_reach(p, m).ok()?))
    };
    let cache = RowCache {
        rows: p.code()[first as usize].channels.into(),
        step: 4 / form.scale,
        scale: form.scale,
        sites: own.iter().map(|pc| (site(pc), elements(*pc))).collect(),
        others: messages.filter_map(reach).collect(),
    };
    let number = all.caches.len();
    let access =
        |pc: &Pc| RowAccess { pc: *pc, cache: number, write: is_store(p, *pc), elements: elements(*pc) };
    all.accesses.extend(own.iter().map(access));
    all.caches.push(cache);
}

/// Does a message write?
fn is_store(p: &Program, pc: Pc) -> bool {
    match p.messages().get(p.code()[pc as usize].aux as usize) {
        Some(Message::Simt(s)) => s.write,
        Some(Message::Block(b)) => b.write,
        _ => false,
    }
}

/// A load or store of a dword a channel, or of up to four side by side, for sixteen channels or more.
fn access_of_row(p: &Program, pc: Pc) -> Option<&Simt> {
    let i = &p.code()[pc as usize];
    match p.messages().get(i.aux as usize)? {
        Message::Simt(s) if i.op == Op::Message && i.first.is_multiple_of(16) => {
            let dwords =
                (s.element, s.slot, s.address_bytes) == (4, 4, 4) && matches!(s.elements, 1 | 3 | 7 | 15);
            (dwords && s.data.is_some() && matches!(i.channels, 16 | 32)).then_some(s)
        }
        _ => None,
    }
}

/// The accesses of a loop whose places go on each time, by no step that is known, and not by what comes from memory.
fn accesses_of_rows(p: &Program, cells: &Cells, shapes: &Shapes, at: &RangeInclusive<Pc>) -> Vec<Pc> {
    let mut all = Vec::new();
    let mut loaded = loaded_cells(p, cells, at);
    for pc in at.clone() {
        if access_of_row(p, pc).is_some_and(|s| goes_on(p, cells, shapes, at, (pc, s), &loaded)) {
            all.push(pc);
        }
        load(p, cells, pc, &mut loaded);
    }
    all
}

fn goes_on(
    p: &Program,
    cells: &Cells,
    shapes: &Shapes,
    at: &RangeInclusive<Pc>,
    (pc, s): (Pc, &Simt),
    loaded: &[CellId],
) -> bool {
    let channels = u32::from(p.code()[pc as usize].channels);
    let plain = address_form(p, s).is_ok_and(|form| form.scale <= 4 && !form.wide);
    let moves =
        |c: CellId| shapes.step(c).is_none() && is_written_in_loop(p, cells, at, c) && !loaded.contains(&c);
    plain && (0..channels / 16).all(|k| cells.at(s.address + 64 * k).is_some_and(moves))
}
