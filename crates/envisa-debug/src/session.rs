//! A session: a launch that stops where it is told to, and goes back.

use crate::breakpoints::Breakpoints;
use crate::c_expressions::{Expr, parse};
use crate::eval::{Eval, Value};
use crate::finding_stops::FindingAt;
use crate::lane_view::{Frame, LaneFrame};
use crate::lines::{Line, Lines};
use crate::symbols::Symbols;
use crate::types::Types;
use envisa::lower::{Op, Program};
use envisa::machine::engine::flag;
use envisa::machine::group::log::Place;
use envisa::machine::group::paused::{Order, Paused};
use envisa::machine::thread::Status;
use envisa::{Error, Fault, Stage};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a session runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// In which order groups and threads run.
    pub order: Order,
    /// Bytes that the log of the past may take.
    pub history: u64,
    /// It stops at findings of all kinds that are not hints.
    pub check: bool,
    /// What somebody should know before it begins.
    pub notes: Vec<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options { order: Order::Forward, history: 1 << 30, check: false, notes: Vec::new() }
    }
}

/// Why it stopped.
#[derive(Clone, PartialEq, Debug)]
pub enum Stop {
    /// It has not begun.
    Entry,
    /// A step is done.
    Step,
    /// Breakpoints of these numbers were reached.
    Breakpoint(Vec<u64>),
    /// A data breakpoint of this number: what was accessed, by whom.
    Data(u64, String),
    /// A fault.
    Fault(Box<Fault>),
    /// An exception of a filter: what happened.
    Exception(&'static str, String),
    /// Somebody asked for it.
    Pause,
    /// All groups have ended.
    End,
    /// There is nothing before.
    Beginning,
    /// It went where it was told to.
    Goto,
}

/// Forwards, or back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// In time.
    Forward,
    /// Against it.
    Back,
}

/// How far a step goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// To another line of this function, or of its caller.
    Over,
    /// To another line of any function.
    In,
    /// Out of this function.
    Out,
    /// One instruction of the thread.
    Instruction,
}

/// Who is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Focus {
    /// The thread of the group.
    pub thread: usize,
    /// Its lane.
    pub lane: u32,
}

/// Something that somebody changed.
struct Change {
    clock: u64,
    place: Place,
    bytes: Vec<u8>,
}

/// A session.
pub struct Session<'s, 'a> {
    /// The launch.
    pub stage: &'s Stage<'a>,
    /// Where it is.
    pub paused: Paused<'s>,
    /// What the compiler told.
    pub symbols: Symbols,
    /// Types, which expressions add to.
    pub types: RefCell<Types>,
    /// Lines.
    pub lines: Lines,
    /// Who is looked at.
    pub focus: Focus,
    /// Where it stops.
    pub breakpoints: Breakpoints,
    /// What logpoints said.
    pub said: Vec<String>,
    /// Somebody asks it to stop.
    pub pause: Arc<AtomicBool>,
    options: Options,
    changes: Vec<Change>,
    flags: Vec<u8>,
    /// What checks find in the launch, in the order of time, once somebody wants to stop there.
    pub(crate) finds: Option<Vec<FindingAt>>,
    /// The types of vISA variables by their names.
    pub(crate) declared: HashMap<String, envisa::isa::Type>,
    /// Where functions write the frame pointer, of those that were looked at.
    pub(crate) frame_writes: RefCell<HashMap<u16, Rc<[u32]>>>,
}

/// Instructions that are run again, and kept, when somebody goes back.
const WINDOW: u64 = 1 << 20;
/// Instructions between looks at whether somebody asks it to stop.
const SLICE: u64 = 1 << 20;

