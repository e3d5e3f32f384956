//! What groups access after an atomic and a fence told them that others are done: was it theirs?
//!
//! Groups count their atomics that change something, and know up to which of the others' they were told of what those did
//! before: by the atomics that gave them a value, one place after the other. An access of another group that they do not
//! know of races with theirs. Of two accesses before anything was told, `launch` knows.

use std::collections::HashMap;
use std::sync::Mutex;

use super::cells::number;
use super::group::{Map, RaceAccess, Run};
use super::launch::{Race, Who};

/// Most places that are kept, and most groups that one is told of.
const MOST_PLACES: usize = 1 << 16;
const MOST_KNOWN: usize = 1 << 10;
/// Most reads of a place since it was written.
const MOST_READS: usize = 8;

/// Up to which of the atomics of groups somebody knows what they did.
type Known = HashMap<u64, u32>;

#[derive(Debug, Default)]
struct Group {
    changes: u32,
    known: Known,
}

/// An access: after how many atomics of its group it was made.
#[derive(Clone, Copy, Debug)]
struct Note {
    who: Who,
    changes: u32,
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
    groups: Map<Group>,
    places: Map<Place>,
    races: Map<Race>,
    /// There was too much to be kept: nothing more is said.
    full: bool,
}

/// What groups hand over to each other.
#[derive(Debug, Default)]
pub(super) struct Handed(Mutex<State>);

fn join(known: &mut Known, told: &Known) {
    for (group, changes) in told {
        let known = known.entry(*group).or_default();
        *known = (*known).max(*changes);
    }
}

impl State {
    fn race(&mut self, key: u64, (first, access): (Who, RaceAccess), (second, with): (Who, RaceAccess)) {
        let pair = u64::from(first.pc()) << 32 | u64::from(second.pc()) << 2 | with as u64;
        let new = Race { first, access, second, with, address: key, count: 0 };
        self.races.entry(pair).or_insert(new).count += 1;
    }

    fn dword(&mut self, key: u64, (who, told): (Who, bool), access: RaceAccess, value: u32) {
        if self.places.len() >= MOST_PLACES && !self.places.contains_key(&key) {
            return;
        }
        let group = self.groups.entry(who.group()).or_default();
        // A plain load of what others change by atomics is a mistake of its own.
        if let Some(there) = self.told.get(&key).filter(|_| access == RaceAccess::Read) {
            join(&mut group.known, there);
        }
        let new = Note { who, changes: group.changes, value, told };
        let (mine, known) = (who.group(), &group.known);
        let races = |n: &Note| {
            (told || n.told)
                && n.who.group() != mine
                && known.get(&n.who.group()).is_none_or(|up_to| *up_to <= n.changes)
        };
        let place = self.places.entry(key).or_default();
        let written = place.write.filter(&races);
        if access == RaceAccess::Read {
            if !place.reads.iter().any(|n| n.who.group() == mine && n.changes == new.changes) {
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

impl Handed {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A group was at a dword with an atomic that changes it, or not, and was given a value, or not.
    pub fn atomic(&self, group: u64, key: u64, changes: bool, given: bool) {
        let State { told, groups, full, .. } = &mut *self.state();
        if *full {
            return;
        }
        let group_of = groups.entry(group).or_default();
        if let Some(told) = told.get(&key).filter(|_| given) {
            join(&mut group_of.known, told);
        }
        if changes {
            group_of.changes += 1;
            let there = told.entry(key).or_default();
            join(there, &group_of.known);
            there.insert(group, group_of.changes);
            *full = there.len() > MOST_KNOWN || told.len() > MOST_PLACES;
        }
    }

    /// Notes accesses of a group, which was told something by then or not.
    pub fn access(&self, run: &Run<'_>, who: (Who, bool), access: RaceAccess) {
        let mut state = self.state();
        // Parts of dwords are left to others.
        if state.full || (run.key | u64::from(run.bytes)) & 3 != 0 {
            return;
        }
        for at in (0..run.bytes).step_by(4) {
            state.dword(run.key + u64::from(at), who, access, number(run.values, at, 4));
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

    fn at(handed: &Handed, group: u64, access: RaceAccess, value: u8) {
        let who = Who::new(group, 0, access as u32).expect("small");
        let run = Run { key: 0, bytes: 4, by: super::super::group::By::one(0), values: &[value; 4] };
        handed.access(&run, (who, true), access);
    }

    /// A group takes a lock, adds to what it guards, and gives it back: before its store, or behind it.
    fn adds(handed: &Handed, group: u64, early: bool) {
        handed.atomic(group, LOCK, true, true);
        at(handed, group, Read, 0);
        if early {
            handed.atomic(group, LOCK, true, false);
        }
        at(handed, group, Write, group as u8);
        if !early {
            handed.atomic(group, LOCK, true, false);
        }
    }

    #[test]
    fn a_lock_hands_over_what_was_done_before_it_was_given_back() {
        let handed = Handed::default();
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
        let handed = Handed::default();
        at(&handed, 0, Write, 1);
        handed.atomic(0, LOCK, true, false);
        handed.atomic(1, LOCK, false, true);
        handed.atomic(1, LOCK + 4, true, false);
        handed.atomic(2, LOCK + 4, false, true);
        at(&handed, 2, Write, 2);
        assert!(handed.races().is_empty());
        at(&handed, 3, Read, 0);
        assert_eq!(handed.races().len(), 1, "nobody told it");
    }

    #[test]
    fn what_is_stored_behind_the_flag_races_with_who_saw_that() {
        let access = |handed: &Handed, group: u64, access: RaceAccess, told: bool| {
            let who = Who::new(group, 0, access as u32).expect("small");
            let run = Run { key: 0, bytes: 4, by: super::super::group::By::one(0), values: &[7; 4] };
            handed.access(&run, (who, told), access);
        };
        for early in [false, true] {
            let handed = Handed::default();
            if early {
                handed.atomic(0, LOCK, true, false);
            }
            access(&handed, 0, Write, false);
            if !early {
                handed.atomic(0, LOCK, true, false);
            }
            access(&handed, 1, Read, false);
            assert!(handed.races().is_empty(), "another looks at these");
            handed.atomic(2, LOCK, false, true);
            access(&handed, 2, Read, true);
            assert_eq!(handed.races().len(), usize::from(early));
        }
    }
}
