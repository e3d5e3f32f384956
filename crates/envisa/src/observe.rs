//! Observers: callbacks that receive what the threads of a launch do.

use crate::fault::{AccessKind, Place};
use crate::kernel::Code;
use crate::{Error, Outcome, Run};
use envisa_machine::messages;
use envisa_machine::observer;
use envisa_machine::thread::{Machine, Mask, Status};
use std::sync::{Arc, Mutex, MutexGuard};

/// The events that an [`Observer`] receives. Other events cost nothing: a launch whose observer wants only the printed
/// text runs as fast as a launch without an observer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wants {
    /// Every instruction, after it was executed.
    pub instructions: bool,
    /// Every access to memory.
    pub accesses: bool,
    /// Starts and ends of threads.
    pub threads: bool,
    /// The output of the kernel's printf.
    pub printed: bool,
}

impl Wants {
    /// Everything.
    pub const ALL: Wants = Wants { instructions: true, accesses: true, threads: true, printed: true };
}

/// Receives the events of a launch, see [`Run::observe`].
///
/// The threads of a launch run on several host threads, but the observer is called for one event at a time. The events of
/// a thread arrive in order; those of different threads arrive in the order in which they happened. An observer does not
/// change the results of a launch.
pub trait Observer: Send {
    /// What it is told of; asked once, before the launch.
    fn wants(&self) -> Wants {
        Wants::ALL
    }
    /// An instruction was executed.
    fn instruction(&mut self, _instruction: &Executed<'_>) {}
    /// An instruction accessed memory; it is told before the instruction itself.
    fn access(&mut self, _access: &Accessed, _by: &Executed<'_>) {}
    /// A thread of a group starts.
    fn thread_started(&mut self, _group: [u32; 3], _thread: u32) {}
    /// A thread of a group has ended, by its return or by a fault.
    fn thread_ended(&mut self, _group: [u32; 3], _thread: u32) {}
    /// What the kernel printed, at the end of the launch.
    fn printed(&mut self, _text: &str) {}
}

/// An instruction that was executed.
pub struct Executed<'a> {
    /// The group.
    pub group: [u32; 3],
    /// The thread in its group.
    pub thread: u32,
    /// Channels that ran it, a bit each; bit 0 is the instruction's first channel.
    pub channels: u32,
    code: &'a Code,
    machine: &'a Machine<'a>,
    pc: u32,
}

impl Executed<'_> {
    /// Its function: the kernel itself, or one that it calls.
    pub fn function(&self) -> &str {
        let program = &self.machine.env.program;
        let function = program.code().get(self.pc as usize).map_or(0, |i| usize::from(i.function));
        program.functions().get(function).map_or("", |f| &f.name)
    }

    /// Its number in its function.
    pub fn index(&self) -> u32 {
        self.machine.env.program.code().get(self.pc as usize).map_or(0, |i| i.source)
    }

    /// Its place in vISA and source. (Not for every instruction of a long run: it looks lines up.)
    pub fn place(&self) -> Place {
        let span =
            self.machine.env.program.code().get(self.pc as usize).map_or_else(Default::default, |i| i.span);
        Place::new(self.code, self.function(), self.index(), span)
    }

    /// The bytes that a variable of its function holds now; `None` if there is no such variable.
    pub fn variable(&self, name: &str) -> Option<&[u8]> {
        let program = &self.machine.env.program;
        let function = program.code().get(self.pc as usize).map_or(0, |i| usize::from(i.function));
        let home = program.functions().get(function)?.vars.iter().find(|v| v.name == name)?;
        Some(self.machine.t.regs.slice(home.offset, home.declared))
    }
}

/// An access to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Accessed {
    /// The instruction's channel (0 is its first); 0 for messages of a whole thread.
    pub channel: u32,
    /// Which memory.
    pub space: Space,
    /// The address; in spaces other than [`Space::Global`] an offset.
    pub address: u64,
    /// Bytes.
    pub bytes: u32,
    /// What it does.
    pub kind: AccessKind,
    /// Whether the access is outside of its surface, at least in part. The part outside is not written, and reads give
    /// the value that the message's page says.
    pub outside: bool,
}

/// Kinds of memory that accesses are made to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Space {
    /// By address.
    Global,
    /// Shared local memory.
    Local,
    /// The surface of this index of the binding table.
    Surface(u32),
    /// The window of the thread's scratch and the launch's own data.
    Scratch,
    /// The append counter of the surface of this index of the binding table.
    Counter(u32),
    /// The unified return buffer.
    ReturnBuffer,
}

