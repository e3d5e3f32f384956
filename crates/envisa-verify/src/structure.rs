//! The structural check: everything on which code relies that walks a module.
//!
//! Indices, operand kinds and codes are the module model's own soundness ([`envisa_isa::Limits`]);
//! added here is what engines need beyond it: labels placed once and of the right kind, field values
//! that the table knows.

use envisa_isa::desc::{Enc, LabelKind, Slot, SlotKind, Value};
use envisa_isa::{Fault, Inst, LabelUse, Limits, Module, Object, ObjectKind, Op, Operand, Span};

use crate::Code;

/// A structural defect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Defect {
    /// The rule it breaks.
    pub code: Code,
    /// Index of the object in the module.
    pub object: usize,
    /// Index of the instruction in the object; `None` for a declaration.
    pub inst: Option<usize>,
    /// Where.
    pub span: Span,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
}

/// Checks a module's structure; an empty list means it is sound.
pub fn check(module: &Module) -> Vec<Defect> {
    let mut out = Vec::new();
    for (index, obj) in module.objects.iter().enumerate() {
        Checker { module, obj, index, inst: None, out: &mut out }.object();
    }
    out
}

struct Checker<'a> {
    module: &'a Module,
    obj: &'a Object,
    index: usize,
    inst: Option<usize>,
    out: &'a mut Vec<Defect>,
}

/// The rule that a fault of the model belongs to.
fn code_of(fault: &Fault) -> Code {
    match fault {
        Fault::Alias(_) => Code::ALIAS_TARGET,
        Fault::ExecSize(_) => Code::EXEC_CODE,
        Fault::Region(_) | Fault::AddressWidth(_) => Code::REGION_CODE,
        Fault::Wide { .. } => Code::FIELD_VALUE,
        Fault::Operand(_) | Fault::OperandCount { .. } | Fault::OperandRange | Fault::Version(_) => {
            Code::SHAPE
        }
        _ => Code::DANGLING,
    }
}

