//! Programs whose functions are called: each function is native code of its own. Between them the engine goes: what a
//! call does to a thread, and a return, is the machine's.

use super::*;
use crate::affine_vectors::Shapes;
use crate::known_integers::Known;
use envisa_isa::Modifier;
use envisa_lower::analysis::CellId;
use envisa_lower::{Function, ProgramParts, Src};
use envisa_machine::thread::Mask;
use envisa_sem::FpMode;

/// Does a program call functions or subroutines?
pub(super) fn calls(p: &Program) -> bool {
    p.code().iter().any(|i| matches!(i.op, Op::Call | Op::Fcall | Op::Ifcall))
}

/// A function as native code.
struct One {
    /// It alone, as a program; its first instruction is at `base` of all.
    program: Program,
    base: Pc,
    variant: Variant,
}

/// A program's functions as native code.
pub(super) struct Functions {
    program: Program,
    rest: Arc<dyn Instructions>,
    all: Vec<One>,
    scratch: Vec<usize>,
}

/// A function of a program as one of its own, with the registers of all.
fn function_as_program(p: &Program, f: &Function) -> Result<Program, String> {
    let parts = p.parts();
    let mut code = parts.code[f.entry as usize..f.end as usize].to_vec();
    for i in &mut code {
        i.function = 0;
        match i.op {
            Op::Goto | Op::Call => {
                i.aux = i.aux.checked_sub(f.entry).ok_or("a branch leaves the function")?
            }
            Op::Fret => i.op = Op::Ret,
            // Which one, the machine knows.
            Op::Fcall => i.aux = 0,
            _ => {}
        }
    }
    let own = Function { entry: 0, end: code.len() as Pc, lines: Vec::new(), ..f.clone() };
    let parts = ProgramParts {
        functions: vec![own],
        code,
        // What it starts with is what it is called with.
        inputs: Vec::new(),
        ..parts.clone()
    };
    Program::new(parts).map_err(|e| format!("function `{}`: {e}", f.name))
}

impl Functions {
    pub fn new(p: &Program, rest: &Arc<dyn Instructions>, level: Level) -> Result<Functions, String> {
        let named = |f: &Function, why: String| format!("function `{}`: {why}", f.name);
        let mut parts = Vec::new();
        for f in p.functions() {
            let program = function_as_program(p, f).map_err(|why| named(f, why))?;
            let flow = Flow::around_calls(program.parts()).map_err(|e| named(f, describe_not_analysed(e)))?;
            parts.push((program, flow));
        }
        // A function is called in one mode if nobody but the kernel changes it, and that calls from one alone.
        let keep = parts.iter().skip(1).all(|(p, _)| keeps_mode(p));
        let of_kernel = parts.first().map(|(p, flow)| Modes::beginning(p, flow, Some(FpMode::START), keep));
        let called = match (&of_kernel, parts.first()) {
            (Some(modes), Some((kernel, flow))) if keep => in_calls(kernel, flow, modes),
            _ => None,
        };
        let mut all = Vec::new();
        for (k, (f, (program, flow))) in p.functions().iter().zip(parts).enumerate() {
            let own = of_kernel.clone().filter(|_| k == 0);
            let modes = own.unwrap_or_else(|| Modes::beginning(&program, &flow, called, keep));
            let compiled = compile_function(&program, &flow, (group_runs_together(p), level), &modes)
                .map_err(|why| named(f, why))?;
            let variant = Variant::new(&program, compiled, None)?;
            all.push(One { program, base: f.entry, variant });
        }
        Ok(Functions { program: p.clone(), rest: rest.clone(), all, scratch: sites::to_scratch(p) })
    }

    /// Bytes of code of all of them.
    pub fn code_bytes(&self) -> usize {
        self.all.iter().map(|f| f.variant.compiled.code.bytes.len()).sum()
    }

    /// Its functions as text.
    pub fn listing(&self, tell: Tell<'_>) -> String {
        let one = |f: &One| {
            format!(
                "; function {}\n{}",
                f.program.functions()[0].name,
                crate::listing::listing(&f.program, &f.variant.compiled, tell)
            )
        };
        self.all.iter().map(one).collect()
    }

    /// The function that an instruction is of.
    fn of(&self, pc: Pc) -> Option<usize> {
        self.all.iter().position(|f| (f.base..f.base + f.program.code().len() as Pc).contains(&pc))
    }
}

/// The mode that a kernel calls functions in, if it is one and the same.
fn in_calls(kernel: &Program, flow: &Flow, modes: &Modes) -> Option<FpMode> {
    let calls = |pc: &Pc| matches!(kernel.code()[*pc as usize].op, Op::Fcall | Op::Ifcall);
    let mut all = (0..flow.end()).filter(|pc| flow.is_reachable(*pc) && calls(pc)).map(|pc| modes.at(pc));
    let first = all.next()??;
    all.all(|m| m == Some(first)).then_some(first)
}

