//! Modules to text that the reference assembler accepts and that reads back as the same module.

use std::fmt::Write as _;

use envisa_isa::desc::{Classes, Enc, LabelKind, SlotKind};
use envisa_isa::{
    Attr, AttrRange, Exec, Inst, Modifier, Module, Object, ObjectKind, Op, Operand, Pred, Region, StateClass,
    Type, predefined,
};

use crate::annot::spelled;
use crate::attrs::{self, Owner, Value};
use crate::inst::{enc_of, live_kind};
use crate::order::{DROPPED, Kind, Order};
use crate::print_names::{Printed, is_identifier, quote};
use crate::template::{Compiled, Forms, Step};

/// What of a module has no spelling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrintError {
    /// The object's name.
    pub object: String,
    /// What cannot be printed.
    pub what: String,
}

impl std::fmt::Display for PrintError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`: {} cannot be printed", self.object, self.what)
    }
}

impl std::error::Error for PrintError {}

/// What is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct PrintOptions {
    /// Keep native code that the binary carries, as bytes in an annotation. Off by default: it is no
    /// vISA, and whoever assembles the text wants it made anew.
    pub native: bool,
}

/// Prints a module. Names that are not identifiers, or that clash, are replaced; the originals and all
/// else that text cannot say stand in annotations `//@ …` (see `docs/TEXT.md`).
///
/// # Errors
/// Something has no spelling even as an annotation: attribute names with blanks in them, instructions
/// of a module that is not [sound](envisa_isa::Unsound).
pub fn print(module: &Module, opts: &PrintOptions) -> Result<String, PrintError> {
    let mut out = String::new();
    print_version(module, &mut out);
    let mut target = 1;
    let mut names = hashbrown::HashSet::new();
    for object in &module.objects {
        if !names.insert(object.name.as_str()) {
            let what = "a second object of this name".to_owned();
            return Err(PrintError { object: object.name.clone(), what });
        }
        print_object(module, object, opts, &mut target, &mut out)?;
    }
    Ok(out)
}

fn print_version(module: &Module, out: &mut String) {
    let v = module.version.max((4, 1));
    let _ = writeln!(out, ".version {}.{}", v.0, v.1);
    if v != module.version {
        let _ = writeln!(out, "//@ version={}.{}", module.version.0, module.version.1);
    }
}

/// Prints one object as a text of its own, as IGC does with functions.
///
/// # Errors
/// As [`print`].
pub fn print_unit(module: &Module, object: usize, opts: &PrintOptions) -> Result<String, PrintError> {
    let mut out = String::new();
    print_version(module, &mut out);
    if let Some(o) = module.objects.get(object) {
        print_object(module, o, opts, &mut 1, &mut out)?;
    }
    Ok(out)
}

fn print_object(
    module: &Module,
    object: &Object,
    opts: &PrintOptions,
    target: &mut u8,
    out: &mut String,
) -> Result<(), PrintError> {
    let mut p = Printer {
        object,
        names: Printed::of(object),
        version: module.version.max((4, 1)),
        forms: Forms::get(),
        out,
        notes: String::new(),
        native: opts.native,
        order: Order::default(),
        element: None,
    };
    if !matches!(module.version, (3, 0..=9) | (4, 0..=2)) {
        let (a, b) = module.version;
        return p.fail(format!("version {a}.{b}"));
    }
    p.object(target)
}

/// Prints one instruction of an object, for messages and disassembly; no annotations but `fallback` where
/// it has no text.
pub fn print_inst(module: &Module, object: &Object, inst: &Inst) -> Result<String, PrintError> {
    let mut out = String::new();
    let mut p = Printer {
        object,
        names: Printed::of(object),
        version: module.version.max((4, 1)),
        forms: Forms::get(),
        out: &mut out,
        notes: String::new(),
        native: false,
        order: Order::default(),
        element: None,
    };
    p.inst(inst)?;
    Ok(out.trim().to_owned())
}

pub(crate) struct Printer<'m, 'o> {
    pub object: &'m Object,
    pub names: Printed<'m>,
    pub version: (u8, u8),
    forms: &'static Forms,
    pub out: &'o mut String,
    /// The annotation of the line being printed.
    pub notes: String,
    native: bool,
    pub order: Order,
    /// Which of the variadic operands is being printed.
    element: Option<usize>,
}

impl Printer<'_, '_> {
    pub fn fail<T>(&self, what: impl Into<String>) -> Result<T, PrintError> {
        Err(PrintError { object: self.object.name.clone(), what: what.into() })
    }

    /// Adds a key to the line's annotation.
    pub fn note(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = write!(self.notes, " {text}");
    }

    pub fn end_line(&mut self) {
        if !self.notes.is_empty() {
            if !self.out.is_empty() && !self.out.ends_with('\n') {
                self.out.push_str("  ");
            }
            self.out.push_str("//@");
            self.out.push_str(&self.notes);
            self.notes.clear();
        }
        self.out.push('\n');
    }

    /// A number in decimal.
    pub fn num(&mut self, n: impl std::fmt::Display) {
        let _ = write!(self.out, "{n}");
    }

