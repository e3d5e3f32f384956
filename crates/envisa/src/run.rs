//! Launches whose arguments were checked, and their outcomes.

use crate::bound_arguments::{BoundLaunch, bind};
use crate::device::Device;
use crate::engine_choice::{EngineChoice, Left};
use crate::error::Error;
use crate::fault::{Fault, Place};
use crate::finding::Finding;
use crate::kernel::{Code, Kernel};
use crate::launch::{Arg, ArgKey, Launch, Regroup};
use crate::launch_observers::{FinalRegisters, Instruments};
use crate::profile::Profile;
use crate::run_statistics::{Native, Statistics};
use crate::work_items::WorkItems;
use envisa_machine::dispatch::{
    self, LaunchError, LaunchKey, MAX_GROUP_ITEMS, Prepared, ReadyLaunch, Resources,
};
use envisa_machine::memory::{Memory, Names};
use envisa_machine::observer::Observer;
use envisa_machine::thread_order::Order;
use envisa_machine::trap::Cause;
use envisa_machine::{RunOptions, Trap};
use envisa_sanitize::{Checks, Elements, ImagePlace, LaunchFacts, ProgramFacts, Stats, pointed_bytes};
use envisa_zebin::dwarf::LocalVariable;
use serde::Serialize;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A launch, its arguments checked: [`Run::wait`] runs it. It keeps its buffers and its kernel alive.
#[must_use = "nothing runs until `wait`"]
pub struct Run {
    device: Device,
    kernel: Kernel,
    launch: Launch,
    bound: BoundLaunch,
}

/// What a launch came to.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The fault that ended it, if one did: that of the lowest group.
    pub fault: Option<Box<Fault>>,
    /// What the kernel printed, also before a fault.
    pub printed: String,
    /// Some of what it printed was lost: its buffer was full.
    pub printed_incomplete: bool,
    /// Work-items of the range; of thread groups, channels of all threads.
    pub work_items: u64,
    /// From the first group's start to the end of the last.
    pub time: Duration,
    /// What the checks found, if they were asked for.
    pub findings: Option<Vec<Finding>>,
    /// The accesses that the device dropped, if there were some: outside of a surface, of local memory, of scratch, of
    /// an image.
    pub dropped: Option<Dropped>,
    /// What the checks could not look at.
    pub not_checked: Option<String>,
    /// The bytes that it accessed, if they were asked for.
    pub footprint: Option<Footprint>,
    /// Statistics, if they were asked for.
    pub statistics: Option<Statistics>,
    /// The profile, if it was asked for.
    pub profile: Option<Profile>,
    /// What the variables asked for held when threads ended, by group and thread.
    pub registers: Vec<ThreadRegisters>,
}

impl Outcome {
    /// Adds what another run of the same launch, in another order, found and this one did not: its findings, and its
    /// fault if this run had none.
    pub fn add_other_order(&mut self, mut other: Outcome) {
        if let (true, Some(fault), Some(found)) =
            (self.fault.is_some(), &mut other.fault, &mut other.findings)
        {
            found.append(&mut fault.also);
        }
        if let (Some(mine), Some(found)) = (&mut self.findings, other.findings) {
            let mut all = crate::causes::flatten_causes(std::mem::take(mine));
            let found = crate::causes::flatten_causes(found);
            let new: Vec<Finding> =
                found.into_iter().filter(|f| !all.iter().any(|m| m.is_same_place(f))).collect();
            all.extend(new);
            *mine = crate::causes::group_by_cause(all);
        }
        self.fault = self.fault.take().or(other.fault);
        self.not_checked = self.not_checked.take().or(other.not_checked);
        self.put_to_fault();
    }

    /// Findings that have the cause of the fault are told with it.
    fn put_to_fault(&mut self) {
        let (Some(fault), Some(findings)) = (&mut self.fault, &mut self.findings) else { return };
        for f in findings.extract_if(.., |f| crate::causes::has_same_cause(f, fault)).collect::<Vec<_>>() {
            if !fault.also.iter().any(|other| other.is_same_place(&f)) {
                fault.also.push(f);
            }
        }
    }
}

/// The bytes of buffers and images that a launch accessed, by address, in order. What atomics change they read and
/// write.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Footprint {
    /// Read.
    pub read: Vec<Range<u64>>,
    /// Written.
    pub written: Vec<Range<u64>>,
    /// Some of these bytes may have been read, too: which, is not known. Empty without
    /// [`Launch::rough_reads`](crate::Launch::rough_reads).
    pub may_read: Vec<Range<u64>>,
}

