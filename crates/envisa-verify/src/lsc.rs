//! LSC messages: shapes by data size, caching, addresses, platforms.

use envisa_isa::atomic::AtomicOp;
use envisa_isa::desc::{Effect, Enc, Family, InstDesc, SlotKind};
use envisa_isa::lsc::addr_type::FLAT;
use envisa_isa::lsc::sfid::{SLM, UGML};
use envisa_isa::lsc::{address_bytes, caching, data_size, is_transposed};
use envisa_isa::operation::{Message, Operation};
use envisa_isa::{Inst, Op, Operand, PartName, Platform, Platforms, SlotName, Span, StateClass, predefined};

use crate::context::{Check, Ctx, Rows, channel_count, field_or_part, report};
use crate::{Code, Finding, memory};

/// Which rules look at which rows.
pub(crate) const CHECKS: &[(Rows, Check)] = &[
    (Rows::Family(Family::Lsc), sfid),
    (Rows::Family(Family::Lsc), check_cache_controls),
    (Rows::Family(Family::Lsc), vector),
    (Rows::Family(Family::Lsc), addresses),
    (Rows::Family(Family::Lsc), operands),
    (Rows::Of(&[Op::LscLoadQuad, Op::LscLoadQuadStatus, Op::LscStoreQuad]), check_quad_message),
    (Rows::Page("LSC_TYPED"), typed_exec),
    (Rows::Page("LSC_TYPED"), typed_flat),
    (
        Rows::Of(&[
            Op::LscTypedLoadQuad,
            Op::LscTypedLoadQuadMsrt,
            Op::LscTypedLoadQuadStatus,
            Op::LscTypedStoreQuad,
            Op::LscTypedStoreQuadMsrt,
        ]),
        check_quad_message,
    ),
    (Rows::Of(&[Op::LscLoadBlock2d, Op::LscStoreBlock2d]), check_block2d),
    (Rows::Of(&[Op::LscTypedLoadBlock2d, Op::LscTypedStoreBlock2d]), typed_block2d),
    (
        Rows::Of(&[Op::LscApndctrAtomicAdd, Op::LscApndctrAtomicSub, Op::LscApndctrAtomicStore]),
        check_append_message,
    ),
    (Rows::Of(&[Op::LscFence]), fence),
];

/// The word of a field's value, as the table has it, for messages.
fn word(desc: &InstDesc, name: SlotName, code: u32) -> Option<&'static str> {
    let SlotKind::Field { enc: Enc::Values(values), .. } = &desc.slots[desc.slot_index(name)?].kind else {
        return None;
    };
    Some(values.iter().find(|v| v.code == code)?.text)
}

fn text(ctx: &Ctx, inst: &Inst, name: SlotName) -> Option<(&'static str, Span)> {
    let (code, span) = field_with_span(ctx, inst, name)?;
    Some((word(inst.desc(), name, code)?, span))
}

fn field_with_span(ctx: &Ctx, inst: &Inst, name: SlotName) -> Option<(u32, Span)> {
    match ctx.slot(inst, name)? {
        (Operand::Int(n), span) => Some((n, span)),
        _ => None,
    }
}

/// Does the message go to shared local memory?
pub(crate) fn is_slm(ctx: &Ctx, inst: &Inst) -> bool {
    inst.desc().family == Family::Lsc
        && field_with_span(ctx, inst, SlotName::Sfid).is_some_and(|f| f.0 == SLM)
}

/// Does the fence order accesses to shared local memory?
pub(crate) fn fences_slm(ctx: &Ctx, inst: &Inst) -> bool {
    let flag = |name: PartName| field_or_part(ctx, inst, name).is_some_and(|f| f.0 != 0);
    match inst.op {
        Op::LscFence => is_slm(ctx, inst),
        // Not the one that only keeps the scheduler from moving things.
        Op::Fence => flag(PartName::Local) && !flag(PartName::Software),
        _ => false,
    }
}

