//! Lints on channels that have diverged, and on memory that threads share.

use std::collections::HashMap;

use envisa_isa::desc::{Effect, Family, Role, SlotKind};
use envisa_isa::{Combine, Exec, Inst, Op, Operand, Platforms, Region, SlotName};

use crate::context::Ctx;
use crate::flow::{Graph, branch_targets, predicate_of};
use crate::{Code, Finding, memory};

/// Predicates that hold one value in all channels wherever they are written: results of comparisons of
/// scalars, and logic on such.
fn uniform_predicates(ctx: &Ctx) -> Vec<bool> {
    let obj = ctx.obj;
    let mut written = vec![false; obj.predicates.len() + 1];
    let mut uniform = vec![true; obj.predicates.len() + 1];
    // Logic on predicates: destination and sources.
    let mut logic: Vec<(u16, Vec<u16>)> = Vec::new();
    for inst in &obj.insts {
        let mut dst = None;
        let mut scalar = true;
        let mut sources = Vec::new();
        for (_, slot, kind, op) in ctx.slot_operands(inst) {
            match (kind, op) {
                (SlotKind::Vector(_), Operand::Predicate(p)) if slot.role == Role::Write => dst = Some(p.id),
                (SlotKind::Pred, Operand::Pred(p)) if inst.op == Op::Add3o => dst = Some(p.id),
                (SlotKind::Vector(_), Operand::Predicate(p)) => sources.push(p.id),
                (SlotKind::Vector(_), Operand::General { region, .. } | Operand::Indirect { region, .. })
                    if slot.role == Role::Read =>
                {
                    scalar &= *region == Region::SCALAR;
                }
                (SlotKind::Vector(_), Operand::Imm { ty, .. }) => scalar &= !ty.is_packed(),
                (SlotKind::Vector(_), _) if slot.role == Role::Read => scalar = false,
                _ => {}
            }
        }
        let Some(dst) = dst else { continue };
        written[dst as usize] = true;
        if !sources.is_empty() {
            logic.push((dst, sources));
        } else if inst.op != Op::Cmp || !scalar {
            uniform[dst as usize] = false;
        }
    }
    // Chains of logic are short; what has not settled after a few rounds counts as divergent.
    for round in 0..4 {
        let mut changed = false;
        for (dst, sources) in &logic {
            let ok = sources.iter().all(|s| uniform[*s as usize] && written[*s as usize]);
            if uniform[*dst as usize] && !ok {
                uniform[*dst as usize] = false;
                changed = true;
            }
        }
        if !changed {
            break;
        }
        if round == 3 {
            logic.iter().for_each(|(dst, _)| uniform[*dst as usize] = false);
        }
    }
    uniform.iter().zip(&written).map(|(u, w)| *u && *w).collect()
}

/// Stretches of code in which channels may have diverged: ascending, apart.
#[derive(Default)]
pub(crate) struct Diverged {
    /// First and last instruction, and the branch.
    stretches: Vec<(u32, u32, u32)>,
}

impl Diverged {
    /// The branch that may have parted the channels at an instruction.
    pub(crate) fn diverging_branch(&self, at: u32) -> Option<u32> {
        let k = self.stretches.partition_point(|s| s.0 < at);
        let (_, last, branch) = *self.stretches.get(k.checked_sub(1)?)?;
        (at < last).then_some(branch)
    }
}

