//! Blocks of the list, and what is wanted where.

use iced_x86::{FlowControl, Instruction};

use super::register_tables::Table;
use super::step_list::{Effect, Reg, Step, UNITS};

/// Steps from a label, or from behind a jump, to the next.
pub(super) struct Block {
    pub start: usize,
    pub end: usize,
    /// Blocks that may follow.
    pub next: Next,
    /// Units wanted at the start and at the end.
    pub live_in: u128,
    pub live_out: u128,
}

/// Two blocks at most.
#[derive(Clone, Copy, Default)]
pub(super) struct Next {
    to: [usize; 2],
    n: usize,
}

impl Next {
    fn push(&mut self, b: usize) {
        self.to[self.n] = b;
        self.n += 1;
    }
}

impl std::ops::Deref for Next {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.to[..self.n]
    }
}

pub(super) struct Flow {
    pub blocks: Vec<Block>,
}

/// The label that an instruction jumps to.
fn jump_target(i: &Instruction) -> Option<u32> {
    let jumps = i.is_jcc_short_or_near() || i.is_jmp_short_or_near();
    jumps.then(|| i.near_branch64() as u32 - 1)
}

impl Flow {
    pub fn new(steps: &[Step], code: &[Instruction], labels: u32) -> Flow {
        let mut starts = vec![0];
        for (k, s) in steps.iter().enumerate() {
            let label = matches!(s.effect, Effect::Label(_));
            if label && starts.last() != Some(&k) {
                starts.push(k);
            }
            let ends = !label
                && !matches!(
                    code[s.at as usize].flow_control(),
                    FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall
                );
            if ends && k + 1 < steps.len() && starts.last() != Some(&(k + 1)) {
                starts.push(k + 1);
            }
        }
        let most = steps.iter().filter_map(|s| match s.effect {
            Effect::Label(l) => Some(l + 1),
            _ => None,
        });
        let mut of = vec![usize::MAX; most.max().unwrap_or(0).max(labels) as usize];
        for (b, start) in starts.iter().enumerate() {
            if let Effect::Label(l) = steps[*start].effect {
                of[l as usize] = b;
            }
        }
        let mut blocks: Vec<Block> = Vec::with_capacity(starts.len());
        for (b, start) in starts.iter().enumerate() {
            let end = starts.get(b + 1).copied().unwrap_or(steps.len());
            blocks.push(Block { start: *start, end, next: Next::default(), live_in: 0, live_out: 0 });
        }
        for b in 0..blocks.len() {
            let last = &steps[blocks[b].end - 1];
            let last = match last.effect {
                Effect::Label(_) => None,
                _ => Some(&code[last.at as usize]),
            };
            let through = last.is_none_or(|i| {
                matches!(
                    i.flow_control(),
                    FlowControl::Next
                        | FlowControl::ConditionalBranch
                        | FlowControl::Call
                        | FlowControl::IndirectCall
                )
            });
            if let Some(l) = last.and_then(jump_target) {
                let to = of[l as usize];
                if to != usize::MAX {
                    blocks[b].next.push(to);
                }
            }
            if through && b + 1 < blocks.len() {
                blocks[b].next.push(b + 1);
            }
        }
        let mut flow = Flow { blocks };
        flow.liveness(steps);
        flow
    }

    /// The first step that reads what is no unit and was not written in its block: liveness is told of units alone.
    pub fn strays(&self, steps: &[Step]) -> Option<usize> {
        let mut made = std::collections::HashSet::new();
        self.blocks.iter().find_map(|b| {
            made.clear();
            (b.start..b.end).find(|k| {
                let mut stray = false;
                steps[*k].touches(|r, read, _| stray |= read && r >= UNITS && !made.contains(&r));
                steps[*k].touches(|r, _, written| {
                    if written {
                        made.insert(r);
                    }
                });
                stray
            })
        })
    }

