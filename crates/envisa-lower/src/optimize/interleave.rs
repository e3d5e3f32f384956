//! Chains of computations that have nothing to do with each other are computed side by side.
//!
//! Compilers for GPUs finish one element of a vector before they begin the next one, as other threads fill the time in
//! which a result is awaited. A CPU runs one thread: it looks some way ahead for something else to do, and what is
//! farther off waits. So straight code is put in the order in which a CPU would begin it if it saw all of it, as far as
//! there are registers for what is under way then.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::ops::Range;

use super::accesses::{Accesses, VECTOR, reorder_blocks};
use super::{Blocks, CHUNK, chunks_of_range};
use crate::program::*;

/// Vector registers that may hold what is under way.
const REGISTERS: usize = 22;
/// Vector operations among which a CPU finds one that need not wait.
const WINDOW: u32 = 96;
/// Runs of fewer instructions are left as they are: a CPU sees all of them.
const FEW: usize = 16;
/// Steps that are looked at for the next one.
const CHOICE: usize = 64;
/// Longer runs are looked at piece by piece.
const MOST: usize = 4096;
/// What a load and a store of a vector take, in halves of a cycle.
const LOAD: u32 = 1;
const STORE: u32 = 4;
/// Of so many parts of the time, one has to be saved.
const WORTH: u32 = 8;

/// Does what is described above.
pub(super) fn interleave_chains(p: &mut ProgramParts, blocks: &Blocks) {
    let mut order: Vec<usize> = (0..p.code.len()).collect();
    let mut readers = None;
    let mut moved = false;
    let mut start = 0;
    while start < p.code.len() {
        let in_run = |pc: &usize| blocks.same(start as Pc, *pc as Pc) && computes_vector(p, &p.code[*pc]);
        let len = (start..p.code.len()).take(MOST).take_while(in_run).count();
        if len > FEW {
            let readers = readers.get_or_insert_with(|| count_readers(p));
            let run = Run::new(p, start..start + len, readers);
            let before: Vec<usize> = (0..len).collect();
            let rest = run.rest();
            // All side by side to the end; or, where there are no registers for all, one after the other.
            let orders = [run.by_readiness(|at| rest[at]), run.by_readiness(|_| 0)];
            let old = run.cost(&before);
            let Some((new, after)) = orders.map(|o| (run.cost(&o), o)).into_iter().min() else { continue };
            if new + old / WORTH < old {
                after.iter().zip(&mut order[start..]).for_each(|(at, to)| *to = start + at);
                moved = true;
            }
        }
        start += len.max(1);
    }
    if moved {
        reorder_blocks(p, &order);
    }
}

/// Is it a computation of vectors by channel, which does nothing else?
fn computes_vector(p: &ProgramParts, i: &Inst) -> bool {
    let Dst::Reg { offset, stride: 1, .. } = i.dst else { return false };
    let named = i.src.iter().all(|s| matches!(s, Src::Reg { .. } | Src::None));
    let local = offset >= p.registers.locals_start;
    let plain = i.dst2 == 0 && i.pred == Pred::default() && i.op != Op::Cmp;
    i.op.is_computation() && i.op.facts().by_channel && i.channels >= 8 && named && local && plain
}

/// How many instructions read each chunk of the register file.
fn count_readers(p: &ProgramParts) -> Vec<u32> {
    let mut readers = vec![0; p.registers.bytes.div_ceil(CHUNK) as usize];
    for pc in 0..p.code.len() {
        for c in Accesses::of(p, pc).chunks_read() {
            if let Some(n) = readers.get_mut(c as usize) {
                *n += 1;
            }
        }
    }
    readers
}

/// How long the result of an instruction takes, in halves of a cycle: one vector operation begins in each.
fn latency(i: &Inst) -> u32 {
    match i.op {
        Op::Mul | Op::Mad | Op::Mulh | Op::Lrp => 8,
        Op::Sqrt
        | Op::Rsqrt
        | Op::Inv
        | Op::Exp
        | Op::Log
        | Op::Pow
        | Op::Sin
        | Op::Cos
        | Op::Div
        | Op::Mod => 40,
        Op::Add if matches!(i.exec, ExecType::F16 | ExecType::F32 | ExecType::F64) => 6,
        _ => 2,
    }
}

