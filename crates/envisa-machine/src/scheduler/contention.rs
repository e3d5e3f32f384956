//! Launches whose groups stand in each other's way.
//!
//! Host threads that lock the same lines of memory wait for each other's caches: two of them together may take four times
//! as long as one alone, and more of them longer still. Whether that is so depends on where a kernel's locked operations go
//! and how much else it does, so it is measured: in launches of programs that have such operations, the first host thread
//! works alone for a moment now and then, and goes on so as long as that is faster.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use envisa_lower::{Message, Program, Space};

/// How long a rate is measured.
const WINDOW: Duration = Duration::from_micros(256);
/// How long a claim of groups should take at most: others end theirs before one is alone.
const CLAIM: Duration = Duration::from_micros(256);
/// How much faster one host thread has to be. Groups may differ in what they do.
const WORTH: f64 = 1.5;
/// Windows before the first trial, and what has to be left to do for one.
const PATIENCE: u32 = 8;
/// Windows until it is looked again whether one alone is still faster.
const AGAIN_ALONE: u32 = 32;
/// Windows until the next trial where it was not.
const AGAIN_TOGETHER: u32 = 128;

/// Has a program locked operations that other host threads may wait for?
pub(super) fn has_contended_atomics(program: &Program) -> bool {
    program.messages().iter().any(|m| matches!(m, Message::Atomic(a) if !matches!(a.space, Space::Slm)))
}

/// What the host threads of a launch share.
#[derive(Default)]
pub(super) struct Contention {
    /// Only the first host thread is to go on.
    alone: AtomicBool,
    paused: Mutex<()>,
    changed: Condvar,
}

impl Contention {
    /// Comes back when others than the first host thread may go on.
    pub fn wait_for_turn(&self) {
        if !self.alone.load(Ordering::Relaxed) {
            return;
        }
        let mut paused = self.paused.lock().unwrap_or_else(|e| e.into_inner());
        while self.alone.load(Ordering::Relaxed) {
            paused = self.changed.wait(paused).unwrap_or_else(|e| e.into_inner());
        }
    }

    fn set_single_worker(&self, alone: bool) {
        let _paused = self.paused.lock().unwrap_or_else(|e| e.into_inner());
        self.alone.store(alone, Ordering::Relaxed);
        if !alone {
            self.changed.notify_all();
        }
    }
}

/// How many groups to claim, of those that could be, after the last ones took so long.
pub(super) fn claim(most: u64, groups: u64, took: Duration) -> u64 {
    let each = (took.as_nanos() as u64 / groups.max(1)).max(1);
    (CLAIM.as_nanos() as u64 / each).clamp(1, most)
}

/// What the launches of a kernel found out about host threads in each other's way, for the next ones to begin with.
#[derive(Default, Debug)]
pub struct ContentionHistory(Mutex<Decision>);

impl ContentionHistory {
    fn get(&self) -> MutexGuard<'_, Decision> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// What the first host thread sees, and decides by.
pub(super) struct ContentionMonitor<'a> {
    of: &'a Contention,
    learnt: Option<&'a ContentionHistory>,
    /// Host threads of the launch, which are taken to be as fast as the first one.
    workers: f64,
    decision: Decision,
    /// Groups that the first one has run in this window, and how long that took.
    ran: (u64, Duration),
}

impl<'a> ContentionMonitor<'a> {
    pub fn new(
        of: &'a Contention,
        workers: u64,
        learnt: Option<&'a ContentionHistory>,
    ) -> ContentionMonitor<'a> {
        let decision = learnt.map_or_else(Decision::default, |l| l.get().at_the_start());
        ContentionMonitor { of, learnt, workers: workers as f64, decision, ran: (0, Duration::ZERO) }
    }

    /// The first host thread has run so many groups in that time, and so many are left.
    pub fn note_progress(&mut self, groups: u64, took: Duration, left: u64) {
        self.ran = (self.ran.0 + groups, self.ran.1 + took);
        if self.ran.1 < WINDOW {
            return;
        }
        let before = self.decision.runs_single_worker();
        let rate = self.ran.0 as f64 / self.ran.1.as_secs_f64() * if before { 1.0 } else { self.workers };
        self.decision.finish_window(rate, left as f64 / WINDOW.as_secs_f64());
        if self.decision.runs_single_worker() != before {
            self.of.set_single_worker(self.decision.runs_single_worker());
        }
        self.ran = (0, Duration::ZERO);
    }
}

impl Drop for ContentionMonitor<'_> {
    /// Nobody waits for one who is gone.
    fn drop(&mut self) {
        self.of.set_single_worker(false);
        if let Some(learnt) = self.learnt {
            *learnt.get() = self.decision;
        }
    }
}

/// Whether host threads are to work alone or together, window by window.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Decision {
    /// Together for so many windows.
    Together { left: u32 },
    /// Together, measured before a trial.
    Before,
    /// Others end what they have begun, after so fast a window together.
    Settling { together: f64 },
    /// A trial, after so fast a window together.
    Trial { together: f64 },
    /// Together once more: with the rates of the trial and of the window before.
    After { together: f64, alone: f64 },
    /// Alone for so many windows, the last of which was so fast.
    Alone { left: u32, rate: f64 },
    /// Together, to see whether alone is still faster than that.
    Check { alone: f64 },
}

