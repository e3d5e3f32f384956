//! Buffers in which each work-item accesses a place of its own, as is found before a launch runs: no races are to be
//! looked for there.
//!
//! All messages that may access such a buffer have addresses that are sums of ids ([`Sums`]) with the same factors, which
//! are so far apart that no two work-items come to one byte, and that are inside for all of them.

use envisa_lower::{Extend, Inst, Message, Op, Space, Src};
use envisa_machine::memory::Surface;
use envisa_machine::thread::Machine;

use super::flows::Allocations;
use super::sums::{IDS, Sum, Sums};
use super::{Checks, ProgramFacts};

/// Where a message accesses memory.
#[derive(Clone, Copy, Debug)]
struct Place {
    pc: u32,
    /// Its allocation's number in the order of the address space.
    allocation: usize,
    /// The address.
    at: Sum,
    /// Bytes from there on.
    bytes: i128,
    writes: bool,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct OwnPlaces {
    /// By message: does it access such a buffer, and which one?
    pub messages: Vec<Option<usize>>,
    /// By message: where all that it accesses is, for all work-items, if that is found.
    pub places: Vec<Option<usize>>,
}

impl OwnPlaces {
    /// Is each work-item's own what is accessed in an allocation?
    pub fn has(&self, allocation: usize) -> bool {
        self.messages.contains(&Some(allocation))
    }
}

impl Checks {
    /// Looks at the launch of which this is a first thread, which is about to start. Buffers of which `excluded` is true
    /// are not looked at, nor what is read of `followed` ones, whose content is followed.
    pub(super) fn own_places(&self, m: &Machine<'_>, excluded: &[bool], followed: &[bool]) -> OwnPlaces {
        let (p, facts) = (m.env.program, &self.sites.program);
        let none = vec![None; p.messages().len()];
        let mut found = OwnPlaces { messages: none.clone(), places: none };
        let mut excluded = excluded.to_vec();
        let mut places: Vec<Place> = Vec::new();
        let sums = Sums::of(m, &facts.operands);
        for (pc, i) in (0u32..).zip(p.code()).filter(|(_, i)| i.op == Op::Message) {
            let Some((allocations, writes)) = facts.flows.reached(m, i.aux as usize) else { continue };
            match (facts.place(&sums, m, (pc, i), writes), allocations) {
                (_, Allocations::Any) => return found,
                (Some(place), Allocations::Of(all)) if all == [place.allocation] => {
                    found.places[i.aux as usize] = Some(place.allocation);
                    places.push(place);
                }
                (_, Allocations::Of(all)) => all.into_iter().for_each(|at| excluded[at] = true),
            }
        }
        places.sort_by_key(|place| place.allocation);
        for of_one in places.chunk_by(|a, b| a.allocation == b.allocation) {
            let at = of_one[0].allocation;
            let writes = of_one.iter().any(|place| place.writes);
            let reads_content = followed[at] && of_one.iter().any(|place| !place.writes);
            if excluded[at] || !writes || reads_content || !are_apart(&sums, of_one) {
                continue;
            }
            for place in of_one {
                found.messages[p.code()[place.pc as usize].aux as usize] = Some(at);
            }
        }
        found
    }
}

impl ProgramFacts {
    /// Where a message accesses memory, if that is a sum and inside of an allocation for all work-items.
    fn place(&self, sums: &Sums<'_>, m: &Machine<'_>, (pc, i): (u32, &Inst), writes: bool) -> Option<Place> {
        let Some(Message::Simt(s)) = m.env.program.messages().get(i.aux as usize) else { return None };
        // A channel that accesses memory whether or not it is active has no work-item.
        if s.stride != Src::None || s.scale != 1 || s.extend != Extend::None || i.no_mask || s.elements == 0 {
            return None;
        }
        let added = sums.added(&s.base)? + i128::from(s.offset) + sums.added(&s.origin)?;
        let element = i128::from(s.element);
        let first = i128::from(s.elements.trailing_zeros()) * element;
        let bytes = i128::from(64 - s.elements.leading_zeros()) * element - first;
        let mut at = sums.address(pc)?;
        at.base = at.base.checked_add(added + first)?;
        let (low, high) = sums.range(&at)?;
        let (allocation, start) = match s.space {
            Space::Flat if s.address_bytes == 8 => {
                let (allocation, range) = m.env.memory.allocation_of(u64::try_from(low).ok()?)?;
                (high + bytes <= i128::from(range.end)).then_some((allocation, 0))?
            }
            Space::Table(_) | Space::Bti(_) if s.address_bytes == 4 => {
                let bound = self.flows.bound(m, i.aux as usize)?;
                let Surface::Buffer(surface) = &bound.surface else { return None };
                let start = bound.allocation.as_ref()?.base.checked_add(surface.start as u64)?;
                // Offsets are of 32 bits.
                let inside = low >= 0 && high + bytes <= (surface.len as i128).min(1 << 32);
                (m.env.memory.allocation_of(start)?.0, inside.then_some(i128::from(start))?)
            }
            _ => return None,
        };
        at.base += start;
        Some(Place { pc, allocation, at, bytes, writes })
    }
}

/// The ids of which there are several, with how far apart in memory they are, nearest first.
fn steps(sums: &Sums<'_>, at: &Sum) -> Vec<(i128, i128)> {
    let counts = sums.counts();
    let ids = (0..IDS).filter(|n| counts[*n] > 1);
    let mut steps: Vec<_> = ids.map(|n| (at.factors[n], i128::from(counts[n]))).collect();
    steps.sort_by_key(|(factor, _)| factor.abs());
    steps
}

/// Has each work-item a place of its own, in which all of these are?
fn are_apart(sums: &Sums<'_>, places: &[Place]) -> bool {
    let Some(first) = places.first() else { return false };
    let start = places.iter().map(|place| place.at.base).min().unwrap_or(0);
    let end = places.iter().map(|place| place.at.base + place.bytes).max().unwrap_or(0);
    let mut span = end - start;
    let apart = steps(sums, &first.at).into_iter().all(|(factor, count)| {
        let fits = factor.abs() >= span;
        span += factor.abs() * (count - 1);
        fits
    });
    apart && places.iter().all(|place| place.at.factors == first.at.factors)
}
