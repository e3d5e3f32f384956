//! Events: how far a command is.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock, Weak};
use std::time::Instant;

use super::{AWAKE, Failure, Inner, Keep, Queue, look_until};
use crate::command_order;

/// How far a command is; what is negative is the code of its failure.
pub mod status {
    /// It is over.
    pub const COMPLETE: i32 = 0;
    /// It runs.
    pub const RUNNING: i32 = 1;
    /// Its turn has come.
    pub const SUBMITTED: i32 = 2;
    /// It waits.
    pub const QUEUED: i32 = 3;
}

/// Called when an event reaches a status.
pub type Callback = Box<dyn FnOnce(i32) + Send>;

/// The state of a command, or of something the application tells.
pub struct Event<E: Failure> {
    /// The command's queue; none of what the application tells.
    pub queue: Option<Arc<Queue<E>>>,
    /// Its number: events are numbered as they come.
    pub number: u64,
    state: Mutex<State<E>>,
    /// Its last status once it is over; for those who look.
    last: AtomicI32,
    /// It is over; for those who sleep.
    changed: Condvar,
    #[allow(dead_code, reason = "is kept alive")]
    keep: Option<Keep>,
}

struct State<E: Failure> {
    /// One of [`status`], or an error.
    status: i32,
    callbacks: Vec<(i32, Callback)>,
    /// Queues with commands that wait for it.
    watchers: Vec<Weak<Inner<E>>>,
    /// Threads that sleep until it is over.
    asleep: u32,
    /// Nanoseconds at which it was queued, submitted, started, ended, if its queue tells of them.
    times: [u64; 4],
}

/// Nanoseconds of the clock that profiling and timers show.
pub fn now_nanoseconds() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    // Far from zero, which tools take for "not set".
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1_000_000_000
}

