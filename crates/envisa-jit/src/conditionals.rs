//! Code that channels come to and leave together: conditional code that begins at one branch and ends at one label, as `if`
//! and `else` do, and loops that end at one label.
//!
//! The channels that come to such code are those that are active behind its label, but for those that leave for a label of
//! other such code around it. So native code keeps their mask meanwhile, and each branch inside narrows the one that it has:
//! no channel has to wait anywhere, and nobody has to look for channels that wait.

use std::collections::{BTreeMap, BTreeSet};

use envisa_lower::analysis::Flow;
use envisa_lower::{Op, Pc, Program};

/// Where code begins that channels leave together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Start {
    /// At a branch, which all of them come to.
    Branch(Pc),
    /// Ahead of a loop's first instruction.
    Loop(Pc),
}

/// Of a label: which channels go on there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Meeting {
    /// Where all of them were active, ahead of the label.
    pub start: Start,
    /// Only those go on that are not active right ahead of the label, and up to the label given here; the others are done up
    /// to there. Else all go on.
    pub others_until: Option<Pc>,
    /// Channels leave for the label of code around this one, without coming here.
    pub is_left: bool,
    /// The next label of code around this one.
    pub next: Option<Pc>,
}

/// All such code of a program.
#[derive(Clone, Default, Debug)]
pub(crate) struct Conditionals {
    /// By label.
    meetings: BTreeMap<Pc, Meeting>,
    /// The labels of loops, by their first instructions.
    loops: BTreeMap<Pc, Pc>,
    /// By branch: the labels of the code that begins there, ascending.
    begun: BTreeMap<Pc, Vec<Pc>>,
    /// By branch: the labels that channels do not come to which take it, ascending.
    passed: BTreeMap<Pc, Vec<Pc>>,
}

/// How often it is looked for code all of which is such code: each time something is left out that was not.
const ROUNDS: usize = 16;

/// Instructions that are looked at each time, for each of a program's.
const STEPS: usize = 64;

/// Most labels that channels pass by one branch: of each, the mask that is kept is another then.
const PASSED: usize = 3;

/// The branches that lead to a label.
#[derive(Clone, Copy, Debug)]
struct Entries {
    first: Pc,
    last: Pc,
}

/// A branch from code to a label behind its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Passing {
    branch: Pc,
    to: Pc,
}

impl Meeting {
    /// Are the channels kept that go on at the label, as branches tell, rather than those that came to the start? They are
    /// where only some go on, while others leave for labels farther on.
    pub fn is_told_who(self) -> bool {
        self.others_until.is_some() && self.is_left
    }
}

impl Start {
    /// The instruction that it is at.
    fn pc(self) -> Pc {
        match self {
            Start::Branch(pc) | Start::Loop(pc) => pc,
        }
    }
}

impl Conditionals {
    /// Finds all of it, but for what begins where `may` does not hold.
    pub fn new(p: &Program, flow: &Flow, may: impl Fn(Start) -> bool) -> Conditionals {
        let mut search = Search::new(p, flow);
        for _ in 0..ROUNDS {
            search.run(&may);
            if search.steps == 0 {
                break;
            }
            let wrong = search.wrong();
            if wrong.is_empty() {
                return search.conditionals();
            }
            search.left_out.extend(wrong);
        }
        Conditionals::default()
    }

    /// Which channels meet at a label, if they do.
    pub fn meeting(&self, label: Pc) -> Option<Meeting> {
        self.meetings.get(&label).copied()
    }

    /// Of a loop whose channels leave it together, by its first instruction: the label.
    pub fn loop_end(&self, head: Pc) -> Option<Pc> {
        self.loops.get(&head).copied()
    }

    /// The labels of such code that begins at a branch, ascending.
    pub fn begun_at(&self, branch: Pc) -> &[Pc] {
        self.begun.get(&branch).map_or(&[], |all| all)
    }

    /// The labels of such code that channels leave by a branch without coming there, ascending.
    pub fn passed(&self, branch: Pc) -> &[Pc] {
        self.passed.get(&branch).map_or(&[], |all| all)
    }
}

fn entries(p: &Program, flow: &Flow) -> BTreeMap<Pc, Entries> {
    let mut all = BTreeMap::new();
    for pc in (0..flow.end()).filter(|pc| flow.is_reachable(*pc)) {
        let i = &p.code()[pc as usize];
        if matches!(i.op, Op::Goto | Op::Call) {
            // Who calls comes from anywhere.
            let last = if i.op == Op::Call { Pc::MAX } else { pc };
            let e = all.entry(i.aux).or_insert(Entries { first: pc, last });
            e.last = e.last.max(last);
        }
    }
    all
}

