//! Which groups a launch asked for that runs in others, so that reports name those.

/// The groups that a launch runs in, and those that it asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Regrouped {
    /// Work-items a thread.
    simd: u32,
    /// Order of the dimensions of local ids, fastest first.
    walk: [u8; 3],
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
    /// A launch of so many work-items that asked for groups of one size and runs in those of another; both divide it.
    pub fn new(
        global: [u64; 3],
        (asked, run): ([u32; 3], [u32; 3]),
        (simd, walk): (u32, [u8; 3]),
    ) -> Regrouped {
        let across = [0, 1].map(|d| global[d] / u64::from(asked[d]));
        Regrouped { simd, walk, asked, run, across }
    }

    /// Work-items of the groups that it runs in.
    pub fn local(&self) -> [u32; 3] {
        self.run
    }

    /// Where a channel would be in the groups that were asked for.
    pub fn in_requested_groups(&self, at: Place) -> Place {
        let item = at.thread.saturating_mul(self.simd).saturating_add(at.channel);
        let local = local_id(item, self.run, self.walk);
        let id = [0, 1, 2].map(|d| u64::from(at.group[d]) * u64::from(self.run[d]) + u64::from(local[d]));
        let group = [0, 1, 2].map(|d| (id[d] / u64::from(self.asked[d])) as u32);
        let mut item = 0;
        for d in self.walk.into_iter().rev().map(usize::from) {
            item = item * self.asked[d] + (id[d] % u64::from(self.asked[d])) as u32;
        }
        Place { group, thread: item / self.simd, channel: item % self.simd }
    }

    /// Which one in their order a group is of those that were asked for.
    pub fn number(&self, group: [u32; 3]) -> u64 {
        let [x, y, z] = group.map(u64::from);
        (z * self.across[1] + y) * self.across[0] + x
    }
}

/// Local id of a work-item of a group of this size by its linear number, where ids run in this order.
pub fn local_id(item: u32, size: [u32; 3], walk: [u8; 3]) -> [u32; 3] {
    let mut id = [0; 3];
    let mut rest = item;
    for d in walk {
        let n = size[d as usize].max(1);
        id[d as usize] = rest % n;
        rest /= n;
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_work_item_has_its_place() {
        let (global, asked, run) = ([120, 60, 4], [10, 5, 2], [120, 1, 1]);
        for walk in [[0, 1, 2], [1, 0, 2]] {
            let r = Regrouped::new(global, (asked, run), (8, walk));
            let mut seen = std::collections::BTreeSet::new();
            let of = |p: Place, size: [u32; 3]| {
                let id = local_id(p.thread * 8 + p.channel, size, walk);
                [0, 1, 2].map(|d| p.group[d] * size[d] + id[d])
            };
            for (y, z) in (0..60).flat_map(|y| (0..4).map(move |z| (y, z))) {
                for item in 0..120 {
                    let here = Place { group: [0, y, z], thread: item / 8, channel: item % 8 };
                    let there = r.in_requested_groups(here);
                    assert_eq!(of(here, run), of(there, asked));
                    assert!(seen.insert((there.group, there.thread, there.channel)));
                }
            }
            assert_eq!(r.number([9, 11, 1]), 285);
        }
    }
}