/// Compiles a function for threads with any channels.
fn compile_function(
    p: &Program,
    flow: &Flow,
    (together, level): (bool, Level),
    modes: &Modes,
) -> Result<Compiled, String> {
    let mut passes = Passes::begin();
    let cells = Cells::shared(p.parts(), 64);
    let live = Liveness::new(p.parts(), flow, &cells, false).map_err(describe_not_analysed)?;
    let (shapes, deferred, known) =
        (Shapes::of_function(p, flow, &cells), Deferred::default(), Known::default());
    let keep = |c: CellId| cells.get(c).kind == CellKind::Narrow;
    let alloc = Allocation::new(p, flow, &cells, &live, &shapes, &keep, &deferred.longer, false);
    // Any channels may call it.
    let active = Active::default();
    let facts = (&shapes, &alloc, &deferred, &known, &active, modes);
    passes.over("analysis");
    Emit::new(p, flow, &cells, &live, facts, (false, together, level), None).run(passes)
}

impl Translation for Functions {
    fn accepts_launch(&self, _: &LaunchView<'_>) -> bool {
        true
    }

    fn left(&self, _: &LaunchView<'_>) -> Result<Left, String> {
        let of =
            |f: &One| f.variant.compiled.slow.iter().map(|(pc, why)| (f.base + pc, *why)).collect::<Vec<_>>();
        let scheduled =
            group_runs_together(&self.program).then_some("functions that are called").into_iter().collect();
        let code_bytes = self.all.iter().map(|f| f.variant.compiled.code.bytes.len()).sum();
        Ok(Left { instructions: self.all.iter().flat_map(of).collect(), scheduled, code_bytes })
    }

    fn new_worker<'a>(
        &'a self,
        launch: &'a LaunchView<'a>,
        number: u32,
    ) -> Result<Box<dyn Worker + 'a>, Box<Trap>> {
        let mut sites = vec![Site::NOWHERE; crate::image_variants::sites(&self.program)];
        let at = sites.as_mut_ptr();
        let mut contexts: Vec<Context> =
            self.all.iter().map(|f| Context::new(&f.variant, at, callback as *const ())).collect();
        contexts.iter_mut().for_each(|c| c.link(launch.env.symbols));
        let together = group_runs_together(&self.program);
        let threads = if together { launch.prepared.most_threads() } else { 0 };
        let run = Between {
            functions: self,
            contexts,
            sites,
            waiting: Vec::new(),
            together,
            stopped: vec![Stopped::default(); threads as usize],
        };
        Ok(Box::new(Groups::new(launch, number, run)?))
    }
}

/// The active channels that call there, and the subroutine or the function that they call; `None` where that is for the
/// interpreter to find out.
fn called_target(m: &Machine<'_>, pc: Pc) -> Option<(Mask, Pc, Option<u32>)> {
    let i = m.env.program.code().get(pc as usize)?;
    if i.pred.offset != 0 {
        return None;
    }
    let taken = if i.channels > 1 { m.t.mask & i.channel_bits() } else { m.t.mask };
    match (i.op, i.src[0]) {
        (Op::Call, _) => Some((taken, i.aux, None)),
        (Op::Fcall, _) => Some((taken, 0, Some(i.aux))),
        (Op::Ifcall, Src::Reg { offset, ty, modifier: Modifier::None, .. }) if ty.size() >= 4 => {
            let address: u32 = m.t.regs.peek(offset);
            let found = m.env.function_addresses.iter().position(|a| *a as u32 == address);
            found.filter(|f| *f != 0).map(|f| (taken, 0, Some(f as u32)))
        }
        _ => None,
    }
}

/// Runs threads, function by function.
struct Between<'a> {
    functions: &'a Functions,
    /// By function.
    contexts: Vec<Context>,
    sites: Vec<Site>,
    /// Of callers, the innermost last: the channels that wait at their labels.
    waiting: Vec<Vec<u32>>,
    /// Threads of a group are alive together.
    together: bool,
    /// Those that wait, or have had their turn.
    stopped: Vec<Stopped>,
}

/// Where a thread goes on that waits.
#[derive(Clone, Default)]
struct Stopped {
    /// The function, and the number of the resumption there.
    function: usize,
    resume: u32,
    /// The channels that wait at its labels, and at those of its callers.
    waits: Vec<u32>,
    waiting: Vec<Vec<u32>>,
}

