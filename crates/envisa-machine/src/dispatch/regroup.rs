//! Groups of another shape than a launch asks for, where nobody can tell: of programs that
//! [take global ids alone](envisa_lower::analysis::takes_global_ids_alone).
//!
//! Threads whose channels are a row of the range access memory in rows. Small and narrow groups have few such threads, and
//! some of them lack channels.

use super::launch::Launch;
use super::{MAX_GROUP_ITEMS, MAX_GROUP_THREADS};
use crate::regrouped::Regrouped;

/// Groups that a launch keeps at least, for as many host threads as there may be.
const GROUPS: u64 = 64;
/// A size, times its work-items' number, has to stay below this: ids are exact in 32 bits, with and without signs.
const IDS: u64 = 1 << 31;

/// Better groups for a launch in threads of so many work-items, whose ids run in this order; `None`: its own do.
pub fn better_groups(launch: &Launch, simd: u32, walk: [u8; 3]) -> Option<Regrouped> {
    let along = walk[0] as usize;
    // Threads that are rows, or two halves of rows, are good.
    if simd < 8 || !can_change(launch, simd) || (2 * launch.local[along]).is_multiple_of(simd) {
        return None;
    }
    let items = launch.global.iter().fold(1u64, |n, d| n.saturating_mul(*d));
    let most = max_work_items(simd).min(items / GROUPS) as u32;
    let divides = |n: &u32| launch.global[along].is_multiple_of((*n).into());
    let whole = (1..=most / simd).rev().map(|n| n * simd).find(divides);
    // One thread in four may lack channels.
    let nearly = || (3 * simd + 1..=most).rev().find(divides);
    let mut run = [1; 3];
    run[along] = whole.or_else(|| nearly().filter(|n| *n > launch.local[along]))?;
    Some(make_regrouped(launch, run, (simd, walk)))
}

/// Any groups but its own for a launch, for tests: of several work-items in two dimensions, if there are.
pub fn any_other_groups(launch: &Launch, simd: u32, walk: [u8; 3]) -> Option<Regrouped> {
    if simd < 8 || !can_change(launch, simd) {
        return None;
    }
    let divisors = |d: usize| {
        let n = launch.global[d];
        (1..=24u32).rev().filter(move |k| n.is_multiple_of((*k).into()))
    };
    let all = divisors(1).flat_map(|y| divisors(0).map(move |x| [x, y, 1]));
    let fits =
        |l: &[u32; 3]| *l != launch.local && u64::from(l.iter().product::<u32>()) <= max_work_items(simd);
    let run = all.filter(fits).max_by_key(|l| (l[0] > 1 && l[1] > 1, l.iter().product::<u32>()))?;
    Some(make_regrouped(launch, run, (simd, walk)))
}

/// Most work-items of a group.
fn max_work_items(simd: u32) -> u64 {
    MAX_GROUP_ITEMS.min(u64::from(MAX_GROUP_THREADS * simd))
}

fn make_regrouped(launch: &Launch, run: [u32; 3], how: (u32, [u8; 3])) -> Regrouped {
    Regrouped::new(launch.global, (launch.local, run), how)
}

/// Are ids small enough, and the groups of one size that is allowed?
fn can_change(launch: &Launch, simd: u32) -> bool {
    let items = launch.local.iter().fold(1u64, |n, d| n.saturating_mul((*d).into()));
    let ids = |d: usize| launch.offset[d].checked_add(launch.global[d]).is_some_and(|n| n < IDS);
    let even = |d: usize| launch.local[d] > 0 && launch.global[d].is_multiple_of(launch.local[d].into());
    items <= max_work_items(simd) && launch.global.iter().all(|n| *n > 0) && (0..3).all(|d| ids(d) && even(d))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose_group_shape(global: [u64; 3], local: [u32; 3]) -> Option<[u32; 3]> {
        let launch = Launch { dims: 3, global, local, offset: [0; 3], args: Vec::new() };
        better_groups(&launch, 32, [0, 1, 2]).map(|r| r.local())
    }

    #[test]
    fn groups_become_rows() {
        assert_eq!(choose_group_shape([1024, 1024, 1], [8, 8, 1]), Some([1024, 1, 1]));
        assert_eq!(
            choose_group_shape([1000, 1000, 1], [40, 5, 1]),
            Some([1000, 1, 1]),
            "one thread of 32 has 8 channels"
        );
        assert_eq!(choose_group_shape([100_000, 1, 1], [100, 1, 1]), Some([800, 1, 1]));
        assert_eq!(choose_group_shape([1024, 1024, 1], [16, 16, 1]), None, "two rows a thread");
        assert_eq!(choose_group_shape([1024, 1024, 1], [32, 8, 1]), None);
        assert_eq!(choose_group_shape([8, 100_000, 1], [8, 8, 1]), None, "rows are shorter than threads");
        assert_eq!(choose_group_shape([1020, 1024, 1], [8, 8, 1]), None, "the last groups are smaller");
        assert_eq!(
            choose_group_shape([64, 16, 1], [8, 8, 1]),
            None,
            "there is too little for several threads of the host"
        );
        assert_eq!(choose_group_shape([1 << 31, 1, 1], [8, 1, 1]), None, "ids are too large");
        assert_eq!(
            choose_group_shape([1 << 20, 1 << 12, 1], [8, 1 << 12, 1]),
            None,
            "there are no such groups"
        );
        assert_eq!(choose_group_shape([64; 3], [u32::MAX; 3]), None);
    }
}
