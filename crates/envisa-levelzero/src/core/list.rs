//! Command lists and queues.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use envisa_runtime::queue::{self, Order};
use envisa_runtime::report::{is_checking, report_host_mistake};

use super::command::{Command, InFlight, Numbers, name_of, run_all};
use super::device::Device;
use super::error::{Error, Result};
use super::event::{BETWEEN_LOOKS, Done, Event, TO_LOOK, Wait};
use super::handle;
use super::kernel::Kernel;
use super::memory::Context;
use super::mutable::{Change, Mutable};

type Worker = queue::Queue<Error>;

/// What a list or a queue was asked to be.
#[derive(Clone, Copy, Default, Debug)]
pub struct ListOptions {
    /// The group of queues that it is of.
    pub ordinal: u32,
    /// Which queue of that.
    pub index: u32,
    /// `ZE_COMMAND_LIST_FLAG_*`, or `ZE_COMMAND_QUEUE_FLAG_*` of queues and immediate lists.
    pub flags: u32,
    /// `ZE_COMMAND_QUEUE_MODE_*`
    pub mode: u32,
    /// `ZE_COMMAND_QUEUE_PRIORITY_*`
    pub priority: u32,
}

/// A command list.
pub struct List {
    /// Its context.
    pub context: Arc<Context>,
    /// Its device.
    pub device: Arc<Device>,
    /// What it was asked to be.
    pub about: ListOptions,
    kind: ListKind,
}

enum ListKind {
    Regular(Mutex<Recorded>),
    Immediate { worker: Arc<Worker>, synchronous: bool },
}

/// What a regular list holds.
#[derive(Default)]
struct Recorded {
    open: Vec<Command>,
    closed: Option<Arc<Vec<Command>>>,
    /// Of a list whose commands can be changed.
    mutable: Option<Mutable>,
}

/// A command queue.
pub struct Queue {
    /// Its device.
    pub device: Arc<Device>,
    /// What it was asked to be.
    pub about: ListOptions,
    worker: Arc<Worker>,
    synchronous: bool,
}

/// What a queue signals when all that it was given with it is over.
pub struct Fence {
    /// Its queue.
    pub queue: Arc<Queue>,
    /// Signalled when it is.
    pub event: Arc<Event>,
}

/// `ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS`
const SYNCHRONOUS: u32 = 1;

impl List {
    /// A list that is recorded, closed and executed.
    pub fn regular(
        context: Arc<Context>,
        device: Arc<Device>,
        about: ListOptions,
        mutable: bool,
    ) -> Arc<List> {
        let recorded = Recorded { mutable: mutable.then(Mutable::default), ..Recorded::default() };
        Arc::new(List { context, device, about, kind: ListKind::Regular(Mutex::new(recorded)) })
    }

    /// A list with the commands of this one, which is closed.
    ///
    /// # Errors
    /// If it is immediate, or open.
    pub fn clone_closed(&self) -> Result<Arc<List>> {
        let recorded = self.recorded()?;
        if recorded.closed.is_none() {
            return Err(Error::INVALID_ARGUMENT);
        }
        let copy =
            Recorded { open: Vec::new(), closed: recorded.closed.clone(), mutable: recorded.mutable.clone() };
        let (context, device) = (self.context.clone(), self.device.clone());
        let kind = ListKind::Regular(Mutex::new(copy));
        Ok(Arc::new(List { context, device, about: self.about, kind }))
    }

