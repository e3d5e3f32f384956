//! Runs kernels by the evaluator of the vector IR: for tests that hold the IR, and each pass over it, against the
//! interpreter.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use envisa_lower::{Block, Message, Op, Pc, Program, RegOffset, Simt, Space, Src};
use envisa_machine::engine::{Engine, Instructions, LaunchView, Left, Stop, Translation, Worker};
use envisa_machine::group::{Groups, Run};
use envisa_machine::thread::{Machine, STOP, Status};
use envisa_machine::{Cause, Trap};
pub use envisa_vir::NotBuilt;
use envisa_vir::eval::{Accessed, Halt, Paused, Thread, World};
use envisa_vir::{
    Access, AccessKind, Dispatch, Func, Inst, Options, Terminator, Type, build, passes, verify,
};

use crate::kernel::Kernel;

/// What the IR of a kernel is.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// Instructions of the program.
    pub program: u64,
    /// Instructions of the function.
    pub instructions: u64,
    /// Of these, what the interpreter executes, by reason.
    pub escapes: Vec<(Pc, &'static str)>,
    /// Values.
    pub values: u64,
    /// Of accesses, how many have a shape that is known.
    pub shaped: u64,
    /// Accesses.
    pub accesses: u64,
}

/// The functions of a program, by the channels that threads start with, after so many passes.
struct Evaluator {
    passes: usize,
}

struct Evaluated {
    program: Program,
    passes: usize,
    rest: Arc<dyn Instructions>,
    full: Arc<Func>,
    parts: Mutex<HashMap<u32, Arc<Func>>>,
}

/// The function of a program for a variant, after so many passes, each of which the verifier looks at.
fn function(p: &Program, dispatch: Dispatch, count: usize) -> Result<Func, NotBuilt> {
    let mut f = build(p, &Options { dispatch, ..Options::default() })?;
    let check = |f: &Func, pass: &str| {
        if let Err(e) = verify(f) {
            panic!("{pass}: {e}\n{f}");
        }
    };
    check(&f, "build");
    for pass in passes::ALL.iter().take(count) {
        (pass.run)(&mut f);
        check(&f, pass.name);
    }
    Ok(f)
}

/// Makes a kernel run by the evaluator, with so many passes, wherever native code is asked for.
///
/// # Errors
/// Why it is not built.
pub fn evaluate(kernel: &Kernel, passes: usize) -> Result<Built, NotBuilt> {
    let exe = &kernel.code.executable;
    let f = function(exe.optimized(), Dispatch::All, passes)?;
    exe.translate(&Evaluator { passes });
    Ok(count(exe.optimized(), &f))
}

/// How many passes there are.
pub fn passes() -> usize {
    passes::ALL.len()
}

/// The function of a kernel after so many passes, as text.
///
/// # Errors
/// Why it is not built.
pub fn text(kernel: &Kernel, passes: usize) -> Result<String, NotBuilt> {
    function(kernel.code.executable.optimized(), Dispatch::All, passes).map(|f| f.to_string())
}

fn count(p: &Program, f: &Func) -> Built {
    let mut built =
        Built { program: p.code().len() as u64, values: f.value_count() as u64, ..Built::default() };
    for b in f.blocks() {
        for i in &f.block(b).insts {
            built.instructions += 1;
            match &f.inst(*i).inst {
                Inst::Escape(e) => built.escapes.push((e.pc, e.reason)),
                Inst::Access(a) => {
                    built.accesses += 1;
                    built.shaped += u64::from(a.shape != envisa_vir::AccessShape::Gather);
                }
                _ => {}
            }
        }
        built.instructions += u64::from(f.block(b).end != Terminator::Return);
    }
    built
}

impl Engine for Evaluator {
    fn name(&self) -> &'static str {
        "evaluator"
    }

    fn translate(&self, program: &Program, rest: &Arc<dyn Instructions>) -> Option<Box<dyn Translation>> {
        let full = Arc::new(function(program, Dispatch::All, self.passes).ok()?);
        let (program, passes, rest) = (program.clone(), self.passes, rest.clone());
        Some(Box::new(Evaluated { program, passes, rest, full, parts: Mutex::default() }))
    }
}

impl Translation for Evaluated {
    fn accepts_launch(&self, _: &LaunchView<'_>) -> bool {
        true
    }

