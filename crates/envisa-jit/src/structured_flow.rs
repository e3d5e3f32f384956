//! Structured control flow: regions of code with one entry and one label where their channels reconverge. Compilers make them
//! of `if` and `else`, which begin at a branch, and of loops.
//!
//! The channels that come to a region's entry are those that are active behind its label, but for those that bypass the label
//! because they leave for that of a region around it (`break` in an `if`). So native code keeps the execution mask of the
//! entry, and each branch inside narrows the mask at hand: no channel has to wait anywhere, and nobody has to look for
//! channels that wait.

use std::collections::{BTreeMap, BTreeSet};

use envisa_lower::analysis::Flow;
use envisa_lower::{Op, Pc, Program};

/// Where a region begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Start {
    /// At a branch, which all of its channels come to.
    Branch(Pc),
    /// Ahead of a loop's first instruction.
    Loop(Pc),
}

/// Which channels are active behind a region's label.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reconvergence {
    /// Where the region begins.
    pub start: Start,
    /// The label begins an `else`, which ends at the label given here: those channels go on that are not active right ahead
    /// of it. Else all do that came to the start.
    pub others_until: Option<Pc>,
    /// Some branches inside bypass the label.
    pub is_bypassed: bool,
    /// The next label of a region around this one, where channels may be active if none are behind this label.
    pub next: Option<Pc>,
}

/// The regions of a program.
#[derive(Clone, Default, Debug)]
pub(crate) struct StructuredFlow {
    /// By label.
    reconvergences: BTreeMap<Pc, Reconvergence>,
    /// The labels of loops, by their first instructions.
    loops: BTreeMap<Pc, Pc>,
    /// By branch: the labels of the regions that begin there, ascending.
    begun: BTreeMap<Pc, Vec<Pc>>,
    /// By branch: the labels that it bypasses, ascending.
    bypassed: BTreeMap<Pc, Vec<Pc>>,
}

/// How often regions are looked for: each time without the labels that were none of a region's the time before.
const ROUNDS: usize = 16;

/// Instructions that are looked at each time, for each of a program's.
const STEPS: usize = 64;

/// Most labels whose kept masks change at a branch that bypasses them.
const BYPASSED: usize = 3;

/// The branches that lead to a label.
#[derive(Clone, Copy, Debug)]
struct Entries {
    first: Pc,
    last: Pc,
}

/// A branch from a region to a label behind the region's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Bypass {
    branch: Pc,
    to: Pc,
}

