//! The interface between the machine and the engines that execute programs.
//!
//! An [`Engine`] makes a [`Translation`] of a program, once. A launch asks that for a [`Worker`] for each host
//! thread, which runs ranges of groups. An engine may refuse a program, or a launch of it: the interpreter, which
//! refuses none, runs it then. An engine may leave single instructions, or the rest of a thread, to the interpreter
//! as well: it is given [`Instructions`] of the same program.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use envisa_lower::{Pc, Program};

use crate::dispatch::Prepared;
use crate::link::Linked;
use crate::local_shadow::Noting;
use crate::thread::{Env, Machine};
use crate::thread_order::Order;
use crate::trap::Trap;

/// A way to execute programs.
pub trait Engine: Send + Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Makes a program ready to run; `None`: it refuses. `rest` executes instructions of the same program.
    fn translate(&self, program: &Program, rest: &Arc<dyn Instructions>) -> Option<Box<dyn Translation>>;
}

/// What an engine has yet to make: known to itself.
pub type Wanted = Box<dyn std::any::Any + Send>;

/// A program as an engine made it ready.
pub trait Translation: Send + Sync {
    /// Does it run this launch, whose view is of the program that it was made of?
    fn accepts_launch(&self, launch: &LaunchView<'_>) -> bool;

    /// What it has yet to make before it runs such a launch, if that takes its time: to be given to [`Translation::make`],
    /// by whoever has time. `None`: nothing.
    fn wants(&self, _: &LaunchView<'_>) -> Option<Wanted> {
        None
    }

    /// Makes what it wants, or, given something else, what launches of all kinds want.
    fn make(&self, _: Wanted) {}

    /// What it leaves to others in such a launch.
    ///
    /// # Errors
    /// Why it does not accept the launch.
    fn left(&self, launch: &LaunchView<'_>) -> Result<Left, String>;

    /// What runs threads of a launch whose observer has said what it wants to be told of
    /// ([`Env::interest`](crate::thread::Env::interest)), and stops at that; `None` if nothing does.
    fn observed_threads<'a>(&'a self, _: &'a LaunchView<'a>) -> Option<Box<dyn ObservedThreads + 'a>> {
        None
    }

    /// A worker, for one host thread, of a launch that it accepts; `number`: the host thread's, below the number of
    /// host threads that the launch was prepared for.
    ///
    /// # Errors
    /// The launch's fault, if the host lacks what the worker needs.
    fn new_worker<'a>(
        &'a self,
        launch: &'a LaunchView<'a>,
        number: u32,
    ) -> Result<Box<dyn Worker + 'a>, Box<Trap>>;
}