    fn left(&self, _: &LaunchView<'_>) -> Result<Left, String> {
        Ok(Left { instructions: count(&self.program, &self.full).escapes, ..Left::default() })
    }

    fn new_worker<'a>(
        &'a self,
        launch: &'a LaunchView<'a>,
        number: u32,
    ) -> Result<Box<dyn Worker + 'a>, Box<Trap>> {
        Ok(Box::new(Groups::new(launch, number, Threads { of: self, all: HashMap::new() })?))
    }
}

impl Evaluated {
    /// The function for threads that start with these channels.
    fn function(&self, dispatch: u32) -> Arc<Func> {
        let all = u32::MAX >> (32 - self.program.simd());
        if dispatch == all {
            return self.full.clone();
        }
        let mut parts = self.parts.lock().unwrap_or_else(|e| e.into_inner());
        let made = parts.entry(dispatch).or_insert_with(|| {
            // The two ways to say it, in turn.
            let first = dispatch & dispatch.wrapping_add(1) == 0 && dispatch.count_ones().is_multiple_of(2);
            let variant = if first { Dispatch::First(dispatch.count_ones() as u8) } else { Dispatch::Any };
            Arc::new(function(&self.program, variant, self.passes).expect("it was built for all channels"))
        });
        made.clone()
    }
}

/// The threads of a group, those that wait among them.
struct Threads<'a> {
    of: &'a Evaluated,
    all: HashMap<u32, (Arc<Func>, Thread, Vec<u8>)>,
}

impl Run for Threads<'_> {
    fn run(&mut self, m: &mut Machine<'_>, fresh: bool, _: &Stop) {
        m.t.status = Status::Ready;
        let bytes = self.of.program.registers().bytes;
        if fresh || !self.all.contains_key(&m.t.index) {
            let f = self.of.function(m.t.dispatch);
            let thread = Thread::new(&f);
            let start = m.t.regs.slice_mut(0, bytes).to_vec();
            self.all.insert(m.t.index, (f, thread, start));
        }
        let Some((f, thread, start)) = self.all.get_mut(&m.t.index) else { return };
        let mut around = Around { m, of: self.of, start };
        match thread.run(f, &mut around) {
            Paused::Ended => m.t.status = Status::Done,
            Paused::Barrier(pc) | Paused::Trap(pc) => {
                self.of.rest.instruction(m, pc);
            }
            Paused::Halted => {}
            Paused::Wrong(i) => panic!("the claim of {i} does not hold: {}", f.inst(i).inst),
        }
    }
}

/// What a thread has around it.
struct Around<'a, 'm> {
    m: &'a mut Machine<'m>,
    of: &'a Evaluated,
    start: &'a [u8],
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |x, b| x << 8 | u64::from(*b))
}

impl Around<'_, '_> {
    /// Puts an operand where the message has it.
    fn operand(&mut self, s: &Src, bits: Option<u64>) {
        if let (Src::Reg { offset, ty, constant: false, .. }, Some(bits)) = (s, bits) {
            self.put(*offset, ty.size(), bits);
        }
    }

    fn space(&mut self, space: &Space, bits: u64) {
        if let Space::Bti(s) | Space::Bindless(s) | Space::Scratch(s) = space {
            self.operand(s, Some(bits));
        }
    }

    fn row(&mut self, at: RegOffset, step: u32, bytes: u32, lanes: &[u64]) {
        for (x, k) in lanes.iter().zip(0..) {
            self.put(at + k * step, bytes, *x);
        }
    }

    fn simt(&mut self, s: &Simt, a: &Access, x: &Accessed, results: &[Type]) -> Places {
        self.space(&s.space, x.window);
        self.row(s.address, s.address_bytes.into(), s.address_bytes.into(), &x.address);
        self.operand(&s.stride, x.stride);
        self.operand(&s.base, x.base);
        self.operand(&s.origin, x.origin);
        let step = if s.is_paired() { 8 } else { u32::from(s.slot) };
        let data = s.data.unwrap_or(0);
        let place = |c: u32| data + c * s.component_stride;
        for (lanes, c) in x.data.iter().zip(0..) {
            self.row(place(c), step, a.element.into(), lanes);
        }
        (0..).zip(results).map(|(c, ty)| (place(c), step, *ty)).collect()
    }

