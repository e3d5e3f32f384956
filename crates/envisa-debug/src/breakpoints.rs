//! The conditions at which a session stops: instructions, accesses, findings, faults.

use crate::c_expressions::{Expr, parse};
use crate::hit_counts::{HitCondition, Hits};
use crate::lane_view::Frame;
use crate::session::{Focus, Session, Stop};
use envisa::FindingKind;
use envisa::lower::{Dst, ExecType, Message, Op, Src, Touched};
use envisa::machine::engine::flag;
use envisa::machine::group::log::{Place, Record};
use std::collections::BTreeSet;

/// What a breakpoint is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A line.
    Line,
    /// A function.
    Function,
    /// An instruction.
    Instruction,
}

/// When it counts.
#[derive(Clone, Debug, Default)]
pub struct When {
    /// An expression that is true.
    pub condition: Option<Expr>,
    /// Which of a lane's hits.
    pub hits: Option<HitCondition>,
    /// What is said instead of stopping, with expressions in braces.
    pub message: Option<Vec<Part>>,
    /// All of that as it was written.
    pub text: String,
}

/// A part of a message.
#[derive(Clone, Debug)]
pub enum Part {
    /// Itself.
    Text(String),
    /// Its value.
    Value(Expr),
}

impl When {
    /// Of texts; empty ones are none.
    ///
    /// # Errors
    /// What is wrong in one of them.
    pub fn of(condition: &str, hits: &str, message: &str) -> Result<When, String> {
        let some = |text: &str| (!text.trim().is_empty()).then(|| text.trim().to_owned());
        let told = [("if", some(condition)), ("hits", some(hits)), ("says", some(message))].into_iter();
        let told = told.filter_map(|(word, text)| Some(format!(" {word} {}", text?)));
        Ok(When {
            text: told.collect(),
            condition: some(condition).map(|c| parse(&c)).transpose()?,
            hits: some(hits).map(|h| HitCondition::read(&h)).transpose()?,
            message: some(message).map(|m| parse_message_parts(&m)).transpose()?,
        })
    }
}

fn parse_message_parts(message: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = message;
    while let Some(open) = rest.find('{') {
        let close = rest[open..].find('}').ok_or("a brace of the message is not closed")? + open;
        parts.push(Part::Text(rest[..open].to_owned()));
        parts.push(Part::Value(parse(&rest[open + 1..close])?));
        rest = &rest[close + 1..];
    }
    parts.push(Part::Text(rest.to_owned()));
    Ok(parts)
}

/// A breakpoint.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its number.
    pub id: u64,
    /// What it is for.
    pub kind: Kind,
    /// The instructions that it is at.
    pub at: Vec<u32>,
    /// When it counts.
    pub when: When,
    /// What people call it: `k.cl:12`.
    pub name: String,
    pub(crate) hits: Hits,
}

impl Breakpoint {
    /// Is it reached at an instruction? A line is where its thread came from another one.
    pub(crate) fn is_at(&self, pc: u32, same_line: bool) -> bool {
        self.at.contains(&pc) && !(self.kind == Kind::Line && same_line)
    }
}

/// A data breakpoint.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Its number.
    pub id: u64,
    /// What people call it.
    pub name: String,
    /// What is watched.
    pub place: Place,
    /// How many bytes.
    pub bytes: u64,
    /// Of a register: whose.
    pub thread: usize,
    /// Reads count, writes count.
    pub reads: bool,
    /// See `reads`.
    pub writes: bool,
    /// When it counts; hits are those since it was set.
    pub when: When,
    pub(crate) hits: Hits,
}

impl Watch {
    /// Of writes to a place, from this clock on; its number comes with [`Breakpoints::watch`].
    pub fn new(name: String, place: Place, bytes: u64, when: When, now: u64) -> Watch {
        let (reads, writes, hits) = (false, true, Hits::from(now));
        Watch { id: 0, name, place, bytes, thread: 0, reads, writes, when, hits }
    }
}

/// All of them.
#[derive(Default)]
pub struct Breakpoints {
    /// At instructions.
    pub all: Vec<Breakpoint>,
    /// At accesses.
    pub watched: Vec<Watch>,
    /// At operations that make a NaN of what is none.
    pub nan: bool,
    /// At findings of these kinds.
    pub findings: BTreeSet<FindingKind>,
    next: u64,
    silent: bool,
}

impl Breakpoints {
    /// A number for one more.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// One more.
    pub fn add(&mut self, kind: Kind, at: Vec<u32>, when: When, name: String) -> u64 {
        let id = self.number();
        self.all.push(Breakpoint { id, kind, at, when, name, hits: Hits::default() });
        id
    }

