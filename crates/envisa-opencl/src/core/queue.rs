//! Command queues: a thread each, which the application's thread relieves while it waits.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use opencl_sys as cl;

use super::context::Context;
use super::error::{Error, Result};
use super::event::Event;
use super::handle::{Object, Slot};
use super::ledger;
use super::platform::Device;

/// How long threads look for what they wait for before they sleep: to wake one takes longer than a small launch does.
pub(super) const AWAKE: Duration = Duration::from_micros(50);
/// How long a queue's thread dozes: it leaves what comes meanwhile to the application's thread, which may be about to
/// wait for it and then does it itself. A thread that looked all the time would have the memory that both use go from
/// core to core, and take time from the threads that run kernels.
const DOZE: Duration = Duration::from_micros(100);
/// How often it dozes without anything happening before it sleeps until it is woken, which takes a system call.
const DOZES: u32 = 10;

/// Looks until something is so, for so long at most; gives whether it is.
pub(super) fn look_until(so: impl Fn() -> bool, long: Duration) -> bool {
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

/// What a command does.
pub type Work = Box<dyn FnOnce() -> Result<()> + Send>;

/// A command queue.
pub struct Queue {
    slot: Slot,
    /// Its context.
    pub context: Arc<Context>,
    /// Its device.
    pub device: Arc<Device>,
    /// `CL_QUEUE_*` flags.
    properties: AtomicU64,
    /// As given to `clCreateCommandQueueWithProperties`, with the zero at the end.
    pub property_list: Vec<u64>,
    inner: Arc<Inner>,
}

/// What the queue shares with its thread.
pub struct Inner {
    state: Mutex<State>,
    /// Something changed: a command came, one ended, an event was waited for.
    changed: Condvar,
    /// How often something did, counted while the state is locked.
    changes: AtomicU32,
    /// Commands may overtake.
    free_order: AtomicBool,
    /// The last failure that `clFinish` did not report yet.
    failure: AtomicI32,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Command>,
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
    alive: Vec<Weak<Event>>,
    /// The last barrier, if it may not be over.
    barrier: Weak<Event>,
    /// Numbers of commands, while mistakes are looked for: the last one, or, of a queue that may overtake, all since
    /// the last barrier.
    numbers: Vec<u64>,
    /// The last barrier's number, of a queue that may overtake.
    fence: Option<u64>,
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

struct Command {
    event: Arc<Event>,
    after: Vec<Arc<Event>>,
    work: Work,
}

impl Object for Queue {
    const INVALID: Error = Error::INVALID_COMMAND_QUEUE;
    fn slot(&self) -> &Slot {
        &self.slot
    }
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

impl Queue {
    /// A new queue.
    pub fn new(
        context: Arc<Context>,
        device: Arc<Device>,
        properties: u64,
        property_list: Vec<u64>,
    ) -> Arc<Queue> {
        let free = properties & cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0;
        let inner = Inner {
            state: Mutex::default(),
            changed: Condvar::new(),
            changes: AtomicU32::new(0),
            free_order: AtomicBool::new(free),
            failure: AtomicI32::new(0),
        };
        Arc::new(Queue {
            slot: Slot::default(),
            context,
            device,
            properties: AtomicU64::new(properties),
            property_list,
            inner: Arc::new(inner),
        })
    }

    /// `CL_QUEUE_*` flags.
    pub fn properties(&self) -> u64 {
        self.properties.load(Ordering::Relaxed)
    }

    /// Whether events show times.
    pub fn profiling(&self) -> bool {
        self.properties() & cl::CL_QUEUE_PROFILING_ENABLE != 0
    }

    /// Appends a command that runs after `after`.
    ///
    /// # Errors
    /// If the queue's thread cannot be had.
    pub fn enqueue(
        self: &Arc<Self>,
        kind: u32,
        order: Order,
        mut after: Vec<Arc<Event>>,
        work: Work,
    ) -> Result<Arc<Event>> {
        let event = Event::of_command(self.context.clone(), self.clone(), kind);
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
        if crate::report::checking() {
            let mut numbers: Vec<u64> = after.iter().map(|e| e.number).collect();
            state.note(inner.free_order.load(Ordering::Relaxed), order, waits, &mut numbers, event.number);
            ledger::enqueued(event.number, command_name(kind), numbers);
        }
        after.retain(|e| e.status() < 0 || e.watch(inner) || e.status() < 0);
        // Nobody waits for what other queues do first.
        let others: Vec<Arc<Queue>> = after.iter().filter_map(|e| e.queue.clone()).collect();
        if !state.thread {
            let inner = inner.clone();
            let spawned =
                std::thread::Builder::new().name("envisa-queue".into()).spawn(move || inner.serve());
            if let Err(e) = spawned {
                crate::log::complain(&format!("no thread for a queue: {e}"));
                return Err(Error::OUT_OF_HOST_MEMORY);
            }
            state.thread = true;
        }
        state.waiting.push_back(Command { event: event.clone(), after, work });
        inner.tell(&state, false);
        drop(state);
        others.iter().filter(|q| !Arc::ptr_eq(q, self)).for_each(|q| q.flush());
        Ok(event)
    }

    /// Has what was enqueued begin, whoever waits for it.
    pub fn flush(&self) {
        self.inner.wake();
    }

    /// Waits until everything enqueued before is over.
    ///
    /// # Errors
    /// If a command failed since the last time.
    pub fn finish(self: &Arc<Self>) -> Result<()> {
        self.idle()?;
        if crate::report::checking() {
            let numbers = self.inner.state.lock().unwrap().numbers.clone();
            numbers.into_iter().for_each(ledger::seen);
        }
        if !self.has_failed() {
            return Ok(());
        }
        match self.inner.failure.swap(0, Ordering::Relaxed) {
            0 => Ok(()),
            code => Err(Error(code)),
        }
    }

    /// Whether a command failed that no [`Queue::finish`] has reported.
    pub fn has_failed(&self) -> bool {
        self.inner.failure.load(Ordering::Relaxed) != 0
    }

    fn idle(self: &Arc<Self>) -> Result<()> {
        if self.inner.free_order.load(Ordering::Relaxed) {
            let marker =
                self.enqueue(cl::CL_COMMAND_MARKER, Order::Marker, Vec::new(), Box::new(|| Ok(())))?;
            marker.wait();
            return Ok(());
        }
        let last = {
            let state = self.inner.state.lock().unwrap();
            match state.waiting.back() {
                Some(last) => Some(last.event.clone()),
                None if state.running => None,
                None => return Ok(()),
            }
        };
        match last {
            Some(event) => {
                event.wait();
            }
            None => {
                let mut state = self.inner.state.lock().unwrap();
                while state.running {
                    state = self.inner.pause(state);
                }
            }
        }
        Ok(())
    }

    /// Runs commands on this thread while nobody else does, until the event is over.
    pub(super) fn help_until(&self, event: &Event) {
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

    /// Changes flags, as the first version of the standard could.
    pub fn set_properties(&self, flags: u64, enable: bool) -> u64 {
        let old = if enable {
            self.properties.fetch_or(flags, Ordering::Relaxed)
        } else {
            self.properties.fetch_and(!flags, Ordering::Relaxed)
        };
        let free = self.properties() & cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0;
        self.inner.free_order.store(free, Ordering::Relaxed);
        old
    }
}

/// Commands of a queue without order that are remembered: of more, races are not found.
const REMEMBERED: usize = 2048;

impl State {
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

impl Inner {
    /// What can run is to run now: an event that a command waits for is over, or the application says so.
    pub(super) fn wake(&self) {
        self.tell(&self.state.lock().unwrap(), true);
    }

    /// Something changed. (Threads are woken only where there is something for them: that is a system call.) `now`: the
    /// queue's thread is not to leave it to others.
    fn tell(&self, state: &MutexGuard<'_, State>, now: bool) {
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
    fn pause<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
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
        mut state: MutexGuard<'a, State>,
    ) -> std::result::Result<MutexGuard<'a, State>, MutexGuard<'a, State>> {
        if state.running {
            return Err(state);
        }
        let ready = |c: &Command| c.after.iter().all(|e| e.is_over());
        let at = if self.free_order.load(Ordering::Relaxed) {
            state.waiting.iter().position(ready)
        } else {
            state.waiting.front().and_then(|c| ready(c).then_some(0))
        };
        let Some(command) = at.and_then(|at| state.waiting.remove(at)) else { return Err(state) };
        state.running = true;
        drop(state);
        let Command { event, after, work } = command;
        let checking = crate::report::checking();
        if checking {
            ledger::begin();
        }
        let status = if after.iter().any(|e| e.status() < 0) {
            event.set(cl::CL_SUBMITTED);
            Err(Error::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        } else {
            // Submitted, too.
            event.set(cl::CL_RUNNING);
            work()
        };
        if checking {
            ledger::end(event.number);
        }
        drop(after);
        // Whoever waits for the events that failed was told otherwise.
        if let Err(e) = status
            && e != Error::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
        {
            self.failure.store(e.0, Ordering::Relaxed);
        }
        // Before the event ends: who waits for it may look at the queue next.
        self.state.lock().unwrap().running = false;
        event.set(status.map_or_else(|e| e.0, |()| cl::CL_COMPLETE));
        // This may be the last reference to the event and by it to the queue.
        drop(event);
        let state = self.state.lock().unwrap();
        self.tell(&state, false);
        Ok(state)
    }

    /// The queue's thread.
    fn serve(&self) {
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

impl Drop for Queue {
    fn drop(&mut self) {
        // What is enqueued holds the queue: there is nothing left.
        let mut state = self.inner.state.lock().unwrap();
        state.closed = true;
        self.inner.tell(&state, true);
    }
}

/// What reports call a command.
fn command_name(kind: u32) -> &'static str {
    match kind {
        cl::CL_COMMAND_NDRANGE_KERNEL | cl::CL_COMMAND_TASK => "a kernel",
        cl::CL_COMMAND_READ_BUFFER => "clEnqueueReadBuffer",
        cl::CL_COMMAND_WRITE_BUFFER => "clEnqueueWriteBuffer",
        cl::CL_COMMAND_COPY_BUFFER => "clEnqueueCopyBuffer",
        cl::CL_COMMAND_READ_BUFFER_RECT => "clEnqueueReadBufferRect",
        cl::CL_COMMAND_WRITE_BUFFER_RECT => "clEnqueueWriteBufferRect",
        cl::CL_COMMAND_COPY_BUFFER_RECT => "clEnqueueCopyBufferRect",
        cl::CL_COMMAND_FILL_BUFFER => "clEnqueueFillBuffer",
        cl::CL_COMMAND_READ_IMAGE => "clEnqueueReadImage",
        cl::CL_COMMAND_WRITE_IMAGE => "clEnqueueWriteImage",
        cl::CL_COMMAND_COPY_IMAGE => "clEnqueueCopyImage",
        cl::CL_COMMAND_COPY_IMAGE_TO_BUFFER => "clEnqueueCopyImageToBuffer",
        cl::CL_COMMAND_COPY_BUFFER_TO_IMAGE => "clEnqueueCopyBufferToImage",
        cl::CL_COMMAND_FILL_IMAGE => "clEnqueueFillImage",
        cl::CL_COMMAND_SVM_MEMCPY => "clEnqueueSVMMemcpy",
        cl::CL_COMMAND_SVM_MEMFILL => "clEnqueueSVMMemFill",
        _ => "another command",
    }
}
