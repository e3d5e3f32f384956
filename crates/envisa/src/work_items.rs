//! Maps the channels of threads to work-items.

use envisa_machine::dispatch::Threads;
use serde::Serialize;

/// A work-item of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct WorkItem {
    /// Its global id.
    pub global: [u64; 3],
    /// Its local id.
    pub local: [u32; 3],
    /// Dimensions of the range.
    pub dimensions: usize,
}

impl std::fmt::Display for WorkItem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n = self.dimensions.clamp(1, 3);
        let list = |ids: [u64; 3]| {
            let all: Vec<String> = ids[..n].iter().map(u64::to_string).collect();
            if n == 1 { all.concat() } else { format!("({})", all.join(", ")) }
        };
        write!(f, "work-item {} (local id {})", list(self.global), list(self.local.map(u64::from)))
    }
}

/// The work-items of a launch of a compiled kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkItems {
    threads: Threads,
    dimensions: usize,
    /// Work-items of a group, but at the far edges of the range.
    local: [u32; 3],
    global: [u64; 3],
    first: [u64; 3],
}

impl WorkItems {
    /// Of a range of this many work-items from these first ones on, in groups of so many, whose ids run in this order.
    pub fn new(
        (global, first): (&[u64], &[u64]),
        (local, simd): ([u32; 3], u32),
        walk: [u8; 3],
    ) -> WorkItems {
        let three = |numbers: &[u64], rest: u64| {
            let mut all = [rest; 3];
            all.iter_mut().zip(numbers).for_each(|(to, n)| *to = *n);
            all
        };
        let threads = Threads { simd, channels: simd, payload_bytes: 0, row_bytes: 0, walk };
        WorkItems {
            threads,
            dimensions: global.len(),
            local,
            global: three(global, 1),
            first: three(first, 0),
        }
    }

    /// The first and the last work-item of a thread of a group.
    pub fn of_thread(&self, group: [u32; 3], thread: u32) -> [WorkItem; 2] {
        let start = [0, 1, 2].map(|d| u64::from(group[d]) * u64::from(self.local[d]));
        let sizes = (0..3).map(|d| {
            let left = self.global[d].saturating_sub(start[d]).max(1);
            u64::from(self.local[d]).min(left)
        });
        let first = u64::from(thread) * u64::from(self.threads.simd);
        let there =
            sizes.product::<u64>().saturating_sub(first).clamp(1, u64::from(self.threads.simd).max(1));
        [0, there as u32 - 1].map(|channel| self.at(group, thread, channel))
    }

    /// The work-item that is this channel of this thread of a group.
    pub fn at(&self, group: [u32; 3], thread: u32, channel: u32) -> WorkItem {
        let start = [0, 1, 2].map(|d| u64::from(group[d]) * u64::from(self.local[d]));
        let size = [0, 1, 2].map(|d| {
            let left = self.global[d].saturating_sub(start[d]).max(1);
            self.local[d].min(u32::try_from(left).unwrap_or(u32::MAX))
        });
        let item = thread.saturating_mul(self.threads.simd).saturating_add(channel);
        let local = self.threads.local_id(item, size);
        let global = [0, 1, 2].map(|d| self.first[d] + start[d] + u64::from(local[d]));
        WorkItem { global, local, dimensions: self.dimensions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_work_items() {
        let threads = Threads { simd: 16, channels: 16, payload_bytes: 0, row_bytes: 0, walk: [0, 1, 2] };
        let items =
            WorkItems { threads, dimensions: 2, local: [8, 4, 1], global: [20, 8, 1], first: [100, 0, 0] };
        let one = items.at([1, 1, 0], 1, 3);
        assert_eq!((one.global, one.local), ([111, 6, 0], [3, 2, 0]));
        assert_eq!(one.to_string(), "work-item (111, 6) (local id (3, 2))");
        assert_eq!(items.of_thread([1, 1, 0], 1).map(|w| w.local), [[0, 2, 0], [7, 3, 0]]);
        assert_eq!(items.of_thread([2, 0, 0], 0).map(|w| w.local), [[0, 0, 0], [3, 3, 0]]);
        // The last group in x has four work-items in a row.
        assert_eq!(items.at([2, 0, 0], 0, 5).local, [1, 1, 0]);
    }
}
