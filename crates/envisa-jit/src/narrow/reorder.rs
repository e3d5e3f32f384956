//! Blocks of the list in another order, so that they take fewer registers.
//!
//! The emitter computes all parts of an instruction before the next one: four times eight channels, of which each could
//! go its way through the block alone. Here values get names of their own and copies become what they copy; then the
//! steps that have nothing to do with each other are put one bundle after the other. What bundles share and is cheap to
//! make, constants and elements in all lanes, each makes for itself.

use iced_x86::{Instruction, OpKind, Register};

use super::liveness::{Block, Flow, mark_wanted};
use super::register_tables::{Lists, Table};
use super::simplify::{Made, Values};
use super::step_list::{Effect, List, NO, Reg, Step, UNITS};
use super::vector::is_own_memory;
use super::{Mem, memory};

/// Most steps that are looked at together.
const MOST: usize = 4096;
/// How many registers bundles may want that go on side by side.
const WANTED: usize = 12;
/// Fewer are left as they are.
const FEW: usize = 12;

/// What became of the steps.
pub(super) struct Tidy {
    pub steps: Vec<Step>,
    pub code: Vec<Instruction>,
    /// By step, and behind the last: where it is, or what it was put together with begins.
    pub at: Vec<usize>,
    /// The same: where all steps before it have been done. Steps that are put together change places.
    pub done: Vec<usize>,
    pub next: Reg,
    pub pinned: Vec<Reg>,
}

/// Puts the steps of each block in order; `flow` is that of the steps as they are then.
pub(super) fn reorder_steps(
    steps: &[Step],
    code: Vec<Instruction>,
    values: Values,
    flow: &mut Flow,
    next: Reg,
) -> Tidy {
    let n = steps.len();
    let (room, at) = (Vec::with_capacity(n + n / 4), vec![0; n + 1]);
    let done = at.clone();
    let mut out = Tidy { steps: room, code: Vec::new(), at, done, next, pinned: vec![] };
    let mut names = Names { list: List { next, code, ..List::default() }, values, ..Names::default() };
    let mut bundles = Bundles::default();
    let (mut begins, mut run) = (Vec::new(), Vec::new());
    for Block { start, end, live_out, .. } in &mut flow.blocks {
        names.start(&steps[*start..*end], *live_out);
        // Where the steps of the block begin under their new names.
        begins.clear();
        for (k, s) in steps[*start..*end].iter().enumerate() {
            begins.push(names.list.steps.len());
            names.step(k as u32, s);
        }
        begins.push(names.list.steps.len());
        let mut block_steps = std::mem::take(&mut names.list.steps);
        if std::mem::take(&mut names.simplified) {
            retain_wanted(&mut block_steps, *live_out, &mut names.wanted, &mut begins);
        }
        bundles.reads.clear();
        for s in &block_steps {
            s.touches(|r, read, _| *bundles.reads.or_default(r) += u32::from(read));
        }
        let mut all = block_steps.drain(..);
        let first = out.steps.len();
        // Where steps are put that are not fixed, and the first of them.
        let (mut at, mut since) = (first, *start);
        for (k, s) in steps[*start..*end].iter().enumerate() {
            let fixed = is_fixed(s, &names.list.code);
            if fixed || run.len() >= MOST {
                bundles.flush(&mut run, &mut out.steps, &mut names.list);
                at = out.steps.len();
                out.done[since..=*start + k].fill(at);
                since = *start + k;
            }
            out.at[*start + k] = at;
            // What a step needs is copied before it.
            run.extend(all.by_ref().take(begins[k + 1] - begins[k]));
            if fixed {
                out.steps.append(&mut run);
                at = out.steps.len();
                since = *start + k + 1;
            }
        }
        bundles.flush(&mut run, &mut out.steps, &mut names.list);
        out.done[since..*end].fill(out.steps.len());
        drop(all);
        names.list.steps = block_steps;
        (*start, *end) = (first, out.steps.len());
    }
    out.at[steps.len()] = out.steps.len();
    out.done[steps.len()] = out.steps.len();
    out.next = names.list.next;
    (out.pinned, out.code) = (names.list.pinned, names.list.code);
    out
}

