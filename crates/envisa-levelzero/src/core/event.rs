//! Events: what commands and the host signal and wait for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use envisa_runtime::pages::Words;
use envisa_runtime::queue::{AWAKE, look_until, now_nanoseconds};
use envisa_runtime::{command_order, report};

use super::error::{Error, Result};
use super::handle::Handle;
use super::ipc;
use super::memory::Context;

/// How long something waits before it is told of that nothing signals what it waits for.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long before the end of a time something looks and does not sleep any more.
pub const TO_LOOK: Duration = Duration::from_micros(200);
/// How long something sleeps between looks at what wakes nobody.
pub const BETWEEN_LOOKS: Duration = Duration::from_micros(50);
const UNPROMISED: &str = "for two seconds something has waited for an event that no command appended so far signals, \
                          nor the program itself";

/// A command of a queue, which ends once.
pub type Done = envisa_runtime::queue::Event<Error>;

/// A pool of events.
pub struct Pool {
    /// Its context.
    pub context: Arc<Context>,
    /// `ZE_EVENT_POOL_FLAG_*`.
    pub flags: u32,
    /// Events that it can have.
    pub count: u32,
    /// Its events need no reset: each command that is to signal one begins it anew.
    pub counter_based: bool,
    /// Words of its events, which other processes have, too.
    pub shared: Option<Arc<Words>>,
    /// Another process made it.
    pub opened: bool,
}

/// An event; a fence has one, too.
pub struct Event {
    /// What it is of; none of a fence's.
    pub pool: Option<Arc<Pool>>,
    /// The handle of that; none of events that have a pool of their own.
    pub pool_handle: Handle,
    /// `ZE_EVENT_SCOPE_FLAG_*` of those who signal it, and who wait for it.
    pub scopes: (u32, u32),
    /// Its words, if other processes have it, too, and where they begin.
    shared: Option<(Arc<Words>, usize)>,
    state: Mutex<State>,
    /// For those who look.
    signaled: AtomicBool,
    /// For those who sleep.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    signaled: bool,
    /// Of what failed.
    failed: Option<Error>,
    /// When what it tells of began and ended.
    times: [u64; 2],
    /// What will signal it, or has; and whether that has nothing to do behind it.
    source: Option<(Arc<Done>, bool)>,
    /// The number of the command that signalled it, while mistakes are looked for.
    by: Option<u64>,
    /// How often it was appended to a list to be signalled, or signalled by the host.
    promised: u64,
    /// Of a counter-based event: how many commands that signal it were enqueued. It tells of the last one.
    enqueued: u64,
}

/// What a command waits for.
#[derive(Clone)]
pub enum Wait {
    /// The event, as it is when the command's turn has come.
    Signal(Arc<Event>),
    /// A command that was to signal a counter-based event when the wait was appended.
    Command(Arc<Done>),
}

impl Event {
    /// An event of no pool that is not signalled.
    pub fn new() -> Arc<Event> {
        Arc::new(Event::of(None, 0, 0, (0, 0)))
    }

    /// An event of a pool: not signalled, unless another process has it, too, and says so.
    pub fn of_pool(pool: Arc<Pool>, handle: Handle, index: u32, scopes: (u32, u32)) -> Arc<Event> {
        Arc::new(Event::of(Some(pool), handle, index, scopes))
    }

    fn of(pool: Option<Arc<Pool>>, pool_handle: Handle, index: u32, scopes: (u32, u32)) -> Event {
        let words = pool.as_ref().and_then(|p| p.shared.clone());
        Event {
            pool,
            pool_handle,
            scopes,
            shared: words.map(|w| (w, ipc::HEAD + index as usize * ipc::WORDS)),
            state: Mutex::default(),
            signaled: AtomicBool::new(false),
            changed: Condvar::new(),
        }
    }

    fn counter_based(&self) -> bool {
        self.pool.as_ref().is_some_and(|p| p.counter_based)
    }

    /// Is it signalled?
    pub fn is_signaled(&self) -> bool {
        self.shared.as_ref().map_or_else(
            || self.signaled.load(Ordering::Acquire),
            |(words, at)| words.get(*at).is_some_and(|w| w.load(Ordering::Acquire) != 0),
        )
    }

