//! The pass over a module: every rule, and the collection of findings.

use std::collections::HashMap;

use envisa_diag::Severity;
use envisa_isa::{Module, Object, Platforms, Type, predefined};

use crate::context::{Allowed, Ctx, Levels, VarInfo};
use crate::{
    Code, Finding, Options, declarations, flow, instruction_shape, lints, memory, operand, page_rules,
    structure,
};

/// Runs every rule.
pub(crate) fn run(module: &Module, options: &Options) -> Vec<Finding> {
    let on = options.platforms;
    let mut out = Vec::new();
    for d in structure::check(module) {
        // Never a matter of levels: nobody can walk such a module.
        let mut f = Finding::new(d.code, on, d.span, d.message);
        (f.object, f.inst) = (d.object, d.inst);
        out.push(f);
    }
    if !out.is_empty() || on == Platforms::NONE {
        return out;
    }
    let levels = Levels::new(options);
    let allowed = Allowed::new(&options.allowances);
    let functions: HashMap<&str, usize> =
        module.objects.iter().enumerate().map(|(i, o)| (o.name.as_str(), i)).collect();
    let mut together = declarations::module(module, on);
    together.sort_by_key(|f| f.object);
    let mut together = together.into_iter().peekable();
    for (object, obj) in module.objects.iter().enumerate() {
        let vars = var_table(obj);
        let simd = obj.attr("SimdSize").and_then(|a| a.int()).filter(|n| [8, 16, 32].contains(n));
        let mut ctx = Ctx {
            module,
            obj,
            object,
            vars: &vars,
            functions: &functions,
            simd,
            on,
            inst: None,
            allowed: &allowed,
            levels: &levels,
            out: Vec::new(),
            broken: Platforms::NONE,
        };
        while let Some(f) = together.next_if(|f| f.object == object) {
            ctx.push(f);
        }
        declarations::check(&mut ctx);
        for (i, inst) in obj.insts.iter().enumerate() {
            ctx.inst = Some(i);
            let desc = inst.desc();
            // Where the instruction does not exist, nothing more is said about it.
            let here = instruction_shape::check(&mut ctx, inst, desc);
            let asked = std::mem::replace(&mut ctx.on, here);
            operand::check(&mut ctx, inst, desc);
            page_rules::check(&mut ctx, inst, desc);
            memory::check(&mut ctx, inst, desc);
            ctx.on = asked;
        }
        ctx.inst = None;
        flow::check_flow_structure(&mut ctx);
        if options.lints {
            lints::check(&mut ctx);
        }
        let full = ctx.out.iter().any(|f| f.severity == Severity::Error);
        if !full && ctx.broken == on {
            let f = Finding::new(
                Code::NO_PLATFORM,
                on,
                obj.name_span,
                format!("no platform of the set runs `{}`", obj.name),
            );
            ctx.push(f.note("each of them is named by one of the warnings on this object"));
        }
        out.append(&mut limit_repeated_warnings(std::mem::take(&mut ctx.out), options.repeats));
    }
    out.sort_by_key(|f| (f.object, f.span().start, f.code));
    out
}

/// Leaves as many warnings of each rule as asked for; the last one says how many more there were.
fn limit_repeated_warnings(mut found: Vec<Finding>, repeats: usize) -> Vec<Finding> {
    found.sort_by_key(|f| f.span().start);
    // By code: how many, and where the last one kept is.
    let mut count: Vec<(usize, usize)> = Vec::new();
    let mut out: Vec<Finding> = Vec::with_capacity(found.len().min(64));
    for f in found {
        if f.severity == Severity::Error {
            out.push(f);
            continue;
        }
        let code = f.code.0 as usize;
        if count.len() <= code {
            count.resize(code + 1, (0, 0));
        }
        let (n, last) = &mut count[code];
        *n += 1;
        if *n <= repeats.max(1) {
            *last = out.len();
            out.push(f);
        }
    }
    for (n, last) in count {
        if n > repeats.max(1) {
            out[last].notes.push(format!("and {} more like this", n - repeats.max(1)));
        }
    }
    out
}

/// Shapes of all variables by id.
fn var_table(obj: &Object) -> Vec<VarInfo> {
    let n = predefined::FIRST_VAR as usize + obj.vars.len();
    let mut out: Vec<VarInfo> = Vec::with_capacity(n);
    let mut input = vec![false; n];
    for i in obj.inputs.iter().filter(|i| i.kind & 7 == 0) {
        if let Some(flag) = input.get_mut(i.id as usize) {
            *flag = true;
        }
    }
    for id in 0..n as u32 {
        let shape = |grf| obj.var_shape(id, grf).unwrap_or((Type::Ud, 0));
        let (ty, b32) = shape(32);
        let bytes = [b32, shape(64).1];
        let mut info =
            VarInfo { ty, bytes, root: id, offset: 0, root_bytes: bytes, input: input[id as usize] };
        // Aliases point backwards: the base is already in the table.
        if let Some(v) = obj.var(id)
            && v.alias != 0
            && let Some(base) = out.get(v.alias as usize)
        {
            info.root = base.root;
            info.offset = base.offset.saturating_add(v.alias_offset as u32);
            info.root_bytes = base.root_bytes;
            info.input |= base.input;
        }
        out.push(info);
    }
    out
}