/// Computations in a row.
struct Run {
    steps: Vec<Step>,
    /// By chunk that is written: how many steps of the run read it, and whether anybody else does.
    readers: BTreeMap<u32, (u32, bool)>,
}

/// One of them.
struct Step {
    /// Vector operations that it takes.
    operations: u32,
    latency: u32,
    /// The steps whose results it reads.
    reads_of: Vec<usize>,
    /// The steps that it has to come behind because it writes what they read or write.
    behind: Vec<usize>,
    /// Chunks of vectors.
    reads: BTreeSet<u32>,
    writes: BTreeSet<u32>,
}

impl Run {
    fn new(p: &ProgramParts, run: Range<usize>, all_readers: &[u32]) -> Run {
        let mut steps: Vec<Step> = Vec::with_capacity(run.len());
        let mut last_write: BTreeMap<u32, usize> = BTreeMap::new();
        let mut last_reads: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let mut readers = BTreeMap::new();
        for (at, pc) in run.enumerate() {
            let accesses = Accesses::of(p, pc);
            let reads = accesses.chunks_read();
            let writes: BTreeSet<u32> =
                accesses.writes.iter().flat_map(|r| chunks_of_range(r.clone())).collect();
            let reads_of = reads.iter().filter_map(|c| last_write.get(c).copied()).collect();
            let vectors = accesses.reads.iter().filter(|r| r.end - r.start >= VECTOR);
            let vectors = vectors.flat_map(|r| chunks_of_range(r.clone())).collect();
            for c in &reads {
                last_reads.entry(*c).or_default().push(at);
                readers.entry(*c).or_insert((0, false)).0 += 1;
            }
            let mut behind = Vec::new();
            for c in &writes {
                behind.extend(last_write.insert(*c, at));
                behind.extend(last_reads.remove(c).unwrap_or_default().into_iter().filter(|r| *r != at));
            }
            let operations = (writes.len() as u32).max(1);
            steps.push(Step {
                operations,
                latency: latency(&p.code[pc]),
                reads_of,
                behind,
                reads: vectors,
                writes,
            });
        }
        readers.retain(|c, _| last_write.contains_key(c));
        for (c, (inside, outside)) in &mut readers {
            *outside = all_readers.get(*c as usize).is_none_or(|all| all > inside);
        }
        Run { steps, readers }
    }

    /// When the last result is there, if a CPU that sees some way ahead executes the steps in this order.
    fn time(&self, order: &[usize]) -> u32 {
        let mut done = vec![0; self.steps.len()];
        let (mut now, mut end, mut oldest, mut waiting) = (0, 0, 0, 0);
        for at in order {
            let s = &self.steps[*at];
            now += s.operations;
            waiting += s.operations;
            while waiting > WINDOW {
                let first = order[oldest];
                now = now.max(done[first]);
                waiting -= self.steps[first].operations;
                oldest += 1;
            }
            let ready = s.reads_of.iter().map(|r| done[*r]).max().unwrap_or(0);
            done[*at] = ready.max(now) + s.latency;
            end = end.max(done[*at]);
        }
        end
    }

    /// What an order costs, in halves of a cycle: its time, or what loads and stores of vectors take that find no register.
    fn cost(&self, order: &[usize]) -> u32 {
        self.time(order).max(self.spills(order))
    }

    /// What loads and stores take if always the vector goes to memory that is read last.
    fn spills(&self, order: &[usize]) -> u32 {
        // The places in the order where each chunk is touched, the next one last.
        let mut touched: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (place, at) in order.iter().enumerate().rev() {
            self.steps[*at].vectors().for_each(|c| touched.entry(c).or_default().push(place));
        }
        // What registers have, by when it is touched next; and whether memory has it, too.
        let mut held: BTreeMap<(usize, u32), bool> = BTreeMap::new();
        let mut cost = 0;
        for (place, at) in order.iter().enumerate() {
            let s = &self.steps[*at];
            for c in s.vectors() {
                let saved = held.remove(&(place, c));
                if saved.is_none() && s.reads.contains(&c) {
                    cost += LOAD;
                }
                let all = touched.get_mut(&c);
                let next = all.and_then(|t| {
                    t.pop();
                    t.last().copied()
                });
                let written = s.writes.contains(&c);
                let saved = !written && saved.unwrap_or(true);
                held.insert((next.unwrap_or(usize::MAX), c), saved);
            }
            while held.len() > REGISTERS {
                let Some(((next, c), saved)) = held.pop_last() else { break };
                let dead = next == usize::MAX && self.readers.get(&c).is_some_and(|r| !r.1);
                cost += if saved || dead { 0 } else { STORE };
            }
        }
        cost
    }

