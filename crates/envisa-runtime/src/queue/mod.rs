//! Command queues: a thread each, which the application's thread relieves while it waits.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use crate::command_order;

mod event;
#[cfg(test)]
mod tests;

pub use event::{Callback, Event, call_back, now_nanoseconds, status};

/// Why a command fails, as a door tells it.
pub trait Failure: Copy + PartialEq + Send + 'static {
    /// Something that the command waited for failed.
    const OF_WHAT_IT_WAITED_FOR: Self;
    /// The driver itself panicked.
    const OF_A_PANIC: Self;
    /// The status of its event: negative.
    fn code(self) -> i32;
}

/// How long threads look for what they wait for before they sleep: to wake one takes longer than a small launch does.
pub const AWAKE: Duration = Duration::from_micros(50);
/// How long a queue's thread dozes: it leaves what comes meanwhile to the application's thread, which may be about to
/// wait for it and then does it itself. A thread that looked all the time would have the memory that both use go from
/// core to core, and take time from the threads that run kernels.
const DOZE: Duration = Duration::from_micros(100);
/// How often it dozes without anything happening before it sleeps until it is woken, which takes a system call.
const DOZES: u32 = 10;

/// Looks until something is so, for so long at most; gives whether it is.
pub fn look_until(so: impl Fn() -> bool, long: Duration) -> bool {
    if so() {
        return true;
    }
    let start = Instant::now();
    loop {
        for _ in 0..32 {
            if so() {
                return true;
            }
            std::hint::spin_loop();
        }
        if start.elapsed() >= long {
            return so();
        }
    }
}

/// Something that an event keeps alive.
pub type Keep = Arc<dyn std::any::Any + Send + Sync>;

/// What a command does.
pub type Work<E> = Box<dyn FnOnce() -> Result<(), E> + Send>;

/// A command queue.
pub struct Queue<E: Failure> {
    inner: Arc<Inner<E>>,
    /// Events tell when commands began and ended.
    timed: AtomicBool,
}

/// What the queue shares with its thread.
pub struct Inner<E: Failure> {
    state: Mutex<State<E>>,
    /// Something changed: a command came, one ended, an event was waited for.
    changed: Condvar,
    /// How often something did, counted while the state is locked.
    changes: AtomicU32,
    /// Commands may overtake.
    free_order: AtomicBool,
    /// The last failure that [`Queue::finish`] did not report yet.
    failure: AtomicI32,
    /// By the interface's rules commands begin once the application flushes the queue.
    wants_flush: AtomicBool,
}

struct State<E: Failure> {
    waiting: VecDeque<Command<E>>,
    /// Somebody runs a command.
    running: bool,
    /// Threads that sleep until something changes.
    waiters: u32,
    /// What the queue's thread does.
    thread_is: ThreadIs,
    /// Somebody waits for a command and could not run it: the queue's thread is not to leave it to others.
    wanted: bool,
    closed: bool,
    thread: bool,
    /// Of a queue that may overtake: what was enqueued and may not be over.
    alive: Vec<Weak<Event<E>>>,
    /// The last barrier, if it may not be over.
    barrier: Weak<Event<E>>,
    /// Numbers of commands, while mistakes are looked for: the last one, or, of a queue that may overtake, all since
    /// the last barrier.
    numbers: Vec<u64>,
    /// The last barrier's number, of a queue that may overtake.
    fence: Option<u64>,
    /// Numbers of commands since the application flushed the queue, if it has to.
    unflushed: Vec<u64>,
}

/// What a queue's thread does.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum ThreadIs {
    /// It runs commands, or is about to look for some.
    #[default]
    Awake,
    /// It looks soon.
    Dozing,
    /// It looks when it is woken.
    Asleep,
}

impl<E: Failure> Default for State<E> {
    fn default() -> State<E> {
        State {
            waiting: VecDeque::new(),
            running: false,
            waiters: 0,
            thread_is: ThreadIs::default(),
            wanted: false,
            closed: false,
            thread: false,
            alive: Vec::new(),
            barrier: Weak::new(),
            numbers: Vec::new(),
            fence: None,
            unflushed: Vec::new(),
        }
    }
}