/// What variables held when a thread ended, or was stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ThreadRegisters {
    /// The group.
    pub group: [u32; 3],
    /// The thread in its group.
    pub thread: u32,
    /// The bytes of each variable, in the order asked for; empty of a name that is not a variable.
    pub variables: Vec<Vec<u8>>,
}

/// What came of a run; the machine's own fault; what native code would leave to the interpreter, if that was asked for.
pub(crate) struct RunEnd {
    pub outcome: Outcome,
    pub trap: Option<Box<Trap>>,
    /// What native code leaves to the interpreter, if that was asked for.
    pub left: Option<Left>,
    /// Which work-items its channels are.
    pub items: Option<WorkItems>,
    /// It ran in other groups than was asked for.
    pub regrouped: bool,
}

/// Accesses that the device dropped.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Dropped {
    /// Reads, which gave what the device gives there.
    pub reads: u64,
    /// Writes and atomics, which changed nothing.
    pub writes: u64,
    /// Where the first one of the lowest group is; of native code that runs a launch in other groups than was asked for, one of
    /// the first ones.
    #[serde(flatten)]
    pub place: Place,
    /// Its channel.
    pub channel: u32,
    /// Its thread in its group.
    pub thread: u32,
    /// Its group.
    pub group: [u32; 3],
}

impl Dropped {
    fn of(code: &Code, prepared: &Prepared) -> Option<Dropped> {
        let first = prepared.dropped.first()?;
        let (reads, writes) = prepared.dropped.counts();
        let functions = code.program().functions();
        let function = functions.get(usize::from(first.function)).map_or("", |f| f.name.as_str());
        let place = Place::new(code, function, first.instruction, first.span);
        Some(Dropped {
            reads,
            writes,
            place,
            channel: first.channel,
            thread: first.thread,
            group: first.group,
        })
    }

    /// In a sentence.
    pub fn message(&self) -> String {
        let many = |n: u64, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
        let what = match (self.reads, self.writes) {
            (n, 0) => many(n, "read"),
            (0, n) => many(n, "write"),
            (r, w) => format!("{} and {}", many(r, "read"), many(w, "write")),
        };
        let was = if self.reads + self.writes == 1 { "was" } else { "were" };
        let [x, y, z] = self.group;
        let at = match (&self.place.source, &self.place.visa) {
            (Some(line), _) => format!("{}:{}", line.file, line.line),
            (None, Some(line)) => format!("{}:{}", line.file, line.line),
            (None, None) => format!("instruction ${}", self.place.instruction),
        };
        format!(
            "{what} out of bounds {was} dropped, first at {at} by group ({x}, {y}, {z}), thread {}",
            self.thread
        )
    }
}

impl Run {
    pub(crate) fn new(device: &Device, kernel: &Kernel, launch: Launch) -> Result<Run, Error> {
        let bound = held_against(device, kernel, &launch)?;
        Ok(Run { device: device.clone(), kernel: kernel.clone(), launch, bound })
    }