struct Search<'a> {
    p: &'a Program,
    flow: &'a Flow,
    entries: BTreeMap<Pc, Entries>,
    /// Labels that are of no such code.
    left_out: BTreeSet<Pc>,
    /// Instructions that may still be looked at.
    steps: usize,
    /// What was found, by label, if all that it is left for is such code, too; and the loops among it.
    found: BTreeMap<Pc, (Start, Option<Pc>)>,
    loops: BTreeMap<Pc, Pc>,
    /// By label: the branches that leave its code for labels farther on.
    passings: BTreeMap<Pc, Vec<Passing>>,
    /// By label: the first branch of the code that is left for it.
    left_from: BTreeMap<Pc, Pc>,
}

impl<'a> Search<'a> {
    fn new(p: &'a Program, flow: &'a Flow) -> Search<'a> {
        Search {
            p,
            flow,
            entries: entries(p, flow),
            left_out: BTreeSet::new(),
            steps: 0,
            found: BTreeMap::new(),
            loops: BTreeMap::new(),
            passings: BTreeMap::new(),
            left_from: BTreeMap::new(),
        }
    }

    fn run(&mut self, may: &impl Fn(Start) -> bool) {
        self.steps = STEPS * self.flow.end() as usize;
        self.found.clear();
        self.loops.clear();
        self.passings.clear();
        self.left_from.clear();
        // Where branches lead, and where channels wait that leave loops. What is inside of something has its labels before.
        let mut labels: Vec<Pc> =
            self.entries.keys().copied().chain(self.flow.all_waiting_labels()).collect();
        labels.sort_unstable();
        labels.dedup();
        for label in labels.into_iter().filter(|l| !self.left_out.contains(l)).collect::<Vec<_>>() {
            let Some((start, others_until)) = self.begins_at(label).filter(|s| may(s.0)) else { continue };
            let is_over = Pc::from(others_until.is_some());
            let Some(passings) = self.passings_of(start, label - is_over, label) else { continue };
            if let Start::Loop(head) = start {
                self.loops.insert(head, label);
            }
            for to in passings.iter().map(|passing| passing.to).chain(others_until) {
                let first = self.left_from.entry(to).or_insert(start.pc());
                *first = start.pc().min(*first);
            }
            self.passings.insert(label, passings);
            self.found.insert(label, (start, others_until));
        }
    }

    /// The labels of what is no such code: what it is left for is not the label of such code around it.
    fn wrong(&self) -> Vec<Pc> {
        let around = |start: Start, to: Pc| {
            let outer = self.found.get(&to);
            outer.is_some_and(|(outer, others_until)| {
                outer.pc() <= start.pc() && (others_until.is_none() || outer.pc() < start.pc())
            })
        };
        let mut passed: BTreeMap<Pc, usize> = BTreeMap::new();
        // Of where only some go on, it is said who does: see [`Meeting::is_told_who`].
        let keeps = |label: &Pc| self.found[label].1.is_none();
        let all = self.passings.iter().filter(|p| keeps(p.0)).flat_map(|p| p.1);
        all.for_each(|p| *passed.entry(p.branch).or_default() += 1);
        let is_wrong = |(label, (start, others_until)): (&Pc, &(Start, Option<Pc>))| {
            let passings = &self.passings[label];
            let mut targets = passings.iter().map(|passing| passing.to).chain(*others_until);
            let many = passings.iter().any(|p| passed.get(&p.branch).is_some_and(|n| *n > PASSED));
            (many || !targets.all(|to| around(*start, to))).then_some(*label)
        };
        self.found.iter().filter_map(is_wrong).collect()
    }

    fn conditionals(&self) -> Conditionals {
        let mut out = Conditionals { loops: self.loops.clone(), ..Conditionals::default() };
        for (label, (start, others_until)) in &self.found {
            let passings = &self.passings[label];
            if let Start::Branch(branch) = start {
                out.begun.entry(*branch).or_default().push(*label);
            }
            for passing in passings {
                out.passed.entry(passing.branch).or_default().push(*label);
            }
            let around = |l: &(&Pc, &(Start, Option<Pc>))| l.1.0.pc() <= start.pc();
            let is_left = !passings.is_empty();
            // Where all go on there is somebody.
            let asks = is_left || others_until.is_some();
            let next = asks.then(|| self.found.range(label + 1..).find(around).map(|l| *l.0)).flatten();
            out.meetings
                .insert(*label, Meeting { start: *start, others_until: *others_until, is_left, next });
        }
        out
    }

    /// Where code would begin that ends at a label; and up to where others are done, if only some go on there.
    fn begins_at(&self, label: Pc) -> Option<(Start, Option<Pc>)> {
        let joins =
            label > 0 && self.flow.is_reachable(label) && self.p.code()[label as usize].op == Op::Join;
        let to_here = self.entries.get(&label);
        if !joins || to_here.is_some_and(|e| e.last >= label) {
            return None;
        }
        let left_from = self.left_from.get(&label).copied();
        let ahead = &self.p.code()[label as usize - 1];
        let first = to_here.map(|e| e.first).into_iter().chain(left_from).min();
        if ahead.op == Op::Goto && ahead.aux < label && first.is_none_or(|first| first >= ahead.aux) {
            return self.may_begin(ahead.aux).then_some((Start::Loop(ahead.aux), None));
        }
        let first = first.filter(|first| self.is_conditional(*first))?;
        let is_over = ahead.op == Op::Goto && ahead.aux > label && self.is_unconditional(label - 1);
        Some((Start::Branch(first), is_over.then_some(ahead.aux)))
    }

    /// May a loop begin at an instruction that all its channels come to from the one ahead of it?
    fn may_begin(&self, head: Pc) -> bool {
        // Who comes from a branch may come past what is put ahead of the loop.
        head > 0
            && self.flow.is_reachable(head - 1)
            && !matches!(self.p.code()[head as usize - 1].op, Op::Goto | Op::Ret | Op::Call)
            && !self.flow.waits_at(head, head)
    }

    /// Is a branch one of all channels?
    fn is_whole(&self, pc: Pc) -> bool {
        let i = &self.p.code()[pc as usize];
        u32::from(i.channels) == self.p.simd() && i.channels > 1 && i.first == 0
    }

    /// Is it one that some of all channels take?
    fn is_conditional(&self, pc: Pc) -> bool {
        self.is_whole(pc) && self.p.code()[pc as usize].pred.offset != 0
    }

    /// Is it one that all that come there take?
    fn is_unconditional(&self, pc: Pc) -> bool {
        let i = &self.p.code()[pc as usize];
        (i.channels == 1 || self.is_whole(pc)) && i.pred.offset == 0
    }

    /// The branches from code to labels behind its own, if nobody comes to it but from its start, and nobody leaves it
    /// otherwise but for its label.
    fn passings_of(&mut self, start: Start, end: Pc, label: Pc) -> Option<Vec<Passing>> {
        let (mut pc, mut passings) = (start.pc(), Vec::new());
        while pc < end {
            self.steps = self.steps.saturating_sub(1);
            if !self.flow.is_reachable(pc) || self.steps == 0 {
                return None;
            }
            if let Some(e) = self.entries.get(&pc).filter(|_| start != Start::Branch(pc)) {
                let inner = self.loops.get(&pc).filter(|end| start != Start::Loop(pc) && **end < label);
                if let Some(behind) = inner {
                    self.pass(*behind, label, &mut passings);
                    pc = behind + 1;
                    continue;
                }
                // Only those come here otherwise that are in this code, and nobody waits.
                if e.first < start.pc() || e.last >= label || self.flow.waits_at(pc, pc) {
                    return None;
                }
            }
            pc = self.behind(pc, start, label, &mut passings)?;
        }
        Some(passings)
    }

    /// Where code goes on behind an instruction or behind the conditional code that begins there; `None` if it may be left
    /// elsewhere.
    fn behind(&self, pc: Pc, start: Start, label: Pc, passings: &mut Vec<Passing>) -> Option<Pc> {
        let i = &self.p.code()[pc as usize];
        let goes_on = match i.op {
            Op::Goto if i.aux == label => i.channels == 1 && i.pred.offset != 0 || self.is_conditional(pc),
            Op::Goto if i.aux <= pc => {
                let inside =
                    if let Start::Branch(first) = start { i.aux > first } else { i.aux >= start.pc() };
                inside && (i.channels == 1 || pc + 1 == label && self.is_whole(pc))
            }
            // Nobody waits there: all that come here go one way.
            Op::Goto if i.channels == 1 && i.aux < label && !self.flow.waits_at(i.aux, i.aux) => true,
            Op::Goto if i.aux > label && self.is_conditional(pc) => {
                passings.push(Passing { branch: pc, to: i.aux });
                true
            }
            Op::Goto => {
                let behind = self.behind_inner(pc, label)?;
                self.pass(behind - 1, label, passings);
                return Some(behind);
            }
            Op::Join => !self.flow.waits_at(pc, pc),
            Op::Message | Op::Cmp | Op::Mov | Op::MovPred | Op::Setp | Op::PredLogic | Op::Nop => true,
            op => op.is_computation(),
        };
        goes_on.then_some(pc + 1)
    }

    /// Of conditional code that begins at a branch within other such code: where that goes on.
    fn behind_inner(&self, branch: Pc, label: Pc) -> Option<Pc> {
        let to = self.p.code()[branch as usize].aux;
        let begins = |m: &&(Start, Option<Pc>)| m.0 == Start::Branch(branch);
        let (_, others_until) = self.found.get(&to).filter(|_| to < label).filter(begins)?;
        match *others_until {
            Some(end) if end < label => {
                let whole = self.found.get(&end).filter(begins)?;
                whole.1.is_none().then_some(end + 1)
            }
            _ => Some(to + 1),
        }
    }

    /// The branches that leave inner code for labels behind that of outer code.
    fn pass(&self, inner: Pc, label: Pc, passings: &mut Vec<Passing>) {
        let Some((_, others_until)) = self.found.get(&inner) else { return };
        let farther = self.passings[&inner].iter().filter(|passing| passing.to > label);
        passings.extend(farther);
        if let Some(to) = others_until.filter(|to| *to > label) {
            passings.push(Passing { branch: inner - 1, to });
        }
    }
}