/// Does what a command does. A panic is its failure: the queue's other commands run, and who waits for it learns of it.
fn done<E: Failure>(work: Work<E>) -> Result<(), E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        crate::log::print_warning("a command failed inside envisa: please report this bug");
        Err(E::OF_A_PANIC)
    })
}

struct Command<E: Failure> {
    event: Arc<Event<E>>,
    after: Vec<Arc<Event<E>>>,
    work: Work<E>,
}

/// How a command relates to others of its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// As the queue has it.
    Normal,
    /// After all before it, if it waits for nothing in particular.
    Marker,
    /// That, and all behind come after it.
    Barrier,
}

impl<E: Failure> Queue<E> {
    /// A new queue, whose commands may overtake each other or not.
    pub fn new(free_order: bool) -> Arc<Queue<E>> {
        command_order::queue_made();
        if free_order {
            command_order::may_overtake();
        }
        let inner = Inner {
            state: Mutex::default(),
            changed: Condvar::new(),
            changes: AtomicU32::new(0),
            free_order: AtomicBool::new(free_order),
            failure: AtomicI32::new(0),
            wants_flush: AtomicBool::new(false),
        };
        Arc::new(Queue { inner: Arc::new(inner), timed: AtomicBool::new(false) })
    }

    /// Whether events of later commands tell when these began and ended.
    pub fn set_timed(&self, timed: bool) {
        self.timed.store(timed, Ordering::Relaxed);
    }

    /// Whether events tell when commands began and ended.
    pub fn timed(&self) -> bool {
        self.timed.load(Ordering::Relaxed)
    }

    /// Whether commands may overtake each other.
    pub fn set_free_order(&self, free: bool) {
        if free {
            command_order::may_overtake();
        }
        self.inner.free_order.store(free, Ordering::Relaxed);
    }

    /// Whether nothing waits and nothing runs.
    pub fn is_idle(&self) -> bool {
        let state = self.inner.state.lock().unwrap();
        state.waiting.is_empty() && !state.running
    }

    /// Appends a command that runs after `after`. `what`: what reports call it; `keep` lives as long as its event.
    ///
    /// # Errors
    /// If the queue's thread cannot be had.
    pub fn enqueue(
        self: &Arc<Self>,
        what: &str,
        order: Order,
        mut after: Vec<Arc<Event<E>>>,
        keep: Option<Keep>,
        work: Work<E>,
    ) -> std::io::Result<Arc<Event<E>>> {
        let event = Event::of_command(self.clone(), keep);
        let inner = &self.inner;
        let waits = !after.is_empty();
        let mut state = inner.state.lock().unwrap();
        if inner.free_order.load(Ordering::Relaxed) {
            state.alive.retain(|e| e.upgrade().is_some_and(|e| !e.is_over()));
            if order != Order::Normal && after.is_empty() {
                after.extend(state.alive.iter().filter_map(Weak::upgrade));
            }
            after.extend(state.barrier.upgrade().filter(|b| !b.is_over()));
            state.alive.push(Arc::downgrade(&event));
            if order == Order::Barrier {
                state.barrier = Arc::downgrade(&event);
            }
        }
        if crate::report::is_checking() {
            let mut numbers: Vec<u64> = after.iter().map(|e| e.number).collect();
            state.note(inner.free_order.load(Ordering::Relaxed), order, waits, &mut numbers, event.number);
            let unflushed = inner.wants_flush.load(Ordering::Relaxed);
            if unflushed {
                state.unflushed.push(event.number);
            }
            command_order::note_enqueued(event.number, what, numbers, unflushed);
        }
        after.retain(|e| e.status() < 0 || e.watch(inner) || e.status() < 0);
        // Nobody waits for what other queues do first.
        let others: Vec<Arc<Queue<E>>> = after.iter().filter_map(|e| e.queue.clone()).collect();
        if !state.thread {
            let inner = inner.clone();
            std::thread::Builder::new()
                .name("envisa-queue".into())
                .spawn(move || inner.run_queue_thread())?;
            state.thread = true;
        }
        state.waiting.push_back(Command { event: event.clone(), after, work });
        inner.tell(&state, false);
        drop(state);
        others.iter().filter(|q| !Arc::ptr_eq(q, self)).for_each(|q| q.flush());
        Ok(event)
    }

