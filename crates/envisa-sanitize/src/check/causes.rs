//! One cause, one finding: what is read before others have written it, because nothing orders the two, is a race, and not a use of
//! what nothing has written besides.

use std::collections::{HashMap, HashSet};

use super::memory_content::ContentPlace;
use super::races_in_group::SLM;
use super::{Finding, FindingKind, Key, RaceAccess};

/// Dwords that are remembered of a group, at most.
const MOST: usize = 1 << 14;

/// What a group read that nothing had written then, and for what it raced.
#[derive(Clone, Debug, Default)]
pub(super) struct EarlyReads {
    /// Findings, and the dwords that they are of.
    read: HashSet<(Key, u64)>,
    /// Loads, and the dwords for which a store raced with them.
    raced: HashSet<(u32, u64)>,
    /// Findings of which no race, or not only races, are the cause.
    others: HashSet<Key>,
}

/// What tells memory apart whose content is followed; `None` of a thread's own.
pub(super) fn memory_key(home: ContentPlace) -> Option<u64> {
    match home {
        ContentPlace::Local(at) => Some(SLM | at),
        ContentPlace::Fresh(at) => Some(at),
        ContentPlace::Thread(_) => None,
    }
}

impl EarlyReads {
    /// Something depends on memory that nothing has written.
    pub fn read(&mut self, key: Key, home: ContentPlace) {
        match memory_key(home).filter(|_| self.read.len() < MOST) {
            Some(at) => {
                self.read.insert((key, at & !3));
            }
            None => {
                self.others.insert(key);
            }
        }
    }

    /// Two accesses race: program counters, and what they do.
    pub fn race(&mut self, at: u64, sides: [(u32, RaceAccess); 2]) {
        for n in 0..2 {
            let ((pc, access), other) = (sides[n], sides[1 - n].1);
            if access != RaceAccess::Write && other != RaceAccess::Read && self.raced.len() < MOST {
                self.raced.insert((pc, at & !3));
            }
        }
    }

    /// The group is done.
    pub fn end_group(&mut self) {
        for (key, at) in self.read.drain() {
            if !self.raced.contains(&(key.0, at)) {
                self.others.insert(key);
            }
        }
        self.raced.clear();
    }

    /// Takes what others found.
    pub fn merge(&mut self, mut other: EarlyReads) {
        other.end_group();
        self.others.extend(other.others);
    }

    /// Puts uses of what nothing has written to the races that are their cause.
    pub fn merge_into_races(&self, all: &mut HashMap<Key, Finding>) {
        if !all.keys().any(|k| k.1 == FindingKind::UninitialisedMemory) {
            return;
        }
        let mut done = self.clone();
        done.end_group();
        let early = |key: &&Key| key.1 == FindingKind::UninitialisedMemory && !done.others.contains(*key);
        let keys: Vec<Key> = all.keys().filter(early).copied().collect();
        for key in keys {
            let loads = |(k, f): &(&Key, &mut Finding)| {
                let reads = |access: RaceAccess| access != RaceAccess::Write;
                let there = f.race.as_ref().is_some_and(|(here, other)| {
                    k.0 == key.0 && reads(*here) || k.2 == key.0 && reads(other.access)
                });
                k.1 == FindingKind::Race && there
            };
            let race = all.iter_mut().filter(loads).min_by_key(|(k, _)| **k).map(|(k, _)| *k);
            let Some(race) = race else { continue };
            let count = all.remove(&key).map_or(0, |f| f.count);
            if let Some(f) = all.get_mut(&race) {
                f.early += count;
            }
        }
    }
}
