//! Operands against their slots: classes, types, regions, modifiers, places in variables.

use envisa_isa::desc::{
    Classes, Family, InstDesc, Role, Saturation, Slot, SlotKind, SourceModifiers, SurfaceRule,
};
use envisa_isa::footprint::register_bytes;
use envisa_isa::{
    Inst, Modifier, Op, Operand, Platform, Platforms, Pred, Region, Span, StateClass, Type, predefined,
};

use crate::context::{Ctx, SIZES, WIDE};
use crate::operand_types::{check_operand_type, check_type_combination, scalar_operands};
use crate::page_rules::page_traits;
use crate::{Code, Finding};

pub(crate) fn check(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    if ctx.on == Platforms::NONE {
        return;
    }
    let exec = match ctx.exec(inst) {
        Some(e) if !scalar_operands(desc.family) => e.channels(),
        _ => 1,
    };
    for (k, slot, kind, op) in ctx.slot_operands(inst) {
        match kind {
            SlotKind::Vector(classes) => {
                let span = ctx.obj.op_span(inst, k);
                if !class(ctx, desc, slot, *classes, op, span) || no_scales(slot, op) {
                    continue;
                }
                check_operand_type(ctx, inst, desc, slot, op, span);
                check_modifier(ctx, desc, slot, op, span);
                check_operand_place(ctx, inst, desc, slot, op, exec, span);
            }
            SlotKind::Raw { nullable } => {
                let span = ctx.obj.op_span(inst, k);
                check_raw_operand(ctx, inst, k, slot, *nullable, op, span);
                check_operand_type(ctx, inst, desc, slot, op, span);
            }
            SlotKind::Surface { allowed: SurfaceRule { address, .. } } | SlotKind::Sampler { address } => {
                if let Some(register) = op.handle() {
                    let span = ctx.obj.op_span(inst, k);
                    crate::memory::state_address(ctx, desc, slot.name, *address, &register, span);
                    check_operand_place(ctx, inst, desc, slot, &register, 1, span);
                }
            }
            _ => {}
        }
    }
    check_type_combination(ctx, inst, desc);
}

fn class_of(op: &Operand) -> (Classes, &'static str) {
    match op {
        Operand::General { .. } => (Classes::GENERAL, "a general operand"),
        Operand::Indirect { .. } => (Classes::INDIRECT, "an indirect operand"),
        Operand::Imm { .. } => (Classes::IMM, "an immediate"),
        Operand::Address { .. } => (Classes::ADDRESS, "an address operand"),
        Operand::Predicate(_) => (Classes::PREDICATE, "a predicate"),
        Operand::AddressOf { .. } => (Classes::ADDRESS_OF, "the address of a variable"),
        _ => (Classes::STATE, "a state operand"),
    }
}

fn class(ctx: &mut Ctx, desc: &InstDesc, slot: &Slot, classes: Classes, op: &Operand, span: Span) -> bool {
    let (c, name) = class_of(op);
    // The binary writes `&V` as a general operand.
    let written = c == Classes::GENERAL && classes.has(Classes::ADDRESS_OF);
    if classes.has(c) || written {
        return true;
    }
    let legal: Vec<&str> = [
        (Classes::GENERAL, "general"),
        (Classes::INDIRECT, "indirect"),
        (Classes::IMM, "immediate"),
        (Classes::ADDRESS, "address"),
        (Classes::PREDICATE, "predicate"),
        (Classes::ADDRESS_OF, "address-of"),
        (Classes::STATE, "state"),
    ]
    .into_iter()
    .filter(|(c, _)| classes.has(*c))
    .map(|(_, n)| n)
    .collect();
    let f = Finding::new(
        Code::OPERAND_CLASS,
        ctx.on,
        span,
        format!("{} takes no such `{}`", desc.name, slot.name),
    )
    .here(format!("this is {name}"))
    .help(format!("legal: {}", legal.join(", ")));
    ctx.push(f);
    false
}