    /// Runs it, on this host thread and others, and waits for its end.
    ///
    /// # Errors
    /// [`Error::Memory`]: there is none for the launch's private data; [`Error::Launch`], [`Error::Module`]: what
    /// the kernel asks for exceeds the device. A fault of the kernel is not an error: it is in the outcome.
    pub fn wait(self) -> Result<Outcome, Error> {
        let (check, statistics) = (self.launch.check, self.launch.statistics);
        let footprint = self.launch.footprint;
        let profile = self.launch.profile || self.launch.trace;
        if is_plain(&self.launch) {
            return self.execute(None::<&mut Instruments>).map(|done| done.outcome);
        }
        let mut instruments = Instruments {
            checks: check.then(|| {
                let others = statistics || profile || !self.launch.registers.is_empty();
                let alone = !others && !self.launch.at_length;
                let facts = check_facts(&self.kernel.code, &self.launch);
                let exact_reads = !self.launch.rough_reads;
                Checks::new(LaunchFacts { alone, footprint, exact_reads, ..facts })
            }),
            stats: statistics.then(Stats::default),
            profile: profile.then(|| envisa_sanitize::Profile::new(self.launch.trace)),
            // The checks see what is accessed anyhow.
            footprint: (footprint && !check).then(envisa_sanitize::Footprint::default),
            registers: (!self.launch.registers.is_empty()).then(|| FinalRegisters {
                wanted: self.launch.registers.clone(),
                ..FinalRegisters::default()
            }),
        };
        let kernel = self.kernel.clone();
        let RunEnd { mut outcome, left: native, items, .. } = self.execute(Some(&mut instruments))?;
        let code = &*kernel.code;
        if let Some(checks) = &instruments.checks {
            let all = checks.findings().iter().map(|f| Finding::new(code, f, items.as_ref())).collect();
            outcome.findings = Some(crate::causes::group_by_cause(crate::finding::merged(code, all)));
            outcome.not_checked = checks.not_checked();
            outcome.put_to_fault();
        }
        if let Some(f) = &instruments.footprint {
            outcome.footprint =
                Some(Footprint { read: f.read(), written: f.written(), may_read: Vec::new() });
        } else if let Some(checks) = instruments.checks.as_ref().filter(|_| footprint) {
            let envisa_sanitize::Accessed { read, written, may_read } = checks.footprint();
            outcome.footprint = Some(Footprint { read, written, may_read });
        }
        if let Some(stats) = &instruments.stats {
            let (time, items) = (outcome.time, outcome.work_items);
            let native = native.map(|left| Native::new(stats, &code.executable, left));
            outcome.statistics = Some(Statistics::new(stats, code.program(), time, items, native));
        }
        if let Some(profile) = instruments.profile {
            outcome.profile = Some(Profile::new(code, profile, outcome.work_items));
        }
        if let Some(registers) = instruments.registers {
            let one = |((group, thread), variables)| ThreadRegisters { group, thread, variables };
            outcome.registers = registers.threads.into_iter().map(one).collect();
        }
        Ok(outcome)
    }

    /// Prepares it for one host thread, and has `play` run it.
    pub(crate) fn staged<T>(
        self,
        play: impl FnOnce(&Kernel, &Launch, &Prepared, u64) -> T,
    ) -> Result<T, Error> {
        let Run { device, kernel, launch, bound } = self;
        let code = &*kernel.code;
        let options = RunOptions { jobs: 1, all_at_once: false, ..options(&device, code, &launch) };
        let red_zone = if launch.check { LOCAL_RED_ZONE } else { 0 };
        let mut ready = prepare(device.0.memory(), code, bound, &options, (red_zone, Regroup::Never))
            .map_err(|e| refused(code, e))?;
        let prepared = ready.prepared();
        prepared.names = names(code, &launch);
        Ok(play(&kernel, &launch, prepared, options.limit))
    }

    /// The kernel's code.
    pub(crate) fn code(&self) -> Arc<Code> {
        self.kernel.code.clone()
    }

    /// Does the launch ask for observers of our own?
    pub(crate) fn is_instrumented(&self) -> bool {
        let l = &self.launch;
        l.check || l.statistics || l.profile || l.trace || !l.registers.is_empty()
    }

    /// Runs it under an observer of the machine, or none. Under one, with what native code would leave to the
    /// interpreter, if that was asked for.
    pub(crate) fn execute<O: Observer>(self, observer: Option<&mut O>) -> Result<RunEnd, Error> {
        execute(&self.device, &self.kernel, &self.launch, self.bound, observer)
    }
}

/// Launches a kernel and waits for its end: as a [`Run`] that is waited for, but keeps nothing alive that the caller
/// does.
pub(crate) fn run(device: &Device, kernel: &Kernel, launch: Launch) -> Result<Outcome, Error> {
    if !is_plain(&launch) {
        return Run::new(device, kernel, launch)?.wait();
    }
    let bound = held_against(device, kernel, &launch)?;
    execute(device, kernel, &launch, bound, None::<&mut Instruments>).map(|done| done.outcome)
}

/// Is nobody to look on?
fn is_plain(l: &Launch) -> bool {
    let looks = l.check || l.statistics || l.footprint || l.profile || l.trace || !l.registers.is_empty();
    l.all_at_once || !looks
}

fn held_against(device: &Device, kernel: &Kernel, launch: &Launch) -> Result<BoundLaunch, Error> {
    if !kernel.module.is_of(device) {
        return Err(Error::Foreign("kernel"));
    }
    bind(device, &kernel.code, launch)
}

