//! How the reference assembler changes some instructions.

use envisa_isa::{Exec, ExecMask, Operand, Pred, SlotName, Span};

use crate::instruction_operands::Ops;
use crate::parser::Parser;
use crate::template::Compiled;

/// Applies them; warns where the text says otherwise.
#[inline]
pub(crate) fn apply_quirks(p: &mut Parser<'_>, form: &'static Compiled, ops: &mut Ops, pred: Option<Pred>) {
    if form.desc.family == envisa_isa::desc::Family::ControlFlow {
        apply_control_flow_quirks(p, form, ops);
    }
    if form.desc.family == envisa_isa::desc::Family::Lsc
        && let Some(stride) = form.slot(SlotName::Stride)
        && ops.list[stride].0 == Operand::RAW_NULL
    {
        let int = |name| form.slot(name).map_or(0, |i| ops.int(i));
        let bytes = crate::lsc::access_bytes(int(SlotName::DataSize), int(SlotName::DataElems));
        ops.list[stride].0 = Operand::Imm { ty: envisa_isa::Type::Ud, bits: bytes as u64 };
    }
    if pred.is_some()
        && form.desc.family == envisa_isa::desc::Family::Logic
        && form.dst.is_some_and(|d| matches!(ops.list[d as usize].0, Operand::Predicate(_)))
    {
        dropped_predicate(p, form);
    }
}

fn apply_control_flow_quirks(p: &mut Parser<'_>, form: &'static Compiled, ops: &mut Ops) {
    let Some(slot) = form.exec else { return };
    let (operand, span) = &mut ops.list[slot as usize];
    let Operand::Exec(exec) = *operand else { return };
    if form.form.head == "jmp" {
        let scalar = Exec { log2: 0, mask: ExecMask::M1 };
        if exec != scalar {
            *operand = Operand::Exec(scalar);
            let span: Span = *span;
            let d = p.warning_at("W0401", "`jmp` takes all channels together", span, "taken as `(M1, 1)`");
            p.report_diagnostic(d);
        }
    }
}

#[cold]
fn dropped_predicate(p: &mut Parser<'_>, form: &'static Compiled) {
    let span = p.pred_span;
    let d = p
        .warning_at(
            "W0402",
            format!("the reference assembler drops the predicate of `{}`", form.form.head),
            span,
            "",
        )
        .note("envisa keeps it, as the specification says");
    p.report_diagnostic(d);
}
