//! Facts about control flow: loops, and where channels can be apart.

use crate::Program;
use crate::program::*;

impl Program {
    /// Does a thread run each instruction once at most? There are no loops then, and no calls.
    pub fn runs_forward(&self) -> bool {
        let code = self.code();
        !code.iter().zip(0..).any(|(inst, pc)| match inst.op {
            Op::Goto => inst.aux <= pc,
            Op::Call | Op::Fcall | Op::Ifcall | Op::SwitchJmp => true,
            _ => false,
        })
    }
}

/// Sets [`Inst::depth`] and [`Facts::converged`] for the code of one function.
///
/// Engines run the channels at the lowest program counter first, so channels wait at a label only while
/// others run before it. A branch that can split the channels therefore opens an interval up to its
/// target (or, going backward, from its target to itself); a loop that starts inside of such an interval
/// or jumps back out of it extends it.
pub(crate) fn analyse(code: &mut [Inst], start: Pc, end: Pc, simd: u32) {
    let range = start as usize..end as usize;
    let mut apart: Vec<(Pc, Pc)> = Vec::new();
    let mut back: Vec<(Pc, Pc)> = Vec::new();
    let mut depth_change = vec![0i32; range.len() + 1];
    for pc in range.clone() {
        let inst = &code[pc];
        let (pc, splits) = (pc as Pc, splits(inst, simd));
        match inst.op {
            Op::Goto => {
                let target = inst.aux;
                if target <= pc && target >= start {
                    back.push((target, pc));
                    depth_change[(target - start) as usize] += 1;
                    depth_change[(pc + 1 - start) as usize] -= 1;
                    if splits {
                        apart.push((target, pc + 1));
                    }
                } else if splits {
                    apart.push((pc + 1, target));
                }
            }
            // Channels that left never come back in this activation.
            Op::Ret | Op::Fret if splits => apart.push((pc + 1, end)),
            Op::SwitchJmp => {}
            _ => {}
        }
    }
    // A return inside an interval takes some channels away for good.
    let inside = |apart: &[(Pc, Pc)], pc: Pc| apart.iter().any(|(s, e)| (*s..*e).contains(&pc));
    loop {
        let before = apart.clone();
        for (target, pc) in &back {
            for interval in &mut apart {
                if (interval.0..interval.1).contains(pc) && *target < interval.0 {
                    interval.0 = *target;
                }
            }
        }
        for pc in range.clone() {
            if matches!(code[pc].op, Op::Ret | Op::Fret)
                && (pc as Pc + 1) < end
                && inside(&apart, pc as Pc)
                && !apart.contains(&(pc as Pc + 1, end))
            {
                apart.push((pc as Pc + 1, end));
            }
        }
        apart.sort_unstable();
        merge(&mut apart);
        if apart == before {
            break;
        }
    }
    let mut depth = 0;
    for pc in range {
        depth += depth_change[pc - start as usize];
        code[pc].depth = depth.clamp(0, 255) as u8;
        code[pc].facts.converged = !inside(&apart, pc as Pc);
    }
    fuse(&mut code[start as usize..end as usize]);
}

/// Can a branch part the channels?
pub(crate) fn splits(i: &Inst, simd: u32) -> bool {
    i.channels > 1 && (i.pred.offset != 0 || i.first != 0 || (i.channels as u32) < simd)
}

/// Joins overlapping intervals of a sorted list.
fn merge(list: &mut Vec<(Pc, Pc)>) {
    let mut out: Vec<(Pc, Pc)> = Vec::new();
    for &(s, e) in list.iter().filter(|(s, e)| s < e) {
        match out.last_mut() {
            Some(last) if s <= last.1 => last.1 = last.1.max(e),
            _ => out.push((s, e)),
        }
    }
    *list = out;
}

/// Marks compares that the next instruction branches on.
fn fuse(code: &mut [Inst]) {
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
