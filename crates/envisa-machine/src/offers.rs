//! Work that is offered to threads of a pool and taken back from those that have not begun with it.
//!
//! To wake a thread takes tens of microseconds. Whoever offers work does it itself meanwhile, and does not wait for a thread
//! that comes too late.
#![allow(unsafe_code)]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// What can become of an offer.
const OFFERED: u32 = 0;
const TAKEN: u32 = 1;
const TAKEN_BACK: u32 = 2;
const DONE: u32 = 3;
/// How long the caller looks whether what was taken is done, before it sleeps.
const LOOKING: Duration = Duration::from_micros(50);

/// One piece of the caller's work, which a thread of a pool may take.
struct Offer {
    state: AtomicU32,
    /// Borrowed from the caller, who stays until the offer is done or taken back.
    work: &'static (dyn Fn(usize) + Sync),
    piece: usize,
    caller: Thread,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Offer {
    /// Does the work, unless it was taken back.
    fn take(&self) {
        if !self.turn(OFFERED, TAKEN) {
            return;
        }
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (self.work)(self.piece))) {
            *self.panic.lock().unwrap_or_else(|e| e.into_inner()) = Some(panic);
        }
        // The caller may go on from here: nothing of its is touched any more.
        let caller = self.caller.clone();
        self.state.store(DONE, Ordering::Release);
        caller.unpark();
    }

    fn turn(&self, from: u32, to: u32) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Waits until the work is done that a thread has taken; `false` if none has, and none will.
    fn end(&self) -> bool {
        if self.turn(OFFERED, TAKEN_BACK) {
            return false;
        }
        let is_done = || matches!(self.state.load(Ordering::Acquire), DONE | TAKEN_BACK);
        let start = Instant::now();
        while !is_done() && start.elapsed() < LOOKING {
            (0..8).for_each(|_| std::hint::spin_loop());
        }
        while !is_done() {
            std::thread::park();
        }
        true
    }
}

/// Ends all offers when the caller leaves, even by a panic.
struct Offers(Vec<Arc<Offer>>);

impl Drop for Offers {
    fn drop(&mut self) {
        self.0.iter().for_each(|offer| {
            offer.end();
        });
    }
}

/// Does `work` for each of `0..pieces`: `here` meanwhile; `spawn` gives what it is called with to another thread, which may
/// call it late. What no thread has begun when `here` is over, the caller does then. A panic in a thread goes on here.
pub(crate) fn offer(
    pieces: usize,
    work: &(dyn Fn(usize) + Sync),
    spawn: impl Fn(Box<dyn FnOnce() + Send>),
    here: impl FnOnce(),
) {
    // SAFETY: only the lifetime changes. A thread calls `work` between taking an offer and saying that it is done, and
    // `Offers` is dropped before this function is left: it takes back what was not taken and waits for what was.
    let borrowed =
        unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(work) };
    let offers = Offers(
        (0..pieces)
            .map(|piece| {
                let (state, caller) = (AtomicU32::new(OFFERED), std::thread::current());
                Arc::new(Offer { state, work: borrowed, piece, caller, panic: Mutex::default() })
            })
            .collect(),
    );
    for offer in &offers.0 {
        let offer = Arc::clone(offer);
        spawn(Box::new(move || offer.take()));
    }
    here();
    for offer in &offers.0 {
        if !offer.end() {
            work(offer.piece);
        }
    }
    let panic = offers.0.iter().find_map(|o| o.panic.lock().unwrap_or_else(|e| e.into_inner()).take());
    drop(offers);
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    /// Each piece is done once: by a thread that came early, or by the caller.
    #[test]
    fn every_piece_is_done_once() {
        for delay in [0, 1, 1000] {
            let done: Vec<AtomicUsize> = (0..5).map(|_| AtomicUsize::new(0)).collect();
            let threads = Mutex::new(Vec::new());
            let spawn = |f: Box<dyn FnOnce() + Send>| {
                let wait = Duration::from_millis(delay);
                threads.lock().unwrap().push(std::thread::spawn(move || {
                    std::thread::sleep(wait);
                    f();
                }));
            };
            let caller = std::thread::current().id();
            let work = |piece: usize| {
                // Nobody waits so long.
                assert!(delay < 1000 || std::thread::current().id() == caller);
                std::thread::sleep(Duration::from_millis(1));
                done[piece].fetch_add(1, Ordering::Relaxed);
            };
            offer(5, &work, spawn, || std::thread::sleep(Duration::from_millis(1)));
            let count = || done.iter().map(|d| d.load(Ordering::Relaxed)).collect::<Vec<_>>();
            assert_eq!(count(), [1; 5], "after {delay} ms");
            threads.into_inner().unwrap().into_iter().for_each(|t| t.join().unwrap());
            assert_eq!(count(), [1; 5], "once");
        }
    }

    #[test]
    fn panics_go_on_with_the_caller() {
        for here in [false, true] {
            let result = catch_unwind(|| {
                let spawn = |f: Box<dyn FnOnce() + Send>| drop(std::thread::spawn(f));
                let work = |_: usize| assert!(here, "in a thread");
                offer(3, &work, spawn, || assert!(!here, "here"));
            });
            let said = result.unwrap_err();
            let said = said.downcast_ref::<&str>().copied();
            assert_eq!(said, Some(if here { "here" } else { "in a thread" }));
        }
    }
}
