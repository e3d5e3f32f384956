//! Control flow: where the thread goes, where its channels go, and where channels may wait.

use std::collections::BTreeSet;

use crate::flow::may_diverge;
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
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct State {
    /// Labels where channels may wait, by their index in [`Flow::labels`], ascending.
    waiting: Vec<u32>,
    /// Some of the channels of the dispatch may have left.
    left: bool,
}

/// Numbers of labels that states may have together: of so many for each instruction, and of so many in any case.
const PLACES: (usize, usize) = (128, 1 << 20);
/// The same of numbers that are looked at until nothing changes any more.
const STEPS: (usize, usize) = (1024, 1 << 24);

/// The flow of the kernel itself (calls are not analysed).
///
/// Engines run the channels at the lowest program counter first. A branch that part of the channels take
/// lets these wait at its target, if that is ahead, or the others behind it, if it goes back. So at each
/// instruction it is known at which labels channels *may* wait; where none can, and none has left, all
/// channels of the dispatch are active.
///
/// That changes at branches, joins and returns alone, so there is one state for each run of instructions between them.
#[derive(Clone, Debug)]
pub struct Flow {
    labels: Vec<Pc>,
    /// By instruction: the run that it is of.
    run: Vec<u32>,
    /// By run: its first instruction, and what is known there, if the thread can come there.
    starts: Vec<Pc>,
    states: Vec<Option<State>>,
    end: Pc,
}

/// Where something is known: at the start of a run, or before it at the label that a run begins with, where it is looked
/// for who waits there, none being active.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Node {
    Lowest(u32),
    Run(u32),
}

impl Node {
    /// In the order of the code.
    fn key(self) -> (u32, bool) {
        match self {
            Node::Lowest(run) => (run, false),
            Node::Run(run) => (run, true),
        }
    }
}

/// A solution under way: in rounds, each in the order of the code, so that loops come to an end together.
struct Solver {
    /// By run: labels where channels may wait, of which all or those from this one on are looked at for who goes on.
    lowest: Vec<Option<State>>,
    now: (u32, bool),
    round: BTreeSet<(u32, bool)>,
    next: BTreeSet<(u32, bool)>,
    /// What may still be kept, and looked at.
    places: usize,
    steps: usize,
}

impl Solver {
    fn add(&mut self, node: Node) {
        let key = node.key();
        if key > self.now { &mut self.round } else { &mut self.next }.insert(key);
    }

    fn pop(&mut self) -> Option<(u32, bool)> {
        if self.round.is_empty() {
            std::mem::swap(&mut self.round, &mut self.next);
        }
        self.now = self.round.pop_first()?;
        Some(self.now)
    }
}

impl Flow {
    /// Analyses the kernel's code.
    ///
    /// # Errors
    /// Code that calls, or jumps through a table, or in which channels wait at too many labels at a time: time and memory
    /// are bounded by the length of the code.
    pub fn new(p: &ProgramParts) -> Result<Flow, NotAnalysed> {
        Flow::with_calls(p, false)
    }

    /// The same of code that calls, each call being one instruction after which the thread goes on behind it; where a
    /// subroutine begins nobody waits.
    ///
    /// # Errors
    /// Code that jumps through a table, or in which channels wait at too many labels at a time.
    pub fn around_calls(p: &ProgramParts) -> Result<Flow, NotAnalysed> {
        Flow::with_calls(p, true)
    }

