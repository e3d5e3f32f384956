//! The engine: translations of programs, and the workers that run them.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use envisa_isa::predefined::var;
use envisa_lower::analysis::{CellId, CellKind, Cells, Flow, Liveness, NotAnalysed};
use envisa_lower::{Inst, Op, Pc, Program};
use envisa_machine::dispatch::{GroupClass, Prepared};
use envisa_machine::engine::{
    Engine, Instructions, LaunchView, Left, ObservedThreads, Stop, Told, Translation, Wanted, Worker,
};
use envisa_machine::group::{Alive, Groups, Kept, Loader, Row, Run, TURN, Turns, group_runs_together};
use envisa_machine::start::Start;
use envisa_machine::thread::{Machine, STOP, Status};
use envisa_machine::trap::{Cause, Trap};

use crate::active::Active;
use crate::affine_vectors::{Shapes, lane_numbers};
use crate::alloc::Allocation;
use crate::audit::{Sizes, audit};
use crate::bounds::Fitting;
use crate::context_layout::{MESSAGE, RENEW, ROW_CACHE, SITE, Site, at, exit};
use crate::deferred::{Deferred, block_ends};
use crate::emit::row_caches::RowCaches;
use crate::emit::{Compiled, Emit};
use crate::fast_maps::Set;
use crate::float_modes::{Modes, keeps_mode};
use crate::group_order::Walk;
use crate::image_variants::{self, Kind};
use crate::known_integers::Known;
use crate::level::Level;
use crate::listing::Tell;
use crate::pages::{Code, to_nearest};
use crate::passes::{Making, Passes};
use crate::sites::{self, Of};
use crate::zero_halves::ZeroHalves;
use functions::Functions;
use launch_key::{Key, Tails};
use runner::{Host, Runner, Spare, budget_per_turn, callback, step, stop_at_limit};
use thread_context::{Context, Line};
use turns::{Turn, Turning};

mod functions;
mod launch_key;
mod observed;
mod row_cache_moves;
mod runner;
mod thread_context;
mod turns;

/// Native code for x86-64 with AVX-512 or AVX2.
#[derive(Clone, Copy, Debug)]
pub struct Jit(Level);

impl Jit {
    /// The engine, if this CPU has what its code needs: AVX-512, or else AVX2.
    pub fn new() -> Option<Jit> {
        Level::detect().map(Jit)
    }

    /// What its code is for.
    pub fn level(&self) -> &'static str {
        self.0.name()
    }
}

impl Jit {
    /// The code of a program for threads with all channels whose local ids are not known, as text: x86 with the
    /// program's instructions, what `tell` tells of them, and why any of them is left to the interpreter.
    ///
    /// # Errors
    /// Unsupported there is none.
    pub fn listing(
        &self,
        program: &Program,
        rest: &Arc<dyn Instructions>,
        tell: Tell<'_>,
    ) -> Result<String, String> {
        if functions::calls(program) {
            return Ok(Functions::new(program, rest, self.0)?.listing(tell));
        }
        let native = Native::new(program, rest, self.0).map_err(describe_not_analysed)?;
        let variant = native.compile(&Key { full: true, ..Key::default() })?;
        Ok(format!("; {}\n{}", self.level(), crate::listing::listing(program, &variant.compiled, tell)))
    }

    /// Makes the same code, and tells what that took: all passes, from the flow of control to pages of code.
    ///
    /// # Errors
    /// Unsupported there is none.
    pub fn making(&self, program: &Program, rest: &Arc<dyn Instructions>) -> Result<Making, String> {
        let mut passes = Passes::begin();
        let mut made = Making { instructions: program.code().len(), bytes: 0, passes: Vec::new() };
        if functions::calls(program) {
            let all = Functions::new(program, rest, self.0)?;
            made.bytes = all.code_bytes();
            passes.over("all functions");
        } else {
            let native = Native::new(program, rest, self.0).map_err(describe_not_analysed)?;
            passes.over("flow and cells");
            let variant = native.compile(&Key { full: true, ..Key::default() })?;
            made.bytes = variant.compiled.code.bytes.len();
            made.passes.extend(variant.compiled.passes.all());
        }
        made.passes.splice(0..0, passes.all().iter().copied());
        Ok(made)
    }
}