impl<'s, 'a> Session<'s, 'a> {
    /// Before the first instruction.
    ///
    /// # Errors
    /// As [`Stage::begin`].
    pub fn new(stage: &'s Stage<'a>, options: Options) -> Result<Self, Error> {
        let paused = stage.begin(options.order, options.history)?;
        let section = |name: &str| {
            let sections = stage.kernel().module().zebin().map(|z| &z.elf.sections[..]).unwrap_or_default();
            sections.iter().find(|s| s.name == name).map_or(&[][..], |s| &s.data)
        };
        let kernel = stage.kernel().name();
        let symbols =
            Symbols::read(section(".debug_info"), section(".debug_abbrev"), section(".debug_str"), kernel);
        let types = RefCell::new(symbols.types.clone());
        let program = stage.program();
        let flags = program.code().iter().map(|i| if i.op == Op::Message { flag::MESSAGE } else { 0 });
        let mut session = Session {
            lines: Lines::new(stage),
            flags: flags.collect(),
            stage,
            paused,
            symbols,
            types,
            focus: Focus::default(),
            breakpoints: Breakpoints::default(),
            said: Vec::new(),
            pause: Arc::default(),
            options,
            changes: Vec::new(),
            finds: None,
            declared: stage.kernel().variables().iter().map(|v| (v.name.clone(), v.ty)).collect(),
            frame_writes: RefCell::default(),
        };
        if session.options.check {
            session.breakpoints.findings.extend(crate::finding_stops::kinds_by_name("finding"));
        }
        session.look_at_turn();
        Ok(session)
    }

