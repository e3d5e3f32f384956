//! Blocks of the list in another order, so that they take fewer registers.
//!
//! The emitter computes all parts of an instruction before the next one: four times eight channels, of which each could
//! go its way through the block alone. Here values get names of their own and copies become what they copy; then the
//! steps that have nothing to do with each other are put one bundle after the other. What bundles share and is cheap to
//! make, constants and elements in all lanes, each makes for itself.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use iced_x86::{OpKind, Register};

use super::list::{COPY, Effect, List, NO, Reg, Step, UNITS};
use super::live::Flow;
use super::vector::own;
use super::{Mem, memory};

/// By register.
type Map<T> = HashMap<Reg, T, BuildHasherDefault<Spread>>;

/// Numbers spread by a product: nobody chooses these to collide.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(u64::from(*b)));
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(n.into());
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn finish(&self) -> u64 {
        // The table looks at the top bits and at the low ones.
        self.0 ^ self.0 >> 32
    }
}

/// Most steps that are looked at together.
const MOST: usize = 4096;
/// How many registers bundles may want that go on side by side.
const WANTED: usize = 12;
/// Fewer are left as they are.
const FEW: usize = 12;

/// What became of the steps.
pub(super) struct Tidy {
    pub steps: Vec<Step>,
    /// By step, and behind the last: where it is, or what it was put together with begins.
    pub at: Vec<usize>,
    pub next: Reg,
    pub pinned: Vec<Reg>,
}

pub(super) fn tidy(steps: &[Step], flow: &Flow, next: Reg) -> Tidy {
    let mut out =
        Tidy { steps: Vec::with_capacity(steps.len()), at: vec![0; steps.len() + 1], next, pinned: vec![] };
    let mut names = Names {
        list: List { next, ..List::default() },
        now: Map::default(),
        also: Map::default(),
        own: Map::default(),
    };
    for block in &flow.blocks {
        let last = starts(&steps[block.start..block.end], block.live_out);
        names.now.clear();
        names.also.clear();
        names.own.clear();
        // Where the steps of the block begin under their new names.
        let mut begins = Vec::with_capacity(block.end - block.start + 1);
        for (k, s) in steps[block.start..block.end].iter().enumerate() {
            begins.push(names.list.steps.len());
            names.step(k, s, &last);
        }
        begins.push(names.list.steps.len());
        let block_steps = std::mem::take(&mut names.list.steps);
        let mut reads: Map<u32> = Map::default();
        for s in &block_steps {
            s.touches(&mut |r, read, _| *reads.entry(r).or_insert(0) += u32::from(read));
        }
        let mut all = block_steps.into_iter();
        let (mut at, mut run) = (out.steps.len(), Vec::new());
        for (k, s) in steps[block.start..block.end].iter().enumerate() {
            let fixed = is_fixed(s);
            if fixed || run.len() >= MOST {
                bundle(&mut run, &reads, &mut out.steps, &mut names.list.next);
                at = out.steps.len();
            }
            out.at[block.start + k] = at;
            // What a step needs is copied before it.
            run.extend(all.by_ref().take(begins[k + 1] - begins[k]));
            if fixed {
                out.steps.append(&mut run);
                at = out.steps.len();
            }
        }
        bundle(&mut run, &reads, &mut out.steps, &mut names.list.next);
    }
    out.at[steps.len()] = out.steps.len();
    out.next = names.list.next;
    out.pinned = names.list.pinned;
    out
}

/// Does it stay where it is among all others: does it touch flags, general registers or the guest's memory?
fn is_fixed(s: &Step) -> bool {
    let vector = s.ops.iter().any(|r| *r != NO);
    let i = &s.i;
    if !vector || !s.pure() && i.op_count() > 0 && i.op0_kind() == OpKind::Register {
        return true;
    }
    !s.pure() && !own(memory(i))
}

/// The step that the last value of each unit begins with that is wanted behind the block.
fn starts(steps: &[Step], live: u128) -> Map<usize> {
    let mut last = Map::default();
    for (k, s) in steps.iter().enumerate() {
        if let (Effect::Write | Effect::Make, r) = (s.effect, s.ops[0])
            && r < UNITS
            && live >> r & 1 != 0
        {
            last.insert(r, k);
        }
    }
    last
}

/// Which value each register has.
struct Names {
    /// Steps under their new names.
    list: List,
    /// By register: the name of what it has, where that is another.
    now: Map<Reg>,
    /// By name: registers that were given that value.
    also: Map<Vec<Reg>>,
    /// By name: the unit that has it for itself alone, but for those that were given it.
    own: Map<Reg>,
}

impl Names {
    fn name(&self, r: Reg) -> Reg {
        self.now.get(&r).copied().unwrap_or(r)
    }

