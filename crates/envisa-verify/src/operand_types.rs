//! Types of operands: each against its slot, and all of an instruction together.

use envisa_isa::desc::{Classes, Family, InstDesc, Role, Slot, SlotKind, TypeMap};
use envisa_isa::{Inst, Op, Operand, Platforms, SlotName, Span, Type, TypeSet};

use crate::context::Ctx;
use crate::finding::{platform_names, type_names};
use crate::page_rules::page_traits;
use crate::{Code, Finding};

/// Vector operands of these families are scalars: only the first element counts.
pub(crate) fn scalar_operands(f: Family) -> bool {
    !matches!(
        f,
        Family::Arithmetic
            | Family::Math
            | Family::Logic
            | Family::Move
            | Family::Compare
            | Family::Address
            | Family::Systolic
    )
}

/// Packed immediates stand for vectors of another type.
fn type_set_admits(set: TypeSet, ty: Type) -> bool {
    if set.contains(ty) {
        return true;
    }
    let any = |list: &[Type]| list.iter().any(|t| set.contains(*t));
    match ty {
        Type::V => any(&[Type::W, Type::D, Type::B, Type::Q]),
        Type::Uv => any(&[Type::Uw, Type::Ud, Type::Ub, Type::Uq]),
        Type::Vf => set.contains(Type::F),
        _ => false,
    }
}

/// The type of one operand, against the types of its slot.
pub(crate) fn check_operand_type(
    ctx: &mut Ctx,
    inst: &Inst,
    desc: &InstDesc,
    slot: &Slot,
    op: &Operand,
    span: Span,
) {
    match *op {
        Operand::Imm { ty: Type::Bool, .. } => {
            ctx.push(Finding::new(Code::IMM_TYPE, ctx.on, span, "an immediate has no type bool"));
            return;
        }
        Operand::Indirect { ty, .. } if ty.is_packed() || ty == Type::Bool => {
            let f = Finding::new(
                Code::INDIRECT_TYPE,
                ctx.on,
                span,
                format!("an indirect operand cannot have type {}", ty.name()),
            );
            ctx.push(f.help("any type but v, uv, vf and bool"));
            return;
        }
        Operand::Predicate(_)
        | Operand::Address { .. }
        | Operand::AddressOf { .. }
        | Operand::State { .. } => return,
        _ => {}
    }
    let Some(ty) = ctx.type_of(op) else { return };
    if ty == Type::Bf && ctx.on.without(Platforms::XEHP_UP) != Platforms::NONE {
        let f = Finding::new(
            Code::NO_BF,
            ctx.on.without(Platforms::XEHP_UP),
            span,
            format!("type bf exists on {}", platform_names(Platforms::XEHP_UP)),
        );
        ctx.push(f);
    }
    if slot.types == TypeSet::ANY || slot.types == TypeSet::NONE || type_set_admits(slot.types, ty) {
        return;
    }
    // Raw operands move bytes: the reference checks the types of few of them, and its compiler relies on it.
    // Constant offsets of messages are in the same boat.
    let constant = matches!(op, Operand::Imm { ty, .. } if ty.is_int()) && scalar_operands(desc.family);
    // A handle is 32 bits, whatever integer holds it.
    let handle = inst.op == Op::Movs && ty.is_int();
    let code = if constant || handle || matches!(op, Operand::Raw { .. }) {
        Code::RAW_TYPE
    } else if no_sign(slot.types).contains(unsigned_of_same_size(ty)) {
        Code::OPERAND_SIGN
    } else {
        Code::OPERAND_TYPE
    };
    let f = Finding::new(
        code,
        ctx.on,
        span,
        format!("the `{}` of {} has no type {}", slot.name, desc.name, ty.name()),
    )
    .here(format!("this is {}", ty.name()))
    .help(format!("legal: {}", type_names(slot.types)));
    ctx.push(f);
}

/// A set with the unsigned integers of the sizes it has.
fn no_sign(set: TypeSet) -> TypeSet {
    set.iter().fold(set, |s, t| s.union(TypeSet::of(&[unsigned_of_same_size(t)])))
}

/// The unsigned integer of the same size.
fn unsigned_of_same_size(ty: Type) -> Type {
    match ty {
        Type::B => Type::Ub,
        Type::W => Type::Uw,
        Type::D => Type::Ud,
        Type::Q => Type::Uq,
        other => other,
    }
}