fn sfid(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let Some((n, span)) = field_with_span(ctx, inst, SlotName::Sfid) else { return };
    if n == UGML {
        let has = Platforms::of(&[Platform::Pvc, Platform::Pvcxt]);
        let f = Finding::new(
            Code::LSC_SFID,
            ctx.on.without(has),
            span,
            format!("{} to ugml exists on PVC only", desc.name),
        );
        ctx.push(f.help("ugm"));
    }
    if n == SLM {
        memory::slm_size(ctx, span);
    }
}

/// The combinations of the page's table: L1, L3, for loads, for stores.
const CACHING: &[(u32, u32, bool, bool)] = {
    use envisa_isa::lsc::caching::*;
    &[
        (DEFAULT, DEFAULT, true, true),
        (UNCACHED, UNCACHED, true, true),
        (STREAMED, UNCACHED, true, true),
        (UNCACHED, CACHED, true, false),
        (CACHED, UNCACHED, true, false),
        (CACHED, CACHED, true, false),
        (STREAMED, CACHED, true, false),
        (INVALIDATED, CACHED, true, false),
        (UNCACHED, WRITE_BACK, false, true),
        (WRITE_THROUGH, UNCACHED, false, true),
        (WRITE_THROUGH, WRITE_BACK, false, true),
        (STREAMED, WRITE_BACK, false, true),
        (WRITE_BACK, WRITE_BACK, false, true),
    ]
};

fn check_cache_controls(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let (Some((l1, span)), Some((l3, _))) =
        (field_with_span(ctx, inst, SlotName::L1), field_with_span(ctx, inst, SlotName::L3))
    else {
        return;
    };
    let name = |code| word(desc, SlotName::L1, code).unwrap_or_default();
    if is_slm(ctx, inst) {
        if (l1, l3) != (caching::DEFAULT, caching::DEFAULT) {
            let f = Finding::new(
                Code::LSC_CACHING,
                ctx.on,
                span,
                format!("shared local memory cannot have caching .{}.{}", name(l1), name(l3)),
            );
            ctx.push(f.help("leave it out"));
        }
        return;
    }
    let (load, store) = match desc.effect {
        Effect::Read => (true, false),
        Effect::Write => (false, true),
        _ => (true, true),
    };
    // `cc` came after the page's table.
    let known = l1 == caching::CONSTANT
        || l3 == caching::CONSTANT
        || CACHING.iter().any(|(a, b, l, s)| (*a, *b) == (l1, l3) && ((load && *l) || (store && *s)));
    if !known {
        let legal: Vec<String> = CACHING
            .iter()
            .filter(|(_, _, l, s)| (load && *l) || (store && *s))
            .map(|(a, b, ..)| format!(".{}.{}", name(*a), name(*b)))
            .collect();
        let message = format!("{} cannot have caching .{}.{}", desc.name, name(l1), name(l3));
        let f = Finding::new(Code::LSC_CACHING, ctx.on, span, message);
        ctx.push(f.help(format!("legal: {}", legal.join(" "))));
    }
}

/// Number of elements at each address; 1 where the message has no such field, or has its channels there.
pub(crate) fn elements(ctx: &Ctx, inst: &Inst) -> u32 {
    // Only there has the field named values; elsewhere it is a copy of the channels.
    if text(ctx, inst, SlotName::DataElems).is_none() {
        return 1;
    }
    field_with_span(ctx, inst, SlotName::DataElems)
        .and_then(|(code, _)| envisa_isa::lsc::elements(code))
        .unwrap_or(1)
}

