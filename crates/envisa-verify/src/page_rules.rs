//! Rules that single pages state about their instructions.

use std::sync::OnceLock;

use envisa_isa::desc::{InstDesc, Role, SlotKind};
use envisa_isa::systolic::{Matrices, Precision};
use envisa_isa::{
    Inst, ObjectKind, Op, Operand, PartName, Platforms, Pred, Region, SlotName, Span, StateClass, TABLE,
    Type, TypeSet, limits, predefined,
};

use crate::context::{Check, Ctx, NARROW, Rows, SIZES, WIDE, channel_count, field_or_part, report};
use crate::{Code, Finding, graphics, lsc, memory};

/// Which rules look at which rows.
const CHECKS: &[(Rows, Check)] = &[
    (Rows::Of(&[Op::And, Op::Or, Op::Xor, Op::Not]), check_logic_predicates),
    (Rows::Of(&[Op::Mov]), mov),
    (Rows::Of(&[Op::Setp]), check_setp),
    (Rows::Of(&[Op::Cmp]), cmp),
    (Rows::Of(&[Op::Movs]), movs),
    (Rows::Of(&[Op::AddrAdd]), addr_add),
    (Rows::Of(&[Op::Call, Op::Fcall, Op::Ret, Op::Fret]), scalar_nomask),
    (Rows::Of(&[Op::Fcall]), call_sizes),
    (Rows::Of(&[Op::Fcall]), call_mismatch),
    (Rows::Of(&[Op::Ifcall]), call_sizes),
    (Rows::Of(&[Op::File]), file_name),
    (Rows::Of(&[Op::Mov, Op::And, Op::Or, Op::Xor]), special_bits),
    (Rows::Of(&[Op::SvmAtomic, Op::TypedAtomic]), page_exec),
    (Rows::Of(&[Op::Wait, Op::Nbarrier, Op::Nbarrier42, Op::Switchjmp]), page_types),
    (Rows::Of(&[Op::Madw]), page_exec),
    (Rows::Of(&[Op::Dpasw]), dpasw_sharing),
    (Rows::Of(&[Op::Fence]), fence_local),
    (Rows::Of(&[Op::Switchjmp]), check_switchjmp),
    (Rows::Of(&[Op::Bfe, Op::Bfi, Op::Lrp]), oword_aligned),
    (Rows::Of(&[Op::Plane]), check_plane),
    (Rows::Of(&[Op::Madw]), madw),
    (Rows::Of(&[Op::Mulh]), same_type),
    (Rows::Of(&[Op::Shr, Op::Asr]), shift_sign),
    (Rows::Of(&[Op::Mul]), mul_byte),
    (Rows::Of(&[Op::Fcvt]), fcvt),
    (Rows::Of(&[Op::Srnd]), srnd),
    (Rows::Of(&[Op::Dpas, Op::Dpasw, Op::Bdpas]), dpas),
    (Rows::Of(&[Op::Nbarrier, Op::Nbarrier42]), check_nbarrier),
    (Rows::Of(&[Op::RawSend]), raw_send),
    (Rows::Of(&[Op::Lifetime]), check_lifetime),
];

const LISTS: [&[(Rows, Check)]; 4] = [CHECKS, memory::CHECKS, lsc::CHECKS, graphics::CHECKS];

/// What is known of a row once for all instructions of it.
pub(crate) struct Traits {
    /// Its rules.
    pub checks: Vec<Check>,
    /// Its operands have rules of their own about where they lie.
    pub own_region: bool,
    /// Signs of its types are a rule of their own.
    pub sign_free: bool,
}

/// Traits of a row, looked for where it is first checked.
pub(crate) fn page_traits(op: Op) -> &'static Traits {
    static ALL: [OnceLock<Traits>; TABLE.len()] = [const { OnceLock::new() }; TABLE.len()];
    ALL[op as usize].get_or_init(|| Traits {
        checks: LISTS.iter().flat_map(|l| l.iter()).filter(|(r, _)| r.has(op)).map(|(_, c)| *c).collect(),
        own_region: matches!(
            op,
            Op::AddrAdd | Op::Plane | Op::Lrp | Op::Dpas | Op::Dpasw | Op::Bdpas | Op::Movs
        ),
        sign_free: matches!(op, Op::Shr | Op::Asr),
    })
}