    fn object(&mut self, target: &mut u8) -> Result<(), PrintError> {
        let o = self.object;
        self.printable()?;
        self.start_order();
        if self.out.lines().nth(1).is_some() {
            self.out.push('\n');
        }
        self.out.push_str(match o.kind {
            ObjectKind::Kernel => ".kernel ",
            ObjectKind::Function => ".global_function ",
        });
        quote(self.out, &o.name);
        self.out.push('\n');
        if o.function_sizes != (0, 0) {
            self.note(format_args!(
                "function_sizes={:#x}",
                o.function_sizes.0 as u16 | (o.function_sizes.1 as u16) << 8
            ));
        }
        if !o.attrs.iter().any(|a| o.strings.get(a.name) == Some("Target")) {
            self.note(format_args!("no_target=1"));
        }
        for n in if self.native { &o.native[..] } else { &[] } {
            let bytes = hex(&n.code);
            self.note(format_args!("native:{}={bytes}", n.platform));
        }
        if !self.notes.is_empty() {
            self.end_line();
        }
        let implicit = self.implicit_target(*target);
        for a in &o.attrs {
            if let (Some("Target"), [t]) = (o.strings.get(a.name), &a.value[..]) {
                *target = *t;
            }
        }
        let mut items = self.plan();
        if implicit {
            items.retain(|i| *i != (Kind::Attr, o.attrs.len() - 1));
        }
        let attrs = items.iter().position(|i| i.0 == Kind::Attr).unwrap_or(items.len());
        let tidy = items[attrs..].iter().all(|i| i.0 == Kind::Attr);
        let (first, last) = items.split_at(if tidy { attrs } else { items.len() });
        for &(kind, i) in first {
            self.item(kind, i)?;
        }
        for i in &o.inputs {
            let name = match i.kind & 7 {
                0 => self.names.var(i.id),
                1 => self.names.sampler(i.id),
                _ => self.names.surface(i.id),
            }
            .to_owned();
            match i.kind >> 3 {
                0 => self.out.push_str(".input "),
                n => {
                    let _ = write!(self.out, ".implicit_UNDEFINED_{n} ");
                }
            }
            let _ = write!(self.out, "{name} offset={} size={}", i.offset, i.size);
            self.end_line();
        }
        for &(kind, i) in last {
            self.item(kind, i)?;
        }
        for inst in &o.insts {
            self.inst(inst)?;
        }
        if implicit {
            self.order.pool.push(o.attrs[o.attrs.len() - 1].name);
        }
        self.end_order()
    }

    /// A declaration, or an attribute of the object.
    fn item(&mut self, kind: Kind, i: usize) -> Result<(), PrintError> {
        let o = self.object;
        let (list, class, name) = match kind {
            Kind::Attr => return self.kernel_attr(&o.attrs[i]),
            Kind::General => return self.general_decl(i),
            Kind::Address => (&o.addresses, 'A', self.names.address(i as u32)),
            Kind::Predicate => (&o.predicates, 'P', self.names.predicate(i as u32 + 1)),
            Kind::Sampler => (&o.samplers, 'S', self.names.sampler(i as u32)),
            Kind::Surface => {
                (&o.surfaces, 'T', self.names.surface(i as u32 + predefined::FIRST_SURFACE as u32))
            }
        };
        let name = name.to_owned();
        let v = list[i];
        let _ = write!(self.out, ".decl {name} v_type={class} num_elts={}", v.elems.max(1));
        self.decl_end(&name, v.name, v.elems, v.attrs, class != 'S')
    }

    fn general_decl(&mut self, i: usize) -> Result<(), PrintError> {
        let v = self.object.vars[i];
        let id = i as u32 + predefined::FIRST_VAR;
        if v.alias >= id {
            return self.fail(format!("an alias of variable {} before it is declared", v.alias));
        }
        let name = self.names.var(id).to_owned();
        let ty = if v.ty.is_packed() { Type::Ud } else { v.ty };
        let _ = write!(self.out, ".decl {name} v_type=G type={} num_elts={}", ty.name(), v.elems.max(1));
        if ty != v.ty {
            self.note(format_args!("type={}", v.ty as u8));
        }
        let align = align_name(v.align);
        if !align.is_empty() {
            let _ = write!(self.out, " align={align}");
        }
        if v.alias != 0 || v.alias_offset != 0 {
            let of = self.names.var(v.alias);
            let _ = write!(self.out, " alias=<{of}, {}>", v.alias_offset);
        }
        self.decl_end(&name, v.name, v.elems, v.attrs, true)
    }