fn vector(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let Some((order, span)) = field_with_span(ctx, inst, SlotName::DataOrder) else { return };
    if desc.slot_index(SlotName::Width).is_some() {
        return;
    }
    let n = channel_count(ctx, inst);
    let elems = elements(ctx, inst);
    let size = text(ctx, inst, SlotName::DataSize)
        .zip(field_with_span(ctx, inst, SlotName::DataSize).and_then(|(code, _)| data_size(code)))
        .map(|((name, span), size)| (name, size, span));
    let atomic = desc.effect == Effect::Atomic;
    if is_transposed(order) {
        if atomic {
            report(ctx, Code::LSC_TRANSPOSE, span, format!("a transposed {}", desc.name));
        } else if n != 1 {
            let f = Finding::new(
                Code::LSC_TRANSPOSE,
                ctx.on,
                span,
                format!("a transposed {} has {n} channels", desc.name),
            );
            ctx.push(f.help("transposed messages have one channel"));
        }
        if let Some((s, size, span)) = size
            && !(size.memory == size.register && size.register >= 4)
        {
            let f = Finding::new(
                Code::LSC_DATA_SIZE,
                ctx.on,
                span,
                format!("transposed elements cannot have size {s}"),
            );
            ctx.push(f.help("d32 or d64"));
        }
    } else {
        if let Some((_, span)) = field_with_span(ctx, inst, SlotName::DataElems)
            && (elems > 8 || (atomic && elems > 1))
        {
            let most = if atomic { 1 } else { 8 };
            let f = Finding::new(
                Code::LSC_VECTOR,
                ctx.on,
                span,
                format!("the message has {elems} elements at each address"),
            );
            ctx.push(f.help(format!("at most {most}; block loads and stores are transposed (`t`)")));
        }
        if let Some((s, size, span)) = size {
            let odd = size.register < 4 || (atomic && (size.upper || size.memory < 2));
            if odd {
                let legal = if atomic { "d16c32, d32 or d64" } else { "d8c32, d16c32, d32 or d64" };
                let f = Finding::new(Code::LSC_DATA_SIZE, ctx.on, span, format!("{} of size {s}", desc.name));
                ctx.push(f.help(legal));
            }
        }
        // More is split by the finalizer.
        if desc.family == Family::Lsc && n > 16 && desc.slot_index(SlotName::U).is_none() {
            let exec = desc.exec_slot().map_or(inst.span, |k| ctx.obj.op_span(inst, k));
            let narrow = Platforms::of(&[Platform::Dg2, Platform::Mtl, Platform::Arl]);
            let f = Finding::new(Code::LSC_EXEC, narrow, exec, format!("{} has {n} channels", desc.name));
            ctx.push(f.help("16 channels"));
        }
    }
}

fn addresses(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    let Some((model, model_span)) = text(ctx, inst, SlotName::AddrType) else { return };
    let flat = field_with_span(ctx, inst, SlotName::AddrType).is_some_and(|f| f.0 == FLAT);
    if let Some((size, span)) = field_with_span(ctx, inst, SlotName::AddrSize) {
        let wide = address_bytes(size) == Some(8);
        let slm = is_slm(ctx, inst);
        if slm && (!flat || wide) {
            let f = Finding::new(
                Code::LSC_ADDRESS,
                ctx.on,
                span,
                "shared local memory is addressed flat, by 16 or 32 bits",
            );
            ctx.push(f.also(model_span, model));
        } else if flat && !slm && address_bytes(size) == Some(2) {
            let f = Finding::new(Code::LSC_ADDRESS, ctx.on, span, "a virtual address cannot have 16 bits");
            ctx.push(f.help("a32 or a64"));
        } else if !flat && wide {
            let f = Finding::new(
                Code::LSC_ADDRESS,
                ctx.on,
                span,
                format!("offsets into a surface ({model}) cannot have 64 bits"),
            );
            ctx.push(f.help("a32"));
        }
    }
    if flat
        && let Some((Operand::Imm { bits, .. }, span)) = ctx.slot(inst, SlotName::Surface)
        && bits != 0
    {
        report(ctx, Code::LSC_BASE, span, "a flat message cannot name a surface");
    }
    if flat && let Some((Operand::General { var, row, col, .. }, span)) = ctx.slot(inst, SlotName::Surface) {
        check_base_address(ctx, var, row, col, span);
    }
    if !flat
        && let Some((Operand::State { class: StateClass::Sampler, .. }, span)) =
            ctx.slot(inst, SlotName::Surface)
    {
        report(ctx, Code::LSC_BASE, span, "a sampler is named where a surface is meant");
    }
}