/// Pages that the rules name and no row of the table has: empty, or the rules are stale.
pub fn stale_page_names() -> Vec<&'static str> {
    let pages = LISTS.iter().flat_map(|l| l.iter()).filter_map(|(r, _)| match r {
        Rows::Page(page) => Some(*page),
        Rows::Of(_) | Rows::Family(_) => None,
    });
    pages.filter(|p| !Op::ALL.iter().any(|o| o.desc().page == *p)).collect()
}

pub(crate) fn check(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    if ctx.on == Platforms::NONE {
        return;
    }
    for c in &page_traits(inst.op).checks {
        c(ctx, inst, desc);
    }
}

fn pred_of(ctx: &Ctx, inst: &Inst) -> Option<(Pred, Span)> {
    let k = inst.desc().pred_slot()?;
    match ctx.obj.ops(inst).get(k)? {
        Operand::Pred(p) if p.is_some() => Some((*p, ctx.obj.op_span(inst, k))),
        _ => None,
    }
}

/// Predicates in logic instructions: all or none, and no predication.
fn check_logic_predicates(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let vectors = || ctx.slot_operands(inst).filter(|(_, _, kind, _)| matches!(kind, SlotKind::Vector(_)));
    let preds = vectors().filter(|(.., op)| matches!(op, Operand::Predicate(_))).count();
    if preds == 0 {
        return;
    }
    let other = vectors().find(|(.., op)| !matches!(op, Operand::Predicate(_))).map(|(k, ..)| k);
    if let Some(k) = other {
        let span = ctx.obj.op_span(inst, k);
        report(ctx, Code::PREDICATE_LOGIC, span, format!("{} of predicates and other operands", desc.name));
        return;
    }
    if let Some((_, span)) = pred_of(ctx, inst) {
        report(ctx, Code::PREDICATION, span, format!("{} of predicates takes no predication", desc.name));
    }
}

pub(crate) fn exec_span(ctx: &Ctx, inst: &Inst) -> Span {
    inst.desc().exec_slot().map_or(inst.span, |k| ctx.obj.op_span(inst, k))
}

/// A move from a predicate is one scalar copy into an integer that holds it.
fn mov(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    let (Some((dst, dst_span)), Some((src, src_span))) =
        (ctx.slot(inst, SlotName::Dst), ctx.slot(inst, SlotName::Src))
    else {
        return;
    };
    let Operand::Predicate(p) = src else { return };
    if let Some(e) = ctx.exec(inst)
        && e.log2 != 0
    {
        let span = exec_span(ctx, inst);
        let f = Finding::new(Code::PREDICATE_MOVE, ctx.on, span, "a move from a predicate has one channel");
        ctx.push(f.help("it copies all bits at once: write (M1,1)"));
    }
    if let Some((_, span)) = pred_of(ctx, inst) {
        report(ctx, Code::PREDICATION, span, "a move from a predicate takes no predication");
    }
    if dst.modifier() != envisa_isa::Modifier::None {
        report(ctx, Code::PREDICATE_MOVE, dst_span, "a move from a predicate does not saturate");
    }
    let bits = ctx.obj.predicates.get(p.id as usize - 1).map_or(0, |v| v.elems as u32);
    if let Some(ty) = ctx.type_of(&dst) {
        if !ty.is_int() || ty.size() == 8 {
            let f = Finding::new(
                Code::PREDICATE_MOVE,
                ctx.on,
                dst_span,
                format!("a move from a predicate to type {}", ty.name()),
            );
            ctx.push(f.help("ub, uw or ud"));
        } else if ty.size() * 8 < bits {
            let f = Finding::new(
                Code::PREDICATE_MOVE,
                ctx.on,
                dst_span,
                format!("{bits} bits of a predicate do not fit type {}", ty.name()),
            );
            ctx.push(f.also(src_span, format!("{bits} bits")));
        }
    }
}

