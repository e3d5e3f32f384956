//! Runs a launch: spreads its groups over host threads, whose workers run them.

mod contention;
mod unclaimed_groups;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use self::contention::{Contention, ContentionMonitor};
use self::unclaimed_groups::Spans;
use envisa_lower::{Dst, Inst, Op, Program, Src, fence};

use crate::engine::{LaunchView, Stop, Worker};
use crate::pool::{hardware_threads, is_thread_awake, run_on_own_threads, run_with_helpers};
use crate::thread_order::Order;

pub use self::contention::ContentionHistory;
pub use crate::engine::Cancel;
use crate::trap::{Cause, Trap};

/// How to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Host threads; 0: as many as the host has.
    pub jobs: usize,
    /// Instructions a thread may execute (counted at branches) before it is stopped.
    pub limit: u64,
    /// Where workers say how far they are, for whoever shows it.
    pub progress: Option<&'static Progress>,
    /// By which others can end it.
    pub cancel: Option<Cancel>,
    /// Reads of registers at addresses outside of every variable give zeros: see
    /// [`Env::stray_reads`](crate::thread::Env::stray_reads). Not of launches that are observed.
    pub stray_reads: bool,
    /// What the kernel's launches found out, those before this one and this one.
    pub learnt: Option<Arc<ContentionHistory>>,
    /// In which order groups start, and threads take turns.
    pub order: Order,
    /// Every group has a host thread of its own, and all of them run at once: they may wait for each other.
    pub all_at_once: bool,
}

/// How far a run is, in groups; read while it runs.
#[derive(Debug, Default)]
pub struct Progress {
    /// Groups of the launch.
    pub total: AtomicU64,
    /// Groups that workers took on.
    pub begun: AtomicU64,
}

impl Progress {
    /// Of no run yet.
    pub const fn new() -> Progress {
        Progress { total: AtomicU64::new(0), begun: AtomicU64::new(0) }
    }
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            jobs: 0,
            limit: u64::MAX,
            progress: None,
            cancel: None,
            stray_reads: false,
            learnt: None,
            order: Order::Forward,
            all_at_once: false,
        }
    }
}

impl RunOptions {
    /// Host threads that will be used for a number of groups.
    pub fn worker_count(&self, groups: u64) -> usize {
        let jobs = match self.jobs {
            _ if self.all_at_once => usize::MAX,
            0 => hardware_threads(),
            n => n,
        };
        jobs.min(usize::try_from(groups).unwrap_or(usize::MAX)).max(1)
    }

    /// Hardware slots that a launch of groups of at most this many threads needs.
    pub fn hardware_slots(&self, groups: u64, threads: u32) -> u32 {
        (self.worker_count(groups) as u32).saturating_mul(threads.max(1))
    }
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// The fault that ended it, if one did: that of the lowest group.
    pub trap: Option<Box<Trap>>,
    /// Of a launch that was cancelled, where the other groups stood that were under way.
    pub others: Vec<Box<Trap>>,
    /// Groups that ran.
    pub groups: u64,
    /// Time, from the first group's start to the last one's end.
    pub elapsed: Duration,
}

