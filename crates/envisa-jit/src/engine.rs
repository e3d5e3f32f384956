//! The engine: translations of programs, and the workers that run them.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use envisa_lower::Pc;
use envisa_lower::analysis::{Cells, Flow, Liveness, NotAnalysed};
use envisa_machine::dispatch::Prepared;
use envisa_machine::engine::{Engine, Instructions, LaunchView, Translation, Worker};
use envisa_machine::group::{Groups, Run, together};
use envisa_machine::program::CheckedProgram;
use envisa_machine::thread::{Machine, STOP, Status};
use envisa_machine::trap::{Cause, Trap};

use crate::alloc::Allocation;
use crate::audit::{Sizes, audit};
use crate::emit::{Compiled, Emit};
use crate::layout::{SITE, Site, at, exit};
use crate::pages::Code;
use crate::shape::{Seed, Shapes};
use crate::sites;

/// Native code for x86-64 with AVX-512.
#[derive(Clone, Copy, Debug, Default)]
pub struct Jit(());

impl Jit {
    /// The engine, if this CPU has what its code needs.
    pub fn new() -> Option<Jit> {
        let lowered = matches!(std::env::var("ENVISA_LEVEL").as_deref(), Ok("base" | "avx2"));
        let has = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && !lowered;
        has.then_some(Jit(()))
    }
}

impl Jit {
    /// The code of a program for threads with all channels whose local ids are not known, as text: x86 with the
    /// program's instructions, and why any of them is left to the interpreter.
    ///
    /// # Errors
    /// Why there is none.
    pub fn listing(&self, program: &CheckedProgram, rest: &Arc<dyn Instructions>) -> Result<String, String> {
        let native = Native::new(program, rest).map_err(|e| format!("instruction {}: {}", e.pc, e.reason))?;
        let variant = native.compile(&Key { full: true, seeds: Vec::new() })?;
        Ok(crate::listing::listing(program, &variant.compiled))
    }
}

impl Engine for Jit {
    fn name(&self) -> &'static str {
        "jit"
    }

    fn translate(
        &self,
        program: &CheckedProgram,
        rest: &Arc<dyn Instructions>,
    ) -> Option<Box<dyn Translation>> {
        Some(Box::new(Native::new(program, rest).ok()?))
    }
}

/// A program as native code: a variant for each way of launching it.
pub(crate) struct Native {
    program: CheckedProgram,
    rest: Arc<dyn Instructions>,
    flow: Flow,
    cells: Cells,
    variants: Mutex<HashMap<Key, Option<Arc<Variant>>>>,
}

/// What code depends on besides the program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Key {
    /// All threads have all channels.
    full: bool,
    seeds: Vec<Seed>,
}

/// Code for one way of launching a program.
pub(crate) struct Variant {
    code: Code,
    pub compiled: Compiled,
}

impl Native {
    fn new(program: &CheckedProgram, rest: &Arc<dyn Instructions>) -> Result<Native, NotAnalysed> {
        Ok(Native {
            program: program.clone(),
            rest: rest.clone(),
            flow: Flow::new(program)?,
            cells: Cells::new(program, 64),
            variants: Mutex::new(HashMap::new()),
        })
    }

    fn variant(&self, key: Key) -> Option<Arc<Variant>> {
        let mut all = self.variants.lock().unwrap_or_else(|e| e.into_inner());
        all.entry(key.clone()).or_insert_with(|| self.compile(&key).ok().map(Arc::new)).clone()
    }

    fn compile(&self, key: &Key) -> Result<Variant, String> {
        let p = &*self.program;
        let live = Liveness::new(p, &self.flow, &self.cells, key.full);
        let shapes = Shapes::new(p, &self.flow, &self.cells, &live, key.full, &key.seeds);
        let alloc = Allocation::new(p, &self.flow, &self.cells, &live, &|c| shapes.step(c).is_some());
        let emit = Emit::new(p, &self.flow, &self.cells, &live, &shapes, &alloc, key.full, together(p));
        let compiled = emit.run()?;
        if cfg!(debug_assertions) {
            let sizes = Sizes {
                registers: p.registers.bytes.next_multiple_of(64),
                context: compiled.context,
                sites: SITE * p.messages.len().max(1) as u32,
            };
            audit(&compiled.code.bytes, &sizes)?;
        }
        let code = Code::new(&compiled.code.bytes).map_err(|e| e.to_string())?;
        Ok(Variant { code, compiled })
    }