    /// What is wanted where, after steps were left out or changed.
    pub fn liveness(&mut self, steps: &[Step]) {
        self.blocks.iter_mut().for_each(|b| b.live_in = 0);
        let sets: Vec<(u128, u128)> = self
            .blocks
            .iter()
            .map(|b| {
                let (mut reads, mut writes) = (0u128, 0u128);
                for s in &steps[b.start..b.end] {
                    let (mut r, mut w) = (0u128, 0u128);
                    s.touches(|reg, read, written| {
                        if reg < UNITS {
                            r |= u128::from(read) << reg;
                            w |= u128::from(written) << reg;
                        }
                    });
                    reads |= r & !writes;
                    writes |= w;
                }
                (reads, writes)
            })
            .collect();
        // The blocks before each: one after the other, and where those of each begin.
        let mut from = vec![0u32; self.blocks.len() + 1];
        self.blocks.iter().for_each(|b| b.next.iter().for_each(|n| from[*n + 1] += 1));
        for b in 0..self.blocks.len() {
            from[b + 1] += from[b];
        }
        let mut before = vec![0u32; from[self.blocks.len()] as usize];
        let mut next = from.clone();
        for (b, block) in self.blocks.iter().enumerate() {
            for n in block.next.iter() {
                before[next[*n] as usize] = b as u32;
                next[*n] += 1;
            }
        }
        let mut work: Vec<usize> = (0..self.blocks.len()).collect();
        let mut queued = vec![true; self.blocks.len()];
        while let Some(b) = work.pop() {
            queued[b] = false;
            let out = self.blocks[b].next.iter().fold(0, |all, n| all | self.blocks[*n].live_in);
            let (reads, writes) = sets[b];
            let live = reads | (out & !writes);
            self.blocks[b].live_out = out;
            if live != self.blocks[b].live_in {
                self.blocks[b].live_in = live;
                for p in &before[from[b] as usize..from[b + 1] as usize] {
                    let p = *p as usize;
                    if !queued[p] {
                        queued[p] = true;
                        work.push(p);
                    }
                }
            }
        }
    }

    /// Which steps do something that is wanted.
    fn wanted(&self, steps: &[Step]) -> Vec<bool> {
        let mut keep = vec![true; steps.len()];
        let mut live = Table::default();
        for b in &self.blocks {
            mark_wanted(&steps[b.start..b.end], b.live_out, &mut live, &mut keep[b.start..b.end]);
        }
        keep
    }
}

/// Marks which steps of a block do something that is wanted: there or, of units, behind it.
pub(super) fn mark_wanted(steps: &[Step], mut units: u128, live: &mut Table<bool>, keep: &mut [bool]) {
    live.clear();
    for (s, keep) in steps.iter().zip(keep).rev() {
        *keep = !s.pure();
        s.touches(|r, _, written| {
            *keep |= written
                && match r < UNITS {
                    true => units >> r & 1 != 0,
                    false => live.get(r) == Some(true),
                };
        });
        if s.copies && s.ops[0] == s.ops[1] {
            *keep = false;
        }
        if !*keep {
            continue;
        }
        let mut set = |r: Reg, wanted: bool| match r < UNITS {
            true => units = units & !(1u128 << r) | u128::from(wanted) << r,
            false => live.insert(r, wanted),
        };
        s.touches(|r, read, written| {
            if written && !read {
                set(r, false);
            }
        });
        s.touches(|r, read, _| {
            if read {
                set(r, true);
            }
        });
    }
}

/// Leaves out steps of which nobody wants what they do; `begins` go on naming what they named.
pub(super) fn retain_wanted_steps(steps: &mut Vec<Step>, flow: &mut Flow, begins: &mut [usize]) {
    let keep = &flow.wanted(steps);
    let mut at = Vec::with_capacity(keep.len() + 1);
    let mut n = 0;
    for k in keep {
        at.push(n);
        n += usize::from(*k);
    }
    at.push(n);
    begins.iter_mut().for_each(|b| *b = at[*b]);
    let mut k = 0;
    steps.retain(|_| {
        k += 1;
        keep[k - 1]
    });
    if n != keep.len() {
        for b in &mut flow.blocks {
            (b.start, b.end) = (at[b.start], at[b.end]);
        }
        flow.liveness(steps);
    }
}