impl Reconvergence {
    /// Is the mask that is kept for the label collected from the branches to it, rather than that of the start? So it is of
    /// an `else` that other channels bypass.
    pub fn collects_its_mask(self) -> bool {
        self.others_until.is_some() && self.is_bypassed
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

impl StructuredFlow {
    /// Finds all regions whose starts `may` begin one.
    pub fn new(p: &Program, flow: &Flow, may: impl Fn(Start) -> bool) -> StructuredFlow {
        let mut search = Search::new(p, flow);
        for _ in 0..ROUNDS {
            search.run(&may);
            if search.steps == 0 {
                break;
            }
            let wrong = search.wrong();
            if wrong.is_empty() {
                return search.regions();
            }
            search.left_out.extend(wrong);
        }
        StructuredFlow::default()
    }

    /// Which channels are active behind a label, if it is a region's.
    pub fn reconvergence(&self, label: Pc) -> Option<Reconvergence> {
        self.reconvergences.get(&label).copied()
    }

    /// The label of the loop that begins at an instruction, if it is a region.
    pub fn loop_end(&self, head: Pc) -> Option<Pc> {
        self.loops.get(&head).copied()
    }

    /// The labels of the regions that begin at a branch, ascending.
    pub fn labels_begun_at(&self, branch: Pc) -> &[Pc] {
        self.begun.get(&branch).map_or(&[], |all| all)
    }

    /// The labels that a branch bypasses, ascending.
    pub fn bypassed(&self, branch: Pc) -> &[Pc] {
        self.bypassed.get(&branch).map_or(&[], |all| all)
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
    /// Labels that are no region's.
    left_out: BTreeSet<Pc>,
    /// Instructions that may still be looked at.
    steps: usize,
    /// By label: the regions that were found, as long as all that they are left for are labels of regions, too; and the
    /// loops among them.
    found: BTreeMap<Pc, (Start, Option<Pc>)>,
    loops: BTreeMap<Pc, Pc>,
    /// By label: the branches that bypass it.
    bypasses: BTreeMap<Pc, Vec<Bypass>>,
    /// By label: the start of the first region that is left for it.
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
            bypasses: BTreeMap::new(),
            left_from: BTreeMap::new(),
        }
    }

    fn run(&mut self, may: &impl Fn(Start) -> bool) {
        self.steps = STEPS * self.flow.end() as usize;
        self.found.clear();
        self.loops.clear();
        self.bypasses.clear();
        self.left_from.clear();
        // Where branches lead, and where channels wait that leave loops. What is inside of something has its labels before.
        let mut labels: Vec<Pc> =
            self.entries.keys().copied().chain(self.flow.all_waiting_labels()).collect();
        labels.sort_unstable();
        labels.dedup();
        for label in labels.into_iter().filter(|l| !self.left_out.contains(l)).collect::<Vec<_>>() {
            let Some((start, others_until)) = self.begins_at(label).filter(|s| may(s.0)) else { continue };
            let is_over = Pc::from(others_until.is_some());
            let Some(bypasses) = self.bypasses_of(start, label - is_over, label) else { continue };
            if let Start::Loop(head) = start {
                self.loops.insert(head, label);
            }
            for to in bypasses.iter().map(|bypass| bypass.to).chain(others_until) {
                let first = self.left_from.entry(to).or_insert(start.pc());
                *first = start.pc().min(*first);
            }
            self.bypasses.insert(label, bypasses);
            self.found.insert(label, (start, others_until));
        }
    }

    /// The labels of what is no region, as it is left for what is not the label of a region around it.
    fn wrong(&self) -> Vec<Pc> {
        let around = |start: Start, to: Pc| {
            let outer = self.found.get(&to);
            outer.is_some_and(|(outer, others_until)| {
                outer.pc() <= start.pc() && (others_until.is_none() || outer.pc() < start.pc())
            })
        };
        let mut bypassed: BTreeMap<Pc, usize> = BTreeMap::new();
        // The mask of an `else` does not change then: see [`Reconvergence::collects_its_mask`].
        let keeps = |label: &Pc| self.found[label].1.is_none();
        let all = self.bypasses.iter().filter(|p| keeps(p.0)).flat_map(|p| p.1);
        all.for_each(|p| *bypassed.entry(p.branch).or_default() += 1);
        let is_wrong = |(label, (start, others_until)): (&Pc, &(Start, Option<Pc>))| {
            let bypasses = &self.bypasses[label];
            let mut targets = bypasses.iter().map(|bypass| bypass.to).chain(*others_until);
            let many = bypasses.iter().any(|p| bypassed.get(&p.branch).is_some_and(|n| *n > BYPASSED));
            (many || !targets.all(|to| around(*start, to))).then_some(*label)
        };
        self.found.iter().filter_map(is_wrong).collect()
    }

    fn regions(&self) -> StructuredFlow {
        let mut out = StructuredFlow { loops: self.loops.clone(), ..StructuredFlow::default() };
        for (label, (start, others_until)) in &self.found {
            let bypasses = &self.bypasses[label];
            if let Start::Branch(branch) = start {
                out.begun.entry(*branch).or_default().push(*label);
            }
            for bypass in bypasses {
                out.bypassed.entry(bypass.branch).or_default().push(*label);
            }
            let around = |l: &(&Pc, &(Start, Option<Pc>))| l.1.0.pc() <= start.pc();
            let is_bypassed = !bypasses.is_empty();
            // Behind other labels there are active channels.
            let asks = is_bypassed || others_until.is_some();
            let next = asks.then(|| self.found.range(label + 1..).find(around).map(|l| *l.0)).flatten();
            out.reconvergences.insert(
                *label,
                Reconvergence { start: *start, others_until: *others_until, is_bypassed, next },
            );
        }
        out
    }

    /// Where a region would begin that ends at a label; and where the `else` would end that begins there.
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

    /// The branches that bypass a label, if nobody comes to its region but from the start, and nobody leaves it but by these
    /// and for the label.
    fn bypasses_of(&mut self, start: Start, end: Pc, label: Pc) -> Option<Vec<Bypass>> {
        let (mut pc, mut bypasses) = (start.pc(), Vec::new());
        while pc < end {
            self.steps = self.steps.saturating_sub(1);
            if !self.flow.is_reachable(pc) || self.steps == 0 {
                return None;
            }
            if let Some(e) = self.entries.get(&pc).filter(|_| start != Start::Branch(pc)) {
                let inner = self.loops.get(&pc).filter(|end| start != Start::Loop(pc) && **end < label);
                if let Some(behind) = inner {
                    self.bypass(*behind, label, &mut bypasses);
                    pc = behind + 1;
                    continue;
                }
                // Only those come here otherwise that are in this region, and nobody waits.
                if e.first < start.pc() || e.last >= label || self.flow.waits_at(pc, pc) {
                    return None;
                }
            }
            pc = self.behind(pc, start, (label, end < label), &mut bypasses)?;
        }
        Some(bypasses)
    }

    /// Where a region goes on behind an instruction or behind the inner region that begins there; `None` if it may be left
    /// elsewhere.
    fn behind(
        &self,
        pc: Pc,
        start: Start,
        (label, is_else): (Pc, bool),
        bypasses: &mut Vec<Bypass>,
    ) -> Option<Pc> {
        let i = &self.p.code()[pc as usize];
        // What all channels of the branch go to, or none: of an `else`, others would go on than came.
        let together = i.channels == 1 && i.pred.offset != 0 && !is_else;
        let goes_on = match i.op {
            Op::Goto if i.aux == label => together || self.is_conditional(pc),
            Op::Goto if i.aux <= pc => {
                let inside =
                    if let Start::Branch(first) = start { i.aux > first } else { i.aux >= start.pc() };
                inside && (i.channels == 1 || pc + 1 == label && self.is_whole(pc))
            }
            // Nobody waits there: all that come here go one way.
            Op::Goto if i.channels == 1 && i.aux < label && !self.flow.waits_at(i.aux, i.aux) => true,
            Op::Goto if i.aux > label && self.is_conditional(pc) => {
                bypasses.push(Bypass { branch: pc, to: i.aux });
                true
            }
            Op::Goto => {
                let behind = self.behind_inner(pc, label)?;
                self.bypass(behind - 1, label, bypasses);
                return Some(behind);
            }
            Op::Join => !self.flow.waits_at(pc, pc),
            Op::Message | Op::Cmp | Op::Mov | Op::MovPred | Op::Setp | Op::PredLogic | Op::Nop => true,
            op => op.is_computation(),
        };
        goes_on.then_some(pc + 1)
    }

    /// Where a region goes on behind an inner one that begins at a branch.
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

    /// The branches of an inner region that bypass the label of the outer one, too.
    fn bypass(&self, inner: Pc, label: Pc, bypasses: &mut Vec<Bypass>) {
        let Some((_, others_until)) = self.found.get(&inner) else { return };
        let farther = self.bypasses[&inner].iter().filter(|bypass| bypass.to > label);
        bypasses.extend(farther);
        if let Some(to) = others_until.filter(|to| *to > label) {
            bypasses.push(Bypass { branch: inner - 1, to });
        }
    }
}
