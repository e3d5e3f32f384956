//! The groups of a launch that no host thread has claimed yet.
//!
//! Each host thread begins with a span of neighbouring groups of its own, the same one in each launch of that size: what a
//! kernel reads is often what an earlier launch wrote there, or a copy, and is still in that core's cache. Who has no more
//! in its own span goes on in the others'. Groups that may wait for lower ones are claimed in order, from one span.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Groups in order, of which the first ones are claimed.
#[derive(Debug)]
struct Span {
    next: AtomicU64,
    end: u64,
}

impl Span {
    fn new(groups: Range<u64>) -> Span {
        Span { next: AtomicU64::new(groups.start), end: groups.end }
    }

    fn left(&self) -> u64 {
        self.end.saturating_sub(self.next.load(Ordering::Relaxed))
    }
}

/// All groups of a launch.
#[derive(Debug)]
pub(super) struct Spans {
    /// All of them, until they are divided: then those that were claimed before.
    all: Span,
    /// One for each host thread.
    each: OnceLock<Vec<Span>>,
    /// Groups that were claimed.
    claimed: AtomicU64,
}

impl Spans {
    pub fn new(groups: u64) -> Spans {
        Spans { all: Span::new(0..groups), each: OnceLock::new(), claimed: AtomicU64::new(0) }
    }

    /// Gives each of so many host threads a span of its own, without what was claimed before. Nobody may be claiming
    /// meanwhile.
    pub fn divide_among_workers(&self, workers: u64) {
        let first = self.all.next.swap(self.all.end, Ordering::Relaxed).min(self.all.end);
        let at = |k: u64| {
            (u128::from(self.all.end) * u128::from(k) / u128::from(workers)).max(first.into()) as u64
        };
        self.each.get_or_init(|| (0..workers).map(|k| Span::new(at(k)..at(k + 1))).collect());
    }

    /// The spans that a host thread claims from, its own first.
    fn spans_of_worker(&self, worker: usize) -> impl Iterator<Item = &Span> {
        let each = self.each.get().map_or(std::slice::from_ref(&self.all), Vec::as_slice);
        let (before, own) = each.split_at(worker.min(each.len()));
        own.iter().chain(before)
    }

    /// Claims the next groups for a host thread: of so many that are left in a span as many as `step` says. Spans whose
    /// next group `over` says need not run are passed over. `None`: there are no more.
    pub fn claim(
        &self,
        worker: usize,
        step: impl Fn(u64) -> u64,
        over: impl Fn(u64) -> bool,
    ) -> Option<Range<u64>> {
        for span in self.spans_of_worker(worker) {
            let left = span.left();
            if left == 0 {
                continue;
            }
            let step = step(left);
            let first = span.next.fetch_add(step, Ordering::Relaxed);
            if first >= span.end || over(first) {
                continue;
            }
            let end = (first + step).min(span.end);
            self.claimed.fetch_add(end - first, Ordering::Relaxed);
            return Some(first..end);
        }
        None
    }

    /// How many were claimed.
    pub fn claimed(&self) -> u64 {
        self.claimed.load(Ordering::Relaxed)
    }

    /// How many were not.
    pub fn left(&self) -> u64 {
        self.spans_of_worker(0).map(Span::left).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Claims until there are no more, host threads in turn.
    fn claimed(spans: &Spans, workers: usize, over: impl Fn(u64) -> bool) -> Vec<(usize, Range<u64>)> {
        let mut all = Vec::new();
        let mut idle = 0;
        for worker in (0..workers).cycle() {
            idle += 1;
            if let Some(groups) = spans.claim(worker, |left| (left / 4).max(1), &over) {
                all.push((worker, groups));
                idle = 0;
            }
            if idle == workers {
                return all;
            }
        }
        all
    }

    #[test]
    fn each_group_is_claimed_once() {
        for (groups, before, workers) in [(1, 0, 2), (7, 0, 3), (1000, 17, 2), (5, 5, 4), (64, 3, 61)] {
            let spans = Spans::new(groups);
            let mut alone = Vec::new();
            while alone.len() < before {
                alone.push((0, spans.claim(0, |_| 1, |_| false).unwrap()));
            }
            spans.divide_among_workers(workers);
            let all = claimed(&spans, workers as usize, |_| false);
            let mut of: Vec<u64> = alone.into_iter().chain(all).flat_map(|(_, groups)| groups).collect();
            of.sort_unstable();
            assert_eq!(of, (0..groups).collect::<Vec<_>>(), "{groups} groups, {workers} host threads");
            assert_eq!((spans.claimed(), spans.left()), (groups, 0));
        }
    }

    #[test]
    fn the_first_claims_of_each_are_its_own() {
        let spans = Spans::new(100);
        spans.divide_among_workers(4);
        for worker in [3, 0, 2, 1] {
            let groups = spans.claim(worker, |_| 5, |_| false).unwrap();
            assert_eq!(groups, 25 * worker as u64..25 * worker as u64 + 5);
        }
    }

    /// A fault in a group ends what is above it, in whosever span that is, and nothing below.
    #[test]
    fn what_need_not_run_is_passed_over() {
        let spans = Spans::new(90);
        spans.divide_among_workers(3);
        let mut of: Vec<u64> =
            claimed(&spans, 3, |group| group >= 40).into_iter().flat_map(|(_, g)| g).collect();
        of.sort_unstable();
        assert!(of.starts_with(&(0..40).collect::<Vec<_>>()) && of.len() < 60, "{of:?}");
    }
}
