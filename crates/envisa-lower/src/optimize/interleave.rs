//! Chains of computations that have nothing to do with each other are computed side by side.
//!
//! Compilers for GPUs finish one element of a vector before they begin the next one, as other threads fill the time in
//! which a result is awaited. A CPU runs one thread: it looks some way ahead for something else to do, and what is
//! farther off waits. So straight code is put in the order in which a CPU would begin it if it saw all of it, as far as
//! there are registers for what is under way then.

use super::accesses::{Accesses, VECTOR, reorder_blocks};
use super::{Blocks, CHUNK, chunks_of_range};
use crate::program::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

/// Vector registers that may hold what is under way.
const REGISTERS: usize = 22;
/// Vector operations among which a CPU finds one that need not wait.
const WINDOW: u32 = 96;
/// Runs of fewer instructions are left as they are: a CPU sees all of them.
const FEW: usize = 16;
/// How many of the available steps are tried when the next one is chosen.
const CHOICE: usize = 64;
/// Longer runs are looked at piece by piece.
const MOST: usize = 4096;
/// What a load and a store of a vector take, in halves of a cycle.
const LOAD: u32 = 1;
const STORE: u32 = 4;
/// Another order has to save at least this part (one of so many) of the time.
const WORTH: u32 = 8;

/// Puts straight code into the order that the CPU takes least time for.
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
            let run = Run::new(p, &p.code[start..start + len], readers);
            if let Some(better) = run.better_order() {
                better.iter().zip(&mut order[start..]).for_each(|(at, to)| *to = start + at);
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
pub(super) fn computes_vector(p: &ProgramParts, i: &Inst) -> bool {
    let Dst::Reg { offset, stride: 1, .. } = i.dst else { return false };
    let named = i.src.iter().all(|s| matches!(s, Src::Reg { .. } | Src::None));
    let local = offset >= p.registers.locals_start;
    let plain = i.dst2 == 0 && i.pred == Pred::default() && i.op != Op::Cmp;
    i.op.is_computation() && i.op.facts().by_channel && i.channels >= 8 && named && local && plain
}

/// How many instructions read each chunk of the register file.
pub(super) fn count_readers(p: &ProgramParts) -> Vec<u32> {
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

/// What instructions cost a CPU in the order in which they are, in halves of a cycle.
pub(super) fn cost(p: &ProgramParts, run: &[Inst], readers: &[u32]) -> u32 {
    let order: Vec<usize> = (0..run.len()).collect();
    Run::new(p, run, readers).cost(&order)
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
    /// By number of a chunk: does somebody else read what the run leaves there, or is it not written here at all?
    kept: Vec<bool>,
}

/// One of them. Chunks of the register file are numbered within the run.
struct Step {
    /// Vector operations that it takes.
    operations: u32,
    latency: u32,
    /// The steps whose results it reads.
    reads_of: Vec<usize>,
    /// The steps that it has to come behind because it writes what they read or write.
    behind: Vec<usize>,
    /// Chunks of vectors that it touches: does it read them, and write them?
    vectors: Vec<(usize, bool, bool)>,
}

/// What is known of a chunk while steps are looked at.
#[derive(Default)]
struct Chunk {
    last_write: Option<usize>,
    last_reads: Vec<usize>,
    /// Steps that read it.
    readers: u32,
    /// Where it is in the register file.
    place: u32,
}

/// Chunks by their numbers.
#[derive(Default)]
struct Numbers {
    by_place: HashMap<u32, usize>,
    all: Vec<Chunk>,
}

impl Numbers {
    fn of(&mut self, places: impl IntoIterator<Item = u32>) -> BTreeSet<usize> {
        let number = |place: u32| {
            *self.by_place.entry(place).or_insert_with(|| {
                self.all.push(Chunk { place, ..Chunk::default() });
                self.all.len() - 1
            })
        };
        places.into_iter().map(number).collect()
    }
}

impl Run {
    fn new(p: &ProgramParts, run: &[Inst], all_readers: &[u32]) -> Run {
        let (mut steps, mut numbers) = (Vec::with_capacity(run.len()), Numbers::default());
        for (at, i) in run.iter().enumerate() {
            let accesses = Accesses::of_instruction(p, i);
            let reads = numbers.of(accesses.chunks_read());
            let vectors = accesses.reads.iter().filter(|r| r.end - r.start >= VECTOR);
            let vectors = numbers.of(vectors.flat_map(|r| chunks_of_range(r.clone())));
            let writes = numbers.of(accesses.writes.iter().flat_map(|r| chunks_of_range(r.clone())));
            let chunks = &mut numbers.all;
            let reads_of = reads.iter().filter_map(|c| chunks[*c].last_write).collect();
            for c in &reads {
                chunks[*c].last_reads.push(at);
                chunks[*c].readers += 1;
            }
            let mut behind = Vec::new();
            for c in &writes {
                behind.extend(chunks[*c].last_write.replace(at));
                behind.extend(std::mem::take(&mut chunks[*c].last_reads).into_iter().filter(|r| *r != at));
            }
            let touched = vectors.union(&writes).map(|c| (*c, vectors.contains(c), writes.contains(c)));
            let (operations, latency) = ((writes.len() as u32).max(1), latency(i));
            steps.push(Step { operations, latency, reads_of, behind, vectors: touched.collect() });
        }
        let read_elsewhere = |c: &Chunk| all_readers.get(c.place as usize).is_none_or(|all| *all > c.readers);
        let kept = numbers.all.iter().map(|c| c.last_write.is_none() || read_elsewhere(c)).collect();
        Run { steps, kept }
    }

    /// What no order takes less than: all operations, and the longest chain.
    fn least_time(&self, rest: &[u32]) -> u32 {
        let operations = self.steps.iter().map(|s| s.operations).sum::<u32>();
        operations.max(rest.iter().copied().max().unwrap_or(0))
    }

    /// The order that a CPU takes less time for, if there is one that is worth it.
    fn better_order(&self) -> Option<Vec<usize>> {
        let before: Vec<usize> = (0..self.steps.len()).collect();
        let (old, rest) = (self.cost(&before), self.rest());
        let worth = |new: u32| new + old / WORTH < old;
        if !worth(self.least_time(&rest)) {
            return None;
        }
        // All side by side to the end; or, where there are no registers for all, one after the other.
        let orders = [self.by_readiness(|at| rest[at]), self.by_readiness(|_| 0)];
        let best = orders.map(|o| (self.cost(&o), o)).into_iter().min();
        best.filter(|b| worth(b.0)).map(|b| b.1)
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
        let mut touched: Vec<Vec<usize>> = vec![Vec::new(); self.kept.len()];
        for (place, at) in order.iter().enumerate().rev() {
            self.steps[*at].vectors.iter().for_each(|v| touched[v.0].push(place));
        }
        // What registers have, by when it is touched next; and whether memory has it, too.
        let mut held: BTreeMap<(usize, usize), bool> = BTreeMap::new();
        let mut cost = 0;
        for (place, at) in order.iter().enumerate() {
            for (c, read, written) in &self.steps[*at].vectors {
                let saved = held.remove(&(place, *c));
                if saved.is_none() && *read {
                    cost += LOAD;
                }
                touched[*c].pop();
                let next = touched[*c].last().copied().unwrap_or(usize::MAX);
                held.insert((next, *c), !written && saved.unwrap_or(true));
            }
            while held.len() > REGISTERS {
                let Some(((next, c), saved)) = held.pop_last() else { break };
                let dead = next == usize::MAX && !self.kept[c];
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

/// The vectors that are between the first step of those that touch them and the last one.
struct Live {
    count: usize,
    /// By chunk: how many steps are still to touch it; has one?
    left: Vec<(u32, bool)>,
}

impl Live {
    fn new(run: &Run) -> Live {
        let mut left = vec![(0, false); run.kept.len()];
        for (c, ..) in run.steps.iter().flat_map(|s| &s.vectors) {
            left[*c].0 += 1;
        }
        Live { count: 0, left }
    }

    /// How many there are while a step is executed.
    fn with(&self, run: &Run, at: usize) -> usize {
        self.count + run.steps[at].vectors.iter().filter(|v| !self.left[v.0].1).count()
    }

    fn execute(&mut self, run: &Run, at: usize) {
        self.count = self.with(run, at);
        for (c, ..) in &run.steps[at].vectors {
            let left = &mut self.left[*c];
            *left = (left.0 - 1, true);
            if left.0 == 0 {
                self.count -= 1;
            }
        }
    }
}