impl Checker<'_> {
    #[cold]
    fn report_defect(&mut self, code: Code, span: Span, message: String) {
        self.out.push(Defect { code, object: self.index, inst: self.inst, span, message });
    }

    fn object(&mut self) {
        let obj = self.obj;
        if let Err((place, span, fault)) = obj.check_tables(self.module.version) {
            self.report_defect(code_of(&fault), span, format!("{place}: {fault}"));
        }
        if obj.kind == ObjectKind::Function && !obj.inputs.is_empty() {
            self.report_defect(Code::SHAPE, obj.inputs[0].span, "a function has no inputs".into());
        }
        if !obj.operand_spans.is_empty() && obj.operand_spans.len() != obj.operands.len() {
            let message = format!("{} places for {} operands", obj.operand_spans.len(), obj.operands.len());
            self.report_defect(Code::SHAPE, obj.name_span, message);
            return;
        }
        self.check_instructions();
    }

    fn check_instructions(&mut self) {
        let obj = self.obj;
        let limits = Limits::of(obj, self.module.version);
        let mut placed = vec![0u32; obj.labels.len()];
        let mut used: Vec<Option<(usize, Span)>> = vec![None; obj.labels.len()];
        let version = if self.module.version < (4, 2) { (4, 1) } else { self.module.version };
        for (i, inst) in obj.insts.iter().enumerate() {
            self.inst = Some(i);
            let desc = inst.desc();
            let end = inst.first as usize + inst.len as usize;
            let Some(ops) = obj.operands.get(inst.first as usize..end) else {
                let n = obj.operands.len();
                self.report_defect(
                    Code::SHAPE,
                    inst.span,
                    format!("operands {}..{end} of a list of {n}", inst.first),
                );
                continue;
            };
            if !desc.versions.contains(version) {
                let (major, minor) = version;
                self.report_defect(
                    Code::SHAPE,
                    inst.span,
                    format!("this form of {} is not in version {major}.{minor}", desc.name),
                );
            }
            if !self.count(inst, ops) {
                continue;
            }
            for (k, op) in ops.iter().enumerate() {
                let slot = &desc.slots[k.min(desc.slots.len() - 1)];
                if !slot.is_in(version) && *op != Operand::Int(0) {
                    let fault = envisa_isa::Fault::Later(slot.since);
                    let message = format!("the `{}` of {}: {fault}", slot.name, desc.name);
                    self.report_defect(Code::SHAPE, obj.op_span(inst, k), message);
                    continue;
                }
                if !is_operand_present(slot, ops) {
                    if *op != Operand::Int(0) {
                        let message = format!(
                            "the `{}` of {} is absent, because its flag says so",
                            slot.name, desc.name
                        );
                        self.report_defect(Code::SHAPE, obj.op_span(inst, k), message);
                    }
                    continue;
                }
                if let Err(fault) = limits.check(&slot.kind, op) {
                    let message = format!("the `{}` of {}: {fault}", slot.name, desc.name);
                    self.report_defect(code_of(&fault), obj.op_span(inst, k), message);
                    continue;
                }
                match *op {
                    Operand::Int(n) => self.check_field(inst, k, slot, operand_slot_kind(&slot.kind), n),
                    Operand::Label(l) => {
                        let span = obj.op_span(inst, k);
                        if is_definition(inst.op) {
                            placed[l as usize] += 1;
                            if placed[l as usize] == 2 {
                                let name = label_name(obj, l);
                                self.report_defect(
                                    Code::LABEL_TWICE,
                                    span,
                                    format!("label `{name}` is placed twice"),
                                );
                            }
                        } else if used[l as usize].is_none() {
                            used[l as usize] = Some((i, span));
                        }
                        self.label(inst, operand_slot_kind(&slot.kind), l, span);
                    }
                    _ => {}
                }
            }
        }
        for (l, (placed, used)) in placed.iter().zip(&used).enumerate() {
            // A linker supplies what `fccall` names.
            if let (0, Some((i, span))) = (placed, used)
                && obj.labels[l].kind != LabelUse::Fc
            {
                self.inst = Some(*i);
                let name = label_name(obj, l as u16);
                self.report_defect(
                    Code::LABEL_MISSING,
                    *span,
                    format!("label `{name}` is used and never placed"),
                );
            }
        }
        self.inst = None;
    }

    /// Does the number of operands fit the row?
    fn count(&mut self, inst: &Inst, ops: &[Operand]) -> bool {
        let (desc, slots) = (inst.desc(), inst.desc().slots);
        let many = matches!(slots.last().map(|s| &s.kind), Some(SlotKind::Many(_)));
        let fixed = if many { slots.len() - 1 } else { slots.len() };
        let fits = if many { ops.len() >= fixed } else { ops.len() == fixed };
        if !fits {
            let message = format!("{} has {} operands and fields, it takes {fixed}", desc.name, ops.len());
            self.report_defect(Code::SHAPE, inst.span, message);
            return false;
        }
        if !many {
            return true;
        }
        let count = slots.iter().position(|s| matches!(s.kind, SlotKind::Count { .. }));
        let Some(at) = count else { return true };
        let SlotKind::Count { min, max, .. } = slots[at].kind else { return true };
        let got = (ops.len() - fixed) as u32;
        if ops[at] == Operand::Int(got) && got >= min as u32 && got <= max as u32 {
            return true;
        }
        let says = ops[at].int().map_or("nothing".to_string(), |n| n.to_string());
        let message = format!(
            "the `{}` of {} says {says}, {got} operands follow; legal are {min} to {max}",
            slots[at].name, desc.name
        );
        self.report_defect(Code::SHAPE, self.obj.op_span(inst, at), message);
        false
    }

    fn label(&mut self, inst: &Inst, kind: &SlotKind, l: u16, span: Span) {
        let is = self.obj.labels[l as usize].kind;
        let wrong = match kind {
            SlotKind::Label(LabelKind::Block) => is != LabelUse::Block,
            SlotKind::Label(LabelKind::Subroutine) => is == LabelUse::Block,
            _ => inst.op == Op::Call && is == LabelUse::Block,
        };
        if wrong {
            let (is, wants) = match is {
                LabelUse::Block => ("a block", "a subroutine"),
                LabelUse::Subroutine | LabelUse::Fc => ("a subroutine", "a block"),
            };
            let text = label_name(self.obj, l);
            let message = format!("label `{text}` marks {is}; {} wants {wants}", inst.desc().name);
            self.report_defect(Code::LABEL_KIND, span, message);
        }
    }

    fn check_field(&mut self, inst: &Inst, k: usize, slot: &Slot, kind: &SlotKind, n: u32) {
        let name = inst.desc().name;
        match kind {
            SlotKind::Field { enc, .. } if !is_legal_value(enc, n) => {
                let message = format!("{n} is not a legal `{}` of {name}{}", slot.name, legal_values(enc));
                self.report_defect(Code::FIELD_VALUE, self.obj.op_span(inst, k), message);
            }
            SlotKind::Packed { parts, .. } => {
                for p in *parts {
                    let v = p.get(n);
                    if !is_legal_value(&p.enc, v) {
                        let message = format!(
                            "{v} is not a legal `{}.{}` of {name}{}",
                            slot.name,
                            p.name,
                            legal_values(&p.enc)
                        );
                        self.report_defect(Code::FIELD_VALUE, self.obj.op_span(inst, k), message);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The slot kind that an operand of this slot has.
pub(crate) fn operand_slot_kind(kind: &SlotKind) -> &SlotKind {
    match kind {
        SlotKind::Many(inner) => operand_slot_kind(inner),
        SlotKind::If { kind, .. } => operand_slot_kind(kind),
        other => other,
    }
}

/// Is the slot's operand there, or switched off by its flag?
pub(crate) fn is_operand_present(slot: &Slot, ops: &[Operand]) -> bool {
    match slot.kind {
        SlotKind::If { slot, bit, .. } => {
            ops.get(slot as usize).and_then(|o| o.int()).is_some_and(|n| n >> bit & 1 != 0)
        }
        _ => true,
    }
}

fn is_definition(op: Op) -> bool {
    matches!(op, Op::Label | Op::Subroutine)
}

pub(crate) fn label_name(obj: &Object, l: u16) -> &str {
    obj.labels.get(l as usize).and_then(|l| obj.strings.get(l.name)).unwrap_or("?")
}

fn has_value(values: &[Value], code: u32) -> bool {
    values.iter().any(|v| v.code == code)
}

/// Is this a value that the field may hold on some platform?
fn is_legal_value(enc: &Enc, v: u32) -> bool {
    match enc {
        Enc::Number { max } | Enc::Hex { max } | Enc::HexDigits { max } => v <= *max,
        Enc::Values(values) => has_value(values, v),
        Enc::Channels => v <= 15,
        Enc::ExecLike(values) => has_value(values, v & 15),
        _ => true,
    }
}

fn legal_values(enc: &Enc) -> String {
    match enc {
        Enc::Number { max } | Enc::Hex { max } | Enc::HexDigits { max } => format!("; legal are 0 to {max}"),
        Enc::Values(values) | Enc::ExecLike(values) => {
            let list: Vec<String> = values.iter().map(|v| format!("{} ({})", v.code, v.text)).collect();
            format!("; legal are {}", list.join(", "))
        }
        _ => String::new(),
    }
}
