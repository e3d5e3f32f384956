//! Which registers of the list are the CPU's, and which are in memory.
//!
//! Of each register of the list, the stretches where it is wanted are found, block by block; those that a jump or the
//! way into the next block joins are one web, which is in one place. Webs get registers in the order of how often they
//! are used for their length.

use std::ops::Range;

use iced_x86::{Code, Instruction};

use super::liveness::{Block, Flow};
use super::step_list::{Effect, NO, Reg, Step, UNITS};

/// Registers that webs get; those above are for what is in memory.
pub(super) const COUNT: usize = 14;
/// Bytes of a place in memory.
const SLOT: u32 = 32;
/// How much an access in a loop counts for one outside.
const LOOP: f32 = 8.0;
/// What an access counts that is rarely come to.
const RARE: f32 = 0.01;

/// Where a web is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Register(u8),
    /// In the context.
    Memory(u32),
    /// A constant in the context: it is not written.
    Constant(u32),
}

impl Place {
    /// Where in the context it is, unless it is one of the CPU's registers.
    pub fn in_context(self) -> Option<u32> {
        match self {
            Place::Register(_) => None,
            Place::Memory(at) | Place::Constant(at) => Some(at),
        }
    }
}

/// What all steps that write a register make.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Made {
    /// There are none.
    #[default]
    Nothing,
    Zeros,
    Ones,
    Others,
}

impl Made {
    fn and(self, other: Made) -> Made {
        match (self, other) {
            (a, Made::Nothing) => a,
            (Made::Nothing, b) => b,
            (a, b) if a == b => a,
            _ => Made::Others,
        }
    }
}

/// Where the context has room for registers of the list, and constants of their size.
pub(super) struct Room {
    pub at: u32,
    pub zeros: u32,
    pub ones: u32,
}

pub(super) struct Places {
    /// By step: of its operands and its index.
    of: Vec<[u32; 5]>,
    /// By stretch.
    places: Vec<Place>,
    /// One past what the context is taken up to.
    pub end: u32,
}

#[derive(Clone, Copy)]
struct Stretch {
    start: u32,
    end: u32,
}

struct Stretches<'a> {
    steps: &'a [Step],
    code: &'a [Instruction],
    all: Vec<Stretch>,
    made: Vec<Made>,
    of: Vec<[u32; 5]>,
    weight: Vec<f32>,
    parent: Vec<u32>,
}

fn find_root(parent: &mut [u32], mut k: u32) -> u32 {
    while parent[k as usize] != k {
        let up = parent[parent[k as usize] as usize];
        parent[k as usize] = up;
        k = up;
    }
    k
}

/// The order in which blocks are looked at: what is put behind the code comes where it is gone to from. With each, how
/// much an access counts there.
fn block_order(flow: &Flow, behind: Range<usize>) -> (Vec<usize>, Vec<f32>) {
    let blocks = &flow.blocks;
    let rare = |b: usize| behind.contains(&blocks[b].start);
    let mut key = vec![usize::MAX; blocks.len()];
    for (b, block) in blocks.iter().enumerate() {
        if !rare(b) {
            key[b] = 2 * b;
        }
        let own = key[b];
        if own != usize::MAX {
            for n in block.next.iter().filter(|n| rare(**n)) {
                key[*n] = key[*n].min(own | 1);
            }
        }
    }
    let mut all: Vec<usize> = (0..blocks.len()).collect();
    all.sort_by_key(|b| (key[*b], *b));
    let mut at = vec![0; blocks.len()];
    for (k, b) in all.iter().enumerate() {
        at[*b] = k;
    }
    // How many loops each is in.
    let mut depth = vec![0i32; blocks.len() + 1];
    for (b, block) in blocks.iter().enumerate().filter(|b| !rare(b.0)) {
        for n in block.next.iter().filter(|n| at[**n] <= at[b] && !rare(**n)) {
            depth[at[*n]] += 1;
            depth[at[b] + 1] -= 1;
        }
    }
    let mut count = vec![0.0; blocks.len()];
    let mut now = 0;
    for (k, b) in all.iter().enumerate() {
        now += depth[k];
        count[*b] = if !rare(*b) { LOOP.powi(now.min(6)) } else { RARE };
    }
    (all, count)
}

impl<'a> Stretches<'a> {
    fn new(steps: &'a [Step], code: &'a [Instruction]) -> Self {
        Stretches {
            steps,
            code,
            all: Vec::new(),
            made: Vec::new(),
            of: vec![[NO; 5]; steps.len()],
            weight: Vec::new(),
            parent: Vec::new(),
        }
    }

    fn open(&mut self, end: u32) -> u32 {
        let k = self.all.len() as u32;
        self.all.push(Stretch { start: end, end });
        self.made.push(Made::Nothing);
        self.weight.push(0.0);
        self.parent.push(k);
        k
    }