/// Are the scales of a matrix left out? That is said by a `%null` in a place that is not a raw operand's.
fn no_scales(slot: &Slot, op: &Operand) -> bool {
    use envisa_isa::desc::{Bytes, SystolicOperand::*};
    matches!(slot.bytes, Bytes::Systolic(WeightScales | ActivationScales))
        && matches!(op, Operand::General { var: predefined::var::NULL, .. })
}

fn check_modifier(ctx: &mut Ctx, desc: &InstDesc, slot: &Slot, op: &Operand, span: Span) {
    let m = op.modifier();
    if m == Modifier::None {
        return;
    }
    if slot.role == Role::Write || slot.role == Role::ReadWrite {
        if m != Modifier::Sat {
            let f = Finding::new(
                Code::MODIFIER_PLACE,
                ctx.on,
                span,
                "a destination cannot have a source modifier",
            );
            ctx.push(f);
            return;
        }
        let float = ctx.type_of(op).is_some_and(|t| t.is_float());
        let ok = match desc.modifiers.saturation {
            Saturation::Yes => true,
            Saturation::No => false,
            Saturation::FloatOnly => float,
        };
        if !ok {
            let what = if desc.modifiers.saturation == Saturation::No {
                format!("{} does not saturate", desc.name)
            } else {
                format!("{} saturates floating-point destinations only", desc.name)
            };
            ctx.push(Finding::new(Code::SATURATION, ctx.on, span, what));
        }
        return;
    }
    if m == Modifier::Sat {
        ctx.push(Finding::new(Code::MODIFIER_PLACE, ctx.on, span, "a source cannot saturate"));
        return;
    }
    if !matches!(op, Operand::General { .. } | Operand::Indirect { .. }) {
        let f = Finding::new(
            Code::MODIFIER_PLACE,
            ctx.on,
            span,
            "source modifiers go with general and indirect operands only",
        );
        ctx.push(f);
        return;
    }
    let ok = match desc.modifiers.source {
        SourceModifiers::No => false,
        SourceModifiers::Arithmetic => m != Modifier::Not,
        SourceModifiers::Logic => m == Modifier::Not,
    };
    if !ok {
        let legal = match desc.modifiers.source {
            SourceModifiers::No => "none",
            SourceModifiers::Arithmetic => "(-), (abs), (-abs)",
            SourceModifiers::Logic => "(~)",
        };
        let f = Finding::new(
            Code::SOURCE_MODIFIER,
            ctx.on,
            span,
            format!("{} does not take this source modifier", desc.name),
        )
        .help(format!("legal: {legal}"));
        ctx.push(f);
    }
}

/// Offset of the last byte a source region touches, from its first, plus one.
pub(crate) fn region_extent(region: Region, exec: u32, size: u32) -> Option<u32> {
    let h = region.hstride().unwrap_or(0);
    let w = region.width().unwrap_or(1).clamp(1, exec.max(1));
    let v = region.vstride().unwrap_or(0);
    let rows = (exec / w).max(1);
    ((rows - 1) * v + (w - 1) * h).checked_mul(size)?.checked_add(size)
}

pub(crate) fn dst_extent(region: Region, exec: u32, size: u32) -> u32 {
    (exec.max(1) - 1) * region.hstride().unwrap_or(1) * size + size
}