/// Leaves out the steps of a block that nobody wants any more; `begins` go on naming what they named.
fn retain_wanted(steps: &mut Vec<Step>, live_out: u128, wanted: &mut Table<bool>, begins: &mut [usize]) {
    let mut keep = vec![true; steps.len()];
    mark_wanted(steps, live_out, wanted, &mut keep);
    let mut before = Vec::with_capacity(steps.len() + 1);
    let mut n = 0;
    for k in &keep {
        before.push(n);
        n += usize::from(*k);
    }
    before.push(n);
    begins.iter_mut().for_each(|b| *b = before[*b]);
    let mut keep = keep.into_iter();
    steps.retain(|_| keep.next() == Some(true));
}

/// Does it stay where it is among all others: does it touch flags, general registers or the guest's memory?
fn is_fixed(s: &Step, code: &[Instruction]) -> bool {
    if s.ops.iter().all(|r| *r == NO) {
        return true;
    }
    let i = &code[s.at as usize];
    if !s.pure() && i.op_count() > 0 && i.op0_kind() == OpKind::Register {
        return true;
    }
    !s.pure() && !is_own_memory(memory(i))
}

/// Which value each register has.
#[derive(Default)]
struct Names {
    /// Steps under their new names.
    list: List,
    /// By register: the name of what it has, where that is another.
    now: Table<Reg>,
    /// By name: registers that were given that value.
    also: Lists,
    /// By name: the unit that has it for itself alone, but for those that were given it.
    own: Table<Reg>,
    /// By unit: the step that its last value begins with, if that is wanted behind the block.
    last: Table<u32>,
    others: Vec<Reg>,
    values: Values,
    /// Steps of the block became others, or none.
    simplified: bool,
    /// Which names steps behind read, while those are looked for that nobody reads.
    wanted: Table<bool>,
}

impl Names {
    /// A block begins.
    fn start(&mut self, steps: &[Step], live: u128) {
        self.now.clear();
        self.also.clear();
        self.own.clear();
        self.last.clear();
        self.values.start();
        for (k, s) in steps.iter().enumerate() {
            if let (Effect::Write | Effect::Make, r) = (s.effect, s.ops[0])
                && r < UNITS
                && live >> r & 1 != 0
            {
                self.last.insert(r, k as u32);
            }
        }
    }

    fn name(&self, r: Reg) -> Reg {
        self.now.get(r).unwrap_or(r)
    }

    /// A name gets another value: other registers that have the one before keep it.
    fn keep(&mut self, name: Reg, of: Reg) {
        let (now, others) = (&self.now, &mut self.others);
        others.clear();
        self.also.drain(name, |o| {
            if o != of && now.get(o) == Some(name) {
                others.push(o);
            }
        });
        if others.is_empty() {
            return;
        }
        let t = self.list.temp();
        self.list.copy(t, name);
        for o in &self.others {
            self.now.insert(*o, t);
            self.also.push(t, *o);
        }
    }

    /// The name under which step `k` of the block writes a register.
    fn written(&mut self, k: u32, r: Reg) -> Reg {
        if r >= UNITS || self.last.get(r) == Some(k) {
            self.keep(r, r);
            self.now.remove(r);
            return r;
        }
        let t = self.list.temp();
        self.now.insert(r, t);
        self.own.insert(t, r);
        t
    }

    /// The name of a register that is read and written, at step `k`.
    fn changed(&mut self, k: u32, r: Reg) -> Reg {
        let has = self.name(r);
        // A unit's last value is changed in place.
        let final_value = self.last.get(r).is_none_or(|l| l <= k);
        if (has == r && (r >= UNITS || final_value)) || self.own.get(has) == Some(r) {
            self.keep(has, r);
            return has;
        }
        if r >= UNITS {
            self.list.copy(r, has);
            self.now.remove(r);
            return r;
        }
        let t = self.list.temp();
        self.list.copy(t, has);
        self.now.insert(r, t);
        self.own.insert(t, r);
        t
    }