    /// How long it takes from the begin of each step to the end of what is made of its result.
    fn rest(&self) -> Vec<u32> {
        let mut rest = vec![0; self.steps.len()];
        for (at, s) in self.steps.iter().enumerate().rev() {
            rest[at] += s.latency;
            for from in &s.reads_of {
                rest[*from] = rest[*from].max(rest[at]);
            }
        }
        rest
    }

    /// The steps in the order in which they can begin, the most urgent ones first, of those that find registers; where none
    /// does, one that takes the fewest.
    fn by_readiness(&self, urgency: impl Fn(usize) -> u32) -> Vec<usize> {
        let mut followers = vec![Vec::new(); self.steps.len()];
        let mut left: Vec<usize> = Vec::with_capacity(self.steps.len());
        for (at, s) in self.steps.iter().enumerate() {
            s.reads_of.iter().for_each(|r| followers[*r].push((at, self.steps[*r].latency)));
            s.behind.iter().for_each(|r| followers[*r].push((at, 0)));
            left.push(s.reads_of.len() + s.behind.len());
        }
        let ranked = |at: usize| (Reverse(urgency(at)), at);
        let mut ready = vec![0; self.steps.len()];
        let mut available: BTreeSet<(Reverse<u32>, usize)> =
            (0..left.len()).filter(|at| left[*at] == 0).map(ranked).collect();
        let mut later: BinaryHeap<Reverse<(u32, usize)>> = BinaryHeap::new();
        let (mut order, mut live, mut now) = (Vec::with_capacity(left.len()), Live::new(self), 0);
        while order.len() < self.steps.len() {
            while let Some(Reverse((_, at))) = later.peek().copied().filter(|Reverse((when, _))| *when <= now)
            {
                later.pop();
                available.insert(ranked(at));
            }
            let mut first = available.iter().map(|a| a.1).take(CHOICE);
            let fits = |at: &usize| live.with(self, *at) <= REGISTERS;
            let at = match (first.clone().find(fits), later.peek()) {
                (Some(at), _) => at,
                (None, Some(Reverse((when, _)))) => {
                    now = *when;
                    continue;
                }
                (None, None) => match first.by_ref().min_by_key(|at| live.with(self, *at)) {
                    Some(at) => at,
                    None => break,
                },
            };
            available.remove(&ranked(at));
            order.push(at);
            live.execute(self, at);
            for (next, latency) in &followers[at] {
                ready[*next] = ready[*next].max(now + latency);
                left[*next] -= 1;
                if left[*next] == 0 {
                    later.push(Reverse((ready[*next], *next)));
                }
            }
            now += self.steps[at].operations;
        }
        order
    }
}

impl Step {
    /// The vectors that it touches.
    fn vectors(&self) -> impl Iterator<Item = u32> {
        self.reads.union(&self.writes).copied()
    }
}

/// The vectors that are between the first step of those that touch them and the last one.
struct Live {
    count: usize,
    /// By chunk: how many steps are still to touch it; has one?
    left: BTreeMap<u32, (u32, bool)>,
}

impl Live {
    fn new(run: &Run) -> Live {
        let mut left = BTreeMap::new();
        for c in run.steps.iter().flat_map(Step::vectors) {
            left.entry(c).or_insert((0, false)).0 += 1;
        }
        Live { count: 0, left }
    }

    /// How many there are while a step is executed.
    fn with(&self, run: &Run, at: usize) -> usize {
        self.count + run.steps[at].vectors().filter(|c| self.left.get(c).is_some_and(|l| !l.1)).count()
    }

    fn execute(&mut self, run: &Run, at: usize) {
        self.count = self.with(run, at);
        for c in run.steps[at].vectors() {
            let Some(l) = self.left.get_mut(&c) else { continue };
            *l = (l.0 - 1, true);
            if l.0 == 0 {
                self.count -= 1;
            }
        }
    }
}
