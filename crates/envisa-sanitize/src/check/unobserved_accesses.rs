//! What a launch accesses of memory without telling the checks of it, where its footprint is asked for.

use std::ops::Range;

use envisa_lower::{Message, Op};
use envisa_machine::thread::Machine;

use super::Checks;
use super::access_ranges;
use super::id_sums::{Sums, channels};
use super::own_places::{OwnPlaces, Place};
use super::pointer_flows::Allocations;

/// Addresses, and the messages that are to be told of because theirs are not known.
#[derive(Debug, Default)]
pub(super) struct Unobserved {
    pub read: Vec<Range<u64>>,
    pub written: Vec<Range<u64>>,
    /// Some of these addresses may be read; none where exactly those that are read are asked for.
    pub may_read: Vec<Range<u64>>,
    /// By message: the checks have to be told of what it accesses.
    pub told: Vec<bool>,
}

impl Unobserved {
    /// A message may read some bytes of these, which need not be known exactly.
    fn may_read(&mut self, message: usize, some: impl Iterator<Item = Range<u64>>, exactly: bool) {
        let before = self.may_read.len();
        self.may_read.extend(some);
        if exactly && self.may_read.len() > before {
            self.may_read.truncate(before);
            self.told[message] = true;
        }
    }
}

impl Checks {
    /// Finds what the launch of which this is a first thread, which is about to start, accesses without telling of it.
    /// Nothing changes `quiet` allocations or follows their content. (What a store leaves without content it had loaded from
    /// there: such buffers are not each work-item's own.)
    pub(super) fn find_unobserved(
        &self,
        m: &Machine<'_>,
        (sums, own): (&Sums<'_>, &OwnPlaces),
        quiet: &[bool],
    ) -> Unobserved {
        let mut untold =
            Unobserved { told: vec![false; m.env.program.messages().len()], ..Unobserved::default() };
        if !self.facts.footprint {
            return untold;
        }
        let exact_reads = self.facts.exact_reads;
        let ranges: Vec<Range<u64>> =
            m.env.memory.iter().map(|a| a.base..a.base.saturating_add(a.block.len() as u64)).collect();
        for (pc, i) in (0u32..).zip(m.env.program.code()) {
            let n = i.aux as usize;
            let Some(Message::Simt(s)) = m.env.program.messages().get(n).filter(|_| i.op == Op::Message)
            else {
                continue;
            };
            if own.is_never_reached(n) {
                continue;
            }
            let place = own.places.iter().find(|place| place.pc == pc);
            let exact = place.and_then(|place| self.exactly(m, (sums, own), place));
            match (own.messages.get(n).copied().flatten(), exact) {
                (Some(_), Some(exact)) if s.write => {
                    untold.written.extend(exact);
                }
                (Some(_), _) if s.write => untold.told[n] = true,
                (Some(_), Some(exact)) => untold.read.extend(exact),
                (Some(at), None) => untold.may_read(n, std::iter::once(ranges[at].clone()), exact_reads),
                (None, _) if s.write => {}
                (None, exact) => match (self.sites.program.flows.reachable_allocations(m, n), exact) {
                    (Some((Allocations::Of(all), _)), Some(exact)) if all.iter().all(|at| quiet[*at]) => {
                        untold.read.extend(exact);
                    }
                    (Some((Allocations::Of(all), _)), _) => {
                        let all = all.into_iter().filter(|at| quiet[*at]);
                        untold.may_read(n, all.map(|at| ranges[at].clone()), exact_reads);
                    }
                    (Some((Allocations::Any, _)), _) => {
                        let all = m.env.memory.iter().zip(quiet).zip(&ranges);
                        let all = all.filter(|((a, q), _)| **q && !a.private).map(|(_, r)| r.clone());
                        untold.may_read(n, all, exact_reads);
                    }
                    (None, _) => {}
                },
            }
        }
        untold
    }

    /// The addresses that a message accesses, if it is known which work-items come to it.
    fn exactly(
        &self,
        m: &Machine<'_>,
        (sums, own): (&Sums<'_>, &OwnPlaces),
        place: &Place,
    ) -> Option<Vec<Range<u64>>> {
        let code = m.env.program.code();
        // One may be of the lower channels, one of the upper ones.
        let alike = |other: &&Place| Place { pc: place.pc, ..(*other).clone() } == *place;
        let channels = own.places.iter().filter(alike).map(|other| channels(&code[other.pc as usize]));
        let all = channels.fold(0, |all, some| all | some);
        if !m.env.inputs.even || !place.who.is_all || !place.whole || all.count_ones() < m.env.program.simd()
        {
            return None;
        }
        let bounds = &place.who.bounds;
        let parts = access_ranges::parts(sums, &place.at, bounds, &access_ranges::known_sums(bounds.iter()))?;
        access_ranges::ranges(sums, place.at.base, &parts, place.bytes)
    }
}
