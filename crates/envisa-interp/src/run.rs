//! Runs launches of programs: interpreted, or by the engine that they were translated by.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use envisa_lower::{BadProgram, Pc, Program};
use envisa_machine::cpu::Level;
use envisa_machine::dispatch::Prepared;
use envisa_machine::engine::{
    Engine, Instructions, LaunchView, Left, ObservedThreads, Stop, Told, Translation, Wanted, Worker, flag,
};
use envisa_machine::group::{Groups, Run};
use envisa_machine::interest::Tell;
use envisa_machine::link::Linked;
use envisa_machine::local_shadow::Noting;
use envisa_machine::observer::Observer;
use envisa_machine::scheduler;
use envisa_machine::thread::{Machine, STOP};
use envisa_machine::trap::Trap;
use envisa_machine::{Outcome, RunOptions};

use crate::{At, Code, cpu_level};

/// A program decoded for this machine's CPU: as it was written, for observers, and improved.
pub struct Executable {
    program: Program,
    /// Decoded when an observer comes.
    code: OnceLock<Code>,
    fast: Program,
    fast_code: Code,
    /// Registers that observed threads need cleared, once they run natively in between.
    cleared: OnceLock<Vec<std::ops::Range<u32>>>,
    /// The improved program as another engine has it.
    translation: OnceLock<Option<Box<dyn Translation>>>,
    /// The program as it was written, as another engine has it.
    written_translation: OnceLock<Option<Box<dyn Translation>>>,
    /// Threads that launches had for which it was not translated.
    untranslated: AtomicU64,
    /// Something of its translation is being made beside launches.
    making: AtomicBool,
}

/// When a translation pays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TranslationBenefit {
    /// At once: the launch is to wait for it.
    Now,
    /// If it is made beside: this launch is to be interpreted where it is not there.
    Beside,
    /// Not yet.
    NotYet,
}

/// What is to be made of a translation beside launches; first of all, what is the same for all of them.
pub struct Job(Option<Wanted>);

/// Translating costs about as much as interpreting the instructions for so many threads…
const THREADS_FOR_A_TRANSLATION: u64 = 256;
/// …and what there is of it for any program is as much as interpreting so many instructions.
const INSTRUCTIONS_FOR_A_TRANSLATION: u64 = 1 << 14;
/// It is made beside launches once they cost this part of it.
const PART_FOR_ONE_BESIDE: u64 = 128;

impl Executable {
    /// Decodes a program.
    ///
    /// # Errors
    /// The improved program is damaged: a bug of the optimiser.
    pub fn new(program: Program) -> Result<Executable, BadProgram> {
        let fast = envisa_lower::optimize(&program)?;
        let fast_code = Code::new(&fast, Level::detect(), false);
        let (code, cleared, translation, written_translation) = Default::default();
        let (untranslated, making) = (AtomicU64::new(0), AtomicBool::new(false));
        Ok(Executable {
            program,
            code,
            fast,
            fast_code,
            cleared,
            translation,
            written_translation,
            untranslated,
            making,
        })
    }

    /// Has another engine translated it?
    pub fn is_translated(&self) -> bool {
        matches!(self.translation.get(), Some(Some(_)))
    }

    /// Does translating it pay for a launch of so many threads? Not where they run each instruction once at most, and
    /// interpreting them, and those of the launches before, costs less than the translation: the first launches of a
    /// small kernel. Nobody waits for it where it is made beside them.
    pub fn translation_benefit(&self, threads: u64) -> TranslationBenefit {
        if !self.fast.runs_forward() {
            return TranslationBenefit::Now;
        }
        let instructions = self.fast.code().len() as u64;
        let before = self.untranslated.fetch_add(threads, Ordering::Relaxed);
        let interpreted = before.saturating_add(threads).saturating_mul(instructions);
        let cost = THREADS_FOR_A_TRANSLATION * instructions + INSTRUCTIONS_FOR_A_TRANSLATION;
        match interpreted {
            n if n > cost => TranslationBenefit::Now,
            n if n > cost / PART_FOR_ONE_BESIDE || self.translation.get().is_some() => {
                TranslationBenefit::Beside
            }
            _ => TranslationBenefit::NotYet,
        }
    }