impl Engine for Jit {
    fn name(&self) -> &'static str {
        "jit"
    }

    fn translate(&self, program: &Program, rest: &Arc<dyn Instructions>) -> Option<Box<dyn Translation>> {
        // No mask has them: what verifies names none.
        let beyond = |i: &Inst| u32::from(i.first) + u32::from(i.channels) > 32;
        if program.code().iter().any(beyond) {
            return None;
        }
        if functions::calls(program) {
            return Some(Box::new(Functions::new(program, rest, self.0).ok()?));
        }
        Some(Box::new(Native::new(program, rest, self.0).ok()?))
    }
}

/// What threads without all of their channels have alive, and what they read before they write it: bytes of registers.
type Partly = (Liveness, Vec<(u32, u32)>);

/// A program as native code: a variant for each way of launching it.
pub(crate) struct Native {
    program: Program,
    rest: Arc<dyn Instructions>,
    level: Level,
    /// The threads of a group are alive together.
    together: bool,
    flow: Flow,
    modes: Modes,
    cells: Cells,
    /// What threads with all channels have alive.
    live: OnceLock<Result<Liveness, String>>,
    /// What others have, and what they read before they write it.
    part: OnceLock<Result<Partly, String>>,
    variants: Mutex<HashMap<Key, Result<Arc<Variant>, String>>>,
    /// What the last launches ran by, the newest first.
    last: Mutex<Vec<Arc<Chosen>>>,
    /// Messages that go to scratch.
    scratch: Vec<usize>,
}

/// Where a program is not analysed, and why.
fn describe_not_analysed(e: NotAnalysed) -> String {
    format!("instruction {}: {}", e.pc, e.reason)
}

/// Ways of launching a program that are remembered: programs that launch a kernel often do so in few ways.
const REMEMBERED: usize = 4;

/// What a launch runs by.
struct Chosen {
    /// What it was chosen by: the payloads of its groups' threads, and where in the image they are; how groups follow one another.
    classes: Vec<GroupClass>,
    kinds: Vec<(u32, Kind)>,
    walk: Walk,
    fitting: Fitting,
    payload: Range<usize>,
    varying: Vec<Range<u32>>,
    image: usize,
    /// The number of the launch that it was looked up for last.
    number: AtomicU64,
    /// For threads with all channels, and for others: the same where all threads are others.
    variants: [Result<Arc<Variant>, String>; 2],
    /// Unsupported the code does not start threads itself.
    unstarted: Option<&'static str>,
    /// How threads start that the code does not start itself.
    loader: Arc<Loader>,
    /// What workers left.
    spare: Mutex<Vec<Spare>>,
}

impl Chosen {
    fn is_for(&self, native: &Native, prepared: &Prepared) -> bool {
        if self.number.load(Ordering::Relaxed) == prepared.number() {
            return true;
        }
        let is = self.payload == prepared.payload_range()
            && self.image == prepared.image.len()
            && prepared.varying_ranges().eq(self.varying.iter().cloned())
            && self.classes == prepared.classes()
            && self.walk == Walk::new(prepared, native.together)
            && self.kinds == image_variants::kinds(&native.program, prepared)
            && self.fitting.holds(prepared);
        if is {
            self.number.store(prepared.number(), Ordering::Relaxed);
        }
        is
    }
}

/// Code for one way of launching a program.
pub(crate) struct Variant {
    code: Code,
    pub compiled: Compiled,
    /// It runs rows, and starts their threads itself, with payloads of so many bytes.
    row: bool,
    payload: u32,
    /// How many symbols the program names.
    symbols: u32,
}

impl Native {
    fn new(program: &Program, rest: &Arc<dyn Instructions>, level: Level) -> Result<Native, NotAnalysed> {
        let flow = Flow::new(program.parts())?;
        Ok(Native {
            level,
            together: group_runs_together(program),
            program: program.clone(),
            rest: rest.clone(),
            modes: Modes::new(program, &flow),
            flow,
            cells: Cells::new(program.parts(), 64),
            live: OnceLock::new(),
            part: OnceLock::new(),
            variants: Mutex::new(HashMap::new()),
            last: Mutex::default(),
            scratch: sites::to_scratch(program),
        })
    }

    fn variant(&self, key: Key) -> Result<Arc<Variant>, String> {
        let mut all = self.variants.lock().unwrap_or_else(|e| e.into_inner());
        all.entry(key.clone()).or_insert_with(|| self.compile(&key).map(Arc::new)).clone()
    }

