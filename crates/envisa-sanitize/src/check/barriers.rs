//! Barriers that not all work-items reach.

use envisa_lower::{Inst, Op, fence};
use envisa_machine::thread::Machine;

use super::report_places::Sites;
use super::{Checks, FindingKind, Related};

impl Checks {
    /// Looks at who comes to a barrier.
    pub(super) fn barrier(&mut self, m: &Machine<'_>, pc: u32, i: &Inst) {
        let kind = FindingKind::DivergentBarrier;
        // Code whose channels are no work-items says with a barrier alone what OpenCL C says with the fences before it.
        if self.facts.in_step || self.facts.vector_code {
            self.group.fence(m.t.index, fence::GLOBAL | fence::LOCAL | fence::GROUP);
        }
        let elsewhere = self.group.barrier(m.t.index, (i.op, pc), i.aux == 1);
        if let Some((other, at)) = elsewhere {
            let related = {
                let (instruction, function, span) = self.sites.at(at);
                Related { instruction, function, span, what: "the other thread is at this barrier" }
            };
            let subject =
                |_: &Sites| format!("a barrier, while thread {other} of the group is at another one");
            self.note_pair(m, (pc, at), kind, 0, subject).related.get_or_insert(related);
        }
        let (here, all) = (m.t.mask, m.t.dispatch);
        // Of a function that has barriers it is told where it is called.
        let told = self.short.get(&m.t.index) == Some(&here);
        if !told {
            self.short.remove(&m.t.index);
        }
        if i.op != Op::NamedBarrier && here != all && !told {
            let subject = || describe_missing(here.count_ones(), all.count_ones());
            self.note(m, pc, kind, (all & !here).trailing_zeros(), subject).absent = true;
        }
    }
}

/// What is said of a barrier that not all work-items of a thread come to.
pub(super) fn describe_missing(came: u32, all: u32) -> String {
    format!("only {came} of the {all} work-items of a sub-group come to a barrier of the group")
}