fn check_operand_place(
    ctx: &mut Ctx,
    inst: &Inst,
    desc: &InstDesc,
    slot: &Slot,
    op: &Operand,
    exec: u32,
    span: Span,
) {
    let is_dst = slot.role == Role::Write;
    match *op {
        Operand::General { var, row, col, region, .. } => {
            predefined_use(ctx, var, (row, col), is_dst, span);
            let Some(info) = ctx.var(var) else { return };
            // Where regions are the instruction's own matter, the first element lies inside all the same.
            let scalar = scalar_operands(desc.family) || page_traits(inst.op).own_region;
            // A call's address has one like any source.
            let has_region = !scalar || desc.family == Family::ControlFlow;
            if has_region && !self::check_region(ctx, region, exec, is_dst, false, span) {
                return;
            }
            let size = info.ty.size();
            let bytes = if scalar {
                Some(size)
            } else if is_dst {
                Some(dst_extent(region, exec, size))
            } else {
                region_extent(region, exec, size)
            };
            let Some(bytes) = bytes else { return };
            check_bounds(ctx, info, var, (row, col), bytes, span);
        }
        Operand::Indirect { addr, offset, byte_offset, region, .. } => {
            if !(-512..=511).contains(&byte_offset) {
                let f = Finding::new(
                    Code::INDIRECT_OFFSET,
                    ctx.on,
                    span,
                    format!("the indirect offset is {byte_offset} bytes"),
                );
                ctx.push(f.help("-512 to 511"));
            }
            let scalar = scalar_operands(desc.family);
            if !scalar && !self::check_region(ctx, region, exec, is_dst, true, span) {
                return;
            }
            // With a vertical stride one address; without, one for each row.
            let needs = match (is_dst || scalar, region.vstride(), region.width()) {
                (true, ..) | (false, Some(_), _) => 1,
                (false, None, Some(w)) => (exec / w.max(1)).max(1),
                (false, None, None) => exec,
            };
            address_elements(ctx, Code::INDIRECT_ADDRESSES, addr, (offset.into(), needs), span);
        }
        Operand::Address { id, offset, width_log2, .. } => {
            if width_log2 > 4 {
                let f = Finding::new(
                    Code::ADDRESS_WIDTH,
                    ctx.on,
                    span,
                    "an address operand cannot have 32 elements",
                );
                ctx.push(f.help("at most 16"));
                return;
            }
            // A destination's width is ignored: it has as many elements as there are channels.
            let n = if is_dst { exec } else { 1 << width_log2 };
            address_elements(ctx, Code::ADDRESS_RANGE, id, (offset.into(), n), span);
        }
        Operand::AddressOf { var, offset } => {
            let Some(info) = ctx.var(var) else { return };
            for (i, _, on) in SIZES {
                if offset as u32 >= info.bytes[i].max(1) {
                    let f = Finding::new(
                        Code::OUTSIDE_VARIABLE,
                        on,
                        span,
                        format!("the operand begins at byte {offset} of a variable of {}", info.bytes[i]),
                    );
                    ctx.push(f.also(var_span(ctx, var), "declared here"));
                    break;
                }
            }
        }
        Operand::Imm { ty, bits } => {
            imm_range(ctx, ty, bits, span);
            let holds = match ty {
                Type::V | Type::Uv => 8,
                Type::Vf => 4,
                _ => exec,
            };
            if exec > holds {
                let message = format!("an immediate of type {} cannot serve {exec} channels", ty.name());
                let f = Finding::new(Code::PACKED_WIDTH, ctx.on, span, message);
                ctx.push(f.here(format!("it has {holds} elements")));
            }
        }
        Operand::Predicate(p) => predicate_bits(ctx, inst, p, span),
        Operand::State { class, id, offset } if inst.op == Op::Movs => {
            state_elements(ctx, (class, id), offset as u32, exec, span);
        }
        _ => {}
    }
}

/// Are `n` elements from `offset` on inside of an address variable?
fn address_elements(ctx: &mut Ctx, code: Code, id: u16, (offset, n): (u32, u32), span: Span) {
    let Some(a) = ctx.obj.addresses.get(id as usize) else { return };
    if offset + n > a.elems as u32 {
        let message = format!(
            "the operand names elements {offset} to {} of an address variable of {}",
            offset + n - 1,
            a.elems
        );
        let f = Finding::new(code, ctx.on, span, message).also(a.span, "declared here");
        ctx.push(f);
    }
}