    /// Lets one who makes something of its translation begin; `false`: another one is at it.
    pub fn begins(&self) -> bool {
        !self.making.swap(true, Ordering::Acquire)
    }

    /// Makes what [`run_if_translated`] asked for, after [`Executable::begins`].
    pub fn make(&self, job: Job, engine: &dyn Engine) {
        self.translate(engine);
        if let Some(Some(t)) = self.translation.get() {
            t.make(job.0.unwrap_or_else(|| Box::new(())));
        }
        self.making.store(false, Ordering::Release);
    }

    /// Has an engine translate it, once; `false` if that refuses. [`run_translated`] runs the translation then, as far
    /// as it accepts a launch.
    pub fn translate(&self, engine: &dyn Engine) -> bool {
        let translate = || engine.translate(&self.fast, &self.instructions());
        self.translation.get_or_init(translate).is_some()
    }

    /// The same of the program as it was written, for launches that somebody observes.
    fn translate_written(&self, engine: &dyn Engine) -> Option<&dyn Translation> {
        let translate = || engine.translate(&self.program, &self.written());
        self.written_translation.get_or_init(translate).as_deref()
    }

    /// What executes single instructions of the improved program, for other engines.
    pub fn instructions(&self) -> Arc<dyn Instructions> {
        Arc::new(Single { program: self.fast.clone(), code: OnceLock::new() })
    }

    /// What executes single instructions of the program as it was written, for debuggers.
    pub fn written(&self) -> Arc<dyn Instructions> {
        Arc::new(Single { program: self.program.clone(), code: OnceLock::new() })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The program as it runs without an observer.
    pub fn optimized(&self) -> &Program {
        &self.fast
    }
}

impl Translation for Code {
    fn accepts_launch(&self, _: &LaunchView<'_>) -> bool {
        true
    }

    fn left(&self, _: &LaunchView<'_>) -> Result<Left, String> {
        let all = 0..self.program.code().len() as Pc;
        let instructions = all.map(|pc| (pc, "all is interpreted")).collect();
        Ok(Left { instructions, ..Left::default() })
    }

    fn new_worker<'a>(
        &'a self,
        launch: &'a LaunchView<'a>,
        number: u32,
    ) -> Result<Box<dyn Worker + 'a>, Box<Trap>> {
        Ok(Box::new(Groups::new(launch, number, Unobserved(self))?))
    }
}

/// Executes single instructions of a program, which is decoded when the first of them is asked for.
struct Single {
    program: Program,
    code: OnceLock<Code>,
}

impl Single {
    fn code(&self) -> &Code {
        self.code.get_or_init(|| Code::new(&self.program, Level::detect(), true))
    }
}

impl Instructions for Single {
    fn instruction(&self, m: &mut Machine<'_>, pc: u32) -> u32 {
        let code = self.code();
        code.admit(m);
        match code.cells.get(pc as usize) {
            Some(cell) => cpu_level::call(cell.run, m, At { cell, code }, pc),
            None => m.fault(pc, None, envisa_machine::Cause::FellOff),
        }
    }

    fn run(&self, m: &mut Machine<'_>) {
        Code::run(self.code(), m);
    }

    fn run_to(&self, m: &mut Machine<'_>, flags: &[u8], most: u64) -> (u64, u32) {
        let code = self.code();
        code.admit(m);
        let (mut pc, mut ran, mut last) = (m.t.pc, 0, m.t.pc);
        while ran < most {
            last = pc;
            let next = match code.cells.get(pc as usize) {
                Some(cell) => cpu_level::call(cell.run, m, At { cell, code }, pc),
                None => m.fault(pc, None, envisa_machine::Cause::FellOff),
            };
            if next == pc && flags.get(pc as usize).is_some_and(|f| f & flag::MESSAGE != 0) {
                continue;
            }
            ran += 1;
            if next == STOP {
                return (ran, last);
            }
            pc = next;
            if flags.get(pc as usize).is_some_and(|f| f & flag::STOP != 0) {
                break;
            }
        }
        m.t.pc = pc;
        (ran, last)
    }
}

/// Runs threads, telling nobody.
struct Unobserved<'a>(&'a Code);

