//! Declarations: variables, inputs, attributes, names.

use std::collections::HashMap;

use envisa_isa::{
    AttrRange, Module, ObjectKind, Platform, Platforms, Span, Type, TypeSet, limits, predefined,
};

use crate::context::{Ctx, SIZES};
use crate::{Code, Finding};

/// Shared local memory that `SLMSize` can ask for, in KB.
const SLM_KB: u32 = 64;

const VAR_TYPES: TypeSet = TypeSet::INT.union(TypeSet::FLOAT);

pub(crate) fn check(ctx: &mut Ctx) {
    check_counts(ctx);
    check_variables(ctx);
    check_simple_variables(ctx);
    check_attributes(ctx);
    check_inputs(ctx);
}

/// What holds of the module's objects together: how many there are, and what they are called.
pub(crate) fn module(module: &Module, on: Platforms) -> Vec<Finding> {
    let mut out = Vec::new();
    let kernels = module.objects.iter().filter(|o| o.kind == ObjectKind::Kernel).count();
    if kernels > limits::KERNELS {
        let last = module.objects.iter().enumerate().rfind(|(_, o)| o.kind == ObjectKind::Kernel);
        let (object, span) = last.map_or((0, Span::NONE), |(i, o)| (i, o.name_span));
        let message = format!("the module has {kernels} kernels; at most {} are allowed", limits::KERNELS);
        out.push(Finding { object, ..Finding::new(Code::TOO_MANY, on, span, message) });
    }
    let mut seen: HashMap<&str, Span> = HashMap::with_capacity(module.objects.len());
    for (object, o) in module.objects.iter().enumerate() {
        if let Some(first) = seen.insert(o.name.as_str(), o.name_span) {
            let message = format!("two kernels or functions are called `{}`", o.name);
            let f = Finding::new(Code::OBJECT_TWICE, on, o.name_span, message);
            out.push(Finding { object, ..f.also(first, "the other") });
        }
    }
    out
}

fn report(ctx: &mut Ctx, code: Code, span: Span, message: String) {
    let on = ctx.on;
    ctx.push(Finding::new(code, on, span, message));
}

fn check_counts(ctx: &mut Ctx) {
    let o = ctx.obj;
    for (n, max, what) in [
        (o.vars.len(), limits::GENERAL_VARIABLES, "general variables"),
        (o.addresses.len(), limits::ADDRESS_VARIABLES, "address variables"),
        (o.predicates.len(), limits::PREDICATE_VARIABLES, "predicates"),
        (o.samplers.len(), limits::SAMPLERS, "samplers"),
        (o.surfaces.len(), limits::SURFACES, "surfaces"),
        (o.inputs.len(), limits::INPUTS, "inputs"),
        (o.strings.len(), limits::STRINGS, "strings"),
    ] {
        if n > max {
            report(
                ctx,
                Code::TOO_MANY,
                o.name_span,
                format!("there are {n} {what}; at most {max} are allowed"),
            );
        }
    }
    if o.inputs.len() > limits::INPUTS_OF_REFERENCE {
        let message = format!(
            "the kernel has {} inputs; at most {} are sure to work",
            o.inputs.len(),
            limits::INPUTS_OF_REFERENCE
        );
        report(ctx, Code::MANY_INPUTS, o.name_span, message);
    }
    if o.name.len() > limits::KERNEL_NAME_BYTES || o.name.is_empty() {
        let message =
            format!("a name has {} characters; legal are 1 to {}", o.name.len(), limits::KERNEL_NAME_BYTES);
        report(ctx, Code::NAME_LENGTH, o.name_span, message);
    }
    for l in &o.labels {
        let n = o.strings.get(l.name).map_or(0, str::len);
        if n > limits::LABEL_NAME_BYTES {
            let message =
                format!("a label has {n} characters; at most {} are allowed", limits::LABEL_NAME_BYTES);
            report(ctx, Code::NAME_LENGTH, l.span, message);
        }
    }
}