fn check_setp(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    let (Some((src, _)), Some(e)) = (ctx.slot(inst, SlotName::Src0), ctx.exec(inst)) else { return };
    if !matches!(src, Operand::Imm { .. }) {
        return;
    }
    let legal = if e.log2 == 5 { e.mask.0 == 8 } else { matches!(e.mask.0, 8 | 12) };
    if !legal {
        let span = exec_span(ctx, inst);
        let f = Finding::new(
            Code::SETP_MASK,
            ctx.on,
            span,
            format!("SETP of a scalar with mask {} and {} channels", e.mask.name(), e.channels()),
        );
        ctx.push(f.help(if e.log2 == 5 { "M1_NM" } else { "M1_NM or M5_NM" }));
    }
}

fn cmp(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    let Some((dst, span)) = ctx.slot(inst, SlotName::Dst) else { return };
    if matches!(dst, Operand::Predicate(_)) {
        return;
    }
    let ty = |name| ctx.slot(inst, name).and_then(|(op, _)| ctx.type_of(&op));
    let (Some(d), Some(a), Some(b)) = (ctx.type_of(&dst), ty(SlotName::Src0), ty(SlotName::Src1)) else {
        return;
    };
    let float = |t: Type| t.is_float() || t == Type::Vf;
    if float(a) && float(b) && d != a && d != b {
        let f = Finding::new(
            Code::CMP_FLOAT_DST,
            ctx.on,
            span,
            format!("CMP of {} and {} into {}", a.name(), b.name(), d.name()),
        );
        ctx.push(f.help(format!("a destination of type {}", a.name())));
    }
}

fn movs(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    let (Some((dst, span)), Some((src, src_span))) =
        (ctx.slot(inst, SlotName::Dst), ctx.slot(inst, SlotName::Src0))
    else {
        return;
    };
    match (dst, src) {
        (Operand::State { class: a, .. }, Operand::State { class: b, .. }) if a != b => {
            let f = Finding::new(Code::MOVS_STATE, ctx.on, span, "MOVS between a surface and a sampler");
            ctx.push(f.also(src_span, "the other"));
        }
        (Operand::State { .. }, _) | (_, Operand::State { .. }) => {}
        _ => report(ctx, Code::MOVS_GENERAL, span, "MOVS without a surface or a sampler"),
    }
}

fn addr_add(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    let Some((src, span)) = ctx.slot(inst, SlotName::Src0) else { return };
    match src {
        Operand::General { var, .. } | Operand::AddressOf { var, .. } => {
            use predefined::var as v;
            if var < predefined::FIRST_VAR && var != v::ARG && var != v::RETVAL {
                let f = Finding::new(
                    Code::ADDR_ADD_BASE,
                    ctx.on,
                    span,
                    format!("the address of {}", ctx.obj.var_name(var)),
                );
                ctx.push(f.help("declared variables, %arg and %retval have addresses"));
            }
            if let Operand::General { region, .. } = src
                && region != Region::SCALAR
            {
                let f = Finding::new(
                    Code::ADDR_ADD_BASE,
                    ctx.on,
                    span,
                    "the variable whose address is taken has a region other than <0;1,0>",
                );
                ctx.push(f);
            }
        }
        Operand::State { class: StateClass::Surface, id, .. } if id < predefined::FIRST_SURFACE as u16 => {
            report(ctx, Code::ADDR_ADD_BASE, span, "the address of a predefined surface");
        }
        _ => {}
    }
}

fn scalar_nomask(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    if let Some(e) = ctx.exec(inst)
        && e.log2 == 0
        && !e.mask.no_mask()
    {
        let span = exec_span(ctx, inst);
        let f =
            Finding::new(Code::SCALAR_NOMASK, ctx.on, span, format!("a scalar {} without NoMask", desc.name));
        ctx.push(f.help("(M1_NM,1)"));
    }
}

