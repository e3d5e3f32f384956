//! Control flow: where the thread goes, where its channels go, and where channels may wait.

use super::Bits;
use crate::flow::splits;
use crate::program::{Inst, Op, Pc, ProgramParts};

/// Why a program's control flow is not analysed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotAnalysed {
    /// The instruction.
    pub pc: Pc,
    /// Why.
    pub reason: &'static str,
}

/// What is known when the thread comes to an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
struct State {
    /// Labels where channels may wait, by their index in [`Flow::labels`].
    waiting: Bits,
    /// Some of the channels of the dispatch may have left.
    left: bool,
}

/// The flow of the kernel itself (calls are not analysed).
///
/// Engines run the channels at the lowest program counter first. A branch that part of the channels take
/// lets these wait at its target, if that is ahead, or the others behind it, if it goes back. So at each
/// instruction it is known at which labels channels *may* wait; where none can, and none has left, all
/// channels of the dispatch are active.
#[derive(Clone, Debug)]
pub struct Flow {
    labels: Vec<Pc>,
    states: Vec<Option<State>>,
    end: Pc,
}

impl Flow {
    /// Analyses the kernel's code.
    ///
    /// # Errors
    /// Code that calls, or jumps through a table.
    pub fn new(p: &ProgramParts) -> Result<Flow, NotAnalysed> {
        Flow::with(p, false)
    }

    /// The same of code that calls, each call being one instruction after which the thread goes on behind it; where a
    /// subroutine begins nobody waits.
    ///
    /// # Errors
    /// Code that jumps through a table.
    pub fn around_calls(p: &ProgramParts) -> Result<Flow, NotAnalysed> {
        Flow::with(p, true)
    }

    fn with(p: &ProgramParts, calls: bool) -> Result<Flow, NotAnalysed> {
        let end = p.functions.first().map_or(p.code.len() as Pc, |f| f.end);
        let code = &p.code[..end as usize];
        let mut labels = Vec::new();
        for (pc, i) in code.iter().enumerate() {
            let pc = pc as Pc;
            let no = |reason| Err(NotAnalysed { pc, reason });
            match i.op {
                Op::Fcall | Op::Ifcall if calls => {}
                Op::Call if calls && i.aux < end => {}
                Op::Call | Op::Fcall | Op::Ifcall | Op::Fret => return no("calls are not analysed"),
                Op::SwitchJmp => return no("jump tables are not analysed"),
                Op::Goto if i.aux >= end => return no("a branch leaves the function"),
                Op::Goto if i.aux <= pc && splits(i, p.simd) => labels.push(pc + 1),
                Op::Goto if i.aux > pc => labels.push(i.aux),
                _ => {}
            }
        }
        labels.sort_unstable();
        labels.dedup();
        if let Some(l) = labels.iter().find(|l| **l >= end) {
            return Err(NotAnalysed { pc: *l - 1, reason: "channels would wait past the end" });
        }
        let mut flow = Flow { labels, states: vec![None; end as usize], end };
        flow.solve(p);
        // Where channels wait is a join: the machine takes them up there and nowhere else.
        for (k, l) in flow.labels.iter().enumerate() {
            let waited = flow.states.iter().flatten().any(|s| s.waiting.has(k));
            if waited && code[*l as usize].op != Op::Join {
                return Err(NotAnalysed { pc: *l, reason: "channels wait where nothing joins them" });
            }
        }
        Ok(flow)
    }

    fn solve(&mut self, p: &ProgramParts) {
        let mut work = vec![0];
        if let Some(first) = self.states.first_mut() {
            *first = Some(State { waiting: Bits::new(self.labels.len()), left: false });
        }
        for i in p.code[..self.end as usize].iter().filter(|i| i.op == Op::Call) {
            if i.aux != 0 && !work.contains(&i.aux) {
                let state = State { waiting: Bits::new(self.labels.len()), left: true };
                self.states[i.aux as usize] = Some(state);
                work.push(i.aux);
            }
        }
        while let Some(pc) = work.pop() {
            for (to, state) in self.steps(p, pc) {
                let Some(old) = self.states.get_mut(to as usize) else { continue };
                match old {
                    None => *old = Some(state),
                    Some(old) => {
                        let more = old.waiting.join(&state.waiting) | (state.left && !old.left);
                        old.left |= state.left;
                        if !more {
                            continue;
                        }
                    }
                }
                if !work.contains(&to) {
                    work.push(to);
                }
            }
        }
    }

