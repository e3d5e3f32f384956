//! When the threads of a group do what, in executed instructions.

use std::collections::BTreeMap;

use envisa_lower::{Inst, Src};
use envisa_machine::thread::{Machine, Status};

/// Groups that a trace tells of: the first ones.
pub const MAX_TRACED_GROUPS: u64 = 32;
/// Spans that a trace tells of each group.
const MAX_SPANS: usize = 8192;
/// Signals to a split barrier that are remembered.
const MAX_SIGNALS: usize = 4096;

/// What threads did when.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// Threads by group.
    pub threads: Vec<ThreadTrace>,
    /// Groups that it does not tell of.
    pub groups_left_out: u64,
    /// Spans that it does not tell of.
    pub spans_left_out: u64,
}

/// What a thread did when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadTrace {
    /// Its group.
    pub group: [u32; 3],
    /// The thread in its group.
    pub thread: u32,
    /// Instructions from the group's start to its end.
    pub end: u64,
    /// What it did, by its end.
    pub spans: Vec<Span>,
}

/// Something that took a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// From.
    pub start: u64,
    /// To.
    pub end: u64,
    /// Where it is: of waits the barrier, of runs and calls the first instruction.
    pub pc: u32,
    /// What it is.
    pub kind: SpanKind,
}

/// What takes a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpanKind {
    /// Instructions between the start, barriers and the end.
    Run,
    /// A wait at a barrier.
    Wait,
    /// A subroutine or function.
    Call,
}

/// The clocks of the threads of a group that runs.
#[derive(Clone, Debug, Default)]
pub(super) struct GroupClock {
    group: Option<[u32; 3]>,
    traced: bool,
    threads: Vec<Clock>,
    /// Time of the last thread's n-th signal to the split barrier.
    signals: BTreeMap<u32, u64>,
    /// Time of the last signal to each named barrier.
    named: BTreeMap<u8, u64>,
    spans: usize,
    left_out: u64,
}

#[derive(Clone, Debug, Default)]
struct Clock {
    now: u64,
    /// Where it waits, from when, and until when if that is known.
    wait: Option<Wait>,
    /// Where and when the current run began.
    run: Option<(u32, u64)>,
    /// Where and when calls began that have not ended.
    calls: Vec<(u32, u64)>,
    spans: Vec<Span>,
    ended: bool,
}

#[derive(Clone, Copy, Debug)]
struct Wait {
    pc: u32,
    since: u64,
    status: Status,
    until: Option<u64>,
}

impl GroupClock {
    /// A thread starts; gives whether it is the first of its group.
    pub fn start(&mut self, m: &Machine<'_>, trace: Option<&mut Trace>) -> bool {
        let new = self.group != Some(m.group.id);
        if new {
            let tracing = trace.is_some();
            self.finish(trace);
            self.group = Some(m.group.id);
            let [x, y, z] = m.group.id.map(u64::from);
            let [w, h] = [m.env.groups[0], m.env.groups[1]].map(u64::from);
            self.traced = tracing && (z * h + y) * w + x < MAX_TRACED_GROUPS;
        }
        let i = m.t.index as usize;
        if self.threads.len() <= i {
            self.threads.resize_with(i + 1, Clock::default);
        }
        new
    }

    /// The group has ended, or the run: its trace is kept.
    pub fn finish(&mut self, trace: Option<&mut Trace>) {
        let Some(group) = self.group.take() else { return };
        for i in 0..self.threads.len() {
            self.end(i as u32);
        }
        let threads = std::mem::take(&mut self.threads);
        if let Some(trace) = trace {
            trace.groups_left_out += u64::from(!self.traced);
            trace.spans_left_out += self.left_out;
            if self.traced {
                let one = |(i, c): (usize, Clock)| ThreadTrace {
                    group,
                    thread: i as u32,
                    end: c.now,
                    spans: c.spans,
                };
                trace.threads.extend(threads.into_iter().enumerate().map(one));
            }
        }
        *self = GroupClock::default();
    }

