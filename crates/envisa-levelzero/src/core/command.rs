//! Commands: what lists hold and queues run.

use std::ops::Range;
use std::sync::{Arc, Mutex, RwLock, TryLockError};
use std::time::{Duration, Instant};

use envisa_runtime::host_memory::{Layout3, Region};
use envisa_runtime::queue::now_nanoseconds;
use envisa_runtime::report;

use super::error::{Error, Result};
use super::event::{Event, Wait};
use super::kernel::Launch;

/// A command.
#[derive(Clone)]
pub struct Command {
    /// What it does.
    pub does: Action,
    /// What it waits for.
    pub waits: Vec<Wait>,
    /// What it signals.
    pub signals: Option<Arc<Event>>,
}

/// What commands do.
#[derive(Clone)]
pub enum Action {
    /// Nothing, in its turn: barriers, hints.
    Nothing,
    /// So many groups of a kernel.
    Launch(Launch, [u32; 3]),
    /// As many as these twelve bytes say, unless this count says that there is no such launch.
    LaunchIndirect(Launch, Region, Option<(Region, u32)>),
    /// Bytes are copied.
    Copy(Region, Region),
    /// Rows are copied.
    CopyRows(Region, Layout3, Region, Layout3, [usize; 3]),
    /// A pattern is repeated.
    Fill(Region, Vec<u8>),
    /// An event is not signalled any more.
    Reset(Arc<Event>),
    /// The time is written.
    Time(Region),
    /// Times of events are written, from these offsets on.
    Times(Vec<Arc<Event>>, Region, Vec<usize>),
    /// The application is called.
    Call(Arc<dyn Fn() + Send + Sync>),
}

/// Held by commands while they touch memory; whoever moves memory to pages that others can have takes it for itself.
static MEMORY_IN_USE: RwLock<()> = RwLock::new(());
/// How long it waits for commands to end.
const MOST_PATIENCE: Duration = Duration::from_secs(10);

/// Does something while no command touches memory.
///
/// # Errors
/// If there is no such moment for seconds.
pub fn between_commands<T>(does: impl FnOnce() -> T) -> Result<T> {
    let start = Instant::now();
    loop {
        // Commands may wait for others that have not begun: these are not to wait for this.
        match MEMORY_IN_USE.try_write() {
            Ok(_nobody) => return Ok(does()),
            Err(TryLockError::Poisoned(_)) => return Err(Error::UNKNOWN),
            Err(TryLockError::WouldBlock) if start.elapsed() > MOST_PATIENCE => {
                return Err(Error::HANDLE_OBJECT_IN_USE);
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_micros(50)),
        }
    }
}

impl Action {
    /// Does it touch memory of the application?
    fn touches_memory(&self) -> bool {
        !matches!(self, Action::Nothing | Action::Reset(_) | Action::Call(_))
    }

    /// What reports call it.
    pub fn name(&self) -> &'static str {
        match self {
            Action::Nothing => "a barrier",
            Action::Launch(..) | Action::LaunchIndirect(..) => "a kernel",
            Action::Copy(..) => "zeCommandListAppendMemoryCopy",
            Action::CopyRows(..) => "zeCommandListAppendMemoryCopyRegion",
            Action::Fill(..) => "zeCommandListAppendMemoryFill",
            Action::Reset(_) => "zeCommandListAppendEventReset",
            Action::Time(_) => "zeCommandListAppendWriteGlobalTimestamp",
            Action::Times(..) => "zeCommandListAppendQueryKernelTimestamps",
            Action::Call(_) => "a function of the host",
        }
    }

    fn run(&self) -> Result<()> {
        let _memory = self.touches_memory().then(|| MEMORY_IN_USE.read());
        match self {
            Action::Nothing => {}
            Action::Launch(launch, groups) => launch.run(&launch.range(*groups)?)?,
            Action::LaunchIndirect(launch, groups, count) => {
                if let Some((count, number)) = count {
                    let bytes = count.to_vec();
                    let n = bytes.first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
                    if n <= *number {
                        return Ok(());
                    }
                }
                let bytes = groups.to_vec();
                let word = |i: usize| bytes[i * 4..].first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
                launch.run(&launch.range([word(0), word(1), word(2)])?)?;
            }
            Action::Copy(to, from) => to.copy_from(from),
            Action::CopyRows(to, at, from, there, size) => to.copy_rows(*at, from, *there, *size),
            Action::Fill(to, pattern) => to.fill(pattern),
            Action::Reset(event) => event.reset(),
            Action::Time(to) => to.write(&now_nanoseconds().to_le_bytes()),
            Action::Times(events, to, offsets) => {
                for (event, offset) in events.iter().zip(offsets) {
                    let times = event.times().map_err(|_| Error::INVALID_SYNCHRONIZATION_OBJECT)?;
                    let bytes: Vec<u8> = times.iter().chain(&times).flat_map(|t| t.to_le_bytes()).collect();
                    if let Some(part) = to.part(*offset, bytes.len()) {
                        part.write(&bytes);
                    }
                }
            }
            Action::Call(function) => function(),
        }
        Ok(())
    }
}