fn execute<O: Observer>(
    device: &Device,
    kernel: &Kernel,
    launch: &Launch,
    bound: BoundLaunch,
    observer: Option<&mut O>,
) -> Result<RunEnd, Error> {
    let engine = launch.engine.unwrap_or(device.config().engine);
    let plain =
        observer.is_none() && launch.order == Order::Forward && crate::engine_choice::may_be_native(engine);
    let regroup = if plain && !launch.all_at_once { launch.regroup } else { Regroup::Never };
    let done = execute_in_groups(device, kernel, launch, bound, observer, regroup)?;
    // The fault that counts is the first one in the order of the groups that were asked for.
    if done.regrouped && done.trap.as_ref().is_some_and(|t| t.cause != Cause::Cancelled) {
        let bound = held_against(device, kernel, launch)?;
        let never = Regroup::Never;
        let again = execute_in_groups(device, kernel, launch, bound, None::<&mut O>, never)?;
        if again.trap.is_some() {
            return Ok(again);
        }
    }
    Ok(done)
}

/// The same in the groups that were asked for, or perhaps in others.
fn execute_in_groups<O: Observer>(
    device: &Device,
    kernel: &Kernel,
    launch: &Launch,
    bound: BoundLaunch,
    observer: Option<&mut O>,
    regroup: Regroup,
) -> Result<RunEnd, Error> {
    let code = &*kernel.code;
    let mut options = options(device, code, launch);
    if launch.check && code.facts().hands_over() {
        options.jobs = 1;
    }
    let red_zone = if launch.check { LOCAL_RED_ZONE } else { 0 };
    let mut ready = prepare(device.0.memory(), code, bound, &options, (red_zone, regroup))
        .map_err(|e| refused(code, e))?;
    let prepared = ready.prepared();
    prepared.names = names(code, launch);
    prepared.asked.clone_from(&launch.asked);
    let prepared = &*prepared;
    let (exe, linked) = (&code.executable, &code.linked);
    let engine = launch.engine.unwrap_or(device.config().engine);
    let left = (observer.is_some() && crate::engine_choice::is_native_required(engine))
        .then(|| crate::engine_choice::left_to_interpreter(exe, prepared, linked));
    let mut done = match observer {
        None => match crate::engine_choice::choose_engine(exe, engine, prepared.thread_count()) {
            EngineChoice::Interpreted => envisa_interp::run(exe, prepared, linked, &options),
            EngineChoice::Unoptimized => {
                let told = (&mut crate::engine_choice::Unoptimized, None);
                envisa_interp::run_observed(exe, prepared, linked, &options, told)
            }
            EngineChoice::Native => envisa_interp::run_translated(exe, prepared, linked, &options),
            EngineChoice::NativeIfMade => {
                envisa_interp::run_if_translated(exe, prepared, linked, &options, |job| {
                    crate::engine_choice::make_in_background(&kernel.code, job);
                })
            }
        },
        Some(o) => {
            let native = crate::engine_choice::engine_between_observed(exe, engine, prepared.thread_count());
            envisa_interp::run_observed(exe, prepared, linked, &options, (o, native.as_deref()))
        }
    };
    if let Some(regrouped) = &prepared.regrouped {
        done.trap
            .iter_mut()
            .chain(&mut done.others)
            .for_each(|trap| trap.locate_in_requested_groups(regrouped));
    }
    let printed = prepared.printed().unwrap_or_default();
    let own_items = work_items(code, launch, prepared);
    // Where groups were made anew, channels are told as they ran.
    let known = own_items.as_ref().filter(|_| prepared.regrouped.is_none());
    let fault = |trap| {
        let elements = check_facts(code, launch).elements;
        Box::new(Fault::new(code, trap, &done.others).with(known, &elements))
    };
    let outcome = Outcome {
        fault: done.trap.as_deref().map(fault),
        printed: printed.text,
        printed_incomplete: printed.incomplete,
        work_items: items(prepared, launch, code),
        time: done.elapsed,
        dropped: Dropped::of(code, prepared),
        findings: None,
        not_checked: None,
        footprint: None,
        statistics: None,
        profile: None,
        registers: Vec::new(),
    };
    let regrouped = prepared.regrouped.is_some();
    // What checks had is not another launch's.
    if let (None, ToRun::Compiled(ready), 0) = (&done.trap, ready, red_zone) {
        code.remembered.remember(ready);
    }
    Ok(RunEnd { outcome, trap: done.trap, left, items: own_items, regrouped })
}

