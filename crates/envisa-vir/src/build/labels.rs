//! Labels at which channels wait, and where they can begin to wait.

use envisa_lower::{Op, Pc, Program};

/// The least of a run of numbers, fast.
struct Least {
    n: usize,
    tree: Vec<u32>,
}

impl Least {
    fn new(of: &[u32]) -> Least {
        let n = of.len().next_power_of_two().max(1);
        let mut tree = vec![u32::MAX; 2 * n];
        tree[n..n + of.len()].copy_from_slice(of);
        for k in (1..n).rev() {
            tree[k] = tree[2 * k].min(tree[2 * k + 1]);
        }
        Least { n, tree }
    }

    /// Of `from..to`.
    fn of(&self, from: usize, to: usize) -> u32 {
        let (mut a, mut b, mut least) = (from + self.n, to + self.n, u32::MAX);
        while a < b {
            if a & 1 == 1 {
                least = least.min(self.tree[a]);
                a += 1;
            }
            if b & 1 == 1 {
                b -= 1;
                least = least.min(self.tree[b]);
            }
            (a, b) = (a / 2, b / 2);
        }
        least
    }

    /// The first number from `from` on that is below `bound`.
    fn first_below(&self, from: usize, bound: u32) -> Option<usize> {
        let mut k = from + self.n;
        if from >= self.n {
            return None;
        }
        while self.tree[k] >= bound {
            while k & 1 == 1 {
                k /= 2;
            }
            if k == 0 {
                return None;
            }
            k += 1;
        }
        while k < self.n {
            k *= 2;
            if self.tree[k] >= bound {
                k += 1;
            }
        }
        Some(k - self.n)
    }
}

/// Labels where channels may wait, ascending, each with the first place from where on they may.
pub struct Labels {
    pub at: Vec<Pc>,
    since: Vec<Pc>,
    least: Least,
    /// From here on some channels may have left.
    left: Pc,
}

impl Labels {
    /// Of the kernel's own code. `parts` says whether a branch can part channels.
    pub fn new(p: &Program, end: Pc, parts: &dyn Fn(&envisa_lower::Inst) -> bool) -> Labels {
        let code = &p.code()[..end as usize];
        let back: Vec<(Pc, Pc)> = (0..)
            .zip(code)
            .filter(|(pc, i)| i.op == Op::Goto && i.aux <= *pc)
            .map(|(pc, i)| (pc, i.aux))
            .collect();
        let heads = Least::new(&back.iter().map(|b| b.1).collect::<Vec<_>>());
        // Where channels that wait at `label` since `since` do so, loops on the way included.
        let widened = |label: Pc, mut since: Pc| loop {
            let (from, to) = (back.partition_point(|b| b.0 < since), back.partition_point(|b| b.0 < label));
            let head = if from < to { heads.of(from, to) } else { u32::MAX };
            if head >= since {
                return since;
            }
            since = head;
        };
        let mut waits: Vec<(Pc, Pc)> = Vec::new();
        let mut all: Vec<(Pc, Pc)> = Vec::new();
        for (pc, i) in (0..).zip(code).filter(|(_, i)| i.op == Op::Goto) {
            match (parts(i), i.aux > pc) {
                (true, true) => waits.push((i.aux, pc)),
                (true, false) => waits.push((pc + 1, i.aux)),
                (false, true) => all.push((i.aux, pc)),
                (false, false) => {}
            }
        }
        // Channels that all go ahead wait as well, if others wait on the way.
        loop {
            let labels = Labels::of(&waits, &widened);
            let before = waits.len();
            all.retain(|(target, pc)| {
                let meets = labels.between(*pc, *target).is_some();
                if meets {
                    waits.push((*target, *pc));
                }
                !meets
            });
            if waits.len() == before {
                return labels.with_returns(code, parts, &widened);
            }
        }
    }

    fn of(waits: &[(Pc, Pc)], widened: &dyn Fn(Pc, Pc) -> Pc) -> Labels {
        let mut sorted = waits.to_vec();
        sorted.sort_unstable();
        sorted.dedup_by_key(|w| w.0);
        let at: Vec<Pc> = sorted.iter().map(|w| w.0).collect();
        let since: Vec<Pc> = sorted.iter().map(|w| widened(w.0, w.1)).collect();
        let least = Least::new(&since);
        Labels { at, since, least, left: Pc::MAX }
    }

    /// Notes from where on channels may have left: behind the first return that not all of them take.
    fn with_returns(
        mut self,
        code: &[envisa_lower::Inst],
        parts: &dyn Fn(&envisa_lower::Inst) -> bool,
        widened: &dyn Fn(Pc, Pc) -> Pc,
    ) -> Labels {
        let some =
            |(pc, i): &(Pc, &envisa_lower::Inst)| i.op == Op::Ret && (parts(i) || self.next(*pc).is_some());
        if let Some((pc, _)) = (0..).zip(code).find(some) {
            self.left = widened(code.len() as Pc, pc + 1);
        }
        self
    }

    /// Are all channels that the thread started with active at an instruction?
    pub fn all_active(&self, pc: Pc) -> bool {
        pc < self.left && self.next(pc).is_none()
    }

    /// The label at this place.
    pub fn index(&self, pc: Pc) -> Option<usize> {
        self.at.binary_search(&pc).ok()
    }

    /// From where on channels may wait at a label.
    pub fn since(&self, label: usize) -> Pc {
        self.since[label]
    }

    /// The first label behind `pc` where channels may wait while the thread is there.
    pub fn next(&self, pc: Pc) -> Option<usize> {
        let from = self.at.partition_point(|l| *l <= pc);
        self.least.first_below(from, pc + 1).filter(|k| *k < self.at.len())
    }

    /// The first one before `target`.
    pub fn between(&self, pc: Pc, target: Pc) -> Option<usize> {
        self.next(pc).filter(|k| self.at[*k] < target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_of_runs() {
        let of = [5, 3, 8, 1, 9, 2, 7];
        let least = Least::new(&of);
        for a in 0..of.len() {
            for b in a + 1..=of.len() {
                assert_eq!(Some(least.of(a, b)), of[a..b].iter().min().copied());
            }
            for bound in 0..11 {
                let want = (a..of.len()).find(|k| of[*k] < bound);
                assert_eq!(least.first_below(a, bound), want, "{a} {bound}");
            }
        }
    }
}
