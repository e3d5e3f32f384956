//! Lints: warnings that follow data and control flow.
//!
//! Everything here is linear, or nearly, in the number of instructions: no fixed point over the graph
//! is needed where "reachable only by running backwards" is known from the intervals that backward
//! branches span.

use std::collections::HashMap;

use envisa_isa::desc::{Effect, Family, Role};
use envisa_isa::{
    Exec, ObjectKind, Op, Operand, PartName, Platforms, SlotName, Span, StateClass, predefined,
};

use crate::accesses::{Access, Accesses};
use crate::block_facts::Recent;
use crate::context::{Ctx, FieldOrPart, field_or_part};
use crate::flow::{Graph, branch_targets, is_branch, is_mark, is_predicated, never_falls_through};
use crate::{Code, Finding, divergence, known_values};

/// Runs all of them on an object.
pub(crate) fn check(ctx: &mut Ctx) {
    let g = Graph::new(ctx);
    let grf = ctx.on.iter().map(|p| p.grf_bytes()).max().unwrap_or(32);
    let loops = merged_loop_intervals(ctx, &g);
    let list = Accesses::new(ctx, grf);
    let lives = variable_lives(ctx, &list);
    lint_uninitialised(ctx, &list, &lives, &loops);
    dead_writes(ctx, &list, &lives);
    simple_variables(ctx, &loops);
    lint_uses_after_lifetime(ctx, &list);
    lint_unreachable(ctx, &g);
    let diverged = divergence::check(ctx, &g);
    divergence::slm_fences(ctx);
    known_values::check(ctx, &list, grf, &diverged);
    lint_unused(ctx, &lives);
    ctx.inst = None;
}

/// A root variable's life in 64 chunks.
#[derive(Clone, Copy, Default)]
struct Life {
    written: u64,
    read: u64,
    /// First write, as instruction index + 1; 0 for none.
    first_write: u32,
    /// What is written to it may be read elsewhere: its address is taken, it is an output, predefined, …
    escapes: bool,
    /// It has a value that no instruction here writes directly: an input, predefined, …
    given: bool,
    used: bool,
}

fn chunk_mask(start: u32, end: u32, bytes: u32) -> u64 {
    let size = bytes.div_ceil(64).max(1);
    let (a, b) = ((start / size).min(63), ((end.max(1) - 1) / size).min(63));
    (u64::MAX >> (63 - (b - a))) << a
}