/// Runs a launch with workers that `worker` makes, one for each host thread, on that thread; it is given their
/// numbers. All of them are of one engine, for the program of the launch's view.
pub fn run<W: Worker>(
    launch: &LaunchView<'_>,
    options: &RunOptions,
    worker: impl Fn(u32) -> Result<W, Box<Trap>> + Sync,
) -> Outcome {
    let total = launch.prepared.group_count();
    let workers = options.worker_count(total);
    let at_once = options.all_at_once;
    // Nobody pauses for others where these may wait for it.
    let contended = workers > 1 && !at_once && contention::has_contended_atomics(launch.env.program);
    let ordered = workers == 1 || contended || at_once || launch.env.observed || may_wait(launch.env.program);
    let shared = Shared {
        spans: Spans::new(total),
        stop: Stop::new(options.cancel.clone()),
        traps: Mutex::default(),
        workers: workers as u64,
        most: if at_once {
            1
        } else if launch.env.program.runs_forward() {
            256
        } else {
            64
        },
        at_once,
        contention: contended.then(Contention::default),
        learnt: options.learnt.as_deref(),
    };
    if let Some(progress) = options.progress {
        progress.begun.store(0, Ordering::Relaxed);
        progress.total.store(total, Ordering::Relaxed);
    }
    if does_nothing(launch) && !options.cancel.as_ref().is_some_and(|c| c.is_cancelled()) {
        if let Some(progress) = options.progress {
            progress.begun.store(total, Ordering::Relaxed);
        }
        return Outcome { trap: None, others: Vec::new(), groups: total, elapsed: Duration::ZERO };
    }
    let start = Instant::now();
    let divide = || {
        if !ordered {
            shared.spans.divide_among_workers(workers as u64);
        }
    };
    let work = |number: u32| match worker(number) {
        Ok(mut w) => shared.run_remaining_groups(&mut w, number, options.progress),
        Err(trap) => shared.report_fault(0, trap),
    };
    let others = (1..workers as u32).map(|i| {
        let (work, shared) = (&work, &shared);
        // Who comes late makes no worker for nothing.
        move || {
            if shared.spans.left() > 0 {
                work(i);
            }
        }
    });
    if workers == 1 {
        work(0);
    } else if at_once {
        run_on_own_threads(others, || work(0));
    } else if options.jobs == 0 && begins_alone(launch) {
        match worker(0) {
            Ok(mut w) => {
                if !shared.work_alone(&mut w, options.progress, start) {
                    divide();
                    run_with_helpers(others, || shared.run_remaining_groups(&mut w, 0, options.progress));
                }
            }
            Err(trap) => shared.report_fault(0, trap),
        }
    } else {
        divide();
        run_with_helpers(others, || work(0));
    }
    let traps = shared.traps.into_inner().unwrap_or_else(|e| e.into_inner());
    outcome(traps, at_once, shared.spans.claimed(), start)
}

/// How a launch ended whose groups, by number, trapped so; compiled once for all workers.
fn outcome(mut traps: Vec<(u64, Box<Trap>)>, at_once: bool, groups: u64, start: Instant) -> Outcome {
    // Groups that had not begun when the launch was cancelled have nothing to say.
    let faulted = at_once && traps.iter().any(|(_, trap)| trap.cause != Cause::Cancelled);
    traps.sort_by_key(|(number, trap)| {
        (trap.cause == Cause::Cancelled && (faulted || trap.threads.is_empty()), *number)
    });
    if faulted {
        // The others were ended because of it.
        traps.retain(|(_, trap)| trap.cause != Cause::Cancelled);
    }
    let mut traps = traps.into_iter().map(|(_, trap)| trap);
    let trap = traps.next();
    // A kernel's own fault is told of the lowest group, as if the groups had run one after the other.
    let others = traps.filter(|t| t.cause == Cause::Cancelled && !t.threads.is_empty()).collect();
    Outcome { trap, others, groups, elapsed: start.elapsed() }
}

/// How long the caller's host thread runs a launch alone that may be a small one: to have another one begin takes longer,
/// if that one sleeps, and if it is awake.
const PATIENCE: (Duration, Duration) = (Duration::from_micros(25), Duration::from_micros(3));
/// Instructions, counted once a thread, of launches that may be small, and of one of their groups.
const MAY_BE_SMALL: (u64, u64) = (1 << 18, 1 << 12);

/// May a launch be over before another host thread has begun with it? It has few instructions, and executes each of them
/// once a thread at most.
fn begins_alone(launch: &LaunchView<'_>) -> bool {
    let program = &launch.env.program;
    let times = |threads: u64| threads.saturating_mul(program.code().len() as u64);
    let group = launch.prepared.most_threads().into();
    times(launch.prepared.thread_count()) <= MAY_BE_SMALL.0
        && times(group) <= MAY_BE_SMALL.1
        && program.runs_forward()
}

/// Is a launch without effect, whichever way it runs? Its threads do nothing but compute, and nobody looks at them.
fn does_nothing(launch: &LaunchView<'_>) -> bool {
    let program = launch.env.program;
    // All channels return right before it.
    let unreached = |pc: usize| {
        pc > 0 && matches!(program.code()[pc - 1], Inst { op: Op::Ret, pred, .. } if pred.offset == 0)
    };
    let quiet = |(pc, i): (usize, &Inst)| {
        use Op::{Cmp, Goto, Join, Mov, MovPred, Nop, PredLogic, Ret, Setp};
        let computes = i.op.is_computation()
            || matches!(i.op, Cmp | Goto | Join | Mov | MovPred | Nop | PredLogic | Ret | Setp)
            || i.op == Op::End && unreached(pc);
        let anywhere = matches!(i.dst, Dst::Indirect { .. });
        computes && !anywhere && !i.src.iter().any(|s| matches!(s, Src::Indirect { .. }))
    };
    let watched = launch.env.observed || launch.env.asked.is_some();
    program.runs_forward()
        && !watched
        && launch.limit >= program.code().len() as u64
        && program.code().iter().enumerate().all(quiet)
}