fn call_sizes(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    for (name, max, what) in [(SlotName::ArgSize, 32, "%arg"), (SlotName::ReturnSize, 12, "%retval")] {
        if let Some((Operand::Int(n), span)) = ctx.slot(inst, name)
            && n > max
        {
            let message = format!("{} passes {n} registers of {what}, which has {max}", desc.name);
            report(ctx, Code::CALL_SIZES, span, message);
        }
    }
}

/// The callee's own idea of its arguments and results, where it is in the module.
fn call_mismatch(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    let Some((Operand::Str(name), name_span)) = ctx.slot(inst, SlotName::Function) else { return };
    let Some(name) = ctx.obj.strings.get(name) else { return };
    let Some(callee) = ctx.functions.get(name).and_then(|i| ctx.module.objects.get(*i)) else { return };
    if callee.kind == ObjectKind::Kernel {
        let f = Finding::new(Code::CALL_MISMATCH, ctx.on, name_span, format!("`{name}` is a kernel"));
        ctx.push(f.also(callee.name_span, "declared here").help("FCALL calls functions"));
        return;
    }
    for (slot, attr) in [(SlotName::ArgSize, "ArgSize"), (SlotName::ReturnSize, "RetValSize")] {
        let (Some((Operand::Int(n), span)), Some(a)) = (ctx.slot(inst, slot), callee.attr(attr)) else {
            continue;
        };
        if let Some(m) = a.int()
            && m != n
        {
            let f = Finding::new(
                Code::CALL_MISMATCH,
                ctx.on,
                span,
                format!("the `{slot}` is {n}, `{name}` declares {m}"),
            );
            ctx.push(f.also(a.span, attr));
        }
    }
}

fn file_name(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    if let Some((Operand::Str(s), span)) = ctx.slot(inst, SlotName::File)
        && let Some(n) = ctx.obj.strings.get(s).map(str::len)
        && n > limits::FILE_NAME_BYTES
    {
        let message = format!("a file's name of {n} bytes, at most {}", limits::FILE_NAME_BYTES);
        report(ctx, Code::NAME_LENGTH, span, message);
    }
}

/// Bits of %cr0 that a program may change: float modes, rounding, denormals.
const CR0_BITS: u64 = 0x4f1;
/// The bit of %cr0 that keeps denormals of DPAS, from PVC on.
const CR0_SYSTOLIC: u64 = 0x4000_0000;
/// Low bits of the pause counter, %tsc element 4, that are zero.
const PAUSE_ZERO: u64 = 0x1f;

/// Constants written to reserved bits of registers.
fn special_bits(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    use predefined::var as v;
    let Some((Operand::General { var, row: 0, col, .. }, dst_span)) = ctx.slot(inst, SlotName::Dst) else {
        return;
    };
    let Some(info) = ctx.var(var).filter(|i| matches!(i.root, v::CR0 | v::TSC)) else { return };
    let element = info.offset / 4 + col as u32 * info.ty.size() / 4;
    for (k, _, _, op) in ctx.slot_operands(inst) {
        let Operand::Imm { bits, .. } = *op else { continue };
        let bits = bits & 0xffff_ffff;
        let systolic = ctx.on.without(Platforms::PVC_UP) == Platforms::NONE;
        let cr0 = CR0_BITS | if systolic || ctx.on == Platforms::ALL { CR0_SYSTOLIC } else { 0 };
        let bad = match (info.root, inst.op) {
            (v::CR0, Op::And) => !bits & !cr0 & 0xffff_ffff,
            (v::CR0, _) if element == 0 => bits & !cr0,
            (v::TSC, Op::Mov) if element == 4 => bits & PAUSE_ZERO,
            _ => 0,
        };
        if bad != 0 {
            let name = ctx.obj.var_name(info.root);
            let message = format!("{} changes reserved bits of {name}: {bad:#x}", desc.name);
            let f = Finding::new(Code::SPECIAL_BITS, ctx.on, ctx.obj.op_span(inst, k), message);
            ctx.push(f.also(dst_span, "written here"));
        }
    }
}

