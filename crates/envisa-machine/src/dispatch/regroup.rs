//! Groups of another shape than a launch asks for, where nobody can tell: of programs that
//! [take global ids alone](envisa_lower::analysis::takes_global_ids_alone).
//!
//! Threads whose channels are a row of the range access memory in rows. Small and narrow groups have few such threads, and
//! some of them lack channels.

use super::launch::Launch;
use super::threads::Threads;
use super::{MAX_GROUP_ITEMS, MAX_GROUP_THREADS};

/// Groups that a launch keeps at least, for as many host threads as there may be.
const GROUPS: u64 = 64;
/// A size, times its work-items' number, has to stay below this: ids are exact in 32 bits, with and without signs.
const IDS: u64 = 1 << 31;

/// The groups that a launch runs in, and those that it asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Regrouped {
    threads: Threads,
    asked: [u32; 3],
    run: [u32; 3],
    /// How many groups it asked for, in x and y.
    across: [u64; 2],
}

/// A channel of a thread of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The group.
    pub group: [u32; 3],
    /// The thread in its group.
    pub thread: u32,
    /// The channel.
    pub channel: u32,
}

impl Regrouped {
    /// Better groups for a launch in threads of so many work-items, whose ids run in this order; `None`: its own do.
    pub fn choose(launch: &Launch, simd: u32, walk: [u8; 3]) -> Option<Regrouped> {
        let along = walk[0] as usize;
        let asked = launch.local;
        // Threads are rows, or two halves of rows.
        if simd < 8 || asked.contains(&0) || (2 * asked[along]).is_multiple_of(simd) {
            return None;
        }
        if !can_change(launch) {
            return None;
        }
        let items = launch.global.iter().fold(1u64, |n, d| n.saturating_mul(*d));
        let most = most(simd).min(items / GROUPS) as u32;
        let divides = |n: &u32| launch.global[along].is_multiple_of((*n).into());
        let whole = (1..=most / simd).rev().map(|n| n * simd).find(divides);
        // One thread in four may lack channels.
        let nearly = || (3 * simd + 1..=most).rev().find(divides);
        let mut run = [1; 3];
        run[along] = whole.or_else(|| nearly().filter(|n| *n > asked[along]))?;
        Some(Regrouped::new(launch, run, (simd, walk)))
    }

    /// Any groups but its own for a launch, for tests: of several work-items in two dimensions, if there are.
    pub fn other(launch: &Launch, simd: u32, walk: [u8; 3]) -> Option<Regrouped> {
        if simd < 8 || !can_change(launch) {
            return None;
        }
        let divisors = |d: usize| {
            let n = launch.global[d];
            (1..=24u32).rev().filter(move |k| n.is_multiple_of((*k).into()))
        };
        let all = divisors(1).flat_map(|y| divisors(0).map(move |x| [x, y, 1]));
        let fits = |l: &[u32; 3]| *l != launch.local && u64::from(l.iter().product::<u32>()) <= most(simd);
        let run = all.filter(fits).max_by_key(|l| (l[0] > 1 && l[1] > 1, l.iter().product::<u32>()))?;
        Some(Regrouped::new(launch, run, (simd, walk)))
    }

    fn new(launch: &Launch, run: [u32; 3], (simd, walk): (u32, [u8; 3])) -> Regrouped {
        let threads = Threads { simd, channels: simd, payload_bytes: 0, row_bytes: 0, walk };
        let across = [0, 1].map(|d| launch.global[d] / u64::from(launch.local[d]));
        Regrouped { threads, asked: launch.local, run, across }
    }

    /// Work-items of the groups that it runs in.
    pub fn local(&self) -> [u32; 3] {
        self.run
    }

