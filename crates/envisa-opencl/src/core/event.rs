//! Events: how far a command is.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock, Weak};
use std::time::Instant;

use opencl_sys as cl;

use super::context::Context;
use super::error::{Error, Result};
use super::handle::{Object, Slot};
use super::ledger;
use super::queue::{AWAKE, Inner, Queue, look_until};

/// Called when an event reaches a status.
pub type Callback = Box<dyn FnOnce(i32) + Send>;

/// The state of a command, or of something the application tells.
pub struct Event {
    slot: Slot,
    /// Its context.
    pub context: Arc<Context>,
    /// The command's queue; none of user events.
    pub queue: Option<Arc<Queue>>,
    /// `CL_COMMAND_*`.
    pub command: u32,
    /// Its number: events are numbered as they come.
    pub number: u64,
    state: Mutex<State>,
    /// Its last status once it is over; for those who look.
    last: AtomicI32,
    /// It is over; for those who sleep.
    changed: Condvar,
}

struct State {
    /// `CL_QUEUED` to `CL_COMPLETE`, or an error.
    status: i32,
    callbacks: Vec<(i32, Callback)>,
    /// Queues with commands that wait for it.
    watchers: Vec<Weak<Inner>>,
    /// Threads that sleep until it is over.
    asleep: u32,
    /// Nanoseconds at which it was queued, submitted, started, ended, if its queue tells of them.
    times: [u64; 4],
}

impl Object for Event {
    const INVALID: Error = Error::INVALID_EVENT;
    fn slot(&self) -> &Slot {
        &self.slot
    }
}

/// Nanoseconds of the clock that profiling and timers show.
pub fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    // Far from zero, which tools take for "not set".
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1_000_000_000
}

/// Runs something on the thread for callbacks: they may take locks that whoever completes a command holds.
pub fn call_back(what: impl FnOnce() + Send + 'static) {
    type Call = Box<dyn FnOnce() + Send>;
    static THREAD: OnceLock<Mutex<Sender<Call>>> = OnceLock::new();
    let sender = THREAD.get_or_init(|| {
        let (sender, receiver) = channel::<Call>();
        let spawned = std::thread::Builder::new().name("envisa-callbacks".into()).spawn(move || {
            for what in receiver {
                what();
            }
        });
        if let Err(e) = spawned {
            crate::log::complain(&format!("no thread for callbacks: {e}"));
        }
        Mutex::new(sender)
    });
    // Without the thread the callback never comes, as was said.
    let _ = sender.lock().unwrap().send(Box::new(what));
}

impl Event {
    /// The event of a command.
    pub fn of_command(context: Arc<Context>, queue: Arc<Queue>, command: u32) -> Arc<Event> {
        Event::new(context, Some(queue), command, cl::CL_QUEUED)
    }

    /// An event whose status the application sets.
    pub fn user(context: Arc<Context>) -> Arc<Event> {
        Event::new(context, None, cl::CL_COMMAND_USER, cl::CL_SUBMITTED)
    }

    fn new(context: Arc<Context>, queue: Option<Arc<Queue>>, command: u32, status: i32) -> Arc<Event> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let queued = if queue.as_ref().is_some_and(|q| q.profiling()) { now() } else { 0 };
        let state = State {
            status,
            callbacks: Vec::new(),
            watchers: Vec::new(),
            asleep: 0,
            times: [queued, 0, 0, 0],
        };
        Arc::new(Event {
            slot: Slot::default(),
            context,
            queue,
            command,
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            state: Mutex::new(state),
            last: AtomicI32::new(cl::CL_QUEUED),
            changed: Condvar::new(),
        })
    }

    /// `CL_QUEUED` to `CL_COMPLETE`, or a negative error.
    pub fn status(&self) -> i32 {
        self.state.lock().unwrap().status
    }

    /// Complete or failed.
    pub fn is_over(&self) -> bool {
        self.last.load(Ordering::Acquire) <= cl::CL_COMPLETE
    }

    /// Moves on to a status. One that was reached or passed is ignored.
    pub fn set(self: &Arc<Self>, status: i32) -> bool {
        let mut state = self.state.lock().unwrap();
        if state.status <= cl::CL_COMPLETE || status >= state.status {
            return false;
        }
        let time = if self.profiled() { now() } else { 0 };
        let reached = if status < 0 { 3 } else { (cl::CL_QUEUED - status) as usize };
        for t in &mut state.times[..=reached] {
            if *t == 0 {
                *t = time;
            }
        }
        state.status = status;
        let over = status <= cl::CL_COMPLETE;
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
                queue.wake();
            }
        }
        if !due.is_empty() {
            let keep = self.clone();
            call_back(move || {
                keep.seen();
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
            keep.seen();
            callback(status);
            drop(keep);
        });
    }

    /// Wakes a queue when this is over. `false` if it is already.
    pub(super) fn watch(&self, queue: &Arc<Inner>) -> bool {
        let mut state = self.state.lock().unwrap();
        if state.status <= cl::CL_COMPLETE {
            return false;
        }
        state.watchers.push(Arc::downgrade(queue));
        true
    }

    /// Waits until it is over; its last status. The waiting thread does the queue's work if nobody else does.
    pub fn wait(&self) -> i32 {
        if let Some(queue) = &self.queue {
            queue.help_until(self);
        }
        if !look_until(|| self.is_over(), AWAKE) {
            let mut state = self.state.lock().unwrap();
            while state.status > cl::CL_COMPLETE {
                state.asleep += 1;
                state = self.changed.wait(state).unwrap();
                state.asleep -= 1;
            }
        }
        self.seen();
        self.last.load(Ordering::Acquire)
    }

    /// The application learns of its status.
    pub fn seen(&self) {
        if crate::report::checking() && self.is_over() {
            ledger::seen(self.number);
        }
    }

    /// Does its queue tell of times?
    fn profiled(&self) -> bool {
        self.queue.as_ref().is_some_and(|q| q.profiling())
    }

    /// One of the four times.
    ///
    /// # Errors
    /// If it is not known yet, or never will be.
    pub fn time(&self, which: usize) -> Result<u64> {
        let profiled = self.profiled();
        let state = self.state.lock().unwrap();
        // Of a command that came before its queue told of times there are none.
        match state.times[which.min(3)] {
            time if profiled && state.status == cl::CL_COMPLETE && time > 0 => Ok(time),
            _ => Err(Error::PROFILING_INFO_NOT_AVAILABLE),
        }
    }
}
