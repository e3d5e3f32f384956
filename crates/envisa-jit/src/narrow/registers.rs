//! Which registers of the list are the CPU's, and which are in memory.
//!
//! Of each register of the list, the stretches where it is wanted are found, block by block; those that a jump or the
//! way into the next block joins are one web, which is in one place. Webs get registers in the order of how often they
//! are used for their length.

use std::collections::BTreeMap;
use std::ops::Range;

use super::list::{Effect, NO, Reg, Step, UNITS};
use super::live::Flow;

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
}

pub(super) struct Places {
    /// By step: of its operands and its index.
    of: Vec<[u32; 5]>,
    /// By stretch.
    places: Vec<Place>,
    /// One past what the context is taken up to.
    pub end: u32,
}

struct Stretch {
    start: u32,
    end: u32,
}

struct Stretches<'a> {
    steps: &'a [Step],
    all: Vec<Stretch>,
    of: Vec<[u32; 5]>,
    weight: Vec<f32>,
    parent: Vec<u32>,
}

fn root(parent: &mut [u32], mut k: u32) -> u32 {
    while parent[k as usize] != k {
        let up = parent[parent[k as usize] as usize];
        parent[k as usize] = up;
        k = up;
    }
    k
}

/// The order in which blocks are looked at: what is put behind the code comes where it is gone to from. With each, how
/// much an access counts there.
fn order(flow: &Flow, behind: Range<usize>) -> (Vec<usize>, Vec<f32>) {
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
    fn new(steps: &'a [Step]) -> Self {
        Stretches {
            steps,
            all: Vec::new(),
            of: vec![[NO; 5]; steps.len()],
            weight: Vec::new(),
            parent: Vec::new(),
        }
    }

    fn open(&mut self, end: u32) -> u32 {
        let k = self.all.len() as u32;
        self.all.push(Stretch { start: end, end });
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
            self.weight[w as usize] += count;
            self.of[k][n] = w;
        }
    }
}

impl Places {
    pub fn new(
        steps: &[Step],
        flow: &Flow,
        (regs, pinned): (Reg, &[Reg]),
        (room, behind): (u32, Range<usize>),
    ) -> Places {
        let (order, count) = order(flow, behind);
        let mut s = Stretches::new(steps);
        let mut open = vec![NO; regs as usize];
        let mut ends: Vec<[Vec<(Reg, u32)>; 2]> = vec![Default::default(); flow.blocks.len()];
        let units = |set: u128| (0..UNITS).filter(move |u| set >> u & 1 != 0);
        let mut at = 0;
        for b in order {
            let block = &flow.blocks[b];
            let (first, after) = (at, at + 2 * (block.end - block.start) as u32);
            at = after;
            for u in units(block.live_out) {
                open[u as usize] = s.open(after - 1);
                ends[b][1].push((u, open[u as usize]));
            }
            for k in (block.start..block.end).rev() {
                s.step(k, first + 2 * (k - block.start) as u32, count[b], &mut open);
            }
            for u in 0..UNITS {
                let w = std::mem::replace(&mut open[u as usize], NO);
                if w != NO {
                    s.all[w as usize].start = first;
                    ends[b][0].push((u, w));
                }
            }
        }
        for (b, block) in flow.blocks.iter().enumerate() {
            for n in &block.next {
                for (u, w) in &ends[*n][0] {
                    if let Some((_, o)) = ends[b][1].iter().find(|e| e.0 == *u) {
                        let (x, y) = (root(&mut s.parent, *w), root(&mut s.parent, *o));
                        s.parent[x as usize] = y;
                    }
                }
            }
        }
        let pinned: std::collections::HashSet<Reg> = pinned.iter().copied().collect();
        s.give(&pinned, room)
    }

    /// Where an operand of a step is; 4 is its index.
    pub fn of(&self, step: usize, operand: usize) -> Option<Place> {
        let w = self.of[step][operand];
        (w != NO).then(|| self.places[w as usize])
    }
}