    /// Before a thread's instruction; if it comes from a barrier, which, and how long it waited there.
    pub fn leave_barrier(&mut self, m: &Machine<'_>, pc: u32) -> Option<(u32, u64)> {
        let i = m.t.index as usize;
        let mut waited = None;
        if self.threads.get(i)?.wait.is_some() {
            let until = self.release(m, i);
            let clock = self.threads.get_mut(i)?;
            let wait = clock.wait.take()?;
            let until = until.max(wait.since);
            clock.now = until;
            waited = Some((wait.pc, until - wait.since));
            self.span(i, Span { start: wait.since, end: until, pc: wait.pc, kind: SpanKind::Wait });
        }
        if self.traced {
            let depth = m.t.frames.len();
            let clock = self.threads.get_mut(i)?;
            let now = clock.now;
            if clock.run.is_none() {
                clock.run = Some((pc, now));
            }
            if clock.calls.len() < depth {
                clock.calls.resize(depth, (pc, now));
            }
            while self.threads[i].calls.len() > depth {
                if let Some((pc, start)) = self.threads[i].calls.pop() {
                    self.span(i, Span { start, end: now, pc, kind: SpanKind::Call });
                }
            }
        }
        waited
    }

    /// A thread executes an instruction.
    pub fn count_instruction(&mut self, thread: u32) {
        if let Some(c) = self.threads.get_mut(thread as usize) {
            c.now += 1;
        }
    }

    /// A thread signals a split or named barrier.
    pub fn signal(&mut self, m: &Machine<'_>, inst: &Inst) {
        let Some(now) = self.threads.get(m.t.index as usize).map(|c| c.now) else { return };
        let last = if inst.op == envisa_lower::Op::SplitBarrier {
            if self.signals.len() >= MAX_SIGNALS {
                self.signals.pop_first();
            }
            self.signals.entry(m.t.signals).or_default()
        } else {
            // Numbers of barriers fit in a byte, however wide the register is that has them.
            let Src::Reg { offset, .. } = inst.src[0] else { return };
            self.named.entry(m.t.regs.slice(offset, 1).first().map_or(0, |n| n & 31)).or_default()
        };
        *last = now.max(*last);
    }

    /// A thread comes to a barrier.
    pub fn arrive(&mut self, m: &Machine<'_>, pc: u32) {
        let i = m.t.index as usize;
        let Some(clock) = self.threads.get_mut(i) else { return };
        let now = clock.now;
        clock.wait = Some(Wait { pc, since: now, status: m.t.status, until: None });
        if let Some((pc, start)) = clock.run.take() {
            self.span(i, Span { start, end: now, pc, kind: SpanKind::Run });
        }
    }

    /// A thread has ended.
    pub fn end(&mut self, thread: u32) {
        let i = thread as usize;
        let Some(clock) = self.threads.get_mut(i) else { return };
        if std::mem::replace(&mut clock.ended, true) {
            return;
        }
        let now = clock.now;
        let (run, calls) = (clock.run.take(), std::mem::take(&mut clock.calls));
        for (pc, start) in calls.into_iter().rev() {
            self.span(i, Span { start, end: now, pc, kind: SpanKind::Call });
        }
        if let Some((pc, start)) = run {
            self.span(i, Span { start, end: now, pc, kind: SpanKind::Run });
        }
    }

    /// When the barrier lets thread `i` go on.
    fn release(&mut self, m: &Machine<'_>, i: usize) -> u64 {
        let Some(wait) = self.threads[i].wait else { return 0 };
        if let Some(until) = wait.until {
            return until;
        }
        if wait.status == Status::SplitWait {
            return self.signals.get(&m.t.waits).copied().unwrap_or(wait.since);
        }
        // All that wait for the same go on together.
        let same = |c: &&mut Clock| c.wait.is_some_and(|w| w.status == wait.status && w.until.is_none());
        let mut until =
            self.threads.iter_mut().filter(same).filter_map(|c| c.wait.map(|w| w.since)).max().unwrap_or(0);
        if let Status::Named(number) = wait.status {
            until = until.max(self.named.remove(&number).unwrap_or(0));
        }
        for w in self.threads.iter_mut().filter(same).filter_map(|c| c.wait.as_mut()) {
            w.until = Some(until);
        }
        until
    }

    fn span(&mut self, thread: usize, span: Span) {
        if !self.traced || span.start == span.end {
            return;
        }
        if self.spans == MAX_SPANS {
            self.left_out += 1;
        } else if let Some(c) = self.threads.get_mut(thread) {
            self.spans += 1;
            c.spans.push(span);
        }
    }
}
