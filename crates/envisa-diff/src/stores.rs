//! The first store that differs.

use crate::Watched;
use crate::trace::number;
use envisa::lower::Op;
use envisa::machine::group::log::Place;
use envisa_debug::session::Session;
use std::collections::{HashMap, HashSet};

/// A store.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// The clock before it.
    pub clock: u64,
    pub thread: usize,
    pub lane: u32,
    /// The element, after it.
    pub value: u64,
}

/// A store that differs.
#[derive(Clone, Copy, Debug)]
pub struct DifferingStore {
    pub buffer: usize,
    /// Byte of the buffer at which the element begins.
    pub byte: usize,
    /// The store on each side, if it has it.
    pub sites: [Option<Site>; 2],
}

/// The first stores that differ, of one group.
pub struct FirstDifferences {
    /// The first one first.
    pub stores: Vec<DifferingStore>,
    /// When their group began, and when it ended, on each side.
    pub groups: [(u64, u64); 2],
}

/// Stores to one element.
type Stores = Vec<(Site, [u32; 3])>;

struct History {
    stores: HashMap<(usize, usize), Stores>,
    /// By group: when it began and ended.
    groups: HashMap<[u32; 3], (u64, u64)>,
}

/// Elements that are followed; those behind are left out.
const MOST_TARGETS: usize = 1 << 16;

/// Among the elements that end up different, the first stores that are not the same on both sides.
pub fn first_different_stores(
    sides: &mut [Session<'_, '_>; 2],
    watched: &[Watched],
    targets: &[(usize, usize)],
) -> Result<FirstDifferences, String> {
    let targets: HashSet<(usize, usize)> = targets.iter().take(MOST_TARGETS).copied().collect();
    let [a, b] = sides;
    let histories = [record_stores(a, 0, watched, &targets)?, record_stores(b, 1, watched, &targets)?];
    let mut all = Vec::new();
    for (buffer, byte) in targets {
        let of = |side: usize| histories[side].stores.get(&(buffer, byte)).map_or(&[][..], Vec::as_slice);
        let (left, right) = (of(0), of(1));
        let part = left.iter().zip(right).position(|(x, y)| x.0.value != y.0.value);
        let n = part.unwrap_or(left.len().min(right.len()));
        let (x, y) = (left.get(n), right.get(n));
        let Some((site, group)) = x.or(y) else { continue };
        let parted = DifferingStore { buffer, byte, sites: [x, y].map(|s| s.map(|s| s.0)) };
        all.push(((site.clock, buffer, byte), *group, parted));
    }
    all.sort_unstable_by_key(|s| s.0);
    let Some(group) = all.first().map(|s| s.1) else {
        return Err("the instruction that stored the difference was not found".into());
    };
    let groups = [0, 1].map(|side| histories[side].groups.get(&group).copied().unwrap_or((0, 0)));
    let stores = all.iter().filter(|s| s.1 == group).map(|s| s.2).collect();
    Ok(FirstDifferences { stores, groups })
}

/// Runs a side again and keeps all stores to the elements.
fn record_stores(
    s: &mut Session<'_, '_>,
    side: usize,
    watched: &[Watched],
    targets: &HashSet<(usize, usize)>,
) -> Result<History, String> {
    s.restart().map_err(|e| e.to_string())?;
    let mut found = History { stores: HashMap::new(), groups: HashMap::new() };
    let code = s.program().code();
    while !s.is_over() {
        let (clock, thread, group) = (s.paused.clock(), s.paused.current(), s.paused.group().id);
        let pc = s.pc();
        s.paused.step();
        found.groups.entry(group).or_insert((clock, clock)).1 = clock + 1;
        let Some(inst) = code.get(pc as usize).filter(|i| i.op == Op::Message) else { continue };
        let Some(past) = s.paused.log().entries().next() else { continue };
        for r in past.records_latest_first().filter(|r| !r.read) {
            let Place::Flat(at) = r.place else { continue };
            let here = |w: &Watched| {
                let from = w.buffers[side].address();
                at < from + w.buffers[side].len() && from < at + u64::from(r.bytes)
            };
            let Some(buffer) = watched.iter().position(here) else { continue };
            let w = &watched[buffer];
            let (size, from) = (u64::from(w.element.bytes()), w.buffers[side].address());
            let first = at.saturating_sub(from) / size;
            let last = (at + u64::from(r.bytes) - 1).saturating_sub(from) / size;
            for element in first..=last {
                let byte = (element * size) as usize;
                if !targets.contains(&(buffer, byte)) {
                    continue;
                }
                let by = (from + element * size).saturating_sub(at);
                let channel = u32::from(r.channel) + (by.checked_div(r.each.into()).unwrap_or(0)) as u32;
                let mut bytes = vec![0; size as usize];
                s.paused.read(Place::Flat(from + element * size), &mut bytes);
                let lane = (channel + u32::from(inst.first)).min(31);
                let site = Site { clock, thread, lane, value: number(&bytes) };
                let stores = found.stores.entry((buffer, byte)).or_default();
                // An element that is stored in parts, by one instruction, is one store.
                match stores.last_mut().filter(|s| s.0.clock == clock) {
                    Some(last) => last.0.value = site.value,
                    None => stores.push((site, group)),
                }
            }
        }
    }
    Ok(found)
}