    fn recorded(&self) -> Result<MutexGuard<'_, Recorded>> {
        match &self.kind {
            ListKind::Regular(recorded) => Ok(recorded.lock().unwrap()),
            ListKind::Immediate { .. } => Err(Error::INVALID_COMMAND_LIST_TYPE),
        }
    }

    /// Whether its commands can be changed.
    pub fn is_mutable(&self) -> bool {
        self.recorded().is_ok_and(|r| r.mutable.is_some())
    }

    /// A number for the command that is appended next, by which it can be changed.
    ///
    /// # Errors
    /// If the list is closed, or its commands cannot be changed.
    pub fn number(&self, flags: u32, kernels: Vec<Arc<Kernel>>) -> Result<u64> {
        let mut recorded = self.recorded()?;
        if recorded.closed.is_some() {
            return Err(Error::INVALID_ARGUMENT);
        }
        recorded.mutable.as_mut().ok_or(Error::INVALID_ARGUMENT)?.number(flags, kernels)
    }

    /// Changes something of a closed list; it is then to be closed again.
    fn changed<T>(
        &self,
        change: impl FnOnce(&mut Mutable, &mut Arc<Vec<Command>>) -> Result<T>,
    ) -> Result<T> {
        let mut recorded = self.recorded()?;
        let Recorded { closed, mutable, .. } = &mut *recorded;
        match (mutable, closed) {
            (Some(mutable), Some(closed)) => change(mutable, closed),
            _ => Err(Error::INVALID_ARGUMENT),
        }
    }

    /// Changes a launch.
    ///
    /// # Errors
    /// If there is no such launch, or the change does not fit.
    pub fn change(&self, number: u64, change: Change) -> Result<()> {
        self.changed(|mutable, list| mutable.change(list, number, change))
    }

    /// Changes what a command signals.
    ///
    /// # Errors
    /// If there is no such command.
    pub fn change_signal(&self, number: u64, event: Option<Arc<Event>>) -> Result<()> {
        self.changed(|mutable, list| mutable.signal(list, number, event))
    }

    /// Changes what a command waits for: `n` events, of which some may be none.
    ///
    /// # Errors
    /// If there is no such command, or it waited for another number of events at first.
    pub fn change_waits(&self, number: u64, n: usize, events: &[Arc<Event>]) -> Result<()> {
        self.changed(|mutable, list| mutable.waits(list, number, n, events))
    }

    /// A list whose commands run as they come.
    pub fn immediate(context: Arc<Context>, device: Arc<Device>, about: ListOptions) -> Arc<List> {
        let kind = ListKind::Immediate { worker: Worker::new(false), synchronous: about.mode == SYNCHRONOUS };
        Arc::new(List { context, device, about, kind })
    }

    /// Whether its commands run as they come.
    pub fn is_immediate(&self) -> bool {
        matches!(self.kind, ListKind::Immediate { .. })
    }

    /// Appends a command.
    ///
    /// # Errors
    /// If the list is closed; of a synchronous list, if the command fails.
    pub fn append(&self, command: Command) -> Result<()> {
        if let Some(event) = &command.signals {
            event.note_signal_appended();
        }
        match &self.kind {
            ListKind::Regular(recorded) => {
                let mut recorded = recorded.lock().unwrap();
                if recorded.closed.is_some() {
                    report_host_mistake("list", "a command is appended to a command list that is closed");
                    return Err(Error::INVALID_ARGUMENT);
                }
                let place = recorded.open.len();
                if let Some(mutable) = &mut recorded.mutable {
                    mutable.appended(place, &command);
                }
                recorded.open.push(command);
                Ok(())
            }
            ListKind::Immediate { worker, synchronous } => {
                let done = enqueue_commands(worker, Commands::One(command), None)?;
                if *synchronous { result_of_done(&done) } else { Ok(()) }
            }
        }
    }

    /// Appends closed lists to an immediate one.
    ///
    /// # Errors
    /// If this list is not immediate, or another is, or is open.
    pub fn append_lists(
        &self,
        lists: &[Arc<List>],
        waits: Vec<Wait>,
        signals: Option<Arc<Event>>,
    ) -> Result<()> {
        let ListKind::Immediate { worker, synchronous } = &self.kind else {
            return Err(Error::INVALID_COMMAND_LIST_TYPE);
        };
        let all = closed(lists)?;
        let before = Command { does: super::command::Action::Nothing, waits, signals: None };
        let after = Command { does: super::command::Action::Nothing, waits: Vec::new(), signals };
        after.signals.iter().for_each(|e| e.note_signal_appended());
        let done = enqueue_commands(worker, Commands::Lists(Some(before), all, Some(after)), None)?;
        if *synchronous { result_of_done(&done) } else { Ok(()) }
    }

    /// No more commands come.
    pub fn close(&self) -> Result<()> {
        let ListKind::Regular(recorded) = &self.kind else { return Ok(()) };
        let mut recorded = recorded.lock().unwrap();
        if recorded.closed.is_none() {
            recorded.closed = Some(Arc::new(std::mem::take(&mut recorded.open)));
        }
        let Recorded { closed, mutable, .. } = &mut *recorded;
        match (mutable, closed) {
            (Some(mutable), Some(closed)) => mutable.closed(closed),
            _ => Ok(()),
        }
    }

    /// It is empty and open again. An immediate one is so always.
    ///
    /// # Errors
    /// None yet.
    pub fn reset(&self) -> Result<()> {
        let ListKind::Regular(recorded) = &self.kind else { return Ok(()) };
        let mut recorded = recorded.lock().unwrap();
        if recorded.closed.as_ref().is_some_and(|c| Arc::strong_count(c) > 1) {
            report_host_mistake("list", "a command list is reset while it is executed");
        }
        let mutable = recorded.mutable.as_ref().map(|_| Mutable::default());
        *recorded = Recorded { mutable, ..Recorded::default() };
        Ok(())
    }

    /// Waits until all commands of an immediate list are over.
    ///
    /// # Errors
    /// If one failed, if they take longer than so many nanoseconds, or the list is not immediate.
    pub fn host_wait(&self, nanoseconds: u64) -> Result<()> {
        match &self.kind {
            ListKind::Regular(_) => Err(Error::INVALID_ARGUMENT),
            ListKind::Immediate { worker, .. } => finish(worker, nanoseconds),
        }
    }
}