/// What the checks are told.
pub(crate) fn check_facts(code: &Code, launch: &Launch) -> LaunchFacts {
    let mut ranges: Vec<(Range<u64>, bool, String)> = Vec::new();
    let (mut of_four, mut elements, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    let images = launch.args.iter().filter_map(|(key, arg)| image_place(code, key, arg));
    for (key, arg) in &launch.args {
        match arg {
            Arg::Within(buffer) => whole.push(buffer.address()),
            Arg::Pointer(address) => whole.push(*address),
            _ => {}
        }
        let (Arg::Buffer(buffer) | Arg::Within(buffer), Ok(i)) =
            (arg, crate::bound_arguments::find(code, key))
        else {
            continue;
        };
        let Some(argument) = code.arguments.get(i) else { continue };
        let name = if buffer.name().is_empty() { &code.argument_names[i] } else { buffer.name() };
        let constant = argument.address_qualifier == "__constant"
            || argument.type_qualifiers.split_whitespace().any(|q| q == "const");
        let address = buffer.address();
        ranges.push((address..address + buffer.len(), constant, name.to_owned()));
        if let Some(bytes) = pointed_bytes(&argument.type_name) {
            elements.push(Elements {
                local: false,
                range: address..address + buffer.len(),
                name: argument.name.clone(),
                bytes,
                dimensions: vec![buffer.len() / bytes],
            });
        }
        if argument.type_name.trim_end_matches('*').ends_with('4') {
            of_four.push(address..address + buffer.len());
        }
    }
    let local_variables = code.metadata.as_ref().map_or(&[][..], |m| &m.local_variables);
    let arrays = local_variables.iter().filter_map(|v| {
        let count = v.dimensions.iter().try_fold(1u64, |n, d| n.checked_mul(*d)).filter(|n| *n > 0)?;
        Some(Elements {
            local: true,
            range: v.offset..v.offset.saturating_add(v.bytes),
            name: v.name.clone(),
            bytes: Some(v.bytes / count).filter(|n| *n > 0)?,
            dimensions: v.dimensions.clone(),
        })
    });
    elements.extend(arrays);
    let variables = code.metadata.as_ref().map_or_else(Vec::new, |m| m.variables.clone());
    elements.extend(variables.iter().filter_map(|(range, name)| {
        let shape = code.metadata.as_ref()?.functions.variable(name)?;
        let (range, name, dimensions) = (range.clone(), name.clone(), shape.dimensions.clone());
        Some(Elements { local: false, range, name, bytes: shape.bytes, dimensions })
    }));
    let variable = |v: &LocalVariable| (v.offset..v.offset.saturating_add(v.bytes), v.name.clone());
    let buffer_bytes = ranges.iter().fold(0u64, |n, r| n.saturating_add(r.0.end - r.0.start));
    let writable: Vec<Range<u64>> = ranges.iter().filter(|r| !r.1).map(|r| r.0.clone()).collect();
    let apart = |r: &Range<u64>| writable.iter().all(|w| w.end <= r.start || r.end <= w.start);
    let parts = ranges.iter().map(|r| (r.0.clone(), r.2.clone())).collect();
    let constant = ranges.into_iter().filter(|r| r.1 && apart(&r.0)).map(|r| (r.0, r.2));
    LaunchFacts {
        arguments: code.arguments.iter().map(|a| a.name.clone()).collect(),
        pointed: code.arguments.iter().map(|a| pointed_bytes(&a.type_name)).collect(),
        surfaces: code.metadata.as_ref().map_or_else(Vec::new, |m| {
            m.kernel.binding_table_indices.iter().map(|b| (b.bti_value, b.arg_index)).collect()
        }),
        in_step: code.metadata.is_none(),
        vector_code: code.metadata.as_ref().is_some_and(|m| m.kernel.execution_env.simd_size == 1),
        sub_groups: code.metadata.as_ref().map(|m| &m.kernel).is_some_and(|k| {
            k.execution_env.required_sub_group_size != 0
                || k.user_attributes.intel_reqd_sub_group_size.is_some()
        }),
        fresh: launch.fresh.clone(),
        records: launch.records.clone(),
        constant: constant.collect(),
        of_four,
        elements,
        variables,
        images: images.collect(),
        hints: launch.hints,
        checks_itself: launch.checks_itself,
        buffer_bytes,
        parts,
        whole,
        local_variables: local_variables.iter().map(variable).collect(),
        program: match launch.at_length {
            true => Arc::new(ProgramFacts::of(code.program(), true)),
            false => code.facts(),
        },
        alone: false,
        footprint: false,
        exact_reads: false,
    }
}

/// Where an image is that a kernel is given.
fn image_place(code: &Code, key: &ArgKey, arg: &Arg) -> Option<ImagePlace> {
    let Arg::Image(image) = arg else { return None };
    let (buffer, machine) = (image.buffer(), image.machine());
    let name = match buffer.name() {
        "" => code.argument_names.get(crate::bound_arguments::find(code, key).ok()?)?.clone(),
        name => name.to_owned(),
    };
    Some(ImagePlace { base: buffer.address().checked_sub(machine.start)?, image: machine, name })
}

/// Which work-items channels are; `None` of hand-written code, whose channels are none, and of code of the vector compiler.
pub(crate) fn work_items(code: &Code, launch: &Launch, prepared: &Prepared) -> Option<WorkItems> {
    code.metadata.as_ref().filter(|_| prepared.simd > 1)?;
    let crate::launch::Sizes::Range { global, .. } = &launch.sizes else { return None };
    let range = (global.numbers(), launch.offset.numbers());
    Some(WorkItems::new(range, (prepared.local, prepared.simd), code.id_order()))
}

fn options(device: &Device, code: &Code, launch: &Launch) -> RunOptions {
    RunOptions {
        jobs: launch.threads.unwrap_or(device.config().threads),
        limit: launch.limit,
        progress: launch.progress,
        cancel: launch.cancel.clone(),
        stray_reads: launch.stray_reads,
        learnt: Some(code.learnt.clone()),
        order: launch.order,
        all_at_once: launch.all_at_once,
    }
}

/// The native code of a kernel's launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// Instructions of the kernel that it is made of.
    pub instructions: usize,
    /// Bytes of machine code.
    pub code_bytes: usize,
}