    /// One more data breakpoint.
    pub fn watch(&mut self, watch: Watch) -> u64 {
        let id = self.number();
        self.watched.push(Watch { id, ..watch });
        id
    }

    /// Without the one of this number; was there one?
    pub fn remove(&mut self, id: u64) -> bool {
        let before = self.all.len() + self.watched.len();
        self.all.retain(|b| b.id != id);
        self.watched.retain(|w| w.id != id);
        before != self.all.len() + self.watched.len()
    }

    /// The instructions that some are at.
    pub fn places(&self) -> BTreeSet<u32> {
        self.all.iter().flat_map(|b| b.at.iter().copied()).collect()
    }

    /// Does one take a look at what each instruction does?
    pub fn watches(&self) -> bool {
        self.nan || !self.watched.is_empty()
    }

    /// Messages are said, or not; gives what was before.
    pub fn set_announced(&mut self, yes: bool) -> bool {
        !std::mem::replace(&mut self.silent, !yes)
    }
}

/// What is known of an instruction before it runs.
pub(crate) struct Before {
    /// Lanes with a NaN among what is read.
    nan: u32,
}

impl Session<'_, '_> {
    /// The breakpoints that stop a thread at an instruction, which it came to from another one.
    pub(crate) fn breakpoint(&mut self, thread: usize, pc: u32, before: Option<u32>) -> Option<Stop> {
        let same = self.same_line(pc, before);
        let mask = self.paused.threads().get(thread)?.mask;
        let frames = self.frames(thread);
        let mut stopping = Vec::new();
        let mut lane = None;
        for i in 0..self.breakpoints.all.len() {
            if !self.breakpoints.all[i].is_at(pc, same) {
                continue;
            }
            let met = self.lanes_hit(i, thread, frames.first());
            let b = &self.breakpoints.all[i];
            if let Some(message) = &b.when.message {
                if !self.breakpoints.silent {
                    let met = (0..32).filter(|l| met >> l & 1 != 0);
                    let said: Vec<String> = met.map(|l| self.interpolated(message, thread, l)).collect();
                    self.said.extend(said);
                }
            } else if met != 0 {
                stopping.push(b.id);
                lane.get_or_insert(met.trailing_zeros());
            }
        }
        let lane = lane?;
        // Who is looked at stays, if the stop is its own too.
        let keeps =
            self.focus.thread == thread && lane == mask.trailing_zeros() && mask >> self.focus.lane & 1 != 0;
        if !keeps || self.conditional(&stopping) {
            self.focus = Focus { thread, lane };
        }
        Some(Stop::Breakpoint(stopping))
    }

    fn conditional(&self, ids: &[u64]) -> bool {
        let of = self.breakpoints.all.iter().filter(|b| ids.contains(&b.id));
        of.clone().count() > 0 && of.clone().all(|b| b.when.condition.is_some() || b.when.hits.is_some())
    }

    /// The lanes of a thread that hit a breakpoint, and whose hit counts.
    pub(crate) fn lanes_hit(&mut self, i: usize, thread: usize, frame: Option<&Frame>) -> u32 {
        let clock = self.paused.clock();
        let (b, mask) = (&self.breakpoints.all[i], self.paused.threads().get(thread).map_or(0, |t| t.mask));
        if let Some(known) = b.when.hits.and_then(|_| b.hits.known_lanes(clock)) {
            return known;
        }
        let (mut lanes, mut trouble) = (mask, None);
        if let Some(c) = &b.when.condition {
            for lane in (0..32).filter(|l| mask >> l & 1 != 0) {
                match self.truth(c, Focus { thread, lane }, frame) {
                    Ok(true) => {}
                    Ok(false) => lanes &= !(1 << lane),
                    Err(why) => trouble = Some(format!("{}: the condition has no value: {why}", b.name)),
                }
            }
        }
        self.said.extend(trouble.filter(|_| !self.breakpoints.silent));
        let by = (self.paused.group().id, thread);
        let b = &mut self.breakpoints.all[i];
        b.when.hits.map_or(lanes, |condition| b.hits.hit(condition, clock, by, lanes))
    }

    fn truth(&self, e: &Expr, focus: Focus, frame: Option<&Frame>) -> Result<bool, String> {
        let frame = frame.ok_or("there is no frame")?;
        let value = self.evaluate_in(e, focus, frame)?;
        let types = self.types.borrow();
        let base = types.base(value.ty).ok_or("it is not a number")?;
        Ok(crate::types::Number::read(base, &value.bytes).ok_or("it is not a number")?.is_true())
    }