    /// By the interface's rules, commands begin once the application flushes the queue: mistakes of that kind are looked for.
    pub fn wants_flush(&self) {
        self.inner.wants_flush.store(true, Ordering::Relaxed);
    }

    /// The application flushes the queue, by whichever call.
    pub fn is_flushed(&self) {
        if crate::report::is_checking() {
            let numbers = std::mem::take(&mut self.inner.state.lock().unwrap().unflushed);
            command_order::note_flushed(&numbers);
        }
    }

    /// Has what was enqueued begin, whoever waits for it.
    pub fn flush(&self) {
        self.inner.wake_runnable();
    }

    /// Waits until everything enqueued before is over.
    ///
    /// # Errors
    /// The code of a command that failed since the last time.
    pub fn finish(self: &Arc<Self>) -> Result<(), i32> {
        if crate::report::is_checking() {
            event::may_wait();
            self.is_flushed();
            let last = self.inner.state.lock().unwrap().numbers.clone();
            last.into_iter().for_each(command_order::waits_for);
        }
        self.idle();
        if crate::report::is_checking() {
            let numbers = self.inner.state.lock().unwrap().numbers.clone();
            numbers.into_iter().for_each(command_order::completion_known);
        }
        if !self.has_failed() {
            return Ok(());
        }
        match self.inner.failure.swap(0, Ordering::Relaxed) {
            0 => Ok(()),
            code => Err(code),
        }
    }

    /// Whether a command failed that no [`Queue::finish`] has reported.
    pub fn has_failed(&self) -> bool {
        self.inner.failure.load(Ordering::Relaxed) != 0
    }

    fn idle(self: &Arc<Self>) {
        if self.inner.free_order.load(Ordering::Relaxed) {
            let alive: Vec<_> = {
                let state = self.inner.state.lock().unwrap();
                state.alive.iter().filter_map(Weak::upgrade).collect()
            };
            alive.iter().for_each(|e| {
                e.wait();
            });
            return;
        }
        let last = {
            let state = self.inner.state.lock().unwrap();
            match state.waiting.back() {
                Some(last) => Some(last.event.clone()),
                None if state.running => None,
                None => return,
            }
        };
        match last {
            Some(event) => {
                event.wait();
            }
            None => {
                let mut state = self.inner.state.lock().unwrap();
                while state.running {
                    state = self.inner.wait_for_change(state);
                }
            }
        }
    }

    /// Runs commands on this thread while nobody else does, until the event is over.
    fn help_until(&self, event: &Event<E>) {
        let mut state = self.inner.state.lock().unwrap();
        while !event.is_over() {
            match self.inner.step(state) {
                Ok(next) => state = next,
                // Somebody else runs one, or all wait for something: the caller waits for the event then.
                Err(mut busy) => {
                    busy.wanted = true;
                    return;
                }
            }
        }
    }
}

/// Commands of a queue without order that are remembered: of more, races are not found.
const REMEMBERED: usize = 2048;

impl<E: Failure> State<E> {
    /// Notes a command, and completes the numbers of those that come before it. `waits`: it has a wait list.
    fn note(&mut self, free: bool, order: Order, waits: bool, before: &mut Vec<u64>, number: u64) {
        if !free {
            // The last one stands for all.
            before.append(&mut self.numbers);
        } else {
            before.extend(self.fence);
            if order != Order::Normal && !waits {
                before.extend(&self.numbers);
            }
            if order == Order::Barrier {
                self.fence = Some(number);
                if !waits {
                    self.numbers.clear();
                }
            }
            if self.numbers.len() >= REMEMBERED {
                self.numbers.remove(0);
            }
        }
        self.numbers.push(number);
    }
}

impl<E: Failure> Inner<E> {
    /// What can run is to run now: an event that a command waits for is over, or the application says so.
    fn wake_runnable(&self) {
        self.tell(&self.state.lock().unwrap(), true);
    }