/// The 64 bits that are added to flat addresses.
fn check_base_address(ctx: &mut Ctx, var: u32, row: u8, col: u8, span: Span) {
    const BYTES: u32 = 8;
    let Some(info) = ctx.var(var) else { return };
    for (i, grf, on) in crate::context::SIZES {
        let on = ctx.on.intersect(on);
        let at = info.offset + u32::from(row) * grf + u32::from(col) * info.ty.size();
        let problem = match () {
            () if on == Platforms::NONE => continue,
            () if !at.is_multiple_of(BYTES) => {
                format!("it starts at byte {at}, which is not a multiple of {BYTES}")
            }
            () if at + BYTES > info.root_bytes[i] => {
                format!("it takes bytes {at} to {} of {}", at + BYTES - 1, info.root_bytes[i])
            }
            () => continue,
        };
        let name = ctx.obj.var_name(var);
        let message = format!("the 64-bit base in `{name}` is misplaced: {problem}");
        ctx.push(Finding::new(Code::LSC_BASE_PLACE, on, span, message));
        return;
    }
}

/// Sources that an operation has; what others there are is %null.
fn operands(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    for name in [SlotName::UnusedDst, SlotName::UnusedSrc1, SlotName::UnusedSrc2] {
        if let Some((Operand::Raw { var, .. }, span)) = ctx.slot(inst, name)
            && var != predefined::var::NULL
        {
            let message = format!("{} has no such operand: it is %null", desc.name);
            report(ctx, Code::LSC_OPERANDS, span, message);
        }
    }
    let operator = match desc.operation() {
        Operation::Message(Message::LscAtomic | Message::LscTexelAtomic) => {
            desc.sub.and_then(AtomicOp::from_lsc_subop)
        }
        _ => None,
    };
    let Some(needs) = operator.map(AtomicOp::operands) else { return };
    for (i, name) in (0..).zip([SlotName::Src1, SlotName::Src2]) {
        let Some((Operand::Raw { var, .. }, span)) = ctx.slot(inst, name) else { continue };
        if (var == predefined::var::NULL) != (i >= needs) {
            let what = if i >= needs { "has to be %null" } else { "is missing" };
            let f = Finding::new(
                Code::LSC_OPERANDS,
                ctx.on,
                span,
                format!("the `{name}` of {} {what}", desc.name),
            );
            ctx.push(f.help(format!("the operation takes {needs} source(s)")));
        }
    }
}

fn check_quad_message(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    if let Some((0, span)) = field_with_span(ctx, inst, SlotName::ChMask) {
        report(ctx, Code::LSC_CHANNELS, span, format!("{} names no channel", desc.name));
    }
}

fn typed_exec(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let n = channel_count(ctx, inst);
    let span = desc.exec_slot().map_or(inst.span, |k| ctx.obj.op_span(inst, k));
    let xe2 = Platforms::from(Platform::Xe2);
    for (max, on) in [(8, Platforms::DG2_UP.without(Platforms::PVC_UP)), (16, Platforms::PVC_UP.without(xe2))]
    {
        if n > max {
            let f = Finding::new(Code::LSC_TYPED_EXEC, on, span, format!("{} has {n} channels", desc.name));
            ctx.push(f.help(format!("at most {max}")));
        }
    }
}