/// Runs threads natively between the instructions that an observer is told of.
pub trait ObservedThreads {
    /// Runs a thread as [`Run::run`](crate::group::Run::run) does; `told` executes what the observer is told of. Does it
    /// also run the rest of the thread, if there is some? Else that is for the interpreter.
    fn run(&mut self, m: &mut Machine<'_>, fresh: bool, stop: &Stop, told: &mut dyn Told) -> bool;
}

/// Executes instructions that an observer is told of, for an engine that runs those in between.
pub trait Told {
    /// Executes the instruction at `pc`, as [`Instructions::instruction`] does. `alone`: a message, for the channels of
    /// `m.t.mask`, which are counted from its first one.
    fn instruction(&mut self, m: &mut Machine<'_>, pc: u32, alone: bool) -> u32;

    /// Does the observer want to be told of all that a thread does?
    fn wants_all(&self, thread: u32) -> bool;

    /// The engine cannot stop there: the thread goes on untold.
    fn forget(&mut self, m: &Machine<'_>);

    /// What native code notes a thread's accesses to shared local memory with; `None`: it stops at each.
    fn local_shadow(&mut self, m: &Machine<'_>) -> Option<Noting<'_>>;

    /// The bytes of shared local memory that a message may access unlooked at, as far as that is known.
    fn local_range(&self, pc: u32) -> Range<u32>;

    /// Runs a thread from `m.t.pc` on until it ends, waits or faults, and tells the observer of all that it does.
    fn run(&mut self, m: &mut Machine<'_>);
}

/// What an engine leaves to others in a launch, and why.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// Instructions that the interpreter executes.
    pub instructions: Vec<(Pc, &'static str)>,
    /// Why the machine's scheduler lets threads of a group take turns, where threads of a group wait for each other: in
    /// all groups, or in some.
    pub scheduled: Vec<&'static str>,
    /// Bytes of the code that runs such a launch; 0 of engines that make none.
    pub code_bytes: usize,
}

/// Runs groups of a launch, on one host thread.
pub trait Worker {
    /// Runs the groups of these numbers in order, up to the first that faults; gives its number and fault. Asks
    /// `stop` before each group whether it is still wanted.
    fn groups(&mut self, numbers: Range<u64>, stop: &Stop) -> Option<(u64, Box<Trap>)>;
}

impl<W: Worker + ?Sized> Worker for Box<W> {
    fn groups(&mut self, numbers: Range<u64>, stop: &Stop) -> Option<(u64, Box<Trap>)> {
        (**self).groups(numbers, stop)
    }
}

/// Executes a program's instructions one by one, with the state that the machine has: the interpreter, for other
/// engines.
pub trait Instructions: Send + Sync {
    /// Executes the instruction at `pc` for the channels of `m.t.mask`. Gives the next program counter, which is
    /// `pc` itself if the instruction wants to be executed again, or [`STOP`](crate::thread::STOP) if the thread
    /// ended, waits or faulted; `m.t.status`, `m.t.pc` and `m.trap` say which.
    fn instruction(&self, m: &mut Machine<'_>, pc: u32) -> u32;

    /// Runs a thread from `m.t.pc` on until it ends, waits or faults.
    fn run(&self, m: &mut Machine<'_>);

    /// The same, but at most so many instructions, and not into one whose flags have [`flag::STOP`], unless it is the
    /// first; `m.t.pc` says where it goes on. Gives how many were executed, and the last one.
    fn run_to(&self, m: &mut Machine<'_>, flags: &[u8], most: u64) -> (u64, u32);
}

/// What is said of instructions to [`Instructions::run_to`], by program counter.
pub mod flag {
    /// Stop before it.
    pub const STOP: u8 = 1;
    /// It is a message: these may want to be executed again, which is one execution all the same.
    pub const MESSAGE: u8 = 2;
}

/// A launch as workers see it.
pub struct LaunchView<'a> {
    /// What all threads share, with the program that runs.
    pub env: Env<'a>,
    /// Groups, register images, sizes.
    pub prepared: &'a Prepared,
    /// Instructions a thread may execute (counted at branches) before it is stopped.
    pub limit: u64,
    /// Registers that are zero when a thread with all its channels starts; others hold what an earlier one left, as nothing
    /// reads them before it writes them.
    pub cleared: &'a [Range<u32>],
    /// In which order groups start, and threads take turns.
    pub order: Order,
}

impl<'a> LaunchView<'a> {
    /// Of a launch of `program`; `observed`: somebody wants to be told of memory accesses.
    pub fn new(
        program: &'a Program,
        prepared: &'a Prepared,
        linked: &'a Linked,
        limit: u64,
        observed: bool,
    ) -> LaunchView<'a> {
        let env = Env {
            program,
            memory: &prepared.map,
            surfaces: &prepared.surfaces,
            samplers: &prepared.samplers,
            state: &prepared.window,
            scratch_bytes: prepared.scratch_bytes() as u64,
            symbols: &linked.symbols,
            function_addresses: &linked.functions,
            groups: prepared.groups,
            observed,
            interest: OnceLock::new(),
            dropped: &prepared.dropped,
            regrouped: prepared.regrouped.as_ref(),
            asked: prepared.asked.as_deref(),
            stray_reads: false,
            local_regions: &prepared.local_regions,
            private: prepared.private,
            names: &prepared.names,
            inputs: prepared.inputs(),
        };
        LaunchView { env, prepared, limit, cleared: &program.registers().fresh, order: Order::Forward }
    }

    /// The same with these registers cleared.
    #[must_use]
    pub fn with_cleared_registers(mut self, cleared: &'a [Range<u32>]) -> LaunchView<'a> {
        self.cleared = cleared;
        self
    }

    /// The same in another order.
    #[must_use]
    pub fn in_order(mut self, order: Order) -> LaunchView<'a> {
        self.order = order;
        self
    }

    /// The same with reads of registers at addresses outside of every variable as told.
    #[must_use]
    pub fn allow_stray_reads(mut self, allowed: bool) -> LaunchView<'a> {
        self.env.stray_reads = allowed;
        self
    }
}

/// Whether anybody wants a launch to go on.
#[derive(Debug)]
pub struct Stop {
    /// From which group on nothing need run any more, as a lower one faulted.
    before: AtomicU64,
    /// Nothing need go on, as a group faulted that others may wait for.
    ended: AtomicBool,
    cancel: Option<Cancel>,
}

impl Stop {
    /// Until it is cancelled, if it can be.
    pub fn new(cancel: Option<Cancel>) -> Stop {
        Stop { before: AtomicU64::new(u64::MAX), ended: AtomicBool::new(false), cancel }
    }

    /// Was the launch cancelled? Its workers then stop within some milliseconds, with [`Cause::Cancelled`] and where
    /// their threads stand.
    ///
    /// [`Cause::Cancelled`]: crate::trap::Cause::Cancelled
    #[inline]
    pub fn cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(Cancel::is_cancelled) || self.ended.load(Ordering::Relaxed)
    }

    /// Ends all groups, as if the launch was cancelled.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Need this group not run?
    #[inline]
    pub fn before(&self, group: u64) -> bool {
        group >= self.before.load(Ordering::Relaxed)
    }

    /// Groups from this one on need not run.
    pub fn at(&self, group: u64) {
        self.before.fetch_min(group, Ordering::Relaxed);
    }
}

/// Ends launches from another host thread. Clones end the same ones.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// One that nobody has used.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Ends the launches that were given it: soon, each thread at a branch, and those that begin later at once. All
    /// that they did before stays.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Was it used?
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