/// Where practice takes more channels than the page.
fn page_exec(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let n = channel_count(ctx, inst);
    let limits = if inst.op == Op::Madw { [(8, NARROW), (16, WIDE)] } else { [(8, NARROW), (8, WIDE)] };
    for (max, on) in limits {
        if n > max {
            let span = exec_span(ctx, inst);
            let f = Finding::new(
                Code::PAGE_EXEC,
                on.intersect(ctx.on),
                span,
                format!("{} has {n} channels", desc.name),
            );
            ctx.push(f.help(format!("the page has at most {max}")));
        }
    }
}

/// Types on the page of operands that practice is less strict about.
fn page_types(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    // A wait repeats the id in the operands it does not use.
    let wait = ctx.field_value(inst, SlotName::Mode) == Some(0);
    for (k, slot, kind, op) in ctx.slot_operands(inst) {
        if !matches!(kind, SlotKind::Vector(_)) || (wait && slot.name != SlotName::Id) {
            continue;
        }
        let wants = if slot.name == SlotName::Type { Type::Uw } else { Type::Ub };
        if let Some(ty) = ctx.type_of(op).filter(|t| *t != wants) {
            let span = ctx.obj.op_span(inst, k);
            let message = format!("the `{}` of {} has type {}", slot.name, desc.name, ty.name());
            let f = Finding::new(Code::PAGE_TYPE, ctx.on, span, message);
            ctx.push(f.help(format!("the page wants {}", wants.name())));
        }
    }
}

/// The second of two fused threads supplies data only where src2 fills more than one register.
fn dpasw_sharing(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    let part = |name| field_or_part(ctx, inst, name);
    let (Some((w, _)), Some((a, _)), Some((count, span))) =
        (part(PartName::Src1Precision), part(PartName::Src2Precision), part(PartName::Count))
    else {
        return;
    };
    let (Some(weights), Some(activations)) = (precision_of_field(w), precision_of_field(a)) else { return };
    let row = Matrices { weights, activations, depth: 8, repeats: 1 }.activation_row_bytes();
    let bytes = row.saturating_mul(count);
    if bytes <= 32 {
        let message = format!("DPASW shares nothing: src2 has {bytes} bytes");
        let f = Finding::new(Code::DPASW_SHARING, ctx.on, span, message);
        ctx.push(f.help("use DPAS, or more repetitions"));
    }
}

fn fence_local(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    if let Some((1.., span)) = field_or_part(ctx, inst, PartName::Local) {
        let before = Platforms::ALL.without(Platforms::ICLLP_UP);
        let f = Finding::new(Code::FENCE_LOCAL, before, span, "a fence of shared local memory alone");
        ctx.push(f.note("the bit exists from ICLLP on; before, a barrier orders it"));
    }
}

fn check_switchjmp(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    let n = ctx.field_value(inst, SlotName::NumLabels);
    if let (Some((Operand::Imm { bits, .. }, span)), Some(n)) = (ctx.slot(inst, SlotName::Index), n)
        && bits >= n as u64
    {
        report(ctx, Code::SWITCH_INDEX, span, format!("index {bits} of {n} labels"));
    }
}

/// Byte offset of a general operand inside its root, for registers of this size.
fn offset_in_root(ctx: &Ctx, op: &Operand, grf: u32) -> Option<u32> {
    match *op {
        Operand::General { var, row, col, .. } => {
            let info = ctx.var(var)?;
            Some(info.offset + row as u32 * grf + col as u32 * info.ty.size())
        }
        Operand::Raw { var, offset } => Some(ctx.var(var)?.offset + offset as u32),
        _ => None,
    }
}

fn check_alignment(ctx: &mut Ctx, inst: &Inst, slots: &[SlotName], code: Code, bytes: impl Fn(u32) -> u32) {
    for (k, slot, kind, op) in ctx.slot_operands(inst) {
        if !matches!(kind, SlotKind::Vector(_)) || !slots.contains(&slot.name) {
            continue;
        }
        if let Operand::General { region, .. } = op
            && slot.role == Role::Read
            && *region == Region::SCALAR
            && code == Code::OWORD_ALIGNED
        {
            continue;
        }
        let span = ctx.obj.op_span(inst, k);
        for (_, grf, on) in SIZES {
            if let Some(at) = offset_in_root(ctx, op, grf)
                && at % bytes(grf) != 0
                && ctx.on.intersect(on) != Platforms::NONE
            {
                let message = format!(
                    "the `{}` of {} lies at byte {at}, no multiple of {}",
                    slot.name,
                    inst.desc().name,
                    bytes(grf)
                );
                ctx.push(Finding::new(code, on, span, message));
            }
        }
    }
}