/// What is enqueued together.
enum Commands {
    One(Command),
    Lists(Option<Command>, Vec<Arc<Vec<Command>>>, Option<Command>),
}

impl Commands {
    fn slices(&self) -> impl Iterator<Item = &[Command]> {
        let (first, lists, last) = match self {
            Commands::One(one) => (Some(one), &[][..], None),
            Commands::Lists(before, lists, after) => (before.as_ref(), &lists[..], after.as_ref()),
        };
        let one = std::slice::from_ref::<Command>;
        first.into_iter().map(one).chain(lists.iter().map(|l| &l[..])).chain(last.into_iter().map(one))
    }

    fn signals(&self) -> Vec<Arc<Event>> {
        if let Commands::One(one) = self {
            return one.signals.iter().cloned().collect();
        }
        self.slices().flatten().filter_map(|c| c.signals.clone()).collect()
    }
}

fn enqueue_commands(
    worker: &Arc<Worker>,
    commands: Commands,
    fence: Option<Arc<Event>>,
) -> Result<Arc<Done>> {
    let signals = commands.signals();
    // What is signalled at the very end.
    let last = fence.clone().or_else(|| commands.slices().last()?.last()?.signals.clone());
    let mut numbers = Numbers::new(&signals);
    let what = {
        let mut slices = commands.slices();
        match (slices.next(), slices.next()) {
            (Some(one), None) => name_of(one),
            _ => "a command list",
        }
    };
    let mut flights: Vec<Vec<InFlight>> = Vec::new();
    if is_checking() {
        flights.extend(commands.slices().map(|slice| slice.iter().map(InFlight::of).collect()));
    }
    let tells = fence.clone();
    let work = Box::new(move || {
        let (mut result, mut flights) = (Ok(()), flights.into_iter());
        for slice in commands.slices() {
            let flights = flights.next().unwrap_or_default();
            match result {
                Ok(()) => result = run_all(slice, flights, &mut numbers),
                // Whoever waits is told.
                Err(e) => {
                    let signals = slice.iter().filter_map(|c| c.signals.as_ref());
                    signals.for_each(|s| numbers.signal(s, [0; 2], Some(e)));
                }
            }
        }
        drop(commands);
        if let Some(fence) = tells {
            fence.signal([0; 2], result.err());
        }
        result
    });
    let done = worker.enqueue(what, Order::Normal, Vec::new(), None, work).map_err(|e| {
        envisa_runtime::log::print_warning(&format!("no thread for a queue: {e}"));
        Error::OUT_OF_HOST_MEMORY
    })?;
    for event in signals.iter().chain(&fence) {
        event.comes_from(done.clone(), last.as_ref().is_some_and(|l| Arc::ptr_eq(l, event)));
    }
    Ok(done)
}