    /// Something changed. (Threads are woken only where there is something for them: that is a system call.) `now`: the
    /// queue's thread is not to leave it to others.
    fn tell(&self, state: &MutexGuard<'_, State<E>>, now: bool) {
        self.changes.fetch_add(1, Ordering::Release);
        let open = state.closed || !state.running && !state.waiting.is_empty();
        let wakes = match state.thread_is {
            ThreadIs::Awake => false,
            ThreadIs::Dozing => now || state.wanted,
            ThreadIs::Asleep => true,
        };
        if state.waiters > 0 || open && wakes {
            self.changed.notify_all();
        }
    }

    /// Waits until something changes: for a while awake.
    fn wait_for_change<'a>(&'a self, state: MutexGuard<'a, State<E>>) -> MutexGuard<'a, State<E>> {
        let before = self.changes.load(Ordering::Acquire);
        drop(state);
        let changed = || self.changes.load(Ordering::Acquire) != before;
        look_until(changed, AWAKE);
        let mut state = self.state.lock().unwrap();
        // Counted while it is locked: what is not seen here wakes who sleeps.
        if !changed() {
            state.waiters += 1;
            state = self.changed.wait(state).unwrap();
            state.waiters -= 1;
        }
        state
    }

    /// Runs one command that can run; the state comes back, in `Err` if there was none.
    fn step<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<E>>,
    ) -> Result<MutexGuard<'a, State<E>>, MutexGuard<'a, State<E>>> {
        if state.running {
            return Err(state);
        }
        let ready = |c: &Command<E>| c.after.iter().all(|e| e.is_over());
        let at = if self.free_order.load(Ordering::Relaxed) {
            state.waiting.iter().position(ready)
        } else {
            state.waiting.front().and_then(|c| ready(c).then_some(0))
        };
        let Some(command) = at.and_then(|at| state.waiting.remove(at)) else { return Err(state) };
        state.running = true;
        drop(state);
        let Command { event, after, work } = command;
        let checking = crate::report::is_checking();
        if checking {
            command_order::begin(event.number);
        }
        let result = if after.iter().any(|e| e.status() < 0) {
            event.set(status::SUBMITTED);
            Err(E::OF_WHAT_IT_WAITED_FOR)
        } else {
            // Submitted, too.
            event.set(status::RUNNING);
            done(work)
        };
        if checking {
            command_order::end(event.number);
        }
        drop(after);
        // Whoever waits for the events that failed was told otherwise.
        if let Err(e) = result
            && e != E::OF_WHAT_IT_WAITED_FOR
        {
            self.failure.store(e.code(), Ordering::Relaxed);
        }
        // Before the event ends: who waits for it may look at the queue next.
        self.state.lock().unwrap().running = false;
        event.set(result.map_or_else(E::code, |()| status::COMPLETE));
        // This may be the last reference to the event and by it to the queue.
        drop(event);
        let state = self.state.lock().unwrap();
        self.tell(&state, false);
        Ok(state)
    }

    /// The queue's thread.
    fn run_queue_thread(&self) {
        let mut state = self.state.lock().unwrap();
        // How often it dozed and nothing happened.
        let mut quiet = 0;
        loop {
            state = match self.step(state) {
                Ok(state) => {
                    quiet = 0;
                    state
                }
                Err(state) if state.closed && state.waiting.is_empty() && !state.running => return,
                Err(mut state) => {
                    let before = self.changes.load(Ordering::Acquire);
                    let dozes = quiet < DOZES;
                    state.thread_is = if dozes { ThreadIs::Dozing } else { ThreadIs::Asleep };
                    let mut state = match dozes {
                        true => self.changed.wait_timeout(state, DOZE).unwrap().0,
                        false => self.changed.wait(state).unwrap(),
                    };
                    (state.thread_is, state.wanted) = (ThreadIs::Awake, false);
                    let changed = self.changes.load(Ordering::Acquire) != before;
                    quiet = if changed { 0 } else { quiet + 1 };
                    state
                }
            };
        }
    }
}

impl<E: Failure> Drop for Queue<E> {
    fn drop(&mut self) {
        // What is enqueued holds the queue: there is nothing left.
        let mut state = self.inner.state.lock().unwrap();
        state.closed = true;
        self.inner.tell(&state, true);
    }
}