/// A predicate has a bit for each channel.
fn predicate_bits(ctx: &mut Ctx, inst: &Inst, p: Pred, span: Span) {
    let e = ctx.exec(inst);
    if let (Some(v), Some(e)) = (ctx.obj.predicates.get(p.id as usize - 1), e)
        && !matches!(inst.op, Op::Mov)
        && e.mask.first_channel() + e.channels() > v.elems as u32
    {
        let last = e.mask.first_channel() + e.channels() - 1;
        let f = Finding::new(
            Code::PREDICATE_SIZE,
            ctx.on,
            span,
            format!("the operand names bits up to {last} of a predicate that has {}", v.elems),
        )
        .also(v.span, "declared here");
        ctx.push(f);
    }
}

/// A state variable has the elements that are moved.
fn state_elements(ctx: &mut Ctx, (class, id): (StateClass, u16), offset: u32, exec: u32, span: Span) {
    let list = match class {
        StateClass::Surface => (id as usize)
            .checked_sub(predefined::FIRST_SURFACE as usize)
            .and_then(|i| ctx.obj.surfaces.get(i)),
        StateClass::Sampler => ctx.obj.samplers.get(id as usize),
    };
    if let Some(v) = list
        && offset + exec > v.elems.max(1) as u32
    {
        let f = Finding::new(
            Code::ADDRESS_RANGE,
            ctx.on,
            span,
            format!(
                "the operand names elements {offset} to {} of a state variable of {}",
                offset + exec - 1,
                v.elems
            ),
        )
        .also(v.span, "declared here");
        ctx.push(f);
    }
}

/// An immediate of a small type with bits above it: the printed value is not the stored one.
fn imm_range(ctx: &mut Ctx, ty: Type, bits: u64, span: Span) {
    let bad = match ty {
        Type::Hf | Type::Bf => bits > 0xffff,
        Type::Uw => bits > 0xffff && bits < 0xffff_8000,
        Type::Ub => bits > 0xff && bits < 0xffff_ff80,
        Type::W => (0x1_0000..0xffff_8000).contains(&bits),
        Type::B => (0x100..0xffff_ff80).contains(&bits),
        _ => false,
    };
    if bad {
        let f =
            Finding::new(Code::IMM_RANGE, ctx.on, span, format!("{bits:#x} does not fit type {}", ty.name()));
        ctx.push(f);
    }
}

fn predefined_use(ctx: &mut Ctx, var: u32, place: (u8, u8), is_dst: bool, span: Span) {
    use predefined::var as v;
    let Some(info) = ctx.var(var) else { return };
    if is_dst && info.input {
        let name = ctx.obj.var_name(info.root);
        let f = Finding::new(Code::INPUT_WRITTEN, ctx.on, span, format!("`{name}` is an input"));
        ctx.push(f.also(var_span(ctx, info.root), "declared here").help("copy it to a variable of its own"));
    }
    // The root: writing an alias of %r0 writes %r0.
    let root = info.root;
    if root >= predefined::FIRST_VAR {
        return;
    }
    let name = predefined::VARS.get(root as usize).map_or("?", |p| p.name);
    let element = info.offset / 4 + place.1 as u32;
    match root {
        v::NULL if var == v::NULL => {
            ctx.push(Finding::new(Code::NULL_OPERAND, ctx.on, span, "%null cannot be a general operand"));
        }
        v::MSG0 => {
            let before = Platforms::before(Platform::Xe2);
            ctx.push(Finding::new(Code::RESERVED_VAR, before, span, format!("{name} is reserved")));
        }
        v::SCRATCHLOC if is_dst => {
            ctx.push(Finding::new(Code::READ_ONLY, ctx.on, span, format!("{name} is read-only")));
        }
        v::SCRATCHLOC => {
            let before = Platforms::before(Platform::Xe3p);
            let message = format!("{name} exists from Xe3P on");
            ctx.push(Finding::new(Code::PREDEFINED_PLATFORM, before, span, message));
        }
        v::IMPL_ARG_BUF_PTR | v::LOCAL_ID_BUF_PTR => {
            let f = Finding::new(
                Code::PREDEFINED_PLATFORM,
                Platforms::XEHP_UP,
                span,
                format!("{name} is valid before XeHP only"),
            );
            ctx.push(f.help("implicit arguments are an input there"));
        }
        v::TSC if is_dst && (place.0 > 0 || element >= 4) => {
            let message = format!("the pause counter of {name} exists from ICLLP on");
            let before = Platforms::ALL.without(Platforms::ICLLP_UP);
            ctx.push(Finding::new(Code::PREDEFINED_PLATFORM, before, span, message));
        }
        v::TSC
        | v::THREAD_X
        | v::THREAD_Y
        | v::GROUP_ID_X
        | v::GROUP_ID_Y
        | v::GROUP_ID_Z
        | v::R0
        | v::HW_ID
        | v::CE0
        | v::COLOR
            if is_dst =>
        {
            ctx.push(Finding::new(Code::READ_ONLY, ctx.on, span, format!("{name} is read-only")));
        }
        _ => {}
    }
}

