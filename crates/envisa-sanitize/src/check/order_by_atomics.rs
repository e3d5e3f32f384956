//! What groups access after an atomic and a fence told them that others are done: was it theirs?
//!
//! An atomic that changes something tells what fences of its thread cover, and what barriers told that thread of others of
//! its group. Who is given a value knows of it, and tells it on, one place after the other. An access of another group
//! that a group does not know of races with its own. Of two accesses before anything was told, `launch` knows.

use std::collections::HashMap;
use std::sync::Mutex;

use super::access_cells::number;
use super::races_between_groups::{Accessor, Race};
use super::races_in_group::{ChannelRange, RaceAccess, Run};
use crate::address_map::Map;

/// Most places that are kept, and most groups that one is told of.
const MOST_PLACES: usize = 1 << 16;
const MOST_KNOWN: usize = 1 << 10;
/// Most reads of a place since it was written.
const MOST_READS: usize = 8;

/// Most clocks of groups that are kept of all places together.
const MOST_CLOCKS: usize = 1 << 20;

/// How far the threads of groups are known to have come.
type Known = HashMap<u64, Vec<u32>>;

/// An access, and how far its thread had come.
#[derive(Clone, Copy, Debug)]
struct Note {
    who: Accessor,
    clock: u32,
    value: u32,
    /// Something had been told its group by then.
    told: bool,
}

#[derive(Debug, Default)]
struct Place {
    write: Option<Note>,
    reads: Vec<Note>,
}

#[derive(Debug, Default)]
struct State {
    /// By dword: what those have told who changed it by atomics.
    told: Map<Known>,
    clocks: usize,
    groups: Map<Known>,
    places: Map<Place>,
    races: Map<Race>,
    /// There was too much to be kept: nothing more is said.
    full: bool,
}

/// What groups hand over to each other.
#[derive(Debug, Default)]
pub(super) struct HandedOver(Mutex<State>);

fn join(known: &mut Known, told: &Known) {
    for (group, clock) in told {
        join_clock(known.entry(*group).or_default(), clock);
    }
}

fn join_clock(known: &mut Vec<u32>, told: &[u32]) {
    if known.len() < told.len() {
        known.resize(told.len(), 0);
    }
    known.iter_mut().zip(told).for_each(|(known, told)| *known = (*known).max(*told));
}

/// Who accesses, whether its group had been told something by then, and how far its thread had come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accessing {
    pub who: Accessor,
    pub told: bool,
    pub clock: u32,
}

impl State {
    fn race(
        &mut self,
        key: u64,
        (first, access): (Accessor, RaceAccess),
        (second, with): (Accessor, RaceAccess),
    ) {
        let pair = u64::from(first.pc()) << 32 | u64::from(second.pc()) << 2 | with as u64;
        let new = Race { first, access, second, with, address: key, count: 0 };
        self.races.entry(pair).or_insert(new).count += 1;
    }

    fn dword(&mut self, key: u64, by: Accessing, access: RaceAccess, value: u32) {
        let Accessing { who, told, clock } = by;
        if self.places.len() >= MOST_PLACES && !self.places.contains_key(&key) {
            return;
        }
        let group = self.groups.entry(who.group()).or_default();
        // A plain load of what others change by atomics is a mistake of its own.
        if let Some(there) = self.told.get(&key).filter(|_| access == RaceAccess::Read) {
            join(group, there);
        }
        let new = Note { who, clock, value, told };
        let (mine, known) = (who.group(), &*group);
        let came = |n: &Note| known.get(&n.who.group())?.get(n.who.thread() as usize).copied();
        let races = |n: &Note| {
            (told || n.told) && n.who.group() != mine && came(n).is_none_or(|up_to| up_to < n.clock)
        };
        let place = self.places.entry(key).or_default();
        let written = place.write.filter(&races);
        if access == RaceAccess::Read {
            let same = |n: &Note| (n.who.group(), n.who.thread(), n.clock) == (mine, who.thread(), clock);
            if !place.reads.iter().any(same) {
                place.reads.truncate(MOST_READS - 1);
                place.reads.push(new);
            }
            if let Some(w) = written {
                self.race(key, (w.who, RaceAccess::Write), (who, access));
            }
            return;
        }
        let read = place.reads.drain(..).find(&races);
        place.write = Some(new);
        if let Some(w) = written.filter(|w| w.value != value) {
            self.race(key, (w.who, RaceAccess::Write), (who, access));
        }
        if let Some(r) = read {
            self.race(key, (who, access), (r.who, RaceAccess::Read));
        }
    }
}

