//! Memory messages: surfaces, block and vector shapes, atomics, media and sampler messages.

use envisa_isa::desc::{Enc, InstDesc, SlotKind};
use envisa_isa::{
    Inst, Op, Operand, PartName, Platforms, SlotName, Span, StateClass, Type, TypeSet, predefined,
};

use crate::context::{Check, Ctx, Rows, channel_count, field_or_part, report};
use crate::finding::type_names;
use crate::{Code, Finding};

/// Which rules look at which rows.
pub(crate) const CHECKS: &[(Rows, Check)] = &[
    (Rows::Of(&[Op::OwordLd, Op::OwordLdUnaligned, Op::OwordSt]), check_oword_message),
    (Rows::Of(&[Op::MediaLd, Op::MediaSt]), check_media_message),
    (Rows::Of(&[Op::SvmBlockLd, Op::SvmBlockSt]), svm_block),
    (Rows::Of(&[Op::SvmGather, Op::SvmScatter]), svm_vector),
    (Rows::Of(&[Op::DwordAtomic, Op::TypedAtomic]), atomic),
    (Rows::Of(&[Op::TypedAtomic, Op::Gather4Typed, Op::Scatter4Typed]), check_typed_message),
    (Rows::Of(&[Op::SvmAtomic]), atomic),
];

/// What all messages share: surfaces, channel masks.
pub(crate) fn check(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    if ctx.on == Platforms::NONE {
        return;
    }
    for (k, slot, kind, op) in ctx.slot_operands(inst) {
        match (kind, op) {
            (SlotKind::Surface { allowed }, Operand::Surface(id)) => {
                let span = ctx.obj.op_span(inst, k);
                if *id == predefined::SURFACE_SLM {
                    surface(ctx, desc, Code::SLM_NOT_ALLOWED, allowed.slm, "T0 (%slm)", span);
                    slm_size(ctx, span);
                } else if *id == predefined::SURFACE_SCRATCH {
                    surface(
                        ctx,
                        desc,
                        Code::STATELESS_NOT_ALLOWED,
                        allowed.stateless,
                        "T5 (stateless)",
                        span,
                    );
                } else if matches!(*id, 1 | 2) {
                    report(
                        ctx,
                        Code::SURFACE_RESERVED,
                        span,
                        format!("T{id} is reserved and stands for no surface"),
                    );
                }
            }
            (SlotKind::Field { enc: Enc::Channels, .. }, Operand::Int(0)) => {
                let span = ctx.obj.op_span(inst, k);
                no_channels(ctx, desc, slot.name, span);
            }
            (SlotKind::Packed { parts, .. }, Operand::Int(n)) => {
                for p in *parts {
                    // Where a packed field serves several operations, zero is what the others have.
                    if matches!(p.enc, Enc::Channels) && p.get(*n) == 0 && parts.len() <= 2 {
                        let span = ctx.obj.op_span(inst, k);
                        no_channels(ctx, desc, p.name, span);
                    }
                }
            }
            _ => {}
        }
    }
}

/// A surface or sampler by the address of its state.
pub(crate) fn state_address(
    ctx: &mut Ctx,
    desc: &InstDesc,
    name: SlotName,
    ok: Platforms,
    register: &Operand,
    span: Span,
) {
    let code = Code::STATE_ADDRESS;
    surface(ctx, desc, code, ok, &format!("a `{name}` by the address of its state"), span);
    if let Some(ty) = ctx.type_of(register)
        && !matches!(ty, Type::Uq | Type::Q)
    {
        let message = format!("the address of a state cannot have type {}", ty.name());
        let f = Finding::new(code, ctx.on, span, message).here(format!("this is {}", ty.name()));
        ctx.push(f.help("legal: q, uq"));
    }
}

fn no_channels(ctx: &mut Ctx, desc: &InstDesc, name: impl std::fmt::Display, span: Span) {
    let f = Finding::new(
        Code::NO_CHANNELS,
        ctx.on,
        span,
        format!("the `{name}` of {} selects none of the channels R, G, B and A", desc.name),
    );
    ctx.push(f.help("at least one channel"));
}

fn surface(ctx: &mut Ctx, desc: &InstDesc, code: Code, ok: Platforms, what: &str, span: Span) {
    let bad = ctx.on.without(ok);
    if bad == Platforms::NONE {
        return;
    }
    let mut f = Finding::new(code, bad, span, format!("{} does not work on {what}", desc.name));
    if ok != Platforms::NONE {
        f = f.note(format!("it does on {}", crate::finding::platform_names(ok)));
    }
    ctx.push(f);
}

