//! What nobody reads, and labels where nobody waits.

use std::ops::Range;

use envisa_isa::{Modifier, Type};

use super::{CHUNK, range_of_access};
use crate::program::*;

/// Drops instructions without an effect.
pub(super) fn remove_dead_code(p: &mut ProgramParts) {
    let mut keep = vec![true; p.code.len()];
    let readers = mark_unread(p, &mut keep);
    drop_unread_carries(p, &readers);
    mark_unwaited_labels(p, &mut keep);
    remove_instructions(p, &keep);
}

/// Drops messages that no instruction names any more.
pub(super) fn remove_unused_messages(p: &mut ProgramParts) {
    let mut named = vec![false; p.messages.len()];
    for i in p.code.iter().filter(|i| i.op == Op::Message) {
        named[i.aux as usize] = true;
    }
    if named.iter().all(|n| *n) {
        return;
    }
    let mut to = Vec::with_capacity(named.len());
    let mut next = 0;
    for n in &named {
        to.push(next);
        next += u32::from(*n);
    }
    for i in p.code.iter_mut().filter(|i| i.op == Op::Message) {
        i.aux = to[i.aux as usize];
    }
    let mut at = 0;
    p.messages.retain(|_| {
        at += 1;
        named[at - 1]
    });
}

/// Passes over the code at most: what is still dead then (loops full of it) stays.
const PASSES: usize = 8;

/// Marks instructions whose results nobody reads: until there are no more, as each drops readers of others. Gives how many
/// instructions read each place that are left.
fn mark_unread(p: &ProgramParts, keep: &mut [bool]) -> Vec<u32> {
    let mut readers = vec![0u32; reader_places(p, 0..p.registers.bytes).end as usize];
    for i in &p.code {
        count(p, i, &mut readers, 1);
    }
    for _ in 0..PASSES {
        let mut dropped = false;
        // Backward: readers come after what they read, mostly.
        for (pc, i) in p.code.iter().enumerate().rev() {
            let local = match i.dst {
                Dst::Reg { offset, .. } => p.registers.is_plain_variable(offset),
                Dst::Pred { .. } => true,
                _ => false,
            };
            let own =
                i.dst2 == 0 || matches!(i.op, Op::Addc | Op::Subb) && i.dst2 >= p.registers.locals_start;
            if !keep[pc] || !local || !own || !i.op.facts().pure {
                continue;
            }
            let mut wanted = false;
            i.writes(p, &mut |t| {
                let mut at = reader_places(p, range_of_access(&t, i.channels, p));
                wanted |= at.any(|c| readers.get(c as usize).is_none_or(|r| *r != 0));
            });
            if wanted {
                continue;
            }
            keep[pc] = false;
            dropped = true;
            count(p, i, &mut readers, -1);
        }
        if !dropped {
            break;
        }
    }
    readers
}

/// Sums and differences of dwords whose carry nobody reads are those without one.
fn drop_unread_carries(p: &mut ProgramParts, readers: &[u32]) {
    let unread = |p: &ProgramParts, i: &Inst| {
        let carries = i.dst2..i.dst2 + 4 * u32::from(i.channels);
        let mut places = reader_places(p, carries);
        i.dst2 >= p.registers.locals_start && places.all(|at| readers.get(at as usize) == Some(&0))
    };
    for pc in 0..p.code.len() {
        let mut i = p.code[pc];
        if !matches!(i.op, Op::Addc | Op::Subb) || !unread(p, &i) {
            continue;
        }
        if let (Op::Subb, Src::Reg { ty, modifier, .. }) = (i.op, &mut i.src[1]) {
            if *modifier != Modifier::None || ty.size() != 4 {
                continue;
            }
            (*ty, *modifier) = (Type::D, Modifier::Neg);
        }
        (i.op, i.exec, i.dst2) = (Op::Add, ExecType::I32, 0);
        p.code[pc] = i;
    }
}

/// Where readers of a range are counted: by chunks, and by dwords below the variables, where predicates are.
fn reader_places(p: &ProgramParts, range: Range<RegOffset>) -> Range<u32> {
    let locals = p.registers.locals_start;
    let place = |at: RegOffset| match at.checked_sub(locals) {
        Some(behind) => locals.div_ceil(4) + behind / CHUNK,
        None => at / 4,
    };
    place(range.start)..range.end.checked_sub(1).map_or(0, |last| place(last) + 1)
}

/// Counts an instruction among the readers of each place, or no more.
fn count(p: &ProgramParts, i: &Inst, readers: &mut [u32], by: i32) {
    i.reads(p, &mut |t| {
        for c in reader_places(p, range_of_access(&t, i.channels, p)) {
            if let Some(r) = readers.get_mut(c as usize) {
                *r = r.wrapping_add_signed(by);
            }
        }
    });
}

/// Marks labels where no channel can wait: only branches that do not split the channels go there, from where
/// all of them are together.
fn mark_unwaited_labels(p: &ProgramParts, keep: &mut [bool]) {
    let mut waits = vec![false; p.code.len() + 1];
    for pc in p.tables.iter().flatten() {
        waits[*pc as usize] = true;
    }
    for (pc, i) in p.code.iter().enumerate() {
        if i.op != Op::Goto {
            continue;
        }
        if crate::flow::may_diverge(i, p.simd) || !i.facts.converged {
            if let Some(w) = waits.get_mut(i.aux as usize) {
                *w = true;
            }
            // Going backward, those that stay wait right behind.
            waits[pc + 1] = true;
        }
    }
    for (pc, i) in p.code.iter().enumerate() {
        keep[pc] &= i.op != Op::Join || waits[pc];
    }
}

/// Takes instructions out; every program counter follows.
pub(super) fn remove_instructions(p: &mut ProgramParts, keep: &[bool]) {
    let mut to = Vec::with_capacity(keep.len() + 1);
    let mut next = 0;
    for k in keep {
        to.push(next);
        next += *k as Pc;
    }
    to.push(next);
    p.upper.retain(|u| keep[u.pc as usize]);
    let mut pc = 0;
    p.code.retain(|_| {
        pc += 1;
        keep[pc - 1]
    });
    super::relocate_targets(p, &to);
}
