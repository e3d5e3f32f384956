//! The structural check: what must hold for anybody to walk a module without tripping.

use envisa_isa::desc::{Enc, LabelKind, Part, SlotKind, Value};
use envisa_isa::{Inst, LabelUse, Module, Object, ObjectKind, Op, Operand, Region, Span, predefined};

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
        Checker { obj, index, inst: None, out: &mut out }.object();
    }
    out
}

struct Checker<'a> {
    obj: &'a Object,
    index: usize,
    inst: Option<usize>,
    out: &'a mut Vec<Defect>,
}

impl Checker<'_> {
    #[cold]
    fn defect(&mut self, code: Code, span: Span, message: String) {
        self.out.push(Defect { code, object: self.index, inst: self.inst, span, message });
    }

    fn string(&mut self, index: u32, what: &str, span: Span) {
        if index as usize >= self.obj.strings.len() {
            let n = self.obj.strings.len();
            self.defect(
                Code::DANGLING,
                span,
                format!("the name of {what} is string {index} of a pool of {n}"),
            );
        }
    }

    fn attrs(&mut self, range: envisa_isa::AttrRange, span: Span) {
        let end = range.start as usize + range.len as usize;
        match self.obj.var_attrs.get(range.start as usize..end) {
            Some(attrs) => {
                for a in attrs {
                    self.string(a.name, "an attribute", a.span);
                }
            }
            None => {
                let n = self.obj.var_attrs.len();
                self.defect(
                    Code::DANGLING,
                    span,
                    format!("attributes {}..{end} of a list of {n}", range.start),
                );
            }
        }
    }

    fn object(&mut self) {
        let obj = self.obj;
        for (i, v) in obj.vars.iter().enumerate() {
            let id = i as u32 + predefined::FIRST_VAR;
            self.string(v.name, "a variable", v.span);
            self.attrs(v.attrs, v.span);
            if v.alias != 0 && (v.alias >= id || obj.root(v.alias).is_none()) {
                self.defect(
                    Code::ALIAS_TARGET,
                    v.span,
                    format!(
                        "`{}` aliases variable {}, which is not declared before it",
                        obj.var_name(id),
                        v.alias
                    ),
                );
            }
        }
        for (list, what) in [
            (&obj.addresses, "an address variable"),
            (&obj.predicates, "a predicate"),
            (&obj.samplers, "a sampler"),
            (&obj.surfaces, "a surface"),
        ] {
            for v in list {
                self.string(v.name, what, v.span);
                self.attrs(v.attrs, v.span);
            }
        }
        for l in &obj.labels {
            self.string(l.name, "a label", l.span);
        }
        for a in &obj.attrs {
            self.string(a.name, "an attribute", a.span);
        }
        for input in &obj.inputs {
            let known = match input.kind & 7 {
                0 => input.id >= predefined::FIRST_VAR && obj.var(input.id).is_some(),
                1 => (input.id as usize) < obj.samplers.len(),
                2 => input
                    .id
                    .checked_sub(predefined::FIRST_SURFACE as u32)
                    .is_some_and(|i| (i as usize) < obj.surfaces.len()),
                class => {
                    self.defect(Code::DANGLING, input.span, format!("an input of unknown class {class}"));
                    continue;
                }
            };
            if !known {
                let what = ["variable", "sampler", "surface"][(input.kind & 7) as usize];
                self.defect(
                    Code::DANGLING,
                    input.span,
                    format!("the input names {what} {}, which is not declared", input.id),
                );
            }
        }
        if obj.kind == ObjectKind::Function && !obj.inputs.is_empty() {
            self.defect(Code::DANGLING, obj.inputs[0].span, "a function has no inputs".into());
        }
        if !obj.operand_spans.is_empty() && obj.operand_spans.len() != obj.operands.len() {
            self.defect(
                Code::SHAPE,
                obj.name_span,
                format!("{} places for {} operands", obj.operand_spans.len(), obj.operands.len()),
            );
            return;
        }
        self.insts();
    }

    fn insts(&mut self) {
        let obj = self.obj;
        let mut placed = vec![0u32; obj.labels.len()];
        let mut used: Vec<Option<(usize, Span)>> = vec![None; obj.labels.len()];
        for (i, inst) in obj.insts.iter().enumerate() {
            self.inst = Some(i);
            let end = inst.first as usize + inst.len as usize;
            let Some(ops) = obj.operands.get(inst.first as usize..end) else {
                let n = obj.operands.len();
                self.defect(
                    Code::SHAPE,
                    inst.span,
                    format!("operands {}..{end} of a list of {n}", inst.first),
                );
                continue;
            };
            if !self.count(inst, ops) {
                continue;
            }
            let slots = inst.desc().slots;
            for (k, op) in ops.iter().enumerate() {
                let (slot, kind) = match slots.get(k) {
                    Some(s) => (s, flat(&s.kind)),
                    None => (&slots[slots.len() - 1], flat(&slots[slots.len() - 1].kind)),
                };
                let span = obj.op_span(inst, k);
                if let SlotKind::If { slot: flag, bit, .. } = &slot.kind {
                    let flags = ops.get(*flag as usize).and_then(|f| f.int()).unwrap_or(0);
                    if flags >> bit & 1 == 0 {
                        if *op != Operand::Int(0) {
                            let message =
                                format!("the `{}` of {} is switched off", slot.name, inst.desc().name);
                            self.defect(Code::SHAPE, span, message);
                        }
                        continue;
                    }
                }
                self.operand(inst, slot.name, kind, op, span);
                if let Operand::Label(l) = *op
                    && let Some(p) = placed.get_mut(l as usize)
                {
                    if is_definition(inst.op) {
                        *p += 1;
                        if *p == 2 {
                            let name = label_name(obj, l);
                            self.defect(Code::LABEL_TWICE, span, format!("label `{name}` is placed twice"));
                        }
                    } else if used[l as usize].is_none() {
                        used[l as usize] = Some((i, span));
                    }
                }
            }
        }
        for (l, (placed, used)) in placed.iter().zip(&used).enumerate() {
            if let (0, Some((i, span))) = (placed, used) {
                self.inst = Some(*i);
                let name = label_name(obj, l as u16);
                self.defect(Code::LABEL_MISSING, *span, format!("label `{name}` is used and never placed"));
            }
        }
        self.inst = None;
    }

    /// Does the number of operands fit the row?
    fn count(&mut self, inst: &Inst, ops: &[Operand]) -> bool {
        let slots = inst.desc().slots;
        let many = matches!(slots.last().map(|s| &s.kind), Some(SlotKind::Many(_)));
        let fixed = if many { slots.len() - 1 } else { slots.len() };
        let ok = if many { ops.len() >= fixed } else { ops.len() == fixed };
        if !ok {
            self.defect(
                Code::SHAPE,
                inst.span,
                format!("{} has {} operands and fields, it takes {fixed}", inst.desc().name, ops.len()),
            );
            return false;
        }
        if let Some(at) = slots.iter().position(|s| matches!(s.kind, SlotKind::Count { .. })) {
            let SlotKind::Count { min, max, .. } = slots[at].kind else { return true };
            let got = (ops.len() - fixed) as u32;
            match ops[at] {
                Operand::Int(n) if n == got && n >= min as u32 && n <= max as u32 => {}
                Operand::Int(n) => {
                    self.defect(
                        Code::SHAPE,
                        self.obj.op_span(inst, at),
                        format!(
                            "{} says {n} operands follow, {got} do; it takes {min} to {max}",
                            inst.desc().name
                        ),
                    );
                    return false;
                }
                _ => {
                    self.defect(
                        Code::SHAPE,
                        self.obj.op_span(inst, at),
                        format!("the `{}` of {} is not a number", slots[at].name, inst.desc().name),
                    );
                    return false;
                }
            }
        }
        true
    }

    fn operand(&mut self, inst: &Inst, slot: &str, kind: &SlotKind, op: &Operand, span: Span) {
        let obj = self.obj;
        let name = inst.desc().name;
        let fits = match kind {
            SlotKind::Exec => matches!(op, Operand::Exec(_)),
            SlotKind::Pred => matches!(op, Operand::Pred(_)),
            SlotKind::Vector(_) => matches!(
                op,
                Operand::General { .. }
                    | Operand::Address { .. }
                    | Operand::Predicate(_)
                    | Operand::Indirect { .. }
                    | Operand::AddressOf { .. }
                    | Operand::Imm { .. }
                    | Operand::State { .. }
            ),
            SlotKind::Raw { .. } => matches!(op, Operand::Raw { .. }),
            SlotKind::Surface { .. } => matches!(op, Operand::Surface(_)),
            SlotKind::Sampler => matches!(op, Operand::Sampler(_)),
            SlotKind::Label(_) => matches!(op, Operand::Label(_)),
            SlotKind::Str { .. } => matches!(op, Operand::Str(_)),
            SlotKind::Field { .. } | SlotKind::Packed { .. } | SlotKind::Count { .. } => {
                matches!(op, Operand::Int(_))
            }
            SlotKind::Many(_) | SlotKind::If { .. } => false,
        };
        if !fits {
            self.defect(Code::SHAPE, span, format!("the `{slot}` of {name} holds something of another kind"));
            return;
        }
        match *op {
            Operand::Exec(e) => {
                if e.log2 > 5 {
                    self.defect(
                        Code::EXEC_CODE,
                        span,
                        format!("execution size code {} has no meaning", e.log2),
                    );
                }
            }
            Operand::Pred(p) => self.predicate(p.id, true, span),
            Operand::Predicate(p) => self.predicate(p.id, false, span),
            Operand::General { var, region, .. } => {
                self.var(var, span);
                self.region(region, span);
            }
            Operand::AddressOf { var, .. } => self.var(var, span),
            Operand::Raw { var, .. } => self.var(var, span),
            Operand::Address { id, .. } => self.address(id, span),
            Operand::Indirect { addr, region, .. } => {
                self.address(addr, span);
                self.region(region, span);
            }
            Operand::State { class, id, .. } => {
                let n = match class {
                    envisa_isa::StateClass::Surface => {
                        obj.surfaces.len() + predefined::FIRST_SURFACE as usize
                    }
                    envisa_isa::StateClass::Sampler => obj.samplers.len(),
                };
                let bindless =
                    class == envisa_isa::StateClass::Sampler && id == predefined::SAMPLER_BINDLESS as u16;
                if id as usize >= n && !bindless {
                    self.defect(Code::DANGLING, span, format!("state variable {id} is not declared"));
                }
            }
            Operand::Surface(id) => {
                if id as usize >= obj.surfaces.len() + predefined::FIRST_SURFACE as usize {
                    self.defect(Code::DANGLING, span, format!("surface {id} is not declared"));
                }
            }
            Operand::Sampler(id) => {
                if id as usize >= obj.samplers.len() && id != predefined::SAMPLER_BINDLESS {
                    self.defect(Code::DANGLING, span, format!("sampler {id} is not declared"));
                }
            }
            Operand::Label(l) => {
                let Some(label) = obj.labels.get(l as usize) else {
                    self.defect(Code::DANGLING, span, format!("label {l} of {}", obj.labels.len()));
                    return;
                };
                let wrong = match kind {
                    SlotKind::Label(LabelKind::Block) => label.kind != LabelUse::Block,
                    SlotKind::Label(LabelKind::Subroutine) => label.kind == LabelUse::Block,
                    _ => false,
                };
                if wrong {
                    let (is, wants) = match label.kind {
                        LabelUse::Block => ("a block", "a subroutine"),
                        LabelUse::Subroutine | LabelUse::Fc => ("a subroutine", "a block"),
                    };
                    let text = label_name(obj, l);
                    self.defect(
                        Code::LABEL_KIND,
                        span,
                        format!("label `{text}` marks {is}; {name} wants {wants}"),
                    );
                }
            }
            Operand::Str(s) => self.string(s, "a symbol", span),
            Operand::Int(n) => self.field(name, slot, kind, n, span),
            Operand::Imm { .. } => {}
        }
    }

    fn predicate(&mut self, id: u16, none_ok: bool, span: Span) {
        if (id == 0 && !none_ok) || id as usize > self.obj.predicates.len() {
            self.defect(Code::DANGLING, span, format!("predicate {id} is not declared"));
        }
    }

    fn var(&mut self, id: u32, span: Span) {
        let known = (id as usize) < predefined::VARS.len()
            || (id >= predefined::FIRST_VAR && self.obj.var(id).is_some());
        if !known {
            self.defect(Code::DANGLING, span, format!("variable {id} is not declared"));
        }
    }

    fn address(&mut self, id: u16, span: Span) {
        if id as usize >= self.obj.addresses.len() {
            self.defect(Code::DANGLING, span, format!("address variable {id} is not declared"));
        }
    }

    fn region(&mut self, r: Region, span: Span) {
        let bad = r.0 >> 12 != 0 || (0..3).any(|i| r.0 >> (4 * i) & 15 > 7);
        if bad || r.width() == Some(0) {
            self.defect(Code::REGION_CODE, span, format!("region word {:#06x} has no meaning", r.0));
        }
    }

    fn field(&mut self, name: &str, slot: &str, kind: &SlotKind, n: u32, span: Span) {
        match kind {
            SlotKind::Field { width, enc } if !fits_width(n, *width) || !legal(enc, n, *width) => {
                self.defect(Code::FIELD_VALUE, span, format!("{n} is no legal `{slot}` of {name}"));
            }
            SlotKind::Packed { width, parts } => {
                if !fits_width(n, *width) {
                    self.defect(Code::FIELD_VALUE, span, format!("{n} does not fit the `{slot}` of {name}"));
                    return;
                }
                for p in *parts {
                    let v = p.get(n);
                    if !legal_part(p, v) {
                        self.defect(
                            Code::FIELD_VALUE,
                            span,
                            format!("{v} is no legal `{slot}.{}` of {name}", p.name),
                        );
                    }
                }
            }
            _ => {}
        }
    }
}