pub(crate) fn slm_size(ctx: &mut Ctx, span: Span) {
    let Some(a) = ctx.obj.attr("SLMSize") else { return };
    if a.int() == Some(0) {
        let f = Finding::new(
            Code::SLM_SIZE_ZERO,
            ctx.on,
            span,
            "the kernel uses shared local memory but has none",
        );
        let at = a.span;
        ctx.push(f.also(at, "SLMSize is 0"));
    }
}

fn check_oword_message(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    if let Some((Operand::Int(4), span)) = ctx.slot(inst, SlotName::Size)
        && let Some((Operand::Surface(s), at)) = ctx.slot(inst, SlotName::Surface)
        && s != predefined::SURFACE_SLM
    {
        let f = Finding::new(Code::OWORDS_16, ctx.on, span, format!("{} cannot have 16 owords", desc.name));
        ctx.push(
            f.also(at, "not T0 (%slm)").help("16 owords go with shared local memory only; use two of 8"),
        );
    }
    if inst.op == Op::OwordLdUnaligned {
        constant_offset(ctx, inst, SlotName::Offset, 4);
    }
}

fn constant_offset(ctx: &mut Ctx, inst: &Inst, slot: SlotName, align: u64) {
    if let Some((Operand::Imm { bits, .. }, span)) = ctx.slot(inst, slot)
        && bits % align != 0
    {
        let message = format!("the `{slot}` of {} is {bits}, no multiple of {align}", inst.desc().name);
        report(ctx, Code::OFFSET_ALIGNMENT, span, message);
    }
}

fn check_media_message(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let (Some((w, w_span)), Some((h, h_span))) =
        (field_or_part(ctx, inst, SlotName::Width), field_or_part(ctx, inst, SlotName::Height))
    else {
        return;
    };
    if !(1..=64).contains(&w) || !(1..=64).contains(&h) {
        let span = if (1..=64).contains(&w) { h_span } else { w_span };
        let f = Finding::new(
            Code::MEDIA_BLOCK,
            ctx.on,
            span,
            format!("{} cannot have a block of {w} x {h}", desc.name),
        );
        ctx.push(f.help("1 to 64 bytes by 1 to 64 rows"));
        return;
    }
    let pitch = w.next_power_of_two().max(4);
    if h > 256 / pitch {
        let f = Finding::new(
            Code::MEDIA_BLOCK,
            ctx.on,
            h_span,
            format!("{h} rows of {w} bytes: rows lie {pitch} bytes apart"),
        );
        ctx.push(f.help(format!("at most {} rows", 256 / pitch)));
    }
    if let Some((p, span)) = field_or_part(ctx, inst, SlotName::Plane)
        && p > 3
    {
        report(ctx, Code::MEDIA_BLOCK, span, format!("the plane is {p}; legal are 0 to 3"));
    }
    if inst.op == Op::MediaSt {
        constant_offset(ctx, inst, SlotName::X, 4);
    }
}

fn svm_vector(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let (Some((size, _)), Some((blocks, span))) =
        (field_or_part(ctx, inst, SlotName::BlockSize), field_or_part(ctx, inst, SlotName::NumBlocks))
    else {
        return;
    };
    let n = channel_count(ctx, inst);
    if blocks == 3 && (size != 1 || n != 8) {
        let f = Finding::new(
            Code::SVM_EIGHT_BLOCKS,
            ctx.on,
            span,
            format!("{} of 8 blocks needs blocks of 4 bytes and 8 channels", desc.name),
        );
        ctx.push(f.help("1, 2 or 4 blocks"));
    } else if blocks > 0 && n < 8 && !(size == 0 && blocks < 3) {
        let f = Finding::new(
            Code::SVM_BLOCKS_EXEC,
            ctx.on,
            span,
            format!("{} has {} blocks for {n} channels", desc.name, 1 << blocks),
        );
        ctx.push(f.help("more than one block needs at least 8 channels"));
    } else if blocks > 0 && n < 8 {
        let f = Finding::new(
            Code::SVM_BYTE_BLOCKS_EXEC,
            ctx.on,
            span,
            format!("{} has {} one-byte blocks for {n} channels", desc.name, 1 << blocks),
        );
        ctx.push(f.help("the page wants at least 8 channels for more than one block"));
    }
    let bytes = [1, 4, 8][size.min(2) as usize];
    for name in [SlotName::Dst, SlotName::Src] {
        let Some((op, span)) = ctx.slot(inst, name) else { continue };
        // Registers hold the bytes of a channel in a dword.
        if let Some(ty) = ctx.type_of(&op)
            && ty.size() != bytes
            && !(bytes == 1 && ty.size() == 4)
        {
            let f = Finding::new(
                Code::SVM_BLOCK_TYPE,
                ctx.on,
                span,
                format!("the `{name}` of {} has type {} for blocks of {bytes} bytes", desc.name, ty.name()),
            );
            ctx.push(f.help(format!("a type of {bytes} bytes")));
        }
    }
}