fn check_block2d(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let get = |ctx: &Ctx, name| field_with_span(ctx, inst, name);
    let (Some((w, w_span)), Some((h, h_span)), Some((blocks, b_span))) =
        (get(ctx, SlotName::Width), get(ctx, SlotName::Height), get(ctx, SlotName::Blocks))
    else {
        return;
    };
    let Some((size_name, size_span)) = text(ctx, inst, SlotName::DataSize) else { return };
    let Some(size) = get(ctx, SlotName::DataSize).and_then(|(code, _)| data_size(code)) else { return };
    let (plain, size) = (size.memory == size.register, size.register);
    let transposed = get(ctx, SlotName::DataOrder).is_some_and(|f| is_transposed(f.0));
    let vnni = get(ctx, SlotName::Vnni).filter(|f| f.0 != 0);
    let store = desc.effect == Effect::Write;
    let mut bad = |span, message: String, help: &str| {
        let f = Finding::new(Code::LSC_BLOCK2D, ctx.on, span, message);
        ctx.push(f.help(help.to_string()));
    };
    if !plain {
        return bad(size_span, format!("blocks of {size_name}"), "d8, d16, d32 or d64");
    }
    if w == 0 || w * size < 4 || w * size > 64 {
        return bad(w_span, format!("the block has rows of {} bytes", w * size), "4 to 64 bytes");
    }
    let most = if store { 8 } else { 32 };
    if h == 0 || h > most {
        return bad(h_span, format!("the message has blocks of {h} rows"), &format!("1 to {most} rows"));
    }
    if blocks == 0
        || blocks > 4
        || blocks == 3
        || (store && blocks != 1)
        || (!store && blocks * w * size > 64)
    {
        let help = if store { "one block" } else { "1, 2 or 4 blocks of 64 bytes a row in all" };
        return bad(b_span, format!("the message has {blocks} blocks of {} bytes a row", w * size), help);
    }
    if let Some((_, span)) = vnni {
        if store || transposed {
            return bad(
                span,
                "an interleaved store, or interleaved and transposed".into(),
                "loads, one of the two",
            );
        }
        if size > 2 {
            return bad(span, format!("interleaved elements cannot have size {size_name}"), "d8 or d16");
        }
    }
    if transposed {
        if store {
            return bad(size_span, "a transposed store".into(), "transpose before the store");
        }
        let fits = match size {
            4 => w <= 8,
            8 => w <= 4 && h == 8,
            _ => false,
        };
        if !fits || blocks != 1 {
            bad(
                size_span,
                format!("a transposed block cannot be {w} x {h} {size_name}"),
                "d32 up to 8 wide, d64 up to 4 wide and 8 high, one block",
            );
        }
    }
}

fn fence(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    if let Some(e) = ctx.exec(inst)
        && (e.log2 != 0 || !e.mask.no_mask())
    {
        report(ctx, Code::LSC_FENCE, inst.span, "a fence has one channel and ignores the mask");
    }
}

/// The table of page LSC_TYPED: rows lie at the next power of two of their width, 256 bytes in all.
fn typed_block2d(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let (Some((w, w_span)), Some((h, h_span))) =
        (field_with_span(ctx, inst, SlotName::Width), field_with_span(ctx, inst, SlotName::Height))
    else {
        return;
    };
    if !(1..=64).contains(&w) || h == 0 {
        let f = Finding::new(
            Code::LSC_BLOCK2D,
            ctx.on,
            w_span,
            format!("{} has {w} bytes by {h} rows", desc.name),
        );
        ctx.push(f.help("1 to 64 bytes by at least one row"));
        return;
    }
    let pitch = w.next_power_of_two().max(4);
    if h > 256 / pitch {
        let f =
            Finding::new(Code::LSC_BLOCK2D, ctx.on, h_span, format!("the block has {h} rows of {w} bytes"));
        ctx.push(f.help(format!("at most {} rows", 256 / pitch)));
    }
}

fn check_append_message(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    if let Some((FLAT, span)) = field_with_span(ctx, inst, SlotName::AddrType) {
        let f = Finding::new(Code::LSC_APPEND, ctx.on, span, format!("{} needs a surface", desc.name));
        ctx.push(f.help("bti, ss or bss"));
    }
}

/// Typed messages compute addresses from a surface's state.
fn typed_flat(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    if let Some((FLAT, span)) = field_with_span(ctx, inst, SlotName::AddrType) {
        let message = format!("{} needs a surface", desc.name);
        ctx.push(Finding::new(Code::LSC_TYPED_FLAT, ctx.on, span, message).help("bti, ss or bss"));
    }
}