    /// The variants of a launch, compiled if need be: a second launch of the same kind finds them.
    fn chosen(&self, prepared: &Prepared) -> Arc<Chosen> {
        self.choose(prepared, Arc::clone)
    }

    /// The same, for who wants to know something of them.
    fn choose<T>(&self, prepared: &Prepared, ask: impl FnOnce(&Arc<Chosen>) -> T) -> T {
        let mut last = self.last.lock().unwrap_or_else(|e| e.into_inner());
        match last.iter().position(|c| c.is_for(self, prepared)) {
            Some(0) => {}
            Some(at) => last[..=at].rotate_right(1),
            None => {
                last.truncate(REMEMBERED - 1);
                last.insert(0, self.choose_anew(prepared));
            }
        }
        ask(&last[0])
    }

    /// The same where there is no code for any thread: why.
    fn none(&self, prepared: &Prepared, why: String) -> Chosen {
        Chosen {
            classes: prepared.classes().to_vec(),
            kinds: image_variants::kinds(&self.program, prepared),
            walk: Walk::new(prepared, self.together),
            fitting: Fitting::default(),
            payload: prepared.payload_range(),
            varying: prepared.varying_ranges().collect(),
            image: prepared.image.len(),
            number: AtomicU64::new(prepared.number()),
            variants: [Err(why.clone()), Err(why)],
            unstarted: None,
            loader: Arc::new(Loader::new(&self.program, prepared)),
            spare: Mutex::default(),
        }
    }

    fn choose_anew(&self, prepared: &Prepared) -> Arc<Chosen> {
        let made = |key| self.variant(key);
        Arc::new(self.try_to_choose(prepared, &made).unwrap_or_else(|why| self.none(prepared, why)))
    }

    /// What code depends on that runs threads of a launch which the machine starts.
    fn key(&self, prepared: &Prepared, of: Of, fitting: &Fitting) -> Result<Key, String> {
        let live = if of == Of::Whole { self.live()? } else { &self.part()?.0 };
        let given = sites::given(&self.program, prepared, of);
        Ok(Key {
            full: of == Of::Whole,
            alone: prepared.most_threads() == 1,
            seeds: sites::seeds(&self.program, prepared, of),
            active: Active::new(&self.program, &self.flow, &self.cells, live, &given),
            start: None,
            walk: Walk::new(prepared, self.together),
            kinds: image_variants::kinds(&self.program, prepared),
            fitting: fitting.messages.clone(),
            compares: fitting.compares.clone(),
            decided: fitting.decided.clone(),
            stops: Vec::new(),
            noted: Default::default(),
        })
    }

    /// The variants of a launch, of which `variant` gives each.
    fn try_to_choose(
        &self,
        prepared: &Prepared,
        variant: &dyn Fn(Key) -> Result<Arc<Variant>, String>,
    ) -> Result<Chosen, String> {
        let fitting = Fitting::new(&self.program, &self.flow, &self.cells, prepared);
        let key = |of, start| variant(Key { start, ..self.key(prepared, of, &fitting)? });
        let whole = Loader::new(&self.program, prepared);
        let starts = |reads: &[(u32, u32)], lacking: bool| {
            let mut loader = whole.clone();
            loader.trim(&self.program, prepared, reads);
            if lacking {
                loader.serves_lacking();
            }
            let start = self.start(prepared, &loader);
            (loader, start)
        };
        let tailed = self.tails(prepared);
        if tailed == Tails::Last {
            // One code runs all threads of a group, if it starts them.
            let (loader, start) = starts(&self.part()?.1, true);
            if let Ok(start) = start
                && let Ok(one) = key(Of::All, Some(start))
            {
                let (variants, loader) = ([Ok(one.clone()), Ok(one)], Arc::new(loader));
                return Ok(Chosen { variants, loader, fitting, ..self.none(prepared, String::new()) });
            }
        }
        // Nobody runs the other code where all threads lack channels.
        let only = tailed == Tails::Only;
        let (mut loader, start) =
            if only { starts(&self.part()?.1, true) } else { starts(&self.reads()?, false) };
        let first = key(if only { Of::Lacking } else { Of::Whole }, start.as_ref().ok().cloned());
        let variants = match tailed {
            // Most launches have no threads that lack channels.
            Tails::None => [first, Err("no thread lacks channels".into())],
            Tails::Only => [first.clone(), first],
            // Rows are run where threads with all channels are.
            Tails::Alone if start.is_ok() => {
                // They read what the others read, and more.
                let (more, start) = starts(&self.part()?.1, true);
                let variants = [first, key(Of::Lacking, start.ok())];
                if runs_tails_by_rows(&variants) {
                    loader = more;
                }
                variants
            }
            Tails::Alone | Tails::Last => [first, key(Of::Lacking, None)],
        };
        let loader = if variants[0].is_ok() { loader } else { whole };
        let (unstarted, loader) = (start.err(), Arc::new(loader));
        Ok(Chosen { variants, unstarted, loader, fitting, ..self.none(prepared, String::new()) })
    }