/// May a group wait for what a lower one stores? It looks again and again then, and says with a fence, or by its
/// atomics, that others' stores matter.
fn may_wait(program: &Program) -> bool {
    let fence = |i: &Inst| i.op == Op::Fence && i.aux & fence::GLOBAL != 0;
    !program.runs_forward() && program.code().iter().any(fence)
}

/// What workers share.
struct Shared<'a> {
    spans: Spans,
    stop: Stop,
    traps: Mutex<Vec<(u64, Box<Trap>)>>,
    /// Host threads.
    workers: u64,
    /// Groups that are claimed at once at most. Long runs of them are what the CPU's prefetchers see; groups with loops may
    /// wait for lower ones, or take long.
    most: u64,
    /// All groups run at once.
    at_once: bool,
    /// Of programs whose groups may stand in each other's way.
    contention: Option<Contention>,
    learnt: Option<&'a ContentionHistory>,
}

impl Shared<'_> {
    /// Has a worker run groups until there are no more.
    fn run_remaining_groups<W: Worker>(&self, worker: &mut W, number: u32, progress: Option<&Progress>) {
        match &self.contention {
            Some(c) if number == 0 => {
                let mut watch = ContentionMonitor::new(c, self.workers, self.learnt);
                let left = || self.spans.left();
                self.work_watched(worker, progress, |groups, took| watch.note_progress(groups, took, left()));
            }
            Some(c) => self.work_watched(worker, progress, |_, _| c.wait_for_turn()),
            None => while self.claim(worker, number, |left| self.step(left), progress) {},
        }
    }

    /// The same of groups that may stand in each other's way: `after` each claim it is told how many ran in which time.
    fn work_watched<W: Worker>(
        &self,
        worker: &mut W,
        progress: Option<&Progress>,
        mut after: impl FnMut(u64, Duration),
    ) {
        let mut step = 1;
        loop {
            let start = Instant::now();
            if !self.claim(worker, 0, |_| step, progress) {
                return;
            }
            let took = start.elapsed();
            after(step, took);
            step = contention::claim(self.step(self.spans.left()), step, took);
        }
    }

    /// How many groups to claim next of those that are left: few claims where groups are many, fine ones where they are few,
    /// and finer ones towards the end, so that all workers end together.
    fn step(&self, left: u64) -> u64 {
        (left / (self.workers * 8)).clamp(1, self.most)
    }

    /// The same with nobody beside it, for a while; gives whether there are no more.
    fn work_alone<W: Worker>(&self, worker: &mut W, progress: Option<&Progress>, start: Instant) -> bool {
        let mut step = 1;
        let patience = if is_thread_awake() { PATIENCE.1 } else { PATIENCE.0 };
        while self.claim(worker, 0, |_| step, progress) {
            let done = self.spans.claimed();
            if self.spans.left() == 0 {
                return true;
            }
            let taken = start.elapsed();
            let Some(left) = patience.checked_sub(taken).filter(|left| !left.is_zero()) else { return false };
            // Half of what is left, if the next ones take as long as those before.
            let each = (taken.as_nanos() as u64 / done).max(1);
            step = (left.as_nanos() as u64 / 2 / each).max(1);
        }
        true
    }

    /// Has a worker run the next groups, as many as `step` says of those that are left; `false`: there are none for it any
    /// more.
    fn claim<W: Worker>(
        &self,
        worker: &mut W,
        number: u32,
        step: impl Fn(u64) -> u64,
        progress: Option<&Progress>,
    ) -> bool {
        let Some(groups) = self.spans.claim(number as usize, step, |first| self.stop.before(first)) else {
            return false;
        };
        if let Some(progress) = progress {
            progress.begun.fetch_add(groups.end - groups.start, Ordering::Relaxed);
        }
        match worker.groups(groups, &self.stop) {
            Some((number, trap)) => {
                self.report_fault(number, trap);
                false
            }
            None => true,
        }
    }

    /// A group faulted: those before it go on, as the lowest one's fault is told.
    fn report_fault(&self, number: u64, trap: Box<Trap>) {
        if self.at_once {
            // Lower ones may wait for it.
            self.stop.end();
        }
        self.stop.at(number);
        self.traps.lock().unwrap_or_else(|e| e.into_inner()).push((number, trap));
    }
}
