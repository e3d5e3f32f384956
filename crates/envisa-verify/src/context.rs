//! The context of rules: the module, the current object, and the list of findings.

use std::collections::HashMap;

use envisa_diag::Severity;
use envisa_isa::desc::{Family, InstDesc, Slot, SlotKind};
use envisa_isa::{
    Attr, AttrRange, Exec, Inst, Module, Object, Op, Operand, PartName, Platform, Platforms, SlotName, Span,
    Type, predefined,
};

use crate::finding::platform_names;
use crate::structure::{is_operand_present, operand_slot_kind};
use crate::{Allowance, Code, Finding, Level, Options, rule};

/// A rule for some instructions.
pub(crate) type Check = fn(&mut Ctx, &Inst, &'static InstDesc);

/// Rows of the table that a rule looks at.
#[derive(Clone, Copy)]
pub(crate) enum Rows {
    /// These.
    Of(&'static [Op]),
    /// All of a family.
    Family(Family),
    /// All of a page.
    Page(&'static str),
}

impl Rows {
    /// Is it one of them?
    pub fn has(self, op: Op) -> bool {
        match self {
            Rows::Of(ops) => ops.contains(&op),
            Rows::Family(family) => op.desc().family == family,
            Rows::Page(page) => op.desc().page == page,
        }
    }
}

/// Platforms with registers of 64 bytes.
pub(crate) const WIDE: Platforms = Platforms::from(Platform::Pvc);
/// Platforms with registers of 32 bytes.
pub(crate) const NARROW: Platforms = Platforms::ALL.without(WIDE);

/// What rules want to know of a general variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VarInfo {
    pub ty: Type,
    /// Bytes with 32- and with 64-byte registers.
    pub bytes: [u32; 2],
    /// The variable that owns the storage.
    pub root: u32,
    /// Offset into it.
    pub offset: u32,
    /// Bytes of the root.
    pub root_bytes: [u32; 2],
    /// The root is an input.
    pub input: bool,
}

/// Everything a rule may look at.
pub(crate) struct Ctx<'a> {
    pub module: &'a Module,
    /// Objects of the module by name.
    pub functions: &'a HashMap<&'a str, usize>,
    pub obj: &'a Object,
    pub object: usize,
    pub vars: &'a [VarInfo],
    /// Width of the kernel, if it says so.
    pub simd: Option<u32>,
    /// Platforms asked for.
    pub on: Platforms,
    pub inst: Option<usize>,
    pub allowed: &'a Allowed,
    pub levels: &'a Levels,
    pub out: Vec<Finding>,
    /// Platforms on which some error holds.
    pub broken: Platforms,
}

/// Where rules are allowed, by rule: places in order, each with the furthest end so far.
pub(crate) struct Allowed(HashMap<Code, Vec<(u32, u32)>>);

impl Allowed {
    pub fn new(list: &[Allowance]) -> Allowed {
        let mut map: HashMap<Code, Vec<(u32, u32)>> = HashMap::new();
        for a in list {
            map.entry(a.code).or_default().push((a.span.start, a.span.end));
        }
        for spans in map.values_mut() {
            spans.sort_unstable();
            let mut furthest = 0;
            for s in spans {
                furthest = s.1.max(furthest);
                s.1 = furthest;
            }
        }
        Allowed(map)
    }

    fn is_allowed_at(&self, code: Code, at: u32) -> bool {
        let Some(spans) = self.0.get(&code) else { return false };
        let before = spans.partition_point(|s| s.0 <= at);
        before > 0 && at < spans[before - 1].1
    }
}

/// The level of each rule, by code.
pub(crate) struct Levels {
    level: Vec<Option<Level>>,
    explicit: Vec<bool>,
}

impl<'a> Ctx<'a> {
    /// Reports a finding on the platforms it names, as far as they were asked for.
    #[cold]
    pub fn push(&mut self, mut f: Finding) {
        f.platforms = f.platforms.intersect(self.on);
        if f.platforms == Platforms::NONE {
            return;
        }
        f.object = self.object;
        f.inst = self.inst;
        let i = f.code.0 as usize;
        let mut level = self.levels.level.get(i).copied().flatten().unwrap_or(Level::Deny);
        if level == Level::Allow || self.allowed.is_allowed_at(f.code, f.span().start) {
            return;
        }
        if f.platforms != self.on {
            let rest = self.on.without(f.platforms);
            f.notes.push(format!("on {}; not on {}", platform_names(f.platforms), platform_names(rest)));
            if level == Level::Deny && !self.levels.explicit[i] {
                self.broken = self.broken.union(f.platforms);
                level = Level::Warn;
            }
        }
        f.severity = if level == Level::Deny { Severity::Error } else { Severity::Warning };
        self.out.push(f);
    }

    /// The instruction's slots with their operands: index, slot, its kind, operand; absent ones left out.
    pub fn slot_operands(
        &self,
        inst: &Inst,
    ) -> impl Iterator<Item = (usize, &'static Slot, &'static SlotKind, &'a Operand)> + use<'a> {
        let obj: &'a Object = self.obj;
        let ops = obj.ops(inst);
        let slots = inst.desc().slots;
        ops.iter().enumerate().filter_map(move |(k, op)| {
            let slot = &slots[k.min(slots.len() - 1)];
            is_operand_present(slot, ops).then(|| (k, slot, operand_slot_kind(&slot.kind), op))
        })
    }

    /// Attributes of a variable.
    pub fn attrs(&self, range: AttrRange) -> &'a [Attr] {
        let start = range.start as usize;
        self.obj.var_attrs.get(start..start + range.len as usize).unwrap_or_default()
    }

    pub fn var(&self, id: u32) -> Option<VarInfo> {
        self.vars.get(id as usize).copied()
    }

    /// Operand and place of the slot of this name.
    pub fn slot(&self, inst: &Inst, name: SlotName) -> Option<(Operand, Span)> {
        let k = inst.desc().slot_index(name)?;
        Some((*self.obj.ops(inst).get(k)?, self.obj.op_span(inst, k)))
    }

    /// The value of a field.
    pub fn field_value(&self, inst: &Inst, name: SlotName) -> Option<u32> {
        self.slot(inst, name)?.0.int()
    }

    /// Execution size of an instruction, if it has one.
    pub fn exec(&self, inst: &Inst) -> Option<Exec> {
        let k = inst.desc().exec_slot()?;
        match self.obj.ops(inst).get(k) {
            Some(Operand::Exec(e)) => Some(*e),
            _ => None,
        }
    }

    /// Element type of an operand, where it has one.
    pub fn type_of(&self, op: &Operand) -> Option<Type> {
        match *op {
            Operand::General { var, .. } | Operand::Raw { var, .. } | Operand::Handle { var, .. } => {
                if var == predefined::var::NULL { None } else { self.var(var).map(|v| v.ty) }
            }
            Operand::Imm { ty, .. } | Operand::Indirect { ty, .. } => Some(ty),
            Operand::Predicate(_) => Some(Type::Bool),
            Operand::Address { .. } => Some(Type::Uw),
            Operand::State { .. } => Some(Type::Ud),
            _ => None,
        }
    }
}

/// 0 for registers of 32 bytes, 1 for 64: index into [`VarInfo::bytes`].
pub(crate) const SIZES: [(usize, u32, Platforms); 2] = [(0, 32, NARROW), (1, 64, WIDE)];

impl Levels {
    pub fn new(options: &Options) -> Self {
        let size = rule::all().map(|r| r.code.0 as usize).max().unwrap_or(0) + 1;
        let mut levels = Levels { level: vec![None; size], explicit: vec![false; size] };
        for r in rule::all() {
            levels.level[r.code.0 as usize] = Some(match r.severity {
                Severity::Error => Level::Deny,
                Severity::Warning => Level::Warn,
                Severity::Note | Severity::Help => Level::Allow,
            });
        }
        for (code, level) in &options.levels {
            if let Some(l) = levels.level.get_mut(code.0 as usize) {
                *l = Some(*level);
                levels.explicit[code.0 as usize] = true;
            }
        }
        levels
    }
}

pub(crate) fn report(ctx: &mut Ctx, code: Code, span: Span, message: impl Into<String>) {
    let on = ctx.on;
    ctx.push(Finding::new(code, on, span, message));
}

/// What some messages have as a field and others as a part of a packed one.
pub(crate) struct FieldOrPart(&'static str);

impl From<SlotName> for FieldOrPart {
    fn from(name: SlotName) -> FieldOrPart {
        FieldOrPart(name.as_str())
    }
}

impl From<PartName> for FieldOrPart {
    fn from(name: PartName) -> FieldOrPart {
        FieldOrPart(name.as_str())
    }
}

/// A field of this name, or a part of a packed field.
pub(crate) fn field_or_part(ctx: &Ctx, inst: &Inst, name: impl Into<FieldOrPart>) -> Option<(u32, Span)> {
    let FieldOrPart(name) = name.into();
    for (k, slot, kind, op) in ctx.slot_operands(inst) {
        let Operand::Int(n) = *op else { continue };
        if slot.name.as_str() == name {
            return Some((n, ctx.obj.op_span(inst, k)));
        }
        if let SlotKind::Packed { parts, .. } = kind
            && let Some(p) = parts.iter().find(|p| p.name.as_str() == name)
        {
            return Some((p.get(n), ctx.obj.op_span(inst, k)));
        }
    }
    None
}

/// Number of channels of an instruction, its mask aside; 1 if it has none.
pub(crate) fn channel_count(ctx: &Ctx, inst: &Inst) -> u32 {
    ctx.exec(inst).map_or(1, Exec::channels)
}
