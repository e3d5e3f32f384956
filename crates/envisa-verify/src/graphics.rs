//! Sampler, render target, URB and VME messages.

use envisa_isa::desc::InstDesc;
use envisa_isa::{Inst, Op, Operand, Platforms, SlotName, Span, Type, TypeSet};

use crate::context::{Check, Ctx, Rows, field_or_part, report};
use crate::{Code, Finding};

/// Which rules look at which rows.
pub(crate) const CHECKS: &[(Rows, Check)] = &[
    (Rows::Page("3D_SAMPLE"), sampler),
    (Rows::Page("3D_SAMPLE4"), sampler),
    (Rows::Page("3D_LOAD"), sampler),
    (Rows::Of(&[Op::RtWrite]), rt_write),
    (Rows::Of(&[Op::UrbWrite]), urb_write),
    (Rows::Of(&[Op::VmeIme]), vme_ime),
    (Rows::Of(&[Op::VmeFbr]), vme_fbr),
];

/// Operations with CPS LOD compensation.
const CPS: [Op; 5] = [Op::Sample3d, Op::Sample3dB, Op::Sample3dBC, Op::Sample3dC, Op::Sample3dLod];

fn sampler(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    if let Some((Operand::Imm { bits, .. }, span)) = ctx.slot(inst, SlotName::Offset)
        && bits & 0xf000 != 0
    {
        let f = Finding::new(Code::SAMPLER_OFFSET, ctx.on, span, "reserved bits of the texel offset are set");
        ctx.push(f.help("bits 0 to 3: r, 4 to 7: v, 8 to 11: u"));
    }
    if let Some((1.., span)) = field_or_part(ctx, inst, SlotName::Cps) {
        if !CPS.contains(&inst.op) {
            let message = format!("{} has no CPS LOD compensation", desc.name);
            ctx.push(
                Finding::new(Code::SAMPLER_FLAGS, ctx.on, span, message)
                    .help(CPS.map(|op| op.desc().name).join(", ")),
            );
        } else {
            let before = Platforms::ALL.without(Platforms::ICLLP_UP);
            let message = "CPS LOD compensation exists from ICLLP on";
            ctx.push(Finding::new(Code::SAMPLER_FLAGS, before, span, message));
        }
    }
    if inst.op == Op::Sample3dLod
        && let Some((n, span)) = field_or_part(ctx, inst, SlotName::Channels)
        && n & 0b1100 != 0
    {
        let f = Finding::new(Code::SAMPLER_FLAGS, ctx.on, span, "B and A of LOD have no value");
        ctx.push(f.help("R is the clamped, G the unclamped level"));
    }
    sampler_params(ctx, inst, desc);
}

fn sampler_params(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let load = desc.page == "3D_LOAD";
    let most = desc.parameters.len();
    let mut first: Option<(Type, Span)> = None;
    let mut n = 0;
    for (k, slot, _, op) in ctx.slot_operands(inst).filter(|(_, s, ..)| s.name == SlotName::Params) {
        let span = ctx.obj.op_span(inst, k);
        let integer = desc.parameters.get(n).is_some_and(|p| p.integer);
        n += 1;
        if n == most + 1 {
            let message = format!("{} has {most} parameters", desc.name);
            let list: Vec<&str> = desc.parameters.iter().map(|p| p.name).collect();
            let f = Finding::new(Code::SAMPLER_PARAMS, ctx.on, span, message);
            ctx.push(f.here("one too many").help(list.join(" ")));
        }
        let Some(ty) = ctx.type_of(op) else { continue };
        // Integers all the same: offsets, indices of samples and packed values.
        if !load && integer {
            continue;
        }
        // The reference compiler writes d for ud.
        let legal = if load {
            TypeSet::of(&[Type::Ud, Type::D, Type::Uw, Type::W])
        } else {
            TypeSet::of(&[Type::F, Type::Hf])
        };
        if !legal.contains(ty) {
            let message = format!("the `{}` of {} has type {}", slot.name, desc.name, ty.name());
            let f = Finding::new(Code::SAMPLER_PARAMS, ctx.on, span, message);
            ctx.push(f.help(if load { "ud, or all of them uw" } else { "f, or all of them hf" }));
            continue;
        }
        if ty.size() == 2 && (!load || inst.op == Op::Load3d2dmsW) {
            let before = Platforms::ALL.without(Platforms::ICLLP_UP);
            let message = format!("parameters of type {} exist from ICLLP on", ty.name());
            ctx.push(Finding::new(Code::SAMPLER_PARAMS, before, span, message));
        }
        match first {
            None => first = Some((ty, span)),
            Some((f, at)) if f.size() != ty.size() => {
                let message = format!("parameters of types {} and {}", f.name(), ty.name());
                let f = Finding::new(Code::SAMPLER_PARAMS, ctx.on, span, message).also(at, f.name());
                ctx.push(f.help("all parameters have one type"));
                return;
            }
            _ => {}
        }
    }
}

fn rt_write(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    let mut first: Option<(Type, Span)> = None;
    for name in [SlotName::Source0Alpha, SlotName::Red, SlotName::Green, SlotName::Blue, SlotName::Alpha] {
        let Some((op @ Operand::Raw { .. }, span)) = ctx.slot(inst, name) else { continue };
        let Some(ty) = ctx.type_of(&op) else { continue };
        match first {
            None => first = Some((ty, span)),
            Some((f, at)) if f != ty => {
                let message = format!("{} of types {} and {}", desc.name, f.name(), ty.name());
                let f = Finding::new(Code::RT_TYPES, ctx.on, span, message).also(at, f.name());
                ctx.push(f.help("all f, or all hf"));
                break;
            }
            _ => {}
        }
    }
    if let Some((Operand::Imm { bits, .. }, span)) = ctx.slot(inst, SlotName::Rti)
        && bits > 7
    {
        let f = Finding::new(Code::RT_TYPES, ctx.on, span, format!("render target {bits}"));
        ctx.push(f.help("0 to 7"));
    }
}

fn urb_write(ctx: &mut Ctx, inst: &Inst, desc: &'static InstDesc) {
    for (name, min, max) in [(SlotName::NumOut, 1, 8), (SlotName::GlobalOffset, 0, 2047)] {
        if let Some((n, span)) = field_or_part(ctx, inst, name)
            && !(min..=max).contains(&n)
        {
            let f =
                Finding::new(Code::URB_RANGE, ctx.on, span, format!("the `{name}` of {} is {n}", desc.name));
            ctx.push(f.help(format!("{min} to {max}")));
        }
    }
}

fn vme_ime(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    if let Some((n @ 4.., span)) = field_or_part(ctx, inst, SlotName::SearchCtrl) {
        report(ctx, Code::VME_MODES, span, format!("the search control is {n}; legal are 0 to 3"));
    }
}

fn vme_fbr(ctx: &mut Ctx, inst: &Inst, _: &'static InstDesc) {
    debug_assert_eq!(inst.op, Op::VmeFbr);
    if let Some((Operand::Imm { bits, .. }, span)) = ctx.slot(inst, SlotName::MbMode)
        && bits > 3
    {
        report(ctx, Code::VME_MODES, span, format!("the macro-block mode is {bits}; legal are 0 to 3"));
    }
    if let Some((Operand::Imm { bits, .. }, span)) = ctx.slot(inst, SlotName::SubPredMode)
        && (0..4).any(|i| bits >> (2 * i) & 3 == 3)
    {
        report(ctx, Code::VME_MODES, span, format!("prediction mode 3 in {bits:#x}; legal are 0 to 2 each"));
    }
}