    /// Its state, with what other processes did to it.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap();
        if let Some((words, at)) = &self.shared {
            let word = |i: usize| words.get(at + i).map_or(0, |w| w.load(Ordering::Acquire));
            state.signaled = word(0) != 0;
            let failed = word(1) as u32;
            state.failed = if failed == 0 { None } else { Some(Error(failed)) };
            state.times = [word(2), word(3)];
        }
        state
    }

    /// Tells other processes of its state: the first word comes last.
    fn tell(&self, state: &State) {
        let Some((words, at)) = &self.shared else { return };
        let failed = u64::from(state.failed.map_or(0, |e| e.0));
        let values = [u64::from(state.signaled), failed, state.times[0], state.times[1]];
        for (i, value) in values.into_iter().enumerate().rev() {
            if let Some(word) = words.get(at + i) {
                word.store(value, Ordering::Release);
            }
        }
    }

    /// It is signalled, by a command that took this time or failed, or by the host.
    pub fn signal(&self, times: [u64; 2], failed: Option<Error>) {
        self.signal_if(times, failed, |_| true);
    }

    /// It is signalled by a command, of which [`Event::begin_signal`] gave the number: a counter-based event only by the one that
    /// was enqueued last.
    pub fn signal_by(&self, number: u64, times: [u64; 2], failed: Option<Error>) {
        self.signal_if(times, failed, |state| !self.counter_based() || state.enqueued == number);
    }

    fn signal_if(&self, times: [u64; 2], failed: Option<Error>, tells: impl FnOnce(&State) -> bool) {
        let mut state = self.state.lock().unwrap();
        if !tells(&state) {
            return;
        }
        let by = if report::is_checking() { command_order::current_command() } else { None };
        *state = State { signaled: true, failed, times, by, source: state.source.take(), ..*state };
        self.tell(&state);
        self.signaled.store(true, Ordering::Release);
        drop(state);
        self.changed.notify_all();
    }

    /// The host signals it.
    pub fn host_signal(&self) {
        self.note_signal_appended();
        self.signal([now_nanoseconds(); 2], None);
    }

    /// A command that is to signal it was appended to a list.
    pub fn note_signal_appended(&self) {
        self.state.lock().unwrap().promised += 1;
    }

    /// Commands that are on their way will signal it, as the `last` thing that they do or before.
    pub fn comes_from(&self, source: Arc<Done>, last: bool) {
        self.state.lock().unwrap().source = Some((source, last));
    }

    /// A command that is to signal it is about to be enqueued: a counter-based event begins anew. Gives the command's number.
    pub fn begin_signal(&self) -> u64 {
        if !self.counter_based() {
            return 0;
        }
        // At once: the command before must not signal it in between, as whoever waits would take it for this one.
        let mut state = self.state.lock().unwrap();
        self.reset_state(&mut state);
        state.enqueued += 1;
        state.enqueued
    }

    /// It is not signalled.
    pub fn reset(&self) {
        self.reset_state(&mut self.state.lock().unwrap());
    }

    fn reset_state(&self, state: &mut State) {
        state.signaled = false;
        state.failed = None;
        state.by = None;
        self.tell(state);
        self.signaled.store(false, Ordering::Release);
    }

    /// What a wait means that is appended now.
    pub fn wait_of(self: &Arc<Self>) -> Wait {
        if self.counter_based()
            && let Some((source, _)) = self.state.lock().unwrap().source.clone()
        {
            return Wait::Command(source);
        }
        Wait::Signal(self.clone())
    }

    /// Whether it is signalled, as the host asks.
    ///
    /// # Errors
    /// If it is not, or what signalled it failed.
    pub fn status(&self) -> Result<()> {
        let state = self.state();
        if !state.signaled {
            return Err(Error::NOT_READY);
        }
        self.seen(&state);
        state.failed.map_or(Ok(()), Err)
    }

    fn seen(&self, state: &State) {
        if let Some(by) = state.by.filter(|_| report::is_checking()) {
            command_order::completion_known(by);
        }
    }

    /// The host waits until it is signalled, for so many nanoseconds at most.
    ///
    /// # Errors
    /// If it was not in that time, or what signalled it failed.
    pub fn host_wait(&self, nanoseconds: u64) -> Result<()> {
        if self.is_signaled() || nanoseconds == 0 {
            return self.status();
        }
        if nanoseconds == u64::MAX {
            // This thread does the queue's work if nobody else does; but none that may wait for what the host does next.
            let source = self.state.lock().unwrap().source.clone();
            if let Some((source, true)) = source {
                source.wait();
            }
        }
        self.sleep(nanoseconds);
        self.status()
    }

    /// Waits until it is signalled, for so many nanoseconds at most.
    fn sleep(&self, nanoseconds: u64) {
        let long = Duration::from_nanos(nanoseconds);
        // So far away that nobody lives then.
        let end = Instant::now().checked_add(long.min(Duration::from_secs(1 << 32)));
        if look_until(|| self.is_signaled(), AWAKE.min(long)) {
            return;
        }
        let left = || end.map_or(Duration::MAX, |e| e.saturating_duration_since(Instant::now()));
        if self.shared.is_some() {
            // Other processes wake nobody here.
            while left() > TO_LOOK && !self.is_signaled() {
                std::thread::sleep(BETWEEN_LOOKS);
            }
            look_until(|| self.is_signaled(), left().min(TO_LOOK));
            return;
        }
        let mut state = self.state.lock().unwrap();
        // While mistakes are looked for it wakes once to see whether there is a reason to wait.
        let mut patience = if report::is_checking() { PATIENCE } else { Duration::from_secs(3600) };
        while !state.signaled {
            let left = left();
            if left <= TO_LOOK {
                // Whoever sleeps is woken too late.
                drop(state);
                look_until(|| self.is_signaled(), left);
                return;
            }
            let slept = self.changed.wait_timeout(state, (left - TO_LOOK).min(patience)).unwrap();
            state = slept.0;
            if slept.1.timed_out() && !state.signaled && state.promised == 0 {
                report::report_host_mistake("event", UNPROMISED);
                patience = Duration::from_secs(3600);
            }
        }
    }

    /// When what it tells of began and ended.
    ///
    /// # Errors
    /// If it is not signalled.
    pub fn times(&self) -> Result<[u64; 2]> {
        let state = self.state();
        if state.signaled { Ok(state.times) } else { Err(Error::NOT_READY) }
    }
}