fn svm_block(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    let unaligned = [PartName::Unaligned, PartName::UnalignedRead]
        .into_iter()
        .any(|n| field_or_part(ctx, inst, n).is_some_and(|(v, _)| v != 0));
    constant_offset(ctx, inst, SlotName::Address, if unaligned { 4 } else { 16 });
}

/// Operands and types of atomics, by operation: see the table on page DWORD_ATOMIC.
/// Typed messages: the first dimension that every surface has.
fn check_typed_message(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    if let Some((Operand::Raw { var, .. }, span)) = ctx.slot(inst, SlotName::U)
        && var == predefined::var::NULL
    {
        report(ctx, Code::TYPED_NO_U, span, format!("{} lacks its U offsets", desc.name));
    }
}

fn atomic(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let Some((op, op_span)) = field_or_part(ctx, inst, SlotName::Op) else { return };
    // The packed field has the name of its part.
    let op = op & 31;
    let width = field_or_part(ctx, inst, SlotName::Width)
        .or(field_or_part(ctx, inst, PartName::Half))
        .map_or(0, |w| w.0);
    let wide = width == 2;
    if width != 0 {
        let before = Platforms::ALL.without(Platforms::TGLLP_UP);
        let bits = if wide { 64 } else { 16 };
        let f = Finding::new(Code::ATOMIC_WIDTH, before, op_span, format!("{} of {bits} bits", desc.name));
        ctx.push(f.note("widths other than 32 bits need TGLLP or a later platform"));
    }
    if op >= 16 && inst.op == Op::TypedAtomic {
        let message = "a typed atomic on floats";
        let f = Finding::new(Code::ATOMIC_FLOAT_TYPED, ctx.on, op_span, message);
        ctx.push(f.help("operations on integers"));
    }
    let needs = match op {
        2 | 3 | 13 => 0,
        7 | 18 => 2,
        _ => 1,
    };
    for (i, name) in [SlotName::Src0, SlotName::Src1].into_iter().enumerate() {
        let Some((Operand::Raw { var, .. }, span)) = ctx.slot(inst, name) else { continue };
        let null = var == predefined::var::NULL;
        if null != (i >= needs) {
            let text = if null { "is missing" } else { "has to be %null" };
            let f = Finding::new(
                Code::ATOMIC_OPERANDS,
                ctx.on,
                span,
                format!("the `{name}` of this {} {text}", desc.name),
            );
            ctx.push(f.also(op_span, format!("this operation takes {needs} source(s)")));
        }
    }
    use Type::{D, Df, F, Q, Ud, Uq};
    let legal = match (op, wide) {
        (11 | 12, false) => TypeSet::of(&[D]),
        (11 | 12, true) => TypeSet::of(&[Q]),
        (16..=20, false) => TypeSet::of(&[F]),
        (16..=20, true) => TypeSet::of(&[Df, F]),
        (_, false) => TypeSet::of(&[Ud]),
        (_, true) => TypeSet::of(&[Uq]),
    };
    for name in [SlotName::Src0, SlotName::Src1, SlotName::Dst] {
        let Some((operand, span)) = ctx.slot(inst, name) else { continue };
        let Some(ty) = ctx.type_of(&operand) else { continue };
        if wide && ty.size() != 8 {
            let f = Finding::new(
                Code::ATOMIC_TYPE,
                ctx.on,
                span,
                format!("the `{name}` of a 64-bit {} has type {}", desc.name, ty.name()),
            );
            ctx.push(f.help(type_names(legal)));
        } else if !legal.contains(ty) {
            let f = Finding::new(
                Code::ATOMIC_SIGN,
                ctx.on,
                span,
                format!("the `{name}` of this {} has type {}", desc.name, ty.name()),
            );
            ctx.push(f.help(type_names(legal)));
        }
    }
}

/// Is this operand the shared local memory surface?
pub(crate) fn is_slm(op: &Operand) -> bool {
    match *op {
        Operand::Surface(id) => id == predefined::SURFACE_SLM,
        Operand::State { class: StateClass::Surface, id, .. } => id == predefined::SURFACE_SLM as u16,
        _ => false,
    }
}
