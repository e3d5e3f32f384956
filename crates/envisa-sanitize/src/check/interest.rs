//! What the checks want to be told of: not of instructions that read nothing but written registers and access no memory,
//! and not of reads of memory that the launch does not change.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use envisa_lower::{Message, Op, Space};
use envisa_machine::check_reports;
use envisa_machine::interest::{Interest, Reads, Tell};
use envisa_machine::thread::Machine;

use super::Checks;
use super::id_sums::Sums;
use super::own_places::OwnPlaces;
use super::unobserved_accesses::Unobserved;

/// What memory is looked at for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Class {
    /// Races.
    #[default]
    Watched,
    /// Nothing, as long as nobody changes it.
    Quiet,
    /// It is the launch's own.
    Own,
    /// Nothing, as long as no other message reaches it than those of which each work-item has a place of its own there.
    Apart,
}

/// What reached memory that its address was not computed for.
#[derive(Debug, Default)]
pub(super) struct UnexpectedAccesses {
    /// The allocation that was accessed by a message of which that was not expected.
    stored: OnceLock<String>,
    /// A load brought content from there that is followed, but its thread could not be.
    pub loaded: AtomicBool,
    /// Where none is looked for.
    own: OnceLock<OwnPlaces>,
}

impl UnexpectedAccesses {
    /// Does a message access an allocation in which each work-item has a place of its own, which is found once?
    pub fn has_own_places(&self, message: usize) -> bool {
        self.own.get().is_some_and(|own| own.messages.get(message).is_some_and(Option::is_some))
    }

    /// What the launch accesses without telling of it.
    pub fn unobserved(&self) -> Option<&Unobserved> {
        Some(&self.own.get()?.untold)
    }

    /// What was not looked at for that.
    pub fn what(&self) -> Option<String> {
        if let Some(name) = self.stored.get() {
            return Some(format!(
                "races for {name} were not checked from the start: an access reached it with an address that was computed from other pointers"
            ));
        }
        self.loaded.load(Ordering::Relaxed).then(|| {
            "uses of uninitialised memory were not checked everywhere: a load reached some with an address that was computed from other pointers".to_owned()
        })
    }
}

impl Checks {
    /// Says what is wanted, if nobody else has said it for this launch.
    pub(super) fn select(&mut self, m: &Machine<'_>) {
        if self.selects {
            m.env.interest.get_or_init(|| self.interest(m));
        }
    }

    fn interest(&self, m: &Machine<'_>) -> Interest {
        let (p, facts) = (m.env.program, &self.sites.program);
        let overlaps = |a: &Range<u64>, b: &Range<u64>| a.start < b.end && b.start < a.end;
        // What private data and what the host did not write hold is followed.
        let private = m.env.private.map(|(start, bytes)| start..start.saturating_add(bytes));
        let followed = |r: &Range<u64>| self.facts.fresh.iter().chain(&private).any(|f| overlaps(r, f));
        let changed = facts.flows.changed(m);
        let allocations =
            || m.env.memory.iter().map(|a| (a, a.base..a.base.saturating_add(a.block.len() as u64)));
        let quiet: Vec<bool> = allocations()
            .zip(changed)
            .map(|((a, range), changed)| (a.private || !changed) && !followed(&range))
            .collect();
        let own = self.elsewhere.own.get_or_init(|| {
            let apart = |r: &Range<u64>| {
                let constant = self.facts.constant.iter().map(|(range, _)| range);
                let others = private.iter().chain(constant).chain(&self.facts.of_four);
                !others.chain([&check_reports::addresses()]).any(|other| overlaps(r, other))
            };
            let excluded: Vec<bool> = allocations().map(|(a, range)| a.private || !apart(&range)).collect();
            let content: Vec<bool> = allocations().map(|(_, range)| followed(&range)).collect();
            let sums = Sums::of(m, &facts.operands);
            let own = match facts.hands_over() {
                true => OwnPlaces::default(),
                false => self.own_places(m, &sums, (&excluded, &content)),
            };
            OwnPlaces { untold: self.find_unobserved(m, (&sums, &own), &quiet), ..own }
        });
        let messages = p.messages().iter().enumerate().map(|(n, message)| match message {
            _ if own.untold.told.get(n) == Some(&true) => Reads::Told,
            Message::Simt(s)
                if own.is_never_reached(n) || own.messages.get(n).is_some_and(Option::is_some) =>
            {
                match s.space {
                    Space::Flat => Reads::In(own.messages[n].unwrap_or(usize::MAX)),
                    _ => Reads::Outside,
                }
            }
            Message::Simt(s) if s.write => Reads::Told,
            Message::Simt(s) if s.space == Space::Flat => Reads::ByAllocation,
            Message::Simt(_) => match facts.flows.surface_read(m, n) {
                Some(at) if quiet.get(at) == Some(&true) => Reads::Outside,
                _ => Reads::Told,
            },
            _ => Reads::Told,
        });
        let messages: Vec<Reads> = messages.collect();
        let instructions = p.code().iter().zip(0u32..).map(|(i, pc)| {
            let known = facts.proof.is_proven(pc) && !facts.proof.touches(pc);
            match i.op {
                Op::Message if known => match messages.get(i.aux as usize) {
                    Some(Reads::Told) | None => Tell::Always,
                    Some(Reads::ByAllocation) if !facts.flows.reads_only(m, i.aux as usize, &quiet) => {
                        Tell::Accesses
                    }
                    Some(_) => Tell::Surprises,
                },
                Op::Message | Op::Barrier | Op::SplitBarrier | Op::NamedBarrier | Op::Fence => Tell::Always,
                _ if known => Tell::Never,
                _ => Tell::Always,
            }
        });
        let (instructions, noted) = (instructions.collect(), self.noted_messages());
        Interest { instructions, messages, quiet, noted, ..Interest::default() }
    }