    /// Attributes and annotations of a declaration.
    fn decl_end(
        &mut self,
        printed: &str,
        name: u32,
        elems: u16,
        range: AttrRange,
        textual: bool,
    ) -> Result<(), PrintError> {
        let o = self.object;
        let real = o.strings.get(name).unwrap_or("");
        self.order.pool.push(name);
        if real != printed {
            let mut quoted = String::new();
            quote(&mut quoted, real);
            self.note(format_args!("name={quoted}"));
        }
        if elems == 0 {
            self.note(format_args!("elems=0"));
        }
        let start = range.start as usize;
        let list = o.var_attrs.get(start..start + range.len as usize).unwrap_or_default();
        let mut exact = textual;
        let mut text = String::new();
        for a in list {
            let name = o.strings.get(a.name).unwrap_or("");
            match attr_text(name, &a.value, Owner::Variable) {
                Some((t, whole)) => {
                    exact &= whole;
                    if !text.is_empty() {
                        text.push_str(", ");
                    }
                    text.push_str(&t);
                    self.order.pool.push(a.name);
                }
                None => exact = false,
            }
        }
        if textual && !text.is_empty() {
            let _ = write!(self.out, " attrs={{{text}}}");
        }
        if !exact && !list.is_empty() {
            // The list in the text is replaced by the one in the annotation.
            let named = self.order.pool.iter().rposition(|i| *i == name).map_or(0, |i| i + 1);
            self.order.pool[named..].fill(DROPPED);
            for a in list {
                let name = o.strings.get(a.name).unwrap_or("");
                self.attr_note(a.name, name, &a.value);
            }
        }
        self.end_line();
        Ok(())
    }