    fn live(&self) -> Result<&Liveness, String> {
        self.live.get_or_init(|| self.liveness(true)).as_ref().map_err(Clone::clone)
    }

    fn liveness(&self, full: bool) -> Result<Liveness, String> {
        Liveness::new(self.program.parts(), &self.flow, &self.cells, full).map_err(describe_not_analysed)
    }

    /// Registers that threads with all channels read before they write them: `(first byte, bytes)`.
    fn reads(&self) -> Result<Vec<(u32, u32)>, String> {
        Ok(self.first_read(self.live()?))
    }

    /// The same by what is alive at the start, and the mode where it changes: what the thread before left there is none
    /// of this one's.
    fn first_read(&self, live: &Liveness) -> Vec<(u32, u32)> {
        let bytes = |c| (self.cells.get(c).offset, self.cells.get(c).bytes);
        let mode = self.program.registers().predefined[var::CR0 as usize];
        let sets = (!keeps_mode(&self.program)).then_some((mode, 4));
        let read: Vec<(u32, u32)> = live.cells(0).map(bytes).collect();
        let known = |m: &(u32, u32)| !read.iter().any(|r| r.0 <= m.0 && m.0 + m.1 <= r.0 + r.1);
        sets.filter(known).into_iter().chain(read.iter().copied()).collect()
    }

    /// What is known of threads that lack channels: what is alive, and the registers that they read before they write
    /// them.
    fn part(&self) -> Result<&Partly, String> {
        let find = || {
            let live = self.liveness(false)?;
            let reads = self.first_read(&live);
            Ok((live, reads))
        };
        self.part.get_or_init(find).as_ref().map_err(Clone::clone)
    }

    /// Which threads of a launch lack channels?
    fn tails(&self, prepared: &Prepared) -> Tails {
        let lacks = |c: &&GroupClass| c.tail_mask.count_ones() < self.program.simd();
        let lacking = || prepared.classes().iter().filter(lacks);
        match (lacking().count(), lacking().all(|c| c.threads == 1)) {
            (0, _) => Tails::None,
            (n, true) if n == prepared.classes().len() => Tails::Only,
            (_, true) => Tails::Alone,
            (_, false) => Tails::Last,
        }
    }

