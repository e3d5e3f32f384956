//! Checks an instruction as a whole against the table: platforms, field values, execution size, mask, predicate.

use envisa_isa::desc::{Enc, Family, InstDesc, SlotKind, Value};
use envisa_isa::{Combine, Exec, Inst, Operand, Platforms, Pred, Span};

use crate::context::Ctx;
use crate::finding::platform_names;
use crate::{Code, Finding};

/// Checks it; gives the platforms (of those asked for) that have the instruction.
pub(crate) fn check(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) -> Platforms {
    let here = ctx.on.intersect(desc.platforms);
    if here != ctx.on {
        let f = Finding::new(
            Code::NOT_ON_PLATFORM,
            ctx.on.without(desc.platforms),
            inst.span,
            format!("{} does not exist on {}", desc.name, platform_names(ctx.on.without(desc.platforms))),
        )
        .note(match platform_names(desc.platforms) {
            s if s.is_empty() => "no platform has it".to_string(),
            s => format!("{} exists on {s}", desc.name),
        });
        ctx.push(f);
    }
    let mut exec = None;
    for (k, slot, kind, op) in ctx.slot_operands(inst) {
        match (kind, op) {
            (SlotKind::Exec, Operand::Exec(e)) => {
                exec = Some((*e, k));
                exec_size(ctx, inst, desc, *e, k);
            }
            (SlotKind::Field { enc, .. }, Operand::Int(n)) => {
                check_field_platforms(ctx, desc, slot.name.as_str(), enc, *n, ctx.obj.op_span(inst, k), here);
                if let Enc::ExecLike(values) = enc
                    && let Some(v) = value(values, *n & 15)
                    && let Ok(channels) = v.text.parse::<u32>()
                    && let Some(e) = Exec::from_channels(channels, envisa_isa::ExecMask((*n >> 4) as u8 & 15))
                {
                    mask(ctx, inst, e, k);
                    exec = Some((e, k));
                }
            }
            (SlotKind::Packed { parts, .. }, Operand::Int(n)) => {
                for p in *parts {
                    check_field_platforms(
                        ctx,
                        desc,
                        p.name.as_str(),
                        &p.enc,
                        p.get(*n),
                        ctx.obj.op_span(inst, k),
                        here,
                    );
                }
            }
            (SlotKind::Pred, Operand::Pred(p)) if p.is_some() => {
                if let Some((e, _)) = exec {
                    predicate(ctx, inst, *p, e, ctx.obj.op_span(inst, k));
                }
            }
            _ => {}
        }
    }
    here
}

fn value(values: &'static [Value], code: u32) -> Option<&'static Value> {
    values.iter().find(|v| v.code == code)
}

/// A field's value exists on some platforms only.
fn check_field_platforms(
    ctx: &mut Ctx,
    desc: &InstDesc,
    name: &str,
    enc: &Enc,
    n: u32,
    span: Span,
    here: Platforms,
) {
    let (Enc::Values(values) | Enc::ExecLike(values)) = *enc else { return };
    let code = if matches!(enc, Enc::ExecLike(_)) { n & 15 } else { n };
    let Some(v) = value(values, code) else { return };
    if v.is_off_page() && here != Platforms::NONE {
        let message = format!("{} with `{name}` {}, which the page does not have", desc.name, v.text);
        let mut f = Finding::new(Code::PAGE_VALUE, here, span, message);
        if !desc.page.is_empty() {
            f = f.note(format!("page {}", desc.page));
        }
        ctx.push(f);
    }
    if here.without(v.platforms) == Platforms::NONE {
        return;
    }
    let others: Vec<&str> =
        values.iter().filter(|o| o.platforms.union(v.platforms) != v.platforms).map(|o| o.text).collect();
    let mut f = Finding::new(
        Code::FIELD_PLATFORM,
        here.without(v.platforms),
        span,
        format!("{} with `{name}` {} exists on {}", desc.name, v.text, platform_names(v.platforms)),
    );
    if !others.is_empty() {
        f = f.help(format!("also on other platforms: {}", others.join(", ")));
    }
    ctx.push(f);
}

fn exec_size(ctx: &mut Ctx, inst: &Inst, desc: &InstDesc, e: Exec, k: usize) {
    if desc.exec_sizes >> e.log2 & 1 == 0 {
        let legal: Vec<String> =
            (0..6).filter(|b| desc.exec_sizes >> b & 1 != 0).map(|b| (1u32 << b).to_string()).collect();
        let f = Finding::new(
            Code::EXEC_SIZE,
            ctx.on,
            ctx.obj.op_span(inst, k),
            format!("{} does not take {} channels", desc.name, e.channels()),
        )
        .help(format!("legal: {}", legal.join(", ")));
        ctx.push(f);
        return;
    }
    mask(ctx, inst, e, k);
}

fn mask(ctx: &mut Ctx, inst: &Inst, e: Exec, k: usize) {
    let (first, n) = (e.mask.first_channel(), e.channels());
    // Offsets are multiples of 4 anyway; one or two channels may start at any of them.
    if !first.is_multiple_of(n) {
        let f = Finding::new(
            Code::EXEC_MASK,
            ctx.on,
            ctx.obj.op_span(inst, k),
            format!("{} starts at channel {first}, which is not a multiple of {n}", e.mask.name()),
        );
        ctx.push(f);
        return;
    }
    let Some(simd) = ctx.simd else { return };
    if first + n > simd.max(n.min(simd)) && !e.mask.no_mask() {
        let f = Finding::new(
            Code::EXEC_BEYOND_SIMD,
            ctx.on,
            ctx.obj.op_span(inst, k),
            format!(
                "the instruction uses channels {first} to {} of a kernel of {simd} channels",
                first + n - 1
            ),
        )
        .here(format!("SimdSize is {simd}"))
        .help("mark it NoMask (`_NM`), or use fewer channels");
        ctx.push(f);
    }
}

fn predicate(ctx: &mut Ctx, inst: &Inst, p: Pred, e: Exec, span: Span) {
    let Some(var) = ctx.obj.predicates.get(p.id as usize - 1) else { return };
    let has = var.elems as u32;
    // A scalar branch looks at the first bit.
    let needs = match inst.desc().family {
        Family::ControlFlow if e.log2 == 0 => 1,
        _ => e.mask.first_channel() + e.channels(),
    };
    if needs > has {
        let how = if p.combine == Combine::None { "" } else { " (combined)" };
        let f = Finding::new(
            Code::PREDICATE_SIZE,
            ctx.on,
            span,
            format!("the instruction uses bits up to {} of a predicate{how} that has {has}", needs - 1),
        )
        .also(var.span, "declared here");
        ctx.push(f);
    }
}