    /// A name gets another value: other registers that have the one before keep it.
    fn keep(&mut self, name: Reg, of: Reg) {
        let mut others = self.also.remove(&name).unwrap_or_default();
        others.retain(|o| *o != of && self.now.get(o) == Some(&name));
        if others.is_empty() {
            return;
        }
        let t = self.list.temp();
        self.list.copy(t, name);
        for o in &others {
            self.now.insert(*o, t);
        }
        self.also.insert(t, others);
    }

    /// The name under which step `k` of the block writes a register.
    fn written(&mut self, k: usize, r: Reg, last: &Map<usize>) -> Reg {
        if r >= UNITS || last.get(&r) == Some(&k) {
            self.keep(r, r);
            self.now.remove(&r);
            return r;
        }
        let t = self.list.temp();
        self.now.insert(r, t);
        self.own.insert(t, r);
        t
    }

    /// The name of a register that is read and written, at step `k`.
    fn changed(&mut self, k: usize, r: Reg, last: &Map<usize>) -> Reg {
        let has = self.name(r);
        // A unit's last value is changed in place.
        let final_value = last.get(&r).is_none_or(|l| *l <= k);
        if (has == r && (r >= UNITS || final_value)) || self.own.get(&has) == Some(&r) {
            self.keep(has, r);
            return has;
        }
        if r >= UNITS {
            self.list.copy(r, has);
            self.now.remove(&r);
            return r;
        }
        let t = self.list.temp();
        self.list.copy(t, has);
        self.now.insert(r, t);
        self.own.insert(t, r);
        t
    }

    fn step(&mut self, k: usize, s: &Step, last: &Map<usize>) {
        let mut s = s.clone();
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
                if s.i.code() == COPY && s.ops[1] != NO && last.get(&s.ops[0]) != Some(&k) {
                    self.now.insert(s.ops[0], s.ops[1]);
                    self.also.entry(s.ops[1]).or_default().push(s.ops[0]);
                    return;
                }
                s.ops[0] = self.written(k, s.ops[0], last);
            }
            Effect::Make => {
                let t = self.written(k, s.ops[0], last);
                s.ops[..3].fill(t);
            }
            Effect::Update => {
                s.ops[1..].iter_mut().filter(|r| **r != NO).for_each(|r| *r = self.name(*r));
                s.ops[0] = self.changed(k, s.ops[0], last);
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
    }
}

fn root(parent: &mut [u32], mut k: usize) -> usize {
    while parent[k] as usize != k {
        parent[k] = parent[parent[k] as usize];
        k = parent[k] as usize;
    }
    k
}

/// Memory of the code's own that a step touches, and whether it writes there.
fn touched(s: &Step) -> Option<(Mem, i64, bool)> {
    let k = (0..s.i.op_count()).find(|k| s.i.op_kind(*k) == OpKind::Memory)?;
    let m = memory(&s.i);
    own(m).then(|| (m, s.i.memory_size().size() as i64, k == 0))
}

fn meet(a: (Mem, i64, bool), b: (Mem, i64, bool)) -> bool {
    let plain = |m: Mem| m.index == Register::None;
    a.0.base == b.0.base
        && (!plain(a.0) || !plain(b.0) || (a.0.disp < b.0.disp + b.1 && b.0.disp < a.0.disp + a.1))
}