    /// One step, the last first; `open`: by register, the stretch that has begun.
    fn step(&mut self, k: usize, at: u32, count: f32, open: &mut [u32]) {
        let steps = self.steps;
        let s = &steps[k];
        if let Effect::Label(_) = s.effect {
            return;
        }
        let written = |n: usize| match s.effect {
            Effect::Write | Effect::Make | Effect::Update => n == 0,
            Effect::Gather => n == 0 || n == 2,
            _ => false,
        };
        let also_read = matches!(s.effect, Effect::Update | Effect::Gather);
        let only_written = |n: usize| s.effect == Effect::Make || (written(n) && !also_read);
        for (n, r) in s.ops.iter().enumerate().filter(|o| *o.1 != NO && only_written(o.0)) {
            if n > 0 {
                self.of[k][n] = self.of[k][0];
                continue;
            }
            let mut w = open[*r as usize];
            if w == NO {
                w = self.open(at + 1);
            }
            self.all[w as usize].start = at + 1;
            self.weight[w as usize] += count;
            let made = match (s.effect, self.code[s.at as usize].code()) {
                (Effect::Make, Code::VEX_Vpxor_ymm_ymm_ymmm256) => Made::Zeros,
                (Effect::Make, Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256) => Made::Ones,
                _ => Made::Others,
            };
            self.made[w as usize] = self.made[w as usize].and(made);
            self.of[k][n] = w;
            open[*r as usize] = NO;
        }
        let last = if s.effect == Effect::Gather { at + 1 } else { at };
        let reads = s.ops.iter().enumerate().filter(|o| *o.1 != NO && !only_written(o.0));
        let index = (4, &s.index);
        for (n, r) in reads.chain(std::iter::once(index).filter(|i| *i.1 != NO)) {
            let mut w = open[*r as usize];
            if w == NO {
                w = self.open(if n < 4 && written(n) { at + 1 } else { last });
                open[*r as usize] = w;
            }
            if written(n) {
                self.made[w as usize] = Made::Others;
            }
            self.weight[w as usize] += count;
            self.of[k][n] = w;
        }
    }
}

fn bits(mut of: u128) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let k = of.trailing_zeros();
        (of != 0).then(|| {
            of &= of - 1;
            k
        })
    })
}

/// Stretches of units that begin or end with a block, by unit.
type Ends = Range<usize>;

/// Steps of a block, of which there are none where all were left out: it has a place nevertheless.
fn block_length(b: &Block) -> u32 {
    2 * (b.end - b.start).max(1) as u32
}

impl Places {
    pub fn new(
        (steps, code): (&[Step], &[Instruction]),
        flow: &Flow,
        (regs, pinned): (Reg, &[Reg]),
        (room, behind): (Room, Range<usize>),
    ) -> Places {
        let (order, count) = block_order(flow, behind);
        let mut s = Stretches::new(steps, code);
        let mut open = vec![NO; regs as usize];
        // Both are in the order of the units.
        let mut units: Vec<(Reg, u32)> = Vec::new();
        let mut ends: Vec<[Ends; 2]> = vec![[0..0, 0..0]; flow.blocks.len()];
        // By unit: the stretch that is wanted at the end of the block before.
        let mut last = [NO; UNITS as usize];
        let (mut at, mut before) = (0, None);
        for b in order {
            let block = &flow.blocks[b];
            let (first, after) = (at, at + block_length(block));
            at = after;
            let mut touched = 0u128;
            for s in &steps[block.start..block.end] {
                s.touches(|r, _, _| touched |= if r < UNITS { 1 << r } else { 0 });
            }
            // What the block before leaves here for others, and nothing here touches: its stretch goes on.
            let from = before.map(|k: usize| &flow.blocks[k]).filter(|k| k.next.contains(&b));
            let through = from.map_or(0, |k| k.live_out) & block.live_out & !touched;
            before = Some(b);
            let from = units.len();
            for u in bits(block.live_out) {
                let w = &mut last[u as usize];
                if through >> u & 1 != 0 {
                    s.all[*w as usize].end = after - 1;
                } else {
                    *w = s.open(after - 1);
                    open[u as usize] = *w;
                }
                units.push((u, *w));
            }
            ends[b][1] = from..units.len();
            for k in (block.start..block.end).rev() {
                s.step(k, first + 2 * (k - block.start) as u32, count[b], &mut open);
            }
            let from = units.len();
            for u in bits(block.live_out | touched) {
                let w = std::mem::replace(&mut open[u as usize], NO);
                if w != NO {
                    s.all[w as usize].start = first;
                    units.push((u, w));
                } else if through >> u & 1 != 0 {
                    units.push((u, last[u as usize]));
                }
            }
            ends[b][0] = from..units.len();
        }
        for (b, block) in flow.blocks.iter().enumerate() {
            for n in block.next.iter() {
                let (mut there, here) = (&units[ends[*n][0].clone()], &units[ends[b][1].clone()]);
                for (u, o) in here {
                    while there.first().is_some_and(|e| e.0 < *u) {
                        there = &there[1..];
                    }
                    if let Some((_, w)) = there.first().filter(|e| e.0 == *u && e.1 != *o) {
                        let (x, y) = (find_root(&mut s.parent, *w), find_root(&mut s.parent, *o));
                        s.parent[x as usize] = y;
                    }
                }
            }
        }
        let mut fixed = vec![false; regs as usize];
        pinned.iter().for_each(|r| fixed[*r as usize] = true);
        s.give(&fixed, room, at)
    }