/// Intervals of instructions that belong to one loop, merged; ordered.
fn merged_loop_intervals(ctx: &Ctx, g: &Graph) -> Vec<(u32, u32)> {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for (i, inst) in ctx.obj.insts.iter().enumerate() {
        if is_branch(inst.op) || inst.op == Op::Call {
            for (_, l) in branch_targets(ctx, inst) {
                let Some(t) = g.label_target(l) else { continue };
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

fn variable_lives(ctx: &Ctx, list: &Accesses) -> Vec<Life> {
    let obj = ctx.obj;
    let mut lives = vec![Life::default(); ctx.vars.len()];
    for l in lives.iter_mut().take(predefined::FIRST_VAR as usize) {
        (l.escapes, l.given) = (true, true);
    }
    if obj.kind == ObjectKind::Kernel {
        // What a function gets from its caller, a kernel has to make itself.
        use predefined::var as p;
        let calls = obj.insts.iter().any(|i| matches!(i.desc().name, "FCALL" | "IFCALL"));
        for id in [p::ARG, p::SP, p::FP].into_iter().chain((!calls).then_some(p::RETVAL)) {
            lives[id as usize].given = false;
        }
    }
    for (life, info) in lives.iter_mut().zip(ctx.vars) {
        if info.input {
            (life.escapes, life.given) = (true, true);
        }
    }
    for (id, v) in obj.vars.iter().enumerate() {
        if ctx.attrs(v.attrs).iter().any(|a| obj.strings.get(a.name) == Some("Output")) {
            lives[ctx.vars[id + predefined::FIRST_VAR as usize].root as usize].escapes = true;
        }
    }
    for (i, inst) in obj.insts.iter().enumerate() {
        list.for_each_access(i, |a| {
            let bytes = ctx.vars[a.root as usize].root_bytes[1];
            let l = &mut lives[a.root as usize];
            l.used = true;
            let bits = chunk_mask(a.start, a.end, bytes);
            if a.write {
                l.written |= bits;
                if l.first_write == 0 {
                    l.first_write = i as u32 + 1;
                }
            } else {
                // A raw source: at least its first byte, maybe everything after it.
                l.read |= if a.dense { bits } else { u64::MAX };
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
                (l.escapes, l.given, l.used) = (true, true, true);
            }
        }
    }
    lives
}

fn lint_uninitialised(ctx: &mut Ctx, list: &Accesses, lives: &[Life], loops: &[(u32, u32)]) {
    let obj = ctx.obj;
    let mut said = vec![false; lives.len()];
    for (i, inst) in obj.insts.iter().enumerate() {
        // Compared with itself, any value will do: so the reference compiler asks which channels are active.
        if inst.op == Op::Cmp && obj.slot(inst, SlotName::Src0) == obj.slot(inst, SlotName::Src1) {
            continue;
        }
        let mut found: Option<Access> = None;
        list.for_each_access(i, |a| {
            let l = &lives[a.root as usize];
            if a.write || l.given || said[a.root as usize] {
                return;
            }
            let bits = chunk_mask(a.start, a.start + 1, ctx.vars[a.root as usize].root_bytes[1]);
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
    let mut last: Recent<LastWrite> = Recent::new(lives.len());
    let mut dead: Vec<(usize, usize, u32, Option<usize>)> = Vec::new();
    let mut said = vec![false; lives.len()];
    for (i, inst) in obj.insts.iter().enumerate() {
        if matches!(inst.desc().family, Family::ControlFlow) {
            last.clear();
            continue;
        }
        let pure = inst.desc().effect == Effect::None;
        let exec = ctx.exec(inst).unwrap_or(Exec::SCALAR_NM);
        let whole = !is_predicated(ctx, inst) || inst.op == Op::Sel;
        let indirect = obj.ops(inst).iter().any(|o| matches!(o, Operand::Indirect { .. }));
        if indirect {
            last.clear();
        }
        list.for_each_access(i, |a| {
            if !a.write {
                last.remove(a.root);
            }
        });
        list.for_each_access(i, |a| {
            let l = &lives[a.root as usize];
            if !a.write || l.escapes {
                return;
            }
            if let Some(w) = last.get(a.root)
                && whole
                && a.dense
                && a.start <= w.access.start
                && w.access.end <= a.end
                && (exec.mask.no_mask() || (exec == w.exec))
            {
                dead.push((w.inst, w.access.at, a.root, Some(i)));
            }
            if !pure {
                last.remove(a.root);
                return;
            }
            let bytes = ctx.vars[a.root as usize].root_bytes[1];
            if l.read & chunk_mask(a.start, a.end, bytes) == 0 && !said[a.root as usize] {
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

/// Address variables, predicates, surfaces and samplers: one life each, whatever element is meant.
#[derive(Clone, Copy, Default)]
struct SimpleLife {
    /// First write and first read, as instruction index + 1; 0 for none.
    first_write: u32,
    first_read: u32,
    /// The operands of these.
    at: [usize; 2],
    /// Has a value from elsewhere.
    given: bool,
}

const KINDS: usize = 4;
const ADDRESS: usize = 0;
const PREDICATE: usize = 1;
const SURFACE: usize = 2;
const SAMPLER: usize = 3;

fn simple_variables(ctx: &mut Ctx, loops: &[(u32, u32)]) {
    let obj = ctx.obj;
    let mut lives: [Vec<SimpleLife>; KINDS] =
        [obj.addresses.len(), obj.predicates.len(), obj.surfaces.len(), obj.samplers.len()]
            .map(|n| vec![SimpleLife::default(); n]);
    for input in &obj.inputs {
        let (kind, first) = match input.kind & 7 {
            1 => (SAMPLER, 0),
            2 => (SURFACE, predefined::FIRST_SURFACE as u32),
            _ => continue,
        };
        if let Some(l) = input.id.checked_sub(first).and_then(|i| lives[kind].get_mut(i as usize)) {
            l.given = true;
        }
    }
    for (i, inst) in obj.insts.iter().enumerate() {
        for (k, slot, _, op) in ctx.slot_operands(inst) {
            let (kind, index) = match *op {
                Operand::Address { id, .. } | Operand::Indirect { addr: id, .. } => (ADDRESS, id as usize),
                Operand::Pred(p) | Operand::Predicate(p) if p.id > 0 => (PREDICATE, p.id as usize - 1),
                Operand::Surface(id) if id >= predefined::FIRST_SURFACE => {
                    (SURFACE, (id - predefined::FIRST_SURFACE) as usize)
                }
                Operand::State { class: StateClass::Surface, id, .. }
                    if id >= predefined::FIRST_SURFACE as u16 =>
                {
                    (SURFACE, id as usize - predefined::FIRST_SURFACE as usize)
                }
                Operand::Sampler(id) => (SAMPLER, id as usize),
                Operand::State { class: StateClass::Sampler, id, .. } => (SAMPLER, id as usize),
                _ => continue,
            };
            let Some(l) = lives[kind].get_mut(index) else { continue };
            let overflow = matches!(op, Operand::Pred(_)) && inst.op == Op::Add3o;
            let write = overflow || (slot.role == Role::Write && !matches!(op, Operand::Indirect { .. }));
            let first = if write { &mut l.first_write } else { &mut l.first_read };
            if *first == 0 {
                *first = i as u32 + 1;
                l.at[usize::from(!write)] = k;
            }
            // ADDR_ADD of a state variable takes its address.
            l.given |= inst.op == Op::AddrAdd && matches!(op, Operand::State { .. });
        }
    }
    let tables = [&obj.addresses, &obj.predicates, &obj.surfaces, &obj.samplers];
    for (kind, lives) in lives.iter().enumerate() {
        for (l, v) in lives.iter().zip(tables[kind]) {
            let name = obj.strings.get(v.name).unwrap_or("?");
            let (read, write) = (l.first_read, l.first_write);
            let unset = write == 0 || (write >= read && !same_loop(loops, read.max(1) - 1, write - 1));
            if read != 0 && !l.given && unset {
                let i = read as usize - 1;
                ctx.inst = Some(i);
                let (code, message) = if kind >= SURFACE {
                    (Code::STATE_UNBOUND, format!("`{name}` is neither an input nor assigned before"))
                } else {
                    (Code::READ_BEFORE_WRITE, format!("`{name}` is read before anything is written to it"))
                };
                let f = Finding::new(code, ctx.on, obj.op_span(&obj.insts[i], l.at[1]), message);
                ctx.push(f.also(v.span, "declared here"));
            } else if read == 0 && write != 0 && kind < SURFACE {
                let i = write as usize - 1;
                ctx.inst = Some(i);
                let span = obj.op_span(&obj.insts[i], l.at[0]);
                let message = format!("what is written to `{name}` is never read");
                ctx.push(Finding::new(Code::DEAD_WRITE, ctx.on, span, message));
            }
        }
    }
}

/// Uses of a variable after its LIFETIME ended, within a block.
fn lint_uses_after_lifetime(ctx: &mut Ctx, list: &Accesses) {
    let obj = ctx.obj;
    let mut ended: HashMap<(u32, u32), usize> = HashMap::new();
    for (i, inst) in obj.insts.iter().enumerate() {
        if inst.desc().family == Family::ControlFlow {
            ended.clear();
            continue;
        }
        if inst.op == Op::Lifetime {
            let part = |name: FieldOrPart| field_or_part(ctx, inst, name).map_or(0, |p| p.0);
            let (end, class, id) =
                (part(PartName::End.into()), part(PartName::Class.into()), part(SlotName::Variable.into()));
            let id = if class == 0 { ctx.var(id).map_or(id, |v| v.root) } else { id };
            if end != 0 {
                ended.insert((class, id), i);
            } else {
                ended.remove(&(class, id));
            }
            continue;
        }
        if ended.is_empty() {
            continue;
        }
        let mut found: Vec<(usize, usize)> = Vec::new();
        list.for_each_access(i, |a| found.extend(ended.remove(&(0, a.root)).map(|e| (a.at, e))));
        for (k, op) in obj.ops(inst).iter().enumerate() {
            let key = match *op {
                Operand::Address { id, .. } | Operand::Indirect { addr: id, .. } => (1, id as u32),
                Operand::Pred(p) | Operand::Predicate(p) if p.id > 0 => (2, p.id as u32),
                _ => continue,
            };
            found.extend(ended.remove(&key).map(|e| (k, e)));
        }
        for (k, e) in found {
            ctx.inst = Some(i);
            let span = obj.op_span(inst, k);
            let f =
                Finding::new(Code::LIFETIME_OUTSIDE, ctx.on, span, "a variable is used after its lifetime");
            ctx.push(f.also(obj.insts[e].span, "which ends here"));
        }
    }
}

fn lint_unreachable(ctx: &mut Ctx, g: &Graph) {
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
                stack.extend(
                    branch_targets(ctx, inst).filter_map(|(_, l)| g.label_target(l)).map(|t| t as usize),
                );
            }
            // An unpredicated goto that is not divergent leaves nothing behind.
            let gone = inst.op == Op::Goto && !is_predicated(ctx, inst);
            if never_falls_through(ctx, inst) || gone {
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

fn lint_unused(ctx: &mut Ctx, lives: &[Life]) {
    let obj = ctx.obj;
    let mut names: Vec<(&str, Span)> = Vec::new();
    let mut used = vec![false; lives.len()];
    let mut addresses = vec![false; obj.addresses.len()];
    // Of these the first is not a predicate.
    let mut predicates = vec![false; obj.predicates.len() + 1];
    // What no instruction owns may be anything: only their own operands are looked at.
    for op in obj.insts.iter().flat_map(|inst| obj.ops(inst)) {
        match *op {
            Operand::General { var, .. }
            | Operand::Raw { var, .. }
            | Operand::AddressOf { var, .. }
            | Operand::Handle { var, .. } => {
                used[var as usize] = true;
            }
            Operand::Address { id, .. } | Operand::Indirect { addr: id, .. } => addresses[id as usize] = true,
            Operand::Pred(p) | Operand::Predicate(p) => predicates[p.id as usize] = true,
            _ => {}
        }
    }
    // A variable is used if any alias of it is.
    for (i, v) in obj.vars.iter().enumerate().rev() {
        if v.alias != 0 && used[i + predefined::FIRST_VAR as usize] {
            used[v.alias as usize] = true;
        }
    }
    for (i, v) in obj.vars.iter().enumerate() {
        let id = i + predefined::FIRST_VAR as usize;
        if !used[id] && !lives[ctx.vars[id].root as usize].escapes {
            names.push((obj.var_name(id as u32), v.span));
        }
    }
    let simple = obj.addresses.iter().zip(&addresses).chain(obj.predicates.iter().zip(&predicates[1..]));
    for (v, used) in simple {
        if !used {
            names.push((obj.strings.get(v.name).unwrap_or("?"), v.span));
        }
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