    /// How the threads of a launch start that read what their loader was trimmed to, if code can do that: they have no
    /// scratch, and do not wait for each other by other means than the barrier.
    ///
    /// # Errors
    /// Unsupported it cannot.
    fn start(&self, prepared: &Prepared, loader: &Loader) -> Result<Start, &'static str> {
        let waits = |i: &Inst| i.op.waits() && i.op != Op::Barrier;
        if self.program.code().iter().any(waits) {
            return Err("split or named barriers, or DPASW");
        }
        if !self.scratch.is_empty() {
            return Err("scratch");
        }
        Start::new(&self.program, prepared, loader)
            .ok_or("threads that start with parts of ids, or where their scratch is")
    }

    /// Cells of bytes and words that stay in memory: code for AVX2 is made of that for AVX-512, and has no way to write such
    /// elements of a register by a mask.
    fn masked_narrow(&self, full: bool, live: &Liveness) -> Set<CellId> {
        let mut all = Set::default();
        if self.level == Level::Avx512 {
            return all;
        }
        for (i, pc) in self.program.code().iter().zip(0..) {
            let every = i.no_mask || (full && self.flow.all_channels_active(pc));
            self.cells.accesses(self.program.parts(), pc, &mut |a| {
                let narrow = self.cells.get(a.cell).kind == CellKind::Narrow;
                let by_mask = i.pred.offset != 0 || (!every && !live.may_write_unmasked(pc, a.cell));
                if narrow && a.write && by_mask {
                    all.insert(a.cell);
                }
            });
        }
        all
    }

    fn compile(&self, key: &Key) -> Result<Variant, String> {
        let p = &self.program;
        let mut passes = Passes::begin();
        let live = if key.full { self.live()? } else { &self.part()?.0 };
        passes.over("liveness");
        if !key.stops.is_empty() {
            return self.compile_observed(key, live, passes);
        }
        let first_block = 0..block_ends(p, &self.flow).first().copied().unwrap_or(0);
        let lane_numbers = lane_numbers(p, first_block);
        let mut shapes = Shapes::new(p, &self.flow, &self.cells, live, key.full, &key.seeds, &lane_numbers);
        let zero_halves = ZeroHalves::new(p, &self.flow, &self.cells, &key.fitting);
        shapes.leave_unread(&zero_halves.unread);
        // Where second halves are made of first ones, these are read in their place.
        let longer = match shapes.are_all_read() {
            false => {
                let unread = |pc, c| shapes.unread(pc, c);
                let live = Liveness::without(p.parts(), &self.flow, &self.cells, key.full, &unread);
                Some(live.map_err(describe_not_analysed)?.with(shapes.twins()))
            }
            true => None,
        };
        let live = longer.as_ref().unwrap_or(live);
        passes.over("shapes");
        let modes = (key.full, self.together, self.level);
        let turns = key.start.is_some() && self.together && !key.alone;
        let masked = self.masked_narrow(key.full, live);
        let emit = |deferred: &Deferred, known: &Known, mut passes: Passes| {
            let gone = deferred.gone(p, &self.cells);
            // What threads start with is read where it is.
            let narrow = |c| {
                let cell = self.cells.get(c);
                cell.kind == CellKind::Narrow && (cell.input || masked.contains(&c))
            };
            let elsewhere = |c| shapes.twin(c).is_some() || (shapes.step(c).is_some() && !shapes.vector(c));
            let keep = |c| elsewhere(c) || gone.contains(&c) || narrow(c);
            let longer: Vec<(CellId, Pc)> =
                deferred.longer.iter().map(|(c, pc)| (shapes.twin(*c).map_or(*c, |t| t.0), *pc)).collect();
            let alloc = Allocation::new(p, &self.flow, &self.cells, live, &shapes, &keep, &longer, turns);
            let facts = (&shapes, &alloc, deferred, known, &key.active, &self.modes);
            let start = key.start.as_ref();
            passes.over("allocation");
            Emit::new(p, &self.flow, &self.cells, live, facts, modes, start)
                .with(&key.kinds, key.walk, &key.fitting)
                .without(&zero_halves)
                .run(passes)
        };
        let facts = (key.full, &self.modes, &key.decided[..]);
        let mut deferred = Deferred::new(p, &self.flow, &self.cells, live, &shapes, facts);
        deferred.leave_out(&zero_halves.skipped, &Set::default());
        deferred.narrow_compares(p, &key.compares);
        let facts = (key.full, &deferred, &zero_halves.skipped);
        let known = Known::new(p, &self.flow, &self.cells, live, &shapes, facts);
        deferred.leave_out(&known.skipped, &known.readers);
        passes.over("deferral");
        // What is left to the interpreter needs all that it reads.
        let compiled = emit(&deferred, &known, passes.clone()).or_else(|why| match deferred.is_empty() {
            true => Err(why),
            false => emit(&Deferred::default(), &Known::default(), passes),
        })?;
        Variant::new(p, compiled, key.start.as_ref())
    }
}

impl Variant {
    /// The caches of rows that its code has, and where they are in a context.
    fn row_caches(&self) -> (&RowCaches, u32) {
        (&self.compiled.row_caches.0, self.compiled.row_caches.1)
    }