    /// Where an operand of a step is; 4 is its index.
    pub fn of(&self, step: usize, operand: usize) -> Option<Place> {
        let w = self.of[step][operand];
        (w != NO).then(|| self.places[w as usize])
    }
}

/// Stretches that are in the same place.
#[derive(Clone, Default)]
struct Web {
    /// In the list of stretches by web.
    stretches: Range<usize>,
    weight: f32,
    length: u32,
    made: Made,
    pinned: bool,
    /// In the list of webs that are copied to others: those that are copied to it or from it.
    near: Range<usize>,
}

/// Gives each of `n` a range for as many as it has been counted; then, element by element, where the next one goes.
fn counts_to_offsets(counts: &mut [usize]) -> usize {
    let mut sum = 0;
    for c in counts {
        sum += std::mem::replace(c, sum);
    }
    sum
}

/// Positions of which one number says what all have.
const CHUNK: usize = 64;

/// Which of 64 places are taken where: a bit each.
struct Taken {
    at: Vec<u64>,
    /// By chunk of positions: places that one of them has taken, and that are taken as a whole.
    any: Vec<u64>,
    whole: Vec<u64>,
    /// By so many chunks: places that one of their positions has taken.
    far: Vec<u64>,
}

impl Taken {
    fn new(positions: u32) -> Taken {
        let chunks = positions as usize / CHUNK + 2;
        let far = vec![0; chunks / CHUNK + 1];
        Taken { at: vec![0; chunks * CHUNK], any: vec![0; chunks], whole: vec![0; chunks], far }
    }

    /// Places that are taken somewhere in a stretch.
    fn taken(&self, s: &Stretch) -> u64 {
        let (first, last) = (s.start as usize, s.end as usize);
        let (a, b) = (first / CHUNK, last / CHUNK);
        let or = |all: &[u64]| all.iter().fold(0, |x, y| x | y);
        if a == b {
            return self.whole[a] | or(&self.at[first..=last]);
        }
        let ends = or(&self.at[first..(a + 1) * CHUNK]) | or(&self.at[b * CHUNK..=last]);
        let (from, to) = ((a + 1).next_multiple_of(CHUNK), b - b % CHUNK);
        let between = match from < to {
            true => {
                or(&self.any[a + 1..from]) | or(&self.far[from / CHUNK..to / CHUNK]) | or(&self.any[to..b])
            }
            false => or(&self.any[a + 1..b]),
        };
        self.whole[a] | self.whole[b] | ends | between
    }

    fn take(&mut self, s: &Stretch, place: u64) {
        let (first, last) = (s.start as usize, s.end as usize);
        let (a, b) = (first / CHUNK, last / CHUNK);
        let set = |all: &mut [u64]| all.iter_mut().for_each(|x| *x |= place);
        set(&mut self.any[a..=b]);
        set(&mut self.far[a / CHUNK..=b / CHUNK]);
        if a == b {
            return set(&mut self.at[first..=last]);
        }
        set(&mut self.at[first..(a + 1) * CHUNK]);
        set(&mut self.at[b * CHUNK..=last]);
        set(&mut self.whole[a + 1..b]);
    }
}