    fn attr_note(&mut self, index: u32, name: &str, value: &[u8]) {
        let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic() && b != b'=' && b != b'"');
        self.order.pool.push(index);
        if !plain {
            self.order.explicit.push(index);
        }
        self.note(format_args!("attr:{}={}", if plain { name } else { "_" }, hex(value)));
    }

    fn kernel_attr(&mut self, a: &Attr) -> Result<(), PrintError> {
        let name = self.object.strings.get(a.name).unwrap_or("");
        if !is_identifier(name) {
            self.attr_note(a.name, name, &a.value);
            self.end_line();
            return Ok(());
        }
        self.order.pool.push(a.name);
        let (text, exact) =
            attr_text(name, &a.value, Owner::Kernel).unwrap_or_else(|| (name.to_owned(), false));
        let _ = write!(self.out, ".kernel_attr {text}");
        if !exact {
            self.note(format_args!("bytes={}", hex(&a.value)));
        }
        self.end_line();
        Ok(())
    }

    // ---- instructions

    fn inst(&mut self, inst: &Inst) -> Result<(), PrintError> {
        let ops = self.object.ops(inst);
        match (inst.op, ops) {
            (Op::Label, [Operand::Label(id)]) => {
                self.mention(false, *id, true)?;
                let name = self.names.label(*id);
                if !self.out.ends_with("\n\n") {
                    self.out.push('\n');
                }
                let _ = write!(self.out, "{name}:");
                self.label_note(*id);
                self.end_line();
                return Ok(());
            }
            (Op::Subroutine, [Operand::Label(id)]) => {
                self.mention(true, *id, true)?;
                let name = self.names.label(*id);
                self.out.push_str("\n.function ");
                quote(self.out, name);
                self.label_note(*id);
                self.end_line();
                return Ok(());
            }
            _ => {}
        }
        let forms = self.forms;
        let Some(form) =
            forms.of_op(inst.op).find(|f| self.matches(f, ops)).or_else(|| self.nearest_form(inst.op, ops))
        else {
            return self.fail(format!("the instruction {}", inst.desc().name));
        };
        if ops.len() < form.defaults.len() {
            return self.fail(format!("the instruction {} (operands are missing)", inst.desc().name));
        }
        self.out.push_str("    ");
        if let Some(slot) = form.pred
            && let Operand::Pred(pred) = ops[slot as usize]
            && (pred.is_some() || pred != Pred::NONE)
        {
            if form.pred_text && pred.is_some() {
                self.predicate(pred);
                self.out.push(' ');
            } else {
                self.note(format_args!("pred={:#x}", pred.word()));
            }
        }
        self.out.push_str(form.form.head);
        for step in &form.steps {
            self.step(form, step, ops)?;
        }
        self.leftovers(form, ops);
        self.quirks(form, ops);
        self.end_line();
        Ok(())
    }

    /// What reading changes whatever the text says.
    fn quirks(&mut self, form: &Compiled, ops: &[Operand]) {
        let exec = match form.op {
            Op::Jmp => Exec { log2: 0, mask: envisa_isa::ExecMask::M1 },
            Op::Mov if matches!(ops.last(), Some(Operand::Predicate(_))) => Exec::SCALAR_NM,
            _ => return,
        };
        for (slot, operand) in ops.iter().enumerate().take(form.desc.slots.len()) {
            let kept = match operand {
                Operand::Exec(e) => *e == exec,
                Operand::Pred(p) => form.op == Op::Jmp || *p == Pred::NONE,
                Operand::General { modifier, .. } => *modifier != Modifier::Sat,
                _ => true,
            };
            if !kept {
                self.whole(form, slot, *operand);
            }
        }
    }

    /// The form that leaves least to annotations, of those that the reference reads.
    fn nearest_form(&self, op: Op, ops: &[Operand]) -> Option<&'static Compiled> {
        // The reference's conditional sends have no function id, and no `.eot` within.
        let known = if op == Op::RawSends { 4 } else { usize::MAX };
        let weight = |f: &&Compiled| -> usize {
            let wrong = |x: &crate::template::Fixed| {
                ops.get(x.slot as usize).and_then(|o| o.int()).map(|n| x.part.map_or(n, |p| p.get(n)))
                    != Some(x.value)
            };
            // What comes first tells the forms apart.
            f.fixed.iter().enumerate().map(|(i, x)| usize::from(wrong(x)) * if i == 0 { 8 } else { 1 }).sum()
        };
        self.forms.of_op(op).take(known).min_by_key(weight)
    }

    fn label_note(&mut self, id: u16) {
        let real = self.object.labels.get(id as usize).and_then(|l| self.object.strings.get(l.name));
        if let Some(real) = real
            && real != self.names.label(id)
        {
            let mut quoted = String::new();
            quote(&mut quoted, real);
            self.note(format_args!("name={quoted}"));
        }
    }

    /// Does a form say of an instruction what it fixes?
    fn matches(&self, form: &Compiled, ops: &[Operand]) -> bool {
        (form.op != Op::RawSends || !form.form.template.contains("sendsc.{ffid}"))
            && form.fixed.iter().all(|f| match ops.get(f.slot as usize) {
                Some(Operand::Int(n)) => f.part.map_or(*n, |p| p.get(*n)) == f.value,
                Some(Operand::Exec(e)) => e.byte() as u32 == f.value,
                Some(Operand::Raw { var: 0, offset: 0 }) => f.value == 0,
                Some(Operand::Imm { ty: Type::Ud, bits }) => *bits == f.value as u64,
                Some(Operand::Label(id)) => {
                    self.object.labels.get(*id as usize).is_some_and(|l| l.kind as u32 == f.value)
                }
                _ => false,
            })
            && form.copies.iter().all(|&(to, of)| ops.get(to as usize) == ops.get(of as usize))
            && self.fits_head(form, ops)
    }

    /// `fccall` and `call` are one row: the label's kind tells them apart.
    fn fits_head(&self, form: &Compiled, ops: &[Operand]) -> bool {
        if form.op != Op::Call {
            return true;
        }
        let fc = ops.iter().any(|o| match o {
            Operand::Label(id) => {
                self.object.labels.get(*id as usize).is_some_and(|l| l.kind == envisa_isa::LabelUse::Fc)
            }
            _ => false,
        });
        fc == (form.form.head == "fccall")
    }

    /// Annotates what the form's text does not hold.
    fn leftovers(&mut self, form: &Compiled, ops: &[Operand]) {
        let differs = |slot: usize| ops[slot] != form.defaults[slot];
        let mut done = 0u32;
        for f in &form.fixed {
            let slot = f.slot as usize;
            let wrong = match (ops[slot], form.defaults[slot]) {
                (Operand::Int(a), Operand::Int(b)) => match f.part {
                    Some(p) => p.get(a) != p.get(b),
                    None => a != b,
                },
                _ => differs(slot),
            };
            if wrong && done >> slot & 1 == 0 {
                done |= 1 << slot;
                self.all_of(form, slot, ops[slot]);
            }
        }
        for &slot in &form.hidden {
            if differs(slot as usize) {
                self.all_of(form, slot as usize, ops[slot as usize]);
            }
        }
        for &(to, of) in &form.copies {
            if ops[to as usize] != ops[of as usize] {
                self.all_of(form, to as usize, ops[to as usize]);
            }
        }
        // Bits of packed fields that no part names.
        for (slot, s) in form.desc.slots.iter().enumerate() {
            if let (SlotKind::Packed { parts, .. }, Some(Operand::Int(n))) = (&s.kind, ops.get(slot)) {
                let named = parts.iter().fold(0, |m, p| p.set(m, u32::MAX));
                if n & !named != 0 && done >> slot & 1 == 0 {
                    self.whole(form, slot, Operand::Int(*n));
                }
            }
        }
    }

    /// Annotates an operand that has no text at all.
    fn all_of(&mut self, form: &Compiled, slot: usize, operand: Operand) {
        match form.desc.slots[slot].kind {
            SlotKind::Vector(_) => self.word(form, slot, operand),
            _ => self.whole(form, slot, operand),
        }
    }

    /// Annotates an operand as a whole.
    pub fn whole(&mut self, form: &Compiled, slot: usize, operand: Operand) {
        let mut name = form.desc.slots[slot].name;
        let indexed;
        if let Some(i) = self.element {
            indexed = format!("{name}.{i}");
            name = &indexed;
        }
        match operand {
            Operand::Int(n) => self.note(format_args!("{name}={n:#x}")),
            Operand::Exec(e) => self.note(format_args!("{name}={:#x}", e.byte())),
            Operand::Pred(p) | Operand::Predicate(p) => self.note(format_args!("{name}={:#x}", p.word())),
            Operand::Imm { bits, .. } => self.note(format_args!("{name}={bits:#x}")),
            Operand::Raw { var, offset } => {
                self.note(format_args!("{name}={:#x}", var as u64 | (offset as u64) << 32));
            }
            Operand::General { region, modifier, .. } | Operand::Indirect { region, modifier, .. } => {
                self.note(format_args!("{name}={:#x}", region.0 as u32 | (modifier as u32) << 16));
            }
            Operand::Address { modifier, .. } => {
                self.note(format_args!("{name}={:#x}", (modifier as u32) << 16))
            }
            _ => {}
        }
    }

    fn step(&mut self, form: &Compiled, step: &Step, ops: &[Operand]) -> Result<(), PrintError> {
        match *step {
            Step::Glued(t) => self.out.push_str(t),
            Step::Word(t) => {
                self.out.push(' ');
                self.out.push_str(t);
            }
            Step::Punct(b) => {
                if b == b'(' {
                    self.out.push(' ');
                }
                self.out.push(b as char);
            }
            Step::Sat => {
                let sat =
                    form.dst.and_then(|d| ops.get(d as usize)).is_some_and(|o| o.modifier() == Modifier::Sat);
                if sat {
                    self.out.push_str(".sat");
                }
            }
            Step::OptSuffix { slot, part } => {
                let v = int_of(ops, slot, part);
                if v != 0
                    && let Some(enc) = enc_of_ref(form, slot as usize, part)
                {
                    if spelled(enc, v) {
                        self.out.push('.');
                        self.value(enc, v);
                    } else {
                        self.whole(form, slot as usize, ops[slot as usize]);
                    }
                }
            }
            Step::Flag { name, slot, part } => {
                let v = int_of(ops, slot, part);
                if v == 0 {
                } else if self.version < (4, 2) && !reference_flag(name) {
                    // The reference has no text for it.
                    self.part_note(form, slot, part, v);
                } else {
                    self.out.push('.');
                    self.out.push_str(name);
                    if v != 1 {
                        self.part_note(form, slot, part, v);
                    }
                }
            }
            Step::Slot { slot, part, glued } => {
                let s = slot as usize;
                let kind = &form.desc.slots[s].kind;
                let Some(kind) = live_kind(kind, |i| int_of(ops, i as u8, None)) else { return Ok(()) };
                let opens = self.out.ends_with('(') || self.out.ends_with(':');
                if !(glued || opens) {
                    self.out.push(' ');
                }
                match (kind, part) {
                    (SlotKind::Field { .. } | SlotKind::Packed { .. } | SlotKind::Count { .. }, _) => {
                        let enc = enc_of_ref(form, s, part);
                        self.field(form, s, part, enc.unwrap_or(&Enc::Hex { max: u32::MAX }), ops);
                    }
                    (kind, _) => self.operand(form, s, kind, ops[s])?,
                }
            }
            Step::Many(slot) => {
                let labels =
                    matches!(form.desc.slots[slot as usize].kind, SlotKind::Many(SlotKind::Label(_)));
                let SlotKind::Many(kind) = form.desc.slots[slot as usize].kind else { return Ok(()) };
                for (i, o) in ops[form.defaults.len().min(ops.len())..].iter().enumerate() {
                    if labels {
                        self.out.push_str(if i > 0 { ", " } else { "" });
                    } else {
                        self.out.push(' ');
                    }
                    self.element = Some(i);
                    self.operand(form, slot as usize, kind, *o)?;
                }
                self.element = None;
            }
            Step::Composite(name) => self.composite(form, name, ops)?,
        }
        Ok(())
    }

    fn part_note(&mut self, form: &Compiled, slot: u8, part: Option<&envisa_isa::desc::Part>, v: u32) {
        let name = form.desc.slots[slot as usize].name;
        match part {
            Some(p) => self.note(format_args!("{name}.{}={v:#x}", p.name)),
            None => self.note(format_args!("{name}={v:#x}")),
        }
    }

    fn field(
        &mut self,
        form: &Compiled,
        slot: usize,
        part: Option<&'static envisa_isa::desc::Part>,
        enc: &Enc,
        ops: &[Operand],
    ) {
        let v = int_of(ops, slot as u8, part);
        if spelled(enc, v) {
            return self.value(enc, v);
        }
        // Something legal in its place, and the value beside it.
        match enc {
            Enc::Values(values) => self.out.push_str(values.first().map_or("0", |v| v.text)),
            Enc::Channels => self.out.push('R'),
            Enc::ExecLike(values) => {
                let n = values.first().map_or("1", |v| v.text);
                let _ = write!(self.out, "(M1, {n})");
            }
            _ => self.out.push('0'),
        }
        self.part_note(form, slot as u8, part, v);
    }

    /// A value that its encoding can spell.
    fn value(&mut self, enc: &Enc, v: u32) {
        match enc {
            Enc::Number { .. } | Enc::Ignored(_) => self.num(v),
            Enc::Signed => self.num(v as i32),
            Enc::Hex { .. } => {
                let _ = write!(self.out, "{v:#x}");
            }
            Enc::HexDigits { .. } => {
                let _ = write!(self.out, "{v:x}");
            }
            Enc::Values(values) => {
                self.out.push_str(values.iter().find(|x| x.code == v).map_or("", |x| x.text));
            }
            Enc::Channels => {
                for (bit, c) in ['R', 'G', 'B', 'A'].into_iter().enumerate() {
                    if v >> bit & 1 != 0 {
                        self.out.push(c);
                    }
                }
            }
            Enc::ExecLike(values) => {
                let n = values.iter().find(|x| x.code == v & 15).map_or("", |x| x.text);
                let mask = envisa_isa::ExecMask((v >> 4) as u8).name();
                let _ = write!(self.out, "({mask}, {n})");
            }
        }
    }

    fn predicate(&mut self, p: Pred) {
        self.out.push('(');
        if p.invert {
            self.out.push('!');
        }
        self.out.push_str(self.names.predicate(p.id as u32));
        self.out.push_str(match p.combine {
            envisa_isa::Combine::None => "",
            envisa_isa::Combine::Any => ".any",
            envisa_isa::Combine::All => ".all",
        });
        self.out.push(')');
    }

    fn exec(&mut self, e: Exec) {
        self.out.push('(');
        self.out.push_str(e.mask.name());
        self.out.push_str(", ");
        self.num(e.channels());
        self.out.push(')');
    }

    /// An operand of a slot.
    pub fn operand(
        &mut self,
        form: &Compiled,
        slot: usize,
        kind: &SlotKind,
        operand: Operand,
    ) -> Result<(), PrintError> {
        let write = matches!(
            form.desc.slots[slot].role,
            envisa_isa::desc::Role::Write | envisa_isa::desc::Role::ReadWrite
        );
        if let SlotKind::Vector(classes) = kind
            && !self.accepted(*classes, &operand, write)
        {
            self.placeholder(*classes, write, form.bare_vector)?;
            self.word(form, slot, operand);
            return Ok(());
        }
        match operand {
            Operand::Exec(e) if e.log2 <= 5 => self.exec(e),
            Operand::Pred(p) => self.predicate(p),
            Operand::General { var, row, col, region, modifier } => {
                let good = self.modifier(form, slot, modifier, write);
                let name = self.names.var(var);
                self.out.push_str(name);
                self.out.push('(');
                self.num(row);
                self.out.push(',');
                self.num(col);
                self.out.push(')');
                let bare = form.desc.family == envisa_isa::desc::Family::Systolic;
                let good = if bare {
                    good && region == Region::CONTIGUOUS
                } else {
                    self.region(region, write, false) && good
                };
                if !good {
                    self.whole(form, slot, operand);
                }
            }
            Operand::Indirect { addr, offset, byte_offset, ty, region, modifier } => {
                let good = self.modifier(form, slot, modifier, write);
                let name = self.names.address(addr as u32);
                self.out.push_str("r[");
                self.out.push_str(name);
                let _ = write!(self.out, "({offset}),{byte_offset}]");
                let good = self.region(region, write, true) && good;
                let _ = write!(self.out, ":{}", ty.name());
                if !good {
                    self.whole(form, slot, operand);
                }
            }
            Operand::Address { id, offset, width_log2, modifier } => {
                let name = self.names.address(id as u32);
                self.out.push_str(name);
                let _ = write!(self.out, "({offset})<{}>", 1u32 << width_log2.min(5));
                if modifier != Modifier::None {
                    self.whole(form, slot, operand);
                }
            }
            Operand::Predicate(p) => {
                let name = self.names.predicate(p.id as u32);
                self.out.push_str(name);
                if p.invert || p.combine != envisa_isa::Combine::None {
                    self.whole(form, slot, operand);
                }
            }
            Operand::AddressOf { var, offset } => {
                let name = self.names.var(var);
                self.out.push('&');
                self.out.push_str(name);
                if offset != 0 {
                    let _ = write!(self.out, "[{offset}]");
                }
            }
            Operand::Imm { ty, bits } => self.immediate(form, slot, ty, bits),
            Operand::State { class, id, offset } => {
                let name = match class {
                    StateClass::Surface => self.names.surface(id as u32),
                    StateClass::Sampler => self.names.sampler(id as u32),
                };
                if matches!(kind, SlotKind::Vector(c) if c.has(envisa_isa::desc::Classes::ADDRESS_OF)) {
                    self.out.push('&');
                    self.out.push_str(name);
                    if offset != 0 {
                        let _ = write!(self.out, "[{offset}]");
                    }
                    return Ok(());
                }
                self.out.push_str(name);
                let _ = write!(self.out, "({offset})");
            }
            Operand::Raw { var: 0, offset } if offset != 0 => {
                self.raw(0, 0, form.bare_raw);
                self.whole(form, slot, operand);
            }
            Operand::Raw { var, offset } => self.raw(var, offset, form.bare_raw),
            Operand::Surface(id) => {
                let name = self.names.surface(id as u32);
                self.out.push_str(name);
            }
            Operand::Sampler(id) => {
                let name = self.names.sampler(id as u32);
                self.out.push_str(name);
            }
            Operand::Label(id) => {
                self.mention(!matches!(kind, SlotKind::Label(LabelKind::Block)), id, false)?;
                let name = self.names.label(id);
                if is_identifier(name) && !self.names.reserved(name) {
                    self.out.push_str(name);
                } else {
                    quote(self.out, name);
                }
            }
            Operand::Str(i) => {
                let s = self.object.strings.get(i).unwrap_or("");
                // Index 0 is the empty string's, not the kernel's name.
                let s = match (i, s) {
                    (0, _) => "",
                    (_, "") => {
                        self.order.explicit.push(i);
                        "_"
                    }
                    (_, s) => s,
                };
                if i != 0 {
                    self.order.pool.push(i);
                }
                if is_identifier(s) && !self.names.reserved(s) && form.op != Op::File {
                    self.out.push_str(s);
                } else {
                    quote(self.out, s);
                }
            }
            Operand::Int(n) => {
                if let SlotKind::Field { enc, .. } = kind {
                    self.value(enc, n);
                } else {
                    return self.fail(format!("an operand of {}", form.desc.name));
                }
            }
            Operand::Exec(_) => return self.fail(format!("the execution size of {}", form.desc.name)),
        }
        Ok(())
    }

    /// Does the text of a slot take this operand?
    fn accepted(&self, classes: Classes, operand: &Operand, write: bool) -> bool {
        match *operand {
            Operand::General { .. } => classes.has(Classes::GENERAL),
            Operand::Indirect { .. } => classes.has(Classes::INDIRECT),
            Operand::Imm { ty, .. } => {
                classes.has(Classes::IMM) && !write && (ty != Type::Bf || self.version >= (4, 2))
            }
            Operand::Address { .. } => classes.has(Classes::ADDRESS),
            Operand::Predicate(_) => classes.has(Classes::PREDICATE),
            Operand::AddressOf { offset, .. } => classes.has(Classes::ADDRESS_OF) && offset < 0x8000,
            Operand::State { .. } => classes.has(Classes::STATE),
            _ => true,
        }
    }

    /// Something legal where the operand has no text.
    fn placeholder(&mut self, classes: Classes, write: bool, bare: bool) -> Result<(), PrintError> {
        let o = self.object;
        if bare {
            self.out.push_str("%null(0,0)");
        } else if !write && classes.has(Classes::IMM) {
            self.out.push_str("0x0:ud");
        } else if classes.has(Classes::GENERAL) {
            self.out.push_str(if write { "%null(0,0)<1>" } else { "%null(0,0)<0;1,0>" });
        } else if classes.has(Classes::PREDICATE) && !o.predicates.is_empty() {
            self.out.push_str(self.names.predicate(1));
        } else if classes.has(Classes::ADDRESS) && !o.addresses.is_empty() {
            self.out.push_str(self.names.address(0));
            self.out.push_str("(0)<1>");
        } else if classes.has(Classes::STATE) {
            self.out.push_str("T1(0)");
        } else {
            return self.fail("an operand of a class that its instruction does not take");
        }
        Ok(())
    }

    /// Annotates an operand by all its numbers.
    pub fn word(&mut self, form: &Compiled, slot: usize, operand: Operand) {
        let name = form.desc.slots[slot].name;
        match operand {
            Operand::General { var, row, col, region, modifier } => {
                self.note(format_args!("{name}=general:{var}:{row}:{col}:{:#x}:{}", region.0, modifier as u8))
            }
            Operand::Address { id, offset, width_log2, modifier } => {
                self.note(format_args!("{name}=address:{id}:{offset}:{width_log2}:{}", modifier as u8));
            }
            Operand::Predicate(p) => self.note(format_args!("{name}=predicate:{:#x}", p.word())),
            Operand::Indirect { addr, offset, byte_offset, ty, region, modifier } => {
                self.note(format_args!(
                    "{name}=indirect:{addr}:{offset}:{}:{}:{:#x}:{}",
                    byte_offset as u16, ty as u8, region.0, modifier as u8
                ));
            }
            Operand::AddressOf { var, offset } => {
                self.note(format_args!("{name}=address_of:{var}:{offset}"));
            }
            Operand::Imm { ty, bits } => self.note(format_args!("{name}=imm:{}:{bits:#x}", ty as u8)),
            Operand::State { class, id, offset } => {
                self.note(format_args!("{name}=state:{}:{id}:{offset}", class as u8));
            }
            Operand::Raw { var, offset } => self.note(format_args!("{name}=raw:{var}:{offset}")),
            other => self.whole(form, slot, other),
        }
    }

    /// `V32.64`, or `V32` where that is enough.
    pub fn raw(&mut self, var: u32, offset: u16, bare: bool) {
        let name = self.names.var(var);
        self.out.push_str(name);
        if !bare || offset != 0 {
            self.out.push('.');
            self.num(offset);
        }
    }

    /// Prints a source modifier; false if it has no text here.
    fn modifier(&mut self, form: &Compiled, slot: usize, m: Modifier, write: bool) -> bool {
        if write {
            let sat_text = form.dst == Some(slot as u8) && form.steps.iter().any(|s| matches!(s, Step::Sat));
            return m == Modifier::None || m == Modifier::Sat && sat_text;
        }
        self.out.push_str(match m {
            Modifier::None => "",
            Modifier::Abs => "(abs)",
            Modifier::Neg => "(-)",
            Modifier::NegAbs => "(-abs)",
            Modifier::Not => "(~)",
            Modifier::Sat => return false,
        });
        true
    }

    /// Prints a region; false if another had to stand for it.
    fn region(&mut self, r: Region, write: bool, indirect: bool) -> bool {
        let (v, w, h) = (r.0 & 15, r.0 >> 4 & 15, r.0 >> 8 & 15);
        let legal_h = (1..=4).contains(&h);
        let good = r.0 >> 12 == 0
            && legal_h
            && if write {
                v == 0 && w == 0
            } else {
                let full = (1..=7).contains(&v) && (1..=6).contains(&w);
                full || indirect && v == 0 && (w == 0 || (1..=6).contains(&w))
            };
        if !good {
            self.out.push_str(if write { "<1>" } else { "<1;1,0>" });
            return false;
        }
        let text = |c: u16| Region::value(c as u8).unwrap_or(0);
        let _ = match (v, w) {
            (0, 0) => write!(self.out, "<{}>", text(h)),
            (0, _) => write!(self.out, "<{},{}>", text(w), text(h)),
            _ => write!(self.out, "<{};{},{}>", text(v), text(w), text(h)),
        };
        good
    }

    fn immediate(&mut self, form: &Compiled, slot: usize, ty: Type, bits: u64) {
        let (shown, exact) = match ty {
            Type::Ub | Type::B | Type::Uw | Type::W => {
                let n = ty.size() * 8;
                let v = bits as u32;
                let extended = ty.is_signed() && (v as i32) < 0 && (v as i32) >= -(1i32 << (n - 1));
                if bits < 1 << n || extended { (bits, true) } else { (bits & ((1 << n) - 1), false) }
            }
            Type::Hf | Type::Bf => (bits & 0xffff, bits <= 0xffff),
            _ if ty.size() == 8 => (bits, true),
            _ => (bits & 0xffff_ffff, bits <= u32::MAX as u64),
        };
        let _ = write!(self.out, "{shown:#x}:{}", ty.name());
        if !exact {
            self.note(format_args!("{}={bits:#x}", form.desc.slots[slot].name));
        }
    }
}