    fn block(&mut self, b: &Block, x: &Accessed, types: &[Type]) -> Places {
        self.space(&b.space, x.window);
        self.operand(&b.address, x.address.first().copied());
        self.operand(&b.origin, x.origin);
        let mut at = b.data.unwrap_or(0);
        let mut out = Vec::new();
        for (k, ty) in types.iter().enumerate() {
            let bytes = ty.elem.bytes();
            if let Some(lanes) = x.data.get(k) {
                self.row(at, bytes, bytes, lanes);
            }
            out.push((at, bytes, *ty));
            at += ty.bytes();
        }
        out
    }
}

/// Where results are: the first lane's place, bytes from lane to lane, the type.
type Places = Vec<(RegOffset, u32, Type)>;

impl World for Around<'_, '_> {
    fn dispatch(&self) -> u32 {
        self.m.t.dispatch
    }

    fn input(&self, offset: RegOffset, bytes: u32) -> u64 {
        number(&self.start[offset as usize..][..bytes as usize])
    }

    fn put(&mut self, offset: RegOffset, bytes: u32, bits: u64) {
        let to = self.m.t.regs.slice_mut(offset, bytes);
        to.copy_from_slice(&bits.to_le_bytes()[..bytes as usize]);
    }

    fn get(&self, offset: RegOffset, bytes: u32) -> u64 {
        number(self.m.t.regs.slice(offset, bytes))
    }

    fn escape(&mut self, pc: Pc, exec: u32) -> Result<(), Halt> {
        self.m.t.mask = exec;
        // A handler may ask to be called again.
        loop {
            match self.of.rest.instruction(self.m, pc) {
                STOP => return Err(Halt),
                next if next == pc => {}
                _ => return Ok(()),
            }
        }
    }

    fn access(&mut self, a: &Access, x: &Accessed, results: &[Type]) -> Result<Vec<Vec<u64>>, Halt> {
        let program = self.of.program.clone();
        let i = &program.code()[a.pc as usize];
        let message = &program.messages()[i.aux as usize];
        debug_assert_eq!(i.op, Op::Message);
        let places = match message {
            Message::Simt(s) => self.simt(s, a, x, results),
            Message::Block(b) if a.kind == AccessKind::Store => {
                // Stored values are as many as the bytes take.
                let types: Vec<Type> = envisa_vir::types_of(b.bytes);
                self.block(b, x, &types);
                Places::new()
            }
            Message::Block(b) => self.block(b, x, results),
            Message::Atomic(t) => {
                self.space(&t.space, x.window);
                self.row(t.address, t.address_bytes.into(), t.address_bytes.into(), &x.address);
                self.operand(&t.base, x.base);
                self.operand(&t.origin, x.origin);
                for (at, lanes) in t.src.into_iter().flatten().zip(&x.data) {
                    self.row(at, t.slot.into(), t.element.into(), lanes);
                }
                results.iter().map(|ty| (t.dst.unwrap_or(0), t.slot.into(), *ty)).collect()
            }
            other => panic!("no access is made of {other:?}"),
        };
        let channels = if a.block { i.channels.into() } else { u32::from(a.lanes) };
        let mask = if a.block && x.mask != 0 { u32::MAX >> (32 - channels) } else { x.mask };
        if self.m.message(a.pc, i.aux, mask, channels, i.first.into()) == STOP {
            return Err(Halt);
        }
        let lane = |(at, step, ty): &(RegOffset, u32, Type)| {
            (0..u32::from(ty.lanes)).map(|k| self.get(at + k * step, ty.elem.bytes())).collect()
        };
        Ok(places.iter().map(lane).collect())
    }

    fn spend(&mut self, pc: Pc, cost: u32) -> Result<(), Halt> {
        if self.m.t.budget < cost.into() {
            self.m.fault(pc, None, Cause::Limit);
            return Err(Halt);
        }
        self.m.t.budget -= u64::from(cost);
        Ok(())
    }

    fn fence(&mut self, _: Pc) {}

    fn mode(&mut self, cr0: u32) {
        let at = self.of.program.registers().predefined[envisa_isa::predefined::var::CR0 as usize];
        self.put(at, 4, cr0.into());
        self.m.refresh_mode();
    }
}