    /// Is there nothing to be told of, whatever happens, in a launch that has said what is wanted?
    pub(super) fn wants_nothing(&self, m: &Machine<'_>) -> bool {
        let (Some(interest), Some(own)) = (m.env.interest.get(), self.elsewhere.own.get()) else {
            return false;
        };
        let is_certain = |(pc, message): (u32, usize)| {
            let at = own.place(pc);
            self.elsewhere.has_own_places(message)
                || own.is_never_reached(message)
                || at.is_some_and(|at| interest.quiet.get(at) == Some(&true))
        };
        self.selects
            && m.env.program.code().iter().zip(0u32..).all(|(i, pc)| match interest.of(pc) {
                Tell::Never => true,
                Tell::Surprises => is_certain((pc, i.aux as usize)),
                Tell::Always | Tell::Accesses => false,
            })
    }

    /// What memory at an address is looked at for.
    #[inline]
    pub(super) fn class(&mut self, m: &Machine<'_>, place: u64) -> Class {
        let stale = self.last.1 == Class::Quiet && self.elsewhere.stored.get().is_some();
        if stale || !self.last.0.contains(&place) {
            self.last = self.classify(m, place);
        }
        self.last.1
    }

    #[inline(never)]
    fn classify(&self, m: &Machine<'_>, place: u64) -> (Range<u64>, Class) {
        let Some((at, range)) = m.env.memory.allocation_of(place) else { return (0..0, Class::Watched) };
        let quiet = m.env.interest.get().and_then(|i| i.quiet.get(at)).copied().unwrap_or(false);
        let class = match m.env.memory.is_private(place) {
            true => Class::Own,
            false if quiet && self.elsewhere.stored.get().is_none() => Class::Quiet,
            false if self.elsewhere.own.get().is_some_and(|own| own.has(at)) => Class::Apart,
            false => Class::Watched,
        };
        (range, class)
    }

    /// An access went to memory that none was expected to go to.
    #[cold]
    pub(super) fn note_unexpected_access(&mut self, m: &Machine<'_>, place: u64) {
        let name = m.env.memory.nearest(place).map_or(String::new(), |(a, _)| m.env.names.of(a).to_owned());
        let _ = self.elsewhere.stored.set(name);
        if let Some(interest) = m.env.interest.get() {
            interest.loud.store(true, Ordering::Relaxed);
        }
        self.last = (0..0, Class::Watched);
    }
}
