//! Where each of many things holds in code: runs of instructions.

use super::CellId;
use crate::program::Pc;

/// Sets of cells, one before each instruction, as the runs of instructions whose sets each cell is in.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// The runs of one cell after the other, ascending: the first instruction, and one past the last.
    runs: Vec<(Pc, Pc)>,
    /// Where those of each cell begin.
    from: Vec<u32>,
    /// The same runs by where they begin.
    order: Vec<(Pc, Pc, CellId)>,
    /// Some instructions, with what has begun before them and not ended: how many runs of `order` have begun, and where
    /// in `open` those that go on are.
    marks: Vec<(Pc, u32, u32)>,
    open: Vec<u32>,
}

/// So many runs begin from mark to mark at least.
const APART: usize = 64;

impl Ranges {
    /// Of runs in any order, none of which meets another one of the same cell.
    pub fn new(cells: usize, mut order: Vec<(Pc, Pc, CellId)>) -> Ranges {
        order.sort_unstable();
        let mut from = vec![0u32; cells + 1];
        order.iter().for_each(|r| from[r.2 as usize + 1] += 1);
        (0..cells).for_each(|c| from[c + 1] += from[c]);
        let (mut at, mut runs) = (from.clone(), vec![(0, 0); order.len()]);
        for (start, end, c) in &order {
            runs[at[*c as usize] as usize] = (*start, *end);
            at[*c as usize] += 1;
        }
        let mut all = Ranges { runs, from, order, marks: Vec::new(), open: Vec::new() };
        all.set_checkpoints();
        all
    }

    /// Sets the marks, so far apart that all that is open at them is not more than has begun in between.
    fn set_checkpoints(&mut self) {
        let (mut open, mut since, mut apart): (Vec<u32>, usize, usize) = (Vec::new(), 0, APART);
        for k in 0..self.order.len() {
            if k - since >= apart {
                let pc = self.order[k].0;
                open.retain(|r| self.order[*r as usize].1 > pc);
                self.marks.push((pc, k as u32, self.open.len() as u32));
                self.open.extend(&open);
                (since, apart) = (k, open.len().max(APART));
            }
            open.push(k as u32);
        }
    }

    /// The runs of a cell.
    pub fn of(&self, cell: CellId) -> &[(Pc, Pc)] {
        match self.from.get(cell as usize..cell as usize + 2) {
            Some(w) => &self.runs[w[0] as usize..w[1] as usize],
            None => &[],
        }
    }

    /// Is a cell in the set of an instruction?
    pub fn has(&self, pc: Pc, cell: CellId) -> bool {
        let all = self.of(cell);
        let k = all.partition_point(|r| r.0 <= pc);
        k != 0 && pc < all[k - 1].1
    }

    /// The cells in the set of an instruction, ascending.
    pub fn at(&self, pc: Pc) -> Vec<CellId> {
        let mark = self.marks.partition_point(|m| m.0 <= pc);
        let (mut begun, mut out) = (0, Vec::new());
        if let Some((_, before, from)) = mark.checked_sub(1).map(|k| self.marks[k]) {
            let to = self.marks.get(mark).map_or(self.open.len(), |m| m.2 as usize);
            let open = self.open[from as usize..to].iter().map(|k| self.order[*k as usize]);
            out.extend(open.filter(|r| pc < r.1).map(|r| r.2));
            begun = before as usize;
        }
        let later = self.order[begun..].iter().take_while(|r| r.0 <= pc);
        out.extend(later.filter(|r| pc < r.1).map(|r| r.2));
        out.sort_unstable();
        out
    }

    /// The same where a cell, the first of each pair, is in no set, and the other one where either was.
    pub fn with_cells_replaced(&self, pairs: &[(CellId, CellId)]) -> Ranges {
        let cells = self.from.len().saturating_sub(1);
        let mut all: Vec<Vec<(Pc, Pc)>> = (0..cells as CellId).map(|c| self.of(c).to_vec()).collect();
        for (cell, other) in pairs {
            let gone = std::mem::take(&mut all[*cell as usize]);
            let to = &mut all[*other as usize];
            to.extend(gone);
            to.sort_unstable();
            to.dedup_by(|b, a| {
                let meets = b.0 <= a.1;
                a.1 = if meets { a.1.max(b.1) } else { a.1 };
                meets
            });
        }
        let one = |(c, runs): (CellId, Vec<(Pc, Pc)>)| runs.into_iter().map(move |r| (r.0, r.1, c));
        Ranges::new(cells, (0..).zip(all).flat_map(one).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs by dice, held against sets of bits.
    #[test]
    fn sets_are_those_of_the_runs() {
        let mut dice = 7u64;
        let mut roll = |n: u64| {
            dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (dice >> 33) % n
        };
        let (cells, code) = (300, 2000);
        let mut runs = Vec::new();
        let mut sets = vec![vec![false; cells]; code];
        for c in 0..cells {
            let mut at = roll(400) as usize;
            while at < code {
                let end = (at + 1 + roll(if c % 50 == 0 { 900 } else { 20 }) as usize).min(code);
                runs.push((at as Pc, end as Pc, c as CellId));
                sets[at..end].iter_mut().for_each(|s| s[c] = true);
                at = end + 1 + roll(90) as usize;
            }
        }
        let all = Ranges::new(cells, runs);
        assert!(all.marks.len() > 10 && all.open.len() <= all.runs.len());
        let pairs = [(3, 4), (7, 100)];
        let other = all.with_cells_replaced(&pairs);
        for (pc, set) in sets.iter_mut().enumerate() {
            let expected: Vec<CellId> = (0..cells as CellId).filter(|c| set[*c as usize]).collect();
            assert_eq!(all.at(pc as Pc), expected);
            assert!((0..cells).all(|c| all.has(pc as Pc, c as CellId) == set[c]));
            for (a, b) in pairs {
                let (a, b) = (a as usize, b as usize);
                (set[a], set[b]) = (false, set[a] || set[b]);
            }
            let expected: Vec<CellId> = (0..cells as CellId).filter(|c| set[*c as usize]).collect();
            assert_eq!(other.at(pc as Pc), expected);
        }
    }
}