/// Divergent branches whose channels wait somewhere: what must not be jumped over, and barriers among them.
pub(crate) fn check(ctx: &mut Ctx, g: &Graph) -> Diverged {
    let obj = ctx.obj;
    let n = obj.insts.len();
    let uniform = uniform_predicates(ctx);
    // For each place the first divergent goto whose channels wait there.
    let mut first = vec![u32::MAX; n];
    // Where channels may have diverged: first and last instruction, and the branch.
    let mut regions: Vec<(u32, u32, u32)> = Vec::new();
    for (i, inst) in obj.insts.iter().enumerate() {
        let exec = ctx.exec(inst).map_or(1, Exec::channels);
        let Some(p) = predicate_of(ctx, inst).filter(|p| p.is_some()) else { continue };
        if inst.op != Op::Goto || exec == 1 || p.combine != Combine::None || uniform[p.id as usize] {
            continue;
        }
        for (_, l) in branch_targets(ctx, inst) {
            let Some(t) = g.label_target(l) else { continue };
            if t > i as u32 {
                first[t as usize] = first[t as usize].min(i as u32);
                regions.push((i as u32, t, i as u32));
            } else {
                // Channels that leave a loop wait behind it for those that stay.
                regions.push((t, i as u32, i as u32));
            }
        }
    }
    if regions.is_empty() {
        return Diverged::default();
    }
    let tree = MinTree::new(&first);
    for (i, inst) in obj.insts.iter().enumerate() {
        if inst.op != Op::Jmp {
            continue;
        }
        for (k, l) in branch_targets(ctx, inst) {
            let Some(t) = g.label_target(l) else { continue };
            // Forward: a label strictly between where channels of an earlier goto wait.
            if let Some(p) = tree.first_below(i + 1, t as usize, i as u32) {
                ctx.inst = Some(i);
                let f = Finding::new(
                    Code::JUMP_OVER_JOIN,
                    ctx.on,
                    obj.op_span(inst, k),
                    "a uniform jump over a label where diverged channels wait",
                );
                ctx.push(
                    f.also(obj.insts[p].span, "channels wait here")
                        .also(obj.insts[first[p] as usize].span, "since this branch"),
                );
            }
        }
    }
    regions.sort_unstable();
    let mut reach: Vec<(u32, u32, u32)> = Vec::new();
    for (a, b, by) in regions {
        match reach.last_mut() {
            Some(last) if a <= last.1 => last.1 = last.1.max(b),
            _ => reach.push((a, b, by)),
        }
    }
    let diverged = Diverged { stretches: reach };
    for (i, inst) in obj.insts.iter().enumerate() {
        let at = i as u32;
        let desc = inst.desc();
        let together = (desc.effect == Effect::Barrier && inst.op != Op::Wait) || desc.family == Family::Vme;
        if !together {
            continue;
        }
        if let Some(branch) = diverged.diverging_branch(at) {
            ctx.inst = Some(i);
            let message = format!("{} is used where channels may have diverged", desc.name);
            let f = Finding::new(Code::BARRIER_DIVERGED, ctx.on, inst.span, message);
            ctx.push(f.also(obj.insts[branch as usize].span, "by this branch"));
        }
    }
    diverged
}

/// Minima over ranges.
struct MinTree {
    n: usize,
    t: Vec<u32>,
}

impl MinTree {
    fn new(values: &[u32]) -> MinTree {
        let n = values.len();
        let mut t = vec![u32::MAX; 2 * n];
        t[n..].copy_from_slice(values);
        for i in (1..n).rev() {
            t[i] = t[2 * i].min(t[2 * i + 1]);
        }
        MinTree { n, t }
    }

    /// Least value of `a..b`.
    fn min(&self, a: usize, b: usize) -> u32 {
        let (mut l, mut r, mut m) = (a + self.n, b + self.n, u32::MAX);
        while l < r {
            if l & 1 == 1 {
                m = m.min(self.t[l]);
                l += 1;
            }
            if r & 1 == 1 {
                r -= 1;
                m = m.min(self.t[r]);
            }
            l /= 2;
            r /= 2;
        }
        m
    }

    /// First place in `a..b` whose value is below `limit`.
    fn first_below(&self, a: usize, b: usize, limit: u32) -> Option<usize> {
        let (mut lo, mut hi) = (a, b);
        if lo >= hi || self.min(lo, hi) >= limit {
            return None;
        }
        while hi - lo > 1 {
            let mid = lo + (hi - lo) / 2;
            if self.min(lo, mid) < limit {
                hi = mid;
            } else {
                lo = mid;
            }
        }
        Some(lo)
    }
}

/// Does the instruction access shared local memory?
fn touches_slm(ctx: &Ctx, inst: &Inst) -> bool {
    if matches!(inst.desc().family, Family::Lsc) {
        // ".slm" in the shared function's field.
        return crate::lsc::is_slm(ctx, inst);
    }
    ctx.obj.ops(inst).iter().any(memory::is_slm)
}