impl Run for Unobserved<'_> {
    #[inline(always)]
    fn run(&mut self, m: &mut Machine<'_>, _: bool, _: &Stop) {
        self.0.run(m);
    }
}

/// Runs threads, telling an observer.
struct Observed<'a, O> {
    code: &'a Code,
    observer: &'a mut O,
    /// The launch and who translated its program, until the observer has said what it wants to be told of.
    native: Option<(&'a LaunchView<'a>, &'a dyn Translation)>,
    /// What runs threads natively in between, and the threads of the group of which it runs the rest.
    between: Option<Box<dyn ObservedThreads + 'a>>,
    natively: Vec<bool>,
}

impl<O: Observer> Run for Observed<'_, O> {
    fn run(&mut self, m: &mut Machine<'_>, fresh: bool, stop: &Stop) {
        let Observed { code, observer, native, between, natively } = self;
        if fresh {
            observer.start(m);
        }
        if m.env.interest.get().is_some()
            && let Some((launch, translation)) = native.take()
        {
            *between = translation.observed_threads(launch);
        }
        let Some(between) = between else { return code.run_observed(m, *observer) };
        let thread = m.t.index as usize;
        if natively.len() <= thread {
            natively.resize(thread + 1, false);
        }
        if if fresh { !observer.wants_all(m.t.index) } else { natively[thread] } {
            let told = &mut Watched { code, observer: *observer };
            natively[thread] = between.run(m, fresh, stop, told);
        } else {
            natively[thread] = false;
            code.run_observed(m, *observer);
        }
    }
}

/// Executes instructions for native code, telling an observer.
struct Watched<'a, O> {
    code: &'a Code,
    observer: &'a mut O,
}

impl<O: Observer> Told for Watched<'_, O> {
    fn instruction(&mut self, m: &mut Machine<'_>, pc: u32, alone: bool) -> u32 {
        let Some((cell, i)) = self.code.cells.get(pc as usize).zip(m.env.program.code().get(pc as usize))
        else {
            return m.fault(pc, None, envisa_machine::Cause::FellOff);
        };
        let tell = m.env.interest.get().map_or(Tell::Always, |interest| interest.of(pc));
        let mut next = pc;
        if !alone {
            self.code.admit(m);
            self.code.one_observed(m, self.observer, (pc, cell), tell, &mut next);
            return next;
        }
        m.accesses.clear();
        let mask = m.t.mask;
        next = m.message(pc, i.aux, mask, i.channels.into(), i.first.into());
        if !m.accesses.is_empty() {
            self.observer.accessed(m, pc, mask, next);
        }
        next
    }

    fn wants_all(&self, thread: u32) -> bool {
        self.observer.wants_all(thread)
    }

    fn forget(&mut self, m: &Machine<'_>) {
        self.observer.forget(m);
    }

    fn local_shadow(&mut self, m: &Machine<'_>) -> Option<Noting<'_>> {
        self.observer.local_shadow(m)
    }

    fn local_range(&self, pc: u32) -> std::ops::Range<u32> {
        self.observer.local_range(pc)
    }

    fn run(&mut self, m: &mut Machine<'_>) {
        self.code.run_observed(m, self.observer);
    }
}

/// A launch that nobody observes.
fn unobserved_launch<'a>(
    exe: &'a Executable,
    prepared: &'a Prepared,
    linked: &'a Linked,
    options: &RunOptions,
) -> LaunchView<'a> {
    let launch = LaunchView::new(&exe.fast, prepared, linked, options.limit, false).in_order(options.order);
    launch.allow_stray_reads(options.stray_reads)
}

/// Runs a prepared launch, interpreted.
pub fn run(exe: &Executable, prepared: &Prepared, linked: &Linked, options: &RunOptions) -> Outcome {
    let launch = unobserved_launch(exe, prepared, linked, options);
    scheduler::run(&launch, options, |i| Groups::new(&launch, i, Unobserved(&exe.fast_code)))
}

/// Runs a prepared launch by the engine that translated the program, if one did and takes the launch; else
/// interpreted.
pub fn run_translated(
    exe: &Executable,
    prepared: &Prepared,
    linked: &Linked,
    options: &RunOptions,
) -> Outcome {
    let launch = unobserved_launch(exe, prepared, linked, options);
    match exe.translation.get() {
        Some(Some(t)) if t.accepts_launch(&launch) => {
            scheduler::run(&launch, options, |i| t.new_worker(&launch, i))
        }
        _ => scheduler::run(&launch, options, |i| Groups::new(&launch, i, Unobserved(&exe.fast_code))),
    }
}