    /// Where a channel would be in the groups that were asked for.
    pub fn as_asked(&self, at: Place) -> Place {
        let item = at.thread.saturating_mul(self.threads.simd).saturating_add(at.channel);
        let local = self.threads.local_id(item, self.run);
        let id = [0, 1, 2].map(|d| u64::from(at.group[d]) * u64::from(self.run[d]) + u64::from(local[d]));
        let group = [0, 1, 2].map(|d| (id[d] / u64::from(self.asked[d])) as u32);
        let mut item = 0;
        for d in self.threads.walk.into_iter().rev().map(usize::from) {
            item = item * self.asked[d] + (id[d] % u64::from(self.asked[d])) as u32;
        }
        Place { group, thread: item / self.threads.simd, channel: item % self.threads.simd }
    }

    /// Which one in their order a group is of those that were asked for.
    pub fn number(&self, group: [u32; 3]) -> u64 {
        let [x, y, z] = group.map(u64::from);
        (z * self.across[1] + y) * self.across[0] + x
    }
}

/// Most work-items of a group.
fn most(simd: u32) -> u64 {
    MAX_GROUP_ITEMS.min(u64::from(MAX_GROUP_THREADS * simd))
}

/// Are ids small enough, and all groups of one size?
fn can_change(launch: &Launch) -> bool {
    let ids = |d: usize| launch.offset[d].checked_add(launch.global[d]).is_some_and(|n| n < IDS);
    let even = |d: usize| launch.local[d] > 0 && launch.global[d].is_multiple_of(launch.local[d].into());
    (0..3).all(|d| ids(d) && even(d))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(global: [u64; 3], local: [u32; 3]) -> Launch {
        Launch { dims: 3, global, local, offset: [0; 3], args: Vec::new() }
    }

    fn chosen(global: [u64; 3], local: [u32; 3]) -> Option<[u32; 3]> {
        Regrouped::choose(&launch(global, local), 32, [0, 1, 2]).map(|r| r.local())
    }

    #[test]
    fn groups_become_rows() {
        assert_eq!(chosen([1024, 1024, 1], [8, 8, 1]), Some([1024, 1, 1]));
        assert_eq!(
            chosen([1000, 1000, 1], [40, 5, 1]),
            Some([1000, 1, 1]),
            "one thread of 32 has 8 channels"
        );
        assert_eq!(chosen([100_000, 1, 1], [100, 1, 1]), Some([800, 1, 1]));
        assert_eq!(chosen([1024, 1024, 1], [16, 16, 1]), None, "two rows a thread");
        assert_eq!(chosen([1024, 1024, 1], [32, 8, 1]), None);
        assert_eq!(chosen([8, 100_000, 1], [8, 8, 1]), None, "rows are shorter than threads");
        assert_eq!(chosen([1020, 1024, 1], [8, 8, 1]), None, "the last groups are smaller");
        assert_eq!(
            chosen([64, 16, 1], [8, 8, 1]),
            None,
            "there is too little for several threads of the host"
        );
        assert_eq!(chosen([1 << 31, 1, 1], [8, 1, 1]), None, "ids are too large");
    }

    #[test]
    fn every_work_item_has_its_place() {
        let (global, local) = ([120, 60, 4], [12, 5, 2]);
        let r = Regrouped::choose(&launch(global, local), 8, [0, 1, 2]).unwrap();
        let run = r.local();
        let mut seen = std::collections::BTreeSet::new();
        let groups = [0, 1, 2].map(|d| global[d] as u32 / run[d]);
        let items = run.iter().product::<u32>();
        for (z, y, x) in (0..groups[2])
            .flat_map(|z| (0..groups[1]).flat_map(move |y| (0..groups[0]).map(move |x| (z, y, x))))
        {
            for item in 0..items {
                let here = Place { group: [x, y, z], thread: item / 8, channel: item % 8 };
                let there = r.as_asked(here);
                let of = |p: Place, size: [u32; 3]| {
                    let id = r.threads.local_id(p.thread * 8 + p.channel, size);
                    [0, 1, 2].map(|d| p.group[d] * size[d] + id[d])
                };
                assert_eq!(of(here, run), of(there, local));
                assert!(seen.insert((there.group, there.thread, there.channel)));
            }
        }
        assert_eq!(r.number([9, 11, 1]), 239);
    }
}