thread_local! {
    /// This thread runs the application's functions that are called back.
    static CALLS_BACK: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The application waits on this thread: tells of it where it must not.
pub(super) fn may_wait() {
    if CALLS_BACK.try_with(std::cell::Cell::get) == Ok(true) {
        crate::report::report_host_mistake(
            "call",
            "a function that the driver calls back waits for commands: it must not block",
        );
    }
}

/// Runs something on the thread for callbacks: they may take locks that whoever completes a command holds.
pub fn call_back(what: impl FnOnce() + Send + 'static) {
    type Call = Box<dyn FnOnce() + Send>;
    static THREAD: OnceLock<Mutex<Sender<Call>>> = OnceLock::new();
    let sender = THREAD.get_or_init(|| {
        let (sender, receiver) = channel::<Call>();
        let spawned = std::thread::Builder::new().name("envisa-callbacks".into()).spawn(move || {
            let _ = CALLS_BACK.try_with(|c| c.set(true));
            for what in receiver {
                what();
            }
        });
        if let Err(e) = spawned {
            crate::log::print_warning(&format!("a thread for callbacks cannot be started: {e}"));
        }
        Mutex::new(sender)
    });
    // Without the thread the callback never comes, as was said.
    let _ = sender.lock().unwrap().send(Box::new(what));
}

impl<E: Failure> Event<E> {
    /// The event of a command.
    pub(super) fn of_command(queue: Arc<Queue<E>>, keep: Option<Keep>) -> Arc<Event<E>> {
        Event::new(Some(queue), status::QUEUED, keep)
    }

    /// An event whose status the application sets.
    pub fn user() -> Arc<Event<E>> {
        Event::new(None, status::SUBMITTED, None)
    }

    fn new(queue: Option<Arc<Queue<E>>>, status: i32, keep: Option<Keep>) -> Arc<Event<E>> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let queued = if queue.as_ref().is_some_and(|q| q.timed()) { now_nanoseconds() } else { 0 };
        let state = State {
            status,
            callbacks: Vec::new(),
            watchers: Vec::new(),
            asleep: 0,
            times: [queued, 0, 0, 0],
        };
        Arc::new(Event {
            queue,
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            state: Mutex::new(state),
            last: AtomicI32::new(status::QUEUED),
            changed: Condvar::new(),
            keep,
        })
    }

    /// One of [`status`], or a negative error.
    pub fn status(&self) -> i32 {
        self.state.lock().unwrap().status
    }

    /// Complete or failed.
    pub fn is_over(&self) -> bool {
        self.last.load(Ordering::Acquire) <= status::COMPLETE
    }

    /// Moves on to a status. One that was reached or passed is ignored.
    pub fn set(self: &Arc<Self>, status: i32) -> bool {
        let mut state = self.state.lock().unwrap();
        if state.status <= status::COMPLETE || status >= state.status {
            return false;
        }
        let time = if self.has_profiling() { now_nanoseconds() } else { 0 };
        let reached = if status < 0 { 3 } else { (status::QUEUED - status) as usize };
        for t in &mut state.times[..=reached] {
            if *t == 0 {
                *t = time;
            }
        }
        state.status = status;
        let over = status <= status::COMPLETE;
        let mut due = Vec::new();
        if !state.callbacks.is_empty() {
            (due, state.callbacks) =
                std::mem::take(&mut state.callbacks).into_iter().partition(|(at, _)| status <= *at);
        }
        let watchers = if over { std::mem::take(&mut state.watchers) } else { Vec::new() };
        let wakes = over && state.asleep > 0;
        if over {
            self.last.store(status, Ordering::Release);
        }
        drop(state);
        if wakes {
            self.changed.notify_all();
        }
        for watcher in watchers {
            if let Some(queue) = watcher.upgrade() {
                queue.wake_runnable();
            }
        }
        if !due.is_empty() {
            let keep = self.clone();
            call_back(move || {
                keep.note_status_seen();
                for (at, callback) in due {
                    callback(if status < 0 { status } else { at });
                }
                drop(keep);
            });
        }
        true
    }

    /// Calls back when the status is reached; at once if it was.
    pub fn on(self: &Arc<Self>, at: i32, callback: Callback) {
        let mut state = self.state.lock().unwrap();
        if state.status > at {
            state.callbacks.push((at, callback));
            return;
        }
        let status = if state.status < 0 { state.status } else { at };
        drop(state);
        let keep = self.clone();
        call_back(move || {
            keep.note_status_seen();
            callback(status);
            drop(keep);
        });
    }

    /// Wakes a queue when this is over. `false` if it is already.
    pub(super) fn watch(&self, queue: &Arc<Inner<E>>) -> bool {
        let mut state = self.state.lock().unwrap();
        if state.status <= status::COMPLETE {
            return false;
        }
        state.watchers.push(Arc::downgrade(queue));
        true
    }

    /// Waits until it is over; its last status. The waiting thread does the queue's work if nobody else does.
    pub fn wait(&self) -> i32 {
        if crate::report::is_checking() {
            may_wait();
            if let Some(queue) = &self.queue {
                queue.is_flushed();
            }
            command_order::waits_for(self.number);
        }
        if let Some(queue) = &self.queue {
            queue.help_until(self);
        }
        self.wait_without_working()
    }

    /// As [`Event::wait`], and leaves the queue's work to others: this thread does that of another queue.
    pub fn wait_without_working(&self) -> i32 {
        if !look_until(|| self.is_over(), AWAKE) {
            let mut state = self.state.lock().unwrap();
            while state.status > status::COMPLETE {
                state.asleep += 1;
                state = self.changed.wait(state).unwrap();
                state.asleep -= 1;
            }
        }
        self.note_status_seen();
        self.last.load(Ordering::Acquire)
    }

    /// The application learns of its status.
    pub fn note_status_seen(&self) {
        if crate::report::is_checking() {
            match self.is_over() {
                true => command_order::completion_known(self.number),
                false => command_order::note_status_query(self.number),
            }
        }
    }

    /// Does its queue tell of times?
    fn has_profiling(&self) -> bool {
        self.queue.as_ref().is_some_and(|q| q.timed())
    }

    /// One of the four times: when it was queued, submitted, began, ended; `None` if it is not known yet, or never will
    /// be.
    pub fn time(&self, which: usize) -> Option<u64> {
        let profiled = self.has_profiling();
        let state = self.state.lock().unwrap();
        // Of a command that came before its queue told of times there are none.
        let time = state.times[which.min(3)];
        (profiled && state.status == status::COMPLETE && time > 0).then_some(time)
    }
}