/// Stretches that are in the same place.
#[derive(Default)]
struct Web {
    stretches: Vec<u32>,
    weight: f32,
    length: u32,
    pinned: bool,
    /// Webs that are copied to it or from it.
    near: Vec<(u32, f32)>,
}

/// What is taken of a place: where each stretch starts, and where it ends.
#[derive(Default)]
struct Taken(BTreeMap<u32, u32>);

impl Taken {
    fn free(&self, s: &Stretch) -> bool {
        self.0.range(..=s.end).next_back().is_none_or(|(_, end)| *end < s.start)
    }

    fn take(&mut self, s: &Stretch) {
        let end = self.0.entry(s.start).or_insert(s.end);
        *end = (*end).max(s.end);
    }
}

impl Stretches<'_> {
    fn give(mut self, pinned: &std::collections::HashSet<Reg>, room: u32) -> Places {
        let n = self.all.len();
        let roots: Vec<u32> = (0..n as u32).map(|k| root(&mut self.parent, k)).collect();
        let mut webs: Vec<Web> = Vec::new();
        webs.resize_with(n, Web::default);
        for (k, r) in roots.iter().enumerate() {
            let w = &mut webs[*r as usize];
            w.stretches.push(k as u32);
            w.weight += self.weight[k];
            w.length += self.all[k].end - self.all[k].start + 1;
        }
        for (k, s) in self.steps.iter().enumerate() {
            let of = self.of[k];
            if s.effect == Effect::Gather || s.copies() {
                for (o, w) in s.ops.iter().chain([&s.index]).zip(of).filter(|o| *o.0 != NO) {
                    webs[roots[w as usize] as usize].pinned |= pinned.contains(o);
                }
            }
            let near = match s.effect {
                Effect::Update if of[2] != NO => None,
                _ if s.copies() => Some((of[0], of[1])),
                _ => None,
            };
            if let Some((a, b)) = near {
                let [a, b] = [a, b].map(|w| roots[w as usize]);
                let weight = self.weight[of[0] as usize];
                webs[a as usize].near.push((b, weight));
                webs[b as usize].near.push((a, weight));
            }
        }
        let mut queue: Vec<u32> = (0..n as u32).filter(|k| !webs[*k as usize].stretches.is_empty()).collect();
        let value = |k: &u32| {
            let w = &webs[*k as usize];
            if w.pinned { f32::INFINITY } else { w.weight / (w.length + 2) as f32 }
        };
        queue.sort_by(|a, b| value(b).total_cmp(&value(a)).then(a.cmp(b)));
        let mut registers: [Taken; COUNT] = Default::default();
        let mut slots: Vec<Taken> = Vec::new();
        let mut places = vec![None; n];
        for k in queue {
            let web = &webs[k as usize];
            let fits = |t: &Taken| web.stretches.iter().all(|s| t.free(&self.all[*s as usize]));
            let mut wish = [0.0f32; COUNT];
            for (other, weight) in &web.near {
                if let Some(Place::Register(r)) = places[*other as usize] {
                    wish[usize::from(r)] += *weight;
                }
            }
            let best = (0..COUNT).filter(|r| fits(&registers[*r])).max_by(|a, b| {
                // The lowest of those that are wished for as much.
                wish[*a].total_cmp(&wish[*b]).then(b.cmp(a))
            });
            let taken = match best {
                Some(r) => {
                    places[k as usize] = Some(Place::Register(r as u8));
                    &mut registers[r]
                }
                None => {
                    let free = slots.iter().position(fits).unwrap_or_else(|| {
                        slots.push(Taken::default());
                        slots.len() - 1
                    });
                    places[k as usize] = Some(Place::Memory(room + SLOT * free as u32));
                    &mut slots[free]
                }
            };
            web.stretches.iter().for_each(|s| taken.take(&self.all[*s as usize]));
        }
        let places = roots.iter().map(|r| places[*r as usize].unwrap_or(Place::Register(0))).collect();
        Places { of: self.of, places, end: room + SLOT * slots.len() as u32 }
    }
}