/// Makes a launch's native code, and does not launch.
pub(crate) fn compile(device: &Device, kernel: &Kernel, launch: &Launch) -> Result<Compiled, Error> {
    let code = &*kernel.code;
    let (bound, options) = (held_against(device, kernel, launch)?, options(device, code, launch));
    let mut ready = prepare(device.0.memory(), code, bound, &options, (0, Regroup::Never))
        .map_err(|e| refused(code, e))?;
    let exe = &code.executable;
    let left = crate::engine_choice::left_to_interpreter(exe, ready.prepared(), &code.linked)
        .map_err(Error::Unsupported)?;
    if let ToRun::Compiled(ready) = ready {
        code.remembered.remember(ready);
    }
    Ok(Compiled { instructions: exe.optimized().code().len(), code_bytes: left.code_bytes })
}

/// Which arguments the buffers are that have no name of their own.
fn names(code: &Code, launch: &Launch) -> Names {
    let unnamed = |(key, arg): &(ArgKey, Arg)| {
        let buffer = match arg {
            Arg::Buffer(buffer) | Arg::Within(buffer) => buffer,
            Arg::Image(image) => image.buffer(),
            _ => return None,
        };
        let id = buffer.name().is_empty().then(|| buffer.allocation().0.id)?;
        Some((id, crate::bound_arguments::find(code, key).ok()? as u32))
    };
    let given: Vec<_> = launch.args.iter().filter_map(unnamed).collect();
    if given.is_empty() { Names::default() } else { Names::new(code.argument_names.clone(), given) }
}

/// Bytes between the parts of shared local memory of launches that are checked.
const LOCAL_RED_ZONE: u64 = 1024;

/// Work-items of a range; of thread groups, channels of all threads.
fn items(prepared: &Prepared, launch: &Launch, code: &Code) -> u64 {
    match &launch.sizes {
        crate::launch::Sizes::Range { global, .. } => {
            global.numbers().iter().fold(1, |n, d| n.saturating_mul(*d))
        }
        crate::launch::Sizes::Threads { threads, .. } => {
            let a_group = u64::from(*threads) * u64::from(code.program().simd());
            prepared.group_count().saturating_mul(a_group)
        }
    }
}