fn check_region(ctx: &mut Ctx, r: Region, exec: u32, is_dst: bool, indirect: bool, span: Span) -> bool {
    let fail = |ctx: &mut Ctx, code, text: String, help: &str| {
        ctx.push(Finding::new(code, ctx.on, span, text).help(help.to_string()));
        false
    };
    if is_dst {
        if indirect && r.vstride().is_none() && r.width().is_some() {
            return fail(
                ctx,
                Code::MULTI_ADDRESS_DST,
                "a multi-address destination".into(),
                "one address: `<h>`",
            );
        }
        return match r.hstride() {
            None => fail(ctx, Code::REGION_MISSING, "a destination without a stride".into(), "`<1>`"),
            Some(0) => fail(ctx, Code::DST_STRIDE_ZERO, "a destination with stride 0".into(), "1, 2 or 4"),
            Some(h @ 8..) => {
                fail(ctx, Code::REGION_HSTRIDE, format!("the horizontal stride is {h}"), "0, 1, 2 or 4")
            }
            _ => true,
        };
    }
    if r.hstride().is_none() || (!indirect && (r.vstride().is_none() || r.width().is_none())) {
        return fail(
            ctx,
            Code::REGION_MISSING,
            "a source whose region lacks a part".into(),
            "`<vstride;width,hstride>`",
        );
    }
    if let Some(h @ 8..) = r.hstride() {
        return fail(ctx, Code::REGION_HSTRIDE, format!("the horizontal stride is {h}"), "0, 1, 2 or 4");
    }
    if let Some(w) = r.width() {
        if w == 0 || w == 32 {
            return fail(ctx, Code::REGION_WIDTH, format!("the region has width {w}"), "1, 2, 4, 8 or 16");
        }
        if w > exec {
            return fail(
                ctx,
                Code::EXEC_BELOW_WIDTH,
                format!("the region has width {w}, but the instruction has {exec} channels"),
                "a width of at most the execution size",
            );
        }
    }
    true
}

fn var_span(ctx: &Ctx, var: u32) -> Span {
    ctx.obj.var(var).map_or(Span::NONE, |v| v.span)
}