impl HandedOver {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A group was at a dword with an atomic, and was given a value, or not. One that changes it tells how far fences cover
    /// what the threads of the group did.
    pub fn atomic(&self, group: u64, key: u64, covers: Option<&[u32]>, given: bool) {
        let State { told, clocks, groups, full, .. } = &mut *self.state();
        if *full {
            return;
        }
        let known = groups.entry(group).or_default();
        if let Some(told) = told.get(&key).filter(|_| given) {
            join(known, told);
        }
        if let Some(covers) = covers {
            join_clock(known.entry(group).or_default(), covers);
            let there = told.entry(key).or_default();
            let before = there.len();
            join(there, known);
            *clocks += there.len() - before;
            *full = there.len() > MOST_KNOWN || told.len() > MOST_PLACES || *clocks > MOST_CLOCKS;
        }
    }

    /// Notes accesses.
    pub fn access(&self, run: &Run<'_>, by: Accessing, access: RaceAccess) {
        let mut state = self.state();
        // Parts of dwords are left to others.
        if state.full || (run.key | u64::from(run.bytes)) & 3 != 0 {
            return;
        }
        for at in (0..run.bytes).step_by(4) {
            let by = Accessing { who: by.who.with(ChannelRange::single(run.by.channel(at))), ..by };
            state.dword(run.key + u64::from(at), by, access, number(run.values, at, 4));
        }
    }

    /// What races.
    pub fn races(&self) -> Vec<Race> {
        let state = self.state();
        let mut all: Vec<Race> =
            if state.full { Vec::new() } else { state.races.values().copied().collect() };
        all.sort();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use RaceAccess::{Read, Write};

    const LOCK: u64 = 64;

    /// What a thread did up to its first fence.
    const FENCED: Option<&[u32]> = Some(&[1]);

    fn at(handed: &HandedOver, group: u64, (access, value): (RaceAccess, u8), (told, clock): (bool, u32)) {
        let who = Accessor::new(group, 0, access as u32).expect("small");
        let run = Run { key: 0, bytes: 4, by: ChannelRange::single(0), values: &[value; 4] };
        handed.access(&run, Accessing { who, told, clock }, access);
    }

    /// A group takes a lock, adds to what it guards, and gives it back: before its store, or behind it.
    fn adds(handed: &HandedOver, group: u64, early: bool) {
        handed.atomic(group, LOCK, Some(&[]), true);
        at(handed, group, (Read, 0), (true, 1));
        if early {
            handed.atomic(group, LOCK, FENCED, false);
        }
        at(handed, group, (Write, group as u8), (true, 1 + u32::from(early)));
        if !early {
            handed.atomic(group, LOCK, FENCED, false);
        }
    }

    #[test]
    fn a_lock_hands_over_what_was_done_before_it_was_given_back() {
        let handed = HandedOver::default();
        (0..4).for_each(|g| adds(&handed, g, false));
        assert!(handed.races().is_empty());
        adds(&handed, 4, true);
        assert!(handed.races().is_empty(), "nobody came later");
        adds(&handed, 5, false);
        let races = handed.races();
        assert_eq!(races.len(), 2, "{races:?}");
        assert!(races.iter().all(|r| r.first.group() == 4 && r.second.group() == 5));
    }

    #[test]
    fn what_is_told_goes_on_over_several_places() {
        let handed = HandedOver::default();
        at(&handed, 0, (Write, 1), (true, 1));
        handed.atomic(0, LOCK, FENCED, false);
        handed.atomic(1, LOCK, None, true);
        handed.atomic(1, LOCK + 4, Some(&[]), false);
        handed.atomic(2, LOCK + 4, None, true);
        at(&handed, 2, (Write, 2), (true, 1));
        assert!(handed.races().is_empty());
        at(&handed, 3, (Read, 0), (true, 1));
        assert_eq!(handed.races().len(), 1, "nobody told it");
    }

    #[test]
    fn what_no_fence_covers_is_not_told() {
        for covers in [&[1][..], &[], &[0, 9]] {
            let handed = HandedOver::default();
            at(&handed, 0, (Write, 1), (false, 1));
            handed.atomic(0, LOCK, Some(covers), true);
            handed.atomic(1, LOCK, Some(&[]), true);
            at(&handed, 1, (Read, 0), (true, 1));
            assert_eq!(handed.races().len(), usize::from(covers != [1]), "{covers:?}");
        }
    }

    #[test]
    fn what_is_stored_behind_the_flag_races_with_who_saw_that() {
        for early in [false, true] {
            let handed = HandedOver::default();
            if early {
                handed.atomic(0, LOCK, FENCED, false);
            }
            at(&handed, 0, (Write, 7), (false, 1 + u32::from(early)));
            if !early {
                handed.atomic(0, LOCK, FENCED, false);
            }
            at(&handed, 1, (Read, 7), (false, 1));
            assert!(handed.races().is_empty(), "another looks at these");
            handed.atomic(2, LOCK, None, true);
            at(&handed, 2, (Read, 7), (true, 1));
            assert_eq!(handed.races().len(), usize::from(early));
        }
    }
}