/// The same if all that this takes is made; else the launch is interpreted, and `beside` is given what is to be made for
/// the next ones.
pub fn run_if_translated(
    exe: &Executable,
    prepared: &Prepared,
    linked: &Linked,
    options: &RunOptions,
    beside: impl FnOnce(Job),
) -> Outcome {
    let launch = unobserved_launch(exe, prepared, linked, options);
    let wanted = match exe.translation.get() {
        None => Some(Job(None)),
        Some(None) => None,
        Some(Some(t)) => match t.wants(&launch) {
            None => return run_translated(exe, prepared, linked, options),
            wanted => Some(Job(wanted)),
        },
    };
    if let Some(job) = wanted {
        beside(job);
    }
    run(exe, prepared, linked, options)
}

/// What the engine that translated the program which runs unobserved leaves to others in this launch: instructions are
/// of that program.
///
/// # Errors
/// Why that engine does not run the launch.
pub fn unsupported_parts(exe: &Executable, prepared: &Prepared, linked: &Linked) -> Result<Left, String> {
    let launch = LaunchView::new(&exe.fast, prepared, linked, u64::MAX, false);
    match exe.translation.get() {
        Some(Some(t)) => t.left(&launch),
        _ => Err("no engine translated the program".into()),
    }
}

/// Does the observer want to be told of nothing in a launch?
fn wants_none<O: Observer>(launch: &LaunchView<'_>, observer: &mut O) -> bool {
    let mut none = false;
    if let Ok(mut groups) = Groups::new(launch, 0, Asks { observer, none: &mut none }) {
        groups.groups(0..1, &Stop::new(None));
    }
    none
}

/// Asks an observer by a first thread what it wants to be told of, and runs no thread.
struct Asks<'a, O> {
    observer: &'a mut O,
    none: &'a mut bool,
}

impl<O: Observer> Run for Asks<'_, O> {
    fn run(&mut self, m: &mut Machine<'_>, _: bool, _: &Stop) {
        *self.none = self.observer.wants_none(m);
        m.fault(m.t.pc, None, envisa_machine::Cause::Cancelled);
    }
}

/// Runs a prepared launch, observed: interpreted, or where the observer says what it wants to be told of, by an engine in
/// between.
pub fn run_observed<O: Observer>(
    exe: &Executable,
    prepared: &Prepared,
    linked: &Linked,
    options: &RunOptions,
    (observer, engine): (&mut O, Option<&dyn Engine>),
) -> Outcome {
    let code = exe.code.get_or_init(|| Code::new(&exe.program, Level::detect(), true));
    let launch = LaunchView::new(&exe.program, prepared, linked, options.limit, true).in_order(options.order);
    if wants_none(&launch, observer) {
        if let Some(engine) = engine {
            exe.translate(engine);
        }
        return run_translated(exe, prepared, linked, options);
    }
    let translation = engine.and_then(|engine| exe.translate_written(engine));
    let cleared = || envisa_lower::read_before_written(&exe.program);
    let launch = match translation {
        Some(_) => launch.with_cleared_registers(exe.cleared.get_or_init(cleared)),
        None => launch,
    };
    let workers = options.worker_count(prepared.group_count());
    let mut forks: Vec<O> = (1..workers).map(|_| observer.fork()).collect();
    // Each worker takes its own.
    let places: Vec<Mutex<Option<&mut O>>> =
        std::iter::once(&mut *observer).chain(&mut forks).map(|o| Mutex::new(Some(o))).collect();
    let outcome = scheduler::run(&launch, options, |i| {
        let mine = places[i as usize].lock().unwrap_or_else(|e| e.into_inner()).take();
        let observer = mine.expect("the scheduler asks for each worker once");
        let native = translation.map(|t| (&launch, t));
        Groups::new(&launch, i, Observed { code, observer, native, between: None, natively: Vec::new() })
    });
    drop(places);
    forks.into_iter().for_each(|o| observer.merge(o));
    outcome
}