    fn interpolated(&self, message: &[Part], thread: usize, lane: u32) -> String {
        let frames = self.frames(thread);
        let focus = Focus { thread, lane };
        let value = |e: &Expr| {
            let frame = frames.first().ok_or("there is no frame")?;
            let value = self.evaluate_in(e, focus, frame)?;
            Ok::<String, String>(self.types.borrow().show(value.ty, &value.bytes))
        };
        let text = message.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Value(e) => value(e).unwrap_or_else(|why| format!("<{why}>")),
        });
        format!("{}: {}", self.lane_name(focus), text.collect::<String>())
    }

    /// What a lane is called.
    pub fn lane_name(&self, focus: Focus) -> String {
        match self.item(focus.thread, focus.lane) {
            Some(([x, 0, 0], _)) if self.stage.global_size()[1..] == [1, 1] => format!("work-item {x}"),
            Some(([x, y, z], _)) => format!("work-item {x},{y},{z}"),
            None => format!("thread {} lane {}", focus.thread, focus.lane),
        }
    }

    /// The data breakpoint that the last instruction meets.
    pub(crate) fn accessed(&mut self) -> Option<Stop> {
        if self.breakpoints.watched.is_empty() {
            return None;
        }
        let past = self.paused.log().entries().next()?;
        let entry = past.entry;
        let program = self.program();
        let inst = program.code().get(entry.pc() as usize);
        let message =
            inst.filter(|i| i.op == Op::Message).and_then(|i| program.messages().get(i.aux as usize));
        // What it writes it has read.
        let atomic = matches!(message, Some(Message::Atomic(_) | Message::TypedAtomic(_)));
        let mut met = Vec::new();
        for (i, w) in self.breakpoints.watched.iter().enumerate() {
            let (mut lanes, mut read) = (0, false);
            for r in past.records_latest_first() {
                let who = matches!(w.place, Place::Register(_)) && entry.thread() != w.thread;
                let kind = if r.read { w.reads } else { w.writes || atomic && w.reads };
                if who || !kind || !record_overlaps(&r, w.place, w.bytes) {
                    continue;
                }
                let first = inst.map_or(0, |i| u32::from(i.first));
                let lane = (channel_of(&r, w.place) + first).min(31);
                let focus = Focus { thread: entry.thread(), lane };
                let frames = || self.frames(focus.thread);
                let condition = w.when.condition.as_ref();
                if condition.is_none_or(|c| self.truth(c, focus, frames().first()).unwrap_or(true)) {
                    read = if lanes == 0 { r.read || !w.writes } else { read };
                    lanes |= 1 << lane;
                }
            }
            met.push((i, lanes, read));
        }
        let (clock, by) = (self.paused.clock(), (self.paused.group().id, entry.thread()));
        let mut found = None;
        for (i, lanes, read) in met.into_iter().filter(|(_, lanes, _)| *lanes != 0) {
            let w = &mut self.breakpoints.watched[i];
            let counting = match (w.when.hits, w.hits.known_lanes(clock)) {
                (None, _) => lanes,
                (Some(_), Some(known)) => known & lanes,
                (Some(condition), None) => w.hits.hit(condition, clock, by, lanes),
            };
            if counting != 0 {
                found.get_or_insert((i, Focus { thread: by.1, lane: counting.trailing_zeros() }, read));
            }
        }
        let (i, focus, read) = found?;
        let (id, name) = (self.breakpoints.watched[i].id, self.breakpoints.watched[i].name.clone());
        self.focus = focus;
        let what = if read { "read" } else { "written" };
        let line = self.lines.of(entry.pc()).map_or(String::new(), |l| format!(" at line {}", l.line));
        Some(Stop::Data(id, format!("{name} was {what} by {}{line}", self.lane_name(focus))))
    }

    /// Before an instruction that could make a NaN.
    pub(crate) fn before_instruction(&self) -> Option<Before> {
        if !self.breakpoints.nan {
            return None;
        }
        let inst = self.program().code().get(self.pc() as usize)?;
        if !matches!(inst.exec, ExecType::F16 | ExecType::F32 | ExecType::F64) {
            return None;
        }
        let t = self.paused.threads().get(self.paused.current())?;
        let mut nan = 0;
        for src in &inst.src {
            let Src::Reg { offset, ty, strides, .. } = *src else { continue };
            for k in 0..u32::from(inst.channels) {
                let at = offset + strides.element(k) * ty.size();
                nan |= u32::from(is_nan(ty, t.regs.slice(at, ty.size()))) << k;
            }
        }
        Some(Before { nan })
    }

    /// Did the last instruction make a NaN of what was none?
    pub(crate) fn find_new_nan(&mut self, thread: usize, before: Option<Before>) -> Option<Stop> {
        let before = before?;
        let entry = self.paused.log().last()?;
        let inst = self.program().code().get(entry.pc() as usize)?;
        let Dst::Reg { offset, ty, stride, .. } = inst.dst else { return None };
        let t = self.paused.threads().get(thread)?;
        let element = Touched::Lanes { offset, bytes: ty.size(), step: u32::from(stride) * ty.size() };
        let made = (0..u32::from(inst.channels)).find(|k| {
            let on = entry.mask() >> k & 1 != 0 && before.nan >> k & 1 == 0;
            on && element.channel(*k).is_some_and(|r| is_nan(ty, t.regs.slice(r.start, r.end - r.start)))
        })?;
        self.focus = Focus { thread, lane: made + u32::from(inst.first) };
        let written = self.stage.written(entry.pc()).unwrap_or_default();
        Some(Stop::Exception("nan", format!("{} made a NaN: {written}", self.lane_name(self.focus))))
    }
}