fn check_variables(ctx: &mut Ctx) {
    let o = ctx.obj;
    for (i, v) in o.vars.iter().enumerate() {
        let id = predefined::FIRST_VAR + i as u32;
        let name = o.var_name(id);
        if name.len() > limits::VARIABLE_NAME_BYTES {
            let message = format!(
                "a name has {} characters; at most {} are allowed",
                name.len(),
                limits::VARIABLE_NAME_BYTES
            );
            report(ctx, Code::NAME_LENGTH, v.span, message);
        }
        if !VAR_TYPES.contains(v.ty) {
            report(ctx, Code::VAR_TYPE, v.span, format!("`{name}` has type {}", v.ty.name()));
            continue;
        }
        if v.elems == 0 || v.elems > limits::PAGE_VARIABLE_ELEMENTS {
            let message = format!(
                "`{name}` has {} elements, legal are 1 to {}",
                v.elems,
                limits::PAGE_VARIABLE_ELEMENTS
            );
            report(ctx, Code::VAR_ELEMENTS, v.span, message);
        } else {
            for (i, _, on) in SIZES {
                if v.bytes() > limits::PAGE_VARIABLE_BYTES[i] {
                    let message = format!(
                        "`{name}` has {} bytes, at most {}",
                        v.bytes(),
                        limits::PAGE_VARIABLE_BYTES[i]
                    );
                    ctx.push(Finding::new(Code::VAR_BYTES, on, v.span, message));
                }
            }
        }
        if v.alias == 0 {
            if v.alias_offset != 0 {
                let message = format!("`{name}` aliases nothing at offset {}", v.alias_offset);
                report(ctx, Code::ALIAS_OFFSET_UNUSED, v.span, message);
            }
        } else {
            check_alias(ctx, id);
        }
        var_attrs(ctx, v.attrs);
    }
}

fn check_alias(ctx: &mut Ctx, id: u32) {
    let o = ctx.obj;
    let (Some(v), Some(info)) = (o.var(id), ctx.var(id)) else { return };
    let name = o.var_name(id);
    let base_name = o.var_name(v.alias);
    if v.alias < predefined::FIRST_VAR {
        use predefined::var as p;
        let ok = [p::R0, p::ARG, p::RETVAL, p::IMPL_ARG_BUF_PTR, p::LOCAL_ID_BUF_PTR].contains(&v.alias);
        if !ok {
            let message = format!("`{name}` aliases {base_name}, which cannot be aliased");
            report(ctx, Code::ALIAS_PREDEFINED, v.span, message);
            return;
        }
    }
    if !(v.alias_offset as u32).is_multiple_of(v.ty.size()) {
        let message =
            format!("`{name}` of type {} lies at offset {} of {base_name}", v.ty.name(), v.alias_offset);
        report(ctx, Code::ALIAS_MISALIGNED, v.span, message);
    }
    let Some(base) = ctx.var(v.alias) else { return };
    let align = o.var(info.root).map(|r| r.align);
    for (i, grf, on) in SIZES {
        let end = v.alias_offset as u32 + v.bytes();
        if end > base.bytes[i] {
            let f = Finding::new(
                Code::ALIAS_OUTSIDE,
                on,
                v.span,
                format!("`{name}` ends at byte {end} of `{base_name}`, which has {}", base.bytes[i]),
            );
            ctx.push(match o.var(v.alias) {
                Some(b) => f.also(b.span, "declared here"),
                None => f,
            });
        }
        if let Some(align) = align
            && base.root_bytes[i] < grf
            && align.bytes(grf).max(ctx.var(info.root).map_or(1, |r| r.ty.size())) < v.ty.size()
        {
            let message = format!(
                "`{name}` of type {} aliases `{}`, which is aligned to {} bytes",
                v.ty.name(),
                o.var_name(info.root),
                align.bytes(grf)
            );
            ctx.push(Finding::new(Code::ALIAS_BASE_ALIGN, on, v.span, message));
        }
    }
}

fn check_simple_variables(ctx: &mut Ctx) {
    let o = ctx.obj;
    for a in &o.addresses {
        // 32 from Xe3P on.
        let wide = a.elems == 2 * limits::ADDRESS_ELEMENTS;
        let on = if wide { Platforms::before(Platform::Xe3p) } else { Platforms::ALL };
        if (a.elems == 0 || a.elems > limits::ADDRESS_ELEMENTS) && ctx.on.intersect(on) != Platforms::NONE {
            let message = format!("an address variable of {} elements, legal are 1 to 16", a.elems);
            ctx.push(Finding::new(Code::ADDRESS_ELEMENTS, on, a.span, message));
        }
    }
    for p in &o.predicates {
        if !p.elems.is_power_of_two() || p.elems > 32 {
            let message = format!("a predicate of {} elements, legal are 1, 2, 4, 8, 16, 32", p.elems);
            report(ctx, Code::PREDICATE_ELEMENTS, p.span, message);
        }
    }
    for s in o.samplers.iter().chain(&o.surfaces) {
        if s.elems == 0 {
            report(ctx, Code::STATE_ELEMENTS, s.span, "a state variable without elements".into());
        }
    }
    for v in o.addresses.iter().chain(&o.predicates).chain(&o.samplers).chain(&o.surfaces) {
        let n = o.strings.get(v.name).map_or(0, str::len);
        if n > limits::VARIABLE_NAME_BYTES {
            let message = format!("a name of {n} characters, at most {}", limits::VARIABLE_NAME_BYTES);
            report(ctx, Code::NAME_LENGTH, v.span, message);
        }
    }
}

