//! Control flow: its structure, and lints that follow data through it.
//!
//! Everything here is linear, or nearly, in the number of instructions: no fixed point over the graph
//! is needed where "reachable only by running backwards" is known from the intervals that backward
//! branches span.

use std::collections::HashMap;

use envisa_isa::desc::{Effect, Family, Role, SlotKind};
use envisa_isa::{Exec, Inst, LabelUse, ObjectKind, Op, Operand, Platforms, Pred, Span, predefined};

use crate::check::Ctx;
use crate::operand::{dst_extent, extent, scalar_operands};
use crate::structure::label_name;
use crate::{Code, Finding, memory};

/// Where labels stand, which subroutine an instruction belongs to, and the branches.
struct Graph {
    /// Instruction index of each label; `None` for those never placed.
    at: Vec<Option<u32>>,
    /// First instruction of each subroutine, the main one (0) included, in order.
    subs: Vec<u32>,
}

impl Graph {
    fn new(ctx: &Ctx) -> Graph {
        let mut at = vec![None; ctx.obj.labels.len()];
        let mut subs = vec![0];
        for (i, inst) in ctx.obj.insts.iter().enumerate() {
            if let Op::Label | Op::Subroutine = inst.op
                && let Some(Operand::Label(l)) = ctx.obj.ops(inst).first()
            {
                at[*l as usize] = Some(i as u32);
                if inst.op == Op::Subroutine && i > 0 && has_code_before(ctx, i) {
                    subs.push(i as u32);
                }
            }
        }
        Graph { at, subs }
    }

    /// Index of the subroutine that holds an instruction.
    fn sub_of(&self, i: u32) -> usize {
        self.subs.partition_point(|s| *s <= i).saturating_sub(1)
    }

    fn target(&self, l: u16) -> Option<u32> {
        self.at.get(l as usize).copied().flatten()
    }
}

/// Real instructions before `i`, since the kernel's own start is a SUBROUTINE in IGC's output.
fn has_code_before(ctx: &Ctx, i: usize) -> bool {
    ctx.obj.insts[..i]
        .iter()
        .any(|x| !matches!(x.op, Op::Label | Op::Subroutine) && x.desc().family != Family::Misc)
}

/// Labels an instruction may continue at.
fn targets<'a>(ctx: &Ctx<'a>, inst: &Inst) -> impl Iterator<Item = (usize, u16)> + use<'a> {
    let ops = ctx.obj.ops(inst);
    ops.iter().enumerate().filter_map(|(k, o)| match o {
        Operand::Label(l) => Some((k, *l)),
        _ => None,
    })
}

fn is_branch(op: Op) -> bool {
    matches!(op, Op::Goto | Op::Jmp | Op::Switchjmp)
}

fn predicated(ctx: &Ctx, inst: &Inst) -> bool {
    pred(ctx, inst).is_some_and(Pred::is_some)
}

fn pred(ctx: &Ctx, inst: &Inst) -> Option<Pred> {
    match ctx.obj.ops(inst).get(inst.desc().pred_slot()?)? {
        Operand::Pred(p) => Some(*p),
        _ => None,
    }
}

/// Never continues at the next instruction: for all channels at once.
fn ends(ctx: &Ctx, inst: &Inst) -> bool {
    match inst.op {
        Op::Ret | Op::Fret | Op::Jmp => !predicated(ctx, inst),
        Op::Switchjmp => true,
        _ => false,
    }
}