impl Stretches<'_> {
    /// Webs, the stretches of each, and what each is copied to or from; `of`: the web of each stretch, of so many.
    fn webs(&self, of: &[u32], n: usize, pinned: &[bool]) -> (Vec<Web>, Vec<Stretch>, Vec<(u32, f32)>) {
        let mut webs = vec![Web::default(); n];
        // Those of one web that follow each other are one.
        let mut counts = vec![0; n];
        let mut last = vec![NO; n];
        for (s, w) in self.all.iter().zip(of) {
            let w = *w as usize;
            counts[w] += usize::from(last[w] != s.start);
            last[w] = s.end + 1;
        }
        let mut stretches = vec![Stretch { start: 0, end: 0 }; counts_to_offsets(&mut counts)];
        for (((s, r), weight), made) in self.all.iter().zip(of).zip(&self.weight).zip(&self.made) {
            let (w, next) = (&mut webs[*r as usize], &mut counts[*r as usize]);
            w.weight += weight;
            w.made = w.made.and(*made);
            w.length += s.end - s.start + 1;
            if w.stretches.end != 0 && stretches[*next - 1].end + 1 == s.start {
                stretches[*next - 1].end = s.end;
                continue;
            }
            w.stretches.start = if w.stretches.end == 0 { *next } else { w.stretches.start };
            stretches[*next] = *s;
            *next += 1;
            w.stretches.end = *next;
        }
        let mut copies = Vec::new();
        for (s, named) in self.steps.iter().zip(&self.of) {
            let copy = s.copies;
            if s.effect == Effect::Gather || copy {
                for (o, w) in s.ops.iter().chain([&s.index]).zip(named).filter(|o| *o.0 != NO) {
                    webs[of[*w as usize] as usize].pinned |= pinned[*o as usize];
                }
            }
            if copy && !(s.effect == Effect::Update && named[2] != NO) {
                let [a, b] = [named[0], named[1]].map(|w| of[w as usize]);
                copies.push((a, b, self.weight[named[0] as usize]));
            }
        }
        counts.fill(0);
        for (a, b, _) in &copies {
            counts[*a as usize] += 1;
            counts[*b as usize] += 1;
        }
        let mut near = vec![(0, 0.0); counts_to_offsets(&mut counts)];
        for (w, c) in webs.iter_mut().zip(&counts) {
            w.near = *c..*c;
        }
        for (a, b, weight) in copies {
            for (x, y) in [(a, b), (b, a)] {
                let range = &mut webs[x as usize].near;
                near[range.end] = (y, weight);
                range.end += 1;
            }
        }
        (webs, stretches, near)
    }

    fn give(mut self, pinned: &[bool], room: Room, positions: u32) -> Places {
        // Webs are numbered in the order of the stretches that stand for them.
        let mut n = 0;
        let mut of = vec![NO; self.all.len()];
        for k in 0..self.all.len() as u32 {
            if self.parent[k as usize] == k {
                of[k as usize] = n;
                n += 1;
            }
        }
        for k in 0..self.all.len() as u32 {
            of[k as usize] = of[find_root(&mut self.parent, k) as usize];
        }
        let n = n as usize;
        let (webs, stretches, near) = self.webs(&of, n, pinned);
        let value = |w: &Web| if w.pinned { f32::INFINITY } else { w.weight / (w.length + 2) as f32 };
        let mut queue: Vec<(f32, u32)> = (0..n as u32).map(|k| (value(&webs[k as usize]), k)).collect();
        queue.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        // The registers are the first places, those in memory come behind them.
        let mut taken = vec![Taken::new(positions)];
        let mut slots = 0;
        let mut places = vec![None; n];
        for (_, k) in queue {
            let web = &webs[k as usize];
            let mine = &stretches[web.stretches.clone()];
            let find = |t: &Taken| !mine.iter().fold(0, |x, s| x | t.taken(s));
            let free = find(&taken[0]);
            let mut wish = [0.0f32; COUNT];
            for (other, weight) in &near[web.near.clone()] {
                if let Some(Place::Register(r)) = places[*other as usize] {
                    wish[usize::from(r)] += *weight;
                }
            }
            let best = (0..COUNT).filter(|r| free >> r & 1 != 0).max_by(|a, b| {
                // The lowest of those that are wished for as much.
                wish[*a].total_cmp(&wish[*b]).then(b.cmp(a))
            });
            let constant = match web.made {
                Made::Zeros => Some(room.zeros),
                Made::Ones => Some(room.ones),
                _ => None,
            };
            if let (None, Some(at)) = (best, constant) {
                places[k as usize] = Some(Place::Constant(at));
                continue;
            }
            let place = match best {
                Some(r) => r,
                None => {
                    let mut place = (free >> COUNT << COUNT).trailing_zeros() as usize;
                    let mut more = 0;
                    while place == 64 * (more + 1) {
                        more += 1;
                        if taken.len() == more {
                            taken.push(Taken::new(positions));
                        }
                        place = 64 * more + find(&taken[more]).trailing_zeros() as usize;
                    }
                    place
                }
            };
            places[k as usize] = Some(match place.checked_sub(COUNT) {
                None => Place::Register(place as u8),
                Some(slot) => {
                    slots = slots.max(slot as u32 + 1);
                    Place::Memory(room.at + SLOT * slot as u32)
                }
            });
            let t = &mut taken[place / 64];
            mine.iter().for_each(|s| t.take(s, 1 << (place % 64)));
        }
        let places = of.iter().map(|w| places[*w as usize].unwrap_or(Place::Register(0))).collect();
        Places { of: self.of, places, end: room.at + SLOT * slots }
    }
}