    /// Where the thread may go from an instruction, and in what state it comes there.
    fn steps(&self, p: &ProgramParts, pc: Pc) -> Vec<(Pc, State)> {
        let Some(Some(s)) = self.states.get(pc as usize) else { return Vec::new() };
        let i = &p.code[pc as usize];
        let mut out = Vec::new();
        let label = |pc: Pc| self.labels.binary_search(&pc).ok();
        // All active channels are away: those at the lowest label where any wait go on.
        let resume = |s: &State, below: Pc, out: &mut Vec<(Pc, State)>| {
            let mut rest = s.clone();
            for k in s.waiting.iter().take_while(|k| self.labels[*k] < below) {
                out.push((self.labels[k], rest.clone()));
                rest.waiting.remove(k);
            }
            rest
        };
        match i.op {
            Op::Join => {
                let mut s = s.clone();
                if let Some(k) = label(pc) {
                    s.waiting.remove(k);
                }
                out.push((pc + 1, s));
            }
            Op::Goto => {
                let target = i.aux;
                let splits = splits(i, p.simd);
                let mut parted = s.clone();
                if splits {
                    parted
                        .waiting
                        .add(label(if target > pc { target } else { pc + 1 }).unwrap_or(usize::MAX));
                }
                if target > pc {
                    if i.pred.offset != 0 || splits {
                        out.push((pc + 1, parted));
                    }
                    let mut gone = s.clone();
                    gone.waiting.add(label(target).unwrap_or(usize::MAX));
                    let mut rest = resume(&gone, target, &mut out);
                    rest.waiting.remove(label(target).unwrap_or(usize::MAX));
                    let k = label(target).unwrap_or(usize::MAX);
                    if s.waiting.has(k) {
                        rest.waiting.add(k);
                    }
                    out.push((target, rest));
                } else {
                    if i.pred.offset != 0 || splits {
                        out.push((pc + 1, s.clone()));
                    }
                    out.push((target, parted));
                }
            }
            Op::Ret => {
                if splits(i, p.simd) {
                    out.push((pc + 1, State { left: true, ..s.clone() }));
                } else if i.pred.offset != 0 {
                    out.push((pc + 1, s.clone()));
                }
                let gone = State { left: true, ..s.clone() };
                resume(&gone, Pc::MAX, &mut out);
            }
            Op::End | Op::Unsupported => {
                if i.op == Op::Unsupported {
                    out.push((pc + 1, s.clone()));
                }
            }
            _ => out.push((pc + 1, s.clone())),
        }
        out.retain(|(to, _)| *to < self.end);
        out
    }

    /// One past the last instruction that was analysed.
    pub fn end(&self) -> Pc {
        self.end
    }

    /// Can the thread come here?
    pub fn reachable(&self, pc: Pc) -> bool {
        self.states.get(pc as usize).is_some_and(Option::is_some)
    }

    /// Are all channels of the dispatch active here?
    pub fn full(&self, pc: Pc) -> bool {
        matches!(self.states.get(pc as usize), Some(Some(s)) if !s.left && s.waiting.is_empty())
    }

    /// Labels where channels may wait while the thread is at this instruction, ascending.
    pub fn waiting(&self, pc: Pc) -> impl Iterator<Item = Pc> + '_ {
        let s = self.states.get(pc as usize).and_then(Option::as_ref);
        s.into_iter().flat_map(|s| s.waiting.iter().map(|k| self.labels[k]))
    }

    /// May channels wait at this label while the thread is at this instruction?
    pub fn waits_at(&self, pc: Pc, label: Pc) -> bool {
        let s = self.states.get(pc as usize).and_then(Option::as_ref);
        matches!((s, self.labels.binary_search(&label)), (Some(s), Ok(k)) if s.waiting.has(k))
    }

    /// Where the thread may go from here: also to where channels wait that go on instead.
    pub fn successors(&self, p: &ProgramParts, pc: Pc) -> Vec<Pc> {
        if let Some(next) = self.only_next(p, pc) {
            return next.into_iter().collect();
        }
        let mut out: Vec<Pc> = self.steps(p, pc).into_iter().map(|s| s.0).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Where the thread goes from an instruction that is followed by the next one alone, if that is one; in what state
    /// it comes there, is that of here.
    fn only_next(&self, p: &ProgramParts, pc: Pc) -> Option<Option<Pc>> {
        let jumps =
            matches!(p.code[pc as usize].op, Op::Join | Op::Goto | Op::Ret | Op::End | Op::Unsupported);
        (!jumps && self.reachable(pc)).then(|| (pc + 1 < self.end).then_some(pc + 1))
    }

    /// Where a channel that executes this instruction may go from here.
    pub fn channel_successors(&self, p: &ProgramParts, pc: Pc) -> [Option<Pc>; 2] {
        let i: &Inst = &p.code[pc as usize];
        let next = (pc + 1 < self.end).then_some(pc + 1);
        match i.op {
            Op::Goto if i.pred.offset == 0 && !splits(i, p.simd) => [Some(i.aux), None],
            Op::Goto => [Some(i.aux), next],
            Op::Ret if i.pred.offset == 0 && !splits(i, p.simd) => [None, None],
            Op::End => [None, None],
            _ => [next, None],
        }
    }
}