fn var_attrs(ctx: &mut Ctx, range: AttrRange) {
    let o = ctx.obj;
    for a in ctx.attrs(range) {
        if o.strings.get(a.name) == Some("Scope") && !matches!(a.int(), Some(0 | 1)) {
            report(ctx, Code::ATTR_VALUE, a.span, "Scope is 0 (kernel) or 1 (subroutine)".into());
        }
    }
}

fn check_attributes(ctx: &mut Ctx) {
    let o = ctx.obj;
    let mut seen: Vec<(&str, Span)> = Vec::new();
    for a in &o.attrs {
        let Some(name) = o.strings.get(a.name) else { continue };
        if name.len() > limits::ATTRIBUTE_NAME_BYTES
            || name.is_empty()
            || !name.bytes().all(|b| b.is_ascii_graphic() || b == b' ')
        {
            let message =
                format!("an attribute's name has 1 to {} printable characters", limits::ATTRIBUTE_NAME_BYTES);
            report(ctx, Code::NAME_LENGTH, a.span, message);
        }
        // Some are lists by nature in practice; those the pages define are not.
        let known =
            ["Target", "SimdSize", "SLMSize", "SpillMemOffset", "ArgSize", "RetValSize", "OutputAsmPath"];
        if known.contains(&name) {
            if let Some((_, first)) = seen.iter().find(|(n, _)| *n == name) {
                let f = Finding::new(Code::ATTR_TWICE, ctx.on, a.span, format!("{name} is given twice"));
                let first = *first;
                ctx.push(f.also(first, "first here"));
            }
            seen.push((name, a.span));
        }
        let Some(n) = a.int() else {
            if ["Target", "SimdSize", "SLMSize", "SpillMemOffset", "ArgSize", "RetValSize"].contains(&name) {
                let message = format!("{name} has {} bytes", a.value.len());
                let f = Finding::new(Code::ATTR_VALUE, ctx.on, a.span, message);
                ctx.push(f.help("an integer of at most 4 bytes"));
            }
            continue;
        };
        if name == "SpillMemOffset" {
            for (_, grf, on) in SIZES {
                if !n.is_multiple_of(grf) {
                    let f = Finding::new(Code::ATTR_VALUE, on, a.span, format!("{name} is {n}"));
                    ctx.push(f.help(format!("a multiple of a register's {grf} bytes")));
                }
            }
        }
        let bad = match name {
            "SimdSize" if ![0, 1, 8, 16, 32].contains(&n) => Some("8, 16 or 32"),
            "SLMSize" if n > SLM_KB => Some("0 to 64 (KB)"),
            "ArgSize" if n > limits::ARG_GRFS => Some("0 to 32 (registers)"),
            "RetValSize" if n > limits::RETVAL_GRFS => Some("0 to 12 (registers)"),
            "Target" if a.value.len() <= 1 && n > 2 => Some("0 (cm), 1 (3d), 2 (cs)"),
            _ => None,
        };
        if let Some(legal) = bad {
            let f = Finding::new(Code::ATTR_VALUE, ctx.on, a.span, format!("{name} is {n}"));
            ctx.push(f.help(legal));
        }
    }
    if o.kind == ObjectKind::Function {
        for name in ["ArgSize", "RetValSize"] {
            if o.attr(name).is_none() {
                report(
                    ctx,
                    Code::FUNCTION_ATTRS,
                    o.name_span,
                    format!("the function lacks the attribute {name}"),
                );
            }
        }
        let (input, ret) = o.function_sizes;
        if input as u32 > limits::ARG_GRFS || ret as u32 > limits::RETVAL_GRFS {
            let message = format!("a function of {input} argument and {ret} result registers");
            let f = Finding::new(Code::FUNCTION_SIZES, ctx.on, o.name_span, message);
            ctx.push(f.help("at most 32 and 12"));
        }
    }
}