impl Default for Decision {
    fn default() -> Decision {
        Decision::Together { left: PATIENCE }
    }
}

impl Decision {
    /// What a launch begins with where the last one ended with this.
    fn at_the_start(self) -> Decision {
        use Decision::*;
        match self {
            Together { .. } => self,
            Before | Settling { .. } | Trial { .. } => Together { left: 1 },
            // Its groups may be others: they are held against each other once more.
            After { .. } | Alone { .. } | Check { .. } => Before,
        }
    }

    fn runs_single_worker(&self) -> bool {
        matches!(self, Decision::Settling { .. } | Decision::Trial { .. } | Decision::Alone { .. })
    }

    /// A window is over, in which so many groups a second ran; what is left would be done in a window at that other rate.
    fn finish_window(&mut self, rate: f64, left_in_one: f64) {
        use Decision::*;
        let worth = |alone: f64, together: f64| alone > WORTH * together;
        *self = match *self {
            Together { .. } | Before if left_in_one < rate * f64::from(PATIENCE) => *self,
            Together { left: 0 | 1 } => Before,
            Together { left } => Together { left: left - 1 },
            Before => Settling { together: rate },
            Settling { together } => Trial { together },
            Trial { together } if worth(rate, together) => After { together, alone: rate },
            Trial { .. } => Together { left: AGAIN_TOGETHER },
            After { together, alone } if worth(alone, rate.max(together)) => {
                Alone { left: AGAIN_ALONE, rate: alone }
            }
            After { .. } => Together { left: AGAIN_TOGETHER },
            Alone { left: 0 | 1, .. } => Check { alone: rate },
            Alone { left, .. } => Alone { left: left - 1, rate },
            Check { alone } if worth(alone, rate) => Alone { left: AGAIN_ALONE, rate: alone },
            Check { .. } => Together { left: AGAIN_TOGETHER },
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of a launch that goes on for long, at rates that depend on whether one works alone.
    fn windows(count: usize, rate: impl Fn(usize, bool) -> f64) -> Vec<bool> {
        let mut d = Decision::default();
        (0..count)
            .map(|k| {
                let alone = d.runs_single_worker();
                d.finish_window(rate(k, alone), f64::MAX);
                alone
            })
            .collect()
    }

    fn share(of: &[bool]) -> f64 {
        of.iter().filter(|alone| **alone).count() as f64 / of.len() as f64
    }

    #[test]
    fn one_goes_on_alone_where_that_is_faster() {
        let all = windows(400, |_, alone| if alone { 4.0 } else { 1.0 });
        assert!(!all[..5].contains(&true), "the first trial waits");
        assert!(share(&all) > 0.8, "{}", share(&all));
    }

    #[test]
    fn all_go_on_where_that_is_faster() {
        let all = windows(400, |_, alone| if alone { 0.6 } else { 1.0 });
        assert!(share(&all) < 0.04, "{}", share(&all));
        assert!(all.contains(&true), "it was tried");
    }

    /// Groups that cost ever less, or ever more, are not mistaken for such as do better alone.
    #[test]
    fn groups_that_change_do_not_decide() {
        for change in [1.4f64, 1.0 / 1.4] {
            let all = windows(400, |k, alone| {
                let each = change.powi((k % 200) as i32 - 100);
                if alone { each / 2.0 } else { each }
            });
            assert!(share(&all) < 0.1, "{change}: {}", share(&all));
        }
    }

    #[test]
    fn what_is_nearly_done_is_not_tried() {
        let mut d = Decision::default();
        for _ in 0..100 {
            d.finish_window(10.0, 70.0);
            assert!(!d.runs_single_worker());
        }
    }

    #[test]
    fn those_who_wait_go_on_when_the_first_one_ends() {
        let c = Contention::default();
        c.set_single_worker(true);
        std::thread::scope(|s| {
            let waiting = s.spawn(|| c.wait_for_turn());
            drop(ContentionMonitor::new(&c, 2, None));
            waiting.join().expect("it goes on");
        });
    }

    /// How often one was alone in each of many short launches.
    fn launches(rate: impl Fn(bool) -> f64) -> Vec<usize> {
        let (c, learnt) = (Contention::default(), ContentionHistory::default());
        (0..40)
            .map(|_| {
                let mut w = ContentionMonitor::new(&c, 1, Some(&learnt));
                let alone = |w: &mut ContentionMonitor<'_>| {
                    let alone = w.decision.runs_single_worker();
                    w.note_progress((1e6 * rate(alone)) as u64, WINDOW, u64::MAX);
                    usize::from(alone)
                };
                (0..20).map(|_| alone(&mut w)).sum()
            })
            .collect()
    }

    #[test]
    fn launches_learn_from_those_before() {
        let together = launches(|alone| if alone { 0.6 } else { 1.0 });
        let tries = together.iter().filter(|n| **n > 0).count();
        assert!((2..10).contains(&tries), "{together:?}");
        let alone = launches(|alone| if alone { 4.0 } else { 1.0 });
        assert!(alone[1..].iter().all(|n| *n >= 16), "{alone:?}");
    }
}