    fn step(&mut self, k: u32, s: &Step) {
        let mut s = *s;
        if let Effect::Label(_) = s.effect {
            return self.list.steps.push(s);
        }
        if s.index != NO {
            s.index = self.name(s.index);
        }
        match s.effect {
            Effect::Read => s.ops.iter_mut().filter(|r| **r != NO).for_each(|r| *r = self.name(*r)),
            Effect::Write => {
                s.ops[1..].iter_mut().filter(|r| **r != NO).for_each(|r| *r = self.name(*r));
                let to = s.ops[0];
                let copied = match s.copies {
                    true => Some(s.ops[1]),
                    false => match self.values.make(&s, &mut self.list) {
                        Made::Step(made) => {
                            self.simplified |= made.at != s.at;
                            s = made;
                            None
                        }
                        Made::Already(r) => {
                            self.simplified = true;
                            Some(r)
                        }
                    },
                };
                match copied {
                    Some(from) if self.last.get(to) != Some(k) => {
                        self.now.insert(to, from);
                        self.also.push(from, to);
                        return;
                    }
                    Some(from) if !s.copies => {
                        let to = self.written(k, to);
                        self.list.copy(to, from);
                        return self.values.overwritten(to);
                    }
                    _ => s.ops[0] = self.written(k, to),
                }
            }
            Effect::Make => {
                let t = self.written(k, s.ops[0]);
                s.ops[..3].fill(t);
            }
            Effect::Update => {
                s.ops[1..].iter_mut().filter(|r| **r != NO).for_each(|r| *r = self.name(*r));
                s.ops[0] = self.changed(k, s.ops[0]);
            }
            Effect::Gather => {
                let x = self.list.pinned();
                self.list.copy(x, s.index);
                s.index = x;
                for n in [0, 2] {
                    let t = self.list.pinned();
                    self.list.copy(t, self.name(s.ops[n]));
                    self.now.insert(s.ops[n], t);
                    s.ops[n] = t;
                }
            }
            Effect::Label(_) => {}
        }
        self.list.steps.push(s);
        self.values.done(&s, &self.list.code);
        if is_fixed(&s, &self.list.code) {
            self.values.part();
        }
    }
}

fn find_root(parent: &mut [u32], mut k: usize) -> usize {
    while parent[k] as usize != k {
        parent[k] = parent[parent[k] as usize];
        k = parent[k] as usize;
    }
    k
}

/// Memory of the code's own that a step touches, and whether it writes there.
fn touched_own_memory(i: &Instruction) -> Option<(Mem, i64, bool)> {
    let k = (0..i.op_count()).find(|k| i.op_kind(*k) == OpKind::Memory)?;
    let m = memory(i);
    is_own_memory(m).then(|| (m, i.memory_size().size() as i64, k == 0))
}

fn accesses_overlap(a: (Mem, i64, bool), b: (Mem, i64, bool)) -> bool {
    let plain = |m: Mem| m.index == Register::None;
    a.0.base == b.0.base
        && (!plain(a.0) || !plain(b.0) || (a.0.disp < b.0.disp + b.1 && b.0.disp < a.0.disp + a.1))
}

/// What each bundle does for itself: how many steps are behind each other; more are not.
const SHARED: u8 = 9;

/// Puts the steps of runs one bundle after the other.
#[derive(Default)]
struct Bundles {
    /// By register: how often the block reads it, and the run.
    reads: Table<u32>,
    here: Table<u32>,
    /// How often the run writes it.
    writers: Table<u32>,
    /// The last step that wrote it, and those that read it since.
    made: Table<u32>,
    readers: Lists,
    /// The step that each bundle does for itself which makes it.
    sources: Table<u32>,
    /// Where a bundle names it first and last.
    spans: Table<(u32, u32)>,
    /// What the bundle has made for itself, and under which name.
    mine: Table<Reg>,
    parent: Vec<u32>,
    memory: Vec<Option<(Mem, i64, bool)>>,
    stores: Vec<u32>,
    /// By step: how far behind others it is, if each bundle may do it for itself.
    deep: Vec<u8>,
    change: Vec<i32>,
}