    /// The program that runs.
    pub fn program(&self) -> &'a Program {
        self.stage.program()
    }

    /// How it runs.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Back to before the first instruction; breakpoints stay.
    ///
    /// # Errors
    /// As [`Stage::begin`].
    pub fn restart(&mut self) -> Result<Stop, Error> {
        self.paused = self.stage.begin(self.options.order, self.options.history)?;
        if !std::mem::take(&mut self.changes).is_empty() {
            self.forget_hits();
        }
        self.look_at_turn();
        Ok(Stop::Entry)
    }

    /// The thread whose turn it is is looked at, with its lane if that is active.
    pub(crate) fn look_at_turn(&mut self) {
        let thread = self.paused.current();
        let mask = self.paused.threads().get(thread).map_or(0, |t| t.mask);
        let lane = if thread == self.focus.thread && mask >> self.focus.lane & 1 != 0 {
            self.focus.lane
        } else {
            mask.trailing_zeros() % 32
        };
        self.focus = Focus { thread, lane };
    }

    /// Is there nothing more to execute?
    pub fn is_over(&self) -> bool {
        self.paused.ended() || self.paused.trap().is_some()
    }

    /// The end, or the fault.
    fn over(&self) -> Stop {
        match self.paused.trap() {
            Some(trap) => Stop::Fault(Box::new(self.stage.fault(trap))),
            None => Stop::End,
        }
    }

    /// Executes one instruction, whoever's turn it is.
    fn forward(&mut self) -> bool {
        let done = self.paused.step();
        if done {
            self.change_again();
        }
        done
    }

    /// When somebody changed something next.
    pub(crate) fn next_change(&self) -> u64 {
        let now = self.paused.clock();
        self.changes.iter().map(|c| c.clock).filter(|c| *c > now).fold(u64::MAX, u64::min)
    }

    /// What somebody changed at this time is changed.
    pub(crate) fn change_again(&mut self) {
        let now = self.paused.clock();
        for change in self.changes.iter().filter(|c| c.clock == now) {
            self.paused.write_kept(change.place, &change.bytes);
        }
    }

    /// Goes back by one instruction; `false` at the beginning.
    fn backward(&mut self) -> bool {
        if self.paused.back() || self.remember() && self.paused.back() {
            let (now, known) = (self.paused.clock(), self.changes.len());
            self.changes.retain(|c| c.clock <= now);
            if self.changes.len() < known {
                self.forget_hits();
                self.count_hits();
            }
            return true;
        }
        false
    }

    /// Runs again what led here, and keeps it; `false` at the beginning.
    pub(crate) fn remember(&mut self) -> bool {
        let now = self.paused.clock();
        if now == 0 {
            return false;
        }
        let Ok(again) = self.stage.begin(self.options.order, self.options.history) else { return false };
        self.paused = again;
        self.change_again();
        self.run_to(now.saturating_sub(WINDOW));
        while self.paused.clock() < now && self.forward() {}
        self.paused.clock() == now && !self.paused.log().is_empty()
    }

    /// The flags of the program without breakpoints.
    pub(crate) fn plain_flags(&self) -> Vec<u8> {
        self.flags.iter().map(|f| f & flag::MESSAGE).collect()
    }

    /// Runs again what led here, and keeps nothing of it.
    pub(crate) fn run_again(&mut self) {
        let now = self.paused.clock();
        if let Ok(again) = self.stage.begin(self.options.order, self.options.history) {
            self.paused = again;
            self.change_again();
            self.run_to(now);
        }
    }

    /// Runs to a clock and keeps nothing.
    fn run_to(&mut self, clock: u64) {
        let stops: Vec<u64> = self.changes.iter().map(|c| c.clock).filter(|c| *c < clock).collect();
        let plain = self.plain_flags();
        for until in stops.into_iter().chain([clock]) {
            self.paused.run(&plain, until);
            self.change_again();
        }
    }

    /// Goes to a clock.
    pub fn run_to_clock(&mut self, clock: u64) -> Stop {
        while self.paused.clock() < clock {
            if !self.forward() {
                break;
            }
        }
        while self.paused.clock() > clock {
            if !self.backward() {
                break;
            }
        }
        self.look_at_turn();
        Stop::Goto
    }

    /// Is somebody asking it to stop?
    fn asked(&self) -> bool {
        self.pause.swap(false, Ordering::Relaxed)
    }

    /// Goes on to the next stop. Until the first one nothing is kept, unless what stops it takes that: it is run again
    /// when somebody goes back.
    pub fn resume(&mut self) -> Stop {
        self.mark();
        let watched = self.breakpoints.watches() || !self.paused.log().is_empty();
        if !watched {
            return self.run();
        }
        let mut n = 0u64;
        loop {
            if self.is_over() {
                return self.stopped(self.over());
            }
            if let Some(stop) = self.forward_watched() {
                return self.stopped(stop);
            }
            n += 1;
            if n.is_multiple_of(1024) && self.asked() {
                return self.stopped(Stop::Pause);
            }
        }
    }

    /// The same without a look at what instructions do.
    fn run(&mut self) -> Stop {
        loop {
            if self.is_over() {
                return self.stopped(self.over());
            }
            let until = (self.paused.clock() + SLICE).min(self.next_find()).min(self.next_change());
            let flags = std::mem::take(&mut self.flags);
            self.paused.run(&flags, until);
            self.flags = flags;
            self.change_again();
            if self.is_over() {
                continue;
            }
            if let Some(stop) = self.arrived() {
                return self.stopped(stop);
            }
            if self.asked() {
                return self.stopped(Stop::Pause);
            }
        }
    }

    /// Looks at the turn, where the stop did not say who is looked at.
    fn stopped(&mut self, stop: Stop) -> Stop {
        self.hits_are_known();
        match &stop {
            Stop::Breakpoint(_) | Stop::Data(..) | Stop::Exception(..) => {}
            Stop::Fault(fault) => {
                let lane = fault.channel.unwrap_or(fault.active_channels.trailing_zeros() % 32);
                self.focus = Focus { thread: fault.thread as usize, lane };
            }
            _ => self.look_at_turn(),
        }
        stop
    }

    /// Executes one instruction and looks at what it did and where it led.
    fn forward_watched(&mut self) -> Option<Stop> {
        let (thread, before) = (self.paused.current(), self.before_instruction());
        if !self.forward() {
            return Some(self.over());
        }
        let stop = self.accessed().or_else(|| self.find_new_nan(thread, before));
        if self.is_over() {
            return stop.or_else(|| Some(self.over()));
        }
        // What is here too is hit, and looks at nobody else.
        let focus = self.focus;
        let here = self.arrived();
        if stop.is_some() {
            self.focus = focus;
        }
        stop.or(here)
    }

    /// The finding or the breakpoints that stop it here.
    fn arrived(&mut self) -> Option<Stop> {
        let hit = self.reached();
        self.find_here().or(hit)
    }

    /// The instruction whose turn it is.
    pub fn pc(&self) -> u32 {
        self.paused.threads().get(self.paused.current()).map_or(0, |t| t.pc)
    }

    /// The breakpoints that stop it here.
    fn reached(&mut self) -> Option<Stop> {
        let pc = self.pc();
        if self.flags.get(pc as usize).is_none_or(|f| f & flag::STOP == 0) {
            return None;
        }
        let thread = self.paused.current();
        let before = self.paused.before(thread);
        self.breakpoint(thread, pc, before)
    }

    /// Did an instruction come here from the same line of the same function?
    pub(crate) fn same_line(&self, pc: u32, before: Option<u32>) -> bool {
        let Some(before) = before else { return false };
        let code = self.program().code();
        let call = code
            .get(before as usize)
            .is_some_and(|i| matches!(i.op, Op::Call | Op::Fcall | Op::Ifcall | Op::Ret | Op::Fret));
        !call && self.lines.of(before) == self.lines.of(pc)
    }

    /// Writes the breakpoints into the flags of the program.
    fn mark(&mut self) {
        self.find();
        self.count_hits();
        self.flags.iter_mut().for_each(|f| *f &= flag::MESSAGE);
        for pc in self.breakpoints.places() {
            if let Some(f) = self.flags.get_mut(pc as usize) {
                *f |= flag::STOP;
            }
        }
    }

    /// Goes back to the last stop before this one, or to the beginning.
    pub fn go_back(&mut self) -> Stop {
        self.mark();
        let mut n = 0u64;
        loop {
            // What the instruction that is undone accessed.
            let stop = self.accessed();
            if !self.backward() {
                self.look_at_turn();
                return Stop::Beginning;
            }
            if let Some(stop) = stop {
                return stop;
            }
            let was = self.breakpoints.set_announced(false);
            let stop = self.arrived();
            self.breakpoints.set_announced(was);
            if let Some(stop) = stop {
                return stop;
            }
            n += 1;
            if n.is_multiple_of(1024) && self.asked() {
                return self.stopped(Stop::Pause);
            }
        }
    }

    /// A thread's depth of calls, line, and whether the focused lane is active, if the thread's turn it is.
    fn standing(&self, group: [u32; 3]) -> Option<(usize, Option<Line>, bool)> {
        if self.paused.group().id != group || self.paused.current() != self.focus.thread {
            return None;
        }
        let t = self.paused.threads().get(self.focus.thread)?;
        Some((t.frames.len(), self.lines.of(t.pc), t.mask >> self.focus.lane & 1 != 0))
    }

    /// A step of the thread that is looked at.
    pub fn step(&mut self, step: Step, way: Direction) -> Stop {
        self.mark();
        match way {
            Direction::Forward => self.step_forward(step),
            Direction::Back => self.step_back(step),
        }
    }

    /// Does the thread still put parameters in their places, at the head of a function that has more lines?
    fn in_head(&self) -> bool {
        let pc = self.pc();
        let program = self.program();
        let function =
            program.code().get(pc as usize).and_then(|i| program.functions().get(i.function as usize));
        let Some(f) = function else { return false };
        let Some(declared) = self.symbols.functions.get(&f.name).map(|f| f.line) else { return false };
        let behind = |pc: u32| self.lines.of(pc).is_some_and(|l| l.line > declared);
        !behind(pc) && (pc..f.end).any(behind)
    }

    fn step_forward(&mut self, step: Step) -> Stop {
        let focus = self.focus;
        let group = self.paused.group().id;
        let Some(t) = self.paused.threads().get(focus.thread) else { return self.resume() };
        let (depth, line) = (t.frames.len(), self.lines.of(t.pc));
        let mut n = 0u64;
        loop {
            if self.is_over() {
                return self.stopped(self.over());
            }
            let mine = self.paused.current() == focus.thread;
            if let Some(stop) = self.forward_watched() {
                return self.stopped(stop);
            }
            n += 1;
            if n.is_multiple_of(1024) && self.asked() {
                return self.stopped(Stop::Pause);
            }
            let ended = self.paused.group().id != group
                || self.paused.threads().get(focus.thread).is_none_or(|t| t.status == Status::Done);
            if ended || step == Step::Instruction && mine {
                return self.stopped(Stop::Step);
            }
            let Some((d, l, active)) = self.standing(group) else { continue };
            let done = match step {
                Step::Out => d < depth,
                Step::Over if d < depth => true,
                Step::Over => d == depth && l.is_some() && l != line && active,
                Step::In if d > depth => l.is_some() && active && !self.in_head(),
                Step::In => l.is_some() && (d != depth || l != line) && active,
                Step::Instruction => false,
            };
            if done {
                self.hits_are_known();
                return Stop::Step;
            }
        }
    }

    fn step_back(&mut self, step: Step) -> Stop {
        let focus = self.focus;
        let group = self.paused.group().id;
        let Some(t) = self.paused.threads().get(focus.thread) else { return self.go_back() };
        let (depth, line) = (t.frames.len(), self.lines.of(t.pc));
        // In the midst of a line its beginning is the aim.
        let begins = self.lines.begins(t.pc) && !self.same_line(t.pc, self.paused.before(focus.thread));
        let mut aim = (!begins && line.is_some() && step != Step::Out).then_some((depth, line));
        let mut best = aim.map(|_| self.paused.clock());
        let mut n = 0u64;
        while self.backward() {
            n += 1;
            if n.is_multiple_of(1024) && self.asked() {
                break;
            }
            let Some((d, l, active)) = self.standing(group) else {
                if self.paused.group().id != group && step != Step::Instruction && best.is_some() {
                    break;
                }
                continue;
            };
            match (step, aim) {
                (Step::Instruction, _) => return Stop::Step,
                (Step::Out, _) => {
                    if d < depth {
                        return Stop::Step;
                    }
                }
                (_, None) => {
                    let near = step == Step::In || d <= depth;
                    if near && active && l.is_some() && (d, l) != (depth, line) && !self.in_head() {
                        aim = Some((d, l));
                        best = Some(self.paused.clock());
                    } else if near && active && l == line && d == depth && self.lines.begins(self.pc()) {
                        // The same line once more.
                        best = Some(self.paused.clock());
                    }
                }
                (_, Some((at, of))) => {
                    if d == at && l == of {
                        best = Some(self.paused.clock());
                    } else if d <= at {
                        break;
                    }
                }
            }
        }
        match best {
            Some(clock) => {
                while self.paused.clock() < clock && self.forward() {}
                self.focus = focus;
                Stop::Step
            }
            None => {
                self.look_at_turn();
                Stop::Beginning
            }
        }
    }

    /// The value of an expression for a lane in a frame.
    ///
    /// # Errors
    /// Why it has none, in a sentence.
    pub fn evaluate(&self, text: &str, focus: Focus, frame: usize) -> Result<Value, String> {
        let e = parse(text)?;
        let frames = self.frames(focus.thread);
        let frame = frames.get(frame).ok_or("the thread has no such frame")?;
        self.evaluate_in(&e, focus, frame)
    }

    /// The same of an expression that was read.
    ///
    /// # Errors
    /// As [`Session::evaluate`].
    pub fn evaluate_in(&self, e: &Expr, focus: Focus, frame: &Frame) -> Result<Value, String> {
        let seen = LaneFrame { session: self, thread: focus.thread, lane: focus.lane, frame };
        Eval { types: &mut self.types.borrow_mut(), look: &seen }.value(e)
    }

    /// The same in words, or why there is no value.
    pub fn shown(&self, e: &Result<Expr, String>, focus: Focus, frame: &Frame) -> String {
        let value = e.as_ref().map_err(Clone::clone).and_then(|e| self.evaluate_in(e, focus, frame));
        match value {
            Ok(v) => self.types.borrow().show(v.ty, &v.bytes),
            Err(why) => format!("<{why}>"),
        }
    }

    /// Changes a value; gives what it is now.
    ///
    /// # Errors
    /// Why it cannot be changed.
    pub fn assign(&mut self, to: &str, from: &str, frame: usize) -> Result<Value, String> {
        let (focus, frames) = (self.focus, self.frames(self.focus.thread));
        let frame_of = frames.get(frame).ok_or("the thread has no such frame")?;
        let target = self.evaluate_in(&parse(to)?, focus, frame_of)?;
        let value = self.evaluate_in(&parse(from)?, focus, frame_of)?;
        let bytes = {
            let seen = LaneFrame { session: self, thread: focus.thread, lane: focus.lane, frame: frame_of };
            Eval { types: &mut self.types.borrow_mut(), look: &seen }.converted(&value, target.ty)?
        };
        let place = target.place.ok_or_else(|| format!("`{to}` is not a variable"))?;
        self.change(place, &bytes)?;
        self.evaluate(to, focus, frame)
    }

    /// Changes memory now.
    ///
    /// # Errors
    /// There is none, or it is a register.
    pub fn change(&mut self, place: Place, bytes: &[u8]) -> Result<(), String> {
        if matches!(place, Place::Register(_)) {
            return Err("registers of vISA can be read, not changed".into());
        }
        self.read(place, bytes.len() as u64)?;
        if self.paused.log().is_empty() {
            self.remember();
        }
        let clock = self.paused.clock();
        self.paused.write_kept(place, bytes);
        self.changes.push(Change { clock, place, bytes: bytes.to_vec() });
        self.forget_hits();
        // What would be found from here on was another launch's.
        if let Some(finds) = &mut self.finds {
            let known = finds.len();
            finds.retain(|f| f.clock <= clock);
            if finds.len() < known {
                self.said.push("after this change, findings are not looked for".into());
            }
        }
        Ok(())
    }
}