    /// Of code that starts threads so, if it does.
    fn new(p: &Program, mut compiled: Compiled, start: Option<&Start>) -> Result<Variant, String> {
        let sizes = Sizes {
            registers: p.registers().bytes.next_multiple_of(64),
            context: compiled.context,
            sites: SITE * image_variants::sites(p) as u32,
            payload: start.map_or(0, |s| s.payload_bytes),
            record: compiled.record,
            together: compiled.together,
            ahead: compiled.ahead.clone(),
            ends: compiled.ends.clone(),
        };
        if let Err(e) = audit(&compiled.code.bytes, &sizes) {
            // A mistake of this compiler: such code never runs.
            let e = format!("native code of `{}` does not pass its audit: {e}", p.name());
            debug_assert!(false, "{e}");
            eprintln!("warning: {e}; the interpreter runs it (please report this)");
            return Err(e);
        }
        compiled.passes.over("audit");
        let code = Code::new(&compiled.code.bytes).map_err(|e| e.to_string())?;
        compiled.passes.over("pages");
        #[cfg(target_os = "linux")]
        crate::perf::report_to_perf(p, &compiled, &code);
        Ok(Variant {
            code,
            compiled,
            payload: sizes.payload,
            row: start.is_some(),
            symbols: p.symbols().len() as u32,
        })
    }
}

impl Translation for Native {
    fn accepts_launch(&self, launch: &LaunchView<'_>) -> bool {
        self.choose(launch.prepared, |chosen| chosen.variants[0].is_ok())
    }

    fn wants(&self, launch: &LaunchView<'_>) -> Option<Wanted> {
        let prepared = launch.prepared;
        let last = self.last.lock().unwrap_or_else(|e| e.into_inner());
        if last.iter().any(|c| c.is_for(self, prepared)) {
            return None;
        }
        drop(last);
        if self.live.get().is_none() || self.part.get().is_none() {
            return Some(Box::new(()));
        }
        let missing = RefCell::new(None);
        let found = |key: Key| {
            let all = self.variants.lock().unwrap_or_else(|e| e.into_inner());
            all.get(&key).cloned().unwrap_or_else(|| {
                missing.borrow_mut().get_or_insert(key);
                Err("it is being made".to_owned())
            })
        };
        let _ = self.try_to_choose(prepared, &found);
        missing.into_inner().map(|key| Box::new(key) as Wanted)
    }

    fn make(&self, wanted: Wanted) {
        let Ok(key) = wanted.downcast::<Key>() else {
            // What is known of all threads comes first. Where it cannot be known, launches say so.
            let _ = (self.live().is_ok(), self.part().is_ok());
            return;
        };
        let made = self.compile(&key).map(Arc::new);
        self.variants.lock().unwrap_or_else(|e| e.into_inner()).entry(*key).or_insert(made);
    }

    fn observed_threads<'a>(&'a self, launch: &'a LaunchView<'a>) -> Option<Box<dyn ObservedThreads + 'a>> {
        Some(Box::new(observed::Threads::new(self, launch)?))
    }

    fn left(&self, launch: &LaunchView<'_>) -> Result<Left, String> {
        let chosen = self.chosen(launch.prepared);
        let variant = chosen.variants[0].as_ref().map_err(Clone::clone)?;
        let mut scheduled = Vec::new();
        if self.together {
            scheduled.extend(chosen.unstarted);
            if self.tails(launch.prepared) == Tails::Last && !runs_tails_by_rows(&chosen.variants) {
                scheduled.push("the last thread of a group lacks channels");
            }
        }
        let mut all: Vec<&Arc<Variant>> = chosen.variants.iter().flatten().collect();
        all.dedup_by(|a, b| Arc::ptr_eq(a, b));
        let code_bytes = all.iter().map(|v| v.compiled.code.bytes.len()).sum();
        Ok(Left { instructions: variant.compiled.slow.clone(), scheduled, code_bytes })
    }

    fn new_worker<'a>(
        &'a self,
        launch: &'a LaunchView<'a>,
        number: u32,
    ) -> Result<Box<dyn Worker + 'a>, Box<Trap>> {
        let chosen = self.chosen(launch.prepared);
        let most = launch.prepared.most_threads();
        let mut own = chosen.spare().pop().unwrap_or_else(|| Spare::new(self, &chosen, most));
        if !own.kept.reaches(launch) {
            own.renew(launch.env.symbols);
        }
        let kept = std::mem::take(&mut own.kept);
        let loader = chosen.loader.clone();
        let run = Runner { native: self, chosen, own };
        Ok(Box::new(Groups::with(launch, number, run, loader, kept)?))
    }
}

/// Are threads that lack channels run by rows, too?
fn runs_tails_by_rows(variants: &[Result<Arc<Variant>, String>; 2]) -> bool {
    variants.iter().all(|v| v.as_ref().is_ok_and(|v| v.row))
}