/// Flags that the reference's 4.1 text has.
fn reference_flag(name: &str) -> bool {
    !matches!(name, "unaligned" | "unaligned_read" | "local" | "noreturn" | "uniform")
}

/// The value of a field or a part of it.
pub(crate) fn int_of(ops: &[Operand], slot: u8, part: Option<&envisa_isa::desc::Part>) -> u32 {
    let n = ops.get(slot as usize).and_then(|o| o.int()).unwrap_or(0);
    part.map_or(n, |p| p.get(n))
}

fn enc_of_ref(
    form: &Compiled,
    slot: usize,
    part: Option<&'static envisa_isa::desc::Part>,
) -> Option<&'static Enc> {
    enc_of(form.desc, slot, part)
}

fn align_name(align: envisa_isa::Align) -> &'static str {
    use envisa_isa::Align::*;
    match align {
        Byte => "",
        Word => "word",
        Dword => "dword",
        Qword => "qword",
        Oword => "oword",
        Grf => "GRF",
        Grf2 => "GRFx2",
        Hword => "hword",
        Word32 => "wordx32",
        Word64 => "wordx64",
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut s = String::with_capacity(bytes.len() * 2);
    for b in bytes {
        let _ = write!(s, "{b:02x}");
    }
    s
}

/// An attribute as text, and whether the text gives the very bytes; `None` for names that the reference
/// does not know, or values that have no text at all.
fn attr_text(name: &str, value: &[u8], owner: Owner) -> Option<(String, bool)> {
    let int = || value.iter().rev().fold(0u64, |n, b| n << 8 | *b as u64);
    let Some((real, who, kind, _)) = attrs::find(name.as_bytes()) else {
        // What is not known is read as it stands.
        return match value.len() {
            0 => Some((name.to_owned(), true)),
            4 => Some((format!("{name}={}", int() as u32 as i32), true)),
            _ => None,
        };
    };
    if *who != owner || *real != name {
        return None;
    }
    Some(match kind {
        Value::Target => match value {
            [0] => (format!("{name}=\"cm\""), true),
            [1] => (format!("{name}=\"3d\""), true),
            _ => (format!("{name}=\"3d\""), false),
        },
        _ if value.is_empty() => (name.to_owned(), true),
        Value::Bool => (format!("{name}=1"), value == [1, 0, 0, 0]),
        Value::Int if value.len() <= 4 => (format!("{name}={}", int() as u32 as i32), value.len() == 4),
        Value::Int => return None,
        Value::Str => match std::str::from_utf8(value) {
            Ok(s) if !s.contains('\0') => {
                let mut text = format!("{name}=");
                quote(&mut text, s);
                (text, true)
            }
            _ => return None,
        },
    })
}