impl Run for Between<'_> {
    fn run(&mut self, m: &mut Machine<'_>, fresh: bool, stop: &Stop) {
        let p = &self.functions.program;
        // What the code was compiled for is what it will touch.
        let same = m.env.program.is(p) && m.t.regs.len() >= p.registers().bytes;
        let index = m.t.index as usize;
        assert!(same && (fresh || index < self.stopped.len()), "a thread of another program");
        if !self.functions.scratch.is_empty() {
            sites::move_scratch(m, &self.functions.scratch, &mut self.sites);
        }
        let from = if fresh { Stopped::default() } else { std::mem::take(&mut self.stopped[index]) };
        let mut now = from.function;
        self.waiting = from.waiting;
        let context = &mut self.contexts[now];
        context.set(at::RESUME, from.resume);
        context.no_waiting();
        context.set_waiting(&from.waits);
        loop {
            let (how, over) = self.enter(m, now, stop);
            let depth = m.t.frames.len();
            let one = &self.functions.all[now];
            let context = &mut self.contexts[now];
            let next = match how {
                exit::DONE if m.t.status == Status::Done => return,
                // All channels have left it.
                exit::DONE => m.ret(Mask::MAX, one.base),
                exit::CALL => {
                    let pc = one.base + context.get(at::PC);
                    m.t.mask = context.get(at::EXEC);
                    m.t.pc = pc;
                    match called_target(m, pc) {
                        Some((taken, target, f)) => m.call(taken, target, f, pc),
                        None => self.functions.rest.instruction(m, pc),
                    }
                }
                exit::BARRIER => {
                    m.t.mask = context.get(at::EXEC);
                    let pc = one.base + context.get(at::PC);
                    m.suspend(pc, Status::Barrier);
                    return self.stop(index, now);
                }
                exit::EXPIRED if !over => {
                    m.t.mask = context.get(at::EXEC);
                    let pc = one.base + context.get(at::PC);
                    let target = p.code()[pc as usize].aux;
                    m.suspend(target, Status::Yielded);
                    return self.stop(index, now);
                }
                exit::EXPIRED => return stop_at_limit(m, &one.variant, context, one.base),
                // A callback said why: also that it waits.
                _ => {
                    if m.t.status == Status::Ready {
                        m.fault(m.t.pc, None, Cause::FellOff);
                    }
                    if m.trap.is_none() && self.together {
                        self.stop(index, now);
                    }
                    return;
                }
            };
            if next == STOP {
                return;
            }
            let Some(to) = self.functions.of(next) else {
                m.fault(next, None, Cause::FellOff);
                return;
            };
            let one = &self.functions.all[to];
            let entry = next - one.base;
            if m.t.frames.len() > depth {
                let waiting = self.contexts[now].take_waiting();
                self.waiting.push(waiting);
                self.contexts[to].no_waiting();
            } else if how == exit::DONE {
                let context = &mut self.contexts[to];
                context.set_waiting(&self.waiting.pop().unwrap_or_default());
            }
            let resume = if entry == 0 { Some(&0) } else { one.variant.compiled.resumptions.get(&entry) };
            let Some(resume) = resume else {
                m.fault(next, None, Cause::FellOff);
                return;
            };
            self.contexts[to].set(at::RESUME, *resume);
            now = to;
        }
    }
}

impl Between<'_> {
    /// Keeps where a thread goes on.
    fn stop(&mut self, index: usize, now: usize) {
        let context = &mut self.contexts[now];
        let (resume, waits) = (context.get(at::RESUME), context.take_waiting());
        self.stopped[index] =
            Stopped { function: now, resume, waits, waiting: std::mem::take(&mut self.waiting) };
    }

    /// Runs a function's code until it is left, with the thread's channels; how it was, and whether the thread has spent
    /// more than it had.
    fn enter(&mut self, m: &mut Machine<'_>, now: usize, stop: &Stop) -> (i32, bool) {
        let one = &self.functions.all[now];
        let context = &mut self.contexts[now];
        m.t.status = Status::Ready;
        context.set(at::EXEC, m.t.mask);
        // Others of the group have their turn then.
        let given = budget_per_turn(if self.together { m.t.budget.min(m.t.turn) } else { m.t.budget });
        context.set64(at::BUDGET, given);
        let mut host = Host {
            budget: (m.t.budget, given),
            machine: m,
            rest: &*self.functions.rest,
            row_caches: one.variant.row_caches(),
            base: one.base,
            sites: &mut self.sites,
            stop,
            row: None,
            in_place: (&[], 0),
            at: None,
            observed: None,
        };
        debug_assert_eq!(context.get64(at::SITES), host.sites.as_ptr() as u64);
        context.set64(at::HOST, std::ptr::from_mut(&mut host) as u64);
        let registers = host.machine.t.regs.bytes_mut().as_mut_ptr();
        // SAFETY: as in `Runner::run`.
        let how = unsafe { one.variant.code.call(registers, context.lines.as_mut_ptr().cast()) };
        let spent = host.spent(context.get64(at::BUDGET));
        let over = host.budget.0 < spent;
        let t = &mut host.machine.t;
        let goes_on = matches!(how as i32, exit::DONE | exit::CALL | exit::BARRIER);
        // A callback that stopped it has told the thread what it has left.
        if goes_on || (how as i32 == exit::EXPIRED && !over) {
            t.budget = host.budget.0.wrapping_sub(spent);
        }
        if self.together {
            t.turn = t.turn.saturating_sub(spent);
        }
        (how as i32, over)
    }
}