/// Rules on the shape of control flow.
pub(crate) fn structure(ctx: &mut Ctx) {
    let g = Graph::new(ctx);
    let obj = ctx.obj;
    let on = ctx.on;
    let mut calls: Vec<(usize, usize, usize)> = Vec::new();
    for (i, inst) in obj.insts.iter().enumerate() {
        ctx.inst = Some(i);
        if is_branch(inst.op) {
            for (k, l) in targets(ctx, inst) {
                if let Some(t) = g.target(l)
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
            for (_, l) in targets(ctx, inst) {
                if let Some(t) = g.target(l) {
                    calls.push((g.sub_of(i as u32), g.sub_of(t), i));
                }
            }
        } else if inst.op == Op::Fret && obj.kind == ObjectKind::Kernel {
            let f = Finding::new(Code::RET_KIND, on, inst.span, "FRET in a kernel");
            ctx.push(f.help("a kernel ends with RET"));
        }
    }
    recursion(ctx, &g, &calls);
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
        let uniform_goto = inst.op == Op::Goto && !predicated(ctx, inst);
        let message =
            matches!(inst.desc().effect, Effect::Message) || inst.desc().family == Family::RenderTarget;
        if !ends(ctx, inst) && !uniform_goto && !message {
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
fn is_mark(inst: &Inst) -> bool {
    matches!(inst.desc().name, "FILE" | "LOC" | "LIFETIME")
}

fn recursion(ctx: &mut Ctx, g: &Graph, calls: &[(usize, usize, usize)]) {
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

/// Bytes of a root variable that an operand touches, in the smallest register size asked for.
#[derive(Clone, Copy, Debug)]
struct Access {
    root: u32,
    start: u32,
    end: u32,
    write: bool,
    /// Index of the operand.
    at: usize,
    /// Known to touch every byte of the range.
    dense: bool,
}

/// All accesses of an object, by instruction: every lint walks them.
struct Accesses {
    list: Vec<Access>,
    /// Where each instruction's start; one more than there are instructions.
    starts: Vec<u32>,
}

impl Accesses {
    fn new(ctx: &Ctx, grf: u32) -> Accesses {
        let insts = &ctx.obj.insts;
        let mut list = Vec::with_capacity(insts.len() * 3);
        let mut starts = Vec::with_capacity(insts.len() + 1);
        starts.push(0);
        for inst in insts {
            accesses(ctx, inst, grf, |a| list.push(a));
            starts.push(list.len() as u32);
        }
        Accesses { list, starts }
    }

    fn each(&self, inst: usize, f: impl FnMut(Access)) {
        self.list[self.starts[inst] as usize..self.starts[inst + 1] as usize].iter().copied().for_each(f);
    }
}

/// Calls `f` with every access of an instruction to a declared general variable.
fn accesses(ctx: &Ctx, inst: &Inst, grf: u32, mut f: impl FnMut(Access)) {
    let exec = ctx.exec(inst).map_or(1, Exec::channels);
    let family = inst.desc().family;
    let scalar = scalar_operands(family);
    for (k, slot, kind, op) in ctx.slots(inst) {
        let (var, start, len, dense) = match (kind, op) {
            (SlotKind::Vector(_), Operand::General { var, row, col, region, .. }) => {
                let Some(info) = ctx.var(*var) else { continue };
                let size = info.ty.size();
                let start = *row as u32 * grf + *col as u32 * size;
                let (len, dense) = if scalar {
                    (size, true)
                } else if matches!(family, Family::Systolic) || inst.op == Op::AddrAdd || inst.op == Op::Plane
                {
                    (info.bytes[1].saturating_sub(start), false)
                } else if slot.role == Role::Write {
                    (dst_extent(*region, exec, size), region.hstride() == Some(1))
                } else {
                    (extent(*region, exec, size).unwrap_or(size), true)
                };
                let len = if inst.desc().name == "MADW" && slot.role == Role::Write {
                    info.bytes[1].saturating_sub(start)
                } else {
                    len
                };
                (*var, start, len, dense)
            }
            (SlotKind::Raw { .. }, Operand::Raw { var, offset }) => {
                // Where the table cannot say how far it reaches, the rest of the variable is the safe
                // side of a write, its first byte of a read.
                let Some(info) = ctx.var(*var) else { continue };
                let start = *offset as u32;
                let len =
                    if slot.role == Role::Read { 1 } else { info.bytes[1].saturating_sub(start).max(1) };
                (*var, start, len, false)
            }
            _ => continue,
        };
        let Some(info) = ctx.var(var) else { continue };
        let start = info.offset.saturating_add(start);
        let access = Access {
            root: info.root,
            start,
            end: start.saturating_add(len.max(1)),
            write: slot.role == Role::Write,
            at: k,
            dense,
        };
        if slot.role == Role::ReadWrite {
            f(Access { write: true, ..access });
        }
        f(access);
    }
}

/// A root variable's life in 64 chunks.
#[derive(Clone, Copy, Default)]
struct Life {
    written: u64,
    read: u64,
    /// First write, as instruction index + 1; 0 for none.
    first_write: u32,
    /// Its address is taken, or it is an input, an output, predefined: anything may happen to it.
    escapes: bool,
    used: bool,
}

fn chunks(start: u32, end: u32, bytes: u32) -> u64 {
    let size = bytes.div_ceil(64).max(1);
    let (a, b) = ((start / size).min(63), ((end.max(1) - 1) / size).min(63));
    (u64::MAX >> (63 - (b - a))) << a
}

/// Intervals of instructions that belong to one loop, merged; ordered.
fn loops(ctx: &Ctx, g: &Graph) -> Vec<(u32, u32)> {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for (i, inst) in ctx.obj.insts.iter().enumerate() {
        if is_branch(inst.op) || inst.op == Op::Call {
            for (_, l) in targets(ctx, inst) {
                let Some(t) = g.target(l) else { continue };
                if inst.op == Op::Call {
                    // A subroutine runs at its callers: everything between may precede everything.
                    let end = g.subs.get(g.sub_of(t) + 1).map_or(ctx.obj.insts.len() as u32, |e| *e);
                    spans.push((t.min(i as u32), end.max(i as u32)));
                } else if t <= i as u32 {
                    spans.push((t, i as u32));
                }
            }
        }
    }
    spans.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for (a, b) in spans {
        match merged.last_mut() {
            Some(last) if a <= last.1 => last.1 = last.1.max(b),
            _ => merged.push((a, b)),
        }
    }
    merged
}

fn same_loop(loops: &[(u32, u32)], a: u32, b: u32) -> bool {
    let i = loops.partition_point(|l| l.0 <= a);
    i > 0 && loops[i - 1].1 >= a && loops[i - 1].0 <= b && b <= loops[i - 1].1
}

/// Lints: warnings that follow data and control flow.
pub(crate) fn lints(ctx: &mut Ctx) {
    let g = Graph::new(ctx);
    let grf = ctx.on.iter().map(|p| p.grf_bytes()).max().unwrap_or(32);
    let loops = loops(ctx, &g);
    let list = Accesses::new(ctx, grf);
    let lives = lives(ctx, &list);
    uninitialised(ctx, &list, &lives, &loops);
    dead_writes(ctx, &list, &lives);
    unreachable(ctx, &g);
    diverged(ctx, &g);
    slm_fences(ctx);
    local_values(ctx, &list, grf);
    unused(ctx, &lives);
    ctx.inst = None;
}

fn lives(ctx: &Ctx, list: &Accesses) -> Vec<Life> {
    let obj = ctx.obj;
    let mut lives = vec![Life::default(); ctx.vars.len()];
    for l in lives.iter_mut().take(predefined::FIRST_VAR as usize) {
        l.escapes = true;
    }
    for input in &obj.inputs {
        if input.kind & 7 == 0
            && let Some(info) = ctx.var(input.id)
        {
            lives[info.root as usize].escapes = true;
        }
    }
    for (id, v) in obj.vars.iter().enumerate() {
        let range = v.attrs.start as usize..v.attrs.start as usize + v.attrs.len as usize;
        if obj.var_attrs[range].iter().any(|a| obj.strings.get(a.name) == Some("Output")) {
            let root = ctx.vars[id + predefined::FIRST_VAR as usize].root;
            lives[root as usize].escapes = true;
        }
    }
    for (i, inst) in obj.insts.iter().enumerate() {
        list.each(i, |a| {
            let bytes = ctx.vars[a.root as usize].root_bytes[1];
            let l = &mut lives[a.root as usize];
            l.used = true;
            let bits = chunks(a.start, a.end, bytes);
            if a.write {
                l.written |= bits;
                if l.first_write == 0 {
                    l.first_write = i as u32 + 1;
                }
            } else if !a.dense && bits == 1 {
                // A raw source: at least its first byte, maybe everything after it.
                l.read |= u64::MAX;
            } else {
                l.read |= bits | if a.dense { 0 } else { u64::MAX };
            }
        });
        let addressed = inst.op == Op::AddrAdd;
        for op in obj.ops(inst) {
            let var = match *op {
                Operand::AddressOf { var, .. } => var,
                Operand::General { var, .. } if addressed => var,
                _ => continue,
            };
            if let Some(info) = ctx.var(var) {
                let l = &mut lives[info.root as usize];
                l.escapes = true;
                l.used = true;
            }
        }
    }
    lives
}

fn uninitialised(ctx: &mut Ctx, list: &Accesses, lives: &[Life], loops: &[(u32, u32)]) {
    let obj = ctx.obj;
    let mut said = vec![false; lives.len()];
    for (i, inst) in obj.insts.iter().enumerate() {
        let mut found: Option<Access> = None;
        list.each(i, |a| {
            let l = &lives[a.root as usize];
            if a.write || l.escapes || said[a.root as usize] {
                return;
            }
            let bits = chunks(a.start, a.start + 1, ctx.vars[a.root as usize].root_bytes[1]);
            let never = l.written & bits == 0;
            let later = l.first_write > i as u32 + 1 && !same_loop(loops, i as u32, l.first_write - 1);
            // An instruction that reads and writes a variable for the first time reads nothing.
            let itself = l.first_write == i as u32 + 1 && !same_loop(loops, i as u32, i as u32);
            if never || later || itself {
                said[a.root as usize] = true;
                found = Some(a);
            }
        });
        if let Some(a) = found {
            ctx.inst = Some(i);
            let f = Finding::new(
                Code::READ_BEFORE_WRITE,
                ctx.on,
                obj.op_span(inst, a.at),
                format!("`{}` is read before anything is written to it", obj.var_name(a.root)),
            );
            let declared = obj.var(a.root).map_or(Span::NONE, |v| v.span);
            ctx.push(f.also(declared, "declared here"));
        }
    }
}

/// The last write to a variable in the current block that nothing has read yet.
#[derive(Clone, Copy)]
struct LastWrite {
    inst: usize,
    access: Access,
    exec: Exec,
}

fn dead_writes(ctx: &mut Ctx, list: &Accesses, lives: &[Life]) {
    let obj = ctx.obj;
    let mut last: HashMap<u32, LastWrite> = HashMap::new();
    let mut dead: Vec<(usize, usize, u32, Option<usize>)> = Vec::new();
    let mut said = vec![false; lives.len()];
    for (i, inst) in obj.insts.iter().enumerate() {
        if matches!(inst.desc().family, Family::ControlFlow) {
            last.clear();
            continue;
        }
        let pure = inst.desc().effect == Effect::None;
        let exec = ctx.exec(inst).unwrap_or(Exec::SCALAR_NM);
        let whole = !predicated(ctx, inst) || inst.op == Op::Sel;
        let indirect = obj.ops(inst).iter().any(|o| matches!(o, Operand::Indirect { .. }));
        if indirect {
            last.clear();
        }
        list.each(i, |a| {
            if !a.write {
                last.remove(&a.root);
            }
        });
        list.each(i, |a| {
            let l = &lives[a.root as usize];
            if !a.write || l.escapes {
                return;
            }
            if let Some(w) = last.get(&a.root)
                && whole
                && a.dense
                && a.start <= w.access.start
                && w.access.end <= a.end
                && (exec.mask.no_mask() || (exec == w.exec))
            {
                dead.push((w.inst, w.access.at, a.root, Some(i)));
            }
            if !pure {
                last.remove(&a.root);
                return;
            }
            let bytes = ctx.vars[a.root as usize].root_bytes[1];
            if l.read & chunks(a.start, a.end, bytes) == 0 && !said[a.root as usize] {
                said[a.root as usize] = true;
                dead.push((i, a.at, a.root, None));
            }
            last.insert(a.root, LastWrite { inst: i, access: a, exec });
        });
    }
    for (i, at, root, by) in dead {
        ctx.inst = Some(i);
        let inst = &obj.insts[i];
        let f = Finding::new(
            Code::DEAD_WRITE,
            ctx.on,
            obj.op_span(inst, at),
            format!("what is written to `{}` is never read", obj.var_name(root)),
        );
        ctx.push(match by {
            Some(j) => f.also(obj.insts[j].span, "overwritten here"),
            None => f,
        });
    }
}

fn unreachable(ctx: &mut Ctx, g: &Graph) {
    let obj = ctx.obj;
    let n = obj.insts.len();
    let mut seen = vec![false; n];
    let mut stack: Vec<usize> = vec![0];
    while let Some(start) = stack.pop() {
        let mut i = start;
        while i < n && !seen[i] {
            seen[i] = true;
            let inst = &obj.insts[i];
            if is_branch(inst.op) || inst.op == Op::Call {
                stack.extend(targets(ctx, inst).filter_map(|(_, l)| g.target(l)).map(|t| t as usize));
            }
            // An unpredicated goto that is not divergent leaves nothing behind.
            let gone = inst.op == Op::Goto && !predicated(ctx, inst);
            if ends(ctx, inst) || gone {
                break;
            }
            i += 1;
        }
    }
    // Labels of other kinds are entered from elsewhere.
    let mut i = 0;
    while i < n {
        let inst = &obj.insts[i];
        if seen[i] || is_mark(inst) || matches!(inst.op, Op::Label | Op::Subroutine) {
            i += 1;
            continue;
        }
        let start = i;
        while i < n && !seen[i] {
            i += 1;
        }
        // The return that generators append after an endless loop says nothing.
        let only_return = obj.insts[start..i]
            .iter()
            .all(|x| matches!(x.op, Op::Ret | Op::Fret | Op::Label | Op::Subroutine) || is_mark(x));
        if only_return {
            continue;
        }
        ctx.inst = Some(start);
        let f = Finding::new(Code::UNREACHABLE, ctx.on, obj.insts[start].span, "nothing leads here");
        let count = i - start;
        ctx.push(if count > 1 { f.note(format!("{count} instructions")) } else { f });
    }
}

/// Divergent branches whose channels wait somewhere: what must not be jumped over, and barriers among them.
fn diverged(ctx: &mut Ctx, g: &Graph) {
    let obj = ctx.obj;
    let n = obj.insts.len();
    // For each place the first divergent goto whose channels wait there.
    let mut first = vec![u32::MAX; n];
    let mut any = false;
    // Divergent regions: (goto, label).
    let mut regions: Vec<(u32, u32)> = Vec::new();
    for (i, inst) in obj.insts.iter().enumerate() {
        let exec = ctx.exec(inst).map_or(1, Exec::channels);
        if inst.op != Op::Goto || exec == 1 || !predicated(ctx, inst) {
            continue;
        }
        if pred(ctx, inst).is_some_and(|p| p.combine != envisa_isa::Combine::None) {
            continue;
        }
        for (_, l) in targets(ctx, inst) {
            if let Some(t) = g.target(l)
                && t > i as u32
            {
                first[t as usize] = first[t as usize].min(i as u32);
                regions.push((i as u32, t));
                any = true;
            }
        }
    }
    if !any {
        return;
    }
    let tree = MinTree::new(&first);
    regions.sort_unstable();
    for (i, inst) in obj.insts.iter().enumerate() {
        if inst.op == Op::Jmp {
            for (k, l) in targets(ctx, inst) {
                let Some(t) = g.target(l) else { continue };
                // Forward: a label strictly between where channels of an earlier goto wait.
                if t as usize > i + 1 && tree.min(i + 1, t as usize) < i as u32 {
                    ctx.inst = Some(i);
                    let waiting = (i + 1..t as usize).find(|p| first[*p] < i as u32);
                    let f = Finding::new(
                        Code::JUMP_OVER_JOIN,
                        ctx.on,
                        obj.op_span(inst, k),
                        "a uniform jump over a label where diverged channels wait",
                    );
                    ctx.push(match waiting {
                        Some(p) => f
                            .also(obj.insts[p].span, "channels wait here")
                            .also(obj.insts[first[p] as usize].span, "since this branch"),
                        None => f,
                    });
                }
            }
        }
    }
    // Barriers between a divergent goto and its label.
    let mut reach: Vec<(u32, u32)> = Vec::new();
    for (a, b) in &regions {
        match reach.last_mut() {
            Some(last) if *a <= last.1 => last.1 = last.1.max(*b),
            _ => reach.push((*a, *b)),
        }
    }
    for (i, inst) in obj.insts.iter().enumerate() {
        let at = i as u32;
        let k = reach.partition_point(|r| r.0 < at);
        if inst.op != Op::Fret
            && inst.desc().effect == Effect::Barrier
            && k > 0
            && at < reach[k - 1].1
            && inst.desc().name != "WAIT"
        {
            ctx.inst = Some(i);
            let f = Finding::new(
                Code::BARRIER_DIVERGED,
                ctx.on,
                inst.span,
                format!("{} where channels may have diverged", inst.desc().name),
            );
            ctx.push(f.also(obj.insts[reach[k - 1].0 as usize].span, "by this branch"));
        }
    }
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
}

/// Does the instruction access shared local memory?
fn touches_slm(ctx: &Ctx, inst: &Inst) -> bool {
    if matches!(inst.desc().family, Family::Lsc) {
        // ".slm" in the shared function's field.
        return crate::lsc::is_slm(ctx, inst);
    }
    ctx.obj.ops(inst).iter().any(memory::is_slm)
}

fn slm_fences(ctx: &mut Ctx) {
    let obj = ctx.obj;
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
            ctx.on,
            obj.insts[b].span,
            "shared local memory is written before this barrier and read after it, without a fence",
        );
        ctx.push(f.also(obj.insts[w].span, "written").also(obj.insts[r].span, "read"));
    }
}

/// What is known of a variable's contents within a block.
#[derive(Clone, Copy)]
struct Known {
    /// All channels hold the same value.
    channels: u32,
    /// From here.
    inst: usize,
}

/// Values that are provably equal or out of bounds, block by block.
fn local_values(ctx: &mut Ctx, list: &Accesses, grf: u32) {
    let obj = ctx.obj;
    let mut uniform: HashMap<u32, Known> = HashMap::new();
    // Address variables: the variable and byte offset they point to.
    let mut points: HashMap<u16, (u32, i64, usize)> = HashMap::new();
    let slm_bytes =
        obj.attr("SLMSize").and_then(|a| a.int()).map(|kb| (kb as u64).next_power_of_two() * 1024);
    for (i, inst) in obj.insts.iter().enumerate() {
        ctx.inst = Some(i);
        let desc = inst.desc();
        if desc.family == Family::ControlFlow {
            uniform.clear();
            points.clear();
            continue;
        }
        if desc.effect == Effect::Write {
            same_offsets(ctx, inst, &uniform);
        }
        slm_bounds(ctx, inst, slm_bytes);
        pointed(ctx, inst, &points, grf);
        list.each(i, |a| {
            if a.write {
                uniform.remove(&a.root);
            }
        });
        for op in obj.ops(inst) {
            if let Operand::Indirect { .. } = op {
                // It may have been the destination.
                uniform.clear();
            }
        }
        let exec = ctx.exec(inst).unwrap_or(Exec::SCALAR_NM);
        let plain = !predicated(ctx, inst);
        match inst.op {
            Op::Mov if plain && exec.log2 > 0 => {
                let ops = obj.ops(inst);
                if let (Some(Operand::General { var, row: 0, col: 0, region, .. }), Some(src)) =
                    (ops.get(2), ops.get(3))
                    && region.hstride() == Some(1)
                    && is_uniform(src)
                    && let Some(info) = ctx.var(*var)
                    && info.offset == 0
                {
                    uniform.insert(info.root, Known { channels: exec.channels(), inst: i });
                }
            }
            Op::AddrAdd => {
                let ops = obj.ops(inst);
                let target = match ops.get(1) {
                    Some(Operand::Address { id, offset: 0, .. }) => *id,
                    Some(Operand::Address { id, .. }) => {
                        points.remove(id);
                        continue;
                    }
                    _ => continue,
                };
                let base = match ops.get(2) {
                    Some(Operand::AddressOf { var, offset }) => Some((*var, *offset as i64)),
                    Some(Operand::General { var, row, col, .. }) => {
                        ctx.var(*var).map(|v| (*var, (*row as u32 * grf + *col as u32 * v.ty.size()) as i64))
                    }
                    _ => None,
                };
                match (base, ops.get(3)) {
                    (Some((var, at)), Some(Operand::Imm { bits, .. })) => {
                        points.insert(target, (var, at + (*bits as u32 as u16) as i64, i));
                    }
                    _ => {
                        points.remove(&target);
                    }
                }
            }
            _ => {
                for op in obj.ops(inst) {
                    if let Operand::Address { id, .. } = op {
                        points.remove(id);
                    }
                }
            }
        }
    }
}

fn is_uniform(op: &Operand) -> bool {
    match op {
        Operand::Imm { ty, .. } => !ty.is_packed(),
        Operand::General { region, .. } => *region == envisa_isa::Region::SCALAR,
        _ => false,
    }
}

fn same_offsets(ctx: &mut Ctx, inst: &Inst, uniform: &HashMap<u32, Known>) {
    let obj = ctx.obj;
    let offsets = ["element_offset", "addresses", "offset", "src0_addr", "addr"];
    let channels = match ctx.exec(inst) {
        Some(e) => e.channels(),
        None => match ctx.field(inst, "num_elts") {
            Some(n) => [8, 16, 1, 1][(n & 3) as usize],
            None => return,
        },
    };
    if channels < 2 || predicated(ctx, inst) {
        return;
    }
    for (k, slot, _, op) in ctx.slots(inst) {
        let Operand::Raw { var, offset: 0 } = *op else { continue };
        if !offsets.contains(&slot.name) || slot.role != Role::Read {
            continue;
        }
        let Some(info) = ctx.var(var) else { continue };
        let Some(known) = uniform.get(&info.root) else { continue };
        if info.offset != 0 || known.channels < channels {
            continue;
        }
        // One value for all channels to one place is legal, if odd; different values are lost.
        let src_same = ctx
            .slot(inst, "src")
            .and_then(|(o, _)| match o {
                Operand::Raw { var, .. } => ctx.var(var),
                _ => None,
            })
            .is_some_and(|v| uniform.contains_key(&v.root));
        if src_same {
            continue;
        }
        let f = Finding::new(
            Code::SCATTER_SAME_OFFSET,
            ctx.on,
            obj.op_span(inst, k),
            format!("all {channels} channels write to the same place"),
        );
        let at = obj.insts[known.inst].span;
        ctx.push(f.also(at, "one value for all channels"));
    }
}

/// Constant offsets into shared local memory of a known size.
fn slm_bounds(ctx: &mut Ctx, inst: &Inst, bytes: Option<u64>) {
    let Some(bytes) = bytes.filter(|b| *b > 0) else { return };
    if !ctx.obj.ops(inst).iter().any(memory::is_slm) {
        return;
    }
    let unit: u64 = match inst.desc().name {
        "OWORD_LD" | "OWORD_ST" => 16,
        "GATHER" | "SCATTER" => 1 << ctx.field(inst, "elt_size").unwrap_or(0).min(2),
        _ => 1,
    };
    for name in ["offset", "global_offset"] {
        if let Some((Operand::Imm { bits, .. }, span)) = ctx.slot(inst, name)
            && bits.saturating_mul(unit) >= bytes
        {
            let f = Finding::new(
                Code::OUT_OF_BOUNDS,
                ctx.on,
                span,
                format!("byte {} of {bytes} bytes of shared local memory", bits.saturating_mul(unit)),
            );
            ctx.push(f);
        }
    }
}

/// Indirect accesses through an address known in this block.
fn pointed(ctx: &mut Ctx, inst: &Inst, points: &HashMap<u16, (u32, i64, usize)>, grf: u32) {
    let obj = ctx.obj;
    for (k, op) in obj.ops(inst).iter().enumerate() {
        let Operand::Indirect { addr, offset: 0, byte_offset, ty, .. } = *op else { continue };
        let Some((var, base, at)) = points.get(&addr).copied() else { continue };
        let Some(info) = ctx.var(var) else { continue };
        let index = usize::from(grf == 64);
        let first = base + byte_offset as i64;
        if first < 0
            || first + ty.size() as i64
                > (info.root_bytes[index] - info.offset.min(info.root_bytes[index])) as i64
        {
            let f = Finding::new(
                Code::OUT_OF_BOUNDS,
                ctx.on,
                obj.op_span(inst, k),
                format!("byte {first} of `{}`, which has {}", obj.var_name(var), info.bytes[index]),
            );
            ctx.push(f.also(obj.insts[at].span, "the address is made here"));
        }
    }
}

fn unused(ctx: &mut Ctx, lives: &[Life]) {
    let obj = ctx.obj;
    let mut names: Vec<(&str, Span)> = Vec::new();
    // A variable is used if any alias of it is.
    let mut used = vec![false; lives.len()];
    for inst in &obj.insts {
        for op in obj.ops(inst) {
            let (Operand::General { var, .. } | Operand::Raw { var, .. } | Operand::AddressOf { var, .. }) =
                *op
            else {
                continue;
            };
            used[var as usize] = true;
        }
    }
    for (i, v) in obj.vars.iter().enumerate().rev() {
        if v.alias != 0 && used[i + predefined::FIRST_VAR as usize] {
            used[v.alias as usize] = true;
        }
    }
    for input in &obj.inputs {
        if input.kind & 7 == 0 {
            used[input.id as usize] = true;
        }
    }
    for (i, v) in obj.vars.iter().enumerate() {
        let id = i + predefined::FIRST_VAR as usize;
        if !used[id] && !lives[ctx.vars[id].root as usize].escapes {
            names.push((obj.var_name(id as u32), v.span));
        }
    }
    for (list, is) in [(&obj.addresses, 0u8), (&obj.predicates, 1)] {
        let mut used = vec![false; list.len() + 1];
        for op in obj.operands.iter() {
            match (*op, is) {
                (Operand::Address { id, .. }, 0) | (Operand::Indirect { addr: id, .. }, 0) => {
                    used[id as usize] = true
                }
                (Operand::Pred(p), 1) | (Operand::Predicate(p), 1) if p.id > 0 => {
                    used[p.id as usize - 1] = true
                }
                _ => {}
            }
        }
        for (v, used) in list.iter().zip(used) {
            if !used {
                names.push((obj.strings.get(v.name).unwrap_or("?"), v.span));
            }
        }
    }
    for l in &obj.labels {
        debug_assert!(l.kind as u8 <= LabelUse::Fc as u8);
    }
    if names.is_empty() || ctx.on == Platforms::NONE {
        return;
    }
    ctx.inst = None;
    names.sort_by_key(|n| n.1.start);
    let shown: Vec<String> = names.iter().take(8).map(|n| format!("`{}`", n.0)).collect();
    let more = if names.len() > 8 { format!(" and {} more", names.len() - 8) } else { String::new() };
    let verb = if names.len() == 1 { "is" } else { "are" };
    let mut f = Finding::new(
        Code::UNUSED,
        ctx.on,
        names[0].1,
        format!("{}{more} {verb} never used", shown.join(", ")),
    );
    for n in names.iter().skip(1).take(3) {
        f = f.also(n.1, "");
    }
    ctx.push(f);
}