impl Command {
    /// Runs it in its turn. After a failure nothing is done any more, but whoever waits is told. What it uses is noted by
    /// `flight`, which ends before that: whoever was told may free it.
    fn run(&self, failed: Option<Error>, flight: Option<InFlight>, numbers: &mut Numbers) -> Result<()> {
        // Whatever failed before, what it waits for comes first: its event says that it is over.
        let waited = self.waits.iter().map(Wait::wait_now).fold(Ok(()), Result::and);
        // Asking for the time takes time.
        let start = self.signals.as_ref().map_or(0, |_| now_nanoseconds());
        let result = match failed {
            Some(e) => Err(e),
            None => waited.and_then(|()| self.does.run()),
        };
        drop(flight);
        if let Some(event) = &self.signals {
            numbers.signal(event, [start, now_nanoseconds()], result.err());
        }
        result
    }
}

/// Runs commands one after the other, each with what notes its memory.
///
/// # Errors
/// The first one.
pub fn run_all(commands: &[Command], flights: Vec<InFlight>, numbers: &mut Numbers) -> Result<()> {
    let (mut result, mut flights) = (Ok(()), flights.into_iter());
    for command in commands {
        result = result.and(command.run(result.err(), flights.next(), numbers));
    }
    result
}

/// What commands that were enqueued together signal their events by, in their order: see [`Event::begin_signal`].
pub struct Numbers(std::vec::IntoIter<u64>);

impl Numbers {
    /// Begins the events anew.
    pub fn new(events: &[Arc<Event>]) -> Numbers {
        Numbers(events.iter().map(|e| e.begin_signal()).collect::<Vec<_>>().into_iter())
    }

    /// The next command signals its event.
    pub fn signal(&mut self, event: &Event, times: [u64; 2], failed: Option<Error>) {
        event.signal_by(self.0.next().unwrap_or(0), times, failed);
    }
}

/// Ranges that commands on their way use, while mistakes are looked for.
static FLYING: Mutex<Vec<(u64, Range<usize>)>> = Mutex::new(Vec::new());

/// Notes what a command uses until it is over.
pub struct InFlight(u64);

impl InFlight {
    /// A command that was given to a queue.
    pub fn of(command: &Command) -> InFlight {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut all = FLYING.lock().unwrap();
        let mut note = |start: usize, len: usize| all.push((number, start..start + len));
        match &command.does {
            Action::Launch(launch, _) | Action::LaunchIndirect(launch, ..) => {
                launch.given().for_each(|b| note(b.address(), b.len()));
            }
            Action::Copy(a, b) | Action::CopyRows(a, _, b, ..) => {
                [a, b].iter().for_each(|r| note(r.address(), r.len()));
            }
            Action::Fill(r, _) | Action::Time(r) | Action::Times(_, r, _) => note(r.address(), r.len()),
            Action::Nothing | Action::Reset(_) | Action::Call(_) => {}
        }
        drop(all);
        InFlight(number)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        FLYING.lock().unwrap().retain(|(n, _)| *n != self.0);
    }
}

/// Memory is freed: tells of commands that use it.
pub fn report_freed_if_in_use(range: Range<usize>) {
    let used = FLYING.lock().unwrap().iter().any(|(_, r)| r.start < range.end && range.start < r.end);
    if used {
        let bytes = range.end - range.start;
        report::report_host_mistake(
            "free",
            &format!("{bytes} bytes of memory are freed while a command that uses them is not complete"),
        );
    }
}

/// What the ledger calls commands that are run together.
pub fn name_of(commands: &[Command]) -> &'static str {
    match commands {
        [one] => one.does.name(),
        _ => "a command list",
    }
}