impl Bundles {
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (find_root(&mut self.parent, a as usize), find_root(&mut self.parent, b as usize));
        self.parent[a.max(b)] = a.min(b) as u32;
    }

    /// Finds which steps of a run belong together, and which are each bundle's own.
    fn look(&mut self, run: &[Step], code: &[Instruction]) {
        let n = run.len();
        self.parent.clear();
        self.parent.extend(0..n as u32);
        self.memory.clear();
        self.memory.extend(run.iter().map(|s| touched_own_memory(&code[s.at as usize])));
        self.stores.clear();
        self.stores.extend((0..n as u32).filter(|k| self.memory[*k as usize].is_some_and(|m| m.2)));
        self.deep.clear();
        self.deep.resize(n, 0);
        for t in [&mut self.writers, &mut self.here, &mut self.made, &mut self.sources] {
            t.clear();
        }
        self.readers.clear();
        for s in run {
            s.touches(|r, read, written| {
                if written {
                    *self.writers.or_default(r) += 1;
                }
                *self.here.or_default(r) += u32::from(read);
            });
        }
        for (k, s) in run.iter().enumerate() {
            let single = matches!(s.effect, Effect::Write | Effect::Make)
                && s.ops[0] >= UNITS
                && self.writers.get(s.ops[0]) == Some(1);
            let mut behind: Option<u8> = None;
            s.touches(|r, read, _| {
                if read {
                    let d = self.made.get(r).map_or(SHARED, |d| self.deep[d as usize]);
                    behind = behind.max(Some(d));
                }
            });
            let m = self.memory[k];
            let met =
                |x: u32| m.is_some_and(|m| self.memory[x as usize].is_some_and(|y| accesses_overlap(m, y)));
            let steady = m.is_none() || !self.stores.iter().any(|x| met(*x));
            self.deep[k] = match behind {
                None if single && steady => 1,
                Some(1) if single && steady => 2,
                _ => SHARED,
            };
            self.tie(k as u32, s);
        }
    }

    /// Joins a step with those that it depends on.
    fn tie(&mut self, k: u32, s: &Step) {
        let shared = self.deep[k as usize] == SHARED;
        if shared {
            s.touches(|r, read, _| {
                if !read {
                    return;
                }
                if let Some(d) = self.made.get(r).filter(|d| self.deep[*d as usize] == SHARED) {
                    self.join(d, k);
                }
                self.readers.push(r, k);
            });
            if let Some(m) = self.memory[k as usize] {
                for x in 0..self.stores.len() {
                    let x = self.stores[x];
                    if x != k && self.memory[x as usize].is_some_and(|y| accesses_overlap(m, y)) {
                        self.join(x, k);
                    }
                }
            }
        } else {
            self.sources.insert(s.ops[0], k);
        }
        s.touches(|r, _, written| {
            if !written {
                return;
            }
            if shared {
                if let Some(d) = self.made.get(r) {
                    self.join(d, k);
                }
                let parent = &mut self.parent;
                self.readers.drain(r, |d| {
                    let (a, b) = (find_root(parent, d as usize), find_root(parent, k as usize));
                    parent[a.max(b)] = a.min(b) as u32;
                });
            }
            self.made.insert(r, k);
        });
    }

    /// Puts the steps of a run one bundle after the other.
    fn flush(&mut self, run: &mut Vec<Step>, out: &mut Vec<Step>, list: &mut List) {
        if run.len() < FEW {
            return out.append(run);
        }
        self.look(run, &list.code);
        let next = &mut list.next;
        let n = run.len();
        // Bundles in the order of their first steps; the steps of each, one bundle behind the other.
        let mut number = vec![u32::MAX; n];
        let mut ends: Vec<u32> = Vec::new();
        let shared: Vec<u32> = (0..n as u32).filter(|k| self.deep[*k as usize] == SHARED).collect();
        for k in &shared {
            let r = find_root(&mut self.parent, *k as usize);
            if number[r] == u32::MAX {
                number[r] = ends.len() as u32;
                ends.push(0);
            }
            ends[number[r] as usize] += 1;
        }
        let mut sum = 0;
        for e in &mut ends {
            sum += std::mem::replace(e, sum);
        }
        let mut members = vec![0u32; shared.len()];
        for k in &shared {
            let e = &mut ends[number[find_root(&mut self.parent, *k as usize)] as usize];
            members[*e as usize] = *k;
            *e += 1;
        }
        // Those that the registers are enough for go on side by side: a chain by itself runs at its latency.
        let (mut start, mut first, mut wanted) = (0, 0, 0);
        for end in ends.iter().map(|e| *e as usize) {
            let wants = self.pressure(run, &members[first..end]);
            if first > start && wanted + wants > WANTED {
                self.group(run, &mut members[start..first], out, next);
                (start, wanted) = (first, 0);
            }
            wanted += wants;
            first = end;
        }
        self.group(run, &mut members[start..], out, next);
        // Those that are read behind the run as well.
        for k in 0..n {
            let r = run[k].ops[0];
            if self.deep[k] != SHARED && self.reads.get(r) > self.here.get(r) {
                self.mine.clear();
                let mut s = run[k];
                self.take(&mut s, run, out, next);
                out.push(s);
            }
        }
        run.clear();
    }

    /// Writes bundles that go on side by side.
    fn group(&mut self, run: &[Step], steps: &mut [u32], out: &mut Vec<Step>, next: &mut Reg) {
        steps.sort_unstable();
        self.mine.clear();
        for k in steps {
            let mut s = run[*k as usize];
            self.take(&mut s, run, out, next);
            out.push(s);
        }
    }

    /// How many registers a bundle wants at once, at most.
    fn pressure(&mut self, run: &[Step], steps: &[u32]) -> usize {
        self.spans.clear();
        self.change.clear();
        self.change.resize(steps.len() + 1, 0);
        let (spans, change) = (&mut self.spans, &mut self.change);
        for (at, k) in steps.iter().enumerate() {
            let at = at as u32;
            run[*k as usize].touches(|r, read, _| match spans.get(r) {
                Some((first, last)) => {
                    change[last as usize] += 1;
                    change[at as usize] -= 1;
                    spans.insert(r, (first, at));
                }
                None => {
                    // What comes from elsewhere is there from the start.
                    let first = if read { 0 } else { at };
                    change[first as usize] += 1;
                    change[at as usize] -= 1;
                    spans.insert(r, (first, at));
                }
            });
        }
        let mut now = 0;
        let most = self.change.iter().map(|c| {
            now += c;
            now
        });
        most.max().unwrap_or(0) as usize
    }

    /// Names the sources that a step reads, which are made before it where they have not been.
    fn take(&mut self, s: &mut Step, run: &[Step], out: &mut Vec<Step>, next: &mut Reg) {
        let first = match s.effect {
            Effect::Make => return,
            Effect::Write => 1,
            _ => 0,
        };
        let slots = s.ops[first..].iter_mut().chain(std::iter::once(&mut s.index));
        for r in slots.filter(|r| **r != NO) {
            let Some(k) = self.sources.get(*r) else { continue };
            let name = match self.mine.get(*r) {
                Some(name) => name,
                None => {
                    let mut made = run[k as usize];
                    self.take(&mut made, run, out, next);
                    let name = *next;
                    *next += 1;
                    match made.effect {
                        Effect::Make => made.ops[..3].fill(name),
                        _ => made.ops[0] = name,
                    }
                    self.mine.insert(*r, name);
                    out.push(made);
                    name
                }
            };
            *r = name;
        }
    }
}
