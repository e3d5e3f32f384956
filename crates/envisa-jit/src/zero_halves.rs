//! Upper halves of indices that are zero in a launch, and what makes them.
//!
//! Where a launch's bounds say so ([`crate::bounds`]), a message's index is its lower half, and native code does not read
//! the upper one. What is made for such halves only has no code: of an index in 64 bits that is half of all arithmetic or
//! more. The machine, which does for native code what that does not, finds zero there.

use std::ops::Range;

use envisa_lower::analysis::{CellId, Cells, Flow};
use envisa_lower::{Dst, Inst, Message, Op, Pc, Program, RegOffset};

use crate::deferred::by_lanes;
use crate::fast_maps::{Map, Set};

/// What native code does not make, and who does not read it.
#[derive(Clone, Default, Debug)]
pub(crate) struct ZeroHalves {
    /// Instructions without code.
    pub skipped: Set<Pc>,
    /// What instructions do not read: these, and messages.
    pub unread: Set<(Pc, CellId)>,
    /// By message instruction: registers that are zero for the machine.
    zeros: Map<Pc, Vec<Range<RegOffset>>>,
}

/// What an instruction reads and writes.
struct Accessed {
    pc: Pc,
    read: Vec<CellId>,
    written: Vec<CellId>,
    /// It does nothing but write these.
    pure: bool,
}

impl ZeroHalves {
    /// Of messages, by number, whose indices are their lower halves.
    pub fn new(p: &Program, flow: &Flow, cells: &Cells, fitting: &[u32]) -> ZeroHalves {
        let mut out = ZeroHalves::default();
        let calls = |i: &Inst| matches!(i.op, Op::Call | Op::Fcall | Op::Ifcall);
        if fitting.is_empty() || p.code().iter().any(calls) {
            return out;
        }
        let reachable = || (0..flow.end()).filter(|pc| flow.is_reachable(*pc));
        for pc in reachable() {
            let i = &p.code()[pc as usize];
            if i.op == Op::Message && fitting.contains(&i.aux) {
                out.leave_unread(p, cells, pc, i);
            }
        }
        if out.zeros.is_empty() {
            return out;
        }
        let all: Vec<Accessed> = reachable().map(|pc| Accessed::new(p, cells, pc)).collect();
        let mut wanted = out.wanted(&all, cells.len());
        while out.read_what_is_made(cells, &wanted) {
            wanted = out.wanted(&all, cells.len());
        }
        for a in all.iter().filter(|a| a.pure && !a.written.iter().any(|c| wanted[*c as usize])) {
            out.skipped.insert(a.pc);
            out.unread.extend(a.read.iter().map(|c| (a.pc, *c)));
        }
        out
    }

    /// Registers that are zero for the machine where it executes a message.
    pub fn zeros(&self, pc: Pc) -> &[Range<RegOffset>] {
        self.zeros.get(&pc).map_or(&[], Vec::as_slice)
    }

    /// Native code does not read upper halves of a message's index, unless they are something else for it as well.
    fn leave_unread(&mut self, p: &Program, cells: &Cells, pc: Pc, i: &Inst) {
        let Some(Message::Simt(s)) = p.messages().get(i.aux as usize) else { return };
        for a in s.extend.addends() {
            let Some(upper) = a.upper else { continue };
            let range = upper..upper + if a.scalar { 4 } else { 4 * u32::from(i.channels) };
            let mut times = 0;
            i.reads(p.parts(), &mut |t| {
                let read = t.range(i.channels.into());
                times += u32::from(read.is_none_or(|r| r.start < range.end && range.start < r.end));
            });
            if times == 1 {
                let of = range.clone().step_by(4).filter_map(|at| cells.at(at));
                self.unread.extend(of.map(|c| (pc, c)));
                self.zeros.entry(pc).or_default().push(range);
            }
        }
    }

    /// Halves that somebody else wants are made as ever, and messages read them; whether there were any.
    fn read_what_is_made(&mut self, cells: &Cells, wanted: &[bool]) -> bool {
        let mut found = false;
        for (pc, ranges) in &mut self.zeros {
            ranges.retain(|r| {
                let of = || r.clone().step_by(4).filter_map(|at| cells.at(at));
                let made = of().any(|c| wanted[c as usize]);
                if made {
                    of().for_each(|c| {
                        self.unread.remove(&(*pc, c));
                    });
                }
                found |= made;
                !made
            });
        }
        found
    }

    /// By cell: does an instruction read it that does something with it, at whatever time?
    fn wanted(&self, all: &[Accessed], cells: usize) -> Vec<bool> {
        let mut writers: Map<CellId, Vec<usize>> = Map::default();
        for (n, a) in all.iter().enumerate().filter(|(_, a)| a.pure) {
            a.written.iter().for_each(|c| writers.entry(*c).or_default().push(n));
        }
        let mut wanted = vec![false; cells];
        let mut made = vec![false; all.len()];
        let mut open: Vec<usize> = (0..all.len()).filter(|n| !all[*n].pure).collect();
        while let Some(n) = open.pop() {
            let a = &all[n];
            for c in a.read.iter().filter(|c| !self.unread.contains(&(a.pc, **c))) {
                if std::mem::replace(&mut wanted[*c as usize], true) {
                    continue;
                }
                for by in writers.get(c).into_iter().flatten() {
                    if !std::mem::replace(&mut made[*by], true) {
                        open.push(*by);
                    }
                }
            }
        }
        wanted
    }
}

impl Accessed {
    fn new(p: &Program, cells: &Cells, pc: Pc) -> Accessed {
        let i = &p.code()[pc as usize];
        let (mut read, mut written) = (Vec::new(), Vec::new());
        cells.accesses(p.parts(), pc, &mut |a| if a.write { &mut written } else { &mut read }.push(a.cell));
        let mut pure = (by_lanes(i.op) || matches!(i.op, Op::Mulh | Op::Addc | Op::Subb | Op::Bfn))
            && matches!(i.dst, Dst::Reg { .. })
            && !written.is_empty();
        i.writes(p.parts(), &mut |t| {
            pure &= t.range(i.channels.into()).is_some_and(|r| p.registers().is_plain_variable(r.start));
        });
        Accessed { pc, read, written, pure }
    }
}
