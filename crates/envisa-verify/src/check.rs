//! The pass over a module: context shared by all rules, and the collection of findings.

use std::collections::HashMap;

use envisa_diag::Severity;
use envisa_isa::desc::{Slot, SlotKind};
use envisa_isa::{
    Attr, AttrRange, Exec, Inst, Module, Object, Operand, Platform, Platforms, Span, Type, predefined,
};

use crate::finding::platform_names;
use crate::structure::{flat, present};
use crate::{
    Allowance, Code, Finding, Level, Options, decl, flow, lints, memory, operand, rule, shape, special,
    structure,
};

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
    allowed: &'a Allowed,
    levels: &'a Levels,
    out: Vec<Finding>,
    /// Platforms on which some error holds.
    broken: Platforms,
}

/// Where rules are allowed, by rule: places in order, each with the furthest end so far.
struct Allowed(HashMap<Code, Vec<(u32, u32)>>);

impl Allowed {
    fn new(list: &[Allowance]) -> Allowed {
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

    fn at(&self, code: Code, at: u32) -> bool {
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
        if level == Level::Allow || self.allowed.at(f.code, f.span().start) {
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
    pub fn slots(
        &self,
        inst: &Inst,
    ) -> impl Iterator<Item = (usize, &'static Slot, &'static SlotKind, &'a Operand)> + use<'a> {
        let obj: &'a Object = self.obj;
        let ops = obj.ops(inst);
        let slots = inst.desc().slots;
        ops.iter().enumerate().filter_map(move |(k, op)| {
            let slot = &slots[k.min(slots.len() - 1)];
            present(slot, ops).then(|| (k, slot, flat(&slot.kind), op))
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
    pub fn slot(&self, inst: &Inst, name: &str) -> Option<(Operand, Span)> {
        let k = inst.desc().slot_index(name)?;
        Some((*self.obj.ops(inst).get(k)?, self.obj.op_span(inst, k)))
    }

    /// The value of a field.
    pub fn field(&self, inst: &Inst, name: &str) -> Option<u32> {
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
            Operand::General { var, .. } | Operand::Raw { var, .. } => {
                if var == predefined::var::NULL {
                    None
                } else {
                    self.var(var).map(|v| v.ty)
                }
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
    fn new(options: &Options) -> Self {
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

/// Runs every rule.
pub(crate) fn run(module: &Module, options: &Options) -> Vec<Finding> {
    let on = options.platforms;
    let mut out = Vec::new();
    for d in structure::check(module) {
        // Never a matter of levels: nobody can walk such a module.
        let mut f = Finding::new(d.code, on, d.span, d.message);
        (f.object, f.inst) = (d.object, d.inst);
        out.push(f);
    }
    if !out.is_empty() || on == Platforms::NONE {
        return out;
    }
    let levels = Levels::new(options);
    let allowed = Allowed::new(&options.allowances);
    let functions: HashMap<&str, usize> =
        module.objects.iter().enumerate().map(|(i, o)| (o.name.as_str(), i)).collect();
    let mut together = decl::module(module, on);
    together.sort_by_key(|f| f.object);
    let mut together = together.into_iter().peekable();
    for (object, obj) in module.objects.iter().enumerate() {
        let vars = var_table(obj);
        let simd = obj.attr("SimdSize").and_then(|a| a.int()).filter(|n| [8, 16, 32].contains(n));
        let mut ctx = Ctx {
            module,
            obj,
            object,
            vars: &vars,
            functions: &functions,
            simd,
            on,
            inst: None,
            allowed: &allowed,
            levels: &levels,
            out: Vec::new(),
            broken: Platforms::NONE,
        };
        while let Some(f) = together.next_if(|f| f.object == object) {
            ctx.push(f);
        }
        decl::check(&mut ctx);
        for (i, inst) in obj.insts.iter().enumerate() {
            ctx.inst = Some(i);
            let desc = inst.desc();
            // Where the instruction does not exist, nothing more is said about it.
            let here = shape::check(&mut ctx, inst, desc);
            let asked = std::mem::replace(&mut ctx.on, here);
            operand::check(&mut ctx, inst, desc);
            special::check(&mut ctx, inst, desc);
            memory::check(&mut ctx, inst, desc);
            ctx.on = asked;
        }
        ctx.inst = None;
        flow::structure(&mut ctx);
        if options.lints {
            lints::check(&mut ctx);
        }
        let full = ctx.out.iter().any(|f| f.severity == Severity::Error);
        if !full && ctx.broken == on {
            let f = Finding::new(
                Code::NO_PLATFORM,
                on,
                obj.name_span,
                format!("no platform of the set runs `{}`", obj.name),
            );
            ctx.push(f.note("each of them is named by one of the warnings on this object"));
        }
        out.append(&mut capped(std::mem::take(&mut ctx.out), options.repeats));
    }
    out.sort_by_key(|f| (f.object, f.span().start, f.code));
    out
}

/// Leaves as many warnings of each rule as asked for; the last one says how many more there were.
fn capped(mut found: Vec<Finding>, repeats: usize) -> Vec<Finding> {
    found.sort_by_key(|f| f.span().start);
    let mut count: HashMap<Code, (usize, usize)> = HashMap::new();
    let mut out: Vec<Finding> = Vec::with_capacity(found.len().min(64));
    for f in found {
        if f.severity == Severity::Error {
            out.push(f);
            continue;
        }
        let (n, last) = count.entry(f.code).or_default();
        *n += 1;
        if *n <= repeats.max(1) {
            *last = out.len();
            out.push(f);
        }
    }
    for (n, last) in count.into_values() {
        if n > repeats.max(1) {
            out[last].notes.push(format!("and {} more like this", n - repeats.max(1)));
        }
    }
    out
}

/// Shapes of all variables by id.
fn var_table(obj: &Object) -> Vec<VarInfo> {
    let n = predefined::FIRST_VAR as usize + obj.vars.len();
    let mut out: Vec<VarInfo> = Vec::with_capacity(n);
    let mut input = vec![false; n];
    for i in obj.inputs.iter().filter(|i| i.kind & 7 == 0) {
        if let Some(flag) = input.get_mut(i.id as usize) {
            *flag = true;
        }
    }
    for id in 0..n as u32 {
        let shape = |grf| obj.var_shape(id, grf).unwrap_or((Type::Ud, 0));
        let (ty, b32) = shape(32);
        let bytes = [b32, shape(64).1];
        let mut info =
            VarInfo { ty, bytes, root: id, offset: 0, root_bytes: bytes, input: input[id as usize] };
        // Aliases point backwards: the base is already in the table.
        if let Some(v) = obj.var(id)
            && v.alias != 0
            && let Some(base) = out.get(v.alias as usize)
        {
            info.root = base.root;
            info.offset = base.offset.saturating_add(v.alias_offset as u32);
            info.root_bytes = base.root_bytes;
            info.input |= base.input;
        }
        out.push(info);
    }
    out
}