    fn with_calls(p: &ProgramParts, calls: bool) -> Result<Flow, NotAnalysed> {
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
                Op::Goto if i.aux <= pc && may_diverge(i, p.simd) => labels.push(pc + 1),
                Op::Goto if i.aux > pc => labels.push(i.aux),
                _ => {}
            }
        }
        labels.sort_unstable();
        labels.dedup();
        if let Some(l) = labels.iter().find(|l| **l >= end) {
            return Err(NotAnalysed { pc: *l - 1, reason: "channels would wait past the end" });
        }
        let (run, starts) = straight_line_runs(code);
        let mut flow = Flow { labels, run, states: vec![None; starts.len()], starts, end };
        if !flow.solve_to_fixpoint(p) {
            return Err(NotAnalysed { pc: 0, reason: "channels may wait at too many labels at a time" });
        }
        // Where channels wait is a join: the machine takes them up there and nowhere else.
        let waited = flow.all_waiting_labels();
        match waited.iter().find(|l| code[**l as usize].op != Op::Join) {
            Some(pc) => Err(NotAnalysed { pc: *pc, reason: "channels wait where nothing joins them" }),
            None => Ok(flow),
        }
    }

    /// `false` if that takes too long.
    fn solve_to_fixpoint(&mut self, p: &ProgramParts) -> bool {
        let n = self.end as usize;
        let [places, steps] = [PLACES, STEPS].map(|(each, once)| each * n + once);
        let lowest = vec![None; self.states.len()];
        let (now, round, next) = ((0, false), BTreeSet::new(), BTreeSet::new());
        let mut solver = Solver { lowest, now, round, next, places, steps };
        if let Some(first) = self.states.first_mut() {
            *first = Some(State::default());
            solver.add(Node::Run(0));
        }
        for i in p.code[..n].iter().filter(|i| i.op == Op::Call && i.aux != 0) {
            let run = self.run[i.aux as usize];
            self.states[run as usize] = Some(State { waiting: Vec::new(), left: true });
            solver.add(Node::Run(run));
        }
        while let Some((run, begins)) = solver.pop() {
            let goes_on = match begins {
                true => self.step(p, run as usize, &mut solver),
                false => self.resume_at_label(run as usize, &mut solver),
            };
            if goes_on.is_none() {
                return false;
            }
        }
        true
    }

    /// What is known at an instruction that the thread can come to.
    fn state_at(&self, pc: Pc) -> Option<&State> {
        self.states.get(*self.run.get(pc as usize)? as usize)?.as_ref()
    }

    fn label(&self, pc: Pc) -> Option<u32> {
        self.labels.binary_search(&pc).ok().map(|k| k as u32)
    }

    /// Takes what is known of a run to where the thread may go from it; `None` if there is no more room or time.
    fn step(&mut self, p: &ProgramParts, run: usize, solver: &mut Solver) -> Option<()> {
        let behind = self.starts.get(run + 1).copied().unwrap_or(self.end);
        let pc = behind - 1;
        let s = self.states[run].clone()?;
        let i = &p.code[pc as usize];
        let (splits, next) = (may_diverge(i, p.simd), pc + 1);
        match i.op {
            Op::Join => {
                let mut s = s;
                if let Some(k) = self.label(pc) {
                    s.waiting.retain(|l| *l != k);
                }
                self.add_state(next, &s.waiting, s.left, solver)
            }
            Op::Goto if i.aux > pc => {
                let k = self.label(i.aux)?;
                let (at, there) = match s.waiting.binary_search(&k) {
                    Ok(at) => (at, true),
                    Err(at) => (at, false),
                };
                let mut gone = s.waiting.clone();
                if !there {
                    gone.insert(at, k);
                }
                if i.pred.offset != 0 || splits {
                    self.add_state(next, if splits { &gone } else { &s.waiting }, s.left, solver)?;
                }
                if at != 0 {
                    self.go_to_lowest_waiting_label(&gone, s.left, solver)?;
                }
                self.add_state(i.aux, &s.waiting[at..], s.left, solver)
            }
            Op::Goto => {
                if i.pred.offset != 0 || splits {
                    self.add_state(next, &s.waiting, s.left, solver)?;
                }
                let mut parted = s.waiting;
                if let (true, Some(k)) = (splits, self.label(next))
                    && let Err(at) = parted.binary_search(&k)
                {
                    parted.insert(at, k);
                }
                self.add_state(i.aux, &parted, s.left, solver)
            }
            Op::Ret => {
                if splits || i.pred.offset != 0 {
                    self.add_state(next, &s.waiting, s.left | splits, solver)?;
                }
                self.go_to_lowest_waiting_label(&s.waiting, true, solver)
            }
            Op::End => Some(()),
            _ => self.add_state(next, &s.waiting, s.left, solver),
        }
    }

    /// All active channels are away: those at the lowest label where any wait go on.
    fn go_to_lowest_waiting_label(&mut self, waiting: &[u32], left: bool, solver: &mut Solver) -> Option<()> {
        let Some(first) = waiting.first() else { return Some(()) };
        let run = self.run[self.labels[*first as usize] as usize];
        self.merge_state(Node::Lowest(run), waiting, left, solver)
    }

    /// It is looked for channels at a label: some wait there, or it goes on at the next one.
    fn resume_at_label(&mut self, run: usize, solver: &mut Solver) -> Option<()> {
        let s = solver.lowest[run].clone()?;
        self.merge_state(Node::Run(run as u32), &s.waiting, s.left, solver)?;
        let behind = s.waiting.get(1..).unwrap_or(&[]);
        self.go_to_lowest_waiting_label(behind, s.left, solver)
    }

    /// The thread may come to an instruction while channels wait at these labels.
    fn add_state(&mut self, to: Pc, waiting: &[u32], left: bool, solver: &mut Solver) -> Option<()> {
        if to >= self.end {
            return Some(());
        }
        let run = self.run[to as usize];
        debug_assert_eq!(self.starts[run as usize], to, "runs begin where the thread comes to");
        self.merge_state(Node::Run(run), waiting, left, solver)
    }

    fn merge_state(&mut self, node: Node, waiting: &[u32], left: bool, solver: &mut Solver) -> Option<()> {
        let old = match node {
            Node::Run(run) => &mut self.states[run as usize],
            Node::Lowest(run) => &mut solver.lowest[run as usize],
        };
        let known = old.as_ref().map_or(0, |o| o.waiting.len());
        solver.steps = solver.steps.checked_sub(1 + known + waiting.len())?;
        match old {
            None => {
                solver.places = solver.places.checked_sub(waiting.len())?;
                *old = Some(State { waiting: waiting.to_vec(), left });
            }
            Some(old) => {
                let more = !contains(&old.waiting, waiting);
                if !more && (!left || old.left) {
                    return Some(());
                }
                old.left |= left;
                if more {
                    old.waiting.extend_from_slice(waiting);
                    old.waiting.sort_unstable();
                    old.waiting.dedup();
                    solver.places = solver.places.checked_sub(old.waiting.len() - known)?;
                }
            }
        }
        solver.add(node);
        Some(())
    }

    /// One past the last instruction that was analysed.
    pub fn end(&self) -> Pc {
        self.end
    }

    /// Can the thread come here?
    pub fn is_reachable(&self, pc: Pc) -> bool {
        self.state_at(pc).is_some()
    }

    /// Are all channels of the dispatch active here?
    pub fn all_channels_active(&self, pc: Pc) -> bool {
        self.state_at(pc).is_some_and(|s| !s.left && s.waiting.is_empty())
    }

    /// Labels where channels may wait while the thread is at this instruction, ascending.
    pub fn waiting_labels(&self, pc: Pc) -> impl ExactSizeIterator<Item = Pc> + '_ {
        let all = self.state_at(pc).map_or(&[][..], |s| &s.waiting);
        all.iter().map(|k| self.labels[*k as usize])
    }

    /// Labels where channels may wait at all, ascending.
    pub fn all_waiting_labels(&self) -> Vec<Pc> {
        let mut waited = vec![false; self.labels.len()];
        self.states.iter().flatten().flat_map(|s| &s.waiting).for_each(|k| waited[*k as usize] = true);
        self.labels.iter().zip(waited).filter(|l| l.1).map(|l| *l.0).collect()
    }

    /// May channels wait at this label while the thread is at this instruction?
    pub fn waits_at(&self, pc: Pc, label: Pc) -> bool {
        matches!((self.state_at(pc), self.label(label)), (Some(s), Some(k)) if s.waiting.binary_search(&k).is_ok())
    }

    /// Where the thread may go from here, ascending: also to where channels wait that go on instead.
    pub fn successors(&self, p: &ProgramParts, pc: Pc) -> Vec<Pc> {
        let mut out = Vec::new();
        self.each_successor(p, pc, &mut |to| out.push(to));
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Tells where the thread may go from here, in any order, perhaps the same place twice.
    pub(super) fn each_successor(&self, p: &ProgramParts, pc: Pc, tell: &mut dyn FnMut(Pc)) {
        if !self.is_reachable(pc) {
            return;
        }
        let i = &p.code[pc as usize];
        let mut go = |to: Pc| {
            if to < self.end {
                tell(to);
            }
        };
        let stays = i.pred.offset != 0 || may_diverge(i, p.simd);
        match i.op {
            Op::Goto | Op::Ret => {
                if stays {
                    go(pc + 1);
                }
                let below = match i.op {
                    Op::Ret => Pc::MAX,
                    _ if i.aux > pc => i.aux,
                    _ => 0,
                };
                self.waiting_labels(pc).take_while(|l| *l < below).for_each(&mut go);
                if i.op == Op::Goto {
                    go(i.aux);
                }
            }
            Op::End => {}
            _ => go(pc + 1),
        }
    }

    /// Where a channel that executes this instruction may go from here.
    pub fn channel_successors(&self, p: &ProgramParts, pc: Pc) -> [Option<Pc>; 2] {
        let i: &Inst = &p.code[pc as usize];
        let next = (pc + 1 < self.end).then_some(pc + 1);
        match i.op {
            Op::Goto if i.pred.offset == 0 && !may_diverge(i, p.simd) => [Some(i.aux), None],
            Op::Goto => [Some(i.aux), next],
            Op::Ret if i.pred.offset == 0 && !may_diverge(i, p.simd) => [None, None],
            Op::End => [None, None],
            _ => [next, None],
        }
    }
}

/// The runs of code within which nothing comes or goes: the number of each instruction's, and the first instruction of
/// each.
fn straight_line_runs(code: &[Inst]) -> (Vec<u32>, Vec<Pc>) {
    let mut leads = vec![false; code.len() + 1];
    leads[0] = true;
    for (pc, i) in code.iter().enumerate() {
        if matches!(i.op, Op::Goto | Op::Call)
            && let Some(lead) = leads.get_mut(i.aux as usize)
        {
            *lead = true;
        }
        if matches!(i.op, Op::Goto | Op::Ret | Op::Join | Op::End | Op::Unsupported) {
            leads[pc + 1] = true;
        }
    }
    let (mut run, mut starts) = (Vec::with_capacity(code.len()), Vec::new());
    for pc in 0..code.len() {
        if leads[pc] {
            starts.push(pc as Pc);
        }
        run.push(starts.len() as u32 - 1);
    }
    (run, starts)
}

/// Are all numbers of the second list in the first one? Both ascend.
fn contains(all: &[u32], some: &[u32]) -> bool {
    if some.len() > all.len() {
        return false;
    }
    let mut rest = all.iter();
    some.iter().all(|x| rest.by_ref().any(|a| a == x))
}