fn oword_aligned(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    if ctx.exec(inst).is_some_and(|e| e.log2 != 0) {
        check_alignment(
            ctx,
            inst,
            &[SlotName::Dst, SlotName::Src0, SlotName::Src1, SlotName::Src2, SlotName::Src3],
            Code::OWORD_ALIGNED,
            |_| 16,
        );
    }
}

fn check_plane(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    // The region of src0 is ignored, its place is not.
    if let Some((op @ Operand::General { .. }, span)) = ctx.slot(inst, SlotName::Src0)
        && offset_in_root(ctx, &op, 32).is_some_and(|at| at % 16 != 0)
    {
        report(ctx, Code::OWORD_ALIGNED, span, "the `src0` of PLANE lies at no multiple of 16 bytes");
    }
    check_alignment(ctx, inst, &[SlotName::Src1], Code::GRF_ALIGNED, |grf| grf);
}

fn madw(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    check_alignment(ctx, inst, &[SlotName::Dst], Code::GRF_ALIGNED, |grf| grf);
}

fn same_type(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let mut first: Option<(Type, Span)> = None;
    for (k, _, kind, op) in ctx.slot_operands(inst) {
        if !matches!(kind, SlotKind::Vector(_)) || matches!(op, Operand::Imm { .. }) {
            continue;
        }
        let (Some(ty), span) = (ctx.type_of(op), ctx.obj.op_span(inst, k)) else { continue };
        match first {
            None => first = Some((ty, span)),
            Some((f, _)) if f == ty => {}
            Some((f, other)) => {
                let message = format!("{} of types {} and {}", desc.name, f.name(), ty.name());
                let finding = Finding::new(Code::SAME_TYPE, ctx.on, span, message).here(ty.name());
                ctx.push(finding.also(other, f.name()));
                return;
            }
        }
    }
}

fn shift_sign(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let signed = inst.op == Op::Asr;
    let ty = |name| ctx.slot(inst, name).and_then(|(op, s)| Some((ctx.type_of(&op)?, s)));
    for (name, found) in [(SlotName::Dst, ty(SlotName::Dst)), (SlotName::Src0, ty(SlotName::Src0))] {
        if let Some((t, span)) = found
            && t.is_int()
            && t.is_signed() != signed
        {
            let want = if signed { "signed" } else { "unsigned" };
            let message = format!("the `{name}` of {} has type {}", desc.name, t.name());
            let f = Finding::new(Code::SHIFT_SIGN, ctx.on, span, message);
            ctx.push(f.help(format!("a {want} type")));
            return;
        }
    }
}

fn mul_byte(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    for name in [SlotName::Src0, SlotName::Src1] {
        if let Some((op, span)) = ctx.slot(inst, name)
            && !matches!(op, Operand::Imm { .. })
            && matches!(ctx.type_of(&op), Some(Type::B | Type::Ub))
        {
            let f = Finding::new(Code::MUL_BYTE, Platforms::PVC_UP, span, "MUL of bytes");
            ctx.push(f.help("convert to words first"));
            return;
        }
    }
}

fn no_mask(ctx: &mut Ctx, inst: &Inst, what: &str) {
    if let Some(e) = ctx.exec(inst)
        && !e.mask.no_mask()
    {
        let span = exec_span(ctx, inst);
        report(ctx, Code::NOMASK_ONLY, span, format!("{what} under an execution mask"));
    }
}