    fn keys(&self, prepared: &Prepared) -> [Key; 2] {
        let seeds = sites::seeds(&self.program, prepared);
        [Key { full: true, seeds }, Key { full: false, seeds: Vec::new() }]
    }
}

impl Translation for Native {
    fn accepts(&self, launch: &LaunchView<'_>) -> bool {
        let [full, _] = self.keys(launch.prepared);
        let variant = self.variant(full);
        if std::env::var_os("ENVISA_JIT_LOG").is_some() {
            match &variant {
                Some(v) => {
                    eprintln!(
                        "jit: {}: {} bytes, slow {:?}",
                        self.program.name,
                        v.code.bytes().len(),
                        v.compiled.slow
                    );
                }
                None => {
                    let key = self.keys(launch.prepared)[0].clone();
                    eprintln!("jit: {}: refused: {:?}", self.program.name, self.compile(&key).err());
                }
            }
        }
        variant.is_some()
    }

    fn worker<'a>(
        &'a self,
        launch: &'a LaunchView<'a>,
        number: u32,
    ) -> Result<Box<dyn Worker + 'a>, Box<Trap>> {
        let [full, part] = self.keys(launch.prepared).map(|k| self.variant(k));
        let live = if together(&self.program) { launch.prepared.most_threads() } else { 1 };
        let run = Runner {
            native: self,
            contexts: [&full, &part]
                .map(|v| (0..live).map(|_| v.as_ref().map(|v| Context::new(v))).collect()),
            variants: [full, part],
            sites: vec![Site::NOWHERE; self.program.messages.len().max(1)],
        };
        let reads = run.variants[0].as_ref().map(|v| v.compiled.reads.clone());
        let mut groups = Groups::new(launch, number, run)?;
        if let Some(reads) = reads {
            groups.trim(&|r| reads.iter().any(|(at, bytes)| *at < r.end && r.start < at + bytes));
        }
        Ok(Box::new(groups))
    }
}

/// A cache line of a context.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u32; 16]);

/// What generated code keeps of a thread, beside its registers.
struct Context {
    lines: Vec<Line>,
    waits: std::ops::Range<usize>,
}

impl Context {
    fn new(v: &Variant) -> Context {
        let c = &v.compiled;
        let mut it = Context {
            lines: vec![Line([0; 16]); (c.context as usize).div_ceil(64).max(1)],
            waits: at::WAITS as usize / 4..at::WAITS as usize / 4 + c.waits.len(),
        };
        for (k, x) in c.pool.iter().enumerate() {
            it.set(c.pool_at + 4 * k as u32, *x);
        }
        it
    }

    fn set(&mut self, at: u32, x: u32) {
        self.lines[at as usize / 64].0[at as usize % 64 / 4] = x;
    }

    fn get(&self, at: u32) -> u32 {
        self.lines[at as usize / 64].0[at as usize % 64 / 4]
    }

    fn set64(&mut self, at: u32, x: u64) {
        self.set(at, x as u32);
        self.set(at + 4, (x >> 32) as u32);
    }

    fn get64(&self, at: u32) -> u64 {
        u64::from(self.get(at)) | u64::from(self.get(at + 4)) << 32
    }
}

/// What a callback finds.
struct Host<'a, 'm> {
    machine: &'a mut Machine<'m>,
    rest: &'a dyn Instructions,
    sites: &'a mut [Site],
    /// The thread's budget and the context's, when native code was entered.
    budget: (u64, u64),
}

/// Runs threads natively.
struct Runner<'a> {
    native: &'a Native,
    /// For threads with all channels, and for others.
    variants: [Option<Arc<Variant>>; 2],
    /// By thread of the group.
    contexts: [Vec<Option<Context>>; 2],
    sites: Vec<Site>,
}

