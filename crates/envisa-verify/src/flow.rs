//! Control flow: where labels stand, which subroutine an instruction belongs to, and the rules on it.

use envisa_isa::desc::{Effect, Family};
use envisa_isa::{Inst, ObjectKind, Op, Operand, Pred};

use crate::context::Ctx;
use crate::structure::label_name;
use crate::{Code, Finding};

/// Where labels stand, which subroutine an instruction belongs to, and the branches.
pub(crate) struct Graph {
    /// Instruction index of each label; `None` for those never placed.
    at: Vec<Option<u32>>,
    /// First instruction of each subroutine, the main one (0) included, in order.
    pub subs: Vec<u32>,
}

impl Graph {
    pub fn new(ctx: &Ctx) -> Graph {
        let mut at = vec![None; ctx.obj.labels.len()];
        let mut subs = vec![0];
        // The kernel's own start is a SUBROUTINE in IGC's output.
        let mut code_before = false;
        for (i, inst) in ctx.obj.insts.iter().enumerate() {
            if let Op::Label | Op::Subroutine = inst.op
                && let Some(Operand::Label(l)) = ctx.obj.ops(inst).first()
            {
                at[*l as usize] = Some(i as u32);
                if inst.op == Op::Subroutine && code_before {
                    subs.push(i as u32);
                }
            } else {
                code_before |= inst.desc().family != Family::Misc;
            }
        }
        Graph { at, subs }
    }

    /// Index of the subroutine that holds an instruction.
    pub fn sub_of(&self, i: u32) -> usize {
        self.subs.partition_point(|s| *s <= i).saturating_sub(1)
    }

    pub fn label_target(&self, l: u16) -> Option<u32> {
        self.at.get(l as usize).copied().flatten()
    }
}

/// Labels an instruction may continue at.
pub(crate) fn branch_targets<'a>(ctx: &Ctx<'a>, inst: &Inst) -> impl Iterator<Item = (usize, u16)> + use<'a> {
    let ops = ctx.obj.ops(inst);
    ops.iter().enumerate().filter_map(|(k, o)| match o {
        Operand::Label(l) => Some((k, *l)),
        _ => None,
    })
}

pub(crate) fn is_branch(op: Op) -> bool {
    matches!(op, Op::Goto | Op::Jmp | Op::Switchjmp)
}

pub(crate) fn is_predicated(ctx: &Ctx, inst: &Inst) -> bool {
    predicate_of(ctx, inst).is_some_and(Pred::is_some)
}

pub(crate) fn predicate_of(ctx: &Ctx, inst: &Inst) -> Option<Pred> {
    match ctx.obj.ops(inst).get(inst.desc().pred_slot()?)? {
        Operand::Pred(p) => Some(*p),
        _ => None,
    }
}

/// Never continues at the next instruction: for all channels at once.
pub(crate) fn never_falls_through(ctx: &Ctx, inst: &Inst) -> bool {
    match inst.op {
        Op::Ret | Op::Fret | Op::Jmp => !is_predicated(ctx, inst),
        Op::Switchjmp => true,
        _ => false,
    }
}

/// Rules on the shape of control flow.
pub(crate) fn check_flow_structure(ctx: &mut Ctx) {
    let g = Graph::new(ctx);
    let obj = ctx.obj;
    let on = ctx.on;
    let mut calls: Vec<(usize, usize, usize)> = Vec::new();
    for (i, inst) in obj.insts.iter().enumerate() {
        ctx.inst = Some(i);
        if is_branch(inst.op) {
            for (k, l) in branch_targets(ctx, inst) {
                if let Some(t) = g.label_target(l)
                    && g.sub_of(t) != g.sub_of(i as u32)
                {
                    let f = Finding::new(
                        Code::BRANCH_SUBROUTINE,
                        on,
                        obj.op_span(inst, k),
                        format!("{} to `{}` leaves its subroutine", inst.desc().name, label_name(obj, l)),
                    );
                    ctx.push(f.also(obj.insts[t as usize].span, "the label"));
                }
            }
        } else if inst.op == Op::Call {
            for (_, l) in branch_targets(ctx, inst) {
                if let Some(t) = g.label_target(l) {
                    calls.push((g.sub_of(i as u32), g.sub_of(t), i));
                }
            }
        } else if inst.op == Op::Fret && obj.kind == ObjectKind::Kernel {
            let f = Finding::new(Code::RET_KIND, on, inst.span, "FRET in a kernel");
            ctx.push(f.help("a kernel ends with RET"));
        }
    }
    check_recursion(ctx, &g, &calls);
    // A subroutine's last instruction must not fall into the next one.
    for (s, start) in g.subs.iter().enumerate() {
        let end = g.subs.get(s + 1).map_or(obj.insts.len(), |e| *e as usize);
        let last = (*start as usize..end)
            .rev()
            .find(|i| !matches!(obj.insts[*i].op, Op::Label | Op::Subroutine) && !is_mark(&obj.insts[*i]));
        let Some(last) = last else {
            if obj.insts.is_empty() && s == 0 {
                ctx.inst = None;
                ctx.push(Finding::new(Code::FALLS_OFF, on, obj.name_span, "no instructions"));
            }
            continue;
        };
        let inst = &obj.insts[last];
        // A backward goto that nobody leaves is an endless loop, which ends as well.
        let uniform_goto = inst.op == Op::Goto && !is_predicated(ctx, inst);
        let message =
            matches!(inst.desc().effect, Effect::Message) || inst.desc().family == Family::RenderTarget;
        if !never_falls_through(ctx, inst) && !uniform_goto && !message {
            ctx.inst = Some(last);
            let what = if s == 0 { "the code" } else { "a subroutine" };
            let f =
                Finding::new(Code::FALLS_OFF, on, inst.span, format!("{what} does not end with a return"));
            ctx.push(f.here("execution runs on from here").help("end it with `ret`"));
        }
    }
    ctx.inst = None;
}

/// Instructions that execute nothing.
pub(crate) fn is_mark(inst: &Inst) -> bool {
    matches!(inst.desc().name, "FILE" | "LOC" | "LIFETIME")
}

fn check_recursion(ctx: &mut Ctx, g: &Graph, calls: &[(usize, usize, usize)]) {
    let n = g.subs.len();
    let mut out: Vec<Vec<(usize, usize)>> = vec![Vec::new(); n];
    for (from, to, at) in calls {
        out[*from].push((*to, *at));
    }
    // Depth-first with an explicit stack; a grey target closes a cycle.
    let mut colour = vec![0u8; n];
    for root in 0..n {
        if colour[root] != 0 {
            continue;
        }
        let mut stack = vec![(root, 0usize)];
        colour[root] = 1;
        while let Some((s, next)) = stack.pop() {
            let Some((to, at)) = out[s].get(next).copied() else {
                colour[s] = 2;
                continue;
            };
            stack.push((s, next + 1));
            match colour[to] {
                0 => {
                    colour[to] = 1;
                    stack.push((to, 0));
                }
                1 => {
                    ctx.inst = Some(at);
                    let span = ctx.obj.insts[at].span;
                    let f = Finding::new(Code::RECURSION, ctx.on, span, "a subroutine that calls itself");
                    ctx.push(f.help("functions (FCALL) may recurse, subroutines may not"));
                }
                _ => {}
            }
        }
    }
}