fn result_of_done(done: &Arc<Done>) -> Result<()> {
    match done.wait() {
        code if code < 0 => Err(Error::of_code(code)),
        _ => Ok(()),
    }
}

/// The commands of closed lists.
fn closed(lists: &[Arc<List>]) -> Result<Vec<Arc<Vec<Command>>>> {
    let commands = |list: &Arc<List>| {
        let ListKind::Regular(recorded) = &list.kind else { return Err(Error::INVALID_COMMAND_LIST_TYPE) };
        let recorded = recorded.lock().unwrap();
        let changed = recorded.mutable.as_ref().is_some_and(Mutable::is_changed);
        recorded.closed.clone().filter(|_| !changed).ok_or_else(|| {
            report_host_mistake("list", "a command list is executed that was not closed");
            Error::INVALID_ARGUMENT
        })
    };
    lists.iter().map(commands).collect()
}

fn finish(worker: &Arc<Worker>, nanoseconds: u64) -> Result<()> {
    if nanoseconds < u64::MAX {
        let start = Instant::now();
        while !worker.is_idle() {
            let left = Duration::from_nanos(nanoseconds).saturating_sub(start.elapsed());
            if left.is_zero() {
                return Err(Error::NOT_READY);
            }
            worker.flush();
            if left > TO_LOOK {
                std::thread::sleep(BETWEEN_LOOKS);
            } else {
                std::hint::spin_loop();
            }
        }
    }
    worker.finish().map_err(Error::of_code)
}

/// Waits until all that queues and immediate lists of a device were given is over.
///
/// # Errors
/// If a command failed.
pub fn finish_all(device: &Arc<Device>) -> Result<()> {
    let mut result = Ok(());
    for object in handle::live_objects() {
        let worker = if let Some(queue) = object.downcast_ref::<Queue>() {
            Some(&queue.worker).filter(|_| Arc::ptr_eq(&queue.device, device))
        } else if let Some(List { kind: ListKind::Immediate { worker, .. }, device: of, .. }) =
            object.downcast_ref()
        {
            Some(worker).filter(|_| Arc::ptr_eq(of, device))
        } else {
            None
        };
        if let Some(worker) = worker {
            result = result.and(finish(worker, u64::MAX));
        }
    }
    result
}

impl Queue {
    /// A queue.
    pub fn new(device: Arc<Device>, about: ListOptions) -> Arc<Queue> {
        Arc::new(Queue { device, about, worker: Worker::new(false), synchronous: about.mode == SYNCHRONOUS })
    }

    /// Executes closed lists, and signals a fence then.
    ///
    /// # Errors
    /// If a list is open, immediate or of another device, or the fence of another queue; of a synchronous queue, if a
    /// command fails.
    pub fn execute(self: &Arc<Self>, lists: &[Arc<List>], fence: Option<&Fence>) -> Result<()> {
        if lists.iter().any(|l| !Arc::ptr_eq(&l.device, &self.device)) {
            return Err(Error::INVALID_ARGUMENT);
        }
        if fence.is_some_and(|f| !Arc::ptr_eq(&f.queue, self)) {
            return Err(Error::INVALID_SYNCHRONIZATION_OBJECT);
        }
        let all = closed(lists)?;
        let done =
            enqueue_commands(&self.worker, Commands::Lists(None, all, None), fence.map(|f| f.event.clone()))?;
        if self.synchronous { result_of_done(&done) } else { Ok(()) }
    }

    /// Waits until all that it was given is over.
    ///
    /// # Errors
    /// If a command failed, or they take longer than so many nanoseconds.
    pub fn host_wait(&self, nanoseconds: u64) -> Result<()> {
        finish(&self.worker, nanoseconds)
    }
}
