//! Many things done by as many threads as there are processors, and how far they are.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

/// Does `work` for each, and gives the results in the order of `all`. `tell` is called as each is done, by this thread, with
/// what it was, its result, and how many are done.
pub fn each<T: Sync, R: Send>(
    all: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut tell: impl FnMut(&T, &R, usize),
) -> Vec<R> {
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get()).min(all.len());
    let (next, work) = (AtomicUsize::new(0), &work);
    let (done, results) = channel();
    let mut rows: Vec<Option<R>> = all.iter().map(|_| None).collect();
    std::thread::scope(|s| {
        for _ in 0..workers {
            let (done, next) = (done.clone(), &next);
            s.spawn(move || {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let Some(one) = all.get(n) else { break };
                    // Nobody listens any more if telling panicked.
                    if done.send((n, work(one))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(done);
        for (count, (n, row)) in (1..).zip(results) {
            tell(&all[n], &row, count);
            rows[n] = Some(row);
        }
    });
    rows.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_all_are_told() {
        let all: Vec<u32> = (0..100).collect();
        let mut told = Vec::new();
        let squares = each(&all, |n| n * n, |n, square, count| told.push((*n, *square, count)));
        assert_eq!(squares, all.iter().map(|n| n * n).collect::<Vec<_>>());
        assert!(told.iter().map(|t| t.2).eq(1..=100), "{told:?}");
        assert!(told.iter().all(|(n, square, _)| n * n == *square));
        assert!(each(&[] as &[u32], |n| *n, |_, _, _| ()).is_empty());
    }
}