/// A launch, ready to run.
enum ToRun {
    Compiled(Box<ReadyLaunch>),
    Written(Box<Prepared>),
}

impl ToRun {
    fn prepared(&mut self) -> &mut Prepared {
        match self {
            ToRun::Compiled(ready) => &mut ready.prepared,
            ToRun::Written(prepared) => prepared,
        }
    }
}

/// Registers, surfaces and the launch's own memory.
fn prepare(
    memory: &Memory,
    code: &Code,
    bound: BoundLaunch,
    options: &RunOptions,
    (red_zone, regroup): (u64, Regroup),
) -> Result<ToRun, LaunchError> {
    let most = envisa_isa::limits::shared_local_memory(code.program().platform());
    let launch = match (bound, &code.metadata) {
        (BoundLaunch::Range(launch), Some(metadata)) => (launch, metadata),
        (BoundLaunch::Threads(b), _) => {
            let simd = code.program().simd();
            let mut prepared = dispatch::prepare_bare(
                memory,
                b.groups,
                b.threads,
                simd,
                b.image,
                b.surfaces,
                (b.local_memory, most),
            )?;
            prepared.samplers = b.samplers;
            return Ok(ToRun::Written(Box::new(prepared)));
        }
        (BoundLaunch::Range(_), None) => {
            return Err(LaunchError::Size("hand-written code has no work-items".into()));
        }
    };
    let (mut launch, metadata) = launch;
    let simd = metadata.kernel.execution_env.simd_size;
    let regrouped = match regroup {
        Regroup::IfBetter => dispatch::better_groups(&launch, simd, code.id_order())
            .filter(|_| code.accesses_neighbouring_memory()),
        Regroup::Anyhow => dispatch::any_other_groups(&launch, simd, code.id_order())
            .filter(|_| code.takes_global_ids_alone()),
        Regroup::Never => None,
    };
    if let Some(regrouped) = &regrouped {
        launch.local = regrouped.local();
    }
    let items = launch.local.iter().fold(1u64, |n, d| n.saturating_mul(u64::from(*d)));
    let threads = items.min(MAX_GROUP_ITEMS).div_ceil(simd.max(1).into()).max(1) as u32;
    // Sizes that make no sense are refused by `prepare`; here they must only not overflow.
    let groups = (0..3).fold(1u64, |n, d| {
        n.saturating_mul(launch.global[d].div_ceil(u64::from(launch.local[d].max(1))).max(1))
    });
    let asked = LaunchKey { slots: options.hardware_slots(groups, threads), red_zone, launch };
    if let Some(mut ready) = code.remembered.take(&asked, memory) {
        ready.prepared.regrouped = regrouped;
        return Ok(ToRun::Compiled(ready));
    }
    let program = code.program();
    let mut prepared = dispatch::prepare_from(
        &metadata.kernel,
        &asked.launch,
        Resources {
            memory,
            grf_bytes: program.grf_bytes(),
            local_memory: most,
            dummy_local_ids: dummy_local_ids(program.platform()),
            slots: asked.slots,
            least_image: metadata.least_image,
            const_base: metadata.const_base,
            global_base: metadata.global_base,
            stack_calls: program.functions().len() > 1,
            partial_groups: metadata.partial_groups,
            red_zone,
            images: crate::device::has_images(program.platform()),
        },
        code.remembered.take_reusable(&asked),
    )?;
    code.remembered.reuse_reach(&mut prepared);
    prepared.regrouped = regrouped;
    Ok(ToRun::Compiled(ReadyLaunch::new(asked, prepared)))
}

/// The payload starts one register later when there are no local ids.
pub(crate) fn dummy_local_ids(platform: envisa_isa::Platform) -> bool {
    matches!(platform, envisa_isa::Platform::Skl | envisa_isa::Platform::Tgllp)
}

fn refused(code: &Code, e: LaunchError) -> Error {
    match e {
        LaunchError::Size(s) => Error::Launch(s),
        LaunchError::Metadata(s) => Error::Module(s),
        LaunchError::Unsupported(s) => Error::Unsupported(s),
        LaunchError::Memory(e) => e.into(),
        LaunchError::Argument(i, message) => {
            let name = code.arguments.get(i as usize).map_or_else(|| i.to_string(), |a| a.name.clone());
            Error::argument(name, message)
        }
    }
}