fn check_inputs(ctx: &mut Ctx) {
    let o = ctx.obj;
    let mut ranges: Vec<(i32, i32, usize)> = Vec::with_capacity(o.inputs.len());
    let mut implicit: Option<Span> = None;
    for (i, input) in o.inputs.iter().enumerate() {
        let provenance = input.kind >> 3;
        let class = input.kind & 7;
        if provenance != 0 {
            implicit = implicit.or(Some(input.span));
        } else if let Some(first) = implicit {
            let f =
                Finding::new(Code::INPUT_KIND, ctx.on, input.span, "an explicit input after an implicit one");
            ctx.push(f.also(first, "implicit"));
        }
        let (ty, elems) = match class {
            0 => match o.var(input.id) {
                Some(v) => {
                    if v.alias != 0 {
                        let message = format!("the input `{}` is an alias", o.var_name(input.id));
                        report(ctx, Code::INPUT_ALIASED, input.span, message);
                    }
                    (v.ty, v.elems as u32)
                }
                None => {
                    let message = format!("the input is {}, a predefined variable", o.var_name(input.id));
                    report(ctx, Code::INPUT_ALIASED, input.span, message);
                    continue;
                }
            },
            1 => (Type::Ud, o.samplers.get(input.id as usize).map_or(1, |s| s.elems) as u32),
            _ => {
                let index = (input.id as usize).checked_sub(predefined::FIRST_SURFACE as usize);
                (Type::Ud, index.and_then(|i| o.surfaces.get(i)).map_or(1, |s| s.elems) as u32)
            }
        };
        implicit_shape(ctx, input.span, provenance, class, ty, elems);
        let (offset, size) = (input.offset as i32, input.size as u32);
        if size != ty.size() * elems {
            let message = format!("an input of {size} bytes for {elems} x {} bytes", ty.size());
            report(ctx, Code::INPUT_SIZE, input.span, message);
        }
        if offset % ty.size() as i32 != 0 {
            let message = format!("an input of type {} at offset {offset}", ty.name());
            report(ctx, Code::INPUT_MISALIGNED, input.span, message);
        }
        for (_, grf, on) in SIZES {
            if offset < 0 || offset as u32 + size > limits::MOST_REGISTERS * grf {
                let message = format!("an input at offset {offset} of {} registers", limits::MOST_REGISTERS);
                ctx.push(Finding::new(Code::INPUT_OUTSIDE, on, input.span, message));
                continue;
            }
            if class != 0 {
                continue;
            }
            let at = offset as u32 % grf;
            if size >= grf && at != 0 {
                let message = format!("an input of {size} bytes at offset {offset}");
                let f = Finding::new(Code::INPUT_GRF_ALIGNED, on, input.span, message);
                ctx.push(f.help(format!("inputs of a register or more start at a multiple of {grf}")));
            } else if size < grf && at + size > grf {
                let message =
                    format!("an input of {size} bytes at offset {offset} crosses a register of {grf}");
                ctx.push(Finding::new(Code::INPUT_CROSSES_GRF, on, input.span, message));
            }
        }
        ranges.push((offset, offset + size as i32, i));
    }
    ranges.sort_unstable();
    for w in ranges.windows(2) {
        let ((_, end, a), (start, _, b)) = (w[0], w[1]);
        if start < end {
            let f = Finding::new(
                Code::INPUT_OVERLAP,
                ctx.on,
                o.inputs[b].span,
                format!("two inputs share bytes {start} to {}", end - 1),
            );
            ctx.push(f.also(o.inputs[a].span, "the other"));
        }
    }
}

/// What the runtime passes for each kind of implicit input.
fn implicit_shape(ctx: &mut Ctx, span: Span, kind: u8, class: u8, ty: Type, elems: u32) {
    let (ok, wants) = match kind {
        1..=3 => (class == 0 && ty == Type::Ud && elems == 3, "a general variable of 3 ud"),
        4 => (class == 0 && ty == Type::Ub && elems == 16, "a general variable of 16 ub"),
        // Kind 5 is what the reference makes of every name.
        _ => return,
    };
    if !ok {
        let message = format!("an implicit input of kind {kind} of another shape");
        ctx.push(Finding::new(Code::IMPLICIT_SHAPE, ctx.on, span, message).help(wants));
    }
}