impl Wait {
    /// Waits, on the thread that runs the command that waits.
    ///
    /// # Errors
    /// If what it waited for failed.
    pub fn wait_now(&self) -> Result<()> {
        let checking = report::is_checking();
        match self {
            Wait::Signal(event) => {
                event.sleep(u64::MAX);
                let state = event.state();
                if let Some(by) = state.by.filter(|_| checking) {
                    command_order::comes_after(by);
                }
                state.failed.map_or(Ok(()), Err)
            }
            Wait::Command(done) => {
                let status = done.wait_without_working();
                if checking {
                    command_order::comes_after(done.number);
                }
                if status < 0 { Err(Error::of_code(status)) } else { Ok(()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[test]
    fn what_was_enqueued_before_does_not_signal_an_event_that_counts() {
        let pool = Pool {
            context: Context::new(),
            flags: 0,
            count: 1,
            counter_based: true,
            shared: None,
            opened: false,
        };
        let event = Event::of_pool(Arc::new(pool), 0, 0, (0, 0));
        let last = AtomicU64::new(event.begin_signal());
        std::thread::scope(|scope| {
            // As commands do that end while others are enqueued.
            scope.spawn(|| {
                while last.load(Ordering::Acquire) != u64::MAX {
                    event.signal_by(last.load(Ordering::Acquire), [0; 2], None);
                }
            });
            for _ in 0..20_000 {
                let number = event.begin_signal();
                let too_early = event.is_signaled();
                last.store(if too_early { u64::MAX } else { number }, Ordering::Release);
                assert!(!too_early, "command {number} did not run");
            }
            last.store(u64::MAX, Ordering::Release);
        });
    }
}
