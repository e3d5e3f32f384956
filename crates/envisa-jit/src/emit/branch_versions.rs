//! Conditional code twice: once for threads all of whose channels go on behind the branch, with nothing masked, and once,
//! behind the rest of the code, for threads whose channels part.

use super::*;

/// Most instructions of such code.
const MOST: u32 = 512;

/// Code behind a branch that only some channels take, up to where the branch leads, while it is made for all channels.
#[derive(Clone, Debug)]
pub(crate) struct Apart {
    pub range: Range<Pc>,
    /// Where the copy for some of the channels has each of its instructions.
    pub labels: Vec<Label>,
}

impl Apart {
    /// Where the copy has an instruction.
    pub fn label(&self, pc: Pc) -> Label {
        self.labels[(pc - self.range.start) as usize]
    }
}

impl Emit<'_> {
    /// Is the code behind a branch that all channels come to made twice? If so, from here on it is the one for all of them;
    /// gives where those go who part.
    pub(super) fn goes_apart(&mut self, pc: Pc, target: Pc) -> Option<Label> {
        if let Some(all) = &self.apart {
            let parts = all.range.contains(&pc) && target >= all.range.end;
            return parts.then(|| match pc + 1 == all.range.end {
                true => self.labels[all.range.end as usize],
                false => all.label(pc + 1),
            });
        }
        // Of those that take turns, masks cost less with AVX-512 than code does.
        if self.parts_rarely() || !self.all_active(pc) || !self.is_plain(pc + 1..target) {
            return None;
        }
        let labels = (pc + 1..target).map(|_| self.a.label()).collect();
        let all = Apart { range: pc + 1..target, labels };
        let to = all.label(pc + 1);
        self.apart = Some(all);
        Some(to)
    }

    /// Is it code that runs from its start to its end, but for branches to there, and that accesses memory?
    fn is_plain(&self, range: Range<Pc>) -> bool {
        let messages = range.clone().filter(|q| self.inst(*q).op == Op::Message).count();
        let plain = |q: Pc| {
            let i = self.inst(q);
            let computes = i.op.is_computation()
                || matches!(
                    i.op,
                    Op::Cmp | Op::Mov | Op::MovPred | Op::Nop | Op::PredLogic | Op::Setp | Op::Message
                );
            let leaves = i.op == Op::Goto
                && (i.channels > 1 && self.leaves(q, &range) || q + 1 == range.end && self.is_over_others(q));
            (computes || leaves)
                && self.flow.is_reachable(q)
                && self.flow.waiting_labels(q).all(|l| l >= range.end)
        };
        let entered = |q: Pc| {
            let i = self.inst(q);
            matches!(i.op, Op::Goto | Op::Call | Op::SwitchJmp) && range.contains(&i.aux)
        };
        messages > 0
            && range.end - range.start <= MOST
            && range.clone().all(plain)
            && !(0..self.flow.end()).any(entered)
            && !self.runs.iter().any(|r| r.first < range.end && range.start < r.end)
    }

    /// Is it a branch to the end of a range, or one that bypasses it for the label of a region?
    fn leaves(&self, pc: Pc, range: &Range<Pc>) -> bool {
        let to = self.inst(pc).aux;
        to == range.end || to > range.end && self.structured.reconvergence(to).is_some()
    }

    /// Before an instruction: the code for all channels may end there.
    pub(super) fn leave_apart(&mut self, pc: Pc) {
        if let Some(all) = self.apart.take_if(|all| all.range.end <= pc) {
            self.later.push(Later::Apart(all));
        }
    }

    /// The copy for some of the channels, with what is put behind it.
    pub(super) fn put_apart(&mut self, all: Apart) -> Result<(), String> {
        let range = all.range.start as usize..all.range.end as usize;
        let labels = self.labels[range.clone()].to_vec();
        self.labels[range.clone()].copy_from_slice(&all.labels);
        let later = self.later.len();
        (self.fused, self.looked, self.made_whole) = (false, None, None);
        for pc in all.range.clone() {
            self.put_inst(pc)?;
        }
        self.rounds(Rounding::NearestEven);
        let end = self.labels[range.end];
        self.a.jmp(end);
        let mut k = later;
        while k < self.later.len() {
            let l = std::mem::replace(&mut self.later[k], Later::Expired { pc: 0, entry: self.done });
            self.put_later(l)?;
            k += 1;
        }
        self.later.truncate(later);
        self.labels[range].copy_from_slice(&labels);
        Ok(())
    }
}
