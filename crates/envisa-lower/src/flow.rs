//! Facts about control flow: loops, and where channels can be apart.

use crate::program::*;

/// Sets [`Inst::depth`] and [`Facts::converged`] for the code of one function.
///
/// Engines run the channels at the lowest program counter first, so a channel waits only at a label, while others run
/// before it. A branch to a label further on leaves channels there until all that is between has run, if it splits the
/// channels or if they were apart already; going backward, those that stay wait right behind the branch. Channels that
/// return from an apart place are away until the function ends.
pub(crate) fn analyse_divergence(code: &mut [Inst], tables: &[Vec<Pc>], start: Pc, end: Pc, simd: u32) {
    let range = start as usize..end as usize;
    let mut depth_change = vec![0i32; range.len() + 1];
    let mut apart = Apart { start, end, next: (0..=end - start).collect(), jumps: Vec::new() };
    for pc in start..end {
        let inst = &code[pc as usize];
        if inst.op == Op::Goto && (start..=pc).contains(&inst.aux) {
            depth_change[(inst.aux - start) as usize] += 1;
            depth_change[(pc + 1 - start) as usize] -= 1;
        }
        if may_diverge(inst, simd) {
            apart.jumps.push(pc);
        }
    }
    while let Some(pc) = apart.jumps.pop() {
        let inst = &code[pc as usize];
        match inst.op {
            Op::Goto => apart.record_branch(pc, inst.aux),
            Op::Ret | Op::Fret => apart.mark_diverged(pc + 1, end),
            Op::SwitchJmp => {
                tables
                    .get(inst.aux as usize)
                    .into_iter()
                    .flatten()
                    .for_each(|to| apart.record_branch(pc, *to));
            }
            _ => {}
        }
    }
    let mut depth = 0;
    for pc in range.clone() {
        depth += depth_change[pc - start as usize];
        code[pc].depth = depth.clamp(0, 255) as u8;
        code[pc].facts.converged = !apart.is_diverged_at(pc as Pc);
    }
    fuse_compares(&mut code[range]);
}

/// Places of a function where channels can be apart.
struct Apart {
    start: Pc,
    end: Pc,
    /// For each place, itself, or one further on up to which all places are apart.
    next: Vec<Pc>,
    /// Places newly apart, and branches that split the channels: where these lead is not looked at yet.
    jumps: Vec<Pc>,
}

impl Apart {
    /// The first place from `at` on where the channels are together as far as is known, or the end; counted from the start.
    fn first_converged(&mut self, at: Pc) -> Pc {
        let mut root = at;
        while self.next[root as usize] != root {
            root = self.next[root as usize];
        }
        let mut at = at;
        while at != root {
            at = std::mem::replace(&mut self.next[at as usize], root);
        }
        root
    }

    fn is_diverged_at(&self, pc: Pc) -> bool {
        self.next[(pc - self.start) as usize] != pc - self.start
    }

    /// Channels wait while `from..to` runs.
    fn mark_diverged(&mut self, from: Pc, to: Pc) {
        let to = to.min(self.end).saturating_sub(self.start);
        let mut at = self.first_converged(from.clamp(self.start, self.end) - self.start);
        while at < to {
            self.next[at as usize] = at + 1;
            self.jumps.push(at + self.start);
            at = self.first_converged(at);
        }
    }

    /// Some channels branch, others do not or are elsewhere.
    fn record_branch(&mut self, pc: Pc, target: Pc) {
        match target > pc {
            true => self.mark_diverged(pc + 1, target),
            false => self.mark_diverged(target, pc + 1),
        }
    }
}

/// Can a branch part the channels?
pub(crate) fn may_diverge(i: &Inst, simd: u32) -> bool {
    i.channels > 1 && (i.pred.offset != 0 || i.first != 0 || (i.channels as u32) < simd)
}

/// Marks compares that the next instruction branches on.
fn fuse_compares(code: &mut [Inst]) {
    for i in 1..code.len() {
        let (a, b) = code.split_at_mut(i);
        let (cmp, goto) = (&mut a[i - 1], &b[0]);
        if cmp.op == Op::Cmp
            && goto.op == Op::Goto
            && let Dst::Pred { offset } = cmp.dst
            && offset == goto.pred.offset
        {
            cmp.facts.fuses_with_next = true;
        }
    }
}
