//! Host threads that wait for work: groups of launches, and large copies.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::offers;

/// The host's hardware threads. (The system is asked once: it opens files to answer.)
pub(crate) fn hardware_threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
}

/// Runs `here` on this host thread, and the others on threads of the pool, or behind it on this one, if those do not begin in
/// time. A panic in one of them, a mistake of ours, goes on here: it is not to be taken for a result.
pub(crate) fn run_with_helpers<F: FnOnce() + Send>(
    others: impl ExactSizeIterator<Item = F>,
    here: impl FnOnce(),
) {
    /// Threads that wait for the next launch: as many as the host has beside the caller's.
    static POOL: OnceLock<Option<rayon_core::ThreadPool>> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        rayon_core::ThreadPoolBuilder::new().num_threads((hardware_threads() - 1).max(1)).build().ok()
    });
    match pool {
        Some(pool) if others.len() <= pool.current_num_threads() => {
            WANTED.fetch_add(1, Ordering::Relaxed);
            let others: Vec<Mutex<Option<F>>> = others.map(|f| Mutex::new(Some(f))).collect();
            let work = |piece: usize| {
                let f = others[piece].lock().unwrap_or_else(|e| e.into_inner()).take();
                f.into_iter().for_each(|f| f());
            };
            let spawn = |f: Box<dyn FnOnce() + Send>| {
                pool.spawn(|| {
                    f();
                    wait_awake_for_work();
                });
            };
            offers::offer(others.len(), &work, spawn, here);
        }
        _ => run_on_own_threads(others, here),
    }
}

/// The same with new threads for the others: all of them run at once, whatever else the pool has to do.
pub(crate) fn run_on_own_threads<F: FnOnce() + Send>(
    others: impl ExactSizeIterator<Item = F>,
    here: impl FnOnce(),
) {
    std::thread::scope(|s| {
        others.for_each(|f| drop(s.spawn(f)));
        here();
    });
}

/// How long a thread stays awake behind what it did. To wake one takes tens of microseconds, and often a launch follows a
/// copy, or another launch, at once.
const LINGER: Duration = Duration::from_micros(100);
/// How often threads were wanted: those that linger look for work when it changes.
static WANTED: AtomicU64 = AtomicU64::new(0);
/// Threads that linger.
static AWAKE: AtomicU64 = AtomicU64::new(0);

fn wait_awake_for_work() {
    let (start, seen) = (Instant::now(), WANTED.load(Ordering::Relaxed));
    AWAKE.fetch_add(1, Ordering::Relaxed);
    while WANTED.load(Ordering::Relaxed) == seen && start.elapsed() < LINGER {
        (0..8).for_each(|_| std::hint::spin_loop());
    }
    AWAKE.fetch_sub(1, Ordering::Relaxed);
}

/// Does a thread of the pool begin at once with what it is given? Else one has to be woken.
pub(crate) fn is_thread_awake() -> bool {
    AWAKE.load(Ordering::Relaxed) > 0
}

/// Bytes that one host thread copies sooner than another one begins that sleeps, and than one begins that is awake.
/// Each copies the same part each time, so that what a launch wants of it is in the cache of the core that will run it.
const PIECE: (usize, usize) = (1 << 20, 1 << 16);

/// How many bytes each host thread gets of a copy: all of them, unless they are many.
fn bytes_per_thread(bytes: usize) -> usize {
    let n = (bytes / if is_thread_awake() { PIECE.1 } else { PIECE.0 }).clamp(1, hardware_threads());
    // Whole pages: of a target that begins with one, no two threads write to the same one.
    bytes.div_ceil(n).max(1).next_multiple_of(4096)
}

/// Has `each` copy all of `0..bytes`, range by range: large copies are spread over host threads. Returns when all is done.
pub fn copy_by_pieces(bytes: usize, each: impl Fn(Range<usize>) + Sync) {
    let (size, each) = (bytes_per_thread(bytes), &each);
    let part = |at: usize| at..(at + size).min(bytes);
    let others = (1..bytes.div_ceil(size).max(1)).map(|k| move || each(part(k * size)));
    spread_over_threads(others, || each(part(0)));
}

/// Has `each` fill all of `to`, piece by piece, each with its place in it: as [`copy_by_pieces`].
pub fn fill_by_pieces(to: &mut [u8], each: impl Fn(usize, &mut [u8]) + Sync) {
    let (size, each) = (bytes_per_thread(to.len()), &each);
    let (first, rest) = to.split_at_mut(size.min(to.len()));
    let others = rest.chunks_mut(size).enumerate();
    spread_over_threads(others.map(|(k, p)| move || each((k + 1) * size, p)), || each(0, first));
}

fn spread_over_threads<F: FnOnce() + Send>(others: impl ExactSizeIterator<Item = F>, here: impl FnOnce()) {
    if others.len() == 0 { here() } else { run_with_helpers(others, here) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_all_there_is_and_nothing_twice() {
        for bytes in [
            0,
            1,
            4096,
            PIECE.0 - 1,
            PIECE.0,
            2 * PIECE.0 - 1,
            2 * PIECE.0 + 1,
            7 * PIECE.0 + 4095,
            64 * PIECE.0,
        ] {
            let (ranges, filled) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
            copy_by_pieces(bytes, |r| ranges.lock().unwrap().push((r.start, r.end)));
            fill_by_pieces(&mut vec![0; bytes], |at, p| filled.lock().unwrap().push((at, at + p.len())));
            for all in [ranges, filled] {
                let mut all = all.into_inner().unwrap();
                all.sort_unstable();
                let mut at = 0;
                for (start, end) in &all {
                    assert_eq!(*start, at, "{bytes} bytes");
                    at = *end;
                }
                assert_eq!(at, bytes);
                assert!(all.len() <= hardware_threads());
                assert!(bytes < 2 * PIECE.0 || all.len() > 1 || hardware_threads() == 1);
            }
        }
    }
}