/// Puts the steps of a run one bundle after the other.
fn bundle(run: &mut Vec<Step>, reads: &Map<u32>, out: &mut Vec<Step>, next: &mut Reg) {
    if run.len() < FEW {
        return out.append(run);
    }
    let n = run.len();
    let mut parent: Vec<u32> = (0..n as u32).collect();
    let mut join = |a: usize, b: usize| {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent[a.max(b)] = a.min(b) as u32;
    };
    let memory: Vec<Option<(Mem, i64, bool)>> = run.iter().map(touched).collect();
    let stores: Vec<usize> = (0..n).filter(|k| memory[*k].is_some_and(|m| m.2)).collect();
    let mut writers: Map<u32> = Map::default();
    for s in run.iter() {
        s.touches(&mut |r, _, written| {
            if written {
                *writers.entry(r).or_insert(0) += 1;
            }
        });
    }
    // Steps that each bundle may do for itself; how many are behind each other.
    let mut own_source = vec![0u8; n];
    let mut made: Map<usize> = Map::default();
    let mut readers: Map<Vec<usize>> = Map::default();
    for k in 0..n {
        let s = &run[k];
        let mut from = Vec::new();
        s.touches(&mut |r, read, _| {
            if read {
                from.push(r);
            }
        });
        let single = matches!(s.effect, Effect::Write | Effect::Make)
            && s.ops[0] >= UNITS
            && writers.get(&s.ops[0]) == Some(&1);
        let deep = from.iter().map(|r| made.get(r).map_or(9, |d| own_source[*d])).max();
        let steady = memory[k].is_none_or(|m| stores.iter().all(|x| !memory[*x].is_some_and(|y| meet(m, y))));
        match deep {
            None if single && steady => own_source[k] = 1,
            Some(1) if single && steady => own_source[k] = 2,
            _ => own_source[k] = 9,
        }
        if own_source[k] == 9 {
            for r in &from {
                if let Some(d) = made.get(r).filter(|d| own_source[**d] == 9) {
                    join(*d, k);
                }
                readers.entry(*r).or_default().push(k);
            }
            if let Some(m) = memory[k] {
                for x in &stores {
                    if *x != k && memory[*x].is_some_and(|y| meet(m, y)) {
                        join(*x, k);
                    }
                }
            }
        }
        s.touches(&mut |r, _, written| {
            if written {
                if own_source[k] == 9 {
                    made.get(&r).into_iter().for_each(|d| join(*d, k));
                    readers.remove(&r).into_iter().flatten().for_each(|d| join(d, k));
                }
                made.insert(r, k);
            }
        });
    }
    let roots: Vec<usize> = (0..n).map(|k| root(&mut parent, k)).collect();
    let mut members: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut at: HashMap<usize, usize, BuildHasherDefault<Spread>> = HashMap::default();
    for k in (0..n).filter(|k| own_source[*k] == 9) {
        let m = *at.entry(roots[k]).or_insert_with(|| {
            members.push((k, Vec::new()));
            members.len() - 1
        });
        members[m].1.push(k);
    }
    let sources: Map<usize> = (0..n).filter(|k| own_source[*k] != 9).map(|k| (run[k].ops[0], k)).collect();
    // Those that the registers are enough for go on side by side: a chain by itself runs at its latency.
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    for (_, steps) in members {
        let wants = pressure(run, &steps);
        match groups.last_mut().filter(|g| g.0 + wants <= WANTED) {
            Some(g) => {
                g.0 += wants;
                g.1.extend(steps);
            }
            None => groups.push((wants, steps)),
        }
    }
    for (_, mut steps) in groups {
        steps.sort_unstable();
        // What the bundle has made for itself, and under which name.
        let mut mine: Map<Reg> = Map::default();
        for k in steps {
            let mut s = run[k].clone();
            take(&mut s, run, &sources, &mut mine, out, next);
            out.push(s);
        }
    }
    // Those that are read behind the run as well.
    let mut here: Map<u32> = Map::default();
    for s in run.iter() {
        s.touches(&mut |r, read, _| *here.entry(r).or_insert(0) += u32::from(read));
    }
    for k in (0..n).filter(|k| own_source[*k] != 9) {
        let r = run[k].ops[0];
        if reads.get(&r) > here.get(&r) {
            let mut s = run[k].clone();
            take(&mut s, run, &sources, &mut Map::default(), out, next);
            out.push(s);
        }
    }
    run.clear();
}

/// How many registers a bundle wants at once, at most.
fn pressure(run: &[Step], steps: &[usize]) -> usize {
    // Where each is first and last named.
    let mut spans: Map<(usize, usize)> = Map::default();
    for (at, k) in steps.iter().enumerate() {
        run[*k].touches(&mut |r, read, _| {
            // What comes from elsewhere is there from the start.
            let s = spans.entry(r).or_insert((if read { 0 } else { at }, at));
            s.1 = at;
        });
    }
    let mut change = vec![0i32; steps.len() + 1];
    for (first, last) in spans.into_values() {
        change[first] += 1;
        change[last] -= 1;
    }
    let mut now = 0;
    let most = change.into_iter().map(|c| {
        now += c;
        now
    });
    most.max().unwrap_or(0) as usize
}

/// Names the sources that a step reads, which are made before it where they have not been.
fn take(
    s: &mut Step,
    run: &[Step],
    sources: &Map<usize>,
    mine: &mut Map<Reg>,
    out: &mut Vec<Step>,
    next: &mut Reg,
) {
    let first = match s.effect {
        Effect::Make => return,
        Effect::Write => 1,
        _ => 0,
    };
    let slots = s.ops[first..].iter_mut().chain(std::iter::once(&mut s.index));
    for r in slots.filter(|r| **r != NO) {
        let Some(k) = sources.get(r) else { continue };
        let name = match mine.get(r) {
            Some(name) => *name,
            None => {
                let mut made = run[*k].clone();
                take(&mut made, run, sources, mine, out, next);
                let name = *next;
                *next += 1;
                match made.effect {
                    Effect::Make => made.ops[..3].fill(name),
                    _ => made.ops[0] = name,
                }
                mine.insert(*r, name);
                out.push(made);
                name
            }
        };
        *r = name;
    }
}