fn fcvt(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    let ty = |name| ctx.slot(inst, name).and_then(|(op, s)| Some((ctx.type_of(&op)?, s)));
    let (Some((d, _)), Some((s, _))) = (ty(SlotName::Dst), ty(SlotName::Src0)) else { return };
    use Type::{Hf, Ub};
    // ub is BF8. Other pairs are the table's matter.
    if matches!((d, s), (Ub, Hf)) {
        no_mask(ctx, inst, "FCVT from hf to ub");
    }
}

fn srnd(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    no_mask(ctx, inst, "SRND");
    let ty = |name| ctx.slot(inst, name).and_then(|(op, s)| Some((ctx.type_of(&op)?, s)));
    let (Some((d, _)), Some((s, _))) = (ty(SlotName::Dst), ty(SlotName::Src0)) else { return };
    use Type::{B, Bf, F, Hf, Ub, Uw};
    let random = match (d, s) {
        (Ub | B, Hf | Bf) => TypeSet::of(&[Ub]),
        (Hf, F) => TypeSet::of(&[Uw]),
        _ => return,
    };
    if let Some((t, span)) = ty(SlotName::Src1)
        && !random.contains(t)
    {
        let f = Finding::new(Code::FCVT_TYPES, ctx.on, span, format!("random numbers of type {}", t.name()));
        ctx.push(f.help(crate::finding::type_names(random)));
    }
}

/// The precision of a field's value.
fn precision_of_field(code: u32) -> Option<Precision> {
    u8::try_from(code).ok().and_then(Precision::from_code)
}

fn dpas(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let part = |ctx: &Ctx, name: PartName| field_or_part(ctx, inst, name);
    let (Some((w, w_span)), Some((a, _))) =
        (part(ctx, PartName::Src1Precision), part(ctx, PartName::Src2Precision))
    else {
        return;
    };
    let (Some((sd, sd_span)), Some((rc, rc_span))) = (part(ctx, PartName::Depth), part(ctx, PartName::Count))
    else {
        return;
    };
    if sd != 8 {
        let f =
            Finding::new(Code::DPAS_SHAPE, ctx.on, sd_span, format!("{} of systolic depth {sd}", desc.name));
        ctx.push(f.help("platforms that exist have a depth of 8"));
    }
    let scaled = inst.op == Op::Bdpas;
    if !(if scaled { 8..=8 } else { 1..=8 }).contains(&rc) {
        let f =
            Finding::new(Code::DPAS_SHAPE, ctx.on, rc_span, format!("{} with repeat count {rc}", desc.name));
        ctx.push(f.help(if scaled { "8" } else { "1 to 8" }));
    }
    // Integers mix freely; floats do not, but for the 8-bit ones.
    let (Some(w), Some(a)) = (precision_of_field(w), precision_of_field(a)) else { return };
    let eight = |p| matches!(p, Precision::Bf8 | Precision::Hf8);
    if scaled && (w.is_int() || w == Precision::Tf32) {
        let message = format!("{} of precision {}", desc.name, w.name());
        ctx.push(Finding::new(Code::DPAS_TYPES, ctx.on, w_span, message).help("floats of at most 16 bits"));
    }
    if w.is_int() != a.is_int() || (!w.is_int() && w != a && !(eight(w) && eight(a))) {
        let f = Finding::new(
            Code::DPAS_TYPES,
            ctx.on,
            w_span,
            format!("precisions {} and {} do not go together", w.name(), a.name()),
        );
        ctx.push(f.help("both integers, or the same float"));
    }
    let ty = |name| ctx.slot(inst, name).and_then(|(op, s)| Some((ctx.type_of(&op)?, s)));
    use Type::{Bf, D, F, Hf, Ud};
    let legal = match w {
        _ if w.is_int() => TypeSet::of(&[Ud, D]),
        Precision::Bf => TypeSet::of(&[F, Bf]),
        Precision::Hf => TypeSet::of(&[F, Hf]),
        Precision::Tf32 => TypeSet::of(&[F]),
        _ => TypeSet::of(&[F, Bf]),
    };
    for (name, found) in [(SlotName::Dst, ty(SlotName::Dst)), (SlotName::Src0, ty(SlotName::Src0))] {
        let Some((t, span)) = found else { continue };
        // Fewer than 16 bits accumulate in brain floats from Xe3P on.
        let on = match t {
            _ if !legal.contains(t) => ctx.on,
            Bf if w != Precision::Bf => ctx.on.without(Platforms::from(envisa_isa::Platform::Xe3p)),
            _ => Platforms::NONE,
        };
        if on != Platforms::NONE {
            let message = format!("the `{name}` of {} has type {} for these precisions", desc.name, t.name());
            let f = Finding::new(Code::DPAS_TYPES, on, span, message);
            let legal = if t == Bf { TypeSet::of(&[F]) } else { legal };
            ctx.push(f.help(crate::finding::type_names(legal)));
        }
    }
    if let Some(e) = ctx.exec(inst) {
        let span = exec_span(ctx, inst);
        for (want, on) in [(8, NARROW), (16, WIDE)] {
            if e.channels() != want {
                let message = format!("{} of {} channels", desc.name, e.channels());
                ctx.push(Finding::new(Code::DPAS_EXEC, on, span, message).help(format!("{want} channels")));
            }
        }
    }
    // A row of src2 holds SD elements of OPS_PER_CHAN values each.
    if let Some((op, span)) = ctx.slot(inst, SlotName::Src2) {
        let row = Matrices { weights: w, activations: a, depth: sd, repeats: 1 }.activation_row_bytes();
        for (_, grf, on) in SIZES {
            if let Some(at) = offset_in_root(ctx, &op, grf)
                && !at.is_multiple_of(row.max(4))
            {
                let message = format!("the `src2` of {} lies at byte {at}, no multiple of {row}", desc.name);
                ctx.push(Finding::new(Code::DPAS_SRC2_ALIGN, on, span, message));
            }
        }
    }
}