impl Run for Runner<'_> {
    // Code for threads that are alone keeps nothing to go on with.
    fn pauses_alone(&self) -> bool {
        together(&self.native.program)
    }

    fn run(&mut self, m: &mut Machine<'_>, fresh: bool) {
        let p = &*self.native.program;
        // What the code was compiled for is what it will touch.
        let same = m.env.program.is(&self.native.program) && m.t.regs.len() >= p.registers.bytes;
        assert!(same, "the machine is one of another program");
        let all = if p.simd >= 32 { u32::MAX } else { (1 << p.simd) - 1 };
        let which = usize::from(m.t.dispatch != all);
        let state = if self.contexts[which].len() > 1 { m.t.index as usize } else { 0 };
        let (Some(variant), Some(Some(context))) =
            (&self.variants[which], self.contexts[which].get_mut(state))
        else {
            return self.native.rest.run(m);
        };
        if fresh {
            context.set(at::RESUME, 0);
            context.set(at::EXEC, m.t.mask);
            for w in context.waits.clone() {
                context.set(4 * w as u32, 0);
            }
        }
        m.t.status = Status::Ready;
        let given = m.t.budget.min(m.t.turn).min(i64::MAX as u64);
        context.set64(at::BUDGET, given);
        let mut host = Host {
            budget: (m.t.budget, given),
            machine: m,
            rest: &*self.native.rest,
            sites: &mut self.sites,
        };
        context.set64(at::SITES, host.sites.as_mut_ptr() as u64);
        context.set64(at::HOST, std::ptr::from_mut(&mut host) as u64);
        context.set64(at::CALL, callback as *const () as u64);
        let registers = host.machine.t.regs.bytes_mut().as_mut_ptr();
        // SAFETY: the variant's code is a function of this signature. It touches the register file and the
        // context, which are as large as it was told and live until it returns, guest memory that a site lets
        // pass, and `host` in callbacks, which nothing else uses meanwhile.
        let how = unsafe { variant.code.call(registers, context.lines.as_mut_ptr().cast()) };
        let left = context.get64(at::BUDGET) as i64;
        let spent = (given as i64).wrapping_sub(left) as u64;
        let pc = context.get(at::PC);
        let m = host.machine;
        match how as i32 {
            exit::DONE => m.t.status = Status::Done,
            exit::BARRIER => {
                m.t.mask = context.get(at::EXEC);
                m.suspend(pc, Status::Barrier);
            }
            exit::EXPIRED => {
                m.t.mask = context.get(at::EXEC);
                if host.budget.0 < spent {
                    // Of a branch that parts the channels, those that do not take it wait behind it already.
                    if let Some(w) = variant.compiled.waits.get(&(pc + 1))
                        && p.code[pc as usize].channels > 1
                    {
                        m.t.mask |= context.get(*w);
                    }
                    m.fault(pc, None, Cause::Limit);
                    return;
                }
                let target = p.code[pc as usize].aux;
                m.suspend(target, Status::Yielded);
            }
            // A callback said why.
            _ => {
                if m.t.status == Status::Ready {
                    m.fault(m.t.pc, None, Cause::FellOff);
                }
                return;
            }
        }
        m.t.budget = host.budget.0.wrapping_sub(spent);
        m.t.turn = m.t.turn.saturating_sub(spent);
    }
}

/// Runs one instruction for native code: 0 to go on.
extern "sysv64" fn callback(context: *mut u8, pc: Pc) -> u32 {
    // SAFETY: native code was entered with this context by `Runner::run`, which put a `Host` there that lives as
    // long as the code runs and is not used by anybody else until this returns.
    let (host, exec, left) = unsafe {
        let host = *context.add(at::HOST as usize).cast::<*mut Host<'_, '_>>();
        let exec = *context.add(at::EXEC as usize).cast::<u32>();
        let left = *context.add(at::BUDGET as usize).cast::<u64>();
        (&mut *host, exec, left)
    };
    let m = &mut *host.machine;
    m.t.mask = exec;
    m.t.pc = pc;
    m.t.budget = host.budget.0.wrapping_sub(host.budget.1.wrapping_sub(left));
    m.refresh_mode();
    let mut next = pc;
    while next == pc {
        next = host.rest.instruction(m, pc);
    }
    if next == STOP {
        return 1;
    }
    if next != pc + 1 {
        // Native code leaves nothing that jumps to the machine.
        m.fault(pc, None, Cause::FellOff);
        return 1;
    }
    sites::aim(m, pc, host.sites);
    0
}