/// What is called, and whether it may fence shared local memory. Each subroutine and function is looked at once.
#[derive(Default)]
struct Callees {
    /// Subroutines of the object, by label; found when the first call is.
    subroutines: Option<HashMap<u16, bool>>,
    /// Functions, by index in the module.
    functions: HashMap<usize, bool>,
}

impl Callees {
    /// May what is called fence? Of functions elsewhere nobody knows.
    fn fence(&mut self, ctx: &Ctx, inst: &Inst) -> bool {
        let is_fence = |i: &Inst| i.desc().effect == Effect::Fence;
        match inst.op {
            Op::Fcall => {
                let name = match ctx.obj.slot(inst, SlotName::Function) {
                    Some(Operand::Str(s)) => ctx.obj.strings.get(s),
                    _ => None,
                };
                let Some(index) = name.and_then(|n| ctx.functions.get(n)).copied() else { return true };
                let Some(callee) = ctx.module.objects.get(index) else { return true };
                *self.functions.entry(index).or_insert_with(|| callee.insts.iter().any(is_fence))
            }
            Op::Ifcall | Op::Ifcall42 => true,
            Op::Call => {
                let label = ctx.obj.ops(inst).iter().find_map(|o| match o {
                    Operand::Label(l) => Some(*l),
                    _ => None,
                });
                let found = self.subroutines.get_or_insert_with(|| subroutines_that(ctx, is_fence));
                label.and_then(|l| found.get(&l)).copied().unwrap_or(true)
            }
            _ => false,
        }
    }
}

/// The subroutines of the object by their labels: does any instruction up to the next subroutine?
fn subroutines_that(ctx: &Ctx, does: impl Fn(&Inst) -> bool) -> HashMap<u16, bool> {
    let mut out = HashMap::new();
    let mut current = None;
    for i in &ctx.obj.insts {
        if i.op == Op::Subroutine {
            current = match ctx.obj.ops(i) {
                [Operand::Label(l)] => Some(*l),
                _ => None,
            };
        }
        if let Some(label) = current {
            *out.entry(label).or_insert(false) |= does(i);
        }
    }
    out
}

/// Writes to shared local memory before a barrier, and reads after it, without a fence between.
pub(crate) fn slm_fences(ctx: &mut Ctx) {
    // Before ICLLP a barrier orders accesses to shared local memory by itself.
    let on = ctx.on.intersect(Platforms::ICLLP_UP);
    if on == Platforms::NONE {
        return;
    }
    let obj = ctx.obj;
    let mut callees = Callees::default();
    let mut pending: Option<usize> = None;
    let mut crossed: Option<(usize, usize)> = None;
    let mut found: Vec<(usize, usize, usize)> = Vec::new();
    for (i, inst) in obj.insts.iter().enumerate() {
        let desc = inst.desc();
        match desc.effect {
            Effect::Write | Effect::Atomic if touches_slm(ctx, inst) => {
                if let (Some((w, b)), Effect::Atomic) = (crossed, desc.effect) {
                    found.push((w, b, i));
                    crossed = None;
                }
                pending = Some(i);
            }
            Effect::Read if touches_slm(ctx, inst) => {
                if let Some((w, b)) = crossed.take() {
                    found.push((w, b, i));
                }
            }
            Effect::Fence if crate::lsc::fences_slm(ctx, inst) => pending = None,
            _ if pending.is_some() && callees.fence(ctx, inst) => pending = None,
            Effect::Barrier => {
                if let Some(w) = pending.take() {
                    crossed = Some((w, i));
                }
            }
            _ => {}
        }
    }
    for (w, b, r) in found {
        ctx.inst = Some(b);
        let f = Finding::new(
            Code::SLM_WITHOUT_FENCE,
            on,
            obj.insts[b].span,
            "shared local memory is written before this barrier and read after it, without a fence",
        );
        ctx.push(f.also(obj.insts[w].span, "written").also(obj.insts[r].span, "read"));
    }
}
