//! Threads of a group: dispatch masks and local ids.

use crate::aligned_bytes::AlignedBytes;
use crate::register_file::all_channels;

/// Groups of one size: all groups but those at the far edges of a range that does not divide evenly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupClass {
    /// Work-items of the group in x, y and z.
    pub local: [u32; 3],
    /// Hardware threads.
    pub threads: u32,
    /// Dispatch mask of the last thread; all others have all channels.
    pub tail_mask: u32,
    /// Per-thread payloads, one after another.
    pub payloads: AlignedBytes,
    /// What r0.0 holds: where the implicit arguments of these groups are in the general-state window.
    pub implicit_offset: u32,
}

/// How work-items become channels of threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Threads {
    /// Work-items a thread.
    pub simd: u32,
    /// Channels a thread: one for each work-item; of vector-compute code, whose threads are one work-item each, all
    /// that there are.
    pub channels: u32,
    /// Bytes of a thread's local-id payload.
    pub payload_bytes: u32,
    /// Bytes from the ids of one dimension to those of the next.
    pub row_bytes: u32,
    /// Order of the dimensions, fastest first.
    pub walk: [u8; 3],
}

impl Threads {
    /// Bytes of one dimension's row of local ids: 16-bit ids, rounded up to registers.
    pub fn row_bytes(simd: u32, grf_bytes: u32) -> u32 {
        (simd * 2).next_multiple_of(grf_bytes)
    }

    /// The class of groups of this size.
    pub fn class(&self, local: [u32; 3]) -> GroupClass {
        let total = local.iter().product::<u32>();
        let threads = total.div_ceil(self.simd).max(1);
        let rest = total % self.simd;
        let tail_mask = if rest == 0 { all_channels(self.channels as usize) } else { (1 << rest) - 1 };
        let mut payloads = AlignedBytes::zeroed(threads as usize * self.payload_bytes as usize);
        if self.payload_bytes > 0 {
            let mut id = [0u32; 3];
            for payload in payloads.chunks_exact_mut(self.payload_bytes as usize) {
                // Channels that are off have the ids that a longer group would give them.
                for lane in 0..self.simd {
                    // Ids of a dimension of one work-item are zero, as the payload is.
                    for (dimension, id) in id.into_iter().enumerate().filter(|(d, _)| local[*d] > 1) {
                        let at = (dimension as u32 * self.row_bytes + lane * 2) as usize;
                        if let Some(to) = payload.get_mut(at..at + 2) {
                            to.copy_from_slice(&(id as u16).to_le_bytes());
                        }
                    }
                    self.next_id(&mut id, local);
                }
            }
        }
        GroupClass { local, threads, tail_mask, payloads, implicit_offset: 0 }
    }

    /// Local id of a work-item of a group by its linear number.
    pub fn local_id(&self, item: u32, local: [u32; 3]) -> [u32; 3] {
        crate::regrouped::local_id(item, local, self.walk)
    }

    /// Makes the local id of a work-item that of the next one of its group, which never ends.
    fn next_id(&self, id: &mut [u32; 3], local: [u32; 3]) {
        let walk = self.walk.map(usize::from);
        let last = walk.into_iter().rfind(|d| local[*d] > 1);
        for d in walk {
            id[d] += 1;
            if id[d] < local[d] || Some(d) == last {
                return;
            }
            id[d] = 0;
        }
    }
}

impl GroupClass {
    /// Dispatch mask of a thread.
    pub fn mask(&self, thread: u32, simd: u32) -> u32 {
        if thread + 1 == self.threads { self.tail_mask } else { all_channels(simd as usize) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simd32_ids_fill_rows_of_64_bytes() {
        let row = Threads::row_bytes(32, 32);
        let t = Threads { simd: 32, channels: 32, payload_bytes: 3 * row, row_bytes: row, walk: [0, 1, 2] };
        assert_eq!(row, 64);
        let c = t.class([10, 4, 1]);
        assert_eq!((c.threads, c.tail_mask), (2, 0xff));
        let id = |thread: usize, d: usize, lane: usize| c.payloads[thread * 192 + d * 64 + lane * 2];
        assert_eq!((id(0, 0, 13), id(0, 1, 13)), (3, 1));
        assert_eq!((id(1, 0, 7), id(1, 1, 7)), (9, 3));
        assert_eq!(
            (id(1, 0, 8), id(1, 1, 8)),
            (0, 4),
            "channels that are off have the ids of a longer group"
        );
    }

    #[test]
    fn a_thread_that_is_one_work_item_has_all_channels() {
        let t = Threads { simd: 1, channels: 32, payload_bytes: 32, row_bytes: 2, walk: [0, 1, 2] };
        let c = t.class([3, 2, 1]);
        assert_eq!((c.threads, c.tail_mask), (6, u32::MAX));
        assert_eq!(c.payloads[4 * 32..][..6], [1, 0, 1, 0, 0, 0], "x, y, z of the fifth");
    }

    #[test]
    fn rows_are_whole_registers() {
        assert_eq!(Threads::row_bytes(8, 32), 32);
        assert_eq!(Threads::row_bytes(16, 32), 32);
        assert_eq!(Threads::row_bytes(16, 64), 64);
        assert_eq!(Threads::row_bytes(32, 64), 64);
    }

    #[test]
    fn the_walk_order_decides_which_id_runs_fastest() {
        let t = Threads { simd: 8, channels: 8, payload_bytes: 96, row_bytes: 32, walk: [1, 0, 2] };
        assert_eq!(t.local_id(1, [4, 2, 1]), [0, 1, 0]);
        assert_eq!(t.local_id(2, [4, 2, 1]), [1, 0, 0]);
    }

    #[test]
    fn payloads_hold_the_ids_of_their_numbers() {
        for (walk, local) in [([0, 1, 2], [5, 3, 2]), ([1, 0, 2], [4, 7, 2]), ([2, 1, 0], [3, 1, 9])] {
            let t = Threads { simd: 8, channels: 8, payload_bytes: 96, row_bytes: 32, walk };
            let c = t.class(local);
            for item in 0..local.iter().product::<u32>() {
                let at = (item / 8 * 96 + item % 8 * 2) as usize;
                let id = [0, 1, 2].map(|d| u32::from(c.payloads[at + d * 32]));
                assert_eq!(id, t.local_id(item, local), "item {item} of {local:?}, {walk:?}");
            }
        }
    }

    #[test]
    fn a_full_last_thread_has_a_full_mask() {
        let t = Threads { simd: 32, channels: 32, payload_bytes: 0, row_bytes: 64, walk: [0, 1, 2] };
        let c = t.class([64, 1, 1]);
        assert_eq!((c.threads, c.mask(0, 32), c.mask(1, 32)), (2, u32::MAX, u32::MAX));
        let c = t.class([33, 1, 1]);
        assert_eq!((c.threads, c.mask(0, 32), c.mask(1, 32)), (2, u32::MAX, 1));
    }
}
