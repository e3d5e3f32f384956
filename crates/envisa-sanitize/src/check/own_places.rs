//! Buffers in which each work-item accesses a place of its own, as is found before a launch runs: no races are to be
//! looked for there.
//!
//! All messages that may access such a buffer have addresses that are sums of ids ([`Sums`]) with the same factors, which
//! are so far apart that no two work-items come to one byte, and that are inside for all of them: for all that come to the
//! message, as far as the branches before it tell.

use envisa_lower::{Extend, Inst, Message, Op, Space, Src};
use envisa_machine::memory::Surface;
use envisa_machine::thread::Machine;

use super::access_ranges;
use super::id_conditions::{Bound, Known};
use super::id_sums::{Sum, Sums};
use super::pointer_flows::Allocations;
use super::unobserved_accesses::Unobserved;
use super::{Checks, ProgramFacts};

/// Where a message accesses memory.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Place {
    pub pc: u32,
    /// Its allocation's number in the order of the address space.
    pub allocation: usize,
    /// The address.
    pub at: Sum,
    /// Bytes from there on, of which each is accessed if `whole`.
    pub bytes: i128,
    pub whole: bool,
    pub writes: bool,
    /// What is known of the work-items that come here.
    pub who: Known,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct OwnPlaces {
    /// By message: does it access such a buffer, and which one?
    pub messages: Vec<Option<usize>>,
    /// Where messages access memory, of which that is found for all work-items.
    pub places: Vec<Place>,
    /// By message: it is known that no work-item comes to it.
    pub never: Vec<bool>,
    /// What the launch accesses without telling of it.
    pub untold: Unobserved,
}

impl OwnPlaces {
    /// Does no work-item come to a message?
    pub fn is_never_reached(&self, message: usize) -> bool {
        self.never.get(message) == Some(&true)
    }

    /// The allocation in which all is that a message accesses.
    pub fn place(&self, pc: u32) -> Option<usize> {
        let at = self.places.binary_search_by_key(&pc, |place| place.pc).ok()?;
        Some(self.places[at].allocation)
    }

    /// Is each work-item's own what is accessed in an allocation?
    pub fn has(&self, allocation: usize) -> bool {
        self.messages.contains(&Some(allocation))
    }
}

impl Checks {
    /// Looks at the launch of which this is a first thread, which is about to start. Buffers of which `excluded` is true
    /// are not looked at, nor what is read of `followed` ones, whose content is followed.
    pub(super) fn own_places(
        &self,
        m: &Machine<'_>,
        sums: &Sums<'_>,
        (excluded, followed): (&[bool], &[bool]),
    ) -> OwnPlaces {
        let (p, facts) = (m.env.program, &self.sites.program);
        let count = p.messages().len();
        let mut found =
            OwnPlaces { messages: vec![None; count], never: vec![false; count], ..OwnPlaces::default() };
        let mut excluded = excluded.to_vec();
        for (pc, i) in (0u32..).zip(p.code()).filter(|(_, i)| i.op == Op::Message) {
            let Some((allocations, writes)) = facts.flows.reachable_allocations(m, i.aux as usize) else {
                continue;
            };
            if access_ranges::parts(sums, &Sum::default(), &sums.bounds(pc).bounds, &[]).is_none() {
                found.never[i.aux as usize] = true;
                continue;
            }
            match (facts.place(sums, m, (pc, i), writes), allocations) {
                (_, Allocations::Any) => return found,
                (Some(place), Allocations::Of(all)) if all == [place.allocation] => found.places.push(place),
                (_, Allocations::Of(all)) => all.into_iter().for_each(|at| excluded[at] = true),
            }
        }
        let mut places: Vec<&Place> = found.places.iter().collect();
        places.sort_by_key(|place| place.allocation);
        for of_one in places.chunk_by(|a, b| a.allocation == b.allocation) {
            let at = of_one[0].allocation;
            let writes = of_one.iter().any(|place| place.writes);
            let reads_content = followed[at] && of_one.iter().any(|place| !place.writes);
            if excluded[at] || !writes || reads_content || !are_apart(sums, of_one) {
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
        let mut who = sums.bounds(pc);
        who.is_all &= i.pred.offset == 0;
        let (low, high) = range(sums, &at, &who.bounds)?;
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
        let whole = s.elements >> s.elements.trailing_zeros() == u64::MAX >> (64 - s.elements.count_ones());
        Some(Place { pc, allocation, at, bytes, whole, writes, who })
    }
}

/// The least and the most of an address, for the work-items of which this is known.
fn range(sums: &Sums<'_>, at: &Sum, bounds: &[Bound]) -> Option<(i128, i128)> {
    let parts = access_ranges::parts(sums, at, bounds, &access_ranges::known_sums(bounds.iter()))?;
    parts.iter().try_fold((at.base, at.base), |(low, high), part| {
        let (least, most) = part.range()?;
        Some((low.checked_add(least)?, high.checked_add(most)?))
    })
}

/// Has each work-item a place of its own, in which all of these are?
fn are_apart(sums: &Sums<'_>, places: &[&Place]) -> bool {
    let known = access_ranges::known_sums(places.iter().flat_map(|place| &place.who.bounds));
    let parts = |place: &&Place| {
        Some((place.at.base, access_ranges::parts(sums, &place.at, &place.who.bounds, &known)?))
    };
    let Some(mut all) = places.iter().map(parts).collect::<Option<Vec<_>>>() else { return false };
    if !access_ranges::same_steps(&mut all) {
        return false;
    }
    let start = all.iter().map(|(base, _)| *base).min().unwrap_or(0);
    let end = all.iter().zip(places).map(|((base, _), place)| base + place.bytes).max().unwrap_or(0);
    access_ranges::are_apart(sums, &all, end - start)
}