/// Destination and source types together, by the row's type maps.
pub(crate) fn check_type_combination(ctx: &mut Ctx, inst: &Inst, desc: &InstDesc) {
    if desc.type_maps.is_empty() {
        return;
    }
    let mut dst = None;
    let mut srcs: [Type; 4] = [Type::Ud; 4];
    let mut n = 0;
    let (mut spans, mut dst_span) = ([inst.span; 4], inst.span);
    for (k, slot, kind, op) in ctx.slot_operands(inst) {
        let SlotKind::Vector(classes) = kind else { continue };
        match op {
            // Predicates and addresses have rules of their own.
            Operand::Predicate(_) if *classes == Classes::PREDICATE || inst.op == Op::Cmp => continue,
            Operand::Predicate(_) if inst.op == Op::Mov => {}
            Operand::Predicate(_) | Operand::Address { .. } | Operand::AddressOf { .. } => return,
            _ => {}
        }
        let Some(mut ty) = ctx.type_of(op) else { return };
        if page_traits(inst.op).sign_free {
            ty = unsigned_of_same_size(ty);
        }
        if slot.role == Role::Write && slot.name == SlotName::Dst {
            dst = Some(ty);
            dst_span = ctx.obj.op_span(inst, k);
        } else if slot.role == Role::Read && n < 4 {
            spans[n] = ctx.obj.op_span(inst, k);
            srcs[n] = ty;
            n += 1;
        }
    }
    let srcs = &srcs[..n];
    let fits = |m: &&TypeMap| {
        let (to, from) =
            if page_traits(inst.op).sign_free { (no_sign(m.dst), no_sign(m.src)) } else { (m.dst, m.src) };
        dst.is_none_or(|d| type_set_admits(to, d)) && srcs.iter().all(|s| type_set_admits(from, *s))
    };
    let ok = desc.type_maps.iter().filter(fits).fold(Platforms::NONE, |p, m| p.union(m.platforms));
    let mut bad = ctx.on.without(ok);
    if dst == Some(Type::Bf) || srcs.contains(&Type::Bf) {
        // Where the type does not exist at all, that is what is wrong.
        bad = bad.intersect(Platforms::XEHP_UP);
    }
    if bad == Platforms::NONE {
        return;
    }
    let wide = |t: &Type| matches!(t, Type::Q | Type::Uq);
    let signless = |m: &&TypeMap| {
        dst.is_none_or(|d| type_set_admits(no_sign(m.dst), unsigned_of_same_size(d)))
            && srcs.iter().all(|s| type_set_admits(no_sign(m.src), unsigned_of_same_size(*s)))
    };
    let but_for_signs =
        desc.type_maps.iter().filter(signless).fold(Platforms::NONE, |p, m| p.union(m.platforms));
    let code = if bad.without(Platforms::ALL.without(Platforms::INT64)) == Platforms::NONE
        && (srcs.iter().any(wide) || dst.as_ref().is_some_and(wide))
        && ok != Platforms::NONE
    {
        Code::NO_INT64
    } else if bad.without(but_for_signs) == Platforms::NONE {
        Code::OPERAND_SIGN
    } else {
        Code::TYPE_COMBINATION
    };
    let list: Vec<&str> = srcs.iter().map(|t| t.name()).collect();
    let to = dst.map_or("a predicate", |d| d.name());
    let message = format!("{} does not take {} to {to}", desc.name, list.join(", "));
    // The finding stands at the sources that no combination with the destination has, if it is only them.
    let with_dst = |m: &&TypeMap| dst.is_none_or(|d| type_set_admits(m.dst, d));
    let odd = |t: Type| !desc.type_maps.iter().filter(with_dst).any(|m| type_set_admits(m.src, t));
    let wrong = srcs.iter().position(|t| odd(*t)).filter(|_| desc.type_maps.iter().any(|m| with_dst(&m)));
    let at = wrong.map_or(dst_span, |i| spans[i]);
    let mut f = Finding::new(code, bad, at, message).here(wrong.map_or(to, |i| list[i]));
    if wrong.is_some() && dst.is_some() {
        f = f.also(dst_span, to);
    }
    for (i, span) in spans[..n].iter().enumerate().filter(|(i, _)| Some(*i) != wrong) {
        f = f.also(*span, list[i]);
    }
    let mut fitting: Vec<String> = desc
        .type_maps
        .iter()
        .filter(|m| m.platforms.intersect(ctx.on) != Platforms::NONE)
        .filter(|m| with_dst(m) || srcs.iter().all(|s| type_set_admits(m.src, *s)))
        .map(|m| format!("{} from {}", type_names(m.dst), type_names(m.src)))
        .collect();
    fitting.dedup();
    if !fitting.is_empty() && ok == Platforms::NONE {
        f = f.help(format!("legal: {}", fitting.join("; ")));
    }
    ctx.push(f);
}