/// The slot kind an operand of this slot has.
fn flat(kind: &SlotKind) -> &SlotKind {
    match kind {
        SlotKind::Many(inner) | SlotKind::If { kind: inner, .. } => inner,
        other => other,
    }
}

fn is_definition(op: Op) -> bool {
    matches!(op, Op::Label | Op::Subroutine)
}

fn label_name(obj: &Object, l: u16) -> String {
    obj.labels.get(l as usize).and_then(|l| obj.strings.get(l.name)).unwrap_or("?").to_string()
}

fn fits_width(n: u32, width: u8) -> bool {
    width >= 4 || n >> (8 * width as u32) == 0
}

fn legal_part(p: &Part, v: u32) -> bool {
    legal(&p.enc, v, 4)
}

fn has(values: &[Value], code: u32) -> bool {
    values.iter().any(|v| v.code == code)
}

/// Is this a value that the field may hold on some platform?
fn legal(enc: &Enc, v: u32, _width: u8) -> bool {
    match enc {
        Enc::Number { max } | Enc::Hex { max } | Enc::HexDigits { max } => v <= *max,
        Enc::Signed | Enc::Ignored(_) => true,
        Enc::Values(values) => has(values, v),
        Enc::Channels => v <= 15,
        Enc::ExecLike(values) => has(values, v & 15),
    }
}