impl Session<'_, '_> {
    /// Breakpoints know their hits up to now: what led here runs again for those that do not.
    pub(crate) fn count_hits(&mut self) {
        let now = self.paused.clock();
        let all = &mut self.breakpoints.all;
        let mut at = Vec::new();
        for b in all.iter_mut().filter(|b| b.when.hits.is_some()) {
            if !b.hits.are_known(now) {
                b.hits = Hits::default();
                at.extend(b.at.iter().copied());
            }
        }
        if now > 0
            && !at.is_empty()
            && let Ok(again) = self.stage.begin(self.options().order, self.options().history)
        {
            let (kept, focus) = (std::mem::replace(&mut self.paused, again), self.focus);
            let mut flags = self.plain_flags();
            at.into_iter().filter_map(|pc| flags.get_mut(pc as usize).map(|f| *f |= flag::STOP)).count();
            self.change_again();
            while self.paused.clock() < now && !self.is_over() {
                self.paused.run(&flags, self.next_change().min(now));
                self.change_again();
                let pc = self.pc();
                if !self.is_over() && flags.get(pc as usize).is_some_and(|f| f & flag::STOP != 0) {
                    self.hit_at(pc);
                }
            }
            // Memory is as it was; so are the threads that stood here.
            (self.paused, self.focus) = (kept, focus);
        }
        self.hits_are_known();
    }

    /// The breakpoints at an instruction that do not know their hits yet count those of this moment.
    fn hit_at(&mut self, pc: u32) {
        let thread = self.paused.current();
        let same = self.same_line(pc, self.paused.before(thread));
        let frames = self.frames(thread);
        for i in 0..self.breakpoints.all.len() {
            if self.breakpoints.all[i].when.hits.is_some() && self.breakpoints.all[i].is_at(pc, same) {
                self.lanes_hit(i, thread, frames.first());
            }
        }
    }

    /// All that was executed was looked at: what is not counted up to now has no hits.
    pub(crate) fn hits_are_known(&mut self) {
        let now = self.paused.clock();
        self.breakpoints.all.iter_mut().for_each(|b| b.hits.mark_known_until(now));
        self.breakpoints.watched.iter_mut().for_each(|w| w.hits.mark_known_until(now));
    }

    /// Time goes on differently from here.
    pub(crate) fn forget_hits(&mut self) {
        let now = self.paused.clock();
        self.breakpoints.all.iter_mut().for_each(|b| b.hits.forget(now));
        // Accesses are not looked for again.
        self.breakpoints.watched.iter_mut().for_each(|w| w.hits = Hits::from(now));
    }
}

fn is_nan(ty: envisa::isa::Type, bytes: &[u8]) -> bool {
    use envisa::isa::Type as T;
    match (ty, bytes) {
        (T::F, b) => b.try_into().is_ok_and(|b| f32::from_le_bytes(b).is_nan()),
        (T::Df, b) => b.try_into().is_ok_and(|b| f64::from_le_bytes(b).is_nan()),
        (T::Hf, b) => b.try_into().is_ok_and(|b| half::f16::from_le_bytes(b).is_nan()),
        _ => false,
    }
}

/// Does a record have a byte of a place?
pub(crate) fn record_overlaps(r: &Record<'_>, place: Place, bytes: u64) -> bool {
    let ((kind, at), (other, from)) = (r.place.kind_and_offset(), place.kind_and_offset());
    kind == other && at < from.saturating_add(bytes) && from < at.saturating_add(r.bytes.into())
}

/// Which channel of a record's accesses a place is.
pub(crate) fn channel_of(r: &Record<'_>, place: Place) -> u32 {
    let by = place.kind_and_offset().1.saturating_sub(r.place.kind_and_offset().1);
    let further = if r.each == 0 { 0 } else { by / u64::from(r.each) };
    (u64::from(r.channel) + further).min(31) as u32
}