fn check_nbarrier(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    // A wait repeats the id in the operands it does not use.
    if ctx.field_value(inst, SlotName::Mode) == Some(0) {
        if let Some((Operand::Imm { bits: 32.., .. }, span)) = ctx.slot(inst, SlotName::Id) {
            report(ctx, Code::NBARRIER_RANGE, span, "a barrier id over 31");
        }
        return;
    }
    for (name, min, max) in [
        (SlotName::Id, 0, 31),
        (SlotName::Type, 0, 2),
        (SlotName::NumProducers, 1, 64),
        (SlotName::NumConsumers, 1, 64),
        (SlotName::NumThreads, 1, 64),
    ] {
        if let Some((Operand::Imm { bits, .. }, span)) = ctx.slot(inst, name)
            && !(min..=max).contains(&bits)
        {
            let f = Finding::new(
                Code::NBARRIER_RANGE,
                ctx.on,
                span,
                format!("the `{name}` of {} is {bits}", desc.name),
            );
            ctx.push(f.help(format!("{min} to {max}")));
        }
    }
}

fn raw_send(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    if let Some((n, span)) = field_or_part(ctx, inst, SlotName::NumSrc)
        && !(1..=15).contains(&n)
    {
        let f = Finding::new(
            Code::RAW_SEND_SIZE,
            ctx.on,
            span,
            format!("{} with {n} source registers", desc.name),
        );
        ctx.push(f.help("1 to 15"));
    }
    if let Some((n, span)) = field_or_part(ctx, inst, SlotName::NumDst)
        && n > 16
    {
        let f = Finding::new(
            Code::RAW_SEND_SIZE,
            ctx.on,
            span,
            format!("{} with {n} result registers", desc.name),
        );
        ctx.push(f.help("0 to 16"));
    }
}

fn check_lifetime(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    let (Some((class, _)), Some((id, span))) =
        (field_or_part(ctx, inst, PartName::Class), field_or_part(ctx, inst, SlotName::Variable))
    else {
        return;
    };
    let known = match class {
        0 => (id as usize) < ctx.vars.len(),
        1 => (id as usize) < ctx.obj.addresses.len(),
        _ => id > 0 && id as usize <= ctx.obj.predicates.len(),
    };
    if !known {
        report(ctx, Code::DANGLING, span, format!("variable {id} of its class is not declared"));
    }
}