impl Run {
    /// Runs the launch, calls the observer for its events, and waits for its end.
    ///
    /// ```
    /// use envisa::{Accessed, Config, Device, Executed, Launch, Module, Observer, Source, Wants};
    ///
    /// #[derive(Default)]
    /// struct Traffic(u64);
    /// impl Observer for Traffic {
    ///     fn wants(&self) -> Wants {
    ///         Wants { accesses: true, ..Wants::default() }
    ///     }
    ///     fn access(&mut self, access: &Accessed, _: &Executed<'_>) {
    ///         self.0 += u64::from(access.bytes);
    ///     }
    /// }
    ///
    /// # std::env::set_current_dir("../..")?;
    /// let zebin = std::fs::read("examples/vadd/vadd.zebin")?;
    /// let source = Source::Zebin(&zebin);
    /// let device = Device::new(Config::new(source.platform()?.expect("zebins say what they are for")));
    /// let kernel = Module::load(&device, "vadd.zebin", source)?.kernel("vadd")?;
    /// let [a, b, c] = [device.buffer("a", 4096)?, device.buffer("b", 4096)?, device.buffer("c", 4096)?];
    /// let launch = Launch::range(&[1024], &[64]).arg("a", &a).arg("b", &b).arg("c", &c).arg("n", 1024);
    /// let mut traffic = Traffic::default();
    /// device.launch(&kernel, &launch)?.observe(&mut traffic)?;
    /// assert_eq!(traffic.0, 3 * 4096);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Run::wait`]; [`Error::Launch`] if the launch asks for checks, statistics or registers, which have
    /// observers of their own.
    pub fn observe(self, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        if self.is_instrumented() {
            let why = "a launch with checks, statistics or registers takes no other observer";
            return Err(Error::Launch(why.into()));
        }
        let wants = observer.wants();
        let code = self.code();
        let outcome = if wants.instructions || wants.accesses || wants.threads {
            let mut told = Told { observer: Arc::new(Mutex::new(&mut *observer)), wants, code: &code };
            self.execute(Some(&mut told))?.outcome
        } else {
            self.execute(None::<&mut crate::launch_observers::Instruments>)?.outcome
        };
        if wants.printed && !outcome.printed.is_empty() {
            observer.printed(&outcome.printed);
        }
        Ok(outcome)
    }
}

/// The machine's observer that tells a user's: all workers tell one.
struct Told<'a> {
    observer: Arc<Mutex<&'a mut dyn Observer>>,
    wants: Wants,
    code: &'a Code,
}

impl<'a> Told<'a> {
    fn lock(&self) -> MutexGuard<'_, &'a mut dyn Observer> {
        // One that panicked is told no more: the panic ends the launch.
        self.observer.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl observer::Observer for Told<'_> {
    fn fork(&self) -> Self {
        Told { observer: self.observer.clone(), wants: self.wants, code: self.code }
    }

    fn wants_all(&self, _: u32) -> bool {
        true
    }

    fn merge(&mut self, _: Self) {}

    fn before(&mut self, _: &Machine<'_>, _: u32, _: Mask) {}

    fn after(&mut self, m: &Machine<'_>, pc: u32, mask: Mask, _: u32) {
        let ended = self.wants.threads && matches!(m.t.status, Status::Done | Status::Trapped);
        let accessed = self.wants.accesses && !m.accesses.is_empty();
        let counts = m.env.program.code().get(pc as usize).is_some_and(|i| !i.is_auxiliary());
        let executes = self.wants.instructions && counts;
        if !(executes || accessed || ended) {
            return;
        }
        let (group, thread) = (m.group.id, m.t.index);
        let executed = Executed { group, thread, channels: mask, code: self.code, machine: m, pc };
        let mut observer = self.lock();
        if accessed {
            m.accesses.iter().for_each(|a| observer.access(&access(&a), &executed));
        }
        if executes {
            observer.instruction(&executed);
        }
        if ended {
            observer.thread_ended(group, thread);
        }
    }

    fn start(&mut self, m: &Machine<'_>) {
        if self.wants.threads {
            self.lock().thread_started(m.group.id, m.t.index);
        }
    }
}

impl From<messages::AccessSpace> for Space {
    fn from(space: messages::AccessSpace) -> Space {
        match space {
            messages::AccessSpace::Flat => Space::Global,
            messages::AccessSpace::Slm => Space::Local,
            messages::AccessSpace::Surface(i) => Space::Surface(i),
            messages::AccessSpace::State => Space::Scratch,
            messages::AccessSpace::Counter(i) => Space::Counter(i),
            messages::AccessSpace::Urb => Space::ReturnBuffer,
        }
    }
}

fn access(a: &messages::Access) -> Accessed {
    Accessed {
        channel: a.channel.into(),
        space: a.space.into(),
        address: a.address,
        bytes: a.bytes,
        kind: match a.kind {
            messages::AccessKind::Read => AccessKind::Read,
            messages::AccessKind::Write => AccessKind::Write,
            messages::AccessKind::Atomic => AccessKind::Atomic,
        },
        outside: a.outside,
    }
}