/// Rows and columns against registers and the variable.
fn check_bounds(
    ctx: &mut Ctx,
    info: crate::context::VarInfo,
    var: u32,
    at: (u8, u8),
    bytes: u32,
    span: Span,
) {
    let size = info.ty.size();
    let (row, col) = (at.0 as u32, at.1 as u32);
    let behind = |i: usize, grf: u32| info.offset + row * grf + col * size >= info.root_bytes[i].max(1);
    if SIZES.iter().all(|(i, grf, on)| ctx.on.intersect(*on) == Platforms::NONE || behind(*i, *grf)) {
        let bytes = SIZES
            .iter()
            .find(|s| ctx.on.intersect(s.2) != Platforms::NONE)
            .map_or(0, |s| info.root_bytes[s.0]);
        let message = format!(
            "the operand begins at element ({row},{col}) of `{}`, whose storage has {bytes} bytes",
            ctx.obj.var_name(var)
        );
        let f = Finding::new(Code::STARTS_OUTSIDE, ctx.on, span, message);
        ctx.push(f.also(var_span(ctx, var), "declared here"));
        return;
    }
    let mut said = false;
    for (i, grf, on) in SIZES {
        let on = ctx.on.intersect(on);
        if on == Platforms::NONE || said {
            continue;
        }
        let narrow_too = |ctx: &Ctx| if i == 0 { ctx.on } else { ctx.on.intersect(WIDE) };
        if col * size >= grf && row > 0 {
            let f = Finding::new(
                Code::COLUMN_CROSSES_GRF,
                on,
                span,
                format!("column {col} lies beyond the register of {grf} bytes"),
            );
            ctx.push(f);
        }
        let first = info.offset + row * grf + col * size;
        let end = first.saturating_add(bytes);
        let registers = (end - 1) / grf - first / grf + 1;
        let owner = info.root_bytes[i];
        if registers > 2 && owner >= grf {
            let f = Finding::new(
                Code::TWO_GRFS,
                on,
                span,
                format!("the operand touches {registers} registers of {grf} bytes"),
            )
            .here(format!("bytes {first} to {}", end - 1))
            .help("use fewer channels, or smaller strides");
            ctx.push(f);
        }
        if end > owner || row * grf + col * size + bytes > info.bytes[i].max(owner - info.offset.min(owner)) {
            let f = Finding::new(
                Code::OUTSIDE_VARIABLE,
                narrow_too(ctx).intersect(on),
                span,
                format!(
                    "bytes {} to {} of `{}`, whose storage has {owner}",
                    first,
                    end - 1,
                    ctx.obj.var_name(var)
                ),
            );
            ctx.push(f.also(var_span(ctx, var), "declared here"));
            said = ctx.on.iter().count() == 1;
        }
    }
}

fn check_raw_operand(
    ctx: &mut Ctx,
    inst: &Inst,
    k: usize,
    slot: &Slot,
    nullable: bool,
    op: &Operand,
    span: Span,
) {
    let desc = inst.desc();
    let Operand::Raw { var, offset } = *op else { return };
    if var == predefined::var::NULL {
        if !nullable {
            let f = Finding::new(
                Code::RAW_NULL,
                ctx.on,
                span,
                format!("the `{}` of {} may not be %null", slot.name, desc.name),
            );
            ctx.push(f);
        }
        return;
    }
    predefined_use(ctx, var, (0, 0), slot.role == Role::Write, span);
    let Some(info) = ctx.var(var) else { return };
    for (i, grf, on) in SIZES {
        let at = info.offset + offset as u32;
        if info.root_bytes[i] >= grf && !at.is_multiple_of(grf) {
            let f = Finding::new(
                Code::RAW_ALIGNMENT,
                on,
                span,
                format!("a raw operand begins at byte {at}, inside a register of {grf} bytes"),
            );
            ctx.push(f);
        }
        if offset as u32 >= info.bytes[i] {
            let f = Finding::new(
                Code::RAW_OUTSIDE,
                on,
                span,
                format!("a raw operand begins at byte {offset} of a variable of {}", info.bytes[i]),
            )
            .also(var_span(ctx, var), "declared here");
            ctx.push(f);
            continue;
        }
        if ctx.on.intersect(on) == Platforms::NONE {
            continue;
        }
        let type_of = |var| ctx.obj.var_shape(var, grf).map(|shape| shape.0);
        let Some(n) = register_bytes(inst.op, ctx.obj.ops(inst), k, grf, &type_of) else { continue };
        if at.saturating_add(n) > info.root_bytes[i] {
            let f = Finding::new(
                Code::RAW_EXTENT,
                on,
                span,
                format!(
                    "the `{}` of {} has {n} bytes, `{}` has {} from there",
                    slot.name,
                    desc.name,
                    ctx.obj.var_name(var),
                    info.root_bytes[i].saturating_sub(at)
                ),
            )
            .also(var_span(ctx, var), "declared here");
            ctx.push(f);
        }
    }
}
